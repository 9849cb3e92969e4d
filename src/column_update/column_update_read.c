/*
 * One data file as a statement sees it: batches of what the expressions read, which of their rows
 * are updated, and the new values of these.
 */
#include "column_update/column_update_internal.h"

/* ---- values ---- */

static const struct ArrowArray *old_values(const update_reader *reader, const frz_batch *batch,
                                           int32_t field_id)
{
    int64_t index = frz_type_index_of_id(reader->read_type, field_id);
    assert(index >= 0);
    return batch->array.children[index];
}

/* Where all live rows have new values, old ones were not even read. */
static bool carries(const update_reader *reader, const update_rows *rows)
{
    return reader->plan->carries && rows->selected != NULL;
}

static frz_code check_required(const frz_field *field, const frz_batch *batch,
                               const struct ArrowArray *array, const uint8_t *live, frz_error *err)
{
    const frz_field *lacking = update_lacks(field, array, live);
    long long first = batch->first_row, last = first + batch->array.length - 1;
    if (lacking == NULL) {
        return FRZ_OK;
    }
    if (lacking == field) {
        return frz_fail(
            err, FRZ_E_ARGUMENT,
            "column \"%.*s\" is required, but its new value is null in rows %lld to %lld",
            FRZ_STR_ARG(field->name), first, last);
    }
    return frz_fail(
        err, FRZ_E_ARGUMENT,
        "field %d (\"%.*s\") inside column \"%.*s\" is required, but null in new values "
        "of rows %lld to %lld",
        lacking->id, FRZ_STR_ARG(lacking->name), FRZ_STR_ARG(field->name), first, last);
}

/* New values in selected rows, old ones in the others, nulls in those that are deleted. */
frz_code update_reader_values(update_reader *reader, const update_assignment *assignment,
                              const frz_batch *batch, const update_rows *rows,
                              struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = reader->plan->env;
    const frz_field *field = assignment->field;
    struct ArrowArray values = {0}, column = {0};
    FRZ_TRY(frz_expr_eval(assignment->bound, reader->eval_type, &batch->array, batch->first_row,
                          rows->selected, &values, err));
    if (carries(reader, rows)) {
        FRZ_TRY(frz_array_merge(env, field->type, &values, old_values(reader, batch, field->id),
                                rows->selected, &column, err));
    } else {
        frz_array_move(&values, &column);
    }
    FRZ_TRY(check_required(field, batch, &column, rows->live, err));
    reader->leaves_partition = reader->leaves_partition ||
                               !update_keeps_partition(reader->plan, &reader->table->metadata,
                                                       reader->entry, field, &column, rows->live);
    FRZ_TRY(frz_live_hide(env, rows->live, &column, err));
    frz_array_move(&column, out);
out:
    frz_array_release(&column);
    frz_array_release(&values);
    return rc;
}

/* Null where the row is updated, which then means this commit; the old number elsewhere. */
frz_code update_reader_lineage(const update_reader *reader, const frz_batch *batch,
                               const update_rows *rows, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = reader->plan->env;
    const frz_type *type = frz_field_last_updated.type;
    struct ArrowArray nulls = {0}, column = {0};
    FRZ_TRY(frz_array_nulls(env, type, batch->array.length, &nulls, err));
    if (carries(reader, rows)) {
        FRZ_TRY(frz_array_merge(env, type, &nulls, old_values(reader, batch, FRZ_ID_LAST_UPDATED),
                                rows->selected, &column, err));
    } else {
        frz_array_move(&nulls, &column);
    }
    FRZ_TRY(frz_live_hide(env, rows->live, &column, err));
    frz_array_move(&column, out);
out:
    frz_array_release(&column);
    frz_array_release(&nulls);
    return rc;
}

/* ---- reading ---- */

/* The rows of the source become one more column. */
static frz_code add_source(const frz_env *env, frz_batch *batch, struct ArrowArray *values,
                           frz_error *err)
{
    size_t n = (size_t)batch->array.n_children;
    int64_t length = batch->array.length;
    struct ArrowArray *columns = frz_alloc_zero(env, n + 1, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, (n + 1) * sizeof *columns);
    }
    for (size_t i = 0; i < n; i++) {
        frz_array_move(batch->array.children[i], &columns[i]);
    }
    frz_array_move(values, &columns[n]);
    frz_array_release(&batch->array);
    frz_code rc = frz_batch_make(env, length, columns, n + 1, &batch->array, err);
    frz_free(env, columns);
    return rc;
}

/* Where the condition is true, of the rows that are selected so far (NULL: all). */
static frz_code select_matches(const update_reader *reader, const frz_batch *batch,
                               update_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = reader->plan;
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    uint8_t *selected = NULL;
    if (plan->filter == NULL) {
        return FRZ_OK;
    }
    selected = frz_alloc_zero(plan->env, 1, bytes);
    FRZ_TRY(selected == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    FRZ_TRY(frz_expr_select(plan->filter, reader->eval_type, &batch->array, batch->first_row,
                            rows->selected, selected, &rows->selected_count, err));
    frz_free(plan->env, rows->selected);
    rows->selected = selected;
    selected = NULL;
out:
    frz_free(plan->env, selected);
    return rc;
}

/* In a merge keys may come twice, but not for a row that conditions on the table let through. NULL:
 * all live rows are asked. */
static frz_code rows_to_join(const update_reader *reader, const frz_batch *batch,
                             const uint8_t *live, uint8_t **out, frz_error *err)
{
    int64_t count = 0;
    const update_plan *plan = reader->plan;
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    if (plan->merge == NULL || plan->prune == NULL) {
        return FRZ_OK;
    }
    *out = frz_alloc_zero(plan->env, 1, bytes);
    return *out == NULL ? frz_fail_nomem(err, bytes)
                        : frz_expr_select(plan->prune, reader->read_type, &batch->array,
                                          batch->first_row, live, *out, &count, err);
}

/* A result that is kept tells which they were. */
static frz_code note_used(update_reader *reader, const frz_joined *joined, const uint8_t *selected,
                          int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; joined->numbers != NULL && i < rows; i++) {
        if (frz_bit_get(selected, i)) {
            FRZ_TRY(frz_row_list_add(reader->plan->env, &reader->used, joined->numbers[i], err));
        }
    }
out:
    return rc;
}

/* Rows that the source has a row for, and of these the ones where the condition is true. */
static frz_code select_joined(update_reader *reader, frz_batch *batch, update_rows *rows,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = reader->plan;
    frz_joined joined = {0};
    uint8_t *asked = NULL;
    FRZ_TRY(rows_to_join(reader, batch, rows->live, &asked, err));
    FRZ_TRY(update_source_rows(plan->source, reader->place, reader->read_type, batch,
                               asked == NULL ? rows->live : asked, &joined, err));
    FRZ_TRY(add_source(plan->env, batch, &joined.values, err));
    rows->selected = joined.found;
    rows->selected_count = joined.count;
    joined.found = NULL;
    FRZ_TRY(select_matches(reader, batch, rows, err));
    update_source_mark(plan->source, &joined, rows->selected, batch->array.length);
    FRZ_TRY(note_used(reader, &joined, rows->selected, batch->array.length, err));
    if (plan->merge != NULL) {
        FRZ_TRY(update_merge_select(reader, batch, rows, err));
    }
out:
    frz_free(plan->env, asked);
    frz_joined_reset(plan->env, &joined);
    return rc;
}

static frz_code select_live(update_reader *reader, frz_batch *batch, update_rows *rows,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    if (rows->live != NULL) {
        rows->selected = frz_alloc_zero(reader->plan->env, 1, bytes);
        FRZ_TRY(rows->selected == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
        memcpy(rows->selected, rows->live, frz_bitmap_bytes(length));
        rows->selected_count = frz_bitmap_count(rows->selected, 0, length);
    }
    FRZ_TRY(select_matches(reader, batch, rows, err));
out:
    return rc;
}

/* Which rows of a batch are live, and which are updated. */
static frz_code select_rows(update_reader *reader, frz_batch *batch, update_rows *rows,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = reader->plan;
    rows->selected_count = batch->array.length;
    FRZ_TRY(
        frz_live_bits(&reader->live, reader->read_type, batch, reader->wanted, &rows->live, err));
    FRZ_TRY(frz_live_note(&reader->live, batch, rows->live, err));
    FRZ_TRY(plan->source != NULL ? select_joined(reader, batch, rows, err)
                                 : select_live(reader, batch, rows, err));
    if (rows->selected_count == batch->array.length) {
        frz_free(plan->env, rows->selected);
        rows->selected = NULL;
    }
out:
    return rc;
}

/* filter: rows that it rules out need not come; NULL: all must. */
static frz_code open_stitch(update_reader *reader, const frz_bound_expr *filter,
                            frz_delete_index *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch_request request = {.filter = filter};
    FRZ_TRY(frz_live_open(&reader->live, deletes, reader->table, reader->entry, err));
    frz_live_request(&reader->live, &request);
    FRZ_TRY(
        frz_live_read_type(&reader->live, reader->wanted, &reader->arena, &reader->read_type, err));
    reader->eval_type = reader->read_type;
    if (reader->plan->source != NULL) {
        FRZ_TRY(update_source_type(reader->plan->source, &reader->arena, reader->read_type,
                                   &reader->eval_type, err));
    }
    request.projection = reader->read_type;
    FRZ_TRY(frz_stitch_open(reader->table, reader->entry, &request, &reader->stitch, err));
out:
    return rc;
}

static void init(update_reader *reader, const update_plan *plan, const frz_table *table,
                 const frz_entry *entry, size_t place, const frz_type *wanted)
{
    *reader = (update_reader){
        .plan = plan, .table = table, .entry = entry, .place = place, .wanted = wanted};
    reader->live.env = plan->env;
    frz_arena_init(&reader->arena, plan->env, FRZ_ARENA_NO_LIMIT);
}

frz_code update_reader_open(update_reader *reader, const update_plan *plan, const frz_table *table,
                            const frz_entry *entry, size_t place, frz_delete_index *deletes,
                            frz_error *err)
{
    init(reader, plan, table, entry, place, plan->read_type);
    return open_stitch(reader, NULL, deletes, err);
}

frz_code update_finder_open(update_reader *reader, const update_plan *plan, const frz_table *table,
                            const frz_entry *entry, size_t place, frz_delete_index *deletes,
                            bool with_values, frz_error *err)
{
    init(reader, plan, table, entry, place, with_values ? plan->read_type : plan->find_type);
    return open_stitch(reader, plan->source == NULL ? plan->filter : NULL, deletes, err);
}

frz_code update_reader_next(update_reader *reader, frz_batch *batch, update_rows *rows,
                            frz_error *err)
{
    frz_code rc = frz_stitch_next(reader->stitch, batch, err);
    return rc == FRZ_OK ? select_rows(reader, batch, rows, err) : rc;
}

void update_rows_reset(const frz_env *env, update_rows *rows)
{
    frz_free(env, rows->live);
    frz_free(env, rows->selected);
    *rows = (update_rows){0};
}

void update_reader_close(update_reader *reader)
{
    if (reader->plan != NULL) {
        frz_row_list_reset(reader->plan->env, &reader->removed);
        frz_row_list_reset(reader->plan->env, &reader->used);
    }
    frz_stitch_close(reader->stitch);
    frz_live_reset(&reader->live);
    if (reader->arena.env != NULL) {
        frz_arena_reset(&reader->arena);
    }
}
