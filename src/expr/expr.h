/*
 * expr: expressions of SQL. Parsed into a tree of names, bound once to the field ids of the schema
 * that is read, evaluated over whole Arrow arrays; and, as a filter, tested against statistics.
 *
 * Names: exact first, then case-insensitive if unique. "/" gives double (decimal for decimals); a
 * zero divisor, integer overflow and a lossy assignment are errors naming column and row. "1.5" is
 * a decimal and becomes double beside one. NaN equals NaN and is greatest.
 */
#ifndef FRZ_EXPR_H
#define FRZ_EXPR_H

#include "arrow/arrow_array.h"
#include "type/type_schema.h"
#include "type/type_stats.h"

/* ---- tokens: shared with the SQL parser (expr_lexer.c) ---- */

typedef enum frz_token_kind {
    FRZ_TOKEN_END,
    FRZ_TOKEN_NAME,   /* unquoted: keyword or name */
    FRZ_TOKEN_QUOTED, /* "name" or `name` */
    FRZ_TOKEN_STRING, /* 'text' */
    FRZ_TOKEN_NUMBER,
    FRZ_TOKEN_SYMBOL /* one of the operators and ( ) , . ; */
} frz_token_kind;

typedef struct frz_token {
    frz_token_kind kind;
    size_t start, end; /* bytes in the source */
    frz_str text;      /* quotes and doubled quotes resolved, in the arena */
} frz_token;

typedef struct frz_lexer {
    frz_arena *arena;
    frz_str source;
    size_t at;
    frz_token token; /* the current one */
} frz_lexer;

frz_code frz_lexer_init(frz_lexer *lexer, frz_arena *arena, frz_str source, frz_error *err);
frz_code frz_lexer_next(frz_lexer *lexer, frz_error *err);
/* Current token is this keyword (case-insensitive, unquoted) or symbol. */
bool frz_lexer_is(const frz_lexer *lexer, const char *word);
/* If so, step over it. */
frz_code frz_lexer_accept(frz_lexer *lexer, const char *word, bool *accepted, frz_error *err);
frz_code frz_lexer_expect(frz_lexer *lexer, const char *word, frz_error *err);
/* FRZ_E_ARGUMENT "expected …, found …" with the source line and a caret in the hint. */
frz_code frz_lexer_fail(const frz_lexer *lexer, size_t start, frz_error *err, const char *fmt, ...)
    FRZ_PRINTF(4, 5);

/* ---- trees ---- */

typedef struct frz_expr frz_expr; /* unbound; lives in the arena it was parsed into */

/* Parse one expression from the current token on and stop behind it. */
frz_code frz_expr_parse_from(frz_lexer *lexer, const frz_expr **out, frz_error *err);
/* Parse a whole text. */
frz_code frz_expr_parse(frz_arena *arena, frz_str text, const frz_expr **out, frz_error *err);
/* Text that parses to the same tree; appended. */
frz_code frz_expr_print(const frz_expr *expr, frz_buf *out, frz_error *err);
/* The name a SELECT item has without AS: the column's own name, else its text. */
frz_code frz_expr_default_name(const frz_expr *expr, frz_buf *out, frz_error *err);

typedef enum frz_aggregate {
    FRZ_AGGREGATE_NONE,
    FRZ_AGGREGATE_COUNT_ALL, /* count(*) */
    FRZ_AGGREGATE_COUNT,
    FRZ_AGGREGATE_SUM,
    FRZ_AGGREGATE_MIN,
    FRZ_AGGREGATE_MAX,
    FRZ_AGGREGATE_AVG
} frz_aggregate;

/* If the whole expression is an aggregate call: which, and its argument (NULL for count(*)). An
 * aggregate inside an expression fails at binding. */
frz_aggregate frz_expr_aggregate(const frz_expr *expr, const frz_expr **argument);

/* ---- expressions over two tables (expr_scope.c) ---- */

/* A table, and a source whose rows are told apart by its name. */
typedef struct frz_expr_scope {
    const frz_str *table_parts; /* of the table's name, or one: what it is called here */
    size_t table_part_count;
    const frz_type *table; /* its columns */
    frz_str source;        /* what it is called */
    const frz_type *source_type;
    frz_str column; /* the name of the struct that it becomes */
} frz_expr_scope;

/* The same expression over one table: columns of the table by their names alone, those of the
 * source as fields of a struct. What stands alone may not be a column of both. */
frz_code frz_expr_scope_apply(frz_arena *arena, const frz_expr_scope *scope, const frz_expr *expr,
                              const frz_expr **out, frz_error *err);
/* Whether an expression reads the column of this name; others: any other column. */
bool frz_expr_reads(const frz_expr *expr, frz_str name, bool others);
/* Visit the fields of a column that it reads, some of them maybe several times. */
frz_code frz_expr_visit_fields(const frz_expr *expr, frz_str name,
                               frz_code (*visit)(void *ctx, frz_str field, frz_error *err),
                               void *ctx, frz_error *err);
/* The conditions that AND joins; NULL and 1: it is one by itself. */
size_t frz_expr_conjuncts(const frz_expr *expr, const frz_expr *const **out);
bool frz_expr_is_equality(const frz_expr *expr, const frz_expr **left, const frz_expr **right);
/* Both are names, or fields of names, and the same ones. */
bool frz_expr_same_path(const frz_expr *a, const frz_expr *b);

/* ---- trees made of others (expr_make.c); all of it in the arena ---- */

/* All of them, joined by AND; none gives NULL. */
frz_code frz_expr_and(frz_arena *arena, const frz_expr *const *exprs, size_t count,
                      const frz_expr **out, frz_error *err);
frz_code frz_expr_name(frz_arena *arena, frz_str name, const frz_expr **out, frz_error *err);
frz_code frz_expr_field(frz_arena *arena, const frz_expr *parent, frz_str name,
                        const frz_expr **out, frz_error *err);
frz_code frz_expr_literal(frz_arena *arena, const frz_value *value, const frz_expr **out,
                          frz_error *err);
frz_code frz_expr_boolean(frz_arena *arena, bool value, const frz_expr **out, frz_error *err);
frz_code frz_expr_is_null(frz_arena *arena, const frz_expr *expr, bool negated,
                          const frz_expr **out, frz_error *err);
/* Converted as an assignment to a column of this type does. */
frz_code frz_expr_assigned(frz_arena *arena, const frz_expr *expr, const frz_type *type,
                           const frz_expr **out, frz_error *err);
/* The result of the first condition that is true, or the last one. */
frz_code frz_expr_first_true(frz_arena *arena, const frz_expr *const *conditions,
                             const frz_expr *const *results, size_t count,
                             const frz_expr *otherwise, const frz_expr **out, frz_error *err);

/* ---- binding ---- */

typedef struct frz_bound_expr frz_bound_expr; /* immutable */

/* Resolve names in a struct type. */
frz_code frz_expr_bind(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                       frz_bound_expr **out, frz_error *err);
/* The same, and make the result a boolean (WHERE). */
frz_code frz_expr_bind_filter(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                              frz_bound_expr **out, frz_error *err);
/* The same, and convert the result to a column's type as assignment does: widening always; int to
 * double and the like if exact; anything that may not fit is checked row by row. An impossible
 * pair fails here. column is used in messages. */
frz_code frz_expr_bind_assign(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                              const frz_field *column, frz_bound_expr **out, frz_error *err);
/* The two sides of an equality, each over columns of its own, as values of their common type. */
frz_code frz_expr_bind_sides(const frz_env *env, const frz_expr *equality,
                             const frz_expr *const sides[2], const frz_type *const types[2],
                             frz_bound_expr *out[2], frz_error *err);
void frz_bound_expr_free(frz_bound_expr *expr);
const frz_type *frz_bound_expr_type(const frz_bound_expr *expr);
/* Ids of the top-level fields that evaluation reads, ascending, without repetition. */
const int32_t *frz_bound_expr_fields(const frz_bound_expr *expr, size_t *count);

/* ---- evaluation (vectorised) ---- */

/* Evaluate over a batch whose columns are the fields of batch_type (matched by top-level id; must
 * hold all that frz_bound_expr_fields names). first_row is used in messages ("row 17").
 * selection: NULL, or a bitmap of the rows that matter: others never raise errors and may come out
 * as anything. */
frz_code frz_expr_eval(const frz_bound_expr *expr, const frz_type *batch_type,
                       const struct ArrowArray *batch, int64_t first_row, const uint8_t *selection,
                       struct ArrowArray *out, frz_error *err);
/* Evaluate a filter: bit set where true (not null, not false). selection has room for
 * (length + 7) / 8 bytes. among: NULL, or a bitmap of the rows that matter: bits of others are
 * clear, and they never raise errors. */
frz_code frz_expr_select(const frz_bound_expr *expr, const frz_type *batch_type,
                         const struct ArrowArray *batch, int64_t first_row, const uint8_t *among,
                         uint8_t *selection, int64_t *selected, frz_error *err);

/* ---- pruning ---- */

/* Statistics of a field, or NULL if unknown. */
typedef const frz_field_stats *(*frz_stats_lookup)(void *ctx, int32_t field_id);
/* Values between two ends, which are neither null nor NaN; a NULL end: no bound. */
typedef struct frz_interval {
    const frz_value *low, *high;
    bool low_open, high_open; /* the end itself is not meant */
} frz_interval;
/* False only if no value of the field, other than null and NaN, lies in the interval; ends are of
 * the field's type. Asked only where statistics do not decide. */
typedef bool (*frz_interval_test)(void *ctx, int32_t field_id, const frz_interval *interval);
/* False only if no row can match, proven by statistics and by the test, which may be NULL.
 * record_count rows in all, -1: not known. Fields of structs are asked for by their own ids; a null
 * struct counts as a null of each of its fields. */
bool frz_expr_may_match(const frz_bound_expr *filter, frz_stats_lookup lookup,
                        frz_interval_test test, void *ctx, int64_t record_count);
/* True only if all rows match, proven in the same way. */
bool frz_expr_must_match(const frz_bound_expr *filter, frz_stats_lookup lookup,
                         frz_interval_test test, void *ctx, int64_t record_count);

#endif
