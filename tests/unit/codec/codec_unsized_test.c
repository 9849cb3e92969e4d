/*
 * Decompression of data whose size nothing tells: growth, bounds, damage, memory.
 */
#include "unit/test_alloc.h"

#include "codec/codec.h"

static const frz_codec_id able[] = {FRZ_CODEC_NONE, FRZ_CODEC_SNAPPY,   FRZ_CODEC_GZIP,
                                    FRZ_CODEC_ZSTD, FRZ_CODEC_DEFLATE,  FRZ_CODEC_BZIP2,
                                    FRZ_CODEC_XZ,   FRZ_CODEC_LZ4_FRAME};
#define SIZE 300000

/* Packs well, but not everywhere alike. */
static void fill(uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (uint8_t)(i % 1000 < 900 ? i / 7000 : (i * i) >> 5);
    }
}

static void pack(const frz_env *env, frz_codec_id id, const void *in, size_t len, frz_buf *out)
{
    frz_error err = {0};
    frz_codec *codec = NULL;
    assert_ok(frz_codec_new(env, id, 0, &codec, &err), &err);
    assert_ok(frz_codec_compress(codec, in, len, out, &err), &err);
    frz_codec_free(codec);
}

static frz_code unpack(const frz_env *env, frz_codec_id id, const void *in, size_t len,
                       frz_buf *out, frz_error *err)
{
    frz_codec *codec = NULL;
    frz_code rc = frz_codec_new(env, id, 0, &codec, err);
    if (rc == FRZ_OK) {
        rc = frz_codec_decompress_all(codec, in, len, out, err);
    }
    frz_codec_free(codec);
    return rc;
}

static void unsized__all_comes_out_behind_what_was_there(void **state)
{
    static uint8_t in[SIZE];
    static const size_t sizes[] = {0, 1, 5000, SIZE};
    fill(in, sizeof in);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(able); i++) {
        for (size_t s = 0; s < FRZ_ARRAY_COUNT(sizes); s++) {
            frz_error err = {0};
            frz_buf packed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
            frz_buf out = FRZ_BUF_INIT(*state, 2 * SIZE);
            pack(*state, able[i], in, sizes[s], &packed);
            assert_ok(frz_buf_append(&out, "abc", 3, &err), &err);
            assert_ok(unpack(*state, able[i], packed.data, packed.len, &out, &err), &err);
            assert_int_equal(out.len, sizes[s] + 3);
            assert_memory_equal(out.data, "abc", 3);
            assert_memory_equal(out.data + 3, in, sizes[s]);
            frz_buf_reset(&out);
            frz_buf_reset(&packed);
        }
    }
}

static void unsized__streams_follow_each_other(void **state)
{
    static const frz_codec_id ids[] = {FRZ_CODEC_GZIP, FRZ_CODEC_ZSTD, FRZ_CODEC_BZIP2,
                                       FRZ_CODEC_XZ, FRZ_CODEC_LZ4_FRAME};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ids); i++) {
        frz_error err = {0};
        frz_buf packed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf out = FRZ_BUF_INIT(*state, 1000);
        pack(*state, ids[i], "first ", 6, &packed);
        pack(*state, ids[i], "second", 6, &packed);
        assert_ok(unpack(*state, ids[i], packed.data, packed.len, &out, &err), &err);
        assert_int_equal(out.len, 12);
        assert_memory_equal(out.data, "first second", 12);
        frz_buf_reset(&out);
        frz_buf_reset(&packed);
    }
}

/* A few bytes that stand for much more than may come out. */
static void unsized__the_bound_holds(void **state)
{
    uint8_t *zeros = calloc(1, 4 << 20);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(able); i++) {
        frz_error err = {0};
        frz_buf packed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf out = FRZ_BUF_INIT(*state, 100000);
        pack(*state, able[i], zeros, 4 << 20, &packed);
        assert_fails(unpack(*state, able[i], packed.data, packed.len, &out, &err), &err,
                     FRZ_E_LIMIT, "100000");
        assert_true(out.capacity <= 100000);
        frz_buf_reset(&out);
        frz_buf_reset(&packed);
    }
    free(zeros);
}

/* known fault: a small malformed file asks for gigabytes */
static void unsized__a_claimed_size_is_not_believed(void **state)
{
    static const uint8_t snappy[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x00, 'a'};
    static const uint8_t zstd[] = {0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0xFF,
                                   0xFF, 0xFF, 0x3F, 0x01, 0x00, 0x00}; /* claims a gigabyte */
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_fails(unpack(*state, FRZ_CODEC_SNAPPY, snappy, sizeof snappy, &out, &err), &err,
                 FRZ_E_CORRUPT, "snappy");
    assert_fails(unpack(*state, FRZ_CODEC_ZSTD, zstd, sizeof zstd, &out, &err), &err, FRZ_E_CORRUPT,
                 "zstd");
    assert_true(out.capacity < 1000);
    frz_buf_reset(&out);
}

static void unsized__cut_or_damaged_data_is_corrupt(void **state)
{
    uint8_t in[5000];
    fill(in, sizeof in);
    for (size_t i = 1; i < FRZ_ARRAY_COUNT(able); i++) {
        frz_buf packed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        pack(*state, able[i], in, sizeof in, &packed);
        for (size_t len = 0; len < packed.len; len++) {
            frz_error err = {0};
            frz_buf out = FRZ_BUF_INIT(*state, 100000);
            assert_fails(unpack(*state, able[i], packed.data, len, &out, &err), &err, FRZ_E_CORRUPT,
                         frz_codec_name(able[i]));
            frz_buf_reset(&out);
        }
        frz_buf_reset(&packed);
    }
}

static void unsized__xz_takes_a_bounded_dictionary(void **state)
{
    /* a stream's header and that of a block, which asks for a dictionary of a gigabyte (0x24) */
    uint8_t xz[32] = {0xFD, '7',  'z',  'X',  'Z',  0x00, 0x00, 0x04, 0xE6, 0xD6,
                      0xB4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x24, 0x00, 0x00, 0x00};
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_store_le32(xz + 20, frz_crc32(0, xz + 12, 8));
    assert_fails(unpack(*state, FRZ_CODEC_XZ, xz, sizeof xz, &out, &err), &err, FRZ_E_LIMIT,
                 "memory");
    frz_buf_reset(&out);
}

static void unsized__codecs_without_it_say_so(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, 100);
    assert_fails(unpack(*state, FRZ_CODEC_LZ4_RAW, "abc", 3, &out, &err), &err, FRZ_E_UNSUPPORTED,
                 "lz4_raw");
    frz_buf_reset(&out);
}

static frz_code unpack_all(const frz_env *env, frz_error *err)
{
    static uint8_t in[SIZE];
    frz_code rc = FRZ_OK;
    frz_buf packed = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_codec *codec = NULL;
    fill(in, sizeof in);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(able); i++) {
        frz_buf_clear(&packed);
        FRZ_TRY(frz_codec_new(env, able[i], 0, &codec, err));
        FRZ_TRY(frz_codec_compress(codec, in, sizeof in, &packed, err));
        FRZ_TRY(frz_codec_decompress_all(codec, packed.data, packed.len, &out, err));
        frz_codec_free(codec);
        codec = NULL;
    }
out:
    frz_codec_free(codec);
    frz_buf_reset(&packed);
    frz_buf_reset(&out);
    return rc;
}

static void unsized__every_failing_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(unpack_all) > FRZ_ARRAY_COUNT(able));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(unsized__all_comes_out_behind_what_was_there),
        TEST_WITH_ENV(unsized__streams_follow_each_other),
        TEST_WITH_ENV(unsized__the_bound_holds),
        TEST_WITH_ENV(unsized__a_claimed_size_is_not_believed),
        TEST_WITH_ENV(unsized__cut_or_damaged_data_is_corrupt),
        TEST_WITH_ENV(unsized__xz_takes_a_bounded_dictionary),
        TEST_WITH_ENV(unsized__codecs_without_it_say_so),
        cmocka_unit_test(unsized__every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
