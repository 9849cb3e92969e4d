/*
 * source: rows from outside a table: files of any format, streams, other tables; and their join
 * with the rows of a table, which finds for each of these the row of the source that has its key.
 */
#ifndef FRZ_SOURCE_H
#define FRZ_SOURCE_H

#include "expr/expr.h"
#include "expr/expr_plain.h"
#include "frazil/catalog.h"
#include "frazil/row_source.h"
#include "scan/scan_live.h"

/* ---- files (source_file.c) ---- */

/* Some columns and rows of a Parquet, Arrow or Avro file. columns NULL: all; where NULL: all rows.
 */
frz_code source_file_open(const frz_env *env, const char *file, const char *const *columns,
                          size_t column_count, const char *where, struct ArrowArrayStream *out,
                          frz_error *err);

/* ---- streams as expressions read them (source_plain.c) ---- */

/* Rows of a stream of any producer, in the layouts and types of tables. Zeroed, it is empty. */
typedef struct source_plain {
    const frz_env *env;
    struct ArrowArrayStream *stream; /* borrowed */
    struct ArrowSchema schema;
    expr_plain *plain;
    struct ArrowArray **columns; /* of the batch, those that are read */
    size_t *places;              /* where they are in it */
    size_t column_count;
    struct ArrowArray batch;
    int64_t done; /* rows of it that were handed out */
    int64_t row;  /* the batch's first, in the stream */
    int64_t step;
} source_plain;

/* The schema of a stream is known; what is read of it is said by source_plain_choose. */
frz_code source_plain_open(source_plain *p, const frz_env *env, struct ArrowArrayStream *stream,
                           frz_error *err);
/* Read some columns; places NULL: all. */
frz_code source_plain_choose(source_plain *p, const size_t *places, size_t count, frz_error *err);
/* The next rows, at most 65 536 of them; FRZ_END behind the last. first receives the number of the
 * first of them. */
frz_code source_plain_next(source_plain *p, struct ArrowArray *out, int64_t *first, frz_error *err);
void source_plain_reset(source_plain *p);

/* ---- any source (source_rows.c) ---- */

/* The id of the one column that the rows of a source are for expressions: a struct. */
#define SOURCE_ID (-2)

typedef struct frz_source {
    const frz_env *env;
    frz_row_source what;
    frz_str name;
    frz_arena arena;
    frz_table *table;     /* owned reference; NULL: no table */
    const frz_type *type; /* a struct of all its columns, optional ones */
    size_t file;          /* the one that is read */
    bool was_read;
    const frz_type *columns;       /* that are read */
    struct ArrowArrayStream own;   /* of a file or table */
    struct ArrowArrayStream *open; /* NULL: nothing is being read */
    source_plain plain;
} frz_source;

/* Look at the columns. Reset also after a failure. */
frz_code frz_source_init(frz_source *source, frz_catalog *catalog, const frz_row_source *what,
                         frz_error *err);
/* The same of files alone, without a catalog. columns: what is known of theirs, and then none is
 * opened before rows are read; NULL: those of the first file. */
frz_code frz_source_init_files(frz_source *source, const frz_env *env, const frz_row_source *what,
                               const frz_type *columns, frz_error *err);
void frz_source_reset(frz_source *source);
/* The newest version of a table: if the source reads that table, it does so from now on as of this
 * version. moved: other rows may come than before, or of other types. columns: those that are read
 * (NULL: not known yet); if one of them is gone, FRZ_E_CONFLICT. */
frz_code frz_source_follow(frz_source *source, const frz_table *newest, const frz_type *columns,
                           bool *moved, frz_error *err);
/* False: a stream that was read before. */
bool frz_source_is_readable(const frz_source *source);
/* Read from the first row on: columns of the source's type, which live as long as the reading. */
frz_code frz_source_open(frz_source *source, const frz_type *columns, frz_error *err);
/* The next rows as a batch of the columns, without those for which nothing is asked. */
frz_code frz_source_next(frz_source *source, struct ArrowArray *out, frz_error *err);
void frz_source_close(frz_source *source);
/* What may be held in memory. */
frz_code frz_source_memory(const frz_source *source, size_t *out, frz_error *err);

/* ---- joins (source_join.c) ---- */

typedef struct frz_join frz_join;

typedef struct frz_join_options {
    const frz_type *columns; /* of the source, that are kept */
    /* Over a struct with one field, which is named as the source is and is of the columns' type.
     * The filter (NULL: none) and the keys move into the join, also on failure. */
    const frz_type *row_type;
    frz_bound_expr *filter;
    frz_bound_expr **keys;
    size_t key_count;
    bool keeps;  /* rows that the filter holds back are there, too, but no key finds them */
    bool unique; /* two rows with the same key are an error */
} frz_join_options;

/* Read the source: its rows are kept by their key, in memory or on disk. source outlives it. */
frz_code frz_join_new(frz_source *source, const frz_join_options *options, frz_join **out,
                      frz_error *err);
void frz_join_free(frz_join *join); /* NULL is fine */
/* Rows of the source that are there, and those that were marked. */
int64_t frz_join_rows(const frz_join *join);
int64_t frz_join_marked(const frz_join *join);

/* What the other side is. */
typedef struct frz_join_target {
    const frz_table *table;
    const frz_entry *const *entries; /* in the order in which their rows will be asked for */
    size_t entry_count;
    frz_delete_index *deletes;    /* NULL: there are no delete files */
    frz_bound_expr *const *keys;  /* as many as the source's, of the same types */
    const frz_bound_expr *filter; /* rows for which it is not true have no match, and their keys are
                                     not computed; NULL: all have keys */
    const frz_type *key_type;     /* what keys and filter read */
} frz_join_target;

/* Rows of an array of a type, in the order of their places. */
frz_code frz_source_take(const frz_env *env, const frz_type *type, const struct ArrowArray *array,
                         const int64_t *places, int64_t count, struct ArrowArray *out,
                         frz_error *err);

/* Before rows are asked for. Those that lie on disk are brought into the target's order. */
frz_code frz_join_match(frz_join *join, const frz_join_target *target, frz_error *err);

/* The rows of a source beside rows of the target. */
typedef struct frz_joined {
    struct ArrowArray values; /* structs of the columns, null where there is none */
    uint8_t *found;           /* a bit for each row that has one; frz_free */
    int64_t *numbers;         /* of the source's rows; frz_free */
    int64_t count;            /* of found ones */
} frz_joined;

/* For a batch of a file of the target, by its place among the entries; batches come in order.
 * live: rows that matter, NULL: all. Two rows of the source for one that matters are an error. */
frz_code frz_join_rows_of(frz_join *join, const frz_join_target *target, size_t place,
                          const frz_type *batch_type, const frz_batch *batch, const uint8_t *live,
                          frz_joined *out, frz_error *err);
void frz_joined_reset(const frz_env *env, frz_joined *joined);
/* Nothing was used, for another attempt. */
void frz_join_forget_marks(frz_join *join);
/* Rows that were not marked, batch by batch: over them the source's expressions are evaluated.
 * FRZ_END behind the last. */
frz_code frz_join_rest_open(frz_join *join, frz_error *err);
frz_code frz_join_rest_next(frz_join *join, struct ArrowArray *out, frz_error *err);

/* A bit for each row of the source. */
const uint8_t *frz_join_marks(const frz_join *join);
void frz_join_mark_range(frz_join *join, frz_row_range numbers);
/* Rows that are selected, all of them found, have used these of the source. */
void frz_join_mark(frz_join *join, const int64_t *numbers, const uint8_t *selected, int64_t rows);

#endif
