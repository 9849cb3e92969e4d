/*
 * What the parts of an append share: rows of any source become columns of the table.
 */
#ifndef FRZ_ROWS_INTERNAL_H
#define FRZ_ROWS_INTERNAL_H

#include "files/files.h"
#include "frazil/rows.h"

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

#endif
