/*
 * Locations as recorded, as absolute, and where files are.
 */
#include "unit/meta/meta_fixture.h"

static void assert_resolves(const frz_table *table, const char *recorded, const char *expected)
{
    frz_error err = {0};
    char *location = NULL;
    assert_ok(frz_table_resolve(table, frz_str_from(recorded), &location, &err), &err);
    assert_string_equal(location, expected);
    frz_free(table->env, location);
}

static void path__relative_ones_are_joined_as_they_are(void **state)
{
    frz_table *table = fixture_table(*state, "location", "'s3://b/db/t//'");
    assert_resolves(table, "data/x.parquet", "s3://b/db/t/data/x.parquet");
    assert_resolves(table, "hdfs://n/x", "hdfs://n/x");
    assert_resolves(table, "/data/x", "s3://b/db/t//data/x");
    assert_resolves(table, "a/../b%20c", "s3://b/db/t/a/../b%20c");
    assert_resolves(table, "1a:b", "s3://b/db/t/1a:b"); /* schemes start with a letter */
    frz_table_unref(table);
}

static void assert_relative(const frz_table *table, const char *absolute, const char *expected)
{
    frz_str text = frz_table_relativize(table, frz_str_from(absolute));
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

static void path__files_below_the_table_are_recorded_relative(void **state)
{
    frz_table *table = fixture_table(*state, NULL, NULL);
    assert_relative(table, "file:///w/db/wide/data/x", "data/x");
    assert_relative(table, "file:///w/db/wider/x", "file:///w/db/wider/x");
    assert_relative(table, "file:///w/db/wide", "file:///w/db/wide");
    assert_relative(table, "file:///w/db/wide/", "file:///w/db/wide/");
    assert_relative(table, "file:///w/db/wide/a:b",
                    "file:///w/db/wide/a:b"); /* or it is a scheme */
    frz_table_unref(table);
}

static void path__a_table_without_location_takes_the_one_given(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_table *table = NULL;
    char *location = NULL;
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    json_t *document = fixture_json(fixture_document);
    fixture_set(document, "location", NULL);
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    assert_fails(frz_table_resolve(table, FRZ_STR("data/x"), &location, &err), &err, FRZ_E_ARGUMENT,
                 "does not say where the table is");
    frz_table_unref(table);
    opts.location = "/somewhere/t/";
    assert_ok(fixture_parse(env, document, &opts, &table, &err), &err);
    assert_resolves(table, "data/x", "file:///somewhere/t/data/x");
    frz_table_unref(table);
    json_decref(document);
}

static void assert_access(const frz_table *table, const char *recorded, const char *expected)
{
    frz_error err = {0};
    char *location = NULL;
    assert_ok(frz_table_resolve_access(table, frz_str_from(recorded), &location, &err), &err);
    assert_string_equal(location, expected);
    frz_free(table->env, location);
}

static void path__the_longest_map_wins(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_table *table = NULL;
    const frz_location_map maps[] = {
        {"file:///w/", "/mnt/w/"}, {"file:/w/db/wide/data/", "/fast/"}, {"s3://b/", "/s3/"}};
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    json_t *document = fixture_json(fixture_document);
    opts.maps = maps;
    opts.map_count = FRZ_ARRAY_COUNT(maps);
    assert_ok(fixture_parse(env, document, &opts, &table, &err), &err);
    assert_access(table, "metadata/r", "/mnt/w/db/wide/metadata/r");
    assert_access(table, "data/x", "/fast/x");
    assert_access(table, "file:/w/y", "/mnt/w/y");
    assert_access(table, "s3://b/k", "/s3/k");
    assert_access(table, "s3://c/k", "s3://c/k");
    frz_table_unref(table);
    json_decref(document);
}

static void path__new_files_go_where_properties_say(void **state)
{
    frz_error err = {0};
    char *location = NULL;
    frz_table *table = fixture_table(*state, "properties/write.data.path", "'s3://fast/d/'");
    assert_ok(frz_table_new_data_path(table, "x", &location, &err), &err);
    assert_string_equal(location, "s3://fast/d/x");
    frz_free(table->env, location);
    assert_ok(frz_table_new_metadata_path(table, "m", &location, &err), &err);
    assert_string_equal(location, "file:///w/db/wide/metadata/m");
    frz_free(table->env, location);
    frz_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(path__relative_ones_are_joined_as_they_are),
        TEST_WITH_ENV(path__files_below_the_table_are_recorded_relative),
        TEST_WITH_ENV(path__a_table_without_location_takes_the_one_given),
        TEST_WITH_ENV(path__the_longest_map_wins),
        TEST_WITH_ENV(path__new_files_go_where_properties_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
