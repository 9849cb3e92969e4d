/*
 * An entry that leaves its partition loses the tuple, which may be all that tells the values of
 * other identity columns: files of Hive do not store them. So these columns become a column file.
 * spec: Column Projection; column files, writer procedure, step 6
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const frz_field *)a)->id, y = ((const frz_field *)b)->id;
    return x < y ? -1 : x > y;
}

/* The field of the schema that only the tuple may tell; NULL: it is in a column file, or becomes
 * part of one. */
static const frz_field *only_in_tuple(const update_plan *plan, const frz_type *schema,
                                      const frz_entry *entry, const frz_partition_field *part)
{
    bool plain = part->transform.kind == FRZ_TRANSFORM_IDENTITY && part->source_count == 1;
    const frz_field *field = plain ? frz_type_field_by_id(schema, part->source_ids[0]) : NULL;
    bool elsewhere = field == NULL || field->type->id == FRZ_TYPE_UNKNOWN ||
                     update_is_written(plan, field->id) ||
                     frz_entry_provider(entry, field->id) != NULL;
    return elsewhere ? NULL : field;
}

frz_code update_unstored_type(const update_plan *plan, const frz_table *table,
                              const frz_schema *schema, const frz_entry *entry, frz_arena *arena,
                              const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    frz_data_file *base = NULL;
    const frz_partition_spec *spec = frz_metadata_spec(&table->metadata, entry->spec_id);
    size_t most = spec == NULL ? 0 : spec->field_count;
    frz_field *fields = frz_arena_array(arena, most + 1, sizeof *fields);
    FRZ_TRY(fields == NULL ? frz_fail_nomem(err, most * sizeof *fields) : FRZ_OK);
    for (size_t i = 0; i < most; i++) {
        const frz_field *field = only_in_tuple(plan, schema->type, entry, &spec->fields[i]);
        if (field != NULL && base == NULL) {
            FRZ_TRY(frz_stitch_open_file(table, entry, NULL, &base, err));
        }
        if (field != NULL && frz_type_field_by_id(frz_data_file_type(base), field->id) == NULL) {
            fields[count++] = *field;
        }
    }
    qsort(fields, count, sizeof *fields, by_id);
    *out = NULL;
    if (count > 0) {
        FRZ_TRY(frz_type_struct_of(arena, fields, count, out, err));
        FRZ_TRY(frz_type_make_optional(arena, *out, out, err));
    }
out:
    frz_data_file_close(base);
    return rc;
}

/* All rows: deleted ones have the value, too. */
static frz_code copy_rows(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const frz_type *type, frz_parquet_writer *writer, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_stitch_request request = {.projection = type, .with_deleted = true};
    FRZ_TRY(frz_stitch_open(attempt->table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(frz_parquet_writer_write(writer, &batch.array, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    return rc;
}

static frz_code write_file(const frz_commit_attempt *attempt, const frz_entry *entry,
                           const frz_type *type, bool sync_each, const char *location,
                           int64_t *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_writer *writer = NULL, *finished = NULL;
    frz_parquet_written written = {0};
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    FRZ_TRY(frz_write_parquet_options(&attempt->table->metadata, &options, err));
    FRZ_TRY(frz_parquet_writer_open(attempt->env, location, type, &options, &writer, err));
    FRZ_TRY(copy_rows(attempt, entry, type, writer, err));
    finished = writer;
    writer = NULL;
    FRZ_TRY(frz_parquet_writer_finish(finished, sync_each, attempt->arena, &written, err));
    rc = frz_commit_track(attempt, location, written.file_size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
    }
    *bytes = written.file_size;
out:
    frz_parquet_writer_abort(writer);
    return rc;
}

frz_code update_unstored_file(const update_plan *plan, const frz_commit_attempt *attempt,
                              const frz_entry *entry, bool sync_each, char **location,
                              int64_t *bytes, update_ids *ids, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    *location = NULL;
    FRZ_TRY(update_unstored_type(plan, attempt->table, attempt->schema, entry, attempt->arena,
                                 &type, err));
    if (type == NULL) {
        goto out;
    }
    ids->ids = frz_arena_array(attempt->arena, type->field_count, sizeof *ids->ids);
    FRZ_TRY(ids->ids == NULL ? frz_fail_nomem(err, type->field_count * sizeof *ids->ids) : FRZ_OK);
    for (ids->count = 0; ids->count < type->field_count; ids->count++) {
        ids->ids[ids->count] = type->fields[ids->count].id;
    }
    FRZ_TRY(frz_commit_new_path(attempt, "-partition.parquet", location, err));
    FRZ_TRY(write_file(attempt, entry, type, sync_each, *location, bytes, err));
out:
    return frz_context(err, rc, "storing the partition of %.*s", FRZ_STR_ARG(entry->location));
}
