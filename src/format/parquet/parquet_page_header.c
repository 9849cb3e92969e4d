/*
 * Page headers, parsed from Thrift. What one claims of sizes and counts is held against the chunk
 * by whoever reads the page.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

static void parse_data_header(parquet_thrift *t, parquet_page_header *h)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            h->num_values = parquet_thrift_i32(t, &f);
            break;
        case 2:
            h->encoding = parquet_thrift_i32(t, &f);
            break;
        case 3:
            h->def_encoding = parquet_thrift_i32(t, &f);
            break;
        case 4:
            h->rep_encoding = parquet_thrift_i32(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_dictionary_header(parquet_thrift *t, parquet_page_header *h)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            h->num_values = parquet_thrift_i32(t, &f);
            break;
        case 2:
            h->encoding = parquet_thrift_i32(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_data_header_v2(parquet_thrift *t, parquet_page_header *h)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            h->num_values = parquet_thrift_i32(t, &f);
            break;
        case 3:
            h->num_rows = parquet_thrift_i32(t, &f);
            break;
        case 4:
            h->encoding = parquet_thrift_i32(t, &f);
            break;
        case 5:
            h->def_bytes = parquet_thrift_i32(t, &f);
            break;
        case 6:
            h->rep_bytes = parquet_thrift_i32(t, &f);
            break;
        case 7:
            h->compressed = parquet_thrift_bool(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_header_field(parquet_thrift *t, const parquet_thrift_field *f,
                               parquet_page_header *h, int32_t *body)
{
    switch (f->id) {
    case 1:
        h->type = (parquet_page_type)parquet_thrift_i32(t, f);
        break;
    case 2:
        h->uncompressed_size = parquet_thrift_i32(t, f);
        break;
    case 3:
        h->compressed_size = parquet_thrift_i32(t, f);
        break;
    case 4:
        h->crc = (uint32_t)parquet_thrift_i32(t, f);
        h->has_crc = true;
        break;
    case 5:
    case 7:
    case 8:
        *body = f->id;
        if (!parquet_thrift_struct(t, f)) {
            break;
        }
        if (f->id == 5) {
            parse_data_header(t, h);
        } else if (f->id == 7) {
            parse_dictionary_header(t, h);
        } else {
            parse_data_header_v2(t, h);
        }
        break;
    default:
        parquet_thrift_skip(t, f);
    }
}

frz_code parquet_page_header_parse(parquet_thrift *t, parquet_page_header *out)
{
    parquet_page_header h = {.type = (parquet_page_type)-1,
                             .num_values = -1,
                             .num_rows = -1,
                             .compressed_size = -1,
                             .uncompressed_size = -1,
                             .compressed = true};
    parquet_thrift_field f = {0};
    int32_t body = 0;
    while (parquet_thrift_next(t, &f)) {
        parse_header_field(t, &f, &h, &body);
    }
    if (t->rc != FRZ_OK) {
        return t->rc;
    }
    int32_t wanted = h.type == PARQUET_DATA_PAGE         ? 5
                     : h.type == PARQUET_DICTIONARY_PAGE ? 7
                     : h.type == PARQUET_DATA_PAGE_V2    ? 8
                                                         : body;
    if (body != wanted) {
        return parquet_thrift_fail(t, "a page header of type %d lacks its own part", (int)h.type);
    }
    if (h.compressed_size < 0 || h.uncompressed_size < 0) {
        return parquet_thrift_fail(t, "a page has sizes %" PRId32 " and %" PRId32,
                                   h.compressed_size, h.uncompressed_size);
    }
    if (body != 0 && h.num_values < 0) {
        return parquet_thrift_fail(t, "a page has %" PRId32 " values", h.num_values);
    }
    if (h.def_bytes < 0 || h.rep_bytes < 0) {
        return parquet_thrift_fail(t, "a page has levels of negative size");
    }
    *out = h;
    return FRZ_OK;
}
