/*
 * What the files of codec share.
 */
#ifndef FRZ_CODEC_INTERNAL_H
#define FRZ_CODEC_INTERNAL_H

#include "codec/codec.h"

/* Data that decompressed well, but to another size. */
frz_code codec_wrong_size(frz_codec_id id, size_t found, size_t expected, frz_error *err);
frz_code codec_bad_stream(frz_codec_id id, size_t expected, frz_error *err);

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
frz_code codec_lz4_frame_compress(const void *src, size_t src_len, frz_buf *out, frz_error *err);

/* ---- codec_hadoop.c ---- */

frz_code codec_hadoop_lz4_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                     frz_error *err);

#endif
