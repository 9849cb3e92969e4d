/*
 * Views of the metadata file: what a table is, its columns, properties, snapshots, references.
 */
#include <stdio.h>

#include "meta/meta_view.h"

/* FRZ_END the second time: for views that are filled at once. */
static bool was_filled(meta_view *v)
{
    bool before = v->filled;
    v->filled = true;
    return before;
}

/* ---- describe and properties: pairs ---- */

static frz_code open_pairs(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {{"key", FRZ_TYPE_STRING, true, NULL},
                                               {"value", FRZ_TYPE_STRING, false, NULL}};
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

static frz_code pair(meta_view *v, frz_str key, frz_str value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_view_put_str(v, key, err));
    FRZ_TRY(meta_view_put_str(v, value, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code pair_text(meta_view *v, const char *key, const char *value, frz_error *err)
{
    return pair(v, frz_str_from(key), frz_str_from(value), err);
}

static frz_code pair_i64(meta_view *v, const char *key, int64_t value, frz_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return pair_text(v, key, text, err);
}

typedef struct live_sizes {
    int64_t rows, data_files, bytes, column_files, vectors;
} live_sizes;

static frz_code add_sizes(live_sizes *sizes, const frz_entry *entry, frz_error *err)
{
    bool fits = frz_add_i64(sizes->rows, entry->record_count, &sizes->rows) &&
                frz_add_i64(sizes->bytes, entry->file_size, &sizes->bytes);
    for (size_t k = 0; k < entry->column_file_count; k++) {
        fits = fits && frz_add_i64(sizes->bytes, entry->column_files[k].file_size, &sizes->bytes);
    }
    sizes->column_files += (int64_t)entry->column_file_count;
    sizes->vectors += entry->has_deletion_vector;
    sizes->data_files++;
    return fits ? FRZ_OK
                : frz_fail(err, FRZ_E_CORRUPT, "rows or bytes of the snapshot exceed 64 bits");
}

/* Sizes of the snapshot: of its data files, deleted rows included. */
static frz_code describe_files(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    live_sizes sizes = {0};
    const frz_entry *entries = NULL;
    size_t count = 0;
    for (rc = meta_view_walk_next(v, false, &entries, &count, err); rc == FRZ_OK;
         rc = meta_view_walk_next(v, false, &entries, &count, err)) {
        for (size_t i = 0; i < count; i++) {
            if (entries[i].content == FRZ_CONTENT_DATA) {
                FRZ_TRY(add_sizes(&sizes, &entries[i], err));
            }
        }
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    rc = FRZ_OK;
    FRZ_TRY(pair_i64(v, "rows", sizes.rows, err));
    FRZ_TRY(pair_i64(v, "data_files", sizes.data_files, err));
    FRZ_TRY(pair_i64(v, "column_files", sizes.column_files, err));
    FRZ_TRY(pair_i64(v, "data_bytes", sizes.bytes, err));
out:
    return rc;
}

static frz_code describe_properties(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &v->table->metadata;
    for (size_t i = 0; i < m->property_count && rc == FRZ_OK; i++) {
        const char *key =
            frz_arena_printf(&v->arena, "property.%.*s", FRZ_STR_ARG(m->properties[i].key));
        rc = key == NULL ? frz_fail_nomem(err, m->properties[i].key.len)
                         : pair(v, frz_str_from(key), m->properties[i].value, err);
    }
    return rc;
}

static frz_code describe_fill(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_table *table = v->table;
    const frz_metadata *m = &table->metadata;
    char updated[FRZ_TIME_TEXT];
    if (was_filled(v)) {
        return FRZ_END;
    }
    frz_time_text(m->last_updated_ms, updated);
    FRZ_TRY(pair_text(v, "name", table->name, err));
    FRZ_TRY(pair(v, FRZ_STR("table_uuid"), m->table_uuid, err));
    FRZ_TRY(pair_i64(v, "format_version", m->format_version, err));
    FRZ_TRY(pair_text(v, "location", table->base, err));
    FRZ_TRY(pair_text(v, "metadata_location", table->metadata_location, err));
    FRZ_TRY(pair_text(v, "last_updated", updated, err));
    FRZ_TRY(pair_i64(v, "last_sequence_number", m->last_sequence_number, err));
    FRZ_TRY(pair_i64(v, "next_row_id", m->next_row_id, err));
    FRZ_TRY(pair_i64(v, "current_schema_id", m->current_schema_id, err));
    FRZ_TRY(
        pair_i64(v, "columns", (int64_t)frz_metadata_current_schema(m)->type->field_count, err));
    FRZ_TRY(pair_i64(v, "last_column_id", m->last_column_id, err));
    FRZ_TRY(pair_i64(v, "default_spec_id", m->default_spec_id, err));
    FRZ_TRY(pair_i64(v, "default_sort_order_id", m->default_sort_order_id, err));
    FRZ_TRY(pair_i64(v, "snapshots", (int64_t)m->snapshot_count, err));
    if (m->current_snapshot_id != 0) {
        FRZ_TRY(pair_i64(v, "current_snapshot_id", m->current_snapshot_id, err));
    }
    FRZ_TRY(describe_files(v, err));
    FRZ_TRY(describe_properties(v, err));
out:
    return rc;
}

const meta_view_kind meta_view_describe = {open_pairs, describe_fill, true};

static frz_code properties_fill(meta_view *v, frz_error *err)
{
    const frz_metadata *m = &v->table->metadata;
    if (was_filled(v)) {
        return FRZ_END;
    }
    for (size_t i = 0; i < m->property_count; i++) {
        frz_code rc = pair(v, m->properties[i].key, m->properties[i].value, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

const meta_view_kind meta_view_properties = {open_pairs, properties_fill, false};

/* ---- schema ---- */

static frz_code schema_open(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {
        {"field_id", FRZ_TYPE_INT, true, NULL},
        {"name", FRZ_TYPE_STRING, true, NULL},
        {"type", FRZ_TYPE_STRING, true, NULL},
        {"required", FRZ_TYPE_BOOLEAN, true, NULL},
        {"initial_default", FRZ_TYPE_STRING, false, NULL},
        {"doc", FRZ_TYPE_STRING, false, NULL},
    };
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

typedef struct schema_lister {
    meta_view *view;
    const frz_type *schema;
    frz_buf text;
} schema_lister;

static frz_code schema_row(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    frz_code rc = FRZ_OK;
    schema_lister *s = ctx;
    meta_view *v = s->view;
    (void)in_repeated;
    FRZ_TRY(meta_view_put_i32(v, field->id, err));
    frz_buf_clear(&s->text);
    FRZ_TRY(frz_type_dotted_name(s->schema, field->id, &s->text, err));
    FRZ_TRY(meta_view_put_str(v, frz_buf_view(&s->text), err));
    frz_buf_clear(&s->text);
    FRZ_TRY(frz_type_print(field->type, &s->text, err));
    FRZ_TRY(meta_view_put_str(v, frz_buf_view(&s->text), err));
    FRZ_TRY(meta_view_put_bool(v, field->required, err));
    frz_buf_clear(&s->text);
    if (field->initial_default != NULL && !field->initial_default->is_null) {
        FRZ_TRY(frz_value_print(field->initial_default, &s->text, err));
        FRZ_TRY(frz_builder_bytes(meta_view_next(v), frz_buf_view(&s->text), err));
    } else {
        FRZ_TRY(frz_builder_null(meta_view_next(v), err));
    }
    FRZ_TRY(meta_view_put_str(v, field->doc, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code schema_fill(meta_view *v, frz_error *err)
{
    const frz_type *schema = frz_metadata_current_schema(&v->table->metadata)->type;
    schema_lister s = {
        .view = v, .schema = schema, .text = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT)};
    if (was_filled(v)) {
        return FRZ_END;
    }
    frz_code rc = frz_type_visit(schema, schema_row, &s, err);
    frz_buf_reset(&s.text);
    return rc;
}

const meta_view_kind meta_view_schema = {schema_open, schema_fill, false};

/* ---- snapshots ---- */

static frz_code snapshots_open(meta_view *v, frz_error *err)
{
    const frz_type *summary = NULL;
    frz_code rc = meta_view_text_map(v, &summary, err);
    const meta_view_column columns[] = {
        {"snapshot_id", FRZ_TYPE_LONG, true, NULL},
        {"parent_id", FRZ_TYPE_LONG, false, NULL},
        {"sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"committed_at", FRZ_TYPE_TIMESTAMPTZ, true, NULL},
        {"operation", FRZ_TYPE_STRING, false, NULL},
        {"first_row_id", FRZ_TYPE_LONG, false, NULL},
        {"added_rows", FRZ_TYPE_LONG, false, NULL},
        {"root_manifest", FRZ_TYPE_STRING, false, NULL},
        {"is_current", FRZ_TYPE_BOOLEAN, true, NULL},
        {"summary", FRZ_TYPE_MAP, false, summary},
        {"schema_id", FRZ_TYPE_INT, false, NULL},
        {"manifest_list", FRZ_TYPE_STRING, false, NULL},
    };
    return rc == FRZ_OK ? meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err) : rc;
}

static frz_code put_summary(meta_view *v, const frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = meta_view_next(v);
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

static frz_code snapshot_row(meta_view *v, const frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_view_put_i64(v, s->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, s->parent_id == 0 ? FRZ_NO_VALUE : s->parent_id, err));
    FRZ_TRY(meta_view_put_i64(v, s->sequence_number, err));
    FRZ_TRY(meta_view_put_ms(v, s->timestamp_ms, err));
    FRZ_TRY(meta_view_put_str(v, operation_of(s), err));
    FRZ_TRY(meta_view_put_i64(v, s->first_row_id, err));
    FRZ_TRY(meta_view_put_i64(v, s->added_rows, err));
    FRZ_TRY(meta_view_put_location(v, s->root_manifest, err));
    FRZ_TRY(meta_view_put_bool(v, s->snapshot_id == v->table->metadata.current_snapshot_id, err));
    FRZ_TRY(put_summary(v, s, err));
    FRZ_TRY(meta_view_put_i32(v, s->schema_id, err));
    FRZ_TRY(meta_view_put_location(v, s->manifest_list, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code snapshots_fill(meta_view *v, frz_error *err)
{
    frz_code rc = was_filled(v) ? FRZ_END : FRZ_OK;
    for (size_t i = 0; i < v->table->metadata.snapshot_count && rc == FRZ_OK; i++) {
        rc = snapshot_row(v, &v->table->metadata.snapshots[i], err);
    }
    return rc;
}

const meta_view_kind meta_view_snapshots = {snapshots_open, snapshots_fill, false};

/* ---- history: the snapshot log ---- */

static frz_code history_open(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {
        {"made_current_at", FRZ_TYPE_TIMESTAMPTZ, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, true, NULL},
        {"parent_id", FRZ_TYPE_LONG, false, NULL},
        {"is_current_ancestor", FRZ_TYPE_BOOLEAN, true, NULL},
    };
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

/* A chain of parents has no snapshot twice, but a damaged one may: it ends after so many steps. */
static bool is_current_ancestor(const frz_metadata *m, int64_t snapshot_id)
{
    const frz_snapshot *s = frz_metadata_current_snapshot(m);
    for (size_t i = 0; i < m->snapshot_count && s != NULL; i++) {
        if (s->snapshot_id == snapshot_id) {
            return true;
        }
        s = s->parent_id == 0 ? NULL : frz_metadata_snapshot(m, s->parent_id);
    }
    return false;
}

static frz_code history_row(meta_view *v, const frz_snapshot_log_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &v->table->metadata;
    const frz_snapshot *s = frz_metadata_snapshot(m, entry->snapshot_id);
    FRZ_TRY(meta_view_put_ms(v, entry->timestamp_ms, err));
    FRZ_TRY(meta_view_put_i64(v, entry->snapshot_id, err));
    FRZ_TRY(
        meta_view_put_i64(v, s == NULL || s->parent_id == 0 ? FRZ_NO_VALUE : s->parent_id, err));
    FRZ_TRY(meta_view_put_bool(v, is_current_ancestor(m, entry->snapshot_id), err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code history_fill(meta_view *v, frz_error *err)
{
    frz_code rc = was_filled(v) ? FRZ_END : FRZ_OK;
    for (size_t i = 0; i < v->table->metadata.snapshot_log_count && rc == FRZ_OK; i++) {
        rc = history_row(v, &v->table->metadata.snapshot_log[i], err);
    }
    return rc;
}

const meta_view_kind meta_view_history = {history_open, history_fill, false};

/* ---- refs ---- */

static frz_code refs_open(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {
        {"name", FRZ_TYPE_STRING, true, NULL},
        {"type", FRZ_TYPE_STRING, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, true, NULL},
        {"max_reference_age_in_ms", FRZ_TYPE_LONG, false, NULL},
        {"min_snapshots_to_keep", FRZ_TYPE_LONG, false, NULL},
        {"max_snapshot_age_in_ms", FRZ_TYPE_LONG, false, NULL},
    };
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

static frz_code ref_row(meta_view *v, const frz_ref *ref, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_view_put_str(v, ref->name, err));
    FRZ_TRY(meta_view_put_text(v, ref->is_tag ? "TAG" : "BRANCH", err));
    FRZ_TRY(meta_view_put_i64(v, ref->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, ref->max_ref_age_ms, err));
    FRZ_TRY(meta_view_put_i64(v, ref->min_snapshots_to_keep, err));
    FRZ_TRY(meta_view_put_i64(v, ref->max_snapshot_age_ms, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code refs_fill(meta_view *v, frz_error *err)
{
    frz_code rc = was_filled(v) ? FRZ_END : FRZ_OK;
    for (size_t i = 0; i < v->table->metadata.ref_count && rc == FRZ_OK; i++) {
        rc = ref_row(v, &v->table->metadata.refs[i], err);
    }
    return rc;
}

const meta_view_kind meta_view_refs = {refs_open, refs_fill, false};

/* ---- statistics: files beside the manifests ---- */

static frz_code statistics_open(meta_view *v, frz_error *err)
{
    const frz_type *blobs = NULL;
    frz_code rc = meta_view_list_of(v, frz_type_primitive(FRZ_TYPE_STRING), true, &blobs, err);
    const meta_view_column columns[] = {
        {"kind", FRZ_TYPE_STRING, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, true, NULL},
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"blob_types", FRZ_TYPE_LIST, false, blobs},
    };
    return rc == FRZ_OK ? meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err) : rc;
}

/* The types of the blobs of a Puffin file, in its order. */
static frz_code put_blob_types(meta_view *v, const json_t *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *blobs = meta_json_member(file, "blob-metadata");
    frz_builder *list = meta_view_next(v);
    if (!json_is_array(blobs)) {
        return frz_builder_null(list, err);
    }
    for (size_t i = 0; i < json_array_size(blobs); i++) {
        frz_str type;
        FRZ_TRY(meta_json_element(json_array_get(blobs, i), "blob-metadata", i, err));
        FRZ_TRY(meta_json_str(json_array_get(blobs, i), "blob-metadata.", "type", &type, err));
        FRZ_TRY(frz_builder_bytes(frz_builder_child(list, 0), type, err));
    }
    FRZ_TRY(frz_builder_end(list, err));
out:
    return rc;
}

static frz_code statistics_row(meta_view *v, const char *kind, const json_t *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t snapshot_id = 0, size = 0;
    frz_str location;
    char prefix[40];
    snprintf(prefix, sizeof prefix, "%s.", kind);
    FRZ_TRY(meta_json_i64(file, prefix, "snapshot-id", &snapshot_id, err));
    FRZ_TRY(meta_json_i64(file, prefix, "file-size-in-bytes", &size, err));
    FRZ_TRY(meta_json_str(file, prefix, "statistics-path", &location, err));
    FRZ_TRY(meta_view_put_text(v, kind, err));
    FRZ_TRY(meta_view_put_i64(v, snapshot_id, err));
    FRZ_TRY(meta_view_put_location(v, location, err));
    FRZ_TRY(meta_view_put_i64(v, size, err));
    FRZ_TRY(put_blob_types(v, file, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code statistics_fill(meta_view *v, frz_error *err)
{
    static const char *const lists[] = {"statistics", "partition-statistics"};
    frz_code rc = was_filled(v) ? FRZ_END : FRZ_OK;
    for (size_t k = 0; k < FRZ_ARRAY_COUNT(lists) && rc == FRZ_OK; k++) {
        const json_t *list = NULL;
        rc = meta_json_array_or_none(v->table->metadata.json, "", lists[k], &list, err);
        for (size_t i = 0; rc == FRZ_OK && i < json_array_size(list); i++) {
            rc = meta_json_element(json_array_get(list, i), lists[k], i, err);
            rc = rc == FRZ_OK ? statistics_row(v, lists[k], json_array_get(list, i), err) : rc;
        }
    }
    return rc;
}

const meta_view_kind meta_view_statistics = {statistics_open, statistics_fill, false};
