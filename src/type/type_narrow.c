/*
 * Arrays as their type has them. A struct may have been read with more children than were asked
 * for, behind those that were, because something else needed them.
 */
#include "arrow/arrow_array.h"
#include "type/type_internal.h"

bool frz_array_has_more(const frz_type *type, const struct ArrowArray *array)
{
    if (type->id != FRZ_TYPE_STRUCT) {
        return false;
    }
    if ((size_t)array->n_children > type->field_count) {
        return true;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_array_has_more(type->fields[i].type, array->children[i])) {
            return true;
        }
    }
    return false;
}

frz_code frz_array_narrow(const frz_env *env, const frz_type *type, struct ArrowArray *array,
                          frz_error *err)
{
    struct ArrowArray wide;
    if (!frz_array_has_more(type, array)) {
        return FRZ_OK;
    }
    size_t bytes = frz_bitmap_bytes(array->length) + 8;
    uint8_t *all = frz_alloc(env, bytes);
    if (all == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    memset(all, 0xff, bytes);
    frz_array_move(array, &wide);
    frz_code rc = frz_array_filter(env, type, &wide, all, wide.length, array, err);
    frz_array_release(&wide);
    frz_free(env, all);
    return rc;
}
