/**
 * What a statement that changes rows would cost in each of its modes, without carrying it out.
 * docs/modes.md tells what is measured, what is estimated, and how "auto" chooses.
 */
#ifndef FRAZIL_MODES_H
#define FRAZIL_MODES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRZ_MODE_MOST 3

/** One mode. Bytes are of data files, column files and deletion vectors, not of metadata. */
typedef struct frz_mode_estimate {
    const char *mode; /**< "column-file", "copy-on-write" or "merge-on-read" */
    int64_t files_written;
    int64_t bytes_written;
    int64_t bytes_read; /**< by the statement */
    int64_t read_tax;   /**< bytes that each later read of all columns reads more than it would if
                             the data files touched held their live rows and nothing else */
    int64_t cost; /**< bytes written and read, the tax as often as the table is read, and 1 MiB
                       if rows change their place */
} frz_mode_estimate;

/** All of them. */
typedef struct frz_statement_estimate {
    int64_t rows;            /**< that match */
    int64_t data_files;      /**< that have such rows */
    int64_t reads_per_write; /**< write.auto.reads-per-write */
    size_t mode_count;
    size_t cheapest; /**< the index of the one that "auto" picks */
    frz_mode_estimate modes[FRZ_MODE_MOST];
} frz_statement_estimate;

#ifdef __cplusplus
}
#endif

#endif
