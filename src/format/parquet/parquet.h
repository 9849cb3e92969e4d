/*
 * parquet: reading and writing Parquet files, for the layers above the registry that need more
 * than a reader: writers, footers as metrics, and splicing of encoded chunks.
 */
#ifndef FRZ_PARQUET_H
#define FRZ_PARQUET_H

#include "format/format.h"

extern const frz_format_model frz_parquet_model;

/* ---- footer as metrics (parquet_metrics.c) ---- */

/* Statistics of every primitive field that is not below a list or map, from the footer alone, in
 * terms of the requested struct's types (promoted, converted as reading converts). What the footer
 * does not tell is unknown. file must be a Parquet file. */
frz_code frz_parquet_metrics(const frz_data_file *file, const frz_type *struct_type,
                             frz_arena *arena, frz_field_stats **out, size_t *count,
                             frz_error *err);
/* FRZ_E_UNSUPPORTED naming the first column, at any depth, that could never be read. */
frz_code frz_parquet_check_readable(const frz_data_file *file, frz_error *err);
/* Compressed bytes of the column chunks of one top-level field, over all row groups; 0 if absent.
 */
int64_t frz_parquet_field_bytes(const frz_data_file *file, int32_t field_id);
/* Offsets at which row groups start, ascending, as split_offsets; in the file's arena. */
const int64_t *frz_parquet_split_offsets(const frz_data_file *file, size_t *count);
/* Value of a footer key, ptr NULL if absent. */
frz_str frz_parquet_key_value(const frz_data_file *file, const char *key);

/* ---- writing (parquet_writer.c) ---- */

typedef enum frz_parquet_codec {
    FRZ_PARQUET_UNCOMPRESSED = 0, /* values of the format */
    FRZ_PARQUET_SNAPPY = 1,
    FRZ_PARQUET_GZIP = 2,
    FRZ_PARQUET_BROTLI = 4,
    FRZ_PARQUET_ZSTD = 6,
    FRZ_PARQUET_LZ4_RAW = 7
} frz_parquet_codec;

typedef enum frz_parquet_dictionary {
    FRZ_PARQUET_DICTIONARY_AUTO = 0, /* while it pays */
    FRZ_PARQUET_DICTIONARY_NEVER
} frz_parquet_dictionary;

typedef struct frz_parquet_write_options {
    frz_parquet_codec codec;
    int level; /* codec's level; 0: default (zstd 1, brotli 8) */
    frz_parquet_dictionary dictionary;
    bool byte_stream_split; /* for float and double */
    int page_version;       /* 1 or 2 */
    size_t page_bytes;      /* about, before compression; 0: 256 KiB */
    int64_t page_rows;      /* 0: no bound */
    size_t group_bytes;     /* encoded bytes after which write() ends a group; 0: 32 MiB */
    int64_t group_rows;     /* 0: no bound */
    bool no_statistics;     /* nor page index and sizes; manifests carry none of their own */
    bool no_page_index;
    bool no_metrics;         /* do not collect frz_field_stats */
    const char *const *keys; /* key-value metadata */
    const char *const *values;
    size_t key_count;
} frz_parquet_write_options;

#define FRZ_PARQUET_WRITE_DEFAULTS                                                                 \
    {                                                                                              \
        .codec = FRZ_PARQUET_ZSTD, .level = 1, .byte_stream_split = true, .page_version = 1        \
    }

typedef struct frz_parquet_writer frz_parquet_writer;

/* What a finished file turned out to be. */
typedef struct frz_parquet_written {
    int64_t row_count;
    int64_t file_size;
    frz_field_stats *stats; /* every primitive field not below a list or map; in the arena */
    size_t stats_count;
    int64_t *split_offsets; /* in the arena */
    size_t split_count;
} frz_parquet_written;

/* struct_type must outlive the writer. */
frz_code frz_parquet_writer_open(const frz_env *env, const char *location,
                                 const frz_type *struct_type, const frz_parquet_write_options *opts,
                                 frz_parquet_writer **out, frz_error *err);

/* Row by row: groups are ended by size, or by end_group. A null in a required field is
 * FRZ_E_ARGUMENT naming column and row. The batch is borrowed. */
frz_code frz_parquet_writer_write(frz_parquet_writer *writer, const struct ArrowArray *batch,
                                  frz_error *err);
frz_code frz_parquet_writer_end_group(frz_parquet_writer *writer, frz_error *err);

/* Column by column: begin a group of known rows; then for each top-level field of the struct in
 * order either append arrays until all rows are there, or splice; then end_group. Not mixed with
 * write() inside one group. */
frz_code frz_parquet_writer_begin_group(frz_parquet_writer *writer, int64_t rows, frz_error *err);
frz_code frz_parquet_writer_append_column(frz_parquet_writer *writer, size_t field_index,
                                          const struct ArrowArray *values, frz_error *err);
/* Copy the encoded chunks (all leaves) of one top-level field of a row group of another Parquet
 * file, with its statistics. *done is false, and nothing is written, if they cannot be copied as
 * they are: other physical type or annotation, repetition that does not fit, row count that
 * differs; then the caller encodes. Metrics of a spliced field come from src's chunk statistics.
 * src must stay open until end_group, so that neighbouring chunks are copied in one piece. */
frz_code frz_parquet_writer_splice(frz_parquet_writer *writer, size_t field_index,
                                   const frz_data_file *src, size_t src_group, int32_t src_field_id,
                                   bool *done, frz_error *err);

/* Write the footer; durable syncs the file. Frees the writer in any case; on failure the file is
 * removed. out may be NULL. */
frz_code frz_parquet_writer_finish(frz_parquet_writer *writer, bool durable, frz_arena *arena,
                                   frz_parquet_written *out, frz_error *err);
/* Remove what was written. NULL is fine. */
void frz_parquet_writer_abort(frz_parquet_writer *writer);

#endif
