/*
 * Codecs: round trips, sizes that lie, damage, gzip members.
 */
#include "unit/test_support.h"

#include "codec/codec.h"

static const frz_codec_id all[] = {FRZ_CODEC_NONE, FRZ_CODEC_SNAPPY, FRZ_CODEC_GZIP, FRZ_CODEC_ZSTD,
                                   FRZ_CODEC_LZ4_RAW};

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
        cmocka_unit_test(codec__crc32_is_that_of_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
