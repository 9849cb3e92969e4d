/*
 * Types of the specification's structures, made from tables of names, ids and types.
 */
#include "meta/meta_internal.h"

frz_field meta_field_of(const meta_field_row *row, const frz_type *type)
{
    return (frz_field){.id = row->id,
                       .required = row->required,
                       .name = frz_str_from(row->name),
                       .type = type != NULL ? type : frz_type_primitive(row->type)};
}

static frz_code nested_type(frz_arena *arena, frz_type_id id, const frz_field *fields, size_t count,
                            const frz_type **out, frz_error *err)
{
    frz_type *type = frz_arena_alloc(arena, sizeof *type);
    frz_field *copy = frz_arena_array(arena, count, sizeof *copy);
    if (type == NULL || copy == NULL) {
        return frz_fail_nomem(err, sizeof *type);
    }
    memcpy(copy, fields, count * sizeof *copy);
    *type = (frz_type){.id = id, .fields = copy, .field_count = count};
    *out = type;
    return FRZ_OK;
}

frz_code meta_list_type(frz_arena *arena, int32_t element_id, const frz_type *element,
                        const frz_type **out, frz_error *err)
{
    const frz_field field = {
        .id = element_id, .required = true, .name = FRZ_STR("element"), .type = element};
    return nested_type(arena, FRZ_TYPE_LIST, &field, 1, out, err);
}

frz_code meta_map_type(frz_arena *arena, int32_t key_id, const frz_type *value,
                       const frz_type **out, frz_error *err)
{
    const frz_field fields[] = {
        {.id = key_id,
         .required = true,
         .name = FRZ_STR("key"),
         .type = frz_type_primitive(FRZ_TYPE_INT)},
        {.id = key_id + 1, .required = true, .name = FRZ_STR("value"), .type = value},
    };
    return nested_type(arena, FRZ_TYPE_MAP, fields, FRZ_ARRAY_COUNT(fields), out, err);
}
