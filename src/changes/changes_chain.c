/*
 * The snapshots whose changes are asked for: those after one snapshot up to another, along parents.
 */
#include "changes/changes_internal.h"

static const frz_snapshot *parent_of(const frz_table *table, const frz_snapshot *snapshot)
{
    return snapshot->parent_id == 0 ? NULL
                                    : frz_metadata_snapshot(&table->metadata, snapshot->parent_id);
}

/* The walk from the last snapshot down ended without meeting the first. */
static frz_code fail_unrelated(const frz_table *table, int64_t from, const frz_snapshot *last,
                               const frz_snapshot *stopped, frz_error *err)
{
    frz_code rc;
    if (frz_metadata_snapshot(&table->metadata, from) == NULL) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND, "the table has no snapshot %lld", (long long)from);
    } else if (stopped->parent_id != 0) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND,
                      "snapshot %lld, the parent of snapshot %lld, has expired: the changes "
                      "since snapshot %lld are not known",
                      (long long)stopped->parent_id, (long long)stopped->snapshot_id,
                      (long long)from);
    } else {
        return frz_fail(err, FRZ_E_ARGUMENT, "snapshot %lld is not an ancestor of snapshot %lld",
                        (long long)from, (long long)last->snapshot_id);
    }
    if (stopped->parent_id != 0) {
        frz_hint(err, "changes made after snapshot %lld are known",
                 (long long)stopped->snapshot_id);
    }
    return rc;
}

/* How many snapshots lie behind from, up to last. A circle of parents ends where it must have begun
 * anew. */
static frz_code count_snapshots(const frz_table *table, int64_t from, const frz_snapshot *last,
                                size_t *count, frz_error *err)
{
    size_t most = table->metadata.snapshot_count;
    const frz_snapshot *at = last, *stopped = last;
    for (*count = 0; at != NULL && at->snapshot_id != from; at = parent_of(table, at)) {
        stopped = at;
        if (++*count > most) {
            return frz_fail(err, FRZ_E_CORRUPT, "snapshot %lld is an ancestor of itself",
                            (long long)at->snapshot_id);
        }
    }
    return at != NULL ? FRZ_OK : fail_unrelated(table, from, last, stopped, err);
}

frz_code change_chain_of(const frz_table *table, const frz_changes_options *opts, frz_arena *arena,
                         change_chain *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *last = NULL;
    size_t count = 1;
    *out = (change_chain){.count = 0};
    FRZ_TRY(frz_table_snapshot(table, opts->to_snapshot_id, &last, &out->schema, err));
    if (last == NULL) {
        return opts->from_snapshot_id == 0
                   ? FRZ_OK
                   : frz_fail(err, FRZ_E_NOT_FOUND, "the table has no snapshot %lld",
                              (long long)opts->from_snapshot_id);
    }
    if (opts->from_snapshot_id != 0) {
        FRZ_TRY(count_snapshots(table, opts->from_snapshot_id, last, &count, err));
    }
    const frz_snapshot **snapshots = frz_arena_array(arena, count + 1, sizeof *snapshots);
    FRZ_TRY(snapshots == NULL ? frz_fail_nomem(err, count * sizeof *snapshots) : FRZ_OK);
    for (size_t i = count; i-- > 0; last = parent_of(table, last)) {
        snapshots[i] = last;
    }
    out->snapshots = snapshots;
    out->count = count;
out:
    return rc;
}
