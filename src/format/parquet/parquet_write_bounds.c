/*
 * Bounds as the file spells them, in the footer and in the page index alike: numbers in PLAIN form,
 * long byte strings cut, the upper one of a cut string raised above everything that starts with it.
 * spec: parquet.thrift, Statistics and ColumnOrder
 */
#include "format/parquet/parquet_write.h"

#define FIXED_MAX 1024 /* longer values of fixed length have no bounds */

/* ---- numbers ---- */

bool parquet_bound_is_float(parquet_bound_order order)
{
    return order == PARQUET_BOUND_HALF || order == PARQUET_BOUND_FLOAT ||
           order == PARQUET_BOUND_DOUBLE;
}

/* Zeros of both signs are equal for readers: the outer one is written. */
static int64_t outer_zero(parquet_bound_order order, int64_t key, bool upper)
{
    if (parquet_bound_is_float(order) && (key == 0 || key == -1)) {
        return upper ? 0 : -1; /* the keys of 0.0 and -0.0 */
    }
    return key;
}

uint64_t parquet_bound_bits(parquet_bound_order order, int64_t key)
{
    switch (order) {
    case PARQUET_BOUND_HALF:
        return parquet_half_key((uint16_t)key) & UINT16_MAX;
    case PARQUET_BOUND_FLOAT:
        return (uint32_t)parquet_float_key((uint32_t)key);
    case PARQUET_BOUND_DOUBLE:
        return (uint64_t)parquet_double_key((uint64_t)key);
    case PARQUET_BOUND_UINT64:
        return (uint64_t)parquet_uint64_key((uint64_t)key);
    default:
        return (uint64_t)key;
    }
}

static int64_t key_of(parquet_bound_order order, frz_str bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes.ptr, bytes.len);
    switch (order) {
    case PARQUET_BOUND_INT32:
        return (int32_t)bits;
    case PARQUET_BOUND_HALF:
        return parquet_half_key((uint16_t)bits);
    case PARQUET_BOUND_FLOAT:
        return parquet_float_key((uint32_t)bits);
    case PARQUET_BOUND_DOUBLE:
        return parquet_double_key(bits);
    case PARQUET_BOUND_UINT64:
        return parquet_uint64_key(bits);
    default:
        return (int64_t)bits;
    }
}

int parquet_bound_compare_encoded(parquet_bound_order order, frz_str a, frz_str b)
{
    if (order >= PARQUET_BOUND_BYTES) {
        return parquet_bound_compare(order, a, b);
    }
    int64_t x = key_of(order, a);
    int64_t y = key_of(order, b);
    return (x > y) - (x < y);
}

/* ---- strings ---- */

/* The longest prefix of at most max bytes that does not end inside a character. */
static size_t character_prefix(frz_str s, size_t max)
{
    size_t len = max;
    while (len > 0 && ((uint8_t)s.ptr[len] & 0xc0) == 0x80) {
        len--;
    }
    return len;
}

static size_t put_character(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}

static uint32_t get_character(const uint8_t *p, size_t len)
{
    static const uint8_t masks[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = p[0] & masks[len];
    for (size_t i = 1; i < len; i++) {
        c = c << 6 | (p[i] & 0x3fu);
    }
    return c;
}

/* Make a prefix of whole characters greater than everything that starts with it: its last
 * character that can grow does, what follows is dropped. 0 if none can. */
static size_t raise_characters(uint8_t *bytes, size_t len)
{
    while (len > 0) {
        size_t start = len - 1;
        while (start > 0 && (bytes[start] & 0xc0) == 0x80) {
            start--;
        }
        uint32_t c = get_character(bytes + start, len - start) + 1;
        c = c == 0xd800 ? 0xe000 : c; /* surrogates are no characters */
        uint8_t grown[4];
        size_t size = c > 0x10ffff ? 0 : put_character(grown, c);
        /* a longer form would pass the bound's length */
        if (size > 0 && start + size <= PARQUET_BOUND_MAX) {
            memcpy(bytes + start, grown, size);
            return start + size;
        }
        len = start;
    }
    return 0;
}

static size_t raise_bytes(uint8_t *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] == 0xff) {
        len--;
    }
    if (len > 0) {
        bytes[len - 1]++;
    }
    return len;
}

static void string_bound(frz_str value, bool text, bool upper, parquet_bound_out *out)
{
    if (value.len <= PARQUET_BOUND_MAX) {
        /* an empty one may come without a pointer, which would mean that there is none */
        out->bytes = value.len > 0 ? value : (frz_str){(const char *)out->made, 0};
        out->exact = 1;
        return;
    }
    size_t len = text ? character_prefix(value, PARQUET_BOUND_MAX) : PARQUET_BOUND_MAX;
    if (text && !frz_utf8_valid((frz_str){value.ptr, len})) {
        return;
    }
    memcpy(out->made, value.ptr, len);
    if (upper) {
        len = text ? raise_characters(out->made, len) : raise_bytes(out->made, len);
        if (len == 0) {
            return;
        }
    }
    out->bytes = (frz_str){(const char *)out->made, len};
    out->exact = 0;
}

void parquet_bound_encode(const parquet_write_leaf *leaf, const parquet_write_bounds *bounds,
                          bool upper, parquet_bound_out *out)
{
    const bool text = leaf->field->type->id == FRZ_TYPE_STRING;
    out->bytes = (frz_str){NULL, 0};
    out->exact = -1;
    if (!bounds->has) {
        return;
    }
    if (leaf->order < PARQUET_BOUND_BYTES) {
        int64_t key = outer_zero(leaf->order, upper ? bounds->upper : bounds->lower, upper);
        frz_store_le64(out->made, parquet_bound_bits(leaf->order, key));
        out->bytes = (frz_str){(const char *)out->made, leaf->width};
        out->exact = 1;
        return;
    }
    frz_str value = upper ? bounds->upper_bytes : bounds->lower_bytes;
    if (leaf->width == 0) {
        string_bound(value, text, upper, out);
    } else if (leaf->width <= FIXED_MAX) {
        out->bytes = value;
        out->exact = 1;
    }
}
