/*
 * What the file tells about the pages of a chunk: the offset index (where each page is and at which
 * row it begins), the column index (bounds and counts per page), and how often each level occurs.
 * Pages are noted one by one, and encoded when the chunk is complete and its place is known.
 *
 * A page that has values but no bounds (NaN alone, a string without successor, an undefined order)
 * leaves the chunk without a column index, since bounds are not optional there.
 * spec: parquet.thrift, OffsetIndex, ColumnIndex and SizeStatistics; Page Index
 */
#include "format/parquet/parquet_write.h"

typedef enum boundary_order { UNORDERED = 0, ASCENDING = 1, DESCENDING = 2 } boundary_order;

/* A page that was noted. */
typedef struct index_page {
    uint64_t offset; /* from the first data page */
    size_t size;
    int64_t first_row, nulls, nans, bytes;
    size_t lower_at, lower_len, upper_at, upper_len; /* in the buffer of bounds */
    bool only_nulls;
} index_page;

static size_t page_count(const parquet_index_out *index)
{
    return index->pages.len / sizeof(index_page);
}

static const index_page *page_at(const parquet_index_out *index, size_t i)
{
    return (const index_page *)(const void *)index->pages.data + i;
}

void parquet_index_out_init(parquet_index_out *index, const frz_env *env,
                            const parquet_write_leaf *leaf)
{
    *index = (parquet_index_out){.leaf = leaf};
    frz_buf_init(&index->pages, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&index->bounds, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&index->levels, env, FRZ_BUF_NO_LIMIT);
    parquet_index_out_reset(index);
}

void parquet_index_out_reset(parquet_index_out *index)
{
    frz_buf_reset(&index->pages);
    frz_buf_reset(&index->bounds);
    frz_buf_reset(&index->levels);
    index->rows = 0;
    index->has_bounds = index->leaf->order != PARQUET_BOUND_NONE;
    index->ascending = index->descending = true;
    index->last = SIZE_MAX;
}

/* ---- levels ---- */

/* Counts of repetition levels are kept where there are lists, of definition levels where the null
 * count does not tell them. */
static size_t rep_slots(const parquet_write_leaf *leaf)
{
    return leaf->max_rep > 0 ? (size_t)leaf->max_rep + 1 : 0;
}

static size_t def_slots(const parquet_write_leaf *leaf)
{
    return leaf->max_def > 1 ? (size_t)leaf->max_def + 1 : 0;
}

/* The first counts are those of the chunk, then come those of the pages if an index wants them. */
static frz_code note_levels(parquet_index_out *index, const parquet_level_buffer *rep,
                            const parquet_level_buffer *def, bool by_page, frz_error *err)
{
    const size_t reps = rep_slots(index->leaf);
    const size_t slots = reps + def_slots(index->leaf);
    const size_t bytes = slots * sizeof(int64_t);
    frz_buf *levels = &index->levels;
    frz_code rc = FRZ_OK;
    if (slots == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_buf_reserve(levels, 2 * bytes, err));
    if (levels->len == 0) {
        memset(levels->data, 0, bytes);
        levels->len = bytes;
    }
    int64_t *page = (int64_t *)(void *)(levels->data + levels->len);
    int64_t *chunk = (int64_t *)(void *)levels->data;
    memset(page, 0, bytes);
    parquet_levels_count(rep, reps, page);
    parquet_levels_count(def, slots - reps, page + reps);
    for (size_t i = 0; i < slots; i++) {
        chunk[i] += page[i];
    }
    levels->len += by_page ? bytes : 0;
out:
    return rc;
}

/* ---- pages ---- */

/* Empty for a page of nulls. The buffer has no memory while all bounds are empty. */
static frz_str bound_at(const parquet_index_out *index, size_t at, size_t len)
{
    return len == 0 ? FRZ_STR("") : (frz_str){(const char *)index->bounds.data + at, len};
}

static int compare_bounds(const parquet_index_out *index, size_t a_at, size_t a_len, size_t b_at,
                          size_t b_len)
{
    return parquet_bound_compare_encoded(index->leaf->order, bound_at(index, a_at, a_len),
                                         bound_at(index, b_at, b_len));
}

/* Readers search by the order of both lists; pages of nulls have no place in it. */
static void note_order(parquet_index_out *index, const index_page *page)
{
    if (index->last != SIZE_MAX) {
        const index_page *last = page_at(index, index->last);
        int lower =
            compare_bounds(index, last->lower_at, last->lower_len, page->lower_at, page->lower_len);
        int upper =
            compare_bounds(index, last->upper_at, last->upper_len, page->upper_at, page->upper_len);
        index->ascending = index->ascending && lower <= 0 && upper <= 0;
        index->descending = index->descending && lower >= 0 && upper >= 0;
    }
    index->last = page_count(index);
}

static frz_code note_bound(parquet_index_out *index, const parquet_write_bounds *bounds, bool upper,
                           size_t *at, size_t *len, frz_error *err)
{
    parquet_bound_out bound;
    parquet_bound_encode(index->leaf, bounds, upper, &bound);
    if (bound.bytes.ptr == NULL) {
        index->has_bounds = false;
        return FRZ_OK;
    }
    *at = index->bounds.len;
    *len = bound.bytes.len;
    return frz_buf_append(&index->bounds, bound.bytes.ptr, bound.bytes.len, err);
}

static frz_code note_page(parquet_index_out *index, const parquet_index_page *page, frz_error *err)
{
    frz_code rc = FRZ_OK;
    index_page p = {
        .offset = page->offset,
        .size = page->size,
        .first_row = index->rows,
        .nulls = page->nulls,
        .nans = page->stats->nans,
        .bytes = page->stats->bytes,
        .only_nulls = page->values == 0,
    };
    if (index->has_bounds && !p.only_nulls) {
        const parquet_write_bounds *bounds = &page->stats->bounds;
        FRZ_TRY(note_bound(index, bounds, false, &p.lower_at, &p.lower_len, err));
        FRZ_TRY(note_bound(index, bounds, true, &p.upper_at, &p.upper_len, err));
    }
    if (index->has_bounds && !p.only_nulls) {
        note_order(index, &p);
    }
    FRZ_TRY(frz_buf_append(&index->pages, &p, sizeof p, err));
    index->rows += page->rows;
out:
    return rc;
}

frz_code parquet_index_out_add(parquet_index_out *index, const parquet_index_page *page,
                               const parquet_level_buffer *rep, const parquet_level_buffer *def,
                               bool by_page, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(note_levels(index, rep, def, by_page, err));
    if (by_page) {
        FRZ_TRY(note_page(index, page, err));
    }
out:
    return rc;
}

size_t parquet_index_out_pending(const parquet_index_out *index)
{
    return index->pages.len + index->bounds.len + index->levels.len;
}

/* ---- encoding ---- */

static void put_offset_index(parquet_thrift_out *t, const parquet_index_out *index,
                             uint64_t first_page)
{
    const size_t count = page_count(index);
    parquet_put_list(t, 1, PARQUET_THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        const index_page *p = page_at(index, i);
        parquet_put_item_struct(t);
        parquet_put_i64(t, 1, (int64_t)(first_page + p->offset));
        parquet_put_i32(t, 2, (int32_t)p->size);
        parquet_put_i64(t, 3, p->first_row);
        parquet_put_end(t);
    }
    if (index->leaf->physical == PARQUET_BYTE_ARRAY) {
        parquet_put_list(t, 2, PARQUET_THRIFT_I64, count);
        for (size_t i = 0; i < count; i++) {
            parquet_put_item_i64(t, page_at(index, i)->bytes);
        }
    }
    parquet_put_end(t);
}

static void put_bounds(parquet_thrift_out *t, const parquet_index_out *index, int16_t id,
                       bool upper)
{
    const size_t count = page_count(index);
    parquet_put_list(t, id, PARQUET_THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++) {
        const index_page *p = page_at(index, i);
        parquet_put_item_binary(t, upper ? bound_at(index, p->upper_at, p->upper_len)
                                         : bound_at(index, p->lower_at, p->lower_len));
    }
}

static void put_counts(parquet_thrift_out *t, const parquet_index_out *index, int16_t id, bool nans)
{
    const size_t count = page_count(index);
    parquet_put_list(t, id, PARQUET_THRIFT_I64, count);
    for (size_t i = 0; i < count; i++) {
        const index_page *p = page_at(index, i);
        parquet_put_item_i64(t, nans ? p->nans : p->nulls);
    }
}

/* Counts of the levels from first on, of every page. */
static void put_levels(parquet_thrift_out *t, const parquet_index_out *index, int16_t id,
                       size_t first, size_t slots)
{
    const size_t all = rep_slots(index->leaf) + def_slots(index->leaf);
    const size_t count = page_count(index);
    if (slots == 0) {
        return; /* nor is there memory for any */
    }
    const int64_t *pages = (const int64_t *)(const void *)index->levels.data + all;
    parquet_put_list(t, id, PARQUET_THRIFT_I64, count * slots);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < slots; k++) {
            parquet_put_item_i64(t, pages[i * all + first + k]);
        }
    }
}

static void put_column_index(parquet_thrift_out *t, const parquet_index_out *index)
{
    const parquet_write_leaf *leaf = index->leaf;
    const size_t count = page_count(index);
    const size_t reps = rep_slots(leaf);
    boundary_order order = index->ascending    ? ASCENDING
                           : index->descending ? DESCENDING
                                               : UNORDERED;
    parquet_put_list(t, 1, PARQUET_THRIFT_TRUE, count);
    for (size_t i = 0; i < count; i++) {
        parquet_put_item_bool(t, page_at(index, i)->only_nulls);
    }
    put_bounds(t, index, 2, false);
    put_bounds(t, index, 3, true);
    parquet_put_i32(t, 4, (int32_t)order);
    put_counts(t, index, 5, false);
    put_levels(t, index, 6, 0, reps);
    put_levels(t, index, 7, reps, def_slots(leaf));
    if (parquet_bound_is_float(leaf->order)) {
        put_counts(t, index, 8, true);
    }
    parquet_put_end(t);
}

frz_code parquet_index_out_write(const parquet_index_out *index, uint64_t first_page,
                                 frz_buf *column_index, frz_buf *offset_index, frz_error *err)
{
    parquet_thrift_out t;
    frz_code rc = FRZ_OK;
    if (page_count(index) == 0) {
        return FRZ_OK;
    }
    if (index->has_bounds) {
        parquet_put_begin(&t, column_index, err);
        put_column_index(&t, index);
        FRZ_TRY(t.rc);
    }
    parquet_put_begin(&t, offset_index, err);
    put_offset_index(&t, index, first_page);
    FRZ_TRY(t.rc);
out:
    return rc;
}

/* ---- levels of the chunk ---- */

static frz_code encode_counts(const int64_t *counts, size_t count, frz_arena *arena, frz_buf *room,
                              parquet_encoded_list *out, frz_error *err)
{
    parquet_thrift_out t;
    frz_buf_clear(room);
    parquet_put_begin(&t, room, err);
    for (size_t i = 0; i < count; i++) {
        parquet_put_item_i64(&t, counts[i]);
    }
    out->count = count;
    return t.rc != FRZ_OK ? t.rc : frz_arena_str(arena, frz_buf_view(room), &out->bytes, err);
}

frz_code parquet_index_out_sizes(const parquet_index_out *index, int64_t bytes, frz_arena *arena,
                                 frz_buf *room, parquet_size_statistics *out, frz_error *err)
{
    const size_t reps = rep_slots(index->leaf);
    const size_t defs = def_slots(index->leaf);
    const int64_t *counts = (const int64_t *)(const void *)index->levels.data;
    frz_code rc = FRZ_OK;
    out->has_unencoded_bytes = index->leaf->physical == PARQUET_BYTE_ARRAY;
    out->unencoded_bytes = out->has_unencoded_bytes ? bytes : 0;
    if (reps > 0) {
        FRZ_TRY(encode_counts(counts, reps, arena, room, &out->repetition_levels, err));
    }
    if (defs > 0) {
        FRZ_TRY(encode_counts(counts + reps, defs, arena, room, &out->definition_levels, err));
    }
out:
    return rc;
}
