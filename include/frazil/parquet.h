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
 * The columns as an Arrow struct, in the types of Arrow that are closest to the file's. Field ids
 * are "PARQUET:field_id" metadata; JSON, variants, geometries and the like are what they are stored
 * as, with metadata that says what they are. The caller releases it.
 */
FRZ_API frz_code frz_parquet_file_schema(const frz_parquet_file *file, struct ArrowSchema *out,
                                         frz_error *err);

/* ---- the schema ---- */

typedef enum frz_parquet_repetition {
    FRZ_PARQUET_REQUIRED = 0,
    FRZ_PARQUET_OPTIONAL = 1,
    FRZ_PARQUET_REPEATED = 2
} frz_parquet_repetition;

#define FRZ_PARQUET_NO_COLUMN SIZE_MAX

/** A column or group of the schema, as the file has it. Texts are valid while the file is open. */
typedef struct frz_parquet_node_info {
    frz_parquet_bytes name;
    size_t parent;                     /**< the group around; of the root, 0: itself */
    int depth;                         /**< 0: the root */
    frz_parquet_repetition repetition; /**< of the root: required */
    const char *physical;              /**< "INT64"; NULL: a group */
    int32_t type_length;               /**< bytes of a FIXED_LEN_BYTE_ARRAY, else 0 */
    char logical[64];                  /**< the annotation, such as "TIMESTAMP(MICROS,UTC)"; empty:
                                            none; cut if it is longer */
    int32_t field_id;
    int has_field_id;
    size_t child_count; /**< of a group */
    size_t column;      /**< which leaf column it is; FRZ_PARQUET_NO_COLUMN: a group */
} frz_parquet_node_info;

/** A node of the schema, node < node_count, parents before their children as in the file. */
FRZ_API void frz_parquet_node_info_get(const frz_parquet_file *file, size_t node,
                                       frz_parquet_node_info *out);

typedef struct frz_parquet_column_info {
    size_t node;
    int max_definition_level;
    int max_repetition_level;
} frz_parquet_column_info;

/** A leaf column, column < column_count. */
FRZ_API void frz_parquet_column_info_get(const frz_parquet_file *file, size_t column,
                                         frz_parquet_column_info *out);

/**
 * Write the names from the root's child down to a leaf column with dots between, always terminated.
 *
 * @return the length of the whole text, which may exceed size - 1
 */
FRZ_API size_t frz_parquet_column_path(const frz_parquet_file *file, size_t column, char *buf,
                                       size_t size);

/* ---- row groups, column chunks, pages ---- */

/** What the rows of a group are sorted by, most significant first. */
typedef struct frz_parquet_sorting {
    size_t column; /**< leaf column; FRZ_PARQUET_NO_COLUMN: one that is not there */
    int descending;
    int nulls_first;
} frz_parquet_sorting;

typedef struct frz_parquet_group_info {
    int64_t first_row; /**< in the file */
    int64_t rows;
    int64_t uncompressed_size; /**< of all chunks, as the file says */
    size_t sorting_count;
} frz_parquet_group_info;

/** A row group, group < group_count. */
FRZ_API void frz_parquet_group_info_get(const frz_parquet_file *file, size_t group,
                                        frz_parquet_group_info *out);

/** What a row group says that it is sorted by, i < sorting_count. */
FRZ_API void frz_parquet_group_sorting(const frz_parquet_file *file, size_t group, size_t i,
                                       frz_parquet_sorting *out);

/** A bound of the values of a chunk or page. */
typedef struct frz_parquet_bound {
    frz_parquet_bytes value; /**< as the file encodes it; frz_parquet_bound_text() explains it */
    int exact;               /**< 1: a value; 0: cut or rounded outwards; -1: not told */
    int deprecated;          /**< from the old pair, whose order is not certain for every type */
    int reliable;            /**< whether skipping believes it */
} frz_parquet_bound;

/** Set in encodings if there is one that this library does not know. */
#define FRZ_PARQUET_OTHER_ENCODING ((uint32_t)1 << 31)

/** A column chunk. Views are valid while the file is open. Counts that are not told are -1. */
typedef struct frz_parquet_chunk_info {
    const char *codec;  /**< "ZSTD"; NULL: several, or one that this library does not know */
    uint32_t encodings; /**< bit e stands for frz_parquet_encoding_name(e) */
    int64_t values;     /**< with nulls; an empty list or map counts as one */
    int64_t nulls;
    int64_t distinct;
    int64_t nans;
    int64_t offset;            /**< of the first page in the file */
    int64_t dictionary_offset; /**< of the dictionary page; 0: none, or not told */
    int64_t compressed_size;   /**< with page headers */
    int64_t uncompressed_size; /**< the same */
    int64_t unencoded_size;    /**< bytes of its byte arrays */
    frz_parquet_bound min, max;
    int64_t column_index_offset; /**< bounds of its pages; 0: none */
    int64_t column_index_size;
    int64_t offset_index_offset; /**< places of its pages; 0: none */
    int64_t offset_index_size;
    int64_t bloom_filter_offset; /**< 0: none */
    int64_t bloom_filter_size;   /**< 0: not told */
    frz_parquet_bytes file_path; /**< where its pages are, if in another file */
    int encrypted;
} frz_parquet_chunk_info;

/**
 * A column chunk, group < group_count and column < column_count.
 *
 * @return FRZ_OK, or FRZ_E_CORRUPT if the footer does not hold what it should
 */
FRZ_API frz_code frz_parquet_chunk_info_get(const frz_parquet_file *file, size_t group,
                                            size_t column, frz_parquet_chunk_info *out,
                                            frz_error *err);

/**
 * The chunks of a column over all row groups as if they were one: sums, and the outermost bounds if
 * every group with values has reliable ones. Offsets are those of the first chunk that has one.
 */
FRZ_API frz_code frz_parquet_column_summary_get(const frz_parquet_file *file, size_t column,
                                                frz_parquet_chunk_info *out, frz_error *err);

/** The name of an encoding, such as "RLE_DICTIONARY"; NULL if it is not known. */
FRZ_API const char *frz_parquet_encoding_name(int encoding);

/**
 * Write a bound of a column as text: numbers, ISO dates and times, decimals with their scale,
 * strings as they are, other bytes in hexadecimal; bytes that are none of the type as "0x" and
 * hexadecimal. Always terminated, and cut if it is longer than the buffer.
 *
 * @return the length of the whole text, which may exceed size - 1
 */
FRZ_API size_t frz_parquet_bound_text(const frz_parquet_file *file, size_t column,
                                      frz_parquet_bytes bound, char *buf, size_t size);

/** A page of a column chunk. Counts that are not told are -1; rows and first_row are told by the
 * header or the offset index, nulls, nans and bounds by the column index. */
typedef struct frz_parquet_page_info {
    const char *type;     /**< "DATA", "DATA_V2", "DICTIONARY", "INDEX" or "UNKNOWN" */
    const char *encoding; /**< of the values; NULL: of a kind that this library does not know */
    int64_t offset;       /**< of the header in the file */
    int64_t header_size;
    int64_t compressed_size; /**< without the header */
    int64_t uncompressed_size;
    int64_t values;    /**< with nulls */
    int64_t first_row; /**< in the file */
    int64_t rows;
    int has_checksum;
    int64_t nulls;
    int64_t nans;
    frz_parquet_bound min, max; /**< views, valid during the visit */
} frz_parquet_page_info;

/** Receives the pages of a chunk in order; a failure ends the visit and is passed on. */
typedef frz_code (*frz_parquet_page_visit)(void *ctx, const frz_parquet_page_info *page,
                                           frz_error *err);

/**
 * Visit the pages of a column chunk. Only their headers and the page index are read; an index that
 * does not fit the pages is passed over.
 *
 * @return FRZ_OK, FRZ_E_CORRUPT for headers that break the format's rules, FRZ_E_UNSUPPORTED for
 *         an encrypted chunk or one whose pages are in another file, or what visit returned
 */
FRZ_API frz_code frz_parquet_pages_visit(const frz_parquet_file *file, size_t group, size_t column,
                                         frz_parquet_page_visit visit, void *ctx, frz_error *err);

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
    int table_types; /**< types that tables have in place of those that they lack, where there is
                          one: int8 as int32, milliseconds as microseconds */
} frz_parquet_read_options;

#define FRZ_PARQUET_READ_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(frz_parquet_read_options), 0, 0, 0, 0, 0, 0, 0, 0                                   \
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

#ifdef __cplusplus
}
#endif

#endif
