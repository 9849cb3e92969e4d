/*
 * Which rows of a data file are left when it is rewritten.
 */
#include "maintain/maintain_internal.h"

void frz_live_rows_reset(const frz_env *env, frz_live_rows *live)
{
    frz_file_deletes_free(live->deletes);
    frz_free(env, live->bits);
    *live = (frz_live_rows){0};
}

/* Keys of equality deletes are compared with the rows themselves. */
static frz_code read_keys(const frz_table *table, const frz_entry *entry, const frz_type *read_type,
                          frz_live_rows *live, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    uint8_t *bits = NULL;
    frz_stitch_request request = {.projection = read_type};
    frz_live_rows_request(live, &request);
    FRZ_TRY(frz_stitch_open(table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        int64_t rows = batch.array.length;
        size_t bytes = frz_bitmap_bytes(rows) + 8;
        bits = frz_alloc(table->env, bytes);
        FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
        memset(bits, 0xff, bytes);
        FRZ_TRY(frz_file_deletes_clear(live->deletes, read_type, &batch, bits, err));
        frz_bitmap_copy(bits, 0, rows, live->bits, batch.first_row);
        frz_free(table->env, bits);
        bits = NULL;
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_free(table->env, bits);
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    return rc;
}

frz_code frz_live_rows_find(const frz_table *table, const frz_entry *entry, frz_delete_index *index,
                            frz_arena *arena, frz_live_rows *live, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    frz_code rc = FRZ_OK;
    const frz_type *read_type = NULL;
    size_t bytes = frz_bitmap_bytes(entry->record_count) + 8;
    *live = (frz_live_rows){.count = entry->record_count};
    FRZ_TRY(frz_file_deletes_find(index, table, entry, &live->deletes, err));
    if (live->deletes == NULL) {
        return FRZ_OK;
    }
    live->bits = frz_alloc(table->env, bytes);
    FRZ_TRY(live->bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    memset(live->bits, 0xff, bytes);
    FRZ_TRY(frz_file_deletes_read_type(live->deletes, &nothing, arena, &read_type, err));
    const frz_positions *positions = frz_file_deletes_positions(live->deletes);
    if (read_type->field_count > 0) {
        FRZ_TRY(read_keys(table, entry, read_type, live, err));
    } else if (positions != NULL) {
        frz_positions_clear(positions, 0, entry->record_count, live->bits);
    }
    live->count = frz_bitmap_count(live->bits, 0, entry->record_count);
out:
    return rc;
}

void frz_live_rows_request(const frz_live_rows *live, frz_stitch_request *request)
{
    request->with_deleted = true;
    if (live->deletes != NULL) {
        request->deleted = frz_file_deletes_positions(live->deletes);
    }
}

int64_t frz_live_rows_count(const frz_live_rows *live, frz_row_range rows)
{
    return live->bits == NULL ? rows.end - rows.start
                              : frz_bitmap_count(live->bits, rows.start, rows.end - rows.start);
}

frz_code frz_live_rows_pick(const frz_env *env, const frz_live_rows *live, const frz_type *type,
                            int64_t first_row, struct ArrowArray *array, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = array->length;
    frz_row_range range = {first_row, first_row + rows};
    int64_t count = frz_live_rows_count(live, range);
    struct ArrowArray whole;
    if (count == rows) {
        return FRZ_OK;
    }
    uint8_t *bits = frz_alloc_zero(env, 1, frz_bitmap_bytes(rows) + 8);
    if (bits == NULL) {
        return frz_fail_nomem(err, frz_bitmap_bytes(rows));
    }
    frz_bitmap_copy(live->bits, first_row, rows, bits, 0);
    frz_array_move(array, &whole);
    rc = frz_array_filter(env, type, &whole, bits, count, array, err);
    frz_array_release(&whole);
    frz_free(env, bits);
    return rc;
}
