/*
 * Decoders of page values with bytes made by hand: right ones, cut ones, lying ones. What pyarrow
 * writes is read in tests/interop/parquet_read_test.py.
 */
#include "unit/test_support.h"

#include "format/parquet/parquet_read.h"
#include "type/type_value.h"

#define ROOM 512
#define MOST 1000 /* values of a page */

typedef struct page {
    uint8_t bytes[ROOM];
    size_t len;
} page;

static void put(page *p, const void *bytes, size_t len)
{
    memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

static void put_varint(page *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        p->bytes[p->len++] = (uint8_t)(value | 0x80);
    }
    p->bytes[p->len++] = (uint8_t)value;
}

static const parquet_dictionary no_dictionary;

static frz_code init(parquet_values *v, parquet_physical physical, int32_t encoding, const page *p,
                     frz_error *err)
{
    const parquet_element e = {.physical = physical, .type_length = 3};
    return parquet_values_init(v, &e, encoding, p->bytes, p->len, &no_dictionary, MOST, err);
}

static void plain__fixed_values_end_where_the_page_ends(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 23}; /* two INT64 and 7 bytes */
    uint8_t out[64];
    frz_error err = {0};
    assert_ok(init(&v, PARQUET_INT64, PARQUET_PLAIN, &p, &err), &err);
    assert_ok(parquet_values_fixed(&v, 1, out, &err), &err);
    assert_ok(parquet_values_skip(&v, 1, &err), &err);
    assert_fails(parquet_values_fixed(&v, 1, out, &err), &err, FRZ_E_CORRUPT, "end too early");
    err = (frz_error){0};
    assert_fails(parquet_values_skip(&v, 1, &err), &err, FRZ_E_CORRUPT, "end too early");
}

static void plain__a_length_beyond_the_page_is_corrupt(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 0};
    frz_str views[4];
    frz_error err = {0};
    put(&p, "\x02\0\0\0ab\xFF\xFF\xFF\x7Fz", 11);
    assert_ok(init(&v, PARQUET_BYTE_ARRAY, PARQUET_PLAIN, &p, &err), &err);
    assert_ok(parquet_values_views(&v, 1, views, &err), &err);
    assert_true(frz_str_equal(views[0], FRZ_STR("ab")));
    assert_fails(parquet_values_views(&v, 1, views, &err), &err, FRZ_E_CORRUPT,
                 "claims 2147483647 bytes");
}

static void plain__booleans_are_bits(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.bytes = {0xA5}, .len = 1};
    uint8_t out[16] = {0x07};
    frz_error err = {0};
    assert_ok(init(&v, PARQUET_BOOLEAN, PARQUET_PLAIN, &p, &err), &err);
    assert_ok(parquet_values_skip(&v, 2, &err), &err);
    assert_ok(parquet_values_bits(&v, 6, out, 3, &err), &err);
    assert_int_equal(out[0] | out[1] << 8, 0x07 | 0x29 << 3);
    assert_fails(parquet_values_bits(&v, 1, out, 0, &err), &err, FRZ_E_CORRUPT, "end too early");
}

static void rle__booleans_are_bits(void **state)
{
    parquet_values v = {.env = *state};
    /* after the runs' length: five times true, a packed group */
    page p = {.bytes = {4, 0, 0, 0, 10, 1, 3, 0x35}, .len = 8};
    uint8_t out[16] = {0};
    frz_error err = {0};
    assert_ok(init(&v, PARQUET_BOOLEAN, PARQUET_RLE, &p, &err), &err);
    assert_ok(parquet_values_skip(&v, 1, &err), &err);
    assert_ok(parquet_values_bits(&v, 12, out, 0, &err), &err);
    assert_int_equal(out[0] | out[1] << 8, 0x0F | 0x35 << 4);
    assert_fails(parquet_values_bits(&v, 1, out, 0, &err), &err, FRZ_E_CORRUPT, "end too early");
    err = (frz_error){0};
    p.bytes[5] = 2; /* no boolean */
    assert_ok(init(&v, PARQUET_BOOLEAN, PARQUET_RLE, &p, &err), &err);
    assert_fails(parquet_values_bits(&v, 1, out, 0, &err), &err, FRZ_E_CORRUPT, "end too early");
    err = (frz_error){0};
    p.bytes[0] = 5; /* more than there is */
    assert_fails(init(&v, PARQUET_BOOLEAN, PARQUET_RLE, &p, &err), &err, FRZ_E_CORRUPT, "claim 5");
}

static void dictionary__of_booleans(void **state)
{
    uint8_t entries[2 + PARQUET_SLACK] = {0, 1};
    frz_buffer buffer = {.data = entries};
    const parquet_dictionary d = {.present = true, .count = 2, .bytes = &buffer};
    const parquet_element e = {.physical = PARQUET_BOOLEAN};
    parquet_values v = {.env = *state};
    page p = {.bytes = {1, 3, 0x35, 6, 1}, .len = 5};
    uint8_t out[16] = {0};
    frz_error err = {0};
    assert_ok(parquet_values_init(&v, &e, PARQUET_RLE_DICTIONARY, p.bytes, p.len, &d, MOST, &err),
              &err);
    assert_ok(parquet_values_skip(&v, 1, &err), &err);
    assert_ok(parquet_values_bits(&v, 10, out, 0, &err), &err);
    assert_int_equal(out[0] | out[1] << 8, 0x35 >> 1 | 7 << 7);
}

static void encodings__what_is_missing_is_named(void **state)
{
    static const struct {
        parquet_physical physical;
        int32_t encoding;
        const char *phrase;
    } cases[] = {
        {PARQUET_INT32, 11, "encoding 11"},    {PARQUET_INT32, -1, "encoding -1"},
        {PARQUET_INT32, 1, "encoding 1"},      {PARQUET_INT32, PARQUET_BIT_PACKED, "encoding 4"},
        {PARQUET_INT32, PARQUET_RLE, "INT32"}, {PARQUET_DOUBLE, 5, "encoding 5 of DOUBLE"},
        {PARQUET_BYTE_ARRAY, 9, "BYTE_ARRAY"}, {PARQUET_BOOLEAN, 4, "encoding 4"},
    };
    page p = {.len = 8};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        parquet_values v = {.env = *state};
        frz_error err = {0};
        assert_fails(init(&v, cases[i].physical, cases[i].encoding, &p, &err), &err,
                     FRZ_E_UNSUPPORTED, cases[i].phrase);
    }
}

static void dictionary__indices_stay_inside(void **state)
{
    uint8_t numbers[3 * 4 + PARQUET_SLACK] = {10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0};
    frz_buffer buffer = {.data = numbers};
    const parquet_dictionary d = {.present = true, .count = 3, .bytes = &buffer};
    const parquet_element e = {.physical = PARQUET_INT32};
    parquet_values v = {.env = *state};
    /* width 2; four times index 2, then a packed group 0 1 2 3 … */
    page p = {.bytes = {2, 8, 2, 3, 0xE4, 0}, .len = 6};
    uint32_t out[8];
    frz_error err = {0};
    assert_ok(parquet_values_init(&v, &e, PARQUET_RLE_DICTIONARY, p.bytes, p.len, &d, MOST, &err),
              &err);
    assert_ok(parquet_values_fixed(&v, 7, (uint8_t *)out, &err), &err);
    assert_int_equal(out[0], 30);
    assert_int_equal(out[4], 10);
    assert_int_equal(out[6], 30);
    assert_fails(parquet_values_fixed(&v, 1, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                 "dictionary index 3 of 3");
    err = (frz_error){0};
    p.bytes[0] = 33;
    assert_fails(
        parquet_values_init(&v, &e, PARQUET_RLE_DICTIONARY, p.bytes, p.len, &d, MOST, &err), &err,
        FRZ_E_CORRUPT, "33 bits");
    err = (frz_error){0};
    assert_fails(init(&v, PARQUET_INT32, PARQUET_RLE_DICTIONARY, &p, &err), &err, FRZ_E_CORRUPT,
                 "without a dictionary");
}

static void split__joins_any_part_of_a_page(void **state)
{
    (void)state;
    enum { count = 83 };
    static const size_t widths[] = {2, 3, 4, 8, 16};
    for (size_t w = 0; w < FRZ_ARRAY_COUNT(widths); w++) {
        size_t width = widths[w];
        uint8_t bytes[count * 16];
        uint8_t out[count * 16];
        for (size_t k = 0; k < width; k++) {
            for (size_t i = 0; i < count; i++) {
                bytes[k * count + i] = (uint8_t)(i * 31 + k * 101);
            }
        }
        for (size_t first = 0; first < count; first += 7) {
            size_t n = count - first - first % 5 % (count - first);
            parquet_split_read(bytes, count, width, first, n, out);
            for (size_t i = 0; i < n * width; i++) {
                assert_int_equal(out[i], (uint8_t)((first + i / width) * 31 + i % width * 101));
            }
        }
    }
}

static void fixed__values_of_no_length_are_corrupt(void **state)
{
    static const int32_t encodings[] = {PARQUET_PLAIN, PARQUET_BYTE_STREAM_SPLIT,
                                        PARQUET_DELTA_BYTE_ARRAY};
    const parquet_element e = {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY};
    const uint8_t bytes[8 + PARQUET_SLACK] = {0};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(encodings); i++) {
        parquet_values v = {.env = *state};
        frz_error err = {0};
        assert_fails(
            parquet_values_init(&v, &e, encodings[i], bytes, 8, &no_dictionary, MOST, &err), &err,
            FRZ_E_CORRUPT, "FIXED_LEN_BYTE_ARRAY values without a length");
        parquet_values_reset(&v);
    }
}

static void split__a_size_that_is_no_multiple_is_corrupt(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 17};
    frz_error err = {0};
    assert_fails(init(&v, PARQUET_DOUBLE, PARQUET_BYTE_STREAM_SPLIT, &p, &err), &err, FRZ_E_CORRUPT,
                 "multiple of 8 bytes, found 17");
}

static void put_delta_header(page *p, uint64_t block, uint64_t minis, uint64_t total)
{
    put_varint(p, block);
    put_varint(p, minis);
    put_varint(p, total);
    put_varint(p, 2); /* first value 1 */
}

static void delta__example_and_wrapping(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 0};
    int64_t out[5];
    frz_error err = {0};
    put_delta_header(&p, 128, 4, 5); /* 1 2 3 4 5: deltas 1, width 0 */
    put_varint(&p, 2);
    put(&p, "\0\0\0\0", 4);
    assert_ok(init(&v, PARQUET_INT64, PARQUET_DELTA_BINARY_PACKED, &p, &err), &err);
    assert_ok(parquet_values_fixed(&v, 5, (uint8_t *)out, &err), &err);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[4], 5);
    assert_fails(parquet_values_fixed(&v, 1, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                 "end too early");
    parquet_values_reset(&v);
}

static void delta__headers_that_make_no_sense(void **state)
{
    static const uint64_t headers[][3] = {
        {0, 4, 1},   {128, 0, 1},        {128, 3, 1},          {128, 65, 1},
        {100, 4, 1}, {1ull << 40, 4, 1}, {128, 4, 1ull << 40},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(headers); i++) {
        parquet_values v = {.env = *state};
        page p = {.len = 0};
        frz_error err = {0};
        put_delta_header(&p, headers[i][0], headers[i][1], headers[i][2]);
        assert_fails(init(&v, PARQUET_INT64, PARQUET_DELTA_BINARY_PACKED, &p, &err), &err,
                     FRZ_E_CORRUPT, "delta");
        parquet_values_reset(&v);
    }
}

static void delta__a_failure_stays(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 0};
    int64_t out[4];
    frz_error err = {0};
    put_delta_header(&p, 128, 4, 400);
    put_varint(&p, 2);
    put(&p, "\x41\0\0\0", 4); /* a width of 65 bits */
    assert_ok(init(&v, PARQUET_INT64, PARQUET_DELTA_BINARY_PACKED, &p, &err), &err);
    for (int i = 0; i < 3; i++) {
        err = (frz_error){0};
        assert_fails(parquet_values_fixed(&v, 4, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                     "end too early");
    }
    parquet_values_reset(&v);
}

static void delta__a_prefix_longer_than_the_value_before_is_corrupt(void **state)
{
    parquet_values v = {.env = *state};
    page p = {.len = 0};
    frz_str views[2];
    frz_error err = {0};
    put_varint(&p, 128); /* prefixes 1 … */
    put_varint(&p, 4);
    put_varint(&p, 1);
    put_varint(&p, 2);
    put_varint(&p, 128); /* suffixes 2 … */
    put_varint(&p, 4);
    put_varint(&p, 1);
    put_varint(&p, 4);
    put(&p, "ab", 2);
    assert_ok(init(&v, PARQUET_BYTE_ARRAY, PARQUET_DELTA_BYTE_ARRAY, &p, &err), &err);
    assert_fails(parquet_values_views(&v, 1, views, &err), &err, FRZ_E_CORRUPT,
                 "shares 1 bytes with one of 0 bytes");
    parquet_values_reset(&v);
}

/* One value of so many bytes. */
static void put_fixed_prefixed(page *p, uint64_t claimed)
{
    put_varint(p, 128); /* no prefixes … */
    put_varint(p, 4);
    put_varint(p, 1);
    put_varint(p, 0);
    put_varint(p, 128); /* suffixes */
    put_varint(p, 4);
    put_varint(p, 1);
    put_varint(p, 2 * claimed);
    put(p, "abcdefgh", 8);
}

static void delta__a_value_of_another_length_is_corrupt(void **state)
{
    for (uint64_t claimed = 2; claimed < 5; claimed++) {
        parquet_values v = {.env = *state};
        page p = {.len = 0};
        uint8_t out[3];
        frz_error err = {0};
        frz_env_counters before, after;
        put_fixed_prefixed(&p, claimed);
        for (int skip = 0; skip < 2; skip++) {
            assert_ok(init(&v, PARQUET_FIXED_LEN_BYTE_ARRAY, PARQUET_DELTA_BYTE_ARRAY, &p, &err),
                      &err);
            frz_env_counters_get(*state, &before);
            frz_code rc = skip == 1 ? parquet_values_skip(&v, 1, &err)
                                    : parquet_values_fixed(&v, 1, out, &err);
            frz_env_counters_get(*state, &after);
            if (claimed == 3) {
                assert_ok(rc, &err);
                continue;
            }
            assert_fails(rc, &err, FRZ_E_CORRUPT, "bytes in a column of 3");
            assert_int_equal(after.bytes_allocated, before.bytes_allocated);
        }
        parquet_values_reset(&v);
    }
}

static void convert__int96_by_days(void **state)
{
    (void)state;
    static const struct {
        int64_t nanos;
        int32_t day;
        int64_t micros;
    } cases[] = {
        {0, 2440588, 0},
        {1999, 2440588, 1},
        {86399999999999, 2440587, -1},
        {0, 1721426, -62135596800000000},              /* 0001-01-01 */
        {86399999999000, 5373484, 253402300799999999}, /* the end of 9999 */
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        uint8_t in[12];
        int64_t out;
        memcpy(in, &cases[i].nanos, 8);
        memcpy(in + 8, &cases[i].day, 4);
        assert_int_equal(parquet_convert(PARQUET_INT96_US, 12, in, 1, (uint8_t *)&out), 1);
        assert_int_equal(out, cases[i].micros);
    }
}

static void convert__decimals_of_any_length(void **state)
{
    (void)state;
    static const struct {
        frz_str bytes;
        int64_t value; /* if it fits */
        bool ok;
    } cases[] = {
        {{"", 0}, 0, true},
        {{"\x7F", 1}, 127, true},
        {{"\xFF", 1}, -1, true},
        {{"\x80\x00", 2}, -32768, true},
        {{"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05", 17}, 5, true},
        {{"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFB", 17}, -5, true},
        {{"\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 17}, 0, false},
        {{"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17}, 0, false},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_i128 out;
        size_t n =
            parquet_convert_views(PARQUET_BYTES_DECIMAL, &cases[i].bytes, 1, (uint8_t *)&out);
        assert_int_equal(n, cases[i].ok);
        assert_true(!cases[i].ok || out == cases[i].value);
    }
}

static void convert__what_does_not_fit_is_found(void **state)
{
    (void)state;
    const uint64_t large[] = {1, INT64_MAX, (uint64_t)INT64_MAX + 1};
    const int64_t millis[] = {INT64_MAX / 1000, INT64_MAX / 1000 + 1};
    int64_t out[3];
    assert_int_equal(parquet_convert(PARQUET_U64_I64, 8, (const uint8_t *)large, 3, (uint8_t *)out),
                     2);
    assert_int_equal(
        parquet_convert(PARQUET_MS64_US, 8, (const uint8_t *)millis, 2, (uint8_t *)out), 1);
}

static void convert__half_precision(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        float value;
    } cases[] = {{0x3C00, 1.0f},     {0xC000, -2.0f},        {0x0001, 0x1p-24f},   {0x8000, -0.0f},
                 {0x7BFF, 65504.0f}, {0x03FF, 0x1.FF8p-15f}, {0x3555, 0x1.554p-2f}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        float out;
        parquet_convert(PARQUET_F16_F32, 2, (const uint8_t *)&cases[i].half, 1, (uint8_t *)&out);
        assert_memory_equal(&out, &cases[i].value, sizeof out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(plain__fixed_values_end_where_the_page_ends),
        TEST_WITH_ENV(plain__a_length_beyond_the_page_is_corrupt),
        TEST_WITH_ENV(plain__booleans_are_bits),
        TEST_WITH_ENV(rle__booleans_are_bits),
        TEST_WITH_ENV(dictionary__of_booleans),
        TEST_WITH_ENV(encodings__what_is_missing_is_named),
        TEST_WITH_ENV(dictionary__indices_stay_inside),
        cmocka_unit_test(split__joins_any_part_of_a_page),
        TEST_WITH_ENV(fixed__values_of_no_length_are_corrupt),
        TEST_WITH_ENV(split__a_size_that_is_no_multiple_is_corrupt),
        TEST_WITH_ENV(delta__example_and_wrapping),
        TEST_WITH_ENV(delta__headers_that_make_no_sense),
        TEST_WITH_ENV(delta__a_failure_stays),
        TEST_WITH_ENV(delta__a_prefix_longer_than_the_value_before_is_corrupt),
        TEST_WITH_ENV(delta__a_value_of_another_length_is_corrupt),
        cmocka_unit_test(convert__int96_by_days),
        cmocka_unit_test(convert__decimals_of_any_length),
        cmocka_unit_test(convert__what_does_not_fit_is_found),
        cmocka_unit_test(convert__half_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
