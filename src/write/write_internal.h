/*
 * What the files of write share among themselves.
 */
#ifndef FRZ_WRITE_INTERNAL_H
#define FRZ_WRITE_INTERNAL_H

#include "meta/meta_mumbling.h"
#include "write/write_commit.h"

/* One run of the commit loop. */
typedef struct frz_commit {
    const frz_env *env;
    frz_catalog *catalog;
    const char *text; /* the table's name as given */
    frz_table_name name;
    frz_commit_build build;
    void *build_ctx;
    int32_t upgrade_to; /* this format version, without a build; 0: an ordinary commit */
    bool creating;      /* the table does not exist yet */
    bool unsynced; /* data files were written, by this attempt or one before, that nothing synced */
    frz_written_file *files;
    size_t file_count, file_capacity;
    const frz_str
        *old_versions; /* metadata files that go after the commit; in the attempt's arena */
    size_t old_version_count;
} frz_commit;

/* How often and how fast to try again: commit.retry.*. */
typedef struct frz_retry_limits {
    int64_t retries, min_wait_ms, max_wait_ms;
} frz_retry_limits;

frz_code frz_write_retry_limits(const frz_metadata *metadata, frz_retry_limits *out,
                                frz_error *err);

/* ---- metadata files of old versions (write_old_versions.c) ---- */

/* Find those that a new document no longer names and that may go. */
frz_code frz_commit_note_old_versions(const frz_commit_attempt *attempt, const json_t *json,
                                      frz_error *err);
/* Remove them; only when the new document is the table's. */
void frz_commit_remove_old_versions(const frz_commit_attempt *attempt);

/* ---- the tree of manifests of the new version (write_tree.c) ---- */

/* The rows of a new root; in the attempt's arena. */
typedef struct frz_new_tree {
    const frz_entry **entries;
    size_t entry_count;
    const frz_manifest_file **manifests;
    size_t manifest_count;
    frz_mumbling *sets; /* of the manifests */
    size_t set_count;
    int64_t next_row_id; /* of the table, behind this version */
} frz_new_tree;

/* Apply the plan to the attempt's tree. Reset also after a failure. */
frz_code frz_new_tree_make(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                           frz_new_tree *out, frz_error *err);
void frz_new_tree_reset(frz_new_tree *tree);

/* Write the live rows of a leaf of the parent, with their changes, to a new leaf (write_leaves.c).
 * As frz_leaf_renew. */
frz_code frz_new_leaf_renew(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                            const frz_leaf_renewal *what, int64_t next_row_id,
                            frz_manifest_file *file, bool *done, frz_error *err);
/* Move the root's entries into leaves if they are too many (write_leaves.c). */
frz_code frz_new_tree_spill(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                            frz_new_tree *tree, frz_error *err);
/* write.root-manifest.max-entries */
frz_code frz_write_root_limit(const frz_metadata *metadata, int64_t *out, frz_error *err);
/* A new location for a manifest of this kind ("root", "leaf"): free with frz_free. */
frz_code frz_commit_manifest_path(const frz_commit_attempt *attempt, const char *kind, char **out,
                                  frz_error *err);

/* Where a new table goes: WAREHOUSE/namespace/table; free with frz_free. */
frz_code frz_commit_table_location(const frz_commit *commit, char **out, frz_error *err);

/* Fill in a snapshot (root_manifest is set already) with its summary, in the attempt's arena. */
frz_code frz_commit_snapshot(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                             int64_t next_row_id, frz_snapshot *snapshot, frz_error *err);

/* ---- import: fitting the schemas of files together (write_import_schema.c) ---- */

/* The schema that all files seen so far fit into. Field ids stay 0 until a file with ids comes. */
typedef struct frz_import_schema {
    frz_arena *arena;
    const frz_type *type; /* NULL: no file yet */
    const char *path;     /* of the file that type came from, for messages */
    const char *ids_path; /* of the file that the ids came from; NULL: no ids yet */
} frz_import_schema;

/* Check what a file's own schema must fulfil. Unless rewrite: either every column carries a field
 * id that a table may use (*has_ids) or none does. */
frz_code frz_import_check(const frz_env *env, const char *path, const frz_type *type, bool rewrite,
                          bool *has_ids, frz_error *err);
/* The columns that a rewrite keeps, without ids: row lineage of another table is left out. */
frz_code frz_import_strip(frz_arena *arena, const frz_type *type, const frz_type **out,
                          frz_error *err);
/* Fit one more file's schema in: same names and types at every depth in any order, ids that agree;
 * optional if optional in one. path must outlive the schema. */
frz_code frz_import_fit(frz_import_schema *schema, const char *path, const frz_type *type,
                        frz_error *err);
/* A file's own tree with the table's ids, matched by name; type must fit. Columns that the table
 * lacks keep FRZ_ID_NONE. */
frz_code frz_import_number(frz_arena *arena, const frz_type *type, const frz_type *table_type,
                           const frz_type **out, frz_error *err);

#endif
