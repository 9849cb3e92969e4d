/*
 * Sets of row positions: blocks of 65 536 as roaring bitmaps have them, each a list, bits or runs.
 * A set from a file keeps the file's bytes; one that is made chooses the smallest kind per block.
 */
#include <stdlib.h>

#include "format/puffin/puffin_internal.h"

/* ---- making ---- */

/* One block in the making: positions below PUFFIN_BLOCK, ascending. */
typedef struct block_maker {
    uint16_t places[PUFFIN_BLOCK];
    uint32_t count, runs;
} block_maker;

static void gather(block_maker *m, const int64_t *positions, size_t count)
{
    m->count = m->runs = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t place = (uint16_t)(positions[i] % PUFFIN_BLOCK);
        if (m->count > 0 && m->places[m->count - 1] == place) {
            continue;
        }
        m->runs += m->count == 0 || m->places[m->count - 1] + 1 != place;
        m->places[m->count++] = place;
    }
}

static frz_code put_runs(const block_maker *m, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (uint32_t i = 0, next; i < m->count; i = next) {
        for (next = i + 1; next < m->count && m->places[next] == m->places[next - 1] + 1; next++) {
        }
        const uint16_t run[] = {m->places[i], (uint16_t)(next - i - 1)};
        FRZ_TRY(frz_buf_append(out, run, sizeof run, err));
    }
out:
    return rc;
}

static frz_code put_bits(const block_maker *m, frz_buf *out, frz_error *err)
{
    frz_code rc = frz_buf_reserve(out, PUFFIN_BITS_BYTES, err);
    if (rc == FRZ_OK) {
        memset(out->data + out->len, 0, PUFFIN_BITS_BYTES);
        for (uint32_t i = 0; i < m->count; i++) {
            frz_bit_set(out->data + out->len, m->places[i]);
        }
        out->len += PUFFIN_BITS_BYTES;
    }
    return rc;
}

/* The smallest kind; of equal ones the one that is quickest to use. */
static frz_code put_block(const block_maker *m, puffin_block *block, frz_buf *out, frz_error *err)
{
    size_t list = m->count <= PUFFIN_LIST_MAX ? 2 * (size_t)m->count : SIZE_MAX;
    size_t runs = 2 + 4 * (size_t)m->runs;
    block->cardinality = m->count;
    if (runs < FRZ_MIN(list, (size_t)PUFFIN_BITS_BYTES)) {
        block->kind = PUFFIN_RUNS;
        block->items = m->runs;
        return put_runs(m, out, err);
    }
    block->kind = list <= PUFFIN_BITS_BYTES ? PUFFIN_LIST : PUFFIN_BITS;
    block->items = m->count;
    return block->kind == PUFFIN_LIST
               ? frz_buf_append(out, m->places, m->count * sizeof m->places[0], err)
               : put_bits(m, out, err);
}

static frz_code make_blocks(frz_positions *set, const int64_t *ascending, size_t count,
                            frz_buf *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    block_maker *maker = frz_alloc(set->env, sizeof *maker);
    if (maker == NULL) {
        return frz_fail_nomem(err, sizeof *maker);
    }
    for (size_t i = 0, next; i < count; i = next) {
        int64_t key = ascending[i] / PUFFIN_BLOCK;
        for (next = i; next < count && ascending[next] / PUFFIN_BLOCK == key; next++) {
        }
        gather(maker, ascending + i, next - i);
        FRZ_TRY(FRZ_GROW(set->env, &set->blocks, &set->block_capacity, set->block_count, err));
        set->blocks[set->block_count] = (puffin_block){.key = (uint64_t)key};
        FRZ_TRY(put_block(maker, &set->blocks[set->block_count], bytes, err));
        set->cardinality += maker->count;
        set->block_count++;
    }
out:
    frz_free(set->env, maker);
    return rc;
}

/* Take the bytes of all blocks over. */
static void own_bytes(frz_positions *set, frz_buf *bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < set->block_count; i++) {
        set->blocks[i].data = bytes->data + at;
        at += puffin_block_size(&set->blocks[i]);
    }
    set->bytes = bytes->data;
    set->size = bytes->len;
    bytes->data = NULL;
}

frz_code frz_positions_of(const frz_env *env, const int64_t *ascending, size_t count,
                          frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_positions *set = frz_alloc_zero(env, 1, sizeof *set);
    if (set == NULL) {
        return frz_fail_nomem(err, sizeof *set);
    }
    set->env = env;
    FRZ_TRY(make_blocks(set, ascending, count, &bytes, err));
    own_bytes(set, &bytes);
    *out = set;
    set = NULL;
out:
    frz_buf_reset(&bytes);
    frz_positions_free(set);
    return rc;
}

void frz_positions_free(frz_positions *set)
{
    if (set != NULL) {
        frz_free(set->env, set->bytes);
        frz_free(set->env, set->blocks);
        frz_free(set->env, set);
    }
}

/* ---- looking at one block: places are below PUFFIN_BLOCK ---- */

static uint32_t list_at(const puffin_block *block, uint32_t i)
{
    return frz_load_le16(block->data + 2 * (size_t)i);
}

static uint32_t run_start(const puffin_block *block, uint32_t i)
{
    return frz_load_le16(block->data + 4 * (size_t)i);
}

static uint32_t run_end(const puffin_block *block, uint32_t i)
{
    return run_start(block, i) + frz_load_le16(block->data + 4 * (size_t)i + 2) + 1;
}

/* The first item of a list that is not below place, of runs that does not end before it. */
static uint32_t first_item(const puffin_block *block, uint32_t place)
{
    uint32_t low = 0, high = block->items;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        bool before = block->kind == PUFFIN_LIST ? list_at(block, middle) < place
                                                 : run_end(block, middle) <= place;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

/* The first place at or after from whose bit is as asked, or PUFFIN_BLOCK. */
static uint32_t next_bit(const puffin_block *block, uint32_t from, bool value)
{
    uint64_t flip = value ? 0 : UINT64_MAX;
    uint64_t mask = UINT64_MAX << (from & 63);
    for (uint32_t word = from >> 6; word < PUFFIN_BLOCK / 64; word++, mask = UINT64_MAX) {
        uint64_t bits = (frz_load_le64(block->data + 8 * (size_t)word) ^ flip) & mask;
        if (bits != 0) {
            return 64 * word + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return PUFFIN_BLOCK;
}

/* The first run of places at or after from; false if there is none. */
static bool block_next_run(const puffin_block *block, uint32_t from, uint32_t *start, uint32_t *end)
{
    if (block->kind == PUFFIN_BITS) {
        *start = next_bit(block, from, true);
        *end = *start == PUFFIN_BLOCK ? PUFFIN_BLOCK : next_bit(block, *start, false);
        return *start < PUFFIN_BLOCK;
    }
    uint32_t i = first_item(block, from);
    if (i == block->items) {
        return false;
    }
    if (block->kind == PUFFIN_LIST) {
        *start = list_at(block, i);
        for (*end = *start + 1; i + 1 < block->items && list_at(block, i + 1) == *end; i++) {
            (*end)++;
        }
        return true;
    }
    *start = FRZ_MAX(from, run_start(block, i));
    *end = run_end(block, i);
    for (; i + 1 < block->items && run_start(block, i + 1) == *end; i++) {
        *end = run_end(block, i + 1); /* runs that touch are as good as one */
    }
    return true;
}

static bool block_has(const puffin_block *block, uint32_t place)
{
    if (block->kind == PUFFIN_BITS) {
        return frz_bit_get(block->data, place);
    }
    uint32_t i = first_item(block, place);
    return i < block->items &&
           (block->kind == PUFFIN_LIST ? list_at(block, i) == place : run_start(block, i) <= place);
}

/* ---- looking at the set ---- */

uint64_t frz_positions_count(const frz_positions *set)
{
    return set->cardinality;
}

size_t frz_positions_bytes(const frz_positions *set)
{
    return sizeof *set + set->size + set->block_capacity * sizeof *set->blocks;
}

/* The first block whose key is not below. */
static size_t first_block(const frz_positions *set, uint64_t key)
{
    size_t low = 0, high = set->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->blocks[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t frz_positions_last(const frz_positions *set)
{
    uint32_t place = 0;
    if (set->block_count == 0) {
        return -1;
    }
    const puffin_block *block = &set->blocks[set->block_count - 1];
    if (block->kind == PUFFIN_LIST) {
        place = list_at(block, block->items - 1);
    } else if (block->kind == PUFFIN_RUNS) {
        place = run_end(block, block->items - 1) - 1;
    } else {
        for (uint32_t start, end = 0; block_next_run(block, end, &start, &end);) {
            place = end - 1;
        }
    }
    return (int64_t)(block->key * PUFFIN_BLOCK + place);
}

bool frz_positions_has(const frz_positions *set, int64_t position)
{
    uint64_t key = (uint64_t)position / PUFFIN_BLOCK;
    uint32_t place = (uint32_t)((uint64_t)position % PUFFIN_BLOCK);
    size_t i = position < 0 ? set->block_count : first_block(set, key);
    return i < set->block_count && set->blocks[i].key == key && block_has(&set->blocks[i], place);
}

bool frz_positions_next_run(const frz_positions *set, int64_t from, frz_row_range *out)
{
    uint64_t key = (uint64_t)FRZ_MAX(from, (int64_t)0) / PUFFIN_BLOCK;
    bool found = false;
    for (size_t i = first_block(set, key); i < set->block_count; i++) {
        const puffin_block *block = &set->blocks[i];
        int64_t base = (int64_t)(block->key * PUFFIN_BLOCK);
        uint32_t start, end;
        if (found && base != out->end) {
            break;
        }
        if (!block_next_run(block, from > base ? (uint32_t)(from - base) : 0, &start, &end)) {
            continue;
        }
        if (found && start > 0) {
            break;
        }
        *out = (frz_row_range){found ? out->start : base + start, base + end};
        found = true;
        if (end < PUFFIN_BLOCK) {
            break;
        }
    }
    return found;
}

/* ---- several sets ---- */

static int compare_positions(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

frz_code frz_positions_sort(const frz_env *env, int64_t *positions, size_t count,
                            frz_positions **out, frz_error *err)
{
    size_t sorted = 1;
    while (sorted < count && positions[sorted - 1] <= positions[sorted]) {
        sorted++;
    }
    if (sorted < count) {
        qsort(positions, count, sizeof *positions, compare_positions);
    }
    return frz_positions_of(env, positions, count, out, err);
}

/* A union in the making, block by block. */
typedef struct union_maker {
    const frz_positions *const *sets;
    size_t count;
    size_t *at; /* next block of each set */
    frz_positions *out;
    frz_buf bytes; /* of its blocks */
    block_maker block;
    uint8_t bits[PUFFIN_BITS_BYTES];
} union_maker;

static void set_bits(const puffin_block *block, uint8_t *bits)
{
    for (uint32_t start, end = 0; block_next_run(block, end, &start, &end);) {
        frz_bitmap_fill(bits, start, end - start, true);
    }
}

static void gather_bits(block_maker *m, const uint8_t *bits)
{
    const puffin_block all = {.data = bits, .kind = PUFFIN_BITS};
    m->count = m->runs = 0;
    for (uint32_t start, end = 0; block_next_run(&all, end, &start, &end); m->runs++) {
        for (uint32_t place = start; place < end; place++) {
            m->places[m->count++] = (uint16_t)place;
        }
    }
}

/* The least key that some set has still to come, and how many have it. */
static size_t next_key(const union_maker *u, uint64_t *key)
{
    size_t having = 0;
    for (size_t i = 0; i < u->count; i++) {
        if (u->at[i] == u->sets[i]->block_count) {
            continue;
        }
        uint64_t own = u->sets[i]->blocks[u->at[i]].key;
        having = own < *key ? 1 : having + (own == *key);
        *key = FRZ_MIN(*key, own);
    }
    return having;
}

static frz_code join_blocks(union_maker *u, uint64_t key, size_t having, frz_error *err)
{
    frz_positions *out = u->out;
    puffin_block block = {.key = key};
    frz_code rc = FRZ_GROW(out->env, &out->blocks, &out->block_capacity, out->block_count, err);
    memset(u->bits, 0, sizeof u->bits);
    for (size_t i = 0; rc == FRZ_OK && i < u->count; i++) {
        const frz_positions *set = u->sets[i];
        if (u->at[i] == set->block_count || set->blocks[u->at[i]].key != key) {
            continue;
        }
        const puffin_block *own = &set->blocks[u->at[i]++];
        if (having == 1) {
            block = *own;
            rc = frz_buf_append(&u->bytes, own->data, puffin_block_size(own), err);
        } else {
            set_bits(own, u->bits);
        }
    }
    if (rc == FRZ_OK && having > 1) {
        gather_bits(&u->block, u->bits);
        rc = put_block(&u->block, &block, &u->bytes, err);
    }
    if (rc == FRZ_OK) {
        out->blocks[out->block_count++] = block;
        out->cardinality += block.cardinality;
    }
    return rc;
}

frz_code frz_positions_union(const frz_env *env, const frz_positions *const *sets, size_t count,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    union_maker *u = frz_alloc_zero(env, 1, sizeof *u);
    if (u == NULL) {
        return frz_fail_nomem(err, sizeof *u);
    }
    u->sets = sets;
    u->count = count;
    u->bytes = (frz_buf)FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    u->at = frz_alloc_zero(env, count, sizeof *u->at);
    FRZ_TRY(u->at == NULL ? frz_fail_nomem(err, count * sizeof *u->at) : FRZ_OK);
    u->out = frz_alloc_zero(env, 1, sizeof *u->out);
    FRZ_TRY(u->out == NULL ? frz_fail_nomem(err, sizeof *u->out) : FRZ_OK);
    u->out->env = env;
    for (;;) {
        uint64_t key = UINT64_MAX;
        size_t having = next_key(u, &key);
        if (having == 0) {
            break;
        }
        FRZ_TRY(join_blocks(u, key, having, err));
    }
    own_bytes(u->out, &u->bytes);
    *out = u->out;
    u->out = NULL;
out:
    frz_positions_free(u->out);
    frz_buf_reset(&u->bytes);
    frz_free(env, u->at);
    frz_free(env, u);
    return rc;
}

/* ---- clearing bits ---- */

/* The part of a window that lies in a block: places [start, end), the first of which is bit at. */
typedef struct block_window {
    uint32_t start, end;
    int64_t at;
} block_window;

static void clear_list(const puffin_block *block, const block_window *w, uint8_t *bits)
{
    for (uint32_t i = first_item(block, w->start); i < block->items; i++) {
        uint32_t place = list_at(block, i);
        if (place >= w->end) {
            break;
        }
        frz_bit_clear(bits, w->at + (place - w->start));
    }
}

static void clear_runs(const puffin_block *block, const block_window *w, uint8_t *bits)
{
    for (uint32_t i = first_item(block, w->start); i < block->items; i++) {
        uint32_t start = FRZ_MAX(run_start(block, i), w->start);
        uint32_t end = FRZ_MIN(run_end(block, i), w->end);
        if (start >= end) {
            break;
        }
        frz_bitmap_fill(bits, w->at + (start - w->start), end - start, false);
    }
}

/* Clear the bits of a word, whose bit 0 is bit at (maybe before the first) of bits. */
static void clear_word(uint8_t *bits, int64_t at, uint64_t word)
{
    if (at < 0) {
        word >>= -at; /* what is before the window was masked */
        at = 0;
    }
    unsigned shift = (unsigned)(at & 7);
    uint8_t *p = bits + (at >> 3);
    frz_store_le64(p, frz_load_le64(p) & ~(word << shift));
    if (shift > 0 && word >> (64 - shift) != 0) {
        p[8] = (uint8_t)(p[8] & ~(word >> (64 - shift)));
    }
}

static void clear_bits(const puffin_block *block, const block_window *w, uint8_t *bits)
{
    for (uint32_t i = w->start >> 6; 64 * i < w->end; i++) {
        uint64_t word = frz_load_le64(block->data + 8 * (size_t)i);
        if (64 * i < w->start) {
            word &= UINT64_MAX << (w->start & 63);
        }
        if (64 * (i + 1) > w->end) {
            word &= UINT64_MAX >> (64 * (i + 1) - w->end);
        }
        if (word != 0) {
            clear_word(bits, w->at + 64 * (int64_t)i - w->start, word);
        }
    }
}

void frz_positions_clear(const frz_positions *set, int64_t first, int64_t count, uint8_t *bits)
{
    int64_t end = first + count;
    for (size_t i = first_block(set, (uint64_t)first / PUFFIN_BLOCK); i < set->block_count; i++) {
        const puffin_block *block = &set->blocks[i];
        int64_t base = (int64_t)(block->key * PUFFIN_BLOCK);
        if (base >= end) {
            break;
        }
        block_window w = {.start = (uint32_t)(FRZ_MAX(first, base) - base),
                          .end = (uint32_t)FRZ_MIN(end - base, (int64_t)PUFFIN_BLOCK),
                          .at = FRZ_MAX(first, base) - first};
        (block->kind == PUFFIN_LIST   ? clear_list
         : block->kind == PUFFIN_RUNS ? clear_runs
                                      : clear_bits)(block, &w, bits);
    }
}

/* ---- what is left ---- */

/* Count the ranges that are left, or write them. */
static size_t left_over(const frz_positions *set, int64_t row_count, int64_t least_gap,
                        frz_row_range *out)
{
    frz_row_range run;
    size_t count = 0;
    int64_t start = 0; /* of the range that is open */
    for (int64_t at = 0; at < row_count && frz_positions_next_run(set, at, &run); at = run.end) {
        if (run.start >= row_count) {
            break;
        }
        if (run.end - run.start < least_gap) {
            continue;
        }
        if (run.start > start) {
            if (out != NULL) {
                out[count] = (frz_row_range){start, run.start};
            }
            count++;
        }
        start = run.end;
    }
    if (start < row_count) {
        if (out != NULL) {
            out[count] = (frz_row_range){start, row_count};
        }
        count++;
    }
    return count;
}

frz_code frz_positions_ranges(const frz_positions *set, int64_t row_count, int64_t least_gap,
                              frz_arena *arena, frz_row_range **out, size_t *count, frz_error *err)
{
    static const frz_positions nothing = {.cardinality = 0};
    if (set->cardinality < (uint64_t)least_gap) {
        set = &nothing; /* no run of it is long enough */
    }
    size_t n = left_over(set, row_count, least_gap, NULL);
    frz_row_range *ranges = frz_arena_array(arena, n + 1, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, n * sizeof *ranges);
    }
    *count = left_over(set, row_count, least_gap, ranges);
    *out = ranges;
    return FRZ_OK;
}
