/*
 * Every allocation of reading and writing metadata may fail: nothing leaks, nothing is half done.
 */
#include "unit/meta/meta_fixture.h"
#include "unit/test_alloc.h"

#include "catalog/catalog_store.h"

static char folder[64];

/* Release what a view gives. */
static frz_code list_view(const frz_table *table, frz_table_view view, frz_error *err)
{
    struct ArrowArrayStream stream = {0};
    frz_code rc = frz_table_list(table, view, 0, &stream, err);
    if (rc == FRZ_OK) {
        stream.release(&stream);
    }
    return rc;
}

static frz_code parse(const frz_env *env, frz_table **out, frz_error *err)
{
    char location[96];
    json_t *document = fixture_json(fixture_document);
    snprintf(location, sizeof location, "'file://%s'", folder);
    fixture_set(document, "location", location);
    fixture_set(document, "properties/schema.name-mapping.default",
                "'[{\\\"field-id\\\":1,\\\"names\\\":[\\\"id\\\"]}]'");
    frz_code rc = fixture_parse(env, document, NULL, out, err);
    json_decref(document);
    return rc;
}

static frz_code scenario_document(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    json_t *json = NULL;
    char *location = NULL;
    const frz_property_kv summary = {FRZ_STR("operation"), FRZ_STR("append")};
    const frz_snapshot snapshot = {.snapshot_id = 77,
                                   .parent_id = 11,
                                   .sequence_number = 3,
                                   .root_manifest = FRZ_STR("metadata/r.parquet"),
                                   .summary = &summary,
                                   .summary_count = 1};
    frz_metadata_change change = {.snapshot = &snapshot, .next_row_id = INT64_MAX};
    FRZ_TRY(parse(env, &table, err));
    change.schema = table->metadata.schemas[1];
    FRZ_TRY(list_view(table, FRZ_TABLE_VIEW_SCHEMA, err));
    FRZ_TRY(list_view(table, FRZ_TABLE_VIEW_SNAPSHOTS, err));
    FRZ_TRY(
        frz_metadata_json_change(env, table->metadata.json, FIXTURE_LOCATION, &change, &json, err));
    FRZ_TRY(frz_metadata_write(table, json, 2, false, &location, NULL, err));
    rc = frz_file_remove(env, location, err);
out:
    frz_free(env, location);
    json_decref(json);
    frz_table_unref(table);
    return rc;
}

static void alloc__document_is_read_changed_and_written(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_document) > 20);
}

/* The table's folder, its version hint, and a snapshot by its time. */
static frz_code scenario_folder(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_location_map map = {"s3://lake", folder};
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_table *table = NULL;
    int64_t id = 0;
    opts.maps = &map;
    opts.map_count = 1;
    FRZ_TRY(frz_table_open(env, "s3a://lake/t", &opts, &table, err));
    FRZ_TRY(frz_table_find_snapshot(table, "2026-11-01", NULL, &id, err));
out:
    frz_table_unref(table);
    return rc;
}

static void put_file(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/t/metadata/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    fclose(out);
}

static void alloc__folder_is_opened(void **state)
{
    char path[96];
    json_t *document = fixture_json(fixture_document);
    (void)state;
    snprintf(path, sizeof path, "mkdir -p %s/t/metadata", folder);
    assert_int_equal(system(path), 0);
    fixture_set(document, "location", NULL);
    fixture_set(document, "snapshot-log", "[{'timestamp-ms': 900, 'snapshot-id': 11}]");
    char *text = json_dumps(document, JSON_COMPACT);
    put_file("v1.metadata.json", text);
    put_file("v2.metadata.json", text);
    put_file("version-hint.text", "1");
    assert_true(test_fail_every_allocation(scenario_folder) > 15);
    free(text);
    json_decref(document);
}

static frz_code scenario_manifest(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const int32_t ids[] = {3};
    const frz_column_file file = {.location = FRZ_STR("data/cf"),
                                  .field_ids = ids,
                                  .field_id_count = 1,
                                  .file_format = FRZ_STR("parquet"),
                                  .file_size = 7};
    const frz_type *type = frz_type_primitive(FRZ_TYPE_STRING);
    frz_field_stats stats = FRZ_FIELD_STATS_UNKNOWN(2, type);
    stats.has_lower = true;
    stats.lower = (frz_value){.type = type, .as.bytes = FRZ_STR("abc")};
    const frz_entry entry = {.status = FRZ_STATUS_ADDED,
                             .snapshot_id = 5,
                             .modified_snapshot_id = FRZ_NO_VALUE,
                             .location = FRZ_STR("data/a"),
                             .file_format = FRZ_STR("parquet"),
                             .spec_id = -1,
                             .sort_order_id = -1,
                             .column_files = &file,
                             .column_file_count = 1,
                             .stats = &stats,
                             .stats_count = 1};
    const frz_entry *const entries[] = {&entry};
    const frz_manifest_rows rows = {.entries = entries, .entry_count = 1};
    frz_table *table = NULL;
    char *location = NULL;
    int64_t bytes = 0;
    FRZ_TRY(parse(env, &table, err));
    FRZ_TRY(frz_table_resolve(table, FRZ_STR("metadata/root-2.parquet"), &location, err));
    (void)frz_file_remove(env, location, NULL);
    FRZ_TRY(frz_manifest_write(table, location, frz_metadata_current_schema(&table->metadata),
                               &rows, false, &bytes, err));
    FRZ_TRY(list_view(table, FRZ_TABLE_VIEW_DESCRIBE, err));
    FRZ_TRY(list_view(table, FRZ_TABLE_VIEW_FILES, err));
    FRZ_TRY(list_view(table, FRZ_TABLE_VIEW_MANIFESTS, err));
out:
    frz_free(env, location);
    frz_table_unref(table);
    return rc;
}

static void alloc__manifest_is_written_and_listed(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_manifest) > 100);
}

static int ignore_name(void *ctx, const char *namespace_name, const char *table_name)
{
    (void)ctx;
    (void)namespace_name;
    (void)table_name;
    return 0;
}

static frz_code scenario_catalog(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_table_name name = {"db", "db", "wide"};
    char path[96], uri[128];
    frz_catalog *catalog = NULL;
    char *location = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/c.db", folder);
    snprintf(uri, sizeof uri, "sqlite://%s", path);
    (void)remove(path);
    opts.uri = uri;
    opts.warehouse = folder;
    FRZ_TRY(frz_catalog_open(env, &opts, &catalog, err));
    FRZ_TRY(catalog->ops->create(catalog->ctx, &name, "m0", err));
    FRZ_TRY(catalog->ops->swap(catalog->ctx, &name, "m0", "m1", err));
    FRZ_TRY(catalog->ops->get(catalog->ctx, &name, &location, err));
    FRZ_TRY(frz_catalog_list_tables(catalog, ignore_name, NULL, err));
out:
    frz_free(env, location);
    frz_catalog_close(catalog);
    return rc;
}

static void alloc__catalog_is_made_and_swapped(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_catalog) > 4);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/frazil-alloc-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc__document_is_read_changed_and_written),
        cmocka_unit_test(alloc__folder_is_opened),
        cmocka_unit_test(alloc__manifest_is_written_and_listed),
        cmocka_unit_test(alloc__catalog_is_made_and_swapped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
