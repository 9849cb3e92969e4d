/*
 * Values in the binary form of bounds in manifests of versions 1 to 3.
 * spec: appendix D, binary single-value serialization; type promotion
 */
#include "type/type_internal.h"

/* 32 bits, or 64. */
static bool read_integer(frz_str bytes, int64_t *out)
{
    if (bytes.len == sizeof(int32_t)) {
        *out = (int32_t)frz_load_le32(bytes.ptr);
        return true;
    }
    *out = bytes.len == sizeof(int64_t) ? (int64_t)frz_load_le64(bytes.ptr) : 0;
    return bytes.len == sizeof(int64_t);
}

/* A date that became a timestamp counts days. */
static bool read_timestamp(const frz_type *type, frz_str bytes, frz_value *out)
{
    if (bytes.len == sizeof(int64_t)) {
        out->as.i64 = (int64_t)frz_load_le64(bytes.ptr);
        return true;
    }
    frz_value date = {.type = frz_type_primitive(FRZ_TYPE_DATE)};
    if (bytes.len != sizeof(int32_t) || !frz_type_promotes(date.type, type)) {
        return false;
    }
    date.as.i32 = (int32_t)frz_load_le32(bytes.ptr);
    return frz_value_promote(&date, type, out, NULL) == FRZ_OK;
}

static bool read_double(frz_str bytes, double *out)
{
    if (bytes.len == sizeof(float)) {
        float narrow;
        memcpy(&narrow, bytes.ptr, sizeof narrow);
        *out = (double)narrow;
        return true;
    }
    if (bytes.len != sizeof *out) {
        return false;
    }
    memcpy(out, bytes.ptr, sizeof *out);
    return true;
}

/* Two's complement, big-endian, as long as it was written. */
static bool read_decimal(frz_str bytes, frz_i128 *out)
{
    const uint8_t *p = (const uint8_t *)bytes.ptr;
    size_t extra = bytes.len > sizeof *out ? bytes.len - sizeof *out : 0;
    if (bytes.len == 0) {
        return false;
    }
    uint8_t sign = (p[extra] & 0x80) != 0 ? 0xFF : 0;
    for (size_t i = 0; i < extra; i++) {
        if (p[i] != sign) {
            return false;
        }
    }
    unsigned __int128 value = sign != 0 ? ~(unsigned __int128)0 : 0;
    for (size_t i = extra; i < bytes.len; i++) {
        value = value << 8 | p[i];
    }
    *out = (frz_i128)value;
    return true;
}

static bool read_bytes(frz_str bytes, size_t len, frz_str *out)
{
    *out = bytes;
    return bytes.len == len;
}

bool frz_value_from_binary(const frz_type *type, frz_str bytes, frz_value *out)
{
    int64_t integer = 0;
    *out = (frz_value){.type = type};
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        out->as.boolean = bytes.len == 1 && bytes.ptr[0] != 0;
        return bytes.len == 1;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        out->as.i32 = bytes.len == sizeof(int32_t) ? (int32_t)frz_load_le32(bytes.ptr) : 0;
        return bytes.len == sizeof(int32_t);
    case FRZ_TYPE_LONG:
        if (!read_integer(bytes, &integer)) {
            return false;
        }
        out->as.i64 = integer;
        return true;
    case FRZ_TYPE_TIME:
        out->as.i64 = bytes.len == sizeof(int64_t) ? (int64_t)frz_load_le64(bytes.ptr) : 0;
        return bytes.len == sizeof(int64_t);
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return read_timestamp(type, bytes, out);
    case FRZ_TYPE_FLOAT:
        memcpy(&out->as.f32, bytes.ptr, bytes.len == sizeof(float) ? sizeof(float) : 0);
        return bytes.len == sizeof(float);
    case FRZ_TYPE_DOUBLE:
        return read_double(bytes, &out->as.f64);
    case FRZ_TYPE_DECIMAL:
        return read_decimal(bytes, &out->as.i128);
    case FRZ_TYPE_UUID:
        return read_bytes(bytes, 16, &out->as.bytes);
    case FRZ_TYPE_FIXED:
        return read_bytes(bytes, (size_t)type->length, &out->as.bytes);
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
        out->as.bytes = bytes;
        return true;
    default:
        return false; /* bounds of these types are no single values */
    }
}
