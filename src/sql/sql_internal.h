/*
 * What the parts of sql share: a parsed statement, and one function for each verb.
 */
#ifndef FRZ_SQL_INTERNAL_H
#define FRZ_SQL_INTERNAL_H

#include "expr/expr.h"
#include "frazil/merge.h"
#include "frazil/modes.h"
#include "frazil/scan.h"
#include "frazil/sql.h"
#include "frazil/stream.h"
#include "meta/meta_table.h"
#include "type/type_value.h"
#include "write/write_commit.h"

typedef enum sql_verb {
    SQL_SELECT,
    SQL_UPDATE,
    SQL_DELETE,
    SQL_INSERT,
    SQL_MERGE,
    SQL_ADD_COLUMN,
    SQL_RENAME_COLUMN,
    SQL_DROP_COLUMN,
    SQL_COLUMN_TYPE,
    SQL_COLUMN_OPTIONAL, /* DROP NOT NULL */
    SQL_SET_PROPERTIES,
    SQL_UNSET_PROPERTIES
} sql_verb;

/* An expression of a statement: the tree, and the text it was read from. */
typedef struct sql_expr {
    const frz_expr *tree; /* NULL: there is none */
    const char *text;     /* terminated */
} sql_expr;

typedef struct sql_item {
    bool star; /* every column of the table */
    sql_expr expr;
    frz_str name; /* given with AS; ptr NULL: none */
} sql_item;

typedef struct sql_set {
    const char *column;
    sql_expr value;
} sql_set;

/* Rows of a file or a table that a statement changes another table by. */
typedef struct sql_rows {
    const char *file, *table; /* one of them, or neither */
    const char *name;         /* what expressions call them; NULL: not said */
} sql_rows;

/* WHEN … THEN … */
typedef struct sql_when {
    frz_merge_clause clause;
    sql_set *sets; /* UPDATE: and INSERT, as assignments */
    size_t set_count, set_capacity;
} sql_when;

/* A parsed statement; lives in the arena it was parsed into. */
typedef struct sql_statement {
    sql_verb verb;
    bool explain;         /* tell what it would do instead of doing it */
    const char *into;     /* INSERT: the table; the rest is the SELECT */
    const char **columns; /* INSERT: those named behind the table; NULL: by name */
    size_t column_count, column_capacity;
    sql_expr *values; /* INSERT: row by row; without a tree: the column's default */
    size_t value_count, value_capacity, value_width;
    const char *file;        /* SELECT: what it reads from instead of a table; or NULL */
    const char *table;       /* as the catalog takes it: parts quoted where needed */
    const char *table_above; /* the same without its last part; NULL: it has one part */
    frz_str last_part;       /* perhaps the name of a view: "db.t.snapshots" */
    const char *table_name;  /* UPDATE: what expressions call the table; NULL: by its own name */
    sql_rows rows;           /* UPDATE: FROM, MERGE: USING */
    sql_when *whens;         /* MERGE; ON is the condition */
    size_t when_count, when_capacity;
    frz_snapshot_choice choice; /* FOR VERSION AS OF, FOR TIMESTAMP AS OF */
    sql_item *items;            /* SELECT */
    size_t item_count, item_capacity;
    sql_set *sets; /* UPDATE */
    size_t set_count, set_capacity;
    sql_expr where;
    int64_t limit;  /* negative: none */
    frz_str column; /* ADD COLUMN */
    frz_str *path;  /* the other forms of ALTER TABLE: the parts of a column's name */
    size_t path_count, path_capacity;
    frz_str new_name;     /* RENAME COLUMN */
    const frz_type *type; /* ADD COLUMN, ALTER COLUMN */
    sql_expr default_value;
    bool if_not_exists, if_exists;
    frz_property_kv *properties; /* SET and UNSET TBLPROPERTIES; without values to unset */
    size_t property_count, property_capacity;
} sql_statement;

frz_code sql_parse(frz_arena *arena, frz_str text, sql_statement *out, frz_error *err);

/* ---- sources (sql_source.c) ---- */

/* The view of a table that has this name, whatever its case. */
bool sql_view_find(frz_str name, frz_table_view *out);

typedef struct sql_source {
    const frz_env *env;
    const char *file; /* NULL: a table, or a view of one */
    frz_table *table; /* owned reference; NULL: a file */
    bool is_view;
    frz_table_view view;
    frz_snapshot_choice choice;
    const frz_type *star;     /* the columns of "*" */
    const frz_type *readable; /* those that may be named */
    frz_scan *scan;
    struct ArrowArrayStream stream; /* of a view or file */
    struct expr_plain *plain;       /* of a file: makes its columns what expressions read */
    int64_t left;                   /* rows of a stream to go; negative: all */
} sql_source;

/* What can be read. view NULL: the rows of the table. The source is zeroed before, and closed also
 * after a failure. Types live in the arena. */
frz_code sql_source_init(sql_source *source, frz_table *table, const frz_table_view *view,
                         const frz_snapshot_choice *choice, frz_arena *arena, frz_error *err);
/* The same of a file, whose name must outlive the source. */
frz_code sql_source_init_file(sql_source *source, const frz_env *env, const char *file,
                              frz_arena *arena, frz_error *err);
frz_code sql_source_open(sql_source *source, const char *const *columns, size_t count,
                         const char *where, int64_t limit, frz_error *err);
frz_code sql_source_next(sql_source *source, struct ArrowArray *out, frz_error *err);
void sql_source_close(sql_source *source);

/* Rows of a SELECT from a file (table NULL), from a table, or from a view of it (not NULL). The
 * statement's arena moves into the stream, also on failure. */
frz_code sql_select(const frz_env *env, frz_table *table, const frz_table_view *view,
                    const sql_statement *statement, frz_arena *arena, struct ArrowArrayStream *out,
                    frz_error *err);
/* EXPLAIN of a SELECT: what would be read and what left out, as rows. */
frz_code sql_explain_select(frz_table *table, const frz_table_view *view,
                            const sql_statement *statement, struct ArrowArrayStream *out,
                            frz_error *err);
/* EXPLAIN of an UPDATE, a MERGE or a DELETE: what each mode would cost, as rows. catalog NULL: the
 * table comes from elsewhere, and rows from outside are an error. */
frz_code sql_explain_change(frz_catalog *catalog, const frz_table *table,
                            const sql_statement *statement, struct ArrowArrayStream *out,
                            frz_error *err);
frz_code sql_update(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err);
frz_code sql_merge(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                   frz_error *err);
frz_code sql_delete(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err);
/* rows: of the statement's SELECT; borrowed. */
frz_code sql_insert(frz_catalog *catalog, const sql_statement *statement,
                    struct ArrowArrayStream *rows, frz_commit_report *report, frz_error *err);
/* The rows of VALUES, in the types of the table's columns, as a stream (sql_values.c). */
frz_code sql_values(frz_catalog *catalog, const sql_statement *statement, frz_arena *arena,
                    struct ArrowArrayStream *out, frz_error *err);
frz_code sql_alter(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                   frz_error *err);

/* ---- ALTER TABLE ---- */

/* A column at any depth (sql_column.c); in an arena. */
typedef struct sql_column {
    frz_str name; /* dotted */
    const frz_field *field;
    const frz_type **types; /* on the way to it, the schema's struct first */
    size_t *places;         /* of the way's fields in them */
    size_t depth;
    bool below_key; /* it is the key of a map or inside of one */
} sql_column;

/* Parts of the name are resolved as names in expressions are. */
frz_code sql_column_find(frz_arena *arena, const frz_type *struct_type, const frz_str *path,
                         size_t count, sql_column *out, frz_error *err);
const frz_type *sql_column_parent(const sql_column *column);
/* Whether a field at any depth has the dotted name: a column "a.b" and a field b of a column a
 * could not both be named. */
bool sql_column_is_taken(const frz_type *struct_type, frz_str name);
/* The column's dotted name with another last part, in the arena. */
frz_code sql_column_new_name(frz_arena *arena, const sql_column *column, frz_str last, frz_str *out,
                             frz_error *err);
/* The schema's struct with another field in the column's place; NULL: without it. */
frz_code sql_column_replace(frz_arena *arena, const sql_column *column, const frz_field *field,
                            const frz_type **out, frz_error *err);

/* Plan SET and UNSET TBLPROPERTIES (sql_properties.c). */
frz_code sql_properties_set(const sql_statement *statement, const frz_commit_attempt *attempt,
                            frz_commit_plan *plan, frz_error *err);
frz_code sql_properties_unset(const sql_statement *statement, const frz_commit_attempt *attempt,
                              frz_commit_plan *plan, frz_error *err);
/* Properties that name the column follow its new name, or go with it (NULL). */
frz_code sql_properties_follow(const frz_commit_attempt *attempt, const sql_column *column,
                               const frz_str *new_name, frz_commit_plan *plan, frz_error *err);

/* ---- plans (sql_explain.c) ---- */

/* The answer as a stream. */
frz_code sql_explain_modes(const frz_env *env, const frz_statement_estimate *estimate,
                           struct ArrowArrayStream *out, frz_error *err);

/* The plan of a read of these columns, gone through, as rows. */
frz_code sql_explain_read(frz_table *table, const frz_snapshot_choice *choice,
                          const char *const *columns, size_t count, const char *where,
                          struct ArrowArrayStream *out, frz_error *err);

/* ---- aggregates (sql_aggregate.c) ---- */

/* Collects one aggregate over arrays of its argument's type. */
typedef struct sql_aggregate {
    frz_aggregate kind;
    const frz_type *type; /* of the argument; NULL for count(*) */
    const frz_type *result;
    const char *text; /* for messages */
    int64_t rows;     /* seen, nulls included */
    int64_t count;    /* not null */
    frz_i128 sum;
    double lanes[8]; /* row i of all goes to lane i % 8, however the rows are cut into batches */
    bool has_best;
    frz_value best; /* MIN, MAX: bytes in buffer */
    frz_buf buffer;
} sql_aggregate;

/* Decide on the result's type, in the arena; fails for types that have no such aggregate. */
frz_code sql_aggregate_init(sql_aggregate *aggregate, const frz_env *env, frz_arena *arena,
                            frz_aggregate kind, const frz_type *type, const char *text,
                            frz_error *err);
void sql_aggregate_reset(sql_aggregate *aggregate);
/* array is NULL for count(*). */
frz_code sql_aggregate_add(sql_aggregate *aggregate, const struct ArrowArray *array, int64_t rows,
                           frz_error *err);
/* The value; bytes are borrowed from the aggregate. */
frz_code sql_aggregate_value(const sql_aggregate *aggregate, frz_value *out, frz_error *err);

#endif
