/*
 * Scans skip rows inside files: what each part of a stitched file proves, and random conditions
 * over a table with column files against the same scans without any proof.
 */
#include "frazil/column_update.h"
#include "frazil/scan.h"
#include "unit/maintain/maintain_table.h"

#define LONG(id, name) test_field(id, name, false, FRZ_TYPE_LONG)

/* First column of the rows of a scan, and what the scan reports. */
static int64_t *scan_ids(test_table *t, frz_table *table, const char *where, size_t *count,
                         frz_scan_report *report)
{
    static const char *const columns[] = {"id"};
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    int64_t *ids = frz_arena_array(&t->arena, 4096, sizeof *ids);
    frz_code rc;
    options.columns = columns;
    options.column_count = 1;
    options.where = where;
    *count = 0;
    assert_ok(frz_scan_open(table, &options, &scan, &t->err), &t->err);
    while ((rc = frz_scan_next(scan, &batch, &t->err)) == FRZ_OK) {
        for (int64_t i = 0; i < batch.length; i++) {
            assert_true(*count < 4096);
            ids[(*count)++] = frz_get_i64(batch.children[0], i);
        }
        frz_array_release(&batch);
    }
    assert_ok(rc == FRZ_END ? FRZ_OK : rc, &t->err);
    frz_scan_report_get(scan, report);
    frz_scan_close(scan);
    return ids;
}

static frz_table *load(test_table *t)
{
    frz_table *table = NULL;
    assert_ok(frz_catalog_load_table(t->catalog, TEST_NAME, &table, &t->err), &t->err);
    return table;
}

static void set_column(test_table *t, const char *column, const char *value, const char *where)
{
    const frz_assignment set = {column, value};
    assert_ok(frz_update_columns(t->catalog, TEST_NAME, &set, 1, where, NULL, &t->err), &t->err);
}

static void scan__row_groups_of_a_file_are_skipped(void **state)
{
    test_table t;
    size_t count;
    frz_scan_report report;
    const char *path;
    table_open(&t, state);
    path = source_file(
        &t, COLUMNS({LONG(1, "id"), "1 2 3 4 5 6 7 8"}, {LONG(2, "a"), "0 0 0 0 0 0 0 0"}), 2);
    import_files(&t, &path, 1);
    frz_table *table = load(&t);
    int64_t *ids = scan_ids(&t, table, "id = 5 OR id = 8", &count, &report);
    assert_int_equal(count, 2);
    assert_int_equal(ids[0], 5);
    assert_int_equal(ids[1], 8);
    assert_int_equal(report.groups, 4);
    assert_int_equal(report.groups_by_statistics, 2);
    assert_int_equal(report.rows_skipped, 4);
    assert_int_equal(report.rows_read, 4);
    assert_int_equal(report.rows_returned, 2);
    scan_ids(&t, table, NULL, &count, &report);
    assert_int_equal(count, 8);
    assert_int_equal(report.groups, 0);
    assert_int_equal(report.rows_skipped, 0);
    frz_table_unref(table);
    table_close(&t);
}

static void scan__base_and_column_files_skip_together(void **state)
{
    test_table t;
    size_t count;
    frz_scan_report report;
    const char *path;
    table_open(&t, state);
    path = source_file(
        &t, COLUMNS({LONG(1, "id"), "1 2 3 4 5 6 7 8"}, {LONG(2, "a"), "90 90 90 90 90 90 90 90"}),
        2);
    import_files(&t, &path, 1);
    set_column(&t, "a", "id * 10", NULL);
    frz_table *table = load(&t);
    /* the base file still has the old values of a, which say nothing now */
    int64_t *ids = scan_ids(&t, table, "a = 50", &count, &report);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 5);
    assert_int_equal(report.rows_skipped, 6);
    scan_ids(&t, table, "a = 90", &count, &report);
    assert_int_equal(count, 0);
    ids = scan_ids(&t, table, "id >= 3 AND a <= 60", &count, &report);
    assert_int_equal(count, 4);
    assert_int_equal(ids[0], 3);
    assert_int_equal(report.groups, 4 + 3); /* the column file is asked about what is left */
    assert_int_equal(report.groups_by_statistics, 1 + 1);
    assert_int_equal(report.rows_read, 4);
    assert_int_equal(report.rows_skipped, 4);
    frz_table_unref(table);
    table_close(&t);
}

static void scan__lineage_columns_prove_nothing(void **state)
{
    test_table t;
    size_t count;
    frz_scan_report report;
    const char *path;
    table_open(&t, state);
    path = source_file(&t, COLUMNS({LONG(1, "id"), "1 2 3 4"}, {LONG(2, "a"), "0 0 0 0"}), 2);
    import_files(&t, &path, 1);
    set_column(&t, "a", "7", "id = 2");
    frz_table *table = load(&t);
    int64_t *ids = scan_ids(&t, table, "_last_updated_sequence_number = 2", &count, &report);
    assert_int_equal(count, 1);
    assert_int_equal(ids[0], 2);
    scan_ids(&t, table, "_last_updated_sequence_number = 1", &count, &report);
    assert_int_equal(count, 3);
    scan_ids(&t, table, "_row_id = 3", &count, &report);
    assert_int_equal(count, 1);
    frz_table_unref(table);
    table_close(&t);
}

/* ---- random ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int below(uint64_t *state, int n)
{
    return (int)((next_random(state) >> 20) % (uint64_t)n);
}

static char *random_column(test_table *t, uint64_t *r, int rows)
{
    frz_buf text = FRZ_BUF_INIT(t->env, FRZ_BUF_NO_LIMIT);
    int base = below(r, 100);
    for (int i = 0; i < rows; i++) {
        if (i % 9 == 0) {
            base = below(r, 100);
        }
        frz_buf_append_str(&text, i == 0 ? "" : " ", &t->err);
        if (below(r, 8) == 0) {
            frz_buf_append_str(&text, "null", &t->err);
        } else {
            frz_buf_printf(&text, &t->err, "%d", base + below(r, 5));
        }
    }
    char *copy = frz_arena_strdup(&t->arena, frz_buf_view(&text));
    frz_buf_reset(&text);
    return copy;
}

static void random_atom(uint64_t *r, char *out, size_t size)
{
    static const char *const names[] = {"id", "a", "b", "a", "b"};
    static const char *const operators[] = {"=", "<", ">=", "<>", "="};
    const char *name = names[below(r, 5)];
    int value = below(r, 110);
    switch (below(r, 6)) {
    case 0:
        snprintf(out, size, "%s IS %sNULL", name, below(r, 2) == 0 ? "NOT " : "");
        break;
    case 1:
        snprintf(out, size, "%s BETWEEN %d AND %d", name, value, value + below(r, 10));
        break;
    default:
        snprintf(out, size, "%s %s %d", name, operators[below(r, 5)], value);
        break;
    }
}

static char *random_filter(test_table *t, uint64_t *r)
{
    char a[64], b[64], c[64];
    random_atom(r, a, sizeof a);
    random_atom(r, b, sizeof b);
    random_atom(r, c, sizeof c);
    switch (below(r, 4)) {
    case 0:
        return frz_arena_printf(&t->arena, "%s", a);
    case 1:
        return frz_arena_printf(&t->arena, "%s AND %s", a, b);
    case 2:
        return frz_arena_printf(&t->arena, "NOT (%s) AND (%s OR %s)", a, b, c);
    default:
        return frz_arena_printf(&t->arena, "%s OR %s AND %s", a, b, c);
    }
}

static void check_random(test_table *t, uint64_t *r, int64_t *skipped)
{
    frz_table *table = load(t);
    for (int i = 0; i < 60; i++) {
        size_t count, all_count;
        frz_scan_report report, all_report;
        const char *filter = random_filter(t, r);
        /* a condition that nothing is proven about */
        const char *opaque =
            frz_arena_printf(&t->arena, "CASE WHEN %s THEN TRUE ELSE FALSE END", filter);
        int64_t *ids = scan_ids(t, table, filter, &count, &report);
        int64_t *all = scan_ids(t, table, opaque, &all_count, &all_report);
        assert_int_equal(all_report.rows_skipped, 0);
        if (count != all_count || memcmp(ids, all, count * sizeof *ids) != 0) {
            fail_msg("%zu rows instead of %zu: %s", count, all_count, filter);
        }
        *skipped += report.rows_skipped;
    }
    frz_table_unref(table);
}

static void scan__random_conditions_lose_no_row(void **state)
{
    uint64_t r = UINT64_C(0xABCDEF12345);
    int64_t skipped = 0;
    for (int round = 0; round < 4; round++) {
        test_table t;
        const char *paths[2];
        table_open(&t, state);
        for (int i = 0; i < 2; i++) {
            int rows = 40 + below(&r, 30);
            const test_column columns[] = {{LONG(1, "id"), random_column(&t, &r, rows)},
                                           {LONG(2, "a"), random_column(&t, &r, rows)},
                                           {LONG(3, "b"), random_column(&t, &r, rows)}};
            paths[i] = source_file(&t, columns, 3, 3 + below(&r, 10));
        }
        import_files(&t, paths, 2);
        check_random(&t, &r, &skipped);
        set_column(&t, "a", "b + 3", round % 2 == 0 ? NULL : "id > 30");
        check_random(&t, &r, &skipped);
        set_column(&t, "b", "NULLIF(id, 50)", "a < 60");
        check_random(&t, &r, &skipped);
        table_close(&t);
    }
    print_message("%lld rows were skipped\n", (long long)skipped);
    assert_true(skipped > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(scan__row_groups_of_a_file_are_skipped),
        TEST_WITH_ENV(scan__base_and_column_files_skip_together),
        TEST_WITH_ENV(scan__lineage_columns_prove_nothing),
        TEST_WITH_ENV(scan__random_conditions_lose_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
