#include <unistd.h>

#include "io/io_file.h"
#include "unit/test_support.h"

static void location__which_are_local_paths(void **state)
{
    static const struct {
        const char *location, *path; /* NULL: not local */
    } cases[] = {
        {"/p/q", "/p/q"},
        {"file:/p", "/p"},
        {"file:///p", "/p"},
        {"FILE:///p", "/p"},
        {"file:////p", "//p"},
        {"file://host/p", NULL},
        {"file://", NULL},
        {"file:", NULL},
        {"", NULL},
        {"s3://bucket/p", NULL},
        {"s3a://bucket/p", NULL},
        {"filesystem:/p", NULL},
        {"p/q", "p/q"},
        {"./p:q", "./p:q"},
        {"file:p", "p"},
        {"/p%20q+r", "/p%20q+r"}, /* bytes, never decoded */
        {"file:///p%20q", "/p%20q"},
        {"/p:q", "/p:q"},
        {"1p:q", "1p:q"},
        {"p_q:r", "p_q:r"},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_str path = {0};
        bool local = frz_location_local_path(frz_str_from(cases[i].location), &path);
        if (local != (cases[i].path != NULL) ||
            (local && !frz_str_equal(path, frz_str_from(cases[i].path)))) {
            fail_msg("%s: %.*s", cases[i].location, FRZ_STR_ARG(path));
        }
    }
    frz_str path;
    assert_false(frz_location_local_path((frz_str){"/a\0b", 4}, &path));
}

static void location__what_a_scheme_is(void **state)
{
    static const char *const with[] = {"s3://b", "file:/p", "a:", "h2+x-y.z:q"};
    static const char *const without[] = {"", "p", "/p:q", "1a:q", ":q", "p/q:r", "a_b:c"};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(with); i++) {
        assert_true(frz_location_has_scheme(frz_str_from(with[i])));
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(without); i++) {
        assert_false(frz_location_has_scheme(frz_str_from(without[i])));
    }
}

static void location__from_a_path_of_the_shell(void **state)
{
    static const struct {
        const char *path;
        bool below; /* the current folder */
        const char *rest;
    } cases[] = {
        {"/p/q", false, "/p/q"}, {"p/q", true, "/p/q"}, {"./p", true, "/p"},
        {"././/p", true, "/p"},  {".", true, ""},       {"./", true, ""},
        {"../p", true, "/../p"},
    };
    frz_error err = {0};
    char folder[1024];
    char *location = NULL;
    assert_non_null(getcwd(folder, sizeof folder));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char expected[1200];
        snprintf(expected, sizeof expected, "file://%s%s", cases[i].below ? folder : "",
                 cases[i].rest);
        assert_ok(frz_location_from_path(*state, cases[i].path, &location, &err), &err);
        assert_string_equal(location, expected);
        frz_free(*state, location);
    }
    assert_ok(frz_location_from_path(*state, "s3://b/k", &location, &err), &err);
    assert_string_equal(location, "s3://b/k");
    frz_free(*state, location);
}

/* known fault: deletes vanish where data files and delete files are spelled differently */
static void location__spellings_of_one_place_are_the_same(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"/p/x", "file:/p/x", true},
        {"/p/x", "file:///p/x", true},
        {"file:/p/x", "file:///p/x", true},
        {"/p/x", "/p/y", false},
        {"/p/x", "file://host/p/x", false},
        {"s3://b/k", "s3a://b/k", true},
        {"s3n://b/k", "s3a://b/k", true},
        {"s3://b/k", "S3://b/k", true},
        {"s3://b/k", "gs://b/k", false},
        {"s3://b/k", "s3://b//k", false},
        {"s3://b/a%20b", "s3://b/a b", false},
        {"hdfs://n/p", "hdfs://n/p", true},
        {"hdfs://n/p", "hdfs://m/p", false},
        {"/p/x/", "/p/x", false},
        {"./p/x", "p/x", true},
        {"././p", "p", true},
        {".p", "p", false},
        {"/./p", "/p", false},
        {"b/k", "s3://b/k", false},
        {"", "/", false},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(pairs); i++) {
        bool same = frz_location_same(frz_str_from(pairs[i].a), frz_str_from(pairs[i].b));
        if (same != pairs[i].same ||
            same != frz_location_same(frz_str_from(pairs[i].b), frz_str_from(pairs[i].a))) {
            fail_msg("%s, %s: expected %d", pairs[i].a, pairs[i].b, pairs[i].same);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(location__spellings_of_one_place_are_the_same),
        cmocka_unit_test(location__which_are_local_paths),
        cmocka_unit_test(location__what_a_scheme_is),
        TEST_WITH_ENV(location__from_a_path_of_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
