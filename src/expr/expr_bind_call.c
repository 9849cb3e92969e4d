/*
 * Functions: a table of names, and the types that each takes and yields.
 */
#include "expr/expr_internal.h"

/* Literals up to this many digits are accepted by round. */
#define ROUND_DIGITS_MAX 38

typedef enum call_kind {
    CALL_NUMERIC,  /* number -> the same type; float becomes double */
    CALL_FLOATING, /* numbers -> double */
    CALL_LENGTH,   /* string or binary -> int */
    CALL_CASE,     /* string -> string */
    CALL_SUBSTR,
    CALL_ROUND,
    CALL_CONCAT,
    CALL_COALESCE,
    CALL_NULLIF
} call_kind;

typedef struct call_entry {
    const char *name;
    call_kind kind;
    expr_function function;
    size_t least, most; /* arguments; most 0: any number */
} call_entry;

static const call_entry calls[] = {
    {"abs", CALL_NUMERIC, EXPR_FUNCTION_ABS, 1, 1},
    {"ceil", CALL_NUMERIC, EXPR_FUNCTION_CEIL, 1, 1},
    {"ceiling", CALL_NUMERIC, EXPR_FUNCTION_CEIL, 1, 1},
    {"coalesce", CALL_COALESCE, 0, 1, 0},
    {"concat", CALL_CONCAT, 0, 1, 0},
    {"exp", CALL_FLOATING, EXPR_FUNCTION_EXP, 1, 1},
    {"floor", CALL_NUMERIC, EXPR_FUNCTION_FLOOR, 1, 1},
    {"length", CALL_LENGTH, EXPR_FUNCTION_LENGTH, 1, 1},
    {"ln", CALL_FLOATING, EXPR_FUNCTION_LN, 1, 1},
    {"lower", CALL_CASE, EXPR_FUNCTION_LOWER, 1, 1},
    {"nullif", CALL_NULLIF, 0, 2, 2},
    {"power", CALL_FLOATING, EXPR_FUNCTION_POWER, 2, 2},
    {"round", CALL_ROUND, EXPR_FUNCTION_ROUND, 1, 2},
    {"sqrt", CALL_FLOATING, EXPR_FUNCTION_SQRT, 1, 1},
    {"substr", CALL_SUBSTR, EXPR_FUNCTION_SUBSTR, 2, 3},
    {"substring", CALL_SUBSTR, EXPR_FUNCTION_SUBSTR, 2, 3},
    {"upper", CALL_CASE, EXPR_FUNCTION_UPPER, 1, 1},
};

static frz_code wrong_type(expr_binder *binder, const frz_expr *expr, size_t i, const char *wanted,
                           const frz_type *type)
{
    char text[80];
    return expr_fail_at(expr->source, expr->args[i]->start, binder->err, FRZ_E_ARGUMENT,
                        "%.*s takes %s, found a value of type %s", FRZ_STR_ARG(expr->text), wanted,
                        frz_type_text(type, text, sizeof text));
}

static const frz_type *double_type(void)
{
    return frz_type_primitive(FRZ_TYPE_DOUBLE);
}

/* Argument i as a number; NULL becomes a double. */
static frz_code number_argument(expr_binder *binder, const frz_expr *expr, size_t i,
                                const expr_node **args)
{
    if (args[i]->type->id == FRZ_TYPE_UNKNOWN || args[i]->type->id == FRZ_TYPE_FLOAT) {
        return expr_node_convert(binder, expr->args[i], args[i], double_type(), EXPR_WIDEN,
                                 &args[i]);
    }
    return expr_is_number(args[i]->type) ? FRZ_OK
                                         : wrong_type(binder, expr, i, "a number", args[i]->type);
}

/* The type of floor, ceil and round to some digits: one more digit before the point for the
 * carry. */
static frz_code rounded_type(expr_binder *binder, const frz_type *type, int64_t digits,
                             const frz_type **out)
{
    *out = type;
    if (type->id != FRZ_TYPE_DECIMAL) {
        return FRZ_OK;
    }
    int32_t scale = (int32_t)FRZ_MAX(FRZ_MIN(digits, (int64_t)type->scale), 0);
    int32_t precision = FRZ_MAX(type->precision - type->scale, 0) + scale + 1;
    return expr_decimal_type(&binder->bound->arena, FRZ_MIN(precision, 38), scale, out,
                             binder->err);
}

static frz_code bind_numeric(expr_binder *binder, const frz_expr *expr, const call_entry *entry,
                             const expr_node **args, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    FRZ_TRY(number_argument(binder, expr, 0, args));
    type = args[0]->type;
    if (entry->function != EXPR_FUNCTION_ABS) {
        FRZ_TRY(rounded_type(binder, type, 0, &type));
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_FUNCTION, (int)entry->function, type, args, 1, out));
out:
    return rc;
}

static frz_code bind_floating(expr_binder *binder, const frz_expr *expr, const call_entry *entry,
                              const expr_node **args, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < expr->arg_count; i++) {
        FRZ_TRY(number_argument(binder, expr, i, args));
        FRZ_TRY(
            expr_node_convert(binder, expr->args[i], args[i], double_type(), EXPR_WIDEN, &args[i]));
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_FUNCTION, (int)entry->function, double_type(), args,
                          expr->arg_count, out));
out:
    return rc;
}

static frz_code bind_round(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                           const expr_node **out)
{
    frz_code rc = FRZ_OK;
    int64_t digits = 0;
    const frz_type *type = NULL;
    FRZ_TRY(number_argument(binder, expr, 0, args));
    if (expr->arg_count == 2) {
        const expr_node *n = args[1];
        if (!expr_is_literal(n) || n->type->id != FRZ_TYPE_INT || n->value.is_null ||
            n->value.as.i32 > ROUND_DIGITS_MAX || n->value.as.i32 < -ROUND_DIGITS_MAX) {
            return expr_fail_at(expr->source, expr->args[1]->start, binder->err, FRZ_E_ARGUMENT,
                                "round takes a constant number of digits between %d and %d",
                                -ROUND_DIGITS_MAX, ROUND_DIGITS_MAX);
        }
        digits = n->value.as.i32;
    }
    FRZ_TRY(rounded_type(binder, args[0]->type, digits, &type));
    FRZ_TRY(expr_node_new_index(binder, EXPR_OP_FUNCTION, EXPR_FUNCTION_ROUND, digits, type, args,
                                1, out));
out:
    return rc;
}

/* Argument i as a string or, if allowed, binary; NULL becomes a string. */
static frz_code text_argument(expr_binder *binder, const frz_expr *expr, size_t i, bool binary,
                              const expr_node **args)
{
    frz_type_id id = args[i]->type->id;
    if (id == FRZ_TYPE_STRING || (binary && id == FRZ_TYPE_BINARY)) {
        return FRZ_OK;
    }
    if (id == FRZ_TYPE_UNKNOWN || (binary && id == FRZ_TYPE_FIXED)) {
        return expr_node_convert(
            binder, expr->args[i], args[i],
            frz_type_primitive(id == FRZ_TYPE_FIXED ? FRZ_TYPE_BINARY : FRZ_TYPE_STRING),
            EXPR_WIDEN, &args[i]);
    }
    return wrong_type(binder, expr, i, binary ? "a string or binary" : "a string", args[i]->type);
}

static frz_code bind_length(expr_binder *binder, const frz_expr *expr, const call_entry *entry,
                            const expr_node **args, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    bool length = entry->kind == CALL_LENGTH;
    FRZ_TRY(text_argument(binder, expr, 0, length, args));
    FRZ_TRY(expr_node_new(binder, EXPR_OP_FUNCTION, (int)entry->function,
                          length ? frz_type_primitive(FRZ_TYPE_INT) : args[0]->type, args, 1, out));
out:
    return rc;
}

static frz_code bind_substr(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                            const expr_node **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(text_argument(binder, expr, 0, true, args));
    for (size_t i = 1; i < expr->arg_count; i++) {
        frz_type_id id = args[i]->type->id;
        if (id != FRZ_TYPE_INT && id != FRZ_TYPE_LONG && id != FRZ_TYPE_UNKNOWN) {
            return wrong_type(binder, expr, i, "whole numbers after the text", args[i]->type);
        }
        FRZ_TRY(expr_node_convert(binder, expr->args[i], args[i], frz_type_primitive(FRZ_TYPE_LONG),
                                  EXPR_WIDEN, &args[i]));
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_FUNCTION, EXPR_FUNCTION_SUBSTR, args[0]->type, args,
                          expr->arg_count, out));
out:
    return rc;
}

static frz_code bind_coalesce(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                              const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    FRZ_TRY(expr_unify(binder, expr, args, expr->arg_count, 0, 1, &type));
    FRZ_TRY(expr_node_new(binder, EXPR_OP_COALESCE, 0, type, args, expr->arg_count, out));
out:
    return rc;
}

static frz_code bind_nullif(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                            const expr_node **out)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    const expr_node *three[] = {args[0], args[0], args[1]};
    FRZ_TRY(expr_unify(binder, expr, three + 1, 2, 0, 1, &type));
    FRZ_TRY(expr_check_comparable(binder, expr, type));
    if (type->id == FRZ_TYPE_UNKNOWN) {
        *out = args[0];
        goto out;
    }
    if (args[0]->type->id == FRZ_TYPE_UNKNOWN || args[0]->type->id == FRZ_TYPE_STRING) {
        three[0] = three[1]; /* a literal that became something else */
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_NULLIF, 0, three[0]->type, three, 3, out));
out:
    return rc;
}

frz_code expr_bind_concat(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                          const expr_node **out)
{
    frz_code rc = FRZ_OK;
    bool binary = true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        frz_type_id id = args[i]->type->id;
        binary = binary && (id == FRZ_TYPE_BINARY || id == FRZ_TYPE_FIXED);
    }
    const frz_type *type = frz_type_primitive(binary ? FRZ_TYPE_BINARY : FRZ_TYPE_STRING);
    for (size_t i = 0; i < expr->arg_count; i++) {
        FRZ_TRY(expr_node_convert(binder, expr->args[i], args[i], type, EXPR_CAST_TO, &args[i]));
    }
    FRZ_TRY(expr_node_new(binder, EXPR_OP_CONCAT, 0, type, args, expr->arg_count, out));
out:
    return rc;
}

/* ---- by name ---- */

static frz_code unknown_function(expr_binder *binder, const frz_expr *expr)
{
    const frz_expr *argument;
    bool aggregate = frz_expr_aggregate(expr, &argument) != FRZ_AGGREGATE_NONE;
    if (aggregate) {
        return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                            "%.*s is an aggregate: it stands alone in the list of SELECT",
                            FRZ_STR_ARG(expr->text));
    }
    frz_fail(binder->err, FRZ_E_ARGUMENT, "there is no function %.*s", FRZ_STR_ARG(expr->text));
    frz_hint(binder->err, "functions are: abs ceil coalesce concat exp floor length ln lower "
                          "nullif power round sqrt substr upper; aggregates: count sum min max "
                          "avg");
    return FRZ_E_ARGUMENT;
}

static frz_code check_count(expr_binder *binder, const frz_expr *expr, const call_entry *entry)
{
    if (expr->arg_count >= entry->least && (entry->most == 0 || expr->arg_count <= entry->most)) {
        return FRZ_OK;
    }
    const char *more = entry->most == 0             ? " or more"
                       : entry->most > entry->least ? " or one more"
                                                    : "";
    return expr_fail_at(expr->source, expr->start, binder->err, FRZ_E_ARGUMENT,
                        "%s takes %zu%s argument%s, found %zu", entry->name, entry->least, more,
                        entry->least == 1 && more[0] == '\0' ? "" : "s", expr->arg_count);
}

frz_code expr_bind_call(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                        const expr_node **out)
{
    const call_entry *entry = NULL;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(calls); i++) {
        if (frz_str_equal(expr->text, frz_str_from(calls[i].name))) {
            entry = &calls[i];
        }
    }
    if (entry == NULL) {
        return unknown_function(binder, expr);
    }
    frz_code rc = check_count(binder, expr, entry);
    if (rc != FRZ_OK) {
        return rc;
    }
    switch (entry->kind) {
    case CALL_NUMERIC:
        return bind_numeric(binder, expr, entry, args, out);
    case CALL_FLOATING:
        return bind_floating(binder, expr, entry, args, out);
    case CALL_LENGTH:
    case CALL_CASE:
        return bind_length(binder, expr, entry, args, out);
    case CALL_SUBSTR:
        return bind_substr(binder, expr, args, out);
    case CALL_ROUND:
        return bind_round(binder, expr, args, out);
    case CALL_CONCAT:
        return expr_bind_concat(binder, expr, args, out);
    case CALL_COALESCE:
        return bind_coalesce(binder, expr, args, out);
    case CALL_NULLIF:
        return bind_nullif(binder, expr, args, out);
    }
    return frz_fail(binder->err, FRZ_E_INTERNAL, "a function of unknown kind");
}
