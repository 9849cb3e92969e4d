/*
 * Reading one leaf column row by row over its pages.
 *
 * Invariants:
 *  1. leaf->row is the file's row that the next level entry begins; between calls every leaf stands
 *     at the beginning of a row, or inside one that is kept as out_partial.
 *  2. Levels are taken from the page in blocks; a block never spans pages. A value is decoded when
 *     its level entry is taken, so that levels and values of a page stay in step.
 *  3. A flat leaf never has a block: its levels are one bit, read where they are needed.
 *  4. Before BYTE_ARRAY values are appended it is known that their offsets fit 32 bits.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

/* Most level entries that one row may have; a list of this many numbers is half a GiB. */
#define MAX_ROW_ENTRIES (64u << 20)
#define MAX_BYTES ((size_t)INT32_MAX)
#define LEAST_STEP ((size_t)16) /* long values that are taken at a time */
#define MOST_LIKELY (32 << 20)  /* bytes taken on the word of the footer */
#define MOST_REST (256 << 10)   /* bytes that are decoded before they are asked for */
#define LEAST_RUN 128           /* of values that are all there: worth its own way */

/* ---- lifetime ---- */

frz_code parquet_leaf_init(parquet_leaf *leaf, const parquet_source *source, size_t index,
                           const frz_type *type, bool flat, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_column *column = &source->file->columns[index];
    *leaf = (parquet_leaf){.column = column,
                           .index = index,
                           .type = type,
                           .flat = flat,
                           .group = SIZE_MAX,
                           .soft_bytes = MAX_BYTES};
    parquet_pages_init(&leaf->pages, source, column);
    frz_buf_init(&leaf->block, source->env, 2 * PARQUET_BLOCK);
    frz_buf_init(&leaf->out_defs, source->env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&leaf->out_reps, source->env, FRZ_BUF_NO_LIMIT);
    leaf->sink.env = source->env;
    if (type != NULL) {
        FRZ_TRY(parquet_conversion_choose(column->node, type, &leaf->conversion, err));
        parquet_sink_init(&leaf->sink, source->env, type);
        leaf->direct = leaf->conversion == PARQUET_COPY;
    }
out:
    return rc;
}

void parquet_leaf_reset(parquet_leaf *leaf)
{
    parquet_pages_reset(&leaf->pages);
    if (leaf->sink.env != NULL) {
        parquet_sink_reset(&leaf->sink);
        frz_buf_reset(&leaf->block);
        frz_buf_reset(&leaf->out_defs);
        frz_buf_reset(&leaf->out_reps);
    }
}

static frz_code leaf_context(const parquet_leaf *leaf, frz_code rc, frz_error *err)
{
    return frz_context(err, rc, "column \"%s\", row group %zu", leaf->column->node->path,
                       leaf->group);
}

/* Could the row group have pages whose values are as the array wants them? */
static bool may_share(const parquet_leaf *leaf, const parquet_chunk *chunk)
{
    bool has_plain = (chunk->encodings >> PARQUET_PLAIN & 1) != 0;
    bool encoded = chunk->has_encoding_stats && chunk->all_dictionary;
    return leaf->flat && leaf->direct && leaf->type->id != FRZ_TYPE_BOOLEAN && has_plain &&
           !encoded;
}

/* A guess at the bytes that a row takes in a batch. */
static double estimate(const parquet_leaf *leaf, const parquet_chunk *chunk, int64_t rows)
{
    double fixed = (double)leaf->sink.width + 0.125;
    if (leaf->flat && leaf->sink.width > 0) {
        return fixed;
    }
    double bytes = (double)FRZ_MAX(chunk->total_uncompressed_size, 0);
    double values = (double)chunk->num_values;
    bytes = FRZ_MAX(bytes, values * (fixed + 2));
    return rows == 0 ? fixed : FRZ_MAX(bytes / (double)rows, fixed);
}

frz_code parquet_leaf_start(parquet_leaf *leaf, size_t group, const frz_row_range *ranges,
                            size_t range_count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_group *g = &leaf->pages.source->file->metadata.groups[group];
    parquet_chunk chunk;
    assert(leaf->out_rows == 0);
    leaf->group = group;
    FRZ_TRY(parquet_file_chunk(leaf->pages.source->file, group, leaf->index, &chunk, err));
    leaf->may_share = may_share(leaf, &chunk);
    leaf->row = g->first_row;
    leaf->group_end = g->first_row + g->num_rows;
    leaf->block_at = leaf->block_count = 0;
    leaf->row_bytes = estimate(leaf, &chunk, g->num_rows);
    double rows = (double)FRZ_MAX(g->num_rows, (int64_t)1);
    double values = (double)FRZ_MAX(chunk.num_values, (int64_t)1);
    leaf->row_values = values / rows;
    if (leaf->value_bytes == 0) {
        leaf->value_bytes = (double)FRZ_MAX(chunk.total_uncompressed_size, 0) / values;
    }
    FRZ_TRY(parquet_pages_start(&leaf->pages, &chunk, err));
    if (leaf->column->max_rep == 0 && chunk.num_values != g->num_rows) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the chunk has %" PRId64 " values for %" PRId64 " rows",
                      chunk.num_values, g->num_rows);
        goto out;
    }
    FRZ_TRY(parquet_pages_plan(&leaf->pages, &chunk, leaf->index, group, ranges, range_count, err));
out:
    return leaf_context(leaf, rc, err);
}

/* ---- values ---- */

static frz_code bad_value(const parquet_leaf *leaf, size_t index, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s: value %zu at or after row %" PRId64,
                    parquet_conversion_problem(leaf->conversion), index, leaf->row);
}

/* How many of n values surely fit the sink's 32-bit offsets. Where a dictionary has long ones, few,
 * so that the batch can end at about the bytes that it should have. */
static size_t values_that_fit(const parquet_leaf *leaf, size_t n)
{
    const parquet_values *v = &leaf->pages.values;
    const parquet_sink *s = &leaf->sink;
    if (leaf->type == NULL || s->width > 0) {
        return n;
    }
    size_t fit = parquet_values_fit(v, n, MAX_BYTES - s->bytes);
    if (v->encoding == PARQUET_RLE_DICTIONARY && s->bytes < leaf->soft_bytes) {
        size_t wanted = parquet_values_fit(v, fit, leaf->soft_bytes - s->bytes);
        fit = FRZ_MIN(fit, FRZ_MAX(wanted, LEAST_STEP));
    }
    return fit;
}

/* ---- pages ---- */

/* True if nothing of a page is at hand. */
static bool between_pages(const parquet_leaf *leaf)
{
    return leaf->pages.left == 0 && leaf->block_at == leaf->block_count;
}

/* Make sure that a page with entries is open. */
static frz_code need_page(parquet_leaf *leaf, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (leaf->pages.left > 0) {
        return FRZ_OK;
    }
    rc = parquet_pages_header(&leaf->pages, err);
    if (rc == FRZ_END) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "the column chunk ends at row %" PRId64 ", its row group at row %" PRId64,
                        leaf->row, leaf->group_end);
    }
    if (rc == FRZ_OK) {
        rc = parquet_pages_open(&leaf->pages, err);
    }
    return rc;
}

void parquet_leaf_rest(parquet_leaf *leaf)
{
    if (between_pages(leaf)) {
        parquet_pages_drop_page(&leaf->pages);
    }
    parquet_pages_rest(&leaf->pages);
}

static frz_code short_levels(const parquet_leaf *leaf, frz_error *err)
{
    return frz_fail_at(err, FRZ_E_CORRUPT, leaf->pages.header_at,
                       "page at byte %" PRIu64 ": its levels end before its %" PRId32 " values",
                       leaf->pages.header_at, leaf->pages.header.num_values);
}

/* ---- flat columns ---- */

/* Row of the value with this index among the valid ones. */
static int64_t row_of_value(const uint8_t *bitmap, int64_t first, size_t rows, size_t index)
{
    for (size_t i = 0; bitmap != NULL && i < rows; i++) {
        if (frz_bit_get(bitmap, first + (int64_t)i) && index-- == 0) {
            return (int64_t)i;
        }
    }
    return (int64_t)index;
}

static frz_code flat_bad(const parquet_leaf *leaf, int64_t row, frz_error *err)
{
    if (leaf->conversion == PARQUET_TEXT) {
        return frz_fail(err, FRZ_E_CORRUPT, "row %" PRId64 ": a string is not valid UTF-8", row);
    }
    return frz_fail(err, FRZ_E_CORRUPT, "row %" PRId64 ": %s", row,
                    parquet_conversion_problem(leaf->conversion));
}

/* Rows that are all there. */
static frz_code flat_present(parquet_leaf *leaf, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_sink *s = &leaf->sink;
    size_t base = s->count;
    size_t bad;
    FRZ_TRY(parquet_append(leaf, n, &bad, err));
    if (bad < n) {
        return flat_bad(leaf, leaf->row + (int64_t)bad, err);
    }
    if (s->validity != NULL) {
        FRZ_TRY(parquet_sink_validity(s, s->count, err));
        frz_bitmap_fill(s->validity->data, (int64_t)base, (int64_t)n, true);
    }
out:
    return rc;
}

/* Rows with their validity bits; n is small. */
static frz_code flat_mixed(parquet_leaf *leaf, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_sink *s = &leaf->sink;
    size_t base = s->count;
    size_t bad;
    FRZ_TRY(parquet_sink_validity(s, base + n, err));
    uint8_t *bits = s->validity->data;
    if (parquet_hybrid_bits(&leaf->pages.defs, bits, (int64_t)base, n) != n) {
        return short_levels(leaf, err);
    }
    size_t valid = (size_t)frz_bitmap_count(bits, (int64_t)base, (int64_t)n);
    FRZ_TRY(parquet_sink_reserve(s, n, 0, err));
    FRZ_TRY(parquet_append(leaf, valid, &bad, err));
    if (bad < valid) {
        return flat_bad(leaf, leaf->row + row_of_value(bits, (int64_t)base, n, bad), err);
    }
    if (valid < n) {
        if (leaf->required) {
            int64_t i = 0;
            while (frz_bit_get(bits, (int64_t)base + i)) {
                i++;
            }
            return frz_fail(err, FRZ_E_CORRUPT, "row %" PRId64 ": null in a required field",
                            leaf->row + i);
        }
        parquet_sink_spread(s, base, n, bits, (int64_t)base);
    }
out:
    return rc;
}

/* Up to n rows of the open page; *taken 0: a value would not fit the batch. */
static frz_code flat_in_page(parquet_leaf *leaf, size_t n, size_t *taken, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_pages *p = &leaf->pages;
    size_t most = leaf->sink.width > 0 ? n : FRZ_MIN(n, (size_t)PARQUET_BLOCK);
    most = values_that_fit(leaf, most);
    uint64_t run = most;
    if (leaf->column->max_def > 0) {
        run = parquet_hybrid_run_of(&p->defs, 1);
    }
    *taken = (size_t)FRZ_MIN(run, most);
    if (*taken >= LEAST_RUN || *taken == most) {
        FRZ_TRY(flat_present(leaf, *taken, err));
        if (leaf->column->max_def > 0) {
            parquet_hybrid_skip(&p->defs, *taken);
        }
    } else {
        *taken = FRZ_MIN(most, (size_t)PARQUET_BLOCK);
        FRZ_TRY(flat_mixed(leaf, *taken, err));
    }
    p->left -= (int64_t)*taken;
    leaf->row += (int64_t)*taken;
out:
    return rc;
}

/* The next n rows lie in the open page as the array wants them. */
static bool can_share(parquet_leaf *leaf, int64_t *rows)
{
    parquet_pages *p = &leaf->pages;
    const parquet_values *v = &p->values;
    if (!leaf->direct || leaf->type->id == FRZ_TYPE_BOOLEAN || v->encoding != PARQUET_PLAIN ||
        p->left == 0 || (size_t)(v->at - p->page->data) % v->width != 0) {
        return false;
    }
    uint64_t run = (uint64_t)p->left;
    if (leaf->column->max_def > 0) {
        run = FRZ_MIN(run, parquet_hybrid_run_of(&p->defs, 1));
    }
    run = FRZ_MIN(run, (uint64_t)(v->end - v->at) / v->width);
    *rows = (int64_t)run;
    return run > 0;
}

frz_code parquet_leaf_shareable(parquet_leaf *leaf, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *rows = 0;
    if (!leaf->may_share || leaf->row == leaf->group_end) {
        return FRZ_OK; /* a page is better opened when its values are taken */
    }
    FRZ_TRY(need_page(leaf, err));
    if (!can_share(leaf, rows)) {
        *rows = 0;
    }
out:
    return leaf_context(leaf, rc, err);
}

static frz_code share_page(parquet_leaf *leaf, int64_t n, struct ArrowArray *out, frz_error *err)
{
    parquet_pages *p = &leaf->pages;
    parquet_values *v = &p->values;
    frz_buffer *buffers[2] = {NULL, frz_buffer_ref(p->page)};
    frz_code rc = frz_array_make(leaf->sink.env, n, 0, buffers, 2, NULL, 0, out, err);
    if (rc == FRZ_OK) {
        out->offset = (int64_t)((size_t)(v->at - p->page->data) / v->width);
        v->at += (size_t)n * v->width;
        if (leaf->column->max_def > 0) {
            parquet_hybrid_skip(&p->defs, (size_t)n);
        }
        p->left -= n;
        leaf->row += n;
    }
    return rc;
}

/* Memory for what n rows likely hold, so that values are not moved while they become more. */
static frz_code reserve_likely(parquet_leaf *leaf, int64_t n, frz_error *err)
{
    parquet_sink *s = &leaf->sink;
    double values = (double)n * leaf->row_values;
    double most = FRZ_MIN((double)leaf->soft_bytes, MOST_LIKELY);
    if (leaf->type == NULL || s->values != NULL) {
        return FRZ_OK;
    }
    if (s->width > 0) {
        return parquet_sink_reserve(s, (size_t)FRZ_MIN(values, most / (double)s->width), 0, err);
    }
    return parquet_sink_reserve(s, (size_t)FRZ_MIN(values, most / sizeof(int32_t)),
                                (size_t)FRZ_MIN(values * leaf->value_bytes * 1.0625, most), err);
}

/* Learn from a batch, also whether it was larger than thought. */
static void learn(parquet_leaf *leaf, size_t bytes, int64_t rows)
{
    if (leaf->sink.count > 0) {
        leaf->value_bytes = (double)leaf->sink.bytes / (double)leaf->sink.count;
    }
    if (rows > 0 && bytes >= leaf->soft_bytes) {
        leaf->row_bytes = FRZ_MAX(leaf->row_bytes, (double)bytes / (double)rows);
    }
}

/* Rows into the sink, at most n. */
static frz_code take_flat(parquet_leaf *leaf, int64_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_sink *s = &leaf->sink;
    while (n > 0 && (s->count == 0 || s->bytes < leaf->soft_bytes)) {
        size_t taken;
        FRZ_TRY(need_page(leaf, err));
        FRZ_TRY(flat_in_page(leaf, (size_t)FRZ_MIN(n, leaf->pages.left), &taken, err));
        if (taken == 0) {
            break;
        }
        n -= (int64_t)taken;
    }
    if (s->count == 0) {
        rc = frz_fail(err, FRZ_E_LIMIT, "row %" PRId64 ": a value of more than 2 GiB", leaf->row);
    }
out:
    return rc;
}

frz_code parquet_leaf_hold(parquet_leaf *leaf, int64_t n, int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(reserve_likely(leaf, rows, err));
    FRZ_TRY(take_flat(leaf, n, err));
out:
    return leaf_context(leaf, rc, err);
}

/* So many more rows are better decoded at once: they are few, not in a page that may be shared, and
 * not indices of a dictionary, which take little memory while they wait. */
static bool takes_rest(const parquet_leaf *leaf, int64_t rest)
{
    double width = leaf->sink.width > 0 ? (double)leaf->sink.width : leaf->value_bytes;
    parquet_encoding encoding = leaf->pages.values.encoding;
    return rest > 0 && (double)rest * width <= MOST_REST && encoding != PARQUET_RLE_DICTIONARY &&
           !(leaf->may_share && encoding == PARQUET_PLAIN);
}

frz_code parquet_leaf_flat(parquet_leaf *leaf, int64_t n, int64_t rest, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t shared;
    if (leaf->sink.count == 0) { /* nothing is held */
        FRZ_TRY(need_page(leaf, err));
        if (can_share(leaf, &shared) && shared >= n) {
            FRZ_TRY(share_page(leaf, n, out, err));
            goto out;
        }
        FRZ_TRY(reserve_likely(leaf, n + (takes_rest(leaf, rest) ? rest : 0), err));
    }
    FRZ_TRY(take_flat(leaf, n, err));
    if (leaf->pages.left == rest && takes_rest(leaf, rest)) {
        FRZ_TRY(take_flat(leaf, rest, err));
    }
    learn(leaf, leaf->sink.bytes, (int64_t)leaf->sink.count);
    FRZ_TRY(parquet_sink_finish(&leaf->sink, out, err));
out:
    return leaf_context(leaf, rc, err);
}

/* ---- levels in blocks ---- */

static frz_code fill_levels(parquet_leaf *leaf, parquet_hybrid *h, uint8_t max, size_t n,
                            uint8_t *out, frz_error *err)
{
    if (max == 0) {
        memset(out, 0, n);
        return FRZ_OK;
    }
    if (parquet_hybrid_u8(h, out, n) != n) {
        return short_levels(leaf, err);
    }
    if (h->kernels->largest_u8(out, n) > max) {
        return frz_fail_at(err, FRZ_E_CORRUPT, leaf->pages.header_at,
                           "page at byte %" PRIu64 ": a level is larger than %d",
                           leaf->pages.header_at, max);
    }
    return FRZ_OK;
}

/* Make sure that the block has an entry; FRZ_END at the end of the chunk. */
static frz_code need_block(parquet_leaf *leaf, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_pages *p = &leaf->pages;
    if (leaf->block_at < leaf->block_count) {
        return FRZ_OK;
    }
    if (p->left == 0) {
        rc = parquet_pages_header(p, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        FRZ_TRY(parquet_pages_open(p, err));
    }
    size_t n = (size_t)FRZ_MIN(p->left, PARQUET_BLOCK);
    frz_buf_clear(&leaf->block);
    FRZ_TRY(frz_buf_reserve(&leaf->block, 2 * n, err));
    leaf->defs = leaf->block.data;
    leaf->reps = leaf->block.data + n;
    FRZ_TRY(fill_levels(leaf, &p->reps, leaf->column->max_rep, n, leaf->reps, err));
    FRZ_TRY(fill_levels(leaf, &p->defs, leaf->column->max_def, n, leaf->defs, err));
    p->left -= (int64_t)n;
    leaf->block_at = 0;
    leaf->block_count = n;
out:
    return rc;
}

/* Entries of the block, at most limit, before more than n rows have begun; *rows counts. */
static size_t entries_of_rows(const parquet_leaf *leaf, size_t limit, int64_t n, int64_t *rows)
{
    if (leaf->column->max_rep == 0) {
        size_t take = (size_t)FRZ_MIN((int64_t)limit, n - *rows);
        *rows += (int64_t)take;
        return take;
    }
    int64_t all = (int64_t)parquet_count_u8(leaf->reps + leaf->block_at, limit, 0);
    if (all <= n - *rows) {
        *rows += all;
        return limit;
    }
    for (size_t i = 0; i < limit; i++) {
        if (leaf->reps[leaf->block_at + i] == 0) {
            if (*rows == n) {
                return i;
            }
            ++*rows;
        }
    }
    return limit;
}

/* ---- nested columns ---- */

static size_t taken_bytes(const parquet_leaf *leaf)
{
    return leaf->sink.bytes + leaf->sink.count * leaf->sink.width + leaf->out_defs.len * 2;
}

static frz_code take_entries(parquet_leaf *leaf, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *defs = leaf->defs + leaf->block_at;
    size_t bad;
    if (leaf->type != NULL) {
        size_t values = parquet_count_u8(defs, n, leaf->column->max_def);
        FRZ_TRY(parquet_append(leaf, values, &bad, err));
        if (bad < values) {
            return leaf->conversion == PARQUET_TEXT
                       ? frz_fail(err, FRZ_E_CORRUPT,
                                  "a string at or after row %" PRId64 " is not valid UTF-8",
                                  leaf->row)
                       : bad_value(leaf, bad, err);
        }
    }
    FRZ_TRY(frz_buf_append(&leaf->out_defs, defs, n, err));
    if (leaf->column->max_rep > 0) {
        FRZ_TRY(frz_buf_append(&leaf->out_reps, leaf->reps + leaf->block_at, n, err));
    }
    leaf->block_at += n;
out:
    return rc;
}

static frz_code row_too_large(const parquet_leaf *leaf, frz_error *err)
{
    return frz_fail(err, FRZ_E_LIMIT, "row %" PRId64 " has more than %u items or 2 GiB", leaf->row,
                    MAX_ROW_ENTRIES);
}

/* True if the row before is known to be complete without a look at what follows. */
static bool row_has_ended(const parquet_leaf *leaf)
{
    return between_pages(leaf) && (leaf->column->max_rep == 0 || leaf->pages.locator.active);
}

/* Whole rows are there once the next row begins or the chunk ends. */
static frz_code nested_rows(parquet_leaf *leaf, int64_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t begun = leaf->out_rows;
    leaf->out_partial = false;
    FRZ_TRY(reserve_likely(leaf, n, err));
    while (begun < n || !row_has_ended(leaf)) {
        rc = need_block(leaf, err);
        if (rc == FRZ_END) {
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        if (begun > 0 && taken_bytes(leaf) >= leaf->soft_bytes) {
            n = FRZ_MIN(n, begun); /* to the end of this row */
        }
        size_t have = leaf->block_count - leaf->block_at;
        size_t limit = values_that_fit(leaf, have);
        if (limit == 0 || leaf->out_defs.len > MAX_ROW_ENTRIES) {
            leaf->out_partial =
                leaf->column->max_rep > 0 && leaf->reps[leaf->block_at] != 0 && begun > 0;
            break;
        }
        int64_t before = begun;
        size_t take = entries_of_rows(leaf, limit, n, &begun);
        if (before == 0 && take > 0 && leaf->column->max_rep > 0 &&
            leaf->reps[leaf->block_at] != 0) {
            rc = frz_fail_at(err, FRZ_E_CORRUPT, leaf->pages.header_at,
                             "the column's first repetition level is not 0");
            goto out;
        }
        if (take == 0) {
            break;
        }
        FRZ_TRY(take_entries(leaf, take, err));
        leaf->row += begun - before;
    }
    leaf->out_rows = begun;
out:
    return rc;
}

frz_code parquet_leaf_nested(parquet_leaf *leaf, int64_t n, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t whole = leaf->out_rows - (leaf->out_partial ? 1 : 0);
    if (whole < n) {
        FRZ_TRY(nested_rows(leaf, n, err));
        whole = leaf->out_rows - (leaf->out_partial ? 1 : 0);
        learn(leaf, taken_bytes(leaf), whole);
    }
    if (whole == 0) {
        bool stopped = leaf->out_partial || leaf->block_at < leaf->block_count;
        rc = stopped ? row_too_large(leaf, err)
                     : frz_fail(err, FRZ_E_CORRUPT,
                                "the column chunk ends at row %" PRId64
                                ", its row group at row %" PRId64,
                                leaf->row, leaf->group_end);
        goto out;
    }
    if (leaf->row == leaf->group_end && !leaf->out_partial) {
        rc = need_block(leaf, err);
        if (rc != FRZ_END) {
            FRZ_TRY(rc);
            rc = frz_fail(err, FRZ_E_CORRUPT, "the column chunk has more rows than its row group");
            goto out;
        }
        rc = FRZ_OK;
    }
    *rows = FRZ_MIN(whole, n);
out:
    return leaf_context(leaf, rc, err);
}

size_t parquet_leaf_entries(const parquet_leaf *leaf, int64_t rows)
{
    if (leaf->column->max_rep == 0) {
        return (size_t)rows;
    }
    /* from the end, where few rows are beyond these */
    size_t n = leaf->out_reps.len;
    for (int64_t beyond = leaf->out_rows - rows; beyond > 0; n--) {
        beyond -= leaf->out_reps.data[n - 1] == 0;
    }
    return n;
}

static void drop_front(frz_buf *buf, size_t n)
{
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
}

void parquet_leaf_drop(parquet_leaf *leaf, int64_t rows)
{
    size_t entries = parquet_leaf_entries(leaf, rows);
    leaf->out_rows -= rows;
    if (entries > 0) {
        drop_front(&leaf->out_defs, entries);
    }
    if (entries > 0 && leaf->column->max_rep > 0) {
        drop_front(&leaf->out_reps, entries);
    }
}

/* ---- skipping ---- */

/* Rows of the open page that are passed over without being decoded. */
static frz_code skip_flat_in_page(parquet_leaf *leaf, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_pages *p = &leaf->pages;
    size_t valid = n;
    if (leaf->column->max_def > 0) {
        if (parquet_hybrid_run_of(&p->defs, 1) >= n) {
            parquet_hybrid_skip(&p->defs, n);
        } else {
            uint8_t *bits = p->scratch->raw;
            n = FRZ_MIN(n, (sizeof p->scratch->raw - PARQUET_SLACK) * 8);
            if (parquet_hybrid_bits(&p->defs, bits, 0, n) != n) {
                return short_levels(leaf, err);
            }
            valid = (size_t)frz_bitmap_count(bits, 0, (int64_t)n);
        }
    }
    FRZ_TRY(parquet_values_skip(&p->values, valid, err));
    p->left -= (int64_t)n;
    leaf->row += (int64_t)n;
out:
    return rc;
}

static frz_code skip_nested_in_block(parquet_leaf *leaf, int64_t end, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = 0;
    FRZ_TRY(need_block(leaf, err));
    size_t have = leaf->block_count - leaf->block_at;
    size_t take = entries_of_rows(leaf, have, end - leaf->row, &rows);
    if (leaf->type != NULL) {
        size_t values = parquet_count_u8(leaf->defs + leaf->block_at, take, leaf->column->max_def);
        FRZ_TRY(parquet_values_skip(&leaf->pages.values, values, err));
    }
    leaf->block_at += take;
    leaf->row += rows;
out:
    return rc;
}

/* Rows of the page whose header was read; -1 if that cannot be told without opening it. */
static frz_code page_rows(parquet_leaf *leaf, int64_t *rows, frz_error *err)
{
    *rows = leaf->pages.header.num_values;
    return leaf->column->max_rep == 0 ? FRZ_OK : parquet_pages_rows(&leaf->pages, rows, err);
}

/* Go to the page that holds a row, if the offset index tells which and it lies ahead. */
static void jump(parquet_leaf *leaf, int64_t row)
{
    int64_t first = leaf->pages.source->file->metadata.groups[leaf->group].first_row;
    int64_t page_row;
    if (parquet_pages_seek(&leaf->pages, row - first, &page_row)) {
        leaf->block_at = leaf->block_count = 0;
        leaf->row = first + page_row;
    }
}

frz_code parquet_leaf_skip(parquet_leaf *leaf, int64_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t end = leaf->row + count;
    assert(leaf->out_rows == 0);
    jump(leaf, end);
    while (leaf->row < end) {
        if (between_pages(leaf)) {
            rc = parquet_pages_header(&leaf->pages, err);
            if (rc == FRZ_END) {
                FRZ_TRY(need_page(leaf, err)); /* says that the chunk ends too early */
            }
            FRZ_TRY(rc);
            int64_t rows;
            FRZ_TRY(page_rows(leaf, &rows, err));
            if (rows >= 0 && rows <= end - leaf->row) {
                parquet_pages_skip(&leaf->pages);
                leaf->row += rows;
                continue;
            }
            FRZ_TRY(parquet_pages_open(&leaf->pages, err));
        }
        if (leaf->flat) {
            size_t n = (size_t)FRZ_MIN(end - leaf->row, leaf->pages.left);
            FRZ_TRY(skip_flat_in_page(leaf, n, err));
        } else {
            FRZ_TRY(skip_nested_in_block(leaf, end, err));
        }
    }
    /* the last row skipped may go on behind this block or page */
    while (leaf->row < leaf->group_end && leaf->column->max_rep > 0 && !row_has_ended(leaf)) {
        rc = need_block(leaf, err);
        if (rc == FRZ_END) {
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        if (leaf->reps[leaf->block_at] == 0) {
            break;
        }
        FRZ_TRY(skip_nested_in_block(leaf, end, err));
    }
out:
    return leaf_context(leaf, rc, err);
}
