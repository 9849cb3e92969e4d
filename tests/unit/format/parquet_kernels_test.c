/*
 * The loops of decoding against models, plain and with what the processor offers, on buffers of
 * exactly the size that the loops may look at.
 */
#include "unit/test_support.h"

#include <stdlib.h>

#include "arrow/arrow_array.h"
#include "format/parquet/parquet_kernels.h"

#define MOST 300

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 24 ^ seed << 20;
}

static size_t next_below(size_t n)
{
    return (size_t)(next_random() % n);
}

/* len random bytes and as many behind them as loops may read; free. */
static uint8_t *random_bytes(size_t len)
{
    uint8_t *bytes = malloc(len + PARQUET_SLACK);
    assert_non_null(bytes);
    for (size_t i = 0; i < len + PARQUET_SLACK; i++) {
        bytes[i] = (uint8_t)next_random();
    }
    return bytes;
}

/* The kinds of bitmaps that take different ways: none, all, few, many, any. */
static void shape_bits(uint8_t *bits, size_t len, unsigned shape)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t few = (uint8_t)(next_below(8) == 0 ? 1u << next_below(8) : 0);
        bits[i] = shape == 0   ? 0
                  : shape == 1 ? 0xFF
                  : shape == 2 ? few
                  : shape == 3 ? (uint8_t)~few
                               : bits[i];
    }
}

/* Kernels of this processor, the plain ones first. */
static size_t all_kernels(frz_env *env, const parquet_kernels *out[2])
{
    out[0] = &parquet_kernels_plain;
    out[1] = parquet_kernels_of(env);
    if (out[1] == out[0]) {
        print_message("the plain loops only\n");
        return 1;
    }
    return 2;
}

#define FOR_KERNELS(k)                                                                             \
    const parquet_kernels *all_[2];                                                                \
    size_t count_ = all_kernels(*state, all_);                                                     \
    for (const parquet_kernels **at_ = all_, *k = *at_; at_ < all_ + count_;                       \
         k = ++at_ < all_ + count_ ? *at_ : NULL)

static uint32_t bits_at(const uint8_t *bytes, size_t bit, unsigned width)
{
    uint32_t value = 0;
    for (unsigned b = 0; b < width; b++) {
        value |= (uint32_t)frz_bit_get(bytes, (int64_t)(bit + b)) << b;
    }
    return value;
}

static void kernels__unpack_every_width(void **state)
{
    FOR_KERNELS(k)
    {
        for (unsigned width = 1; width <= 32; width++) {
            for (size_t n = 0; n < 70; n += 1 + n / 20) {
                uint8_t *in = random_bytes((n * width + 7) / 8);
                uint32_t *words = malloc(n * 4 + 1);
                uint8_t *small = malloc(n + 1);
                k->unpack_u32(in, width, n, words);
                if (width <= 8) {
                    k->unpack_u8(in, width, n, small);
                }
                for (size_t i = 0; i < n; i++) {
                    assert_int_equal(words[i], bits_at(in, i * width, width));
                    assert_true(width > 8 || small[i] == words[i]);
                }
                free(in);
                free(words);
                free(small);
            }
        }
    }
}

static void kernels__largest_and_counts(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            uint8_t *bytes = random_bytes(n * 4);
            uint32_t *words = malloc(n * 4 + 1);
            uint32_t largest = 0;
            uint8_t largest_byte = 0;
            size_t count = 0;
            uint8_t wanted = (uint8_t)next_random();
            memcpy(words, bytes, n * 4);
            for (size_t i = 0; i < n; i++) {
                bytes[i] = next_below(3) == 0 ? wanted : bytes[i];
                largest = FRZ_MAX(largest, words[i]);
                largest_byte = FRZ_MAX(largest_byte, bytes[i]);
                count += bytes[i] == wanted;
            }
            assert_int_equal(k->largest_u32(words, n), largest);
            assert_int_equal(k->largest_u8(bytes, n), largest_byte);
            assert_int_equal(parquet_count_u8(bytes, n, wanted), count);
            free(bytes);
            free(words);
        }
    }
}

static void kernels__one_byte_is_not_ascii(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            uint8_t *bytes = malloc(n + 1);
            memset(bytes, 'a', n);
            assert_true(k->is_ascii(bytes, n));
            for (size_t i = 0; i < n; i += 1 + i / 40) {
                bytes[i] = 0x80;
                assert_false(k->is_ascii(bytes, n));
                bytes[i] = 0x7F;
            }
            assert_true(k->is_ascii(bytes, n));
            free(bytes);
        }
    }
}

/* Whether a text that holds these bytes somewhere in its middle is UTF-8, as the plain loop says.
 */
static void check_utf8(const parquet_kernels *k, const uint8_t *bytes, size_t len)
{
    static const char *const around[] = {"", "a", "é", "日", "😀"};
    size_t at = next_below(70);
    size_t behind = next_below(40);
    uint8_t *text = malloc(at + len + behind + 16);
    size_t n = 0;
    while (n < at) {
        const char *some = around[next_below(FRZ_ARRAY_COUNT(around))];
        memcpy(text + n, some, strlen(some));
        n += strlen(some);
        if (some[0] == '\0') {
            break;
        }
    }
    memcpy(text + n, bytes, len);
    n += len;
    memset(text + n, 'z', behind);
    n += behind;
    uint8_t *exact = malloc(n + 1);
    memcpy(exact, text, n);
    assert_int_equal(k->is_utf8(exact, n), parquet_kernels_plain.is_utf8(exact, n));
    free(exact);
    free(text);
}

static void kernels__utf8_of_any_bytes(void **state)
{
    /* bytes at the borders of what is legal */
    static const uint8_t edges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                    0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                    0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    enum { n = FRZ_ARRAY_COUNT(edges) };
    FOR_KERNELS(k)
    {
        for (size_t i = 0; i < n * n * n * n; i++) {
            uint8_t bytes[4] = {edges[i % n], edges[i / n % n], edges[i / n / n % n],
                                edges[i / n / n / n]};
            check_utf8(k, bytes, 1 + next_below(4));
            check_utf8(k, bytes, 4);
        }
        for (unsigned point = 0; point < 0x120000; point += 1 + point / 50) {
            const uint8_t bytes[4] = {
                (uint8_t)(0xF0 | point >> 18), (uint8_t)(0x80 | (point >> 12 & 63)),
                (uint8_t)(0x80 | (point >> 6 & 63)), (uint8_t)(0x80 | (point & 63))};
            check_utf8(k, bytes, 4);
        }
    }
}

static void kernels__gather_any_entry(void **state)
{
    static const size_t widths[] = {1, 4, 5, 8, 12, 16, 33};
    (void)state;
    for (size_t w = 0; w < FRZ_ARRAY_COUNT(widths); w++) {
        for (size_t n = 0; n < 100; n++) {
            size_t width = widths[w];
            size_t entries = 1 + next_below(50);
            uint8_t *table = random_bytes(entries * width);
            uint32_t *indices = malloc(n * 4 + 1);
            uint8_t *out = malloc(n * width + 1);
            for (size_t i = 0; i < n; i++) {
                indices[i] = (uint32_t)next_below(entries);
            }
            parquet_gather(table, width, indices, n, out);
            for (size_t i = 0; i < n; i++) {
                assert_memory_equal(out + i * width, table + indices[i] * width, width);
            }
            free(table);
            free(indices);
            free(out);
        }
    }
}

/* Values of some rows by a bitmap, for widths 4 and 8. */
static void check_spread(const parquet_kernels *k, size_t width, size_t rows, int64_t first,
                         const uint8_t *bits)
{
    size_t dense = (size_t)frz_bitmap_count(bits, first, (int64_t)rows);
    uint8_t *values = malloc(rows * width + 1);
    uint8_t *before = malloc(rows * width + 1);
    static const uint8_t zeros[8];
    for (size_t i = 0; i < rows * width; i++) {
        values[i] = before[i] = (uint8_t)next_random();
    }
    (width == 4 ? k->spread_4 : k->spread_8)(values, dense, rows, bits, first);
    for (size_t i = 0, d = 0; i < rows; i++) {
        bool valid = frz_bit_get(bits, first + (int64_t)i);
        assert_memory_equal(values + i * width, valid ? before + d * width : zeros, width);
        d += valid;
    }
    free(values);
    free(before);
}

static void check_spread_offsets(const parquet_kernels *k, size_t rows, int64_t first,
                                 const uint8_t *bits)
{
    size_t dense = (size_t)frz_bitmap_count(bits, first, (int64_t)rows);
    int32_t *offsets = malloc((rows + 1) * sizeof *offsets);
    int32_t *before = malloc((rows + 1) * sizeof *before);
    for (size_t i = 0; i <= rows; i++) {
        offsets[i] = before[i] = i == 0 ? 5 : before[i - 1] + (int32_t)next_below(20);
    }
    k->spread_offsets(offsets, dense, rows, bits, first);
    assert_int_equal(offsets[0], before[0]);
    for (size_t i = 0, d = 0; i < rows; i++) {
        d += frz_bit_get(bits, first + (int64_t)i);
        assert_int_equal(offsets[i + 1], before[d]);
    }
    free(offsets);
    free(before);
}

static void kernels__spread_over_any_bitmap(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t rows = 0; rows < 90; rows++) {
            for (unsigned shape = 0; shape < 5; shape++) {
                int64_t first = (int64_t)next_below(20);
                size_t len = frz_bitmap_bytes(first + (int64_t)rows);
                uint8_t *bits = random_bytes(len);
                shape_bits(bits, len, shape);
                check_spread(k, 4, rows, first, bits);
                check_spread(k, 8, rows, first, bits);
                check_spread_offsets(k, rows, first, bits);
                free(bits);
            }
        }
    }
}

static void kernels__levels_as_words(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < MOST; n++) {
            uint8_t *levels = malloc(n + 1);
            uint64_t words[MOST / 64 + 1];
            uint8_t least = (uint8_t)(n % 3 == 0 ? next_below(256) : next_below(5));
            for (size_t i = 0; i < n; i++) {
                levels[i] = (uint8_t)(n % 3 == 0 ? next_below(256) : next_below(5));
            }
            k->at_least(levels, n, least, words);
            for (size_t i = 0; i < (n + 63) / 64 * 64; i++) {
                bool bit = words[i / 64] >> i % 64 & 1;
                assert_int_equal(bit, i < n && levels[i] >= least);
            }
            free(levels);
        }
    }
}

static void kernels__bits_of_a_mask(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < 6; n++) {
            uint64_t words[6], mask[6];
            uint8_t bits[64 + PARQUET_SLACK] = {0};
            size_t begin = next_below(20);
            size_t count = 0;
            for (size_t i = 0; i < n; i++) {
                words[i] = next_random();
                mask[i] = i == 1 ? 0 : i == 2 ? UINT64_MAX : next_random() & next_random();
            }
            size_t appended = k->append_bits(words, mask, n, bits, begin);
            for (size_t i = 0; i < n * 64; i++) {
                if ((mask[i / 64] >> i % 64 & 1) != 0) {
                    assert_int_equal(frz_bit_get(bits, (int64_t)(begin + count)),
                                     words[i / 64] >> i % 64 & 1);
                    count++;
                }
            }
            assert_int_equal(appended, count);
            assert_int_equal(k->ones(mask, n), count);
            assert_int_equal(frz_bitmap_count(bits, 0, (int64_t)begin), 0);
            assert_int_equal(frz_bitmap_count(bits, (int64_t)(begin + count), 64), 0);
        }
    }
}

static void kernels__offsets_of_lists(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t n = 0; n < 6; n++) {
            uint64_t starts[6], items[6];
            int32_t out[6 * 64 + 1];
            int32_t count = 7;
            size_t lists = 0;
            for (size_t i = 0; i < n; i++) {
                starts[i] = i == 3 ? 0 : next_random() & next_random();
                items[i] = i == 2 ? UINT64_MAX : next_random() | next_random();
            }
            k->offsets(starts, items, n, count, out);
            for (size_t i = 0; i < n * 64; i++) {
                if ((starts[i / 64] >> i % 64 & 1) != 0) {
                    assert_int_equal(out[lists], count);
                    lists++;
                }
                count += (int32_t)(items[i / 64] >> i % 64 & 1);
            }
        }
    }
}

static void kernels__scatter_bits(void **state)
{
    FOR_KERNELS(k)
    {
        for (size_t round = 0; round < 500; round++) {
            uint64_t word = next_random();
            uint64_t mask = round == 0   ? 0
                            : round == 1 ? UINT64_MAX
                                         : next_random() & next_random();
            uint64_t apart = 0;
            for (unsigned i = 0, at = 0; i < 64; i++) {
                if ((mask >> i & 1) != 0) {
                    apart |= (word >> at & 1) << i;
                    at++;
                }
            }
            assert_true(k->scatter(word, mask) == apart);
        }
    }
}

static void kernels__are_chosen_by_the_environment(void **state)
{
    frz_env *env = *state;
    env->cpu = 0;
    assert_ptr_equal(parquet_kernels_of(env), &parquet_kernels_plain);
    frz_error err = {0};
    setenv("FRZ_SIMD", "none", 1);
    assert_ok(frz_env_new(NULL, &env, &err), &err);
    assert_int_equal(env->cpu, 0);
    frz_env_free(env);
    setenv("FRZ_SIMD", "sse9", 1);
    assert_fails(frz_env_new(NULL, &env, &err), &err, FRZ_E_ARGUMENT, "FRZ_SIMD is \"sse9\"");
    unsetenv("FRZ_SIMD");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(kernels__unpack_every_width),
        TEST_WITH_ENV(kernels__largest_and_counts),
        TEST_WITH_ENV(kernels__one_byte_is_not_ascii),
        TEST_WITH_ENV(kernels__utf8_of_any_bytes),
        TEST_WITH_ENV(kernels__gather_any_entry),
        TEST_WITH_ENV(kernels__spread_over_any_bitmap),
        TEST_WITH_ENV(kernels__levels_as_words),
        TEST_WITH_ENV(kernels__bits_of_a_mask),
        TEST_WITH_ENV(kernels__offsets_of_lists),
        TEST_WITH_ENV(kernels__scatter_bits),
        TEST_WITH_ENV(kernels__are_chosen_by_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
