/*
 * Copies of entries that outlive the plan they come from, with what reading their rows needs.
 */
#include "scan/scan_task.h"

/* A view that is not there stays so. */
static frz_code copy_str(frz_arena *arena, frz_str *str, frz_error *err)
{
    return str->ptr == NULL ? FRZ_OK : frz_arena_str(arena, *str, str, err);
}

static frz_code copy_ids(frz_arena *arena, const int32_t **ids, size_t count, frz_error *err)
{
    int32_t *copy = frz_arena_array(arena, count + 1, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, count * sizeof *copy);
    }
    if (count > 0) {
        memcpy(copy, *ids, count * sizeof *copy);
    }
    *ids = copy;
    return FRZ_OK;
}

static frz_code copy_column_files(frz_arena *arena, frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = entry->column_file_count;
    frz_column_file *files = frz_arena_array(arena, count + 1, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, count * sizeof *files);
    }
    for (size_t i = 0; i < count; i++) {
        files[i] = entry->column_files[i];
        FRZ_TRY(copy_str(arena, &files[i].location, err));
        FRZ_TRY(copy_str(arena, &files[i].file_format, err));
        FRZ_TRY(copy_str(arena, &files[i].key_metadata, err));
        FRZ_TRY(copy_ids(arena, &files[i].field_ids, files[i].field_id_count, err));
    }
    entry->column_files = files;
out:
    return rc;
}

static frz_code copy_partition(frz_arena *arena, frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = entry->partition_count;
    frz_partition_value *values = frz_arena_array(arena, count + 1, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, count * sizeof *values);
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = entry->partition[i];
        FRZ_TRY(frz_value_copy(arena, &values[i].value, &values[i].value, err));
        FRZ_TRY(frz_type_copy(arena, values[i].value.type, &values[i].value.type, err));
    }
    entry->partition = values;
out:
    return rc;
}

frz_code task_copy_entry(frz_arena *arena, const frz_entry *entry, frz_entry **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *copy = frz_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    *copy = *entry;
    copy->stats = NULL;
    copy->split_offsets = NULL;
    copy->stats_count = copy->split_count = 0;
    FRZ_TRY(copy_str(arena, &copy->location, err));
    FRZ_TRY(copy_str(arena, &copy->file_format, err));
    FRZ_TRY(copy_str(arena, &copy->key_metadata, err));
    FRZ_TRY(copy_str(arena, &copy->referenced_data_file, err));
    FRZ_TRY(copy_str(arena, &copy->deletion_vector.location, err));
    FRZ_TRY(copy_str(arena, &copy->deletion_vector.key_metadata, err));
    FRZ_TRY(copy_column_files(arena, copy, err));
    FRZ_TRY(copy_partition(arena, copy, err));
    FRZ_TRY(copy_ids(arena, &copy->equality_ids, copy->equality_id_count, err));
    *out = copy;
out:
    return rc;
}
