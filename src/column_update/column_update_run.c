/*
 * Column updates: what the commit loop is given to build.
 *
 * Each data file's result is kept over attempts, with the state of the entry it was computed from.
 * When another writer was first, a result is used again as far as it still holds:
 *
 *   the values it depends on come from the same files    the new values hold
 *   and so does the lineage, or all rows were updated    the column file is used as it is
 *   but the lineage moved                                the lineage column is written again
 *   a value it depends on comes from another file        the data file is computed again
 *   rows were deleted by another vector                  the same: they are no longer updated
 *   the schema changed, or the data file is new          computed (again)
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

/* A data file that was computed, and what its entry looked like. */
typedef struct done_file {
    frz_str location; /* as recorded */
    int64_t sequence_number;
    int32_t schema_id;
    frz_column_file *column_files; /* deep copies in the job's arena */
    size_t column_file_count;
    frz_str vector; /* location of the deletion vector, and where it is in that file */
    int64_t vector_offset;
    update_result result;
} done_file;

typedef struct update_job {
    const frz_env *env;
    frz_arena arena;
    update_plan plan;
    done_file *done;
    size_t done_count, done_capacity;
    size_t sorted; /* so many come from earlier attempts, in order of location */
} update_job;

/* One attempt of the job. */
typedef struct update_attempt {
    update_job *job;
    const frz_commit_attempt *commit;
    frz_commit_plan *plan;
    frz_live_files files;
    size_t computed; /* of them, so far */
    frz_commit_vectors vectors;
    bool sync_each; /* files are synced one by one */
} update_attempt;

/* ---- remembering ---- */

static int by_location(const void *a, const void *b)
{
    return frz_str_compare(((const done_file *)a)->location, ((const done_file *)b)->location);
}

static void sort_done(update_job *job)
{
    if (job->done_count > 1) {
        qsort(job->done, job->done_count, sizeof *job->done, by_location);
    }
    job->sorted = job->done_count;
}

/* A result of an earlier attempt: within one attempt each data file comes once. */
static done_file *find_done(const update_job *job, const frz_entry *entry)
{
    const done_file key = {.location = entry->location};
    return job->sorted == 0 ? NULL : bsearch(&key, job->done, job->sorted, sizeof key, by_location);
}

static frz_code copy_column_files(frz_arena *arena, const frz_entry *entry, done_file *out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_column_file *files = frz_arena_array(arena, entry->column_file_count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, entry->column_file_count * sizeof *files);
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *from = &entry->column_files[i];
        int32_t *ids = frz_arena_array(arena, from->field_id_count, sizeof *ids);
        if (ids == NULL) {
            return frz_fail_nomem(err, from->field_id_count * sizeof *ids);
        }
        memcpy(ids, from->field_ids, from->field_id_count * sizeof *ids);
        files[i] = (frz_column_file){.field_ids = ids, .field_id_count = from->field_id_count};
        FRZ_TRY(frz_arena_str(arena, from->location, &files[i].location, err));
    }
    out->column_files = files;
    out->column_file_count = entry->column_file_count;
out:
    return rc;
}

static frz_code copy_vector(frz_arena *arena, const frz_entry *entry, done_file *out,
                            frz_error *err)
{
    const frz_deletion_vector *vector = &entry->deletion_vector;
    if (!entry->has_deletion_vector) {
        return FRZ_OK;
    }
    out->vector_offset = vector->offset;
    return frz_arena_str(arena, vector->location, &out->vector, err);
}

/* A place to keep the result of a data file, empty or with an outdated result dropped. */
static frz_code remember(update_job *job, const frz_commit_attempt *attempt, const frz_entry *entry,
                         done_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    done_file *slot = find_done(job, entry);
    done_file fresh = {.sequence_number = entry->sequence_number,
                       .schema_id = attempt->schema->schema_id};
    FRZ_TRY(frz_arena_str(&job->arena, entry->location, &fresh.location, err));
    FRZ_TRY(copy_column_files(&job->arena, entry, &fresh, err));
    FRZ_TRY(copy_vector(&job->arena, entry, &fresh, err));
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

/* ---- does a result still hold? ---- */

/* The file that provides a field is the same as when the result was computed. */
static bool same_provider(const done_file *done, const frz_entry *newest, int32_t field_id)
{
    frz_entry then = {.column_files = done->column_files,
                      .column_file_count = done->column_file_count};
    const frz_column_file *before = frz_entry_provider(&then, field_id);
    const frz_column_file *now = frz_entry_provider(newest, field_id);
    return before == NULL || now == NULL ? before == now
                                         : frz_str_equal(before->location, now->location);
}

static bool same_vector(const done_file *done, const frz_entry *newest)
{
    const frz_deletion_vector *vector = &newest->deletion_vector;
    return newest->has_deletion_vector ? frz_str_equal(done->vector, vector->location) &&
                                             done->vector_offset == vector->offset
                                       : done->vector.ptr == NULL;
}

static bool same_lineage(const done_file *done, const frz_entry *newest)
{
    return done->sequence_number == newest->sequence_number &&
           same_provider(done, newest, FRZ_ID_LAST_UPDATED);
}

static bool values_hold(const update_job *job, const done_file *done,
                        const frz_commit_attempt *attempt, const frz_entry *newest)
{
    bool hold = done->schema_id == attempt->schema->schema_id && same_vector(done, newest);
    for (size_t i = 0; hold && i < job->plan.depends_count; i++) {
        int32_t id = job->plan.depends_ids[i];
        hold = id == FRZ_ID_LAST_UPDATED ? same_lineage(done, newest)
                                         : same_provider(done, newest, id);
    }
    return hold;
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

static frz_code lineage_entry(update_attempt *a, const frz_entry *entry, const done_file *done,
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
static frz_code renew_files(update_attempt *a, const frz_entry *entry, const done_file *done,
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
 * writer may have written since. */
static frz_code renew_vector(update_attempt *a, const frz_entry *entry, const done_file *done,
                             frz_entry *modified, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *own = NULL;
    frz_positions *all = NULL;
    const frz_positions *sets[2] = {done->result.deleted};
    size_t count = 1;
    if (done->result.deleted == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_file_deletes_find(NULL, a->commit->table, entry, &own, err));
    if (own != NULL) {
        sets[count++] = frz_file_deletes_positions(own);
    }
    FRZ_TRY(frz_positions_union(a->job->env, sets, count, &all, err));
    FRZ_TRY(frz_commit_vectors_add(&a->vectors, all, modified, err));
out:
    frz_positions_free(all);
    frz_file_deletes_free(own);
    return rc;
}

static void renew_order(update_attempt *a, const done_file *done, frz_entry *modified)
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

static frz_code add_change(update_attempt *a, const frz_entry *entry, const done_file *done,
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
    plan->live_data_bytes += entry->file_size;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        plan->live_data_bytes += entry->column_files[i].file_size;
    }
out:
    return rc;
}

/* Whether there is no result of an earlier attempt that still holds. */
static bool must_compute(const update_attempt *a, const frz_entry *entry)
{
    const done_file *done = find_done(a->job, entry);
    return done == NULL || !values_hold(a->job, done, a->commit, entry);
}

static frz_code build_entry(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    done_file *done = find_done(job, entry);
    if (must_compute(a, entry)) {
        FRZ_TRY(remember(job, a->commit, entry, &done, err));
        FRZ_TRY(update_file(&job->plan, a->commit, entry, a->computed++, a->files.deletes,
                            a->sync_each, &done->result, err));
    }
    if (done->result.location != NULL) {
        FRZ_TRY(add_change(a, entry, done, err));
    }
out:
    return rc;
}

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
        if (must_compute(a, a->files.entries[i])) {
            entries[count++] = a->files.entries[i];
        }
    }
    return update_source_start(plan->source, a->commit, entries, count, a->files.deletes,
                               plan->read_type, err);
}

static frz_code build_entries(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    size_t count = a->files.count;
    if (job->plan.source != NULL) {
        FRZ_TRY(start_source(a, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(frz_progress(job->env, "update", i, count, err));
        FRZ_TRY(build_entry(a, a->files.entries[i], err));
    }
    FRZ_TRY(frz_progress(job->env, "update", count, count, err));
    if (job->plan.source != NULL) {
        FRZ_TRY(update_source_finish(job->plan.source, a->commit, err));
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
    FRZ_TRY(build_entries(&a, err));
    FRZ_TRY(frz_commit_vectors_finish(&a.vectors, a.sync_each, err));
    plan->operation = "overwrite";
    plan->nothing = plan->data_files == 0;
out:
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
    for (size_t i = 0; i < job.done_count; i++) {
        update_result_reset(env, &job.done[i].result);
    }
    frz_free(env, job.done);
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
