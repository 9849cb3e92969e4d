/*
 * A document of a newer format version. Only what the newer version asks for changes; no file that
 * the document refers to is touched, and snapshots keep what they were made with.
 * spec: Appendix E, format version changes; v4: upgrade, JSON
 */
#include "base/base_json.h"
#include "meta/meta_internal.h"

/* One upgrade: from the model of the old document, into a copy of it. */
typedef struct upgrade {
    const frz_table *table;
    const frz_metadata *m; /* the table's */
    frz_arena arena;
    json_t *json;
    int32_t to;
} upgrade;

/* ---- version 1 to 2: lists instead of single members ---- */

/* The list holds every schema, each with its id. */
static bool list_schemas(upgrade *u)
{
    json_t *list = meta_json_own(u->json, "schemas", JSON_ARRAY);
    if (list == NULL) {
        return false;
    }
    if (json_array_size(list) < u->m->schema_count &&
        json_array_append(list, json_object_get(u->json, "schema")) != 0) {
        return false;
    }
    for (size_t i = 0; i < u->m->schema_count; i++) {
        json_t *schema = meta_json_own_element(list, i);
        if (schema == NULL ||
            !meta_json_put_i64(schema, "schema-id", u->m->schemas[i]->schema_id)) {
            return false;
        }
    }
    (void)json_object_del(u->json, "schema");
    return meta_json_put_i64(u->json, "current-schema-id", u->m->current_schema_id);
}

static bool number_fields(json_t *spec, const frz_partition_spec *model)
{
    json_t *fields = meta_json_own(spec, "fields", JSON_ARRAY);
    for (size_t i = 0; fields != NULL && i < model->field_count; i++) {
        json_t *field = meta_json_own_element(fields, i);
        if (field == NULL || !meta_json_put_i64(field, "field-id", model->fields[i].field_id)) {
            return false;
        }
    }
    return fields != NULL && meta_json_put_i64(spec, "spec-id", model->spec_id);
}

/* The list holds every spec, and every partition field has its id. */
static bool list_specs(upgrade *u)
{
    bool alone = !json_is_array(json_object_get(u->json, "partition-specs"));
    json_t *list = meta_json_own(u->json, "partition-specs", JSON_ARRAY);
    if (list != NULL && alone) {
        json_t *spec = json_object();
        bool ok =
            spec != NULL &&
            json_object_set(spec, "fields", json_object_get(u->json, "partition-spec")) == 0 &&
            json_array_append(list, spec) == 0;
        json_decref(spec);
        list = ok ? list : NULL;
    }
    for (size_t i = 0; list != NULL && i < u->m->spec_count; i++) {
        json_t *spec = meta_json_own_element(list, i);
        if (spec == NULL || !number_fields(spec, &u->m->specs[i])) {
            return false;
        }
    }
    (void)json_object_del(u->json, "partition-spec");
    return list != NULL && meta_json_put_i64(u->json, "default-spec-id", u->m->default_spec_id) &&
           meta_json_put_i64(u->json, "last-partition-id", u->m->last_partition_id);
}

static bool list_sort_orders(upgrade *u)
{
    bool absent = !json_is_array(json_object_get(u->json, "sort-orders"));
    json_t *list = meta_json_own(u->json, "sort-orders", JSON_ARRAY);
    if (list != NULL && absent) {
        json_t *order = json_object();
        bool ok = order != NULL && meta_json_put_i64(order, "order-id", 0) &&
                  meta_json_put(order, "fields", json_array()) &&
                  json_array_append(list, order) == 0;
        json_decref(order);
        list = ok ? list : NULL;
    }
    return list != NULL &&
           meta_json_put_i64(u->json, "default-sort-order-id", u->m->default_sort_order_id);
}

static frz_code identify(upgrade *u, frz_error *err)
{
    char uuid[FRZ_UUID_TEXT];
    if (u->m->table_uuid.ptr != NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_uuid_text(u->table->env, uuid, err);
    if (rc == FRZ_OK && !meta_json_put_str(u->json, "table-uuid", frz_str_from(uuid))) {
        rc = meta_json_no_memory(err);
    }
    return rc;
}

static frz_code from_version_1(upgrade *u, frz_error *err)
{
    frz_code rc = identify(u, err);
    bool ok = rc == FRZ_OK && list_schemas(u) && list_specs(u) && list_sort_orders(u) &&
              meta_json_put_i64(u->json, "last-sequence-number", 0);
    return rc != FRZ_OK || ok ? rc : meta_json_no_memory(err);
}

/* ---- to version 3: row ids ---- */

/* Higher than every row id that a snapshot was given, whatever the document says. */
static int64_t next_row_id(const frz_metadata *m)
{
    int64_t next = m->next_row_id;
    for (size_t i = 0; i < m->snapshot_count; i++) {
        const frz_snapshot *s = &m->snapshots[i];
        int64_t end = 0;
        if (s->first_row_id != FRZ_NO_VALUE && s->added_rows != FRZ_NO_VALUE &&
            frz_add_i64(s->first_row_id, s->added_rows, &end)) {
            next = FRZ_MAX(next, end);
        }
    }
    return next;
}

static frz_code count_rows(upgrade *u, frz_error *err)
{
    if (u->m->current_snapshot_id == 0) { /* never -1 from here on */
        (void)json_object_del(u->json, "current-snapshot-id");
    }
    return meta_json_put_i64(u->json, "next-row-id", next_row_id(u->m)) ? FRZ_OK
                                                                        : meta_json_no_memory(err);
}

/* ---- to version 4: absolute locations ---- */

/* What a member says, with the scheme that it lacked. Members that are no strings stay. */
static frz_code qualify(upgrade *u, json_t *object, const char *key, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str location;
    const json_t *text = json_object_get(object, key);
    if (!json_is_string(text)) {
        return FRZ_OK;
    }
    frz_str recorded = {json_string_value(text), json_string_length(text)};
    FRZ_TRY(frz_table_resolve_legacy(u->table, recorded, &u->arena, &location, err));
    if (!frz_location_has_scheme(location)) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: upgrading a table with the relative %s \"%.*s\"", key,
                      FRZ_STR_ARG(recorded));
    } else if (location.ptr != recorded.ptr && !meta_json_put_str(object, key, location)) {
        rc = meta_json_no_memory(err);
    }
out:
    return rc;
}

/* One member of every object of a list. */
static frz_code qualify_all(upgrade *u, const char *list_key, const char *key, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!json_is_array(json_object_get(u->json, list_key))) {
        return FRZ_OK;
    }
    json_t *list = meta_json_own(u->json, list_key, JSON_ARRAY);
    FRZ_TRY(list == NULL ? meta_json_no_memory(err) : FRZ_OK);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_is_object(json_array_get(list, i))) {
            continue;
        }
        json_t *item = meta_json_own_element(list, i);
        FRZ_TRY(item == NULL ? meta_json_no_memory(err) : qualify(u, item, key, err));
    }
out:
    return rc;
}

static frz_code qualify_manifests(upgrade *u, json_t *snapshot, const frz_snapshot *model,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = meta_json_own(snapshot, "manifests", JSON_ARRAY);
    FRZ_TRY(list == NULL ? meta_json_no_memory(err) : FRZ_OK);
    for (size_t i = 0; i < model->manifest_count; i++) {
        frz_str location;
        FRZ_TRY(frz_table_resolve_legacy(u->table, model->manifests[i], &u->arena, &location, err));
        if (json_array_set_new(list, i, json_stringn(location.ptr, location.len)) != 0) {
            rc = meta_json_no_memory(err);
            goto out;
        }
    }
out:
    return rc;
}

/* Snapshots stay as they were made, but for the scheme of their files; what meant nothing in their
 * version must not come to mean something. */
static frz_code settle_snapshots(upgrade *u, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = meta_json_own(u->json, "snapshots", JSON_ARRAY);
    FRZ_TRY(list == NULL ? meta_json_no_memory(err) : FRZ_OK);
    for (size_t i = 0; i < u->m->snapshot_count; i++) {
        json_t *snapshot = meta_json_own_element(list, i);
        FRZ_TRY(snapshot == NULL ? meta_json_no_memory(err) : FRZ_OK);
        if (u->m->format_version == 1) {
            (void)json_object_del(snapshot, "sequence-number");
        }
        if (u->to < 4) {
            continue;
        }
        (void)json_object_del(snapshot, "root-manifest");
        FRZ_TRY(qualify(u, snapshot, "manifest-list", err));
        if (u->m->snapshots[i].manifest_count > 0) {
            FRZ_TRY(qualify_manifests(u, snapshot, &u->m->snapshots[i], err));
        }
    }
out:
    return rc;
}

static frz_code qualify_locations(upgrade *u, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(qualify(u, u->json, "location", err));
    FRZ_TRY(qualify_all(u, "metadata-log", "metadata-file", err));
    FRZ_TRY(qualify_all(u, "statistics", "statistics-path", err));
    FRZ_TRY(qualify_all(u, "partition-statistics", "statistics-path", err));
out:
    return rc;
}

/* ---- the whole ---- */

static frz_code upgrade_document(upgrade *u, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool ok = meta_json_put_i64(u->json, "format-version", u->to) &&
              meta_json_put_i64(u->json, "last-column-id", u->m->last_column_id);
    FRZ_TRY(ok ? FRZ_OK : meta_json_no_memory(err));
    if (u->m->format_version == 1) {
        FRZ_TRY(from_version_1(u, err));
    }
    if (u->to >= 3) {
        FRZ_TRY(count_rows(u, err));
    }
    if (u->to >= 4) {
        FRZ_TRY(qualify_locations(u, err));
    }
    FRZ_TRY(settle_snapshots(u, err));
out:
    return rc;
}

static frz_code check_versions(const frz_metadata *m, int32_t to, frz_error *err)
{
    if (to > FRZ_FORMAT_VERSION || to < 1) {
        return frz_fail(err, FRZ_E_ARGUMENT, "format version: expected 1 to %d, found %d",
                        FRZ_FORMAT_VERSION, (int)to);
    }
    if (to <= m->format_version) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "a table of format version %d cannot become one of version %d",
                        (int)m->format_version, (int)to);
    }
    return FRZ_OK;
}

frz_code frz_metadata_json_upgrade(const frz_table *table, int32_t to,
                                   const char *previous_location, json_t **out, frz_error *err)
{
    static const frz_metadata_change no_change = {0};
    frz_code rc = FRZ_OK;
    upgrade u = {.table = table, .m = &table->metadata, .to = to};
    frz_arena_init(&u.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(check_versions(u.m, to, err));
    FRZ_TRY(frz_json_copy(u.m->json, &u.json, err));
    FRZ_TRY(upgrade_document(&u, err));
    FRZ_TRY(meta_json_change(table->env, u.json, previous_location, &no_change, out, err));
out:
    json_decref(u.json);
    frz_arena_reset(&u.arena);
    return rc;
}
