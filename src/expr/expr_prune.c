/*
 * Pruning: what a filter can come out as for the rows of a file, judged from statistics alone.
 *
 * Every condition has a set of possible outcomes out of true, false and null. The set may be too
 * large but never too small, so a file may be skipped exactly if "true" is not in the set of the
 * whole filter, and all of its rows match if nothing else is in it. NOT exchanges true and false,
 * which pushes it down to the comparisons.
 *
 * Bounds may be outer ones (truncated strings), they never hold NaN, and NaN counts as greater
 * than every number: where its count is unknown it may be there.
 *
 * Where bounds leave a comparison open, it becomes an interval of the field's values and the test
 * is asked, which may know the very values (a dictionary) or most of them (a bloom filter).
 */
#include <math.h>

#include "expr/expr_internal.h"

enum { MAY_TRUE = 1, MAY_FALSE = 2, MAY_NULL = 4, MAY_ALL = 7 };

typedef struct prune {
    frz_stats_lookup lookup;
    frz_interval_test test;
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

/* A column, or a field of a struct that is one. */
static bool is_field(const expr_node *node)
{
    if (node->op == EXPR_OP_CHILD) {
        return node->field_id != FRZ_ID_NONE && is_field(node->args[0]);
    }
    return node->op == EXPR_OP_COLUMN;
}

/* Some writers do not count nulls of a struct as nulls of its fields; it shows in the values. */
static bool counts_all_nulls(const prune *p, const expr_node *node, const frz_field_stats *stats)
{
    return node->op == EXPR_OP_COLUMN || stats->value_count == p->record_count;
}

static range field_range(prune *p, const expr_node *node)
{
    range r = {0};
    const frz_field_stats *stats =
        frz_type_is_nested(node->type) ? NULL : p->lookup(p->ctx, node->field_id);
    if (stats == NULL) {
        return r;
    }
    int64_t rows = FRZ_MAX(stats->value_count, p->record_count);
    int64_t nulls = stats->null_value_count;
    int64_t nans = is_floating(node->type) ? stats->nan_value_count : 0;
    r.known = true;
    r.has_lower = stats->has_lower && bound_as(p, node->type, &stats->lower, &r.lower);
    r.has_upper = stats->has_upper && bound_as(p, node->type, &stats->upper, &r.upper);
    r.may_null = nulls != 0 || !counts_all_nulls(p, node, stats);
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
    if (is_field(node)) {
        return field_range(p, node);
    }
    if (node->op == EXPR_OP_CONVERT && node->code == EXPR_WIDEN) {
        r = operand_range(p, node->args[0]);
        r.has_lower = r.has_lower && bound_as(p, node->type, &r.lower, &r.lower);
        r.has_upper = r.has_upper && bound_as(p, node->type, &r.upper, &r.upper);
    }
    return r;
}

/* ---- intervals of a field's values ---- */

/* Does widening give every value a result of its own? Then what lies between two results came from
 * between their origins. constant: the result that matters. */
static bool keeps_apart(const frz_type *from, const frz_value *constant)
{
    frz_type_id to = constant->type->id;
    switch (from->id) {
    case FRZ_TYPE_INT:
        return to == FRZ_TYPE_LONG || to == FRZ_TYPE_DECIMAL || to == FRZ_TYPE_DOUBLE;
    case FRZ_TYPE_LONG:
        return to == FRZ_TYPE_DECIMAL || (to == FRZ_TYPE_DOUBLE && fabs(constant->as.f64) < 0x1p53);
    case FRZ_TYPE_FLOAT:
        return to == FRZ_TYPE_DOUBLE;
    case FRZ_TYPE_DECIMAL:
        return to == FRZ_TYPE_DECIMAL && from->scale <= constant->type->scale;
    case FRZ_TYPE_DATE:
        return to == FRZ_TYPE_TIMESTAMP || to == FRZ_TYPE_TIMESTAMP_NS;
    case FRZ_TYPE_TIMESTAMP:
        return to == FRZ_TYPE_TIMESTAMP_NS;
    case FRZ_TYPE_TIMESTAMPTZ:
        return to == FRZ_TYPE_TIMESTAMPTZ_NS;
    case FRZ_TYPE_FIXED:
        return to == FRZ_TYPE_BINARY;
    default:
        return false;
    }
}

/* The one value that widens to a constant; false if there is none. */
static bool origin_of(prune *p, const frz_type *from, const frz_value *constant, frz_value *out)
{
    frz_value back;
    return keeps_apart(from, constant) && expr_convertible(constant->type, from, EXPR_CAST_TO) &&
           expr_convert_value(&p->arena, constant, from, EXPR_CAST_TO, out) == EXPR_CONVERTED &&
           !is_nan(out) &&
           expr_convert_value(&p->arena, out, constant->type, EXPR_WIDEN, &back) ==
               EXPR_CONVERTED &&
           frz_value_compare(&back, constant, false) == 0;
}

/* Ask the test about an operand, at its field. */
static bool may_hold(prune *p, const expr_node *node, frz_interval interval)
{
    frz_value low;
    frz_value high;
    if (p->test == NULL) {
        return true;
    }
    while (node->op == EXPR_OP_CONVERT && node->code == EXPR_WIDEN) {
        node = node->args[0];
    }
    if (!is_field(node)) {
        return true;
    }
    if (interval.low != NULL && !frz_type_same_shape(interval.low->type, node->type)) {
        if (!origin_of(p, node->type, interval.low, &low)) {
            return true;
        }
        interval.low = &low;
    }
    if (interval.high != NULL && !frz_type_same_shape(interval.high->type, node->type)) {
        if (!origin_of(p, node->type, interval.high, &high)) {
            return true;
        }
        interval.high = &high;
    }
    return p->test(p->ctx, node->field_id, &interval);
}

/* The values, other than NaN, for which value OP constant is true; <> has two such intervals. */
static bool may_compare(prune *p, const expr_node *node, expr_comparison op,
                        const frz_value *constant)
{
    frz_interval below = {.high = constant, .high_open = op != EXPR_LESS_EQUAL};
    frz_interval above = {.low = constant, .low_open = op != EXPR_GREATER_EQUAL};
    if (is_nan(constant)) {
        return true;
    }
    switch (op) {
    case EXPR_EQUAL:
        return may_hold(p, node, (frz_interval){.low = constant, .high = constant});
    case EXPR_NOT_EQUAL:
        return may_hold(p, node, below) || may_hold(p, node, above);
    case EXPR_LESS:
    case EXPR_LESS_EQUAL:
        return may_hold(p, node, below);
    default:
        return may_hold(p, node, above);
    }
}

/* ---- comparisons with a constant ---- */

/* Can a value of the range, neither null nor NaN, satisfy value OP constant? */
static bool value_may_satisfy(const range *r, expr_comparison op, const frz_value *constant)
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
        return r->may_value && may_equal;
    case EXPR_NOT_EQUAL:
        return r->may_value && !all_equal;
    case EXPR_LESS:
        return r->may_value && lower_below;
    case EXPR_LESS_EQUAL:
        return r->may_value && (lower_below || may_equal);
    case EXPR_GREATER:
        return r->may_value && upper_above;
    case EXPR_GREATER_EQUAL:
        return r->may_value && (upper_above || may_equal);
    }
    return true;
}

/* NaN equals itself and is greater than every number. */
static bool nan_satisfies(expr_comparison op, const frz_value *constant)
{
    switch (op) {
    case EXPR_EQUAL:
    case EXPR_LESS_EQUAL:
        return is_nan(constant);
    case EXPR_NOT_EQUAL:
    case EXPR_GREATER:
        return !is_nan(constant);
    case EXPR_LESS:
        return false;
    case EXPR_GREATER_EQUAL:
        return true;
    }
    return true;
}

/* Can a value of the range, not null, satisfy value OP constant? */
static bool may_satisfy(prune *p, const expr_node *node, const range *r, expr_comparison op,
                        const frz_value *constant)
{
    return (r->may_nan && nan_satisfies(op, constant)) ||
           (value_may_satisfy(r, op, constant) && may_compare(p, node, op, constant));
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
    return (may_satisfy(p, a, &r, op, &b->value) ? MAY_TRUE : 0u) |
           (may_satisfy(p, a, &r, opposite(op), &b->value) ? MAY_FALSE : 0u) |
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

/* Both ends at once say more than one after the other. */
static unsigned between_outcomes(prune *p, const expr_node *node)
{
    const expr_node *low = node->args[1];
    const expr_node *high = node->args[2];
    unsigned all = and_outcomes(compare_outcomes(p, EXPR_GREATER_EQUAL, node->args[0], low),
                                compare_outcomes(p, EXPR_LESS_EQUAL, node->args[0], high));
    bool constant = expr_is_literal(low) && expr_is_literal(high) && !low->value.is_null &&
                    !high->value.is_null && !is_nan(&low->value) && !is_nan(&high->value);
    if ((all & MAY_TRUE) != 0 && constant &&
        !may_hold(p, node->args[0], (frz_interval){.low = &low->value, .high = &high->value})) {
        all &= ~(unsigned)MAY_TRUE;
    }
    return all;
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

/* May a text begin with these bytes, or, if whole, be these bytes? */
static bool may_begin(prune *p, const expr_node *node, frz_str prefix, bool whole)
{
    frz_value low = {.type = node->type, .as.bytes = prefix};
    frz_value high = low;
    if (whole || prefix.len == 0) {
        return prefix.len == 0 || may_hold(p, node, (frz_interval){.low = &low, .high = &low});
    }
    char *next = frz_arena_alloc(&p->arena, prefix.len);
    if (next == NULL || (uint8_t)prefix.ptr[prefix.len - 1] == 0xFF) {
        return true;
    }
    memcpy(next, prefix.ptr, prefix.len);
    next[prefix.len - 1]++;
    high.as.bytes.ptr = next;
    return may_hold(p, node, (frz_interval){.low = &low, .high = &high, .high_open = true});
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
                    (!r.has_upper || frz_str_compare(high, wanted) >= 0) &&
                    may_begin(p, node->args[0], wanted, len == count);
    return (possible ? MAY_TRUE : 0u) | MAY_FALSE | (r.may_null ? MAY_NULL : 0u);
}

static unsigned literal_outcome(const frz_value *value)
{
    return value->is_null ? MAY_NULL : value->as.boolean ? MAY_TRUE : MAY_FALSE;
}

/* A boolean field by itself means column = true. */
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
    case EXPR_OP_CHILD:
        return column_outcomes(p, node);
    case EXPR_OP_NOT:
        return not_outcomes(outcomes(p, node->args[0]));
    case EXPR_OP_AND:
    case EXPR_OP_OR:
        return chain_outcomes(p, node);
    case EXPR_OP_COMPARE:
        return compare_outcomes(p, (expr_comparison)node->code, node->args[0], node->args[1]);
    case EXPR_OP_BETWEEN:
        return between_outcomes(p, node);
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

static unsigned filter_outcomes(const frz_bound_expr *filter, frz_stats_lookup lookup,
                                frz_interval_test test, void *ctx, int64_t record_count)
{
    prune p = {.lookup = lookup, .test = test, .ctx = ctx, .record_count = record_count};
    frz_arena_init(&p.arena, filter->env, FRZ_ARENA_NO_LIMIT);
    unsigned all = record_count == 0 ? 0 : outcomes(&p, filter->root);
    frz_arena_reset(&p.arena);
    return all;
}

bool frz_expr_may_match(const frz_bound_expr *filter, frz_stats_lookup lookup,
                        frz_interval_test test, void *ctx, int64_t record_count)
{
    return (filter_outcomes(filter, lookup, test, ctx, record_count) & MAY_TRUE) != 0;
}

bool frz_expr_must_match(const frz_bound_expr *filter, frz_stats_lookup lookup,
                         frz_interval_test test, void *ctx, int64_t record_count)
{
    return (filter_outcomes(filter, lookup, test, ctx, record_count) & (MAY_FALSE | MAY_NULL)) == 0;
}
