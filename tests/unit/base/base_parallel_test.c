/*
 * Tasks in parallel: every index once, the first failure in order, nested calls, pools that cannot
 * start threads. pthread_create is this file's own, so that it can fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "base/base_internal.h"
#include "unit/test_alloc.h"

/* ---- environments ---- */

static frz_env *env_of(const frz_env_options *options)
{
    frz_env *env = NULL;
    frz_error err = {0};
    assert_ok(frz_env_new(options, &env, &err), &err);
    return env;
}

static frz_env *env_of_threads(int threads)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    options.threads = threads;
    return env_of(&options);
}

/* An executor that runs the last task first. */
static void run_backwards(void *ctx, size_t count, void (*task)(void *arg, size_t index), void *arg)
{
    ++*(size_t *)ctx;
    for (size_t i = count; i-- > 0;) {
        task(arg, i);
    }
}

static frz_env *env_backwards(size_t *calls)
{
    frz_executor executor = {sizeof executor, 4, run_backwards, calls};
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    options.executor = &executor;
    return env_of(&options);
}

static const int thread_counts[] = {0, 1, 2, 3, 8};

/* ---- pthread_create that can fail ---- */

static _Atomic int creations_left = INT32_MAX;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (atomic_fetch_sub(&creations_left, 1) <= 0) {
        return EAGAIN;
    }
    *(void **)(&real) = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, start, arg);
}

/* ---- tests ---- */

#define MANY 10000

typedef struct marks {
    _Atomic int seen[MANY];
} marks;

static frz_code mark(void *ctx, size_t index, frz_error *err)
{
    marks *m = ctx;
    (void)err;
    atomic_fetch_add(&m->seen[index], 1);
    return FRZ_OK;
}

static void check_marks(const frz_env *env, size_t count)
{
    frz_error err = {0};
    marks *m = calloc(1, sizeof *m);
    assert_non_null(m);
    assert_ok(frz_parallel(env, count, mark, m, &err), &err);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(m->seen[i], i < count);
    }
    free(m);
}

static void parallel__every_index_once(void **state)
{
    static const size_t counts[] = {0, 1, 2, 7, MANY};
    size_t calls = 0;
    (void)state;
    for (size_t t = 0; t < FRZ_ARRAY_COUNT(thread_counts); t++) {
        frz_env *env = env_of_threads(thread_counts[t]);
        for (size_t i = 0; i < FRZ_ARRAY_COUNT(counts); i++) {
            check_marks(env, counts[i]);
        }
        frz_env_free(env);
    }
    frz_env *env = env_backwards(&calls);
    check_marks(env, MANY);
    assert_int_equal(calls, 1);
    frz_env_free(env);
}

/* Tasks 40, 70 and 71 fail; the first of them returns last. */
static frz_code fail_some(void *ctx, size_t index, frz_error *err)
{
    _Atomic int *done = ctx;
    frz_code rc = FRZ_OK;
    if (index == 40) {
        for (int i = 0; i < 1000 && *done < 90; i++) {
            sched_yield();
        }
    }
    if (index == 40 || index == 70 || index == 71) {
        rc = frz_context(err, frz_fail(err, FRZ_E_CORRUPT, "task %zu", index), "in order");
    }
    atomic_fetch_add(done, 1);
    return rc;
}

static void check_failure(const frz_env *env)
{
    _Atomic int done = 0;
    frz_error err = {0};
    assert_fails(frz_parallel(env, 100, fail_some, (void *)&done, &err), &err, FRZ_E_CORRUPT,
                 "in order: task 40");
    assert_true(done >= 41);
    assert_int_equal(frz_parallel(env, 100, fail_some, (void *)&done, NULL), FRZ_E_CORRUPT);
}

static void parallel__the_first_failure_in_order_counts(void **state)
{
    size_t calls = 0;
    (void)state;
    for (size_t t = 0; t < FRZ_ARRAY_COUNT(thread_counts); t++) {
        frz_env *env = env_of_threads(thread_counts[t]);
        check_failure(env);
        frz_env_free(env);
    }
    frz_env *env = env_backwards(&calls);
    check_failure(env);
    frz_env_free(env);
}

typedef struct nest {
    const frz_env *env;
    int depth;
    _Atomic int *leaves;
} nest;

static frz_code descend(void *ctx, size_t index, frz_error *err)
{
    const nest *n = ctx;
    nest below = {n->env, n->depth - 1, n->leaves};
    (void)index;
    if (n->depth == 0) {
        atomic_fetch_add(n->leaves, 1);
        return FRZ_OK;
    }
    return frz_parallel(n->env, 6, descend, &below, err);
}

static void parallel__nested_calls_do_not_block_each_other(void **state)
{
    (void)state;
    for (size_t t = 0; t < FRZ_ARRAY_COUNT(thread_counts); t++) {
        frz_env *env = env_of_threads(thread_counts[t]);
        _Atomic int leaves = 0;
        nest top = {env, 4, &leaves};
        frz_error err = {0};
        assert_ok(frz_parallel(env, 6, descend, &top, &err), &err);
        assert_int_equal(leaves, 6 * 6 * 6 * 6 * 6);
        frz_env_free(env);
    }
}

typedef struct caller {
    const frz_env *env;
    pthread_t thread;
} caller;

static void *call_often(void *arg)
{
    caller *c = arg;
    for (int i = 0; i < 50; i++) {
        check_marks(c->env, 100);
    }
    return NULL;
}

static void parallel__several_callers_share_a_pool(void **state)
{
    frz_env *env = env_of_threads(3);
    caller callers[4];
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(callers); i++) {
        callers[i].env = env;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(callers); i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    }
    frz_env_free(env);
}

static void pool__threads_are_started_when_needed(void **state)
{
    (void)state;
    creations_left = 100;
    frz_env *env = env_of_threads(5);
    assert_int_equal(creations_left, 100);
    check_marks(env, 1);
    assert_int_equal(creations_left, 100);
    check_marks(env, 3);
    assert_int_equal(creations_left, 98);
    check_marks(env, MANY);
    assert_int_equal(creations_left, 96);
    check_marks(env, MANY);
    assert_int_equal(creations_left, 96);
    frz_env_free(env);
    creations_left = INT32_MAX;
}

static void pool__works_with_the_threads_it_gets(void **state)
{
    (void)state;
    for (int possible = 0; possible < 3; possible++) {
        frz_env *env = env_of_threads(8);
        creations_left = possible;
        check_marks(env, MANY);
        check_marks(env, MANY);
        assert_int_equal(creations_left, -1); /* tried once more than it could, not again */
        frz_env_free(env);
    }
    creations_left = INT32_MAX;
}

static void options__threads(void **state)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    frz_error err = {0};
    size_t calls = 0;
    (void)state;
    options.threads = FRZ_THREADS_ALL;
    env = env_of(&options);
    assert_int_equal(frz_threads(env), frz_processors());
    frz_env_free(env);
    options.threads = -2;
    assert_fails(frz_env_new(&options, &env, &err), &err, FRZ_E_ARGUMENT, "-2 threads");
    options.threads = 100000;
    assert_fails(frz_env_new(&options, &env, &err), &err, FRZ_E_ARGUMENT, "0 to 1024");
    env = env_backwards(&calls);
    assert_int_equal(frz_threads(env), 4);
    frz_env_free(env);
}

static void options__of_an_older_program_end_earlier(void **state)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    (void)state;
    options.struct_size = offsetof(frz_env_options, executor);
    memset(&options.executor, 0x5A, sizeof options - options.struct_size);
    frz_env *env = env_of(&options);
    assert_int_equal(frz_threads(env), 1);
    check_marks(env, 10);
    frz_env_free(env);
}

static void options__every_allocation_of_the_environment_fails(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        test_allocator allocator = {.fail_at = n};
        frz_allocator functions = {sizeof functions, failing_alloc, failing_realloc, failing_free,
                                   &allocator};
        frz_env_options options = FRZ_ENV_OPTIONS_INIT;
        frz_env *env = NULL;
        frz_error err = {0};
        options.allocator = &functions;
        options.threads = 4;
        options.sqlite_vfs = "unix";
        frz_code rc = frz_env_new(&options, &env, &err);
        if (rc == FRZ_OK) {
            frz_env_free(env);
            assert_true(n > 4);
            break;
        }
        assert_int_equal(rc, FRZ_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel__every_index_once),
        cmocka_unit_test(parallel__the_first_failure_in_order_counts),
        cmocka_unit_test(parallel__nested_calls_do_not_block_each_other),
        cmocka_unit_test(parallel__several_callers_share_a_pool),
        cmocka_unit_test(pool__threads_are_started_when_needed),
        cmocka_unit_test(pool__works_with_the_threads_it_gets),
        cmocka_unit_test(options__threads),
        cmocka_unit_test(options__of_an_older_program_end_earlier),
        cmocka_unit_test(options__every_allocation_of_the_environment_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
