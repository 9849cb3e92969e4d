/*
 * Pairs of operations of which one overtakes the other: whatever mine and theirs are, the table is
 * what it would be had they run one after the other. docs/isolation.md has the table of pairs.
 */
#include "frazil/maintain.h"
#include "frazil/sql.h"
#include "model/model_table.h"

#define MOST_RESULT 64

typedef struct operation {
    const char *name;
    const char *sql; /* NULL: see run */
    void (*run)(fixture *f, frz_catalog *catalog);
    bool changes_rows; /* update or delete: what isolation is about */
} operation;

static void compact_files(fixture *f, frz_catalog *catalog)
{
    assert_ok(frz_compact(catalog, NAME, NULL, &f->err), &f->err);
}

static void expire_snapshots(fixture *f, frz_catalog *catalog)
{
    frz_expire_options options = FRZ_EXPIRE_OPTIONS_INIT;
    options.older_than = "2099-01-01";
    assert_ok(frz_expire(catalog, NAME, &options, NULL, &f->err), &f->err);
}

static const operation operations[] = {
    {"update n", "UPDATE db.t SET n = n + 1000 WHERE id % 2 = 0", NULL, true},
    {"update d", "UPDATE db.t SET d = id + 0.5 WHERE id % 3 = 0", NULL, true},
    {"update n where d", "UPDATE db.t SET n = id + 7 WHERE d < 9", NULL, true},
    {"update all n", "UPDATE db.t SET n = n * 2", NULL, true},
    {"delete", "DELETE FROM db.t WHERE id % 5 = 0", NULL, true},
    {"delete a file", "DELETE FROM db.t WHERE id < 10", NULL, true},
    {"append", "INSERT INTO db.t (id, n, d) VALUES (100, 1, 2.0), (105, 3, 4.0)", NULL, false},
    {"compact", NULL, compact_files, false},
    {"expire", NULL, expire_snapshots, false},
};

static void run_operation(fixture *f, frz_catalog *catalog, const operation *op)
{
    frz_sql_result result = {0};
    if (op->sql == NULL) {
        op->run(f, catalog);
    } else {
        assert_ok(frz_sql_run(catalog, NULL, op->sql, &result, &f->err), &f->err);
    }
}

static const operation *theirs_now;

static void rival_operates(fixture *f)
{
    run_operation(f, f->inner, theirs_now);
}

static void set(fixture *f, const char *key, const char *value)
{
    char sql[256];
    frz_sql_result result = {0};
    snprintf(sql, sizeof sql, "ALTER TABLE db.t SET TBLPROPERTIES ('%s' = '%s')", key, value);
    assert_ok(frz_sql_run(f->inner, NULL, sql, &result, &f->err), &f->err);
}

/* Two data files of ten rows, the first with column files. */
static void open_table(fixture *f, void **state, const char *mode, const char *isolation)
{
    static const size_t ends[] = {10, 20};
    frz_sql_result result = {0};
    fixture_open(f, state, 11);
    make_rows(f, 20);
    import_rows(f, ends, 2, true, "none");
    set(f, "write.update.mode", mode);
    set(f, "write.delete.mode", strcmp(mode, "column-file") == 0 ? "merge-on-read" : mode);
    set(f, "write.update.isolation-level", isolation);
    set(f, "write.delete.isolation-level", isolation);
    assert_ok(frz_sql_run(f->inner, NULL, "UPDATE db.t SET n = id, d = id WHERE id < 10", &result,
                          &f->err),
              &f->err);
}

/* ---- what a table holds ---- */

typedef struct held_row {
    int64_t id, n;
    double d;
    bool n_null, d_null;
} held_row;

typedef struct held {
    held_row rows[MOST_RESULT];
    size_t count;
} held;

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const held_row *)a)->id, y = ((const held_row *)b)->id;
    return (x > y) - (x < y);
}

static void read_table(fixture *f, held *out)
{
    frz_sql_result result = {0};
    struct ArrowArray batch = {0};
    out->count = 0;
    assert_ok(frz_sql_run(f->inner, NULL, "SELECT id, n, d FROM db.t", &result, &f->err), &f->err);
    while (result.rows.get_next(&result.rows, &batch) == 0 && batch.release != NULL) {
        for (int64_t i = 0; i < batch.length; i++) {
            const struct ArrowArray *n = batch.children[1], *d = batch.children[2];
            held_row row = {.id = frz_get_i64(batch.children[0], i),
                            .n_null = frz_is_null(n, i),
                            .d_null = frz_is_null(d, i)};
            row.n = row.n_null ? 0 : frz_get_i64(n, i);
            row.d = row.d_null ? 0 : ((const double *)d->buffers[1])[d->offset + i];
            assert_true(out->count < MOST_RESULT);
            out->rows[out->count++] = row;
        }
        batch.release(&batch);
    }
    result.rows.release(&result.rows);
    qsort(out->rows, out->count, sizeof *out->rows, by_id);
}

static bool same_rows(const held *a, const held *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        const held_row *x = &a->rows[i], *y = &b->rows[i];
        same = x->id == y->id && x->n == y->n && x->d == y->d && x->n_null == y->n_null &&
               x->d_null == y->d_null;
    }
    return same;
}

static void fail_on(void *ctx, const char *location, const char *text)
{
    (void)ctx;
    fail_msg("%s: %s", location, text);
}

static void validate(fixture *f)
{
    frz_table *table = NULL;
    int64_t findings = 0;
    assert_ok(frz_catalog_load_table(f->inner, NAME, &table, &f->err), &f->err);
    assert_ok(frz_validate(table, fail_on, NULL, &findings, &f->err), &f->err);
    frz_table_unref(table);
    assert_int_equal(findings, 0);
}

/* ---- pairs ---- */

static void run_pair(void **state, const operation *mine, const operation *theirs, const char *mode,
                     const char *isolation)
{
    fixture f;
    held found, expected;
    /* under snapshot isolation a change runs as if before an append that overtook it */
    bool before = strcmp(isolation, "snapshot") == 0 && mine->changes_rows &&
                  strcmp(theirs->name, "append") == 0;
    open_table(&f, state, mode, isolation);
    theirs_now = theirs;
    f.rival = rival_operates;
    run_operation(&f, &f.outer, mine);
    if (f.rival != NULL) { /* mine had nothing to commit */
        f.rival = NULL;
        run_operation(&f, f.inner, theirs);
    }
    read_table(&f, &found);
    validate(&f);
    fixture_close(&f);
    open_table(&f, state, mode, isolation);
    run_operation(&f, f.inner, before ? mine : theirs);
    run_operation(&f, f.inner, before ? theirs : mine);
    read_table(&f, &expected);
    fixture_close(&f);
    if (!same_rows(&found, &expected)) {
        fail_msg("%s, overtaken by %s (%s, %s)", mine->name, theirs->name, mode, isolation);
    }
}

static void run_pairs(void **state, const char *mode, const char *isolation)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(operations); i++) {
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(operations); k++) {
            run_pair(state, &operations[i], &operations[k], mode, isolation);
        }
    }
}

static void isolation__serializable_pairs_with_column_files(void **state)
{
    run_pairs(state, "column-file", "serializable");
}

static void isolation__snapshot_pairs_with_column_files(void **state)
{
    run_pairs(state, "column-file", "snapshot");
}

static void isolation__pairs_with_copy_on_write(void **state)
{
    run_pairs(state, "copy-on-write", "serializable");
}

static void isolation__snapshot_pairs_with_merge_on_read(void **state)
{
    run_pairs(state, "merge-on-read", "snapshot");
}

/* The same pair under both levels: only the rows that were appended differ. */
static void isolation__appended_rows_are_changed_or_left(void **state)
{
    const operation *append = &operations[6];
    held rows[2];
    for (int i = 0; i < 2; i++) {
        fixture f;
        open_table(&f, state, "column-file", i == 0 ? "serializable" : "snapshot");
        theirs_now = append;
        f.rival = rival_operates;
        run_operation(&f, &f.outer, &operations[0]);
        read_table(&f, &rows[i]);
        fixture_close(&f);
        assert_int_equal(rows[i].count, 22);
        assert_int_equal(rows[i].rows[20].id, 100);
    }
    assert_int_equal(rows[0].rows[20].n, 1001);
    assert_int_equal(rows[1].rows[20].n, 1);
    rows[1].rows[20].n = 1001;
    assert_true(same_rows(&rows[0], &rows[1]));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(isolation__serializable_pairs_with_column_files),
        TEST_WITH_ENV(isolation__snapshot_pairs_with_column_files),
        TEST_WITH_ENV(isolation__pairs_with_copy_on_write),
        TEST_WITH_ENV(isolation__snapshot_pairs_with_merge_on_read),
        TEST_WITH_ENV(isolation__appended_rows_are_changed_or_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
