#include "arrow/arrow_array.h"
#include "unit/test_support.h"

#define BITS 200

static void fill_pattern(uint8_t *bits, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245u + 12345u;
        bits[i] = (uint8_t)(seed >> 16);
    }
}

/* The model: one bool per bit. */
static void spread(const uint8_t *bits, bool *out)
{
    for (int64_t i = 0; i < BITS; i++) {
        out[i] = frz_bit_get(bits, i);
    }
}

static void assert_bits(const uint8_t *bits, const bool *expected)
{
    for (int64_t i = 0; i < BITS; i++) {
        assert_int_equal(frz_bit_get(bits, i), expected[i]);
    }
}

static void bitmap_copy__any_offsets_agree_with_bit_by_bit(void **state)
{
    uint8_t src[BITS / 8];
    (void)state;
    fill_pattern(src, sizeof src, 7);
    for (int64_t from = 0; from < 18; from++) {
        for (int64_t to = 0; to < 18; to++) {
            for (int64_t length = 0; length <= 140; length += length < 20 ? 1 : 13) {
                uint8_t dst[BITS / 8];
                bool model[BITS];
                fill_pattern(dst, sizeof dst, 3);
                spread(dst, model);
                for (int64_t i = 0; i < length; i++) {
                    model[to + i] = frz_bit_get(src, from + i);
                }
                frz_bitmap_copy(src, from, length, dst, to);
                assert_bits(dst, model);
            }
        }
    }
}

/* The last bytes of exact allocations: the sanitizer sees a byte too many. */
static void bitmap_copy__reads_no_byte_too_many(void **state)
{
    frz_env *env = *state;
    for (int64_t from = 0; from < 16; from++) {
        for (int64_t length = 0; length < 40; length++) {
            uint8_t *src = frz_alloc_zero(env, 1, frz_bitmap_bytes(from + length));
            uint8_t *dst = frz_alloc_zero(env, 1, frz_bitmap_bytes(length));
            assert_true(src != NULL && dst != NULL);
            frz_bitmap_copy(src, from, length, dst, 0);
            assert_int_equal(frz_bitmap_count(src, from, length), 0);
            frz_free(env, src);
            frz_free(env, dst);
        }
    }
}

static void bitmap_fill__leaves_the_rest_alone(void **state)
{
    (void)state;
    for (int64_t first = 0; first < 20; first++) {
        for (int64_t length = 0; length < 100; length += 3) {
            for (int value = 0; value < 2; value++) {
                uint8_t bits[BITS / 8];
                bool model[BITS];
                fill_pattern(bits, sizeof bits, 5);
                spread(bits, model);
                for (int64_t i = first; i < first + length; i++) {
                    model[i] = value != 0;
                }
                frz_bitmap_fill(bits, first, length, value != 0);
                assert_bits(bits, model);
            }
        }
    }
}

static void bitmap_count__any_range(void **state)
{
    uint8_t bits[BITS / 8];
    (void)state;
    fill_pattern(bits, sizeof bits, 11);
    for (int64_t first = 0; first < 40; first++) {
        int64_t count = 0;
        for (int64_t length = 0; first + length <= BITS; length++) {
            assert_int_equal(frz_bitmap_count(bits, first, length), count);
            if (first + length < BITS) {
                count += frz_bit_get(bits, first + length);
            }
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bitmap_copy__any_offsets_agree_with_bit_by_bit),
        TEST_WITH_ENV(bitmap_copy__reads_no_byte_too_many),
        cmocka_unit_test(bitmap_fill__leaves_the_rest_alone),
        cmocka_unit_test(bitmap_count__any_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
