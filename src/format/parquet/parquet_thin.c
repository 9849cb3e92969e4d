/*
 * Batches without some of their rows, which are taken out of each column when it has been read.
 *
 * Invariants:
 *  1. Early columns tell which rows are kept. They are read first; others that are read meanwhile,
 *     by other threads, are thinned afterwards.
 *  2. What is known of the rows from the cursor's row on is known until they are handed out: all at
 *     once, unless a column came short of them.
 *  3. A column is thinned when it has all these rows. Of one that came short, rows are taken out as
 *     they are handed out; the others keep what they have of the rows beyond.
 */
#include "format/parquet/parquet_read.h"

/* ---- lifetime ---- */

/* Early columns first. */
static void put_in_order(parquet_cursor *c)
{
    size_t n = 0;
    for (int early = 1; early >= 0; early--) {
        for (size_t i = 0; i < c->column_count; i++) {
            if (c->columns[i].early == (early == 1)) {
                c->order[n++] = i;
            }
        }
    }
}

void parquet_thin_init(parquet_cursor *c, const frz_thinning *how)
{
    c->thin.how = how;
    for (size_t i = 0; how != NULL && i < how->column_count; i++) {
        assert(how->columns[i] < c->column_count);
        c->columns[how->columns[i]].early = true;
    }
    put_in_order(c);
}

void parquet_thin_reset(parquet_cursor *c)
{
    frz_selection_reset(&c->thin.selection, c->env);
    frz_free(c->env, c->thin.bits);
}

/* ---- which rows ---- */

static frz_code reserve_bits(parquet_cursor *c, int64_t rows, frz_error *err)
{
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    if (bytes > c->thin.capacity) {
        uint8_t *bits = frz_realloc(c->env, c->thin.bits, bytes);
        if (bits == NULL) {
            return frz_fail_nomem(err, bytes);
        }
        c->thin.bits = bits;
        c->thin.capacity = bytes;
    }
    return FRZ_OK;
}

/* The first rows of those that are known. bits NULL: all are kept. */
static frz_code select_first(const parquet_cursor *c, int64_t rows, frz_selection *out,
                             frz_error *err)
{
    int64_t kept = frz_bitmap_count(c->thin.bits, 0, rows);
    *out = (frz_selection){.length = rows, .selected = kept};
    return kept == rows ? FRZ_OK : frz_selection_init(out, c->env, c->thin.bits, rows, kept, err);
}

/* The columns as a batch that belongs to nobody. */
static frz_code ask(parquet_cursor *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray **children = frz_alloc_zero(c->env, c->column_count, sizeof(void *));
    if (children == NULL) {
        return frz_fail_nomem(err, c->column_count * sizeof(void *));
    }
    for (size_t i = 0; i < c->column_count; i++) {
        children[i] = &c->columns[i].pending;
    }
    const frz_batch batch = {.first_row = c->row,
                             .array = {.length = c->thin.rows,
                                       .n_children = (int64_t)c->column_count,
                                       .children = children}};
    rc = c->thin.how->choose(c->thin.how->ctx, &batch, c->thin.bits, err);
    frz_free(c->env, children);
    return rc;
}

static frz_code choose(parquet_cursor *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = c->batch_rows;
    for (size_t i = 0; i < c->column_count && c->columns[c->order[i]].early; i++) {
        rows = FRZ_MIN(rows, c->columns[c->order[i]].pending.length);
    }
    FRZ_TRY(reserve_bits(c, rows, err));
    memset(c->thin.bits, 0xff, frz_bitmap_bytes(rows));
    c->thin.rows = rows;
    FRZ_TRY(ask(c, err));
    FRZ_TRY(select_first(c, rows, &c->thin.selection, err));
    atomic_store(&c->thin.chosen, true);
out:
    return rc;
}

frz_code parquet_thin_begin(parquet_cursor *c, frz_error *err)
{
    size_t early = 0;
    while (early < c->column_count && c->columns[c->order[early]].early) {
        early++;
    }
    atomic_store(&c->thin.chosen, false);
    atomic_store(&c->thin.waiting, early);
    return early == 0 ? choose(c, err) : FRZ_OK;
}

/* ---- columns ---- */

/* Rows move. */
static frz_code keep_selected(const parquet_cursor *c, const parquet_cursor_column *column,
                              const frz_selection *s, struct ArrowArray *rows,
                              struct ArrowArray *out, frz_error *err)
{
    if (s->selected == s->length) {
        frz_array_move(rows, out);
        return FRZ_OK;
    }
    return frz_array_filter_move(c->env, column->type, rows, s, out, err);
}

frz_code parquet_thin_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows;
    if (column->early && !atomic_load(&c->thin.chosen) &&
        atomic_fetch_sub(&c->thin.waiting, 1) == 1) {
        FRZ_TRY(choose(c, err));
    }
    if (column->thinned || !atomic_load(&c->thin.chosen) ||
        column->pending.length != c->thin.rows) {
        return FRZ_OK;
    }
    frz_array_move(&column->pending, &rows);
    FRZ_TRY(keep_selected(c, column, &c->thin.selection, &rows, &column->pending, err));
    column->thinned = true;
out:
    return rc;
}

static frz_code take_column(parquet_cursor *c, parquet_cursor_column *column,
                            const frz_selection *first, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows = {0};
    if (column->thinned && first->length < c->thin.rows) { /* it is asked again for the others */
        return parquet_cursor_cut(c->env, column, first->selected, out, err);
    }
    if (column->thinned) {
        return parquet_cursor_take(c->env, column, first->selected, out, err);
    }
    FRZ_TRY(parquet_cursor_take(c->env, column, first->length, &rows, err));
    rc = keep_selected(c, column, first, &rows, out, err);
out:
    return rc;
}

/* ---- batches ---- */

/* The rows were handed out. */
static frz_code go_on(parquet_cursor *c, int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_thin *t = &c->thin;
    int64_t left = t->rows - rows;
    frz_selection_reset(&t->selection, c->env);
    for (int64_t i = 0; i < left; i++) { /* seldom */
        frz_bit_put(t->bits, i, frz_bit_get(t->bits, rows + i));
    }
    t->rows = left;
    for (size_t i = 0; i < c->column_count && left == 0; i++) {
        c->columns[i].thinned = false;
    }
    if (left > 0) {
        rc = select_first(c, left, &t->selection, err);
    }
    return rc;
}

frz_code parquet_thin_take(parquet_cursor *c, int64_t rows, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t made = 0;
    frz_selection first = {0};
    frz_batch batch = {.first_row = c->row};
    FRZ_TRY(select_first(c, rows, &first, err));
    batch.left_out = rows - first.selected;
    for (; made < c->column_count; made++) {
        FRZ_TRY(take_column(c, &c->columns[made], &first, &c->slices[made], err));
    }
    made = 0; /* moved, also on failure */
    FRZ_TRY(frz_batch_make(c->env, first.selected, c->slices, c->column_count, &batch.array, err));
    rc = go_on(c, rows, err);
    if (rc != FRZ_OK) {
        frz_array_release(&batch.array);
        goto out;
    }
    *out = batch;
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&c->slices[i]);
    }
    frz_selection_reset(&first, c->env);
    return rc;
}
