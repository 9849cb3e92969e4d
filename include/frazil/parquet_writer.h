/**
 * Writing Parquet files apart from tables, from Arrow batches.
 */
#ifndef FRAZIL_PARQUET_WRITER_H
#define FRAZIL_PARQUET_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Compression of pages; the numbers are the format's. */
typedef enum frz_parquet_codec {
    FRZ_PARQUET_UNCOMPRESSED = 0,
    FRZ_PARQUET_SNAPPY = 1,
    FRZ_PARQUET_GZIP = 2,
    FRZ_PARQUET_BROTLI = 4,
    FRZ_PARQUET_ZSTD = 6,
    FRZ_PARQUET_LZ4_RAW = 7
} frz_parquet_codec;

/** Encoding of a column's values; the numbers are the format's, but for AUTO. */
typedef enum frz_parquet_encoding {
    FRZ_PARQUET_AUTO = -1,                   /**< chosen from the data */
    FRZ_PARQUET_PLAIN = 0,                   /**< every type */
    FRZ_PARQUET_RLE = 3,                     /**< boolean */
    FRZ_PARQUET_DELTA_BINARY_PACKED = 5,     /**< stored as INT32 or INT64 */
    FRZ_PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6, /**< string, binary */
    FRZ_PARQUET_DELTA_BYTE_ARRAY = 7,        /**< string, binary, and what has a fixed length */
    FRZ_PARQUET_RLE_DICTIONARY = 8,   /**< all but boolean; PLAIN from where it grows too large */
    FRZ_PARQUET_BYTE_STREAM_SPLIT = 9 /**< numbers, and what has a fixed length */
} frz_parquet_encoding;

/*
 * Columns are named by dots: "a", "a.b" for a part of a struct, "list.element.x", "map.key" and
 * "map.value.x", or as the file spells them, "list.list.element.x". Only columns that have values
 * can be named, not the structs, lists and maps around them. A name is exact or, if none is, the
 * only one that differs in case.
 */

/** The encoding of one column. */
typedef struct frz_parquet_column_encoding {
    const char *column;
    frz_parquet_encoding encoding;
} frz_parquet_column_encoding;

/** A bloom filter for one column. */
typedef struct frz_parquet_bloom_column {
    const char *column;
    double fpp;  /**< how many values that are not there it lets pass, of 1; 0: 0.01 */
    int64_t ndv; /**< distinct values of a row group to make room for; 0: as many as there are */
} frz_parquet_bloom_column;

/** One of the columns by which the rows of every row group are sorted. */
typedef struct frz_parquet_sorted_column {
    const char *column;
    bool descending;
    bool nulls_first;
} frz_parquet_sorted_column;

typedef struct frz_parquet_write_options {
    size_t struct_size;
    frz_parquet_codec codec;
    int level;                 /**< of the codec; 0: its default (zstd 1, gzip 6, brotli 5) */
    int page_version;          /**< 1 or 2; 0: 1 */
    size_t page_bytes;         /**< about, before compression, at most 2^31 - 1; 0: 256 KiB */
    int64_t page_rows;         /**< most rows of a page; 0: no bound */
    size_t group_bytes;        /**< encoded bytes that end a row group; 0: 32 MiB */
    int64_t group_rows;        /**< most rows of a row group; 0: no bound */
    bool no_dictionary;        /**< not chosen for any column */
    bool no_delta;             /**< the same for DELTA encodings, which old readers lack */
    bool no_byte_stream_split; /**< and for this one */
    bool no_statistics;        /**< no bounds, counts, page index or sizes at all */
    bool no_page_index;
    bool arrow_schema; /**< keep the Arrow schema in the key-value metadata ("ARROW:schema"), so
                            that readers can restore types that Parquet lacks */
    bool durable;      /**< sync the file when it is closed */
    const char *const *keys; /**< key-value metadata, texts ended by a NUL */
    const char *const *values;
    size_t key_count;
    const frz_parquet_column_encoding
        *encodings; /**< of columns for which it is not to be chosen */
    size_t encoding_count;
    const frz_parquet_bloom_column *blooms;
    size_t bloom_count;
    const frz_parquet_sorted_column *sorted; /**< most significant first; taken on trust */
    size_t sorted_count;
} frz_parquet_write_options;

/** zstd and all defaults. */
#define FRZ_PARQUET_WRITE_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(frz_parquet_write_options), FRZ_PARQUET_ZSTD, 0, 0, 0, 0, 0, 0, false, false,       \
            false, false, false, false, false, 0, 0, 0, 0, 0, 0, 0, 0, 0                           \
    }

/** Writes one file. Used by one thread at a time. */
typedef struct frz_parquet_writer frz_parquet_writer;

/**
 * Create a file. It is visible under its name at once, but until it is closed it has no footer, so
 * that no reader takes it for a Parquet file.
 *
 * @param env       borrowed; must outlive the writer
 * @param location  path or location; FRZ_E_EXISTS if it is there
 * @param schema    a struct, one child per column; borrowed for the call. Field ids are taken from
 *                  "PARQUET:field_id" metadata where present, else numbered from 1
 * @param opts      borrowed for the call; NULL: all defaults
 * @param out       receives the writer; end it with frz_parquet_writer_close() or
 *                  frz_parquet_writer_abort(). Untouched on error.
 * @return FRZ_OK, FRZ_E_EXISTS, FRZ_E_UNSUPPORTED naming a column whose type has no place in
 *         Parquet, FRZ_E_ARGUMENT for options that make no sense (an encoding that a column's type
 *         cannot have, a column that is not there)
 */
FRZ_API frz_code frz_parquet_writer_create(const frz_env *env, const char *location,
                                           const struct ArrowSchema *schema,
                                           const frz_parquet_write_options *opts,
                                           frz_parquet_writer **out, frz_error *err);

/**
 * Write the rows of a batch. Row groups are ended by their size, or by
 * frz_parquet_writer_end_group().
 *
 * @param batch  a struct array of the writer's schema; borrowed for the call. Its lengths, offsets
 *               and numbers of buffers and children are checked; that buffers are as long as they
 *               say is taken on trust
 * @return FRZ_OK, FRZ_E_ARGUMENT naming column and row of a null in a column that has none, or of
 *         an array that contradicts itself; also if a row of the batch is null as a whole, for
 *         which Parquet has no place. After a failure only close, which fails, and abort are left.
 */
FRZ_API frz_code frz_parquet_writer_write(frz_parquet_writer *writer,
                                          const struct ArrowArray *batch, frz_error *err);

/** End the row group that is being written, if it has rows. */
FRZ_API frz_code frz_parquet_writer_end_group(frz_parquet_writer *writer, frz_error *err);

/** What a file turned out to be. */
typedef struct frz_parquet_writer_info {
    int64_t rows;
    int64_t file_size;
    int64_t groups; /**< row groups */
} frz_parquet_writer_info;

/**
 * Write the footer and close the file. Frees the writer in any case; on failure the file is
 * removed.
 *
 * @param info  receives figures; may be NULL
 */
FRZ_API frz_code frz_parquet_writer_close(frz_parquet_writer *writer, frz_parquet_writer_info *info,
                                          frz_error *err);

/** Remove what was written and free the writer. NULL is fine. */
FRZ_API void frz_parquet_writer_abort(frz_parquet_writer *writer);

/**
 * Write a stream of record batches to a new file.
 *
 * @param location  path or location; FRZ_E_EXISTS if it is there
 * @param stream    borrowed; read to its end, not released
 * @param opts      NULL: all defaults
 * @param rows      receives the number of rows; may be NULL
 * @return as creating, writing and closing, or the stream's own failure. On failure nothing is
 *         left of the file.
 */
FRZ_API frz_code frz_parquet_write_stream(const frz_env *env, const char *location,
                                          struct ArrowArrayStream *stream,
                                          const frz_parquet_write_options *opts, int64_t *rows,
                                          frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
