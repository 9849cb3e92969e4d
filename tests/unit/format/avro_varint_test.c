/*
 * Numbers of variable length against a plain reading of them.
 */
#include "format/avro/avro_internal.h"
#include "unit/format/avro_build.h"

/* A number's bytes at the end of memory of exactly their size, or with others behind. */
static void assert_number(const frz_env *env, int64_t value, size_t behind)
{
    avro_bytes b = avro_bytes_of(env);
    uint64_t folded = 0;
    put_long(&b, value);
    size_t len = b.buf.len;
    for (size_t i = 0; i < behind; i++) {
        put_byte(&b, 0xFF);
    }
    uint8_t *exact = malloc(b.buf.len);
    assert_non_null(exact);
    memcpy(exact, b.buf.data, b.buf.len);
    const uint8_t *end = avro_varint(exact, exact + b.buf.len, &folded);
    assert_ptr_equal(end, exact + len);
    assert_int_equal(avro_unfold(folded), value);
    free(exact);
    frz_buf_reset(&b.buf);
}

static void varint__numbers_of_every_length(void **state)
{
    for (int shift = 0; shift < 64; shift++) {
        int64_t power = (int64_t)(UINT64_C(1) << shift);
        int64_t values[] = {power, power - (power > INT64_MIN), -(power + (power == INT64_MIN)),
                            power ^ (power >> 3)};
        for (size_t i = 0; i < FRZ_ARRAY_COUNT(values); i++) {
            for (size_t behind = 0; behind < 10; behind++) {
                assert_number(*state, values[i], behind);
            }
        }
    }
    assert_number(*state, 0, 0);
    assert_number(*state, INT64_MAX, 0);
    assert_number(*state, INT64_MIN, 8);
}

static void varint__cut_and_long_ones_are_refused(void **state)
{
    static const uint8_t ones[12] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static const uint8_t large[10] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
    uint64_t value;
    (void)state;
    for (size_t len = 0; len <= sizeof ones; len++) {
        assert_null(avro_varint(ones, ones + len, &value));
    }
    assert_null(avro_varint(large, large + sizeof large, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(varint__numbers_of_every_length),
        cmocka_unit_test(varint__cut_and_long_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
