/*
 * Arithmetic over whole columns. A kernel computes every row, rows that are null or not selected
 * included, and only gathers whether anything went wrong anywhere; then a second, slow pass looks
 * for a row that matters.
 */
#include <math.h>

#include "expr/expr_internal.h"

/* What the decimal kernels need beside the operands. */
typedef struct decimal_rule {
    frz_i128 bound; /* results stay below it */
    int32_t shift;  /* DIVIDE: the dividend is multiplied by 10^shift */
    frz_i128 factor;
} decimal_rule;

/* ---- one row: what the slow pass asks ---- */

static bool int_row(expr_arithmetic op, int64_t x, int64_t y, bool narrow)
{
    int64_t r = 0;
    bool overflow = op == EXPR_ADD        ? __builtin_add_overflow(x, y, &r)
                    : op == EXPR_SUBTRACT ? __builtin_sub_overflow(x, y, &r)
                    : op == EXPR_MULTIPLY ? __builtin_mul_overflow(x, y, &r)
                                          : false;
    return !overflow && (!narrow || r == (int32_t)r);
}

/* No decimal is as small, but a row that does not matter may hold anything. */
#define I128_MIN ((frz_i128)((unsigned __int128)1 << 127))

static frz_i128 absolute(frz_i128 x)
{
    return x < 0 ? -x : x;
}

/* x * 10^shift / y, rounded half away from zero. */
static bool decimal_divide(frz_i128 x, frz_i128 y, const decimal_rule *rule, frz_i128 *out)
{
    if (y == 0 || (rule->shift > 38 && x != 0) || __builtin_mul_overflow(x, rule->factor, &x) ||
        x == I128_MIN || y == I128_MIN) {
        return false;
    }
    frz_i128 quotient = x / y;
    frz_i128 rest = absolute(x % y);
    bool up = rest >= absolute(y) - rest;
    *out = quotient + (!up ? 0 : (x < 0) == (y < 0) ? 1 : -1);
    return true;
}

static inline bool decimal_row(expr_arithmetic op, frz_i128 x, frz_i128 y, const decimal_rule *rule,
                               frz_i128 *out)
{
    frz_i128 r = 0;
    bool ok = true;
    switch (op) {
    case EXPR_ADD:
        ok = !__builtin_add_overflow(x, y, &r);
        break;
    case EXPR_SUBTRACT:
        ok = !__builtin_sub_overflow(x, y, &r);
        break;
    case EXPR_MULTIPLY:
        ok = !__builtin_mul_overflow(x, y, &r);
        break;
    case EXPR_DIVIDE:
        ok = decimal_divide(x, y, rule, &r);
        break;
    case EXPR_MODULO:
        ok = y != 0;
        r = ok && y != -1 ? x % y : 0;
        break;
    }
    ok = ok && r > -rule->bound && r < rule->bound;
    *out = ok ? r : 0; /* what went wrong does not grow in what is computed from it */
    return ok;
}

static bool is_zero(const frz_value *value)
{
    switch (value->type->id) {
    case FRZ_TYPE_INT:
        return value->as.i32 == 0;
    case FRZ_TYPE_LONG:
        return value->as.i64 == 0;
    case FRZ_TYPE_DOUBLE:
        return value->as.f64 == 0;
    default:
        return value->as.i128 == 0;
    }
}

/* Is this row's result right? */
static bool row_is_right(const expr_node *node, const frz_value *x, const frz_value *y,
                         const decimal_rule *rule)
{
    expr_arithmetic op = (expr_arithmetic)node->code;
    frz_i128 ignored;
    if ((op == EXPR_DIVIDE || op == EXPR_MODULO) && is_zero(y)) {
        return false;
    }
    switch (node->type->id) {
    case FRZ_TYPE_INT:
        return int_row(op, x->as.i32, y->as.i32, true);
    case FRZ_TYPE_LONG:
        return int_row(op, x->as.i64, y->as.i64, false);
    case FRZ_TYPE_DECIMAL:
        return decimal_row(op, x->as.i128, y->as.i128, rule, &ignored);
    default:
        return true;
    }
}

static frz_code find_failure(expr_eval *eval, const expr_node *node, const expr_vec *args,
                             const decimal_rule *rule, const frz_buffer *validity,
                             const uint8_t *selection)
{
    static const char symbols[] = "+-*/%";
    expr_arithmetic op = (expr_arithmetic)node->code;
    int64_t i = expr_next_row(eval, selection, validity, 0);
    for (; i >= 0; i = expr_next_row(eval, selection, validity, i + 1)) {
        frz_value x = expr_vec_at(&args[0], node->args[0]->type, i);
        frz_value y = expr_vec_at(&args[1], node->args[1]->type, i);
        if (row_is_right(node, &x, &y, rule)) {
            continue;
        }
        char text_x[EXPR_VALUE_TEXT];
        char text_y[EXPR_VALUE_TEXT];
        bool zero = (op == EXPR_DIVIDE || op == EXPR_MODULO) && is_zero(&y);
        bool decimal = node->type->id == FRZ_TYPE_DECIMAL;
        return expr_fail_row(eval, node, i,
                             zero      ? "division by zero"
                             : decimal ? "decimal overflow"
                                       : "integer overflow",
                             "%s %c %s", expr_value_text(eval, &x, text_x), symbols[op],
                             expr_value_text(eval, &y, text_y));
    }
    return FRZ_OK;
}

/* ---- columns: each returns true if some row, maybe one that does not matter, went wrong ---- */

static bool double_column(expr_arithmetic op, expr_shape shape, const double *restrict a,
                          const double *restrict b, int64_t n, double *restrict out)
{
    int zero = 0;
    switch (op) {
    case EXPR_ADD:
        EXPR_EACH(double, shape, a, b, n, { out[i] = x + y; });
        break;
    case EXPR_SUBTRACT:
        EXPR_EACH(double, shape, a, b, n, { out[i] = x - y; });
        break;
    case EXPR_MULTIPLY:
        EXPR_EACH(double, shape, a, b, n, { out[i] = x * y; });
        break;
    case EXPR_DIVIDE:
        EXPR_EACH(double, shape, a, b, n, {
            zero |= y == 0;
            out[i] = x / y;
        });
        break;
    case EXPR_MODULO:
        EXPR_EACH(double, shape, a, b, n, {
            zero |= y == 0;
            out[i] = fmod(x, y);
        });
        break;
    }
    return zero != 0;
}

static bool int_column(expr_arithmetic op, expr_shape shape, const int32_t *restrict a,
                       const int32_t *restrict b, int64_t n, int32_t *restrict out)
{
    int32_t wrong = 0; /* negative: yes */
    switch (op) {
    case EXPR_ADD:
        EXPR_EACH(int32_t, shape, a, b, n, {
            int32_t r = (int32_t)((uint32_t)x + (uint32_t)y);
            wrong |= (x ^ r) & (y ^ r);
            out[i] = r;
        });
        break;
    case EXPR_SUBTRACT:
        EXPR_EACH(int32_t, shape, a, b, n, {
            int32_t r = (int32_t)((uint32_t)x - (uint32_t)y);
            wrong |= (x ^ y) & (x ^ r);
            out[i] = r;
        });
        break;
    case EXPR_MULTIPLY:
        EXPR_EACH(int32_t, shape, a, b, n, {
            int64_t r = (int64_t)x * y;
            wrong |= r == (int32_t)r ? 0 : -1;
            out[i] = (int32_t)r;
        });
        break;
    default:
        EXPR_EACH(int32_t, shape, a, b, n, {
            wrong |= y == 0 ? -1 : 0;
            out[i] = y == 0 || y == -1 ? 0 : x % y;
        });
        break;
    }
    return wrong < 0;
}

/* Most values and divisors fit 32 bits, where division is several times faster. */
static inline int64_t remainder_of(int64_t x, int64_t y)
{
    if ((((uint64_t)x | (uint64_t)y) >> 32) == 0) {
        return (int64_t)((uint32_t)x % (uint32_t)y);
    }
    return y == -1 ? 0 : x % y;
}

static bool long_column(expr_arithmetic op, expr_shape shape, const int64_t *restrict a,
                        const int64_t *restrict b, int64_t n, int64_t *restrict out)
{
    int64_t wrong = 0;
    switch (op) {
    case EXPR_ADD:
        EXPR_EACH(int64_t, shape, a, b, n, {
            int64_t r = (int64_t)((uint64_t)x + (uint64_t)y);
            wrong |= (x ^ r) & (y ^ r);
            out[i] = r;
        });
        break;
    case EXPR_SUBTRACT:
        EXPR_EACH(int64_t, shape, a, b, n, {
            int64_t r = (int64_t)((uint64_t)x - (uint64_t)y);
            wrong |= (x ^ y) & (x ^ r);
            out[i] = r;
        });
        break;
    case EXPR_MULTIPLY:
        EXPR_EACH(int64_t, shape, a, b, n, {
            int64_t r;
            wrong |= __builtin_mul_overflow(x, y, &r) ? -1 : 0;
            out[i] = r;
        });
        break;
    default:
        EXPR_EACH(int64_t, shape, a, b, n, {
            wrong |= y == 0 ? -1 : 0;
            out[i] = y == 0 ? 0 : remainder_of(x, y);
        });
        break;
    }
    return wrong < 0;
}

static bool decimal_column(expr_arithmetic op, expr_shape shape, const frz_i128 *a,
                           const frz_i128 *b, int64_t n, const decimal_rule *rule, frz_i128 *out)
{
    bool right = true;
#define DECIMAL_LOOP(which)                                                                        \
    case which:                                                                                    \
        EXPR_EACH(frz_i128, shape, a, b, n,                                                        \
                  { right &= decimal_row(which, x, y, rule, &out[i]); });                          \
        break
    switch (op) {
        DECIMAL_LOOP(EXPR_ADD);
        DECIMAL_LOOP(EXPR_SUBTRACT);
        DECIMAL_LOOP(EXPR_MULTIPLY);
        DECIMAL_LOOP(EXPR_DIVIDE);
        DECIMAL_LOOP(EXPR_MODULO);
    }
#undef DECIMAL_LOOP
    return !right;
}

static decimal_rule rule_of(const expr_node *node)
{
    decimal_rule rule = {.factor = 1};
    if (node->type->id == FRZ_TYPE_DECIMAL) {
        rule.bound = expr_power_of_ten(node->type->precision);
        if (node->code == EXPR_DIVIDE) {
            rule.shift =
                node->type->scale - node->args[0]->type->scale + node->args[1]->type->scale;
            rule.factor = expr_power_of_ten(FRZ_MAX(FRZ_MIN(rule.shift, 38), 0));
        }
    }
    return rule;
}

frz_code expr_kernel_arithmetic(expr_eval *eval, const expr_node *node, const expr_vec *args,
                                const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    size_t width = frz_type_width(node->type);
    expr_arithmetic op = (expr_arithmetic)node->code;
    expr_shape shape = expr_shape_of(&args[0], &args[1]);
    decimal_rule rule = rule_of(node);
    const void *a = expr_values_of(&args[0], width);
    const void *b = expr_values_of(&args[1], width);
    bool wrong;
    FRZ_TRY(expr_values_new(eval, width, &values));
    FRZ_TRY(expr_validity(eval, args, 2, &validity));
    void *to = values->data;
    switch (node->type->id) {
    case FRZ_TYPE_INT:
        wrong = int_column(op, shape, a, b, eval->length, to);
        break;
    case FRZ_TYPE_LONG:
        wrong = long_column(op, shape, a, b, eval->length, to);
        break;
    case FRZ_TYPE_DECIMAL:
        wrong = decimal_column(op, shape, a, b, eval->length, &rule, to);
        break;
    default:
        wrong = double_column(op, shape, a, b, eval->length, to);
        break;
    }
    if (wrong) {
        FRZ_TRY(find_failure(eval, node, args, &rule, validity, selection));
    }
    rc = expr_array_of(eval, validity, values, out);
    validity = values = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}

/* ---- unary minus ---- */

static bool negate_column(const frz_type *type, const void *from, int64_t n, void *to)
{
    bool wrong = false;
    if (type->id == FRZ_TYPE_INT) {
        for (int64_t i = 0; i < n; i++) {
            int32_t x = ((const int32_t *)from)[i];
            wrong |= x == INT32_MIN;
            ((int32_t *)to)[i] = (int32_t)(0 - (uint32_t)x);
        }
    } else if (type->id == FRZ_TYPE_LONG) {
        for (int64_t i = 0; i < n; i++) {
            int64_t x = ((const int64_t *)from)[i];
            wrong |= x == INT64_MIN;
            ((int64_t *)to)[i] = (int64_t)(0 - (uint64_t)x);
        }
    } else if (type->id == FRZ_TYPE_DOUBLE) {
        for (int64_t i = 0; i < n; i++) {
            ((double *)to)[i] = -((const double *)from)[i];
        }
    } else {
        for (int64_t i = 0; i < n; i++) {
            ((frz_i128 *)to)[i] = -((const frz_i128 *)from)[i];
        }
    }
    return wrong;
}

frz_code expr_kernel_negate(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                            const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    size_t width = frz_type_width(node->type);
    FRZ_TRY(expr_values_new(eval, width, &values));
    FRZ_TRY(expr_validity(eval, arg, 1, &validity));
    bool wrong = negate_column(node->type, expr_values_of(arg, width), eval->length, values->data);
    int64_t i = wrong ? expr_next_row(eval, selection, validity, 0) : -1;
    for (; i >= 0; i = expr_next_row(eval, selection, validity, i + 1)) {
        frz_value x = expr_vec_at(arg, node->type, i);
        if (node->type->id == FRZ_TYPE_INT ? x.as.i32 == INT32_MIN : x.as.i64 == INT64_MIN) {
            char text[EXPR_VALUE_TEXT];
            rc = expr_fail_row(eval, node, i, "integer overflow", "-(%s)",
                               expr_value_text(eval, &x, text));
            goto out;
        }
    }
    rc = expr_array_of(eval, validity, values, out);
    validity = values = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}
