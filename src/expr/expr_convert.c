/*
 * Conversion of single values between types: the one definition of what widening, assignment and
 * CAST do. The vectorised kernels are fast versions of parts of it, and constants go through here.
 */
#include <math.h>

#include "expr/expr_internal.h"

#define MICROS_PER_DAY INT64_C(86400000000)

/* ---- decimals ---- */

frz_i128 expr_power_of_ten(int32_t n)
{
    assert(n >= 0 && n <= 38);
    frz_i128 power = 1;
    for (int32_t i = 0; i < n; i++) {
        power *= 10;
    }
    return power;
}

int32_t expr_digit_count(frz_i128 value)
{
    int32_t digits = 1;
    for (frz_i128 rest = value / 10; rest != 0; rest /= 10) {
        digits++;
    }
    return digits;
}

frz_code expr_decimal_type(frz_arena *arena, int32_t precision, int32_t scale, const frz_type **out,
                           frz_error *err)
{
    frz_type *type = frz_arena_alloc(arena, sizeof *type);
    if (type == NULL) {
        return frz_fail_nomem(err, sizeof *type);
    }
    type->id = FRZ_TYPE_DECIMAL;
    type->precision = precision;
    type->scale = scale;
    *out = type;
    return FRZ_OK;
}

frz_code expr_decimal_from_text(frz_arena *arena, frz_str text, frz_value *out, frz_error *err)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t i = negative || (text.len > 0 && text.ptr[0] == '+') ? 1 : 0;
    size_t written = 0;
    int32_t digits = 0;
    int32_t scale = 0;
    bool point = false;
    frz_i128 value = 0;
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') {
            return frz_fail(err, FRZ_E_ARGUMENT, "expected a decimal number, found \"%.*s\"",
                            FRZ_STR_ARG(text));
        }
        written++;
        digits += digits > 0 || c != '0' || point;
        scale += point;
        if (digits > 38) {
            return frz_fail(err, FRZ_E_ARGUMENT, "a decimal has at most 38 digits");
        }
        value = value * 10 + (c - '0');
    }
    if (written == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected a decimal number, found \"%.*s\"",
                        FRZ_STR_ARG(text));
    }
    *out = (frz_value){.as.i128 = negative ? -value : value};
    return expr_decimal_type(arena, FRZ_MAX(digits, 1), scale, &out->type, err);
}

static bool fits_precision(frz_i128 value, int32_t precision)
{
    frz_i128 bound = expr_power_of_ten(precision);
    return value > -bound && value < bound;
}

/* value / 10^n rounded half away from zero; exact tells whether nothing was lost. */
static frz_i128 divide_rounding(frz_i128 value, int32_t n, bool *exact)
{
    if (n > 38) {
        *exact = value == 0;
        return 0;
    }
    frz_i128 divisor = expr_power_of_ten(n);
    frz_i128 quotient = value / divisor;
    frz_i128 rest = value % divisor;
    *exact = rest == 0;
    rest = rest < 0 ? -rest : rest;
    return rest >= divisor - rest ? quotient + (value < 0 ? -1 : 1) : quotient;
}

/* value * 10^shift as a decimal of this precision. */
static expr_converted to_decimal(frz_i128 value, int32_t shift, const frz_type *to, expr_mode mode,
                                 frz_value *out)
{
    bool exact = true;
    if (shift < 0) {
        value = divide_rounding(value, -shift, &exact);
    } else if (value != 0 &&
               (shift > 38 || __builtin_mul_overflow(value, expr_power_of_ten(shift), &value))) {
        return EXPR_DOES_NOT_FIT;
    }
    if ((mode == EXPR_ASSIGN && !exact) || !fits_precision(value, to->precision)) {
        return EXPR_DOES_NOT_FIT;
    }
    out->as.i128 = value;
    return EXPR_CONVERTED;
}

/* Nearest double; the usual short decimals by one correctly rounded division. */
static double decimal_to_double(frz_i128 value, int32_t scale)
{
    frz_i128 limit = (frz_i128)1 << 53;
    if (scale <= 22 && value > -limit && value < limit) {
        double power = 1;
        for (int32_t i = 0; i < scale; i++) {
            power *= 10; /* exact up to 10^22 */
        }
        return (double)value / power;
    }
    char text[64];
    double number = 0;
    frz_decimal_text(value, scale, text);
    (void)frz_str_to_double(frz_str_from(text), &number);
    return number;
}

/* The digits of a number's shortest text: what a reader of the number sees is what is converted. */
static expr_converted double_to_decimal(const char *text, const frz_type *to, expr_mode mode,
                                        frz_value *out)
{
    bool negative = *text == '-';
    int64_t digits = 0;
    int64_t exponent = 0;
    const char *p = text + negative;
    for (bool point = false; *p != '\0' && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9') {
            return EXPR_DOES_NOT_FIT; /* NaN and infinity */
        }
        if (digits < INT64_C(100000000000000000)) {
            digits = digits * 10 + (*p - '0');
            exponent -= point;
        } else {
            exponent += !point; /* zeros of a long number */
        }
    }
    if (*p != '\0') {
        int64_t written = 0;
        (void)frz_str_to_i64(frz_str_from(p + 1), &written);
        exponent += written;
    }
    int64_t shift = exponent + to->scale;
    shift = FRZ_MAX(FRZ_MIN(shift, 400), -400);
    return to_decimal(negative ? -(frz_i128)digits : (frz_i128)digits, (int32_t)shift, to, mode,
                      out);
}

/* ---- numbers ---- */

static expr_converted store_integer(frz_i128 number, const frz_type *to, frz_value *out)
{
    if (to->id == FRZ_TYPE_INT) {
        out->as.i32 = (int32_t)number;
        return number >= INT32_MIN && number <= INT32_MAX ? EXPR_CONVERTED : EXPR_DOES_NOT_FIT;
    }
    out->as.i64 = (int64_t)number;
    return number >= INT64_MIN && number <= INT64_MAX ? EXPR_CONVERTED : EXPR_DOES_NOT_FIT;
}

static expr_converted to_integer(const frz_value *value, const frz_type *to, expr_mode mode,
                                 frz_value *out)
{
    switch (value->type->id) {
    case FRZ_TYPE_INT:
        return store_integer(value->as.i32, to, out);
    case FRZ_TYPE_LONG:
        return store_integer(value->as.i64, to, out);
    case FRZ_TYPE_DECIMAL: {
        frz_i128 power = expr_power_of_ten(value->type->scale);
        if (mode == EXPR_ASSIGN && value->as.i128 % power != 0) {
            return EXPR_DOES_NOT_FIT;
        }
        return store_integer(value->as.i128 / power, to, out);
    }
    default: {
        double number = value->type->id == FRZ_TYPE_FLOAT ? (double)value->as.f32 : value->as.f64;
        bool in_range = number > -9.3e18 && number < 9.3e18; /* NaN is not */
        if (!in_range || (mode == EXPR_ASSIGN && trunc(number) != number)) {
            return EXPR_DOES_NOT_FIT;
        }
        return store_integer((frz_i128)number, to, out);
    }
    }
}

/* As a double; exact tells whether an integer kept its value. */
static double as_double(const frz_value *value, bool *exact)
{
    *exact = true;
    switch (value->type->id) {
    case FRZ_TYPE_INT:
        return value->as.i32;
    case FRZ_TYPE_LONG:
        *exact = (frz_i128)(double)value->as.i64 == value->as.i64;
        return (double)value->as.i64;
    case FRZ_TYPE_FLOAT:
        return (double)value->as.f32;
    case FRZ_TYPE_DOUBLE:
        return value->as.f64;
    default:
        return decimal_to_double(value->as.i128, value->type->scale);
    }
}

static expr_converted to_floating(const frz_value *value, const frz_type *to, expr_mode mode,
                                  frz_value *out)
{
    bool exact;
    double number = as_double(value, &exact);
    bool integer = value->type->id == FRZ_TYPE_INT || value->type->id == FRZ_TYPE_LONG;
    if (to->id == FRZ_TYPE_DOUBLE) {
        out->as.f64 = number;
    } else if (isinf((float)number) && !isinf(number)) {
        return EXPR_DOES_NOT_FIT;
    } else {
        out->as.f32 = (float)number;
        exact = exact && (!integer || (double)out->as.f32 == number);
    }
    return mode == EXPR_ASSIGN && !exact ? EXPR_DOES_NOT_FIT : EXPR_CONVERTED;
}

static expr_converted number_to_decimal(const frz_value *value, const frz_type *to, expr_mode mode,
                                        frz_value *out)
{
    char text[64];
    switch (value->type->id) {
    case FRZ_TYPE_INT:
        return to_decimal(value->as.i32, to->scale, to, mode, out);
    case FRZ_TYPE_LONG:
        return to_decimal(value->as.i64, to->scale, to, mode, out);
    case FRZ_TYPE_DECIMAL:
        return to_decimal(value->as.i128, to->scale - value->type->scale, to, mode, out);
    case FRZ_TYPE_FLOAT:
        frz_float_text(value->as.f32, text);
        return double_to_decimal(text, to, mode, out);
    default:
        frz_double_text(value->as.f64, text);
        return double_to_decimal(text, to, mode, out);
    }
}

static expr_converted from_number(const frz_value *value, const frz_type *to, expr_mode mode,
                                  frz_value *out)
{
    switch (to->id) {
    case FRZ_TYPE_BOOLEAN:
        out->as.boolean = value->type->id == FRZ_TYPE_INT ? value->as.i32 != 0 : value->as.i64 != 0;
        return EXPR_CONVERTED;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_LONG:
        return to_integer(value, to, mode, out);
    case FRZ_TYPE_DECIMAL:
        return number_to_decimal(value, to, mode, out);
    default:
        return to_floating(value, to, mode, out);
    }
}

/* ---- dates and times ---- */

static bool is_timestamp(frz_type_id id)
{
    return id >= FRZ_TYPE_TIMESTAMP && id <= FRZ_TYPE_TIMESTAMPTZ_NS;
}

static bool is_nanos(frz_type_id id)
{
    return id == FRZ_TYPE_TIMESTAMP_NS || id == FRZ_TYPE_TIMESTAMPTZ_NS;
}

static bool is_zoned(frz_type_id id)
{
    return id == FRZ_TYPE_TIMESTAMPTZ || id == FRZ_TYPE_TIMESTAMPTZ_NS;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return a % b < 0 ? quotient - 1 : quotient;
}

static expr_converted from_time(const frz_value *value, const frz_type *to, expr_mode mode,
                                frz_value *out)
{
    frz_type_id from = value->type->id;
    if (from == FRZ_TYPE_DATE) {
        int64_t per_day = is_nanos(to->id) ? MICROS_PER_DAY * 1000 : MICROS_PER_DAY;
        return frz_mul_i64(value->as.i32, per_day, &out->as.i64) ? EXPR_CONVERTED
                                                                 : EXPR_DOES_NOT_FIT;
    }
    int64_t unit = is_nanos(from) ? 1000 : 1; /* per microsecond */
    if (to->id == FRZ_TYPE_DATE) {
        out->as.i32 = (int32_t)floor_divide(value->as.i64, MICROS_PER_DAY * unit);
    } else if (to->id == FRZ_TYPE_TIME) {
        int64_t day = floor_divide(value->as.i64, MICROS_PER_DAY * unit);
        /* the product may pass the smallest value; the difference never does */
        uint64_t of_day =
            (uint64_t)value->as.i64 - (uint64_t)day * (uint64_t)(MICROS_PER_DAY * unit);
        out->as.i64 = (int64_t)of_day / unit;
    } else if (is_nanos(from) == is_nanos(to->id)) {
        out->as.i64 = value->as.i64;
    } else if (is_nanos(to->id)) {
        return frz_mul_i64(value->as.i64, 1000, &out->as.i64) ? EXPR_CONVERTED : EXPR_DOES_NOT_FIT;
    } else {
        out->as.i64 = floor_divide(value->as.i64, 1000);
        return mode == EXPR_ASSIGN && value->as.i64 % 1000 != 0 ? EXPR_DOES_NOT_FIT
                                                                : EXPR_CONVERTED;
    }
    return EXPR_CONVERTED;
}

/* ---- text and bytes ---- */

static expr_converted to_text(frz_arena *arena, const frz_value *value, frz_value *out)
{
    frz_type_id from = value->type->id;
    if (from == FRZ_TYPE_BINARY || from == FRZ_TYPE_FIXED) {
        out->as.bytes = value->as.bytes;
        return frz_utf8_valid(value->as.bytes) ? EXPR_CONVERTED : EXPR_NOT_READABLE;
    }
    frz_buf text = FRZ_BUF_INIT(arena->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = frz_value_print(value, &text, NULL);
    if (rc == FRZ_OK) {
        rc = frz_arena_str(arena, frz_buf_view(&text), &out->as.bytes, NULL);
    }
    frz_buf_reset(&text);
    return rc == FRZ_OK ? EXPR_CONVERTED : EXPR_NO_MEMORY;
}

static expr_converted from_text(frz_arena *arena, const frz_value *value, const frz_type *to,
                                frz_value *out)
{
    frz_str text = value->as.bytes;
    if (to->id == FRZ_TYPE_BINARY || to->id == FRZ_TYPE_FIXED) {
        out->as.bytes = text;
        return to->id == FRZ_TYPE_FIXED && text.len != (size_t)to->length ? EXPR_DOES_NOT_FIT
                                                                          : EXPR_CONVERTED;
    }
    frz_code rc = frz_value_parse(arena, to, text, out, NULL);
    return rc == FRZ_OK ? EXPR_CONVERTED : rc == FRZ_E_NOMEM ? EXPR_NO_MEMORY : EXPR_NOT_READABLE;
}

static expr_converted to_bytes(const frz_value *value, const frz_type *to, frz_value *out)
{
    size_t wanted = to->id == FRZ_TYPE_UUID    ? 16
                    : to->id == FRZ_TYPE_FIXED ? (size_t)to->length
                                               : value->as.bytes.len;
    out->as.bytes = value->as.bytes;
    return wanted == value->as.bytes.len ? EXPR_CONVERTED : EXPR_DOES_NOT_FIT;
}

/* ---- entries ---- */

static bool is_bytes(frz_type_id id)
{
    return id == FRZ_TYPE_UUID || id == FRZ_TYPE_FIXED || id == FRZ_TYPE_BINARY ||
           id == FRZ_TYPE_GEOMETRY || id == FRZ_TYPE_GEOGRAPHY;
}

static bool is_integer(frz_type_id id)
{
    return id == FRZ_TYPE_INT || id == FRZ_TYPE_LONG;
}

/* Without text, CAST only. */
static bool castable(frz_type_id from, frz_type_id to)
{
    if (from == FRZ_TYPE_BOOLEAN) {
        return is_integer(to);
    }
    if (to == FRZ_TYPE_BOOLEAN) {
        return is_integer(from);
    }
    if (from == FRZ_TYPE_DATE) {
        return is_timestamp(to);
    }
    if (is_timestamp(from)) {
        return is_timestamp(to) || to == FRZ_TYPE_DATE || to == FRZ_TYPE_TIME;
    }
    if (is_bytes(from) && is_bytes(to)) {
        return from == FRZ_TYPE_BINARY || to == FRZ_TYPE_BINARY ||
               (from <= FRZ_TYPE_FIXED && to <= FRZ_TYPE_FIXED);
    }
    return false;
}

bool expr_convertible(const frz_type *from, const frz_type *to, expr_mode mode)
{
    if (from->id == FRZ_TYPE_UNKNOWN || frz_type_same_shape(from, to)) {
        return true;
    }
    if (to->id == FRZ_TYPE_UNKNOWN && mode == EXPR_ASSIGN) {
        return true; /* what is null is; values are refused row by row */
    }
    if (frz_type_is_nested(from) || frz_type_is_nested(to) || from->id == FRZ_TYPE_VARIANT ||
        to->id == FRZ_TYPE_VARIANT || to->id == FRZ_TYPE_UNKNOWN) {
        return false;
    }
    if (expr_is_number(from) && expr_is_number(to)) {
        return true;
    }
    if (mode == EXPR_CAST_TO) {
        bool shape = from->id == FRZ_TYPE_GEOMETRY || from->id == FRZ_TYPE_GEOGRAPHY ||
                     to->id == FRZ_TYPE_GEOMETRY || to->id == FRZ_TYPE_GEOGRAPHY;
        bool text = from->id == FRZ_TYPE_STRING || to->id == FRZ_TYPE_STRING;
        return (text && !shape) || castable(from->id, to->id);
    }
    if (from->id == FRZ_TYPE_DATE) {
        return to->id == FRZ_TYPE_TIMESTAMP || to->id == FRZ_TYPE_TIMESTAMP_NS;
    }
    if (is_timestamp(from->id) && is_timestamp(to->id)) {
        return is_zoned(from->id) == is_zoned(to->id);
    }
    return (from->id == FRZ_TYPE_FIXED || from->id == FRZ_TYPE_BINARY) &&
           (to->id == FRZ_TYPE_FIXED || to->id == FRZ_TYPE_BINARY);
}

expr_converted expr_convert_value(frz_arena *arena, const frz_value *value, const frz_type *to,
                                  expr_mode mode, frz_value *out)
{
    frz_value made = {.type = to, .is_null = value->is_null};
    frz_type_id from = value->type->id;
    expr_converted result = EXPR_CONVERTED;
    if (value->is_null) {
        /* a null is a null of every type */
    } else if (to->id == FRZ_TYPE_UNKNOWN) {
        result = EXPR_DOES_NOT_FIT;
    } else if (from == to->id && from != FRZ_TYPE_DECIMAL && from != FRZ_TYPE_FIXED) {
        made = *value;
        made.type = to;
    } else if (to->id == FRZ_TYPE_STRING) {
        result = to_text(arena, value, &made);
    } else if (from == FRZ_TYPE_STRING) {
        result = from_text(arena, value, to, &made);
    } else if (from == FRZ_TYPE_BOOLEAN) {
        result = store_integer(value->as.boolean, to, &made);
    } else if (expr_is_number(value->type)) {
        result = from_number(value, to, mode, &made);
    } else if (is_bytes(from)) {
        result = to_bytes(value, to, &made);
    } else {
        result = from_time(value, to, mode, &made);
    }
    made.type = to;
    *out = made;
    return result;
}
