/*
 * UPDATE, DELETE and INSERT.
 */
#include "sql/sql_parse.h"

/* ---- UPDATE ---- */

static frz_code check_column_once(sql_parser *p, const sql_set *sets, size_t count, frz_str column,
                                  size_t start)
{
    for (size_t i = 0; i < count; i++) {
        if (frz_str_equal(frz_str_from(sets[i].column), column)) {
            return frz_lexer_fail(&p->lexer, start, p->err, "column \"%.*s\" is set twice",
                                  FRZ_STR_ARG(column));
        }
    }
    return FRZ_OK;
}

/* It has no meaning for rows that exist, and as a column it must be quoted. */
static frz_code refuse_default(sql_parser *p)
{
    if (!frz_lexer_is(&p->lexer, "default")) {
        return FRZ_OK;
    }
    frz_lexer_fail(&p->lexer, p->lexer.token.start, p->err, "unsupported: DEFAULT in SET");
    if (p->err != NULL) {
        p->err->code = FRZ_E_UNSUPPORTED;
    }
    frz_hint(p->err, "write the value; a column of that name is \"default\", in quotes");
    return FRZ_E_UNSUPPORTED;
}

frz_code sql_take_set(sql_parser *p, sql_set **sets, size_t *count, size_t *capacity)
{
    frz_code rc = FRZ_OK;
    frz_str column;
    size_t start = p->lexer.token.start;
    FRZ_TRY(sql_take_name(p, "expected a column name", &column));
    if (frz_lexer_is(&p->lexer, ".")) {
        frz_lexer_fail(&p->lexer, start, p->err, "unsupported: setting a field inside a column");
        if (p->err != NULL) {
            p->err->code = FRZ_E_UNSUPPORTED;
        }
        return FRZ_E_UNSUPPORTED;
    }
    FRZ_TRY(check_column_once(p, *sets, *count, column, start));
    FRZ_TRY(SQL_GROW(p, *sets, *capacity, *count));
    sql_set *set = &(*sets)[*count];
    *set = (sql_set){.column = frz_arena_strdup(p->arena, column)};
    if (set->column == NULL) {
        rc = frz_fail_nomem(p->err, column.len);
        goto out;
    }
    FRZ_TRY(sql_expect(p, "="));
    FRZ_TRY(refuse_default(p));
    FRZ_TRY(sql_take_expr(p, &set->value));
    (*count)++;
out:
    return rc;
}

/* table [[AS] name] SET column = value, … [FROM rows] [WHERE …] */
frz_code sql_parse_update(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool more = true, from = false;
    FRZ_TRY(sql_take_target(p));
    FRZ_TRY(sql_take_alias(p, &p->statement->table_name));
    FRZ_TRY(sql_expect(p, "SET"));
    while (more) {
        FRZ_TRY(sql_take_set(p, &s->sets, &s->set_count, &s->set_capacity));
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_accept(p, "from", &from));
    if (from) {
        FRZ_TRY(sql_take_rows(p));
    }
    FRZ_TRY(sql_take_where(p));
out:
    return rc;
}

/* ---- DELETE ---- */

frz_code sql_parse_delete(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    p->statement->verb = SQL_DELETE;
    FRZ_TRY(sql_expect(p, "FROM"));
    FRZ_TRY(sql_take_target(p));
    FRZ_TRY(sql_take_where(p));
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
        FRZ_TRY(sql_take_name(p, "expected a column name", &name));
        FRZ_TRY(SQL_GROW(p, s->columns, s->column_capacity, s->column_count));
        s->columns[s->column_count] = frz_arena_strdup(p->arena, name);
        if (s->columns[s->column_count++] == NULL) {
            return frz_fail_nomem(p->err, name.len);
        }
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_expect(p, ")"));
out:
    return rc;
}

/* ( expression | DEFAULT, … ) */
static frz_code take_row(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    size_t start = p->lexer.token.start, before = s->value_count;
    bool more = true, is_default = false;
    FRZ_TRY(sql_expect(p, "("));
    while (more) {
        FRZ_TRY(SQL_GROW(p, s->values, s->value_capacity, s->value_count));
        sql_expr *value = &s->values[s->value_count++];
        *value = (sql_expr){0};
        FRZ_TRY(sql_accept(p, "default", &is_default));
        FRZ_TRY(is_default ? FRZ_OK : sql_take_expr(p, value));
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_expect(p, ")"));
    size_t width = s->value_count - before;
    s->value_width = before == 0 ? width : s->value_width;
    if (width != s->value_width) {
        rc = frz_lexer_fail(&p->lexer, start, p->err, "expected %zu values in each row, found %zu",
                            s->value_width, width);
    }
out:
    return rc;
}

static frz_code take_rows(sql_parser *p)
{
    bool more = true;
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK && more) {
        rc = take_row(p);
        rc = rc == FRZ_OK ? sql_accept(p, ",", &more) : rc;
    }
    return rc;
}

/* INTO table [(column, …)] SELECT … | VALUES (…), … */
frz_code sql_parse_insert(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool columns = false, values = false;
    FRZ_TRY(sql_expect(p, "INTO"));
    FRZ_TRY(sql_take_target(p));
    p->statement->into = p->statement->table;
    p->statement->table = p->statement->table_above = NULL;
    FRZ_TRY(sql_accept(p, "(", &columns));
    if (columns) {
        FRZ_TRY(take_columns(p));
    }
    p->statement->verb = SQL_INSERT;
    FRZ_TRY(sql_accept(p, "values", &values));
    if (values) {
        return take_rows(p);
    }
    FRZ_TRY(sql_expect(p, "SELECT"));
    FRZ_TRY(sql_parse_select(p));
out:
    return rc;
}
