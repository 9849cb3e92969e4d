/*
 * A task out of its JSON, which need not be trusted: every member is checked before it is used, and
 * the rejection names it. The document lives as long as the task, whose texts are views into it.
 */
#include "base/base_json.h"
#include "meta/meta_json.h"
#include "scan/scan_internal.h"
#include "scan/scan_task_json.h"

/* ---- members ---- */

frz_code task_read_count(const json_t *object, const char *prefix, const char *key, int64_t *out,
                         frz_error *err)
{
    frz_code rc = meta_json_i64(object, prefix, key, out, err);
    return rc == FRZ_OK && *out < 0
               ? frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected no negative number, found %lld",
                          prefix, key, (long long)*out)
               : rc;
}

frz_code task_read_count_or(const json_t *object, const char *prefix, const char *key,
                            int64_t fallback, int64_t *out, frz_error *err)
{
    *out = fallback;
    return meta_json_member(object, key) == NULL ? FRZ_OK
                                                 : task_read_count(object, prefix, key, out, err);
}

/* Absent: false. */
frz_code task_read_flag(const json_t *object, const char *prefix, const char *key, bool *out,
                        frz_error *err)
{
    const json_t *member = meta_json_member(object, key);
    *out = json_is_true(member);
    return member == NULL || json_is_boolean(member)
               ? FRZ_OK
               : meta_json_mismatch(prefix, key, "a boolean", member, err);
}

frz_code task_read_text(const json_t *object, const char *prefix, const char *key, frz_str *out,
                        frz_error *err)
{
    frz_code rc = meta_json_str(object, prefix, key, out, err);
    return rc == FRZ_OK && out->len == 0
               ? frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected a text, found an empty one", prefix,
                          key)
               : rc;
}

/* A list of field ids, ascending: the ids of column files are, and those of equality deletes are
 * sorted where they are used. */
static frz_code read_ids(frz_arena *arena, const json_t *object, const char *prefix,
                         const char *key, const int32_t **out, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(object, prefix, key, &list, err));
    size_t n = json_array_size(list);
    int32_t *ids = frz_arena_array(arena, n + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, n * sizeof *ids);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t id = json_integer_value(item);
        if (!json_is_integer(item) || id < 0 || id > INT32_MAX) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s%s[%zu]: expected a field id, found %s", prefix,
                            key, i,
                            json_is_integer(item) ? "a number that is none" : meta_json_kind(item));
        }
        ids[i] = (int32_t)id;
        if (i > 0 && ids[i] < ids[i - 1]) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s%s[%zu]: expected no id below %d, found %d",
                            prefix, key, i, (int)ids[i - 1], (int)ids[i]);
        }
    }
    if (n == 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected at least one id, found none", prefix,
                        key);
    }
    *out = ids;
    *count = n;
out:
    return rc;
}

frz_code task_read_pair(const json_t *list, const char *prefix, const char *key, int64_t most,
                        int64_t *first, int64_t *end, frz_error *err)
{
    const json_t *a = json_array_get(list, 0), *b = json_array_get(list, 1);
    if (json_array_size(list) != 2 || !json_is_integer(a) || !json_is_integer(b) ||
        json_integer_value(a) < 0 || json_integer_value(b) < json_integer_value(a) ||
        json_integer_value(b) > most) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%s%s: expected two integers, ascending and from 0 to %lld", prefix, key,
                        (long long)most);
    }
    *first = json_integer_value(a);
    *end = json_integer_value(b);
    return FRZ_OK;
}

/* [first, end) */
static frz_code read_range(const json_t *object, const char *prefix, const char *key, int64_t most,
                           int64_t *first, int64_t *end, frz_error *err)
{
    const json_t *list = NULL;
    frz_code rc = meta_json_array(object, prefix, key, &list, err);
    return rc != FRZ_OK ? rc : task_read_pair(list, prefix, key, most, first, end, err);
}

/* ---- entries ---- */

static frz_code read_value(frz_arena *arena, const json_t *item, const char *prefix, frz_value *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str text = {NULL, 0};
    const json_t *value = meta_json_member(item, TASK_VALUE);
    const frz_type *type = frz_type_primitive(FRZ_TYPE_UNKNOWN);
    FRZ_TRY(meta_json_str_or_none(item, prefix, TASK_TYPE, &text, err));
    if (text.ptr != NULL) {
        rc = frz_type_parse(arena, text, &type, err);
        if (rc != FRZ_OK && rc != FRZ_E_NOMEM) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected a type, found \"%.*s\"", prefix,
                          TASK_TYPE, FRZ_STR_ARG(text));
        }
        FRZ_TRY(rc);
    }
    FRZ_TRY(frz_value_from_json(arena, type, value, "", out, err));
out:
    return frz_context(err, rc, "%s%s", prefix, TASK_VALUE);
}

static frz_code read_partition(frz_arena *arena, const json_t *object, const char *prefix,
                               frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char inner[TASK_PREFIX];
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(object, prefix, TASK_PARTITION, &list, err));
    size_t n = json_array_size(list);
    frz_partition_value *values = frz_arena_array(arena, n + 1, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, n * sizeof *values);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, TASK_PARTITION, i, err));
        snprintf(inner, sizeof inner, "%.40s%.20s[%zu].", prefix, TASK_PARTITION, i);
        FRZ_TRY(meta_json_i32(item, inner, TASK_FIELD_ID, &values[i].field_id, err));
        FRZ_TRY(read_value(arena, item, inner, &values[i].value, err));
    }
    entry->partition = values;
    entry->partition_count = n;
out:
    return rc;
}

frz_code task_read_column_files(frz_arena *arena, const json_t *object, const char *prefix,
                                frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char inner[TASK_PREFIX];
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(object, prefix, TASK_COLUMN_FILES, &list, err));
    size_t n = json_array_size(list);
    frz_column_file *files = frz_arena_array(arena, n + 1, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, n * sizeof *files);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, TASK_COLUMN_FILES, i, err));
        snprintf(inner, sizeof inner, "%.40s%.20s[%zu].", prefix, TASK_COLUMN_FILES, i);
        FRZ_TRY(task_read_text(item, inner, TASK_LOCATION, &files[i].location, err));
        FRZ_TRY(task_read_text(item, inner, TASK_FILE_FORMAT, &files[i].file_format, err));
        FRZ_TRY(task_read_count(item, inner, TASK_FILE_SIZE, &files[i].file_size, err));
        FRZ_TRY(read_ids(arena, item, inner, TASK_FIELD_IDS, &files[i].field_ids,
                         &files[i].field_id_count, err));
    }
    entry->column_files = files;
    entry->column_file_count = n;
out:
    return rc;
}

static frz_code read_encrypted(const json_t *object, const char *prefix, frz_str *out,
                               frz_error *err)
{
    bool encrypted = false;
    frz_code rc = task_read_flag(object, prefix, TASK_ENCRYPTED, &encrypted, err);
    *out = encrypted ? FRZ_STR("a key") : (frz_str){NULL, 0}; /* that there is one, is refused */
    return rc;
}

frz_code task_read_vector(const json_t *object, const char *prefix, frz_entry *entry,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    char inner[TASK_PREFIX];
    frz_deletion_vector *vector = &entry->deletion_vector;
    const json_t *item = meta_json_member(object, TASK_VECTOR);
    if (item == NULL) {
        return FRZ_OK;
    }
    if (!json_is_object(item)) {
        return meta_json_mismatch(prefix, TASK_VECTOR, "an object", item, err);
    }
    snprintf(inner, sizeof inner, "%.40s%.20s.", prefix, TASK_VECTOR);
    FRZ_TRY(task_read_text(item, inner, TASK_LOCATION, &vector->location, err));
    FRZ_TRY(task_read_count(item, inner, TASK_OFFSET, &vector->offset, err));
    FRZ_TRY(task_read_count(item, inner, TASK_SIZE, &vector->size, err));
    FRZ_TRY(task_read_count(item, inner, TASK_CARDINALITY, &vector->cardinality, err));
    FRZ_TRY(read_encrypted(item, inner, &vector->key_metadata, err));
    entry->has_deletion_vector = true;
out:
    return rc;
}

static frz_code read_entry(frz_arena *arena, const json_t *object, const char *prefix,
                           frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t spec_id = -1;
    FRZ_TRY(task_read_text(object, prefix, TASK_LOCATION, &entry->location, err));
    FRZ_TRY(task_read_text(object, prefix, TASK_FILE_FORMAT, &entry->file_format, err));
    FRZ_TRY(task_read_count(object, prefix, TASK_FILE_SIZE, &entry->file_size, err));
    FRZ_TRY(task_read_count(object, prefix, TASK_RECORD_COUNT, &entry->record_count, err));
    FRZ_TRY(task_read_count(object, prefix, TASK_SEQUENCE, &entry->sequence_number, err));
    FRZ_TRY(task_read_count_or(object, prefix, TASK_SPEC_ID, -1, &spec_id, err));
    if (spec_id > INT32_MAX) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected an integer of 32 bits, found %lld",
                        prefix, TASK_SPEC_ID, (long long)spec_id);
    }
    entry->spec_id = (int32_t)spec_id;
    FRZ_TRY(task_read_flag(object, prefix, TASK_LEGACY, &entry->is_legacy, err));
    FRZ_TRY(read_encrypted(object, prefix, &entry->key_metadata, err));
    FRZ_TRY(task_read_vector(object, prefix, entry, err));
    FRZ_TRY(read_partition(arena, object, prefix, entry, err));
out:
    return rc;
}

static frz_code new_entry(frz_arena *arena, frz_entry **out, frz_error *err)
{
    *out = frz_arena_alloc(arena, sizeof **out);
    if (*out == NULL) {
        return frz_fail_nomem(err, sizeof **out);
    }
    (*out)->first_row_id = FRZ_NO_VALUE;
    (*out)->modified_snapshot_id = FRZ_NO_VALUE;
    (*out)->sort_order_id = -1;
    return FRZ_OK;
}

/* ---- delete files ---- */

static frz_code read_content(const json_t *object, const char *prefix, frz_content *out,
                             frz_error *err)
{
    frz_str content = {NULL, 0};
    frz_code rc = meta_json_str(object, prefix, TASK_CONTENT, &content, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    bool equality = frz_str_equal(content, FRZ_STR(TASK_EQUALITY_DELETES));
    *out = equality ? FRZ_CONTENT_EQUALITY_DELETES : FRZ_CONTENT_POSITION_DELETES;
    return equality || frz_str_equal(content, FRZ_STR(TASK_POSITION_DELETES))
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected %s or %s, found \"%.*s\"", prefix,
                          TASK_CONTENT, TASK_POSITION_DELETES, TASK_EQUALITY_DELETES,
                          FRZ_STR_ARG(content));
}

static frz_code read_delete_file(frz_task *task, const json_t *object, const char *prefix,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *entry = NULL;
    FRZ_TRY(new_entry(&task->arena, &entry, err));
    FRZ_TRY(read_content(object, prefix, &entry->content, err));
    FRZ_TRY(read_entry(&task->arena, object, prefix, entry, err));
    FRZ_TRY(
        meta_json_str_or_none(object, prefix, TASK_REFERENCED, &entry->referenced_data_file, err));
    if (entry->content == FRZ_CONTENT_EQUALITY_DELETES) {
        FRZ_TRY(read_ids(&task->arena, object, prefix, TASK_EQUALITY_IDS, &entry->equality_ids,
                         &entry->equality_id_count, err));
    }
    /* spec: a deletion vector is for one data file, and deletes by position */
    if (entry->has_deletion_vector &&
        (entry->content == FRZ_CONTENT_EQUALITY_DELETES || entry->referenced_data_file.len == 0)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected only with %s and %s", prefix, TASK_VECTOR,
                      TASK_POSITION_DELETES, TASK_REFERENCED);
        goto out;
    }
    rc = task_add_delete(task, entry, err);
out:
    return rc;
}

/* Called for each object of a list. */
typedef frz_code (*item_reader)(frz_task *task, const json_t *object, const char *prefix,
                                frz_error *err);

static frz_code read_items(frz_task *task, const json_t *list, const char *key, item_reader read,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[TASK_PREFIX];
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, key, i, err));
        snprintf(prefix, sizeof prefix, "%.20s[%zu].", key, i);
        FRZ_TRY(read(task, item, prefix, err));
    }
out:
    return rc;
}

/* ---- data files ---- */

static frz_code read_references(frz_task *task, const json_t *object, const char *prefix,
                                task_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(object, prefix, TASK_REFERENCES, &list, err));
    size_t n = json_array_size(list);
    size_t *places = frz_arena_array(&task->arena, n + 1, sizeof *places);
    if (places == NULL) {
        return frz_fail_nomem(err, n * sizeof *places);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t place = json_integer_value(item);
        if (!json_is_integer(item) || place < 0 || (size_t)place >= task->delete_count) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "%s%s[%zu]: expected the place of one of %zu delete files", prefix,
                            TASK_REFERENCES, i, task->delete_count);
        }
        places[i] = (size_t)place;
    }
    part->applying = places;
    part->applying_count = n;
out:
    return rc;
}

static frz_code read_part(const json_t *object, const char *prefix, task_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *entry = part->entry;
    bool rows = meta_json_member(object, TASK_ROWS) != NULL;
    part->by_bytes = meta_json_member(object, TASK_BYTES) != NULL;
    part->end = entry->record_count;
    if (rows && part->by_bytes) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected only without %s", prefix, TASK_ROWS,
                        TASK_BYTES);
    }
    if (part->by_bytes) {
        FRZ_TRY(read_range(object, prefix, TASK_BYTES, INT64_MAX, &part->first, &part->end, err));
    } else if (rows) {
        FRZ_TRY(read_range(object, prefix, TASK_ROWS, entry->record_count, &part->first, &part->end,
                           err));
    }
    rc = task_read_count_or(object, prefix, TASK_READ_SIZE, entry->file_size, &part->size, err);
out:
    return rc;
}

static frz_code read_data_file(frz_task *task, const json_t *object, const char *prefix,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *entry = NULL;
    task_part part = {.by_bytes = false};
    FRZ_TRY(new_entry(&task->arena, &entry, err));
    FRZ_TRY(read_entry(&task->arena, object, prefix, entry, err));
    FRZ_TRY(task_read_count_or(object, prefix, TASK_FIRST_ROW_ID, FRZ_NO_VALUE,
                               &entry->first_row_id, err));
    FRZ_TRY(task_read_column_files(&task->arena, object, prefix, entry, err));
    rc = frz_entry_check_column_files(task->table, task->schema, entry, err);
    FRZ_TRY(frz_context(err, rc, "%.*s", (int)strlen(prefix) - 1, prefix));
    part.entry = entry;
    FRZ_TRY(read_part(object, prefix, &part, err));
    FRZ_TRY(read_references(task, object, prefix, &part, err));
    rc = task_add_part(task, &part, err);
out:
    return rc;
}

/* ---- the table ---- */

/* The maps of the task, and those of the caller. */
static frz_code read_maps(frz_arena *arena, const json_t *object, frz_table_open_options *opts,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(object, TASK_TABLE ".", TASK_MAPS, &list, err));
    size_t n = json_array_size(list);
    frz_location_map *maps = frz_arena_array(arena, n + opts->map_count + 1, sizeof *maps);
    if (maps == NULL) {
        return frz_fail_nomem(err, n * sizeof *maps);
    }
    if (opts->map_count > 0) {
        memcpy(maps, opts->maps, opts->map_count * sizeof *maps);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        frz_str from, to;
        FRZ_TRY(meta_json_element(item, TASK_TABLE "." TASK_MAPS, i, err));
        FRZ_TRY(task_read_text(item, TASK_TABLE "." TASK_MAPS ".", TASK_FROM, &from, err));
        FRZ_TRY(task_read_text(item, TASK_TABLE "." TASK_MAPS ".", TASK_TO, &to, err));
        maps[opts->map_count + i] = (frz_location_map){from.ptr, to.ptr};
    }
    opts->maps = maps;
    opts->map_count += n;
out:
    return rc;
}

static frz_code open_table(const frz_env *env, frz_arena *arena, const json_t *json,
                           const frz_table_open_options *given, frz_table **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_str metadata = {NULL, 0}, location = {NULL, 0};
    const json_t *object = json_object_get(json, TASK_TABLE);
    if (!json_is_object(object)) {
        return meta_json_mismatch("", TASK_TABLE, "an object", object, err);
    }
    if (given != NULL) {
        memcpy(&opts, given, FRZ_MIN(given->struct_size, sizeof opts));
    }
    FRZ_TRY(task_read_text(object, TASK_TABLE ".", TASK_METADATA, &metadata, err));
    FRZ_TRY(meta_json_str_or_none(object, TASK_TABLE ".", TASK_LOCATION, &location, err));
    opts.location = opts.location == NULL && location.len > 0 ? location.ptr : opts.location;
    FRZ_TRY(read_maps(arena, object, &opts, err));
    rc = frz_table_open(env, metadata.ptr, &opts, out, err);
out:
    return rc;
}

/* ---- the task ---- */

static frz_code check_version(const json_t *json, frz_error *err)
{
    int64_t version = 0;
    frz_code rc = meta_json_i64(json, "", TASK_VERSION, &version, err);
    return rc == FRZ_OK && version != TASK_VERSION_KNOWN
               ? frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: tasks of version %lld",
                          (long long)version)
               : rc;
}

static frz_code read_request(frz_arena *arena, const json_t *json, scan_request *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    frz_str where = {NULL, 0};
    FRZ_TRY(meta_json_array_or_none(json, "", TASK_COLUMNS, &list, err));
    size_t n = json_array_size(list);
    const char **names = frz_arena_array(arena, n + 1, sizeof *names);
    if (names == NULL) {
        return frz_fail_nomem(err, n * sizeof *names);
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = json_string_value(json_array_get(list, i));
        if (names[i] == NULL) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s[%zu]: expected a string, found %s",
                            TASK_COLUMNS, i, meta_json_kind(json_array_get(list, i)));
        }
    }
    FRZ_TRY(meta_json_str_or_none(json, "", TASK_WHERE, &where, err));
    FRZ_TRY(task_read_flag(json, "", TASK_LINEAGE, &out->with_lineage, err));
    FRZ_TRY(task_read_flag(json, "", TASK_IGNORE_CASE, &out->ignore_case, err));
    out->columns = list == NULL ? NULL : names;
    out->column_count = n;
    out->where = where.ptr;
out:
    return rc;
}

static frz_code read_task(frz_table *table, frz_arena *arena, json_t *json, frz_task **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t snapshot_id = 0;
    int32_t schema_id = 0;
    scan_request request = {NULL, 0, NULL, false, false};
    const json_t *data_files = NULL, *delete_files = NULL;
    frz_task *task = NULL;
    FRZ_TRY(meta_json_i64_or(json, "", TASK_SNAPSHOT, 0, &snapshot_id, err));
    FRZ_TRY(meta_json_i32(json, "", TASK_SCHEMA, &schema_id, err));
    const frz_schema *schema = frz_metadata_schema(&table->metadata, schema_id);
    if (schema == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: the table has no schema %d", TASK_SCHEMA,
                        (int)schema_id);
    }
    FRZ_TRY(read_request(arena, json, &request, err));
    FRZ_TRY(task_new(table, snapshot_id, schema, &request, &task, err));
    task->json = json_incref(json);
    FRZ_TRY(meta_json_array_or_none(json, "", TASK_DELETE_FILES, &delete_files, err));
    FRZ_TRY(meta_json_array(json, "", TASK_DATA_FILES, &data_files, err));
    FRZ_TRY(read_items(task, delete_files, TASK_DELETE_FILES, read_delete_file, err));
    FRZ_TRY(read_items(task, data_files, TASK_DATA_FILES, read_data_file, err));
    *out = task;
    task = NULL;
out:
    frz_task_unref(task);
    return rc;
}

frz_code task_read_all(const frz_env *env, json_t *root, const frz_table_open_options *opts,
                       frz_task **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (!json_is_object(root)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "expected an object, found %s", meta_json_kind(root));
        goto out;
    }
    FRZ_TRY(check_version(root, err));
    FRZ_TRY(open_table(env, &arena, root, opts, &table, err));
    FRZ_TRY(read_task(table, &arena, root, out, err));
out:
    frz_table_unref(table);
    frz_arena_reset(&arena);
    return rc;
}

frz_code frz_task_parse(const frz_env *env, const char *json, size_t len,
                        const frz_table_open_options *opts, frz_task **out, frz_error *err)
{
    json_t *root = NULL;
    frz_code rc = frz_json_parse(env, (frz_str){json, len}, &root, err);
    if (rc == FRZ_OK) {
        rc = task_read_all(env, root, opts, out, err);
    }
    json_decref(root);
    return frz_context(err, rc, "task");
}
