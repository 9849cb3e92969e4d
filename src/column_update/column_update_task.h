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
    const char *where;  /* NULL: all rows */
    update_files files; /* that values come from; none: they do not */
} update_statement;

frz_code update_put_statement(task_writer *w, json_t *object, const update_statement *statement,
                              frz_error *err);
/* Texts are copied. */
frz_code update_read_statement(frz_arena *arena, const json_t *object, update_statement *out,
                               frz_error *err);

/* ---- files as its source (column_update_task_source.c) ---- */

/* Those that the options of a plan name, if any; texts in the arena. */
frz_code update_files_find(frz_arena *arena, const frz_table *table,
                           const frz_update_plan_options *opts, update_files *out, frz_error *err);
/* The columns that a bound source is asked for; names are shared with it. */
frz_code update_files_know(frz_arena *arena, const update_source *source, update_files *files,
                           frz_error *err);
/* They are of the sizes that were planned. */
frz_code update_files_check(const frz_env *env, const update_files *files, frz_error *err);
/* Nothing is put for none. */
frz_code update_put_files(task_writer *w, json_t *object, const update_files *files,
                          frz_error *err);
frz_code update_read_files(frz_arena *arena, const json_t *object, update_files *out,
                           frz_error *err);
/* The same name, table and files; what is known of these is not compared. */
bool update_same_files(const update_files *a, const update_files *b);

/* Give a job that was initialized a statement, which outlives it, and its source. Of a job of
 * results, the source's rows are not read. */
frz_code update_job_enter(update_job *job, const update_statement *statement, frz_error *err);

/* ---- results (column_update_task_json.c) ---- */

/* The object that results of data files are put into. */
frz_code update_put_result_head(task_writer *w, json_t *object, const frz_table *table,
                                const frz_task *task, const update_statement *statement,
                                frz_error *err);
/* Append what became of one data file. */
frz_code update_put_result(task_writer *w, json_t *list, const frz_env *env, const frz_entry *entry,
                           const update_result *result, frz_error *err);

/* Give a job of results that was initialized those of the lines, and the statement: the one that is
 * given, which must be theirs, or NULL: theirs. table: the current version. */
frz_code update_job_read(update_job *job, const frz_table *table, const update_statement *statement,
                         frz_str lines, frz_error *err);

#endif
