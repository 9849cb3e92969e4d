/*
 * Schemas in table metadata. spec: Appendix C, JSON serialization. The place of a fault is kept as
 * a chain of steps on the stack and written out only when something is wrong. Members that the
 * specification does not name are ignored.
 */
#include "type/type_internal.h"

#define PATH_TEXT 200

/* One step down from another; either a member or an element. */
typedef struct json_place {
    const struct json_place *up;
    const char *key; /* NULL: index counts */
    size_t index;
    int depth; /* of nested types */
} json_place;

static size_t place_text(const json_place *at, char text[PATH_TEXT])
{
    char digits[24];
    frz_buf number = {.data = (uint8_t *)digits, .capacity = sizeof digits, .max = sizeof digits};
    size_t len = at->up == NULL ? 0 : place_text(at->up, text);
    frz_str step = frz_str_from(at->key);
    if (at->key == NULL) {
        (void)frz_buf_printf(&number, NULL, "[%zu]", at->index);
        step = frz_buf_view(&number);
    } else if (len > 0 && len < PATH_TEXT - 1) {
        text[len++] = '.';
    }
    step.len = FRZ_MIN(step.len, PATH_TEXT - 1 - len);
    memcpy(text + len, step.ptr, step.len);
    text[len + step.len] = '\0';
    return len + step.len;
}

/* Put the place before the message. */
static frz_code at_place(const json_place *at, frz_code rc, frz_error *err)
{
    char text[PATH_TEXT];
    if (rc == FRZ_OK) {
        return rc;
    }
    place_text(at, text);
    return frz_context(err, rc, "%s", text);
}

static const char *kind_of(const json_t *json)
{
    if (json == NULL) {
        return "nothing";
    }
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a fraction";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static frz_code wrong_kind(const json_place *at, const char *expected, const json_t *found,
                           frz_error *err)
{
    return at_place(
        at, frz_fail(err, FRZ_E_CORRUPT, "expected %s, found %s", expected, kind_of(found)), err);
}

static json_place member(const json_place *up, const char *key)
{
    return (json_place){.up = up, .key = key, .depth = up->depth};
}

static json_place element(const json_place *up, size_t index)
{
    return (json_place){.up = up, .index = index, .depth = up->depth};
}

/* ---- reading ---- */

static frz_code read_i32(const json_place *up, const json_t *object, const char *key, int32_t least,
                         int32_t *out, frz_error *err)
{
    const json_t *json = json_object_get(object, key);
    json_place at = member(up, key);
    if (!json_is_integer(json)) {
        return wrong_kind(&at, "a whole number", json, err);
    }
    json_int_t value = json_integer_value(json);
    if (value < least || value > INT32_MAX) {
        return at_place(&at,
                        frz_fail(err, FRZ_E_CORRUPT,
                                 "expected a number between %d and %d, found %lld", (int)least,
                                 INT32_MAX, (long long)value),
                        err);
    }
    *out = (int32_t)value;
    return FRZ_OK;
}

static frz_code read_id(const json_place *up, const json_t *object, const char *key, int32_t *out,
                        frz_error *err)
{
    return read_i32(up, object, key, 0, out, err);
}

static frz_code read_bool(const json_place *up, const json_t *object, const char *key, bool *out,
                          frz_error *err)
{
    const json_t *json = json_object_get(object, key);
    json_place at = member(up, key);
    if (!json_is_boolean(json)) {
        return wrong_kind(&at, "true or false", json, err);
    }
    *out = json_is_true(json);
    return FRZ_OK;
}

static frz_str string_of(const json_t *json)
{
    return (frz_str){json_string_value(json), json_string_length(json)};
}

static frz_code read_str(const json_place *up, const json_t *object, const char *key,
                         frz_arena *arena, frz_str *out, frz_error *err)
{
    const json_t *json = json_object_get(object, key);
    json_place at = member(up, key);
    if (!json_is_string(json)) {
        return wrong_kind(&at, "a string", json, err);
    }
    if (!frz_str_is_clean(string_of(json))) {
        return at_place(&at, frz_fail(err, FRZ_E_CORRUPT, "the text has a NUL character"), err);
    }
    return frz_arena_str(arena, string_of(json), out, err);
}

static frz_code read_type(frz_arena *arena, const json_place *at, const json_t *json,
                          const frz_type **out, frz_error *err);

static frz_code read_default(frz_arena *arena, const json_place *up, const json_t *object,
                             const char *key, const frz_type *type, const frz_value **out,
                             frz_error *err)
{
    const json_t *json = json_object_get(object, key);
    json_place at = member(up, key);
    char text[PATH_TEXT];
    if (json == NULL || json_is_null(json)) {
        return FRZ_OK;
    }
    frz_value *value = frz_arena_alloc(arena, sizeof *value);
    if (value == NULL) {
        return frz_fail_nomem(err, sizeof *value);
    }
    place_text(&at, text);
    *out = value;
    return frz_value_from_json(arena, type, json, text, value, err);
}

static frz_code read_field(frz_arena *arena, const json_place *at, const json_t *json,
                           frz_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_place type_place = member(at, "type");
    const json_t *doc = json_object_get(json, "doc");
    if (!json_is_object(json)) {
        return wrong_kind(at, "a field", json, err);
    }
    FRZ_TRY(read_id(at, json, "id", &out->id, err));
    FRZ_TRY(read_str(at, json, "name", arena, &out->name, err));
    FRZ_TRY(read_bool(at, json, "required", &out->required, err));
    FRZ_TRY(read_type(arena, &type_place, json_object_get(json, "type"), &out->type, err));
    if (doc != NULL && !json_is_null(doc)) {
        FRZ_TRY(read_str(at, json, "doc", arena, &out->doc, err));
    }
    FRZ_TRY(
        read_default(arena, at, json, "initial-default", out->type, &out->initial_default, err));
    FRZ_TRY(read_default(arena, at, json, "write-default", out->type, &out->write_default, err));
out:
    return rc;
}

static frz_code make_nested(frz_arena *arena, frz_type_id id, const frz_field *fields, size_t count,
                            const frz_type **out, frz_error *err)
{
    frz_type *made = frz_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    *made = (frz_type){.id = id, .fields = fields, .field_count = count};
    *out = made;
    return FRZ_OK;
}

static frz_code new_fields(frz_arena *arena, size_t count, frz_field **out, frz_error *err)
{
    *out = frz_arena_array(arena, count, sizeof **out);
    return *out == NULL ? frz_fail_nomem(err, count * sizeof **out) : FRZ_OK;
}

static frz_code check_names(frz_arena *arena, const json_place *at, const frz_field *fields,
                            size_t count, frz_error *err)
{
    frz_str *names = frz_alloc_zero(arena->env, count, sizeof *names);
    if (names == NULL) {
        return frz_fail_nomem(err, count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = fields[i].name;
    }
    frz_code rc = at_place(at, type_check_names(names, count, err), err);
    frz_free(arena->env, names);
    return rc;
}

static frz_code read_struct(frz_arena *arena, const json_place *up, const json_t *json,
                            const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = json_object_get(json, "fields");
    size_t count = json_array_size(list);
    json_place at = member(up, "fields");
    frz_field *fields;
    if (!json_is_array(list)) {
        return wrong_kind(&at, "a list of fields", list, err);
    }
    FRZ_TRY(new_fields(arena, count, &fields, err));
    for (size_t i = 0; i < count; i++) {
        json_place field_place = element(&at, i);
        FRZ_TRY(read_field(arena, &field_place, json_array_get(list, i), &fields[i], err));
    }
    FRZ_TRY(check_names(arena, &at, fields, count, err));
    FRZ_TRY(make_nested(arena, FRZ_TYPE_STRUCT, fields, count, out, err));
out:
    return rc;
}

/* What differs between the element of a list and the key and value of a map. */
typedef struct part_keys {
    const char *name;
    const char *id, *required; /* required NULL: always is */
} part_keys;

static frz_code read_part(frz_arena *arena, const json_place *at, const json_t *json,
                          const part_keys *keys, frz_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_place type_place = member(at, keys->name);
    out->name = frz_str_from(keys->name); /* static */
    out->required = true;
    FRZ_TRY(read_id(at, json, keys->id, &out->id, err));
    if (keys->required != NULL) {
        FRZ_TRY(read_bool(at, json, keys->required, &out->required, err));
    }
    FRZ_TRY(read_type(arena, &type_place, json_object_get(json, keys->name), &out->type, err));
out:
    return rc;
}

static frz_code read_repeated(frz_arena *arena, const json_place *at, const json_t *json,
                              frz_type_id id, const frz_type **out, frz_error *err)
{
    static const part_keys list_keys[] = {{"element", "element-id", "element-required"}};
    static const part_keys map_keys[] = {{"key", "key-id", NULL},
                                         {"value", "value-id", "value-required"}};
    const part_keys *keys = id == FRZ_TYPE_LIST ? list_keys : map_keys;
    size_t count = id == FRZ_TYPE_LIST ? 1 : 2;
    frz_code rc = FRZ_OK;
    frz_field *fields;
    FRZ_TRY(new_fields(arena, count, &fields, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_part(arena, at, json, &keys[i], &fields[i], err));
    }
    FRZ_TRY(make_nested(arena, id, fields, count, out, err));
out:
    return rc;
}

static frz_code read_type(frz_arena *arena, const json_place *at, const json_t *json,
                          const frz_type **out, frz_error *err)
{
    json_place inside = *at;
    const json_t *name = json_object_get(json, "type");
    if (json_is_string(json)) {
        return at_place(at, type_parse_text(arena, string_of(json), FRZ_E_CORRUPT, out, err), err);
    }
    if (!json_is_object(json)) {
        return wrong_kind(at, "a type", json, err);
    }
    if (++inside.depth > TYPE_MAX_DEPTH) {
        return at_place(
            at,
            frz_fail(err, FRZ_E_LIMIT, "types are nested more than %d levels deep", TYPE_MAX_DEPTH),
            err);
    }
    if (!json_is_string(name)) {
        json_place type_place = member(at, "type");
        return wrong_kind(&type_place, "struct, list or map", name, err);
    }
    if (frz_str_equal(string_of(name), FRZ_STR("struct"))) {
        return read_struct(arena, &inside, json, out, err);
    }
    if (frz_str_equal(string_of(name), FRZ_STR("list"))) {
        return read_repeated(arena, &inside, json, FRZ_TYPE_LIST, out, err);
    }
    if (frz_str_equal(string_of(name), FRZ_STR("map"))) {
        return read_repeated(arena, &inside, json, FRZ_TYPE_MAP, out, err);
    }
    return at_place(at,
                    frz_fail(err, FRZ_E_CORRUPT, "expected struct, list or map, found \"%.*s\"",
                             FRZ_STR_ARG(string_of(name))),
                    err);
}

static frz_code read_identifiers(frz_arena *arena, const json_place *up, const json_t *json,
                                 frz_schema *schema, frz_error *err)
{
    const json_t *list = json_object_get(json, "identifier-field-ids");
    json_place at = member(up, "identifier-field-ids");
    size_t count = json_array_size(list);
    if (list == NULL || json_is_null(list)) {
        return FRZ_OK;
    }
    if (!json_is_array(list)) {
        return wrong_kind(&at, "a list of field ids", list, err);
    }
    int32_t *ids = frz_arena_array(arena, count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(list, i);
        json_place id_place = element(&at, i);
        json_int_t value = json_integer_value(id);
        if (!json_is_integer(id)) {
            return wrong_kind(&id_place, "a field id", id, err);
        }
        if (value < 1 || value > INT32_MAX ||
            frz_type_find_id(schema->type, (int32_t)value) == NULL) {
            return at_place(
                &id_place,
                frz_fail(err, FRZ_E_CORRUPT, "the schema has no field id %lld", (long long)value),
                err);
        }
        ids[i] = (int32_t)value;
    }
    schema->identifier_ids = ids;
    schema->identifier_count = count;
    return FRZ_OK;
}

frz_code frz_schema_from_json(frz_arena *arena, const json_t *json, const char *path,
                              const frz_schema **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_place at = {.key = path};
    json_place type_place = member(&at, "type");
    const json_t *name = json_object_get(json, "type");
    frz_schema *made = frz_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    if (!json_is_object(json)) {
        return wrong_kind(&at, "a schema", json, err);
    }
    if (!json_is_string(name) || !frz_str_equal(string_of(name), FRZ_STR("struct"))) {
        return wrong_kind(&type_place, "\"struct\"", name, err);
    }
    if (json_object_get(json, "schema-id") != NULL) {
        FRZ_TRY(read_i32(&at, json, "schema-id", 0, &made->schema_id, err));
    }
    FRZ_TRY(read_struct(arena, &at, json, &made->type, err));
    FRZ_TRY(at_place(&at, type_check_ids(arena->env, made->type, err), err));
    FRZ_TRY(read_identifiers(arena, &at, json, made, err));
    *out = made;
out:
    return rc;
}

/* ---- writing ---- */

/* Set a member to a new value, which may be NULL because there was no memory. */
static frz_code set_new(json_t *object, const char *key, json_t *value, frz_error *err)
{
    return json_object_set_new(object, key, value) == 0 ? FRZ_OK : frz_fail_nomem(err, 0);
}

static frz_code set_str(json_t *object, const char *key, frz_str s, frz_error *err)
{
    if (!frz_utf8_valid(s)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "%s: the text is not UTF-8", key);
    }
    return set_new(object, key, json_stringn(s.ptr == NULL ? "" : s.ptr, s.len), err);
}

static frz_code write_type(const frz_type *type, json_t **out, frz_error *err);

static frz_code set_type(json_t *object, const char *key, const frz_type *type, frz_error *err)
{
    json_t *json = NULL;
    frz_code rc = write_type(type, &json, err);
    return rc == FRZ_OK ? set_new(object, key, json, err) : rc;
}

static frz_code set_default(json_t *object, const char *key, const frz_value *value, frz_error *err)
{
    json_t *json = NULL;
    if (value == NULL || value->is_null) {
        return FRZ_OK;
    }
    frz_code rc = frz_value_to_json(value, &json, err);
    return rc == FRZ_OK ? set_new(object, key, json, err) : rc;
}

static frz_code write_field(const frz_field *field, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(set_new(object, "id", json_integer(field->id), err));
    FRZ_TRY(set_str(object, "name", field->name, err));
    FRZ_TRY(set_new(object, "required", json_boolean(field->required), err));
    FRZ_TRY(set_type(object, "type", field->type, err));
    if (field->doc.ptr != NULL) {
        FRZ_TRY(set_str(object, "doc", field->doc, err));
    }
    FRZ_TRY(set_default(object, "initial-default", field->initial_default, err));
    FRZ_TRY(set_default(object, "write-default", field->write_default, err));
out:
    return rc;
}

/* A list owns what is appended to it at once, so that a failure leaks nothing. */
static frz_code write_fields(const frz_type *type, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(set_new(object, "fields", json_array(), err));
    for (size_t i = 0; i < type->field_count; i++) {
        json_t *field = json_object();
        if (json_array_append_new(json_object_get(object, "fields"), field) != 0) {
            FRZ_TRY(frz_fail_nomem(err, 0));
        }
        FRZ_TRY(write_field(&type->fields[i], field, err));
    }
out:
    return rc;
}

static frz_code write_list(const frz_type *type, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(set_new(object, "element-id", json_integer(type->fields[0].id), err));
    FRZ_TRY(set_type(object, "element", type->fields[0].type, err));
    FRZ_TRY(set_new(object, "element-required", json_boolean(type->fields[0].required), err));
out:
    return rc;
}

static frz_code write_map(const frz_type *type, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(set_new(object, "key-id", json_integer(type->fields[0].id), err));
    FRZ_TRY(set_type(object, "key", type->fields[0].type, err));
    FRZ_TRY(set_new(object, "value-id", json_integer(type->fields[1].id), err));
    FRZ_TRY(set_type(object, "value", type->fields[1].type, err));
    FRZ_TRY(set_new(object, "value-required", json_boolean(type->fields[1].required), err));
out:
    return rc;
}

static frz_code write_nested(const frz_type *type, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    switch (type->id) {
    case FRZ_TYPE_STRUCT:
        FRZ_TRY(set_new(object, "type", json_string("struct"), err));
        return write_fields(type, object, err);
    case FRZ_TYPE_LIST:
        FRZ_TRY(set_new(object, "type", json_string("list"), err));
        return write_list(type, object, err);
    default:
        FRZ_TRY(set_new(object, "type", json_string("map"), err));
        return write_map(type, object, err);
    }
out:
    return rc;
}

static frz_code write_primitive(const frz_type *type, json_t **out, frz_error *err)
{
    char text[512];
    frz_type_text(type, text, sizeof text);
    if (strlen(text) == sizeof text - 1) {
        return frz_fail(err, FRZ_E_LIMIT, "the text of type %.40s... is too long", text);
    }
    *out = json_string(text);
    return *out == NULL ? frz_fail_nomem(err, sizeof text) : FRZ_OK;
}

static frz_code write_type(const frz_type *type, json_t **out, frz_error *err)
{
    if (!frz_type_is_nested(type)) {
        return write_primitive(type, out, err);
    }
    json_t *made = json_object();
    frz_code rc = made == NULL ? frz_fail_nomem(err, 0) : write_nested(type, made, err);
    if (rc != FRZ_OK) {
        json_decref(made);
        return rc;
    }
    *out = made;
    return FRZ_OK;
}

static frz_code write_identifiers(const frz_schema *schema, json_t *object, frz_error *err)
{
    if (schema->identifier_count == 0) {
        return FRZ_OK;
    }
    frz_code rc = set_new(object, "identifier-field-ids", json_array(), err);
    for (size_t i = 0; i < schema->identifier_count && rc == FRZ_OK; i++) {
        if (json_array_append_new(json_object_get(object, "identifier-field-ids"),
                                  json_integer(schema->identifier_ids[i])) != 0) {
            rc = frz_fail_nomem(err, 0);
        }
    }
    return rc;
}

frz_code frz_schema_to_json(const frz_schema *schema, json_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *made = json_object();
    FRZ_TRY(made == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    FRZ_TRY(set_new(made, "type", json_string("struct"), err));
    FRZ_TRY(set_new(made, "schema-id", json_integer(schema->schema_id), err));
    FRZ_TRY(write_identifiers(schema, made, err));
    FRZ_TRY(write_fields(schema->type, made, err));
    *out = made;
    made = NULL;
out:
    json_decref(made);
    return rc;
}
