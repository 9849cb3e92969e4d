/*
 * The RLE / bit-packed hybrid, which holds levels, dictionary indices and RLE booleans, and the
 * deprecated BIT_PACKED order of levels. spec: Encodings, RLE / Bit-Packing Hybrid
 *
 * A bit-packed run may claim more groups than bytes follow (some writers cut the last group); it
 * then holds as many values as the bytes do. A repeated value that its bits cannot hold ends the
 * runs.
 */
#include "arrow/arrow_array.h"
#include "format/parquet/parquet_read.h"

unsigned parquet_bit_width(uint32_t max)
{
    return max == 0 ? 0 : 32 - (unsigned)__builtin_clz(max);
}

void parquet_hybrid_init(parquet_hybrid *h, const parquet_kernels *kernels, const uint8_t *bytes,
                         size_t len, unsigned width)
{
    *h = (parquet_hybrid){.kernels = kernels, .at = bytes, .end = bytes + len, .width = width};
}

void parquet_hybrid_init_msb(parquet_hybrid *h, const parquet_kernels *kernels,
                             const uint8_t *bytes, size_t len, unsigned width, uint64_t count)
{
    *h =
        (parquet_hybrid){.kernels = kernels, .at = bytes + len, .end = bytes + len, .width = width};
    h->msb_first = true;
    h->packed = bytes;
    h->packed_left = width == 0 ? count : FRZ_MIN(count, (uint64_t)len * 8 / width);
}

/* ---- runs ---- */

static bool read_run_header(parquet_hybrid *h, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 35 && h->at < h->end; shift += 7) {
        uint8_t byte = *h->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            *out = value;
            return true;
        }
    }
    h->at = h->end;
    return false;
}

static bool begin_packed(parquet_hybrid *h, uint64_t groups)
{
    size_t left = (size_t)(h->end - h->at);
    uint64_t bytes = groups * h->width;
    h->packed = h->at;
    h->packed_at = 0;
    h->packed_left = groups * 8;
    if (bytes > left) {
        h->packed_left = (uint64_t)left * 8 / h->width;
        bytes = left;
    }
    h->at += bytes;
    return true;
}

static bool begin_repeated(parquet_hybrid *h, uint64_t count)
{
    size_t bytes = (h->width + 7) / 8;
    if ((size_t)(h->end - h->at) < bytes) {
        h->at = h->end;
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)h->at[i] << (8 * i);
    }
    h->at += bytes;
    if (value >> h->width != 0) {
        h->at = h->end;
        return false;
    }
    h->value = (uint32_t)value;
    h->repeated = count;
    return true;
}

/* Make sure that a run with values is at hand; false at the end. */
static bool next_run(parquet_hybrid *h)
{
    while (h->repeated == 0 && h->packed_left == 0) {
        uint64_t header;
        if (!read_run_header(h, &header)) {
            return false;
        }
        bool ok = (header & 1) != 0 ? begin_packed(h, header >> 1) : begin_repeated(h, header >> 1);
        if (!ok) {
            return false;
        }
    }
    return true;
}

static void take_packed(parquet_hybrid *h, size_t n)
{
    h->packed_at += n;
    h->packed_left -= n;
}

/* ---- bits ---- */

static uint32_t msb_value(const parquet_hybrid *h, uint64_t i)
{
    uint32_t value = 0;
    uint64_t bit = i * h->width;
    for (unsigned b = 0; b < h->width; b++, bit++) {
        value = value << 1 | ((uint32_t)h->packed[bit >> 3] >> (7 - (bit & 7)) & 1u);
    }
    return value;
}

/* Values up to the next byte boundary of the run at hand, at most n. */
static size_t ragged(const parquet_hybrid *h, size_t n)
{
    size_t over = (size_t)(h->packed_at & 7);
    return over == 0 ? 0 : FRZ_MIN(8 - over, n);
}

static uint32_t packed_value(const parquet_hybrid *h, uint64_t i)
{
    uint64_t bit = i * h->width;
    uint64_t mask = (UINT64_C(1) << h->width) - 1;
    return (uint32_t)(frz_load_le64(h->packed + (bit >> 3)) >> (bit & 7) & mask);
}

static void unpack_u32(const parquet_hybrid *h, uint32_t *out, size_t n)
{
    if (h->width == 0) {
        memset(out, 0, n * sizeof *out);
        return;
    }
    size_t head = ragged(h, n);
    for (size_t i = 0; i < head; i++) {
        out[i] = packed_value(h, h->packed_at + i);
    }
    const uint8_t *at = h->packed + (h->packed_at + head) * h->width / 8;
    h->kernels->unpack_u32(at, h->width, n - head, out + head);
}

static void unpack_u8(const parquet_hybrid *h, uint8_t *out, size_t n)
{
    if (h->msb_first) {
        for (size_t i = 0; i < n; i++) {
            out[i] = (uint8_t)msb_value(h, h->packed_at + i);
        }
        return;
    }
    if (h->width == 0) {
        memset(out, 0, n);
        return;
    }
    size_t head = ragged(h, n);
    for (size_t i = 0; i < head; i++) {
        out[i] = (uint8_t)packed_value(h, h->packed_at + i);
    }
    const uint8_t *at = h->packed + (h->packed_at + head) * h->width / 8;
    h->kernels->unpack_u8(at, h->width, n - head, out + head);
}

/* ---- reading ---- */

size_t parquet_hybrid_u32(parquet_hybrid *h, uint32_t *out, size_t n)
{
    size_t done = 0;
    while (done < n && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, n - done);
            for (size_t i = 0; i < take; i++) {
                out[done + i] = h->value;
            }
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(h->packed_left, n - done);
            unpack_u32(h, out + done, take);
            take_packed(h, take);
        }
        done += take;
    }
    return done;
}

size_t parquet_hybrid_u8(parquet_hybrid *h, uint8_t *out, size_t n)
{
    assert(h->width <= 8);
    size_t done = 0;
    while (done < n && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, n - done);
            memset(out + done, (int)h->value, take);
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(h->packed_left, n - done);
            unpack_u8(h, out + done, take);
            take_packed(h, take);
        }
        done += take;
    }
    return done;
}

/* ---- reading bits ---- */

#define WORD_BITS 56 /* fit a word behind 7 others */

/* Bits gather in a word, whose lowest belong to the byte at to. */
typedef struct bit_writer {
    uint8_t *to;
    uint64_t word;
    unsigned held; /* bits of word, fewer than 8 */
} bit_writer;

/* Append n bits, at most WORD_BITS; the other bits of value are 0. */
static inline void write_bits(bit_writer *w, uint64_t value, unsigned n)
{
    w->word |= value << w->held;
    frz_store_le64(w->to, w->word);
    w->held += n;
    unsigned bytes = w->held / 8;
    w->to += bytes;
    w->word >>= 8 * bytes;
    w->held &= 7;
}

static void write_repeated(bit_writer *w, bool value, size_t n)
{
    uint64_t ones = value ? (UINT64_C(1) << WORD_BITS) - 1 : 0;
    for (; n > WORD_BITS; n -= WORD_BITS) {
        write_bits(w, ones, WORD_BITS);
    }
    write_bits(w, ones >> (WORD_BITS - n), (unsigned)n);
}

static void write_packed(bit_writer *w, const uint8_t *packed, uint64_t bit, size_t n)
{
    while (n > 0) {
        size_t take = FRZ_MIN(n, (size_t)WORD_BITS);
        uint64_t word = frz_load_le64(packed + (bit >> 3)) >> (bit & 7);
        write_bits(w, word & ((UINT64_C(1) << take) - 1), (unsigned)take);
        bit += take;
        n -= take;
    }
}

static void write_msb(bit_writer *w, const parquet_hybrid *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        write_bits(w, msb_value(h, h->packed_at + i), 1);
    }
}

size_t parquet_hybrid_bits(parquet_hybrid *h, uint8_t *bits, int64_t first, size_t n)
{
    assert(h->width == 1);
    size_t done = 0;
    bit_writer w = {.to = bits + (first >> 3), .held = (unsigned)(first & 7)};
    w.word = *w.to & ((1u << w.held) - 1);
    while (done < n && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, n - done);
            write_repeated(&w, h->value != 0, take);
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(h->packed_left, n - done);
            if (h->msb_first) {
                write_msb(&w, h, take);
            } else {
                write_packed(&w, h->packed, h->packed_at, take);
            }
            take_packed(h, take);
        }
        done += take;
    }
    return done;
}

size_t parquet_hybrid_skip(parquet_hybrid *h, size_t n)
{
    size_t done = 0;
    while (done < n && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, n - done);
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(h->packed_left, n - done);
            take_packed(h, take);
        }
        done += take;
    }
    return done;
}

int64_t parquet_hybrid_count(parquet_hybrid *h, uint8_t value, int64_t n)
{
    uint8_t packed[512];
    int64_t count = 0;
    while (n > 0 && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, (uint64_t)n);
            count += h->value == value ? (int64_t)take : 0;
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(FRZ_MIN(h->packed_left, (uint64_t)n), sizeof packed);
            unpack_u8(h, packed, take);
            count += (int64_t)parquet_count_u8(packed, take, value);
            take_packed(h, take);
        }
        n -= (int64_t)take;
    }
    return n > 0 ? -1 : count;
}

uint64_t parquet_hybrid_repeated(parquet_hybrid *h, uint32_t *value)
{
    if (!next_run(h)) {
        return 0;
    }
    *value = h->value;
    return h->repeated;
}

uint64_t parquet_hybrid_run_of(parquet_hybrid *h, uint32_t value)
{
    return next_run(h) && h->repeated > 0 && h->value == value ? h->repeated : 0;
}
