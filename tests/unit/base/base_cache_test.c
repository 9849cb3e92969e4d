/* The cache: what it keeps, what makes room, objects in use, several threads. */
#include <stdlib.h>

#include "base/base.h"
#include "unit/test_support.h"

typedef struct thing {
    frz_cached cached;
    char name[32];
    _Atomic int *alive;
} thing;

static void thing_free(frz_cached *cached)
{
    thing *t = (thing *)cached;
    atomic_fetch_sub(t->alive, 1);
    free(t);
}

static thing *thing_new(const char *name, size_t bytes, _Atomic int *alive)
{
    thing *t = calloc(1, sizeof *t);
    assert_non_null(t);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->alive = alive;
    t->cached =
        (frz_cached){.key = frz_str_from(t->name), .bytes = bytes, .free = thing_free, .refs = 1};
    atomic_fetch_add(alive, 1);
    return t;
}

/* Put a new object and give back the caller's reference. */
static void put(const frz_env *env, const char *name, size_t bytes, _Atomic int *alive)
{
    thing *t = thing_new(name, bytes, alive);
    frz_cache_put(env, &t->cached);
    frz_cached_unref(&t->cached);
}

static bool is_there(const frz_env *env, const char *name)
{
    frz_cached *found = frz_cache_get(env, frz_str_from(name));
    if (found != NULL) {
        assert_string_equal(((thing *)found)->name, name);
    }
    frz_cached_unref(found);
    return found != NULL;
}

static frz_env *env_of_bytes(size_t bytes)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    options.cache_bytes = bytes;
    assert_int_equal(frz_env_new(&options, &env, NULL), FRZ_OK);
    return env;
}

static void cache__what_was_used_longest_ago_makes_room(void **state)
{
    (void)state;
    _Atomic int alive = 0;
    frz_env *env = env_of_bytes(100);
    put(env, "a", 40, &alive);
    put(env, "b", 40, &alive);
    assert_true(is_there(env, "a"));
    put(env, "c", 20, &alive);
    assert_int_equal(alive, 3);
    put(env, "d", 1, &alive);
    assert_false(is_there(env, "b"));
    assert_true(is_there(env, "a") && is_there(env, "c") && is_there(env, "d"));
    put(env, "e", 100, &alive);
    assert_int_equal(alive, 1);
    assert_true(is_there(env, "e"));
    frz_env_free(env);
    assert_int_equal(alive, 0);
}

static void cache__too_large_objects_are_not_kept_and_harm_nobody(void **state)
{
    (void)state;
    _Atomic int alive = 0;
    frz_env *env = env_of_bytes(100);
    put(env, "a", 100, &alive);
    put(env, "b", 101, &alive);
    assert_true(is_there(env, "a") && !is_there(env, "b"));
    frz_env_free(env);
    env = env_of_bytes(1);
    put(env, "a", 2, &alive);
    assert_false(is_there(env, "a"));
    frz_env_free(env);
    assert_int_equal(alive, 0);
}

static void cache__an_object_in_use_outlives_its_place(void **state)
{
    (void)state;
    _Atomic int alive = 0;
    frz_env *env = env_of_bytes(100);
    put(env, "a", 60, &alive);
    frz_cached *a = frz_cache_get(env, FRZ_STR("a"));
    put(env, "b", 60, &alive);
    assert_false(is_there(env, "a"));
    assert_string_equal(((thing *)a)->name, "a");
    frz_cached *b = frz_cache_get(env, FRZ_STR("b"));
    frz_env_drop_cache(env);
    assert_false(is_there(env, "b"));
    assert_int_equal(alive, 2);
    frz_cached_unref(a);
    frz_cached_unref(b);
    frz_cached_unref(NULL);
    assert_int_equal(alive, 0);
    frz_env_free(env);
}

static void cache__the_first_of_a_key_stays(void **state)
{
    _Atomic int alive = 0;
    frz_env *env = *state;
    thing *first = thing_new("a", 10, &alive);
    thing *second = thing_new("a", 10, &alive);
    frz_cache_put(env, &first->cached);
    frz_cache_put(env, &second->cached);
    frz_cached *found = frz_cache_get(env, FRZ_STR("a"));
    assert_ptr_equal(found, &first->cached);
    frz_cached_unref(found);
    frz_cached_unref(&second->cached);
    frz_cached_unref(&first->cached);
    assert_int_equal(alive, 1);
    frz_env_drop_cache(env);
    assert_int_equal(alive, 0);
}

static void cache__a_dropped_object_makes_place_for_another(void **state)
{
    _Atomic int alive = 0;
    frz_env *env = *state;
    thing *first = thing_new("a", 10, &alive);
    thing *second = thing_new("a", 10, &alive);
    frz_cache_put(env, &first->cached);
    frz_cache_drop(env, &second->cached); /* is not kept itself */
    assert_true(is_there(env, "a"));
    frz_cache_drop(env, &first->cached);
    assert_false(is_there(env, "a"));
    frz_cache_put(env, &second->cached);
    frz_cached_unref(&first->cached);
    frz_cached_unref(&second->cached);
    assert_int_equal(alive, 1);
    assert_true(is_there(env, "a"));
    frz_env_drop_cache(env);
    assert_int_equal(alive, 0);
}

/* Against a list as the model: which of many keys are there. */
static void cache__many_keys(void **state)
{
    enum { KEYS = 5000, ROOM = 1000 };
    (void)state;
    _Atomic int alive = 0;
    char name[32];
    frz_env *env = env_of_bytes(ROOM);
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof name, "key %d", i);
        put(env, name, 1, &alive);
    }
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof name, "key %d", i);
        assert_int_equal(is_there(env, name), i >= KEYS - ROOM);
    }
    assert_int_equal(alive, ROOM);
    frz_env_free(env);
    assert_int_equal(alive, 0);
}

typedef struct crowd {
    const frz_env *env;
    _Atomic int alive;
} crowd;

static frz_code crowd_task(void *ctx, size_t index, frz_error *err)
{
    crowd *c = ctx;
    char name[32];
    (void)err;
    for (size_t i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "key %zu", (i * 7 + index) % 50);
        if (!is_there(c->env, name)) {
            put(c->env, name, 1 + i % 3, &c->alive);
        }
        if (i % 500 == 499) {
            frz_env_drop_cache(c->env);
        }
    }
    return FRZ_OK;
}

static void cache__threads_share_it(void **state)
{
    (void)state;
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    frz_error err = {0};
    options.threads = 4;
    options.cache_bytes = 60;
    assert_ok(frz_env_new(&options, &env, &err), &err);
    crowd c = {.env = env};
    assert_ok(frz_parallel(env, 8, crowd_task, &c, &err), &err);
    frz_env_free(env);
    assert_int_equal(c.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache__what_was_used_longest_ago_makes_room),
        cmocka_unit_test(cache__too_large_objects_are_not_kept_and_harm_nobody),
        cmocka_unit_test(cache__an_object_in_use_outlives_its_place),
        TEST_WITH_ENV(cache__the_first_of_a_key_stays),
        TEST_WITH_ENV(cache__a_dropped_object_makes_place_for_another),
        cmocka_unit_test(cache__many_keys),
        cmocka_unit_test(cache__threads_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
