/*
 * scan: tasks, parts of a plan that can be run on their own.
 */
#ifndef FRZ_SCAN_TASK_H
#define FRZ_SCAN_TASK_H

#include "expr/expr.h"
#include "format/format.h"
#include "frazil/plan.h"
#include "frazil/task.h"
#include "meta/meta_manifest.h"

/* What is asked for, as options of scans and plans and members of tasks have it. */
typedef struct scan_request {
    const char *const *columns; /* NULL: all */
    size_t column_count;
    const char *where; /* NULL: all rows */
    bool with_lineage, ignore_case;
} scan_request;

/* With texts in the arena. */
frz_code scan_request_copy(frz_arena *arena, const scan_request *request, scan_request *out,
                           frz_error *err);

/* A data file, or some of its rows. */
typedef struct task_part {
    const frz_entry *entry;
    bool by_bytes;
    int64_t first, end;     /* rows; by bytes: of the base file, where row groups begin */
    int64_t size;           /* about, bytes to read */
    const size_t *applying; /* places in the task's list of what deletes rows */
    size_t applying_count;
    const char *partition; /* as text */
} task_part;

struct frz_task {
    _Atomic int64_t refs;
    const frz_env *env;
    frz_table *table; /* owned reference */
    frz_arena arena;
    json_t *json; /* that the texts point into; NULL: they are in the arena */
    int64_t snapshot_id;
    const frz_schema *schema;
    scan_request request;
    task_part *parts;
    size_t part_count, part_capacity;
    const frz_entry **deletes; /* delete files and vectors of delete manifests */
    size_t delete_count, delete_capacity;
};

/* A task without parts. The request is copied. */
frz_code task_new(frz_table *table, int64_t snapshot_id, const frz_schema *schema,
                  const scan_request *request, frz_task **out, frz_error *err);
/* Add a part, whose entry and lists live as long as the task. */
frz_code task_add_part(frz_task *task, const task_part *part, frz_error *err);
/* Add an entry that lives as long as the task to what deletes rows. */
frz_code task_add_delete(frz_task *task, const frz_entry *entry, frz_error *err);
/* The rows that a part has; of one by bytes, its file is opened. */
frz_code task_part_rows(const frz_task *task, const task_part *part, frz_row_range *out,
                        frz_error *err);

/* A plan of whole files for who changes them (scan_tasks.c). where of opts is only told in tasks:
 * the filter (NULL: none), which outlives the plan, chooses the files. */
frz_code task_plan_open(frz_table *table, const frz_plan_options *opts,
                        const frz_bound_expr *filter, frz_plan **out, frz_error *err);
/* Leave data files out of a plan that has given no task yet. */
void task_plan_skip(frz_plan *plan, bool (*skip)(void *ctx, const frz_entry *entry), void *ctx);

/* ---- entries (scan_task_entry.c) ---- */

/* A copy of what reading an entry needs: no statistics and no split offsets. */
frz_code task_copy_entry(frz_arena *arena, const frz_entry *entry, frz_entry **out, frz_error *err);

#endif
