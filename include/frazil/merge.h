/**
 * Merging rows from outside into a table: what is there already is updated or deleted, what is not
 * is inserted, in one commit.
 */
#ifndef FRAZIL_MERGE_H
#define FRAZIL_MERGE_H

#include "frazil/column_update.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frz_merge_when {
    FRZ_MERGE_MATCHED,              /**< rows of the table that have a row of the source */
    FRZ_MERGE_NOT_MATCHED,          /**< rows of the source that no row of the table has */
    FRZ_MERGE_NOT_MATCHED_BY_SOURCE /**< rows of the table that have none; expressions see the table
                                       alone */
} frz_merge_when;

typedef enum frz_merge_action {
    FRZ_MERGE_UPDATE, /**< of rows of the table */
    FRZ_MERGE_DELETE, /**< the same */
    FRZ_MERGE_INSERT  /**< of rows of the source, which expressions then see alone */
} frz_merge_action;

/** What is done with some rows. Of several clauses that could be meant the first one is. */
typedef struct frz_merge_clause {
    frz_merge_when when;
    frz_merge_action action;
    const char *condition; /**< SQL; NULL: all of these rows */
    /** UPDATE: values of columns; INSERT: the same, others get their write default, else null.
     * NULL: every column that the source has, by name; an INSERT then needs all of the table's, and
     * with FRZ_MERGE_NOT_MATCHED_BY_SOURCE, where there is no row of the source, it is an error.
     * An INSERT's expression may be NULL, too: as if the column were not named. */
    const frz_assignment *assignments;
    size_t assignment_count;
} frz_merge_clause;

/**
 * Merge, as SQL's MERGE does: updates and deletes in the mode that write.merge.mode says, inserts
 * as data files of their own.
 *
 * @param name    what expressions call the table; NULL: by its own name
 * @param on      which row of the source a row of the table has: as the condition of
 *                frz_update_columns_from()
 * @param report  rows: updated, deleted and inserted ones; rows_deleted, rows_inserted: of these
 * @return as frz_update_columns_from(). A row of the table that has two rows of the source is an
 *         error that names the key; other keys may come twice.
 *
 * When another writer commits first, the merge is applied to the newest version again; what it made
 * of data files that are the same is kept.
 */
FRZ_API frz_code frz_merge(frz_catalog *catalog, const char *table, const char *name,
                           const frz_row_source *source, const char *on,
                           const frz_merge_clause *clauses, size_t clause_count,
                           frz_commit_report *report, frz_error *err);

/**
 * What the same merge would cost in each mode, as frz_update_from_estimate(); nothing is written.
 * Its rows are those that are updated, deleted and inserted.
 */
FRZ_API frz_code frz_merge_estimate(frz_catalog *catalog, const char *table, const char *name,
                                    const frz_row_source *source, const char *on,
                                    const frz_merge_clause *clauses, size_t clause_count,
                                    frz_statement_estimate *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
