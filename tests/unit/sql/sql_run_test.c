/*
 * Statements over a real table: imported from two Parquet files into a SQLite catalog.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "expr/expr_internal.h"
#include "frazil/import.h"
#include "frazil/parquet_writer.h"
#include "meta/meta_table.h"
#include "sql/sql_internal.h"
#include "unit/test_alloc.h"

#define ROWS_EACH 500

typedef struct sql_fixture {
    frz_env *env;
    frz_catalog *catalog;
    char folder[64];
} sql_fixture;

/* id: 0, 1, …; v: id / 4; n: id % 100, null for each seventh; s: "s" and id; f: v as float */
static void write_file(sql_fixture *f, const char *path, int64_t first)
{
    frz_error err;
    frz_arena arena;
    frz_arena_init(&arena, f->env, FRZ_ARENA_NO_LIMIT);
    const frz_field fields[] = {
        {.id = 1,
         .name = FRZ_STR("id"),
         .type = frz_type_primitive(FRZ_TYPE_LONG),
         .required = true},
        {.id = 2, .name = FRZ_STR("v"), .type = frz_type_primitive(FRZ_TYPE_DOUBLE)},
        {.id = 3, .name = FRZ_STR("n"), .type = frz_type_primitive(FRZ_TYPE_INT)},
        {.id = 4, .name = FRZ_STR("s"), .type = frz_type_primitive(FRZ_TYPE_STRING)},
        {.id = 5, .name = FRZ_STR("f"), .type = frz_type_primitive(FRZ_TYPE_FLOAT)},
    };
    const frz_type *type;
    struct ArrowArray columns[FRZ_ARRAY_COUNT(fields)] = {0};
    frz_builder *builders[FRZ_ARRAY_COUNT(fields)];
    assert_ok(frz_type_struct_of(&arena, fields, FRZ_ARRAY_COUNT(fields), &type, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fields); i++) {
        assert_ok(frz_builder_new(f->env, fields[i].type, &builders[i], &err), &err);
    }
    for (int64_t id = first; id < first + ROWS_EACH; id++) {
        char text[32];
        snprintf(text, sizeof text, "s%lld", (long long)id);
        assert_ok(frz_builder_i64(builders[0], id, &err), &err);
        assert_ok(frz_builder_f64(builders[1], (double)id / 4, &err), &err);
        assert_ok(id % 7 == 0 ? frz_builder_null(builders[2], &err)
                              : frz_builder_i32(builders[2], (int32_t)(id % 100), &err),
                  &err);
        assert_ok(frz_builder_bytes(builders[3], frz_str_from(text), &err), &err);
        assert_ok(frz_builder_f64(builders[4], (double)id / 4, &err), &err);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fields); i++) {
        assert_ok(frz_builder_finish(builders[i], &columns[i], &err), &err);
        frz_builder_free(builders[i]);
    }
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArrayStream stream = {0};
    int64_t rows = 0;
    assert_ok(frz_batch_make(f->env, ROWS_EACH, columns, FRZ_ARRAY_COUNT(fields), &batch, &err),
              &err);
    assert_ok(frz_type_to_arrow(f->env, type, &schema, &err), &err);
    assert_ok(frz_stream_of_batches(f->env, &schema, &batch, 1, &stream, &err), &err);
    assert_ok(frz_parquet_write_stream(f->env, path, &stream, NULL, &rows, &err), &err);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    assert_int_equal(rows, ROWS_EACH);
    frz_arena_reset(&arena);
}

static int fixture_setup(void **state)
{
    frz_error err;
    sql_fixture *f = calloc(1, sizeof *f);
    char a[128], b[128], uri[128], warehouse[128];
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    frz_commit_report report;
    strcpy(f->folder, "/tmp/frazil_sql_XXXXXX");
    if (f == NULL || mkdtemp(f->folder) == NULL || frz_env_new(NULL, &f->env, NULL) != FRZ_OK) {
        return -1;
    }
    snprintf(a, sizeof a, "%s/a.parquet", f->folder);
    snprintf(b, sizeof b, "%s/b.parquet", f->folder);
    snprintf(uri, sizeof uri, "sqlite://%s/catalog.db", f->folder);
    snprintf(warehouse, sizeof warehouse, "%s/warehouse", f->folder);
    write_file(f, a, 0);
    write_file(f, b, ROWS_EACH);
    options.uri = uri;
    options.warehouse = warehouse;
    const char *files[] = {a, b};
    assert_ok(frz_catalog_open(f->env, &options, &f->catalog, &err), &err);
    assert_ok(frz_import(f->catalog, "db.t", files, 2, NULL, &report, &err), &err);
    *state = f;
    return 0;
}

static int fixture_teardown(void **state)
{
    sql_fixture *f = *state;
    char command[128];
    frz_env_counters counters;
    frz_catalog_close(f->catalog);
    frz_env_drop_cache(f->env);
    frz_env_counters_get(f->env, &counters);
    frz_env_free(f->env);
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int removed = system(command);
    free(f);
    if (counters.bytes_allocated != 0) {
        fprintf(stderr, "%llu bytes were not given back\n",
                (unsigned long long)counters.bytes_allocated);
        return -1;
    }
    return removed;
}

#define TEST_WITH_TABLE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

/* ---- running ---- */

static frz_code stream_text(sql_fixture *f, struct ArrowArrayStream *stream, frz_buf *out,
                            char *failure, size_t failure_size)
{
    frz_error err;
    frz_arena arena;
    struct ArrowSchema schema = {0};
    const frz_type *type = NULL;
    frz_arena_init(&arena, f->env, FRZ_ARENA_NO_LIMIT);
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_ok(frz_type_from_arrow(&arena, &schema, &type, &err), &err);
    frz_schema_release(&schema);
    for (size_t i = 0; i < type->field_count; i++) {
        assert_ok(frz_buf_printf(out, &err, "%s%.*s", i == 0 ? "" : ", ",
                                 FRZ_STR_ARG(type->fields[i].name)),
                  &err);
    }
    frz_code rc = FRZ_OK;
    for (;;) {
        struct ArrowArray batch = {0};
        if (stream->get_next(stream, &batch) != 0) {
            snprintf(failure, failure_size, "%s", stream->get_last_error(stream));
            rc = FRZ_E_ARGUMENT;
            break;
        }
        if (batch.release == NULL) {
            break;
        }
        for (int64_t i = 0; i < batch.length; i++) {
            for (int64_t k = 0; k < batch.n_children; k++) {
                frz_value value = frz_value_at(type->fields[k].type, batch.children[k], i);
                assert_ok(frz_buf_append_str(out, k == 0 ? " | " : ", ", &err), &err);
                assert_ok(expr_print_literal(&value, out, &err), &err);
            }
        }
        batch.release(&batch);
    }
    assert_ok(frz_buf_append_byte(out, '\0', &err), &err);
    frz_arena_reset(&arena);
    return rc;
}

/* The names and rows of a SELECT as text. */
static void check_rows(sql_fixture *f, const char *sql, const char *expected)
{
    frz_error err;
    char failure[600];
    frz_sql_result result;
    frz_buf text = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    assert_ok(frz_sql_run(f->catalog, NULL, sql, &result, &err), &err);
    assert_int_equal(result.kind, FRZ_SQL_ROWS);
    if (stream_text(f, &result.rows, &text, failure, sizeof failure) != FRZ_OK) {
        fail_msg("%s: %s", sql, failure);
    }
    if (strcmp((const char *)text.data, expected) != 0) {
        fail_msg("%s\n  expected %s\n  found    %s", sql, expected, (const char *)text.data);
    }
    result.rows.release(&result.rows);
    frz_buf_reset(&text);
}

static void run(sql_fixture *f, const char *sql, frz_sql_result *result)
{
    frz_error err;
    assert_ok(frz_sql_run(f->catalog, NULL, sql, result, &err), &err);
}

/* ---- SELECT ---- */

static void select__columns_expressions_and_conditions(void **state)
{
    check_rows(*state, "SELECT id, v * 2 AS w, s FROM db.t WHERE id < 3",
               "id, w, s | LONG '0', 0e0, 's0' | LONG '1', 0.5e0, 's1' | LONG '2', 1e0, 's2'");
    check_rows(*state, "SELECT * FROM db.t WHERE id = 777",
               "id, v, n, s, f | LONG '777', 194.25e0, NULL, 's777', FLOAT '194.25'");
    check_rows(*state, "SELECT N FROM db.t WHERE s LIKE 's99_' AND n > 96", "n | 97 | 98 | 99");
    check_rows(*state, "SELECT id FROM db.t WHERE id IN (3, 999, 5000)",
               "id | LONG '3' | LONG '999'");
    check_rows(*state, "SELECT id FROM db.t WHERE id < 0", "id");
    check_rows(*state, "SELECT 1, NULL, 'x' || id FROM db.t WHERE id = 4",
               "1, NULL, 'x' || id | 1, NULL, 'x4'");
    check_rows(*state, "SELECT 7 AS seven FROM db.t LIMIT 2", "seven | 7 | 7");
}

static void select__limit_stops(void **state)
{
    check_rows(*state, "SELECT id FROM db.t LIMIT 2", "id | LONG '0' | LONG '1'");
    check_rows(*state, "SELECT id FROM db.t LIMIT 0", "id");
    check_rows(*state, "SELECT id FROM db.t WHERE id >= 499 LIMIT 2",
               "id | LONG '499' | LONG '500'");
    check_rows(*state, "SELECT count(*) FROM db.t LIMIT 0", "count(*)");
}

static void select__aggregates(void **state)
{
    check_rows(*state, "SELECT count(*) FROM db.t", "count(*) | LONG '1000'");
    check_rows(*state, "SELECT count(*), count(n), count(NULL) FROM db.t",
               "count(*), count(n), count(NULL) | LONG '1000', LONG '857', LONG '0'");
    check_rows(*state, "SELECT sum(id), sum(v), avg(v), min(s), max(s) FROM db.t",
               "sum(id), sum(v), avg(v), min(s), max(s) | "
               "LONG '499500', 124875e0, 124.875e0, 's0', 's999'");
    check_rows(*state, "SELECT min(n), max(n), min(f), max(v) FROM db.t WHERE id >= 500",
               "min(n), max(n), min(f), max(v) | 0, 99, FLOAT '125.0', 249.75e0");
    check_rows(*state, "SELECT sum(id), min(id), avg(n), count(id) FROM db.t WHERE id < 0",
               "sum(id), min(id), avg(n), count(id) | NULL, NULL, NULL, LONG '0'");
    check_rows(*state, "SELECT sum(id * 1.5) AS total FROM db.t", "total | 749250.0");
    check_rows(*state,
               "SELECT max(CASE WHEN id = 5 THEN DOUBLE 'NaN' ELSE v END), "
               "min(CASE WHEN id = 5 THEN DOUBLE 'NaN' ELSE v END) AS m FROM db.t",
               "max(CASE WHEN id = 5 THEN DOUBLE 'NaN' ELSE v END), m | DOUBLE 'NaN', 0e0");
}

static void select__failures(void **state)
{
    sql_fixture *f = *state;
    frz_error err;
    frz_sql_result result;
    static const struct {
        const char *sql;
        frz_code code;
        const char *message;
    } cases[] = {
        {"SELECT id FROM db.nothing", FRZ_E_NOT_FOUND, "nothing"},
        {"SELECT q FROM db.t", FRZ_E_NOT_FOUND, "there is no column \"q\""},
        {"SELECT id FROM db.t WHERE s = 5", FRZ_E_ARGUMENT, "cannot be compared"},
        {"SELECT id, count(*) FROM db.t", FRZ_E_UNSUPPORTED, "unsupported: GROUP BY"},
        {"SELECT *, count(*) FROM db.t", FRZ_E_UNSUPPORTED, "unsupported: GROUP BY"},
        {"SELECT sum(s) FROM db.t", FRZ_E_ARGUMENT, "sum(s): expected numbers"},
        {"SELECT sum(id) + 1 FROM db.t", FRZ_E_ARGUMENT, "sum is an aggregate"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_fails(frz_sql_run(f->catalog, NULL, cases[i].sql, &result, &err), &err,
                     cases[i].code, cases[i].message);
    }
    static const struct {
        const char *sql, *message;
    } late[] = {
        {"SELECT sum(id * 9000000000000000) FROM db.t", "integer overflow: the sum"},
        {"SELECT 1 / (id - 500) FROM db.t", "division by zero at row 500"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(late); i++) {
        char failure[600] = "";
        frz_buf text = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
        run(f, late[i].sql, &result);
        assert_int_equal(stream_text(f, &result.rows, &text, failure, sizeof failure),
                         FRZ_E_ARGUMENT);
        if (strstr(failure, late[i].message) == NULL) {
            fail_msg("%s: %s", late[i].sql, failure);
        }
        result.rows.release(&result.rows);
        frz_buf_reset(&text);
    }
}

/* ---- changes ---- */

static void update__new_values_are_read_back(void **state)
{
    frz_sql_result result;
    run(*state, "UPDATE db.t SET v = v + 1, n = id % 3 WHERE id < 3", &result);
    assert_int_equal(result.kind, FRZ_SQL_UPDATE);
    assert_int_equal(result.report.rows, 3);
    check_rows(*state, "SELECT id, v, n FROM db.t WHERE id <= 3",
               "id, v, n | LONG '0', 1e0, 0 | LONG '1', 1.25e0, 1 | LONG '2', 1.5e0, 2 | "
               "LONG '3', 0.75e0, 3");
    run(*state, "UPDATE db.t SET v = 0.5 WHERE id = 12345", &result);
    assert_int_equal(result.report.snapshot_id, 0);
    check_rows(*state, "SELECT sum(v) FROM db.t", "sum(v) | 124878e0");
}

static void alter__new_column_is_null_until_it_is_set(void **state)
{
    sql_fixture *f = *state;
    frz_error err;
    frz_sql_result result;
    run(f, "ALTER TABLE db.t ADD COLUMN score double", &result);
    assert_int_equal(result.kind, FRZ_SQL_ALTER);
    assert_int_equal(result.report.snapshot_id, 0);
    check_rows(f, "SELECT id, score FROM db.t LIMIT 1", "id, score | LONG '0', NULL");
    assert_fails(
        frz_sql_run(f->catalog, NULL, "ALTER TABLE db.t ADD COLUMN score int", &result, &err), &err,
        FRZ_E_EXISTS, "column \"score\" exists already");
    run(f, "ALTER TABLE db.t ADD COLUMN IF NOT EXISTS score int", &result);
    run(f, "UPDATE db.t SET score = v * 2", &result);
    check_rows(f, "SELECT sum(score) FROM db.t", "sum(score) | 249750e0");
    run(f, "ALTER TABLE db.t ADD COLUMN kind string DEFAULT 'new'", &result);
    check_rows(f, "SELECT kind, id FROM db.t LIMIT 1", "kind, id | 'new', LONG '0'");
}

static void alter__properties_are_checked_and_kept(void **state)
{
    sql_fixture *f = *state;
    frz_error err;
    frz_sql_result result;
    frz_table *table = NULL;
    run(f, "ALTER TABLE db.t SET TBLPROPERTIES ('owner' = 'me', 'write.durability' = 'none')",
        &result);
    assert_ok(frz_catalog_load_table(f->catalog, "db.t", &table, &err), &err);
    assert_true(frz_str_equal(frz_metadata_property(&table->metadata, "owner", ""), FRZ_STR("me")));
    frz_table_unref(table);
    assert_fails(frz_sql_run(f->catalog, NULL,
                             "ALTER TABLE db.t SET TBLPROPERTIES ('write.durability' = 'maybe')",
                             &result, &err),
                 &err, FRZ_E_ARGUMENT, "expected full or none");
    assert_fails(frz_sql_run(f->catalog, NULL,
                             "ALTER TABLE db.t SET TBLPROPERTIES ('format-version' = '3')", &result,
                             &err),
                 &err, FRZ_E_ARGUMENT, "format-version cannot be set");
}

static void table_from_metadata__is_read_only(void **state)
{
    sql_fixture *f = *state;
    frz_error err;
    frz_sql_result result;
    frz_table *table = NULL;
    char failure[600];
    frz_buf text = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    assert_ok(frz_catalog_load_table(f->catalog, "db.t", &table, &err), &err);
    assert_ok(frz_sql_run(NULL, table, "SELECT count(*) FROM anything", &result, &err), &err);
    assert_int_equal(stream_text(f, &result.rows, &text, failure, sizeof failure), FRZ_OK);
    assert_string_equal((const char *)text.data, "count(*) | LONG '1000'");
    result.rows.release(&result.rows);
    frz_buf_reset(&text);
    assert_fails(frz_sql_run(NULL, table, "UPDATE t SET v = 1", &result, &err), &err,
                 FRZ_E_ARGUMENT, "the table is read-only");
    frz_table_unref(table);
}

/* ---- failing allocations ---- */

static const char *alloc_folder; /* of the table that the scenario reads */

static frz_code drain(struct ArrowArrayStream *stream, frz_error *err)
{
    for (;;) {
        struct ArrowArray batch = {0};
        int failure = stream->get_next(stream, &batch);
        if (failure != 0) {
            return frz_fail(err, failure == ENOMEM ? FRZ_E_NOMEM : FRZ_E_INTERNAL, "%s",
                            stream->get_last_error(stream));
        }
        if (batch.release == NULL) {
            return FRZ_OK;
        }
        batch.release(&batch);
    }
}

static frz_code select_all(const frz_env *env, frz_error *err)
{
    static const char *const statements[] = {
        "SELECT id, v + 1, s || '!', s LIKE 's1%' FROM db.t WHERE n > 5 AND s > 's1' LIMIT 20",
        "SELECT count(*), sum(v), min(s), max(n) FROM db.t WHERE id < 900"};
    frz_code rc = FRZ_OK;
    char uri[128];
    frz_catalog *catalog = NULL;
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    snprintf(uri, sizeof uri, "sqlite://%s/catalog.db", alloc_folder);
    options.uri = uri;
    FRZ_TRY(frz_catalog_open(env, &options, &catalog, err));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(statements); i++) {
        frz_sql_result result = {0};
        FRZ_TRY(frz_sql_run(catalog, NULL, statements[i], &result, err));
        rc = drain(&result.rows, err);
        result.rows.release(&result.rows);
        FRZ_TRY(rc);
    }
out:
    frz_catalog_close(catalog);
    return rc;
}

static void select__every_allocation_fails_cleanly(void **state)
{
    const sql_fixture *f = *state;
    alloc_folder = f->folder;
    assert_true(test_fail_every_allocation(select_all) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_TABLE(select__columns_expressions_and_conditions),
        TEST_WITH_TABLE(select__limit_stops),
        TEST_WITH_TABLE(select__aggregates),
        TEST_WITH_TABLE(select__failures),
        TEST_WITH_TABLE(update__new_values_are_read_back),
        TEST_WITH_TABLE(alter__new_column_is_null_until_it_is_set),
        TEST_WITH_TABLE(alter__properties_are_checked_and_kept),
        TEST_WITH_TABLE(table_from_metadata__is_read_only),
        TEST_WITH_TABLE(select__every_allocation_fails_cleanly),
    };
    return cmocka_run_group_tests_name("sql_run", tests, NULL, NULL);
}
