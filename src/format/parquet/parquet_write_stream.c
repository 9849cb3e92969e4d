/*
 * Parquet files apart from tables: a writer for an Arrow schema, and a whole stream of batches.
 */
#include <stdlib.h>

#include "format/parquet/parquet_writer_internal.h"

/* ---- field ids ---- */

typedef struct id_list {
    frz_buf ids; /* int32_t, without those that are missing */
    bool missing;
} id_list;

static frz_code collect_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    id_list *list = ctx;
    (void)in_repeated;
    if (field->id == FRZ_ID_NONE) {
        list->missing = true;
        return FRZ_OK;
    }
    return frz_buf_append(&list->ids, &field->id, sizeof field->id, err);
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a;
    int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts; the ids need their order no more. */
static bool has_duplicate(id_list *list)
{
    int32_t *ids = (int32_t *)(void *)list->ids.data;
    size_t count = list->ids.len / sizeof *ids;
    if (count > 0) {
        qsort(ids, count, sizeof *ids, compare_ids);
    }
    for (size_t i = 1; i < count; i++) {
        if (ids[i] == ids[i - 1]) {
            return true;
        }
    }
    return false;
}

/* Fields without an id get the ones behind the largest. */
static frz_code fill_ids(frz_arena *arena, const frz_type *type, int32_t *next,
                         const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (type->field_count == 0) {
        *out = type;
        return FRZ_OK;
    }
    frz_type *copy = frz_arena_alloc(arena, sizeof *copy);
    frz_field *fields = frz_arena_array(arena, type->field_count, sizeof *fields);
    if (copy == NULL || fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    *copy = *type;
    copy->fields = fields;
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        if (fields[i].id == FRZ_ID_NONE) {
            if (*next == INT32_MAX) {
                return frz_fail(err, FRZ_E_LIMIT, "no field id is left above the largest");
            }
            fields[i].id = ++*next;
        }
        FRZ_TRY(fill_ids(arena, type->fields[i].type, next, &fields[i].type, err));
    }
    *out = copy;
out:
    return rc;
}

/* Ids as they came if they make sense, completed where some are missing; else from 1 on. */
static frz_code settle_ids(const frz_env *env, frz_arena *arena, const frz_type *type,
                           const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_list list = {.missing = false};
    int32_t last = 0;
    frz_buf_init(&list.ids, env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_type_visit(type, collect_id, &list, err));
    if (list.ids.len == 0 || has_duplicate(&list)) {
        FRZ_TRY(frz_type_assign_ids(arena, type, 1, out, &last, err));
    } else if (list.missing) {
        last = frz_type_max_id(type);
        FRZ_TRY(fill_ids(arena, type, &last, out, err));
    } else {
        *out = type;
    }
out:
    frz_buf_reset(&list.ids);
    return rc;
}

/* ---- a writer ---- */

frz_code frz_parquet_writer_create(const frz_env *env, const char *location,
                                   const struct ArrowSchema *schema,
                                   const frz_parquet_write_options *opts, frz_parquet_writer **out,
                                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_type *type;
    frz_parquet_writer *writer;
    frz_normalizer *normalizer = NULL;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_type_from_arrow_native(&arena, schema, &type, err));
    FRZ_TRY(settle_ids(env, &arena, type, &type, err));
    FRZ_TRY(frz_normalizer_new(env, schema, type, &normalizer, err));
    FRZ_TRY(parquet_writer_open(env, location, type, true, opts, &writer, err));
    writer->type_arena = arena; /* the type lives as long as the writer */
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (frz_normalizer_is_needed(normalizer)) {
        writer->normalizer = normalizer;
        normalizer = NULL;
    }
    *out = writer;
out:
    frz_normalizer_free(normalizer);
    frz_arena_reset(&arena);
    return rc;
}

frz_code frz_parquet_writer_close(frz_parquet_writer *writer, frz_parquet_writer_info *info,
                                  frz_error *err)
{
    frz_parquet_written written;
    frz_arena arena;
    frz_arena_init(&arena, writer->env, FRZ_ARENA_NO_LIMIT);
    frz_code rc =
        frz_parquet_writer_finish(writer, writer->shared.opts.durable, &arena, &written, err);
    if (rc == FRZ_OK && info != NULL) {
        *info = (frz_parquet_writer_info){written.row_count, written.file_size,
                                          (int64_t)written.split_count};
    }
    frz_arena_reset(&arena);
    return rc;
}

/* ---- the stream ---- */

static frz_code stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out,
                              frz_error *err)
{
    int failed = stream->get_schema(stream, out);
    if (failed != 0) {
        out->release = NULL;
        return frz_stream_fail(stream, failed, err);
    }
    return FRZ_OK;
}

static frz_code write_batches(frz_parquet_writer *writer, struct ArrowArrayStream *stream,
                              frz_error *err)
{
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        int failed = stream->get_next(stream, &batch);
        if (failed != 0) {
            return frz_stream_fail(stream, failed, err);
        }
        if (batch.release == NULL) {
            return FRZ_OK;
        }
        frz_code rc = frz_parquet_writer_write(writer, &batch, err);
        frz_array_release(&batch);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
}

frz_code frz_parquet_write_stream(const frz_env *env, const char *location,
                                  struct ArrowArrayStream *stream,
                                  const frz_parquet_write_options *opts, int64_t *rows,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {.release = NULL};
    frz_parquet_writer *writer = NULL;
    frz_parquet_writer_info info;
    FRZ_TRY(stream_schema(stream, &schema, err));
    FRZ_TRY(frz_parquet_writer_create(env, location, &schema, opts, &writer, err));
    FRZ_TRY(write_batches(writer, stream, err));
    frz_parquet_writer *last = writer;
    writer = NULL; /* freed in any case */
    FRZ_TRY(frz_parquet_writer_close(last, &info, err));
    if (rows != NULL) {
        *rows = info.rows;
    }
out:
    frz_parquet_writer_abort(writer);
    frz_schema_release(&schema);
    return rc;
}
