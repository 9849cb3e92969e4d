/*
 * format: the contract that every file format fulfils, and the table of formats.
 *
 * A reader opens on a requested Iceberg struct and sorted disjoint row ranges. Every batch lies
 * inside one range, knows its first row, and has the requested schema: types promoted, nested
 * fields that the file lacks filled with their defaults. Top-level fields that the file lacks are
 * the caller's business (frz_data_file_has_field).
 */
#ifndef FRZ_FORMAT_H
#define FRZ_FORMAT_H

#include "arrow/arrow_array.h"
#include "expr/expr.h"
#include "io/io_file.h"
#include "type/type_schema.h"
#include "type/type_stats.h"

typedef struct frz_row_range {
    int64_t start, end; /* end not included */
} frz_row_range;

typedef struct frz_batch {
    int64_t first_row;
    struct ArrowArray array; /* a struct */
    int64_t left_out; /* of the rows from first_row on, not in the array; then nobody knows which
                         row of the file a row of the array is */
} frz_batch;

/* Rows that need not be in batches and are left out while these are made, column by column, which
 * takes less than to take them out of what is there. */
typedef struct frz_thinning {
    /* Clear the bits of the rows to leave out; bit i is row i of the batch. Of its columns only
     * those named below are there. Up to eight bytes behind the bits may be touched. Called by
     * several threads at once. */
    frz_code (*choose)(void *ctx, const frz_batch *batch, uint8_t *bits, frz_error *err);
    void *ctx;
    const size_t *columns; /* top-level fields of the projection that are looked at */
    size_t column_count;
} frz_thinning;

typedef struct frz_read_request {
    const frz_type *projection;  /* STRUCT; ids at every depth */
    const frz_row_range *ranges; /* NULL: all rows */
    size_t range_count;
    int64_t max_rows;  /* of a batch; 0: 65 536 */
    int64_t max_bytes; /* of a batch, about; 0: 16 MiB */
    /* Of maps from int, only entries with these keys are of use, ascending; NULL: all. A format may
     * leave out the others. */
    const int32_t *map_keys;
    size_t map_key_count;
    /* Read in turns with this one, or at once, with its working memory; it must be closed later.
     * NULL: there is none. */
    struct frz_data_reader *beside;
    size_t columns_beside; /* that other readers read in turns with this one */
    bool no_ahead; /* threads do not read batches before their turn: other readers run beside */
    /* Batches end where ranges do, and not where row groups do; only with no_ahead, and not if rows
     * are left out. A format may end some there all the same. */
    bool over_groups;
    const frz_thinning *thinning; /* outlives the reader, which need not do it; NULL: all rows */
} frz_read_request;

/* What pruning inside a file left out, and by what it was proven. */
typedef struct frz_prune_report {
    int64_t groups; /* row groups that the ranges touch */
    int64_t groups_by_statistics;
    int64_t groups_by_dictionary;
    int64_t groups_by_bloom;
    int64_t pages_by_index; /* pages of the filter's columns, by the page index */
    int64_t rows;           /* of the ranges */
    int64_t rows_left;      /* of the ranges that came out */
} frz_prune_report;

typedef struct frz_prune_request {
    const frz_bound_expr *filter; /* bound to the table's, or the file's, field ids */
    /* Top-level fields that are read from this file, with the types they are read as: the filter's
     * other fields (a column file has newer values of them) prove nothing. */
    const frz_type *provided;
    const frz_row_range *ranges; /* NULL: all rows */
    size_t range_count;
} frz_prune_request;

/* An open data, column or manifest file; immutable, may serve several readers at once. */
typedef struct frz_data_file frz_data_file;
typedef struct frz_data_reader frz_data_reader;

typedef struct frz_format_model {
    const char *name;     /* "parquet" */
    const uint8_t *magic; /* first bytes of a file */
    size_t magic_size;
    frz_code (*open)(const frz_env *env, frz_file *file /* moves, also on failure */,
                     frz_data_file **out, frz_error *err);
    void (*close)(frz_data_file *file);
    int64_t (*row_count)(const frz_data_file *file);
    /* The file's own schema as Iceberg types in the file's arena; FRZ_ID_NONE where the file has
     * none. */
    const frz_type *(*schema)(const frz_data_file *file);
    /* The value of a key of the file's own metadata; ptr NULL: there is none. */
    frz_str (*metadata)(const frz_data_file *file, frz_str key);
    /* Row numbers at which the file's row groups end, ascending. */
    const int64_t *(*group_ends)(const frz_data_file *file, size_t *count);
    /* Byte offsets at which they begin, as split_offsets of manifests have them; NULL: the format
     * has no row groups. */
    const int64_t *(*group_starts)(const frz_data_file *file, size_t *count);
    /* type: the file's schema with ids filled in (name mapping), or schema() itself. */
    frz_code (*read)(const frz_data_file *file, const frz_type *file_type,
                     const frz_read_request *request, frz_data_reader **out, frz_error *err);
    frz_code (*next)(frz_data_reader *reader, frz_batch *out, frz_error *err);
    void (*close_reader)(frz_data_reader *reader);
    /* As frz_data_file_prune; NULL: the format cannot. */
    frz_code (*prune)(const frz_data_file *file, const frz_type *file_type,
                      const frz_prune_request *request, frz_arena *arena, frz_row_range **out,
                      size_t *count, frz_prune_report *report, frz_error *err);
} frz_format_model;

/* ---- the registry (format_registry.c) ---- */

/* The format by name, case-insensitive; FRZ_E_UNSUPPORTED "no reader for format orc". */
frz_code frz_format_by_name(frz_str name, const frz_format_model **out, frz_error *err);

/* Open a file by its magic bytes. If a mapping is given, fields without an id get theirs from it.
 * location is the resolved one. */
frz_code frz_data_file_open(const frz_env *env, const char *location,
                            const frz_name_mapping *mapping, frz_data_file **out, frz_error *err);
/* The same of an open file, which moves, also on failure. */
frz_code frz_data_file_open_in(const frz_env *env, frz_file *source,
                               const frz_name_mapping *mapping, frz_data_file **out,
                               frz_error *err);
void frz_data_file_close(frz_data_file *file); /* NULL is fine */
int64_t frz_data_file_row_count(const frz_data_file *file);
uint64_t frz_data_file_size(const frz_data_file *file);
const char *frz_data_file_location(const frz_data_file *file);
/* The schema with ids as opened (mapping applied). */
const frz_type *frz_data_file_type(const frz_data_file *file);
bool frz_data_file_has_field(const frz_data_file *file, int32_t field_id); /* top level */
/* The value of a key of the file's own metadata, such as "schema" and "partition-spec-id" of a
 * manifest: a view that lives as long as the file. False if there is none. */
bool frz_data_file_metadata(const frz_data_file *file, const char *key, frz_str *value);
const int64_t *frz_data_file_group_ends(const frz_data_file *file, size_t *count);
/* NULL: the format has no row groups. */
const int64_t *frz_data_file_group_starts(const frz_data_file *file, size_t *count);
const frz_format_model *frz_data_file_model(const frz_data_file *file);

/* The rows, as sorted disjoint ranges inside those asked for, outside of which the file's own
 * statistics and indexes prove that the filter is not true. Ranges live in the arena; counts are
 * added to the report. */
frz_code frz_data_file_prune(const frz_data_file *file, const frz_prune_request *request,
                             frz_arena *arena, frz_row_range **out, size_t *count,
                             frz_prune_report *report, frz_error *err);

frz_code frz_data_reader_open(const frz_data_file *file, const frz_read_request *request,
                              frz_data_reader **out, frz_error *err);
/* FRZ_END after the last batch. The caller releases the batch's array, which has no rows if all
 * were left out. */
frz_code frz_data_reader_next(frz_data_reader *reader, frz_batch *out, frz_error *err);
/* Whether rows are left out as asked for. */
bool frz_data_reader_thins(const frz_data_reader *reader);
void frz_data_reader_close(frz_data_reader *reader); /* NULL is fine */

/* The ranges of a request, or that of all rows, in an arena. FRZ_E_ARGUMENT if they are not in
 * order or not inside the file. */
frz_code frz_row_ranges_copy(const frz_data_file *file, const frz_read_request *request,
                             frz_arena *arena, const frz_row_range **out, size_t *count,
                             frz_error *err);

/* First member of every implementation's struct. */
struct frz_data_file {
    const frz_format_model *model;
    const frz_env *env;
    frz_file *file;
    const frz_type *type; /* ids as opened */
    frz_arena mapped;     /* holds type if a mapping was applied */
};
struct frz_data_reader {
    const frz_format_model *model;
    const frz_data_file *file;
    bool thins; /* leaves rows out as asked for */
};

#endif
