/*
 * Keys and the map that validation remembers with.
 */
#include "maintain/maintain_internal.h"
#include "unit/test_support.h"

static void key__depends_on_every_part_and_its_borders(void **state)
{
    (void)state;
    frz_key a = frz_key_of("x"), b = frz_key_of("x");
    assert_true(frz_key_equal(a, b));
    frz_key_str(&a, FRZ_STR("ab"));
    frz_key_str(&a, FRZ_STR("c"));
    frz_key_str(&b, FRZ_STR("a"));
    frz_key_str(&b, FRZ_STR("bc"));
    assert_false(frz_key_equal(a, b));
    assert_false(frz_key_equal(frz_key_of("x"), frz_key_of("y")));
}

static void map__against_a_plain_array(void **state)
{
    enum { COUNT = 5000 };
    frz_error err = {0};
    frz_key_map map;
    frz_key_map_init(&map, *state);
    for (size_t round = 0; round < 2; round++) {
        for (int64_t i = 0; i < COUNT; i++) {
            bool added = false;
            frz_key key = frz_key_of("n");
            frz_key_i64(&key, i);
            assert_ok(frz_key_map_put(&map, key, (size_t)i + round, &added, &err), &err);
            assert_int_equal(added, round == 0);
        }
    }
    for (int64_t i = 0; i < 2 * COUNT; i++) {
        size_t value = 0;
        frz_key key = frz_key_of("n");
        frz_key_i64(&key, i);
        assert_int_equal(frz_key_map_get(&map, key, &value), i < COUNT);
        assert_int_equal(value, i < COUNT ? i + 1 : 0);
    }
    frz_key_map_reset(&map);
    assert_false(frz_key_map_get(&map, frz_key_of("n"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key__depends_on_every_part_and_its_borders),
        TEST_WITH_ENV(map__against_a_plain_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
