/*
 * Decoded values to the end of a leaf's sink, in the type that they are read as.
 *
 * A dictionary's entries are converted, or found to be text, once; its pages then only pick from
 * them. If an entry does not fit its type, which matters only if a page uses it, values are looked
 * at one by one.
 */
#include "format/parquet/parquet_read.h"

/* ---- dictionaries ---- */

static size_t convert_entries(const parquet_leaf *leaf, const parquet_dictionary *d, uint8_t *out)
{
    if (leaf->pages.values.width == 0) {
        return parquet_convert_views(leaf->conversion, d->views, d->count, out);
    }
    return parquet_convert(leaf->conversion, leaf->pages.values.width, d->bytes->data, d->count,
                           out);
}

/* The dictionary's entries as the leaf wants them; *out NULL: one of them does not fit. */
static frz_code converted_dictionary(parquet_leaf *leaf, const uint8_t **out, frz_error *err)
{
    parquet_dictionary *d = &leaf->pages.dictionary;
    *out = NULL;
    if (d->converts == PARQUET_UNKNOWN) {
        size_t size;
        if (!frz_mul_size(d->count, leaf->sink.width, &size)) {
            return frz_fail(err, FRZ_E_LIMIT, "a dictionary of %u entries", d->count);
        }
        frz_code rc = frz_buffer_new(leaf->sink.env, size, &d->converted, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        bool all = convert_entries(leaf, d, d->converted->data) == d->count;
        d->converts = all ? PARQUET_YES : PARQUET_NO;
    }
    if (d->converts == PARQUET_YES) {
        *out = d->converted->data;
    }
    return FRZ_OK;
}

static bool dictionary_is_text(parquet_dictionary *d)
{
    if (d->is_text == PARQUET_UNKNOWN) {
        d->is_text = PARQUET_YES;
        for (size_t i = 0; i < d->count; i++) {
            if (!frz_utf8_valid(d->views[i])) {
                d->is_text = PARQUET_NO;
                break;
            }
        }
    }
    return d->is_text == PARQUET_YES;
}

/* ---- values of fixed width ---- */

/* Convert up to a block of values to a place in the sink. */
static frz_code convert_block(parquet_leaf *leaf, size_t n, uint8_t *to, size_t *bad,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_values *v = &leaf->pages.values;
    if (v->width == 0) {
        frz_str *views = leaf->pages.scratch->views;
        FRZ_TRY(parquet_values_views(v, n, views, err));
        *bad = parquet_convert_views(leaf->conversion, views, n, to);
    } else {
        const uint8_t *raw = parquet_values_plain(v, n);
        if (raw == NULL) {
            raw = leaf->pages.scratch->raw;
            FRZ_TRY(parquet_values_fixed(v, n, leaf->pages.scratch->raw, err));
        }
        *bad = parquet_convert(leaf->conversion, v->width, raw, n, to);
    }
out:
    return rc;
}

static frz_code append_converted(parquet_leaf *leaf, size_t n, size_t *bad, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = leaf->sink.width;
    uint8_t *to = leaf->sink.values->data + leaf->sink.count * width;
    if (leaf->pages.values.encoding == PARQUET_RLE_DICTIONARY) {
        const uint8_t *table;
        FRZ_TRY(converted_dictionary(leaf, &table, err));
        if (table != NULL) {
            return parquet_values_gather(&leaf->pages.values, table, width, n, to, err);
        }
    }
    for (size_t done = 0; done < n;) {
        size_t take = FRZ_MIN(n - done, (size_t)PARQUET_BLOCK);
        size_t wrong = take;
        FRZ_TRY(convert_block(leaf, take, to + done * width, &wrong, err));
        if (wrong < take) {
            *bad = done + wrong;
            goto out;
        }
        done += take;
    }
out:
    return rc;
}

static frz_code append_fixed(parquet_leaf *leaf, size_t n, size_t *bad, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_sink *s = &leaf->sink;
    parquet_values *v = &leaf->pages.values;
    FRZ_TRY(parquet_sink_reserve(s, n, 0, err));
    if (s->is_bool) {
        FRZ_TRY(parquet_values_bits(v, n, s->values->data, (int64_t)s->count, err));
    } else if (leaf->direct) {
        FRZ_TRY(parquet_values_fixed(v, n, s->values->data + s->count * s->width, err));
    } else {
        FRZ_TRY(append_converted(leaf, n, bad, err));
    }
    s->count += n;
out:
    return rc;
}

/* ---- text ---- */

/* True if no value begins inside a character; then text as a whole is text in each value. */
static bool begins_with_characters(const parquet_sink *s, size_t first)
{
    const int32_t *offsets = (const int32_t *)(const void *)s->offsets->data;
    for (size_t i = first; i < s->count; i++) {
        if (offsets[i] < offsets[i + 1] && (s->values->data[offsets[i]] & 0xC0) == 0x80) {
            return false;
        }
    }
    return true;
}

/* The index among the values from first on of the one that is not UTF-8. Nearly always all is
 * ASCII, which a look at the top bits shows. */
static size_t not_text(const parquet_sink *s, size_t first, size_t begin)
{
    const uint8_t *bytes = s->values->data;
    const int32_t *offsets = (const int32_t *)(const void *)s->offsets->data;
    size_t len = s->bytes - begin;
    if (s->kernels->is_ascii(bytes + begin, len) ||
        (s->kernels->is_utf8(bytes + begin, len) && begins_with_characters(s, first))) {
        return s->count - first;
    }
    size_t i = first;
    while (i < s->count && frz_utf8_valid((frz_str){(const char *)bytes + offsets[i],
                                                    (size_t)(offsets[i + 1] - offsets[i])})) {
        i++;
    }
    return i - first;
}

static frz_code append_strings(parquet_leaf *leaf, size_t n, size_t *bad, frz_error *err)
{
    parquet_sink *s = &leaf->sink;
    parquet_values *v = &leaf->pages.values;
    size_t first = s->count;
    size_t begin = s->bytes;
    frz_code rc = parquet_values_strings(v, n, s, err);
    bool known = leaf->conversion != PARQUET_TEXT || (v->encoding == PARQUET_RLE_DICTIONARY &&
                                                      dictionary_is_text(&leaf->pages.dictionary));
    if (rc == FRZ_OK && !known) {
        *bad = not_text(s, first, begin);
    }
    return rc;
}

frz_code parquet_append(parquet_leaf *leaf, size_t n, size_t *bad, frz_error *err)
{
    *bad = n;
    return leaf->sink.width == 0 ? append_strings(leaf, n, bad, err)
                                 : append_fixed(leaf, n, bad, err);
}
