/*
 * SELECT: the list, what it reads and when, the clauses.
 */
#include "sql/sql_parse.h"

static frz_code take_limit(sql_parser *p)
{
    bool limit = false;
    frz_code rc = sql_accept(p, "limit", &limit);
    p->statement->limit = -1;
    if (rc != FRZ_OK || !limit) {
        return rc;
    }
    if (p->lexer.token.kind != FRZ_TOKEN_NUMBER ||
        !frz_str_to_i64(p->lexer.token.text, &p->statement->limit)) {
        return sql_fail_here(p, "expected a whole number of rows");
    }
    return sql_next(p);
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

/* VERSION AS OF: an id, or the name of a branch or tag. */
static frz_code take_version(sql_parser *p)
{
    frz_snapshot_choice *choice = &p->statement->choice;
    if (p->lexer.token.kind == FRZ_TOKEN_STRING) {
        return sql_copy_token(p, &choice->ref);
    }
    if (p->lexer.token.kind != FRZ_TOKEN_NUMBER ||
        !frz_str_to_i64(p->lexer.token.text, &choice->snapshot_id) || choice->snapshot_id <= 0) {
        return sql_fail_here(p, "expected the id of a snapshot, or the name of a branch or tag in "
                                "single quotes");
    }
    return sql_next(p);
}

static frz_code take_timestamp(sql_parser *p)
{
    bool word = false;
    frz_code rc = sql_accept(p, "timestamp", &word);
    if (rc != FRZ_OK) {
        return rc;
    }
    return p->lexer.token.kind == FRZ_TOKEN_STRING
               ? sql_copy_token(p, &p->statement->choice.as_of)
               : sql_fail_here(p,
                               "expected a time in single quotes, such as '2026-11-01 12:00:00'");
}

/* [FOR] VERSION AS OF x, [FOR] TIMESTAMP AS OF x; also SYSTEM_VERSION and SYSTEM_TIME. */
static frz_code take_time_travel(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    static const char *const words[] = {"version", "system_version", "timestamp", "system_time"};
    bool for_word = false, found = false;
    size_t i = 0;
    FRZ_TRY(sql_accept(p, "for", &for_word));
    for (; i < FRZ_ARRAY_COUNT(words) && !found; i++) {
        FRZ_TRY(sql_accept(p, words[i], &found));
    }
    if (!found) {
        return for_word ? sql_fail_here(p, "expected VERSION or TIMESTAMP after FOR") : FRZ_OK;
    }
    FRZ_TRY(sql_expect(p, "AS"));
    FRZ_TRY(sql_expect(p, "OF"));
    FRZ_TRY(i <= 2 ? take_version(p) : take_timestamp(p));
out:
    return rc;
}

static frz_code take_item(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    sql_statement *s = p->statement;
    bool as = false;
    FRZ_TRY(SQL_GROW(p, s->items, s->item_capacity, s->item_count));
    sql_item *item = &s->items[s->item_count++];
    *item = (sql_item){0};
    FRZ_TRY(sql_accept(p, "*", &item->star));
    if (item->star) {
        return FRZ_OK;
    }
    FRZ_TRY(sql_take_expr(p, &item->expr));
    FRZ_TRY(sql_accept(p, "as", &as));
    if (as || (sql_at_name(p) && !frz_lexer_is(&p->lexer, "from"))) {
        FRZ_TRY(sql_take_name(p, "expected a name after AS", &item->name));
    }
out:
    return rc;
}

frz_code sql_parse_select(sql_parser *p)
{
    frz_code rc = FRZ_OK;
    bool more = true;
    if (frz_lexer_is(&p->lexer, "distinct")) {
        frz_fail(p->err, FRZ_E_UNSUPPORTED, "unsupported: SELECT DISTINCT");
        return FRZ_E_UNSUPPORTED;
    }
    while (more) {
        FRZ_TRY(take_item(p));
        FRZ_TRY(sql_accept(p, ",", &more));
    }
    FRZ_TRY(sql_expect(p, "FROM"));
    if (p->lexer.token.kind == FRZ_TOKEN_STRING) {
        FRZ_TRY(sql_copy_token(p, &p->statement->file));
    } else {
        FRZ_TRY(sql_take_target(p));
        FRZ_TRY(take_time_travel(p));
    }
    FRZ_TRY(refuse_clauses(p));
    FRZ_TRY(sql_take_where(p));
    FRZ_TRY(refuse_clauses(p));
    FRZ_TRY(take_limit(p));
    FRZ_TRY(refuse_clauses(p));
out:
    return rc;
}
