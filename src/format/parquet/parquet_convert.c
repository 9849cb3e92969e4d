/*
 * From the file's physical and logical types to the types of the request: which conversion a column
 * needs, and the loops that do it. Conversions that can fail say at which value.
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
#define INTERVAL_BYTES 12

/* ---- choosing ---- */

static bool is_micros(const frz_type *t)
{
    return t->id == FRZ_TYPE_TIMESTAMP || t->id == FRZ_TYPE_TIMESTAMPTZ;
}

/* Decimals widen in precision only. */
static bool choose_decimal(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    if (to->id != FRZ_TYPE_DECIMAL || to->scale != e->scale || to->precision < e->precision) {
        return false;
    }
    switch (e->physical) {
    case PARQUET_INT32:
        *out = PARQUET_I32_DECIMAL;
        return true;
    case PARQUET_INT64:
        *out = PARQUET_I64_DECIMAL;
        return true;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        *out = PARQUET_FIXED_DECIMAL;
        return e->type_length <= PARQUET_MAX_DECIMAL_WIDTH;
    case PARQUET_BYTE_ARRAY:
        *out = PARQUET_BYTES_DECIMAL;
        return true;
    default:
        return false;
    }
}

static bool choose_int32(const parquet_element *e, const frz_type *from, const frz_type *to,
                         parquet_conversion *out)
{
    if (e->logical == PARQUET_LOGICAL_TIME) {
        *out = PARQUET_MS32_US;
        return to->id == FRZ_TYPE_TIME;
    }
    if (e->logical == PARQUET_LOGICAL_DATE) {
        if (to->id == FRZ_TYPE_TIMESTAMP || to->id == FRZ_TYPE_TIMESTAMP_NS) {
            *out = to->id == FRZ_TYPE_TIMESTAMP ? PARQUET_DATE_US : PARQUET_DATE_NS;
            return true;
        }
        *out = PARQUET_COPY;
        return to->id == FRZ_TYPE_DATE;
    }
    if (to->id == FRZ_TYPE_LONG) {
        *out = from->id == FRZ_TYPE_LONG ? PARQUET_U32_I64 : PARQUET_I32_I64;
        return true;
    }
    *out = PARQUET_COPY;
    return from->id == FRZ_TYPE_INT && to->id == FRZ_TYPE_INT;
}

/* Writers before logical types did not say whether a timestamp is UTC: both are accepted then. */
static bool same_zone(const parquet_element *e, const frz_type *from, const frz_type *to)
{
    if (from->id == to->id) {
        return true;
    }
    return (e->from_converted || e->physical == PARQUET_INT96) && is_micros(from) && is_micros(to);
}

static bool choose_int64(const parquet_element *e, const frz_type *from, const frz_type *to,
                         parquet_conversion *out)
{
    *out = PARQUET_COPY;
    if (e->logical == PARQUET_LOGICAL_TIMESTAMP) {
        if (e->unit == PARQUET_MILLIS) {
            *out = PARQUET_MS64_US;
        }
        return same_zone(e, from, to);
    }
    if (e->logical == PARQUET_LOGICAL_INTEGER && e->bit_width == 64 && !e->is_signed) {
        *out = PARQUET_U64_I64;
    }
    return from->id == to->id;
}

static bool choose_floating(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    bool half = e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    if (to->id == FRZ_TYPE_FLOAT && e->physical != PARQUET_DOUBLE) {
        *out = half ? PARQUET_F16_F32 : PARQUET_COPY;
        return true;
    }
    *out = half ? PARQUET_F16_F64 : e->physical == PARQUET_FLOAT ? PARQUET_F32_F64 : PARQUET_COPY;
    return to->id == FRZ_TYPE_DOUBLE;
}

static bool choose_bytes(const frz_type *to, parquet_conversion *out)
{
    /* the annotation is often missing, so that text and bytes are read as either */
    *out = to->id == FRZ_TYPE_STRING ? PARQUET_TEXT : PARQUET_BYTES;
    return to->id == FRZ_TYPE_STRING || to->id == FRZ_TYPE_BINARY;
}

static bool choose_fixed(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    *out = PARQUET_COPY;
    return (to->id == FRZ_TYPE_UUID && e->type_length == 16) ||
           (to->id == FRZ_TYPE_FIXED && to->length == e->type_length);
}

static bool choose(const parquet_node *node, const frz_type *to, parquet_conversion *out)
{
    const parquet_element *e = node->element;
    if (node->type->id == FRZ_TYPE_DECIMAL) {
        return choose_decimal(e, to, out);
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        *out = PARQUET_COPY;
        return to->id == FRZ_TYPE_BOOLEAN;
    case PARQUET_INT32:
        return choose_int32(e, node->type, to, out);
    case PARQUET_INT64:
        return choose_int64(e, node->type, to, out);
    case PARQUET_INT96:
        *out = PARQUET_INT96_US;
        return is_micros(to);
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        return choose_floating(e, to, out);
    case PARQUET_BYTE_ARRAY:
        return choose_bytes(to, out);
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return node->type->id == FRZ_TYPE_FLOAT ? choose_floating(e, to, out)
                                                : choose_fixed(e, to, out);
    case PARQUET_NO_PHYSICAL:
    default:
        return false;
    }
}

/* How a decimal of more than 38 digits is read. */
static parquet_conversion wide_decimal(const parquet_element *e)
{
    switch (e->physical) {
    case PARQUET_INT32:
        return PARQUET_I32_DECIMAL256;
    case PARQUET_INT64:
        return PARQUET_I64_DECIMAL256;
    case PARQUET_BYTE_ARRAY:
        return PARQUET_BYTES_DECIMAL256;
    default:
        return PARQUET_FIXED_DECIMAL256;
    }
}

/* How a column becomes its own native type. */
static parquet_conversion choose_foreign(const parquet_element *e, const frz_type *native)
{
    switch (native->foreign) {
    case FRZ_FOREIGN_INT8:
        return PARQUET_I32_I8;
    case FRZ_FOREIGN_INT16:
        return PARQUET_I32_I16;
    case FRZ_FOREIGN_UINT8:
        return PARQUET_I32_U8;
    case FRZ_FOREIGN_UINT16:
        return PARQUET_I32_U16;
    case FRZ_FOREIGN_INTERVAL:
        return PARQUET_INTERVAL;
    case FRZ_FOREIGN_DECIMAL256:
        return wide_decimal(e);
    default:
        return PARQUET_COPY;
    }
}

/* Native types without an Iceberg type beside them: foreign ones, and storage as it is. */
static bool choose_native(const parquet_node *node, const frz_type *to, parquet_conversion *out)
{
    frz_type native = parquet_native_leaf(node->element);
    if (!frz_type_equal(&native, to)) {
        return false;
    }
    if (to->id == FRZ_TYPE_FOREIGN) {
        *out = choose_foreign(node->element, to);
        return true;
    }
    if (node->unsupported == NULL) {
        return false; /* as Iceberg reads it */
    }
    *out = to->id == FRZ_TYPE_STRING   ? PARQUET_TEXT
           : to->id == FRZ_TYPE_BINARY ? PARQUET_BYTES
                                       : PARQUET_COPY;
    return to->id != FRZ_TYPE_UNKNOWN;
}

frz_code parquet_conversion_choose(const parquet_node *node, const frz_type *to,
                                   parquet_conversion *out, frz_error *err)
{
    char from_text[64];
    char to_text[64];
    if (choose_native(node, to, out)) {
        return FRZ_OK;
    }
    if (node->unsupported != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%s\" is %s", node->path,
                        node->unsupported);
    }
    if (!frz_type_is_nested(node->type) && choose(node, to, out)) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\" is %s in the file and is to be read as %s",
                    node->path, frz_type_text(node->type, from_text, sizeof from_text),
                    frz_type_text(to, to_text, sizeof to_text));
}

const char *parquet_conversion_problem(parquet_conversion conversion)
{
    switch (conversion) {
    case PARQUET_U64_I64:
        return "an unsigned value is too large for long";
    case PARQUET_MS64_US:
    case PARQUET_MS32_US:
        return "a time in milliseconds is too large in microseconds";
    case PARQUET_INT96_US:
        return "an INT96 timestamp is out of range";
    case PARQUET_DATE_US:
    case PARQUET_DATE_NS:
        return "a date is out of the range of timestamps";
    case PARQUET_FIXED_DECIMAL:
    case PARQUET_BYTES_DECIMAL:
        return "a decimal has more than 38 digits";
    case PARQUET_FIXED_DECIMAL256:
    case PARQUET_BYTES_DECIMAL256:
        return "a decimal has more than 76 digits";
    case PARQUET_I32_I8:
    case PARQUET_I32_I16:
    case PARQUET_I32_U8:
    case PARQUET_I32_U16:
        return "an integer is larger than its annotation allows";
    case PARQUET_INTERVAL:
        return "an interval has more than 2147483647 months or days";
    default:
        return "a value does not fit its type";
    }
}

/* ---- the loops ---- */

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

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 0x1F;
    uint32_t mantissa = half & 0x3FF;
    uint32_t bits;
    if (exponent == 0x1F) {
        bits = sign | 0x7F800000u | mantissa << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    } else {
        float value = (float)mantissa * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
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

static void store_i128(uint8_t *out, int64_t value)
{
    frz_i128 wide = value;
    memcpy(out, &wide, sizeof wide);
}

/* Conversions of one value that cannot fail. */
static size_t convert_total(parquet_conversion conversion, const uint8_t *in, size_t n,
                            uint8_t *out)
{
    float f;
    double d;
    for (size_t i = 0; i < n; i++) {
        switch (conversion) {
        case PARQUET_I32_I64:
            store_i64(out + i * 8, load_i32(in + i * 4));
            break;
        case PARQUET_U32_I64:
            store_i64(out + i * 8, frz_load_le32(in + i * 4));
            break;
        case PARQUET_F32_F64:
            memcpy(&f, in + i * 4, sizeof f);
            d = (double)f;
            memcpy(out + i * 8, &d, sizeof d);
            break;
        case PARQUET_F16_F32:
            f = half_to_float(frz_load_le16(in + i * 2));
            memcpy(out + i * 4, &f, sizeof f);
            break;
        case PARQUET_F16_F64:
            d = (double)half_to_float(frz_load_le16(in + i * 2));
            memcpy(out + i * 8, &d, sizeof d);
            break;
        case PARQUET_MS32_US:
            store_i64(out + i * 8, (int64_t)load_i32(in + i * 4) * MICROS_PER_MILLI);
            break;
        case PARQUET_DATE_US:
            store_i64(out + i * 8, (int64_t)load_i32(in + i * 4) * MICROS_PER_DAY);
            break;
        case PARQUET_I32_DECIMAL:
            store_i128(out + i * DECIMAL_BYTES, load_i32(in + i * 4));
            break;
        case PARQUET_I64_DECIMAL:
        default:
            store_i128(out + i * DECIMAL_BYTES, load_i64(in + i * 8));
            break;
        }
    }
    return n;
}

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
        if (!int96_to_micros(in + i * 12, &micros)) {
            return i;
        }
        store_i64(out + i * 8, micros);
    }
    return n;
}

static size_t convert_fixed_decimal(const uint8_t *in, size_t width, size_t n, uint8_t *out,
                                    size_t size)
{
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
        const uint8_t *p = in + i * INTERVAL_BYTES;
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
        return convert_total(conversion, in, n, out);
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
