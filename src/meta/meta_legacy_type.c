/*
 * Row types of manifests and manifest lists of versions 1 to 3, as tables of names, ids and types.
 * Names of version 1 differ in places; ids do not. spec: manifest_entry, data_file, manifest_file
 */
#include "meta/meta_ids.h"
#include "meta/meta_legacy.h"

static const meta_field_row entry_rows[META_LEGACY_COUNT] = {
    [META_LEGACY_STATUS] = {"status", FRZ_ID_STATUS, FRZ_TYPE_INT, false},
    [META_LEGACY_SNAPSHOT_ID] = {"snapshot_id", FRZ_ID_SNAPSHOT_ID, FRZ_TYPE_LONG, false},
    [META_LEGACY_SEQUENCE_NUMBER] = {"sequence_number", FRZ_ID_SEQUENCE_NUMBER, FRZ_TYPE_LONG,
                                     false},
    [META_LEGACY_FILE_SEQUENCE_NUMBER] = {"file_sequence_number", FRZ_ID_FILE_SEQUENCE_NUMBER,
                                          FRZ_TYPE_LONG, false},
    [META_LEGACY_DATA_FILE] = {"data_file", FRZ_ID_DATA_FILE, FRZ_TYPE_STRUCT, false},
};

static const meta_field_row file_rows[META_DF_COUNT] = {
    [META_DF_CONTENT] = {"content", FRZ_ID_CONTENT_TYPE, FRZ_TYPE_INT, false},
    [META_DF_FILE_PATH] = {"file_path", FRZ_ID_LOCATION, FRZ_TYPE_STRING, false},
    [META_DF_FILE_FORMAT] = {"file_format", FRZ_ID_FILE_FORMAT, FRZ_TYPE_STRING, false},
    [META_DF_PARTITION] = {"partition", FRZ_ID_PARTITION, FRZ_TYPE_STRUCT, false},
    [META_DF_RECORD_COUNT] = {"record_count", FRZ_ID_RECORD_COUNT, FRZ_TYPE_LONG, false},
    [META_DF_FILE_SIZE] = {"file_size_in_bytes", FRZ_ID_FILE_SIZE, FRZ_TYPE_LONG, false},
    [META_DF_COLUMN_SIZES] = {"column_sizes", FRZ_ID_COLUMN_SIZES, FRZ_TYPE_MAP, false},
    [META_DF_VALUE_COUNTS] = {"value_counts", FRZ_ID_VALUE_COUNTS, FRZ_TYPE_MAP, false},
    [META_DF_NULL_VALUE_COUNTS] = {"null_value_counts", FRZ_ID_NULL_VALUE_COUNTS, FRZ_TYPE_MAP,
                                   false},
    [META_DF_NAN_VALUE_COUNTS] = {"nan_value_counts", FRZ_ID_NAN_VALUE_COUNTS, FRZ_TYPE_MAP, false},
    [META_DF_LOWER_BOUNDS] = {"lower_bounds", FRZ_ID_LOWER_BOUNDS, FRZ_TYPE_MAP, false},
    [META_DF_UPPER_BOUNDS] = {"upper_bounds", FRZ_ID_UPPER_BOUNDS, FRZ_TYPE_MAP, false},
    [META_DF_KEY_METADATA] = {"key_metadata", FRZ_ID_KEY_METADATA, FRZ_TYPE_BINARY, false},
    [META_DF_SPLIT_OFFSETS] = {"split_offsets", FRZ_ID_SPLIT_OFFSETS, FRZ_TYPE_LIST, false},
    [META_DF_EQUALITY_IDS] = {"equality_ids", FRZ_ID_EQUALITY_IDS, FRZ_TYPE_LIST, false},
    [META_DF_SORT_ORDER_ID] = {"sort_order_id", FRZ_ID_SORT_ORDER_ID, FRZ_TYPE_INT, false},
    [META_DF_FIRST_ROW_ID] = {"first_row_id", FRZ_ID_FIRST_ROW_ID, FRZ_TYPE_LONG, false},
    [META_DF_REFERENCED_DATA_FILE] = {"referenced_data_file", FRZ_ID_REFERENCED_DATA_FILE,
                                      FRZ_TYPE_STRING, false},
    [META_DF_CONTENT_OFFSET] = {"content_offset", FRZ_ID_CONTENT_OFFSET, FRZ_TYPE_LONG, false},
    [META_DF_CONTENT_SIZE] = {"content_size_in_bytes", FRZ_ID_CONTENT_SIZE, FRZ_TYPE_LONG, false},
};

static const meta_field_row list_rows[META_LIST_COUNT] = {
    [META_LIST_PATH] = {"manifest_path", FRZ_ID_MANIFEST_PATH, FRZ_TYPE_STRING, false},
    [META_LIST_LENGTH] = {"manifest_length", FRZ_ID_MANIFEST_LENGTH, FRZ_TYPE_LONG, false},
    [META_LIST_SPEC_ID] = {"partition_spec_id", FRZ_ID_MANIFEST_SPEC_ID, FRZ_TYPE_INT, false},
    [META_LIST_CONTENT] = {"content", FRZ_ID_MANIFEST_CONTENT, FRZ_TYPE_INT, false},
    [META_LIST_SEQUENCE_NUMBER] = {"sequence_number", FRZ_ID_MANIFEST_SEQUENCE_NUMBER,
                                   FRZ_TYPE_LONG, false},
    [META_LIST_MIN_SEQUENCE_NUMBER] = {"min_sequence_number", FRZ_ID_MIN_SEQUENCE_NUMBER,
                                       FRZ_TYPE_LONG, false},
    [META_LIST_SNAPSHOT_ID] = {"added_snapshot_id", FRZ_ID_ADDED_SNAPSHOT_ID, FRZ_TYPE_LONG, false},
    [META_LIST_FILES + FRZ_STATUS_EXISTING] = {"existing_files_count", FRZ_ID_EXISTING_FILES_COUNT,
                                               FRZ_TYPE_LONG, false},
    [META_LIST_FILES +
        FRZ_STATUS_ADDED] = {"added_files_count", FRZ_ID_ADDED_FILES_COUNT, FRZ_TYPE_LONG, false},
    [META_LIST_FILES + FRZ_STATUS_DELETED] = {"deleted_files_count", FRZ_ID_DELETED_FILES_COUNT,
                                              FRZ_TYPE_LONG, false},
    [META_LIST_ROWS + FRZ_STATUS_EXISTING] = {"existing_rows_count", FRZ_ID_EXISTING_ROWS_COUNT,
                                              FRZ_TYPE_LONG, false},
    [META_LIST_ROWS +
        FRZ_STATUS_ADDED] = {"added_rows_count", FRZ_ID_ADDED_ROWS_COUNT, FRZ_TYPE_LONG, false},
    [META_LIST_ROWS + FRZ_STATUS_DELETED] = {"deleted_rows_count", FRZ_ID_DELETED_ROWS_COUNT,
                                             FRZ_TYPE_LONG, false},
    [META_LIST_PARTITIONS] = {"partitions", FRZ_ID_PARTITIONS, FRZ_TYPE_LIST, false},
    [META_LIST_FIRST_ROW_ID] = {"first_row_id", FRZ_ID_MANIFEST_FIRST_ROW_ID, FRZ_TYPE_LONG, false},
};

static const meta_field_row summary_rows[META_SUMMARY_COUNT] = {
    [META_SUMMARY_CONTAINS_NULL] = {"contains_null", FRZ_ID_CONTAINS_NULL, FRZ_TYPE_BOOLEAN, false},
    [META_SUMMARY_CONTAINS_NAN] = {"contains_nan", FRZ_ID_CONTAINS_NAN, FRZ_TYPE_BOOLEAN, false},
    [META_SUMMARY_LOWER_BOUND] = {"lower_bound", FRZ_ID_SUMMARY_LOWER_BOUND, FRZ_TYPE_BINARY,
                                  false},
    [META_SUMMARY_UPPER_BOUND] = {"upper_bound", FRZ_ID_SUMMARY_UPPER_BOUND, FRZ_TYPE_BINARY,
                                  false},
};

/* ---- data_file ---- */

/* The fields of the file's own tuple whose types hold single values. */
static frz_code partition_type(frz_arena *arena, const frz_type *file_type, const frz_type **out,
                               frz_error *err)
{
    const frz_field *tuple = frz_type_field_by_id(file_type, FRZ_ID_PARTITION);
    size_t n = 0;
    if (tuple == NULL || tuple->type->id != FRZ_TYPE_STRUCT) {
        return FRZ_OK;
    }
    frz_field *fields = frz_arena_array(arena, tuple->type->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, tuple->type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < tuple->type->field_count; i++) {
        const frz_field *field = &tuple->type->fields[i];
        if (field->id != FRZ_ID_NONE && meta_type_has_bounds(field->type)) {
            fields[n++] = *field;
        }
    }
    return n == 0 ? FRZ_OK : frz_type_struct_of(arena, fields, n, out, err);
}

/* Keys and values of the maps have the ids behind each other, but not behind their map. */
static int32_t map_key_id(size_t member)
{
    static const int32_t ids[] = {117, 119, 121, 138, 126, 129};
    assert(member >= META_DF_COLUMN_SIZES && member <= META_DF_UPPER_BOUNDS);
    return ids[member - META_DF_COLUMN_SIZES];
}

static frz_code member_type(frz_arena *arena, size_t member, const frz_type *partition,
                            const frz_type **out, frz_error *err)
{
    switch (file_rows[member].type) {
    case FRZ_TYPE_MAP: {
        bool bounds = member == META_DF_LOWER_BOUNDS || member == META_DF_UPPER_BOUNDS;
        return meta_map_type(arena, map_key_id(member),
                             frz_type_primitive(bounds ? FRZ_TYPE_BINARY : FRZ_TYPE_LONG), out,
                             err);
    }
    case FRZ_TYPE_LIST:
        return member == META_DF_SPLIT_OFFSETS
                   ? meta_list_type(arena, FRZ_ID_SPLIT_OFFSETS_ELEMENT,
                                    frz_type_primitive(FRZ_TYPE_LONG), out, err)
                   : meta_list_type(arena, FRZ_ID_EQUALITY_IDS_ELEMENT,
                                    /* int by the specification; PyIceberg writes long */
                                    frz_type_primitive(FRZ_TYPE_LONG), out, err);
    case FRZ_TYPE_STRUCT:
        *out = partition;
        return FRZ_OK;
    default:
        *out = NULL;
        return FRZ_OK;
    }
}

static bool member_is_wanted(size_t member, const frz_type *file_type, const frz_type *partition,
                             bool stats, bool sizes)
{
    bool is_map = file_rows[member].type == FRZ_TYPE_MAP;
    return frz_type_index_of_id(file_type, file_rows[member].id) >= 0 && (!is_map || stats) &&
           (member != META_DF_COLUMN_SIZES || sizes) &&
           (member != META_DF_PARTITION || partition != NULL);
}

static frz_code data_file_type(frz_arena *arena, const frz_type *file_type, bool stats, bool sizes,
                               meta_legacy_row *row, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field fields[META_DF_COUNT];
    size_t n = 0;
    FRZ_TRY(partition_type(arena, file_type, &row->partition, err));
    for (size_t i = 0; i < META_DF_COUNT; i++) {
        const frz_type *type = NULL;
        row->member[i] = -1;
        if (!member_is_wanted(i, file_type, row->partition, stats, sizes)) {
            continue;
        }
        FRZ_TRY(member_type(arena, i, row->partition, &type, err));
        row->member[i] = (int)n;
        fields[n++] = meta_field_of(&file_rows[i], type);
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, n, out, err));
out:
    return rc;
}

/* ---- rows ---- */

static frz_code want_column(const frz_type *type, const meta_field_row *row, frz_type_id id,
                            frz_error *err)
{
    const frz_field *field = frz_type_field_by_id(type, row->id);
    if (field == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "field %d (%s) is missing", (int)row->id, row->name);
    }
    if (id == FRZ_TYPE_STRUCT && field->type->id != FRZ_TYPE_STRUCT) {
        return frz_fail(err, FRZ_E_CORRUPT, "field %d (%s): expected a struct", (int)row->id,
                        row->name);
    }
    return FRZ_OK;
}

frz_code meta_legacy_row_to_read(frz_arena *arena, const frz_type *file_type, bool stats,
                                 bool sizes, meta_legacy_row *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field fields[META_LEGACY_COUNT];
    size_t n = 0;
    const frz_type *data_file = NULL;
    *out = (meta_legacy_row){.partition = NULL};
    FRZ_TRY(want_column(file_type, &entry_rows[META_LEGACY_STATUS], FRZ_TYPE_INT, err));
    FRZ_TRY(want_column(file_type, &entry_rows[META_LEGACY_DATA_FILE], FRZ_TYPE_STRUCT, err));
    const frz_type *in_file = frz_type_field_by_id(file_type, FRZ_ID_DATA_FILE)->type;
    FRZ_TRY(want_column(in_file, &file_rows[META_DF_FILE_PATH], FRZ_TYPE_STRING, err));
    FRZ_TRY(want_column(in_file, &file_rows[META_DF_RECORD_COUNT], FRZ_TYPE_LONG, err));
    FRZ_TRY(data_file_type(arena, in_file, stats, sizes, out, &data_file, err));
    for (size_t i = 0; i < META_LEGACY_COUNT; i++) {
        out->at[i] = -1;
        if (frz_type_index_of_id(file_type, entry_rows[i].id) >= 0) {
            out->at[i] = (int)n;
            fields[n++] =
                meta_field_of(&entry_rows[i], i == META_LEGACY_DATA_FILE ? data_file : NULL);
        }
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, n, &out->type, err));
    FRZ_TRY(frz_type_make_optional(arena, out->type, &out->type, err));
out:
    return rc;
}

static frz_code partitions_type(frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field fields[META_SUMMARY_COUNT];
    const frz_type *summary = NULL;
    for (size_t i = 0; i < META_SUMMARY_COUNT; i++) {
        fields[i] = meta_field_of(&summary_rows[i], NULL);
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, META_SUMMARY_COUNT, &summary, err));
    FRZ_TRY(meta_list_type(arena, FRZ_ID_PARTITIONS_ELEMENT, summary, out, err));
out:
    return rc;
}

frz_code meta_list_row_to_read(frz_arena *arena, const frz_type *file_type, meta_list_row *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field fields[META_LIST_COUNT];
    size_t n = 0;
    const frz_type *partitions = NULL;
    FRZ_TRY(want_column(file_type, &list_rows[META_LIST_PATH], FRZ_TYPE_STRING, err));
    FRZ_TRY(partitions_type(arena, &partitions, err));
    for (size_t i = 0; i < META_LIST_COUNT; i++) {
        out->at[i] = -1;
        if (frz_type_index_of_id(file_type, list_rows[i].id) >= 0) {
            out->at[i] = (int)n;
            fields[n++] =
                meta_field_of(&list_rows[i], i == META_LIST_PARTITIONS ? partitions : NULL);
        }
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, n, &out->type, err));
    FRZ_TRY(frz_type_make_optional(arena, out->type, &out->type, err));
out:
    return rc;
}
