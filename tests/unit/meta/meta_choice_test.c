/*
 * Which snapshot and which schema a read uses: by id, by time, by reference.
 */
#include "unit/meta/meta_fixture.h"

/* Snapshot 11 was made with schema 0, the current one with schema 1; a rollback lies between. */
static frz_table *table_with_history(const frz_env *env)
{
    frz_error err = {0};
    frz_table *table = NULL;
    json_t *document = fixture_json(fixture_document);
    fixture_set(document, "snapshot-log",
                "[{'timestamp-ms': 900, 'snapshot-id': 11},"
                " {'timestamp-ms': 950, 'snapshot-id': 9223372036854775807},"
                " {'timestamp-ms': 960, 'snapshot-id': 11},"
                " {'timestamp-ms': 960, 'snapshot-id': 9223372036854775807},"
                " {'timestamp-ms': 970, 'snapshot-id': 77}]");
    fixture_set(document, "refs/then", "{'snapshot-id': 11, 'type': 'tag'}");
    fixture_set(document, "refs/side", "{'snapshot-id': 11, 'type': 'branch'}");
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    json_decref(document);
    return table;
}

static void assert_choice(const frz_table *table, frz_snapshot_choice choice, int64_t snapshot_id,
                          int32_t schema_id)
{
    frz_error err = {0};
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    assert_ok(frz_table_choose(table, &choice, &snapshot, &schema, &err), &err);
    assert_int_equal(snapshot->snapshot_id, snapshot_id);
    assert_int_equal(schema->schema_id, schema_id);
}

static void choice__the_current_snapshot_and_branches_have_the_tables_schema(void **state)
{
    frz_table *table = table_with_history(*state);
    assert_choice(table, (frz_snapshot_choice){0}, INT64_MAX, 1);
    assert_choice(table, (frz_snapshot_choice){.ref = "main"}, INT64_MAX, 1);
    assert_choice(table, (frz_snapshot_choice){.ref = "side"}, 11, 1);
    frz_table_unref(table);
}

static void choice__ids_tags_and_times_have_the_snapshots_schema(void **state)
{
    frz_table *table = table_with_history(*state);
    assert_choice(table, (frz_snapshot_choice){.snapshot_id = 11}, 11, 0);
    assert_choice(table, (frz_snapshot_choice){.ref = "then"}, 11, 0);
    assert_choice(table, (frz_snapshot_choice){.as_of = "1970-01-01T00:00:00.9Z"}, 11, 0);
    frz_table_unref(table);
}

static void choice__a_time_is_looked_up_in_the_log(void **state)
{
    static const struct {
        const char *as_of;
        int64_t id;
    } times[] = {
        {"1970-01-01T00:00:00.900Z", 11},
        {"1970-01-01T00:00:00.949999Z", 11},
        {"1970-01-01T00:00:00.950+00:00", INT64_MAX},
        {"1970-01-01 01:00:00.955+01", INT64_MAX},
        {"1970-01-01T00:00:00.965", INT64_MAX}, /* the later one of two at the same time */
    };
    frz_table *table = table_with_history(*state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(times); i++) {
        frz_error err = {0};
        int64_t id = 0;
        assert_ok(frz_table_find_snapshot(table, times[i].as_of, NULL, &id, &err), &err);
        assert_int_equal(id, times[i].id);
    }
    frz_table_unref(table);
}

static void choice__what_cannot_be_found_is_told(void **state)
{
    static const struct {
        frz_snapshot_choice choice;
        frz_code code;
        const char *phrase;
    } faults[] = {
        {{.snapshot_id = 12}, FRZ_E_NOT_FOUND, "has no snapshot 12"},
        {{.ref = "Main"}, FRZ_E_NOT_FOUND, "has no branch or tag Main"},
        {{.as_of = "1970-01-01T00:00:00.899999Z"}, FRZ_E_NOT_FOUND, "had no snapshot yet at 1970"},
        {{.as_of = "1969-12-31"}, FRZ_E_NOT_FOUND, "had no snapshot yet at 1969"},
        {{.as_of = "2026-11-01"},
         FRZ_E_NOT_FOUND,
         "snapshot 77, current at 2026-11-01, has expired"},
        {{.as_of = "yesterday"}, FRZ_E_ARGUMENT, "yesterday"},
        {{.as_of = "2026-11-01", .ref = "main"}, FRZ_E_ARGUMENT, "not by two of them"},
        {{.snapshot_id = 11, .ref = "main"}, FRZ_E_ARGUMENT, "not by two of them"},
    };
    frz_table *table = table_with_history(*state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(faults); i++) {
        frz_error err = {0};
        const frz_snapshot *snapshot = NULL;
        const frz_schema *schema = NULL;
        assert_fails(frz_table_choose(table, &faults[i].choice, &snapshot, &schema, &err), &err,
                     faults[i].code, faults[i].phrase);
        assert_null(snapshot);
    }
    frz_table_unref(table);
}

static void choice__without_a_log_there_is_no_time_travel(void **state)
{
    frz_error err = {0};
    int64_t id = 0;
    frz_table *table = fixture_table(*state, NULL, NULL);
    assert_fails(frz_table_find_snapshot(table, "2026-11-01", NULL, &id, &err), &err,
                 FRZ_E_NOT_FOUND, "has no snapshot log");
    frz_table_unref(table);
}

static void choice__an_encrypted_snapshot_is_refused_and_others_are_not(void **state)
{
    frz_error err = {0};
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_table *table = fixture_table(*state, "snapshots/0/key-id", "'k1'");
    const frz_snapshot_choice choice = {.snapshot_id = 11};
    assert_fails(frz_table_choose(table, &choice, &snapshot, &schema, &err), &err,
                 FRZ_E_UNSUPPORTED,
                 "metadata " FIXTURE_LOCATION ": unsupported: snapshot 11 has a key-id");
    assert_choice(table, (frz_snapshot_choice){0}, INT64_MAX, 1);
    frz_table_unref(table);
}

static void choice__a_schema_that_is_gone_is_missed(void **state)
{
    frz_error err = {0};
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_table *table = fixture_table(*state, "snapshots/0/schema-id", "9");
    assert_fails(frz_table_snapshot(table, 11, &snapshot, &schema, &err), &err, FRZ_E_CORRUPT,
                 "was written with schema 9, which the metadata lacks");
    frz_table_unref(table);
    table = fixture_table(*state, "snapshots/0/schema-id", NULL); /* not recorded */
    assert_choice(table, (frz_snapshot_choice){.snapshot_id = 11}, 11, 1);
    frz_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(choice__the_current_snapshot_and_branches_have_the_tables_schema),
        TEST_WITH_ENV(choice__ids_tags_and_times_have_the_snapshots_schema),
        TEST_WITH_ENV(choice__a_time_is_looked_up_in_the_log),
        TEST_WITH_ENV(choice__what_cannot_be_found_is_told),
        TEST_WITH_ENV(choice__without_a_log_there_is_no_time_travel),
        TEST_WITH_ENV(choice__an_encrypted_snapshot_is_refused_and_others_are_not),
        TEST_WITH_ENV(choice__a_schema_that_is_gone_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
