/*
 * The writer itself, for the files that work on it: parquet_writer.c, parquet_write_options.c and
 * parquet_splice.c.
 */
#ifndef FRZ_PARQUET_WRITER_INTERNAL_H
#define FRZ_PARQUET_WRITER_INTERNAL_H

#include "format/parquet/parquet_write.h"
#include "type/type_normalize.h"

typedef enum parquet_writer_state {
    PARQUET_WRITER_IDLE = 0,
    PARQUET_WRITER_ROWS,
    PARQUET_WRITER_COLUMNS,
    PARQUET_WRITER_FAILED
} parquet_writer_state;

/* A bloom filter of another file that is copied behind the chunks of its row group. */
typedef struct parquet_bloom_copy {
    const frz_file *src; /* NULL: none */
    uint64_t offset, len;
} parquet_bloom_copy;

struct frz_parquet_writer {
    const frz_env *env;
    frz_arena arena;            /* schema and keys */
    frz_arena type_arena;       /* the type, if nobody else holds it */
    frz_normalizer *normalizer; /* of batches of others; NULL: they have the library's form */
    char *location;
    parquet_write_schema schema;
    parquet_write_shared shared;
    parquet_column_writer *columns; /* one per leaf */
    parquet_metrics_sum *sums;
    parquet_key_value *keys;
    size_t key_count;
    parquet_sorting_column *sorting;
    size_t sorting_count;
    parquet_writer_state state;
    /* the open group */
    int64_t group_rows;
    uint64_t group_start, raw_size, packed_size;
    parquet_chunk *chunks; /* one per leaf, complete from the first on */
    size_t chunk_count;
    parquet_bloom_copy *bloom_copies; /* one per leaf; NULL: there was none yet */
    size_t field;                     /* columns: the top-level field that is open or comes next */
    int64_t field_rows;               /* rows it has */
    /* the file */
    frz_buf groups;  /* RowGroups */
    frz_buf marks;   /* parquet_index_mark, of the groups */
    frz_buf offsets; /* int64_t, start of each */
    size_t group_count;
    int64_t row_count;
};

/* As frz_parquet_writer_open; whole: as parquet_write_schema_of. */
frz_code parquet_writer_open(const frz_env *env, const char *location, const frz_type *struct_type,
                             bool whole, const frz_parquet_write_options *opts,
                             frz_parquet_writer **out, frz_error *err);

/* Options (parquet_write_options.c): those that need no schema, before there is one, then those of
 * columns. opts may be NULL. */
frz_code parquet_options_open(frz_parquet_writer *w, const frz_parquet_write_options *opts,
                              frz_error *err);
frz_code parquet_options_apply(frz_parquet_writer *w, frz_error *err);
/* Complete the chunks of a field whose rows are all there. */
frz_code parquet_writer_end_columns(frz_parquet_writer *w, const parquet_write_node *node,
                                    frz_error *err);
/* A chunk of the open group is complete. */
void parquet_writer_add_chunk(frz_parquet_writer *w, const parquet_chunk *chunk);
/* Let field be the next one; those before it must be complete. */
frz_code parquet_writer_skip_to(frz_parquet_writer *w, size_t field, frz_error *err);
/* As frz_parquet_writer_splice (parquet_splice.c). */
frz_code parquet_writer_splice_field(frz_parquet_writer *w, size_t field_index,
                                     const frz_data_file *src, size_t src_group,
                                     int32_t src_field_id, bool *done, frz_error *err);
frz_code parquet_writer_splice_members(frz_parquet_writer *w, size_t field_index,
                                       const frz_data_file *src, size_t src_group,
                                       int32_t src_field_id,
                                       const struct ArrowArray *const *members, bool *done,
                                       frz_error *err);
/* Page index, counts and bloom filter of a chunk that is copied to leaf own
 * (parquet_splice_index.c). chunk has its place in the new file. */
frz_code parquet_splice_indexes(frz_parquet_writer *w, size_t own, const parquet_file *src,
                                size_t group, size_t column, const parquet_chunk *from,
                                parquet_chunk *chunk, frz_error *err);

#endif
