/*
 * The values of a column chunk from its dictionary, where every data page is encoded with it: they
 * answer exactly what bounds only estimate. Values that no row uses may be among them.
 */
#include <math.h>
#include <stdlib.h>

#include "format/parquet/parquet_prune.h"
#include "format/parquet/parquet_read.h"
#include "type/type_value.h"

/* Dictionaries beyond are not worth reading twice. */
#define MOST_BYTES (1u << 20)
#define MOST_VALUES (64u << 10)
#define WINDOW (64u << 10)

/* ---- is it all in the dictionary? ---- */

/* Without statistics of encodings only the old name proves it: there the dictionary page itself is
 * not listed as PLAIN, while levels are RLE or BIT_PACKED. */
bool parquet_members_possible(const parquet_chunk *chunk)
{
    uint32_t levels = UINT32_C(1) << PARQUET_RLE | UINT32_C(1) << PARQUET_BIT_PACKED;
    if (chunk->num_values <= 0) {
        return false;
    }
    if (chunk->has_encoding_stats) {
        return chunk->all_dictionary;
    }
    return (chunk->encodings & ~levels) == UINT32_C(1) << PARQUET_PLAIN_DICTIONARY;
}

/* ---- entries as values ---- */

/* Of booleans, bounds say all; foreign types are not compared. */
static bool has_members(const frz_type *type)
{
    return type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY ||
           (type->id != FRZ_TYPE_FOREIGN && frz_type_width(type) > 0);
}

static void fixed_value(const uint8_t *at, size_t width, frz_value *out)
{
    switch (out->type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        memcpy(&out->as.i32, at, sizeof out->as.i32);
        break;
    case FRZ_TYPE_FLOAT:
        memcpy(&out->as.f32, at, sizeof out->as.f32);
        break;
    case FRZ_TYPE_DOUBLE:
        memcpy(&out->as.f64, at, sizeof out->as.f64);
        break;
    case FRZ_TYPE_DECIMAL:
        memcpy(&out->as.i128, at, sizeof out->as.i128);
        break;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        out->as.bytes = (frz_str){(const char *)at, width};
        break;
    default:
        memcpy(&out->as.i64, at, sizeof out->as.i64);
        break;
    }
}

static frz_code misfit(parquet_conversion conversion, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s", parquet_conversion_problem(conversion));
}

static frz_code convert_fixed(const parquet_dictionary *d, const parquet_column *column,
                              const frz_type *type, parquet_conversion conversion, frz_arena *arena,
                              frz_value *out, frz_error *err)
{
    size_t from = parquet_element_width(column->element);
    size_t to = frz_type_width(type);
    uint8_t *bytes = frz_arena_array(arena, d->count, to);
    if (bytes == NULL) {
        return frz_fail_nomem(err, d->count * to);
    }
    size_t done = from == 0 ? parquet_convert_views(conversion, d->views, d->count, bytes)
                            : parquet_convert(conversion, from, d->bytes->data, d->count, bytes);
    for (size_t i = 0; i < done; i++) {
        out[i].type = type;
        fixed_value(bytes + i * to, to, &out[i]);
    }
    return done < d->count ? misfit(conversion, err) : FRZ_OK;
}

static frz_code copy_views(const parquet_dictionary *d, const frz_type *type,
                           parquet_conversion conversion, frz_arena *arena, frz_value *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < d->count; i++) {
        out[i].type = type;
        FRZ_TRY(frz_arena_str(arena, d->views[i], &out[i].as.bytes, err));
        if (conversion == PARQUET_TEXT && !frz_utf8_valid(out[i].as.bytes)) {
            return frz_fail(err, FRZ_E_CORRUPT, "entry %zu of the dictionary is not valid UTF-8",
                            i);
        }
    }
out:
    return rc;
}

static bool is_nan(const frz_value *value)
{
    return (value->type->id == FRZ_TYPE_FLOAT && isnan(value->as.f32)) ||
           (value->type->id == FRZ_TYPE_DOUBLE && isnan(value->as.f64));
}

static int compare(const void *a, const void *b)
{
    return frz_value_compare(a, b, false);
}

static frz_code take_values(const parquet_dictionary *d, const parquet_column *column,
                            const frz_type *type, frz_arena *arena, parquet_members *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_conversion conversion;
    size_t kept = 0;
    frz_value *values = frz_arena_array(arena, d->count, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, d->count * sizeof *values);
    }
    FRZ_TRY(parquet_conversion_choose(column->node, type, &conversion, err));
    if (conversion == PARQUET_TEXT || conversion == PARQUET_BYTES) {
        FRZ_TRY(copy_views(d, type, conversion, arena, values, err));
    } else {
        FRZ_TRY(convert_fixed(d, column, type, conversion, arena, values, err));
    }
    for (size_t i = 0; i < d->count; i++) {
        if (!is_nan(&values[i])) {
            values[kept++] = values[i];
        }
    }
    qsort(values, kept, sizeof *values, compare);
    *out = (parquet_members){values, kept};
out:
    return rc;
}

/* ---- loading ---- */

static size_t window_of(const parquet_chunk *chunk)
{
    int64_t size = chunk->data_page_offset - parquet_chunk_start(chunk);
    return size > 0 && size < WINDOW ? (size_t)size : WINDOW;
}

static frz_code load(const parquet_file *file, const parquet_column *column,
                     const parquet_chunk *chunk, const frz_type *type, parquet_scratches *scratches,
                     frz_arena *arena, parquet_members *out, bool *known, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_pages pages;
    const parquet_source source = {file->base.env, file, window_of(chunk)};
    parquet_pages_init(&pages, &source, column);
    FRZ_TRY(parquet_scratch_take(scratches, &pages.scratch, err));
    FRZ_TRY(parquet_pages_start(&pages, chunk, err));
    FRZ_TRY(parquet_pages_dictionary(&pages, MOST_BYTES, err));
    if (pages.dictionary.present && pages.dictionary.count <= MOST_VALUES) {
        FRZ_TRY(take_values(&pages.dictionary, column, type, arena, out, err));
        *known = true;
    }
out:
    if (pages.scratch != NULL) {
        parquet_scratch_give(pages.scratch);
    }
    parquet_pages_reset(&pages);
    return rc;
}

frz_code parquet_members_load(const parquet_file *file, const parquet_chunk *chunk, size_t column,
                              size_t group, const frz_type *type, parquet_scratches *scratches,
                              frz_arena *arena, parquet_members *out, bool *known, frz_error *err)
{
    frz_error why = {0};
    *known = false;
    if (!parquet_members_possible(chunk) || !has_members(type)) {
        return FRZ_OK;
    }
    frz_code rc =
        load(file, &file->columns[column], chunk, type, scratches, arena, out, known, &why);
    return parquet_ignore_damage(file, column, group, "the dictionary", rc, &why, err);
}

/* ---- asking ---- */

/* The first value that is not below the low end of an interval. */
static size_t first_above(const parquet_members *m, const frz_value *low, bool open)
{
    size_t from = 0;
    size_t to = m->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = frz_value_compare(&m->values[middle], low, false);
        if (order < 0 || (open && order == 0)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

bool parquet_members_hold(const parquet_members *members, const frz_interval *interval)
{
    size_t i = interval->low == NULL ? 0 : first_above(members, interval->low, interval->low_open);
    if (i == members->count) {
        return false;
    }
    int order =
        interval->high == NULL ? -1 : frz_value_compare(&members->values[i], interval->high, false);
    return interval->high_open ? order < 0 : order <= 0;
}
