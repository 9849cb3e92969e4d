/*
 * Split block Bloom filters: eight words of 32 bits per block, one bit in each word per value.
 *
 * A check needs one block of 32 bytes, so that large filters are not read whole: only the header
 * is, and then a block per check.
 */
#include <inttypes.h>

#include "codec/codec.h"
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_index.h"

#define HEADER_MOST 1024 /* bytes; the header has about 15 */
#define HEADER_GUESS 64
#define WHOLE_MOST (64u << 10) /* a filter up to this size is read at once */
#define WORDS 8

/* ---- header ---- */

/* A union of which only the first member is known. */
static bool parse_choice(parquet_thrift *t, const parquet_thrift_field *field)
{
    parquet_thrift_field f = {0};
    bool known = false;
    if (!parquet_thrift_struct(t, field)) {
        return false;
    }
    while (parquet_thrift_next(t, &f)) {
        known = f.id == 1;
        parquet_thrift_skip(t, &f);
    }
    return known;
}

frz_code parquet_bloom_header_parse(const uint8_t *bytes, size_t len, uint64_t offset,
                                    uint32_t *bits_size, size_t *header_size, frz_error *err)
{
    parquet_thrift_field f = {0};
    parquet_thrift t;
    int32_t size = -1;
    bool known[3] = {false, false, false}; /* algorithm, hash, compression */
    parquet_thrift_init(&t, bytes, len, offset, err);
    while (parquet_thrift_next(&t, &f)) {
        if (f.id == 1) {
            size = parquet_thrift_i32(&t, &f);
        } else if (f.id >= 2 && f.id <= 4) {
            known[f.id - 2] = parse_choice(&t, &f);
        } else {
            parquet_thrift_skip(&t, &f);
        }
    }
    if (t.rc != FRZ_OK) {
        return t.rc;
    }
    if (!known[0] || !known[1] || !known[2]) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: bloom filter of another algorithm, hash or compression");
    }
    if (size <= 0 || size % PARQUET_BLOOM_BLOCK != 0 || (uint32_t)size > PARQUET_BLOOM_MOST) {
        return frz_fail_at(err, FRZ_E_CORRUPT, offset,
                           "bloom filter of %" PRId32 " bytes, expected a multiple of %d up to %u",
                           size, PARQUET_BLOOM_BLOCK, PARQUET_BLOOM_MOST);
    }
    *bits_size = (uint32_t)size;
    *header_size = (size_t)(t.at - t.start);
    return FRZ_OK;
}

/* ---- from the file ---- */

static frz_code too_long(const parquet_file *file, uint64_t at, uint64_t size, frz_error *err)
{
    return frz_fail_at(err, FRZ_E_CORRUPT, at,
                       "%" PRIu64 " bytes at byte %" PRIu64 ", data ends at byte %" PRIu64, size,
                       at, file->footer_start);
}

static frz_code load(const parquet_file *file, const parquet_chunk *chunk, frz_arena *arena,
                     parquet_bloom *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t head[HEADER_MOST];
    size_t header_size = 0;
    if (chunk->bloom_filter_offset < 0 ||
        (uint64_t)chunk->bloom_filter_offset >= file->footer_start) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "starts at byte %" PRId64 ", data ends at byte %" PRIu64,
                        chunk->bloom_filter_offset, file->footer_start);
    }
    uint64_t at = (uint64_t)chunk->bloom_filter_offset;
    uint64_t left = file->footer_start - at;
    for (size_t len = HEADER_GUESS;; len = HEADER_MOST) {
        len = (size_t)FRZ_MIN(left, len);
        FRZ_TRY(frz_file_read(file->base.file, at, head, len, err));
        rc = parquet_bloom_header_parse(head, len, at, &out->bits_size, &header_size, err);
        if (rc != FRZ_E_CORRUPT || len == left || len == HEADER_MOST) {
            break;
        }
        frz_error_reset(err);
    }
    FRZ_TRY(rc);
    out->bits_at = at + header_size;
    if (out->bits_size > left - header_size) {
        return too_long(file, out->bits_at, out->bits_size, err);
    }
    if (out->bits_size <= WHOLE_MOST) {
        uint8_t *bits = frz_arena_alloc(arena, out->bits_size);
        if (bits == NULL) {
            return frz_fail_nomem(err, out->bits_size);
        }
        FRZ_TRY(frz_file_read(file->base.file, out->bits_at, bits, out->bits_size, err));
        out->bits = bits;
    }
out:
    return rc;
}

frz_code parquet_bloom_load(const parquet_file *file, const parquet_chunk *chunk, size_t column,
                            size_t group, frz_arena *arena, parquet_bloom *out, bool *present,
                            frz_error *err)
{
    frz_error why = {0};
    parquet_bloom bloom = {0};
    *present = false;
    if (chunk->bloom_filter_offset == 0 || chunk->encrypted || chunk->file_path.len > 0) {
        return FRZ_OK;
    }
    frz_code rc = load(file, chunk, arena, &bloom, &why);
    *present = rc == FRZ_OK;
    *out = bloom;
    return parquet_ignore_damage(file, column, group, "the bloom filter", rc, &why, err);
}

/* ---- checking ---- */

uint32_t parquet_bloom_block(uint32_t bits_size, uint64_t hash)
{
    uint64_t blocks = bits_size / PARQUET_BLOOM_BLOCK;
    return (uint32_t)(((hash >> 32) * blocks) >> 32);
}

bool parquet_bloom_block_check(const uint8_t block[PARQUET_BLOOM_BLOCK], uint64_t hash)
{
    static const uint32_t salts[WORDS] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                          0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
    bool all = true;
    for (size_t i = 0; i < WORDS; i++) {
        uint32_t bit = (uint32_t)hash * salts[i] >> 27;
        all = all && (frz_load_le32(block + i * 4) >> bit & 1) != 0;
    }
    return all;
}

frz_code parquet_bloom_check(const parquet_file *file, const parquet_bloom *bloom, frz_str plain,
                             bool *may, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t read[PARQUET_BLOOM_BLOCK];
    uint64_t hash = frz_xxh64(plain.ptr, plain.len);
    size_t at = (size_t)parquet_bloom_block(bloom->bits_size, hash) * PARQUET_BLOOM_BLOCK;
    const uint8_t *block = bloom->bits == NULL ? read : bloom->bits + at;
    if (bloom->bits == NULL) {
        FRZ_TRY(frz_file_read(file->base.file, bloom->bits_at + at, read, sizeof read, err));
    }
    *may = parquet_bloom_block_check(block, hash);
out:
    return rc;
}
