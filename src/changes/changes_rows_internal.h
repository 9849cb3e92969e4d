/*
 * changes: what the two files of the stream of rows share: which files are read for what, and what
 * comes out of a batch.
 */
#ifndef FRZ_CHANGES_ROWS_INTERNAL_H
#define FRZ_CHANGES_ROWS_INTERNAL_H

#include "changes/changes_internal.h"
#include "type/type_value.h"

#define CHANGE_PASSES 3 /* of one file: rows that left, and updated ones before and after */
#define CHANGE_KINDS 2  /* of rows in one batch */

/* The file at hand. */
typedef struct change_work {
    frz_arena arena;
    change_deletes deletes;
    frz_positions *gone, *updated; /* NULL: none */
    const int32_t *changed;        /* top-level fields that an update in place gave new values */
    size_t changed_count;
    change_pass passes[CHANGE_PASSES];
    size_t pass_count, pass;
    frz_stitch *stitch; /* of the pass; NULL: not open */
    const frz_type *read_type;
} change_work;

typedef struct rows_stream {
    frz_table *table; /* owned reference */
    const frz_env *env;
    frz_arena arena;
    frz_changes_options opts;
    change_chain chain;
    size_t next;                 /* snapshot behind the one at hand */
    const frz_type *readable;    /* fields that can be read */
    const frz_type *output_type; /* columns about the change, then values */
    size_t value_start;          /* of the values, _row_id among them */
    bool is_whole;               /* no columns were asked for */
    bool *is_shown;              /* of each column of the schema, then: some row has a value */
    change_set *set;             /* the snapshot at hand; NULL: none */
    change_matches matches;
    size_t next_file;
    change_work work;
    struct ArrowArray ready[CHANGE_KINDS];
} rows_stream;

/* Batches of the rows of one read batch, one for each kind of change; some may stay empty
 * (changes_rows_out.c). */
frz_code change_rows_of_batch(const rows_stream *s, const frz_batch *batch,
                              struct ArrowArray out[CHANGE_KINDS], frz_error *err);

#endif
