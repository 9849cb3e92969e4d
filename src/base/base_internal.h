/*
 * What the files of base share among themselves.
 */
#ifndef FRZ_BASE_INTERNAL_H
#define FRZ_BASE_INTERNAL_H

#include "base/base.h"

frz_code frz_log_configure(frz_env *env, const char *spec, frz_error *err);
void frz_log_stderr(void *ctx, const char *component, frz_log_level level, const char *line);

int64_t frz_clock_system(void *ctx);
frz_code frz_random_system(void *ctx, void *buf, size_t len);

/* ---- the cache (base_cache.c) ---- */

typedef struct frz_cache frz_cache;

/* Keeps at most limit bytes of objects. */
frz_code frz_cache_new(const frz_env *env, size_t limit, frz_cache **out, frz_error *err);
/* Objects that are in use outlive it. NULL is fine. */
void frz_cache_free(const frz_env *env, frz_cache *cache);

/* ---- the built-in executor (base_pool.c) ---- */

typedef struct frz_pool frz_pool;

/* A pool of threads besides the caller's, none of them started yet. */
frz_code frz_pool_new(const frz_env *env, size_t threads, frz_pool **out, frz_error *err);
/* Ends the threads; no run may be under way. NULL is fine. */
void frz_pool_free(frz_pool *pool);
/* As frz_executor's run; ctx is the pool. */
void frz_pool_run(void *ctx, size_t count, void (*task)(void *arg, size_t index), void *arg);
/* Processors that the process may run on, at least 1. */
int frz_processors(void);

/* Choose the environment's executor by its options. */
frz_code frz_executor_configure(frz_env *env, const frz_executor *executor, int threads,
                                frz_error *err);

/* Find out what the processor offers; spec is FRZ_SIMD: "auto", also if NULL, or "none". */
frz_code frz_cpu_configure(frz_env *env, const char *spec, frz_error *err);

#endif
