/*
 * What the files of column_update share among themselves.
 */
#ifndef FRZ_COLUMN_UPDATE_INTERNAL_H
#define FRZ_COLUMN_UPDATE_INTERNAL_H

#include "expr/expr.h"
#include "files/files.h"
#include "frazil/column_update.h"

/* ---- the statement, bound to one version of the table (column_update_bind.c) ---- */

typedef struct update_assignment {
    frz_str column;
    const frz_expr *expr; /* as parsed */
    const frz_field *field;
    frz_bound_expr *bound;
} update_assignment;

/* Field ids, ascending. */
typedef struct update_ids {
    int32_t *ids;
    size_t count;
} update_ids;

/* The types and id lists depend on the schema and are made anew for each attempt. */
typedef struct update_plan {
    const frz_env *env;
    frz_arena arena;                /* of the binding */
    update_assignment *assignments; /* once bound, in ascending order of field ids */
    size_t assignment_count;
    const frz_expr *where; /* NULL: all rows */
    frz_bound_expr *filter;
    const frz_type *read_type;  /* all that computing needs, and old values to carry over */
    const frz_type *carry_type; /* old values alone: the assigned fields, then the lineage */
    const frz_type *write_type; /* the column file: assigned fields, then the lineage column */
    update_ids written;         /* assigned fields with descendants, the lineage */
    update_ids schema_ids;      /* every field that a column file may list, the lineage aside */
    int32_t *depends_ids;       /* top-level ids whose values the result depends on */
    size_t depends_count;
    frz_metrics_config metrics;
} update_plan;

/* Parse the statement into an arena that outlives the plan. */
frz_code update_plan_parse(update_plan *plan, frz_arena *arena, const frz_assignment *assignments,
                           size_t count, const char *where, frz_error *err);
frz_code update_plan_bind(update_plan *plan, const frz_metadata *metadata, const frz_schema *schema,
                          frz_error *err);
void update_plan_unbind(update_plan *plan);

/* ---- one data file as the statement sees it (column_update_read.c) ---- */

typedef struct update_reader {
    const update_plan *plan;
    const frz_table *table;
    const frz_entry *entry;
    frz_stitch *stitch;
    frz_live live;
    const frz_type *read_type; /* the plan's, and what finding deleted rows takes */
    frz_arena arena;           /* of types */
    bool leaves_partition;     /* a new value does not belong to the entry's partition */
} update_reader;

/* The rows of a batch, a bitmap each; NULL: all. */
typedef struct update_rows {
    uint8_t *live;     /* not deleted */
    uint8_t *selected; /* live, and the statement's condition is true */
    int64_t selected_count;
} update_rows;

/* deletes NULL: the table has no delete files. Close also after a failure. */
frz_code update_reader_open(update_reader *reader, const update_plan *plan, const frz_table *table,
                            const frz_entry *entry, frz_delete_index *deletes, frz_error *err);
/* FRZ_END after the last batch; the caller releases batch and rows, also after a failure. */
frz_code update_reader_next(update_reader *reader, frz_batch *batch, update_rows *rows,
                            frz_error *err);
void update_rows_reset(const frz_env *env, update_rows *rows);
/* New values in selected rows, old ones in the others, nulls in those that are deleted. */
frz_code update_reader_values(update_reader *reader, const update_assignment *assignment,
                              const frz_batch *batch, const update_rows *rows,
                              struct ArrowArray *out, frz_error *err);
/* Null where the row is updated, which then means this commit; the old number elsewhere. */
frz_code update_reader_lineage(const update_reader *reader, const frz_batch *batch,
                               const update_rows *rows, struct ArrowArray *out, frz_error *err);
void update_reader_close(update_reader *reader);

/* ---- its column file (column_update_file.c) ---- */

/* The column file that was written for one data file. */
typedef struct update_result {
    char *location; /* absolute, of the column file; NULL: no row matched */
    int64_t bytes;
    int64_t rows;           /* updated */
    int64_t record_count;   /* of the data file */
    frz_field_stats *stats; /* of the assigned fields, in the result's arena */
    size_t stats_count;
    frz_positions *deleted; /* rows that delete files delete, or the entry's own vector; NULL: the
                               entry's vector tells all */
    bool leaves_partition;  /* the entry's partition tuple does not hold any more */
    frz_arena arena;
} update_result;

void update_result_reset(const frz_env *env, update_result *result);
/* Compute and write. deletes NULL: the table has no delete files. */
frz_code update_file(const update_plan *plan, const frz_commit_attempt *attempt,
                     const frz_entry *entry, frz_delete_index *deletes, bool sync_each,
                     update_result *out, frz_error *err);

/* ---- partitions and sort orders (column_update_partition.c) ---- */

/* True unless a live row (NULL: all are) of an assigned column does not belong to the entry's
 * partition. */
bool update_keeps_partition(const update_plan *plan, const frz_metadata *metadata,
                            const frz_entry *entry, const frz_field *column,
                            const struct ArrowArray *array, const uint8_t *live);
/* True if rows that were in this order may not be any more. */
bool update_touches_order(const update_plan *plan, const frz_metadata *metadata, int32_t order_id);

/* ---- another writer was first (column_update_lineage.c) ---- */

/* Write a column file with only the lineage column: null where the result's own column file is
 * null (rows that it updated), else what the newest entry says. location: free with frz_free. */
frz_code update_lineage_file(const update_plan *plan, const frz_commit_attempt *attempt,
                             const frz_entry *newest, const update_result *result, bool sync_each,
                             char **location, int64_t *bytes, frz_error *err);

/* ---- what changes on an entry (column_update_entry.c); all of it in the arena ---- */

/* Take ids out of all column files of an entry, and those that the schema has no more; drop files
 * that provide nothing any more, add new files; ordered by location. spec: writer procedure, step
 * 4; dropped columns */
frz_code update_column_files(frz_arena *arena, frz_entry *entry, const update_ids *schema,
                             const update_ids *gone, const frz_column_file *added,
                             size_t added_count, frz_error *err);
/* Replace the statistics of fields; ids ascend. spec: stats and column files */
frz_code update_stats(frz_arena *arena, frz_entry *entry, const int32_t *ids, size_t count,
                      const frz_field_stats *stats, size_t stats_count, frz_error *err);

#endif
