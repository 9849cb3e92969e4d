/*
 * The page index of a column chunk: where its pages lie and which rows they hold (offset index),
 * and between which bounds their values are (column index). spec: Page Index
 */
#ifndef FRZ_PARQUET_INDEX_H
#define FRZ_PARQUET_INDEX_H

#include "format/parquet/parquet_internal.h"

typedef struct parquet_page_location {
    uint64_t offset;   /* of the page's header in the file */
    uint64_t size;     /* header and body */
    int64_t first_row; /* within the row group */
} parquet_page_location;

/* Pages in the order of the file, one behind the other, which together hold all rows. */
typedef struct parquet_offset_index {
    const parquet_page_location *pages;
    const int64_t *byte_sizes; /* of byte arrays, by page, before encoding; NULL: not told */
    size_t count;
    int64_t rows; /* of the row group */
} parquet_offset_index;

typedef struct parquet_column_index {
    size_t count;             /* of pages; the lists below are as long */
    const uint8_t *null_page; /* 1: holds nulls only, and has no bounds */
    const frz_str *mins, *maxs;
    const int64_t *null_counts, *nan_counts; /* NULL: not told */
    int32_t boundary_order;                  /* -1: missing */
    parquet_encoded_list rep_levels;         /* i64; how often each level occurs, page by page */
    parquet_encoded_list def_levels;
    frz_str bytes; /* the whole, as it is in the file */
} parquet_column_index;

/* The page that holds a row of the row group. */
size_t parquet_offset_index_page(const parquet_offset_index *index, int64_t row);
/* Row of the group behind a page's last. */
int64_t parquet_page_end_row(const parquet_offset_index *index, size_t page);

/* Parse. offset: of the bytes in the file, for messages. Pages must lie between the bytes first and
 * end of the file and hold rows rows. Results live in the arena; bounds are views of the bytes. */
frz_code parquet_offset_index_parse(frz_arena *arena, frz_str bytes, uint64_t offset,
                                    uint64_t first, uint64_t end, int64_t rows,
                                    parquet_offset_index *out, frz_error *err);
frz_code parquet_column_index_parse(frz_arena *arena, frz_str bytes, uint64_t offset, size_t pages,
                                    parquet_column_index *out, frz_error *err);

/* ---- from the file, or kept from before (parquet_index_cache.c) ---- */

/* An index of a chunk: immutable, shared by prunings and readers, kept in the environment's cache.
 */
typedef struct parquet_kept_index {
    frz_cached cached;
    const frz_env *env;
    int64_t offset; /* its place in the file that it was read from */
    int32_t length;
    frz_arena arena;              /* its bytes and lists */
    parquet_offset_index offsets; /* of an offset index */
    parquet_column_index bounds;  /* of a column index */
} parquet_kept_index;

/* An index helps but is not needed: *out is NULL where there is none, or a damaged one (which is
 * logged). */
frz_code parquet_offset_index_get(const parquet_file *file, const parquet_chunk *chunk,
                                  size_t column, size_t group, parquet_kept_index **out,
                                  frz_error *err);
/* pages: of the chunk's offset index. */
frz_code parquet_column_index_get(const parquet_file *file, const parquet_chunk *chunk,
                                  size_t column, size_t group, size_t pages,
                                  parquet_kept_index **out, frz_error *err);
void parquet_kept_index_unref(parquet_kept_index *index); /* NULL is fine */

/* The end of reading optional metadata: damage is logged and forgotten, which gives FRZ_OK. What is
 * wrong with the machine and not with the file (memory, storage) is passed on in err. */
frz_code parquet_ignore_damage(const parquet_file *file, size_t column, size_t group,
                               const char *what, frz_code code, const frz_error *why,
                               frz_error *err);

#endif
