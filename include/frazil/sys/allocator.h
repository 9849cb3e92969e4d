/**
 * Where memory comes from. Plug-in interface: may change in minor releases.
 */
#ifndef FRAZIL_SYS_ALLOCATOR_H
#define FRAZIL_SYS_ALLOCATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Memory functions with a context. Blocks are aligned to 16 bytes. The functions are called from
 * several threads at once if the environment has an executor or a pool of threads, or is itself
 * used from several; a block may be freed on another thread than the one that asked for it. alloc
 * and realloc return NULL when there is no memory.
 */
typedef struct frz_allocator {
    size_t struct_size;
    void *(*alloc)(void *ctx, size_t size);
    void *(*realloc)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void (*free)(void *ctx, void *ptr, size_t size);
    void *ctx;
} frz_allocator;

#ifdef __cplusplus
}
#endif

#endif
