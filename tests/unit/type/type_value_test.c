#include <math.h>

#include "type/type_value.h"
#include "unit/test_alloc.h"

static const frz_type *parsed_type(frz_arena *arena, const char *text)
{
    frz_error err = {0};
    const frz_type *type = NULL;
    assert_ok(frz_type_parse(arena, frz_str_from(text), &type, &err), &err);
    return type;
}

/* ---- text ---- */

static void value_text__parse_and_print(void **state)
{
    static const struct {
        const char *type, *text, *printed; /* NULL: as it was */
    } cases[] = {
        {"boolean", "TRUE", "true"},
        {"boolean", "false", NULL},
        {"int", "-2147483648", NULL},
        {"long", "9223372036854775807", NULL},
        {"long", "+5", "5"},
        {"double", "1", "1.0"},
        {"double", "-0.0", NULL},
        {"double", "0", "0.0"},
        {"double", "NaN", NULL},
        {"double", "-inf", "-Infinity"},
        {"double", "1e400000", ""},
        {"double", "0x10", ""},
        {"double", "1e22", "1e+22"},
        {"double", "123456789012345680", "1.2345678901234568e+17"},
        {"double", "1234567890123456", "1234567890123456.0"},
        {"double", "0.0001", NULL},
        {"double", "0.00001", "1e-05"},
        {"double", "5e-324", NULL},
        {"double", "1.7976931348623157e308", "1.7976931348623157e+308"},
        {"double", "0.1", NULL},
        {"double", "7.120236347223045e-307", NULL}, /* a power of two */
        {"double", "2.2250738585072014e-308", NULL},
        {"float", "0.1", NULL},
        {"float", "16777216", "16777216.0"},
        {"float", "3.4028235e38", "3.4028235e+38"},
        {"float", "1e39", ""},
        {"float", "1e-45", NULL},
        {"decimal(9,2)", "14.2", "14.20"},
        {"decimal(9,2)", "-0.01", NULL},
        {"decimal(9,2)", "1234567.89", NULL},
        {"decimal(9,2)", "12345678.00", ""},
        {"decimal(9,2)", "1.005", ""},
        {"decimal(9,2)", "1.0050e1", "10.05"},
        {"decimal(9,2)", "1.00000000000000000000000000000000000000000000000", "1.00"},
        {"decimal(38,0)", "99999999999999999999999999999999999999", NULL},
        {"decimal(38,0)", "-99999999999999999999999999999999999999", NULL},
        {"decimal(38,0)", "100000000000000000000000000000000000000", ""},
        {"decimal(38,38)", "0.00000000000000000000000000000000000001", NULL},
        {"decimal(38,0)", "1e37", "10000000000000000000000000000000000000"},
        {"decimal(5,0)", "0e9999", "0"},
        {"decimal(5,0)", ".5e1", "5"},
        {"decimal(5,0)", "5.", "5"},
        {"decimal(5,0)", ".", ""},
        {"decimal(5,0)", "", ""},
        {"decimal(5,0)", "1.2.3", ""},
        {"decimal(5,0)", "1e", ""},
        {"date", "1970-01-01", NULL},
        {"date", "2000-02-29", NULL},
        {"date", "1900-02-29", ""},
        {"date", "2024-13-01", ""},
        {"date", "2024-00-01", ""},
        {"date", "2024-04-31", ""},
        {"date", "-0001-12-31", NULL},
        {"date", "0000-01-01", NULL},
        {"date", "+12345-01-01", NULL},
        {"date", "+5881580-07-11", NULL},
        {"date", "+5881580-07-12", ""},
        {"date", "-5877641-06-23", NULL},
        {"date", "-5877641-06-22", ""},
        {"date", "2024-1-1", ""},
        {"time", "12:34:56.5", "12:34:56.500000"},
        {"time", "23:59", "23:59:00.000000"},
        {"time", "24:00:00", ""},
        {"time", "12:34:56.0000001", ""},
        {"time", "12:34:56.1234560", "12:34:56.123456"},
        {"timestamp", "2026-11-01 00:00:00", "2026-11-01T00:00:00.000000"},
        {"timestamp", "2026-11-01", "2026-11-01T00:00:00.000000"},
        {"timestamp", "1969-12-31T23:59:59.999999", NULL},
        {"timestamp", "2026-11-01T00:00:00+00:00", ""},
        {"timestamp", "-290308-12-21T19:59:05.224192", NULL},
        {"timestamp", "-290308-12-21T19:59:05.224191", ""},
        {"timestamp", "+294247-01-10T04:00:54.775807", NULL},
        {"timestamp", "+294247-01-10T04:00:54.775808", ""},
        {"timestamptz", "2026-11-01T01:30:00+01:30", "2026-11-01T00:00:00.000000+00:00"},
        {"timestamptz", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00.000000+00:00"},
        {"timestamptz", "2026-11-01 00:00:00-0100", "2026-11-01T01:00:00.000000+00:00"},
        {"timestamptz", "2026-11-01 00:00:00+", ""},
        {"timestamp_ns", "1677-09-21T00:12:43.145224192", NULL},
        {"timestamp_ns", "1677-09-21T00:12:43.145224191", ""},
        {"timestamptz_ns", "2262-04-11T23:47:16.854775807+00:00", NULL},
        {"string", "h\xC3\xA9llo", NULL},
        {"string", "\xFF", ""},
        {"uuid", "F79C3E09-677C-4BBD-A479-3F349CB785E7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
        {"uuid", "f79c3e09677c-4bbd-a479-3f349cb785e7-", ""},
        {"fixed[2]", "00fF", "00ff"},
        {"fixed[2]", "00ff00", ""},
        {"binary", "", NULL},
        {"binary", "0", ""},
        {"binary", "0g", ""},
        {"binary", "deadbeef", NULL},
    };
    frz_error err = {0};
    frz_arena arena;
    frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_value value = {0};
        const frz_type *type = parsed_type(&arena, cases[i].type);
        frz_str input = frz_str_from(cases[i].text);
        const char *printed = cases[i].printed == NULL ? cases[i].text : cases[i].printed;
        if (printed[0] == '\0' && input.len + (cases[i].printed != NULL) > 0) {
            assert_fails(frz_value_parse(&arena, type, input, &value, &err), &err, FRZ_E_ARGUMENT,
                         "");
            continue;
        }
        assert_ok(frz_value_parse(&arena, type, input, &value, &err), &err);
        frz_buf_clear(&text);
        assert_ok(frz_value_print(&value, &text, &err), &err);
        assert_ok(frz_buf_append_byte(&text, 0, &err), &err);
        assert_string_equal((const char *)text.data, printed);
    }
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
}

static void value_text__rejections_say_what_was_found(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_value value = {0};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_fails(
        frz_value_parse(&arena, parsed_type(&arena, "date"), FRZ_STR("soon"), &value, &err), &err,
        FRZ_E_ARGUMENT, "expected a date like 2026-11-01, found \"soon\"");
    assert_fails(frz_value_parse(&arena, parsed_type(&arena, "decimal(4,2)"), FRZ_STR("123.45"),
                                 &value, &err),
                 &err, FRZ_E_ARGUMENT, "123.45 does not fit in a decimal(4, 2)");
    frz_arena_reset(&arena);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed ^ *seed >> 29;
}

static void number_text__reads_back_and_is_short(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        double d;
        float f;
        uint64_t bits = next_random(&seed);
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &bits, sizeof f);
        if (isfinite(d)) {
            size_t len = frz_double_text(d, text);
            assert_int_equal(len, strlen(text));
            assert_true(strtod(text, NULL) == d && strlen(text) < 25);
        }
        if (isfinite(f)) {
            size_t len = frz_float_text(f, text);
            assert_int_equal(len, strlen(text));
            assert_true(strtof(text, NULL) == f && strlen(text) < 20);
        }
        int64_t cents = (int64_t)(bits % 2000000) - 1000000;
        frz_double_text((double)cents / 100.0, text);
        assert_true(strlen(text) <= 9); /* as short as it was written */
    }
}

static void calendar__every_day_follows_the_one_before(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_type *date = frz_type_primitive(FRZ_TYPE_DATE);
    frz_buf text = FRZ_BUF_INIT(*state, 64);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (int64_t day = -800000; day < 3200000; day += 37) {
        frz_value back;
        frz_value value = {.type = date, .as.i32 = (int32_t)day};
        frz_buf_clear(&text);
        assert_ok(frz_value_print(&value, &text, &err), &err);
        assert_ok(frz_value_parse(&arena, date, frz_buf_view(&text), &back, &err), &err);
        assert_int_equal(back.as.i32, day);
    }
    static const int32_t ends[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ends); i++) {
        frz_value back;
        frz_value value = {.type = date, .as.i32 = ends[i]};
        frz_buf_clear(&text);
        assert_ok(frz_value_print(&value, &text, &err), &err);
        assert_ok(frz_value_parse(&arena, date, frz_buf_view(&text), &back, &err), &err);
        assert_int_equal(back.as.i32, ends[i]);
    }
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
}

static void value_text__any_bits_print(void **state)
{
    static const frz_type_id ids[] = {FRZ_TYPE_TIME, FRZ_TYPE_TIMESTAMP, FRZ_TYPE_TIMESTAMPTZ,
                                      FRZ_TYPE_TIMESTAMP_NS, FRZ_TYPE_TIMESTAMPTZ_NS};
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    frz_error err = {0};
    frz_buf text = FRZ_BUF_INIT(*state, 100);
    const frz_type widest = {.id = FRZ_TYPE_DECIMAL, .precision = 38, .scale = 38};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ids); i++) {
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(values); k++) {
            frz_value value = {.type = frz_type_primitive(ids[i]), .as.i64 = values[k]};
            frz_buf_clear(&text);
            assert_ok(frz_value_print(&value, &text, &err), &err);
        }
    }
    frz_value lowest = {.type = &widest, .as.i128 = (frz_i128)1 << 126};
    lowest.as.i128 = -lowest.as.i128 - lowest.as.i128;
    frz_buf_clear(&text);
    assert_ok(frz_value_print(&lowest, &text, &err), &err);
    assert_true(
        frz_str_equal(frz_buf_view(&text), FRZ_STR("-1.70141183460469231731687303715884105728")));
    frz_buf_reset(&text);
}

/* ---- order and promotion ---- */

static int order_of(double a, double b, bool total)
{
    frz_value x = {.type = frz_type_primitive(FRZ_TYPE_DOUBLE), .as.f64 = a};
    frz_value y = {.type = frz_type_primitive(FRZ_TYPE_DOUBLE), .as.f64 = b};
    return frz_value_compare(&x, &y, total);
}

static void value_order__nan_is_greatest_and_zeros_differ_on_request(void **state)
{
    (void)state;
    assert_true(order_of(NAN, INFINITY, false) > 0);
    assert_true(order_of(INFINITY, -NAN, false) < 0);
    assert_int_equal(order_of(NAN, -NAN, true), 0);
    assert_int_equal(order_of(-0.0, 0.0, false), 0);
    assert_true(order_of(-0.0, 0.0, true) < 0);
    assert_true(order_of(0.0, -0.0, true) > 0);
    assert_int_equal(order_of(-0.0, -0.0, true), 0);
    assert_true(order_of(-1, 1, true) < 0);
}

static void value_order__bytes_are_unsigned(void **state)
{
    const frz_type *type = frz_type_primitive(FRZ_TYPE_BINARY);
    frz_value a = {.type = type, .as.bytes = FRZ_STR("\x7F\x00")};
    frz_value b = {.type = type, .as.bytes = FRZ_STR("\x80")};
    frz_value c = {.type = type, .as.bytes = FRZ_STR("\x7F")};
    (void)state;
    assert_true(frz_value_compare(&a, &b, false) < 0);
    assert_true(frz_value_compare(&a, &c, false) > 0);
}

static void value_promote__along_the_rules(void **state)
{
    frz_error err = {0};
    frz_value out = {0};
    frz_value date = {.type = frz_type_primitive(FRZ_TYPE_DATE), .as.i32 = -1};
    frz_value number = {.type = frz_type_primitive(FRZ_TYPE_INT), .as.i32 = -5};
    frz_value nothing = {.type = frz_type_primitive(FRZ_TYPE_UNKNOWN), .is_null = true};
    (void)state;
    assert_ok(frz_value_promote(&number, frz_type_primitive(FRZ_TYPE_LONG), &out, &err), &err);
    assert_int_equal(out.as.i64, -5);
    assert_ok(frz_value_promote(&date, frz_type_primitive(FRZ_TYPE_TIMESTAMP), &out, &err), &err);
    assert_int_equal(out.as.i64, INT64_C(-86400000000));
    assert_ok(frz_value_promote(&nothing, frz_type_primitive(FRZ_TYPE_STRING), &out, &err), &err);
    assert_true(out.is_null);
    date.as.i32 = 200000;
    assert_fails(frz_value_promote(&date, frz_type_primitive(FRZ_TYPE_TIMESTAMP_NS), &out, &err),
                 &err, FRZ_E_LIMIT, "does not fit in a timestamp_ns");
    assert_fails(frz_value_promote(&number, frz_type_primitive(FRZ_TYPE_DOUBLE), &out, &err), &err,
                 FRZ_E_ARGUMENT, "type int cannot be read as double");
}

/* Against the definition: 1 bit of sign, 5 of the exponent, 10 of the fraction. */
static void half__every_pattern_becomes_the_same_float(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
        int exponent = bits >> 10 & 0x1F;
        int fraction = bits & 0x3FF;
        float found = frz_half_to_float((uint16_t)bits);
        assert_int_equal(signbit(found) != 0, bits >> 15);
        if (exponent == 0x1F) {
            uint32_t wide;
            memcpy(&wide, &found, sizeof wide);
            assert_true(fraction == 0 ? isinf(found) : isnan(found));
            assert_int_equal(wide & 0x7FFFFF, fraction << 13);
        } else {
            double size =
                exponent == 0 ? ldexp(fraction, -24) : ldexp(1 + fraction / 1024.0, exponent - 15);
            assert_true((double)fabsf(found) == size);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(value_text__parse_and_print),
        TEST_WITH_ENV(value_text__rejections_say_what_was_found),
        cmocka_unit_test(number_text__reads_back_and_is_short),
        TEST_WITH_ENV(calendar__every_day_follows_the_one_before),
        TEST_WITH_ENV(value_text__any_bits_print),
        cmocka_unit_test(half__every_pattern_becomes_the_same_float),
        cmocka_unit_test(value_order__nan_is_greatest_and_zeros_differ_on_request),
        cmocka_unit_test(value_order__bytes_are_unsigned),
        cmocka_unit_test(value_promote__along_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
