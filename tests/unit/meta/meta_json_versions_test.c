/*
 * Metadata JSON of every format version: what each may leave out, and what is made of it.
 * spec: Table Metadata Fields; Appendix E
 */
#include "unit/meta/meta_fixture.h"

#define V1_SCHEMA                                                                                  \
    "{'type': 'struct', 'fields': [{'id': 1, 'name': 'id', 'required': true, 'type': 'long'},"     \
    " {'id': 2, 'name': 'day', 'required': false, 'type': 'date'}]}"

/* As the first writers left it: one schema, one spec without field ids, no sequence numbers. */
static const char oldest_document[] =
    "{'format-version': 1, 'location': '/w/db/old/', 'last-updated-ms': 1000, 'last-column-id': 1,"
    " 'schema': " V1_SCHEMA ","
    " 'partition-spec': [{'name': 'd', 'transform': 'Day', 'source-id': 2},"
    "  {'name': 'b', 'transform': 'BUCKET[16]', 'source-id': 1}],"
    " 'current-snapshot-id': 7,"
    " 'snapshots': [{'snapshot-id': 7, 'parent-snapshot-id': -1, 'timestamp-ms': 900,"
    "   'manifests': ['/w/db/old/metadata/m0.avro', '/w/db/old/metadata/m1.avro']},"
    "  {'snapshot-id': 8, 'timestamp-ms': 950, 'manifest-list': '/w/db/old/metadata/l.avro',"
    "   'manifests': ['ignored'], 'summary': {'spark.app.id': 'x'}, 'sequence-number': 4}]}";

/* Version 2; of version 3 with one number changed. */
static const char v2_document[] =
    "{'format-version': 2, 'table-uuid': 'u', 'location': 's3://b/t', 'last-sequence-number': 4,"
    " 'last-updated-ms': 1000, 'last-column-id': 2, 'current-schema-id': 3,"
    " 'schemas': [{'type': 'struct', 'schema-id': 3, 'fields': ["
    "   {'id': 1, 'name': 'id', 'required': true, 'type': 'long'},"
    "   {'id': 2, 'name': 'name', 'required': false, 'type': 'string'}]}],"
    " 'partition-specs': [{'spec-id': 0, 'fields': []},"
    "  {'spec-id': 5, 'fields': [{'name': 'n', 'transform': 'truncate[2]', 'source-id': 2,"
    "    'field-id': 1003}, {'name': 'z', 'transform': 'zorder[3]', 'source-ids': [1, 2],"
    "    'field-id': 1001}]}],"
    " 'default-spec-id': 5, 'last-partition-id': 1002,"
    " 'sort-orders': [{'order-id': 0, 'fields': []}, {'order-id': 2, 'fields': ["
    "   {'transform': 'identity', 'source-id': 1, 'direction': 'asc', 'null-order': 'nulls-first'},"
    "   {'transform': 'bucket[4]', 'source-id': 2, 'direction': 'DESC',"
    "    'null-order': 'Nulls-Last'}]}],"
    " 'default-sort-order-id': 2, 'properties': null,"
    " 'current-snapshot-id': 21, 'snapshots': ["
    "  {'snapshot-id': 20, 'timestamp-ms': 100, 'manifest-list': 's3://b/t/metadata/a.avro'},"
    "  {'snapshot-id': 21, 'parent-snapshot-id': 20, 'sequence-number': 4, 'timestamp-ms': 200,"
    "   'manifest-list': 's3://b/t/metadata/b.avro', 'schema-id': 3,"
    "   'summary': {'operation': 'append'}}],"
    " 'refs': {'old': {'snapshot-id': 20, 'type': 'tag', 'max-ref-age-ms': 10},"
    "  'work': {'snapshot-id': 20, 'type': 'BRANCH', 'max-snapshot-age-ms': 20,"
    "   'min-snapshots-to-keep': 3}},"
    " 'snapshot-log': [{'timestamp-ms': 100, 'snapshot-id': 20},"
    "  {'timestamp-ms': 200, 'snapshot-id': 21}],"
    " 'metadata-log': [{'timestamp-ms': 99, 'metadata-file': 's3://b/t/metadata/0.json'}],"
    " 'statistics': [{'anything': 1}], 'partition-statistics': [], 'encryption-keys': []}";

static frz_table *table_of(const frz_env *env, const json_t *document)
{
    frz_error err = {0};
    frz_table *table = NULL;
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    return table;
}

/* The document with members replaced, in pairs of path and value, NULL-ended. */
static frz_table *table_with(const frz_env *env, const char *text, const char *const *changes)
{
    json_t *document = fixture_json(text);
    for (size_t i = 0; changes != NULL && changes[i] != NULL; i += 2) {
        fixture_set(document, changes[i], strcmp(changes[i + 1], "-") == 0 ? NULL : changes[i + 1]);
    }
    frz_table *table = table_of(env, document);
    json_decref(document);
    return table;
}

static void assert_str(frz_str found, const char *expected)
{
    assert_int_equal(found.len, strlen(expected));
    assert_memory_equal(found.ptr, expected, found.len);
}

/* ---- version 1 ---- */

static void v1__one_schema_and_one_spec_are_the_lists(void **state)
{
    frz_table *table = table_with(*state, oldest_document, NULL);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(m->format_version, 1);
    assert_null(m->table_uuid.ptr);
    assert_str(m->location, "/w/db/old");
    assert_int_equal(m->schema_count, 1);
    assert_int_equal(m->current_schema_id, 0);
    assert_int_equal(m->last_column_id, 2); /* the document says 1 */
    assert_int_equal(m->spec_count, 1);
    assert_int_equal(m->specs[0].spec_id, 0);
    assert_int_equal(m->sort_order_count, 1);
    assert_int_equal(m->sort_orders[0].field_count, 0);
    assert_int_equal(m->last_sequence_number, 0);
    assert_int_equal(m->next_row_id, 0);
    frz_table_unref(table);
}

static void v1__partition_fields_without_ids_count_from_1000(void **state)
{
    frz_table *table = table_with(*state, oldest_document, NULL);
    const frz_partition_spec *spec = frz_metadata_spec(&table->metadata, 0);
    assert_int_equal(spec->field_count, 2);
    assert_int_equal(spec->fields[0].field_id, 1000);
    assert_int_equal(spec->fields[0].transform.kind, FRZ_TRANSFORM_DAY);
    assert_int_equal(spec->fields[1].field_id, 1001);
    assert_int_equal(spec->fields[1].transform.kind, FRZ_TRANSFORM_BUCKET);
    assert_int_equal(spec->fields[1].transform.parameter, 16);
    assert_str(spec->fields[1].transform.text, "BUCKET[16]");
    assert_int_equal(table->metadata.last_partition_id, 1001);
    frz_table_unref(table);
}

static void v1__manifests_may_stand_in_the_snapshot(void **state)
{
    frz_table *table = table_with(*state, oldest_document, NULL);
    const frz_metadata *m = &table->metadata;
    const frz_snapshot *s = frz_metadata_current_snapshot(m);
    assert_int_equal(s->snapshot_id, 7);
    assert_int_equal(s->parent_id, 0);
    assert_int_equal(s->manifest_count, 2);
    assert_str(s->manifests[1], "/w/db/old/metadata/m1.avro");
    assert_null(s->manifest_list.ptr);
    assert_null(s->root_manifest.ptr);
    assert_int_equal(s->sequence_number, 0);
    assert_true(s->first_row_id == FRZ_NO_VALUE && s->added_rows == FRZ_NO_VALUE);
    assert_int_equal(s->schema_id, -1);
    assert_int_equal(s->summary_count, 0);
    s = frz_metadata_snapshot(m, 8);
    assert_int_equal(s->manifest_count, 0); /* the list counts */
    assert_str(s->manifest_list, "/w/db/old/metadata/l.avro");
    assert_int_equal(s->sequence_number, 0); /* version 1 has none */
    frz_table_unref(table);
}

static void v1__branch_main_is_there_without_refs(void **state)
{
    frz_table *table = table_with(*state, oldest_document, NULL);
    const frz_ref *branch = frz_metadata_ref(&table->metadata, FRZ_STR("main"));
    assert_non_null(branch);
    assert_int_equal(branch->snapshot_id, 7);
    assert_false(branch->is_tag);
    assert_true(branch->max_ref_age_ms == FRZ_NO_VALUE);
    frz_table_unref(table);
    static const char *const none[] = {"current-snapshot-id", "-1", NULL};
    table = table_with(*state, oldest_document, none);
    assert_int_equal(table->metadata.ref_count, 0);
    frz_table_unref(table);
}

static void v1__lists_count_where_both_forms_are(void **state)
{
    static const char *const both[] = {
        "schemas",
        "[{'type': 'struct', 'schema-id': 0, 'fields': []}, {'type': 'struct', 'schema-id': 4,"
        " 'fields': [{'id': 9, 'name': 'x', 'required': false, 'type': 'int'}]}]",
        "current-schema-id",
        "4",
        "partition-specs",
        "[{'spec-id': 3, 'fields': []}]",
        "default-spec-id",
        "3",
        "sort-orders",
        "[]",
        NULL};
    frz_table *table = table_with(*state, oldest_document, both);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(m->schema_count, 2);
    assert_int_equal(frz_metadata_current_schema(m)->type->fields[0].id, 9);
    assert_int_equal(m->last_column_id, 9);
    assert_int_equal(m->spec_count, 1);
    assert_int_equal(m->default_spec_id, 3);
    assert_int_equal(m->last_partition_id, 999);
    frz_table_unref(table);
}

static void v1__lists_may_lack_the_ids_of_their_defaults(void **state)
{
    static const char *const without[] = {
        "schemas", "[{'type': 'struct', 'schema-id': 1, 'fields': []}]", "partition-specs",
        "[{'spec-id': 6, 'fields': []}, {'spec-id': 2, 'fields': []}]", NULL};
    frz_table *table = table_with(*state, oldest_document, without);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(m->schema_count, 2); /* the current one stands beside the list */
    assert_int_equal(m->current_schema_id, 0);
    assert_int_equal(frz_metadata_current_schema(m)->type->field_count, 2);
    assert_int_equal(m->default_spec_id, 6); /* the newest */
    frz_table_unref(table);
}

static void v1__faults_are_named(void **state)
{
    static const struct {
        const char *path, *value, *phrase;
    } faults[] = {
        {"schema", NULL, "schemas, schema: expected one of them, found neither"},
        {"partition-spec", NULL, "partition-spec: expected a list, found nothing"},
        {"location", NULL, "location: expected a string, found nothing"},
        {"default-spec-id", "'0'", NULL}, /* not looked at without a list */
        {"snapshots/0/manifests", NULL,
         "snapshots[0].manifest-list: expected a string, found nothing"},
        {"snapshots/0/manifests", "['']", "snapshots[0].manifests[0]: expected a location"},
        {"snapshots/0/manifests", "[5]",
         "snapshots[0].manifests[0]: expected a location, found an integer"},
        {"snapshots/1/manifest-list", "''", "snapshots[1].manifest-list: expected a location"},
        {"schemas", "[{'type': 'struct', 'schema-id': 0, 'fields': []}]", NULL},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(faults); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
        json_t *document = fixture_json(oldest_document);
        fixture_set(document, faults[i].path, faults[i].value);
        frz_code rc = fixture_parse(*state, document, NULL, &table, &err);
        if (faults[i].phrase == NULL) {
            assert_ok(rc, &err);
        } else {
            assert_fails(rc, &err, FRZ_E_CORRUPT, faults[i].phrase);
        }
        frz_table_unref(table);
        json_decref(document);
    }
}

/* ---- versions 2 and 3 ---- */

static void v2__specs_orders_refs_and_logs_are_in_the_model(void **state)
{
    frz_table *table = table_with(*state, v2_document, NULL);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(m->spec_count, 2);
    const frz_partition_spec *spec = frz_metadata_spec(m, 5);
    assert_int_equal(spec->fields[0].transform.kind, FRZ_TRANSFORM_TRUNCATE);
    assert_int_equal(spec->fields[0].source_ids[0], 2);
    assert_int_equal(spec->fields[1].transform.kind, FRZ_TRANSFORM_UNKNOWN); /* kept */
    assert_str(spec->fields[1].transform.text, "zorder[3]");
    assert_int_equal(spec->fields[1].source_count, 2);
    assert_int_equal(m->last_partition_id, 1003); /* the document says 1002 */
    assert_null(frz_metadata_spec(m, 1));
    assert_int_equal(m->sort_order_count, 2);
    const frz_sort_order *order = &m->sort_orders[1];
    assert_int_equal(order->order_id, 2);
    assert_false(order->fields[0].descending || order->fields[0].nulls_last);
    assert_true(order->fields[1].descending && order->fields[1].nulls_last);
    assert_int_equal(m->ref_count, 3); /* with main, which the document leaves out */
    const frz_ref *ref = frz_metadata_ref(m, FRZ_STR("old"));
    assert_true(ref->is_tag);
    assert_int_equal(ref->max_ref_age_ms, 10);
    ref = frz_metadata_ref(m, FRZ_STR("work"));
    assert_false(ref->is_tag);
    assert_int_equal(ref->max_snapshot_age_ms, 20);
    assert_int_equal(ref->min_snapshots_to_keep, 3);
    assert_int_equal(frz_metadata_ref(m, FRZ_STR("main"))->snapshot_id, 21);
    assert_null(frz_metadata_ref(m, FRZ_STR("Main")));
    assert_int_equal(m->snapshot_log_count, 2);
    assert_int_equal(m->snapshot_log[1].snapshot_id, 21);
    assert_int_equal(m->metadata_log_count, 1);
    assert_str(m->metadata_log[0].metadata_file, "s3://b/t/metadata/0.json");
    frz_table_unref(table);
}

static void v2__snapshots_from_before_an_upgrade_have_no_numbers(void **state)
{
    frz_table *table = table_with(*state, v2_document, NULL);
    const frz_snapshot *s = frz_metadata_snapshot(&table->metadata, 20);
    assert_int_equal(s->sequence_number, 0);
    assert_true(s->first_row_id == FRZ_NO_VALUE);
    assert_int_equal(frz_metadata_snapshot(&table->metadata, 21)->sequence_number, 4);
    frz_table_unref(table);
}

static void v2__what_version_1_may_leave_out_must_be_there(void **state)
{
    static const char *const required[] = {"table-uuid",           "location",
                                           "last-sequence-number", "schemas",
                                           "current-schema-id",    "partition-specs",
                                           "default-spec-id",      "last-partition-id",
                                           "sort-orders",          "default-sort-order-id"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(required); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
        json_t *document = fixture_json(v2_document);
        fixture_set(document, required[i], NULL);
        assert_fails(fixture_parse(*state, document, NULL, &table, &err), &err, FRZ_E_CORRUPT,
                     required[i]);
        json_decref(document);
    }
}

static void v3__row_ids_and_keys(void **state)
{
    static const char *const v3[] = {"format-version",
                                     "3",
                                     "next-row-id",
                                     "900",
                                     "snapshots/1/first-row-id",
                                     "880",
                                     "snapshots/1/added-rows",
                                     "20",
                                     "snapshots/1/key-id",
                                     "'k1'",
                                     "encryption-keys",
                                     "[{'key-id': 'k1', 'encrypted-key-metadata': 'aWNl'}]",
                                     NULL};
    frz_table *table = table_with(*state, v2_document, v3);
    const frz_metadata *m = &table->metadata;
    const frz_snapshot *s = frz_metadata_current_snapshot(m);
    assert_int_equal(m->next_row_id, 900);
    assert_int_equal(s->first_row_id, 880);
    assert_int_equal(s->added_rows, 20);
    assert_str(s->key_id, "k1");
    assert_null(frz_metadata_snapshot(m, 20)->key_id.ptr);
    frz_table_unref(table);
    static const char *const bare[] = {"format-version", "3", NULL};
    table = table_with(*state, v2_document, bare); /* written without the counter */
    assert_int_equal(table->metadata.next_row_id, 0);
    frz_table_unref(table);
}

static void v3__a_root_manifest_means_nothing_yet(void **state)
{
    static const char *const v3[] = {"format-version", "3", "snapshots/1/root-manifest", "'x'",
                                     NULL};
    frz_table *table = table_with(*state, v2_document, v3);
    assert_null(frz_metadata_current_snapshot(&table->metadata)->root_manifest.ptr);
    frz_table_unref(table);
}

/* ---- version 4 with the snapshots of an earlier one ---- */

static void v4__snapshots_with_manifest_lists_are_read(void **state)
{
    static const char *const v4[] = {"format-version",
                                     "4",
                                     "next-row-id",
                                     "0",
                                     "snapshots/0/manifest-list",
                                     "-",
                                     "snapshots/0/manifests",
                                     "['s3://b/t/metadata/m.avro']",
                                     NULL};
    frz_table *table = table_with(*state, v2_document, v4);
    const frz_metadata *m = &table->metadata;
    assert_int_equal(frz_metadata_snapshot(m, 20)->manifest_count, 1);
    assert_str(frz_metadata_current_snapshot(m)->manifest_list, "s3://b/t/metadata/b.avro");
    assert_int_equal(m->next_row_id, 0);
    frz_table_unref(table);
}

static void every_version__minus_one_is_no_snapshot(void **state)
{
    for (int version = 1; version <= 4; version++) {
        char text[16];
        snprintf(text, sizeof text, "%d", version);
        const char *const changes[] = {"format-version",
                                       text,
                                       "current-snapshot-id",
                                       "-1",
                                       "next-row-id",
                                       "0",
                                       "table-uuid",
                                       "'u'",
                                       NULL};
        frz_table *table = table_with(*state, v2_document, changes);
        assert_int_equal(table->metadata.current_snapshot_id, 0);
        assert_null(frz_metadata_current_snapshot(&table->metadata));
        assert_null(frz_metadata_ref(&table->metadata, FRZ_STR("main")));
        frz_table_unref(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(v1__one_schema_and_one_spec_are_the_lists),
        TEST_WITH_ENV(v1__partition_fields_without_ids_count_from_1000),
        TEST_WITH_ENV(v1__manifests_may_stand_in_the_snapshot),
        TEST_WITH_ENV(v1__branch_main_is_there_without_refs),
        TEST_WITH_ENV(v1__lists_count_where_both_forms_are),
        TEST_WITH_ENV(v1__lists_may_lack_the_ids_of_their_defaults),
        TEST_WITH_ENV(v1__faults_are_named),
        TEST_WITH_ENV(v2__specs_orders_refs_and_logs_are_in_the_model),
        TEST_WITH_ENV(v2__snapshots_from_before_an_upgrade_have_no_numbers),
        TEST_WITH_ENV(v2__what_version_1_may_leave_out_must_be_there),
        TEST_WITH_ENV(v3__row_ids_and_keys),
        TEST_WITH_ENV(v3__a_root_manifest_means_nothing_yet),
        TEST_WITH_ENV(v4__snapshots_with_manifest_lists_are_read),
        TEST_WITH_ENV(every_version__minus_one_is_no_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
