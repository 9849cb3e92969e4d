/*
 * The public Avro file: what a file says about itself, and its rows as a stream.
 *
 * Files need not have field ids, and may use one twice. So columns are asked for by ids of their
 * own; the file's ids are only shown.
 */
#include "format/avro/avro.h"
#include "format/avro/avro_internal.h"
#include "frazil/avro.h"
#include "type/type_pick.h"

struct frz_avro_file {
    const frz_env *env;
    _Atomic int64_t refs; /* its owner's and one per stream */
    frz_data_file *data;  /* an avro_file */
    frz_arena arena;
    const frz_type *native; /* with ids from 1 on */
    int32_t *ids;           /* those of the file, by these */
};

typedef struct avro_rows {
    frz_avro_file *file;
    frz_arena arena;
    const frz_type *type;
    frz_row_range range;
    frz_data_reader *reader;
} avro_rows;

static const avro_file *inner_of(const frz_avro_file *file)
{
    return (const avro_file *)file->data;
}

/* ---- opening ---- */

/* The file's ids by those of the native type, which is a tree of the same shape. */
static void note_ids(frz_avro_file *file, const frz_type *own, const frz_type *native)
{
    for (size_t i = 0; i < own->field_count; i++) {
        file->ids[native->fields[i].id] = own->fields[i].id;
        note_ids(file, own->fields[i].type, native->fields[i].type);
    }
}

static frz_code use_native_type(frz_avro_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t last = 0;
    const frz_type *own = frz_data_file_type(file->data);
    FRZ_TRY(frz_type_assign_ids(&file->arena, own, 1, &file->native, &last, err));
    file->ids = frz_arena_array(&file->arena, (size_t)last + 1, sizeof *file->ids);
    if (file->ids == NULL) {
        rc = frz_fail_nomem(err, ((size_t)last + 1) * sizeof *file->ids);
        goto out;
    }
    note_ids(file, own, file->native);
    file->data->type = file->native;
out:
    return rc;
}

frz_code frz_avro_file_open(const frz_env *env, const char *location, frz_avro_file **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_avro_file *file = frz_alloc_zero(env, 1, sizeof *file);
    if (file == NULL) {
        return frz_fail_nomem(err, sizeof *file);
    }
    file->env = env;
    atomic_init(&file->refs, 1);
    frz_arena_init(&file->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_data_file_open(env, location, NULL, &file->data, err));
    if (frz_data_file_model(file->data) != &frz_avro_model) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "%s is of format %s, expected avro", location,
                      frz_data_file_model(file->data)->name);
        goto out;
    }
    FRZ_TRY(use_native_type(file, err));
    *out = file;
    file = NULL;
out:
    frz_avro_file_close(file);
    return rc;
}

void frz_avro_file_close(frz_avro_file *file)
{
    if (file != NULL && atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1) {
        const frz_env *env = file->env;
        frz_data_file_close(file->data);
        frz_arena_reset(&file->arena);
        frz_free(env, file);
    }
}

/* ---- what the file says ---- */

void frz_avro_file_info_get(const frz_avro_file *file, frz_avro_file_info *out)
{
    const avro_file *inner = inner_of(file);
    *out = (frz_avro_file_info){
        .rows = inner->index.row_count,
        .file_size = (int64_t)frz_data_file_size(file->data),
        .header_size = (int64_t)inner->header.size,
        .blocks = inner->index.block_count,
        .codec = avro_codec_name(inner->header.codec),
        .key_count = inner->header.pair_count,
    };
}

void frz_avro_file_key(const frz_avro_file *file, size_t i, const char **key, size_t *key_size,
                       const char **value, size_t *value_size)
{
    const avro_header *header = &inner_of(file)->header;
    assert(i < header->pair_count);
    *key = header->pairs[i].key.ptr;
    *key_size = header->pairs[i].key.len;
    *value = header->pairs[i].value.ptr;
    *value_size = header->pairs[i].value.len;
}

static bool id_in_file(const void *ctx, const frz_field *field, int32_t *id)
{
    const frz_avro_file *file = ctx;
    *id = file->ids[field->id];
    return *id != FRZ_ID_NONE;
}

frz_code frz_avro_file_schema(const frz_avro_file *file, struct ArrowSchema *out, frz_error *err)
{
    return frz_type_to_arrow_with_ids(file->env, file->native, id_in_file, file, out, err);
}

/* ---- rows ---- */

static frz_code rows_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const avro_rows *rows = ctx;
    return frz_type_to_arrow_with_ids(rows->file->env, rows->type, id_in_file, rows->file, out,
                                      err);
}

static frz_code rows_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    avro_rows *rows = ctx;
    frz_batch batch;
    frz_code rc = frz_data_reader_next(rows->reader, &batch, err);
    if (rc == FRZ_OK) {
        frz_array_move(&batch.array, out);
    }
    return rc;
}

static void rows_release(void *ctx)
{
    avro_rows *rows = ctx;
    const frz_env *env = rows->file->env;
    frz_data_reader_close(rows->reader);
    frz_arena_reset(&rows->arena);
    frz_avro_file_close(rows->file);
    frz_free(env, rows);
}

static frz_code open_rows(avro_rows *rows, const frz_avro_read_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t count = frz_data_file_row_count(rows->file->data);
    rows->type = rows->file->native;
    rows->range = (frz_row_range){0, count};
    if (opts != NULL) {
        int64_t end = opts->end_row < 0 ? count : FRZ_MIN(opts->end_row, count);
        rows->range = (frz_row_range){FRZ_MIN(FRZ_MAX(opts->first_row, 0), end), end};
    }
    if (opts != NULL && opts->columns != NULL) {
        FRZ_TRY(frz_pick_type_names(&rows->arena, rows->file->native, opts->columns,
                                    opts->column_count, &rows->type, err));
    }
    frz_read_request request = {.projection = rows->type, .ranges = &rows->range, .range_count = 1};
    FRZ_TRY(frz_data_reader_open(rows->file->data, &request, &rows->reader, err));
out:
    return rc;
}

frz_code frz_avro_file_read(frz_avro_file *file, const frz_avro_read_options *opts,
                            struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {rows_schema, rows_next, rows_release};
    avro_rows *rows = frz_alloc_zero(file->env, 1, sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(err, sizeof *rows);
    }
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
    rows->file = file;
    frz_arena_init(&rows->arena, file->env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = open_rows(rows, opts, err);
    if (rc != FRZ_OK) {
        rows_release(rows);
        return rc;
    }
    return frz_stream_make(file->env, &ops, rows, out, err);
}
