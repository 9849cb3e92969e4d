/*
 * The fields that equality deletes compare: where a schema has them, and types to read them with
 * that hold no more than is needed.
 */
#include "scan/scan_deletes_internal.h"

/* Fields inside of lists and maps are no keys. */
static const frz_field *find_in_structs(const frz_type *type, int32_t field_id)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        if (field->id == field_id) {
            return field;
        }
        if (field->type->id == FRZ_TYPE_STRUCT) {
            const frz_field *found = find_in_structs(field->type, field_id);
            if (found != NULL) {
                return found;
            }
        }
    }
    return NULL;
}

/* A schema that the table had before; the field may have been dropped since. */
const frz_field *delete_find_field(const frz_delete_index *index, int32_t field_id,
                                   const frz_type **source)
{
    const frz_metadata *metadata = &index->table->metadata;
    const frz_field *best = NULL;
    int32_t best_id = -1;
    *source = index->options.schema->type;
    const frz_field *found = find_in_structs(*source, field_id);
    for (size_t i = 0; found == NULL && i < metadata->schema_count; i++) {
        const frz_schema *schema = metadata->schemas[i];
        const frz_field *field = find_in_structs(schema->type, field_id);
        if (field != NULL && schema->schema_id > best_id) {
            best = field;
            best_id = schema->schema_id;
            *source = schema->type;
        }
    }
    return found != NULL ? found : best;
}

static const frz_field *holder_of(const frz_type *type, int32_t field_id)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        if (field->id == field_id || (field->type->id == FRZ_TYPE_STRUCT &&
                                      find_in_structs(field->type, field_id) != NULL)) {
            return field;
        }
    }
    return NULL;
}

/* A field of base, or a new empty one, that becomes the holder of the field. */
static frz_code put_holder(frz_arena *arena, frz_field *place, const frz_field *holder, bool is_new,
                           int32_t field_id, const frz_type *leaf, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    if (is_new) {
        *place = *holder;
        place->required = false; /* a file that is older than the field has none */
    }
    if (holder->id == field_id) {
        place->type = leaf != NULL ? leaf : holder->type;
        return FRZ_OK;
    }
    if (place->type->id != FRZ_TYPE_STRUCT) {
        return frz_fail(err, FRZ_E_CORRUPT, "field id %d is a struct in one schema only",
                        place->id);
    }
    return delete_add_field(arena, is_new ? &nothing : place->type, holder->type, field_id, leaf,
                            &place->type, err);
}

frz_code delete_add_field(frz_arena *arena, const frz_type *base, const frz_type *source,
                          int32_t field_id, const frz_type *leaf, const frz_type **out,
                          frz_error *err)
{
    const frz_field *holder = holder_of(source, field_id);
    size_t n = base->field_count;
    if (find_in_structs(base, field_id) != NULL) {
        *out = base;
        return FRZ_OK;
    }
    if (holder == NULL) {
        return frz_fail(err, FRZ_E_INTERNAL, "field id %d is not in the schema", field_id);
    }
    frz_field *fields = frz_arena_array(arena, n + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, (n + 1) * sizeof *fields);
    }
    if (n > 0) {
        memcpy(fields, base->fields, n * sizeof *fields);
    }
    size_t at = 0;
    while (at < n && fields[at].id != holder->id) {
        at++;
    }
    frz_code rc = put_holder(arena, &fields[at], holder, at == n, field_id, leaf, err);
    return rc != FRZ_OK ? rc : frz_type_struct_of(arena, fields, FRZ_MAX(n, at + 1), out, err);
}
