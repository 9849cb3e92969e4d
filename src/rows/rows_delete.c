/*
 * DELETE: the matching rows of each data file join its deletion vector, or with copy-on-write the
 * rows that are left become a new data file; files that lose their last row are removed.
 * spec: deletion_vector; what one commit writes; moving rows to another file
 */
#include "expr/expr.h"
#include "files/files_cost.h"
#include "frazil/rows.h"

typedef struct delete_job {
    const frz_env *env;
    frz_arena arena;
    const frz_expr *where; /* NULL: all rows */
    frz_commit_scope scope;
    frz_write_mode mode;
    frz_rewrite_results results; /* of copy-on-write */
} delete_job;

/* One attempt. */
typedef struct row_delete {
    delete_job *job;
    const frz_env *env;
    const frz_commit_attempt *commit;
    frz_commit_plan *plan;
    frz_condition condition;
    frz_live_files files;
    frz_commit_vectors vectors;
    frz_parquet_write_options options; /* of copy-on-write, as are the metrics */
    frz_metrics_config metrics;
    bool sync_each;
} row_delete;

/* The rows of one data file that are deleted afterwards: those that are new first, then others. */
typedef struct deleted_rows {
    frz_row_list list;
    int64_t added; /* how many are new */
} deleted_rows;

/* ---- copy-on-write ---- */

static frz_code plan_rewritten(row_delete *d, const frz_entry *entry,
                               const frz_rewrite_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_rewritten_plan(d->commit, entry, entry, &result->file, &d->metrics, d->plan, err));
    d->plan->rows += result->rows;
out:
    return rc;
}

/* The rows that are left, in a new file. */
static frz_code rewrite(row_delete *d, const frz_entry *entry, const deleted_rows *gone,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_job *job = d->job;
    const frz_rewrite_result *result = NULL;
    frz_rewritten file = {0};
    const frz_entry *whole = NULL;
    frz_live_rows rows = {.live.env = d->env};
    FRZ_TRY(frz_live_rows_find(d->commit->table, entry, d->files.deletes, d->commit->arena, &rows,
                               err));
    FRZ_TRY(frz_live_rows_remove(&rows, gone->list.rows, (size_t)gone->added, err));
    FRZ_TRY(frz_live_files_whole(&d->files, entry, &whole, err));
    FRZ_TRY(frz_rewrite_file(d->commit, whole, &rows, &d->options, d->sync_each,
                             &job->results.arena, &file, err));
    FRZ_TRY(frz_rewrite_results_add(&job->results, entry, d->commit->schema->schema_id, &file,
                                    gone->added, &result, err));
    FRZ_TRY(plan_rewritten(d, entry, result, err));
out:
    frz_live_rows_reset(&rows);
    return rc;
}

/* ---- one data file ---- */

static frz_code write_vector(row_delete *d, const frz_entry *entry, deleted_rows *rows,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *set = NULL;
    frz_entry modified = frz_entry_row_delete(entry, d->commit);
    FRZ_TRY(frz_positions_sort(d->env, rows->list.rows, rows->list.count, &set, err));
    FRZ_TRY(frz_commit_vectors_add(&d->vectors, set, &modified, err));
    FRZ_TRY(frz_commit_plan_update(d->commit, d->plan, entry, &modified, NULL, 0, err));
out:
    frz_positions_free(set);
    return rc;
}

/* How many rows a file has that only equality deletes do not delete. */
static frz_code remove_all(row_delete *d, const frz_entry *entry, const frz_live *live,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_list earlier = {0};
    FRZ_TRY(frz_row_list_add_deleted(d->env, &earlier, live, entry->record_count, err));
    FRZ_TRY(frz_commit_plan_change(d->commit, d->plan, entry, NULL, err));
    d->plan->rows += entry->record_count - (int64_t)earlier.count;
    d->plan->data_files++;
out:
    frz_row_list_reset(d->env, &earlier);
    return rc;
}

static frz_code delete_matches(row_delete *d, const frz_entry *entry, const frz_live *live,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    deleted_rows rows = {0};
    FRZ_TRY(frz_match_rows(d->commit->table, entry, live, &d->condition, &rows.list, err));
    rows.added = (int64_t)rows.list.count;
    if (rows.added == 0) {
        goto out;
    }
    if (d->job->mode == FRZ_MODE_COPY_ON_WRITE) {
        rc = rewrite(d, entry, &rows, err);
        goto out;
    }
    FRZ_TRY(frz_row_list_add_deleted(d->env, &rows.list, live, entry->record_count, err));
    if ((int64_t)rows.list.count == entry->record_count) {
        FRZ_TRY(frz_commit_plan_change(d->commit, d->plan, entry, NULL, err));
    } else {
        FRZ_TRY(write_vector(d, entry, &rows, err));
    }
    d->plan->rows += rows.added;
    d->plan->data_files++;
out:
    frz_row_list_reset(d->env, &rows.list);
    return rc;
}

static frz_code delete_from(row_delete *d, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live live = {.env = d->env};
    const frz_rewrite_result *earlier =
        frz_rewrite_results_find(&d->job->results, entry, d->commit->schema->schema_id);
    if (earlier != NULL) {
        return plan_rewritten(d, entry, earlier, err);
    }
    FRZ_TRY(frz_live_open(&live, d->files.deletes, d->commit->table, entry, err));
    rc = d->condition.filter == NULL ? remove_all(d, entry, &live, err)
                                     : delete_matches(d, entry, &live, err);
out:
    frz_live_reset(&live);
    return frz_context(err, rc, "deleting from %.*s", FRZ_STR_ARG(entry->location));
}

/* ---- what it costs ---- */

typedef struct delete_finder {
    const frz_table *table;
    const frz_condition *condition;
} delete_finder;

static frz_code find_rows(void *ctx, const frz_entry *entry, const frz_live *live,
                          frz_cost_rows *out, frz_error *err)
{
    const delete_finder *finder = ctx;
    out->all = finder->condition->filter == NULL;
    return out->all
               ? FRZ_OK
               : frz_match_rows(finder->table, entry, live, finder->condition, &out->removed, err);
}

static frz_code estimate_of(const frz_table *table, const frz_schema *schema,
                            const frz_live_files *files, const frz_condition *condition,
                            frz_arena *arena, frz_statement_estimate *out, frz_error *err)
{
    delete_finder finder = {table, condition};
    const frz_cost_request request = {
        .table = table,
        .schema = schema,
        .files = files,
        .finder = {.ctx = &finder, .read_type = condition->read_type, .find = find_rows},
        .is_delete = true};
    return frz_cost_estimate(&request, arena, out, err);
}

frz_code frz_delete_estimate(const frz_table *table, const char *where, frz_statement_estimate *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_expr *parsed = NULL;
    frz_condition condition = {0};
    frz_cost_files files = {0};
    const frz_schema *schema = frz_metadata_current_schema(&table->metadata);
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (where != NULL) {
        FRZ_TRY(frz_expr_parse(&arena, frz_str_from(where), &parsed, err));
    }
    FRZ_TRY(frz_condition_bind(table->env, parsed, schema, &arena, &condition, err));
    FRZ_TRY(frz_cost_files_find(table, condition.filter, &arena, &files, err));
    FRZ_TRY(estimate_of(table, schema, &files.files, &condition, &arena, out, err));
out:
    frz_cost_files_reset(&files);
    frz_condition_reset(&condition);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- all of them ---- */

static frz_code choose_mode(row_delete *d, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_job *job = d->job;
    frz_statement_estimate estimate;
    const frz_metadata *metadata = &d->commit->table->metadata;
    if (d->commit->number == 1) {
        FRZ_TRY(frz_write_mode_of(metadata, "delete", &job->mode, err));
    }
    if (job->mode == FRZ_MODE_AUTO) {
        FRZ_TRY(estimate_of(d->commit->table, d->commit->schema, &d->files, &d->condition,
                            d->commit->arena, &estimate, err));
        (void)frz_write_mode_find(frz_str_from(estimate.modes[estimate.cheapest].mode), &job->mode);
    }
    if (job->mode == FRZ_MODE_COPY_ON_WRITE) {
        FRZ_TRY(frz_write_parquet_options(metadata, &d->options, err));
        FRZ_TRY(
            frz_metrics_config_of(metadata, d->commit->schema, d->commit->arena, &d->metrics, err));
        d->sync_each = frz_commit_sync_each(d->commit, d->files.count);
        d->options.durable = d->sync_each;
        frz_rewrite_results_sort(&job->results);
    }
out:
    return rc;
}

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_job *job = ctx;
    row_delete d = {.job = job, .env = job->env, .commit = attempt, .plan = plan};
    frz_commit_vectors_init(&d.vectors, attempt);
    FRZ_TRY(frz_commit_scope_enter(&job->scope, attempt, "delete", err));
    FRZ_TRY(frz_condition_bind(job->env, job->where, attempt->schema, attempt->arena, &d.condition,
                               err));
    FRZ_TRY(frz_live_files_list(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                d.condition.filter, attempt->arena, &d.files, err));
    FRZ_TRY(choose_mode(&d, err));
    for (size_t i = 0; i < d.files.count; i++) {
        FRZ_TRY(frz_progress(job->env, "delete", i, d.files.count, err));
        if (!frz_commit_leaves(attempt, &job->scope, d.files.entries[i])) {
            FRZ_TRY(delete_from(&d, d.files.entries[i], err));
        }
    }
    FRZ_TRY(frz_progress(job->env, "delete", d.files.count, d.files.count, err));
    FRZ_TRY(frz_commit_vectors_finish(&d.vectors, frz_commit_sync_each(attempt, 1), err));
    plan->operation = "delete";
    plan->nothing = plan->rows == 0;
out:
    frz_commit_vectors_reset(&d.vectors);
    frz_live_files_reset(&d.files);
    frz_condition_reset(&d.condition);
    return rc;
}

frz_code frz_delete_rows(frz_catalog *catalog, const char *table, const char *where,
                         frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_job job = {.env = catalog->env, .scope = FRZ_COMMIT_SCOPE_INIT};
    frz_arena_init(&job.arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    frz_rewrite_results_init(&job.results, catalog->env);
    if (where != NULL) {
        FRZ_TRY(frz_expr_parse(&job.arena, frz_str_from(where), &job.where, err));
    }
    FRZ_TRY(frz_commit_run(catalog, table, build, &job, report, err));
out:
    frz_rewrite_results_reset(&job.results);
    frz_arena_reset(&job.arena);
    return rc;
}
