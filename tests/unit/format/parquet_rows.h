/*
 * Tables of tests as text: a schema and rows in JSON become a type and a batch.
 */
#ifndef FRZ_TEST_PARQUET_ROWS_H
#define FRZ_TEST_PARQUET_ROWS_H

#include "type/type_value.h"
#include "unit/test_support.h"

/* fields: the "fields" array of an Iceberg schema, with ' for ". */
static inline const frz_type *rows_type(frz_arena *arena, const char *fields)
{
    frz_error err = {0};
    const frz_schema *schema = NULL;
    char text[4096];
    int len = snprintf(text, sizeof text, "{'type':'struct','schema-id':0,'fields':[%s]}", fields);
    assert_true(len > 0 && (size_t)len < sizeof text);
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    assert_ok(frz_schema_from_json(arena, json, "schema", &schema, &err), &err);
    json_decref(json);
    return schema->type;
}

static inline void rows_append(frz_arena *arena, frz_builder *b, const frz_type *type,
                               const json_t *json);

static inline void rows_append_nested(frz_arena *arena, frz_builder *b, const frz_type *type,
                                      const json_t *json)
{
    frz_error err = {0};
    if (type->id == FRZ_TYPE_STRUCT) {
        for (size_t i = 0; i < type->field_count; i++) {
            rows_append(arena, frz_builder_child(b, i), type->fields[i].type,
                        json_object_getn(json, type->fields[i].name.ptr, type->fields[i].name.len));
        }
    }
    for (size_t n = 0; type->id != FRZ_TYPE_STRUCT && n < json_array_size(json); n++) {
        const json_t *item = json_array_get(json, n);
        for (size_t i = 0; i < type->field_count; i++) {
            rows_append(arena, frz_builder_child(b, i), type->fields[i].type,
                        type->id == FRZ_TYPE_LIST ? item : json_array_get(item, i));
        }
    }
    assert_ok(frz_builder_end(b, &err), &err);
}

/* Numbers, true and false, text as frz_value_parse takes it; {}, [], and pairs for maps. */
static inline void rows_append(frz_arena *arena, frz_builder *b, const frz_type *type,
                               const json_t *json)
{
    frz_error err = {0};
    frz_value value;
    if (json == NULL || json_is_null(json)) {
        assert_ok(frz_builder_null(b, &err), &err);
    } else if (frz_type_is_nested(type)) {
        rows_append_nested(arena, b, type, json);
    } else if (json_is_boolean(json)) {
        assert_ok(frz_builder_bool(b, json_is_true(json), &err), &err);
    } else {
        char number[40];
        frz_str text = {json_string_value(json), json_string_length(json)};
        if (json_is_integer(json)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(json));
            text = frz_str_from(number);
        } else if (json_is_real(json)) {
            snprintf(number, sizeof number, "%.17g", json_real_value(json));
            text = frz_str_from(number);
        }
        assert_ok(frz_value_parse(arena, type, text, &value, &err), &err);
        assert_ok(frz_builder_value(b, &value, &err), &err);
    }
}

/* rows: JSON objects in brackets, with ' for ". */
static inline struct ArrowArray rows_batch(const frz_env *env, const frz_type *type,
                                           const char *rows)
{
    frz_error err = {0};
    frz_arena arena;
    frz_builder *b = NULL;
    struct ArrowArray batch;
    char *text = frz_strdup(env, frz_str_from(rows));
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    assert_ok(frz_builder_new(env, type, &b, &err), &err);
    for (size_t i = 0; i < json_array_size(json); i++) {
        rows_append(&arena, b, type, json_array_get(json, i));
    }
    assert_ok(frz_builder_finish(b, &batch, &err), &err);
    frz_builder_free(b);
    json_decref(json);
    frz_arena_reset(&arena);
    frz_free(env, text);
    return batch;
}

#endif
