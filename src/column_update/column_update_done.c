/*
 * Results of data files, kept with the identity of the entry that each was computed from, and what
 * of them still holds for a newer one.
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

/* ---- remembering ---- */

static int by_location(const void *a, const void *b)
{
    return frz_str_compare(((const update_done *)a)->of.location,
                           ((const update_done *)b)->of.location);
}

void update_done_sort(update_job *job)
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

frz_code update_done_add(update_job *job, int32_t schema_id, const frz_entry *entry,
                         update_done **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_done *slot = update_done_find(job, entry);
    update_done fresh = {.schema_id = schema_id};
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

frz_code update_done_new(update_job *job, const frz_commit_attempt *attempt, const frz_entry *entry,
                         update_done **out, frz_error *err)
{
    return update_done_add(job, attempt->schema->schema_id, entry, out, err);
}

/* Ties are the same values in two files. */
static bool is_newer(const update_done *a, const update_done *b)
{
    return a->planned != b->planned ? a->planned > b->planned : a->schema_id > b->schema_id;
}

void update_done_keep_newest(update_job *job)
{
    size_t kept = 0;
    update_done_sort(job);
    for (size_t i = 0; i < job->done_count; i++) {
        update_done *last = kept == 0 ? NULL : &job->done[kept - 1];
        if (last == NULL || by_location(last, &job->done[i]) != 0) {
            job->done[kept++] = job->done[i];
        } else if (is_newer(&job->done[i], last)) {
            update_result_reset(job->env, &last->result);
            *last = job->done[i];
        } else {
            update_result_reset(job->env, &job->done[i].result);
        }
    }
    job->done_count = job->sorted = kept;
}

void update_done_forget(update_job *job)
{
    for (size_t i = 0; i < job->done_count; i++) {
        update_result_reset(job->env, &job->done[i].result);
    }
    job->done_count = job->sorted = 0;
    job->moves.made_count = 0;
}

void update_done_count(update_attempt *a, const update_done *done)
{
    const frz_positions *removed = done->result.removed;
    int64_t gone = removed == NULL ? 0 : (int64_t)frz_positions_count(removed);
    a->plan->rows += done->result.rows + gone;
    if (a->job->plan.merge != NULL) {
        a->job->plan.merge->rows_deleted += gone;
    }
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

bool update_lineage_holds(const update_done *done, const frz_entry *newest)
{
    return done->of.sequence_number == newest->sequence_number &&
           same_provider(done, newest, FRZ_ID_LAST_UPDATED);
}

bool update_values_hold(const update_plan *plan, const update_done *done, int32_t schema_id,
                        const frz_entry *newest)
{
    bool hold = done->schema_id == schema_id && same_vector(done, newest) &&
                (plan->written.count > 1 || update_lineage_holds(done, newest));
    for (size_t i = 0; hold && i < plan->depends_count; i++) {
        int32_t id = plan->depends_ids[i];
        hold = id == FRZ_ID_LAST_UPDATED ? update_lineage_holds(done, newest)
                                         : same_provider(done, newest, id);
    }
    return hold;
}

bool update_written_stands(const update_plan *plan, const update_done *done,
                           const frz_entry *newest)
{
    bool stands = true;
    for (size_t i = 0; stands && i < plan->written.count; i++) {
        int32_t id = plan->written.ids[i];
        stands = id == FRZ_ID_LAST_UPDATED || same_provider(done, newest, id);
    }
    return stands;
}

bool update_must_compute(const update_attempt *a, const frz_entry *entry)
{
    const update_done *done = update_done_find(a->job, entry);
    bool in_part = a->job->mode == FRZ_MODE_COLUMN_FILE; /* the other modes write whole rows */
    return done == NULL || (a->job->apart && !update_written_stands(&a->job->plan, done, entry)) ||
           !(in_part ? update_values_hold(&a->job->plan, done, a->commit->schema->schema_id, entry)
                     : update_done_same(done, a, entry));
}
