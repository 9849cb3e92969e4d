/*
 * Arenas: memory for one document, handed out piece by piece and freed at once. Pieces that were
 * not handed out are poisoned under AddressSanitizer.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define ALIGNMENT 16
#define FIRST_BLOCK 4096
#define LARGEST_BLOCK (1u << 20)

struct frz_arena_block {
    struct frz_arena_block *next;
    size_t size; /* bytes behind the header */
    size_t used;
    uint8_t pad[8];
};
_Static_assert(sizeof(struct frz_arena_block) % ALIGNMENT == 0, "pieces would be misaligned");

static uint8_t *block_bytes(struct frz_arena_block *block)
{
    return (uint8_t *)(block + 1);
}

void frz_arena_init(frz_arena *arena, const frz_env *env, size_t limit)
{
    *arena = (frz_arena){.env = env, .limit = limit};
}

void frz_arena_reset(frz_arena *arena)
{
    struct frz_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct frz_arena_block *next = block->next;
        UNPOISON(block_bytes(block), block->size);
        frz_free(arena->env, block);
        block = next;
    }
    arena->blocks = NULL;
    arena->used = 0;
}

static struct frz_arena_block *add_block(frz_arena *arena, size_t least)
{
    size_t size = arena->blocks == NULL ? FIRST_BLOCK : arena->blocks->size * 2;
    size = FRZ_MAX(FRZ_MIN(size, LARGEST_BLOCK), least);
    struct frz_arena_block *block = frz_alloc(arena->env, sizeof *block + size);
    if (block != NULL) {
        *block = (struct frz_arena_block){.next = arena->blocks, .size = size};
        POISON(block_bytes(block), size);
        arena->blocks = block;
    }
    return block;
}

void *frz_arena_alloc(frz_arena *arena, size_t size)
{
    if (size > arena->limit - arena->used) {
        return NULL;
    }
    size_t padded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct frz_arena_block *block = arena->blocks;
    if (padded < size) {
        return NULL;
    }
    if (block == NULL || block->size - block->used < padded) {
        block = add_block(arena, padded);
        if (block == NULL) {
            return NULL;
        }
    }
    uint8_t *piece = block_bytes(block) + block->used;
    block->used += padded;
    arena->used += size;
    UNPOISON(piece, size);
    memset(piece, 0, size);
    return piece;
}

void *frz_arena_array(frz_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    return frz_mul_size(count, size, &bytes) ? frz_arena_alloc(arena, bytes) : NULL;
}

char *frz_arena_strdup(frz_arena *arena, frz_str s)
{
    char *copy = s.len == SIZE_MAX ? NULL : frz_arena_alloc(arena, s.len + 1);
    if (copy != NULL && s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    return copy;
}

frz_code frz_arena_str(frz_arena *arena, frz_str s, frz_str *out, frz_error *err)
{
    char *copy = frz_arena_strdup(arena, s);
    if (copy == NULL) {
        return frz_fail_nomem(err, s.len + 1);
    }
    *out = (frz_str){copy, s.len};
    return FRZ_OK;
}

char *frz_arena_printf(frz_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = len < 0 ? NULL : frz_arena_alloc(arena, (size_t)len + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)len + 1, fmt, again);
    }
    va_end(again);
    return text;
}
