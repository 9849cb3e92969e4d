/*
 * Typed members of JSON objects. Every rejection names the path of the member, what was expected
 * and what was found.
 */
#include <stdlib.h>

#include "meta/meta_internal.h"

const char *meta_json_kind(const json_t *json)
{
    if (json == NULL) {
        return "nothing";
    }
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction or exponent";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    default:
        return "null";
    }
}

frz_code meta_json_mismatch(const char *prefix, const char *key, const char *expected,
                            const json_t *found, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected %s, found %s", prefix, key, expected,
                    meta_json_kind(found));
}

const json_t *meta_json_member(const json_t *object, const char *key)
{
    const json_t *member = json_object_get(object, key);
    return json_is_null(member) ? NULL : member;
}

frz_code meta_json_i64(const json_t *object, const char *prefix, const char *key, int64_t *out,
                       frz_error *err)
{
    const json_t *member = json_object_get(object, key);
    if (!json_is_integer(member)) {
        return meta_json_mismatch(prefix, key, "an integer", member, err);
    }
    *out = json_integer_value(member);
    return FRZ_OK;
}

frz_code meta_json_i64_or(const json_t *object, const char *prefix, const char *key,
                          int64_t fallback, int64_t *out, frz_error *err)
{
    if (meta_json_member(object, key) == NULL) {
        *out = fallback;
        return FRZ_OK;
    }
    return meta_json_i64(object, prefix, key, out, err);
}

frz_code meta_json_i32(const json_t *object, const char *prefix, const char *key, int32_t *out,
                       frz_error *err)
{
    int64_t wide = 0;
    frz_code rc = meta_json_i64(object, prefix, key, &wide, err);
    if (rc == FRZ_OK && (wide < INT32_MIN || wide > INT32_MAX)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected an integer of 32 bits, found %lld",
                      prefix, key, (long long)wide);
    }
    if (rc == FRZ_OK) {
        *out = (int32_t)wide;
    }
    return rc;
}

frz_code meta_json_i32_or(const json_t *object, const char *prefix, const char *key,
                          int32_t fallback, int32_t *out, frz_error *err)
{
    if (meta_json_member(object, key) == NULL) {
        *out = fallback;
        return FRZ_OK;
    }
    return meta_json_i32(object, prefix, key, out, err);
}

frz_code meta_json_str(const json_t *object, const char *prefix, const char *key, frz_str *out,
                       frz_error *err)
{
    const json_t *member = json_object_get(object, key);
    if (!json_is_string(member)) {
        return meta_json_mismatch(prefix, key, "a string", member, err);
    }
    *out = (frz_str){json_string_value(member), json_string_length(member)};
    return FRZ_OK;
}

frz_code meta_json_str_or_none(const json_t *object, const char *prefix, const char *key,
                               frz_str *out, frz_error *err)
{
    if (meta_json_member(object, key) == NULL) {
        *out = (frz_str){NULL, 0};
        return FRZ_OK;
    }
    return meta_json_str(object, prefix, key, out, err);
}

frz_code meta_json_array(const json_t *object, const char *prefix, const char *key,
                         const json_t **out, frz_error *err)
{
    const json_t *member = json_object_get(object, key);
    if (!json_is_array(member)) {
        return meta_json_mismatch(prefix, key, "a list", member, err);
    }
    *out = member;
    return FRZ_OK;
}

frz_code meta_json_array_or_none(const json_t *object, const char *prefix, const char *key,
                                 const json_t **out, frz_error *err)
{
    if (meta_json_member(object, key) == NULL) {
        *out = NULL;
        return FRZ_OK;
    }
    return meta_json_array(object, prefix, key, out, err);
}

frz_code meta_json_element(const json_t *element, const char *list, size_t index, frz_error *err)
{
    return json_is_object(element)
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "%s[%zu]: expected an object, found %s", list, index,
                          meta_json_kind(element));
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

frz_code meta_check_unique(const frz_env *env, const void *items, size_t count,
                           int64_t (*id_of)(const void *items, size_t i), const char *list,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (count < 2) {
        return FRZ_OK;
    }
    int64_t *ids = frz_alloc_zero(env, count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = id_of(items, i);
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count && rc == FRZ_OK; i++) {
        if (ids[i] == ids[i - 1]) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%s: two of them have the id %lld", list,
                          (long long)ids[i]);
        }
    }
    frz_free(env, ids);
    return rc;
}

frz_code meta_json_pairs(const json_t *object, const char *prefix, const char *key,
                         frz_arena *arena, const frz_property_kv **out, size_t *count,
                         frz_error *err)
{
    const json_t *member = meta_json_member(object, key);
    *out = NULL;
    *count = 0;
    if (member == NULL) {
        return FRZ_OK;
    }
    if (!json_is_object(member)) {
        return meta_json_mismatch(prefix, key, "an object", member, err);
    }
    frz_property_kv *pairs = frz_arena_array(arena, json_object_size(member), sizeof *pairs);
    if (pairs == NULL) {
        return frz_fail_nomem(err, json_object_size(member) * sizeof *pairs);
    }
    size_t n = 0;
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)member, name, value)
    {
        if (!json_is_string(value)) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s%s.%s: expected a string, found %s", prefix, key,
                            name, meta_json_kind(value));
        }
        pairs[n].key = frz_str_from(name);
        pairs[n].value = (frz_str){json_string_value(value), json_string_length(value)};
        n++;
    }
    *out = pairs;
    *count = n;
    return FRZ_OK;
}
