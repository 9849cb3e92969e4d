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
    FRZ_TRY(frz_commit_data_path(update->attempt, "-columns", &update->location, err));
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

/* Write the rows before the first match as they are. */
static frz_code carry_rows(file_update *update, int64_t end, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    size_t n = update->plan->carry_type->field_count;
    frz_row_range range = {0, end};
    frz_stitch_request request = {
        .projection = update->plan->carry_type, .ranges = &range, .range_count = 1};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    struct ArrowArray *columns = frz_alloc_zero(env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    FRZ_TRY(frz_stitch_open(update->attempt->table, update->entry, &request, &stitch, err));
    for (rc = frz_stitch_next(stitch, &batch, err); rc == FRZ_OK;
         rc = frz_stitch_next(stitch, &batch, err)) {
        int64_t rows = batch.array.length;
        for (size_t i = 0; i < n; i++) {
            frz_array_move(batch.array.children[i], &columns[i]);
        }
        frz_array_release(&batch.array);
        FRZ_TRY(write_columns(update, columns, rows, err));
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_stitch_close(stitch);
    frz_free(env, columns);
    return rc;
}

/* ---- computing ---- */

static const struct ArrowArray *old_values(const file_update *update, const frz_batch *batch,
                                           int32_t field_id)
{
    int64_t index = frz_type_index_of_id(update->plan->read_type, field_id);
    assert(index >= 0);
    return batch->array.children[index];
}

/* New values in selected rows, old ones in the others; selection NULL: all rows are selected. */
static frz_code compute_column(const file_update *update, const update_assignment *assignment,
                               const frz_batch *batch, const uint8_t *selection,
                               struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray values = {0};
    FRZ_TRY(frz_expr_eval(assignment->bound, update->plan->read_type, &batch->array,
                          batch->first_row, selection, &values, err));
    if (selection == NULL) {
        frz_array_move(&values, out);
    } else {
        FRZ_TRY(frz_array_merge(update->plan->env, assignment->field->type, &values,
                                old_values(update, batch, assignment->field->id), selection, out,
                                err));
    }
    if (assignment->field->required && frz_null_count(out) > 0) {
        frz_array_release(out);
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "column \"%.*s\" is required, but its new value is null in rows %lld to %lld",
                      FRZ_STR_ARG(assignment->field->name), (long long)batch->first_row,
                      (long long)(batch->first_row + batch->array.length - 1));
    }
out:
    frz_array_release(&values);
    return rc;
}

/* Null where the row is updated, which then means this commit; the old number elsewhere. */
static frz_code compute_lineage(const file_update *update, const frz_batch *batch,
                                const uint8_t *selection, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    struct ArrowArray nulls = {0};
    FRZ_TRY(frz_array_nulls(env, frz_field_last_updated.type, batch->array.length, &nulls, err));
    if (selection == NULL) {
        frz_array_move(&nulls, out);
    } else {
        FRZ_TRY(frz_array_merge(env, frz_field_last_updated.type, &nulls,
                                old_values(update, batch, FRZ_ID_LAST_UPDATED), selection, out,
                                err));
    }
out:
    frz_array_release(&nulls);
    return rc;
}

static frz_code update_batch(file_update *update, const frz_batch *batch, const uint8_t *selection,
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
        FRZ_TRY(compute_column(update, &update->plan->assignments[made], batch, selection,
                               &columns[made], err));
    }
    FRZ_TRY(compute_lineage(update, batch, selection, &columns[n], err));
    made = 0; /* the columns move, also on failure */
    rc = write_columns(update, columns, batch->array.length, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

/* One batch: which rows match, and if any did so far, write all of it. */
static frz_code take_batch(file_update *update, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = update->plan;
    int64_t rows = batch->array.length, selected = rows;
    uint8_t *selection = NULL;
    if (plan->filter != NULL) {
        selection = frz_alloc_zero(plan->env, 1, frz_bitmap_bytes(rows) + 8);
        if (selection == NULL) {
            return frz_fail_nomem(err, frz_bitmap_bytes(rows));
        }
        FRZ_TRY(frz_expr_select(plan->filter, plan->read_type, &batch->array, batch->first_row,
                                selection, &selected, err));
    }
    if (selected == 0 && update->writer == NULL) {
        goto out;
    }
    if (update->writer == NULL) {
        FRZ_TRY(open_writer(update, err));
        if (batch->first_row > 0) {
            FRZ_TRY(carry_rows(update, batch->first_row, err));
        }
    }
    FRZ_TRY(update_batch(update, batch, selected == rows ? NULL : selection, err));
    update->rows_updated += selected;
out:
    frz_free(plan->env, selection);
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
    result->location = update->location;
    update->location = NULL;
    result->bytes = written.file_size;
    result->rows = update->rows_updated;
out:
    return rc;
}

frz_code update_file(const update_plan *plan, const frz_commit_attempt *attempt,
                     const frz_entry *entry, bool sync_each, update_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_result result = {.record_count = entry->record_count};
    frz_batch batch = {0};
    file_update update = {.plan = plan, .attempt = attempt, .entry = entry, .sync_each = sync_each};
    frz_stitch_request request = {.projection = plan->read_type};
    FRZ_TRY(frz_stitch_open(attempt->table, entry, &request, &update.stitch, err));
    for (rc = frz_stitch_next(update.stitch, &batch, err); rc == FRZ_OK;
         rc = frz_stitch_next(update.stitch, &batch, err)) {
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
    frz_free(plan->env, update.location);
    update_result_reset(plan->env, &result);
    return frz_context(err, rc, "updating %.*s", FRZ_STR_ARG(entry->location));
}
