/*
 * Updates and merges: what the commit loop is given to build.
 *
 * By column file, new values become a column file of the entry. Copy-on-write folds that column
 * file into a new data file at once; it is gone after the commit. Merge-on-read moves the rows to
 * new data files and deletes them where they were. Rows that a merge deletes are left out of the
 * new data file, else they go to the deletion vector.
 *
 * Each data file's result is kept over attempts, with the identity of the entry it was computed
 * from. When another writer was first, a column file is used again as far as it still holds:
 *
 *   the values it depends on come from the same files    the new values hold
 *   and so does the lineage, or all rows were updated    the column file is used as it is
 *   but the lineage moved                                the lineage column is written again
 *   a value it depends on comes from another file        the data file is computed again
 *   rows were deleted by another vector                  the same: they are no longer updated
 *   the schema changed, or the data file is new          computed (again)
 *
 * A rewritten file is used again if the entry is the same. Rows that moved hold all of the old row:
 * if an entry that some came from is not the same any more, all of them are moved again. Rows that
 * a merge inserted are used again if the same rows of the source are left.
 *
 * Results of tasks (column_update_task.c) are column files. They are committed by the same rules,
 * but nothing is computed: what would have to be is a conflict. Under snapshot isolation a data
 * file that an append added meanwhile is left alone.
 */
#include "column_update/column_update_internal.h"

/* ---- building ---- */

static frz_code column_file_of(const frz_commit_attempt *attempt, const char *location,
                               int64_t bytes, const int32_t *ids, size_t count,
                               frz_column_file *out, frz_error *err)
{
    *out = (frz_column_file){.field_ids = ids,
                             .field_id_count = count,
                             .file_format = FRZ_STR("parquet"),
                             .file_size = bytes};
    frz_str recorded = frz_table_relativize(attempt->table, frz_str_from(location));
    return frz_arena_str(attempt->arena, recorded, &out->location, err);
}

static frz_code lineage_entry(update_attempt *a, const frz_entry *entry, const update_done *done,
                              frz_column_file *out, frz_error *err)
{
    static const int32_t lineage[] = {FRZ_ID_LAST_UPDATED};
    char *location = NULL;
    int64_t bytes = 0;
    frz_code rc = update_lineage_file(&a->job->plan, a->commit, entry, &done->result, a->sync_each,
                                      &location, &bytes, err);
    if (rc == FRZ_OK) {
        rc = column_file_of(a->commit, location, bytes, lineage, 1, out, err);
    }
    frz_free(a->job->env, location);
    return rc;
}

/* Values that go with the tuple; field_id_count 0: none do. */
static frz_code unstored_entry(update_attempt *a, const frz_entry *entry, frz_column_file *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    int64_t bytes = 0;
    update_ids ids = {0};
    *out = (frz_column_file){0};
    FRZ_TRY(update_unstored_file(&a->job->plan, a->commit, entry, a->sync_each, &location, &bytes,
                                 &ids, err));
    if (location != NULL) {
        FRZ_TRY(column_file_of(a->commit, location, bytes, ids.ids, ids.count, out, err));
    }
out:
    frz_free(a->job->env, location);
    return rc;
}

/* The column files of the new state, and their statistics. */
static frz_code renew_files(update_attempt *a, const frz_entry *entry, const update_done *done,
                            frz_entry *modified, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_result *result = &done->result;
    const update_plan *bound = &a->job->plan;
    frz_column_file added[3];
    size_t added_count = 1;
    bool lineage_holds = update_lineage_holds(done, entry) || result->rows == result->record_count;
    /* written is ascending, so the lineage column's id, the largest, is the last */
    FRZ_TRY(column_file_of(a->commit, result->location, result->bytes, bound->written.ids,
                           bound->written.count - (lineage_holds ? 0 : 1), &added[0], err));
    if (!lineage_holds) {
        FRZ_TRY(lineage_entry(a, entry, done, &added[added_count++], err));
    }
    if (result->leaves_partition) {
        FRZ_TRY(unstored_entry(a, entry, &added[added_count], err));
        added_count += added[added_count].field_id_count > 0;
    }
    FRZ_TRY(update_column_files(a->commit->arena, modified, &bound->schema_ids, &bound->written,
                                added, added_count, err));
    modified->stats = result->stats; /* of the fields that are written */
    modified->stats_count = result->stats_count;
out:
    return rc;
}

/* What tells deleted rows by position may name rows behind the end, which means nothing. */
static frz_code rows_of_file(const frz_env *env, const frz_positions *told, int64_t record_count,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t *list = NULL;
    size_t count = 0, capacity = 0;
    frz_row_range run = {0, 0};
    while (told != NULL && frz_positions_next_run(told, run.end, &run) &&
           run.start < record_count) {
        for (int64_t row = run.start; row < FRZ_MIN(run.end, record_count); row++) {
            FRZ_TRY(FRZ_GROW(env, &list, &capacity, count, err));
            list[count++] = row;
        }
    }
    FRZ_TRY(frz_positions_of(env, list, count, out, err));
out:
    frz_free(env, list);
    return rc;
}

/* The deleted rows of the new state: those that only delete files told, if they are folded, those
 * that a merge removes, and what the newest entry knows, whose vector another writer may have
 * written since. NULL: none. */
static frz_code deleted_rows(update_attempt *a, const frz_entry *entry, const update_done *done,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *own = NULL;
    frz_positions *told = NULL;
    const frz_positions *sets[3];
    size_t count = 0;
    FRZ_TRY(frz_file_deletes_find(NULL, a->commit->table, entry, &own, err));
    if (done->result.deleted != NULL) {
        sets[count++] = done->result.deleted;
    }
    if (done->result.removed != NULL) {
        sets[count++] = done->result.removed;
    }
    if (own != NULL) {
        FRZ_TRY(rows_of_file(a->job->env, frz_file_deletes_positions(own), entry->record_count,
                             &told, err));
        sets[count++] = told;
    }
    if (count > 0) {
        FRZ_TRY(frz_positions_union(a->job->env, sets, count, out, err));
    }
out:
    frz_positions_free(told);
    frz_file_deletes_free(own);
    return rc;
}

/* is_empty: no row is left, so that the file goes. */
static frz_code renew_vector(update_attempt *a, const frz_entry *entry, const update_done *done,
                             frz_entry *modified, bool *is_empty, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *all = NULL;
    *is_empty = false;
    if (done->result.deleted == NULL && done->result.removed == NULL) {
        return FRZ_OK; /* the entry's vector tells all */
    }
    FRZ_TRY(deleted_rows(a, entry, done, &all, err));
    *is_empty = (int64_t)frz_positions_count(all) == entry->record_count;
    FRZ_TRY(*is_empty ? FRZ_OK : frz_commit_vectors_add(&a->vectors, all, modified, err));
out:
    frz_positions_free(all);
    return rc;
}

static void renew_order(update_attempt *a, const update_done *done, frz_entry *modified)
{
    if (update_touches_order(&a->job->plan, &a->commit->table->metadata, modified->sort_order_id)) {
        modified->sort_order_id = -1; /* rows may not be in order any more */
    }
    if (done->result.leaves_partition) {
        modified->spec_id = -1;
        modified->partition_count = 0;
        a->plan->unpartitioned_spec = true;
    }
}

static frz_code add_change(update_attempt *a, const frz_entry *entry, const update_done *done,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit_plan *plan = a->plan;
    bool is_empty = false, updated = done->result.location != NULL;
    frz_entry modified = updated ? frz_entry_column_update(entry, a->commit)
                                 : frz_entry_row_delete(entry, a->commit);
    FRZ_TRY(renew_vector(a, entry, done, &modified, &is_empty, err));
    if (updated) {
        FRZ_TRY(renew_files(a, entry, done, &modified, err));
        renew_order(a, done, &modified);
    }
    FRZ_TRY(is_empty ? frz_commit_plan_change(a->commit, plan, entry, NULL, err)
                     : frz_commit_plan_update(a->commit, plan, entry, &modified,
                                              a->job->plan.written.ids,
                                              updated ? a->job->plan.written.count : 0, err));
    update_done_count(a, done);
    plan->data_files++;
    plan->live_data_bytes += frz_entry_bytes(entry);
out:
    return rc;
}

/* ---- copy-on-write ---- */

/* Write the live rows of an entry, which has the new column file if there is one. */
static frz_code fold(update_attempt *a, const frz_entry *entry, const frz_entry *modified,
                     update_done *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    frz_positions *deleted = NULL;
    frz_live_rows rows = {.live.env = job->env};
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    FRZ_TRY(frz_write_parquet_options(&a->commit->table->metadata, &options, err));
    options.durable = a->sync_each;
    FRZ_TRY(deleted_rows(a, entry, done, &deleted, err));
    FRZ_TRY(frz_live_rows_of(job->env, deleted, entry->record_count, &rows, err));
    FRZ_TRY(frz_rewrite_file(a->commit, modified, &rows, &options, a->sync_each, &job->arena,
                             &done->rewritten, err));
out:
    frz_live_rows_reset(&rows);
    frz_positions_free(deleted);
    return rc;
}

/* Column files that the commit has written; those that were there before are not its own. */
static frz_code drop_column_files(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        FRZ_TRY(
            frz_table_resolve(a->commit->table, entry->column_files[i].location, &location, err));
        frz_commit_drop(a->commit, location);
        frz_free(a->job->env, location);
        location = NULL;
    }
out:
    return rc;
}

/* New column files have no reader of their own: they go as soon as they are folded. */
static frz_code fold_updated(update_attempt *a, const frz_entry *entry, update_done *done,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry modified = frz_entry_column_update(entry, a->commit);
    const frz_entry *whole = NULL;
    FRZ_TRY(renew_files(a, entry, done, &modified, err));
    FRZ_TRY(frz_live_files_whole(&a->files, entry, &whole, err));
    FRZ_TRY(frz_stats_overlay(&a->files.arena, whole, a->job->plan.written.ids,
                              a->job->plan.written.count, &modified, err));
    FRZ_TRY(fold(a, entry, &modified, done, err));
    rc = drop_column_files(a, &modified, err);
out:
    return rc;
}

static frz_code replace_file(update_attempt *a, const frz_entry *entry, update_done *done,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *whole = NULL;
    FRZ_TRY(update_file(&a->job->plan, a->commit, entry, a->computed++, a->files.deletes, false,
                        &done->result, err));
    if (done->result.location != NULL) {
        rc = fold_updated(a, entry, done, err);
    } else if (done->result.removed != NULL) {
        FRZ_TRY(frz_live_files_whole(&a->files, entry, &whole, err));
        rc = fold(a, entry, whole, done, err);
    }
out:
    return rc;
}

static frz_code rewrite_entry(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_done *done = update_done_find(a->job, entry);
    frz_entry like = *entry;
    if (update_must_compute(a, entry)) {
        FRZ_TRY(update_done_new(a->job, a->commit, entry, &done, err));
        FRZ_TRY(replace_file(a, entry, done, err));
    }
    if (done->result.location != NULL) {
        renew_order(a, done, &like);
    }
    if (update_result_changes(&done->result)) {
        FRZ_TRY(frz_rewritten_plan(a->commit, entry, &like, &done->rewritten, &a->job->plan.metrics,
                                   a->plan, err));
        update_done_count(a, done);
    }
out:
    return rc;
}

/* ---- column files ---- */

/* Results come from tasks: a data file that needs another one is remembered. */
static void note_missing(update_attempt *a, const frz_entry *entry, const update_done *done)
{
    if (a->missing_count++ == 0) {
        a->missing = entry;
        a->missing_why = done == NULL ? "it has no result"
                         : done->schema_id != a->commit->schema->schema_id
                             ? "the schema has changed since"
                             : "what its task read has changed since";
    }
}

static frz_code check_missing(const update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (a->missing_count > 0) {
        rc = frz_fail(err, FRZ_E_CONFLICT, "%zu data files need their task run again: %.*s (%s)%s",
                      a->missing_count, FRZ_STR_ARG(a->missing->location), a->missing_why,
                      a->missing_count > 1 ? " and others" : "");
        frz_hint(err, "a plan that is given the results (update-plan --results) has tasks of "
                      "these files only; results stay where they are");
    }
    return rc;
}

static frz_code update_entry(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    update_done *done = update_done_find(job, entry);
    bool compute = update_must_compute(a, entry);
    if (job->apart) {
        FRZ_TRY(done == NULL ? FRZ_OK : update_check_new(a->commit, entry, done, err));
        if (compute) {
            note_missing(a, entry, done);
            return FRZ_OK;
        }
    }
    if (compute) {
        FRZ_TRY(update_done_new(job, a->commit, entry, &done, err));
        FRZ_TRY(update_file(&job->plan, a->commit, entry, a->computed++, a->files.deletes,
                            a->sync_each, &done->result, err));
    }
    if (update_result_changes(&done->result)) {
        FRZ_TRY(add_change(a, entry, done, err));
    }
out:
    return rc;
}

/* ---- all of them ---- */

/* Leave out files that have nothing to update: without rows, or with rows that came later and are
 * left alone. */
static frz_code choose_files(update_attempt *a, frz_error *err)
{
    size_t count = 0;
    const frz_entry **entries =
        frz_arena_array(a->commit->arena, a->files.count + 1, sizeof *entries);
    if (entries == NULL) {
        return frz_fail_nomem(err, a->files.count * sizeof *entries);
    }
    for (size_t i = 0; i < a->files.count; i++) {
        const frz_entry *entry = a->files.entries[i];
        if (entry->record_count > 0 && !frz_commit_leaves(a->commit, &a->job->scope, entry)) {
            entries[count++] = entry;
        }
    }
    a->files.entries = entries;
    a->files.count = count;
    return FRZ_OK;
}

/* Tell the source which files will ask for its rows; those with a result that holds have. */
static frz_code start_source(update_attempt *a, frz_error *err)
{
    size_t count = 0;
    const update_plan *plan = &a->job->plan;
    const frz_entry **entries =
        frz_arena_array(a->commit->arena, a->files.count + 1, sizeof *entries);
    if (entries == NULL) {
        return frz_fail_nomem(err, a->files.count * sizeof *entries);
    }
    update_source_forget(plan->source);
    for (size_t i = 0; i < a->files.count; i++) {
        if (update_must_compute(a, a->files.entries[i])) {
            entries[count++] = a->files.entries[i];
        } else {
            update_source_mark_all(plan->source,
                                   update_done_find(a->job, a->files.entries[i])->result.used);
        }
    }
    return update_source_start(plan->source, a->commit, entries, count, a->files.deletes,
                               plan->read_type, err);
}

static frz_code build_entries(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = a->files.count;
    static frz_code (*const ways[])(update_attempt *, const frz_entry *,
                                    frz_error *) = {[FRZ_MODE_COLUMN_FILE] = update_entry,
                                                    [FRZ_MODE_COPY_ON_WRITE] = rewrite_entry,
                                                    [FRZ_MODE_MERGE_ON_READ] = update_move_entry};
    update_source *source = a->job->apart ? NULL : a->job->plan.source;
    if (source != NULL) {
        FRZ_TRY(start_source(a, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(frz_progress(a->job->env, "update", i, count, err));
        FRZ_TRY(ways[a->job->mode](a, a->files.entries[i], err));
    }
    FRZ_TRY(frz_progress(a->job->env, "update", count, count, err));
    if (source != NULL) {
        FRZ_TRY(update_source_finish(source, a->commit, err));
    }
    if (a->job->plan.merge != NULL && a->job->plan.merge->inserts) {
        FRZ_TRY(update_merge_insert(a, err));
    }
out:
    return rc;
}

/* As properties call it. */
static const char *statement_of(const update_job *job)
{
    return job->plan.merge != NULL ? "merge" : "update";
}

/* Chosen once: results of one mode are of no use for another. */
static frz_code choose_mode(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    if (a->commit->number == 1 && !job->apart) {
        FRZ_TRY(frz_write_mode_of(&a->commit->table->metadata, statement_of(job), &job->mode, err));
    }
    if (job->mode == FRZ_MODE_AUTO) {
        FRZ_TRY(update_cheapest(&job->plan, a->commit->table, a->commit->schema, &a->files,
                                a->commit->arena, &job->mode, err));
    }
out:
    return rc;
}

static frz_code find_files(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_commit_attempt *c = a->commit;
    const frz_bound_expr *prune = update_prune(&a->job->plan);
    FRZ_TRY(frz_live_files_list(c->table, c->parent, c->schema, c->tree, prune, c->arena, &a->files,
                                err));
    FRZ_TRY(choose_mode(a, err));
    FRZ_TRY(choose_files(a, err));
out:
    return rc;
}

/* If the table gives itself values, they are those of the version that is changed, and nothing that
 * was computed from an earlier one holds. */
static frz_code follow_target(update_job *job, const frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool moved = false;
    if (job->plan.source != NULL) {
        FRZ_TRY(update_source_follow(job->plan.source, attempt->table, &moved, err));
    }
    if (moved) {
        update_done_forget(job);
        update_inserts_reset(job);
    }
out:
    return rc;
}

frz_code update_job_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = ctx;
    update_attempt a = {.job = job, .commit = attempt, .plan = plan};
    frz_commit_vectors_init(&a.vectors, attempt);
    update_done_sort(job);
    if (job->plan.merge != NULL) {
        job->plan.merge->rows_inserted = job->plan.merge->rows_deleted = 0;
    }
    update_plan_unbind(&job->plan);
    FRZ_TRY(follow_target(job, attempt, err));
    FRZ_TRY(frz_commit_scope_enter(&job->scope, attempt, statement_of(job), err));
    FRZ_TRY(update_plan_bind(&job->plan, &attempt->table->metadata, attempt->schema, err));
    if (job->apart && attempt->number == 1) {
        FRZ_TRY(update_adopt(job, attempt, err));
    }
    FRZ_TRY(find_files(&a, err));
    a.sync_each = frz_commit_sync_each(attempt, job->apart ? 0 : a.files.count);
    FRZ_TRY(update_moves_begin(&a, err));
    FRZ_TRY(build_entries(&a, err));
    FRZ_TRY(check_missing(&a, err));
    FRZ_TRY(update_moves_finish(&a, err));
    FRZ_TRY(frz_commit_vectors_finish(&a.vectors, a.sync_each, err));
    plan->operation = "overwrite";
    plan->nothing = plan->data_files == 0;
out:
    update_moves_end(&job->moves);
    frz_commit_vectors_reset(&a.vectors);
    frz_live_files_reset(&a.files);
    return rc;
}

void update_job_init(update_job *job, const frz_env *env)
{
    *job = (update_job){.env = env, .plan = {.env = env}, .scope = FRZ_COMMIT_SCOPE_INIT};
    frz_arena_init(&job->arena, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&job->plan.arena, env, FRZ_ARENA_NO_LIMIT);
}

void update_job_reset(update_job *job)
{
    update_done_forget(job);
    frz_free(job->env, job->done);
    frz_free(job->env, job->moves.made);
    update_inserts_reset(job);
    update_plan_unbind(&job->plan);
    update_source_reset(&job->outside);
    frz_arena_reset(&job->arena);
}

/* ---- entries ---- */

static frz_code run(frz_catalog *catalog, const char *table, const update_words *words,
                    update_source *source, frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job job;
    update_merge merge = {0};
    update_job_init(&job, catalog->env);
    job.plan.source = source;
    FRZ_TRY(update_words_parse(words, &job.plan, &merge, &job.arena, err));
    FRZ_TRY(frz_commit_run(catalog, table, update_job_build, &job, report, err));
    if (report != NULL) {
        report->rows_inserted = merge.rows_inserted;
        report->rows_deleted = merge.rows_deleted;
    }
    if (source != NULL && report != NULL) {
        update_source_count(source, &report->source_rows, &report->source_unmatched);
    }
out:
    update_job_reset(&job);
    return rc;
}

frz_code frz_update_columns(frz_catalog *catalog, const char *table,
                            const frz_assignment *assignments, size_t assignment_count,
                            const char *where, frz_commit_report *report, frz_error *err)
{
    const update_words words = {assignments, assignment_count, where, NULL, 0};
    return run(catalog, table, &words, NULL, report, err);
}

frz_code frz_update_columns_from(frz_catalog *catalog, const char *table, const char *name,
                                 const frz_assignment *assignments, size_t assignment_count,
                                 const frz_row_source *source, const char *where,
                                 frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_words words = {assignments, assignment_count, where, NULL, 0};
    update_source outside = {0};
    FRZ_TRY(update_source_init(&outside, catalog, table, name, source, err));
    FRZ_TRY(run(catalog, table, &words, &outside, report, err));
out:
    update_source_reset(&outside);
    return rc;
}

frz_code frz_update_columns_by_position(frz_catalog *catalog, const char *table,
                                        const frz_assignment *assignments, size_t assignment_count,
                                        const frz_row_source *source, frz_commit_report *report,
                                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_words words = {assignments, assignment_count, NULL, NULL, 0};
    update_source outside = {0};
    FRZ_TRY(update_source_init(&outside, catalog, table, NULL, source, err));
    outside.by_position = true;
    FRZ_TRY(run(catalog, table, &words, &outside, report, err));
out:
    update_source_reset(&outside);
    return rc;
}

frz_code frz_merge(frz_catalog *catalog, const char *table, const char *name,
                   const frz_row_source *source, const char *on, const frz_merge_clause *clauses,
                   size_t clause_count, frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_words words = {
        .where = on, .clauses = clauses, .clause_count = clauses == NULL ? 0 : clause_count};
    update_source outside = {0};
    if (clauses == NULL || on == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a merge needs a condition and WHEN clauses");
    }
    FRZ_TRY(update_source_init(&outside, catalog, table, name, source, err));
    FRZ_TRY(run(catalog, table, &words, &outside, report, err));
out:
    update_source_reset(&outside);
    return rc;
}
