/*
 * Compression codecs. Each library call gets the exact size of its output, so a stream that says
 * more or less than its page header is refused and never decides an allocation.
 */
#include <limits.h>
#include <lz4.h>
#include <snappy-c.h>
#include <xxhash.h>
#include <zstd_errors.h>

#include "codec/codec_internal.h"

#define DEFAULT_ZSTD_LEVEL 1
#define DEFAULT_DEFLATE_LEVEL 6
#define MAX_DEFLATE_LEVEL 12

const char *frz_codec_name(frz_codec_id id)
{
    static const char *const names[] = {"none",    "snappy", "gzip", "zstd",
                                        "lz4_raw", "brotli", "lz4",  "lz4_frame",
                                        "deflate", "bzip2",  "xz"};
    return (size_t)id < FRZ_ARRAY_COUNT(names) ? names[id] : "unknown";
}

frz_code frz_codec_new(const frz_env *env, frz_codec_id id, int level, frz_codec **out,
                       frz_error *err)
{
    frz_codec *codec = frz_alloc_zero(env, 1, sizeof *codec);
    if (codec == NULL) {
        return frz_fail_nomem(err, sizeof *codec);
    }
    codec->env = env;
    codec->id = id;
    codec->level = level;
    *out = codec;
    return FRZ_OK;
}

void frz_codec_free(frz_codec *codec)
{
    if (codec != NULL) {
        ZSTD_freeDCtx(codec->zstd_in);
        ZSTD_freeCCtx(codec->zstd_out);
        libdeflate_free_decompressor(codec->deflate_in);
        libdeflate_free_compressor(codec->deflate_out);
        frz_free(codec->env, codec);
    }
}

/* ---- decompression ---- */

frz_code codec_wrong_size(frz_codec_id id, size_t found, size_t expected, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s data holds %zu bytes, expected %zu", frz_codec_name(id),
                    found, expected);
}

frz_code codec_bad_stream(frz_codec_id id, size_t expected, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s data is damaged or does not hold exactly %zu bytes",
                    frz_codec_name(id), expected);
}

static frz_code none_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                frz_error *err)
{
    if (src_len != dst_len) {
        return codec_wrong_size(FRZ_CODEC_NONE, src_len, dst_len, err);
    }
    if (dst_len > 0) {
        memcpy(dst, src, dst_len);
    }
    return FRZ_OK;
}

/* The length that the stream begins with is looked at first: the library writes that many bytes. */
static frz_code snappy_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                  frz_error *err)
{
    size_t said;
    if (snappy_uncompressed_length(src, src_len, &said) != SNAPPY_OK) {
        return codec_bad_stream(FRZ_CODEC_SNAPPY, dst_len, err);
    }
    if (said != dst_len) {
        return codec_wrong_size(FRZ_CODEC_SNAPPY, said, dst_len, err);
    }
    if (snappy_uncompress(src, src_len, dst, &said) != SNAPPY_OK || said != dst_len) {
        return codec_bad_stream(FRZ_CODEC_SNAPPY, dst_len, err);
    }
    return FRZ_OK;
}

frz_code codec_need_deflate_in(frz_codec *codec, frz_error *err)
{
    if (codec->deflate_in == NULL) {
        codec->deflate_in = libdeflate_alloc_decompressor();
    }
    return codec->deflate_in == NULL ? frz_fail_nomem(err, 0) : FRZ_OK;
}

/* The two bytes that begin zlib's wrapping of deflate, which some writers took for gzip. */
static bool is_zlib(const uint8_t *in, size_t len)
{
    return len >= 2 && (in[0] & 0x0F) == 8 && ((unsigned)in[0] << 8 | in[1]) % 31 == 0;
}

static bool is_gzip(const uint8_t *in, size_t len)
{
    return len >= 2 && in[0] == 0x1F && in[1] == 0x8B;
}

/*
 * Members one after the other, as gzip allows. What follows a member that filled the output and is
 * not another member is padding, which gzip passes over, too.
 */
static frz_code gzip_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                                size_t dst_len, frz_error *err)
{
    const uint8_t *in = src;
    uint8_t *out = dst;
    frz_code rc = codec_need_deflate_in(codec, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    bool zlib = is_zlib(in, src_len);
    for (bool first = true; src_len > 0 && (first || dst_len > 0 || is_gzip(in, src_len));
         first = false) {
        size_t taken = 0;
        size_t given = 0;
        enum libdeflate_result result =
            zlib ? libdeflate_zlib_decompress_ex(codec->deflate_in, in, src_len, out, dst_len,
                                                 &taken, &given)
                 : libdeflate_gzip_decompress_ex(codec->deflate_in, in, src_len, out, dst_len,
                                                 &taken, &given);
        if (result != LIBDEFLATE_SUCCESS || taken == 0) {
            return codec_bad_stream(FRZ_CODEC_GZIP, dst_len, err);
        }
        in += taken;
        src_len -= taken;
        out += given;
        dst_len -= given;
    }
    return dst_len == 0 ? FRZ_OK : codec_bad_stream(FRZ_CODEC_GZIP, dst_len, err);
}

static frz_code deflate_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                                   size_t dst_len, frz_error *err)
{
    frz_code rc = codec_need_deflate_in(codec, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    return libdeflate_deflate_decompress(codec->deflate_in, src, src_len, dst, dst_len, NULL) ==
                   LIBDEFLATE_SUCCESS
               ? FRZ_OK
               : codec_bad_stream(FRZ_CODEC_DEFLATE, dst_len, err);
}

bool codec_zstd_out_of_memory(size_t result)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation;
}

frz_code codec_need_zstd_in(frz_codec *codec, frz_error *err)
{
    if (codec->zstd_in == NULL) {
        codec->zstd_in = ZSTD_createDCtx();
    }
    return codec->zstd_in == NULL ? frz_fail_nomem(err, 0) : FRZ_OK;
}

static frz_code zstd_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                                size_t dst_len, frz_error *err)
{
    frz_code rc = codec_need_zstd_in(codec, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    size_t got = ZSTD_decompressDCtx(codec->zstd_in, dst, dst_len, src, src_len);
    if (ZSTD_isError(got) && codec_zstd_out_of_memory(got)) {
        return frz_fail_nomem(err, dst_len);
    }
    if (ZSTD_isError(got)) {
        return frz_fail(err, FRZ_E_CORRUPT, "zstd data of %zu bytes: %s", dst_len,
                        ZSTD_getErrorName(got));
    }
    return got == dst_len ? FRZ_OK : codec_wrong_size(FRZ_CODEC_ZSTD, got, dst_len, err);
}

/* bzip2 and xz, which are read as streams even where the size is known. */
static frz_code stream_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                                  size_t dst_len, frz_error *err)
{
    codec_output out = {.id = codec->id, .at = dst, .left = dst_len};
    frz_code rc = codec->id == FRZ_CODEC_BZIP2
                      ? codec_bzip2_decompress(codec->env, src, src_len, &out, err)
                      : codec_xz_decompress(codec->env, src, src_len, &out, err);
    if (rc != FRZ_OK || out.full || out.left == 0) {
        return rc;
    }
    return codec_wrong_size(codec->id, dst_len - out.left, dst_len, err);
}

static frz_code lz4_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                               frz_error *err)
{
    if (src_len > INT_MAX || dst_len > INT_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "an lz4 block of more than 2 GiB");
    }
    int got = LZ4_decompress_safe(src, dst, (int)src_len, (int)dst_len);
    if (got < 0) {
        return codec_bad_stream(FRZ_CODEC_LZ4_RAW, dst_len, err);
    }
    return (size_t)got == dst_len ? FRZ_OK
                                  : codec_wrong_size(FRZ_CODEC_LZ4_RAW, (size_t)got, dst_len, err);
}

frz_code frz_codec_decompress(frz_codec *codec, const void *src, size_t src_len, void *dst,
                              size_t dst_len, frz_error *err)
{
    uint8_t nothing = 0; /* the libraries want a pointer even for no bytes */
    void *to = dst_len == 0 ? &nothing : dst;
    switch (codec->id) {
    case FRZ_CODEC_NONE:
        return none_decompress(src, src_len, dst, dst_len, err);
    case FRZ_CODEC_SNAPPY:
        return snappy_decompress(src, src_len, to, dst_len, err);
    case FRZ_CODEC_GZIP:
        return gzip_decompress(codec, src, src_len, to, dst_len, err);
    case FRZ_CODEC_ZSTD:
        return zstd_decompress(codec, src, src_len, to, dst_len, err);
    case FRZ_CODEC_LZ4_RAW:
        return lz4_decompress(src, src_len, to, dst_len, err);
    case FRZ_CODEC_BROTLI:
        return codec_brotli_decompress(codec->env, src, src_len, to, dst_len, err);
    case FRZ_CODEC_LZ4_HADOOP:
        return codec_hadoop_lz4_decompress(src, src_len, to, dst_len, err);
    case FRZ_CODEC_LZ4_FRAME:
        return codec_lz4_frame_decompress(src, src_len, to, dst_len, err);
    case FRZ_CODEC_DEFLATE:
        return deflate_decompress(codec, src, src_len, to, dst_len, err);
    case FRZ_CODEC_BZIP2:
    case FRZ_CODEC_XZ:
        return stream_decompress(codec, src, src_len, to, dst_len, err);
    }
    return frz_fail(err, FRZ_E_INTERNAL, "codec %d does not exist", (int)codec->id);
}

/* ---- compression ---- */

static frz_code failed(frz_codec_id id, size_t len, frz_error *err)
{
    return frz_fail(err, FRZ_E_INTERNAL, "%s failed to compress %zu bytes", frz_codec_name(id),
                    len);
}

/* The library's working memory is a C++ allocation, whose failure ends the process: there is no
 * exception that C could catch. It is freed at the end of each call. */
static frz_code snappy_compress_to(const void *src, size_t src_len, frz_buf *out, frz_error *err)
{
    size_t len = snappy_max_compressed_length(src_len);
    frz_code rc = frz_buf_reserve(out, len, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (snappy_compress(src, src_len, (char *)out->data + out->len, &len) != SNAPPY_OK) {
        return failed(FRZ_CODEC_SNAPPY, src_len, err);
    }
    out->len += len;
    return FRZ_OK;
}

/* With gzip's wrapping or none. */
static frz_code deflate_compress_to(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                                    frz_error *err)
{
    bool gzip = codec->id == FRZ_CODEC_GZIP;
    if (codec->deflate_out == NULL) {
        codec->deflate_out =
            libdeflate_alloc_compressor(codec->level > 0 ? codec->level : DEFAULT_DEFLATE_LEVEL);
        if (codec->deflate_out == NULL) {
            return codec->level > MAX_DEFLATE_LEVEL
                       ? frz_fail(err, FRZ_E_ARGUMENT, "%s has no level %d",
                                  frz_codec_name(codec->id), codec->level)
                       : frz_fail_nomem(err, 0);
        }
    }
    struct libdeflate_compressor *c = codec->deflate_out;
    size_t bound = gzip ? libdeflate_gzip_compress_bound(c, src_len)
                        : libdeflate_deflate_compress_bound(c, src_len);
    frz_code rc = frz_buf_reserve(out, bound, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *to = out->data + out->len;
    size_t len = gzip ? libdeflate_gzip_compress(c, src, src_len, to, bound)
                      : libdeflate_deflate_compress(c, src, src_len, to, bound);
    if (len == 0) {
        return failed(codec->id, src_len, err);
    }
    out->len += len;
    return FRZ_OK;
}

frz_code codec_need_zstd_out(frz_codec *codec, frz_error *err)
{
    if (codec->zstd_out == NULL) {
        codec->zstd_out = ZSTD_createCCtx();
    }
    return codec->zstd_out == NULL ? frz_fail_nomem(err, 0) : FRZ_OK;
}

static frz_code zstd_compress_to(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                                 frz_error *err)
{
    size_t bound = ZSTD_compressBound(src_len);
    frz_code rc = codec_need_zstd_out(codec, err);
    rc = rc == FRZ_OK ? frz_buf_reserve(out, bound, err) : rc;
    if (rc != FRZ_OK) {
        return rc;
    }
    size_t len = ZSTD_compressCCtx(codec->zstd_out, out->data + out->len, bound, src, src_len,
                                   codec->level > 0 ? codec->level : DEFAULT_ZSTD_LEVEL);
    if (ZSTD_isError(len)) {
        return codec_zstd_out_of_memory(len) ? frz_fail_nomem(err, src_len)
                                             : failed(FRZ_CODEC_ZSTD, src_len, err);
    }
    out->len += len;
    return FRZ_OK;
}

static frz_code lz4_compress_to(const void *src, size_t src_len, frz_buf *out, frz_error *err)
{
    if (src_len > LZ4_MAX_INPUT_SIZE) {
        return frz_fail(err, FRZ_E_LIMIT, "an lz4 block of more than 2 GiB");
    }
    int bound = LZ4_compressBound((int)src_len);
    frz_code rc = frz_buf_reserve(out, (size_t)bound, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int len = LZ4_compress_default(src, (char *)out->data + out->len, (int)src_len, bound);
    if (len <= 0) {
        return failed(FRZ_CODEC_LZ4_RAW, src_len, err);
    }
    out->len += (size_t)len;
    return FRZ_OK;
}

frz_code frz_codec_compress(frz_codec *codec, const void *src, size_t src_len, frz_buf *out,
                            frz_error *err)
{
    const void *from = src_len == 0 ? "" : src;
    switch (codec->id) {
    case FRZ_CODEC_NONE:
        return frz_buf_append(out, from, src_len, err);
    case FRZ_CODEC_SNAPPY:
        return snappy_compress_to(from, src_len, out, err);
    case FRZ_CODEC_GZIP:
    case FRZ_CODEC_DEFLATE:
        return deflate_compress_to(codec, from, src_len, out, err);
    case FRZ_CODEC_ZSTD:
        return zstd_compress_to(codec, from, src_len, out, err);
    case FRZ_CODEC_LZ4_RAW:
        return lz4_compress_to(from, src_len, out, err);
    case FRZ_CODEC_BROTLI:
        return codec_brotli_compress(codec->env, codec->level, from, src_len, out, err);
    case FRZ_CODEC_LZ4_HADOOP:
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: compression with lz4 in Hadoop's framing");
    case FRZ_CODEC_LZ4_FRAME:
        return codec_lz4_frame_compress(from, src_len, out, err);
    case FRZ_CODEC_BZIP2:
        return codec_bzip2_compress(codec->env, codec->level, from, src_len, out, err);
    case FRZ_CODEC_XZ:
        return codec_xz_compress(codec->env, codec->level, from, src_len, out, err);
    }
    return frz_fail(err, FRZ_E_INTERNAL, "codec %d does not exist", (int)codec->id);
}

/* ---- checksums and hashes ---- */

uint32_t frz_crc32(uint32_t crc, const void *bytes, size_t len)
{
    return libdeflate_crc32(crc, bytes, len);
}

uint64_t frz_xxh64(const void *bytes, size_t len)
{
    return XXH64(bytes, len, 0);
}
