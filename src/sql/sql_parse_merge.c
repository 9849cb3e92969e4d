/*
 * MERGE INTO table [[AS] name] USING rows ON condition WHEN …
 */
#include "sql/sql_parse.h"

/* UPDATE SET column = value, … | UPDATE [SET] * */
static frz_code take_update(sql_parser *p, sql_when *when)
{
    frz_code rc = FRZ_OK;
    bool word = false, more = true;
    when->clause.action = FRZ_MERGE_UPDATE;
    FRZ_TRY(sql_accept(p, "set", &word));
    if (!word || frz_lexer_is(&p->lexer, "*")) {
        return sql_expect(p, "*");
    }
    while (more) {
        FRZ_TRY(sql_take_set(p, &when->sets, &when->set_count, &when->set_capacity));
        FRZ_TRY(sql_accept(p, ",", &more));
    }
out:
    return rc;
}

/* column, … ) VALUES ( value | DEFAULT, … ) */
static frz_code take_named_values(sql_parser *p, sql_when *when)
{
    frz_code rc = FRZ_OK;
    frz_str name;
    bool more = true, is_default = false;
    while (more) {
        FRZ_TRY(SQL_GROW(p, when->sets, when->set_capacity, when->set_count));
        sql_set *set = &when->sets[when->set_count++];
        FRZ_TRY(sql_take_name(p, "expected a column name", &name));
        *set = (sql_set){.column = frz_arena_strdup(p->arena, name)};
        FRZ_TRY(set->column == NULL ? frz_fail_nomem(p->err, name.len) : FRZ_OK);
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_expect(p, ")"));
    FRZ_TRY(sql_expect(p, "VALUES"));
    FRZ_TRY(sql_expect(p, "("));
    for (size_t i = 0; i < when->set_count; i++) {
        FRZ_TRY(i == 0 ? FRZ_OK : sql_expect(p, ","));
        FRZ_TRY(sql_accept(p, "default", &is_default));
        FRZ_TRY(is_default ? FRZ_OK : sql_take_expr(p, &when->sets[i].value));
    }
    FRZ_TRY(sql_expect(p, ")"));
out:
    return rc;
}

/* INSERT * | INSERT (column, …) VALUES (…) */
static frz_code take_insert(sql_parser *p, sql_when *when)
{
    frz_code rc = FRZ_OK;
    bool star = false;
    when->clause.action = FRZ_MERGE_INSERT;
    FRZ_TRY(sql_accept(p, "*", &star));
    if (star) {
        return FRZ_OK;
    }
    FRZ_TRY(sql_expect(p, "("));
    FRZ_TRY(take_named_values(p, when));
out:
    return rc;
}

static frz_code take_action(sql_parser *p, sql_when *when)
{
    frz_code rc = FRZ_OK;
    bool accepted = false;
    if (when->clause.when == FRZ_MERGE_NOT_MATCHED) {
        FRZ_TRY(sql_expect(p, "INSERT"));
        return take_insert(p, when);
    }
    FRZ_TRY(sql_accept(p, "delete", &accepted));
    if (accepted) {
        when->clause.action = FRZ_MERGE_DELETE;
        return FRZ_OK;
    }
    FRZ_TRY(sql_accept(p, "update", &accepted));
    rc = accepted ? take_update(p, when) : sql_fail_here(p, "expected UPDATE or DELETE");
out:
    return rc;
}

/* [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action */
static frz_code take_when(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool not = false, by = false, source = false, and = false;
    sql_expr condition = {0};
    FRZ_TRY(SQL_GROW(p, s->whens, s->when_capacity, s->when_count));
    sql_when *when = &s->whens[s->when_count++];
    *when = (sql_when){.clause = {.when = FRZ_MERGE_MATCHED}};
    FRZ_TRY(sql_accept(p, "not", &not ));
    FRZ_TRY(sql_expect(p, "MATCHED"));
    if (not ) {
        FRZ_TRY(sql_accept(p, "by", &by));
        FRZ_TRY(by ? sql_accept(p, "source", &source) : FRZ_OK);
        FRZ_TRY(by && !source ? sql_expect(p, "TARGET") : FRZ_OK);
        when->clause.when = source ? FRZ_MERGE_NOT_MATCHED_BY_SOURCE : FRZ_MERGE_NOT_MATCHED;
    }
    FRZ_TRY(sql_accept(p, "and", &and));
    if (and) {
        FRZ_TRY(sql_take_expr(p, &condition));
        when->clause.condition = condition.text;
    }
    FRZ_TRY(sql_expect(p, "THEN"));
    FRZ_TRY(take_action(p, when));
out:
    return rc;
}

frz_code sql_parse_merge(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool more = true;
    p->statement->verb = SQL_MERGE;
    FRZ_TRY(sql_expect(p, "INTO"));
    FRZ_TRY(sql_take_target(p));
    FRZ_TRY(sql_take_alias(p, &p->statement->table_name));
    FRZ_TRY(sql_expect(p, "USING"));
    FRZ_TRY(sql_take_rows(p));
    FRZ_TRY(sql_expect(p, "ON"));
    FRZ_TRY(sql_take_expr(p, &p->statement->where));
    FRZ_TRY(sql_expect(p, "WHEN"));
    while (more) {
        FRZ_TRY(take_when(p));
        FRZ_TRY(sql_accept(p, "when", &more));
    }
out:
    return rc;
}
