/*
 * codec: compression codecs behind one interface. Sizes or their bounds are given from outside, so
 * an untrusted stream never decides an allocation.
 */
#ifndef FRZ_CODEC_H
#define FRZ_CODEC_H

#include "base/base.h"

typedef enum frz_codec_id {
    FRZ_CODEC_NONE,
    FRZ_CODEC_SNAPPY,
    FRZ_CODEC_GZIP, /* several members and zlib streams are read, too */
    FRZ_CODEC_ZSTD,
    FRZ_CODEC_LZ4_RAW,
    FRZ_CODEC_BROTLI,
    FRZ_CODEC_LZ4_HADOOP, /* decompression only */
    FRZ_CODEC_LZ4_FRAME,
    FRZ_CODEC_DEFLATE, /* without any wrapping */
    FRZ_CODEC_BZIP2,   /* this and xz: several streams are read, too */
    FRZ_CODEC_XZ
} frz_codec_id;
#define FRZ_CODEC_COUNT (FRZ_CODEC_XZ + 1)

/* Holds the contexts of libraries; used by one thread at a time. */
typedef struct frz_codec frz_codec;

frz_code frz_codec_new(const frz_env *env, frz_codec_id id, int level, frz_codec **out,
                       frz_error *err);
void frz_codec_free(frz_codec *codec);
const char *frz_codec_name(frz_codec_id id);
/* Exactly dst_len bytes must come out; anything else is FRZ_E_CORRUPT. */
frz_code frz_codec_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                              size_t dst_len, frz_error *err);
/* Append what comes out, where nothing tells its size: memory grows as far as the stream can fill
 * it, and what does not fit below out->max is FRZ_E_LIMIT. Not for brotli and the forms of lz4
 * other than frames. */
frz_code frz_codec_decompress_all(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                                  frz_error *err);
/* Append the compressed form to out. */
frz_code frz_codec_compress(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                            frz_error *err);
/* The same for head bytes and then parts of equal length, each of which has byte values of other
 * frequencies (codec_zstd_parts.c). It is quick, and smaller where little repeats itself. Codecs
 * without it compress as usual. */
frz_code frz_codec_compress_parts(frz_codec *codec, const uint8_t *src, size_t src_len, size_t head,
                                  size_t parts, frz_buf *out, frz_error *err);
bool frz_codec_has_parts(const frz_codec *codec);

/* CRC-32 (the polynomial of zlib and gzip). */
uint32_t frz_crc32(uint32_t crc, const void *bytes, size_t len);
/* xxHash, 64 bits, seed 0. */
uint64_t frz_xxh64(const void *bytes, size_t len);

#endif
