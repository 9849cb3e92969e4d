/*
 * COMMIT that fails half way: a VFS whose journal cannot be deleted, or is deleted and still
 * reports a failure, and a file that cannot be opened again afterwards. Deleting the journal is the
 * moment at which SQLite commits.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "catalog/catalog_internal.h"
#include "unit/test_support.h"

#define VFS_NAME "faulty"

typedef enum delete_fault { DELETE_WORKS, DELETE_FAILS, DELETE_WORKS_AND_FAILS } delete_fault;

/* SQLite finds a VFS by name, so its state cannot live elsewhere. */
static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    delete_fault on_delete;
    bool broken; /* opening fails once a deletion has failed */
    bool failed;
} faulty;

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    delete_fault fault = faulty.on_delete;
    if (fault == DELETE_WORKS) {
        return faulty.real->xDelete(faulty.real, name, sync);
    }
    if (fault == DELETE_WORKS_AND_FAILS) {
        (void)faulty.real->xDelete(faulty.real, name, sync);
    }
    faulty.failed = true;
    faulty.on_delete = DELETE_WORKS; /* the fault is a passing one */
    return SQLITE_IOERR_DELETE;
}

static int faulty_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                       int *out)
{
    (void)vfs;
    if (faulty.broken && faulty.failed) {
        return SQLITE_CANTOPEN;
    }
    return faulty.real->xOpen(faulty.real, name, file, flags, out);
}

typedef struct fixture {
    frz_env *env;
    char folder[64], uri[160];
    frz_catalog *catalog;
} fixture;

static const frz_table_name wide = {"db", "db", "wide"};

static int fixture_setup(void **state)
{
    frz_error err = {0};
    fixture *f = calloc(1, sizeof *f);
    frz_env_options env_opts = FRZ_ENV_OPTIONS_INIT;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    assert_non_null(f);
    faulty.real = sqlite3_vfs_find(NULL);
    faulty.vfs = *faulty.real;
    faulty.vfs.zName = VFS_NAME;
    faulty.vfs.xDelete = faulty_delete;
    faulty.vfs.xOpen = faulty_open;
    faulty.on_delete = DELETE_WORKS;
    faulty.broken = faulty.failed = false;
    assert_int_equal(sqlite3_vfs_register(&faulty.vfs, 0), SQLITE_OK);
    env_opts.sqlite_vfs = VFS_NAME;
    assert_ok(frz_env_new(&env_opts, &f->env, &err), &err);
    strcpy(f->folder, "/tmp/frazil-commit-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->uri, sizeof f->uri, "sqlite://%s/c.db", f->folder);
    opts.uri = f->uri;
    assert_ok(frz_catalog_open(f->env, &opts, &f->catalog, &err), &err);
    assert_ok(f->catalog->ops->create(f->catalog->ctx, &wide, "m0", &err), &err);
    *state = f;
    return 0;
}

static int fixture_teardown(void **state)
{
    fixture *f = *state;
    char command[128];
    frz_env_counters counters;
    frz_catalog_close(f->catalog);
    frz_env_drop_cache(f->env);
    frz_env_counters_get(f->env, &counters);
    assert_int_equal(counters.bytes_allocated, sizeof VFS_NAME); /* held by the environment */
    frz_env_free(f->env);
    sqlite3_vfs_unregister(&faulty.vfs);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    int rc = system(command);
    free(f);
    return rc;
}

static frz_code swap(fixture *f, frz_error *err)
{
    return f->catalog->ops->swap(f->catalog->ctx, &wide, "m0", "m1", err);
}

static void assert_pointer(fixture *f, const char *expected)
{
    frz_error err = {0};
    char *location = NULL;
    assert_ok(f->catalog->ops->get(f->catalog->ctx, &wide, &location, &err), &err);
    assert_string_equal(location, expected);
    frz_free(f->env, location);
}

static void commit__that_did_not_happen_is_a_plain_failure(void **state)
{
    fixture *f = *state;
    frz_error err = {0};
    faulty.on_delete = DELETE_FAILS;
    frz_code rc = swap(f, &err);
    assert_fails(rc, &err, FRZ_E_IO, "disk I/O error");
    assert_pointer(f, "m0");
    assert_ok(swap(f, &err), &err);
    assert_pointer(f, "m1");
}

static void commit__that_happened_is_a_success_whatever_was_reported(void **state)
{
    fixture *f = *state;
    frz_error err = {0};
    faulty.on_delete = DELETE_WORKS_AND_FAILS;
    assert_ok(swap(f, &err), &err);
    assert_pointer(f, "m1");
}

static void commit__whose_outcome_cannot_be_read_is_unknown(void **state)
{
    fixture *f = *state;
    frz_error err = {0};
    faulty.on_delete = DELETE_WORKS_AND_FAILS;
    faulty.broken = true;
    frz_code rc = swap(f, &err);
    faulty.broken = false;
    assert_fails(rc, &err, FRZ_E_COMMIT_UNKNOWN, "the commit may have happened");
    assert_int_equal(err.code, FRZ_E_COMMIT_UNKNOWN);
    assert_pointer(f, "m1");
}

static void commit__of_a_new_row_is_settled_the_same_way(void **state)
{
    fixture *f = *state;
    frz_error err = {0};
    const frz_table_name other = {"db", "db", "other"};
    const frz_table_name third = {"db", "db", "third"};
    faulty.on_delete = DELETE_FAILS;
    frz_code rc = f->catalog->ops->create(f->catalog->ctx, &other, "o0", &err);
    assert_fails(rc, &err, FRZ_E_IO, "disk I/O error");
    assert_ok(f->catalog->ops->create(f->catalog->ctx, &other, "o0", &err), &err);
    faulty.on_delete = DELETE_WORKS_AND_FAILS;
    assert_ok(f->catalog->ops->create(f->catalog->ctx, &third, "t0", &err), &err);
    assert_pointer(f, "m0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commit__that_did_not_happen_is_a_plain_failure,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(commit__that_happened_is_a_success_whatever_was_reported,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(commit__whose_outcome_cannot_be_read_is_unknown,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(commit__of_a_new_row_is_settled_the_same_way, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
