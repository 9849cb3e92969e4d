/*
 * meta: reading a root manifest as a whole.
 */
#ifndef FRZ_META_ROOT_H
#define FRZ_META_ROOT_H

#include "meta/meta_tracked.h"

/* A root manifest to read. */
typedef struct meta_root {
    const frz_table *table;
    const frz_snapshot *snapshot;
    const frz_schema *schema;
    const meta_entry_rules *rules;
    frz_stats_choice stats;
    const char *location; /* where to open it */
    frz_arena *arena;     /* of entries; gets a limit that fits the file */
    /* Takes each row in order; manifest is NULL for a data file. What they point to lives in the
     * arena, the bitmaps of the manifest only during the call. */
    frz_code (*row)(void *ctx, const frz_entry *entry, const meta_tracked_manifest *manifest,
                    frz_error *err);
    void *ctx;
} meta_root;

frz_code meta_root_read(const meta_root *root, frz_error *err);
/* That a snapshot has a root manifest that can be read. */
frz_code meta_root_check(const frz_snapshot *snapshot, frz_error *err);

#endif
