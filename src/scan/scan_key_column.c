/*
 * Columns of keys: how values of a type are compared, and where the values of a field lie in a
 * batch. A field inside of a struct is null where the struct is.
 */
#include "scan/scan_key_set.h"

frz_key_class frz_key_class_of(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_UNKNOWN:
        return FRZ_KEY_NULL;
    case FRZ_TYPE_BOOLEAN:
        return FRZ_KEY_BOOL;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_DATE:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return FRZ_KEY_INTEGER;
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DOUBLE:
        return FRZ_KEY_FLOAT;
    case FRZ_TYPE_DECIMAL:
        return FRZ_KEY_DECIMAL;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        return FRZ_KEY_FIXED;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
        return FRZ_KEY_BYTES;
    default:
        return FRZ_KEY_NONE;
    }
}

static bool is_whole_number(const frz_type *type)
{
    return type->id == FRZ_TYPE_INT || type->id == FRZ_TYPE_LONG;
}

bool frz_key_types_agree(const frz_type *a, const frz_type *b)
{
    frz_key_class class = frz_key_class_of(a);
    frz_key_class other = frz_key_class_of(b);
    if (class == FRZ_KEY_NULL || other == FRZ_KEY_NULL) {
        return class != FRZ_KEY_NONE && other != FRZ_KEY_NONE;
    }
    if (class == FRZ_KEY_NONE || class != other) {
        return false;
    }
    switch (class) {
    case FRZ_KEY_INTEGER:
        return a->id == b->id || (is_whole_number(a) && is_whole_number(b));
    case FRZ_KEY_DECIMAL:
        return a->scale == b->scale;
    case FRZ_KEY_FIXED:
        return frz_type_width(a) == frz_type_width(b);
    default:
        return true;
    }
}

/* ---- finding a field in a batch ---- */

/* Take the rows of one level into the column's validity. */
static frz_code add_level(frz_key_column *column, const frz_env *env,
                          const struct ArrowArray *level, int64_t first, int64_t rows,
                          frz_error *err)
{
    const uint8_t *bits = level->n_buffers == 0 ? NULL : level->buffers[0];
    if (bits == NULL) {
        return FRZ_OK;
    }
    if (column->validity == NULL) {
        column->validity = bits;
        column->validity_first = first;
        return FRZ_OK;
    }
    uint8_t *both = frz_alloc(env, frz_bitmap_bytes(rows) + 8);
    if (both == NULL) {
        return frz_fail_nomem(err, frz_bitmap_bytes(rows));
    }
    frz_bitmap_copy(column->validity, column->validity_first, rows, both, 0);
    for (int64_t i = 0; i < rows; i++) {
        if (!frz_bit_get(bits, first + i)) {
            frz_bit_clear(both, i);
        }
    }
    frz_free(env, column->own_validity);
    column->validity = column->own_validity = both;
    column->validity_first = 0;
    return FRZ_OK;
}

static bool holds(const frz_field *field, int32_t field_id)
{
    return field->id == field_id ||
           (field->type->id == FRZ_TYPE_STRUCT && frz_type_find_id(field->type, field_id) != NULL);
}

size_t frz_key_column_index(const frz_type *type, int32_t field_id)
{
    size_t i = 0;
    while (i < type->field_count && !holds(&type->fields[i], field_id)) {
        i++;
    }
    return i;
}

frz_code frz_key_column_init(frz_key_column *column, const frz_env *env, const frz_type *type,
                             const struct ArrowArray *batch, int32_t field_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t first = batch->offset, rows = batch->length;
    *column = (frz_key_column){.class = FRZ_KEY_NONE};
    while (column->class == FRZ_KEY_NONE) {
        size_t i = frz_key_column_index(type, field_id);
        if (i == type->field_count) {
            rc = frz_fail(err, FRZ_E_INTERNAL, "field id %d is not in the batch", field_id);
            goto out;
        }
        column->array = batch->children[i];
        first += column->array->offset;
        FRZ_TRY(add_level(column, env, column->array, first, rows, err));
        if (type->fields[i].id == field_id) {
            column->type = type->fields[i].type;
            column->class = frz_key_class_of(column->type);
            break;
        }
        type = type->fields[i].type;
        batch = column->array;
    }
    column->first = first;
    if (column->class == FRZ_KEY_NONE) {
        char text[80];
        rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: equality deletes by a field of type %s",
                      frz_type_text(column->type, text, sizeof text));
    }
out:
    if (rc != FRZ_OK) {
        frz_key_column_reset(column, env);
    }
    return rc;
}

void frz_key_column_reset(frz_key_column *column, const frz_env *env)
{
    frz_free(env, column->own_validity);
    *column = (frz_key_column){.class = FRZ_KEY_NONE};
}
