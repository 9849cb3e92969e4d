/*
 * Where a SELECT reads: a table, what can be listed about one ("db.t.snapshots"), or a file. All
 * give batches of the columns that are asked for, rows filtered.
 */
#include "scan/scan_plan.h"
#include "scan/scan_row_columns.h"
#include "source/source.h"
#include "sql/sql_internal.h"

/* ---- views ---- */

static const struct {
    const char *name;
    frz_table_view view;
} views[] = {
    {"schema", FRZ_TABLE_VIEW_SCHEMA},
    {"properties", FRZ_TABLE_VIEW_PROPERTIES},
    {"snapshots", FRZ_TABLE_VIEW_SNAPSHOTS},
    {"history", FRZ_TABLE_VIEW_HISTORY},
    {"refs", FRZ_TABLE_VIEW_REFS},
    {"statistics", FRZ_TABLE_VIEW_STATISTICS},
    {"files", FRZ_TABLE_VIEW_FILES},
    {"delete_files", FRZ_TABLE_VIEW_DELETE_FILES},
    {"partitions", FRZ_TABLE_VIEW_PARTITIONS},
    {"manifests", FRZ_TABLE_VIEW_MANIFESTS},
    {"entries", FRZ_TABLE_VIEW_ENTRIES},
};

bool sql_view_find(frz_str name, frz_table_view *out)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(views); i++) {
        if (frz_str_equal_nocase(name, frz_str_from(views[i].name))) {
            *out = views[i].view;
            return true;
        }
    }
    return false;
}

/* The stream of the view, and its columns with ids, which expressions are bound to. */
static frz_code init_view(sql_source *source, frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *read = NULL;
    struct ArrowSchema schema = {0};
    const frz_type *type = NULL;
    int32_t last = 0;
    FRZ_TRY(frz_table_choose(source->table, &source->choice, &snapshot, &read, err));
    FRZ_TRY(frz_table_list(source->table, source->view,
                           snapshot == NULL ? 0 : snapshot->snapshot_id, &source->stream, err));
    int failed = source->stream.get_schema(&source->stream, &schema);
    FRZ_TRY(failed != 0 ? frz_stream_fail(&source->stream, failed, err) : FRZ_OK);
    FRZ_TRY(frz_type_from_arrow(arena, &schema, &type, err));
    FRZ_TRY(frz_type_assign_ids(arena, type, 1, &source->star, &last, err));
    source->readable = source->star;
out:
    frz_schema_release(&schema);
    return rc;
}

static frz_code open_view(sql_source *source, const char *const *columns, size_t count,
                          const char *where, int64_t limit, frz_error *err)
{
    frz_stream_select_options options = FRZ_STREAM_SELECT_OPTIONS_INIT;
    struct ArrowArrayStream all = source->stream;
    source->stream = (struct ArrowArrayStream){0};
    source->left = limit;
    options.columns = columns;
    options.column_count = count;
    options.where = where;
    return frz_stream_select(source->env, &all, &options, &source->stream, err);
}

static frz_code next_of_stream(sql_source *source, struct ArrowArray *out, frz_error *err)
{
    struct ArrowArray batch = {0};
    if (source->left == 0) {
        return FRZ_END;
    }
    int failed = source->stream.get_next(&source->stream, &batch);
    if (failed != 0) {
        return frz_stream_fail(&source->stream, failed, err);
    }
    if (batch.release == NULL) {
        return FRZ_END;
    }
    if (source->left < 0 || batch.length <= source->left) {
        source->left -= source->left < 0 ? 0 : batch.length;
        *out = batch;
        return FRZ_OK;
    }
    frz_code rc = frz_batch_slice(source->env, &batch, 0, source->left, out, err);
    frz_array_release(&batch);
    source->left = 0;
    return rc;
}

/* ---- files ---- */

static frz_code schema_of(sql_source *source, struct ArrowSchema *out, frz_error *err)
{
    int failed = source->stream.get_schema(&source->stream, out);
    if (failed != 0) {
        out->release = NULL;
        return frz_stream_fail(&source->stream, failed, err);
    }
    return FRZ_OK;
}

static void close_stream(sql_source *source)
{
    if (source->stream.release != NULL) {
        source->stream.release(&source->stream);
        source->stream.release = NULL;
    }
}

frz_code sql_source_init_file(sql_source *source, const frz_env *env, const char *file,
                              frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    const frz_type *type = NULL;
    int32_t last = 0;
    source->env = env;
    source->file = file;
    FRZ_TRY(source_file_open(env, file, NULL, 0, NULL, &source->stream, err));
    FRZ_TRY(schema_of(source, &schema, err));
    size_t count = (size_t)schema.n_children;
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    FRZ_TRY(fields == NULL ? frz_fail_nomem(err, count * sizeof *fields) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(expr_plain_field(arena, schema.children[i], &fields[i], err));
        fields[i].id = FRZ_ID_NONE;
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, count, &type, err));
    FRZ_TRY(frz_type_assign_ids(arena, type, 1, &source->star, &last, err));
    source->readable = source->star;
out:
    close_stream(source);
    frz_schema_release(&schema);
    return rc;
}

static frz_code open_file(sql_source *source, const char *const *columns, size_t count,
                          const char *where, int64_t limit, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    source->left = limit;
    FRZ_TRY(
        source_file_open(source->env, source->file, columns, count, where, &source->stream, err));
    FRZ_TRY(schema_of(source, &schema, err));
    FRZ_TRY(expr_plain_new(source->env, (const struct ArrowSchema *const *)schema.children,
                           (size_t)schema.n_children, &source->plain, err));
out:
    frz_schema_release(&schema);
    return rc;
}

static frz_code next_of_file(sql_source *source, struct ArrowArray *out, frz_error *err)
{
    struct ArrowArray batch = {0};
    frz_code rc = next_of_stream(source, &batch, err);
    if (rc == FRZ_OK) {
        rc = expr_plain_batch(source->plain, batch.children, batch.offset, batch.length, out, err);
        frz_array_release(&batch);
    }
    return rc;
}

/* ---- any ---- */

static frz_code init_table(sql_source *source, frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    FRZ_TRY(frz_table_choose(source->table, &source->choice, &snapshot, &schema, err));
    FRZ_TRY(frz_readable_type(arena, schema, &source->readable, err));
    FRZ_TRY(frz_row_columns_add(arena, &source->table->metadata, source->readable, true,
                                &source->readable, err));
    source->star = schema->type;
out:
    return rc;
}

frz_code sql_source_init(sql_source *source, frz_table *table, const frz_table_view *view,
                         const frz_snapshot_choice *choice, frz_arena *arena, frz_error *err)
{
    source->env = table->env;
    source->table = frz_table_ref(table);
    source->choice = *choice;
    source->is_view = view != NULL;
    if (view == NULL) {
        return init_table(source, arena, err);
    }
    source->view = *view;
    return init_view(source, arena, err);
}

frz_code sql_source_open(sql_source *source, const char *const *columns, size_t count,
                         const char *where, int64_t limit, frz_error *err)
{
    if (source->file != NULL) {
        return open_file(source, columns, count, where, limit, err);
    }
    if (source->is_view) {
        return open_view(source, columns, count, where, limit, err);
    }
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    options.columns = columns;
    options.column_count = count;
    options.where = where;
    options.limit = limit;
    options.snapshot_id = source->choice.snapshot_id;
    options.as_of = source->choice.as_of;
    options.ref = source->choice.ref;
    return frz_scan_open(source->table, &options, &source->scan, err);
}

frz_code sql_source_next(sql_source *source, struct ArrowArray *out, frz_error *err)
{
    if (source->file != NULL) {
        return next_of_file(source, out, err);
    }
    return source->is_view ? next_of_stream(source, out, err)
                           : frz_scan_next(source->scan, out, err);
}

void sql_source_close(sql_source *source)
{
    frz_scan_close(source->scan);
    close_stream(source);
    expr_plain_free(source->plain);
    frz_table_unref(source->table);
}
