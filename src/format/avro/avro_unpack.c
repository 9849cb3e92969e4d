/*
 * The codecs of Avro. No block tells how large its data is, so it grows up to a bound.
 */
#include "format/avro/avro_internal.h"

static const struct {
    const char *name;
    frz_codec_id id;
} codecs[] = {
    {"null", FRZ_CODEC_NONE},      {"deflate", FRZ_CODEC_DEFLATE}, {"snappy", FRZ_CODEC_SNAPPY},
    {"zstandard", FRZ_CODEC_ZSTD}, {"bzip2", FRZ_CODEC_BZIP2},     {"xz", FRZ_CODEC_XZ},
};

frz_code avro_codec_of(frz_str name, frz_codec_id *out, frz_error *err)
{
    if (name.ptr == NULL) {
        *out = FRZ_CODEC_NONE;
        return FRZ_OK;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        if (frz_str_equal(name, frz_str_from(codecs[i].name))) {
            *out = codecs[i].id;
            return FRZ_OK;
        }
    }
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: Avro codec \"%.*s\"",
                    (int)FRZ_MIN(name.len, 40), name.ptr);
}

const char *avro_codec_name(frz_codec_id id)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        if (codecs[i].id == id) {
            return codecs[i].name;
        }
    }
    return "unknown";
}

/* spec: each snappy block is followed by the big-endian CRC-32 of what comes out of it. */
#define SNAPPY_TAIL 4

static frz_code check_crc(const uint8_t *tail, frz_str data, frz_error *err)
{
    uint32_t said = (uint32_t)tail[0] << 24 | (uint32_t)tail[1] << 16 | (uint32_t)tail[2] << 8 |
                    (uint32_t)tail[3];
    uint32_t found = frz_crc32(0, data.ptr, data.len);
    return said == found
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "the block's checksum is %08x, that of its data %08x",
                          said, found);
}

frz_code avro_unpack(frz_codec *codec, frz_codec_id id, frz_str packed, frz_buf *out, frz_str *data,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t tail = id == FRZ_CODEC_SNAPPY ? SNAPPY_TAIL : 0;
    if (id == FRZ_CODEC_NONE) {
        *data = packed;
        return FRZ_OK;
    }
    if (packed.len < tail) {
        return frz_fail(err, FRZ_E_CORRUPT, "a snappy block of %zu bytes has no checksum",
                        packed.len);
    }
    frz_buf_clear(out);
    FRZ_TRY(frz_codec_decompress_all(codec, packed.ptr, packed.len - tail, out, err));
    *data = frz_buf_view(out);
    if (tail > 0) {
        FRZ_TRY(check_crc((const uint8_t *)packed.ptr + packed.len - tail, *data, err));
    }
out:
    return rc;
}
