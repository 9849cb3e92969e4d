/*
 * Making type trees from others: deep copies, structs of given fields, fresh ids.
 */
#include "type/type_internal.h"

static frz_code new_fields(frz_arena *arena, size_t count, frz_field **out, frz_error *err)
{
    *out = frz_arena_array(arena, count, sizeof **out);
    return *out == NULL ? frz_fail_nomem(err, count * sizeof **out) : FRZ_OK;
}

static frz_code new_type(frz_arena *arena, const frz_type *like, frz_type **out, frz_error *err)
{
    frz_type *made = frz_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    *made = *like;
    *out = made;
    return FRZ_OK;
}

static frz_code copy_str(frz_arena *arena, frz_str s, frz_str *out, frz_error *err)
{
    if (s.ptr == NULL) {
        *out = (frz_str){0};
        return FRZ_OK;
    }
    return frz_arena_str(arena, s, out, err);
}

static frz_code copy_default(frz_arena *arena, const frz_value *value, const frz_type *type,
                             const frz_value **out, frz_error *err)
{
    if (value == NULL) {
        return FRZ_OK;
    }
    frz_value *made = frz_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    frz_code rc = frz_value_copy(arena, value, made, err);
    if (rc == FRZ_OK) {
        made->type = type; /* the copy of the field's type, not the old tree */
        *out = made;
    }
    return rc;
}

static frz_code copy_field(frz_arena *arena, const frz_field *field, frz_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    out->id = field->id;
    out->required = field->required;
    FRZ_TRY(frz_arena_str(arena, field->name, &out->name, err));
    FRZ_TRY(copy_str(arena, field->doc, &out->doc, err));
    FRZ_TRY(copy_str(arena, field->annotation, &out->annotation, err));
    FRZ_TRY(frz_type_copy(arena, field->type, &out->type, err));
    FRZ_TRY(copy_default(arena, field->initial_default, out->type, &out->initial_default, err));
    FRZ_TRY(copy_default(arena, field->write_default, out->type, &out->write_default, err));
out:
    return rc;
}

frz_code frz_type_copy(frz_arena *arena, const frz_type *type, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type *made = NULL;
    frz_field *fields = NULL;
    if (type->id < FRZ_TYPE_VARIANT && type->id != FRZ_TYPE_DECIMAL && type->id != FRZ_TYPE_FIXED) {
        *out = frz_type_primitive(type->id);
        return FRZ_OK;
    }
    FRZ_TRY(new_type(arena, type, &made, err));
    FRZ_TRY(copy_str(arena, type->crs, &made->crs, err));
    FRZ_TRY(copy_str(arena, type->algorithm, &made->algorithm, err));
    if (type->field_count > 0) {
        FRZ_TRY(new_fields(arena, type->field_count, &fields, err));
    }
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(copy_field(arena, &type->fields[i], &fields[i], err));
    }
    made->fields = fields;
    *out = made;
out:
    return rc;
}

frz_code frz_schema_copy(frz_arena *arena, const frz_schema *schema, const frz_schema **out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t bytes = schema->identifier_count * sizeof(int32_t);
    frz_schema *made = frz_arena_alloc(arena, sizeof *made);
    int32_t *ids = frz_arena_alloc(arena, bytes);
    if (made == NULL || ids == NULL) {
        return frz_fail_nomem(err, sizeof *made + bytes);
    }
    if (bytes > 0) {
        memcpy(ids, schema->identifier_ids, bytes);
    }
    *made = *schema;
    made->identifier_ids = ids;
    FRZ_TRY(frz_type_copy(arena, schema->type, &made->type, err));
    *out = made;
out:
    return rc;
}

frz_code frz_type_struct_of(frz_arena *arena, const frz_field *fields, size_t count,
                            const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type *made = NULL;
    frz_field *copy = NULL;
    FRZ_TRY(new_fields(arena, count, &copy, err));
    if (count > 0) {
        memcpy(copy, fields, count * sizeof *copy);
    }
    FRZ_TRY(new_type(arena,
                     &(frz_type){.id = FRZ_TYPE_STRUCT, .fields = copy, .field_count = count},
                     &made, err));
    *out = made;
out:
    return rc;
}

/* All fields of one level first, then below each of them. */
static frz_code assign_ids(frz_arena *arena, const frz_type *type, int64_t *next,
                           const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type *made = NULL;
    frz_field *fields = NULL;
    if (type->field_count == 0) {
        *out = type;
        return FRZ_OK;
    }
    if (*next + (int64_t)type->field_count - 1 > FRZ_ID_USER_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "field ids end at %d", FRZ_ID_USER_MAX);
    }
    FRZ_TRY(new_type(arena, type, &made, err));
    FRZ_TRY(new_fields(arena, type->field_count, &fields, err));
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        fields[i].id = (int32_t)(*next)++;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(assign_ids(arena, fields[i].type, next, &fields[i].type, err));
    }
    made->fields = fields;
    *out = made;
out:
    return rc;
}

frz_code frz_type_assign_ids(frz_arena *arena, const frz_type *struct_type, int32_t next_id,
                             const frz_type **out, int32_t *last, frz_error *err)
{
    int64_t next = next_id;
    frz_code rc = assign_ids(arena, struct_type, &next, out, err);
    if (rc == FRZ_OK) {
        *last = (int32_t)(next - 1);
    }
    return rc;
}
