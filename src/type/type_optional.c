/*
 * Types in which everything may be null.
 */
#include "type/type_schema.h"

static frz_code optional_copy(frz_arena *arena, const frz_type *type, const frz_type **out,
                              frz_error *err)
{
    frz_type *copy = NULL;
    frz_field *fields = NULL;
    if (!frz_type_is_nested(type)) {
        *out = type;
        return FRZ_OK;
    }
    copy = frz_arena_alloc(arena, sizeof *copy);
    fields = frz_arena_array(arena, type->field_count, sizeof *fields);
    if (copy == NULL || fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        bool is_key = type->id == FRZ_TYPE_MAP && i == 0;
        fields[i] = type->fields[i];
        fields[i].required = is_key;
        if (!is_key) {
            frz_code rc = optional_copy(arena, type->fields[i].type, &fields[i].type, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    *copy = *type;
    copy->fields = fields;
    *out = copy;
    return FRZ_OK;
}

frz_code frz_type_make_optional(frz_arena *arena, const frz_type *type, const frz_type **out,
                                frz_error *err)
{
    return optional_copy(arena, type, out, err);
}
