/*
 * Brotli. The library keeps nothing between streams that would pay to keep, so that an instance
 * lives for one call.
 */
#include <brotli/decode.h>
#include <brotli/encode.h>

#include "codec/codec_internal.h"

#define DEFAULT_BROTLI_LEVEL 8

static void *brotli_alloc(void *ctx, size_t size)
{
    return frz_alloc(ctx, size);
}

static void brotli_free(void *ctx, void *ptr)
{
    frz_free(ctx, ptr);
}

static bool is_memory_error(BrotliDecoderErrorCode code)
{
    return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
           code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

frz_code codec_brotli_decompress(const frz_env *env, const void *src, size_t src_len, void *dst,
                                 size_t dst_len, frz_error *err)
{
    const uint8_t *in = src;
    uint8_t *out = dst;
    size_t out_left = dst_len;
    BrotliDecoderState *state = BrotliDecoderCreateInstance(brotli_alloc, brotli_free, (void *)env);
    if (state == NULL) {
        return frz_fail_nomem(err, 0);
    }
    BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state, &src_len, &in, &out_left, &out, NULL);
    bool memory = is_memory_error(BrotliDecoderGetErrorCode(state));
    BrotliDecoderDestroyInstance(state);
    if (memory) {
        return frz_fail_nomem(err, dst_len);
    }
    if (result != BROTLI_DECODER_RESULT_SUCCESS || src_len > 0) {
        return codec_bad_stream(FRZ_CODEC_BROTLI, dst_len, err);
    }
    return out_left == 0 ? FRZ_OK
                         : codec_wrong_size(FRZ_CODEC_BROTLI, dst_len - out_left, dst_len, err);
}

/* The whole input in one call. The library fails only for want of memory. */
static bool compress_all(BrotliEncoderState *state, const uint8_t *in, size_t in_len, uint8_t *out,
                         size_t *out_len)
{
    size_t left = *out_len;
    bool ok = BrotliEncoderCompressStream(state, BROTLI_OPERATION_FINISH, &in_len, &in, &left, &out,
                                          NULL) == BROTLI_TRUE &&
              BrotliEncoderIsFinished(state) == BROTLI_TRUE;
    *out_len -= left;
    return ok;
}

frz_code codec_brotli_compress(const frz_env *env, int level, const void *src, size_t src_len,
                               frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    BrotliEncoderState *state = NULL;
    if (level > BROTLI_MAX_QUALITY) {
        return frz_fail(err, FRZ_E_ARGUMENT, "brotli has no level %d", level);
    }
    /* what is added covers the stream's end, which the library's bound leaves out at low levels */
    size_t bound = BrotliEncoderMaxCompressedSize(src_len) + 64;
    if (bound < src_len) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu bytes are too many for one brotli stream", src_len);
    }
    FRZ_TRY(frz_buf_reserve(out, bound, err));
    state = BrotliEncoderCreateInstance(brotli_alloc, brotli_free, (void *)env);
    if (state == NULL) {
        rc = frz_fail_nomem(err, 0);
        goto out;
    }
    BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY,
                              (uint32_t)(level > 0 ? level : DEFAULT_BROTLI_LEVEL));
    BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT,
                              (uint32_t)FRZ_MIN(src_len, (size_t)1 << 30));
    if (!compress_all(state, src, src_len, out->data + out->len, &bound)) {
        rc = frz_fail_nomem(err, src_len);
        goto out;
    }
    out->len += bound;
out:
    if (state != NULL) {
        BrotliEncoderDestroyInstance(state);
    }
    return rc;
}
