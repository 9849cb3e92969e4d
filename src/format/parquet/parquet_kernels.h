/*
 * The inner loops of decoding, once plain and once for AVX2. Which one runs is chosen when the
 * environment is made (frz_env.cpu); both give the same bytes for every input.
 *
 * Inputs, bitmaps included, are followed by PARQUET_SLACK readable bytes. Outputs are written to
 * their end and no further, unless said otherwise.
 */
#ifndef FRZ_PARQUET_KERNELS_H
#define FRZ_PARQUET_KERNELS_H

#include "base/base.h"

#define PARQUET_SLACK 16

typedef struct parquet_kernels {
    const char *name;

    /* n numbers of width bits (1 to 32), least significant bit first, from the first bit of in. */
    void (*unpack_u32)(const uint8_t *in, unsigned width, size_t n, uint32_t *out);
    /* The same for widths 1 to 8, a byte each. */
    void (*unpack_u8)(const uint8_t *in, unsigned width, size_t n, uint8_t *out);
    uint32_t (*largest_u32)(const uint32_t *values, size_t n); /* 0 if n is 0 */
    bool (*is_ascii)(const uint8_t *bytes, size_t len);
    bool (*is_utf8)(const uint8_t *bytes, size_t len);

    /*
     * Room for nulls. The first dense of rows values become those whose bit is set among the rows
     * bits from first on; dense is the number of these. The others become 0.
     */
    void (*spread_4)(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                     int64_t first);
    void (*spread_8)(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                     int64_t first);
    /* The same for offsets of variable-length values, one more than values: rows without a value
     * have no bytes. */
    void (*spread_offsets)(int32_t *offsets, size_t dense, size_t rows, const uint8_t *bits,
                           int64_t first);

    /* ---- levels ---- */

    uint8_t (*largest_u8)(const uint8_t *values, size_t n); /* 0 if n is 0 */
    /* Bit i of out[i / 64] tells whether levels[i] >= least; the last word is filled with 0. */
    void (*at_least)(const uint8_t *levels, size_t n, uint8_t least, uint64_t *out);
    size_t (*ones)(const uint64_t *words, size_t n);
    /* Append the bits of words where mask has ones to a bitmap whose bits from at on are 0 and that
     * has PARQUET_SLACK bytes behind it; returns how many they are. */
    size_t (*append_bits)(const uint64_t *words, const uint64_t *mask, size_t n, uint8_t *bits,
                          size_t at);
    /* For each one of starts, how many ones of items stand before it, and count more. */
    void (*offsets)(const uint64_t *starts, const uint64_t *items, size_t n, int32_t count,
                    int32_t *out);
    /* The low bits of a word go to the places where mask has ones. */
    uint64_t (*scatter)(uint64_t word, uint64_t mask);
} parquet_kernels;

extern const parquet_kernels parquet_kernels_plain;
#if defined(__x86_64__)
extern const parquet_kernels parquet_kernels_avx2;
#endif

const parquet_kernels *parquet_kernels_of(const frz_env *env);

/* ---- loops for which other instructions were no gain ---- */

/* Entries of a table by indices that lie in it. */
void parquet_gather(const uint8_t *table, size_t width, const uint32_t *indices, size_t n,
                    uint8_t *out);
/* A value of some bytes n times. */
void parquet_repeat(const uint8_t *value, size_t width, size_t n, uint8_t *out);
size_t parquet_count_u8(const uint8_t *values, size_t n, uint8_t value);

#endif
