/*
 * The codec that Parquet first called LZ4 (number 5, deprecated for LZ4_RAW). Its writers did not
 * agree on what it is:
 *
 *  - Hadoop's framing (parquet-mr, and parquet-cpp later): blocks of a big-endian uncompressed
 *    size, then pieces of a big-endian compressed size and an LZ4 block until that many bytes have
 *    come out;
 *  - an LZ4 frame (parquet-cpp for a while);
 *  - a bare LZ4 block (parquet-cpp at first).
 *
 * They are tried in this order. Each must use up the input and fill the output exactly, which the
 * others do not do by chance.
 */
#include <limits.h>
#include <lz4.h>

#include "codec/codec_internal.h"

#define WORD 4

static uint32_t load_be32(const uint8_t *p)
{
    return __builtin_bswap32(frz_load_le32(p));
}

/* One block of Hadoop's framing: *in and *out move behind it. */
static bool hadoop_block(const uint8_t **in, const uint8_t *in_end, uint8_t **out,
                         const uint8_t *out_end)
{
    if (in_end - *in < WORD) {
        return false;
    }
    size_t wanted = load_be32(*in);
    *in += WORD;
    if (wanted > (size_t)(out_end - *out) || wanted > INT_MAX) {
        return false;
    }
    while (wanted > 0) {
        if (in_end - *in < WORD) {
            return false;
        }
        size_t packed = load_be32(*in);
        *in += WORD;
        if (packed == 0 || packed > (size_t)(in_end - *in) || packed > INT_MAX) {
            return false;
        }
        int got = LZ4_decompress_safe((const char *)*in, (char *)*out, (int)packed, (int)wanted);
        if (got <= 0) {
            return false;
        }
        *in += packed;
        *out += got;
        wanted -= (size_t)got;
    }
    return true;
}

static bool hadoop_blocks(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
    const uint8_t *in_end = in + in_len;
    const uint8_t *out_end = out + out_len;
    while (in < in_end) {
        if (!hadoop_block(&in, in_end, &out, out_end)) {
            return false;
        }
    }
    return out == out_end;
}

static bool lz4_block(const uint8_t *in, size_t in_len, uint8_t *out, size_t out_len)
{
    return in_len <= INT_MAX && out_len <= INT_MAX &&
           LZ4_decompress_safe((const char *)in, (char *)out, (int)in_len, (int)out_len) ==
               (int)out_len;
}

frz_code codec_hadoop_lz4_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                     frz_error *err)
{
    static const uint8_t magic[WORD] = {0x04, 0x22, 0x4D, 0x18};
    if (hadoop_blocks(src, src_len, dst, dst_len)) {
        return FRZ_OK;
    }
    if (src_len > WORD && memcmp(src, magic, WORD) == 0) {
        bool fits;
        frz_code rc = codec_lz4_frames(src, src_len, dst, dst_len, &fits, err);
        if (rc != FRZ_OK || fits) {
            return rc;
        }
    }
    return lz4_block(src, src_len, dst, dst_len)
               ? FRZ_OK
               : codec_bad_stream(FRZ_CODEC_LZ4_HADOOP, dst_len, err);
}
