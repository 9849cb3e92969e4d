/*
 * Expiry: old snapshots leave the table, then the files that only they reached leave the storage.
 *
 * Invariants:
 *  1. Everything is read before the commit: manifests of snapshots that stay and cannot be read
 * stop the expiry while nothing has changed. Of a snapshot that goes and cannot be read, files
 * stay.
 *  2. Files are removed only after the catalog has confirmed the version without the snapshots.
 * That version is the one the files were compared with; later ones are made from it and cannot
 * reach what it does not.
 *  3. Each attempt compares anew: what an earlier one found to be reached may be so no longer.
 *
 * spec: Snapshot Retention Policy
 */
#include <stdlib.h>

#include "maintain/maintain_removal.h"

#define AGE_DEFAULT_MS (INT64_C(5) * 24 * 60 * 60 * 1000)

typedef struct expire_job {
    const frz_env *env;
    const frz_expire_options *options;
    /* of the attempt */
    frz_removal *removal;
    frz_reach kept, gone;
    frz_arena arena; /* of expired */
    frz_expired expired;
    int64_t unreadable;
} expire_job;

static frz_code keep_file(void *ctx, frz_removed kind, frz_str location, frz_error *err)
{
    (void)kind;
    return frz_removal_keep(((expire_job *)ctx)->removal, location, err);
}

static frz_code offer_file(void *ctx, frz_removed kind, frz_str location, frz_error *err)
{
    return frz_removal_offer(((expire_job *)ctx)->removal, kind, location, err);
}

static void forget_files(expire_job *job)
{
    frz_reach_reset(&job->kept);
    frz_reach_reset(&job->gone);
    frz_removal_free(job->removal);
    job->removal = NULL;
    job->unreadable = 0;
}

static frz_code start_over(expire_job *job, frz_error *err)
{
    forget_files(job);
    frz_reach_init(&job->kept, job->env, keep_file, job);
    frz_reach_init(&job->gone, job->env, offer_file, job);
    return frz_removal_new(job->env, FRZ_REMOVAL_MEMORY, &job->removal, err);
}

/* ---- what goes ---- */

static frz_code read_rules(const expire_job *job, const frz_metadata *metadata,
                           frz_retention_rules *rules, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expire_options *o = job->options;
    int64_t age, least;
    rules->now_ms = frz_now_ms(job->env);
    FRZ_TRY(frz_metadata_property_i64(metadata, "history.expire.max-snapshot-age-ms",
                                      AGE_DEFAULT_MS, &age, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "history.expire.min-snapshots-to-keep", 1, &least,
                                      err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "history.expire.max-ref-age-ms", INT64_MAX,
                                      &rules->max_ref_age_ms, err));
    rules->older_than_ms = frz_limit_before(rules->now_ms, age);
    rules->min_snapshots = o->retain_last > 0 ? o->retain_last : least;
    if (o->older_than != NULL) {
        FRZ_TRY(frz_limit_parse(job->env, "older-than", o->older_than, &rules->older_than_ms, err));
    }
out:
    return rc;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* As the commit wants it; in the job's arena. */
static frz_code name_expired(expire_job *job, const frz_metadata *m, const frz_retention *retention,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena_reset(&job->arena);
    job->expired = (frz_expired){0};
    int64_t *ids = frz_arena_array(&job->arena, retention->snapshots_gone, sizeof *ids);
    frz_str *refs = frz_arena_array(&job->arena, retention->refs_gone, sizeof *refs);
    if (ids == NULL || refs == NULL) {
        return frz_fail_nomem(err, retention->snapshots_gone * sizeof *ids);
    }
    job->expired.snapshots = ids;
    job->expired.refs = refs;
    for (size_t i = 0; i < m->snapshot_count; i++) {
        if (!retention->keeps[i]) {
            ids[job->expired.snapshot_count++] = m->snapshots[i].snapshot_id;
        }
    }
    for (size_t i = 0; i < m->ref_count; i++) {
        if (!retention->keeps_ref[i]) {
            FRZ_TRY(
                frz_arena_str(&job->arena, m->refs[i].name, &refs[job->expired.ref_count++], err));
        }
    }
    if (job->expired.snapshot_count > 1) {
        qsort(ids, job->expired.snapshot_count, sizeof *ids, by_number);
    }
out:
    return rc;
}

/* A snapshot that goes may be broken: that must not keep it. */
static frz_code walk_gone(expire_job *job, const frz_table *table, const frz_snapshot *snapshot,
                          frz_error *err)
{
    frz_error why = {0};
    frz_code rc = frz_reach_snapshot(&job->gone, table, snapshot, &why);
    switch (rc) {
    case FRZ_E_NOT_FOUND:
    case FRZ_E_CORRUPT:
    case FRZ_E_UNSUPPORTED:
        job->unreadable++;
        frz_log(job->env, "maintain", FRZ_LOG_WARN, "files of snapshot %lld stay: %s",
                (long long)snapshot->snapshot_id, why.message);
        return FRZ_OK;
    default:
        if (rc != FRZ_OK && err != NULL) {
            *err = why;
        }
        return rc;
    }
}

static frz_code walk_snapshots(expire_job *job, const frz_table *table,
                               const frz_retention *retention, bool kept, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &table->metadata;
    for (size_t i = 0; i < m->snapshot_count; i++) {
        const frz_snapshot *snapshot = &m->snapshots[i];
        if (retention->keeps[i] != kept) {
            continue;
        }
        FRZ_TRY(frz_progress(job->env, "expire", i, m->snapshot_count, err));
        FRZ_TRY(kept ? frz_reach_snapshot(&job->kept, table, snapshot, err)
                     : walk_gone(job, table, snapshot, err));
        FRZ_TRY(frz_reach_statistics(kept ? &job->kept : &job->gone, table, snapshot->snapshot_id,
                                     err));
    }
out:
    return rc;
}

/* ---- the commit ---- */

static frz_code expire_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    expire_job *job = ctx;
    const frz_metadata *metadata = &attempt->table->metadata;
    frz_retention_rules rules = {0};
    frz_retention retention = {0};
    FRZ_TRY(start_over(job, err));
    FRZ_TRY(frz_limit_check_removal(metadata, err));
    FRZ_TRY(read_rules(job, metadata, &rules, err));
    FRZ_TRY(frz_retention_decide(metadata, &rules, attempt->arena, &retention, err));
    FRZ_TRY(name_expired(job, metadata, &retention, err));
    plan->expired = job->expired;
    plan->nothing = job->expired.snapshot_count + job->expired.ref_count == 0;
    if (!plan->nothing) {
        FRZ_TRY(walk_snapshots(job, attempt->table, &retention, true, err));
        FRZ_TRY(walk_snapshots(job, attempt->table, &retention, false, err));
    }
    plan->nothing = plan->nothing || job->options->dry_run != 0;
out:
    return rc;
}

/* ---- afterwards ---- */

static frz_code tell_expired(expire_job *job, frz_removal_report *report, frz_error *err)
{
    const frz_expire_options *o = job->options;
    report->count[FRZ_REMOVED_SNAPSHOT] = (int64_t)job->expired.snapshot_count;
    report->count[FRZ_REMOVED_REFERENCE] = (int64_t)job->expired.ref_count;
    for (size_t i = 0; o->visit != NULL && i < job->expired.snapshot_count; i++) {
        char *id = frz_arena_printf(&job->arena, "%lld", (long long)job->expired.snapshots[i]);
        if (id == NULL) {
            return frz_fail_nomem(err, sizeof(int64_t));
        }
        o->visit(o->ctx, FRZ_REMOVED_SNAPSHOT, id, 0);
    }
    for (size_t i = 0; o->visit != NULL && i < job->expired.ref_count; i++) {
        o->visit(o->ctx, FRZ_REMOVED_REFERENCE, job->expired.refs[i].ptr, 0);
    }
    return FRZ_OK;
}

static frz_code remove_files(expire_job *job, frz_removal_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expire_options *o = job->options;
    const frz_removal_run run = {
        .dry = o->dry_run != 0, .what = "expire", .visit = o->visit, .visit_ctx = o->ctx};
    report->unreadable = job->unreadable;
    FRZ_TRY(tell_expired(job, report, err));
    FRZ_TRY(frz_removal_do(job->removal, &run, report, err));
out:
    if (rc != FRZ_OK && o->dry_run == 0) {
        frz_context(err, rc, "the snapshots have expired, but their files were not all removed");
        frz_hint(err, "what is left is found by the removal of orphans");
    }
    return rc;
}

frz_code frz_expire(frz_catalog *catalog, const char *table, const frz_expire_options *opts,
                    frz_removal_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_expire_options given = FRZ_EXPIRE_OPTIONS_INIT;
    frz_removal_report figures = {0};
    if (opts != NULL) {
        memcpy(&given, opts, FRZ_MIN(opts->struct_size, sizeof given));
    }
    expire_job job = {.env = catalog->env, .options = &given};
    frz_arena_init(&job.arena, job.env, FRZ_ARENA_NO_LIMIT);
    frz_reach_init(&job.kept, job.env, keep_file, &job);
    frz_reach_init(&job.gone, job.env, offer_file, &job);
    FRZ_TRY(frz_commit_run(catalog, table, expire_build, &job, NULL, err));
    FRZ_TRY(remove_files(&job, &figures, err));
    if (report != NULL) {
        *report = figures;
    }
out:
    forget_files(&job);
    frz_arena_reset(&job.arena);
    return frz_context(err, rc, "expiring snapshots of table %s", table);
}

static const char *const removed_names[FRZ_REMOVED_KINDS] = {
    "snapshot",    "reference", "data file",     "column file",     "deletion vectors",
    "delete file", "manifest",  "snapshot root", "statistics file", "orphan",
};

const char *frz_removed_name(frz_removed kind)
{
    return (unsigned)kind < FRZ_REMOVED_KINDS ? removed_names[kind] : "unknown";
}
