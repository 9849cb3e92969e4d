/*
 * What belongs to a chunk that is copied from another file and is not in its pages: the page index,
 * whose offsets are shifted to the new place, level and page counts, and the bloom filter. All of
 * it is optional: what is missing or doubtful there is missing here.
 */
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_statistics.h"
#include "format/parquet/parquet_writer_internal.h"

/* ---- counts ---- */

static parquet_encoded_list list_of(parquet_encoded_list list, size_t count)
{
    return list.count == count ? list : (parquet_encoded_list){{NULL, 0}, 0};
}

static void copy_counts(const parquet_chunk *from, const parquet_write_leaf *leaf,
                        parquet_chunk *chunk)
{
    chunk->encoding_stats = from->encoding_stats;
    chunk->sizes.has_unencoded_bytes = leaf->physical == PARQUET_BYTE_ARRAY &&
                                       from->sizes.has_unencoded_bytes &&
                                       from->sizes.unencoded_bytes >= 0;
    chunk->sizes.unencoded_bytes =
        chunk->sizes.has_unencoded_bytes ? from->sizes.unencoded_bytes : 0;
    chunk->sizes.repetition_levels =
        list_of(from->sizes.repetition_levels, (size_t)leaf->max_rep + 1);
    chunk->sizes.definition_levels =
        list_of(from->sizes.definition_levels, (size_t)leaf->max_def + 1);
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
static bool column_index_holds(const copied *c, const parquet_column_index *index)
{
    const size_t reps = index->count * ((size_t)c->leaf->max_rep + 1);
    const size_t defs = index->count * ((size_t)c->leaf->max_def + 1);
    return index->boundary_order >= 0 && index->boundary_order <= 2 &&
           (index->rep_count == 0 || index->rep_count == reps) &&
           (index->def_count == 0 || index->def_count == defs) &&
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
    FRZ_TRY(parquet_offset_index_get(c->src, c->from, c->column, c->group, &offsets, err));
    if (offsets == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(put_offset_index(c, &offsets->offsets, err));
    FRZ_TRY(parquet_column_index_get(c->src, c->from, c->column, c->group, offsets->offsets.count,
                                     &bounds, err));
    if (bounds != NULL && column_index_holds(c, &bounds->bounds)) {
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
    copy_counts(from, c.leaf, chunk);
    if (!w->shared.opts.no_page_index) {
        FRZ_TRY(copy_page_index(&c, chunk, err));
    }
    FRZ_TRY(copy_bloom(&c, own, err));
out:
    return rc;
}
