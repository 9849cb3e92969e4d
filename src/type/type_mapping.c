/*
 * Name mapping: which field a column of a file without ids is. spec: Column Projection, name
 * mapping serialization.
 */
#include "base/base_json.h"
#include "type/type_internal.h"

/* ---- parsing ---- */

static frz_code corrupt(const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "name mapping: %s", what);
}

static frz_code parse_names(frz_arena *arena, const json_t *json, frz_name_mapping_field *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = json_array_size(json);
    if (!json_is_array(json)) {
        return corrupt("expected a list of names for each field", err);
    }
    frz_str *names = frz_arena_array(arena, count, sizeof *names);
    if (names == NULL) {
        return frz_fail_nomem(err, count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_array_get(json, i);
        frz_str text = {json_string_value(name), json_string_length(name)};
        if (!json_is_string(name) || !frz_str_is_clean(text)) {
            return corrupt("a name is not a string", err);
        }
        FRZ_TRY(frz_arena_str(arena, text, &names[i], err));
    }
    out->names = names;
    out->name_count = count;
out:
    return rc;
}

/* A name that stands for two fields of one level stands for none. */
static frz_code check_names(const frz_env *env, const frz_name_mapping *mapping, frz_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < mapping->field_count; i++) {
        count += mapping->fields[i].name_count;
    }
    frz_str *names = frz_alloc_zero(env, count, sizeof *names);
    if (names == NULL) {
        return frz_fail_nomem(err, count * sizeof *names);
    }
    count = 0;
    for (size_t i = 0; i < mapping->field_count; i++) {
        const frz_name_mapping_field *field = &mapping->fields[i];
        for (size_t k = 0; k < field->name_count; k++) {
            names[count++] = field->names[k];
        }
    }
    frz_code rc = frz_context(err, type_check_names(names, count, err), "name mapping");
    frz_free(env, names);
    return rc;
}

static frz_code parse_level(frz_arena *arena, const json_t *json, int depth, frz_name_mapping *out,
                            frz_error *err);

static frz_code parse_field(frz_arena *arena, const json_t *json, int depth,
                            frz_name_mapping_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *id = json_object_get(json, "field-id");
    const json_t *below = json_object_get(json, "fields");
    out->field_id = FRZ_ID_NONE;
    if (!json_is_object(json)) {
        return corrupt("expected an object for each field", err);
    }
    if (id != NULL && !json_is_null(id)) {
        json_int_t value = json_integer_value(id);
        if (!json_is_integer(id) || value < 0 || value > INT32_MAX) {
            return corrupt("a field-id is not a 32-bit number from 0 on", err);
        }
        out->field_id = (int32_t)value;
    }
    FRZ_TRY(parse_names(arena, json_object_get(json, "names"), out, err));
    if (below != NULL && !json_is_null(below)) {
        FRZ_TRY(parse_level(arena, below, depth + 1, &out->children, err));
    }
out:
    return rc;
}

static frz_code parse_level(frz_arena *arena, const json_t *json, int depth, frz_name_mapping *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = json_array_size(json);
    if (!json_is_array(json)) {
        return corrupt("expected a list of fields", err);
    }
    if (depth > TYPE_MAX_DEPTH) {
        return frz_fail(err, FRZ_E_LIMIT, "name mapping: nested more than %d levels deep",
                        TYPE_MAX_DEPTH);
    }
    frz_name_mapping made = {.fields = frz_arena_array(arena, count, sizeof *made.fields)};
    if (made.fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *made.fields);
    }
    for (; made.field_count < count; made.field_count++) {
        FRZ_TRY(parse_field(arena, json_array_get(json, made.field_count), depth,
                            &made.fields[made.field_count], err));
    }
    FRZ_TRY(check_names(arena->env, &made, err));
    *out = made;
out:
    return rc;
}

frz_code frz_name_mapping_parse(frz_arena *arena, frz_str json, frz_name_mapping *out,
                                frz_error *err)
{
    json_t *root = NULL;
    frz_code rc = frz_json_parse(arena->env, json, &root, err);
    if (rc != FRZ_OK) {
        return frz_context(err, rc, "name mapping");
    }
    rc = parse_level(arena, root, 0, out, err);
    json_decref(root);
    return rc;
}

/* ---- the mapping of a schema ---- */

static frz_code put_json_string(frz_buf *out, frz_str s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_byte(out, '"', err));
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = (uint8_t)s.ptr[i];
        if (c < 0x20) {
            FRZ_TRY(frz_buf_printf(out, err, "\\u%04x", c));
        } else {
            if (c == '"' || c == '\\') {
                FRZ_TRY(frz_buf_append_byte(out, '\\', err));
            }
            FRZ_TRY(frz_buf_append_byte(out, c, err));
        }
    }
    FRZ_TRY(frz_buf_append_byte(out, '"', err));
out:
    return rc;
}

static frz_code put_level(const frz_type *type, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_byte(out, '[', err));
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        FRZ_TRY(frz_buf_append_str(out, i == 0 ? "{" : ",{", err));
        if (field->id != FRZ_ID_NONE) {
            FRZ_TRY(frz_buf_printf(out, err, "\"field-id\":%d,", (int)field->id));
        }
        FRZ_TRY(frz_buf_append_str(out, "\"names\":[", err));
        FRZ_TRY(put_json_string(out, field->name, err));
        FRZ_TRY(frz_buf_append_byte(out, ']', err));
        if (field->type->field_count > 0) {
            FRZ_TRY(frz_buf_append_str(out, ",\"fields\":", err));
            FRZ_TRY(put_level(field->type, out, err));
        }
        FRZ_TRY(frz_buf_append_byte(out, '}', err));
    }
    FRZ_TRY(frz_buf_append_byte(out, ']', err));
out:
    return rc;
}

frz_code frz_name_mapping_of(const frz_env *env, const frz_type *struct_type, frz_buf *out,
                             frz_error *err)
{
    (void)env;
    return put_level(struct_type, out, err);
}

/* ---- applying ---- */

static bool has_name(const frz_name_mapping_field *field, frz_str name)
{
    for (size_t i = 0; i < field->name_count; i++) {
        if (frz_str_equal(field->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* Files usually list columns in the mapping's order: the search goes on from the last hit. */
static const frz_name_mapping_field *find_name(const frz_name_mapping *mapping, frz_str name,
                                               size_t *next)
{
    for (size_t i = 0; i < mapping->field_count; i++) {
        size_t at = (*next + i) % mapping->field_count;
        if (has_name(&mapping->fields[at], name)) {
            *next = at + 1;
            return &mapping->fields[at];
        }
    }
    return NULL;
}

static const frz_name_mapping_field *find_id(const frz_name_mapping *mapping, int32_t id,
                                             size_t *next)
{
    for (size_t i = 0; i < mapping->field_count; i++) {
        size_t at = (*next + i) % mapping->field_count;
        if (mapping->fields[at].field_id == id) {
            *next = at + 1;
            return &mapping->fields[at];
        }
    }
    return NULL;
}

/* Of all fields below: does any have an id, does any have none? */
static void look_for_ids(const frz_type *type, bool *some, bool *missing)
{
    for (size_t i = 0; i < type->field_count && !(*some && *missing); i++) {
        *some = *some || type->fields[i].id != FRZ_ID_NONE;
        *missing = *missing || type->fields[i].id == FRZ_ID_NONE;
        look_for_ids(type->fields[i].type, some, missing);
    }
}

typedef struct mapper {
    frz_arena *arena;
    const frz_type *own; /* the whole file if it has ids, else NULL */
} mapper;

static frz_code apply_level(const mapper *m, const frz_name_mapping *mapping, const frz_type *type,
                            const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t next = 0;
    frz_field *fields = frz_arena_array(m->arena, type->field_count, sizeof *fields);
    frz_type *made = frz_arena_alloc(m->arena, sizeof *made);
    if (fields == NULL || made == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        frz_field *field = &fields[i];
        *field = type->fields[i];
        bool has_id = field->id != FRZ_ID_NONE;
        const frz_name_mapping_field *found =
            has_id ? find_id(mapping, field->id, &next) : find_name(mapping, field->name, &next);
        if (found == NULL ||
            (!has_id && m->own != NULL && frz_type_find_id(m->own, found->field_id) != NULL)) {
            continue;
        }
        field->id = found->field_id;
        if (field->type->field_count > 0) {
            FRZ_TRY(apply_level(m, &found->children, field->type, &field->type, err));
        }
    }
    *made = *type;
    made->fields = fields;
    *out = made;
out:
    return rc;
}

frz_code frz_name_mapping_apply(frz_arena *arena, const frz_name_mapping *mapping,
                                const frz_type *struct_type, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *made = struct_type;
    bool some = false; /* mostly there are none, and looking for each would take long */
    bool missing = false;
    look_for_ids(struct_type, &some, &missing);
    if (missing) {
        mapper m = {arena, some ? struct_type : NULL};
        FRZ_TRY(apply_level(&m, mapping, struct_type, &made, err));
        FRZ_TRY(frz_context(err, type_check_ids(arena->env, made, err),
                            "columns of the file by name mapping"));
    }
    *out = made;
out:
    return rc;
}
