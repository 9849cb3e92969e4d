/*
 * meta: single values of columns, by column and row. A value is null too if its column or a parent
 * is not there, so that readers of manifests need not care which of their columns a file has.
 */
#ifndef FRZ_META_CELL_H
#define FRZ_META_CELL_H

#include "arrow/arrow_array.h"

typedef struct meta_cell {
    const struct ArrowArray *array; /* NULL: not there */
    int64_t row;
} meta_cell;

static inline bool meta_cell_null(meta_cell c)
{
    return c.array == NULL || frz_is_null(c.array, c.row);
}

/* A member of a struct; index -1: not there. */
static inline meta_cell meta_cell_member(meta_cell c, int index)
{
    return index < 0 || meta_cell_null(c)
               ? (meta_cell){NULL, 0}
               : (meta_cell){c.array->children[index], c.array->offset + c.row};
}

/* Elements of a list, entries of a map. */
static inline size_t meta_cell_size(meta_cell c)
{
    if (meta_cell_null(c)) {
        return 0;
    }
    const int32_t *offsets = (const int32_t *)c.array->buffers[1] + c.array->offset + c.row;
    return (size_t)(offsets[1] - offsets[0]);
}

/* Element i of a list; of a map, entry i: a struct of key and value. */
static inline meta_cell meta_cell_element(meta_cell c, size_t i)
{
    const int32_t *offsets = (const int32_t *)c.array->buffers[1] + c.array->offset + c.row;
    return (meta_cell){c.array->children[0], offsets[0] + (int64_t)i};
}

static inline int64_t meta_cell_i64(meta_cell c, int64_t fallback)
{
    return meta_cell_null(c) ? fallback : frz_get_i64(c.array, c.row);
}

static inline int32_t meta_cell_i32(meta_cell c, int32_t fallback)
{
    return meta_cell_null(c) ? fallback : frz_get_i32(c.array, c.row);
}

/* -1: null */
static inline int8_t meta_cell_bool(meta_cell c)
{
    return meta_cell_null(c) ? -1 : (int8_t)frz_get_bool(c.array, c.row);
}

/* ptr NULL: null */
static inline frz_str meta_cell_str(meta_cell c)
{
    if (meta_cell_null(c)) {
        return (frz_str){NULL, 0};
    }
    frz_str bytes = frz_get_bytes(c.array, c.row);
    return bytes.ptr == NULL ? FRZ_STR("") : bytes;
}

/* ---- values that must be there (meta_cell.c); name is for messages ---- */

frz_code meta_want_i64(meta_cell c, const char *name, int64_t *out, frz_error *err);
frz_code meta_want_i32(meta_cell c, const char *name, int32_t *out, frz_error *err);
/* Not negative. */
frz_code meta_want_count(meta_cell c, const char *name, int64_t *out, frz_error *err);
/* Not empty, without zero bytes; copied. */
frz_code meta_want_text(meta_cell c, const char *name, frz_arena *arena, frz_str *out,
                        frz_error *err);
/* Bytes that may be null (ptr NULL); copied. */
frz_code meta_copy_bytes(meta_cell c, frz_arena *arena, frz_str *out, frz_error *err);
/* list<int> and list<long> without nulls; copied. */
frz_code meta_copy_id_list(meta_cell c, const char *name, frz_arena *arena, const int32_t **out,
                           size_t *count, frz_error *err);
frz_code meta_copy_count_list(meta_cell c, const char *name, frz_arena *arena, const int64_t **out,
                              size_t *count, frz_error *err);

#endif
