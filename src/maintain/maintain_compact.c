/*
 * Compaction: column files are folded back into new data files, or joined, and one commit replaces
 * the old entries. Which files, and how, is the caller's choice or the table's policy. When another
 * writer commits first, results whose entries are still the same are used again; a data file that
 * changed meanwhile is compacted again from its newest entry. spec: column files, interactions;
 * statuses, what one commit writes
 */
#include "maintain/maintain_internal.h"
#include "scan/scan_plan.h"

typedef enum compact_action { COMPACT_NOTHING, COMPACT_REWRITE, COMPACT_JOIN } compact_action;

typedef struct compact_choice {
    const frz_entry *entry;
    compact_action action;
} compact_choice;

typedef struct compact_job {
    const frz_env *env;
    frz_compact_options given;
    frz_compact_policy policy; /* of the attempt, as are those below */
    frz_compact_figures figures;
    frz_live_files files;
    frz_parquet_write_options options;
    frz_metrics_config metrics;
    bool durable;
    int64_t done_rows, total_rows;
    frz_rewrite_results results;
} compact_job;

/* ---- one file ---- */

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

/* A result of an earlier attempt, unless that had done something else. */
static const frz_rewrite_result *find_result(const compact_job *job, const compact_choice *choice,
                                             int32_t schema_id)
{
    const frz_rewrite_result *found =
        frz_rewrite_results_find(&job->results, choice->entry, schema_id);
    bool joined = found != NULL && found->file.field_ids != NULL;
    return joined == (choice->action == COMPACT_JOIN) ? found : NULL;
}

static frz_code compact_entry(compact_job *job, const frz_commit_attempt *attempt,
                              const compact_choice *choice, const frz_rewrite_result **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t schema_id = attempt->schema->schema_id;
    frz_rewritten file = {0};
    *out = find_result(job, choice, schema_id);
    if (*out != NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(choice->action == COMPACT_JOIN
                ? frz_join_column_files(attempt, choice->entry, &job->options, job->durable,
                                        &job->results.arena, &file, err)
                : rewrite_entry(job, attempt, choice->entry, &file, err));
    FRZ_TRY(frz_rewrite_results_add(&job->results, choice->entry, schema_id, &file,
                                    file.record_count, out, err));
out:
    return rc;
}

/* ---- the plan ---- */

static frz_code plan_entry(compact_job *job, const frz_commit_attempt *attempt,
                           const compact_choice *choice, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_rewrite_result *result = NULL;
    const frz_entry *entry = choice->entry;
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->done_rows, (uint64_t)job->total_rows,
                         err));
    FRZ_TRY(compact_entry(job, attempt, choice, &result, err));
    FRZ_TRY(
        choice->action == COMPACT_JOIN
            ? frz_joined_plan(attempt, entry, &result->file, plan, err)
            : frz_rewritten_plan(attempt, entry, entry, &result->file, &job->metrics, plan, err));
    plan->rows += result->rows;
    job->done_rows += entry->record_count;
out:
    return rc;
}

static compact_action action_for(const compact_job *job, const frz_entry *entry)
{
    switch (job->given.mode) {
    case FRZ_COMPACT_COLUMNS:
        return entry->column_file_count > 1 ? COMPACT_JOIN : COMPACT_NOTHING;
    case FRZ_COMPACT_POLICY:
        return frz_compact_wants_rewrite(&job->policy, entry) ? COMPACT_REWRITE
               : frz_compact_wants_join(&job->policy, entry)  ? COMPACT_JOIN
                                                              : COMPACT_NOTHING;
    default:
        return entry->column_file_count > 0 ? COMPACT_REWRITE : COMPACT_NOTHING;
    }
}

static void count_choice(compact_job *job, const compact_choice *choice)
{
    const frz_entry *entry = choice->entry;
    bool joins = choice->action == COMPACT_JOIN;
    job->total_rows += entry->record_count;
    job->figures.joined += joins;
    job->figures.rewritten += !joins;
    job->figures.read_bytes += frz_entry_bytes(entry) - (joins ? entry->file_size : 0);
}

/* Of the live data files those for which there is something to do. */
static frz_code choose_files(compact_job *job, const frz_commit_attempt *attempt,
                             compact_choice **out, size_t *count, frz_error *err)
{
    const frz_live_files *files = &job->files;
    compact_choice *chosen = frz_arena_array(attempt->arena, files->count, sizeof *chosen);
    *count = 0;
    job->done_rows = job->total_rows = 0;
    job->figures = (frz_compact_figures){0};
    if (chosen == NULL) {
        return frz_fail_nomem(err, files->count * sizeof *chosen);
    }
    for (size_t i = 0; i < files->count; i++) {
        compact_choice choice = {files->entries[i], action_for(job, files->entries[i])};
        if (choice.action != COMPACT_NOTHING) {
            chosen[(*count)++] = choice;
            count_choice(job, &choice);
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
    compact_choice *choices = NULL;
    size_t count = 0;
    const frz_metadata *metadata = &attempt->table->metadata;
    frz_rewrite_results_sort(&job->results);
    FRZ_TRY(frz_compact_policy_of(metadata, &job->policy, err));
    FRZ_TRY(frz_live_files_find(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                NULL, attempt->arena, &job->files, err));
    FRZ_TRY(choose_files(job, attempt, &choices, &count, err));
    plan->nothing = count == 0 || job->given.dry_run != 0;
    if (plan->nothing) {
        goto out;
    }
    plan->operation = "replace";
    job->durable = frz_commit_sync_each(attempt, count);
    FRZ_TRY(frz_write_parquet_options(metadata, &job->options, err));
    job->options.durable = job->durable;
    FRZ_TRY(frz_metrics_config_of(metadata, attempt->schema, attempt->arena, &job->metrics, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(plan_entry(job, attempt, &choices[i], plan, err));
    }
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->total_rows, (uint64_t)job->total_rows,
                         err));
out:
    frz_live_files_reset(&job->files);
    return rc;
}

frz_code frz_compact_by(frz_catalog *catalog, const char *table, const frz_compact_options *opts,
                        frz_commit_report *report, frz_compact_figures *figures, frz_error *err)
{
    compact_job job = {.env = catalog->env, .given = FRZ_COMPACT_OPTIONS_INIT};
    if (opts != NULL) {
        memcpy(&job.given, opts, FRZ_MIN(opts->struct_size, sizeof job.given));
    }
    frz_rewrite_results_init(&job.results, catalog->env);
    frz_code rc = frz_commit_run(catalog, table, compact_build, &job, report, err);
    frz_rewrite_results_reset(&job.results);
    if (rc == FRZ_OK && figures != NULL) {
        *figures = job.figures;
    }
    return frz_context(err, rc, "compacting table %s", table);
}

frz_code frz_compact(frz_catalog *catalog, const char *table, frz_commit_report *report,
                     frz_error *err)
{
    return frz_compact_by(catalog, table, NULL, report, NULL, err);
}
