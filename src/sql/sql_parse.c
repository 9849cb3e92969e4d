/*
 * The parser of statements. Expressions in them are parsed by expr; their text is kept beside the
 * tree, because scans and updates take text.
 */
#include "sql/sql_internal.h"

typedef struct sql_parser {
    frz_lexer lexer;
    frz_arena *arena;
    sql_statement *statement;
    frz_error *err;
} sql_parser;

/* ---- pieces ---- */

static frz_code next(sql_parser *p)
{
    return frz_lexer_next(&p->lexer, p->err);
}

static frz_code accept(sql_parser *p, const char *word, bool *accepted)
{
    return frz_lexer_accept(&p->lexer, word, accepted, p->err);
}

static frz_code expect(sql_parser *p, const char *word)
{
    return frz_lexer_expect(&p->lexer, word, p->err);
}

static frz_code fail_here(sql_parser *p, const char *what)
{
    return frz_lexer_fail(&p->lexer, p->lexer.token.start, p->err, "%s", what);
}

static bool at_name(const sql_parser *p)
{
    return p->lexer.token.kind == FRZ_TOKEN_NAME || p->lexer.token.kind == FRZ_TOKEN_QUOTED;
}

/* One more element of an array that lives in the arena. */
static frz_code grow(sql_parser *p, void **items, size_t *capacity, size_t count, size_t size)
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

#define GROW(p, items, capacity, count)                                                            \
    grow((p), (void **)&(items), &(capacity), (count), sizeof *(items))

static frz_code take_name(sql_parser *p, const char *what, frz_str *out)
{
    if (!at_name(p)) {
        return fail_here(p, what);
    }
    *out = p->lexer.token.text;
    return next(p);
}

static const char *copy_text(sql_parser *p, size_t start, size_t end)
{
    while (end > start &&
           (p->lexer.source.ptr[end - 1] == ' ' || p->lexer.source.ptr[end - 1] == '\n')) {
        end--;
    }
    return frz_arena_strdup(p->arena, (frz_str){p->lexer.source.ptr + start, end - start});
}

static frz_code take_expr(sql_parser *p, sql_expr *out)
{
    size_t start = p->lexer.token.start;
    frz_code rc = frz_expr_parse_from(&p->lexer, &out->tree, p->err);
    if (rc != FRZ_OK) {
        return rc;
    }
    out->text = copy_text(p, start, p->lexer.token.start);
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

/* part . part . …, each quoted as the catalog wants it */
static frz_code take_table(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    frz_str part = {0};
    bool more = true;
    frz_buf text = FRZ_BUF_INIT(p->arena->env, FRZ_BUF_NO_LIMIT);
    size_t above = 0; /* bytes before the last part, its dot not counted */
    while (more) {
        FRZ_TRY(take_name(p, "expected a table name", &part));
        FRZ_TRY(append_part(&text, part, p->err));
        FRZ_TRY(accept(p, ".", &more));
        if (more) {
            above = text.len;
            FRZ_TRY(frz_buf_append_byte(&text, '.', p->err));
        }
    }
    sql_statement *s = p->statement;
    s->table = frz_arena_strdup(p->arena, frz_buf_view(&text));
    s->table_above =
        above == 0 ? NULL : frz_arena_strdup(p->arena, (frz_str){(const char *)text.data, above});
    s->last_part = part;
    if (s->table == NULL || (above > 0 && s->table_above == NULL)) {
        rc = frz_fail_nomem(p->err, text.len);
    }
out:
    frz_buf_reset(&text);
    return rc;
}

/* ---- clauses ---- */

static frz_code take_where(sql_parser *p)
{
    bool where = false;
    frz_code rc = accept(p, "where", &where);
    return rc == FRZ_OK && where ? take_expr(p, &p->statement->where) : rc;
}

static frz_code take_limit(sql_parser *p)
{
    bool limit = false;
    frz_code rc = accept(p, "limit", &limit);
    p->statement->limit = -1;
    if (rc != FRZ_OK || !limit) {
        return rc;
    }
    if (p->lexer.token.kind != FRZ_TOKEN_NUMBER ||
        !frz_str_to_i64(p->lexer.token.text, &p->statement->limit)) {
        return fail_here(p, "expected a whole number of rows");
    }
    return next(p);
}

/* Clauses that other engines have here; naming them is clearer than "expected the end". */
static frz_code refuse_clauses(sql_parser *p)
{
    static const char *const words[] = {"group",  "order", "having", "join",  "inner",
                                        "left",   "right", "full",   "cross", "union",
                                        "offset", "as",    ","};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(words); i++) {
        if (frz_lexer_is(&p->lexer, words[i])) {
            frz_str word = p->lexer.token.text;
            frz_lexer_fail(&p->lexer, p->lexer.token.start, p->err, "unsupported: %.*s in a SELECT",
                           FRZ_STR_ARG(word));
            if (p->err != NULL) {
                p->err->code = FRZ_E_UNSUPPORTED;
            }
            return FRZ_E_UNSUPPORTED;
        }
    }
    return FRZ_OK;
}

/* [;] and the end */
static frz_code take_end(sql_parser *p)
{
    bool semicolon = false;
    frz_code rc = accept(p, ";", &semicolon);
    if (rc == FRZ_OK && p->lexer.token.kind != FRZ_TOKEN_END) {
        return fail_here(p, semicolon ? "expected one statement only"
                                      : "expected the end of the statement");
    }
    return rc;
}

/* ---- SELECT ---- */

static frz_code copy_token(sql_parser *p, const char **out)
{
    *out = frz_arena_strdup(p->arena, p->lexer.token.text);
    return *out == NULL ? frz_fail_nomem(p->err, p->lexer.token.text.len) : next(p);
}

/* VERSION AS OF: an id, or the name of a branch or tag. */
static frz_code take_version(sql_parser *p)
{
    frz_snapshot_choice *choice = &p->statement->choice;
    if (p->lexer.token.kind == FRZ_TOKEN_STRING) {
        return copy_token(p, &choice->ref);
    }
    if (p->lexer.token.kind != FRZ_TOKEN_NUMBER ||
        !frz_str_to_i64(p->lexer.token.text, &choice->snapshot_id) || choice->snapshot_id <= 0) {
        return fail_here(p, "expected the id of a snapshot, or the name of a branch or tag in "
                            "single quotes");
    }
    return next(p);
}

static frz_code take_timestamp(sql_parser *p)
{
    bool word = false;
    frz_code rc = accept(p, "timestamp", &word);
    if (rc != FRZ_OK) {
        return rc;
    }
    return p->lexer.token.kind == FRZ_TOKEN_STRING
               ? copy_token(p, &p->statement->choice.as_of)
               : fail_here(p, "expected a time in single quotes, such as '2026-11-01 12:00:00'");
}

/* [FOR] VERSION AS OF x, [FOR] TIMESTAMP AS OF x; also SYSTEM_VERSION and SYSTEM_TIME. */
static frz_code take_time_travel(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    static const char *const words[] = {"version", "system_version", "timestamp", "system_time"};
    bool for_word = false, found = false;
    size_t i = 0;
    FRZ_TRY(accept(p, "for", &for_word));
    for (; i < FRZ_ARRAY_COUNT(words) && !found; i++) {
        FRZ_TRY(accept(p, words[i], &found));
    }
    if (!found) {
        return for_word ? fail_here(p, "expected VERSION or TIMESTAMP after FOR") : FRZ_OK;
    }
    FRZ_TRY(expect(p, "AS"));
    FRZ_TRY(expect(p, "OF"));
    FRZ_TRY(i <= 2 ? take_version(p) : take_timestamp(p));
out:
    return rc;
}

static frz_code take_item(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool as = false;
    FRZ_TRY(GROW(p, s->items, s->item_capacity, s->item_count));
    sql_item *item = &s->items[s->item_count++];
    *item = (sql_item){0};
    FRZ_TRY(accept(p, "*", &item->star));
    if (item->star) {
        return FRZ_OK;
    }
    FRZ_TRY(take_expr(p, &item->expr));
    FRZ_TRY(accept(p, "as", &as));
    if (as || (at_name(p) && !frz_lexer_is(&p->lexer, "from"))) {
        FRZ_TRY(take_name(p, "expected a name after AS", &item->name));
    }
out:
    return rc;
}

static frz_code parse_select(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool more = true;
    if (frz_lexer_is(&p->lexer, "distinct")) {
        frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: SELECT DISTINCT");
        return FRZ_E_UNSUPPORTED;
    }
    while (more) {
        FRZ_TRY(take_item(p));
        FRZ_TRY(accept(p, ",", &more));
    }
    FRZ_TRY(expect(p, "FROM"));
    if (p->lexer.token.kind == FRZ_TOKEN_STRING) {
        FRZ_TRY(copy_token(p, &p->statement->file));
    } else {
        FRZ_TRY(take_table(p));
        FRZ_TRY(take_time_travel(p));
    }
    FRZ_TRY(refuse_clauses(p));
    FRZ_TRY(take_where(p));
    FRZ_TRY(refuse_clauses(p));
    FRZ_TRY(take_limit(p));
    FRZ_TRY(refuse_clauses(p));
out:
    return rc;
}

/* ---- UPDATE ---- */

static frz_code check_column_once(sql_parser *p, frz_str column, size_t start)
{
    const sql_statement *s = p->statement;
    for (size_t i = 0; i < s->set_count; i++) {
        if (frz_str_equal(frz_str_from(s->sets[i].column), column)) {
            return frz_lexer_fail(&p->lexer, start, p->err, "column \"%.*s\" is set twice",
                                  FRZ_STR_ARG(column));
        }
    }
    return FRZ_OK;
}

static frz_code take_set(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    frz_str column;
    size_t start = p->lexer.token.start;
    FRZ_TRY(take_name(p, "expected a column name", &column));
    if (frz_lexer_is(&p->lexer, ".")) {
        frz_lexer_fail(&p->lexer, start, p->err, "unsupported: setting a field inside a column");
        if (p->err != NULL) {
            p->err->code = FRZ_E_UNSUPPORTED;
        }
        return FRZ_E_UNSUPPORTED;
    }
    FRZ_TRY(check_column_once(p, column, start));
    FRZ_TRY(GROW(p, s->sets, s->set_capacity, s->set_count));
    sql_set *set = &s->sets[s->set_count];
    *set = (sql_set){.column = frz_arena_strdup(p->arena, column)};
    if (set->column == NULL) {
        rc = frz_fail_nomem(p->err, column.len);
        goto out;
    }
    FRZ_TRY(expect(p, "="));
    FRZ_TRY(take_expr(p, &set->value));
    s->set_count++;
out:
    return rc;
}

static frz_code parse_update(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool more = true;
    FRZ_TRY(take_table(p));
    FRZ_TRY(expect(p, "SET"));
    while (more) {
        FRZ_TRY(take_set(p));
        FRZ_TRY(accept(p, ",", &more));
    }
    FRZ_TRY(take_where(p));
out:
    return rc;
}

/* ---- DELETE ---- */

static frz_code parse_delete(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    p->statement->verb = SQL_DELETE;
    FRZ_TRY(expect(p, "FROM"));
    FRZ_TRY(take_table(p));
    FRZ_TRY(take_where(p));
out:
    return rc;
}

/* ---- INSERT ---- */

/* ( column, … ) */
static frz_code take_columns(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    frz_str name;
    while (more) {
        FRZ_TRY(take_name(p, "expected a column name", &name));
        FRZ_TRY(GROW(p, s->columns, s->column_capacity, s->column_count));
        s->columns[s->column_count] = frz_arena_strdup(p->arena, name);
        if (s->columns[s->column_count++] == NULL) {
            return frz_fail_nomem(p->err, name.len);
        }
        FRZ_TRY(accept(p, ",", &more));
    }
    FRZ_TRY(expect(p, ")"));
out:
    return rc;
}

/* INTO table [(column, …)] SELECT … */
static frz_code parse_insert(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool columns = false;
    FRZ_TRY(expect(p, "INTO"));
    FRZ_TRY(take_table(p));
    p->statement->into = p->statement->table;
    p->statement->table = p->statement->table_above = NULL;
    FRZ_TRY(accept(p, "(", &columns));
    if (columns) {
        FRZ_TRY(take_columns(p));
    }
    if (frz_lexer_is(&p->lexer, "values")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: INSERT of VALUES");
    }
    FRZ_TRY(expect(p, "SELECT"));
    FRZ_TRY(parse_select(p));
    p->statement->verb = SQL_INSERT;
out:
    return rc;
}

/* ---- ALTER TABLE ---- */

/* Everything up to DEFAULT, NOT, NULL, ; or the end, which is then the current token. */
static frz_code take_type(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    frz_lexer *lexer = &p->lexer;
    size_t start = lexer->token.start;
    while (lexer->token.kind != FRZ_TOKEN_END && !frz_lexer_is(lexer, ";") &&
           !frz_lexer_is(lexer, "default") && !frz_lexer_is(lexer, "not") &&
           !frz_lexer_is(lexer, "null") && !frz_lexer_is(lexer, "comment")) {
        FRZ_TRY(next(p));
    }
    const char *text = copy_text(p, start, lexer->token.start);
    if (text == NULL) {
        return frz_fail_nomem(p->err, 0);
    }
    if (text[0] == '\0') {
        return fail_here(p, "expected a type");
    }
    FRZ_TRY(frz_type_parse(p->arena, frz_str_from(text), &p->statement->type, p->err));
    if (p->statement->type->id == FRZ_TYPE_VARIANT) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: columns of type variant");
    }
out:
    return rc;
}

static frz_code take_if_exists(sql_parser *p)
{
    frz_code rc = accept(p, "if", &p->statement->if_exists);
    return rc == FRZ_OK && p->statement->if_exists ? expect(p, "EXISTS") : rc;
}

/* name . name . … */
static frz_code take_path(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    while (more) {
        FRZ_TRY(GROW(p, s->path, s->path_capacity, s->path_count));
        FRZ_TRY(take_name(p, "expected a column name", &s->path[s->path_count]));
        s->path_count++;
        FRZ_TRY(accept(p, ".", &more));
    }
out:
    return rc;
}

/* RENAME [COLUMN] column TO name */
static frz_code parse_rename_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool column = false;
    FRZ_TRY(accept(p, "column", &column));
    if (!column && frz_lexer_is(&p->lexer, "to")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: ALTER TABLE ... RENAME TO");
    }
    FRZ_TRY(take_path(p));
    FRZ_TRY(expect(p, "TO"));
    FRZ_TRY(take_name(p, "expected a column name", &p->statement->new_name));
    p->statement->verb = SQL_RENAME_COLUMN;
out:
    return rc;
}

/* DROP [COLUMN] [IF EXISTS] column */
static frz_code parse_drop_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool column = false;
    FRZ_TRY(accept(p, "column", &column));
    FRZ_TRY(take_if_exists(p));
    FRZ_TRY(take_path(p));
    p->statement->verb = SQL_DROP_COLUMN;
out:
    return rc;
}

/* ALTER [COLUMN] column [SET DATA] TYPE type, ALTER [COLUMN] column DROP NOT NULL */
static frz_code parse_alter_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool word = false;
    FRZ_TRY(accept(p, "column", &word));
    FRZ_TRY(take_path(p));
    FRZ_TRY(accept(p, "drop", &word));
    if (word) {
        FRZ_TRY(expect(p, "NOT"));
        FRZ_TRY(expect(p, "NULL"));
        p->statement->verb = SQL_COLUMN_OPTIONAL;
        return FRZ_OK;
    }
    FRZ_TRY(accept(p, "set", &word));
    if (word && !frz_lexer_is(&p->lexer, "data")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED,
                        "unsupported: ALTER COLUMN ... SET of anything but DATA TYPE");
    }
    if (word) {
        FRZ_TRY(next(p));
    }
    FRZ_TRY(expect(p, "TYPE"));
    FRZ_TRY(take_type(p));
    p->statement->verb = SQL_COLUMN_TYPE;
out:
    return rc;
}

/* ADD [COLUMN] [IF NOT EXISTS] name type [DEFAULT value] */
static frz_code parse_add_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool word = false;
    FRZ_TRY(accept(p, "column", &word));
    FRZ_TRY(accept(p, "if", &s->if_not_exists));
    if (s->if_not_exists) {
        FRZ_TRY(expect(p, "NOT"));
        FRZ_TRY(expect(p, "EXISTS"));
    }
    FRZ_TRY(take_name(p, "expected a column name", &s->column));
    FRZ_TRY(take_type(p));
    if (frz_lexer_is(&p->lexer, "not")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: adding a column that is NOT NULL");
    }
    FRZ_TRY(accept(p, "null", &word)); /* what every new column is */
    FRZ_TRY(accept(p, "default", &word));
    if (word) {
        FRZ_TRY(take_expr(p, &s->default_value));
    }
    s->verb = SQL_ADD_COLUMN;
out:
    return rc;
}

static frz_code take_string(sql_parser *p, const char *what, frz_str *out)
{
    if (p->lexer.token.kind != FRZ_TOKEN_STRING) {
        return fail_here(p, what);
    }
    *out = p->lexer.token.text;
    return next(p);
}

/* SET TBLPROPERTIES ( 'key' = 'value', … ) */
static frz_code parse_set_properties(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    FRZ_TRY(expect(p, "TBLPROPERTIES"));
    FRZ_TRY(expect(p, "("));
    while (more) {
        FRZ_TRY(GROW(p, s->properties, s->property_capacity, s->property_count));
        frz_property_kv *property = &s->properties[s->property_count];
        FRZ_TRY(take_string(p, "expected a property name in single quotes", &property->key));
        FRZ_TRY(expect(p, "="));
        FRZ_TRY(take_string(p, "expected a property value in single quotes", &property->value));
        s->property_count++;
        FRZ_TRY(accept(p, ",", &more));
    }
    FRZ_TRY(expect(p, ")"));
    s->verb = SQL_SET_PROPERTIES;
out:
    return rc;
}

/* UNSET TBLPROPERTIES [IF EXISTS] ( 'key', … ) */
static frz_code parse_unset_properties(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    FRZ_TRY(expect(p, "TBLPROPERTIES"));
    FRZ_TRY(take_if_exists(p));
    FRZ_TRY(expect(p, "("));
    while (more) {
        FRZ_TRY(GROW(p, s->properties, s->property_capacity, s->property_count));
        frz_property_kv *property = &s->properties[s->property_count];
        *property = (frz_property_kv){0};
        FRZ_TRY(take_string(p, "expected a property name in single quotes", &property->key));
        s->property_count++;
        FRZ_TRY(accept(p, ",", &more));
    }
    FRZ_TRY(expect(p, ")"));
    s->verb = SQL_UNSET_PROPERTIES;
out:
    return rc;
}

static frz_code unsupported_statement(sql_parser *p, frz_str words)
{
    frz_code rc = frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: %.*s", FRZ_STR_ARG(words));
    frz_hint(p->err,
             "statements are: SELECT ... FROM, EXPLAIN SELECT, UPDATE ... SET, DELETE FROM, "
             "INSERT INTO ... SELECT, ALTER TABLE ... ADD, RENAME, DROP or ALTER COLUMN, ALTER "
             "TABLE ... SET or UNSET "
             "TBLPROPERTIES");
    return rc;
}

static const struct {
    const char *word;
    frz_code (*parse)(sql_parser *p);
} alter_forms[] = {
    {"add", parse_add_column},     {"rename", parse_rename_column},
    {"drop", parse_drop_column},   {"alter", parse_alter_column},
    {"set", parse_set_properties}, {"unset", parse_unset_properties},
};

static frz_code parse_alter(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool accepted = false;
    FRZ_TRY(expect(p, "TABLE"));
    FRZ_TRY(take_table(p));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(alter_forms); i++) {
        FRZ_TRY(accept(p, alter_forms[i].word, &accepted));
        if (accepted) {
            return alter_forms[i].parse(p);
        }
    }
    if (p->lexer.token.kind == FRZ_TOKEN_NAME) {
        char text[80] = "ALTER TABLE ... ";
        frz_str word = p->lexer.token.text;
        size_t len = strlen(text);
        size_t more = FRZ_MIN(word.len, sizeof text - len - 1);
        memcpy(text + len, word.ptr, more);
        return unsupported_statement(p, (frz_str){text, len + more});
    }
    rc = fail_here(p, "expected ADD, RENAME, DROP, ALTER, SET or UNSET");
out:
    return rc;
}

/* ---- statements ---- */

/* The first words of statements that others know. */
static const char *const foreign_statements[] = {
    "analyze", "begin",   "call",     "commit", "copy",     "create", "describe", "drop",   "grant",
    "merge",   "replace", "rollback", "show",   "truncate", "use",    "values",   "vacuum", "with"};

static frz_code parse_other(sql_parser *p)
{
    frz_str word = p->lexer.token.text;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(foreign_statements); i++) {
        if (p->lexer.token.kind == FRZ_TOKEN_NAME &&
            frz_str_equal_nocase(word, frz_str_from(foreign_statements[i]))) {
            return unsupported_statement(p, word);
        }
    }
    return fail_here(p, "expected SELECT, UPDATE, DELETE, INSERT or ALTER TABLE");
}

/* [EXPLAIN] statement */
static frz_code parse_statement(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool accepted = false;
    FRZ_TRY(accept(p, "explain", &p->statement->explain));
    FRZ_TRY(accept(p, "select", &accepted));
    if (accepted) {
        p->statement->verb = SQL_SELECT;
        return parse_select(p);
    }
    FRZ_TRY(accept(p, "update", &accepted));
    if (accepted) {
        p->statement->verb = SQL_UPDATE;
        return parse_update(p);
    }
    FRZ_TRY(accept(p, "delete", &accepted));
    if (accepted) {
        return parse_delete(p);
    }
    FRZ_TRY(accept(p, "insert", &accepted));
    if (accepted) {
        return parse_insert(p);
    }
    FRZ_TRY(accept(p, "alter", &accepted));
    if (accepted) {
        return parse_alter(p);
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
    FRZ_TRY(take_end(&p));
    *out = statement;
out:
    return rc;
}
