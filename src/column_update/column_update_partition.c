/*
 * Updates of columns that a partition is made from. The tuple of a data file stays as long as it
 * holds for every live row. spec: column files, writer procedure, step 6
 */
#include "column_update/column_update_internal.h"

bool update_is_written(const update_plan *plan, int32_t field_id)
{
    bool found = false;
    for (size_t i = 0; !found && i < plan->written.count; i++) {
        found = plan->written.ids[i] == field_id;
    }
    return found;
}

bool update_touches_order(const update_plan *plan, const frz_metadata *metadata, int32_t order_id)
{
    for (size_t i = 0; i < metadata->sort_order_count; i++) {
        const frz_sort_order *order = &metadata->sort_orders[i];
        for (size_t k = 0; order->order_id == order_id && k < order->field_count; k++) {
            for (size_t s = 0; s < order->fields[k].source_count; s++) {
                if (update_is_written(plan, order->fields[k].source_ids[s])) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* A row's value of a field in a column or in structs of it, null where a struct is; false if the
 * field is not there. */
static bool find_value(const frz_field *field, const struct ArrowArray *array, int64_t row,
                       int32_t id, frz_value *out)
{
    bool found = false;
    if (field->id == id) {
        *out = frz_value_at(field->type, array, row);
        return true;
    }
    for (size_t i = 0; !found && field->type->id == FRZ_TYPE_STRUCT && i < field->type->field_count;
         i++) {
        found =
            find_value(&field->type->fields[i], array->children[i], array->offset + row, id, out);
        out->is_null = found && (out->is_null || frz_is_null(array, row));
    }
    return found;
}

/* Does the transform of a value give the value of the tuple? */
static bool gives(const frz_transform *transform, const frz_value *value, const frz_value *tuple)
{
    frz_value made, known;
    if (value->is_null || tuple->is_null) {
        return value->is_null && tuple->is_null;
    }
    return frz_transform_apply(transform, value, &made, NULL) == FRZ_OK && !made.is_null &&
           frz_value_as_source(tuple, made.type, &known) &&
           frz_value_compare(&made, &known, true) == 0;
}

/* A field of the spec over the rows that matter (NULL: all) of one assigned column. */
static bool holds(const frz_partition_field *part, const frz_entry *entry, const frz_field *column,
                  const struct ArrowArray *array, const uint8_t *live)
{
    int32_t id = part->source_ids[0];
    const frz_field *source = column->id == id ? column : frz_type_find_id(column->type, id);
    const frz_value *tuple = frz_entry_tuple_value(entry, part->field_id);
    frz_value value = {0};
    if (source == NULL) {
        return true; /* made from another column */
    }
    if (tuple == NULL || frz_transform_result(&part->transform, source->type) == NULL) {
        return false;
    }
    for (int64_t i = 0; i < array->length; i++) {
        bool counts = live == NULL || frz_bit_get(live, i);
        if (counts && (!find_value(column, array, i, id, &value) ||
                       !gives(&part->transform, &value, tuple))) {
            return false;
        }
    }
    return true;
}

/* Several sources, or an unknown transform: nothing can be proven. */
static bool is_opaque(const update_plan *plan, const frz_partition_field *part)
{
    bool opaque = false;
    for (size_t i = 0; i < part->source_count; i++) {
        opaque = opaque || update_is_written(plan, part->source_ids[i]);
    }
    return opaque && (part->source_count > 1 || part->transform.kind == FRZ_TRANSFORM_UNKNOWN);
}

bool update_touches_partition(const update_plan *plan, const frz_metadata *metadata,
                              const frz_entry *entry)
{
    const frz_partition_spec *spec =
        entry->spec_id < 0 ? NULL : frz_metadata_spec(metadata, entry->spec_id);
    for (size_t i = 0; spec != NULL && i < spec->field_count; i++) {
        for (size_t k = 0; k < spec->fields[i].source_count; k++) {
            if (update_is_written(plan, spec->fields[i].source_ids[k])) {
                return true;
            }
        }
    }
    return false;
}

bool update_keeps_partition(const update_plan *plan, const frz_metadata *metadata,
                            const frz_entry *entry, const frz_field *column,
                            const struct ArrowArray *array, const uint8_t *live)
{
    const frz_partition_spec *spec =
        entry->spec_id < 0 ? NULL : frz_metadata_spec(metadata, entry->spec_id);
    for (size_t i = 0; spec != NULL && i < spec->field_count; i++) {
        const frz_partition_field *part = &spec->fields[i];
        if (part->transform.kind == FRZ_TRANSFORM_VOID || part->source_count == 0) {
            continue;
        }
        if (is_opaque(plan, part) || !holds(part, entry, column, array, live)) {
            return false;
        }
    }
    return true;
}
