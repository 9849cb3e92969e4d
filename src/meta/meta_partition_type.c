/*
 * The type of partition tuples in v4 manifests: a struct of every partition field that ever was.
 * spec: partition tuple
 */
#include <stdlib.h>

#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

/* The type of a source column in the newest schema that has it; NULL: in none. */
static const frz_type *source_type(const frz_metadata *metadata, int32_t field_id)
{
    const frz_field *field =
        frz_type_find_id(frz_metadata_current_schema(metadata)->type, field_id);
    for (size_t i = metadata->schema_count; field == NULL && i-- > 0;) {
        field = frz_type_find_id(metadata->schemas[i]->type, field_id);
    }
    return field == NULL ? NULL : field->type;
}

/* NULL: the transform is not known here, or its source is gone. */
static const frz_type *result_type(const frz_metadata *metadata, const frz_partition_field *field)
{
    const frz_type *source =
        field->source_count == 1 ? source_type(metadata, field->source_ids[0]) : NULL;
    return source == NULL ? NULL : frz_transform_result(&field->transform, source);
}

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const frz_field *)a)->id, y = ((const frz_field *)b)->id;
    return (x > y) - (x < y);
}

/* A field keeps its id when a later spec only renames it or makes it void: the place is that of
 * the last spec in which it has values. */
static size_t place_of(const frz_field *fields, size_t count, int32_t id)
{
    size_t i = 0;
    while (i < count && fields[i].id != id) {
        i++;
    }
    return i;
}

static void add_spec(const frz_metadata *metadata, const frz_partition_spec *spec,
                     frz_field *fields, size_t *count)
{
    for (size_t i = 0; i < spec->field_count; i++) {
        const frz_partition_field *field = &spec->fields[i];
        const frz_type *type = result_type(metadata, field);
        size_t place = place_of(fields, *count, field->field_id);
        if (type == NULL || (place < *count && field->transform.kind == FRZ_TRANSFORM_VOID)) {
            continue;
        }
        fields[place] = (frz_field){.id = field->field_id, .name = field->name, .type = type};
        *count += place == *count;
    }
}

/* Fields of different specs may share a name, which the columns of a file should not. */
static frz_code make_unique(frz_arena *arena, frz_field *fields, size_t at, frz_error *err)
{
    for (size_t i = 0; i < at; i++) {
        if (frz_str_equal(fields[i].name, fields[at].name)) {
            char *name = frz_arena_printf(arena, "%.*s_%d", FRZ_STR_ARG(fields[at].name),
                                          (int)fields[at].id);
            fields[at].name = frz_str_from(name == NULL ? "" : name);
            return name == NULL ? frz_fail_nomem(err, fields[at].name.len) : FRZ_OK;
        }
    }
    return FRZ_OK;
}

frz_code meta_partition_type(const frz_metadata *metadata, frz_arena *arena, const frz_type **out,
                             frz_error *err)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < metadata->spec_count; i++) {
        most += metadata->specs[i].field_count;
    }
    *out = NULL;
    frz_field *fields = frz_arena_array(arena, most, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, most * sizeof *fields);
    }
    for (size_t i = 0; i < metadata->spec_count; i++) {
        add_spec(metadata, &metadata->specs[i], fields, &count);
    }
    if (count == 0) {
        return FRZ_OK;
    }
    for (size_t i = 0; i < count; i++) {
        frz_code rc = make_unique(arena, fields, i, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    qsort(fields, count, sizeof *fields, by_id);
    return frz_type_struct_of(arena, fields, count, out, err);
}
