/*
 * Values by position: the rows of the source in the order of a scan, one for each live row of the
 * table. They are read along with the table.
 */
#include "column_update/column_update_internal.h"

/* ---- how many there are ---- */

static frz_code count_live(const frz_join_target *target, const frz_entry *entry, int64_t *rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_live live = {.env = target->table->env};
    frz_stitch_request request = {0};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    uint8_t *bits = NULL;
    frz_arena_init(&arena, target->table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_live_open(&live, target->deletes, target->table, entry, err));
    if (live.found == NULL) {
        *rows += entry->record_count;
        goto out;
    }
    frz_live_request(&live, &request);
    FRZ_TRY(frz_live_read_type(&live, target->key_type, &arena, &request.projection, err));
    FRZ_TRY(frz_stitch_open(target->table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        int64_t length = batch.array.length;
        FRZ_TRY(frz_live_bits(&live, request.projection, &batch, target->key_type, &bits, err));
        *rows += bits == NULL ? length : frz_bitmap_count(bits, 0, length);
        frz_free(target->table->env, bits);
        bits = NULL;
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_free(target->table->env, bits);
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    frz_live_reset(&live);
    frz_arena_reset(&arena);
    return rc;
}

/* The source has another number of rows than the table. */
static frz_code fail_count(update_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t expected = 0, found = source->used_rows;
    struct ArrowArray rows = {0};
    for (size_t i = 0; i < source->target.entry_count; i++) {
        FRZ_TRY(count_live(&source->target, source->target.entries[i], &expected, err));
    }
    found += source->batch.release == NULL ? 0 : source->batch.length - source->done;
    while (source->rows.open != NULL &&
           (rc = frz_source_next(&source->rows, &rows, err)) == FRZ_OK) {
        found += rows.length;
        frz_array_release(&rows);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    FRZ_TRY(rc);
    rc = frz_fail(err, FRZ_E_ARGUMENT,
                  "by position the source must have as many rows as the table: expected %lld, "
                  "found %lld",
                  (long long)expected, (long long)found);
out:
    return rc;
}

/* ---- the next ones ---- */

/* Have rows that were not used; FRZ_END: there are none left. */
static frz_code refill(update_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK &&
           (source->batch.release == NULL || source->done == source->batch.length)) {
        frz_array_release(&source->batch);
        source->done = 0;
        rc = source->rows.open == NULL ? FRZ_END
                                       : frz_source_next(&source->rows, &source->batch, err);
        if (rc == FRZ_END) {
            frz_source_close(&source->rows);
        }
    }
    return rc;
}

/* The next rows behind each other. */
static frz_code take_rows(update_source *source, int64_t count, struct ArrowArray *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *parts = NULL;
    size_t part_count = 0, capacity = 0;
    for (int64_t left = count; left > 0;) {
        rc = refill(source, err);
        if (rc == FRZ_END) {
            rc = fail_count(source, err);
        }
        FRZ_TRY(rc);
        int64_t n = FRZ_MIN(left, source->batch.length - source->done);
        FRZ_TRY(FRZ_GROW(source->env, &parts, &capacity, part_count, err));
        FRZ_TRY(
            frz_batch_slice(source->env, &source->batch, source->done, n, &parts[part_count], err));
        part_count++;
        source->done += n;
        source->used_rows += n;
        left -= n;
    }
    if (part_count == 1) {
        frz_array_move(&parts[0], out);
    } else {
        FRZ_TRY(frz_array_concat(source->env, source->used, parts, part_count, out, err));
    }
out:
    for (size_t i = 0; i < part_count; i++) {
        frz_array_release(&parts[i]);
    }
    frz_free(source->env, parts);
    return rc;
}

/* Rows one by one to those that are live. */
static frz_code spread_rows(update_source *source, const struct ArrowArray *rows,
                            const uint8_t *live, int64_t length, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray nulls = {0}, parts[2];
    int64_t at = 0;
    int64_t *places = frz_alloc_zero(source->env, (size_t)length, sizeof *places);
    struct ArrowArray all = {0};
    FRZ_TRY(places == NULL ? frz_fail_nomem(err, (size_t)length * sizeof *places) : FRZ_OK);
    FRZ_TRY(frz_array_nulls(source->env, source->used, 1, &nulls, err));
    parts[0] = *rows;
    parts[1] = nulls;
    FRZ_TRY(frz_array_concat(source->env, source->used, parts, 2, &all, err));
    for (int64_t i = 0; i < length; i++) {
        places[i] = frz_bit_get(live, i) ? at++ : rows->length;
    }
    FRZ_TRY(frz_source_take(source->env, source->used, &all, places, length, out, err));
out:
    frz_array_release(&all);
    frz_array_release(&nulls);
    frz_free(source->env, places);
    return rc;
}

frz_code update_position_rows(update_source *source, const frz_batch *batch, const uint8_t *live,
                              frz_joined *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    frz_joined joined = {.count = live == NULL ? length : frz_bitmap_count(live, 0, length)};
    struct ArrowArray rows = {0};
    joined.found = frz_alloc_zero(source->env, 1, bytes);
    FRZ_TRY(joined.found == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    if (live == NULL) {
        frz_bitmap_fill(joined.found, 0, length, true);
        FRZ_TRY(take_rows(source, length, &joined.values, err));
    } else {
        memcpy(joined.found, live, frz_bitmap_bytes(length));
        FRZ_TRY(take_rows(source, joined.count, &rows, err));
        FRZ_TRY(spread_rows(source, &rows, live, length, &joined.values, err));
    }
    *out = joined;
    joined = (frz_joined){0};
out:
    frz_array_release(&rows);
    frz_joined_reset(source->env, &joined);
    return rc;
}

frz_code update_position_end(update_source *source, frz_error *err)
{
    frz_code rc = refill(source, err);
    return rc == FRZ_OK ? fail_count(source, err) : rc == FRZ_END ? FRZ_OK : rc;
}
