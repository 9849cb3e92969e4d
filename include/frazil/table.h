/**
 * A table: one immutable version of its metadata.
 */
#ifndef FRAZIL_TABLE_H
#define FRAZIL_TABLE_H

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_table frz_table;

/** A folder of the locations recorded in metadata, and the place where its files really are. */
typedef struct frz_location_map {
    const char *from; /**< such as "file:///golden/" */
    const char *to;   /**< such as "/mnt/corpus/" */
} frz_location_map;

typedef struct frz_table_open_options {
    size_t struct_size;
    /** Base for relative paths if the metadata has no location; NULL: the folder above the folder
     * "metadata" that the metadata file is in. */
    const char *location;
    /** Where folders really are, also the one that is opened; the longest match wins. Spellings of
     * one place ("/p", "file:///p"; s3, s3a) count alike. */
    const frz_location_map *maps;
    size_t map_count;
} frz_table_open_options;

#define FRZ_TABLE_OPEN_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(frz_table_open_options), 0, 0, 0                                                    \
    }

/**
 * Open a table read-only, without a catalog: from one metadata file, or from the newest one of a
 * table's folder. There the file is the one that metadata/version-hint.text names or a later one of
 * its kin, else the one with the highest number.
 *
 * @param env       borrowed; must outlive the table
 * @param location  path or location of a metadata JSON file, plain, gzip or zstd, or of a
 *                  table's folder
 * @param opts      NULL means defaults
 * @param out       receives the table; free with frz_table_unref()
 * @return FRZ_OK, FRZ_E_NOT_FOUND, FRZ_E_CORRUPT, FRZ_E_UNSUPPORTED for a format version that this
 *         library does not know, FRZ_E_ARGUMENT if the newest file of a folder cannot be told
 */
FRZ_API frz_code frz_table_open(const frz_env *env, const char *location,
                                const frz_table_open_options *opts, frz_table **out,
                                frz_error *err);

/** One more owner. Safe from any thread. */
FRZ_API frz_table *frz_table_ref(frz_table *table);

/** One owner fewer; the last one frees. NULL is fine. Safe from any thread. */
FRZ_API void frz_table_unref(frz_table *table);

/** Id of the current snapshot; FRZ_E_NOT_FOUND if the table has none. */
FRZ_API frz_code frz_table_current_snapshot(const frz_table *table, int64_t *out, frz_error *err);

/**
 * Id of the snapshot that was current at a time, or that a branch or tag names.
 *
 * @param as_of  "2026-11-01T00:00:00Z", a date, or a time with another zone; without zone UTC. What
 *               was current is in the table's snapshot log. NULL: not by time.
 * @param ref    name of a branch or tag; NULL: not by name. Neither: the current snapshot
 * @return FRZ_OK; FRZ_E_NOT_FOUND if there is no such reference or snapshot; FRZ_E_ARGUMENT for
 *         both, or a text that is no time
 */
FRZ_API frz_code frz_table_find_snapshot(const frz_table *table, const char *as_of, const char *ref,
                                         int64_t *out, frz_error *err);

/** What can be listed about a table. Each is a stream of rows with a stable schema. */
typedef enum frz_table_view {
    FRZ_TABLE_VIEW_DESCRIBE,     /**< key, value: identity, location, versions, sizes, properties */
    FRZ_TABLE_VIEW_SCHEMA,       /**< fields of the current schema at every depth */
    FRZ_TABLE_VIEW_SNAPSHOTS,    /**< in the order of the metadata */
    FRZ_TABLE_VIEW_FILES,        /**< live data files of a snapshot with their column files */
    FRZ_TABLE_VIEW_MANIFESTS,    /**< the root manifest and the manifests of a snapshot */
    FRZ_TABLE_VIEW_PROPERTIES,   /**< key, value */
    FRZ_TABLE_VIEW_HISTORY,      /**< when which snapshot became the current one */
    FRZ_TABLE_VIEW_REFS,         /**< branches and tags */
    FRZ_TABLE_VIEW_STATISTICS,   /**< statistics files beside the manifests */
    FRZ_TABLE_VIEW_DELETE_FILES, /**< live delete files and deletion vectors of a snapshot */
    FRZ_TABLE_VIEW_ENTRIES,      /**< every entry of every manifest of a snapshot, live or not */
    FRZ_TABLE_VIEW_PARTITIONS    /**< sums over the live files of each partition of a snapshot */
} frz_table_view;

/**
 * List something about a table as Arrow rows; docs/formats/views.md has the columns.
 *
 * @param snapshot_id  snapshot for what lists one; 0 means the current one
 * @param out          receives a stream of record batches, which holds the table; release it
 */
FRZ_API frz_code frz_table_list(const frz_table *table, frz_table_view view, int64_t snapshot_id,
                                struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
