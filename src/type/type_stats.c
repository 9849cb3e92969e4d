/*
 * Statistics of one primitive field, collected over arrays. Values without nulls go through tight
 * loops with four independent lanes; arrays with nulls are packed 64 rows at a time and go through
 * the same loops. Bounds of bytes point into the array while one is looked at and are copied after.
 */
#include <math.h>

#include "type/type_internal.h"
#include "type/type_stats.h"

#define LANES 4
#define PACKED 64

struct frz_stats_collector {
    const frz_env *env;
    int32_t field_id;
    const frz_type *type;
    int64_t values, nulls, nans, total_bytes;
    /* Ranges start inverted, so the first value sets both ends. */
    struct {
        int32_t lo, hi;
    } i32;
    struct {
        int64_t lo, hi;
    } i64;
    struct {
        frz_i128 lo, hi;
    } i128;
    struct {
        double lo, hi;
    } f64; /* also for float, whose values it holds exactly */
    bool seen_false, seen_true;
    bool has_bytes;
    frz_str lo_bytes, hi_bytes;
    uint64_t lo_prefix, hi_prefix; /* first 8 bytes, big-endian, to compare quickly */
    frz_buf lo_copy, hi_copy;
};

/* Looks at n values without nulls. */
typedef void (*stats_look)(frz_stats_collector *c, const void *values, int64_t n);

frz_code frz_stats_collector_new(const frz_env *env, int32_t field_id, const frz_type *type,
                                 frz_stats_collector **out, frz_error *err)
{
    assert(!frz_type_is_nested(type));
    frz_stats_collector *c = frz_alloc_zero(env, 1, sizeof *c);
    if (c == NULL) {
        return frz_fail_nomem(err, sizeof *c);
    }
    c->env = env;
    c->field_id = field_id;
    c->type = type;
    c->i32.lo = INT32_MAX;
    c->i32.hi = INT32_MIN;
    c->i64.lo = INT64_MAX;
    c->i64.hi = INT64_MIN;
    c->i128.lo = (frz_i128)(~(unsigned __int128)0 >> 1);
    c->i128.hi = -c->i128.lo - 1;
    c->f64.lo = (double)INFINITY;
    c->f64.hi = -(double)INFINITY;
    frz_buf_init(&c->lo_copy, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&c->hi_copy, env, FRZ_BUF_NO_LIMIT);
    *out = c;
    return FRZ_OK;
}

void frz_stats_collector_free(frz_stats_collector *collector)
{
    if (collector != NULL) {
        frz_buf_reset(&collector->lo_copy);
        frz_buf_reset(&collector->hi_copy);
        frz_free(collector->env, collector);
    }
}

/* ---- fixed width ---- */

static void look_i32(frz_stats_collector *c, const void *values, int64_t n)
{
    const int32_t *v = values;
    int32_t lo[LANES];
    int32_t hi[LANES];
    int64_t i = 0;
    for (int k = 0; k < LANES; k++) {
        lo[k] = c->i32.lo;
        hi[k] = c->i32.hi;
    }
    for (; n - i >= LANES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lo[k] = FRZ_MIN(v[i + k], lo[k]);
            hi[k] = FRZ_MAX(v[i + k], hi[k]);
        }
    }
    for (; i < n; i++) {
        lo[0] = FRZ_MIN(v[i], lo[0]);
        hi[0] = FRZ_MAX(v[i], hi[0]);
    }
    for (int k = 0; k < LANES; k++) {
        c->i32.lo = FRZ_MIN(c->i32.lo, lo[k]);
        c->i32.hi = FRZ_MAX(c->i32.hi, hi[k]);
    }
}

static void look_i64(frz_stats_collector *c, const void *values, int64_t n)
{
    const int64_t *v = values;
    int64_t lo[LANES];
    int64_t hi[LANES];
    int64_t i = 0;
    for (int k = 0; k < LANES; k++) {
        lo[k] = c->i64.lo;
        hi[k] = c->i64.hi;
    }
    for (; n - i >= LANES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lo[k] = FRZ_MIN(v[i + k], lo[k]);
            hi[k] = FRZ_MAX(v[i + k], hi[k]);
        }
    }
    for (; i < n; i++) {
        lo[0] = FRZ_MIN(v[i], lo[0]);
        hi[0] = FRZ_MAX(v[i], hi[0]);
    }
    for (int k = 0; k < LANES; k++) {
        c->i64.lo = FRZ_MIN(c->i64.lo, lo[k]);
        c->i64.hi = FRZ_MAX(c->i64.hi, hi[k]);
    }
}

/* -0.0 sorts before +0.0, but < does not tell: when a bound is zero, look for the sign. */
static void settle_zeros_f64(frz_stats_collector *c, const double *v, int64_t n)
{
    bool want_negative = c->f64.lo == 0 && !signbit(c->f64.lo);
    bool want_positive = c->f64.hi == 0 && signbit(c->f64.hi);
    for (int64_t i = 0; i < n && (want_negative || want_positive); i++) {
        if (v[i] == 0 && signbit(v[i]) && want_negative) {
            c->f64.lo = -0.0;
            want_negative = false;
        } else if (v[i] == 0 && !signbit(v[i]) && want_positive) {
            c->f64.hi = 0.0;
            want_positive = false;
        }
    }
}

/* NaN loses every comparison, so it never becomes a bound. */
static void look_f64(frz_stats_collector *c, const void *values, int64_t n)
{
    const double *v = values;
    double lo[LANES];
    double hi[LANES];
    int64_t nans[LANES] = {0};
    int64_t i = 0;
    for (int k = 0; k < LANES; k++) {
        lo[k] = c->f64.lo;
        hi[k] = c->f64.hi;
    }
    for (; n - i >= LANES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lo[k] = v[i + k] < lo[k] ? v[i + k] : lo[k];
            hi[k] = v[i + k] > hi[k] ? v[i + k] : hi[k];
            nans[k] += v[i + k] != v[i + k];
        }
    }
    for (; i < n; i++) {
        lo[0] = v[i] < lo[0] ? v[i] : lo[0];
        hi[0] = v[i] > hi[0] ? v[i] : hi[0];
        nans[0] += v[i] != v[i];
    }
    for (int k = 0; k < LANES; k++) {
        c->f64.lo = lo[k] < c->f64.lo ? lo[k] : c->f64.lo;
        c->f64.hi = hi[k] > c->f64.hi ? hi[k] : c->f64.hi;
        c->nans += nans[k];
    }
    settle_zeros_f64(c, v, n);
}

/* Every float is a double, so float values are looked at as such, a piece at a time. */
static void look_f32(frz_stats_collector *c, const void *values, int64_t n)
{
    const float *v = values;
    double wide[PACKED * 4];
    for (int64_t i = 0; i < n;) {
        int64_t count = FRZ_MIN(n - i, (int64_t)FRZ_ARRAY_COUNT(wide));
        for (int64_t k = 0; k < count; k++) {
            wide[k] = (double)v[i + k];
        }
        look_f64(c, wide, count);
        i += count;
    }
}

static void look_i128(frz_stats_collector *c, const void *values, int64_t n)
{
    const uint8_t *bytes = values;
    for (int64_t i = 0; i < n; i++) {
        frz_i128 v; /* Arrow buffers of others may be aligned to 8 bytes only */
        memcpy(&v, bytes + (size_t)i * sizeof v, sizeof v);
        c->i128.lo = FRZ_MIN(c->i128.lo, v);
        c->i128.hi = FRZ_MAX(c->i128.hi, v);
    }
}

/* 64 validity bits from row i on; bits past the end are clear. */
static uint64_t valid_word(const struct ArrowArray *a, int64_t i)
{
    uint64_t word = 0;
    frz_bitmap_copy(a->buffers[0], a->offset + i, FRZ_MIN(a->length - i, (int64_t)PACKED),
                    (uint8_t *)&word, 0);
    return word;
}

static void look_fixed(frz_stats_collector *c, const struct ArrowArray *a, size_t width,
                       stats_look look)
{
    const uint8_t *values = (const uint8_t *)a->buffers[1] + (size_t)a->offset * width;
    _Alignas(16) uint8_t packed[PACKED * sizeof(frz_i128)];
    if (frz_null_count(a) == 0) {
        look(c, values, a->length);
        return;
    }
    for (int64_t i = 0; i < a->length; i += PACKED) {
        uint64_t word = valid_word(a, i);
        int64_t n = 0;
        if (word == UINT64_MAX) {
            look(c, values + (size_t)i * width, PACKED);
            continue;
        }
        for (; word != 0; word &= word - 1) {
            size_t row = (size_t)(i + __builtin_ctzll(word));
            memcpy(packed + (size_t)n++ * width, values + row * width, width);
        }
        look(c, packed, n);
    }
}

static void look_booleans(frz_stats_collector *c, const struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->length && !(c->seen_false && c->seen_true); i++) {
        if (!frz_is_null(a, i)) {
            bool value = frz_get_bool(a, i);
            c->seen_true = c->seen_true || value;
            c->seen_false = c->seen_false || !value;
        }
    }
}

/* ---- bytes ---- */

static uint64_t prefix_of(frz_str s)
{
    uint64_t word = 0;
    if (s.len >= sizeof word) {
        word = frz_load_le64(s.ptr);
    } else if (s.len > 0) {
        memcpy(&word, s.ptr, s.len);
    }
    return __builtin_bswap64(word);
}

static void look_one(frz_stats_collector *c, frz_str s)
{
    uint64_t prefix = prefix_of(s);
    if (!c->has_bytes) {
        c->has_bytes = true;
        c->lo_bytes = c->hi_bytes = s;
        c->lo_prefix = c->hi_prefix = prefix;
        return;
    }
    if (prefix < c->lo_prefix || (prefix == c->lo_prefix && frz_str_compare(s, c->lo_bytes) < 0)) {
        c->lo_bytes = s;
        c->lo_prefix = prefix;
    }
    if (prefix > c->hi_prefix || (prefix == c->hi_prefix && frz_str_compare(s, c->hi_bytes) > 0)) {
        c->hi_bytes = s;
        c->hi_prefix = prefix;
    }
}

static frz_code keep(frz_buf *copy, frz_str *bytes, frz_error *err)
{
    if (copy->data != NULL && bytes->ptr == (const char *)copy->data) {
        return FRZ_OK; /* no better value was found */
    }
    frz_buf_clear(copy);
    frz_code rc = frz_buf_reserve(copy, FRZ_MAX(bytes->len, (size_t)1), err);
    if (rc == FRZ_OK) {
        rc = frz_buf_append(copy, bytes->ptr, bytes->len, err);
        bytes->ptr = (const char *)copy->data;
    }
    return rc;
}

static frz_code look_bytes(frz_stats_collector *c, const struct ArrowArray *a, size_t width,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool nulls = frz_null_count(a) > 0;
    for (int64_t i = 0; i < a->length; i++) {
        if (nulls && frz_is_null(a, i)) {
            continue;
        }
        frz_str s =
            width == 0
                ? frz_get_bytes(a, i)
                : (frz_str){(const char *)a->buffers[1] + (size_t)(a->offset + i) * width, width};
        c->total_bytes += (int64_t)s.len;
        look_one(c, s);
    }
    if (c->has_bytes) {
        FRZ_TRY(keep(&c->lo_copy, &c->lo_bytes, err));
        FRZ_TRY(keep(&c->hi_copy, &c->hi_bytes, err));
    }
out:
    return rc;
}

/* ---- the collector ---- */

static void count_bytes(frz_stats_collector *c, const struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->length; i++) {
        c->total_bytes += frz_is_null(a, i) ? 0 : (int64_t)frz_get_bytes(a, i).len;
    }
}

frz_code frz_stats_collector_add(frz_stats_collector *collector, const struct ArrowArray *array,
                                 frz_error *err)
{
    frz_stats_collector *c = collector;
    size_t width = frz_type_width(c->type);
    c->values += array->length;
    c->nulls += c->type->id == FRZ_TYPE_UNKNOWN ? array->length : frz_null_count(array);
    switch (c->type->id) {
    case FRZ_TYPE_BOOLEAN:
        look_booleans(c, array);
        break;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        look_fixed(c, array, width, look_i32);
        break;
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        look_fixed(c, array, width, look_i64);
        break;
    case FRZ_TYPE_FLOAT:
        look_fixed(c, array, width, look_f32);
        break;
    case FRZ_TYPE_DOUBLE:
        look_fixed(c, array, width, look_f64);
        break;
    case FRZ_TYPE_DECIMAL:
        look_fixed(c, array, width, look_i128);
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        return look_bytes(c, array, width, err);
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        count_bytes(c, array); /* their bounds are boxes, not byte strings */
        break;
    default:
        break;
    }
    return FRZ_OK;
}

/* Both bounds; only called if there is a value that is neither null nor NaN. */
static bool bounds_of(const frz_stats_collector *c, frz_value *lower, frz_value *upper)
{
    *lower = *upper = (frz_value){.type = c->type};
    switch (c->type->id) {
    case FRZ_TYPE_BOOLEAN:
        lower->as.boolean = !c->seen_false;
        upper->as.boolean = c->seen_true;
        return true;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        lower->as.i32 = c->i32.lo;
        upper->as.i32 = c->i32.hi;
        return true;
    case FRZ_TYPE_FLOAT:
        lower->as.f32 = (float)c->f64.lo;
        upper->as.f32 = (float)c->f64.hi;
        return true;
    case FRZ_TYPE_DOUBLE:
        lower->as.f64 = c->f64.lo;
        upper->as.f64 = c->f64.hi;
        return true;
    case FRZ_TYPE_DECIMAL:
        lower->as.i128 = c->i128.lo;
        upper->as.i128 = c->i128.hi;
        return true;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        lower->as.bytes = c->lo_bytes;
        upper->as.bytes = c->hi_bytes;
        return true;
    case FRZ_TYPE_UNKNOWN:
    case FRZ_TYPE_VARIANT:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
    case FRZ_TYPE_FOREIGN:
        return false;
    default:
        lower->as.i64 = c->i64.lo;
        upper->as.i64 = c->i64.hi;
        return true;
    }
}

frz_code frz_stats_collector_finish(const frz_stats_collector *collector, frz_arena *arena,
                                    frz_field_stats *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_stats_collector *c = collector;
    frz_field_stats made = FRZ_FIELD_STATS_UNKNOWN(c->field_id, c->type);
    bool floating = c->type->id == FRZ_TYPE_FLOAT || c->type->id == FRZ_TYPE_DOUBLE;
    bool variable = c->type->id == FRZ_TYPE_STRING || c->type->id == FRZ_TYPE_BINARY ||
                    c->type->id == FRZ_TYPE_GEOMETRY || c->type->id == FRZ_TYPE_GEOGRAPHY;
    frz_value lower;
    frz_value upper;
    made.value_count = c->values;
    made.null_value_count = c->nulls;
    made.nan_value_count = floating ? c->nans : FRZ_STAT_UNKNOWN;
    made.total_bytes = variable ? c->total_bytes : FRZ_STAT_UNKNOWN;
    if (c->values > c->nulls + c->nans && bounds_of(c, &lower, &upper)) {
        FRZ_TRY(frz_value_copy(arena, &lower, &made.lower, err));
        FRZ_TRY(frz_value_copy(arena, &upper, &made.upper, err));
        made.has_lower = made.has_upper = true;
        made.tight_bounds = 1;
    }
    *out = made;
out:
    return rc;
}

/* ---- truncation ---- */

/* Bytes of the first length characters; the whole text if it is not longer. */
static size_t prefix_bytes(frz_str s, size_t length)
{
    size_t i = 0;
    for (; i < s.len; i++) {
        if (((uint8_t)s.ptr[i] & 0xC0) != 0x80 && length-- == 0) {
            break;
        }
    }
    return i;
}

static uint32_t decode_point(const uint8_t *p, size_t len)
{
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = p[0] & masks[len];
    for (size_t i = 1; i < len; i++) {
        point = point << 6 | (p[i] & 0x3Fu);
    }
    return point;
}

static size_t encode_point(uint32_t point, uint8_t *p)
{
    if (point < 0x80) {
        p[0] = (uint8_t)point;
        return 1;
    }
    size_t len = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        p[i] = (uint8_t)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    p[0] = (uint8_t)((0xF00u >> len) | point);
    return len;
}

/* Raise the last character that can be raised and drop those behind it; 0 if there is none. The
 * buffer has room for one character more. */
static size_t raise_text(uint8_t *bytes, size_t len)
{
    while (len > 0) {
        size_t start = len - 1;
        while ((bytes[start] & 0xC0) == 0x80) {
            start--;
        }
        uint32_t point = decode_point(bytes + start, len - start);
        if (point < 0x10FFFF) {
            return start + encode_point(point == 0xD7FF ? 0xE000 : point + 1, bytes + start);
        }
        len = start;
    }
    return 0;
}

static size_t raise_bytes(uint8_t *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] == 0xFF) {
        len--;
    }
    if (len > 0) {
        bytes[len - 1]++;
    }
    return len;
}

static frz_code truncate_upper(frz_arena *arena, frz_field_stats *stats, size_t cut, bool text,
                               frz_error *err)
{
    uint8_t *bytes = frz_arena_alloc(arena, cut + 4);
    if (bytes == NULL) {
        return frz_fail_nomem(err, cut + 4);
    }
    if (cut > 0) {
        memcpy(bytes, stats->upper.as.bytes.ptr, cut);
    }
    size_t len = text ? raise_text(bytes, cut) : raise_bytes(bytes, cut);
    stats->has_upper = len > 0;
    stats->upper.as.bytes = (frz_str){(const char *)bytes, len};
    stats->tight_bounds = 0;
    return FRZ_OK;
}

frz_code frz_stats_truncate(frz_arena *arena, frz_field_stats *stats, size_t length, frz_error *err)
{
    bool is_string = stats->type->id == FRZ_TYPE_STRING;
    if (!is_string && stats->type->id != FRZ_TYPE_BINARY) {
        return FRZ_OK;
    }
    if (stats->has_lower) {
        frz_str lower = stats->lower.as.bytes;
        bool text = is_string && frz_utf8_valid(lower);
        size_t cut = text ? prefix_bytes(lower, length) : FRZ_MIN(lower.len, length);
        if (cut < lower.len) {
            stats->lower.as.bytes.len = cut;
            stats->tight_bounds = 0;
        }
    }
    if (stats->has_upper) {
        frz_str upper = stats->upper.as.bytes;
        bool text = is_string && frz_utf8_valid(upper);
        size_t cut = text ? prefix_bytes(upper, length) : FRZ_MIN(upper.len, length);
        if (cut < upper.len) {
            return truncate_upper(arena, stats, cut, text, err);
        }
    }
    return FRZ_OK;
}

frz_code frz_stats_own_types(frz_arena *arena, frz_field_stats *stats, size_t count, frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        frz_code rc = frz_type_copy(arena, stats[i].type, &stats[i].type, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        stats[i].lower.type = stats[i].upper.type = stats[i].type;
    }
    return FRZ_OK;
}
