/*
 * Metadata JSON: reading, refusing, changing, writing.
 */
#include "unit/meta/meta_fixture.h"

#include "base/base_json.h"

/* ---- reading ---- */

static void json__becomes_the_model(void **state)
{
    const frz_env *env = *state;
    frz_table *table = fixture_table(env, NULL, NULL);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(m->format_version, 4);
    assert_int_equal(m->last_column_id, 6);
    assert_int_equal(m->next_row_id, 9007199254740993); /* beyond what a double holds */
    assert_int_equal(m->schema_count, 2);
    assert_int_equal(frz_metadata_current_schema(m)->type->field_count, 4);
    assert_int_equal(m->snapshot_count, 2);
    const frz_snapshot *current = frz_metadata_current_snapshot(m);
    assert_int_equal(current->snapshot_id, INT64_MAX);
    assert_int_equal(current->parent_id, 11);
    assert_true(frz_str_equal(current->root_manifest, FRZ_STR("metadata/root-2.parquet")));
    assert_null(current->manifest_list.ptr);
    assert_int_equal(current->summary_count, 2);
    assert_true(frz_str_equal(frz_metadata_property(m, "owner", NULL), FRZ_STR("me")));
    assert_true(frz_str_equal(frz_metadata_property(m, "absent", "no"), FRZ_STR("no")));
    assert_string_equal(table->metadata_location, FIXTURE_LOCATION);
    assert_string_equal(table->base, "file:///w/db/wide");
    frz_table_unref(frz_table_ref(table));
    frz_table_unref(table);
}

static void json__numbers_in_properties_are_checked(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    int64_t value = 0;
    frz_table *table = fixture_table(env, NULL, NULL);
    const frz_metadata *m = &table->metadata;
    assert_ok(frz_metadata_property_i64(m, "commit.retry.num-retries", 1, &value, &err), &err);
    assert_int_equal(value, 7);
    assert_ok(frz_metadata_property_i64(m, "absent", 5, &value, &err), &err);
    assert_int_equal(value, 5);
    assert_fails(frz_metadata_property_i64(m, "owner", 5, &value, &err), &err, FRZ_E_ARGUMENT,
                 "property owner: expected a whole number, found \"me\"");
    frz_table_unref(table);
}

static void json__a_named_snapshot_is_read_in_its_own_schema(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_table *table = fixture_table(env, NULL, NULL);
    assert_ok(frz_table_snapshot(table, 11, &snapshot, &schema, &err), &err);
    assert_int_equal(schema->schema_id, 0);
    assert_ok(frz_table_snapshot(table, 0, &snapshot, &schema, &err), &err);
    assert_int_equal(snapshot->snapshot_id, INT64_MAX);
    assert_int_equal(schema->schema_id, 1);
    assert_fails(frz_table_snapshot(table, 12, &snapshot, &schema, &err), &err, FRZ_E_NOT_FOUND,
                 "no snapshot 12");
    frz_table_unref(table);
}

static void json__no_snapshot_is_null_or_absent_or_minus_one(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    static const char *const none[] = {"null", "-1", NULL};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(none); i++) {
        int64_t id = 0;
        frz_table *table = NULL;
        json_t *document = fixture_json(fixture_document);
        fixture_set(document, "refs", NULL);
        fixture_set(document, "current-snapshot-id", none[i]);
        assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
        assert_null(frz_metadata_current_snapshot(&table->metadata));
        assert_fails(frz_table_current_snapshot(table, &id, &err), &err, FRZ_E_NOT_FOUND,
                     "no snapshot");
        frz_table_unref(table);
        json_decref(document);
    }
}

/* ---- refusing ---- */

static const struct {
    const char *path, *value; /* NULL: removed */
    frz_code code;
    const char *phrase;
} faults[] = {
    {"format-version", "'4'", FRZ_E_CORRUPT,
     "metadata " FIXTURE_LOCATION ": format-version: expected an integer, found a string"},
    {"format-version", NULL, FRZ_E_CORRUPT, "format-version: expected an integer, found nothing"},
    {"format-version", "0", FRZ_E_CORRUPT, "expected 1 or more, found 0"},
    {"format-version", "3", FRZ_E_CORRUPT, "snapshots[0].manifest-list: expected a string"},
    {"format-version", "5", FRZ_E_UNSUPPORTED,
     "unsupported: format version 5 (this library reads versions 1 to 4)"},
    {"table-uuid", "7", FRZ_E_CORRUPT, "table-uuid: expected a string, found an integer"},
    {"location", "'/w/db/wide'", FRZ_E_CORRUPT,
     "location: expected an absolute location with a URI scheme, found \"/w/db/wide\""},
    {"location", "[]", FRZ_E_CORRUPT, "location: expected a string, found a list"},
    {"last-sequence-number", "2.0", FRZ_E_CORRUPT, "found a number with a fraction or exponent"},
    {"last-sequence-number", "-1", FRZ_E_CORRUPT, "expected no negative numbers"},
    {"last-column-id", "4294967297", FRZ_E_CORRUPT, "expected an integer of 32 bits"},
    {"next-row-id", "null", FRZ_E_CORRUPT, "next-row-id: expected an integer, found null"},
    {"schemas", "{}", FRZ_E_CORRUPT, "schemas: expected a list, found an object"},
    {"schemas", "3", FRZ_E_CORRUPT, "schemas: expected a list, found an integer"},
    {"schemas/0/schema-id", "1", FRZ_E_CORRUPT, "schemas: two of them have the id 1"},
    {"current-schema-id", "7", FRZ_E_CORRUPT, "current-schema-id: there is no schema 7"},
    {"partition-specs", "null", FRZ_E_CORRUPT, "partition-specs: expected a list, found null"},
    {"default-spec-id", "true", FRZ_E_CORRUPT,
     "default-spec-id: expected an integer, found a boolean"},
    {"sort-orders", "0", FRZ_E_CORRUPT, "sort-orders: expected a list, found an integer"},
    {"properties", "[]", FRZ_E_CORRUPT, "properties: expected an object, found a list"},
    {"properties/owner", "1", FRZ_E_CORRUPT,
     "properties.owner: expected a string, found an integer"},
    {"snapshots", "5", FRZ_E_CORRUPT, "snapshots: expected a list, found an integer"},
    {"snapshots/0", "5", FRZ_E_CORRUPT, "snapshots[0]: expected an object, found an integer"},
    {"snapshots/1/sequence-number", "'2'", FRZ_E_CORRUPT,
     "snapshots[1].sequence-number: expected an integer, found a string"},
    {"snapshots/1/sequence-number", "3", FRZ_E_CORRUPT,
     "snapshots[1].sequence-number: expected 0 to last-sequence-number 2, found 3"},
    {"snapshots/1/snapshot-id", "11", FRZ_E_CORRUPT, "two of them have the id 11"},
    {"snapshots/0/snapshot-id", "0", FRZ_E_CORRUPT, "expected a positive number, found 0"},
    {"snapshots/0/timestamp-ms", NULL, FRZ_E_CORRUPT,
     "snapshots[0].timestamp-ms: expected an integer, found nothing"},
    {"snapshots/0/summary", NULL, FRZ_E_CORRUPT, "snapshots[0].summary.operation"},
    {"snapshots/0/first-row-id", NULL, FRZ_E_CORRUPT, "snapshots[0].first-row-id"},
    {"snapshots/0/added-rows", "-2", FRZ_E_CORRUPT, "expected no negative numbers"},
    {"snapshots/0/root-manifest", NULL, FRZ_E_CORRUPT,
     "snapshots[0].root-manifest, manifest-list: expected exactly one of them, found neither"},
    {"snapshots/0/root-manifest", "''", FRZ_E_CORRUPT, "found an empty string"},
    {"snapshots/0/manifest-list", "'metadata/list.avro'", FRZ_E_CORRUPT, "found both"},
    {"current-snapshot-id", "12", FRZ_E_CORRUPT, "current-snapshot-id: there is no snapshot 12"},
    {"current-snapshot-id", "11", FRZ_E_CORRUPT, "is not current-snapshot-id 11"},
    {"refs", "[]", FRZ_E_CORRUPT, "refs: expected an object, found a list"},
    {"refs/main", "1", FRZ_E_CORRUPT, "refs.main: expected an object, found an integer"},
    {"refs/main/type", "'Tag'", FRZ_E_CORRUPT, "refs.main.type: expected branch, found tag"},
    {"refs/main/type", "'twig'", FRZ_E_CORRUPT,
     "refs.main.type: expected branch or tag, found \"twig\""},
    {"refs/old", "{'snapshot-id': 13, 'type': 'tag'}", FRZ_E_CORRUPT,
     "refs.old.snapshot-id: there is no snapshot 13"},
    {"default-spec-id", "1", FRZ_E_CORRUPT, "default-spec-id: there is no partition spec 1"},
    {"partition-specs/0/fields", "[3]", FRZ_E_CORRUPT,
     "partition-specs[0].fields[0]: expected an object, found an integer"},
    {"partition-specs/0/fields", "[{'name': 'a', 'transform': 'day', 'field-id': 1000}]",
     FRZ_E_CORRUPT, "partition-specs[0].fields[0].source-id: expected an integer, found nothing"},
    {"partition-specs/0/fields",
     "[{'name': 'a', 'transform': 'zorder', 'source-ids': [], 'field-id': 1000}]", FRZ_E_CORRUPT,
     "partition-specs[0].fields[0].source-ids: expected field ids, found none"},
    {"partition-specs/0/fields",
     "[{'name': 'a', 'transform': 'day', 'source-id': 1, 'field-id': 1000},"
     " {'name': 'b', 'transform': 'day', 'source-id': 2}]",
     FRZ_E_CORRUPT, "expected all partition fields of a spec or none to have one"},
    {"partition-specs/0/fields",
     "[{'name': 'a', 'transform': 'day', 'source-id': 1, 'field-id': 1000},"
     " {'name': 'b', 'transform': 'day', 'source-id': 2, 'field-id': 1000}]",
     FRZ_E_CORRUPT, "partition-specs[0].fields: two of them have the id 1000"},
    {"partition-specs", "[{'spec-id': 0, 'fields': []}, {'spec-id': 0, 'fields': []}]",
     FRZ_E_CORRUPT, "partition-specs: two of them have the id 0"},
    {"default-sort-order-id", "3", FRZ_E_CORRUPT,
     "default-sort-order-id: there is no sort order 3"},
    {"sort-orders",
     "[{'order-id': 1, 'fields': [{'transform': 'identity', 'source-id': 1,"
     " 'direction': 'up', 'null-order': 'nulls-first'}]}]",
     FRZ_E_CORRUPT, "sort-orders[0].fields[0].direction: expected asc or desc, found \"up\""},
    {"snapshot-log", "[{'snapshot-id': 11}]", FRZ_E_CORRUPT,
     "snapshot-log[0].timestamp-ms: expected an integer, found nothing"},
    {"metadata-log", "[7]", FRZ_E_CORRUPT, "metadata-log[0]: expected an object"},
};

static void json__faults_name_path_expected_and_found(void **state)
{
    const frz_env *env = *state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(faults); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
        json_t *document = fixture_json(fixture_document);
        fixture_set(document, faults[i].path, faults[i].value);
        frz_code rc = fixture_parse(env, document, NULL, &table, &err);
        assert_fails(rc, &err, faults[i].code, faults[i].phrase);
        assert_null(table);
        json_decref(document);
    }
}

static void json__text_that_is_no_document_is_refused(void **state)
{
    const frz_env *env = *state;
    static const struct {
        const char *text, *phrase;
    } texts[] = {
        {"", "not JSON: line 1"},
        {"[1]", "expected an object, found a list"},
        {"{\"a\": 1,", "not JSON: line 1, column 9"},
        {"{\"format-version\": 4, \"format-version\": 4}", "expected each key once"},
        {"{\"next-row-id\": 99999999999999999999}", "expected an integer of 64 bits"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
        assert_fails(frz_table_parse(env, "x", frz_str_from(texts[i].text), NULL, &table, &err),
                     &err, FRZ_E_CORRUPT, texts[i].phrase);
    }
}

/* ---- changing and writing ---- */

static const frz_property_kv summary[] = {{{"operation", 9}, {"overwrite", 9}},
                                          {{"total-records", 13}, {"9", 1}}};

static frz_snapshot new_snapshot(void)
{
    return (frz_snapshot){.snapshot_id = 4611686018427387905,
                          .parent_id = INT64_MAX,
                          .sequence_number = 3,
                          .root_manifest = FRZ_STR("metadata/root-3.parquet"),
                          .schema_id = 1,
                          .first_row_id = 9007199254740993,
                          .added_rows = 4,
                          .summary = summary,
                          .summary_count = FRZ_ARRAY_COUNT(summary)};
}

static void assert_int_at(const json_t *json, const char *key, int64_t expected)
{
    assert_true(json_is_integer(json_object_get(json, key)));
    assert_int_equal(json_integer_value(json_object_get(json, key)), expected);
}

static void change__a_snapshot_becomes_current_and_everything_unknown_stays(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    json_t *base = fixture_json(fixture_document);
    json_t *before = json_deep_copy(base);
    json_t *json = NULL;
    frz_snapshot snapshot = new_snapshot();
    frz_metadata_change change = {.snapshot = &snapshot, .next_row_id = 9007199254740997};
    assert_ok(frz_metadata_json_change(env, base, FIXTURE_LOCATION, &change, &json, &err), &err);

    assert_true(json_equal(base, before)); /* the old version is as it was */
    assert_true(json_equal(json_object_get(json, "future"), json_object_get(base, "future")));
    assert_int_at(json, "current-snapshot-id", 4611686018427387905);
    assert_int_at(json, "last-sequence-number", 3);
    assert_int_at(json, "next-row-id", 9007199254740997);
    assert_int_equal(json_array_size(json_object_get(json, "snapshots")), 3);
    const json_t *branch = json_object_get(json_object_get(json, "refs"), "main");
    assert_int_at(branch, "snapshot-id", 4611686018427387905);
    assert_int_at(branch, "max-ref-age-ms", 5);
    const json_t *log = json_array_get(json_object_get(json, "metadata-log"), 0);
    assert_int_at(log, "timestamp-ms", 1000);
    assert_string_equal(json_string_value(json_object_get(log, "metadata-file")),
                        "metadata/00001-x.metadata.json"); /* relative to the table */

    frz_table *table = NULL;
    assert_ok(fixture_parse(env, json, NULL, &table, &err), &err);
    const frz_snapshot *current = frz_metadata_current_snapshot(&table->metadata);
    assert_int_equal(current->first_row_id, 9007199254740993);
    assert_int_equal(current->added_rows, 4);
    frz_table_unref(table);
    json_decref(json);
    json_decref(before);
    json_decref(base);
}

static void change__times_rise_even_if_the_clock_does_not(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    json_t *base = fixture_json(fixture_document);
    json_t *json = NULL;
    frz_snapshot snapshot = new_snapshot();
    frz_metadata_change change = {.snapshot = &snapshot, .next_row_id = 9007199254740997};
    fixture_set(base, "last-updated-ms", "4102444800000"); /* the year 2100 */
    snapshot.timestamp_ms = 5;
    assert_ok(frz_metadata_json_change(env, base, FIXTURE_LOCATION, &change, &json, &err), &err);
    assert_int_at(json, "last-updated-ms", 4102444800001);
    const json_t *made = json_array_get(json_object_get(json, "snapshots"), 2);
    assert_int_at(made, "timestamp-ms", 4102444800001);
    json_decref(json);
    json_decref(base);
}

static void change__a_schema_gets_the_next_id_and_the_snapshot_names_it(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_table *table = fixture_table(env, NULL, NULL);
    json_t *json = NULL;
    frz_snapshot snapshot = new_snapshot();
    frz_metadata_change change = {.snapshot = &snapshot,
                                  .next_row_id = 9007199254740997,
                                  .schema = table->metadata.schemas[0],
                                  .last_column_id = 8};
    assert_ok(
        frz_metadata_json_change(env, table->metadata.json, FIXTURE_LOCATION, &change, &json, &err),
        &err);
    assert_int_at(json, "current-schema-id", 2);
    assert_int_at(json, "last-column-id", 8);
    assert_int_at(json_array_get(json_object_get(json, "schemas"), 2), "schema-id", 2);
    assert_int_at(json_array_get(json_object_get(json, "snapshots"), 2), "schema-id", 2);
    json_decref(json);
    frz_table_unref(table);
}

static void change__the_metadata_log_is_capped(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    json_t *json = fixture_json(fixture_document);
    const frz_property_kv cap = {FRZ_STR("write.metadata.previous-versions-max"), FRZ_STR("3")};
    frz_metadata_change change = {.set_properties = &cap, .set_property_count = 1};
    for (int i = 0; i < 6; i++) {
        char previous[64];
        json_t *next = NULL;
        snprintf(previous, sizeof previous, "s3://elsewhere/%d.metadata.json", i);
        assert_ok(frz_metadata_json_change(env, json, previous, &change, &next, &err), &err);
        json_decref(json);
        json = next;
    }
    const json_t *log = json_object_get(json, "metadata-log");
    assert_int_equal(json_array_size(log), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(log, 0), "metadata-file")),
                        "s3://elsewhere/3.metadata.json");
    json_decref(json);
}

static void change__text_that_json_cannot_hold_is_refused(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    json_t *base = fixture_json(fixture_document);
    json_t *json = NULL;
    const frz_property_kv bad = {FRZ_STR("k"), FRZ_STR("\xFF")};
    frz_metadata_change change = {.set_properties = &bad, .set_property_count = 1};
    assert_fails(frz_metadata_json_change(env, base, NULL, &change, &json, &err), &err,
                 FRZ_E_ARGUMENT, "is not UTF-8 text");
    assert_null(json);
    json_decref(base);
}

/* ---- golden bytes ---- */

static int64_t fixed_time(void *ctx)
{
    (void)ctx;
    return 1793000000000;
}

/* Bytes that count up, so that uuids differ from each other. */
static frz_code fixed_random(void *ctx, void *buf, size_t len)
{
    uint8_t *next = ctx;
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)buf)[i] = (*next)++;
    }
    return FRZ_OK;
}

/* Compare with a file of tests/golden; FRAZIL_WRITE_GOLDEN rewrites it. */
static void assert_golden(const char *name, frz_str text)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/metadata_json/%s", name);
    if (getenv("FRAZIL_WRITE_GOLDEN") != NULL) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_int_equal(fwrite(text.ptr, 1, text.len, out), text.len);
        fclose(out);
    }
    static char expected[16384];
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t len = fread(expected, 1, sizeof expected, in);
    fclose(in);
    if (len != text.len || memcmp(expected, text.ptr, len) != 0) {
        fail_msg("%s differs: %.*s", path, FRZ_STR_ARG(text));
    }
}

static void golden__new_table_and_first_snapshot(void **state)
{
    frz_error err = {0};
    frz_env *env = NULL;
    uint8_t next = 0;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    opts.now_ms = fixed_time;
    opts.random_bytes = fixed_random;
    opts.clock_ctx = &next;
    assert_ok(frz_env_new(&opts, &env, &err), &err);
    frz_table *sample = fixture_table(env, NULL, NULL);
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    json_t *made = NULL, *changed = NULL;
    const frz_property_kv properties[] = {{FRZ_STR("write.durability"), FRZ_STR("none")}};
    const frz_new_table table = {.location = FRZ_STR("file:///w/db/wide"),
                                 .schema = frz_metadata_current_schema(&sample->metadata),
                                 .last_column_id = 6,
                                 .properties = properties,
                                 .property_count = 1};
    assert_ok(frz_metadata_json_new(env, &table, &made, &err), &err);
    assert_ok(frz_json_dump(made, &text, &err), &err);
    assert_golden("new.metadata.json", frz_buf_view(&text));

    frz_snapshot snapshot = new_snapshot();
    snapshot.parent_id = 0;
    snapshot.sequence_number = 1;
    snapshot.first_row_id = 0;
    frz_metadata_change change = {.snapshot = &snapshot, .next_row_id = 4};
    assert_ok(frz_metadata_json_change(env, made, NULL, &change, &changed, &err), &err);
    frz_buf_clear(&text);
    assert_ok(frz_json_dump(changed, &text, &err), &err);
    assert_golden("first-snapshot.metadata.json", frz_buf_view(&text));
    json_decref(made);
    json_decref(changed);
    frz_buf_reset(&text);
    frz_table_unref(sample);
    void *teardown = env;
    assert_int_equal(test_env_teardown(&teardown), 0);
    (void)state;
}

static void file__is_written_next_to_its_kin_and_reads_back(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    char folder[64] = "/tmp/frazil-meta-XXXXXX", location[96], command[96];
    assert_non_null(mkdtemp(folder));
    snprintf(location, sizeof location, "'file://%s'", folder);
    frz_table *table = fixture_table(env, "location", location);
    char *path = NULL;
    int64_t bytes = 0;
    assert_ok(frz_metadata_write(table, table->metadata.json, 7, false, &path, &bytes, &err), &err);
    assert_non_null(strstr(path, "/metadata/00007-"));
    assert_int_equal(frz_metadata_version_of(path), 7);
    frz_table *again = NULL;
    assert_ok(frz_table_open(env, path + strlen("file://"), NULL, &again, &err), &err);
    assert_true(json_equal(again->metadata.json, table->metadata.json));
    assert_string_equal(again->metadata_location, path);
    uint64_t size = 0;
    assert_ok(frz_file_stat(env, path, &size, &err), &err);
    assert_int_equal(size, bytes);
    frz_free(env, path);
    frz_table_unref(again);
    frz_table_unref(table);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void file__version_is_in_its_name(void **state)
{
    (void)state;
    assert_int_equal(frz_metadata_version_of("file:///t/metadata/00012-u-1.metadata.json"), 12);
    assert_int_equal(frz_metadata_version_of("00003-a.gz.metadata.json"), 3);
    assert_int_equal(frz_metadata_version_of("/t/v5.metadata.json"), 5);
    assert_int_equal(frz_metadata_version_of("/t/metadata.json"), -1);
    assert_int_equal(frz_metadata_version_of("/t/12"), -1);
}

static void file__that_is_missing_is_not_found(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_table *table = NULL;
    assert_fails(frz_table_open(env, "/nowhere/x.metadata.json", NULL, &table, &err), &err,
                 FRZ_E_NOT_FOUND, "/nowhere/x.metadata.json");
    assert_fails(frz_table_open(env, "", NULL, &table, &err), &err, FRZ_E_ARGUMENT, "no metadata");
}

/* ---- tables of others ---- */

static bool is_json_fault(const char *dir)
{
    static const char *const names[] = {
        "invalid/format_version_5", "invalid/no_root_manifest", "invalid/relative_table_location",
        "invalid/both_manifest_list_and_root", "invalid/unknown_current_snapshot"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (strcmp(dir, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void corpus__tables_of_others_are_parsed_or_refused(void **state)
{
    const frz_env *env = *state;
    char root[256], path[512];
    fixture_corpus_table entry;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        skip();
    }
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, &entry)) {
        frz_error err = {0};
        frz_table *table = NULL;
        frz_code rc = fixture_corpus_open(env, root, &entry, &table, &err);
        if (is_json_fault(entry.dir)) {
            assert_true(rc == FRZ_E_CORRUPT || rc == FRZ_E_UNSUPPORTED);
            assert_null(table);
        } else if (rc != FRZ_OK) {
            char text[1024];
            frz_error_format(&err, text, sizeof text);
            fail_msg("%s: %s", entry.dir, text);
        }
        frz_table_unref(table);
    }
    fclose(list);
}

/* Every table of a list that has the folder and the metadata file in its first two columns. */
static void assert_all_parse(const frz_env *env, const char *root)
{
    char path[1024], line[2048];
    int count = 0;
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list) != NULL) {
        frz_error err = {0};
        frz_table *table = NULL;
        char *rest = line;
        const char *dir = strsep(&rest, "\t");
        const char *file = strsep(&rest, "\t");
        if (count++ == 0) {
            continue; /* names of the columns */
        }
        snprintf(path, sizeof path, "%s/%s/metadata/%s", root, dir, file);
        assert_ok(frz_table_open(env, path, NULL, &table, &err), &err);
        frz_table_unref(table);
    }
    assert_true(count > 50);
    fclose(list);
}

static void corpus__tables_of_every_version_are_parsed(void **state)
{
    char root[256];
    if (fixture_corpus("", root, sizeof root) == NULL) {
        skip();
    }
    assert_all_parse(*state, root);
    assert_non_null(fixture_corpus("iceberg-engines", root, sizeof root));
    assert_all_parse(*state, root);
}

/* What other projects hold their readers to; some of them ask for more than the specification. */
static const struct {
    const char *file;
    frz_code code;
    const char *phrase;
} samples[] = {
    {"iceberg-java/metadata/TableMetadataV1Valid.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataV2Valid.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataV2ValidMinimal.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataV3ValidMinimal.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataStatisticsFiles.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataPartitionStatisticsFiles.json", FRZ_OK, NULL},
    {"iceberg-java/metadata/TableMetadataUnsupportedVersion.json", FRZ_E_UNSUPPORTED,
     "format version 42"},
    {"iceberg-java/metadata/TableMetadataV1MissingSchemaType.json", FRZ_E_CORRUPT, "schema.type"},
    {"iceberg-java/metadata/TableMetadataV2CurrentSchemaNotFound.json", FRZ_E_CORRUPT,
     "current-schema-id: there is no schema 2"},
    {"iceberg-java/metadata/TableMetadataV2MissingLastPartitionId.json", FRZ_E_CORRUPT,
     "last-partition-id"},
    {"iceberg-java/metadata/TableMetadataV2MissingPartitionSpecs.json", FRZ_E_CORRUPT,
     "partition-specs"},
    {"iceberg-java/metadata/TableMetadataV2MissingSchemas.json", FRZ_E_CORRUPT, "schemas"},
    {"iceberg-java/metadata/TableMetadataV2MissingSortOrder.json", FRZ_E_CORRUPT, "sort-orders"},
    {"iceberg-rust/table_metadata/TableMetadataV1Compat.json", FRZ_OK, NULL},
    {"iceberg-rust/table_metadata/TableMetadataV1PartitionSpecsWithoutDefaultId.json", FRZ_OK,
     NULL},
    {"iceberg-rust/table_metadata/TableMetadataV1SchemasWithoutCurrentId.json", FRZ_OK, NULL},
    {"iceberg-rust/table_metadata/TableMetadataV1NoValidSchema.json", FRZ_E_CORRUPT,
     "current-schema-id"},
    {"iceberg-rust/table_metadata/TableMetadataV3ValidEncryption.json", FRZ_OK, NULL},
    {"iceberg-rust/example_table_metadata_v2_deep_history.json", FRZ_OK, NULL},
    {"iceberg-rust/example_table_metadata_v2_partition_evolution.json", FRZ_OK, NULL},
    {"iceberg-go/table/TableMetadataV3WithPartitionStatistics.json", FRZ_OK, NULL},
    {"duckdb-iceberg/data/persistent/big_query_error/metadata/v0.metadata.json", FRZ_E_CORRUPT,
     "format-version: expected an integer, found nothing"},
};

static void corpus__samples_of_other_projects_are_parsed_or_refused(void **state)
{
    char root[256], path[512];
    if (fixture_corpus("", root, sizeof root) == NULL) {
        skip();
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(samples); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
        snprintf(path, sizeof path, "%s/%s", root, samples[i].file);
        frz_code rc = frz_table_open(*state, path, NULL, &table, &err);
        if (samples[i].code == FRZ_OK) {
            assert_ok(rc, &err);
        } else {
            assert_fails(rc, &err, samples[i].code, samples[i].phrase);
        }
        frz_table_unref(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(json__becomes_the_model),
        TEST_WITH_ENV(json__numbers_in_properties_are_checked),
        TEST_WITH_ENV(json__a_named_snapshot_is_read_in_its_own_schema),
        TEST_WITH_ENV(json__no_snapshot_is_null_or_absent_or_minus_one),
        TEST_WITH_ENV(json__faults_name_path_expected_and_found),
        TEST_WITH_ENV(json__text_that_is_no_document_is_refused),
        TEST_WITH_ENV(change__a_snapshot_becomes_current_and_everything_unknown_stays),
        TEST_WITH_ENV(change__times_rise_even_if_the_clock_does_not),
        TEST_WITH_ENV(change__a_schema_gets_the_next_id_and_the_snapshot_names_it),
        TEST_WITH_ENV(change__the_metadata_log_is_capped),
        TEST_WITH_ENV(change__text_that_json_cannot_hold_is_refused),
        cmocka_unit_test(golden__new_table_and_first_snapshot),
        TEST_WITH_ENV(file__is_written_next_to_its_kin_and_reads_back),
        cmocka_unit_test(file__version_is_in_its_name),
        TEST_WITH_ENV(file__that_is_missing_is_not_found),
        TEST_WITH_ENV(corpus__tables_of_others_are_parsed_or_refused),
        TEST_WITH_ENV(corpus__tables_of_every_version_are_parsed),
        TEST_WITH_ENV(corpus__samples_of_other_projects_are_parsed_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
