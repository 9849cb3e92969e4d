/*
 * Expiry and what the catalog answers: files go after a commit that is known to have happened, and
 * the table they were compared with is the one that was committed.
 */
#include "frazil/sql.h"
#include "unit/maintain/maintain_table.h"

typedef struct fixture {
    test_table t;
    frz_catalog outer;
    frz_catalog_ops ops;
    swap_answer answer;
    const char *rival; /* a statement of another writer, just before the swap; NULL: none */
    bool overtaken;    /* once: the table is compacted, and its snapshots expire, just after it is
                          loaded */
} fixture;

static void sql(fixture *f, const char *text)
{
    frz_sql_result result = {0};
    assert_ok(frz_sql_run(f->t.catalog, NULL, text, &result, &f->t.err), &f->t.err);
}

static frz_code scripted_swap(void *ctx, const frz_table_name *name, const char *expected,
                              const char *location, frz_error *err)
{
    fixture *f = ctx;
    if (f->rival != NULL) {
        const char *rival = f->rival;
        f->rival = NULL;
        sql(f, rival);
    }
    return test_swap(f->t.catalog, f->answer, name, expected, location, err);
}

static frz_code scripted_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    fixture *f = ctx;
    frz_code rc = f->t.catalog->ops->get(f->t.catalog->ctx, name, location, err);
    if (rc == FRZ_OK && f->overtaken) {
        frz_expire_options all = FRZ_EXPIRE_OPTIONS_INIT;
        all.older_than = "2099-01-01";
        f->overtaken = false;
        assert_ok(frz_compact(f->t.catalog, TEST_NAME, NULL, &f->t.err), &f->t.err);
        assert_ok(frz_expire(f->t.catalog, TEST_NAME, &all, NULL, &f->t.err), &f->t.err);
    }
    return rc;
}

/* Four snapshots of a table with a file of three rows, two of them with column files. */
static void fixture_open(fixture *f, void **state)
{
    memset(f, 0, sizeof *f);
    table_open(&f->t, state);
    const char *path =
        source_file(&f->t, COLUMNS({test_field(1, "id", false, FRZ_TYPE_LONG), "1 2 3"}), 0);
    import_files(&f->t, &path, 1);
    f->ops = (frz_catalog_ops){.get = scripted_get, .swap = scripted_swap};
    f->outer = (frz_catalog){.env = f->t.env, .ops = &f->ops, .ctx = f};
    sql(f, "UPDATE " TEST_NAME " SET id = id + 1");
    sql(f, "UPDATE " TEST_NAME " SET id = id + 1");
    sql(f, "DELETE FROM " TEST_NAME " WHERE id = 4");
}

static void fixture_close(fixture *f)
{
    table_close(&f->t);
}

static int files_seen;

static int count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    files_seen += flag == FTW_F;
    return 0;
}

static int count_files(fixture *f)
{
    char path[128];
    snprintf(path, sizeof path, "%s/db/t", f->t.folder);
    files_seen = 0;
    assert_int_equal(nftw(path, count_one, 16, FTW_PHYS), 0);
    return files_seen;
}

static size_t count_snapshots(fixture *f)
{
    frz_table *table = NULL;
    assert_ok(frz_catalog_load_table(f->t.catalog, TEST_NAME, &table, &f->t.err), &f->t.err);
    size_t count = table->metadata.snapshot_count;
    frz_table_unref(table);
    return count;
}

static frz_code expire(fixture *f, int64_t retain, frz_removal_report *report)
{
    frz_expire_options options = FRZ_EXPIRE_OPTIONS_INIT;
    options.older_than = "2099-01-01T00:00:00Z";
    options.retain_last = retain;
    return frz_expire(&f->outer, TEST_NAME, &options, report, &f->t.err);
}

static void expire__files_go_with_their_snapshots(void **state)
{
    fixture f;
    frz_removal_report report;
    fixture_open(&f, state);
    int before = count_files(&f);
    assert_ok(expire(&f, 2, &report), &f.t.err);
    assert_int_equal(report.count[FRZ_REMOVED_SNAPSHOT], 2);
    assert_int_equal(report.count[FRZ_REMOVED_COLUMN_FILE], 1);
    assert_int_equal(report.count[FRZ_REMOVED_SNAPSHOT_ROOT], 2);
    assert_int_equal(report.count[FRZ_REMOVED_DATA_FILE], 0);
    assert_int_equal(count_files(&f), before - 3 + 1); /* a metadata file came */
    assert_int_equal(count_snapshots(&f), 2);
    assert_clean(&f.t);
    assert_ok(frz_compact(f.t.catalog, TEST_NAME, NULL, &f.t.err), &f.t.err);
    assert_ok(expire(&f, 1, &report), &f.t.err);
    assert_int_equal(report.count[FRZ_REMOVED_DATA_FILE], 1);
    assert_int_equal(report.count[FRZ_REMOVED_VECTOR_FILE], 1);
    assert_clean(&f.t);
    fixture_close(&f);
}

static void expire__an_unknown_outcome_removes_nothing(void **state)
{
    static const swap_answer answers[] = {SWAP_UNKNOWN_DONE, SWAP_UNKNOWN_NOT};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(answers); i++) {
        fixture f;
        fixture_open(&f, state);
        int before = count_files(&f);
        f.answer = answers[i];
        assert_fails(expire(&f, 1, NULL), &f.t.err, FRZ_E_COMMIT_UNKNOWN,
                     "the connection was lost");
        assert_int_equal(count_files(&f), before + 1);
        assert_int_equal(count_snapshots(&f), answers[i] == SWAP_UNKNOWN_DONE ? 1 : 4);
        assert_clean(&f.t);
        fixture_close(&f);
    }
}

static void expire__a_failed_commit_removes_nothing(void **state)
{
    fixture f;
    fixture_open(&f, state);
    int before = count_files(&f);
    f.answer = SWAP_FAILS;
    assert_fails(expire(&f, 1, NULL), &f.t.err, FRZ_E_IO, "the catalog is out of order");
    assert_int_equal(count_files(&f), before);
    assert_int_equal(count_snapshots(&f), 4);
    fixture_close(&f);
}

/* The rival's snapshot is the one that stays, with all that it needs. */
static void expire__a_lost_race_is_decided_anew(void **state)
{
    static const char *const rivals[] = {
        "UPDATE " TEST_NAME " SET id = id + 1 WHERE id = 3",
        "DELETE FROM " TEST_NAME " WHERE id = 3",
        "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES ('a' = 'b')",
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(rivals); i++) {
        fixture f;
        frz_removal_report report;
        fixture_open(&f, state);
        f.rival = rivals[i];
        assert_ok(expire(&f, 1, &report), &f.t.err);
        assert_int_equal(report.count[FRZ_REMOVED_SNAPSHOT], i < 2 ? 4 : 3);
        assert_int_equal(count_snapshots(&f), 1);
        assert_clean(&f.t);
        fixture_close(&f);
    }
}

static void expire__a_rival_may_forbid_it(void **state)
{
    fixture f;
    fixture_open(&f, state);
    int before = count_files(&f);
    f.rival = "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES ('gc.enabled' = 'false')";
    assert_fails(expire(&f, 1, NULL), &f.t.err, FRZ_E_ARGUMENT, "gc.enabled");
    assert_int_equal(count_files(&f), before + 1);
    assert_int_equal(count_snapshots(&f), 4);
    fixture_close(&f);
}

/* What an attempt would read has gone with the version it was loaded from. */
static void expire__who_is_overtaken_starts_again(void **state)
{
    for (int what = 0; what < 4; what++) {
        fixture f;
        frz_sql_result result = {0};
        frz_orphan_options orphans = FRZ_ORPHAN_OPTIONS_INIT;
        fixture_open(&f, state);
        orphans.older_than = "2099-01-01";
        orphans.force = 1;
        f.overtaken = true;
        switch (what) {
        case 0:
            assert_ok(frz_sql_run(&f.outer, NULL, "UPDATE " TEST_NAME " SET id = id + 1", &result,
                                  &f.t.err),
                      &f.t.err);
            break;
        case 1:
            assert_ok(frz_compact(&f.outer, TEST_NAME, NULL, &f.t.err), &f.t.err);
            break;
        case 2:
            assert_ok(expire(&f, 1, NULL), &f.t.err);
            break;
        default:
            assert_ok(frz_remove_orphans(&f.outer, TEST_NAME, &orphans, NULL, &f.t.err), &f.t.err);
        }
        assert_false(f.overtaken);
        assert_int_equal(count_snapshots(&f), what == 0 ? 2 : 1);
        assert_clean(&f.t);
        fixture_close(&f);
    }
}

/* The metadata file that the catalog named is gone before it is opened. */
static void expire__a_version_that_has_gone_is_loaded_anew(void **state)
{
    fixture f;
    frz_table *newest = NULL, *table = NULL;
    frz_sql_result result = {0};
    fixture_open(&f, state);
    sql(&f, "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES ("
            "'write.metadata.delete-after-commit.enabled' = 'true', "
            "'write.metadata.previous-versions-max' = '1')");
    f.overtaken = true;
    assert_ok(frz_catalog_load_table(&f.outer, TEST_NAME, &table, &f.t.err), &f.t.err);
    assert_ok(frz_catalog_load_table(f.t.catalog, TEST_NAME, &newest, &f.t.err), &f.t.err);
    assert_string_equal(table->metadata_location, newest->metadata_location);
    assert_string_equal(table->pointer, newest->pointer);
    sql(&f, "DELETE FROM " TEST_NAME " WHERE id = 3"); /* there is something to compact again */
    f.overtaken = true;
    assert_ok(
        frz_sql_run(&f.outer, NULL, "UPDATE " TEST_NAME " SET id = id + 1", &result, &f.t.err),
        &f.t.err);
    assert_false(f.overtaken);
    assert_clean(&f.t);
    frz_table_unref(newest);
    frz_table_unref(table);
    fixture_close(&f);
}

/* The catalog names a file that is not there, and goes on to do so. */
static void expire__a_missing_version_is_an_error(void **state)
{
    fixture f;
    frz_table *table = NULL;
    fixture_open(&f, state);
    assert_ok(frz_catalog_load_table(&f.outer, TEST_NAME, &table, &f.t.err), &f.t.err);
    assert_ok(frz_file_remove(f.t.env, table->metadata_location, &f.t.err), &f.t.err);
    frz_table_unref(table);
    assert_fails(frz_catalog_load_table(&f.outer, TEST_NAME, &table, &f.t.err), &f.t.err,
                 FRZ_E_NOT_FOUND, ".metadata.json");
    fixture_close(&f);
}

/* A file that is missing for another reason is told, and not looked for again. */
static void expire__a_missing_file_is_an_error(void **state)
{
    fixture f;
    frz_orphan_options orphans = FRZ_ORPHAN_OPTIONS_INIT;
    test_snapshot snapshot;
    fixture_open(&f, state);
    assert_ok(frz_compact(f.t.catalog, TEST_NAME, NULL, &f.t.err), &f.t.err);
    snapshot_open(&f.t, &snapshot);
    assert_ok(frz_file_remove(f.t.env, frz_tree_location(snapshot.tree), &f.t.err), &f.t.err);
    snapshot_close(&snapshot);
    int before = count_files(&f);
    assert_int_equal(expire(&f, 1, NULL), FRZ_E_NOT_FOUND);
    assert_int_equal(frz_remove_orphans(&f.outer, TEST_NAME, &orphans, NULL, &f.t.err),
                     FRZ_E_NOT_FOUND);
    assert_int_equal(count_files(&f), before);
    fixture_close(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(expire__files_go_with_their_snapshots),
        TEST_WITH_ENV(expire__an_unknown_outcome_removes_nothing),
        TEST_WITH_ENV(expire__a_failed_commit_removes_nothing),
        TEST_WITH_ENV(expire__a_lost_race_is_decided_anew),
        TEST_WITH_ENV(expire__a_rival_may_forbid_it),
        TEST_WITH_ENV(expire__who_is_overtaken_starts_again),
        TEST_WITH_ENV(expire__a_version_that_has_gone_is_loaded_anew),
        TEST_WITH_ENV(expire__a_missing_version_is_an_error),
        TEST_WITH_ENV(expire__a_missing_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
