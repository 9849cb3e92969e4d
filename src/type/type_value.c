/*
 * Single values: taken from arrays, compared, promoted, copied.
 */
#include <math.h>

#include "type/type_internal.h"

static bool is_bytes(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return true;
    default:
        return false;
    }
}

frz_value frz_value_at(const frz_type *type, const struct ArrowArray *array, int64_t i)
{
    frz_value value = {.type = type, .is_null = true};
    size_t width = frz_type_width(type);
    if (type->id == FRZ_TYPE_UNKNOWN || frz_is_null(array, i)) {
        return value;
    }
    value.is_null = false;
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        value.as.boolean = frz_get_bool(array, i);
        break;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        value.as.bytes =
            (frz_str){(const char *)array->buffers[1] + (size_t)(array->offset + i) * width, width};
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        value.as.bytes = frz_get_bytes(array, i);
        break;
    default:
        assert(width > 0 && width <= sizeof value.as.i128);
        memcpy(&value.as, (const uint8_t *)array->buffers[1] + (size_t)(array->offset + i) * width,
               width);
        break;
    }
    return value;
}

/* ---- order ---- */

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* NaN after everything and equal to itself. */
static int compare_double(double a, double b, bool total_order)
{
    if (a < b) {
        return -1;
    }
    if (a > b) {
        return 1;
    }
    if (a == b) {
        bool zeros_differ = total_order && a == 0 && (signbit(a) != signbit(b));
        return !zeros_differ ? 0 : signbit(a) ? -1 : 1;
    }
    return (a != a) - (b != b);
}

int frz_value_compare(const frz_value *a, const frz_value *b, bool total_order)
{
    assert(a->type->id == b->type->id && !a->is_null && !b->is_null);
    switch (a->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return (int)a->as.boolean - (int)b->as.boolean;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        return compare_i64(a->as.i32, b->as.i32);
    case FRZ_TYPE_FLOAT:
        return compare_double((double)a->as.f32, (double)b->as.f32, total_order);
    case FRZ_TYPE_DOUBLE:
        return compare_double(a->as.f64, b->as.f64, total_order);
    case FRZ_TYPE_DECIMAL:
        return (a->as.i128 > b->as.i128) - (a->as.i128 < b->as.i128);
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return frz_str_compare(a->as.bytes, b->as.bytes);
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return compare_i64(a->as.i64, b->as.i64);
    default:
        return 0; /* values of these types are empty */
    }
}

/* ---- promotion and copies ---- */

static frz_code promote_date(const frz_value *value, const frz_type *to, frz_value *out,
                             frz_error *err)
{
    int64_t per_day = INT64_C(86400000000);
    if (to->id == FRZ_TYPE_TIMESTAMP_NS) {
        per_day *= 1000;
    }
    if (!frz_mul_i64(value->as.i32, per_day, &out->as.i64)) {
        return frz_fail(err, FRZ_E_LIMIT, "day %d does not fit in a %s", (int)value->as.i32,
                        to->id == FRZ_TYPE_TIMESTAMP_NS ? "timestamp_ns" : "timestamp");
    }
    return FRZ_OK;
}

frz_code frz_value_promote(const frz_value *value, const frz_type *to, frz_value *out,
                           frz_error *err)
{
    frz_value made = *value;
    made.type = to;
    if (!frz_type_promotes(value->type, to)) {
        char from_text[80];
        char to_text[80];
        return frz_fail(err, FRZ_E_ARGUMENT, "a value of type %s cannot be read as %s",
                        frz_type_text(value->type, from_text, sizeof from_text),
                        frz_type_text(to, to_text, sizeof to_text));
    }
    if (value->is_null || value->type->id == to->id) {
        /* as it is */
    } else if (value->type->id == FRZ_TYPE_INT) {
        made.as.i64 = value->as.i32;
    } else if (value->type->id == FRZ_TYPE_FLOAT) {
        made.as.f64 = (double)value->as.f32;
    } else {
        frz_code rc = promote_date(value, to, &made, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    *out = made;
    return FRZ_OK;
}

frz_code frz_value_copy(frz_arena *arena, const frz_value *value, frz_value *out, frz_error *err)
{
    frz_value made = *value;
    if (!value->is_null && is_bytes(value->type)) {
        frz_code rc = frz_arena_str(arena, value->as.bytes, &made.as.bytes, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    *out = made;
    return FRZ_OK;
}
