/*
 * ALTER TABLE.
 */
#include "sql/sql_parse.h"

/* Everything up to DEFAULT, NOT, NULL, ; or the end, which is then the current token. */
static frz_code take_type(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    frz_lexer *lexer = &p->lexer;
    size_t start = lexer->token.start;
    while (lexer->token.kind != FRZ_TOKEN_END && !frz_lexer_is(lexer, ";") &&
           !frz_lexer_is(lexer, "default") && !frz_lexer_is(lexer, "not") &&
           !frz_lexer_is(lexer, "null") && !frz_lexer_is(lexer, "comment")) {
        FRZ_TRY(sql_next(p));
    }
    const char *text = sql_copy_text(p, start, lexer->token.start);
    if (text == NULL) {
        return frz_fail_nomem(p->err, 0);
    }
    if (text[0] == '\0') {
        return sql_fail_here(p, "expected a type");
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
    frz_code rc = sql_accept(p, "if", &p->statement->if_exists);
    return rc == FRZ_OK && p->statement->if_exists ? sql_expect(p, "EXISTS") : rc;
}

/* name . name . … */
static frz_code take_path(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    while (more) {
        FRZ_TRY(SQL_GROW(p, s->path, s->path_capacity, s->path_count));
        FRZ_TRY(sql_take_name(p, "expected a column name", &s->path[s->path_count]));
        s->path_count++;
        FRZ_TRY(sql_accept(p, ".", &more));
    }
out:
    return rc;
}

/* RENAME [COLUMN] column TO name */
static frz_code parse_rename_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool column = false;
    FRZ_TRY(sql_accept(p, "column", &column));
    if (!column && frz_lexer_is(&p->lexer, "to")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: ALTER TABLE ... RENAME TO");
    }
    FRZ_TRY(take_path(p));
    FRZ_TRY(sql_expect(p, "TO"));
    FRZ_TRY(sql_take_name(p, "expected a column name", &p->statement->new_name));
    p->statement->verb = SQL_RENAME_COLUMN;
out:
    return rc;
}

/* DROP [COLUMN] [IF EXISTS] column */
static frz_code parse_drop_column(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool column = false;
    FRZ_TRY(sql_accept(p, "column", &column));
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
    FRZ_TRY(sql_accept(p, "column", &word));
    FRZ_TRY(take_path(p));
    FRZ_TRY(sql_accept(p, "drop", &word));
    if (word) {
        FRZ_TRY(sql_expect(p, "NOT"));
        FRZ_TRY(sql_expect(p, "NULL"));
        p->statement->verb = SQL_COLUMN_OPTIONAL;
        return FRZ_OK;
    }
    FRZ_TRY(sql_accept(p, "set", &word));
    if (word && !frz_lexer_is(&p->lexer, "data")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED,
                        "unsupported: ALTER COLUMN ... SET of anything but DATA TYPE");
    }
    if (word) {
        FRZ_TRY(sql_next(p));
    }
    FRZ_TRY(sql_expect(p, "TYPE"));
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
    FRZ_TRY(sql_accept(p, "column", &word));
    FRZ_TRY(sql_accept(p, "if", &s->if_not_exists));
    if (s->if_not_exists) {
        FRZ_TRY(sql_expect(p, "NOT"));
        FRZ_TRY(sql_expect(p, "EXISTS"));
    }
    FRZ_TRY(sql_take_name(p, "expected a column name", &s->column));
    FRZ_TRY(take_type(p));
    if (frz_lexer_is(&p->lexer, "not")) {
        return frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: adding a column that is NOT NULL");
    }
    FRZ_TRY(sql_accept(p, "null", &word)); /* what every new column is */
    FRZ_TRY(sql_accept(p, "default", &word));
    if (word) {
        FRZ_TRY(sql_take_expr(p, &s->default_value));
    }
    s->verb = SQL_ADD_COLUMN;
out:
    return rc;
}

static frz_code sql_take_string(sql_parser *p, const char *what, frz_str *out)
{
    if (p->lexer.token.kind != FRZ_TOKEN_STRING) {
        return sql_fail_here(p, what);
    }
    *out = p->lexer.token.text;
    return sql_next(p);
}

/* ( 'key' = 'value', … ), or keys alone. */
static frz_code take_properties(sql_parser *p, bool values)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true;
    FRZ_TRY(sql_expect(p, "("));
    while (more) {
        FRZ_TRY(SQL_GROW(p, s->properties, s->property_capacity, s->property_count));
        frz_property_kv *property = &s->properties[s->property_count];
        *property = (frz_property_kv){0};
        FRZ_TRY(sql_take_string(p, "expected a property name in single quotes", &property->key));
        if (values) {
            FRZ_TRY(sql_expect(p, "="));
            FRZ_TRY(
                sql_take_string(p, "expected a property value in single quotes", &property->value));
        }
        s->property_count++;
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_expect(p, ")"));
out:
    return rc;
}

/* SET TBLPROPERTIES ( 'key' = 'value', … ) */
static frz_code parse_set_properties(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(sql_expect(p, "TBLPROPERTIES"));
    FRZ_TRY(take_properties(p, true));
    p->statement->verb = SQL_SET_PROPERTIES;
out:
    return rc;
}

/* UNSET TBLPROPERTIES [IF EXISTS] ( 'key', … ) */
static frz_code parse_unset_properties(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(sql_expect(p, "TBLPROPERTIES"));
    FRZ_TRY(take_if_exists(p));
    FRZ_TRY(take_properties(p, false));
    p->statement->verb = SQL_UNSET_PROPERTIES;
out:
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

frz_code sql_parse_alter(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool accepted = false;
    FRZ_TRY(sql_expect(p, "TABLE"));
    FRZ_TRY(sql_take_target(p));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(alter_forms); i++) {
        FRZ_TRY(sql_accept(p, alter_forms[i].word, &accepted));
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
        return sql_unsupported_statement(p, (frz_str){text, len + more});
    }
    rc = sql_fail_here(p, "expected ADD, RENAME, DROP, ALTER, SET or UNSET");
out:
    return rc;
}
