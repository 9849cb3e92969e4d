/*
 * Shared inside the type module: limits, and the calendar.
 */
#ifndef FRZ_TYPE_INTERNAL_H
#define FRZ_TYPE_INTERNAL_H

#include "type/type_schema.h"
#include "type/type_value.h"

/* Deepest nesting accepted from untrusted input; functions over trees recurse freely below it. */
#define TYPE_MAX_DEPTH 64

#define TYPE_MAX_PRECISION 38

/* As frz_type_parse; rejections have the given code. */
frz_code type_parse_text(frz_arena *arena, frz_str text, frz_code code, const frz_type **out,
                         frz_error *err);

/* As frz_value_parse; rejections have the given code. */
frz_code type_value_parse(frz_arena *arena, const frz_type *type, frz_str text, frz_code code,
                          frz_value *out, frz_error *err);

/* Two lower-case digits per byte, not terminated; returns the length. */
size_t type_hex_text(frz_str bytes, char *text);
/* 36 characters of 16 bytes, not terminated. */
size_t type_uuid_text(frz_str bytes, char *text);

/* ---- checks of untrusted trees (type_check.c) ---- */

/* Ids are there once in the whole tree. */
frz_code type_check_ids(const frz_env *env, const frz_type *type, frz_error *err);
/* No name is there twice. Reorders the names. */
frz_code type_check_names(frz_str *names, size_t count, frz_error *err);

/* ---- selected rows (type_gather.c) ---- */

/* Not looked through for runs yet. */
frz_selection type_selection_of(const uint8_t *bits, int64_t length, int64_t selected);
/* Copy the values of the selected rows; sources begin with row 0, bits with bit first. Values,
 * offsets and bytes may move down within the memory they lie in. */
void type_gather_bits(const frz_selection *s, const uint8_t *src, int64_t first, uint8_t *dst);
void type_gather_fixed(const frz_selection *s, const uint8_t *src, size_t width, uint8_t *dst);
/* Bytes, or elements, of the selected rows. */
int64_t type_selected_items(const frz_selection *s, const int32_t *offsets);
/* One more offset than rows, from 0 on. */
void type_gather_offsets(const frz_selection *s, const int32_t *src, int32_t *dst);
/* total: that many bytes they are. */
void type_gather_bytes(const frz_selection *s, const int32_t *offsets, const uint8_t *src,
                       uint8_t *dst, int64_t total);
/* Set the bits of the elements of selected lists; bit 0 is the first element of row 0. */
void type_select_elements(const frz_selection *s, const int32_t *offsets, uint8_t *bits);

/* ---- decimals (type_number.c) ---- */

/* FRZ_E_ARGUMENT: not a number; FRZ_E_LIMIT: too many digits before or after the point. Reports
 * no message. */
frz_code type_decimal_parse(frz_str text, int32_t precision, int32_t scale, frz_i128 *out);
bool type_decimal_fits(frz_i128 unscaled, int32_t precision);

/* ---- the calendar (type_time.c): proleptic Gregorian, years of any sign ---- */

/* The divisor is positive. */
static inline int64_t type_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

typedef struct type_date {
    int64_t year;
    int month, day; /* from 1 */
} type_date;

type_date type_date_of_days(int64_t days);
/* False if there is no such day or it is far out of every range. */
bool type_days_of_date(type_date date, int64_t *days);
/* Texts of at least 32 bytes; return the length. digits: of the fraction of a second. */
size_t type_date_text(int64_t days, char *text);
size_t type_time_text(int64_t time, int digits, char *text);
/* "2026-11-01T12:34:56.000000", in units of 10^-digits seconds; at least 64 bytes. */
size_t type_timestamp_text(int64_t value, int digits, bool zoned, char *text);
/* The whole text; false if it is anything else or out of range. */
bool type_date_parse(frz_str text, int64_t *days);
bool type_time_parse(frz_str text, int digits, int64_t *time);
/* A zone is accepted only if zoned; without one the text is in UTC. A lone date is its midnight. */
bool type_timestamp_parse(frz_str text, int digits, bool zoned, int64_t *value);

#endif
