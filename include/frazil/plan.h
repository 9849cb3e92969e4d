/**
 * Plans: which files, or parts of files, a scan would read, as tasks of about the same size, and
 * what was left out and why.
 *
 * Source: Iceberg scan planning; properties read.split.target-size and read.split.open-file-cost.
 */
#ifndef FRAZIL_PLAN_H
#define FRAZIL_PLAN_H

#include "frazil/table.h"
#include "frazil/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_plan frz_plan;

typedef struct frz_plan_options {
    size_t struct_size;
    /** As in frz_scan_options. */
    const char *const *columns;
    size_t column_count;
    const char *where;
    int64_t snapshot_id;
    const char *as_of;
    const char *ref;
    int with_lineage;
    int ignore_case;
    int64_t target_bytes;    /**< of a task, about; larger files are split. 0: the table's
                                  read.split.target-size, else 128 MiB */
    int64_t open_file_bytes; /**< the least that a file or delete file counts. 0: the table's
                                  read.split.open-file-cost, else 4 MiB */
    int row_groups;          /**< open the files, too, to tell which row groups, pages and rows the
                                  filter leaves out; that is not needed to run the tasks */
    int whole_files;         /**< files are not split, and all that deletes rows of them is in the
                                  tasks, also of rows that the filter leaves out: for who changes
                                  the files */
} frz_plan_options;

#define FRZ_PLAN_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(frz_plan_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                               \
    }

/** What a plan did so far; complete behind the last task. Later versions append members. */
typedef struct frz_plan_report {
    int64_t snapshot_id;             /**< 0: the table has no snapshot */
    int64_t manifests;               /**< of data files */
    int64_t manifests_empty;         /**< skipped: no entry is live */
    int64_t manifests_by_partition;  /**< skipped by their partition summaries */
    int64_t manifests_by_statistics; /**< skipped by their statistics (format version 4) */
    int64_t files;                   /**< data files of the snapshot */
    int64_t files_in_manifests;      /**< skipped with their manifest */
    int64_t files_by_partition;      /**< skipped by their partition */
    int64_t files_by_counts;         /**< skipped by their counts of values, nulls and NaN */
    int64_t files_by_bounds;         /**< skipped by bounds of columns */
    int64_t files_planned;           /**< in tasks */
    int64_t rows_planned;            /**< of these files, before deletes and filter */
    int64_t bytes_planned;           /**< of these files and the column files that are needed */
    int64_t delete_files;            /**< delete files and deletion vectors that apply to them */
    int64_t tasks;
    int64_t groups; /**< with row_groups, as in frz_scan_report: */
    int64_t groups_by_statistics;
    int64_t groups_by_dictionary;
    int64_t groups_by_bloom;
    int64_t pages_by_index;
    int64_t rows_skipped;
} frz_plan_report;

/**
 * Open a plan of one snapshot. Manifests are read as the plan goes on; few entries are held at a
 * time.
 *
 * @param opts  NULL plans a read of everything in the current snapshot
 * @param out   receives the plan; free with frz_plan_close()
 */
FRZ_API frz_code frz_plan_open(frz_table *table, const frz_plan_options *opts, frz_plan **out,
                               frz_error *err);

/**
 * The next task, with files in the order of the scan.
 *
 * @param out  receives the task, which may outlive the plan; free with frz_task_unref()
 * @return FRZ_OK, FRZ_END when there are no more tasks, or a failure
 */
FRZ_API frz_code frz_plan_next(frz_plan *plan, frz_task **out, frz_error *err);

/** Read the report; counts grow while the plan goes on. */
FRZ_API void frz_plan_report_get(const frz_plan *plan, frz_plan_report *out);

/** Close. NULL is fine. */
FRZ_API void frz_plan_close(frz_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
