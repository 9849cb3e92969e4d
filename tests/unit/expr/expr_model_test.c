/*
 * Random expressions over random batches, compared with the model row by row.
 */
#include "expr_model.h"

#define ROUNDS 6000

typedef struct model_counts {
    int bound, failed, clean;
} model_counts;

static void report(frz_env *env, const char *sql, int64_t row, const frz_value *expected,
                   const frz_value *found)
{
    frz_error err;
    frz_buf a = FRZ_BUF_INIT(env, 10000);
    frz_buf b = FRZ_BUF_INIT(env, 10000);
    assert_ok(expr_print_literal(expected, &a, &err), &err);
    assert_ok(expr_print_literal(found, &b, &err), &err);
    fail_msg("%s\n  row %lld: expected %.*s, found %.*s", sql, (long long)row,
             FRZ_STR_ARG(frz_buf_view(&a)), FRZ_STR_ARG(frz_buf_view(&b)));
}

static void check_rows(model_batch *batch, frz_arena *arena, const char *sql,
                       const frz_bound_expr *bound, const uint8_t *selection)
{
    frz_error err = {0};
    struct ArrowArray array = {0};
    frz_code rc = frz_expr_eval(bound, batch->type, &batch->array, 0, selection, &array, &err);
    if (rc != FRZ_OK) {
        fail_msg("%s\n  expected no failure, found %s", sql, err.message);
    }
    assert_int_equal(array.length, batch->array.length);
    for (int64_t i = 0; i < array.length; i++) {
        if (!expr_selected(selection, i)) {
            continue;
        }
        model_eval e = {batch, arena, i, false};
        frz_value expected = model_node(&e, bound->root);
        frz_value found = frz_value_at(bound->root->type, &array, i);
        if (bound->root->type->id != FRZ_TYPE_UNKNOWN && !model_same(&expected, &found)) {
            report(batch->env, sql, i, &expected, &found);
        }
    }
    frz_array_release(&array);
}

/* The rows that the model fails for must make the whole fail; without them it must not. */
static void check_expression(model_batch *batch, frz_arena *arena, const char *sql,
                             const frz_bound_expr *bound, model_counts *counts)
{
    uint8_t good[64];
    bool all_good = true;
    frz_error err;
    struct ArrowArray array = {0};
    assert_true(batch->array.length <= 512);
    memset(good, 0xFF, sizeof good);
    for (int64_t i = 0; i < batch->array.length; i++) {
        model_eval e = {batch, arena, i, false};
        (void)model_node(&e, bound->root);
        frz_bit_put(good, i, !e.failed);
        all_good = all_good && !e.failed;
    }
    counts->failed += !all_good;
    counts->clean += all_good;
    if (!all_good) {
        frz_code rc = frz_expr_eval(bound, batch->type, &batch->array, 0, NULL, &array, &err);
        if (rc != FRZ_E_ARGUMENT) {
            fail_msg("%s: expected a failure", sql);
        }
    }
    check_rows(batch, arena, sql, bound, all_good ? NULL : good);
}

static void eval__agrees_with_the_model(void **state)
{
    test_random random = {UINT64_C(0x9E3779B97F4A7C15)};
    model_batch batch;
    model_counts counts = {0};
    model_batch_init(&batch, *state);
    for (int round = 0; round < ROUNDS; round++) {
        frz_error err = {0};
        frz_arena arena;
        frz_buf sql = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        const frz_expr *expr = NULL;
        frz_bound_expr *bound = NULL;
        if (round % 20 == 0) {
            model_fill(&batch, &random,
                       round % 60 == 0 ? random_int(&random, 3) : random_int(&random, 200));
        }
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        model_write(&(model_writer){&random, &sql}, random_int(&random, 5),
                    1 + random_int(&random, 4));
        assert_ok(frz_buf_append_byte(&sql, '\0', &err), &err);
        const char *text = (const char *)sql.data;
        assert_ok(frz_expr_parse(&arena, frz_str_from(text), &expr, &err), &err);
        if (frz_expr_bind(*state, expr, batch.type, &bound, &err) == FRZ_OK) {
            counts.bound++;
            check_expression(&batch, &arena, text, bound, &counts);
        }
        frz_bound_expr_free(bound);
        frz_buf_reset(&sql);
        frz_arena_reset(&arena);
    }
    model_batch_reset(&batch);
    print_message("%d bound, %d fail for some row, %d for none\n", counts.bound, counts.failed,
                  counts.clean);
    /* the generator does not miss what is to be tested */
    assert_true(counts.bound > ROUNDS / 2);
    assert_true(counts.failed > ROUNDS / 40);
    assert_true(counts.clean > ROUNDS / 5);
}

/* What is printed parses to a tree that prints the same and evaluates the same. */
static void print__round_trips(void **state)
{
    test_random random = {42};
    model_batch batch;
    model_batch_init(&batch, *state);
    model_fill(&batch, &random, 10);
    for (int round = 0; round < ROUNDS; round++) {
        frz_error err = {0};
        frz_arena arena;
        const frz_expr *first = NULL;
        const frz_expr *second = NULL;
        frz_buf sql = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf printed = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf again = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        model_write(&(model_writer){&random, &sql}, random_int(&random, 5), 4);
        assert_ok(frz_expr_parse(&arena, frz_buf_view(&sql), &first, &err), &err);
        assert_ok(frz_expr_print(first, &printed, &err), &err);
        assert_ok(frz_expr_parse(&arena, frz_buf_view(&printed), &second, &err), &err);
        assert_ok(frz_expr_print(second, &again, &err), &err);
        if (!frz_str_equal(frz_buf_view(&printed), frz_buf_view(&again))) {
            fail_msg("%.*s\n  prints again as %.*s", FRZ_STR_ARG(frz_buf_view(&printed)),
                     FRZ_STR_ARG(frz_buf_view(&again)));
        }
        frz_buf_reset(&sql);
        frz_buf_reset(&printed);
        frz_buf_reset(&again);
        frz_arena_reset(&arena);
    }
    model_batch_reset(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(eval__agrees_with_the_model),
        TEST_WITH_ENV(print__round_trips),
    };
    return cmocka_run_group_tests_name("expr_model", tests, NULL, NULL);
}
