/*
 * Where decoded values gather until they become an array: one growing buffer, or two for values of
 * variable length, and a bitmap once a null was seen.
 */
#include "format/parquet/parquet_read.h"

void parquet_sink_init(parquet_sink *s, const frz_env *env, const frz_type *type)
{
    *s = (parquet_sink){.env = env};
    s->is_bool = type->id == FRZ_TYPE_BOOLEAN;
    s->width = s->is_bool ? 1 : frz_type_width(type);
}

void parquet_sink_reset(parquet_sink *s)
{
    frz_buffer_unref(s->values);
    frz_buffer_unref(s->offsets);
    frz_buffer_unref(s->validity);
    *s = (parquet_sink){.env = s->env, .width = s->width, .is_bool = s->is_bool};
}

/* A buffer of at least size bytes that keeps its bytes; grows by doubling. */
static frz_code grow(const frz_env *env, frz_buffer **buffer, size_t size, frz_error *err)
{
    if (*buffer == NULL) {
        return frz_buffer_new(env, size, buffer, err);
    }
    if (size <= (*buffer)->size) {
        return FRZ_OK;
    }
    return frz_buffer_resize(buffer, FRZ_MAX(size, (*buffer)->size * 2), err);
}

frz_code parquet_sink_reserve(parquet_sink *s, size_t more, size_t bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count, size;
    if (!frz_add_size(s->count, more, &count) || count >= INT32_MAX ||
        !frz_mul_size(count, s->width, &size) || !frz_add_size(s->bytes, bytes, &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "a batch of more than 2^31 values");
    }
    if (s->width > 0) {
        return grow(s->env, &s->values, size, err);
    }
    bool first = s->offsets == NULL;
    FRZ_TRY(grow(s->env, &s->offsets, (count + 1) * sizeof(int32_t), err));
    if (first) {
        memset(s->offsets->data, 0, sizeof(int32_t));
    }
    FRZ_TRY(grow(s->env, &s->values, bytes, err));
out:
    return rc;
}

void parquet_sink_views(parquet_sink *s, const frz_str *views, size_t n)
{
    int32_t *offsets = (int32_t *)(void *)s->offsets->data + s->count;
    uint8_t *to = s->values->data + s->bytes;
    size_t end = s->bytes;
    for (size_t i = 0; i < n; i++) {
        size_t len = views[i].len;
        if (len > 0) {
            memcpy(to, views[i].ptr, len);
        }
        to += len;
        end += len;
        offsets[i + 1] = (int32_t)end;
    }
    s->count += n;
    s->bytes = end;
}

frz_code parquet_sink_validity(parquet_sink *s, size_t rows, frz_error *err)
{
    bool first = s->validity == NULL;
    frz_code rc = grow(s->env, &s->validity, frz_bitmap_bytes((int64_t)rows) + 8, err);
    if (rc == FRZ_OK && first) {
        frz_bitmap_fill(s->validity->data, 0, (int64_t)s->count, true);
    }
    return rc;
}

/* ---- spreading: from the last row down, so that nothing unmoved is overwritten ---- */

#define SPREAD(type)                                                                               \
    do {                                                                                           \
        type *v = (type *)(void *)s->values->data + base;                                          \
        for (size_t i = rows; i-- > 0;) {                                                          \
            if (frz_bit_get(bitmap, first_bit + (int64_t)i)) {                                     \
                v[i] = v[--dense];                                                                 \
            } else {                                                                               \
                memset(&v[i], 0, sizeof v[i]);                                                     \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void spread_wide(parquet_sink *s, size_t base, size_t dense, size_t rows,
                        const uint8_t *bitmap, int64_t first_bit)
{
    uint8_t *v = s->values->data + base * s->width;
    for (size_t i = rows; i-- > 0;) {
        if (frz_bit_get(bitmap, first_bit + (int64_t)i)) {
            dense--;
            memmove(v + i * s->width, v + dense * s->width, s->width);
        } else {
            memset(v + i * s->width, 0, s->width);
        }
    }
}

static void spread_offsets(parquet_sink *s, size_t base, size_t dense, size_t rows,
                           const uint8_t *bitmap, int64_t first_bit)
{
    int32_t *v = (int32_t *)(void *)s->offsets->data + base;
    for (size_t i = rows; i-- > 0;) {
        v[i + 1] = v[dense];
        if (frz_bit_get(bitmap, first_bit + (int64_t)i)) {
            dense--;
        }
    }
}

void parquet_sink_spread(parquet_sink *s, size_t base, size_t rows, const uint8_t *bitmap,
                         int64_t first_bit)
{
    size_t dense = s->count - base;
    s->nulls += (int64_t)(rows - dense);
    s->count = base + rows;
    switch (s->width) {
    case 0:
        spread_offsets(s, base, dense, rows, bitmap, first_bit);
        break;
    case 1:
        SPREAD(uint8_t);
        break;
    case 4:
        SPREAD(uint32_t);
        break;
    case 8:
        SPREAD(uint64_t);
        break;
    default:
        spread_wide(s, base, dense, rows, bitmap, first_bit);
    }
}

/* ---- the end ---- */

/* Bytes of 0 and 1 to bits. */
static frz_code pack_bools(parquet_sink *s, frz_error *err)
{
    frz_buffer *bits;
    frz_code rc = frz_buffer_new(s->env, frz_bitmap_bytes((int64_t)s->count) + 8, &bits, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    const uint8_t *from = s->values->data;
    size_t whole = s->count / 8;
    for (size_t i = 0; i < whole; i++) {
        /* gathers the lowest bit of each byte in the top byte */
        bits->data[i] =
            (uint8_t)((frz_load_le64(from + i * 8) * UINT64_C(0x0102040810204080)) >> 56);
    }
    for (size_t i = whole * 8; i < s->count; i++) {
        frz_bit_put(bits->data, (int64_t)i, from[i] != 0);
    }
    frz_buffer_unref(s->values);
    s->values = bits;
    return FRZ_OK;
}

frz_code parquet_sink_finish(parquet_sink *s, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parquet_sink_reserve(s, 0, 0, err)); /* an array of no rows has buffers too */
    if (s->is_bool) {
        FRZ_TRY(pack_bools(s, err));
        s->values->size = frz_bitmap_bytes((int64_t)s->count);
    } else {
        s->values->size = s->width > 0 ? s->count * s->width : s->bytes;
    }
    if (s->offsets != NULL) {
        s->offsets->size = (s->count + 1) * sizeof(int32_t);
    }
    if (s->validity != NULL) {
        s->validity->size = frz_bitmap_bytes((int64_t)s->count);
    }
    frz_buffer *buffers[3] = {s->nulls > 0 ? s->validity : NULL};
    size_t n_buffers = 2;
    if (s->nulls == 0) {
        frz_buffer_unref(s->validity);
    }
    if (s->width == 0) {
        buffers[1] = s->offsets;
        buffers[2] = s->values;
        n_buffers = 3;
    } else {
        buffers[1] = s->values;
    }
    int64_t count = (int64_t)s->count;
    int64_t nulls = s->nulls;
    s->values = s->offsets = s->validity = NULL;
    rc = frz_array_make(s->env, count, nulls, buffers, n_buffers, NULL, 0, out, err);
out:
    parquet_sink_reset(s);
    return rc;
}

static void drop_variable(parquet_sink *s, size_t n)
{
    int32_t *offsets = (int32_t *)(void *)s->offsets->data;
    size_t cut = (size_t)offsets[n];
    memmove(s->values->data, s->values->data + cut, s->bytes - cut);
    for (size_t i = n; i <= s->count; i++) {
        offsets[i - n] = offsets[i] - (int32_t)cut;
    }
    s->bytes -= cut;
}

frz_code parquet_sink_take(parquet_sink *s, size_t n, parquet_sink *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(s->validity == NULL && n <= s->count);
    if (n == s->count) {
        *out = *s;
        s->values = s->offsets = NULL;
        parquet_sink_reset(s);
        return FRZ_OK;
    }
    *out = (parquet_sink){.env = s->env, .width = s->width, .is_bool = s->is_bool};
    size_t bytes = s->width > 0 ? 0 : (size_t)((const int32_t *)(void *)s->offsets->data)[n];
    FRZ_TRY(parquet_sink_reserve(out, n, bytes, err));
    if (s->width > 0) {
        memcpy(out->values->data, s->values->data, n * s->width);
        memmove(s->values->data, s->values->data + n * s->width, (s->count - n) * s->width);
    } else {
        memcpy(out->offsets->data, s->offsets->data, (n + 1) * sizeof(int32_t));
        memcpy(out->values->data, s->values->data, bytes);
        drop_variable(s, n);
    }
    out->count = n;
    out->bytes = bytes;
    s->count -= n;
out:
    if (rc != FRZ_OK) {
        parquet_sink_reset(out);
    }
    return rc;
}
