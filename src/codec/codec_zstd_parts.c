/*
 * zstd for byte streams of numbers, one after the other. Most have no repetitions worth to be
 * sought, but bytes that are not all as frequent, and these differ from stream to stream. So each
 * stream begins a block, which has frequencies of its own, and nothing is done but to code bytes
 * by their frequency. One frame, as any other.
 *
 * That literals are coded although no effort is made to find repetitions is a parameter that the
 * library calls experimental. Where it is not known there is no gain, and the usual way is taken.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "codec/codec_internal.h"

static bool set_up(ZSTD_CCtx *context, size_t len)
{
    static const struct {
        ZSTD_cParameter parameter;
        int value;
    } all[] = {
        {ZSTD_c_compressionLevel, 1},
        {ZSTD_c_strategy, ZSTD_fast},
        {ZSTD_c_targetLength, ZSTD_TARGETLENGTH_MAX}, /* how far repetitions are passed over */
        {ZSTD_c_literalCompressionMode, ZSTD_ps_enable},
    };
    size_t rc = ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all) && !ZSTD_isError(rc); i++) {
        rc = ZSTD_CCtx_setParameter(context, all[i].parameter, all[i].value);
    }
    return !ZSTD_isError(rc) && !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context, len));
}

/* A part, and what of it has to be at the end of a block or of the frame. */
static size_t put_part(ZSTD_CCtx *context, const uint8_t *bytes, size_t len, bool last,
                       ZSTD_outBuffer *out)
{
    ZSTD_inBuffer in = {bytes, len, 0};
    size_t left;
    do {
        left = ZSTD_compressStream2(context, out, &in, last ? ZSTD_e_end : ZSTD_e_flush);
    } while (!ZSTD_isError(left) && left > 0 && out->pos < out->size);
    return left;
}

bool frz_codec_has_parts(const frz_codec *codec)
{
    return codec->id == FRZ_CODEC_ZSTD;
}

frz_code frz_codec_compress_parts(frz_codec *codec, const uint8_t *src, size_t src_len, size_t head,
                                  size_t parts, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const size_t size = (src_len - head) / parts;
    /* a block more than usual for each part */
    const size_t bound = ZSTD_compressBound(src_len) + 4 * (parts + 1);
    if (codec->id != FRZ_CODEC_ZSTD || size == 0) {
        return frz_codec_compress(codec, src, src_len, out, err);
    }
    FRZ_TRY(codec_need_zstd_out(codec, err));
    if (!set_up(codec->zstd_out, src_len)) {
        return frz_codec_compress(codec, src, src_len, out, err);
    }
    FRZ_TRY(frz_buf_reserve(out, bound, err));
    ZSTD_outBuffer to = {out->data + out->len, bound, 0};
    size_t left = head == 0 ? 0 : put_part(codec->zstd_out, src, head, false, &to);
    for (size_t i = 0; i < parts && left == 0; i++) {
        bool last = i + 1 == parts;
        const uint8_t *part = src + head + i * size;
        left = put_part(codec->zstd_out, part, last ? (size_t)(src + src_len - part) : size, last,
                        &to);
    }
    if (left != 0) {
        rc = ZSTD_isError(left) && codec_zstd_out_of_memory(left)
                 ? frz_fail_nomem(err, src_len)
                 : frz_fail(err, FRZ_E_INTERNAL, "zstd failed to compress %zu bytes", src_len);
        goto out;
    }
    out->len += to.pos;
out:
    return rc;
}
