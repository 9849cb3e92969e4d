/*
 * Import: Parquet files of any writer become a v4 table.
 *
 * First every footer is read and all schemas are fitted together, so that a file that does not fit
 * is refused before anything is written. Then each file's bytes are copied into the table's data
 * folder as they are (by reflink where the file system can), and the footer gives row count, split
 * offsets and statistics. Nothing is decoded, unless a rewrite is asked for. spec: name mapping
 */
#include "format/parquet/parquet.h"
#include "frazil/import.h"
#include "write/write_internal.h"

#define MAPPING_PROPERTY "schema.name-mapping.default"

typedef struct import_source {
    const char *path; /* as given */
    char *location;
    bool has_ids;
    int64_t size, rows; /* as planned */
} import_source;

typedef struct import_job {
    const frz_env *env;
    const frz_import_options *options;
    bool rewrite;
    frz_arena arena;
    import_source *sources;
    size_t source_count;
    int64_t total_bytes;
    frz_import_schema fitted;
    frz_schema schema;
    int32_t last_column_id;
    bool needs_mapping;
    frz_name_mapping mapping;
    frz_property_kv *properties;
    size_t property_count;
    frz_parquet_write_options write_options;
    frz_metrics_config metrics;
    int64_t done_bytes;
} import_job;

/* ---- planning: footers only ---- */

static frz_code open_failed(const import_source *source, frz_code rc, frz_error *err)
{
    if (rc == FRZ_E_UNSUPPORTED && err != NULL && err->hint[0] == '\0') {
        frz_hint(err, "write the file again without it with another program; --rewrite cannot "
                      "help, because it would have to read it");
    }
    return frz_context(err, rc, "importing %s", source->path);
}

static frz_code require_parquet(const frz_data_file *file, frz_error *err)
{
    if (frz_data_file_model(file) != &frz_parquet_model) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: import of files of format %s",
                        frz_data_file_model(file)->name);
    }
    return FRZ_OK;
}

static frz_code plan_schema(import_job *job, import_source *source, const frz_type *type,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_import_check(job->env, source->path, type, job->rewrite, &source->has_ids, err));
    if (job->rewrite) {
        FRZ_TRY(frz_import_strip(&job->arena, type, &type, err));
    }
    if (type->field_count == 0) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "file %s has no columns but row lineage", source->path);
        goto out;
    }
    FRZ_TRY(frz_import_fit(&job->fitted, source->path, type, err));
out:
    return rc;
}

static frz_code plan_source(import_job *job, import_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    FRZ_TRY(frz_location_from_path(job->env, source->path, &source->location, err));
    rc = frz_data_file_open(job->env, source->location, NULL, &file, err);
    rc = rc == FRZ_OK ? require_parquet(file, err) : rc;
    rc = rc == FRZ_OK ? frz_parquet_check_readable(file, err) : rc;
    if (rc != FRZ_OK) {
        rc = open_failed(source, rc, err);
        goto out;
    }
    source->rows = frz_data_file_row_count(file);
    source->size = (int64_t)frz_data_file_size(file);
    job->total_bytes += source->size;
    FRZ_TRY(plan_schema(job, source, frz_data_file_type(file), err));
out:
    frz_data_file_close(file);
    return rc;
}

/* Files without ids are read by the names that the schema has now. */
static frz_code plan_mapping(import_job *job, frz_property_kv *property, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf json = FRZ_BUF_INIT(job->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_name_mapping_of(job->env, job->schema.type, &json, err));
    FRZ_TRY(frz_arena_str(&job->arena, frz_buf_view(&json), &property->value, err));
    property->key = FRZ_STR(MAPPING_PROPERTY);
    FRZ_TRY(frz_name_mapping_parse(&job->arena, property->value, &job->mapping, err));
out:
    frz_buf_reset(&json);
    return rc;
}

static frz_code plan_properties(import_job *job, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t given = job->options->property_count;
    job->properties = frz_arena_array(&job->arena, given + 1, sizeof *job->properties);
    if (job->properties == NULL) {
        return frz_fail_nomem(err, (given + 1) * sizeof *job->properties);
    }
    for (size_t i = 0; i < given; i++) {
        const frz_property *property = &job->options->properties[i];
        if (property->key == NULL || property->value == NULL || property->key[0] == '\0') {
            return frz_fail(err, FRZ_E_ARGUMENT, "table property %zu has no key or no value", i);
        }
        FRZ_TRY(frz_write_check_key(frz_str_from(property->key), err));
        if (job->needs_mapping && strcmp(property->key, MAPPING_PROPERTY) == 0) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "table property %s cannot be given for files without field ids: it "
                            "follows from their columns",
                            MAPPING_PROPERTY);
        }
        job->properties[i] =
            (frz_property_kv){frz_str_from(property->key), frz_str_from(property->value)};
    }
    job->property_count = given;
    if (job->needs_mapping) {
        FRZ_TRY(plan_mapping(job, &job->properties[job->property_count], err));
        job->property_count++;
    }
out:
    return rc;
}

static frz_code import_plan(import_job *job, const char *const *files, frz_error *err)
{
    frz_code rc = FRZ_OK;
    job->sources = frz_alloc_zero(job->env, job->source_count, sizeof *job->sources);
    if (job->sources == NULL) {
        return frz_fail_nomem(err, job->source_count * sizeof *job->sources);
    }
    job->fitted.arena = &job->arena;
    for (size_t i = 0; i < job->source_count; i++) {
        job->sources[i].path = files[i];
        FRZ_TRY(plan_source(job, &job->sources[i], err));
        job->needs_mapping = job->needs_mapping || (!job->rewrite && !job->sources[i].has_ids);
    }
    if (job->fitted.ids_path == NULL) {
        FRZ_TRY(frz_type_assign_ids(&job->arena, job->fitted.type, 1, &job->schema.type,
                                    &job->last_column_id, err));
    } else {
        job->schema.type = job->fitted.type;
        job->last_column_id = frz_type_max_id(job->schema.type);
    }
    FRZ_TRY(plan_properties(job, err));
out:
    return rc;
}

/* ---- writing ---- */

/* The source is still what was planned: nobody has written it anew meanwhile. */
static frz_code check_unchanged(import_job *job, const import_source *source,
                                const frz_data_file *file, const frz_type *numbered, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_import_schema again = {&job->arena, job->schema.type, "the plan", "the plan"};
    if (frz_data_file_size(file) != (uint64_t)source->size ||
        frz_data_file_row_count(file) != source->rows) {
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "file %s changed while it was imported: expected %lld bytes with %lld rows, "
                      "found %llu with %lld",
                      source->path, (long long)source->size, (long long)source->rows,
                      (unsigned long long)frz_data_file_size(file),
                      (long long)frz_data_file_row_count(file));
        goto out;
    }
    rc = frz_import_fit(&again, source->path, numbered, err);
    if (rc == FRZ_OK && again.type != job->schema.type) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "file %s changed while it was imported", source->path);
    }
out:
    return rc;
}

/* What is known of a file in the table, whichever way it came there. */
typedef struct import_result {
    int64_t size;
    const int64_t *split_offsets;
    size_t split_count;
    frz_field_stats *stats;
    size_t stats_count;
} import_result;

static frz_code copy_bytes(const frz_commit_attempt *attempt, const frz_data_file *file,
                           const char *location, bool durable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_writer *writer = NULL;
    FRZ_TRY(frz_file_create(attempt->env, location, &writer, err));
    FRZ_TRY(frz_file_append_from(writer, file->file, 0, frz_data_file_size(file), err));
    rc = frz_file_finish(writer, durable, err);
    writer = NULL;
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
    }
out:
    frz_file_abort(writer);
    return rc;
}

static frz_code copy_source(import_job *job, const frz_commit_attempt *attempt,
                            const frz_data_file *file, const char *location, bool durable,
                            import_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    import_result result = {.size = (int64_t)frz_data_file_size(file)};
    const int64_t *splits = frz_parquet_split_offsets(file, &result.split_count);
    int64_t *kept = frz_arena_array(attempt->arena, result.split_count, sizeof *kept);
    if (kept == NULL) {
        return frz_fail_nomem(err, result.split_count * sizeof *kept);
    }
    if (result.split_count > 0) {
        memcpy(kept, splits, result.split_count * sizeof *kept);
    }
    result.split_offsets = kept;
    FRZ_TRY(frz_parquet_metrics(file, job->schema.type, attempt->arena, &result.stats,
                                &result.stats_count, err));
    FRZ_TRY(copy_bytes(attempt, file, location, durable, err));
    *out = result;
out:
    return rc;
}

static frz_code rewrite_rows(import_job *job, const frz_data_file *file, const frz_type *numbered,
                             frz_parquet_writer *writer, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    int64_t rows = frz_data_file_row_count(file);
    frz_read_request request = {.projection = job->schema.type};
    FRZ_TRY(file->model->read(file, numbered, &request, &reader, err));
    for (;;) {
        frz_batch batch = {0};
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc != FRZ_OK) {
            rc = rc == FRZ_END ? FRZ_OK : rc;
            break;
        }
        rc = frz_parquet_writer_write(writer, &batch.array, err);
        int64_t done = batch.first_row + batch.array.length;
        frz_array_release(&batch.array);
        double share = rows > 0 ? (double)done / (double)rows : 1.0;
        FRZ_TRY(rc);
        FRZ_TRY(frz_progress(job->env, "import",
                             (uint64_t)job->done_bytes +
                                 (uint64_t)((double)frz_data_file_size(file) * share),
                             (uint64_t)job->total_bytes, err));
    }
out:
    frz_data_reader_close(reader);
    return rc;
}

static frz_code rewrite_source(import_job *job, const frz_commit_attempt *attempt,
                               const frz_data_file *file, const frz_type *numbered,
                               const char *location, bool durable, import_result *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_writer *writer = NULL;
    frz_parquet_written written = {0};
    frz_parquet_write_options options = job->write_options;
    options.durable = durable;
    FRZ_TRY(
        frz_parquet_writer_open(attempt->env, location, job->schema.type, &options, &writer, err));
    FRZ_TRY(rewrite_rows(job, file, numbered, writer, err));
    rc = frz_parquet_writer_finish(writer, durable, attempt->arena, &written, err);
    writer = NULL;
    FRZ_TRY(rc);
    *out = (import_result){.size = written.file_size,
                           .split_offsets = written.split_offsets,
                           .split_count = written.split_count,
                           .stats = written.stats,
                           .stats_count = written.stats_count};
out:
    frz_parquet_writer_abort(writer);
    return rc;
}

static frz_code add_entry(const import_job *job, const frz_commit_attempt *attempt,
                          const import_source *source, const char *location,
                          const import_result *result, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry entry = frz_entry_added(attempt);
    frz_field_stats *stats = NULL;
    FRZ_TRY(frz_arena_str(attempt->arena,
                          frz_table_relativize(attempt->table, frz_str_from(location)),
                          &entry.location, err));
    FRZ_TRY(frz_metrics_apply(&job->metrics, result->stats, result->stats_count, attempt->arena,
                              &stats, &entry.stats_count, err));
    entry.stats = stats;
    entry.record_count = source->rows;
    entry.file_size = result->size;
    entry.split_offsets = result->split_offsets;
    entry.split_count = result->split_count;
    FRZ_TRY(frz_commit_plan_change(attempt, plan, NULL, &entry, err));
    plan->rows += source->rows;
    plan->data_files++;
out:
    return rc;
}

/* One source becomes one data file of the table. */
static frz_code import_source_file(import_job *job, const frz_commit_attempt *attempt,
                                   const import_source *source, frz_commit_plan *plan,
                                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    char *location = NULL;
    const frz_type *numbered = NULL;
    import_result result = {0};
    bool durable = frz_commit_sync_each(attempt, job->source_count);
    bool by_name = !job->rewrite && !source->has_ids;
    FRZ_TRY(
        frz_data_file_open(job->env, source->location, by_name ? &job->mapping : NULL, &file, err));
    numbered = frz_data_file_type(file);
    if (job->rewrite) {
        FRZ_TRY(frz_import_number(&job->arena, numbered, job->schema.type, &numbered, err));
    }
    FRZ_TRY(check_unchanged(job, source, file, numbered, err));
    FRZ_TRY(frz_commit_new_path(attempt, ".parquet", &location, err));
    if (job->rewrite) {
        FRZ_TRY(rewrite_source(job, attempt, file, numbered, location, durable, &result, err));
    } else {
        FRZ_TRY(copy_source(job, attempt, file, location, durable, &result, err));
    }
    rc = frz_commit_track(attempt, location, result.size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
        goto out;
    }
    FRZ_TRY(add_entry(job, attempt, source, location, &result, plan, err));
out:
    frz_data_file_close(file);
    frz_free(job->env, location);
    return rc;
}

static frz_code import_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    import_job *job = ctx;
    const frz_metadata *metadata = &attempt->table->metadata;
    /* properties that do not make sense are refused before a byte is copied */
    FRZ_TRY(frz_write_parquet_options(metadata, &job->write_options, err));
    FRZ_TRY(frz_metrics_config_of(metadata, attempt->schema, &job->arena, &job->metrics, err));
    plan->operation = "append";
    job->done_bytes = 0;
    for (size_t i = 0; i < job->source_count; i++) {
        FRZ_TRY(frz_progress(job->env, "import", (uint64_t)job->done_bytes,
                             (uint64_t)job->total_bytes, err));
        rc = import_source_file(job, attempt, &job->sources[i], plan, err);
        FRZ_TRY(frz_context(err, rc, "importing %s", job->sources[i].path));
        job->done_bytes += job->sources[i].size;
    }
    FRZ_TRY(frz_progress(job->env, "import", (uint64_t)job->total_bytes, (uint64_t)job->total_bytes,
                         err));
out:
    return rc;
}

static void job_reset(import_job *job)
{
    for (size_t i = 0; job->sources != NULL && i < job->source_count; i++) {
        frz_free(job->env, job->sources[i].location);
    }
    frz_free(job->env, job->sources);
    frz_arena_reset(&job->arena);
}

frz_code frz_import(frz_catalog *catalog, const char *name, const char *const *files,
                    size_t file_count, const frz_import_options *opts, frz_commit_report *report,
                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_import_options defaults = FRZ_IMPORT_OPTIONS_INIT;
    import_job job = {.env = catalog->env,
                      .options = opts == NULL ? &defaults : opts,
                      .source_count = file_count};
    job.rewrite = job.options->rewrite != 0;
    frz_arena_init(&job.arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    if (file_count == 0) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "no files to import into %s", name);
        goto out;
    }
    FRZ_TRY(import_plan(&job, files, err));
    frz_new_table table = {.schema = &job.schema,
                           .last_column_id = job.last_column_id,
                           .properties = job.properties,
                           .property_count = job.property_count};
    FRZ_TRY(frz_commit_create(catalog, name, &table, import_build, &job, report, err));
out:
    job_reset(&job);
    return rc;
}
