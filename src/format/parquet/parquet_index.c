/*
 * Reading the page index. It is optional and nothing in a file depends on it, so what cannot be
 * right makes it count as absent; what passes here is later compared with the pages themselves as
 * far as they are read.
 */
#include <inttypes.h>

#include "format/parquet/parquet_index.h"

/* Least bytes of a page location: three fields of two bytes and the end of the struct. */
#define LEAST_LOCATION 7

/* ---- offset index ---- */

static void parse_location(parquet_thrift *t, parquet_page_location *out)
{
    parquet_thrift_field f = {0};
    int64_t offset = -1;
    int32_t size = -1;
    *out = (parquet_page_location){.first_row = -1};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            offset = parquet_thrift_i64(t, &f);
            break;
        case 2:
            size = parquet_thrift_i32(t, &f);
            break;
        case 3:
            out->first_row = parquet_thrift_i64(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
    if (t->rc == FRZ_OK && (offset < 0 || size <= 0)) {
        parquet_thrift_fail(t, "a page of %" PRId32 " bytes at byte %" PRId64, size, offset);
        return;
    }
    out->offset = (uint64_t)offset;
    out->size = (uint64_t)size;
}

static frz_code parse_locations(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                                parquet_offset_index *out, frz_error *err)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_LOCATION);
    parquet_page_location *pages = frz_arena_array(arena, count, sizeof *pages);
    if (pages == NULL) {
        return frz_fail_nomem(err, count * sizeof *pages);
    }
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parse_location(t, &pages[i]);
    }
    out->pages = pages;
    out->count = count;
    return t->rc;
}

static frz_code check_locations(const parquet_offset_index *index, uint64_t first, uint64_t end,
                                frz_error *err)
{
    int64_t row = 0;
    for (size_t i = 0; i < index->count; i++) {
        const parquet_page_location *page = &index->pages[i];
        if (page->offset < first || page->offset > end || page->size > end - page->offset) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "page %zu has %" PRIu64 " bytes at byte %" PRIu64
                            ", expected inside bytes %" PRIu64 " to %" PRIu64,
                            i, page->size, page->offset, first, end);
        }
        if (i == 0 ? page->first_row != 0 : page->first_row <= row) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "page %zu begins at row %" PRId64 " behind row %" PRId64, i,
                            page->first_row, row);
        }
        first = page->offset + page->size;
        row = page->first_row;
    }
    if (index->count == 0 || row >= index->rows) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%zu pages, the last of which begins at row %" PRId64 " of %" PRId64,
                        index->count, row, index->rows);
    }
    return FRZ_OK;
}

static frz_code parse_counts(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                             const int64_t **out, size_t *count, frz_error *err)
{
    *count = parquet_thrift_list(t, f, PARQUET_THRIFT_I64, 1);
    int64_t *values = frz_arena_array(arena, *count, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, *count * sizeof *values);
    }
    for (size_t i = 0; i < *count && t->rc == FRZ_OK; i++) {
        values[i] = parquet_thrift_i64(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I64));
    }
    *out = values;
    return t->rc;
}

frz_code parquet_offset_index_parse(frz_arena *arena, frz_str bytes, uint64_t offset,
                                    uint64_t first, uint64_t end, int64_t rows,
                                    parquet_offset_index *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_offset_index index = {.rows = rows};
    size_t sizes = 0;
    parquet_thrift_field f = {0};
    parquet_thrift t;
    parquet_thrift_init(&t, (const uint8_t *)bytes.ptr, bytes.len, offset, err);
    while (parquet_thrift_next(&t, &f)) {
        if (f.id == 1) {
            FRZ_TRY(parse_locations(&t, &f, arena, &index, err));
        } else if (f.id == 2) {
            FRZ_TRY(parse_counts(&t, &f, arena, &index.byte_sizes, &sizes, err));
        } else {
            parquet_thrift_skip(&t, &f);
        }
    }
    FRZ_TRY(t.rc);
    FRZ_TRY(check_locations(&index, first, end, err));
    if (sizes != index.count) {
        index.byte_sizes = NULL; /* are not needed for reading */
    }
    *out = index;
out:
    return rc;
}

size_t parquet_offset_index_page(const parquet_offset_index *index, int64_t row)
{
    size_t low = 0;
    size_t high = index->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (index->pages[middle].first_row <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t parquet_page_end_row(const parquet_offset_index *index, size_t page)
{
    return page + 1 < index->count ? index->pages[page + 1].first_row : index->rows;
}

/* ---- column index ---- */

typedef struct column_lists {
    size_t null_pages, mins, maxs; /* elements */
    size_t null_counts, nan_counts;
} column_lists;

static frz_code parse_booleans(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                               const uint8_t **out, size_t *count, frz_error *err)
{
    *count = parquet_thrift_list(t, f, PARQUET_THRIFT_TRUE, 1);
    uint8_t *values = frz_arena_alloc(arena, *count);
    if (values == NULL) {
        return frz_fail_nomem(err, *count);
    }
    for (size_t i = 0; i < *count && t->rc == FRZ_OK; i++) {
        values[i] = parquet_thrift_bool_element(t);
    }
    *out = values;
    return t->rc;
}

static frz_code parse_binaries(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                               const frz_str **out, size_t *count, frz_error *err)
{
    *count = parquet_thrift_list(t, f, PARQUET_THRIFT_BINARY, 1);
    frz_str *values = frz_arena_array(arena, *count, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, *count * sizeof *values);
    }
    for (size_t i = 0; i < *count && t->rc == FRZ_OK; i++) {
        values[i] = parquet_thrift_binary(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_BINARY));
    }
    *out = values;
    return t->rc;
}

static frz_code parse_column_field(parquet_thrift *t, const parquet_thrift_field *f,
                                   frz_arena *arena, parquet_column_index *out, column_lists *lists,
                                   frz_error *err)
{
    switch (f->id) {
    case 1:
        return parse_booleans(t, f, arena, &out->null_page, &lists->null_pages, err);
    case 2:
        return parse_binaries(t, f, arena, &out->mins, &lists->mins, err);
    case 3:
        return parse_binaries(t, f, arena, &out->maxs, &lists->maxs, err);
    case 4:
        out->boundary_order = parquet_thrift_i32(t, f);
        return t->rc;
    case 5:
        return parse_counts(t, f, arena, &out->null_counts, &lists->null_counts, err);
    case 6:
        parquet_thrift_counts(t, f, &out->rep_levels);
        return t->rc;
    case 7:
        parquet_thrift_counts(t, f, &out->def_levels);
        return t->rc;
    case 8:
        return parse_counts(t, f, arena, &out->nan_counts, &lists->nan_counts, err);
    default:
        parquet_thrift_skip(t, f);
        return t->rc;
    }
}

/* A list that is there has an entry per page. */
static frz_code check_list(const char *name, bool present, size_t count, size_t pages,
                           frz_error *err)
{
    if (present && count != pages) {
        return frz_fail(err, FRZ_E_CORRUPT, "%zu %s for %zu pages", count, name, pages);
    }
    return FRZ_OK;
}

frz_code parquet_column_index_parse(frz_arena *arena, frz_str bytes, uint64_t offset, size_t pages,
                                    parquet_column_index *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_column_index index = {.count = pages, .boundary_order = -1, .bytes = bytes};
    column_lists lists = {0};
    parquet_thrift_field f = {0};
    parquet_thrift t;
    parquet_thrift_init(&t, (const uint8_t *)bytes.ptr, bytes.len, offset, err);
    while (parquet_thrift_next(&t, &f)) {
        FRZ_TRY(parse_column_field(&t, &f, arena, &index, &lists, err));
    }
    FRZ_TRY(t.rc);
    FRZ_TRY(check_list("null pages", true, lists.null_pages, pages, err));
    FRZ_TRY(check_list("minima", true, lists.mins, pages, err));
    FRZ_TRY(check_list("maxima", true, lists.maxs, pages, err));
    FRZ_TRY(check_list("null counts", index.null_counts != NULL, lists.null_counts, pages, err));
    FRZ_TRY(check_list("NaN counts", index.nan_counts != NULL, lists.nan_counts, pages, err));
    *out = index;
out:
    return rc;
}
