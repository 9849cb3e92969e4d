/*
 * A page of the open column chunk: header, levels and values, compressed, and where it waits for
 * its place in the file. What is not compressed is not copied, either.
 * spec: parquet.thrift, PageHeader; Data Pages
 */
#include "format/parquet/parquet_write.h"

static frz_code compress(parquet_write_scratch *scratch, const uint8_t *bytes, size_t len,
                         frz_str *out, frz_error *err)
{
    if (scratch->codec == NULL) {
        *out = (frz_str){(const char *)bytes, len};
        return FRZ_OK;
    }
    frz_buf_clear(&scratch->packed);
    frz_code rc = frz_codec_compress(scratch->codec, bytes, len, &scratch->packed, err);
    *out = frz_buf_view(&scratch->packed);
    return rc;
}

/* ---- byte streams ---- */

/* Both ways are tried again after so many pages, or a few if a page comes out otherwise. */
#define SPLIT_PAGES 16
#define SPLIT_PAGES_FEW 3
#define SPLIT_SHARES 1024 /* of its raw size tell how small a page became, and */
#define SPLIT_CHANGED 16  /* as many of them make a difference */

/* To a buffer of either way. */
static frz_code compress_one_way(parquet_column_writer *column, const uint8_t *bytes, size_t len,
                                 size_t head, bool in_parts, frz_error *err)
{
    parquet_write_scratch *scratch = column->scratch;
    frz_buf *to = in_parts ? &scratch->trial : &scratch->packed;
    frz_buf_clear(to);
    return in_parts ? frz_codec_compress_parts(scratch->codec, bytes, len, head,
                                               column->leaf->width, to, err)
                    : frz_codec_compress(scratch->codec, bytes, len, to, err);
}

static bool has_changed(const parquet_split_choice *choice, size_t packed, size_t raw)
{
    size_t share = packed * SPLIT_SHARES / raw;
    size_t least = FRZ_MIN(share, choice->share);
    return choice->pages >= SPLIT_PAGES_FEW && share + choice->share - 2 * least > SPLIT_CHANGED;
}

/* Byte streams behind head bytes of levels: in parts, or as one, whichever was smaller when both
 * were tried. */
static frz_code compress_split(parquet_column_writer *column, const uint8_t *bytes, size_t len,
                               size_t head, frz_str *out, frz_error *err)
{
    parquet_split_choice *choice = &column->split;
    frz_buf *whole = &column->scratch->packed;
    frz_buf *parts = &column->scratch->trial; /* which dictionaries alone use */
    frz_code rc = FRZ_OK;
    bool both = !choice->made || choice->pages >= SPLIT_PAGES;
    FRZ_TRY(compress_one_way(column, bytes, len, head, choice->in_parts, err));
    if (both || has_changed(choice, choice->in_parts ? parts->len : whole->len, len)) {
        FRZ_TRY(compress_one_way(column, bytes, len, head, !choice->in_parts, err));
        bool in_parts = parts->len < whole->len;
        *choice = (parquet_split_choice){.made = true, .in_parts = in_parts};
        choice->share = (in_parts ? parts->len : whole->len) * SPLIT_SHARES / len;
    }
    choice->pages++;
    *out = frz_buf_view(choice->in_parts ? parts : whole);
out:
    return rc;
}

static frz_code compress_page(parquet_column_writer *column, parquet_encoding encoding,
                              frz_str bytes, size_t head, frz_str *out, frz_error *err)
{
    parquet_write_scratch *scratch = column->scratch;
    const uint8_t *p = (const uint8_t *)bytes.ptr;
    if (encoding == PARQUET_BYTE_STREAM_SPLIT && scratch->codec != NULL && bytes.len > head &&
        frz_codec_has_parts(scratch->codec)) {
        return compress_split(column, p, bytes.len, head, out, err);
    }
    return compress(scratch, p, bytes.len, out, err);
}

/* ---- pages ---- */

#define HEAD_GROWS 32 /* bytes by which headers of neighbours differ, at most but for levels */

/* Header, levels that are not compressed, and body behind what waits in to. own: the buffer that
 * holds the body if nothing was compressed; then it is taken. */
static frz_code put_page(parquet_column_writer *column, parquet_page_out *page, frz_str levels,
                         frz_str body, frz_buf *own, parquet_waiting *to, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *head = &column->scratch->head;
    page->packed_size = levels.len + body.len;
    page->crc = levels.len == 0 ? 0 : frz_crc32(0, levels.ptr, levels.len);
    page->crc = body.len == 0 ? page->crc : frz_crc32(page->crc, body.ptr, body.len);
    frz_buf_clear(head);
    FRZ_TRY(parquet_page_header_write(page, head, err));
    column->raw_size += head->len + page->raw_size;
    FRZ_TRY(frz_buf_append(head, levels.ptr, levels.len, err));
    column->page_size = head->len + body.len;
    column->packed_size += column->page_size;
    column->encodings |= 1u << page->encoding;
    if (body.ptr == (const char *)own->data) {
        /* the next page will be as large; behind it there is room for the head of one more */
        column->room = FRZ_MIN(body.len, column->shared->opts.page_bytes) + PARQUET_PLAIN_SLACK +
                       head->len + HEAD_GROWS;
        FRZ_TRY(parquet_waiting_take(to, frz_buf_view(head), own, err));
    } else {
        FRZ_TRY(parquet_waiting_add(to, frz_buf_view(head), body, err));
    }
out:
    return rc;
}

/* v1: levels after their length, compressed with the values. */
static frz_code put_levels_v1(const parquet_level_buffer *levels, uint8_t max, frz_buf *out,
                              frz_error *err)
{
    static const uint8_t length[4];
    frz_code rc = FRZ_OK;
    if (max == 0) {
        return FRZ_OK;
    }
    size_t start = out->len;
    FRZ_TRY(frz_buf_append(out, length, sizeof length, err));
    FRZ_TRY(parquet_levels_encode(levels, max, out, err));
    frz_store_le32(out->data + start, (uint32_t)(out->len - start - sizeof length));
out:
    return rc;
}

static frz_code put_data_page_v1(parquet_column_writer *column, parquet_page_out *page,
                                 frz_str values, frz_error *err)
{
    parquet_write_scratch *scratch = column->scratch;
    frz_buf *body = &scratch->body;
    frz_code rc = FRZ_OK;
    frz_str levels = {"", 0};
    frz_str packed;
    page->type = PARQUET_DATA_PAGE;
    frz_buf_clear(body);
    FRZ_TRY(put_levels_v1(&column->rep, column->leaf->max_rep, body, err));
    FRZ_TRY(put_levels_v1(&column->def, column->leaf->max_def, body, err));
    const size_t head = body->len;
    page->raw_size = head + values.len;
    if (scratch->codec == NULL) {
        levels = frz_buf_view(body);
    } else if (head > 0) {
        FRZ_TRY(frz_buf_append(body, values.ptr, values.len, err));
        values = frz_buf_view(body);
    }
    FRZ_TRY(compress_page(column, page->encoding, values, head, &packed, err));
    FRZ_TRY(put_page(column, page, levels, packed, &column->values, &column->pages, err));
out:
    return rc;
}

static frz_code put_data_page_v2(parquet_column_writer *column, parquet_page_out *page,
                                 frz_str values, frz_error *err)
{
    parquet_write_scratch *scratch = column->scratch;
    frz_buf *levels = &scratch->body;
    frz_code rc = FRZ_OK;
    frz_str packed;
    page->type = PARQUET_DATA_PAGE_V2;
    frz_buf_clear(levels);
    if (column->leaf->max_rep > 0) {
        FRZ_TRY(parquet_levels_encode(&column->rep, column->leaf->max_rep, levels, err));
    }
    page->rep_size = levels->len;
    if (column->leaf->max_def > 0) {
        FRZ_TRY(parquet_levels_encode(&column->def, column->leaf->max_def, levels, err));
    }
    page->def_size = levels->len - page->rep_size;
    page->raw_size = levels->len + values.len;
    FRZ_TRY(compress_page(column, page->encoding, values, 0, &packed, err));
    page->is_compressed = scratch->codec != NULL && packed.len < values.len;
    FRZ_TRY(put_page(column, page, frz_buf_view(levels), page->is_compressed ? packed : values,
                     &column->values, &column->pages, err));
out:
    return rc;
}

frz_code parquet_page_put_data(parquet_column_writer *column, parquet_encoding encoding,
                               frz_str values, frz_error *err)
{
    parquet_page_out page = {
        .encoding = encoding,
        .num_values = column->page_slots,
        .num_nulls = column->page_slots - column->value_count,
        .num_rows = column->page_rows,
    };
    return column->shared->opts.page_version == 2 ? put_data_page_v2(column, &page, values, err)
                                                  : put_data_page_v1(column, &page, values, err);
}

frz_code parquet_page_put_dictionary(parquet_column_writer *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str packed;
    frz_buf *values = &column->dictionary.values;
    parquet_page_out page = {
        .type = PARQUET_DICTIONARY_PAGE,
        .encoding = PARQUET_PLAIN,
        .raw_size = values->len,
        .num_values = column->dictionary.count,
    };
    FRZ_TRY(compress(column->scratch, values->data, values->len, &packed, err));
    FRZ_TRY(put_page(column, &page, (frz_str){"", 0}, packed, values, &column->front, err));
    column->dictionary_size = column->front.len;
out:
    return rc;
}
