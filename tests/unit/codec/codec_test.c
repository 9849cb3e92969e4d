/*
 * Codecs: round trips, sizes that lie, damage, gzip members.
 */
#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <stdlib.h>

#include "unit/test_support.h"

#include "codec/codec.h"

static const frz_codec_id all[] = {FRZ_CODEC_NONE,     FRZ_CODEC_SNAPPY,  FRZ_CODEC_GZIP,
                                   FRZ_CODEC_ZSTD,     FRZ_CODEC_LZ4_RAW, FRZ_CODEC_BROTLI,
                                   FRZ_CODEC_LZ4_FRAME};

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

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Bytes that repeat more or less, at near and far places. */
static void fill_some(uint8_t *bytes, size_t len, uint32_t seed)
{
    uint32_t variety = 1 + seed % 5 * seed % 97;
    for (size_t i = 0; i < len;) {
        size_t run = 1 + next_random(&seed) % 90;
        size_t back = 1 + next_random(&seed) % (seed % 3 == 0 ? 20 : 3000);
        for (size_t k = 0; k < run && i < len; k++, i++) {
            bool again = back <= i && run % 3 != 0;
            uint32_t other = next_random(&seed) % variety;
            bytes[i] = (uint8_t)(again ? bytes[i - back] : other);
        }
    }
}

/* In memory of exactly its size, so that a sanitizer sees what lies beside it. */
static uint8_t *copy_of(const void *bytes, size_t len)
{
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

/* The library's verdict on a stream is ours, and so is what comes out. */
static void check_snappy(frz_codec *codec, const uint8_t *packed, size_t len, size_t plain_len)
{
    uint8_t *in = copy_of(packed, len);
    uint8_t *ours = malloc(plain_len + 1);
    uint8_t *theirs = malloc(plain_len + 1);
    size_t said = 0;
    bool fits = snappy_uncompressed_length((const char *)in, len, &said) == SNAPPY_OK &&
                said == plain_len &&
                snappy_uncompress((const char *)in, len, (char *)theirs, &said) == SNAPPY_OK;
    uint8_t *out = copy_of(ours, plain_len);
    frz_code rc = frz_codec_decompress(codec, in, len, out, plain_len, NULL);
    assert_int_equal(rc, fits ? FRZ_OK : FRZ_E_CORRUPT);
    if (fits) {
        assert_memory_equal(out, theirs, plain_len);
    }
    free(in);
    free(out);
    free(ours);
    free(theirs);
}

static void codec__snappy_decides_as_the_library_does(void **state)
{
    enum { most = 40000 };
    static uint8_t plain[most], packed[most * 2];
    frz_error err = {0};
    frz_codec *codec = NULL;
    uint32_t seed = 7;
    assert_ok(frz_codec_new(*state, FRZ_CODEC_SNAPPY, 0, &codec, &err), &err);
    for (size_t round = 0; round < 300; round++) {
        size_t len = round < 100 ? round : next_random(&seed) % most;
        size_t packed_len = sizeof packed;
        fill_some(plain, len, (uint32_t)round + 1);
        assert_int_equal(snappy_compress((const char *)plain, len, (char *)packed, &packed_len),
                         SNAPPY_OK);
        check_snappy(codec, packed, packed_len, len);
        for (size_t damage = 0; damage < 20; damage++) {
            size_t at = next_random(&seed) % packed_len;
            uint8_t old = packed[at];
            packed[at] = (uint8_t)next_random(&seed);
            check_snappy(codec, packed, packed_len, len);
            packed[at] = old;
        }
        check_snappy(codec, packed, next_random(&seed) % packed_len, len);
    }
    frz_codec_free(codec);
}

/* Elements that the library's compressor never makes. */
static void codec__snappy_elements_of_every_kind(void **state)
{
    static const struct {
        uint8_t bytes[24];
        size_t len, plain;
    } cases[] = {
        {{0}, 1, 0},                                  /* nothing */
        {{0x80}, 1, 0},                               /* a length cut */
        {{0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 5, 0},       /* a length too long */
        {{3, 0x08, 'a', 'b', 'c'}, 5, 3},             /* a literal */
        {{3, 0xF0, 2, 'a', 'b', 'c'}, 6, 3},          /* its length in 1 byte, */
        {{3, 0xF4, 2, 0, 'a', 'b', 'c'}, 7, 3},       /* in 2, */
        {{3, 0xF8, 2, 0, 0, 'a', 'b', 'c'}, 8, 3},    /* in 3, */
        {{3, 0xFC, 2, 0, 0, 0, 'a', 'b', 'c'}, 9, 3}, /* in 4 */
        {{3, 0xFC, 2, 0, 0, 1, 'a', 'b', 'c'}, 9, 3}, /* far too long */
        {{3, 0x08, 'a', 'b'}, 4, 3},                  /* cut */
        {{5, 0x00, 'a', 0x01, 1}, 5, 5},              /* copies: 1 byte of offset, */
        {{5, 0x00, 'a', 0x0E, 1, 0}, 6, 5},           /* 2, */
        {{5, 0x00, 'a', 0x0F, 1, 0, 0, 0}, 8, 5},     /* 4 */
        {{5, 0x00, 'a', 0x01}, 4, 5},                 /* cut */
        {{5, 0x00, 'a', 0x01, 0}, 5, 5},              /* of nothing */
        {{5, 0x00, 'a', 0x01, 2}, 5, 5},              /* from before the beginning */
        {{5, 0x00, 'a', 0x0F, 1, 0, 0, 0x80}, 8, 5},  /* far before */
        {{4, 0x00, 'a', 0x01, 1}, 5, 4},              /* too long */
        {{5, 0x00, 'a', 0x01, 1, 0x00, 'b'}, 7, 5},   /* something behind the end */
    };
    frz_codec *codec = NULL;
    frz_error err = {0};
    assert_ok(frz_codec_new(*state, FRZ_CODEC_SNAPPY, 0, &codec, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        check_snappy(codec, cases[i].bytes, cases[i].len, cases[i].plain);
    }
    frz_codec_free(codec);
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
        TEST_WITH_ENV(codec__a_wrong_size_is_corrupt),
        TEST_WITH_ENV(codec__gzip_members_follow_each_other),
        TEST_WITH_ENV(codec__gzip_is_followed_by_padding_or_is_zlib),
        TEST_WITH_ENV(codec__hadoop_lz4_is_blocks_of_pieces),
        TEST_WITH_ENV(codec__hadoop_lz4_may_be_a_frame_or_a_bare_block),
        TEST_WITH_ENV(codec__hadoop_lz4_is_not_written),
        TEST_WITH_ENV(codec__snappy_decides_as_the_library_does),
        TEST_WITH_ENV(codec__snappy_elements_of_every_kind),
        cmocka_unit_test(codec__crc32_is_that_of_gzip),
        cmocka_unit_test(codec__xxh64_has_seed_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
