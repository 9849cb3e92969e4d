/*
 * The n-th allocation of what commits, and of scans, fails: nothing leaks or crashes, the error
 * says out of memory, the table is the old or the new one. The first ones are tried, and then some
 * of the others: many with FRAZIL_LONG.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault/fault_scenario.h"
#include "unit/test_support.h"

typedef struct failing_allocator {
    int64_t count, fail_at;
} failing_allocator;

static bool fails(failing_allocator *state)
{
    state->count++;
    return state->count == state->fail_at;
}

static void *failing_alloc(void *ctx, size_t size)
{
    return fails(ctx) ? NULL : malloc(size);
}

static void *failing_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)old_size;
    return fails(ctx) ? NULL : realloc(ptr, new_size);
}

static void failing_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static frz_code run_scan(const frz_env *env, const char *folder, frz_error *err)
{
    double sum;
    return scenario_sum(env, folder, &sum, err);
}

static frz_code run_tasks(const frz_env *env, const char *folder, frz_error *err)
{
    double sum;
    return scenario_task_sum(env, folder, &sum, err);
}

static frz_code run_changes(const frz_env *env, const char *folder, frz_error *err)
{
    int64_t files, rows;
    return scenario_changes(env, folder, &files, &rows, err);
}

static const fault_scenario *scenario_now;

static frz_code run_scenario(const frz_env *env, const char *folder, frz_error *err)
{
    return scenario_run(scenario_now->run, env, folder, err);
}

/* Returns the number of allocations that were reached. */
static int64_t run_once(frz_code (*run)(const frz_env *, const char *, frz_error *),
                        const char *folder, int64_t fail_at, frz_code *rc)
{
    frz_error err = {0};
    frz_env_counters counters;
    failing_allocator state = {0, 0};
    frz_allocator allocator = {sizeof allocator, failing_alloc, failing_realloc, failing_free,
                               &state};
    frz_env *env = scenario_env(0, &allocator);
    assert_non_null(env);
    state = (failing_allocator){0, fail_at};
    *rc = run(env, folder, &err);
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    if (counters.bytes_allocated != 0) {
        fail_msg("allocation %lld fails: %llu bytes leak", (long long)fail_at,
                 (unsigned long long)counters.bytes_allocated);
    }
    if (*rc != FRZ_OK && *rc != FRZ_E_NOMEM) {
        char text[1024];
        frz_error_format(&err, text, sizeof text);
        fail_msg("allocation %lld fails: %s: %s", (long long)fail_at, frz_code_name(*rc), text);
    }
    frz_env_free(env);
    return state.count;
}

static int64_t next_step(int64_t n)
{
    bool is_long = getenv("FRAZIL_LONG") != NULL;
    return n < 40 ? n + 1 : is_long ? n + 5 : n + 5 + n / 8;
}

static void alloc__each_one_that_fails_is_reported_and_harms_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < scenario_count; s++) {
        int64_t reached = 0, failed = 0;
        bool done = false; /* fewer allocations than the one that was to fail */
        scenario_now = &scenarios[s];
        for (int64_t n = 1; !done; n = next_step(n)) {
            char folder[SCENARIO_PATH];
            int was_new = 0;
            frz_code rc;
            assert_int_equal(scenario_reset(&scenarios[s], folder), 0);
            reached = run_once(run_scenario, folder, n, &rc);
            done = reached < n;
            failed += rc != FRZ_OK;
            if (scenario_check(&scenarios[s], folder, rc == FRZ_OK, &was_new) != 0) {
                fail_msg("%s, allocation %lld failed", scenarios[s].name, (long long)n);
            }
        }
        printf("%s: %lld allocations, %lld runs failed\n", scenarios[s].name, (long long)reached,
               (long long)failed);
        assert_true(failed > 20);
    }
}

static void alloc__a_scan_gives_back_all_memory_wherever_it_fails(void **state)
{
    char folder[SCENARIO_PATH];
    frz_code rc = FRZ_E_NOMEM;
    (void)state;
    assert_int_equal(scenario_reset(&scenarios[2], folder), 0);
    for (int64_t n = 1; rc != FRZ_OK; n++) {
        run_once(run_scan, folder, n, &rc);
    }
}

static void alloc__tasks_give_back_all_memory_wherever_they_fail(void **state)
{
    char folder[SCENARIO_PATH];
    frz_code rc = FRZ_E_NOMEM;
    (void)state;
    assert_int_equal(scenario_reset(&scenarios[2], folder), 0);
    for (int64_t n = 1; rc != FRZ_OK; n = next_step(n)) {
        run_once(run_tasks, folder, n, &rc);
    }
}

static void alloc__changes_give_back_all_memory_wherever_they_fail(void **state)
{
    char folder[SCENARIO_PATH];
    frz_code rc = FRZ_E_NOMEM;
    int64_t files = 0, rows = 0;
    frz_env *env = scenario_env(0, NULL);
    (void)state;
    assert_int_equal(scenario_reset(&scenarios[2], folder), 0);
    assert_int_equal(scenario_changes(env, folder, &files, &rows, NULL), FRZ_OK);
    assert_int_equal(files, 2);
    assert_int_equal(rows, 160); /* every row before and after */
    frz_env_free(env);
    for (int64_t n = 1; rc != FRZ_OK; n = next_step(n)) {
        run_once(run_changes, folder, n, &rc);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc__each_one_that_fails_is_reported_and_harms_nothing),
        cmocka_unit_test(alloc__a_scan_gives_back_all_memory_wherever_it_fails),
        cmocka_unit_test(alloc__tasks_give_back_all_memory_wherever_they_fail),
        cmocka_unit_test(alloc__changes_give_back_all_memory_wherever_they_fail),
    };
    return cmocka_run_group_tests(tests, scenario_setup, scenario_teardown);
}
