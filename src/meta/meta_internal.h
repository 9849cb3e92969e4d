/*
 * meta: what the files of this module share among themselves.
 */
#ifndef FRZ_META_INTERNAL_H
#define FRZ_META_INTERNAL_H

#include "meta/meta_manifest.h"

/* Metadata documents beyond this are refused, packed or not. */
#define META_JSON_MAX ((size_t)1 << 30)

/* ---- members of JSON objects (meta_json_member.c) ---------------------------------------------
 *
 * prefix is the path of the object as messages show it, with its dot: "snapshots[2].". A member
 * that is absent or null is an error unless the function takes a fallback. */

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
/* An object of strings as pairs; none if absent. */
frz_code meta_json_pairs(const json_t *object, const char *prefix, const char *key,
                         frz_arena *arena, const frz_property_kv **out, size_t *count,
                         frz_error *err);

/* ---- reading ------------------------------------------------------------------------------------
 */

/* Unpack a gzip metadata file in place; other bytes stay as they are (meta_gzip.c). */
frz_code meta_gunzip(const frz_env *env, frz_buf *bytes, frz_error *err);

#endif
