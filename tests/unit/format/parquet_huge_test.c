/*
 * Chunks and row groups beyond 32 bits: files are put together here page by page, with holes or
 * pages that repeat, so that they take little room. Places in them are read by row ranges;
 * FRAZIL_LONG reads them whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/codec.h"
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

/* ---- one required column in one row group, page by page ---- */

typedef struct huge_file {
    const frz_env *env;
    char path[64];
    int fd;
    uint64_t at; /* end so far */
    frz_codec_id codec;
    parquet_physical physical;
    int64_t rows, raw_bytes, dictionary_at, data_at;
} huge_file;

static void put(huge_file *f, const void *bytes, size_t len)
{
    assert_int_equal(pwrite(f->fd, bytes, len, (off_t)f->at), (ssize_t)len);
    f->at += len;
}

static void huge_begin(huge_file *f, const frz_env *env, parquet_physical physical,
                       frz_codec_id codec)
{
    *f = (huge_file){.env = env, .physical = physical, .codec = codec};
    snprintf(f->path, sizeof f->path, "/tmp/frazil_huge_XXXXXX");
    f->fd = mkstemp(f->path);
    assert_true(f->fd >= 0);
    put(f, "PAR1", 4);
}

/* The header of a page of n values; its body follows. */
static void put_header(huge_file *f, bool dictionary, parquet_encoding encoding, int64_t n,
                       size_t raw, size_t packed)
{
    frz_error err = {0};
    parquet_thrift_out t;
    frz_buf buf = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    int64_t *first = dictionary ? &f->dictionary_at : &f->data_at;
    *first = *first == 0 ? (int64_t)f->at : *first;
    parquet_put_begin(&t, &buf, &err);
    parquet_put_i32(&t, 1, dictionary ? PARQUET_DICTIONARY_PAGE : PARQUET_DATA_PAGE);
    parquet_put_i32(&t, 2, (int32_t)raw);
    parquet_put_i32(&t, 3, (int32_t)packed);
    parquet_put_struct(&t, dictionary ? 7 : 5);
    parquet_put_i32(&t, 1, (int32_t)n);
    parquet_put_i32(&t, 2, (int32_t)encoding);
    if (!dictionary) {
        parquet_put_i32(&t, 3, PARQUET_RLE);
        parquet_put_i32(&t, 4, PARQUET_RLE);
    }
    parquet_put_end(&t);
    parquet_put_end(&t);
    assert_int_equal(t.rc, FRZ_OK);
    put(f, buf.data, buf.len);
    f->raw_bytes += (int64_t)(buf.len + raw);
    f->rows += dictionary ? 0 : n;
    frz_buf_reset(&buf);
}

/* A page of plain values in zeros. */
static void put_hole(huge_file *f, int64_t n)
{
    put_header(f, false, PARQUET_PLAIN, n, (size_t)n * 8, (size_t)n * 8);
    f->at += (uint64_t)n * 8;
}

static void put_body(huge_file *f, bool dictionary, parquet_encoding encoding, int64_t n,
                     const void *body, size_t raw, size_t packed)
{
    put_header(f, dictionary, encoding, n, raw, packed);
    put(f, body, packed);
}

/* A page of one index n times: its width in bits, and one run. */
static void put_run(huge_file *f, int64_t n, uint8_t index)
{
    uint8_t body[16] = {1};
    size_t len = 1;
    uint64_t left = (uint64_t)n << 1;
    for (; left >= 0x80; left >>= 7) {
        body[len++] = (uint8_t)(left | 0x80);
    }
    body[len++] = (uint8_t)left;
    body[len++] = index;
    put_body(f, false, PARQUET_RLE_DICTIONARY, n, body, len, len);
}

static void put_schema(const huge_file *f, parquet_thrift_out *t)
{
    parquet_put_list(t, 2, PARQUET_THRIFT_STRUCT, 2);
    parquet_put_item_struct(t);
    parquet_put_binary(t, 4, FRZ_STR("root"));
    parquet_put_i32(t, 5, 1);
    parquet_put_end(t);
    parquet_put_item_struct(t);
    parquet_put_i32(t, 1, (int32_t)f->physical);
    parquet_put_i32(t, 3, PARQUET_REQUIRED);
    parquet_put_binary(t, 4, FRZ_STR("v"));
    parquet_put_i32(t, 9, 1);
    parquet_put_end(t);
}

static void put_chunk(const huge_file *f, parquet_thrift_out *t, int64_t packed)
{
    parquet_put_item_struct(t);
    parquet_put_i64(t, 2, 0);
    parquet_put_struct(t, 3);
    parquet_put_i32(t, 1, (int32_t)f->physical);
    parquet_put_list(t, 2, PARQUET_THRIFT_I32, 1);
    parquet_put_item_i32(t, PARQUET_PLAIN);
    parquet_put_list(t, 3, PARQUET_THRIFT_BINARY, 1);
    parquet_put_item_binary(t, FRZ_STR("v"));
    parquet_put_i32(t, 4, f->codec == FRZ_CODEC_ZSTD ? 6 : 0);
    parquet_put_i64(t, 5, f->rows);
    parquet_put_i64(t, 6, f->raw_bytes);
    parquet_put_i64(t, 7, packed);
    parquet_put_i64(t, 9, f->data_at);
    if (f->dictionary_at != 0) {
        parquet_put_i64(t, 11, f->dictionary_at);
    }
    parquet_put_end(t);
    parquet_put_end(t);
}

static void huge_end(huge_file *f)
{
    frz_error err = {0};
    parquet_thrift_out t;
    uint8_t tail[8] = {0, 0, 0, 0, 'P', 'A', 'R', '1'};
    frz_buf buf = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    int64_t packed = (int64_t)f->at - 4;
    parquet_put_begin(&t, &buf, &err);
    parquet_put_i32(&t, 1, 1);
    put_schema(f, &t);
    parquet_put_i64(&t, 3, f->rows);
    parquet_put_list(&t, 4, PARQUET_THRIFT_STRUCT, 1);
    parquet_put_item_struct(&t);
    parquet_put_list(&t, 1, PARQUET_THRIFT_STRUCT, 1);
    put_chunk(f, &t, packed);
    parquet_put_i64(&t, 2, f->raw_bytes);
    parquet_put_i64(&t, 3, f->rows);
    parquet_put_end(&t);
    parquet_put_end(&t);
    assert_int_equal(t.rc, FRZ_OK);
    frz_store_le32(tail, (uint32_t)buf.len);
    put(f, buf.data, buf.len);
    put(f, tail, sizeof tail);
    frz_buf_reset(&buf);
    assert_int_equal(close(f->fd), 0);
}

/* ---- reading ---- */

typedef struct found {
    int64_t batches, rows, most_rows;
    uint64_t sum;   /* of numbers, or of the lengths of text */
    int64_t weight; /* of (row + 1) * number, so that a value has its place */
} found;

static void add_numbers(found *f, const frz_batch *batch)
{
    const struct ArrowArray *v = batch->array.children[0];
    const int64_t *values = (const int64_t *)v->buffers[1] + v->offset;
    for (int64_t i = 0; i < v->length; i++) {
        f->sum += (uint64_t)values[i];
        f->weight = (int64_t)((uint64_t)f->weight +
                              (uint64_t)(batch->first_row + i + 1) * (uint64_t)values[i]);
    }
}

static void read_rows(const huge_file *f, frz_type_id id, const frz_read_request *bounds,
                      found *out)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    const frz_type type = {.id = id};
    const frz_field field = {.id = 1, .name = FRZ_STR("v"), .type = &type};
    const frz_type projection = {.id = FRZ_TYPE_STRUCT, .fields = &field, .field_count = 1};
    frz_read_request request = *bounds;
    frz_code rc;
    *out = (found){0};
    request.projection = &projection;
    assert_ok(frz_data_file_open(f->env, f->path, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_row_count(file), f->rows);
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    while ((rc = frz_data_reader_next(reader, &batch, &err)) == FRZ_OK) {
        out->batches++;
        out->rows += batch.array.length;
        out->most_rows = FRZ_MAX(out->most_rows, batch.array.length);
        if (id == FRZ_TYPE_LONG) {
            add_numbers(out, &batch);
        } else {
            const struct ArrowArray *v = batch.array.children[0];
            const int32_t *offsets = (const int32_t *)v->buffers[1] + v->offset;
            assert_true(offsets[v->length] >= offsets[0]);
            out->sum += (uint64_t)(offsets[v->length] - offsets[0]);
        }
        frz_array_release(&batch.array);
    }
    if (rc != FRZ_END) {
        assert_ok(rc, &err);
    }
    frz_data_reader_close(reader);
    frz_data_file_close(file);
}

static void read_ranges(const huge_file *f, const frz_row_range *ranges, size_t count, found *out)
{
    frz_read_request request = {.ranges = ranges, .range_count = count};
    read_rows(f, FRZ_TYPE_LONG, &request, out);
}

static bool is_long_run(void)
{
    return getenv("FRAZIL_LONG") != NULL;
}

/* ---- tests ---- */

#define PAGE_ROWS (INT64_C(8) << 20)

/* 80 pages of 64 MiB; the row whose number is the value lies in the first, at 2^31 and 2^32 bytes
 * of the file, and at the end. */
static void huge__a_chunk_of_more_than_4_gib(void **state)
{
    enum { pages = 80 };
    static const int64_t marked[] = {5, 31 * PAGE_ROWS + PAGE_ROWS - 3, 32 * PAGE_ROWS,
                                     64 * PAGE_ROWS + 1, pages * PAGE_ROWS - 1};
    huge_file f;
    found all;
    uint64_t body[pages];
    frz_row_range ranges[FRZ_ARRAY_COUNT(marked)];
    int64_t weight = 0;
    uint64_t sum = 0;
    huge_begin(&f, *state, PARQUET_INT64, FRZ_CODEC_NONE);
    for (int i = 0; i < pages; i++) {
        put_hole(&f, PAGE_ROWS);
        body[i] = f.at - (uint64_t)PAGE_ROWS * 8;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(marked); i++) {
        int64_t row = marked[i];
        uint64_t at = body[row / PAGE_ROWS] + (uint64_t)(row % PAGE_ROWS) * 8;
        if (pwrite(f.fd, &row, sizeof row, (off_t)at) != sizeof row) {
            print_message("no sparse file of 5 GiB here: errno %d\n", errno);
            unlink(f.path);
            skip();
        }
        ranges[i] = (frz_row_range){row - 1, row + 1};
        sum += (uint64_t)row;
        weight += (row + 1) * row;
    }
    huge_end(&f);
    read_ranges(&f, ranges, FRZ_ARRAY_COUNT(ranges), &all);
    assert_int_equal(all.rows, 2 * FRZ_ARRAY_COUNT(marked));
    assert_true(all.sum == sum && all.weight == weight);
    if (is_long_run()) {
        read_rows(&f, FRZ_TYPE_LONG, &(frz_read_request){0}, &all);
        assert_int_equal(all.rows, pages * PAGE_ROWS);
        assert_true(all.sum == sum && all.weight == weight);
    }
    unlink(f.path);
}

/* 40 times the same compressed page of 64 MiB. */
static void huge__a_chunk_of_more_than_2_gib_decompressed(void **state)
{
    enum { pages = 40 };
    huge_file f;
    found all;
    frz_error err = {0};
    frz_codec *codec = NULL;
    size_t raw = (size_t)PAGE_ROWS * 8;
    int64_t *values = calloc((size_t)PAGE_ROWS, sizeof *values);
    frz_buf packed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_row_range ranges[] = {{0, 2},
                              {33 * PAGE_ROWS - 1, 33 * PAGE_ROWS + 1},
                              {pages * PAGE_ROWS - 1, pages * PAGE_ROWS}};
    assert_non_null(values);
    values[0] = 3;
    values[PAGE_ROWS - 1] = 7;
    assert_ok(frz_codec_new(*state, FRZ_CODEC_ZSTD, 1, &codec, &err), &err);
    assert_ok(frz_codec_compress(codec, (const uint8_t *)values, raw, &packed, &err), &err);
    huge_begin(&f, *state, PARQUET_INT64, FRZ_CODEC_ZSTD);
    for (int i = 0; i < pages; i++) {
        put_body(&f, false, PARQUET_PLAIN, PAGE_ROWS, packed.data, raw, packed.len);
    }
    huge_end(&f);
    frz_codec_free(codec);
    frz_buf_reset(&packed);
    free(values);
    read_ranges(&f, ranges, FRZ_ARRAY_COUNT(ranges), &all);
    assert_int_equal(all.rows, 5);
    assert_true(all.sum == 3 + 7 + 3 + 7);
    assert_true(all.weight ==
                3 + 7 * 33 * PAGE_ROWS + 3 * (33 * PAGE_ROWS + 1) + 7 * pages * PAGE_ROWS);
    if (is_long_run()) {
        read_rows(&f, FRZ_TYPE_LONG, &(frz_read_request){0}, &all);
        assert_int_equal(all.rows, pages * PAGE_ROWS);
        assert_true(all.sum == pages * 10);
    }
    unlink(f.path);
}

#define RUN_ROWS INT64_C(1000000000)

/* 3 pages of 10^9 rows each, all of one value of the dictionary. */
static void huge__a_row_group_of_more_than_2_31_rows(void **state)
{
    static const int64_t dictionary[] = {11, 1000};
    huge_file f;
    found all;
    frz_row_range ranges[] = {{0, 10},
                              {RUN_ROWS - 1, RUN_ROWS + 1},
                              {INT64_C(1) << 31, (INT64_C(1) << 31) + 100000},
                              {3 * RUN_ROWS - 2, 3 * RUN_ROWS}};
    huge_begin(&f, *state, PARQUET_INT64, FRZ_CODEC_NONE);
    put_body(&f, true, PARQUET_PLAIN, 2, dictionary, sizeof dictionary, sizeof dictionary);
    for (uint8_t i = 0; i < 3; i++) {
        put_run(&f, RUN_ROWS, i & 1);
    }
    huge_end(&f);
    read_ranges(&f, ranges, FRZ_ARRAY_COUNT(ranges), &all);
    assert_int_equal(all.rows, 10 + 2 + 100000 + 2);
    assert_int_equal(all.sum, 11 * 11 + 1000 + 11 * 100002);
    assert_true(all.batches >= 5 && all.most_rows <= 65536);
    /* a batch may be asked for that cannot be */
    frz_read_request most = {
        .ranges = &ranges[2], .range_count = 1, .max_rows = INT64_MAX, .max_bytes = INT64_MAX};
    read_rows(&f, FRZ_TYPE_LONG, &most, &all);
    assert_int_equal(all.sum, 11 * 100000);
    unlink(f.path);
}

/* 3000 times a text of 1 MiB. */
static void huge__text_comes_in_batches_that_fit_32_bits(void **state)
{
    enum { len = 1 << 20, rows = 3000 };
    huge_file f;
    found all;
    uint8_t *dictionary = calloc(1, 4 + len);
    assert_non_null(dictionary);
    memset(dictionary + 4, 'x', len);
    frz_store_le32(dictionary, len);
    frz_row_range end = {rows - 40, rows};
    huge_begin(&f, *state, PARQUET_BYTE_ARRAY, FRZ_CODEC_NONE);
    put_body(&f, true, PARQUET_PLAIN, 1, dictionary, 4 + len, 4 + len);
    put_run(&f, rows, 0);
    huge_end(&f);
    free(dictionary);
    read_rows(&f, FRZ_TYPE_BINARY, &(frz_read_request){.ranges = &end, .range_count = 1}, &all);
    assert_int_equal(all.rows, 40);
    assert_int_equal(all.sum, UINT64_C(40) * len);
    assert_true(all.batches > 1);
    if (is_long_run()) { /* batches as large as they can be */
        frz_read_request most = {.max_rows = INT64_MAX, .max_bytes = INT64_MAX};
        read_rows(&f, FRZ_TYPE_BINARY, &most, &all);
        assert_int_equal(all.rows, rows);
        assert_int_equal(all.sum, (uint64_t)rows * len);
        assert_true(all.batches > 1 && all.most_rows < 2048);
    }
    unlink(f.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(huge__a_chunk_of_more_than_4_gib),
        TEST_WITH_ENV(huge__a_chunk_of_more_than_2_gib_decompressed),
        TEST_WITH_ENV(huge__a_row_group_of_more_than_2_31_rows),
        TEST_WITH_ENV(huge__text_comes_in_batches_that_fit_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
