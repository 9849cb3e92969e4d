/*
 * The loops of encoding against models, plain and with what the processor offers, on blocks of
 * exactly the size that the loops may look at.
 */
#include "unit/test_support.h"

#include <math.h>
#include <stdlib.h>

#include "format/parquet/parquet_kernels_write.h"

#define MOST 150

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 24 ^ seed << 20;
}

/* Kernels of this processor, the plain ones first. */
static size_t all_kernels(frz_env *env, const parquet_write_kernels *out[2])
{
    out[0] = &parquet_write_kernels_plain;
    out[1] = parquet_write_kernels_of(env);
    if (out[1] == out[0]) {
        print_message("the plain loops only\n");
        return 1;
    }
    return 2;
}

#define FOR_KERNELS(k)                                                                             \
    const parquet_write_kernels *all_[2];                                                          \
    size_t count_ = all_kernels(*state, all_);                                                     \
    for (const parquet_write_kernels **at_ = all_, *k = *at_; at_ < all_ + count_;                 \
         k = ++at_ < all_ + count_ ? *at_ : NULL)

/* Numbers that are far apart, close together, the ends of the type, and the odd ones of floats. */
static uint64_t some_number(unsigned shape)
{
    static const uint64_t odd[] = {
        0,
        UINT64_MAX,
        (uint64_t)INT64_MAX,
        (uint64_t)INT64_MIN,
        (uint64_t)INT32_MAX,
        0x80000000u,
        0x7fc0000000000001u, /* NaN as a double */
        0xfff0000000000000u, /* -inf */
        0x7ff0000000000000u,
        0x8000000000000000u, /* -0.0 */
        0x7fc00001u,         /* NaN as a float */
        0xff800000u,
        0x7f800000u,
        0xffc00000u,
    };
    switch (shape) {
    case 0:
        return next_random();
    case 1:
        return next_random() % 1000;
    case 2:
        return (uint64_t)0 - next_random() % 1000;
    default:
        return odd[next_random() % FRZ_ARRAY_COUNT(odd)];
    }
}

#define SHAPES 4

static uint8_t *some_numbers(size_t n, size_t width, unsigned shape)
{
    uint8_t *bytes = malloc(n * width + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = some_number(shape);
        memcpy(bytes + i * width, &number, width);
    }
    return bytes;
}

static int64_t number_at(const uint8_t *bytes, size_t width, size_t i)
{
    return width == 4 ? (int32_t)frz_load_le32(bytes + 4 * i)
                      : (int64_t)frz_load_le64(bytes + 8 * i);
}

static void kernels__bounds_of_integers(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            for (unsigned shape = 0; shape < SHAPES; shape++) {
                for (size_t width = 4; width <= 8; width += 4) {
                    uint8_t *bytes = some_numbers(n, width, shape);
                    int64_t lower = width == 4 ? INT32_MAX : INT64_MAX;
                    int64_t upper = width == 4 ? INT32_MIN : INT64_MIN;
                    for (size_t i = 0; i < n; i++) {
                        lower = FRZ_MIN(lower, number_at(bytes, width, i));
                        upper = FRZ_MAX(upper, number_at(bytes, width, i));
                    }
                    int32_t narrow[2];
                    int64_t wide[2];
                    if (width == 4) {
                        k->bounds_int32(bytes, n, &narrow[0], &narrow[1]);
                        wide[0] = narrow[0];
                        wide[1] = narrow[1];
                    } else {
                        k->bounds_int64(bytes, n, &wide[0], &wide[1]);
                    }
                    assert_int_equal(wide[0], lower);
                    assert_int_equal(wide[1], upper);
                    free(bytes);
                }
            }
        }
    }
}

/* The numbers themselves are compared, and their bits where they are equal. */
static void kernels__bounds_of_floats_leave_out_nan(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            for (unsigned shape = 0; shape < SHAPES; shape++) {
                uint8_t *bytes = some_numbers(n, 4, shape);
                float lower = INFINITY;
                float upper = -INFINITY;
                size_t nans = 0;
                for (size_t i = 0; i < n; i++) {
                    float v;
                    memcpy(&v, bytes + 4 * i, 4);
                    nans += isnan(v) != 0;
                    bool below =
                        v < lower || (v == lower && (signbit(v) != 0) > (signbit(lower) != 0));
                    bool above =
                        v > upper || (v == upper && (signbit(v) != 0) < (signbit(upper) != 0));
                    lower = below ? v : lower;
                    upper = above ? v : upper;
                }
                int32_t found[2];
                assert_int_equal(k->bounds_float(bytes, n, &found[0], &found[1]), nans);
                assert_int_equal(found[0] <= found[1], nans < n);
                if (nans < n) {
                    uint32_t bits[2];
                    memcpy(&bits[0], &lower, 4);
                    memcpy(&bits[1], &upper, 4);
                    assert_int_equal(found[0], parquet_float_key(bits[0]));
                    assert_int_equal(found[1], parquet_float_key(bits[1]));
                }
                free(bytes);
            }
        }
    }
}

static void kernels__bounds_of_doubles_leave_out_nan(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            for (unsigned shape = 0; shape < SHAPES; shape++) {
                uint8_t *bytes = some_numbers(n, 8, shape);
                double lower = (double)INFINITY;
                double upper = -(double)INFINITY;
                size_t nans = 0;
                for (size_t i = 0; i < n; i++) {
                    double v;
                    memcpy(&v, bytes + 8 * i, 8);
                    nans += isnan(v) != 0;
                    bool below =
                        v < lower || (v == lower && (signbit(v) != 0) > (signbit(lower) != 0));
                    bool above =
                        v > upper || (v == upper && (signbit(v) != 0) < (signbit(upper) != 0));
                    lower = below ? v : lower;
                    upper = above ? v : upper;
                }
                int64_t found[2];
                assert_int_equal(k->bounds_double(bytes, n, &found[0], &found[1]), nans);
                assert_int_equal(found[0] <= found[1], nans < n);
                if (nans < n) {
                    uint64_t bits[2];
                    memcpy(&bits[0], &lower, 8);
                    memcpy(&bits[1], &upper, 8);
                    assert_int_equal(found[0], parquet_double_key(bits[0]));
                    assert_int_equal(found[1], parquet_double_key(bits[1]));
                }
                free(bytes);
            }
        }
    }
}

static void check_deltas(const uint8_t *bytes, size_t width, size_t n, const parquet_deltas *found)
{
    const uint64_t mask = width == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t all[PARQUET_DELTA_MINIBLOCKS] = {0};
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t d =
            (uint64_t)number_at(bytes, width, i + 1) - (uint64_t)number_at(bytes, width, i);
        int64_t delta = width == 4 ? (int32_t)d : (int64_t)d;
        least = FRZ_MIN(least, delta);
    }
    assert_int_equal(found->least, least);
    for (size_t i = 0; i < PARQUET_DELTA_BLOCK; i++) {
        uint64_t d = 0;
        if (i < n) {
            d = (uint64_t)number_at(bytes, width, i + 1) - (uint64_t)number_at(bytes, width, i);
            d = (d - (uint64_t)least) & mask;
        }
        all[i / PARQUET_DELTA_MINI] |= d;
        assert_int_equal(width == 4 ? found->as.narrow[i] : found->as.wide[i], d);
    }
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        unsigned bits = 0;
        while (bits < 64 && all[m] >> bits != 0) {
            bits++;
        }
        assert_int_equal(found->widths[m], bits);
    }
}

static void kernels__deltas_wrap_around(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 1; n <= PARQUET_DELTA_BLOCK; n++) {
            for (unsigned shape = 0; shape < SHAPES; shape++) {
                parquet_deltas found;
                uint8_t *narrow = some_numbers(n + 1, 4, shape);
                uint8_t *wide = some_numbers(n + 1, 8, shape);
                k->deltas_4(narrow, n, &found);
                check_deltas(narrow, 4, n, &found);
                k->deltas_8(wide, n, &found);
                check_deltas(wide, 8, n, &found);
                free(narrow);
                free(wide);
            }
        }
    }
}

/* Value i of packed numbers. */
static uint64_t bits_at(const uint8_t *bytes, size_t i, unsigned width)
{
    uint64_t value = 0;
    for (unsigned b = 0; b < width; b++) {
        size_t at = i * width + b;
        value |= (uint64_t)(bytes[at / 8] >> (at % 8) & 1) << b;
    }
    return value;
}

static void pack(const parquet_write_kernels *k, const uint64_t *values, size_t kind, size_t groups,
                 unsigned width, uint8_t *out)
{
    uint8_t bytes[80];
    uint32_t words[80];
    for (size_t i = 0; i < groups * 8; i++) {
        bytes[i] = (uint8_t)values[i];
        words[i] = (uint32_t)values[i];
    }
    if (kind == 8) {
        k->pack_u8(bytes, groups, width, out);
    } else if (kind == 32) {
        k->pack_u32(words, groups, width, out);
    } else {
        k->pack_u64(values, groups, width, out);
    }
}

static void kernels__pack_every_width(void **state)
{
    static const size_t kinds[] = {8, 32, 64};
    FOR_KERNELS(k)
    {
        for (size_t kind = 0; kind < FRZ_ARRAY_COUNT(kinds); kind++) {
            for (unsigned width = 1; width <= kinds[kind]; width++) {
                for (size_t groups = 0; groups <= 10; groups++) {
                    uint8_t *out = malloc(groups * width + PARQUET_PACK_SLACK);
                    uint64_t values[80];
                    assert_non_null(out);
                    for (size_t i = 0; i < groups * 8; i++) {
                        values[i] = next_random() >> (64 - width);
                        values[i] = next_random() % 4 == 0 ? UINT64_MAX >> (64 - width) : values[i];
                    }
                    pack(k, values, kinds[kind], groups, width, out);
                    for (size_t i = 0; i < groups * 8; i++) {
                        assert_int_equal(bits_at(out, i, width), values[i]);
                    }
                    free(out);
                }
            }
        }
    }
}

static void kernels__split_into_streams(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            for (size_t width = 4; width <= 8; width += 4) {
                uint8_t *bytes = some_numbers(n, width, 0);
                uint8_t *out = malloc(n * width + 1);
                assert_non_null(out);
                if (width == 4) {
                    k->split_4(bytes, n, out);
                } else {
                    k->split_8(bytes, n, out);
                }
                for (size_t i = 0; i < n * width; i++) {
                    assert_int_equal(out[i % width * n + i / width], bytes[i]);
                }
                free(bytes);
                free(out);
            }
        }
    }
}

/* Masks that take different ways: none, all, few, many, any; rows behind the last one are not
 * there. */
static uint64_t some_mask(unsigned shape)
{
    uint64_t few = (uint64_t)1 << next_random() % 64;
    return shape == 0   ? 0
           : shape == 1 ? UINT64_MAX
           : shape == 2 ? few
           : shape == 3 ? ~few
                        : next_random();
}

static void check_pick(const parquet_write_kernels *k, size_t n, size_t width, unsigned shape)
{
    const size_t words = (n + 63) / 64;
    uint64_t mask[4] = {0};
    size_t count = 0;
    uint8_t *values = some_numbers(n, width, 0);
    uint8_t *out = malloc(n * width + PARQUET_PICK_SLACK);
    assert_non_null(out);
    for (size_t i = 0; i < words; i++) {
        mask[i] = some_mask(shape);
    }
    if (n % 64 != 0) {
        mask[words - 1] &= ((uint64_t)1 << n % 64) - 1;
    }
    size_t found =
        width == 4 ? k->pick_4(values, mask, words, out) : k->pick_8(values, mask, words, out);
    for (size_t i = 0; i < n; i++) {
        if ((mask[i / 64] >> i % 64 & 1) != 0) {
            assert_memory_equal(out + count++ * width, values + i * width, width);
        }
    }
    assert_int_equal(found, count);
    free(values);
    free(out);
}

static void kernels__pick_values_of_a_mask(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n <= 256; n++) {
            for (unsigned shape = 0; shape < 5; shape++) {
                check_pick(k, n, 4, shape);
                check_pick(k, n, 8, shape);
            }
        }
    }
}

static void kernels__are_plain_without_avx2(void **state)
{
    frz_env *env = *state;
    unsigned cpu = env->cpu;
    env->cpu = 0;
    assert_ptr_equal(parquet_write_kernels_of(env), &parquet_write_kernels_plain);
    env->cpu = cpu;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(kernels__bounds_of_integers),
        TEST_WITH_ENV(kernels__bounds_of_floats_leave_out_nan),
        TEST_WITH_ENV(kernels__bounds_of_doubles_leave_out_nan),
        TEST_WITH_ENV(kernels__deltas_wrap_around),
        TEST_WITH_ENV(kernels__pack_every_width),
        TEST_WITH_ENV(kernels__split_into_streams),
        TEST_WITH_ENV(kernels__pick_values_of_a_mask),
        TEST_WITH_ENV(kernels__are_plain_without_avx2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
