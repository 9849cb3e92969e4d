/*
 * The public Parquet file: opening, what the file says about itself, and its schema as Arrow.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_api.h"

/* ---- opening ---- */

static frz_code check_format(const frz_data_file *data, frz_error *err)
{
    if (frz_data_file_model(data) != &frz_parquet_model) {
        return frz_fail(err, FRZ_E_ARGUMENT, "%s is of format %s, expected parquet",
                        frz_data_file_location(data), frz_data_file_model(data)->name);
    }
    return FRZ_OK;
}

static frz_code use_native_type(frz_parquet_file *file, frz_error *err)
{
    frz_code rc = frz_parquet_native_type(file->data, &file->arena, &file->native, err);
    file->data->type = rc == FRZ_OK ? file->native : file->data->type;
    return rc;
}

static void file_free(frz_parquet_file *file)
{
    const frz_env *env = file->env;
    frz_data_file_close(file->data);
    frz_arena_reset(&file->arena);
    frz_free(env, file);
}

frz_code frz_parquet_file_open(const frz_env *env, const char *location, frz_parquet_file **out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file *file = frz_alloc_zero(env, 1, sizeof *file);
    if (file == NULL) {
        return frz_fail_nomem(err, sizeof *file);
    }
    file->env = env;
    atomic_init(&file->refs, 1);
    frz_arena_init(&file->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_data_file_open(env, location, NULL, &file->data, err));
    FRZ_TRY(check_format(file->data, err));
    FRZ_TRY(use_native_type(file, err));
    FRZ_TRY(parquet_api_find_parents(file, err));
    *out = file;
    file = NULL;
out:
    frz_parquet_file_close(file);
    return rc;
}

frz_parquet_file *parquet_api_ref(frz_parquet_file *file)
{
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    return file;
}

void frz_parquet_file_close(frz_parquet_file *file)
{
    if (file != NULL && atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1) {
        file_free(file);
    }
}

/* ---- what the file says ---- */

void frz_parquet_file_info_get(const frz_parquet_file *file, frz_parquet_file_info *out)
{
    const parquet_file *inner = parquet_api_inner(file);
    const parquet_metadata *m = &inner->metadata;
    int64_t size = (int64_t)frz_data_file_size(file->data);
    *out = (frz_parquet_file_info){
        .rows = m->num_rows,
        .file_size = size,
        .footer_size = size - (int64_t)inner->footer_start - PARQUET_TAIL_SIZE,
        .version = m->version,
        .created_by = parquet_api_bytes(m->created_by),
        .group_count = m->group_count,
        .column_count = inner->column_count,
        .node_count = m->element_count,
        .key_count = m->key_count,
    };
}

void frz_parquet_file_key(const frz_parquet_file *file, size_t i, frz_parquet_bytes *key,
                          frz_parquet_bytes *value)
{
    const parquet_metadata *m = &parquet_api_inner(file)->metadata;
    assert(i < m->key_count);
    *key = parquet_api_bytes(m->keys[i].key);
    *value = parquet_api_bytes(m->keys[i].value);
}

frz_code frz_parquet_file_schema(const frz_parquet_file *file, struct ArrowSchema *out,
                                 frz_error *err)
{
    frz_code rc = frz_parquet_native_to_arrow(file->env, file->data, file->native, out, err);
    return frz_context(err, rc, "reading %s", frz_data_file_location(file->data));
}
