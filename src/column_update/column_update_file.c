/*
 * One data file's column file: read what the expressions need, compute, carry the other rows over,
 * write. Rows before the first match are read again only if there is a match, so that a file
 * without one costs no write. spec: column files, writer procedure
 */
#include "column_update/column_update_internal.h"

typedef struct file_update {
    const update_plan *plan;
    const frz_commit_attempt *attempt;
    const frz_entry *entry;
    frz_stitch *stitch;
    frz_live live;
    const frz_type *read_type; /* the plan's, and what finding deleted rows takes */
    frz_arena arena;           /* of types */
    bool leaves_partition;
    frz_parquet_writer *writer; /* NULL until a row matches */
    char *location;
    bool sync_each;            /* files are synced one by one */
    const int64_t *group_ends; /* row groups as the base file has them, so that folding splices */
    size_t group_count, group;
    int64_t rows_written;
    int64_t rows_updated;
} file_update;

void update_result_reset(const frz_env *env, update_result *result)
{
    frz_free(env, result->location);
    frz_positions_free(result->deleted);
    if (result->arena.env != NULL) {
        frz_arena_reset(&result->arena);
    }
    memset(result, 0, sizeof *result);
}

/* ---- writing ---- */

static frz_code open_writer(file_update *update, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    const frz_table *table = update->attempt->table;
    FRZ_TRY(frz_write_parquet_options(&table->metadata, &opts, err));
    FRZ_TRY(frz_stitch_group_ends(update->stitch, &update->group_ends, &update->group_count, err));
    opts.group_bytes = SIZE_MAX; /* groups end where the base file's do */
    opts.group_rows = 0;
    opts.durable = update->sync_each;
    FRZ_TRY(frz_commit_new_path(update->attempt, "-columns.parquet", &update->location, err));
    FRZ_TRY(frz_parquet_writer_open(table->env, update->location, update->plan->write_type, &opts,
                                    &update->writer, err));
out:
    return rc;
}

/* Write rows, ending row groups at the base file's boundaries. Takes the columns over. */
static frz_code write_columns(file_update *update, struct ArrowArray *columns, int64_t rows,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    struct ArrowArray batch = {0}, part = {0};
    FRZ_TRY(frz_batch_make(env, rows, columns, update->plan->write_type->field_count, &batch, err));
    for (int64_t done = 0; done < rows;) {
        int64_t take = rows - done;
        bool ends = update->group < update->group_count &&
                    update->group_ends[update->group] - update->rows_written <= take;
        if (ends) {
            take = update->group_ends[update->group] - update->rows_written;
        }
        if (take > 0) {
            FRZ_TRY(frz_batch_slice(env, &batch, done, take, &part, err));
            FRZ_TRY(frz_parquet_writer_write(update->writer, &part, err));
            frz_array_release(&part);
        }
        if (ends) {
            FRZ_TRY(frz_parquet_writer_end_group(update->writer, err));
            update->group++;
        }
        update->rows_written += take;
        done += take;
    }
out:
    frz_array_release(&part);
    frz_array_release(&batch);
    return rc;
}

/* One batch as it is, but for deleted rows. */
static frz_code carry_batch(file_update *update, const frz_type *read_type, frz_batch *batch,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    const frz_type *type = update->plan->carry_type;
    size_t n = type->field_count;
    uint8_t *live = NULL;
    struct ArrowArray *columns = frz_alloc_zero(env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    FRZ_TRY(frz_live_bits(&update->live, read_type, batch, type, &live, err));
    for (size_t i = 0; i < n; i++) {
        FRZ_TRY(frz_live_hide(env, live, batch->array.children[i], err));
    }
    for (size_t i = 0; i < n; i++) {
        frz_array_move(batch->array.children[i], &columns[i]);
    }
    rc = write_columns(update, columns, batch->array.length, err);
out:
    frz_free(env, live);
    frz_free(env, columns);
    return rc;
}

/* Write the rows before the first match. */
static frz_code carry_rows(file_update *update, int64_t end, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range range = {0, end};
    frz_stitch_request request = {.ranges = &range, .range_count = 1};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_live_request(&update->live, &request);
    FRZ_TRY(frz_live_read_type(&update->live, update->plan->carry_type, &update->arena,
                               &request.projection, err));
    FRZ_TRY(frz_stitch_open(update->attempt->table, update->entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(carry_batch(update, request.projection, &batch, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    return rc;
}

/* ---- computing ---- */

/* The rows of a batch, a bitmap each; NULL: all. */
typedef struct update_rows {
    uint8_t *live;     /* not deleted */
    uint8_t *selected; /* live, and the statement's condition is true */
    int64_t selected_count;
} update_rows;

static const struct ArrowArray *old_values(const file_update *update, const frz_batch *batch,
                                           int32_t field_id)
{
    int64_t index = frz_type_index_of_id(update->read_type, field_id);
    assert(index >= 0);
    return batch->array.children[index];
}

/* Without a condition all live rows have new values, and old ones were not even read. */
static bool carries(const file_update *update, const update_rows *rows)
{
    return update->plan->filter != NULL && rows->selected != NULL;
}

static bool has_null(const struct ArrowArray *array, const uint8_t *live)
{
    bool found = frz_null_count(array) > 0;
    if (found && live != NULL) {
        found = false;
        for (int64_t i = 0; !found && i < array->length; i++) {
            found = frz_bit_get(live, i) && frz_is_null(array, i);
        }
    }
    return found;
}

static frz_code check_required(const frz_field *field, const frz_batch *batch,
                               const struct ArrowArray *array, const uint8_t *live, frz_error *err)
{
    if (!field->required || !has_null(array, live)) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_ARGUMENT,
                    "column \"%.*s\" is required, but its new value is null in rows %lld to %lld",
                    FRZ_STR_ARG(field->name), (long long)batch->first_row,
                    (long long)(batch->first_row + batch->array.length - 1));
}

/* New values in selected rows, old ones in the others, nulls in those that are deleted. */
static frz_code compute_column(file_update *update, const update_assignment *assignment,
                               const frz_batch *batch, const update_rows *rows,
                               struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    const frz_field *field = assignment->field;
    struct ArrowArray values = {0}, column = {0};
    FRZ_TRY(frz_expr_eval(assignment->bound, update->read_type, &batch->array, batch->first_row,
                          rows->selected, &values, err));
    if (carries(update, rows)) {
        FRZ_TRY(frz_array_merge(env, field->type, &values, old_values(update, batch, field->id),
                                rows->selected, &column, err));
    } else {
        frz_array_move(&values, &column);
    }
    FRZ_TRY(check_required(field, batch, &column, rows->live, err));
    update->leaves_partition =
        update->leaves_partition ||
        !update_keeps_partition(update->plan, &update->attempt->table->metadata, update->entry,
                                field, &column, rows->live);
    FRZ_TRY(frz_live_hide(env, rows->live, &column, err));
    frz_array_move(&column, out);
out:
    frz_array_release(&column);
    frz_array_release(&values);
    return rc;
}

/* Null where the row is updated, which then means this commit; the old number elsewhere. */
static frz_code compute_lineage(const file_update *update, const frz_batch *batch,
                                const update_rows *rows, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    const frz_type *type = frz_field_last_updated.type;
    struct ArrowArray nulls = {0}, column = {0};
    FRZ_TRY(frz_array_nulls(env, type, batch->array.length, &nulls, err));
    if (carries(update, rows)) {
        FRZ_TRY(frz_array_merge(env, type, &nulls, old_values(update, batch, FRZ_ID_LAST_UPDATED),
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

static frz_code update_batch(file_update *update, const frz_batch *batch, const update_rows *rows,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    size_t n = update->plan->assignment_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(env, n + 1, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, (n + 1) * sizeof *columns);
    }
    for (; made < n; made++) {
        FRZ_TRY(compute_column(update, &update->plan->assignments[made], batch, rows,
                               &columns[made], err));
    }
    FRZ_TRY(compute_lineage(update, batch, rows, &columns[n], err));
    made = 0; /* the columns move, also on failure */
    rc = write_columns(update, columns, batch->array.length, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

/* Which rows of a batch are live, and which are updated. */
static frz_code select_rows(file_update *update, frz_batch *batch, update_rows *rows,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = update->plan;
    int64_t length = batch->array.length;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    rows->selected_count = length;
    FRZ_TRY(
        frz_live_bits(&update->live, update->read_type, batch, plan->read_type, &rows->live, err));
    FRZ_TRY(frz_live_note(&update->live, batch, rows->live, err));
    if (plan->filter == NULL && rows->live == NULL) {
        return FRZ_OK;
    }
    rows->selected = frz_alloc_zero(plan->env, 1, bytes);
    FRZ_TRY(rows->selected == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    if (plan->filter != NULL) {
        FRZ_TRY(frz_expr_select(plan->filter, update->read_type, &batch->array, batch->first_row,
                                rows->live, rows->selected, &rows->selected_count, err));
    } else {
        memcpy(rows->selected, rows->live, frz_bitmap_bytes(length));
        rows->selected_count = frz_bitmap_count(rows->selected, 0, length);
    }
    if (rows->selected_count == length) {
        frz_free(plan->env, rows->selected);
        rows->selected = NULL;
    }
out:
    return rc;
}

/* One batch: which rows match, and if any did so far, write all of it. */
static frz_code take_batch(file_update *update, frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_rows rows = {0};
    FRZ_TRY(select_rows(update, batch, &rows, err));
    if (rows.selected_count == 0 && update->writer == NULL) {
        goto out;
    }
    if (update->writer == NULL) {
        FRZ_TRY(open_writer(update, err));
        if (batch->first_row > 0) {
            FRZ_TRY(carry_rows(update, batch->first_row, err));
        }
    }
    FRZ_TRY(update_batch(update, batch, &rows, err));
    update->rows_updated += rows.selected_count;
out:
    frz_free(update->plan->env, rows.live);
    frz_free(update->plan->env, rows.selected);
    return rc;
}

static frz_code finish(file_update *update, update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_writer *writer = update->writer;
    frz_parquet_written written = {0};
    frz_arena_init(&result->arena, update->plan->env, FRZ_ARENA_NO_LIMIT);
    update->writer = NULL;
    FRZ_TRY(frz_parquet_writer_finish(writer, update->sync_each, &result->arena, &written, err));
    rc = frz_commit_track(update->attempt, update->location, written.file_size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(update->plan->env, update->location, NULL);
        goto out;
    }
    FRZ_TRY(frz_metrics_apply(&update->plan->metrics, written.stats, written.stats_count,
                              &result->arena, &result->stats, &result->stats_count, err));
    /* a result outlives the version of the table that its types belong to */
    FRZ_TRY(frz_stats_own_types(&result->arena, result->stats, result->stats_count, err));
    FRZ_TRY(frz_live_take(&update->live, &result->deleted, err));
    result->leaves_partition = update->leaves_partition;
    result->location = update->location;
    update->location = NULL;
    result->bytes = written.file_size;
    result->rows = update->rows_updated;
out:
    return rc;
}

static frz_code open_reader(file_update *update, frz_delete_index *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_table *table = update->attempt->table;
    frz_stitch_request request = {0};
    FRZ_TRY(frz_live_open(&update->live, deletes, table, update->entry, err));
    frz_live_request(&update->live, &request);
    FRZ_TRY(frz_live_read_type(&update->live, update->plan->read_type, &update->arena,
                               &update->read_type, err));
    request.projection = update->read_type;
    FRZ_TRY(frz_stitch_open(table, update->entry, &request, &update->stitch, err));
out:
    return rc;
}

frz_code update_file(const update_plan *plan, const frz_commit_attempt *attempt,
                     const frz_entry *entry, frz_delete_index *deletes, bool sync_each,
                     update_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_result result = {.record_count = entry->record_count};
    frz_batch batch = {0};
    file_update update = {.plan = plan, .attempt = attempt, .entry = entry, .sync_each = sync_each};
    update.live.env = plan->env;
    frz_arena_init(&update.arena, plan->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(open_reader(&update, deletes, err));
    while ((rc = frz_stitch_next(update.stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(take_batch(&update, &batch, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    if (rc == FRZ_OK && update.writer != NULL) {
        rc = finish(&update, &result, err);
    }
    if (rc == FRZ_OK) {
        *out = result;
        memset(&result, 0, sizeof result);
    }
out:
    frz_array_release(&batch.array);
    frz_parquet_writer_abort(update.writer);
    frz_stitch_close(update.stitch);
    frz_live_reset(&update.live);
    frz_arena_reset(&update.arena);
    frz_free(plan->env, update.location);
    update_result_reset(plan->env, &result);
    return frz_context(err, rc, "updating %.*s", FRZ_STR_ARG(entry->location));
}
