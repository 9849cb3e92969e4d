/*
 * Values of Arrow arrays in PLAIN form: little-endian numbers, byte strings after their length,
 * decimals narrowed to the integer or the big-endian bytes that the file stores. Booleans take a
 * byte each here and are packed when their page is written.
 */
#include "format/parquet/parquet_write.h"

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
    for (size_t i = 0; i < count; i++) {
        out->data[out->len + i] = frz_get_bool(array, place_at(places, first, i));
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

static frz_code append_strings(const struct ArrowArray *array, const int64_t *places, int64_t first,
                               size_t count, frz_buf *out, frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        frz_str s = frz_get_bytes(array, place_at(places, first, i));
        frz_code rc = frz_buf_reserve(out, 4 + s.len, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        frz_store_le32(out->data + out->len, (uint32_t)s.len);
        if (s.len > 0) {
            memcpy(out->data + out->len + 4, s.ptr, s.len);
        }
        out->len += 4 + s.len;
    }
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
        for (size_t i = leaf->width; i-- > 0; value >>= 8) {
            out[i] = (uint8_t)value;
        }
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
    if (leaf->physical == PARQUET_BOOLEAN) {
        append_bools(array, places, first, count, out);
    } else {
        append_fixed(array, leaf->width, places, first, count, out);
    }
    return FRZ_OK;
}
