/*
 * Partition transforms of single values, and the hash behind bucket.
 * spec: Partition Transforms; appendix B
 */
#include <math.h>

#include "type/type_internal.h"
#include "type/type_transform.h"

/* ---- parsing ---- */

/* "bucket[16]" cut into its name and number; number 0 if there is none. */
static frz_str split_text(frz_str text, int32_t *number)
{
    int64_t value = 0;
    size_t open = 0;
    while (open < text.len && text.ptr[open] != '[') {
        open++;
    }
    *number = 0;
    if (open + 1 < text.len && text.ptr[text.len - 1] == ']') {
        frz_str digits = {text.ptr + open + 1, text.len - open - 2};
        if (frz_str_to_i64(digits, &value) && value > 0 && value <= INT32_MAX) {
            *number = (int32_t)value;
        }
    }
    return (frz_str){text.ptr, open};
}

frz_transform frz_transform_parse(frz_str text)
{
    static const struct {
        const char *name;
        frz_transform_kind kind;
        bool has_number;
    } known[] = {
        {"identity", FRZ_TRANSFORM_IDENTITY, false}, {"bucket", FRZ_TRANSFORM_BUCKET, true},
        {"truncate", FRZ_TRANSFORM_TRUNCATE, true},  {"year", FRZ_TRANSFORM_YEAR, false},
        {"month", FRZ_TRANSFORM_MONTH, false},       {"day", FRZ_TRANSFORM_DAY, false},
        {"hour", FRZ_TRANSFORM_HOUR, false},         {"void", FRZ_TRANSFORM_VOID, false},
    };
    int32_t number;
    frz_str name = split_text(text, &number);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(known); i++) {
        bool shaped = known[i].has_number ? number > 0 : name.len == text.len;
        if (shaped && frz_str_equal_nocase(name, frz_str_from(known[i].name))) {
            return (frz_transform){.kind = known[i].kind, .parameter = number, .text = text};
        }
    }
    return (frz_transform){.kind = FRZ_TRANSFORM_UNKNOWN, .text = text};
}

/* ---- types ---- */

static bool is_timestamp(const frz_type *type)
{
    return type->id >= FRZ_TYPE_TIMESTAMP && type->id <= FRZ_TYPE_TIMESTAMPTZ_NS;
}

static bool can_identity(const frz_type *type)
{
    return type->id > FRZ_TYPE_UNKNOWN && type->id < FRZ_TYPE_VARIANT;
}

static bool can_bucket(const frz_type *type)
{
    return can_identity(type) && type->id != FRZ_TYPE_BOOLEAN && type->id != FRZ_TYPE_FLOAT &&
           type->id != FRZ_TYPE_DOUBLE;
}

static bool can_truncate(const frz_type *type)
{
    return type->id == FRZ_TYPE_INT || type->id == FRZ_TYPE_LONG || type->id == FRZ_TYPE_DECIMAL ||
           type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY;
}

const frz_type *frz_transform_result(const frz_transform *transform, const frz_type *source)
{
    const frz_type *number = frz_type_primitive(FRZ_TYPE_INT);
    bool is_date = source->id == FRZ_TYPE_DATE;
    switch (transform->kind) {
    case FRZ_TRANSFORM_IDENTITY:
        return can_identity(source) ? source : NULL;
    case FRZ_TRANSFORM_BUCKET:
        return can_bucket(source) ? number : NULL;
    case FRZ_TRANSFORM_TRUNCATE:
        return can_truncate(source) ? source : NULL;
    case FRZ_TRANSFORM_YEAR:
    case FRZ_TRANSFORM_MONTH:
        return is_date || is_timestamp(source) ? number : NULL;
    case FRZ_TRANSFORM_DAY:
        return is_date || is_timestamp(source) ? frz_type_primitive(FRZ_TYPE_DATE) : NULL;
    case FRZ_TRANSFORM_HOUR:
        return is_timestamp(source) ? number : NULL;
    case FRZ_TRANSFORM_VOID:
        return source;
    case FRZ_TRANSFORM_UNKNOWN:
        break;
    }
    return NULL;
}

/* ---- the hash: Murmur3, 32 bits, x86, seed 0 ---- */

static uint32_t rotate_left(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t mix_block(uint32_t block)
{
    return rotate_left(block * 0xCC9E2D51u, 15) * 0x1B873593u;
}

static int32_t hash_bytes(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint32_t hash = 0;
    uint32_t rest = 0;
    for (size_t left = len; left >= 4; left -= 4, at += 4) {
        hash = rotate_left(hash ^ mix_block(frz_load_le32(at)), 13) * 5 + 0xE6546B64u;
    }
    for (size_t i = 0; i < len % 4; i++) {
        rest |= (uint32_t)at[i] << (8 * i);
    }
    hash ^= mix_block(rest); /* 0 stays 0 */
    hash ^= (uint32_t)len;
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return (int32_t)(hash ^ hash >> 16);
}

static int32_t hash_i64(int64_t value)
{
    return hash_bytes(&value, sizeof value);
}

/* All NaN are one, and so are the zeros. */
static int32_t hash_f64(double value)
{
    int64_t bits = INT64_C(0x7FF8000000000000);
    value = value == 0 ? 0 : value;
    if (!isnan(value)) {
        memcpy(&bits, &value, sizeof bits);
    }
    return hash_i64(bits);
}

/* The fewest bytes that hold the number, most significant first. */
static int32_t hash_decimal(frz_i128 value)
{
    uint8_t bytes[sizeof value];
    size_t first = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(value >> (8 * (sizeof bytes - 1 - i)));
    }
    uint8_t sign = value < 0 ? 0xFF : 0;
    while (first + 1 < sizeof bytes && bytes[first] == sign &&
           (bytes[first + 1] & 0x80) == (sign & 0x80)) {
        first++;
    }
    return hash_bytes(bytes + first, sizeof bytes - first);
}

int32_t frz_value_hash(const frz_value *value)
{
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return hash_i64(value->as.boolean);
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        return hash_i64(value->as.i32);
    case FRZ_TYPE_FLOAT:
        return hash_f64((double)value->as.f32);
    case FRZ_TYPE_DOUBLE:
        return hash_f64(value->as.f64);
    case FRZ_TYPE_DECIMAL:
        return hash_decimal(value->as.i128);
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return hash_i64(type_floor_div(value->as.i64, 1000));
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        return hash_i64(value->as.i64);
    default:
        return hash_bytes(value->as.bytes.ptr, value->as.bytes.len);
    }
}

/* ---- applying ---- */

static int64_t units_per_hour(const frz_type *type)
{
    bool nanos = type->id == FRZ_TYPE_TIMESTAMP_NS || type->id == FRZ_TYPE_TIMESTAMPTZ_NS;
    return INT64_C(3600000000) * (nanos ? 1000 : 1);
}

static int64_t days_of(const frz_value *value)
{
    return value->type->id == FRZ_TYPE_DATE
               ? value->as.i32
               : type_floor_div(value->as.i64, 24 * units_per_hour(value->type));
}

static int64_t time_part(const frz_transform *transform, const frz_value *value)
{
    type_date date;
    switch (transform->kind) {
    case FRZ_TRANSFORM_YEAR:
        return type_date_of_days(days_of(value)).year - 1970;
    case FRZ_TRANSFORM_MONTH:
        date = type_date_of_days(days_of(value));
        return (date.year - 1970) * 12 + date.month - 1;
    case FRZ_TRANSFORM_DAY:
        return days_of(value);
    default:
        return type_floor_div(value->as.i64, units_per_hour(value->type));
    }
}

static frz_code out_of_range(const frz_transform *transform, const frz_type *type, frz_error *err)
{
    char text[80];
    return frz_fail(err, FRZ_E_LIMIT, "%.*s of a %s is out of range", FRZ_STR_ARG(transform->text),
                    frz_type_text(type, text, sizeof text));
}

static frz_code apply_time(const frz_transform *transform, const frz_value *value, frz_value *out,
                           frz_error *err)
{
    int64_t part = time_part(transform, value);
    if (part < INT32_MIN || part > INT32_MAX) {
        return out_of_range(transform, value->type, err);
    }
    out->as.i32 = (int32_t)part;
    return FRZ_OK;
}

/* The bytes of the first characters. */
static size_t prefix_of_text(frz_str text, size_t characters)
{
    size_t at = 0;
    for (; at < text.len; at++) {
        bool starts = ((uint8_t)text.ptr[at] & 0xC0) != 0x80;
        if (starts && characters-- == 0) {
            break;
        }
    }
    return at;
}

/* Down to a multiple of the width: the rest is never negative. */
static frz_i128 floor_to(frz_i128 value, int32_t width)
{
    frz_i128 rest = value % width;
    return value - (rest < 0 ? rest + width : rest);
}

static frz_code apply_truncate(const frz_transform *transform, const frz_value *value,
                               frz_value *out, frz_error *err)
{
    int32_t width = transform->parameter;
    frz_i128 number;
    switch (value->type->id) {
    case FRZ_TYPE_STRING:
        out->as.bytes.len = prefix_of_text(value->as.bytes, (size_t)width);
        return FRZ_OK;
    case FRZ_TYPE_BINARY:
        out->as.bytes.len = FRZ_MIN(value->as.bytes.len, (size_t)width);
        return FRZ_OK;
    case FRZ_TYPE_DECIMAL:
        out->as.i128 = floor_to(value->as.i128, width);
        return type_decimal_fits(out->as.i128, value->type->precision)
                   ? FRZ_OK
                   : out_of_range(transform, value->type, err);
    case FRZ_TYPE_INT:
        number = floor_to(value->as.i32, width);
        out->as.i32 = (int32_t)number;
        return number >= INT32_MIN ? FRZ_OK : out_of_range(transform, value->type, err);
    default:
        number = floor_to(value->as.i64, width);
        out->as.i64 = (int64_t)number;
        return number >= INT64_MIN ? FRZ_OK : out_of_range(transform, value->type, err);
    }
}

frz_code frz_transform_apply(const frz_transform *transform, const frz_value *value, frz_value *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_value made = *value;
    made.type = frz_transform_result(transform, value->type);
    assert(made.type != NULL);
    if (value->is_null || transform->kind == FRZ_TRANSFORM_VOID) {
        *out = (frz_value){.type = made.type, .is_null = true};
        return FRZ_OK;
    }
    switch (transform->kind) {
    case FRZ_TRANSFORM_BUCKET:
        made.as.i32 = (frz_value_hash(value) & INT32_MAX) % transform->parameter;
        break;
    case FRZ_TRANSFORM_TRUNCATE:
        FRZ_TRY(apply_truncate(transform, value, &made, err));
        break;
    case FRZ_TRANSFORM_IDENTITY:
        break;
    default:
        FRZ_TRY(apply_time(transform, value, &made, err));
        break;
    }
    *out = made;
out:
    return rc;
}
