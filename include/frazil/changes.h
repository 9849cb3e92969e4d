/**
 * Changes: which data files a snapshot changed, and which rows. Every snapshot is compared with its
 * parent, one after the other along the chain.
 */
#ifndef FRAZIL_CHANGES_H
#define FRAZIL_CHANGES_H

#include "frazil/arrow.h"
#include "frazil/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_changes_options {
    size_t struct_size;
    int64_t from_snapshot_id; /**< changes made after this snapshot, an ancestor of the last one; 0:
                                 the parent of the last one */
    int64_t to_snapshot_id;   /**< the last snapshot; 0: the current one */
    const char *const *columns; /**< in the order wanted; NULL: see the functions */
    size_t column_count;
    int64_t batch_rows;  /**< most rows of a batch; 0: 65 536 */
    int64_t batch_bytes; /**< about the most bytes of a batch; 0: 16 MiB */
} frz_changes_options;

#define FRZ_CHANGES_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(frz_changes_options), 0, 0, 0, 0, 0, 0                                              \
    }

/**
 * The files that were changed: for each a row with location, kind ("added", "removed",
 * "column_files", "dv" and, in versions 1 to 3, delete files by their kind), _change_ordinal,
 * _commit_snapshot_id, record_count, deleted_rows and field_ids; docs/changes.md has the columns.
 *
 * @param opts  columns NULL: all of them. NULL: the current snapshot against its parent
 * @param out   receives a stream of record batches, which holds the table; release it
 * @return FRZ_OK, FRZ_E_NOT_FOUND if a snapshot is not there or its parent has expired where it is
 *         needed, FRZ_E_ARGUMENT if one is no ancestor of the other, or a column has no such name.
 *         Snapshots that break the rules of changes are FRZ_E_CORRUPT, then or while reading.
 */
FRZ_API frz_code frz_changes_files(frz_table *table, const frz_changes_options *opts,
                                   struct ArrowArrayStream *out, frz_error *err);

/**
 * The rows that were changed, read with the schema of the last snapshot: _change_type ("INSERT",
 * "DELETE", "UPDATE_BEFORE", "UPDATE_AFTER"), _change_ordinal (of the snapshot, from 0),
 * _commit_snapshot_id and columns.
 *
 * Rows keep their identity by _row_id: a row that was only moved to another file is no change, and
 * one that came out of it with a new number is an update. Tables without row lineage (versions 1
 * and 2) have no updates: rows of files that went are deletes, rows of new files inserts. Snapshots
 * with the operation "replace" change no rows.
 *
 * @param opts  columns NULL: _changed_columns, _row_id and the columns of the table, where rows of
 * an update in place have values only in those that _changed_columns names (null: in all); columns
 * that no row has a value in are left out. To have the same columns whatever changed, name them.
 * _row_id and _last_updated_sequence_number can be asked for.
 * @param out   receives a stream of record batches, which holds the table; release it
 * @return as frz_changes_files
 */
FRZ_API frz_code frz_changes_rows(frz_table *table, const frz_changes_options *opts,
                                  struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
