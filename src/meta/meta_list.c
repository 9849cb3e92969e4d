/*
 * What can be listed about a table, as Arrow rows. The names of the columns are a promise
 * (docs/formats/views.md).
 */
#include <stdio.h>

#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

typedef struct view_column {
    const char *name;
    frz_type_id type;
    bool required;
} view_column;

/* A view in the making: rows go into the builder in the order of its columns. */
typedef struct view {
    const frz_table *table;
    frz_arena arena;
    const frz_type *type;
    frz_builder *rows;
    size_t next; /* column of the row in the making */
} view;

/* ---- making rows ---- */

static frz_builder *next_column(view *v)
{
    return frz_builder_child(v->rows, v->next++);
}

static frz_code put_str(view *v, frz_str text, frz_error *err)
{
    frz_builder *b = next_column(v);
    return text.ptr == NULL ? frz_builder_null(b, err) : frz_builder_bytes(b, text, err);
}

static frz_code put_text(view *v, const char *text, frz_error *err)
{
    return put_str(v, frz_str_from(text), err);
}

static frz_code put_i64(view *v, int64_t value, frz_error *err)
{
    frz_builder *b = next_column(v);
    return value == FRZ_NO_VALUE ? frz_builder_null(b, err) : frz_builder_i64(b, value, err);
}

static frz_code put_location(view *v, frz_str recorded, frz_error *err)
{
    char *location = NULL;
    frz_code rc = frz_table_resolve(v->table, recorded, &location, err);
    if (rc == FRZ_OK) {
        rc = put_text(v, location, err);
    }
    frz_free(v->table->env, location);
    return rc;
}

static frz_code end_row(view *v, frz_error *err)
{
    v->next = 0;
    return frz_builder_end(v->rows, err);
}

/* ---- types of views ---- */

static frz_code view_open(view *v, const view_column *columns, size_t count,
                          const frz_type *last_type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field *fields = frz_arena_array(&v->arena, count, sizeof *fields);
    FRZ_TRY(fields == NULL ? frz_fail_nomem(err, count * sizeof *fields) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        bool nested = columns[i].type >= FRZ_TYPE_STRUCT;
        fields[i] = (frz_field){.id = FRZ_ID_NONE,
                                .name = frz_str_from(columns[i].name),
                                .required = columns[i].required,
                                .type = nested ? last_type : frz_type_primitive(columns[i].type)};
    }
    FRZ_TRY(frz_type_struct_of(&v->arena, fields, count, &v->type, err));
    FRZ_TRY(frz_builder_new(v->table->env, v->type, &v->rows, err));
out:
    return rc;
}

/* list<element: type> or map<key: string, value: type>, made of given fields. */
static frz_code nested_of(view *v, frz_type_id id, const frz_field *fields, size_t count,
                          const frz_type **out, frz_error *err)
{
    const frz_type *made = NULL;
    frz_code rc = frz_type_struct_of(&v->arena, fields, count, &made, err);
    frz_type *type = rc == FRZ_OK ? frz_arena_alloc(&v->arena, sizeof *type) : NULL;
    if (rc == FRZ_OK && type == NULL) {
        rc = frz_fail_nomem(err, sizeof *type);
    }
    if (rc == FRZ_OK) {
        *type = *made;
        type->id = id;
        *out = type;
    }
    return rc;
}

/* ---- describe ---- */

static const view_column describe_columns[] = {
    {"key", FRZ_TYPE_STRING, true},
    {"value", FRZ_TYPE_STRING, false},
};

static frz_code pair(view *v, const char *key, frz_str value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(put_text(v, key, err));
    FRZ_TRY(put_str(v, value, err));
    FRZ_TRY(end_row(v, err));
out:
    return rc;
}

static frz_code pair_i64(view *v, const char *key, int64_t value, frz_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return pair(v, key, frz_str_from(text), err);
}

/* Sizes of the current snapshot; left out if it holds what this library does not read. */
static frz_code describe_files(view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_manifest *manifest = NULL;
    const frz_entry *const *live = NULL;
    const frz_metadata *m = &v->table->metadata;
    const frz_snapshot *snapshot = frz_metadata_current_snapshot(m);
    size_t count = 0;
    int64_t rows = 0, bytes = 0, column_files = 0;
    if (snapshot != NULL) {
        rc = frz_manifest_open(v->table, snapshot, frz_metadata_current_schema(m), &manifest, err);
        rc = rc == FRZ_OK ? frz_manifest_live(manifest, &live, &count, err) : rc;
        if (rc == FRZ_E_UNSUPPORTED) {
            frz_error_reset(err);
            rc = FRZ_OK;
            goto out;
        }
        FRZ_TRY(rc);
    }
    for (size_t i = 0; i < count; i++) {
        bool fits = frz_add_i64(rows, live[i]->record_count, &rows) &&
                    frz_add_i64(bytes, live[i]->file_size, &bytes);
        for (size_t k = 0; k < live[i]->column_file_count; k++) {
            fits = fits && frz_add_i64(bytes, live[i]->column_files[k].file_size, &bytes);
            column_files++;
        }
        FRZ_TRY(fits
                    ? FRZ_OK
                    : frz_fail(err, FRZ_E_CORRUPT, "rows or bytes of the snapshot exceed 64 bits"));
    }
    FRZ_TRY(pair_i64(v, "rows", rows, err));
    FRZ_TRY(pair_i64(v, "data_files", (int64_t)count, err));
    FRZ_TRY(pair_i64(v, "column_files", column_files, err));
    FRZ_TRY(pair_i64(v, "data_bytes", bytes, err));
out:
    frz_manifest_free(manifest);
    return rc;
}

static frz_code describe_properties(view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &v->table->metadata;
    for (size_t i = 0; i < m->property_count && rc == FRZ_OK; i++) {
        const char *key =
            frz_arena_printf(&v->arena, "property.%.*s", FRZ_STR_ARG(m->properties[i].key));
        rc = key == NULL ? frz_fail_nomem(err, m->properties[i].key.len)
                         : pair(v, key, m->properties[i].value, err);
    }
    return rc;
}

static frz_code list_describe(view *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_table *table = v->table;
    const frz_metadata *m = &table->metadata;
    char updated[FRZ_TIME_TEXT];
    (void)snapshot_id;
    FRZ_TRY(view_open(v, describe_columns, FRZ_ARRAY_COUNT(describe_columns), NULL, err));
    frz_time_text(m->last_updated_ms, updated);
    FRZ_TRY(pair(v, "name", frz_str_from(table->name), err));
    FRZ_TRY(pair(v, "table_uuid", m->table_uuid, err));
    FRZ_TRY(pair_i64(v, "format_version", m->format_version, err));
    FRZ_TRY(pair(v, "location", frz_str_from(table->base), err));
    FRZ_TRY(pair(v, "metadata_location", frz_str_from(table->metadata_location), err));
    FRZ_TRY(pair(v, "last_updated", frz_str_from(updated), err));
    FRZ_TRY(pair_i64(v, "last_sequence_number", m->last_sequence_number, err));
    FRZ_TRY(pair_i64(v, "next_row_id", m->next_row_id, err));
    FRZ_TRY(pair_i64(v, "current_schema_id", m->current_schema_id, err));
    FRZ_TRY(
        pair_i64(v, "columns", (int64_t)frz_metadata_current_schema(m)->type->field_count, err));
    FRZ_TRY(pair_i64(v, "last_column_id", m->last_column_id, err));
    FRZ_TRY(pair_i64(v, "snapshots", (int64_t)m->snapshot_count, err));
    if (m->current_snapshot_id != 0) {
        FRZ_TRY(pair_i64(v, "current_snapshot_id", m->current_snapshot_id, err));
    }
    FRZ_TRY(describe_files(v, err));
    FRZ_TRY(describe_properties(v, err));
out:
    return rc;
}

/* ---- schema ---- */

static const view_column schema_columns[] = {
    {"field_id", FRZ_TYPE_INT, true},
    {"name", FRZ_TYPE_STRING, true},
    {"type", FRZ_TYPE_STRING, true},
    {"required", FRZ_TYPE_BOOLEAN, true},
    {"initial_default", FRZ_TYPE_STRING, false},
    {"doc", FRZ_TYPE_STRING, false},
};

typedef struct schema_lister {
    view *view;
    const frz_type *schema;
    frz_buf text;
} schema_lister;

static frz_code schema_row(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    frz_code rc = FRZ_OK;
    schema_lister *s = ctx;
    view *v = s->view;
    (void)in_repeated;
    FRZ_TRY(frz_builder_i32(next_column(v), field->id, err));
    frz_buf_clear(&s->text);
    FRZ_TRY(frz_type_dotted_name(s->schema, field->id, &s->text, err));
    FRZ_TRY(put_str(v, frz_buf_view(&s->text), err));
    frz_buf_clear(&s->text);
    FRZ_TRY(frz_type_print(field->type, &s->text, err));
    FRZ_TRY(put_str(v, frz_buf_view(&s->text), err));
    FRZ_TRY(frz_builder_bool(next_column(v), field->required, err));
    frz_buf_clear(&s->text);
    if (field->initial_default != NULL && !field->initial_default->is_null) {
        FRZ_TRY(frz_value_print(field->initial_default, &s->text, err));
        FRZ_TRY(frz_builder_bytes(next_column(v), frz_buf_view(&s->text), err));
    } else {
        FRZ_TRY(frz_builder_null(next_column(v), err));
    }
    FRZ_TRY(put_str(v, field->doc, err));
    FRZ_TRY(end_row(v, err));
out:
    return rc;
}

static frz_code list_schema(view *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    (void)snapshot_id;
    const frz_type *schema = frz_metadata_current_schema(&v->table->metadata)->type;
    schema_lister s = {
        .view = v, .schema = schema, .text = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT)};
    FRZ_TRY(view_open(v, schema_columns, FRZ_ARRAY_COUNT(schema_columns), NULL, err));
    FRZ_TRY(frz_type_visit(schema, schema_row, &s, err));
out:
    frz_buf_reset(&s.text);
    return rc;
}

/* ---- snapshots ---- */

static const view_column snapshot_columns[] = {
    {"snapshot_id", FRZ_TYPE_LONG, true},     {"parent_id", FRZ_TYPE_LONG, false},
    {"sequence_number", FRZ_TYPE_LONG, true}, {"committed_at", FRZ_TYPE_TIMESTAMPTZ, true},
    {"operation", FRZ_TYPE_STRING, false},    {"first_row_id", FRZ_TYPE_LONG, false},
    {"added_rows", FRZ_TYPE_LONG, false},     {"root_manifest", FRZ_TYPE_STRING, false},
    {"is_current", FRZ_TYPE_BOOLEAN, true},   {"summary", FRZ_TYPE_MAP, false},
};

static frz_code put_summary(view *v, const frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = next_column(v);
    for (size_t i = 0; i < s->summary_count; i++) {
        FRZ_TRY(frz_builder_bytes(frz_builder_child(b, 0), s->summary[i].key, err));
        FRZ_TRY(frz_builder_bytes(frz_builder_child(b, 1), s->summary[i].value, err));
    }
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_str operation_of(const frz_snapshot *s)
{
    for (size_t i = 0; i < s->summary_count; i++) {
        if (frz_str_equal(s->summary[i].key, FRZ_STR("operation"))) {
            return s->summary[i].value;
        }
    }
    return (frz_str){NULL, 0};
}

static frz_code snapshot_row(view *v, const frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t micros;
    FRZ_TRY(put_i64(v, s->snapshot_id, err));
    FRZ_TRY(put_i64(v, s->parent_id == 0 ? FRZ_NO_VALUE : s->parent_id, err));
    FRZ_TRY(put_i64(v, s->sequence_number, err));
    FRZ_TRY(put_i64(v, frz_mul_i64(s->timestamp_ms, 1000, &micros) ? micros : INT64_MAX, err));
    FRZ_TRY(put_str(v, operation_of(s), err));
    FRZ_TRY(put_i64(v, s->first_row_id, err));
    FRZ_TRY(put_i64(v, s->added_rows, err));
    if (s->root_manifest.ptr != NULL) {
        FRZ_TRY(put_location(v, s->root_manifest, err));
    } else {
        FRZ_TRY(put_text(v, NULL, err));
    }
    FRZ_TRY(frz_builder_bool(next_column(v),
                             s->snapshot_id == v->table->metadata.current_snapshot_id, err));
    FRZ_TRY(put_summary(v, s, err));
    FRZ_TRY(end_row(v, err));
out:
    return rc;
}

static frz_code list_snapshots(view *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *summary = NULL;
    const frz_type *text = frz_type_primitive(FRZ_TYPE_STRING);
    const frz_field parts[] = {
        {.id = FRZ_ID_NONE, .name = FRZ_STR("key"), .required = true, .type = text},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("value"), .required = true, .type = text}};
    (void)snapshot_id;
    FRZ_TRY(nested_of(v, FRZ_TYPE_MAP, parts, FRZ_ARRAY_COUNT(parts), &summary, err));
    FRZ_TRY(view_open(v, snapshot_columns, FRZ_ARRAY_COUNT(snapshot_columns), summary, err));
    for (size_t i = 0; i < v->table->metadata.snapshot_count; i++) {
        FRZ_TRY(snapshot_row(v, &v->table->metadata.snapshots[i], err));
    }
out:
    return rc;
}

/* ---- entries: files and manifests ---- */

static const view_column file_columns[] = {
    {"location", FRZ_TYPE_STRING, true},
    {"file_format", FRZ_TYPE_STRING, true},
    {"record_count", FRZ_TYPE_LONG, true},
    {"file_size_in_bytes", FRZ_TYPE_LONG, true},
    {"first_row_id", FRZ_TYPE_LONG, true},
    {"sequence_number", FRZ_TYPE_LONG, true},
    {"file_sequence_number", FRZ_TYPE_LONG, true},
    {"snapshot_id", FRZ_TYPE_LONG, true},
    {"modified_snapshot_id", FRZ_TYPE_LONG, false},
    {"status", FRZ_TYPE_STRING, true},
    {"column_files", FRZ_TYPE_LIST, true},
};

static const view_column manifest_columns[] = {
    {"status", FRZ_TYPE_STRING, true},
    {"content", FRZ_TYPE_STRING, true},
    {"location", FRZ_TYPE_STRING, true},
    {"record_count", FRZ_TYPE_LONG, true},
    {"file_size_in_bytes", FRZ_TYPE_LONG, true},
    {"sequence_number", FRZ_TYPE_LONG, true},
    {"file_sequence_number", FRZ_TYPE_LONG, true},
    {"snapshot_id", FRZ_TYPE_LONG, true},
    {"modified_snapshot_id", FRZ_TYPE_LONG, false},
    {"first_row_id", FRZ_TYPE_LONG, false},
    {"column_file_count", FRZ_TYPE_INT, true},
    {"manifest", FRZ_TYPE_STRING, true},
};

/* list<struct<location, file_size_in_bytes, field_ids: list<int>, field_names: list<string>>> */
static frz_code column_files_type(view *v, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field id = {.id = FRZ_ID_NONE,
                          .name = FRZ_STR("element"),
                          .required = true,
                          .type = frz_type_primitive(FRZ_TYPE_INT)};
    const frz_field name = {
        .id = FRZ_ID_NONE, .name = FRZ_STR("element"), .type = frz_type_primitive(FRZ_TYPE_STRING)};
    const frz_type *ids = NULL, *names = NULL, *file = NULL;
    FRZ_TRY(nested_of(v, FRZ_TYPE_LIST, &id, 1, &ids, err));
    FRZ_TRY(nested_of(v, FRZ_TYPE_LIST, &name, 1, &names, err));
    const frz_field members[] = {
        {.id = FRZ_ID_NONE,
         .name = FRZ_STR("location"),
         .required = true,
         .type = frz_type_primitive(FRZ_TYPE_STRING)},
        {.id = FRZ_ID_NONE,
         .name = FRZ_STR("file_size_in_bytes"),
         .required = true,
         .type = frz_type_primitive(FRZ_TYPE_LONG)},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("field_ids"), .required = true, .type = ids},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("field_names"), .required = true, .type = names},
    };
    FRZ_TRY(frz_type_struct_of(&v->arena, members, FRZ_ARRAY_COUNT(members), &file, err));
    const frz_field element = {
        .id = FRZ_ID_NONE, .name = FRZ_STR("element"), .required = true, .type = file};
    FRZ_TRY(nested_of(v, FRZ_TYPE_LIST, &element, 1, out, err));
out:
    return rc;
}

/* Dotted; null for fields that the schema no longer has. */
static frz_code put_field_name(view *v, const frz_schema *schema, int32_t id, frz_builder *b,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf name = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT);
    if (id == FRZ_ID_LAST_UPDATED) {
        return frz_builder_bytes(b, frz_field_last_updated.name, err);
    }
    FRZ_TRY(frz_type_dotted_name(schema->type, id, &name, err));
    rc = name.len == 0 ? frz_builder_null(b, err) : frz_builder_bytes(b, frz_buf_view(&name), err);
out:
    frz_buf_reset(&name);
    return rc;
}

static frz_code put_column_file(view *v, const frz_schema *schema, const frz_column_file *file,
                                frz_builder *b, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_builder *ids = frz_builder_child(b, 2);
    frz_builder *names = frz_builder_child(b, 3);
    FRZ_TRY(frz_table_resolve(v->table, file->location, &location, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, 0), frz_str_from(location), err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, 1), file->file_size, err));
    for (size_t i = 0; i < file->field_id_count; i++) {
        FRZ_TRY(frz_builder_i32(frz_builder_child(ids, 0), file->field_ids[i], err));
        FRZ_TRY(put_field_name(v, schema, file->field_ids[i], frz_builder_child(names, 0), err));
    }
    FRZ_TRY(frz_builder_end(ids, err));
    FRZ_TRY(frz_builder_end(names, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    frz_free(v->table->env, location);
    return rc;
}

static frz_code file_row(view *v, const frz_schema *schema, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(put_location(v, e->location, err));
    FRZ_TRY(put_str(v, e->file_format, err));
    FRZ_TRY(put_i64(v, e->record_count, err));
    FRZ_TRY(put_i64(v, e->file_size, err));
    FRZ_TRY(put_i64(v, e->first_row_id, err));
    FRZ_TRY(put_i64(v, e->sequence_number, err));
    FRZ_TRY(put_i64(v, e->file_sequence_number, err));
    FRZ_TRY(put_i64(v, e->snapshot_id, err));
    FRZ_TRY(put_i64(v, e->modified_snapshot_id, err));
    FRZ_TRY(put_text(v, frz_status_name(e->status), err));
    frz_builder *files = next_column(v);
    for (size_t i = 0; i < e->column_file_count; i++) {
        FRZ_TRY(put_column_file(v, schema, &e->column_files[i], frz_builder_child(files, 0), err));
    }
    FRZ_TRY(frz_builder_end(files, err));
    FRZ_TRY(end_row(v, err));
out:
    return rc;
}

static frz_code manifest_row(view *v, const char *manifest, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(put_text(v, frz_status_name(e->status), err));
    FRZ_TRY(put_text(v,
                     e->content == FRZ_CONTENT_DATA            ? "DATA"
                     : e->content == FRZ_CONTENT_DATA_MANIFEST ? "DATA_MANIFEST"
                                                               : "DELETE_MANIFEST",
                     err));
    FRZ_TRY(put_location(v, e->location, err));
    FRZ_TRY(put_i64(v, e->record_count, err));
    FRZ_TRY(put_i64(v, e->file_size, err));
    FRZ_TRY(put_i64(v, e->sequence_number, err));
    FRZ_TRY(put_i64(v, e->file_sequence_number, err));
    FRZ_TRY(put_i64(v, e->snapshot_id, err));
    FRZ_TRY(put_i64(v, e->modified_snapshot_id, err));
    FRZ_TRY(put_i64(v, e->first_row_id, err));
    FRZ_TRY(frz_builder_i32(next_column(v), (int32_t)e->column_file_count, err));
    FRZ_TRY(put_text(v, manifest, err));
    FRZ_TRY(end_row(v, err));
out:
    return rc;
}

/* The root manifest of a snapshot; NULL for a table without one. */
static frz_code open_manifest(view *v, int64_t snapshot_id, const frz_schema **schema,
                              frz_manifest **out, frz_error *err)
{
    const frz_snapshot *snapshot = NULL;
    frz_code rc = frz_table_snapshot(v->table, snapshot_id, &snapshot, schema, err);
    return rc == FRZ_OK && snapshot != NULL
               ? frz_manifest_open(v->table, snapshot, *schema, out, err)
               : rc;
}

static frz_code list_files(view *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_schema *schema = NULL;
    const frz_type *column_files = NULL;
    frz_manifest *manifest = NULL;
    const frz_entry *const *live = NULL;
    size_t count = 0;
    FRZ_TRY(column_files_type(v, &column_files, err));
    FRZ_TRY(view_open(v, file_columns, FRZ_ARRAY_COUNT(file_columns), column_files, err));
    FRZ_TRY(open_manifest(v, snapshot_id, &schema, &manifest, err));
    if (manifest != NULL) {
        FRZ_TRY(frz_manifest_live(manifest, &live, &count, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(file_row(v, schema, live[i], err));
    }
out:
    frz_manifest_free(manifest);
    return rc;
}

static frz_code list_manifests(view *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_schema *schema = NULL;
    frz_manifest *manifest = NULL;
    FRZ_TRY(view_open(v, manifest_columns, FRZ_ARRAY_COUNT(manifest_columns), NULL, err));
    FRZ_TRY(open_manifest(v, snapshot_id, &schema, &manifest, err));
    for (size_t i = 0; manifest != NULL && i < frz_manifest_count(manifest); i++) {
        FRZ_TRY(
            manifest_row(v, frz_manifest_location(manifest), frz_manifest_entry(manifest, i), err));
    }
out:
    frz_manifest_free(manifest);
    return rc;
}

/* ---- the stream ---- */

static frz_code view_finish(view *v, struct ArrowArrayStream *out, frz_error *err)
{
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};
    size_t batches = frz_builder_length(v->rows) > 0 ? 1 : 0;
    frz_code rc = frz_type_to_arrow(v->table->env, v->type, &schema, err);
    if (rc == FRZ_OK) {
        rc = frz_builder_finish(v->rows, &batch, err);
    }
    if (rc != FRZ_OK) {
        frz_schema_release(&schema);
        return rc;
    }
    if (batches == 0) {
        frz_array_release(&batch);
    }
    return frz_stream_of_batches(v->table->env, &schema, &batch, batches, out, err);
}

frz_code frz_table_list(const frz_table *table, frz_table_view kind, int64_t snapshot_id,
                        struct ArrowArrayStream *out, frz_error *err)
{
    static frz_code (*const listers[])(view * v, int64_t snapshot_id, frz_error * err) = {
        [FRZ_TABLE_VIEW_DESCRIBE] = list_describe,   [FRZ_TABLE_VIEW_SCHEMA] = list_schema,
        [FRZ_TABLE_VIEW_SNAPSHOTS] = list_snapshots, [FRZ_TABLE_VIEW_FILES] = list_files,
        [FRZ_TABLE_VIEW_MANIFESTS] = list_manifests,
    };
    frz_code rc = FRZ_OK;
    view v = {.table = table};
    if ((size_t)kind >= FRZ_ARRAY_COUNT(listers)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "there is no view %d of a table", (int)kind);
    }
    frz_arena_init(&v.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(listers[kind](&v, snapshot_id, err));
    FRZ_TRY(view_finish(&v, out, err));
out:
    frz_builder_free(v.rows);
    frz_arena_reset(&v.arena);
    return rc;
}
