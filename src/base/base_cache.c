/*
 * The environment's cache: parsed footers and indexes of files, by a key that names the file and
 * its content. Objects are immutable and counted; the cache holds one reference to each that it
 * keeps, so an object that was forgotten lives as long as somebody reads from it.
 *
 * Invariants:
 *  1. The lock guards the buckets, the order of use and the links in the objects. Nothing is
 *     allocated, freed or read from storage while it is held.
 *  2. Keeping an object needs no memory: the links are in it. So a cache never makes a call fail.
 *  3. The objects kept are never more bytes than the limit.
 */
#include <pthread.h>
#include <string.h>

#include "base/base_internal.h"

#define BUCKETS 1024

struct frz_cache {
    pthread_mutex_t lock;
    size_t limit, bytes;
    frz_cached *newest, *oldest;
    frz_cached *buckets[BUCKETS];
};

/* FNV-1a */
static frz_cached **bucket_of(frz_cache *cache, frz_str key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < key.len; i++) {
        hash = (hash ^ (uint8_t)key.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return &cache->buckets[(hash ^ hash >> 32) % BUCKETS];
}

/* ---- under the lock ---- */

static frz_cached *find(frz_cache *cache, frz_str key)
{
    frz_cached *object = *bucket_of(cache, key);
    while (object != NULL && !frz_str_equal(object->key, key)) {
        object = object->next;
    }
    return object;
}

static void link_newest(frz_cache *cache, frz_cached *object)
{
    object->older = cache->newest;
    object->newer = NULL;
    if (cache->newest != NULL) {
        cache->newest->newer = object;
    } else {
        cache->oldest = object;
    }
    cache->newest = object;
}

static void unlink_use(frz_cache *cache, frz_cached *object)
{
    *(object->newer != NULL ? &object->newer->older : &cache->newest) = object->older;
    *(object->older != NULL ? &object->older->newer : &cache->oldest) = object->newer;
}

/* Take an object out; its reference is the caller's. */
static void take_out(frz_cache *cache, frz_cached *object)
{
    frz_cached **link = bucket_of(cache, object->key);
    while (*link != object) {
        link = &(*link)->next;
    }
    *link = object->next;
    unlink_use(cache, object);
    cache->bytes -= object->bytes;
}

/* Take out the oldest until no more than most bytes are left; they come as a list. */
static frz_cached *shrink(frz_cache *cache, size_t most)
{
    frz_cached *out = NULL;
    while (cache->bytes > most) {
        frz_cached *object = cache->oldest;
        take_out(cache, object);
        object->next = out;
        out = object;
    }
    return out;
}

/* ---- objects ---- */

void frz_cached_unref(frz_cached *object)
{
    if (object != NULL && atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) == 1) {
        object->free(object);
    }
}

static void unref_list(frz_cached *list)
{
    while (list != NULL) {
        frz_cached *next = list->next;
        frz_cached_unref(list);
        list = next;
    }
}

/* ---- the cache ---- */

frz_cached *frz_cache_get(const frz_env *env, frz_str key)
{
    frz_cache *cache = env->cache;
    pthread_mutex_lock(&cache->lock);
    frz_cached *object = find(cache, key);
    if (object != NULL) {
        unlink_use(cache, object);
        link_newest(cache, object);
        atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&cache->lock);
    return object;
}

void frz_cache_put(const frz_env *env, frz_cached *object)
{
    frz_cache *cache = env->cache;
    frz_cached *dropped = NULL;
    assert(object->bytes > 0 && atomic_load(&object->refs) > 0);
    if (object->bytes > cache->limit) {
        return;
    }
    pthread_mutex_lock(&cache->lock);
    if (find(cache, object->key) == NULL) {
        dropped = shrink(cache, cache->limit - object->bytes);
        frz_cached **bucket = bucket_of(cache, object->key);
        object->next = *bucket;
        *bucket = object;
        link_newest(cache, object);
        cache->bytes += object->bytes;
        atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&cache->lock);
    unref_list(dropped);
}

void frz_cache_drop(const frz_env *env, frz_cached *object)
{
    frz_cache *cache = env->cache;
    pthread_mutex_lock(&cache->lock);
    bool kept = find(cache, object->key) == object;
    if (kept) {
        take_out(cache, object);
    }
    pthread_mutex_unlock(&cache->lock);
    frz_cached_unref(kept ? object : NULL);
}

static void cache_clear(frz_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    frz_cached *dropped = shrink(cache, 0);
    pthread_mutex_unlock(&cache->lock);
    unref_list(dropped);
}

void frz_env_drop_cache(const frz_env *env)
{
    cache_clear(env->cache);
}

frz_code frz_cache_new(const frz_env *env, size_t limit, frz_cache **out, frz_error *err)
{
    frz_cache *cache = env->allocator.alloc(env->allocator.ctx, sizeof *cache);
    if (cache == NULL) {
        return frz_fail_nomem(err, sizeof *cache);
    }
    memset(cache, 0, sizeof *cache);
    cache->limit = limit;
    pthread_mutex_init(&cache->lock, NULL);
    *out = cache;
    return FRZ_OK;
}

void frz_cache_free(const frz_env *env, frz_cache *cache)
{
    if (cache != NULL) {
        cache_clear(cache);
        pthread_mutex_destroy(&cache->lock);
        env->allocator.free(env->allocator.ctx, cache, sizeof *cache);
    }
}
