/*
 * Pruning: single rules, and ten thousand random filters that must never drop a matching row.
 */
#include "expr_model.h"

#define ROUNDS 10000

typedef struct stats_table {
    frz_field_stats fields[MODEL_COLUMNS];
    bool known[MODEL_COLUMNS];
    /* of columns whose very values are known */
    bool listed[MODEL_COLUMNS];
    const struct ArrowArray *values[MODEL_COLUMNS];
} stats_table;

static const frz_field_stats *lookup(void *ctx, int32_t field_id)
{
    const stats_table *table = ctx;
    return table->known[field_id - 1] ? &table->fields[field_id - 1] : NULL;
}

static bool value_is_nan(const frz_value *v)
{
    return (v->type->id == FRZ_TYPE_FLOAT && isnan(v->as.f32)) ||
           (v->type->id == FRZ_TYPE_DOUBLE && isnan(v->as.f64));
}

static bool in_interval(const frz_value *v, const frz_interval *interval)
{
    int low = interval->low == NULL ? 1 : frz_value_compare(v, interval->low, false);
    int high = interval->high == NULL ? -1 : frz_value_compare(v, interval->high, false);
    return (interval->low_open ? low > 0 : low >= 0) &&
           (interval->high_open ? high < 0 : high <= 0);
}

/* As a dictionary would answer. */
static bool holds(void *ctx, int32_t field_id, const frz_interval *interval)
{
    const stats_table *table = ctx;
    const struct ArrowArray *values = table->values[field_id - 1];
    const frz_type *type = interval->low == NULL ? interval->high->type : interval->low->type;
    if (!table->listed[field_id - 1]) {
        return true;
    }
    for (int64_t i = 0; i < values->length; i++) {
        frz_value v = frz_value_at(type, values, i);
        if (!v.is_null && !value_is_nan(&v) && in_interval(&v, interval)) {
            return true;
        }
    }
    return false;
}

/* ---- random ---- */

static void measure(const frz_type *type, const struct ArrowArray *array, int32_t id,
                    frz_field_stats *out)
{
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(id, type);
    out->value_count = array->length;
    out->null_value_count = out->nan_value_count = 0;
    for (int64_t i = 0; i < array->length; i++) {
        frz_value v = frz_value_at(type, array, i);
        if (v.is_null) {
            out->null_value_count++;
        } else if (value_is_nan(&v)) {
            out->nan_value_count++;
        } else {
            if (!out->has_lower || frz_value_compare(&v, &out->lower, false) < 0) {
                out->lower = v;
                out->has_lower = true;
            }
            if (!out->has_upper || frz_value_compare(&v, &out->upper, false) > 0) {
                out->upper = v;
                out->has_upper = true;
            }
        }
    }
}

/* What other writers leave out or make less exact. */
static void weaken(test_random *r, frz_arena *arena, frz_field_stats *stats)
{
    frz_error err;
    if (random_int(r, 4) == 0) {
        stats->null_value_count = -1;
    }
    if (random_int(r, 4) == 0) {
        stats->nan_value_count = -1;
    }
    if (random_int(r, 5) == 0) {
        stats->has_lower = false;
    }
    if (random_int(r, 5) == 0) {
        stats->has_upper = false;
    }
    if (random_int(r, 5) == 0) {
        stats->value_count = -1;
    }
    if (stats->type->id == FRZ_TYPE_STRING || stats->type->id == FRZ_TYPE_BINARY) {
        assert_ok(frz_stats_truncate(arena, stats, 1 + (size_t)random_int(r, 2), &err), &err);
    }
    if (stats->type->id == FRZ_TYPE_INT && random_int(r, 4) == 0) {
        stats->lower.as.i32 -= stats->lower.as.i32 > INT32_MIN + 3 ? 3 : 0;
    }
}

static void may_match__never_drops_a_matching_row(void **state)
{
    test_random random = {UINT64_C(0xC0FFEE123)};
    model_batch batch;
    int pruned = 0;
    int with_rows = 0;
    model_batch_init(&batch, *state);
    for (int round = 0; round < ROUNDS; round++) {
        frz_error err = {0};
        frz_arena arena;
        stats_table table;
        uint8_t selection[8];
        int64_t selected = 0;
        frz_buf sql = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        const frz_expr *expr = NULL;
        frz_bound_expr *bound = NULL;
        if (round % 10 == 0) {
            model_fill(&batch, &random, 1 + random_int(&random, 6));
        }
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        for (int i = 0; i < MODEL_COLUMNS; i++) {
            measure(batch.type->fields[i].type, batch.array.children[i], i + 1, &table.fields[i]);
            weaken(&random, &arena, &table.fields[i]);
            table.known[i] = random_int(&random, 10) > 0;
            table.listed[i] = random_int(&random, 2) == 0;
            table.values[i] = batch.array.children[i];
        }
        model_write(&(model_writer){&random, &sql}, WRITE_BOOLEAN, 1 + random_int(&random, 3));
        assert_ok(frz_expr_parse(&arena, frz_buf_view(&sql), &expr, &err), &err);
        if (frz_expr_bind_filter(*state, expr, batch.type, &bound, &err) == FRZ_OK &&
            frz_expr_select(bound, batch.type, &batch.array, 0, NULL, selection, &selected, &err) ==
                FRZ_OK) {
            bool may = frz_expr_may_match(bound, lookup, holds, &table, batch.array.length);
            pruned += !may;
            with_rows += selected > 0;
            if (!may && selected > 0) {
                fail_msg("pruned although %lld rows match: %.*s", (long long)selected,
                         FRZ_STR_ARG(frz_buf_view(&sql)));
            }
        }
        frz_bound_expr_free(bound);
        frz_buf_reset(&sql);
        frz_arena_reset(&arena);
    }
    model_batch_reset(&batch);
    print_message("%d of %d pruned, %d have matching rows\n", pruned, ROUNDS, with_rows);
    assert_true(pruned > ROUNDS / 10);
    assert_true(with_rows > ROUNDS / 10);
}

/* ---- single rules ---- */

typedef struct prune_case {
    const char *sql;
    bool may;
} prune_case;

static bool may_match(model_batch *batch, stats_table *table, const char *sql)
{
    frz_error err;
    frz_arena arena;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_arena_init(&arena, batch->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_expr_parse(&arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(batch->env, expr, batch->type, &bound, &err), &err);
    bool may = frz_expr_may_match(bound, lookup, holds, table, 100);
    frz_bound_expr_free(bound);
    frz_arena_reset(&arena);
    return may;
}

static void check_cases(model_batch *batch, stats_table *table, const prune_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (may_match(batch, table, cases[i].sql) != cases[i].may) {
            fail_msg("%s: expected %s", cases[i].sql, cases[i].may ? "may match" : "pruned");
        }
    }
}

/* Column MODEL_x of 100 rows without nulls. */
static frz_field_stats *known(model_batch *batch, stats_table *table, int column)
{
    frz_field_stats *stats = &table->fields[column];
    const frz_type *type = batch->type->fields[column].type;
    *stats = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(column + 1, type);
    stats->value_count = 100;
    stats->null_value_count = 0;
    stats->has_lower = stats->has_upper = true;
    stats->lower.type = stats->upper.type = type;
    table->known[column] = true;
    return stats;
}

static void may_match__integers_between_10_and_20(void **state)
{
    static const prune_case cases[] = {
        {"i = 9", false},
        {"i = 10", true},
        {"i = 20", true},
        {"i = 21", false},
        {"21 = i", false},
        {"i < 10", false},
        {"i <= 10", true},
        {"i > 20", false},
        {"20 < i", false},
        {"i >= 20.5", false},
        {"i > 19.5", true},
        {"i + 0 > 100", true},
        {"i <> 15", true},
        {"i IN (1, 2, 30)", false},
        {"i IN (1, 15)", true},
        {"i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 21, NULL)", false},
        {"i NOT IN (1, 2)", true},
        {"i BETWEEN 21 AND 30", false},
        {"i BETWEEN 0 AND 9", false},
        {"i BETWEEN 0 AND 10", true},
        {"i NOT BETWEEN 5 AND 25", false},
        {"i NOT BETWEEN 11 AND 25", true},
        {"NOT i >= 10", false},
        {"NOT (i < 5 OR i > 8)", false},
        {"i < 5 OR i > 25", false},
        {"i < 5 OR i > 15", true},
        {"i < 5 AND s = 'unknown'", false},
        {"i IS NULL", false},
        {"i IS NOT NULL", true},
        {"i = NULL", false},
        {"NOT (i = NULL)", false},
        {"NULL", false},
        {"FALSE", false},
        {"i > 3000000000", false},
        {"i < 3000000000", true},
        {"CASE WHEN i < 5 THEN TRUE END", true},
        {"l = 5", true},
        {"i = l", true},
    };
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_I);
    stats->lower.as.i32 = 10;
    stats->upper.as.i32 = 20;
    check_cases(&batch, &table, cases, FRZ_ARRAY_COUNT(cases));
    model_batch_reset(&batch);
}

static void may_match__doubles_and_nan(void **state)
{
    static const prune_case unknown[] = {
        {"d > 100", true},   {"d >= 100", true},       {"d <> 1.5", true},
        {"d < -100", false}, {"d = 100", false},       {"d = DOUBLE 'NaN'", true},
        {"d IS NAN", true},  {"NOT (d <= 100)", true}, {"d <= DOUBLE 'NaN'", true},
    };
    static const prune_case none[] = {
        {"d > 100", false},          {"d >= 100", false}, {"d = DOUBLE 'NaN'", false},
        {"d < DOUBLE 'NaN'", true},  {"d IS NAN", false}, {"d >= DOUBLE 'NaN'", false},
        {"d > DOUBLE 'NaN'", false}, {"d = 0.0", true},   {"d = -0e0", true},
    };
    static const prune_case only[] = {{"d > 100", true},
                                      {"d < 100", false},
                                      {"d = DOUBLE 'NaN'", true},
                                      {"d <> DOUBLE 'NaN'", false},
                                      {"d IS NOT NAN", false}};
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_D);
    stats->lower.as.f64 = 0.0;
    stats->upper.as.f64 = 2.5;
    check_cases(&batch, &table, unknown, FRZ_ARRAY_COUNT(unknown));
    stats->nan_value_count = 0;
    check_cases(&batch, &table, none, FRZ_ARRAY_COUNT(none));
    stats->nan_value_count = 100;
    stats->has_lower = stats->has_upper = false;
    check_cases(&batch, &table, only, FRZ_ARRAY_COUNT(only));
    model_batch_reset(&batch);
}

static void may_match__nulls_only(void **state)
{
    static const prune_case cases[] = {{"s IS NOT NULL", false},  {"s IS NULL", true},
                                       {"s = 'a'", false},        {"s <> 'a'", false},
                                       {"NOT (s = 'a')", false},  {"s LIKE '%'", false},
                                       {"s = 'a' OR i = 1", true}};
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_S);
    stats->has_lower = stats->has_upper = false;
    stats->null_value_count = 100;
    check_cases(&batch, &table, cases, FRZ_ARRAY_COUNT(cases));
    model_batch_reset(&batch);
}

static void may_match__strings_with_cut_bounds(void **state)
{
    static const prune_case cases[] = {
        {"s = 'bx'", true},          {"s = 'a'", false},     {"s = 'd'", false},
        {"s > 'cz'", false},         {"s LIKE 'b%'", true},  {"s LIKE 'ba%'", true},
        {"s LIKE 'a%'", false},      {"s LIKE 'd%'", false}, {"s LIKE '%d'", true},
        {"s LIKE '_a'", true},       {"s LIKE 'a'", false},  {"s NOT LIKE 'b%'", true},
        {"s LIKE 'c' || '%'", true}, {"s LIKE 'A%'", false}, {"s LIKE 'a!%%' ESCAPE '!'", false},
        {"s LIKE s", true},          {"s LIKE NULL", false},
    };
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_S);
    stats->lower.as.bytes = FRZ_STR("b");
    stats->upper.as.bytes = FRZ_STR("c");
    check_cases(&batch, &table, cases, FRZ_ARRAY_COUNT(cases));
    model_batch_reset(&batch);
}

static void may_match__contradictions_prove_nothing(void **state)
{
    static const prune_case cases[] = {{"i = 5", true}, {"i > 100", true}, {"i IS NULL", false}};
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_I);
    stats->lower.as.i32 = 20;
    stats->upper.as.i32 = 10;
    check_cases(&batch, &table, cases, FRZ_ARRAY_COUNT(cases));
    stats->null_value_count = 100; /* and yet there are bounds */
    stats->lower.as.i32 = 10;
    stats->upper.as.i32 = 20;
    assert_true(may_match(&batch, &table, "i = 15"));
    model_batch_reset(&batch);
}

static void array_of(model_batch *batch, int column, const char *const *texts, size_t n,
                     struct ArrowArray *out)
{
    frz_error err;
    frz_arena arena;
    frz_builder *builder = NULL;
    const frz_type *type = batch->type->fields[column].type;
    frz_arena_init(&arena, batch->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_builder_new(batch->env, type, &builder, &err), &err);
    for (size_t i = 0; i < n; i++) {
        frz_value value;
        assert_ok(frz_value_parse(&arena, type, frz_str_from(texts[i]), &value, &err), &err);
        assert_ok(frz_builder_value(builder, &value, &err), &err);
    }
    assert_ok(frz_builder_finish(builder, out, &err), &err);
    frz_builder_free(builder);
    frz_arena_reset(&arena);
}

static void may_match__values_that_are_listed(void **state)
{
    static const char *const integers[] = {"10", "13", "20"};
    static const char *const decimals[] = {"1.50", "2.25", "-3.00"};
    static const char *const strings[] = {"bee", "cat", "cow"};
    static const char *const days[] = {"2020-01-01", "2021-01-01"};
    static const prune_case cases[] = {
        {"i = 12", false},
        {"i = 13", true},
        {"i = 13.0", true},
        {"i = 13.5", true}, /* nothing that the file could be asked for */
        {"i = 13e0", true},
        {"i = 14e0", false},
        {"i = 5000000000", true},
        {"i > 20", false},
        {"i >= 20", true},
        {"i < 10", false},
        {"i <> 13", true},
        {"i IN (11, 12, 14)", false},
        {"i IN (11, 13)", true},
        {"i NOT IN (10, 13)", true},
        {"i BETWEEN 14 AND 19", false},
        {"i NOT BETWEEN 0 AND 30", false},
        {"NOT (i <> 12)", false},
        {"i = 12 OR c = 1.5", true},
        {"i = 12 OR c = 1.6", false},
        {"i = 13 AND c = 1.6", false},
        {"c = 2.250", true},
        {"c < -3", false},
        {"c = 2.251", true}, /* the same */
        {"s LIKE 'c%'", true},
        {"s LIKE 'ca%'", true},
        {"s LIKE 'ce%'", false},
        {"s LIKE 'cat'", true},
        {"s LIKE 'dog'", false},
        {"s > 'cow'", false},
        {"day = '2020-06-01'", false},
        {"day = TIMESTAMP '2020-01-01T00:00:00'", true},
        {"day = TIMESTAMP '2020-06-01T00:00:00'", false},
    };
    struct ArrowArray arrays[4];
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    array_of(&batch, MODEL_I, integers, FRZ_ARRAY_COUNT(integers), &arrays[0]);
    array_of(&batch, MODEL_C, decimals, FRZ_ARRAY_COUNT(decimals), &arrays[1]);
    array_of(&batch, MODEL_S, strings, FRZ_ARRAY_COUNT(strings), &arrays[2]);
    array_of(&batch, MODEL_DAY, days, FRZ_ARRAY_COUNT(days), &arrays[3]);
    static const int columns[] = {MODEL_I, MODEL_C, MODEL_S, MODEL_DAY};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(columns); i++) {
        frz_field_stats *stats = known(&batch, &table, columns[i]);
        stats->has_lower = stats->has_upper = false;
        table.listed[columns[i]] = true;
        table.values[columns[i]] = &arrays[i];
    }
    check_cases(&batch, &table, cases, FRZ_ARRAY_COUNT(cases));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(arrays); i++) {
        frz_array_release(&arrays[i]);
    }
    model_batch_reset(&batch);
}

/* A struct p.q of which only q, as field 2, has statistics. */
static void may_match__fields_of_structs(void **state)
{
    frz_error err;
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_L);
    stats->lower.as.i64 = 5;
    stats->upper.as.i64 = 9;
    frz_field q = {.id = MODEL_L + 1, .name = FRZ_STR("q"), .type = stats->type};
    frz_field p = {.id = MODEL_I + 1, .name = FRZ_STR("p")};
    assert_ok(frz_type_struct_of(&batch.arena, &q, 1, &p.type, &err), &err);
    assert_ok(frz_type_struct_of(&batch.arena, &p, 1, &batch.type, &err), &err);
    assert_false(may_match(&batch, &table, "p.q = 4"));
    assert_true(may_match(&batch, &table, "p.q = 5"));
    assert_false(may_match(&batch, &table, "p.q IS NULL"));
    stats->value_count = FRZ_STAT_UNKNOWN; /* nulls of p may not have been counted */
    assert_true(may_match(&batch, &table, "p.q IS NULL"));
    assert_false(may_match(&batch, &table, "p.q > 9"));
    assert_true(may_match(&batch, &table, "p IS NULL"));
    model_batch_reset(&batch);
}

static void may_match__booleans_dates_and_types_of_older_files(void **state)
{
    model_batch batch;
    stats_table table = {0};
    model_batch_init(&batch, *state);
    frz_field_stats *stats = known(&batch, &table, MODEL_B);
    assert_false(may_match(&batch, &table, "b"));
    assert_true(may_match(&batch, &table, "NOT b"));
    stats = known(&batch, &table, MODEL_DAY);
    stats->lower.as.i32 = 100;
    stats->upper.as.i32 = 200;
    assert_false(may_match(&batch, &table, "day < '1970-02-01'"));
    assert_true(may_match(&batch, &table, "day < '1970-06-01'"));
    assert_false(may_match(&batch, &table, "day < TIMESTAMP '1970-02-01T12:00:00'"));
    stats = known(&batch, &table, MODEL_L);
    stats->type = stats->lower.type = stats->upper.type = frz_type_primitive(FRZ_TYPE_INT);
    stats->lower.as.i32 = 1;
    stats->upper.as.i32 = 9;
    assert_false(may_match(&batch, &table, "l > 9"));
    assert_true(may_match(&batch, &table, "l > 8"));
    model_batch_reset(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(may_match__integers_between_10_and_20),
        TEST_WITH_ENV(may_match__doubles_and_nan),
        TEST_WITH_ENV(may_match__nulls_only),
        TEST_WITH_ENV(may_match__strings_with_cut_bounds),
        TEST_WITH_ENV(may_match__contradictions_prove_nothing),
        TEST_WITH_ENV(may_match__values_that_are_listed),
        TEST_WITH_ENV(may_match__fields_of_structs),
        TEST_WITH_ENV(may_match__booleans_dates_and_types_of_older_files),
        TEST_WITH_ENV(may_match__never_drops_a_matching_row),
    };
    return cmocka_run_group_tests_name("expr_prune", tests, NULL, NULL);
}
