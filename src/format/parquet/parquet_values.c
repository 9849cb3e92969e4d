/*
 * The values part of a page, decoded to the file's own physical types: beginning a page, booleans,
 * values of fixed width, skipping. parquet_bytes.c has BYTE_ARRAY. spec: Encodings
 */
#include <inttypes.h>

#include "arrow/arrow_array.h"
#include "format/parquet/parquet_read.h"

#define LENGTH_PREFIX 4

void parquet_values_reset(parquet_values *v)
{
    if (v->env != NULL) {
        frz_free(v->env, v->delta);
        frz_free(v->env, v->suffixes);
        frz_free(v->env, v->joined);
        frz_free(v->env, v->previous);
    }
    *v = (parquet_values){.env = v->env};
}

frz_code parquet_values_grow(const frz_env *env, uint8_t **bytes, size_t *capacity, size_t wanted,
                             frz_error *err)
{
    if (wanted <= *capacity) {
        return FRZ_OK;
    }
    uint8_t *grown = frz_realloc(env, *bytes, wanted);
    if (grown == NULL) {
        return frz_fail_nomem(err, wanted);
    }
    *bytes = grown;
    *capacity = wanted;
    return FRZ_OK;
}

frz_code parquet_values_end(const parquet_values *v, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "the values of a page (encoding %d) end too early",
                    (int)v->encoding);
}

/* ---- beginning a page ---- */

/* Some writers of dictionaries with one entry leave the runs out: without bits no index needs any.
 */
static void init_indices(parquet_values *v, size_t len, unsigned width, uint64_t most)
{
    parquet_hybrid_init(&v->indices, v->kernels, v->at, width == 0 ? 0 : len, width);
    if (width == 0) {
        v->indices.repeated = most;
    }
}

static frz_code init_dictionary(parquet_values *v, const parquet_dictionary *dictionary,
                                uint64_t most, frz_error *err)
{
    if (!dictionary->present) {
        return frz_fail(err, FRZ_E_CORRUPT, "a page of dictionary indices without a dictionary");
    }
    size_t len = (size_t)(v->end - v->at);
    v->encoding = PARQUET_RLE_DICTIONARY;
    v->dictionary = dictionary;
    if (len == 0) {
        init_indices(v, 0, 0, 0); /* a page of nulls */
        return FRZ_OK;
    }
    unsigned width = v->at[0];
    if (width > 32) {
        return frz_fail(err, FRZ_E_CORRUPT, "dictionary indices of %u bits, at most 32 are legal",
                        width);
    }
    v->at++;
    init_indices(v, len - 1, width, most);
    return FRZ_OK;
}

static frz_code init_rle(parquet_values *v, frz_error *err)
{
    size_t len = (size_t)(v->end - v->at);
    if (len == 0) {
        parquet_hybrid_init(&v->indices, v->kernels, v->at, 0, 1);
        return FRZ_OK;
    }
    uint32_t said = len < LENGTH_PREFIX ? 0 : frz_load_le32(v->at);
    if (len < LENGTH_PREFIX || said > len - LENGTH_PREFIX) {
        return frz_fail(err, FRZ_E_CORRUPT, "RLE values claim %u bytes, the page has %zu", said,
                        len);
    }
    parquet_hybrid_init(&v->indices, v->kernels, v->at + LENGTH_PREFIX, said, 1);
    return FRZ_OK;
}

/* Delta-encoded numbers that begin the bytes that are left; most bounds how many they may be. */
static frz_code init_numbers(parquet_values *v, parquet_delta *d, uint64_t most, frz_error *err)
{
    if (v->at == v->end) {
        *d = (parquet_delta){0}; /* a page of nulls */
        return FRZ_OK;
    }
    if (!parquet_delta_init(d, v->kernels, v->at, (size_t)(v->end - v->at), most)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "the header of delta-encoded values is damaged or claims more than the "
                        "page's %" PRIu64,
                        most);
    }
    return FRZ_OK;
}

/* The same before other bytes, to which v moves. */
static frz_code init_lengths(parquet_values *v, parquet_delta *d, uint64_t most, frz_error *err)
{
    frz_code rc = init_numbers(v, d, most, err);
    if (rc != FRZ_OK || v->at == v->end) {
        return rc;
    }
    const uint8_t *end = parquet_delta_end(d);
    if (end == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "the lengths of delta-encoded values are damaged");
    }
    v->at = end;
    return FRZ_OK;
}

static frz_code init_prefixes(parquet_values *v, uint64_t most, frz_error *err)
{
    frz_code rc = init_lengths(v, v->delta, most, err);
    v->previous_len = 0;
    return rc == FRZ_OK ? init_lengths(v, v->suffixes, most, err) : rc;
}

static frz_code need_delta(const parquet_values *v, parquet_delta **delta, frz_error *err)
{
    if (*delta == NULL) {
        *delta = frz_alloc(v->env, sizeof **delta);
    }
    return *delta != NULL ? FRZ_OK : frz_fail_nomem(err, sizeof **delta);
}

static frz_code init_delta(parquet_values *v, uint64_t most, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(need_delta(v, &v->delta, err));
    switch (v->encoding) {
    case PARQUET_DELTA_BINARY_PACKED:
        rc = init_numbers(v, v->delta, most, err);
        break;
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        rc = init_lengths(v, v->delta, most, err);
        break;
    default:
        FRZ_TRY(need_delta(v, &v->suffixes, err));
        rc = init_prefixes(v, most, err);
    }
out:
    return rc;
}

static frz_code init_split(parquet_values *v, frz_error *err)
{
    size_t len = (size_t)(v->end - v->at);
    if (len % v->width != 0) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "BYTE_STREAM_SPLIT needs a multiple of %zu bytes, found %zu", v->width,
                        len);
    }
    return FRZ_OK;
}

static bool encoding_fits(int32_t encoding, parquet_physical physical)
{
    bool is_bytes = physical == PARQUET_BYTE_ARRAY;
    switch (encoding) {
    case PARQUET_PLAIN:
    case PARQUET_PLAIN_DICTIONARY:
    case PARQUET_RLE_DICTIONARY:
        return true;
    case PARQUET_RLE:
        return physical == PARQUET_BOOLEAN;
    case PARQUET_DELTA_BINARY_PACKED:
        return physical == PARQUET_INT32 || physical == PARQUET_INT64;
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return is_bytes;
    case PARQUET_DELTA_BYTE_ARRAY:
        return is_bytes || physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    case PARQUET_BYTE_STREAM_SPLIT:
        return !is_bytes && physical != PARQUET_BOOLEAN && physical != PARQUET_INT96;
    case PARQUET_ALP:
        return physical == PARQUET_FLOAT || physical == PARQUET_DOUBLE;
    default:
        return false;
    }
}

frz_code parquet_values_init(parquet_values *v, const parquet_element *element, int32_t encoding,
                             const uint8_t *bytes, size_t len, const parquet_dictionary *dictionary,
                             uint64_t most, frz_error *err)
{
    if (encoding < 0 || encoding >= PARQUET_ENCODING_COUNT || encoding == 1 ||
        encoding == PARQUET_BIT_PACKED) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encoding %" PRId32, encoding);
    }
    if (!encoding_fits(encoding, element->physical)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encoding %" PRId32 " of %s values",
                        encoding, parquet_physical_name(element->physical));
    }
    v->kernels = parquet_kernels_of(v->env);
    v->encoding = (parquet_encoding)encoding;
    v->physical = element->physical;
    v->width = parquet_element_width(element);
    if (v->width == 0 && v->physical != PARQUET_BYTE_ARRAY) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s values without a length",
                        parquet_physical_name(v->physical));
    }
    v->at = bytes;
    v->end = bytes + len;
    v->position = 0;
    switch (v->encoding) {
    case PARQUET_PLAIN_DICTIONARY:
    case PARQUET_RLE_DICTIONARY:
        return init_dictionary(v, dictionary, most, err);
    case PARQUET_RLE:
        return init_rle(v, err);
    case PARQUET_DELTA_BINARY_PACKED:
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
    case PARQUET_DELTA_BYTE_ARRAY:
        return init_delta(v, most, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return init_split(v, err);
    case PARQUET_ALP:
        return parquet_alp_init(v, most, err);
    case PARQUET_PLAIN:
    case PARQUET_BIT_PACKED:
    default:
        return FRZ_OK;
    }
}

frz_code parquet_values_bad_index(const parquet_values *v, uint32_t index, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "dictionary index %" PRIu32 " of %" PRIu32 " entries",
                    index, v->dictionary->count);
}

/* ---- booleans ---- */

static frz_code plain_bits(parquet_values *v, size_t n, uint8_t *bits, int64_t first,
                           frz_error *err)
{
    if (n > (size_t)(v->end - v->at) * 8 - v->position) {
        return parquet_values_end(v, err);
    }
    if (bits != NULL) {
        frz_bitmap_copy(v->at, (int64_t)v->position, (int64_t)n, bits, first);
    }
    v->position += n;
    return FRZ_OK;
}

static frz_code dictionary_bits(parquet_values *v, size_t n, uint8_t *bits, int64_t first,
                                frz_error *err)
{
    uint8_t values[256];
    while (n > 0) {
        size_t take = FRZ_MIN(n, sizeof values);
        frz_code rc = parquet_values_gather(v, v->dictionary->bytes->data, 1, take, values, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        for (size_t i = 0; i < take; i++) {
            frz_bit_put(bits, first + (int64_t)i, values[i] != 0);
        }
        first += (int64_t)take;
        n -= take;
    }
    return FRZ_OK;
}

frz_code parquet_values_bits(parquet_values *v, size_t n, uint8_t *bits, int64_t first,
                             frz_error *err)
{
    assert(v->physical == PARQUET_BOOLEAN);
    switch (v->encoding) {
    case PARQUET_PLAIN:
        return plain_bits(v, n, bits, first, err);
    case PARQUET_RLE_DICTIONARY:
        return dictionary_bits(v, n, bits, first, err);
    default:
        return parquet_hybrid_bits(&v->indices, bits, first, n) == n ? FRZ_OK
                                                                     : parquet_values_end(v, err);
    }
}

/* ---- fixed width ---- */

/* True if n values of a width lie in the bytes that are left. */
static bool plain_has(const parquet_values *v, size_t n)
{
    return n <= (size_t)(v->end - v->at) / v->width;
}

frz_code parquet_values_indices(parquet_values *v, size_t n, uint32_t *indices, frz_error *err)
{
    if (parquet_hybrid_u32(&v->indices, indices, n) != n) {
        return parquet_values_end(v, err);
    }
    uint32_t largest = v->kernels->largest_u32(indices, n);
    if (n > 0 && largest >= v->dictionary->count) {
        return parquet_values_bad_index(v, largest, err);
    }
    return FRZ_OK;
}

frz_code parquet_values_gather(parquet_values *v, const uint8_t *table, size_t width, size_t n,
                               uint8_t *out, frz_error *err)
{
    uint32_t indices[PARQUET_BLOCK];
    while (n > 0) {
        uint32_t value = 0;
        size_t take = (size_t)FRZ_MIN(parquet_hybrid_repeated(&v->indices, &value), n);
        if (take >= PARQUET_LONG_RUN) {
            if (value >= v->dictionary->count) {
                return parquet_values_bad_index(v, value, err);
            }
            parquet_repeat(table + (size_t)value * width, width, take, out);
            parquet_hybrid_skip(&v->indices, take);
        } else {
            take = FRZ_MIN(n, (size_t)PARQUET_BLOCK);
            frz_code rc = parquet_values_indices(v, take, indices, err);
            if (rc != FRZ_OK) {
                return rc;
            }
            parquet_gather(table, width, indices, take, out);
        }
        out += take * width;
        n -= take;
    }
    return FRZ_OK;
}

static frz_code delta_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    uint64_t numbers[PARQUET_BLOCK];
    while (n > 0) {
        size_t take = FRZ_MIN(n, FRZ_ARRAY_COUNT(numbers));
        if (parquet_delta_read(v->delta, numbers, take) != take) {
            return parquet_values_end(v, err);
        }
        if (out != NULL && v->width == 8) {
            memcpy(out, numbers, take * 8);
        } else if (out != NULL) {
            for (size_t i = 0; i < take; i++) {
                frz_store_le32(out + i * 4, (uint32_t)numbers[i]);
            }
        }
        out = out == NULL ? NULL : out + take * v->width;
        n -= take;
    }
    return FRZ_OK;
}

static frz_code split_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    size_t count = (size_t)(v->end - v->at) / v->width;
    if (n > count - v->position) {
        return parquet_values_end(v, err);
    }
    if (out != NULL) {
        parquet_split_read(v->at, count, v->width, v->position, n, out);
    }
    v->position += n;
    return FRZ_OK;
}

/* DELTA_BYTE_ARRAY of fixed length: through views, which have it. */
static frz_code prefixed_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    frz_str views[64];
    while (n > 0) {
        size_t take = FRZ_MIN(n, FRZ_ARRAY_COUNT(views));
        frz_code rc = parquet_values_views(v, take, views, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        for (size_t i = 0; i < take; i++) {
            memcpy(out, views[i].ptr, v->width);
            out += v->width;
        }
        n -= take;
    }
    return FRZ_OK;
}

const uint8_t *parquet_values_plain(parquet_values *v, size_t n)
{
    if (v->encoding != PARQUET_PLAIN || !plain_has(v, n)) {
        return NULL;
    }
    const uint8_t *values = v->at;
    v->at += n * v->width;
    return values;
}

frz_code parquet_values_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    assert(v->physical != PARQUET_BOOLEAN);
    switch (v->encoding) {
    case PARQUET_PLAIN:
        if (!plain_has(v, n)) {
            return parquet_values_end(v, err);
        }
        memcpy(out, v->at, n * v->width);
        v->at += n * v->width;
        return FRZ_OK;
    case PARQUET_RLE_DICTIONARY:
        return parquet_values_gather(v, v->dictionary->bytes->data, v->width, n, out, err);
    case PARQUET_DELTA_BINARY_PACKED:
        return delta_fixed(v, n, out, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return split_fixed(v, n, out, err);
    case PARQUET_ALP:
        return parquet_alp_fixed(v, n, out, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return prefixed_fixed(v, n, out, err);
    default:
        return frz_fail(err, FRZ_E_INTERNAL, "encoding %d was let through", (int)v->encoding);
    }
}

/* ---- skipping ---- */

static frz_code skip_views(parquet_values *v, size_t n, frz_error *err)
{
    frz_str views[PARQUET_BLOCK];
    while (n > 0) {
        size_t take = FRZ_MIN(n, (size_t)PARQUET_BLOCK);
        if (v->encoding == PARQUET_DELTA_BYTE_ARRAY) {
            take = FRZ_MIN(FRZ_MAX(parquet_values_fit(v, take, INT32_MAX), (size_t)1), take);
        }
        frz_code rc = parquet_values_views(v, take, views, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        n -= take;
    }
    return FRZ_OK;
}

frz_code parquet_values_skip(parquet_values *v, size_t n, frz_error *err)
{
    switch (v->encoding) {
    case PARQUET_PLAIN:
        if (v->width == 0) {
            return skip_views(v, n, err);
        }
        if (v->physical == PARQUET_BOOLEAN) {
            return plain_bits(v, n, NULL, 0, err);
        }
        if (!plain_has(v, n)) {
            return parquet_values_end(v, err);
        }
        v->at += n * v->width;
        return FRZ_OK;
    case PARQUET_RLE_DICTIONARY:
    case PARQUET_RLE:
        return parquet_hybrid_skip(&v->indices, n) == n ? FRZ_OK : parquet_values_end(v, err);
    case PARQUET_DELTA_BINARY_PACKED:
        return delta_fixed(v, n, NULL, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return split_fixed(v, n, NULL, err);
    case PARQUET_ALP:
        return parquet_alp_skip(v, n, err);
    default:
        return skip_views(v, n, err);
    }
}
