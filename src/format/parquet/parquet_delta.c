/*
 * DELTA_BINARY_PACKED, also the lengths of the other delta encodings. Values are numbers modulo
 * 2^64; INT32 columns keep the low half. spec: Encodings, Delta Encoding
 *
 * A page is a header (block size, miniblocks per block, count, first value) and blocks; a block is
 * its smallest delta, a bit width per miniblock, and the miniblocks. Miniblocks behind the last
 * value have no bytes.
 */
#include "format/parquet/parquet_read.h"

static bool read_varint(parquet_delta *d, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && d->at < d->end; shift += 7) {
        uint8_t byte = *d->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    return false;
}

static bool read_zigzag(parquet_delta *d, uint64_t *out)
{
    uint64_t value;
    if (!read_varint(d, &value)) {
        return false;
    }
    *out = (value >> 1) ^ (0 - (value & 1));
    return true;
}

bool parquet_delta_init(parquet_delta *d, const uint8_t *bytes, size_t len)
{
    uint64_t block, minis;
    *d = (parquet_delta){.at = bytes, .end = bytes + len, .first = true};
    if (!read_varint(d, &block) || !read_varint(d, &minis) || !read_varint(d, &d->total) ||
        !read_zigzag(d, &d->last)) {
        return false;
    }
    if (minis == 0 || minis > sizeof d->widths || block == 0 || block > (1u << 30) ||
        block % minis != 0 || block / minis % 8 != 0 || d->total > INT32_MAX) {
        return false;
    }
    d->left = d->total;
    d->block_values = (size_t)block;
    d->mini_count = (size_t)minis;
    d->mini_values = (size_t)(block / minis);
    d->mini = d->mini_count;
    return true;
}

/* Bytes of the miniblock at hand. */
static size_t mini_bytes(const parquet_delta *d)
{
    return d->mini_values / 8 * d->widths[d->mini];
}

static bool next_block(parquet_delta *d)
{
    if (!read_zigzag(d, &d->least) || (size_t)(d->end - d->at) < d->mini_count) {
        return false;
    }
    memcpy(d->widths, d->at, d->mini_count);
    d->at += d->mini_count;
    d->mini = 0;
    return true;
}

/* The next miniblock becomes the one at hand. */
static bool next_mini(parquet_delta *d)
{
    if (d->mini < d->mini_count) {
        d->at += mini_bytes(d);
        d->mini++;
    }
    if (d->mini == d->mini_count && !next_block(d)) {
        return false;
    }
    size_t bytes = mini_bytes(d);
    size_t left = (size_t)(d->end - d->at);
    d->mini_left = d->mini_values;
    d->mini_bit = 0;
    if (d->widths[d->mini] > 64) {
        return false;
    }
    if (bytes > left) {
        /* the last miniblock may be cut behind the last value */
        uint64_t needed = (d->left * d->widths[d->mini] + 7) / 8;
        if (d->left > d->mini_values || needed > left) {
            return false;
        }
    }
    return true;
}

static uint64_t unpack_one(const parquet_delta *d, unsigned width)
{
    const uint8_t *p = d->at + (d->mini_bit >> 3);
    unsigned shift = (unsigned)(d->mini_bit & 7);
    uint64_t value = frz_load_le64(p) >> shift;
    if (width + shift > 64) {
        value |= (uint64_t)p[8] << (64 - shift);
    }
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

size_t parquet_delta_read(parquet_delta *d, uint64_t *out, size_t n)
{
    size_t done = 0;
    n = (size_t)FRZ_MIN(n, d->left);
    if (n > 0 && d->first) {
        d->first = false;
        d->left--;
        out[done++] = d->last;
    }
    while (done < n) {
        if (d->mini_left == 0 && !next_mini(d)) {
            d->left = d->mini_left = 0; /* stays failed */
            return done;
        }
        unsigned width = d->widths[d->mini];
        size_t take = FRZ_MIN(n - done, d->mini_left);
        for (size_t i = 0; i < take; i++) {
            uint64_t delta = width == 0 ? 0 : unpack_one(d, width);
            d->mini_bit += width;
            d->last += d->least + delta;
            out[done + i] = d->last;
        }
        done += take;
        d->mini_left -= take;
        d->left -= take;
    }
    return done;
}

const uint8_t *parquet_delta_end(const parquet_delta *d)
{
    if (d->mini >= d->mini_count) {
        return d->at;
    }
    size_t left = (size_t)(d->end - d->at);
    return d->at + FRZ_MIN(mini_bytes(d), left);
}
