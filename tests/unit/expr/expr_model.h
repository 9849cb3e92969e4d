/*
 * A model of expressions: random statements over random batches, and an evaluator that goes row by
 * row and node by node, written for clarity only.
 */
#ifndef FRZ_EXPR_MODEL_H
#define FRZ_EXPR_MODEL_H

#include <math.h>

#include "expr/expr_internal.h"
#include "unit/test_random.h"
#include "unit/test_support.h"

/* ---- batches ---- */

enum {
    MODEL_I,
    MODEL_L,
    MODEL_F,
    MODEL_D,
    MODEL_C,
    MODEL_E,
    MODEL_S,
    MODEL_B,
    MODEL_DAY,
    MODEL_TS,
    MODEL_X,
    MODEL_COLUMNS
};

static const struct {
    const char *name, *type;
} model_columns[MODEL_COLUMNS] = {
    {"i", "int"},           {"l", "long"},           {"f", "float"},  {"d", "double"},
    {"c", "decimal(9, 2)"}, {"e", "decimal(20, 5)"}, {"s", "string"}, {"b", "boolean"},
    {"day", "date"},        {"ts", "timestamp"},     {"x", "binary"}};

typedef struct model_batch {
    frz_env *env;
    frz_arena arena; /* of the type */
    const frz_type *type;
    struct ArrowArray array;
} model_batch;

static inline void model_batch_init(model_batch *batch, frz_env *env)
{
    frz_error err;
    frz_field fields[MODEL_COLUMNS] = {0};
    *batch = (model_batch){.env = env};
    frz_arena_init(&batch->arena, env, FRZ_ARENA_NO_LIMIT);
    for (int i = 0; i < MODEL_COLUMNS; i++) {
        fields[i].id = i + 1;
        fields[i].name = frz_str_from(model_columns[i].name);
        assert_ok(frz_type_parse(&batch->arena, frz_str_from(model_columns[i].type),
                                 &fields[i].type, &err),
                  &err);
    }
    assert_ok(frz_type_struct_of(&batch->arena, fields, MODEL_COLUMNS, &batch->type, &err), &err);
}

static inline void model_batch_reset(model_batch *batch)
{
    frz_array_release(&batch->array);
    frz_arena_reset(&batch->arena);
}

static inline int64_t model_integer(test_random *r, bool wide)
{
    static const int64_t narrow[] = {0, 1, -1, INT32_MAX, INT32_MIN, 7};
    static const int64_t extremes[] = {INT64_MAX, INT64_MIN, INT64_C(1) << 53, 0, INT32_MAX, -3};
    if (random_int(r, 8) == 0) {
        return wide ? extremes[random_int(r, 6)] : narrow[random_int(r, 6)];
    }
    return random_int(r, 21) - 10;
}

static inline double model_double(test_random *r)
{
    static const double extremes[] = {0.0, -0.0, 1e300, -1e-300, 0x1p53, 0.1};
    switch (random_int(r, 10)) {
    case 0:
        return (double)NAN;
    case 1:
        return random_int(r, 2) == 0 ? (double)INFINITY : -(double)INFINITY;
    case 2:
        return extremes[random_int(r, 6)];
    default:
        return (random_int(r, 41) - 20) / 4.0;
    }
}

static inline frz_str model_text(test_random *r)
{
    static const char *const texts[] = {"",   "a",  "ab", "abc", "b%", "_",
                                        "Aß", "ßa", "zz", "ab%", "aa", "\xE2\x82\xAC"};
    return frz_str_from(texts[random_int(r, 12)]);
}

/* few_kinds: values from a small range, as data sorted by a column has. */
static inline frz_value model_value(test_random *r, const frz_type *type)
{
    frz_value v = {.type = type, .is_null = random_int(r, 6) == 0};
    switch (type->id) {
    case FRZ_TYPE_INT:
        v.as.i32 = (int32_t)model_integer(r, false);
        break;
    case FRZ_TYPE_LONG:
        v.as.i64 = model_integer(r, true);
        break;
    case FRZ_TYPE_FLOAT:
        v.as.f32 = (float)model_double(r);
        break;
    case FRZ_TYPE_DOUBLE:
        v.as.f64 = model_double(r);
        break;
    case FRZ_TYPE_DECIMAL:
        v.as.i128 = random_int(r, 10) == 0 ? expr_power_of_ten(type->precision) - 1
                                           : (random_int(r, 41) - 20) * 25;
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
        v.as.bytes = model_text(r);
        break;
    case FRZ_TYPE_BOOLEAN:
        v.as.boolean = random_int(r, 2) == 0;
        break;
    case FRZ_TYPE_DATE:
        v.as.i32 = random_int(r, 5) - 2;
        break;
    default:
        v.as.i64 = (random_int(r, 9) - 4) * INT64_C(43200000000);
        break;
    }
    return v;
}

/* New rows; the columns begin somewhere inside their buffers. */
static inline void model_fill(model_batch *batch, test_random *r, int64_t rows)
{
    frz_error err;
    struct ArrowArray columns[MODEL_COLUMNS] = {0};
    int64_t skipped = random_int(r, 70);
    frz_array_release(&batch->array);
    for (int i = 0; i < MODEL_COLUMNS; i++) {
        frz_builder *builder = NULL;
        bool no_nulls = random_int(r, 3) == 0;
        const frz_type *type = batch->type->fields[i].type;
        assert_ok(frz_builder_new(batch->env, type, &builder, &err), &err);
        for (int64_t row = 0; row < rows + skipped; row++) {
            frz_value value = model_value(r, type);
            value.is_null = value.is_null && !no_nulls;
            assert_ok(frz_builder_value(builder, &value, &err), &err);
        }
        assert_ok(frz_builder_finish(builder, &columns[i], &err), &err);
        frz_builder_free(builder);
    }
    struct ArrowArray whole = {0};
    assert_ok(frz_batch_make(batch->env, rows + skipped, columns, MODEL_COLUMNS, &whole, &err),
              &err);
    assert_ok(frz_batch_slice(batch->env, &whole, skipped, rows, &batch->array, &err), &err);
    frz_array_release(&whole);
}

/* ---- random expressions, as text ---- */

typedef struct model_writer {
    test_random *random;
    frz_buf *out;
} model_writer;

enum { WRITE_BOOLEAN, WRITE_NUMBER, WRITE_TEXT, WRITE_DATE, WRITE_TIMESTAMP };

static inline void model_put(model_writer *w, const char *text)
{
    frz_error err;
    assert_ok(frz_buf_append_str(w->out, text, &err), &err);
}

#define MODEL_PICK(w, ...)                                                                         \
    do {                                                                                           \
        static const char *const picks_[] = {__VA_ARGS__};                                         \
        model_put((w), picks_[random_int((w)->random, (int)FRZ_ARRAY_COUNT(picks_))]);             \
    } while (0)

static inline void model_write(model_writer *w, int kind, int depth);

static inline void model_write_leaf(model_writer *w, int kind)
{
    if (random_int(w->random, 15) == 0) {
        model_put(w, "NULL");
        return;
    }
    switch (kind) {
    case WRITE_BOOLEAN:
        MODEL_PICK(w, "b", "b", "TRUE", "FALSE");
        break;
    case WRITE_NUMBER:
        MODEL_PICK(w, "i", "l", "f", "d", "c", "e", "i", "d", "0", "1", "2", "-3", "1.5", "0.25",
                   "3000000000", "2.5e0", "0e0", "FLOAT '0.5'", "DOUBLE 'NaN'", "-2147483648",
                   "9223372036854775807", "DOUBLE 'Infinity'");
        break;
    case WRITE_TEXT:
        MODEL_PICK(w, "s", "s", "s", "''", "'a'", "'ab'", "'a%'", "'_'", "'\xE2\x82\xAC'", "'%b%'");
        break;
    case WRITE_DATE:
        MODEL_PICK(w, "day", "day", "DATE '1970-01-01'", "DATE '1969-12-31'");
        break;
    default:
        MODEL_PICK(w, "ts", "ts", "TIMESTAMP '1970-01-01T00:00:00'",
                   "TIMESTAMP '1970-01-01T12:00:00'");
        break;
    }
}

/* a OP b in parentheses */
static inline void model_write_pair(model_writer *w, int kind, int depth)
{
    model_put(w, "(");
    model_write(w, kind, depth - 1);
    if (kind == WRITE_BOOLEAN) {
        MODEL_PICK(w, " AND ", " OR ");
    } else if (kind == WRITE_NUMBER) {
        MODEL_PICK(w, " + ", " - ", " * ", " / ", " % ");
    } else {
        model_put(w, " || ");
    }
    model_write(w, kind, depth - 1);
    model_put(w, ")");
}

static inline void model_write_comparison(model_writer *w, int depth)
{
    int kind = WRITE_NUMBER + random_int(w->random, 4);
    int form = random_int(w->random, 5);
    model_put(w, "(");
    model_write(w, kind, depth - 1);
    if (form == 0) {
        MODEL_PICK(w, " IS NULL", " IS NOT NULL");
    } else if (form == 1) {
        int items = random_int(w->random, 12) + 1;
        MODEL_PICK(w, " IN (", " NOT IN (");
        for (int i = 0; i < items; i++) {
            model_put(w, i == 0 ? "" : ", ");
            model_write_leaf(w, kind);
        }
        model_put(w, ")");
    } else if (form == 2) {
        MODEL_PICK(w, " BETWEEN ", " NOT BETWEEN ");
        model_write(w, kind, depth - 1);
        model_put(w, " AND ");
        model_write(w, kind, depth - 1);
    } else if (form == 3 && kind == WRITE_TEXT) {
        MODEL_PICK(w, " LIKE ", " NOT LIKE ");
        model_write(w, kind, depth - 1);
    } else {
        MODEL_PICK(w, " = ", " <> ", " < ", " <= ", " > ", " >= ");
        model_write(w, kind, depth - 1);
    }
    model_put(w, ")");
}

static inline void model_write_case(model_writer *w, int kind, int depth)
{
    int branches = 1 + random_int(w->random, 2);
    model_put(w, "CASE");
    for (int i = 0; i < branches; i++) {
        model_put(w, " WHEN ");
        model_write(w, WRITE_BOOLEAN, depth - 1);
        model_put(w, " THEN ");
        model_write(w, kind, depth - 1);
    }
    if (random_int(w->random, 3) > 0) {
        model_put(w, " ELSE ");
        model_write(w, kind, depth - 1);
    }
    model_put(w, " END");
}

static inline void model_write_call(model_writer *w, const char *open, int kind, int depth,
                                    const char *close)
{
    model_put(w, open);
    model_write(w, kind, depth - 1);
    model_put(w, close);
}

static inline void model_write_function(model_writer *w, int kind, int depth)
{
    int pick = random_int(w->random, 8);
    if (kind == WRITE_BOOLEAN) {
        model_write_call(w, "NOT (", kind, depth, ")");
    } else if (kind == WRITE_TEXT) {
        static const char *const opens[] = {"lower(", "upper(", "substr(", "substr("};
        static const char *const closes[] = {")", ")", ", 2)", ", i, l % 5)"};
        if (pick >= 6) {
            model_write_call(w, "CAST(", WRITE_NUMBER, depth, " AS string)");
            return;
        }
        model_write_call(w, opens[pick % 4], kind, depth, closes[pick % 4]);
    } else if (kind == WRITE_NUMBER) {
        static const char *const opens[] = {"abs(", "round(", "floor(", "ceil(",
                                            "-(",   "round(", "CAST(",  "CAST("};
        static const char *const closes[] = {")", ")",    ")",        ")",
                                             ")", ", 1)", " AS int)", " AS decimal(12, 3))"};
        model_write_call(w, opens[pick], kind, depth, closes[pick]);
    } else if (kind == WRITE_DATE) {
        model_write_call(w, "CAST(", WRITE_TIMESTAMP, depth, " AS date)");
    } else {
        model_write_call(w, "CAST(", WRITE_DATE, depth, " AS timestamp)");
    }
}

static inline void model_write(model_writer *w, int kind, int depth)
{
    int form = depth <= 0 ? 0 : random_int(w->random, 10);
    if (form <= 1) {
        model_write_leaf(w, kind);
    } else if (form == 2) {
        model_write_case(w, kind, depth);
    } else if (form == 3) {
        model_write_call(w, "COALESCE(", kind, depth, ", ");
        model_write(w, kind, depth - 1);
        model_put(w, ")");
    } else if (form == 4) {
        model_write_call(w, "NULLIF(", kind, depth, ", ");
        model_write(w, kind, depth - 1);
        model_put(w, ")");
    } else if (form == 5) {
        model_write_function(w, kind, depth);
    } else if (kind == WRITE_BOOLEAN && form < 9) {
        model_write_comparison(w, depth);
    } else if (kind <= WRITE_TEXT) {
        model_write_pair(w, kind, depth);
    } else {
        model_write_leaf(w, kind);
    }
}

/* ---- row by row ---- */

typedef struct model_eval {
    const model_batch *batch;
    frz_arena *arena;
    int64_t row;
    bool failed;
} model_eval;

static inline frz_value model_node(model_eval *e, const expr_node *node);

static inline frz_value model_null(const frz_type *type)
{
    return (frz_value){.type = type, .is_null = true};
}

static inline frz_value model_boolean(bool value)
{
    return (frz_value){.type = frz_type_primitive(FRZ_TYPE_BOOLEAN), .as.boolean = value};
}

static inline frz_value model_fail(model_eval *e, const frz_type *type)
{
    e->failed = true;
    return model_null(type);
}

static inline frz_value model_integer_result(model_eval *e, const frz_type *type, frz_i128 r)
{
    frz_value out = {.type = type};
    if (type->id == FRZ_TYPE_INT) {
        out.as.i32 = (int32_t)r;
        return r == out.as.i32 ? out : model_fail(e, type);
    }
    out.as.i64 = (int64_t)r;
    return r == out.as.i64 ? out : model_fail(e, type);
}

static inline frz_value model_decimal_result(model_eval *e, const frz_type *type, frz_i128 r)
{
    frz_value out = {.type = type, .as.i128 = r};
    frz_i128 bound = expr_power_of_ten(type->precision);
    return r > -bound && r < bound ? out : model_fail(e, type);
}

static inline frz_value model_arithmetic_double(model_eval *e, const expr_node *node, double x,
                                                double y)
{
    frz_value out = {.type = node->type};
    if (y == 0 && (node->code == EXPR_DIVIDE || node->code == EXPR_MODULO)) {
        return model_fail(e, node->type);
    }
    out.as.f64 = node->code == EXPR_ADD        ? x + y
                 : node->code == EXPR_SUBTRACT ? x - y
                 : node->code == EXPR_MULTIPLY ? x * y
                 : node->code == EXPR_DIVIDE   ? x / y
                                               : fmod(x, y);
    return out;
}

static inline frz_value model_arithmetic_decimal(model_eval *e, const expr_node *node, frz_i128 x,
                                                 frz_i128 y)
{
    frz_i128 r = 0;
    bool lost = false;
    if (y == 0 && (node->code == EXPR_DIVIDE || node->code == EXPR_MODULO)) {
        return model_fail(e, node->type);
    }
    if (node->code == EXPR_DIVIDE) {
        int32_t shift = node->type->scale - node->args[0]->type->scale + node->args[1]->type->scale;
        for (int32_t i = 0; i < shift; i++) {
            lost = lost || __builtin_mul_overflow(x, 10, &x);
        }
        if (!lost) {
            frz_i128 twice = x % y * 2; /* fits: these decimals are short */
            frz_i128 size = y < 0 ? -y : y;
            r = x / y;
            if ((twice < 0 ? -twice : twice) >= size) {
                r += (x < 0) == (y < 0) ? 1 : -1;
            }
        }
    } else {
        lost = node->code == EXPR_ADD        ? __builtin_add_overflow(x, y, &r)
               : node->code == EXPR_SUBTRACT ? __builtin_sub_overflow(x, y, &r)
               : node->code == EXPR_MULTIPLY ? __builtin_mul_overflow(x, y, &r)
                                             : false;
        r = node->code == EXPR_MODULO ? x % y : r;
    }
    return lost ? model_fail(e, node->type) : model_decimal_result(e, node->type, r);
}

static inline frz_i128 model_whole(const frz_value *v)
{
    return v->type->id == FRZ_TYPE_INT ? v->as.i32 : v->as.i64;
}

static inline frz_value model_arithmetic(model_eval *e, const expr_node *node, const frz_value *a,
                                         const frz_value *b)
{
    if (node->type->id == FRZ_TYPE_DOUBLE) {
        return model_arithmetic_double(e, node, a->as.f64, b->as.f64);
    }
    if (node->type->id == FRZ_TYPE_DECIMAL) {
        return model_arithmetic_decimal(e, node, a->as.i128, b->as.i128);
    }
    frz_i128 x = model_whole(a);
    frz_i128 y = model_whole(b);
    if (node->code == EXPR_MODULO) {
        return y == 0 ? model_fail(e, node->type) : model_integer_result(e, node->type, x % y);
    }
    return model_integer_result(e, node->type,
                                node->code == EXPR_ADD        ? x + y
                                : node->code == EXPR_SUBTRACT ? x - y
                                                              : x * y);
}

static inline bool model_compare(int comparison, const frz_value *a, const frz_value *b)
{
    int order = frz_value_compare(a, b, false);
    switch (comparison) {
    case EXPR_EQUAL:
        return order == 0;
    case EXPR_NOT_EQUAL:
        return order != 0;
    case EXPR_LESS:
        return order < 0;
    case EXPR_LESS_EQUAL:
        return order <= 0;
    case EXPR_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

static inline size_t model_character(frz_str s)
{
    size_t n = 1;
    while (n < s.len && ((uint8_t)s.ptr[n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}

static inline frz_str model_behind(frz_str s, size_t n)
{
    return (frz_str){s.ptr + n, s.len - n};
}

static inline bool model_like(frz_str pattern, frz_str text)
{
    if (pattern.len == 0) {
        return text.len == 0;
    }
    if (pattern.ptr[0] == '%') {
        for (size_t i = 0; i <= text.len; i++) {
            if (model_like(model_behind(pattern, 1), model_behind(text, i))) {
                return true;
            }
        }
        return false;
    }
    if (text.len == 0) {
        return false;
    }
    if (pattern.ptr[0] == '_') {
        return model_like(model_behind(pattern, 1), model_behind(text, model_character(text)));
    }
    return pattern.ptr[0] == text.ptr[0] &&
           model_like(model_behind(pattern, 1), model_behind(text, 1));
}

static inline frz_value model_text_of(const frz_type *type, const char *text, size_t len)
{
    return (frz_value){.type = type, .as.bytes = {text, len}};
}

static inline frz_value model_concat(model_eval *e, const expr_node *node, const frz_value *args)
{
    size_t len = 0;
    for (size_t i = 0; i < node->arg_count; i++) {
        len += args[i].as.bytes.len;
    }
    char *text = frz_arena_alloc(e->arena, len + 1);
    assert_non_null(text);
    size_t at = 0;
    for (size_t i = 0; i < node->arg_count; i++) {
        memcpy(text + at, args[i].as.bytes.ptr, args[i].as.bytes.len);
        at += args[i].as.bytes.len;
    }
    return model_text_of(node->type, text, len);
}

/* Keep the characters whose number, from 1 on, is in [first, first + count). */
static inline frz_value model_substr(model_eval *e, const expr_node *node, const frz_value *args)
{
    frz_str rest = args[0].as.bytes;
    frz_i128 first = args[1].as.i64;
    frz_i128 end = node->arg_count == 3 ? first + args[2].as.i64 : INT64_MAX;
    if (node->arg_count == 3 && args[2].as.i64 < 0) {
        return model_fail(e, node->type);
    }
    char *text = frz_arena_alloc(e->arena, rest.len + 1);
    assert_non_null(text);
    size_t len = 0;
    for (frz_i128 number = 1; rest.len > 0; number++) {
        size_t width = model_character(rest);
        if (number >= first && number < end) {
            memcpy(text + len, rest.ptr, width);
            len += width;
        }
        rest = model_behind(rest, width);
    }
    return model_text_of(node->type, text, len);
}

static inline frz_value model_change_case(model_eval *e, const expr_node *node, frz_str s)
{
    char *text = frz_arena_strdup(e->arena, s);
    assert_non_null(text);
    for (size_t i = 0; i < s.len; i++) {
        if (node->code == EXPR_FUNCTION_UPPER && text[i] >= 'a' && text[i] <= 'z') {
            text[i] = (char)(text[i] - 'a' + 'A');
        } else if (node->code == EXPR_FUNCTION_LOWER && text[i] >= 'A' && text[i] <= 'Z') {
            text[i] = (char)(text[i] - 'A' + 'a');
        }
    }
    return model_text_of(node->type, text, s.len);
}

/* abs, floor, ceil, round of a decimal: through whole part and rest. */
static inline frz_value model_round_decimal(model_eval *e, const expr_node *node, frz_i128 x)
{
    frz_i128 unit = expr_power_of_ten(node->args[0]->type->scale - node->type->scale);
    if (node->code == EXPR_FUNCTION_ABS) {
        return model_decimal_result(e, node->type, x < 0 ? -x : x);
    }
    frz_i128 low = x / unit - (x % unit < 0 ? 1 : 0);
    frz_i128 above = x - low * unit; /* from 0 below unit */
    bool up = node->code == EXPR_FUNCTION_CEIL    ? above > 0
              : node->code == EXPR_FUNCTION_FLOOR ? false
              : x < 0                             ? above * 2 > unit
                                                  : above * 2 >= unit;
    return model_decimal_result(e, node->type, low + (up && above > 0 ? 1 : 0));
}

static inline double model_round_double(const expr_node *node, double x)
{
    double power = node->index == 1 ? 10 : 1;
    switch (node->code) {
    case EXPR_FUNCTION_ABS:
        return x < 0 ? -x : x == 0 ? 0 : x;
    case EXPR_FUNCTION_FLOOR:
        return floor(x);
    case EXPR_FUNCTION_CEIL:
        return ceil(x);
    default:
        return fabs(x * power) < 0x1p52 ? round(x * power) / power : x;
    }
}

static inline frz_value model_function(model_eval *e, const expr_node *node, const frz_value *args)
{
    frz_value out = {.type = node->type};
    switch (node->code) {
    case EXPR_FUNCTION_SUBSTR:
        return model_substr(e, node, args);
    case EXPR_FUNCTION_LOWER:
    case EXPR_FUNCTION_UPPER:
        return model_change_case(e, node, args[0].as.bytes);
    default:
        break;
    }
    if (node->type->id == FRZ_TYPE_DOUBLE) {
        out.as.f64 = model_round_double(node, args[0].as.f64);
        return out;
    }
    if (node->type->id == FRZ_TYPE_DECIMAL) {
        return model_round_decimal(e, node, args[0].as.i128);
    }
    frz_i128 x = model_whole(&args[0]);
    return model_integer_result(e, node->type, node->code == EXPR_FUNCTION_ABS && x < 0 ? -x : x);
}

static inline frz_value model_strict(model_eval *e, const expr_node *node)
{
    frz_value args[64];
    bool null = false;
    assert_true(node->arg_count <= 64);
    for (size_t i = 0; i < node->arg_count; i++) {
        args[i] = model_node(e, node->args[i]);
        null = null || args[i].is_null;
    }
    frz_value out = {.type = node->type};
    if (e->failed || null) {
        return model_null(node->type);
    }
    switch (node->op) {
    case EXPR_OP_ARITHMETIC:
        return model_arithmetic(e, node, &args[0], &args[1]);
    case EXPR_OP_COMPARE:
        return model_boolean(model_compare(node->code, &args[0], &args[1]));
    case EXPR_OP_LIKE:
        return model_boolean(model_like(args[1].as.bytes, args[0].as.bytes));
    case EXPR_OP_CONCAT:
        return model_concat(e, node, args);
    case EXPR_OP_CONVERT:
        return expr_convert_value(e->arena, &args[0], node->type, (expr_mode)node->code, &out) ==
                       EXPR_CONVERTED
                   ? out
                   : model_fail(e, node->type);
    case EXPR_OP_NEGATE:
        if (node->type->id == FRZ_TYPE_DOUBLE) {
            out.as.f64 = -args[0].as.f64;
            return out;
        }
        return node->type->id == FRZ_TYPE_DECIMAL
                   ? model_decimal_result(e, node->type, -args[0].as.i128)
                   : model_integer_result(e, node->type, -model_whole(&args[0]));
    default:
        return model_function(e, node, args);
    }
}

/* x IN (…): true if some item is equal; else null if x or some item is. */
static inline frz_value model_in(model_eval *e, const expr_node *node)
{
    frz_value x = model_node(e, node->args[0]);
    bool null = x.is_null;
    bool found = false;
    for (size_t i = 1; i < node->arg_count; i++) {
        frz_value item = model_node(e, node->args[i]);
        null = null || item.is_null;
        found = found || (!x.is_null && !item.is_null && model_compare(EXPR_EQUAL, &x, &item));
    }
    return found ? model_boolean(true) : null ? model_null(node->type) : model_boolean(false);
}

static inline frz_value model_between(model_eval *e, const expr_node *node)
{
    frz_value x = model_node(e, node->args[0]);
    frz_value low = model_node(e, node->args[1]);
    frz_value high = model_node(e, node->args[2]);
    bool low_known = !x.is_null && !low.is_null;
    bool high_known = !x.is_null && !high.is_null;
    if ((low_known && model_compare(EXPR_LESS, &x, &low)) ||
        (high_known && model_compare(EXPR_GREATER, &x, &high))) {
        return model_boolean(false);
    }
    return low_known && high_known ? model_boolean(true) : model_null(node->type);
}

/* Stops at the first argument that settles the answer. */
static inline frz_value model_chain(model_eval *e, const expr_node *node)
{
    bool settles = node->op == EXPR_OP_OR;
    bool null = false;
    for (size_t i = 0; i < node->arg_count && !e->failed; i++) {
        frz_value v = model_node(e, node->args[i]);
        if (!v.is_null && v.as.boolean == settles) {
            return v;
        }
        null = null || v.is_null;
    }
    return null ? model_null(node->type) : model_boolean(!settles);
}

static inline frz_value model_case(model_eval *e, const expr_node *node)
{
    for (size_t i = 0; i + 1 < node->arg_count && !e->failed; i += 2) {
        frz_value condition = model_node(e, node->args[i]);
        if (!condition.is_null && condition.as.boolean) {
            return model_node(e, node->args[i + 1]);
        }
    }
    return e->failed ? model_null(node->type) : model_node(e, node->args[node->arg_count - 1]);
}

static inline frz_value model_node(model_eval *e, const expr_node *node)
{
    frz_value v;
    switch (node->op) {
    case EXPR_OP_LITERAL:
        return node->value;
    case EXPR_OP_COLUMN:
        return frz_value_at(node->type, e->batch->array.children[node->field_id - 1], e->row);
    case EXPR_OP_NOT:
        v = model_node(e, node->args[0]);
        return v.is_null ? v : model_boolean(!v.as.boolean);
    case EXPR_OP_AND:
    case EXPR_OP_OR:
        return model_chain(e, node);
    case EXPR_OP_IS_NULL:
        return model_boolean(model_node(e, node->args[0]).is_null);
    case EXPR_OP_IN:
        return model_in(e, node);
    case EXPR_OP_BETWEEN:
        return model_between(e, node);
    case EXPR_OP_CASE:
        return model_case(e, node);
    case EXPR_OP_COALESCE:
        v = model_null(node->type);
        for (size_t i = 0; i < node->arg_count && v.is_null && !e->failed; i++) {
            v = model_node(e, node->args[i]);
        }
        return v;
    case EXPR_OP_NULLIF: {
        frz_value whole = model_node(e, node->args[0]);
        frz_value a = model_node(e, node->args[1]);
        frz_value b = model_node(e, node->args[2]);
        return !a.is_null && !b.is_null && model_compare(EXPR_EQUAL, &a, &b)
                   ? model_null(node->type)
                   : whole;
    }
    default:
        return model_strict(e, node);
    }
}

static inline bool model_same(const frz_value *a, const frz_value *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (a->type->id == FRZ_TYPE_DOUBLE && !isnan(a->as.f64)) {
        return memcmp(&a->as.f64, &b->as.f64, sizeof(double)) == 0; /* -0.0 is not 0.0 here */
    }
    return frz_value_compare(a, b, false) == 0;
}

#endif
