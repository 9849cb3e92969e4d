/*
 * Required fields at any depth: new values are looked at before they are written, because column
 * files hold optional columns and would take a null.
 */
#include "column_update/column_update_internal.h"

static bool has_items(const frz_type *type)
{
    return type->id == FRZ_TYPE_LIST || type->id == FRZ_TYPE_MAP;
}

/* The values of a member, element, key or value. */
static const struct ArrowArray *child_of(const frz_type *type, const struct ArrowArray *array,
                                         size_t i)
{
    return type->id == FRZ_TYPE_MAP ? array->children[0]->children[i] : array->children[i];
}

/* Whether rows have to be looked at: a required field has nulls somewhere, if only where what is
 * around it is null. */
static bool may_lack(const frz_field *field, const struct ArrowArray *array)
{
    const frz_type *type = field->type;
    bool found = field->required && frz_null_count(array) > 0;
    for (size_t i = 0; !found && frz_type_is_nested(type) && i < type->field_count; i++) {
        found = may_lack(&type->fields[i], child_of(type, array, i));
    }
    return found;
}

/* What is required and null in a row. */
static const frz_field *lacks(const frz_field *field, const struct ArrowArray *array, int64_t row)
{
    const frz_type *type = field->type;
    const frz_field *found = NULL;
    int64_t at = array->offset + row, first = at, end = at + 1;
    if (frz_is_null(array, row)) {
        return field->required ? field : NULL;
    }
    if (has_items(type)) {
        const int32_t *ends = array->buffers[1];
        int64_t skipped = type->id == FRZ_TYPE_MAP ? array->children[0]->offset : 0;
        first = skipped + ends[at];
        end = skipped + ends[at + 1];
    }
    for (size_t i = 0; frz_type_is_nested(type) && i < type->field_count; i++) {
        for (int64_t k = first; found == NULL && k < end; k++) {
            found = lacks(&type->fields[i], child_of(type, array, i), k);
        }
    }
    return found;
}

const frz_field *update_lacks(const frz_field *field, const struct ArrowArray *array,
                              const uint8_t *live)
{
    const frz_field *found = NULL;
    int64_t rows = may_lack(field, array) ? array->length : 0;
    for (int64_t i = 0; found == NULL && i < rows; i++) {
        if (live == NULL || frz_bit_get(live, i)) {
            found = lacks(field, array, i);
        }
    }
    return found;
}
