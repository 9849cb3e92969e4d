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

static frz_table *mapped_table(const frz_env *env, const char *location,
                               const frz_location_map *maps, size_t count)
{
    frz_error err = {0};
    frz_table *table = NULL;
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    json_t *document = fixture_json(fixture_document);
    opts.maps = maps;
    opts.map_count = count;
    fixture_set(document, "location", location);
    assert_ok(fixture_parse(env, document, &opts, &table, &err), &err);
    json_decref(document);
    return table;
}

/* known fault: the table says one spelling, its files another */
static void path__a_map_counts_for_every_spelling_of_its_place(void **state)
{
    static const char *const spellings[] = {"/w",       "/w/",       "file:/w",
                                            "file:/w/", "file:///w", "file:///w/"};
    static const char *const targets[] = {"/mnt", "/mnt/"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(spellings); i++) {
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(targets); k++) {
            const frz_location_map map = {spellings[i], targets[k]};
            frz_table *table = mapped_table(*state, "'file:///w/db/wide'", &map, 1);
            assert_access(table, "data/x", "/mnt/db/wide/data/x");
            assert_access(table, "file:/w/a//b", "/mnt/a//b");
            assert_access(table, "FILE:///w/a", "/mnt/a");
            assert_access(table, "file:///w", targets[0]);
            assert_access(table, "file:///wide/x", "file:///wide/x"); /* another folder */
            frz_table_unref(table);
        }
    }
    const frz_location_map map = {"s3a://b/lake", "file:///mnt/lake"};
    frz_table *table = mapped_table(*state, "'s3://b/lake/t'", &map, 1);
    assert_access(table, "data/x", "file:///mnt/lake/t/data/x");
    assert_access(table, "s3n://b/lake/y", "file:///mnt/lake/y");
    assert_access(table, "s3://b/lakes/y", "s3://b/lakes/y");
    frz_table_unref(table);
}

/* A document of version 2 at a location. */
static frz_table *older_table(const frz_env *env, const char *location)
{
    frz_error err = {0};
    frz_table *table = NULL;
    json_t *document = fixture_json(fixture_document);
    fixture_set(document, "format-version", "2");
    fixture_set(document, "location", location);
    fixture_set(document, "refs", NULL);
    fixture_set(document, "snapshots", NULL);
    fixture_set(document, "current-snapshot-id", NULL);
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    json_decref(document);
    return table;
}

static void assert_legacy(const frz_table *table, const char *recorded, const char *expected)
{
    frz_error err = {0};
    frz_arena arena;
    frz_str location;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_table_resolve_legacy(table, frz_str_from(recorded), &arena, &location, &err),
              &err);
    assert_int_equal(location.len, strlen(expected));
    assert_memory_equal(location.ptr, expected, location.len);
    frz_arena_reset(&arena);
}

/* spec: Paths in Metadata, paths produced prior to v4 */
static void path__before_version_4_paths_are_whole(void **state)
{
    frz_table *table = older_table(*state, "'/w/db/t'");
    assert_resolves(table, "/w/db/t/data/x", "file:///w/db/t/data/x");
    assert_resolves(table, "file:/w/x", "file:/w/x");
    assert_resolves(table, "data/persistent/x", "data/persistent/x"); /* of a lost folder */
    frz_table_unref(table);
    table = older_table(*state, "'hdfs://nn:8020/w/db/t'");
    assert_resolves(table, "/w/db/t/data/x", "hdfs://nn:8020/w/db/t/data/x");
    assert_resolves(table, "hdfs:///w/x", "hdfs://nn:8020/w/x");
    assert_resolves(table, "hdfs://other/w/x", "hdfs://other/w/x");
    assert_resolves(table, "s3:///w/x", "s3:///w/x");
    frz_table_unref(table);
}

/* An upgraded table goes on to read what older versions recorded. */
static void path__older_paths_under_version_4_are_not_relative(void **state)
{
    frz_table *table = fixture_table(*state, "location", "'hdfs://nn/w/db/t'");
    assert_resolves(table, "/data/x", "hdfs://nn/w/db/t//data/x");
    assert_legacy(table, "/data/x", "hdfs://nn/data/x");
    assert_legacy(table, "hdfs:///data/x", "hdfs://nn/data/x");
    assert_legacy(table, "s3://b/x", "s3://b/x");
    frz_table_unref(table);
    table = fixture_table(*state, "location", "'file:/w/db/t'");
    assert_legacy(table, "/w/x", "file:///w/x");
    frz_table_unref(table);
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
        TEST_WITH_ENV(path__a_map_counts_for_every_spelling_of_its_place),
        TEST_WITH_ENV(path__before_version_4_paths_are_whole),
        TEST_WITH_ENV(path__older_paths_under_version_4_are_not_relative),
        TEST_WITH_ENV(path__new_files_go_where_properties_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
