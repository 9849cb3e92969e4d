/*
 * parquet: reading and writing Parquet files, for the layers above the registry that need more
 * than a reader: writers, footers as metrics, and splicing of encoded chunks.
 */
#ifndef FRZ_PARQUET_H
#define FRZ_PARQUET_H

#include "format/format.h"
#include "frazil/parquet_writer.h"

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

/* ---- native types (parquet_native.c) ---- */

/*
 * The file's schema as close to it as Arrow allows, in the arena; names are views of the file's.
 * Types that Iceberg lacks are FOREIGN; variants and the like are their storage, and the field's
 * annotation says what they are. Ids are the schema's own, one for each field at any depth: given
 * as the file's type to the format's read() together with a projection that is part of this struct
 * (children of structs may be left out; a field may stand there again with its Iceberg type), all
 * of the file is read as it is. file must be a Parquet file.
 */
frz_code frz_parquet_native_type(const frz_data_file *file, frz_arena *arena, const frz_type **out,
                                 frz_error *err);
/* The same tree with the types that Iceberg reads in place of those that it lacks, as expressions
 * want them; where it reads none the native type stays. */
frz_code frz_parquet_filter_type(const frz_data_file *file, frz_arena *arena, const frz_type **out,
                                 frz_error *err);
/* The ArrowSchema of such a struct or a part of it, with the ids that the file has. */
frz_code frz_parquet_native_to_arrow(const frz_env *env, const frz_data_file *file,
                                     const frz_type *native, struct ArrowSchema *out,
                                     frz_error *err);

/* ---- writing (parquet_writer.c) ---- */

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

/* The same for a struct that is there in every row, of both files, member by member: those that the
 * list has an array for are encoded, the others (NULL) are copied from src's members of the same
 * ids. The list is as long as the struct has fields. */
frz_code frz_parquet_writer_splice_members(frz_parquet_writer *writer, size_t field_index,
                                           const frz_data_file *src, size_t src_group,
                                           int32_t src_field_id,
                                           const struct ArrowArray *const *members, bool *done,
                                           frz_error *err);

/* Encoded bytes of the row group that is being written, about, which are still in memory. */
size_t frz_parquet_writer_waiting(const frz_parquet_writer *writer);
/* What the file would be long if it ended now, about. */
uint64_t frz_parquet_writer_bytes(const frz_parquet_writer *writer);

/* Write the footer; durable syncs the file. Frees the writer in any case; on failure the file is
 * removed. out may be NULL. */
frz_code frz_parquet_writer_finish(frz_parquet_writer *writer, bool durable, frz_arena *arena,
                                   frz_parquet_written *out, frz_error *err);
#endif
