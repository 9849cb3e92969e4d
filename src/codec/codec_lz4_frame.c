/*
 * LZ4 frames: blocks behind a header that says how large they may get. A frame that is read is
 * decoded into the exact bytes that are wanted; what its header says of sizes decides nothing.
 */
#include <lz4frame.h>

#include "codec/codec_internal.h"

/* The library tells a lack of memory from damage only by the name. */
static bool out_of_memory(size_t result)
{
    return LZ4F_isError(result) &&
           strcmp(LZ4F_getErrorName(result), "ERROR_allocation_failed") == 0;
}

frz_code codec_lz4_frames(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len,
                          bool *fits, frz_error *err)
{
    LZ4F_dctx *context = NULL;
    size_t more = 0; /* 0 at the end of a frame */
    frz_code rc = FRZ_OK;
    *fits = false;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return frz_fail_nomem(err, 0);
    }
    while (in_len > 0) {
        size_t taken = in_len;
        size_t given = out_len;
        more = LZ4F_decompress(context, out, &given, in, &taken, NULL);
        if (out_of_memory(more)) {
            rc = frz_fail_nomem(err, 0);
            break;
        }
        if (LZ4F_isError(more) || (taken == 0 && given == 0)) {
            more = 1;
            break;
        }
        in += taken;
        in_len -= taken;
        out += given;
        out_len -= given;
    }
    *fits = more == 0 && in_len == 0 && out_len == 0;
    LZ4F_freeDecompressionContext(context);
    return rc;
}

frz_code codec_lz4_frame_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                    frz_error *err)
{
    bool fits;
    frz_code rc = codec_lz4_frames(src, src_len, dst, dst_len, &fits, err);
    return rc == FRZ_OK && !fits ? codec_bad_stream(FRZ_CODEC_LZ4_FRAME, dst_len, err) : rc;
}

frz_code codec_lz4_frames_all(const uint8_t *in, size_t in_len, codec_output *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    LZ4F_dctx *context = NULL;
    size_t more = 1, at = 0;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return frz_fail_nomem(err, 0);
    }
    while (more != 0 || at < in_len) {
        FRZ_TRY(codec_output_room(out, err));
        size_t taken = in_len - at;
        size_t given = out->left;
        more = LZ4F_decompress(context, out->at, &given, in + at, &taken, NULL);
        if (out_of_memory(more)) {
            rc = frz_fail_nomem(err, 0);
            goto out;
        }
        if (LZ4F_isError(more) || (taken == 0 && given == 0)) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "lz4_frame data of %zu bytes is damaged or cut off",
                          in_len);
            goto out;
        }
        at += taken;
        FRZ_TRY(codec_output_wrote(out, given, err));
    }
out:
    LZ4F_freeDecompressionContext(context);
    return rc;
}

frz_code codec_lz4_frame_compress(const void *src, size_t src_len, frz_buf *out, frz_error *err)
{
    size_t bound = LZ4F_compressFrameBound(src_len, NULL);
    frz_code rc = frz_buf_reserve(out, bound, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    size_t len = LZ4F_compressFrame(out->data + out->len, bound, src, src_len, NULL);
    if (LZ4F_isError(len)) {
        /* the room is what it asked for: all that is left is memory */
        return frz_fail_nomem(err, src_len);
    }
    out->len += len;
    return FRZ_OK;
}
