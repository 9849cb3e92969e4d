/*
 * A task as JSON. docs/formats/tasks.md has the members; those that say nothing are left out.
 */
#include "scan/scan_task_json.h"
#include "base/base_json.h"

void task_put(task_writer *w, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        w->no_memory = true;
    }
}

void task_append(task_writer *w, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0) {
        w->no_memory = true;
    }
}

json_t *task_text(task_writer *w, frz_str text)
{
    if (!frz_utf8_valid(text)) {
        w->no_text = true;
        return json_null();
    }
    return json_stringn(text.ptr == NULL ? "" : text.ptr, text.len);
}

void task_put_text(task_writer *w, json_t *object, const char *key, frz_str text)
{
    if (text.ptr != NULL) {
        task_put(w, object, key, task_text(w, text));
    }
}

void task_put_number(task_writer *w, json_t *object, const char *key, int64_t value)
{
    if (value != FRZ_NO_VALUE) {
        task_put(w, object, key, json_integer(value));
    }
}

void task_put_ids(task_writer *w, json_t *object, const char *key, const int32_t *ids, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        task_append(w, list, json_integer(ids[i]));
    }
    task_put(w, object, key, list);
}

void task_put_range(task_writer *w, json_t *object, const char *key, int64_t first, int64_t end)
{
    json_t *list = json_array();
    task_append(w, list, json_integer(first));
    task_append(w, list, json_integer(end));
    task_put(w, object, key, list);
}

/* ---- parts of an entry ---- */

static frz_code put_value(task_writer *w, const frz_env *env, json_t *object,
                          const frz_value *value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    frz_buf type = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    if (value->type != NULL && value->type->id != FRZ_TYPE_UNKNOWN) {
        FRZ_TRY(frz_type_print(value->type, &type, err));
        task_put_text(w, object, TASK_TYPE, frz_buf_view(&type));
    }
    if (value->type == NULL || value->is_null) {
        task_put(w, object, TASK_VALUE, json_null());
        goto out;
    }
    FRZ_TRY(frz_value_to_json(value, &json, err));
    task_put(w, object, TASK_VALUE, json);
out:
    frz_buf_reset(&type);
    return rc;
}

static frz_code put_partition(task_writer *w, const frz_env *env, json_t *object,
                              const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = entry->partition_count == 0 ? NULL : json_array();
    for (size_t i = 0; i < entry->partition_count && rc == FRZ_OK; i++) {
        json_t *item = json_object();
        task_put_number(w, item, TASK_FIELD_ID, entry->partition[i].field_id);
        rc = put_value(w, env, item, &entry->partition[i].value, err);
        task_append(w, list, item);
    }
    if (entry->partition_count > 0) {
        task_put(w, object, TASK_PARTITION, list);
    }
    return rc;
}

void task_put_column_files(task_writer *w, json_t *object, const frz_entry *entry)
{
    json_t *list = entry->column_file_count == 0 ? NULL : json_array();
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        json_t *item = json_object();
        task_put_text(w, item, TASK_LOCATION, file->location);
        task_put_text(w, item, TASK_FILE_FORMAT, file->file_format);
        task_put_number(w, item, TASK_FILE_SIZE, file->file_size);
        task_put_ids(w, item, TASK_FIELD_IDS, file->field_ids, file->field_id_count);
        task_append(w, list, item);
    }
    if (entry->column_file_count > 0) {
        task_put(w, object, TASK_COLUMN_FILES, list);
    }
}

void task_put_vector(task_writer *w, json_t *object, const frz_entry *entry)
{
    const frz_deletion_vector *vector = &entry->deletion_vector;
    if (!entry->has_deletion_vector) {
        return;
    }
    json_t *item = json_object();
    task_put_text(w, item, TASK_LOCATION, vector->location);
    task_put_number(w, item, TASK_OFFSET, vector->offset);
    task_put_number(w, item, TASK_SIZE, vector->size);
    task_put_number(w, item, TASK_CARDINALITY, vector->cardinality);
    if (vector->key_metadata.ptr != NULL) {
        task_put(w, item, TASK_ENCRYPTED, json_true());
    }
    task_put(w, object, TASK_VECTOR, item);
}

/* What data files and delete files have in common. */
static frz_code put_entry(task_writer *w, const frz_env *env, json_t *object,
                          const frz_entry *entry, frz_error *err)
{
    task_put_text(w, object, TASK_LOCATION, entry->location);
    task_put_text(w, object, TASK_FILE_FORMAT, entry->file_format);
    task_put_number(w, object, TASK_FILE_SIZE, entry->file_size);
    task_put_number(w, object, TASK_RECORD_COUNT, entry->record_count);
    task_put_number(w, object, TASK_SEQUENCE, entry->sequence_number);
    task_put_number(w, object, TASK_SPEC_ID, entry->spec_id < 0 ? FRZ_NO_VALUE : entry->spec_id);
    if (entry->is_legacy) {
        task_put(w, object, TASK_LEGACY, json_true());
    }
    if (entry->key_metadata.ptr != NULL) {
        task_put(w, object, TASK_ENCRYPTED, json_true());
    }
    task_put_vector(w, object, entry);
    return put_partition(w, env, object, entry, err);
}

/* ---- the task ---- */

static frz_code put_data_files(task_writer *w, const frz_task *task, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = json_array();
    for (size_t i = 0; i < task->part_count && rc == FRZ_OK; i++) {
        const task_part *part = &task->parts[i];
        json_t *item = json_object();
        rc = put_entry(w, task->env, item, part->entry, err);
        task_put_number(w, item, TASK_FIRST_ROW_ID, part->entry->first_row_id);
        task_put_column_files(w, item, part->entry);
        task_put_range(w, item, part->by_bytes ? TASK_BYTES : TASK_ROWS, part->first, part->end);
        task_put_number(w, item, TASK_READ_SIZE, part->size);
        json_t *applying = part->applying_count == 0 ? NULL : json_array();
        for (size_t k = 0; k < part->applying_count; k++) {
            task_append(w, applying, json_integer((json_int_t)part->applying[k]));
        }
        if (part->applying_count > 0) {
            task_put(w, item, TASK_REFERENCES, applying);
        }
        task_append(w, list, item);
    }
    task_put(w, object, TASK_DATA_FILES, list);
    return rc;
}

static frz_code put_delete_files(task_writer *w, const frz_task *task, json_t *object,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = task->delete_count == 0 ? NULL : json_array();
    for (size_t i = 0; i < task->delete_count && rc == FRZ_OK; i++) {
        const frz_entry *entry = task->deletes[i];
        bool equality = entry->content == FRZ_CONTENT_EQUALITY_DELETES;
        json_t *item = json_object();
        task_put_text(w, item, TASK_CONTENT,
                      frz_str_from(equality ? TASK_EQUALITY_DELETES : TASK_POSITION_DELETES));
        rc = put_entry(w, task->env, item, entry, err);
        if (equality) {
            task_put_ids(w, item, TASK_EQUALITY_IDS, entry->equality_ids, entry->equality_id_count);
        }
        task_put_text(w, item, TASK_REFERENCED, entry->referenced_data_file);
        task_append(w, list, item);
    }
    if (task->delete_count > 0) {
        task_put(w, object, TASK_DELETE_FILES, list);
    }
    return rc;
}

static json_t *table_of(task_writer *w, const frz_table *table)
{
    json_t *object = json_object();
    task_put_text(w, object, TASK_METADATA, frz_str_from(table->metadata_location));
    task_put_text(w, object, TASK_LOCATION, frz_str_from(table->base));
    json_t *list = table->map_count == 0 ? NULL : json_array();
    for (size_t i = 0; i < table->map_count; i++) {
        json_t *item = json_object();
        task_put_text(w, item, TASK_FROM, frz_str_from(table->maps[i].from));
        task_put_text(w, item, TASK_TO, frz_str_from(table->maps[i].to));
        task_append(w, list, item);
    }
    if (table->map_count > 0) {
        task_put(w, object, TASK_MAPS, list);
    }
    return object;
}

static void put_request(task_writer *w, json_t *object, const scan_request *request)
{
    json_t *list = request->columns == NULL ? NULL : json_array();
    for (size_t i = 0; list != NULL && i < request->column_count; i++) {
        task_append(w, list, task_text(w, frz_str_from(request->columns[i])));
    }
    if (request->columns != NULL) {
        task_put(w, object, TASK_COLUMNS, list);
    }
    task_put_text(w, object, TASK_WHERE, frz_str_from(request->where));
    if (request->with_lineage) {
        task_put(w, object, TASK_LINEAGE, json_true());
    }
    if (request->ignore_case) {
        task_put(w, object, TASK_IGNORE_CASE, json_true());
    }
}

frz_code task_writer_end(const task_writer *w, frz_error *err)
{
    if (w->no_text) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: a task of files or columns whose names are not UTF-8");
    }
    return w->no_memory ? frz_fail_nomem(err, sizeof(json_t)) : FRZ_OK;
}

frz_code task_put_all(const frz_task *task, json_t *object, frz_error *err)
{
    frz_code rc = FRZ_OK;
    task_writer w = {false, false};
    if (task->table->metadata_location == NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: tasks of a table that has no metadata file");
    }
    task_put_number(&w, object, TASK_VERSION, TASK_VERSION_KNOWN);
    task_put(&w, object, TASK_TABLE, table_of(&w, task->table));
    task_put_number(&w, object, TASK_SNAPSHOT, task->snapshot_id);
    task_put_number(&w, object, TASK_SCHEMA, task->schema->schema_id);
    put_request(&w, object, &task->request);
    FRZ_TRY(put_data_files(&w, task, object, err));
    FRZ_TRY(put_delete_files(&w, task, object, err));
    rc = task_writer_end(&w, err);
out:
    return rc;
}

frz_code frz_task_write(const frz_task *task, frz_task_sink sink, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(task->env, FRZ_BUF_NO_LIMIT);
    json_t *json = json_object();
    FRZ_TRY(json == NULL ? frz_fail_nomem(err, sizeof(json_t)) : FRZ_OK);
    FRZ_TRY(task_put_all(task, json, err));
    FRZ_TRY(frz_json_dump(json, &text, err));
    rc = sink(ctx, text.data, text.len, err);
out:
    json_decref(json);
    frz_buf_reset(&text);
    return rc;
}
