/*
 * What the files of column_update share among themselves.
 */
#ifndef FRZ_COLUMN_UPDATE_INTERNAL_H
#define FRZ_COLUMN_UPDATE_INTERNAL_H

#include "expr/expr.h"
#include "files/files_cost.h"
#include "frazil/merge.h"
#include "source/source.h"

/* ---- the statement, bound to one version of the table (column_update_bind.c) ---- */

typedef struct update_assignment {
    frz_str column;
    const frz_expr *expr;   /* as parsed; NULL, of an INSERT: the column's default */
    const frz_expr *scoped; /* with names that mean columns of one table; NULL: the same */
    bool identical;         /* one of "*", and values of both types that are equal are the same */
    const frz_field *field;
    frz_bound_expr *bound;
} update_assignment;

/* Field ids, ascending. */
typedef struct update_ids {
    int32_t *ids;
    size_t count;
} update_ids;

typedef struct update_source update_source;
typedef struct update_merge update_merge;

/* The types and id lists depend on the schema and are made anew for each attempt. */
typedef struct update_plan {
    const frz_env *env;
    frz_arena arena;                /* of the binding */
    update_assignment *assignments; /* once bound, in ascending order of field ids */
    size_t assignment_count;
    const frz_expr *where;      /* NULL: all rows */
    update_source *source;      /* values come from outside, too; NULL: they do not */
    update_merge *merge;        /* its clauses make the assignments; NULL: an UPDATE */
    const frz_expr *condition;  /* what of it every row is asked; NULL: nothing */
    frz_bound_expr *filter;     /* the same, bound */
    frz_bound_expr *prune;      /* what of it speaks of the table alone, with a source */
    bool carries;               /* rows may be left as they are */
    const frz_type *read_type;  /* all that computing needs, and old values to carry over */
    const frz_type *find_type;  /* what of it tells which rows are updated */
    const frz_type *carry_type; /* old values alone: the assigned fields, then the lineage */
    const frz_type *write_type; /* the column file: assigned fields, then the lineage column */
    update_ids written;         /* what it lists: of these all that is stored, the lineage */
    update_ids schema_ids;      /* every field that a column file may list, the lineage aside */
    int32_t *depends_ids;       /* top-level ids whose values the result depends on */
    size_t depends_count;
    frz_metrics_config metrics;
} update_plan;

/* Parse the statement into an arena that outlives the plan. */
frz_code update_plan_parse(update_plan *plan, frz_arena *arena, const frz_assignment *assignments,
                           size_t count, const char *where, frz_error *err);
frz_code update_plan_bind(update_plan *plan, const frz_metadata *metadata, const frz_schema *schema,
                          frz_error *err);
void update_plan_unbind(update_plan *plan);
/* What rules out data files; NULL: nothing does. */
const frz_bound_expr *update_prune(const update_plan *plan);

/* A statement in words. */
typedef struct update_words {
    const frz_assignment *assignments;
    size_t assignment_count;
    const char *where;               /* MERGE: ON */
    const frz_merge_clause *clauses; /* of a MERGE, instead of assignments */
    size_t clause_count;
} update_words;

/* Parse it into an arena that outlives the plan. merge: room for one, used by a MERGE. */
frz_code update_words_parse(const update_words *words, update_plan *plan, update_merge *merge,
                            frz_arena *arena, frz_error *err);

/* ---- values from outside (column_update_source.c) ---- */

/* Files as a source of tasks, which are run where there is nothing but files. */
typedef struct update_files {
    const char *name;             /* what expressions call it */
    const frz_str *table_parts;   /* what they call the table */
    const char *const *locations; /* absolute */
    const int64_t *sizes;         /* of each, in bytes */
    size_t table_part_count, count;
    const frz_type *columns; /* that expressions name; NULL: all of the first file */
} update_files;

/* How rows of a source and of the table belong together: by a condition, or by their position. */
struct update_source {
    const frz_env *env;
    frz_source rows;
    const frz_str *table_parts; /* what the table is called in expressions */
    size_t table_part_count;
    bool by_position;
    bool unread;          /* bound, but rows are read elsewhere: there is no join */
    frz_join *join;       /* made by the first attempt; by position: NULL */
    int32_t schema_id;    /* of the table that it was made for */
    frz_arena arena;      /* of what the join is made of */
    const frz_type *used; /* the columns that are read; in the arena */
    frz_field field;      /* what they are for expressions: one struct */
    /* for each attempt */
    frz_bound_expr **keys; /* of the table */
    size_t key_count;
    const frz_bound_expr *guard; /* the plan's filter of rows whose keys are computed; NULL: all */
    const frz_type *key_type;    /* what keys and guard read */
    frz_join_target target;
    /* by position: rows that were read, and so far were not used */
    struct ArrowArray batch;
    int64_t done;
    int64_t used_rows;
};

/* What expressions call a table: name, or if that is NULL its own one. */
frz_code update_table_parts(frz_arena *arena, const char *table, const char *name,
                            const frz_str **out, size_t *count, frz_error *err);
/* name NULL: the table is called by its own name. Reset also after a failure. */
frz_code update_source_init(update_source *source, frz_catalog *catalog, const char *table,
                            const char *name, const frz_row_source *rows, frz_error *err);
/* The same of files, which outlive it. */
frz_code update_source_init_files(update_source *source, const frz_env *env,
                                  const update_files *files, frz_error *err);
/* Between attempts: if the source is the table that is changed, it is the version that the next one
 * changes. moved: nothing that was computed with the former one holds. */
frz_code update_source_follow(update_source *source, const frz_table *newest, bool *moved,
                              frz_error *err);
/* Split a condition (NULL: none) and give expressions one table to be bound to. */
frz_code update_source_bind(update_plan *plan, const frz_schema *schema, const frz_type *readable,
                            const frz_type *projectable, const frz_type **bind_type,
                            frz_error *err);
/* A type of columns of the table and behind them the source's. */
frz_code update_source_type(const update_source *source, frz_arena *arena, const frz_type *type,
                            const frz_type **out, frz_error *err);
void update_source_unbind(update_source *source);
void update_source_reset(update_source *source);
/* Before rows of data files are asked for. Not by position. */
frz_code update_source_match(update_source *source, const frz_table *table,
                             const frz_entry *const *entries, size_t count,
                             frz_delete_index *deletes, frz_error *err);
/* Before data files are computed, and after: in this order, each once. read_type: of any of them.
 */
frz_code update_source_start(update_source *source, const frz_commit_attempt *attempt,
                             const frz_entry *const *entries, size_t count,
                             frz_delete_index *deletes, const frz_type *read_type, frz_error *err);
frz_code update_source_finish(update_source *source, const frz_commit_attempt *attempt,
                              frz_error *err);
/* The rows of the source that belong to a batch of one of the files, by its place. */
frz_code update_source_rows(update_source *source, size_t place, const frz_type *batch_type,
                            const frz_batch *batch, const uint8_t *live, frz_joined *out,
                            frz_error *err);

/* The same by position (column_update_position.c); at the end no row may be left. */
frz_code update_position_rows(update_source *source, const frz_batch *batch, const uint8_t *live,
                              frz_joined *out, frz_error *err);
frz_code update_position_end(update_source *source, frz_error *err);
/* These rows of it were used. */
void update_source_mark(update_source *source, const frz_joined *joined, const uint8_t *selected,
                        int64_t rows);
/* None is used so far, for another attempt. */
void update_source_forget(update_source *source);
/* These are, by number. */
void update_source_mark_all(update_source *source, const frz_positions *numbers);
/* Rows that were read, and those of them that no row of the table has used. */
void update_source_count(const update_source *source, int64_t *rows, int64_t *unmatched);

/* ---- MERGE (column_update_merge.c) ---- */

typedef struct update_clause {
    frz_merge_when when;
    frz_merge_action action;
    bool all;                  /* "*": the assignments are made for each attempt */
    const frz_expr *expr;      /* the condition as parsed; NULL: none */
    const frz_expr *condition; /* with names that mean columns of one table */
    update_assignment *assignments;
    size_t assignment_count;
} update_clause;

struct update_merge {
    update_clause *clauses;
    size_t clause_count;
    bool inserts, by_source; /* there are such clauses */
    /* for each attempt */
    frz_str column;                    /* the struct that the source is */
    const frz_expr *const *equalities; /* of the keys */
    size_t equality_count;
    frz_bound_expr *updates, *deletes; /* of the rows that ON leaves */
    int64_t rows_inserted, rows_deleted;
};

/* Files of rows that MERGE inserts, of the last attempt that wrote any; in the job's arena. */
typedef struct update_inserts {
    const frz_row_file *made; /* NULL: none were written */
    size_t count;
    frz_partitioning partitioning;
    int32_t schema_id, default_spec_id;
    uint8_t *used; /* the rows of the source that were used, a bit for each */
} update_inserts;

frz_code update_merge_parse(update_merge *merge, frz_arena *arena, const frz_merge_clause *clauses,
                            size_t count, frz_error *err);
/* In this order, for each attempt. */
frz_code update_merge_scope(update_merge *merge, frz_arena *arena, const frz_type *table,
                            const frz_expr_scope *scope, frz_error *err);
frz_code update_merge_visit(const update_merge *merge, frz_str name,
                            frz_code (*visit)(void *ctx, frz_str field, frz_error *err), void *ctx,
                            frz_error *err);
frz_code update_merge_compile(update_plan *plan, const frz_type *table, const frz_type *bind_type,
                              frz_error *err);
void update_merge_unbind(update_merge *merge);
/* What the first clause that a row meets makes of it, as one expression. inserts: of the clauses of
 * rows of the source, else of those of the table's. */
frz_code update_merge_first(const update_merge *merge, bool inserts, frz_arena *arena,
                            frz_code (*result)(void *ctx, const update_clause *clause,
                                               const frz_expr **out, frz_error *err),
                            void *ctx, const frz_expr *otherwise, const frz_expr **out,
                            frz_error *err);
bool update_merge_has(const update_merge *merge, frz_merge_action action);
/* Whether each clause that updates (inserts: inserts) gives a column a constant. */
bool update_merge_gives_constant(const update_merge *merge, const frz_field *column, bool inserts);
/* What rows of the source would come to that nobody marked (column_update_insert.c). */
frz_code update_merge_count(update_plan *plan, const frz_table *table, const frz_schema *schema,
                            frz_arena *arena, frz_cost_inserts *out, frz_error *err);

/* ---- one data file as the statement sees it (column_update_read.c) ---- */

typedef struct update_reader {
    const update_plan *plan;
    const frz_table *table;
    const frz_entry *entry;
    frz_stitch *stitch;
    frz_live live;
    size_t place;              /* of the file among those that are computed */
    const frz_type *wanted;    /* the plan's read_type or find_type */
    const frz_type *read_type; /* that, and what finding deleted rows takes */
    const frz_type *eval_type; /* that, and the rows of a source */
    frz_arena arena;           /* of types */
    bool leaves_partition;     /* a new value does not belong to the entry's partition */
    frz_row_list removed;      /* rows that MERGE deletes, ascending */
    frz_row_list used;         /* numbers of rows of the source, in any order */
} update_reader;

/* The rows of a batch, a bitmap each; NULL: all. */
typedef struct update_rows {
    uint8_t *live;     /* not deleted */
    uint8_t *selected; /* live, and the statement's condition is true */
    int64_t selected_count;
} update_rows;

/* deletes NULL: the table has no delete files. Close also after a failure. place: of the file among
 * those that update_source_start was told; each is read once, in their order. */
frz_code update_reader_open(update_reader *reader, const update_plan *plan, const frz_table *table,
                            const frz_entry *entry, size_t place, frz_delete_index *deletes,
                            frz_error *err);
/* The same to find the rows, and with values also to see whether they leave their partition:
 * nothing else can be asked for. */
frz_code update_finder_open(update_reader *reader, const update_plan *plan, const frz_table *table,
                            const frz_entry *entry, size_t place, frz_delete_index *deletes,
                            bool with_values, frz_error *err);
/* FRZ_END after the last batch; the caller releases batch and rows, also after a failure. */
frz_code update_reader_next(update_reader *reader, frz_batch *batch, update_rows *rows,
                            frz_error *err);
void update_rows_reset(const frz_env *env, update_rows *rows);
/* New values in selected rows, old ones in the others, nulls in those that are deleted. */
frz_code update_reader_values(update_reader *reader, const update_assignment *assignment,
                              const frz_batch *batch, const update_rows *rows,
                              struct ArrowArray *out, frz_error *err);
/* Null where the row is updated, which then means this commit; the old number elsewhere. */
frz_code update_reader_lineage(const update_reader *reader, const frz_batch *batch,
                               const update_rows *rows, struct ArrowArray *out, frz_error *err);
void update_reader_close(update_reader *reader);
/* Of the selected rows, which ON matches, those that clauses update and delete. */
frz_code update_merge_select(update_reader *reader, frz_batch *batch, update_rows *rows,
                             frz_error *err);

/* ---- required fields (column_update_required.c) ---- */

/* A field at any depth of an assigned column that is required, and null in a live row (NULL: all
 * are) that has what is around it; NULL: there is none. */
const frz_field *update_lacks(const frz_field *field, const struct ArrowArray *array,
                              const uint8_t *live);

/* ---- its column file (column_update_file.c) ---- */

/* What became of one data file: a column file, rows that moved, rows that are gone. */
typedef struct update_result {
    char *location; /* absolute, of the column file; NULL: there is none */
    int64_t bytes;
    frz_positions *moved;   /* merge-on-read: the rows that its deletion vector has afterwards;
                               NULL: nothing happened to it */
    int64_t rows;           /* updated */
    int64_t record_count;   /* of the data file */
    frz_field_stats *stats; /* of the assigned fields, in the result's arena */
    size_t stats_count;
    frz_positions *removed; /* rows that MERGE deletes; NULL: none */
    frz_positions *used;    /* rows of the source that rows have used; NULL: none */
    frz_positions *deleted; /* rows that delete files delete, or the entry's own vector; NULL: the
                               entry's vector tells all */
    bool leaves_partition;  /* the entry's partition tuple does not hold any more */
    frz_arena arena;
} update_result;

void update_result_reset(const frz_env *env, update_result *result);
/* Rows of the data file have new values, or are gone. */
static inline bool update_result_changes(const update_result *result)
{
    return result->location != NULL || result->moved != NULL || result->removed != NULL;
}
/* What a reader noted, all of whose rows were read. */
frz_code update_result_take(update_reader *reader, update_result *result, frz_error *err);
/* Compute and write. deletes NULL: the table has no delete files. place: of the file among those
 * that are computed. */
frz_code update_file(const update_plan *plan, const frz_commit_attempt *attempt,
                     const frz_entry *entry, size_t place, frz_delete_index *deletes,
                     bool sync_each, update_result *out, frz_error *err);

/* ---- partitions and sort orders (column_update_partition.c) ---- */

/* Does the statement write the field? */
bool update_is_written(const update_plan *plan, int32_t field_id);
/* True unless a live row (NULL: all are) of an assigned column does not belong to the entry's
 * partition. */
bool update_keeps_partition(const update_plan *plan, const frz_metadata *metadata,
                            const frz_entry *entry, const frz_field *column,
                            const struct ArrowArray *array, const uint8_t *live);
/* True if the partition of an entry depends on an assigned column. */
bool update_touches_partition(const update_plan *plan, const frz_metadata *metadata,
                              const frz_entry *entry);
/* True if rows that were in this order may not be any more. */
bool update_touches_order(const update_plan *plan, const frz_metadata *metadata, int32_t order_id);

/* ---- the statement at work ---- */

/* Rows that moved to new data files. */
typedef struct update_moves {
    const frz_type *type; /* what the files store; it and the rest are in the job's arena */
    int32_t default_spec_id;
    frz_partitioning partitioning;
    frz_row_files *open; /* of this attempt; NULL: no row moved */
    frz_row_file *made;  /* by all attempts */
    size_t made_count, made_capacity;
} update_moves;

/* A data file that was computed, and what its entry looked like. Copies are in the job's arena. */
typedef struct update_done {
    frz_entry of; /* the identity */
    int32_t schema_id;
    int64_t planned; /* a task's: sequence number of the version that it was planned for */
    update_result result;
    frz_rewritten rewritten; /* copy-on-write: the new data file */
} update_done;

typedef struct update_job {
    const frz_env *env;
    frz_arena arena;
    update_plan plan;
    update_done *done;
    size_t done_count, done_capacity;
    size_t sorted;       /* so many come from earlier attempts, in order of location */
    frz_write_mode mode; /* of all attempts */
    frz_commit_scope scope;
    bool apart;            /* results are those of tasks: nothing is computed here */
    update_source outside; /* of tasks, which plan.source points to if they have one */
    update_moves moves;
    update_inserts inserts;
} update_job;

/* One attempt of it. */
typedef struct update_attempt {
    update_job *job;
    const frz_commit_attempt *commit;
    frz_commit_plan *plan;
    frz_live_files files;
    size_t computed; /* of them, so far */
    frz_commit_vectors vectors;
    bool sync_each;           /* files are synced one by one */
    const frz_entry *missing; /* apart: the first data file whose task must run again */
    const char *missing_why;
    size_t missing_count;
} update_attempt;

/* ---- the builder of the commit loop (column_update_run.c) ---- */

/* Without a statement: update_plan_parse into the job's arena. */
void update_job_init(update_job *job, const frz_env *env);
void update_job_reset(update_job *job);
/* A frz_commit_build; ctx is the job. */
frz_code update_job_build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                          frz_error *err);

/* ---- results, and what of them still holds (column_update_done.c) ---- */

/* Let all be found that were added. */
void update_done_sort(update_job *job);
/* The same; of several results of one data file only that of the newest plan is left. */
void update_done_keep_newest(update_job *job);

/* A result of an earlier attempt, or NULL: within one attempt each data file comes once. */
update_done *update_done_find(const update_job *job, const frz_entry *entry);
/* A place to keep the result of a data file, empty or with an outdated result dropped. */
frz_code update_done_new(update_job *job, const frz_commit_attempt *attempt, const frz_entry *entry,
                         update_done **out, frz_error *err);
/* The same for a result that comes from elsewhere. */
frz_code update_done_add(update_job *job, int32_t schema_id, const frz_entry *entry,
                         update_done **out, frz_error *err);
/* The new values hold for the newest state of the entry. A result with nothing but the lineage,
 * which updates of columns of type unknown have, is no more than that: once it is old, it is
 * worthless. */
bool update_values_hold(const update_plan *plan, const update_done *done, int32_t schema_id,
                        const frz_entry *newest);
/* Nobody has written the assigned fields since. Results of tasks may be committed once more, long
 * after others have changed what they wrote, which must not be undone. */
bool update_written_stands(const update_plan *plan, const update_done *done,
                           const frz_entry *newest);
/* And so does the lineage column. */
bool update_lineage_holds(const update_done *done, const frz_entry *newest);
/* The rows are where they were, with the values that they had. */
bool update_done_same(const update_done *done, const update_attempt *a, const frz_entry *newest);
/* Whether there is no result of an earlier attempt that still holds. */
bool update_must_compute(const update_attempt *a, const frz_entry *entry);
/* All of them, and rows that moved; the commit loop removes files that are not used. */
void update_done_forget(update_job *job);
/* Count its rows for the report. */
void update_done_count(update_attempt *a, const update_done *done);

/* ---- results of tasks (column_update_task.c) ---- */

/* FRZ_E_EXISTS if the result is part of the entry already. */
frz_code update_check_new(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const update_done *done, frz_error *err);
/* The column files become the commit's, if they are there as the results say. */
frz_code update_adopt(const update_job *job, const frz_commit_attempt *attempt, frz_error *err);

/* ---- merge-on-read (column_update_move.c) ---- */

/* Before the entries of an attempt, behind them, and after success and failure; nothing to do in
 * other modes. */
frz_code update_moves_begin(update_attempt *a, frz_error *err);
frz_code update_moves_finish(update_attempt *a, frz_error *err);
void update_moves_end(update_moves *moves);
/* Move the rows of an entry that match, and plan their deletion where they were. */
frz_code update_move_entry(update_attempt *a, const frz_entry *entry, frz_error *err);

/* ---- rows that MERGE inserts (column_update_insert.c) ---- */

/* Write those of the source that no row of the table has used, unless they are the same as in an
 * earlier attempt, and plan that their files join the table. */
frz_code update_merge_insert(update_attempt *a, frz_error *err);
void update_inserts_reset(update_job *job);

/* ---- what it costs in each mode (column_update_estimate.c) ---- */

/* The mode that auto picks for these files. */
frz_code update_cheapest(update_plan *plan, const frz_table *table, const frz_schema *schema,
                         const frz_live_files *files, frz_arena *arena, frz_write_mode *out,
                         frz_error *err);

/* ---- another writer was first (column_update_lineage.c) ---- */

/* Write a column file with only the lineage column: null where the result's own column file is
 * null (rows that it updated), else what the newest entry says. location: free with frz_free. */
frz_code update_lineage_file(const update_plan *plan, const frz_commit_attempt *attempt,
                             const frz_entry *newest, const update_result *result, bool sync_each,
                             char **location, int64_t *bytes, frz_error *err);

/* ---- values that only a partition tuple has (column_update_unstored.c) ---- */

/* The identity columns that only the entry's tuple tells and the statement does not write,
 * ascending by id and optional as those of all column files; *out NULL: there is none. */
frz_code update_unstored_type(const update_plan *plan, const frz_table *table,
                              const frz_schema *schema, const frz_entry *entry, frz_arena *arena,
                              const frz_type **out, frz_error *err);
/* Write a column file of them. location: free with frz_free, also after a failure; NULL: there is
 * no such column. ids: of the columns, in the attempt's arena. */
frz_code update_unstored_file(const update_plan *plan, const frz_commit_attempt *attempt,
                              const frz_entry *entry, bool sync_each, char **location,
                              int64_t *bytes, update_ids *ids, frz_error *err);

/* ---- what changes on an entry (column_update_entry.c); all of it in the arena ---- */

/* Take ids out of all column files of an entry, and those that the schema has no more; drop files
 * that provide nothing any more, add new files; ordered by location. spec: writer procedure, step
 * 4; dropped columns */
frz_code update_column_files(frz_arena *arena, frz_entry *entry, const update_ids *schema,
                             const update_ids *gone, const frz_column_file *added,
                             size_t added_count, frz_error *err);

#endif
