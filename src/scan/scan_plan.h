/*
 * scan: which data files of a snapshot can hold rows that a filter lets through, and which columns
 * can be read of a table.
 */
#ifndef FRZ_SCAN_PLAN_H
#define FRZ_SCAN_PLAN_H

#include "expr/expr.h"
#include "meta/meta_tree.h"

/* ---- the files of a snapshot, one after the other (scan_plan_files.c) ---- */

typedef struct frz_file_plan_options {
    const frz_snapshot *snapshot;
    const frz_schema *schema;     /* that is read */
    const frz_bound_expr *filter; /* NULL: all files */
    frz_tree *tree;               /* the snapshot's, already open; NULL: the plan opens its own */
    bool reasons;                 /* tell what was skipped by partitions alone; takes time */
} frz_file_plan_options;

/* What a plan did so far. */
typedef struct frz_file_plan_report {
    int64_t manifests;         /* live data manifests besides the root */
    int64_t manifests_skipped; /* not opened */
    int64_t manifests_empty;   /* of these, because no entry is live */
    int64_t manifests_by_partition;
    int64_t manifests_by_statistics;
    int64_t files;              /* live data files; of manifests not opened, as these count them */
    int64_t files_skipped;      /* those of manifests not opened among them */
    int64_t files_by_partition; /* of those whose entries were read */
    int64_t files_by_statistics;
    int64_t files_by_counts; /* of these, by counts of values, nulls and NaN without any bounds */
} frz_file_plan_report;

/* One data file to read. */
typedef struct frz_planned_file {
    const frz_entry *entry; /* valid until the next call */
    bool settled;           /* the filter is true for all its rows */
} frz_planned_file;

/* The data files of a snapshot that can hold rows which a filter lets through. Manifests are read
 * as the plan goes on, several at once, and few entries are held at a time. Files of the root come
 * first, then those of each manifest in the order of root or list. */
typedef struct frz_file_plan frz_file_plan;

/* table and what the options point to must outlive the plan. */
frz_code frz_file_plan_open(const frz_table *table, const frz_file_plan_options *options,
                            frz_file_plan **out, frz_error *err);
/* Decode statistics of more fields in entries of manifests; before the first task is asked for. */
frz_code frz_file_plan_add_stats(frz_file_plan *plan, const int32_t *field_ids, size_t count,
                                 frz_error *err);
/* FRZ_END behind the last task. */
frz_code frz_file_plan_next(frz_file_plan *plan, frz_planned_file *out, frz_error *err);
/* The entries of all files that are left, as long as the arena and the tree live. */
frz_code frz_file_plan_collect(frz_file_plan *plan, frz_arena *arena, const frz_entry *const **out,
                               size_t *count, frz_error *err);
const frz_tree *frz_file_plan_tree(const frz_file_plan *plan);
void frz_file_plan_report_get(const frz_file_plan *plan, frz_file_plan_report *out);
void frz_file_plan_close(frz_file_plan *plan); /* NULL is fine */

/* ---- which columns can be read ---- */

/* The schema's fields and, behind them, the lineage columns (unless the schema has their names):
 * what expressions and column lists may name. */
frz_code frz_readable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                           frz_error *err);

/* The schema's fields and, behind them, the lineage columns in any case: what ids may stand for. */
frz_code frz_projectable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                              frz_error *err);

/* A struct of the top-level fields of a type with these ids, in the order given. */
frz_code frz_project_ids(frz_arena *arena, const frz_type *struct_type, const int32_t *ids,
                         size_t count, const frz_type **out, frz_error *err);

#endif
