/*
 * Metadata JSON: a new table's document, a changed copy of a document, and its file. A change
 * copies only the lists it touches; everything else is shared with the document before, whatever
 * it means. spec: v4 table metadata fields, counters at commit
 */
#include <stdio.h>

#include "base/base_json.h"
#include "meta/meta_internal.h"

#define FIRST_PARTITION_ID 999 /* last-partition-id of a table without partition fields */
#define PREVIOUS_VERSIONS_DEFAULT 100

/* ---- text ---- */

/* JSON text holds UTF-8 only. */
static frz_code check_text(frz_str text, const char *what, frz_error *err)
{
    if (!frz_utf8_valid(text) || !frz_str_is_clean(text)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "%s \"%.*s\" is not UTF-8 text", what,
                        FRZ_STR_ARG(text));
    }
    return FRZ_OK;
}

static frz_code put_pairs(json_t *object, const frz_property_kv *pairs, size_t count,
                          const char *what, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(check_text(pairs[i].key, what, err));
        FRZ_TRY(check_text(pairs[i].value, what, err));
        if (json_object_setn_new(object, pairs[i].key.ptr, pairs[i].key.len,
                                 json_stringn(pairs[i].value.ptr == NULL ? "" : pairs[i].value.ptr,
                                              pairs[i].value.len)) != 0) {
            return meta_json_no_memory(err);
        }
    }
out:
    return rc;
}

/* ---- a new table ---- */

/* {id_key: 0, "fields": []} in a list */
static json_t *empty_list_of(const char *id_key)
{
    json_t *item = json_object();
    json_t *list = json_array();
    if (item == NULL || list == NULL || !meta_json_put_i64(item, id_key, 0) ||
        !meta_json_put(item, "fields", json_array()) || json_array_append(list, item) != 0) {
        json_decref(list);
        list = NULL;
    }
    json_decref(item);
    return list;
}

static frz_code new_schemas(const frz_schema *schema, json_t *document, frz_error *err)
{
    json_t *json = NULL;
    frz_schema first = *schema;
    first.schema_id = 0;
    frz_code rc = frz_schema_to_json(&first, &json, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    json_t *list = json_array();
    if (list == NULL || json_array_append(list, json) != 0 ||
        !meta_json_put(document, "schemas", json_incref(list))) {
        rc = meta_json_no_memory(err);
    }
    json_decref(list);
    json_decref(json);
    return rc;
}

static frz_code new_uuid(const frz_env *env, json_t *document, frz_error *err)
{
    char uuid[FRZ_UUID_TEXT];
    frz_code rc = frz_uuid_text(env, uuid, err);
    if (rc == FRZ_OK && !meta_json_put_str(document, "table-uuid", frz_str_from(uuid))) {
        rc = meta_json_no_memory(err);
    }
    return rc;
}

frz_code frz_metadata_json_new(const frz_env *env, const frz_new_table *table, json_t **out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *properties = NULL;
    json_t *json = json_object();
    bool ok = json != NULL && meta_json_put_i64(json, "format-version", FRZ_FORMAT_VERSION);
    FRZ_TRY(ok ? new_uuid(env, json, err) : meta_json_no_memory(err));
    FRZ_TRY(check_text(table->location, "location", err));
    ok = meta_json_put_str(json, "location", table->location) &&
         meta_json_put_i64(json, "last-sequence-number", 0) &&
         meta_json_put_i64(json, "last-updated-ms", frz_now_ms(env)) &&
         meta_json_put_i64(json, "last-column-id", table->last_column_id);
    FRZ_TRY(ok ? new_schemas(table->schema, json, err) : meta_json_no_memory(err));
    ok = meta_json_put_i64(json, "current-schema-id", 0) &&
         meta_json_put(json, "partition-specs", empty_list_of("spec-id")) &&
         meta_json_put_i64(json, "default-spec-id", 0) &&
         meta_json_put_i64(json, "last-partition-id", FIRST_PARTITION_ID) &&
         meta_json_put(json, "sort-orders", empty_list_of("order-id")) &&
         meta_json_put_i64(json, "default-sort-order-id", 0) &&
         meta_json_put_i64(json, "next-row-id", 0);
    properties = ok ? meta_json_own(json, "properties", JSON_OBJECT) : NULL;
    FRZ_TRY(properties != NULL
                ? put_pairs(properties, table->properties, table->property_count, "property", err)
                : meta_json_no_memory(err));
    *out = json;
    json = NULL;
out:
    json_decref(json);
    return rc;
}

/* ---- a changed copy ---- */

typedef struct json_change {
    json_t *json;      /* the copy */
    int64_t time_ms;   /* of this version */
    int32_t schema_id; /* current after the change */
} json_change;

static frz_code change_schema(json_change *c, const frz_metadata_change *change, frz_error *err)
{
    json_t *list = meta_json_own(c->json, "schemas", JSON_ARRAY);
    json_t *json = NULL;
    size_t i;
    const json_t *other;
    int64_t id = -1;
    if (list == NULL) {
        return meta_json_no_memory(err);
    }
    json_array_foreach(list, i, other)
    {
        id = FRZ_MAX(id, json_integer_value(json_object_get(other, "schema-id")));
    }
    if (id >= INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "schema ids beyond %d are needed", INT32_MAX);
    }
    frz_schema schema = *change->schema;
    schema.schema_id = (int32_t)(id + 1);
    frz_code rc = frz_schema_to_json(&schema, &json, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    c->schema_id = schema.schema_id;
    int64_t last = FRZ_MAX(json_integer_value(json_object_get(c->json, "last-column-id")),
                           FRZ_MAX(change->last_column_id, frz_type_max_id(schema.type)));
    return json_array_append_new(list, json) == 0 &&
                   meta_json_put_i64(c->json, "current-schema-id", schema.schema_id) &&
                   meta_json_put_i64(c->json, "last-column-id", last)
               ? FRZ_OK
               : meta_json_no_memory(err);
}

/* Entries with a null spec id are of any spec without fields; there must be one. spec: partition
 * tuple */
static frz_code have_unpartitioned_spec(json_change *c, frz_error *err)
{
    json_t *specs = meta_json_own(c->json, "partition-specs", JSON_ARRAY);
    json_int_t id = -1;
    size_t i;
    json_t *spec;
    json_array_foreach(specs, i, spec)
    {
        if (json_array_size(json_object_get(spec, "fields")) == 0) {
            return FRZ_OK;
        }
        id = FRZ_MAX(id, json_integer_value(json_object_get(spec, "spec-id")));
    }
    if (id >= INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "partition spec ids beyond %d are needed", INT32_MAX);
    }
    spec = json_object();
    bool made = specs != NULL && spec != NULL && meta_json_put_i64(spec, "spec-id", id + 1) &&
                meta_json_put(spec, "fields", json_array()) && json_array_append(specs, spec) == 0;
    json_decref(spec);
    return made ? FRZ_OK : meta_json_no_memory(err);
}

static frz_code snapshot_json(const json_change *c, const frz_snapshot *s, json_t **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *summary = NULL;
    json_t *json = json_object();
    FRZ_TRY(check_text(s->root_manifest, "location", err));
    bool ok = json != NULL && meta_json_put_i64(json, "snapshot-id", s->snapshot_id) &&
              (s->parent_id == 0 || meta_json_put_i64(json, "parent-snapshot-id", s->parent_id)) &&
              meta_json_put_i64(json, "sequence-number", s->sequence_number) &&
              meta_json_put_i64(json, "timestamp-ms", c->time_ms);
    summary = ok ? meta_json_own(json, "summary", JSON_OBJECT) : NULL;
    FRZ_TRY(summary != NULL
                ? put_pairs(summary, s->summary, s->summary_count, "snapshot summary", err)
                : meta_json_no_memory(err));
    ok = meta_json_put_i64(json, "schema-id", c->schema_id) &&
         meta_json_put_str(json, "root-manifest", s->root_manifest) &&
         meta_json_put_i64(json, "first-row-id", s->first_row_id) &&
         meta_json_put_i64(json, "added-rows", s->added_rows);
    FRZ_TRY(ok ? FRZ_OK : meta_json_no_memory(err));
    *out = json;
    json = NULL;
out:
    json_decref(json);
    return rc;
}

/* The branch keeps its retention settings. */
static bool move_main(json_t *document, int64_t snapshot_id)
{
    json_t *refs = meta_json_own(document, "refs", JSON_OBJECT);
    json_t *branch = refs == NULL ? NULL : meta_json_own(refs, "main", JSON_OBJECT);
    return branch != NULL && meta_json_put_i64(branch, "snapshot-id", snapshot_id) &&
           meta_json_put(branch, "type", json_string("branch"));
}

static bool log_snapshot(const json_change *c, int64_t snapshot_id)
{
    json_t *log = meta_json_own(c->json, "snapshot-log", JSON_ARRAY);
    json_t *item = json_object();
    bool ok = log != NULL && item != NULL && meta_json_put_i64(item, "timestamp-ms", c->time_ms) &&
              meta_json_put_i64(item, "snapshot-id", snapshot_id) &&
              json_array_append(log, item) == 0;
    json_decref(item);
    return ok;
}

static frz_code change_snapshot(json_change *c, const frz_metadata_change *change, frz_error *err)
{
    const frz_snapshot *s = change->snapshot;
    json_t *json = NULL;
    frz_code rc = snapshot_json(c, s, &json, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    json_t *list = meta_json_own(c->json, "snapshots", JSON_ARRAY);
    bool ok = list != NULL && json_array_append(list, json) == 0 &&
              meta_json_put_i64(c->json, "last-sequence-number", s->sequence_number) &&
              meta_json_put_i64(c->json, "next-row-id", change->next_row_id) &&
              meta_json_put_i64(c->json, "current-snapshot-id", s->snapshot_id) &&
              move_main(c->json, s->snapshot_id) && log_snapshot(c, s->snapshot_id);
    json_decref(json);
    return ok ? FRZ_OK : meta_json_no_memory(err);
}

static frz_code versions_max(const json_t *document, int64_t *out, frz_error *err)
{
    static const char key[] = "write.metadata.previous-versions-max";
    const json_t *text = json_object_get(json_object_get(document, "properties"), key);
    *out = PREVIOUS_VERSIONS_DEFAULT;
    if (text != NULL) {
        frz_str s = {json_string_value(text), json_string_length(text)};
        if (s.ptr == NULL || !frz_str_to_i64(s, out)) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "property %s: expected a whole number, found \"%.*s\"", key,
                            FRZ_STR_ARG(s));
        }
    }
    *out = FRZ_MAX(*out, 1);
    return FRZ_OK;
}

/* As recorded: relative below the table's location, from version 4 on. */
static frz_str relative_to(const json_t *document, frz_str location)
{
    if (json_integer_value(json_object_get(document, "format-version")) < 4) {
        return location;
    }
    const json_t *text = json_object_get(document, "location");
    frz_table table = {.base = (char *)(uintptr_t)json_string_value(text)};
    return frz_table_relativize(&table, location);
}

static frz_code log_previous(json_change *c, const json_t *base, const char *previous,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t most = 0;
    json_t *item = json_object();
    json_t *log = meta_json_own(c->json, "metadata-log", JSON_ARRAY);
    FRZ_TRY(versions_max(c->json, &most, err));
    FRZ_TRY(check_text(frz_str_from(previous), "location", err));
    bool ok =
        item != NULL && log != NULL &&
        meta_json_put_i64(item, "timestamp-ms",
                          json_integer_value(json_object_get(base, "last-updated-ms"))) &&
        meta_json_put_str(item, "metadata-file", relative_to(c->json, frz_str_from(previous))) &&
        json_array_append(log, item) == 0;
    FRZ_TRY(ok ? FRZ_OK : meta_json_no_memory(err));
    while ((int64_t)json_array_size(log) > most) {
        json_array_remove(log, 0);
    }
out:
    json_decref(item);
    return rc;
}

/* Times of a table only rise, even if the clock does not. */
static int64_t version_time(const frz_env *env, const json_t *base, const char *previous_location,
                            const frz_metadata_change *change)
{
    int64_t before = json_integer_value(json_object_get(base, "last-updated-ms"));
    int64_t wanted = change->snapshot != NULL && change->snapshot->timestamp_ms > 0
                         ? change->snapshot->timestamp_ms
                         : frz_now_ms(env);
    int64_t least = previous_location == NULL || before == INT64_MAX ? before : before + 1;
    return FRZ_MAX(wanted, least);
}

/* Only documents of the newest version are changed: whoever asks has seen to that. */
static frz_code check_version(const json_t *base, frz_error *err)
{
    json_int_t version = json_integer_value(json_object_get(base, "format-version"));
    return version == FRZ_FORMAT_VERSION
               ? FRZ_OK
               : frz_fail(err, FRZ_E_UNSUPPORTED,
                          "unsupported: changing metadata of format version %lld",
                          (long long)version);
}

static frz_code change_properties(json_change *c, const frz_metadata_change *change, frz_error *err)
{
    json_t *properties = meta_json_own(c->json, "properties", JSON_OBJECT);
    if (properties == NULL) {
        return meta_json_no_memory(err);
    }
    for (size_t i = 0; i < change->unset_key_count; i++) {
        (void)json_object_deln(properties, change->unset_keys[i].ptr, change->unset_keys[i].len);
    }
    return put_pairs(properties, change->set_properties, change->set_property_count, "property",
                     err);
}

frz_code meta_json_change(const frz_env *env, const json_t *base, const char *previous_location,
                          const frz_metadata_change *change, json_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_change c = {0};
    FRZ_TRY(frz_json_copy(base, &c.json, err)); /* counts of owners are atomic */
    c.time_ms = version_time(env, base, previous_location, change);
    c.schema_id = (int32_t)json_integer_value(json_object_get(base, "current-schema-id"));
    FRZ_TRY(meta_json_put_i64(c.json, "last-updated-ms", c.time_ms) ? FRZ_OK
                                                                    : meta_json_no_memory(err));
    if (change->schema != NULL) {
        FRZ_TRY(change_schema(&c, change, err));
    }
    if (change->set_property_count > 0 || change->unset_key_count > 0) {
        FRZ_TRY(change_properties(&c, change, err));
    }
    if (change->unpartitioned_spec) {
        FRZ_TRY(have_unpartitioned_spec(&c, err));
    }
    if (change->expired.snapshot_count > 0 || change->expired.ref_count > 0) {
        FRZ_TRY(meta_json_expire(c.json, &change->expired, err));
    }
    if (change->snapshot != NULL) {
        FRZ_TRY(change_snapshot(&c, change, err));
    }
    if (previous_location != NULL) {
        FRZ_TRY(log_previous(&c, base, previous_location, err));
    }
    *out = c.json;
    c.json = NULL;
out:
    json_decref(c.json);
    return rc;
}

frz_code frz_metadata_json_change(const frz_env *env, const json_t *base,
                                  const char *previous_location, const frz_metadata_change *change,
                                  json_t **out, frz_error *err)
{
    frz_code rc = check_version(base, err);
    return rc == FRZ_OK ? meta_json_change(env, base, previous_location, change, out, err) : rc;
}

/* ---- the file ---- */

static frz_code write_file(const frz_env *env, const char *location, const frz_buf *text,
                           bool durable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_writer *writer = NULL;
    FRZ_TRY(frz_file_create(env, location, &writer, err));
    FRZ_TRY(frz_file_append(writer, text->data, text->len, err));
    rc = frz_file_finish(writer, durable, err);
    writer = NULL;
    if (rc != FRZ_OK) {
        (void)frz_file_remove(env, location, NULL);
    }
out:
    frz_file_abort(writer);
    return rc;
}

frz_code frz_metadata_write(const frz_table *table, const json_t *json, int64_t version,
                            bool durable, char **location, int64_t *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char uuid[FRZ_UUID_TEXT];
    char name[96];
    char *path = NULL;
    frz_buf text = FRZ_BUF_INIT(table->env, META_JSON_MAX);
    FRZ_TRY(frz_uuid_text(table->env, uuid, err));
    snprintf(name, sizeof name, "%05lld-%s.metadata.json", (long long)version, uuid);
    FRZ_TRY(frz_table_new_metadata_path(table, name, &path, err));
    FRZ_TRY(frz_json_dump(json, &text, err));
    FRZ_TRY(write_file(table->env, path, &text, durable, err));
    *location = path;
    path = NULL;
    if (bytes != NULL) {
        *bytes = (int64_t)text.len;
    }
out:
    frz_free(table->env, path);
    frz_buf_reset(&text);
    return rc;
}

int64_t frz_metadata_version_of(const char *location)
{
    const char *slash = strrchr(location, '/');
    const char *name = slash == NULL ? location : slash + 1;
    name += *name == 'v'; /* "v3.metadata.json" of file system catalogs */
    int64_t version = 0;
    size_t digits = strspn(name, "0123456789");
    bool ends = name[digits] == '-' || name[digits] == '.';
    return digits > 0 && ends && frz_str_to_i64((frz_str){name, digits}, &version) ? version : -1;
}
