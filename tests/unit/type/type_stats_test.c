#include <math.h>

#include "type/type_stats.h"
#include "unit/test_alloc.h"

static struct ArrowArray doubles(const frz_env *env, const double *values, const char *nulls,
                                 size_t count)
{
    frz_error err = {0};
    frz_builder *b = NULL;
    struct ArrowArray a = {0};
    assert_ok(frz_builder_new(env, frz_type_primitive(FRZ_TYPE_DOUBLE), &b, &err), &err);
    for (size_t i = 0; i < count; i++) {
        bool null = nulls != NULL && nulls[i] == '.';
        assert_ok(null ? frz_builder_null(b, &err) : frz_builder_f64(b, values[i], &err), &err);
    }
    assert_ok(frz_builder_finish(b, &a, &err), &err);
    frz_builder_free(b);
    return a;
}

static frz_field_stats stats_of(frz_arena *arena, const frz_type *type,
                                const struct ArrowArray *arrays, size_t count)
{
    frz_error err = {0};
    frz_stats_collector *c = NULL;
    frz_field_stats stats = {0};
    assert_ok(frz_stats_collector_new(arena->env, 7, type, &c, &err), &err);
    for (size_t i = 0; i < count; i++) {
        assert_ok(frz_stats_collector_add(c, &arrays[i], &err), &err);
    }
    assert_ok(frz_stats_collector_finish(c, arena, &stats, &err), &err);
    frz_stats_collector_free(c);
    return stats;
}

static void stats__double_nan_null_and_zeros(void **state)
{
    static const struct {
        double values[8];
        const char *nulls;
        double lower, upper;
        int64_t null_count, nan_count;
        bool has;
    } cases[] = {
        {{3, 1, 2, 5, 4, 0, 0, 0}, "     ...", 1, 5, 3, 0, true},
        {{NAN, 1, NAN, -INFINITY, 4, 0, 0, 9}, "     .. ", -INFINITY, 9, 2, 2, true},
        {{NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, "        ", 0, 0, 0, 8, false},
        {{1, 2, 3, 4, 5, 6, 7, 8}, "........", 0, 0, 8, 0, false},
        {{NAN, 2, 3, 4, 5, 6, 7, 8}, " .......", 0, 0, 7, 1, false},
        {{0.0, 0.0, -0.0, 0.0, 0, 0, 0, 0}, "        ", -0.0, 0.0, 0, 0, true},
        {{-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0}, "        ", -0.0, -0.0, 0, 0, true},
        {{0.0, 0, 0, 0, 0, 0, 0, 0}, "        ", 0.0, 0.0, 0, 0, true},
        {{0.0, 1, 0, 0, 0, 0, -0.0, 0}, "        ", -0.0, 1, 0, 0, true},
        {{-0.0, -1, 0, 0, 0, 0, -0.0, 0}, "  ..... ", -1, 0.0, 5, 0, true},
        {{INFINITY, INFINITY, 0, 0, 0, 0, 0, 0}, "  ......", INFINITY, INFINITY, 6, 0, true},
    };
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        /* as one array, and cut in two */
        struct ArrowArray parts[] = {
            doubles(*state, cases[i].values, cases[i].nulls, 8),
            doubles(*state, cases[i].values, cases[i].nulls, 3),
            doubles(*state, cases[i].values + 3, cases[i].nulls + 3, 5),
        };
        for (size_t n = 1; n <= 2; n++) {
            frz_field_stats s = stats_of(&arena, frz_type_primitive(FRZ_TYPE_DOUBLE),
                                         n == 1 ? parts : parts + 1, n);
            assert_int_equal(s.value_count, 8);
            assert_int_equal(s.null_value_count, cases[i].null_count);
            assert_int_equal(s.nan_value_count, cases[i].nan_count);
            assert_int_equal(s.has_lower, cases[i].has);
            assert_int_equal(s.has_upper, cases[i].has);
            assert_int_equal(s.tight_bounds, cases[i].has ? 1 : -1);
            assert_int_equal(s.total_bytes, FRZ_STAT_UNKNOWN);
            if (cases[i].has) {
                assert_memory_equal(&s.lower.as.f64, &cases[i].lower, sizeof(double));
                assert_memory_equal(&s.upper.as.f64, &cases[i].upper, sizeof(double));
            }
        }
        for (size_t k = 0; k < 3; k++) {
            frz_array_release(&parts[k]);
        }
    }
    frz_arena_reset(&arena);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 31;
}

/* A value of few bits, so that equal ones occur; text is the place for bytes. */
static frz_value random_value(const frz_type *type, uint64_t *seed, char text[32])
{
    frz_value v = {.type = type};
    uint64_t r = next_random(seed);
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        v.as.boolean = r % 5 == 0;
        break;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        v.as.i32 = (int32_t)(r % 2000) - 1000;
        break;
    case FRZ_TYPE_FLOAT:
        v.as.f32 = (float)(int32_t)(r % 2000) - 1000;
        break;
    case FRZ_TYPE_DOUBLE:
        v.as.f64 = (double)(int32_t)(r % 2000) - 1000;
        break;
    case FRZ_TYPE_DECIMAL:
        v.as.i128 = ((frz_i128)(int64_t)(r % 2000) - 1000) * ((frz_i128)1 << (r % 60));
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED: {
        size_t width = frz_type_width(type);
        v.as.bytes = (frz_str){text, width > 0 ? width : r % 20};
        for (size_t i = 0; i < v.as.bytes.len; i++) {
            text[i] = (char)(i < 9 ? 'a' : (char)(next_random(seed) % 256));
        }
        break;
    }
    default:
        v.as.i64 = ((int64_t)(r % 2000) - 1000) * (INT64_C(1) << (r % 40));
        break;
    }
    return v;
}

/* Every type against a row-by-row model, with and without nulls, in slices. */
static void stats__every_type_agrees_with_a_plain_loop(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    uint64_t seed = 5;
    frz_type fixed = {.id = FRZ_TYPE_FIXED, .length = 11};
    frz_type decimal = {.id = FRZ_TYPE_DECIMAL, .precision = 30, .scale = 3};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (int id = FRZ_TYPE_BOOLEAN; id < FRZ_TYPE_VARIANT; id++) {
        const frz_type *type = id == FRZ_TYPE_FIXED     ? &fixed
                               : id == FRZ_TYPE_DECIMAL ? &decimal
                                                        : frz_type_primitive((frz_type_id)id);
        for (uint64_t nulls_in = 0; nulls_in < 6; nulls_in++) {
            frz_builder *b = NULL;
            struct ArrowArray a = {0};
            struct ArrowArray parts[3] = {{0}};
            assert_ok(frz_builder_new(*state, type, &b, &err), &err);
            for (int i = 0; i < 500; i++) {
                char text[32];
                frz_value v = random_value(type, &seed, text);
                v.is_null = nulls_in > 0 && next_random(&seed) % (nulls_in * nulls_in) == 0;
                assert_ok(frz_builder_value(b, &v, &err), &err);
            }
            assert_ok(frz_builder_finish(b, &a, &err), &err);
            frz_builder_free(b);
            assert_ok(frz_array_slice(*state, &a, 3, 70, &parts[0], &err), &err);
            assert_ok(frz_array_slice(*state, &a, 73, 0, &parts[1], &err), &err);
            assert_ok(frz_array_slice(*state, &a, 73, 400, &parts[2], &err), &err);
            frz_field_stats s = stats_of(&arena, type, parts, 3);
            frz_value lo = {.is_null = true};
            frz_value hi = {.is_null = true};
            int64_t nulls = 0;
            for (int64_t i = 3; i < 473; i++) {
                frz_value v = frz_value_at(type, &a, i);
                nulls += v.is_null;
                if (!v.is_null) {
                    lo = lo.is_null || frz_value_compare(&v, &lo, true) < 0 ? v : lo;
                    hi = hi.is_null || frz_value_compare(&v, &hi, true) > 0 ? v : hi;
                }
            }
            assert_int_equal(s.value_count, 470);
            assert_int_equal(s.null_value_count, nulls);
            assert_int_equal(s.has_lower, nulls < 470);
            if (s.has_lower) {
                assert_int_equal(frz_value_compare(&s.lower, &lo, true), 0);
                assert_int_equal(frz_value_compare(&s.upper, &hi, true), 0);
            }
            for (size_t k = 0; k < 3; k++) {
                frz_array_release(&parts[k]);
            }
            frz_array_release(&a);
        }
    }
    frz_arena_reset(&arena);
}

static void stats__bytes_survive_their_array(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_stats_collector *c = NULL;
    frz_field_stats s = {0};
    static const char *const texts[] = {"banana", "", "apple", "cherry and much more", "apple"};
    const frz_type *type = frz_type_primitive(FRZ_TYPE_STRING);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_stats_collector_new(*state, 1, type, &c, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        struct ArrowArray a = {0};
        frz_value v = {.type = type, .as.bytes = frz_str_from(texts[i])};
        assert_ok(frz_array_constant(*state, type, &v, 2, &a, &err), &err);
        assert_ok(frz_stats_collector_add(c, &a, &err), &err);
        frz_array_release(&a);
    }
    assert_ok(frz_stats_collector_finish(c, &arena, &s, &err), &err);
    frz_stats_collector_free(c);
    assert_true(frz_str_equal(s.lower.as.bytes, FRZ_STR("")));
    assert_true(frz_str_equal(s.upper.as.bytes, FRZ_STR("cherry and much more")));
    assert_int_equal(s.total_bytes, 2 * (6 + 0 + 5 + 20 + 5));
    frz_arena_reset(&arena);
}

static void truncate__never_inside_a_character(void **state)
{
    static const struct {
        frz_type_id id;
        const char *value;
        size_t length;
        const char *lower, *upper; /* NULL: none */
    } cases[] = {
        {FRZ_TYPE_STRING, "abcdef", 3, "abc", "abd"},
        {FRZ_TYPE_STRING, "abc", 3, "abc", "abc"},
        {FRZ_TYPE_STRING, "", 3, "", ""},
        {FRZ_TYPE_STRING, "h\xC3\xA9llo", 2, "h\xC3\xA9", "h\xC3\xAA"},
        {FRZ_TYPE_STRING, "a\x7F\x7F", 2, "a\x7F", "a\xC2\x80"},
        {FRZ_TYPE_STRING, "a\xDF\xBFz", 2, "a\xDF\xBF", "a\xE0\xA0\x80"},
        {FRZ_TYPE_STRING, "a\xED\x9F\xBFz", 2, "a\xED\x9F\xBF", "a\xEE\x80\x80"},
        {FRZ_TYPE_STRING, "a\xEF\xBF\xBFz", 2, "a\xEF\xBF\xBF", "a\xF0\x90\x80\x80"},
        {FRZ_TYPE_STRING, "a\xF4\x8F\xBF\xBFz", 2, "a\xF4\x8F\xBF\xBF", "b"},
        {FRZ_TYPE_STRING, "\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBF", 1, "\xF4\x8F\xBF\xBF", NULL},
        {FRZ_TYPE_BINARY, "\x01\xFF\xFF", 2, "\x01\xFF", "\x02"},
        {FRZ_TYPE_BINARY, "\xFF\xFF\x01", 2, "\xFF\xFF", NULL},
        {FRZ_TYPE_BINARY, "\xFF", 2, "\xFF", "\xFF"},
    };
    frz_error err = {0};
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const frz_type *type = frz_type_primitive(cases[i].id);
        frz_field_stats s = FRZ_FIELD_STATS_UNKNOWN(1, type);
        frz_str value = frz_str_from(cases[i].value);
        s.has_lower = s.has_upper = true;
        s.tight_bounds = 1;
        s.lower = s.upper = (frz_value){.type = type, .as.bytes = value};
        assert_ok(frz_stats_truncate(&arena, &s, cases[i].length, &err), &err);
        assert_true(frz_str_equal(s.lower.as.bytes, frz_str_from(cases[i].lower)));
        assert_int_equal(s.has_upper, cases[i].upper != NULL);
        if (s.has_upper) {
            assert_true(frz_str_equal(s.upper.as.bytes, frz_str_from(cases[i].upper)));
        }
        assert_int_equal(s.tight_bounds, frz_str_equal(s.lower.as.bytes, value));
    }
    frz_arena_reset(&arena);
}

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_stats_collector *c = NULL;
    frz_field_stats s;
    struct ArrowArray a = {0};
    const frz_type *type = frz_type_primitive(FRZ_TYPE_STRING);
    frz_value v = {.type = type, .as.bytes = FRZ_STR("some text that is not short")};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_array_constant(env, type, &v, 3, &a, err));
    FRZ_TRY(frz_stats_collector_new(env, 1, type, &c, err));
    FRZ_TRY(frz_stats_collector_add(c, &a, err));
    FRZ_TRY(frz_stats_collector_finish(c, &arena, &s, err));
    FRZ_TRY(frz_stats_truncate(&arena, &s, 4, err));
out:
    frz_stats_collector_free(c);
    frz_array_release(&a);
    frz_arena_reset(&arena);
    return rc;
}

static void stats__no_failed_allocation_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 5);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(stats__double_nan_null_and_zeros),
        TEST_WITH_ENV(stats__every_type_agrees_with_a_plain_loop),
        TEST_WITH_ENV(stats__bytes_survive_their_array),
        TEST_WITH_ENV(truncate__never_inside_a_character),
        cmocka_unit_test(stats__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
