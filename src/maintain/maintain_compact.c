/*
 * Compaction: column files are folded back into new data files, and one commit replaces the old
 * entries. When another writer commits first, results whose entries are still the same are used
 * again; a data file that changed meanwhile is compacted again from its newest entry. spec: column
 * files, interactions; statuses, what one commit writes
 */
#include "maintain/maintain_internal.h"
#include "scan/scan_plan.h"

/* What became of one entry. The identity is kept to tell whether it is still the newest. */
typedef struct compact_result {
    frz_entry source; /* location, sequence number and column files are in the job's arena */
    frz_compacted file;
} compact_result;

typedef struct compact_job {
    const frz_env *env;
    frz_arena arena; /* lives over all attempts */
    compact_result *results;
    size_t result_count, result_capacity;
    frz_parquet_write_options options;
    frz_metrics_config metrics;
    frz_live_files files; /* of the attempt */
    bool durable;
    int64_t done_rows, total_rows;
} compact_job;

/* ---- results of earlier attempts ---- */

static bool same_content(const frz_entry *a, const frz_entry *b)
{
    return frz_str_equal(a->location, b->location) && a->sequence_number == b->sequence_number &&
           a->has_deletion_vector == b->has_deletion_vector &&
           frz_str_equal(a->deletion_vector.location, b->deletion_vector.location) &&
           a->deletion_vector.offset == b->deletion_vector.offset &&
           frz_maintain_same_column_files(a, b);
}

static const compact_result *find_result(const compact_job *job, const frz_entry *entry)
{
    for (size_t i = 0; i < job->result_count; i++) {
        if (same_content(&job->results[i].source, entry)) {
            return &job->results[i];
        }
    }
    return NULL;
}

/* A copy of what same_content looks at. */
static frz_code keep_identity(frz_arena *arena, const frz_entry *entry, frz_entry *out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_column_file *files = frz_arena_array(arena, entry->column_file_count, sizeof *files);
    *out = (frz_entry){.sequence_number = entry->sequence_number, .column_files = files};
    if (files == NULL) {
        return frz_fail_nomem(err, entry->column_file_count * sizeof *files);
    }
    out->has_deletion_vector = entry->has_deletion_vector;
    out->deletion_vector.offset = entry->deletion_vector.offset;
    FRZ_TRY(frz_arena_str(arena, entry->location, &out->location, err));
    FRZ_TRY(
        frz_arena_str(arena, entry->deletion_vector.location, &out->deletion_vector.location, err));
    for (; out->column_file_count < entry->column_file_count; out->column_file_count++) {
        const frz_column_file *from = &entry->column_files[out->column_file_count];
        frz_column_file *to = &files[out->column_file_count];
        int32_t *ids = frz_arena_array(arena, from->field_id_count, sizeof *ids);
        if (ids == NULL) {
            return frz_fail_nomem(err, from->field_id_count * sizeof *ids);
        }
        memcpy(ids, from->field_ids, from->field_id_count * sizeof *ids);
        *to = (frz_column_file){.field_ids = ids, .field_id_count = from->field_id_count};
        FRZ_TRY(frz_arena_str(arena, from->location, &to->location, err));
    }
out:
    return rc;
}

static frz_code compact_entry(compact_job *job, const frz_commit_attempt *attempt,
                              const frz_entry *entry, const compact_result **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const compact_result *found = find_result(job, entry);
    if (found != NULL) {
        *out = found;
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(job->env, &job->results, &job->result_capacity, job->result_count, err));
    compact_result *result = &job->results[job->result_count];
    *result = (compact_result){0};
    FRZ_TRY(keep_identity(&job->arena, entry, &result->source, err));
    FRZ_TRY(frz_compact_file(attempt, entry, job->files.deletes, &job->options, job->durable,
                             &job->arena, &result->file, err));
    job->result_count++;
    *out = result;
out:
    return rc;
}

/* ---- the plan ---- */

static int64_t entry_bytes(const frz_entry *entry)
{
    int64_t bytes = entry->file_size;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        bytes += entry->column_files[i].file_size;
    }
    return bytes;
}

/* The old entry goes, the new file comes in its place, so that the order of rows stays. */
static frz_code plan_replacement(compact_job *job, const frz_commit_attempt *attempt,
                                 const frz_entry *source, const frz_compacted *file,
                                 frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry entry = frz_entry_added(attempt);
    frz_field_stats *stats = NULL;
    plan->rows += file->record_count;
    plan->data_files++;
    plan->live_data_bytes += entry_bytes(source);
    if (file->location == NULL) {
        return frz_commit_plan_change(attempt, plan, source, NULL, err);
    }
    FRZ_TRY(frz_arena_str(attempt->arena,
                          frz_table_relativize(attempt->table, frz_str_from(file->location)),
                          &entry.location, err));
    FRZ_TRY(frz_metrics_apply(&job->metrics, file->stats, file->stats_count, attempt->arena, &stats,
                              &entry.stats_count, err));
    entry.stats = stats;
    entry.record_count = file->record_count;
    entry.file_size = file->file_size;
    entry.split_offsets = file->split_offsets;
    entry.split_count = file->split_count;
    entry.sort_order_id = source->sort_order_id;
    entry.spec_id = source->spec_id;
    entry.partition = source->partition;
    entry.partition_count = source->partition_count;
    FRZ_TRY(frz_commit_plan_change(attempt, plan, source, &entry, err));
out:
    return rc;
}

static frz_code plan_entry(compact_job *job, const frz_commit_attempt *attempt,
                           const frz_entry *entry, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const compact_result *result = NULL;
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->done_rows, (uint64_t)job->total_rows,
                         err));
    FRZ_TRY(compact_entry(job, attempt, entry, &result, err));
    FRZ_TRY(plan_replacement(job, attempt, entry, &result->file, plan, err));
    job->done_rows += entry->record_count;
out:
    return rc;
}

/* Of the live data files those that have column files. */
static frz_code choose_files(compact_job *job, const frz_commit_attempt *attempt,
                             const frz_entry ***out, size_t *count, frz_error *err)
{
    const frz_live_files *files = &job->files;
    const frz_entry **chosen = frz_arena_array(attempt->arena, files->count, sizeof *chosen);
    *count = 0;
    job->done_rows = job->total_rows = 0;
    if (chosen == NULL) {
        return frz_fail_nomem(err, files->count * sizeof *chosen);
    }
    for (size_t i = 0; i < files->count; i++) {
        if (files->entries[i]->column_file_count > 0) {
            chosen[(*count)++] = files->entries[i];
            job->total_rows += files->entries[i]->record_count;
        }
    }
    *out = chosen;
    return FRZ_OK;
}

static frz_code compact_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    compact_job *job = ctx;
    const frz_entry **entries = NULL;
    size_t count = 0;
    const frz_metadata *metadata = &attempt->table->metadata;
    FRZ_TRY(frz_live_files_find(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                NULL, attempt->arena, &job->files, err));
    FRZ_TRY(choose_files(job, attempt, &entries, &count, err));
    plan->nothing = count == 0;
    if (plan->nothing) {
        goto out;
    }
    plan->operation = "replace";
    job->durable = frz_commit_sync_each(attempt, count);
    FRZ_TRY(frz_write_parquet_options(metadata, &job->options, err));
    job->options.durable = job->durable;
    FRZ_TRY(frz_metrics_config_of(metadata, attempt->schema, attempt->arena, &job->metrics, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(plan_entry(job, attempt, entries[i], plan, err));
    }
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->total_rows, (uint64_t)job->total_rows,
                         err));
out:
    frz_live_files_reset(&job->files);
    return rc;
}

frz_code frz_compact(frz_catalog *catalog, const char *table, frz_commit_report *report,
                     frz_error *err)
{
    compact_job job = {.env = catalog->env};
    frz_arena_init(&job.arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = frz_commit_run(catalog, table, compact_build, &job, report, err);
    frz_free(job.env, job.results);
    frz_arena_reset(&job.arena);
    return frz_context(err, rc, "compacting table %s", table);
}
