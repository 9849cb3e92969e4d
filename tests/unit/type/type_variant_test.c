#include <math.h>
#include <stdlib.h>

#include "type/type_variant.h"
#include "unit/test_alloc.h"

/* ---- text ---- */

static void append(void *ctx, const char *text, size_t size)
{
    frz_error err;
    assert_ok(frz_buf_append(ctx, text, size, &err), &err);
}

/* A variant of hexadecimal digits as JSON, or the message of its fault. */
static const char *printed(const frz_env *env, const char *metadata, const char *value)
{
    static char text[2000];
    static char bytes[2][1000];
    frz_str parts[2] = {{bytes[0], strlen(metadata) / 2}, {bytes[1], strlen(value) / 2}};
    const char *hex[2] = {metadata, value};
    frz_error err = {0};
    frz_variant_names names;
    frz_buf out = FRZ_BUF_INIT(env, sizeof text - 1);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < parts[k].len; i++) {
            char pair[3] = {hex[k][2 * i], hex[k][2 * i + 1], '\0'};
            bytes[k][i] = (char)strtol(pair, NULL, 16);
        }
    }
    frz_code rc = frz_variant_names_read(parts[0], &names, &err);
    if (rc == FRZ_OK) {
        rc = frz_variant_print(&names, parts[1], append, &out, &err);
    }
    if (rc == FRZ_OK) {
        assert_ok(frz_buf_append_byte(&out, '\0', &err), &err);
        strcpy(text, (const char *)out.data);
    } else {
        snprintf(text, sizeof text, "%s", err.message);
    }
    frz_buf_reset(&out);
    return text;
}

#define NONE "010000" /* an empty dictionary */
#define AB                                                                                         \
    "1102000102"                                                                                   \
    "6162" /* "a" and "b" */

static void text__of_every_type(void **state)
{
    static const struct {
        const char *metadata, *value, *text;
    } cases[] = {
        {NONE, "00", "null"},
        {NONE, "04", "true"},
        {NONE, "08", "false"},
        {NONE, "0cff", "-1"},
        {NONE, "10d204", "1234"},
        {NONE, "1400000080", "-2147483648"},
        {NONE, "18ffffffffffffff7f", "9223372036854775807"},
        {NONE, "1c000000000000f03f", "1.0"},
        {NONE, "1c000000000000f87f", "\"NaN\""},
        {NONE, "1c000000000000f0ff", "\"-Infinity\""},
        {NONE, "38cdcccc3d", "0.1"},
        {NONE, "2002ce040000", "\"12.3\""},   /* 12.30 */
        {NONE, "2002d0070000", "\"20\""},     /* 20.00 */
        {NONE, "240100000000000000ff", NULL}, /* nine bytes: fine */
        {NONE, "2826ffffffffffffffffffffffffffffffff",
         "\"-0.00000000000000000000000000000000000001\""},
        {NONE, "2c00000000", "\"1970-01-01\""},
        {NONE, "30ffffffffffffffff", "\"1969-12-31T23:59:59.999999+00:00\""},
        {NONE, "340000000000000000", "\"1970-01-01T00:00:00.000000\""},
        {NONE, "3c03000000000102", "\"000102\""},
        {NONE, "40020000006869", "\"hi\""},
        {NONE, "096869", "\"hi\""},
        {NONE, "01", "\"\""},
        {NONE, "15225c0a0165", "\"\\\"\\\\\\n\\u0001e\""},
        {NONE, "440100000000000000", "\"00:00:00.000001\""},
        {NONE, "480100000000000000", "\"1970-01-01T00:00:00.000000001+00:00\""},
        {NONE, "4c0100000000000000", "\"1970-01-01T00:00:00.000000001\""},
        {NONE, "50f24f9b6481fa49d1b74e8c09a6e31c56", "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""},
        {NONE, "020000", "{}"},
        {NONE, "030000", "[]"},
        {AB,
         "02020001000204"
         "0c01"
         "0c02",
         "{\"a\":1,\"b\":2}"},
        {AB,
         "02020001020004"
         "0c02"
         "0c01",
         "{\"a\":1,\"b\":2}"}, /* values in any order */
        {AB,
         "4202000000000100020004"
         "0c01"
         "0c02",
         NULL},
        {NONE,
         "030200020402"
         "030000"
         "00",
         NULL},
        {NONE,
         "0302000204"
         "0c01"
         "0c02",
         "[1,2]"},
        {NONE,
         "1302000000000204"
         "0c01"
         "0c02",
         "[1,2]"}, /* a long count */
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const char *text = printed(*state, cases[i].metadata, cases[i].value);
        if (cases[i].text != NULL) {
            assert_string_equal(text, cases[i].text);
        }
    }
}

static void text__of_broken_bytes(void **state)
{
    static const struct {
        const char *metadata, *value, *message;
    } cases[] = {
        {"", "00", "the metadata is empty"},
        {"02", "00", "variant of version 2"},
        {"0f", "00", "variant of version 15"},
        {"01", "00", "ends before its dictionary"},
        {"0101", "00", "1 names cannot be in 2 bytes"},
        {"c1ffffffff00", "00", "4294967295 names cannot be in 6 bytes"},
        {NONE, "", "a value is empty"},
        {NONE, "54", "unsupported: variant of primitive type 21"},
        {NONE, "fc", "unsupported: variant of primitive type 63"},
        {NONE, "18ff", "a value of 8 bytes in 1"},
        {NONE, "2027ce040000", "a scale above 38"},
        {NONE, "40ffffffff", "a value of 4294967295 bytes in 0"},
        {NONE, "4002", "a value of 4 bytes in 1"},
        {NONE, "05ff", "a string is not UTF-8"},
        {NONE, "0961", "a value of 2 bytes in 1"},
        {NONE, "02", "a value of 1 bytes in 0"},
        {NONE, "4201000000", "1 items cannot be in 5 bytes"},
        {NONE, "13ffffffff00", "4294967295 items cannot be in 6 bytes"},
        {NONE, "0301000500", "a value of 5 bytes in 1"},
        {NONE,
         "03010501"
         "00",
         "item 0 lies outside"},
        {NONE,
         "0201000001"
         "00",
         "name 0 of a dictionary of 0"},
        {"01010009"
         "61",
         "0201000001"
         "00",
         "name 0 lies outside of the metadata"},
        {"01010001"
         "ff",
         "0201000001"
         "00",
         "a name is not UTF-8"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const char *text = printed(*state, cases[i].metadata, cases[i].value);
        if (strstr(text, cases[i].message) == NULL) {
            fail_msg("%s %s: expected %s, got %s", cases[i].metadata, cases[i].value,
                     cases[i].message, text);
        }
    }
}

/* Arrays in arrays: as deep as is allowed, and one level more. */
static void text__nesting_has_a_limit(void **state)
{
    frz_error err = {0};
    frz_variant_names names;
    frz_buf value = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_variant_part part = {.offset = 0};
    assert_ok(frz_variant_names_read(FRZ_STR("\x01\0\0"), &names, &err), &err);
    assert_ok(frz_variant_put_null(&value, &err), &err);
    for (int depth = 0; depth <= FRZ_VARIANT_MAX_DEPTH; depth++) {
        frz_buf_clear(&out);
        assert_ok(frz_variant_print(&names, frz_buf_view(&value), append, &out, &err), &err);
        assert_int_equal(out.len, 4 + 2 * depth);
        assert_ok(frz_variant_close_array(&value, 0, &part, 1, &err), &err);
    }
    assert_fails(frz_variant_print(&names, frz_buf_view(&value), append, &out, &err), &err,
                 FRZ_E_LIMIT, "nested more than 500 levels deep");
    frz_buf_reset(&value);
    frz_buf_reset(&out);
}

/* ---- making ---- */

/* What is made reads back: values of all types, in objects whose names and sizes need wide ids and
 * offsets. */
static void make__reads_back(void **state)
{
    static const struct {
        const char *type, *text, *json;
    } cases[] = {
        {"boolean", "true", "true"},
        {"int", "-5", "-5"},
        {"long", "9223372036854775807", "9223372036854775807"},
        {"float", "0.1", "0.1"},
        {"double", "-0.0", "-0.0"},
        {"decimal(9,2)", "12.34", "\"12.34\""},
        {"decimal(18,2)", "-12.34", "\"-12.34\""},
        {"decimal(38,0)", "99999999999999999999999999999999999999",
         "\"99999999999999999999999999999999999999\""},
        {"date", "2026-11-01", "\"2026-11-01\""},
        {"time", "12:34:56.5", "\"12:34:56.500000\""},
        {"timestamp", "2026-11-01T00:00:00", "\"2026-11-01T00:00:00.000000\""},
        {"timestamptz", "2026-11-01T00:00:00Z", "\"2026-11-01T00:00:00.000000+00:00\""},
        {"timestamp_ns", "2026-11-01T00:00:00", "\"2026-11-01T00:00:00.000000000\""},
        {"timestamptz_ns", "2026-11-01T00:00:00Z", "\"2026-11-01T00:00:00.000000000+00:00\""},
        {"string", "short", "\"short\""},
        {"string", "a text that is longer than the sixty-three bytes that a head has room for",
         "\"a text that is longer than the sixty-three bytes that a head has room for\""},
        {"uuid", "f24f9b64-81fa-49d1-b74e-8c09a6e31c56",
         "\"f24f9b64-81fa-49d1-b74e-8c09a6e31c56\""},
        {"binary", "00ff", "\"00ff\""},
    };
    frz_error err = {0};
    frz_arena arena;
    frz_variant_names names;
    frz_buf value = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_variant_names_read(FRZ_STR("\x01\0\0"), &names, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const frz_type *type = NULL;
        frz_value v;
        assert_ok(frz_type_parse(&arena, frz_str_from(cases[i].type), &type, &err), &err);
        assert_ok(frz_value_parse(&arena, type, frz_str_from(cases[i].text), &v, &err), &err);
        frz_buf_clear(&value);
        frz_buf_clear(&out);
        assert_ok(frz_variant_put_value(&value, &v, &err), &err);
        assert_ok(frz_variant_print(&names, frz_buf_view(&value), append, &out, &err), &err);
        assert_true(frz_str_equal(frz_buf_view(&out), frz_str_from(cases[i].json)));
    }
    frz_value fixed = {.type = &(frz_type){.id = FRZ_TYPE_FIXED, .length = 1},
                       .as.bytes = FRZ_STR("x")};
    assert_fails(frz_variant_put_value(&value, &fixed, &err), &err, FRZ_E_UNSUPPORTED,
                 "variant of fixed[1]");
    frz_buf_reset(&value);
    frz_buf_reset(&out);
    frz_arena_reset(&arena);
}

#define FIELDS 300

/* A dictionary of n names "n000" … */
static void make_names(frz_buf *out, size_t n)
{
    frz_error err = {0};
    assert_ok(frz_buf_append_byte(out, 0x11 | 1 << 6, &err), &err); /* sorted, two bytes */
    for (size_t i = 0; i <= n + 1; i++) {
        uint16_t number = (uint16_t)(i == 0 ? n : 4 * (i - 1));
        assert_ok(frz_buf_append(out, &number, 2, &err), &err);
    }
    for (size_t i = 0; i < n; i++) {
        assert_ok(frz_buf_printf(out, &err, "n%03zu", i), &err);
    }
}

static void make__objects_of_many_fields(void **state)
{
    frz_error err = {0};
    frz_variant_names names;
    frz_variant object;
    frz_variant item;
    frz_str name;
    uint32_t id;
    static frz_variant_part parts[FIELDS];
    frz_buf metadata = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_buf value = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    make_names(&metadata, FIELDS);
    assert_ok(frz_variant_names_read(frz_buf_view(&metadata), &names, &err), &err);
    for (size_t i = 0; i < FIELDS; i++) {
        uint32_t other = (uint32_t)(FIELDS - 1 - i); /* names come in no order */
        frz_value v = {.type = frz_type_primitive(FRZ_TYPE_LONG), .as.i64 = other};
        assert_ok(frz_variant_name(&names, other, &parts[i].name, &err), &err);
        parts[i].id = other;
        parts[i].offset = value.len;
        assert_int_equal(frz_variant_find_name(&names, parts[i].name), other);
        assert_ok(frz_variant_put_value(&value, &v, &err), &err);
    }
    assert_int_equal(frz_variant_find_name(&names, FRZ_STR("n")), -1);
    assert_int_equal(frz_variant_find_name(&names, FRZ_STR("z")), -1);
    assert_ok(frz_variant_close_object(&value, 0, parts, FIELDS, &err), &err);
    assert_ok(frz_variant_read(frz_buf_view(&value), &object, &err), &err);
    assert_int_equal(object.count, FIELDS);
    assert_int_equal(object.all.len, value.len);
    for (uint32_t i = 0; i < FIELDS; i++) {
        assert_ok(frz_variant_field_name(&object, &names, i, &id, &name, &err), &err);
        assert_ok(frz_variant_item(&object, i, &item, &err), &err);
        assert_int_equal(id, i);
        assert_int_equal(item.i64, i);
    }
    parts[1] = parts[0];
    assert_fails(frz_variant_close_object(&value, 0, parts, 2, &err), &err, FRZ_E_CORRUPT,
                 "is there twice");
    frz_buf_reset(&metadata);
    frz_buf_reset(&value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(text__of_every_type),          TEST_WITH_ENV(text__of_broken_bytes),
        TEST_WITH_ENV(text__nesting_has_a_limit),    TEST_WITH_ENV(make__reads_back),
        TEST_WITH_ENV(make__objects_of_many_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
