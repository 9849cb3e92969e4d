/*
 * Scans: from a batch of the stitching reader to the rows that are wanted: without deleted rows,
 * with columns about rows, filtered, with the output's columns.
 */
#include "scan/scan_internal.h"

#define CELL_BYTES 8 /* of a value, about, for want of a better guess */

/* ---- deleted rows ---- */

static frz_code new_bits(const frz_scan *scan, int64_t rows, uint8_t **out, frz_error *err)
{
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    *out = frz_alloc(scan->env, bytes);
    return *out == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK;
}

/* A bit for each row that is not deleted; NULL: none is. */
static frz_code find_live(frz_scan *scan, const frz_batch *batch, uint8_t **out, int64_t *count,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t *bits = NULL;
    int64_t rows = batch->array.length;
    *count = rows;
    if (scan->file_deletes == NULL || frz_stitch_thins(scan->stitch)) {
        return FRZ_OK;
    }
    FRZ_TRY(new_bits(scan, rows, &bits, err));
    memset(bits, 0xff, frz_bitmap_bytes(rows));
    FRZ_TRY(frz_file_deletes_clear(scan->file_deletes, scan->file_type, batch, bits, err));
    *count = frz_bitmap_count(bits, 0, rows);
    scan->report.rows_deleted += rows - *count;
    if (*count < rows) {
        *out = bits;
        bits = NULL;
    }
out:
    frz_free(scan->env, bits);
    return rc;
}

/* ---- columns about rows ---- */

/* The columns of read_type, by reference. */
static frz_code add_row_columns(const frz_scan *scan, const frz_batch *batch, const uint8_t *live,
                                struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = scan->columns.read_type->field_count, made = 0;
    int64_t rows = batch->array.length;
    const frz_row_window window = {.table = scan->table,
                                   .entry = scan->file.entry,
                                   .first_row = batch->first_row,
                                   .rows = rows,
                                   .live = live};
    struct ArrowArray *columns = frz_alloc_zero(scan->env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        FRZ_TRY(made < scan->columns.stored_type->field_count
                    ? frz_array_slice(scan->env, batch->array.children[made], 0, rows,
                                      &columns[made], err)
                    : frz_row_column_make(&window, &scan->columns.read_type->fields[made],
                                          &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(scan->env, rows, columns, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(scan->env, columns);
    return rc;
}

/* ---- filter and output ---- */

/* Output columns out of those of a batch, which move. */
typedef struct taking {
    const frz_scan *scan;
    struct ArrowArray *batch;
    frz_selection selection; /* bits NULL: all rows */
    struct ArrowArray *columns;
} taking;

/* By reference, or in the memory it has, where possible. */
static frz_code take_column(void *ctx, size_t i, frz_error *err)
{
    const taking *t = ctx;
    const frz_env *env = t->scan->env;
    const scan_columns *c = &t->scan->columns;
    const frz_type *type = c->output_type->fields[i].type;
    struct ArrowArray *source = t->batch->children[c->output_index[i]];
    int64_t rows = source->length;
    frz_code rc = FRZ_OK;
    uint8_t *all = NULL;
    if (t->selection.bits != NULL) {
        return c->repeats
                   ? frz_array_filter(env, type, source, t->selection.bits, t->selection.selected,
                                      &t->columns[i], err)
                   : frz_array_filter_move(env, type, source, &t->selection, &t->columns[i], err);
    }
    if (!frz_array_has_more(type, source)) {
        return frz_array_slice(env, source, 0, rows, &t->columns[i], err);
    }
    FRZ_TRY(new_bits(t->scan, rows, &all, err));
    memset(all, 0xff, frz_bitmap_bytes(rows));
    rc = frz_array_filter(env, type, source, all, rows, &t->columns[i], err);
out:
    frz_free(env, all);
    return rc;
}

static frz_code take_columns(taking *t, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = t->scan->env;
    size_t n = t->scan->columns.output_type->field_count;
    int64_t rows = t->selection.selected;
    double bytes = t->selection.bits == NULL ? 0 : (double)rows * (double)n * CELL_BYTES;
    t->columns = frz_alloc_zero(env, n, sizeof *t->columns);
    if (t->columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *t->columns);
    }
    if (frz_is_shared(env, bytes)) {
        FRZ_TRY(frz_parallel(env, n, take_column, t, err));
    } else {
        for (size_t i = 0; i < n; i++) {
            FRZ_TRY(take_column(t, i, err));
        }
    }
    rc = frz_batch_make(env, rows, t->columns, n, out, err);
out:
    for (size_t i = 0; i < n; i++) {
        frz_array_release(&t->columns[i]);
    }
    frz_free(env, t->columns);
    return rc;
}

/* Keep only the first rows of a batch. */
static frz_code cut(const frz_scan *scan, struct ArrowArray *batch, int64_t rows, frz_error *err)
{
    struct ArrowArray whole;
    frz_array_move(batch, &whole);
    frz_code rc = frz_batch_slice(scan->env, &whole, 0, rows, batch, err);
    frz_array_release(&whole);
    return rc;
}

static frz_code put_out(const frz_scan *scan, struct ArrowArray *batch, const uint8_t *selection,
                        int64_t selected, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    taking t = {.scan = scan, .batch = batch, .selection.selected = selected};
    if (selected == 0) {
        return FRZ_OK;
    }
    if (selected < batch->length) {
        FRZ_TRY(
            frz_selection_init(&t.selection, scan->env, selection, batch->length, selected, err));
    }
    FRZ_TRY(take_columns(&t, out, err));
    if (scan->left >= 0 && scan->left < out->length) {
        rc = cut(scan, out, scan->left, err);
    }
out:
    frz_selection_reset(&t.selection, scan->env);
    return rc;
}

/* Rows that are deleted (not in live; NULL: none) neither come out nor make the filter fail. */
static frz_code filter_batch(const frz_scan *scan, struct ArrowArray *batch, int64_t first_row,
                             const uint8_t *live, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected = 0;
    uint8_t *selection = NULL;
    FRZ_TRY(new_bits(scan, batch->length, &selection, err));
    FRZ_TRY(frz_expr_select(scan->columns.filter, scan->columns.read_type, batch, first_row, live,
                            selection, &selected, err));
    FRZ_TRY(put_out(scan, batch, selection, selected, out, err));
out:
    frz_free(scan->env, selection);
    return frz_context(err, rc, "filtering %.*s", FRZ_STR_ARG(scan->file.entry->location));
}

frz_code scan_take_batch(frz_scan *scan, frz_batch *batch, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t live_count = 0;
    uint8_t *live = NULL;
    struct ArrowArray extended = {0};
    struct ArrowArray *rows = &batch->array;
    scan->report.rows_read += rows->length + batch->left_out;
    scan->report.rows_deleted += batch->left_out;
    FRZ_TRY(find_live(scan, batch, &live, &live_count, err));
    if (live_count == 0 && !scan->columns.shows_deleted) {
        goto out;
    }
    if (scan->columns.read_type->field_count > scan->columns.stored_type->field_count) {
        FRZ_TRY(add_row_columns(scan, batch, live, &extended, err));
        rows = &extended;
    }
    const uint8_t *taken = scan->columns.shows_deleted ? NULL : live;
    int64_t taken_count = scan->columns.shows_deleted ? rows->length : live_count;
    rc = scan->columns.filter == NULL || scan->file.settled
             ? put_out(scan, rows, taken, taken_count, out, err)
             : filter_batch(scan, rows, batch->first_row, taken, out, err);
out:
    frz_free(scan->env, live);
    frz_array_release(&extended);
    return rc;
}
