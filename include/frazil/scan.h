/**
 * Scans: reading the rows of one snapshot.
 *
 * Source: iceberg-v4 column files: each field is read from the one file that lists it, else from
 * the base file, and parts are combined by row position.
 */
#ifndef FRAZIL_SCAN_H
#define FRAZIL_SCAN_H

#include "frazil/arrow.h"
#include "frazil/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_scan frz_scan;

typedef struct frz_scan_options {
    size_t struct_size;
    const char *const *columns; /**< column names in the order wanted; NULL: all */
    size_t column_count;
    const char *where;   /**< SQL expression; NULL: all rows */
    int64_t snapshot_id; /**< 0: the current snapshot */
    int64_t batch_rows;  /**< most rows of a batch; 0: up to 65 536 */
    int64_t batch_bytes; /**< about the most bytes of a batch; 0: 16 MiB */
    int with_lineage;    /**< add _row_id and _last_updated_sequence_number at the end */
    int64_t limit;       /**< stop after so many rows; negative: all */
    const char *as_of;   /**< the snapshot that was current then: "2026-11-01T00:00:00Z"; NULL: not
                            by time */
    const char *ref;     /**< the snapshot of a branch or tag; NULL: not by name. At most one of
                            snapshot_id, as_of and ref. Snapshots chosen by id, time or tag are read
                            with their own schema, branches with the table's */
    int ignore_case; /**< a name that differs from several columns' only in case is an error, even
                        if one of them is exactly it */
} frz_scan_options;

#define FRZ_SCAN_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(frz_scan_options), 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0                                 \
    }

/** What a scan did so far. Later versions append members. */
typedef struct frz_scan_report {
    int64_t files;         /**< data files of the snapshot, as far as the plan has come */
    int64_t files_skipped; /**< proven by partitions and statistics to hold no matching row */
    int64_t base_files_opened;
    int64_t column_files_opened;
    int64_t rows_read; /**< before the filter */
    int64_t rows_returned;
    int64_t rows_skipped;         /**< in files that were opened, proven not to match */
    int64_t groups;               /**< row groups of these files that the filter was held against;
                                       column files have their own */
    int64_t groups_by_statistics; /**< of these, skipped by their statistics */
    int64_t groups_by_dictionary; /**< skipped because no value is in their dictionaries */
    int64_t groups_by_bloom;      /**< skipped by their bloom filters */
    int64_t pages_by_index;       /**< pages of the filter's columns, skipped by the page index */
    int64_t delete_files;         /**< delete files and deletion vectors that were read */
    int64_t rows_deleted;         /**< of the rows read, deleted */
} frz_scan_report;

/**
 * Plan and open a read of one snapshot. A table without a snapshot has no rows.
 *
 * The table is kept alive by the scan. Rows arrive in file order; deleted rows are removed and
 * column files are stitched in before a batch is returned.
 *
 * @param opts  NULL reads everything from the current snapshot
 * @param out   receives the scan; free with frz_scan_close(). Untouched on error.
 *
 * One scan is used by one thread at a time; different scans of one table may run in parallel.
 */
FRZ_API frz_code frz_scan_open(frz_table *table, const frz_scan_options *opts, frz_scan **out,
                               frz_error *err);

/** The schema of all batches, a struct. The caller releases it. */
FRZ_API frz_code frz_scan_schema(const frz_scan *scan, struct ArrowSchema *out, frz_error *err);

/**
 * The next batch, a struct array with at least one row.
 *
 * @return FRZ_OK with a batch to release, FRZ_END when there are no more rows, or a failure
 */
FRZ_API frz_code frz_scan_next(frz_scan *scan, struct ArrowArray *out, frz_error *err);

/** Read the report; counts grow while the scan runs. Of a scan that was exported, as long as its
 * stream is not released. */
FRZ_API void frz_scan_report_get(const frz_scan *scan, frz_scan_report *out);

/** Close. NULL is fine. */
FRZ_API void frz_scan_close(frz_scan *scan);

/** Hand the scan over to an Arrow stream, which closes it on release; on failure it is closed. */
FRZ_API frz_code frz_scan_export(frz_scan *scan, struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
