/*
 * Which columns can be read of a table, and projections.
 */
#include "scan/scan_plan.h"

/* ---- columns ---- */

static bool has_name(const frz_type *type, frz_str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* The schema's fields and the lineage columns; without those whose names are taken, if asked. */
static frz_code with_lineage(frz_arena *arena, const frz_schema *schema, bool by_name,
                             const frz_type **out, frz_error *err)
{
    const frz_field *lineage[] = {&frz_field_row_id, &frz_field_last_updated};
    const frz_type *type = schema->type;
    size_t n = type->field_count;
    frz_field *fields = frz_arena_array(arena, n + FRZ_ARRAY_COUNT(lineage), sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, (n + 2) * sizeof *fields);
    }
    if (n > 0) {
        memcpy(fields, type->fields, n * sizeof *fields);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(lineage); i++) {
        if (!by_name || !has_name(type, lineage[i]->name)) {
            fields[n++] = *lineage[i];
        }
    }
    return frz_type_struct_of(arena, fields, n, out, err);
}

frz_code frz_readable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                           frz_error *err)
{
    return with_lineage(arena, schema, true, out, err);
}

frz_code frz_projectable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                              frz_error *err)
{
    return with_lineage(arena, schema, false, out, err);
}

frz_code frz_project_ids(frz_arena *arena, const frz_type *struct_type, const int32_t *ids,
                         size_t count, const frz_type **out, frz_error *err)
{
    frz_field *fields = frz_arena_array(arena, count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = frz_type_field_by_id(struct_type, ids[i]);
        if (field == NULL) {
            return frz_fail(err, FRZ_E_INTERNAL, "field id %d is not in the schema", ids[i]);
        }
        fields[i] = *field;
    }
    return frz_type_struct_of(arena, fields, count, out, err);
}
