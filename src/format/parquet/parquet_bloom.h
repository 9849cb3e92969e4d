/*
 * Bloom filters of column chunks, and the way back from a value as it is read to the bytes that
 * it has in the file, which are what a filter knows. spec: Bloom Filter
 */
#ifndef FRZ_PARQUET_BLOOM_H
#define FRZ_PARQUET_BLOOM_H

#include "format/parquet/parquet_internal.h"
#include "type/type_value.h"

#define PARQUET_BLOOM_BLOCK 32
#define PARQUET_BLOOM_MOST (128u << 20) /* bytes of a filter's bits that are read */

typedef struct parquet_bloom {
    uint64_t bits_at;    /* in the file */
    uint32_t bits_size;  /* a multiple of PARQUET_BLOOM_BLOCK */
    const uint8_t *bits; /* NULL: blocks are read one by one */
} parquet_bloom;

/* Parse a filter's header. *header_size receives its length. */
frz_code parquet_bloom_header_parse(const uint8_t *bytes, size_t len, uint64_t offset,
                                    uint32_t *bits_size, size_t *header_size, frz_error *err);
/* Read the header, and the bits if they are few, into the arena. *present is false if there is no
 * filter or a damaged one (which is logged). */
frz_code parquet_bloom_load(const parquet_file *file, const parquet_chunk *chunk, size_t column,
                            size_t group, frz_arena *arena, parquet_bloom *out, bool *present,
                            frz_error *err);
/* *may is false if no value of the chunk has these bytes (PLAIN form, without a length). */
frz_code parquet_bloom_check(const parquet_file *file, const parquet_bloom *bloom, frz_str plain,
                             bool *may, frz_error *err);
/* The check itself: a hash against the block that parquet_bloom_block names. */
uint32_t parquet_bloom_block(uint32_t bits_size, uint64_t hash);
bool parquet_bloom_block_check(const uint8_t block[PARQUET_BLOOM_BLOCK], uint64_t hash);

/* ---- values of the file behind a value that was read (parquet_origin.c) ---- */

#define PARQUET_ORIGIN_BYTES 64

typedef struct parquet_origin {
    size_t count;     /* 0: no value of the file is read as this one; 2: zero, of both signs */
    frz_str plain[2]; /* views of bytes, or of the value itself */
    uint8_t bytes[2][PARQUET_ORIGIN_BYTES];
} parquet_origin;

/* False if it cannot be told, as where several values of the file are read as one. The value is
 * neither null nor NaN. */
bool parquet_origin_of(const parquet_column *column, const frz_value *value, parquet_origin *out);

#endif
