/*
 * Allocation through the environment. Each block is preceded by 16 bytes that hold its size, so
 * that callers need not remember it and the allocator behind still learns it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"

#define HEADER 16
#define LARGE_PAGE ((uintptr_t)2 << 20)

static void count_alloc(const frz_env *env, size_t size)
{
    struct frz_env_atomics *c = env->counters;
    atomic_fetch_add_explicit(&c->allocations, 1, memory_order_relaxed);
    uint64_t now =
        atomic_fetch_add_explicit(&c->bytes_allocated, size, memory_order_relaxed) + size;
    uint64_t peak = atomic_load_explicit(&c->bytes_peak, memory_order_relaxed);
    while (now > peak &&
           !atomic_compare_exchange_weak_explicit(&c->bytes_peak, &peak, now, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

static void count_free(const frz_env *env, size_t size)
{
    atomic_fetch_sub_explicit(&env->counters->bytes_allocated, size, memory_order_relaxed);
}

static size_t block_size(const void *ptr)
{
    size_t size;
    memcpy(&size, (const uint8_t *)ptr - HEADER, sizeof size);
    return size;
}

void *frz_alloc(const frz_env *env, size_t size)
{
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    uint8_t *block = env->allocator.alloc(env->allocator.ctx, size + HEADER);
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    count_alloc(env, size);
    return block + HEADER;
}

void *frz_alloc_zero(const frz_env *env, size_t count, size_t size)
{
    size_t bytes;
    if (!frz_mul_size(count, size, &bytes)) {
        return NULL;
    }
    void *ptr = frz_alloc(env, bytes);
    if (ptr != NULL) {
        memset(ptr, 0, bytes);
    }
    return ptr;
}

void *frz_realloc(const frz_env *env, void *ptr, size_t size)
{
    if (ptr == NULL) {
        return frz_alloc(env, size);
    }
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size_t old = block_size(ptr);
    uint8_t *block = env->allocator.realloc(env->allocator.ctx, (uint8_t *)ptr - HEADER,
                                            old + HEADER, size + HEADER);
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    count_free(env, old);
    count_alloc(env, size);
    return block + HEADER;
}

void frz_free(const frz_env *env, void *ptr)
{
    if (ptr == NULL) {
        return;
    }
    size_t size = block_size(ptr);
    count_free(env, size);
    env->allocator.free(env->allocator.ctx, (uint8_t *)ptr - HEADER, size + HEADER);
}

void frz_memory_fills(void *ptr, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)ptr + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    uintptr_t end = ((uintptr_t)ptr + size) / LARGE_PAGE * LARGE_PAGE;
    if (first < end) {
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* only a hint */
    }
#else
    (void)ptr;
    (void)size;
#endif
}

void *frz_alloc_table(const frz_env *env, size_t count, size_t size, void **block)
{
    size_t bytes, whole;
    if (!frz_mul_size(count, size, &bytes) || !frz_add_size(bytes, 2 * LARGE_PAGE, &whole)) {
        return NULL;
    }
    if (bytes < LARGE_PAGE / 2) {
        return *block = frz_alloc_zero(env, count, size);
    }
    uint8_t *memory = frz_alloc(env, whole);
    if (memory == NULL) {
        return NULL;
    }
    *block = memory;
    frz_memory_fills(memory, whole);
    memory += -(uintptr_t)memory % LARGE_PAGE;
    memset(memory, 0, bytes);
    return memory;
}

char *frz_strdup(const frz_env *env, frz_str s)
{
    char *copy = frz_alloc(env, s.len + 1);
    if (copy != NULL) {
        if (s.len > 0) {
            memcpy(copy, s.ptr, s.len);
        }
        copy[s.len] = '\0';
    }
    return copy;
}

frz_code frz_grow(const frz_env *env, void **items, size_t *capacity, size_t count,
                  size_t item_size, frz_error *err)
{
    if (count < *capacity) {
        return FRZ_OK;
    }
    size_t wanted = *capacity == 0 ? 8 : *capacity * 2;
    size_t bytes;
    if (wanted < *capacity || !frz_mul_size(wanted, item_size, &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "an array of %zu elements cannot grow", *capacity);
    }
    void *grown = frz_realloc(env, *items, bytes);
    if (grown == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    *items = grown;
    *capacity = wanted;
    return FRZ_OK;
}
