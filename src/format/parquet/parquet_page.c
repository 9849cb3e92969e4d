/*
 * The pages of a column chunk, one after the other: finding the chunk, passing over headers,
 * opening and skipping pages. One page is open at a time. A header has at most MAX_HEADER bytes,
 * and a page ends inside its chunk.
 *
 * parquet_page_bytes.c reads ahead, parquet_page_header.c parses, parquet_page_body.c unpacks.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

#define HEADER_GUESS 256
#define MAX_HEADER (16u << 20)
#define FILE_MAGIC 4

/* Bytes that old parquet-mr left out of total_compressed_size: the dictionary page's header. */
#define OLD_SIZE_SLACK 100

/* ---- the chunk ---- */

/* Level bytes of a page whose values are all there: a length and one run. */
static size_t guess_prefix(const parquet_column *column, int64_t values)
{
    size_t bytes = column->max_def == 0 ? 0 : 4 + 2;
    for (int64_t run = values; bytes > 0 && run >= 64; run >>= 7) {
        bytes++;
    }
    return bytes;
}

void parquet_pages_init(parquet_pages *p, const parquet_source *source,
                        const parquet_column *column)
{
    *p = (parquet_pages){.source = source, .column = column};
    frz_buf_init(&p->own, source->env, FRZ_BUF_NO_LIMIT);
    p->values.env = source->env;
}

void parquet_pages_reset(parquet_pages *p)
{
    if (p->source != NULL) {
        parquet_pages_drop_dictionary(p);
        frz_buffer_unref(p->page);
        p->page = NULL;
        parquet_pages_drop_window(p);
        frz_buf_reset(&p->own);
        parquet_locator_reset(&p->locator);
        parquet_values_reset(&p->values);
        p->source = NULL;
    }
}

frz_code parquet_chunk_range(const parquet_file *file, const parquet_chunk *chunk, uint64_t *start,
                             uint64_t *end, frz_error *err)
{
    int64_t first = parquet_chunk_start(chunk);
    if (first < FILE_MAGIC || (uint64_t)first > file->footer_start) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "a column chunk starts at byte %" PRId64
                        ", data lies between %d and %" PRIu64,
                        first, FILE_MAGIC, file->footer_start);
    }
    uint64_t most = file->footer_start - (uint64_t)first;
    uint64_t size = most;
    if (chunk->total_compressed_size > 0) {
        size = (uint64_t)chunk->total_compressed_size;
        if (size > most) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "a column chunk of %" PRIu64 " bytes at byte %" PRId64
                            " reaches beyond the data's end at %" PRIu64,
                            size, first, file->footer_start);
        }
        if (frz_str_starts_with(file->metadata.created_by, FRZ_STR("parquet-mr"))) {
            size = FRZ_MIN(size + OLD_SIZE_SLACK, most);
        }
    }
    *start = (uint64_t)first;
    *end = (uint64_t)first + size;
    return FRZ_OK;
}

frz_code parquet_pages_start(parquet_pages *p, const parquet_chunk *chunk, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_pages_drop_dictionary(p);
    parquet_pages_drop_window(p);
    p->num_values = chunk->num_values;
    p->left = 0;
    p->has_header = false;
    p->locator.active = false;
    if (chunk->encrypted) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted column");
    }
    if (chunk->file_path.len > 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column data in another file");
    }
    if (chunk->physical != p->column->element->physical) {
        return frz_fail(err, FRZ_E_CORRUPT, "the chunk holds %s values, the schema says %s",
                        parquet_physical_name(chunk->physical),
                        parquet_physical_name(p->column->element->physical));
    }
    if (chunk->num_values < 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "the chunk has %" PRId64 " values", chunk->num_values);
    }
    FRZ_TRY(parquet_codec_of(chunk->codec, &p->codec, err));
    p->values_left = chunk->num_values;
    p->at = p->end = 0;
    if (chunk->num_values > 0) {
        FRZ_TRY(parquet_chunk_range(p->source->file, chunk, &p->at, &p->end, err));
    }
    p->read_end = p->end;
    p->prefix = guess_prefix(p->column, chunk->num_values);
out:
    return rc;
}

/* ---- pages ---- */

static frz_code read_header(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t want = HEADER_GUESS;
    if (p->read_end > p->at) {
        want = (size_t)FRZ_MIN(want, p->read_end - p->at);
    }
    p->header_at = p->at;
    for (;;) {
        const uint8_t *bytes;
        size_t len;
        parquet_thrift t;
        FRZ_TRY(parquet_pages_peek(p, want, &bytes, &len, err));
        parquet_thrift_init(&t, bytes, len, p->at, NULL);
        rc = parquet_page_header_parse(&t, &p->header);
        if (rc != FRZ_OK && t.ended_early && len < parquet_pages_left(p) && len < MAX_HEADER) {
            want = len * 2;
            continue;
        }
        if (rc != FRZ_OK) {
            parquet_thrift_init(&t, bytes, len, p->at, err);
            rc = parquet_page_header_parse(&t, &p->header);
            goto out;
        }
        p->at += (uint64_t)(t.at - t.start);
        break;
    }
    if ((uint64_t)p->header.compressed_size > parquet_pages_left(p)) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                         "page header at byte %" PRIu64 ": compressed size %" PRId32
                         " exceeds the %" PRIu64 " bytes left in the column chunk",
                         p->header_at, p->header.compressed_size, parquet_pages_left(p));
    }
out:
    return rc;
}

static void skip_body(parquet_pages *p)
{
    p->at += (uint64_t)p->header.compressed_size;
}

static bool is_dictionary(int32_t encoding)
{
    return encoding == PARQUET_PLAIN_DICTIONARY || encoding == PARQUET_RLE_DICTIONARY;
}

frz_code parquet_pages_dictionary(parquet_pages *p, size_t most, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (p->at < p->end) {
        FRZ_TRY(read_header(p, err));
        if (p->header.type == PARQUET_DICTIONARY_PAGE &&
            (size_t)p->header.uncompressed_size <= most) {
            FRZ_TRY(parquet_pages_load_dictionary(p, err));
        }
    }
out:
    return rc;
}

/* The same by the offset index: pages without rows do not occur, dictionaries are apart. */
static frz_code located_header(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parquet_pages_locate(p, err));
    FRZ_TRY(read_header(p, err));
    FRZ_TRY(parquet_pages_check_located(p, err));
    p->locator.next++;
    p->has_header = true;
out:
    return rc;
}

frz_code parquet_pages_header(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (p->locator.active) {
        return p->has_header ? FRZ_OK : located_header(p, err);
    }
    while (!p->has_header) {
        if (p->values_left == 0) {
            return FRZ_END;
        }
        if (p->at >= p->end) {
            return frz_fail_at(err, FRZ_E_CORRUPT, p->end,
                               "the column chunk ends %" PRId64 " values before its %" PRId64,
                               p->values_left, p->num_values);
        }
        FRZ_TRY(read_header(p, err));
        if (p->header.type == PARQUET_DICTIONARY_PAGE) {
            FRZ_TRY(parquet_pages_load_dictionary(p, err));
            continue;
        }
        if (p->header.type != PARQUET_DATA_PAGE && p->header.type != PARQUET_DATA_PAGE_V2) {
            skip_body(p);
            continue;
        }
        if (p->header.num_values > p->values_left) {
            return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                               "page at byte %" PRIu64 " has %" PRId32
                               " values, its chunk has %" PRId64 " left",
                               p->header_at, p->header.num_values, p->values_left);
        }
        p->values_left -= p->header.num_values;
        if (p->header.num_values == 0) {
            skip_body(p);
            continue;
        }
        p->has_header = true;
    }
out:
    return rc;
}

void parquet_pages_skip(parquet_pages *p)
{
    assert(p->has_header);
    skip_body(p);
    p->has_header = false;
}

void parquet_pages_drop_page(parquet_pages *p)
{
    assert(p->left == 0);
    parquet_scratch_keep_page(p->scratch, &p->page);
    if (p->values_left == 0 && !p->has_header && !p->locator.active) { /* it was the last one */
        parquet_pages_drop_dictionary(p);
    }
}

frz_code parquet_pages_open(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(p->has_header && p->left == 0);
    if (p->locator.active && !p->dictionary.present && is_dictionary(p->header.encoding)) {
        FRZ_TRY(parquet_pages_fetch_dictionary(p, err));
    }
    FRZ_TRY(parquet_pages_check_size(p, (uint64_t)p->header.compressed_size,
                                     (uint64_t)p->header.uncompressed_size, err));
    if (p->header.type == PARQUET_DATA_PAGE_V2) {
        FRZ_TRY(parquet_pages_open_v2(p, err));
    } else {
        FRZ_TRY(parquet_pages_open_v1(p, err));
    }
    if (p->locator.active && p->column->max_rep > 0) {
        FRZ_TRY(parquet_pages_check_rows(p, err));
    }
    p->left = p->header.num_values;
    p->has_header = false;
    bool last = p->locator.active ? p->locator.next == p->locator.index.count : p->values_left == 0;
    if (last) { /* what was read ahead is used up */
        parquet_pages_drop_window(p);
    }
out:
    return rc;
}
