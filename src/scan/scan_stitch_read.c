/*
 * Reading a stitched file: windows of rows that all parts have at hand, and output columns out of
 * them, by reference; lineage columns and constants are made.
 */
#include "scan/scan_internal.h"

/* ---- windows ---- */

static bool wants_rows(const stitch_part *part)
{
    return part->reader != NULL && part->batch.array.release == NULL;
}

/* Have rows of a part at hand; FRZ_END at the end. */
static frz_code fill_part(void *ctx, size_t index, frz_error *err)
{
    const frz_stitch *stitch = ctx;
    stitch_part *part = &stitch->parts[index];
    if (!wants_rows(part)) {
        return FRZ_OK;
    }
    part->used = 0;
    frz_code rc = frz_data_reader_next(part->reader, &part->batch, err);
    return rc == FRZ_END && stitch->rows_left > 0
               ? frz_fail(err, FRZ_E_CORRUPT, "%s: file ends %lld rows early",
                          frz_data_file_location(part->file), (long long)stitch->rows_left)
               : rc;
}

/* Several parts are read at once if their batches are so large that it is worth waking a thread. */
static frz_code fill_parts(frz_stitch *stitch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t empty = 0;
    double bytes = 0;
    for (size_t i = 0; i < stitch->part_count; i++) {
        const stitch_part *part = &stitch->parts[i];
        if (wants_rows(part)) {
            empty++;
            bytes += (double)part->row_bytes * (double)FRZ_MIN(stitch->rows_left, stitch->max_rows);
        }
    }
    if (empty > 1 && frz_is_shared(stitch->env, bytes)) {
        return frz_parallel(stitch->env, stitch->part_count, fill_part, stitch, err);
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        FRZ_TRY(fill_part(stitch, i, err));
    }
out:
    return rc;
}

/* Rows that are asked for, of one range; FRZ_END behind the last. */
static frz_code next_rows(frz_stitch *stitch, int64_t *first_row, int64_t *rows)
{
    while (stitch->range < stitch->range_count &&
           stitch->next_row >= stitch->ranges[stitch->range].end) {
        stitch->range++;
        stitch->next_row =
            stitch->range < stitch->range_count ? stitch->ranges[stitch->range].start : 0;
    }
    if (stitch->range == stitch->range_count) {
        return FRZ_END;
    }
    *first_row = stitch->next_row;
    *rows = FRZ_MIN(stitch->ranges[stitch->range].end - stitch->next_row, stitch->max_rows);
    return FRZ_OK;
}

/* Have rows in every part; the window is what all of them have. FRZ_END at the end. */
static frz_code next_window(frz_stitch *stitch, int64_t *first_row, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(next_rows(stitch, first_row, rows));
    FRZ_TRY(fill_parts(stitch, err));
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        if (part->reader == NULL) {
            continue;
        }
        int64_t first = part->batch.first_row + part->used;
        if (first != *first_row) {
            return frz_fail(err, FRZ_E_INTERNAL, "%.*s: a part stands at row %lld, expected %lld",
                            FRZ_STR_ARG(stitch_location(stitch)), (long long)first,
                            (long long)*first_row);
        }
        *rows = FRZ_MIN(*rows, part->batch.array.length - part->used);
    }
out:
    return rc;
}

/* Rows that the part's reader left out: it is the only one. */
static int64_t left_out(const frz_stitch *stitch)
{
    return frz_stitch_thins(stitch) ? stitch->parts[0].batch.left_out : 0;
}

/* The window is handed out: drop what is used up. */
static void advance(frz_stitch *stitch, int64_t rows)
{
    stitch->next_row += rows + left_out(stitch);
    stitch->rows_left -= rows + left_out(stitch);
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        part->used += rows;
        if (part->batch.array.release != NULL && part->used >= part->batch.array.length) {
            frz_array_release(&part->batch.array);
        }
    }
}

/* ---- columns ---- */

/* A lineage column: what is stored, with nulls (or all rows, if nothing is stored) replaced by base
 * + step * row. spec: row lineage */
static frz_code fill_lineage(const frz_env *env, const struct ArrowArray *stored, int64_t rows,
                             int64_t base, int64_t step, int64_t first_row, struct ArrowArray *out,
                             frz_error *err)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    frz_code rc = frz_buffer_new(env, (size_t)rows * sizeof(int64_t), &buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int64_t *values = (int64_t *)(void *)buffers[1]->data;
    for (int64_t i = 0; i < rows; i++) {
        bool has = stored != NULL && !frz_is_null(stored, i);
        values[i] = has ? frz_get_i64(stored, i) : base + step * (first_row + i);
    }
    return frz_array_make(env, rows, 0, buffers, 2, NULL, 0, out, err);
}

static frz_code lineage_column(const frz_stitch *stitch, const frz_field *field,
                               const struct ArrowArray *stored, int64_t first_row, int64_t rows,
                               struct ArrowArray *out, frz_error *err)
{
    const frz_entry *entry = stitch->entry;
    if (entry->first_row_id == FRZ_NO_VALUE) { /* from before row lineage: nothing to inherit */
        return stored != NULL ? frz_array_slice(stitch->env, stored, 0, rows, out, err)
                              : frz_array_nulls(stitch->env, field->type, rows, out, err);
    }
    if (field->id == FRZ_ID_LAST_UPDATED) {
        return fill_lineage(stitch->env, stored, rows, entry->sequence_number, 0, first_row, out,
                            err);
    }
    return fill_lineage(stitch->env, stored, rows, entry->first_row_id, 1, first_row, out, err);
}

/* One output column of the window; views: of the rows at hand, by part. */
static frz_code make_column(const frz_stitch *stitch, size_t i, const stitch_view *views,
                            int64_t first_row, int64_t rows, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const stitch_source *source = &stitch->columns[i];
    struct ArrowArray made = {0};
    if (stitch_is_lineage(source->field->id)) {
        if (source->place != STITCH_CONSTANT) {
            FRZ_TRY(stitch_make_field(stitch, source, views, rows, &made, err));
        }
        FRZ_TRY(lineage_column(stitch, source->field, made.release == NULL ? NULL : &made,
                               first_row, rows, out, err));
    } else {
        FRZ_TRY(stitch_make_field(stitch, source, views, rows, &made, err));
        FRZ_TRY(stitch_check_required(stitch, source, &made, first_row, err));
        frz_array_move(&made, out);
    }
out:
    frz_array_release(&made);
    return rc;
}

/* ---- batches ---- */

frz_code frz_stitch_next(frz_stitch *stitch, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t first_row = 0, rows = 0;
    size_t made = 0;
    size_t n = stitch->projection->field_count;
    struct ArrowArray *columns = NULL;
    stitch_view *views = NULL;
    FRZ_TRY(next_window(stitch, &first_row, &rows, err));
    columns = frz_alloc_zero(stitch->env, n, sizeof *columns);
    views = frz_alloc_zero(stitch->env, stitch->part_count, sizeof *views);
    if (columns == NULL || views == NULL) {
        rc = frz_fail_nomem(err, n * sizeof *columns);
        goto out;
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        views[i] = (stitch_view){&stitch->parts[i].batch.array, stitch->parts[i].used};
    }
    for (; made < n; made++) {
        FRZ_TRY(make_column(stitch, made, views, first_row, rows, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(stitch->env, rows, columns, n, &out->array, err));
    out->first_row = first_row;
    out->left_out = left_out(stitch);
    advance(stitch, rows);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(stitch->env, views);
    frz_free(stitch->env, columns);
    return rc;
}
