/*
 * Levels of the open page of a column. They are a count while they are all the same, as those of
 * most pages are.
 */
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
