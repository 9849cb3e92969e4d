/**
 * Column updates in three steps, for any scheduler: a plan cuts an update into tasks, each task is
 * run where there is room and leaves a result, and one commit takes all results. Tasks and results
 * are lines of JSON (docs/formats/tasks.md). Values may come from files, which every task reads.
 *
 * Nothing is visible before the commit. The column files of results that are never committed are
 * files that nothing refers to, as those of a killed writer are.
 */
#ifndef FRAZIL_UPDATE_TASK_H
#define FRAZIL_UPDATE_TASK_H

#include "frazil/column_update.h"
#include "frazil/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_update_plan frz_update_plan;

typedef struct frz_update_plan_options {
    size_t struct_size;
    const char *results;     /**< lines of earlier results of the same update: data files whose
                                  result still holds are left out; NULL: none */
    size_t results_len;      /**< of so many bytes */
    int64_t target_bytes;    /**< as in frz_plan_options; a data file is never split */
    int64_t open_file_bytes; /**< the same */
    /** Values from outside, as in frz_update_columns_from(). Only files can be opened where a task
     * runs, so these it has to be; where says which row of them a row of the table has, by keys or
     * by _row_id. memory_bytes is of no account: a task goes by FRZ_JOIN_MEMORY. NULL: none */
    const frz_row_source *source;
    const char *name; /**< with a source, what expressions call the table; NULL: its own name */
} frz_update_plan_options;

#define FRZ_UPDATE_PLAN_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(frz_update_plan_options), 0, 0, 0, 0, 0, 0                                          \
    }

/**
 * Plan an update of the table's current version, as frz_update_columns() would do it, or with a
 * source frz_update_columns_from().
 *
 * @param table  of a catalog; kept by the plan
 * @param where  SQL expression; NULL updates every row
 * @param opts   NULL: all defaults
 * @param out    receives the plan; free with frz_update_plan_close()
 * @return FRZ_OK; FRZ_E_ARGUMENT for expressions that do not bind, for a source that is not files,
 *         and for results of another update, or of files of other sizes; FRZ_E_UNSUPPORTED for a
 *         table of a format version below 4; FRZ_E_CORRUPT for a result that is none
 */
FRZ_API frz_code frz_update_plan_open(frz_table *table, const frz_assignment *assignments,
                                      size_t assignment_count, const char *where,
                                      const frz_update_plan_options *opts, frz_update_plan **out,
                                      frz_error *err);

/**
 * Write the next task as one line of JSON, without the line's end.
 *
 * @return FRZ_OK; FRZ_END when there are no more tasks; what the sink returned
 */
FRZ_API frz_code frz_update_plan_next(frz_update_plan *plan, frz_task_sink sink, void *ctx,
                                      frz_error *err);

/** Close. NULL is fine. */
FRZ_API void frz_update_plan_close(frz_update_plan *plan);

/**
 * Run a task: write a column file for each of its data files in which a row matches, beside the
 * table's other files, and make them durable. Needs no catalog. A task may run twice, here and
 * elsewhere: of several results of a data file that of the newest plan is
 * committed.
 *
 * @param env   borrowed
 * @param json  the task, of so many bytes; need not be trusted
 * @param sink  receives the result as one line of JSON, without the line's end
 * @return FRZ_OK; FRZ_E_CORRUPT naming the member that is wrong; FRZ_E_ARGUMENT for values that do
 *         not fit, for two rows of the source with the same key, and for a file of it whose size is
 *         not the one that was planned; what the sink returned. When the run fails its files are
 *         removed.
 */
FRZ_API frz_code frz_update_task_run(const frz_env *env, const char *json, size_t len,
                                     frz_task_sink sink, void *ctx, frz_error *err);

/**
 * Commit the results of all tasks of a plan.
 *
 * Results are checked against the newest version as frz_update_columns() checks its own after a
 * lost race: when others changed other columns meanwhile, only the lineage column is written
 * again.
 *
 * @param results  lines of JSON, one result each, in any order; need not be trusted
 * @param report   receives figures; may be NULL
 * @return FRZ_OK; FRZ_E_CONFLICT if data files need a task again, naming one: a plan that is given
 *         the results has tasks for these alone; FRZ_E_EXISTS if the results are in the table
 *         already; FRZ_E_ARGUMENT for results of different updates or of another table;
 *         FRZ_E_NOT_FOUND if a column file is gone; FRZ_E_CORRUPT for a result that is none;
 *         FRZ_E_COMMIT_UNKNOWN
 */
FRZ_API frz_code frz_update_commit(frz_catalog *catalog, const char *table, const char *results,
                                   size_t len, frz_commit_report *report, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
