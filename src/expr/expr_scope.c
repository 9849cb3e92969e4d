/*
 * Expressions over the rows of two tables. What evaluation sees is one table: the columns of the
 * first, and the second as one column of type struct, so that its columns are fields. Names of the
 * tables are taken off, and whose a name is that stands alone is found out.
 */
#include "expr/expr_internal.h"

/* ---- paths: name . name . … ---- */

typedef struct name_path {
    const frz_expr *nodes[EXPR_DEPTH_MAX]; /* each ends with the part of its place */
    size_t count;
} name_path;

/* False: at the bottom stands something else than a name. */
static bool path_of(const frz_expr *expr, name_path *out)
{
    size_t count = 1;
    const frz_expr *at = expr;
    for (; at->kind == EXPR_FIELD && count < EXPR_DEPTH_MAX; count++) {
        at = at->args[0];
    }
    if (at->kind != EXPR_NAME) {
        return false;
    }
    out->count = count;
    for (at = expr; count > 0; at = at->kind == EXPR_FIELD ? at->args[0] : NULL) {
        out->nodes[--count] = at;
    }
    return true;
}

static bool has_column(const frz_type *type, frz_str name)
{
    const frz_field *field = NULL;
    frz_code rc = type == NULL ? FRZ_E_NOT_FOUND : frz_type_resolve_name(type, name, &field, NULL);
    return rc == FRZ_OK || rc == FRZ_E_ARGUMENT; /* or there are several */
}

/* How many parts in front of a path are the table's name, or the end of it: "wide" of db.wide. */
static size_t table_parts(const frz_expr_scope *scope, const name_path *path)
{
    for (size_t from = 0; from < scope->table_part_count; from++) {
        size_t n = scope->table_part_count - from;
        bool same = n < path->count;
        for (size_t i = 0; same && i < n; i++) {
            same = frz_str_equal_nocase(path->nodes[i]->text, scope->table_parts[from + i]);
        }
        if (same) {
            return n;
        }
    }
    return 0;
}

/* ---- copies ---- */

static frz_code new_name(frz_arena *arena, const frz_expr *at, frz_str name, frz_expr **out,
                         frz_error *err)
{
    frz_expr *node = frz_arena_alloc(arena, sizeof *node);
    if (node == NULL) {
        return frz_fail_nomem(err, sizeof *node);
    }
    *node = (frz_expr){
        .kind = EXPR_NAME, .depth = 1, .start = at->start, .source = at->source, .text = name};
    *out = node;
    return FRZ_OK;
}

/* parent . the part of a node */
static frz_code new_field(frz_arena *arena, const frz_expr *parent, const frz_expr *part,
                          frz_expr **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(new_name(arena, part, part->text, out, err));
    (*out)->kind = EXPR_FIELD;
    (*out)->depth = parent->depth + 1;
    (*out)->args = frz_arena_array(arena, 1, sizeof *(*out)->args);
    if ((*out)->args == NULL) {
        return frz_fail_nomem(err, sizeof *(*out)->args);
    }
    (*out)->args[0] = parent;
    (*out)->arg_count = 1;
out:
    return rc;
}

/* The parts from one on, below the source's column if they are its. */
static frz_code copy_path(frz_arena *arena, const frz_expr_scope *scope, const name_path *path,
                          size_t from, bool of_source, const frz_expr **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_expr *made = NULL;
    if (of_source) {
        FRZ_TRY(new_name(arena, path->nodes[from], scope->column, &made, err));
    } else {
        FRZ_TRY(new_name(arena, path->nodes[from], path->nodes[from]->text, &made, err));
        from++;
    }
    for (; from < path->count; from++) {
        FRZ_TRY(new_field(arena, made, path->nodes[from], &made, err));
    }
    *out = made;
out:
    return rc;
}

static frz_code scope_path(frz_arena *arena, const frz_expr_scope *scope, const name_path *path,
                           const frz_expr **out, frz_error *err)
{
    frz_str first = path->nodes[0]->text;
    bool in_table = has_column(scope->table, first);
    size_t skip = table_parts(scope, path);
    if (skip > 0 && (!in_table || has_column(scope->table, path->nodes[skip]->text))) {
        return copy_path(arena, scope, path, skip, false, out, err);
    }
    if (path->count > 1 && frz_str_equal_nocase(first, scope->source)) {
        return copy_path(arena, scope, path, 1, true, out, err);
    }
    bool in_source = has_column(scope->source_type, first);
    if (in_table && in_source) {
        return expr_fail_at(path->nodes[0]->source, path->nodes[0]->start, err, FRZ_E_ARGUMENT,
                            "\"%.*s\" is a column of the table and of \"%.*s\"; say which",
                            FRZ_STR_ARG(first), FRZ_STR_ARG(scope->source));
    }
    if (!in_table && !in_source && frz_str_equal_nocase(first, scope->source)) {
        return expr_fail_at(path->nodes[0]->source, path->nodes[0]->start, err, FRZ_E_ARGUMENT,
                            "\"%.*s\" is not a column", FRZ_STR_ARG(first));
    }
    return copy_path(arena, scope, path, 0, in_source, out, err);
}

frz_code frz_expr_scope_apply(frz_arena *arena, const frz_expr_scope *scope, const frz_expr *expr,
                              const frz_expr **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    name_path path;
    if (path_of(expr, &path)) {
        return scope_path(arena, scope, &path, out, err);
    }
    frz_expr *copy = frz_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    *copy = *expr;
    copy->args = frz_arena_array(arena, expr->arg_count, sizeof *copy->args);
    if (copy->args == NULL) {
        return frz_fail_nomem(err, expr->arg_count * sizeof *copy->args);
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        FRZ_TRY(frz_expr_scope_apply(arena, scope, expr->args[i], &copy->args[i], err));
    }
    *out = copy;
out:
    return rc;
}

/* ---- what an expression is made of ---- */

bool frz_expr_reads(const frz_expr *expr, frz_str name, bool others)
{
    bool reads = expr->kind == EXPR_NAME && frz_str_equal(expr->text, name) != others;
    for (size_t i = 0; !reads && i < expr->arg_count; i++) {
        reads = frz_expr_reads(expr->args[i], name, others);
    }
    return reads;
}

frz_code frz_expr_visit_fields(const frz_expr *expr, frz_str name,
                               frz_code (*visit)(void *ctx, frz_str field, frz_error *err),
                               void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (expr->kind == EXPR_FIELD && expr->args[0]->kind == EXPR_NAME &&
        frz_str_equal(expr->args[0]->text, name)) {
        return visit(ctx, expr->text, err);
    }
    for (size_t i = 0; rc == FRZ_OK && i < expr->arg_count; i++) {
        rc = frz_expr_visit_fields(expr->args[i], name, visit, ctx, err);
    }
    return rc;
}

size_t frz_expr_conjuncts(const frz_expr *expr, const frz_expr *const **out)
{
    if (expr->kind == EXPR_AND) {
        *out = expr->args;
        return expr->arg_count;
    }
    *out = NULL;
    return 1;
}

bool frz_expr_is_equality(const frz_expr *expr, const frz_expr **left, const frz_expr **right)
{
    bool is = expr->kind == EXPR_COMPARE && expr->op == EXPR_EQUAL;
    if (is) {
        *left = expr->args[0];
        *right = expr->args[1];
    }
    return is;
}

bool frz_expr_same_path(const frz_expr *a, const frz_expr *b)
{
    return a->kind == b->kind && (a->kind == EXPR_NAME || a->kind == EXPR_FIELD) &&
           frz_str_equal(a->text, b->text) &&
           (a->kind == EXPR_NAME || frz_expr_same_path(a->args[0], b->args[0]));
}
