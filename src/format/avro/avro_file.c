/*
 * An open Avro file and the table of functions that makes Avro a format.
 */
#include "format/avro/avro.h"
#include "format/avro/avro_internal.h"

static void file_close(frz_data_file *base)
{
    avro_file *file = (avro_file *)base;
    if (file != NULL) {
        const frz_env *env = file->base.env;
        frz_file_close(file->base.file);
        frz_arena_reset(&file->base.mapped);
        frz_arena_reset(&file->arena);
        frz_free(env, file->header.pairs);
        frz_free(env, file->index.runs);
        frz_free(env, file->group_ends);
        avro_layout_unref(file->layout);
        frz_free(env, file);
    }
}

static frz_code load(avro_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_window window;
    avro_window_init(&window, file->base.env, file->base.file);
    FRZ_TRY(avro_header_read(&file->arena, &window, &file->header, err));
    const avro_pair *schema = avro_header_find(&file->header, FRZ_STR("avro.schema"));
    if (schema == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the file's metadata has no avro.schema");
        goto out;
    }
    FRZ_TRY(avro_layout_get(file->base.env, schema->value, schema->offset, &file->layout, err));
    file->base.type = file->layout->root.type;
    FRZ_TRY(avro_index_build(file, &window, err));
out:
    avro_window_reset(&window);
    return rc;
}

static frz_code file_open(const frz_env *env, frz_file *source, frz_data_file **out, frz_error *err)
{
    avro_file *file = frz_alloc_zero(env, 1, sizeof *file);
    if (file == NULL) {
        frz_file_close(source);
        return frz_fail_nomem(err, sizeof *file);
    }
    file->base = (frz_data_file){.model = &frz_avro_model, .env = env, .file = source};
    frz_arena_init(&file->base.mapped, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&file->arena, env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = load(file, err);
    if (rc != FRZ_OK) {
        frz_context(err, rc, "reading %s", frz_file_location(source));
        file_close(&file->base);
        return rc;
    }
    *out = &file->base;
    return FRZ_OK;
}

static int64_t file_row_count(const frz_data_file *base)
{
    return ((const avro_file *)base)->index.row_count;
}

static const frz_type *file_schema(const frz_data_file *base)
{
    return ((const avro_file *)base)->layout->root.type;
}

static frz_str file_metadata(const frz_data_file *base, frz_str key)
{
    const avro_pair *pair = avro_header_find(&((const avro_file *)base)->header, key);
    return pair == NULL ? (frz_str){NULL, 0} : pair->value;
}

static const int64_t *file_group_ends(const frz_data_file *base, size_t *count)
{
    const avro_file *file = (const avro_file *)base;
    *count = file->group_count;
    return file->group_ends;
}

static const uint8_t magic[4] = {'O', 'b', 'j', 1};

const frz_format_model frz_avro_model = {
    .name = "avro",
    .magic = magic,
    .magic_size = sizeof magic,
    .open = file_open,
    .close = file_close,
    .row_count = file_row_count,
    .schema = file_schema,
    .metadata = file_metadata,
    .group_ends = file_group_ends,
    .read = avro_reader_open,
    .next = avro_reader_next,
    .close_reader = avro_reader_close,
};
