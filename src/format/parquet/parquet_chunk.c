/*
 * A column chunk of the footer. Opening a file passes over the chunks and keeps where each begins;
 * here one of them is parsed when it is asked for, into a struct of the caller.
 */
#include "format/parquet/parquet_internal.h"

static void parse_statistics(parquet_thrift *t, parquet_statistics *s)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            s->max = parquet_thrift_binary(t, &f);
            break;
        case 2:
            s->min = parquet_thrift_binary(t, &f);
            break;
        case 3:
            s->null_count = parquet_thrift_i64(t, &f);
            s->has_null_count = true;
            break;
        case 4:
            s->distinct_count = parquet_thrift_i64(t, &f);
            s->has_distinct_count = true;
            break;
        case 5:
            s->max_value = parquet_thrift_binary(t, &f);
            break;
        case 6:
            s->min_value = parquet_thrift_binary(t, &f);
            break;
        case 7:
            s->max_exact = parquet_thrift_bool(t, &f);
            break;
        case 8:
            s->min_exact = parquet_thrift_bool(t, &f);
            break;
        case 9:
            s->nan_count = parquet_thrift_i64(t, &f);
            s->has_nan_count = true;
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static uint32_t encoding_bit(int32_t encoding)
{
    return encoding >= 0 && encoding < 31 ? UINT32_C(1) << encoding : PARQUET_OTHER_ENCODING;
}

static void parse_encodings(parquet_thrift *t, const parquet_thrift_field *f, parquet_chunk *c)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_I32, 1);
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        c->encodings |=
            encoding_bit(parquet_thrift_i32(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I32)));
    }
}

/* Element of encoding_stats: adds what one kind of data page says to the chunk. */
static void parse_page_encoding(parquet_thrift *t, parquet_chunk *c)
{
    parquet_thrift_field f = {0};
    int32_t type = -1;
    int32_t encoding = -1;
    int32_t count = 0;
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            type = parquet_thrift_i32(t, &f);
            break;
        case 2:
            encoding = parquet_thrift_i32(t, &f);
            break;
        case 3:
            count = parquet_thrift_i32(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
    if (count != 0 && (type == PARQUET_DATA_PAGE || type == PARQUET_DATA_PAGE_V2)) {
        bool is_dictionary =
            encoding == PARQUET_PLAIN_DICTIONARY || encoding == PARQUET_RLE_DICTIONARY;
        c->all_dictionary = is_dictionary && (c->all_dictionary || !c->has_encoding_stats);
        c->has_encoding_stats = true;
    }
}

static void parse_encoding_stats(parquet_thrift *t, const parquet_thrift_field *f, parquet_chunk *c)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, 1);
    const uint8_t *first = t->at;
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parse_page_encoding(t, c);
    }
    if (t->rc == FRZ_OK) {
        c->encoding_stats =
            (parquet_encoded_list){{(const char *)first, (size_t)(t->at - first)}, count};
    }
}

static void parse_sizes(parquet_thrift *t, parquet_size_statistics *s)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            s->unencoded_bytes = parquet_thrift_i64(t, &f);
            s->has_unencoded_bytes = true;
            break;
        case 2:
            parquet_thrift_counts(t, &f, &s->repetition_levels);
            break;
        case 3:
            parquet_thrift_counts(t, &f, &s->definition_levels);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_column_metadata(parquet_thrift *t, parquet_chunk *c)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            c->physical = (parquet_physical)parquet_thrift_i32(t, &f);
            break;
        case 2:
            parse_encodings(t, &f, c);
            break;
        case 4:
            c->codec = parquet_thrift_i32(t, &f);
            break;
        case 5:
            c->num_values = parquet_thrift_i64(t, &f);
            break;
        case 6:
            c->total_uncompressed_size = parquet_thrift_i64(t, &f);
            break;
        case 7:
            c->total_compressed_size = parquet_thrift_i64(t, &f);
            break;
        case 9:
            c->data_page_offset = parquet_thrift_i64(t, &f);
            break;
        case 11:
            c->dictionary_page_offset = parquet_thrift_i64(t, &f);
            break;
        case 12:
            if (parquet_thrift_struct(t, &f)) {
                parse_statistics(t, &c->statistics);
            }
            break;
        case 13:
            parse_encoding_stats(t, &f, c);
            break;
        case 14:
            c->bloom_filter_offset = parquet_thrift_i64(t, &f);
            break;
        case 15:
            if (f.type == PARQUET_THRIFT_I32) {
                c->bloom_filter_length = parquet_thrift_i32(t, &f);
            } else { /* what stood there before it was given its present meaning */
                parquet_thrift_skip(t, &f);
            }
            break;
        case 16:
            if (parquet_thrift_struct(t, &f)) {
                parse_sizes(t, &c->sizes);
            }
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_chunk(parquet_thrift *t, parquet_chunk *c)
{
    parquet_thrift_field f = {0};
    *c = (parquet_chunk){.physical = PARQUET_NO_PHYSICAL,
                         .statistics = {.max_exact = -1, .min_exact = -1}};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            c->file_path = parquet_thrift_binary(t, &f);
            break;
        case 3:
            if (parquet_thrift_struct(t, &f)) {
                parse_column_metadata(t, c);
            }
            break;
        case 4:
            c->offset_index_offset = parquet_thrift_i64(t, &f);
            break;
        case 5:
            c->offset_index_length = parquet_thrift_i32(t, &f);
            break;
        case 6:
            c->column_index_offset = parquet_thrift_i64(t, &f);
            break;
        case 7:
            c->column_index_length = parquet_thrift_i32(t, &f);
            break;
        case 8:
        case 9:
            c->encrypted = true;
            parquet_thrift_skip(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

frz_code parquet_metadata_chunk(const parquet_metadata *m, size_t group, size_t leaf,
                                parquet_chunk *out, frz_error *err)
{
    assert(group < m->group_count && leaf < m->groups[group].chunk_count);
    parquet_thrift t;
    parquet_chunk chunk;
    size_t at = m->groups[group].chunk_at[leaf];
    parquet_thrift_init(&t, (const uint8_t *)m->bytes.ptr + at, m->bytes.len - at, m->offset + at,
                        err);
    parse_chunk(&t, &chunk);
    if (t.rc == FRZ_OK) {
        *out = chunk;
    }
    return t.rc;
}

frz_code parquet_file_chunk(const parquet_file *file, size_t group, size_t leaf, parquet_chunk *out,
                            frz_error *err)
{
    return parquet_metadata_chunk(&file->metadata, group, leaf, out, err);
}

int64_t parquet_chunk_start(const parquet_chunk *chunk)
{
    int64_t start = chunk->data_page_offset;
    /* some old writers leave 0, or an offset behind the data, where there is no dictionary */
    if (chunk->dictionary_page_offset > 0 && chunk->dictionary_page_offset < start) {
        start = chunk->dictionary_page_offset;
    }
    return start;
}
