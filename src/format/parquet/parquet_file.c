/*
 * An open Parquet file and the table of functions that makes Parquet a format.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"
#include "format/parquet/parquet_prune.h"

static void file_close(frz_data_file *base)
{
    parquet_file *file = (parquet_file *)base;
    if (file != NULL) {
        const frz_env *env = file->base.env;
        frz_file_close(file->base.file);
        frz_arena_reset(&file->base.mapped);
        parquet_footer_unref(file->footer);
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
    frz_arena_init(&file->base.mapped, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(parquet_footer_get(env, source, &file->footer, err));
    const parquet_footer *footer = file->footer;
    file->metadata = footer->metadata;
    file->footer_start = footer->start;
    file->root = footer->root;
    file->columns = footer->columns;
    file->column_count = footer->column_count;
    file->group_ends = footer->group_ends;
    file->split_offsets = footer->split_offsets;
    file->base.type = footer->root.type;
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

static frz_str file_metadata(const frz_data_file *base, frz_str key)
{
    const parquet_metadata *m = &((const parquet_file *)base)->metadata;
    for (size_t i = 0; i < m->key_count; i++) {
        if (frz_str_equal(m->keys[i].key, key)) {
            return m->keys[i].value;
        }
    }
    return (frz_str){NULL, 0};
}

static const int64_t *file_group_ends(const frz_data_file *base, size_t *count)
{
    const parquet_file *file = (const parquet_file *)base;
    *count = file->metadata.group_count;
    return file->group_ends;
}

static const int64_t *file_group_starts(const frz_data_file *base, size_t *count)
{
    const parquet_file *file = (const parquet_file *)base;
    *count = file->metadata.group_count;
    return file->split_offsets;
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
    .metadata = file_metadata,
    .group_ends = file_group_ends,
    .group_starts = file_group_starts,
    .read = parquet_reader_open,
    .next = parquet_reader_next,
    .close_reader = parquet_reader_close,
    .prune = parquet_file_prune,
};
