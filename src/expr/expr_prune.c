/*
 * Pruning: what a filter can come out as for the rows of a file, judged from statistics alone.
 *
 * Every condition has a set of possible outcomes out of true, false and null. The set may be too
 * large but never too small, so a file may be skipped exactly if "true" is not in the set of the
 * whole filter. NOT exchanges true and false, which pushes it down to the comparisons.
 *
 * Bounds may be outer ones (truncated strings), they never hold NaN, and NaN counts as greater
 * than every number: where its count is unknown it may be there.
 */
#include <math.h>

#include "expr/expr_internal.h"

enum { MAY_TRUE = 1, MAY_FALSE = 2, MAY_NULL = 4, MAY_ALL = 7 };

typedef struct prune {
    frz_stats_lookup lookup;
    void *ctx;
    int64_t record_count;
    frz_arena arena; /* converted bounds */
} prune;

/* What is known of the values an operand takes. */
typedef struct range {
    bool known;
    bool has_lower, has_upper;
    frz_value lower, upper;
    bool may_null, may_nan;
    bool may_value; /* neither null nor NaN */
} range;

static unsigned outcomes(prune *p, const expr_node *node);

/* ---- ranges of operands ---- */

static bool is_floating(const frz_type *type)
{
    return type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
}

static bool is_nan(const frz_value *value)
{
    return (value->type->id == FRZ_TYPE_FLOAT && isnan(value->as.f32)) ||
           (value->type->id == FRZ_TYPE_DOUBLE && isnan(value->as.f64));
}

/* A bound as a value of the column's present type; false if it says nothing. */
static bool bound_as(prune *p, const frz_type *type, const frz_value *bound, frz_value *out)
{
    return bound->type != NULL && !bound->is_null &&
           (frz_type_same_shape(bound->type, type) ||
            expr_convertible(bound->type, type, EXPR_WIDEN)) &&
           expr_convert_value(&p->arena, bound, type, EXPR_WIDEN, out) == EXPR_CONVERTED &&
           !is_nan(out);
}

static range column_range(prune *p, const expr_node *node)
{
    range r = {0};
    const frz_field_stats *stats = p->lookup(p->ctx, node->field_id);
    if (stats == NULL || frz_type_is_nested(node->type)) {
        return r;
    }
    int64_t rows = FRZ_MAX(stats->value_count, p->record_count);
    int64_t nulls = stats->null_value_count;
    int64_t nans = is_floating(node->type) ? stats->nan_value_count : 0;
    r.known = true;
    r.has_lower = stats->has_lower && bound_as(p, node->type, &stats->lower, &r.lower);
    r.has_upper = stats->has_upper && bound_as(p, node->type, &stats->upper, &r.upper);
    r.may_null = nulls != 0;
    r.may_nan = nans != 0;
    r.may_value = nulls < 0 || nans < 0 || rows < 0 || nulls + nans < rows;
    if (r.has_lower && r.has_upper && frz_value_compare(&r.lower, &r.upper, false) > 0) {
        r.has_lower = r.has_upper = false; /* bounds that contradict each other say nothing */
        r.may_value = true;
    }
    /* counts that contradict the rows or the bounds say nothing */
    if (!r.may_value && (r.has_lower || r.has_upper || nulls + nans > rows)) {
        r.may_value = r.may_null = true;
        r.may_nan = is_floating(node->type);
    }
    return r;
}

/* Does this conversion keep the order of values? Widening always does. */
static range operand_range(prune *p, const expr_node *node)
{
    range r = {0};
    if (node->op == EXPR_OP_COLUMN) {
        return column_range(p, node);
    }
    if (node->op == EXPR_OP_CONVERT && node->code == EXPR_WIDEN) {
        r = operand_range(p, node->args[0]);
        r.has_lower = r.has_lower && bound_as(p, node->type, &r.lower, &r.lower);
        r.has_upper = r.has_upper && bound_as(p, node->type, &r.upper, &r.upper);
    }
    return r;
}

/* ---- comparisons with a constant ---- */

/* Can a value of the range, not null, satisfy value OP constant? */
static bool may_satisfy(const range *r, expr_comparison op, const frz_value *constant)
{
    bool nan_constant = is_nan(constant);
    int lower = r->has_lower ? frz_value_compare(&r->lower, constant, false) : -1;
    int upper = r->has_upper ? frz_value_compare(&r->upper, constant, false) : 1;
    bool lower_below = !r->has_lower || lower < 0;
    bool upper_above = !nan_constant && (!r->has_upper || upper > 0);
    bool may_equal =
        !nan_constant && (!r->has_lower || lower <= 0) && (!r->has_upper || upper >= 0);
    bool all_equal = r->has_lower && r->has_upper && lower == 0 && upper == 0;
    switch (op) {
    case EXPR_EQUAL:
        return (r->may_value && may_equal) || (r->may_nan && nan_constant);
    case EXPR_NOT_EQUAL:
        return (r->may_value && !all_equal) || (r->may_nan && !nan_constant);
    case EXPR_LESS:
        return r->may_value && lower_below;
    case EXPR_LESS_EQUAL:
        return (r->may_value && (lower_below || may_equal)) || (r->may_nan && nan_constant);
    case EXPR_GREATER:
        return (r->may_value && upper_above) || (r->may_nan && !nan_constant);
    case EXPR_GREATER_EQUAL:
        return (r->may_value && (upper_above || may_equal)) || r->may_nan;
    }
    return true;
}

static expr_comparison opposite(expr_comparison op)
{
    static const expr_comparison opposites[] = {
        [EXPR_EQUAL] = EXPR_NOT_EQUAL,    [EXPR_NOT_EQUAL] = EXPR_EQUAL,
        [EXPR_LESS] = EXPR_GREATER_EQUAL, [EXPR_LESS_EQUAL] = EXPR_GREATER,
        [EXPR_GREATER] = EXPR_LESS_EQUAL, [EXPR_GREATER_EQUAL] = EXPR_LESS};
    return opposites[op];
}

static expr_comparison mirrored(expr_comparison op)
{
    static const expr_comparison mirrors[] = {
        [EXPR_EQUAL] = EXPR_EQUAL,  [EXPR_NOT_EQUAL] = EXPR_NOT_EQUAL,
        [EXPR_LESS] = EXPR_GREATER, [EXPR_LESS_EQUAL] = EXPR_GREATER_EQUAL,
        [EXPR_GREATER] = EXPR_LESS, [EXPR_GREATER_EQUAL] = EXPR_LESS_EQUAL};
    return mirrors[op];
}

static unsigned compare_outcomes(prune *p, expr_comparison op, const expr_node *a,
                                 const expr_node *b)
{
    if (expr_is_literal(a)) {
        const expr_node *literal = a;
        a = b;
        b = literal;
        op = mirrored(op);
    }
    if (!expr_is_literal(b)) {
        return MAY_ALL;
    }
    if (b->value.is_null) {
        return MAY_NULL;
    }
    range r = operand_range(p, a);
    if (!r.known) {
        return MAY_ALL;
    }
    return (may_satisfy(&r, op, &b->value) ? MAY_TRUE : 0u) |
           (may_satisfy(&r, opposite(op), &b->value) ? MAY_FALSE : 0u) |
           (r.may_null ? MAY_NULL : 0u);
}

/* ---- combining ---- */

static unsigned and_outcomes(unsigned a, unsigned b)
{
    unsigned result = 0;
    result |= a & b & MAY_TRUE;
    result |= (a | b) & MAY_FALSE;
    if (((a & MAY_NULL) != 0 && (b & (MAY_NULL | MAY_TRUE)) != 0) ||
        ((b & MAY_NULL) != 0 && (a & (MAY_NULL | MAY_TRUE)) != 0)) {
        result |= MAY_NULL;
    }
    return result;
}

static unsigned not_outcomes(unsigned a)
{
    return (a & MAY_NULL) | ((a & MAY_TRUE) != 0 ? MAY_FALSE : 0u) |
           ((a & MAY_FALSE) != 0 ? MAY_TRUE : 0u);
}

static unsigned or_outcomes(unsigned a, unsigned b)
{
    return not_outcomes(and_outcomes(not_outcomes(a), not_outcomes(b)));
}

static unsigned chain_outcomes(prune *p, const expr_node *node)
{
    unsigned all = outcomes(p, node->args[0]);
    for (size_t i = 1; i < node->arg_count; i++) {
        unsigned next = outcomes(p, node->args[i]);
        all = node->op == EXPR_OP_AND ? and_outcomes(all, next) : or_outcomes(all, next);
    }
    return all;
}

static unsigned in_outcomes(prune *p, const expr_node *node)
{
    unsigned any = MAY_FALSE;
    for (size_t i = 1; i < node->arg_count; i++) {
        any = or_outcomes(any, compare_outcomes(p, EXPR_EQUAL, node->args[0], node->args[i]));
    }
    return any;
}

static unsigned is_null_outcomes(prune *p, const expr_node *node)
{
    range r = operand_range(p, node->args[0]);
    if (!r.known) {
        return MAY_TRUE | MAY_FALSE;
    }
    return (r.may_null ? MAY_TRUE : 0u) | (r.may_value || r.may_nan ? MAY_FALSE : 0u);
}

static unsigned is_nan_outcomes(prune *p, const expr_node *node)
{
    range r = operand_range(p, node->args[0]);
    if (!r.known) {
        return MAY_ALL;
    }
    return (r.may_nan ? MAY_TRUE : 0u) | (r.may_value ? MAY_FALSE : 0u) |
           (r.may_null ? MAY_NULL : 0u);
}

/* The bytes of a pattern in front of its first wildcard decide whether something may match. */
static unsigned like_outcomes(prune *p, const expr_node *node)
{
    const expr_node *pattern = node->args[1];
    if (!expr_is_literal(pattern)) {
        return MAY_ALL;
    }
    if (pattern->value.is_null) {
        return MAY_NULL;
    }
    range r = operand_range(p, node->args[0]);
    expr_like_step *steps =
        frz_arena_array(&p->arena, pattern->value.as.bytes.len + 1, sizeof *steps);
    char *prefix = frz_arena_alloc(&p->arena, pattern->value.as.bytes.len + 1);
    if (!r.known || steps == NULL || prefix == NULL) {
        return MAY_ALL;
    }
    size_t count = expr_like_compile(pattern->value.as.bytes, node->index, steps);
    size_t len = 0;
    while (len < count && steps[len].kind == EXPR_LIKE_BYTE) {
        prefix[len] = (char)steps[len].byte;
        len++;
    }
    /* as far as the prefix reaches, a bound decides like the values below or above it */
    frz_str wanted = {prefix, len};
    frz_str low = {r.lower.as.bytes.ptr, r.has_lower ? FRZ_MIN(r.lower.as.bytes.len, len) : 0};
    frz_str high = {r.upper.as.bytes.ptr, r.has_upper ? FRZ_MIN(r.upper.as.bytes.len, len) : 0};
    bool possible = r.may_value && (!r.has_lower || frz_str_compare(low, wanted) <= 0) &&
                    (!r.has_upper || frz_str_compare(high, wanted) >= 0);
    return (possible ? MAY_TRUE : 0u) | MAY_FALSE | (r.may_null ? MAY_NULL : 0u);
}

static unsigned literal_outcome(const frz_value *value)
{
    return value->is_null ? MAY_NULL : value->as.boolean ? MAY_TRUE : MAY_FALSE;
}

/* A boolean column by itself means column = true. */
static unsigned column_outcomes(prune *p, const expr_node *node)
{
    frz_value yes = {.type = node->type, .as.boolean = true};
    expr_node literal = {.op = EXPR_OP_LITERAL, .type = node->type, .value = yes};
    return compare_outcomes(p, EXPR_EQUAL, node, &literal);
}

static unsigned outcomes(prune *p, const expr_node *node)
{
    switch (node->op) {
    case EXPR_OP_LITERAL:
        return literal_outcome(&node->value);
    case EXPR_OP_COLUMN:
        return column_outcomes(p, node);
    case EXPR_OP_NOT:
        return not_outcomes(outcomes(p, node->args[0]));
    case EXPR_OP_AND:
    case EXPR_OP_OR:
        return chain_outcomes(p, node);
    case EXPR_OP_COMPARE:
        return compare_outcomes(p, (expr_comparison)node->code, node->args[0], node->args[1]);
    case EXPR_OP_BETWEEN:
        return and_outcomes(compare_outcomes(p, EXPR_GREATER_EQUAL, node->args[0], node->args[1]),
                            compare_outcomes(p, EXPR_LESS_EQUAL, node->args[0], node->args[2]));
    case EXPR_OP_IN:
        return in_outcomes(p, node);
    case EXPR_OP_IS_NULL:
        return is_null_outcomes(p, node);
    case EXPR_OP_IS_NAN:
        return is_nan_outcomes(p, node);
    case EXPR_OP_LIKE:
        return like_outcomes(p, node);
    default:
        return MAY_ALL;
    }
}

bool frz_expr_may_match(const frz_bound_expr *filter, frz_stats_lookup lookup, void *ctx,
                        int64_t record_count)
{
    prune p = {.lookup = lookup, .ctx = ctx, .record_count = record_count};
    frz_arena_init(&p.arena, filter->env, FRZ_ARENA_NO_LIMIT);
    bool possible = record_count != 0 && (outcomes(&p, filter->root) & MAY_TRUE) != 0;
    frz_arena_reset(&p.arena);
    return possible;
}
