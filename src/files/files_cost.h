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

/* What a statement does to the rows of one data file. */
typedef struct frz_cost_rows {
    bool all; /* every live row is updated, or deleted by a DELETE; the lists are empty */
    frz_row_list updated; /* ascending */
    frz_row_list removed; /* the same */
    size_t unstored;      /* columns that the file has to store because it leaves its partition */
} frz_cost_rows;

/* Rows that a statement inserts. */
typedef struct frz_cost_inserts {
    double rows, files;
    const int32_t *columns; /* that get other values than constants */
    size_t column_count;
} frz_cost_inserts;

/* How they are found. */
typedef struct frz_cost_finder {
    void *ctx;
    const frz_type *read_type; /* what finding reads; NULL: nothing */
    /* The data files that will be asked for, each once, in this order. NULL: it need not know. */
    frz_code (*begin)(void *ctx, const frz_entry *const *entries, size_t count, frz_error *err);
    frz_code (*find)(void *ctx, const frz_entry *entry, const frz_live *live, frz_cost_rows *out,
                     frz_error *err);
    /* Behind the last one, if every file is looked at. NULL: no rows are inserted. */
    frz_code (*insert)(void *ctx, frz_cost_inserts *out, frz_error *err);
} frz_cost_finder;

typedef struct frz_cost_request {
    const frz_table *table;
    const frz_schema *schema;
    const frz_live_files *files; /* that may have such rows */
    bool every_file;             /* all are looked at; else, of many, some stand for all */
    frz_cost_finder finder;
    bool is_delete; /* there are two modes then, else three */
    const frz_cost_column *columns;
    size_t column_count;
    const int32_t *reads; /* the fields that the statement reads to compute, besides those that
                             finding reads */
    size_t read_count;
} frz_cost_request;

/* The arena is for what is needed meanwhile. */
frz_code frz_cost_estimate(const frz_cost_request *request, frz_arena *arena,
                           frz_statement_estimate *out, frz_error *err);

/* Whether column files are the cheapest whichever rows are updated, of a statement that removes
 * none and takes none out of their partition: rows are not looked for. True if in no data file
 * another mode may be cheaper, or by less in all of them than it costs that rows change their
 * place. */
frz_code frz_cost_is_certain(const frz_cost_request *request, frz_arena *arena, bool *out,
                             frz_error *err);

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
