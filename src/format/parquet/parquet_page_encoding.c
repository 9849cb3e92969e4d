/*
 * How the values of a page are encoded. Where the caller did not say, all choices follow from the
 * values alone, so that the same input gives the same bytes.
 *
 * The first page with values decides whether the chunk has a dictionary; a later page that does not
 * fit it ends it. Pages before and after keep their encodings.
 *
 *  OPEN --first values, it pays, or is wanted--> ON --page does not fit--> OFF
 *    \--first values, it does not pay (open_dictionary)-------------------^
 */
#include "format/parquet/parquet_write.h"

#define DICTIONARY_BYTES_MAX ((size_t)256 << 10)
#define DICTIONARY_BYTES_WANTED ((size_t)1 << 20) /* the same if the caller asked for it */
#define DICTIONARY_COST 32 /* bytes that a dictionary page takes besides its values, about */

static bool is_float(const parquet_write_leaf *leaf)
{
    return leaf->physical == PARQUET_FLOAT || leaf->physical == PARQUET_DOUBLE;
}

parquet_dictionary_state parquet_dictionary_at_start(const parquet_column_writer *column)
{
    if (column->encoding == FRZ_PARQUET_RLE_DICTIONARY) {
        return PARQUET_DICTIONARY_ON;
    }
    bool never = column->encoding != FRZ_PARQUET_AUTO || column->shared->opts.no_dictionary ||
                 column->leaf->physical == PARQUET_BOOLEAN;
    return never ? PARQUET_DICTIONARY_OFF : PARQUET_DICTIONARY_OPEN;
}

/* ---- without a dictionary ---- */

/* Bits after the length of what they take. */
static frz_code encode_runs(parquet_column_writer *column, frz_buf *to, frz_error *err)
{
    static const uint8_t length[4];
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append(to, length, sizeof length, err));
    FRZ_TRY(parquet_encode_levels(column->values.data, column->value_count, 1, to, err));
    frz_store_le32(to->data, (uint32_t)(to->len - sizeof length));
out:
    return rc;
}

static frz_code encode_as(parquet_column_writer *column, parquet_encoding encoding, frz_str *out,
                          frz_error *err)
{
    const parquet_write_leaf *leaf = column->leaf;
    const uint8_t *values = column->values.data;
    const size_t count = column->value_count;
    frz_buf *to = &column->scratch->other;
    frz_buf *room = &column->scratch->indices;
    frz_code rc = FRZ_OK;
    frz_buf_clear(to);
    switch (encoding) {
    case PARQUET_RLE:
        FRZ_TRY(encode_runs(column, to, err));
        break;
    case PARQUET_DELTA_BINARY_PACKED:
        FRZ_TRY(parquet_encode_delta(values, count, leaf->width, to, err));
        break;
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        FRZ_TRY(parquet_encode_delta_length(values, count, room, to, err));
        break;
    case PARQUET_DELTA_BYTE_ARRAY:
        FRZ_TRY(parquet_encode_delta_bytes(values, count, leaf->width, room, to, err));
        break;
    case PARQUET_BYTE_STREAM_SPLIT:
        FRZ_TRY(parquet_encode_split(values, count, leaf->width, to, err));
        break;
    default:
        if (leaf->physical != PARQUET_BOOLEAN) {
            *out = frz_buf_view(&column->values);
            return FRZ_OK;
        }
        FRZ_TRY(parquet_encode_bools(values, count, to, err));
    }
    *out = frz_buf_view(to);
out:
    return rc;
}

/* Numbers whose differences are small. A narrow gain is left to the codec, which does better on
 * plain bytes. */
static frz_code encode_integers(parquet_column_writer *column, parquet_encoding *encoding,
                                frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *encoding = PARQUET_DELTA_BINARY_PACKED;
    FRZ_TRY(encode_as(column, *encoding, out, err));
    if (out->len >= column->values.len - column->values.len / 8) {
        *encoding = PARQUET_PLAIN;
        *out = frz_buf_view(&column->values);
    }
out:
    return rc;
}

static frz_code encode_directly(parquet_column_writer *column, parquet_encoding *encoding,
                                frz_str *out, frz_error *err)
{
    const parquet_write_leaf *leaf = column->leaf;
    const parquet_write_shared *shared = column->shared;
    const frz_parquet_write_options *opts = &shared->opts;
    bool is_integer = leaf->physical == PARQUET_INT32 || leaf->physical == PARQUET_INT64;
    bool is_wanted = column->encoding != FRZ_PARQUET_AUTO;
    *encoding = PARQUET_PLAIN;
    if (column->value_count == 0 || column->encoding == FRZ_PARQUET_RLE_DICTIONARY) {
        /* only nulls, which no encoding says in fewer bytes, or what a dictionary had no room for
         */
    } else if (is_wanted) {
        *encoding = (parquet_encoding)column->encoding;
    } else if (leaf->physical == PARQUET_BOOLEAN) {
        *encoding = opts->page_version == 2 ? PARQUET_RLE : PARQUET_PLAIN;
    } else if (is_float(leaf)) {
        /* the bytes stay as many, so it helps only what compresses them */
        bool pays = !opts->no_byte_stream_split && shared->codec != FRZ_CODEC_NONE;
        *encoding = pays ? PARQUET_BYTE_STREAM_SPLIT : PARQUET_PLAIN;
    } else if (is_integer && !opts->no_delta) {
        return encode_integers(column, encoding, out, err);
    }
    return encode_as(column, *encoding, out, err);
}

/* ---- with a dictionary ---- */

/* The values of the page as numbers of dictionary entries; *fits is false if there is no room. */
static frz_code encode_by_dictionary(parquet_column_writer *column, frz_str *out, bool *fits,
                                     frz_error *err)
{
    parquet_write_scratch *scratch = column->scratch;
    frz_buf *to = &scratch->trial;
    frz_code rc = FRZ_OK;
    size_t count = column->value_count;
    bool wanted = column->encoding == FRZ_PARQUET_RLE_DICTIONARY;
    size_t max_new = wanted ? count : is_float(column->leaf) ? count / 16 + 1 : count / 2;
    size_t max_bytes = wanted ? DICTIONARY_BYTES_WANTED : DICTIONARY_BYTES_MAX;
    frz_buf_clear(&scratch->indices);
    frz_buf_clear(to);
    FRZ_TRY(frz_buf_reserve(&scratch->indices, count * sizeof(uint32_t), err));
    uint32_t *indices = (uint32_t *)(void *)scratch->indices.data;
    FRZ_TRY(parquet_dictionary_out_add(&column->dictionary, column->values.data, count, max_new,
                                       max_bytes, indices, fits, err));
    if (*fits) {
        /* a single entry gets a bit, since not every reader takes numbers of no bits */
        uint32_t last = column->dictionary.count < 2 ? 1 : (uint32_t)column->dictionary.count - 1;
        unsigned width = parquet_encode_width(last);
        FRZ_TRY(frz_buf_append_byte(to, (uint8_t)width, err));
        FRZ_TRY(parquet_encode_indices(indices, count, width, to, err));
        *out = frz_buf_view(to);
    }
out:
    return rc;
}

/* Whether the first page with values is better off with a dictionary. */
static frz_code open_dictionary(parquet_column_writer *column, parquet_encoding *encoding,
                                frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool fits = false;
    frz_str by_dictionary;
    FRZ_TRY(encode_by_dictionary(column, &by_dictionary, &fits, err));
    FRZ_TRY(encode_directly(column, encoding, out, err));
    size_t cost = column->dictionary.values.len + by_dictionary.len + DICTIONARY_COST;
    if (fits && cost < out->len) {
        column->dictionary_state = PARQUET_DICTIONARY_ON;
        *encoding = PARQUET_RLE_DICTIONARY;
        *out = by_dictionary;
    } else {
        column->dictionary_state = PARQUET_DICTIONARY_OFF;
        parquet_dictionary_out_reset(&column->dictionary);
    }
out:
    return rc;
}

frz_code parquet_page_encode(parquet_column_writer *column, parquet_encoding *encoding,
                             frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool fits = false;
    if (column->value_count > 0 && column->dictionary_state == PARQUET_DICTIONARY_OPEN) {
        return open_dictionary(column, encoding, out, err);
    }
    /* pages of nulls go with the dictionary, once there is one, so that it tells of all pages */
    bool any = column->value_count > 0 || column->dictionary.count > 0;
    if (any && column->dictionary_state == PARQUET_DICTIONARY_ON) {
        FRZ_TRY(encode_by_dictionary(column, out, &fits, err));
        *encoding = PARQUET_RLE_DICTIONARY;
        column->dictionary_state = fits ? PARQUET_DICTIONARY_ON : PARQUET_DICTIONARY_OFF;
    }
    if (!fits) {
        FRZ_TRY(encode_directly(column, encoding, out, err));
    }
out:
    return rc;
}
