/*
 * Back from a value as a column is read to the value of the file: the inverse of each conversion,
 * as far as it has one.
 */
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_read.h"

#define MICROS_PER_MILLI 1000
#define MICROS_PER_DAY INT64_C(86400000000)
#define NANOS_PER_DAY INT64_C(86400000000000)

/* ---- one value in PLAIN form ---- */

static void put(parquet_origin *out, const void *bytes, size_t len)
{
    uint8_t *to = out->bytes[out->count];
    assert(len <= PARQUET_ORIGIN_BYTES && out->count < 2);
    memcpy(to, bytes, len);
    out->plain[out->count++] = (frz_str){(const char *)to, len};
}

/* A number as INT32 or INT64; none if it does not fit. */
static void put_integer(parquet_origin *out, frz_i128 value, frz_i128 least, frz_i128 most,
                        size_t width)
{
    if (value >= least && value <= most) {
        put(out, &value, width); /* the low bytes come first */
    }
}

static void put_scaled(parquet_origin *out, int64_t value, int64_t factor, size_t width)
{
    if (value % factor == 0) {
        put_integer(out, value / factor, width == 4 ? INT32_MIN : INT64_MIN,
                    width == 4 ? INT32_MAX : INT64_MAX, width);
    }
}

/* Zeros are equal, but not in the file. */
static void put_float(parquet_origin *out, float value)
{
    float other = -value;
    put(out, &value, sizeof value);
    if (value == 0) {
        put(out, &other, sizeof other);
    }
}

static void put_double(parquet_origin *out, double value)
{
    double other = -value;
    put(out, &value, sizeof value);
    if (value == 0) {
        put(out, &other, sizeof other);
    }
}

/* Big-endian two's complement of a fixed width; false if that is wider than there is room. */
static bool put_big_endian(parquet_origin *out, frz_i128 value, size_t width)
{
    uint8_t bytes[PARQUET_ORIGIN_BYTES];
    frz_i128 rest = value;
    if (width == 0 || width > sizeof bytes) {
        return false;
    }
    for (size_t i = width; i-- > 0;) {
        bytes[i] = (uint8_t)rest;
        rest >>= 8; /* keeps the sign */
    }
    bool negative = (bytes[0] & 0x80) != 0;
    if (rest == (negative ? -1 : 0)) {
        put(out, bytes, width);
    }
    return true;
}

/* ---- by conversion ---- */

static bool copied(const frz_value *value, size_t width, parquet_origin *out)
{
    switch (value->type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        put(out, &value->as.i32, sizeof value->as.i32);
        return true;
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        put(out, &value->as.i64, sizeof value->as.i64);
        return true;
    case FRZ_TYPE_FLOAT:
        put_float(out, value->as.f32);
        return true;
    case FRZ_TYPE_DOUBLE:
        put_double(out, value->as.f64);
        return true;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        if (value->as.bytes.len == width) {
            out->plain[out->count++] = value->as.bytes;
        }
        return true;
    default:
        return false; /* booleans have a byte or a bit, writers do not agree */
    }
}

static bool find_origin(parquet_conversion conversion, size_t width, const frz_value *value,
                        parquet_origin *out)
{
    switch (conversion) {
    case PARQUET_COPY:
        return copied(value, width, out);
    case PARQUET_TEXT:
    case PARQUET_BYTES:
        out->plain[out->count++] = value->as.bytes;
        return true;
    case PARQUET_I32_I64:
        put_integer(out, value->as.i64, INT32_MIN, INT32_MAX, 4);
        return true;
    case PARQUET_U32_I64:
        put_integer(out, value->as.i64, 0, UINT32_MAX, 4);
        return true;
    case PARQUET_U64_I64:
        put_integer(out, value->as.i64, 0, INT64_MAX, 8);
        return true;
    case PARQUET_F32_F64:
        if ((double)(float)value->as.f64 == value->as.f64) {
            put_float(out, (float)value->as.f64);
        }
        return true;
    case PARQUET_MS32_US:
        put_scaled(out, value->as.i64, MICROS_PER_MILLI, 4);
        return true;
    case PARQUET_MS64_US:
        put_scaled(out, value->as.i64, MICROS_PER_MILLI, 8);
        return true;
    case PARQUET_DATE_US:
        put_scaled(out, value->as.i64, MICROS_PER_DAY, 4);
        return true;
    case PARQUET_DATE_NS:
        put_scaled(out, value->as.i64, NANOS_PER_DAY, 4);
        return true;
    case PARQUET_I32_DECIMAL:
        put_integer(out, value->as.i128, INT32_MIN, INT32_MAX, 4);
        return true;
    case PARQUET_I64_DECIMAL:
        put_integer(out, value->as.i128, INT64_MIN, INT64_MAX, 8);
        return true;
    case PARQUET_FIXED_DECIMAL:
        return put_big_endian(out, value->as.i128, width);
    default:
        return false; /* halves; INT96 is cut; the digits of BYTE_ARRAY decimals may be padded */
    }
}

bool parquet_origin_of(const parquet_column *column, const frz_value *value, parquet_origin *out)
{
    parquet_conversion conversion;
    out->count = 0;
    return parquet_conversion_choose(column->node, value->type, &conversion, NULL) == FRZ_OK &&
           find_origin(conversion, parquet_element_width(column->element), value, out);
}
