/*
 * Views of a snapshot: its manifests, and what stands in them.
 */
#include "meta/meta_ids.h"
#include "meta/meta_mumbling.h"
#include "meta/meta_view.h"

/* ---- manifests ---- */

static frz_code manifests_open(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {
        {"status", FRZ_TYPE_STRING, true, NULL},
        {"content", FRZ_TYPE_STRING, true, NULL},
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, false, NULL},
        {"spec_id", FRZ_TYPE_INT, false, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"modified_snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"sequence_number", FRZ_TYPE_LONG, false, NULL},
        {"min_sequence_number", FRZ_TYPE_LONG, false, NULL},
        {"first_row_id", FRZ_TYPE_LONG, false, NULL},
        {"entry_count", FRZ_TYPE_LONG, false, NULL},
        {"added_files_count", FRZ_TYPE_LONG, false, NULL},
        {"existing_files_count", FRZ_TYPE_LONG, false, NULL},
        {"deleted_files_count", FRZ_TYPE_LONG, false, NULL},
        {"replaced_files_count", FRZ_TYPE_LONG, false, NULL},
        {"modified_files_count", FRZ_TYPE_LONG, false, NULL},
        {"masked_count", FRZ_TYPE_LONG, true, NULL},
    };
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

/* The root stands for itself: it holds entries of data files. */
static frz_code root_row(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *s = v->snapshot;
    FRZ_TRY(meta_view_put_text(v, frz_status_name(FRZ_STATUS_ADDED), err));
    FRZ_TRY(meta_view_put_text(v, "ROOT", err));
    FRZ_TRY(meta_view_put_location(v, s->root_manifest, err));
    FRZ_TRY(meta_view_put_i64(v, FRZ_NO_VALUE, err));
    FRZ_TRY(meta_view_put_i32(v, -1, err));
    FRZ_TRY(meta_view_put_i64(v, s->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, FRZ_NO_VALUE, err));
    FRZ_TRY(meta_view_put_i64(v, s->sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, FRZ_NO_VALUE, err));
    FRZ_TRY(meta_view_put_i64(v, s->first_row_id, err));
    FRZ_TRY(meta_view_put_i64(
        v, (int64_t)(frz_tree_entry_count(v->tree) + frz_tree_manifest_count(v->tree)), err));
    int64_t files[5] = {0};
    for (size_t i = 0; i < frz_tree_entry_count(v->tree); i++) {
        files[frz_tree_entry(v->tree, i)->status]++;
    }
    static const frz_status order[] = {FRZ_STATUS_ADDED, FRZ_STATUS_EXISTING, FRZ_STATUS_DELETED,
                                       FRZ_STATUS_REPLACED, FRZ_STATUS_MODIFIED};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(order); i++) {
        FRZ_TRY(meta_view_put_i64(v, files[order[i]], err));
    }
    FRZ_TRY(meta_view_put_i64(v, 0, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code manifest_row(meta_view *v, const frz_manifest_file *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool deletes = m->content == FRZ_CONTENT_DELETE_MANIFEST;
    FRZ_TRY(meta_view_put_text(v, frz_status_name(m->status), err));
    FRZ_TRY(meta_view_put_text(v, deletes ? "DELETE_MANIFEST" : "DATA_MANIFEST", err));
    FRZ_TRY(meta_view_put_location(v, m->location, err));
    FRZ_TRY(meta_view_put_i64(v, m->length, err));
    FRZ_TRY(meta_view_put_i32(v, m->spec_id, err));
    FRZ_TRY(meta_view_put_i64(v, m->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, m->modified_snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, m->sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, m->min_sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, m->first_row_id, err));
    FRZ_TRY(meta_view_put_i64(v, m->entry_count, err));
    FRZ_TRY(meta_view_put_i64(v, m->files[FRZ_STATUS_ADDED], err));
    FRZ_TRY(meta_view_put_i64(v, m->files[FRZ_STATUS_EXISTING], err));
    FRZ_TRY(meta_view_put_i64(v, m->files[FRZ_STATUS_DELETED], err));
    FRZ_TRY(meta_view_put_i64(v, m->files[FRZ_STATUS_REPLACED], err));
    FRZ_TRY(meta_view_put_i64(v, m->files[FRZ_STATUS_MODIFIED], err));
    FRZ_TRY(meta_view_put_i64(v, m->dv == NULL ? 0 : (int64_t)m->dv->cardinality, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code manifests_fill(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (v->filled || v->tree == NULL) {
        return FRZ_END;
    }
    v->filled = true;
    if (frz_tree_has_root(v->tree)) {
        FRZ_TRY(root_row(v, err));
    }
    for (size_t i = 0; i < frz_tree_manifest_count(v->tree); i++) {
        FRZ_TRY(manifest_row(v, frz_tree_manifest(v->tree, i), err));
    }
out:
    return rc;
}

const meta_view_kind meta_view_manifests = {manifests_open, manifests_fill, true};

/* ---- deletion vectors ---- */

static frz_code vector_type(meta_view *v, const frz_type **out, frz_error *err)
{
    static const meta_view_column members[] = {
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"offset", FRZ_TYPE_LONG, true, NULL},
        {"size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"cardinality", FRZ_TYPE_LONG, true, NULL},
    };
    return meta_view_struct(v, members, FRZ_ARRAY_COUNT(members), out, err);
}

static frz_code put_vector(meta_view *v, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_builder *b = meta_view_next(v);
    if (!e->has_deletion_vector) {
        return frz_builder_null(b, err);
    }
    FRZ_TRY(frz_table_resolve(v->table, e->deletion_vector.location, &location, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, 0), frz_str_from(location), err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, 1), e->deletion_vector.offset, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, 2), e->deletion_vector.size, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, 3), e->deletion_vector.cardinality, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    frz_free(v->table->env, location);
    return rc;
}

/* ---- column files ---- */

/* list<struct<location, file_size_in_bytes, field_ids: list<int>, field_names: list<string>>> */
static frz_code column_files_type(meta_view *v, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *ids = NULL, *names = NULL, *file = NULL;
    FRZ_TRY(meta_view_list_of(v, frz_type_primitive(FRZ_TYPE_INT), true, &ids, err));
    FRZ_TRY(meta_view_list_of(v, frz_type_primitive(FRZ_TYPE_STRING), false, &names, err));
    const meta_view_column members[] = {
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"field_ids", FRZ_TYPE_LIST, true, ids},
        {"field_names", FRZ_TYPE_LIST, true, names},
    };
    FRZ_TRY(meta_view_struct(v, members, FRZ_ARRAY_COUNT(members), &file, err));
    FRZ_TRY(meta_view_list_of(v, file, true, out, err));
out:
    return rc;
}

/* Dotted; null for fields that the schema no longer has. */
static frz_code put_field_name(meta_view *v, int32_t id, frz_builder *b, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf name = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT);
    if (id == FRZ_ID_LAST_UPDATED) {
        return frz_builder_bytes(b, frz_field_last_updated.name, err);
    }
    FRZ_TRY(frz_type_dotted_name(v->schema->type, id, &name, err));
    rc = name.len == 0 ? frz_builder_null(b, err) : frz_builder_bytes(b, frz_buf_view(&name), err);
out:
    frz_buf_reset(&name);
    return rc;
}

static frz_code put_column_file(meta_view *v, const frz_column_file *file, frz_builder *b,
                                frz_error *err)
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
        FRZ_TRY(put_field_name(v, file->field_ids[i], frz_builder_child(names, 0), err));
    }
    FRZ_TRY(frz_builder_end(ids, err));
    FRZ_TRY(frz_builder_end(names, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    frz_free(v->table->env, location);
    return rc;
}

static frz_code put_column_files(meta_view *v, const frz_entry *e, frz_error *err)
{
    frz_builder *files = meta_view_next(v);
    for (size_t i = 0; i < e->column_file_count; i++) {
        frz_code rc = put_column_file(v, &e->column_files[i], frz_builder_child(files, 0), err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(files, err);
}

/* ---- rows of entries, part by part ---- */

typedef frz_code (*entry_row)(meta_view *v, const frz_entry *entry, frz_error *err);

static frz_code fill_entries(meta_view *v, bool all, entry_row row, frz_error *err)
{
    const frz_entry *entries = NULL;
    size_t count = 0;
    frz_code rc = meta_view_walk_next(v, all, &entries, &count, err);
    for (size_t i = 0; i < count && rc == FRZ_OK; i++) {
        rc = row(v, &entries[i], err);
    }
    return rc;
}

static const char *content_name(const frz_entry *e)
{
    switch (e->content) {
    case FRZ_CONTENT_DATA:
        return "DATA";
    case FRZ_CONTENT_POSITION_DELETES:
        return e->has_deletion_vector ? "DELETION_VECTOR" : "POSITION_DELETES";
    default:
        return "EQUALITY_DELETES";
    }
}

/* ---- files ---- */

static frz_code files_open(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *column_files = NULL, *vector = NULL;
    FRZ_TRY(column_files_type(v, &column_files, err));
    FRZ_TRY(vector_type(v, &vector, err));
    const meta_view_column columns[] = {
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_format", FRZ_TYPE_STRING, true, NULL},
        {"record_count", FRZ_TYPE_LONG, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"first_row_id", FRZ_TYPE_LONG, false, NULL},
        {"sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"file_sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"modified_snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"status", FRZ_TYPE_STRING, true, NULL},
        {"column_files", FRZ_TYPE_LIST, true, column_files},
        {"spec_id", FRZ_TYPE_INT, false, NULL},
        {"partition", FRZ_TYPE_STRING, false, NULL},
        {"sort_order_id", FRZ_TYPE_INT, false, NULL},
        {"deletion_vector", FRZ_TYPE_STRUCT, false, vector},
    };
    FRZ_TRY(meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err));
out:
    return rc;
}

static frz_code file_row(meta_view *v, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (e->content != FRZ_CONTENT_DATA) {
        return FRZ_OK;
    }
    FRZ_TRY(meta_view_put_location(v, e->location, err));
    FRZ_TRY(meta_view_put_str(v, e->file_format, err));
    FRZ_TRY(meta_view_put_i64(v, e->record_count, err));
    FRZ_TRY(meta_view_put_i64(v, e->file_size, err));
    FRZ_TRY(meta_view_put_i64(v, e->first_row_id, err));
    FRZ_TRY(meta_view_put_i64(v, e->sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, e->file_sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, e->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, e->modified_snapshot_id, err));
    FRZ_TRY(meta_view_put_text(v, frz_status_name(e->status), err));
    FRZ_TRY(put_column_files(v, e, err));
    FRZ_TRY(meta_view_put_i32(v, e->spec_id, err));
    FRZ_TRY(meta_view_put_partition(v, e, err));
    FRZ_TRY(meta_view_put_i32(v, e->sort_order_id, err));
    FRZ_TRY(put_vector(v, e, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code files_fill(meta_view *v, frz_error *err)
{
    return fill_entries(v, false, file_row, err);
}

const meta_view_kind meta_view_files = {files_open, files_fill, true};

/* ---- delete files ---- */

static frz_code delete_files_open(meta_view *v, frz_error *err)
{
    const frz_type *ids = NULL;
    frz_code rc = meta_view_list_of(v, frz_type_primitive(FRZ_TYPE_INT), true, &ids, err);
    const meta_view_column columns[] = {
        {"content", FRZ_TYPE_STRING, true, NULL},
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_format", FRZ_TYPE_STRING, true, NULL},
        {"record_count", FRZ_TYPE_LONG, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, false, NULL},
        {"sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"spec_id", FRZ_TYPE_INT, false, NULL},
        {"partition", FRZ_TYPE_STRING, false, NULL},
        {"equality_ids", FRZ_TYPE_LIST, false, ids},
        {"referenced_data_file", FRZ_TYPE_STRING, false, NULL},
        {"content_offset", FRZ_TYPE_LONG, false, NULL},
        {"content_size_in_bytes", FRZ_TYPE_LONG, false, NULL},
    };
    return rc == FRZ_OK ? meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err) : rc;
}

/* Delete files, and the vectors that data files of version 4 have with them. */
static frz_code delete_file_row(meta_view *v, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool has_vector = e->has_deletion_vector;
    bool colocated = e->content == FRZ_CONTENT_DATA;
    if (colocated && !has_vector) {
        return FRZ_OK;
    }
    const frz_deletion_vector *vector = &e->deletion_vector;
    FRZ_TRY(meta_view_put_text(v, colocated ? "DELETION_VECTOR" : content_name(e), err));
    FRZ_TRY(meta_view_put_location(v, colocated ? vector->location : e->location, err));
    FRZ_TRY(meta_view_put_str(v, colocated ? FRZ_STR("puffin") : e->file_format, err));
    FRZ_TRY(meta_view_put_i64(v, colocated ? vector->cardinality : e->record_count, err));
    FRZ_TRY(meta_view_put_i64(v, colocated ? FRZ_NO_VALUE : e->file_size, err));
    FRZ_TRY(meta_view_put_i64(v, e->sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v,
                              colocated && e->modified_snapshot_id != FRZ_NO_VALUE
                                  ? e->modified_snapshot_id
                                  : e->snapshot_id,
                              err));
    FRZ_TRY(meta_view_put_i32(v, e->spec_id, err));
    FRZ_TRY(meta_view_put_partition(v, e, err));
    FRZ_TRY(meta_view_put_ids(v, e->equality_ids, e->equality_id_count, err));
    FRZ_TRY(meta_view_put_location(v, colocated ? e->location : e->referenced_data_file, err));
    FRZ_TRY(meta_view_put_i64(v, has_vector ? vector->offset : FRZ_NO_VALUE, err));
    FRZ_TRY(meta_view_put_i64(v, has_vector ? vector->size : FRZ_NO_VALUE, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code delete_files_fill(meta_view *v, frz_error *err)
{
    return fill_entries(v, false, delete_file_row, err);
}

const meta_view_kind meta_view_delete_files = {delete_files_open, delete_files_fill, true};

/* ---- entries ---- */

static frz_code entries_open(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *ids = NULL, *vector = NULL;
    FRZ_TRY(meta_view_list_of(v, frz_type_primitive(FRZ_TYPE_INT), true, &ids, err));
    FRZ_TRY(vector_type(v, &vector, err));
    const meta_view_column columns[] = {
        {"status", FRZ_TYPE_STRING, true, NULL},
        {"is_live", FRZ_TYPE_BOOLEAN, true, NULL},
        {"content", FRZ_TYPE_STRING, true, NULL},
        {"location", FRZ_TYPE_STRING, true, NULL},
        {"file_format", FRZ_TYPE_STRING, true, NULL},
        {"record_count", FRZ_TYPE_LONG, true, NULL},
        {"file_size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"file_sequence_number", FRZ_TYPE_LONG, true, NULL},
        {"snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"modified_snapshot_id", FRZ_TYPE_LONG, false, NULL},
        {"first_row_id", FRZ_TYPE_LONG, false, NULL},
        {"spec_id", FRZ_TYPE_INT, false, NULL},
        {"partition", FRZ_TYPE_STRING, false, NULL},
        {"sort_order_id", FRZ_TYPE_INT, false, NULL},
        {"column_file_count", FRZ_TYPE_INT, true, NULL},
        {"deletion_vector", FRZ_TYPE_STRUCT, false, vector},
        {"equality_ids", FRZ_TYPE_LIST, false, ids},
        {"referenced_data_file", FRZ_TYPE_STRING, false, NULL},
        {"manifest", FRZ_TYPE_STRING, true, NULL},
        {"position", FRZ_TYPE_LONG, true, NULL},
    };
    FRZ_TRY(meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err));
out:
    return rc;
}

static frz_code entry_row_of(meta_view *v, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_manifest_file *manifest = v->walk.manifest;
    bool live = frz_status_is_live(e->status) && !meta_view_is_masked(v, e);
    FRZ_TRY(meta_view_put_text(v, frz_status_name(e->status), err));
    FRZ_TRY(meta_view_put_bool(v, live, err));
    FRZ_TRY(meta_view_put_text(v, content_name(e), err));
    FRZ_TRY(meta_view_put_location(v, e->location, err));
    FRZ_TRY(meta_view_put_str(v, e->file_format, err));
    FRZ_TRY(meta_view_put_i64(v, e->record_count, err));
    FRZ_TRY(meta_view_put_i64(v, e->file_size, err));
    FRZ_TRY(meta_view_put_i64(v, e->sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, e->file_sequence_number, err));
    FRZ_TRY(meta_view_put_i64(v, e->snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, e->modified_snapshot_id, err));
    FRZ_TRY(meta_view_put_i64(v, e->first_row_id, err));
    FRZ_TRY(meta_view_put_i32(v, e->spec_id, err));
    FRZ_TRY(meta_view_put_partition(v, e, err));
    FRZ_TRY(meta_view_put_i32(v, e->sort_order_id, err));
    FRZ_TRY(meta_view_put_i32(v, (int32_t)e->column_file_count, err));
    FRZ_TRY(put_vector(v, e, err));
    FRZ_TRY(meta_view_put_ids(v, e->equality_ids, e->equality_id_count, err));
    FRZ_TRY(meta_view_put_location(v, e->referenced_data_file, err));
    FRZ_TRY(meta_view_put_location(
        v, manifest == NULL ? v->snapshot->root_manifest : manifest->location, err));
    FRZ_TRY(meta_view_put_i64(v, e->position, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

static frz_code entries_fill(meta_view *v, frz_error *err)
{
    return fill_entries(v, true, entry_row_of, err);
}

const meta_view_kind meta_view_entries = {entries_open, entries_fill, true};
