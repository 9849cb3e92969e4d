/*
 * An open Parquet file and the table of functions that makes Parquet a format.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"

/* An arena of parsed structs may be this many times as large as the footer it came from. */
#define ARENA_PER_BYTE 64
#define ARENA_LEAST (1u << 20)

/* Every group has a chunk per column; the reader relies on it. */
static frz_code check_groups(const parquet_file *file, frz_error *err)
{
    for (size_t g = 0; g < file->metadata.group_count; g++) {
        const parquet_group *group = &file->metadata.groups[g];
        if (group->chunk_count != file->column_count) {
            return frz_fail(err, FRZ_E_CORRUPT, "row group %zu has %zu chunks for %zu columns", g,
                            group->chunk_count, file->column_count);
        }
    }
    return FRZ_OK;
}

/* Where a row group begins in the file: its first chunk, if it has one. */
static frz_code group_offset(const parquet_file *file, size_t group, int64_t *out, frz_error *err)
{
    parquet_chunk first;
    if (file->metadata.groups[group].chunk_count == 0) {
        *out = file->metadata.groups[group].file_offset;
        return FRZ_OK;
    }
    frz_code rc = parquet_file_chunk(file, group, 0, &first, err);
    if (rc == FRZ_OK) {
        *out = parquet_chunk_start(&first);
    }
    return frz_context(err, rc, "row group %zu", group);
}

static frz_code number_rows(parquet_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = file->metadata.group_count;
    file->group_ends = frz_arena_array(&file->arena, count, sizeof *file->group_ends);
    file->split_offsets = frz_arena_array(&file->arena, count, sizeof *file->split_offsets);
    if (file->group_ends == NULL || file->split_offsets == NULL) {
        return frz_fail_nomem(err, count * sizeof *file->group_ends);
    }
    for (size_t g = 0; g < count; g++) {
        const parquet_group *group = &file->metadata.groups[g];
        file->group_ends[g] = group->first_row + group->num_rows;
        FRZ_TRY(group_offset(file, g, &file->split_offsets[g], err));
    }
out:
    return rc;
}

static void file_close(frz_data_file *base)
{
    parquet_file *file = (parquet_file *)base;
    if (file != NULL) {
        const frz_env *env = file->base.env;
        frz_file_close(file->base.file);
        frz_arena_reset(&file->base.mapped);
        frz_arena_reset(&file->arena);
        frz_free(env, file);
    }
}

static frz_code file_open(const frz_env *env, frz_file *source, frz_data_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_file *file = frz_alloc_zero(env, 1, sizeof *file);
    if (file == NULL) {
        frz_file_close(source);
        return frz_fail_nomem(err, sizeof *file);
    }
    file->base = (frz_data_file){.model = &frz_parquet_model, .env = env, .file = source};
    size_t limit;
    if (!frz_mul_size((size_t)frz_file_size(source), ARENA_PER_BYTE, &limit) ||
        !frz_add_size(limit, ARENA_LEAST, &limit)) {
        limit = FRZ_ARENA_NO_LIMIT;
    }
    frz_arena_init(&file->arena, env, limit);
    frz_arena_init(&file->base.mapped, env, limit);
    FRZ_TRY(parquet_footer_read(source, &file->arena, &file->metadata, &file->footer_start, err));
    FRZ_TRY(parquet_schema_build(&file->arena, &file->metadata, &file->root, &file->columns,
                                 &file->column_count, err));
    FRZ_TRY(check_groups(file, err));
    FRZ_TRY(number_rows(file, err));
    file->base.type = file->root.type;
    *out = &file->base;
    file = NULL;
out:
    if (file != NULL) {
        rc = frz_context(err, rc, "reading %s", frz_file_location(source));
        file_close(&file->base);
    }
    return rc;
}

static int64_t file_row_count(const frz_data_file *base)
{
    return ((const parquet_file *)base)->metadata.num_rows;
}

static const frz_type *file_schema(const frz_data_file *base)
{
    return ((const parquet_file *)base)->root.type;
}

static const int64_t *file_group_ends(const frz_data_file *base, size_t *count)
{
    const parquet_file *file = (const parquet_file *)base;
    *count = file->metadata.group_count;
    return file->group_ends;
}

const parquet_node *parquet_file_node(const parquet_file *file, int32_t field_id)
{
    int64_t i = frz_type_index_of_id(file->base.type, field_id);
    return i < 0 ? NULL : &file->root.children[i];
}

static const uint8_t magic[4] = {'P', 'A', 'R', '1'};

const frz_format_model frz_parquet_model = {
    .name = "parquet",
    .magic = magic,
    .magic_size = sizeof magic,
    .open = file_open,
    .close = file_close,
    .row_count = file_row_count,
    .schema = file_schema,
    .group_ends = file_group_ends,
    .read = parquet_reader_open,
    .next = parquet_reader_next,
    .close_reader = parquet_reader_close,
};
