/*
 * Updates: what the commit loop is given to build.
 *
 * By column file, new values become a column file of the entry. Copy-on-write folds that column
 * file into a new data file at once; it is gone after the commit. Merge-on-read moves the rows to
 * new data files and deletes them where they were.
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
 * if an entry that some came from is not the same any more, all of them are moved again.
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

/* ---- remembering ---- */

static int by_location(const void *a, const void *b)
{
    return frz_str_compare(((const update_done *)a)->of.location,
                           ((const update_done *)b)->of.location);
}

static void sort_done(update_job *job)
{
    if (job->done_count > 1) {
        qsort(job->done, job->done_count, sizeof *job->done, by_location);
    }
    job->sorted = job->done_count;
}

update_done *update_done_find(const update_job *job, const frz_entry *entry)
{
    const update_done key = {.of.location = entry->location};
    return job->sorted == 0 ? NULL : bsearch(&key, job->done, job->sorted, sizeof key, by_location);
}

frz_code update_done_new(update_job *job, const frz_commit_attempt *attempt, const frz_entry *entry,
                         update_done **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_done *slot = update_done_find(job, entry);
    update_done fresh = {.schema_id = attempt->schema->schema_id};
    FRZ_TRY(frz_entry_identity(&job->arena, entry, &fresh.of, err));
    if (slot == NULL) {
        FRZ_TRY(FRZ_GROW(job->env, &job->done, &job->done_capacity, job->done_count, err));
        slot = &job->done[job->done_count++];
    } else {
        update_result_reset(job->env, &slot->result);
    }
    *slot = fresh;
    *out = slot;
out:
    return rc;
}

void update_done_forget(update_job *job)
{
    for (size_t i = 0; i < job->done_count; i++) {
        update_result_reset(job->env, &job->done[i].result);
    }
    job->done_count = job->sorted = 0;
}

/* ---- does a result still hold? ---- */

bool update_done_same(const update_done *done, const update_attempt *a, const frz_entry *newest)
{
    return done->schema_id == a->commit->schema->schema_id && frz_same_content(&done->of, newest);
}

/* The file that provides a field is the same as when the result was computed. */
static bool same_provider(const update_done *done, const frz_entry *newest, int32_t field_id)
{
    const frz_column_file *before = frz_entry_provider(&done->of, field_id);
    const frz_column_file *now = frz_entry_provider(newest, field_id);
    return before == NULL || now == NULL ? before == now
                                         : frz_str_equal(before->location, now->location);
}

static bool same_vector(const update_done *done, const frz_entry *newest)
{
    return done->of.has_deletion_vector == newest->has_deletion_vector &&
           frz_str_equal(done->of.deletion_vector.location, newest->deletion_vector.location) &&
           done->of.deletion_vector.offset == newest->deletion_vector.offset;
}

static bool same_lineage(const update_done *done, const frz_entry *newest)
{
    return done->of.sequence_number == newest->sequence_number &&
           same_provider(done, newest, FRZ_ID_LAST_UPDATED);
}

static bool values_hold(const update_done *done, const update_attempt *a, const frz_entry *newest)
{
    const update_plan *plan = &a->job->plan;
    bool hold = done->schema_id == a->commit->schema->schema_id && same_vector(done, newest);
    for (size_t i = 0; hold && i < plan->depends_count; i++) {
        int32_t id = plan->depends_ids[i];
        hold = id == FRZ_ID_LAST_UPDATED ? same_lineage(done, newest)
                                         : same_provider(done, newest, id);
    }
    return hold;
}

bool update_must_compute(const update_attempt *a, const frz_entry *entry)
{
    const update_done *done = update_done_find(a->job, entry);
    bool in_part = a->job->mode == FRZ_MODE_COLUMN_FILE; /* the other modes write whole rows */
    return done == NULL ||
           !(in_part ? values_hold(done, a, entry) : update_done_same(done, a, entry));
}

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

/* The column files of the new state. */
static frz_code renew_files(update_attempt *a, const frz_entry *entry, const update_done *done,
                            frz_entry *modified, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_result *result = &done->result;
    const update_plan *bound = &a->job->plan;
    frz_column_file added[2];
    size_t added_count = 1;
    bool lineage_holds = same_lineage(done, entry) || result->rows == result->record_count;
    /* written is ascending, so the lineage column's id, the largest, is the last */
    FRZ_TRY(column_file_of(a->commit, result->location, result->bytes, bound->written.ids,
                           bound->written.count - (lineage_holds ? 0 : 1), &added[0], err));
    if (!lineage_holds) {
        FRZ_TRY(lineage_entry(a, entry, done, &added[added_count++], err));
    }
    FRZ_TRY(update_column_files(a->commit->arena, modified, &bound->schema_ids, &bound->written,
                                added, added_count, err));
    FRZ_TRY(update_stats(a->commit->arena, modified, bound->written.ids, bound->written.count,
                         result->stats, result->stats_count, err));
out:
    return rc;
}

/* Rows that only delete files told, and those of the newest entry's own vector, which another
 * writer may have written since. NULL: none. */
static frz_code deleted_rows(update_attempt *a, const frz_entry *entry, const update_done *done,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *own = NULL;
    const frz_positions *sets[2];
    size_t count = 0;
    FRZ_TRY(frz_file_deletes_find(NULL, a->commit->table, entry, &own, err));
    if (done->result.deleted != NULL) {
        sets[count++] = done->result.deleted;
    }
    if (own != NULL) {
        sets[count++] = frz_file_deletes_positions(own);
    }
    if (count > 0) {
        FRZ_TRY(frz_positions_union(a->job->env, sets, count, out, err));
    }
out:
    frz_file_deletes_free(own);
    return rc;
}

static frz_code renew_vector(update_attempt *a, const frz_entry *entry, const update_done *done,
                             frz_entry *modified, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *all = NULL;
    if (done->result.deleted == NULL) {
        return FRZ_OK; /* the entry's vector tells all */
    }
    FRZ_TRY(deleted_rows(a, entry, done, &all, err));
    FRZ_TRY(frz_commit_vectors_add(&a->vectors, all, modified, err));
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
    frz_entry modified = frz_entry_column_update(entry, a->commit);
    FRZ_TRY(renew_files(a, entry, done, &modified, err));
    FRZ_TRY(renew_vector(a, entry, done, &modified, err));
    renew_order(a, done, &modified);
    FRZ_TRY(frz_commit_plan_change(a->commit, plan, entry, &modified, err));
    plan->rows += done->result.rows;
    plan->data_files++;
    plan->live_data_bytes += frz_entry_bytes(entry);
out:
    return rc;
}

/* ---- copy-on-write ---- */

/* Write the live rows of an entry that has the new column file. */
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

/* The column file has no reader of its own: it goes as soon as it is folded. */
static frz_code replace_file(update_attempt *a, const frz_entry *entry, update_done *done,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry modified = frz_entry_column_update(entry, a->commit);
    FRZ_TRY(update_file(&a->job->plan, a->commit, entry, a->computed++, a->files.deletes, false,
                        &done->result, err));
    if (done->result.location == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(renew_files(a, entry, done, &modified, err));
    FRZ_TRY(fold(a, entry, &modified, done, err));
    frz_commit_drop(a->commit, done->result.location);
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
        FRZ_TRY(frz_rewritten_plan(a->commit, entry, &like, &done->rewritten, &a->job->plan.metrics,
                                   a->plan, err));
        a->plan->rows += done->result.rows;
    }
out:
    return rc;
}

/* ---- column files ---- */

static frz_code update_entry(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    update_done *done = update_done_find(job, entry);
    if (update_must_compute(a, entry)) {
        FRZ_TRY(update_done_new(job, a->commit, entry, &done, err));
        FRZ_TRY(update_file(&job->plan, a->commit, entry, a->computed++, a->files.deletes,
                            a->sync_each, &done->result, err));
    }
    if (done->result.location != NULL) {
        FRZ_TRY(add_change(a, entry, done, err));
    }
out:
    return rc;
}

/* ---- all of them ---- */

/* Tell the source which files will ask for its rows. */
static frz_code start_source(update_attempt *a, frz_error *err)
{
    size_t count = 0;
    const update_plan *plan = &a->job->plan;
    const frz_entry **entries =
        frz_arena_array(a->commit->arena, a->files.count + 1, sizeof *entries);
    if (entries == NULL) {
        return frz_fail_nomem(err, a->files.count * sizeof *entries);
    }
    for (size_t i = 0; i < a->files.count; i++) {
        if (update_must_compute(a, a->files.entries[i])) {
            entries[count++] = a->files.entries[i];
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
    update_source *source = a->job->plan.source;
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
out:
    return rc;
}

/* Chosen once: results of one mode are of no use for another. */
static frz_code choose_mode(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    frz_statement_estimate estimate;
    if (a->commit->number == 1) {
        FRZ_TRY(frz_write_mode_of(&a->commit->table->metadata, "update", &job->mode, err));
    }
    if (job->mode == FRZ_MODE_AUTO && job->plan.source != NULL) {
        job->mode = FRZ_MODE_COLUMN_FILE; /* which rows it has is not known before it is read */
    }
    if (job->mode == FRZ_MODE_AUTO) {
        FRZ_TRY(update_estimate(&job->plan, a->commit->table, a->commit->schema, &a->files,
                                a->commit->arena, &estimate, err));
        (void)frz_write_mode_find(frz_str_from(estimate.modes[estimate.cheapest].mode), &job->mode);
    }
out:
    return rc;
}

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = ctx;
    update_attempt a = {.job = job, .commit = attempt, .plan = plan};
    frz_commit_vectors_init(&a.vectors, attempt);
    sort_done(job);
    update_plan_unbind(&job->plan);
    FRZ_TRY(update_plan_bind(&job->plan, &attempt->table->metadata, attempt->schema, err));
    const frz_bound_expr *prune = job->plan.source != NULL ? job->plan.prune : job->plan.filter;
    FRZ_TRY(frz_live_files_find(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                prune, attempt->arena, &a.files, err));
    a.sync_each = frz_commit_sync_each(attempt, a.files.count);
    FRZ_TRY(choose_mode(&a, err));
    FRZ_TRY(update_moves_begin(&a, err));
    FRZ_TRY(build_entries(&a, err));
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

/* ---- entries ---- */

static frz_code run(frz_catalog *catalog, const char *table, const frz_assignment *assignments,
                    size_t assignment_count, const char *where, update_source *source,
                    frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = catalog->env;
    update_job job = {.env = env, .plan = {.env = env, .source = source}};
    frz_arena_init(&job.arena, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&job.plan.arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(update_plan_parse(&job.plan, &job.arena, assignments, assignment_count, where, err));
    FRZ_TRY(frz_commit_run(catalog, table, build, &job, report, err));
    if (source != NULL && report != NULL) {
        update_source_count(source, &report->source_rows, &report->source_unmatched);
    }
out:
    update_done_forget(&job);
    frz_free(env, job.done);
    frz_free(env, job.moves.made);
    update_plan_unbind(&job.plan);
    frz_arena_reset(&job.arena);
    return rc;
}

frz_code frz_update_columns(frz_catalog *catalog, const char *table,
                            const frz_assignment *assignments, size_t assignment_count,
                            const char *where, frz_commit_report *report, frz_error *err)
{
    return run(catalog, table, assignments, assignment_count, where, NULL, report, err);
}

frz_code frz_update_columns_from(frz_catalog *catalog, const char *table, const char *name,
                                 const frz_assignment *assignments, size_t assignment_count,
                                 const frz_row_source *source, const char *where,
                                 frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_source outside = {0};
    FRZ_TRY(update_source_init(&outside, catalog, table, name, source, err));
    FRZ_TRY(run(catalog, table, assignments, assignment_count, where, &outside, report, err));
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
    update_source outside = {0};
    FRZ_TRY(update_source_init(&outside, catalog, table, NULL, source, err));
    outside.by_position = true;
    FRZ_TRY(run(catalog, table, assignments, assignment_count, NULL, &outside, report, err));
out:
    update_source_reset(&outside);
    return rc;
}
