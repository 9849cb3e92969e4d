/*
 * Documents of one format version become documents of a newer one.
 */
#include "unit/meta/meta_fixture.h"
#include "unit/test_alloc.h"

#define PREVIOUS "file:///w/db/old/metadata/00004-x.metadata.json"

static const char v1_document[] =
    "{'format-version': 1, 'location': '/w/db/old', 'last-updated-ms': 1000, 'last-column-id': 1,"
    " 'schema': {'type': 'struct', 'fields': ["
    "   {'id': 1, 'name': 'id', 'required': true, 'type': 'long', 'future': 1},"
    "   {'id': 2, 'name': 'day', 'required': false, 'type': 'date'}]},"
    " 'partition-spec': [{'name': 'd', 'transform': 'day', 'source-id': 2, 'future': 2}],"
    " 'current-snapshot-id': 8, 'future': {'kept': [1, 2.5]},"
    " 'snapshots': [{'snapshot-id': 7, 'timestamp-ms': 900, 'root-manifest': 'nothing yet',"
    "   'manifests': ['/w/db/old/metadata/m0.avro'], 'sequence-number': 3},"
    "  {'snapshot-id': 8, 'parent-snapshot-id': 7, 'timestamp-ms': 950, 'future': 3,"
    "   'manifest-list': 'file:/w/db/old/metadata/l.avro'}],"
    " 'metadata-log': [{'timestamp-ms': 800, 'metadata-file': '/w/db/old/metadata/0.json'}],"
    " 'statistics': [{'snapshot-id': 8, 'statistics-path': '/w/db/old/metadata/s.puffin'}]}";

static const char v3_document[] =
    "{'format-version': 3, 'table-uuid': 'u', 'location': 's3://b/t', 'last-sequence-number': 4,"
    " 'last-updated-ms': 1000, 'last-column-id': 1, 'current-schema-id': 0,"
    " 'schemas': [{'type': 'struct', 'schema-id': 0, 'fields': []}],"
    " 'partition-specs': [{'spec-id': 0, 'fields': []}], 'default-spec-id': 0,"
    " 'last-partition-id': 999, 'sort-orders': [{'order-id': 0, 'fields': []}],"
    " 'default-sort-order-id': 0, 'next-row-id': 5, 'current-snapshot-id': -1,"
    " 'snapshots': [{'snapshot-id': 9, 'sequence-number': 4, 'timestamp-ms': 100,"
    "   'manifest-list': 's3://b/t/metadata/l.avro', 'first-row-id': 3, 'added-rows': 7,"
    "   'summary': {'operation': 'append'}}]}";

static frz_table *table_of(const frz_env *env, const json_t *document)
{
    frz_error err = {0};
    frz_table *table = NULL;
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    return table;
}

/* The document as one of another version. */
static json_t *upgraded(const frz_env *env, const char *text, int32_t to)
{
    frz_error err = {0};
    json_t *json = NULL;
    json_t *document = fixture_json(text);
    frz_table *table = table_of(env, document);
    json_t *before = json_deep_copy(table->metadata.json);
    assert_ok(frz_metadata_json_upgrade(table, to, PREVIOUS, &json, &err), &err);
    assert_true(json_equal(before, table->metadata.json)); /* the old version is as it was */
    assert_int_equal(json_integer_value(json_object_get(json, "format-version")), to);
    json_decref(before);
    json_decref(document);
    frz_table_unref(table);
    return json;
}

static const json_t *at(const json_t *json, const char *path)
{
    char part[64];
    while (*path != '\0') {
        size_t len = strcspn(path, "/");
        memcpy(part, path, len);
        part[len] = '\0';
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(part))
                                   : json_object_get(json, part);
        path += len + (path[len] == '/');
    }
    return json;
}

static void assert_int_at(const json_t *json, const char *path, int64_t expected)
{
    if (!json_is_integer(at(json, path)) || json_integer_value(at(json, path)) != expected) {
        fail_msg("%s: expected %lld", path, (long long)expected);
    }
}

static void assert_str_at(const json_t *json, const char *path, const char *expected)
{
    assert_true(json_is_string(at(json, path)));
    assert_string_equal(json_string_value(at(json, path)), expected);
}

static void upgrade__version_1_gets_lists_and_ids(void **state)
{
    for (int32_t to = 2; to <= 4; to++) {
        json_t *json = upgraded(*state, v1_document, to);
        assert_null(at(json, "schema"));
        assert_null(at(json, "partition-spec"));
        assert_int_at(json, "schemas/0/schema-id", 0);
        assert_int_at(json, "current-schema-id", 0);
        assert_int_at(json, "partition-specs/0/spec-id", 0);
        assert_int_at(json, "partition-specs/0/fields/0/field-id", 1000);
        assert_int_at(json, "default-spec-id", 0);
        assert_int_at(json, "last-partition-id", 1000);
        assert_int_at(json, "sort-orders/0/order-id", 0);
        assert_int_at(json, "default-sort-order-id", 0);
        assert_int_at(json, "last-sequence-number", 0);
        assert_int_at(json, "last-column-id", 2); /* the document said 1 */
        assert_int_equal(json_string_length(at(json, "table-uuid")), 36);
        assert_null(at(json, "snapshots/0/sequence-number")); /* meant nothing in version 1 */
        frz_table *table = table_of(*state, json);
        assert_int_equal(table->metadata.snapshot_count, 2);
        assert_int_equal(table->metadata.snapshots[0].manifest_count, 1);
        assert_int_equal(table->metadata.snapshots[1].sequence_number, 0);
        frz_table_unref(table);
        json_decref(json);
    }
}

static void upgrade__what_is_not_known_stays(void **state)
{
    json_t *json = upgraded(*state, v1_document, 4);
    assert_int_at(json, "future/kept/0", 1);
    assert_int_at(json, "schemas/0/fields/0/future", 1);
    assert_int_at(json, "partition-specs/0/fields/0/future", 2);
    assert_int_at(json, "snapshots/1/future", 3);
    json_decref(json);
}

static void upgrade__the_version_before_is_logged(void **state)
{
    for (int32_t to = 2; to <= 4; to++) {
        json_t *json = upgraded(*state, v1_document, to);
        assert_int_at(json, "metadata-log/1/timestamp-ms", 1000);
        assert_str_at(json, "metadata-log/1/metadata-file",
                      to == 4 ? "metadata/00004-x.metadata.json" : PREVIOUS);
        assert_true(json_integer_value(at(json, "last-updated-ms")) > 1000);
        json_decref(json);
    }
}

static void upgrade__locations_get_their_scheme_in_version_4(void **state)
{
    json_t *json = upgraded(*state, v1_document, 3);
    assert_str_at(json, "location", "/w/db/old");
    assert_str_at(json, "snapshots/0/manifests/0", "/w/db/old/metadata/m0.avro");
    json_decref(json);
    json = upgraded(*state, v1_document, 4);
    assert_str_at(json, "location", "file:///w/db/old");
    assert_str_at(json, "snapshots/0/manifests/0", "file:///w/db/old/metadata/m0.avro");
    assert_str_at(json, "snapshots/1/manifest-list", "file:/w/db/old/metadata/l.avro");
    assert_str_at(json, "metadata-log/0/metadata-file", "file:///w/db/old/metadata/0.json");
    assert_str_at(json, "statistics/0/statistics-path", "file:///w/db/old/metadata/s.puffin");
    assert_null(at(json, "snapshots/0/root-manifest")); /* would mean something now */
    json_decref(json);
}

static void upgrade__row_ids_begin_behind_those_that_were_given(void **state)
{
    json_t *json = upgraded(*state, v1_document, 2);
    assert_null(at(json, "next-row-id"));
    json_decref(json);
    json = upgraded(*state, v1_document, 3);
    assert_int_at(json, "next-row-id", 0);
    json_decref(json);
    json = upgraded(*state, v3_document, 4);
    assert_int_at(json, "next-row-id", 10); /* the document said 5 */
    assert_null(at(json, "current-snapshot-id"));
    json_decref(json);
}

static void upgrade__is_one_way(void **state)
{
    static const int32_t wrong[] = {INT32_MIN, 0, 1, 2, 3, 5, INT32_MAX};
    json_t *document = fixture_json(v3_document);
    frz_table *table = table_of(*state, document);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wrong); i++) {
        frz_error err = {0};
        json_t *json = NULL;
        assert_fails(frz_metadata_json_upgrade(table, wrong[i], PREVIOUS, &json, &err), &err,
                     FRZ_E_ARGUMENT, "version");
        assert_null(json);
    }
    frz_table_unref(table);
    json_decref(document);
}

static void upgrade__relative_paths_have_no_place_in_version_4(void **state)
{
    static const char *const faults[][2] = {
        {"location", "'data/t'"},
        {"snapshots/0/manifest-list", "'data/t/l.avro'"},
        {"metadata-log", "[{'timestamp-ms': 5, 'metadata-file': 'x.json'}]"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(faults); i++) {
        frz_error err = {0};
        json_t *json = NULL;
        json_t *document = fixture_json(v3_document);
        fixture_set(document, faults[i][0], faults[i][1]);
        frz_table *table = table_of(*state, document);
        assert_fails(frz_metadata_json_upgrade(table, 4, PREVIOUS, &json, &err), &err,
                     FRZ_E_UNSUPPORTED, "upgrading a table with the relative");
        frz_table_unref(table);
        json_decref(document);
    }
}

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    json_t *json = NULL;
    json_t *document = fixture_json(v1_document);
    FRZ_TRY(fixture_parse(env, document, NULL, &table, err));
    FRZ_TRY(frz_metadata_json_upgrade(table, 4, PREVIOUS, &json, err));
out:
    json_decref(json);
    json_decref(document);
    frz_table_unref(table);
    return rc;
}

static void upgrade__survives_every_failing_allocation(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 4);
}

/* The JSON library's allocator; it takes what it cannot have for nothing, so nothing may be lost.
 */
static long json_allocations, json_failing;

static void *json_alloc(size_t size)
{
    return ++json_allocations == json_failing ? NULL : malloc(size);
}

static void upgrade__loses_nothing_when_the_json_library_has_no_memory(void **state)
{
    const frz_env *env = *state;
    json_t *document = fixture_json(v1_document);
    json_t *wanted = upgraded(env, v1_document, 4);
    frz_table *table = table_of(env, document);
    frz_code rc = FRZ_E_NOMEM;
    json_malloc_t get;
    json_free_t give_back;
    (void)json_object_del(wanted, "table-uuid");
    (void)json_object_del(wanted, "last-updated-ms");
    json_get_alloc_funcs(&get, &give_back);
    json_set_alloc_funcs(json_alloc, give_back);
    for (long n = 1; rc != FRZ_OK; n++) {
        frz_error err = {0};
        json_t *json = NULL;
        json_allocations = 0;
        json_failing = n;
        rc = frz_metadata_json_upgrade(table, 4, PREVIOUS, &json, &err);
        json_failing = 0;
        if (rc == FRZ_OK) {
            (void)json_object_del(json, "table-uuid");
            (void)json_object_del(json, "last-updated-ms");
            assert_true(json_equal(json, wanted));
            assert_true(json_allocations < n);
        } else {
            assert_int_equal(rc, FRZ_E_NOMEM);
        }
        json_decref(json);
    }
    json_set_alloc_funcs(get, give_back);
    frz_table_unref(table);
    json_decref(wanted);
    json_decref(document);
}

/* ---- tables of others ---- */

/* Every table becomes one of version 4 that parses, or says why not. */
static void corpus__tables_of_others_are_upgraded(void **state)
{
    char root[256], path[1024], line[2048];
    int done = 0, refused = 0;
    if (fixture_corpus("", root, sizeof root) == NULL) {
        skip();
    }
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list) != NULL) {
        frz_error err = {0};
        frz_table *table = NULL;
        json_t *json = NULL;
        char *rest = line;
        const char *dir = strsep(&rest, "\t");
        const char *file = strsep(&rest, "\t");
        snprintf(path, sizeof path, "%s/%s/metadata/%s", root, dir, file);
        if (strcmp(dir, "table_dir") == 0) {
            continue;
        }
        assert_ok(frz_table_open(*state, path, NULL, &table, &err), &err);
        frz_code rc = frz_metadata_json_upgrade(table, 4, path, &json, &err);
        if (rc == FRZ_OK) {
            frz_table_unref(table_of(*state, json));
            done++;
        } else {
            assert_fails(rc, &err, FRZ_E_UNSUPPORTED, "upgrading a table with the relative");
            refused++;
        }
        json_decref(json);
        frz_table_unref(table);
    }
    fclose(list);
    assert_true(done > 40 && refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(upgrade__version_1_gets_lists_and_ids),
        TEST_WITH_ENV(upgrade__what_is_not_known_stays),
        TEST_WITH_ENV(upgrade__the_version_before_is_logged),
        TEST_WITH_ENV(upgrade__locations_get_their_scheme_in_version_4),
        TEST_WITH_ENV(upgrade__row_ids_begin_behind_those_that_were_given),
        TEST_WITH_ENV(upgrade__is_one_way),
        TEST_WITH_ENV(upgrade__relative_paths_have_no_place_in_version_4),
        cmocka_unit_test(upgrade__survives_every_failing_allocation),
        TEST_WITH_ENV(upgrade__loses_nothing_when_the_json_library_has_no_memory),
        TEST_WITH_ENV(corpus__tables_of_others_are_upgraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
