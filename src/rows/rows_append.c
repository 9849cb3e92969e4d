/*
 * Append: rows of files or of an Arrow stream become new data files of a table.
 *
 * The first attempt reads the rows and writes the files; a later one, after another writer was
 * first, commits the same files: their rows do not depend on what the table held. Their fields are
 * found by id and their partitions by spec, so that changes of names, of the default spec and new
 * columns do not matter to them.
 */
#include "rows/rows_internal.h"
#include "source/source.h"

typedef struct append_job {
    const frz_env *env;
    const char *const *files; /* NULL: the stream */
    size_t file_count;
    struct ArrowArrayStream *stream;
    rows_fit_options fit;
    frz_arena arena; /* lives as long as all attempts */
    bool written;
    frz_str table_uuid; /* of the table that the files were written for, in the arena */
    const frz_type *type;
    frz_partitioning partitioning;
    const frz_row_file *made;
    size_t made_count;
    uint64_t rows; /* read so far */
} append_job;

/* ---- reading and writing ---- */

/* A file that does not fit is refused before anything is written. */
static frz_code check_file(append_job *job, const char *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    rows_fit *fit = NULL;
    FRZ_TRY(source_file_open(job->env, file, NULL, 0, NULL, &stream, err));
    FRZ_TRY(rows_fit_open(job->env, &stream, job->type, &job->fit, &fit, err));
out:
    rows_fit_close(fit);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return frz_context(err, rc, "appending %s", file);
}

static frz_code append_rows(append_job *job, struct ArrowArrayStream *stream, frz_row_files *files,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    rows_fit *fit = NULL;
    FRZ_TRY(rows_fit_open(job->env, stream, job->type, &job->fit, &fit, err));
    for (;;) {
        struct ArrowArray batch = {0};
        rc = rows_fit_next(fit, &batch, err);
        if (rc != FRZ_OK) {
            rc = rc == FRZ_END ? FRZ_OK : rc;
            break;
        }
        job->rows += (uint64_t)batch.length;
        rc = frz_row_files_write(files, &batch, err);
        frz_array_release(&batch);
        FRZ_TRY(rc);
        FRZ_TRY(frz_progress(job->env, "append", job->rows, 0, err));
    }
out:
    rows_fit_close(fit);
    return rc;
}

static frz_code append_file(append_job *job, const char *file, frz_row_files *files, frz_error *err)
{
    struct ArrowArrayStream stream = {0};
    frz_code rc = source_file_open(job->env, file, NULL, 0, NULL, &stream, err);
    if (rc == FRZ_OK) {
        rc = append_rows(job, &stream, files, err);
        stream.release(&stream);
    }
    return frz_context(err, rc, "appending %s", file);
}

static frz_code plan_writing(append_job *job, const frz_commit_attempt *attempt,
                             frz_row_files_options *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &attempt->table->metadata;
    FRZ_TRY(frz_arena_str(&job->arena, metadata->table_uuid, &job->table_uuid, err));
    FRZ_TRY(frz_type_copy(&job->arena, attempt->schema->type, &job->type, err));
    FRZ_TRY(frz_partitioning_of(metadata, job->type, &job->arena, &job->partitioning, err));
    *out = (frz_row_files_options){.type = job->type, .partitioning = &job->partitioning};
    FRZ_TRY(frz_write_parquet_options(metadata, &out->write, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &out->target_bytes, err));
out:
    return rc;
}

static frz_code write_files(append_job *job, const frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_files_options options = {0};
    frz_row_files *files = NULL;
    FRZ_TRY(plan_writing(job, attempt, &options, err));
    for (size_t i = 0; i < job->file_count; i++) {
        FRZ_TRY(check_file(job, job->files[i], err));
    }
    FRZ_TRY(frz_row_files_new(attempt, &options, &job->arena, &files, err));
    if (job->files == NULL) {
        FRZ_TRY(append_rows(job, job->stream, files, err));
    }
    for (size_t i = 0; i < job->file_count; i++) {
        FRZ_TRY(append_file(job, job->files[i], files, err));
    }
    FRZ_TRY(frz_row_files_finish(files, &job->made, &job->made_count, err));
    job->written = true;
out:
    frz_row_files_free(files);
    return rc;
}

/* ---- entries ---- */

/* The table of this name may be another one by now. */
static frz_code check_same_table(const append_job *job, const frz_metadata *metadata,
                                 frz_error *err)
{
    bool same = frz_str_equal(job->table_uuid, metadata->table_uuid) &&
                (job->partitioning.field_count == 0 ||
                 frz_metadata_spec(metadata, job->partitioning.spec_id) != NULL);
    return same ? FRZ_OK
                : frz_fail(err, FRZ_E_CONFLICT,
                           "the table was replaced by another one while rows were appended");
}

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    append_job *job = ctx;
    frz_metrics_config metrics;
    const frz_metadata *metadata = &attempt->table->metadata;
    FRZ_TRY(frz_metrics_config_of(metadata, attempt->schema, attempt->arena, &metrics, err));
    FRZ_TRY(job->written ? check_same_table(job, metadata, err) : write_files(job, attempt, err));
    for (size_t i = 0; i < job->made_count; i++) {
        FRZ_TRY(frz_row_file_plan(attempt, &job->partitioning, &job->made[i], &metrics, plan, err));
        plan->rows += job->made[i].written.row_count;
        plan->data_files++;
    }
    plan->operation = "append";
    plan->nothing = job->made_count == 0;
out:
    return rc;
}

/* ---- entry ---- */

static frz_code run(frz_catalog *catalog, const char *table, append_job *job,
                    const frz_append_options *opts, frz_commit_report *report, frz_error *err)
{
    frz_append_options own = FRZ_APPEND_OPTIONS_INIT;
    if (opts != NULL) { /* of a caller who may know fewer members */
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    job->env = catalog->env;
    job->fit = (rows_fit_options){own.columns, own.column_count, own.convert != 0};
    frz_arena_init(&job->arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = frz_commit_run(catalog, table, build, job, report, err);
    frz_arena_reset(&job->arena);
    return rc;
}

frz_code frz_append_files(frz_catalog *catalog, const char *table, const char *const *files,
                          size_t file_count, const frz_append_options *opts,
                          frz_commit_report *report, frz_error *err)
{
    append_job job = {.files = files, .file_count = file_count};
    if (file_count == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "no files to append to %s", table);
    }
    return run(catalog, table, &job, opts, report, err);
}

frz_code frz_append_stream(frz_catalog *catalog, const char *table, struct ArrowArrayStream *stream,
                           const frz_append_options *opts, frz_commit_report *report,
                           frz_error *err)
{
    append_job job = {.stream = stream};
    return run(catalog, table, &job, opts, report, err);
}
