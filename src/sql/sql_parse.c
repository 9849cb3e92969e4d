/*
 * The parser of statements. Expressions in them are parsed by expr; their text is kept beside the
 * tree, because scans and updates take text.
 */
#include "sql/sql_parse.h"

/* ---- pieces ---- */

frz_code sql_next(sql_parser *p)
{
    return frz_lexer_next(&p->lexer, p->err);
}

frz_code sql_accept(sql_parser *p, const char *word, bool *accepted)
{
    return frz_lexer_accept(&p->lexer, word, accepted, p->err);
}

frz_code sql_expect(sql_parser *p, const char *word)
{
    return frz_lexer_expect(&p->lexer, word, p->err);
}

frz_code sql_fail_here(sql_parser *p, const char *what)
{
    return frz_lexer_fail(&p->lexer, p->lexer.token.start, p->err, "%s", what);
}

bool sql_at_name(const sql_parser *p)
{
    return p->lexer.token.kind == FRZ_TOKEN_NAME || p->lexer.token.kind == FRZ_TOKEN_QUOTED;
}

/* One more element of an array that lives in the arena. */
frz_code sql_grow(sql_parser *p, void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity) {
        return FRZ_OK;
    }
    size_t wanted = FRZ_MAX(*capacity * 2, (size_t)8);
    void *larger = frz_arena_array(p->arena, wanted, size);
    if (larger == NULL) {
        return frz_fail_nomem(p->err, wanted * size);
    }
    if (count > 0) {
        memcpy(larger, *items, count * size);
    }
    *items = larger;
    *capacity = wanted;
    return FRZ_OK;
}

frz_code sql_take_name(sql_parser *p, const char *what, frz_str *out)
{
    if (!sql_at_name(p)) {
        return sql_fail_here(p, what);
    }
    *out = p->lexer.token.text;
    return sql_next(p);
}

const char *sql_copy_text(sql_parser *p, size_t start, size_t end)
{
    while (end > start &&
           (p->lexer.source.ptr[end - 1] == ' ' || p->lexer.source.ptr[end - 1] == '\n')) {
        end--;
    }
    return frz_arena_strdup(p->arena, (frz_str){p->lexer.source.ptr + start, end - start});
}

frz_code sql_copy_token(sql_parser *p, const char **out)
{
    *out = frz_arena_strdup(p->arena, p->lexer.token.text);
    return *out == NULL ? frz_fail_nomem(p->err, p->lexer.token.text.len) : sql_next(p);
}

frz_code sql_take_expr(sql_parser *p, sql_expr *out)
{
    size_t start = p->lexer.token.start;
    frz_code rc = frz_expr_parse_from(&p->lexer, &out->tree, p->err);
    if (rc != FRZ_OK) {
        return rc;
    }
    out->text = sql_copy_text(p, start, p->lexer.token.start);
    return out->text == NULL ? frz_fail_nomem(p->err, 0) : FRZ_OK;
}

/* ---- table names ---- */

static bool is_plain(frz_str part)
{
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] == '.' || part.ptr[i] == '"') {
            return false;
        }
    }
    return true;
}

static frz_code append_part(frz_buf *text, frz_str part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (is_plain(part)) {
        return frz_buf_append(text, part.ptr, part.len, err);
    }
    FRZ_TRY(frz_buf_append_byte(text, '"', err));
    for (size_t i = 0; i < part.len; i++) {
        FRZ_TRY(frz_buf_append_byte(text, (uint8_t)part.ptr[i], err));
        if (part.ptr[i] == '"') {
            FRZ_TRY(frz_buf_append_byte(text, '"', err));
        }
    }
    FRZ_TRY(frz_buf_append_byte(text, '"', err));
out:
    return rc;
}

frz_code sql_take_table(sql_parser *p, sql_table_name *out)
{
    frz_code rc = FRZ_OK;
    frz_str part = {0};
    bool more = true;
    frz_buf text = FRZ_BUF_INIT(p->arena->env, FRZ_BUF_NO_LIMIT);
    size_t above = 0; /* bytes before the last part, its dot not counted */
    while (more) {
        FRZ_TRY(sql_take_name(p, "expected a table name", &part));
        FRZ_TRY(append_part(&text, part, p->err));
        FRZ_TRY(sql_accept(p, ".", &more));
        if (more) {
            above = text.len;
            FRZ_TRY(frz_buf_append_byte(&text, '.', p->err));
        }
    }
    out->text = frz_arena_strdup(p->arena, frz_buf_view(&text));
    out->above =
        above == 0 ? NULL : frz_arena_strdup(p->arena, (frz_str){(const char *)text.data, above});
    out->last = part;
    if (out->text == NULL || (above > 0 && out->above == NULL)) {
        rc = frz_fail_nomem(p->err, text.len);
    }
out:
    frz_buf_reset(&text);
    return rc;
}

frz_code sql_take_target(sql_parser *p)
{
    sql_table_name name;
    frz_code rc = sql_take_table(p, &name);
    if (rc == FRZ_OK) {
        p->statement->table = name.text;
        p->statement->table_above = name.above;
        p->statement->last_part = name.last;
    }
    return rc;
}

/* [AS] name: anything but a word that goes on with the statement. */
frz_code sql_take_alias(sql_parser *p, const char **out)
{
    static const char *const words[] = {"set", "from", "where", "using", "on", "when"};
    frz_code rc = FRZ_OK;
    bool as = false, is_word = false;
    FRZ_TRY(sql_accept(p, "as", &as));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(words); i++) {
        is_word = is_word || frz_lexer_is(&p->lexer, words[i]);
    }
    if (as && !sql_at_name(p)) {
        return sql_fail_here(p, "expected a name after AS");
    }
    if (as || (sql_at_name(p) && !is_word)) {
        FRZ_TRY(sql_copy_token(p, out));
    }
out:
    return rc;
}

/* 'file' or a table, [AS] name */
frz_code sql_take_rows(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_rows *rows = &p->statement->rows;
    sql_table_name name;
    if (p->lexer.token.kind == FRZ_TOKEN_STRING) {
        FRZ_TRY(sql_copy_token(p, &rows->file));
    } else {
        FRZ_TRY(sql_take_table(p, &name));
        rows->table = name.text;
        rows->name = frz_arena_strdup(p->arena, name.last);
        FRZ_TRY(rows->name == NULL ? frz_fail_nomem(p->err, name.last.len) : FRZ_OK);
    }
    FRZ_TRY(sql_take_alias(p, &rows->name));
out:
    return rc;
}

/* ---- clauses ---- */

frz_code sql_take_where(sql_parser *p)
{
    bool where = false;
    frz_code rc = sql_accept(p, "where", &where);
    return rc == FRZ_OK && where ? sql_take_expr(p, &p->statement->where) : rc;
}

/* [;] and the end */
static frz_code sql_take_end(sql_parser *p)
{
    bool semicolon = false;
    frz_code rc = sql_accept(p, ";", &semicolon);
    if (rc == FRZ_OK && p->lexer.token.kind != FRZ_TOKEN_END) {
        return sql_fail_here(p, semicolon ? "expected one statement only"
                                          : "expected the end of the statement");
    }
    return rc;
}

/* ---- statements ---- */

frz_code sql_unsupported_statement(sql_parser *p, frz_str words)
{
    frz_code rc = frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: %.*s", FRZ_STR_ARG(words));
    frz_hint(p->err,
             "statements are: SELECT ... FROM, EXPLAIN SELECT, UPDATE ... SET, DELETE FROM, "
             "INSERT INTO ... SELECT or VALUES, MERGE INTO, ALTER TABLE ... ADD, RENAME, DROP or "
             "ALTER COLUMN, "
             "ALTER "
             "TABLE ... SET or UNSET "
             "TBLPROPERTIES");
    return rc;
}

/* The first words of statements that others know. */
static const char *const foreign_statements[] = {
    "analyze", "begin",    "call", "commit",   "copy", "create", "describe", "drop", "grant",
    "replace", "rollback", "show", "truncate", "use",  "values", "vacuum",   "with"};

static frz_code parse_other(sql_parser *p)
{
    frz_str word = p->lexer.token.text;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(foreign_statements); i++) {
        if (p->lexer.token.kind == FRZ_TOKEN_NAME &&
            frz_str_equal_nocase(word, frz_str_from(foreign_statements[i]))) {
            return sql_unsupported_statement(p, word);
        }
    }
    return sql_fail_here(p, "expected SELECT, UPDATE, DELETE, INSERT, MERGE or ALTER TABLE");
}

/* [EXPLAIN] statement */
static frz_code parse_statement(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool accepted = false;
    FRZ_TRY(sql_accept(p, "explain", &p->statement->explain));
    FRZ_TRY(sql_accept(p, "select", &accepted));
    if (accepted) {
        p->statement->verb = SQL_SELECT;
        return sql_parse_select(p);
    }
    FRZ_TRY(sql_accept(p, "update", &accepted));
    if (accepted) {
        p->statement->verb = SQL_UPDATE;
        return sql_parse_update(p);
    }
    FRZ_TRY(sql_accept(p, "delete", &accepted));
    if (accepted) {
        return sql_parse_delete(p);
    }
    FRZ_TRY(sql_accept(p, "insert", &accepted));
    if (accepted) {
        return sql_parse_insert(p);
    }
    FRZ_TRY(sql_accept(p, "merge", &accepted));
    if (accepted) {
        return sql_parse_merge(p);
    }
    FRZ_TRY(sql_accept(p, "alter", &accepted));
    if (accepted) {
        return sql_parse_alter(p);
    }
    rc = parse_other(p);
out:
    return rc;
}

frz_code sql_parse(frz_arena *arena, frz_str text, sql_statement *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sql_statement statement = {.limit = -1};
    sql_parser p = {.arena = arena, .statement = &statement, .err = err};
    FRZ_TRY(frz_lexer_init(&p.lexer, arena, text, err));
    FRZ_TRY(parse_statement(&p));
    FRZ_TRY(sql_take_end(&p));
    *out = statement;
out:
    return rc;
}
