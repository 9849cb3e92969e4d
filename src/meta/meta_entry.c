/*
 * Entries: what they say of a field, and copies that outlive the manifest they were read from.
 */
#include <stdlib.h>

#include "meta/meta_manifest.h"

frz_code frz_entry_own_partition(frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_partition_value *values = frz_arena_array(arena, e->partition_count, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, e->partition_count * sizeof *values);
    }
    for (size_t i = 0; i < e->partition_count; i++) {
        const frz_value *value = &e->partition[i].value;
        values[i].field_id = e->partition[i].field_id;
        FRZ_TRY(frz_value_copy(arena, value, &values[i].value, err));
        FRZ_TRY(frz_type_copy(arena, value->type, &values[i].value.type, err));
    }
    e->partition = values;
out:
    return rc;
}

frz_code frz_entry_own_stats(frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field_stats *stats = frz_arena_array(arena, e->stats_count, sizeof *stats);
    if (stats == NULL) {
        return frz_fail_nomem(err, e->stats_count * sizeof *stats);
    }
    for (size_t i = 0; i < e->stats_count; i++) {
        stats[i] = e->stats[i];
        if (stats[i].has_lower) {
            FRZ_TRY(frz_value_copy(arena, &e->stats[i].lower, &stats[i].lower, err));
        }
        if (stats[i].has_upper) {
            FRZ_TRY(frz_value_copy(arena, &e->stats[i].upper, &stats[i].upper, err));
        }
    }
    e->stats = stats;
out:
    return rc;
}

/* A list of plain numbers. */
static frz_code copy_numbers(frz_arena *arena, const void *numbers, size_t count, size_t size,
                             const void **out, frz_error *err)
{
    void *copy = frz_arena_array(arena, count, size);
    if (copy == NULL) {
        return frz_fail_nomem(err, count * size);
    }
    if (count > 0) {
        memcpy(copy, numbers, count * size);
    }
    *out = copy;
    return FRZ_OK;
}

/* A text or nothing. */
static frz_code copy_text(frz_arena *arena, frz_str *text, frz_error *err)
{
    return text->ptr == NULL ? FRZ_OK : frz_arena_str(arena, *text, text, err);
}

static frz_code copy_column_files(frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_column_file *files = frz_arena_array(arena, e->column_file_count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, e->column_file_count * sizeof *files);
    }
    for (size_t i = 0; i < e->column_file_count; i++) {
        const void *ids = NULL;
        files[i] = e->column_files[i];
        FRZ_TRY(copy_text(arena, &files[i].location, err));
        FRZ_TRY(copy_text(arena, &files[i].file_format, err));
        FRZ_TRY(copy_text(arena, &files[i].key_metadata, err));
        FRZ_TRY(copy_numbers(arena, files[i].field_ids, files[i].field_id_count,
                             sizeof *files[i].field_ids, &ids, err));
        files[i].field_ids = ids;
    }
    e->column_files = files;
out:
    return rc;
}

static frz_code copy_lists(frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const void *splits = NULL, *ids = NULL;
    FRZ_TRY(copy_numbers(arena, e->split_offsets, e->split_count, sizeof *e->split_offsets, &splits,
                         err));
    FRZ_TRY(copy_numbers(arena, e->equality_ids, e->equality_id_count, sizeof *e->equality_ids,
                         &ids, err));
    e->split_offsets = splits;
    e->equality_ids = ids;
out:
    return rc;
}

frz_code frz_entry_copy(frz_arena *arena, const frz_entry *entry, frz_entry *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry copy = *entry;
    FRZ_TRY(copy_text(arena, &copy.location, err));
    FRZ_TRY(copy_text(arena, &copy.file_format, err));
    FRZ_TRY(copy_text(arena, &copy.key_metadata, err));
    FRZ_TRY(copy_text(arena, &copy.referenced_data_file, err));
    FRZ_TRY(copy_text(arena, &copy.deletion_vector.location, err));
    FRZ_TRY(copy_text(arena, &copy.deletion_vector.key_metadata, err));
    FRZ_TRY(frz_entry_own_partition(arena, &copy, err));
    FRZ_TRY(frz_entry_own_stats(arena, &copy, err));
    FRZ_TRY(copy_column_files(arena, &copy, err));
    FRZ_TRY(copy_lists(arena, &copy, err));
    *out = copy;
out:
    return rc;
}

/* ---- looking up ---- */

const char *frz_status_name(frz_status status)
{
    static const char *const names[] = {"EXISTING", "ADDED", "DELETED", "REPLACED", "MODIFIED"};
    return (size_t)status < FRZ_ARRAY_COUNT(names) ? names[status] : "unknown";
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

const frz_field_stats *frz_entry_stats(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->stats_count; i++) {
        if (entry->stats[i].field_id == field_id) {
            return &entry->stats[i];
        }
    }
    return NULL;
}

const frz_column_file *frz_entry_provider(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        if (bsearch(&field_id, file->field_ids, file->field_id_count, sizeof field_id,
                    compare_ids) != NULL) {
            return file;
        }
    }
    return NULL;
}

/* ---- the partition tuple ---- */

const frz_value *frz_entry_tuple_value(const frz_entry *entry, int32_t partition_field_id)
{
    for (size_t i = 0; i < entry->partition_count; i++) {
        if (entry->partition[i].field_id == partition_field_id) {
            return &entry->partition[i].value;
        }
    }
    return NULL;
}

const frz_value *frz_entry_identity_value(const frz_metadata *metadata, const frz_entry *entry,
                                          int32_t field_id)
{
    const frz_partition_spec *spec = frz_metadata_spec(metadata, entry->spec_id);
    const frz_value *value = NULL;
    for (size_t i = 0; spec != NULL && value == NULL && i < spec->field_count; i++) {
        const frz_partition_field *field = &spec->fields[i];
        if (field->transform.kind == FRZ_TRANSFORM_IDENTITY && field->source_count == 1 &&
            field->source_ids[0] == field_id) {
            value = frz_entry_tuple_value(entry, field->field_id);
        }
    }
    return value;
}

/* ---- statistics of an entry that changes ---- */

frz_code frz_stats_overlay(frz_arena *arena, const frz_entry *from, const int32_t *ids,
                           size_t count, frz_entry *entry, frz_error *err)
{
    size_t n = 0;
    frz_field_stats *merged =
        frz_arena_array(arena, from->stats_count + entry->stats_count, sizeof *merged);
    if (merged == NULL) {
        return frz_fail_nomem(err, from->stats_count * sizeof *merged);
    }
    for (size_t i = 0; i < from->stats_count; i++) {
        if (count == 0 ||
            bsearch(&from->stats[i].field_id, ids, count, sizeof *ids, compare_ids) == NULL) {
            merged[n++] = from->stats[i];
        }
    }
    for (size_t i = 0; i < entry->stats_count; i++) {
        merged[n++] = entry->stats[i];
    }
    entry->stats = merged;
    entry->stats_count = n;
    return FRZ_OK;
}
