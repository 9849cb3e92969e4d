/*
 * Values in JSON. spec: Appendix D, JSON single-value serialization. NaN and the infinities, which
 * JSON lacks, are strings. A struct's value is {}: its fields have defaults of their own; of lists
 * and maps only the empty ones are supported.
 */
#include <math.h>

#include "type/type_internal.h"

static frz_code expected(const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "expected %s", what);
}

static frz_code read_whole(const frz_type *type, const json_t *json, frz_value *out, frz_error *err)
{
    json_int_t value = json_integer_value(json);
    if (!json_is_integer(json)) {
        return expected("a whole number", err);
    }
    if (type->id == FRZ_TYPE_LONG) {
        out->as.i64 = value;
        return FRZ_OK;
    }
    out->as.i32 = (int32_t)value;
    return out->as.i32 == value ? FRZ_OK : expected("a 32-bit whole number", err);
}

static frz_code read_floating(frz_arena *arena, const frz_type *type, const json_t *json,
                              frz_value *out, frz_error *err)
{
    if (json_is_string(json)) {
        frz_str text = {json_string_value(json), json_string_length(json)};
        return type_value_parse(arena, type, text, FRZ_E_CORRUPT, out, err);
    }
    if (!json_is_number(json)) {
        return expected("a number", err);
    }
    if (type->id == FRZ_TYPE_DOUBLE) {
        out->as.f64 = json_number_value(json);
        return FRZ_OK;
    }
    out->as.f32 = (float)json_number_value(json);
    return isinf(out->as.f32) ? expected("a number in the range of float", err) : FRZ_OK;
}

static frz_code read_empty(const frz_type *type, const json_t *json, frz_error *err)
{
    bool is_map = type->id == FRZ_TYPE_MAP;
    const json_t *list = is_map ? json_object_get(json, "keys") : json;
    if (type->id == FRZ_TYPE_STRUCT) {
        return json_is_object(json) && json_object_size(json) == 0
                   ? FRZ_OK
                   : expected("{}, a struct whose fields have their own defaults", err);
    }
    if (!json_is_array(list)) {
        return expected(is_map ? "a map of keys and values" : "a list", err);
    }
    return json_array_size(list) == 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: default value of a %s with content",
                          is_map ? "map" : "list");
}

static frz_code read_value(frz_arena *arena, const frz_type *type, const json_t *json,
                           frz_value *out, frz_error *err)
{
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        out->as.boolean = json_is_true(json);
        return json_is_boolean(json) ? FRZ_OK : expected("true or false", err);
    case FRZ_TYPE_INT:
    case FRZ_TYPE_LONG:
        return read_whole(type, json, out, err);
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DOUBLE:
        return read_floating(arena, type, json, out, err);
    case FRZ_TYPE_UNKNOWN:
    case FRZ_TYPE_VARIANT:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return expected("null, the only default of this type", err);
    case FRZ_TYPE_STRUCT:
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return read_empty(type, json, err);
    default:
        break;
    }
    if (!json_is_string(json)) {
        return expected("a string", err);
    }
    frz_str text = {json_string_value(json), json_string_length(json)};
    return type_value_parse(arena, type, text, FRZ_E_CORRUPT, out, err);
}

frz_code frz_value_from_json(frz_arena *arena, const frz_type *type, const json_t *json,
                             const char *path, frz_value *out, frz_error *err)
{
    frz_value made = {.type = type, .is_null = json == NULL || json_is_null(json)};
    if (!made.is_null) {
        frz_code rc = read_value(arena, type, json, &made, err);
        if (rc != FRZ_OK) {
            return path[0] == '\0' ? rc : frz_context(err, rc, "%s", path);
        }
    }
    *out = made;
    return FRZ_OK;
}

/* Values that are strings in JSON; all have a bounded text, except the bytes. */
static frz_code write_text(const frz_value *value, json_t **out, frz_error *err)
{
    char place[128];
    frz_buf text = {.data = (uint8_t *)place, .capacity = sizeof place, .max = sizeof place};
    frz_code rc = frz_value_print(value, &text, err);
    if (rc == FRZ_OK) {
        *out = json_stringn((const char *)text.data, text.len);
    }
    return rc;
}

static frz_code write_string(frz_str s, json_t **out, frz_error *err)
{
    if (!frz_utf8_valid(s)) {
        return frz_fail(err, FRZ_E_CORRUPT, "the text is not UTF-8");
    }
    *out = json_stringn(s.ptr == NULL ? "" : s.ptr, s.len);
    return FRZ_OK;
}

/* The digits are made in memory of the JSON library, which copies them. */
static frz_code write_hex(frz_str bytes, json_t **out, frz_error *err)
{
    json_malloc_t get;
    json_free_t give_back;
    size_t len;
    json_get_alloc_funcs(&get, &give_back);
    char *text = frz_mul_size(bytes.len, 2, &len) ? get(len + 1) : NULL;
    if (text == NULL) {
        return frz_fail_nomem(err, bytes.len);
    }
    *out = json_stringn(text, type_hex_text(bytes, text));
    give_back(text);
    return FRZ_OK;
}

static frz_code write_floating(double number, const frz_value *value, json_t **out, frz_error *err)
{
    if (!isfinite(number)) {
        return write_text(value, out, err);
    }
    *out = json_real(number);
    return FRZ_OK;
}

/* The double that is nearest to the float's shortest digits: 0.1 stays 0.1. */
static double float_as_written(float value)
{
    char text[32];
    double number = (double)value;
    (void)frz_str_to_double((frz_str){text, frz_float_text(value, text)}, &number);
    return number;
}

static frz_code write_empty_map(json_t **out)
{
    *out = json_object();
    if (json_object_set_new(*out, "keys", json_array()) != 0 ||
        json_object_set_new(*out, "values", json_array()) != 0) {
        json_decref(*out);
        *out = NULL;
    }
    return FRZ_OK;
}

/* Leaves NULL if there is no memory. */
static frz_code write_value(const frz_value *value, json_t **out, frz_error *err)
{
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        *out = json_boolean(value->as.boolean);
        return FRZ_OK;
    case FRZ_TYPE_INT:
        *out = json_integer(value->as.i32);
        return FRZ_OK;
    case FRZ_TYPE_LONG:
        *out = json_integer(value->as.i64);
        return FRZ_OK;
    case FRZ_TYPE_FLOAT:
        return write_floating(float_as_written(value->as.f32), value, out, err);
    case FRZ_TYPE_DOUBLE:
        return write_floating(value->as.f64, value, out, err);
    case FRZ_TYPE_STRING:
        return write_string(value->as.bytes, out, err);
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return write_hex(value->as.bytes, out, err);
    case FRZ_TYPE_STRUCT:
        *out = json_object();
        return FRZ_OK;
    case FRZ_TYPE_LIST:
        *out = json_array();
        return FRZ_OK;
    case FRZ_TYPE_MAP:
        return write_empty_map(out);
    default:
        return write_text(value, out, err);
    }
}

frz_code frz_value_to_json(const frz_value *value, json_t **out, frz_error *err)
{
    json_t *made = NULL;
    if (value->is_null) {
        *out = json_null();
        return FRZ_OK;
    }
    frz_code rc = write_value(value, &made, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof(json_t));
    }
    *out = made;
    return FRZ_OK;
}
