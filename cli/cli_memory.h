/*
 * How the command's process uses memory. A library leaves that to the program it is part of, so it
 * is here; benchmarks of the library include this, to measure what the command does.
 */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Buffers of a batch come and go many times a second: giving them back to the system and faulting
 * their pages in again would cost more than decoding into them. So freed memory is kept, and the
 * heap grows by the padding at once. It is made of large pages as it is used: a processor knows the
 * places of fewer small ones than a batch of a wide table has. */
static inline void cli_memory_keep(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, 64 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
    (void)mallopt(M_TOP_PAD, 128 << 20);
    (void)mallopt(M_ARENA_MAX, 1); /* else each thread keeps its own */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *block = malloc(1 << 20);
    uintptr_t first = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t end = (uintptr_t)sbrk(0);
    if (block != NULL && first < end) { /* else the block is another allocator's */
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* only a hint */
    }
    free(block);
}

#endif
