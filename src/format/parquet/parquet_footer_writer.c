/*
 * The structs of parquet.thrift as the writer emits them: page headers, column chunks, row groups
 * and the file's metadata. Numbers are the field ids of parquet.thrift.
 */
#include "format/parquet/parquet_write.h"
#include "frazil/version.h"

#define CREATED_BY "frazil version " FRZ_VERSION_STRING
#define FORMAT_VERSION 2

/* ---- page headers ---- */

static void put_data_page(parquet_thrift_out *t, const parquet_page_out *page)
{
    parquet_put_struct(t, 5);
    parquet_put_i32(t, 1, (int32_t)page->num_values);
    parquet_put_i32(t, 2, (int32_t)page->encoding);
    parquet_put_i32(t, 3, PARQUET_RLE); /* definition levels */
    parquet_put_i32(t, 4, PARQUET_RLE); /* repetition levels */
    parquet_put_end(t);
}

static void put_data_page_v2(parquet_thrift_out *t, const parquet_page_out *page)
{
    parquet_put_struct(t, 8);
    parquet_put_i32(t, 1, (int32_t)page->num_values);
    parquet_put_i32(t, 2, (int32_t)page->num_nulls);
    parquet_put_i32(t, 3, (int32_t)page->num_rows);
    parquet_put_i32(t, 4, (int32_t)page->encoding);
    parquet_put_i32(t, 5, (int32_t)page->def_size);
    parquet_put_i32(t, 6, (int32_t)page->rep_size);
    parquet_put_bool(t, 7, page->is_compressed);
    parquet_put_end(t);
}

static void put_dictionary_page(parquet_thrift_out *t, const parquet_page_out *page)
{
    parquet_put_struct(t, 7);
    parquet_put_i32(t, 1, (int32_t)page->num_values);
    parquet_put_i32(t, 2, (int32_t)page->encoding);
    parquet_put_end(t);
}

frz_code parquet_page_header_write(const parquet_page_out *page, frz_buf *out, frz_error *err)
{
    parquet_thrift_out t;
    if (page->raw_size > INT32_MAX || page->packed_size > INT32_MAX ||
        page->num_values > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT,
                        "a page of %zu bytes (%zu compressed) and %zu values passes the format's "
                        "2147483647",
                        page->raw_size, page->packed_size, page->num_values);
    }
    parquet_put_begin(&t, out, err);
    parquet_put_i32(&t, 1, (int32_t)page->type);
    parquet_put_i32(&t, 2, (int32_t)page->raw_size);
    parquet_put_i32(&t, 3, (int32_t)page->packed_size);
    parquet_put_i32(&t, 4, (int32_t)page->crc);
    switch (page->type) {
    case PARQUET_DATA_PAGE:
        put_data_page(&t, page);
        break;
    case PARQUET_DATA_PAGE_V2:
        put_data_page_v2(&t, page);
        break;
    default:
        put_dictionary_page(&t, page);
    }
    parquet_put_end(&t);
    return t.rc;
}

/* ---- chunks and groups ---- */

static void put_statistics(parquet_thrift_out *t, const parquet_statistics *stats)
{
    parquet_put_struct(t, 12);
    if (stats->has_null_count) {
        parquet_put_i64(t, 3, stats->null_count);
    }
    if (stats->has_distinct_count) {
        parquet_put_i64(t, 4, stats->distinct_count);
    }
    if (stats->max_value.ptr != NULL) {
        parquet_put_binary(t, 5, stats->max_value);
    }
    if (stats->min_value.ptr != NULL) {
        parquet_put_binary(t, 6, stats->min_value);
    }
    if (stats->max_exact >= 0) {
        parquet_put_bool(t, 7, stats->max_exact != 0);
    }
    if (stats->min_exact >= 0) {
        parquet_put_bool(t, 8, stats->min_exact != 0);
    }
    if (stats->has_nan_count) {
        parquet_put_i64(t, 9, stats->nan_count);
    }
    parquet_put_end(t);
}

static bool has_statistics(const parquet_statistics *stats)
{
    return stats->has_null_count || stats->has_distinct_count || stats->has_nan_count ||
           stats->max_value.ptr != NULL || stats->min_value.ptr != NULL;
}

static void put_encoded_list(parquet_thrift_out *t, int16_t id, parquet_thrift_type element,
                             parquet_encoded_list list)
{
    if (list.count > 0) {
        parquet_put_list(t, id, element, list.count);
        parquet_put_encoded(t, list.bytes);
    }
}

static void put_sizes(parquet_thrift_out *t, const parquet_size_statistics *sizes)
{
    if (!sizes->has_unencoded_bytes && sizes->repetition_levels.count == 0 &&
        sizes->definition_levels.count == 0) {
        return;
    }
    parquet_put_struct(t, 16);
    if (sizes->has_unencoded_bytes) {
        parquet_put_i64(t, 1, sizes->unencoded_bytes);
    }
    put_encoded_list(t, 2, PARQUET_THRIFT_I64, sizes->repetition_levels);
    put_encoded_list(t, 3, PARQUET_THRIFT_I64, sizes->definition_levels);
    parquet_put_end(t);
}

static void put_encodings(parquet_thrift_out *t, uint32_t encodings)
{
    parquet_put_list(t, 2, PARQUET_THRIFT_I32, (size_t)__builtin_popcount(encodings));
    for (int32_t e = 0; e < 31; e++) {
        if ((encodings >> e & 1) != 0) {
            parquet_put_item_i32(t, e);
        }
    }
}

static void put_column_metadata(parquet_thrift_out *t, const parquet_chunk *chunk,
                                const frz_str *path, size_t path_count)
{
    assert((chunk->encodings & PARQUET_OTHER_ENCODING) == 0);
    parquet_put_i32(t, 1, (int32_t)chunk->physical);
    put_encodings(t, chunk->encodings);
    parquet_put_list(t, 3, PARQUET_THRIFT_BINARY, path_count);
    for (size_t i = 0; i < path_count; i++) {
        parquet_put_item_binary(t, path[i]);
    }
    parquet_put_i32(t, 4, chunk->codec);
    parquet_put_i64(t, 5, chunk->num_values);
    parquet_put_i64(t, 6, chunk->total_uncompressed_size);
    parquet_put_i64(t, 7, chunk->total_compressed_size);
    parquet_put_i64(t, 9, chunk->data_page_offset);
    if (chunk->dictionary_page_offset > 0) {
        parquet_put_i64(t, 11, chunk->dictionary_page_offset);
    }
    if (has_statistics(&chunk->statistics)) {
        put_statistics(t, &chunk->statistics);
    }
    put_encoded_list(t, 13, PARQUET_THRIFT_STRUCT, chunk->encoding_stats);
    if (chunk->bloom_filter_offset > 0) {
        parquet_put_i64(t, 14, chunk->bloom_filter_offset);
        parquet_put_i32(t, 15, chunk->bloom_filter_length);
    }
    put_sizes(t, &chunk->sizes);
}

frz_code parquet_chunk_write(const parquet_chunk *chunk, const frz_str *path, size_t path_count,
                             frz_buf *out, frz_error *err)
{
    parquet_thrift_out t;
    parquet_put_begin(&t, out, err);
    parquet_put_i64(&t, 2, 0); /* file_offset: required, and has no meaning any more */
    parquet_put_struct(&t, 3);
    put_column_metadata(&t, chunk, path, path_count);
    parquet_put_end(&t);
    if (chunk->offset_index_length > 0) {
        parquet_put_pause(&t);
    } else {
        parquet_put_end(&t);
    }
    return t.rc;
}

static frz_code mark_chunk(const parquet_chunk *chunk, const frz_buf *out, frz_buf *marks,
                           frz_error *err)
{
    const parquet_index_mark mark = {out->len, chunk->offset_index_length,
                                     chunk->column_index_length};
    return mark.offset_index_len == 0 ? FRZ_OK : frz_buf_append(marks, &mark, sizeof mark, err);
}

static void put_sorting(parquet_thrift_out *t, const parquet_group *group)
{
    if (group->sorting_count == 0) {
        return;
    }
    parquet_put_list(t, 4, PARQUET_THRIFT_STRUCT, group->sorting_count);
    for (size_t i = 0; i < group->sorting_count; i++) {
        parquet_put_item_struct(t);
        parquet_put_i32(t, 1, group->sorting[i].column);
        parquet_put_bool(t, 2, group->sorting[i].descending);
        parquet_put_bool(t, 3, group->sorting[i].nulls_first);
        parquet_put_end(t);
    }
}

frz_code parquet_group_write(const parquet_group *group, int64_t packed_size, size_t ordinal,
                             const parquet_chunk *chunks, const parquet_write_leaf *leaves,
                             frz_buf *out, frz_buf *marks, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_thrift_out t;
    parquet_put_begin(&t, out, err);
    parquet_put_list(&t, 1, PARQUET_THRIFT_STRUCT, group->chunk_count);
    for (size_t i = 0; i < group->chunk_count; i++) {
        FRZ_TRY(t.rc);
        FRZ_TRY(parquet_chunk_write(&chunks[i], leaves[i].path, leaves[i].path_count, out, err));
        FRZ_TRY(mark_chunk(&chunks[i], out, marks, err));
    }
    parquet_put_i64(&t, 2, group->total_byte_size);
    parquet_put_i64(&t, 3, group->num_rows);
    put_sorting(&t, group);
    parquet_put_i64(&t, 5, group->file_offset);
    parquet_put_i64(&t, 6, packed_size);
    if (ordinal <= INT16_MAX) {
        parquet_put_i16(&t, 7, (int16_t)ordinal);
    }
    parquet_put_end(&t);
    rc = t.rc;
out:
    return rc;
}

frz_code parquet_page_counts_encode(const parquet_page_count *counts, size_t count,
                                    frz_arena *arena, frz_buf *room, parquet_encoded_list *out,
                                    frz_error *err)
{
    parquet_thrift_out t;
    frz_buf_clear(room);
    parquet_put_begin(&t, room, err);
    for (size_t i = 0; i < count; i++) {
        parquet_put_item_struct(&t);
        parquet_put_i32(&t, 1, (int32_t)counts[i].type);
        parquet_put_i32(&t, 2, (int32_t)counts[i].encoding);
        parquet_put_i32(&t, 3, (int32_t)counts[i].count);
        parquet_put_end(&t);
    }
    out->count = count;
    return t.rc != FRZ_OK ? t.rc : frz_arena_str(arena, frz_buf_view(room), &out->bytes, err);
}

/* ---- schema ---- */

static void put_time(parquet_thrift_out *t, int16_t id, const parquet_element *element)
{
    parquet_put_struct(t, id);
    parquet_put_bool(t, 1, element->utc);
    parquet_put_struct(t, 2);
    parquet_put_struct(t, (int16_t)element->unit);
    parquet_put_end(t);
    parquet_put_end(t);
    parquet_put_end(t);
}

/* GeometryType and GeographyType */
static void put_geo(parquet_thrift_out *t, int16_t id, const parquet_element *element)
{
    parquet_put_struct(t, id);
    if (element->crs.len > 0) {
        parquet_put_binary(t, 1, element->crs);
    }
    if (element->algorithm > 0) {
        parquet_put_i32(t, 2, element->algorithm - 1);
    }
    parquet_put_end(t);
}

static void put_logical(parquet_thrift_out *t, const parquet_element *element)
{
    int16_t id = (int16_t)element->logical;
    parquet_put_struct(t, 10);
    switch (element->logical) {
    case PARQUET_LOGICAL_DECIMAL:
        parquet_put_struct(t, id);
        parquet_put_i32(t, 1, element->scale);
        parquet_put_i32(t, 2, element->precision);
        parquet_put_end(t);
        break;
    case PARQUET_LOGICAL_TIME:
    case PARQUET_LOGICAL_TIMESTAMP:
        put_time(t, id, element);
        break;
    case PARQUET_LOGICAL_INTEGER:
        parquet_put_struct(t, id);
        parquet_put_i8(t, 1, element->bit_width);
        parquet_put_bool(t, 2, element->is_signed);
        parquet_put_end(t);
        break;
    case PARQUET_LOGICAL_VARIANT:
        parquet_put_struct(t, id);
        if (element->version > 0) {
            parquet_put_i8(t, 1, element->version);
        }
        parquet_put_end(t);
        break;
    case PARQUET_LOGICAL_GEOMETRY:
    case PARQUET_LOGICAL_GEOGRAPHY:
        put_geo(t, id, element);
        break;
    default: /* without members */
        parquet_put_struct(t, id);
        parquet_put_end(t);
    }
    parquet_put_end(t);
}

static void put_element(parquet_thrift_out *t, const parquet_element *element, bool root)
{
    parquet_put_item_struct(t);
    if (element->physical != PARQUET_NO_PHYSICAL) {
        parquet_put_i32(t, 1, (int32_t)element->physical);
    }
    if (element->physical == PARQUET_FIXED_LEN_BYTE_ARRAY) {
        parquet_put_i32(t, 2, element->type_length);
    }
    if (!root) {
        parquet_put_i32(t, 3, (int32_t)element->repetition);
    }
    parquet_put_binary(t, 4, element->name);
    if (element->physical == PARQUET_NO_PHYSICAL) {
        parquet_put_i32(t, 5, element->num_children);
    }
    if (element->converted >= 0) {
        parquet_put_i32(t, 6, element->converted);
    }
    if (element->logical == PARQUET_LOGICAL_DECIMAL) {
        parquet_put_i32(t, 7, element->scale);
        parquet_put_i32(t, 8, element->precision);
    }
    if (element->has_field_id) {
        parquet_put_i32(t, 9, element->field_id);
    }
    if (element->logical != PARQUET_LOGICAL_NONE) {
        put_logical(t, element);
    }
    parquet_put_end(t);
}

/* ---- the file's metadata ---- */

static void put_keys(parquet_thrift_out *t, const parquet_footer_out *footer)
{
    if (footer->key_count == 0) {
        return;
    }
    parquet_put_list(t, 5, PARQUET_THRIFT_STRUCT, footer->key_count);
    for (size_t i = 0; i < footer->key_count; i++) {
        parquet_put_item_struct(t);
        parquet_put_binary(t, 1, footer->keys[i].key);
        parquet_put_binary(t, 2, footer->keys[i].value);
        parquet_put_end(t);
    }
}

/* Without an order for its column a bound has no meaning. */
static void put_orders(parquet_thrift_out *t, size_t leaf_count)
{
    parquet_put_list(t, 7, PARQUET_THRIFT_STRUCT, leaf_count);
    for (size_t i = 0; i < leaf_count; i++) {
        parquet_put_item_struct(t);
        parquet_put_struct(t, 1); /* TYPE_ORDER */
        parquet_put_end(t);
        parquet_put_end(t);
    }
}

/* The groups with what was not known when they were encoded: where the page indexes are. */
static void put_groups(parquet_thrift_out *t, const parquet_footer_out *footer)
{
    size_t done = 0;
    uint64_t offset_index = footer->offset_indexes_at;
    uint64_t column_index = footer->column_indexes_at;
    parquet_put_list(t, 4, PARQUET_THRIFT_STRUCT, footer->group_count);
    for (size_t i = 0; i < footer->mark_count; i++) {
        const parquet_index_mark *mark = &footer->marks[i];
        parquet_put_encoded(t, (frz_str){footer->groups.ptr + done, mark->at - done});
        parquet_put_resume(t, 3);
        parquet_put_i64(t, 4, (int64_t)offset_index);
        parquet_put_i32(t, 5, mark->offset_index_len);
        if (mark->column_index_len > 0) {
            parquet_put_i64(t, 6, (int64_t)column_index);
            parquet_put_i32(t, 7, mark->column_index_len);
        }
        parquet_put_end(t);
        offset_index += (uint64_t)mark->offset_index_len;
        column_index += (uint64_t)mark->column_index_len;
        done = mark->at;
    }
    if (footer->groups.len > done) {
        parquet_put_encoded(t, (frz_str){footer->groups.ptr + done, footer->groups.len - done});
    }
}

frz_code parquet_footer_write(const parquet_footer_out *footer, frz_buf *out, frz_error *err)
{
    parquet_thrift_out t;
    parquet_put_begin(&t, out, err);
    parquet_put_i32(&t, 1, FORMAT_VERSION);
    parquet_put_list(&t, 2, PARQUET_THRIFT_STRUCT, footer->element_count);
    for (size_t i = 0; i < footer->element_count; i++) {
        put_element(&t, &footer->elements[i], i == 0);
    }
    parquet_put_i64(&t, 3, footer->num_rows);
    put_groups(&t, footer);
    put_keys(&t, footer);
    parquet_put_binary(&t, 6, FRZ_STR(CREATED_BY));
    if (footer->with_orders) {
        put_orders(&t, footer->leaf_count);
    }
    parquet_put_end(&t);
    return t.rc;
}
