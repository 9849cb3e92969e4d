/*
 * Another column chunk in an open file's footer, for tests of damaged and foreign footers.
 */
#ifndef FRZ_TEST_PARQUET_CHUNK_EDIT_H
#define FRZ_TEST_PARQUET_CHUNK_EDIT_H

#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

static inline void edit_put_binary(parquet_thrift_out *t, int16_t id, frz_str value)
{
    if (value.ptr != NULL) {
        parquet_put_binary(t, id, value);
    }
}

static inline void edit_put_statistics(parquet_thrift_out *t, const parquet_statistics *s)
{
    parquet_put_struct(t, 12);
    edit_put_binary(t, 1, s->max);
    edit_put_binary(t, 2, s->min);
    if (s->has_null_count) {
        parquet_put_i64(t, 3, s->null_count);
    }
    if (s->has_distinct_count) {
        parquet_put_i64(t, 4, s->distinct_count);
    }
    edit_put_binary(t, 5, s->max_value);
    edit_put_binary(t, 6, s->min_value);
    if (s->max_exact >= 0) {
        parquet_put_bool(t, 7, s->max_exact != 0);
    }
    if (s->min_exact >= 0) {
        parquet_put_bool(t, 8, s->min_exact != 0);
    }
    if (s->has_nan_count) {
        parquet_put_i64(t, 9, s->nan_count);
    }
    parquet_put_end(t);
}

static inline void edit_put_counts(parquet_thrift_out *t, int16_t id,
                                   const parquet_encoded_list *list)
{
    parquet_thrift in;
    if (list->count == 0) {
        return;
    }
    parquet_thrift_init(&in, (const uint8_t *)list->bytes.ptr, list->bytes.len, 0, NULL);
    parquet_put_list(t, id, PARQUET_THRIFT_I64, list->count);
    for (size_t i = 0; i < list->count; i++) {
        parquet_put_item_i64(t,
                             parquet_thrift_i64(&in, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I64)));
    }
}

static inline void edit_put_metadata(parquet_thrift_out *t, const parquet_chunk *chunk)
{
    parquet_put_struct(t, 3);
    parquet_put_i32(t, 1, (int32_t)chunk->physical);
    parquet_put_list(t, 2, PARQUET_THRIFT_I32, (size_t)__builtin_popcount(chunk->encodings));
    for (int32_t e = 0; e < 32; e++) {
        if ((chunk->encodings >> e & 1) != 0) {
            parquet_put_item_i32(t, e);
        }
    }
    parquet_put_i32(t, 4, chunk->codec);
    parquet_put_i64(t, 5, chunk->num_values);
    parquet_put_i64(t, 6, chunk->total_uncompressed_size);
    parquet_put_i64(t, 7, chunk->total_compressed_size);
    parquet_put_i64(t, 9, chunk->data_page_offset);
    parquet_put_i64(t, 11, chunk->dictionary_page_offset);
    edit_put_statistics(t, &chunk->statistics);
    parquet_put_struct(t, 16);
    edit_put_counts(t, 2, &chunk->sizes.repetition_levels);
    edit_put_counts(t, 3, &chunk->sizes.definition_levels);
    parquet_put_end(t);
    parquet_put_end(t);
}

/* What parquet_file_chunk gives from now on. */
static inline void edit_chunk(parquet_file *file, size_t group, size_t leaf,
                              const parquet_chunk *chunk)
{
    frz_buf buf;
    frz_error err = {0};
    parquet_thrift_out t;
    parquet_metadata *m = &file->metadata;
    frz_buf_init(&buf, file->base.env, FRZ_BUF_NO_LIMIT);
    assert_int_equal(frz_buf_append(&buf, m->bytes.ptr, m->bytes.len, &err), FRZ_OK);
    parquet_put_begin(&t, &buf, &err);
    edit_put_binary(&t, 1, chunk->file_path);
    edit_put_metadata(&t, chunk);
    if (chunk->encrypted) {
        parquet_put_binary(&t, 9, FRZ_STR(""));
    }
    parquet_put_end(&t);
    assert_int_equal(t.rc, FRZ_OK);
    m->groups[group].chunk_at[leaf] = (uint32_t)m->bytes.len;
    char *bytes = frz_arena_alloc(&file->footer->arena, buf.len);
    assert_non_null(bytes);
    memcpy(bytes, buf.data, buf.len);
    m->bytes = (frz_str){bytes, buf.len};
    frz_buf_reset(&buf);
}

#endif
