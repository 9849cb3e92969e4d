/*
 * The n-th allocation, or the n-th read, of a change feed fails: nothing leaks or crashes, and what
 * comes is an error, never a shorter feed. Tables of other writers, with deletes of every kind, old
 * and new halves in several manifests, and rows that moved between files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault/fault_scenario.h"
#include "frazil/changes.h"
#include "meta/meta_table.h"
#include "unit/test_alloc.h"

#define PATH_SIZE 1024

static const char *corpora(void)
{
    const char *root = getenv("FRAZIL_CORPORA");
    return root == NULL ? "../shared/corpora" : root;
}

/* Folder of a corpus, what its locations begin with, a table. */
static const char *const tables[][3] = {
    {"iceberg-v4", "file:///golden/", "upgraded_update"},
    {"iceberg-v4", "file:///golden/", "upgraded_vector_and_equality"},
    {"iceberg-v4", "file:///golden/", "modified_in_other_manifest"},
    {"iceberg-v4", "file:///golden/", "vector_and_update_in_one_commit"},
    {"iceberg-v4", "file:///golden/", "leaf_emptied"},
    {"iceberg-engines", "file:/golden-engines/", "spark/db/lineage_mor_v3"},
    {"iceberg-engines", "file:/golden-engines/", "spark/db/eq_partitioned_v3"},
};

/* ---- one feed ---- */

static int64_t oldest_ancestor(const frz_table *table)
{
    const frz_snapshot *at = frz_metadata_current_snapshot(&table->metadata), *parent = at;
    while (parent != NULL) {
        at = parent;
        parent = frz_metadata_snapshot(&table->metadata, at->parent_id);
    }
    return at->snapshot_id;
}

/* All changes since the first snapshot, by files and by rows. */
static frz_code read_feeds(const frz_env *env, size_t t, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char folder[PATH_SIZE], to[PATH_SIZE];
    frz_table *table = NULL;
    struct ArrowArrayStream stream = {0};
    frz_changes_options opts = FRZ_CHANGES_OPTIONS_INIT;
    frz_location_map map = {tables[t][1], to};
    const frz_table_open_options open = {sizeof open, NULL, &map, 1};
    snprintf(to, sizeof to, "%s/%s/", corpora(), tables[t][0]);
    snprintf(folder, sizeof folder, "%s%s", to, tables[t][2]);
    *rows = 0;
    FRZ_TRY(frz_table_open(env, folder, &open, &table, err));
    opts.from_snapshot_id = oldest_ancestor(table);
    FRZ_TRY(frz_changes_files(table, &opts, &stream, err));
    FRZ_TRY(scenario_count_rows(&stream, rows, err));
    FRZ_TRY(frz_changes_rows(table, &opts, &stream, err));
    rc = scenario_count_rows(&stream, rows, err);
out:
    frz_table_unref(table);
    return rc;
}

/* ---- faults ---- */

/* One run; the environment is freed, what it gave out must be back. */
static frz_code run(frz_env *env, size_t t, int64_t fault, int64_t *rows)
{
    frz_error err = {0};
    frz_env_counters before, after;
    frz_env_counters_get(env, &before);
    frz_code rc = read_feeds(env, t, rows, &err);
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &after);
    if (after.bytes_allocated != before.bytes_allocated ||
        (rc != FRZ_OK && err.message[0] == '\0')) {
        fail_msg("%s, fault %lld: %lld bytes leak, %s: %s", tables[t][2], (long long)fault,
                 (long long)(after.bytes_allocated - before.bytes_allocated), frz_code_name(rc),
                 err.message);
    }
    frz_env_free(env);
    return rc;
}

static frz_code run_with_allocation(size_t t, uint64_t fail_at, uint64_t *calls, int64_t *rows)
{
    test_allocator allocator = {0};
    frz_env *env = test_env_over(&allocator);
    allocator.calls = 0;
    allocator.fail_at = fail_at;
    frz_code rc = run(env, t, (int64_t)fail_at, rows);
    *calls = allocator.calls;
    return rc;
}

static uint64_t step_of(uint64_t all)
{
    return getenv("FRAZIL_LONG") != NULL ? 1 : 1 + all / 150;
}

static void changes__an_allocation_that_fails_is_an_error(void **state)
{
    (void)state;
    for (size_t t = 0; t < FRZ_ARRAY_COUNT(tables); t++) {
        int64_t wanted = 0, rows = 0, failed = 0;
        uint64_t all, calls;
        assert_int_equal(run_with_allocation(t, 0, &all, &wanted), FRZ_OK);
        assert_true(wanted > 0);
        for (uint64_t n = 1; n <= all; n += step_of(all)) {
            frz_code rc = run_with_allocation(t, n, &calls, &rows);
            assert_true(rc == FRZ_E_NOMEM || (rc == FRZ_OK && rows == wanted));
            failed += rc != FRZ_OK;
        }
        printf("%s: %lld changes, %lld allocations, %lld runs failed\n", tables[t][2],
               (long long)wanted, (long long)all, (long long)failed);
        assert_true(failed > 20);
    }
}

static frz_code run_with_step(size_t t, int64_t step, int64_t *rows)
{
    frz_env *env = NULL;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    opts.storage = &fault_storage;
    assert_int_equal(frz_env_new(&opts, &env, NULL), FRZ_OK);
    fault_arm(step == 0 ? FAULT_NONE : FAULT_ERROR, step);
    return run(env, t, step, rows);
}

static void changes__a_read_that_fails_is_an_error(void **state)
{
    (void)state;
    for (size_t t = 0; t < FRZ_ARRAY_COUNT(tables); t++) {
        int64_t wanted = 0, rows = 0, failed = 0;
        assert_int_equal(run_with_step(t, 0, &wanted), FRZ_OK);
        int64_t all = fault_steps();
        for (int64_t step = 1; step <= all; step += (int64_t)step_of((uint64_t)all)) {
            frz_code rc = run_with_step(t, step, &rows);
            assert_true(rc == FRZ_E_IO || (rc == FRZ_OK && rows == wanted)); /* closing may fail */
            failed += rc != FRZ_OK;
        }
        fault_arm(FAULT_NONE, 0);
        printf("%s: %lld steps, %lld runs failed\n", tables[t][2], (long long)all,
               (long long)failed);
        assert_true(failed > 20);
    }
}

int main(void)
{
    char path[PATH_SIZE];
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes__an_allocation_that_fails_is_an_error),
        cmocka_unit_test(changes__a_read_that_fails_is_an_error),
    };
    snprintf(path, sizeof path, "%s/iceberg-engines", corpora());
    if (access(path, R_OK) != 0) {
        printf("skipped: there are no tables of other writers at %s\n", corpora());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
