/*
 * write: the commit loop. Files are written under unique names and made durable, the catalog's
 * pointer is swapped, a lost race is tried again on the newest version with back-off.
 */
#ifndef FRZ_WRITE_COMMIT_H
#define FRZ_WRITE_COMMIT_H

#include "catalog/catalog_store.h"
#include "frazil/commit.h"
#include "meta/meta_tree.h"

/* Above so many files one sync of the whole file system is cheaper than one for each. */
#define FRZ_SYNC_EACH_MAX 64

/* Files that a commit has written. Those that a failed commit left are removed, unless the outcome
 * is unknown. */
typedef struct frz_written_file {
    char *location;
    int64_t bytes;
    bool is_data; /* else metadata */
    bool in_use;  /* part of the version that was committed */
    bool adopted; /* a task wrote it before: never removed */
} frz_written_file;

/* One attempt, as the builder sees it. */
typedef struct frz_commit_attempt {
    const frz_env *env;
    const frz_table *table;     /* the newest version */
    const frz_snapshot *parent; /* NULL: the table is empty */
    frz_tree *tree;             /* the parent's, with all statistics; NULL if there is none */
    const frz_schema *schema;   /* the current one */
    int64_t snapshot_id;
    int64_t sequence_number;
    int64_t first_row_id; /* of the snapshot */
    int64_t next_row_id;  /* the first one for new files */
    int64_t number;       /* 1 for the first attempt */
    bool durable;         /* write.durability */
    frz_arena *arena;     /* lives until the attempt is over */
    struct frz_commit *commit;
} frz_commit_attempt;

/* One change to the data files of the parent. */
typedef struct frz_entry_change {
    const frz_entry *before; /* a live entry, as read through attempt->tree; NULL: none */
    frz_entry *after;        /* ADDED, or MODIFIED in place of before; NULL: before is removed */
    bool is_partial;         /* after has the statistics of these fields alone, before has none that
                                count: of other fields those in before's manifest hold */
    const int32_t *stats_ids; /* ascending; in the arena */
    size_t stats_id_count;
    bool is_placed; /* the new state is a row of a leaf already (write_tree.c) */
} frz_entry_change;

/* The file itself stays, in another state. */
static inline bool frz_change_stays(const frz_entry_change *change)
{
    return change->before != NULL && change->after != NULL &&
           change->after->status != FRZ_STATUS_ADDED;
}

/* What the builder wants committed. Zeroed before the builder runs. Files that it does not speak of
 * stay as they are. */
typedef struct frz_commit_plan {
    bool nothing;              /* no commit is needed */
    const char *operation;     /* "append", "overwrite", "replace"; NULL: no snapshot, only
                                  schema or properties change */
    frz_entry_change *changes; /* in the arena */
    size_t change_count, change_capacity;
    const frz_property_kv *summary; /* beyond what is counted from the entries */
    size_t summary_count;
    const frz_schema *schema; /* new current schema */
    int32_t last_column_id;   /* with schema */
    const frz_property_kv *set_properties;
    size_t set_property_count;
    const frz_str *unset_keys; /* of properties; before others are set */
    size_t unset_key_count;
    bool unpartitioned_spec; /* the table needs one, for entries without a spec */
    frz_expired expired;     /* without an operation */
    int64_t rows;            /* for the report */
    int64_t data_files;
    int64_t live_data_bytes;
} frz_commit_plan;

/* Makes a plan for the newest version; called once per attempt, so it must cope with whatever
 * others committed since. May write files (frz_commit_track). FRZ_E_CONFLICT makes the loop give
 * up with that error. */
typedef frz_code (*frz_commit_build)(void *ctx, const frz_commit_attempt *attempt,
                                     frz_commit_plan *plan, frz_error *err);

/* Run the loop on an existing table. report may be NULL. */
frz_code frz_commit_run(frz_catalog *catalog, const char *table_name, frz_commit_build build,
                        void *ctx, frz_commit_report *report, frz_error *err);
/* Run it to make a table one of a newer format version; nothing but the metadata file is written.
 * FRZ_E_ARGUMENT for an older version than the table's; its own version is no commit. */
frz_code frz_commit_upgrade(frz_catalog *catalog, const char *table_name, int32_t format_version,
                            frz_commit_report *report, frz_error *err);
/* Create a table with a first snapshot. The location is chosen below the catalog's warehouse. */
frz_code frz_commit_create(frz_catalog *catalog, const char *table_name,
                           const frz_new_table *new_table, frz_commit_build build, void *ctx,
                           frz_commit_report *report, frz_error *err);

/* Remember a file that the builder wrote; location is copied. A file tracked by an earlier attempt
 * may be used again by a later one. */
frz_code frz_commit_track(const frz_commit_attempt *attempt, const char *location, int64_t bytes,
                          bool is_data, frz_error *err);
/* Remove a file that no attempt will use. */
void frz_commit_drop(const frz_commit_attempt *attempt, const char *location);
/* Remember a data file that a task wrote and made durable: it counts, but is not removed. */
frz_code frz_commit_adopt(const frz_commit_attempt *attempt, const char *location, int64_t bytes,
                          frz_error *err);
/* FRZ_E_UNSUPPORTED: tables of older format versions are read only. name: for the message. */
frz_code frz_commit_check_table(const frz_table *table, const char *name, frz_error *err);
/* Write data files for a commit that others make. The attempt that work is called with has the
 * table, its schema and no tree. Afterwards the files are durable, by write.durability, or, if the
 * work failed, removed. */
typedef frz_code (*frz_commit_work)(void *ctx, const frz_commit_attempt *attempt, frz_error *err);
frz_code frz_commit_apart(const frz_table *table, frz_commit_work work, void *ctx, frz_error *err);
/* Whether each of so many new data files is to be synced on its own; if not, the loop makes all
 * durable at once. */
bool frz_commit_sync_each(const frz_commit_attempt *attempt, size_t files);
/* A new unique data location, a UUID and the ending, such as "-deletes.puffin": free with frz_free.
 */
frz_code frz_commit_new_path(const frz_commit_attempt *attempt, const char *ending, char **out,
                             frz_error *err);

/* ---- isolation (write_isolation.c) ---- */

typedef enum frz_isolation { FRZ_ISOLATION_SERIALIZABLE, FRZ_ISOLATION_SNAPSHOT } frz_isolation;

/* write.OPERATION.isolation-level of "update", "delete" or "merge". */
frz_code frz_write_isolation(const frz_metadata *metadata, const char *operation,
                             frz_isolation *out, frz_error *err);

/* What an operation sees over its attempts. */
typedef struct frz_commit_scope {
    frz_isolation isolation;
    int64_t base; /* sequence number of the version that it began with */
} frz_commit_scope;

#define FRZ_COMMIT_SCOPE_INIT                                                                      \
    {                                                                                              \
        FRZ_ISOLATION_SERIALIZABLE, FRZ_NO_VALUE                                                   \
    }

/* At the start of each attempt. */
frz_code frz_commit_scope_enter(frz_commit_scope *scope, const frz_commit_attempt *attempt,
                                const char *operation, frz_error *err);
/* True if the operation leaves a data file alone, because its rows came later. */
bool frz_commit_leaves(const frz_commit_attempt *attempt, const frz_commit_scope *scope,
                       const frz_entry *entry);

/* ---- deletion vectors (write_vectors.c) ---- */

typedef struct frz_positions frz_positions;

/* Those of one attempt, in one Puffin file that is made with the first. */
typedef struct frz_commit_vectors {
    const frz_commit_attempt *attempt;
    struct frz_vector_writer *writer; /* NULL: none so far */
    char *location;
    frz_str recorded; /* in the attempt's arena */
} frz_commit_vectors;

void frz_commit_vectors_init(frz_commit_vectors *vectors, const frz_commit_attempt *attempt);
/* Write the deleted rows of an entry's data file, and note in the entry where. */
frz_code frz_commit_vectors_add(frz_commit_vectors *vectors, const frz_positions *set,
                                frz_entry *entry, frz_error *err);
/* Finish and track the file, if there is one. */
frz_code frz_commit_vectors_finish(frz_commit_vectors *vectors, bool sync, frz_error *err);
/* After success and failure; a file that is not finished is removed. */
void frz_commit_vectors_reset(frz_commit_vectors *vectors);

/* Plan a change. The entries are copied, what they point to must live as long as the attempt
 * (frz_entry_copy). before NULL: a new file; after NULL: before is removed. A new file that
 * replaces another takes its place in the order of rows if it can. */
frz_code frz_commit_plan_change(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                                const frz_entry *before, const frz_entry *after, frz_error *err);
/* The same for a file that stays, of which only some fields have other statistics (ids ascend):
 * after has those of these fields; of none (count 0), whatever it has. So entries of leaves need
 * not be read with all statistics. */
frz_code frz_commit_plan_update(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                                const frz_entry *before, const frz_entry *after,
                                const int32_t *stats_ids, size_t count, frz_error *err);
/* spec: field values per status. MODIFIED, for a change of column files. */
frz_entry frz_entry_column_update(const frz_entry *source, const frz_commit_attempt *attempt);
/* MODIFIED, for a change of the deletion vector alone. */
frz_entry frz_entry_row_delete(const frz_entry *source, const frz_commit_attempt *attempt);
/* ADDED with explicit numbers; first_row_id is given when the plan is written. The caller fills in
 * location, format, counts, stats. */
frz_entry frz_entry_added(const frz_commit_attempt *attempt);

/* write.durability: true for "full" (default), false for "none"; else FRZ_E_ARGUMENT. */
frz_code frz_write_durable(const frz_metadata *metadata, bool *out, frz_error *err);
/* The Parquet options that table properties ask for (write.parquet.*). */
struct frz_parquet_write_options;
frz_code frz_write_parquet_options(const frz_metadata *metadata,
                                   struct frz_parquet_write_options *out, frz_error *err);
/* write.target-file-size-bytes: a new data file that has so many is ended. */
frz_code frz_write_target_bytes(const frz_metadata *metadata, int64_t *out, frz_error *err);

/* How a statement puts its changes into data files. */
typedef enum frz_write_mode {
    FRZ_MODE_AUTO,
    FRZ_MODE_COLUMN_FILE,
    FRZ_MODE_COPY_ON_WRITE,
    FRZ_MODE_MERGE_ON_READ
} frz_write_mode;

/* write.STATEMENT.mode, of "update", "delete" or "merge". */
frz_code frz_write_mode_of(const frz_metadata *metadata, const char *statement, frz_write_mode *out,
                           frz_error *err);
const char *frz_write_mode_name(frz_write_mode mode);
/* False if there is none of this name, whatever its case. */
bool frz_write_mode_find(frz_str name, frz_write_mode *out);
/* write.auto.reads-per-write: how often a table is read between two statements that change it. */
frz_code frz_write_reads(const frz_metadata *metadata, int64_t *out, frz_error *err);

/* FRZ_E_ARGUMENT for a property that is not the user's to set. */
frz_code frz_write_check_key(frz_str key, frz_error *err);
/* All properties that a commit reads: with a value among them that cannot be used no commit would
 * get through any more, not even one that sets it right. */
frz_code frz_write_check_properties(const frz_metadata *metadata, frz_error *err);

#endif
