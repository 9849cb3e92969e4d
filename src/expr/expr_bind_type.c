/*
 * Types of operands: which type two meet in, what arithmetic yields, and turning a node into
 * another type.
 *
 * Numbers meet in int -> long -> decimal -> double; float and anything else meet in double. A
 * string literal beside a date, time, timestamp or uuid is a literal of that type. A whole number
 * written in the text counts as a decimal of its own digits, any other int as decimal(10, 0), a
 * long as decimal(19, 0).
 */
#include "expr/expr_internal.h"

#define TYPE_TEXT 80
#define INT_DIGITS 10
#define LONG_DIGITS 19

/* What matters of a node when types meet. */
typedef struct operand {
    const frz_type *type;
    bool text;      /* a string literal */
    int32_t digits; /* of a whole number in the text; else 0 */
} operand;

static operand operand_of(const expr_node *node)
{
    operand o = {.type = node->type};
    if (expr_is_literal(node) && !node->value.is_null) {
        o.text = node->type->id == FRZ_TYPE_STRING;
        o.digits = node->type->id == FRZ_TYPE_INT    ? expr_digit_count(node->value.as.i32)
                   : node->type->id == FRZ_TYPE_LONG ? expr_digit_count(node->value.as.i64)
                                                     : 0;
    }
    return o;
}

static bool is_floating(const frz_type *type)
{
    return type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
}

/* Digits before and after the point of a number that is not floating. */
static void decimal_shape(operand o, int32_t *whole, int32_t *scale)
{
    *scale = o.type->id == FRZ_TYPE_DECIMAL ? o.type->scale : 0;
    *whole = o.type->id == FRZ_TYPE_DECIMAL ? FRZ_MAX(o.type->precision - o.type->scale, 0)
             : o.digits > 0                 ? o.digits
             : o.type->id == FRZ_TYPE_INT   ? INT_DIGITS
                                            : LONG_DIGITS;
}

static frz_code meet_decimals(expr_binder *binder, operand a, operand b, const frz_type **out)
{
    int32_t whole_a, scale_a, whole_b, scale_b;
    decimal_shape(a, &whole_a, &scale_a);
    decimal_shape(b, &whole_b, &scale_b);
    int32_t scale = FRZ_MAX(scale_a, scale_b);
    int32_t precision = FRZ_MIN(FRZ_MAX(whole_a, whole_b) + scale, 38);
    return expr_decimal_type(&binder->bound->arena, FRZ_MAX(precision, 1), scale, out, binder->err);
}

static frz_code meet_numbers(expr_binder *binder, operand a, operand b, const frz_type **out)
{
    if (is_floating(a.type) || is_floating(b.type)) {
        bool both_float = a.type->id == FRZ_TYPE_FLOAT && b.type->id == FRZ_TYPE_FLOAT;
        *out = frz_type_primitive(both_float ? FRZ_TYPE_FLOAT : FRZ_TYPE_DOUBLE);
        return FRZ_OK;
    }
    if (a.type->id == FRZ_TYPE_DECIMAL || b.type->id == FRZ_TYPE_DECIMAL) {
        return meet_decimals(binder, a, b, out);
    }
    bool both_int = a.type->id == FRZ_TYPE_INT && b.type->id == FRZ_TYPE_INT;
    *out = frz_type_primitive(both_int ? FRZ_TYPE_INT : FRZ_TYPE_LONG);
    return FRZ_OK;
}

static bool read_from_text(const frz_type *type)
{
    return (type->id >= FRZ_TYPE_DATE && type->id <= FRZ_TYPE_TIMESTAMPTZ_NS) ||
           type->id == FRZ_TYPE_UUID;
}

static frz_code no_common_type(expr_binder *binder, const frz_expr *at, operand a, operand b)
{
    char text_a[TYPE_TEXT];
    char text_b[TYPE_TEXT];
    bool quoted = (a.text && expr_is_number(b.type)) || (b.text && expr_is_number(a.type));
    expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                 "%s and %s cannot be compared or combined%s",
                 frz_type_text(a.type, text_a, sizeof text_a),
                 frz_type_text(b.type, text_b, sizeof text_b),
                 quoted ? "; numbers are written without quotes" : "; CAST one of them");
    return FRZ_E_ARGUMENT;
}

/* The wider of two types if one widens to the other: dates and timestamps, fixed and binary. */
static const frz_type *wider_of(const frz_type *a, const frz_type *b)
{
    bool micros_first = a->id == FRZ_TYPE_TIMESTAMP || a->id == FRZ_TYPE_TIMESTAMPTZ;
    bool bytes = (a->id == FRZ_TYPE_FIXED || a->id == FRZ_TYPE_BINARY) &&
                 (b->id == FRZ_TYPE_FIXED || b->id == FRZ_TYPE_BINARY);
    if (bytes) {
        return frz_type_primitive(FRZ_TYPE_BINARY);
    }
    if (!expr_convertible(a, b, EXPR_WIDEN)) {
        return expr_convertible(b, a, EXPR_WIDEN) ? a : NULL;
    }
    return a->id == FRZ_TYPE_DATE || micros_first ? b : a;
}

static frz_code meet(expr_binder *binder, const frz_expr *at, operand a, operand b, operand *out)
{
    operand met = {.digits = a.digits > 0 && b.digits > 0 ? FRZ_MAX(a.digits, b.digits) : 0};
    met.text = a.text && b.text;
    if (a.type->id == FRZ_TYPE_UNKNOWN || b.type->id == FRZ_TYPE_UNKNOWN) {
        *out = a.type->id == FRZ_TYPE_UNKNOWN ? b : a;
        return FRZ_OK;
    }
    if (frz_type_same_shape(a.type, b.type)) {
        met.type = a.type;
    } else if (expr_is_number(a.type) && expr_is_number(b.type)) {
        frz_code rc = meet_numbers(binder, a, b, &met.type);
        if (rc != FRZ_OK) {
            return rc;
        }
    } else if (a.text && read_from_text(b.type)) {
        met.type = b.type;
    } else if (b.text && read_from_text(a.type)) {
        met.type = a.type;
    } else {
        met.type = wider_of(a.type, b.type);
        if (met.type == NULL) {
            return no_common_type(binder, at, a, b);
        }
    }
    *out = met;
    return FRZ_OK;
}

/* ---- conversion ---- */

static frz_code cannot_convert(expr_binder *binder, const frz_expr *at, const expr_node *node,
                               const frz_type *to, expr_mode mode)
{
    char from_text[TYPE_TEXT];
    char to_text[TYPE_TEXT];
    return expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                        mode == EXPR_CAST_TO ? "%s cannot be cast to %s"
                                             : "%s cannot be assigned to %s without a CAST",
                        frz_type_text(node->type, from_text, sizeof from_text),
                        frz_type_text(to, to_text, sizeof to_text));
}

static frz_code convert_literal(expr_binder *binder, const frz_expr *at, const expr_node *node,
                                const frz_type *to, expr_mode mode, const expr_node **out)
{
    frz_value value;
    char to_text[TYPE_TEXT];
    frz_buf text = FRZ_BUF_INIT(binder->bound->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = FRZ_OK;
    switch (expr_convert_value(&binder->bound->arena, &node->value, to, mode, &value)) {
    case EXPR_CONVERTED:
        rc = expr_node_literal(binder, &value, out);
        break;
    case EXPR_NO_MEMORY:
        rc = frz_fail_nomem(binder->err, 0);
        break;
    case EXPR_DOES_NOT_FIT:
    case EXPR_NOT_READABLE:
        FRZ_TRY(expr_print_literal(&node->value, &text, binder->err));
        rc = expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                          to->id == FRZ_TYPE_UNKNOWN ? "%.*s does not fit %s: only NULL does"
                          : node->type->id == FRZ_TYPE_STRING ? "%.*s cannot be read as %s"
                                                              : "%.*s does not fit %s",
                          (int)FRZ_MIN(text.len, (size_t)80), (const char *)text.data,
                          frz_type_text(to, to_text, sizeof to_text));
        break;
    }
out:
    frz_buf_reset(&text);
    return rc;
}

frz_code expr_node_convert(expr_binder *binder, const frz_expr *at, const expr_node *node,
                           const frz_type *to, expr_mode mode, const expr_node **out)
{
    if (frz_type_same_shape(node->type, to)) {
        *out = node;
        return FRZ_OK;
    }
    bool as_literal = mode != EXPR_CAST_TO && operand_of(node).text && read_from_text(to);
    if (!as_literal && !expr_convertible(node->type, to, mode)) {
        return cannot_convert(binder, at, node, to, mode);
    }
    return expr_is_literal(node)
               ? convert_literal(binder, at, node, to, mode, out)
               : expr_node_new(binder, EXPR_OP_CONVERT, (int)mode, to, &node, 1, out);
}

frz_code expr_unify(expr_binder *binder, const frz_expr *at, const expr_node **args, size_t count,
                    size_t first, size_t step, const frz_type **out)
{
    frz_code rc = FRZ_OK;
    operand all = operand_of(args[first]);
    for (size_t i = first + step; i < count; i += step) {
        FRZ_TRY(meet(binder, at, all, operand_of(args[i]), &all));
    }
    for (size_t i = first; i < count; i += step) {
        FRZ_TRY(expr_node_convert(binder, at, args[i], all.type, EXPR_WIDEN, &args[i]));
    }
    *out = all.type;
out:
    return rc;
}

/* ---- arithmetic ---- */

static frz_code no_arithmetic(expr_binder *binder, const frz_expr *at, expr_arithmetic op,
                              operand a, operand b)
{
    static const char symbols[] = "+-*/%";
    char text_a[TYPE_TEXT];
    char text_b[TYPE_TEXT];
    return expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                        "%s %c %s has no meaning: both sides must be numbers",
                        frz_type_text(a.type, text_a, sizeof text_a), symbols[op],
                        frz_type_text(b.type, text_b, sizeof text_b));
}

static frz_code scale_too_large(expr_binder *binder, const frz_expr *at, int32_t scale)
{
    return expr_fail_at(at->source, at->start, binder->err, FRZ_E_ARGUMENT,
                        "this product has %d digits after the point: at most 38; CAST a factor",
                        scale);
}

/* Result of an operator on decimals, and the types its operands must have. */
static frz_code decimal_result(expr_binder *binder, const frz_expr *at, expr_arithmetic op,
                               operand a, operand b, const frz_type **type_a,
                               const frz_type **type_b, const frz_type **result)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = &binder->bound->arena;
    int32_t whole_a, scale_a, whole_b, scale_b;
    decimal_shape(a, &whole_a, &scale_a);
    decimal_shape(b, &whole_b, &scale_b);
    int32_t whole = FRZ_MAX(whole_a, whole_b);
    int32_t scale = FRZ_MAX(scale_a, scale_b);
    if (op == EXPR_MULTIPLY) {
        whole = whole_a + whole_b;
        scale = scale_a + scale_b;
        if (scale > 38) {
            return scale_too_large(binder, at, scale);
        }
    } else if (op == EXPR_DIVIDE) {
        whole = whole_a + scale_b;
        scale = FRZ_MAX(6, scale_a + whole_b + scale_b + 1);
        scale = FRZ_MIN(scale, FRZ_MAX(38 - whole, 6));
    } else {
        scale_a = scale_b = scale;
        whole_a = whole_b = whole;
        whole += op != EXPR_MODULO;
    }
    int32_t precision = FRZ_MAX(FRZ_MIN(whole + scale, 38), 1);
    FRZ_TRY(expr_decimal_type(arena, precision, scale, result, binder->err));
    FRZ_TRY(expr_decimal_type(arena, FRZ_MAX(FRZ_MIN(whole_a + scale_a, 38), 1), scale_a, type_a,
                              binder->err));
    FRZ_TRY(expr_decimal_type(arena, FRZ_MAX(FRZ_MIN(whole_b + scale_b, 38), 1), scale_b, type_b,
                              binder->err));
out:
    return rc;
}

frz_code expr_bind_arithmetic(expr_binder *binder, const frz_expr *at, expr_arithmetic op,
                              const expr_node *a, const expr_node *b, const expr_node **out)
{
    frz_code rc = FRZ_OK;
    operand left = operand_of(a);
    operand right = operand_of(b);
    const frz_type *types[2];
    const frz_type *result;
    /* a bare NULL takes the type of the other side */
    left.type = left.type->id == FRZ_TYPE_UNKNOWN ? right.type : left.type;
    right.type = right.type->id == FRZ_TYPE_UNKNOWN ? left.type : right.type;
    if (left.type->id == FRZ_TYPE_UNKNOWN) {
        *out = a;
        return FRZ_OK;
    }
    if (!expr_is_number(left.type) || !expr_is_number(right.type)) {
        return no_arithmetic(binder, at, op, left, right);
    }
    bool floating = is_floating(left.type) || is_floating(right.type);
    bool decimal = left.type->id == FRZ_TYPE_DECIMAL || right.type->id == FRZ_TYPE_DECIMAL;
    if (decimal && !floating) {
        FRZ_TRY(decimal_result(binder, at, op, left, right, &types[0], &types[1], &result));
    } else {
        bool both_int = left.type->id == FRZ_TYPE_INT && right.type->id == FRZ_TYPE_INT;
        result = frz_type_primitive(floating || op == EXPR_DIVIDE ? FRZ_TYPE_DOUBLE
                                    : both_int                    ? FRZ_TYPE_INT
                                                                  : FRZ_TYPE_LONG);
        types[0] = types[1] = result;
    }
    const expr_node *args[2];
    FRZ_TRY(expr_node_convert(binder, at, a, types[0], EXPR_WIDEN, &args[0]));
    FRZ_TRY(expr_node_convert(binder, at, b, types[1], EXPR_WIDEN, &args[1]));
    FRZ_TRY(expr_node_new(binder, EXPR_OP_ARITHMETIC, (int)op, result, args, 2, out));
out:
    return rc;
}
