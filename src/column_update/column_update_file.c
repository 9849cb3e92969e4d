/*
 * One data file's column file: new values, and the old ones of the other rows carried over. Rows
 * before the first match are read again only if there is a match, so that a file without one costs
 * no write. spec: column files, writer procedure
 */
#include "column_update/column_update_internal.h"

typedef struct file_update {
    const update_plan *plan;
    const frz_commit_attempt *attempt;
    update_reader reader;
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
    frz_positions_free(result->moved);
    frz_positions_free(result->removed);
    frz_positions_free(result->used);
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
    FRZ_TRY(frz_stitch_group_ends(update->reader.stitch, &update->group_ends, &update->group_count,
                                  err));
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
    FRZ_TRY(frz_live_bits(&update->reader.live, read_type, batch, type, &live, err));
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
    frz_live_request(&update->reader.live, &request);
    FRZ_TRY(frz_live_read_type(&update->reader.live, update->plan->carry_type,
                               &update->reader.arena, &request.projection, err));
    FRZ_TRY(frz_stitch_open(update->attempt->table, update->reader.entry, &request, &stitch, err));
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
        FRZ_TRY(update_reader_values(&update->reader, &update->plan->assignments[made], batch, rows,
                                     &columns[made], err));
    }
    FRZ_TRY(update_reader_lineage(&update->reader, batch, rows, &columns[n], err));
    made = 0; /* the columns move, also on failure */
    rc = write_columns(update, columns, batch->array.length, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

/* One batch: if rows matched so far, write all of it. */
static frz_code take_batch(file_update *update, const frz_batch *batch, const update_rows *rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (rows->selected_count == 0 && update->writer == NULL) {
        return FRZ_OK;
    }
    if (update->writer == NULL) {
        FRZ_TRY(open_writer(update, err));
        if (batch->first_row > 0) {
            FRZ_TRY(carry_rows(update, batch->first_row, err));
        }
    }
    FRZ_TRY(update_batch(update, batch, rows, err));
    update->rows_updated += rows->selected_count;
out:
    return rc;
}

static frz_code finish_file(file_update *update, update_result *result, frz_error *err)
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
    result->leaves_partition = update->reader.leaves_partition;
    result->location = update->location;
    update->location = NULL;
    result->bytes = written.file_size;
    result->rows = update->rows_updated;
out:
    return rc;
}

frz_code update_result_take(update_reader *reader, update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = reader->plan->env;
    const frz_row_list *removed = &reader->removed, *used = &reader->used;
    if (removed->count > 0) {
        FRZ_TRY(frz_positions_of(env, removed->rows, removed->count, &result->removed, err));
    }
    if (used->count > 0) {
        FRZ_TRY(frz_positions_sort(env, used->rows, used->count, &result->used, err));
    }
out:
    return rc;
}

/* Delete files are folded where anything happens to the data file. */
static frz_code finish(file_update *update, update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_reader *reader = &update->reader;
    FRZ_TRY(update->writer == NULL ? FRZ_OK : finish_file(update, result, err));
    FRZ_TRY(update_result_take(reader, result, err));
    if (update_result_changes(result)) {
        FRZ_TRY(frz_live_take(&reader->live, &result->deleted, err));
    }
out:
    return rc;
}

frz_code update_file(const update_plan *plan, const frz_commit_attempt *attempt,
                     const frz_entry *entry, size_t place, frz_delete_index *deletes,
                     bool sync_each, update_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_result result = {.record_count = entry->record_count};
    frz_batch batch = {0};
    update_rows rows = {0};
    file_update update = {.plan = plan, .attempt = attempt, .sync_each = sync_each};
    FRZ_TRY(update_reader_open(&update.reader, plan, attempt->table, entry, place, deletes, err));
    while ((rc = update_reader_next(&update.reader, &batch, &rows, err)) == FRZ_OK) {
        FRZ_TRY(take_batch(&update, &batch, &rows, err));
        update_rows_reset(plan->env, &rows);
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    FRZ_TRY(rc);
    FRZ_TRY(finish(&update, &result, err));
    *out = result;
    memset(&result, 0, sizeof result);
out:
    update_rows_reset(plan->env, &rows);
    frz_array_release(&batch.array);
    frz_parquet_writer_abort(update.writer);
    update_reader_close(&update.reader);
    frz_free(plan->env, update.location);
    update_result_reset(plan->env, &result);
    return frz_context(err, rc, "updating %.*s", FRZ_STR_ARG(entry->location));
}
