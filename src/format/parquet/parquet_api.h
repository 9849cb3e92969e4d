/*
 * What the files behind include/frazil/parquet.h share: the open file and the choice of columns.
 */
#ifndef FRZ_PARQUET_API_H
#define FRZ_PARQUET_API_H

#include "format/parquet/parquet_internal.h"
#include "frazil/parquet.h"

/*
 * Files need not have field ids, and those that have some may use one twice. So columns are asked
 * for by the ids of the native type, which are its own; the file's ids are only shown.
 */
struct frz_parquet_file {
    const frz_env *env;
    _Atomic int64_t refs; /* its owner's and one per reader */
    frz_data_file *data;  /* a parquet_file */
    frz_arena arena;
    const frz_type *native; /* what rows are returned as; the data file's type too */
    uint32_t *parents;      /* the group around each schema element; the root's is itself */
};

static inline const parquet_file *parquet_api_inner(const frz_parquet_file *file)
{
    return (const parquet_file *)file->data;
}
static inline frz_parquet_bytes parquet_api_bytes(frz_str s)
{
    return (frz_parquet_bytes){s.ptr, s.len};
}
frz_parquet_file *parquet_api_ref(frz_parquet_file *file);

/* ---- texts into a caller's buffer (parquet_api_schema.c) ---- */

typedef struct parquet_api_text {
    char *buf;
    size_t size;
    size_t len; /* of the whole text, which may be longer than the buffer */
} parquet_api_text;

void parquet_api_put(parquet_api_text *text, frz_str s);
/* Terminate; returns the length of the whole text. */
size_t parquet_api_end(parquet_api_text *text);

/* ---- the schema (parquet_api_schema.c) ---- */

frz_code parquet_api_find_parents(frz_parquet_file *file, frz_error *err);

/* ---- bounds (parquet_api_bound.c) ---- */

/* The order of two bounds that parquet_statistics_check let through. */
int parquet_api_compare(const parquet_element *e, frz_parquet_bytes a, frz_parquet_bytes b);

/* ---- which columns (parquet_api_columns.c) ---- */

/* The part that names choose of a type of the file's shape; NULL: all of it. */
frz_code parquet_api_choose(const frz_parquet_file *file, frz_arena *arena, const frz_type *type,
                            const char *const *names, size_t count, const frz_type **out,
                            frz_error *err);

#endif
