/*
 * Updates in three steps: a plan gives tasks, a task gives a result, results are committed.
 *
 * A task is that of a scan (scan_task.h) with the statement beside it, of whole data files. Values
 * from files (column_update_task_source.c) are read by each task, and by nobody else. A
 * result has, for each data file, what the commit loop keeps over its own attempts
 * (column_update_done.c): the state of the entry that was read, the column file, its statistics.
 */
#include <stdio.h>

#include "base/base_json.h"
#include "column_update/column_update_task.h"
#include "frazil/plan.h"

/* ---- planning ---- */

struct frz_update_plan {
    const frz_env *env;
    frz_table *table; /* owned reference */
    update_statement statement;
    update_job job; /* holds the earlier results, bound to the table's version */
    frz_plan *files;
};

/* Texts of the caller's statement, copied. */
static frz_code copy_statement(frz_arena *arena, const frz_assignment *assignments, size_t count,
                               const char *where, update_statement *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_assignment *own = frz_arena_array(arena, count + 1, sizeof *own);
    FRZ_TRY(own == NULL ? frz_fail_nomem(err, count * sizeof *own) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        own[i].column = frz_arena_strdup(arena, frz_str_from(assignments[i].column));
        own[i].expression = frz_arena_strdup(arena, frz_str_from(assignments[i].expression));
        FRZ_TRY(own[i].column == NULL || own[i].expression == NULL
                    ? frz_fail_nomem(err, strlen(assignments[i].expression))
                    : FRZ_OK);
    }
    out->assignments = own;
    out->count = count;
    if (where != NULL) {
        out->where = frz_arena_strdup(arena, frz_str_from(where));
        rc = out->where == NULL ? frz_fail_nomem(err, strlen(where)) : FRZ_OK;
    }
out:
    return rc;
}

/* A data file whose earlier result still holds needs no task. */
static bool is_done(void *ctx, const frz_entry *entry)
{
    const frz_update_plan *plan = ctx;
    const frz_schema *schema = frz_metadata_current_schema(&plan->table->metadata);
    const update_done *done = update_done_find(&plan->job, entry);
    return done != NULL && update_written_stands(&plan->job.plan, done, entry) &&
           update_values_hold(&plan->job.plan, done, schema->schema_id, entry);
}

/* Sizes of tasks follow from the columns that are carried over; which are read is the task's own
 * business. */
static frz_code open_files(frz_update_plan *plan, const frz_update_plan_options *opts,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_plan_options options = FRZ_PLAN_OPTIONS_INIT;
    size_t count = plan->statement.count;
    const char **columns = frz_arena_array(&plan->job.arena, count + 1, sizeof *columns);
    FRZ_TRY(columns == NULL ? frz_fail_nomem(err, count * sizeof *columns) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        columns[i] = plan->statement.assignments[i].column;
    }
    options.columns = columns;
    options.column_count = count;
    options.where = plan->statement.where;
    options.target_bytes = opts->target_bytes;
    options.open_file_bytes = opts->open_file_bytes;
    FRZ_TRY(
        task_plan_open(plan->table, &options, update_prune(&plan->job.plan), &plan->files, err));
    task_plan_skip(plan->files, is_done, plan);
out:
    return rc;
}

static frz_code check_table(const frz_table *table, frz_error *err)
{
    const char *name = table->name == NULL ? table->metadata_location : table->name;
    if (table->map_count > 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "tables opened with location maps are read-only");
    }
    return frz_commit_check_table(table, name == NULL ? "" : name, err);
}

frz_code frz_update_plan_open(frz_table *table, const frz_assignment *assignments,
                              size_t assignment_count, const char *where,
                              const frz_update_plan_options *opts, frz_update_plan **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_update_plan_options own = FRZ_UPDATE_PLAN_OPTIONS_INIT;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    frz_update_plan *plan = frz_alloc_zero(table->env, 1, sizeof *plan);
    if (plan == NULL) {
        return frz_fail_nomem(err, sizeof *plan);
    }
    plan->env = table->env;
    plan->table = frz_table_ref(table);
    update_job_init(&plan->job, table->env);
    plan->job.apart = true;
    FRZ_TRY(check_table(table, err));
    FRZ_TRY(copy_statement(&plan->job.arena, assignments, assignment_count, where, &plan->statement,
                           err));
    FRZ_TRY(update_files_find(&plan->job.arena, table, &own, &plan->statement.files, err));
    FRZ_TRY(update_job_read(&plan->job, table, &plan->statement,
                            (frz_str){own.results, own.results_len}, err));
    update_plan_unbind(&plan->job.plan);
    FRZ_TRY(update_plan_bind(&plan->job.plan, &table->metadata,
                             frz_metadata_current_schema(&table->metadata), err));
    FRZ_TRY(
        update_files_know(&plan->job.arena, plan->job.plan.source, &plan->statement.files, err));
    FRZ_TRY(open_files(plan, &own, err));
    *out = plan;
    plan = NULL;
out:
    frz_update_plan_close(plan);
    return rc;
}

frz_code frz_update_plan_next(frz_update_plan *plan, frz_task_sink sink, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task *task = NULL;
    task_writer w = {false, false};
    frz_buf text = FRZ_BUF_INIT(plan->env, FRZ_BUF_NO_LIMIT);
    json_t *json = NULL;
    FRZ_TRY(frz_plan_next(plan->files, &task, err));
    json = json_object();
    FRZ_TRY(json == NULL ? frz_fail_nomem(err, sizeof(json_t)) : FRZ_OK);
    FRZ_TRY(task_put_all(task, json, err));
    FRZ_TRY(update_put_statement(&w, json, &plan->statement, err));
    FRZ_TRY(task_writer_end(&w, err));
    FRZ_TRY(frz_json_dump(json, &text, err));
    rc = sink(ctx, text.data, text.len, err);
out:
    json_decref(json);
    frz_buf_reset(&text);
    frz_task_unref(task);
    return rc;
}

void frz_update_plan_close(frz_update_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    frz_plan_close(plan->files);
    update_job_reset(&plan->job);
    frz_table_unref(plan->table);
    frz_free(plan->env, plan);
}

/* ---- running a task ---- */

typedef struct task_run {
    const frz_env *env;
    frz_task *task;
    update_statement statement;
    update_job job;
    task_writer w;
    json_t *result;
} task_run;

static frz_code check_part(const task_part *part, size_t i, frz_error *err)
{
    bool whole = !part->by_bytes && part->first == 0 && part->end == part->entry->record_count;
    return whole ? FRZ_OK
                 : frz_fail(err, FRZ_E_CORRUPT,
                            "%s[%zu]: expected all rows of the data file, found a part of them",
                            TASK_DATA_FILES, i);
}

static frz_code run_part(task_run *run, const frz_commit_attempt *attempt, size_t place,
                         frz_delete_index *deletes, bool sync_each, json_t *list, frz_error *err)
{
    update_result result = {.location = NULL};
    const task_part *part = &run->task->parts[place];
    frz_code rc =
        update_file(&run->job.plan, attempt, part->entry, place, deletes, sync_each, &result, err);
    if (rc == FRZ_OK) {
        rc = update_put_result(&run->w, list, run->env, part->entry, &result, err);
    }
    update_result_reset(run->env, &result);
    return rc;
}

/* Whole data files, whose rows the source is asked for in this order. */
static frz_code start_parts(task_run *run, const frz_commit_attempt *attempt,
                            frz_delete_index *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_task *task = run->task;
    const update_plan *plan = &run->job.plan;
    const frz_entry **entries =
        frz_arena_array(attempt->arena, task->part_count + 1, sizeof *entries);
    FRZ_TRY(entries == NULL ? frz_fail_nomem(err, task->part_count * sizeof *entries) : FRZ_OK);
    for (size_t i = 0; i < task->part_count; i++) {
        FRZ_TRY(check_part(&task->parts[i], i, err));
        entries[i] = task->parts[i].entry;
    }
    if (plan->source != NULL) {
        FRZ_TRY(update_source_start(plan->source, attempt, entries, task->part_count, deletes,
                                    plan->read_type, err));
    }
out:
    return rc;
}

/* A frz_commit_work. */
static frz_code run_parts(void *ctx, const frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    task_run *run = ctx;
    const frz_task *task = run->task;
    const frz_delete_options options = {.schema = task->schema};
    frz_delete_index *deletes = NULL;
    json_t *list = json_array();
    size_t count = task->part_count;
    bool sync_each = frz_commit_sync_each(attempt, count);
    FRZ_TRY(list == NULL ? frz_fail_nomem(err, sizeof(json_t)) : FRZ_OK);
    if (task->delete_count > 0) {
        FRZ_TRY(frz_delete_index_of(task->table, task->deletes, task->delete_count, &options,
                                    &deletes, err));
    }
    FRZ_TRY(start_parts(run, attempt, deletes, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(frz_progress(run->env, "update", i, count, err));
        FRZ_TRY(run_part(run, attempt, i, deletes, sync_each, list, err));
    }
    FRZ_TRY(frz_progress(run->env, "update", count, count, err));
    task_put(&run->w, run->result, TASK_DATA_FILES, list);
    list = NULL;
    rc = task_writer_end(&run->w, err);
out:
    json_decref(list);
    frz_delete_index_free(deletes);
    return rc;
}

static frz_code read_task(task_run *run, frz_str text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    FRZ_TRY(frz_json_parse(run->env, text, &json, err));
    FRZ_TRY(task_read_all(run->env, json, NULL, &run->task, err));
    FRZ_TRY(update_read_statement(&run->job.arena, json, &run->statement, err));
    FRZ_TRY(check_table(run->task->table, err));
    FRZ_TRY(update_files_check(run->env, &run->statement.files, err));
    FRZ_TRY(update_job_enter(&run->job, &run->statement, err));
    FRZ_TRY(update_plan_bind(&run->job.plan, &run->task->table->metadata, run->task->schema, err));
out:
    json_decref(json);
    return frz_context(err, rc, "task");
}

frz_code frz_update_task_run(const frz_env *env, const char *json, size_t len, frz_task_sink sink,
                             void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    task_run run = {.env = env};
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    update_job_init(&run.job, env);
    FRZ_TRY(read_task(&run, (frz_str){json, len}, err));
    run.result = json_object();
    FRZ_TRY(run.result == NULL ? frz_fail_nomem(err, sizeof(json_t)) : FRZ_OK);
    FRZ_TRY(
        update_put_result_head(&run.w, run.result, run.task->table, run.task, &run.statement, err));
    FRZ_TRY(frz_commit_apart(run.task->table, run_parts, &run, err));
    FRZ_TRY(frz_json_dump(run.result, &text, err));
    rc = sink(ctx, text.data, text.len, err);
out:
    json_decref(run.result);
    update_job_reset(&run.job);
    frz_task_unref(run.task);
    frz_buf_reset(&text);
    return rc;
}

/* ---- committing results ---- */

frz_code update_check_new(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const update_done *done, frz_error *err)
{
    if (done->result.location == NULL) {
        return FRZ_OK;
    }
    const frz_table *table = attempt->table;
    frz_str own = frz_table_relativize(table, frz_str_from(done->result.location));
    for (size_t i = 0; i < entry->column_file_count; i++) {
        if (frz_str_equal(frz_table_relativize(table, entry->column_files[i].location), own)) {
            return frz_fail(err, FRZ_E_EXISTS,
                            "these results are in the table already: %s is a column file of %.*s",
                            done->result.location, FRZ_STR_ARG(entry->location));
        }
    }
    return FRZ_OK;
}

static frz_code adopt(const update_result *result, const frz_commit_attempt *attempt,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = NULL;
    FRZ_TRY(frz_file_open(attempt->env, result->location, &file, err));
    if (frz_file_size(file) != (uint64_t)result->bytes) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s has %llu bytes, its result says %lld",
                      result->location, (unsigned long long)frz_file_size(file),
                      (long long)result->bytes);
        goto out;
    }
    rc = frz_commit_adopt(attempt, result->location, result->bytes, err);
out:
    frz_file_close(file);
    return rc;
}

frz_code update_adopt(const update_job *job, const frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < job->done_count; i++) {
        const update_done *done = &job->done[i];
        if (done->result.location != NULL) {
            rc = adopt(&done->result, attempt, err);
            if (rc == FRZ_E_NOT_FOUND) {
                frz_hint(err, "files of results that wait for long may be removed as orphans: run "
                              "the task of this data file again");
            }
            FRZ_TRY(frz_context(err, rc, "the result of %.*s", FRZ_STR_ARG(done->of.location)));
        }
    }
out:
    return rc;
}

frz_code frz_update_commit(frz_catalog *catalog, const char *table, const char *results, size_t len,
                           frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *version = NULL;
    update_job job;
    update_job_init(&job, catalog->env);
    job.apart = true;
    FRZ_TRY(frz_catalog_load_table(catalog, table, &version, err));
    FRZ_TRY(update_job_read(&job, version, NULL, (frz_str){results, len}, err));
    job.mode = FRZ_MODE_COLUMN_FILE;
    FRZ_TRY(frz_commit_run(catalog, table, update_job_build, &job, report, err));
out:
    update_job_reset(&job);
    frz_table_unref(version);
    return rc;
}
