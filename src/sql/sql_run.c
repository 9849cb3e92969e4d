/*
 * Running one statement.
 */
#include "catalog/catalog_store.h"
#include "sql/sql_internal.h"

/* The table that a SELECT names, and the view of it: "db.t.files" is a table of that name if there
 * is one, else a view of db.t. */
static frz_code load_named(frz_catalog *catalog, const sql_statement *statement,
                           frz_table_view *view, bool *is_view, frz_table **out, frz_error *err)
{
    bool maybe_view = statement->table_above != NULL && sql_view_find(statement->last_part, view);
    frz_code rc = frz_catalog_load_table(catalog, statement->table, out, err);
    *is_view = rc == FRZ_E_NOT_FOUND && maybe_view;
    if (!*is_view) {
        return rc;
    }
    frz_error why = {0};
    rc = frz_catalog_load_table(catalog, statement->table_above, out, &why);
    if (rc == FRZ_E_ARGUMENT || rc == FRZ_E_NOT_FOUND) { /* the first answer is the better one */
        return FRZ_E_NOT_FOUND;
    }
    if (err != NULL) {
        *err = why;
    }
    return rc;
}

static frz_code run_select(frz_catalog *catalog, frz_table *table, const sql_statement *statement,
                           frz_arena *arena, frz_sql_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = table != NULL ? table->env : catalog->env;
    frz_table *loaded = NULL;
    frz_table_view view = FRZ_TABLE_VIEW_DESCRIBE;
    bool is_view = table != NULL && statement->table_above != NULL &&
                   sql_view_find(statement->last_part, &view);
    if (statement->file != NULL) {
        FRZ_TRY(statement->explain
                    ? frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: EXPLAIN of a read of a file")
                    : sql_select(env, NULL, NULL, statement, arena, &out->rows, err));
        out->kind = FRZ_SQL_ROWS;
        goto out;
    }
    if (table == NULL) {
        FRZ_TRY(load_named(catalog, statement, &view, &is_view, &loaded, err));
        table = loaded;
    }
    FRZ_TRY(
        statement->explain
            ? sql_explain_select(table, is_view ? &view : NULL, statement, &out->rows, err)
            : sql_select(env, table, is_view ? &view : NULL, statement, arena, &out->rows, err));
    out->kind = FRZ_SQL_ROWS;
out:
    frz_table_unref(loaded);
    return rc;
}

static frz_code explain_change(frz_catalog *catalog, frz_table *table,
                               const sql_statement *statement, frz_sql_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *loaded = NULL;
    if (statement->verb != SQL_UPDATE && statement->verb != SQL_DELETE &&
        statement->verb != SQL_MERGE) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: EXPLAIN of anything but SELECT, UPDATE, MERGE and DELETE");
    }
    if (table == NULL) {
        FRZ_TRY(frz_catalog_load_table(catalog, statement->table, &loaded, err));
        table = loaded;
    } else {
        catalog = NULL;
    }
    FRZ_TRY(sql_explain_change(catalog, table, statement, &out->rows, err));
    out->kind = FRZ_SQL_ROWS;
out:
    frz_table_unref(loaded);
    return rc;
}

static frz_code run_insert(frz_catalog *catalog, const sql_statement *statement, frz_arena *arena,
                           frz_sql_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_sql_result source = {0};
    sql_statement select = *statement; /* what it points to moves into the rows */
    FRZ_TRY(statement->value_count > 0 ? sql_values(catalog, &select, arena, &source.rows, err)
                                       : run_select(catalog, NULL, &select, arena, &source, err));
    FRZ_TRY(sql_insert(catalog, &select, &source.rows, &out->report, err));
    out->kind = FRZ_SQL_INSERT;
out:
    if (source.rows.release != NULL) {
        source.rows.release(&source.rows);
    }
    return rc;
}

frz_code frz_sql_run(frz_catalog *catalog, frz_table *table, const char *statement,
                     frz_sql_result *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena = {0};
    sql_statement parsed;
    frz_sql_result result = {0};
    if ((catalog == NULL && table == NULL) || statement == NULL || out == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a statement and a catalog or table are needed");
    }
    frz_arena_init(&arena, table != NULL ? table->env : catalog->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(sql_parse(&arena, frz_str_from(statement), &parsed, err));
    if (parsed.verb == SQL_SELECT) {
        FRZ_TRY(run_select(catalog, table, &parsed, &arena, &result, err));
    } else if (parsed.explain) {
        FRZ_TRY(explain_change(catalog, table, &parsed, &result, err));
    } else if (table != NULL) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "the table is read-only");
        frz_hint(err, "it was opened from a metadata file; changes go through a catalog");
        goto out;
    } else if (parsed.verb == SQL_INSERT) {
        FRZ_TRY(run_insert(catalog, &parsed, &arena, &result, err));
    } else if (parsed.verb == SQL_UPDATE) {
        FRZ_TRY(sql_update(catalog, &parsed, &result.report, err));
        result.kind = FRZ_SQL_UPDATE;
    } else if (parsed.verb == SQL_MERGE) {
        FRZ_TRY(sql_merge(catalog, &parsed, &result.report, err));
        result.kind = FRZ_SQL_MERGE;
    } else if (parsed.verb == SQL_DELETE) {
        FRZ_TRY(sql_delete(catalog, &parsed, &result.report, err));
        result.kind = FRZ_SQL_DELETE;
    } else {
        FRZ_TRY(sql_alter(catalog, &parsed, &result.report, err));
        result.kind = FRZ_SQL_ALTER;
    }
    *out = result;
out:
    frz_arena_reset(&arena);
    return rc;
}
