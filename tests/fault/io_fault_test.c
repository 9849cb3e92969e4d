/*
 * A step of what commits fails once, or the disk is full from a step on: the
 * operation fails with a clear error or did what it should, nothing leaks, the table is the old or
 * the new one and sound.
 */
#include <stdio.h>

#include "fault/fault_scenario.h"
#include "frazil/scan.h"
#include "unit/test_support.h"

/* One run with a fault at a step; false if the step was never reached. */
static bool run_once(const fault_scenario *scenario, const char *folder, fault_mode mode,
                     int64_t step, frz_code *rc)
{
    frz_error err = {0};
    frz_env_counters before, after;
    fault_arm(mode, step);
    frz_env *env = scenario_env(1, NULL);
    frz_env_counters_get(env, &before); /* the environment keeps some for itself */
    *rc = scenario_run(scenario->run, env, folder, &err);
    bool reached = fault_reached();
    fault_arm(FAULT_NONE, 0);
    frz_env_counters_get(env, &after);
    frz_env_free(env);
    if (*rc != FRZ_OK && err.message[0] == '\0') {
        fail_msg("%s, step %lld: an error without a message", scenario->name, (long long)step);
    }
    if (after.bytes_allocated != before.bytes_allocated) {
        fail_msg("%s, step %lld: %llu bytes leak", scenario->name, (long long)step,
                 (unsigned long long)(after.bytes_allocated - before.bytes_allocated));
    }
    return reached;
}

static void fail_each_step(fault_mode mode)
{
    for (size_t s = 0; s < scenario_count; s++) {
        bool reached = true;
        int64_t failed = 0;
        for (int64_t step = 1; reached; step = fault_next_step(step)) {
            char folder[SCENARIO_PATH];
            int was_new = 0;
            frz_code rc;
            assert_int_equal(scenario_reset(&scenarios[s], folder), 0);
            reached = run_once(&scenarios[s], folder, mode, step, &rc);
            failed += rc != FRZ_OK;
            if (scenario_check(&scenarios[s], folder, rc == FRZ_OK, &was_new) != 0) {
                fail_msg("%s, step %lld failed", scenarios[s].name, (long long)step);
            }
            if (!reached) {
                assert_int_equal(rc, FRZ_OK);
            }
        }
        printf("%s: %lld runs failed\n", scenarios[s].name, (long long)failed);
        assert_true(failed > 5);
    }
}

static void io__each_step_that_fails_is_reported_and_harms_nothing(void **state)
{
    (void)state;
    fail_each_step(FAULT_ERROR);
}

static void io__a_full_disk_is_reported_and_harms_nothing(void **state)
{
    (void)state;
    fail_each_step(FAULT_FULL);
}

/* Read a file of several blocks; *rows receives how many came. */
static frz_code read_avro(const frz_env *env, int64_t *rows, frz_error *err)
{
    frz_avro_file *file = NULL;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    *rows = 0;
    frz_code rc = frz_avro_file_open(env, "tests/data/avro/nested.avro", &file, err);
    rc = rc == FRZ_OK ? frz_avro_file_read(file, NULL, &stream, err) : rc;
    frz_avro_file_close(file);
    while (rc == FRZ_OK) {
        rc = stream.get_next(&stream, &batch) == 0 ? FRZ_OK : FRZ_E_IO;
        if (rc != FRZ_OK || batch.release == NULL) {
            break;
        }
        *rows += batch.length;
        batch.release(&batch);
    }
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return rc;
}

/* Each step of a reading fails in turn: it says so, or all rows are there. Returns how many said
 * so; closing may fail unnoticed. */
static int fail_each_read(frz_code (*read)(const frz_env *, int64_t *, frz_error *), int64_t all)
{
    bool reached = true;
    int failed = 0;
    for (int64_t step = 1; reached; step++) {
        frz_error err = {0};
        frz_env_counters before, after;
        int64_t rows;
        fault_arm(FAULT_ERROR, step);
        frz_env *env = scenario_env(1, NULL);
        frz_env_counters_get(env, &before);
        frz_code rc = read(env, &rows, &err);
        reached = fault_reached();
        fault_arm(FAULT_NONE, 0);
        frz_env_drop_cache(env);
        frz_env_counters_get(env, &after);
        frz_env_free(env);
        assert_int_equal(after.bytes_allocated, before.bytes_allocated);
        assert_true(rc == FRZ_E_IO ? reached : rc == FRZ_OK && rows == all);
        failed += rc == FRZ_E_IO;
    }
    return failed;
}

static void io__each_read_of_an_avro_file_that_fails_is_reported(void **state)
{
    (void)state;
    /* opening, and reading what a small file has at once */
    assert_true(fail_each_read(read_avro, 7) >= 2);
}

/* Scan a table with deletes of every kind; *rows receives how many came. */
static frz_code read_deletes(const frz_env *env, int64_t *rows, frz_error *err)
{
    static const frz_location_map map = {"file:///deletes/", "tests/data/deletes/"};
    frz_table_open_options options = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_table *table = NULL;
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    *rows = 0;
    options.maps = &map;
    options.map_count = 1;
    frz_code rc = frz_table_open(env, "tests/data/deletes/metadata/table.metadata.json", &options,
                                 &table, err);
    rc = rc == FRZ_OK ? frz_scan_open(table, NULL, &scan, err) : rc;
    while (rc == FRZ_OK && (rc = frz_scan_next(scan, &batch, err)) == FRZ_OK) {
        *rows += batch.length;
        batch.release(&batch);
    }
    frz_scan_close(scan);
    frz_table_unref(table);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static void io__each_read_of_deletes_that_fails_is_reported(void **state)
{
    int64_t rows = 0;
    frz_error err = {0};
    frz_env *env = scenario_env(0, NULL);
    (void)state;
    assert_int_equal(read_deletes(env, &rows, &err), FRZ_OK);
    frz_env_free(env);
    assert_true(rows > 0 && rows < 500);
    /* the metadata, a list, four manifests, three data files, seven files of deletes */
    assert_true(fail_each_read(read_deletes, rows) >= 16);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(io__each_step_that_fails_is_reported_and_harms_nothing),
        cmocka_unit_test(io__a_full_disk_is_reported_and_harms_nothing),
        cmocka_unit_test(io__each_read_of_an_avro_file_that_fails_is_reported),
        cmocka_unit_test(io__each_read_of_deletes_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, scenario_setup, scenario_teardown);
}
