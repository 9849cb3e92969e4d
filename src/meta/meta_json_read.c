/*
 * Metadata JSON of format version 4 -> model. The document is kept: strings of the model point into
 * it, and members that the model does not know are written back as they came. Parsing gives a model
 * whose references hold (current schema, current snapshot) or an error.
 * spec: v4 table metadata fields, snapshot fields
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/base_json.h"
#include "meta/meta_internal.h"

#define PREFIX_TEXT 64

/* ---- versions ---- */

static frz_code check_version(const json_t *json, frz_metadata *out, frz_error *err)
{
    frz_code rc = meta_json_i32(json, "", "format-version", &out->format_version, err);
    if (rc != FRZ_OK || out->format_version == FRZ_FORMAT_VERSION) {
        return rc;
    }
    if (out->format_version < 1) {
        return frz_fail(err, FRZ_E_CORRUPT, "format-version: expected 1 or more, found %d",
                        (int)out->format_version);
    }
    return frz_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: format version %d (this library reads version %d)",
                    (int)out->format_version, FRZ_FORMAT_VERSION);
}

/* ---- schemas ---- */

static frz_code read_schemas(frz_table *table, const json_t *json, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(json, "", "schemas", &list, err));
    size_t count = json_array_size(list);
    const frz_schema **schemas = frz_arena_array(&table->arena, count, sizeof(frz_schema *));
    if (schemas == NULL) {
        return frz_fail_nomem(err, count * sizeof(frz_schema *));
    }
    for (size_t i = 0; i < count; i++) {
        char path[PREFIX_TEXT];
        snprintf(path, sizeof path, "schemas[%zu]", i);
        FRZ_TRY(
            frz_schema_from_json(&table->arena, json_array_get(list, i), path, &schemas[i], err));
        for (size_t k = 0; k < i; k++) {
            if (schemas[k]->schema_id == schemas[i]->schema_id) {
                return frz_fail(err, FRZ_E_CORRUPT,
                                "%s.schema-id: %d is also the id of schemas[%zu]", path,
                                (int)schemas[i]->schema_id, k);
            }
        }
        int32_t max_id = frz_type_max_id(schemas[i]->type);
        if (max_id > m->last_column_id) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s: field id %d is above last-column-id %d", path,
                            (int)max_id, (int)m->last_column_id);
        }
    }
    m->schemas = schemas;
    m->schema_count = count;
    FRZ_TRY(meta_json_i32(json, "", "current-schema-id", &m->current_schema_id, err));
    if (frz_metadata_current_schema(m) == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "current-schema-id: there is no schema %d",
                      (int)m->current_schema_id);
    }
out:
    return rc;
}

/* ---- snapshots ---- */

static frz_code snapshot_check_summary(const frz_snapshot *s, const char *prefix, frz_error *err)
{
    for (size_t i = 0; i < s->summary_count; i++) {
        if (frz_str_equal(s->summary[i].key, FRZ_STR("operation"))) {
            return FRZ_OK;
        }
    }
    return frz_fail(err, FRZ_E_CORRUPT, "%ssummary.operation: expected a string, found nothing",
                    prefix);
}

/* Members that only a snapshot with a root manifest must have. */
static frz_code snapshot_read_v4(const json_t *json, const char *prefix, frz_snapshot *s,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_json_i64(json, prefix, "sequence-number", &s->sequence_number, err));
    FRZ_TRY(meta_json_i64(json, prefix, "first-row-id", &s->first_row_id, err));
    FRZ_TRY(meta_json_i64(json, prefix, "added-rows", &s->added_rows, err));
    if (s->first_row_id < 0 || s->added_rows < 0) {
        return frz_fail(
            err, FRZ_E_CORRUPT,
            "%sfirst-row-id, added-rows: expected no negative numbers, found %lld, %lld", prefix,
            (long long)s->first_row_id, (long long)s->added_rows);
    }
    FRZ_TRY(snapshot_check_summary(s, prefix, err));
out:
    return rc;
}

/* Snapshots from before an upgrade: version 1 had no sequence numbers, 1 and 2 no row ids. */
static frz_code snapshot_read_older(const json_t *json, const char *prefix, frz_snapshot *s,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_json_i64_or(json, prefix, "sequence-number", 0, &s->sequence_number, err));
    FRZ_TRY(meta_json_i64_or(json, prefix, "first-row-id", 0, &s->first_row_id, err));
    FRZ_TRY(meta_json_i64_or(json, prefix, "added-rows", 0, &s->added_rows, err));
out:
    return rc;
}

static frz_code snapshot_read_files(const json_t *json, const char *prefix, frz_snapshot *s,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_json_str_or_none(json, prefix, "root-manifest", &s->root_manifest, err));
    FRZ_TRY(meta_json_str_or_none(json, prefix, "manifest-list", &s->manifest_list, err));
    /* version 1 could list its manifests in place */
    bool older = s->manifest_list.ptr != NULL || meta_json_member(json, "manifests") != NULL;
    if ((s->root_manifest.ptr != NULL) == older) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%sroot-manifest, manifest-list: expected exactly one of them, found %s",
                        prefix, older ? "both" : "neither");
    }
    if (s->root_manifest.ptr != NULL && s->root_manifest.len == 0) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%sroot-manifest: expected a location, found an empty "
                        "string",
                        prefix);
    }
    rc = older ? snapshot_read_older(json, prefix, s, err) : snapshot_read_v4(json, prefix, s, err);
out:
    return rc;
}

static frz_code read_snapshot(frz_table *table, const json_t *json, size_t index, frz_snapshot *s,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t schema_id = -1;
    char prefix[PREFIX_TEXT];
    snprintf(prefix, sizeof prefix, "snapshots[%zu].", index);
    if (!json_is_object(json)) {
        return frz_fail(err, FRZ_E_CORRUPT, "snapshots[%zu]: expected an object, found %s", index,
                        meta_json_kind(json));
    }
    FRZ_TRY(meta_json_i64(json, prefix, "snapshot-id", &s->snapshot_id, err));
    if (s->snapshot_id <= 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "%ssnapshot-id: expected a positive number, found %lld",
                        prefix, (long long)s->snapshot_id);
    }
    FRZ_TRY(meta_json_i64_or(json, prefix, "parent-snapshot-id", 0, &s->parent_id, err));
    s->parent_id = FRZ_MAX(s->parent_id, 0); /* old writers put -1 for none */
    FRZ_TRY(meta_json_i64(json, prefix, "timestamp-ms", &s->timestamp_ms, err));
    FRZ_TRY(meta_json_i64_or(json, prefix, "schema-id", -1, &schema_id, err));
    if (schema_id < -1 || schema_id > INT32_MAX) {
        return frz_fail(err, FRZ_E_CORRUPT, "%sschema-id: expected a schema's id, found %lld",
                        prefix, (long long)schema_id);
    }
    s->schema_id = (int32_t)schema_id;
    FRZ_TRY(meta_json_pairs(json, prefix, "summary", &table->arena, &s->summary, &s->summary_count,
                            err));
    FRZ_TRY(snapshot_read_files(json, prefix, s, err));
    if (s->sequence_number < 0 || s->sequence_number > table->metadata.last_sequence_number) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%ssequence-number: expected 0 to last-sequence-number %lld, found %lld",
                      prefix, (long long)table->metadata.last_sequence_number,
                      (long long)s->sequence_number);
    }
out:
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static frz_code check_unique(const frz_env *env, const frz_metadata *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (m->snapshot_count < 2) {
        return FRZ_OK;
    }
    int64_t *ids = frz_alloc_zero(env, m->snapshot_count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, m->snapshot_count * sizeof *ids);
    }
    for (size_t i = 0; i < m->snapshot_count; i++) {
        ids[i] = m->snapshots[i].snapshot_id;
    }
    qsort(ids, m->snapshot_count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < m->snapshot_count && rc == FRZ_OK; i++) {
        if (ids[i] == ids[i - 1]) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "snapshots: two of them have the id %lld",
                          (long long)ids[i]);
        }
    }
    frz_free(env, ids);
    return rc;
}

/* The branch main and current-snapshot-id say the same thing twice. */
static frz_code check_main(const frz_metadata *m, frz_error *err)
{
    const json_t *refs = meta_json_member(m->json, "refs");
    if (refs != NULL && !json_is_object(refs)) {
        return meta_json_mismatch("", "refs", "an object", refs, err);
    }
    const json_t *branch = meta_json_member(refs, "main");
    if (branch == NULL) {
        return FRZ_OK;
    }
    if (!json_is_object(branch)) {
        return meta_json_mismatch("refs.", "main", "an object", branch, err);
    }
    int64_t id = 0;
    frz_code rc = meta_json_i64(branch, "refs.main.", "snapshot-id", &id, err);
    if (rc == FRZ_OK && id != m->current_snapshot_id) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "refs.main.snapshot-id: %lld is not current-snapshot-id %lld", (long long)id,
                      (long long)m->current_snapshot_id);
    }
    return rc;
}

static frz_code read_snapshots(frz_table *table, const json_t *json, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(json, "", "snapshots", &list, err));
    size_t count = json_array_size(list);
    frz_snapshot *snapshots = frz_arena_array(&table->arena, count, sizeof *snapshots);
    if (snapshots == NULL) {
        return frz_fail_nomem(err, count * sizeof *snapshots);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_snapshot(table, json_array_get(list, i), i, &snapshots[i], err));
    }
    m->snapshots = snapshots;
    m->snapshot_count = count;
    FRZ_TRY(check_unique(table->env, m, err));
    FRZ_TRY(meta_json_i64_or(json, "", "current-snapshot-id", 0, &m->current_snapshot_id, err));
    if (m->current_snapshot_id == -1) {
        m->current_snapshot_id = 0; /* how versions 1 and 2 said none */
    }
    if (m->current_snapshot_id != 0 && frz_metadata_current_snapshot(m) == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "current-snapshot-id: there is no snapshot %lld",
                        (long long)m->current_snapshot_id);
    }
    FRZ_TRY(check_main(m, err));
out:
    return rc;
}

/* ---- the document ---- */

static frz_code read_location(frz_metadata *m, frz_error *err)
{
    frz_code rc = meta_json_str_or_none(m->json, "", "location", &m->location, err);
    if (rc != FRZ_OK || m->location.ptr == NULL) {
        return rc;
    }
    if (!frz_location_has_scheme(m->location)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "location: expected an absolute location with a URI scheme, found \"%.*s\"",
                        FRZ_STR_ARG(m->location));
    }
    while (m->location.len > 0 && m->location.ptr[m->location.len - 1] == '/') {
        m->location.len--;
    }
    return FRZ_OK;
}

static frz_code read_counters(frz_metadata *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *json = m->json;
    FRZ_TRY(meta_json_i64(json, "", "last-sequence-number", &m->last_sequence_number, err));
    FRZ_TRY(meta_json_i64(json, "", "last-updated-ms", &m->last_updated_ms, err));
    FRZ_TRY(meta_json_i32(json, "", "last-column-id", &m->last_column_id, err));
    FRZ_TRY(meta_json_i64(json, "", "next-row-id", &m->next_row_id, err));
    if (m->last_sequence_number < 0 || m->last_column_id < 0 || m->next_row_id < 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "last-sequence-number, last-column-id, next-row-id: expected no negative "
                      "numbers, found %lld, %d, %lld",
                      (long long)m->last_sequence_number, (int)m->last_column_id,
                      (long long)m->next_row_id);
    }
out:
    return rc;
}

/* Present and of the right kind; their content is kept, not interpreted. */
static frz_code check_required_lists(const json_t *json, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    int32_t id = 0;
    FRZ_TRY(meta_json_array(json, "", "partition-specs", &list, err));
    FRZ_TRY(meta_json_i32(json, "", "default-spec-id", &id, err));
    FRZ_TRY(meta_json_i32(json, "", "last-partition-id", &id, err));
    FRZ_TRY(meta_json_array(json, "", "sort-orders", &list, err));
    FRZ_TRY(meta_json_i32(json, "", "default-sort-order-id", &id, err));
    FRZ_TRY(meta_json_array_or_none(json, "", "snapshot-log", &list, err));
    FRZ_TRY(meta_json_array_or_none(json, "", "metadata-log", &list, err));
out:
    return rc;
}

static frz_code read_mapping(frz_table *table, frz_error *err)
{
    frz_str text = frz_metadata_property(&table->metadata, "schema.name-mapping.default", NULL);
    if (text.ptr == NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_name_mapping_parse(&table->arena, text, &table->mapping, err);
    table->has_mapping = rc == FRZ_OK;
    return frz_context(err, rc, "properties.schema.name-mapping.default");
}

static frz_code read_metadata(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    FRZ_TRY(check_version(m->json, m, err));
    FRZ_TRY(meta_json_str(m->json, "", "table-uuid", &m->table_uuid, err));
    FRZ_TRY(read_location(m, err));
    FRZ_TRY(read_counters(m, err));
    FRZ_TRY(read_schemas(table, m->json, err));
    FRZ_TRY(check_required_lists(m->json, err));
    FRZ_TRY(meta_json_pairs(m->json, "", "properties", &table->arena, &m->properties,
                            &m->property_count, err));
    FRZ_TRY(read_snapshots(table, m->json, err));
    FRZ_TRY(read_mapping(table, err));
out:
    return rc;
}

static frz_code load_json(const frz_env *env, frz_str text, json_t **out, frz_error *err)
{
    json_t *json = NULL;
    if (text.len > META_JSON_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "document has %zu bytes, at most %zu are read", text.len,
                        META_JSON_MAX);
    }
    frz_code rc = frz_json_parse(env, text, &json, err);
    if (rc != FRZ_OK) {
        return rc == FRZ_E_CORRUPT ? frz_context(err, rc, "not JSON") : rc;
    }
    if (!json_is_object(json)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "expected an object, found %s", meta_json_kind(json));
        json_decref(json);
        return rc;
    }
    *out = json;
    return FRZ_OK;
}

/* ---- where the table's files are ---- */

static frz_code set_base(frz_table *table, const frz_table_open_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *given = NULL;
    frz_str base = table->metadata.location;
    if (base.ptr == NULL && opts != NULL && opts->location != NULL) {
        FRZ_TRY(frz_location_from_path(table->env, opts->location, &given, err));
        base = frz_str_from(given);
        while (base.len > 0 && base.ptr[base.len - 1] == '/') {
            base.len--;
        }
    }
    if (base.ptr != NULL) {
        table->base = frz_arena_strdup(&table->arena, base);
        rc = table->base == NULL ? frz_fail_nomem(err, base.len) : FRZ_OK;
    }
out:
    frz_free(table->env, given);
    return rc;
}

static frz_code set_maps(frz_table *table, const frz_table_open_options *opts, frz_error *err)
{
    size_t count = opts == NULL ? 0 : opts->map_count;
    if (count == 0) {
        return FRZ_OK;
    }
    table->maps = frz_arena_array(&table->arena, count, sizeof *table->maps);
    if (table->maps == NULL) {
        return frz_fail_nomem(err, count * sizeof *table->maps);
    }
    for (size_t i = 0; i < count; i++) {
        table->maps[i].from = frz_arena_strdup(&table->arena, frz_str_from(opts->maps[i].from));
        table->maps[i].to = frz_arena_strdup(&table->arena, frz_str_from(opts->maps[i].to));
        if (table->maps[i].from == NULL || table->maps[i].to == NULL) {
            return frz_fail_nomem(err, strlen(opts->maps[i].from));
        }
    }
    table->map_count = count;
    return FRZ_OK;
}

static frz_code set_metadata_location(frz_table *table, const char *location, frz_error *err)
{
    if (location == NULL) {
        return FRZ_OK;
    }
    table->metadata_location = frz_arena_strdup(&table->arena, frz_str_from(location));
    return table->metadata_location == NULL ? frz_fail_nomem(err, strlen(location)) : FRZ_OK;
}

frz_code frz_table_parse(const frz_env *env, const char *location, frz_str json,
                         const frz_table_open_options *opts, frz_table **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = frz_alloc_zero(env, 1, sizeof *table);
    if (table == NULL) {
        return frz_fail_nomem(err, sizeof *table);
    }
    table->refs = 1;
    table->env = env;
    frz_arena_init(&table->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(load_json(table->env, json, &table->metadata.json, err));
    FRZ_TRY(read_metadata(table, err));
    FRZ_TRY(set_metadata_location(table, location, err));
    FRZ_TRY(set_base(table, opts, err));
    FRZ_TRY(set_maps(table, opts, err));
    *out = table;
    table = NULL;
out:
    frz_table_unref(table);
    return frz_context(err, rc, "metadata %s", location == NULL ? "of a new table" : location);
}
