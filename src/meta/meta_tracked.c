/*
 * Rows of v4 manifests.
 *
 * Invariants:
 *  1. Nothing is guessed: a null where a value must be is an error, but a missing statistic is
 *     unknown.
 *  2. Columns are found by field id. A column that is not there is null in every row.
 *
 * spec: tracked_file, tracking, values in root entries, inheritance, partition tuple
 */
#include <stdlib.h>

#include "meta/meta_ids.h"
#include "meta/meta_tracked.h"

static meta_cell column(const meta_tracked_row *r, meta_column which)
{
    int at = r->shape->at[which];
    return at < 0 ? (meta_cell){NULL, 0}
                  : (meta_cell){r->batch->children[at], r->batch->offset + r->row};
}

/* ---- tracking ---- */

static frz_code read_status(meta_cell tracking, frz_entry *e, frz_error *err)
{
    int32_t status = 0;
    frz_code rc = meta_want_i32(meta_cell_member(tracking, META_STATUS), "status", &status, err);
    if (rc == FRZ_OK && (status < FRZ_STATUS_EXISTING || status > FRZ_STATUS_MODIFIED)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "status: expected 0 to 4, found %d", (int)status);
    }
    e->status = (frz_status)status;
    return rc;
}

/* Null means the parent's number for entries that may inherit it; of a leaf's entry that is no more
 * live nobody asks. */
static frz_code resolve(meta_cell c, bool inherits, const meta_parent *parent, int64_t inherited,
                        bool live, const char *name, int64_t *out, frz_error *err)
{
    if (meta_cell_null(c) && (inherits || (!parent->is_root && !live))) {
        *out = inherits ? inherited : FRZ_NO_VALUE;
        return FRZ_OK;
    }
    return meta_want_i64(c, name, out, err);
}

static frz_code read_tracking(meta_cell tracking, const meta_parent *parent, frz_entry *e,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(read_status(tracking, e, err));
    bool added = e->status == FRZ_STATUS_ADDED, modified = e->status == FRZ_STATUS_MODIFIED;
    bool live = frz_status_is_live(e->status);
    bool oldest = !parent->is_root && parent->sequence_number == 0;
    FRZ_TRY(resolve(meta_cell_member(tracking, META_SNAPSHOT_ID), added || !parent->is_root, parent,
                    parent->snapshot_id, live, "snapshot_id", &e->snapshot_id, err));
    FRZ_TRY(resolve(meta_cell_member(tracking, META_SEQUENCE_NUMBER), added || modified || oldest,
                    parent, parent->sequence_number, live, "sequence_number", &e->sequence_number,
                    err));
    FRZ_TRY(resolve(meta_cell_member(tracking, META_FILE_SEQUENCE_NUMBER),
                    added || oldest || (modified && parent->is_root), parent,
                    parent->sequence_number, live, "file_sequence_number", &e->file_sequence_number,
                    err));
    e->modified_snapshot_id =
        meta_cell_i64(meta_cell_member(tracking, META_MODIFIED_SNAPSHOT_ID), FRZ_NO_VALUE);
    e->first_row_id = meta_cell_i64(meta_cell_member(tracking, META_FIRST_ROW_ID), FRZ_NO_VALUE);
    if ((e->sequence_number < 0 || e->file_sequence_number < 0) && (live || parent->is_root)) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "sequence_number, file_sequence_number: expected no negative numbers, found "
                      "%lld, %lld",
                      (long long)e->sequence_number, (long long)e->file_sequence_number);
    }
out:
    return rc;
}

static const char *content_note(int32_t content)
{
    switch (content) {
    case FRZ_CONTENT_POSITION_DELETES:
        return " (position deletes)";
    case FRZ_CONTENT_EQUALITY_DELETES:
        return " (equality deletes)";
    case FRZ_CONTENT_DATA_MANIFEST:
    case FRZ_CONTENT_DELETE_MANIFEST:
        return " (a manifest)";
    default:
        return "";
    }
}

static frz_code read_content(const meta_tracked_row *r, const meta_parent *parent, frz_entry *e,
                             frz_error *err)
{
    int32_t content = 0;
    frz_code rc = meta_want_i32(column(r, META_CONTENT_TYPE), "content_type", &content, err);
    bool manifest = content == FRZ_CONTENT_DATA_MANIFEST || content == FRZ_CONTENT_DELETE_MANIFEST;
    if (rc == FRZ_OK && content != FRZ_CONTENT_DATA && !(manifest && parent->is_root)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "content_type: expected %s, found %d%s",
                      parent->is_root ? "0, 3 or 4 in a root" : "0 in a leaf manifest",
                      (int)content, content_note(content));
    }
    e->content = (frz_content)content;
    return rc;
}

static frz_code check_first_row_id(const frz_entry *e, const meta_parent *parent, frz_error *err)
{
    if (e->first_row_id == FRZ_NO_VALUE && !parent->is_root) {
        return FRZ_OK; /* may be inherited */
    }
    return e->first_row_id >= 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected a row id, found %s",
                          e->first_row_id == FRZ_NO_VALUE ? "null" : "a negative number");
}

frz_code meta_tracked_head(const meta_tracked_row *row, const meta_parent *parent, frz_entry *entry,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_cell records = column(row, META_RECORD_COUNT);
    FRZ_TRY(read_content(row, parent, entry, err));
    FRZ_TRY(read_tracking(column(row, META_TRACKING), parent, entry, err));
    entry->spec_id = FRZ_MAX(meta_cell_i32(column(row, META_SPEC_ID), -1), -1);
    if (entry->content == FRZ_CONTENT_DATA) {
        FRZ_TRY(meta_want_count(records, "record_count", &entry->record_count, err));
        FRZ_TRY(check_first_row_id(entry, parent, err));
    } else {
        FRZ_TRY(meta_want_i64(records, "record_count", &entry->record_count, err));
    }
out:
    return rc;
}

/* ---- partition ---- */

frz_code meta_tracked_partition_types(const meta_tracked *tracked, frz_arena *arena,
                                      const frz_type ***out, frz_error *err)
{
    size_t count = tracked->partition == NULL ? 0 : tracked->partition->field_count;
    const frz_type **types = frz_arena_array(arena, count, sizeof *types);
    if (types == NULL) {
        return frz_fail_nomem(err, count * sizeof *types);
    }
    for (size_t i = 0; i < count; i++) {
        frz_code rc = frz_type_copy(arena, tracked->partition->fields[i].type, &types[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    *out = types;
    return FRZ_OK;
}

/* The place of a spec's field in the file's tuple, or -1. */
static int partition_place(const frz_type *partition, const frz_partition_field *field)
{
    return (int)frz_type_index_of_id(partition, field->field_id);
}

frz_code meta_tracked_partition(const meta_tracked_row *row, const frz_type *const *types,
                                frz_partition_value *room, frz_arena *arena, frz_entry *entry,
                                frz_error *err)
{
    const frz_type *partition = row->tracked->partition;
    const frz_partition_spec *spec =
        partition == NULL ? NULL
                          : frz_metadata_spec(&row->tracked->table->metadata, entry->spec_id);
    meta_cell tuple = column(row, META_PARTITION);
    size_t n = 0;
    if (spec == NULL || meta_cell_null(tuple)) {
        return FRZ_OK; /* fields of an unknown spec mean nothing */
    }
    for (size_t i = 0; i < spec->field_count && n < partition->field_count; i++) {
        int place = partition_place(partition, &spec->fields[i]);
        if (place < 0) {
            continue;
        }
        meta_cell c = meta_cell_member(tuple, place);
        const frz_type *type = types == NULL ? partition->fields[place].type : types[place];
        frz_value value = frz_value_at(type, c.array, c.row);
        frz_code rc = arena == NULL ? FRZ_OK : frz_value_copy(arena, &value, &value, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        room[n++] = (frz_partition_value){spec->fields[i].field_id, value};
    }
    entry->partition = room;
    entry->partition_count = n;
    return FRZ_OK;
}

/* ---- statistics ---- */

static frz_code read_bound(const meta_stats_shape *shape, meta_cell c, frz_arena *arena, bool *has,
                           frz_value *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *has = false;
    if (meta_cell_null(c)) {
        return FRZ_OK;
    }
    *out = frz_value_at(shape->type, c.array, c.row);
    if (frz_bound_is_nan(out)) {
        return FRZ_OK; /* never a bound */
    }
    rc = arena == NULL ? FRZ_OK : frz_value_copy(arena, out, out, err);
    *has = rc == FRZ_OK;
    return rc;
}

static int64_t read_metric(meta_cell stats, const meta_stats_shape *shape, int metric)
{
    meta_cell c = meta_cell_member(stats, meta_stats_place(shape->metrics, metric));
    return FRZ_MAX(meta_cell_i64(c, FRZ_STAT_UNKNOWN), FRZ_STAT_UNKNOWN);
}

/* *known is false if every metric is null. */
static frz_code read_field_stats(const meta_stats_shape *shape, meta_cell stats, frz_arena *arena,
                                 frz_field_stats *s, bool *known, frz_error *err)
{
    frz_code rc = FRZ_OK;
    unsigned metrics = shape->metrics;
    *s = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(shape->field_id, shape->type);
    FRZ_TRY(read_bound(shape,
                       meta_cell_member(stats, meta_stats_place(metrics, FRZ_STATS_LOWER_BOUND)),
                       arena, &s->has_lower, &s->lower, err));
    FRZ_TRY(read_bound(shape,
                       meta_cell_member(stats, meta_stats_place(metrics, FRZ_STATS_UPPER_BOUND)),
                       arena, &s->has_upper, &s->upper, err));
    s->tight_bounds =
        meta_cell_bool(meta_cell_member(stats, meta_stats_place(metrics, FRZ_STATS_TIGHT_BOUNDS)));
    s->value_count = read_metric(stats, shape, FRZ_STATS_VALUE_COUNT);
    s->null_value_count = read_metric(stats, shape, FRZ_STATS_NULL_VALUE_COUNT);
    s->nan_value_count = read_metric(stats, shape, FRZ_STATS_NAN_VALUE_COUNT);
    s->total_bytes = read_metric(stats, shape, FRZ_STATS_TOTAL_BYTES);
    *known = s->has_lower || s->has_upper || s->value_count >= 0 || s->null_value_count >= 0 ||
             s->nan_value_count >= 0 || s->total_bytes >= 0;
out:
    return rc;
}

frz_code meta_tracked_stats(const meta_tracked_row *row, frz_field_stats *room, frz_arena *arena,
                            const frz_field_stats **out, size_t *count, frz_error *err)
{
    meta_cell all = column(row, META_CONTENT_STATS);
    size_t n = 0;
    if (meta_cell_null(all)) {
        return FRZ_OK;
    }
    for (size_t i = 0; i < row->tracked->shape_count; i++) {
        bool known = false;
        frz_code rc = read_field_stats(&row->tracked->shapes[i], meta_cell_member(all, (int)i),
                                       arena, &room[n], &known, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        n += known;
    }
    *out = room;
    *count = n;
    return FRZ_OK;
}

/* ---- column files ---- */

static int compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static frz_code read_field_ids(meta_cell list, frz_arena *arena, frz_column_file *file,
                               frz_error *err)
{
    size_t count = meta_cell_size(list);
    int32_t *ids = frz_arena_array(arena, count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = meta_cell_i32(meta_cell_element(list, i), 0); /* 0 is refused as an id */
    }
    qsort(ids, count, sizeof *ids, compare_i32);
    file->field_ids = ids;
    file->field_id_count = count;
    return FRZ_OK;
}

static frz_code read_column_file(meta_cell c, frz_arena *arena, frz_column_file *file,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_copy_bytes(meta_cell_member(c, META_CF_LOCATION), arena, &file->location, err));
    FRZ_TRY(
        meta_copy_bytes(meta_cell_member(c, META_CF_FILE_FORMAT), arena, &file->file_format, err));
    file->file_size = meta_cell_i64(meta_cell_member(c, META_CF_FILE_SIZE), -1);
    FRZ_TRY(read_field_ids(meta_cell_member(c, META_CF_FIELD_IDS), arena, file, err));
    FRZ_TRY(meta_copy_bytes(meta_cell_member(c, META_CF_KEY_METADATA), arena, &file->key_metadata,
                            err));
out:
    return rc;
}

static frz_code read_column_files(const meta_tracked_row *r, frz_arena *arena, frz_entry *e,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_cell list = column(r, META_COLUMN_FILES);
    size_t count = meta_cell_size(list);
    if (count == 0) {
        return FRZ_OK;
    }
    frz_column_file *files = frz_arena_array(arena, count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, count * sizeof *files);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_column_file(meta_cell_element(list, i), arena, &files[i], err));
    }
    e->column_files = files;
    e->column_file_count = count;
    FRZ_TRY(meta_check_column_files(r->tracked->rules, e, r->tracked->table->env, err));
out:
    return rc;
}

/* ---- the rest of a data file ---- */

static frz_code read_deletion_vector(const meta_tracked_row *r, frz_arena *arena, frz_entry *e,
                                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_cell dv = column(r, META_DELETION_VECTOR);
    frz_deletion_vector *out = &e->deletion_vector;
    e->has_deletion_vector = !meta_cell_null(dv);
    if (!e->has_deletion_vector) {
        return FRZ_OK;
    }
    FRZ_TRY(meta_want_text(meta_cell_member(dv, META_DV_LOCATION), "deletion_vector: location",
                           arena, &out->location, err));
    FRZ_TRY(meta_want_count(meta_cell_member(dv, META_DV_OFFSET), "deletion_vector: offset",
                            &out->offset, err));
    FRZ_TRY(meta_want_count(meta_cell_member(dv, META_DV_SIZE), "deletion_vector: size_in_bytes",
                            &out->size, err));
    FRZ_TRY(meta_want_count(meta_cell_member(dv, META_DV_CARDINALITY),
                            "deletion_vector: cardinality", &out->cardinality, err));
    FRZ_TRY(meta_copy_bytes(meta_cell_member(dv, META_DV_KEY_METADATA), arena, &out->key_metadata,
                            err));
    if (out->cardinality > e->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "deletion_vector: cardinality %lld, but the file has %lld rows",
                      (long long)out->cardinality, (long long)e->record_count);
    }
out:
    return rc;
}

frz_code meta_tracked_file(const meta_tracked_row *row, frz_arena *arena, frz_entry *entry,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_want_text(column(row, META_LOCATION), "location", arena, &entry->location, err));
    FRZ_TRY(meta_want_text(column(row, META_FILE_FORMAT), "file_format", arena, &entry->file_format,
                           err));
    FRZ_TRY(
        meta_want_count(column(row, META_FILE_SIZE), "file_size_in_bytes", &entry->file_size, err));
    FRZ_TRY(meta_copy_bytes(column(row, META_KEY_METADATA), arena, &entry->key_metadata, err));
    entry->sort_order_id = FRZ_MAX(meta_cell_i32(column(row, META_SORT_ORDER_ID), -1), -1);
out:
    return rc;
}

frz_code meta_tracked_data(const meta_tracked_row *row, frz_arena *arena, frz_entry *entry,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_check_format(entry->file_format, err));
    FRZ_TRY(read_deletion_vector(row, arena, entry, err));
    FRZ_TRY(meta_copy_count_list(column(row, META_SPLIT_OFFSETS), "split_offsets", arena,
                                 &entry->split_offsets, &entry->split_count, err));
    FRZ_TRY(read_column_files(row, arena, entry, err));
out:
    return rc;
}

/* ---- entries of manifests ---- */

static frz_code read_counts(meta_cell info, frz_manifest_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < META_STATUS_COUNT; i++) {
        frz_status status = meta_info_order[i];
        FRZ_TRY(meta_want_count(meta_cell_member(info, META_INFO_FILES + (int)i),
                                "manifest_info: files count", &file->files[status], err));
        FRZ_TRY(meta_want_count(meta_cell_member(info, META_INFO_ROWS + (int)i),
                                "manifest_info: rows count", &file->rows[status], err));
        if (file->rows[status] > 0 && file->files[status] == 0) {
            return frz_fail(err, FRZ_E_CORRUPT, "manifest_info: %lld rows in no files",
                            (long long)file->rows[status]);
        }
    }
out:
    return rc;
}

static frz_code read_info(meta_cell info, frz_manifest_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t version = 0;
    if (meta_cell_null(info)) {
        return frz_fail(err, FRZ_E_CORRUPT, "manifest_info: a manifest has one, found null");
    }
    FRZ_TRY(read_counts(info, file, err));
    FRZ_TRY(meta_want_count(meta_cell_member(info, META_INFO_MIN_SEQUENCE),
                            "manifest_info: min_sequence_number", &file->min_sequence_number, err));
    FRZ_TRY(meta_want_i64(meta_cell_member(info, META_INFO_FORMAT_VERSION),
                          "manifest_info: format_version", &version, err));
    if (version != 0 && version < FRZ_FORMAT_VERSION) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "manifest_info: format_version: expected 0, or 4 or more, found %lld",
                        (long long)version);
    }
    file->legacy = version == 0;
    if (file->content == FRZ_CONTENT_DELETE_MANIFEST && !file->legacy) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "format version %lld has no delete manifests, found one",
                        (long long)version);
    }
out:
    return rc;
}

/* A v4 leaf counts every one of its entries by status. */
static frz_code check_entry_count(const frz_manifest_file *file, frz_error *err)
{
    int64_t sum = 0;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(file->files); i++) {
        if (!frz_add_i64(sum, file->files[i], &sum)) {
            return frz_fail(err, FRZ_E_CORRUPT, "manifest_info: files counts exceed 64 bits");
        }
    }
    if (!file->legacy && sum != file->entry_count) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "manifest_info: files counts sum to %lld, record_count is %lld",
                        (long long)sum, (long long)file->entry_count);
    }
    return FRZ_OK;
}

static frz_code check_manifest(const meta_tracked_row *row, const frz_entry *e, frz_error *err)
{
    if (meta_cell_size(column(row, META_COLUMN_FILES)) > 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column files of manifests");
    }
    if (e->sequence_number != e->file_sequence_number) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "sequence_number %lld and file_sequence_number %lld of a manifest differ",
                        (long long)e->sequence_number, (long long)e->file_sequence_number);
    }
    bool deletes = e->content == FRZ_CONTENT_DELETE_MANIFEST;
    if (e->first_row_id != FRZ_NO_VALUE && (deletes || e->first_row_id < 0)) {
        return frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected %s, found %lld",
                        deletes ? "null" : "a row id", (long long)e->first_row_id);
    }
    return FRZ_OK;
}

frz_code meta_tracked_manifest_of(const meta_tracked_row *row, const frz_entry *entry,
                                  meta_tracked_manifest *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_cell info = column(row, META_MANIFEST_INFO), tracking = column(row, META_TRACKING);
    *out = (meta_tracked_manifest){
        .file = {.content = entry->content,
                 .status = entry->status,
                 .location = entry->location,
                 .file_format = entry->file_format,
                 .length = entry->file_size,
                 .spec_id = entry->spec_id,
                 .snapshot_id = entry->snapshot_id,
                 .modified_snapshot_id = entry->modified_snapshot_id,
                 .sequence_number = entry->sequence_number,
                 .first_row_id = entry->first_row_id,
                 .entry_count = entry->record_count < 0 ? FRZ_NO_VALUE : entry->record_count,
                 .position = entry->position,
                 .key_metadata = entry->key_metadata},
        .dv = meta_cell_str(meta_cell_member(info, META_INFO_DV)),
        .deleted_positions = meta_cell_str(meta_cell_member(tracking, META_DELETED_POSITIONS)),
        .replaced_positions = meta_cell_str(meta_cell_member(tracking, META_REPLACED_POSITIONS)),
    };
    FRZ_TRY(read_info(info, &out->file, err));
    FRZ_TRY(check_manifest(row, entry, err));
    FRZ_TRY(check_entry_count(&out->file, err));
out:
    return rc;
}
