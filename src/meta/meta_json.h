/*
 * meta: typed members of JSON objects (meta_json_member.c).
 *
 * prefix is the path of the object as messages show it, with its dot: "snapshots[2].". A member
 * that is absent or null is an error unless the function takes a fallback.
 */
#ifndef FRZ_META_JSON_H
#define FRZ_META_JSON_H

#include <jansson.h>

#include "base/base.h"

const char *meta_json_kind(const json_t *json); /* "an integer", "nothing" */
frz_code meta_json_mismatch(const char *prefix, const char *key, const char *expected,
                            const json_t *found, frz_error *err);
/* The member, or NULL if it is absent or null. */
const json_t *meta_json_member(const json_t *object, const char *key);
frz_code meta_json_i64(const json_t *object, const char *prefix, const char *key, int64_t *out,
                       frz_error *err);
frz_code meta_json_i64_or(const json_t *object, const char *prefix, const char *key,
                          int64_t fallback, int64_t *out, frz_error *err);
frz_code meta_json_i32(const json_t *object, const char *prefix, const char *key, int32_t *out,
                       frz_error *err);
frz_code meta_json_i32_or(const json_t *object, const char *prefix, const char *key,
                          int32_t fallback, int32_t *out, frz_error *err);
/* Views into the document; ptr NULL if absent. */
frz_code meta_json_str(const json_t *object, const char *prefix, const char *key, frz_str *out,
                       frz_error *err);
frz_code meta_json_str_or_none(const json_t *object, const char *prefix, const char *key,
                               frz_str *out, frz_error *err);
frz_code meta_json_array(const json_t *object, const char *prefix, const char *key,
                         const json_t **out, frz_error *err);
/* NULL if absent. */
frz_code meta_json_array_or_none(const json_t *object, const char *prefix, const char *key,
                                 const json_t **out, frz_error *err);
/* An error unless the element of the list is an object. */
frz_code meta_json_element(const json_t *element, const char *list, size_t index, frz_error *err);

#endif
