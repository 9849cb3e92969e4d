/*
 * What the files of maintain share among themselves.
 */
#ifndef FRZ_MAINTAIN_INTERNAL_H
#define FRZ_MAINTAIN_INTERNAL_H

#include "files/files.h"
#include "frazil/maintain.h"

/* The sum, or the highest number if it does not fit: metadata that is being checked may hold
 * anything. */
static inline int64_t frz_maintain_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return frz_add_i64(a, b, &sum) ? sum : INT64_MAX;
}

/* ---- when to compact (maintain_policy.c) ---- */

typedef struct frz_compact_policy {
    double max_deleted_ratio, max_column_ratio, small_file_ratio;
    int64_t max_per_file, min_small_files;
    int64_t target_bytes; /* of a data file */
} frz_compact_policy;

/* As the properties have it: write.compact.*, write.column-file.*. */
frz_code frz_compact_policy_of(const frz_metadata *metadata, frz_compact_policy *out,
                               frz_error *err);
/* Whether an entry's file is to be written anew: it has too many deleted rows, or too much of it is
 * in column files. */
bool frz_compact_wants_rewrite(const frz_compact_policy *policy, const frz_entry *entry);
/* Whether its column files are too many. */
bool frz_compact_wants_join(const frz_compact_policy *policy, const frz_entry *entry);
/* Whether its file is so small that it is better combined with others. */
bool frz_compact_is_small(const frz_compact_policy *policy, const frz_entry *entry);

/* ---- small files (maintain_combine.c) ---- */

#define FRZ_NO_BIN SIZE_MAX

typedef struct frz_small_file {
    const frz_entry *entry;
    size_t place; /* in the table */
    size_t bin;   /* those of one number become one file, or few; FRZ_NO_BIN: it stays */
} frz_small_file;

/* Sort small files by what goes together, and number the bins; returns how many there are. */
size_t frz_compact_bin(const frz_compact_policy *policy, frz_small_file *files, size_t count);
/* Plan that new files take the place of entries. */
frz_code frz_compact_plan_combined(const frz_commit_attempt *attempt,
                                   const frz_entry *const *entries, size_t count,
                                   const frz_row_file *files, size_t file_count,
                                   const frz_metrics_config *metrics, frz_commit_plan *plan,
                                   frz_error *err);

/* ---- keys (maintain_key.c): short names of things seen before ---- */

/* A 128-bit hash: what has the same key is taken for the same thing. */
typedef struct frz_key {
    uint64_t a, b;
} frz_key;

frz_key frz_key_of(const char *kind);
void frz_key_bytes(frz_key *key, const void *bytes, size_t len);
void frz_key_i64(frz_key *key, int64_t value);
void frz_key_str(frz_key *key, frz_str s); /* with its length */
static inline bool frz_key_equal(frz_key a, frz_key b)
{
    return a.a == b.a && a.b == b.b;
}

/* From keys to numbers. */
typedef struct frz_key_map {
    const frz_env *env;
    struct frz_key_slot *slots;
    size_t count, capacity;
} frz_key_map;

void frz_key_map_init(frz_key_map *map, const frz_env *env);
void frz_key_map_reset(frz_key_map *map);
/* The value of a key; false if it is not there. value may be NULL. */
bool frz_key_map_get(const frz_key_map *map, frz_key key, size_t *value);
/* Set the value of a key; *added tells whether it is new and may be NULL. */
frz_code frz_key_map_put(frz_key_map *map, frz_key key, size_t value, bool *added, frz_error *err);

/* ---- validation ---- */

/* Row ids of live rows of one base file as ascending runs; in file order they need not ascend. */
typedef struct frz_row_runs {
    frz_row_range *runs;
    size_t count, capacity;
} frz_row_runs;

typedef struct frz_validation {
    const frz_env *env;
    const frz_table *table;
    frz_finding_fn visit;
    void *ctx;
    int64_t findings;
    frz_key_map done;    /* checks that need not be made again */
    frz_key_map runs_of; /* base file with its vector -> index into runs */
    frz_row_runs *runs;
    size_t run_count, run_capacity;
} frz_validation;

/* One entry of the root manifest that is being checked. */
typedef struct frz_validate_item {
    const frz_entry *entry;
    char *location;  /* resolved; in the snapshot's arena */
    frz_key where;   /* of the location */
    frz_key content; /* of what EXISTING keeps */
    bool is_dropped; /* with its manifest, perhaps before the parent */
} frz_validate_item;

/* The manifests of one snapshot while they are checked. */
typedef struct frz_validate_root {
    const frz_snapshot *snapshot;
    const frz_schema *schema;
    frz_tree *tree;
    frz_delete_index *deletes; /* NULL: there are no delete files */
    frz_arena arena;
    frz_validate_item *items; /* data entries, with the status that they have in this snapshot */
    size_t count, capacity;
    bool is_tracked; /* by a root manifest: the rules of version 4 hold */
} frz_validate_root;

/* Tell one finding. */
void frz_validate_find(frz_validation *v, const char *location, const char *fmt, ...)
    FRZ_PRINTF(3, 4);
/* A failure while looking at a file is a finding, unless the check itself cannot go on: then its
 * code is returned. */
frz_code frz_validate_failure(frz_validation *v, const char *location, frz_code rc, frz_error *err);

/* maintain_validate_root.c */
/* Read all manifests of a snapshot. Reset also after a failure. */
frz_code frz_validate_root_open(frz_validation *v, const frz_snapshot *snapshot,
                                const frz_schema *schema, frz_validate_root *out, frz_error *err);
void frz_validate_root_reset(frz_validation *v, frz_validate_root *root);
/* Statuses, numbers and pairs of the entries, and that nothing came or went unsaid since the
 * parent (NULL: there is none, or it is not retained). */
frz_code frz_validate_tracking(frz_validation *v, const frz_validate_root *root,
                               const frz_validate_root *parent, frz_error *err);

/* maintain_validate_file.c: the files of one live entry, and what is in them. */
frz_code frz_validate_files(frz_validation *v, const frz_validate_root *root,
                            const frz_validate_item *item, frz_error *err);

/* Add what is compared of recorded statistics to a key. */
void frz_validate_stats_key(frz_key *key, const frz_field_stats *stats);

/* maintain_validate_values.c: files[part] is NULL where a file could not be opened. */
frz_code frz_validate_values(frz_validation *v, const frz_validate_root *root,
                             const frz_validate_item *item, frz_data_file *const *files,
                             frz_error *err);
/* Row ids of all live entries of a root are unique and were given out. */
frz_code frz_validate_row_ids(frz_validation *v, const frz_validate_root *root, frz_error *err);

#endif
