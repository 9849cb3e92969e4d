/**
 * Column updates: new values for some columns of every row or of some rows, written as one column
 * file per data file, or in another of the modes of write.update.mode.
 */
#ifndef FRAZIL_COLUMN_UPDATE_H
#define FRAZIL_COLUMN_UPDATE_H

#include "frazil/catalog.h"
#include "frazil/commit.h"
#include "frazil/modes.h"
#include "frazil/row_source.h"

#ifdef __cplusplus
extern "C" {
#endif

/** column = expression. Right sides see the old values of the row. */
typedef struct frz_assignment {
    const char *column;
    const char *expression; /**< SQL */
} frz_assignment;

/**
 * Update columns and commit.
 *
 * Data files in which no row matches are not touched. If no row matches at all there is no
 * snapshot. When another writer commits first, the update is applied to the newest version again;
 * a concurrent update of other columns is kept without computing values again.
 *
 * @param where   SQL expression; NULL updates every row
 * @param report  receives figures; may be NULL
 * @return FRZ_OK, FRZ_E_ARGUMENT for expressions that do not bind or values that do not fit (the
 *         message names column and row), FRZ_E_CONFLICT after the last retry,
 *         FRZ_E_COMMIT_UNKNOWN
 */
FRZ_API frz_code frz_update_columns(frz_catalog *catalog, const char *table,
                                    const frz_assignment *assignments, size_t assignment_count,
                                    const char *where, frz_commit_report *report, frz_error *err);

/**
 * Update columns with values of rows from outside, as SQL's UPDATE … FROM does. Expressions name
 * columns of the source as s.x, of the table as t.x, and what only one of them has as x.
 *
 * @param name    what expressions call the table; NULL: by its own name, "db.t" or "t"
 * @param source  its rows are read once, also if the update has to be applied again
 * @param where   says which row of the source a row of the table has: equalities between columns of
 *                both, joined by AND, and any further conditions. "t._row_id = s.x" is one. Rows
 *                with a null in such a column have none. Types are converted as in comparisons.
 * @param report  source_rows: how many rows the source has (of those that conditions on it alone
 *                let through), source_unmatched: how many of them no row of the table has used
 * @return as frz_update_columns; FRZ_E_ARGUMENT also for two rows of the source with the same key,
 *         which is told; FRZ_E_CONFLICT also when another writer changes the table's columns and
 *         the source is a stream
 */
FRZ_API frz_code frz_update_columns_from(frz_catalog *catalog, const char *table, const char *name,
                                         const frz_assignment *assignments, size_t assignment_count,
                                         const frz_row_source *source, const char *where,
                                         frz_commit_report *report, frz_error *err);

/**
 * The same with rows that are in the order of a scan of the table, one for each of its rows. They
 * are read along with the table, and none are kept.
 *
 * @return FRZ_E_ARGUMENT also if there are more rows or fewer, FRZ_E_CONFLICT also when another
 *         writer adds, replaces or compacts data files
 */
FRZ_API frz_code frz_update_columns_by_position(frz_catalog *catalog, const char *table,
                                                const frz_assignment *assignments,
                                                size_t assignment_count,
                                                const frz_row_source *source,
                                                frz_commit_report *report, frz_error *err);

/**
 * What the same update would cost in each mode; nothing is written. The condition is evaluated,
 * reading its columns only; of more than 16 data files that may match so many stand for all.
 *
 * @return FRZ_OK, or FRZ_E_ARGUMENT as above for what does not bind
 */
FRZ_API frz_code frz_update_estimate(const frz_table *table, const frz_assignment *assignments,
                                     size_t assignment_count, const char *where,
                                     frz_statement_estimate *out, frz_error *err);

/**
 * The same of an update with values from outside (frz_update_columns_from). The source is read, and
 * its keys are looked up in all data files that may match; its own bytes, the same in each mode, do
 * not count.
 */
FRZ_API frz_code frz_update_from_estimate(frz_catalog *catalog, const char *table, const char *name,
                                          const frz_assignment *assignments,
                                          size_t assignment_count, const frz_row_source *source,
                                          const char *where, frz_statement_estimate *out,
                                          frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
