/*
 * What tests of expressions share: a batch of every primitive type with nulls and extremes, whose
 * columns begin in the middle of their buffers, and evaluation into text.
 */
#ifndef FRZ_EXPR_TEST_SUPPORT_H
#define FRZ_EXPR_TEST_SUPPORT_H

#include <stdlib.h>

#include "expr/expr_internal.h"
#include "unit/test_support.h"

#define TEST_ROWS 5
#define TEST_SKIPPED 3 /* rows in front, which a test must never see */

/* A column: name, type, and its rows as SQL literals. */
typedef struct test_column {
    const char *name, *type;
    const char *rows[TEST_ROWS];
} test_column;

static const test_column test_columns[] = {
    {"i", "int", {"1", "2", "NULL", "-4", "2147483647"}},
    {"l", "long", {"10", "NULL", "-30", "9223372036854775807", "0"}},
    {"f", "float", {"FLOAT '1.5'", "NULL", "FLOAT 'NaN'", "FLOAT '-0.0'", "FLOAT '3'"}},
    {"d", "double", {"0.5e0", "-2.5e0", "DOUBLE 'NaN'", "NULL", "1e300"}},
    {"c", "decimal(9, 2)", {"1.50", "-0.05", "NULL", "9999999.99", "0.00"}},
    {"s", "string", {"'abc'", "''", "NULL", "'Straße'", "'a%b'"}},
    {"b", "boolean", {"TRUE", "FALSE", "NULL", "TRUE", "FALSE"}},
    {"day",
     "date",
     {"DATE '2026-11-01'", "DATE '1969-12-31'", "NULL", "DATE '2026-11-02'", "DATE '0001-01-01'"}},
    {"t",
     "time",
     {"TIME '12:34:56'", "TIME '00:00:00'", "NULL", "TIME '23:59:59.999999'", "TIME '12:00:00'"}},
    {"ts",
     "timestamp",
     {"TIMESTAMP '2026-11-01T12:00:00'", "TIMESTAMP '1969-12-31T23:59:59.5'", "NULL",
      "TIMESTAMP '2026-11-02T00:00:00'", "TIMESTAMP '1970-01-01T00:00:00'"}},
    {"tz",
     "timestamptz",
     {"TIMESTAMPTZ '2026-11-01T12:00:00+00:00'", "NULL", "NULL",
      "TIMESTAMPTZ '2026-11-01T12:00:00+02:00'", "TIMESTAMPTZ '1970-01-01T00:00:00+00:00'"}},
    {"tn",
     "timestamp_ns",
     {"TIMESTAMP_NS '2026-11-01T12:00:00.000000001'", "NULL", "NULL",
      "TIMESTAMP_NS '1969-12-31T23:59:59.999999999'", "TIMESTAMP_NS '1970-01-01T00:00:00'"}},
    {"u",
     "uuid",
     {"UUID 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "NULL", "NULL",
      "UUID '00000000-0000-0000-0000-000000000000'",
      "UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff'"}},
    {"x", "binary", {"X'00ff'", "X''", "NULL", "X'61'", "X'c3'"}},
    {"fx",
     "fixed[2]",
     {"CAST(X'0102' AS fixed(2))", "NULL", "NULL", "CAST(X'6162' AS fixed(2))",
      "CAST(X'ffff' AS fixed(2))"}},
};

typedef struct test_batch {
    frz_env *env;
    frz_arena arena;
    const frz_type *type; /* the columns, then "st": struct<a: int, b: struct<c: string>> */
    struct ArrowArray array;
} test_batch;

/* The value of a literal expression as a value of a type, in the arena. */
static inline frz_value test_value(test_batch *batch, const char *text, const frz_type *type)
{
    frz_error err;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_type none = {.id = FRZ_TYPE_STRUCT};
    frz_field column = {.name = FRZ_STR("test"), .type = type};
    assert_ok(frz_expr_parse(&batch->arena, frz_str_from(text), &expr, &err), &err);
    assert_ok(frz_expr_bind_assign(batch->env, expr, &none, &column, &bound, &err), &err);
    assert_true(expr_is_literal(bound->root));
    frz_value value;
    assert_ok(frz_value_copy(&batch->arena, &bound->root->value, &value, &err), &err);
    value.type = type;
    frz_bound_expr_free(bound);
    return value;
}

static inline void test_batch_fields(test_batch *batch, frz_field *fields)
{
    frz_error err;
    static const char *const inner_names[] = {"a", "b", "c"};
    int32_t id = 1;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(test_columns); i++) {
        fields[i] = (frz_field){.id = id++, .name = frz_str_from(test_columns[i].name)};
        assert_ok(frz_type_parse(&batch->arena, frz_str_from(test_columns[i].type), &fields[i].type,
                                 &err),
                  &err);
    }
    frz_field *inner = frz_arena_array(&batch->arena, 3, sizeof *inner);
    const frz_type *deep;
    for (size_t i = 0; i < 3; i++) {
        inner[i] = (frz_field){.id = 100 + (int32_t)i, .name = frz_str_from(inner_names[i])};
    }
    inner[0].type = frz_type_primitive(FRZ_TYPE_INT);
    inner[2].type = frz_type_primitive(FRZ_TYPE_STRING);
    assert_ok(frz_type_struct_of(&batch->arena, &inner[2], 1, &deep, &err), &err);
    inner[1].type = deep;
    const frz_type *outer;
    assert_ok(frz_type_struct_of(&batch->arena, inner, 2, &outer, &err), &err);
    fields[FRZ_ARRAY_COUNT(test_columns)] =
        (frz_field){.id = 99, .name = FRZ_STR("st"), .type = outer};
}

/* Rows of st: {1, {'x'}}, null, {null, null}, {4, {null}}, {5, {'z'}} */
static inline void test_struct_row(frz_builder *builder, int row)
{
    frz_error err;
    frz_builder *a = frz_builder_child(builder, 0);
    frz_builder *b = frz_builder_child(builder, 1);
    frz_builder *c = frz_builder_child(b, 0);
    if (row == 1) {
        assert_ok(frz_builder_null(builder, &err), &err);
        return;
    }
    assert_ok(row == 2 ? frz_builder_null(a, &err) : frz_builder_i32(a, row + 1, &err), &err);
    if (row == 2) {
        assert_ok(frz_builder_null(b, &err), &err);
    } else {
        assert_ok(row == 3 ? frz_builder_null(c, &err)
                           : frz_builder_bytes(c, row == 0 ? FRZ_STR("x") : FRZ_STR("z"), &err),
                  &err);
        assert_ok(frz_builder_end(b, &err), &err);
    }
    assert_ok(frz_builder_end(builder, &err), &err);
}

static inline void test_batch_init(test_batch *batch, frz_env *env)
{
    frz_error err;
    frz_field fields[FRZ_ARRAY_COUNT(test_columns) + 1];
    *batch = (test_batch){.env = env};
    frz_arena_init(&batch->arena, env, FRZ_ARENA_NO_LIMIT);
    test_batch_fields(batch, fields);
    assert_ok(
        frz_type_struct_of(&batch->arena, fields, FRZ_ARRAY_COUNT(fields), &batch->type, &err),
        &err);
    struct ArrowArray columns[FRZ_ARRAY_COUNT(fields)] = {0};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fields); i++) {
        frz_builder *builder = NULL;
        assert_ok(frz_builder_new(env, batch->type->fields[i].type, &builder, &err), &err);
        for (int row = -TEST_SKIPPED; row < TEST_ROWS; row++) {
            int from = (row + TEST_ROWS) % TEST_ROWS;
            if (i == FRZ_ARRAY_COUNT(test_columns)) {
                test_struct_row(builder, from);
                continue;
            }
            frz_value value =
                test_value(batch, test_columns[i].rows[from], batch->type->fields[i].type);
            assert_ok(frz_builder_value(builder, &value, &err), &err);
        }
        assert_ok(frz_builder_finish(builder, &columns[i], &err), &err);
        frz_builder_free(builder);
    }
    struct ArrowArray whole = {0};
    assert_ok(frz_batch_make(env, TEST_ROWS + TEST_SKIPPED, columns, FRZ_ARRAY_COUNT(fields),
                             &whole, &err),
              &err);
    assert_ok(frz_batch_slice(env, &whole, TEST_SKIPPED, TEST_ROWS, &batch->array, &err), &err);
    frz_array_release(&whole);
}

static inline void test_batch_reset(test_batch *batch)
{
    frz_array_release(&batch->array);
    frz_arena_reset(&batch->arena);
}

/* Rows as text, separated by " | ". */
static inline char *test_rows_text(test_batch *batch, const frz_type *type,
                                   const struct ArrowArray *array)
{
    frz_error err;
    frz_buf text = FRZ_BUF_INIT(batch->env, FRZ_BUF_NO_LIMIT);
    for (int64_t i = 0; i < array->length; i++) {
        frz_value value = frz_value_at(type, array, i);
        assert_ok(frz_buf_append_str(&text, i == 0 ? "" : " | ", &err), &err);
        assert_ok(expr_print_literal(&value, &text, &err), &err);
    }
    char *copy = frz_arena_strdup(&batch->arena, frz_buf_view(&text));
    frz_buf_reset(&text);
    return copy;
}

/* Parse, bind and evaluate; the result's type and rows as text, or the failure. */
static inline frz_code test_eval(test_batch *batch, const char *sql, const uint8_t *selection,
                                 char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    struct ArrowArray array = {0};
    char type[80];
    FRZ_TRY(frz_expr_parse(&batch->arena, frz_str_from(sql), &expr, err));
    FRZ_TRY(frz_expr_bind(batch->env, expr, batch->type, &bound, err));
    FRZ_TRY(frz_expr_eval(bound, batch->type, &batch->array, 100, selection, &array, err));
    frz_type_text(frz_bound_expr_type(bound), type, sizeof type);
    *out = frz_arena_printf(&batch->arena, "%s: %s", type,
                            test_rows_text(batch, frz_bound_expr_type(bound), &array));
out:
    frz_array_release(&array);
    frz_bound_expr_free(bound);
    return rc;
}

#endif
