/*
 * What the parts of an append share: rows of any source become columns of the table, and these go
 * to one or several open data files.
 */
#ifndef FRZ_ROWS_INTERNAL_H
#define FRZ_ROWS_INTERNAL_H

#include "format/parquet/parquet.h"
#include "frazil/rows.h"
#include "type/type_value.h"
#include "write/write_commit.h"

/* ---- from the columns of a source to those of the table (rows_fit.c) ---- */

typedef struct rows_fit rows_fit;

/* What a source's columns may become. */
typedef struct rows_fit_options {
    const char *const *columns; /* names of the table's that the source has, in its order; NULL: its
                                   own names say which */
    size_t column_count;
    bool assign; /* convert as SQL assigns; false: types are only promoted */
} rows_fit_options;

/* Both borrowed as long as the fit lives. FRZ_E_ARGUMENT naming a column that does not fit. */
frz_code rows_fit_open(const frz_env *env, struct ArrowArrayStream *stream, const frz_type *table,
                       const rows_fit_options *options, rows_fit **out, frz_error *err);
void rows_fit_close(rows_fit *fit); /* NULL is fine */
/* The next rows as a batch of the table's fields; FRZ_END behind the last. */
frz_code rows_fit_next(rows_fit *fit, struct ArrowArray *out, frz_error *err);

/* ---- nested columns (rows_nested.c) ---- */

/* FRZ_E_ARGUMENT unless values of one type become values of the other: members by name, promoted.
 */
frz_code rows_nested_check(const frz_type *from, const frz_type *to, frz_error *err);
/* Replace an array of our own by one of the other type. */
frz_code rows_nested_fit(const frz_env *env, const frz_type *from, const frz_type *to,
                         struct ArrowArray *array, frz_error *err);

/* ---- partition tuples (rows_partition.c) ---- */

typedef struct rows_partition_field {
    int32_t field_id;
    frz_transform transform;
    const frz_type *source; /* NULL: void, always null */
    const frz_type *result;
    const size_t *path; /* of the source: indices of fields, from the table's struct down */
    size_t depth;
} rows_partition_field;

typedef struct rows_partitioning {
    int32_t spec_id; /* -1: one partition has all rows */
    rows_partition_field *fields;
    size_t field_count;
} rows_partitioning;

/* How the default spec of a table takes its rows apart, in the arena. FRZ_E_UNSUPPORTED for
 * transforms that have no values here. */
frz_code rows_partitioning_of(const frz_metadata *metadata, const frz_type *table, frz_arena *arena,
                              rows_partitioning *out, frz_error *err);
/* The tuple of a row: values has room for one for each field, bytes are the batch's. key receives
 * bytes that equal tuples have in common. */
frz_code rows_partition_tuple(const rows_partitioning *partitioning, const struct ArrowArray *batch,
                              int64_t row, frz_value *values, frz_buf *key, frz_error *err);

/* ---- data files (rows_files.c) ---- */

/* A finished data file; all of it lives in the arena of the files. */
typedef struct rows_file {
    frz_str location;
    frz_parquet_written written;
    const frz_partition_value *partition; /* one for each field of the spec */
} rows_file;

typedef struct rows_files rows_files;

typedef struct rows_files_options {
    const frz_type *type; /* of the table; must outlive the files, as must the partitioning */
    const rows_partitioning *partitioning;
    frz_parquet_write_options write;
    int64_t target_bytes; /* a file that has so many is ended */
} rows_files_options;

/* Files are tracked by the attempt; the list of them lives in the arena. */
frz_code rows_files_new(const frz_commit_attempt *attempt, const rows_files_options *options,
                        frz_arena *arena, rows_files **out, frz_error *err);
/* Those that are still open are removed. NULL is fine. */
void rows_files_free(rows_files *files);
frz_code rows_files_write(rows_files *files, const struct ArrowArray *batch, frz_error *err);
/* End those that are open. The list lives in the arena. */
frz_code rows_files_finish(rows_files *files, const rows_file **out, size_t *count, frz_error *err);

#endif
