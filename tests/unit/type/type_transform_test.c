#include <stdlib.h>

#include "type/type_transform.h"
#include "unit/test_alloc.h"

/* ---- text ---- */

static void parse__known_transforms_in_any_case_others_as_text(void **state)
{
    static const struct {
        const char *text;
        frz_transform_kind kind;
        int32_t parameter;
    } cases[] = {
        {"identity", FRZ_TRANSFORM_IDENTITY, 0},
        {"bucket[16]", FRZ_TRANSFORM_BUCKET, 16},
        {"BUCKET[2147483647]", FRZ_TRANSFORM_BUCKET, INT32_MAX},
        {"truncate[1]", FRZ_TRANSFORM_TRUNCATE, 1},
        {"Year", FRZ_TRANSFORM_YEAR, 0},
        {"month", FRZ_TRANSFORM_MONTH, 0},
        {"day", FRZ_TRANSFORM_DAY, 0},
        {"hour", FRZ_TRANSFORM_HOUR, 0},
        {"void", FRZ_TRANSFORM_VOID, 0},
        {"", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[0]", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[-1]", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[2147483648]", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[16", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[16]x", FRZ_TRANSFORM_UNKNOWN, 0},
        {"bucket[]", FRZ_TRANSFORM_UNKNOWN, 0},
        {"day[1]", FRZ_TRANSFORM_UNKNOWN, 0},
        {"zorder", FRZ_TRANSFORM_UNKNOWN, 0},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_transform transform = frz_transform_parse(frz_str_from(cases[i].text));
        assert_int_equal(transform.kind, cases[i].kind);
        assert_true(transform.kind == FRZ_TRANSFORM_UNKNOWN ||
                    transform.parameter == cases[i].parameter);
        assert_true(frz_str_equal(transform.text, frz_str_from(cases[i].text)));
    }
}

/* ---- values ---- */

typedef struct fixture {
    frz_arena arena;
    frz_error err;
} fixture;

static fixture fixture_open(void **state)
{
    fixture f = {.err = {0}};
    frz_arena_init(&f.arena, *state, FRZ_ARENA_NO_LIMIT);
    return f;
}

static frz_value value_of(fixture *f, const char *type_text, const char *text)
{
    const frz_type *type = NULL;
    frz_value value = {.is_null = true};
    assert_ok(frz_type_parse(&f->arena, frz_str_from(type_text), &type, &f->err), &f->err);
    if (text != NULL) {
        assert_ok(frz_value_parse(&f->arena, type, frz_str_from(text), &value, &f->err), &f->err);
    }
    value.type = type;
    return value;
}

static const char *text_of(fixture *f, const frz_value *value)
{
    frz_buf buf = FRZ_BUF_INIT(f->arena.env, 1000);
    frz_str text = FRZ_STR("null");
    if (!value->is_null) {
        assert_ok(frz_value_print(value, &buf, &f->err), &f->err);
        text = frz_buf_view(&buf);
    }
    assert_ok(frz_arena_str(&f->arena, text, &text, &f->err), &f->err);
    frz_buf_reset(&buf);
    char *copy = frz_arena_alloc(&f->arena, text.len + 1);
    memcpy(copy, text.ptr, text.len);
    return copy;
}

/* spec: appendix B */
static void hash__test_values_of_the_specification(void **state)
{
    static const struct {
        const char *type, *text;
        int32_t hash;
    } cases[] = {
        {"int", "34", 2017239379},
        {"long", "34", 2017239379},
        {"decimal(9,2)", "14.20", -500754589},
        {"decimal(38,2)", "14.20", -500754589},
        {"date", "2017-11-16", -653330422},
        {"time", "22:31:08", -662762989},
        {"timestamp", "2017-11-16T22:31:08", -2047944441},
        {"timestamp", "2017-11-16T22:31:08.000001", -1207196810},
        {"timestamptz", "2017-11-16T14:31:08-08:00", -2047944441},
        {"timestamptz", "2017-11-16T14:31:08.000001-08:00", -1207196810},
        {"timestamp_ns", "2017-11-16T22:31:08", -2047944441},
        {"timestamp_ns", "2017-11-16T22:31:08.000001001", -1207196810},
        {"timestamptz_ns", "2017-11-16T14:31:08-08:00", -2047944441},
        {"timestamptz_ns", "2017-11-16T14:31:08.000001001-08:00", -1207196810},
        {"string", "iceberg", 1210000089},
        {"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340},
        {"fixed[4]", "00010203", -188683207},
        {"binary", "00010203", -188683207},
        {"boolean", "true", 1392991556},
        {"float", "1.0", -142385009},
        {"double", "1.0", -142385009},
        {"float", "0.0", 1669671676},
        {"float", "-0.0", 1669671676},
        {"double", "0.0", 1669671676},
        {"double", "-0.0", 1669671676},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_value value = value_of(&f, cases[i].type, cases[i].text);
        assert_int_equal(frz_value_hash(&value), cases[i].hash);
    }
    frz_arena_reset(&f.arena);
}

static void apply__examples(void **state)
{
    static const struct {
        const char *transform, *type, *text, *result;
    } cases[] = {
        {"identity", "string", "x", "x"},
        {"bucket[16]", "uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "12"},
        {"bucket[100]", "int", "34", "79"},
        {"bucket[100]", "decimal(9,2)", "14.20", "59"},
        {"truncate[10]", "int", "1", "0"},
        {"truncate[10]", "int", "-1", "-10"},
        {"truncate[10]", "long", "-10", "-10"},
        {"truncate[10]", "long", "9223372036854775807", "9223372036854775800"},
        {"truncate[50]", "decimal(9,2)", "10.65", "10.50"},
        {"truncate[50]", "decimal(9,2)", "-0.05", "-0.50"},
        {"truncate[3]", "string", "iceberg", "ice"},
        {"truncate[9]", "string", "iceberg", "iceberg"},
        {"truncate[2]", "string", "\u4e16\u754c\u60a8\u597d", "\u4e16\u754c"},
        {"truncate[2]", "string", "a\U0001F600b", "a\U0001F600"},
        {"truncate[3]", "binary", "0102030405", "010203"},
        /* years, months, days and hours from 1970 */
        {"year", "timestamp", "2017-12-01T10:12:55.038194", "47"},
        {"month", "timestamp", "2017-12-01T10:12:55.038194", "575"},
        {"day", "timestamp", "2017-12-01T10:12:55.038194", "2017-12-01"},
        {"hour", "timestamp", "2017-12-01T10:12:55.038194", "420034"},
        {"year", "date", "2017-12-01", "47"},
        {"month", "date", "2017-12-01", "575"},
        {"day", "date", "2017-12-01", "2017-12-01"},
        /* before 1970: down, never towards zero */
        {"year", "timestamp", "1969-12-31T23:59:59.999999", "-1"},
        {"month", "timestamptz", "1969-12-31T23:59:59.999999", "-1"},
        {"day", "timestamp", "1969-12-31T23:59:59.999999", "1969-12-31"},
        {"hour", "timestamptz", "1969-12-31T23:59:59.999999", "-1"},
        {"year", "timestamp_ns", "1969-12-31T23:59:59.999999999", "-1"},
        {"hour", "timestamptz_ns", "1969-12-31T23:59:59.999999999", "-1"},
        {"year", "date", "1969-12-25", "-1"},
        {"month", "date", "1969-12-25", "-1"},
        {"day", "date", "1969-12-25", "1969-12-25"},
        {"year", "date", "-0001-03-01", "-1971"},
        {"void", "int", "5", "null"},
        {"bucket[16]", "int", NULL, "null"},
        {"day", "date", NULL, "null"},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_transform transform = frz_transform_parse(frz_str_from(cases[i].transform));
        frz_value value = value_of(&f, cases[i].type, cases[i].text);
        frz_value result;
        assert_ok(frz_transform_apply(&transform, &value, &result, &f.err), &f.err);
        assert_string_equal(text_of(&f, &result), cases[i].result);
        assert_ptr_equal(result.type, frz_transform_result(&transform, value.type));
    }
    frz_arena_reset(&f.arena);
}

static void apply__what_the_result_type_cannot_hold_is_refused(void **state)
{
    static const struct {
        const char *transform, *type, *text;
    } cases[] = {
        {"truncate[10000]", "int", "-2147483648"},
        {"truncate[10]", "long", "-9223372036854775808"},
        {"truncate[10]", "decimal(2,0)", "-99"},
        {"hour", "timestamp", "+250000-01-01T00:00:00"},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_transform transform = frz_transform_parse(frz_str_from(cases[i].transform));
        frz_value value = value_of(&f, cases[i].type, cases[i].text);
        frz_value result;
        assert_fails(frz_transform_apply(&transform, &value, &result, &f.err), &f.err, FRZ_E_LIMIT,
                     "is out of range");
    }
    frz_arena_reset(&f.arena);
}

static void result__types_that_a_transform_has_no_values_for(void **state)
{
    static const struct {
        const char *transform, *type, *result; /* NULL: none */
    } cases[] = {
        {"identity", "geometry", NULL},
        {"identity", "variant", NULL},
        {"identity", "unknown", NULL},
        {"identity", "double", "double"},
        {"bucket[4]", "boolean", NULL},
        {"bucket[4]", "float", NULL},
        {"bucket[4]", "uuid", "int"},
        {"truncate[4]", "date", NULL},
        {"truncate[4]", "fixed[4]", NULL},
        {"truncate[4]", "decimal(9,2)", "decimal(9, 2)"},
        {"hour", "date", NULL},
        {"day", "time", NULL},
        {"year", "timestamptz_ns", "int"},
        {"day", "timestamp_ns", "date"},
        {"void", "variant", "variant"},
        {"zorder", "int", NULL},
        {"truncate[4]", "boolean", NULL},
        {"month", "string", NULL},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char text[40];
        frz_transform transform = frz_transform_parse(frz_str_from(cases[i].transform));
        frz_value value = value_of(&f, cases[i].type, NULL);
        const frz_type *result = frz_transform_result(&transform, value.type);
        assert_int_equal(result == NULL, cases[i].result == NULL);
        if (result != NULL) {
            assert_string_equal(frz_type_text(result, text, sizeof text), cases[i].result);
        }
    }
    frz_arena_reset(&f.arena);
}

/* ---- ranges ---- */

typedef struct range_case {
    const char *transform, *source, *stored_as, *least, *greatest;
    const char *lower, *upper; /* NULL: none; upper with * behind it: a prefix */
} range_case;

static void check_range(fixture *f, const range_case *c)
{
    frz_transform_range range;
    frz_transform transform = frz_transform_parse(frz_str_from(c->transform));
    frz_value source = value_of(f, c->source, NULL);
    frz_value least = value_of(f, c->stored_as, c->least);
    frz_value greatest = value_of(f, c->stored_as, c->greatest);
    bool one = strcmp(c->least, c->greatest) == 0;
    frz_transform_range_of(&transform, source.type, &least, one ? &least : &greatest, &range);
    assert_int_equal(range.has_lower, c->lower != NULL);
    assert_int_equal(range.has_upper, c->upper != NULL);
    if (range.has_lower) {
        assert_string_equal(text_of(f, &range.lower), c->lower);
    }
    if (range.has_upper) {
        const char *text = text_of(f, &range.upper);
        size_t len = strlen(c->upper);
        assert_int_equal(range.upper_is_prefix, c->upper[len - 1] == '*');
        len -= range.upper_is_prefix;
        assert_int_equal(strlen(text), len);
        assert_memory_equal(text, c->upper, len);
    }
}

static void range__source_values_of_partitions(void **state)
{
    static const range_case cases[] = {
        {"identity", "int", "int", "5", "5", "5", "5"},
        {"identity", "long", "int", "-5", "7", "-5", "7"},
        {"identity", "date", "int", "0", "0", "1970-01-01", "1970-01-01"},
        {"identity", "timestamp", "date", "1970-01-02", "1970-01-02", "1970-01-02T00:00:00.000000",
         "1970-01-02T00:00:00.000000"},
        {"identity", "timestamp", "long", "1", "1", "1970-01-01T00:00:00.000001",
         "1970-01-01T00:00:00.000001"},
        {"identity", "double", "double", "NaN", "NaN", NULL, NULL},
        {"identity", "int", "long", "5", "5", NULL, NULL},
        {"identity", "int", "string", "5", "5", NULL, NULL},
        {"truncate[10]", "int", "int", "10", "10", "10", "19"},
        {"truncate[10]", "long", "int", "-10", "20", "-10", "29"},
        {"truncate[10]", "int", "int", "2147483640", "2147483640", "2147483640", NULL},
        {"truncate[10]", "decimal(9,2)", "decimal(5,2)", "1.00", "1.00", "1.00", "1.09"},
        {"truncate[10]", "decimal(3,0)", "decimal(3,0)", "-990", "-990", NULL, "-981"},
        {"truncate[3]", "string", "string", "abc", "abc", "abc", "abc*"},
        {"truncate[3]", "string", "string", "ab", "ab", "ab", "ab"},
        {"truncate[3]", "string", "string", "ab", "ac", "ab", "ac*"},
        {"truncate[2]", "binary", "binary", "0102", "0102", "0102", "0102*"},
        {"year", "date", "int", "47", "48", "2017-01-01", "2018-12-31"},
        {"month", "timestamp", "int", "1", "1", "1970-02-01T00:00:00.000000",
         "1970-02-28T23:59:59.999999"},
        {"day", "timestamptz_ns", "date", "1970-01-02", "1970-01-02",
         "1970-01-02T00:00:00.000000000+00:00", "1970-01-02T23:59:59.999999999+00:00"},
        {"day", "timestamp", "int", "1", "1", "1970-01-02T00:00:00.000000",
         "1970-01-02T23:59:59.999999"},
        {"hour", "timestamp", "int", "1", "2", "1970-01-01T01:00:00.000000",
         "1970-01-01T02:59:59.999999"},
        {"day", "date", "int", "-7", "-7", "1969-12-25", "1969-12-25"},
        {"bucket[16]", "int", "int", "3", "3", NULL, NULL},
        {"void", "int", "int", "3", "3", NULL, NULL},
        {"zorder", "int", "int", "3", "3", NULL, NULL},
        {"hour", "date", "int", "3", "3", NULL, NULL},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        check_range(&f, &cases[i]);
    }
    frz_arena_reset(&f.arena);
}

/* What wrapped around or was cut towards zero in its writer proves nothing, or less. */
static void range__partitions_of_faulty_writers(void **state)
{
    static const range_case cases[] = {
        /* 1969 may stand as year 0, 1968 as year -1 */
        {"year", "timestamp", "int", "0", "0", "1969-01-01T00:00:00.000000",
         "1970-12-31T23:59:59.999999"},
        {"year", "date", "int", "-1", "0", "1968-01-01", "1970-12-31"},
        {"day", "timestamp", "date", "1970-01-01", "1970-01-01", "1969-12-31T00:00:00.000000",
         "1970-01-01T23:59:59.999999"},
        /* -2147483648 to the multiple below: wrapped around, cut towards zero, held at the end */
        {"truncate[10000]", "int", "int", "2147477296", "2147477296", NULL, NULL},
        {"truncate[10000]", "int", "int", "-2147480000", "-2147480000", NULL, "-2147470001"},
        {"truncate[10000]", "int", "int", "-2147483648", "-2147483648", NULL, NULL},
        {"truncate[10000]", "int", "long", "-2147490000", "-2147490000", NULL, NULL},
        /* it may hide between others */
        {"truncate[10000]", "int", "int", "0", "2147480000", NULL, NULL},
        {"truncate[10000]", "long", "long", "0", "2147480000", "-2147483648", "2147489999"},
        {"truncate[10000]", "long", "long", "0", "2147460000", "0", "2147469999"},
        /* an hour of the year 250000, of which 32 bits are left */
        {"hour", "timestamp", "int", "-2103507040", "-2103507040", NULL, NULL},
        {"hour", "timestamp", "int", "0", "2000000000", NULL, NULL},
        /* the result of a bucket where the source's text is expected */
        {"bucket[16]", "uuid", "string", "1", "1", NULL, NULL},
    };
    fixture f = fixture_open(state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        check_range(&f, &cases[i]);
    }
    frz_arena_reset(&f.arena);
}

/* ---- both ways ---- */

static uint64_t next_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static frz_value random_value(const frz_type *type, uint64_t *seed)
{
    frz_value value = {.type = type};
    uint64_t bits = next_random(seed);
    int shift = (int)(next_random(seed) % 64);
    int64_t number = (int64_t)bits >> shift;
    switch (type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        value.as.i32 = (int32_t)(uint32_t)(uint64_t)number;
        break;
    case FRZ_TYPE_DECIMAL:
        value.as.i128 = number % 1000000000;
        break;
    default:
        value.as.i64 = number;
        break;
    }
    return value;
}

static void range__holds_every_value_that_has_the_partition(void **state)
{
    static const struct {
        const char *transform, *type;
    } cases[] = {
        {"truncate[1]", "int"},
        {"truncate[7]", "int"},
        {"truncate[10000]", "long"},
        {"truncate[97]", "decimal(9,2)"},
        {"year", "date"},
        {"month", "date"},
        {"day", "date"},
        {"year", "timestamp"},
        {"month", "timestamptz"},
        {"day", "timestamp"},
        {"hour", "timestamp"},
        {"year", "timestamp_ns"},
        {"month", "timestamptz_ns"},
        {"day", "timestamp_ns"},
        {"hour", "timestamptz_ns"},
    };
    fixture f = fixture_open(state);
    uint64_t seed = 1;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_transform transform = frz_transform_parse(frz_str_from(cases[i].transform));
        const frz_type *type = value_of(&f, cases[i].type, NULL).type;
        for (int round = 0; round < 3000; round++) {
            frz_value value = random_value(type, &seed);
            frz_value part;
            frz_transform_range range;
            if (frz_transform_apply(&transform, &value, &part, &f.err) != FRZ_OK) {
                continue;
            }
            frz_transform_range_of(&transform, type, &part, &part, &range);
            assert_true(!range.has_lower || frz_value_compare(&range.lower, &value, false) <= 0);
            assert_true(!range.has_upper || frz_value_compare(&range.upper, &value, false) >= 0);
            assert_true(range.has_upper || range.has_lower || transform.kind == FRZ_TRANSFORM_HOUR);
        }
    }
    frz_arena_reset(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse__known_transforms_in_any_case_others_as_text),
        TEST_WITH_ENV(hash__test_values_of_the_specification),
        TEST_WITH_ENV(apply__examples),
        TEST_WITH_ENV(apply__what_the_result_type_cannot_hold_is_refused),
        TEST_WITH_ENV(result__types_that_a_transform_has_no_values_for),
        TEST_WITH_ENV(range__source_values_of_partitions),
        TEST_WITH_ENV(range__partitions_of_faulty_writers),
        TEST_WITH_ENV(range__holds_every_value_that_has_the_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
