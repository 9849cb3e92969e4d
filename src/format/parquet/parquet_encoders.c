/*
 * Value and level encodings: the RLE / bit-packed hybrid, packed booleans, DELTA_BINARY_PACKED and
 * BYTE_STREAM_SPLIT. Input is values as memory holds them, output is appended to a buffer.
 */
#include "format/parquet/parquet_write.h"

#define PACK_GROUP 8 /* values of a bit-packed group */
#define VARINT_MAX 10
#define SPLIT_BLOCK 128

unsigned parquet_encode_width(uint32_t max)
{
    return max == 0 ? 0 : 32u - (unsigned)__builtin_clz(max);
}

static size_t store_varint(uint8_t *out, uint64_t value)
{
    size_t len = 0;
    while (value >= 0x80) {
        out[len++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[len++] = (uint8_t)value;
    return len;
}

static size_t store_zigzag(uint8_t *out, int64_t value)
{
    return store_varint(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/* ---- the hybrid ---- */

#define EACH_BYTE UINT64_C(0x0101010101010101)

static inline uint32_t item(const void *values, bool wide, size_t i)
{
    return wide ? ((const uint32_t *)values)[i] : ((const uint8_t *)values)[i];
}

static inline bool group_is_equal(const void *values, bool wide, size_t i)
{
    if (!wide) {
        uint64_t all = frz_load_le64((const uint8_t *)values + i);
        return all == (all & UINT8_MAX) * EACH_BYTE;
    }
    const uint32_t *v = (const uint32_t *)values + i;
    uint32_t differs = 0;
    for (size_t k = 1; k < PACK_GROUP; k++) {
        differs |= v[k] ^ v[0];
    }
    return differs == 0;
}

size_t parquet_equal_u8(const uint8_t *values, size_t count, uint8_t value)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t differs = frz_load_le64(values + i) ^ value * EACH_BYTE;
        if (differs != 0) {
            return i + (size_t)__builtin_ctzll(differs) / 8;
        }
    }
    while (i < count && values[i] == value) {
        i++;
    }
    return i;
}

/* How many values from i on are the same. */
static inline size_t run_length(const void *values, bool wide, size_t i, size_t count)
{
    uint32_t value = item(values, wide, i);
    size_t end = i + 1;
    if (!wide) {
        return parquet_equal_u8((const uint8_t *)values + i, count - i, (uint8_t)value);
    }
    while (end < count && item(values, wide, end) == value) {
        end++;
    }
    return end - i;
}

static void pack(const frz_env *env, const void *values, bool wide, size_t groups, unsigned width,
                 uint8_t *out)
{
    const parquet_write_kernels *kernels = parquet_write_kernels_of(env);
    if (wide) {
        kernels->pack_u32(values, groups, width, out);
    } else {
        kernels->pack_u8(values, groups, width, out);
    }
}

/* Values [from, to) in groups of eight, the last one filled up with zeros. */
static inline frz_code put_packed(const void *values, bool wide, size_t from, size_t to,
                                  unsigned width, frz_buf *out, frz_error *err)
{
    const size_t value_size = wide ? sizeof(uint32_t) : 1;
    const uint8_t *start = (const uint8_t *)values + from * value_size;
    uint32_t last[PACK_GROUP] = {0};
    if (from == to) {
        return FRZ_OK;
    }
    size_t whole = (to - from) / PACK_GROUP;
    size_t rest = (to - from) % PACK_GROUP;
    size_t groups = whole + (rest > 0);
    frz_code rc = frz_buf_reserve(out, groups * width + VARINT_MAX + PARQUET_PACK_SLACK, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    out->len += store_varint(out->data + out->len, (uint64_t)groups << 1 | 1);
    uint8_t *to_bytes = out->data + out->len;
    pack(out->env, start, wide, whole, width, to_bytes);
    if (rest > 0) {
        memcpy(last, start + whole * PACK_GROUP * value_size, rest * value_size);
        pack(out->env, last, wide, 1, width, to_bytes + whole * width);
    }
    out->len += groups * width;
    return FRZ_OK;
}

frz_code parquet_encode_run(uint32_t value, size_t count, unsigned width, frz_buf *out,
                            frz_error *err)
{
    frz_code rc = frz_buf_reserve(out, VARINT_MAX + 4, err);
    if (rc == FRZ_OK) {
        out->len += store_varint(out->data + out->len, (uint64_t)count << 1);
        frz_store_le32(out->data + out->len, value);
        out->len += (width + 7) / 8;
    }
    return rc;
}

/* A run begins with the first whole group of equal values; what comes before is packed. */
static inline frz_code encode_hybrid(const void *values, bool wide, size_t count, unsigned width,
                                     frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t packed = 0; /* first value that is not written yet */
    size_t i = 0;
    while (count - i >= PACK_GROUP) {
        if (!group_is_equal(values, wide, i)) {
            i += PACK_GROUP;
            continue;
        }
        size_t run = run_length(values, wide, i, count);
        FRZ_TRY(put_packed(values, wide, packed, i, width, out, err));
        FRZ_TRY(parquet_encode_run(item(values, wide, i), run, width, out, err));
        i += run;
        packed = i;
    }
    FRZ_TRY(put_packed(values, wide, packed, count, width, out, err));
out:
    return rc;
}

frz_code parquet_encode_levels(const uint8_t *levels, size_t count, unsigned width, frz_buf *out,
                               frz_error *err)
{
    return encode_hybrid(levels, false, count, width, out, err);
}

frz_code parquet_encode_indices(const uint32_t *indices, size_t count, unsigned width, frz_buf *out,
                                frz_error *err)
{
    return encode_hybrid(indices, true, count, width, out, err);
}

frz_code parquet_encode_bools(const uint8_t *values, size_t count, frz_buf *out, frz_error *err)
{
    size_t whole = count / PACK_GROUP;
    uint8_t last[PACK_GROUP] = {0};
    frz_code rc = frz_buf_reserve(out, whole + 1 + PARQUET_PACK_SLACK, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    pack(out->env, values, false, whole, 1, out->data + out->len);
    out->len += whole;
    if (count % PACK_GROUP > 0) {
        memcpy(last, values + whole * PACK_GROUP, count % PACK_GROUP);
        pack(out->env, last, false, 1, 1, out->data + out->len++);
    }
    return FRZ_OK;
}

/* ---- DELTA_BINARY_PACKED ---- */

/* A block: its least delta, a width per miniblock, the miniblocks. Those without values have width
 * 0 and no bytes; the last one with values is filled up with zeros. */
static uint8_t *delta_block(const parquet_write_kernels *kernels, const parquet_deltas *deltas,
                            size_t width, uint8_t *out)
{
    out += store_zigzag(out, deltas->least);
    memcpy(out, deltas->widths, PARQUET_DELTA_MINIBLOCKS);
    out += PARQUET_DELTA_MINIBLOCKS;
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        const size_t first = m * PARQUET_DELTA_MINI;
        const size_t groups = PARQUET_DELTA_MINI / PACK_GROUP;
        unsigned bits = deltas->widths[m];
        if (bits > 0 && width == 4) {
            kernels->pack_u32(deltas->as.narrow + first, groups, bits, out);
        } else if (bits > 0) {
            kernels->pack_u64(deltas->as.wide + first, groups, bits, out);
        }
        out += groups * bits;
    }
    return out;
}

frz_code parquet_encode_delta(const uint8_t *values, size_t count, size_t width, frz_buf *out,
                              frz_error *err)
{
    const parquet_write_kernels *kernels = parquet_write_kernels_of(out->env);
    const size_t block_max =
        VARINT_MAX + PARQUET_DELTA_MINIBLOCKS + PARQUET_DELTA_BLOCK * 8 + PARQUET_PACK_SLACK;
    parquet_deltas deltas;
    frz_code rc = frz_buf_reserve(out, 4 * VARINT_MAX, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int64_t first = 0;
    if (count > 0) {
        first = width == 4 ? (int32_t)frz_load_le32(values) : (int64_t)frz_load_le64(values);
    }
    out->len += store_varint(out->data + out->len, PARQUET_DELTA_BLOCK);
    out->len += store_varint(out->data + out->len, PARQUET_DELTA_MINIBLOCKS);
    out->len += store_varint(out->data + out->len, count);
    out->len += store_zigzag(out->data + out->len, first);
    for (size_t i = 1; i < count; i += PARQUET_DELTA_BLOCK) {
        size_t n = FRZ_MIN(count - i, (size_t)PARQUET_DELTA_BLOCK);
        rc = frz_buf_reserve(out, block_max, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (width == 4) {
            kernels->deltas_4(values + 4 * (i - 1), n, &deltas);
        } else {
            kernels->deltas_8(values + 8 * (i - 1), n, &deltas);
        }
        out->len = (size_t)(delta_block(kernels, &deltas, width, out->data + out->len) - out->data);
    }
    return FRZ_OK;
}

/* ---- BYTE_STREAM_SPLIT ---- */

/* Values of any width, in blocks that stay in the cache. */
static void split_any(const uint8_t *values, size_t count, size_t width, uint8_t *streams)
{
    for (size_t i = 0; i < count; i += SPLIT_BLOCK) {
        size_t end = FRZ_MIN(i + SPLIT_BLOCK, count);
        for (size_t b = 0; b < width; b++) {
            for (size_t k = i; k < end; k++) {
                streams[b * count + k] = values[k * width + b];
            }
        }
    }
}

frz_code parquet_encode_split(const uint8_t *values, size_t count, size_t width, frz_buf *out,
                              frz_error *err)
{
    frz_code rc = frz_buf_reserve(out, count * width, err);
    if (rc != FRZ_OK || count == 0) {
        return rc;
    }
    const parquet_write_kernels *kernels = parquet_write_kernels_of(out->env);
    uint8_t *streams = out->data + out->len;
    if (width == 4) {
        kernels->split_4(values, count, streams);
    } else if (width == 8) {
        kernels->split_8(values, count, streams);
    } else {
        split_any(values, count, width, streams);
    }
    out->len += count * width;
    return FRZ_OK;
}
