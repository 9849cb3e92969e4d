/*
 * Which rows of a data file a condition selects.
 */
#include "files/files.h"

frz_code frz_condition_bind(const frz_env *env, const frz_expr *where, const frz_schema *schema,
                            frz_arena *arena, frz_condition *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *readable = NULL, *projectable = NULL;
    size_t count = 0;
    *out = (frz_condition){0};
    if (where == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_readable_type(arena, schema, &readable, err));
    FRZ_TRY(frz_projectable_type(arena, schema, &projectable, err));
    FRZ_TRY(frz_expr_bind_filter(env, where, readable, &out->filter, err));
    const int32_t *ids = frz_bound_expr_fields(out->filter, &count);
    FRZ_TRY(frz_project_ids(arena, projectable, ids, count, &out->read_type, err));
out:
    return rc;
}

void frz_condition_reset(frz_condition *condition)
{
    frz_bound_expr_free(condition->filter);
    *condition = (frz_condition){0};
}

static frz_code take_batch(const frz_env *env, const frz_condition *condition, const frz_live *live,
                           const frz_type *read_type, frz_batch *batch, frz_row_list *rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length, selected = 0;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    uint8_t *among = NULL;
    uint8_t *selection = frz_alloc_zero(env, 1, bytes);
    FRZ_TRY(selection == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    FRZ_TRY(frz_live_bits(live, read_type, batch, condition->read_type, &among, err));
    FRZ_TRY(frz_expr_select(condition->filter, read_type, &batch->array, batch->first_row, among,
                            selection, &selected, err));
    for (int64_t i = 0; selected > 0 && i < length; i++) {
        if (frz_bit_get(selection, i)) {
            FRZ_TRY(frz_row_list_add(env, rows, batch->first_row + i, err));
        }
    }
out:
    frz_free(env, among);
    frz_free(env, selection);
    return rc;
}

frz_code frz_match_rows(const frz_table *table, const frz_entry *entry, const frz_live *live,
                        const frz_condition *condition, frz_row_list *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_stitch_request request = {.filter = condition->filter};
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_live_request(live, &request);
    FRZ_TRY(frz_live_read_type(live, condition->read_type, &arena, &request.projection, err));
    FRZ_TRY(frz_stitch_open(table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(take_batch(table->env, condition, live, request.projection, &batch, rows, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    frz_arena_reset(&arena);
    return rc;
}
