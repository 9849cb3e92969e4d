/*
 * Entries -> rows of a manifest, tracked_file structs in a builder.
 * spec: tracked_file, values in root entries
 */
#include "meta/meta_manifest_put.h"
#include "meta/meta_ids.h"

static frz_builder *column(const meta_row_writer *w, meta_column c)
{
    return frz_builder_child(w->builder, (size_t)w->row.at[c]);
}

static frz_code put_i64(frz_builder *b, int64_t value, frz_error *err)
{
    return value == FRZ_NO_VALUE ? frz_builder_null(b, err) : frz_builder_i64(b, value, err);
}

static frz_code put_i32(frz_builder *b, int32_t value, frz_error *err)
{
    return value < 0 ? frz_builder_null(b, err) : frz_builder_i32(b, value, err);
}

static frz_code put_bytes(frz_builder *b, frz_str bytes, frz_error *err)
{
    return bytes.ptr == NULL ? frz_builder_null(b, err) : frz_builder_bytes(b, bytes, err);
}

/* ---- statistics ---- */

static frz_code put_bound(frz_builder *b, bool has, const frz_value *bound, const frz_type *type,
                          frz_error *err)
{
    frz_value promoted;
    if (has && frz_type_equal(bound->type, type)) {
        return frz_builder_value(b, bound, err);
    }
    if (!has || !frz_type_promotes(bound->type, type)) {
        return frz_builder_null(b, err); /* unknown is always right */
    }
    frz_code rc = frz_value_promote(bound, type, &promoted, err);
    return rc == FRZ_OK ? frz_builder_value(b, &promoted, err) : rc;
}

static frz_code put_metric(frz_builder *b, const meta_stats_shape *shape, const frz_field_stats *s,
                           int metric, frz_error *err)
{
    int place = meta_stats_place(shape->metrics, metric);
    if (place < 0) {
        return FRZ_OK;
    }
    frz_builder *child = frz_builder_child(b, (size_t)place);
    int64_t count = FRZ_STAT_UNKNOWN;
    switch (metric) {
    case FRZ_STATS_LOWER_BOUND:
        return put_bound(child, s->has_lower, &s->lower, shape->type, err);
    case FRZ_STATS_UPPER_BOUND:
        return put_bound(child, s->has_upper, &s->upper, shape->type, err);
    case FRZ_STATS_TIGHT_BOUNDS:
        return s->tight_bounds < 0 || !(s->has_lower || s->has_upper)
                   ? frz_builder_null(child, err)
                   : frz_builder_bool(child, s->tight_bounds != 0, err);
    case FRZ_STATS_VALUE_COUNT:
        count = s->value_count;
        break;
    case FRZ_STATS_NULL_VALUE_COUNT:
        count = s->null_value_count;
        break;
    case FRZ_STATS_NAN_VALUE_COUNT:
        count = s->nan_value_count;
        break;
    default:
        count = s->total_bytes;
        break;
    }
    return count < 0 ? frz_builder_null(child, err) : frz_builder_i64(child, count, err);
}

static frz_code put_stats(const meta_row_writer *w, const frz_field_stats *stats, size_t count,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t cursor = 0;
    if (w->shape_count == 0) {
        return FRZ_OK;
    }
    frz_builder *all = column(w, META_CONTENT_STATS);
    if (count == 0 && !w->stats_always) {
        return frz_builder_null(all, err);
    }
    for (size_t i = 0; i < w->shape_count; i++) {
        frz_builder *b = frz_builder_child(all, i);
        const frz_field_stats *s = meta_find_stats(stats, count, w->shapes[i].field_id, &cursor);
        if (s == NULL) {
            FRZ_TRY(frz_builder_null(b, err));
            continue;
        }
        for (int metric = FRZ_STATS_LOWER_BOUND; metric <= FRZ_STATS_TOTAL_BYTES; metric++) {
            FRZ_TRY(put_metric(b, &w->shapes[i], s, metric, err));
        }
        FRZ_TRY(frz_builder_end(b, err));
    }
    FRZ_TRY(frz_builder_end(all, err));
out:
    return rc;
}

/* ---- data files ---- */

/* The numbers of an entry, all of which a root holds. */
static frz_code check_numbers(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    bool inherits = w->is_leaf && e->status == FRZ_STATUS_ADDED;
    bool known = e->first_row_id >= 0 && e->sequence_number >= 0 && e->file_sequence_number >= 0 &&
                 e->snapshot_id > 0;
    return known || inherits ? FRZ_OK
                             : frz_fail(err, FRZ_E_INTERNAL,
                                        "entry %.*s lacks a number that a manifest must hold",
                                        FRZ_STR_ARG(e->location));
}

static frz_code put_tracking(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = column(w, META_TRACKING);
    FRZ_TRY(frz_builder_i32(frz_builder_child(b, META_STATUS), (int32_t)e->status, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SNAPSHOT_ID), e->snapshot_id, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_MODIFIED_SNAPSHOT_ID), e->modified_snapshot_id, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SEQUENCE_NUMBER), e->sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FILE_SEQUENCE_NUMBER), e->file_sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FIRST_ROW_ID), e->first_row_id, err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, META_DELETED_POSITIONS), err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, META_REPLACED_POSITIONS), err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static const frz_value *find_value(const frz_entry *e, int32_t field_id)
{
    for (size_t i = 0; i < e->partition_count; i++) {
        if (e->partition[i].field_id == field_id) {
            return &e->partition[i].value;
        }
    }
    return NULL;
}

/* A value of the partition type of today, which its source may have been promoted to since. */
static frz_code put_partition_value(frz_builder *b, const frz_value *value, frz_error *err)
{
    const frz_type *type = frz_builder_type(b);
    frz_value promoted;
    if (value == NULL || value->is_null) {
        return frz_builder_null(b, err);
    }
    if (frz_type_equal(value->type, type)) {
        return frz_builder_value(b, value, err);
    }
    if (frz_value_as_source(value, type, &promoted)) {
        return frz_builder_value(b, &promoted, err);
    }
    return frz_fail(err, FRZ_E_CORRUPT, "a partition value is no value of its field's type");
}

/* Values that have no place would be lost. */
static frz_code check_partition(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    for (size_t i = 0; i < e->partition_count; i++) {
        int32_t id = e->partition[i].field_id;
        if (w->partition == NULL || frz_type_index_of_id(w->partition, id) < 0) {
            return frz_fail(err, FRZ_E_UNSUPPORTED,
                            "unsupported: writing partition field %d of %.*s, whose type is not "
                            "known",
                            (int)id, FRZ_STR_ARG(e->location));
        }
    }
    return FRZ_OK;
}

static frz_code put_partition(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(check_partition(w, e, err));
    if (w->partition == NULL) {
        return FRZ_OK;
    }
    frz_builder *tuple = column(w, META_PARTITION);
    if (e->partition_count == 0) {
        return frz_builder_null(tuple, err);
    }
    for (size_t i = 0; i < w->partition->field_count; i++) {
        const frz_field *field = &w->partition->fields[i];
        rc = put_partition_value(frz_builder_child(tuple, i), find_value(e, field->id), err);
        FRZ_TRY(frz_context(err, rc, "partition field %d of %.*s", (int)field->id,
                            FRZ_STR_ARG(e->location)));
    }
    FRZ_TRY(frz_builder_end(tuple, err));
out:
    return rc;
}

static frz_code put_deletion_vector(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = column(w, META_DELETION_VECTOR);
    const frz_deletion_vector *dv = &e->deletion_vector;
    if (!e->has_deletion_vector) {
        return frz_builder_null(b, err);
    }
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, META_DV_LOCATION), dv->location, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_DV_OFFSET), dv->offset, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_DV_SIZE), dv->size, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_DV_CARDINALITY), dv->cardinality, err));
    FRZ_TRY(put_bytes(frz_builder_child(b, META_DV_KEY_METADATA), dv->key_metadata, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code put_split_offsets(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_builder *b = column(w, META_SPLIT_OFFSETS);
    if (e->split_count == 0) {
        return frz_builder_null(b, err);
    }
    for (size_t i = 0; i < e->split_count; i++) {
        frz_code rc = frz_builder_i64(frz_builder_child(b, 0), e->split_offsets[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(b, err);
}

static frz_code put_column_file(frz_builder *b, const frz_column_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *ids = frz_builder_child(b, META_CF_FIELD_IDS);
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, META_CF_LOCATION), file->location, err));
    for (size_t i = 0; i < file->field_id_count; i++) {
        FRZ_TRY(frz_builder_i32(frz_builder_child(ids, 0), file->field_ids[i], err));
    }
    FRZ_TRY(frz_builder_end(ids, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, META_CF_FILE_FORMAT), file->file_format, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_CF_FILE_SIZE), file->file_size, err));
    FRZ_TRY(put_bytes(frz_builder_child(b, META_CF_KEY_METADATA), file->key_metadata, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code put_column_files(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_builder *b = column(w, META_COLUMN_FILES);
    if (e->column_file_count == 0) {
        return frz_builder_null(b, err); /* never an empty list */
    }
    for (size_t i = 0; i < e->column_file_count; i++) {
        frz_code rc = put_column_file(frz_builder_child(b, 0), &e->column_files[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(b, err);
}

frz_code meta_put_entry(const meta_row_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(e->content == FRZ_CONTENT_DATA);
    FRZ_TRY(check_numbers(w, e, err));
    FRZ_TRY(put_tracking(w, e, err));
    FRZ_TRY(frz_builder_i32(column(w, META_CONTENT_TYPE), (int32_t)e->content, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_LOCATION), e->location, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_FILE_FORMAT), e->file_format, err));
    FRZ_TRY(frz_builder_i64(column(w, META_RECORD_COUNT), e->record_count, err));
    FRZ_TRY(frz_builder_i64(column(w, META_FILE_SIZE), e->file_size, err));
    FRZ_TRY(put_i32(column(w, META_SPEC_ID), e->spec_id, err));
    FRZ_TRY(put_partition(w, e, err));
    FRZ_TRY(put_i32(column(w, META_SORT_ORDER_ID), e->sort_order_id, err));
    FRZ_TRY(put_stats(w, e->stats, e->stats_count, err));
    FRZ_TRY(put_deletion_vector(w, e, err));
    FRZ_TRY(frz_builder_null(column(w, META_MANIFEST_INFO), err));
    FRZ_TRY(put_bytes(column(w, META_KEY_METADATA), e->key_metadata, err));
    FRZ_TRY(put_split_offsets(w, e, err));
    FRZ_TRY(put_column_files(w, e, err));
    FRZ_TRY(frz_builder_end(w->builder, err));
out:
    return rc;
}

/* ---- manifests ---- */

static frz_code put_set(frz_builder *b, const frz_mumbling *set, frz_buf *bytes, frz_error *err)
{
    if (set == NULL) {
        return frz_builder_null(b, err);
    }
    frz_buf_clear(bytes);
    frz_code rc = frz_mumbling_encode(set, bytes, err);
    return rc == FRZ_OK ? frz_builder_bytes(b, frz_buf_view(bytes), err) : rc;
}

static frz_code put_file_tracking(const meta_row_writer *w, const frz_manifest_file *file,
                                  frz_buf *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = column(w, META_TRACKING);
    FRZ_TRY(frz_builder_i32(frz_builder_child(b, META_STATUS), (int32_t)file->status, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SNAPSHOT_ID), file->snapshot_id, err));
    FRZ_TRY(
        put_i64(frz_builder_child(b, META_MODIFIED_SNAPSHOT_ID), file->modified_snapshot_id, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SEQUENCE_NUMBER), file->sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FILE_SEQUENCE_NUMBER), file->sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FIRST_ROW_ID), file->first_row_id, err));
    FRZ_TRY(
        put_set(frz_builder_child(b, META_DELETED_POSITIONS), file->deleted_positions, bytes, err));
    FRZ_TRY(put_set(frz_builder_child(b, META_REPLACED_POSITIONS), file->replaced_positions, bytes,
                    err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code put_info(const meta_row_writer *w, const frz_manifest_file *file, frz_buf *bytes,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = column(w, META_MANIFEST_INFO);
    for (size_t i = 0; i < META_STATUS_COUNT; i++) {
        frz_status status = meta_info_order[i];
        FRZ_TRY(frz_builder_i32(frz_builder_child(b, META_INFO_FILES + i),
                                (int32_t)file->files[status], err));
        FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_INFO_ROWS + i), file->rows[status], err));
    }
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_INFO_MIN_SEQUENCE), file->min_sequence_number,
                            err));
    FRZ_TRY(put_set(frz_builder_child(b, META_INFO_DV), file->dv, bytes, err));
    FRZ_TRY(frz_builder_i32(frz_builder_child(b, META_INFO_FORMAT_VERSION),
                            file->legacy ? 0 : FRZ_FORMAT_VERSION, err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code check_file(const frz_manifest_file *file, frz_error *err)
{
    bool known = file->snapshot_id > 0 && file->sequence_number >= 0 && file->length >= 0 &&
                 file->entry_count >= 0 &&
                 (file->first_row_id >= 0) == (file->content == FRZ_CONTENT_DATA_MANIFEST);
    for (size_t i = 0; known && i < META_STATUS_COUNT; i++) {
        known = file->files[i] >= 0 && file->files[i] <= INT32_MAX && file->rows[i] >= 0;
    }
    return known
               ? FRZ_OK
               : frz_fail(err, FRZ_E_INTERNAL, "manifest %.*s lacks a number that a root must hold",
                          FRZ_STR_ARG(file->location));
}

frz_code meta_put_manifest(const meta_row_writer *w, const frz_manifest_file *file, frz_buf *bytes,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(check_file(file, err));
    FRZ_TRY(put_file_tracking(w, file, bytes, err));
    FRZ_TRY(frz_builder_i32(column(w, META_CONTENT_TYPE), (int32_t)file->content, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_LOCATION), file->location, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_FILE_FORMAT), file->file_format, err));
    FRZ_TRY(frz_builder_i64(column(w, META_RECORD_COUNT), file->entry_count, err));
    FRZ_TRY(frz_builder_i64(column(w, META_FILE_SIZE), file->length, err));
    FRZ_TRY(put_i32(column(w, META_SPEC_ID), file->spec_id, err));
    if (w->partition != NULL) {
        FRZ_TRY(frz_builder_null(column(w, META_PARTITION), err));
    }
    FRZ_TRY(frz_builder_null(column(w, META_SORT_ORDER_ID), err));
    FRZ_TRY(put_stats(w, file->stats, file->stats_count, err));
    FRZ_TRY(frz_builder_null(column(w, META_DELETION_VECTOR), err));
    FRZ_TRY(put_info(w, file, bytes, err));
    FRZ_TRY(put_bytes(column(w, META_KEY_METADATA), file->key_metadata, err));
    FRZ_TRY(frz_builder_null(column(w, META_SPLIT_OFFSETS), err));
    FRZ_TRY(frz_builder_null(column(w, META_COLUMN_FILES), err));
    FRZ_TRY(frz_builder_end(w->builder, err));
out:
    return rc;
}
