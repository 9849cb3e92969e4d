/*
 * Variants put together from shredded columns. A value may lie in "value" as it is, in
 * "typed_value" as a column of its type, or, an object, in both: then the fields that have columns
 * come from these and the others from "value". Objects and arrays in "typed_value" hold such pairs
 * again.
 *
 * Invariants:
 *  1. Names of fields that have columns are in the row's dictionary, which is handed on unchanged.
 *  2. A missing value is null where there must be one: for the variant itself and for items.
 *
 * spec: Variant Shredding
 */
#include "type/type_internal.h"
#include "type/type_variant.h"

/* A pair of columns that stands for a value, and what lies below. */
typedef struct shape {
    const frz_type *type; /* STRUCT of value and typed_value */
    int64_t value, typed; /* index in it; -1: not there */
    const frz_type *typed_type;
    frz_str name;           /* of an object's field */
    int64_t name_id;        /* of it in the dictionary last seen; -1: not there */
    struct shape *children; /* of an object's fields, or one: of items */
    size_t child_count;
} shape;

typedef struct unshredder {
    const frz_env *env;
    frz_arena arena;
    shape root;
    int64_t metadata; /* index in the root's type */
    frz_variant_names names;
    bool has_names;
    frz_buf parts;  /* frz_variant_part of the containers that are open */
    frz_buf values; /* of all rows */
    frz_error *err;
} unshredder;

static frz_code corrupt(const unshredder *u, const char *what)
{
    return frz_fail(u->err, FRZ_E_CORRUPT, "variant: %s", what);
}

/* ---- shapes ---- */

static int64_t index_of(const frz_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, frz_str_from(name))) {
            return (int64_t)i;
        }
    }
    return -1;
}

static bool can_be_typed(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_UNKNOWN:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_VARIANT:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
    case FRZ_TYPE_MAP:
        return false;
    case FRZ_TYPE_FOREIGN:
        return type->foreign == FRZ_FOREIGN_INT8 || type->foreign == FRZ_FOREIGN_INT16;
    default:
        return true;
    }
}

static frz_code make_shape(frz_arena *arena, const frz_type *type, frz_str name, int depth,
                           shape *out, frz_error *err);

static frz_code make_children(frz_arena *arena, int depth, shape *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = out->typed_type;
    out->children = frz_arena_array(arena, type->field_count, sizeof *out->children);
    if (out->children == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *out->children);
    }
    out->child_count = type->field_count;
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(make_shape(arena, type->fields[i].type, type->fields[i].name, depth + 1,
                           &out->children[i], err));
    }
out:
    return rc;
}

static frz_code make_shape(frz_arena *arena, const frz_type *type, frz_str name, int depth,
                           shape *out, frz_error *err)
{
    char text[80];
    *out = (shape){.type = type, .name = name, .name_id = -1};
    if (depth > TYPE_MAX_DEPTH) {
        return frz_fail(err, FRZ_E_LIMIT, "shredded variant nested more than %d levels deep",
                        TYPE_MAX_DEPTH);
    }
    if (type->id != FRZ_TYPE_STRUCT) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "shredded variant: expected a group of value and typed_value, found %s",
                        frz_type_text(type, text, sizeof text));
    }
    out->value = index_of(type, "value");
    out->typed = index_of(type, "typed_value");
    if (out->value < 0 && out->typed < 0) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "shredded variant: neither value nor typed_value is there");
    }
    if (out->value >= 0 && type->fields[out->value].type->id != FRZ_TYPE_BINARY) {
        return frz_fail(err, FRZ_E_CORRUPT, "shredded variant: value is %s, not binary",
                        frz_type_text(type->fields[out->value].type, text, sizeof text));
    }
    if (out->typed < 0) {
        return FRZ_OK;
    }
    out->typed_type = type->fields[out->typed].type;
    if (!can_be_typed(out->typed_type)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: variant shredded as %s",
                        frz_type_text(out->typed_type, text, sizeof text));
    }
    return make_children(arena, depth, out, err);
}

static frz_code make_root(frz_arena *arena, const frz_type *stored, shape *out, int64_t *metadata,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(make_shape(arena, stored, (frz_str){NULL, 0}, 0, out, err));
    *metadata = index_of(stored, "metadata");
    if (*metadata < 0 || stored->fields[*metadata].type->id != FRZ_TYPE_BINARY) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "variant: there is no binary metadata");
    }
out:
    return rc;
}

/* ---- one value ---- */

/* The next row's dictionary; mostly it is that of the row before. */
static frz_code look_up_names(unshredder *u, shape *s)
{
    frz_code rc = FRZ_OK;
    bool is_object = s->typed_type != NULL && s->typed_type->id == FRZ_TYPE_STRUCT;
    for (size_t i = 0; i < s->child_count; i++) {
        if (is_object) {
            s->children[i].name_id = frz_variant_find_name(&u->names, s->children[i].name);
        }
        FRZ_TRY(look_up_names(u, &s->children[i]));
    }
out:
    return rc;
}

static frz_code use_metadata(unshredder *u, frz_str metadata)
{
    frz_code rc = FRZ_OK;
    if (u->has_names && frz_str_equal(u->names.metadata, metadata)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_variant_names_read(metadata, &u->names, u->err));
    u->has_names = true;
    FRZ_TRY(look_up_names(u, &u->root));
out:
    return rc;
}

static frz_code add_part(unshredder *u, const shape *field, size_t start)
{
    frz_variant_part part = {.offset = u->values.len - start};
    if (field != NULL) {
        if (field->name_id < 0) {
            return frz_fail(u->err, FRZ_E_CORRUPT, "variant: field \"%.*s\" is not in the metadata",
                            FRZ_STR_ARG(field->name));
        }
        part.name = field->name;
        part.id = (uint32_t)field->name_id;
    }
    return frz_buf_append(&u->parts, &part, sizeof part, u->err);
}

static frz_variant_part *parts_from(const unshredder *u, size_t first)
{
    frz_variant_part *parts = (frz_variant_part *)(void *)u->parts.data;
    return parts == NULL ? NULL : parts + first; /* there may have been none so far */
}

static size_t part_count(const unshredder *u)
{
    return u->parts.len / sizeof(frz_variant_part);
}

/* Append the value of a pair of columns; *missing: there is none. */
static frz_code put_pair(unshredder *u, const shape *s, const struct ArrowArray *array, int64_t i,
                         bool *missing);

/* Fields of an object in "value" that have no columns of their own. */
static frz_code put_rest(unshredder *u, const shape *s, frz_str value, size_t start)
{
    frz_code rc = FRZ_OK;
    frz_variant object;
    frz_variant field;
    FRZ_TRY(frz_variant_read(value, &object, u->err));
    if (object.kind != FRZ_VARIANT_OBJECT) {
        rc = corrupt(u, "value is no object, and yet there are shredded fields");
        goto out;
    }
    for (uint32_t i = 0; i < object.count; i++) {
        shape named = {.name_id = 0};
        uint32_t id;
        bool shredded = false;
        FRZ_TRY(frz_variant_field_name(&object, &u->names, i, &id, &named.name, u->err));
        for (size_t k = 0; k < s->child_count && !shredded; k++) {
            shredded = frz_str_equal(s->children[k].name, named.name);
        }
        if (shredded) {
            continue; /* its column decides */
        }
        named.name_id = id;
        FRZ_TRY(add_part(u, &named, start));
        FRZ_TRY(frz_variant_item(&object, i, &field, u->err));
        FRZ_TRY(frz_buf_append(&u->values, field.all.ptr, field.all.len, u->err));
    }
out:
    return rc;
}

static frz_code put_object(unshredder *u, const shape *s, const struct ArrowArray *typed, int64_t i,
                           const frz_str *value)
{
    frz_code rc = FRZ_OK;
    size_t start = u->values.len;
    size_t first = part_count(u);
    for (size_t k = 0; k < s->child_count; k++) {
        bool missing;
        size_t parts = u->parts.len;
        FRZ_TRY(add_part(u, s->children[k].name_id < 0 ? NULL : &s->children[k], start));
        FRZ_TRY(put_pair(u, &s->children[k], typed->children[k], typed->offset + i, &missing));
        if (missing) {
            u->parts.len = parts;
        } else if (s->children[k].name_id < 0) {
            FRZ_TRY(add_part(u, &s->children[k], start)); /* says what is wrong */
        }
    }
    if (value != NULL) {
        FRZ_TRY(put_rest(u, s, *value, start));
    }
    FRZ_TRY(frz_variant_close_object(&u->values, start, parts_from(u, first), part_count(u) - first,
                                     u->err));
    u->parts.len = first * sizeof(frz_variant_part);
out:
    return rc;
}

static frz_code put_list(unshredder *u, const shape *s, const struct ArrowArray *typed, int64_t i)
{
    frz_code rc = FRZ_OK;
    const int32_t *ends = (const int32_t *)typed->buffers[1] + typed->offset + i;
    size_t start = u->values.len;
    size_t first = part_count(u);
    for (int32_t k = ends[0]; k < ends[1]; k++) {
        bool missing;
        FRZ_TRY(add_part(u, NULL, start));
        FRZ_TRY(put_pair(u, &s->children[0], typed->children[0], k, &missing));
        if (missing) {
            FRZ_TRY(frz_variant_put_null(&u->values, u->err));
        }
    }
    FRZ_TRY(frz_variant_close_array(&u->values, start, parts_from(u, first), part_count(u) - first,
                                    u->err));
    u->parts.len = first * sizeof(frz_variant_part);
out:
    return rc;
}

static frz_code put_typed(unshredder *u, const shape *s, const struct ArrowArray *typed, int64_t i,
                          const frz_str *value)
{
    frz_value single;
    if (s->typed_type->id == FRZ_TYPE_STRUCT) {
        return put_object(u, s, typed, i, value);
    }
    if (value != NULL) {
        return corrupt(u, "both value and typed_value are there");
    }
    if (s->typed_type->id == FRZ_TYPE_LIST) {
        return put_list(u, s, typed, i);
    }
    single = frz_value_at(s->typed_type, typed, i);
    return frz_variant_put_value(&u->values, &single, u->err);
}

/* A value as it is stored; what it is made of is not looked at. */
static frz_code put_stored(unshredder *u, frz_str value)
{
    frz_variant v;
    frz_code rc = frz_variant_read(value, &v, u->err);
    return rc == FRZ_OK ? frz_buf_append(&u->values, v.all.ptr, v.all.len, u->err) : rc;
}

static frz_code put_pair(unshredder *u, const shape *s, const struct ArrowArray *array, int64_t i,
                         bool *missing)
{
    frz_str value = {NULL, 0};
    int64_t at = array->offset + i;
    bool there = !frz_is_null(array, i);
    const struct ArrowArray *typed = s->typed < 0 ? NULL : array->children[s->typed];
    bool has_value = there && s->value >= 0 && !frz_is_null(array->children[s->value], at);
    bool has_typed = there && typed != NULL && !frz_is_null(typed, at);
    *missing = !has_value && !has_typed;
    if (has_value) {
        value = frz_get_bytes(array->children[s->value], at);
    }
    if (has_typed) {
        return put_typed(u, s, typed, at, has_value ? &value : NULL);
    }
    return has_value ? put_stored(u, value) : FRZ_OK;
}

/* ---- columns ---- */

static frz_code put_row(unshredder *u, const struct ArrowArray *array, int64_t i)
{
    frz_code rc = FRZ_OK;
    bool missing;
    const struct ArrowArray *metadata = array->children[u->metadata];
    if (frz_is_null(array, i)) {
        return FRZ_OK;
    }
    if (frz_is_null(metadata, array->offset + i)) {
        return corrupt(u, "the metadata is null");
    }
    FRZ_TRY(use_metadata(u, frz_get_bytes(metadata, array->offset + i)));
    FRZ_TRY(put_pair(u, &u->root, array, i, &missing));
    if (missing) {
        FRZ_TRY(frz_variant_put_null(&u->values, u->err));
    }
out:
    return rc;
}

/* The values of all rows as a binary array without nulls. */
static frz_code put_rows(unshredder *u, const struct ArrowArray *array, struct ArrowArray *out)
{
    frz_code rc = FRZ_OK;
    int64_t rows = array->length;
    frz_buffer *buffers[3] = {NULL, NULL, NULL};
    FRZ_TRY(frz_buffer_new(u->env, ((size_t)rows + 1) * sizeof(int32_t), &buffers[1], u->err));
    int32_t *ends = (int32_t *)(void *)buffers[1]->data;
    ends[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        rc = put_row(u, array, i);
        FRZ_TRY(frz_context(u->err, rc, "row %lld", (long long)i));
        if (u->values.len > INT32_MAX) {
            rc = frz_fail(u->err, FRZ_E_LIMIT, "variants of more than %d bytes in one array",
                          INT32_MAX);
            goto out;
        }
        ends[i + 1] = (int32_t)u->values.len;
    }
    FRZ_TRY(frz_buffer_new(u->env, u->values.len, &buffers[2], u->err));
    memcpy(buffers[2]->data, u->values.data == NULL ? (uint8_t *)"" : u->values.data,
           u->values.len);
    frz_buffer *moved[3] = {NULL, buffers[1], buffers[2]};
    buffers[1] = buffers[2] = NULL;
    rc = frz_array_make(u->env, rows, 0, moved, 3, NULL, 0, out, u->err);
out:
    frz_buffer_unref(buffers[1]);
    frz_buffer_unref(buffers[2]);
    return rc;
}

/* A column of the stored struct, without nulls: rows that are null are so by the struct. */
static frz_code share_column(const frz_env *env, const struct ArrowArray *array, int64_t index,
                             struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray slice = {0};
    FRZ_TRY(
        frz_array_slice(env, array->children[index], array->offset, array->length, &slice, err));
    FRZ_TRY(frz_array_with_validity(env, &slice, NULL, out, err));
out:
    frz_array_release(&slice);
    return rc;
}

/* Is the value null where the variant is not? Then it is a variant of null. */
static bool lacks_values(const struct ArrowArray *array, const shape *root)
{
    const struct ArrowArray *value = array->children[root->value];
    for (int64_t i = 0; i < array->length && frz_null_count(value) > 0; i++) {
        if (!frz_is_null(array, i) && frz_is_null(value, array->offset + i)) {
            return true;
        }
    }
    return false;
}

static frz_code copy_validity(const frz_env *env, const struct ArrowArray *array, frz_buffer **out,
                              frz_error *err)
{
    if (frz_null_count(array) == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(array->length), out, err);
    if (rc == FRZ_OK) {
        frz_bitmap_copy(array->buffers[0], array->offset, array->length, (*out)->data, 0);
    }
    return rc;
}

static frz_code make_pair(unshredder *u, const struct ArrowArray *array, struct ArrowArray *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *validity = NULL;
    struct ArrowArray pair[2] = {{0}, {0}};
    FRZ_TRY(share_column(u->env, array, u->metadata, &pair[0], u->err));
    if (u->root.typed < 0 && !lacks_values(array, &u->root)) {
        FRZ_TRY(share_column(u->env, array, u->root.value, &pair[1], u->err));
    } else {
        FRZ_TRY(put_rows(u, array, &pair[1]));
    }
    FRZ_TRY(copy_validity(u->env, array, &validity, u->err));
    int64_t nulls = frz_null_count(array);
    frz_buffer *moved = validity;
    validity = NULL;
    rc = frz_array_make(u->env, array->length, nulls, &moved, 1, pair, 2, out, u->err);
    pair[0].release = pair[1].release = NULL; /* moved, also on failure */
out:
    frz_array_release(&pair[0]);
    frz_array_release(&pair[1]);
    frz_buffer_unref(validity);
    return rc;
}

frz_code frz_variant_unshred(const frz_env *env, const frz_type *stored,
                             const struct ArrowArray *array, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    unshredder u = {.env = env, .err = err};
    frz_arena_init(&u.arena, env, FRZ_ARENA_NO_LIMIT);
    frz_buf_init(&u.parts, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&u.values, env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(make_root(&u.arena, stored, &u.root, &u.metadata, err));
    FRZ_TRY(make_pair(&u, array, out));
out:
    frz_buf_reset(&u.parts);
    frz_buf_reset(&u.values);
    frz_arena_reset(&u.arena);
    return rc;
}

frz_code frz_variant_check_shape(const frz_env *env, const frz_type *stored, frz_error *err)
{
    shape root;
    int64_t metadata;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = make_root(&arena, stored, &root, &metadata, err);
    frz_arena_reset(&arena);
    return rc;
}
