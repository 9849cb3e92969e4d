/*
 * The way back from partition values to values of their source: what pruning by partitions rests
 * on. Whatever cannot be trusted gives no bound: a value that the transform cannot have made is the
 * trace of an overflow in its writer, and so may be the lowest and highest ones.
 */
#include "type/type_internal.h"
#include "type/type_transform.h"

/* Hours of a 64-bit count of microseconds do not fit in 32 bits: what lies this far out may have
 * been wrapped around. */
#define SAFE_HOURS 1700000000

/* ---- types ---- */

static bool is_text(const frz_type *type)
{
    return type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY;
}

/* Is one the same bits as the other, written without its meaning? */
static bool is_plain_form(const frz_type *plain, const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_DATE:
        return plain->id == FRZ_TYPE_INT;
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return plain->id == FRZ_TYPE_LONG;
    case FRZ_TYPE_UUID:
        return plain->id == FRZ_TYPE_FIXED && plain->length == 16;
    default:
        return false;
    }
}

bool frz_value_as_source(const frz_value *value, const frz_type *source, frz_value *out)
{
    if (is_plain_form(value->type, source)) {
        *out = *value;
        out->type = source;
        return true;
    }
    return value->type->id != FRZ_TYPE_UNKNOWN &&
           frz_value_promote(value, source, out, NULL) == FRZ_OK;
}

/* The same, and false for NaN, which is no bound. */
static bool as_bound(const frz_value *value, const frz_type *source, frz_value *out)
{
    return frz_value_as_source(value, source, out) &&
           !(source->id == FRZ_TYPE_FLOAT && out->as.f32 != out->as.f32) &&
           !(source->id == FRZ_TYPE_DOUBLE && out->as.f64 != out->as.f64);
}

/* ---- whole numbers of a type ---- */

static frz_i128 decimal_limit(int32_t precision)
{
    frz_i128 limit = 1;
    for (int32_t i = 0; i < precision; i++) {
        limit *= 10;
    }
    return limit - 1;
}

static frz_i128 type_max(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        return INT32_MAX;
    case FRZ_TYPE_DECIMAL:
        return decimal_limit(type->precision);
    default:
        return INT64_MAX;
    }
}

static frz_i128 type_min(const frz_type *type)
{
    return type->id == FRZ_TYPE_DECIMAL ? -type_max(type) : -type_max(type) - 1;
}

static frz_i128 number_of(const frz_value *value)
{
    switch (value->type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        return value->as.i32;
    case FRZ_TYPE_DECIMAL:
        return value->as.i128;
    default:
        return value->as.i64;
    }
}

static bool number_fits(frz_i128 number, const frz_type *type)
{
    return number >= type_min(type) && number <= type_max(type);
}

static frz_value value_of(frz_i128 number, const frz_type *type)
{
    frz_value value = {.type = type};
    switch (type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        value.as.i32 = (int32_t)number;
        break;
    case FRZ_TYPE_DECIMAL:
        value.as.i128 = number;
        break;
    default:
        value.as.i64 = (int64_t)number;
        break;
    }
    return value;
}

static void put_lower(frz_transform_range *out, frz_i128 number, const frz_type *type)
{
    out->has_lower = number_fits(number, type);
    out->lower = out->has_lower ? value_of(number, type) : (frz_value){0};
}

static void put_upper(frz_transform_range *out, frz_i128 number, const frz_type *type)
{
    out->has_upper = number_fits(number, type);
    out->upper = out->has_upper ? value_of(number, type) : (frz_value){0};
}

/* ---- truncate ---- */

/*
 * What lies below the lowest multiple of the width overflows. Writers store the multiple above it,
 * or a number that wrapped around and is among the greatest: then the lower bound is that of the
 * type, or of the type before its promotion.
 */
static void range_of_numbers(int32_t width, const frz_type *source, const frz_value *least,
                             const frz_value *greatest, frz_transform_range *out)
{
    frz_value low_value;
    frz_value high_value;
    if (!as_bound(least, source, &low_value) || !as_bound(greatest, source, &high_value)) {
        return;
    }
    frz_i128 low = number_of(&low_value);
    frz_i128 high = number_of(&high_value);
    if (low % width != 0 || high % width != 0 || low > high) {
        return;
    }
    bool wrapped = high > type_max(source) - width;
    bool wrapped_int = source->id == FRZ_TYPE_LONG && low <= INT32_MAX && high > INT32_MAX - width;
    put_upper(out, high + (width - 1), source);
    if (low - width >= type_min(source) && !(wrapped && low != high)) {
        put_lower(out, wrapped_int && low != high ? FRZ_MIN(low, INT32_MIN) : low, source);
    }
}

static void range_of_texts(int32_t width, const frz_type *source, const frz_value *least,
                           const frz_value *greatest, frz_transform_range *out)
{
    if (!as_bound(least, source, &out->lower) || !as_bound(greatest, source, &out->upper)) {
        return;
    }
    /* Shorter than the width is the whole text. Counted in bytes, in case its writer did so. */
    bool whole = least == greatest && out->upper.as.bytes.len < (size_t)width;
    out->has_lower = true;
    out->has_upper = true;
    out->upper_is_prefix = !whole;
}

/* ---- times ---- */

/* The first day of a year, month or day counted from 1970. */
static bool first_day(frz_transform_kind kind, int64_t count, int64_t *out)
{
    type_date date = {.year = 1970, .month = 1, .day = 1};
    switch (kind) {
    case FRZ_TRANSFORM_YEAR:
        date.year += count;
        return type_days_of_date(date, out);
    case FRZ_TRANSFORM_MONTH:
        date.year += type_floor_div(count, 12);
        date.month += (int)(count - 12 * type_floor_div(count, 12));
        return type_days_of_date(date, out);
    default:
        *out = count;
        return true;
    }
}

/* The first instant, or date, of a count; false if it is far out of every range. */
static bool start_of(frz_transform_kind kind, int64_t count, const frz_type *source, frz_i128 *out)
{
    int64_t days;
    bool nanos = source->id == FRZ_TYPE_TIMESTAMP_NS || source->id == FRZ_TYPE_TIMESTAMPTZ_NS;
    int64_t per_hour = INT64_C(3600000000) * (nanos ? 1000 : 1);
    if (kind == FRZ_TRANSFORM_HOUR) {
        *out = (frz_i128)count * per_hour;
        return true;
    }
    if (!first_day(kind, count, &days)) {
        return false;
    }
    *out = source->id == FRZ_TYPE_DATE ? days : (frz_i128)days * 24 * per_hour;
    return true;
}

static void range_of_times(frz_transform_kind kind, const frz_type *source, const frz_value *least,
                           const frz_value *greatest, frz_transform_range *out)
{
    bool as_date = kind == FRZ_TRANSFORM_DAY && least->type->id == FRZ_TYPE_DATE &&
                   greatest->type->id == FRZ_TYPE_DATE;
    frz_i128 start;
    if (!as_date && (least->type->id != FRZ_TYPE_INT || greatest->type->id != FRZ_TYPE_INT)) {
        return;
    }
    int64_t low = least->as.i32;
    int64_t high = greatest->as.i32;
    if (low > high || (kind == FRZ_TRANSFORM_HOUR && (low < -SAFE_HOURS || high > SAFE_HOURS))) {
        return;
    }
    /* some writers rounded towards zero, so a count up to 0 may be one too high */
    bool exact = kind == FRZ_TRANSFORM_DAY && source->id == FRZ_TYPE_DATE;
    if (start_of(kind, low - (low <= 0 && !exact), source, &start)) {
        put_lower(out, start, source);
    }
    if (start_of(kind, high + 1, source, &start)) {
        put_upper(out, start - 1, source);
    }
}

/* ---- all of them ---- */

void frz_transform_range_of(const frz_transform *transform, const frz_type *source,
                            const frz_value *least, const frz_value *greatest,
                            frz_transform_range *out)
{
    *out = (frz_transform_range){0};
    if (frz_transform_result(transform, source) == NULL) {
        return;
    }
    switch (transform->kind) {
    case FRZ_TRANSFORM_IDENTITY:
        out->has_lower = as_bound(least, source, &out->lower);
        out->has_upper = as_bound(greatest, source, &out->upper);
        break;
    case FRZ_TRANSFORM_TRUNCATE:
        if (is_text(source)) {
            range_of_texts(transform->parameter, source, least, greatest, out);
        } else {
            range_of_numbers(transform->parameter, source, least, greatest, out);
        }
        break;
    case FRZ_TRANSFORM_YEAR:
    case FRZ_TRANSFORM_MONTH:
    case FRZ_TRANSFORM_DAY:
    case FRZ_TRANSFORM_HOUR:
        range_of_times(transform->kind, source, least, greatest, out);
        break;
    case FRZ_TRANSFORM_BUCKET:
    case FRZ_TRANSFORM_VOID:
    case FRZ_TRANSFORM_UNKNOWN:
        break;
    }
}
