/*
 * Rows found in blocks: ranges, bounds of batches, blocks of every size, codecs, and what a file
 * says about itself.
 */
#include "codec/codec.h"
#include "format/avro/avro_internal.h"
#include "frazil/avro.h"
#include "unit/format/avro_build.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"i\",\"field-id\":1,\"type\":"     \
    "\"long\"},{\"name\":\"s\",\"field-id\":2,\"type\":\"string\"}]}"

/* Row i: the number and a text made of it. */
static void put_row(avro_bytes *b, int64_t i, size_t text_len)
{
    char text[2000];
    assert_true(text_len < sizeof text);
    memset(text, 'a' + (int)(i % 26), text_len);
    put_long(b, i);
    put_bytes(b, text, text_len);
}

/* Rows in blocks of a number of rows each; the last one has what is left. */
static char *write_rows(const frz_env *env, int64_t rows, int64_t per_block, size_t text_len)
{
    avro_bytes file = avro_bytes_of(env);
    put_header(&file, SCHEMA, NULL);
    for (int64_t i = 0; i < rows; i += per_block) {
        avro_bytes data = avro_bytes_of(env);
        int64_t end = FRZ_MIN(i + per_block, rows);
        for (int64_t k = i; k < end; k++) {
            put_row(&data, k, text_len);
        }
        put_block(&file, end - i, &data);
        frz_buf_reset(&data.buf);
    }
    return avro_write(&file);
}

/* Read ranges; the numbers must be those of the rows, in order, and batches within their bounds. */
static void assert_ranges(const frz_data_file *file, frz_read_request *request, int64_t rows)
{
    frz_error err = {0};
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_row_range all = {0, rows};
    const frz_row_range *ranges = request->ranges == NULL ? &all : request->ranges;
    size_t count = request->ranges == NULL ? 1 : request->range_count;
    size_t range = 0;
    int64_t next = count > 0 ? ranges[0].start : 0;
    frz_code rc;
    assert_ok(frz_data_reader_open(file, request, &reader, &err), &err);
    for (rc = frz_data_reader_next(reader, &batch, &err); rc == FRZ_OK;
         rc = frz_data_reader_next(reader, &batch, &err)) {
        while (range < count && next == ranges[range].end) {
            next = ++range < count ? ranges[range].start : next;
        }
        assert_int_equal(batch.first_row, next);
        assert_true(batch.array.length > 0);
        assert_true(request->max_rows == 0 || batch.array.length <= request->max_rows);
        for (int64_t i = 0; i < batch.array.length; i++) {
            assert_int_equal(frz_get_i64(batch.array.children[0], i), next + i);
        }
        next += batch.array.length;
        assert_true(range < count && next <= ranges[range].end);
        frz_array_release(&batch.array);
    }
    assert_int_equal(rc, FRZ_END);
    while (range < count && next == ranges[range].end) {
        next = ++range < count ? ranges[range].start : next;
    }
    assert_int_equal(range, count);
    frz_data_reader_close(reader);
}

static void blocks__any_rows_of_blocks_of_any_size(void **state)
{
    static const int64_t per_block[] = {1, 3, 100, 5000};
    static const frz_row_range some[] = {{0, 1}, {1, 1}, {7, 500}, {500, 501}, {2000, 2999}};
    static const frz_row_range last[] = {{2999, 3000}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(per_block); i++) {
        frz_error err = {0};
        frz_data_file *file = NULL;
        char *location = write_rows(*state, 3000, per_block[i], 20);
        assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
        assert_int_equal(frz_data_file_row_count(file), 3000);
        frz_read_request request = {.projection = frz_data_file_type(file)};
        assert_ranges(file, &request, 3000);
        request.max_rows = 7;
        assert_ranges(file, &request, 3000);
        request.ranges = some;
        request.range_count = FRZ_ARRAY_COUNT(some);
        assert_ranges(file, &request, 3000);
        request.max_rows = 0;
        assert_ranges(file, &request, 3000);
        request.ranges = last;
        request.range_count = 1;
        assert_ranges(file, &request, 3000);
        request.range_count = 0;
        assert_ranges(file, &request, 3000);
        frz_data_file_close(file);
        avro_remove(location);
    }
}

static void blocks__ranges_outside_of_the_file_are_refused(void **state)
{
    static const frz_row_range bad[][2] = {{{0, 11}, {11, 11}}, {{5, 4}, {5, 6}}, {{5, 6}, {5, 7}}};
    frz_data_file *file = NULL;
    frz_error err = {0};
    char *location = write_rows(*state, 10, 3, 1);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bad); i++) {
        frz_data_reader *reader = NULL;
        frz_read_request request = {
            .projection = frz_data_file_type(file), .ranges = bad[i], .range_count = 2};
        assert_fails(frz_data_reader_open(file, &request, &reader, &err), &err, FRZ_E_ARGUMENT,
                     "row range");
    }
    frz_data_file_close(file);
    avro_remove(location);
}

static void blocks__a_batch_ends_at_its_bytes(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    char *location = write_rows(*state, 1000, 10, 1000);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    frz_read_request request = {.projection = frz_data_file_type(file), .max_bytes = 50000};
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    assert_ok(frz_data_reader_next(reader, &batch, &err), &err);
    assert_in_range(batch.array.length, 40, 60);
    frz_array_release(&batch.array);
    frz_data_reader_close(reader);
    request.max_bytes = 1; /* a row at a time */
    assert_ranges(file, &request, 1000);
    frz_data_file_close(file);
    avro_remove(location);
}

/* Many tiny blocks: few reads, and an index that does not have them all. */
static void blocks__tiny_ones_cost_little(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_env_counters before, after;
    char *location = write_rows(*state, 50000, 1, 3);
    frz_env_counters_get(*state, &before);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    const avro_file *inner = (const avro_file *)file;
    assert_int_equal(inner->index.block_count, 50000);
    assert_true(inner->index.run_count < 30);
    frz_env_counters_get(*state, &after);
    /* each byte once, and what is left of a piece at its end */
    assert_true(after.bytes_read - before.bytes_read < frz_data_file_size(file) + 100000);
    frz_read_request request = {.projection = frz_data_file_type(file)};
    before = after;
    assert_ranges(file, &request, 50000);
    frz_env_counters_get(*state, &after);
    assert_true(after.bytes_read - before.bytes_read < frz_data_file_size(file) + 100000);
    frz_data_file_close(file);
    avro_remove(location);
}

/* Opening a file of large blocks does not read them. */
static void blocks__large_ones_are_passed_over(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_env_counters before, after;
    char *location = write_rows(*state, 20000, 1000, 1000);
    frz_env_counters_get(*state, &before);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    frz_env_counters_get(*state, &after);
    assert_true(after.bytes_read - before.bytes_read < frz_data_file_size(file) / 20);
    frz_data_file_close(file);
    avro_remove(location);
}

static void blocks__without_rows_are_nothing(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    avro_bytes bytes = avro_bytes_of(*state);
    avro_bytes data = avro_bytes_of(*state);
    put_header(&bytes, SCHEMA, NULL);
    put_block(&bytes, 0, &data);
    put_row(&data, 0, 1);
    put_block(&bytes, 1, &data);
    frz_buf_reset(&data.buf);
    put_block(&bytes, 0, &data);
    put_row(&data, 1, 2);
    put_block(&bytes, 1, &data);
    frz_buf_reset(&data.buf);
    put_block(&bytes, 0, &data);
    char *location = avro_write(&bytes);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_row_count(file), 2);
    frz_read_request request = {.projection = frz_data_file_type(file)};
    assert_ranges(file, &request, 2);
    frz_data_file_close(file);
    avro_remove(location);
    bytes = avro_bytes_of(*state);
    put_header(&bytes, SCHEMA, NULL);
    location = avro_write(&bytes);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_row_count(file), 0);
    request.projection = frz_data_file_type(file);
    assert_ranges(file, &request, 0);
    size_t groups;
    frz_data_file_group_ends(file, &groups);
    assert_int_equal(groups, 0);
    frz_data_file_close(file);
    avro_remove(location);
}

static void blocks__groups_end_between_blocks(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    size_t count;
    char *location = write_rows(*state, 20000, 100, 1900);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    assert_int_equal(count, 3);
    assert_int_equal(ends[0] % 100, 0);
    assert_true(ends[0] < ends[1] && ends[1] < ends[2]);
    assert_int_equal(ends[2], 20000);
    frz_data_file_close(file);
    avro_remove(location);
}

/* ---- codecs ---- */

static const struct {
    const char *name;
    frz_codec_id id;
} codecs[] = {
    {"null", FRZ_CODEC_NONE},      {"deflate", FRZ_CODEC_DEFLATE}, {"snappy", FRZ_CODEC_SNAPPY},
    {"zstandard", FRZ_CODEC_ZSTD}, {"bzip2", FRZ_CODEC_BZIP2},     {"xz", FRZ_CODEC_XZ},
};

/* Three blocks of some rows each, packed; crc is added to snappy's checksum. */
static char *write_packed(const frz_env *env, const char *name, frz_codec_id id, uint32_t crc)
{
    frz_error err = {0};
    frz_codec *codec = NULL;
    avro_bytes file = avro_bytes_of(env);
    put_header(&file, SCHEMA, name);
    assert_ok(frz_codec_new(env, id, 0, &codec, &err), &err);
    for (int64_t block = 0; block < 3; block++) {
        avro_bytes data = avro_bytes_of(env), packed = avro_bytes_of(env);
        for (int64_t i = 0; i < 100; i++) {
            put_row(&data, block * 100 + i, 50);
        }
        assert_ok(frz_codec_compress(codec, data.buf.data, data.buf.len, &packed.buf, &err), &err);
        if (id == FRZ_CODEC_SNAPPY) {
            uint32_t sum = frz_crc32(0, data.buf.data, data.buf.len) + crc;
            for (int shift = 24; shift >= 0; shift -= 8) {
                put_byte(&packed, sum >> shift & 0xFF);
            }
        }
        put_block(&file, 100, &packed);
        frz_buf_reset(&data.buf);
        frz_buf_reset(&packed.buf);
    }
    frz_codec_free(codec);
    return avro_write(&file);
}

static void codecs__each_is_read_from_any_row(void **state)
{
    static const frz_row_range some[] = {{5, 7}, {150, 250}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        frz_error err = {0};
        frz_data_file *file = NULL;
        char *location = write_packed(*state, codecs[i].name, codecs[i].id, 0);
        assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
        frz_read_request request = {.projection = frz_data_file_type(file)};
        assert_ranges(file, &request, 300);
        request.ranges = some;
        request.range_count = 2;
        assert_ranges(file, &request, 300);
        frz_data_file_close(file);
        avro_remove(location);
    }
}

static void codecs__a_wrong_checksum_is_corrupt(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    char *location = write_packed(*state, "snappy", FRZ_CODEC_SNAPPY, 1);
    assert_fails(avro_read(*state, location, NULL, &out, &err), &err, FRZ_E_CORRUPT,
                 "block at byte 175: the block's checksum is ");
    frz_buf_reset(&out);
    avro_remove(location);
}

static void codecs__unknown_ones_are_named(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    avro_bytes bytes = avro_bytes_of(*state);
    put_header(&bytes, SCHEMA, "lzo");
    char *location = avro_write(&bytes);
    assert_fails(frz_data_file_open(*state, location, NULL, &file, &err), &err, FRZ_E_UNSUPPORTED,
                 "Avro codec \"lzo\"");
    avro_remove(location);
}

/* ---- what the file says ---- */

/* Pairs in several blocks, one of them with its size; the last of a key counts. */
static char *write_pairs(const frz_env *env)
{
    avro_bytes b = avro_bytes_of(env), pairs = avro_bytes_of(env);
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 2);
    put_text(&b, "format-version");
    put_text(&b, "1");
    put_text(&b, "avro.schema");
    put_text(&b, SCHEMA);
    put_text(&pairs, "format-version");
    put_text(&pairs, "2");
    put_text(&pairs, "empty");
    put_text(&pairs, "");
    put_long(&b, -2);
    put_long(&b, (int64_t)pairs.buf.len);
    put_raw(&b, pairs.buf.data, pairs.buf.len);
    put_long(&b, 0);
    put_raw(&b, avro_sync, sizeof avro_sync);
    frz_buf_reset(&pairs.buf);
    return avro_write(&b);
}

static void metadata__is_found_by_key(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_str value;
    char *location = write_pairs(*state);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_true(frz_data_file_metadata(file, "format-version", &value));
    assert_true(frz_str_equal(value, FRZ_STR("2")));
    assert_true(frz_data_file_metadata(file, "empty", &value));
    assert_int_equal(value.len, 0);
    assert_false(frz_data_file_metadata(file, "schema", &value));
    assert_string_equal(frz_data_file_model(file)->name, "avro");
    frz_data_file_close(file);
    avro_remove(location);
}

static void layout__is_shared_by_files_of_one_schema(void **state)
{
    frz_error err = {0};
    frz_data_file *a = NULL, *b = NULL;
    char *first = write_rows(*state, 1, 1, 1);
    char *second = write_rows(*state, 2, 1, 1);
    assert_ok(frz_data_file_open(*state, first, NULL, &a, &err), &err);
    assert_ok(frz_data_file_open(*state, second, NULL, &b, &err), &err);
    assert_ptr_equal(((avro_file *)a)->layout, ((avro_file *)b)->layout);
    frz_data_file_close(a);
    frz_data_file_close(b);
    avro_remove(first);
    avro_remove(second);
}

/* ---- the public interface ---- */

static int64_t count_rows(frz_avro_file *file, const frz_avro_read_options *opts, int64_t *first)
{
    frz_error err = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    int64_t rows = 0;
    assert_ok(frz_avro_file_read(file, opts, &stream, &err), &err);
    frz_avro_file_close(file); /* the stream keeps it */
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        if (batch.release == NULL) {
            break;
        }
        if (rows == 0) {
            *first = frz_get_i64(batch.children[batch.n_children - 1], 0);
        }
        rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return rows;
}

static void public__columns_and_rows(void **state)
{
    static const char *const columns[] = {"S", "i"};
    frz_error err = {0};
    frz_avro_file *file = NULL;
    frz_avro_file_info info;
    struct ArrowSchema schema = {0};
    int64_t first = -1;
    char *location = write_rows(*state, 100, 9, 4);
    assert_ok(frz_avro_file_open(*state, location, &file, &err), &err);
    frz_avro_file_info_get(file, &info);
    assert_int_equal(info.rows, 100);
    assert_int_equal(info.blocks, 12);
    assert_string_equal(info.codec, "null");
    assert_int_equal(info.key_count, 1);
    const char *key, *value;
    size_t key_size, value_size;
    frz_avro_file_key(file, 0, &key, &key_size, &value, &value_size);
    assert_int_equal(value_size, sizeof SCHEMA - 1);
    assert_ok(frz_avro_file_schema(file, &schema, &err), &err);
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[1]->format, "u");
    schema.release(&schema);
    frz_avro_read_options opts = FRZ_AVRO_READ_OPTIONS_INIT;
    opts.columns = columns;
    opts.column_count = 2;
    opts.first_row = 42;
    opts.end_row = 99;
    assert_int_equal(count_rows(file, &opts, &first), 57);
    assert_int_equal(first, 42);
    avro_remove(location);
}

static void public__mistakes_are_told(void **state)
{
    static const char *const columns[] = {"nope"};
    frz_error err = {0};
    frz_avro_file *file = NULL;
    struct ArrowArrayStream stream = {0};
    frz_avro_read_options opts = FRZ_AVRO_READ_OPTIONS_INIT;
    opts.columns = columns;
    opts.column_count = 1;
    assert_fails(frz_avro_file_open(*state, "tests/data/parquet/flat.parquet", &file, &err), &err,
                 FRZ_E_ARGUMENT, "expected avro");
    char *location = write_rows(*state, 1, 1, 1);
    assert_ok(frz_avro_file_open(*state, location, &file, &err), &err);
    assert_fails(frz_avro_file_read(file, &opts, &stream, &err), &err, FRZ_E_NOT_FOUND, "nope");
    frz_avro_file_close(file);
    avro_remove(location);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(blocks__any_rows_of_blocks_of_any_size),
        TEST_WITH_ENV(blocks__ranges_outside_of_the_file_are_refused),
        TEST_WITH_ENV(blocks__a_batch_ends_at_its_bytes),
        TEST_WITH_ENV(blocks__tiny_ones_cost_little),
        TEST_WITH_ENV(blocks__large_ones_are_passed_over),
        TEST_WITH_ENV(blocks__without_rows_are_nothing),
        TEST_WITH_ENV(blocks__groups_end_between_blocks),
        TEST_WITH_ENV(codecs__each_is_read_from_any_row),
        TEST_WITH_ENV(codecs__a_wrong_checksum_is_corrupt),
        TEST_WITH_ENV(codecs__unknown_ones_are_named),
        TEST_WITH_ENV(metadata__is_found_by_key),
        TEST_WITH_ENV(layout__is_shared_by_files_of_one_schema),
        TEST_WITH_ENV(public__columns_and_rows),
        TEST_WITH_ENV(public__mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
