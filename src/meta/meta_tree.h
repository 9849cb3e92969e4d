/*
 * meta: the manifests of one snapshot, whatever its version: a root manifest (format v4), a
 * manifest list (v1 to v3, and v4 by some writers) or the list inside the metadata (v1). Entries
 * of every manifest come out alike, with everything inherited filled in.
 * spec: snapshots, manifest lists, manifests, root manifest, leaf manifest
 */
#ifndef FRZ_META_TREE_H
#define FRZ_META_TREE_H

#include "meta/meta_manifest.h"

/* A set of entry positions of one manifest (meta_mumbling.h). */
typedef struct frz_mumbling frz_mumbling;

/* What a manifest list says about one partition field of a manifest. spec: field_summary */
typedef struct frz_partition_summary {
    bool contains_null;
    int8_t contains_nan;              /* 1, 0; -1: unknown */
    frz_str lower_bound, upper_bound; /* single values in binary form, of the transform's result
                                         type; ptr NULL: none */
} frz_partition_summary;

/* One manifest of a snapshot, as its root manifest or list describes it. */
struct frz_manifest_file {
    frz_content content; /* DATA_MANIFEST or DELETE_MANIFEST */
    frz_status status;   /* of a list: ADDED by the list's snapshot, else EXISTING */
    frz_str location;    /* as recorded */
    frz_str file_format; /* ptr NULL: not recorded */
    int64_t length;      /* FRZ_NO_VALUE: not recorded */
    int32_t spec_id;     /* of every entry; -1: entries say themselves, or not recorded */
    bool legacy;         /* entries are laid out as in versions 1 to 3 */
    int64_t snapshot_id; /* that added it; FRZ_NO_VALUE: not recorded (v1 without a list) */
    int64_t modified_snapshot_id; /* FRZ_NO_VALUE: null */
    int64_t sequence_number;      /* 0 of version 1 */
    int64_t min_sequence_number;
    int64_t first_row_id; /* FRZ_NO_VALUE: null */
    int64_t entry_count;  /* FRZ_NO_VALUE: not recorded */
    int64_t files[5]; /* entries by frz_status when it was written; FRZ_NO_VALUE: not recorded */
    int64_t rows[5];  /* their rows */
    const frz_partition_summary *partitions; /* by the fields of the spec, in their order */
    size_t partition_count;                  /* 0: not recorded */
    const frz_mumbling *dv; /* positions of entries that are not live; NULL: none */
    const frz_mumbling *deleted_positions, *replaced_positions; /* by this snapshot; NULL: none */
    const frz_field_stats *stats; /* of all its entries; those asked for */
    size_t stats_count;
    int64_t position;     /* ordinal number in the root or list */
    frz_str key_metadata; /* ptr NULL: none */
};

/* Which statistics are decoded. */
typedef struct frz_stats_choice {
    bool all;
    const int32_t *field_ids; /* unless all */
    size_t field_count;
} frz_stats_choice;

/* Immutable; may serve several readers on several threads at once. */
typedef struct frz_tree frz_tree;

/* Read the root manifest or the manifest list of a snapshot. table and schema (the one that is
 * read: types and ids of statistics) must outlive the tree. Broken rules are FRZ_E_CORRUPT naming
 * file, entry and rule. */
frz_code frz_tree_open(const frz_table *table, const frz_snapshot *snapshot,
                       const frz_schema *schema, const frz_stats_choice *stats, frz_tree **out,
                       frz_error *err);
void frz_tree_free(frz_tree *tree); /* NULL is fine */
/* Of the root manifest or manifest list, for messages; of version 1 without one: of the metadata.
 */
const char *frz_tree_location(const frz_tree *tree);
/* True if entries are subject to the rules of version 4: a location has one live entry at most. */
bool frz_tree_has_root(const frz_tree *tree);

/* Manifests in the order of the file, live and others. Memory belongs to the tree. */
size_t frz_tree_manifest_count(const frz_tree *tree);
const frz_manifest_file *frz_tree_manifest(const frz_tree *tree, size_t i);
/* Data entries in the root manifest itself, in its order, live and others. */
size_t frz_tree_entry_count(const frz_tree *tree);
const frz_entry *frz_tree_entry(const frz_tree *tree, size_t i);
/* False only if no entry of the manifest is live. */
bool frz_manifest_is_live(const frz_manifest_file *file);
/* Entries of a manifest that are live, as far as its counts tell; FRZ_NO_VALUE: they do not. */
int64_t frz_manifest_live_files(const frz_manifest_file *file);
/* The rules of deleted_positions and replaced_positions, which only readers of changes need. */
frz_code frz_manifest_file_check_changes(const frz_manifest_file *file, frz_error *err);

/* Make the tree the base of a new root manifest: manifests of data files that have no row ids yet
 * get them from *next_row_id on, before any entry is read; and what an old list did not record of
 * a manifest (length, format, counts) is looked up. spec: first v4 commit on an upgraded table */
frz_code frz_tree_settle(frz_tree *tree, int64_t *next_row_id, frz_error *err);

/* ---- a leaf anew (meta_leaf_renew.c) ---- */

/* The new state of an entry. */
typedef struct frz_leaf_change {
    int64_t position;
    const frz_entry *after;   /* with the statistics of these fields; of others the old ones hold */
    const int32_t *stats_ids; /* ascending */
    size_t stats_id_count;
} frz_leaf_change;

typedef struct frz_leaf_renewal {
    const frz_tree *tree;
    size_t manifest;                /* of the tree, in version 4 */
    const frz_leaf_change *changes; /* of live entries, positions ascend */
    size_t count;
    const frz_mumbling *gone; /* positions that have no row in the new leaf; NULL: only dead ones */
} frz_leaf_renewal;

/* Write the live rows of a leaf to another place, some in a new state, the others EXISTING, and say
 * what a root says of it (frz_manifest_describe); its statistics lie in the arena. At least one row
 * must be left. *done is false, and no file is left, if what stays cannot be copied: then entries
 * are to be read and written again. */
frz_code frz_leaf_renew(const frz_leaf_renewal *what, const char *location,
                        const frz_schema *schema, bool durable, frz_arena *arena,
                        frz_manifest_file *out, bool *done, frz_error *err);

/* ---- the entries of one manifest ---- */

typedef struct frz_entry_request {
    frz_stats_choice stats;
    bool all_entries; /* also those that are not live: by status, or by the manifest's dv */
    /* Says of an entry whether it is wanted, before most of it is read; NULL: all are. Filled in
     * are tracking, content, record_count, spec_id, partition and statistics; memory is lent for
     * the call. */
    bool (*keep)(void *ctx, const frz_entry *entry);
    void *keep_ctx;
} frz_entry_request;

typedef struct frz_entry_reader frz_entry_reader;

/* Open manifest i. Different readers of one tree may run on different threads. */
frz_code frz_entry_reader_open(const frz_tree *tree, size_t i, const frz_entry_request *request,
                               frz_entry_reader **out, frz_error *err);
/* The wanted entries of the next part of the manifest, in its order; maybe none of a part. They
 * live in the arena. FRZ_END behind the last part. */
frz_code frz_entry_reader_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                               size_t *count, frz_error *err);
/* Entries seen so far that are live, wanted or not. */
int64_t frz_entry_reader_live_count(const frz_entry_reader *reader);
void frz_entry_reader_close(frz_entry_reader *reader); /* NULL is fine */

#endif
