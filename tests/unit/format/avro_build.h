/*
 * Avro files put together byte by byte, as legal or as wrong as a test wants them, and what tests
 * do with them.
 */
#ifndef FRZ_AVRO_BUILD_H
#define FRZ_AVRO_BUILD_H

#include <stdlib.h>
#include <unistd.h>

#include "base/base_json.h"
#include "format/format.h"
#include "type/type_value.h"
#include "unit/test_support.h"

static const uint8_t avro_sync[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

typedef struct avro_bytes {
    frz_buf buf;
} avro_bytes;

static inline avro_bytes avro_bytes_of(const frz_env *env)
{
    avro_bytes b = {FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT)};
    return b;
}

static inline void put_raw(avro_bytes *b, const void *bytes, size_t len)
{
    assert_int_equal(frz_buf_append(&b->buf, bytes, len, NULL), FRZ_OK);
}

static inline void put_byte(avro_bytes *b, unsigned byte)
{
    uint8_t one = (uint8_t)byte;
    put_raw(b, &one, 1);
}

static inline void put_long(avro_bytes *b, int64_t value)
{
    uint64_t folded = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    for (; folded >= 0x80; folded >>= 7) {
        put_byte(b, (unsigned)(folded & 0x7F) | 0x80);
    }
    put_byte(b, (unsigned)folded);
}

static inline void put_bytes(avro_bytes *b, const void *bytes, size_t len)
{
    put_long(b, (int64_t)len);
    put_raw(b, bytes, len);
}

static inline void put_text(avro_bytes *b, const char *text)
{
    put_bytes(b, text, strlen(text));
}

/* Magic and metadata: the schema, and the codec if there is one. */
static inline void put_header(avro_bytes *b, const char *schema, const char *codec)
{
    put_raw(b, "Obj\x01", 4);
    put_long(b, codec == NULL ? 1 : 2);
    put_text(b, "avro.schema");
    put_text(b, schema);
    if (codec != NULL) {
        put_text(b, "avro.codec");
        put_text(b, codec);
    }
    put_long(b, 0);
    put_raw(b, avro_sync, sizeof avro_sync);
}

static inline void put_block(avro_bytes *b, int64_t rows, const avro_bytes *data)
{
    put_long(b, rows);
    put_bytes(b, data->buf.data, data->buf.len);
    put_raw(b, avro_sync, sizeof avro_sync);
}

/* ---- files ---- */

/* The bytes as a file of their own; remove it with avro_remove. The bytes are given back. */
static inline char *avro_write(avro_bytes *b)
{
    static int number;
    char name[64];
    snprintf(name, sizeof name, "/tmp/frz_avro_%d_%d.avro", (int)getpid(), number++);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->buf.data, 1, b->buf.len, file), b->buf.len);
    assert_int_equal(fclose(file), 0);
    frz_buf_reset(&b->buf);
    return strdup(name);
}

static inline void avro_remove(char *location)
{
    unlink(location);
    free(location);
}

/* ---- rows as text ---- */

static inline void print_row(const frz_type *type, const struct ArrowArray *a, int64_t i,
                             frz_buf *out);

static inline void print_items(const frz_type *type, const struct ArrowArray *a, int64_t i,
                               frz_buf *out)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
    const struct ArrowArray *items = a->children[0];
    frz_buf_append_byte(out, '[', NULL);
    for (int32_t k = offsets[0]; k < offsets[1]; k++) {
        frz_buf_append_str(out, k > offsets[0] ? "," : "", NULL);
        if (type->id == FRZ_TYPE_LIST) {
            print_row(type->fields[0].type, items, k, out);
            continue;
        }
        print_row(type->fields[0].type, items->children[0], items->offset + k, out);
        frz_buf_append_byte(out, ':', NULL);
        print_row(type->fields[1].type, items->children[1], items->offset + k, out);
    }
    frz_buf_append_byte(out, ']', NULL);
}

static inline void print_row(const frz_type *type, const struct ArrowArray *a, int64_t i,
                             frz_buf *out)
{
    if (frz_is_null(a, i)) {
        frz_buf_append_str(out, "null", NULL);
        return;
    }
    if (type->id == FRZ_TYPE_LIST || type->id == FRZ_TYPE_MAP) {
        print_items(type, a, i, out);
        return;
    }
    if (type->id == FRZ_TYPE_STRUCT) {
        frz_buf_append_byte(out, '{', NULL);
        for (size_t k = 0; k < type->field_count; k++) {
            frz_buf_append_str(out, k > 0 ? "," : "", NULL);
            print_row(type->fields[k].type, a->children[k], a->offset + i, out);
        }
        frz_buf_append_byte(out, '}', NULL);
        return;
    }
    frz_value value = frz_value_at(type, a, i);
    assert_int_equal(frz_value_print(&value, out, NULL), FRZ_OK);
}

/* All rows of a request, each on a line. */
static inline frz_code avro_rows(const frz_data_file *file, const frz_read_request *request,
                                 frz_buf *out, frz_error *err)
{
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_code rc = frz_data_reader_open(file, request, &reader, err);
    while (rc == FRZ_OK) {
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc == FRZ_OK) {
            for (int64_t i = 0; i < batch.array.length; i++) {
                print_row(request->projection, &batch.array, i, out);
                frz_buf_append_byte(out, '\n', NULL);
            }
            frz_array_release(&batch.array);
        }
    }
    frz_data_reader_close(reader);
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* Open a file as it is, with ids of its own in place of those that it has or lacks. */
static inline frz_code avro_open_native(const frz_env *env, const char *location, frz_arena *arena,
                                        frz_data_file **out, frz_error *err)
{
    int32_t last;
    frz_code rc = frz_data_file_open(env, location, NULL, out, err);
    if (rc == FRZ_OK) {
        rc = frz_type_assign_ids(arena, (*out)->type, 1, &(*out)->type, &last, err);
    }
    return rc;
}

/* Open, and read as a projection; NULL: as the file is. */
static inline frz_code avro_read(const frz_env *env, const char *location, const frz_type *type,
                                 frz_buf *out, frz_error *err)
{
    frz_data_file *file = NULL;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = type == NULL ? avro_open_native(env, location, &arena, &file, err)
                               : frz_data_file_open(env, location, NULL, &file, err);
    if (rc == FRZ_OK) {
        frz_read_request request = {.projection = type == NULL ? frz_data_file_type(file) : type};
        rc = avro_rows(file, &request, out, err);
    }
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    return rc;
}

/* A struct type from Iceberg's JSON of its fields; NULL for NULL. */
static inline const frz_type *avro_type(frz_arena *arena, const char *fields)
{
    frz_error err = {0};
    json_t *json = NULL;
    const frz_schema *schema = NULL;
    if (fields == NULL) {
        return NULL;
    }
    char *text =
        frz_arena_printf(arena, "{\"type\":\"struct\",\"schema-id\":0,\"fields\":[%s]}", fields);
    assert_non_null(text);
    assert_ok(frz_json_parse(arena->env, frz_str_from(text), &json, &err), &err);
    assert_ok(frz_schema_from_json(arena, json, "schema", &schema, &err), &err);
    json_decref(json);
    return schema->type;
}

static inline void assert_text(const frz_buf *found, const char *expected)
{
    char *text = malloc(found->len + 1);
    assert_non_null(text);
    if (found->len > 0) {
        memcpy(text, found->data, found->len);
    }
    text[found->len] = '\0';
    assert_string_equal(text, expected);
    free(text);
}

#endif
