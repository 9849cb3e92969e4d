/*
 * The built-in executor: a pool of threads that are started when they are first needed.
 *
 * Invariants:
 *  1. A job lives on the stack of its caller, which works on it too. It is in the list until it has
 *     no index left, so that nobody enters it later; its caller leaves when no worker is inside.
 *  2. A worker inside a job runs the job's tasks and nothing else, and a caller waits only for
 * tasks of its own job that have begun. So a chain of waiting callers ends at a task that runs, and
 *     nested calls cannot block each other.
 *  3. Newest jobs first: a task that others wait for gets help before new tasks are begun.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "base/base_internal.h"

typedef struct pool_job {
    struct pool_job *next; /* older */
    size_t count;
    _Atomic size_t at; /* index that is handed out next; may pass count */
    size_t workers;    /* inside; under the pool's lock */
    void (*task)(void *arg, size_t index);
    void *arg;
} pool_job;

struct frz_pool {
    const frz_env *env;
    size_t size; /* bytes of this */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job came, or the end */
    pthread_cond_t left; /* a worker left a job */
    pool_job *jobs;      /* newest first */
    bool stop;
    size_t started, most; /* threads */
    pthread_t threads[];
};

/* ---- jobs ---- */

static void job_work(pool_job *job)
{
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&job->at, 1, memory_order_relaxed);
        if (index >= job->count) {
            return;
        }
        job->task(job->arg, index);
    }
}

static pool_job *job_find(frz_pool *pool)
{
    pool_job *job = pool->jobs;
    while (job != NULL && atomic_load_explicit(&job->at, memory_order_relaxed) >= job->count) {
        job = job->next;
    }
    return job;
}

static void job_unlink(frz_pool *pool, pool_job *job)
{
    pool_job **link = &pool->jobs;
    while (*link != job) {
        link = &(*link)->next;
    }
    *link = job->next;
}

/* ---- threads ---- */

static void *pool_thread(void *arg)
{
    frz_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        pool_job *job = job_find(pool);
        if (job == NULL) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        job->workers++;
        pthread_mutex_unlock(&pool->lock);
        job_work(job);
        pthread_mutex_lock(&pool->lock);
        if (--job->workers == 0) {
            pthread_cond_broadcast(&pool->left);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Have this many threads, or as many as the system gives. Signals are the program's business: its
 * own threads get them. */
static void start_threads(frz_pool *pool, size_t wanted)
{
    sigset_t all, before;
    wanted = FRZ_MIN(wanted, pool->most);
    if (pool->started >= wanted) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < wanted) {
        if (pthread_create(&pool->threads[pool->started], NULL, pool_thread, pool) != 0) {
            frz_log(pool->env, "base", FRZ_LOG_WARN, "no more than %zu threads could be started",
                    pool->started + 1);
            pool->most = pool->started; /* do not try again */
            break;
        }
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void frz_pool_run(void *ctx, size_t count, void (*task)(void *arg, size_t index), void *arg)
{
    frz_pool *pool = ctx;
    pool_job job = {.count = count, .task = task, .arg = arg};
    if (count == 0) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    start_threads(pool, count - 1);
    job.next = pool->jobs;
    pool->jobs = &job;
    for (size_t i = 0; i < FRZ_MIN(count - 1, pool->started); i++) {
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    job_work(&job);
    pthread_mutex_lock(&pool->lock);
    job_unlink(pool, &job);
    while (job.workers > 0) {
        pthread_cond_wait(&pool->left, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

int frz_processors(void)
{
    cpu_set_t set;
    /* fails if the system has more processors than the set has room for */
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
    return FRZ_MAX(count, 1);
}

/* ---- lifetime ---- */

/* The pool is a part of the environment and not counted among what was made with it. */
static size_t pool_size(size_t threads)
{
    return sizeof(frz_pool) + threads * sizeof(pthread_t);
}

frz_code frz_pool_new(const frz_env *env, size_t threads, frz_pool **out, frz_error *err)
{
    size_t size = pool_size(threads);
    frz_pool *pool = env->allocator.alloc(env->allocator.ctx, size);
    if (pool == NULL) {
        return frz_fail_nomem(err, size);
    }
    memset(pool, 0, size);
    pool->env = env;
    pool->size = size;
    pool->most = threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->left, NULL);
    *out = pool;
    return FRZ_OK;
}

void frz_pool_free(frz_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->started; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    frz_allocator allocator = pool->env->allocator;
    allocator.free(allocator.ctx, pool, pool->size);
}
