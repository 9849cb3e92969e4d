/*
 * The values part of a page, decoded to the file's own physical types. spec: Encodings
 *
 * Fixed-width values come out as bytes one after the other, BYTE_ARRAY values as views into the
 * page, the dictionary or, for DELTA_BYTE_ARRAY, memory of the decoder.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

#define LENGTH_PREFIX 4
#define INT96_WIDTH 12

size_t parquet_element_width(const parquet_element *e)
{
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        return 1;
    case PARQUET_INT32:
    case PARQUET_FLOAT:
        return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE:
        return 8;
    case PARQUET_INT96:
        return INT96_WIDTH;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return e->type_length > 0 ? (size_t)e->type_length : 0;
    case PARQUET_BYTE_ARRAY:
    case PARQUET_NO_PHYSICAL:
    default:
        return 0;
    }
}

void parquet_values_reset(parquet_values *v)
{
    if (v->env != NULL) {
        frz_free(v->env, v->joined);
        frz_free(v->env, v->previous);
    }
    *v = (parquet_values){.env = v->env};
}

static frz_code values_end(const parquet_values *v, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "the values of a page (encoding %d) end too early",
                    (int)v->encoding);
}

/* ---- beginning a page ---- */

static frz_code init_dictionary(parquet_values *v, const parquet_dictionary *dictionary,
                                frz_error *err)
{
    if (!dictionary->present) {
        return frz_fail(err, FRZ_E_CORRUPT, "a page of dictionary indices without a dictionary");
    }
    size_t len = (size_t)(v->end - v->at);
    unsigned width = 0;
    if (len > 0) {
        width = v->at[0];
        v->at++;
        len--;
    }
    if (width > 32) {
        return frz_fail(err, FRZ_E_CORRUPT, "dictionary indices of %u bits, at most 32 are legal",
                        width);
    }
    v->encoding = PARQUET_RLE_DICTIONARY;
    v->dictionary = dictionary;
    parquet_hybrid_init(&v->indices, v->at, len, width);
    return FRZ_OK;
}

static frz_code init_rle(parquet_values *v, frz_error *err)
{
    size_t len = (size_t)(v->end - v->at);
    if (len == 0) {
        parquet_hybrid_init(&v->indices, v->at, 0, 1);
        return FRZ_OK;
    }
    uint32_t said = len < LENGTH_PREFIX ? 0 : frz_load_le32(v->at);
    if (len < LENGTH_PREFIX || said > len - LENGTH_PREFIX) {
        return frz_fail(err, FRZ_E_CORRUPT, "RLE values claim %u bytes, the page has %zu", said,
                        len);
    }
    parquet_hybrid_init(&v->indices, v->at + LENGTH_PREFIX, said, 1);
    return FRZ_OK;
}

static frz_code init_delta(parquet_values *v, frz_error *err)
{
    if (v->at == v->end) {
        v->delta = (parquet_delta){0}; /* a page of nulls */
        return FRZ_OK;
    }
    if (!parquet_delta_init(&v->delta, v->at, (size_t)(v->end - v->at))) {
        return frz_fail(err, FRZ_E_CORRUPT, "the header of delta-encoded values is damaged");
    }
    return FRZ_OK;
}

/* Go past a run of lengths, which stays readable from its beginning. */
static bool lengths_end(const parquet_delta *d, const uint8_t **end)
{
    parquet_delta walk = *d;
    uint64_t drop[128];
    while (walk.left > 0) {
        if (parquet_delta_read(&walk, drop, FRZ_ARRAY_COUNT(drop)) == 0) {
            return false;
        }
    }
    *end = parquet_delta_end(&walk);
    return true;
}

static frz_code init_lengths(parquet_values *v, frz_error *err)
{
    const uint8_t *next;
    frz_code rc = init_delta(v, err);
    if (rc != FRZ_OK || v->at == v->end) {
        return rc;
    }
    if (!lengths_end(&v->delta, &next)) {
        return values_end(v, err);
    }
    v->at = next;
    return FRZ_OK;
}

static frz_code init_prefixes(parquet_values *v, frz_error *err)
{
    const uint8_t *next;
    frz_code rc = init_lengths(v, err);
    v->previous_len = 0;
    if (rc != FRZ_OK || v->at == v->end) {
        v->suffixes = (parquet_delta){0};
        return rc;
    }
    if (!parquet_delta_init(&v->suffixes, v->at, (size_t)(v->end - v->at)) ||
        !lengths_end(&v->suffixes, &next)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "the suffix lengths of delta-encoded values are damaged");
    }
    v->at = next;
    return FRZ_OK;
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
        return true;
    case PARQUET_PLAIN_DICTIONARY:
    case PARQUET_RLE_DICTIONARY:
        return physical != PARQUET_BOOLEAN;
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
    default:
        return false;
    }
}

frz_code parquet_values_init(parquet_values *v, const parquet_element *element, int32_t encoding,
                             const uint8_t *bytes, size_t len, const parquet_dictionary *dictionary,
                             frz_error *err)
{
    if (encoding < 0 || encoding > PARQUET_BYTE_STREAM_SPLIT || encoding == 1 ||
        encoding == PARQUET_BIT_PACKED) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encoding %" PRId32, encoding);
    }
    if (!encoding_fits(encoding, element->physical)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encoding %" PRId32 " of %s values",
                        encoding, parquet_physical_name(element->physical));
    }
    v->encoding = (parquet_encoding)encoding;
    v->physical = element->physical;
    v->width = parquet_element_width(element);
    v->at = bytes;
    v->end = bytes + len;
    v->position = 0;
    switch (v->encoding) {
    case PARQUET_PLAIN_DICTIONARY:
    case PARQUET_RLE_DICTIONARY:
        return init_dictionary(v, dictionary, err);
    case PARQUET_RLE:
        return init_rle(v, err);
    case PARQUET_DELTA_BINARY_PACKED:
        return init_delta(v, err);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return init_lengths(v, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return init_prefixes(v, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return init_split(v, err);
    case PARQUET_PLAIN:
    case PARQUET_BIT_PACKED:
    default:
        return FRZ_OK;
    }
}

/* ---- fixed width ---- */

/* True if n values of a width lie in the bytes that are left. */
static bool plain_has(const parquet_values *v, size_t n)
{
    return n <= (size_t)(v->end - v->at) / v->width;
}

static frz_code plain_bools(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    if (n > (size_t)(v->end - v->at) * 8 - v->position) {
        return values_end(v, err);
    }
    for (size_t i = 0; out != NULL && i < n; i++) {
        out[i] = frz_bit_get(v->at, (int64_t)(v->position + i));
    }
    v->position += n;
    return FRZ_OK;
}

static frz_code rle_bools(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    size_t got = parquet_hybrid_u8(&v->indices, out, n);
    for (size_t i = 0; i < got; i++) {
        if (out[i] > 1) {
            return frz_fail(err, FRZ_E_CORRUPT, "a boolean has the value %d", out[i]);
        }
    }
    return got == n ? FRZ_OK : values_end(v, err);
}

/* Up to a block of indices, all inside the dictionary. */
static frz_code read_indices(parquet_values *v, size_t n, uint32_t *indices, frz_error *err)
{
    if (parquet_hybrid_u32(&v->indices, indices, n) != n) {
        return values_end(v, err);
    }
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = FRZ_MAX(largest, indices[i]);
    }
    if (n > 0 && largest >= v->dictionary->count) {
        return frz_fail(err, FRZ_E_CORRUPT, "dictionary index %" PRIu32 " of %" PRIu32 " entries",
                        largest, v->dictionary->count);
    }
    return FRZ_OK;
}

static void gather(const uint8_t *from, size_t width, const uint32_t *indices, size_t n,
                   uint8_t *out)
{
    switch (width) {
    case 4:
        for (size_t i = 0; i < n; i++) {
            memcpy(out + i * 4, from + (size_t)indices[i] * 4, 4);
        }
        break;
    case 8:
        for (size_t i = 0; i < n; i++) {
            memcpy(out + i * 8, from + (size_t)indices[i] * 8, 8);
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            memcpy(out + i * width, from + (size_t)indices[i] * width, width);
        }
    }
}

static frz_code dictionary_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    uint32_t indices[PARQUET_BLOCK];
    while (n > 0) {
        size_t take = FRZ_MIN(n, (size_t)PARQUET_BLOCK);
        frz_code rc = read_indices(v, take, indices, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        gather(v->dictionary->bytes->data, v->width, indices, take, out);
        out += take * v->width;
        n -= take;
    }
    return FRZ_OK;
}

static frz_code delta_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    uint64_t numbers[256];
    while (n > 0) {
        size_t take = FRZ_MIN(n, FRZ_ARRAY_COUNT(numbers));
        if (parquet_delta_read(&v->delta, numbers, take) != take) {
            return values_end(v, err);
        }
        for (size_t i = 0; out != NULL && i < take; i++) {
            memcpy(out, &numbers[i], v->width); /* the low bytes come first */
            out += v->width;
        }
        n -= take;
    }
    return FRZ_OK;
}

static frz_code split_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    size_t count = (size_t)(v->end - v->at) / v->width;
    if (n > count - v->position) {
        return values_end(v, err);
    }
    if (out != NULL) {
        parquet_split_read(v->at, count, v->width, v->position, n, out);
    }
    v->position += n;
    return FRZ_OK;
}

/* DELTA_BYTE_ARRAY of fixed length: through views. */
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
            if (views[i].len != v->width) {
                return frz_fail(err, FRZ_E_CORRUPT, "a value of %zu bytes in a column of %zu",
                                views[i].len, v->width);
            }
            memcpy(out, views[i].ptr, v->width);
            out += v->width;
        }
        n -= take;
    }
    return FRZ_OK;
}

frz_code parquet_values_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    switch (v->encoding) {
    case PARQUET_PLAIN:
        if (v->physical == PARQUET_BOOLEAN) {
            return plain_bools(v, n, out, err);
        }
        if (!plain_has(v, n)) {
            return values_end(v, err);
        }
        memcpy(out, v->at, n * v->width);
        v->at += n * v->width;
        return FRZ_OK;
    case PARQUET_RLE_DICTIONARY:
        return dictionary_fixed(v, n, out, err);
    case PARQUET_RLE:
        return rle_bools(v, n, out, err);
    case PARQUET_DELTA_BINARY_PACKED:
        return delta_fixed(v, n, out, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return split_fixed(v, n, out, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return prefixed_fixed(v, n, out, err);
    default:
        return frz_fail(err, FRZ_E_INTERNAL, "encoding %d was let through", (int)v->encoding);
    }
}

/* ---- BYTE_ARRAY ---- */

static frz_code plain_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    const uint8_t *at = v->at;
    for (size_t i = 0; i < n; i++) {
        size_t left = (size_t)(v->end - at);
        if (left < LENGTH_PREFIX) {
            return values_end(v, err);
        }
        uint32_t len = frz_load_le32(at);
        if (len > left - LENGTH_PREFIX) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "a value claims %" PRIu32 " bytes, its page has %zu left", len,
                            left - LENGTH_PREFIX);
        }
        out[i] = (frz_str){(const char *)at + LENGTH_PREFIX, len};
        at += LENGTH_PREFIX + len;
    }
    v->at = at;
    return FRZ_OK;
}

static frz_code dictionary_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    uint32_t indices[PARQUET_BLOCK];
    frz_code rc = read_indices(v, n, indices, err);
    for (size_t i = 0; rc == FRZ_OK && i < n; i++) {
        out[i] = v->dictionary->views[indices[i]];
    }
    return rc;
}

static frz_code length_views(parquet_values *v, parquet_delta *lengths, size_t n, frz_str *out,
                             frz_error *err)
{
    uint64_t numbers[PARQUET_BLOCK];
    if (parquet_delta_read(lengths, numbers, n) != n) {
        return values_end(v, err);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t len = numbers[i] & UINT32_MAX;
        size_t left = (size_t)(v->end - v->at);
        if (len > left) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "a value claims %" PRIu64 " bytes, its page has %zu left", len, left);
        }
        out[i] = (frz_str){(const char *)v->at, (size_t)len};
        v->at += len;
    }
    return FRZ_OK;
}

static frz_code grow_bytes(const frz_env *env, uint8_t **bytes, size_t *capacity, size_t wanted,
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

/* Prefix lengths of the values against their predecessors; returns the bytes of all values. */
static frz_code check_prefixes(const parquet_values *v, const uint64_t *prefixes,
                               const frz_str *suffixes, size_t n, size_t *total, frz_error *err)
{
    size_t before = v->previous_len;
    *total = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t prefix = prefixes[i] & UINT32_MAX;
        if (prefix > before) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "a value shares %" PRIu64 " bytes with one of %zu bytes", prefix,
                            before);
        }
        before = (size_t)prefix + suffixes[i].len;
        if (before > INT32_MAX || *total > (size_t)INT32_MAX - before) {
            return frz_fail(err, FRZ_E_LIMIT, "delta-encoded values of more than 2 GiB");
        }
        *total += before;
    }
    return FRZ_OK;
}

static frz_code prefix_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t prefixes[PARQUET_BLOCK];
    size_t total = 0;
    if (parquet_delta_read(&v->delta, prefixes, n) != n) {
        return values_end(v, err);
    }
    FRZ_TRY(length_views(v, &v->suffixes, n, out, err));
    FRZ_TRY(check_prefixes(v, prefixes, out, n, &total, err));
    FRZ_TRY(grow_bytes(v->env, &v->joined, &v->joined_capacity, total + PARQUET_SLACK, err));
    const uint8_t *before = v->previous;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t prefix = (size_t)(prefixes[i] & UINT32_MAX);
        uint8_t *to = v->joined + at;
        if (prefix > 0) {
            memcpy(to, before, prefix);
        }
        if (out[i].len > 0) {
            memcpy(to + prefix, out[i].ptr, out[i].len);
        }
        out[i] = (frz_str){(const char *)to, prefix + out[i].len};
        before = to;
        at += out[i].len;
    }
    if (n > 0) {
        size_t len = out[n - 1].len;
        FRZ_TRY(grow_bytes(v->env, &v->previous, &v->previous_capacity, len + 1, err));
        memcpy(v->previous, before, len);
        v->previous_len = len;
    }
out:
    return rc;
}

frz_code parquet_values_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    assert(n <= PARQUET_BLOCK);
    switch (v->encoding) {
    case PARQUET_PLAIN:
        return plain_views(v, n, out, err);
    case PARQUET_RLE_DICTIONARY:
        return dictionary_views(v, n, out, err);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return length_views(v, &v->delta, n, out, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return prefix_views(v, n, out, err);
    default:
        return frz_fail(err, FRZ_E_INTERNAL, "encoding %d was let through", (int)v->encoding);
    }
}

size_t parquet_values_fit(const parquet_values *v, size_t n, size_t room)
{
    size_t left = (size_t)(v->end - v->at);
    size_t longest;
    switch (v->encoding) {
    case PARQUET_RLE_DICTIONARY:
        longest = v->dictionary->longest;
        break;
    case PARQUET_DELTA_BYTE_ARRAY:
        longest = v->previous_len + left;
        break;
    default:
        return left <= room ? n : 0;
    }
    return longest == 0 ? n : FRZ_MIN(n, room / longest);
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
            return plain_bools(v, n, NULL, err);
        }
        if (!plain_has(v, n)) {
            return values_end(v, err);
        }
        v->at += n * v->width;
        return FRZ_OK;
    case PARQUET_RLE_DICTIONARY:
    case PARQUET_RLE:
        return parquet_hybrid_skip(&v->indices, n) == n ? FRZ_OK : values_end(v, err);
    case PARQUET_DELTA_BINARY_PACKED:
        return delta_fixed(v, n, NULL, err);
    case PARQUET_BYTE_STREAM_SPLIT:
        return split_fixed(v, n, NULL, err);
    default:
        return skip_views(v, n, err);
    }
}
