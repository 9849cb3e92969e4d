/*
 * What the parsers of statements share: pieces that several statements have, each taking its tokens
 * from the current one on.
 */
#ifndef FRZ_SQL_PARSE_H
#define FRZ_SQL_PARSE_H

#include "sql/sql_internal.h"

typedef struct sql_parser {
    frz_lexer lexer;
    frz_arena *arena;
    sql_statement *statement;
    frz_error *err;
} sql_parser;

/* ---- tokens ---- */

frz_code sql_next(sql_parser *p);
frz_code sql_accept(sql_parser *p, const char *word, bool *accepted);
frz_code sql_expect(sql_parser *p, const char *word);
frz_code sql_fail_here(sql_parser *p, const char *what);
bool sql_at_name(const sql_parser *p);
frz_code sql_take_name(sql_parser *p, const char *what, frz_str *out);
/* The text of the current token, whatever it is. */
frz_code sql_copy_token(sql_parser *p, const char **out);
/* Part of the statement's text without blanks behind it; NULL: no memory. */
const char *sql_copy_text(sql_parser *p, size_t start, size_t end);

/* One more element of an array that lives in the arena. */
frz_code sql_grow(sql_parser *p, void **items, size_t *capacity, size_t count, size_t size);
#define SQL_GROW(p, items, capacity, count)                                                        \
    sql_grow((p), (void **)&(items), &(capacity), (count), sizeof *(items))

/* ---- pieces ---- */

/* part . part . …, each quoted as the catalog wants it */
typedef struct sql_table_name {
    const char *text, *above; /* above NULL: it has one part */
    frz_str last;
} sql_table_name;

frz_code sql_take_expr(sql_parser *p, sql_expr *out);
frz_code sql_take_table(sql_parser *p, sql_table_name *out);
/* The table of the statement. */
frz_code sql_take_target(sql_parser *p);
frz_code sql_take_alias(sql_parser *p, const char **out);
frz_code sql_take_rows(sql_parser *p);
/* column = value */
frz_code sql_take_set(sql_parser *p, sql_set **sets, size_t *count, size_t *capacity);
/* [WHERE condition] */
frz_code sql_take_where(sql_parser *p);

/* ---- statements behind their first word ---- */

frz_code sql_parse_select(sql_parser *p);
frz_code sql_parse_update(sql_parser *p);
frz_code sql_parse_delete(sql_parser *p);
frz_code sql_parse_insert(sql_parser *p);
frz_code sql_parse_merge(sql_parser *p);
frz_code sql_parse_alter(sql_parser *p);
frz_code sql_unsupported_statement(sql_parser *p, frz_str words);

#endif
