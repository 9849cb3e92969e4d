/*
 * One leaf column of a file: values and levels are collected into pages, pages into a chunk.
 *
 *  1. A page holds whole rows, and passes its bounds only if a single row does.
 *  2. The dictionary page comes first, so pages wait in memory while the dictionary may grow.
 *  3. How the values of a page are encoded is chosen in parquet_page_encoding.c.
 */
#include "format/parquet/parquet_kernels.h"
#include "format/parquet/parquet_write.h"

/* ---- from page to file ---- */

static frz_code filter_values(parquet_column_writer *column, const uint8_t *values, size_t count,
                              frz_error *err)
{
    return column->bloom == NULL ? FRZ_OK
                                 : parquet_bloom_out_add(column->bloom, values, count, err);
}

/* The dictionary is complete: encode its page. */
static frz_code end_dictionary(parquet_column_writer *column, frz_error *err)
{
    const frz_buf *values = &column->dictionary.values;
    frz_code rc = FRZ_OK;
    if (column->dictionary.count == 0) {
        /* what a first page left that did not fit is not for the next chunk */
        parquet_dictionary_out_reset(&column->dictionary);
        return FRZ_OK;
    }
    FRZ_TRY(filter_values(column, values->data, column->dictionary.count, err));
    FRZ_TRY(parquet_page_put_dictionary(column, err));
    parquet_dictionary_out_reset(&column->dictionary);
out:
    return rc;
}

/* Dictionary page first, then the data pages that wait behind it. */
static frz_code release_pages(parquet_column_writer *column, frz_error *err)
{
    parquet_output *output = &column->shared->output;
    frz_code rc = FRZ_OK;
    column->offset = column->started ? column->offset : output->position;
    column->started = true;
    FRZ_TRY(end_dictionary(column, err));
    FRZ_TRY(parquet_waiting_write(&column->front, output, err));
    FRZ_TRY(parquet_waiting_write(&column->pages, output, err));
out:
    return rc;
}

/* Byte strings that the dictionary has are compared once, not wherever they occur. */
static frz_code measure_entries(parquet_column_writer *column, parquet_page_stats *stats,
                                frz_error *err)
{
    const parquet_dictionary_use use = {
        .dictionary = &column->dictionary,
        .indices = (const uint32_t *)(const void *)column->scratch->indices.data,
        .count = column->value_count,
        .size = column->values.len,
    };
    return parquet_write_stats_add_used(&column->stats, &use, &column->scratch->body, stats, err);
}

/* The values of the page, which are encoded, but still there. */
static frz_code measure_page(parquet_column_writer *column, parquet_encoding encoding,
                             parquet_page_stats *stats, frz_error *err)
{
    *stats = (parquet_page_stats){.nans = 0};
    column->stats.slots += (int64_t)column->page_slots;
    column->stats.nulls += (int64_t)(column->page_slots - column->value_count);
    if (column->shared->opts.no_statistics && column->metrics == NULL) {
        return FRZ_OK;
    }
    if (encoding == PARQUET_RLE_DICTIONARY && column->leaf->order >= PARQUET_BOUND_BYTES) {
        return measure_entries(column, stats, err);
    }
    return parquet_write_stats_add(&column->stats, column->values.data, column->values.len,
                                   column->value_count, stats, err);
}

/* Note the page that was just encoded. */
static frz_code index_page(parquet_column_writer *column, uint64_t offset,
                           const parquet_page_stats *stats, frz_error *err)
{
    const frz_parquet_write_options *opts = &column->shared->opts;
    const parquet_index_page page = {
        .offset = offset,
        .size = column->page_size,
        .rows = (int64_t)column->page_rows,
        .nulls = (int64_t)(column->page_slots - column->value_count),
        .values = column->value_count,
        .stats = stats,
    };
    if (opts->no_statistics) {
        return FRZ_OK;
    }
    return parquet_index_out_add(&column->index, &page, &column->rep, &column->def,
                                 !opts->no_page_index, err);
}

static frz_code flush_page(parquet_column_writer *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_encoding encoding;
    parquet_page_stats stats;
    frz_str values;
    /* the dictionary's page, if it is out, stands before the data pages */
    uint64_t offset = column->packed_size - column->dictionary_size;
    if (column->page_slots == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(parquet_page_encode(column, &encoding, &values, err));
    FRZ_TRY(measure_page(column, encoding, &stats, err));
    if (encoding != PARQUET_RLE_DICTIONARY) { /* else the dictionary has them */
        FRZ_TRY(filter_values(column, column->values.data, column->value_count, err));
    }
    FRZ_TRY(parquet_page_put_data(column, encoding, values, err));
    column->page_counts[encoding]++;
    /* bounds are views of the values: these wait with the page if they are no longer here */
    FRZ_TRY(index_page(column, offset, &stats, err));
    frz_buf_clear(&column->values);
    parquet_levels_clear(&column->def);
    parquet_levels_clear(&column->rep);
    column->value_count = column->page_slots = column->page_rows = 0;
    if (column->direct && column->dictionary_state == PARQUET_DICTIONARY_OFF) {
        FRZ_TRY(release_pages(column, err));
    }
out:
    return rc;
}

/* ---- rows into the open page ---- */

/* Part of a run that goes into one page. */
typedef struct page_part {
    size_t slots, values, rows;
} page_part;

static bool page_is_full(const parquet_column_writer *column, const page_part *part, size_t bytes)
{
    const frz_parquet_write_options *opts = &column->shared->opts;
    size_t rows = column->page_rows + part->rows;
    return column->values.len + bytes > opts->page_bytes ||
           column->page_slots + part->slots > opts->page_bytes ||
           (opts->page_rows > 0 && rows > (size_t)opts->page_rows);
}

/* Slots that the open page still takes by its bounds on slots and rows. */
static size_t room_of_page(const parquet_column_writer *column, size_t count)
{
    const frz_parquet_write_options *opts = &column->shared->opts;
    size_t n = FRZ_MIN(count, opts->page_bytes - FRZ_MIN(column->page_slots, opts->page_bytes));
    if (opts->page_rows > 0) {
        size_t rows = FRZ_MIN(column->page_rows, (size_t)opts->page_rows);
        n = FRZ_MIN(n, (size_t)opts->page_rows - rows);
    }
    return n;
}

static size_t bytes_left_in_page(const parquet_column_writer *column)
{
    size_t page_bytes = column->shared->opts.page_bytes;
    return page_bytes - FRZ_MIN(column->values.len, page_bytes);
}

/* How many strings, one after the other from row first on, fit in the bytes that are left. */
static size_t strings_that_fit(const struct ArrowArray *array, int64_t first, size_t count,
                               size_t left)
{
    const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset + first;
    size_t fit = 0;
    for (size_t most = count; fit < most;) {
        size_t half = fit + (most - fit + 1) / 2;
        if ((size_t)(offsets[half] - offsets[0]) + 4 * half <= left) {
            fit = half;
        } else {
            most = half - 1;
        }
    }
    return fit;
}

/* Rows of one slot each; those without a value may take part in the count of bytes. */
static page_part take_flat(const parquet_column_writer *column, const struct ArrowArray *array,
                           const parquet_write_run *run, size_t slot, size_t value)
{
    const parquet_write_leaf *leaf = column->leaf;
    const int64_t row = run->first + (int64_t)(run->by_slot ? slot : value);
    size_t left = bytes_left_in_page(column);
    size_t n = room_of_page(column, run->count - slot);
    n = leaf->width != 0 ? FRZ_MIN(n, left / leaf->width) : strings_that_fit(array, row, n, left);
    if (run->def == NULL) {
        n = n == 0 && column->page_slots == 0 ? 1 : n;
        return (page_part){n, n, n};
    }
    return (page_part){n, parquet_count_u8(run->def + slot, n, leaf->max_def), n};
}

/* Bytes of values that lie one after the other. */
static size_t bytes_of_values(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                              int64_t first, size_t count)
{
    if (leaf->width != 0) {
        return count * leaf->width;
    }
    const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset + first;
    return count == 0 ? 0 : (size_t)(offsets[count] - offsets[0]) + 4 * count;
}

/* Whole rows of lists, up to the page's bounds; fewer than fit once a page is nearly full. */
static page_part take_lists(const parquet_column_writer *column, const struct ArrowArray *array,
                            const parquet_write_run *run, size_t slot, size_t value)
{
    const frz_parquet_write_options *opts = &column->shared->opts;
    const parquet_write_leaf *leaf = column->leaf;
    const size_t all = run->count - slot;
    const size_t left = bytes_left_in_page(column);
    const uint8_t *rep = run->rep + slot;
    size_t n = FRZ_MIN(all, opts->page_bytes - FRZ_MIN(column->page_slots, opts->page_bytes));
    for (; n > 0; n /= 2) {
        while (n > 0 && n < all && rep[n] != 0) {
            n--;
        }
        size_t values = run->def == NULL ? n : parquet_count_u8(run->def + slot, n, leaf->max_def);
        if (bytes_of_values(leaf, array, run->first + (int64_t)value, values) <= left) {
            return (page_part){n, values, parquet_count_u8(rep, n, 0)};
        }
    }
    return (page_part){0};
}

/* Ways without a look at every value; no slots: there is none, or the page is nearly full. */
static page_part take_quickly(const parquet_column_writer *column, const struct ArrowArray *array,
                              const parquet_write_run *run, size_t slot, size_t value)
{
    if (run->rep == NULL && (run->places == NULL || column->leaf->width != 0)) {
        return take_flat(column, array, run, slot, value);
    }
    if (run->rep != NULL && column->shared->opts.page_rows == 0 &&
        ((run->places == NULL && !run->by_slot) || column->leaf->width != 0)) {
        return take_lists(column, array, run, slot, value);
    }
    return (page_part){0};
}

/* The row of the array that has a value. */
static int64_t row_of_value(const parquet_write_run *run, size_t slot, size_t value)
{
    return run->places != NULL ? run->places[value]
                               : run->first + (int64_t)(run->by_slot ? slot : value);
}

/* As many whole rows as fit the open page, at least one if it is empty. */
static page_part take_rows(const parquet_column_writer *column, const struct ArrowArray *array,
                           const parquet_write_run *run, size_t slot, size_t value)
{
    const parquet_write_leaf *leaf = column->leaf;
    page_part taken = {0};
    size_t bytes = 0;
    taken = take_quickly(column, array, run, slot, value);
    if (taken.slots > 0 || (run->def == NULL && run->rep == NULL)) {
        return taken;
    }
    while (slot + taken.slots < run->count) {
        page_part next = taken;
        do {
            size_t at = slot + next.slots;
            if (run->def == NULL || run->def[at] == leaf->max_def) {
                bytes +=
                    parquet_plain_size(leaf, array, row_of_value(run, at, value + next.values));
                next.values++;
            }
            next.slots++;
        } while (slot + next.slots < run->count && run->rep != NULL &&
                 run->rep[slot + next.slots] > 0);
        next.rows++;
        if (page_is_full(column, &next, bytes) && column->page_slots + taken.slots > 0) {
            break;
        }
        taken = next;
    }
    return taken;
}

static frz_code append_part(parquet_column_writer *column, const struct ArrowArray *array,
                            const parquet_write_run *run, size_t slot, size_t value, page_part part,
                            frz_error *err)
{
    const parquet_write_leaf *leaf = column->leaf;
    frz_code rc = FRZ_OK;
    if (leaf->max_rep > 0) {
        FRZ_TRY(run->rep == NULL
                    ? parquet_levels_add_same(&column->rep, 0, part.slots, err)
                    : parquet_levels_add(&column->rep, run->rep + slot, part.slots, err));
    }
    if (leaf->max_def > 0) {
        FRZ_TRY(run->def == NULL
                    ? parquet_levels_add_same(&column->def, leaf->max_def, part.slots, err)
                    : parquet_levels_add(&column->def, run->def + slot, part.slots, err));
    }
    if (column->values.capacity == 0 && column->room > 0) {
        FRZ_TRY(frz_buf_reserve(&column->values, column->room, err));
    }
    if (run->by_slot && run->def != NULL) {
        FRZ_TRY(parquet_plain_append_slots(leaf, array, run->def + slot, part.slots,
                                           run->first + (int64_t)slot, &column->values, err));
    } else {
        const int64_t *places = run->places == NULL ? NULL : run->places + value;
        FRZ_TRY(parquet_plain_append(leaf, array, places, run->first + (int64_t)value, part.values,
                                     &column->values, err));
    }
    column->value_count += part.values;
    column->page_slots += part.slots;
    column->page_rows += part.rows;
out:
    return rc;
}

frz_code parquet_column_writer_append(parquet_column_writer *column, const struct ArrowArray *array,
                                      const parquet_write_run *run, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t slot = 0;
    size_t value = 0;
    while (slot < run->count) {
        page_part part = take_rows(column, array, run, slot, value);
        if (part.slots == 0) {
            FRZ_TRY(flush_page(column, err));
            continue;
        }
        FRZ_TRY(append_part(column, array, run, slot, value, part, err));
        slot += part.slots;
        value += part.values;
    }
out:
    return frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(column->leaf->dotted));
}

/* ---- chunks ---- */

void parquet_column_writer_init(parquet_column_writer *column, parquet_write_shared *shared,
                                const parquet_write_leaf *leaf)
{
    *column = (parquet_column_writer){.shared = shared, .leaf = leaf, .encoding = FRZ_PARQUET_AUTO};
    frz_buf_init(&column->values, shared->env, INT32_MAX);
    frz_buf_init(&column->def.bytes, shared->env, INT32_MAX);
    frz_buf_init(&column->rep.bytes, shared->env, INT32_MAX);
    parquet_waiting_init(&column->pages, shared->env);
    parquet_waiting_init(&column->front, shared->env);
    parquet_dictionary_out_init(&column->dictionary, shared->env, leaf->width);
    parquet_write_stats_init(&column->stats, shared->env, leaf);
    parquet_index_out_init(&column->index, shared->env, leaf);
}

void parquet_column_writer_free(parquet_column_writer *column)
{
    if (column->shared == NULL) {
        return;
    }
    frz_buf_reset(&column->values);
    frz_buf_reset(&column->def.bytes);
    frz_buf_reset(&column->rep.bytes);
    parquet_waiting_reset(&column->pages);
    parquet_waiting_reset(&column->front);
    parquet_dictionary_out_reset(&column->dictionary);
    parquet_write_stats_reset(&column->stats);
    parquet_index_out_reset(&column->index);
    parquet_bloom_out_free(column->bloom);
}

void parquet_column_writer_begin(parquet_column_writer *column, bool direct)
{
    column->direct = direct;
    column->room = 0;
    column->started = false;
    column->closed = false;
    column->dictionary_state = parquet_dictionary_at_start(column);
    column->encodings = column->leaf->max_def > 0 ? 1u << PARQUET_RLE : 0;
    column->dictionary_size = 0;
    column->packed_size = column->raw_size = 0;
    memset(column->page_counts, 0, sizeof column->page_counts);
    parquet_write_stats_reset(&column->stats);
    parquet_index_out_reset(&column->index);
    parquet_bloom_out_reset(column->bloom);
}

size_t parquet_column_writer_pending(const parquet_column_writer *column)
{
    return column->values.len + column->def.bytes.len + column->rep.bytes.len + column->pages.len +
           column->front.len + column->dictionary.values.len +
           parquet_index_out_pending(&column->index);
}

/* How many pages have which encoding. */
static frz_code count_pages(parquet_column_writer *column, parquet_encoded_list *out,
                            frz_error *err)
{
    parquet_write_shared *shared = column->shared;
    parquet_page_count counts[PARQUET_ENCODING_COUNT + 1];
    const parquet_page_type type =
        shared->opts.page_version == 2 ? PARQUET_DATA_PAGE_V2 : PARQUET_DATA_PAGE;
    size_t count = 0;
    if (column->dictionary_size > 0) {
        counts[count++] = (parquet_page_count){PARQUET_DICTIONARY_PAGE, PARQUET_PLAIN, 1};
    }
    for (size_t e = 0; e < PARQUET_ENCODING_COUNT; e++) {
        if (column->page_counts[e] > 0) {
            counts[count++] =
                (parquet_page_count){type, (parquet_encoding)e, column->page_counts[e]};
        }
    }
    return parquet_page_counts_encode(counts, count, &shared->chunk_arena, &column->scratch->other,
                                      out, err);
}

/* What is not needed for reading the chunk. */
static frz_code describe_chunk(parquet_column_writer *column, parquet_chunk *chunk, frz_error *err)
{
    parquet_write_shared *shared = column->shared;
    frz_code rc = FRZ_OK;
    const size_t column_index = shared->column_indexes.len;
    const size_t offset_index = shared->offset_indexes.len;
    FRZ_TRY(parquet_write_stats_footer(&column->stats, &shared->chunk_arena, column->leaf,
                                       &chunk->statistics, err));
    FRZ_TRY(count_pages(column, &chunk->encoding_stats, err));
    FRZ_TRY(parquet_index_out_sizes(&column->index, column->stats.bytes, &shared->chunk_arena,
                                    &column->scratch->other, &chunk->sizes, err));
    FRZ_TRY(parquet_index_out_write(&column->index, column->offset + column->dictionary_size,
                                    &shared->column_indexes, &shared->offset_indexes, err));
    chunk->column_index_length = (int32_t)(shared->column_indexes.len - column_index);
    chunk->offset_index_length = (int32_t)(shared->offset_indexes.len - offset_index);
out:
    return rc;
}

frz_code parquet_column_writer_close(parquet_column_writer *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (column->closed) {
        return FRZ_OK;
    }
    FRZ_TRY(flush_page(column, err));
    FRZ_TRY(end_dictionary(column, err));
    if (column->bloom != NULL) {
        FRZ_TRY(parquet_bloom_out_finish(column->bloom, err));
    }
    frz_buf_reset(&column->values);
    column->closed = true;
out:
    return frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(column->leaf->dotted));
}

frz_code parquet_column_writer_end(parquet_column_writer *column, parquet_chunk *out,
                                   frz_error *err)
{
    const parquet_write_leaf *leaf = column->leaf;
    frz_code rc = FRZ_OK;
    parquet_chunk chunk = {
        .physical = leaf->physical,
        .codec = (int32_t)column->shared->opts.codec,
        .statistics = {.min_exact = -1, .max_exact = -1},
    };
    rc = parquet_column_writer_close(column, err);
    if (rc != FRZ_OK) {
        return rc; /* names the column */
    }
    FRZ_TRY(release_pages(column, err));
    if (!column->shared->opts.no_statistics) {
        FRZ_TRY(describe_chunk(column, &chunk, err));
    }
    if (column->metrics != NULL) {
        frz_field_stats metrics;
        parquet_write_stats_metrics(&column->stats, leaf->field, &metrics);
        FRZ_TRY(parquet_metrics_sum_add(column->metrics, &metrics, err));
    }
    chunk.encodings = column->encodings;
    chunk.num_values = column->stats.slots;
    chunk.total_uncompressed_size = (int64_t)column->raw_size;
    chunk.total_compressed_size = (int64_t)column->packed_size;
    chunk.data_page_offset = (int64_t)(column->offset + column->dictionary_size);
    chunk.dictionary_page_offset = column->dictionary_size > 0 ? (int64_t)column->offset : 0;
    *out = chunk;
    parquet_index_out_reset(&column->index);
out:
    return frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(leaf->dotted));
}
