/*
 * Serialised roaring bitmaps of 32-bit values, the portable form. Every container is checked as it
 * is found: order, cardinality, its recorded offset. docs/decisions/0006-roaring.md
 *
 * spec: RoaringFormatSpec
 */
#include "format/puffin/puffin_internal.h"

#define COOKIE_PLAIN 12346 /* no runs; the number of containers follows */
#define COOKIE_RUNS 12347  /* in the lower 16 bits, number of containers - 1 in the upper */
#define MAX_CONTAINERS 65536
#define NO_OFFSETS_BELOW 4 /* with runs, fewer containers than that have no offsets */

/* ---- reading ---- */

typedef struct roaring_head {
    size_t start; /* of the bitmap, which offsets count from */
    uint32_t count;
    const uint8_t *run_flags; /* a bit per container, or NULL */
    const uint8_t *keys;      /* per container: key, cardinality - 1 */
    const uint8_t *offsets;   /* per container, or NULL */
} roaring_head;

static frz_code corrupt(const frz_cursor *c, frz_error *err, const char *what)
{
    return frz_fail_at(err, FRZ_E_CORRUPT, c->at, "broken roaring bitmap: %s", what);
}

static frz_code read_count(frz_cursor *c, roaring_head *head, bool *has_runs, frz_error *err)
{
    const uint8_t *p = frz_cursor_take(c, 4);
    if (p == NULL) {
        return corrupt(c, err, "its cookie is cut off");
    }
    uint32_t cookie = frz_load_le32(p);
    *has_runs = (cookie & 0xffff) == COOKIE_RUNS;
    if (*has_runs) {
        head->count = (cookie >> 16) + 1;
        return FRZ_OK;
    }
    if (cookie != COOKIE_PLAIN) {
        return frz_fail_at(err, FRZ_E_CORRUPT, head->start,
                           "broken roaring bitmap: cookie %u, expected %d or %d", cookie,
                           COOKIE_PLAIN, COOKIE_RUNS);
    }
    p = frz_cursor_take(c, 4);
    if (p == NULL) {
        return corrupt(c, err, "its number of containers is cut off");
    }
    head->count = frz_load_le32(p);
    return head->count > MAX_CONTAINERS ? corrupt(c, err, "more than 65536 containers") : FRZ_OK;
}

static frz_code read_head(frz_cursor *c, roaring_head *head, frz_error *err)
{
    bool has_runs = false;
    *head = (roaring_head){.start = c->at};
    frz_code rc = read_count(c, head, &has_runs, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (has_runs) {
        head->run_flags = frz_cursor_take(c, (head->count + 7) / 8);
        if (head->run_flags == NULL) {
            return corrupt(c, err, "its flags of runs are cut off");
        }
    }
    head->keys = frz_cursor_take(c, 4 * (size_t)head->count);
    if (head->keys == NULL) {
        return corrupt(c, err, "its keys are cut off");
    }
    if (!has_runs || head->count >= NO_OFFSETS_BELOW) {
        head->offsets = frz_cursor_take(c, 4 * (size_t)head->count);
        if (head->offsets == NULL) {
            return corrupt(c, err, "its offsets are cut off");
        }
    }
    return FRZ_OK;
}

static frz_code read_list(frz_cursor *c, puffin_block *block, frz_error *err)
{
    block->kind = PUFFIN_LIST;
    block->items = block->cardinality;
    block->data = frz_cursor_take(c, 2 * (size_t)block->items);
    if (block->data == NULL) {
        return corrupt(c, err, "a list of positions is cut off");
    }
    for (uint32_t i = 1; i < block->items; i++) {
        if (frz_load_le16(block->data + 2 * i) <= frz_load_le16(block->data + 2 * i - 2)) {
            return corrupt(c, err, "a list of positions does not ascend");
        }
    }
    return FRZ_OK;
}

static frz_code read_bits(frz_cursor *c, puffin_block *block, frz_error *err)
{
    block->kind = PUFFIN_BITS;
    block->data = frz_cursor_take(c, PUFFIN_BITS_BYTES);
    if (block->data == NULL) {
        return corrupt(c, err, "a container of bits is cut off");
    }
    if (frz_bitmap_count(block->data, 0, PUFFIN_BLOCK) != block->cardinality) {
        return corrupt(c, err, "a container has another number of bits than it says");
    }
    return FRZ_OK;
}

static frz_code read_runs(frz_cursor *c, puffin_block *block, frz_error *err)
{
    const uint8_t *p = frz_cursor_take(c, 2);
    uint32_t end = 0, cardinality = 0; /* of the runs so far */
    block->kind = PUFFIN_RUNS;
    block->items = p == NULL ? 0 : frz_load_le16(p);
    block->data = p == NULL ? NULL : frz_cursor_take(c, 4 * (size_t)block->items);
    if (block->data == NULL) {
        return corrupt(c, err, "a list of runs is cut off");
    }
    for (uint32_t i = 0; i < block->items; i++) {
        uint32_t start = frz_load_le16(block->data + 4 * (size_t)i);
        uint32_t length = (uint32_t)frz_load_le16(block->data + 4 * (size_t)i + 2) + 1;
        if (i > 0 && start < end) {
            return corrupt(c, err, "runs overlap or do not ascend");
        }
        end = start + length;
        cardinality += length;
        if (end > PUFFIN_BLOCK) {
            return corrupt(c, err, "a run ends behind its container");
        }
    }
    return cardinality != block->cardinality
               ? corrupt(c, err, "runs hold another number of positions than their container says")
               : FRZ_OK;
}

static frz_code read_container(frz_cursor *c, const roaring_head *head, uint32_t i, uint64_t high,
                               puffin_block *block, frz_error *err)
{
    const uint8_t *key = head->keys + 4 * (size_t)i;
    *block = (puffin_block){.key = high << 16 | frz_load_le16(key),
                            .cardinality = (uint32_t)frz_load_le16(key + 2) + 1};
    if (i > 0 && frz_load_le16(key) <= frz_load_le16(key - 4)) {
        return corrupt(c, err, "keys of containers do not ascend");
    }
    if (head->offsets != NULL &&
        frz_load_le32(head->offsets + 4 * (size_t)i) != c->at - head->start) {
        return corrupt(c, err, "a container is not at its offset");
    }
    if (head->run_flags != NULL && frz_bit_get(head->run_flags, i)) {
        return read_runs(c, block, err);
    }
    return block->cardinality <= PUFFIN_LIST_MAX ? read_list(c, block, err)
                                                 : read_bits(c, block, err);
}

frz_code puffin_roaring_read(frz_cursor *c, uint64_t high, frz_positions *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    roaring_head head;
    FRZ_TRY(read_head(c, &head, err));
    for (uint32_t i = 0; i < head.count; i++) {
        FRZ_TRY(FRZ_GROW(set->env, &set->blocks, &set->block_capacity, set->block_count, err));
        puffin_block *block = &set->blocks[set->block_count];
        FRZ_TRY(read_container(c, &head, i, high, block, err));
        set->cardinality += block->cardinality;
        set->block_count++;
    }
out:
    return rc;
}

/* ---- writing ---- */

static bool any_runs(const puffin_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].kind == PUFFIN_RUNS) {
            return true;
        }
    }
    return false;
}

static frz_code put16(frz_buf *out, size_t value, frz_error *err)
{
    const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};
    return frz_buf_append(out, bytes, sizeof bytes, err);
}

static frz_code put32(frz_buf *out, size_t value, frz_error *err)
{
    uint8_t bytes[4];
    frz_store_le32(bytes, (uint32_t)value);
    return frz_buf_append(out, bytes, sizeof bytes, err);
}

static frz_code write_cookie(const puffin_block *blocks, size_t count, bool runs, frz_buf *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!runs) {
        FRZ_TRY(put32(out, COOKIE_PLAIN, err));
        return put32(out, count, err);
    }
    FRZ_TRY(put32(out, COOKIE_RUNS | (count - 1) << 16, err));
    for (size_t i = 0; i < count; i += 8) {
        uint8_t flags = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++) {
            flags = (uint8_t)(flags | (blocks[i + k].kind == PUFFIN_RUNS) << k);
        }
        FRZ_TRY(frz_buf_append_byte(out, flags, err));
    }
out:
    return rc;
}

static size_t written_size(const puffin_block *block)
{
    return puffin_block_size(block) + (block->kind == PUFFIN_RUNS ? 2 : 0);
}

static frz_code write_offsets(const puffin_block *blocks, size_t count, size_t start, frz_buf *out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t at = out->len - start + 4 * count;
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(put32(out, at, err));
        at += written_size(&blocks[i]);
    }
out:
    return rc;
}

frz_code puffin_roaring_write(const puffin_block *blocks, size_t count, frz_buf *out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t start = out->len;
    bool runs = any_runs(blocks, count);
    FRZ_TRY(write_cookie(blocks, count, runs, out, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(put16(out, blocks[i].key & 0xffff, err));
        FRZ_TRY(put16(out, blocks[i].cardinality - 1, err));
    }
    if (!runs || count >= NO_OFFSETS_BELOW) {
        FRZ_TRY(write_offsets(blocks, count, start, out, err));
    }
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].kind == PUFFIN_RUNS) {
            FRZ_TRY(put16(out, blocks[i].items, err));
        }
        FRZ_TRY(frz_buf_append(out, blocks[i].data, puffin_block_size(&blocks[i]), err));
    }
out:
    return rc;
}
