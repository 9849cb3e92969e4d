/*
 * DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY: lengths apart from bytes, and what a value has in
 * common with the one before it left out. Input is values in PLAIN form.
 */
#include "format/parquet/parquet_write.h"

/* A value in PLAIN form: its bytes, and what it takes with its length. */
static inline frz_str value_at(const uint8_t *p, size_t width, size_t *size)
{
    if (width != 0) {
        *size = width;
        return (frz_str){(const char *)p, width};
    }
    uint32_t len = frz_load_le32(p);
    *size = 4 + (size_t)len;
    return (frz_str){(const char *)p + 4, len};
}

frz_code parquet_encode_delta_length(const uint8_t *values, size_t count, frz_buf *room,
                                     frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *p = values;
    size_t total = 0;
    size_t size;
    frz_buf_clear(room);
    FRZ_TRY(frz_buf_reserve(room, count * 4, err));
    for (size_t i = 0; i < count; i++, p += size) {
        frz_str v = value_at(p, 0, &size);
        frz_store_le32(room->data + 4 * i, (uint32_t)v.len);
        total += v.len;
    }
    FRZ_TRY(parquet_encode_delta(room->data, count, 4, out, err));
    FRZ_TRY(frz_buf_reserve(out, total, err));
    p = values;
    for (size_t i = 0; i < count; i++, p += size) {
        frz_str v = value_at(p, 0, &size);
        if (v.len > 0) {
            memcpy(out->data + out->len, v.ptr, v.len);
        }
        out->len += v.len;
    }
out:
    return rc;
}

static size_t common_prefix(frz_str a, frz_str b)
{
    size_t most = FRZ_MIN(a.len, b.len);
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t differs = frz_load_le64(a.ptr + n) ^ frz_load_le64(b.ptr + n);
        if (differs != 0) {
            return n + (size_t)__builtin_ctzll(differs) / 8;
        }
    }
    while (n < most && a.ptr[n] == b.ptr[n]) {
        n++;
    }
    return n;
}

frz_code parquet_encode_delta_bytes(const uint8_t *values, size_t count, size_t width,
                                    frz_buf *room, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *p = values;
    frz_str last = {"", 0};
    size_t total = 0;
    size_t size;
    frz_buf_clear(room);
    FRZ_TRY(frz_buf_reserve(room, count * 8, err));
    uint8_t *prefixes = room->data;
    uint8_t *suffixes = room->data + 4 * count;
    for (size_t i = 0; i < count; i++, p += size) {
        frz_str v = value_at(p, width, &size);
        size_t prefix = common_prefix(last, v);
        frz_store_le32(prefixes + 4 * i, (uint32_t)prefix);
        frz_store_le32(suffixes + 4 * i, (uint32_t)(v.len - prefix));
        total += v.len - prefix;
        last = v;
    }
    FRZ_TRY(parquet_encode_delta(prefixes, count, 4, out, err));
    FRZ_TRY(parquet_encode_delta(suffixes, count, 4, out, err));
    FRZ_TRY(frz_buf_reserve(out, total, err));
    p = values;
    for (size_t i = 0; i < count; i++, p += size) {
        frz_str v = value_at(p, width, &size);
        size_t len = frz_load_le32(suffixes + 4 * i);
        if (len > 0) {
            memcpy(out->data + out->len, v.ptr + (v.len - len), len);
        }
        out->len += len;
    }
out:
    return rc;
}
