/*
 * Texts of the type module: schemas and name mappings in JSON, names of types, values. The first
 * byte chooses; whatever is accepted must be written in a form that is accepted again and means
 * the same.
 */
#include <stdlib.h>

#include "type/type_schema.h"
#include "type/type_value.h"

#define MAX_BYTES (1u << 22)

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void try_schema(frz_arena *arena, frz_str text)
{
    json_error_t fault;
    const frz_schema *schema = NULL;
    const frz_schema *again = NULL;
    json_t *back = NULL;
    frz_error err = {0};
    json_t *json = json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, &fault);
    if (json != NULL && frz_schema_from_json(arena, json, "schemas[0]", &schema, &err) == FRZ_OK &&
        frz_schema_to_json(schema, &back, &err) == FRZ_OK) {
        must(frz_schema_from_json(arena, back, "again", &again, &err) == FRZ_OK);
        must(frz_type_equal(schema->type, again->type));
    }
    json_decref(back);
    json_decref(json);
}

static void try_mapping(frz_arena *arena, frz_str text)
{
    frz_name_mapping mapping;
    frz_error err = {0};
    frz_field fields[2] = {
        {.id = FRZ_ID_NONE, .name = FRZ_STR("a"), .type = frz_type_primitive(FRZ_TYPE_INT)},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("b"), .type = frz_type_primitive(FRZ_TYPE_INT)}};
    frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 2};
    const frz_type *mapped;
    if (frz_name_mapping_parse(arena, text, &mapping, &err) == FRZ_OK) {
        (void)frz_name_mapping_apply(arena, &mapping, &root, &mapped, &err);
    }
}

/* "type\nvalue" */
static void try_value(frz_arena *arena, frz_str text)
{
    frz_error err = {0};
    const char *end = text.len == 0 ? NULL : memchr(text.ptr, '\n', text.len);
    const frz_type *type;
    const frz_type *same;
    frz_value value;
    frz_value again;
    frz_buf name = FRZ_BUF_INIT(arena->env, MAX_BYTES);
    if (end == NULL || frz_type_parse(arena, (frz_str){text.ptr, (size_t)(end - text.ptr)}, &type,
                                      &err) != FRZ_OK) {
        return;
    }
    if (frz_type_print(type, &name, &err) == FRZ_OK) {
        must(frz_type_parse(arena, frz_buf_view(&name), &same, &err) == FRZ_OK);
        must(frz_type_same_shape(type, same));
    }
    frz_buf_reset(&name);
    frz_str rest = {end + 1, text.len - (size_t)(end + 1 - text.ptr)};
    frz_buf printed = FRZ_BUF_INIT(arena->env, MAX_BYTES);
    if (frz_value_parse(arena, type, rest, &value, &err) == FRZ_OK &&
        frz_value_print(&value, &printed, &err) == FRZ_OK) {
        must(frz_value_parse(arena, type, frz_buf_view(&printed), &again, &err) == FRZ_OK);
        must(frz_value_compare(&value, &again, true) == 0);
    }
    frz_buf_reset(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *env = NULL;
    frz_arena arena;
    if (size == 0 || frz_env_new(NULL, &env, NULL) != FRZ_OK) {
        return 0;
    }
    frz_str text = {(const char *)data + 1, size - 1};
    frz_arena_init(&arena, env, MAX_BYTES);
    if (data[0] == 's') {
        try_schema(&arena, text);
    } else if (data[0] == 'm') {
        try_mapping(&arena, text);
    } else {
        try_value(&arena, text);
    }
    frz_arena_reset(&arena);
    frz_env_free(env);
    return 0;
}
