/*
 * Metadata JSON of format versions 1 to 4 -> model. The document is kept: strings of the model
 * point into it, and members that the model does not know are written back as they came. Parsing
 * gives a model whose references hold (schemas, specs, sort orders, snapshots) or an error. Parts
 * of the document have files of their own: meta_json_schema.c, _spec.c, _snapshot.c, _ref.c.
 * spec: Table Metadata Fields; Appendix E, format version changes
 */
#include "base/base_json.h"
#include "meta/meta_internal.h"

/* ---- the document ---- */

static frz_code check_version(frz_metadata *m, frz_error *err)
{
    frz_code rc = meta_json_i32(m->json, "", "format-version", &m->format_version, err);
    if (rc == FRZ_OK && m->format_version < 1) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "format-version: expected 1 or more, found %d",
                      (int)m->format_version);
    }
    if (rc == FRZ_OK && m->format_version > FRZ_FORMAT_VERSION) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: format version %d (this library reads versions 1 to %d)",
                      (int)m->format_version, FRZ_FORMAT_VERSION);
    }
    return rc;
}

static frz_code read_uuid(frz_metadata *m, frz_error *err)
{
    return m->format_version > 1
               ? meta_json_str(m->json, "", "table-uuid", &m->table_uuid, err)
               : meta_json_str_or_none(m->json, "", "table-uuid", &m->table_uuid, err);
}

/* Version 4 may leave it out, but not say it by halves; before, it was any path. */
static frz_code read_location(frz_metadata *m, frz_error *err)
{
    bool optional = m->format_version >= 4;
    frz_code rc = optional ? meta_json_str_or_none(m->json, "", "location", &m->location, err)
                           : meta_json_str(m->json, "", "location", &m->location, err);
    if (rc != FRZ_OK || m->location.ptr == NULL) {
        return rc;
    }
    if (optional && !frz_location_has_scheme(m->location)) {
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
    if (m->format_version > 1) {
        FRZ_TRY(meta_json_i64(json, "", "last-sequence-number", &m->last_sequence_number, err));
    }
    FRZ_TRY(meta_json_i64(json, "", "last-updated-ms", &m->last_updated_ms, err));
    FRZ_TRY(meta_json_i32(json, "", "last-column-id", &m->last_column_id, err));
    if (m->format_version >= 4) {
        FRZ_TRY(meta_json_i64(json, "", "next-row-id", &m->next_row_id, err));
    } else if (m->format_version == 3) { /* a reader can do without, and some writers did */
        FRZ_TRY(meta_json_i64_or(json, "", "next-row-id", 0, &m->next_row_id, err));
    }
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
    FRZ_TRY(check_version(m, err));
    FRZ_TRY(read_uuid(m, err));
    FRZ_TRY(read_location(m, err));
    FRZ_TRY(read_counters(m, err));
    FRZ_TRY(meta_read_schemas(table, err));
    FRZ_TRY(meta_read_specs(table, err));
    FRZ_TRY(meta_read_sort_orders(table, err));
    FRZ_TRY(meta_json_pairs(m->json, "", "properties", &table->arena, &m->properties,
                            &m->property_count, err));
    FRZ_TRY(meta_read_snapshots(table, err));
    FRZ_TRY(meta_read_refs(table, err));
    FRZ_TRY(meta_read_logs(table, err));
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
    table->map_count = opts == NULL ? 0 : opts->map_count;
    return table->map_count == 0 ? FRZ_OK
                                 : frz_location_maps_copy(&table->arena, opts->maps,
                                                          opts->map_count, &table->maps, err);
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
