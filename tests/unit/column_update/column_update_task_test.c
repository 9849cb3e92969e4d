/*
 * Updates in three steps with values from files, through the C API: what a plan takes as a source,
 * and what the table is called. All else is shown by tests/interop/update_task_source_test.py.
 */
#include "frazil/update_task.h"
#include "model/model_table.h"

#define ROWS 20

/* ---- a table and files ---- */

/* Two files of ten rows, ids 0 to 9 and 10 to 19. */
static void begin(fixture *f, void **state)
{
    static const size_t ends[] = {10, ROWS};
    fixture_open(f, state, 13);
    make_rows(f, ROWS);
    import_rows(f, ends, 2, true, "full");
}

/* Ids from first to before end, n is 100 + id. */
static const char *values_file(fixture *f, int64_t first, int64_t end, int number)
{
    model_row rows[ROWS] = {{.row_id = 0}};
    for (int64_t i = 0; i < end - first; i++) {
        for (int c = 0; c < COL_MOST; c++) {
            rows[i].values[c] = model_null();
        }
        rows[i].values[COL_ID] = model_long(first + i);
        rows[i].values[COL_N] = model_long(100 + first + i);
    }
    return write_file(f, rows, (size_t)(end - first), number, true);
}

/* ---- the steps ---- */

static frz_code append_line(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = frz_buf_append(ctx, bytes, len, err);
    return rc == FRZ_OK ? frz_buf_append_byte(ctx, '\n', err) : rc;
}

static frz_code plan_from(fixture *f, const frz_row_source *source, const char *name,
                          const char *where, frz_update_plan **out)
{
    static const frz_assignment set = {"n", "s.n"};
    frz_update_plan_options opts = FRZ_UPDATE_PLAN_OPTIONS_INIT;
    frz_table *table = NULL;
    opts.source = source;
    opts.name = name;
    opts.target_bytes = 1;
    assert_ok(frz_catalog_load_table(&f->outer, NAME, &table, &f->err), &f->err);
    frz_code rc = frz_update_plan_open(table, &set, 1, where, &opts, out, &f->err);
    frz_table_unref(table);
    return rc;
}

static void run_and_commit(fixture *f, frz_update_plan *plan, frz_commit_report *report)
{
    frz_code rc;
    frz_buf task = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    frz_buf results = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    while ((rc = frz_update_plan_next(plan, append_line, &task, &f->err)) == FRZ_OK) {
        assert_ok(frz_update_task_run(f->env, (const char *)task.data, task.len, append_line,
                                      &results, &f->err),
                  &f->err);
        task.len = 0;
    }
    assert_int_equal(rc, FRZ_END);
    assert_ok(frz_update_commit(&f->outer, NAME, (const char *)results.data, results.len, report,
                                &f->err),
              &f->err);
    frz_buf_reset(&task);
    frz_buf_reset(&results);
}

/* ---- what it is called ---- */

static void task__takes_values_of_files_by_the_names_of_the_plan(void **state)
{
    fixture f;
    frz_update_plan *plan = NULL;
    frz_commit_report report = {0};
    begin(&f, state);
    const char *files[] = {values_file(&f, 3, 7, 7), values_file(&f, 7, 12, 8)};
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    source.files = files;
    source.file_count = 2;
    assert_ok(plan_from(&f, &source, "it", "it.id = s.id", &plan), &f.err);
    run_and_commit(&f, plan, &report);
    frz_update_plan_close(plan);
    assert_int_equal(report.rows, 9);
    f.sequence++;
    for (size_t i = 3; i < 12; i++) {
        f.now.rows[i].values[COL_N] = model_long(100 + (int64_t)i);
        f.now.rows[i].last_updated = f.sequence;
    }
    remember(&f, report.snapshot_id);
    check_table(&f, true);
    assert_fails(plan_from(&f, &source, "it", "t.id = s.id", &plan), &f.err, FRZ_E_NOT_FOUND, "t");
    fixture_close(&f);
}

/* ---- what cannot be opened where tasks run ---- */

static void task__refuses_sources_that_are_no_files(void **state)
{
    fixture f;
    frz_update_plan *plan = NULL;
    struct ArrowArrayStream stream = {0};
    begin(&f, state);
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    assert_fails(plan_from(&f, &source, NULL, "t.id = s.id", &plan), &f.err, FRZ_E_ARGUMENT,
                 "expected files");
    source.stream = &stream;
    assert_fails(plan_from(&f, &source, NULL, "t.id = s.id", &plan), &f.err, FRZ_E_ARGUMENT,
                 "from files only, found a stream: it cannot be read where a task runs");
    source.stream = NULL;
    source.table = NAME;
    assert_fails(plan_from(&f, &source, NULL, "t.id = s.id", &plan), &f.err, FRZ_E_ARGUMENT,
                 "from files only, found table " NAME);
    fixture_close(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(task__takes_values_of_files_by_the_names_of_the_plan),
        TEST_WITH_ENV(task__refuses_sources_that_are_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
