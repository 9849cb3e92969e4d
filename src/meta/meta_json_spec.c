/*
 * Partition specs and sort orders of a metadata document. Neither is needed to read rows, so what
 * readers may ignore is let be: unknown transforms, sources that are no columns any more.
 * spec: Partition Specs, Sorting, their JSON serialization
 */
#include <stdio.h>

#include "meta/meta_internal.h"

#define PATH_TEXT 48            /* "partition-specs[3].fields" */
#define PREFIX_TEXT 80          /* "partition-specs[3].fields[0]." */
#define FIRST_PARTITION_ID 1000 /* of fields without an id (version 1) */

/* ---- what both have ---- */

static frz_code read_transform(const json_t *json, const char *prefix, frz_transform *out,
                               frz_error *err)
{
    frz_str text;
    frz_code rc = meta_json_str(json, prefix, "transform", &text, err);
    if (rc == FRZ_OK) {
        *out = frz_transform_parse(text);
    }
    return rc;
}

/* "source-ids" of transforms with several arguments, else "source-id". */
static frz_code read_sources(frz_arena *arena, const json_t *json, const char *prefix,
                             const int32_t **out, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(json, prefix, "source-ids", &list, err));
    size_t n = list == NULL ? 1 : json_array_size(list);
    int32_t *ids = frz_arena_array(arena, n, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, n * sizeof *ids);
    }
    if (list == NULL) {
        FRZ_TRY(meta_json_i32(json, prefix, "source-id", &ids[0], err));
    }
    if (n == 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%ssource-ids: expected field ids, found none", prefix);
        goto out;
    }
    for (size_t i = 0; list != NULL && i < n; i++) {
        const json_t *id = json_array_get(list, i);
        json_int_t value = json_integer_value(id);
        if (!json_is_integer(id) || value < INT32_MIN || value > INT32_MAX) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%ssource-ids[%zu]: expected a field id, found %s",
                          prefix, i, meta_json_kind(id));
            goto out;
        }
        ids[i] = (int32_t)value;
    }
    *out = ids;
    *count = n;
out:
    return rc;
}

/* ---- partition specs ---- */

/* The ids of all fields or of none; without them they count from 1000. */
static frz_code read_field_id(const json_t *json, const char *prefix, size_t index, bool has_ids,
                              frz_partition_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if ((meta_json_member(json, "field-id") != NULL) != has_ids) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%sfield-id: expected all partition fields of a spec or none to have one",
                        prefix);
    }
    out->field_id = (int32_t)(FIRST_PARTITION_ID + index);
    if (has_ids) {
        rc = meta_json_i32(json, prefix, "field-id", &out->field_id, err);
    }
    if (rc == FRZ_OK && out->field_id <= 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%sfield-id: expected a positive number, found %d",
                      prefix, (int)out->field_id);
    }
    return rc;
}

static frz_code read_partition_field(frz_arena *arena, const json_t *json, const char *prefix,
                                     size_t index, bool has_ids, frz_partition_field *out,
                                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_json_str(json, prefix, "name", &out->name, err));
    FRZ_TRY(read_transform(json, prefix, &out->transform, err));
    FRZ_TRY(read_sources(arena, json, prefix, &out->source_ids, &out->source_count, err));
    FRZ_TRY(read_field_id(json, prefix, index, has_ids, out, err));
out:
    return rc;
}

static int64_t partition_field_id_of(const void *fields, size_t i)
{
    return ((const frz_partition_field *)fields)[i].field_id;
}

/* path: of the list of fields, such as "partition-specs[0].fields" */
static frz_code read_partition_fields(frz_table *table, const json_t *list, const char *path,
                                      frz_partition_spec *spec, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    size_t count = json_array_size(list);
    bool has_ids = meta_json_member(json_array_get(list, 0), "field-id") != NULL;
    frz_partition_field *fields = frz_arena_array(&table->arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        char prefix[PREFIX_TEXT];
        const json_t *json = json_array_get(list, i);
        snprintf(prefix, sizeof prefix, "%s[%zu].", path, i);
        FRZ_TRY(meta_json_element(json, path, i, err));
        FRZ_TRY(read_partition_field(&table->arena, json, prefix, i, has_ids, &fields[i], err));
        m->last_partition_id = FRZ_MAX(m->last_partition_id, fields[i].field_id);
    }
    spec->fields = fields;
    spec->field_count = count;
    FRZ_TRY(meta_check_unique(table->env, fields, count, partition_field_id_of, path, err));
out:
    return rc;
}

static frz_code read_spec(frz_table *table, const json_t *json, size_t index,
                          frz_partition_spec *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[PATH_TEXT], path[PATH_TEXT];
    const json_t *fields = NULL;
    snprintf(prefix, sizeof prefix, "partition-specs[%zu].", index);
    snprintf(path, sizeof path, "partition-specs[%zu].fields", index);
    FRZ_TRY(meta_json_element(json, "partition-specs", index, err));
    FRZ_TRY(meta_json_i32(json, prefix, "spec-id", &out->spec_id, err));
    FRZ_TRY(meta_json_array(json, prefix, "fields", &fields, err));
    FRZ_TRY(read_partition_fields(table, fields, path, out, err));
out:
    return rc;
}

static int64_t spec_id_of(const void *specs, size_t i)
{
    return ((const frz_partition_spec *)specs)[i].spec_id;
}

/* Version 1 may leave the default out: the newest spec is what its writers went on with. */
static frz_code read_default_spec(frz_metadata *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t newest = 0;
    for (size_t i = 0; i < m->spec_count; i++) {
        newest = i == 0 ? m->specs[i].spec_id : FRZ_MAX(newest, m->specs[i].spec_id);
    }
    if (m->format_version > 1) {
        FRZ_TRY(meta_json_i32(m->json, "", "default-spec-id", &m->default_spec_id, err));
    } else {
        FRZ_TRY(meta_json_i32_or(m->json, "", "default-spec-id", newest, &m->default_spec_id, err));
    }
    if (frz_metadata_spec(m, m->default_spec_id) == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "default-spec-id: there is no partition spec %d",
                      (int)m->default_spec_id);
    }
out:
    return rc;
}

static frz_code read_specs(frz_table *table, const json_t *list, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    size_t count = json_array_size(list);
    frz_partition_spec *specs = frz_arena_array(&table->arena, count, sizeof *specs);
    if (specs == NULL) {
        return frz_fail_nomem(err, count * sizeof *specs);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_spec(table, json_array_get(list, i), i, &specs[i], err));
    }
    m->specs = specs;
    m->spec_count = count;
    FRZ_TRY(meta_check_unique(table->env, specs, count, spec_id_of, "partition-specs", err));
    FRZ_TRY(read_default_spec(m, err));
out:
    return rc;
}

/* Version 1 without a list: the fields alone, as spec 0. */
static frz_code read_only_spec(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *fields = NULL;
    frz_partition_spec *spec = frz_arena_array(&table->arena, 1, sizeof *spec);
    if (spec == NULL) {
        return frz_fail_nomem(err, sizeof *spec);
    }
    FRZ_TRY(meta_json_array(table->metadata.json, "", "partition-spec", &fields, err));
    FRZ_TRY(read_partition_fields(table, fields, "partition-spec", spec, err));
    table->metadata.specs = spec;
    table->metadata.spec_count = 1;
out:
    return rc;
}

frz_code meta_read_specs(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    int32_t last = 0;
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    if (m->format_version > 1) {
        FRZ_TRY(meta_json_array(m->json, "", "partition-specs", &list, err));
        FRZ_TRY(meta_json_i32(m->json, "", "last-partition-id", &last, err));
    } else {
        FRZ_TRY(meta_json_array_or_none(m->json, "", "partition-specs", &list, err));
        FRZ_TRY(meta_json_i32_or(m->json, "", "last-partition-id", 0, &last, err));
    }
    FRZ_TRY(list == NULL ? read_only_spec(table, err) : read_specs(table, list, err));
    m->last_partition_id = FRZ_MAX(m->last_partition_id, last);
out:
    return rc;
}

/* ---- sort orders ---- */

static frz_code read_choice(const json_t *json, const char *prefix, const char *key, const char *no,
                            const char *yes, bool *out, frz_error *err)
{
    frz_str text;
    frz_code rc = meta_json_str(json, prefix, key, &text, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    *out = frz_str_equal_nocase(text, frz_str_from(yes));
    if (!*out && !frz_str_equal_nocase(text, frz_str_from(no))) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected %s or %s, found \"%.*s\"", prefix, key,
                        no, yes, FRZ_STR_ARG(text));
    }
    return FRZ_OK;
}

static frz_code read_sort_field(frz_arena *arena, const json_t *json, const char *prefix,
                                frz_sort_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(read_transform(json, prefix, &out->transform, err));
    FRZ_TRY(read_sources(arena, json, prefix, &out->source_ids, &out->source_count, err));
    FRZ_TRY(read_choice(json, prefix, "direction", "asc", "desc", &out->descending, err));
    FRZ_TRY(read_choice(json, prefix, "null-order", "nulls-first", "nulls-last", &out->nulls_last,
                        err));
out:
    return rc;
}

/* path: of the list, "sort-orders[0].fields" */
static frz_code read_sort_fields(frz_arena *arena, const json_t *list, const char *path,
                                 frz_sort_order *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = json_array_size(list);
    frz_sort_field *fields = frz_arena_array(arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        char prefix[PREFIX_TEXT];
        const json_t *json = json_array_get(list, i);
        snprintf(prefix, sizeof prefix, "%s[%zu].", path, i);
        FRZ_TRY(meta_json_element(json, path, i, err));
        FRZ_TRY(read_sort_field(arena, json, prefix, &fields[i], err));
    }
    out->fields = fields;
    out->field_count = count;
out:
    return rc;
}

static frz_code read_order(frz_table *table, const json_t *json, size_t index, frz_sort_order *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[PATH_TEXT], path[PATH_TEXT];
    const json_t *fields = NULL;
    snprintf(prefix, sizeof prefix, "sort-orders[%zu].", index);
    snprintf(path, sizeof path, "sort-orders[%zu].fields", index);
    FRZ_TRY(meta_json_element(json, "sort-orders", index, err));
    FRZ_TRY(meta_json_i32(json, prefix, "order-id", &out->order_id, err));
    FRZ_TRY(meta_json_array(json, prefix, "fields", &fields, err));
    FRZ_TRY(read_sort_fields(&table->arena, fields, path, out, err));
out:
    return rc;
}

static int64_t order_id_of(const void *orders, size_t i)
{
    return ((const frz_sort_order *)orders)[i].order_id;
}

static frz_code check_default_order(const frz_metadata *m, frz_error *err)
{
    bool found = m->default_sort_order_id == 0; /* unsorted, whether it is listed or not */
    for (size_t i = 0; i < m->sort_order_count && !found; i++) {
        found = m->sort_orders[i].order_id == m->default_sort_order_id;
    }
    return found ? FRZ_OK
                 : frz_fail(err, FRZ_E_CORRUPT, "default-sort-order-id: there is no sort order %d",
                            (int)m->default_sort_order_id);
}

frz_code meta_read_sort_orders(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    if (m->format_version > 1) {
        FRZ_TRY(meta_json_array(m->json, "", "sort-orders", &list, err));
        FRZ_TRY(
            meta_json_i32(m->json, "", "default-sort-order-id", &m->default_sort_order_id, err));
    } else {
        FRZ_TRY(meta_json_array_or_none(m->json, "", "sort-orders", &list, err));
        FRZ_TRY(meta_json_i32_or(m->json, "", "default-sort-order-id", 0, &m->default_sort_order_id,
                                 err));
    }
    size_t count = json_array_size(list);
    frz_sort_order *orders = frz_arena_array(&table->arena, FRZ_MAX(count, 1), sizeof *orders);
    if (orders == NULL) {
        return frz_fail_nomem(err, count * sizeof *orders);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_order(table, json_array_get(list, i), i, &orders[i], err));
    }
    m->sort_orders = orders;
    m->sort_order_count = list == NULL ? 1 : count; /* order 0, unsorted, if there is no list */
    FRZ_TRY(meta_check_unique(table->env, orders, m->sort_order_count, order_id_of, "sort-orders",
                              err));
    FRZ_TRY(check_default_order(m, err));
out:
    return rc;
}
