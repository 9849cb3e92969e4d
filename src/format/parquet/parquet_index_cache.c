/*
 * Page indexes of files, read once and kept in the environment's cache: a filter that prunes a file
 * and the reader that reads what is left want the same ones, and so does the next query.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_read.h"

/* Lists and structs of an index take at most so many times its bytes. */
#define ARENA_PER_BYTE 64
#define ARENA_LEAST (64u << 10)

frz_code parquet_ignore_damage(const parquet_file *file, size_t column, size_t group,
                               const char *what, frz_code code, const frz_error *why,
                               frz_error *err)
{
    if (code == FRZ_E_CORRUPT || code == FRZ_E_UNSUPPORTED || code == FRZ_E_LIMIT) {
        frz_log(file->base.env, "parquet", FRZ_LOG_WARN,
                "%s: column \"%s\", row group %zu: %s is not used: %s",
                frz_data_file_location(&file->base), file->columns[column].node->path, group, what,
                why->message);
        return FRZ_OK;
    }
    if (code != FRZ_OK && err != NULL) {
        *err = *why;
    }
    return code;
}

static void index_free(frz_cached *cached)
{
    parquet_kept_index *index = (parquet_kept_index *)cached;
    const frz_env *env = index->env;
    frz_free(env, (void *)(uintptr_t)index->cached.key.ptr);
    frz_arena_reset(&index->arena);
    frz_free(env, index);
}

void parquet_kept_index_unref(parquet_kept_index *index)
{
    frz_cached_unref(index == NULL ? NULL : &index->cached);
}

/* ---- reading ---- */

/* What an index is of. */
typedef struct index_place {
    const parquet_file *file;
    const parquet_chunk *chunk;
    size_t column, group;
    bool of_columns; /* a column index */
    size_t pages;    /* then: as many */
    int64_t offset;
    int32_t length;
} index_place;

/* The bytes of an index lie somewhere before the footer. */
static frz_code read_bytes(const index_place *at, frz_arena *arena, frz_str *out, frz_error *err)
{
    const parquet_file *file = at->file;
    uint64_t end = file->footer_start;
    if (at->offset <= 0 || at->length <= 0 || (uint64_t)at->offset > end ||
        (uint64_t)at->length > end - (uint64_t)at->offset) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%" PRId32 " bytes at byte %" PRId64 ", data ends at byte %" PRIu64,
                        at->length, at->offset, end);
    }
    char *bytes = frz_arena_alloc(arena, (size_t)at->length);
    if (bytes == NULL) {
        return frz_fail_nomem(err, (size_t)at->length);
    }
    *out = (frz_str){bytes, (size_t)at->length};
    return frz_file_read(file->base.file, (uint64_t)at->offset, bytes, (size_t)at->length, err);
}

static frz_code parse(const index_place *at, frz_str bytes, parquet_kept_index *index,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t first;
    uint64_t end;
    if (at->of_columns) {
        return parquet_column_index_parse(&index->arena, bytes, (uint64_t)at->offset, at->pages,
                                          &index->bounds, err);
    }
    FRZ_TRY(parquet_chunk_range(at->file, at->chunk, &first, &end, err));
    FRZ_TRY(parquet_offset_index_parse(&index->arena, bytes, (uint64_t)at->offset, first, end,
                                       at->file->metadata.groups[at->group].num_rows,
                                       &index->offsets, err));
out:
    return rc;
}

/* key moves into the index, also on failure. */
static frz_code load(const index_place *at, frz_str key, parquet_kept_index **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = at->file->base.env;
    frz_str bytes;
    size_t limit = (size_t)FRZ_MAX(at->length, 0) * ARENA_PER_BYTE + ARENA_LEAST;
    parquet_kept_index *index = frz_alloc_zero(env, 1, sizeof *index);
    if (index == NULL) {
        frz_free(env, (void *)(uintptr_t)key.ptr);
        return frz_fail_nomem(err, sizeof *index);
    }
    index->cached = (frz_cached){.key = key, .free = index_free, .refs = 1};
    index->env = env;
    index->offset = at->offset;
    index->length = at->length;
    frz_arena_init(&index->arena, env, limit);
    FRZ_TRY(read_bytes(at, &index->arena, &bytes, err));
    FRZ_TRY(parse(at, bytes, index, err));
    index->cached.bytes = sizeof *index + key.len + index->arena.used;
    *out = index;
    index = NULL;
out:
    parquet_kept_index_unref(index);
    return rc;
}

/*
 * What was kept is believed only if it goes with the footer at hand, which readers rely on: a file
 * that was changed in its place while it was open has its old footer and indexes under its new
 * identity.
 */
static bool fits(const index_place *at, const parquet_kept_index *index)
{
    uint64_t first;
    uint64_t end;
    if (index->offset != at->offset || index->length != at->length) {
        return false;
    }
    if (at->of_columns) {
        return index->bounds.count == at->pages;
    }
    const parquet_offset_index *offsets = &index->offsets;
    const parquet_page_location *last = &offsets->pages[offsets->count - 1];
    return offsets->rows == at->file->metadata.groups[at->group].num_rows &&
           parquet_chunk_range(at->file, at->chunk, &first, &end, NULL) == FRZ_OK &&
           offsets->pages[0].offset >= first && last->offset + last->size <= end;
}

/* NULL: there is none, or none that fits. */
static parquet_kept_index *get_kept(const index_place *at, frz_str key)
{
    const frz_env *env = at->file->base.env;
    frz_cached *found = key.ptr == NULL ? NULL : frz_cache_get(env, key);
    if (found != NULL && !fits(at, (parquet_kept_index *)found)) {
        frz_cache_drop(env, found);
        frz_cached_unref(found);
        found = NULL;
    }
    return (parquet_kept_index *)found;
}

static frz_code get(const index_place *at, parquet_kept_index **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = at->file->base.env;
    char kind[96];
    frz_str key;
    snprintf(kind, sizeof kind, "parquet %s index %zu %zu", at->of_columns ? "column" : "offset",
             at->column, at->group);
    FRZ_TRY(frz_file_cache_key(at->file->base.file, kind, &key, err));
    parquet_kept_index *kept = get_kept(at, key);
    if (kept != NULL) {
        frz_free(env, (void *)(uintptr_t)key.ptr);
        *out = kept;
        return FRZ_OK;
    }
    FRZ_TRY(load(at, key, out, err));
    if (key.ptr != NULL) {
        frz_cache_put(env, &(*out)->cached);
    }
out:
    return rc;
}

static frz_code get_optional(const index_place *at, parquet_kept_index **out, frz_error *err)
{
    frz_error why = {0};
    *out = NULL;
    if (at->offset == 0 || at->chunk->encrypted || at->chunk->file_path.len > 0) {
        return FRZ_OK;
    }
    frz_code rc = get(at, out, &why);
    return parquet_ignore_damage(at->file, at->column, at->group,
                                 at->of_columns ? "the column index" : "the offset index", rc, &why,
                                 err);
}

frz_code parquet_offset_index_get(const parquet_file *file, const parquet_chunk *chunk,
                                  size_t column, size_t group, parquet_kept_index **out,
                                  frz_error *err)
{
    index_place at = {.file = file,
                      .chunk = chunk,
                      .column = column,
                      .group = group,
                      .offset = chunk->offset_index_offset,
                      .length = chunk->offset_index_length};
    return get_optional(&at, out, err);
}

frz_code parquet_column_index_get(const parquet_file *file, const parquet_chunk *chunk,
                                  size_t column, size_t group, size_t pages,
                                  parquet_kept_index **out, frz_error *err)
{
    index_place at = {.file = file,
                      .chunk = chunk,
                      .column = column,
                      .group = group,
                      .of_columns = true,
                      .pages = pages,
                      .offset = chunk->column_index_offset,
                      .length = chunk->column_index_length};
    return get_optional(&at, out, err);
}
