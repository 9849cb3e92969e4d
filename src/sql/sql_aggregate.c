/*
 * Aggregates over a whole result.
 *
 * Sums of doubles go to eight lanes by the number of the row, so they come out the same however
 * the rows are cut into batches, and the loop needs no dependency from row to row.
 */
#include <math.h>

#include "sql/sql_internal.h"

#define LANES 8

static bool is_floating(const frz_type *type)
{
    return type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
}

static bool is_number(const frz_type *type)
{
    return type->id >= FRZ_TYPE_INT && type->id <= FRZ_TYPE_DECIMAL;
}

static bool has_order(const frz_type *type)
{
    return !frz_type_is_nested(type) && type->id != FRZ_TYPE_VARIANT &&
           type->id != FRZ_TYPE_GEOMETRY && type->id != FRZ_TYPE_GEOGRAPHY;
}

/* ---- types ---- */

static frz_code sum_type(frz_arena *arena, const frz_type *type, const frz_type **out,
                         frz_error *err)
{
    if (type->id != FRZ_TYPE_DECIMAL) {
        *out = frz_type_primitive(is_floating(type) ? FRZ_TYPE_DOUBLE : FRZ_TYPE_LONG);
        return FRZ_OK;
    }
    frz_type *wide = frz_arena_alloc(arena, sizeof *wide);
    if (wide == NULL) {
        return frz_fail_nomem(err, sizeof *wide);
    }
    *wide = (frz_type){.id = FRZ_TYPE_DECIMAL, .precision = 38, .scale = type->scale};
    *out = wide;
    return FRZ_OK;
}

frz_code sql_aggregate_init(sql_aggregate *aggregate, const frz_env *env, frz_arena *arena,
                            frz_aggregate kind, const frz_type *type, const char *text,
                            frz_error *err)
{
    char type_text[80];
    *aggregate = (sql_aggregate){.kind = kind, .type = type, .text = text};
    frz_buf_init(&aggregate->buffer, env, FRZ_BUF_NO_LIMIT);
    switch (kind) {
    case FRZ_AGGREGATE_SUM:
    case FRZ_AGGREGATE_AVG:
        if (!is_number(type) && type->id != FRZ_TYPE_UNKNOWN) {
            return frz_fail(err, FRZ_E_ARGUMENT, "%s: expected numbers, found values of type %s",
                            text, frz_type_text(type, type_text, sizeof type_text));
        }
        aggregate->result = frz_type_primitive(FRZ_TYPE_DOUBLE);
        return kind == FRZ_AGGREGATE_AVG ? FRZ_OK : sum_type(arena, type, &aggregate->result, err);
    case FRZ_AGGREGATE_MIN:
    case FRZ_AGGREGATE_MAX:
        if (!has_order(type)) {
            return frz_fail(err, FRZ_E_ARGUMENT, "%s: values of type %s have no order", text,
                            frz_type_text(type, type_text, sizeof type_text));
        }
        aggregate->result = type;
        return FRZ_OK;
    default:
        aggregate->result = frz_type_primitive(FRZ_TYPE_LONG);
        return FRZ_OK;
    }
}

void sql_aggregate_reset(sql_aggregate *aggregate)
{
    frz_buf_reset(&aggregate->buffer);
}

/* ---- sums ---- */

static void add_lanes(sql_aggregate *a, const struct ArrowArray *array, bool nulls)
{
    const double *x = (const double *)array->buffers[1] + array->offset;
    int64_t n = array->length;
    int64_t i = 0;
    for (; i < n && ((a->rows + i) % LANES != 0 || nulls); i++) {
        a->lanes[(a->rows + i) % LANES] += nulls && frz_is_null(array, i) ? 0 : x[i];
    }
    double lanes[LANES];
    memcpy(lanes, a->lanes, sizeof lanes);
    for (; n - i >= LANES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lanes[k] += x[i + k];
        }
    }
    memcpy(a->lanes, lanes, sizeof lanes);
    for (; i < n; i++) {
        a->lanes[(a->rows + i) % LANES] += x[i];
    }
}

static void add_floats(sql_aggregate *a, const struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->length; i++) {
        if (!frz_is_null(array, i)) {
            a->lanes[(a->rows + i) % LANES] += (double)frz_get_f32(array, i);
        }
    }
}

static frz_code add_exact(sql_aggregate *a, const struct ArrowArray *array, frz_error *err)
{
    const frz_i128 *decimals = (const frz_i128 *)array->buffers[1] + array->offset;
    bool overflow = false;
    for (int64_t i = 0; i < array->length; i++) {
        if (frz_is_null(array, i)) {
            continue;
        }
        frz_i128 x = a->type->id == FRZ_TYPE_INT    ? frz_get_i32(array, i)
                     : a->type->id == FRZ_TYPE_LONG ? frz_get_i64(array, i)
                                                    : decimals[i];
        overflow |= __builtin_add_overflow(a->sum, x, &a->sum);
    }
    return overflow ? frz_fail(err, FRZ_E_ARGUMENT, "%s: decimal overflow", a->text) : FRZ_OK;
}

/* ---- smallest and greatest ---- */

#define BEST_LOOP(T, member, better)                                                               \
    do {                                                                                           \
        const T *x = (const T *)array->buffers[1] + array->offset;                                 \
        T best = a->has_best ? a->best.as.member : x[first];                                       \
        for (int64_t i = first; i < array->length; i++) {                                          \
            best = !(nulls && frz_is_null(array, i)) && (better) ? x[i] : best;                    \
        }                                                                                          \
        a->best.as.member = best;                                                                  \
    } while (0)

/* NaN is greatest: a maximum once it is seen, a minimum only if there is nothing else. */
#define BEST_ORDERED(T, member)                                                                    \
    do {                                                                                           \
        if (min) {                                                                                 \
            BEST_LOOP(T, member, (x[i] < best) | ((best != best) & (x[i] == x[i])));               \
        } else {                                                                                   \
            BEST_LOOP(T, member, (x[i] > best) | ((x[i] != x[i]) & (best == best)));               \
        }                                                                                          \
    } while (0)

/* Keep a value, with bytes of its own. */
static frz_code keep_best(sql_aggregate *a, const frz_value *value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool bytes = a->type->id == FRZ_TYPE_STRING || a->type->id == FRZ_TYPE_BINARY ||
                 a->type->id == FRZ_TYPE_UUID || a->type->id == FRZ_TYPE_FIXED;
    if (bytes) {
        frz_buf_clear(&a->buffer);
        FRZ_TRY(frz_buf_append(&a->buffer, value->as.bytes.ptr, value->as.bytes.len, err));
    }
    a->best = *value;
    if (bytes) {
        a->best.as.bytes = frz_buf_view(&a->buffer);
    }
out:
    return rc;
}

static frz_code best_generic(sql_aggregate *a, const struct ArrowArray *array, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; i < array->length; i++) {
        frz_value value = frz_value_at(a->type, array, i);
        if (value.is_null) {
            continue;
        }
        int order = a->has_best ? frz_value_compare(&value, &a->best, false) : 0;
        bool better = a->kind == FRZ_AGGREGATE_MIN ? order < 0 : order > 0;
        if (!a->has_best || better) {
            FRZ_TRY(keep_best(a, &value, err));
            a->has_best = true;
        }
    }
out:
    return rc;
}

static frz_code add_best(sql_aggregate *a, const struct ArrowArray *array, bool nulls,
                         frz_error *err)
{
    bool min = a->kind == FRZ_AGGREGATE_MIN;
    int64_t first = 0;
    while (nulls && first < array->length && frz_is_null(array, first)) {
        first++;
    }
    if (first == array->length) {
        return FRZ_OK;
    }
    switch (a->type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        BEST_ORDERED(int32_t, i32);
        break;
    case FRZ_TYPE_FLOAT:
        BEST_ORDERED(float, f32);
        break;
    case FRZ_TYPE_DOUBLE:
        BEST_ORDERED(double, f64);
        break;
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        BEST_ORDERED(int64_t, i64);
        break;
    default:
        return best_generic(a, array, err);
    }
    a->has_best = true;
    return FRZ_OK;
}

/* ---- entries ---- */

frz_code sql_aggregate_add(sql_aggregate *aggregate, const struct ArrowArray *array, int64_t rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool summing = aggregate->kind == FRZ_AGGREGATE_SUM || aggregate->kind == FRZ_AGGREGATE_AVG;
    bool best = aggregate->kind == FRZ_AGGREGATE_MIN || aggregate->kind == FRZ_AGGREGATE_MAX;
    int64_t nulls = array == NULL ? 0 : array->n_buffers == 0 ? rows : frz_null_count(array);
    if (nulls == rows) {
        /* nothing to see */
    } else if (summing && aggregate->type->id == FRZ_TYPE_DOUBLE) {
        add_lanes(aggregate, array, nulls > 0);
    } else if (summing && aggregate->type->id == FRZ_TYPE_FLOAT) {
        add_floats(aggregate, array);
    } else if (summing) {
        FRZ_TRY(add_exact(aggregate, array, err));
    } else if (best) {
        FRZ_TRY(add_best(aggregate, array, nulls > 0, err));
    }
    aggregate->rows += rows;
    aggregate->count += rows - nulls;
out:
    return rc;
}

static double lane_sum(const sql_aggregate *a)
{
    const double *l = a->lanes;
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

static frz_code sum_value(const sql_aggregate *a, frz_value *out, frz_error *err)
{
    if (a->result->id == FRZ_TYPE_DOUBLE) {
        out->as.f64 = lane_sum(a);
        return FRZ_OK;
    }
    if (a->result->id == FRZ_TYPE_LONG) {
        out->as.i64 = (int64_t)a->sum;
        return out->as.i64 == a->sum
                   ? FRZ_OK
                   : frz_fail(err, FRZ_E_ARGUMENT,
                              "%s: integer overflow: the sum does not fit long", a->text);
    }
    char digits[64];
    size_t len = frz_decimal_text(a->sum, 0, digits);
    out->as.i128 = a->sum;
    return len - (digits[0] == '-') <= 38
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT, "%s: decimal overflow: the sum has over 38 digits",
                          a->text);
}

static double average(const sql_aggregate *a)
{
    if (is_floating(a->type)) {
        return lane_sum(a) / (double)a->count;
    }
    double scale = a->type->id == FRZ_TYPE_DECIMAL ? pow(10, a->type->scale) : 1;
    return (double)a->sum / scale / (double)a->count;
}

frz_code sql_aggregate_value(const sql_aggregate *aggregate, frz_value *out, frz_error *err)
{
    *out = (frz_value){.type = aggregate->result};
    switch (aggregate->kind) {
    case FRZ_AGGREGATE_SUM:
        out->is_null = aggregate->count == 0;
        return out->is_null ? FRZ_OK : sum_value(aggregate, out, err);
    case FRZ_AGGREGATE_AVG:
        out->is_null = aggregate->count == 0;
        out->as.f64 = out->is_null ? 0 : average(aggregate);
        return FRZ_OK;
    case FRZ_AGGREGATE_MIN:
    case FRZ_AGGREGATE_MAX:
        *out = aggregate->best;
        out->type = aggregate->result;
        out->is_null = !aggregate->has_best;
        return FRZ_OK;
    default:
        out->as.i64 = aggregate->count;
        return FRZ_OK;
    }
}
