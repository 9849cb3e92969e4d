/*
 * fuzz: text as a statement and as an expression. What parses prints to text that parses to the
 * same; what binds is evaluated, and tested against statistics, over a batch of every type.
 */
#include <stdlib.h>

#include "expr/expr.h"
#include "sql/sql_internal.h"
#include "type/type_value.h"

#define ROWS 6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const column_types[] = {
    "int",  "long",      "float",       "double",       "decimal(9,2)", "string", "boolean", "date",
    "time", "timestamp", "timestamptz", "timestamp_ns", "uuid",         "binary", "fixed(2)"};
static const char *const column_names[] = {"i", "l",  "f",  "d",  "c", "s", "b", "day",
                                           "t", "ts", "tz", "tn", "u", "x", "fx"};
#define COLUMNS FRZ_ARRAY_COUNT(column_types)

static void must(frz_code rc)
{
    if (rc != FRZ_OK) {
        abort();
    }
}

static frz_value value_of(const frz_type *type, int row)
{
    static const int64_t numbers[ROWS] = {0, 1, -7, 0, INT64_MAX, INT64_MIN};
    static const char bytes[] = "a%\xC3\x9F_b0123456789";
    frz_value value = {.type = type, .is_null = row == 3};
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        value.as.boolean = row % 2 == 0;
        break;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        value.as.i32 = (int32_t)(row < 4 ? numbers[row] : row == 4 ? INT32_MAX : INT32_MIN);
        break;
    case FRZ_TYPE_FLOAT:
        value.as.f32 = row == 4 ? (float)strtod("nan", NULL) : (float)numbers[row] / 2;
        break;
    case FRZ_TYPE_DOUBLE:
        value.as.f64 = row == 4 ? strtod("nan", NULL) : (double)numbers[row] / 2;
        break;
    case FRZ_TYPE_DECIMAL:
        value.as.i128 = row < 4 ? numbers[row] : 999999999;
        break;
    case FRZ_TYPE_TIME:
        value.as.i64 = row;
        break;
    case FRZ_TYPE_STRING:
        value.as.bytes = (frz_str){bytes, row == 0 ? 0 : 4};
        break;
    case FRZ_TYPE_BINARY:
        value.as.bytes = (frz_str){bytes, (size_t)row};
        break;
    case FRZ_TYPE_UUID:
        value.as.bytes = (frz_str){bytes, 16};
        break;
    case FRZ_TYPE_FIXED:
        value.as.bytes = (frz_str){bytes, 2};
        break;
    default:
        value.as.i64 = numbers[row];
        break;
    }
    return value;
}

static void make_batch(const frz_env *env, frz_arena *arena, const frz_type **type,
                       struct ArrowArray *batch)
{
    frz_field fields[COLUMNS] = {0};
    struct ArrowArray columns[COLUMNS] = {0};
    for (size_t i = 0; i < COLUMNS; i++) {
        frz_builder *builder = NULL;
        fields[i].id = (int32_t)i + 1;
        fields[i].name = frz_str_from(column_names[i]);
        must(frz_type_parse(arena, frz_str_from(column_types[i]), &fields[i].type, NULL));
        must(frz_builder_new(env, fields[i].type, &builder, NULL));
        for (int row = 0; row < ROWS; row++) {
            frz_value value = value_of(fields[i].type, row);
            must(frz_builder_value(builder, &value, NULL));
        }
        must(frz_builder_finish(builder, &columns[i], NULL));
        frz_builder_free(builder);
    }
    must(frz_type_struct_of(arena, fields, COLUMNS, type, NULL));
    must(frz_batch_make(env, ROWS, columns, COLUMNS, batch, NULL));
}

static const frz_field_stats *lookup(void *ctx, int32_t field_id)
{
    return field_id <= (int32_t)COLUMNS ? (const frz_field_stats *)ctx + (field_id - 1) : NULL;
}

/* Against the true statistics of the batch. */
static bool may_match(const frz_env *env, frz_arena *arena, const frz_bound_expr *filter,
                      const frz_type *type, const struct ArrowArray *batch)
{
    frz_field_stats stats[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) {
        frz_stats_collector *collector = NULL;
        must(frz_stats_collector_new(env, (int32_t)i + 1, type->fields[i].type, &collector, NULL));
        must(frz_stats_collector_add(collector, batch->children[i], NULL));
        must(frz_stats_collector_finish(collector, arena, &stats[i], NULL));
        frz_stats_collector_free(collector);
    }
    return frz_expr_may_match(filter, lookup, NULL, stats, ROWS);
}

static void use_as_filter(const frz_env *env, frz_arena *arena, const frz_expr *expr,
                          const frz_type *type, const struct ArrowArray *batch)
{
    frz_bound_expr *bound = NULL;
    uint8_t selection[8];
    int64_t selected = 0;
    frz_error err;
    if (frz_expr_bind_filter(env, expr, type, &bound, &err) == FRZ_OK) {
        bool may = may_match(env, arena, bound, type, batch);
        if (frz_expr_select(bound, type, batch, 0, NULL, selection, &selected, &err) == FRZ_OK &&
            selected > 0 && !may) {
            abort();
        }
        frz_bound_expr_free(bound);
    }
}

/* As a value, as the new value of some columns, as a filter. */
static void evaluate(const frz_env *env, frz_arena *arena, const frz_expr *expr,
                     const frz_type *type, const struct ArrowArray *batch)
{
    frz_bound_expr *bound = NULL;
    struct ArrowArray array = {0};
    frz_error err;
    if (frz_expr_bind(env, expr, type, &bound, &err) == FRZ_OK) {
        if (frz_expr_eval(bound, type, batch, 0, NULL, &array, &err) == FRZ_OK &&
            array.length != ROWS) {
            abort();
        }
        frz_array_release(&array);
        frz_bound_expr_free(bound);
        bound = NULL;
    }
    for (size_t i = 0; i < COLUMNS; i += 4) {
        const frz_field *column = &type->fields[i];
        if (frz_expr_bind_assign(env, expr, type, column, &bound, &err) == FRZ_OK) {
            (void)frz_expr_eval(bound, type, batch, 0, NULL, &array, &err);
            frz_array_release(&array);
            frz_bound_expr_free(bound);
            bound = NULL;
        }
    }
    use_as_filter(env, arena, expr, type, batch);
}

/* The printed text of an expression parses, and prints to itself. */
static void round_trip(const frz_env *env, frz_arena *arena, const frz_expr *expr)
{
    frz_error err;
    const frz_expr *again = NULL;
    frz_buf first = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_buf second = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    must(frz_expr_print(expr, &first, &err));
    must(frz_expr_parse(arena, frz_buf_view(&first), &again, &err));
    must(frz_expr_print(again, &second, &err));
    if (!frz_str_equal(frz_buf_view(&first), frz_buf_view(&second))) {
        abort();
    }
    frz_buf_reset(&first);
    frz_buf_reset(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *env = NULL;
    frz_arena arena;
    frz_error err;
    sql_statement statement;
    const frz_type *type = NULL;
    const frz_expr *expr = NULL;
    struct ArrowArray batch = {0};
    frz_str text = {(const char *)data, size};
    must(frz_env_new(NULL, &env, NULL));
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    (void)sql_parse(&arena, text, &statement, &err);
    if (frz_expr_parse(&arena, text, &expr, &err) == FRZ_OK) {
        make_batch(env, &arena, &type, &batch);
        round_trip(env, &arena, expr);
        evaluate(env, &arena, expr, type, &batch);
    }
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    frz_env_free(env);
    return 0;
}
