/*
 * Values of Arrow arrays in PLAIN form: little-endian numbers, byte strings after their length,
 * decimals narrowed to the integer or the big-endian bytes that the file stores. Booleans take a
 * byte each here and are packed when their page is written.
 */
#include "format/parquet/parquet_kernels.h"
#include "format/parquet/parquet_write.h"

#define NANOS_PER_MILLI 1000000

size_t parquet_plain_size(const parquet_write_leaf *leaf, const struct ArrowArray *array, int64_t i)
{
    return leaf->width != 0 ? leaf->width : 4 + frz_get_bytes(array, i).len;
}

static inline int64_t place_at(const int64_t *places, int64_t first, size_t i)
{
    return places != NULL ? places[i] : first + (int64_t)i;
}

static void append_bools(const struct ArrowArray *array, const int64_t *places, int64_t first,
                         size_t count, frz_buf *out)
{
    uint8_t *to = out->data + out->len;
    size_t i = 0;
    /* the last bits come one by one, since behind their byte there may be none */
    for (; places == NULL && i + 16 <= count; i += 8) {
        int64_t at = array->offset + first + (int64_t)i;
        const uint8_t *p = (const uint8_t *)array->buffers[1] + at / 8;
        frz_store_le64(to + i, parquet_bytes_of_bits(frz_load_le16(p) >> at % 8 & UINT8_MAX));
    }
    for (; i < count; i++) {
        to[i] = frz_get_bool(array, place_at(places, first, i));
    }
    out->len += count;
}

static inline void gather(const uint8_t *values, const int64_t *places, size_t count, size_t width,
                          uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        memcpy(out + i * width, values + (size_t)places[i] * width, width);
    }
}

/* Values that lie in the array as they do in the file. */
static void append_fixed(const struct ArrowArray *array, size_t width, const int64_t *places,
                         int64_t first, size_t count, frz_buf *out)
{
    const uint8_t *values = (const uint8_t *)array->buffers[1] + (size_t)array->offset * width;
    uint8_t *to = out->data + out->len;
    if (places == NULL) {
        memcpy(to, values + (size_t)first * width, count * width);
    } else if (width == 8) {
        gather(values, places, count, 8, to);
    } else if (width == 4) {
        gather(values, places, count, 4, to);
    } else {
        gather(values, places, count, width, to);
    }
    out->len += count * width;
}

/* Bytes of the strings of some rows. */
static size_t string_bytes(const int32_t *offsets, const int64_t *places, int64_t first,
                           size_t count)
{
    size_t bytes = 0;
    if (places == NULL) {
        return (size_t)(offsets[first + (int64_t)count] - offsets[first]);
    }
    for (size_t i = 0; i < count; i++) {
        bytes += (size_t)(offsets[places[i] + 1] - offsets[places[i]]);
    }
    return bytes;
}

#define SHORT_STRING 16
_Static_assert(SHORT_STRING <= PARQUET_PLAIN_SLACK && PARQUET_PICK_SLACK <= PARQUET_PLAIN_SLACK,
               "what is written behind the end has room");

/* Lengths before bytes, one after the other. Short strings are copied by a fixed number of bytes,
 * where both sides have as many. */
static frz_code append_strings(const struct ArrowArray *array, const int64_t *places, int64_t first,
                               size_t count, frz_buf *out, frz_error *err)
{
    const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset;
    const uint8_t *bytes = array->buffers[2];
    const int32_t end = offsets[place_at(places, first, count - 1) + 1];
    size_t total = string_bytes(offsets, places, first, count) + 4 * count;
    frz_code rc = frz_buf_reserve(out, total + PARQUET_PLAIN_SLACK, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *to = out->data + out->len;
    for (size_t i = 0; i < count; i++) {
        int64_t row = place_at(places, first, i);
        size_t len = (size_t)(offsets[row + 1] - offsets[row]);
        frz_store_le32(to, (uint32_t)len);
        if (len <= SHORT_STRING && end - offsets[row] >= SHORT_STRING) {
            memcpy(to + 4, bytes + offsets[row], SHORT_STRING);
        } else if (len > 0) {
            memcpy(to + 4, bytes + offsets[row], len);
        }
        to += 4 + len;
    }
    out->len += total;
    return FRZ_OK;
}

static frz_i128 power_of_ten(int32_t digits)
{
    frz_i128 power = 1;
    for (int32_t i = 0; i < digits; i++) {
        power *= 10;
    }
    return power;
}

/* The low width bytes of a number, the highest first. */
static void store_big_endian(frz_i128 value, size_t width, uint8_t *out)
{
    uint8_t all[16];
    frz_store_le64(all, __builtin_bswap64((uint64_t)(value >> 64)));
    frz_store_le64(all + 8, __builtin_bswap64((uint64_t)value));
    memcpy(out, all + sizeof all - width, width);
}

static void store_decimal(const parquet_write_leaf *leaf, frz_i128 value, uint8_t *out)
{
    switch (leaf->physical) {
    case PARQUET_INT32:
        frz_store_le32(out, (uint32_t)value);
        break;
    case PARQUET_INT64:
        frz_store_le64(out, (uint64_t)value);
        break;
    default:
        store_big_endian(value, leaf->width, out);
    }
}

static frz_code append_decimals(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                                const int64_t *places, int64_t first, size_t count, frz_buf *out,
                                frz_error *err)
{
    const frz_type *type = leaf->field->type;
    const uint8_t *values = (const uint8_t *)array->buffers[1] + (size_t)array->offset * 16;
    const frz_i128 limit = power_of_ten(type->precision);
    for (size_t i = 0; i < count; i++) {
        frz_i128 value;
        memcpy(&value, values + (size_t)place_at(places, first, i) * 16, 16);
        if (value >= limit || value <= -limit) {
            char text[64];
            frz_decimal_text(value, type->scale, text);
            return frz_fail(err, FRZ_E_ARGUMENT, "value %s does not fit decimal(%d,%d)", text,
                            type->precision, type->scale);
        }
        store_decimal(leaf, value, out->data + out->len);
        out->len += leaf->width;
    }
    return FRZ_OK;
}

/* ---- types that Iceberg lacks ---- */

static void append_narrow(frz_foreign_type type, const struct ArrowArray *array,
                          const int64_t *places, int64_t first, size_t count, frz_buf *out)
{
    const uint8_t *bytes = (const uint8_t *)array->buffers[1] + array->offset;
    const uint16_t *shorts = (const uint16_t *)array->buffers[1] + array->offset;
    for (size_t i = 0; i < count; i++) {
        int64_t place = place_at(places, first, i);
        int32_t value = type == FRZ_FOREIGN_INT8    ? (int8_t)bytes[place]
                        : type == FRZ_FOREIGN_UINT8 ? bytes[place]
                        : type == FRZ_FOREIGN_INT16 ? (int16_t)shorts[place]
                                                    : shorts[place];
        frz_store_le32(out->data + out->len, (uint32_t)value);
        out->len += 4;
    }
}

typedef struct interval {
    int32_t months, days;
    int64_t nanos;
} interval;

static interval load_interval(const struct ArrowArray *array, int64_t place)
{
    interval value;
    memcpy(&value, (const uint8_t *)array->buffers[1] + (size_t)(array->offset + place) * 16, 16);
    return value;
}

/* The format's intervals are unsigned and end at milliseconds. */
static bool interval_fits(interval v)
{
    return v.months >= 0 && v.days >= 0 && v.nanos >= 0 && v.nanos % NANOS_PER_MILLI == 0 &&
           v.nanos / NANOS_PER_MILLI <= UINT32_MAX;
}

static frz_code append_intervals(const struct ArrowArray *array, const int64_t *places,
                                 int64_t first, size_t count, frz_buf *out, frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        interval v = load_interval(array, place_at(places, first, i));
        if (!interval_fits(v)) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "an interval of %d months, %d days and %lld nanoseconds: Parquet's are "
                            "not negative and of whole milliseconds",
                            v.months, v.days, (long long)v.nanos);
        }
        uint8_t *to = out->data + out->len;
        frz_store_le32(to, (uint32_t)v.months);
        frz_store_le32(to + 4, (uint32_t)v.days);
        frz_store_le32(to + 8, (uint32_t)(v.nanos / NANOS_PER_MILLI));
        out->len += PARQUET_INTERVAL_BYTES;
    }
    return FRZ_OK;
}

/* 256 bits, least significant first. */
typedef struct wide {
    uint64_t words[4];
} wide;

static wide wide_power_of_ten(int32_t digits)
{
    wide power = {{1, 0, 0, 0}};
    for (int32_t i = 0; i < digits; i++) {
        unsigned __int128 carry = 0;
        for (size_t w = 0; w < 4; w++) {
            carry += (unsigned __int128)power.words[w] * 10;
            power.words[w] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    return power;
}

/* The absolute value is less than the limit. */
static bool wide_fits(wide value, const wide *limit)
{
    if ((value.words[3] >> 63) != 0) {
        unsigned __int128 carry = 1;
        for (size_t w = 0; w < 4; w++) {
            carry += (uint64_t)~value.words[w];
            value.words[w] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    for (size_t w = 4; w-- > 0;) {
        if (value.words[w] != limit->words[w]) {
            return value.words[w] < limit->words[w];
        }
    }
    return false;
}

static wide load_wide(const struct ArrowArray *array, int64_t place)
{
    wide value;
    memcpy(&value, (const uint8_t *)array->buffers[1] + (size_t)(array->offset + place) * 32, 32);
    return value;
}

static frz_code append_wide_decimals(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                                     const int64_t *places, int64_t first, size_t count,
                                     frz_buf *out, frz_error *err)
{
    const frz_type *type = leaf->field->type;
    const wide limit = wide_power_of_ten(type->precision);
    for (size_t i = 0; i < count; i++) {
        wide value = load_wide(array, place_at(places, first, i));
        if (!wide_fits(value, &limit)) {
            return frz_fail(err, FRZ_E_ARGUMENT, "a value does not fit decimal(%d,%d)",
                            type->precision, type->scale);
        }
        uint8_t *to = out->data + out->len;
        for (size_t b = 0; b < leaf->width; b++) {
            to[leaf->width - 1 - b] = (uint8_t)(value.words[b / 8] >> (8 * (b % 8)));
        }
        out->len += leaf->width;
    }
    return FRZ_OK;
}

static frz_code append_foreign(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                               const int64_t *places, int64_t first, size_t count, frz_buf *out,
                               frz_error *err)
{
    frz_foreign_type type = leaf->field->type->foreign;
    switch (type) {
    case FRZ_FOREIGN_INT8:
    case FRZ_FOREIGN_INT16:
    case FRZ_FOREIGN_UINT8:
    case FRZ_FOREIGN_UINT16:
        append_narrow(type, array, places, first, count, out);
        return FRZ_OK;
    case FRZ_FOREIGN_INTERVAL:
        return append_intervals(array, places, first, count, out, err);
    case FRZ_FOREIGN_DECIMAL256:
        return append_wide_decimals(leaf, array, places, first, count, out, err);
    default:
        append_fixed(array, leaf->width, places, first, count, out);
        return FRZ_OK;
    }
}

bool parquet_plain_fits(const parquet_write_leaf *leaf, const struct ArrowArray *array, int64_t i)
{
    const frz_type *type = leaf->field->type;
    wide limit = wide_power_of_ten(type->precision);
    frz_i128 value;
    if (type->id == FRZ_TYPE_DECIMAL) {
        memcpy(&value, (const uint8_t *)array->buffers[1] + (size_t)(array->offset + i) * 16, 16);
        uint64_t sign = value < 0 ? UINT64_MAX : 0;
        wide widened = {{(uint64_t)value, (uint64_t)(value >> 64), sign, sign}};
        return wide_fits(widened, &limit);
    }
    if (type->id == FRZ_TYPE_FOREIGN && type->foreign == FRZ_FOREIGN_INTERVAL) {
        return interval_fits(load_interval(array, i));
    }
    if (type->id == FRZ_TYPE_FOREIGN && type->foreign == FRZ_FOREIGN_DECIMAL256) {
        return wide_fits(load_wide(array, i), &limit);
    }
    return true;
}

frz_code parquet_plain_append(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                              const int64_t *places, int64_t first, size_t count, frz_buf *out,
                              frz_error *err)
{
    size_t bytes;
    if (count == 0) {
        return FRZ_OK;
    }
    if (leaf->width == 0) {
        return append_strings(array, places, first, count, out, err);
    }
    if (!frz_mul_size(count, leaf->width, &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu values of %zu bytes", count, leaf->width);
    }
    frz_code rc = frz_buf_reserve(out, bytes, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (leaf->field->type->id == FRZ_TYPE_DECIMAL) {
        return append_decimals(leaf, array, places, first, count, out, err);
    }
    if (leaf->field->type->id == FRZ_TYPE_FOREIGN) {
        return append_foreign(leaf, array, places, first, count, out, err);
    }
    if (leaf->physical == PARQUET_BOOLEAN) {
        append_bools(array, places, first, count, out);
    } else {
        append_fixed(array, leaf->width, places, first, count, out);
    }
    return FRZ_OK;
}

/* ---- values of slots ---- */

#define SLOTS_AT_ONCE 512

/* The array has the values as the file wants them, and there is a loop that picks some. */
static bool is_picked(const parquet_write_leaf *leaf)
{
    const frz_type *type = leaf->field->type;
    bool converted = type->id == FRZ_TYPE_DECIMAL || type->id == FRZ_TYPE_FOREIGN;
    return (leaf->width == 4 || leaf->width == 8) && !converted;
}

static frz_code pick_slots(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                           const uint64_t *mask, size_t slots, int64_t first, frz_buf *out,
                           frz_error *err)
{
    const parquet_write_kernels *kernels = parquet_write_kernels_of(out->env);
    const size_t width = leaf->width;
    const uint8_t *values =
        (const uint8_t *)array->buffers[1] + (size_t)(array->offset + first) * width;
    const size_t words = (slots + 63) / 64;
    const size_t count = parquet_kernels_of(out->env)->ones(mask, words);
    frz_code rc = frz_buf_reserve(out, count * width + PARQUET_PICK_SLACK, err);
    if (rc == FRZ_OK) {
        uint8_t *to = out->data + out->len;
        out->len += width * (width == 4 ? kernels->pick_4(values, mask, words, to)
                                        : kernels->pick_8(values, mask, words, to));
    }
    return rc;
}

static frz_code append_slots(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                             const uint64_t *mask, size_t slots, int64_t first, frz_buf *out,
                             frz_error *err)
{
    int64_t places[SLOTS_AT_ONCE];
    size_t count = 0;
    for (size_t i = 0; i < (slots + 63) / 64; i++) {
        for (uint64_t left = mask[i]; left != 0; left &= left - 1) {
            places[count++] = first + (int64_t)(64 * i) + __builtin_ctzll(left);
        }
    }
    return parquet_plain_append(leaf, array, places, 0, count, out, err);
}

frz_code parquet_plain_append_slots(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                                    const uint8_t *def, size_t slots, int64_t first, frz_buf *out,
                                    frz_error *err)
{
    const parquet_kernels *kernels = parquet_kernels_of(out->env);
    uint64_t mask[SLOTS_AT_ONCE / 64];
    for (size_t i = 0; i < slots; i += SLOTS_AT_ONCE) {
        size_t n = FRZ_MIN(slots - i, (size_t)SLOTS_AT_ONCE);
        int64_t row = first + (int64_t)i;
        kernels->at_least(def + i, n, leaf->max_def, mask);
        frz_code rc = is_picked(leaf) ? pick_slots(leaf, array, mask, n, row, out, err)
                                      : append_slots(leaf, array, mask, n, row, out, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}
