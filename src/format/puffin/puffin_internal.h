/*
 * puffin: what its files share.
 */
#ifndef FRZ_PUFFIN_INTERNAL_H
#define FRZ_PUFFIN_INTERNAL_H

#include "format/puffin/puffin.h"

#define PUFFIN_MAGIC_SIZE 4
extern const uint8_t puffin_magic[PUFFIN_MAGIC_SIZE]; /* "PFA1" */

#define PUFFIN_BLOCK 65536 /* positions of a block, the container of a roaring bitmap */
#define PUFFIN_BITS_BYTES (PUFFIN_BLOCK / 8)
#define PUFFIN_LIST_MAX 4096 /* a list with more positions would be larger than the bits */

typedef enum puffin_block_kind {
    PUFFIN_LIST, /* positions, 16 bits each, ascending */
    PUFFIN_BITS, /* one bit each, in Arrow's order */
    PUFFIN_RUNS  /* first position and number of further ones, 16 bits each, ascending */
} puffin_block_kind;

/* Positions PUFFIN_BLOCK * key and on; at least one of them. data holds little-endian numbers as a
 * serialised roaring bitmap has them, at any address. */
typedef struct puffin_block {
    uint64_t key;
    const uint8_t *data;
    puffin_block_kind kind;
    uint32_t items;       /* of a list or of runs */
    uint32_t cardinality; /* up to PUFFIN_BLOCK */
} puffin_block;

struct frz_positions {
    const frz_env *env;
    uint8_t *bytes; /* that the blocks point into */
    size_t size;
    puffin_block *blocks; /* by ascending key */
    size_t block_count, block_capacity;
    uint64_t cardinality;
};

static inline size_t puffin_block_size(const puffin_block *block)
{
    return block->kind == PUFFIN_LIST   ? 2 * (size_t)block->items
           : block->kind == PUFFIN_RUNS ? 4 * (size_t)block->items
                                        : PUFFIN_BITS_BYTES;
}

/* ---- roaring bitmaps (puffin_roaring.c) ----
 *
 * The containers of a serialised bitmap become blocks of a set without being copied; each is
 * checked first, so that what is in a set can be believed. spec: RoaringFormatSpec */

/* Read a bitmap of 32-bit values at the cursor; high: their upper 32 bits. */
frz_code puffin_roaring_read(frz_cursor *c, uint64_t high, frz_positions *set, frz_error *err);
/* Append a bitmap of blocks whose keys have the same upper 32 bits. */
frz_code puffin_roaring_write(const puffin_block *blocks, size_t count, frz_buf *out,
                              frz_error *err);

#endif
