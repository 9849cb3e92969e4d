/*
 * The public view of a chunk's pages: from header to header, bodies passed over, beside what the
 * page index says of them.
 */
#include <inttypes.h>

#include "format/parquet/parquet_api.h"
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_read.h"
#include "format/parquet/parquet_statistics.h"

#define HEADER_GUESS 256
#define MAX_HEADER (16u << 20)

/* The way through a chunk. */
typedef struct page_walk {
    const frz_parquet_file *file;
    size_t column, group;
    parquet_chunk chunk;
    parquet_kept_index *offset_index, *column_index;
    parquet_offset_index offsets;
    parquet_column_index bounds;
    bool has_offsets, has_bounds;
    bool tells_rows;   /* the offset index */
    size_t data_pages; /* seen */
    uint64_t at, end;
    int64_t values_left;
    int64_t row; /* first of the next data page in the file; -1: not known */
    frz_buf window;
    bool refused; /* by who visits, which is no fault of the file */
} page_walk;

static const char *type_name(parquet_page_type type)
{
    switch (type) {
    case PARQUET_DATA_PAGE:
        return "DATA";
    case PARQUET_INDEX_PAGE:
        return "INDEX";
    case PARQUET_DICTIONARY_PAGE:
        return "DICTIONARY";
    case PARQUET_DATA_PAGE_V2:
        return "DATA_V2";
    default:
        return "UNKNOWN";
    }
}

static bool is_data(parquet_page_type type)
{
    return type == PARQUET_DATA_PAGE || type == PARQUET_DATA_PAGE_V2;
}

/* Parse the header at walk->at; *size receives its bytes. */
static frz_code read_header(page_walk *walk, parquet_page_header *out, uint64_t *size,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_file *file = walk->file->data->file;
    uint64_t left = walk->end - walk->at;
    for (size_t want = HEADER_GUESS;; want *= 4) {
        size_t len = (size_t)FRZ_MIN((uint64_t)want, left);
        parquet_thrift t;
        frz_buf_clear(&walk->window);
        FRZ_TRY(frz_buf_reserve(&walk->window, len, err));
        FRZ_TRY(frz_file_read(file, walk->at, walk->window.data, len, err));
        parquet_thrift_init(&t, walk->window.data, len, walk->at, err);
        rc = parquet_page_header_parse(&t, out);
        if (rc == FRZ_OK || !t.ended_early || len == left || want >= MAX_HEADER) {
            *size = (uint64_t)(t.at - t.start);
            goto out;
        }
    }
out:
    return rc;
}

/* Rows of a data page, -1 if its header does not tell. */
static int64_t rows_of(const page_walk *walk, const parquet_page_header *h)
{
    const parquet_file *file = parquet_api_inner(walk->file);
    if (file->columns[walk->column].max_rep == 0) {
        return h->num_values;
    }
    return h->type == PARQUET_DATA_PAGE_V2 && parquet_tells_page_rows(&file->metadata) ? h->num_rows
                                                                                       : -1;
}

static frz_parquet_bound page_bound(frz_str value, frz_str checked)
{
    return (frz_parquet_bound){
        .value = parquet_api_bytes(value), .exact = -1, .reliable = checked.ptr != NULL};
}

/* What the column index says of data page number i. */
static void describe_values(const page_walk *walk, size_t i, frz_parquet_page_info *out)
{
    const parquet_column_index *index = &walk->bounds;
    parquet_chunk page = {.num_values = out->values};
    parquet_statistics checked;
    out->nulls = index->null_counts != NULL ? index->null_counts[i] : -1;
    out->nans = index->nan_counts != NULL ? index->nan_counts[i] : -1;
    if (index->null_page[i] != 0) {
        return;
    }
    page.statistics = (parquet_statistics){
        .min_value = index->mins[i], .max_value = index->maxs[i], .min_exact = -1, .max_exact = -1};
    parquet_statistics_check(parquet_api_inner(walk->file), walk->column, &page, &checked);
    out->min = page_bound(index->mins[i], checked.min_value);
    out->max = page_bound(index->maxs[i], checked.max_value);
}

/* What the page index says of the data page at hand, if it is about the same page. */
static void describe_by_index(page_walk *walk, frz_parquet_page_info *out)
{
    size_t i = walk->data_pages++;
    if (!walk->has_offsets || i >= walk->offsets.count ||
        walk->offsets.pages[i].offset != walk->at) {
        walk->has_offsets = false;
        return;
    }
    int64_t base = parquet_api_inner(walk->file)->metadata.groups[walk->group].first_row;
    int64_t first = walk->offsets.pages[i].first_row;
    if (walk->tells_rows) {
        out->first_row = base + first;
        out->rows = parquet_page_end_row(&walk->offsets, i) - first;
    }
    if (walk->has_bounds) {
        describe_values(walk, i, out);
    }
}

static void describe(page_walk *walk, const parquet_page_header *h, uint64_t header_size,
                     frz_parquet_page_info *out)
{
    bool known = h->type >= PARQUET_DATA_PAGE && h->type <= PARQUET_DATA_PAGE_V2;
    bool has_values = known && h->type != PARQUET_INDEX_PAGE;
    *out = (frz_parquet_page_info){
        .type = type_name(h->type),
        .encoding = has_values ? frz_parquet_encoding_name(h->encoding) : NULL,
        .offset = (int64_t)walk->at,
        .header_size = (int64_t)header_size,
        .compressed_size = h->compressed_size,
        .uncompressed_size = h->uncompressed_size,
        .values = has_values ? h->num_values : -1,
        .first_row = -1,
        .rows = -1,
        .has_checksum = h->has_crc,
        .nulls = -1,
        .nans = -1,
    };
    if (is_data(h->type)) {
        out->first_row = walk->row;
        out->rows = rows_of(walk, h);
        walk->row = walk->row < 0 || out->rows < 0 ? -1 : walk->row + out->rows;
        walk->values_left -= h->num_values;
        describe_by_index(walk, out);
    }
}

static frz_code visit_next(page_walk *walk, frz_parquet_page_visit visit, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_page_header header;
    frz_parquet_page_info page;
    uint64_t size;
    if (walk->at >= walk->end) {
        return frz_fail_at(err, FRZ_E_CORRUPT, walk->end,
                           "the column chunk ends %" PRId64 " values before its %" PRId64,
                           walk->values_left, walk->chunk.num_values);
    }
    FRZ_TRY(read_header(walk, &header, &size, err));
    uint64_t body = (uint64_t)header.compressed_size;
    if (body > walk->end - walk->at - size) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, walk->at,
                         "page header at byte %" PRIu64 ": compressed size %" PRIu64
                         " exceeds the %" PRIu64 " bytes left in the column chunk",
                         walk->at, body, walk->end - walk->at - size);
        goto out;
    }
    describe(walk, &header, size, &page);
    walk->at += size + body;
    rc = visit(ctx, &page, err);
    walk->refused = rc != FRZ_OK;
out:
    return rc;
}

static frz_code load_index(page_walk *walk, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_file *inner = parquet_api_inner(walk->file);
    FRZ_TRY(parquet_offset_index_get(inner, &walk->chunk, walk->column, walk->group,
                                     &walk->offset_index, err));
    walk->has_offsets = walk->offset_index != NULL;
    walk->tells_rows =
        inner->columns[walk->column].max_rep == 0 || parquet_indexes_rows(&inner->metadata);
    if (walk->has_offsets) {
        walk->offsets = walk->offset_index->offsets;
        FRZ_TRY(parquet_column_index_get(inner, &walk->chunk, walk->column, walk->group,
                                         walk->offsets.count, &walk->column_index, err));
    }
    walk->has_bounds = walk->column_index != NULL;
    if (walk->has_bounds) {
        walk->bounds = walk->column_index->bounds;
    }
out:
    return rc;
}

static frz_code walk_init(page_walk *walk, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_file *inner = parquet_api_inner(walk->file);
    FRZ_TRY(parquet_file_chunk(inner, walk->group, walk->column, &walk->chunk, err));
    if (walk->chunk.encrypted) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted column");
    }
    if (walk->chunk.file_path.len > 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column data in another file");
    }
    walk->row = inner->metadata.groups[walk->group].first_row;
    walk->values_left = walk->chunk.num_values;
    if (walk->values_left > 0) {
        FRZ_TRY(parquet_chunk_range(inner, &walk->chunk, &walk->at, &walk->end, err));
        FRZ_TRY(load_index(walk, err));
    }
out:
    return rc;
}

frz_code frz_parquet_pages_visit(const frz_parquet_file *file, size_t group, size_t column,
                                 frz_parquet_page_visit visit, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    page_walk walk = {.file = file,
                      .column = column,
                      .group = group,
                      .window = FRZ_BUF_INIT(file->env, MAX_HEADER * 4)};
    assert(group < parquet_api_inner(file)->metadata.group_count);
    assert(column < parquet_api_inner(file)->column_count);
    FRZ_TRY(walk_init(&walk, err));
    while (walk.values_left > 0) {
        FRZ_TRY(visit_next(&walk, visit, ctx, err));
    }
out:
    frz_buf_reset(&walk.window);
    parquet_kept_index_unref(walk.offset_index);
    parquet_kept_index_unref(walk.column_index);
    if (walk.refused) {
        return rc;
    }
    return frz_context(err, rc, "reading %s, row group %zu, column \"%s\"",
                       frz_data_file_location(file->data), group,
                       parquet_api_inner(file)->columns[column].node->path);
}
