/*
 * The pages of a column chunk: reading their bytes ahead in windows, parsing headers, checksums,
 * decompression, and setting up the decoders of levels and values. One page is open at a time.
 *
 * What a header claims is believed only as far as bytes and bounds allow:
 *  - a header has at most MAX_HEADER bytes, and a page ends inside its chunk;
 *  - a page decompresses to at most what its codec can make of its bytes (ratio_of), and never to
 *    more than LARGE_PAGE unless it is large compressed too.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

#define HEADER_GUESS 256
/* Pages so large that are not compressed are read to their place: behind them only this much is
 * read ahead, for a header. */
#define DIRECT_PAGE (64u << 10)
#define DIRECT_WINDOW ((size_t)4 << 10)
#define MAX_HEADER (16u << 20)
#define LARGE_PAGE (256u << 20)
#define LARGE_RATIO 64
#define SMALL_PAGE (64u << 10)
#define ALIGNMENT 64
#define FILE_MAGIC 4
#define LZO 3

/* Bytes that old parquet-mr left out of total_compressed_size: the dictionary page's header. */
#define OLD_SIZE_SLACK 100

/* ---- codecs and bounds ---- */

frz_code parquet_codec_of(int32_t codec, frz_codec_id *out, frz_error *err)
{
    static const frz_codec_id ids[] = {
        [0] = FRZ_CODEC_NONE,   [1] = FRZ_CODEC_SNAPPY,     [2] = FRZ_CODEC_GZIP,
        [4] = FRZ_CODEC_BROTLI, [5] = FRZ_CODEC_LZ4_HADOOP, [6] = FRZ_CODEC_ZSTD,
        [7] = FRZ_CODEC_LZ4_RAW};
    if (codec == LZO) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: compression codec LZO");
    }
    if (codec < 0 || (size_t)codec >= FRZ_ARRAY_COUNT(ids)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: compression codec %" PRId32, codec);
    }
    *out = ids[codec];
    return FRZ_OK;
}

/* The most bytes that one compressed byte can stand for. */
static uint64_t ratio_of(frz_codec_id codec)
{
    switch (codec) {
    case FRZ_CODEC_SNAPPY:
        return 64; /* copies of 64 bytes take at least 3 and may be shorter for near ones */
    case FRZ_CODEC_GZIP:
        return 1032;
    case FRZ_CODEC_LZ4_RAW:
    case FRZ_CODEC_LZ4_HADOOP:
        return 255;
    case FRZ_CODEC_BROTLI:
        return 16 << 20; /* a meta-block of 16 MiB in a few bytes */
    case FRZ_CODEC_ZSTD:
        return 128 << 10; /* a block of 128 KiB in a few bytes */
    case FRZ_CODEC_NONE:
    default:
        return 1;
    }
}

static frz_code check_size(const parquet_pages *p, uint64_t compressed, uint64_t uncompressed,
                           frz_error *err)
{
    uint64_t most = compressed * ratio_of(p->codec) + SMALL_PAGE;
    if (uncompressed > most) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "a page claims %" PRIu64 " bytes, %" PRIu64 " bytes of %s hold at most "
                           "%" PRIu64,
                           uncompressed, compressed, frz_codec_name(p->codec), most);
    }
    most = FRZ_MAX((uint64_t)LARGE_PAGE, compressed * LARGE_RATIO);
    if (uncompressed > most) {
        return frz_fail_at(err, FRZ_E_LIMIT, p->header_at,
                           "a page claims %" PRIu64 " bytes, at most %" PRIu64 " are read",
                           uncompressed, most);
    }
    return FRZ_OK;
}

/* ---- page headers ---- */

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

/* ---- bytes of the chunk ---- */

static uint64_t left_in_chunk(const parquet_pages *p)
{
    return p->end - p->at;
}

/* Bytes of the window from the current place on. */
static size_t in_window(const parquet_pages *p)
{
    uint64_t skip = p->at - p->window_start;
    return p->at < p->window_start || skip >= p->window_len ? 0 : p->window_len - (size_t)skip;
}

/* Take the bytes that are shared with other columns for the window. */
static frz_code use_run(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str bytes;
    FRZ_TRY(parquet_run_bytes(p->run, &bytes, err));
    if (bytes.ptr != NULL) {
        frz_buf_reset(&p->own); /* a window's worth, which the run stands for */
        p->window = (const uint8_t *)bytes.ptr;
        p->window_len = bytes.len;
        p->window_start = parquet_run_start(p->run);
    }
out:
    return rc;
}

static frz_code read_window(parquet_pages *p, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    p->window_len = 0;
    frz_buf_clear(&p->own);
    FRZ_TRY(frz_buf_reserve(&p->own, len, err));
    FRZ_TRY(frz_file_read(p->scratch->file->base.file, p->at, p->own.data, len, err));
    p->window = p->own.data;
    p->window_len = len;
    p->window_start = p->at;
out:
    return rc;
}

static void drop_window(parquet_pages *p)
{
    parquet_run_unref(p->run);
    p->run = NULL;
    p->window = NULL;
    p->window_len = 0;
}

bool parquet_pages_piece(parquet_pages *p, parquet_piece *out)
{
    *out = (parquet_piece){p, p->at, p->end};
    return !p->locator.active && p->at < p->end && left_in_chunk(p) <= p->scratch->window;
}

void parquet_pages_give(parquet_pages *p, parquet_run *run)
{
    drop_window(p);
    p->run = run;
}

/* The next bytes, at least want of them or what the chunk has left. */
static frz_code peek(parquet_pages *p, size_t want, const uint8_t **bytes, size_t *len,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t left = left_in_chunk(p);
    want = (size_t)FRZ_MIN(want, left);
    if (in_window(p) < want && p->run != NULL) {
        FRZ_TRY(use_run(p, err));
    }
    if (in_window(p) < want) {
        uint64_t ahead = p->read_end > p->at ? p->read_end - p->at : 0;
        ahead = FRZ_MIN(ahead, p->direct ? DIRECT_WINDOW : p->scratch->window);
        ahead = FRZ_MAX(ahead, want);
        FRZ_TRY(read_window(p, (size_t)FRZ_MIN(ahead, left), err));
    }
    *bytes = p->window + (p->at - p->window_start);
    *len = in_window(p);
out:
    return rc;
}

/* Move len bytes to dst. */
static frz_code take_into(parquet_pages *p, uint8_t *dst, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t have = FRZ_MIN(in_window(p), len);
    if (have > 0) {
        memcpy(dst, p->window + (p->at - p->window_start), have);
    }
    if (have < len) {
        rc = frz_file_read(p->scratch->file->base.file, p->at + have, dst + have, len - have, err);
    }
    p->at += len;
    return rc;
}

/* A view of the next len bytes: of the window, or of the shared scratch buffer. */
static frz_code take_view(parquet_pages *p, size_t len, const uint8_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *scratch = &p->scratch->bytes;
    /* a window's worth is better read ahead than read alone */
    if (in_window(p) < len && len <= p->scratch->window) {
        size_t got;
        FRZ_TRY(peek(p, len, out, &got, err));
    }
    if (in_window(p) >= len) {
        *out = p->window + (p->at - p->window_start);
        p->at += len;
        goto out;
    }
    frz_buf_clear(scratch);
    FRZ_TRY(frz_buf_reserve(scratch, len, err));
    FRZ_TRY(take_into(p, scratch->data, len, err));
    *out = scratch->data;
out:
    return rc;
}

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
        FRZ_TRY(peek(p, want, &bytes, &len, err));
        parquet_thrift_init(&t, bytes, len, p->at, NULL);
        rc = parquet_page_header_parse(&t, &p->header);
        if (rc != FRZ_OK && t.ended_early && len < left_in_chunk(p) && len < MAX_HEADER) {
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
    if ((uint64_t)p->header.compressed_size > left_in_chunk(p)) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                         "page header at byte %" PRIu64 ": compressed size %" PRId32
                         " exceeds the %" PRIu64 " bytes left in the column chunk",
                         p->header_at, p->header.compressed_size, left_in_chunk(p));
    }
out:
    return rc;
}

/* ---- decompression ---- */

static frz_code check_crc(const parquet_pages *p, const uint8_t *bytes, size_t len, frz_error *err)
{
    if (!p->header.has_crc) {
        return FRZ_OK;
    }
    uint32_t found = frz_crc32(0, bytes, len);
    if (found != p->header.crc) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64 ": checksum is %08" PRIx32
                           ", expected %08" PRIx32,
                           p->header_at, found, p->header.crc);
    }
    return FRZ_OK;
}

static frz_code decompress(parquet_pages *p, const uint8_t *src, size_t src_len, uint8_t *dst,
                           size_t dst_len, frz_error *err)
{
    frz_codec **codec = &p->scratch->codecs[p->codec];
    frz_code rc = FRZ_OK;
    if (*codec == NULL) {
        FRZ_TRY(frz_codec_new(p->scratch->env, p->codec, 0, codec, err));
    }
    FRZ_TRY(frz_codec_decompress(*codec, src, src_len, dst, dst_len, err));
out:
    return rc;
}

/* The whole body of the page at hand, decompressed to dst. */
static frz_code load_body(parquet_pages *p, uint8_t *dst, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t from = (size_t)p->header.compressed_size;
    size_t to = (size_t)p->header.uncompressed_size;
    const uint8_t *bytes;
    p->direct = p->codec == FRZ_CODEC_NONE && from == to && to >= DIRECT_PAGE;
    if (p->codec == FRZ_CODEC_NONE && from == to) {
        FRZ_TRY(take_into(p, dst, to, err));
        FRZ_TRY(check_crc(p, dst, to, err));
        goto out;
    }
    FRZ_TRY(take_view(p, from, &bytes, err));
    FRZ_TRY(check_crc(p, bytes, from, err));
    if (to > 0) {
        FRZ_TRY(decompress(p, bytes, from, dst, to, err));
    }
out:
    return rc;
}

/* A buffer for the page: the last page's, unless a batch still shows it. */
static frz_code page_buffer(parquet_pages *p, size_t size, frz_error *err)
{
    frz_buffer *old = p->page;
    if (old != NULL && atomic_load_explicit(&old->refs, memory_order_acquire) == 1 &&
        size <= old->capacity - FRZ_BUFFER_SLACK) {
        old->size = size;
        return FRZ_OK;
    }
    frz_buffer_unref(old);
    p->page = NULL;
    return frz_buffer_new(p->scratch->env, size, &p->page, err);
}

/* ---- dictionary ---- */

static void drop_dictionary(parquet_pages *p)
{
    frz_buffer_unref(p->dictionary.bytes);
    frz_buffer_unref(p->dictionary.converted);
    frz_free(p->scratch->env, p->dictionary.views);
    p->dictionary = (parquet_dictionary){0};
}

static frz_code dictionary_views(parquet_pages *p, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_dictionary *d = &p->dictionary;
    parquet_values plain = {.env = p->scratch->env};
    d->views = frz_alloc_zero(p->scratch->env, d->count, sizeof *d->views);
    if (d->views == NULL) {
        return frz_fail_nomem(err, d->count * sizeof *d->views);
    }
    FRZ_TRY(parquet_values_init(&plain, p->column->element, PARQUET_PLAIN, d->bytes->data, len, d,
                                d->count, err));
    for (size_t i = 0; i < d->count; i += PARQUET_BLOCK) {
        size_t n = FRZ_MIN(d->count - i, (size_t)PARQUET_BLOCK);
        FRZ_TRY(parquet_values_views(&plain, n, d->views + i, err));
        for (size_t k = i; k < i + n; k++) {
            d->longest = FRZ_MAX(d->longest, d->views[k].len);
        }
    }
out:
    return rc;
}

/* Entries of one bit each become bytes, as other entries are. */
static frz_code dictionary_booleans(parquet_pages *p, frz_error *err)
{
    parquet_dictionary *d = &p->dictionary;
    frz_buffer *entries;
    frz_code rc = frz_buffer_new(p->scratch->env, d->count, &entries, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < d->count; i++) {
        entries->data[i] = frz_bit_get(d->bytes->data, (int64_t)i);
    }
    frz_buffer_unref(d->bytes);
    d->bytes = entries;
    return FRZ_OK;
}

/* The most entries that the bytes of a dictionary can hold. */
static uint64_t most_entries(const parquet_element *element, size_t len)
{
    size_t width = parquet_element_width(element);
    if (element->physical == PARQUET_BOOLEAN) {
        return (uint64_t)len * 8;
    }
    return len / (width == 0 ? sizeof(uint32_t) : width);
}

static frz_code load_dictionary(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_page_header *h = &p->header;
    const parquet_element *element = p->column->element;
    size_t len = (size_t)h->uncompressed_size;
    if (p->dictionary.present) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at, "a second dictionary in one chunk");
    }
    if (h->encoding != PARQUET_PLAIN && h->encoding != PARQUET_PLAIN_DICTIONARY) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: dictionary of encoding %" PRId32,
                        h->encoding);
    }
    if ((uint64_t)h->num_values > most_entries(element, len)) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "a dictionary of %zu bytes cannot hold %" PRId32 " %s values", len,
                           h->num_values, parquet_physical_name(element->physical));
    }
    FRZ_TRY(check_size(p, (uint64_t)h->compressed_size, len, err));
    FRZ_TRY(frz_buffer_new(p->scratch->env, len, &p->dictionary.bytes, err));
    FRZ_TRY(load_body(p, p->dictionary.bytes->data, err));
    p->dictionary.count = (uint32_t)h->num_values;
    if (element->physical == PARQUET_BYTE_ARRAY) {
        FRZ_TRY(dictionary_views(p, len, err));
    } else if (element->physical == PARQUET_BOOLEAN) {
        FRZ_TRY(dictionary_booleans(p, err));
    }
    p->dictionary.present = true;
out:
    return rc;
}

/* ---- levels ---- */

/* One kind of levels at the front of a page of version 1; *at moves behind them. */
static frz_code levels_v1(const parquet_pages *p, int32_t encoding, uint8_t max, const uint8_t **at,
                          const uint8_t *end, parquet_hybrid *out, frz_error *err)
{
    size_t left = (size_t)(end - *at);
    const parquet_kernels *kernels = parquet_kernels_of(p->scratch->env);
    unsigned width = parquet_bit_width(max);
    uint64_t len;
    if (encoding == PARQUET_BIT_PACKED) {
        len = ((uint64_t)p->header.num_values * width + 7) / 8;
        if (len <= left) {
            parquet_hybrid_init_msb(out, kernels, *at, (size_t)len, width,
                                    (uint64_t)p->header.num_values);
        }
    } else if (encoding == PARQUET_RLE) {
        len = left < 4 ? UINT32_MAX : frz_load_le32(*at);
        left -= FRZ_MIN(left, (size_t)4);
        *at = end - left;
        if (len <= left) {
            parquet_hybrid_init(out, kernels, *at, (size_t)len, width);
        }
    } else {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: levels of encoding %" PRId32,
                        encoding);
    }
    if (len > left) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64 ": levels of %" PRIu64 " bytes, %zu are left",
                           p->header_at, len, left);
    }
    *at += len;
    return FRZ_OK;
}

static frz_code open_v1(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_page_header *h = &p->header;
    size_t len = (size_t)h->uncompressed_size;
    /* level bytes usually are as many as in the last page; then the values are aligned */
    size_t pad = (ALIGNMENT - p->prefix % ALIGNMENT) % ALIGNMENT;
    FRZ_TRY(page_buffer(p, pad + len, err));
    FRZ_TRY(load_body(p, p->page->data + pad, err));
    const uint8_t *at = p->page->data + pad;
    const uint8_t *end = at + len;
    if (p->column->max_rep > 0) {
        FRZ_TRY(levels_v1(p, h->rep_encoding, p->column->max_rep, &at, end, &p->reps, err));
    }
    if (p->column->max_def > 0) {
        FRZ_TRY(levels_v1(p, h->def_encoding, p->column->max_def, &at, end, &p->defs, err));
    }
    p->prefix = (size_t)(at - p->page->data) - pad;
    FRZ_TRY(parquet_values_init(&p->values, p->column->element, h->encoding, at, (size_t)(end - at),
                                &p->dictionary, (uint64_t)h->num_values, err));
out:
    return rc;
}

/* Arrow before 3.0 said of compressed values that they are not. */
static bool values_compressed(const parquet_pages *p, size_t from, size_t to)
{
    static const char *const liars[] = {"parquet-cpp version 1.", "parquet-cpp-arrow version 0.",
                                        "parquet-cpp-arrow version 1.",
                                        "parquet-cpp-arrow version 2."};
    bool lie = from != to;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(liars); i++) {
        lie = lie ||
              frz_str_starts_with(p->scratch->file->metadata.created_by, frz_str_from(liars[i]));
    }
    return p->codec != FRZ_CODEC_NONE && (p->header.compressed || lie);
}

/* Version 2: levels stand uncompressed before the values and have no length of their own. */
static frz_code open_v2(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_page_header *h = &p->header;
    uint64_t levels = (uint64_t)h->rep_bytes + (uint64_t)h->def_bytes;
    if (levels > (uint64_t)h->compressed_size || levels > (uint64_t)h->uncompressed_size) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64 ": levels of %" PRIu64
                           " bytes in a page of %" PRId32 " (%" PRId32 " decompressed)",
                           p->header_at, levels, h->compressed_size, h->uncompressed_size);
    }
    size_t from = (size_t)h->compressed_size - (size_t)levels;
    size_t to = (size_t)h->uncompressed_size - (size_t)levels;
    size_t start = ((size_t)levels + PARQUET_SLACK + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const parquet_kernels *kernels = parquet_kernels_of(p->scratch->env);
    const uint8_t *bytes;
    FRZ_TRY(page_buffer(p, start + to, err));
    FRZ_TRY(take_view(p, (size_t)h->compressed_size, &bytes, err));
    FRZ_TRY(check_crc(p, bytes, (size_t)h->compressed_size, err));
    memcpy(p->page->data, bytes, (size_t)levels);
    if (!values_compressed(p, from, to)) {
        if (from != to) {
            rc = frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                             "page at byte %" PRIu64 ": %zu uncompressed bytes, expected %zu",
                             p->header_at, from, to);
            goto out;
        }
        memcpy(p->page->data + start, bytes + levels, to);
    } else if (to > 0) {
        FRZ_TRY(decompress(p, bytes + levels, from, p->page->data + start, to, err));
    }
    parquet_hybrid_init(&p->reps, kernels, p->page->data, (size_t)h->rep_bytes,
                        parquet_bit_width(p->column->max_rep));
    parquet_hybrid_init(&p->defs, kernels, p->page->data + h->rep_bytes, (size_t)h->def_bytes,
                        parquet_bit_width(p->column->max_def));
    FRZ_TRY(parquet_values_init(&p->values, p->column->element, h->encoding, p->page->data + start,
                                to, &p->dictionary, (uint64_t)h->num_values, err));
out:
    return rc;
}

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

void parquet_pages_init(parquet_pages *p, parquet_scratch *scratch, const parquet_column *column)
{
    *p = (parquet_pages){.scratch = scratch, .column = column};
    frz_buf_init(&p->own, scratch->env, FRZ_BUF_NO_LIMIT);
    p->values.env = scratch->env;
}

void parquet_pages_reset(parquet_pages *p)
{
    if (p->scratch != NULL) {
        drop_dictionary(p);
        frz_buffer_unref(p->page);
        p->page = NULL;
        drop_window(p);
        frz_buf_reset(&p->own);
        parquet_locator_reset(&p->locator);
        parquet_values_reset(&p->values);
        p->scratch = NULL;
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
    drop_dictionary(p);
    drop_window(p);
    p->num_values = chunk->num_values;
    p->left = 0;
    p->direct = false;
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
        FRZ_TRY(parquet_chunk_range(p->scratch->file, chunk, &p->at, &p->end, err));
    }
    p->read_end = p->end;
    p->prefix = guess_prefix(p->column, chunk->num_values);
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
            FRZ_TRY(load_dictionary(p, err));
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
            FRZ_TRY(load_dictionary(p, err));
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

frz_code parquet_pages_open(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(p->has_header && p->left == 0);
    if (p->locator.active && !p->dictionary.present && is_dictionary(p->header.encoding)) {
        FRZ_TRY(parquet_pages_fetch_dictionary(p, err));
    }
    FRZ_TRY(check_size(p, (uint64_t)p->header.compressed_size,
                       (uint64_t)p->header.uncompressed_size, err));
    if (p->header.type == PARQUET_DATA_PAGE_V2) {
        FRZ_TRY(open_v2(p, err));
    } else {
        FRZ_TRY(open_v1(p, err));
    }
    if (p->locator.active && p->column->max_rep > 0) {
        FRZ_TRY(parquet_pages_check_rows(p, err));
    }
    p->left = p->header.num_values;
    p->has_header = false;
    bool last = p->locator.active ? p->locator.next == p->locator.index.count : p->values_left == 0;
    if (last) { /* what was read ahead is used up */
        drop_window(p);
    }
out:
    return rc;
}
