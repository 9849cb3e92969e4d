/*
 * Decompression where nothing tells how much comes out. What a stream claims is believed only as
 * far as its length allows; else memory grows with what really comes out, and no further than the
 * caller's bound.
 */
#include <snappy-c.h>

#include "codec/codec_internal.h"

#define ROOM_LEAST ((size_t)4 << 10)
#define GUESS 4 /* times the input is what deflate and zstd often make of it */

/* Most that comes out of a byte: deflate's longest match takes 2 bits, snappy's 3 bytes for 64; a
 * block of zstd takes 3 bytes at least and holds 128 KiB at most. */
#define DEFLATE_BEST 1032
#define SNAPPY_BEST 22
#define ZSTD_BEST ((size_t)44 << 10)

/* The bytes that so much input can make at most. */
static size_t most_of(size_t src_len, size_t best)
{
    size_t most;
    return frz_mul_size(src_len, best, &most) && frz_add_size(most, best, &most) ? most : SIZE_MAX;
}

static frz_code too_large(const frz_codec *codec, const frz_buf *out, frz_error *err)
{
    return frz_fail(err, FRZ_E_LIMIT, "%s data holds more than %zu bytes",
                    frz_codec_name(codec->id), out->max - out->len);
}

static frz_code damaged(const frz_codec *codec, size_t src_len, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s data of %zu bytes is damaged or cut off",
                    frz_codec_name(codec->id), src_len);
}

/* Where the next byte goes; an empty buffer has no memory, to which nothing may be added. */
static uint8_t *end_of(const frz_buf *buf)
{
    return buf->data == NULL ? NULL : buf->data + buf->len;
}

/* ---- output of streams ---- */

frz_code codec_output_room(codec_output *out, frz_error *err)
{
    if (out->left > 0) {
        return FRZ_OK;
    }
    if (out->grows == NULL) {
        out->at = &out->extra;
        out->left = 1;
        out->full = true;
        return FRZ_OK;
    }
    frz_buf *buf = out->grows;
    size_t more = FRZ_MIN(FRZ_MAX(buf->capacity, ROOM_LEAST), buf->max - buf->len);
    if (more == 0) {
        return frz_fail(err, FRZ_E_LIMIT, "%s data holds too much: more than %zu bytes",
                        frz_codec_name(out->id), buf->max);
    }
    frz_code rc = frz_buf_reserve(buf, more, err);
    if (rc == FRZ_OK) {
        out->at = buf->data + buf->len;
        out->left = buf->capacity - buf->len;
    }
    return rc;
}

frz_code codec_output_wrote(codec_output *out, size_t len, frz_error *err)
{
    out->at += len;
    out->left -= len;
    if (out->grows != NULL) {
        out->grows->len += len;
    }
    return out->full && len > 0
               ? frz_fail(err, FRZ_E_CORRUPT, "%s data holds more bytes than expected",
                          frz_codec_name(out->id))
               : FRZ_OK;
}

/* ---- deflate and gzip ---- */

/* One stream or member; *taken bytes of input are its own. The library has no streams: with too
 * little room it begins anew. */
static frz_code inflate(frz_codec *codec, const uint8_t *in, size_t len, frz_buf *out,
                        size_t *taken, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t most = most_of(len, DEFLATE_BEST);
    for (size_t room = FRZ_MAX(len * GUESS, ROOM_LEAST);; room *= GUESS) {
        size_t made = 0;
        room = FRZ_MIN(FRZ_MAX(room, out->capacity - out->len), FRZ_MIN(most, out->max - out->len));
        FRZ_TRY(frz_buf_reserve(out, room, err));
        uint8_t *to = end_of(out);
        enum libdeflate_result result =
            codec->id == FRZ_CODEC_GZIP
                ? libdeflate_gzip_decompress_ex(codec->deflate_in, in, len, to, room, taken, &made)
                : libdeflate_deflate_decompress_ex(codec->deflate_in, in, len, to, room, taken,
                                                   &made);
        if (result == LIBDEFLATE_SUCCESS) {
            out->len += made;
            return FRZ_OK;
        }
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE || room >= most) {
            return damaged(codec, len, err);
        }
        if (room >= out->max - out->len) {
            return too_large(codec, out, err);
        }
    }
out:
    return rc;
}

static bool is_gzip(const uint8_t *in, size_t len)
{
    return len >= 2 && in[0] == 0x1F && in[1] == 0x8B;
}

static frz_code gunzip(frz_codec *codec, const uint8_t *in, size_t len, frz_buf *out,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    do {
        size_t taken = 0;
        FRZ_TRY(inflate(codec, in, len, out, &taken, err));
        in += taken;
        len -= taken;
    } while (is_gzip(in, len)); /* what else follows is padding */
out:
    return rc;
}

/* ---- zstd ---- */

/* Frames one after the other. */
static frz_code unzstd(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    unsigned long long said = ZSTD_getFrameContentSize(src, src_len);
    bool known = said != ZSTD_CONTENTSIZE_UNKNOWN && said != ZSTD_CONTENTSIZE_ERROR &&
                 said <= most_of(src_len, ZSTD_BEST);
    if (known && said > out->max - out->len) {
        return too_large(codec, out, err);
    }
    size_t guess = known ? (size_t)said : FRZ_MIN(most_of(src_len, GUESS), out->max - out->len);
    FRZ_TRY(codec_need_zstd_in(codec, err));
    FRZ_TRY(frz_buf_reserve(out, guess, err));
    ZSTD_DCtx_reset(codec->zstd_in, ZSTD_reset_session_only);
    ZSTD_inBuffer in = {src, src_len, 0};
    codec_output to = {
        .id = codec->id, .grows = out, .at = end_of(out), .left = out->capacity - out->len};
    size_t state = 1;
    while (state != 0 || in.pos < in.size) {
        FRZ_TRY(codec_output_room(&to, err));
        ZSTD_outBuffer piece = {to.at, to.left, 0};
        size_t before = in.pos;
        state = ZSTD_decompressStream(codec->zstd_in, &piece, &in);
        if (ZSTD_isError(state)) {
            rc = codec_zstd_out_of_memory(state)
                     ? frz_fail_nomem(err, 0)
                     : frz_fail(err, FRZ_E_CORRUPT, "zstd data of %zu bytes: %s", src_len,
                                ZSTD_getErrorName(state));
            goto out;
        }
        FRZ_TRY(codec_output_wrote(&to, piece.pos, err));
        if (state != 0 && piece.pos == 0 && in.pos == before) {
            rc = damaged(codec, src_len, err);
            goto out;
        }
    }
out:
    return rc;
}

/* ---- all ---- */

static frz_code unsnappy(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                         frz_error *err)
{
    size_t said;
    if (snappy_uncompressed_length(src, src_len, &said) != SNAPPY_OK ||
        said > most_of(src_len, SNAPPY_BEST)) {
        return damaged(codec, src_len, err);
    }
    if (said > out->max - out->len) {
        return too_large(codec, out, err);
    }
    frz_code rc = frz_buf_reserve(out, said + 1, err);
    if (rc == FRZ_OK) {
        rc = frz_codec_decompress(codec, src, src_len, out->data + out->len, said, err);
    }
    out->len += rc == FRZ_OK ? said : 0;
    return rc;
}

frz_code frz_codec_decompress_all(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    codec_output to = {.id = codec->id, .grows = out};
    const void *in = src_len == 0 ? "" : src;
    size_t taken;
    switch (codec->id) {
    case FRZ_CODEC_NONE:
        return frz_buf_append(out, in, src_len, err);
    case FRZ_CODEC_SNAPPY:
        return unsnappy(codec, in, src_len, out, err);
    case FRZ_CODEC_GZIP:
    case FRZ_CODEC_DEFLATE:
        FRZ_TRY(codec_need_deflate_in(codec, err));
        return codec->id == FRZ_CODEC_GZIP ? gunzip(codec, in, src_len, out, err)
                                           : inflate(codec, in, src_len, out, &taken, err);
    case FRZ_CODEC_ZSTD:
        return unzstd(codec, in, src_len, out, err);
    case FRZ_CODEC_LZ4_FRAME:
        return codec_lz4_frames_all(in, src_len, &to, err);
    case FRZ_CODEC_BZIP2:
        return codec_bzip2_decompress(codec->env, in, src_len, &to, err);
    case FRZ_CODEC_XZ:
        return codec_xz_decompress(codec->env, in, src_len, &to, err);
    default:
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s data of unknown size",
                        frz_codec_name(codec->id));
    }
out:
    return rc;
}
