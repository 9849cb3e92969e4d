/*
 * abs, round, floor, ceil, sqrt, ln, exp, power over whole columns. As in arithmetic, rows that do
 * not matter are computed too, and failures are looked for in a second pass.
 */
#include <math.h>

#include "expr/expr_internal.h"

/* ---- one value ---- */

/* Half away from zero, to some digits after the point (before it, if negative). */
static double round_double(double x, int64_t digits)
{
    if (!(fabs(x) < 0x1p52) && digits >= 0) {
        return x; /* nothing after the point; NaN, infinity */
    }
    if (digits == 0) {
        return round(x);
    }
    double power = pow(10, (double)(digits < 0 ? -digits : digits));
    double scaled = digits < 0 ? x / power : x * power;
    if (!(fabs(scaled) < 0x1p52)) {
        return x;
    }
    scaled = round(scaled);
    return digits < 0 ? scaled * power : scaled / power;
}

/* value rounded to a multiple of unit; how: -1 down, 1 up, 0 half away from zero. False if the
 * result passes the type's end. */
static bool round_to_unit(frz_i128 value, frz_i128 unit, int how, frz_i128 *out)
{
    frz_i128 rest = value % unit;
    frz_i128 base = value - rest; /* towards zero */
    frz_i128 step = 0;
    if (how == 0) {
        frz_i128 size = rest < 0 ? -rest : rest;
        step = size >= unit - size && rest != 0 ? (value < 0 ? -unit : unit) : 0;
    } else if (rest != 0 && (how > 0) == (value > 0)) {
        step = how > 0 ? unit : -unit;
    }
    return !__builtin_add_overflow(base, step, out);
}

/* How floor, ceil and round treat a rest. */
static int direction(const expr_node *node)
{
    return node->code == EXPR_FUNCTION_FLOOR ? -1 : node->code == EXPR_FUNCTION_CEIL ? 1 : 0;
}

/* floor, ceil, round of an int or long: only round with negative digits changes anything. */
static bool round_integer(int64_t x, int64_t digits, bool narrow, int64_t *out)
{
    frz_i128 rounded = 0;
    *out = 0;
    if (digits < -20) {
        return true; /* nearer to zero than to any multiple */
    }
    if (!round_to_unit(x, expr_power_of_ten((int32_t)-digits), 0, &rounded)) {
        return false;
    }
    *out = (int64_t)rounded;
    return rounded == *out && (!narrow || *out == (int32_t)*out);
}

static bool round_decimal(const expr_node *node, frz_i128 x, frz_i128 *out)
{
    int32_t from = node->args[0]->type->scale;
    int64_t drop = from - (node->code == EXPR_FUNCTION_ROUND ? node->index : 0);
    frz_i128 rounded = x;
    if (drop > 38) {
        rounded = 0;
    } else if (drop > 0 &&
               !round_to_unit(x, expr_power_of_ten((int32_t)drop), direction(node), &rounded)) {
        return false;
    }
    rounded /= expr_power_of_ten(from - node->type->scale);
    frz_i128 bound = expr_power_of_ten(node->type->precision);
    *out = rounded;
    return rounded > -bound && rounded < bound;
}

static double floating(expr_function function, double x, double y)
{
    switch (function) {
    case EXPR_FUNCTION_SQRT:
        return sqrt(x);
    case EXPR_FUNCTION_LN:
        return log(x);
    case EXPR_FUNCTION_EXP:
        return exp(x);
    default:
        return pow(x, y);
    }
}

/* Why a function of a double has no value, or NULL. */
static const char *undefined(expr_function function, double x, double y)
{
    switch (function) {
    case EXPR_FUNCTION_SQRT:
        return x < 0 ? "square root of a negative number" : NULL;
    case EXPR_FUNCTION_LN:
        return x <= 0 ? "logarithm of a number that is not positive" : NULL;
    case EXPR_FUNCTION_POWER:
        if (x == 0 && y < 0) {
            return "division by zero";
        }
        return x < 0 && isfinite(x) && isfinite(y) && floor(y) != y
                   ? "fractional power of a negative number"
                   : NULL;
    default:
        return NULL;
    }
}

/* ---- columns: true if some row, maybe one that does not matter, went wrong ---- */

static bool double_column(const expr_node *node, const double *x, int64_t n, double *out)
{
    switch ((expr_function)node->code) {
    case EXPR_FUNCTION_ABS:
        for (int64_t i = 0; i < n; i++) {
            out[i] = fabs(x[i]);
        }
        return false;
    case EXPR_FUNCTION_FLOOR:
        for (int64_t i = 0; i < n; i++) {
            out[i] = floor(x[i]);
        }
        return false;
    case EXPR_FUNCTION_CEIL:
        for (int64_t i = 0; i < n; i++) {
            out[i] = ceil(x[i]);
        }
        return false;
    default:
        for (int64_t i = 0; i < n; i++) {
            out[i] = round_double(x[i], node->index);
        }
        return false;
    }
}

static bool floating_column(expr_function function, const expr_vec *args, size_t arg_count,
                            int64_t n, double *out)
{
    bool wrong = false;
    const double *x = expr_values_of(&args[0], sizeof *x);
    const double *y = arg_count == 2 ? expr_values_of(&args[1], sizeof *y) : x;
    size_t step_x = args[0].constant ? 0 : 1;
    size_t step_y = arg_count == 2 && args[1].constant ? 0 : 1;
    for (int64_t i = 0; i < n; i++, x += step_x, y += step_y) {
        wrong |= undefined(function, *x, *y) != NULL;
        out[i] = floating(function, *x, *y);
    }
    return wrong;
}

static bool integer_row(const expr_node *node, int64_t x, int64_t *out)
{
    bool narrow = node->type->id == FRZ_TYPE_INT;
    if (node->code == EXPR_FUNCTION_ABS) {
        *out = x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
        return *out >= 0 && (!narrow || *out == (int32_t)*out);
    }
    if (node->code == EXPR_FUNCTION_ROUND && node->index < 0) {
        return round_integer(x, node->index, narrow, out);
    }
    *out = x;
    return true;
}

static bool integer_column(const expr_node *node, const void *values, int64_t n, void *out)
{
    bool right = true;
    bool narrow = node->type->id == FRZ_TYPE_INT;
    for (int64_t i = 0; i < n; i++) {
        int64_t r;
        right &= integer_row(
            node, narrow ? ((const int32_t *)values)[i] : ((const int64_t *)values)[i], &r);
        if (narrow) {
            ((int32_t *)out)[i] = (int32_t)r;
        } else {
            ((int64_t *)out)[i] = r;
        }
    }
    return !right;
}

static bool decimal_row(const expr_node *node, frz_i128 x, frz_i128 *out)
{
    if (node->code == EXPR_FUNCTION_ABS) {
        *out = x < 0 ? -x : x;
        return true;
    }
    return round_decimal(node, x, out);
}

static bool decimal_column(const expr_node *node, const frz_i128 *x, int64_t n, frz_i128 *out)
{
    bool right = true;
    for (int64_t i = 0; i < n; i++) {
        right &= decimal_row(node, x[i], &out[i]);
    }
    return !right;
}

static bool is_floating(const expr_node *node)
{
    return node->code == EXPR_FUNCTION_SQRT || node->code == EXPR_FUNCTION_LN ||
           node->code == EXPR_FUNCTION_EXP || node->code == EXPR_FUNCTION_POWER;
}

/* What is wrong with a row, or NULL. */
static const char *wrong_row(const expr_node *node, const frz_value *x, const frz_value *y)
{
    int64_t ignored;
    frz_i128 ignored_decimal;
    switch (node->args[0]->type->id) {
    case FRZ_TYPE_INT:
        return integer_row(node, x->as.i32, &ignored) ? NULL : "integer overflow";
    case FRZ_TYPE_LONG:
        return integer_row(node, x->as.i64, &ignored) ? NULL : "integer overflow";
    case FRZ_TYPE_DECIMAL:
        return decimal_row(node, x->as.i128, &ignored_decimal) ? NULL : "decimal overflow";
    default:
        return undefined((expr_function)node->code, x->as.f64, y->as.f64);
    }
}

static frz_code find_failure(expr_eval *eval, const expr_node *node, const expr_vec *args,
                             const frz_buffer *validity, const uint8_t *selection)
{
    size_t last = node->arg_count - 1;
    int64_t i = expr_next_row(eval, selection, validity, 0);
    for (; i >= 0; i = expr_next_row(eval, selection, validity, i + 1)) {
        frz_value x = expr_vec_at(&args[0], node->args[0]->type, i);
        frz_value y = expr_vec_at(&args[last], node->args[last]->type, i);
        const char *what = wrong_row(node, &x, &y);
        if (what != NULL) {
            char text_x[EXPR_VALUE_TEXT];
            char text_y[EXPR_VALUE_TEXT];
            return expr_fail_row(eval, node, i, what, "%s%s%s", expr_value_text(eval, &x, text_x),
                                 last == 0 ? "" : ", ",
                                 last == 0 ? "" : expr_value_text(eval, &y, text_y));
        }
    }
    return FRZ_OK;
}

frz_code expr_kernel_math(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    size_t width = frz_type_width(node->type);
    bool wrong;
    FRZ_TRY(expr_values_new(eval, width, &values));
    FRZ_TRY(expr_validity(eval, args, node->arg_count, &validity));
    if (is_floating(node)) {
        wrong = floating_column((expr_function)node->code, args, node->arg_count, eval->length,
                                (double *)(void *)values->data);
    } else if (node->type->id == FRZ_TYPE_DOUBLE) {
        wrong = double_column(node, expr_values_of(args, width), eval->length,
                              (double *)(void *)values->data);
    } else if (node->type->id == FRZ_TYPE_DECIMAL) {
        wrong = decimal_column(node, expr_values_of(args, width), eval->length,
                               (frz_i128 *)(void *)values->data);
    } else {
        wrong = integer_column(node, expr_values_of(args, width), eval->length, values->data);
    }
    if (wrong) {
        FRZ_TRY(find_failure(eval, node, args, validity, selection));
    }
    rc = expr_array_of(eval, validity, values, out);
    values = validity = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}
