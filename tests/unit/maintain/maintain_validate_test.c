/*
 * Validation finds what is broken on purpose, and finds nothing where all is well.
 */
#include "unit/maintain/maintain_table.h"
#include "unit/test_alloc.h"
#include "unit/test_roots.h"

static frz_field field_id(void)
{
    return test_field(1, "id", true, FRZ_TYPE_LONG);
}

static frz_field field_a(void)
{
    return test_field(2, "a", false, FRZ_TYPE_DOUBLE);
}

static void import_one(test_table *t)
{
    const char *file = source_file(
        t, COLUMNS({field_id(), "0 1 2 3 4 5"}, {field_a(), "0.5 1.5 null 3.5 4.5 5.5"}), 4);
    import_files(t, &file, 1);
}

static void update_a(test_table *t, void (*spoil)(frz_entry *))
{
    test_column a = {field_a(), "10 11 12 null 14 15"};
    update_entry(t, &(test_update){.columns = &a,
                                   .column_count = 1,
                                   .updated = "null 1 null 1 null 1",
                                   .group_rows = 4,
                                   .spoil = spoil});
}

/* Replace a file's bytes, or append to them. */
static void write_bytes(const char *path, const char *mode, const void *bytes, size_t len)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void copy_over(const char *from, const char *to)
{
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    write_bytes(to, "wb", bytes, len);
}

/* ---- files ---- */

static void files__sound_table_is_clean(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    assert_clean(&t);
    update_a(&t, NULL);
    assert_clean(&t);
    update_a(&t, NULL);
    assert_clean(&t);
    table_close(&t);
}

static void files__size_that_changed(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    write_bytes(part_path(&t, 0, 0), "ab", "PAR1", 4);
    assert_found(&t, "bytes as recorded, found");
    table_close(&t);
}

static void files__missing_file(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    assert_int_equal(unlink(part_path(&t, 0, 1)), 0);
    assert_found(&t, "-columns.parquet: ");
    table_close(&t);
}

static void files__column_file_replaced_by_a_shorter_one(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    const char *other =
        source_file(&t, COLUMNS({field_a(), "1 2"}, {frz_field_last_updated, "1 1"}), 0);
    copy_over(other, part_path(&t, 0, 1));
    assert_found(&t, "expected 6 rows as the entry of");
    assert_found(&t, "found 2");
    assert_found(&t, "bytes as recorded, found");
    table_close(&t);
}

static void files__cut_off_and_garbage(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    assert_int_equal(truncate(part_path(&t, 0, 1), 20), 0);
    write_bytes(part_path(&t, 0, 0), "wb", "nothing", 7);
    assert_found(&t, "found 20");
    assert_found(&t, "found 7");
    table_close(&t);
}

static void files__listed_field_that_is_not_stored(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    const char *other = source_file(
        &t, COLUMNS({field_id(), "1 2 3 4 5 6"}, {frz_field_last_updated, "1 1 1 1 1 1"}), 0);
    copy_over(other, part_path(&t, 0, 1));
    assert_found(&t, "field 2 (\"a\") is listed for this column file, but not stored in it");
    table_close(&t);
}

static void files__types_that_cannot_be_read(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    frz_field text = test_field(2, "a", false, FRZ_TYPE_STRING);
    const char *other =
        source_file(&t, COLUMNS({field_id(), "1 2 3 4 5 6"}, {text, "a b c d e f"}), 0);
    copy_over(other, part_path(&t, 0, 0));
    assert_found(&t, "field 2 (\"a\") is stored as string, which cannot be read as the table's "
                     "double");
    table_close(&t);
}

/* ---- statistics ---- */

static frz_field_stats *stats_of(frz_entry *entry)
{
    for (size_t i = 0; i < entry->stats_count; i++) {
        if (entry->stats[i].field_id == 2) {
            return (frz_field_stats *)&entry->stats[i]; /* the test's own memory */
        }
    }
    fail();
    return NULL;
}

static void raise_lower(frz_entry *entry)
{
    stats_of(entry)->lower.as.f64 = 11;
}

static void sink_upper(frz_entry *entry)
{
    stats_of(entry)->upper.as.f64 = 14.5;
}

static void loosen_exact(frz_entry *entry)
{
    stats_of(entry)->upper.as.f64 = 100;
    stats_of(entry)->tight_bounds = 1;
}

static void loosen(frz_entry *entry)
{
    stats_of(entry)->upper.as.f64 = 100;
    stats_of(entry)->tight_bounds = 0;
}

static void lose_nulls(frz_entry *entry)
{
    stats_of(entry)->null_value_count = 0;
}

static void invent_nan(frz_entry *entry)
{
    stats_of(entry)->nan_value_count = 3;
}

static void miscount(frz_entry *entry)
{
    stats_of(entry)->value_count = 5;
}

static void statistics__must_contain_the_values(void **state)
{
    static const struct {
        void (*spoil)(frz_entry *);
        const char *phrase; /* NULL: legal */
    } cases[] = {
        {raise_lower, "statistics of field 2 (\"a\"): lower bound 11"},
        {sink_upper, "statistics of field 2 (\"a\"): upper bound 14.5"},
        {loosen_exact, "said to be exact"},
        {loosen, NULL},
        {lose_nulls, "null count is 0, but"},
        {invent_nan, "NaN count is 3, but"},
        {miscount, "value count is 5, but"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        test_table t;
        table_open(&t, state);
        import_one(&t);
        update_a(&t, cases[i].spoil);
        if (cases[i].phrase == NULL) {
            assert_clean(&t);
        } else {
            assert_found(&t, cases[i].phrase);
        }
        table_close(&t);
    }
}

/* ---- tracking ---- */

static void high_sequence(frz_entry *entry)
{
    entry->sequence_number = 99;
}

static void old_sequence(frz_entry *entry)
{
    entry->sequence_number = 1;
}

static void other_rows(frz_entry *entry)
{
    entry->first_row_id = 3;
}

static void far_rows(frz_entry *entry)
{
    entry->first_row_id = INT64_MAX - 2;
}

static void not_modified_now(frz_entry *entry)
{
    entry->modified_snapshot_id = FRZ_NO_VALUE;
}

static void existing(frz_entry *entry)
{
    entry->status = FRZ_STATUS_EXISTING;
}

static void tracking__numbers_must_be_possible(void **state)
{
    static const struct {
        void (*spoil)(frz_entry *);
        const char *phrase;
    } cases[] = {
        {high_sequence, "sequence number 99 is not between 0 and the snapshot's 2"},
        {old_sequence, "entry MODIFIED by column files has sequence number 1, the snapshot's is 2"},
        {other_rows, "first row id 3 with 6 rows does not fit below"},
        {far_rows, "does not fit below the snapshot's end of row ids, 6"},
        {not_modified_now, "which must be the snapshot's own"},
        {existing, "REPLACED entry has no MODIFIED one beside it"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        test_table t;
        table_open(&t, state);
        import_one(&t);
        update_a(&t, cases[i].spoil);
        assert_found(&t, cases[i].phrase);
        table_close(&t);
    }
}

static bool is_live(frz_entry *entry)
{
    return frz_status_is_live(entry->status);
}

static void tracking__modified_without_its_old_half(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    test_column a = {field_a(), "1 2 3 4 5 6"};
    update_entry(&t, &(test_update){.columns = &a, .column_count = 1, .updated = "1 1 1 1 1 1"});
    assert_ok(test_rewrite_root(t.catalog, TEST_NAME, is_live, &t.err), &t.err);
    assert_found(&t, "MODIFIED entry has no REPLACED one beside it");
    table_close(&t);
}

static bool is_none(frz_entry *entry)
{
    (void)entry;
    return false;
}

static void tracking__file_that_vanished(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    assert_ok(test_rewrite_root(t.catalog, TEST_NAME, is_none, &t.err), &t.err);
    assert_found(&t, "neither keeps nor removes it");
    table_close(&t);
}

/* ---- lineage ---- */

static void lineage__numbers_of_the_future(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    test_column a = {field_a(), "1 2 3 4 5 6"};
    update_entry(&t, &(test_update){.columns = &a, .column_count = 1, .updated = "1 1 1 7 1 1"});
    assert_found(&t, "row 3: _last_updated_sequence_number 7 is not between 0 and");
    table_close(&t);
}

static void lineage__no_column_says_who_was_updated(void **state)
{
    test_table t;
    table_open(&t, state);
    import_one(&t);
    test_column a = {field_a(), "1 2 3 4 5 6"};
    update_entry(&t, &(test_update){.columns = &a, .column_count = 1});
    assert_found(&t, "no column file lists _last_updated_sequence_number");
    table_close(&t);
}

/* Add a data file that stores row ids of its own. */
static void add_rows(test_table *t, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                     void *ctx)
{
    frz_entry entry = frz_entry_added(attempt);
    frz_parquet_written written = {0};
    char *location = NULL;
    assert_ok(frz_commit_new_path(attempt, ".parquet", &location, &t->err), &t->err);
    put_file(t, location, COLUMNS({field_id(), "7 8 9"}, {frz_field_row_id, (const char *)ctx}), 0,
             &written);
    assert_ok(frz_commit_track(attempt, location, written.file_size, true, &t->err), &t->err);
    assert_ok(frz_arena_str(&t->arena, frz_table_relativize(attempt->table, frz_str_from(location)),
                            &entry.location, &t->err),
              &t->err);
    frz_free(t->env, location);
    entry.record_count = written.row_count;
    entry.file_size = written.file_size;
    assert_ok(frz_commit_plan_change(attempt, plan, NULL, &entry, &t->err), &t->err);
}

static void lineage__row_ids_are_unique(void **state)
{
    static const struct {
        const char *ids, *phrase;
    } cases[] = {
        {"null null null", NULL}, /* six, seven, eight */
        {"8 7 6", NULL},
        {"6 5 7", "row ids 5 to 5 are also in"},
        {"6 6 7", "row ids 6 to 6 are also in"},
        {"6 7 9", "row ids 9 to 9 are not between 0 and the snapshot's end of row ids, 9"},
        {"-1 6 7", "row ids -1 to -1 are not between 0 and"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        test_table t;
        table_open(&t, state);
        import_one(&t);
        commit_change(&t, add_rows, (void *)cases[i].ids);
        if (cases[i].phrase == NULL) {
            assert_clean(&t);
        } else {
            assert_found(&t, cases[i].phrase);
        }
        table_close(&t);
    }
}

/* ---- metadata ---- */

static void root__that_cannot_be_read_is_a_finding(void **state)
{
    test_table t;
    frz_table *table = NULL;
    char *location = NULL;
    frz_str path;
    int64_t count = 0;
    frz_buf text = FRZ_BUF_INIT(*state, 1 << 16);
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    assert_ok(frz_catalog_load_table(t.catalog, TEST_NAME, &table, &t.err), &t.err);
    assert_ok(
        frz_table_resolve(table, table->metadata.snapshots[0].root_manifest, &location, &t.err),
        &t.err);
    assert_true(frz_location_local_path(frz_str_from(location), &path));
    assert_int_equal(truncate(path.ptr, 100), 0);
    assert_ok(frz_validate(table, collect_finding, &text, &count, &t.err), &t.err);
    assert_int_equal(count, 1);
    assert_ok(frz_buf_append_byte(&text, 0, &t.err), &t.err);
    assert_non_null(strstr((const char *)text.data, "root-"));
    /* without a visitor they are only counted */
    assert_ok(frz_validate(table, NULL, NULL, &count, &t.err), &t.err);
    assert_int_equal(count, 1);
    frz_free(t.env, location);
    frz_buf_reset(&text);
    frz_table_unref(table);
    table_close(&t);
}

/* ---- out of memory ---- */

static const char *metadata_file;

static frz_code validate_again(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    int64_t count = 0;
    FRZ_TRY(frz_table_open(env, metadata_file, NULL, &table, err));
    FRZ_TRY(frz_validate(table, NULL, NULL, &count, err));
    assert_int_equal(count, 0); /* running out of memory is no finding */
out:
    frz_table_unref(table);
    return rc;
}

static void memory__running_out_is_a_failure_and_not_a_finding(void **state)
{
    test_table t;
    frz_table *table = NULL;
    table_open(&t, state);
    import_one(&t);
    update_a(&t, NULL);
    assert_ok(frz_compact(t.catalog, TEST_NAME, NULL, &t.err), &t.err);
    assert_ok(frz_catalog_load_table(t.catalog, TEST_NAME, &table, &t.err), &t.err);
    metadata_file = table->metadata_location;
    assert_true(test_fail_every_allocation(validate_again) > 100);
    frz_table_unref(table);
    table_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(files__sound_table_is_clean),
        TEST_WITH_ENV(files__size_that_changed),
        TEST_WITH_ENV(files__missing_file),
        TEST_WITH_ENV(files__column_file_replaced_by_a_shorter_one),
        TEST_WITH_ENV(files__cut_off_and_garbage),
        TEST_WITH_ENV(files__listed_field_that_is_not_stored),
        TEST_WITH_ENV(files__types_that_cannot_be_read),
        TEST_WITH_ENV(statistics__must_contain_the_values),
        TEST_WITH_ENV(tracking__numbers_must_be_possible),
        TEST_WITH_ENV(tracking__modified_without_its_old_half),
        TEST_WITH_ENV(tracking__file_that_vanished),
        TEST_WITH_ENV(lineage__numbers_of_the_future),
        TEST_WITH_ENV(lineage__no_column_says_who_was_updated),
        TEST_WITH_ENV(lineage__row_ids_are_unique),
        TEST_WITH_ENV(root__that_cannot_be_read_is_a_finding),
        TEST_WITH_ENV(memory__running_out_is_a_failure_and_not_a_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
