/*
 * What the parts of a join share.
 *
 * Rows of the source, with their number as one more column behind their own, are kept in a hash
 * table (source_table.c) as long as they fit. If they do not, they go to files by the hash of their
 * key (source_spill.c), such that the rows of each file fit; a file that is still too large is
 * taken apart once more. Then the target's keys are read once for each file, and what was found is
 * written to a run, which has the order of the target's rows. Rows of all runs are put together as
 * the target is gone through.
 */
#ifndef FRZ_SOURCE_JOIN_H
#define FRZ_SOURCE_JOIN_H

#include "arrow/arrow_ipc.h"
#include "arrow/arrow_take.h"
#include "scan/scan_key_set.h"
#include "source/source.h"

#define JOIN_WAYS 16       /* files that rows are dealt to at a time */
#define JOIN_LEVELS_MAX 8  /* more would not tell keys apart that these do not */
#define JOIN_FILES_MAX 256 /* all are open; parts of a source beyond them take more memory */

/* ---- keys of a batch ---- */

typedef struct join_keys {
    const frz_env *env;
    frz_bound_expr *const *exprs;
    size_t count;
    struct ArrowArray *arrays;
    frz_key_column *columns;
    uint8_t *keyed; /* a bit for each row that has a key; NULL: those without nulls have */
} join_keys;

/* Evaluate them over a batch; reset before the next one. live: rows that matter, NULL: all. */
frz_code join_keys_init(join_keys *keys, const frz_env *env, frz_bound_expr *const *exprs,
                        size_t count, frz_error *err);
frz_code join_keys_eval(join_keys *keys, const frz_type *type, const struct ArrowArray *batch,
                        int64_t first, const uint8_t *live, frz_error *err);
/* Only rows of a bitmap (which moves) have a key, if it has no null. */
void join_keys_restrict(join_keys *keys, uint8_t *keyed, int64_t rows);
void join_keys_reset(join_keys *keys);
/* The key of a row for messages: "7", "(7, x)". */
frz_code join_keys_text(const join_keys *keys, int64_t row, frz_buf *out, frz_error *err);

/* ---- a table of rows in memory (source_table.c) ---- */

typedef struct join_table {
    const frz_env *env;
    const frz_type *type; /* struct: the columns, the number */
    frz_key_set *set;
    struct ArrowArray *batches;
    size_t count, capacity;
    int64_t rows;
    size_t bytes;             /* of the batches */
    struct ArrowArray values; /* all of them behind each other, and a null */
} join_table;

/* Add a batch (which moves, also on failure) and its keys. twice: see frz_key_set_number. */
frz_code join_table_add(join_table *table, struct ArrowArray *batch, const join_keys *keys,
                        int64_t *twice, frz_error *err);
/* Nothing is added any more. */
frz_code join_table_finish(join_table *table, frz_error *err);
void join_table_reset(join_table *table);
/* What a table of so many rows and bytes takes when it is finished. */
size_t join_table_bytes(int64_t rows, size_t bytes, size_t key_count);

/* ---- files (source_spill.c) ---- */

/* Rows of the source whose keys have something in common. */
typedef struct join_part {
    frz_scratch *file; /* NULL: no rows */
    ipc_sink *sink;    /* while it is written */
    int64_t rows;
    int level; /* how often its rows were dealt */
} join_part;

/* Matches in the order of the target's rows: file, row, number, columns. */
typedef struct join_run {
    uint64_t from, to; /* where it is among the others */
    ipc_sink *sink;    /* while it is written; NULL afterwards, too, if nothing was found */
    struct ArrowArrayStream stream; /* while it is read */
    struct ArrowArray batch;
    int64_t at; /* in the batch */
} join_run;

enum { RUN_FILE, RUN_ROW, RUN_NUMBER, RUN_VALUES };

/* ---- the join ---- */

struct frz_join {
    const frz_env *env;
    frz_source *source;
    frz_join_options options;
    frz_arena arena;
    const frz_type *type;     /* struct: the columns, the number */
    const frz_type *run_type; /* struct: file, row, number, values of that type */
    size_t memory;
    int64_t rows;
    uint8_t *marks; /* a bit for each row of the source */
    int64_t marked;
    join_table table;
    bool spilled;
    join_part *parts;
    size_t part_count, part_capacity;
    frz_scratch *run_file; /* of all runs, which are written one behind the other */
    join_run *runs;
    size_t run_count, run_capacity;
    struct ArrowArrayStream rest; /* the part that is read for rows that nobody marked, */
    size_t rest_part;             /* and the one behind it */
    int64_t rest_row;             /* of the table */
};

/* The rows of a batch of the source go to files; it stays the caller's. parts: JOIN_WAYS of them.
 */
frz_code join_spill_deal(frz_join *join, size_t first_part, const struct ArrowArray *batch,
                         const join_keys *keys, frz_error *err);
/* New parts for rows that were dealt so often; the first one's place. */
frz_code join_spill_open(frz_join *join, int level, size_t *first_part, frz_error *err);
frz_code join_spill_close(frz_join *join, size_t first_part, frz_error *err);
/* Match all parts with the target. */
frz_code join_spill_match(frz_join *join, const frz_join_target *target, frz_error *err);
/* Those of rows [first, first + count) of a file of the target: values, with a null behind them,
 * and for each of these rows its place among them. */
frz_code join_spill_rows(frz_join *join, size_t file, int64_t first, int64_t count, int64_t *places,
                         struct ArrowArray *values, frz_error *err);
void join_spill_forget_runs(frz_join *join);
void join_spill_reset(frz_join *join);
/* Read a part. */
frz_code join_part_open(const frz_join *join, const join_part *part, struct ArrowArrayStream *out,
                        frz_error *err);
frz_code join_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, frz_error *err);

/* A batch over which the source's expressions are evaluated: one struct, by reference. */
frz_code join_wrap(const frz_join *join, const struct ArrowArray *rows, struct ArrowArray *out,
                   frz_error *err);
/* Keys of a batch of the source, evaluated. */
frz_code join_source_keys(const frz_join *join, const struct ArrowArray *rows, int64_t first,
                          join_keys *out, frz_error *err);
/* Rows of a batch of the target that have keys: live ones (NULL: all) that the filter lets through.
 * A bit for each, free with frz_free; NULL: those that are live. */
frz_code join_target_keyed(const frz_join *join, const frz_join_target *target,
                           const frz_type *type, const frz_batch *batch, const uint8_t *live,
                           uint8_t **out, frz_error *err);
/* FRZ_E_ARGUMENT "several rows of s have the key 7" */
frz_code join_fail_twice(const frz_join *join, const join_keys *keys, int64_t row, frz_error *err);

#endif
