/*
 * Tasks: making them, what can be told of them, and the rows of their parts.
 */
#include "scan/scan_internal.h"

/* ---- owners ---- */

frz_code scan_request_copy(frz_arena *arena, const scan_request *request, scan_request *out,
                           frz_error *err)
{
    size_t count = request->columns == NULL ? 0 : request->column_count;
    const char **names = frz_arena_array(arena, count + 1, sizeof *names);
    scan_request copy = *request;
    if (names == NULL) {
        return frz_fail_nomem(err, count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = frz_arena_strdup(arena, frz_str_from(request->columns[i]));
        if (names[i] == NULL) {
            return frz_fail_nomem(err, strlen(request->columns[i]));
        }
    }
    copy.columns = request->columns == NULL ? NULL : names;
    if (request->where != NULL) {
        copy.where = frz_arena_strdup(arena, frz_str_from(request->where));
        if (copy.where == NULL) {
            return frz_fail_nomem(err, strlen(request->where));
        }
    }
    *out = copy;
    return FRZ_OK;
}

frz_code task_new(frz_table *table, int64_t snapshot_id, const frz_schema *schema,
                  const scan_request *request, frz_task **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task *task = frz_alloc_zero(table->env, 1, sizeof *task);
    if (task == NULL) {
        return frz_fail_nomem(err, sizeof *task);
    }
    task->refs = 1;
    task->env = table->env;
    task->table = frz_table_ref(table);
    task->snapshot_id = snapshot_id;
    task->schema = schema;
    frz_arena_init(&task->arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(scan_request_copy(&task->arena, request, &task->request, err));
    *out = task;
    task = NULL;
out:
    frz_task_unref(task);
    return rc;
}

frz_task *frz_task_ref(frz_task *task)
{
    atomic_fetch_add(&task->refs, 1);
    return task;
}

void frz_task_unref(frz_task *task)
{
    if (task == NULL || atomic_fetch_sub(&task->refs, 1) > 1) {
        return;
    }
    const frz_env *env = task->env;
    frz_table *table = task->table;
    frz_free(env, task->parts);
    frz_free(env, (void *)(uintptr_t)task->deletes);
    json_decref(task->json);
    frz_arena_reset(&task->arena);
    frz_free(env, task);
    frz_table_unref(table);
}

/* ---- what is in it ---- */

static frz_code partition_text(frz_task *task, const frz_entry *entry, const char **out,
                               frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(task->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = frz_entry_partition_text(task->table, entry, &text, err);
    if (rc == FRZ_OK) {
        *out = frz_arena_strdup(&task->arena, frz_buf_view(&text));
        rc = *out == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
    }
    frz_buf_reset(&text);
    return rc;
}

frz_code task_add_part(frz_task *task, const task_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *text = NULL;
    FRZ_TRY(partition_text(task, part->entry, &text, err));
    FRZ_TRY(FRZ_GROW(task->env, &task->parts, &task->part_capacity, task->part_count, err));
    task->parts[task->part_count] = *part;
    task->parts[task->part_count++].partition = text;
out:
    return rc;
}

frz_code task_add_delete(frz_task *task, const frz_entry *entry, frz_error *err)
{
    frz_code rc =
        FRZ_GROW(task->env, &task->deletes, &task->delete_capacity, task->delete_count, err);
    if (rc == FRZ_OK) {
        task->deletes[task->delete_count++] = entry;
    }
    return rc;
}

size_t frz_task_file_count(const frz_task *task)
{
    return task->part_count;
}

void frz_task_file_get(const frz_task *task, size_t i, frz_task_file *out)
{
    const task_part *part = &task->parts[i];
    const frz_entry *entry = part->entry;
    *out = (frz_task_file){
        .location = entry->location.ptr, /* terminated: a string of the document, or copied */
        .partition = part->partition,
        .first_row = part->by_bytes ? -1 : part->first,
        .end_row = part->by_bytes ? -1 : part->end,
        .first_byte = part->by_bytes ? part->first : -1,
        .end_byte = part->by_bytes ? part->end : -1,
        .size = part->size,
        .record_count = entry->record_count,
        .column_files = (int64_t)entry->column_file_count,
        .delete_files = (int64_t)part->applying_count + entry->has_deletion_vector};
}

/* ---- rows ---- */

/* A group belongs to the part in which it begins; should it begin before the one in front of it, to
 * that one's part. So every group has one part, and the groups of a part are neighbours. */
frz_code task_part_rows(const frz_task *task, const task_part *part, frz_row_range *out,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    size_t count = 0;
    int64_t begin = 0, row = 0;
    *out = (frz_row_range){part->first, part->end};
    if (!part->by_bytes) {
        return FRZ_OK;
    }
    *out = (frz_row_range){0, 0};
    FRZ_TRY(frz_stitch_open_file(task->table, part->entry, NULL, &file, err));
    const int64_t *starts = frz_data_file_group_starts(file, &count);
    if (starts == NULL) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: a part by bytes of %s, which has no row "
                      "groups",
                      frz_data_file_location(file));
        goto out;
    }
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    for (size_t i = 0; i < count; i++) {
        begin = FRZ_MAX(begin, starts[i]);
        if (begin >= part->first && begin < part->end) {
            out->start = out->end == 0 ? row : out->start;
            out->end = ends[i];
        }
        row = ends[i];
    }
out:
    frz_data_file_close(file);
    return rc;
}
