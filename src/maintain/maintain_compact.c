/*
 * Compaction: column files are folded back into new data files, and one commit replaces the old
 * entries. When another writer commits first, results whose entries are still the same are used
 * again; a data file that changed meanwhile is compacted again from its newest entry. spec: column
 * files, interactions; statuses, what one commit writes
 */
#include "maintain/maintain_internal.h"
#include "scan/scan_plan.h"

typedef struct compact_job {
    const frz_env *env;
    frz_rewrite_results results;
    frz_parquet_write_options options;
    frz_metrics_config metrics;
    frz_live_files files; /* of the attempt */
    bool durable;
    int64_t done_rows, total_rows;
} compact_job;

static frz_code rewrite_entry(compact_job *job, const frz_commit_attempt *attempt,
                              const frz_entry *entry, frz_rewritten *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live_rows rows = {.live.env = job->env};
    FRZ_TRY(
        frz_live_rows_find(attempt->table, entry, job->files.deletes, attempt->arena, &rows, err));
    FRZ_TRY(frz_rewrite_file(attempt, entry, &rows, &job->options, job->durable,
                             &job->results.arena, out, err));
out:
    frz_live_rows_reset(&rows);
    return rc;
}

static frz_code compact_entry(compact_job *job, const frz_commit_attempt *attempt,
                              const frz_entry *entry, const frz_rewrite_result **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t schema_id = attempt->schema->schema_id;
    frz_rewritten file = {0};
    *out = frz_rewrite_results_find(&job->results, entry, schema_id);
    if (*out != NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(rewrite_entry(job, attempt, entry, &file, err));
    FRZ_TRY(frz_rewrite_results_add(&job->results, entry, schema_id, &file, file.record_count, out,
                                    err));
out:
    return rc;
}

/* ---- the plan ---- */

static frz_code plan_entry(compact_job *job, const frz_commit_attempt *attempt,
                           const frz_entry *entry, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_rewrite_result *result = NULL;
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->done_rows, (uint64_t)job->total_rows,
                         err));
    FRZ_TRY(compact_entry(job, attempt, entry, &result, err));
    FRZ_TRY(frz_rewritten_plan(attempt, entry, entry, &result->file, &job->metrics, plan, err));
    plan->rows += result->rows;
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
    frz_rewrite_results_sort(&job->results);
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
    frz_rewrite_results_init(&job.results, catalog->env);
    frz_code rc = frz_commit_run(catalog, table, compact_build, &job, report, err);
    frz_rewrite_results_reset(&job.results);
    return frz_context(err, rc, "compacting table %s", table);
}
