/*
 * JSON text to values of the JSON library and back, and copies of such values. All tell when memory
 * is short; the library's own reader and copy do not always. docs/decisions/0003-json.md
 */
#ifndef FRZ_BASE_JSON_H
#define FRZ_BASE_JSON_H

#include <jansson.h>

#include "base/base.h"

/* Objects and lists inside each other; the library takes values apart by recursion. */
#define FRZ_JSON_MAX_DEPTH 2048

/* The one value of a text by RFC 8259, of any kind. Strings have no NUL, an object no key twice;
 * numbers without fraction and exponent are 64-bit integers, others finite doubles. */
frz_code frz_json_parse(const frz_env *env, frz_str text, json_t **out, frz_error *err);

/* Compact text of a list or object; appended. */
frz_code frz_json_dump(const json_t *json, frz_buf *out, frz_error *err);

/* A list or object of its own that shares its members with another. */
frz_code frz_json_copy(const json_t *value, json_t **out, frz_error *err);

#endif
