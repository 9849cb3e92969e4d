/*
 * The lexer, the parser and printing: precedence, literals, carets, limits.
 */
#include "expr_test_support.h"

static frz_code parse_and_print(frz_env *env, const char *sql, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_expr *expr = NULL;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    frz_buf_clear(out);
    FRZ_TRY(frz_expr_parse(&arena, frz_str_from(sql), &expr, err));
    FRZ_TRY(frz_expr_print(expr, out, err));
    FRZ_TRY(frz_buf_append_byte(out, '\0', err));
out:
    frz_arena_reset(&arena);
    return rc;
}

static void print__is_the_shortest_text_of_the_tree(void **state)
{
    static const struct {
        const char *sql, *printed;
    } cases[] = {
        {"a+b*c", "a + b * c"},
        {"(a+b)*c", "(a + b) * c"},
        {"a-(b-c)", "a - (b - c)"},
        {"(a-b)-c", "a - b - c"},
        {"a AND b AND c OR NOT d", "a AND b AND c OR NOT d"},
        {"a AND (b AND c)", "a AND (b AND c)"},
        {"a AND (b OR c)", "a AND (b OR c)"},
        {"NOT (a OR b)", "NOT (a OR b)"},
        {"not not a", "NOT NOT a"},
        {"(NOT a) = b", "(NOT a) = b"},
        {"a = b IS NULL", "a = b IS NULL"},
        {"a = (b IS NULL)", "a = (b IS NULL)"},
        {"a is not null", "a IS NOT NULL"},
        {"a IN (1,2, 'x')", "a IN (1, 2, 'x')"},
        {"a not in (1)", "a NOT IN (1)"},
        {"a BETWEEN 1 AND 2 AND b", "a BETWEEN 1 AND 2 AND b"},
        {"a LIKE '%x' ESCAPE '!'", "a LIKE '%x' ESCAPE '!'"},
        {"case a when 1 then 2 else 3 end", "CASE a WHEN 1 THEN 2 ELSE 3 END"},
        {"CASE WHEN a THEN b END", "CASE WHEN a THEN b END"},
        {"CAST(a AS decimal( 9,2 ))", "CAST(a AS decimal(9, 2))"},
        {"cast(a as FIXED(3))", "CAST(a AS fixed[3])"},
        {"Abs(A)", "abs(A)"},
        {"count(*)", "count(*)"},
        {"-5", "-5"},
        {"- -5", "5"},
        {"-a", "-a"},
        {"- -a", "- -a"},
        {"a - -5", "a - -5"},
        {"-(a+b)", "-(a + b)"},
        {"+a", "a"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"99999999999999999999", "99999999999999999999"},
        {"2147483648", "2147483648"},
        {"LONG '5'", "LONG '5'"},
        {"1.50", "1.50"},
        {".5", "0.5"},
        {"DECIMAL '15'", "DECIMAL '15'"},
        {"1e3", "1000e0"},
        {"1.5E-7", "1.5e-07"},
        {"DOUBLE 'NaN'", "DOUBLE 'NaN'"},
        {"-DOUBLE 'Infinity'", "DOUBLE '-Infinity'"},
        {"FLOAT '1.5'", "FLOAT '1.5'"},
        {"'it''s'", "'it''s'"},
        {"X'00FF'", "X'00ff'"},
        {"date '2026-11-01'", "DATE '2026-11-01'"},
        {"TIMESTAMP '2026-11-01 12:00:00'", "TIMESTAMP '2026-11-01T12:00:00.000000'"},
        {"TRUE or false or NULL", "TRUE OR FALSE OR NULL"},
        {"\"select\"", "\"select\""},
        {"`a b`.\"c\"\"d\"", "\"a b\".\"c\"\"d\""},
        {"\"plain\"", "plain"},
        {"a.b.c", "a.b.c"},
        {"\"\xC3\xA4\"", "\"\xC3\xA4\""},
        {"a || b || c", "a || b || c"},
        {"a -- comment\n + /* x */ b", "a + b"},
    };
    frz_error err;
    frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char first[512];
        assert_ok(parse_and_print(*state, cases[i].sql, &text, &err), &err);
        if (strcmp((const char *)text.data, cases[i].printed) != 0) {
            fail_msg("%s\n  expected %s\n  found    %s", cases[i].sql, cases[i].printed,
                     (const char *)text.data);
        }
        snprintf(first, sizeof first, "%s", (const char *)text.data);
        assert_ok(parse_and_print(*state, first, &text, &err), &err);
        assert_string_equal(first, (const char *)text.data);
    }
    frz_buf_reset(&text);
}

static void parse__failures_show_the_place(void **state)
{
    static const struct {
        const char *sql, *message, *hint;
    } cases[] = {
        {"a +", "expected an expression, found the end of the text", "a +\n   ^"},
        {"a + * b", "expected an expression, found *", "a + * b\n    ^"},
        {"(a", "expected ), found the end of the text", "(a\n  ^"},
        {"a b", "expected an operator or the end of the expression, found b", "a b\n  ^"},
        {"'abc", "this string has no closing '", "'abc\n^"},
        {"\"abc", "this name has no closing \"", "\"abc\n^"},
        {"\"\"", "a name must not be empty", "\"\"\n^"},
        {"a IS 5", "expected NULL or NAN, found 5", "a IS 5\n     ^"},
        {"a NOT 5", "expected IN, BETWEEN or LIKE, found 5", "a NOT 5\n      ^"},
        {"a BETWEEN 1 OR 2", "expected AND, found OR", "a BETWEEN 1 OR 2\n            ^"},
        {"CASE a END", "expected WHEN, found END", "CASE a END\n       ^"},
        {"CAST(a int)", "expected AS and a type, found int", "CAST(a int)\n       ^"},
        {"CAST(a AS nothing)", "nothing", "CAST(a AS nothing)\n          ^"},
        {"1x", "a number runs into a name", "1x\n^"},
        {"1e", "no digits after its e", "1e\n^"},
        {"1e999", "does not fit a double", "1e999\n^"},
        {"a ? b", "unexpected character ?", "a ? b\n  ^"},
        {"a # b", "unexpected character #", "a # b\n  ^"},
        {"DATE 'x'", "x", "DATE 'x'\n^"},
        {"NOTYPE 'x'", "NOTYPE", "NOTYPE 'x'\n^"},
        {"geometry 'x'", "written with CAST", "geometry 'x'\n^"},
        {"\xC3\xA4\xC3\xB6 +", "expected an expression", "\xC3\xA4\xC3\xB6 +\n    ^"},
        {"a\n+\n= b", "expected an expression, found =", "= b\n^"},
        {"a = FROM", "expected an expression, found FROM", "a = FROM\n    ^"},
        {"1234567890123456789012345678901234567890", "at most 38 digits",
         "12345678901234567890123456789012345678\n^"},
        {"/* a", "this comment has no end", "/* a\n^"},
        {"count(DISTINCT a)", "unsupported: DISTINCT", "count(DISTINCT a)\n      ^"},
        {"a.5", "an operator", "a.5\n ^"},
        {"a.(b)", "expected a field name, found (", "a.(b)\n  ^"},
    };
    frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_code rc = parse_and_print(*state, cases[i].sql, &text, &err);
        bool hint_fits = strcmp(err.hint, cases[i].hint) == 0 || strlen(cases[i].sql) > 38;
        /* the hint of a wrong type is the list of types; its place is in the frame */
        if (rc == FRZ_OK || strstr(err.message, cases[i].message) == NULL || !hint_fits) {
            fail_msg("%s\n  expected %s\n%s\n  found    %s\n%s", cases[i].sql, cases[i].message,
                     cases[i].hint, err.message, err.hint);
        }
    }
    frz_buf_reset(&text);
}

static void parse__invalid_utf8_is_refused(void **state)
{
    frz_error err;
    frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_fails(parse_and_print(*state, "'\xC3'", &text, &err), &err, FRZ_E_ARGUMENT, "UTF-8");
    frz_buf_reset(&text);
}

/* "(((…" and friends, far beyond the limit */
static void parse__depth_is_limited(void **state)
{
    static const struct {
        const char *head, *middle, *tail;
        int count;
        bool deep;
    } cases[] = {{"(", "a", ")", 150, false},       {"(", "a", ")", 100000, true},
                 {"NOT ", "a", "", 150, false},     {"NOT ", "a", "", 100000, true},
                 {"- ", "a", "", 100000, true},     {"", "a", " + 1", 150, false},
                 {"", "a", " + 1", 100000, true},   {"abs(", "a", ")", 100000, true},
                 {"", "a", " AND b", 5000, false},  {"", "a", " OR b", 5000, false},
                 {"", "a", " || b", 5000, false},   {"CASE WHEN ", "a", "", 100000, true},
                 {"a.", "b", "", 100000, true},     {"", "a", " IS NULL", 100000, true},
                 {"a IN (", "1", ")", 100000, true}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_buf sql = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        for (int k = 0; k < cases[i].count; k++) {
            assert_ok(frz_buf_append_str(&sql, cases[i].head, &err), &err);
        }
        assert_ok(frz_buf_append_str(&sql, cases[i].middle, &err), &err);
        for (int k = 0; k < cases[i].count; k++) {
            assert_ok(frz_buf_append_str(&sql, cases[i].tail, &err), &err);
        }
        assert_ok(frz_buf_append_byte(&sql, '\0', &err), &err);
        frz_code rc = parse_and_print(*state, (const char *)sql.data, &text, &err);
        if (rc != (cases[i].deep ? FRZ_E_LIMIT : FRZ_OK)) {
            fail_msg("%s x %d: %s", cases[i].head[0] ? cases[i].head : cases[i].tail,
                     cases[i].count, rc == FRZ_OK ? "accepted" : err.message);
        }
        frz_buf_reset(&sql);
        frz_buf_reset(&text);
    }
}

static void default_name__is_the_column_or_the_text(void **state)
{
    static const struct {
        const char *sql, *name;
    } cases[] = {{"C_1", "C_1"},
                 {"\"a b\"", "a b"},
                 {"st.a", "a"},
                 {"c_1*2", "c_1 * 2"},
                 {"count(*)", "count(*)"}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err;
        frz_arena arena;
        const frz_expr *expr = NULL;
        frz_buf name = FRZ_BUF_INIT(*state, 1000);
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        assert_ok(frz_expr_parse(&arena, frz_str_from(cases[i].sql), &expr, &err), &err);
        assert_ok(frz_expr_default_name(expr, &name, &err), &err);
        assert_int_equal(name.len, strlen(cases[i].name));
        assert_memory_equal(name.data, cases[i].name, name.len);
        frz_buf_reset(&name);
        frz_arena_reset(&arena);
    }
}

static void aggregate__only_if_it_is_the_whole_expression(void **state)
{
    frz_error err;
    frz_arena arena;
    const frz_expr *expr = NULL;
    const frz_expr *argument = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_expr_parse(&arena, FRZ_STR("COUNT(*)"), &expr, &err), &err);
    assert_int_equal(frz_expr_aggregate(expr, &argument), FRZ_AGGREGATE_COUNT_ALL);
    assert_null(argument);
    assert_ok(frz_expr_parse(&arena, FRZ_STR("sum(a + 1)"), &expr, &err), &err);
    assert_int_equal(frz_expr_aggregate(expr, &argument), FRZ_AGGREGATE_SUM);
    assert_non_null(argument);
    assert_ok(frz_expr_parse(&arena, FRZ_STR("sum(a) + 1"), &expr, &err), &err);
    assert_int_equal(frz_expr_aggregate(expr, &argument), FRZ_AGGREGATE_NONE);
    frz_arena_reset(&arena);
}

static void bind__failures_say_what_is_wrong(void **state)
{
    static const struct {
        const char *sql, *message, *hint;
    } cases[] = {
        {"q", "there is no column \"q\"", "columns are"},
        {"dayy", "there is no column \"dayy\"", "close names: day"},
        {"st.q", "there is no field \"q\" in struct", ""},
        {"i.q", "left of the point stands a int", "^"},
        {"i = 'x'", "int and string cannot be compared or combined; numbers are written without",
         "i = 'x'\n  ^"},
        {"i = b", "int and boolean cannot be compared", "^"},
        {"ts = tz", "timestamp and timestamptz cannot be compared", "^"},
        {"st = st", "cannot be compared", "^"},
        {"s + 1", "string + int has no meaning", "s + 1\n  ^"},
        {"day - day", "date - date has no meaning", "^"},
        {"-s", "expected a number after -", "^"},
        {"i AND b", "expected a condition, found a value of type int", "i AND b\n^"},
        {"NOT s", "expected a condition", "^"},
        {"i LIKE 'x'", "LIKE compares strings", "^"},
        {"s LIKE 'x' ESCAPE 'ab'", "one ASCII character", "^"},
        {"i IS NAN", "IS NAN asks a float or double", "^"},
        {"day > 'yesterday'", "'yesterday' cannot be read as date", "^"},
        {"CAST(i AS uuid)", "int cannot be cast to uuid", "^"},
        {"CAST('x' AS int)", "'x' cannot be read as int", "^"},
        {"nofunction(1)", "there is no function nofunction", "functions are"},
        {"abs()", "abs takes 1 argument, found 0", "^"},
        {"abs(1, 2)", "abs takes 1 argument, found 2", "^"},
        {"substr(s)", "substr takes 2 or one more arguments, found 1", "^"},
        {"abs(s)", "abs takes a number, found a value of type string", "^"},
        {"round(d, i)", "constant number of digits", "^"},
        {"lower(i)", "lower takes a string", "^"},
        {"sum(i) + 1", "sum is an aggregate: it stands alone", "^"},
        {"count(*) + 1", "count(*) stands alone", "^"},
        {"CASE WHEN i THEN 1 END", "expected a condition", "^"},
        {"CASE WHEN b THEN 1 ELSE 'x' END", "int and string cannot be", "^"},
        {"c * 0.00000000000000000000 * 0.00000000000000000000",
         "digits after the point: at most 38", "^"},
    };
    test_batch batch;
    test_batch_init(&batch, *state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char *text = NULL;
        frz_error err = {0};
        frz_code rc = test_eval(&batch, cases[i].sql, NULL, &text, &err);
        if (rc == FRZ_OK || strstr(err.message, cases[i].message) == NULL ||
            strstr(err.hint, cases[i].hint) == NULL) {
            fail_msg("%s\n  expected %s\n%s\n  found    %s\n%s", cases[i].sql, cases[i].message,
                     cases[i].hint, err.message, err.hint);
        }
    }
    test_batch_reset(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(print__is_the_shortest_text_of_the_tree),
        TEST_WITH_ENV(parse__failures_show_the_place),
        TEST_WITH_ENV(parse__invalid_utf8_is_refused),
        TEST_WITH_ENV(parse__depth_is_limited),
        TEST_WITH_ENV(default_name__is_the_column_or_the_text),
        TEST_WITH_ENV(aggregate__only_if_it_is_the_whole_expression),
        TEST_WITH_ENV(bind__failures_say_what_is_wrong),
    };
    return cmocka_run_group_tests_name("expr_parse", tests, NULL, NULL);
}
