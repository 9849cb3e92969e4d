/*
 * Changes of files as a stream: one snapshot after the other, each as a whole.
 */
#include "changes/changes_internal.h"
#include "type/type_value.h"

/* Columns, in this order. */
enum {
    FILES_LOCATION,
    FILES_KIND,
    FILES_ORDINAL,
    FILES_SNAPSHOT_ID,
    FILES_RECORD_COUNT,
    FILES_DELETED_ROWS,
    FILES_FIELD_IDS,
    FILES_COUNT
};

typedef struct files_stream {
    frz_table *table; /* owned reference */
    frz_arena arena;
    change_chain chain;
    size_t next; /* snapshot */
    frz_builder *rows;
    const frz_type *output_type;
    size_t *columns; /* of each output column */
} files_stream;

/* ---- one row ---- */

typedef struct files_row {
    frz_str location;
    const char *kind;
    int64_t record_count, deleted_rows; /* FRZ_NO_VALUE: does not apply */
    const int32_t *ids;                 /* NULL: does not apply */
    size_t id_count;
} files_row;

static frz_code put_count(frz_builder *builder, int64_t count, frz_error *err)
{
    return count == FRZ_NO_VALUE ? frz_builder_null(builder, err)
                                 : frz_builder_i64(builder, count, err);
}

static frz_code put_ids(frz_builder *list, const files_row *row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (row->ids == NULL) {
        return frz_builder_null(list, err);
    }
    for (size_t i = 0; i < row->id_count; i++) {
        FRZ_TRY(frz_builder_i32(frz_builder_child(list, 0), row->ids[i], err));
    }
    rc = frz_builder_end(list, err);
out:
    return rc;
}

static frz_code put_row(files_stream *s, const files_row *row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_builder_bytes(frz_builder_child(s->rows, FILES_LOCATION), row->location, err));
    FRZ_TRY(
        frz_builder_bytes(frz_builder_child(s->rows, FILES_KIND), frz_str_from(row->kind), err));
    FRZ_TRY(frz_builder_i32(frz_builder_child(s->rows, FILES_ORDINAL), (int32_t)s->next, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(s->rows, FILES_SNAPSHOT_ID),
                            s->chain.snapshots[s->next]->snapshot_id, err));
    FRZ_TRY(put_count(frz_builder_child(s->rows, FILES_RECORD_COUNT), row->record_count, err));
    FRZ_TRY(put_count(frz_builder_child(s->rows, FILES_DELETED_ROWS), row->deleted_rows, err));
    FRZ_TRY(put_ids(frz_builder_child(s->rows, FILES_FIELD_IDS), row, err));
    FRZ_TRY(frz_builder_end(s->rows, err));
out:
    return rc;
}

/* ---- one file ---- */

static frz_code put_pair(files_stream *s, change_set *set, const change_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t deleted = 0;
    files_row row = {.location = file->location, .record_count = file->new->record_count};
    FRZ_TRY(change_moved_fields(set, file, &row.ids, &row.id_count, err));
    if (row.id_count > 0) {
        row.kind = "column_files";
        row.deleted_rows = FRZ_NO_VALUE;
        FRZ_TRY(put_row(s, &row, err));
    }
    FRZ_TRY(change_count_deletes(set, file, &deleted, err));
    if (deleted > 0) {
        row.kind = "dv";
        row.deleted_rows = deleted;
        row.ids = NULL;
        FRZ_TRY(put_row(s, &row, err));
    }
out:
    return rc;
}

static frz_code put_file(files_stream *s, change_set *set, const change_file *file, frz_error *err)
{
    if (file->old != NULL && file->new != NULL) {
        return put_pair(s, set, file, err);
    }
    const frz_entry *entry = change_file_entry(file);
    const files_row row = {.location = file->location,
                           .kind = file->new != NULL ? "added" : "removed",
                           .record_count = entry->record_count,
                           .deleted_rows = FRZ_NO_VALUE};
    return put_row(s, &row, err);
}

/* ---- delete files of versions 1 to 3 ---- */

static frz_code put_delete_file(files_stream *s, const change_file *file, frz_error *err)
{
    const frz_entry *entry = change_file_entry(file);
    bool equality = entry->content == FRZ_CONTENT_EQUALITY_DELETES;
    files_row row = {.location = file->location,
                     .record_count = entry->record_count,
                     .deleted_rows = FRZ_NO_VALUE,
                     .ids = equality ? entry->equality_ids : NULL,
                     .id_count = entry->equality_id_count};
    if (equality) {
        row.kind = file->new != NULL ? "equality_deletes_added" : "equality_deletes_removed";
    } else {
        row.kind = file->new != NULL ? "position_deletes_added" : "position_deletes_removed";
    }
    return put_row(s, &row, err);
}

/* A vector is told with its data file, unless that came or went in the same snapshot. */
static frz_code put_vectors(files_stream *s, change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const change_vector *vectors = NULL;
    size_t count = 0;
    FRZ_TRY(change_list_vectors(set, &vectors, &count, err));
    for (size_t i = 0; i < count; i++) {
        const files_row row = {.location = vectors[i].location,
                               .kind = "dv",
                               .record_count = FRZ_NO_VALUE,
                               .deleted_rows = vectors[i].new_rows - vectors[i].old_rows};
        FRZ_TRY(put_row(s, &row, err));
    }
out:
    return rc;
}

/* ---- the stream ---- */

static frz_code fill(files_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_set *set = NULL;
    FRZ_TRY(change_set_open(s->table, s->chain.schema, s->chain.snapshots[s->next], &set, err));
    for (size_t i = 0; i < set->file_count; i++) {
        FRZ_TRY(put_file(s, set, &set->files[i], err));
    }
    FRZ_TRY(put_vectors(s, set, err));
    for (size_t i = 0; i < set->delete_file_count; i++) {
        if (!change_file_entry(&set->delete_files[i])->has_deletion_vector) {
            FRZ_TRY(put_delete_file(s, &set->delete_files[i], err));
        }
    }
    s->next++;
out:
    change_set_free(set);
    return rc;
}

static frz_code files_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    files_stream *s = ctx;
    return frz_type_to_arrow(s->table->env, s->output_type, out, err);
}

static frz_code choose_columns(const files_stream *s, const struct ArrowArray *all,
                               struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = s->table->env;
    size_t n = s->output_type->field_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        FRZ_TRY(frz_array_slice(env, all->children[s->columns[made]], 0, all->length,
                                &columns[made], err));
    }
    made = 0; /* they move, also on failure */
    rc = frz_batch_make(env, all->length, columns, n, out, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

static frz_code files_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    files_stream *s = ctx;
    struct ArrowArray all = {0};
    while (frz_builder_length(s->rows) == 0) {
        if (s->next == s->chain.count) {
            return FRZ_END;
        }
        FRZ_TRY(fill(s, err));
    }
    FRZ_TRY(frz_builder_finish(s->rows, &all, err));
    rc = choose_columns(s, &all, out, err);
out:
    frz_array_release(&all);
    return rc;
}

static void files_release(void *ctx)
{
    files_stream *s = ctx;
    if (s == NULL) {
        return;
    }
    frz_table *table = s->table;
    const frz_env *env = table->env;
    frz_builder_free(s->rows);
    frz_arena_reset(&s->arena);
    frz_free(env, s);
    frz_table_unref(table);
}

/* ---- opening ---- */

#define COLUMN(text, type_id, is_required)                                                         \
    {                                                                                              \
        .id = FRZ_ID_NONE, .name = FRZ_STR(text), .required = (is_required),                       \
        .type = frz_type_primitive(type_id)                                                        \
    }

static frz_code type_of_rows(frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_field *element = frz_arena_alloc(arena, sizeof *element);
    frz_type *list = frz_arena_alloc(arena, sizeof *list);
    if (element == NULL || list == NULL) {
        return frz_fail_nomem(err, sizeof *list);
    }
    frz_field fields[FILES_COUNT] = {
        [FILES_LOCATION] = COLUMN("location", FRZ_TYPE_STRING, true),
        [FILES_KIND] = COLUMN("kind", FRZ_TYPE_STRING, true),
        [FILES_ORDINAL] = COLUMN("_change_ordinal", FRZ_TYPE_INT, true),
        [FILES_SNAPSHOT_ID] = COLUMN("_commit_snapshot_id", FRZ_TYPE_LONG, true),
        [FILES_RECORD_COUNT] = COLUMN("record_count", FRZ_TYPE_LONG, false),
        [FILES_DELETED_ROWS] = COLUMN("deleted_rows", FRZ_TYPE_LONG, false),
        [FILES_FIELD_IDS] = {.id = FRZ_ID_NONE, .name = FRZ_STR("field_ids"), .type = list}};
    *element = (frz_field)COLUMN("element", FRZ_TYPE_INT, true);
    *list = (frz_type){.id = FRZ_TYPE_LIST, .fields = element, .field_count = 1};
    fields[FILES_ORDINAL].id = CHANGE_ID_ORDINAL;
    fields[FILES_SNAPSHOT_ID].id = CHANGE_ID_SNAPSHOT_ID;
    return frz_type_struct_of(arena, fields, FILES_COUNT, out, err);
}

static frz_code choose_output(files_stream *s, const frz_type *all, const frz_changes_options *opts,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = opts->columns == NULL ? all->field_count : opts->column_count;
    frz_field *fields = frz_arena_array(&s->arena, n + 1, sizeof *fields);
    s->columns = frz_arena_array(&s->arena, n + 1, sizeof *s->columns);
    if (fields == NULL || s->columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *fields);
    }
    for (size_t i = 0; i < n; i++) {
        const frz_field *field = &all->fields[i];
        if (opts->columns != NULL) {
            FRZ_TRY(frz_type_resolve_name(all, frz_str_from(opts->columns[i]), &field, err));
        }
        fields[i] = *field;
        s->columns[i] = (size_t)(field - all->fields);
    }
    rc = frz_type_struct_of(&s->arena, fields, n, &s->output_type, err);
out:
    return rc;
}

frz_code frz_changes_files(frz_table *table, const frz_changes_options *opts,
                           struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {files_schema, files_next, files_release};
    frz_code rc = FRZ_OK;
    const frz_type *all = NULL;
    frz_changes_options own = FRZ_CHANGES_OPTIONS_INIT;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    files_stream *s = frz_alloc_zero(table->env, 1, sizeof *s);
    if (s == NULL) {
        return frz_fail_nomem(err, sizeof *s);
    }
    s->table = frz_table_ref(table);
    frz_arena_init(&s->arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(type_of_rows(&s->arena, &all, err));
    FRZ_TRY(choose_output(s, all, &own, err));
    FRZ_TRY(change_chain_of(table, &own, &s->arena, &s->chain, err));
    FRZ_TRY(frz_builder_new(table->env, all, &s->rows, err));
    rc = frz_stream_make(table->env, &ops, s, out, err);
    s = NULL;
out:
    files_release(s);
    return rc;
}
