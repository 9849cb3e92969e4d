/*
 * files: what a statement costs in each mode.
 */
#ifndef FRZ_FILES_COST_H
#define FRZ_FILES_COST_H

#include "files/files.h"
#include "frazil/modes.h"

/* A column that gets new values. */
typedef struct frz_cost_column {
    int32_t field_id;
    bool is_constant; /* the same value in all rows that match */
} frz_cost_column;

typedef struct frz_cost_request {
    const frz_table *table;
    const frz_schema *schema;
    const frz_live_files *files; /* that may have rows that match */
    const frz_condition *condition;
    const frz_cost_column *columns;
    size_t column_count; /* 0: rows are deleted */
    const int32_t
        *reads; /* the fields that the statement reads to compute, besides the condition */
    size_t read_count;
    /* The condition is not evaluated. Column files cost at most what is told then, and if they are
     * the cheapest they are so whichever rows match: copy-on-write has the same data files to
     * write, and of merge-on-read only the row group that it reads at least is counted. */
    bool in_bounds;
} frz_cost_request;

/* The arena is for what is needed meanwhile. */
frz_code frz_cost_estimate(const frz_cost_request *request, frz_arena *arena,
                           frz_statement_estimate *out, frz_error *err);

/* The data files of a table's current version, for an estimate alone. */
typedef struct frz_cost_files {
    frz_tree *tree;
    frz_live_files files;
} frz_cost_files;

/* Reset also after a failure. */
frz_code frz_cost_files_find(const frz_table *table, const frz_bound_expr *filter, frz_arena *arena,
                             frz_cost_files *out, frz_error *err);
void frz_cost_files_reset(frz_cost_files *files);

#endif
