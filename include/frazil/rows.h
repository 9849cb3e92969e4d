/**
 * Changing which rows a table has.
 */
#ifndef FRAZIL_ROWS_H
#define FRAZIL_ROWS_H

#include <stddef.h>

#include "frazil/arrow.h"
#include "frazil/catalog.h"
#include "frazil/commit.h"
#include "frazil/error.h"
#include "frazil/modes.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Delete rows, as SQL's DELETE does. Data files of which all rows go are removed from the table; of
 * others the rows are told in a deletion vector, or with write.delete.mode = copy-on-write the rows
 * that are left are written anew.
 *
 * Source: iceberg-v4 deletion_vector; statuses, what one commit writes.
 *
 * @param where   SQL condition; NULL: all rows
 * @param report  may be NULL; rows: how many were deleted, data_files: from how many files
 *
 * Runs again on the newest version when another writer was first. A condition that matches no row
 * makes no snapshot.
 */
FRZ_API frz_code frz_delete_rows(frz_catalog *catalog, const char *table, const char *where,
                                 frz_commit_report *report, frz_error *err);

/** What the same DELETE would cost in each mode; nothing is written. As frz_update_estimate(). */
FRZ_API frz_code frz_delete_estimate(const frz_table *table, const char *where,
                                     frz_statement_estimate *out, frz_error *err);

typedef struct frz_append_options {
    size_t struct_size;
    const char *const *columns; /**< names of the table's columns that the rows have, in the rows'
                                     order; NULL: the rows' own names say which */
    size_t column_count;
    int convert; /**< non-zero: convert values as SQL's assignment does, each that fits; zero: types
                      are only promoted, int to long and the like */
} frz_append_options;

#define FRZ_APPEND_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(frz_append_options), 0, 0, 0                                                        \
    }

/**
 * Append the rows of Parquet, Arrow and Avro files to a table, as new data files. Columns that the
 * files lack get their write default, else null. The rows of a partitioned table go to one data
 * file, or several, of each partition.
 *
 * @param files   paths; at least one
 * @param opts    NULL: all defaults
 * @param report  may be NULL; rows: how many were appended, data_files: in how many files
 * @return FRZ_OK; FRZ_E_ARGUMENT naming file and column for a column that the table lacks, that
 *         is given twice or of a type that does not become the table's, for a required one that is
 *         not given, and for a null in one, with its row; FRZ_E_UNSUPPORTED for a transform of
 *         several columns or one that is not known. On failure nothing is appended.
 *
 * All rows come in one commit. Runs again on the newest version when another writer was first, with
 * the files that are written already. No rows make no snapshot.
 */
FRZ_API frz_code frz_append_files(frz_catalog *catalog, const char *table, const char *const *files,
                                  size_t file_count, const frz_append_options *opts,
                                  frz_commit_report *report, frz_error *err);

/**
 * The same with rows from a stream.
 *
 * @param stream  of any producer; borrowed, read to its end, not released
 */
FRZ_API frz_code frz_append_stream(frz_catalog *catalog, const char *table,
                                   struct ArrowArrayStream *stream, const frz_append_options *opts,
                                   frz_commit_report *report, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
