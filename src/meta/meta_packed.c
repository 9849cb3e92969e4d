/*
 * Packed metadata files, told by their first bytes and not by their names: gzip as the
 * specification has it, zstd as some writers do. spec: Table Metadata and Snapshots
 */
#include "codec/codec.h"
#include "meta/meta_internal.h"

static bool find_codec(const frz_buf *bytes, frz_codec_id *out)
{
    static const struct {
        uint8_t magic[4];
        size_t length;
        frz_codec_id id;
    } known[] = {
        {{0x1F, 0x8B}, 2, FRZ_CODEC_GZIP},
        {{0x28, 0xB5, 0x2F, 0xFD}, 4, FRZ_CODEC_ZSTD},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(known); i++) {
        if (bytes->len >= known[i].length &&
            memcmp(bytes->data, known[i].magic, known[i].length) == 0) {
            *out = known[i].id;
            return true;
        }
    }
    return false;
}

frz_code meta_unpack(const frz_env *env, frz_buf *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_codec_id id;
    frz_codec *codec = NULL;
    frz_buf text = FRZ_BUF_INIT(env, META_JSON_MAX);
    if (!find_codec(bytes, &id)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_codec_new(env, id, 0, &codec, err));
    FRZ_TRY(frz_codec_decompress_all(codec, bytes->data, bytes->len, &text, err));
    frz_buf_reset(bytes);
    *bytes = text;
    frz_buf_init(&text, env, META_JSON_MAX);
out:
    frz_buf_reset(&text);
    frz_codec_free(codec);
    return rc;
}
