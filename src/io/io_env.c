/*
 * The environment's constructor. It stands in io because the default storage does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "io/io_file.h"

#define CACHE_BYTES ((size_t)64 << 20)

static void *system_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *system_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void system_free(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static const frz_allocator system_allocator = {sizeof(frz_allocator), system_alloc, system_realloc,
                                               system_free, NULL};

/* Fill in everything that needs no memory. */
static void env_fill(frz_env *env, const frz_env_options *opts)
{
    env->allocator = opts->allocator != NULL ? *opts->allocator : system_allocator;
    env->storage = frz_storage_local;
    if (opts->storage != NULL) { /* of a program built for an older version: what it knew */
        env->storage = (frz_storage){0};
        memcpy(&env->storage, opts->storage,
               FRZ_MIN(opts->storage->struct_size, sizeof env->storage));
    }
    env->now_ms = opts->now_ms != NULL ? opts->now_ms : frz_clock_system;
    env->random_bytes = opts->random_bytes != NULL ? opts->random_bytes : frz_random_system;
    env->clock_ctx = opts->clock_ctx;
    env->log = opts->log != NULL ? opts->log : frz_log_stderr;
    env->log_ctx = opts->log_ctx;
    env->progress = opts->progress;
    env->progress_ctx = opts->progress_ctx;
}

frz_code frz_env_new(const frz_env_options *opts, frz_env **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_env_options given = FRZ_ENV_OPTIONS_INIT;
    frz_env filled = {0};
    struct frz_env_atomics *counters = NULL;
    frz_env *env = NULL;
    if (opts != NULL) { /* of a program built for an older version: what it knew */
        memcpy(&given, opts, FRZ_MIN(opts->struct_size, sizeof given));
    }
    env_fill(&filled, &given);
    counters = filled.allocator.alloc(filled.allocator.ctx, sizeof *counters);
    env = filled.allocator.alloc(filled.allocator.ctx, sizeof *env);
    if (counters == NULL || env == NULL) {
        rc = frz_fail_nomem(err, sizeof *env);
        goto out;
    }
    memset(counters, 0, sizeof *counters);
    *env = filled;
    env->counters = counters;
    FRZ_TRY(
        frz_log_configure(env, given.log_spec != NULL ? given.log_spec : getenv("FRZ_LOG"), err));
    FRZ_TRY(frz_cpu_configure(env, getenv("FRZ_SIMD"), err));
    if (given.sqlite_vfs != NULL) {
        env->sqlite_vfs = frz_strdup(env, frz_str_from(given.sqlite_vfs));
        if (env->sqlite_vfs == NULL) {
            rc = frz_fail_nomem(err, strlen(given.sqlite_vfs));
            goto out;
        }
    }
    FRZ_TRY(frz_cache_new(env, given.cache_bytes != 0 ? given.cache_bytes : CACHE_BYTES,
                          &env->cache, err));
    FRZ_TRY(frz_executor_configure(env, given.executor, given.threads, err));
    *out = env;
    env = NULL;
    counters = NULL;
out:
    if (env != NULL && counters != NULL) {
        frz_cache_free(env, env->cache);
        frz_free(env, env->sqlite_vfs);
    }
    if (env != NULL) {
        filled.allocator.free(filled.allocator.ctx, env, sizeof *env);
    }
    if (counters != NULL) {
        filled.allocator.free(filled.allocator.ctx, counters, sizeof *counters);
    }
    return rc;
}

void frz_env_free(frz_env *env)
{
    if (env == NULL) {
        return;
    }
    frz_allocator allocator = env->allocator;
    frz_pool_free(env->pool);
    frz_cache_free(env, env->cache);
    frz_free(env, env->sqlite_vfs);
    allocator.free(allocator.ctx, env->counters, sizeof *env->counters);
    allocator.free(allocator.ctx, env, sizeof *env);
}

void frz_env_counters_get(const frz_env *env, frz_env_counters *out)
{
    struct frz_env_atomics *c = env->counters;
    *out = (frz_env_counters){
        .allocations = atomic_load(&c->allocations),
        .bytes_allocated = atomic_load(&c->bytes_allocated),
        .bytes_peak = atomic_load(&c->bytes_peak),
        .bytes_read = atomic_load(&c->bytes_read),
        .bytes_written = atomic_load(&c->bytes_written),
        .files_opened = atomic_load(&c->files_opened),
        .files_created = atomic_load(&c->files_created),
        .syncs = atomic_load(&c->syncs),
    };
}

const char *frz_variable(const frz_env *env, const char *name)
{
    (void)env;
    return getenv(name);
}
