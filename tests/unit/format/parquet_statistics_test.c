/*
 * What of a chunk's statistics is believed: by the order that the file states, by who wrote it, and
 * by what the bytes can be.
 */
#include "format/parquet/parquet_statistics.h"
#include "unit/test_support.h"

#define FIXED(length_) .physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = (length_)
#define DECIMAL .logical = PARQUET_LOGICAL_DECIMAL, .precision = 20
#define HALF .logical = PARQUET_LOGICAL_FLOAT16

/* What is left of two bounds of a column of three values, in a file of this writer that states the
 * order of types. */
static parquet_statistics believed(const frz_env *env, parquet_element leaf, const char *writer,
                                   frz_str min, frz_str max)
{
    static const int8_t type_order = 1;
    parquet_element elements[] = {{.name = FRZ_STR("root"),
                                   .repetition = PARQUET_REQUIRED,
                                   .physical = PARQUET_NO_PHYSICAL,
                                   .num_children = 1},
                                  leaf};
    parquet_file file = {.base.env = env,
                         .metadata = {.elements = elements,
                                      .element_count = FRZ_ARRAY_COUNT(elements),
                                      .column_orders = &type_order,
                                      .column_order_count = 1,
                                      .created_by = frz_str_from(writer)}};
    parquet_chunk chunk = {.num_values = 3, .statistics = {.min_value = min, .max_value = max}};
    parquet_statistics out;
    frz_error err = {0};
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    elements[1].name = FRZ_STR("c");
    elements[1].repetition = PARQUET_OPTIONAL;
    assert_ok(parquet_schema_build(&arena, &file.metadata, &file.root, &file.columns,
                                   &file.column_count, &err),
              &err);
    parquet_statistics_check(&file, 0, &chunk, &out);
    frz_arena_reset(&arena);
    return out;
}

static void check_both(const parquet_statistics *found, bool expected)
{
    assert_int_equal(found->min_value.ptr != NULL, expected);
    assert_int_equal(found->max_value.ptr != NULL, expected);
}

/* parquet-rs compares BYTE_ARRAY decimals as if they were equally long: -1 in one byte comes behind
 * 300 in two. Those of fixed length it has right. */
static void statistics__decimals_of_varying_length_are_misordered_by_parquet_rs(void **state)
{
    const parquet_element varying = {.physical = PARQUET_BYTE_ARRAY, DECIMAL};
    const parquet_element fixed = {FIXED(2), DECIMAL};
    const parquet_element text = {.physical = PARQUET_BYTE_ARRAY,
                                  .logical = PARQUET_LOGICAL_STRING};
    const parquet_element number = {.physical = PARQUET_INT64, DECIMAL};
    const struct {
        parquet_element element;
        const char *writer;
        frz_str min, max;
        bool believed;
    } cases[] = {
        {varying, "parquet-rs version 53.0.0", FRZ_STR("\x01\x2c"), FRZ_STR("\xff"), false},
        {varying, "parquet-mr version 1.13.1", FRZ_STR("\xff"), FRZ_STR("\x01\x2c"), true},
        {varying, "other parquet-rs version 1", FRZ_STR("\xff"), FRZ_STR("\x01\x2c"), true},
        {fixed, "parquet-rs version 53.0.0", FRZ_STR("\xff\xff"), FRZ_STR("\x01\x2c"), true},
        {text, "parquet-rs version 53.0.0", FRZ_STR("a"), FRZ_STR("b"), true},
        {number, "parquet-rs version 53.0.0", FRZ_STR("\1\0\0\0\0\0\0\0"),
         FRZ_STR("\2\0\0\0\0\0\0\0"), true},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        parquet_statistics found =
            believed(*state, cases[i].element, cases[i].writer, cases[i].min, cases[i].max);
        check_both(&found, cases[i].believed);
    }
}

static void statistics__halves_have_two_bytes(void **state)
{
    static const char long_zero[100];
    static const size_t wrong[] = {1, 3, 8, 9, sizeof long_zero};
    const parquet_element half = {FIXED(2), HALF};
    parquet_statistics found =
        believed(*state, half, "frazil", FRZ_STR("\x00\x00"), FRZ_STR("\x00\x3c"));
    check_both(&found, true);
    assert_memory_equal(found.min_value.ptr, "\x00\x80", 2); /* the lower zero */
    found = believed(*state, half, "frazil", FRZ_STR("\x00\x7e"), FRZ_STR("\xff\xff"));
    check_both(&found, false); /* NaN */
    /* the annotation on another length: the bytes are of no half */
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wrong); i++) {
        const parquet_element other = {FIXED((int32_t)wrong[i]), HALF};
        frz_str zeros = {long_zero, wrong[i]};
        found = believed(*state, other, "frazil", zeros, zeros);
        check_both(&found, false);
        found = believed(*state, other, "frazil", FRZ_STR("\x00\x00"), FRZ_STR("\x00\x3c"));
        check_both(&found, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(statistics__decimals_of_varying_length_are_misordered_by_parquet_rs),
        TEST_WITH_ENV(statistics__halves_have_two_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
