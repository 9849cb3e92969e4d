/*
 * Compaction: values, row ids and sequence numbers survive, whether chunks are copied or encoded.
 */
#include "unit/maintain/maintain_table.h"

static frz_field field_id(void)
{
    return test_field(1, "id", true, FRZ_TYPE_LONG);
}

static frz_field field_a(void)
{
    return test_field(2, "a", false, FRZ_TYPE_DOUBLE);
}

static frz_field field_s(void)
{
    return test_field(3, "s", false, FRZ_TYPE_STRING);
}

/* Two files, six and three rows. */
static void import_two(test_table *t)
{
    const char *files[2];
    files[0] =
        source_file(t,
                    COLUMNS({field_id(), "0 1 2 3 4 5"}, {field_a(), "0.5 1.5 null 3.5 4.5 5.5"},
                            {field_s(), "a b c d e null"}),
                    4);
    files[1] = source_file(
        t, COLUMNS({field_id(), "6 7 8"}, {field_a(), "6.5 7.5 8.5"}, {field_s(), "x y z"}), 0);
    import_files(t, files, 2);
}

static void assert_column(test_table *t, frz_field field, const char *values)
{
    assert_string_equal(column_text(t, &field), values);
}

static void compact(test_table *t, int64_t data_files, int64_t rows)
{
    frz_commit_report report = {0};
    assert_ok(frz_compact(t->catalog, TEST_NAME, &report, &t->err), &t->err);
    assert_int_equal(report.data_files, data_files);
    assert_int_equal(report.rows, rows);
    test_snapshot snapshot;
    snapshot_open(t, &snapshot);
    for (size_t i = 0; i < snapshot.count; i++) {
        assert_int_equal(snapshot.entries[i]->column_file_count, 0);
    }
    snapshot_close(&snapshot);
    assert_clean(t);
}

static void fold__values_row_ids_and_numbers_survive(void **state)
{
    test_table t;
    table_open(&t, state);
    import_two(&t);
    assert_clean(&t);
    test_column a = {field_a(), "10 1.5 12 3.5 null 5.5"};
    update_entry(&t, &(test_update){.entry = 0,
                                    .columns = &a,
                                    .column_count = 1,
                                    .updated = "null 1 null 1 null 1",
                                    .group_rows = 4});
    assert_clean(&t);
    compact(&t, 1, 6);
    /* the new file stands where the old one stood */
    assert_column(&t, field_id(), "0 1 2 3 4 5 6 7 8");
    assert_column(&t, field_a(), "10.0 1.5 12.0 3.5 null 5.5 6.5 7.5 8.5");
    assert_column(&t, field_s(), "a b c d e null x y z");
    assert_column(&t, frz_field_row_id, "0 1 2 3 4 5 6 7 8");
    assert_column(&t, frz_field_last_updated, "2 1 2 1 2 1 1 1 1");
    /* and again, on the compacted file */
    test_column s = {field_s(), "A b c d e f"};
    update_entry(&t, &(test_update){.entry = 0,
                                    .columns = &s,
                                    .column_count = 1,
                                    .updated = "null 1 2 1 2 null",
                                    .group_rows = 4});
    compact(&t, 1, 6);
    assert_column(&t, field_a(), "10.0 1.5 12.0 3.5 null 5.5 6.5 7.5 8.5");
    assert_column(&t, field_s(), "A b c d e f x y z");
    assert_column(&t, frz_field_row_id, "0 1 2 3 4 5 6 7 8");
    assert_column(&t, frz_field_last_updated, "4 1 2 1 2 4 1 1 1");
    table_close(&t);
}

static void fold__other_row_groups_are_encoded_anew(void **state)
{
    static const int64_t groups[] = {0, 1, 2, 3, 5};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(groups); i++) {
        test_table t;
        table_open(&t, state);
        import_two(&t);
        test_column columns[] = {{field_a(), "10 11 12 13 14 15"}, {field_s(), "p q r s t u"}};
        update_entry(&t, &(test_update){.entry = 0,
                                        .columns = columns,
                                        .column_count = 2,
                                        .updated = "null null null null null null",
                                        .group_rows = groups[i]});
        compact(&t, 1, 6);
        assert_column(&t, field_a(), "10.0 11.0 12.0 13.0 14.0 15.0 6.5 7.5 8.5");
        assert_column(&t, field_s(), "p q r s t u x y z");
        assert_column(&t, frz_field_last_updated, "2 2 2 2 2 2 1 1 1");
        table_close(&t);
    }
}

/* The copied chunks are the bytes of the sources. */
static void fold__chunks_are_copied_with_their_repetition(void **state)
{
    test_table t;
    frz_data_file *file = NULL;
    table_open(&t, state);
    import_two(&t);
    test_column id = {field_id(), "10 11 12 13 14 15"};
    update_entry(&t, &(test_update){.entry = 0,
                                    .columns = &id,
                                    .column_count = 1,
                                    .updated = "null null null null null null",
                                    .group_rows = 4});
    compact(&t, 1, 6);
    assert_ok(frz_data_file_open(t.env, part_path(&t, 0, 0), NULL, &file, &t.err), &t.err);
    const frz_type *type = frz_data_file_type(file);
    size_t groups = 0;
    const int64_t *ends = frz_data_file_group_ends(file, &groups);
    assert_int_equal(groups, 2);
    assert_int_equal(ends[0], 4);
    assert_int_equal(type->field_count, 5);
    /* from a column file: optional, although the table requires it */
    assert_false(type->fields[0].required);
    assert_int_equal(type->fields[3].id, FRZ_ID_ROW_ID);
    assert_int_equal(type->fields[4].id, FRZ_ID_LAST_UPDATED);
    frz_data_file_close(file);
    assert_column(&t, field_id(), "10 11 12 13 14 15 6 7 8");
    table_close(&t);
}

/* ---- schemas that moved on ---- */

typedef struct new_schema {
    const frz_field *fields;
    size_t count;
    int32_t last_column_id;
} new_schema;

static void set_schema(test_table *t, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                       void *ctx)
{
    const new_schema *wanted = ctx;
    frz_schema *schema = frz_arena_alloc(attempt->arena, sizeof *schema);
    assert_ok(
        frz_type_struct_of(attempt->arena, wanted->fields, wanted->count, &schema->type, &t->err),
        &t->err);
    plan->schema = schema;
    plan->last_column_id = wanted->last_column_id;
}

static void fold__follows_the_current_schema(void **state)
{
    test_table t;
    table_open(&t, state);
    frz_field i = test_field(1, "i", false, FRZ_TYPE_INT);
    const char *source =
        source_file(&t, COLUMNS({i, "1 2 null"}, {field_a(), "1 2 3"}, {field_s(), "a b c"}), 2);
    import_files(&t, &source, 1);
    /* i becomes long and k, a is dropped, n is new and stored nowhere */
    frz_field fields[] = {test_field(1, "k", false, FRZ_TYPE_LONG), field_s(),
                          test_field(4, "n", false, FRZ_TYPE_LONG)};
    commit_change(&t, set_schema, &(new_schema){fields, 3, 4});
    test_column s = {field_s(), "A B C"};
    update_entry(
        &t, &(test_update){
                .columns = &s, .column_count = 1, .updated = "null null null", .group_rows = 2});
    compact(&t, 1, 3);
    assert_column(&t, fields[0], "1 2 null");
    assert_column(&t, fields[1], "A B C");
    assert_column(&t, fields[2], "null null null");
    frz_data_file *file = NULL;
    assert_ok(frz_data_file_open(t.env, part_path(&t, 0, 0), NULL, &file, &t.err), &t.err);
    const frz_type *type = frz_data_file_type(file);
    assert_int_equal(type->field_count, 4);
    assert_true(frz_str_equal(type->fields[0].name, FRZ_STR("k")));
    assert_int_equal(type->fields[0].type->id, FRZ_TYPE_LONG);
    frz_data_file_close(file);
    table_close(&t);
}

static void fold__nothing_to_do_makes_no_snapshot(void **state)
{
    test_table t;
    frz_commit_report report = {0};
    table_open(&t, state);
    import_two(&t);
    assert_ok(frz_compact(t.catalog, TEST_NAME, &report, &t.err), &t.err);
    assert_int_equal(report.snapshot_id, 0);
    assert_int_equal(report.files_written, 0);
    assert_clean(&t);
    table_close(&t);
}

/* ---- another writer comes first ---- */

/* A catalog whose first swap loses to a commit that is made just then. */
typedef struct racing {
    test_table *t;
    const frz_catalog_ops *real;
    void *ctx;
    const test_update *rival;
} racing;

static frz_code racing_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    racing *r = ctx;
    return r->real->get(r->ctx, name, location, err);
}

static frz_code racing_swap(void *ctx, const frz_table_name *name, const char *expected,
                            const char *location, frz_error *err)
{
    racing *r = ctx;
    const test_update *rival = r->rival;
    r->rival = NULL;
    if (rival != NULL) {
        update_entry(r->t, rival);
    }
    return r->real->swap(r->ctx, name, expected, location, err);
}

static void compact_against(test_table *t, const test_update *rival, frz_commit_report *report)
{
    racing r = {t, t->catalog->ops, t->catalog->ctx, rival};
    frz_catalog_ops ops = *r.real;
    ops.get = racing_get;
    ops.swap = racing_swap;
    t->catalog->ops = &ops;
    t->catalog->ctx = &r;
    frz_code rc = frz_compact(t->catalog, TEST_NAME, report, &t->err);
    t->catalog->ops = r.real;
    t->catalog->ctx = r.ctx;
    assert_ok(rc, &t->err);
    assert_int_equal(report->attempts, 2);
    assert_clean(t);
}

static void update_both(test_table *t)
{
    test_column first = {field_a(), "10 11 12 13 14 15"}, second = {field_a(), "16 17 18"};
    update_entry(t, &(test_update){.entry = 0,
                                   .columns = &first,
                                   .column_count = 1,
                                   .updated = "null null null null null null",
                                   .group_rows = 4});
    update_entry(
        t, &(test_update){
               .entry = 1, .columns = &second, .column_count = 1, .updated = "null null null"});
}

static void race__only_the_file_that_changed_is_compacted_again(void **state)
{
    test_table t;
    frz_commit_report report = {0};
    table_open(&t, state);
    import_two(&t);
    update_both(&t);
    test_column s = {field_s(), "P Q R"};
    test_update rival = {.entry = 1, .columns = &s, .column_count = 1, .updated = "null 3 null"};
    compact_against(&t, &rival, &report);
    assert_int_equal(report.data_files, 2);
    assert_column(&t, field_a(), "10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0");
    assert_column(&t, field_s(), "a b c d e null P Q R");
    assert_column(&t, frz_field_last_updated, "2 2 2 2 2 2 4 3 4");
    assert_column(&t, frz_field_row_id, "0 1 2 3 4 5 6 7 8");
    table_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(fold__values_row_ids_and_numbers_survive),
        TEST_WITH_ENV(fold__other_row_groups_are_encoded_anew),
        TEST_WITH_ENV(fold__chunks_are_copied_with_their_repetition),
        TEST_WITH_ENV(fold__follows_the_current_schema),
        TEST_WITH_ENV(fold__nothing_to_do_makes_no_snapshot),
        TEST_WITH_ENV(race__only_the_file_that_changed_is_compacted_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
