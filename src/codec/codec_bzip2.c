/*
 * bzip2. A block of Avro is one stream; several are read, as the program of that name does.
 */
#include <bzlib.h>
#include <limits.h>

#include "codec/codec_internal.h"

#define DEFAULT_BZIP2_LEVEL 9
#define MAX_BZIP2_LEVEL 9

static void *bzip2_alloc(void *ctx, int count, int size)
{
    return count < 0 || size < 0 ? NULL : frz_alloc_zero(ctx, (size_t)count, (size_t)size);
}

static void bzip2_free(void *ctx, void *ptr)
{
    frz_free(ctx, ptr);
}

static bz_stream new_stream(const frz_env *env)
{
    return (bz_stream){.bzalloc = bzip2_alloc, .bzfree = bzip2_free, .opaque = (void *)env};
}

/* The library counts with unsigned int. */
static unsigned piece(size_t left)
{
    return (unsigned)FRZ_MIN(left, (size_t)UINT_MAX);
}

/* The library takes the input as not const, but does not write to it. */
static void give_input(bz_stream *stream, const uint8_t *in, size_t left)
{
    stream->next_in = (char *)(uintptr_t)in;
    stream->avail_in = piece(left);
}

static frz_code damaged(size_t src_len, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "bzip2 data of %zu bytes is damaged or cut off", src_len);
}

/* One stream; *in and *left move behind it. */
static frz_code read_stream(const frz_env *env, const uint8_t **in, size_t *left, codec_output *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t src_len = *left;
    bz_stream stream = new_stream(env);
    int state = BZ2_bzDecompressInit(&stream, 0, 0);
    if (state != BZ_OK) {
        return frz_fail_nomem(err, 0);
    }
    while (state == BZ_OK) {
        FRZ_TRY(codec_output_room(out, err));
        give_input(&stream, *in, *left);
        stream.next_out = (char *)out->at;
        unsigned room = stream.avail_out = piece(out->left);
        unsigned given = stream.avail_in;
        state = BZ2_bzDecompress(&stream);
        unsigned taken = given - stream.avail_in;
        unsigned made = room - stream.avail_out;
        *in += taken;
        *left -= taken;
        FRZ_TRY(codec_output_wrote(out, made, err));
        if (state == BZ_OK && taken == 0 && made == 0) {
            break;
        }
    }
    if (state != BZ_STREAM_END) {
        rc = state == BZ_MEM_ERROR ? frz_fail_nomem(err, 0) : damaged(src_len, err);
    }
out:
    BZ2_bzDecompressEnd(&stream);
    return rc;
}

frz_code codec_bzip2_decompress(const frz_env *env, const void *src, size_t src_len,
                                codec_output *out, frz_error *err)
{
    const uint8_t *in = src;
    frz_code rc = src_len == 0 ? damaged(0, err) : FRZ_OK;
    while (rc == FRZ_OK && src_len > 0) {
        rc = read_stream(env, &in, &src_len, out, err);
    }
    return rc;
}

frz_code codec_bzip2_compress(const frz_env *env, int level, const void *src, size_t src_len,
                              frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bz_stream stream = new_stream(env);
    size_t bound;
    if (level > MAX_BZIP2_LEVEL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "bzip2 has no level %d", level);
    }
    /* what the library's manual promises */
    if (!frz_add_size(src_len, src_len / 100 + 600, &bound) || bound > UINT_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu bytes are too many for one bzip2 stream", src_len);
    }
    if (BZ2_bzCompressInit(&stream, level > 0 ? level : DEFAULT_BZIP2_LEVEL, 0, 0) != BZ_OK) {
        return frz_fail_nomem(err, 0);
    }
    FRZ_TRY(frz_buf_reserve(out, bound, err));
    give_input(&stream, src, src_len);
    stream.next_out = (char *)out->data + out->len;
    stream.avail_out = (unsigned)bound;
    if (BZ2_bzCompress(&stream, BZ_FINISH) != BZ_STREAM_END) {
        rc = frz_fail(err, FRZ_E_INTERNAL, "bzip2 failed to compress %zu bytes", src_len);
        goto out;
    }
    out->len += bound - stream.avail_out;
out:
    BZ2_bzCompressEnd(&stream);
    return rc;
}
