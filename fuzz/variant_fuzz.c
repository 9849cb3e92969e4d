/*
 * fuzz: variants. 'p', a length, metadata and a value: what prints is UTF-8. Else a shape and rows
 * of shredded columns, which are put together; what is put together is a value again.
 */
#include <stdlib.h>

#include "type/type_variant.h"

#define MAX_BYTES (1u << 20)
#define MOST_ROWS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void append(void *ctx, const char *text, size_t size)
{
    (void)frz_buf_append(ctx, text, size, NULL);
}

static frz_code print(const frz_env *env, frz_str metadata, frz_str value)
{
    frz_variant_names names;
    frz_buf text = FRZ_BUF_INIT(env, MAX_BYTES);
    frz_code rc = frz_variant_names_read(metadata, &names, NULL);
    if (rc == FRZ_OK) {
        (void)frz_variant_find_name(&names, FRZ_STR("a"));
        rc = frz_variant_print(&names, value, append, &text, NULL);
    }
    must(rc != FRZ_OK || text.len == MAX_BYTES || frz_utf8_valid(frz_buf_view(&text)) ||
         text.len > MAX_BYTES - 8);
    frz_buf_reset(&text);
    return rc;
}

/* ---- shredded ---- */

typedef struct choices {
    const uint8_t *at, *end;
} choices;

static uint8_t next_byte(choices *c)
{
    return c->at == c->end ? 0 : *c->at++;
}

static frz_str next_bytes(choices *c)
{
    size_t wanted = next_byte(c);
    size_t len = FRZ_MIN(wanted, (size_t)(c->end - c->at));
    frz_str bytes = {(const char *)c->at, len};
    c->at += len;
    return bytes;
}

/* A column of any type in four levels at most. */
static const frz_type *choose_type(choices *c, frz_arena *arena, int depth);

static const frz_type *choose_pair(choices *c, frz_arena *arena, int depth, bool top)
{
    frz_field *fields = frz_arena_array(arena, 3, sizeof *fields);
    const frz_type *type = NULL;
    size_t n = 0;
    uint8_t which = next_byte(c);
    must(fields != NULL);
    if (top) {
        fields[n++] = (frz_field){.id = FRZ_ID_NONE,
                                  .name = FRZ_STR("metadata"),
                                  .type = frz_type_primitive(FRZ_TYPE_BINARY)};
    }
    if (which % 4 != 1) {
        fields[n++] = (frz_field){.id = FRZ_ID_NONE,
                                  .name = FRZ_STR("value"),
                                  .type = frz_type_primitive(FRZ_TYPE_BINARY)};
    }
    if (which % 4 != 2) {
        fields[n++] = (frz_field){.id = FRZ_ID_NONE,
                                  .name = FRZ_STR("typed_value"),
                                  .type = choose_type(c, arena, depth + 1)};
    }
    must(frz_type_struct_of(arena, fields, n, &type, NULL) == FRZ_OK);
    return type;
}

static const frz_type *choose_type(choices *c, frz_arena *arena, int depth)
{
    static const frz_type_id ids[] = {FRZ_TYPE_LONG,   FRZ_TYPE_STRING, FRZ_TYPE_BOOLEAN,
                                      FRZ_TYPE_DOUBLE, FRZ_TYPE_UUID,   FRZ_TYPE_BINARY};
    static const char *const names[] = {"a", "b", "c"};
    uint8_t kind = next_byte(c);
    const frz_type *type = NULL;
    if (depth > 3 || kind < 128) {
        return frz_type_primitive(ids[kind % FRZ_ARRAY_COUNT(ids)]);
    }
    size_t n = kind < 192 ? 1 : kind % 4;
    frz_field *fields = frz_arena_array(arena, n, sizeof *fields);
    must(fields != NULL);
    for (size_t i = 0; i < n; i++) {
        fields[i] = (frz_field){.id = FRZ_ID_NONE,
                                .name = frz_str_from(kind < 192 ? "element" : names[i]),
                                .type = choose_pair(c, arena, depth, false)};
    }
    must(frz_type_struct_of(arena, fields, n, &type, NULL) == FRZ_OK);
    ((frz_type *)(uintptr_t)type)->id = kind < 192 ? FRZ_TYPE_LIST : FRZ_TYPE_STRUCT;
    return type;
}

static void append_value(choices *c, frz_builder *b)
{
    const frz_type *type = frz_builder_type(b);
    frz_value value = {.type = type};
    if (next_byte(c) % 3 == 0) {
        must(frz_builder_null(b, NULL) == FRZ_OK);
        return;
    }
    if (frz_type_is_nested(type)) {
        int count = type->id == FRZ_TYPE_LIST ? next_byte(c) % 3 : 1;
        for (int n = 0; n < count; n++) {
            for (size_t i = 0; i < type->field_count; i++) {
                append_value(c, frz_builder_child(b, i));
            }
        }
        must(frz_builder_end(b, NULL) == FRZ_OK);
        return;
    }
    if (type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY) {
        value.as.bytes = next_bytes(c);
        value.is_null = type->id == FRZ_TYPE_STRING && !frz_utf8_valid(value.as.bytes);
    } else if (type->id == FRZ_TYPE_UUID) {
        value.as.bytes = FRZ_STR("0123456789abcdef");
    } else if (type->id == FRZ_TYPE_BOOLEAN) {
        value.as.boolean = next_byte(c) % 2 == 0;
    } else {
        value.as.i64 = next_byte(c);
    }
    must(frz_builder_value(b, &value, NULL) == FRZ_OK);
}

static void unshred(const frz_env *env, choices *c)
{
    frz_arena arena;
    frz_builder *b = NULL;
    struct ArrowArray stored, pair;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = choose_pair(c, &arena, 0, true);
    int rows = next_byte(c) % MOST_ROWS;
    must(frz_builder_new(env, type, &b, NULL) == FRZ_OK);
    for (int i = 0; i < rows; i++) {
        append_value(c, b);
    }
    must(frz_builder_finish(b, &stored, NULL) == FRZ_OK);
    frz_builder_free(b);
    if (frz_variant_unshred(env, type, &stored, &pair, NULL) == FRZ_OK) {
        for (int i = 0; i < rows; i++) {
            if (!frz_is_null(&pair, i)) {
                (void)print(env, frz_get_bytes(pair.children[0], i),
                            frz_get_bytes(pair.children[1], i));
            }
        }
        frz_array_release(&pair);
    }
    frz_array_release(&stored);
    frz_arena_reset(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *env = NULL;
    if (size == 0 || frz_env_new(NULL, &env, NULL) != FRZ_OK) {
        return 0;
    }
    choices c = {data + 1, data + size};
    if (data[0] == 'p') {
        frz_str metadata = next_bytes(&c);
        (void)print(env, metadata, (frz_str){(const char *)c.at, (size_t)(c.end - c.at)});
    } else {
        unshred(env, &c);
    }
    frz_env_free(env);
    return 0;
}
