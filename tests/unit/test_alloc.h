/*
 * An environment whose n-th allocation fails, and the loop that runs a scenario with n = 1, 2, 3 …
 * until it gets through. Every failure must be FRZ_E_NOMEM and leave no bytes behind.
 */
#ifndef FRZ_TEST_ALLOC_H
#define FRZ_TEST_ALLOC_H

#include <stdlib.h>

#include "unit/test_support.h"

typedef struct test_allocator {
    _Atomic uint64_t calls;
    uint64_t fail_at; /* the call that fails, from 1; 0: none */
} test_allocator;

static inline bool test_alloc_refuses(test_allocator *a)
{
    return ++a->calls == a->fail_at;
}

static inline void *failing_alloc(void *ctx, size_t size)
{
    return test_alloc_refuses(ctx) ? NULL : malloc(size);
}

static inline void *failing_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)old_size;
    return test_alloc_refuses(ctx) ? NULL : realloc(ptr, new_size);
}

static inline void failing_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

/* An environment over the allocator; the allocator must outlive it. */
static inline frz_env *test_env_over(test_allocator *allocator)
{
    frz_allocator functions = {sizeof functions, failing_alloc, failing_realloc, failing_free,
                               allocator};
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    options.allocator = &functions;
    assert_int_equal(frz_env_new(&options, &env, NULL), FRZ_OK);
    return env;
}

/* A scenario gives back everything it takes, whether it fails or not. */
typedef frz_code (*test_scenario)(const frz_env *env, frz_error *err);

/* Returns the number of allocations of the run that got through. */
static inline uint64_t test_fail_every_allocation(test_scenario scenario)
{
    for (uint64_t n = 1;; n++) {
        test_allocator allocator = {0};
        frz_env *env = test_env_over(&allocator);
        frz_env_counters counters;
        frz_error err = {0};
        allocator.calls = 0;
        allocator.fail_at = n;
        frz_code rc = scenario(env, &err);
        frz_env_drop_cache(env);
        frz_env_counters_get(env, &counters);
        frz_env_free(env);
        if (counters.bytes_allocated != 0) {
            fail_msg("allocation %llu failed: %llu bytes were not given back",
                     (unsigned long long)n, (unsigned long long)counters.bytes_allocated);
        }
        if (allocator.calls < n) {
            assert_ok(rc, &err);
            return allocator.calls;
        }
        if (rc != FRZ_E_NOMEM) {
            fail_msg("allocation %llu failed: expected %s, got %s: %s", (unsigned long long)n,
                     frz_code_name(FRZ_E_NOMEM), frz_code_name(rc), err.message);
        }
    }
}

#endif
