/*
 * Tasks of updates and their results as JSON. docs/formats/tasks.md has the members. Neither need
 * be trusted: a member that cannot be is named and refused.
 */
#include <stdio.h>

#include "base/base_json.h"
#include "column_update/column_update_task.h"
#include "format/puffin/puffin.h"
#include "meta/meta_json.h"

#define RESULT_VERSION_KNOWN 1

#define RESULT_VERSION "result-version"
#define RESULT_TABLE_UUID "table-uuid"
#define RESULT_SET "set"
#define RESULT_COLUMN "column"
#define RESULT_EXPRESSION "expression"
#define RESULT_ROWS "updated-rows"
#define RESULT_COLUMN_FILE "column-file"
#define RESULT_STATISTICS "statistics"
#define RESULT_LOWER "lower-bound"
#define RESULT_UPPER "upper-bound"
#define RESULT_TIGHT "tight-bounds"
#define RESULT_VALUES "value-count"
#define RESULT_NULLS "null-value-count"
#define RESULT_NANS "nan-value-count"
#define RESULT_BYTES "total-bytes"
#define RESULT_DELETED "deleted-rows"
#define RESULT_LEAVES_PARTITION "leaves-partition"

/* ---- the statement ---- */

frz_code update_put_statement(task_writer *w, json_t *object, const update_statement *statement,
                              frz_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < statement->count; i++) {
        json_t *item = json_object();
        task_put_text(w, item, RESULT_COLUMN, frz_str_from(statement->assignments[i].column));
        task_put_text(w, item, RESULT_EXPRESSION,
                      frz_str_from(statement->assignments[i].expression));
        task_append(w, list, item);
    }
    task_put(w, object, RESULT_SET, list);
    task_put_text(w, object, TASK_WHERE, frz_str_from(statement->where));
    return update_put_files(w, object, &statement->files, err);
}

frz_code update_read_statement(frz_arena *arena, const json_t *object, update_statement *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[TASK_PREFIX];
    const json_t *list = NULL;
    frz_str where = {NULL, 0}, column, expression;
    FRZ_TRY(meta_json_array(object, "", RESULT_SET, &list, err));
    size_t count = json_array_size(list);
    frz_assignment *assignments = frz_arena_array(arena, count + 1, sizeof *assignments);
    FRZ_TRY(assignments == NULL ? frz_fail_nomem(err, count * sizeof *assignments) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, RESULT_SET, i, err));
        snprintf(prefix, sizeof prefix, "%s[%zu].", RESULT_SET, i);
        FRZ_TRY(task_read_text(item, prefix, RESULT_COLUMN, &column, err));
        FRZ_TRY(task_read_text(item, prefix, RESULT_EXPRESSION, &expression, err));
        assignments[i] =
            (frz_assignment){frz_arena_strdup(arena, column), frz_arena_strdup(arena, expression)};
        FRZ_TRY(assignments[i].column == NULL || assignments[i].expression == NULL
                    ? frz_fail_nomem(err, column.len + expression.len)
                    : FRZ_OK);
    }
    FRZ_TRY(meta_json_str_or_none(object, "", TASK_WHERE, &where, err));
    *out = (update_statement){.assignments = assignments, .count = count};
    FRZ_TRY(update_read_files(arena, object, &out->files, err));
    if (where.ptr != NULL) {
        out->where = frz_arena_strdup(arena, where);
        rc = out->where == NULL ? frz_fail_nomem(err, where.len) : FRZ_OK;
    }
out:
    return rc;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_statement(const update_statement *a, const update_statement *b)
{
    bool same = a->count == b->count && same_text(a->where, b->where) &&
                update_same_files(&a->files, &b->files);
    for (size_t i = 0; same && i < a->count; i++) {
        same = same_text(a->assignments[i].column, b->assignments[i].column) &&
               same_text(a->assignments[i].expression, b->assignments[i].expression);
    }
    return same;
}

/* ---- writing results ---- */

frz_code update_put_result_head(task_writer *w, json_t *object, const frz_table *table,
                                const frz_task *task, const update_statement *statement,
                                frz_error *err)
{
    const frz_snapshot *snapshot = frz_metadata_snapshot(&table->metadata, task->snapshot_id);
    if (snapshot == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: the table has no snapshot %lld", TASK_SNAPSHOT,
                        (long long)task->snapshot_id);
    }
    task_put_number(w, object, RESULT_VERSION, RESULT_VERSION_KNOWN);
    task_put_text(w, object, RESULT_TABLE_UUID, table->metadata.table_uuid);
    task_put_number(w, object, TASK_SNAPSHOT, task->snapshot_id);
    task_put_number(w, object, TASK_SEQUENCE, snapshot->sequence_number);
    task_put_number(w, object, TASK_SCHEMA, task->schema->schema_id);
    return update_put_statement(w, object, statement, err);
}

static frz_code put_bound(task_writer *w, json_t *object, const char *key, bool has,
                          const frz_value *bound, frz_error *err)
{
    json_t *json = NULL;
    if (!has) {
        return FRZ_OK;
    }
    frz_code rc = frz_value_to_json(bound, &json, err);
    if (rc == FRZ_OK) {
        task_put(w, object, key, json);
    }
    return rc;
}

static void put_metric(task_writer *w, json_t *object, const char *key, int64_t value)
{
    task_put_number(w, object, key, value < 0 ? FRZ_NO_VALUE : value);
}

static frz_code put_stats(task_writer *w, json_t *object, const update_result *result,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *list = json_array();
    for (size_t i = 0; i < result->stats_count && rc == FRZ_OK; i++) {
        const frz_field_stats *s = &result->stats[i];
        json_t *item = json_object();
        task_put_number(w, item, TASK_FIELD_ID, s->field_id);
        rc = put_bound(w, item, RESULT_LOWER, s->has_lower, &s->lower, err);
        if (rc == FRZ_OK) {
            rc = put_bound(w, item, RESULT_UPPER, s->has_upper, &s->upper, err);
        }
        if (s->tight_bounds >= 0) {
            task_put(w, item, RESULT_TIGHT, json_boolean(s->tight_bounds));
        }
        put_metric(w, item, RESULT_VALUES, s->value_count);
        put_metric(w, item, RESULT_NULLS, s->null_value_count);
        put_metric(w, item, RESULT_NANS, s->nan_value_count);
        put_metric(w, item, RESULT_BYTES, s->total_bytes);
        task_append(w, list, item);
    }
    task_put(w, object, RESULT_STATISTICS, list);
    return rc;
}

/* A deletion vector's bytes, which know their own checks, as a binary value. */
static frz_code put_deleted(task_writer *w, json_t *object, const frz_env *env,
                            const frz_positions *deleted, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    if (deleted == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_vector_encode(deleted, &bytes, err));
    const frz_value value = {.type = frz_type_primitive(FRZ_TYPE_BINARY),
                             .as.bytes = frz_buf_view(&bytes)};
    FRZ_TRY(frz_value_to_json(&value, &json, err));
    task_put(w, object, RESULT_DELETED, json);
out:
    frz_buf_reset(&bytes);
    return rc;
}

static void put_column_file(task_writer *w, json_t *object, const update_result *result)
{
    json_t *file = json_object();
    task_put_text(w, file, TASK_LOCATION, frz_str_from(result->location));
    task_put_number(w, file, TASK_FILE_SIZE, result->bytes);
    task_put(w, object, RESULT_COLUMN_FILE, file);
}

frz_code update_put_result(task_writer *w, json_t *list, const frz_env *env, const frz_entry *entry,
                           const update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *object = json_object();
    task_put_text(w, object, TASK_LOCATION, entry->location);
    task_put_number(w, object, TASK_SEQUENCE, entry->sequence_number);
    task_put_number(w, object, TASK_RECORD_COUNT, entry->record_count);
    task_put_column_files(w, object, entry);
    task_put_vector(w, object, entry);
    task_put_number(w, object, RESULT_ROWS, result->rows);
    if (result->location != NULL) {
        put_column_file(w, object, result);
        FRZ_TRY(put_stats(w, object, result, err));
        FRZ_TRY(put_deleted(w, object, env, result->deleted, err));
    }
    if (result->leaves_partition) {
        task_put(w, object, RESULT_LEAVES_PARTITION, json_true());
    }
    task_append(w, list, object);
    object = NULL;
out:
    json_decref(object);
    return rc;
}

/* ---- reading results ---- */

typedef struct result_reader {
    update_job *job;
    const frz_table *table;
    int32_t schema_id; /* of the line at hand */
    int64_t planned;   /* sequence number of the version that its task was planned for */
    bool outdated;     /* it is not the table's schema: values mean nothing any more */
} result_reader;

static frz_code read_bound(frz_arena *arena, const json_t *object, const char *prefix,
                           const char *key, const frz_type *type, bool *has, frz_value *out,
                           frz_error *err)
{
    const json_t *json = meta_json_member(object, key);
    if (json == NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_value_from_json(arena, type, json, "", out, err);
    if (rc == FRZ_OK && frz_bound_is_nan(out)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "a bound is never NaN");
    }
    *has = rc == FRZ_OK;
    return frz_context(err, rc, "%s%s", prefix, key);
}

static frz_code read_field_stats(frz_arena *arena, const frz_type *written, const json_t *object,
                                 const char *prefix, frz_field_stats *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t id = 0;
    bool tight = false;
    FRZ_TRY(meta_json_i32(object, prefix, TASK_FIELD_ID, &id, err));
    const frz_field *field = frz_type_find_id(written, id);
    if (field == NULL || frz_type_is_nested(field->type)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected a field of the update, found %d",
                        prefix, TASK_FIELD_ID, (int)id);
    }
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(id, field->type);
    FRZ_TRY(read_bound(arena, object, prefix, RESULT_LOWER, field->type, &out->has_lower,
                       &out->lower, err));
    FRZ_TRY(read_bound(arena, object, prefix, RESULT_UPPER, field->type, &out->has_upper,
                       &out->upper, err));
    FRZ_TRY(task_read_flag(object, prefix, RESULT_TIGHT, &tight, err));
    if (meta_json_member(object, RESULT_TIGHT) != NULL) {
        out->tight_bounds = tight;
    }
    FRZ_TRY(task_read_count_or(object, prefix, RESULT_VALUES, -1, &out->value_count, err));
    FRZ_TRY(task_read_count_or(object, prefix, RESULT_NULLS, -1, &out->null_value_count, err));
    FRZ_TRY(task_read_count_or(object, prefix, RESULT_NANS, -1, &out->nan_value_count, err));
    FRZ_TRY(task_read_count_or(object, prefix, RESULT_BYTES, -1, &out->total_bytes, err));
out:
    return rc;
}

static frz_code read_stats(const result_reader *r, const json_t *object, const char *prefix,
                           update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char inner[TASK_PREFIX];
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(object, prefix, RESULT_STATISTICS, &list, err));
    size_t count = json_array_size(list);
    frz_field_stats *stats = frz_arena_array(&result->arena, count + 1, sizeof *stats);
    FRZ_TRY(stats == NULL ? frz_fail_nomem(err, count * sizeof *stats) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, RESULT_STATISTICS, i, err));
        snprintf(inner, sizeof inner, "%.40s%s[%zu].", prefix, RESULT_STATISTICS, i);
        FRZ_TRY(
            read_field_stats(&result->arena, r->job->plan.write_type, item, inner, &stats[i], err));
    }
    FRZ_TRY(frz_stats_own_types(&result->arena, stats, count, err));
    result->stats = stats;
    result->stats_count = count;
out:
    return rc;
}

static frz_code read_deleted(const frz_env *env, const json_t *object, const char *prefix,
                             update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_value value;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    const json_t *json = meta_json_member(object, RESULT_DELETED);
    if (json == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_value_from_json(&result->arena, frz_type_primitive(FRZ_TYPE_BINARY), json, "",
                                &value, err));
    FRZ_TRY(frz_buf_append(&bytes, value.as.bytes.ptr, value.as.bytes.len, err));
    FRZ_TRY(frz_vector_decode(&bytes, &result->deleted, err));
    if (frz_positions_last(result->deleted) >= result->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "row %lld is not among the %lld of the data file",
                      (long long)frz_positions_last(result->deleted),
                      (long long)result->record_count);
    }
out:
    frz_buf_reset(&bytes);
    return frz_context(err, rc, "%s%s", prefix, RESULT_DELETED);
}

static frz_code read_column_file(const result_reader *r, const json_t *object, const char *prefix,
                                 update_result *result, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char inner[TASK_PREFIX];
    frz_str location = {NULL, 0};
    const json_t *file = meta_json_member(object, RESULT_COLUMN_FILE);
    if (file == NULL) {
        return FRZ_OK;
    }
    if (!json_is_object(file)) {
        return meta_json_mismatch(prefix, RESULT_COLUMN_FILE, "an object", file, err);
    }
    snprintf(inner, sizeof inner, "%.40s%s.", prefix, RESULT_COLUMN_FILE);
    FRZ_TRY(task_read_text(file, inner, TASK_LOCATION, &location, err));
    FRZ_TRY(task_read_count(file, inner, TASK_FILE_SIZE, &result->bytes, err));
    if (!r->outdated) {
        FRZ_TRY(read_stats(r, object, prefix, result, err));
        FRZ_TRY(read_deleted(r->job->env, object, prefix, result, err));
    }
    result->location = frz_strdup(r->job->env, location);
    FRZ_TRY(result->location == NULL ? frz_fail_nomem(err, location.len) : FRZ_OK);
out:
    return rc;
}

static frz_code read_data_file(const result_reader *r, const json_t *object, const char *prefix,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry entry = {.location = {NULL, 0}};
    update_done *done = NULL;
    frz_arena *arena = &r->job->arena;
    FRZ_TRY(task_read_text(object, prefix, TASK_LOCATION, &entry.location, err));
    FRZ_TRY(task_read_count(object, prefix, TASK_SEQUENCE, &entry.sequence_number, err));
    FRZ_TRY(task_read_column_files(arena, object, prefix, &entry, err));
    FRZ_TRY(task_read_vector(object, prefix, &entry, err));
    FRZ_TRY(update_done_add(r->job, r->schema_id, &entry, &done, err));
    update_result *result = &done->result;
    done->planned = r->planned;
    frz_arena_init(&result->arena, r->job->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(task_read_count(object, prefix, TASK_RECORD_COUNT, &result->record_count, err));
    FRZ_TRY(task_read_count(object, prefix, RESULT_ROWS, &result->rows, err));
    FRZ_TRY(
        task_read_flag(object, prefix, RESULT_LEAVES_PARTITION, &result->leaves_partition, err));
    FRZ_TRY(read_column_file(r, object, prefix, result, err));
    if (result->rows > result->record_count || (result->rows > 0) != (result->location != NULL)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s%s: %lld of %lld rows, %s column file", prefix,
                      RESULT_ROWS, (long long)result->rows, (long long)result->record_count,
                      result->location == NULL ? "without a" : "with a");
    }
out:
    return rc;
}

static frz_code read_data_files(const result_reader *r, const json_t *json, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[TASK_PREFIX];
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(json, "", TASK_DATA_FILES, &list, err));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        FRZ_TRY(meta_json_element(item, TASK_DATA_FILES, i, err));
        snprintf(prefix, sizeof prefix, "%s[%zu].", TASK_DATA_FILES, i);
        FRZ_TRY(read_data_file(r, item, prefix, err));
    }
out:
    return rc;
}

static frz_code check_head(const json_t *json, const frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t version = 0;
    frz_str uuid = {NULL, 0}, own = table->metadata.table_uuid;
    if (!json_is_object(json)) {
        return frz_fail(err, FRZ_E_CORRUPT, "expected an object, found %s", meta_json_kind(json));
    }
    FRZ_TRY(meta_json_i64(json, "", RESULT_VERSION, &version, err));
    if (version != RESULT_VERSION_KNOWN) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: results of version %lld",
                        (long long)version);
    }
    FRZ_TRY(meta_json_str_or_none(json, "", RESULT_TABLE_UUID, &uuid, err));
    if (!frz_str_equal(uuid, own)) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "of table %.*s, this one is %.*s", FRZ_STR_ARG(uuid),
                      FRZ_STR_ARG(own));
    }
out:
    return rc;
}

/* The job of the first line's statement, which all others must have. */
static frz_code enter_statement(result_reader *r, const json_t *json, update_statement *statement,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_statement own;
    update_job *job = r->job;
    FRZ_TRY(update_read_statement(&job->arena, json, &own, err));
    if (statement->count == 0) {
        FRZ_TRY(update_job_enter(job, &own, err));
        *statement = own;
    }
    if (!same_statement(&own, statement)) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "a result of another update");
    }
out:
    return rc;
}

static frz_code read_line(result_reader *r, json_t *json, update_statement *statement,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = r->job;
    const frz_schema *schema = frz_metadata_current_schema(&r->table->metadata);
    FRZ_TRY(check_head(json, r->table, err));
    FRZ_TRY(enter_statement(r, json, statement, err));
    FRZ_TRY(meta_json_i32(json, "", TASK_SCHEMA, &r->schema_id, err));
    FRZ_TRY(task_read_count(json, "", TASK_SEQUENCE, &r->planned, err));
    job->scope.base =
        job->scope.base == FRZ_NO_VALUE ? r->planned : FRZ_MIN(job->scope.base, r->planned);
    r->outdated = r->schema_id != schema->schema_id;
    if (!r->outdated && job->plan.write_type == NULL) {
        FRZ_TRY(update_plan_bind(&job->plan, &r->table->metadata, schema, err));
    }
    FRZ_TRY(read_data_files(r, json, err));
out:
    return rc;
}

/* Up to the end of the line, which is taken off the lines. */
static frz_str take_line(frz_str *lines)
{
    const char *end = lines->len == 0 ? NULL : memchr(lines->ptr, '\n', lines->len);
    frz_str line = {lines->ptr, end == NULL ? lines->len : (size_t)(end - lines->ptr)};
    size_t taken = line.len + (end != NULL);
    *lines = (frz_str){lines->ptr + taken, lines->len - taken};
    return line;
}

static bool is_blank(frz_str line)
{
    size_t i = 0;
    while (i < line.len && strchr(" \t\r", line.ptr[i]) != NULL) {
        i++;
    }
    return i == line.len;
}

frz_code update_job_read(update_job *job, const frz_table *table, const update_statement *statement,
                         frz_str lines, frz_error *err)
{
    frz_code rc = FRZ_OK;
    result_reader r = {.job = job, .table = table};
    update_statement found = {.count = 0};
    json_t *json = NULL;
    if (statement != NULL) {
        found = *statement;
        FRZ_TRY(update_job_enter(job, statement, err));
    }
    for (size_t number = 1; lines.len > 0; number++) {
        frz_str line = take_line(&lines);
        if (is_blank(line)) {
            continue;
        }
        rc = frz_json_parse(job->env, line, &json, err);
        rc = rc == FRZ_OK ? read_line(&r, json, &found, err) : rc;
        FRZ_TRY(frz_context(err, rc, "result %zu", number));
        json_decref(json);
        json = NULL;
    }
    FRZ_TRY(found.count == 0 ? frz_fail(err, FRZ_E_ARGUMENT, "there are no results") : FRZ_OK);
    update_done_keep_newest(job);
out:
    json_decref(json);
    return rc;
}
