/*
 * The bodies of pages: checksums, decompression, dictionaries, and setting up the decoders of
 * levels and values. A page decompresses to at most what its codec can make of its bytes
 * (ratio_of), and never to more than LARGE_PAGE unless it is large compressed too.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

/* Pages so large that are not compressed are read to their place. */
#define DIRECT_PAGE (64u << 10)
#define LARGE_PAGE (256u << 20)
#define LARGE_RATIO 64
#define SMALL_PAGE (64u << 10)
#define ALIGNMENT 64
#define LZO 3

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

frz_code parquet_pages_check_size(const parquet_pages *p, uint64_t compressed,
                                  uint64_t uncompressed, frz_error *err)
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
        FRZ_TRY(frz_codec_new(p->source->env, p->codec, 0, codec, err));
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
    if (p->codec == FRZ_CODEC_NONE && from == to) {
        p->direct = to >= DIRECT_PAGE;
        FRZ_TRY(parquet_pages_take_into(p, dst, to, err));
        FRZ_TRY(check_crc(p, dst, to, err));
        goto out;
    }
    FRZ_TRY(parquet_pages_take_view(p, from, &bytes, err));
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
    parquet_scratch_take_page(p->scratch, size, &p->page);
    frz_buffer *old = p->page;
    if (old != NULL && atomic_load_explicit(&old->refs, memory_order_acquire) == 1 &&
        size <= old->capacity - FRZ_BUFFER_SLACK) {
        old->size = size;
        return FRZ_OK;
    }
    frz_buffer_unref(old);
    p->page = NULL;
    return frz_buffer_new(p->source->env, size, &p->page, err);
}

/* ---- dictionary ---- */

void parquet_pages_drop_dictionary(parquet_pages *p)
{
    frz_buffer_unref(p->dictionary.bytes);
    frz_buffer_unref(p->dictionary.converted);
    frz_free(p->source->env, p->dictionary.views);
    p->dictionary = (parquet_dictionary){0};
}

static frz_code dictionary_views(parquet_pages *p, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_dictionary *d = &p->dictionary;
    parquet_values plain = {.env = p->source->env};
    d->views = frz_alloc_zero(p->source->env, d->count, sizeof *d->views);
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
    frz_code rc = frz_buffer_new(p->source->env, d->count, &entries, err);
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

frz_code parquet_pages_load_dictionary(parquet_pages *p, frz_error *err)
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
    FRZ_TRY(parquet_pages_check_size(p, (uint64_t)h->compressed_size, len, err));
    FRZ_TRY(frz_buffer_new(p->source->env, len, &p->dictionary.bytes, err));
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
    const parquet_kernels *kernels = parquet_kernels_of(p->source->env);
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

frz_code parquet_pages_open_v1(parquet_pages *p, frz_error *err)
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
              frz_str_starts_with(p->source->file->metadata.created_by, frz_str_from(liars[i]));
    }
    return p->codec != FRZ_CODEC_NONE && (p->header.compressed || lie);
}

/* Version 2: levels stand uncompressed before the values and have no length of their own. */
static frz_code level_bytes(const parquet_pages *p, uint64_t *out, frz_error *err)
{
    const parquet_page_header *h = &p->header;
    uint64_t levels = (uint64_t)h->rep_bytes + (uint64_t)h->def_bytes;
    if (levels > (uint64_t)h->compressed_size || levels > (uint64_t)h->uncompressed_size) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64 ": levels of %" PRIu64
                           " bytes in a page of %" PRId32 " (%" PRId32 " decompressed)",
                           p->header_at, levels, h->compressed_size, h->uncompressed_size);
    }
    *out = levels;
    return FRZ_OK;
}

/* Headers have a number of rows, but Arrow before 12 wrote that of values there. */
frz_code parquet_pages_rows(parquet_pages *p, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_page_header *h = &p->header;
    size_t len = (size_t)h->rep_bytes;
    frz_buf *levels = &p->scratch->bytes;
    const uint8_t *bytes;
    uint64_t all;
    size_t got;
    parquet_hybrid reps;
    *rows = -1;
    if (h->type != PARQUET_DATA_PAGE_V2) {
        return FRZ_OK;
    }
    FRZ_TRY(level_bytes(p, &all, err));
    FRZ_TRY(parquet_pages_peek(p, len, &bytes, &got, err));
    frz_buf_clear(levels);
    FRZ_TRY(frz_buf_append(levels, bytes, len, err));
    FRZ_TRY(frz_buf_reserve(levels, PARQUET_SLACK, err));
    parquet_hybrid_init(&reps, parquet_kernels_of(p->source->env), levels->data, len,
                        parquet_bit_width(p->column->max_rep));
    *rows = parquet_hybrid_count(&reps, 0, h->num_values);
    if (*rows < 0) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                         "page at byte %" PRIu64 ": its levels end before its %" PRId32 " values",
                         p->header_at, h->num_values);
    }
out:
    return rc;
}

frz_code parquet_pages_open_v2(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_page_header *h = &p->header;
    uint64_t levels = 0;
    FRZ_TRY(level_bytes(p, &levels, err));
    size_t from = (size_t)h->compressed_size - (size_t)levels;
    size_t to = (size_t)h->uncompressed_size - (size_t)levels;
    size_t start = ((size_t)levels + PARQUET_SLACK + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const parquet_kernels *kernels = parquet_kernels_of(p->source->env);
    const uint8_t *bytes;
    FRZ_TRY(page_buffer(p, start + to, err));
    FRZ_TRY(parquet_pages_take_view(p, (size_t)h->compressed_size, &bytes, err));
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
