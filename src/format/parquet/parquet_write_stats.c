/*
 * Bounds and counts of one column chunk while it is written. Floats are kept as integers in their
 * total order (-0.0 below 0.0), which one signed comparison decides; NaN is counted and is never a
 * bound. spec: parquet.thrift, Statistics and ColumnOrder
 */
#include "format/parquet/parquet_write.h"

#define BOUND_MAX 64   /* bytes of a string's bound in the footer */
#define FIXED_MAX 1024 /* longer values of fixed length have no bounds there */
#define DOUBLE_INF 0x7ff0000000000000u
#define FLOAT_INF 0x7f800000u

void parquet_write_stats_init(parquet_write_stats *stats, const frz_env *env,
                              const parquet_write_leaf *leaf)
{
    *stats = (parquet_write_stats){.order = leaf->order, .width = leaf->width};
    frz_buf_init(&stats->lower_bytes, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&stats->upper_bytes, env, FRZ_BUF_NO_LIMIT);
}

void parquet_write_stats_reset(parquet_write_stats *stats)
{
    frz_buf_reset(&stats->lower_bytes);
    frz_buf_reset(&stats->upper_bytes);
    stats->has_bounds = false;
    stats->slots = stats->nulls = stats->nans = stats->bytes = 0;
}

/* ---- numbers ---- */

/* Its own inverse. */
static inline int64_t double_key(uint64_t bits)
{
    return (int64_t)(bits ^ ((uint64_t)((int64_t)bits >> 63) & INT64_MAX));
}

static inline int32_t float_key(uint32_t bits)
{
    return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & INT32_MAX));
}

static void merge_numbers(parquet_write_stats *stats, int64_t lower, int64_t upper)
{
    if (lower > upper) {
        return; /* there was nothing but NaN */
    }
    stats->lower = stats->has_bounds ? FRZ_MIN(stats->lower, lower) : lower;
    stats->upper = stats->has_bounds ? FRZ_MAX(stats->upper, upper) : upper;
    stats->has_bounds = true;
}

static void add_bytes_1(parquet_write_stats *stats, const uint8_t *values, size_t count)
{
    bool any_false = memchr(values, 0, count) != NULL;
    bool any_true = memchr(values, 1, count) != NULL;
    merge_numbers(stats, any_false ? 0 : 1, any_true ? 1 : 0);
}

static void add_int32(parquet_write_stats *stats, const uint8_t *values, size_t count)
{
    int32_t lower = INT32_MAX;
    int32_t upper = INT32_MIN;
    for (size_t i = 0; i < count; i++) {
        int32_t v = (int32_t)frz_load_le32(values + 4 * i);
        lower = FRZ_MIN(lower, v);
        upper = FRZ_MAX(upper, v);
    }
    merge_numbers(stats, lower, upper);
}

static void add_int64(parquet_write_stats *stats, const uint8_t *values, size_t count)
{
    int64_t lower = INT64_MAX;
    int64_t upper = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t v = (int64_t)frz_load_le64(values + 8 * i);
        lower = FRZ_MIN(lower, v);
        upper = FRZ_MAX(upper, v);
    }
    merge_numbers(stats, lower, upper);
}

static void add_float(parquet_write_stats *stats, const uint8_t *values, size_t count)
{
    int32_t lower = INT32_MAX;
    int32_t upper = INT32_MIN;
    int64_t nans = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = frz_load_le32(values + 4 * i);
        bool nan = (bits & INT32_MAX) > FLOAT_INF;
        int32_t key = float_key(bits);
        nans += nan;
        lower = !nan && key < lower ? key : lower;
        upper = !nan && key > upper ? key : upper;
    }
    stats->nans += nans;
    merge_numbers(stats, lower, upper);
}

static void add_double(parquet_write_stats *stats, const uint8_t *values, size_t count)
{
    int64_t lower = INT64_MAX;
    int64_t upper = INT64_MIN;
    int64_t nans = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = frz_load_le64(values + 8 * i);
        bool nan = (bits & INT64_MAX) > DOUBLE_INF;
        int64_t key = double_key(bits);
        nans += nan;
        lower = !nan && key < lower ? key : lower;
        upper = !nan && key > upper ? key : upper;
    }
    stats->nans += nans;
    merge_numbers(stats, lower, upper);
}

/* ---- byte strings ---- */

static int compare_bytes(const parquet_write_stats *stats, frz_str a, frz_str b)
{
    if (stats->order == PARQUET_BOUND_SIGNED_BYTES && ((a.ptr[0] ^ b.ptr[0]) & 0x80) != 0) {
        return (a.ptr[0] & 0x80) != 0 ? -1 : 1;
    }
    return frz_str_compare(a, b);
}

static frz_code set_bound(frz_buf *bound, frz_str value, frz_error *err)
{
    frz_buf_clear(bound);
    return frz_buf_append(bound, value.ptr, value.len, err);
}

static frz_code add_strings(parquet_write_stats *stats, const uint8_t *values, size_t size,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str lower = frz_buf_view(&stats->lower_bytes);
    frz_str upper = frz_buf_view(&stats->upper_bytes);
    bool has = stats->has_bounds;
    bool new_lower = false;
    bool new_upper = false;
    for (const uint8_t *p = values; p < values + size;) {
        size_t head = stats->width == 0 ? 4 : 0;
        frz_str v = {(const char *)p + head, head == 0 ? stats->width : frz_load_le32(p)};
        if (!has || compare_bytes(stats, v, lower) < 0) {
            lower = v;
            new_lower = true;
        }
        if (!has || compare_bytes(stats, v, upper) > 0) {
            upper = v;
            new_upper = true;
        }
        has = true;
        p += head + v.len;
    }
    if (new_lower) {
        FRZ_TRY(set_bound(&stats->lower_bytes, lower, err));
    }
    if (new_upper) {
        FRZ_TRY(set_bound(&stats->upper_bytes, upper, err));
    }
    stats->has_bounds = has;
out:
    return rc;
}

frz_code parquet_write_stats_add(parquet_write_stats *stats, const uint8_t *values, size_t size,
                                 size_t count, frz_error *err)
{
    if (count == 0) {
        return FRZ_OK;
    }
    switch (stats->order) {
    case PARQUET_BOUND_BOOLEAN:
        add_bytes_1(stats, values, count);
        return FRZ_OK;
    case PARQUET_BOUND_INT32:
        add_int32(stats, values, count);
        return FRZ_OK;
    case PARQUET_BOUND_INT64:
        add_int64(stats, values, count);
        return FRZ_OK;
    case PARQUET_BOUND_FLOAT:
        add_float(stats, values, count);
        return FRZ_OK;
    case PARQUET_BOUND_DOUBLE:
        add_double(stats, values, count);
        return FRZ_OK;
    default:
        stats->bytes += stats->width == 0 ? (int64_t)(size - 4 * count) : 0;
        return add_strings(stats, values, size, err);
    }
}

/* ---- for the footer ---- */

static frz_code footer_number(frz_arena *arena, int64_t value, size_t width, frz_str *out,
                              frz_error *err)
{
    uint8_t bytes[8];
    frz_store_le64(bytes, (uint64_t)value);
    return frz_arena_str(arena, (frz_str){(const char *)bytes, width}, out, err);
}

/* Zeros of both signs are equal for readers: the outer one is written. */
static int64_t outer_zero(parquet_bound_order order, int64_t key, bool lower)
{
    bool is_float = order == PARQUET_BOUND_FLOAT || order == PARQUET_BOUND_DOUBLE;
    if (is_float && (key == 0 || key == -1)) {
        return lower ? -1 : 0; /* the keys of -0.0 and 0.0 */
    }
    return key;
}

static int64_t bits_of_key(parquet_bound_order order, int64_t key)
{
    switch (order) {
    case PARQUET_BOUND_FLOAT:
        return float_key((uint32_t)(int32_t)key);
    case PARQUET_BOUND_DOUBLE:
        return double_key((uint64_t)key);
    default:
        return key;
    }
}

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
        if (size > 0 && start + size <= BOUND_MAX) {
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

/* A bound of variable length; out stays empty if there is none of at most BOUND_MAX bytes. */
static frz_code footer_string(frz_arena *arena, frz_str value, bool text, bool upper, frz_str *out,
                              int8_t *exact, frz_error *err)
{
    uint8_t cut[BOUND_MAX];
    if (value.len <= BOUND_MAX) {
        *exact = 1;
        return frz_arena_str(arena, value, out, err);
    }
    size_t len = text ? character_prefix(value, BOUND_MAX) : BOUND_MAX;
    if (text && !frz_utf8_valid((frz_str){value.ptr, len})) {
        return FRZ_OK;
    }
    memcpy(cut, value.ptr, len);
    if (upper) {
        len = text ? raise_characters(cut, len) : raise_bytes(cut, len);
        if (len == 0) {
            return FRZ_OK;
        }
    }
    *exact = 0;
    return frz_arena_str(arena, (frz_str){(const char *)cut, len}, out, err);
}

static frz_code footer_bounds(const parquet_write_stats *stats, frz_arena *arena, bool text,
                              parquet_statistics *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (stats->order < PARQUET_BOUND_BYTES) {
        int64_t lower = outer_zero(stats->order, stats->lower, true);
        int64_t upper = outer_zero(stats->order, stats->upper, false);
        FRZ_TRY(footer_number(arena, bits_of_key(stats->order, lower), stats->width,
                              &out->min_value, err));
        FRZ_TRY(footer_number(arena, bits_of_key(stats->order, upper), stats->width,
                              &out->max_value, err));
        out->min_exact = out->max_exact = 1;
    } else if (stats->width == 0) {
        FRZ_TRY(footer_string(arena, frz_buf_view(&stats->lower_bytes), text, false,
                              &out->min_value, &out->min_exact, err));
        FRZ_TRY(footer_string(arena, frz_buf_view(&stats->upper_bytes), text, true, &out->max_value,
                              &out->max_exact, err));
    } else if (stats->width <= FIXED_MAX) {
        FRZ_TRY(frz_arena_str(arena, frz_buf_view(&stats->lower_bytes), &out->min_value, err));
        FRZ_TRY(frz_arena_str(arena, frz_buf_view(&stats->upper_bytes), &out->max_value, err));
        out->min_exact = out->max_exact = 1;
    }
out:
    return rc;
}

frz_code parquet_write_stats_footer(const parquet_write_stats *stats, frz_arena *arena,
                                    const parquet_write_leaf *leaf, parquet_statistics *out,
                                    frz_error *err)
{
    bool is_float = stats->order == PARQUET_BOUND_FLOAT || stats->order == PARQUET_BOUND_DOUBLE;
    *out = (parquet_statistics){
        .has_null_count = true,
        .null_count = stats->nulls,
        .max_exact = -1,
        .min_exact = -1,
        .has_nan_count = is_float,
        .nan_count = stats->nans,
    };
    if (!stats->has_bounds) {
        return FRZ_OK;
    }
    return footer_bounds(stats, arena, leaf->field->type->id == FRZ_TYPE_STRING, out, err);
}

/* ---- for metrics ---- */

static frz_i128 big_endian(frz_str bytes)
{
    frz_i128 value = (bytes.ptr[0] & 0x80) != 0 ? -1 : 0;
    for (size_t i = 0; i < bytes.len; i++) {
        value = (frz_i128)((unsigned __int128)value << 8 | (uint8_t)bytes.ptr[i]);
    }
    return value;
}

static frz_value metric_value(const parquet_write_stats *stats, const frz_type *type, int64_t key,
                              const frz_buf *bytes)
{
    frz_value value = {.type = type};
    int64_t bits = bits_of_key(stats->order, key);
    uint32_t low = (uint32_t)bits;
    switch (stats->order) {
    case PARQUET_BOUND_BOOLEAN:
        value.as.boolean = key != 0;
        break;
    case PARQUET_BOUND_FLOAT:
        memcpy(&value.as.f32, &low, sizeof low);
        break;
    case PARQUET_BOUND_DOUBLE:
        memcpy(&value.as.f64, &bits, sizeof bits);
        break;
    case PARQUET_BOUND_INT32:
    case PARQUET_BOUND_INT64:
        if (type->id == FRZ_TYPE_DECIMAL) {
            value.as.i128 = key;
        } else if (stats->order == PARQUET_BOUND_INT32) {
            value.as.i32 = (int32_t)key;
        } else {
            value.as.i64 = key;
        }
        break;
    case PARQUET_BOUND_SIGNED_BYTES:
        value.as.i128 = big_endian(frz_buf_view(bytes));
        break;
    case PARQUET_BOUND_BYTES:
        value.as.bytes = frz_buf_view(bytes);
        break;
    }
    return value;
}

void parquet_write_stats_metrics(const parquet_write_stats *stats, const frz_field *field,
                                 frz_field_stats *out)
{
    bool is_float = stats->order == PARQUET_BOUND_FLOAT || stats->order == PARQUET_BOUND_DOUBLE;
    *out = (frz_field_stats){
        .field_id = field->id,
        .type = field->type,
        .has_lower = stats->has_bounds,
        .has_upper = stats->has_bounds,
        .tight_bounds = 1,
        .value_count = stats->slots,
        .null_value_count = stats->nulls,
        .nan_value_count = is_float ? stats->nans : FRZ_STAT_UNKNOWN,
        .total_bytes = stats->width == 0 ? stats->bytes : FRZ_STAT_UNKNOWN,
    };
    if (stats->has_bounds) {
        out->lower = metric_value(stats, field->type, stats->lower, &stats->lower_bytes);
        out->upper = metric_value(stats, field->type, stats->upper, &stats->upper_bytes);
    }
}
