/**
 * What a commit did.
 */
#ifndef FRAZIL_COMMIT_H
#define FRAZIL_COMMIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Figures of one commit. All zero if nothing had to be committed. */
typedef struct frz_commit_report {
    int64_t snapshot_id;      /**< the new snapshot; 0 if none was made */
    int64_t rows;             /**< rows imported, updated or compacted */
    int64_t data_files;       /**< data files added or changed */
    int64_t files_written;    /**< files written in all, the catalog's not counted */
    int64_t data_bytes;       /**< bytes of data and column files written */
    int64_t metadata_bytes;   /**< bytes of manifests and metadata JSON written */
    int64_t live_data_bytes;  /**< bytes of the data files that copy-on-write would write again:
                                   for each file touched, its base file and live column files */
    int64_t attempts;         /**< commit attempts; more than 1 after conflicts */
    int64_t rows_inserted;    /**< of a merge: rows that are new */
    int64_t rows_deleted;     /**< of a merge: rows that are gone */
    int64_t source_rows;      /**< rows of a source that values came from */
    int64_t source_unmatched; /**< of these, such that no row of the table has used */
} frz_commit_report;

#ifdef __cplusplus
}
#endif

#endif
