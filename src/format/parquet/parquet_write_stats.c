/*
 * Bounds and counts of one column chunk and its pages while it is written. Numbers are kept as
 * integers that sort like them, which one signed comparison decides (floats in their total order,
 * -0.0 below 0.0); NaN is counted and is never a bound.
 * spec: parquet.thrift, Statistics and ColumnOrder
 */
#include "format/parquet/parquet_write.h"

#define HALF_INF 0x7c00u

void parquet_write_stats_init(parquet_write_stats *stats, const frz_env *env,
                              const parquet_write_leaf *leaf)
{
    *stats = (parquet_write_stats){
        .kernels = parquet_write_kernels_of(env), .order = leaf->order, .width = leaf->width};
    frz_buf_init(&stats->lower_bytes, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&stats->upper_bytes, env, FRZ_BUF_NO_LIMIT);
}

void parquet_write_stats_reset(parquet_write_stats *stats)
{
    frz_buf_reset(&stats->lower_bytes);
    frz_buf_reset(&stats->upper_bytes);
    stats->bounds = (parquet_write_bounds){.has = false};
    stats->slots = stats->nulls = stats->nans = stats->bytes = 0;
}

/* ---- numbers of a page ---- */

static void set_numbers(parquet_page_stats *page, int64_t lower, int64_t upper)
{
    /* else there was nothing but NaN */
    page->bounds = (parquet_write_bounds){.has = lower <= upper, .lower = lower, .upper = upper};
}

static void page_booleans(parquet_page_stats *page, const uint8_t *values, size_t count)
{
    bool any_false = memchr(values, 0, count) != NULL;
    bool any_true = memchr(values, 1, count) != NULL;
    set_numbers(page, any_false ? 0 : 1, any_true ? 1 : 0);
}

static void page_int32(const parquet_write_kernels *k, parquet_page_stats *page,
                       const uint8_t *values, size_t count)
{
    int32_t lower, upper;
    k->bounds_int32(values, count, &lower, &upper);
    set_numbers(page, lower, upper);
}

static void page_uint32(parquet_page_stats *page, const uint8_t *values, size_t count)
{
    uint32_t lower = UINT32_MAX;
    uint32_t upper = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t v = frz_load_le32(values + 4 * i);
        lower = FRZ_MIN(lower, v);
        upper = FRZ_MAX(upper, v);
    }
    set_numbers(page, lower, upper);
}

static void page_int64(const parquet_write_kernels *k, parquet_page_stats *page,
                       const uint8_t *values, size_t count)
{
    int64_t lower, upper;
    k->bounds_int64(values, count, &lower, &upper);
    set_numbers(page, lower, upper);
}

static void page_uint64(parquet_page_stats *page, const uint8_t *values, size_t count)
{
    int64_t lower = INT64_MAX;
    int64_t upper = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t v = parquet_uint64_key(frz_load_le64(values + 8 * i));
        lower = FRZ_MIN(lower, v);
        upper = FRZ_MAX(upper, v);
    }
    set_numbers(page, lower, upper);
}

static void page_half(parquet_page_stats *page, const uint8_t *values, size_t count)
{
    int64_t lower = INT16_MAX;
    int64_t upper = INT16_MIN;
    for (size_t i = 0; i < count; i++) {
        uint16_t bits = frz_load_le16(values + 2 * i);
        bool nan = (bits & INT16_MAX) > HALF_INF;
        int64_t key = parquet_half_key(bits);
        page->nans += nan;
        lower = !nan && key < lower ? key : lower;
        upper = !nan && key > upper ? key : upper;
    }
    set_numbers(page, lower, upper);
}

static void page_float(const parquet_write_kernels *k, parquet_page_stats *page,
                       const uint8_t *values, size_t count)
{
    int32_t lower, upper;
    page->nans = (int64_t)k->bounds_float(values, count, &lower, &upper);
    set_numbers(page, lower, upper);
}

static void page_double(const parquet_write_kernels *k, parquet_page_stats *page,
                        const uint8_t *values, size_t count)
{
    int64_t lower, upper;
    page->nans = (int64_t)k->bounds_double(values, count, &lower, &upper);
    set_numbers(page, lower, upper);
}

/* ---- byte strings of a page ---- */

int parquet_bound_compare(parquet_bound_order order, frz_str a, frz_str b)
{
    if (order == PARQUET_BOUND_SIGNED_BYTES && ((a.ptr[0] ^ b.ptr[0]) & 0x80) != 0) {
        return (a.ptr[0] & 0x80) != 0 ? -1 : 1;
    }
    return frz_str_compare(a, b);
}

/* The first eight bytes as a number that sorts as they do, zeros behind shorter ones. */
static uint64_t first_bytes(parquet_bound_order order, frz_str v, const uint8_t *end)
{
    const uint8_t *p = (const uint8_t *)v.ptr;
    uint64_t first = 0;
    if (v.len >= 8 || end - p >= 8) {
        first = __builtin_bswap64(frz_load_le64(p));
        first &= v.len >= 8 ? UINT64_MAX : ~(UINT64_MAX >> 8 * v.len);
    } else {
        for (size_t i = 0; i < v.len; i++) {
            first |= (uint64_t)p[i] << (56 - 8 * i);
        }
    }
    return order == PARQUET_BOUND_SIGNED_BYTES ? first ^ (uint64_t)1 << 63 : first;
}

/* Bounds so far, and their first bytes: most values are told from the bounds by these alone. */
typedef struct string_bounds {
    parquet_bound_order order;
    const uint8_t *end; /* of readable bytes */
    parquet_write_bounds all;
    uint64_t lower, upper;
} string_bounds;

static inline void add_string(string_bounds *b, frz_str v)
{
    uint64_t first = first_bytes(b->order, v, b->end);
    if (!b->all.has) {
        b->all = (parquet_write_bounds){.has = true, .lower_bytes = v, .upper_bytes = v};
        b->lower = b->upper = first;
        return;
    }
    if (first > b->lower && first < b->upper) {
        return;
    }
    if (first < b->lower || parquet_bound_compare(b->order, v, b->all.lower_bytes) < 0) {
        b->all.lower_bytes = v;
        b->lower = first;
    } else if (first > b->upper || parquet_bound_compare(b->order, v, b->all.upper_bytes) > 0) {
        b->all.upper_bytes = v;
        b->upper = first;
    }
}

static void page_strings(parquet_page_stats *page, parquet_bound_order order, size_t width,
                         const uint8_t *values, size_t size)
{
    const size_t head = width == 0 ? 4 : 0;
    string_bounds b = {.order = order, .end = values + size};
    for (const uint8_t *p = values; p < b.end;) {
        frz_str v = {(const char *)p + head, head == 0 ? width : frz_load_le32(p)};
        p += head + v.len;
        add_string(&b, v);
    }
    page->bounds = b.all;
}

static void measure_page(const parquet_write_stats *stats, const uint8_t *values, size_t size,
                         size_t count, parquet_page_stats *page)
{
    switch (stats->order) {
    case PARQUET_BOUND_BOOLEAN:
        page_booleans(page, values, count);
        break;
    case PARQUET_BOUND_INT32:
        page_int32(stats->kernels, page, values, count);
        break;
    case PARQUET_BOUND_UINT32:
        page_uint32(page, values, count);
        break;
    case PARQUET_BOUND_INT64:
        page_int64(stats->kernels, page, values, count);
        break;
    case PARQUET_BOUND_UINT64:
        page_uint64(page, values, count);
        break;
    case PARQUET_BOUND_HALF:
        page_half(page, values, count);
        break;
    case PARQUET_BOUND_FLOAT:
        page_float(stats->kernels, page, values, count);
        break;
    case PARQUET_BOUND_DOUBLE:
        page_double(stats->kernels, page, values, count);
        break;
    case PARQUET_BOUND_BYTES:
    case PARQUET_BOUND_SIGNED_BYTES:
        page_strings(page, stats->order, stats->width, values, size);
        break;
    case PARQUET_BOUND_NONE:
        break;
    }
}

/* ---- the chunk ---- */

static frz_code set_bound(frz_buf *bound, frz_str value, frz_str *out, frz_error *err)
{
    frz_buf_clear(bound);
    frz_code rc = frz_buf_append(bound, value.ptr, value.len, err);
    *out = frz_buf_view(bound);
    return rc;
}

static frz_code merge_strings(parquet_write_stats *stats, const parquet_write_bounds *page,
                              frz_error *err)
{
    parquet_write_bounds *b = &stats->bounds;
    frz_code rc = FRZ_OK;
    if (!b->has || parquet_bound_compare(stats->order, page->lower_bytes, b->lower_bytes) < 0) {
        FRZ_TRY(set_bound(&stats->lower_bytes, page->lower_bytes, &b->lower_bytes, err));
    }
    if (!b->has || parquet_bound_compare(stats->order, page->upper_bytes, b->upper_bytes) > 0) {
        FRZ_TRY(set_bound(&stats->upper_bytes, page->upper_bytes, &b->upper_bytes, err));
    }
    b->has = true;
out:
    return rc;
}

static void merge_numbers(parquet_write_bounds *b, const parquet_write_bounds *page)
{
    b->lower = b->has ? FRZ_MIN(b->lower, page->lower) : page->lower;
    b->upper = b->has ? FRZ_MAX(b->upper, page->upper) : page->upper;
    b->has = true;
}

/* What was measured of a page goes into the chunk. */
static frz_code merge_page(parquet_write_stats *stats, const parquet_page_stats *page,
                           frz_error *err)
{
    stats->nans += page->nans;
    stats->bytes += page->bytes;
    if (!page->bounds.has) {
        return FRZ_OK;
    }
    if (stats->order >= PARQUET_BOUND_BYTES) {
        return merge_strings(stats, &page->bounds, err);
    }
    merge_numbers(&stats->bounds, &page->bounds);
    return FRZ_OK;
}

frz_code parquet_write_stats_add(parquet_write_stats *stats, const uint8_t *values, size_t size,
                                 size_t count, parquet_page_stats *page, frz_error *err)
{
    *page = (parquet_page_stats){.bytes = stats->width == 0 ? (int64_t)(size - 4 * count) : 0};
    if (count == 0) {
        return FRZ_OK;
    }
    measure_page(stats, values, size, count, page);
    return merge_page(stats, page, err);
}

frz_code parquet_write_stats_add_used(parquet_write_stats *stats, const parquet_dictionary_use *use,
                                      frz_buf *room, parquet_page_stats *page, frz_error *err)
{
    const frz_buf *values = &use->dictionary->values;
    string_bounds b = {.order = stats->order, .end = values->data + values->len};
    frz_buf_clear(room);
    frz_code rc = frz_buf_reserve(room, use->dictionary->count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    *page = (parquet_page_stats){.bytes =
                                     stats->width == 0 ? (int64_t)(use->size - 4 * use->count) : 0};
    memset(room->data, 0, use->dictionary->count);
    for (size_t i = 0; i < use->count; i++) {
        room->data[use->indices[i]] = 1;
    }
    for (size_t i = 0; i < use->dictionary->count; i++) {
        if (room->data[i] != 0) {
            add_string(&b, parquet_dictionary_out_entry(use->dictionary, i));
        }
    }
    page->bounds = b.all;
    return merge_page(stats, page, err);
}

/* ---- for the footer ---- */

static frz_code footer_bound(const parquet_write_stats *stats, const parquet_write_leaf *leaf,
                             bool upper, frz_arena *arena, frz_str *out, int8_t *exact,
                             frz_error *err)
{
    parquet_bound_out bound;
    parquet_bound_encode(leaf, &stats->bounds, upper, &bound);
    *exact = bound.exact;
    return bound.bytes.ptr == NULL ? FRZ_OK : frz_arena_str(arena, bound.bytes, out, err);
}

frz_code parquet_write_stats_footer(const parquet_write_stats *stats, frz_arena *arena,
                                    const parquet_write_leaf *leaf, parquet_statistics *out,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = (parquet_statistics){
        .has_null_count = true,
        .null_count = stats->nulls,
        .has_nan_count = parquet_bound_is_float(stats->order),
        .nan_count = stats->nans,
    };
    FRZ_TRY(footer_bound(stats, leaf, false, arena, &out->min_value, &out->min_exact, err));
    FRZ_TRY(footer_bound(stats, leaf, true, arena, &out->max_value, &out->max_exact, err));
out:
    return rc;
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
                              frz_str bytes)
{
    frz_value value = {.type = type};
    uint64_t bits = parquet_bound_bits(stats->order, key);
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
        value.as.i128 = big_endian(bytes);
        break;
    case PARQUET_BOUND_BYTES:
        value.as.bytes = bytes;
        break;
    default: /* types that Iceberg lacks have no metrics */
        break;
    }
    return value;
}

void parquet_write_stats_metrics(const parquet_write_stats *stats, const frz_field *field,
                                 frz_field_stats *out)
{
    const parquet_write_bounds *b = &stats->bounds;
    bool has = b->has && field->type->id != FRZ_TYPE_FOREIGN;
    *out = (frz_field_stats){
        .field_id = field->id,
        .type = field->type,
        .has_lower = has,
        .has_upper = has,
        .tight_bounds = 1,
        .value_count = stats->slots,
        .null_value_count = stats->nulls,
        .nan_value_count = parquet_bound_is_float(stats->order) ? stats->nans : FRZ_STAT_UNKNOWN,
        .total_bytes = stats->width == 0 ? stats->bytes : FRZ_STAT_UNKNOWN,
        .column_size = FRZ_STAT_UNKNOWN,
    };
    if (has) {
        out->lower = metric_value(stats, field->type, b->lower, b->lower_bytes);
        out->upper = metric_value(stats, field->type, b->upper, b->upper_bytes);
    }
}
