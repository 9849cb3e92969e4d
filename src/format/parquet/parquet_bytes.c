/*
 * BYTE_ARRAY values of a page: as views into the page, the dictionary or, for DELTA_BYTE_ARRAY,
 * memory of the decoder; or straight into the offsets and bytes of a sink. spec: Encodings
 *
 * Values of a few bytes, which are most, are copied in pieces of a fixed size that may reach behind
 * the value: pages, dictionaries and sinks have room for that.
 */
#include <inttypes.h>

#include "arrow/arrow_array.h"
#include "format/parquet/parquet_read.h"

#define LENGTH_PREFIX 4
#define WIDE 16        /* bytes copied at once; as many may lie behind both places */
#define SHORT_BYTES 64 /* copied in wide pieces */

_Static_assert(WIDE <= PARQUET_SLACK && WIDE <= FRZ_BUFFER_SLACK, "wide copies need room");

/* In a register between, since what lies behind the value may overlap. */
static inline void copy_wide(uint8_t *to, const uint8_t *from)
{
    uint8_t bytes[WIDE];
    memcpy(bytes, from, WIDE);
    memcpy(to, bytes, WIDE);
}

static inline void copy_bytes(uint8_t *to, const uint8_t *from, size_t len)
{
    if (len > SHORT_BYTES) {
        memcpy(to, from, len);
        return;
    }
    copy_wide(to, from);
    for (size_t i = WIDE; i < len; i += WIDE) {
        copy_wide(to + i, from + i);
    }
}

static frz_code too_long(uint64_t len, size_t left, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "a value claims %" PRIu64 " bytes, its page has %zu left",
                    len, left);
}

/* ---- delta lengths, prefixes and suffixes ---- */

static frz_code read_lengths(parquet_values *v, parquet_delta *d, size_t n, uint32_t *out,
                             uint64_t *total, frz_error *err)
{
    uint64_t numbers[PARQUET_BLOCK];
    if (parquet_delta_read(d, numbers, n) != n) {
        return parquet_values_end(v, err);
    }
    *total = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint32_t)numbers[i];
        *total += out[i];
    }
    return FRZ_OK;
}

/* Lengths of a block of values that share their beginning with the one before; *total receives the
 * bytes of all. */
static frz_code read_prefixed(parquet_values *v, size_t n, uint32_t *prefixes, uint32_t *suffixes,
                              size_t *total, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t shared, own;
    size_t before = v->previous_len;
    FRZ_TRY(read_lengths(v, v->delta, n, prefixes, &shared, err));
    FRZ_TRY(read_lengths(v, v->suffixes, n, suffixes, &own, err));
    if (own > (uint64_t)(v->end - v->at)) {
        return too_long(own, (size_t)(v->end - v->at), err);
    }
    if (shared > INT32_MAX || shared + own > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "delta-encoded values of more than 2 GiB");
    }
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > before) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "a value shares %" PRIu32 " bytes with one of %zu bytes", prefixes[i],
                            before);
        }
        before = (size_t)prefixes[i] + suffixes[i];
        if (v->width > 0 && before != v->width) {
            return frz_fail(err, FRZ_E_CORRUPT, "a value of %zu bytes in a column of %zu", before,
                            v->width);
        }
    }
    *total = (size_t)(shared + own);
out:
    return rc;
}

/* Join prefixes and suffixes one after the other at a place; returns the last value's place. */
static const uint8_t *join(parquet_values *v, const uint32_t *prefixes, const uint32_t *suffixes,
                           size_t n, uint8_t *to)
{
    const uint8_t *before = v->previous;
    for (size_t i = 0; i < n; i++) {
        if (prefixes[i] > 0) {
            copy_bytes(to, before, prefixes[i]);
        }
        copy_bytes(to + prefixes[i], v->at, suffixes[i]);
        v->at += suffixes[i];
        before = to;
        to += prefixes[i] + suffixes[i];
    }
    return before;
}

static frz_code keep_previous(parquet_values *v, const uint8_t *value, size_t len, frz_error *err)
{
    frz_code rc =
        parquet_values_grow(v->env, &v->previous, &v->previous_capacity, len + PARQUET_SLACK, err);
    if (rc == FRZ_OK) {
        memcpy(v->previous, value, len);
        v->previous_len = len;
    }
    return rc;
}

/* ---- views ---- */

static frz_code plain_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    const uint8_t *at = v->at;
    for (size_t i = 0; i < n; i++) {
        size_t left = (size_t)(v->end - at);
        if (left < LENGTH_PREFIX) {
            return parquet_values_end(v, err);
        }
        uint32_t len = frz_load_le32(at);
        if (len > left - LENGTH_PREFIX) {
            return too_long(len, left - LENGTH_PREFIX, err);
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
    frz_code rc = parquet_values_indices(v, n, indices, err);
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
        return parquet_values_end(v, err);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t len = numbers[i] & UINT32_MAX;
        size_t left = (size_t)(v->end - v->at);
        if (len > left) {
            return too_long(len, left, err);
        }
        out[i] = (frz_str){(const char *)v->at, (size_t)len};
        v->at += len;
    }
    return FRZ_OK;
}

static frz_code prefixed_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint32_t prefixes[PARQUET_BLOCK];
    uint32_t suffixes[PARQUET_BLOCK];
    size_t total;
    FRZ_TRY(read_prefixed(v, n, prefixes, suffixes, &total, err));
    FRZ_TRY(
        parquet_values_grow(v->env, &v->joined, &v->joined_capacity, total + PARQUET_SLACK, err));
    const uint8_t *last = join(v, prefixes, suffixes, n, v->joined);
    for (size_t i = 0, at = 0; i < n; i++) {
        out[i] = (frz_str){(const char *)v->joined + at, (size_t)prefixes[i] + suffixes[i]};
        at += out[i].len;
    }
    FRZ_TRY(keep_previous(v, last, out[n - 1].len, err));
out:
    return rc;
}

frz_code parquet_values_views(parquet_values *v, size_t n, frz_str *out, frz_error *err)
{
    assert(n <= PARQUET_BLOCK);
    if (n == 0) {
        return FRZ_OK;
    }
    switch (v->encoding) {
    case PARQUET_PLAIN:
        return plain_views(v, n, out, err);
    case PARQUET_RLE_DICTIONARY:
        return dictionary_views(v, n, out, err);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return length_views(v, v->delta, n, out, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return prefixed_views(v, n, out, err);
    default:
        return frz_fail(err, FRZ_E_INTERNAL, "encoding %d was let through", (int)v->encoding);
    }
}

/* ---- into a sink ---- */

/* A sink that is written to: where its bytes and the ends of its values go. */
typedef struct writing {
    parquet_sink *sink;
    uint8_t *bytes;
    int32_t *ends;
    size_t used, room;
} writing;

static void begin_writing(writing *w, parquet_sink *sink)
{
    w->sink = sink;
    w->bytes = sink->values->data;
    w->ends = (int32_t *)(void *)sink->offsets->data + sink->count + 1;
    w->used = sink->bytes;
    w->room = sink->values->size;
}

static frz_code make_room(writing *w, size_t len, frz_error *err)
{
    w->sink->bytes = w->used;
    frz_code rc = parquet_sink_reserve(w->sink, 0, len, err);
    if (rc == FRZ_OK) {
        w->bytes = w->sink->values->data;
        w->room = w->sink->values->size;
    }
    return rc;
}

static void end_writing(const writing *w, size_t n)
{
    assert(w->used <= INT32_MAX);
    w->sink->bytes = w->used;
    w->sink->count += n;
}

static frz_code plain_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    writing w;
    const uint8_t *at = v->at;
    begin_writing(&w, sink);
    for (size_t i = 0; i < n; i++) {
        size_t left = (size_t)(v->end - at);
        if (left < LENGTH_PREFIX) {
            return parquet_values_end(v, err);
        }
        uint32_t len = frz_load_le32(at);
        if (len > left - LENGTH_PREFIX) {
            return too_long(len, left - LENGTH_PREFIX, err);
        }
        if (len > w.room - w.used) {
            frz_code rc = make_room(&w, len, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
        copy_bytes(w.bytes + w.used, at + LENGTH_PREFIX, len);
        w.used += len;
        w.ends[i] = (int32_t)w.used;
        at += LENGTH_PREFIX + len;
    }
    v->at = at;
    end_writing(&w, n);
    return FRZ_OK;
}

/* The same entry n times. */
static frz_code repeated_string(const parquet_values *v, uint32_t index, size_t n,
                                parquet_sink *sink, frz_error *err)
{
    writing w;
    if (index >= v->dictionary->count) {
        return parquet_values_bad_index(v, index, err);
    }
    frz_str view = v->dictionary->views[index];
    frz_code rc = parquet_sink_reserve(sink, 0, view.len * n, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    begin_writing(&w, sink);
    parquet_repeat((const uint8_t *)view.ptr, view.len, n, w.bytes + w.used);
    for (size_t i = 0; i < n; i++) {
        w.ends[i] = (int32_t)(w.used + (i + 1) * view.len);
    }
    w.used += n * view.len;
    end_writing(&w, n);
    return FRZ_OK;
}

static frz_code picked_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    uint32_t indices[PARQUET_BLOCK];
    const frz_str *views = v->dictionary->views;
    writing w;
    frz_code rc = parquet_values_indices(v, n, indices, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    begin_writing(&w, sink);
    for (size_t i = 0; i < n; i++) {
        frz_str view = views[indices[i]];
        if (view.len > w.room - w.used) {
            rc = make_room(&w, view.len, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
        copy_bytes(w.bytes + w.used, (const uint8_t *)view.ptr, view.len);
        w.used += view.len;
        w.ends[i] = (int32_t)w.used;
    }
    end_writing(&w, n);
    return FRZ_OK;
}

static frz_code dictionary_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK && n > 0) {
        uint32_t index = 0;
        size_t take = (size_t)FRZ_MIN(parquet_hybrid_repeated(&v->indices, &index), n);
        if (take >= PARQUET_LONG_RUN) {
            rc = repeated_string(v, index, take, sink, err);
            parquet_hybrid_skip(&v->indices, take);
        } else {
            take = n;
            rc = picked_strings(v, take, sink, err);
        }
        n -= take;
    }
    return rc;
}

/* The bytes of a block of values follow each other. */
static frz_code length_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    uint32_t lengths[PARQUET_BLOCK];
    uint64_t total;
    writing w;
    frz_code rc = read_lengths(v, v->delta, n, lengths, &total, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (total > (uint64_t)(v->end - v->at)) {
        return too_long(total, (size_t)(v->end - v->at), err);
    }
    rc = parquet_sink_reserve(sink, 0, (size_t)total, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    begin_writing(&w, sink);
    memcpy(w.bytes + w.used, v->at, (size_t)total);
    v->at += total;
    for (size_t i = 0; i < n; i++) {
        w.used += lengths[i];
        w.ends[i] = (int32_t)w.used;
    }
    end_writing(&w, n);
    return FRZ_OK;
}

static frz_code prefixed_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint32_t prefixes[PARQUET_BLOCK];
    uint32_t suffixes[PARQUET_BLOCK];
    size_t total;
    writing w;
    FRZ_TRY(read_prefixed(v, n, prefixes, suffixes, &total, err));
    FRZ_TRY(parquet_sink_reserve(sink, 0, total, err));
    begin_writing(&w, sink);
    const uint8_t *last = join(v, prefixes, suffixes, n, w.bytes + w.used);
    FRZ_TRY(keep_previous(v, last, (size_t)prefixes[n - 1] + suffixes[n - 1], err));
    for (size_t i = 0; i < n; i++) {
        w.used += (size_t)prefixes[i] + suffixes[i];
        w.ends[i] = (int32_t)w.used;
    }
    end_writing(&w, n);
out:
    return rc;
}

/* Up to a block of values. */
static frz_code block_of_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    switch (v->encoding) {
    case PARQUET_PLAIN:
        return plain_strings(v, n, sink, err);
    case PARQUET_RLE_DICTIONARY:
        return dictionary_strings(v, n, sink, err);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return length_strings(v, n, sink, err);
    case PARQUET_DELTA_BYTE_ARRAY:
        return prefixed_strings(v, n, sink, err);
    default:
        return frz_fail(err, FRZ_E_INTERNAL, "encoding %d was let through", (int)v->encoding);
    }
}

frz_code parquet_values_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err)
{
    frz_code rc = parquet_sink_reserve(sink, n, 0, err);
    while (rc == FRZ_OK && n > 0) {
        size_t take = FRZ_MIN(n, (size_t)PARQUET_BLOCK);
        rc = block_of_strings(v, take, sink, err);
        n -= take;
    }
    return rc;
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
