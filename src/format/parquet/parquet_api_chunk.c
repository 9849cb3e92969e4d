/*
 * The public view of row groups and column chunks: what the footer says of them, one by one and
 * summed over a column.
 */
#include "format/parquet/parquet_api.h"
#include "format/parquet/parquet_statistics.h"

#define NOT_TOLD (-1)

/* ---- row groups ---- */

void frz_parquet_group_info_get(const frz_parquet_file *file, size_t group,
                                frz_parquet_group_info *out)
{
    const parquet_metadata *m = &parquet_api_inner(file)->metadata;
    assert(group < m->group_count);
    const parquet_group *g = &m->groups[group];
    *out = (frz_parquet_group_info){.first_row = g->first_row,
                                    .rows = g->num_rows,
                                    .uncompressed_size = g->total_byte_size,
                                    .sorting_count = g->sorting_count};
}

void frz_parquet_group_sorting(const frz_parquet_file *file, size_t group, size_t i,
                               frz_parquet_sorting *out)
{
    const parquet_file *inner = parquet_api_inner(file);
    assert(group < inner->metadata.group_count);
    assert(i < inner->metadata.groups[group].sorting_count);
    const parquet_sorting_column *sorting = &inner->metadata.groups[group].sorting[i];
    bool known = sorting->column >= 0 && (size_t)sorting->column < inner->column_count;
    *out = (frz_parquet_sorting){.column = known ? (size_t)sorting->column : FRZ_PARQUET_NO_COLUMN,
                                 .descending = sorting->descending,
                                 .nulls_first = sorting->nulls_first};
}

/* ---- chunks ---- */

static const char *codec_name(int32_t codec)
{
    static const char *const names[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                        "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
    return codec >= 0 && (size_t)codec < FRZ_ARRAY_COUNT(names) ? names[codec] : NULL;
}

const char *frz_parquet_encoding_name(int encoding)
{
    static const char *const names[] = {"PLAIN",
                                        NULL,
                                        "PLAIN_DICTIONARY",
                                        "RLE",
                                        "BIT_PACKED",
                                        "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY",
                                        "DELTA_BYTE_ARRAY",
                                        "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT",
                                        "ALP"};
    return encoding >= 0 && (size_t)encoding < FRZ_ARRAY_COUNT(names) ? names[encoding] : NULL;
}

/* value: of the new pair, old: of the deprecated one. */
static frz_parquet_bound bound_of(frz_str value, int8_t exact, frz_str old, frz_str checked)
{
    bool is_old = value.ptr == NULL && old.ptr != NULL;
    return (frz_parquet_bound){.value = parquet_api_bytes(is_old ? old : value),
                               .exact = is_old ? NOT_TOLD : exact,
                               .deprecated = is_old,
                               .reliable = checked.ptr != NULL};
}

static void put_bounds(const parquet_file *file, size_t column, const parquet_chunk *chunk,
                       frz_parquet_chunk_info *out)
{
    const parquet_statistics *s = &chunk->statistics;
    parquet_statistics checked;
    parquet_statistics_check(file, column, chunk, &checked);
    out->min = bound_of(s->min_value, s->min_exact, s->min, checked.min_value);
    out->max = bound_of(s->max_value, s->max_exact, s->max, checked.max_value);
}

frz_code frz_parquet_chunk_info_get(const frz_parquet_file *file, size_t group, size_t column,
                                    frz_parquet_chunk_info *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_file *inner = parquet_api_inner(file);
    assert(group < inner->metadata.group_count && column < inner->column_count);
    parquet_chunk c;
    FRZ_TRY(parquet_file_chunk(inner, group, column, &c, err));
    const parquet_statistics *s = &c.statistics;
    *out = (frz_parquet_chunk_info){
        .codec = codec_name(c.codec),
        .encodings = c.encodings,
        .values = c.num_values,
        .nulls = s->has_null_count ? s->null_count : NOT_TOLD,
        .distinct = s->has_distinct_count ? s->distinct_count : NOT_TOLD,
        .nans = s->has_nan_count ? s->nan_count : NOT_TOLD,
        .offset = parquet_chunk_start(&c),
        .dictionary_offset = c.dictionary_page_offset,
        .compressed_size = c.total_compressed_size,
        .uncompressed_size = c.total_uncompressed_size,
        .unencoded_size = c.sizes.has_unencoded_bytes ? c.sizes.unencoded_bytes : NOT_TOLD,
        .column_index_offset = c.column_index_offset,
        .column_index_size = c.column_index_length,
        .offset_index_offset = c.offset_index_offset,
        .offset_index_size = c.offset_index_length,
        .bloom_filter_offset = c.bloom_filter_offset,
        .bloom_filter_size = c.bloom_filter_length,
        .file_path = parquet_api_bytes(c.file_path),
        .encrypted = c.encrypted,
    };
    put_bounds(inner, column, &c, out);
out:
    return frz_context(err, rc, "reading %s, row group %zu, column %zu",
                       frz_data_file_location(file->data), group, column);
}

/* ---- a whole column ---- */

/* Counts of files are not checked anywhere; a sum beyond 64 bits is not known. */
static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || !frz_add_i64(a, b, &sum) ? NOT_TOLD : sum;
}

/* One more chunk's bound. all_null: the chunk has no values that could have one. */
static void join_bound(const parquet_element *e, frz_parquet_bound *sum,
                       const frz_parquet_bound *next, bool all_null, bool upper, bool *missing)
{
    if (all_null || *missing) {
        return;
    }
    if (!next->reliable) {
        *missing = true;
        *sum = (frz_parquet_bound){.exact = NOT_TOLD};
        return;
    }
    int order = sum->value.data == NULL ? 0 : parquet_api_compare(e, next->value, sum->value);
    if (sum->value.data == NULL || (upper ? order > 0 : order < 0)) {
        *sum = *next;
    }
}

static void join(const parquet_element *e, frz_parquet_chunk_info *sum,
                 const frz_parquet_chunk_info *next, bool *no_min, bool *no_max)
{
    bool all_null = next->nulls >= 0 && next->nulls == next->values;
    join_bound(e, &sum->min, &next->min, all_null, false, no_min);
    join_bound(e, &sum->max, &next->max, all_null, true, no_max);
    bool same = sum->codec != NULL && next->codec != NULL && strcmp(sum->codec, next->codec) == 0;
    sum->codec = same ? sum->codec : NULL;
    sum->encodings |= next->encodings;
    sum->values = sum_of(sum->values, next->values);
    sum->nulls = sum_of(sum->nulls, next->nulls);
    sum->nans = sum_of(sum->nans, next->nans);
    sum->compressed_size = sum_of(sum->compressed_size, next->compressed_size);
    sum->uncompressed_size = sum_of(sum->uncompressed_size, next->uncompressed_size);
    sum->unencoded_size = sum_of(sum->unencoded_size, next->unencoded_size);
    sum->column_index_size = sum_of(sum->column_index_size, next->column_index_size);
    sum->offset_index_size = sum_of(sum->offset_index_size, next->offset_index_size);
    sum->bloom_filter_size = sum_of(sum->bloom_filter_size, next->bloom_filter_size);
    sum->encrypted |= next->encrypted;
    int64_t *const firsts[] = {&sum->dictionary_offset, &sum->column_index_offset,
                               &sum->offset_index_offset, &sum->bloom_filter_offset};
    const int64_t others[] = {next->dictionary_offset, next->column_index_offset,
                              next->offset_index_offset, next->bloom_filter_offset};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(others); i++) {
        *firsts[i] = *firsts[i] == 0 ? others[i] : *firsts[i];
    }
}

frz_code frz_parquet_column_summary_get(const frz_parquet_file *file, size_t column,
                                        frz_parquet_chunk_info *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_file *inner = parquet_api_inner(file);
    const parquet_element *e = inner->columns[column].element;
    frz_parquet_chunk_info sum = {.distinct = NOT_TOLD};
    bool no_min = false;
    bool no_max = false;
    for (size_t g = 0; g < inner->metadata.group_count; g++) {
        frz_parquet_chunk_info chunk;
        FRZ_TRY(frz_parquet_chunk_info_get(file, g, column, &chunk, err));
        if (g == 0) {
            sum.codec = chunk.codec;
            sum.offset = chunk.offset;
            sum.file_path = chunk.file_path;
        }
        join(e, &sum, &chunk, &no_min, &no_max);
    }
    *out = sum;
out:
    return rc;
}
