/*
 * Bloom filters: the header, blocks against filters made by the rules, and the way back from values
 * to the bytes of the file.
 */
#include "codec/codec.h"
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

/* ---- the header ---- */

typedef struct header_parts {
    int32_t size;
    int16_t algorithm, hash, compression; /* field of each union; 0: none */
} header_parts;

static void put_union(parquet_thrift_out *t, int16_t id, int16_t member)
{
    parquet_put_struct(t, id);
    if (member != 0) {
        parquet_put_struct(t, member);
        parquet_put_end(t);
    }
    parquet_put_end(t);
}

static void put_header(const header_parts *parts, frz_buf *out)
{
    frz_error err = {0};
    parquet_thrift_out t;
    frz_buf_clear(out);
    parquet_put_begin(&t, out, &err);
    parquet_put_i32(&t, 1, parts->size);
    put_union(&t, 2, parts->algorithm);
    put_union(&t, 3, parts->hash);
    put_union(&t, 4, parts->compression);
    parquet_put_end(&t);
    assert_ok(t.rc, &err);
}

static void bloom__header_tells_the_size_of_the_bits(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    uint32_t bits = 0;
    size_t size = 0;
    put_header(&(header_parts){64, 1, 1, 1}, &out);
    size_t whole = out.len;
    assert_ok(frz_buf_append_str(&out, "and what follows", &err), &err);
    assert_ok(parquet_bloom_header_parse(out.data, out.len, 100, &bits, &size, &err), &err);
    assert_int_equal(bits, 64);
    assert_int_equal(size, whole);
    for (size_t len = 0; len < whole; len++) {
        assert_int_equal(parquet_bloom_header_parse(out.data, len, 100, &bits, &size, &err),
                         FRZ_E_CORRUPT);
    }
    frz_buf_reset(&out);
}

static void bloom__other_filters_are_refused(void **state)
{
    static const struct {
        header_parts parts;
        frz_code code;
    } cases[] = {
        {{0, 1, 1, 1}, FRZ_E_CORRUPT},      {{-32, 1, 1, 1}, FRZ_E_CORRUPT},
        {{33, 1, 1, 1}, FRZ_E_CORRUPT},     {{PARQUET_BLOOM_MOST + 32, 1, 1, 1}, FRZ_E_CORRUPT},
        {{32, 2, 1, 1}, FRZ_E_UNSUPPORTED}, {{32, 1, 2, 1}, FRZ_E_UNSUPPORTED},
        {{32, 1, 1, 2}, FRZ_E_UNSUPPORTED}, {{32, 0, 1, 1}, FRZ_E_UNSUPPORTED},
    };
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    uint32_t bits;
    size_t size;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        put_header(&cases[i].parts, &out);
        assert_int_equal(parquet_bloom_header_parse(out.data, out.len, 0, &bits, &size, &err),
                         cases[i].code);
    }
    frz_buf_reset(&out);
}

/* ---- blocks ---- */

/* The rule of the format, word by word: bit (hash * salt) >> 27 of each. */
static void insert(uint32_t *filter, uint32_t bits_size, uint64_t hash)
{
    static const uint32_t salts[] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                     0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
    uint32_t *block = filter + parquet_bloom_block(bits_size, hash) * 8;
    for (size_t i = 0; i < 8; i++) {
        block[i] |= UINT32_C(1) << ((uint32_t)hash * salts[i] >> 27);
    }
}

static bool holds(const uint32_t *filter, uint32_t bits_size, uint64_t hash)
{
    const uint32_t *block = filter + parquet_bloom_block(bits_size, hash) * 8;
    return parquet_bloom_block_check((const uint8_t *)block, hash);
}

static void bloom__members_are_found_and_few_others(void **state)
{
    enum { SIZE = 4096, MEMBERS = 2000 };
    uint32_t filter[SIZE / 4] = {0};
    size_t wrong = 0;
    (void)state;
    for (uint64_t i = 0; i < MEMBERS; i++) {
        insert(filter, SIZE, frz_xxh64(&i, sizeof i));
    }
    for (uint64_t i = 0; i < MEMBERS; i++) {
        assert_true(holds(filter, SIZE, frz_xxh64(&i, sizeof i)));
    }
    for (uint64_t i = MEMBERS; i < 3 * MEMBERS; i++) {
        wrong += holds(filter, SIZE, frz_xxh64(&i, sizeof i));
    }
    assert_true(wrong < 2 * MEMBERS / 100); /* 16 bits each: about one in a thousand */
    assert_int_equal(parquet_bloom_block(SIZE, 0), 0);
    assert_int_equal(parquet_bloom_block(SIZE, UINT64_MAX), SIZE / 32 - 1);
}

/* ---- back to the file's bytes ---- */

typedef struct origin_case {
    parquet_element element;
    const char *own;  /* the column's type */
    const char *read; /* what it is read as */
    const char *value;
    bool known;
    const char *plain; /* hexadecimal, two with a blank between; empty: none */
} origin_case;

static void hex_of(const parquet_origin *origin, char *out)
{
    *out = '\0';
    for (size_t k = 0; k < origin->count; k++) {
        out += snprintf(out, 2, "%s", k > 0 ? " " : "");
        for (size_t i = 0; i < origin->plain[k].len; i++) {
            out += snprintf(out, 3, "%02x", (unsigned)(uint8_t)origin->plain[k].ptr[i]);
        }
    }
}

#define OF(...)                                                                                    \
    {                                                                                              \
        .converted = -1, __VA_ARGS__                                                               \
    }
#define STAMP(u) .logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_##u
#define DECIMAL_OF(p, s) .logical = PARQUET_LOGICAL_DECIMAL, .precision = p, .scale = s

static const origin_case origins[] = {
    {OF(.physical = PARQUET_INT32), "int", "int", "-2", true, "feffffff"},
    {OF(.physical = PARQUET_INT32), "int", "long", "258", true, "02010000"},
    {OF(.physical = PARQUET_INT32), "int", "long", "2147483648", true, ""},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER, .bit_width = 32), "long",
     "long", "4294967295", true, "ffffffff"},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_INTEGER, .bit_width = 32), "long",
     "long", "-1", true, ""},
    {OF(.physical = PARQUET_INT64), "long", "long", "1", true, "0100000000000000"},
    {OF(.physical = PARQUET_INT64, .logical = PARQUET_LOGICAL_INTEGER, .bit_width = 64), "long",
     "long", "-1", true, ""},
    {OF(.physical = PARQUET_FLOAT), "float", "float", "1.5", true, "0000c03f"},
    {OF(.physical = PARQUET_FLOAT), "float", "float", "0.0", true, "00000000 00000080"},
    {OF(.physical = PARQUET_FLOAT), "float", "double", "0.1", true, ""},
    {OF(.physical = PARQUET_FLOAT), "float", "double", "0.5", true, "0000003f"},
    {OF(.physical = PARQUET_DOUBLE), "double", "double", "-0.0", true,
     "0000000000000080 0000000000000000"},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 2,
        .logical = PARQUET_LOGICAL_FLOAT16),
     "float", "float", "1.0", false, ""},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DATE), "date", "date", "1970-01-02",
     true, "01000000"},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DATE), "date", "timestamp",
     "1970-01-03T00:00:00", true, "02000000"},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DATE), "date", "timestamp",
     "1969-12-31T00:00:00", true, "ffffffff"},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_DATE), "date", "timestamp",
     "1970-01-03T00:00:01", true, ""},
    {OF(.physical = PARQUET_INT32, .logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_MILLIS), "time",
     "time", "00:00:01", true, "e8030000"},
    {OF(.physical = PARQUET_INT64, STAMP(MILLIS)), "timestamp", "timestamp",
     "1970-01-01T00:00:00.001", true, "0100000000000000"},
    {OF(.physical = PARQUET_INT64, STAMP(MILLIS)), "timestamp", "timestamp",
     "1970-01-01T00:00:00.000001", true, ""},
    {OF(.physical = PARQUET_INT64, STAMP(MICROS)), "timestamp", "timestamp",
     "1970-01-01T00:00:00.000001", true, "0100000000000000"},
    {OF(.physical = PARQUET_INT96), "timestamp", "timestamp", "1970-01-01T00:00:00", false, ""},
    {OF(.physical = PARQUET_INT32, DECIMAL_OF(4, 2)), "decimal(4, 2)", "decimal(9, 2)", "-0.01",
     true, "ffffffff"},
    {OF(.physical = PARQUET_INT64, DECIMAL_OF(18, 2)), "decimal(18, 2)", "decimal(38, 2)",
     "100000000000000000000.00", true, ""},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 3, DECIMAL_OF(5, 0)),
     "decimal(5, 0)", "decimal(5, 0)", "-2", true, "fffffe"},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 1, DECIMAL_OF(2, 0)),
     "decimal(2, 0)", "decimal(9, 0)", "128", true, ""},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 1, DECIMAL_OF(2, 0)),
     "decimal(2, 0)", "decimal(9, 0)", "-128", true, "80"},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 17, DECIMAL_OF(38, 0)),
     "decimal(38, 0)", "decimal(38, 0)", "-1", true, "ffffffffffffffffffffffffffffffffff"},
    {OF(.physical = PARQUET_BYTE_ARRAY, DECIMAL_OF(9, 0)), "decimal(9, 0)", "decimal(9, 0)", "1",
     false, ""},
    {OF(.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_STRING), "string", "string",
     "ab", true, "6162"},
    {OF(.physical = PARQUET_BYTE_ARRAY, .logical = PARQUET_LOGICAL_STRING), "string", "binary",
     "ff00", true, "ff00"},
    {OF(.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = 2), "fixed[2]", "fixed[2]", "0102",
     true, "0102"},
    {OF(.physical = PARQUET_BOOLEAN), "boolean", "boolean", "true", false, ""},
    {OF(.physical = PARQUET_INT64), "long", "string", "1", false, ""},
};

static void origin__is_the_inverse_of_reading(void **state)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(origins); i++) {
        const origin_case *c = &origins[i];
        frz_error err = {0};
        frz_arena arena;
        parquet_node node = {.element = &c->element, .path = "c"};
        const frz_type *read;
        frz_value value;
        parquet_origin origin;
        char hex[256];
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        assert_ok(frz_type_parse(&arena, frz_str_from(c->own), &node.type, &err), &err);
        assert_ok(frz_type_parse(&arena, frz_str_from(c->read), &read, &err), &err);
        assert_ok(frz_value_parse(&arena, read, frz_str_from(c->value), &value, &err), &err);
        parquet_column column = {.element = &c->element, .node = &node};
        bool known = parquet_origin_of(&column, &value, &origin);
        hex_of(&origin, hex);
        if (known != c->known || (known && strcmp(hex, c->plain) != 0)) {
            fail_msg("%s as %s, %s: %s \"%s\"", c->own, c->read, c->value,
                     known ? "known" : "unknown", hex);
        }
        frz_arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(bloom__header_tells_the_size_of_the_bits),
        TEST_WITH_ENV(bloom__other_filters_are_refused),
        TEST_WITH_ENV(bloom__members_are_found_and_few_others),
        TEST_WITH_ENV(origin__is_the_inverse_of_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
