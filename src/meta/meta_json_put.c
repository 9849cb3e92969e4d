/*
 * Putting members into JSON objects. False or NULL means there is no memory.
 */
#include "base/base_json.h"
#include "meta/meta_internal.h"

bool meta_json_put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

bool meta_json_put_i64(json_t *object, const char *key, int64_t value)
{
    return meta_json_put(object, key, json_integer(value));
}

bool meta_json_put_str(json_t *object, const char *key, frz_str value)
{
    return meta_json_put(object, key, json_stringn(value.ptr == NULL ? "" : value.ptr, value.len));
}

json_t *meta_json_own(json_t *object, const char *key, json_type type)
{
    json_t *member = json_object_get(object, key);
    json_t *own = NULL;
    if (member != NULL && json_typeof(member) == type) {
        (void)frz_json_copy(member, &own, NULL);
    } else {
        own = type == JSON_ARRAY ? json_array() : json_object();
    }
    return meta_json_put(object, key, own) ? own : NULL;
}

json_t *meta_json_own_element(json_t *list, size_t index)
{
    json_t *own = NULL;
    (void)frz_json_copy(json_array_get(list, index), &own, NULL);
    return json_array_set_new(list, index, own) == 0 ? own : NULL;
}

frz_code meta_json_no_memory(frz_error *err)
{
    return frz_fail_nomem(err, sizeof(json_t));
}
