/*
 * The RLE / bit-packed hybrid and the old BIT_PACKED order, against simple models.
 */
#include "unit/test_support.h"

#include "format/parquet/parquet_read.h"

#define COUNT 1000
#define ROOM 8000

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Runs of both kinds; returns the bytes. */
static size_t encode(const uint32_t *values, size_t n, unsigned width, uint32_t seed, uint8_t *out)
{
    size_t len = 0;
    size_t i = 0;
    while (i < n) {
        size_t same = 1;
        while (i + same < n && values[i + same] == values[i]) {
            same++;
        }
        if (same >= 8 || random_next(&seed) % 4 == 0) {
            uint32_t header = (uint32_t)same << 1;
            for (; header >= 0x80; header >>= 7) {
                out[len++] = (uint8_t)(header | 0x80);
            }
            out[len++] = (uint8_t)header;
            for (unsigned b = 0; b < width; b += 8) {
                out[len++] = (uint8_t)(values[i] >> b);
            }
            i += same;
            continue;
        }
        size_t groups = 1 + random_next(&seed) % 3;
        out[len++] = (uint8_t)(groups << 1 | 1);
        memset(out + len, 0, groups * width);
        for (size_t k = 0; k < groups * 8 && i < n; k++, i++) {
            for (unsigned b = 0; b < width; b++) {
                size_t bit = k * width + b;
                out[len + bit / 8] |= (uint8_t)((values[i] >> b & 1u) << (bit % 8));
            }
        }
        len += groups * width;
    }
    return len;
}

static void make_values(uint32_t *values, unsigned width, uint32_t seed)
{
    uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
    for (size_t i = 0; i < COUNT; i++) {
        bool repeat = i > 0 && random_next(&seed) % 3 != 0;
        values[i] = repeat ? values[i - 1] : random_next(&seed) * 2654435761u & mask;
    }
}

static void hybrid__every_width_in_pieces_of_any_size(void **state)
{
    (void)state;
    uint32_t values[COUNT];
    uint32_t back[COUNT];
    uint8_t bytes[ROOM];
    for (unsigned width = 0; width <= 32; width++) {
        parquet_hybrid h;
        uint32_t seed = width + 7;
        make_values(values, width, seed);
        size_t len = encode(values, COUNT, width, seed, bytes);
        parquet_hybrid_init(&h, &parquet_kernels_plain, bytes, len, width);
        for (size_t i = 0; i < COUNT;) {
            size_t n = 1 + random_next(&seed) % 40;
            n = FRZ_MIN(n, COUNT - i);
            if (random_next(&seed) % 3 == 0) {
                assert_int_equal(parquet_hybrid_skip(&h, n), n);
                memcpy(back + i, values + i, n * sizeof *back);
            } else {
                assert_int_equal(parquet_hybrid_u32(&h, back + i, n), n);
            }
            i += n;
        }
        assert_memory_equal(values, back, sizeof values);
    }
}

static void hybrid__levels_as_bytes(void **state)
{
    (void)state;
    uint32_t values[COUNT];
    uint8_t back[COUNT];
    uint8_t bytes[ROOM];
    for (unsigned width = 0; width <= 8; width++) {
        parquet_hybrid h;
        make_values(values, width, 3);
        size_t len = encode(values, COUNT, width, 5, bytes);
        parquet_hybrid_init(&h, &parquet_kernels_plain, bytes, len, width);
        assert_int_equal(parquet_hybrid_u8(&h, back, COUNT), COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(values[i], back[i]);
        }
    }
}

static void hybrid__bits_at_any_offset(void **state)
{
    (void)state;
    uint32_t values[COUNT];
    uint8_t bytes[ROOM];
    uint8_t bits[COUNT / 8 + 16];
    make_values(values, 1, 11);
    size_t len = encode(values, COUNT, 1, 11, bytes);
    for (int64_t first = 0; first < 9; first++) {
        parquet_hybrid h;
        memset(bits, 0xAA, sizeof bits);
        parquet_hybrid_init(&h, &parquet_kernels_plain, bytes, len, 1);
        assert_int_equal(parquet_hybrid_bits(&h, bits, first, 300), 300);
        assert_int_equal(parquet_hybrid_bits(&h, bits, first + 300, COUNT - 300), COUNT - 300);
        for (int64_t i = 0; i < COUNT; i++) {
            assert_int_equal(frz_bit_get(bits, first + i), values[i]);
        }
    }
}

static void hybrid__runs_that_end_early_give_fewer_values(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[8];
        size_t len;
        unsigned width;
        size_t values;
    } cases[] = {
        {{0}, 0, 1, 0},                                  /* nothing */
        {{0x80}, 1, 1, 0},                               /* a header cut */
        {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 6, 1, 0}, /* a header too long */
        {{0x08}, 1, 1, 0},                               /* a run without its value */
        {{0x08, 0x01}, 2, 1, 4},                         /* four ones */
        {{0x00, 0x01, 0x00, 0x01}, 4, 1, 0},             /* empty runs */
        {{0x03}, 1, 1, 0},                               /* a packed run without bytes */
        {{0x05, 0xFF}, 2, 1, 8},                         /* two groups, bytes of one */
        {{0x03, 0xFF, 0xFF}, 3, 3, 5},                   /* 16 bits hold five of three */
    };
    uint32_t out[64];
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        uint8_t padded[64] = {0};
        parquet_hybrid h;
        memcpy(padded, cases[i].bytes, cases[i].len);
        parquet_hybrid_init(&h, &parquet_kernels_plain, padded, cases[i].len, cases[i].width);
        assert_int_equal(parquet_hybrid_u32(&h, out, FRZ_ARRAY_COUNT(out)), cases[i].values);
        assert_int_equal(parquet_hybrid_u32(&h, out, 1), 0);
    }
}

static void hybrid__a_run_of_billions_is_not_expanded(void **state)
{
    (void)state;
    uint8_t bytes[32] = {0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0x01};
    parquet_hybrid h;
    parquet_hybrid_init(&h, &parquet_kernels_plain, bytes, 6, 1);
    assert_int_equal(parquet_hybrid_run_of(&h, 0), 0);
    assert_int_equal(parquet_hybrid_run_of(&h, 1), 0x7FFFFFFF);
    assert_int_equal(parquet_hybrid_skip(&h, 0x7FFFFFFE), 0x7FFFFFFE);
    assert_int_equal(parquet_hybrid_run_of(&h, 1), 1);
}

static void hybrid__old_bit_packed_order(void **state)
{
    (void)state;
    /* the example of the format: 0 to 7 in three bits, most significant first */
    uint8_t bytes[32] = {0x05, 0x39, 0x77};
    uint8_t out[16];
    parquet_hybrid h;
    parquet_hybrid_init_msb(&h, &parquet_kernels_plain, bytes, 3, 3, 8);
    assert_int_equal(parquet_hybrid_u8(&h, out, 16), 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(out[i], i);
    }
    parquet_hybrid_init_msb(&h, &parquet_kernels_plain, bytes, 2, 3, 8);
    assert_int_equal(parquet_hybrid_u8(&h, out, 16), 5);
}

static void bit_width__of_maxima(void **state)
{
    (void)state;
    assert_int_equal(parquet_bit_width(0), 0);
    assert_int_equal(parquet_bit_width(1), 1);
    assert_int_equal(parquet_bit_width(2), 2);
    assert_int_equal(parquet_bit_width(7), 3);
    assert_int_equal(parquet_bit_width(8), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hybrid__every_width_in_pieces_of_any_size),
        cmocka_unit_test(hybrid__levels_as_bytes),
        cmocka_unit_test(hybrid__bits_at_any_offset),
        cmocka_unit_test(hybrid__runs_that_end_early_give_fewer_values),
        cmocka_unit_test(hybrid__a_run_of_billions_is_not_expanded),
        cmocka_unit_test(hybrid__old_bit_packed_order),
        cmocka_unit_test(bit_width__of_maxima),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
