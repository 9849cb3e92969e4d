/*
 * xz. A dictionary, whose size a stream claims, may take a bounded amount of memory.
 */
#include <lzma.h>

#include "codec/codec_internal.h"

#define DEFAULT_XZ_LEVEL 6
#define MAX_XZ_LEVEL 9
#define MEMORY_MOST (UINT64_C(100) << 20) /* level 9 needs 65 MiB */

static void *xz_alloc(void *ctx, size_t count, size_t size)
{
    return frz_mul_size(count, size, &size) ? frz_alloc(ctx, size) : NULL;
}

static void xz_free(void *ctx, void *ptr)
{
    frz_free(ctx, ptr);
}

static lzma_allocator allocator_of(const frz_env *env)
{
    return (lzma_allocator){.alloc = xz_alloc, .free = xz_free, .opaque = (void *)env};
}

static frz_code failed(lzma_ret state, size_t src_len, frz_error *err)
{
    switch (state) {
    case LZMA_MEM_ERROR:
        return frz_fail_nomem(err, 0);
    case LZMA_MEMLIMIT_ERROR:
        return frz_fail(err, FRZ_E_LIMIT, "xz data asks for more than %llu bytes of memory",
                        (unsigned long long)MEMORY_MOST);
    case LZMA_OPTIONS_ERROR:
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: xz data with unknown filters");
    default:
        return frz_fail(err, FRZ_E_CORRUPT, "xz data of %zu bytes is damaged or cut off", src_len);
    }
}

frz_code codec_xz_decompress(const frz_env *env, const void *src, size_t src_len, codec_output *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    lzma_allocator allocator = allocator_of(env);
    lzma_stream stream = LZMA_STREAM_INIT;
    stream.allocator = &allocator;
    stream.next_in = src;
    stream.avail_in = src_len;
    lzma_ret state = lzma_stream_decoder(&stream, MEMORY_MOST, LZMA_CONCATENATED);
    while (state == LZMA_OK) {
        FRZ_TRY(codec_output_room(out, err));
        size_t room = out->left;
        stream.next_out = out->at;
        stream.avail_out = room;
        state = lzma_code(&stream, LZMA_FINISH);
        FRZ_TRY(codec_output_wrote(out, room - stream.avail_out, err));
    }
    if (state != LZMA_STREAM_END) {
        rc = failed(state, src_len, err);
    }
out:
    lzma_end(&stream);
    return rc;
}

frz_code codec_xz_compress(const frz_env *env, int level, const void *src, size_t src_len,
                           frz_buf *out, frz_error *err)
{
    lzma_allocator allocator = allocator_of(env);
    if (level > MAX_XZ_LEVEL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "xz has no level %d", level);
    }
    size_t bound = lzma_stream_buffer_bound(src_len);
    if (bound == 0) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu bytes are too many for one xz stream", src_len);
    }
    frz_code rc = frz_buf_reserve(out, bound, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    lzma_ret state =
        lzma_easy_buffer_encode((uint32_t)(level > 0 ? level : DEFAULT_XZ_LEVEL), LZMA_CHECK_CRC64,
                                &allocator, src, src_len, out->data, &out->len, out->capacity);
    if (state != LZMA_OK) {
        return state == LZMA_MEM_ERROR
                   ? frz_fail_nomem(err, 0)
                   : frz_fail(err, FRZ_E_INTERNAL, "xz failed to compress %zu bytes", src_len);
    }
    return FRZ_OK;
}
