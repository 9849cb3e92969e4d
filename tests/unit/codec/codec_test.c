/*
 * Codecs: round trips, sizes that lie, damage, gzip members.
 */
#include <lz4.h>
#include <lz4frame.h>
#include <stdlib.h>

#include "unit/test_support.h"

#include "codec/codec.h"

static const frz_codec_id all[] = {
    FRZ_CODEC_NONE,   FRZ_CODEC_SNAPPY,    FRZ_CODEC_GZIP,    FRZ_CODEC_ZSTD,  FRZ_CODEC_LZ4_RAW,
    FRZ_CODEC_BROTLI, FRZ_CODEC_LZ4_FRAME, FRZ_CODEC_DEFLATE, FRZ_CODEC_BZIP2, FRZ_CODEC_XZ};

#define TEXT_SIZE 5000

static void fill(uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)((i * i) >> 5);
    }
}

static void codec__round_trip_of_every_codec(void **state)
{
    uint8_t in[TEXT_SIZE];
    uint8_t back[TEXT_SIZE];
    fill(in, sizeof in);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        static const size_t sizes[] = {0, 1, TEXT_SIZE};
        for (size_t s = 0; s < FRZ_ARRAY_COUNT(sizes); s++) {
            frz_error err = {0};
            frz_codec *codec = NULL;
            frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
            assert_ok(frz_codec_new(*state, all[i], 0, &codec, &err), &err);
            assert_ok(frz_codec_compress(codec, in, sizes[s], &out, &err), &err);
            assert_ok(frz_codec_decompress(codec, out.data, out.len, back, sizes[s], &err), &err);
            assert_memory_equal(in, back, sizes[s]);
            frz_buf_reset(&out);
            frz_codec_free(codec);
        }
    }
}

/* Head bytes, then parts of bytes of one kind each: all the same, two kinds, any. */
static void fill_parts(uint8_t *bytes, size_t len, size_t head)
{
    uint32_t seed = 1;
    for (size_t i = 0; i < len; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t kind = i < head ? 0 : 1 + (i - head) * 4 / (len - head);
        bytes[i] = (uint8_t)(kind == 1 ? 7 : kind == 2 ? seed >> 24 & 1 : seed >> 24);
    }
}

static void codec__parts_come_back_as_one(void **state)
{
    static const size_t sizes[] = {1, 3, 4, 100, 4000, 300000};
    uint8_t *in = malloc(sizes[5]);
    uint8_t *back = malloc(sizes[5]);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        frz_error err = {0};
        frz_codec *codec = NULL;
        assert_ok(frz_codec_new(*state, all[i], 0, &codec, &err), &err);
        assert_int_equal(frz_codec_has_parts(codec), all[i] == FRZ_CODEC_ZSTD);
        for (size_t s = 0; s < FRZ_ARRAY_COUNT(sizes); s++) {
            for (size_t head = 0; head <= 40; head += 20) {
                size_t len = sizes[s];
                frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
                if (head >= len) {
                    continue;
                }
                fill_parts(in, len, head);
                assert_ok(frz_codec_compress_parts(codec, in, len, head, 4, &out, &err), &err);
                assert_ok(frz_codec_decompress(codec, out.data, out.len, back, len, &err), &err);
                assert_memory_equal(in, back, len);
                frz_buf_reset(&out);
            }
        }
        frz_codec_free(codec);
    }
    free(in);
    free(back);
}

/* A part whose bytes take a bit each takes no more for being among others. */
static void codec__zstd_codes_each_part_by_its_own_frequencies(void **state)
{
    enum { PART = 32768 };
    frz_error err = {0};
    frz_codec *codec = NULL;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    uint8_t *in = malloc(4 * PART);
    fill_parts(in, 4 * PART, 0);
    assert_ok(frz_codec_new(*state, FRZ_CODEC_ZSTD, 0, &codec, &err), &err);
    assert_ok(frz_codec_compress_parts(codec, in, 4 * PART, 0, 4, &out, &err), &err);
    assert_in_range(out.len, 2 * PART + PART / 8, 2 * PART + PART / 8 + 200);
    frz_buf_reset(&out);
    frz_codec_free(codec);
    free(in);
}

static void codec__a_wrong_size_is_corrupt(void **state)
{
    uint8_t in[TEXT_SIZE];
    uint8_t back[TEXT_SIZE + 1];
    fill(in, sizeof in);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        frz_error err = {0};
        frz_codec *codec = NULL;
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        assert_ok(frz_codec_new(*state, all[i], 0, &codec, &err), &err);
        assert_ok(frz_codec_compress(codec, in, sizeof in, &out, &err), &err);
        frz_error small = {0};
        assert_fails(frz_codec_decompress(codec, out.data, out.len, back, TEXT_SIZE - 1, &small),
                     &small, FRZ_E_CORRUPT, frz_codec_name(all[i]));
        frz_error large = {0};
        assert_fails(frz_codec_decompress(codec, out.data, out.len, back, TEXT_SIZE + 1, &large),
                     &large, FRZ_E_CORRUPT, frz_codec_name(all[i]));
        frz_error cut = {0};
        assert_fails(frz_codec_decompress(codec, out.data, out.len / 2, back, TEXT_SIZE, &cut),
                     &cut, FRZ_E_CORRUPT, frz_codec_name(all[i]));
        frz_buf_reset(&out);
        frz_codec_free(codec);
    }
}

static void codec__gzip_members_follow_each_other(void **state)
{
    uint8_t in[TEXT_SIZE];
    uint8_t back[TEXT_SIZE];
    frz_error err = {0};
    frz_codec *codec = NULL;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    fill(in, sizeof in);
    assert_ok(frz_codec_new(*state, FRZ_CODEC_GZIP, 3, &codec, &err), &err);
    assert_ok(frz_codec_compress(codec, in, 1000, &out, &err), &err);
    assert_ok(frz_codec_compress(codec, in + 1000, TEXT_SIZE - 1000, &out, &err), &err);
    assert_ok(frz_codec_decompress(codec, out.data, out.len, back, TEXT_SIZE, &err), &err);
    assert_memory_equal(in, back, TEXT_SIZE);
    frz_buf_reset(&out);
    frz_codec_free(codec);
}

/* Decompress bytes that this test put together. */
static frz_code unpack(frz_env *env, frz_codec_id id, const frz_buf *in, uint8_t *out, size_t len,
                       frz_error *err)
{
    frz_codec *codec = NULL;
    assert_ok(frz_codec_new(env, id, 0, &codec, err), err);
    frz_code rc = frz_codec_decompress(codec, in->data, in->len, out, len, err);
    frz_codec_free(codec);
    return rc;
}

static void codec__gzip_is_followed_by_padding_or_is_zlib(void **state)
{
    static const uint8_t zlib[] = {0x78, 0x9C, 0x4B, 0x4C, 0x4A, 0x06,
                                   0x00, 0x02, 0x4D, 0x01, 0x27};
    uint8_t back[4];
    frz_error err = {0};
    frz_codec *codec = NULL;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_ok(frz_codec_new(*state, FRZ_CODEC_GZIP, 0, &codec, &err), &err);
    assert_ok(frz_codec_compress(codec, "abc", 3, &out, &err), &err);
    frz_codec_free(codec);
    assert_ok(frz_buf_append(&out, "\0\0pad", 5, &err), &err);
    assert_ok(unpack(*state, FRZ_CODEC_GZIP, &out, back, 3, &err), &err);
    assert_memory_equal(back, "abc", 3);
    /* but what is missing does not come from padding */
    assert_fails(unpack(*state, FRZ_CODEC_GZIP, &out, back, 4, &err), &err, FRZ_E_CORRUPT, "gzip");
    frz_buf_clear(&out);
    assert_ok(frz_buf_append(&out, zlib, sizeof zlib, &err), &err);
    assert_ok(unpack(*state, FRZ_CODEC_GZIP, &out, back, 3, &err), &err);
    assert_memory_equal(back, "abc", 3);
    out.data[out.len - 1] ^= 1; /* its checksum */
    assert_fails(unpack(*state, FRZ_CODEC_GZIP, &out, back, 3, &err), &err, FRZ_E_CORRUPT, "gzip");
    frz_buf_reset(&out);
}

static void append_be32(frz_buf *out, size_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    assert_int_equal(frz_buf_append(out, bytes, sizeof bytes, NULL), FRZ_OK);
}

/* A piece of Hadoop's framing. */
static void append_piece(frz_buf *out, const uint8_t *in, size_t len)
{
    char packed[TEXT_SIZE * 2];
    int got = LZ4_compress_default((const char *)in, packed, (int)len, sizeof packed);
    append_be32(out, (size_t)got);
    assert_int_equal(frz_buf_append(out, packed, (size_t)got, NULL), FRZ_OK);
}

static void codec__hadoop_lz4_is_blocks_of_pieces(void **state)
{
    uint8_t in[TEXT_SIZE];
    uint8_t back[TEXT_SIZE + 1];
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    fill(in, sizeof in);
    append_be32(&out, 1000);
    append_piece(&out, in, 1000);
    append_be32(&out, 0); /* an empty block */
    append_be32(&out, TEXT_SIZE - 1000);
    append_piece(&out, in + 1000, 10);
    append_piece(&out, in + 1010, TEXT_SIZE - 1010);
    assert_ok(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE, &err), &err);
    assert_memory_equal(in, back, TEXT_SIZE);
    assert_fails(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE + 1, &err), &err,
                 FRZ_E_CORRUPT, "lz4");
    assert_fails(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE - 1, &err), &err,
                 FRZ_E_CORRUPT, "lz4");
    for (size_t cut = 1; cut < out.len; cut += 7) {
        frz_buf part = out;
        part.data = out.data + cut; /* of exactly the bytes that are left, for the sanitizer */
        part.len = out.len - cut;
        assert_int_equal(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &part, back, TEXT_SIZE, NULL),
                         FRZ_E_CORRUPT);
        part.data = out.data;
        assert_int_equal(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &part, back, TEXT_SIZE, NULL),
                         FRZ_E_CORRUPT);
    }
    frz_buf_reset(&out);
}

static void codec__hadoop_lz4_may_be_a_frame_or_a_bare_block(void **state)
{
    uint8_t in[TEXT_SIZE];
    uint8_t back[TEXT_SIZE];
    char packed[TEXT_SIZE * 2];
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    fill(in, sizeof in);
    int got = LZ4_compress_default((const char *)in, packed, TEXT_SIZE, sizeof packed);
    assert_ok(frz_buf_append(&out, packed, (size_t)got, &err), &err);
    assert_ok(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE, &err), &err);
    assert_memory_equal(in, back, TEXT_SIZE);
    frz_buf_clear(&out);
    for (size_t half = 0; half < 2; half++) {
        size_t len = LZ4F_compressFrame(packed, sizeof packed, in + half * TEXT_SIZE / 2,
                                        TEXT_SIZE / 2, NULL);
        assert_ok(frz_buf_append(&out, packed, len, &err), &err);
    }
    memset(back, 0, sizeof back);
    assert_ok(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE, &err), &err);
    assert_memory_equal(in, back, TEXT_SIZE);
    out.len--;
    assert_fails(unpack(*state, FRZ_CODEC_LZ4_HADOOP, &out, back, TEXT_SIZE, &err), &err,
                 FRZ_E_CORRUPT, "lz4");
    frz_buf_reset(&out);
}

static void codec__hadoop_lz4_is_not_written(void **state)
{
    frz_error err = {0};
    frz_codec *codec = NULL;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_ok(frz_codec_new(*state, FRZ_CODEC_LZ4_HADOOP, 0, &codec, &err), &err);
    assert_fails(frz_codec_compress(codec, "abc", 3, &out, &err), &err, FRZ_E_UNSUPPORTED, "lz4");
    frz_codec_free(codec);
    frz_buf_reset(&out);
}

static void codec__xxh64_has_seed_0(void **state)
{
    (void)state;
    assert_true(frz_xxh64("", 0) == UINT64_C(0xEF46DB3751D8E999));
    assert_true(frz_xxh64("a", 1) == UINT64_C(0xD24EC4F1A98C6E5B));
}

/* A stream that promises more than there is room for is refused by its first bytes. */
static void codec__snappy_length_is_checked_before_anything_is_written(void **state)
{
    static const struct {
        uint8_t bytes[12];
        size_t len;
        const char *reason;
    } cases[] = {
        {{4, 0x0C, 'a', 'b', 'c', 'd'}, 6, "holds 4 bytes, expected 3"},
        {{2, 0x08, 'a', 'b', 'c'}, 5, "holds 2 bytes, expected 3"},
        {{0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x08, 'a', 'b', 'c'}, 9, "holds 4294967295 bytes"},
        {{0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x08, 'a', 'b', 'c'}, 9, "damaged"}, /* no 32-bit length */
        {{0x83}, 1, "damaged"},                                              /* a length cut */
        {{3, 0x0C, 'a', 'b', 'c', 'd'}, 6, "damaged"},                       /* more than said */
        {{3, 0x04, 'a', 'b'}, 4, "damaged"},                                 /* less than said */
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        uint8_t back[4] = {'.', '.', '.', '.'};
        frz_buf in = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        assert_ok(frz_buf_append(&in, cases[i].bytes, cases[i].len, &err), &err);
        assert_fails(unpack(*state, FRZ_CODEC_SNAPPY, &in, back, 3, &err), &err, FRZ_E_CORRUPT,
                     cases[i].reason);
        assert_int_equal(back[3], '.');
        frz_buf_reset(&in);
    }
}

static void codec__crc32_is_that_of_gzip(void **state)
{
    (void)state;
    assert_int_equal(frz_crc32(0, "123456789", 9), 0xCBF43926u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(codec__round_trip_of_every_codec),
        TEST_WITH_ENV(codec__parts_come_back_as_one),
        TEST_WITH_ENV(codec__zstd_codes_each_part_by_its_own_frequencies),
        TEST_WITH_ENV(codec__a_wrong_size_is_corrupt),
        TEST_WITH_ENV(codec__gzip_members_follow_each_other),
        TEST_WITH_ENV(codec__gzip_is_followed_by_padding_or_is_zlib),
        TEST_WITH_ENV(codec__hadoop_lz4_is_blocks_of_pieces),
        TEST_WITH_ENV(codec__hadoop_lz4_may_be_a_frame_or_a_bare_block),
        TEST_WITH_ENV(codec__hadoop_lz4_is_not_written),
        TEST_WITH_ENV(codec__snappy_length_is_checked_before_anything_is_written),
        cmocka_unit_test(codec__crc32_is_that_of_gzip),
        cmocka_unit_test(codec__xxh64_has_seed_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
