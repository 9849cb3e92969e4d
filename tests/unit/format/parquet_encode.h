/*
 * Pages made by hand for tests: numbers in a few bits, runs, deltas in blocks of any shape. Simple,
 * slow, and apart from the writer's code.
 */
#ifndef FRZ_TEST_PARQUET_ENCODE_H
#define FRZ_TEST_PARQUET_ENCODE_H

#include <stdlib.h>

#include "format/parquet/parquet_read.h"

#define PAGE_ROOM (1u << 20)

typedef struct page {
    uint8_t *bytes;
    size_t len;
} page;

static inline void page_init(page *p)
{
    *p = (page){calloc(1, PAGE_ROOM + PARQUET_SLACK), 0};
    assert_non_null(p->bytes);
}

static inline void page_reset(page *p)
{
    free(p->bytes);
    *p = (page){NULL, 0};
}

/* A copy of exactly the bytes and the slack, so that a sanitizer sees more; free. */
static inline uint8_t *page_exact(const page *p)
{
    uint8_t *copy = malloc(p->len + PARQUET_SLACK);
    assert_non_null(copy);
    memcpy(copy, p->bytes, p->len);
    memset(copy + p->len, 0xA5, PARQUET_SLACK);
    return copy;
}

static inline void put(page *p, const void *bytes, size_t len)
{
    assert_true(len <= PAGE_ROOM - p->len);
    if (len > 0) {
        memcpy(p->bytes + p->len, bytes, len);
    }
    p->len += len;
}

static inline void put_byte(page *p, unsigned byte)
{
    uint8_t one = (uint8_t)byte;
    put(p, &one, 1);
}

static inline void put_le32(page *p, uint32_t value)
{
    put(p, &value, sizeof value);
}

static inline void put_varint(page *p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        put_byte(p, (unsigned)(value & 0x7F) | 0x80);
    }
    put_byte(p, (unsigned)value);
}

static inline void put_zigzag(page *p, int64_t value)
{
    put_varint(p, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* count values of width bits, least significant bit first. */
static inline void put_bits(page *p, const uint64_t *values, size_t count, unsigned width)
{
    size_t bytes = (count * width + 7) / 8;
    uint8_t *to = p->bytes + p->len;
    assert_true(bytes <= PAGE_ROOM - p->len);
    memset(to, 0, bytes);
    for (size_t i = 0; i < count * width; i++) {
        to[i / 8] |= (uint8_t)((values[i / width] >> i % width & 1) << i % 8);
    }
    p->len += bytes;
}

static inline unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* DELTA_BINARY_PACKED. Miniblocks behind the last value have a width that means nothing. */
static inline void put_deltas(page *p, const int64_t *values, size_t count, size_t block,
                              size_t minis)
{
    size_t each = block / minis;
    uint64_t *deltas = calloc(block, sizeof *deltas);
    assert_non_null(deltas);
    put_varint(p, block);
    put_varint(p, minis);
    put_varint(p, count);
    put_zigzag(p, count == 0 ? 0 : values[0]);
    for (size_t at = 1; at < count; at += block) {
        size_t n = FRZ_MIN(block, count - at);
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < n; i++) {
            deltas[i] = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
            least = FRZ_MIN(least, (int64_t)deltas[i]);
        }
        put_zigzag(p, least);
        size_t widths = p->len;
        p->len += minis;
        for (size_t m = 0; m < minis; m++) {
            uint64_t all = 0;
            size_t some = m * each < n ? FRZ_MIN(each, n - m * each) : 0;
            for (size_t i = 0; i < some; i++) {
                deltas[m * each + i] -= (uint64_t)least;
                all |= deltas[m * each + i];
            }
            memset(deltas + m * each + some, 0, (each - some) * sizeof *deltas);
            p->bytes[widths + m] = some == 0 ? 77 : (uint8_t)bits_of(all);
            if (some > 0) {
                put_bits(p, deltas + m * each, each, bits_of(all));
            }
        }
    }
    free(deltas);
}

#endif
