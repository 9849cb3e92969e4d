/*
 * The writer's schema: JSON to types, names resolved. spec: Avro, Schema Declaration; Iceberg,
 * Appendix A.
 *
 * A name may be used below its own definition, so types form a graph; whoever walks it stops at
 * what it has seen.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/base_json.h"
#include "format/avro/avro_internal.h"

#define MAX_DECIMAL 38

typedef struct schema_parser {
    frz_arena *arena;
    json_t *names; /* full names to places in named; -1: defined twice */
    avro_schema **named;
    size_t named_count, named_capacity;
    size_t count; /* of all types */
    bool has_ids;
    frz_error *err;
} schema_parser;

static frz_code parse(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                      const avro_schema **out);

/* ---- members ---- */

static frz_code wrong(const schema_parser *p, const char *fmt, ...) FRZ_PRINTF(2, 3);

static frz_code wrong(const schema_parser *p, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return frz_fail(p->err, FRZ_E_CORRUPT, "%s", text);
}

static frz_str text_of(const json_t *json)
{
    return json_is_string(json) ? (frz_str){json_string_value(json), json_string_length(json)}
                                : (frz_str){NULL, 0};
}

static frz_str text_member(const json_t *json, const char *key)
{
    return text_of(json_object_get(json, key));
}

/* An integer of 32 bits that is not negative, or absent. */
static frz_code number_member(const schema_parser *p, const json_t *json, const char *key,
                              int32_t absent, int32_t *out)
{
    const json_t *value = json_object_get(json, key);
    *out = absent;
    if (value == NULL || json_is_null(value)) {
        return FRZ_OK;
    }
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || number > INT32_MAX) {
        return wrong(p, "\"%s\" is not an integer from 0 to %" PRId32, key, INT32_MAX);
    }
    *out = (int32_t)number;
    return FRZ_OK;
}

static frz_code id_member(schema_parser *p, const json_t *json, const char *key, int32_t *out)
{
    frz_code rc = number_member(p, json, key, FRZ_ID_NONE, out);
    p->has_ids = p->has_ids || *out != FRZ_ID_NONE;
    return rc;
}

static frz_code no_memory(const schema_parser *p)
{
    return frz_fail_nomem(p->err, sizeof(avro_schema));
}

static frz_code new_schema(schema_parser *p, avro_kind kind, avro_schema **out)
{
    avro_schema *made = frz_arena_alloc(p->arena, sizeof *made);
    if (made == NULL) {
        return no_memory(p);
    }
    if (p->count >= AVRO_MAX_NODES) {
        return frz_fail(p->err, FRZ_E_LIMIT, "a schema of more than %zu types", AVRO_MAX_NODES);
    }
    made->kind = kind;
    made->number = p->count++;
    *out = made;
    return FRZ_OK;
}

/* ---- names ---- */

static bool has_dot(frz_str name)
{
    return memchr(name.ptr, '.', name.len) != NULL;
}

static frz_code full_name(schema_parser *p, frz_str space, frz_str name, frz_str *out)
{
    if (space.len == 0 || has_dot(name)) {
        *out = name;
        return FRZ_OK;
    }
    char *made = frz_arena_printf(p->arena, "%.*s.%.*s", FRZ_STR_ARG(space), FRZ_STR_ARG(name));
    *out = frz_str_from(made);
    return made == NULL ? no_memory(p) : FRZ_OK;
}

/* The namespace that a full name is in. */
static frz_str space_of(frz_str name)
{
    size_t len = name.len;
    while (len > 0 && name.ptr[len - 1] != '.') {
        len--;
    }
    return (frz_str){name.ptr, len == 0 ? 0 : len - 1};
}

static frz_code define_name(schema_parser *p, avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    frz_str name = schema->name;
    bool twice = json_object_getn(p->names, name.ptr, name.len) != NULL;
    FRZ_TRY(FRZ_GROW(p->arena->env, &p->named, &p->named_capacity, p->named_count, p->err));
    json_int_t place = twice ? -1 : (json_int_t)p->named_count;
    p->named[p->named_count++] = schema;
    if (json_object_setn_new_nocheck(p->names, name.ptr, name.len, json_integer(place)) != 0) {
        rc = no_memory(p);
    }
out:
    return rc;
}

/* The name and namespace of a definition. */
static frz_code read_name(schema_parser *p, const json_t *json, frz_str *space, avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    frz_str name = text_member(json, "name");
    frz_str own = text_member(json, "namespace");
    if (name.len == 0) {
        return wrong(p, "a record, enum or fixed without a name");
    }
    FRZ_TRY(full_name(p, own.ptr != NULL ? own : *space, name, &name));
    FRZ_TRY(frz_arena_str(p->arena, name, &schema->name, p->err));
    *space = space_of(schema->name);
    FRZ_TRY(define_name(p, schema));
out:
    return rc;
}

static const json_t *find_name(const schema_parser *p, frz_str name)
{
    return json_object_getn(p->names, name.ptr, name.len);
}

static frz_code parse_reference(schema_parser *p, frz_str name, frz_str space,
                                const avro_schema **out)
{
    frz_code rc = FRZ_OK;
    frz_str full;
    FRZ_TRY(full_name(p, space, name, &full));
    const json_t *found = find_name(p, full);
    found = found != NULL ? found : find_name(p, name);
    if (found == NULL) {
        return wrong(p, "there is no type \"%.*s\"", (int)FRZ_MIN(name.len, 100), name.ptr);
    }
    json_int_t place = json_integer_value(found);
    if (place < 0) {
        return wrong(p, "type \"%.*s\" is defined more than once", (int)FRZ_MIN(name.len, 100),
                     name.ptr);
    }
    *out = p->named[place];
out:
    return rc;
}

/* ---- logical types ---- */

static const struct {
    const char *name;
    avro_kind kind;
    avro_logical logical;
    avro_utc utc;
} logicals[] = {
    {"date", AVRO_INT, AVRO_LOGICAL_DATE, AVRO_UTC_UNKNOWN},
    {"time-millis", AVRO_INT, AVRO_LOGICAL_TIME_MILLIS, AVRO_UTC_UNKNOWN},
    {"time-micros", AVRO_LONG, AVRO_LOGICAL_TIME_MICROS, AVRO_UTC_UNKNOWN},
    {"timestamp-millis", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_MILLIS, AVRO_UTC_UNKNOWN},
    {"timestamp-micros", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_MICROS, AVRO_UTC_UNKNOWN},
    {"timestamp-nanos", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_NANOS, AVRO_UTC_UNKNOWN},
    {"local-timestamp-millis", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_MILLIS, AVRO_UTC_NO},
    {"local-timestamp-micros", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_MICROS, AVRO_UTC_NO},
    {"local-timestamp-nanos", AVRO_LONG, AVRO_LOGICAL_TIMESTAMP_NANOS, AVRO_UTC_NO},
    {"decimal", AVRO_BYTES, AVRO_LOGICAL_DECIMAL, AVRO_UTC_UNKNOWN},
    {"decimal", AVRO_FIXED, AVRO_LOGICAL_DECIMAL, AVRO_UTC_UNKNOWN},
    {"uuid", AVRO_STRING, AVRO_LOGICAL_UUID, AVRO_UTC_UNKNOWN},
    {"uuid", AVRO_FIXED, AVRO_LOGICAL_UUID, AVRO_UTC_UNKNOWN},
    {"duration", AVRO_FIXED, AVRO_LOGICAL_DURATION, AVRO_UTC_UNKNOWN},
    {"map", AVRO_ARRAY, AVRO_LOGICAL_MAP, AVRO_UTC_UNKNOWN},
};

/* Pairs may be optional, as some writers make everything. */
const avro_schema *avro_schema_inside(const avro_schema *schema, uint8_t *branches,
                                      uint8_t *null_branch)
{
    *branches = *null_branch = 0;
    if (schema->kind != AVRO_UNION) {
        return schema;
    }
    const avro_field *fields = schema->fields;
    if (schema->field_count == 1) {
        *branches = 1;
        return fields[0].schema;
    }
    bool first = fields[0].schema->kind == AVRO_NULL;
    if (schema->field_count == 2 && first != (fields[1].schema->kind == AVRO_NULL)) {
        *branches = 2;
        *null_branch = first ? 0 : 1;
        return fields[1 - *null_branch].schema;
    }
    return schema;
}

static bool is_pair(const avro_schema *array)
{
    uint8_t branches, null_branch;
    const avro_schema *item = avro_schema_inside(array->fields[0].schema, &branches, &null_branch);
    return item->kind == AVRO_RECORD && !item->open && item->field_count == 2;
}

/* Whether the logical type fits its type, with what else it says. */
static bool read_parameters(const json_t *json, avro_logical logical, avro_schema *schema)
{
    const json_t *precision = json_object_get(json, "precision");
    const json_t *scale = json_object_get(json, "scale");
    switch (logical) {
    case AVRO_LOGICAL_DECIMAL:
        if (!json_is_integer(precision) || json_integer_value(precision) < 1 ||
            json_integer_value(precision) > MAX_DECIMAL || json_integer_value(scale) < 0 ||
            json_integer_value(scale) > json_integer_value(precision)) {
            return false;
        }
        schema->precision = (int32_t)json_integer_value(precision);
        schema->scale = (int32_t)json_integer_value(scale);
        return true;
    case AVRO_LOGICAL_UUID:
        return schema->kind == AVRO_STRING || schema->size == 16;
    case AVRO_LOGICAL_DURATION:
        return schema->size == 12;
    case AVRO_LOGICAL_MAP:
        return is_pair(schema);
    default:
        return true;
    }
}

/* An Iceberg convention, written as a boolean or as its text. */
static avro_utc read_utc(const json_t *json)
{
    const json_t *value = json_object_get(json, "adjust-to-utc");
    frz_str text = text_of(value);
    if (json_is_true(value) || frz_str_equal_nocase(text, FRZ_STR("true"))) {
        return AVRO_UTC_YES;
    }
    return json_is_false(value) || frz_str_equal_nocase(text, FRZ_STR("false")) ? AVRO_UTC_NO
                                                                                : AVRO_UTC_UNKNOWN;
}

static void read_logical(const json_t *json, avro_schema *schema)
{
    frz_str name = text_member(json, "logicalType");
    for (size_t i = 0; name.ptr != NULL && i < FRZ_ARRAY_COUNT(logicals); i++) {
        if (schema->kind == logicals[i].kind &&
            frz_str_equal(name, frz_str_from(logicals[i].name)) &&
            read_parameters(json, logicals[i].logical, schema)) {
            schema->logical = logicals[i].logical;
            schema->utc = logicals[i].utc != AVRO_UTC_UNKNOWN ? logicals[i].utc : read_utc(json);
        }
    }
}

/* ---- types made of others ---- */

static frz_code new_fields(const schema_parser *p, size_t count, avro_schema *schema,
                           avro_field **out)
{
    avro_field *fields = frz_arena_array(p->arena, count, sizeof *fields);
    if (fields == NULL) {
        return no_memory(p);
    }
    schema->fields = *out = fields;
    schema->field_count = count;
    return FRZ_OK;
}

static frz_code parse_field(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                            avro_field *out)
{
    frz_code rc = FRZ_OK;
    frz_str name = text_member(json, "name");
    frz_str original = text_member(json, "iceberg-field-name");
    if (name.ptr == NULL) {
        return wrong(p, "a field of a record has no name");
    }
    FRZ_TRY(frz_arena_str(p->arena, original.ptr != NULL ? original : name, &out->name, p->err));
    FRZ_TRY(id_member(p, json, "field-id", &out->id));
    const json_t *type = json_object_get(json, "type");
    FRZ_TRY(type == NULL ? wrong(p, "there is no \"type\"") : FRZ_OK);
    FRZ_TRY(parse(p, type, space, depth, &out->schema));
out:
    return frz_context(p->err, rc, "field \"%.*s\"", (int)FRZ_MIN(name.len, 100), name.ptr);
}

static frz_code parse_record(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                             avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    avro_field *fields = NULL;
    const json_t *list = json_object_get(json, "fields");
    FRZ_TRY(read_name(p, json, &space, schema));
    if (!json_is_array(list)) {
        return wrong(p, "record \"%.*s\" has no list of fields",
                     (int)FRZ_MIN(schema->name.len, 100), schema->name.ptr);
    }
    schema->open = true;
    FRZ_TRY(new_fields(p, json_array_size(list), schema, &fields));
    for (size_t i = 0; i < schema->field_count; i++) {
        FRZ_TRY(parse_field(p, json_array_get(list, i), space, depth, &fields[i]));
        uint64_t least = fields[i].schema->least;
        schema->least = least > INT64_MAX - schema->least ? INT64_MAX : schema->least + least;
    }
    schema->open = false;
out:
    return rc;
}

static frz_code parse_enum(schema_parser *p, const json_t *json, frz_str space, avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    const json_t *list = json_object_get(json, "symbols");
    FRZ_TRY(read_name(p, json, &space, schema));
    if (!json_is_array(list)) {
        return wrong(p, "enum \"%.*s\" has no list of symbols", (int)FRZ_MIN(schema->name.len, 100),
                     schema->name.ptr);
    }
    size_t count = json_array_size(list);
    frz_str *symbols = frz_arena_array(p->arena, count, sizeof *symbols);
    FRZ_TRY(symbols == NULL ? no_memory(p) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        frz_str symbol = text_of(json_array_get(list, i));
        FRZ_TRY(symbol.ptr == NULL ? wrong(p, "a symbol of an enum is not a string") : FRZ_OK);
        FRZ_TRY(frz_arena_str(p->arena, symbol, &symbols[i], p->err));
    }
    schema->symbols = symbols;
    schema->symbol_count = count;
    schema->least = 1;
out:
    return rc;
}

static frz_code parse_fixed(schema_parser *p, const json_t *json, frz_str space,
                            avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    int32_t size;
    FRZ_TRY(read_name(p, json, &space, schema));
    FRZ_TRY(number_member(p, json, "size", -1, &size));
    if (size < 0) {
        return wrong(p, "fixed \"%.*s\" has no size", (int)FRZ_MIN(schema->name.len, 100),
                     schema->name.ptr);
    }
    schema->size = (size_t)size;
    schema->least = schema->size;
out:
    return rc;
}

static frz_code parse_array(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                            avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    avro_field *item = NULL;
    const json_t *items = json_object_get(json, "items");
    FRZ_TRY(items == NULL ? wrong(p, "an array has no \"items\"") : FRZ_OK);
    FRZ_TRY(new_fields(p, 1, schema, &item));
    item->name = FRZ_STR("element");
    FRZ_TRY(id_member(p, json, "element-id", &item->id));
    FRZ_TRY(parse(p, items, space, depth, &item->schema));
    schema->least = 1;
out:
    return rc;
}

static frz_code parse_map(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                          avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    avro_field *fields = NULL;
    avro_schema *key = NULL;
    const json_t *values = json_object_get(json, "values");
    FRZ_TRY(values == NULL ? wrong(p, "a map has no \"values\"") : FRZ_OK);
    FRZ_TRY(new_fields(p, 2, schema, &fields));
    FRZ_TRY(new_schema(p, AVRO_STRING, &key));
    key->least = 1;
    fields[0] = (avro_field){.name = FRZ_STR("key"), .schema = key};
    fields[1].name = FRZ_STR("value");
    FRZ_TRY(id_member(p, json, "key-id", &fields[0].id));
    FRZ_TRY(id_member(p, json, "value-id", &fields[1].id));
    FRZ_TRY(parse(p, values, space, depth, &fields[1].schema));
    schema->least = 1;
out:
    return rc;
}

static frz_code parse_union(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                            avro_schema *schema)
{
    frz_code rc = FRZ_OK;
    avro_field *branches = NULL;
    FRZ_TRY(new_fields(p, json_array_size(json), schema, &branches));
    FRZ_TRY(schema->field_count == 0 ? wrong(p, "a union of no types") : FRZ_OK);
    for (size_t i = 0; i < schema->field_count; i++) {
        branches[i].id = FRZ_ID_NONE;
        FRZ_TRY(parse(p, json_array_get(json, i), space, depth, &branches[i].schema));
        if (branches[i].schema->kind == AVRO_UNION) {
            return wrong(p, "a union directly inside of a union");
        }
    }
    schema->least = 1;
out:
    return rc;
}

/* ---- any type ---- */

static const struct {
    const char *name;
    avro_kind kind;
    unsigned least;
} primitives[] = {
    {"null", AVRO_NULL, 0},   {"boolean", AVRO_BOOLEAN, 1}, {"int", AVRO_INT, 1},
    {"long", AVRO_LONG, 1},   {"float", AVRO_FLOAT, 4},     {"double", AVRO_DOUBLE, 8},
    {"bytes", AVRO_BYTES, 1}, {"string", AVRO_STRING, 1},
};

static const struct {
    const char *name;
    avro_kind kind;
} complexes[] = {
    {"record", AVRO_RECORD}, {"error", AVRO_RECORD}, {"enum", AVRO_ENUM},
    {"fixed", AVRO_FIXED},   {"array", AVRO_ARRAY},  {"map", AVRO_MAP},
};

/* json: the object around the name, for a logical type; NULL: the name stands alone. */
static frz_code parse_named(schema_parser *p, frz_str name, const json_t *json, frz_str space,
                            const avro_schema **out)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(primitives); i++) {
        if (frz_str_equal(name, frz_str_from(primitives[i].name))) {
            avro_schema *made = NULL;
            frz_code rc = new_schema(p, primitives[i].kind, &made);
            if (rc != FRZ_OK) {
                return rc;
            }
            made->least = primitives[i].least;
            read_logical(json, made);
            *out = made;
            return FRZ_OK;
        }
    }
    return parse_reference(p, name, space, out);
}

static frz_code parse_complex(schema_parser *p, avro_kind kind, const json_t *json, frz_str space,
                              unsigned depth, const avro_schema **out)
{
    frz_code rc = FRZ_OK;
    avro_schema *made = NULL;
    FRZ_TRY(new_schema(p, kind, &made));
    switch (kind) {
    case AVRO_RECORD:
        FRZ_TRY(parse_record(p, json, space, depth, made));
        break;
    case AVRO_ENUM:
        FRZ_TRY(parse_enum(p, json, space, made));
        break;
    case AVRO_FIXED:
        FRZ_TRY(parse_fixed(p, json, space, made));
        break;
    case AVRO_ARRAY:
        FRZ_TRY(parse_array(p, json, space, depth, made));
        break;
    default:
        FRZ_TRY(parse_map(p, json, space, depth, made));
        break;
    }
    read_logical(json, made);
    *out = made;
out:
    return rc;
}

static frz_code parse_object(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                             const avro_schema **out)
{
    const json_t *type = json_object_get(json, "type");
    frz_str name = text_of(type);
    if (type == NULL) {
        return wrong(p, "there is no \"type\"");
    }
    if (name.ptr == NULL) {
        return parse(p, type, space, depth, out);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(complexes); i++) {
        if (frz_str_equal(name, frz_str_from(complexes[i].name))) {
            return parse_complex(p, complexes[i].kind, json, space, depth, out);
        }
    }
    return parse_named(p, name, json, space, out);
}

static frz_code parse(schema_parser *p, const json_t *json, frz_str space, unsigned depth,
                      const avro_schema **out)
{
    frz_code rc = FRZ_OK;
    avro_schema *made = NULL;
    if (depth > 2 * AVRO_MAX_DEPTH) { /* a list and its union are two */
        return frz_fail(p->err, FRZ_E_LIMIT, "types nested more than %d deep", 2 * AVRO_MAX_DEPTH);
    }
    if (json_is_string(json)) {
        return parse_named(p, text_of(json), NULL, space, out);
    }
    if (json_is_object(json)) {
        return parse_object(p, json, space, depth + 1, out);
    }
    if (!json_is_array(json)) {
        return wrong(p, "a type is neither a name nor an object nor a list");
    }
    FRZ_TRY(new_schema(p, AVRO_UNION, &made));
    FRZ_TRY(parse_union(p, json, space, depth + 1, made));
    *out = made;
out:
    return rc;
}

/* ---- the text ---- */

/* A copy in which "\u0000", which occurs in defaults of bytes, is another character: our values
 * have no NUL, and defaults of the writer mean nothing to a reader. */
static char *without_nul(frz_arena *arena, frz_str text)
{
    static const char nul[] = "\\u0000";
    char *made = frz_arena_strdup(arena, text);
    for (size_t i = 0; made != NULL && i + 1 < text.len; i++) {
        if (made[i] == '\\' && text.len - i >= sizeof nul - 1 &&
            memcmp(made + i, nul, sizeof nul - 1) == 0) {
            memcpy(made + i, "\\ufffd", sizeof nul - 1);
        }
        i += made[i] == '\\';
    }
    return made;
}

frz_code avro_schema_parse(frz_arena *arena, frz_str text, uint64_t offset, avro_schemas *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    schema_parser p = {.arena = arena, .err = err};
    json_t *json = NULL;
    char *copy = without_nul(arena, text);
    FRZ_TRY(copy == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK);
    FRZ_TRY(frz_json_parse(arena->env, (frz_str){copy, text.len}, &json, err));
    p.names = json_object();
    FRZ_TRY(p.names == NULL ? no_memory(&p) : FRZ_OK);
    FRZ_TRY(parse(&p, json, FRZ_STR(""), 0, &out->root));
    if (out->root->kind != AVRO_RECORD) {
        rc =
            frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: the values of the file are not records");
        goto out;
    }
    out->count = p.count;
    out->has_ids = p.has_ids;
out:
    json_decref(p.names);
    json_decref(json);
    frz_free(arena->env, p.named);
    return frz_context(err, rc, "avro.schema (byte %" PRIu64 ")", offset);
}
