/*
 * Numbers as text and back. The C locale is never changed, so the decimal point is a point.
 */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

__extension__ typedef unsigned __int128 wide_uint;

static size_t copy_text(char *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len + 1);
    return len;
}

size_t cli_uint_text(uint64_t value, char *out)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out, digits + at, sizeof digits - at);
    out[sizeof digits - at] = '\0';
    return sizeof digits - at;
}

size_t cli_int_text(int64_t value, char *out)
{
    if (value >= 0) {
        return cli_uint_text((uint64_t)value, out);
    }
    out[0] = '-';
    return 1 + cli_uint_text(0 - (uint64_t)value, out + 1);
}

/* NaN, the infinities, and numbers that need no search: 0 if it is none of them. */
static size_t easy_number(double value, char *out)
{
    if (isnan(value)) {
        return copy_text(out, "NaN");
    }
    if (isinf(value)) {
        return copy_text(out, value > 0 ? "Infinity" : "-Infinity");
    }
    if (value == 0) {
        return copy_text(out, signbit(value) ? "-0.0" : "0.0");
    }
    if (fabs(value) < 1e15 && value == (double)(int64_t)value) {
        size_t len = cli_int_text((int64_t)value, out);
        return len + copy_text(out + len, ".0");
    }
    return 0;
}

/* ---- doubles of everyday size, in exact integer arithmetic ---- */

#define MANTISSA_BITS 52

static wide_uint power_of_ten(int exponent)
{
    wide_uint power = 1;
    for (int i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

/* How often 1e-4 <= value < 1e15 is to be multiplied by ten to lie in [1e16, 1e17), about. */
static int scale_of(double value)
{
    int scale = 20;
    for (double limit = 1e-3; value >= limit; limit *= 10) {
        scale--;
    }
    return scale;
}

/* "digits" with the point so many places from the right, and no zeros at the end. */
static size_t place_point(uint64_t digits, int places, char *out)
{
    char plain[CLI_NUMBER_TEXT];
    while (places > 1 && digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    int len = (int)cli_uint_text(digits, plain);
    int zeros = places >= len ? places - len + 1 : 0;
    int whole = len + zeros - places;
    char *to = out;
    for (int i = 0; i < len + zeros; i++) {
        if (i == whole) {
            *to++ = '.';
        }
        *to++ = i < zeros ? '0' : plain[i - zeros];
    }
    *to = '\0';
    return (size_t)(to - out);
}

/*
 * value is mantissa / 2^shift. Times 10^scale it has 17 digits before the point, so 15, 16 and 17
 * digits are tried by rounding that product; a rounding reads back as value if it is off by at
 * most half a unit of the mantissa, which is 10^scale / 2 here. Everything fits 128 bits. Returns
 * 0 for values outside the range and for powers of two, whose lower neighbour is nearer.
 */
static size_t everyday_number(double value, char *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    if (!(value >= 1e-4 && value < 1e15) || fraction == 0) {
        return 0;
    }
    uint64_t mantissa = fraction | (uint64_t)1 << MANTISSA_BITS;
    int shift = 1023 + MANTISSA_BITS - (int)(bits >> MANTISSA_BITS);
    int scale = scale_of(value);
    wide_uint unit = power_of_ten(scale);
    wide_uint product = mantissa * unit;
    uint64_t all = (uint64_t)(product >> shift);
    for (uint64_t drop = 100;; drop /= 10) {
        uint64_t kept = all / drop;
        wide_uint rest = product - ((wide_uint)(kept * drop) << shift);
        wide_uint half = (wide_uint)drop << (shift - 1);
        bool up = rest > half || (rest == half && kept % 2 != 0);
        wide_uint error = up ? 2 * half - rest : rest;
        kept += up;
        if (2 * error < unit || (2 * error == unit && mantissa % 2 == 0) || drop == 1) {
            return place_point(kept * drop, scale, out);
        }
    }
}

/* ---- all others, by trying ---- */

/* Numbers with an exponent but no fraction ("1e+22") are no integers to a JSON reader. */
static size_t mark_as_real(char *out, size_t len)
{
    return strpbrk(out, ".e") == NULL ? len + copy_text(out + len, ".0") : len;
}

/* Any decimal of so many digits survives a trip through a normal number, so the search for the
 * shortest starts there; subnormal numbers have fewer digits. */
static int first_digits(double size, double smallest_normal, int digits)
{
    return size < smallest_normal ? 1 : digits;
}

size_t cli_double_text(double value, char *out)
{
    size_t len = easy_number(value, out);
    if (len == 0 && value > 0) {
        len = everyday_number(value, out);
    } else if (len == 0) {
        *out = '-';
        len = everyday_number(-value, out + 1);
        len += len > 0;
    }
    for (int digits = first_digits(fabs(value), DBL_MIN, 15); len == 0; digits++) {
        int n = snprintf(out, CLI_NUMBER_TEXT, "%.*g", digits, value);
        if (digits == 17 || strtod(out, NULL) == value) {
            len = mark_as_real(out, (size_t)n);
        }
    }
    return len;
}

size_t cli_float_text(float value, char *out)
{
    size_t len = easy_number((double)value, out);
    for (int digits = first_digits(fabs((double)value), (double)FLT_MIN, 6); len == 0; digits++) {
        int n = snprintf(out, CLI_NUMBER_TEXT, "%.*g", digits, (double)value);
        if (digits == 9 || strtof(out, NULL) == value) {
            len = mark_as_real(out, (size_t)n);
        }
    }
    return len;
}

/* ---- halves ---- */

/* Of a positive half by its bits; infinity counts as what comes after the largest number. */
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

size_t cli_half_text(uint16_t bits, char *out)
{
    uint16_t size = bits & 0x7FFF;
    double value = size > 0x7C00 ? NAN : size == 0x7C00 ? INFINITY : half_size(size);
    value = (bits & 0x8000) != 0 ? -value : value;
    size_t len = easy_number(value, out);
    for (int digits = 1; len == 0; digits++) {
        int n = snprintf(out, CLI_NUMBER_TEXT, "%.*g", digits, value);
        if (reads_as_half(fabs(strtod(out, NULL)), size)) {
            len = mark_as_real(out, (size_t)n);
        }
    }
    return len;
}

/* ---- decimals ---- */

#define DECIMAL_WORDS 8
#define DECIMAL_DIGITS 78 /* of 256 bits */

/* The size of a number of little-endian bytes in two's complement, as words from the lowest up. */
static void load_size(const uint8_t *value, size_t width, bool negative,
                      uint32_t words[DECIMAL_WORDS])
{
    uint8_t bytes[4 * DECIMAL_WORDS];
    unsigned carry = negative;
    for (size_t i = 0; i < sizeof bytes; i++) {
        uint8_t byte = i < width ? value[i] : negative ? 0xFF : 0;
        unsigned sum = negative ? (uint8_t)~byte + carry : byte;
        bytes[i] = (uint8_t)sum;
        carry = sum >> 8;
    }
    memcpy(words, bytes, sizeof bytes);
}

/* Divide by ten; returns the digit that is left. */
static unsigned take_digit(uint32_t words[DECIMAL_WORDS])
{
    uint64_t rest = 0;
    for (size_t i = DECIMAL_WORDS; i-- > 0;) {
        uint64_t wide = rest << 32 | words[i];
        words[i] = (uint32_t)(wide / 10);
        rest = wide % 10;
    }
    return (unsigned)rest;
}

static bool is_zero(const uint32_t words[DECIMAL_WORDS])
{
    uint32_t any = 0;
    for (size_t i = 0; i < DECIMAL_WORDS; i++) {
        any |= words[i];
    }
    return any == 0;
}

size_t cli_decimal_text(const uint8_t *value, size_t width, int scale, char *out)
{
    bool negative = (value[width - 1] & 0x80) != 0;
    char digits[2 * DECIMAL_DIGITS + 4];
    size_t at = sizeof digits;
    uint32_t words[DECIMAL_WORDS];
    load_size(value, width, negative, words);
    for (int zeros = scale; zeros < 0 && !is_zero(words); zeros++) {
        digits[--at] = '0';
    }
    for (int place = 0; !is_zero(words) || place <= scale || place == 0; place++) {
        if (place == scale && place > 0) {
            digits[--at] = '.';
        }
        digits[--at] = (char)('0' + take_digit(words));
    }
    if (negative) {
        digits[--at] = '-';
    }
    memcpy(out, digits + at, sizeof digits - at);
    out[sizeof digits - at] = '\0';
    return sizeof digits - at;
}

/* ---- for people ---- */

size_t cli_grouped_text(int64_t value, char *out)
{
    char plain[CLI_NUMBER_TEXT];
    size_t len = cli_int_text(value, plain);
    size_t to = 0;
    for (size_t from = 0; from < len; from++) {
        size_t left = len - from;
        if (from > 0 && plain[from - 1] != '-' && left % 3 == 0) {
            out[to++] = ' ';
        }
        out[to++] = plain[from];
    }
    out[to] = '\0';
    return to;
}

void cli_text_size(cli_text *text, int64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    char grouped[CLI_NUMBER_TEXT];
    double scaled = (double)bytes / 1000;
    size_t unit = 0;
    cli_grouped_text(bytes, grouped);
    cli_text_printf(text, "%s %s", grouped, bytes == 1 ? "byte" : "bytes");
    if (bytes < 1000) {
        return;
    }
    while (scaled >= 999.95 && unit + 1 < sizeof units / sizeof *units) {
        scaled /= 1000;
        unit++;
    }
    cli_text_printf(text, " (%.1f %s)", scaled, units[unit]);
}

frz_code cli_parse_int64(const char *text, int64_t min, const char *what, int64_t *out,
                         frz_error *err)
{
    char *end = NULL;
    errno = 0;
    intmax_t value = strtoimax(text, &end, 10);
    bool starts_well = (*text >= '0' && *text <= '9') || *text == '-';
    if (!starts_well || *end != '\0' || errno != 0 || value > INT64_MAX || value < min) {
        return cli_fail(err, FRZ_E_ARGUMENT,
                        "--%s: expected a whole number of at least %" PRId64 ", found \"%s\"", what,
                        min, text);
    }
    *out = (int64_t)value;
    return FRZ_OK;
}
