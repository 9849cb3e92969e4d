/*
 * Making variants: values are appended to a buffer, and what belongs into an object or an array is
 * closed by putting the head in front of it.
 */
#include <stdlib.h>

#include "type/type_internal.h"
#include "type/type_variant.h"

#define SHORT_STRING_MAX 63

static frz_code put_head(frz_buf *out, int kind, frz_error *err)
{
    return frz_buf_append_byte(out, (uint8_t)(kind << 2), err);
}

/* A primitive whose bytes are those of memory. */
static frz_code put_primitive(frz_buf *out, frz_variant_kind kind, const void *data, size_t size,
                              frz_error *err)
{
    frz_code rc = put_head(out, (int)kind, err);
    return rc == FRZ_OK ? frz_buf_append(out, data, size, err) : rc;
}

frz_code frz_variant_put_null(frz_buf *out, frz_error *err)
{
    return put_head(out, FRZ_VARIANT_NULL, err);
}

static frz_code put_bytes(frz_buf *out, frz_variant_kind kind, frz_str bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (bytes.len > UINT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "variant: a value of %zu bytes is too large", bytes.len);
    }
    uint32_t len = (uint32_t)bytes.len;
    if (kind == FRZ_VARIANT_STRING && len <= SHORT_STRING_MAX) {
        FRZ_TRY(frz_buf_append_byte(out, (uint8_t)(len << 2 | 1), err));
    } else {
        FRZ_TRY(put_primitive(out, kind, &len, sizeof len, err));
    }
    FRZ_TRY(frz_buf_append(out, bytes.ptr, bytes.len, err));
out:
    return rc;
}

static frz_code put_decimal(frz_buf *out, const frz_value *value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t precision = value->type->precision;
    size_t size = precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
    frz_variant_kind kind = size == 4   ? FRZ_VARIANT_DECIMAL4
                            : size == 8 ? FRZ_VARIANT_DECIMAL8
                                        : FRZ_VARIANT_DECIMAL16;
    FRZ_TRY(put_head(out, (int)kind, err));
    FRZ_TRY(frz_buf_append_byte(out, (uint8_t)value->type->scale, err));
    FRZ_TRY(frz_buf_append(out, &value->as.i128, size, err));
out:
    return rc;
}

/* Types whose bytes in memory are those of a variant; size 0: another type. */
static const struct {
    frz_variant_kind kind;
    size_t size;
} plain_types[] = {
    [FRZ_TYPE_INT] = {FRZ_VARIANT_INT32, 4},
    [FRZ_TYPE_LONG] = {FRZ_VARIANT_INT64, 8},
    [FRZ_TYPE_FLOAT] = {FRZ_VARIANT_FLOAT, 4},
    [FRZ_TYPE_DOUBLE] = {FRZ_VARIANT_DOUBLE, 8},
    [FRZ_TYPE_DATE] = {FRZ_VARIANT_DATE, 4},
    [FRZ_TYPE_TIME] = {FRZ_VARIANT_TIME, 8},
    [FRZ_TYPE_TIMESTAMP] = {FRZ_VARIANT_TIMESTAMP, 8},
    [FRZ_TYPE_TIMESTAMPTZ] = {FRZ_VARIANT_TIMESTAMPTZ, 8},
    [FRZ_TYPE_TIMESTAMP_NS] = {FRZ_VARIANT_TIMESTAMP_NS, 8},
    [FRZ_TYPE_TIMESTAMPTZ_NS] = {FRZ_VARIANT_TIMESTAMPTZ_NS, 8},
};

frz_code frz_variant_put_value(frz_buf *out, const frz_value *value, frz_error *err)
{
    char text[80];
    const frz_type *type = value->type;
    assert(!value->is_null);
    if (type->id < FRZ_ARRAY_COUNT(plain_types) && plain_types[type->id].size > 0) {
        return put_primitive(out, plain_types[type->id].kind, &value->as,
                             plain_types[type->id].size, err);
    }
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        return put_head(out, value->as.boolean ? FRZ_VARIANT_TRUE : FRZ_VARIANT_FALSE, err);
    case FRZ_TYPE_DECIMAL:
        return put_decimal(out, value, err);
    case FRZ_TYPE_STRING:
        return put_bytes(out, FRZ_VARIANT_STRING, value->as.bytes, err);
    case FRZ_TYPE_BINARY:
        return put_bytes(out, FRZ_VARIANT_BINARY, value->as.bytes, err);
    case FRZ_TYPE_UUID:
        return put_primitive(out, FRZ_VARIANT_UUID, value->as.bytes.ptr, 16, err);
    case FRZ_TYPE_FOREIGN:
        if (type->foreign == FRZ_FOREIGN_INT8) {
            return put_primitive(out, FRZ_VARIANT_INT8, &value->as, 1, err);
        }
        if (type->foreign == FRZ_FOREIGN_INT16) {
            return put_primitive(out, FRZ_VARIANT_INT16, &value->as, 2, err);
        }
        break;
    default:
        break;
    }
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: variant of %s",
                    frz_type_text(type, text, sizeof text));
}

/* ---- objects and arrays ---- */

static size_t width_of(size_t largest)
{
    return largest < 1u << 8 ? 1 : largest < 1u << 16 ? 2 : largest < 1u << 24 ? 3 : 4;
}

static void store(uint8_t *at, size_t value, size_t width)
{
    memcpy(at, &value, width);
}

/* The head of an object (id_width > 0) or array, in front of its values. */
static frz_code put_container(frz_buf *out, size_t start, const frz_variant_part *parts,
                              size_t count, size_t id_width, frz_error *err)
{
    size_t end = out->len - start;
    size_t offset_width = width_of(end);
    size_t count_width = count > UINT8_MAX ? 4 : 1;
    if (end > UINT32_MAX || count > UINT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "variant: a value of %zu bytes is too large", end);
    }
    size_t head = 1 + count_width + count * (id_width + offset_width) + offset_width;
    frz_code rc = frz_buf_reserve(out, head, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *at = out->data + start;
    memmove(at + head, at, end);
    out->len += head;
    *at++ = (uint8_t)(id_width > 0 ? (size_t)(count_width == 4) << 6 | (id_width - 1) << 4 |
                                         (offset_width - 1) << 2 | 2
                                   : (size_t)(count_width == 4) << 4 | (offset_width - 1) << 2 | 3);
    store(at, count, count_width);
    at += count_width;
    for (size_t i = 0; i < count && id_width > 0; i++, at += id_width) {
        store(at, parts[i].id, id_width);
    }
    for (size_t i = 0; i < count; i++, at += offset_width) {
        store(at, parts[i].offset, offset_width);
    }
    store(at, end, offset_width);
    return FRZ_OK;
}

frz_code frz_variant_close_array(frz_buf *out, size_t start, const frz_variant_part *parts,
                                 size_t count, frz_error *err)
{
    return put_container(out, start, parts, count, 0, err);
}

static int compare_parts(const void *a, const void *b)
{
    return frz_str_compare(((const frz_variant_part *)a)->name,
                           ((const frz_variant_part *)b)->name);
}

frz_code frz_variant_close_object(frz_buf *out, size_t start, frz_variant_part *parts, size_t count,
                                  frz_error *err)
{
    uint32_t largest = 0;
    if (count > 0) {
        qsort(parts, count, sizeof *parts, compare_parts);
    }
    for (size_t i = 0; i < count; i++) {
        largest = FRZ_MAX(largest, parts[i].id);
        if (i > 0 && frz_str_equal(parts[i].name, parts[i - 1].name)) {
            return frz_fail(err, FRZ_E_CORRUPT, "variant: field \"%.*s\" is there twice",
                            FRZ_STR_ARG(parts[i].name));
        }
    }
    return put_container(out, start, parts, count, width_of(largest), err);
}
