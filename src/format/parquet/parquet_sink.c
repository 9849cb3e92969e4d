/*
 * Where decoded values gather until they become an array: one growing buffer, or two for values of
 * variable length, and a bitmap once a null was seen.
 */
#include "format/parquet/parquet_read.h"

#define WORD 8 /* bytes behind a bitmap that writing bits in words may touch */

void parquet_sink_init(parquet_sink *s, const frz_env *env, const frz_type *type)
{
    *s = (parquet_sink){.env = env, .kernels = parquet_kernels_of(env)};
    s->is_bool = type->id == FRZ_TYPE_BOOLEAN;
    s->width = s->is_bool ? 1 : frz_type_width(type);
}

void parquet_sink_reset(parquet_sink *s)
{
    frz_buffer_unref(s->values);
    frz_buffer_unref(s->offsets);
    frz_buffer_unref(s->validity);
    *s = (parquet_sink){
        .env = s->env, .kernels = s->kernels, .width = s->width, .is_bool = s->is_bool};
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
    if (s->is_bool) {
        size = frz_bitmap_bytes((int64_t)count) + WORD;
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

frz_code parquet_sink_validity(parquet_sink *s, size_t rows, frz_error *err)
{
    bool first = s->validity == NULL;
    frz_code rc = grow(s->env, &s->validity, frz_bitmap_bytes((int64_t)rows) + WORD, err);
    if (rc == FRZ_OK && first) {
        frz_bitmap_fill(s->validity->data, 0, (int64_t)s->count, true);
    }
    return rc;
}

/* ---- spreading: from the last row down, so that nothing unmoved is overwritten ---- */

/* Up to 64 bits from a place on; as many may be read behind them. */
static uint64_t load_bits(const uint8_t *bits, size_t at, unsigned n)
{
    const uint8_t *p = bits + (at >> 3);
    unsigned shift = (unsigned)(at & 7);
    uint64_t word = frz_load_le64(p) >> shift;
    if (shift > 0) {
        word |= (uint64_t)p[8] << (64 - shift);
    }
    return n == 64 ? word : word & ((UINT64_C(1) << n) - 1);
}

/* The low n bits of a word, whose others are 0; bits beside them stay. */
static void store_bits(uint8_t *bits, size_t at, unsigned n, uint64_t word)
{
    uint8_t *p = bits + (at >> 3);
    unsigned shift = (unsigned)(at & 7);
    uint64_t mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    frz_store_le64(p, (frz_load_le64(p) & ~(mask << shift)) | word << shift);
    if (shift + n > 64) {
        unsigned keep = 0xFFu << (shift + n - 64);
        p[8] = (uint8_t)((p[8] & keep) | (unsigned)(word >> (64 - shift)));
    }
}

static void spread_bits(parquet_sink *s, size_t base, size_t dense, size_t rows,
                        const uint8_t *bitmap, int64_t first_bit)
{
    for (size_t i = rows; i > 0;) {
        unsigned n = i % 64 == 0 ? 64 : (unsigned)(i % 64);
        i -= n;
        uint64_t mask = load_bits(bitmap, (size_t)first_bit + i, n);
        unsigned valid = (unsigned)__builtin_popcountll(mask);
        dense -= valid;
        uint64_t word = load_bits(s->values->data, base + dense, valid);
        store_bits(s->values->data, base + i, n, s->kernels->scatter(word, mask));
    }
}

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

/* The following are without branches, which nulls would mispredict. */
static void spread_1(uint8_t *v, size_t dense, size_t rows, const uint8_t *bitmap,
                     int64_t first_bit)
{
    for (size_t i = rows; i-- > 0;) {
        unsigned bit = frz_bit_get(bitmap, first_bit + (int64_t)i);
        dense -= bit;
        v[i] = (uint8_t)(v[dense] & (0 - bit));
    }
}

static void spread_2(uint8_t *v, size_t dense, size_t rows, const uint8_t *bitmap,
                     int64_t first_bit)
{
    uint16_t *values = (uint16_t *)(void *)v;
    for (size_t i = rows; i-- > 0;) {
        unsigned bit = frz_bit_get(bitmap, first_bit + (int64_t)i);
        dense -= bit;
        values[i] = (uint16_t)(values[dense] & (0 - bit));
    }
}

static void spread_16(uint8_t *v, size_t dense, size_t rows, const uint8_t *bitmap,
                      int64_t first_bit)
{
    for (size_t i = rows; i-- > 0;) {
        uint64_t bit = frz_bit_get(bitmap, first_bit + (int64_t)i);
        dense -= bit;
        uint64_t low = frz_load_le64(v + dense * 16) & (0 - bit);
        uint64_t high = frz_load_le64(v + dense * 16 + 8) & (0 - bit);
        frz_store_le64(v + i * 16, low);
        frz_store_le64(v + i * 16 + 8, high);
    }
}

void parquet_sink_spread(parquet_sink *s, size_t base, size_t rows, const uint8_t *bitmap,
                         int64_t first_bit)
{
    size_t dense = s->count - base;
    s->nulls += (int64_t)(rows - dense);
    s->count = base + rows;
    if (s->is_bool) {
        spread_bits(s, base, dense, rows, bitmap, first_bit);
        return;
    }
    uint8_t *v = s->values->data + base * s->width;
    switch (s->width) {
    case 0:
        s->kernels->spread_offsets((int32_t *)(void *)s->offsets->data + base, dense, rows, bitmap,
                                   first_bit);
        break;
    case 1:
        spread_1(v, dense, rows, bitmap, first_bit);
        break;
    case 2:
        spread_2(v, dense, rows, bitmap, first_bit);
        break;
    case 4:
        s->kernels->spread_4(v, dense, rows, bitmap, first_bit);
        break;
    case 8:
        s->kernels->spread_8(v, dense, rows, bitmap, first_bit);
        break;
    case 16:
        spread_16(v, dense, rows, bitmap, first_bit);
        break;
    default:
        spread_wide(s, base, dense, rows, bitmap, first_bit);
    }
}

/* ---- the end ---- */

frz_code parquet_sink_finish(parquet_sink *s, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parquet_sink_reserve(s, 0, 0, err)); /* an array of no rows has buffers too */
    if (s->is_bool) {
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

/* ---- taking the first values ---- */

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

static void drop_bits(parquet_sink *s, size_t n)
{
    for (size_t i = 0; n + i < s->count; i += 64) {
        unsigned take = (unsigned)FRZ_MIN(s->count - n - i, (size_t)64);
        store_bits(s->values->data, i, take, load_bits(s->values->data, n + i, take));
    }
}

/* Copy the first n values and move the others to the front. */
static void split_sink(parquet_sink *s, size_t n, size_t bytes, parquet_sink *out)
{
    if (s->is_bool) {
        memcpy(out->values->data, s->values->data, frz_bitmap_bytes((int64_t)n));
        drop_bits(s, n);
    } else if (s->width > 0) {
        memcpy(out->values->data, s->values->data, n * s->width);
        memmove(s->values->data, s->values->data + n * s->width, (s->count - n) * s->width);
    } else {
        memcpy(out->offsets->data, s->offsets->data, (n + 1) * sizeof(int32_t));
        memcpy(out->values->data, s->values->data, bytes);
        drop_variable(s, n);
    }
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
    *out = (parquet_sink){
        .env = s->env, .kernels = s->kernels, .width = s->width, .is_bool = s->is_bool};
    size_t bytes = s->width > 0 ? 0 : (size_t)((const int32_t *)(void *)s->offsets->data)[n];
    FRZ_TRY(parquet_sink_reserve(out, n, bytes, err));
    split_sink(s, n, bytes, out);
    out->count = n;
    out->bytes = bytes;
    s->count -= n;
out:
    if (rc != FRZ_OK) {
        parquet_sink_reset(out);
    }
    return rc;
}
