/**
 * Changing which rows a table has.
 */
#ifndef FRAZIL_ROWS_H
#define FRAZIL_ROWS_H

#include "frazil/catalog.h"
#include "frazil/commit.h"
#include "frazil/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Delete rows, as SQL's DELETE does. Data files of which all rows go are removed from the table; of
 * others the rows are told in a deletion vector, and no data is written anew.
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

#ifdef __cplusplus
}
#endif

#endif
