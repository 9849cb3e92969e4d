/*
 * Files as the source of tasks: told by tasks and results as a part of the statement, with what is
 * known of them, so that results can be bound without opening a file.
 */
#include <stdio.h>

#include "base/base_json.h"
#include "column_update/column_update_task.h"
#include "meta/meta_json.h"

#define SOURCE_KEY "source"
#define SOURCE_NAME "name"
#define SOURCE_TABLE "table-name"
#define SOURCE_FILES "files"
#define SOURCE_SCHEMA "schema"

/* ---- what a plan is given ---- */

/* A task runs elsewhere, where nothing but files can be opened. */
static frz_code check_kind(const frz_row_source *what, frz_error *err)
{
    if (what->table != NULL) {
        frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                               "tasks take values from files only, found table %s", what->table);
        frz_hint(err, "name files that are there, or write the rows of the table to one: tasks may "
                      "run where no catalog can be opened");
        return rc;
    }
    if (what->stream != NULL) {
        return frz_fail(
            err, FRZ_E_ARGUMENT,
            "tasks take values from files only, found a stream: it cannot be read where "
            "a task runs");
    }
    return what->file_count > 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT, "expected files to take values from, found none");
}

static frz_code find_file(const frz_env *env, frz_arena *arena, const char *file,
                          const char **location, int64_t *size, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *absolute = NULL;
    uint64_t bytes = 0;
    FRZ_TRY(frz_location_from_path(env, file, &absolute, err));
    FRZ_TRY(frz_file_stat(env, absolute, &bytes, err));
    *location = frz_arena_strdup(arena, frz_str_from(absolute));
    *size = (int64_t)bytes;
    rc = *location == NULL ? frz_fail_nomem(err, strlen(absolute)) : FRZ_OK;
out:
    frz_free(env, absolute);
    return rc;
}

static frz_code find_files(const frz_env *env, frz_arena *arena, const frz_row_source *what,
                           update_files *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char **locations = frz_arena_array(arena, what->file_count, sizeof *locations);
    int64_t *sizes = frz_arena_array(arena, what->file_count, sizeof *sizes);
    FRZ_TRY(locations == NULL || sizes == NULL
                ? frz_fail_nomem(err, what->file_count * sizeof *locations)
                : FRZ_OK);
    for (size_t i = 0; i < what->file_count; i++) {
        FRZ_TRY(find_file(env, arena, what->files[i], &locations[i], &sizes[i], err));
    }
    out->locations = locations;
    out->sizes = sizes;
    out->count = what->file_count;
out:
    return rc;
}

frz_code update_files_find(frz_arena *arena, const frz_table *table,
                           const frz_update_plan_options *opts, update_files *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_source what = FRZ_ROW_SOURCE_INIT;
    if (opts->source == NULL) {
        return FRZ_OK;
    }
    memcpy(&what, opts->source, FRZ_MIN(opts->source->struct_size, sizeof what));
    FRZ_TRY(check_kind(&what, err));
    if (what.name != NULL) {
        out->name = frz_arena_strdup(arena, frz_str_from(what.name));
        FRZ_TRY(out->name == NULL ? frz_fail_nomem(err, strlen(what.name)) : FRZ_OK);
    }
    FRZ_TRY(update_table_parts(arena, table->name, opts->name, &out->table_parts,
                               &out->table_part_count, err));
    FRZ_TRY(find_files(table->env, arena, &what, out, err));
out:
    return rc;
}

frz_code update_files_know(frz_arena *arena, const update_source *source, update_files *files,
                           frz_error *err)
{
    int32_t last = 0;
    return files->count == 0
               ? FRZ_OK
               : frz_type_assign_ids(arena, source->used, 1, &files->columns, &last, err);
}

/* ---- what a task is given ---- */

frz_code update_files_check(const frz_env *env, const update_files *files, frz_error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        uint64_t size = 0;
        frz_code rc = frz_file_stat(env, files->locations[i], &size, err);
        if (rc == FRZ_OK && size != (uint64_t)files->sizes[i]) {
            rc =
                frz_fail(err, FRZ_E_ARGUMENT, "%s: expected %lld bytes as planned, found %llu",
                         files->locations[i], (long long)files->sizes[i], (unsigned long long)size);
            frz_hint(err, "the update has to be planned again: values of two states of a file "
                          "cannot be committed together");
        }
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

frz_code update_job_enter(update_job *job, const update_statement *statement, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (statement->files.count > 0) {
        job->plan.source = &job->outside;
        FRZ_TRY(update_source_init_files(&job->outside, job->env, &statement->files, err));
        job->outside.unread = job->apart;
    }
    FRZ_TRY(update_plan_parse(&job->plan, &job->arena, statement->assignments, statement->count,
                              statement->where, err));
out:
    return rc;
}

/* ---- writing ---- */

static json_t *table_name_of(task_writer *w, const update_files *files)
{
    json_t *list = json_array();
    for (size_t i = 0; i < files->table_part_count; i++) {
        task_append(w, list, task_text(w, files->table_parts[i]));
    }
    return list;
}

static json_t *files_of(task_writer *w, const update_files *files)
{
    json_t *list = json_array();
    for (size_t i = 0; i < files->count; i++) {
        json_t *item = json_object();
        task_put_text(w, item, TASK_LOCATION, frz_str_from(files->locations[i]));
        task_put_number(w, item, TASK_FILE_SIZE, files->sizes[i]);
        task_append(w, list, item);
    }
    return list;
}

frz_code update_put_files(task_writer *w, json_t *object, const update_files *files, frz_error *err)
{
    json_t *schema = NULL;
    const frz_schema columns = {.type = files->columns};
    if (files->count == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_schema_to_json(&columns, &schema, err);
    if (rc == FRZ_OK) {
        json_t *source = json_object();
        task_put_text(w, source, SOURCE_NAME, frz_str_from(files->name));
        task_put(w, source, SOURCE_TABLE, table_name_of(w, files));
        task_put(w, source, SOURCE_FILES, files_of(w, files));
        task_put(w, source, SOURCE_SCHEMA, schema);
        task_put(w, object, SOURCE_KEY, source);
    }
    return rc;
}

/* ---- reading ---- */

static frz_code read_table_name(frz_arena *arena, const json_t *source, update_files *out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(source, SOURCE_KEY ".", SOURCE_TABLE, &list, err));
    size_t count = json_array_size(list);
    frz_str *parts = frz_arena_array(arena, count + 1, sizeof *parts);
    FRZ_TRY(parts == NULL ? frz_fail_nomem(err, count * sizeof *parts) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        const json_t *part = json_array_get(list, i);
        if (json_string_length(part) == 0) {
            return frz_fail(err, FRZ_E_CORRUPT, "%s.%s[%zu]: expected a text, found %s", SOURCE_KEY,
                            SOURCE_TABLE, i, meta_json_kind(part));
        }
        FRZ_TRY(frz_arena_str(arena, (frz_str){json_string_value(part), json_string_length(part)},
                              &parts[i], err));
    }
    out->table_parts = parts;
    out->table_part_count = count;
    rc = count > 0 ? FRZ_OK
                   : frz_fail(err, FRZ_E_CORRUPT, "%s.%s: expected a name, found an empty list",
                              SOURCE_KEY, SOURCE_TABLE);
out:
    return rc;
}

static frz_code read_file(frz_arena *arena, const json_t *item, size_t i, const char **location,
                          int64_t *size, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[TASK_PREFIX];
    frz_str text = {NULL, 0};
    FRZ_TRY(meta_json_element(item, SOURCE_KEY "." SOURCE_FILES, i, err));
    snprintf(prefix, sizeof prefix, "%s.%s[%zu].", SOURCE_KEY, SOURCE_FILES, i);
    FRZ_TRY(task_read_text(item, prefix, TASK_LOCATION, &text, err));
    FRZ_TRY(task_read_count(item, prefix, TASK_FILE_SIZE, size, err));
    *location = frz_arena_strdup(arena, text);
    rc = *location == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
out:
    return rc;
}

static frz_code read_files(frz_arena *arena, const json_t *source, update_files *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(source, SOURCE_KEY ".", SOURCE_FILES, &list, err));
    size_t count = json_array_size(list);
    const char **locations = frz_arena_array(arena, count + 1, sizeof *locations);
    int64_t *sizes = frz_arena_array(arena, count + 1, sizeof *sizes);
    FRZ_TRY(locations == NULL || sizes == NULL ? frz_fail_nomem(err, count * sizeof *locations)
                                               : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_file(arena, json_array_get(list, i), i, &locations[i], &sizes[i], err));
    }
    out->locations = locations;
    out->sizes = sizes;
    out->count = count;
    rc = count > 0 ? FRZ_OK
                   : frz_fail(err, FRZ_E_CORRUPT, "%s.%s: expected files, found an empty list",
                              SOURCE_KEY, SOURCE_FILES);
out:
    return rc;
}

frz_code update_read_files(frz_arena *arena, const json_t *object, update_files *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str name = {NULL, 0};
    const frz_schema *schema = NULL;
    const json_t *source = meta_json_member(object, SOURCE_KEY);
    if (source == NULL) {
        return FRZ_OK;
    }
    if (!json_is_object(source)) {
        return meta_json_mismatch("", SOURCE_KEY, "an object", source, err);
    }
    FRZ_TRY(meta_json_str_or_none(source, SOURCE_KEY ".", SOURCE_NAME, &name, err));
    if (name.ptr != NULL) {
        out->name = frz_arena_strdup(arena, name);
        FRZ_TRY(out->name == NULL ? frz_fail_nomem(err, name.len) : FRZ_OK);
    }
    FRZ_TRY(read_table_name(arena, source, out, err));
    FRZ_TRY(read_files(arena, source, out, err));
    FRZ_TRY(frz_schema_from_json(arena, json_object_get(source, SOURCE_SCHEMA),
                                 SOURCE_KEY "." SOURCE_SCHEMA, &schema, err));
    out->columns = schema->type;
out:
    return rc;
}

/* ---- comparing ---- */

bool update_same_files(const update_files *a, const update_files *b)
{
    bool same = a->count == b->count && a->table_part_count == b->table_part_count &&
                frz_str_equal(frz_str_from(a->name), frz_str_from(b->name));
    for (size_t i = 0; same && i < a->table_part_count; i++) {
        same = frz_str_equal(a->table_parts[i], b->table_parts[i]);
    }
    for (size_t i = 0; same && i < a->count; i++) {
        same = strcmp(a->locations[i], b->locations[i]) == 0 && a->sizes[i] == b->sizes[i];
    }
    return same;
}
