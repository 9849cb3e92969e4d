/*
 * Split block Bloom filters of column chunks: eight words of 32 bits per block, one bit in each
 * word per value.
 *
 * How many distinct values a chunk has is known only at its end. Hashes are kept while they are
 * few; then they go into a filter that is large enough for most chunks. At the end it is folded:
 * halves are laid over each other (neighbouring blocks, since a block is found by the upper bits of
 * the hash) as long as the share of values that it lets pass, which its bits tell exactly, stays
 * within what is wanted. spec: Bloom Filter
 */
#include <math.h>

#include "format/parquet/parquet_write.h"

#define WORDS 8
#define BLOCK_BYTES (WORDS * sizeof(uint32_t))
#define HASHES_MAX ((size_t)1 << 17)  /* that are kept: 1 MiB */
#define BLOCKS_AUTO ((size_t)1 << 18) /* of the filter behind them: 8 MiB */
#define BLOCKS_MAX ((size_t)1 << 22)  /* 128 MiB */
#define FPP_DEFAULT 0.01

frz_code parquet_bloom_out_new(const frz_env *env, const parquet_write_leaf *leaf, double fpp,
                               int64_t ndv, parquet_bloom_out **out, frz_error *err)
{
    parquet_bloom_out *bloom = frz_alloc_zero(env, 1, sizeof *bloom);
    if (bloom == NULL) {
        return frz_fail_nomem(err, sizeof *bloom);
    }
    *bloom = (parquet_bloom_out){.env = env,
                                 .width = leaf->width,
                                 .two_zeros = parquet_bound_is_float(leaf->order),
                                 .fpp = fpp > 0 ? fpp : FPP_DEFAULT,
                                 .ndv = ndv};
    frz_buf_init(&bloom->hashes, env, FRZ_BUF_NO_LIMIT);
    *out = bloom;
    return FRZ_OK;
}

void parquet_bloom_out_reset(parquet_bloom_out *bloom)
{
    if (bloom != NULL) {
        frz_buf_reset(&bloom->hashes);
        frz_free(bloom->env, bloom->words);
        bloom->words = NULL;
        bloom->blocks = 0;
    }
}

void parquet_bloom_out_free(parquet_bloom_out *bloom)
{
    if (bloom != NULL) {
        parquet_bloom_out_reset(bloom);
        frz_free(bloom->env, bloom);
    }
}

/* ---- the filter ---- */

/* A power of two of blocks that lets no more than fpp pass with so many values. A filter lets pass
 * about (1 - e^(-8n/m))^8 with n values in m bits. */
static size_t blocks_for(double values, double fpp)
{
    double bits = -8.0 * values / log(1.0 - pow(fpp, 1.0 / 8.0));
    size_t blocks = 1;
    while (blocks < BLOCKS_MAX && (double)blocks * 8.0 * BLOCK_BYTES < bits) {
        blocks *= 2;
    }
    return blocks;
}

static void insert(parquet_bloom_out *bloom, uint64_t hash)
{
    static const uint32_t salts[WORDS] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                          0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
    uint32_t *block = bloom->words + ((hash >> 32) * bloom->blocks >> 32) * WORDS;
    for (size_t i = 0; i < WORDS; i++) {
        block[i] |= UINT32_C(1) << ((uint32_t)hash * salts[i] >> 27);
    }
}

/* From kept hashes to a filter. */
static frz_code open_filter(parquet_bloom_out *bloom, size_t blocks, frz_error *err)
{
    const uint64_t *hashes = (const uint64_t *)(const void *)bloom->hashes.data;
    bloom->words = frz_alloc_zero(bloom->env, blocks, BLOCK_BYTES);
    if (bloom->words == NULL) {
        return frz_fail_nomem(err, blocks * BLOCK_BYTES);
    }
    bloom->blocks = blocks;
    for (size_t i = 0; i < bloom->hashes.len / sizeof *hashes; i++) {
        insert(bloom, hashes[i]);
    }
    frz_buf_reset(&bloom->hashes);
    return FRZ_OK;
}

/* ---- values ---- */

static frz_code add_hash(parquet_bloom_out *bloom, uint64_t hash, frz_error *err)
{
    if (bloom->words != NULL) {
        insert(bloom, hash);
        return FRZ_OK;
    }
    frz_code rc = frz_buf_append(&bloom->hashes, &hash, sizeof hash, err);
    if (rc == FRZ_OK && bloom->hashes.len == HASHES_MAX * sizeof hash) {
        size_t blocks = bloom->ndv > 0 ? blocks_for((double)bloom->ndv, bloom->fpp) : BLOCKS_AUTO;
        rc = open_filter(bloom, blocks, err);
    }
    return rc;
}

/* A reader that looks for one zero must find the other, too. */
static frz_code add_other_zero(parquet_bloom_out *bloom, const uint8_t *value, size_t size,
                               frz_error *err)
{
    uint8_t other[8] = {0};
    uint8_t sign = value[size - 1];
    memcpy(other, value, size - 1);
    for (size_t i = 0; i + 1 < size; i++) {
        if (value[i] != 0) {
            return FRZ_OK;
        }
    }
    if (sign != 0 && sign != 0x80) {
        return FRZ_OK;
    }
    other[size - 1] = sign ^ 0x80;
    return add_hash(bloom, frz_xxh64(other, size), err);
}

frz_code parquet_bloom_out_add(parquet_bloom_out *bloom, const uint8_t *values, size_t count,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *p = values;
    for (size_t i = 0; i < count; i++) {
        size_t size = bloom->width;
        if (size == 0) {
            size = frz_load_le32(p);
            p += 4;
        }
        FRZ_TRY(add_hash(bloom, frz_xxh64(p, size), err));
        if (bloom->two_zeros) {
            FRZ_TRY(add_other_zero(bloom, p, size, err));
        }
        p += size;
    }
out:
    return rc;
}

/* ---- folding ---- */

/* The share of hashes that find all their bits in a filter half as large. */
static double folded_fpp(const parquet_bloom_out *bloom)
{
    double sum = 0;
    for (size_t b = 0; b + 1 < bloom->blocks; b += 2) {
        const uint32_t *pair = bloom->words + b * WORDS;
        double all = 1;
        for (size_t i = 0; i < WORDS; i++) {
            all *= __builtin_popcount(pair[i] | pair[WORDS + i]) / 32.0;
        }
        sum += all;
    }
    return sum / ((double)bloom->blocks / 2);
}

static void fold(parquet_bloom_out *bloom)
{
    bloom->blocks /= 2;
    for (size_t b = 0; b < bloom->blocks; b++) {
        for (size_t i = 0; i < WORDS; i++) {
            bloom->words[b * WORDS + i] =
                bloom->words[2 * b * WORDS + i] | bloom->words[(2 * b + 1) * WORDS + i];
        }
    }
}

frz_code parquet_bloom_out_finish(parquet_bloom_out *bloom, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (bloom->words == NULL) {
        double values = (double)(bloom->hashes.len / sizeof(uint64_t));
        FRZ_TRY(open_filter(bloom, blocks_for(values, bloom->fpp), err));
    }
    while (bloom->blocks > 1 && folded_fpp(bloom) <= bloom->fpp) {
        fold(bloom);
    }
out:
    return rc;
}

/* ---- writing ---- */

/* A union whose first member is chosen. */
static void put_choice(parquet_thrift_out *t, int16_t id)
{
    parquet_put_struct(t, id);
    parquet_put_struct(t, 1);
    parquet_put_end(t);
    parquet_put_end(t);
}

static frz_code put_filter(const parquet_bloom_out *bloom, parquet_output *output, frz_buf *room,
                           frz_error *err)
{
    parquet_thrift_out t;
    frz_code rc = FRZ_OK;
    const size_t bytes = bloom->blocks * BLOCK_BYTES;
    frz_buf_clear(room);
    parquet_put_begin(&t, room, err);
    parquet_put_i32(&t, 1, (int32_t)bytes);
    put_choice(&t, 2); /* split blocks */
    put_choice(&t, 3); /* xxHash */
    put_choice(&t, 4); /* not compressed */
    parquet_put_end(&t);
    FRZ_TRY(t.rc);
    FRZ_TRY(parquet_output_write(output, room->data, room->len, err));
    FRZ_TRY(parquet_output_write(output, bloom->words, bytes, err));
out:
    return rc;
}

frz_code parquet_bloom_out_write(parquet_bloom_out *bloom, parquet_output *output, frz_buf *room,
                                 parquet_chunk *chunk, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint64_t start = output->position;
    if (bloom->words == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(put_filter(bloom, output, room, err));
    chunk->bloom_filter_offset = (int64_t)start;
    chunk->bloom_filter_length = (int32_t)(output->position - start);
    parquet_bloom_out_reset(bloom);
out:
    return rc;
}
