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
    frz_entry source; /* its identity */
    frz_rewritten file;
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

static const compact_result *find_result(const compact_job *job, const frz_entry *entry)
{
    for (size_t i = 0; i < job->result_count; i++) {
        if (frz_same_content(&job->results[i].source, entry)) {
            return &job->results[i];
        }
    }
    return NULL;
}

static frz_code rewrite_entry(compact_job *job, const frz_commit_attempt *attempt,
                              const frz_entry *entry, frz_rewritten *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live_rows rows = {.live.env = job->env};
    FRZ_TRY(
        frz_live_rows_find(attempt->table, entry, job->files.deletes, attempt->arena, &rows, err));
    FRZ_TRY(frz_rewrite_file(attempt, entry, &rows, &job->options, job->durable, &job->arena, out,
                             err));
out:
    frz_live_rows_reset(&rows);
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
    FRZ_TRY(frz_entry_identity(&job->arena, entry, &result->source, err));
    FRZ_TRY(rewrite_entry(job, attempt, entry, &result->file, err));
    job->result_count++;
    *out = result;
out:
    return rc;
}

/* ---- the plan ---- */

static frz_code plan_entry(compact_job *job, const frz_commit_attempt *attempt,
                           const frz_entry *entry, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const compact_result *result = NULL;
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->done_rows, (uint64_t)job->total_rows,
                         err));
    FRZ_TRY(compact_entry(job, attempt, entry, &result, err));
    FRZ_TRY(frz_rewritten_plan(attempt, entry, entry, &result->file, &job->metrics, plan, err));
    plan->rows += result->file.record_count;
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
