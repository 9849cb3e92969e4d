/*
 * Trees that nobody wrote, made of parts that somebody did. They say that they are at the place of
 * such a part.
 */
#include "expr/expr_internal.h"

static frz_code make_node(frz_arena *arena, expr_kind kind, const frz_expr *at, size_t args,
                          frz_expr **out, frz_error *err)
{
    frz_expr *node = frz_arena_alloc(arena, sizeof *node);
    const frz_expr **list = frz_arena_array(arena, args + 1, sizeof *list);
    if (node == NULL || list == NULL) {
        return frz_fail_nomem(err, sizeof *node + args * sizeof *list);
    }
    *node = (frz_expr){.kind = kind, .depth = 1, .args = list};
    if (at != NULL) {
        node->source = at->source;
        node->start = at->start;
    }
    *out = node;
    return FRZ_OK;
}

static void add_arg(frz_expr *node, const frz_expr *arg)
{
    node->args[node->arg_count++] = arg;
    node->depth = FRZ_MAX(node->depth, arg->depth + 1);
}

frz_code frz_expr_and(frz_arena *arena, const frz_expr *const *exprs, size_t count,
                      const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    *out = count == 0 ? NULL : exprs[0];
    if (count < 2) {
        return FRZ_OK;
    }
    frz_code rc = make_node(arena, EXPR_AND, exprs[0], count, &node, err);
    for (size_t i = 0; rc == FRZ_OK && i < count; i++) {
        add_arg(node, exprs[i]);
        *out = node;
    }
    return rc;
}

frz_code frz_expr_name(frz_arena *arena, frz_str name, const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    frz_code rc = make_node(arena, EXPR_NAME, NULL, 0, &node, err);
    if (rc == FRZ_OK) {
        node->text = node->source = name;
        *out = node;
    }
    return rc;
}

frz_code frz_expr_field(frz_arena *arena, const frz_expr *parent, frz_str name,
                        const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    frz_code rc = make_node(arena, EXPR_FIELD, parent, 1, &node, err);
    if (rc == FRZ_OK) {
        node->text = name;
        add_arg(node, parent);
        *out = node;
    }
    return rc;
}

frz_code frz_expr_literal(frz_arena *arena, const frz_value *value, const frz_expr **out,
                          frz_error *err)
{
    frz_expr *node = NULL;
    frz_code rc = make_node(arena, EXPR_LITERAL, NULL, 0, &node, err);
    if (rc == FRZ_OK) {
        node->value = *value;
        *out = node;
    }
    return rc;
}

frz_code frz_expr_boolean(frz_arena *arena, bool value, const frz_expr **out, frz_error *err)
{
    const frz_value literal = {.type = frz_type_primitive(FRZ_TYPE_BOOLEAN), .as.boolean = value};
    return frz_expr_literal(arena, &literal, out, err);
}

frz_code frz_expr_is_null(frz_arena *arena, const frz_expr *expr, bool negated,
                          const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    frz_code rc = make_node(arena, EXPR_IS_NULL, expr, 1, &node, err);
    if (rc == FRZ_OK) {
        node->negated = negated;
        add_arg(node, expr);
        *out = node;
    }
    return rc;
}

frz_code frz_expr_assigned(frz_arena *arena, const frz_expr *expr, const frz_type *type,
                           const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    frz_code rc = make_node(arena, EXPR_CAST, expr, 1, &node, err);
    if (rc == FRZ_OK) {
        node->type = type;
        node->op = EXPR_ASSIGN;
        add_arg(node, expr);
        *out = node;
    }
    return rc;
}

frz_code frz_expr_first_true(frz_arena *arena, const frz_expr *const *conditions,
                             const frz_expr *const *results, size_t count,
                             const frz_expr *otherwise, const frz_expr **out, frz_error *err)
{
    frz_expr *node = NULL;
    *out = otherwise;
    if (count == 0) {
        return FRZ_OK;
    }
    frz_code rc = make_node(arena, EXPR_CASE, conditions[0], 2 * count + 1, &node, err);
    if (rc == FRZ_OK) {
        for (size_t i = 0; i < count; i++) {
            add_arg(node, conditions[i]);
            add_arg(node, results[i]);
        }
        add_arg(node, otherwise);
        node->has_else = true;
        *out = node;
    }
    return rc;
}
