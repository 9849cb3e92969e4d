/*
 * files: how data files come to be. Rows of any source go to the files of their partitions; the
 * rows of a data file that are left, or have new values, become another one.
 */
#ifndef FRZ_FILES_H
#define FRZ_FILES_H

#include "expr/expr.h"
#include "format/parquet/parquet.h"
#include "scan/scan_live.h"
#include "type/type_value.h"
#include "write/write_commit.h"

/* ---- partition tuples (files_partition.c) ---- */

typedef struct frz_partition_part {
    int32_t field_id;
    frz_transform transform;
    const frz_type *source; /* NULL: void, always null */
    const frz_type *result;
    const size_t *path; /* of the source: indices of fields, from the table's struct down */
    size_t depth;
} frz_partition_part;

typedef struct frz_partitioning {
    int32_t spec_id; /* -1: one partition has all rows */
    frz_partition_part *fields;
    size_t field_count;
} frz_partitioning;

/* How the default spec of a table takes its rows apart, in the arena. FRZ_E_UNSUPPORTED for
 * transforms that have no values here. */
frz_code frz_partitioning_of(const frz_metadata *metadata, const frz_type *table, frz_arena *arena,
                             frz_partitioning *out, frz_error *err);
/* The tuple of a row: values has room for one for each field, bytes are the batch's. key receives
 * bytes that equal tuples have in common. */
frz_code frz_partition_tuple(const frz_partitioning *partitioning, const struct ArrowArray *batch,
                             int64_t row, frz_value *values, frz_buf *key, frz_error *err);

/* ---- files of rows (files_rows.c, files_entry.c) ---- */

/* A finished data file; all of it lives in the arena of the files. */
typedef struct frz_row_file {
    frz_str location;
    frz_parquet_written written;
    const frz_partition_value *partition; /* one for each field of the spec */
} frz_row_file;

typedef struct frz_row_files frz_row_files;

typedef struct frz_row_files_options {
    const frz_type *type; /* of the table; must outlive the files, as must the partitioning */
    const frz_partitioning *partitioning;
    frz_parquet_write_options write;
    int64_t target_bytes; /* a file that has so many is ended */
} frz_row_files_options;

/* Files are tracked by the attempt; the list of them lives in the arena. */
frz_code frz_row_files_new(const frz_commit_attempt *attempt, const frz_row_files_options *options,
                           frz_arena *arena, frz_row_files **out, frz_error *err);
/* Those that are still open are removed. NULL is fine. */
void frz_row_files_free(frz_row_files *files);
frz_code frz_row_files_write(frz_row_files *files, const struct ArrowArray *batch, frz_error *err);
/* End those that are open. The list lives in the arena. */
frz_code frz_row_files_finish(frz_row_files *files, const frz_row_file **out, size_t *count,
                              frz_error *err);

/* Of rows that were in the table before, in the arena: its columns, then the lineage. */
frz_code frz_carried_type(frz_arena *arena, const frz_type *table, const frz_type **out,
                          frz_error *err);
/* Plan that a file joins the table. */
frz_code frz_row_file_plan(const frz_commit_attempt *attempt, const frz_partitioning *partitioning,
                           const frz_row_file *file, const frz_metrics_config *metrics,
                           frz_commit_plan *plan, frz_error *err);

/* ---- providers (files_provider.c) ---- */

/* Parts of an entry: 0 is the base, i + 1 its column file i. */
#define FRZ_PART_MIXED SIZE_MAX

/* The part that provides a whole top-level field, or FRZ_PART_MIXED if a struct's fields are in
 * several. A struct whose own id alone is listed is stored there as a whole. */
frz_code frz_entry_part(const frz_entry *entry, const frz_field *field, size_t *part,
                        frz_error *err);

/* What a column file with these fields lists, ascending: a struct with all below it that is not
 * inside a list or map, but nothing that is never stored, because its type is unknown or it has
 * only such below: its type may change, and then what is listed must be there. spec: field_ids */
frz_code frz_column_file_ids(const frz_type *type, frz_arena *arena, int32_t **ids, size_t *count,
                             frz_error *err);

/* The same files with the same live fields, in the same order. */
bool frz_same_column_files(const frz_entry *a, const frz_entry *b);

/* ---- rows that are left of a data file (files_live.c) ---- */

typedef struct frz_live_rows {
    frz_live live;
    const frz_positions *deleted; /* those told by position; NULL: none */
    uint8_t *bits;                /* one for each row; NULL: all are left */
    int64_t record_count, count;  /* of the file; left of it */
} frz_live_rows;

/* Find them. index NULL: there are no delete files. Reset also after a failure. */
frz_code frz_live_rows_find(const frz_table *table, const frz_entry *entry, frz_delete_index *index,
                            frz_arena *arena, frz_live_rows *rows, frz_error *err);
/* All but those that are given (NULL: none), which must outlive them. */
frz_code frz_live_rows_of(const frz_env *env, const frz_positions *deleted, int64_t record_count,
                          frz_live_rows *rows, frz_error *err);
void frz_live_rows_reset(frz_live_rows *rows);
/* Leave more of them out. */
frz_code frz_live_rows_remove(frz_live_rows *rows, const int64_t *positions, size_t count,
                              frz_error *err);
/* What a reader of the data file must be told. */
void frz_live_rows_request(const frz_live_rows *rows, frz_stitch_request *request);
/* How many of a range are left. */
int64_t frz_live_rows_count(const frz_live_rows *rows, frz_row_range range);
/* Take the others out of a column that begins with row first_row. */
frz_code frz_live_rows_pick(const frz_live_rows *rows, const frz_type *type, int64_t first_row,
                            struct ArrowArray *array, frz_error *err);

/* Rows of a data file by position, in the making. Zero bytes are an empty list. */
typedef struct frz_row_list {
    int64_t *rows;
    size_t count, capacity;
} frz_row_list;

frz_code frz_row_list_add(const frz_env *env, frz_row_list *list, int64_t row, frz_error *err);
/* Those that are deleted by position already. What delete files say of rows behind the end means
 * nothing. */
frz_code frz_row_list_add_deleted(const frz_env *env, frz_row_list *list, const frz_live *live,
                                  int64_t record_count, frz_error *err);
void frz_row_list_reset(const frz_env *env, frz_row_list *list);

/* ---- rows that a condition selects (files_match.c) ---- */

/* A condition bound to a schema. */
typedef struct frz_condition {
    frz_bound_expr *filter;    /* NULL: all rows */
    const frz_type *read_type; /* what it reads, in the arena */
} frz_condition;

/* where NULL: all rows. Reset also after a failure. */
frz_code frz_condition_bind(const frz_env *env, const frz_expr *where, const frz_schema *schema,
                            frz_arena *arena, frz_condition *out, frz_error *err);
void frz_condition_reset(frz_condition *condition);
/* Add the live rows of an entry that match, in their order; only what the condition reads is read.
 * It is not for all rows. */
frz_code frz_match_rows(const frz_table *table, const frz_entry *entry, const frz_live *live,
                        const frz_condition *condition, frz_row_list *rows, frz_error *err);

/* ---- a data file written anew (files_rewrite.c, files_entry.c) ---- */

/* The new file. All memory is in the arena it was made with. */
typedef struct frz_rewritten {
    const char *location; /* absolute; NULL: no row was left, and no file was written */
    int64_t record_count;
    int64_t file_size;
    const int64_t *split_offsets;
    size_t split_count;
    frz_field_stats *stats; /* of every field known; the metrics configuration is not applied */
    size_t stats_count;
    int32_t *field_ids; /* of a column file: what it provides; else NULL */
    size_t field_id_count;
} frz_rewritten;

/* Write the rows that are left, as the entry describes them with its column files, into a new data
 * file, and track it. Rows with the attempt's own sequence number are new: the file does not
 * say so itself, but its entry does. */
frz_code frz_rewrite_file(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const frz_live_rows *rows, const frz_parquet_write_options *options,
                          bool durable, frz_arena *arena, frz_rewritten *out, frz_error *err);
/* Plan that it takes the place of an entry (NULL: of none), whose partition and order it has unless
 * others are given by like. */
frz_code frz_rewritten_plan(const frz_commit_attempt *attempt, const frz_entry *before,
                            const frz_entry *like, const frz_rewritten *file,
                            const frz_metrics_config *metrics, frz_commit_plan *plan,
                            frz_error *err);
/* Write all that an entry's column files provide into one column file, for every row, and track it.
 * Values, and numbers of last updates, are written as they read now. */
frz_code frz_join_column_files(const frz_commit_attempt *attempt, const frz_entry *entry,
                               const frz_parquet_write_options *options, bool durable,
                               frz_arena *arena, frz_rewritten *out, frz_error *err);
/* Plan that it takes the place of an entry's column files. */
frz_code frz_joined_plan(const frz_commit_attempt *attempt, const frz_entry *before,
                         const frz_rewritten *file, frz_commit_plan *plan, frz_error *err);
/* ---- several data files become fewer (files_combine.c) ---- */

/* Write the rows that are left of entries of one partition, one after the other, into new data
 * files, and track them. Of the options type and partitioning are not looked at. The list lives in
 * the arena. */
frz_code frz_combine_files(const frz_commit_attempt *attempt, const frz_entry *const *entries,
                           size_t count, frz_delete_index *deletes,
                           const frz_row_files_options *options, frz_arena *arena,
                           const frz_row_file **out, size_t *out_count, frz_error *err);

/* Bytes of an entry's base and column files. */
int64_t frz_entry_bytes(const frz_entry *entry);

/* A copy of what frz_same_content looks at, to compare it with an entry of a later attempt. */
frz_code frz_entry_identity(frz_arena *arena, const frz_entry *entry, frz_entry *out,
                            frz_error *err);
/* The same rows with the same values in the same files. Delete files are not looked at: they can
 * only be fewer later. */
bool frz_same_content(const frz_entry *a, const frz_entry *b);

/* ---- what is used again when another writer was first (files_results.c) ---- */

/* What became of one entry. */
typedef struct frz_rewrite_result {
    frz_entry source; /* its identity */
    int32_t schema_id;
    int64_t rows; /* the caller's */
    frz_rewritten file;
} frz_rewrite_result;

/* Those of all attempts, by location. */
typedef struct frz_rewrite_results {
    const frz_env *env;
    frz_arena arena;
    frz_rewrite_result *list;
    size_t count, capacity;
    size_t sorted; /* so many come from earlier attempts */
} frz_rewrite_results;

void frz_rewrite_results_init(frz_rewrite_results *results, const frz_env *env);
void frz_rewrite_results_reset(frz_rewrite_results *results);
/* Before each attempt. */
void frz_rewrite_results_sort(frz_rewrite_results *results);
/* That of an earlier attempt, if the entry and the schema are still the same; or NULL. */
const frz_rewrite_result *frz_rewrite_results_find(const frz_rewrite_results *results,
                                                   const frz_entry *entry, int32_t schema_id);
/* Keep one more, of which the file is in the results' arena; *out is valid until the next call. */
frz_code frz_rewrite_results_add(frz_rewrite_results *results, const frz_entry *entry,
                                 int32_t schema_id, const frz_rewritten *file, int64_t rows,
                                 const frz_rewrite_result **out, frz_error *err);

#endif
