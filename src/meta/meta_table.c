/*
 * The table object: opening from a metadata file, reference counting, and looking things up in its
 * metadata.
 */
#include "meta/meta_internal.h"

frz_code frz_table_open(const frz_env *env, const char *location,
                        const frz_table_open_options *opts, frz_table **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *absolute = NULL, *access = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, META_JSON_MAX);
    if (location == NULL || location[0] == '\0') {
        return frz_fail(err, FRZ_E_ARGUMENT, "no metadata file was named");
    }
    FRZ_TRY(frz_location_from_path(env, location, &absolute, err));
    FRZ_TRY(meta_map_location(env, opts == NULL ? NULL : opts->maps,
                              opts == NULL ? 0 : opts->map_count, absolute, &access, err));
    rc = frz_file_read_all(env, access, META_JSON_MAX, &bytes, err);
    if (rc == FRZ_OK) {
        rc = meta_gunzip(env, &bytes, err);
    }
    if (rc != FRZ_OK) {
        frz_context(err, rc, "metadata %s", absolute);
        goto out;
    }
    FRZ_TRY(frz_table_parse(env, absolute, frz_buf_view(&bytes), opts, out, err));
out:
    frz_buf_reset(&bytes);
    frz_free(env, access);
    frz_free(env, absolute);
    return rc;
}

frz_table *frz_table_ref(frz_table *table)
{
    atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
    return table;
}

void frz_table_unref(frz_table *table)
{
    if (table == NULL || atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    json_decref(table->metadata.json);
    frz_arena_reset(&table->arena);
    frz_free(table->env, table);
}

frz_code frz_table_current_snapshot(const frz_table *table, int64_t *out, frz_error *err)
{
    if (table->metadata.current_snapshot_id == 0) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "table %s has no snapshot yet",
                        table->name == NULL ? "" : table->name);
    }
    *out = table->metadata.current_snapshot_id;
    return FRZ_OK;
}

/* ---- looking up ---- */

const frz_snapshot *frz_metadata_snapshot(const frz_metadata *metadata, int64_t snapshot_id)
{
    size_t low = 0, high = metadata->snapshot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const frz_snapshot *found = metadata->snapshots_by_id[middle];
        if (found->snapshot_id == snapshot_id) {
            return found;
        }
        low = found->snapshot_id < snapshot_id ? middle + 1 : low;
        high = found->snapshot_id < snapshot_id ? high : middle;
    }
    return NULL;
}

const frz_snapshot *frz_metadata_current_snapshot(const frz_metadata *metadata)
{
    return metadata->current_snapshot_id == 0
               ? NULL
               : frz_metadata_snapshot(metadata, metadata->current_snapshot_id);
}

const frz_schema *frz_metadata_schema(const frz_metadata *metadata, int32_t schema_id)
{
    for (size_t i = 0; i < metadata->schema_count; i++) {
        if (metadata->schemas[i]->schema_id == schema_id) {
            return metadata->schemas[i];
        }
    }
    return NULL;
}

const frz_schema *frz_metadata_current_schema(const frz_metadata *metadata)
{
    return frz_metadata_schema(metadata, metadata->current_schema_id);
}

const frz_partition_spec *frz_metadata_spec(const frz_metadata *metadata, int32_t spec_id)
{
    for (size_t i = 0; i < metadata->spec_count; i++) {
        if (metadata->specs[i].spec_id == spec_id) {
            return &metadata->specs[i];
        }
    }
    return NULL;
}

const frz_ref *frz_metadata_ref(const frz_metadata *metadata, frz_str name)
{
    for (size_t i = 0; i < metadata->ref_count; i++) {
        if (frz_str_equal(metadata->refs[i].name, name)) {
            return &metadata->refs[i];
        }
    }
    return NULL;
}

/* spec: which schema a time-travel read uses */
frz_code frz_table_snapshot(const frz_table *table, int64_t snapshot_id,
                            const frz_snapshot **snapshot, const frz_schema **schema,
                            frz_error *err)
{
    const frz_metadata *m = &table->metadata;
    const frz_schema *read_as = frz_metadata_current_schema(m);
    const frz_snapshot *found = frz_metadata_current_snapshot(m);
    if (snapshot_id != 0) {
        found = frz_metadata_snapshot(m, snapshot_id);
        if (found == NULL) {
            return frz_fail(err, FRZ_E_NOT_FOUND, "table %s has no snapshot %lld",
                            table->name == NULL ? "" : table->name, (long long)snapshot_id);
        }
        if (found->schema_id >= 0) {
            read_as = frz_metadata_schema(m, found->schema_id);
        }
        if (read_as == NULL) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "snapshot %lld was written with schema %d, which the metadata lacks",
                            (long long)snapshot_id, (int)found->schema_id);
        }
    }
    *snapshot = found;
    *schema = read_as;
    return FRZ_OK;
}

/* ---- properties ---- */

frz_str frz_metadata_property(const frz_metadata *metadata, const char *key, const char *fallback)
{
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (frz_str_equal(metadata->properties[i].key, frz_str_from(key))) {
            return metadata->properties[i].value;
        }
    }
    return frz_str_from(fallback);
}

frz_code frz_metadata_property_i64(const frz_metadata *metadata, const char *key, int64_t fallback,
                                   int64_t *out, frz_error *err)
{
    frz_str text = frz_metadata_property(metadata, key, NULL);
    int64_t value = fallback;
    if (text.ptr != NULL && !frz_str_to_i64(text, &value)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "property %s: expected a whole number, found \"%.*s\"",
                        key, FRZ_STR_ARG(text));
    }
    *out = value;
    return FRZ_OK;
}
