/*
 * MERGE. Its clauses become one update: of the clauses that rows of one kind may meet the first one
 * counts whose condition is true, so
 *
 *   the new value of a column   the value that clause gives it, or the old one
 *   updated, deleted            whether that clause updates, deletes
 *
 * are each one expression. Rows of the source that are left in the end go to new data files
 * (column_update_insert.c).
 */
#include "column_update/column_update_internal.h"

/* ---- parsing ---- */

/* column: of the source, "*": all of them. */
static frz_code fail_by_source(frz_error *err, frz_str column)
{
    frz_fail(err, FRZ_E_ARGUMENT,
             "rows NOT MATCHED BY SOURCE have no value of the source's \"%.*s\"",
             FRZ_STR_ARG(column));
    frz_hint(err, "conditions and values are made of columns of the table and of constants there");
    return FRZ_E_ARGUMENT;
}

static frz_code check_clause(const frz_merge_clause *clause, frz_error *err)
{
    bool inserts = clause->action == FRZ_MERGE_INSERT;
    if (inserts != (clause->when == FRZ_MERGE_NOT_MATCHED)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "rows of the source are inserted, rows of the table updated or deleted");
    }
    if (clause->when == FRZ_MERGE_NOT_MATCHED_BY_SOURCE && clause->action == FRZ_MERGE_UPDATE &&
        clause->assignments == NULL) {
        return fail_by_source(err, (frz_str){"*", 1});
    }
    for (size_t i = 0; clause->assignments != NULL && i < clause->assignment_count; i++) {
        if (clause->assignments[i].expression == NULL && !inserts) {
            return frz_fail(err, FRZ_E_ARGUMENT, "no value for column \"%s\"",
                            clause->assignments[i].column);
        }
    }
    return FRZ_OK;
}

static frz_code parse_assignments(update_clause *clause, frz_arena *arena,
                                  const frz_merge_clause *given, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = given->assignment_count;
    clause->all = given->assignments == NULL;
    clause->assignments = frz_arena_array(arena, count + 1, sizeof *clause->assignments);
    if (clause->assignments == NULL) {
        return frz_fail_nomem(err, count * sizeof *clause->assignments);
    }
    clause->assignment_count = count;
    for (size_t i = 0; i < count; i++) {
        update_assignment *to = &clause->assignments[i];
        const char *text = given->assignments[i].expression;
        FRZ_TRY(frz_arena_str(arena, frz_str_from(given->assignments[i].column), &to->column, err));
        FRZ_TRY(text == NULL ? FRZ_OK : frz_expr_parse(arena, frz_str_from(text), &to->expr, err));
    }
out:
    return rc;
}

frz_code update_merge_parse(update_merge *merge, frz_arena *arena, const frz_merge_clause *clauses,
                            size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    merge->clauses = frz_arena_array(arena, count + 1, sizeof *merge->clauses);
    if (merge->clauses == NULL) {
        return frz_fail_nomem(err, count * sizeof *merge->clauses);
    }
    for (; merge->clause_count < count; merge->clause_count++) {
        const frz_merge_clause *given = &clauses[merge->clause_count];
        update_clause *clause = &merge->clauses[merge->clause_count];
        *clause = (update_clause){.when = given->when, .action = given->action};
        FRZ_TRY(check_clause(given, err));
        if (given->condition != NULL) {
            FRZ_TRY(frz_expr_parse(arena, frz_str_from(given->condition), &clause->expr, err));
        }
        if (given->action != FRZ_MERGE_DELETE) {
            FRZ_TRY(parse_assignments(clause, arena, given, err));
        }
        merge->inserts = merge->inserts || given->action == FRZ_MERGE_INSERT;
        merge->by_source = merge->by_source || given->when == FRZ_MERGE_NOT_MATCHED_BY_SOURCE;
    }
    rc = count == 0 ? frz_fail(err, FRZ_E_ARGUMENT, "a merge needs a WHEN clause") : FRZ_OK;
out:
    return rc;
}

bool update_merge_has(const update_merge *merge, frz_merge_action action)
{
    bool has = false;
    for (size_t i = 0; i < merge->clause_count; i++) {
        has = has || merge->clauses[i].action == action;
    }
    return has;
}

/* ---- "*": columns by name ---- */

/* Types whose values are the same if they are equal: of doubles 0.0 and -0.0 are not. */
static bool is_identical(const frz_type *a, const frz_type *b)
{
    bool whole = a->id == FRZ_TYPE_INT || a->id == FRZ_TYPE_LONG;
    bool both = b->id == FRZ_TYPE_INT || b->id == FRZ_TYPE_LONG;
    return (whole && both) || (frz_type_equal(a, b) && !frz_type_is_nested(a) &&
                               a->id != FRZ_TYPE_FLOAT && a->id != FRZ_TYPE_DOUBLE);
}

/* The columns of a table that a source has, each as its assignment. */
static frz_code expand_all(update_clause *clause, frz_arena *arena, const frz_type *table,
                           const frz_expr_scope *scope, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *row = NULL;
    size_t count = 0;
    update_assignment *made = frz_arena_array(arena, table->field_count, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, table->field_count * sizeof *made);
    }
    FRZ_TRY(frz_expr_name(arena, scope->column, &row, err));
    for (size_t i = 0; i < table->field_count; i++) {
        const frz_field *field = &table->fields[i], *from = NULL;
        rc = frz_type_resolve_name(scope->source_type, field->name, &from, err);
        if (rc == FRZ_E_NOT_FOUND && clause->action == FRZ_MERGE_UPDATE) {
            frz_error_reset(err);
            continue;
        }
        FRZ_TRY(frz_context(err, rc, "\"%.*s\"", FRZ_STR_ARG(scope->source)));
        made[count].column = field->name;
        made[count].identical = is_identical(field->type, from->type);
        FRZ_TRY(frz_expr_field(arena, row, from->name, &made[count++].scoped, err));
    }
    rc = FRZ_OK;
    clause->assignments = made;
    clause->assignment_count = count;
out:
    return rc;
}

/* A key of one column on both sides has the same value already. */
static bool is_key(const update_merge *merge, const frz_expr *name, const frz_expr *value)
{
    for (size_t i = 0; i < merge->equality_count; i++) {
        const frz_expr *a = NULL, *b = NULL;
        frz_expr_is_equality(merge->equalities[i], &a, &b);
        if ((frz_expr_same_path(a, name) && frz_expr_same_path(b, value)) ||
            (frz_expr_same_path(b, name) && frz_expr_same_path(a, value))) {
            return true;
        }
    }
    return false;
}

/* ---- names ---- */

/* What an INSERT sees: the source alone. */
static const frz_type no_columns = {.id = FRZ_TYPE_STRUCT};

static frz_code refuse_column(void *ctx, frz_str name, frz_error *err)
{
    (void)ctx;
    return fail_by_source(err, name);
}

/* The names in an expression, as tables have them. */
static frz_code scope_one(const update_clause *clause, frz_arena *arena,
                          const frz_expr_scope *scope, const frz_expr *expr, const frz_expr **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = NULL;
    if (expr == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_expr_scope_apply(arena, scope, expr, out, err));
    if (clause->when == FRZ_MERGE_NOT_MATCHED_BY_SOURCE) {
        FRZ_TRY(frz_expr_visit_fields(*out, scope->column, refuse_column, NULL, err));
    }
out:
    return rc;
}

frz_code update_merge_scope(update_merge *merge, frz_arena *arena, const frz_type *table,
                            const frz_expr_scope *scope, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_expr_scope alone = *scope;
    alone.table = &no_columns;
    alone.table_part_count = 0;
    for (size_t i = 0; i < merge->clause_count; i++) {
        update_clause *clause = &merge->clauses[i];
        const frz_expr_scope *own = clause->action == FRZ_MERGE_INSERT ? &alone : scope;
        FRZ_TRY(scope_one(clause, arena, own, clause->expr, &clause->condition, err));
        if (clause->all) {
            FRZ_TRY(expand_all(clause, arena, table, scope, err));
            continue;
        }
        for (size_t k = 0; k < clause->assignment_count; k++) {
            update_assignment *assignment = &clause->assignments[k];
            FRZ_TRY(scope_one(clause, arena, own, assignment->expr, &assignment->scoped, err));
        }
    }
out:
    return rc;
}

frz_code update_merge_visit(const update_merge *merge, frz_str name,
                            frz_code (*visit)(void *ctx, frz_str field, frz_error *err), void *ctx,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < merge->clause_count; i++) {
        const update_clause *clause = &merge->clauses[i];
        if (clause->condition != NULL) {
            FRZ_TRY(frz_expr_visit_fields(clause->condition, name, visit, ctx, err));
        }
        for (size_t k = 0; k < clause->assignment_count; k++) {
            const frz_expr *value = clause->assignments[k].scoped;
            FRZ_TRY(value == NULL ? FRZ_OK : frz_expr_visit_fields(value, name, visit, ctx, err));
        }
    }
out:
    return rc;
}

/* ---- one expression of all clauses ---- */

static bool meets(const update_clause *clause, bool inserts)
{
    return (clause->action == FRZ_MERGE_INSERT) == inserts;
}

/* Whether a row meets the clause: it has a row of the source or not, and the condition is true.
 * NULL out: always. */
static frz_code condition_of(const update_merge *merge, const update_clause *clause,
                             frz_arena *arena, const frz_expr **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *row = NULL, *pair[2] = {NULL, NULL};
    size_t count = 0;
    if (merge->by_source && clause->when != FRZ_MERGE_NOT_MATCHED) {
        FRZ_TRY(frz_expr_name(arena, merge->column, &row, err));
        FRZ_TRY(
            frz_expr_is_null(arena, row, clause->when == FRZ_MERGE_MATCHED, &pair[count++], err));
    }
    if (clause->condition != NULL) {
        pair[count++] = clause->condition;
    }
    FRZ_TRY(frz_expr_and(arena, pair, count, out, err));
out:
    return rc;
}

/* Behind a clause that every row meets comes nothing. */
frz_code update_merge_first(const update_merge *merge, bool inserts, frz_arena *arena,
                            frz_code (*result)(void *ctx, const update_clause *clause,
                                               const frz_expr **out, frz_error *err),
                            void *ctx, const frz_expr *otherwise, const frz_expr **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    const frz_expr **conditions = frz_arena_array(arena, merge->clause_count, sizeof *conditions);
    const frz_expr **results = frz_arena_array(arena, merge->clause_count, sizeof *results);
    if (conditions == NULL || results == NULL) {
        return frz_fail_nomem(err, merge->clause_count * sizeof *results);
    }
    for (size_t i = 0; i < merge->clause_count; i++) {
        const update_clause *clause = &merge->clauses[i];
        if (!meets(clause, inserts)) {
            continue;
        }
        FRZ_TRY(condition_of(merge, clause, arena, &conditions[count], err));
        FRZ_TRY(result(ctx, clause, &results[count], err));
        if (conditions[count] == NULL) {
            otherwise = results[count];
            break;
        }
        count++;
    }
    FRZ_TRY(frz_expr_first_true(arena, conditions, results, count, otherwise, out, err));
out:
    return rc;
}

/* NULL: the old value, of new rows the default, which is a constant. */
static const frz_expr *assigned(const update_clause *clause, const frz_field *column)
{
    for (size_t i = 0; i < clause->assignment_count; i++) {
        if (clause->assignments[i].field->id == column->id) {
            return clause->assignments[i].scoped;
        }
    }
    return NULL;
}

bool update_merge_gives_constant(const update_merge *merge, const frz_field *column, bool inserts)
{
    bool constant = true;
    for (size_t i = 0; constant && i < merge->clause_count; i++) {
        const update_clause *clause = &merge->clauses[i];
        if (clause->action == (inserts ? FRZ_MERGE_INSERT : FRZ_MERGE_UPDATE)) {
            const frz_expr *value = assigned(clause, column);
            constant = value == NULL ? inserts : !frz_expr_reads(value, (frz_str){0}, true);
        }
    }
    return constant;
}

/* ---- the update ---- */

typedef struct column_context {
    frz_arena *arena;
    const frz_field *field;
    const frz_expr *old;
} column_context;

static frz_code value_of(void *ctx, const update_clause *clause, const frz_expr **out,
                         frz_error *err)
{
    const column_context *column = ctx;
    const frz_expr *value = assigned(clause, column->field);
    *out = column->old;
    return value == NULL ? FRZ_OK
                         : frz_expr_assigned(column->arena, value, column->field->type, out, err);
}

typedef struct action_context {
    frz_arena *arena;
    frz_merge_action action;
} action_context;

static frz_code is_action(void *ctx, const update_clause *clause, const frz_expr **out,
                          frz_error *err)
{
    const action_context *context = ctx;
    return frz_expr_boolean(context->arena, clause->action == context->action, out, err);
}

static frz_code resolve_fields(update_merge *merge, const frz_type *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < merge->clause_count; i++) {
        update_clause *clause = &merge->clauses[i];
        for (size_t k = 0; k < clause->assignment_count; k++) {
            update_assignment *to = &clause->assignments[k];
            FRZ_TRY(frz_type_resolve_name(table, to->column, &to->field, err));
            for (size_t j = 0; j < k; j++) {
                if (clause->assignments[j].field == to->field) {
                    return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" is assigned twice",
                                    FRZ_STR_ARG(to->field->name));
                }
            }
        }
    }
out:
    return rc;
}

/* Whether some clause gives a column another value than it has. */
static frz_code is_set(const update_merge *merge, const frz_field *field, frz_arena *arena,
                       bool *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *name = NULL;
    FRZ_TRY(frz_expr_name(arena, field->name, &name, err));
    for (size_t i = 0; i < merge->clause_count; i++) {
        const update_clause *clause = &merge->clauses[i];
        for (size_t k = 0; clause->action == FRZ_MERGE_UPDATE && k < clause->assignment_count;
             k++) {
            const update_assignment *to = &clause->assignments[k];
            *out =
                *out || (to->field == field && !(to->identical && is_key(merge, name, to->scoped)));
        }
    }
out:
    return rc;
}

/* The columns that clauses set, as assignments of the update. */
static frz_code make_assignments(update_plan *plan, const frz_type *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_merge *merge = plan->merge;
    frz_arena *arena = &plan->arena;
    plan->assignment_count = 0;
    plan->assignments = frz_arena_array(arena, table->field_count, sizeof *plan->assignments);
    if (plan->assignments == NULL) {
        return frz_fail_nomem(err, table->field_count * sizeof *plan->assignments);
    }
    for (size_t i = 0; i < table->field_count; i++) {
        column_context column = {.arena = arena, .field = &table->fields[i]};
        bool set = false;
        FRZ_TRY(is_set(merge, column.field, arena, &set, err));
        if (!set) {
            continue;
        }
        update_assignment *made = &plan->assignments[plan->assignment_count];
        *made = (update_assignment){.column = column.field->name};
        FRZ_TRY(frz_expr_name(arena, column.field->name, &column.old, err));
        FRZ_TRY(update_merge_first(merge, false, arena, value_of, &column, column.old,
                                   &made->scoped, err));
        plan->assignment_count++;
    }
out:
    return rc;
}

frz_code update_merge_compile(update_plan *plan, const frz_type *table, const frz_type *bind_type,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_merge *merge = plan->merge;
    action_context updates = {&plan->arena, FRZ_MERGE_UPDATE};
    action_context deletes = {&plan->arena, FRZ_MERGE_DELETE};
    const frz_expr *none = NULL, *updated = NULL, *deleted = NULL;
    FRZ_TRY(resolve_fields(merge, table, err));
    FRZ_TRY(make_assignments(plan, table, err));
    FRZ_TRY(frz_expr_boolean(&plan->arena, false, &none, err));
    FRZ_TRY(
        update_merge_first(merge, false, &plan->arena, is_action, &updates, none, &updated, err));
    FRZ_TRY(
        update_merge_first(merge, false, &plan->arena, is_action, &deletes, none, &deleted, err));
    FRZ_TRY(frz_expr_bind_filter(plan->env, updated, bind_type, &merge->updates, err));
    FRZ_TRY(frz_expr_bind_filter(plan->env, deleted, bind_type, &merge->deletes, err));
out:
    return rc;
}

void update_merge_unbind(update_merge *merge)
{
    frz_bound_expr_free(merge->updates);
    frz_bound_expr_free(merge->deletes);
    merge->updates = merge->deletes = NULL;
}

/* ---- rows of a batch ---- */

/* Rows that ON does not match have no row of the source. */
static frz_code hide_unmatched(const frz_env *env, frz_batch *batch, const uint8_t *matched,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *column = batch->array.children[batch->array.n_children - 1], whole;
    frz_buffer *validity = NULL;
    size_t bytes = frz_bitmap_bytes(batch->array.length);
    FRZ_TRY(frz_buffer_new(env, bytes, &validity, err));
    memcpy(validity->data, matched, bytes);
    frz_array_move(column, &whole);
    rc = frz_array_with_validity(env, &whole, validity, column, err);
    frz_array_release(&whole);
out:
    return rc;
}

static frz_code select_among(const update_reader *reader, const frz_bound_expr *filter,
                             const frz_batch *batch, const uint8_t *among, uint8_t **bits,
                             int64_t *count, frz_error *err)
{
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    *bits = frz_alloc_zero(reader->plan->env, 1, bytes);
    return *bits == NULL ? frz_fail_nomem(err, bytes)
                         : frz_expr_select(filter, reader->eval_type, &batch->array,
                                           batch->first_row, among, *bits, count, err);
}

/* Deleted rows are not live any more. */
static frz_code remove_rows(update_reader *reader, const frz_batch *batch, const uint8_t *removed,
                            update_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    if (rows->live == NULL) {
        rows->live = frz_alloc(reader->plan->env, bytes);
        FRZ_TRY(rows->live == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
        memset(rows->live, 0xff, bytes);
    }
    for (int64_t i = 0; i < length; i++) {
        if (frz_bit_get(removed, i)) {
            FRZ_TRY(
                frz_row_list_add(reader->plan->env, &reader->removed, batch->first_row + i, err));
            frz_bit_clear(rows->live, i);
        }
    }
out:
    return rc;
}

frz_code update_merge_select(update_reader *reader, frz_batch *batch, update_rows *rows,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = reader->plan->env;
    const update_merge *merge = reader->plan->merge;
    uint8_t *updated = NULL, *removed = NULL;
    const uint8_t *among = rows->selected;
    int64_t removed_count = 0;
    if (merge->by_source) {
        FRZ_TRY(hide_unmatched(env, batch, rows->selected, err));
        among = rows->live;
    }
    FRZ_TRY(
        select_among(reader, merge->updates, batch, among, &updated, &rows->selected_count, err));
    FRZ_TRY(select_among(reader, merge->deletes, batch, among, &removed, &removed_count, err));
    if (removed_count > 0) {
        FRZ_TRY(remove_rows(reader, batch, removed, rows, err));
    }
    frz_free(env, rows->selected);
    rows->selected = updated;
    updated = NULL;
out:
    frz_free(env, updated);
    frz_free(env, removed);
    return rc;
}
