/* Column chunks parsed from the footer's bytes: every member, and bytes that are none. */
#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

typedef struct chunk_test {
    const frz_env *env;
    frz_buf bytes;
    frz_error err;
    parquet_thrift_out t;
} chunk_test;

static void open_chunk(chunk_test *c, const frz_env *env)
{
    *c = (chunk_test){.env = env};
    frz_buf_init(&c->bytes, env, FRZ_BUF_NO_LIMIT);
    parquet_put_begin(&c->t, &c->bytes, &c->err);
}

/* The bytes as the only chunk of a file. */
static frz_code parse_chunk(const chunk_test *c, size_t len, parquet_chunk *out, frz_error *err)
{
    uint32_t at = 0;
    parquet_group group = {.chunk_at = &at, .chunk_count = 1};
    parquet_file file = {.metadata = {.bytes = {(const char *)c->bytes.data, len},
                                      .groups = &group,
                                      .group_count = 1}};
    return parquet_file_chunk(&file, 0, 0, out, err);
}

static void close_chunk(chunk_test *c, parquet_chunk *out)
{
    frz_error err = {0};
    parquet_put_end(&c->t);
    assert_ok(c->t.rc, &c->err);
    for (size_t len = 0; len < c->bytes.len; len++) {
        frz_error cut = {0};
        assert_fails(parse_chunk(c, len, out, &cut), &cut, FRZ_E_CORRUPT, "thrift");
    }
    assert_ok(parse_chunk(c, c->bytes.len, out, &err), &err);
}

static void put_page_encoding(parquet_thrift_out *t, int32_t type, int32_t encoding, int32_t count)
{
    parquet_put_item_struct(t);
    parquet_put_i32(t, 1, type);
    parquet_put_i32(t, 2, encoding);
    parquet_put_i32(t, 3, count);
    parquet_put_end(t);
}

static void put_sizes(parquet_thrift_out *t)
{
    parquet_put_struct(t, 16);
    parquet_put_i64(t, 1, 1000);
    parquet_put_list(t, 3, PARQUET_THRIFT_I64, 2);
    parquet_put_encoded(t, FRZ_STR("\x02\x80\x01")); /* 1, 64 */
    parquet_put_end(t);
}

static void chunk__every_member(void **state)
{
    chunk_test c;
    parquet_chunk chunk;
    open_chunk(&c, *state);
    parquet_put_i64(&c.t, 2, 7);
    parquet_put_struct(&c.t, 3);
    parquet_put_i32(&c.t, 1, PARQUET_BYTE_ARRAY);
    parquet_put_list(&c.t, 2, PARQUET_THRIFT_I32, 4);
    parquet_put_item_i32(&c.t, PARQUET_PLAIN);
    parquet_put_item_i32(&c.t, PARQUET_RLE_DICTIONARY);
    parquet_put_item_i32(&c.t, 31);
    parquet_put_item_i32(&c.t, -1);
    parquet_put_list(&c.t, 3, PARQUET_THRIFT_BINARY, 1);
    parquet_put_item_binary(&c.t, FRZ_STR("a"));
    parquet_put_i32(&c.t, 4, 6);
    parquet_put_i64(&c.t, 5, 100);
    parquet_put_i64(&c.t, 6, 2000);
    parquet_put_i64(&c.t, 7, 1000);
    parquet_put_i64(&c.t, 9, 54);
    parquet_put_i64(&c.t, 11, 4);
    parquet_put_struct(&c.t, 12);
    parquet_put_i64(&c.t, 3, 5);
    parquet_put_binary(&c.t, 5, FRZ_STR("z"));
    parquet_put_bool(&c.t, 7, true);
    parquet_put_end(&c.t);
    parquet_put_i64(&c.t, 14, 3000);
    parquet_put_i32(&c.t, 15, 32);
    put_sizes(&c.t);
    parquet_put_struct(&c.t, 17);
    parquet_put_end(&c.t);
    parquet_put_end(&c.t);
    parquet_put_i64(&c.t, 4, 4000);
    parquet_put_i32(&c.t, 5, 40);
    parquet_put_i64(&c.t, 6, 5000);
    parquet_put_i32(&c.t, 7, 50);
    close_chunk(&c, &chunk);
    assert_int_equal(chunk.physical, PARQUET_BYTE_ARRAY);
    assert_int_equal(chunk.encodings,
                     1u << PARQUET_PLAIN | 1u << PARQUET_RLE_DICTIONARY | PARQUET_OTHER_ENCODING);
    assert_int_equal(chunk.codec, 6);
    assert_int_equal(chunk.num_values, 100);
    assert_int_equal(chunk.total_uncompressed_size, 2000);
    assert_int_equal(chunk.total_compressed_size, 1000);
    assert_int_equal(chunk.data_page_offset, 54);
    assert_int_equal(parquet_chunk_start(&chunk), 4);
    assert_true(chunk.statistics.has_null_count && chunk.statistics.null_count == 5);
    assert_true(frz_str_equal(chunk.statistics.max_value, FRZ_STR("z")));
    assert_int_equal(chunk.statistics.max_exact, 1);
    assert_int_equal(chunk.statistics.min_exact, -1);
    assert_null(chunk.statistics.min_value.ptr);
    assert_false(chunk.has_encoding_stats || chunk.all_dictionary);
    assert_int_equal(chunk.bloom_filter_offset, 3000);
    assert_int_equal(chunk.bloom_filter_length, 32);
    assert_true(chunk.sizes.has_unencoded_bytes && chunk.sizes.unencoded_bytes == 1000);
    assert_int_equal(chunk.sizes.repetition_levels.count, 0);
    assert_int_equal(chunk.sizes.definition_levels.count, 2);
    assert_int_equal(chunk.sizes.definition_levels.bytes.len, 3);
    assert_int_equal(chunk.offset_index_offset, 4000);
    assert_int_equal(chunk.offset_index_length, 40);
    assert_int_equal(chunk.column_index_offset, 5000);
    assert_int_equal(chunk.column_index_length, 50);
    assert_false(chunk.encrypted);
    assert_null(chunk.file_path.ptr);
    frz_buf_reset(&c.bytes);
}

static void check_pages(void **state, const int32_t (*pages)[3], size_t count, bool told,
                        bool all_dictionary)
{
    chunk_test c;
    parquet_chunk chunk;
    open_chunk(&c, *state);
    parquet_put_struct(&c.t, 3);
    parquet_put_list(&c.t, 13, PARQUET_THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        put_page_encoding(&c.t, pages[i][0], pages[i][1], pages[i][2]);
    }
    parquet_put_end(&c.t);
    close_chunk(&c, &chunk);
    assert_int_equal(chunk.has_encoding_stats, told);
    assert_int_equal(chunk.all_dictionary, all_dictionary);
    frz_buf_reset(&c.bytes);
}

static void chunk__all_pages_are_dictionary_encoded_or_not(void **state)
{
    static const int32_t all[][3] = {{PARQUET_DICTIONARY_PAGE, PARQUET_PLAIN, 1},
                                     {PARQUET_DATA_PAGE, PARQUET_RLE_DICTIONARY, 3},
                                     {PARQUET_DATA_PAGE_V2, PARQUET_PLAIN_DICTIONARY, 1},
                                     {PARQUET_DATA_PAGE, PARQUET_PLAIN, 0}};
    static const int32_t given_up[][3] = {{PARQUET_DATA_PAGE, PARQUET_PLAIN, 1},
                                          {PARQUET_DATA_PAGE, PARQUET_RLE_DICTIONARY, 3}};
    static const int32_t given_up_later[][3] = {{PARQUET_DATA_PAGE, PARQUET_RLE_DICTIONARY, 3},
                                                {PARQUET_DATA_PAGE_V2, PARQUET_PLAIN, 1}};
    check_pages(state, all, FRZ_ARRAY_COUNT(all), true, true);
    check_pages(state, given_up, FRZ_ARRAY_COUNT(given_up), true, false);
    check_pages(state, given_up_later, FRZ_ARRAY_COUNT(given_up_later), true, false);
    check_pages(state, all, 1, false, false);
    check_pages(state, all, 0, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(chunk__every_member),
        TEST_WITH_ENV(chunk__all_pages_are_dictionary_encoded_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
