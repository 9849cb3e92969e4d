/**
 * SQL: one statement at a time over the tables of a catalog.
 *
 *   SELECT … FROM t [FOR VERSION AS OF …] [WHERE …] [LIMIT n]
 *   EXPLAIN SELECT … | UPDATE … | MERGE … | DELETE …
 *   UPDATE t SET c = …, … [FROM 'file' | s] [WHERE …]
 *   DELETE FROM t [WHERE …]
 *   INSERT INTO t [(c, …)] SELECT … | VALUES (…), …
 *   MERGE INTO t USING 'file' | s ON … WHEN [NOT] MATCHED [BY SOURCE] [AND …] THEN …
 *   ALTER TABLE t ADD COLUMN c type
 *   ALTER TABLE t RENAME COLUMN c TO d
 *   ALTER TABLE t DROP COLUMN c
 *   ALTER TABLE t ALTER COLUMN c TYPE type
 *   ALTER TABLE t ALTER COLUMN c DROP NOT NULL
 *   ALTER TABLE t SET TBLPROPERTIES ('k' = 'v', …)
 *   ALTER TABLE t UNSET TBLPROPERTIES ('k', …)
 */
#ifndef FRAZIL_SQL_H
#define FRAZIL_SQL_H

#include "frazil/arrow.h"
#include "frazil/catalog.h"
#include "frazil/commit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frz_sql_kind {
    FRZ_SQL_ROWS,   /**< rows holds the answer */
    FRZ_SQL_UPDATE, /**< report tells what was written */
    FRZ_SQL_DELETE, /**< the same */
    FRZ_SQL_ALTER,  /**< only metadata changed; report tells the bytes */
    FRZ_SQL_INSERT, /**< report tells what was written */
    FRZ_SQL_MERGE   /**< the same */
} frz_sql_kind;

typedef struct frz_sql_result {
    frz_sql_kind kind;
    struct ArrowArrayStream rows; /**< FRZ_SQL_ROWS: to be released by the caller */
    frz_commit_report report;
} frz_sql_result;

/**
 * Parse, bind and run one statement. Parse errors hold the statement and a caret in the hint.
 *
 * @param catalog  may be NULL if table is given
 * @param table    a table opened from a metadata file, which every name in the statement then
 *                 means, read-only; or NULL
 * @param out      receives the result. Untouched on error.
 */
FRZ_API frz_code frz_sql_run(frz_catalog *catalog, frz_table *table, const char *statement,
                             frz_sql_result *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
