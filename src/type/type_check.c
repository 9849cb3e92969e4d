/*
 * Checks of trees that come from outside: ids and names that must be unique.
 */
#include <stdlib.h>

#include "type/type_internal.h"

typedef struct id_list {
    const frz_env *env;
    int32_t *ids;
    size_t count, capacity;
} id_list;

static frz_code add_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    id_list *list = ctx;
    (void)in_repeated;
    if (field->id == FRZ_ID_NONE) {
        return FRZ_OK;
    }
    frz_code rc = FRZ_GROW(list->env, &list->ids, &list->capacity, list->count, err);
    if (rc == FRZ_OK) {
        list->ids[list->count++] = field->id;
    }
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

frz_code type_check_ids(const frz_env *env, const frz_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_list list = {.env = env};
    FRZ_TRY(frz_type_visit(type, add_id, &list, err));
    if (list.count > 0) {
        qsort(list.ids, list.count, sizeof *list.ids, compare_ids);
    }
    for (size_t i = 1; i < list.count; i++) {
        if (list.ids[i] == list.ids[i - 1]) {
            FRZ_TRY(frz_fail(err, FRZ_E_CORRUPT, "field id %d is there more than once",
                             (int)list.ids[i]));
        }
    }
out:
    frz_free(env, list.ids);
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    return frz_str_compare(*(const frz_str *)a, *(const frz_str *)b);
}

frz_code type_check_names(frz_str *names, size_t count, frz_error *err)
{
    if (count > 0) {
        qsort(names, count, sizeof *names, compare_names);
    }
    for (size_t i = 1; i < count; i++) {
        if (frz_str_equal(names[i], names[i - 1])) {
            return frz_fail(err, FRZ_E_CORRUPT, "name \"%.*s\" is there more than once",
                            FRZ_STR_ARG(names[i]));
        }
    }
    return FRZ_OK;
}
