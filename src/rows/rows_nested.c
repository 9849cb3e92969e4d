/*
 * Nested columns of a source as those of a table: members of structs are matched by name, values
 * are promoted. Row by row, for columns whose own layout is not the table's already.
 */
#include "rows/rows_internal.h"

#define TYPE_TEXT 160

static const frz_field *member(const frz_type *type, frz_str name, size_t *place)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, name)) {
            *place = i;
            return &type->fields[i];
        }
    }
    return NULL;
}

static frz_code check_struct(const frz_type *from, const frz_type *to, frz_error *err)
{
    size_t place;
    for (size_t i = 0; i < from->field_count; i++) {
        if (member(to, from->fields[i].name, &place) == NULL) {
            return frz_fail(err, FRZ_E_ARGUMENT, "the table has no field \"%.*s\" there",
                            FRZ_STR_ARG(from->fields[i].name));
        }
    }
    for (size_t i = 0; i < to->field_count; i++) {
        const frz_field *want = &to->fields[i];
        const frz_field *found = member(from, want->name, &place);
        frz_code rc = FRZ_OK;
        if (found != NULL) {
            rc = rows_nested_check(found->type, want->type, err);
        } else if (want->required && want->write_default == NULL) {
            rc = frz_fail(err, FRZ_E_ARGUMENT, "it is required and has no default");
        }
        if (rc != FRZ_OK) {
            return frz_context(err, rc, "field \"%.*s\"", FRZ_STR_ARG(want->name));
        }
    }
    return FRZ_OK;
}

frz_code rows_nested_check(const frz_type *from, const frz_type *to, frz_error *err)
{
    char have[TYPE_TEXT], want[TYPE_TEXT];
    bool nested = frz_type_is_nested(from) || frz_type_is_nested(to);
    if (from->id == FRZ_TYPE_UNKNOWN || to->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK; /* values for a field of type unknown are refused row by row */
    }
    if (nested ? from->id != to->id
               : !frz_type_same_shape(from, to) && !frz_type_promotes(from, to)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected %s, found %s",
                        frz_type_text(to, want, sizeof want),
                        frz_type_text(from, have, sizeof have));
    }
    if (from->id == FRZ_TYPE_STRUCT) {
        return check_struct(from, to, err);
    }
    for (size_t i = 0; nested && i < to->field_count; i++) {
        frz_code rc = rows_nested_check(from->fields[i].type, to->fields[i].type, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

/* ---- rows ---- */

static frz_code put_row(frz_builder *out, const frz_type *from, const frz_type *to,
                        const struct ArrowArray *array, int64_t row, frz_error *err);

static frz_code put_struct(frz_builder *out, const frz_type *from, const frz_type *to,
                           const struct ArrowArray *array, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < to->field_count; i++) {
        const frz_field *want = &to->fields[i];
        frz_builder *child = frz_builder_child(out, i);
        size_t place = 0;
        if (member(from, want->name, &place) != NULL) {
            rc = put_row(child, from->fields[place].type, want->type, array->children[place],
                         array->offset + row, err);
            FRZ_TRY(frz_context(err, rc, "field \"%.*s\"", FRZ_STR_ARG(want->name)));
        } else {
            FRZ_TRY(want->write_default == NULL
                        ? frz_builder_null(child, err)
                        : frz_builder_value(child, want->write_default, err));
        }
    }
out:
    return rc;
}

/* Elements of a list, or keys and values of a map. */
static frz_code put_items(frz_builder *out, const frz_type *from, const frz_type *to,
                          const struct ArrowArray *array, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const int32_t *ends = (const int32_t *)array->buffers[1] + array->offset + row;
    const struct ArrowArray *items = array->children[0];
    for (int64_t at = ends[0]; at < ends[1]; at++) {
        for (size_t i = 0; i < to->field_count; i++) {
            bool map = to->id == FRZ_TYPE_MAP;
            FRZ_TRY(put_row(frz_builder_child(out, i), from->fields[i].type, to->fields[i].type,
                            map ? items->children[i] : items, map ? items->offset + at : at, err));
        }
    }
out:
    return rc;
}

static frz_code put_row(frz_builder *out, const frz_type *from, const frz_type *to,
                        const struct ArrowArray *array, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (frz_is_null(array, row)) {
        return frz_builder_null(out, err);
    }
    if (to->id == FRZ_TYPE_UNKNOWN) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected null for type unknown, found a value");
    }
    if (!frz_type_is_nested(to)) {
        frz_value value = frz_value_at(from, array, row), promoted;
        FRZ_TRY(frz_value_promote(&value, to, &promoted, err));
        return frz_builder_value(out, &promoted, err);
    }
    FRZ_TRY(to->id == FRZ_TYPE_STRUCT ? put_struct(out, from, to, array, row, err)
                                      : put_items(out, from, to, array, row, err));
    FRZ_TRY(frz_builder_end(out, err));
out:
    return rc;
}

frz_code rows_nested_fit(const frz_env *env, const frz_type *from, const frz_type *to,
                         struct ArrowArray *array, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *rows = NULL;
    struct ArrowArray made = {0};
    FRZ_TRY(frz_builder_new(env, to, &rows, err));
    for (int64_t i = 0; i < array->length; i++) {
        FRZ_TRY(put_row(rows, from, to, array, i, err));
    }
    FRZ_TRY(frz_builder_finish(rows, &made, err));
    frz_array_release(array);
    frz_array_move(&made, array);
out:
    frz_builder_free(rows);
    return rc;
}
