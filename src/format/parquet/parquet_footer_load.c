/*
 * Loading a footer: finding it at the end of the file, parsing it, and everything that follows from
 * it alone. Opening a file again finds it in the environment's cache.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"

#define FIRST_READ (64u << 10) /* usually holds the whole footer */
#define MAX_FOOTER (1u << 30)

/* An arena of parsed structs may be this many times as large as the footer it came from. */
#define ARENA_PER_BYTE 64
#define ARENA_LEAST (1u << 20)

static const uint8_t magic_plain[4] = {'P', 'A', 'R', '1'};
static const uint8_t magic_encrypted[4] = {'P', 'A', 'R', 'E'};

/* ---- the bytes ---- */

static frz_code check_tail(const uint8_t *tail, uint64_t file_size, uint32_t *footer_len,
                           frz_error *err)
{
    if (memcmp(tail + 4, magic_encrypted, sizeof magic_encrypted) == 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted Parquet footer");
    }
    if (memcmp(tail + 4, magic_plain, sizeof magic_plain) != 0) {
        return frz_fail_at(err, FRZ_E_CORRUPT, file_size - 4,
                           "a Parquet file ends with PAR1, found bytes %02x %02x %02x %02x",
                           tail[4], tail[5], tail[6], tail[7]);
    }
    *footer_len = frz_load_le32(tail);
    if (*footer_len > file_size - PARQUET_TAIL_SIZE - sizeof magic_plain) {
        return frz_fail_at(err, FRZ_E_CORRUPT, file_size - PARQUET_TAIL_SIZE,
                           "footer length %u exceeds the file of %llu bytes", *footer_len,
                           (unsigned long long)file_size);
    }
    if (*footer_len > MAX_FOOTER) {
        return frz_fail(err, FRZ_E_LIMIT, "footer of %u bytes, at most %u are read", *footer_len,
                        MAX_FOOTER);
    }
    return FRZ_OK;
}

/* The bytes of the footer, of which the last len + PARQUET_TAIL_SIZE bytes of the file consist;
 * the last first bytes of the file are there already. */
static frz_code read_rest(const frz_file *file, parquet_footer *footer, const uint8_t *last,
                          size_t first, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t have = FRZ_MIN(first - PARQUET_TAIL_SIZE, len);
    footer->bytes = frz_alloc(footer->env, len);
    if (footer->bytes == NULL) {
        return frz_fail_nomem(err, len);
    }
    frz_memory_fills(footer->bytes, len);
    if (have < len) {
        FRZ_TRY(frz_file_read(file, footer->start, footer->bytes, len - have, err));
    }
    if (have > 0) {
        memcpy(footer->bytes + (len - have), last + (first - PARQUET_TAIL_SIZE - have), have);
    }
out:
    return rc;
}

static frz_code read_bytes(const frz_file *file, parquet_footer *footer, size_t *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t size = frz_file_size(file);
    uint8_t *last = NULL;
    uint32_t len = 0;
    if (size < sizeof magic_plain + PARQUET_TAIL_SIZE) {
        return frz_fail(err, FRZ_E_CORRUPT, "a file of %llu bytes is too short for Parquet",
                        (unsigned long long)size);
    }
    size_t first = (size_t)FRZ_MIN(size, FIRST_READ);
    last = frz_alloc(footer->env, first);
    if (last == NULL) {
        rc = frz_fail_nomem(err, first);
        goto out;
    }
    FRZ_TRY(frz_file_read(file, size - first, last, first, err));
    FRZ_TRY(check_tail(last + first - PARQUET_TAIL_SIZE, size, &len, err));
    footer->start = size - PARQUET_TAIL_SIZE - len;
    FRZ_TRY(read_rest(file, footer, last, first, len, err));
    *out = len;
out:
    frz_free(footer->env, last);
    return rc;
}

/* ---- what follows from it ---- */

/* Every group has a chunk per column; the reader relies on it. */
static frz_code check_groups(const parquet_footer *footer, frz_error *err)
{
    for (size_t g = 0; g < footer->metadata.group_count; g++) {
        size_t count = footer->metadata.groups[g].chunk_count;
        if (count != footer->column_count) {
            return frz_fail(err, FRZ_E_CORRUPT, "row group %zu has %zu chunks for %zu columns", g,
                            count, footer->column_count);
        }
    }
    return FRZ_OK;
}

/* Where a row group begins in the file: its first chunk, if it has one. */
static frz_code group_offset(const parquet_metadata *metadata, size_t group, int64_t *out,
                             frz_error *err)
{
    parquet_chunk first;
    if (metadata->groups[group].chunk_count == 0) {
        *out = metadata->groups[group].file_offset;
        return FRZ_OK;
    }
    frz_code rc = parquet_metadata_chunk(metadata, group, 0, &first, err);
    if (rc == FRZ_OK) {
        *out = parquet_chunk_start(&first);
    }
    return frz_context(err, rc, "row group %zu", group);
}

static frz_code number_rows(parquet_footer *footer, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = footer->metadata.group_count;
    footer->group_ends = frz_arena_array(&footer->arena, count, sizeof *footer->group_ends);
    footer->split_offsets = frz_arena_array(&footer->arena, count, sizeof *footer->split_offsets);
    if (footer->group_ends == NULL || footer->split_offsets == NULL) {
        return frz_fail_nomem(err, count * sizeof *footer->group_ends);
    }
    for (size_t g = 0; g < count; g++) {
        const parquet_group *group = &footer->metadata.groups[g];
        footer->group_ends[g] = group->first_row + group->num_rows;
        FRZ_TRY(group_offset(&footer->metadata, g, &footer->split_offsets[g], err));
    }
out:
    return rc;
}

static void footer_free(frz_cached *cached)
{
    parquet_footer *footer = (parquet_footer *)cached;
    const frz_env *env = footer->env;
    frz_free(env, (void *)(uintptr_t)footer->cached.key.ptr);
    frz_arena_reset(&footer->arena);
    frz_free(env, footer->bytes);
    frz_free(env, footer);
}

void parquet_footer_unref(parquet_footer *footer)
{
    frz_cached_unref(footer == NULL ? NULL : &footer->cached);
}

/* key moves into the footer, also on failure. */
static frz_code load(const frz_env *env, const frz_file *file, frz_str key, parquet_footer **out,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t len = 0;
    size_t limit;
    parquet_footer *footer = frz_alloc_zero(env, 1, sizeof *footer);
    if (footer == NULL) {
        frz_free(env, (void *)(uintptr_t)key.ptr);
        return frz_fail_nomem(err, sizeof *footer);
    }
    footer->cached = (frz_cached){.key = key, .free = footer_free, .refs = 1};
    footer->env = env;
    rc = frz_context(err, read_bytes(file, footer, &len, err), "Parquet footer");
    FRZ_TRY(rc);
    if (!frz_mul_size(len, ARENA_PER_BYTE, &limit) || !frz_add_size(limit, ARENA_LEAST, &limit)) {
        limit = FRZ_ARENA_NO_LIMIT;
    }
    frz_arena_init(&footer->arena, env, limit);
    FRZ_TRY(parquet_footer_parse(&footer->arena, (frz_str){(const char *)footer->bytes, len},
                                 footer->start, &footer->metadata, err));
    FRZ_TRY(parquet_schema_build(&footer->arena, &footer->metadata, &footer->root, &footer->columns,
                                 &footer->column_count, err));
    FRZ_TRY(check_groups(footer, err));
    FRZ_TRY(number_rows(footer, err));
    footer->cached.bytes = sizeof *footer + key.len + len + footer->arena.used;
    *out = footer;
    footer = NULL;
out:
    parquet_footer_unref(footer);
    return rc;
}

frz_code parquet_footer_get(const frz_env *env, const frz_file *file, parquet_footer **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str key = {NULL, 0};
    FRZ_TRY(frz_file_cache_key(file, "parquet footer", &key, err));
    frz_cached *found = key.ptr == NULL ? NULL : frz_cache_get(env, key);
    if (found != NULL) {
        frz_free(env, (void *)(uintptr_t)key.ptr);
        *out = (parquet_footer *)found;
        return FRZ_OK;
    }
    FRZ_TRY(load(env, file, key, out, err));
    if (key.ptr != NULL) {
        frz_cache_put(env, &(*out)->cached);
    }
out:
    return rc;
}
