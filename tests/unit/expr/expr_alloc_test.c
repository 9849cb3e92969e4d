/*
 * Every allocation of parsing, printing, binding, evaluation and pruning fails once: nothing leaks
 * and the failure is reported as what it is.
 */
#include "expr_model.h"
#include "unit/test_alloc.h"

static const char *const texts[] = {
    "(i + l) * 2 - l % 3 > d / 2e0 AND s LIKE 'a%' OR b",
    "CASE WHEN i = 0 THEN 'none' WHEN b THEN upper(s) ELSE substr(s || '!' || i, 1, 2) END",
    "COALESCE(NULLIF(i, 1), CAST(c AS int), 7) IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, NULL)",
    "NOT (e * c + 0.5 BETWEEN round(c, 1) AND abs(e)) OR x < X'00ff' OR f IS NAN",
    "day >= '1970-01-01' AND ts IN (day, NULL) AND CAST(day AS string) <> length(s) || ''",
};

static frz_code use(const frz_env *env, const model_batch *batch, const char *text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    struct ArrowArray array = {0};
    uint8_t selection[8];
    int64_t selected;
    frz_buf printed = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_expr_parse(&arena, frz_str_from(text), &expr, err));
    FRZ_TRY(frz_expr_print(expr, &printed, err));
    FRZ_TRY(frz_expr_bind(env, expr, batch->type, &bound, err));
    FRZ_TRY(
        frz_expr_eval(bound, batch->type, &batch->array, 0, (const uint8_t[]){0xFF}, &array, err));
    if (frz_bound_expr_type(bound)->id == FRZ_TYPE_BOOLEAN) {
        FRZ_TRY(
            frz_expr_select(bound, batch->type, &batch->array, 0, NULL, selection, &selected, err));
    }
out:
    frz_array_release(&array);
    frz_bound_expr_free(bound);
    frz_buf_reset(&printed);
    frz_arena_reset(&arena);
    return rc;
}

/* The batch is made of the same environment; its rows are few so that the runs are. */
static frz_code use_all(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    test_random random = {7};
    model_batch batch = {.env = (frz_env *)(uintptr_t)env};
    frz_builder *builder = NULL;
    frz_field fields[MODEL_COLUMNS] = {0};
    struct ArrowArray columns[MODEL_COLUMNS] = {0};
    int made = 0;
    frz_arena_init(&batch.arena, env, FRZ_ARENA_NO_LIMIT);
    for (; made < MODEL_COLUMNS; made++) {
        fields[made].id = made + 1;
        fields[made].name = frz_str_from(model_columns[made].name);
        FRZ_TRY(frz_type_parse(&batch.arena, frz_str_from(model_columns[made].type),
                               &fields[made].type, err));
        FRZ_TRY(frz_builder_new(env, fields[made].type, &builder, err));
        for (int row = 0; row < 5; row++) {
            frz_value value = model_value(&random, fields[made].type);
            value.is_null = row == 2;
            FRZ_TRY(frz_builder_value(builder, &value, err));
        }
        FRZ_TRY(frz_builder_finish(builder, &columns[made], err));
        frz_builder_free(builder);
        builder = NULL;
    }
    FRZ_TRY(frz_type_struct_of(&batch.arena, fields, MODEL_COLUMNS, &batch.type, err));
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(env, 5, columns, MODEL_COLUMNS, &batch.array, err));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        FRZ_TRY(use(env, &batch, texts[i], err));
    }
out:
    frz_builder_free(builder);
    for (int i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    model_batch_reset(&batch);
    return rc;
}

static void every_allocation__fails_cleanly(void **state)
{
    (void)state;
    uint64_t allocations = test_fail_every_allocation(use_all);
    assert_true(allocations > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation__fails_cleanly)};
    return cmocka_run_group_tests_name("expr_alloc", tests, NULL, NULL);
}
