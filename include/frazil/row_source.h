/**
 * Rows from outside a table, as updates and merges take them: files, a stream, another table.
 */
#ifndef FRAZIL_ROW_SOURCE_H
#define FRAZIL_ROW_SOURCE_H

#include <stddef.h>

#include "frazil/arrow.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where rows come from: exactly one of files, stream and table. Everything is borrowed for the call
 * that it is passed to.
 */
typedef struct frz_row_source {
    size_t struct_size;
    const char *name;         /**< what expressions call it: "s" for s.x; NULL: "source" */
    const char *const *files; /**< Parquet, Arrow and Avro files with the same columns */
    size_t file_count;
    struct ArrowArrayStream *stream; /**< of any producer; read to its end, not released */
    const char *table;               /**< of the same catalog, at its current snapshot */
    /** About the most memory that its rows and the index of their keys take. Larger ones go to
     * files in the folder that TMPDIR names, else /tmp, which are removed at the end. 0: what the
     * variable FRZ_JOIN_MEMORY says, in bytes, else 256 MiB. */
    size_t memory_bytes;
} frz_row_source;

#define FRZ_ROW_SOURCE_INIT                                                                        \
    {                                                                                              \
        sizeof(frz_row_source), 0, 0, 0, 0, 0, 0                                                   \
    }

#ifdef __cplusplus
}
#endif

#endif
