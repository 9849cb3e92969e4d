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
    compact_choice *choices;
    size_t choice_count;
    frz_small_file *small; /* by bins */
    size_t small_count;
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
    const frz_entry *whole = NULL;
    frz_live_rows rows = {.live.env = job->env};
    FRZ_TRY(frz_live_files_whole(&job->files, entry, &whole, err));
    FRZ_TRY(
        frz_live_rows_find(attempt->table, entry, job->files.deletes, attempt->arena, &rows, err));
    FRZ_TRY(frz_rewrite_file(attempt, whole, &rows, &job->options, job->durable,
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

static void choose(compact_job *job, const frz_entry *entry)
{
    compact_choice choice = {entry, action_for(job, entry)};
    bool joins = choice.action == COMPACT_JOIN;
    if (choice.action == COMPACT_NOTHING) {
        return;
    }
    job->choices[job->choice_count++] = choice;
    job->total_rows += entry->record_count;
    job->figures.joined += joins;
    job->figures.rewritten += !joins;
    job->figures.read_bytes += frz_entry_bytes(entry) - (joins ? entry->file_size : 0);
}

/* Small files that have nobody to be combined with are as all others. */
static void choose_small(compact_job *job)
{
    (void)frz_compact_bin(&job->policy, job->small, job->small_count);
    for (size_t i = 0; i < job->small_count; i++) {
        const frz_small_file *file = &job->small[i];
        if (file->bin == FRZ_NO_BIN) {
            choose(job, file->entry);
        } else {
            job->figures.combined++;
            job->figures.read_bytes += frz_entry_bytes(file->entry);
            job->total_rows += file->entry->record_count;
        }
    }
}

/* Of the live data files those for which there is something to do. */
static frz_code choose_files(compact_job *job, const frz_commit_attempt *attempt, frz_error *err)
{
    const frz_live_files *files = &job->files;
    bool combines = job->given.mode == FRZ_COMPACT_POLICY;
    job->choices = frz_arena_array(attempt->arena, files->count, sizeof *job->choices);
    job->small = frz_arena_array(attempt->arena, files->count, sizeof *job->small);
    job->choice_count = job->small_count = 0;
    job->done_rows = job->total_rows = 0;
    job->figures = (frz_compact_figures){0};
    if (job->choices == NULL || job->small == NULL) {
        return frz_fail_nomem(err, files->count * sizeof *job->small);
    }
    for (size_t i = 0; i < files->count; i++) {
        if (combines && frz_compact_is_small(&job->policy, files->entries[i])) {
            job->small[job->small_count++] = (frz_small_file){files->entries[i], i, FRZ_NO_BIN};
        } else {
            choose(job, files->entries[i]);
        }
    }
    choose_small(job);
    return FRZ_OK;
}

/* Those of a bin stand together. */
static frz_code plan_bin(compact_job *job, const frz_commit_attempt *attempt, size_t first,
                         size_t count, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_row_file *made = NULL;
    size_t made_count = 0;
    const frz_row_files_options options = {.write = job->options,
                                           .target_bytes = job->policy.target_bytes};
    const frz_entry **entries = frz_arena_array(attempt->arena, count, sizeof *entries);
    if (entries == NULL) {
        return frz_fail_nomem(err, count * sizeof *entries);
    }
    for (size_t i = 0; i < count; i++) {
        entries[i] = job->small[first + i].entry;
        job->done_rows += entries[i]->record_count;
    }
    FRZ_TRY(frz_combine_files(attempt, entries, count, job->files.deletes, &options, attempt->arena,
                              &made, &made_count, err));
    FRZ_TRY(frz_compact_plan_combined(attempt, entries, count, made, made_count, &job->metrics,
                                      plan, err));
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->done_rows, (uint64_t)job->total_rows,
                         err));
out:
    return rc;
}

static frz_code plan_small(compact_job *job, const frz_commit_attempt *attempt,
                           frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t at = 0, end; at < job->small_count; at = end) {
        size_t bin = job->small[at].bin;
        for (end = at + 1; end < job->small_count && job->small[end].bin == bin;) {
            end++;
        }
        if (bin != FRZ_NO_BIN) {
            FRZ_TRY(plan_bin(job, attempt, at, end - at, plan, err));
        }
    }
out:
    return rc;
}

static frz_code plan_all(compact_job *job, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &attempt->table->metadata;
    plan->operation = "replace";
    job->durable = frz_commit_sync_each(attempt, job->choice_count + (size_t)job->figures.combined);
    FRZ_TRY(frz_write_parquet_options(metadata, &job->options, err));
    job->options.durable = job->durable;
    FRZ_TRY(frz_metrics_config_of(metadata, attempt->schema, attempt->arena, &job->metrics, err));
    for (size_t i = 0; i < job->choice_count; i++) {
        FRZ_TRY(plan_entry(job, attempt, &job->choices[i], plan, err));
    }
    FRZ_TRY(plan_small(job, attempt, plan, err));
    FRZ_TRY(frz_progress(job->env, "compact", (uint64_t)job->total_rows, (uint64_t)job->total_rows,
                         err));
out:
    return rc;
}

static frz_code compact_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    compact_job *job = ctx;
    frz_rewrite_results_sort(&job->results);
    FRZ_TRY(frz_compact_policy_of(&attempt->table->metadata, &job->policy, err));
    FRZ_TRY(frz_live_files_list(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                NULL, attempt->arena, &job->files, err));
    FRZ_TRY(choose_files(job, attempt, err));
    plan->nothing =
        job->choice_count + (size_t)job->figures.combined == 0 || job->given.dry_run != 0;
    if (!plan->nothing) {
        FRZ_TRY(plan_all(job, attempt, plan, err));
    }
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
