/*
 * meta: what the readers of trees share.
 */
#ifndef FRZ_META_TREE_INTERNAL_H
#define FRZ_META_TREE_INTERNAL_H

#include "meta/meta_mumbling.h"
#include "meta/meta_tracked.h"

struct frz_tree {
    const frz_env *env;
    const frz_table *table;
    const frz_schema *schema;
    frz_arena arena; /* texts, lists, statistics and what follows */
    char *location;
    bool has_root;
    meta_entry_rules rules;
    frz_manifest_file *manifests;
    size_t manifest_count, manifest_capacity;
    frz_entry *entries; /* of the root itself */
    size_t entry_count, entry_capacity;
    frz_mumbling **sets; /* of the manifests */
    size_t set_count, set_capacity;
};

frz_code meta_tree_add_manifest(frz_tree *tree, const frz_manifest_file *file, frz_error *err);

/* ---- the entries of one manifest ---- */

/* An entry that is wanted, before it is read as a whole. */
typedef struct meta_kept {
    int64_t position;
    int64_t first_row_id; /* inherited */
    bool is_masked;
} meta_kept;

typedef struct meta_legacy meta_legacy;

struct frz_entry_reader {
    const frz_tree *tree;
    size_t manifest; /* of the tree */
    const frz_manifest_file *file;
    frz_entry_request request;
    char *location;
    frz_arena arena; /* of the reader's own lists */
    meta_parent parent;
    int64_t position; /* of the next row */
    int64_t live_count;
    frz_data_reader *rows;
    meta_legacy *legacy;  /* versions 1 to 3; NULL: v4 */
    meta_tracked tracked; /* v4 */
    frz_field_stats *lent_stats;
    frz_partition_value *lent_partition;
    meta_kept *kept;
    size_t kept_count, kept_capacity;
};

/* Rows of a part. */
#define META_PART_ROWS 8192

/* Take the next row: inherit the row id and tell whether the manifest's dv masks it. *seen is false
 * for rows that the request does not ask for. */
frz_code meta_reader_take(frz_entry_reader *reader, frz_entry *entry, bool *seen, frz_error *err);
/* Does the request want it? Partition and statistics are there. */
static inline bool meta_reader_keeps(const frz_entry_reader *reader, const frz_entry *entry)
{
    return reader->request.keep == NULL || reader->request.keep(reader->request.keep_ctx, entry);
}

/* v4 (meta_leaf.c) */
frz_code meta_leaf_open(frz_entry_reader *reader, frz_error *err);
frz_code meta_leaf_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                        size_t *count, frz_error *err);
void meta_leaf_close(frz_entry_reader *reader);

/* versions 1 to 3 (meta_legacy.c) */
frz_code meta_legacy_open(frz_entry_reader *reader, frz_error *err);
frz_code meta_legacy_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                          size_t *count, frz_error *err);
void meta_legacy_close(frz_entry_reader *reader);

/* ---- lists of manifests (meta_list_file.c) ---- */

frz_code meta_list_read(frz_tree *tree, const frz_snapshot *snapshot, frz_error *err);
frz_code meta_inline_read(frz_tree *tree, const frz_snapshot *snapshot, frz_error *err);

#endif
