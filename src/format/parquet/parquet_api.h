/*
 * What the files behind include/frazil/parquet.h share: the open file and the choice of columns.
 */
#ifndef FRZ_PARQUET_API_H
#define FRZ_PARQUET_API_H

#include "format/parquet/parquet_internal.h"
#include "frazil/parquet.h"

/*
 * Files need not have field ids, and those that have some may use one twice. So all fields get
 * numbers of their own here, by which columns are asked for; the file's ids are only shown.
 */
struct frz_parquet_file {
    const frz_env *env;
    _Atomic int64_t refs; /* its owner's and one per reader */
    frz_data_file *data;  /* a parquet_file; its type has the numbers as ids */
    frz_arena arena;
    const frz_type *own; /* the same type with the file's ids */
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

/* ---- which columns (parquet_api_columns.c) ---- */

typedef struct parquet_api_columns {
    const frz_type *read;  /* what to ask a reader for */
    const frz_type *shown; /* the same with the file's ids */
} parquet_api_columns;

/* names NULL: all columns. */
frz_code parquet_api_choose(const frz_parquet_file *file, frz_arena *arena,
                            const char *const *names, size_t count, parquet_api_columns *out,
                            frz_error *err);

#endif
