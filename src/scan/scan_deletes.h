/*
 * scan: which rows of data files are deleted in a snapshot: by deletion vectors, position delete
 * files and equality delete files. spec: Scan Planning, Delete Formats; deletion_vector of v4
 */
#ifndef FRZ_SCAN_DELETES_H
#define FRZ_SCAN_DELETES_H

#include "expr/expr.h"
#include "format/puffin/puffin_positions.h"
#include "meta/meta_tree.h"

typedef struct frz_delete_options {
    const frz_schema *schema;     /* that is read */
    const frz_bound_expr *filter; /* deletes of rows that it does not let through may be left out;
                                     NULL: none are */
    int64_t added_by;             /* only delete files that this snapshot added; 0: all */
    size_t position_bytes; /* about, of positions that are kept for later files; 0: 256 MiB */
    size_t key_bytes;      /* about, of keys held at once; 0: 512 MiB */
} frz_delete_options;

/* False: no rows are deleted but those of the entries' own deletion vectors. */
bool frz_tree_has_delete_files(const frz_tree *tree);

/* The delete files of a snapshot. Used by one thread at a time. */
typedef struct frz_delete_index frz_delete_index;

/* Read the delete manifests. Delete files are read when a data file is first asked for that they
 * apply to. table, tree and what the options point to must outlive the index. */
frz_code frz_delete_index_open(const frz_table *table, const frz_tree *tree,
                               const frz_delete_options *options, frz_delete_index **out,
                               frz_error *err);
/* The same of entries that are given, which must outlive the index. */
frz_code frz_delete_index_of(const frz_table *table, const frz_entry *const *entries, size_t count,
                             const frz_delete_options *options, frz_delete_index **out,
                             frz_error *err);
void frz_delete_index_free(frz_delete_index *index); /* NULL is fine */
/* The fields that equality deletes compare: their statistics in data entries tell which apply. */
frz_code frz_delete_index_keys(const frz_delete_index *index, frz_arena *arena, const int32_t **ids,
                               size_t *count, frz_error *err);
/* A delete file, or a vector of a delete manifest, that applies to a data file. */
typedef struct frz_applied_delete {
    const frz_entry *entry; /* lives as long as the index */
    frz_str data_file;      /* the only one that it is for, as recorded; ptr NULL: many */
    bool is_new;            /* not listed for another data file before */
} frz_applied_delete;

/* What applies to a data file besides its own deletion vector; none of it is read. The list lives
 * in the arena. */
frz_code frz_delete_index_list(frz_delete_index *index, const frz_entry *entry, frz_arena *arena,
                               const frz_applied_delete **out, size_t *count, frz_error *err);
/* Delete files, and vectors of delete manifests, read so far. */
int64_t frz_delete_index_files(const frz_delete_index *index);

/* ---- one data file ---- */

typedef struct frz_file_deletes frz_file_deletes;

/* What deletes rows of a data file; NULL if nothing does. It is freed before the index is asked
 * again. index NULL: there are no delete files, only the entry's own deletion vector counts. */
frz_code frz_file_deletes_find(frz_delete_index *index, const frz_table *table,
                               const frz_entry *entry, frz_file_deletes **out, frz_error *err);
void frz_file_deletes_free(frz_file_deletes *deletes); /* NULL is fine */
/* Rows deleted by position; NULL: none. Rows behind the end of the file may be among them. */
const frz_positions *frz_file_deletes_positions(const frz_file_deletes *deletes);
/* The projection and behind it what else must be read so that keys can be compared: it itself if
 * that is nothing. */
frz_code frz_file_deletes_read_type(const frz_file_deletes *deletes, const frz_type *projection,
                                    frz_arena *arena, const frz_type **out, frz_error *err);
/* The top-level fields of the read type that keys are in, maybe one of them twice; the list lives
 * in the arena. */
frz_code frz_file_deletes_columns(const frz_file_deletes *deletes, const frz_type *read_type,
                                  frz_arena *arena, const size_t **out, size_t *count,
                                  frz_error *err);
/* Clear the bits of deleted rows: bit i is row i of the batch, which has the read type. Up to eight
 * bytes behind the bits may be touched. Several threads may do so at once. */
frz_code frz_file_deletes_clear(const frz_file_deletes *deletes, const frz_type *read_type,
                                const frz_batch *batch, uint8_t *bits, frz_error *err);

#endif
