/*
 * DELTA_BINARY_PACKED, also the lengths of the other delta encodings. Values are numbers modulo
 * 2^64; INT32 columns keep the low half. spec: Encodings, Delta Encoding
 *
 * A page is a header (block size, miniblocks per block, count, first value) and blocks; a block is
 * its smallest delta, a bit width per miniblock, and the miniblocks. Miniblocks behind the last
 * value have no bytes, whatever their width says. The last one that has values may be cut behind
 * them.
 */
#include "format/parquet/parquet_read.h"

#define MOST_BLOCK (1u << 30)
#define PIECE PARQUET_DELTA_PIECE /* a multiple of 8, so that pieces begin with a byte */

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

bool parquet_delta_init(parquet_delta *d, const parquet_kernels *kernels, const uint8_t *bytes,
                        size_t len, uint64_t most)
{
    uint64_t block, minis;
    *d = (parquet_delta){.kernels = kernels, .at = bytes, .end = bytes + len, .first = true};
    if (!read_varint(d, &block) || !read_varint(d, &minis) || !read_varint(d, &d->total) ||
        !read_zigzag(d, &d->last)) {
        return false;
    }
    if (minis == 0 || block == 0 || block > MOST_BLOCK || block % minis != 0 ||
        block / minis % 8 != 0 || d->total > most) {
        return false;
    }
    d->left = d->total;
    d->mini_count = (size_t)minis;
    d->mini_values = (size_t)(block / minis);
    d->mini = d->mini_count;
    return true;
}

/* ---- blocks and miniblocks ---- */

static bool next_block(parquet_delta *d)
{
    if (!read_zigzag(d, &d->least) || (size_t)(d->end - d->at) < d->mini_count) {
        return false;
    }
    d->widths = d->at;
    d->at += d->mini_count;
    d->mini = 0;
    return true;
}

/* Bytes of the miniblock at hand that are there. */
static size_t mini_bytes(const parquet_delta *d)
{
    size_t whole = d->mini_values / 8 * d->widths[d->mini];
    return FRZ_MIN(whole, (size_t)(d->end - d->at));
}

/* The next miniblock becomes the one at hand; left values follow, at least one. */
static bool next_mini(parquet_delta *d, uint64_t left)
{
    if (d->mini < d->mini_count) {
        d->at += mini_bytes(d);
        d->mini++;
    }
    if (d->mini == d->mini_count && !next_block(d)) {
        return false;
    }
    unsigned width = d->widths[d->mini];
    d->mini_left = d->mini_values;
    d->mini_at = 0;
    uint64_t needed = (FRZ_MIN(left, (uint64_t)d->mini_values) * width + 7) / 8;
    return width <= 64 && needed <= (uint64_t)(d->end - d->at) &&
           (left <= d->mini_values || mini_bytes(d) == d->mini_values / 8 * width);
}

/* ---- values ---- */

static uint64_t unpack_one(const uint8_t *in, uint64_t bit, unsigned width)
{
    const uint8_t *p = in + (bit >> 3);
    unsigned shift = (unsigned)(bit & 7);
    uint64_t value = frz_load_le64(p) >> shift;
    if (width + shift > 64) {
        value |= (uint64_t)p[8] << (64 - shift);
    }
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

void parquet_unpack_u64(const parquet_kernels *kernels, const uint8_t *in, unsigned width, size_t n,
                        uint64_t *out)
{
    if (width > 32) {
        for (size_t i = 0; i < n; i++) {
            out[i] = unpack_one(in, i * width, width);
        }
        return;
    }
    uint32_t numbers[PIECE] = {0};
    for (size_t i = 0; i < n; i += PIECE) {
        size_t take = FRZ_MIN(n - i, (size_t)PIECE);
        if (width > 0) {
            kernels->unpack_u32(in + i / 8 * width, width, take, numbers);
        }
        for (size_t k = 0; k < take; k++) {
            out[i + k] = numbers[k];
        }
    }
}

/* The next n values of the miniblock at hand, at most a piece. */
static void unpack_piece(parquet_delta *d, size_t n, uint64_t *out)
{
    const uint8_t *in = d->at + d->mini_at;
    unsigned width = d->widths[d->mini];
    uint64_t last = d->last;
    if (width == 0) {
        for (size_t i = 0; i < n; i++) {
            last += d->least;
            out[i] = last;
        }
    } else if (width <= 32) {
        uint32_t deltas[PIECE];
        d->kernels->unpack_u32(in, width, n, deltas);
        for (size_t i = 0; i < n; i++) {
            last += d->least + deltas[i];
            out[i] = last;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            last += d->least + unpack_one(in, i * width, width);
            out[i] = last;
        }
    }
    d->last = last;
    d->mini_at += n * width / 8;
    d->mini_left -= n;
    d->left -= n;
}

/* Up to a piece of values to a place that has room for one; 0 at the end. */
static size_t next_piece(parquet_delta *d, uint64_t *out)
{
    if (d->left == 0) {
        return 0;
    }
    if (d->first) {
        d->first = false;
        d->left--;
        out[0] = d->last;
        return 1;
    }
    if (d->mini_left == 0 && !next_mini(d, d->left)) {
        d->left = 0; /* stays failed */
        return 0;
    }
    size_t n = (size_t)FRZ_MIN(d->left, (uint64_t)FRZ_MIN(d->mini_left, (size_t)PIECE));
    unpack_piece(d, n, out);
    return n;
}

size_t parquet_delta_read(parquet_delta *d, uint64_t *out, size_t n)
{
    size_t done = 0;
    while (done < n) {
        if (d->ready_at == d->ready_count) {
            bool direct = n - done >= PIECE;
            size_t got = next_piece(d, direct ? out + done : d->ready);
            if (got == 0) {
                break;
            }
            d->ready_at = 0;
            d->ready_count = direct ? 0 : got;
            done += direct ? got : 0;
            continue;
        }
        size_t take = FRZ_MIN(n - done, d->ready_count - d->ready_at);
        memcpy(out + done, d->ready + d->ready_at, take * sizeof *out);
        d->ready_at += take;
        done += take;
    }
    return done;
}

const uint8_t *parquet_delta_end(const parquet_delta *d)
{
    parquet_delta walk = *d;
    uint64_t left = walk.left;
    if (walk.first && left > 0) {
        left--;
    }
    left -= FRZ_MIN(left, (uint64_t)walk.mini_left);
    while (left > 0) {
        if (!next_mini(&walk, left)) {
            return NULL;
        }
        left -= FRZ_MIN(left, (uint64_t)walk.mini_values);
    }
    return walk.mini < walk.mini_count ? walk.at + mini_bytes(&walk) : walk.at;
}
