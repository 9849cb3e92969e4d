/**
 * Column updates: new values for some columns of every row or of some rows, written as one column
 * file per data file.
 */
#ifndef FRAZIL_COLUMN_UPDATE_H
#define FRAZIL_COLUMN_UPDATE_H

#include "frazil/catalog.h"
#include "frazil/commit.h"

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

#ifdef __cplusplus
}
#endif

#endif
