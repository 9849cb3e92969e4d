/*
 * An Avro file through the public interface: what it says of itself and its rows, all of them, a
 * range of them, and none of their columns, which must come to the same.
 *
 * Input: a byte, and by it the file itself, or a schema's text up to a NUL and the data of blocks
 * (a byte for the rows and one for the length before each), around which a file is made: so
 * mutations reach what lies behind sync markers, lengths and checksums.
 */
#include "codec/codec.h"
#include "frazil/avro.h"
#include "fuzz_storage.h"

#define MAX_INPUT (1u << 16)
#define MOST_BATCHES 16
#define FEW_BLOCKS 2
#define MOST_MEMORY ((size_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- memory that ends ---- */

typedef struct limited {
    size_t used;
} limited;

static void *limited_alloc(void *ctx, size_t size)
{
    limited *l = ctx;
    void *made = size > MOST_MEMORY - l->used ? NULL : malloc(size);
    l->used += made == NULL ? 0 : size;
    return made;
}

static void *limited_realloc(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    limited *l = ctx;
    void *made = new_size > MOST_MEMORY - l->used ? NULL : realloc(ptr, new_size);
    l->used = made == NULL ? l->used : l->used - old_size + new_size;
    return made;
}

static void limited_free(void *ctx, void *ptr, size_t size)
{
    limited *l = ctx;
    l->used -= size;
    free(ptr);
}

/* ---- making a file ---- */

static void put_long(frz_buf *out, uint64_t value)
{
    for (value <<= 1; value >= 0x80; value >>= 7) {
        frz_buf_append_byte(out, (uint8_t)(value | 0x80), NULL);
    }
    frz_buf_append_byte(out, (uint8_t)value, NULL);
}

static void put_bytes(frz_buf *out, const void *bytes, size_t len)
{
    put_long(out, len);
    frz_buf_append(out, bytes, len, NULL);
}

static const struct {
    const char *name;
    frz_codec_id id;
} codecs[] = {
    {"null", FRZ_CODEC_NONE},      {"deflate", FRZ_CODEC_DEFLATE}, {"snappy", FRZ_CODEC_SNAPPY},
    {"zstandard", FRZ_CODEC_ZSTD}, {"bzip2", FRZ_CODEC_BZIP2},     {"xz", FRZ_CODEC_XZ},
};

static void put_block(frz_buf *out, frz_codec *codec, size_t kind, uint64_t rows,
                      const uint8_t *data, size_t len)
{
    static const uint8_t sync[16] = {0};
    frz_buf packed = FRZ_BUF_INIT(out->env, FRZ_BUF_NO_LIMIT);
    frz_codec_compress(codec, data, len, &packed, NULL);
    if (codecs[kind].id == FRZ_CODEC_SNAPPY) {
        uint32_t crc = __builtin_bswap32(frz_crc32(0, data, len));
        frz_buf_append(&packed, &crc, sizeof crc, NULL);
    }
    put_long(out, rows);
    put_bytes(out, packed.data, packed.len);
    frz_buf_append(out, sync, sizeof sync, NULL);
    frz_buf_reset(&packed);
}

static void make_file(const frz_env *env, size_t kind, const uint8_t *data, size_t size,
                      frz_buf *out)
{
    static const uint8_t sync[16] = {0};
    frz_codec *codec = NULL;
    const uint8_t *end = memchr(data, 0, size);
    size_t len = end == NULL ? size : (size_t)(end - data);
    frz_buf_append(out, "Obj\x01", 4, NULL);
    put_long(out, 2);
    put_bytes(out, "avro.schema", 11);
    put_bytes(out, data, len);
    put_bytes(out, "avro.codec", 10);
    put_bytes(out, codecs[kind].name, strlen(codecs[kind].name));
    put_long(out, 0);
    frz_buf_append(out, sync, sizeof sync, NULL);
    if (frz_codec_new(env, codecs[kind].id, 1, &codec, NULL) != FRZ_OK) {
        return;
    }
    bool dear = codecs[kind].id == FRZ_CODEC_BZIP2 || codecs[kind].id == FRZ_CODEC_XZ;
    size_t left = dear ? FEW_BLOCKS : SIZE_MAX; /* packing takes megabytes each time */
    for (size_t at = len + 1; at + 2 <= size && left > 0; left--) {
        size_t take = FRZ_MIN((size_t)data[at + 1] + 1, size - at - 2);
        put_block(out, codec, kind, data[at], data + at + 2, take);
        at += 2 + take;
    }
    frz_codec_free(codec);
}

/* ---- reading ---- */

/* Look at every byte, so that a sanitizer sees what is not there. */
static uint64_t look_at(const struct ArrowArray *a)
{
    uint64_t sum = (uint64_t)a->length;
    if (a->n_buffers == 3 && a->length > 0) {
        const int32_t *offsets = a->buffers[1];
        const uint8_t *bytes = a->buffers[2];
        for (int32_t i = offsets[0]; i < offsets[a->length]; i++) {
            sum += bytes[i];
        }
    }
    for (int64_t i = 0; a->n_buffers > 0 && a->buffers[0] != NULL && i < a->length; i++) {
        sum += ((const uint8_t *)a->buffers[0])[i / 8];
    }
    for (int64_t i = 0; i < a->n_children; i++) {
        sum += look_at(a->children[i]);
    }
    return sum;
}

/* Rows until the end, or a failure (false), or enough of them. */
static bool read_rows(frz_avro_file *file, const frz_avro_read_options *opts, int64_t *rows)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    bool good = true;
    *rows = 0;
    if (frz_avro_file_read(file, opts, &stream, NULL) != FRZ_OK) {
        return false;
    }
    for (int i = 0; good && i < MOST_BATCHES; i++) {
        good = stream.get_next(&stream, &batch) == 0;
        if (!good || batch.release == NULL) {
            break;
        }
        *rows += batch.length + (look_at(&batch) == UINT64_MAX);
        batch.release(&batch);
    }
    stream.release(&stream);
    return good;
}

static void check(bool ok)
{
    if (!ok) {
        __builtin_trap();
    }
}

static void look_at_file(frz_avro_file *file)
{
    static const char *const none[] = {""};
    frz_avro_file_info info;
    frz_avro_read_options opts = FRZ_AVRO_READ_OPTIONS_INIT;
    struct ArrowSchema schema;
    int64_t rows, again;
    frz_avro_file_info_get(file, &info);
    if (frz_avro_file_schema(file, &schema, NULL) == FRZ_OK) {
        schema.release(&schema);
    }
    bool good = read_rows(file, NULL, &rows);
    opts.first_row = info.rows / 2;
    bool half = read_rows(file, &opts, &again);
    check(!good || info.rows > rows || half);
    opts.first_row = 0;
    opts.columns = none; /* no columns: everything is passed over */
    opts.column_count = 0;
    bool skipped = read_rows(file, &opts, &again);
    check(!good || info.rows > rows || (skipped && again == rows));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    limited memory = {0};
    frz_allocator allocator = {sizeof allocator, limited_alloc, limited_realloc, limited_free,
                               &memory};
    if (size == 0 || size > MAX_INPUT) {
        return 0;
    }
    fuzz_storage storage = {"/f", data + 1, size - 1};
    size_t kind = data[0] % (FRZ_ARRAY_COUNT(codecs) + 1);
    frz_env *env = fuzz_env_over(&storage, &allocator);
    frz_buf made = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_avro_file *file = NULL;
    if (kind > 0) {
        make_file(env, kind - 1, data + 1, size - 1, &made);
        storage.data = made.data;
        storage.size = made.len;
    }
    if (frz_avro_file_open(env, "/f", &file, NULL) == FRZ_OK) {
        look_at_file(file);
        frz_avro_file_close(file);
    }
    frz_buf_reset(&made);
    frz_env_drop_cache(env);
    fuzz_env_free(env);
    return 0;
}
