/*
 * Conversion of whole columns: loops for the pairs of numbers that updates and filters meet all
 * the time, by reference where only the type's name changes, row by row for the rest.
 */
#include <math.h>

#include "expr/expr_internal.h"

/* Forget the values made so far after this many rows. */
#define ROWS_PER_ARENA 1024

static frz_code fail_convert(expr_eval *eval, const expr_node *node, int64_t i,
                             const frz_value *value, expr_converted result)
{
    char text[EXPR_VALUE_TEXT];
    char type[80];
    if (result == EXPR_NO_MEMORY) {
        return frz_fail_nomem(eval->err, 0);
    }
    frz_type_text(node->type, type, sizeof type);
    expr_value_text(eval, value, text);
    return result == EXPR_DOES_NOT_FIT
               ? expr_fail_row(eval, node, i, "a value does not fit", "%s into %s", text, type)
               : expr_fail_row(eval, node, i, "a value cannot be read", "%s as %s", text, type);
}

/* ---- to type unknown, which has no values ---- */

static frz_code refuse_value(expr_eval *eval, const expr_node *node, const expr_vec *arg, int64_t i)
{
    char text[EXPR_VALUE_TEXT], type[80];
    const frz_type *from = node->args[0]->type;
    frz_str column = eval->bound->column;
    if (frz_type_is_nested(frz_type_storage(from))) {
        return expr_fail_row(eval, node, i, "a value does not fit",
                             "expected NULL for type unknown, found a %s",
                             from->id == FRZ_TYPE_STRUCT ? "struct"
                             : from->id == FRZ_TYPE_LIST ? "list"
                             : from->id == FRZ_TYPE_MAP  ? "map"
                                                         : "variant");
    }
    frz_value value = frz_value_at(from, &arg->array, i);
    expr_fail_row(eval, node, i, "a value does not fit", "expected NULL for type unknown, found %s",
                  expr_value_text(eval, &value, text));
    frz_hint(eval->err, "ALTER TABLE ... ALTER COLUMN \"%.*s\" TYPE %s", FRZ_STR_ARG(column),
             frz_type_text(from, type, sizeof type));
    return FRZ_E_ARGUMENT;
}

static frz_code convert_to_unknown(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                                   const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *validity = NULL;
    FRZ_TRY(expr_validity(eval, arg, 1, &validity));
    int64_t i = expr_next_row(eval, selection, validity, 0);
    FRZ_TRY(i >= 0 ? refuse_value(eval, node, arg, i) : FRZ_OK);
    expr_vec_null(node->type, out);
out:
    frz_buffer_unref(validity);
    return rc;
}

/* ---- row by row ---- */

static frz_code convert_rows(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                             const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_builder *builder = NULL;
    frz_arena arena;
    struct ArrowArray array = {0};
    const frz_type *from = node->args[0]->type;
    frz_arena_init(&arena, eval->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_builder_new(eval->env, node->type, &builder, eval->err));
    for (int64_t i = 0; i < eval->length; i++) {
        frz_value value = frz_value_at(from, &arg->array, i);
        frz_value made = {.type = node->type, .is_null = true};
        expr_converted result = EXPR_CONVERTED;
        if (!value.is_null && expr_selected(selection, i)) {
            result = expr_convert_value(&arena, &value, node->type, (expr_mode)node->code, &made);
        }
        if (result != EXPR_CONVERTED) {
            rc = fail_convert(eval, node, i, &value, result);
            goto out;
        }
        FRZ_TRY(frz_builder_value(builder, &made, eval->err));
        if (i % ROWS_PER_ARENA == ROWS_PER_ARENA - 1) {
            frz_arena_reset(&arena);
        }
    }
    FRZ_TRY(frz_builder_finish(builder, &array, eval->err));
    *out = (expr_vec){.array = array};
out:
    frz_builder_free(builder);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- loops: each returns true if some row, maybe one that does not matter, does not fit ---- */

#define CONVERT_LOOP(from_type, to_type, statement)                                                \
    do {                                                                                           \
        const from_type *restrict from = values;                                                   \
        to_type *restrict to = out;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const from_type x = from[i];                                                           \
            statement                                                                              \
        }                                                                                          \
    } while (0)

static bool from_int(const void *values, frz_type_id id, bool exact, int64_t n, void *out)
{
    int wrong = 0;
    if (id == FRZ_TYPE_LONG) {
        CONVERT_LOOP(int32_t, int64_t, { to[i] = x; });
    } else if (id == FRZ_TYPE_DOUBLE) {
        CONVERT_LOOP(int32_t, double, { to[i] = x; });
    } else {
        CONVERT_LOOP(int32_t, float, {
            to[i] = (float)x;
            wrong |= (double)to[i] != x;
        });
    }
    return exact && wrong != 0;
}

static bool from_long(const void *values, frz_type_id id, bool exact, int64_t n, void *out)
{
    int wrong = 0;
    if (id == FRZ_TYPE_INT) {
        CONVERT_LOOP(int64_t, int32_t, {
            to[i] = (int32_t)x;
            wrong |= to[i] != x;
        });
        return wrong != 0;
    }
    if (id == FRZ_TYPE_FLOAT) {
        CONVERT_LOOP(int64_t, float, {
            to[i] = (float)x;
            wrong |= to[i] >= 0x1p63f || (int64_t)to[i] != x;
        });
    } else {
        CONVERT_LOOP(int64_t, double, {
            to[i] = (double)x;
            wrong |= to[i] >= 0x1p63 || (int64_t)to[i] != x;
        });
    }
    return exact && wrong != 0;
}

static bool from_double(const void *values, frz_type_id id, bool exact, int64_t n, void *out)
{
    int wrong = 0;
    if (id == FRZ_TYPE_INT) {
        CONVERT_LOOP(double, int32_t, {
            bool in_range = x > -2147483649.0 && x < 2147483648.0;
            to[i] = in_range ? (int32_t)x : 0;
            wrong |= !in_range || (exact && to[i] != x);
        });
    } else if (id == FRZ_TYPE_LONG) {
        CONVERT_LOOP(double, int64_t, {
            bool in_range = x >= -0x1p63 && x < 0x1p63;
            to[i] = in_range ? (int64_t)x : 0;
            wrong |= !in_range || (exact && (double)to[i] != x);
        });
    } else {
        CONVERT_LOOP(double, float, {
            bool in_range = !(fabs(x) >= 0x1.ffffffp127) || isinf(x);
            to[i] = in_range ? (float)x : 0;
            wrong |= !in_range;
        });
    }
    return wrong != 0;
}

static bool from_float(const void *values, int64_t n, void *out)
{
    CONVERT_LOOP(float, double, { to[i] = (double)x; });
    return false;
}

/* Is there a loop for this pair? */
static bool has_loop(frz_type_id from, frz_type_id to)
{
    bool simple =
        to == FRZ_TYPE_INT || to == FRZ_TYPE_LONG || to == FRZ_TYPE_FLOAT || to == FRZ_TYPE_DOUBLE;
    return simple && (from == FRZ_TYPE_INT || from == FRZ_TYPE_LONG || from == FRZ_TYPE_DOUBLE ||
                      (from == FRZ_TYPE_FLOAT && to == FRZ_TYPE_DOUBLE));
}

static bool run_loop(frz_type_id from, frz_type_id to, bool exact, const void *values, int64_t n,
                     void *out)
{
    switch (from) {
    case FRZ_TYPE_INT:
        return from_int(values, to, exact, n, out);
    case FRZ_TYPE_LONG:
        return from_long(values, to, exact, n, out);
    case FRZ_TYPE_FLOAT:
        return from_float(values, n, out);
    default:
        return from_double(values, to, exact, n, out);
    }
}

/* A loop met a row that does not fit: find it, unless it does not matter. */
static frz_code find_misfit(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                            const frz_buffer *validity, const uint8_t *selection)
{
    int64_t i = expr_next_row(eval, selection, validity, 0);
    for (; i >= 0; i = expr_next_row(eval, selection, validity, i + 1)) {
        frz_value made;
        frz_value value = frz_value_at(node->args[0]->type, &arg->array, i);
        expr_converted result =
            expr_convert_value(&eval->scratch, &value, node->type, (expr_mode)node->code, &made);
        if (result != EXPR_CONVERTED) {
            return fail_convert(eval, node, i, &value, result);
        }
    }
    return FRZ_OK;
}

static frz_code convert_loop(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                             const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    const frz_type *from = node->args[0]->type;
    FRZ_TRY(expr_values_new(eval, frz_type_width(node->type), &values));
    FRZ_TRY(expr_validity(eval, arg, 1, &validity));
    if (run_loop(from->id, node->type->id, node->code == EXPR_ASSIGN,
                 expr_values_of(arg, frz_type_width(from)), eval->length, values->data)) {
        FRZ_TRY(find_misfit(eval, node, arg, validity, selection));
    }
    rc = expr_array_of(eval, validity, values, out);
    values = validity = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}

/* Do both types have the same bytes for the same value, and is every value of from one of to? */
static bool same_bytes(const frz_type *from, const frz_type *to)
{
    bool timestamps = from->id >= FRZ_TYPE_TIMESTAMP && from->id <= FRZ_TYPE_TIMESTAMPTZ_NS &&
                      to->id >= FRZ_TYPE_TIMESTAMP && to->id <= FRZ_TYPE_TIMESTAMPTZ_NS;
    if (from->id == FRZ_TYPE_DECIMAL && to->id == FRZ_TYPE_DECIMAL) {
        return from->scale == to->scale && from->precision <= to->precision;
    }
    if (timestamps) {
        bool from_nanos = from->id >= FRZ_TYPE_TIMESTAMP_NS;
        return from_nanos == (to->id >= FRZ_TYPE_TIMESTAMP_NS);
    }
    bool bytes = from->id == FRZ_TYPE_STRING || from->id == FRZ_TYPE_BINARY ||
                 from->id == FRZ_TYPE_GEOMETRY || from->id == FRZ_TYPE_GEOGRAPHY;
    return bytes && (to->id == FRZ_TYPE_BINARY || to->id == FRZ_TYPE_GEOMETRY ||
                     to->id == FRZ_TYPE_GEOGRAPHY);
}

frz_code expr_kernel_convert(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                             const uint8_t *selection, expr_vec *out)
{
    const frz_type *from = node->args[0]->type;
    if (node->type->id == FRZ_TYPE_UNKNOWN) {
        return convert_to_unknown(eval, node, arg, selection, out);
    }
    if (same_bytes(from, node->type)) {
        return expr_vec_share(eval, arg, out);
    }
    return has_loop(from->id, node->type->id) ? convert_loop(eval, node, arg, selection, out)
                                              : convert_rows(eval, node, arg, selection, out);
}
