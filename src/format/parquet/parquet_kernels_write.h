/*
 * The inner loops of encoding, once plain and once for AVX2, chosen as those of decoding are
 * (parquet_kernels.h); both give the same for every input. Numbers are little-endian, one after the
 * other, at any address.
 */
#ifndef FRZ_PARQUET_KERNELS_WRITE_H
#define FRZ_PARQUET_KERNELS_WRITE_H

#include "base/base.h"

#define PARQUET_DELTA_BLOCK 128 /* values of a block of DELTA_BINARY_PACKED */
#define PARQUET_DELTA_MINIBLOCKS 4
#define PARQUET_DELTA_MINI (PARQUET_DELTA_BLOCK / PARQUET_DELTA_MINIBLOCKS)

/* Differences of neighbours, less the least of them, and the bits that those of each miniblock
 * take. Behind the last one there are zeros. */
typedef struct parquet_deltas {
    int64_t least;
    uint8_t widths[PARQUET_DELTA_MINIBLOCKS];
    union {
        uint32_t narrow[PARQUET_DELTA_BLOCK]; /* of 32-bit numbers */
        uint64_t wide[PARQUET_DELTA_BLOCK];
    } as;
} parquet_deltas;

#define PARQUET_PACK_SLACK 16 /* bytes that packing may write behind its end */
#define PARQUET_PICK_SLACK 32

typedef struct parquet_write_kernels {
    const char *name;

    /* ---- groups of eight numbers below 2 to the power of width: groups * width bytes ---- */

    void (*pack_u8)(const uint8_t *values, size_t groups, unsigned width, uint8_t *out);
    void (*pack_u32)(const uint32_t *values, size_t groups, unsigned width, uint8_t *out);
    void (*pack_u64)(const uint64_t *values, size_t groups, unsigned width, uint8_t *out);

    /* ---- values whose bit is set among 64 times words, one after the other; their number is
     * returned. PARQUET_PICK_SLACK bytes behind them may be written ---- */

    size_t (*pick_4)(const uint8_t *values, const uint64_t *mask, size_t words, uint8_t *out);
    size_t (*pick_8)(const uint8_t *values, const uint64_t *mask, size_t words, uint8_t *out);

    /* ---- byte streams: byte b of value i goes to out[b * n + i] ---- */

    void (*split_4)(const uint8_t *values, size_t n, uint8_t *out);
    void (*split_8)(const uint8_t *values, size_t n, uint8_t *out);

    /* ---- bounds: lower is greater than upper if there is nothing to have bounds ---- */

    void (*bounds_int32)(const uint8_t *values, size_t n, int32_t *lower, int32_t *upper);
    void (*bounds_int64)(const uint8_t *values, size_t n, int64_t *lower, int64_t *upper);
    /* Of the keys of parquet_float_key and parquet_double_key; NaN is left out and counted. */
    size_t (*bounds_float)(const uint8_t *values, size_t n, int32_t *lower, int32_t *upper);
    size_t (*bounds_double)(const uint8_t *values, size_t n, int64_t *lower, int64_t *upper);

    /* ---- deltas of n + 1 numbers, n from 1 to PARQUET_DELTA_BLOCK; the arithmetic is that of the
     * type and wraps around ---- */

    void (*deltas_4)(const uint8_t *values, size_t n, parquet_deltas *out);
    void (*deltas_8)(const uint8_t *values, size_t n, parquet_deltas *out);
} parquet_write_kernels;

extern const parquet_write_kernels parquet_write_kernels_plain;
#if defined(__x86_64__)
extern const parquet_write_kernels parquet_write_kernels_avx2;
#endif

const parquet_write_kernels *parquet_write_kernels_of(const frz_env *env);

/* Eight bits as a byte each: each byte of the product keeps one of them, and any of these carries
 * into the top bit. */
static inline uint64_t parquet_bytes_of_bits(unsigned bits)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t one = bits * each & UINT64_C(0x8040201008040201);
    return (one + 0x7f * each) >> 7 & each;
}

/* The split loops, from value first on. */
void parquet_split_from(const uint8_t *values, size_t first, size_t n, size_t width, uint8_t *out);

/* ---- floating-point numbers as integers that sort like them ---- */

#define PARQUET_DOUBLE_INF 0x7ff0000000000000
#define PARQUET_FLOAT_INF 0x7f800000

/* Bits of a number to its key, and back. */
static inline int64_t parquet_double_key(uint64_t bits)
{
    return (int64_t)(bits ^ ((uint64_t)((int64_t)bits >> 63) & INT64_MAX));
}
static inline int32_t parquet_float_key(uint32_t bits)
{
    return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & INT32_MAX));
}

#endif
