/*
 * scan: which rows of one data file are live, for those who change the file or write it anew.
 */
#ifndef FRZ_SCAN_LIVE_H
#define FRZ_SCAN_LIVE_H

#include "scan/scan_deletes.h"
#include "scan/scan_plan.h"
#include "scan/scan_stitch.h"

/* ---- the files that a change may touch ---- */

typedef struct frz_live_files {
    frz_file_plan *plan;
    frz_delete_index *deletes;       /* NULL: there are no delete files */
    const frz_entry *const *entries; /* in the order of their manifests */
    size_t count;
    /* some of them with all statistics */
    const frz_tree *tree;
    frz_arena arena;
    frz_entry *whole;
    size_t whole_count, whole_most;
} frz_live_files;

/* The live entries that a filter does not rule out, and what deletes rows of them. Entries of
 * leaves have the statistics that the filter needs alone; those of the root have what the tree was
 * opened with. tree NULL: there are none. They live as long as the arena and the tree. Reset also
 * after a failure. */
frz_code frz_live_files_list(const frz_table *table, const frz_snapshot *snapshot,
                             const frz_schema *schema, frz_tree *tree, const frz_bound_expr *filter,
                             frz_arena *arena, frz_live_files *out, frz_error *err);
/* One of them with all statistics, until the next call. Leaves are read again for it, some entries
 * at a time, so that it takes little memory: ask in the order of the list. Not for changes that
 * keep statistics (frz_commit_plan_update). */
frz_code frz_live_files_whole(frz_live_files *files, const frz_entry *entry, const frz_entry **out,
                              frz_error *err);
void frz_live_files_reset(frz_live_files *files);

/* ---- the rows of one of them ---- */

/* What tells the live rows of one file. Reset also after a failure. */
typedef struct frz_live {
    const frz_env *env;
    frz_file_deletes *found; /* NULL: no row is deleted */
    bool folds;              /* delete files may be among what deletes */
    int64_t *positions;      /* of the deleted rows that were noted, ascending */
    size_t count, capacity;
} frz_live;

frz_code frz_live_open(frz_live *live, frz_delete_index *index, const frz_table *table,
                       const frz_entry *entry, frz_error *err);
void frz_live_reset(frz_live *live);
/* What a reader of the data file must be told. */
void frz_live_request(const frz_live *live, frz_stitch_request *request);
/* The projection and behind it what else must be read. */
frz_code frz_live_read_type(const frz_live *live, const frz_type *projection, frz_arena *arena,
                            const frz_type **out, frz_error *err);
/* A bit for each row that is not deleted, free with frz_free; NULL: none is. Columns of the
 * projection lose what was read only to find that out. */
frz_code frz_live_bits(const frz_live *live, const frz_type *read_type, frz_batch *batch,
                       const frz_type *projection, uint8_t **bits, frz_error *err);
/* Remember the deleted rows of a batch, if they are to be folded. */
frz_code frz_live_note(frz_live *live, const frz_batch *batch, const uint8_t *bits, frz_error *err);
/* Make rows null that are not live; NULL: all are. */
frz_code frz_live_hide(const frz_env *env, const uint8_t *bits, struct ArrowArray *array,
                       frz_error *err);
/* The remembered rows; untouched if there are none. */
frz_code frz_live_take(frz_live *live, frz_positions **out, frz_error *err);

#endif
