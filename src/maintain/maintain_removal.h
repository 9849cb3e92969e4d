/*
 * What expiry and the removal of orphans share: which files snapshots reach, and taking away those
 * that none reaches.
 */
#ifndef FRZ_MAINTAIN_REMOVAL_H
#define FRZ_MAINTAIN_REMOVAL_H

#include "frazil/maintain.h"
#include "maintain/maintain_internal.h"

/* ---- limits (maintain_limit.c) ---- */

/* A time as options have it: "7d" before now, or a timestamp. FRZ_E_ARGUMENT naming the option. */
frz_code frz_limit_parse(const frz_env *env, const char *option, const char *text, int64_t *ms,
                         frz_error *err);
/* The time so long before another. */
int64_t frz_limit_before(int64_t time_ms, int64_t age_ms);
/* FRZ_E_ARGUMENT for a table whose files may be used by others: gc.enabled. */
frz_code frz_limit_check_removal(const frz_metadata *metadata, frz_error *err);

/* ---- which snapshots and references stay (maintain_retention.c) ---- */

typedef struct frz_retention_rules {
    int64_t now_ms;
    int64_t older_than_ms;  /* snapshots from before may go, unless a branch says otherwise */
    int64_t min_snapshots;  /* of each branch that stay, likewise */
    int64_t max_ref_age_ms; /* likewise */
} frz_retention_rules;

typedef struct frz_retention {
    bool *keeps;     /* one for each snapshot of the metadata, in its order */
    bool *keeps_ref; /* one for each reference */
    size_t snapshots_gone, refs_gone;
} frz_retention;

frz_code frz_retention_decide(const frz_metadata *metadata, const frz_retention_rules *rules,
                              frz_arena *arena, frz_retention *out, frz_error *err);

/* ---- which files a snapshot reaches (maintain_reach.c) ---- */

/* Called for each file, some more than once; the location is absolute and lent. */
typedef frz_code (*frz_reach_fn)(void *ctx, frz_removed kind, frz_str location, frz_error *err);

/* One walk over several snapshots of one table, which passes by what it has seen. */
typedef struct frz_reach {
    const frz_env *env;
    frz_reach_fn visit;
    void *ctx;
    frz_key_map seen; /* snapshots, and manifests with what is masked in them */
} frz_reach;

void frz_reach_init(frz_reach *reach, const frz_env *env, frz_reach_fn visit, void *ctx);
void frz_reach_reset(frz_reach *reach);
/* All that reading the snapshot takes: live files and their column files and deletes; and every
 * manifest that its root names, live or not. */
frz_code frz_reach_snapshot(frz_reach *reach, const frz_table *table, const frz_snapshot *snapshot,
                            frz_error *err);
/* The statistics files of a snapshot; 0: of all. */
frz_code frz_reach_statistics(frz_reach *reach, const frz_table *table, int64_t snapshot_id,
                              frz_error *err);

/* ---- files that go, unless they stay (maintain_removal.c) ---- */

typedef struct frz_removal frz_removal;

#define FRZ_REMOVAL_MEMORY ((size_t)32 << 20)

/* memory: bytes of what is noted that may be in memory, FRZ_REMOVAL_MEMORY. */
frz_code frz_removal_new(const frz_env *env, size_t memory, frz_removal **out, frz_error *err);
void frz_removal_free(frz_removal *removal); /* NULL is fine */
/* A file that stays, whatever is said before or after. */
frz_code frz_removal_keep(frz_removal *removal, frz_str location, frz_error *err);
/* A file that goes if nobody keeps it. */
frz_code frz_removal_offer(frz_removal *removal, frz_removed kind, frz_str location,
                           frz_error *err);

typedef struct frz_removal_run {
    bool dry;
    const char *what;                                /* for progress */
    bool (*spares)(void *ctx, const char *location); /* what stays all the same; NULL: nothing */
    void *spares_ctx;
    frz_removed_fn visit; /* NULL: nobody */
    void *visit_ctx;
} frz_removal_run;

/* Remove what was offered and not kept, each file once. A file that cannot be removed is counted,
 * one that is not there is not. */
frz_code frz_removal_do(frz_removal *removal, const frz_removal_run *run,
                        frz_removal_report *report, frz_error *err);

#endif
