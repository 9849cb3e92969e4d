/*
 * Validation of the files of one live entry: they exist with their recorded sizes, have the
 * entry's rows, store the fields that are listed, and their types can be read as the table's.
 * spec: column files; schema evolution; column projection
 */
#include "maintain/maintain_internal.h"

#define TYPE_TEXT 160

/* ---- opening ---- */

/* Open one file; *out stays NULL, with a finding told, if it cannot be opened. */
static frz_code open_file(frz_validation *v, frz_str recorded, int64_t recorded_size,
                          const frz_name_mapping *mapping, const frz_validate_item *item,
                          frz_data_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    uint64_t size = 0;
    rc = frz_table_resolve_access(v->table, recorded, &location, err);
    if (rc != FRZ_OK) {
        return frz_validate_failure(v, item->location, rc, err);
    }
    rc = frz_file_stat(v->env, location, &size, err);
    if (rc == FRZ_OK && (recorded_size < 0 || size != (uint64_t)recorded_size)) {
        frz_validate_find(v, location, "expected %lld bytes as recorded, found %llu",
                          (long long)recorded_size, (unsigned long long)size);
    }
    if (rc == FRZ_OK) {
        rc = frz_data_file_open(v->env, location, mapping, out, err);
    }
    if (rc != FRZ_OK) {
        rc = frz_validate_failure(v, location, rc, err);
    } else if (frz_data_file_row_count(*out) != item->entry->record_count) {
        frz_validate_find(v, location, "expected %lld rows as the entry of %s says, found %lld",
                          (long long)item->entry->record_count, item->location,
                          (long long)frz_data_file_row_count(*out));
        frz_data_file_close(*out); /* nothing can be said about the positions of its rows */
        *out = NULL;
    }
    frz_free(v->env, location);
    return rc;
}

/* ---- schemas ---- */

static const frz_field *field_of(const frz_type *type, int32_t id)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id == id) {
            return &type->fields[i];
        }
    }
    return NULL;
}

/* Every field of a file that the schema knows must promote to the schema's type. */
static void check_types(frz_validation *v, const char *location, const frz_type *table,
                        const frz_type *file)
{
    char want[TYPE_TEXT], found[TYPE_TEXT];
    for (size_t i = 0; i < file->field_count; i++) {
        const frz_field *stored = &file->fields[i];
        const frz_field *field = stored->id == FRZ_ID_NONE ? NULL : field_of(table, stored->id);
        if (field == NULL) {
            continue; /* dropped, or not in this schema yet */
        }
        bool nested = frz_type_is_nested(field->type);
        if (nested && field->type->id == stored->type->id) {
            check_types(v, location, field->type, stored->type);
        } else if (nested || frz_type_is_nested(stored->type) ||
                   !(frz_type_same_shape(stored->type, field->type) ||
                     frz_type_promotes(stored->type, field->type))) {
            frz_validate_find(v, location,
                              "field %d (\"%.*s\") is stored as %s, which cannot be "
                              "read as the table's %s",
                              field->id, FRZ_STR_ARG(field->name),
                              frz_type_text(stored->type, found, sizeof found),
                              frz_type_text(field->type, want, sizeof want));
        }
    }
}

static void check_base_ids(frz_validation *v, const frz_data_file *file)
{
    const frz_type *type = frz_data_file_type(file);
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id != FRZ_ID_NONE) {
            return;
        }
    }
    frz_validate_find(v, frz_data_file_location(file),
                      "no column has a field id, and the table's name mapping has none of them");
}

/* All listed ids that the schema knows are stored. spec: field_ids */
static void check_listed(frz_validation *v, const frz_validate_root *root,
                         const frz_column_file *listed, const frz_data_file *file)
{
    for (size_t i = 0; i < listed->field_id_count; i++) {
        int32_t id = listed->field_ids[i];
        const frz_field *field = id == FRZ_ID_LAST_UPDATED
                                     ? &frz_field_last_updated
                                     : frz_type_find_id(root->schema->type, id);
        if (field == NULL || field->type->id == FRZ_TYPE_UNKNOWN) {
            continue; /* dropped columns may stay listed; unknown columns are never stored */
        }
        if (frz_type_find_id(frz_data_file_type(file), id) == NULL) {
            frz_validate_find(v, frz_data_file_location(file),
                              "field %d (\"%.*s\") is listed for this column file, but not stored "
                              "in it",
                              id, FRZ_STR_ARG(field->name));
        }
    }
}

/* Files of Hive do not store what they are partitioned by. spec: Column Projection */
static bool has_constant(const frz_validation *v, const frz_entry *entry, const frz_field *field)
{
    const frz_value *value = frz_entry_identity_value(&v->table->metadata, entry, field->id);
    return field->initial_default != NULL || (value != NULL && !value->is_null);
}

/* A required column without a default must be stored somewhere, if only in the partition tuple. */
static frz_code check_required(frz_validation *v, const frz_validate_root *root,
                               const frz_validate_item *item, const frz_data_file *base,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < root->schema->type->field_count; i++) {
        const frz_field *field = &root->schema->type->fields[i];
        size_t part = 0;
        FRZ_TRY(frz_entry_part(item->entry, field, &part, err));
        if (part == 0 && field->required && item->entry->record_count > 0 &&
            !frz_data_file_has_field(base, field->id) && !has_constant(v, item->entry, field)) {
            frz_validate_find(v, item->location,
                              "required field %d (\"%.*s\") is stored nowhere and has no default",
                              field->id, FRZ_STR_ARG(field->name));
        }
    }
out:
    return rc;
}

/* ---- one entry ---- */

static void value_key(frz_key *key, bool has, const frz_value *value)
{
    frz_key_i64(key, has);
    if (!has) {
        return;
    }
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        frz_key_i64(key, value->as.boolean);
        break;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        frz_key_i64(key, value->as.i32);
        break;
    case FRZ_TYPE_FLOAT:
        frz_key_bytes(key, &value->as.f32, sizeof value->as.f32);
        break;
    case FRZ_TYPE_DOUBLE:
        frz_key_bytes(key, &value->as.f64, sizeof value->as.f64);
        break;
    case FRZ_TYPE_DECIMAL:
        frz_key_bytes(key, &value->as.i128, sizeof value->as.i128);
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        frz_key_str(key, value->as.bytes);
        break;
    default:
        frz_key_i64(key, value->as.i64);
    }
}

void frz_validate_stats_key(frz_key *key, const frz_field_stats *stats)
{
    frz_key_i64(key, stats->field_id);
    frz_key_i64(key, stats->type->id);
    value_key(key, stats->has_lower, &stats->lower);
    value_key(key, stats->has_upper, &stats->upper);
    frz_key_i64(key, stats->tight_bounds);
    frz_key_i64(key, stats->value_count);
    frz_key_i64(key, stats->null_value_count);
    frz_key_i64(key, stats->nan_value_count);
}

/* True if the same entry was checked with the same schema already. */
static frz_code entry_seen(frz_validation *v, const frz_validate_root *root,
                           const frz_validate_item *item, bool *seen, frz_error *err)
{
    bool added = true;
    frz_key key = item->content;
    frz_key_i64(&key, root->schema->schema_id);
    frz_key_str(&key, item->entry->deletion_vector.location);
    frz_key_i64(&key, item->entry->deletion_vector.offset);
    for (size_t i = 0; i < item->entry->stats_count; i++) {
        frz_validate_stats_key(&key, &item->entry->stats[i]);
    }
    frz_code rc = frz_key_map_put(&v->done, key, 0, &added, err);
    *seen = !added;
    return rc;
}

static frz_code check_parts(frz_validation *v, const frz_validate_root *root,
                            const frz_validate_item *item, frz_data_file **files, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *entry = item->entry;
    FRZ_TRY(open_file(v, entry->location, entry->file_size,
                      v->table->has_mapping ? &v->table->mapping : NULL, item, &files[0], err));
    if (files[0] != NULL) {
        check_base_ids(v, files[0]);
        check_types(v, frz_data_file_location(files[0]), root->schema->type,
                    frz_data_file_type(files[0]));
        FRZ_TRY(check_required(v, root, item, files[0], err));
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *listed = &entry->column_files[i];
        FRZ_TRY(open_file(v, listed->location, listed->file_size, NULL, item, &files[i + 1], err));
        if (files[i + 1] != NULL) {
            check_types(v, frz_data_file_location(files[i + 1]), root->schema->type,
                        frz_data_file_type(files[i + 1]));
            check_listed(v, root, listed, files[i + 1]);
        }
    }
    FRZ_TRY(frz_validate_values(v, root, item, files, err));
out:
    return rc;
}

frz_code frz_validate_files(frz_validation *v, const frz_validate_root *root,
                            const frz_validate_item *item, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool seen = false;
    size_t count = item->entry->column_file_count + 1;
    frz_data_file **files = NULL;
    FRZ_TRY(entry_seen(v, root, item, &seen, err));
    if (seen) {
        goto out;
    }
    files = frz_alloc_zero(v->env, count, sizeof(frz_data_file *));
    if (files == NULL) {
        rc = frz_fail_nomem(err, count * sizeof(frz_data_file *));
        goto out;
    }
    FRZ_TRY(check_parts(v, root, item, files, err));
out:
    for (size_t i = 0; files != NULL && i < count; i++) {
        frz_data_file_close(files[i]);
    }
    frz_free(v->env, files);
    return rc;
}
