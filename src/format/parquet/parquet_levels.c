/*
 * The RLE / bit-packed hybrid, which holds levels, dictionary indices and RLE booleans, and the
 * deprecated BIT_PACKED order of levels. spec: Encodings, RLE / Bit-Packing Hybrid
 *
 * A bit-packed run may claim more groups than bytes follow (some writers cut the last group); it
 * then holds as many values as the bytes do.
 */
#include "arrow/arrow_array.h"
#include "format/parquet/parquet_read.h"

unsigned parquet_bit_width(uint32_t max)
{
    return max == 0 ? 0 : 32 - (unsigned)__builtin_clz(max);
}

void parquet_hybrid_init(parquet_hybrid *h, const uint8_t *bytes, size_t len, unsigned width)
{
    *h = (parquet_hybrid){.at = bytes, .end = bytes + len, .width = width};
}

void parquet_hybrid_init_msb(parquet_hybrid *h, const uint8_t *bytes, size_t len, unsigned width,
                             uint64_t count)
{
    *h = (parquet_hybrid){.at = bytes + len, .end = bytes + len, .width = width};
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
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint32_t)h->at[i] << (8 * i);
    }
    h->at += bytes;
    h->value = value;
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

static void unpack_u32(const parquet_hybrid *h, uint32_t *out, size_t n)
{
    if (h->width == 0) {
        memset(out, 0, n * sizeof *out);
        return;
    }
    uint64_t mask = (UINT64_C(1) << h->width) - 1;
    uint64_t bit = h->packed_at * h->width;
    for (size_t i = 0; i < n; i++, bit += h->width) {
        out[i] = (uint32_t)(frz_load_le64(h->packed + (bit >> 3)) >> (bit & 7) & mask);
    }
}

static void unpack_u8(const parquet_hybrid *h, uint8_t *out, size_t n)
{
    if (h->msb_first) {
        for (size_t i = 0; i < n; i++) {
            out[i] = (uint8_t)msb_value(h, h->packed_at + i);
        }
        return;
    }
    uint32_t mask = (1u << h->width) - 1;
    uint64_t bit = h->packed_at * h->width;
    for (size_t i = 0; i < n; i++, bit += h->width) {
        out[i] = (uint8_t)((uint32_t)frz_load_le16(h->packed + (bit >> 3)) >> (bit & 7) & mask);
    }
}

static void unpack_bits(const parquet_hybrid *h, uint8_t *bits, int64_t first, size_t n)
{
    if (!h->msb_first) {
        frz_bitmap_copy(h->packed, (int64_t)h->packed_at, (int64_t)n, bits, first);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        frz_bit_put(bits, first + (int64_t)i, msb_value(h, h->packed_at + i) != 0);
    }
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

size_t parquet_hybrid_bits(parquet_hybrid *h, uint8_t *bits, int64_t first, size_t n)
{
    assert(h->width == 1);
    size_t done = 0;
    while (done < n && next_run(h)) {
        size_t take;
        if (h->repeated > 0) {
            take = (size_t)FRZ_MIN(h->repeated, n - done);
            frz_bitmap_fill(bits, first + (int64_t)done, (int64_t)take, h->value != 0);
            h->repeated -= take;
        } else {
            take = (size_t)FRZ_MIN(h->packed_left, n - done);
            unpack_bits(h, bits, first + (int64_t)done, take);
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

uint64_t parquet_hybrid_run_of(parquet_hybrid *h, uint32_t value)
{
    return next_run(h) && h->repeated > 0 && h->value == value ? h->repeated : 0;
}
