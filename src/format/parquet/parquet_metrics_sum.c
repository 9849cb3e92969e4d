/*
 * Metrics of one field over the chunks of a file, whether they were measured while writing or come
 * from footers. What one chunk with values does not tell is unknown of the whole.
 */
#include "format/parquet/parquet_write.h"

void parquet_metrics_sum_init(parquet_metrics_sum *sum, const frz_env *env, int32_t field_id,
                              const frz_type *type)
{
    bool is_float = type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
    bool is_variable = type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY;
    *sum = (parquet_metrics_sum){
        .total = {.field_id = field_id,
                  .type = type,
                  .tight_bounds = 1,
                  .nan_value_count = is_float ? 0 : FRZ_STAT_UNKNOWN,
                  .total_bytes = is_variable ? 0 : FRZ_STAT_UNKNOWN,
                  .column_size = FRZ_STAT_UNKNOWN},
    };
    frz_buf_init(&sum->lower, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&sum->upper, env, FRZ_BUF_NO_LIMIT);
}

void parquet_metrics_sum_reset(parquet_metrics_sum *sum)
{
    frz_buf_reset(&sum->lower);
    frz_buf_reset(&sum->upper);
}

static bool has_bytes(const frz_type *type)
{
    return type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY ||
           type->id == FRZ_TYPE_UUID || type->id == FRZ_TYPE_FIXED;
}

static frz_code keep_bound(const frz_value *from, frz_buf *bytes, frz_value *to, frz_error *err)
{
    *to = *from;
    if (!has_bytes(from->type)) {
        return FRZ_OK;
    }
    frz_buf_clear(bytes);
    frz_code rc = frz_buf_append(bytes, from->as.bytes.ptr, from->as.bytes.len, err);
    to->as.bytes = frz_buf_view(bytes);
    return rc;
}

static int64_t add_count(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || !frz_add_i64(a, b, &sum) ? FRZ_STAT_UNKNOWN : sum;
}

/* True if the counts prove that no value of the chunk could be a bound. */
static bool without_values(const frz_field_stats *chunk)
{
    int64_t nans = FRZ_MAX(chunk->nan_value_count, 0);
    return chunk->value_count >= 0 && chunk->null_value_count >= 0 &&
           chunk->null_value_count + nans >= chunk->value_count;
}

static int8_t both_tight(int8_t a, int8_t b)
{
    return a == 0 || b == 0 ? 0 : (a < 0 || b < 0 ? FRZ_STAT_UNKNOWN : 1);
}

frz_code parquet_metrics_sum_add(parquet_metrics_sum *sum, const frz_field_stats *chunk,
                                 frz_error *err)
{
    frz_field_stats *total = &sum->total;
    frz_code rc = FRZ_OK;
    total->value_count = add_count(total->value_count, chunk->value_count);
    total->null_value_count = add_count(total->null_value_count, chunk->null_value_count);
    total->nan_value_count = add_count(total->nan_value_count, chunk->nan_value_count);
    total->total_bytes = add_count(total->total_bytes, chunk->total_bytes);
    if (without_values(chunk)) {
        goto out;
    }
    total->tight_bounds = both_tight(total->tight_bounds, chunk->tight_bounds);
    sum->lower_lost = sum->lower_lost || !chunk->has_lower;
    sum->upper_lost = sum->upper_lost || !chunk->has_upper;
    if (chunk->has_lower &&
        (!total->has_lower || frz_value_compare(&chunk->lower, &total->lower, true) < 0)) {
        FRZ_TRY(keep_bound(&chunk->lower, &sum->lower, &total->lower, err));
        total->has_lower = true;
    }
    if (chunk->has_upper &&
        (!total->has_upper || frz_value_compare(&chunk->upper, &total->upper, true) > 0)) {
        FRZ_TRY(keep_bound(&chunk->upper, &sum->upper, &total->upper, err));
        total->has_upper = true;
    }
out:
    return rc;
}

frz_code parquet_metrics_sum_finish(const parquet_metrics_sum *sum, frz_arena *arena,
                                    frz_field_stats *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field_stats result = sum->total;
    result.has_lower = result.has_lower && !sum->lower_lost;
    result.has_upper = result.has_upper && !sum->upper_lost;
    if (!result.has_lower || !result.has_upper) {
        result.tight_bounds = FRZ_STAT_UNKNOWN;
    }
    if (result.has_lower) {
        FRZ_TRY(frz_value_copy(arena, &sum->total.lower, &result.lower, err));
    }
    if (result.has_upper) {
        FRZ_TRY(frz_value_copy(arena, &sum->total.upper, &result.upper, err));
    }
    *out = result;
out:
    return rc;
}
