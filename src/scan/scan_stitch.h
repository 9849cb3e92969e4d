/*
 * scan: the stitching reader. It reads the rows of one data file as its entry describes them: each
 * field from the one column file that lists it, else from the base file, combined by row position.
 * spec: column files, reader procedure
 */
#ifndef FRZ_SCAN_STITCH_H
#define FRZ_SCAN_STITCH_H

#include "expr/expr.h"
#include "format/format.h"
#include "format/puffin/puffin_positions.h"
#include "meta/meta_manifest.h"

typedef struct frz_stitch_request {
    /* STRUCT of top-level fields of the schema that is read; may hold _row_id and
     * _last_updated_sequence_number, which come out resolved (never null unless the entry has no
     * row ids). */
    const frz_type *projection;
    const frz_row_range *ranges; /* NULL: all rows */
    size_t range_count;
    /* Rows for which it is proven not to be true are left out; NULL: none. It is bound to the
     * schema that is read, and not evaluated here. Fields that it reads prove something only if
     * they are in the projection. */
    const frz_bound_expr *filter;
    /* The caller takes deleted rows out of what comes; else an entry with a deletion vector is
     * refused. Required columns may be null in rows that are deleted by position (NULL: none). */
    bool with_deleted;
    const frz_positions *deleted;
    int64_t max_rows; /* of a batch; 0: the format's default */
    int64_t max_bytes;
    bool only_prune; /* nothing is read: only the counts are wanted */
    /* Done if one file provides everything and can; NULL: all rows come. Lineage columns are not in
     * the projection then. */
    const frz_thinning *thinning;
} frz_stitch_request;

typedef struct frz_stitch frz_stitch;

typedef struct frz_stitch_counts {
    int64_t base_files_opened;
    int64_t column_files_opened;
    frz_prune_report pruned; /* groups and pages of all parts; rows of the whole */
} frz_stitch_counts;

/* Open the base file of an entry (column_file NULL) or one of its column files. A file whose size
 * or row count is not what the entry says, or without any field id, is FRZ_E_CORRUPT. */
frz_code frz_stitch_open_file(const frz_table *table, const frz_entry *entry,
                              const frz_column_file *column_file, frz_data_file **out,
                              frz_error *err);

/* table and entry must outlive the reader. Files that provide nothing are not opened. */
frz_code frz_stitch_open(const frz_table *table, const frz_entry *entry,
                         const frz_stitch_request *request, frz_stitch **out, frz_error *err);
/* FRZ_END after the last batch; the caller releases the batch's array. */
frz_code frz_stitch_next(frz_stitch *stitch, frz_batch *out, frz_error *err);
/* Whether rows are left out of batches as asked for. */
bool frz_stitch_thins(const frz_stitch *stitch);
void frz_stitch_counts_get(const frz_stitch *stitch, frz_stitch_counts *out);
/* Rows at which the row groups of the base file end, if it was opened, else those of a column file.
 * If nothing was opened, the base file is. */
frz_code frz_stitch_group_ends(frz_stitch *stitch, const int64_t **ends, size_t *count,
                               frz_error *err);
void frz_stitch_close(frz_stitch *stitch); /* NULL is fine */

#endif
