/*
 * What the files of codec share.
 */
#ifndef FRZ_CODEC_INTERNAL_H
#define FRZ_CODEC_INTERNAL_H

#include <libdeflate.h>
#include <zstd.h>

#include "codec/codec.h"

struct frz_codec {
    const frz_env *env;
    frz_codec_id id;
    int level;
    /* made when first needed */
    ZSTD_DCtx *zstd_in;
    ZSTD_CCtx *zstd_out;
    struct libdeflate_decompressor *deflate_in; /* these two: gzip, too */
    struct libdeflate_compressor *deflate_out;
};

/* The contexts, made if they are not there. */
frz_code codec_need_deflate_in(frz_codec *codec, frz_error *err);
frz_code codec_need_zstd_in(frz_codec *codec, frz_error *err);
frz_code codec_need_zstd_out(frz_codec *codec, frz_error *err);
bool codec_zstd_out_of_memory(size_t result);

/* Data that decompressed well, but to another size. */
frz_code codec_wrong_size(frz_codec_id id, size_t found, size_t expected, frz_error *err);
frz_code codec_bad_stream(frz_codec_id id, size_t expected, frz_error *err);

/* ---- codec_unsized.c ---- */

/* Where the bytes of a stream go: into a buffer that grows, or into memory of a fixed size. */
typedef struct codec_output {
    frz_codec_id id;
    frz_buf *grows; /* NULL: fixed */
    uint8_t *at;    /* next byte */
    size_t left;
    uint8_t extra; /* where a byte goes that fixed memory has no room for */
    bool full;
} codec_output;

/* Room for at least a byte. A full stream in fixed memory has some, too, so that its end is found.
 */
frz_code codec_output_room(codec_output *out, frz_error *err);
/* len bytes were written at out->at. */
frz_code codec_output_wrote(codec_output *out, size_t len, frz_error *err);

/* ---- codec_bzip2.c, codec_xz.c: streams one after the other; all memory is the environment's ----
 */

frz_code codec_bzip2_decompress(const frz_env *env, const void *src, size_t src_len,
                                codec_output *out, frz_error *err);
frz_code codec_bzip2_compress(const frz_env *env, int level, const void *src, size_t src_len,
                              frz_buf *out, frz_error *err);
frz_code codec_xz_decompress(const frz_env *env, const void *src, size_t src_len, codec_output *out,
                             frz_error *err);
frz_code codec_xz_compress(const frz_env *env, int level, const void *src, size_t src_len,
                           frz_buf *out, frz_error *err);

/* ---- codec_brotli.c; all memory is the environment's ---- */

frz_code codec_brotli_decompress(const frz_env *env, const void *src, size_t src_len, void *dst,
                                 size_t dst_len, frz_error *err);
/* level 0: the default. */
frz_code codec_brotli_compress(const frz_env *env, int level, const void *src, size_t src_len,
                               frz_buf *out, frz_error *err);

/* ---- codec_lz4_frame.c ---- */

/* Frames one after the other; *fits if they end with the last byte of both sides. */
frz_code codec_lz4_frames(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len,
                          bool *fits, frz_error *err);
frz_code codec_lz4_frame_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                    frz_error *err);
/* Into memory that grows. */
frz_code codec_lz4_frames_all(const uint8_t *in, size_t in_len, codec_output *out, frz_error *err);
frz_code codec_lz4_frame_compress(const void *src, size_t src_len, frz_buf *out, frz_error *err);

/* ---- codec_hadoop.c ---- */

frz_code codec_hadoop_lz4_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                     frz_error *err);

#endif
