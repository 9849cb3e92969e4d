/*
 * Evaluation of every operator and function over a batch with nulls and extremes.
 */
#include "expr_test_support.h"

typedef struct eval_case {
    const char *sql, *expected;
} eval_case;

static void check_cases(void **state, const eval_case *cases, size_t count)
{
    test_batch batch;
    test_batch_init(&batch, *state);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        frz_error err = {0};
        if (test_eval(&batch, cases[i].sql, NULL, &text, &err) != FRZ_OK) {
            fail_msg("%s: %s\n%s", cases[i].sql, err.message, err.hint);
        }
        if (strcmp(text, cases[i].expected) != 0) {
            fail_msg("%s\n  expected %s\n  found    %s", cases[i].sql, cases[i].expected, text);
        }
    }
    test_batch_reset(&batch);
}

#define CHECK(cases) check_cases(state, cases, FRZ_ARRAY_COUNT(cases))

static void check_failures(void **state, const eval_case *cases, size_t count)
{
    test_batch batch;
    test_batch_init(&batch, *state);
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        frz_error err = {0};
        frz_code rc = test_eval(&batch, cases[i].sql, NULL, &text, &err);
        if (rc == FRZ_OK || strstr(err.message, cases[i].expected) == NULL) {
            fail_msg("%s\n  expected failure %s\n  found %s %s", cases[i].sql, cases[i].expected,
                     rc == FRZ_OK ? text : "", err.message);
        }
    }
    test_batch_reset(&batch);
}

#define CHECK_FAILS(cases) check_failures(state, cases, FRZ_ARRAY_COUNT(cases))

static void arithmetic__types_and_values(void **state)
{
    static const eval_case cases[] = {
        {"i - 1", "int: 0 | 1 | NULL | -5 | 2147483646"},
        {"1 - i", "int: 0 | -1 | NULL | 5 | -2147483646"},
        {"i + 3000000000", "long: 3000000001 | 3000000002 | NULL | 2999999996 | 5147483647"},
        {"d * 2", "double: 1e0 | -5e0 | DOUBLE 'NaN' | NULL | 2e+300"},
        {"f + 1", "double: 2.5e0 | NULL | DOUBLE 'NaN' | 1e0 | 4e0"},
        {"i / 2", "double: 0.5e0 | 1e0 | NULL | -2e0 | 1073741823.5e0"},
        {"i % 3", "int: 1 | 2 | NULL | -1 | 1"},
        {"l % 7", "long: LONG '3' | NULL | LONG '-2' | LONG '0' | LONG '0'"},
        {"d % 2", "double: 0.5e0 | -0.5e0 | DOUBLE 'NaN' | NULL | 0e0"},
        {"c + 0.125", "decimal(11, 3): 1.625 | 0.075 | NULL | 10000000.115 | 0.125"},
        {"c * 2", "decimal(10, 2): 3.00 | -0.10 | NULL | 19999999.98 | 0.00"},
        {"c / 3", "decimal(13, 6): 0.500000 | -0.016667 | NULL | 3333333.330000 | 0.000000"},
        {"c % 1", "decimal(9, 2): 0.50 | -0.05 | NULL | 0.99 | 0.00"},
        {"1.5 + 1e0", "double: 2.5e0 | 2.5e0 | 2.5e0 | 2.5e0 | 2.5e0"},
        {"-i", "int: -1 | -2 | NULL | 4 | -2147483647"},
        {"-c", "decimal(9, 2): -1.50 | 0.05 | NULL | -9999999.99 | 0.00"},
        {"-f", "double: -1.5e0 | NULL | DOUBLE 'NaN' | 0e0 | -3e0"},
        {"- - i", "int: 1 | 2 | NULL | -4 | 2147483647"},
        {"i + NULL", "int: NULL | NULL | NULL | NULL | NULL"},
        {"2 + 3 * 4 - 10 / 4", "double: 11.5e0 | 11.5e0 | 11.5e0 | 11.5e0 | 11.5e0"},
        {"(i + l) % 100", "long: LONG '11' | NULL | NULL | LONG '3' | LONG '47'"},
    };
    CHECK(cases);
}

static void arithmetic__failures_name_column_and_row(void **state)
{
    static const eval_case cases[] = {
        {"i + 1", "column \"i\": integer overflow at row 104: 2147483647 + 1"},
        {"i * i", "column \"i\": integer overflow at row 104: 2147483647 * 2147483647"},
        {"l + 1", "column \"l\": integer overflow at row 103: 9223372036854775807 + 1"},
        {"l * 2", "integer overflow at row 103"},
        {"-2147483648 - i", "integer overflow at row 100: -2147483648 - 1"},
        {"10 / l", "column \"l\": division by zero at row 104: 10.0 / 0.0"},
        {"10 % l", "division by zero at row 104"},
        {"1e0 / c", "division by zero at row 104"},
        {"1.5 / c", "column \"c\": division by zero at row 104: 1.5 / 0.00"},
        {"d % 0e0", "division by zero at row 100"},
        {"1 / 0", "division by zero at row 100: 1.0 / 0.0"},
        {"sqrt(i)", "column \"i\": square root of a negative number at row 103: -4"},
        {"ln(l)", "logarithm of a number that is not positive at row 102: -30"},
        {"power(i, 0.5)", "fractional power of a negative number at row 103"},
        {"CAST(d AS int)", "column \"d\": a value does not fit at row 102: NaN into int"},
        {"CAST(s AS int)", "column \"s\": a value cannot be read at row 100: 'abc' as int"},
        {"CAST(l AS decimal(3, 1))", "a value does not fit at row 103"},
        {"CAST(x AS string)", "a value cannot be read at row 100"},
        {"c * c * c * c * 100000000000000000", "decimal overflow at row 103"},
        {"substr(s, 1, -1)", "negative length of a part at row 100: -1"},
    };
    CHECK_FAILS(cases);
}

static void comparison__orders_every_type(void **state)
{
    static const eval_case cases[] = {
        {"i = 2", "boolean: FALSE | TRUE | NULL | FALSE | FALSE"},
        {"i <> 2", "boolean: TRUE | FALSE | NULL | TRUE | TRUE"},
        {"i != 2", "boolean: TRUE | FALSE | NULL | TRUE | TRUE"},
        {"i < 2", "boolean: TRUE | FALSE | NULL | TRUE | FALSE"},
        {"2 < i", "boolean: FALSE | FALSE | NULL | FALSE | TRUE"},
        {"i <= l", "boolean: TRUE | NULL | NULL | TRUE | FALSE"},
        {"i > 1.5", "boolean: FALSE | TRUE | NULL | FALSE | TRUE"},
        {"d > 0", "boolean: TRUE | FALSE | TRUE | NULL | TRUE"},
        {"d = DOUBLE 'NaN'", "boolean: FALSE | FALSE | TRUE | NULL | FALSE"},
        {"d < DOUBLE 'NaN'", "boolean: TRUE | TRUE | FALSE | NULL | TRUE"},
        {"f = 0", "boolean: FALSE | NULL | FALSE | TRUE | FALSE"},
        {"f >= f", "boolean: TRUE | NULL | TRUE | TRUE | TRUE"},
        {"c >= -0.05", "boolean: TRUE | TRUE | NULL | TRUE | TRUE"},
        {"c < d", "boolean: FALSE | FALSE | NULL | NULL | TRUE"},
        {"s < 'b'", "boolean: TRUE | TRUE | NULL | TRUE | TRUE"},
        {"s >= 'abc'", "boolean: TRUE | FALSE | NULL | FALSE | FALSE"},
        {"s = ''", "boolean: FALSE | TRUE | NULL | FALSE | FALSE"},
        {"b > FALSE", "boolean: TRUE | FALSE | NULL | TRUE | FALSE"},
        {"b = b", "boolean: TRUE | TRUE | NULL | TRUE | TRUE"},
        {"day >= '2026-11-01'", "boolean: TRUE | FALSE | NULL | TRUE | FALSE"},
        {"'2026-11-01' < day", "boolean: FALSE | FALSE | NULL | TRUE | FALSE"},
        {"day < ts", "boolean: TRUE | TRUE | NULL | FALSE | TRUE"},
        {"ts >= '2026-11-02'", "boolean: FALSE | FALSE | NULL | TRUE | FALSE"},
        {"tz < '2026-11-01T11:00:00Z'", "boolean: FALSE | NULL | NULL | TRUE | TRUE"},
        {"tn > ts", "boolean: TRUE | NULL | NULL | FALSE | FALSE"},
        {"t < '12:30:00'", "boolean: FALSE | TRUE | NULL | FALSE | TRUE"},
        {"u = 'F79C3E09-677C-4BBD-A479-3F349CB785E7'",
         "boolean: TRUE | NULL | NULL | FALSE | FALSE"},
        {"x > X'00'", "boolean: TRUE | FALSE | NULL | TRUE | TRUE"},
        {"fx = X'0102'", "boolean: TRUE | NULL | NULL | FALSE | FALSE"},
        {"fx < fx", "boolean: FALSE | NULL | NULL | FALSE | FALSE"},
        {"i = NULL", "boolean: NULL | NULL | NULL | NULL | NULL"},
        {"NULL = NULL", "boolean: NULL | NULL | NULL | NULL | NULL"},
    };
    CHECK(cases);
}

static void logic__has_three_values(void **state)
{
    static const eval_case cases[] = {
        {"b AND TRUE", "boolean: TRUE | FALSE | NULL | TRUE | FALSE"},
        {"b AND FALSE", "boolean: FALSE | FALSE | FALSE | FALSE | FALSE"},
        {"b AND NULL", "boolean: NULL | FALSE | NULL | NULL | FALSE"},
        {"b OR TRUE", "boolean: TRUE | TRUE | TRUE | TRUE | TRUE"},
        {"b OR NULL", "boolean: TRUE | NULL | NULL | TRUE | NULL"},
        {"NOT b", "boolean: FALSE | TRUE | NULL | FALSE | TRUE"},
        {"NOT NULL", "boolean: NULL | NULL | NULL | NULL | NULL"},
        {"b IS NULL", "boolean: FALSE | FALSE | TRUE | FALSE | FALSE"},
        {"i IS NOT NULL", "boolean: TRUE | TRUE | FALSE | TRUE | TRUE"},
        {"st IS NULL", "boolean: FALSE | TRUE | FALSE | FALSE | FALSE"},
        {"d IS NAN", "boolean: FALSE | FALSE | TRUE | NULL | FALSE"},
        {"f IS NOT NAN", "boolean: TRUE | NULL | FALSE | TRUE | TRUE"},
        {"i IN (1, 2.0, NULL)", "boolean: TRUE | TRUE | NULL | NULL | NULL"},
        {"i NOT IN (1, 2)", "boolean: FALSE | FALSE | NULL | TRUE | TRUE"},
        {"i IN (9,8,7,6,5,4,3,2,1,0,-1,-2,-3)", "boolean: TRUE | TRUE | NULL | FALSE | FALSE"},
        {"l IN (9,8,7,6,5,4,3,2,1,0,NULL)", "boolean: NULL | NULL | NULL | NULL | TRUE"},
        {"s IN ('q','w','e','r','t','abc','z','','c','v')",
         "boolean: TRUE | TRUE | NULL | FALSE | FALSE"},
        {"day IN ('2026-11-01', '1969-12-31')", "boolean: TRUE | TRUE | NULL | FALSE | FALSE"},
        {"i BETWEEN 1 AND 2", "boolean: TRUE | TRUE | NULL | FALSE | FALSE"},
        {"i NOT BETWEEN 1 AND 2", "boolean: FALSE | FALSE | NULL | TRUE | TRUE"},
        {"i BETWEEN 3 AND NULL", "boolean: FALSE | FALSE | NULL | FALSE | NULL"},
        {"2 BETWEEN i AND l", "boolean: TRUE | NULL | FALSE | TRUE | FALSE"},
        {"i = 1 OR i = 2 AND b", "boolean: TRUE | FALSE | NULL | FALSE | FALSE"},
        /* the division is not reached where it would fail */
        {"i <> 2 AND 1 / (i - 2) < 0", "boolean: TRUE | FALSE | NULL | TRUE | FALSE"},
        {"i = 2 OR 1 / (i - 2) < 0", "boolean: TRUE | TRUE | NULL | TRUE | FALSE"},
    };
    CHECK(cases);
}

static void branches__are_evaluated_for_their_rows_only(void **state)
{
    static const eval_case cases[] = {
        {"CASE WHEN l = 0 THEN 0 ELSE 1 / l END > 0.05",
         "boolean: TRUE | NULL | FALSE | FALSE | FALSE"},
        {"CASE WHEN i = 1 THEN 'one' WHEN i > 1 THEN s END",
         "string: 'one' | '' | NULL | NULL | 'a%b'"},
        {"CASE i WHEN 1 THEN 10 WHEN 2 THEN l ELSE 2.5 END",
         "decimal(20, 1): 10.0 | NULL | 2.5 | 2.5 | 2.5"},
        {"CASE WHEN b THEN i ELSE -i END", "int: 1 | -2 | NULL | -4 | -2147483647"},
        {"CASE WHEN FALSE THEN 1 / 0 ELSE 2 END", "double: 2e0 | 2e0 | 2e0 | 2e0 | 2e0"},
        {"CASE WHEN NULL THEN 1 END", "int: NULL | NULL | NULL | NULL | NULL"},
        {"CASE WHEN b THEN x ELSE X'99' END", "binary: X'00ff' | X'99' | X'99' | X'61' | X'99'"},
        {"CASE WHEN b THEN b END", "boolean: TRUE | NULL | NULL | TRUE | NULL"},
        {"CASE WHEN b THEN day ELSE '2000-01-01' END",
         "date: DATE '2026-11-01' | DATE '2000-01-01' | DATE '2000-01-01' | DATE '2026-11-02' | "
         "DATE '2000-01-01'"},
        {"COALESCE(i, l, 7)",
         "long: LONG '1' | LONG '2' | LONG '-30' | LONG '-4' | LONG '2147483647'"},
        {"COALESCE(s, 'none')", "string: 'abc' | '' | 'none' | 'Straße' | 'a%b'"},
        {"CASE WHEN b THEN NULL END IS NULL", "boolean: TRUE | TRUE | TRUE | TRUE | TRUE"},
        {"COALESCE(NULL, NULL) IS NULL", "boolean: TRUE | TRUE | TRUE | TRUE | TRUE"},
        {"NULLIF(i, 2)", "int: 1 | NULL | NULL | -4 | 2147483647"},
        {"NULLIF(s, '')", "string: 'abc' | NULL | NULL | 'Straße' | 'a%b'"},
        {"NULLIF(l, 0.0)", "long: LONG '10' | NULL | LONG '-30' | 9223372036854775807 | NULL"},
    };
    CHECK(cases);
    static const eval_case fails[] = {{"COALESCE(l, 1 / 0)", "division by zero at row 101"}};
    CHECK_FAILS(fails);
}

static void functions__numbers(void **state)
{
    static const eval_case cases[] = {
        {"abs(i)", "int: 1 | 2 | NULL | 4 | 2147483647"},
        {"abs(c)", "decimal(9, 2): 1.50 | 0.05 | NULL | 9999999.99 | 0.00"},
        {"abs(d)", "double: 0.5e0 | 2.5e0 | DOUBLE 'NaN' | NULL | 1e+300"},
        {"round(d)", "double: 1e0 | -3e0 | DOUBLE 'NaN' | NULL | 1e+300"},
        {"round(2.345e0, 2)", "double: 2.35e0 | 2.35e0 | 2.35e0 | 2.35e0 | 2.35e0"},
        {"round(c, 1)", "decimal(9, 1): 1.5 | -0.1 | NULL | 10000000.0 | 0.0"},
        {"round(c)", "decimal(8, 0): DECIMAL '2' | DECIMAL '0' | NULL | DECIMAL '10000000' | "
                     "DECIMAL '0'"},
        {"round(l / 1e0, -1)", "double: 10e0 | NULL | -30e0 | 9.223372036854776e+18 | 0e0"},
        {"floor(d)", "double: 0e0 | -3e0 | DOUBLE 'NaN' | NULL | 1e+300"},
        {"ceil(d)", "double: 1e0 | -2e0 | DOUBLE 'NaN' | NULL | 1e+300"},
        {"floor(c)", "decimal(8, 0): DECIMAL '1' | DECIMAL '-1' | NULL | DECIMAL '9999999' | "
                     "DECIMAL '0'"},
        {"ceil(c)", "decimal(8, 0): DECIMAL '2' | DECIMAL '0' | NULL | DECIMAL '10000000' | "
                    "DECIMAL '0'"},
        {"floor(i)", "int: 1 | 2 | NULL | -4 | 2147483647"},
        {"sqrt(abs(i))", "double: 1e0 | 1.4142135623730951e0 | NULL | 2e0 | 46340.950001051984e0"},
        {"exp(0) + ln(1)", "double: 1e0 | 1e0 | 1e0 | 1e0 | 1e0"},
        {"power(2, i % 8)", "double: 2e0 | 4e0 | NULL | 0.0625e0 | 128e0"},
    };
    CHECK(cases);
}

static void functions__text(void **state)
{
    static const eval_case cases[] = {
        {"length(s)", "int: 3 | 0 | NULL | 6 | 3"},
        {"length(x)", "int: 2 | 0 | NULL | 1 | 1"},
        {"upper(s)", "string: 'ABC' | '' | NULL | 'STRAßE' | 'A%B'"},
        {"lower('ÄB')", "string: 'Äb' | 'Äb' | 'Äb' | 'Äb' | 'Äb'"},
        {"substr(s, 5)", "string: '' | '' | NULL | 'ße' | ''"},
        {"substr(s, 2, 2)", "string: 'bc' | '' | NULL | 'tr' | '%b'"},
        {"substr(s, 0, 2)", "string: 'a' | '' | NULL | 'S' | 'a'"},
        {"substr(s, -1)", "string: 'abc' | '' | NULL | 'Straße' | 'a%b'"},
        {"substr(x, 2)", "binary: X'ff' | X'' | NULL | X'' | X''"},
        {"s || '!' || i", "string: 'abc!1' | '!2' | NULL | 'Straße!-4' | 'a%b!2147483647'"},
        {"concat(s, '-', b)", "string: 'abc-true' | '-false' | NULL | 'Straße-true' | 'a%b-false'"},
        {"x || X'01'", "binary: X'00ff01' | X'01' | NULL | X'6101' | X'c301'"},
        {"s LIKE 'a%'", "boolean: TRUE | FALSE | NULL | FALSE | TRUE"},
        {"s LIKE '%'", "boolean: TRUE | TRUE | NULL | TRUE | TRUE"},
        {"s LIKE ''", "boolean: FALSE | TRUE | NULL | FALSE | FALSE"},
        {"s LIKE 'Stra_e'", "boolean: FALSE | FALSE | NULL | TRUE | FALSE"},
        {"s LIKE '______'", "boolean: FALSE | FALSE | NULL | TRUE | FALSE"},
        {"s LIKE '%b%'", "boolean: TRUE | FALSE | NULL | FALSE | TRUE"},
        {"s LIKE '%!%%' ESCAPE '!'", "boolean: FALSE | FALSE | NULL | FALSE | TRUE"},
        {"s NOT LIKE s", "boolean: FALSE | FALSE | NULL | FALSE | FALSE"},
    };
    CHECK(cases);
}

static void cast__converts_between_all_kinds(void **state)
{
    static const eval_case cases[] = {
        {"CAST(c AS int)", "int: 1 | 0 | NULL | 9999999 | 0"},
        {"CAST(-1.9e0 AS int)", "int: -1 | -1 | -1 | -1 | -1"},
        {"CAST(c AS double)", "double: 1.5e0 | -0.05e0 | NULL | 9999999.99e0 | 0e0"},
        {"CAST(i AS decimal(12, 1))", "decimal(12, 1): 1.0 | 2.0 | NULL | -4.0 | 2147483647.0"},
        {"CAST(c AS decimal(9, 1))", "decimal(9, 1): 1.5 | -0.1 | NULL | 10000000.0 | 0.0"},
        {"CAST(2.0e0 AS float)", "float: FLOAT '2.0' | FLOAT '2.0' | FLOAT '2.0' | FLOAT '2.0' | "
                                 "FLOAT '2.0'"},
        {"CAST(i AS string)", "string: '1' | '2' | NULL | '-4' | '2147483647'"},
        {"CAST(day AS string)",
         "string: '2026-11-01' | '1969-12-31' | NULL | '2026-11-02' | '0001-01-01'"},
        {"CAST(CAST(day AS string) AS date) = day", "boolean: TRUE | TRUE | NULL | TRUE | TRUE"},
        {"CAST(ts AS date)", "date: DATE '2026-11-01' | DATE '1969-12-31' | NULL | "
                             "DATE '2026-11-02' | DATE '1970-01-01'"},
        {"CAST(day AS timestamp) = ts", "boolean: FALSE | FALSE | NULL | TRUE | FALSE"},
        {"CAST(b AS int)", "int: 1 | 0 | NULL | 1 | 0"},
        {"CAST(l AS boolean)", "boolean: TRUE | NULL | TRUE | TRUE | FALSE"},
        {"CAST(fx AS binary)", "binary: X'0102' | NULL | NULL | X'6162' | X'ffff'"},
        {"CAST(s AS binary)", "binary: X'616263' | X'' | NULL | X'53747261c39f65' | X'612562'"},
        {"CAST(tn AS timestamp) < tn", "boolean: TRUE | NULL | NULL | TRUE | FALSE"},
        {"CAST(NULL AS uuid)", "uuid: NULL | NULL | NULL | NULL | NULL"},
    };
    CHECK(cases);
}

static void literals__of_every_primitive_type(void **state)
{
    static const char *const cases[] = {
        "boolean: TRUE",
        "int: 42",
        "int: -2147483648",
        "long: 2147483648",
        "long: LONG '1'",
        "float: FLOAT '1.5'",
        "float: FLOAT 'NaN'",
        "double: 1.5e0",
        "double: DOUBLE '-Infinity'",
        "decimal(3, 2): 1.50",
        "decimal(38, 0): 99999999999999999999999999999999999999",
        "date: DATE '2026-11-01'",
        "time: TIME '12:34:56.500000'",
        "timestamp: TIMESTAMP '2026-11-01T12:00:00.000000'",
        "timestamptz: TIMESTAMPTZ '2026-11-01T12:00:00.000000+00:00'",
        "timestamp_ns: TIMESTAMP_NS '2026-11-01T12:00:00.000000001'",
        "timestamptz_ns: TIMESTAMPTZ_NS '2026-11-01T12:00:00.000000001+00:00'",
        "string: 'it''s'",
        "uuid: UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        "fixed[2]: CAST(X'00ff' AS fixed[2])",
        "binary: X'00ff'",
        "geometry: CAST(X'00ff' AS geometry)",
        "geography: CAST(X'00ff' AS geography)",
    };
    test_batch batch;
    test_batch_init(&batch, *state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err;
        char *text = NULL;
        const char *literal = strstr(cases[i], ": ") + 2;
        assert_ok(test_eval(&batch, literal, NULL, &text, &err), &err);
        assert_memory_equal(text, cases[i], strlen(cases[i]));
        assert_memory_equal(text + strlen(cases[i]), " | ", 3);
    }
    char *text = NULL;
    frz_error err;
    assert_ok(test_eval(&batch, "NULL", NULL, &text, &err), &err);
    assert_string_equal(text, "unknown: NULL | NULL | NULL | NULL | NULL");
    test_batch_reset(&batch);
}

static void fields__are_null_where_their_struct_is(void **state)
{
    static const eval_case cases[] = {
        {"st.a", "int: 1 | NULL | NULL | 4 | 5"},
        {"st.b.c", "string: 'x' | NULL | NULL | NULL | 'z'"},
        {"ST.B.\"c\" || '!'", "string: 'x!' | NULL | NULL | NULL | 'z!'"},
        {"st.b IS NULL", "boolean: FALSE | TRUE | TRUE | FALSE | FALSE"},
    };
    CHECK(cases);
}

static void selection__rows_outside_never_fail(void **state)
{
    test_batch batch;
    char *text = NULL;
    frz_error err;
    static const uint8_t without_last[] = {0x0F};
    static const uint8_t only_last[] = {0xF0};
    static const uint8_t none[] = {0};
    test_batch_init(&batch, *state);
    assert_ok(test_eval(&batch, "i + 1", without_last, &text, &err), &err);
    assert_ok(test_eval(&batch, "1 / 0", none, &text, &err), &err);
    assert_fails(test_eval(&batch, "i + 1", only_last, &text, &err), &err, FRZ_E_ARGUMENT,
                 "row 104");
    assert_ok(test_eval(&batch, "CAST(d AS long)", (const uint8_t[]){0x03}, &text, &err), &err);
    test_batch_reset(&batch);
}

static void column_reference__shares_memory(void **state)
{
    test_batch batch;
    frz_error err;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    struct ArrowArray array = {0};
    test_batch_init(&batch, *state);
    assert_ok(frz_expr_parse(&batch.arena, FRZ_STR("D"), &expr, &err), &err);
    assert_ok(frz_expr_bind(batch.env, expr, batch.type, &bound, &err), &err);
    assert_ok(frz_expr_eval(bound, batch.type, &batch.array, 0, NULL, &array, &err), &err);
    assert_ptr_equal(array.buffers[1], batch.array.children[3]->buffers[1]);
    assert_int_equal(array.offset, batch.array.children[3]->offset);
    frz_array_release(&array);
    frz_bound_expr_free(bound);
    test_batch_reset(&batch);
}

static void select__counts_true_rows_only(void **state)
{
    test_batch batch;
    frz_error err;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    uint8_t selection[1];
    int64_t selected = -1;
    test_batch_init(&batch, *state);
    assert_ok(frz_expr_parse(&batch.arena, FRZ_STR("b"), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(batch.env, expr, batch.type, &bound, &err), &err);
    assert_ok(frz_expr_select(bound, batch.type, &batch.array, 0, NULL, selection, &selected, &err),
              &err);
    assert_int_equal(selected, 2);
    assert_int_equal(selection[0], 0x09);
    size_t count;
    const int32_t *fields = frz_bound_expr_fields(bound, &count);
    assert_int_equal(count, 1);
    assert_int_equal(fields[0], 7);
    frz_bound_expr_free(bound);
    test_batch_reset(&batch);
}

/* column = expression: the rows written, or the failure */
static void assign__loses_nothing(void **state)
{
    static const struct {
        const char *column, *sql, *expected;
        bool fails;
    } cases[] = {
        {"l", "i", "LONG '1' | LONG '2' | NULL | LONG '-4' | LONG '2147483647'", false},
        {"i", "i * 1.0", "1 | 2 | NULL | -4 | 2147483647", false},
        {"i", "2.0", "2 | 2 | 2 | 2 | 2", false},
        {"i", "1.5e0", "1.5e0 does not fit int", true},
        {"i", "i / 2", "column \"i\": a value does not fit at row 100: 0.5 into int", true},
        {"i", "l", "a value does not fit at row 103: 9223372036854775807 into int", true},
        {"d", "l", "a value does not fit at row 103: 9223372036854775807 into double", true},
        {"d", "c", "1.5e0 | -0.05e0 | NULL | 9999999.99e0 | 0e0", false},
        {"d", "0.1", "0.1e0 | 0.1e0 | 0.1e0 | 0.1e0 | 0.1e0", false},
        {"f", "d", "column \"f\": a value does not fit at row 104: 1e+300 into float", true},
        {"c", "i", "a value does not fit at row 104: 2147483647 into decimal(9, 2)", true},
        {"c", "0.5e0", "0.50 | 0.50 | 0.50 | 0.50 | 0.50", false},
        {"c", "0.125", "0.125 does not fit decimal(9, 2)", true},
        {"c", "d", "a value does not fit at row 102", true},
        {"s", "i", "int cannot be assigned to string without a CAST", true},
        {"i", "s", "string cannot be assigned to int without a CAST", true},
        {"i", "'5'", "string cannot be assigned to int without a CAST", true},
        {"day", "'2026-11-03'",
         "DATE '2026-11-03' | DATE '2026-11-03' | DATE '2026-11-03' | DATE '2026-11-03' | "
         "DATE '2026-11-03'",
         false},
        {"day", "'yesterday'", "'yesterday' cannot be read as date", true},
        {"day", "s", "string cannot be assigned to date without a CAST", true},
        {"ts", "tz", "timestamptz cannot be assigned to timestamp without a CAST", true},
        {"ts", "tn", "a value does not fit at row 100", true},
        {"fx", "x", "a value does not fit at row 101", true},
        {"b", "NULL", "NULL | NULL | NULL | NULL | NULL", false},
        {"b", "i", "int cannot be assigned to boolean", true},
    };
    test_batch batch;
    test_batch_init(&batch, *state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        char text[2048] = "";
        const frz_expr *expr = NULL;
        const frz_field *field = NULL;
        frz_bound_expr *bound = NULL;
        struct ArrowArray array = {0};
        assert_ok(frz_expr_parse(&batch.arena, frz_str_from(cases[i].sql), &expr, &err), &err);
        assert_ok(frz_type_resolve_name(batch.type, frz_str_from(cases[i].column), &field, &err),
                  &err);
        frz_code rc = frz_expr_bind_assign(batch.env, expr, batch.type, field, &bound, &err);
        if (rc == FRZ_OK) {
            rc = frz_expr_eval(bound, batch.type, &batch.array, 100, NULL, &array, &err);
        }
        frz_error_format(&err, text, sizeof text);
        const char *found = rc == FRZ_OK ? test_rows_text(&batch, field->type, &array) : text;
        if ((rc != FRZ_OK) != cases[i].fails || strstr(found, cases[i].expected) == NULL) {
            fail_msg("%s = %s\n  expected %s\n  found    %s", cases[i].column, cases[i].sql,
                     cases[i].expected, found);
        }
        frz_array_release(&array);
        frz_bound_expr_free(bound);
    }
    test_batch_reset(&batch);
}

static void assign__required_column_takes_no_null(void **state)
{
    test_batch batch;
    frz_error err;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    struct ArrowArray array = {0};
    frz_field field = {.id = 1,
                       .name = FRZ_STR("must"),
                       .type = frz_type_primitive(FRZ_TYPE_INT),
                       .required = true};
    test_batch_init(&batch, *state);
    assert_ok(frz_expr_parse(&batch.arena, FRZ_STR("i"), &expr, &err), &err);
    assert_ok(frz_expr_bind_assign(batch.env, expr, batch.type, &field, &bound, &err), &err);
    assert_fails(frz_expr_eval(bound, batch.type, &batch.array, 100, NULL, &array, &err), &err,
                 FRZ_E_ARGUMENT, "column \"must\": null at row 102");
    assert_ok(
        frz_expr_eval(bound, batch.type, &batch.array, 100, (const uint8_t[]){0x1B}, &array, &err),
        &err);
    frz_array_release(&array);
    frz_bound_expr_free(bound);
    test_batch_reset(&batch);
}

/* Variants are stored as structs. */
static void assign__unknown_column_takes_no_variant(void **state)
{
    static const frz_type variant = {.id = FRZ_TYPE_VARIANT};
    static const frz_field column = {.id = 1, .name = FRZ_STR("v"), .type = &variant};
    static const frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = &column, .field_count = 1};
    const frz_field nothing = {
        .id = 2, .name = FRZ_STR("n"), .type = frz_type_primitive(FRZ_TYPE_UNKNOWN)};
    const frz_env *env = *state;
    const frz_type *storage = frz_type_storage(&variant);
    const frz_field stored = {.id = 1, .name = FRZ_STR("v"), .type = storage};
    const frz_type row = {.id = FRZ_TYPE_STRUCT, .fields = &stored, .field_count = 1};
    frz_error err = {0};
    frz_arena arena;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_builder *builder = NULL;
    struct ArrowArray batch, array = {0};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_builder_new(env, &row, &builder, &err), &err);
    frz_builder *value = frz_builder_child(builder, 0);
    for (size_t i = 0; i < storage->field_count; i++) {
        assert_ok(frz_builder_bytes(frz_builder_child(value, i), FRZ_STR("\1"), &err), &err);
    }
    assert_ok(frz_builder_end(value, &err), &err);
    assert_ok(frz_builder_end(builder, &err), &err);
    assert_ok(frz_builder_finish(builder, &batch, &err), &err);
    assert_ok(frz_expr_parse(&arena, FRZ_STR("v"), &expr, &err), &err);
    assert_ok(frz_expr_bind_assign(env, expr, &type, &nothing, &bound, &err), &err);
    assert_fails(frz_expr_eval(bound, &type, &batch, 0, NULL, &array, &err), &err, FRZ_E_ARGUMENT,
                 "expected NULL for type unknown, found a variant");
    frz_array_release(&batch);
    frz_bound_expr_free(bound);
    frz_builder_free(builder);
    frz_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(arithmetic__types_and_values),
        TEST_WITH_ENV(arithmetic__failures_name_column_and_row),
        TEST_WITH_ENV(comparison__orders_every_type),
        TEST_WITH_ENV(logic__has_three_values),
        TEST_WITH_ENV(branches__are_evaluated_for_their_rows_only),
        TEST_WITH_ENV(functions__numbers),
        TEST_WITH_ENV(functions__text),
        TEST_WITH_ENV(cast__converts_between_all_kinds),
        TEST_WITH_ENV(literals__of_every_primitive_type),
        TEST_WITH_ENV(fields__are_null_where_their_struct_is),
        TEST_WITH_ENV(selection__rows_outside_never_fail),
        TEST_WITH_ENV(column_reference__shares_memory),
        TEST_WITH_ENV(select__counts_true_rows_only),
        TEST_WITH_ENV(assign__loses_nothing),
        TEST_WITH_ENV(assign__required_column_takes_no_null),
        TEST_WITH_ENV(assign__unknown_column_takes_no_variant),
    };
    return cmocka_run_group_tests_name("expr_eval", tests, NULL, NULL);
}
