/*
 * What planning, running and committing tasks of an update share.
 */
#ifndef FRZ_COLUMN_UPDATE_TASK_H
#define FRZ_COLUMN_UPDATE_TASK_H

#include "column_update/column_update_internal.h"
#include "frazil/update_task.h"
#include "scan/scan_task_json.h"

/* ---- the statement in tasks and results (column_update_task_json.c) ---- */

typedef struct update_statement {
    const frz_assignment *assignments;
    size_t count;
    const char *where; /* NULL: all rows */
} update_statement;

void update_put_statement(task_writer *w, json_t *object, const update_statement *statement);
/* Texts are copied. */
frz_code update_read_statement(frz_arena *arena, const json_t *object, update_statement *out,
                               frz_error *err);

/* ---- results (column_update_task_json.c) ---- */

/* The object that results of data files are put into. */
frz_code update_put_result_head(task_writer *w, json_t *object, const frz_table *table,
                                const frz_task *task, const update_statement *statement,
                                frz_error *err);
/* Append what became of one data file. */
frz_code update_put_result(task_writer *w, json_t *list, const frz_env *env, const frz_entry *entry,
                           const update_result *result, frz_error *err);

/* Give a job that was initialized the results of the lines, and the statement: the one that is
 * given, which must be theirs, or NULL: theirs. table: the current version. */
frz_code update_job_read(update_job *job, const frz_table *table, const update_statement *statement,
                         frz_str lines, frz_error *err);

#endif
