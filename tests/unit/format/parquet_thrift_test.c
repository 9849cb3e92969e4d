/*
 * The Thrift reader and the footer against bytes made by hand, most of them damaged.
 */
#include "unit/test_support.h"

#include "format/parquet/parquet_internal.h"

static parquet_thrift start(const uint8_t *bytes, size_t len, frz_error *err)
{
    parquet_thrift t;
    parquet_thrift_init(&t, bytes, len, 100, err);
    return t;
}

static void thrift__fields_by_delta_and_by_number(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x15, 0x02, /* field 1: i32 1 */
                                    0x26, 0x03, /* field 3: i64 -2 */
                                    0x08, 0x80, 0x02,
                                    0x01, 'x', /* field 128 by number: binary "x" */
                                    0x11,      /* field 129: true */
                                    0x00};
    frz_error err = {0};
    parquet_thrift t = start(bytes, sizeof bytes, &err);
    parquet_thrift_field f = {0};
    assert_true(parquet_thrift_next(&t, &f));
    assert_int_equal(f.id, 1);
    assert_int_equal(parquet_thrift_i32(&t, &f), 1);
    assert_true(parquet_thrift_next(&t, &f));
    assert_int_equal(f.id, 3);
    assert_int_equal(parquet_thrift_i64(&t, &f), -2);
    assert_true(parquet_thrift_next(&t, &f));
    assert_int_equal(f.id, 128);
    assert_true(frz_str_equal(parquet_thrift_binary(&t, &f), FRZ_STR("x")));
    assert_true(parquet_thrift_next(&t, &f));
    assert_int_equal(f.id, 129);
    assert_true(parquet_thrift_bool(&t, &f));
    assert_false(parquet_thrift_next(&t, &f));
    assert_int_equal(t.rc, FRZ_OK);
    assert_int_equal(parquet_thrift_left(&t), 0);
}

static void thrift__unknown_fields_of_every_type_are_skipped(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x13, 0x07,                                   /* byte */
                                    0x14, 0x02,                                   /* i16 */
                                    0x17, 1,    2,    3,    4,    5,   6,  7,  8, /* double */
                                    0x18, 0x02, 'a',  'b',                        /* binary */
                                    0x19, 0x25, 0x02, 0x04, /* list of two i32 */
                                    0x19, 0x21, 0x01, 0x02, /* list of two booleans, a byte each */
                                    0x1B, 0x01, 0x58, 0x02, 0x01, 'v', /* map of i32 to binary */
                                    0x1C, 0x15, 0x02, 0x00,            /* struct */
                                    0x1D, 0,    1,    2,    3,    4,   5,  6,  7,
                                    8,    9,    10,   11,   12,   13,  14, 15, /* uuid */
                                    0x15, 0x0A, /* the one that is wanted */
                                    0x00};
    frz_error err = {0};
    parquet_thrift t = start(bytes, sizeof bytes, &err);
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(&t, &f) && f.id < 10) {
        parquet_thrift_skip(&t, &f);
    }
    assert_int_equal(f.id, 10);
    assert_int_equal(parquet_thrift_i32(&t, &f), 5);
    assert_false(parquet_thrift_next(&t, &f));
    assert_int_equal(t.rc, FRZ_OK);
}

/* Read or skip everything; the code of the whole. */
static frz_code skip_all(const uint8_t *bytes, size_t len, frz_error *err)
{
    parquet_thrift t = start(bytes, len, err);
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(&t, &f)) {
        parquet_thrift_skip(&t, &f);
    }
    return t.rc;
}

static void thrift__damage_is_named_with_its_place(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[16];
        size_t len;
        const char *phrase;
    } cases[] = {
        {{0x15}, 1, "byte 101: the bytes end"},
        {{0x15, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 12, "64 bits"},
        {{0x18, 0x05, 'a'}, 3, "the bytes end"},
        {{0x19, 0xF5, 0xFF, 0xFF, 0xFF, 0x7F}, 6, "cannot fit in the 0 bytes left"},
        {{0x1E, 0x00}, 2, "unknown field type 14"},
        {{0x10, 0x00}, 2, "unknown field type 0"},
        {{0x05, 0xFE, 0xFF, 0xFF, 0x0F}, 5, "out of range"},
        {{0}, 0, "the bytes end"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        assert_fails(skip_all(cases[i].bytes, cases[i].len, &err), &err, FRZ_E_CORRUPT,
                     cases[i].phrase);
    }
}

static void thrift__nesting_has_a_limit(void **state)
{
    (void)state;
    uint8_t structs[1000];
    uint8_t lists[1000];
    frz_error err = {0};
    memset(structs, 0x1C, sizeof structs);
    assert_fails(skip_all(structs, sizeof structs, &err), &err, FRZ_E_CORRUPT, "deep");
    memset(lists, 0x19, sizeof lists);
    frz_error more = {0};
    assert_fails(skip_all(lists, sizeof lists, &more), &more, FRZ_E_CORRUPT, "deep");
}

static void thrift__a_field_of_another_type_fails(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x16, 0x02, 0x00};
    frz_error err = {0};
    parquet_thrift t = start(bytes, sizeof bytes, &err);
    parquet_thrift_field f = {0};
    assert_true(parquet_thrift_next(&t, &f));
    (void)parquet_thrift_binary(&t, &f);
    assert_fails(t.rc, &err, FRZ_E_CORRUPT, "field 1 has type 6, expected binary");
    assert_false(parquet_thrift_next(&t, &f));
}

/* ---- footers ---- */

#define STR2(s) 0x48, 0x02, s[0], s[1] /* element field 4, name, after field 0 */

static frz_code parse(void **state, const uint8_t *bytes, size_t len, frz_error *err)
{
    frz_arena arena;
    parquet_metadata m;
    parquet_node root;
    parquet_column *columns;
    size_t count;
    frz_arena_init(&arena, *state, 1 << 20);
    frz_code rc = parquet_footer_parse(&arena, (frz_str){(const char *)bytes, len}, 0, &m, err);
    if (rc == FRZ_OK) {
        rc = parquet_schema_build(&arena, &m, &root, &columns, &count, err);
    }
    frz_arena_reset(&arena);
    return rc;
}

static void footer__minimal(void **state)
{
    static const uint8_t bytes[] = {0x15,       0x02,             /* version 1 */
                                    0x19,       0x2C,             /* schema: two elements */
                                    STR2("ro"), 0x15, 0x02, 0x00, /* root of one child */
                                    0x15,       0x04, 0x25, 0x00,
                                    0x18,       0x01, 'a',  0x00, /* required INT64 "a" */
                                    0x16,       0x00,             /* no rows */
                                    0x19,       0x0C,             /* no row groups */
                                    0x00};
    frz_error err = {0};
    assert_ok(parse(state, bytes, sizeof bytes, &err), &err);
    for (size_t len = 0; len < sizeof bytes; len++) {
        frz_error cut = {0};
        assert_fails(parse(state, bytes, len, &cut), &cut, FRZ_E_CORRUPT, "");
    }
}

static void footer__schemas_that_do_not_add_up(void **state)
{
    static const uint8_t more_children[] = {0x29, 0x1C, STR2("ro"), 0x15, 0x04, 0x00, 0x00};
    static const uint8_t negative[] = {0x29, 0x1C, STR2("ro"), 0x15, 0x01, 0x00, 0x00};
    static const uint8_t too_many[] = {0x29, 0x2C, STR2("ro"), 0x00, STR2("xx"), 0x00, 0x00};
    static const uint8_t none[] = {0x15, 0x02, 0x00};
    static const uint8_t huge[] = {0x29, 0xFC, 0xFF, 0xFF, 0xFF, 0x0F, 0x00};
    frz_error err = {0};
    assert_fails(parse(state, more_children, sizeof more_children, &err), &err, FRZ_E_CORRUPT,
                 "has 2 children, 0 elements are left");
    err = (frz_error){0};
    assert_fails(parse(state, negative, sizeof negative, &err), &err, FRZ_E_CORRUPT, "-1 children");
    err = (frz_error){0};
    assert_fails(parse(state, too_many, sizeof too_many, &err), &err, FRZ_E_CORRUPT,
                 "after 1 of its 2 elements");
    err = (frz_error){0};
    assert_fails(parse(state, none, sizeof none, &err), &err, FRZ_E_CORRUPT, "no schema");
    err = (frz_error){0};
    assert_fails(parse(state, huge, sizeof huge, &err), &err, FRZ_E_CORRUPT, "cannot fit");
}

static void footer__schema_depth_has_a_limit(void **state)
{
    uint8_t bytes[3000];
    size_t len = 0;
    bytes[len++] = 0x29;
    bytes[len++] = 0xFC;
    bytes[len++] = 0xC8; /* 200 elements */
    bytes[len++] = 0x01;
    for (int i = 0; i < 200; i++) {
        static const uint8_t group[] = {0x35, 0x00, 0x18, 0x01, 'g', 0x15, 0x02, 0x00};
        memcpy(bytes + len, group, sizeof group);
        bytes[len + 6] = i == 199 ? 0 : 2;
        len += sizeof group;
    }
    bytes[len++] = 0;
    frz_error err = {0};
    assert_fails(parse(state, bytes, len, &err), &err, FRZ_E_LIMIT, "nested more than 64 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thrift__fields_by_delta_and_by_number),
        cmocka_unit_test(thrift__unknown_fields_of_every_type_are_skipped),
        cmocka_unit_test(thrift__damage_is_named_with_its_place),
        cmocka_unit_test(thrift__nesting_has_a_limit),
        cmocka_unit_test(thrift__a_field_of_another_type_fails),
        TEST_WITH_ENV(footer__minimal),
        TEST_WITH_ENV(footer__schemas_that_do_not_add_up),
        TEST_WITH_ENV(footer__schema_depth_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
