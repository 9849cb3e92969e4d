/*
 * Bounds of statistics as the file encodes them: their order, and the text that people read.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/parquet/parquet_api.h"
#include "format/parquet/parquet_read.h"
#include "type/type_value.h"

#define JULIAN_DAY_OF_1970 2440588
#define NANOS_PER_MICRO 1000
#define HALF_BYTES 2
#define SHORT_TEXT 128
#define MOST_SCALE 76
#define MOST_DECIMAL_BYTES 32
#define DECIMAL_WORDS 8

static bool is_unsigned(const parquet_element *e)
{
    return e->logical == PARQUET_LOGICAL_INTEGER && !e->is_signed;
}

/* The bits of an INT32 or INT64, widened as its annotation says. */
static int64_t load_integer(const parquet_element *e, const char *bytes)
{
    if (e->physical == PARQUET_INT64) {
        return (int64_t)frz_load_le64(bytes);
    }
    uint32_t bits = frz_load_le32(bytes);
    return is_unsigned(e) ? (int64_t)bits : (int64_t)(int32_t)bits;
}

static double load_real(const parquet_element *e, const char *bytes)
{
    double wide;
    float narrow;
    if (e->physical == PARQUET_DOUBLE) {
        memcpy(&wide, bytes, sizeof wide);
        return wide;
    }
    if (e->physical == PARQUET_FLOAT) {
        memcpy(&narrow, bytes, sizeof narrow);
        return (double)narrow;
    }
    return (double)frz_half_to_float(frz_load_le16(bytes));
}

static bool is_real(const parquet_element *e)
{
    bool half = e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY &&
                e->logical == PARQUET_LOGICAL_FLOAT16 && e->type_length == HALF_BYTES;
    return half || e->physical == PARQUET_FLOAT || e->physical == PARQUET_DOUBLE;
}

/* ---- order ---- */

static int compare_bytes(frz_parquet_bytes a, frz_parquet_bytes b)
{
    return frz_str_compare((frz_str){a.data, a.size}, (frz_str){b.data, b.size});
}

static int8_t sign_of(frz_parquet_bytes a)
{
    return a.size > 0 && ((uint8_t)a.data[0] & 0x80) != 0 ? -1 : 0;
}

/* Byte i of a number of size bytes from the left, its sign in front of them. */
static uint8_t big_endian_byte(frz_parquet_bytes a, size_t size, size_t i)
{
    size_t pad = size - a.size;
    return i < pad ? (uint8_t)sign_of(a) : (uint8_t)a.data[i - pad];
}

/* Two's complement, big-endian, of any length. */
static int compare_big_endian(frz_parquet_bytes a, frz_parquet_bytes b)
{
    size_t size = FRZ_MAX(a.size, b.size);
    if (sign_of(a) != sign_of(b)) {
        return sign_of(a) < sign_of(b) ? -1 : 1;
    }
    for (size_t i = 0; i < size; i++) {
        int difference = big_endian_byte(a, size, i) - big_endian_byte(b, size, i);
        if (difference != 0) {
            return difference;
        }
    }
    return 0;
}

static int compare_integers(const parquet_element *e, int64_t a, int64_t b)
{
    if (is_unsigned(e)) {
        return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
    }
    return (a > b) - (a < b);
}

int parquet_api_compare(const parquet_element *e, frz_parquet_bytes a, frz_parquet_bytes b)
{
    if (is_real(e)) {
        double x = load_real(e, a.data);
        double y = load_real(e, b.data);
        return (x > y) - (x < y);
    }
    switch (e->physical) {
    case PARQUET_INT32:
    case PARQUET_INT64:
        return compare_integers(e, load_integer(e, a.data), load_integer(e, b.data));
    default:
        return e->logical == PARQUET_LOGICAL_DECIMAL ? compare_big_endian(a, b)
                                                     : compare_bytes(a, b);
    }
}

/* ---- text ---- */

static void put_hex(parquet_api_text *out, frz_parquet_bytes bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        char pair[2] = {digits[byte >> 4], digits[byte & 15]};
        parquet_api_put(out, (frz_str){pair, sizeof pair});
    }
}

static void put_short(parquet_api_text *out, const char *text)
{
    parquet_api_put(out, frz_str_from(text));
}

/* A value of a type that tables have, whose text is short. */
static void put_value(parquet_api_text *out, const frz_value *value)
{
    char text[SHORT_TEXT];
    frz_buf fixed = {.data = (uint8_t *)text, .capacity = sizeof text, .max = sizeof text};
    if (frz_value_print(value, &fixed, NULL) == FRZ_OK) {
        parquet_api_put(out, frz_buf_view(&fixed));
    }
}

static void put_i64(parquet_api_text *out, frz_type_id id, int64_t number)
{
    frz_value value = {.type = frz_type_primitive(id), .as.i64 = number};
    put_value(out, &value);
}

static void put_date(parquet_api_text *out, int32_t days)
{
    frz_value value = {.type = frz_type_primitive(FRZ_TYPE_DATE), .as.i32 = days};
    put_value(out, &value);
}

static void put_decimal(parquet_api_text *out, frz_i128 unscaled, int32_t scale)
{
    char text[SHORT_TEXT];
    size_t len = frz_decimal_text(unscaled, scale, text);
    parquet_api_put(out, (frz_str){text, len});
}

static void put_integer(parquet_api_text *out, const parquet_element *e, int64_t number)
{
    char text[SHORT_TEXT];
    if (is_unsigned(e)) {
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)number);
    } else {
        snprintf(text, sizeof text, "%" PRId64, number);
    }
    put_short(out, text);
}

/* Microseconds as tables have them, and the digits of nanoseconds behind. */
static void put_nanos_of_day(parquet_api_text *out, int64_t nanos)
{
    char rest[8];
    put_i64(out, FRZ_TYPE_TIME, nanos / NANOS_PER_MICRO);
    snprintf(rest, sizeof rest, "%03d", (int)(nanos % NANOS_PER_MICRO));
    put_short(out, rest);
}

static bool put_time(parquet_api_text *out, const parquet_element *e, int64_t number)
{
    int64_t micros = number;
    if (e->unit == PARQUET_NANOS && number >= 0) {
        put_nanos_of_day(out, number);
        return true;
    }
    if (e->unit == PARQUET_NANOS ||
        (e->unit == PARQUET_MILLIS && !frz_mul_i64(number, NANOS_PER_MICRO, &micros))) {
        return false;
    }
    put_i64(out, FRZ_TYPE_TIME, micros);
    return true;
}

static bool put_timestamp(parquet_api_text *out, const parquet_element *e, int64_t number)
{
    int64_t micros = number;
    if (e->unit == PARQUET_NANOS) {
        put_i64(out, e->utc ? FRZ_TYPE_TIMESTAMPTZ_NS : FRZ_TYPE_TIMESTAMP_NS, number);
        return true;
    }
    if (e->unit == PARQUET_MILLIS && !frz_mul_i64(number, NANOS_PER_MICRO, &micros)) {
        return false;
    }
    put_i64(out, e->utc ? FRZ_TYPE_TIMESTAMPTZ : FRZ_TYPE_TIMESTAMP, micros);
    return true;
}

static void put_number(parquet_api_text *out, const parquet_element *e, int64_t number)
{
    bool done = false;
    if (e->logical == PARQUET_LOGICAL_DECIMAL && e->scale >= 0 && e->scale <= 38) {
        put_decimal(out, number, e->scale);
        done = true;
    } else if (e->logical == PARQUET_LOGICAL_DATE && e->physical == PARQUET_INT32) {
        put_date(out, (int32_t)number);
        done = true;
    } else if (e->logical == PARQUET_LOGICAL_TIME) {
        done = put_time(out, e, number);
    } else if (e->logical == PARQUET_LOGICAL_TIMESTAMP) {
        done = put_timestamp(out, e, number);
    }
    if (!done) {
        put_integer(out, e, number);
    }
}

static void put_real(parquet_api_text *out, const parquet_element *e, const char *bytes)
{
    char text[SHORT_TEXT];
    size_t len;
    if (e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY) {
        len = frz_half_text(frz_load_le16(bytes), text);
    } else if (e->physical == PARQUET_FLOAT) {
        len = frz_float_text((float)load_real(e, bytes), text);
    } else {
        len = frz_double_text(load_real(e, bytes), text);
    }
    parquet_api_put(out, (frz_str){text, len});
}

/* Nanoseconds of the day, then the Julian day. */
static void put_int96(parquet_api_text *out, const char *bytes)
{
    int64_t days = (int64_t)frz_load_le32(bytes + 8) - JULIAN_DAY_OF_1970;
    put_date(out, (int32_t)days);
    put_short(out, "T");
    put_nanos_of_day(out, (int64_t)(frz_load_le64(bytes) & INT64_MAX));
}

static bool put_uuid(parquet_api_text *out, frz_parquet_bytes bytes)
{
    frz_value value = {.type = frz_type_primitive(FRZ_TYPE_UUID),
                       .as.bytes = {bytes.data, bytes.size}};
    if (bytes.size != 16) {
        return false;
    }
    put_value(out, &value);
    return true;
}

/* Divide a number by ten, its words from the highest down; returns the digit that is left. */
static unsigned take_digit(uint32_t words[DECIMAL_WORDS])
{
    uint64_t rest = 0;
    for (size_t i = 0; i < DECIMAL_WORDS; i++) {
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

/* The size of a big-endian number in two's complement. */
static void load_size(frz_parquet_bytes bytes, uint32_t words[DECIMAL_WORDS])
{
    bool negative = sign_of(bytes) < 0;
    uint64_t carry = negative;
    for (size_t i = DECIMAL_WORDS; i-- > 0;) {
        uint32_t word = 0;
        for (size_t k = 0; k < sizeof word; k++) {
            word = word << 8 | big_endian_byte(bytes, MOST_DECIMAL_BYTES, i * sizeof word + k);
        }
        uint64_t sum = carry + (negative ? (uint32_t)~word : word);
        words[i] = (uint32_t)sum;
        carry = sum >> 32;
    }
}

static bool put_byte_decimal(parquet_api_text *out, const parquet_element *e,
                             frz_parquet_bytes bytes)
{
    char text[SHORT_TEXT + MOST_SCALE];
    size_t at = sizeof text;
    uint32_t words[DECIMAL_WORDS];
    if (bytes.size == 0 || bytes.size > MOST_DECIMAL_BYTES || e->scale < 0 ||
        e->scale > MOST_SCALE) {
        return false;
    }
    load_size(bytes, words);
    for (int32_t place = 0; !is_zero(words) || place <= e->scale; place++) {
        if (place == e->scale && place > 0) {
            text[--at] = '.';
        }
        text[--at] = (char)('0' + take_digit(words));
    }
    if (sign_of(bytes) < 0) {
        text[--at] = '-';
    }
    parquet_api_put(out, (frz_str){text + at, sizeof text - at});
    return true;
}

static bool put_bytes(parquet_api_text *out, const parquet_element *e, frz_parquet_bytes bytes)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_STRING:
    case PARQUET_LOGICAL_ENUM:
    case PARQUET_LOGICAL_JSON:
        if (frz_utf8_valid((frz_str){bytes.data, bytes.size})) {
            parquet_api_put(out, (frz_str){bytes.data, bytes.size});
            return true;
        }
        return false;
    case PARQUET_LOGICAL_DECIMAL:
        return put_byte_decimal(out, e, bytes);
    case PARQUET_LOGICAL_UUID:
        return put_uuid(out, bytes);
    default:
        put_hex(out, bytes);
        return true;
    }
}

/* False if the bytes are not of the element's type. */
static bool put_bound(parquet_api_text *out, const parquet_element *e, frz_parquet_bytes bytes)
{
    size_t size = parquet_element_width(e);
    if (size != 0 && bytes.size != size) {
        return false;
    }
    if (is_real(e)) {
        put_real(out, e, bytes.data);
        return true;
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        put_short(out, bytes.data[0] != 0 ? "true" : "false");
        return true;
    case PARQUET_INT32:
    case PARQUET_INT64:
        put_number(out, e, load_integer(e, bytes.data));
        return true;
    case PARQUET_INT96:
        put_int96(out, bytes.data);
        return true;
    default:
        return put_bytes(out, e, bytes);
    }
}

size_t frz_parquet_bound_text(const frz_parquet_file *file, size_t column, frz_parquet_bytes bound,
                              char *buf, size_t size)
{
    const parquet_file *inner = parquet_api_inner(file);
    parquet_api_text text = {buf, size, 0};
    assert(column < inner->column_count);
    if (bound.data != NULL && !put_bound(&text, inner->columns[column].element, bound)) {
        put_short(&text, "0x");
        put_hex(&text, bound);
    }
    return parquet_api_end(&text);
}
