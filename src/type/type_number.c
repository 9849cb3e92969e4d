/*
 * Numbers as text: the shortest digits that read back as the same float, and decimals.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "type/type_internal.h"

#define MAX_DIGITS 17

/* Significant digits and the power of ten of the first: 0.d1d2d3... * 10^(exponent + 1). */
typedef struct digits {
    char d[MAX_DIGITS + 1];
    int count;
    int exponent;
} digits;

/* Digits of the "%e" form; the decimal point may be that of any locale. */
static void split_digits(const char *text, digits *out)
{
    const char *p = text;
    out->count = 0;
    for (; *p != '\0' && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9' && out->count < MAX_DIGITS) {
            out->d[out->count++] = *p;
        }
    }
    out->exponent = *p == 'e' ? (int)strtol(p + 1, NULL, 10) : 0;
    while (out->count > 1 && out->d[out->count - 1] == '0') {
        out->count--;
    }
}

/* Raise the last digit of the "%e" form; false if that would carry out of the first. */
static bool raise_last(char *text)
{
    char *first = text;
    char *p = strchr(text, 'e');
    while (p-- > first) {
        if (*p >= '0' && *p < '9') {
            (*p)++;
            return true;
        }
        if (*p == '9') {
            *p = '0';
        }
    }
    return false;
}

static bool reads_back(const char *text, double value, bool single)
{
    return single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* The numbers that read as a power of two reach twice as far up as down: when the nearest decimal
 * of n digits lies too far down, the next one up may still do. */
static bool reads_back_raised(char *text, double value, bool single)
{
    char raised[40];
    int exponent;
    if (frexp(value, &exponent) != 0.5) {
        return false;
    }
    memcpy(raised, text, strlen(text) + 1);
    if (!raise_last(raised) || !reads_back(raised, value, single)) {
        return false;
    }
    memcpy(text, raised, strlen(raised) + 1);
    return true;
}

/* Any decimal of up to 15 digits (6 for float) survives a trip through a normal number, so the
 * search for the shortest starts there; subnormal numbers have fewer digits and start at one. */
static void shortest(double value, bool single, digits *out)
{
    char text[40];
    double normal = single ? (double)FLT_MIN : DBL_MIN;
    int most = single ? 9 : 17;
    for (int n = value < normal ? 1 : single ? 6 : 15; n <= most; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        if (n == most || reads_back(text, value, single) ||
            reads_back_raised(text, value, single)) {
            break;
        }
    }
    split_digits(text, out);
}

static char *put_zeros(char *to, int count)
{
    for (; count > 0; count--) {
        *to++ = '0';
    }
    return to;
}

static char *put_exponent(char *to, int exponent)
{
    *to++ = 'e';
    *to++ = exponent < 0 ? '-' : '+';
    int rest = exponent < 0 ? -exponent : exponent;
    if (rest >= 100) {
        *to++ = (char)('0' + rest / 100);
    }
    *to++ = (char)('0' + rest / 10 % 10);
    *to++ = (char)('0' + rest % 10);
    return to;
}

/* Plain digits for exponents from -4 to 15, else one digit before the point and an exponent. */
static size_t lay_out(const digits *n, bool negative, char *text)
{
    char *to = text;
    int before = n->exponent + 1; /* digits before the point */
    if (negative) {
        *to++ = '-';
    }
    if (n->exponent < -4 || n->exponent >= 16) {
        *to++ = n->d[0];
        if (n->count > 1) {
            *to++ = '.';
            memcpy(to, n->d + 1, (size_t)n->count - 1);
            to += n->count - 1;
        }
        to = put_exponent(to, n->exponent);
    } else if (before <= 0) {
        *to++ = '0';
        *to++ = '.';
        to = put_zeros(to, -before);
        memcpy(to, n->d, (size_t)n->count);
        to += n->count;
    } else {
        int whole = FRZ_MIN(before, n->count);
        memcpy(to, n->d, (size_t)whole);
        to = put_zeros(to + whole, before - whole);
        *to++ = '.';
        memcpy(to, n->d + whole, (size_t)(n->count - whole));
        to += n->count - whole;
        to = put_zeros(to, n->count == whole);
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* True for NaN, infinities and zeros, which have a text of their own. */
static bool special_text(double value, char *text, size_t *len)
{
    const char *special = NULL;
    if (isnan(value)) {
        special = "NaN";
    } else if (isinf(value)) {
        special = value < 0 ? "-Infinity" : "Infinity";
    } else if (value == 0) {
        special = signbit(value) ? "-0.0" : "0.0";
    }
    if (special == NULL) {
        return false;
    }
    *len = strlen(special);
    memcpy(text, special, *len + 1);
    return true;
}

size_t frz_double_text(double value, char *text)
{
    size_t len;
    digits n;
    if (special_text(value, text, &len)) {
        return len;
    }
    shortest(fabs(value), false, &n);
    return lay_out(&n, value < 0, text);
}

size_t frz_float_text(float value, char *text)
{
    size_t len;
    digits n;
    if (special_text((double)value, text, &len)) {
        return len;
    }
    shortest((double)fabsf(value), true, &n);
    return lay_out(&n, value < 0, text);
}

/* ---- floats of 16 bits ---- */

float frz_half_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = bits >> 10 & 0x1F;
    uint32_t fraction = bits & 0x3FF;
    uint32_t wide;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    exponent = exponent == 0x1F ? 0xFF : exponent + 112; /* infinities and NaN; the bias */
    wide = sign | exponent << 23 | fraction << 13;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* The size of a half by its bits without the sign; infinity counts as what comes behind the largest
 * number. */
static double half_size(uint16_t bits)
{
    int exponent = bits >> 10;
    int fraction = bits & 0x3FF;
    return exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction | 0x400, exponent - 25);
}

/* True if the number is nearer to the half than to its neighbours. */
static bool reads_as_half(double number, uint16_t bits)
{
    double size = half_size(bits);
    double below = (half_size((uint16_t)(bits - 1)) + size) / 2;
    double above = (half_size((uint16_t)(bits + 1)) + size) / 2;
    bool even = bits % 2 == 0;
    return (number > below && number < above) || (even && (number == below || number == above));
}

size_t frz_half_text(uint16_t bits, char *text)
{
    char decimal[40];
    digits n;
    uint16_t size = bits & 0x7FFF;
    double value = half_size(size);
    if (size >= 0x7C00 || value == floor(value)) {
        return frz_float_text(frz_half_to_float(bits), text);
    }
    for (int count = 1;; count++) {
        snprintf(decimal, sizeof decimal, "%.*e", count - 1, value);
        if (reads_as_half(strtod(decimal, NULL), size)) {
            break;
        }
    }
    split_digits(decimal, &n);
    return lay_out(&n, (bits & 0x8000) != 0, text);
}

/* ---- decimals ---- */

size_t frz_decimal_text(frz_i128 unscaled, int32_t scale, char *text)
{
    char reversed[64];
    size_t count = 0;
    size_t len = 0;
    unsigned __int128 rest =
        unscaled < 0 ? 0 - (unsigned __int128)unscaled : (unsigned __int128)unscaled;
    assert(scale >= 0 && scale <= TYPE_MAX_PRECISION);
    for (int32_t i = 0; rest > 0 || i <= scale; i++) {
        if (i == scale && scale > 0) {
            reversed[count++] = '.';
        }
        reversed[count++] = (char)('0' + (int)(rest % 10));
        rest /= 10;
    }
    if (unscaled < 0) {
        text[len++] = '-';
    }
    while (count > 0) {
        text[len++] = reversed[--count];
    }
    text[len] = '\0';
    return len;
}

/* Digits of a number without its point, and the power of ten of the last. */
typedef struct decimal_digits {
    frz_str digits; /* with at most one point inside */
    int64_t exponent;
    bool negative;
} decimal_digits;

static bool split_decimal(frz_str text, decimal_digits *out)
{
    size_t i = 0;
    size_t points = 0;
    size_t digit_count = 0;
    *out = (decimal_digits){0};
    if (i < text.len && (text.ptr[i] == '-' || text.ptr[i] == '+')) {
        out->negative = text.ptr[i++] == '-';
    }
    size_t start = i;
    for (; i < text.len && text.ptr[i] != 'e' && text.ptr[i] != 'E'; i++) {
        if (text.ptr[i] == '.') {
            points++;
        } else if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        } else {
            digit_count++;
            out->exponent -= points > 0;
        }
    }
    out->digits = (frz_str){text.ptr + start, i - start};
    int64_t power = 0;
    if (i < text.len && (!frz_str_to_i64((frz_str){text.ptr + i + 1, text.len - i - 1}, &power) ||
                         power < -100000 || power > 100000)) {
        return false;
    }
    out->exponent += power;
    return points <= 1 && digit_count > 0;
}

frz_code type_decimal_parse(frz_str text, int32_t precision, int32_t scale, frz_i128 *out)
{
    decimal_digits n;
    frz_i128 value = 0;
    int64_t zeros = 0; /* seen but not yet multiplied in */
    int64_t count = 0; /* digits of value */
    if (!split_decimal(text, &n)) {
        return FRZ_E_ARGUMENT;
    }
    for (size_t i = 0; i < n.digits.len; i++) {
        int digit = n.digits.ptr[i] - '0';
        if (n.digits.ptr[i] == '.') {
            continue;
        }
        if (digit == 0) {
            zeros += value != 0;
            continue;
        }
        for (; zeros >= 0 && count < TYPE_MAX_PRECISION; zeros--, count++) {
            value *= 10;
        }
        if (zeros >= 0) {
            return FRZ_E_LIMIT;
        }
        value += digit;
        zeros = 0;
    }
    /* value * 10^(zeros + exponent), wanted in units of 10^-scale */
    int64_t shift = zeros + n.exponent + scale;
    if (value != 0 && (shift < 0 || count + shift > precision)) {
        return FRZ_E_LIMIT;
    }
    for (; value != 0 && shift > 0; shift--) {
        value *= 10;
    }
    *out = n.negative ? -value : value;
    return FRZ_OK;
}

bool type_decimal_fits(frz_i128 unscaled, int32_t precision)
{
    frz_i128 bound = 1;
    for (int32_t i = 0; i < precision; i++) {
        bound *= 10;
    }
    return unscaled < bound && unscaled > -bound;
}
