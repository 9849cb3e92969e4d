/*
 * What updates and merges with rows from outside would cost, through the C API: what is counted,
 * that nothing is written, and that memory may be missing anywhere. What is written in the end is
 * compared in tests/interop/modes_test.py.
 */
#include "frazil/merge.h"
#include "model/model_table.h"
#include "unit/test_alloc.h"

static const frz_assignment set_n = {"n", "s.n"};
static const frz_assignment insert_all[] = {{"id", "s.id"}, {"n", "s.n"}, {"s", "'new'"}};
static const frz_merge_clause clauses[] = {
    {FRZ_MERGE_MATCHED, FRZ_MERGE_DELETE, "s.id = 3", NULL, 0},
    {FRZ_MERGE_MATCHED, FRZ_MERGE_UPDATE, NULL, &set_n, 1},
    {FRZ_MERGE_NOT_MATCHED, FRZ_MERGE_INSERT, "s.id > 40", insert_all, 3}};

/* Two files of ten rows, ids 0 to 9 and 10 to 19. */
static void two_files(fixture *f, void **state)
{
    static const size_t ends[] = {10, 20};
    fixture_open(f, state, 5);
    make_rows(f, 20);
    import_rows(f, ends, 2, true, "full");
}

/* Rows 2 to 5, and 40 to 43 that the table does not have. */
static const char *source_file(fixture *f)
{
    model_row rows[8] = {{.row_id = 0}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(rows); i++) {
        for (int c = 0; c < COL_MOST; c++) {
            rows[i].values[c] = model_null();
        }
        rows[i].values[COL_ID] = model_long(i < 4 ? 2 + (int64_t)i : 36 + (int64_t)i);
        rows[i].values[COL_N] = model_long(70 + (int64_t)i);
    }
    return write_file(f, rows, FRZ_ARRAY_COUNT(rows), 7, true);
}

static frz_code estimate(fixture *f, bool merge, const char *file, size_t memory,
                         frz_statement_estimate *out)
{
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    source.files = &file;
    source.file_count = 1;
    source.memory_bytes = memory;
    return merge ? frz_merge_estimate(&f->outer, NAME, NULL, &source, "t.id = s.id", clauses,
                                      FRZ_ARRAY_COUNT(clauses), out, &f->err)
                 : frz_update_from_estimate(&f->outer, NAME, NULL, &set_n, 1, &source,
                                            "t.id = s.id AND s.n <> 71", out, &f->err);
}

/* ---- what is counted ---- */

static void estimate__counts_rows_of_an_update(void **state)
{
    fixture f;
    frz_statement_estimate e;
    two_files(&f, state);
    const char *file = source_file(&f);
    int64_t files = count_files(&f, "");
    for (size_t memory = 0; memory < 2; memory++) {
        assert_ok(estimate(&f, false, file, memory, &e), &f.err);
        assert_int_equal(e.rows, 3);
        assert_int_equal(e.data_files, 1);
        assert_int_equal(e.mode_count, 3);
        assert_string_equal(e.modes[0].mode, "column-file");
        assert_int_equal(e.modes[0].files_written, 1);
        assert_int_equal(e.modes[1].files_written, 1);
        assert_int_equal(e.modes[2].files_written, 2); /* and the vector */
    }
    assert_int_equal(count_files(&f, ""), files);
    fixture_close(&f);
}

static void estimate__counts_what_a_merge_does(void **state)
{
    fixture f;
    frz_statement_estimate e;
    two_files(&f, state);
    const char *file = source_file(&f);
    int64_t files = count_files(&f, "");
    for (size_t memory = 0; memory < 2; memory++) {
        assert_ok(estimate(&f, true, file, memory, &e), &f.err);
        assert_int_equal(e.rows, 1 + 3 + 3); /* deleted, updated, inserted */
        assert_int_equal(e.data_files, 1);
        assert_int_equal(e.modes[0].files_written, 1 + 1 + 1); /* and a vector, and new rows */
        assert_int_equal(e.modes[1].files_written, 1 + 1);
        assert_int_equal(e.modes[2].files_written, 1 + 1 + 1);
        for (size_t i = 0; i < e.mode_count; i++) {
            assert_true(e.modes[i].bytes_written > 0 && e.modes[i].bytes_read > 0);
            assert_true(e.modes[i].cost >= e.modes[e.cheapest].cost);
        }
    }
    assert_int_equal(count_files(&f, ""), files);
    check_table(&f, false);
    fixture_close(&f);
}

static void estimate__refuses_what_the_statement_would(void **state)
{
    fixture f;
    frz_statement_estimate e;
    frz_row_source none = FRZ_ROW_SOURCE_INIT;
    two_files(&f, state);
    assert_fails(
        frz_merge_estimate(&f.outer, NAME, NULL, &none, "t.id = s.id", NULL, 0, &e, &f.err), &f.err,
        FRZ_E_ARGUMENT, "a merge needs a condition and WHEN clauses");
    assert_fails(
        frz_update_from_estimate(&f.outer, NAME, NULL, &set_n, 1, &none, "t.id = s.id", &e, &f.err),
        &f.err, FRZ_E_ARGUMENT, "expected files, a stream or a table to read from");
    fixture_close(&f);
}

/* ---- memory ---- */

static test_allocator scarce;

static void rival_with_memory(fixture *f)
{
    test_allocator now = scarce;
    frz_sql_result result = {0};
    scarce = (test_allocator){0};
    assert_ok(
        frz_sql_run(f->inner, NULL, "UPDATE " NAME " SET n = 1 WHERE id > 15", &result, &f->err),
        &f->err);
    scarce = now;
}

/* An estimate, or a merge that loses a race. */
static frz_code run(fixture *f, bool merges, const char *file)
{
    frz_statement_estimate e;
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    source.files = &file;
    source.file_count = 1;
    if (!merges) {
        return estimate(f, true, file, 0, &e);
    }
    f->rival = rival_with_memory;
    return frz_merge(&f->outer, NAME, NULL, &source, "t.id = s.id", clauses,
                     FRZ_ARRAY_COUNT(clauses), NULL, &f->err);
}

static void fail_on_any(void *ctx, const char *location, const char *text)
{
    (void)ctx;
    fail_msg("%s: %s", location, text);
}

/* The n-th allocation fails; returns whether there were as many. */
static bool run_with_failure(bool merges, uint64_t n)
{
    fixture f;
    frz_env_counters counters;
    frz_table *table = NULL;
    int64_t findings = 0;
    scarce = (test_allocator){0};
    void *env = test_env_over(&scarce);
    two_files(&f, &env);
    const char *file = source_file(&f);
    scarce = (test_allocator){.fail_at = n};
    frz_code rc = run(&f, merges, file);
    bool reached = scarce.calls >= n;
    scarce = (test_allocator){0};
    assert_true(rc == FRZ_OK || rc == FRZ_E_NOMEM);
    assert_ok(frz_catalog_load_table(&f.outer, NAME, &table, &f.err), &f.err);
    assert_ok(frz_validate(table, fail_on_any, NULL, &findings, &f.err), &f.err);
    frz_table_unref(table);
    fixture_close(&f);
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    assert_int_equal(counters.bytes_allocated, 0);
    return reached;
}

static void fail_each(bool merges)
{
    uint64_t step = getenv("FRAZIL_LONG") != NULL ? 1 : 11;
    uint64_t n = 1;
    while (run_with_failure(merges, n)) {
        n += step;
    }
    assert_true(n > 500);
}

static void estimate__every_allocation_may_fail(void **state)
{
    (void)state;
    fail_each(false);
}

static void merge__every_allocation_of_a_lost_race_may_fail(void **state)
{
    (void)state;
    fail_each(true);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(estimate__counts_rows_of_an_update),
        TEST_WITH_ENV(estimate__counts_what_a_merge_does),
        TEST_WITH_ENV(estimate__refuses_what_the_statement_would),
        cmocka_unit_test(estimate__every_allocation_may_fail),
        cmocka_unit_test(merge__every_allocation_of_a_lost_race_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
