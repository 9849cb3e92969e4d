/*
 * The plain loops of encoding, and the choice.
 */
#include "format/parquet/parquet_kernels_write.h"
#include "format/parquet/parquet_pack.h"

/* ---- packing ---- */

static void plain_pack_u8(const uint8_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_8(values, groups, width, out);
}

static void plain_pack_u32(const uint32_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_32(values, groups, width, out);
}

static void plain_pack_u64(const uint64_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_64(values, groups, width, out);
}

/* ---- picking ---- */

static inline size_t pick(const uint8_t *values, const uint64_t *mask, size_t words, size_t width,
                          uint8_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < words; i++, values += 64 * width) {
        if (mask[i] == UINT64_MAX) {
            memcpy(out + count * width, values, 64 * width);
            count += 64;
            continue;
        }
        for (uint64_t left = mask[i]; left != 0; left &= left - 1) {
            memcpy(out + count++ * width, values + (size_t)__builtin_ctzll(left) * width, width);
        }
    }
    return count;
}

static size_t plain_pick_4(const uint8_t *values, const uint64_t *mask, size_t words, uint8_t *out)
{
    return pick(values, mask, words, 4, out);
}

static size_t plain_pick_8(const uint8_t *values, const uint64_t *mask, size_t words, uint8_t *out)
{
    return pick(values, mask, words, 8, out);
}

/* ---- byte streams ---- */

/* Exchange the parts of a and b that mask and shift name. */
static inline void swap_parts(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
    uint64_t t = (*a >> shift ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* Byte j of word i becomes byte i of word j. */
static inline void transpose_8x8(uint64_t w[8])
{
    for (size_t i = 0; i < 4; i++) {
        swap_parts(&w[i], &w[i + 4], 32, 0x00000000ffffffffu);
    }
    for (size_t i = 0; i < 8; i += 4) {
        swap_parts(&w[i], &w[i + 2], 16, 0x0000ffff0000ffffu);
        swap_parts(&w[i + 1], &w[i + 3], 16, 0x0000ffff0000ffffu);
    }
    for (size_t i = 0; i < 8; i += 2) {
        swap_parts(&w[i], &w[i + 1], 8, 0x00ff00ff00ff00ffu);
    }
}

static inline void split(const uint8_t *values, size_t first, size_t n, size_t width, uint8_t *out)
{
    size_t i = first;
    for (; i + 8 <= n; i += 8) {
        uint64_t w[8];
        for (size_t k = 0; k < 8; k++) {
            const uint8_t *p = values + (i + k) * width;
            w[k] = width == 8 ? frz_load_le64(p) : frz_load_le32(p);
        }
        transpose_8x8(w);
        for (size_t b = 0; b < width; b++) {
            frz_store_le64(out + b * n + i, w[b]);
        }
    }
    for (; i < n; i++) {
        for (size_t b = 0; b < width; b++) {
            out[b * n + i] = values[i * width + b];
        }
    }
}

void parquet_split_from(const uint8_t *values, size_t first, size_t n, size_t width, uint8_t *out)
{
    if (width == 4) {
        split(values, first, n, 4, out);
    } else {
        split(values, first, n, 8, out);
    }
}

static void plain_split_4(const uint8_t *values, size_t n, uint8_t *out)
{
    split(values, 0, n, 4, out);
}

static void plain_split_8(const uint8_t *values, size_t n, uint8_t *out)
{
    split(values, 0, n, 8, out);
}

/* ---- bounds ---- */

static void plain_bounds_int32(const uint8_t *values, size_t n, int32_t *lower, int32_t *upper)
{
    *lower = INT32_MAX;
    *upper = INT32_MIN;
    for (size_t i = 0; i < n; i++) {
        int32_t v = (int32_t)frz_load_le32(values + 4 * i);
        *lower = FRZ_MIN(*lower, v);
        *upper = FRZ_MAX(*upper, v);
    }
}

static void plain_bounds_int64(const uint8_t *values, size_t n, int64_t *lower, int64_t *upper)
{
    *lower = INT64_MAX;
    *upper = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t v = (int64_t)frz_load_le64(values + 8 * i);
        *lower = FRZ_MIN(*lower, v);
        *upper = FRZ_MAX(*upper, v);
    }
}

static size_t plain_bounds_float(const uint8_t *values, size_t n, int32_t *lower, int32_t *upper)
{
    int32_t least = INT32_MAX;
    int32_t most = INT32_MIN;
    size_t nans = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = frz_load_le32(values + 4 * i);
        bool nan = (bits & INT32_MAX) > PARQUET_FLOAT_INF;
        int32_t key = parquet_float_key(bits);
        nans += nan;
        least = !nan && key < least ? key : least;
        most = !nan && key > most ? key : most;
    }
    *lower = least;
    *upper = most;
    return nans;
}

static size_t plain_bounds_double(const uint8_t *values, size_t n, int64_t *lower, int64_t *upper)
{
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    size_t nans = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = frz_load_le64(values + 8 * i);
        bool nan = (bits & INT64_MAX) > PARQUET_DOUBLE_INF;
        int64_t key = parquet_double_key(bits);
        nans += nan;
        least = !nan && key < least ? key : least;
        most = !nan && key > most ? key : most;
    }
    *lower = least;
    *upper = most;
    return nans;
}

/* ---- deltas ---- */

static uint8_t width_of(uint64_t bits)
{
    return (uint8_t)(bits == 0 ? 0 : 64 - __builtin_clzll(bits));
}

static void plain_deltas_4(const uint8_t *values, size_t n, parquet_deltas *out)
{
    uint32_t *deltas = out->as.narrow;
    int32_t least = INT32_MAX;
    for (size_t i = 0; i < n; i++) {
        deltas[i] = frz_load_le32(values + 4 * (i + 1)) - frz_load_le32(values + 4 * i);
        least = FRZ_MIN(least, (int32_t)deltas[i]);
    }
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        uint32_t all = 0;
        for (size_t i = m * PARQUET_DELTA_MINI; i < (m + 1) * PARQUET_DELTA_MINI; i++) {
            deltas[i] = i < n ? deltas[i] - (uint32_t)least : 0;
            all |= deltas[i];
        }
        out->widths[m] = width_of(all);
    }
    out->least = least;
}

static void plain_deltas_8(const uint8_t *values, size_t n, parquet_deltas *out)
{
    uint64_t *deltas = out->as.wide;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        deltas[i] = frz_load_le64(values + 8 * (i + 1)) - frz_load_le64(values + 8 * i);
        least = FRZ_MIN(least, (int64_t)deltas[i]);
    }
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        uint64_t all = 0;
        for (size_t i = m * PARQUET_DELTA_MINI; i < (m + 1) * PARQUET_DELTA_MINI; i++) {
            deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
            all |= deltas[i];
        }
        out->widths[m] = width_of(all);
    }
    out->least = least;
}

const parquet_write_kernels parquet_write_kernels_plain = {
    .name = "plain",
    .pack_u8 = plain_pack_u8,
    .pack_u32 = plain_pack_u32,
    .pack_u64 = plain_pack_u64,
    .pick_4 = plain_pick_4,
    .pick_8 = plain_pick_8,
    .split_4 = plain_split_4,
    .split_8 = plain_split_8,
    .bounds_int32 = plain_bounds_int32,
    .bounds_int64 = plain_bounds_int64,
    .bounds_float = plain_bounds_float,
    .bounds_double = plain_bounds_double,
    .deltas_4 = plain_deltas_4,
    .deltas_8 = plain_deltas_8,
};

const parquet_write_kernels *parquet_write_kernels_of(const frz_env *env)
{
#if defined(__x86_64__)
    if ((env->cpu & FRZ_CPU_AVX2) != 0) {
        return &parquet_write_kernels_avx2;
    }
#endif
    (void)env;
    return &parquet_write_kernels_plain;
}
