/*
 * The table object: reference counting, and looking things up in its metadata.
 */
#include "meta/meta_internal.h"

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

bool frz_snapshot_is(const frz_snapshot *snapshot, const char *operation)
{
    for (size_t i = 0; snapshot != NULL && i < snapshot->summary_count; i++) {
        if (frz_str_equal(snapshot->summary[i].key, FRZ_STR("operation"))) {
            return frz_str_equal(snapshot->summary[i].value, frz_str_from(operation));
        }
    }
    return false;
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

frz_code frz_metadata_property_ratio(const frz_metadata *metadata, const char *key, double fallback,
                                     double *out, frz_error *err)
{
    frz_str text = frz_metadata_property(metadata, key, NULL);
    double value = fallback;
    if (text.ptr != NULL && (!frz_str_to_double(text, &value) || !(value >= 0))) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "property %s: expected a number from 0 on, found \"%.*s\"", key,
                        FRZ_STR_ARG(text));
    }
    *out = value;
    return FRZ_OK;
}
