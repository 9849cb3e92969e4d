/*
 * Reading some rows of one entry: which ranges of it, which rows of a batch.
 */
#include "changes/changes_internal.h"

/* Rows between wanted ones that are not worth to be left out: about a page. */
#define LEAST_GAP 4096

/* ---- ranges ---- */

/* Runs of wanted rows, together with the next one if it is near. ranges NULL: only count. */
static size_t collect_ranges(const frz_positions *wanted, int64_t record_count,
                             frz_row_range *ranges)
{
    size_t count = 0;
    frz_row_range run, open = {0, -1};
    for (int64_t at = 0; frz_positions_next_run(wanted, at, &run) && run.start < record_count;
         at = run.end) {
        bool joins = count > 0 && run.start - open.end < LEAST_GAP;
        open = (frz_row_range){joins ? open.start : run.start, FRZ_MIN(run.end, record_count)};
        count += !joins;
        if (ranges != NULL) {
            ranges[count - 1] = open;
        }
    }
    return count;
}

frz_code change_pass_ranges(const change_pass *pass, frz_arena *arena, frz_row_range **out,
                            size_t *count, frz_error *err)
{
    int64_t rows = pass->entry->record_count;
    if (pass->wanted == NULL && pass->deleted != NULL) {
        return frz_positions_ranges(pass->deleted, rows, LEAST_GAP, arena, out, count, err);
    }
    *count = pass->wanted == NULL ? 1 : collect_ranges(pass->wanted, rows, NULL);
    *out = frz_arena_array(arena, *count, sizeof **out);
    if (*out == NULL) {
        return frz_fail_nomem(err, *count * sizeof **out);
    }
    if (pass->wanted == NULL) {
        **out = (frz_row_range){0, rows};
        *count = rows > 0;
    } else {
        collect_ranges(pass->wanted, rows, *out);
    }
    return FRZ_OK;
}

frz_code change_pass_open(const change_set *set, const change_pass *pass, const frz_type *type,
                          const frz_changes_options *opts, frz_arena *arena, frz_stitch **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range *ranges = NULL;
    frz_stitch_request request = {.projection = type,
                                  .with_deleted = true,
                                  .deleted = pass->deleted,
                                  .max_rows = opts == NULL ? 0 : opts->batch_rows,
                                  .max_bytes = opts == NULL ? 0 : opts->batch_bytes};
    FRZ_TRY(change_pass_ranges(pass, arena, &ranges, &request.range_count, err));
    request.ranges = ranges;
    if (request.range_count > 0) {
        rc = frz_stitch_open(set->table, pass->entry, &request, out, err);
    }
out:
    return rc;
}

/* ---- rows of a batch ---- */

void change_pass_select(const change_pass *pass, const frz_batch *batch, uint8_t *bits)
{
    int64_t rows = batch->array.length;
    size_t bytes = frz_bitmap_bytes(rows);
    memset(bits, 0xff, bytes);
    if (pass->wanted != NULL) {
        frz_positions_clear(pass->wanted, batch->first_row, rows, bits);
        for (size_t i = 0; i < bytes; i++) {
            bits[i] = (uint8_t)~bits[i];
        }
    }
    if (pass->deleted != NULL) {
        frz_positions_clear(pass->deleted, batch->first_row, rows, bits);
    }
    frz_bitmap_fill(bits, rows, (int64_t)bytes * 8 - rows, false);
}

/* ---- rows that were updated in place ---- */

static frz_code gather_updated(const change_set *set, const change_pass *pass,
                               const frz_batch *batch, change_gatherer *g, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowArray *numbers = batch->array.children[0];
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    uint8_t *bits = frz_alloc(set->env, bytes);
    if (bits == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    change_pass_select(pass, batch, bits);
    for (int64_t i = 0; i < batch->array.length; i++) {
        if (frz_bit_get(bits, i) && !frz_is_null(numbers, i) &&
            frz_get_i64(numbers, i) == set->after.snapshot->sequence_number) {
            FRZ_TRY(change_gather(g, batch->first_row + i, err));
        }
    }
out:
    frz_free(set->env, bits);
    return rc;
}

frz_code change_updated_rows(change_set *set, const frz_entry *entry, const frz_positions *deleted,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    const change_pass pass = {.role = CHANGE_AFTER, .entry = entry, .deleted = deleted};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    change_gatherer g = {.env = set->env};
    frz_arena arena;
    frz_arena_init(&arena, set->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_type_struct_of(&arena, &frz_field_last_updated, 1, &type, err));
    FRZ_TRY(change_pass_open(set, &pass, type, NULL, &arena, &stitch, err));
    while (stitch != NULL && (rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        rc = gather_updated(set, &pass, &batch, &g, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    rc = change_gather_finish(&g, out, err);
out:
    frz_stitch_close(stitch);
    change_gatherer_reset(&g);
    frz_arena_reset(&arena);
    return rc;
}
