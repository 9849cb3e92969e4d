/*
 * Binding: names become field ids, operands get types, constants are computed once.
 */
#include <stdlib.h>

#include "expr/expr_internal.h"

static frz_code bind_node(expr_binder *binder, const frz_expr *expr, const expr_node **out);

/* ---- nodes ---- */

frz_code expr_node_literal(expr_binder *binder, const frz_value *value, const expr_node **out)
{
    expr_node *node = frz_arena_alloc(&binder->bound->arena, sizeof *node);
    if (node == NULL) {
        return frz_fail_nomem(binder->err, sizeof *node);
    }
    node->op = EXPR_OP_LITERAL;
    node->type = value->type;
    node->value = *value;
    *out = node;
    return FRZ_OK;
}

/* Replace a node of literals by its value, if it has one. */
static frz_code fold(expr_binder *binder, const expr_node *node, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const expr_node *literal = node;
    expr_vec vec = {0};
    expr_eval eval = {.bound = binder->bound, .env = binder->bound->env, .length = 1};
    frz_arena_init(&eval.scratch, eval.env, FRZ_ARENA_NO_LIMIT);
    rc = expr_eval_node(&eval, node, NULL, &vec);
    if (rc == FRZ_OK) {
        frz_value value = expr_vec_at(&vec, node->type, 0);
        FRZ_TRY(frz_value_copy(&binder->bound->arena, &value, &value, binder->err));
        FRZ_TRY(expr_node_literal(binder, &value, &literal));
    } else if (rc == FRZ_E_NOMEM) {
        frz_fail_nomem(binder->err, 0);
        goto out;
    }
    rc = FRZ_OK; /* what fails here fails for the rows that need it */
    *out = literal;
out:
    expr_vec_reset(&vec);
    frz_arena_reset(&eval.scratch);
    return rc;
}

frz_code expr_node_new_index(expr_binder *binder, expr_op op, int code, int64_t index,
                             const frz_type *type, const expr_node *const *args, size_t arg_count,
                             const expr_node **out)
{
    frz_arena *arena = &binder->bound->arena;
    expr_node *node = frz_arena_alloc(arena, sizeof *node);
    const expr_node **copy = frz_arena_array(arena, arg_count, sizeof *copy);
    if (node == NULL || copy == NULL) {
        return frz_fail_nomem(binder->err, sizeof *node);
    }
    bool constant = !frz_type_is_nested(type) && type->id != FRZ_TYPE_UNKNOWN;
    for (size_t i = 0; i < arg_count; i++) {
        copy[i] = args[i];
        constant = constant && expr_is_literal(args[i]);
    }
    node->op = op;
    node->code = code;
    node->index = index;
    node->type = type;
    node->args = copy;
    node->arg_count = arg_count;
    *out = node;
    return constant ? fold(binder, node, out) : FRZ_OK;
}

frz_code expr_node_new(expr_binder *binder, expr_op op, int code, const frz_type *type,
                       const expr_node *const *args, size_t arg_count, const expr_node **out)
{
    return expr_node_new_index(binder, op, code, 0, type, args, arg_count, out);
}

static const frz_type *boolean_type(void)
{
    return frz_type_primitive(FRZ_TYPE_BOOLEAN);
}

/* ---- names ---- */

static frz_code remember_field(expr_binder *binder, int32_t id)
{
    frz_bound_expr *bound = binder->bound;
    size_t at = 0;
    while (at < bound->field_count && bound->fields[at] < id) {
        at++;
    }
    if (at < bound->field_count && bound->fields[at] == id) {
        return FRZ_OK;
    }
    int32_t *fields = frz_arena_array(&bound->arena, bound->field_count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(binder->err, 0);
    }
    for (size_t i = 0; i < bound->field_count; i++) {
        fields[i + (i >= at)] = bound->fields[i];
    }
    fields[at] = id;
    bound->fields = fields;
    bound->field_count++;
    return FRZ_OK;
}

static frz_code new_reference(expr_binder *binder, expr_op op, const frz_field *field,
                              const expr_node *parent, int64_t index, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = &binder->bound->arena;
    expr_node *node = frz_arena_alloc(arena, sizeof *node);
    char text[80];
    if (node == NULL) {
        return frz_fail_nomem(binder->err, sizeof *node);
    }
    if (field->type->id == FRZ_TYPE_FOREIGN) {
        return frz_fail(binder->err, FRZ_E_UNSUPPORTED,
                        "unsupported: column \"%.*s\" of type %s in an expression",
                        FRZ_STR_ARG(field->name), frz_type_text(field->type, text, sizeof text));
    }
    node->op = op;
    node->field_id = field->id;
    node->index = index;
    FRZ_TRY(frz_type_copy(arena, field->type, &node->type, binder->err));
    FRZ_TRY(frz_arena_str(arena, field->name, &node->name, binder->err));
    if (parent != NULL) {
        node->args = frz_arena_array(arena, 1, sizeof *node->args);
        if (node->args == NULL) {
            rc = frz_fail_nomem(binder->err, sizeof *node->args);
            goto out;
        }
        node->args[0] = parent;
        node->arg_count = 1;
    }
    *out = node;
out:
    return rc;
}

static frz_code bind_name(expr_binder *binder, const frz_expr *expr, const expr_node **out)
{
    const frz_field *field = NULL;
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_type_resolve_name(binder->struct_type, expr->text, &field, binder->err));
    FRZ_TRY(remember_field(binder, field->id));
    FRZ_TRY(new_reference(binder, EXPR_OP_COLUMN, field, NULL, 0, out));
out:
    return rc;
}

static frz_code bind_field(expr_binder *binder, const frz_expr *expr, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const expr_node *parent = NULL;
    const frz_field *field = NULL;
    char text[80];
    FRZ_TRY(bind_node(binder, expr->args[0], &parent));
    if (parent->type->id != FRZ_TYPE_STRUCT) {
        return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                            "\"%.*s\" is not a field here: left of the point stands a %s, "
                            "not a struct",
                            FRZ_STR_ARG(expr->text),
                            frz_type_text(parent->type, text, sizeof text));
    }
    rc = frz_type_resolve_name(parent->type, expr->text, &field, binder->err);
    if (rc == FRZ_E_NOT_FOUND) {
        frz_fail(binder->err, rc, "there is no field \"%.*s\" in %s", FRZ_STR_ARG(expr->text),
                 frz_type_text(parent->type, text, sizeof text));
    }
    FRZ_TRY(rc);
    FRZ_TRY(new_reference(binder, EXPR_OP_CHILD, field, parent, field - parent->type->fields, out));
out:
    return rc;
}

/* ---- operators ---- */

/* A boolean, or a NULL which becomes one. */
static frz_code as_boolean(expr_binder *binder, const frz_expr *at, const expr_node *node,
                           const expr_node **out)
{
    char text[80];
    if (node->type->id != FRZ_TYPE_BOOLEAN && node->type->id != FRZ_TYPE_UNKNOWN) {
        return expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                            "expected a condition, found a value of type %s",
                            frz_type_text(node->type, text, sizeof text));
    }
    return expr_node_convert(binder, at, node, boolean_type(), EXPR_WIDEN, out);
}

static frz_code bind_args(expr_binder *binder, const frz_expr *expr, const expr_node ***out)
{
    frz_code rc = FRZ_OK;
    const expr_node **args = frz_arena_array(&binder->bound->arena, expr->arg_count, sizeof *args);
    if (args == NULL) {
        return frz_fail_nomem(binder->err, expr->arg_count * sizeof *args);
    }
    for (size_t i = 0; i < expr->arg_count; i++) {
        FRZ_TRY(bind_node(binder, expr->args[i], &args[i]));
    }
    *out = args;
out:
    return rc;
}

/* NOT around a node, if wanted. */
static frz_code negated(expr_binder *binder, const frz_expr *expr, const expr_node *node,
                        const expr_node **out)
{
    if (!expr->negated) {
        *out = node;
        return FRZ_OK;
    }
    return expr_node_new(binder, EXPR_OP_NOT, 0, boolean_type(), &node, 1, out);
}

static frz_code bind_negate(expr_binder *binder, const frz_expr *expr, const expr_node *arg,
                            const expr_node **out)
{
    frz_code rc = FRZ_OK;
    char text[80];
    if (arg->type->id == FRZ_TYPE_UNKNOWN) {
        *out = arg;
        return FRZ_OK;
    }
    if (!expr_is_number(arg->type)) {
        return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                            "expected a number after -, found a value of type %s",
                            frz_type_text(arg->type, text, sizeof text));
    }
    if (arg->type->id == FRZ_TYPE_FLOAT) {
        FRZ_TRY(expr_node_convert(binder, expr, arg, frz_type_primitive(FRZ_TYPE_DOUBLE),
                                  EXPR_WIDEN, &arg));
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_NEGATE, 0, arg->type, &arg, 1, out));
out:
    return rc;
}

static frz_code bind_chain(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                           const expr_node **out)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < expr->arg_count; i++) {
        FRZ_TRY(as_boolean(binder, expr->args[i], args[i], &args[i]));
    }
    FRZ_TRY(expr_node_new(binder, expr->kind == EXPR_AND ? EXPR_OP_AND : EXPR_OP_OR, 0,
                          boolean_type(), args, expr->arg_count, out));
out:
    return rc;
}

/* Values of this type can be ordered. */
frz_code expr_check_comparable(expr_binder *binder, const frz_expr *at, const frz_type *type)
{
    char text[80];
    if (!frz_type_is_nested(type) && type->id != FRZ_TYPE_VARIANT &&
        type->id != FRZ_TYPE_GEOMETRY && type->id != FRZ_TYPE_GEOGRAPHY) {
        return FRZ_OK;
    }
    return expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                        "values of type %s cannot be compared",
                        frz_type_text(type, text, sizeof text));
}

/* Comparison, IN, BETWEEN: all arguments of one type that has an order. */
static frz_code bind_comparing(expr_binder *binder, const frz_expr *expr, expr_op op, int code,
                               const expr_node **args, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    FRZ_TRY(expr_unify(binder, expr, args, expr->arg_count, 0, 1, &type));
    FRZ_TRY(expr_check_comparable(binder, expr, type));
    if (type->id == FRZ_TYPE_UNKNOWN) {
        /* nothing but NULLs: the answer is NULL */
        frz_value null = {.type = boolean_type(), .is_null = true};
        FRZ_TRY(expr_node_literal(binder, &null, out));
        goto out;
    }
    FRZ_TRY(expr_node_new(binder, op, code, boolean_type(), args, expr->arg_count, out));
out:
    return rc;
}

static int compare_literals(const void *a, const void *b)
{
    const expr_node *const *left = a;
    const expr_node *const *right = b;
    return frz_value_compare(&(*left)->value, &(*right)->value, false);
}

/* Long lists of constants are sorted once and searched by halves. */
static frz_code sort_list(expr_binder *binder, const expr_node *node, const expr_node **out)
{
    bool constants = node->op == EXPR_OP_IN && node->arg_count > 9;
    size_t count = 0;
    for (size_t i = 1; i < node->arg_count && constants; i++) {
        constants = expr_is_literal(node->args[i]);
    }
    if (!constants) {
        return FRZ_OK;
    }
    frz_arena *arena = &binder->bound->arena;
    expr_node *sorted = frz_arena_alloc(arena, sizeof *sorted);
    const expr_node **list = frz_arena_array(arena, node->arg_count, sizeof *list);
    if (sorted == NULL || list == NULL) {
        return frz_fail_nomem(binder->err, node->arg_count * sizeof *list);
    }
    *sorted = *node;
    for (size_t i = 1; i < node->arg_count; i++) {
        if (node->args[i]->value.is_null) {
            sorted->index = 1; /* what is not found may be null */
        } else {
            list[count++] = node->args[i];
        }
    }
    qsort(list, count, sizeof *list, compare_literals);
    sorted->sorted = list;
    sorted->sorted_count = count;
    *out = sorted;
    return FRZ_OK;
}

/* The escape character as a code point, or -1. */
static frz_code like_escape(expr_binder *binder, const frz_expr *expr, const expr_node *node,
                            int64_t *out)
{
    frz_str text =
        expr_is_literal(node) && node->type->id == FRZ_TYPE_STRING && !node->value.is_null
            ? node->value.as.bytes
            : (frz_str){0};
    if (text.len != 1 || (text.ptr[0] & 0x80) != 0) {
        return expr_fail_at(expr->source, expr->args[2]->start, binder->err, FRZ_E_ARGUMENT,
                            "expected one ASCII character in quotes after ESCAPE");
    }
    *out = text.ptr[0];
    return FRZ_OK;
}

static frz_code bind_like(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                          const expr_node **out)
{
    frz_code rc = FRZ_OK;
    int64_t escape = -1;
    const frz_type *string = frz_type_primitive(FRZ_TYPE_STRING);
    char text[80];
    for (size_t i = 0; i < 2; i++) {
        if (args[i]->type->id != FRZ_TYPE_STRING && args[i]->type->id != FRZ_TYPE_UNKNOWN) {
            return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                                "LIKE compares strings, found a value of type %s",
                                frz_type_text(args[i]->type, text, sizeof text));
        }
        FRZ_TRY(expr_node_convert(binder, expr, args[i], string, EXPR_WIDEN, &args[i]));
    }
    if (expr->arg_count == 3) {
        FRZ_TRY(like_escape(binder, expr, args[2], &escape));
    }
    FRZ_TRY(expr_node_new_index(binder, EXPR_OP_LIKE, 0, escape, boolean_type(), args, 2, out));
out:
    return rc;
}

static frz_code bind_predicate(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                               const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const expr_node *node = NULL;
    char text[80];
    if (expr->kind == EXPR_IS_NAN) {
        frz_type_id id = args[0]->type->id;
        if (id != FRZ_TYPE_FLOAT && id != FRZ_TYPE_DOUBLE && id != FRZ_TYPE_UNKNOWN) {
            return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                                "IS NAN asks a float or double, found a value of type %s",
                                frz_type_text(args[0]->type, text, sizeof text));
        }
        FRZ_TRY(expr_node_new(binder, EXPR_OP_IS_NAN, 0, boolean_type(), args, 1, &node));
    } else if (expr->kind == EXPR_IS_NULL) {
        FRZ_TRY(expr_node_new(binder, EXPR_OP_IS_NULL, 0, boolean_type(), args, 1, &node));
    } else if (expr->kind == EXPR_LIKE) {
        FRZ_TRY(bind_like(binder, expr, args, &node));
    } else if (expr->kind == EXPR_BETWEEN) {
        FRZ_TRY(bind_comparing(binder, expr, EXPR_OP_BETWEEN, 0, args, &node));
    } else {
        FRZ_TRY(bind_comparing(binder, expr, EXPR_OP_IN, 0, args, &node));
        FRZ_TRY(sort_list(binder, node, &node));
    }
    FRZ_TRY(negated(binder, expr, node, out));
out:
    return rc;
}

/* ---- CASE ---- */

/* The condition of a branch: of a simple CASE, operand = value. */
static frz_code bind_condition(expr_binder *binder, const frz_expr *expr, const frz_expr *at,
                               const expr_node *operand, const expr_node *when,
                               const expr_node **out)
{
    if (!expr->has_operand) {
        return as_boolean(binder, at, when, out);
    }
    const expr_node *sides[] = {operand, when};
    frz_expr pair = {.source = at->source, .start = at->start, .arg_count = 2};
    return bind_comparing(binder, &pair, EXPR_OP_COMPARE, EXPR_EQUAL, sides, out);
}

static frz_code bind_case(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                          const expr_node **out)
{
    frz_code rc = FRZ_OK;
    size_t skip = expr->has_operand ? 1 : 0;
    size_t branches = (expr->arg_count - skip) / 2;
    size_t count = branches * 2 + 1;
    const frz_type *type = NULL;
    frz_value null = {.type = frz_type_primitive(FRZ_TYPE_UNKNOWN), .is_null = true};
    const expr_node **made = frz_arena_array(&binder->bound->arena, count + 1, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(binder->err, count * sizeof *made);
    }
    for (size_t i = 0; i < branches * 2; i += 2) {
        FRZ_TRY(
            bind_condition(binder, expr, expr->args[skip + i], args[0], args[skip + i], &made[i]));
        made[i + 1] = args[skip + i + 1];
    }
    if (expr->has_else) {
        made[count] = args[expr->arg_count - 1];
    } else {
        FRZ_TRY(expr_node_literal(binder, &null, &made[count]));
    }
    /* results at 1, 3, ... and the last one, for a moment, in step with them */
    FRZ_TRY(expr_unify(binder, expr, made, count + 1, 1, 2, &type));
    made[count - 1] = made[count];
    FRZ_TRY(expr_node_new(binder, EXPR_OP_CASE, 0, type, made, count, out));
out:
    return rc;
}

/* ---- the tree ---- */

static frz_code bind_literal(expr_binder *binder, const frz_expr *expr, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    frz_value value;
    FRZ_TRY(frz_value_copy(&binder->bound->arena, &expr->value, &value, binder->err));
    FRZ_TRY(frz_type_copy(&binder->bound->arena, expr->value.type, &value.type, binder->err));
    FRZ_TRY(expr_node_literal(binder, &value, out));
out:
    return rc;
}

static frz_code bind_cast(expr_binder *binder, const frz_expr *expr, const expr_node *arg,
                          const expr_node **out)
{
    const frz_type *type = NULL;
    frz_code rc = frz_type_copy(&binder->bound->arena, expr->type, &type, binder->err);
    expr_mode mode = expr->op == EXPR_ASSIGN ? EXPR_ASSIGN : EXPR_CAST_TO;
    return rc == FRZ_OK ? expr_node_convert(binder, expr, arg, type, mode, out) : rc;
}

static frz_code bind_node(expr_binder *binder, const frz_expr *expr, const expr_node **out)
{
    const expr_node **args = NULL;
    if (expr->kind == EXPR_FIELD) {
        return bind_field(binder, expr, out);
    }
    if (expr->kind == EXPR_STAR) {
        return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                            "count(*) stands alone in the list of SELECT");
    }
    frz_code rc = bind_args(binder, expr, &args);
    if (rc != FRZ_OK) {
        return rc;
    }
    switch (expr->kind) {
    case EXPR_NAME:
        return bind_name(binder, expr, out);
    case EXPR_LITERAL:
        return bind_literal(binder, expr, out);
    case EXPR_NEGATE:
        return bind_negate(binder, expr, args[0], out);
    case EXPR_NOT:
        rc = as_boolean(binder, expr, args[0], &args[0]);
        return rc == FRZ_OK ? expr_node_new(binder, EXPR_OP_NOT, 0, boolean_type(), args, 1, out)
                            : rc;
    case EXPR_ARITHMETIC:
        return expr_bind_arithmetic(binder, expr, (expr_arithmetic)expr->op, args[0], args[1], out);
    case EXPR_COMPARE:
        return bind_comparing(binder, expr, EXPR_OP_COMPARE, expr->op, args, out);
    case EXPR_AND:
    case EXPR_OR:
        return bind_chain(binder, expr, args, out);
    case EXPR_CONCAT:
        return expr_bind_concat(binder, expr, args, out);
    case EXPR_IS_NULL:
    case EXPR_IS_NAN:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        return bind_predicate(binder, expr, args, out);
    case EXPR_CASE:
        return bind_case(binder, expr, args, out);
    case EXPR_CAST:
        return bind_cast(binder, expr, args[0], out);
    case EXPR_CALL:
        return expr_bind_call(binder, expr, args, out);
    case EXPR_FIELD:
    case EXPR_STAR:
        break;
    }
    return frz_fail(binder->err, FRZ_E_INTERNAL, "an expression of unknown kind");
}

/* ---- entries ---- */

typedef enum bind_purpose { BIND_VALUE, BIND_FILTER, BIND_ASSIGN } bind_purpose;

static frz_code bind_assigned(expr_binder *binder, const frz_expr *expr, const frz_field *column,
                              const expr_node **root)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    frz_bound_expr *bound = binder->bound;
    FRZ_TRY(frz_arena_str(&bound->arena, column->name, &bound->column, binder->err));
    FRZ_TRY(frz_type_copy(&bound->arena, column->type, &type, binder->err));
    bound->required = column->required;
    rc = expr_node_convert(binder, expr, *root, type, EXPR_ASSIGN, root);
    frz_context(binder->err, rc, "column \"%.*s\"", FRZ_STR_ARG(column->name));
out:
    return rc;
}

static frz_code bound_new(const frz_env *env, frz_bound_expr **out, frz_error *err)
{
    frz_bound_expr *bound = frz_alloc_zero(env, 1, sizeof *bound);
    if (bound == NULL) {
        return frz_fail_nomem(err, sizeof *bound);
    }
    bound->env = env;
    frz_arena_init(&bound->arena, env, FRZ_ARENA_NO_LIMIT);
    *out = bound;
    return FRZ_OK;
}

static frz_code bind_new(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                         bind_purpose purpose, const frz_field *column, frz_bound_expr **out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    const expr_node *root = NULL;
    frz_bound_expr *bound = NULL;
    assert(struct_type->id == FRZ_TYPE_STRUCT);
    FRZ_TRY(bound_new(env, &bound, err));
    expr_binder binder = {bound, struct_type, err};
    FRZ_TRY(bind_node(&binder, expr, &root));
    if (purpose == BIND_FILTER) {
        FRZ_TRY(as_boolean(&binder, expr, root, &root));
    } else if (purpose == BIND_ASSIGN) {
        FRZ_TRY(bind_assigned(&binder, expr, column, &root));
    }
    bound->root = root;
    *out = bound;
    bound = NULL;
out:
    frz_bound_expr_free(bound);
    return rc;
}

frz_code frz_expr_bind(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                       frz_bound_expr **out, frz_error *err)
{
    return bind_new(env, expr, struct_type, BIND_VALUE, NULL, out, err);
}

frz_code frz_expr_bind_filter(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                              frz_bound_expr **out, frz_error *err)
{
    return bind_new(env, expr, struct_type, BIND_FILTER, NULL, out, err);
}

frz_code frz_expr_bind_assign(const frz_env *env, const frz_expr *expr, const frz_type *struct_type,
                              const frz_field *column, frz_bound_expr **out, frz_error *err)
{
    return bind_new(env, expr, struct_type, BIND_ASSIGN, column, out, err);
}

/* A copy of each side's tree is made in its own memory, so that one may outlive the other. */
frz_code frz_expr_bind_sides(const frz_env *env, const frz_expr *equality,
                             const frz_expr *const sides[2], const frz_type *const types[2],
                             frz_bound_expr *out[2], frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_bound_expr *made[2] = {NULL, NULL};
    const expr_node *roots[2], *met[2];
    const frz_type *common = NULL, *type = NULL;
    for (size_t i = 0; i < 2; i++) {
        FRZ_TRY(bound_new(env, &made[i], err));
        expr_binder binder = {made[i], types[i], err};
        FRZ_TRY(bind_node(&binder, sides[i], &roots[i]));
        met[i] = roots[i];
    }
    expr_binder first = {made[0], types[0], err};
    FRZ_TRY(expr_unify(&first, equality, met, 2, 0, 1, &common));
    FRZ_TRY(expr_check_comparable(&first, equality, common));
    for (size_t i = 0; i < 2; i++) {
        expr_binder binder = {made[i], types[i], err};
        FRZ_TRY(frz_type_copy(&made[i]->arena, common, &type, err));
        FRZ_TRY(expr_node_convert(&binder, equality, roots[i], type, EXPR_WIDEN, &made[i]->root));
    }
    for (size_t i = 0; i < 2; i++) {
        out[i] = made[i];
        made[i] = NULL;
    }
out:
    frz_bound_expr_free(made[0]);
    frz_bound_expr_free(made[1]);
    return rc;
}

void frz_bound_expr_free(frz_bound_expr *expr)
{
    if (expr != NULL) {
        const frz_env *env = expr->env;
        frz_arena_reset(&expr->arena);
        frz_free(env, expr);
    }
}

const frz_type *frz_bound_expr_type(const frz_bound_expr *expr)
{
    return expr->root->type;
}

const int32_t *frz_bound_expr_fields(const frz_bound_expr *expr, size_t *count)
{
    *count = expr->field_count;
    return expr->fields;
}
