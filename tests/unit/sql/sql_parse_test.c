/*
 * The parser of statements.
 */
#include "sql/sql_internal.h"
#include "unit/test_support.h"

static frz_code parse(frz_arena *arena, const char *text, sql_statement *out, frz_error *err)
{
    frz_error_reset(err);
    return sql_parse(arena, frz_str_from(text), out, err);
}

static void select__list_condition_and_limit(void **state)
{
    frz_error err;
    frz_arena arena;
    sql_statement s;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(parse(&arena,
                    "select *, a + 1 as \"A b\", count(*) n FROM db.\"x.y\" where a  <  5 "
                    "limit 10;",
                    &s, &err),
              &err);
    assert_int_equal(s.verb, SQL_SELECT);
    assert_int_equal(s.item_count, 3);
    assert_true(s.items[0].star);
    assert_string_equal(s.items[1].expr.text, "a + 1");
    assert_true(frz_str_equal(s.items[1].name, FRZ_STR("A b")));
    assert_true(frz_str_equal(s.items[2].name, FRZ_STR("n")));
    assert_string_equal(s.table, "db.\"x.y\"");
    assert_string_equal(s.where.text, "a  <  5");
    assert_int_equal(s.limit, 10);
    assert_ok(parse(&arena, "SELECT a FROM t", &s, &err), &err);
    assert_null(s.where.text);
    assert_int_equal(s.limit, -1);
    assert_false(s.explain);
    assert_ok(parse(&arena, "explain SELECT a FROM t", &s, &err), &err);
    assert_true(s.explain);
    assert_int_equal(s.verb, SQL_SELECT);
    assert_ok(parse(&arena, "SELECT explain FROM t", &s, &err), &err);
    assert_false(s.explain);
    frz_arena_reset(&arena);
}

static void update__sets_and_condition(void **state)
{
    frz_error err;
    frz_arena arena;
    sql_statement s;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(parse(&arena, "UPDATE db.wide SET c_1 = c_1 + 1, `c 2` = 'a=b' WHERE id % 10 = 0", &s,
                    &err),
              &err);
    assert_int_equal(s.verb, SQL_UPDATE);
    assert_string_equal(s.table, "db.wide");
    assert_int_equal(s.set_count, 2);
    assert_string_equal(s.sets[0].column, "c_1");
    assert_string_equal(s.sets[0].value.text, "c_1 + 1");
    assert_string_equal(s.sets[1].column, "c 2");
    assert_string_equal(s.sets[1].value.text, "'a=b'");
    assert_string_equal(s.where.text, "id % 10 = 0");
    frz_arena_reset(&arena);
}

static void alter__columns_and_properties(void **state)
{
    frz_error err;
    frz_arena arena;
    sql_statement s;
    char type[40];
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(parse(&arena, "ALTER TABLE t ADD COLUMN c decimal(9, 2)", &s, &err), &err);
    assert_int_equal(s.verb, SQL_ADD_COLUMN);
    assert_true(frz_str_equal(s.column, FRZ_STR("c")));
    assert_string_equal(frz_type_text(s.type, type, sizeof type), "decimal(9, 2)");
    assert_ok(
        parse(&arena, "ALTER TABLE t ADD IF NOT EXISTS c double precision DEFAULT 1.5;", &s, &err),
        &err);
    assert_true(s.if_not_exists);
    assert_int_equal(s.type->id, FRZ_TYPE_DOUBLE);
    assert_string_equal(s.default_value.text, "1.5");
    assert_ok(parse(&arena, "ALTER TABLE t SET TBLPROPERTIES ('a'='b', 'c' = 'it''s')", &s, &err),
              &err);
    assert_int_equal(s.verb, SQL_SET_PROPERTIES);
    assert_int_equal(s.property_count, 2);
    assert_true(frz_str_equal(s.properties[1].value, FRZ_STR("it's")));
    frz_arena_reset(&arena);
}

static void alter__columns_that_exist(void **state)
{
    frz_error err;
    frz_arena arena;
    sql_statement s;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(parse(&arena, "ALTER TABLE t RENAME COLUMN s.\"a.b\" TO c", &s, &err), &err);
    assert_int_equal(s.verb, SQL_RENAME_COLUMN);
    assert_int_equal(s.path_count, 2);
    assert_true(frz_str_equal(s.path[1], FRZ_STR("a.b")));
    assert_true(frz_str_equal(s.new_name, FRZ_STR("c")));
    assert_ok(parse(&arena, "alter table t drop column if exists a", &s, &err), &err);
    assert_int_equal(s.verb, SQL_DROP_COLUMN);
    assert_true(s.if_exists);
    assert_ok(parse(&arena, "ALTER TABLE t ALTER a TYPE decimal(9, 2)", &s, &err), &err);
    assert_int_equal(s.verb, SQL_COLUMN_TYPE);
    assert_int_equal(s.type->precision, 9);
    assert_ok(parse(&arena, "ALTER TABLE t ALTER COLUMN a SET DATA TYPE long", &s, &err), &err);
    assert_int_equal(s.verb, SQL_COLUMN_TYPE);
    assert_ok(parse(&arena, "ALTER TABLE t ALTER COLUMN a DROP NOT NULL;", &s, &err), &err);
    assert_int_equal(s.verb, SQL_COLUMN_OPTIONAL);
    assert_ok(parse(&arena, "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a', 'b')", &s, &err),
              &err);
    assert_int_equal(s.verb, SQL_UNSET_PROPERTIES);
    assert_int_equal(s.property_count, 2);
    frz_arena_reset(&arena);
}

static void parse__mistakes_are_named(void **state)
{
    static const struct {
        const char *sql;
        frz_code code;
        const char *message, *hint;
    } cases[] = {
        {"", FRZ_E_ARGUMENT,
         "expected SELECT, UPDATE, DELETE, INSERT, MERGE or ALTER TABLE, found the end of the text",
         "^"},
        {"CREATE TABLE t (a int)", FRZ_E_UNSUPPORTED, "unsupported: CREATE",
         "statements are: SELECT"},
        {"copy t", FRZ_E_UNSUPPORTED, "unsupported: copy", "statements are"},
        {"MERGE INTO t", FRZ_E_ARGUMENT, "expected USING, found the end", "^"},
        {"MERGE INTO t USING 'f' ON a = b WHEN MATCHED THEN INSERT *", FRZ_E_ARGUMENT,
         "expected UPDATE or DELETE, found INSERT", "^"},
        {"MERGE INTO t USING 'f' ON a = b WHEN NOT MATCHED BY x THEN INSERT *", FRZ_E_ARGUMENT,
         "expected TARGET, found x", "^"},
        {"INSERT INTO t (a) VALUES (1), (2, 3)", FRZ_E_ARGUMENT,
         "expected 1 values in each row, found 2", "^"},
        {"INSERT INTO t VALUES 1", FRZ_E_ARGUMENT, "expected (, found 1", "^"},
        {"UPDATE t SET a = 1 FROM 5", FRZ_E_ARGUMENT, "expected a table name, found 5", "^"},
        {"UPDATE t AS 5 SET a = 1", FRZ_E_ARGUMENT, "expected a name after AS, found 5", "^"},
        {"ALTER TABLE t REPLACE COLUMNS (c int)", FRZ_E_UNSUPPORTED,
         "unsupported: ALTER TABLE ... REPLACE", "statements are"},
        {"ALTER TABLE t 5", FRZ_E_ARGUMENT,
         "expected ADD, RENAME, DROP, ALTER, SET or UNSET, found 5", "^"},
        {"ALTER TABLE t RENAME TO u", FRZ_E_UNSUPPORTED, "unsupported: ALTER TABLE ... RENAME TO",
         ""},
        {"ALTER TABLE t RENAME COLUMN a b", FRZ_E_ARGUMENT, "expected TO, found b", "^"},
        {"ALTER TABLE t RENAME COLUMN a.", FRZ_E_ARGUMENT, "expected a column name, found the end",
         "^"},
        {"ALTER TABLE t DROP COLUMN IF a", FRZ_E_ARGUMENT, "expected EXISTS, found a", "^"},
        {"ALTER TABLE t DROP COLUMN a CASCADE", FRZ_E_ARGUMENT,
         "expected the end of the statement, found CASCADE", "^"},
        {"ALTER TABLE t ALTER COLUMN a", FRZ_E_ARGUMENT, "expected TYPE, found the end", "^"},
        {"ALTER TABLE t ALTER COLUMN a DROP DEFAULT", FRZ_E_ARGUMENT, "expected NOT, found DEFAULT",
         "^"},
        {"ALTER TABLE t ALTER COLUMN a SET NOT NULL", FRZ_E_UNSUPPORTED,
         "unsupported: ALTER COLUMN ... SET of anything but DATA TYPE", ""},
        {"ALTER TABLE t UNSET TBLPROPERTIES ('a' = 'b')", FRZ_E_ARGUMENT,
         "expected ), found =", "^"},
        {"SELEKT a FROM t", FRZ_E_ARGUMENT,
         "expected SELECT, UPDATE, DELETE, INSERT, MERGE or ALTER TABLE, found SELEKT",
         "SELEKT a FROM t\n^"},
        {"SELECT FROM t", FRZ_E_ARGUMENT, "expected an expression, found FROM",
         "SELECT FROM t\n       ^"},
        {"SELECT a t", FRZ_E_ARGUMENT, "expected FROM, found the end", "SELECT a t\n          ^"},
        {"SELECT a FROM t WHERE", FRZ_E_ARGUMENT, "expected an expression", "^"},
        {"SELECT a FROM t WHERE a = 1 b", FRZ_E_ARGUMENT,
         "expected the end of the statement, found b", "^"},
        {"SELECT a FROM t LIMIT x", FRZ_E_ARGUMENT, "expected a whole number of rows, found x",
         "^"},
        {"SELECT a FROM t LIMIT -1", FRZ_E_ARGUMENT, "expected a whole number of rows", "^"},
        {"SELECT a FROM t GROUP BY a", FRZ_E_UNSUPPORTED, "unsupported: GROUP in a SELECT", "^"},
        {"SELECT a FROM t, u", FRZ_E_UNSUPPORTED, "unsupported: , in a SELECT", "^"},
        {"SELECT a FROM t WHERE a ORDER BY a", FRZ_E_UNSUPPORTED, "unsupported: ORDER in a SELECT",
         "^"},
        {"SELECT DISTINCT a FROM t", FRZ_E_UNSUPPORTED, "unsupported: SELECT DISTINCT", ""},
        {"SELECT a FROM t; SELECT b FROM t", FRZ_E_ARGUMENT, "expected one statement only", "^"},
        {"UPDATE t SET a = 1, a = 2", FRZ_E_ARGUMENT, "column \"a\" is set twice",
         "UPDATE t SET a = 1, a = 2\n                    ^"},
        {"UPDATE t SET a.b = 1", FRZ_E_UNSUPPORTED, "unsupported: setting a field", "^"},
        {"UPDATE t SET a 1", FRZ_E_ARGUMENT, "expected =, found 1", "^"},
        {"UPDATE t", FRZ_E_ARGUMENT, "expected SET, found the end", "^"},
        {"UPDATE 5 SET a = 1", FRZ_E_ARGUMENT, "expected a table name, found 5", "^"},
        {"ALTER TABLE t ADD COLUMN c", FRZ_E_ARGUMENT, "expected a type, found the end", "^"},
        {"ALTER TABLE t ADD COLUMN c nothing", FRZ_E_ARGUMENT, "expected a type", "types are"},
        {"ALTER TABLE t ADD COLUMN c int NOT NULL", FRZ_E_UNSUPPORTED,
         "unsupported: adding a column that is NOT NULL", ""},
        {"ALTER TABLE t SET TBLPROPERTIES (a = 'b')", FRZ_E_ARGUMENT,
         "expected a property name in single quotes, found a", "^"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err;
        frz_arena arena;
        sql_statement s;
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        frz_code rc = parse(&arena, cases[i].sql, &s, &err);
        if (rc != cases[i].code || err.code != rc ||
            strstr(err.message, cases[i].message) == NULL ||
            strstr(err.hint, cases[i].hint) == NULL) {
            fail_msg("%s\n  expected %s\n%s\n  found    %s\n%s", cases[i].sql, cases[i].message,
                     cases[i].hint, rc == FRZ_OK ? "no failure" : err.message, err.hint);
        }
        frz_arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(select__list_condition_and_limit), TEST_WITH_ENV(update__sets_and_condition),
        TEST_WITH_ENV(alter__columns_and_properties),    TEST_WITH_ENV(alter__columns_that_exist),
        TEST_WITH_ENV(parse__mistakes_are_named),
    };
    return cmocka_run_group_tests_name("sql_parse", tests, NULL, NULL);
}
