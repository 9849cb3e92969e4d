/*
 * Packed metadata files: NAME.gz.metadata.json, told by their first bytes.
 */
#include "codec/codec.h"
#include "meta/meta_internal.h"

#define GZIP_SMALLEST 18 /* RFC 1952: header 10, deflate at least nothing, trailer 8 */
/* Deflate cannot pack better than about 1032 to 1, so a trailer that claims more is wrong. */
#define DEFLATE_BEST 1040

frz_code meta_gunzip(const frz_env *env, frz_buf *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_codec *codec = NULL;
    frz_buf text = FRZ_BUF_INIT(env, META_JSON_MAX);
    if (bytes->len < 2 || bytes->data[0] != 0x1F || bytes->data[1] != 0x8B) {
        return FRZ_OK;
    }
    if (bytes->len < GZIP_SMALLEST) {
        return frz_fail(err, FRZ_E_CORRUPT, "a gzip file has at least %d bytes, found %zu",
                        GZIP_SMALLEST, bytes->len);
    }
    size_t size = frz_load_le32(bytes->data + bytes->len - 4);
    if (size / DEFLATE_BEST > bytes->len || size > META_JSON_MAX) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "gzip trailer claims %zu bytes, too many for %zu packed ones", size,
                        bytes->len);
    }
    FRZ_TRY(frz_codec_new(env, FRZ_CODEC_GZIP, 0, &codec, err));
    FRZ_TRY(frz_buf_reserve(&text, size, err));
    FRZ_TRY(frz_codec_decompress(codec, bytes->data, bytes->len, text.data, size, err));
    text.len = size;
    frz_buf_reset(bytes);
    *bytes = text;
    text = (frz_buf)FRZ_BUF_INIT(env, META_JSON_MAX);
out:
    frz_buf_reset(&text);
    frz_codec_free(codec);
    return rc;
}
