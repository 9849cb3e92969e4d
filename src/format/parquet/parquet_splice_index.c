/*
 * What belongs to a chunk that is copied from another file and is not in its pages: the page index,
 * whose offsets are shifted to the new place, level and page counts, and the bloom filter. All of
 * it is optional: what is missing or doubtful there is missing here.
 */
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_statistics.h"
#include "format/parquet/parquet_writer_internal.h"

/* ---- how often levels occur ---- */

/* Counts of levels, those of some values after those of others. */
typedef struct level_counts {
    parquet_thrift t;
    size_t levels; /* 0: there are none */
} level_counts;

static level_counts level_counts_of(const parquet_encoded_list *list, uint8_t max)
{
    level_counts c = {.levels = list->count == 0 ? 0 : (size_t)max + 1};
    parquet_thrift_init(&c.t, (const uint8_t *)list->bytes.ptr, list->bytes.len, 0, NULL);
    return c;
}

/* The counts of the next values: how often level 0 occurs and how many levels there are in all.
 * False if they cannot be right. */
static bool next_counts(level_counts *c, int64_t *zeros, int64_t *all)
{
    bool good = true;
    *zeros = *all = 0;
    for (size_t i = 0; i < c->levels && good; i++) {
        int64_t count = parquet_thrift_i64(&c->t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I64));
        good = count >= 0 && frz_add_i64(*all, count, all);
        *zeros = i == 0 ? count : *zeros;
    }
    return good && c->t.rc == FRZ_OK;
}

/* Some values' counts of both levels: there are as many of each as there are values, and a row
 * begins with a repetition level of 0. values: -1 if only the counts tell. */
static bool counts_hold(level_counts *reps, level_counts *defs, int64_t rows, int64_t values)
{
    int64_t begun, of_reps, zeros, of_defs;
    if (!next_counts(reps, &begun, &of_reps) || !next_counts(defs, &zeros, &of_defs)) {
        return false;
    }
    if (reps->levels > 0 && (begun != rows || (values >= 0 && of_reps != values))) {
        return false;
    }
    if (defs->levels > 0 && (of_defs < rows || (values >= 0 && of_defs != values))) {
        return false;
    }
    return reps->levels == 0 || defs->levels == 0 || of_reps == of_defs;
}

static bool chunk_counts_hold(const parquet_chunk *chunk, const parquet_write_leaf *leaf,
                              int64_t rows)
{
    const parquet_size_statistics *sizes = &chunk->sizes;
    level_counts reps = level_counts_of(&sizes->repetition_levels, leaf->max_rep);
    level_counts defs = level_counts_of(&sizes->definition_levels, leaf->max_def);
    return (reps.levels == 0 || sizes->repetition_levels.count == reps.levels) &&
           (defs.levels == 0 || sizes->definition_levels.count == defs.levels) &&
           counts_hold(&reps, &defs, rows, chunk->num_values);
}

static bool page_counts_hold(const parquet_column_index *index, const parquet_offset_index *offsets,
                             const parquet_write_leaf *leaf)
{
    level_counts reps = level_counts_of(&index->rep_levels, leaf->max_rep);
    level_counts defs = level_counts_of(&index->def_levels, leaf->max_def);
    bool good = (reps.levels == 0 || index->rep_levels.count == index->count * reps.levels) &&
                (defs.levels == 0 || index->def_levels.count == index->count * defs.levels);
    for (size_t i = 0; i < index->count && good; i++) {
        int64_t rows = parquet_page_end_row(offsets, i) - offsets->pages[i].first_row;
        good = counts_hold(&reps, &defs, rows, leaf->max_rep == 0 ? rows : -1);
    }
    return good;
}

static void copy_counts(const parquet_chunk *from, const parquet_write_leaf *leaf, int64_t rows,
                        parquet_chunk *chunk)
{
    chunk->encoding_stats = from->encoding_stats;
    chunk->sizes.has_unencoded_bytes = leaf->physical == PARQUET_BYTE_ARRAY &&
                                       from->sizes.has_unencoded_bytes &&
                                       from->sizes.unencoded_bytes >= 0;
    chunk->sizes.unencoded_bytes =
        chunk->sizes.has_unencoded_bytes ? from->sizes.unencoded_bytes : 0;
    if (chunk_counts_hold(from, leaf, rows)) {
        chunk->sizes.repetition_levels = from->sizes.repetition_levels;
        chunk->sizes.definition_levels = from->sizes.definition_levels;
    }
}

/* ---- page index ---- */

/* A chunk that is copied: where it comes from and goes to. */
typedef struct copied {
    frz_parquet_writer *w;
    const parquet_write_leaf *leaf;
    const parquet_file *src;
    size_t group, column;
    const parquet_chunk *from;
    int64_t shift;
} copied;

static frz_code put_offset_index(const copied *c, const parquet_offset_index *index, frz_error *err)
{
    parquet_thrift_out t;
    parquet_put_begin(&t, &c->w->shared.offset_indexes, err);
    parquet_put_list(&t, 1, PARQUET_THRIFT_STRUCT, index->count);
    for (size_t i = 0; i < index->count; i++) {
        const parquet_page_location *page = &index->pages[i];
        parquet_put_item_struct(&t);
        parquet_put_i64(&t, 1, (int64_t)page->offset + c->shift);
        parquet_put_i32(&t, 2, (int32_t)page->size);
        parquet_put_i64(&t, 3, page->first_row);
        parquet_put_end(&t);
    }
    if (index->byte_sizes != NULL && c->leaf->physical == PARQUET_BYTE_ARRAY) {
        parquet_put_list(&t, 2, PARQUET_THRIFT_I64, index->count);
        for (size_t i = 0; i < index->count; i++) {
            parquet_put_item_i64(&t, index->byte_sizes[i]);
        }
    }
    parquet_put_end(&t);
    return t.rc;
}

/* Nothing in a column index depends on the place of the chunk. */
static bool column_index_holds(const copied *c, const parquet_column_index *index,
                               const parquet_offset_index *offsets)
{
    return index->boundary_order >= 0 && index->boundary_order <= 2 &&
           page_counts_hold(index, offsets, c->leaf) &&
           parquet_statistics_index_holds(c->src, c->column, index);
}

static frz_code copy_page_index(const copied *c, parquet_chunk *chunk, frz_error *err)
{
    parquet_write_shared *shared = &c->w->shared;
    const size_t column_start = shared->column_indexes.len;
    const size_t offset_start = shared->offset_indexes.len;
    frz_code rc = FRZ_OK;
    parquet_kept_index *offsets = NULL;
    parquet_kept_index *bounds = NULL;
    if (c->leaf->max_rep > 0 && !parquet_indexes_rows(&c->src->metadata)) {
        return FRZ_OK; /* under another writer's name it would be believed */
    }
    FRZ_TRY(parquet_offset_index_get(c->src, c->from, c->column, c->group, &offsets, err));
    if (offsets == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(put_offset_index(c, &offsets->offsets, err));
    FRZ_TRY(parquet_column_index_get(c->src, c->from, c->column, c->group, offsets->offsets.count,
                                     &bounds, err));
    if (bounds != NULL && column_index_holds(c, &bounds->bounds, &offsets->offsets)) {
        frz_str bytes = bounds->bounds.bytes;
        FRZ_TRY(frz_buf_append(&shared->column_indexes, bytes.ptr, bytes.len, err));
    }
    chunk->offset_index_length = (int32_t)(shared->offset_indexes.len - offset_start);
    chunk->column_index_length = (int32_t)(shared->column_indexes.len - column_start);
out:
    parquet_kept_index_unref(offsets);
    parquet_kept_index_unref(bounds);
    return rc;
}

/* ---- bloom filters ---- */

/* Remember a filter until its row group ends. */
static frz_code copy_bloom(const copied *c, size_t own, frz_error *err)
{
    frz_parquet_writer *w = c->w;
    frz_code rc = FRZ_OK;
    frz_arena arena;
    parquet_bloom bloom;
    bool present;
    frz_arena_init(&arena, w->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(
        parquet_bloom_load(c->src, c->from, c->column, c->group, &arena, &bloom, &present, err));
    if (!present) {
        goto out;
    }
    if (w->bloom_copies == NULL) {
        w->bloom_copies = frz_alloc_zero(w->env, w->schema.leaf_count, sizeof *w->bloom_copies);
    }
    if (w->bloom_copies == NULL) {
        rc = frz_fail_nomem(err, w->schema.leaf_count * sizeof *w->bloom_copies);
        goto out;
    }
    uint64_t start = (uint64_t)c->from->bloom_filter_offset;
    w->bloom_copies[own] =
        (parquet_bloom_copy){c->src->base.file, start, bloom.bits_at + bloom.bits_size - start};
out:
    frz_arena_reset(&arena);
    return rc;
}

frz_code parquet_splice_indexes(frz_parquet_writer *w, size_t own, const parquet_file *src,
                                size_t group, size_t column, const parquet_chunk *from,
                                parquet_chunk *chunk, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const copied c = {.w = w,
                      .leaf = &w->schema.leaves[own],
                      .src = src,
                      .group = group,
                      .column = column,
                      .from = from,
                      .shift = chunk->data_page_offset - from->data_page_offset};
    if (w->shared.opts.no_statistics) {
        return FRZ_OK;
    }
    copy_counts(from, c.leaf, src->metadata.groups[group].num_rows, chunk);
    if (!w->shared.opts.no_page_index) {
        FRZ_TRY(copy_page_index(&c, chunk, err));
    }
    FRZ_TRY(copy_bloom(&c, own, err));
out:
    return rc;
}
