/*
 * Puffin files: a magic number, blobs, and a footer of JSON that says where they are.
 * spec: Puffin file
 */
#include "base/base_json.h"
#include "codec/codec.h"
#include "format/puffin/puffin_internal.h"

#define TAIL_SIZE 12       /* size of the payload, flags, magic number */
#define FLAG_COMPRESSED 1u /* the payload is one LZ4 frame */
#define FOOTER_MAX ((size_t)1 << 28)
#define BLOB_MAX ((size_t)1 << 31) /* unpacked */

const uint8_t puffin_magic[PUFFIN_MAGIC_SIZE] = {'P', 'F', 'A', '1'};

struct frz_puffin {
    const frz_env *env;
    frz_file *file;
    frz_arena arena;
    frz_puffin_blob *blobs;
    size_t blob_count;
    const frz_puffin_property *properties;
    size_t property_count;
};

/* ---- the footer's bytes ---- */

static frz_code check_magic(const frz_puffin *puffin, uint64_t offset, const uint8_t *found,
                            frz_error *err)
{
    if (memcmp(found, puffin_magic, PUFFIN_MAGIC_SIZE) == 0) {
        return FRZ_OK;
    }
    return frz_fail_at(err, FRZ_E_CORRUPT, offset,
                       "%s: there is no Puffin file: its magic number is not at byte %llu",
                       frz_file_location(puffin->file), (unsigned long long)offset);
}

/* Where the payload of the footer lies, from the last bytes of the file. */
static frz_code find_payload(const frz_puffin *puffin, uint64_t *offset, size_t *size,
                             bool *compressed, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t head[PUFFIN_MAGIC_SIZE], tail[TAIL_SIZE];
    uint64_t file_size = frz_file_size(puffin->file);
    if (file_size < PUFFIN_MAGIC_SIZE + PUFFIN_MAGIC_SIZE + TAIL_SIZE) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: a Puffin file cannot have %llu bytes only",
                        frz_file_location(puffin->file), (unsigned long long)file_size);
    }
    FRZ_TRY(frz_file_read(puffin->file, 0, head, sizeof head, err));
    FRZ_TRY(check_magic(puffin, 0, head, err));
    FRZ_TRY(frz_file_read(puffin->file, file_size - TAIL_SIZE, tail, sizeof tail, err));
    FRZ_TRY(check_magic(puffin, file_size - PUFFIN_MAGIC_SIZE, tail + 8, err));
    uint32_t said = frz_load_le32(tail), flags = frz_load_le32(tail + 4);
    if (said > file_size - 2 * PUFFIN_MAGIC_SIZE - TAIL_SIZE || said > FOOTER_MAX) {
        return frz_fail_at(err, FRZ_E_CORRUPT, file_size - TAIL_SIZE,
                           "%s: a footer of %u bytes cannot lie in a file of %llu",
                           frz_file_location(puffin->file), said, (unsigned long long)file_size);
    }
    if ((flags & ~FLAG_COMPRESSED) != 0) {
        return frz_fail_at(err, FRZ_E_UNSUPPORTED, file_size - 8,
                           "%s: unknown flags %08x of a Puffin footer",
                           frz_file_location(puffin->file), flags);
    }
    *compressed = (flags & FLAG_COMPRESSED) != 0;
    *size = said;
    *offset = file_size - TAIL_SIZE - said;
    FRZ_TRY(frz_file_read(puffin->file, *offset - PUFFIN_MAGIC_SIZE, head, sizeof head, err));
    rc = check_magic(puffin, *offset - PUFFIN_MAGIC_SIZE, head, err);
out:
    return rc;
}

/* Unpacked and appended. */
static frz_code unpack(const frz_env *env, frz_codec_id id, frz_str packed, frz_buf *out,
                       frz_error *err)
{
    frz_codec *codec = NULL;
    frz_code rc = frz_codec_new(env, id, 0, &codec, err);
    if (rc == FRZ_OK) {
        rc = frz_codec_decompress_all(codec, packed.ptr, packed.len, out, err);
    }
    frz_codec_free(codec);
    return rc;
}

/* Append bytes of the file. */
static frz_code read_bytes(const frz_puffin *puffin, uint64_t offset, size_t size, frz_buf *out,
                           frz_error *err)
{
    frz_code rc = frz_buf_reserve(out, size, err);
    if (rc == FRZ_OK && size > 0) {
        rc = frz_file_read(puffin->file, offset, out->data + out->len, size, err);
    }
    out->len += rc == FRZ_OK ? size : 0;
    return rc;
}

static frz_code read_payload(const frz_puffin *puffin, uint64_t *offset, frz_buf *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t size = 0;
    bool compressed = false;
    frz_buf packed = FRZ_BUF_INIT(puffin->env, FOOTER_MAX);
    FRZ_TRY(find_payload(puffin, offset, &size, &compressed, err));
    FRZ_TRY(read_bytes(puffin, *offset, size, compressed ? &packed : out, err));
    if (compressed) {
        rc = unpack(puffin->env, FRZ_CODEC_LZ4_FRAME, frz_buf_view(&packed), out, err);
    }
out:
    frz_buf_reset(&packed);
    return rc;
}

/* ---- the footer's JSON ---- */

static frz_code bad_member(const frz_puffin *puffin, size_t blob, const char *key, const char *what,
                           frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s: footer, blobs[%zu].%s: expected %s",
                    frz_file_location(puffin->file), blob, key, what);
}

static frz_code get_integer(const frz_puffin *puffin, const json_t *json, size_t blob,
                            const char *key, int64_t least, int64_t *out, frz_error *err)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_integer(value) || json_integer_value(value) < least) {
        return bad_member(puffin, blob, key, least < 0 ? "an integer" : "an integer of 0 or more",
                          err);
    }
    *out = json_integer_value(value);
    return FRZ_OK;
}

static frz_code copy_text(frz_puffin *puffin, const json_t *value, frz_str *out, frz_error *err)
{
    return frz_arena_str(&puffin->arena,
                         (frz_str){json_string_value(value), json_string_length(value)}, out, err);
}

static frz_code get_properties(frz_puffin *puffin, const json_t *json,
                               const frz_puffin_property **out, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *key;
    json_t *value;
    size_t n = 0;
    json_t *object = json_object_get(json, "properties");
    frz_puffin_property *list =
        frz_arena_array(&puffin->arena, json_object_size(object) + 1, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(err, json_object_size(object) * sizeof *list);
    }
    if (object != NULL && !json_is_null(object) && !json_is_object(object)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: footer, properties: expected an object",
                        frz_file_location(puffin->file));
    }
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value)) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s: footer, property \"%s\": expected a string",
                            frz_file_location(puffin->file), key);
        }
        FRZ_TRY(frz_arena_str(&puffin->arena, frz_str_from(key), &list[n].key, err));
        FRZ_TRY(copy_text(puffin, value, &list[n++].value, err));
    }
    *out = list;
    *count = n;
out:
    return rc;
}

static frz_code get_fields(frz_puffin *puffin, const json_t *json, size_t i, frz_puffin_blob *blob,
                           frz_error *err)
{
    const json_t *list = json_object_get(json, "fields");
    size_t count = json_array_size(list);
    int32_t *ids = frz_arena_array(&puffin->arena, count + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    if (!json_is_array(list)) {
        return bad_member(puffin, i, "fields", "a list of field ids", err);
    }
    for (size_t k = 0; k < count; k++) {
        const json_t *id = json_array_get(list, k);
        if (!json_is_integer(id) || json_integer_value(id) < INT32_MIN ||
            json_integer_value(id) > INT32_MAX) {
            return bad_member(puffin, i, "fields", "a list of field ids", err);
        }
        ids[k] = (int32_t)json_integer_value(id);
    }
    blob->fields = ids;
    blob->field_count = count;
    return FRZ_OK;
}

/* A blob lies between the first magic number and the footer. */
static frz_code get_place(const frz_puffin *puffin, const json_t *json, size_t i, uint64_t footer,
                          frz_puffin_blob *blob, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t offset = 0, length = 0;
    FRZ_TRY(get_integer(puffin, json, i, "offset", 0, &offset, err));
    FRZ_TRY(get_integer(puffin, json, i, "length", 0, &length, err));
    blob->offset = (uint64_t)offset;
    blob->length = (uint64_t)length;
    if (blob->offset < PUFFIN_MAGIC_SIZE || blob->offset > footer ||
        blob->length > footer - blob->offset) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%s: footer, blobs[%zu]: %lld bytes at byte %lld do not lie between byte %d "
                      "and the footer at byte %llu",
                      frz_file_location(puffin->file), i, (long long)length, (long long)offset,
                      PUFFIN_MAGIC_SIZE, (unsigned long long)footer);
    }
out:
    return rc;
}

static frz_code get_blob(frz_puffin *puffin, const json_t *json, size_t i, uint64_t footer,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_puffin_blob *blob = &puffin->blobs[i];
    const json_t *type = json_object_get(json, "type");
    const json_t *codec = json_object_get(json, "compression-codec");
    if (!json_is_object(json) || !json_is_string(type)) {
        return bad_member(puffin, i, "type", "a string", err);
    }
    FRZ_TRY(copy_text(puffin, type, &blob->type, err));
    if (codec != NULL && !json_is_null(codec)) {
        if (!json_is_string(codec)) {
            return bad_member(puffin, i, "compression-codec", "a string", err);
        }
        FRZ_TRY(copy_text(puffin, codec, &blob->codec, err));
    }
    FRZ_TRY(get_fields(puffin, json, i, blob, err));
    FRZ_TRY(get_integer(puffin, json, i, "snapshot-id", INT64_MIN, &blob->snapshot_id, err));
    FRZ_TRY(
        get_integer(puffin, json, i, "sequence-number", INT64_MIN, &blob->sequence_number, err));
    FRZ_TRY(get_place(puffin, json, i, footer, blob, err));
    FRZ_TRY(get_properties(puffin, json, &blob->properties, &blob->property_count, err));
out:
    return rc;
}

static frz_code parse_footer(frz_puffin *puffin, frz_str text, uint64_t footer, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    rc = frz_json_parse(puffin->env, text, &json, err);
    FRZ_TRY(frz_context(err, rc, "reading the footer of %s", frz_file_location(puffin->file)));
    const json_t *blobs = json_object_get(json, "blobs");
    if (!json_is_array(blobs)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: footer: expected an object with a list \"blobs\"",
                      frz_file_location(puffin->file));
        goto out;
    }
    puffin->blob_count = json_array_size(blobs);
    puffin->blobs = frz_arena_array(&puffin->arena, puffin->blob_count + 1, sizeof *puffin->blobs);
    if (puffin->blobs == NULL) {
        rc = frz_fail_nomem(err, puffin->blob_count * sizeof *puffin->blobs);
        goto out;
    }
    for (size_t i = 0; i < puffin->blob_count; i++) {
        FRZ_TRY(get_blob(puffin, json_array_get(blobs, i), i, footer, err));
    }
    FRZ_TRY(get_properties(puffin, json, &puffin->properties, &puffin->property_count, err));
out:
    json_decref(json);
    return rc;
}

frz_code frz_puffin_open(const frz_env *env, const char *location, frz_puffin **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t footer = 0;
    frz_buf payload = FRZ_BUF_INIT(env, FOOTER_MAX);
    frz_puffin *puffin = frz_alloc_zero(env, 1, sizeof *puffin);
    if (puffin == NULL) {
        return frz_fail_nomem(err, sizeof *puffin);
    }
    puffin->env = env;
    frz_arena_init(&puffin->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_file_open(env, location, &puffin->file, err));
    FRZ_TRY(read_payload(puffin, &footer, &payload, err));
    FRZ_TRY(parse_footer(puffin, frz_buf_view(&payload), footer - PUFFIN_MAGIC_SIZE, err));
    *out = puffin;
    puffin = NULL;
out:
    frz_puffin_close(puffin);
    frz_buf_reset(&payload);
    return rc;
}

void frz_puffin_close(frz_puffin *puffin)
{
    if (puffin != NULL) {
        frz_file_close(puffin->file);
        frz_arena_reset(&puffin->arena);
        frz_free(puffin->env, puffin);
    }
}

size_t frz_puffin_blob_count(const frz_puffin *puffin)
{
    return puffin->blob_count;
}

const frz_puffin_blob *frz_puffin_blob_at(const frz_puffin *puffin, size_t i)
{
    return &puffin->blobs[i];
}

const frz_puffin_property *frz_puffin_properties(const frz_puffin *puffin, size_t *count)
{
    *count = puffin->property_count;
    return puffin->properties;
}

/* ---- blobs ---- */

static frz_code codec_of(const frz_puffin *puffin, const frz_puffin_blob *blob, frz_codec_id *out,
                         frz_error *err)
{
    if (frz_str_equal(blob->codec, FRZ_STR("lz4"))) {
        *out = FRZ_CODEC_LZ4_FRAME;
    } else if (frz_str_equal(blob->codec, FRZ_STR("zstd"))) {
        *out = FRZ_CODEC_ZSTD;
    } else {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "%s: unsupported: blob with codec \"%.*s\"",
                        frz_file_location(puffin->file), FRZ_STR_ARG(blob->codec));
    }
    return FRZ_OK;
}

frz_code frz_puffin_read_blob(const frz_puffin *puffin, size_t i, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_puffin_blob *blob = &puffin->blobs[i];
    frz_codec_id codec = FRZ_CODEC_NONE;
    frz_buf packed = FRZ_BUF_INIT(puffin->env, BLOB_MAX);
    if (blob->codec.ptr == NULL) {
        return read_bytes(puffin, blob->offset, (size_t)blob->length, out, err);
    }
    FRZ_TRY(codec_of(puffin, blob, &codec, err));
    FRZ_TRY(read_bytes(puffin, blob->offset, (size_t)blob->length, &packed, err));
    FRZ_TRY(unpack(puffin->env, codec, frz_buf_view(&packed), out, err));
out:
    frz_buf_reset(&packed);
    return frz_context(err, rc, "reading blob %zu of %s", i, frz_file_location(puffin->file));
}
