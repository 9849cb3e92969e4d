/*
 * Finding pages through the offset index instead of passing from one header to the next.
 *
 * Where a row group is read in part, the index of each column is loaded if it saves enough. Then
 * pages are visited by their places in the index: those that hold no wanted row are neither read
 * nor looked at, and nothing behind the last wanted page of a run is read ahead. A page begins with
 * a row wherever there is an offset index, in repeated columns, too.
 *
 * What the index says of a page is compared with the page's header, and in repeated columns with
 * its levels. The sizes are not: a header tells the true one. spec: Page Index, OffsetIndex
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

/* Bytes that must be saved for an index to be worth reading. */
#define LEAST_SAVED (64u << 10)

void parquet_locator_reset(parquet_locator *l)
{
    parquet_kept_index_unref(l->kept);
    *l = (parquet_locator){0};
}

/* Wanted rows of a row group. */
static int64_t wanted_rows(const parquet_locator *l, int64_t rows)
{
    int64_t wanted = 0;
    for (size_t i = 0; i < l->range_count && l->ranges[i].start < l->first_row + rows; i++) {
        int64_t start = FRZ_MAX(l->ranges[i].start, l->first_row);
        wanted += FRZ_MIN(l->ranges[i].end, l->first_row + rows) - start;
    }
    return wanted;
}

static bool is_worth_it(const parquet_pages *p, int64_t rows)
{
    int64_t wanted = wanted_rows(&p->locator, rows);
    double bytes = (double)(p->end - p->at);
    return wanted > 0 && wanted < rows &&
           bytes * (double)(rows - wanted) / (double)rows >= LEAST_SAVED;
}

static bool has_encoding(const parquet_chunk *chunk, parquet_encoding encoding)
{
    return (chunk->encodings >> encoding & 1) != 0;
}

frz_code parquet_pages_plan(parquet_pages *p, const parquet_chunk *chunk, size_t column,
                            size_t group, const frz_row_range *ranges, size_t range_count,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_locator *l = &p->locator;
    const parquet_file *file = p->source->file;
    const parquet_group *g = &file->metadata.groups[group];
    parquet_locator_reset(l);
    *l = (parquet_locator){
        .ranges = ranges, .range_count = range_count, .first_row = g->first_row, .start = p->at};
    bool in_doubt = p->column->max_rep > 0 && !parquet_indexes_rows(&file->metadata);
    if (chunk->num_values <= 0 || in_doubt || !is_worth_it(p, g->num_rows)) {
        return FRZ_OK;
    }
    FRZ_TRY(parquet_offset_index_get(file, chunk, column, group, &l->kept, err));
    if (l->kept != NULL) {
        l->index = l->kept->offsets;
        l->active = true;
    }
    p->read_end = l->active ? p->at : p->end;
    bool encoded = has_encoding(chunk, PARQUET_PLAIN_DICTIONARY) ||
                   has_encoding(chunk, PARQUET_RLE_DICTIONARY);
    bool partly = chunk->has_encoding_stats && !chunk->all_dictionary;
    l->wants_dictionary = encoded && !partly;
out:
    return rc;
}

/* The file's offset up to which bytes are wanted without a gap, from the next page on. */
static uint64_t end_of_run(parquet_locator *l)
{
    const parquet_offset_index *index = &l->index;
    int64_t row = l->first_row + index->pages[l->next].first_row;
    int64_t end = l->first_row + index->rows;
    size_t last = l->next;
    while (l->range_count > 0 && l->ranges->end <= row) {
        l->ranges++;
        l->range_count--;
    }
    for (size_t i = 0; i < l->range_count && l->ranges[i].start < end; i++) {
        int64_t start = FRZ_MAX(l->ranges[i].start - l->first_row, 0);
        if (parquet_offset_index_page(index, start) > last + 1) {
            break;
        }
        int64_t behind = FRZ_MIN(l->ranges[i].end, end) - l->first_row;
        if (behind > start) {
            last = FRZ_MAX(last, parquet_offset_index_page(index, behind - 1));
        }
    }
    return index->pages[last].offset + index->pages[last].size;
}

frz_code parquet_pages_locate(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_locator *l = &p->locator;
    if (l->next == l->index.count) {
        return FRZ_END;
    }
    if (l->wants_dictionary) {
        FRZ_TRY(parquet_pages_fetch_dictionary(p, err));
    }
    p->at = l->index.pages[l->next].offset;
    if (p->at >= p->read_end) {
        p->read_end = end_of_run(l);
    }
out:
    return rc;
}

frz_code parquet_pages_fetch_dictionary(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_locator *l = &p->locator;
    parquet_page_header header = p->header;
    uint64_t header_at = p->header_at;
    uint64_t at = p->at;
    uint64_t read_end = p->read_end;
    l->wants_dictionary = false;
    if (p->dictionary.present || l->index.pages[0].offset <= l->start) {
        return FRZ_OK;
    }
    p->at = l->start;
    p->read_end = l->index.pages[0].offset;
    rc = parquet_pages_dictionary(p, UINT32_MAX, err);
    p->at = at;
    p->header = header;
    p->header_at = header_at;
    p->read_end = read_end;
    return rc;
}

static frz_code disagree(const parquet_pages *p, const char *what, int64_t header, int64_t index,
                         frz_error *err)
{
    return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                       "page at byte %" PRIu64 " has %" PRId64
                       " %s, the offset index says %" PRId64,
                       p->header_at, header, what, index);
}

frz_code parquet_pages_check_located(const parquet_pages *p, frz_error *err)
{
    const parquet_locator *l = &p->locator;
    const parquet_page_header *h = &p->header;
    int64_t rows = parquet_page_end_row(&l->index, l->next) - l->index.pages[l->next].first_row;
    if (h->type != PARQUET_DATA_PAGE && h->type != PARQUET_DATA_PAGE_V2) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64
                           " is of type %d, the offset index says it is a data page",
                           p->header_at, (int)h->type);
    }
    if (h->type == PARQUET_DATA_PAGE_V2 && h->num_rows >= 0 && h->num_rows != rows) {
        return disagree(p, "rows", h->num_rows, rows, err);
    }
    if (p->column->max_rep == 0 ? h->num_values != rows : h->num_values < rows) {
        return disagree(p, p->column->max_rep == 0 ? "rows" : "values for the rows", h->num_values,
                        rows, err);
    }
    if (h->num_values > p->num_values) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64 " has %" PRId32 " values, its chunk %" PRId64,
                           p->header_at, h->num_values, p->num_values);
    }
    return FRZ_OK;
}

frz_code parquet_pages_check_rows(const parquet_pages *p, frz_error *err)
{
    const parquet_locator *l = &p->locator;
    size_t page = l->next - 1;
    int64_t wanted = parquet_page_end_row(&l->index, page) - l->index.pages[page].first_row;
    parquet_hybrid first = p->reps;
    parquet_hybrid reps = p->reps;
    if (parquet_hybrid_count(&first, 0, 1) == 0) {
        return frz_fail_at(err, FRZ_E_CORRUPT, p->header_at,
                           "page at byte %" PRIu64
                           " begins inside a row, which no page does where there is an offset "
                           "index",
                           p->header_at);
    }
    int64_t rows = parquet_hybrid_count(&reps, 0, p->header.num_values);
    if (rows < 0) {
        return FRZ_OK; /* found out when the levels are read */
    }
    return rows == wanted ? FRZ_OK : disagree(p, "rows by its levels", rows, wanted, err);
}

bool parquet_pages_seek(parquet_pages *p, int64_t row, int64_t *first)
{
    parquet_locator *l = &p->locator;
    if (!l->active) {
        return false;
    }
    bool behind = row >= l->index.rows;
    size_t page = behind ? l->index.count : parquet_offset_index_page(&l->index, row);
    if (page < l->next) {
        return false;
    }
    p->left = 0;
    p->has_header = false;
    l->next = page;
    *first = behind ? l->index.rows : l->index.pages[page].first_row;
    return true;
}
