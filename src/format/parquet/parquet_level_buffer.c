/*
 * Levels of the open page of a column. They are a count while they are all the same, as those of
 * most pages are.
 */
#include "arrow/arrow_array.h"
#include "format/parquet/parquet_kernels.h"
#include "format/parquet/parquet_write.h"

static frz_code mix(parquet_level_buffer *levels, frz_error *err)
{
    if (levels->mixed) {
        return FRZ_OK;
    }
    frz_code rc = frz_buf_reserve(&levels->bytes, levels->count, err);
    if (rc == FRZ_OK && levels->count > 0) {
        memset(levels->bytes.data, levels->value, levels->count);
    }
    levels->bytes.len = rc == FRZ_OK ? levels->count : 0;
    levels->mixed = rc == FRZ_OK;
    return rc;
}

frz_code parquet_levels_add_same(parquet_level_buffer *levels, uint8_t value, size_t count,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (levels->count == 0) {
        levels->value = value;
    }
    if (levels->mixed || levels->value != value) {
        FRZ_TRY(mix(levels, err));
        FRZ_TRY(frz_buf_reserve(&levels->bytes, count, err));
        memset(levels->bytes.data + levels->bytes.len, value, count);
        levels->bytes.len += count;
    }
    levels->count += count;
out:
    return rc;
}

frz_code parquet_levels_add(parquet_level_buffer *levels, const uint8_t *values, size_t count,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t expected = levels->count == 0 ? values[0] : levels->value;
    if (!levels->mixed && parquet_equal_u8(values, count, expected) == count) {
        return parquet_levels_add_same(levels, expected, count, err);
    }
    FRZ_TRY(mix(levels, err));
    FRZ_TRY(frz_buf_append(&levels->bytes, values, count, err));
    levels->count += count;
out:
    return rc;
}

void parquet_levels_clear(parquet_level_buffer *levels)
{
    frz_buf_clear(&levels->bytes);
    levels->count = 0;
    levels->mixed = false;
}

frz_code parquet_levels_encode(const parquet_level_buffer *levels, uint8_t max, frz_buf *out,
                               frz_error *err)
{
    unsigned width = parquet_encode_width(max);
    if (!levels->mixed) {
        return parquet_encode_run(levels->value, levels->count, width, out, err);
    }
    return parquet_encode_levels(levels->bytes.data, levels->count, width, out, err);
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* One in each byte that is so. */
static inline uint64_t bytes_equal(uint64_t bytes, uint8_t value)
{
    const uint64_t low = 0x7f * EACH_BYTE;
    uint64_t differs = bytes ^ value * EACH_BYTE;
    uint64_t any = ((differs & low) + low) | differs; /* in the top bit */
    return ~any >> 7 & EACH_BYTE;
}

void parquet_levels_raise(uint8_t *levels, size_t count, uint8_t level, uint8_t by)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t bytes = frz_load_le64(levels + i);
        frz_store_le64(levels + i, bytes + bytes_equal(bytes, level) * by);
    }
    for (; i < count; i++) {
        levels[i] = (uint8_t)(levels[i] + (levels[i] == level ? by : 0));
    }
}

void parquet_levels_raise_valid(uint8_t *levels, size_t count, uint8_t level, uint8_t by,
                                const uint8_t *bits, int64_t first)
{
    size_t i = 0;
    /* the last bits come one by one, since behind their byte there may be none */
    for (; i + 16 <= count; i += 8) {
        int64_t at = first + (int64_t)i;
        uint64_t valid = parquet_bytes_of_bits(frz_load_le16(bits + at / 8) >> at % 8 & UINT8_MAX);
        uint64_t bytes = frz_load_le64(levels + i);
        frz_store_le64(levels + i, bytes + (bytes_equal(bytes, level) & valid) * by);
    }
    for (; i < count; i++) {
        bool raised = levels[i] == level && frz_bit_get(bits, first + (int64_t)i);
        levels[i] = (uint8_t)(levels[i] + (raised ? by : 0));
    }
}

void parquet_levels_count(const parquet_level_buffer *levels, size_t slots, int64_t *counts)
{
    size_t left = levels->count;
    if (slots == 0) {
        return;
    }
    if (!levels->mixed) {
        counts[levels->value] += (int64_t)left;
        return;
    }
    /* the largest level is what the others leave */
    for (size_t k = 0; k + 1 < slots; k++) {
        size_t found = parquet_count_u8(levels->bytes.data, levels->count, (uint8_t)k);
        counts[k] += (int64_t)found;
        left -= found;
    }
    counts[slots - 1] += (int64_t)left;
}
