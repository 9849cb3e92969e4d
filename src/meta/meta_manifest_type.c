/*
 * The row type of v4 manifests, tracked_file, as tables of names, ids and types.
 * spec: tracked_file, tracking, manifest_info, column_file, deletion_vector, content stats
 */
#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

static const meta_field_row tracking_rows[META_TRACKING_COUNT] = {
    [META_STATUS] = {"status", FRZ_ID_STATUS, FRZ_TYPE_INT, true},
    [META_SNAPSHOT_ID] = {"snapshot_id", FRZ_ID_SNAPSHOT_ID, FRZ_TYPE_LONG, false},
    [META_MODIFIED_SNAPSHOT_ID] = {"modified_snapshot_id", FRZ_ID_MODIFIED_SNAPSHOT_ID,
                                   FRZ_TYPE_LONG, false},
    [META_SEQUENCE_NUMBER] = {"sequence_number", FRZ_ID_SEQUENCE_NUMBER, FRZ_TYPE_LONG, false},
    [META_FILE_SEQUENCE_NUMBER] = {"file_sequence_number", FRZ_ID_FILE_SEQUENCE_NUMBER,
                                   FRZ_TYPE_LONG, false},
    [META_FIRST_ROW_ID] = {"first_row_id", FRZ_ID_FIRST_ROW_ID, FRZ_TYPE_LONG, false},
    [META_DELETED_POSITIONS] = {"deleted_positions", FRZ_ID_DELETED_POSITIONS, FRZ_TYPE_BINARY,
                                false},
    [META_REPLACED_POSITIONS] = {"replaced_positions", FRZ_ID_REPLACED_POSITIONS, FRZ_TYPE_BINARY,
                                 false},
};

static const meta_field_row vector_rows[META_DV_COUNT] = {
    [META_DV_LOCATION] = {"location", FRZ_ID_DV_LOCATION, FRZ_TYPE_STRING, true},
    [META_DV_OFFSET] = {"offset", FRZ_ID_DV_OFFSET, FRZ_TYPE_LONG, true},
    [META_DV_SIZE] = {"size_in_bytes", FRZ_ID_DV_SIZE, FRZ_TYPE_LONG, true},
    [META_DV_CARDINALITY] = {"cardinality", FRZ_ID_DV_CARDINALITY, FRZ_TYPE_LONG, true},
    [META_DV_KEY_METADATA] = {"key_metadata", FRZ_ID_DV_KEY_METADATA, FRZ_TYPE_BINARY, false},
};

static const meta_field_row info_rows[META_INFO_COUNT] = {
    {"added_files_count", FRZ_ID_ADDED_FILES_COUNT, FRZ_TYPE_INT, true},
    {"existing_files_count", FRZ_ID_EXISTING_FILES_COUNT, FRZ_TYPE_INT, true},
    {"deleted_files_count", FRZ_ID_DELETED_FILES_COUNT, FRZ_TYPE_INT, true},
    {"replaced_files_count", FRZ_ID_REPLACED_FILES_COUNT, FRZ_TYPE_INT, true},
    {"modified_files_count", FRZ_ID_MODIFIED_FILES_COUNT, FRZ_TYPE_INT, true},
    {"added_rows_count", FRZ_ID_ADDED_ROWS_COUNT, FRZ_TYPE_LONG, true},
    {"existing_rows_count", FRZ_ID_EXISTING_ROWS_COUNT, FRZ_TYPE_LONG, true},
    {"deleted_rows_count", FRZ_ID_DELETED_ROWS_COUNT, FRZ_TYPE_LONG, true},
    {"replaced_rows_count", FRZ_ID_REPLACED_ROWS_COUNT, FRZ_TYPE_LONG, true},
    {"modified_rows_count", FRZ_ID_MODIFIED_ROWS_COUNT, FRZ_TYPE_LONG, true},
    {"min_sequence_number", FRZ_ID_MIN_SEQUENCE_NUMBER, FRZ_TYPE_LONG, true},
    {"dv", FRZ_ID_MDV, FRZ_TYPE_BINARY, false},
    {"format_version", FRZ_ID_MANIFEST_FORMAT_VERSION, FRZ_TYPE_INT, true},
};

const frz_status meta_info_order[META_STATUS_COUNT] = {FRZ_STATUS_ADDED, FRZ_STATUS_EXISTING,
                                                       FRZ_STATUS_DELETED, FRZ_STATUS_REPLACED,
                                                       FRZ_STATUS_MODIFIED};

static const meta_field_row column_rows[META_COLUMN_COUNT] = {
    [META_TRACKING] = {"tracking", FRZ_ID_TRACKING, FRZ_TYPE_STRUCT, true},
    [META_CONTENT_TYPE] = {"content_type", FRZ_ID_CONTENT_TYPE, FRZ_TYPE_INT, true},
    [META_LOCATION] = {"location", FRZ_ID_LOCATION, FRZ_TYPE_STRING, true},
    [META_FILE_FORMAT] = {"file_format", FRZ_ID_FILE_FORMAT, FRZ_TYPE_STRING, true},
    [META_RECORD_COUNT] = {"record_count", FRZ_ID_RECORD_COUNT, FRZ_TYPE_LONG, true},
    [META_FILE_SIZE] = {"file_size_in_bytes", FRZ_ID_FILE_SIZE, FRZ_TYPE_LONG, true},
    [META_SPEC_ID] = {"spec_id", FRZ_ID_SPEC_ID, FRZ_TYPE_INT, false},
    [META_PARTITION] = {"partition", FRZ_ID_PARTITION, FRZ_TYPE_STRUCT, false},
    [META_SORT_ORDER_ID] = {"sort_order_id", FRZ_ID_SORT_ORDER_ID, FRZ_TYPE_INT, false},
    [META_CONTENT_STATS] = {"content_stats", FRZ_ID_CONTENT_STATS, FRZ_TYPE_STRUCT, false},
    [META_DELETION_VECTOR] = {"deletion_vector", FRZ_ID_DELETION_VECTOR, FRZ_TYPE_STRUCT, false},
    [META_MANIFEST_INFO] = {"manifest_info", FRZ_ID_MANIFEST_INFO, FRZ_TYPE_STRUCT, false},
    [META_KEY_METADATA] = {"key_metadata", FRZ_ID_KEY_METADATA, FRZ_TYPE_BINARY, false},
    [META_SPLIT_OFFSETS] = {"split_offsets", FRZ_ID_SPLIT_OFFSETS, FRZ_TYPE_LIST, false},
    [META_COLUMN_FILES] = {"column_files", FRZ_ID_COLUMN_FILES, FRZ_TYPE_LIST, false},
};

static frz_code no_memory(frz_error *err)
{
    return frz_fail_nomem(err, sizeof(frz_type));
}

/* wide: int is asked for as long, because drafts differ in the width. */
static frz_code struct_of_rows(frz_arena *arena, const meta_field_row *rows, size_t count,
                               bool wide, const frz_type **out, frz_error *err)
{
    frz_field fields[META_INFO_COUNT];
    assert(count <= FRZ_ARRAY_COUNT(fields));
    for (size_t i = 0; i < count; i++) {
        bool widen = wide && rows[i].type == FRZ_TYPE_INT;
        fields[i] = meta_field_of(&rows[i], widen ? frz_type_primitive(FRZ_TYPE_LONG) : NULL);
    }
    return frz_type_struct_of(arena, fields, count, out, err);
}

static frz_code column_files_type(frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const meta_field_row rows[META_CF_COUNT] = {
        [META_CF_LOCATION] = {"location", FRZ_ID_CF_LOCATION, FRZ_TYPE_STRING, true},
        [META_CF_FIELD_IDS] = {"field_ids", FRZ_ID_CF_FIELD_IDS, FRZ_TYPE_LIST, true},
        [META_CF_FILE_FORMAT] = {"file_format", FRZ_ID_CF_FILE_FORMAT, FRZ_TYPE_STRING, true},
        [META_CF_FILE_SIZE] = {"file_size_in_bytes", FRZ_ID_CF_FILE_SIZE, FRZ_TYPE_LONG, true},
        [META_CF_KEY_METADATA] = {"key_metadata", FRZ_ID_CF_KEY_METADATA, FRZ_TYPE_BINARY, false},
    };
    const frz_type *ids = NULL;
    const frz_type *element = NULL;
    frz_field fields[META_CF_COUNT];
    FRZ_TRY(meta_list_type(arena, FRZ_ID_CF_FIELD_IDS_ELEMENT, frz_type_primitive(FRZ_TYPE_INT),
                           &ids, err));
    for (size_t i = 0; i < META_CF_COUNT; i++) {
        fields[i] = meta_field_of(&rows[i], i == META_CF_FIELD_IDS ? ids : NULL);
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, META_CF_COUNT, &element, err));
    FRZ_TRY(meta_list_type(arena, FRZ_ID_COLUMN_FILES_ELEMENT, element, out, err));
out:
    return rc;
}

/* ---- content_stats ---- */

int32_t meta_stats_base(int32_t field_id)
{
    if (field_id == FRZ_ID_LAST_UPDATED) {
        return FRZ_STATS_BASE_LAST_UPDATED;
    }
    if (field_id == FRZ_ID_ROW_ID) {
        return FRZ_STATS_BASE_ROW_ID;
    }
    return field_id >= 0 && field_id <= FRZ_STATS_MAX_FIELD_ID
               ? FRZ_STATS_BASE + FRZ_STATS_STEP * field_id
               : -1;
}

int32_t meta_stats_field(int32_t base)
{
    if (base == FRZ_STATS_BASE_LAST_UPDATED) {
        return FRZ_ID_LAST_UPDATED;
    }
    if (base == FRZ_STATS_BASE_ROW_ID) {
        return FRZ_ID_ROW_ID;
    }
    bool is_base = base >= FRZ_STATS_BASE && (base - FRZ_STATS_BASE) % FRZ_STATS_STEP == 0;
    int32_t field_id = is_base ? (base - FRZ_STATS_BASE) / FRZ_STATS_STEP : -1;
    return field_id <= FRZ_STATS_MAX_FIELD_ID ? field_id : -1;
}

static frz_code stats_type(frz_arena *arena, const meta_stats_shape *shape, const frz_type **out,
                           frz_error *err)
{
    const meta_field_row rows[] = {
        {"lower_bound", FRZ_STATS_LOWER_BOUND, FRZ_TYPE_UNKNOWN, false},
        {"upper_bound", FRZ_STATS_UPPER_BOUND, FRZ_TYPE_UNKNOWN, false},
        {"tight_bounds", FRZ_STATS_TIGHT_BOUNDS, FRZ_TYPE_BOOLEAN, false},
        {"value_count", FRZ_STATS_VALUE_COUNT, FRZ_TYPE_LONG, false},
        {"null_value_count", FRZ_STATS_NULL_VALUE_COUNT, FRZ_TYPE_LONG, false},
        {"nan_value_count", FRZ_STATS_NAN_VALUE_COUNT, FRZ_TYPE_LONG, false},
        {"total_bytes", FRZ_STATS_TOTAL_BYTES, FRZ_TYPE_LONG, false},
    };
    frz_field fields[FRZ_ARRAY_COUNT(rows)];
    size_t n = 0;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(rows); i++) {
        if ((shape->metrics >> rows[i].id & 1) != 0) {
            fields[n] =
                meta_field_of(&rows[i], rows[i].type == FRZ_TYPE_UNKNOWN ? shape->type : NULL);
            fields[n].id += meta_stats_base(shape->field_id);
            n++;
        }
    }
    return frz_type_struct_of(arena, fields, n, out, err);
}

static frz_code content_stats_type(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                                   const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    if (fields == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        fields[i].id = meta_stats_base(shapes[i].field_id);
        fields[i].name = shapes[i].name;
        FRZ_TRY(stats_type(arena, &shapes[i], &fields[i].type, err));
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, count, out, err));
out:
    return rc;
}

/* ---- tracked_file ---- */

/* The types of the nested columns. */
static frz_code nested_types(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                             bool wide, const frz_type *types[META_COLUMN_COUNT], frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(struct_of_rows(arena, tracking_rows, META_TRACKING_COUNT, false, &types[META_TRACKING],
                           err));
    if (count > 0) { /* Parquet has no groups without fields */
        FRZ_TRY(content_stats_type(arena, shapes, count, &types[META_CONTENT_STATS], err));
    }
    FRZ_TRY(struct_of_rows(arena, vector_rows, META_DV_COUNT, false, &types[META_DELETION_VECTOR],
                           err));
    FRZ_TRY(
        struct_of_rows(arena, info_rows, META_INFO_COUNT, wide, &types[META_MANIFEST_INFO], err));
    FRZ_TRY(meta_list_type(arena, FRZ_ID_SPLIT_OFFSETS_ELEMENT, frz_type_primitive(FRZ_TYPE_LONG),
                           &types[META_SPLIT_OFFSETS], err));
    FRZ_TRY(column_files_type(arena, &types[META_COLUMN_FILES], err));
out:
    return rc;
}

/* Fields are found by id. One that has the name of a missing field and an id of no meaning is that
 * field in a layout of another draft, or damaged: leaving it out would lose what it says. */
static frz_code check_strangers(const meta_field_row *rows, size_t count, const frz_type *file_type,
                                frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        bool there = frz_type_index_of_id(file_type, rows[i].id) >= 0;
        for (size_t j = 0; !there && j < file_type->field_count; j++) {
            const frz_field *field = &file_type->fields[j];
            size_t known = 0;
            while (known < count && rows[known].id != field->id) {
                known++;
            }
            if (known == count && frz_str_equal(field->name, frz_str_from(rows[i].name))) {
                return frz_fail(err, FRZ_E_CORRUPT, "field %s: expected field id %d, found %d",
                                rows[i].name, rows[i].id, field->id);
            }
        }
    }
    return FRZ_OK;
}

/* What a row type is made of. */
typedef struct row_parts {
    const meta_stats_shape *shapes;
    size_t shape_count;
    const frz_type *partition; /* NULL: none */
    const frz_type *file_type; /* of the file that is read; NULL: to write */
    unsigned columns;          /* bit c: column c is wanted */
} row_parts;

static bool column_is_there(const row_parts *parts, meta_column column)
{
    if ((parts->columns >> column & 1) == 0 ||
        (column == META_CONTENT_STATS && parts->shape_count == 0) ||
        (column == META_PARTITION && parts->partition == NULL)) {
        return false;
    }
    return parts->file_type == NULL ||
           frz_type_index_of_id(parts->file_type, column_rows[column].id) >= 0;
}

static frz_code row_make(frz_arena *arena, const row_parts *parts, meta_manifest_row *out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *types[META_COLUMN_COUNT] = {NULL};
    frz_field fields[META_COLUMN_COUNT];
    size_t n = 0;
    FRZ_TRY(nested_types(arena, parts->shapes, parts->shape_count, parts->file_type != NULL, types,
                         err));
    types[META_PARTITION] = parts->partition;
    for (size_t i = 0; i < META_COLUMN_COUNT; i++) {
        bool there = column_is_there(parts, (meta_column)i);
        out->at[i] = there ? (int)n : -1;
        if (there) {
            fields[n++] = meta_field_of(&column_rows[i], types[i]);
        }
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, n, &out->type, err));
out:
    return rc;
}

frz_code meta_manifest_row_to_write(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                                    const frz_type *partition, meta_manifest_row *out,
                                    frz_error *err)
{
    const row_parts parts = {.shapes = shapes,
                             .shape_count = count,
                             .partition = partition,
                             .columns = META_COLUMNS_ALL};
    return row_make(arena, &parts, out, err);
}

frz_code meta_manifest_row_to_read(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                                   const frz_type *partition, const frz_type *file_type,
                                   unsigned columns, meta_manifest_row *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const row_parts parts = {shapes, count, partition, file_type, columns};
    const frz_field *tracking = frz_type_field_by_id(file_type, FRZ_ID_TRACKING);
    FRZ_TRY(check_strangers(column_rows, META_COLUMN_COUNT, file_type, err));
    if (tracking != NULL) {
        FRZ_TRY(check_strangers(tracking_rows, META_TRACKING_COUNT, tracking->type, err));
    }
    FRZ_TRY(row_make(arena, &parts, out, err));
    FRZ_TRY(frz_type_make_optional(arena, out->type, &out->type, err));
out:
    return rc;
}
