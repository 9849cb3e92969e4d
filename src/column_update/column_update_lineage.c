/*
 * Another writer changed other columns of a data file while an update of it was computed. The new
 * values still hold, but the lineage column does not: rows that the other writer updated have a
 * newer number. So the lineage column is written again, alone. spec: writer procedure, commit check
 */
#include "column_update/column_update_internal.h"

typedef struct lineage_update {
    const update_plan *plan;
    const frz_commit_attempt *attempt;
    frz_data_file *file; /* the result's column file: null where it updated */
    frz_data_reader *reader;
    frz_batch mine;
    int64_t mine_used;
    frz_stitch *newest;
    const frz_type *type; /* struct of the lineage column */
    frz_parquet_writer *writer;
    char *location;
} lineage_update;

static frz_code open_parts(lineage_update *update, const frz_entry *newest,
                           const update_result *result, frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    const frz_table *table = update->attempt->table;
    FRZ_TRY(frz_type_struct_of(arena, &frz_field_last_updated, 1, &update->type, err));
    frz_read_request mine = {.projection = update->type};
    frz_stitch_request theirs = {.projection = update->type, .with_deleted = true};
    FRZ_TRY(frz_data_file_open(table->env, result->location, NULL, &update->file, err));
    FRZ_TRY(frz_data_reader_open(update->file, &mine, &update->reader, err));
    FRZ_TRY(frz_stitch_open(table, newest, &theirs, &update->newest, err));
    FRZ_TRY(frz_write_parquet_options(&table->metadata, &opts, err));
    FRZ_TRY(frz_commit_new_path(update->attempt, "-lineage.parquet", &update->location, err));
    FRZ_TRY(frz_parquet_writer_open(table->env, update->location, update->type, &opts,
                                    &update->writer, err));
out:
    return rc;
}

/* Have rows of the own column file at hand. */
static frz_code fill_mine(lineage_update *update, frz_error *err)
{
    if (update->mine.array.release != NULL && update->mine_used < update->mine.array.length) {
        return FRZ_OK;
    }
    frz_array_release(&update->mine.array);
    update->mine_used = 0;
    frz_code rc = frz_data_reader_next(update->reader, &update->mine, err);
    return rc == FRZ_END ? frz_fail(err, FRZ_E_CORRUPT, "%s: column file ends early",
                                    frz_data_file_location(update->file))
                         : rc;
}

/* Rows of the newest lineage from first on, as far as the own column file's batch reaches. */
static frz_code write_window(lineage_update *update, const struct ArrowArray *newest, int64_t first,
                             int64_t *taken, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = update->plan->env;
    const frz_type *type = frz_field_last_updated.type;
    struct ArrowArray mine = {0}, theirs = {0}, column = {0}, batch = {0};
    uint8_t *updated = NULL;
    FRZ_TRY(fill_mine(update, err));
    int64_t rows = FRZ_MIN(newest->length - first, update->mine.array.length - update->mine_used);
    FRZ_TRY(
        frz_array_slice(env, update->mine.array.children[0], update->mine_used, rows, &mine, err));
    FRZ_TRY(frz_array_slice(env, newest, first, rows, &theirs, err));
    updated = frz_alloc_zero(env, 1, frz_bitmap_bytes(rows) + 8);
    if (updated == NULL) {
        rc = frz_fail_nomem(err, frz_bitmap_bytes(rows));
        goto out;
    }
    for (int64_t i = 0; i < rows; i++) {
        frz_bit_put(updated, i, frz_is_null(&mine, i));
    }
    FRZ_TRY(frz_array_merge(env, type, &mine, &theirs, updated, &column, err));
    FRZ_TRY(frz_batch_make(env, rows, &column, 1, &batch, err));
    FRZ_TRY(frz_parquet_writer_write(update->writer, &batch, err));
    update->mine_used += rows;
    *taken = rows;
out:
    frz_free(env, updated);
    frz_array_release(&mine);
    frz_array_release(&theirs);
    frz_array_release(&column);
    frz_array_release(&batch);
    return rc;
}

static frz_code write_all(lineage_update *update, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_batch batch = {0};
    for (rc = frz_stitch_next(update->newest, &batch, err); rc == FRZ_OK;
         rc = frz_stitch_next(update->newest, &batch, err)) {
        for (int64_t first = 0, taken = 0; first < batch.array.length; first += taken) {
            FRZ_TRY(write_window(update, batch.array.children[0], first, &taken, err));
        }
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    return rc;
}

frz_code update_lineage_file(const update_plan *plan, const frz_commit_attempt *attempt,
                             const frz_entry *newest, const update_result *result, bool sync_each,
                             char **location, int64_t *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_written written = {0};
    lineage_update update = {.plan = plan, .attempt = attempt};
    FRZ_TRY(open_parts(&update, newest, result, attempt->arena, err));
    FRZ_TRY(write_all(&update, err));
    frz_parquet_writer *writer = update.writer;
    update.writer = NULL;
    FRZ_TRY(frz_parquet_writer_finish(writer, sync_each, attempt->arena, &written, err));
    rc = frz_commit_track(attempt, update.location, written.file_size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(plan->env, update.location, NULL);
        goto out;
    }
    *location = update.location;
    update.location = NULL;
    *bytes = written.file_size;
out:
    frz_array_release(&update.mine.array);
    frz_data_reader_close(update.reader);
    frz_data_file_close(update.file);
    frz_stitch_close(update.newest);
    frz_parquet_writer_abort(update.writer);
    frz_free(plan->env, update.location);
    return frz_context(err, rc, "renewing the lineage of %.*s", FRZ_STR_ARG(newest->location));
}
