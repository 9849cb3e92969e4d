/*
 * Which snapshots and references a table keeps. spec: Snapshot Retention Policy
 *
 *  1. A reference goes when its snapshot is older than its max-ref-age-ms; branch main never goes.
 *  2. Of each branch that stays, its newest snapshots stay: so many as min-snapshots-to-keep, and
 * on as long as they are not older than max-snapshot-age-ms. The snapshot of a tag stays.
 *  3. A snapshot that belongs to no reference goes when it is older than the table's limit.
 */
#include "maintain/maintain_removal.h"

typedef struct decision {
    const frz_metadata *m;
    const frz_retention_rules *rules;
    bool *keeps;
    bool *belongs; /* to a reference that stays */
} decision;

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value == FRZ_NO_VALUE ? fallback : value;
}

static bool keeps_ref(const decision *d, const frz_ref *ref)
{
    const frz_snapshot *snapshot = frz_metadata_snapshot(d->m, ref->snapshot_id);
    int64_t age = or_default(ref->max_ref_age_ms, d->rules->max_ref_age_ms);
    return frz_str_equal(ref->name, FRZ_STR("main")) ||
           snapshot->timestamp_ms >= frz_limit_before(d->rules->now_ms, age);
}

static void keep_branch(decision *d, const frz_ref *ref)
{
    int64_t most = or_default(ref->min_snapshots_to_keep, d->rules->min_snapshots);
    int64_t oldest = ref->max_snapshot_age_ms == FRZ_NO_VALUE
                         ? d->rules->older_than_ms
                         : frz_limit_before(d->rules->now_ms, ref->max_snapshot_age_ms);
    const frz_snapshot *at = frz_metadata_snapshot(d->m, ref->snapshot_id);
    bool keeps = true;
    /* a circle of parents would go on for ever */
    for (size_t n = 0; at != NULL && n < d->m->snapshot_count; n++) {
        size_t i = (size_t)(at - d->m->snapshots);
        keeps = keeps && (n == 0 || (int64_t)n < most || at->timestamp_ms >= oldest);
        d->keeps[i] = d->keeps[i] || keeps;
        d->belongs[i] = true;
        at = at->parent_id == 0 ? NULL : frz_metadata_snapshot(d->m, at->parent_id);
    }
}

static void keep_ref(decision *d, const frz_ref *ref)
{
    if (ref->is_tag) {
        size_t i = (size_t)(frz_metadata_snapshot(d->m, ref->snapshot_id) - d->m->snapshots);
        d->keeps[i] = d->belongs[i] = true;
    } else {
        keep_branch(d, ref);
    }
}

frz_code frz_retention_decide(const frz_metadata *metadata, const frz_retention_rules *rules,
                              frz_arena *arena, frz_retention *out, frz_error *err)
{
    size_t snapshots = metadata->snapshot_count, refs = metadata->ref_count;
    decision d = {.m = metadata, .rules = rules};
    d.keeps = frz_arena_array(arena, snapshots, sizeof *d.keeps);
    d.belongs = frz_arena_array(arena, snapshots, sizeof *d.belongs);
    bool *ref_stays = frz_arena_array(arena, refs, sizeof *ref_stays);
    if (d.keeps == NULL || d.belongs == NULL || ref_stays == NULL) {
        return frz_fail_nomem(err, snapshots + refs);
    }
    *out = (frz_retention){.keeps = d.keeps, .keeps_ref = ref_stays};
    for (size_t i = 0; i < refs; i++) {
        ref_stays[i] = keeps_ref(&d, &metadata->refs[i]);
        out->refs_gone += !ref_stays[i];
        if (ref_stays[i]) {
            keep_ref(&d, &metadata->refs[i]);
        }
    }
    for (size_t i = 0; i < snapshots; i++) {
        bool young = metadata->snapshots[i].timestamp_ms >= rules->older_than_ms;
        d.keeps[i] = d.keeps[i] || (!d.belongs[i] && young);
        out->snapshots_gone += !d.keeps[i];
    }
    return FRZ_OK;
}
