/*
 * The loops that convert values from the file's physical types to the requested ones. What may not
 * fit is looked at value by value; the loops over what always fits are for the compiler to
 * vectorise.
 */
#include "format/parquet/parquet_read.h"
#include "type/type_value.h"

#define MICROS_PER_MILLI 1000
#define NANOS_PER_MILLI 1000000
#define MICROS_PER_DAY INT64_C(86400000000)
#define NANOS_PER_DAY INT64_C(86400000000000)
#define JULIAN_DAY_OF_EPOCH 2440588
#define DECIMAL_BYTES 16
#define DECIMAL256_BYTES 32

static int32_t load_i32(const uint8_t *p)
{
    return (int32_t)frz_load_le32(p);
}

static int64_t load_i64(const uint8_t *p)
{
    return (int64_t)frz_load_le64(p);
}

static void store_i64(uint8_t *p, int64_t v)
{
    memcpy(p, &v, sizeof v);
}

static float load_f32(const uint8_t *p)
{
    float value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* The microseconds of a Julian day and time, modulo 2^64, as Spark computes them. */
static int64_t wrapped_micros(int32_t day, int64_t nanos)
{
    uint64_t days = (uint64_t)((int64_t)day - JULIAN_DAY_OF_EPOCH);
    return (int64_t)(days * (uint64_t)MICROS_PER_DAY + (uint64_t)(nanos / 1000));
}

/* Spark writes times near the end of its range with a Julian day that has overflowed; such a pair
 * is known by being what Spark makes of the wrapped result. */
static bool is_wrapped(int64_t micros, int32_t day, int64_t nanos)
{
    uint64_t offset = (uint64_t)JULIAN_DAY_OF_EPOCH * (uint64_t)MICROS_PER_DAY;
    int64_t julian = (int64_t)((uint64_t)micros + offset);
    return julian / MICROS_PER_DAY == day && julian % MICROS_PER_DAY * 1000 == nanos;
}

/*
 * Julian day and nanoseconds of the day. Micros are computed from days directly, because
 * nanoseconds of 64 bits end in 2262. Nanoseconds below a microsecond are cut.
 */
static bool int96_to_micros(const uint8_t *p, int64_t *out)
{
    int64_t nanos = load_i64(p);
    int32_t julian = load_i32(p + 8);
    int64_t day = (int64_t)julian - JULIAN_DAY_OF_EPOCH;
    int64_t micros = nanos / 1000 - (nanos % 1000 < 0);
    int64_t base;
    if (frz_mul_i64(day, MICROS_PER_DAY, &base) && frz_add_i64(base, micros, out)) {
        return true;
    }
    *out = wrapped_micros(julian, nanos);
    return is_wrapped(*out, julian, nanos);
}

/* A decimal as its array has it. */
typedef struct decimal_words {
    uint64_t low;
    int64_t high;
} decimal_words;

/* The upper bytes of value, without the lowest shift bits. */
static decimal_words words_of(int64_t value, unsigned shift)
{
    value >>= shift;
    return (decimal_words){(uint64_t)value, value >> 63};
}

static int64_t load_be64(const uint8_t *p)
{
    return (int64_t)__builtin_bswap64(frz_load_le64(p));
}

static decimal_words words_of_two(const uint8_t *p, unsigned shift)
{
    int64_t high = load_be64(p);
    uint64_t low = (uint64_t)load_be64(p + 8) >> shift;
    low |= ((uint64_t)high << 1) << (63 - shift); /* in two steps, since shift may be 0 */
    return (decimal_words){low, high >> shift};
}

/* Big-endian two's complement of any length to size bytes, little-endian. */
static bool decimal_from_bytes(const uint8_t *p, size_t len, uint8_t *out, size_t size)
{
    bool negative = len > 0 && (p[0] & 0x80) != 0;
    uint8_t sign = negative ? 0xFF : 0;
    while (len > size) {
        if (*p != sign) {
            return false;
        }
        p++;
        len--;
        if (len == size && ((p[0] & 0x80) != 0) != negative) {
            return false;
        }
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = i < len ? p[len - 1 - i] : sign;
    }
    return true;
}

/* ---- loops over what always fits ---- */

#define FOR_EACH(name, in_width, type, expression)                                                 \
    static void name(const uint8_t *in, size_t n, uint8_t *out)                                    \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t *p = in + i * (in_width);                                                \
            type value = expression;                                                               \
            memcpy(out + i * sizeof value, &value, sizeof value);                                  \
        }                                                                                          \
    }

FOR_EACH(i32_to_i64, 4, int64_t, load_i32(p))
FOR_EACH(u32_to_i64, 4, int64_t, frz_load_le32(p))
FOR_EACH(f32_to_f64, 4, double, (double)load_f32(p))
FOR_EACH(f16_to_f32, 2, float, frz_half_to_float(frz_load_le16(p)))
FOR_EACH(f16_to_f64, 2, double, (double)frz_half_to_float(frz_load_le16(p)))
FOR_EACH(ms32_to_us, 4, int64_t, (int64_t)load_i32(p) * MICROS_PER_MILLI)
FOR_EACH(date_to_us, 4, int64_t, (int64_t)load_i32(p) * MICROS_PER_DAY)
FOR_EACH(i32_to_decimal, 4, decimal_words, words_of(load_i32(p), 0))
FOR_EACH(i64_to_decimal, 8, decimal_words, words_of(load_i64(p), 0))

static void convert_total(parquet_conversion conversion, const uint8_t *in, size_t n, uint8_t *out)
{
    switch (conversion) {
    case PARQUET_I32_I64:
        i32_to_i64(in, n, out);
        break;
    case PARQUET_U32_I64:
        u32_to_i64(in, n, out);
        break;
    case PARQUET_F32_F64:
        f32_to_f64(in, n, out);
        break;
    case PARQUET_F16_F32:
        f16_to_f32(in, n, out);
        break;
    case PARQUET_F16_F64:
        f16_to_f64(in, n, out);
        break;
    case PARQUET_MS32_US:
        ms32_to_us(in, n, out);
        break;
    case PARQUET_DATE_US:
        date_to_us(in, n, out);
        break;
    case PARQUET_I32_DECIMAL:
        i32_to_decimal(in, n, out);
        break;
    case PARQUET_I64_DECIMAL:
    default:
        i64_to_decimal(in, n, out);
    }
}

/* ---- loops that look at each value ---- */

static size_t convert_scaled(const uint8_t *in, size_t in_width, int64_t factor, size_t n,
                             uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int64_t value = in_width == 4 ? load_i32(in + i * 4) : load_i64(in + i * 8);
        int64_t scaled;
        if (!frz_mul_i64(value, factor, &scaled)) {
            return i;
        }
        store_i64(out + i * 8, scaled);
    }
    return n;
}

static size_t convert_unsigned(const uint8_t *in, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (frz_load_le64(in + i * 8) > INT64_MAX) {
            return i;
        }
    }
    memcpy(out, in, n * 8);
    return n;
}

static size_t convert_int96(const uint8_t *in, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int64_t micros;
        if (!int96_to_micros(in + i * PARQUET_INT96_BYTES, &micros)) {
            return i;
        }
        store_i64(out + i * 8, micros);
    }
    return n;
}

/* Decimals of up to 16 bytes: words are loaded whole and lose the bytes behind the value. */
static void convert_short_decimal(const uint8_t *in, size_t width, size_t n, uint8_t *out)
{
    if (width <= 8) {
        for (size_t i = 0; i < n; i++) {
            decimal_words v = words_of(load_be64(in + i * width), (unsigned)(64 - 8 * width));
            memcpy(out + i * DECIMAL_BYTES, &v, sizeof v);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            decimal_words v = words_of_two(in + i * width, (unsigned)(128 - 8 * width));
            memcpy(out + i * DECIMAL_BYTES, &v, sizeof v);
        }
    }
}

static size_t convert_fixed_decimal(const uint8_t *in, size_t width, size_t n, uint8_t *out,
                                    size_t size)
{
    if (size == DECIMAL_BYTES && width > 0 && width <= DECIMAL_BYTES) {
        convert_short_decimal(in, width, n, out);
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        if (!decimal_from_bytes(in + i * width, width, out + i * size, size)) {
            return i;
        }
    }
    return n;
}

/* Integers of 32 bits to fewer; the file's annotation promised that they fit. */
static size_t convert_narrow(parquet_conversion conversion, const uint8_t *in, size_t n,
                             uint8_t *out)
{
    const bool is_byte = conversion == PARQUET_I32_I8 || conversion == PARQUET_I32_U8;
    const bool is_signed = conversion == PARQUET_I32_I8 || conversion == PARQUET_I32_I16;
    const int32_t most =
        is_byte ? (is_signed ? INT8_MAX : UINT8_MAX) : (is_signed ? INT16_MAX : UINT16_MAX);
    const int32_t least = !is_signed ? 0 : -most - 1;
    for (size_t i = 0; i < n; i++) {
        int32_t value = load_i32(in + i * 4);
        if (value < least || value > most) {
            return i;
        }
        if (is_byte) {
            out[i] = (uint8_t)value;
        } else {
            uint16_t narrow = (uint16_t)value;
            memcpy(out + i * 2, &narrow, sizeof narrow);
        }
    }
    return n;
}

/* Months, days and milliseconds, unsigned, to months, days and nanoseconds. */
static size_t convert_interval(const uint8_t *in, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = in + i * PARQUET_INTERVAL_BYTES;
        if (load_i32(p) < 0 || load_i32(p + 4) < 0) {
            return i;
        }
        memcpy(out + i * 16, p, 8);
        store_i64(out + i * 16 + 8, (int64_t)frz_load_le32(p + 8) * NANOS_PER_MILLI);
    }
    return n;
}

static size_t convert_wide(const uint8_t *in, size_t in_width, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int64_t value = in_width == 4 ? load_i32(in + i * 4) : load_i64(in + i * 8);
        store_i64(out + i * DECIMAL256_BYTES, value);
        memset(out + i * DECIMAL256_BYTES + 8, value < 0 ? 0xFF : 0, DECIMAL256_BYTES - 8);
    }
    return n;
}

size_t parquet_convert(parquet_conversion conversion, size_t width, const uint8_t *in, size_t n,
                       uint8_t *out)
{
    switch (conversion) {
    case PARQUET_COPY:
        memcpy(out, in, n * width);
        return n;
    case PARQUET_U64_I64:
        return convert_unsigned(in, n, out);
    case PARQUET_MS64_US:
        return convert_scaled(in, 8, MICROS_PER_MILLI, n, out);
    case PARQUET_DATE_NS:
        return convert_scaled(in, 4, NANOS_PER_DAY, n, out);
    case PARQUET_INT96_US:
        return convert_int96(in, n, out);
    case PARQUET_FIXED_DECIMAL:
        return convert_fixed_decimal(in, width, n, out, DECIMAL_BYTES);
    case PARQUET_FIXED_DECIMAL256:
        return convert_fixed_decimal(in, width, n, out, DECIMAL256_BYTES);
    case PARQUET_I32_DECIMAL256:
    case PARQUET_I64_DECIMAL256:
        return convert_wide(in, width, n, out);
    case PARQUET_I32_I8:
    case PARQUET_I32_I16:
    case PARQUET_I32_U8:
    case PARQUET_I32_U16:
        return convert_narrow(conversion, in, n, out);
    case PARQUET_INTERVAL:
        return convert_interval(in, n, out);
    default:
        convert_total(conversion, in, n, out);
        return n;
    }
}

size_t parquet_convert_views(parquet_conversion conversion, const frz_str *in, size_t n,
                             uint8_t *out)
{
    assert(conversion == PARQUET_BYTES_DECIMAL || conversion == PARQUET_BYTES_DECIMAL256);
    size_t size = conversion == PARQUET_BYTES_DECIMAL ? DECIMAL_BYTES : DECIMAL256_BYTES;
    for (size_t i = 0; i < n; i++) {
        if (!decimal_from_bytes((const uint8_t *)in[i].ptr, in[i].len, out + i * size, size)) {
            return i;
        }
    }
    return n;
}
