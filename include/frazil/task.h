/**
 * Tasks: parts of a plan that can be run on their own, here or elsewhere.
 *
 * A task says all that is needed to read its rows: the table's metadata file, the columns and the
 * filter, the data files or parts of them, and the delete files that apply. No manifest is read
 * again. The rows of all tasks of a plan, one task after the other, are the rows of the scan.
 *
 * As JSON: docs/formats/tasks.md.
 */
#ifndef FRAZIL_TASK_H
#define FRAZIL_TASK_H

#include "frazil/scan.h"
#include "frazil/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Immutable; may be used by several threads at once. */
typedef struct frz_task frz_task;

/** One more owner. Safe from any thread. */
FRZ_API frz_task *frz_task_ref(frz_task *task);

/** One owner fewer; the last one frees. NULL is fine. Safe from any thread. */
FRZ_API void frz_task_unref(frz_task *task);

/** A data file of a task, or a part of one. Texts live as long as the task. Later versions append
 * members. */
typedef struct frz_task_file {
    const char *location;         /**< as recorded; may be relative to the table's */
    const char *partition;        /**< "cat=c0/ts_day=2024-01-01"; empty: unpartitioned */
    int64_t first_row, end_row;   /**< rows from the one up to before the other; -1: by bytes */
    int64_t first_byte, end_byte; /**< the row groups of the file that begin there; -1: by rows */
    int64_t size;                 /**< about, bytes of the part with its share of column files */
    int64_t record_count;         /**< rows of the whole file */
    int64_t column_files;
    int64_t delete_files; /**< that apply, deletion vectors among them */
} frz_task_file;

/** How many files, or parts of files, a task has. */
FRZ_API size_t frz_task_file_count(const frz_task *task);

/** File i, which is below that count. */
FRZ_API void frz_task_file_get(const frz_task *task, size_t i, frz_task_file *out);

/**
 * Open a read of a task's rows.
 *
 * @param task  kept by the scan
 * @param out   receives the scan; free with frz_scan_close()
 */
FRZ_API frz_code frz_task_scan(frz_task *task, frz_scan **out, frz_error *err);

/** Takes bytes in their order; anything but FRZ_OK ends the writing. */
typedef frz_code (*frz_task_sink)(void *ctx, const void *bytes, size_t len, frz_error *err);

/**
 * Write a task as one line of JSON, without the line's end.
 *
 * @return FRZ_OK; FRZ_E_UNSUPPORTED for a table that has no metadata file; what the sink returned
 */
FRZ_API frz_code frz_task_write(const frz_task *task, frz_task_sink sink, void *ctx,
                                frz_error *err);

/**
 * Make a task of its JSON, and open its table.
 *
 * @param env   borrowed; must outlive the task
 * @param json  of so many bytes; need not be trusted
 * @param opts  maps are used beside those of the task; NULL: none
 * @param out   receives the task; free with frz_task_unref()
 * @return FRZ_OK; FRZ_E_CORRUPT naming the member that is wrong; FRZ_E_UNSUPPORTED for a version
 *         that this library does not know; FRZ_E_NOT_FOUND if the metadata file is not there
 */
FRZ_API frz_code frz_task_parse(const frz_env *env, const char *json, size_t len,
                                const frz_table_open_options *opts, frz_task **out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
