/*
 * Tasks planned, written, parsed and read: nothing leaks or crashes when memory is short.
 */
#include "unit/meta/meta_fixture.h"
#include "unit/test_alloc.h"

#include "frazil/plan.h"

static const char *alloc_dir; /* of the table that a scenario plans */

static frz_code append(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_buf_append(ctx, bytes, len, err);
}

static frz_code drain(frz_scan *scan, int64_t *rows, frz_error *err)
{
    for (;;) {
        struct ArrowArray batch = {0};
        frz_code rc = frz_scan_next(scan, &batch, err);
        if (rc != FRZ_OK) {
            return rc == FRZ_END ? FRZ_OK : rc;
        }
        *rows += batch.length;
        batch.release(&batch);
    }
}

/* Write a task, parse it, and read its rows. */
static frz_code run(const frz_env *env, const frz_task *task, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task *parsed = NULL;
    frz_scan *scan = NULL;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_task_write(task, append, &text, err));
    FRZ_TRY(frz_task_parse(env, (const char *)text.data, text.len, NULL, &parsed, err));
    FRZ_TRY(frz_task_scan(parsed, &scan, err));
    FRZ_TRY(drain(scan, rows, err));
out:
    frz_scan_close(scan);
    frz_task_unref(parsed);
    frz_buf_reset(&text);
    return rc;
}

static void find_table(const char *root, const char *dir, fixture_corpus_table *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, out) && strcmp(out->dir, dir) != 0) {
    }
    fclose(list);
    assert_string_equal(out->dir, dir);
}

static frz_code run_plan(const frz_env *env, const char *dir, int64_t *rows, int64_t *tasks,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    char root[256];
    fixture_corpus_table entry = {.dir = ""};
    frz_table *table = NULL;
    frz_plan *plan = NULL;
    frz_task *task = NULL;
    frz_plan_options options = FRZ_PLAN_OPTIONS_INIT;
    options.where = "id >= 1";
    options.target_bytes = 300;
    options.open_file_bytes = 1;
    options.row_groups = 1;
    assert_non_null(fixture_corpus("iceberg-v4", root, sizeof root));
    find_table(root, dir, &entry);
    FRZ_TRY(fixture_corpus_open(env, root, &entry, &table, err));
    FRZ_TRY(frz_plan_open(table, &options, &plan, err));
    while ((rc = frz_plan_next(plan, &task, err)) == FRZ_OK) {
        FRZ_TRY(run(env, task, rows, err));
        frz_task_unref(task);
        task = NULL;
        (*tasks)++;
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_task_unref(task);
    frz_plan_close(plan);
    frz_table_unref(table);
    return rc;
}

static frz_code scenario(const frz_env *env, frz_error *err)
{
    int64_t rows = 0, tasks = 0;
    return run_plan(env, alloc_dir, &rows, &tasks, err);
}

static void task__every_allocation_may_fail(void **state)
{
    static const char *const dirs[] = {"worked_examples", "partition_union"};
    char root[256];
    (void)state;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        return;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(dirs); i++) {
        int64_t rows = 0, tasks = 0;
        frz_error err = {0};
        frz_env *env = NULL;
        assert_int_equal(frz_env_new(NULL, &env, NULL), FRZ_OK);
        assert_ok(run_plan(env, dirs[i], &rows, &tasks, &err), &err);
        frz_env_free(env);
        assert_true(rows > 5 && tasks > 5);
        alloc_dir = dirs[i];
        assert_true(test_fail_every_allocation(scenario) > 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
