/*
 * Statements that change a table: UPDATE, MERGE, DELETE and INSERT. ALTER TABLE is in sql_alter.c.
 */
#include "frazil/column_update.h"
#include "frazil/rows.h"
#include "sql/sql_internal.h"

/* ---- UPDATE ---- */

static frz_row_source source_of(const sql_rows *rows)
{
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = rows->name;
    source.table = rows->table;
    source.files = rows->file == NULL ? NULL : &rows->file;
    source.file_count = rows->file != NULL;
    return source;
}

static bool has_source(const sql_statement *statement)
{
    return statement->rows.file != NULL || statement->rows.table != NULL;
}

static frz_code update(frz_catalog *catalog, const sql_statement *statement,
                       const frz_assignment *assignments, frz_commit_report *report, frz_error *err)
{
    if (!has_source(statement)) {
        return frz_update_columns(catalog, statement->table, assignments, statement->set_count,
                                  statement->where.text, report, err);
    }
    const frz_row_source source = source_of(&statement->rows);
    return frz_update_columns_from(catalog, statement->table, statement->table_name, assignments,
                                   statement->set_count, &source, statement->where.text, report,
                                   err);
}

/* Free with frz_free. */
static frz_code assignments_of(const frz_env *env, const sql_statement *statement,
                               frz_assignment **out, frz_error *err)
{
    frz_assignment *assignments = frz_alloc_zero(env, statement->set_count, sizeof *assignments);
    if (assignments == NULL) {
        return frz_fail_nomem(err, statement->set_count * sizeof *assignments);
    }
    for (size_t i = 0; i < statement->set_count; i++) {
        assignments[i].column = statement->sets[i].column;
        assignments[i].expression = statement->sets[i].value.text;
    }
    *out = assignments;
    return FRZ_OK;
}

frz_code sql_update(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err)
{
    frz_assignment *assignments = NULL;
    frz_code rc = assignments_of(catalog->env, statement, &assignments, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    rc = update(catalog, statement, assignments, report, err);
    frz_free(catalog->env, assignments);
    return rc;
}

/* ---- MERGE ---- */

static frz_code clause_of(const sql_when *when, frz_arena *arena, frz_merge_clause *out,
                          frz_error *err)
{
    frz_assignment *assignments = frz_arena_array(arena, when->set_count + 1, sizeof *assignments);
    if (assignments == NULL) {
        return frz_fail_nomem(err, when->set_count * sizeof *assignments);
    }
    for (size_t i = 0; i < when->set_count; i++) {
        assignments[i] = (frz_assignment){when->sets[i].column, when->sets[i].value.text};
    }
    *out = when->clause;
    out->assignments = when->set_count == 0 ? NULL : assignments;
    out->assignment_count = when->set_count;
    return FRZ_OK;
}

static frz_code clauses_of(const sql_statement *statement, frz_arena *arena,
                           const frz_merge_clause **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_merge_clause *clauses = frz_arena_array(arena, statement->when_count, sizeof *clauses);
    FRZ_TRY(clauses == NULL ? frz_fail_nomem(err, statement->when_count * sizeof *clauses)
                            : FRZ_OK);
    for (size_t i = 0; i < statement->when_count; i++) {
        FRZ_TRY(clause_of(&statement->whens[i], arena, &clauses[i], err));
    }
    *out = clauses;
out:
    return rc;
}

frz_code sql_merge(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_row_source source = source_of(&statement->rows);
    const frz_merge_clause *clauses = NULL;
    frz_arena_init(&arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(clauses_of(statement, &arena, &clauses, err));
    FRZ_TRY(frz_merge(catalog, statement->table, statement->table_name, &source,
                      statement->where.text, clauses, statement->when_count, report, err));
out:
    frz_arena_reset(&arena);
    return rc;
}

/* ---- EXPLAIN ---- */

static frz_code estimate_update(frz_catalog *catalog, const frz_table *table,
                                const sql_statement *statement, frz_statement_estimate *out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_assignment *assignments = NULL;
    const frz_row_source source = source_of(&statement->rows);
    FRZ_TRY(assignments_of(table->env, statement, &assignments, err));
    rc = has_source(statement)
             ? frz_update_from_estimate(catalog, statement->table, statement->table_name,
                                        assignments, statement->set_count, &source,
                                        statement->where.text, out, err)
             : frz_update_estimate(table, assignments, statement->set_count, statement->where.text,
                                   out, err);
out:
    frz_free(table->env, assignments);
    return rc;
}

static frz_code estimate_merge(frz_catalog *catalog, const sql_statement *statement,
                               frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_row_source source = source_of(&statement->rows);
    const frz_merge_clause *clauses = NULL;
    frz_arena_init(&arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(clauses_of(statement, &arena, &clauses, err));
    FRZ_TRY(frz_merge_estimate(catalog, statement->table, statement->table_name, &source,
                               statement->where.text, clauses, statement->when_count, out, err));
out:
    frz_arena_reset(&arena);
    return rc;
}

frz_code sql_explain_change(frz_catalog *catalog, const frz_table *table,
                            const sql_statement *statement, struct ArrowArrayStream *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_statement_estimate estimate;
    if (catalog == NULL && has_source(statement)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "a statement with rows from outside is explained through a catalog only");
    }
    if (statement->verb == SQL_DELETE) {
        FRZ_TRY(frz_delete_estimate(table, statement->where.text, &estimate, err));
    } else if (statement->verb == SQL_MERGE) {
        FRZ_TRY(estimate_merge(catalog, statement, &estimate, err));
    } else {
        FRZ_TRY(estimate_update(catalog, table, statement, &estimate, err));
    }
    FRZ_TRY(sql_explain_modes(table->env, &estimate, out, err));
out:
    return rc;
}

/* ---- rows ---- */

frz_code sql_delete(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err)
{
    return frz_delete_rows(catalog, statement->table, statement->where.text, report, err);
}

frz_code sql_insert(frz_catalog *catalog, const sql_statement *statement,
                    struct ArrowArrayStream *rows, frz_commit_report *report, frz_error *err)
{
    frz_append_options options = FRZ_APPEND_OPTIONS_INIT;
    options.columns = (const char *const *)statement->columns;
    options.column_count = statement->column_count;
    options.convert = 1;
    return frz_append_stream(catalog, statement->into, rows, &options, report, err);
}
