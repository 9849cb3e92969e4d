/*
 * Codecs: damaged streams of every codec into memory of exactly the size that is asked for and into
 * memory that grows, and back and forth.
 *
 * Input: codec, size of the output (3 bytes), then the stream.
 */
#include <stdlib.h>

#include "codec/codec.h"

#define HEAD 4
#define MAX_INPUT (1u << 16)
#define MAX_OUTPUT (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok) {
        __builtin_trap();
    }
}

static void unpack(frz_codec *codec, const uint8_t *data, size_t len, size_t out_len)
{
    uint8_t *in = malloc(len + 1); /* of exactly its size, so that a sanitizer sees more */
    uint8_t *out = malloc(out_len + 1);
    check(in != NULL && out != NULL);
    memcpy(in + 1, data, len);
    frz_codec_decompress(codec, in + 1, len, out + 1, out_len, NULL);
    free(in);
    free(out);
}

static void unpack_growing(const frz_env *env, frz_codec *codec, const uint8_t *data, size_t len)
{
    frz_buf out = FRZ_BUF_INIT(env, MAX_OUTPUT);
    frz_codec_decompress_all(codec, data, len, &out, NULL);
    check(out.len <= MAX_OUTPUT);
    frz_buf_reset(&out);
}

static void back_and_forth(const frz_env *env, frz_codec *codec, const uint8_t *data, size_t len)
{
    frz_buf packed = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    uint8_t *back = malloc(len + 1);
    check(back != NULL);
    frz_code rc = frz_codec_compress(codec, data, len, &packed, NULL);
    if (rc == FRZ_OK) {
        check(frz_codec_decompress(codec, packed.data, packed.len, back, len, NULL) == FRZ_OK);
        check(memcmp(back, data, len) == 0);
    } else {
        check(rc == FRZ_E_UNSUPPORTED);
    }
    free(back);
    frz_buf_reset(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *env = NULL;
    frz_codec *codec = NULL;
    if (size < HEAD || size > MAX_INPUT) {
        return 0;
    }
    frz_codec_id id = (frz_codec_id)(data[0] % FRZ_CODEC_COUNT);
    size_t out_len = (size_t)(data[1] | data[2] << 8 | data[3] << 16) % MAX_OUTPUT;
    check(frz_env_new(NULL, &env, NULL) == FRZ_OK);
    check(frz_codec_new(env, id, 1, &codec, NULL) == FRZ_OK);
    unpack(codec, data + HEAD, size - HEAD, out_len);
    unpack_growing(env, codec, data + HEAD, size - HEAD);
    back_and_forth(env, codec, data + HEAD, size - HEAD);
    frz_codec_free(codec);
    frz_env_free(env);
    return 0;
}
