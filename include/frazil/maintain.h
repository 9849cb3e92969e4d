/**
 * Maintenance: compaction, expiry, removal of orphans, upgrades and validation.
 */
#ifndef FRAZIL_MAINTAIN_H
#define FRAZIL_MAINTAIN_H

#include "frazil/catalog.h"
#include "frazil/commit.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fold column files back into new data files: frz_compact_by() with FRZ_COMPACT_REWRITE.
 *
 * @param report  receives figures; may be NULL
 */
FRZ_API frz_code frz_compact(frz_catalog *catalog, const char *table, frz_commit_report *report,
                             frz_error *err);

/** What becomes of a data file with column files. */
typedef enum frz_compact_mode {
    FRZ_COMPACT_REWRITE, /**< each becomes one new data file, without its deleted rows */
    FRZ_COMPACT_COLUMNS, /**< its column files, if it has several, become one; the rest stays */
    FRZ_COMPACT_POLICY   /**< what the table's properties say, file by file */
} frz_compact_mode;

typedef struct frz_compact_options {
    size_t struct_size;
    frz_compact_mode mode;
    int dry_run; /**< only tell what would be read and written */
} frz_compact_options;

#define FRZ_COMPACT_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(frz_compact_options), FRZ_COMPACT_REWRITE, 0                                        \
    }

/** What a compaction works on. */
typedef struct frz_compact_figures {
    int64_t rewritten;  /**< data files that become new ones */
    int64_t joined;     /**< data files whose column files become one */
    int64_t combined;   /**< small data files that become fewer */
    int64_t read_bytes; /**< of the files that are read; what is written is at most about as much */
} frz_compact_figures;

/**
 * Compact a table. Encoded column chunks that did not change are copied byte for byte; values,
 * _row_id and _last_updated_sequence_number survive, and no row counts as changed.
 *
 * The properties that FRZ_COMPACT_POLICY goes by: data files with less than
 * write.compact.small-file-ratio (0.25) of write.target-file-size-bytes are combined if at least
 * write.compact.min-small-files (5) of one partition are there; another is rewritten if its
 * deletion vector leaves out more than write.compact.max-deleted-ratio (0.3) of its rows, or its
 * column files have more than write.column-file.max-ratio (0.5) of its own bytes; else its column
 * files are joined if they are more than write.column-file.max-per-file (8).
 *
 * @param opts     NULL: the defaults
 * @param report   receives figures of the commit; may be NULL
 * @param figures  receives what was compacted, or with dry_run would be; may be NULL
 */
FRZ_API frz_code frz_compact_by(frz_catalog *catalog, const char *table,
                                const frz_compact_options *opts, frz_commit_report *report,
                                frz_compact_figures *figures, frz_error *err);

/** What leaves a table, or its folder. */
typedef enum frz_removed {
    FRZ_REMOVED_SNAPSHOT,
    FRZ_REMOVED_REFERENCE, /**< a branch or tag */
    FRZ_REMOVED_DATA_FILE,
    FRZ_REMOVED_COLUMN_FILE,
    FRZ_REMOVED_VECTOR_FILE, /**< a Puffin file of deletion vectors */
    FRZ_REMOVED_DELETE_FILE, /**< position or equality deletes of versions 2 and 3 */
    FRZ_REMOVED_MANIFEST,
    FRZ_REMOVED_SNAPSHOT_ROOT, /**< a root manifest or a manifest list */
    FRZ_REMOVED_STATISTICS,    /**< a file of table or partition statistics */
    FRZ_REMOVED_ORPHAN,        /**< a file that nothing refers to */
    FRZ_REMOVED_KINDS
} frz_removed;

/** "data file", "column file", … */
FRZ_API const char *frz_removed_name(frz_removed kind);

/**
 * Called for each thing that went, or with dry_run would go: the id of a snapshot, the name of a
 * reference, the location of a file and its size.
 */
typedef void (*frz_removed_fn)(void *ctx, frz_removed kind, const char *name, int64_t bytes);

/** What was removed, or with dry_run would be. */
typedef struct frz_removal_report {
    int64_t count[FRZ_REMOVED_KINDS];
    int64_t bytes;      /**< of the files */
    int64_t failed;     /**< files that could not be removed and stay; nothing refers to them */
    int64_t unreadable; /**< expired snapshots whose manifests are missing or broken, so that their
                             files stay */
} frz_removal_report;

typedef struct frz_expire_options {
    size_t struct_size;
    const char *older_than; /**< snapshots from before this time may go: "7d" (s, m, h, d or w
                               before now) or "2026-11-01T00:00:00Z"; NULL: as the property
                                 history.expire.max-snapshot-age-ms says (5 days) */
    int64_t retain_last;    /**< so many snapshots of each branch stay in any case; 0: as the
                                 property history.expire.min-snapshots-to-keep says (1) */
    int dry_run;            /**< only tell what would go */
    frz_removed_fn visit;   /**< may be NULL */
    void *ctx;
} frz_expire_options;

#define FRZ_EXPIRE_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(frz_expire_options), NULL, 0, 0, NULL, NULL                                         \
    }

/**
 * Take old snapshots out of a table and remove the files that no other snapshot reaches, by
 * Iceberg's rules: what a branch or tag says of itself (min-snapshots-to-keep, max-snapshot-age-ms,
 * max-ref-age-ms) goes before options and properties. The current snapshot always stays.
 *
 * Files are removed only after the commit: if it fails, or if its outcome is unknown, none is. A
 * failure behind the commit leaves files that frz_remove_orphans finds.
 *
 * @param opts    NULL: the defaults
 * @param report  receives figures; may be NULL
 * @return FRZ_OK, also if nothing was to be done; FRZ_E_ARGUMENT if the property gc.enabled is
 * false
 */
FRZ_API frz_code frz_expire(frz_catalog *catalog, const char *table, const frz_expire_options *opts,
                            frz_removal_report *report, frz_error *err);

/** Younger files may belong to a commit that is under way. */
#define FRZ_ORPHAN_SAFE_HOURS 24

typedef struct frz_orphan_options {
    size_t struct_size;
    const char *older_than; /**< only files last changed before this time, as in frz_expire_options;
                                 NULL: 3 days ago */
    int force;              /**< also of the last FRZ_ORPHAN_SAFE_HOURS; only right if nobody writes
                                 to the table */
    int dry_run;            /**< only tell what would go */
    frz_removed_fn visit;   /**< may be NULL */
    void *ctx;
} frz_orphan_options;

#define FRZ_ORPHAN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(frz_orphan_options), NULL, 0, 0, NULL, NULL                                         \
    }

/**
 * Remove the files in a table's folder that no snapshot of its newest version reaches: what failed
 * commits left, results of tasks that nobody committed, metadata files of forgotten versions.
 * Stay: files of other tables in folders below, files of kinds that no table has, and all that lies
 * in folders or has names that begin with a dot or an underscore.
 *
 * @param opts    NULL: the defaults
 * @param report  receives figures; may be NULL
 * @return FRZ_OK; FRZ_E_ARGUMENT for a limit that is not safe, unless forced; FRZ_E_UNSUPPORTED for
 * a storage that cannot list its files
 */
FRZ_API frz_code frz_remove_orphans(frz_catalog *catalog, const char *table,
                                    const frz_orphan_options *opts, frz_removal_report *report,
                                    frz_error *err);

/**
 * Make a table one of a newer format version. Only a metadata file is written: data, deletes and
 * manifests stay as they are, and old snapshots stay readable. There is no way back.
 *
 * @param format_version  2, 3 or 4; the table's own is not an error, and nothing is committed
 * @param report          receives figures; may be NULL
 * @return FRZ_OK; FRZ_E_ARGUMENT for a version below the table's or above 4; FRZ_E_UNSUPPORTED for
 * a table that records relative paths, which mean something else in version 4
 */
FRZ_API frz_code frz_upgrade(frz_catalog *catalog, const char *table, int format_version,
                             frz_commit_report *report, frz_error *err);

/** Called once per finding with the file concerned and one line of text. */
typedef void (*frz_finding_fn)(void *ctx, const char *location, const char *text);

/**
 * Prove from the files themselves that a table is sound: every referenced file exists with its
 * recorded size, column files have their base's row count, each field id has one provider,
 * statistics contain the values, lineage and sequence numbers are possible. All retained snapshots
 * are checked.
 *
 * @param visit     called for each finding; may be NULL
 * @param findings  receives the number of findings
 * @return FRZ_OK if the check ran, whatever it found
 */
FRZ_API frz_code frz_validate(frz_table *table, frz_finding_fn visit, void *ctx, int64_t *findings,
                              frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
