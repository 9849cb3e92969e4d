/*
 * Tasks in parallel that can fail: over the environment's executor, with the outcome of running
 * them one after the other.
 */
#include <pthread.h>

#include "base/base_internal.h"

#define MOST_THREADS 1024
#define LEAST_SHARED (512u << 10)

/* ---- tasks ---- */

/* One call of frz_parallel. */
typedef struct parallel_call {
    frz_code (*task)(void *ctx, size_t index, frz_error *err);
    void *ctx;
    _Atomic size_t failed; /* lowest index that failed; SIZE_MAX: none */
    pthread_mutex_t lock;  /* over what follows, and changes of failed */
    frz_code rc;           /* of that task */
    frz_error *err;        /* its error; NULL: nobody wants it */
} parallel_call;

static void keep_failure(parallel_call *call, size_t index, frz_code rc, const frz_error *err)
{
    pthread_mutex_lock(&call->lock);
    if (index < atomic_load_explicit(&call->failed, memory_order_relaxed)) {
        atomic_store_explicit(&call->failed, index, memory_order_relaxed);
        call->rc = rc;
        if (call->err != NULL) {
            *call->err = *err;
        }
    }
    pthread_mutex_unlock(&call->lock);
}

static void run_task(void *arg, size_t index)
{
    parallel_call *call = arg;
    frz_error err;
    if (index > atomic_load_explicit(&call->failed, memory_order_relaxed)) {
        return; /* in order, it would not have been reached */
    }
    frz_error_reset(&err);
    frz_code rc = call->task(call->ctx, index, &err);
    if (rc != FRZ_OK) {
        keep_failure(call, index, rc, &err);
    }
}

size_t frz_threads(const frz_env *env)
{
    return env->executor.run == NULL ? 1 : (size_t)FRZ_MAX(env->executor.threads, 1);
}

bool frz_is_shared(const frz_env *env, double bytes)
{
    return frz_threads(env) > 1 && bytes >= env->least_shared;
}

frz_code frz_parallel(const frz_env *env, size_t count,
                      frz_code (*task)(void *ctx, size_t index, frz_error *err), void *ctx,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (count <= 1 || frz_threads(env) == 1) {
        for (size_t i = 0; i < count && rc == FRZ_OK; i++) {
            rc = task(ctx, i, err);
        }
        return rc;
    }
    parallel_call call = {.task = task, .ctx = ctx, .failed = SIZE_MAX, .err = err};
    pthread_mutex_init(&call.lock, NULL);
    env->executor.run(env->executor.ctx, count, run_task, &call);
    pthread_mutex_destroy(&call.lock);
    return call.rc;
}

/* ---- slots: only ever added while tasks run, so that the list needs no lock ---- */

frz_slot *frz_slots_take(frz_slots *slots)
{
    for (frz_slot *s = atomic_load(&slots->first); s != NULL; s = s->next) {
        if (!atomic_exchange(&s->taken, true)) {
            return s;
        }
    }
    return NULL;
}

void frz_slots_add(frz_slots *slots, frz_slot *slot)
{
    atomic_store(&slot->taken, true);
    slot->next = atomic_load(&slots->first);
    while (!atomic_compare_exchange_weak(&slots->first, &slot->next, slot)) {
    }
}

void frz_slot_give(frz_slot *slot)
{
    atomic_store(&slot->taken, false);
}

frz_slot *frz_slots_remove(frz_slots *slots)
{
    frz_slot *slot = atomic_load(&slots->first);
    if (slot != NULL) {
        atomic_store(&slots->first, slot->next);
    }
    return slot;
}

/* ---- the environment's executor ---- */

frz_code frz_executor_configure(frz_env *env, const frz_executor *executor, int threads,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    env->least_shared = LEAST_SHARED;
    if (executor != NULL) {
        env->executor = *executor;
        return FRZ_OK;
    }
    if (threads < FRZ_THREADS_ALL || threads > MOST_THREADS) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "%d threads: expected 0 to %d, or FRZ_THREADS_ALL (%d)", threads,
                        MOST_THREADS, FRZ_THREADS_ALL);
    }
    if (threads == FRZ_THREADS_ALL) {
        threads = FRZ_MIN(frz_processors(), MOST_THREADS);
    }
    if (threads > 1) {
        FRZ_TRY(frz_pool_new(env, (size_t)threads - 1, &env->pool, err));
        env->executor = (frz_executor){sizeof env->executor, threads, frz_pool_run, env->pool};
    }
out:
    return rc;
}
