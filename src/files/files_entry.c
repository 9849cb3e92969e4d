/*
 * Entries of new data files, and entries that are compared over attempts.
 */
#include "files/files.h"

/* ---- files of rows ---- */

frz_code frz_carried_type(frz_arena *arena, const frz_type *table, const frz_type **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *copy = NULL;
    FRZ_TRY(frz_type_copy(arena, table, &copy, err));
    size_t count = copy->field_count;
    frz_field *fields = frz_arena_array(arena, count + 2, sizeof *fields);
    FRZ_TRY(fields == NULL ? frz_fail_nomem(err, (count + 2) * sizeof *fields) : FRZ_OK);
    memcpy(fields, copy->fields, count * sizeof *fields);
    fields[count] = frz_field_row_id;
    fields[count + 1] = frz_field_last_updated;
    FRZ_TRY(frz_type_struct_of(arena, fields, count + 2, out, err));
out:
    return rc;
}

/* Statistics of columns that still have the type they were written with. */
static frz_code stats_of(const frz_row_file *file, const frz_metrics_config *metrics,
                         const frz_commit_attempt *attempt, frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    frz_field_stats *made = NULL;
    frz_field_stats *valid =
        frz_arena_array(attempt->arena, file->written.stats_count, sizeof *valid);
    if (valid == NULL) {
        return frz_fail_nomem(err, file->written.stats_count * sizeof *valid);
    }
    for (size_t i = 0; i < file->written.stats_count; i++) {
        const frz_field_stats *stats = &file->written.stats[i];
        const frz_field *field = frz_type_find_id(attempt->schema->type, stats->field_id);
        if (field != NULL && frz_type_same_shape(field->type, stats->type)) {
            valid[count++] = *stats;
        }
    }
    FRZ_TRY(
        frz_metrics_apply(metrics, valid, count, attempt->arena, &made, &entry->stats_count, err));
    entry->stats = made;
out:
    return rc;
}

frz_code frz_row_file_plan(const frz_commit_attempt *attempt, const frz_partitioning *partitioning,
                           const frz_row_file *file, const frz_metrics_config *metrics,
                           frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry entry = frz_entry_added(attempt);
    FRZ_TRY(frz_arena_str(attempt->arena, frz_table_relativize(attempt->table, file->location),
                          &entry.location, err));
    FRZ_TRY(stats_of(file, metrics, attempt, &entry, err));
    entry.record_count = file->written.row_count;
    entry.file_size = file->written.file_size;
    entry.split_offsets = file->written.split_offsets;
    entry.split_count = file->written.split_count;
    if (partitioning->field_count > 0) {
        entry.spec_id = partitioning->spec_id;
        entry.partition = file->partition;
        entry.partition_count = partitioning->field_count;
    } else {
        plan->unpartitioned_spec = true;
    }
    FRZ_TRY(frz_commit_plan_change(attempt, plan, NULL, &entry, err));
out:
    return rc;
}

/* ---- a rewritten file in place of an old one ---- */

int64_t frz_entry_bytes(const frz_entry *entry)
{
    int64_t bytes = entry->file_size;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        bytes += entry->column_files[i].file_size;
    }
    return bytes;
}

/* The old entry goes, the new file comes in its place, so that the order of rows stays. */
frz_code frz_rewritten_plan(const frz_commit_attempt *attempt, const frz_entry *before,
                            const frz_entry *like, const frz_rewritten *file,
                            const frz_metrics_config *metrics, frz_commit_plan *plan,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry entry = frz_entry_added(attempt);
    frz_field_stats *stats = NULL;
    plan->data_files++;
    plan->live_data_bytes += before == NULL ? 0 : frz_entry_bytes(before);
    if (file->location == NULL) {
        return frz_commit_plan_change(attempt, plan, before, NULL, err);
    }
    FRZ_TRY(frz_arena_str(attempt->arena,
                          frz_table_relativize(attempt->table, frz_str_from(file->location)),
                          &entry.location, err));
    FRZ_TRY(frz_metrics_apply(metrics, file->stats, file->stats_count, attempt->arena, &stats,
                              &entry.stats_count, err));
    entry.stats = stats;
    entry.record_count = file->record_count;
    entry.file_size = file->file_size;
    entry.split_offsets = file->split_offsets;
    entry.split_count = file->split_count;
    entry.sort_order_id = like->sort_order_id;
    entry.spec_id = like->spec_id;
    entry.partition = like->partition;
    entry.partition_count = like->partition_count;
    FRZ_TRY(frz_commit_plan_change(attempt, plan, before, &entry, err));
out:
    return rc;
}

/* Statistics of the table's fields stay: the values do. Those of the numbers of last updates, which
 * were null and are written now, do not. */
frz_code frz_joined_plan(const frz_commit_attempt *attempt, const frz_entry *before,
                         const frz_rewritten *file, frz_commit_plan *plan, frz_error *err)
{
    static const int32_t number = FRZ_ID_LAST_UPDATED;
    frz_code rc = FRZ_OK;
    frz_entry entry = frz_entry_column_update(before, attempt);
    frz_column_file *list = frz_arena_array(attempt->arena, 1, sizeof *list);
    FRZ_TRY(list == NULL ? frz_fail_nomem(err, sizeof *list) : FRZ_OK);
    *list = (frz_column_file){.field_ids = file->field_ids,
                              .field_id_count = file->field_id_count,
                              .file_format = FRZ_STR("parquet"),
                              .file_size = file->file_size};
    FRZ_TRY(frz_arena_str(attempt->arena,
                          frz_table_relativize(attempt->table, frz_str_from(file->location)),
                          &list->location, err));
    entry.stats_count = 0;
    entry.column_files = list;
    entry.column_file_count = 1;
    plan->data_files++;
    plan->live_data_bytes += frz_entry_bytes(before);
    FRZ_TRY(frz_commit_plan_update(attempt, plan, before, &entry, &number, 1, err));
out:
    return rc;
}

/* ---- the same as before? ---- */

frz_code frz_entry_identity(frz_arena *arena, const frz_entry *entry, frz_entry *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_column_file *files = frz_arena_array(arena, entry->column_file_count, sizeof *files);
    *out = (frz_entry){.sequence_number = entry->sequence_number, .column_files = files};
    if (files == NULL) {
        return frz_fail_nomem(err, entry->column_file_count * sizeof *files);
    }
    out->has_deletion_vector = entry->has_deletion_vector;
    out->deletion_vector.offset = entry->deletion_vector.offset;
    FRZ_TRY(frz_arena_str(arena, entry->location, &out->location, err));
    FRZ_TRY(
        frz_arena_str(arena, entry->deletion_vector.location, &out->deletion_vector.location, err));
    for (; out->column_file_count < entry->column_file_count; out->column_file_count++) {
        const frz_column_file *from = &entry->column_files[out->column_file_count];
        frz_column_file *to = &files[out->column_file_count];
        int32_t *ids = frz_arena_array(arena, from->field_id_count, sizeof *ids);
        if (ids == NULL) {
            return frz_fail_nomem(err, from->field_id_count * sizeof *ids);
        }
        memcpy(ids, from->field_ids, from->field_id_count * sizeof *ids);
        *to = (frz_column_file){.field_ids = ids, .field_id_count = from->field_id_count};
        FRZ_TRY(frz_arena_str(arena, from->location, &to->location, err));
    }
out:
    return rc;
}

bool frz_same_content(const frz_entry *a, const frz_entry *b)
{
    return frz_str_equal(a->location, b->location) && a->sequence_number == b->sequence_number &&
           a->has_deletion_vector == b->has_deletion_vector &&
           frz_str_equal(a->deletion_vector.location, b->deletion_vector.location) &&
           a->deletion_vector.offset == b->deletion_vector.offset && frz_same_column_files(a, b);
}
