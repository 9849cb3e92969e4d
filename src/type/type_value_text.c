/*
 * Values as text and back. spec: JSON single-value serialization, without the quotes.
 */
#include <math.h>
#include <stdlib.h>

#include "type/type_internal.h"

#define UUID_BYTES 16
#define BOUNDED_TEXT 96 /* longest text of a value of fixed size, uuid included */
#define FOUND_MAX 80    /* of a rejected text, in messages */

/* ---- printing ---- */

size_t type_hex_text(frz_str bytes, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.len; i++) {
        text[2 * i] = digits[(uint8_t)bytes.ptr[i] >> 4];
        text[2 * i + 1] = digits[(uint8_t)bytes.ptr[i] & 15];
    }
    return bytes.len * 2;
}

size_t type_uuid_text(frz_str bytes, char *text)
{
    static const size_t groups[] = {4, 2, 2, 2, 6};
    size_t len = 0;
    assert(bytes.len == UUID_BYTES);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(groups); i++) {
        if (i > 0) {
            text[len++] = '-';
        }
        len += type_hex_text((frz_str){bytes.ptr, groups[i]}, text + len);
        bytes.ptr += groups[i];
    }
    return len;
}

static size_t whole_text(int64_t value, char *text)
{
    return frz_decimal_text(value, 0, text);
}

static size_t constant_text(const char *constant, char *text)
{
    size_t len = strlen(constant);
    memcpy(text, constant, len);
    return len;
}

/* The text of a value of fixed size. */
static size_t bounded_text(const frz_value *value, char text[BOUNDED_TEXT])
{
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return constant_text(value->as.boolean ? "true" : "false", text);
    case FRZ_TYPE_INT:
        return whole_text(value->as.i32, text);
    case FRZ_TYPE_LONG:
        return whole_text(value->as.i64, text);
    case FRZ_TYPE_FLOAT:
        return frz_float_text(value->as.f32, text);
    case FRZ_TYPE_DOUBLE:
        return frz_double_text(value->as.f64, text);
    case FRZ_TYPE_DECIMAL:
        return frz_decimal_text(value->as.i128, value->type->scale, text);
    case FRZ_TYPE_DATE:
        return type_date_text(value->as.i32, text);
    case FRZ_TYPE_TIME:
        return type_time_text(value->as.i64, 6, text);
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        return type_timestamp_text(value->as.i64, 6, value->type->id == FRZ_TYPE_TIMESTAMPTZ, text);
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return type_timestamp_text(value->as.i64, 9, value->type->id == FRZ_TYPE_TIMESTAMPTZ_NS,
                                   text);
    case FRZ_TYPE_UUID:
        return type_uuid_text(value->as.bytes, text);
    case FRZ_TYPE_STRUCT:
        return constant_text("{}", text); /* nested values have no content of their own */
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return constant_text("[]", text);
    default:
        return constant_text("null", text);
    }
}

static frz_code print_hex(frz_str bytes, frz_buf *out, frz_error *err)
{
    size_t len;
    if (!frz_mul_size(bytes.len, 2, &len)) {
        return frz_fail(err, FRZ_E_LIMIT, "a value of %zu bytes is too large", bytes.len);
    }
    frz_code rc = frz_buf_reserve(out, len, err);
    if (rc == FRZ_OK && len > 0) {
        out->len += type_hex_text(bytes, (char *)out->data + out->len);
    }
    return rc;
}

frz_code frz_value_print(const frz_value *value, frz_buf *out, frz_error *err)
{
    char text[BOUNDED_TEXT];
    if (value->is_null) {
        return frz_buf_append_str(out, "null", err);
    }
    switch (value->type->id) {
    case FRZ_TYPE_STRING:
        return frz_buf_append(out, value->as.bytes.ptr, value->as.bytes.len, err);
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return print_hex(value->as.bytes, out, err);
    default:
        return frz_buf_append(out, text, bounded_text(value, text), err);
    }
}

/* ---- parsing ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Two digits per byte; false if there is anything else. */
static bool unhex(frz_str text, uint8_t *bytes)
{
    for (size_t i = 0; i + 1 < text.len; i += 2) {
        int high = hex_digit(text.ptr[i]);
        int low = hex_digit(text.ptr[i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return text.len % 2 == 0;
}

/* How the values of a type are written, for messages. */
static const char *form_of(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        return "true or false";
    case FRZ_TYPE_INT:
        return "a 32-bit whole number";
    case FRZ_TYPE_LONG:
        return "a 64-bit whole number";
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DOUBLE:
        return "a number in range, NaN, Infinity or -Infinity";
    case FRZ_TYPE_DATE:
        return "a date like 2026-11-01";
    case FRZ_TYPE_TIME:
        return "a time like 12:34:56.000000";
    case FRZ_TYPE_TIMESTAMP:
        return "a timestamp like 2026-11-01T12:34:56.000000";
    case FRZ_TYPE_TIMESTAMPTZ:
        return "a timestamp like 2026-11-01T12:34:56.000000+00:00";
    case FRZ_TYPE_TIMESTAMP_NS:
        return "a timestamp like 2026-11-01T12:34:56.000000000";
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return "a timestamp like 2026-11-01T12:34:56.000000000+00:00";
    case FRZ_TYPE_STRING:
        return "UTF-8 text";
    case FRZ_TYPE_UUID:
        return "a uuid like f79c3e09-677c-4bbd-a479-3f349cb785e7";
    default:
        return "an even number of hexadecimal digits";
    }
}

static frz_code reject(frz_code code, const char *form, frz_str text, frz_error *err)
{
    frz_str found = {text.ptr, FRZ_MIN(text.len, FOUND_MAX)};
    while (found.len < text.len && found.len > 0 &&
           ((uint8_t)found.ptr[found.len] & 0xC0) == 0x80) {
        found.len--; /* not inside a character */
    }
    return frz_fail(err, code, "expected %s, found \"%.*s%s\"", form, FRZ_STR_ARG(found),
                    found.len < text.len ? "..." : "");
}

/* Plain decimal notation and the three names; no hexadecimal, no overflow. */
static bool parse_float(frz_str text, bool single, frz_value *out)
{
    char copy[512];
    char *end;
    bool names_infinity = frz_str_equal_nocase(text, FRZ_STR("infinity")) ||
                          frz_str_equal_nocase(text, FRZ_STR("+infinity")) ||
                          frz_str_equal_nocase(text, FRZ_STR("-infinity")) ||
                          frz_str_equal_nocase(text, FRZ_STR("inf")) ||
                          frz_str_equal_nocase(text, FRZ_STR("-inf"));
    bool names_nan = frz_str_equal_nocase(text, FRZ_STR("nan"));
    if (text.len == 0 || text.len >= sizeof copy) {
        return false;
    }
    for (size_t i = 0; i < text.len && !names_infinity && !names_nan; i++) {
        if (text.ptr[i] == '\0' || strchr("0123456789+-.eE", text.ptr[i]) == NULL) {
            return false;
        }
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (single) {
        out->as.f32 = frz_strtof(copy, &end);
    } else {
        out->as.f64 = frz_strtod(copy, &end);
    }
    double value = single ? (double)out->as.f32 : out->as.f64;
    return end == copy + text.len && (names_infinity || !isinf(value));
}

static bool parse_whole(frz_str text, frz_value *out)
{
    int64_t value;
    if (!frz_str_to_i64(text, &value)) {
        return false;
    }
    if (out->type->id == FRZ_TYPE_INT) {
        out->as.i32 = (int32_t)value;
        return out->as.i32 == value;
    }
    out->as.i64 = value;
    return true;
}

static bool parse_date(frz_str text, frz_value *out)
{
    int64_t days;
    if (!type_date_parse(text, &days)) {
        return false;
    }
    out->as.i32 = (int32_t)days;
    return true;
}

static bool parse_boolean(frz_str text, frz_value *out)
{
    out->as.boolean = frz_str_equal_nocase(text, FRZ_STR("true"));
    return out->as.boolean || frz_str_equal_nocase(text, FRZ_STR("false"));
}

/* Values that need no memory. */
static bool parse_small(frz_str text, frz_value *out)
{
    switch (out->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return parse_boolean(text, out);
    case FRZ_TYPE_INT:
    case FRZ_TYPE_LONG:
        return parse_whole(text, out);
    case FRZ_TYPE_FLOAT:
        return parse_float(text, true, out);
    case FRZ_TYPE_DOUBLE:
        return parse_float(text, false, out);
    case FRZ_TYPE_DATE:
        return parse_date(text, out);
    case FRZ_TYPE_TIME:
        return type_time_parse(text, 6, &out->as.i64);
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        return type_timestamp_parse(text, 6, out->type->id == FRZ_TYPE_TIMESTAMPTZ, &out->as.i64);
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return type_timestamp_parse(text, 9, out->type->id == FRZ_TYPE_TIMESTAMPTZ_NS,
                                    &out->as.i64);
    default:
        return false;
    }
}

/* The 32 digits of a uuid, or false. */
static bool uuid_digits(frz_str text, char hex[2 * UUID_BYTES])
{
    size_t n = 0;
    if (text.len != 36) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text.ptr[i] != '-') {
                return false;
            }
        } else {
            hex[n++] = text.ptr[i];
        }
    }
    return true;
}

static frz_code parse_bytes(frz_arena *arena, frz_str text, frz_code code, frz_value *out,
                            frz_error *err)
{
    char hex[2 * UUID_BYTES];
    frz_str digits = text;
    if (out->type->id == FRZ_TYPE_UUID) {
        if (!uuid_digits(text, hex)) {
            return reject(code, form_of(out->type), text, err);
        }
        digits = (frz_str){hex, sizeof hex};
    }
    uint8_t *bytes = frz_arena_alloc(arena, digits.len / 2 + 1);
    if (bytes == NULL) {
        return frz_fail_nomem(err, digits.len / 2 + 1);
    }
    if (!unhex(digits, bytes)) {
        return reject(code, form_of(out->type), text, err);
    }
    out->as.bytes = (frz_str){(const char *)bytes, digits.len / 2};
    if (out->type->id == FRZ_TYPE_FIXED && out->as.bytes.len != (size_t)out->type->length) {
        return frz_fail(err, code, "expected %d bytes, found %zu", (int)out->type->length,
                        out->as.bytes.len);
    }
    return FRZ_OK;
}

static frz_code parse_decimal(frz_str text, frz_code code, frz_value *out, frz_error *err)
{
    char type[40];
    frz_type_text(out->type, type, sizeof type);
    switch (type_decimal_parse(text, out->type->precision, out->type->scale, &out->as.i128)) {
    case FRZ_OK:
        return FRZ_OK;
    case FRZ_E_LIMIT:
        return frz_fail(err, code, "%.*s does not fit in a %s", (int)FRZ_MIN(text.len, FOUND_MAX),
                        text.ptr, type);
    default:
        return reject(code, "a decimal number", text, err);
    }
}

frz_code type_value_parse(frz_arena *arena, const frz_type *type, frz_str text, frz_code code,
                          frz_value *out, frz_error *err)
{
    frz_value made = {.type = type};
    frz_code rc = FRZ_OK;
    switch (type->id) {
    case FRZ_TYPE_STRING:
        rc = !frz_utf8_valid(text) ? frz_fail(err, code, "the text is not UTF-8")
                                   : frz_arena_str(arena, text, &made.as.bytes, err);
        break;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_BINARY:
        rc = parse_bytes(arena, text, code, &made, err);
        break;
    case FRZ_TYPE_DECIMAL:
        rc = parse_decimal(text, code, &made, err);
        break;
    case FRZ_TYPE_UNKNOWN:
    case FRZ_TYPE_VARIANT:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
    case FRZ_TYPE_FOREIGN:
    case FRZ_TYPE_STRUCT:
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        rc = reject(code, "null, the only value of its type that has a text", text, err);
        break;
    default:
        rc = parse_small(text, &made) ? FRZ_OK : reject(code, form_of(type), text, err);
        break;
    }
    if (rc == FRZ_OK) {
        *out = made;
    }
    return rc;
}

frz_code frz_value_parse(frz_arena *arena, const frz_type *type, frz_str text, frz_value *out,
                         frz_error *err)
{
    return type_value_parse(arena, type, text, FRZ_E_ARGUMENT, out, err);
}
