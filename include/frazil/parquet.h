/**
 * Parquet files apart from tables: what is in a file, and its rows as Arrow batches.
 */
#ifndef FRAZIL_PARQUET_H
#define FRAZIL_PARQUET_H

#include <stddef.h>

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that belong to somebody else; data NULL: absent. Names are UTF-8 without a NUL at the
 * end, as long as the file keeps to its rules. */
typedef struct frz_parquet_bytes {
    const char *data;
    size_t size;
} frz_parquet_bytes;

/* ---- files ---- */

/** An open file. Immutable: all functions over it may be called from several threads at once. */
typedef struct frz_parquet_file frz_parquet_file;

/**
 * Open a file and read its footer.
 *
 * @param env       borrowed; must outlive the file and its readers
 * @param location  path or location
 * @param out       receives the file; free with frz_parquet_file_close(). Untouched on error.
 * @return FRZ_OK, FRZ_E_NOT_FOUND, FRZ_E_CORRUPT if it is no Parquet file or a damaged one,
 *         FRZ_E_UNSUPPORTED if it is encrypted
 */
FRZ_API frz_code frz_parquet_file_open(const frz_env *env, const char *location,
                                       frz_parquet_file **out, frz_error *err);

/** Close. Readers that are still open keep the file. NULL is fine. */
FRZ_API void frz_parquet_file_close(frz_parquet_file *file);

typedef struct frz_parquet_file_info {
    int64_t rows;
    int64_t file_size;
    int64_t footer_size;          /**< bytes of the metadata, without its length and the magic */
    int32_t version;              /**< what the writer put there, 1 or 2 */
    frz_parquet_bytes created_by; /**< valid while the file is open */
    size_t group_count;           /**< row groups */
    size_t column_count;          /**< leaf columns */
    size_t node_count;            /**< columns and groups of the schema, the root included */
    size_t key_count;             /**< key-value metadata */
} frz_parquet_file_info;

FRZ_API void frz_parquet_file_info_get(const frz_parquet_file *file, frz_parquet_file_info *out);

/** One pair of the key-value metadata, i < key_count. Valid while the file is open. */
FRZ_API void frz_parquet_file_key(const frz_parquet_file *file, size_t i, frz_parquet_bytes *key,
                                  frz_parquet_bytes *value);

/**
 * The columns as an Arrow struct, field ids as "PARQUET:field_id" metadata. The caller releases it.
 *
 * A column that cannot be read is there with the format of null; reading it fails.
 */
FRZ_API frz_code frz_parquet_file_schema(const frz_parquet_file *file, struct ArrowSchema *out,
                                         frz_error *err);

/* ---- rows ---- */

/** Reads the rows of a file, or some of them. One reader is used by one thread at a time; different
 * readers of one file may run in parallel. */
typedef struct frz_parquet_reader frz_parquet_reader;

/** Rows first to end - 1 of a file, counted from 0. */
typedef struct frz_parquet_row_range {
    int64_t first;
    int64_t end;
} frz_parquet_row_range;

typedef struct frz_parquet_read_options {
    size_t struct_size;
    /**
     * Names of columns; NULL: all. "a" is a column, "a.b" the part b of the struct a; parts of one
     * column become one column, where the first of them was named. Elements of lists and values of
     * maps are passed through as "list.element.x" and "map.value.x", or as the file spells them,
     * "list.list.element.x". A name is exact or, if none is, the only one that differs in case.
     */
    const char *const *columns;
    size_t column_count;
    const char *where; /**< SQL expression over the file's columns, also others than those asked
                            for; rows for which it is true are returned. NULL: all */
    const frz_parquet_row_range *ranges; /**< ascending, not overlapping; NULL: all rows */
    size_t range_count;
    int64_t batch_rows;  /**< most rows of a batch; 0: 65 536 */
    int64_t batch_bytes; /**< about the most bytes of a batch; 0: 16 MiB */
} frz_parquet_read_options;

#define FRZ_PARQUET_READ_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(frz_parquet_read_options), 0, 0, 0, 0, 0, 0, 0                                      \
    }

/**
 * Open a reader. Row groups and pages outside the ranges, and those which the file's statistics,
 * dictionaries, bloom filters or page indexes prove to hold no row for the filter, are not read.
 *
 * @param opts  NULL reads everything
 * @param out   receives the reader; free with frz_parquet_reader_close(). Untouched on error.
 * @return FRZ_OK, FRZ_E_NOT_FOUND for a column that is not there, FRZ_E_ARGUMENT for a filter or
 *         ranges that make no sense, FRZ_E_UNSUPPORTED naming a column that cannot be read
 */
FRZ_API frz_code frz_parquet_reader_open(frz_parquet_file *file,
                                         const frz_parquet_read_options *opts,
                                         frz_parquet_reader **out, frz_error *err);

/** The schema of all batches, a struct. The caller releases it. */
FRZ_API frz_code frz_parquet_reader_schema(const frz_parquet_reader *reader,
                                           struct ArrowSchema *out, frz_error *err);

/**
 * The next batch, a struct array with at least one row, in the order of the file.
 *
 * @param out        receives the batch; the caller releases it, also after the reader is closed
 * @param first_row  receives the place in the file of the batch's first row; may be NULL. Without a
 *                   filter row i of the batch is row *first_row + i of the file. With one,
 * *first_row is where the batch began before rows were left out of it.
 * @return FRZ_OK, FRZ_END when there are no more rows, or a failure
 */
FRZ_API frz_code frz_parquet_reader_next(frz_parquet_reader *reader, struct ArrowArray *out,
                                         int64_t *first_row, frz_error *err);

/** What a reader left out, by what it was proven, and did so far. */
typedef struct frz_parquet_read_report {
    int64_t rows;                 /**< in the ranges asked for */
    int64_t rows_kept;            /**< of these, not proven to be filtered out */
    int64_t rows_read;            /**< so far, before the filter */
    int64_t rows_returned;        /**< so far */
    int64_t groups;               /**< row groups that the ranges touch */
    int64_t groups_by_statistics; /**< left out by their statistics */
    int64_t groups_by_dictionary; /**< left out because no value is in their dictionaries */
    int64_t groups_by_bloom;      /**< left out by their bloom filters */
    int64_t pages_by_index;       /**< pages of the filter's columns, by the page index */
} frz_parquet_read_report;

FRZ_API void frz_parquet_reader_report_get(const frz_parquet_reader *reader,
                                           frz_parquet_read_report *out);

/** Close. NULL is fine. */
FRZ_API void frz_parquet_reader_close(frz_parquet_reader *reader);

/** Hand the reader over to an Arrow stream, which closes it on release; on failure it is closed. */
FRZ_API frz_code frz_parquet_reader_export(frz_parquet_reader *reader, struct ArrowArrayStream *out,
                                           frz_error *err);

/* ---- writing ---- */

/**
 * Write a stream of record batches to a new Parquet file (zstd). Field ids are taken from the
 * schema's "PARQUET:field_id" metadata where present, else numbered from 1.
 *
 * @param location  path or location; FRZ_E_EXISTS if it is there
 * @param stream    borrowed; read to its end, not released
 * @param rows      receives the number of rows; may be NULL
 *
 * A file that is not finished is removed.
 */
FRZ_API frz_code frz_parquet_write_stream(const frz_env *env, const char *location,
                                          struct ArrowArrayStream *stream, int64_t *rows,
                                          frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
