/*
 * The SQLite catalog: compare and swap between two handles, the layout of the file, files that
 * others made, and failures.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/catalog_internal.h"
#include "unit/test_support.h"

/* A folder per test; the catalog in it is "sub/c.db". */
typedef struct fixture {
    char folder[64], path[128], uri[160];
} fixture;

static const frz_table_name wide = {"db", "db", "wide"};

static fixture fixture_make(void)
{
    fixture f;
    strcpy(f.folder, "/tmp/frazil-catalog-XXXXXX");
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/sub/c.db", f.folder);
    snprintf(f.uri, sizeof f.uri, "sqlite://%s", f.path);
    return f;
}

static void fixture_remove(const fixture *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
}

static frz_catalog *open_named(const frz_env *env, const char *uri, const char *name)
{
    frz_error err = {0};
    frz_catalog *catalog = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    opts.uri = uri;
    opts.name = name;
    assert_ok(frz_catalog_open(env, &opts, &catalog, &err), &err);
    return catalog;
}

static frz_catalog *open_catalog(const frz_env *env, const fixture *f)
{
    return open_named(env, f->uri, NULL);
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", text, message);
    }
    sqlite3_close(db);
}

/* The first column of the first row as text. */
static void assert_sql(const char *path, const char *text, const char *expected)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), expected);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void assert_pointer(const frz_env *env, frz_catalog *catalog, const char *expected)
{
    frz_error err = {0};
    char *location = NULL;
    assert_ok(catalog->ops->get(catalog->ctx, &wide, &location, &err), &err);
    assert_string_equal(location, expected);
    frz_free(env, location);
}

static void sqlite__two_writers_from_one_base_and_exactly_one_wins(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *a = open_catalog(env, &f);
    frz_catalog *b = open_catalog(env, &f);
    assert_ok(a->ops->create(a->ctx, &wide, "m0", &err), &err);
    assert_pointer(env, b, "m0");
    assert_ok(a->ops->swap(a->ctx, &wide, "m0", "m1-a", &err), &err);
    assert_fails(b->ops->swap(b->ctx, &wide, "m0", "m1-b", &err), &err, FRZ_E_CONFLICT,
                 "db.wide was changed by another writer");
    assert_pointer(env, a, "m1-a");
    assert_pointer(env, b, "m1-a");
    assert_ok(b->ops->swap(b->ctx, &wide, "m1-a", "m2-b", &err), &err);
    assert_pointer(env, a, "m2-b");
    frz_catalog_close(a);
    frz_catalog_close(b);
    assert_sql(f.path, "SELECT previous_metadata_location FROM iceberg_tables", "m1-a");
    fixture_remove(&f);
}

static void sqlite__a_new_file_has_the_jdbc_layout(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = open_catalog(env, &f);
    assert_int_equal(access(f.path, F_OK), -1); /* looking does not create */
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    assert_fails(catalog->ops->create(catalog->ctx, &wide, "m1", &err), &err, FRZ_E_EXISTS,
                 "db.wide exists already");
    frz_catalog_close(catalog);
    assert_sql(f.path,
               "SELECT catalog_name||'|'||table_namespace||'|'||table_name||'|'||"
               "metadata_location||'|'||iceberg_type FROM iceberg_tables",
               "frazil|db|wide|m0|TABLE");
    assert_sql(f.path,
               "SELECT group_concat(catalog_name||'|'||namespace||'|'||property_key||'|'||"
               "property_value, ';') FROM iceberg_namespace_properties",
               "frazil|db|exists|true");
    assert_sql(f.path, "PRAGMA journal_mode", "delete");
    fixture_remove(&f);
}

static void sqlite__a_namespace_that_is_there_is_left_alone(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = open_catalog(env, &f);
    const frz_table_name other = {"db", "db", "other"};
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    sql(f.path, "UPDATE iceberg_namespace_properties SET property_key = 'owner'");
    assert_ok(catalog->ops->create(catalog->ctx, &other, "m0", &err), &err);
    frz_catalog_close(catalog);
    assert_sql(f.path, "SELECT group_concat(property_key) FROM iceberg_namespace_properties",
               "owner");
    fixture_remove(&f);
}

/* Tables as text, "db.a db.b ". */
static int add_name(void *ctx, const char *namespace_name, const char *table_name)
{
    char *text = ctx;
    size_t len = strlen(text);
    snprintf(text + len, 256 - len, "%s.%s ", namespace_name, table_name);
    return 0;
}

static void assert_tables(frz_catalog *catalog, const char *expected)
{
    frz_error err = {0};
    char text[256] = "";
    assert_ok(frz_catalog_list_tables(catalog, add_name, text, &err), &err);
    assert_string_equal(text, expected);
}

static void sqlite__tables_are_listed_in_order_and_views_are_not(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = open_catalog(env, &f);
    assert_tables(catalog, "");
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    sql(f.path, "INSERT INTO iceberg_tables VALUES ('frazil','db','a','x',NULL,NULL),"
                "('frazil','a.b','z','x',NULL,'TABLE'),('frazil','db','v','x',NULL,'VIEW'),"
                "('other','db','t','x',NULL,'TABLE')");
    assert_tables(catalog, "a.b.z db.a db.wide ");
    const frz_table_name view = {"db", "db", "v"};
    char *location = NULL;
    assert_fails(catalog->ops->get(catalog->ctx, &view, &location, &err), &err, FRZ_E_NOT_FOUND,
                 "there is no table db.v");
    frz_catalog_close(catalog);
    fixture_remove(&f);
}

static const char v0_layout[] =
    "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace "
    "VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, "
    "table_name)); INSERT INTO iceberg_tables VALUES ('prod','db','wide','m0',NULL)";

static void sqlite__schema_v0_is_read_and_written_as_it_is(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    const frz_table_name other = {"db", "db", "other"};
    char folder[128];
    snprintf(folder, sizeof folder, "%s/sub", f.folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    sql(f.path, v0_layout);
    frz_catalog *catalog = open_catalog(env, &f);
    assert_pointer(env, catalog, "m0"); /* under the only name of the file */
    assert_ok(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err);
    assert_ok(catalog->ops->create(catalog->ctx, &other, "n0", &err), &err);
    assert_tables(catalog, "db.other db.wide ");
    frz_catalog_close(catalog);
    assert_sql(f.path, "SELECT group_concat(name) FROM pragma_table_info('iceberg_tables')",
               "catalog_name,table_namespace,table_name,metadata_location,"
               "previous_metadata_location");
    assert_sql(f.path, "SELECT group_concat(DISTINCT catalog_name) FROM iceberg_tables", "prod");
    fixture_remove(&f);
}

static void sqlite__rows_are_keyed_by_the_catalog_name(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *one = open_named(env, f.uri, "one");
    assert_ok(one->ops->create(one->ctx, &wide, "m-one", &err), &err);
    frz_catalog *two = open_named(env, f.uri, "two");
    assert_tables(two, "");
    assert_ok(two->ops->create(two->ctx, &wide, "m-two", &err), &err);
    frz_catalog *any = open_catalog(env, &f);
    assert_tables(any, ""); /* two names: the default one is meant */
    assert_pointer(env, one, "m-one");
    assert_pointer(env, two, "m-two");
    frz_catalog_close(one);
    frz_catalog_close(two);
    frz_catalog_close(any);
    fixture_remove(&f);
}

static void sqlite__the_journal_mode_of_an_existing_file_is_kept(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = open_catalog(env, &f);
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    frz_catalog_close(catalog);
    sql(f.path, "PRAGMA journal_mode=WAL");
    catalog = open_catalog(env, &f);
    assert_ok(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err);
    frz_catalog_close(catalog);
    assert_sql(f.path, "PRAGMA journal_mode", "wal");
    fixture_remove(&f);
}

static void sqlite__a_lock_is_waited_for_and_then_reported(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = open_catalog(env, &f);
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    sqlite3 *rival = NULL;
    assert_int_equal(sqlite3_open(f.path, &rival), SQLITE_OK);
    catalog_sqlite_set_wait(catalog->ctx, 20);

    assert_int_equal(sqlite3_exec(rival, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_fails(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err, FRZ_E_IO,
                 "is locked by another process");
    assert_int_equal(sqlite3_exec(rival, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);

    /* a reader stops the commit itself */
    assert_int_equal(sqlite3_exec(rival, "BEGIN; SELECT * FROM iceberg_tables", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_fails(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err, FRZ_E_IO,
                 "is locked by another process");
    assert_int_equal(sqlite3_exec(rival, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_pointer(env, catalog, "m0");
    assert_ok(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err);
    sqlite3_close(rival);
    frz_catalog_close(catalog);
    fixture_remove(&f);
}

static void sqlite__a_file_that_is_no_database_is_named(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    char path[128], uri[160];
    snprintf(path, sizeof path, "%s/text.db", f.folder);
    snprintf(uri, sizeof uri, "sqlite://%s", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++) {
        fputs("this is not a database\n", file);
    }
    fclose(file);
    opts.uri = uri;
    assert_fails(frz_catalog_open(env, &opts, &catalog, &err), &err, FRZ_E_CORRUPT,
                 "text.db is not a SQLite database");
    assert_null(catalog);
    fixture_remove(&f);
}

static void sqlite__what_is_not_there_is_not_found(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = NULL;
    char *location = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    opts.uri = f.uri;
    opts.must_exist = 1;
    assert_fails(frz_catalog_open(env, &opts, &catalog, &err), &err, FRZ_E_NOT_FOUND,
                 "there is no catalog at");
    opts.must_exist = 0;
    assert_ok(frz_catalog_open(env, &opts, &catalog, &err), &err);
    assert_fails(catalog->ops->get(catalog->ctx, &wide, &location, &err), &err, FRZ_E_NOT_FOUND,
                 "there is no table db.wide");
    assert_fails(catalog->ops->swap(catalog->ctx, &wide, "a", "b", &err), &err, FRZ_E_NOT_FOUND,
                 "there is no table db.wide");
    frz_catalog_close(catalog);
    fixture_remove(&f);
}

static void sqlite__a_folder_in_place_of_the_file_is_an_io_error(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    fixture f = fixture_make();
    frz_catalog *catalog = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    char uri[160];
    snprintf(uri, sizeof uri, "sqlite://%s", f.folder);
    opts.uri = uri;
    assert_fails(frz_catalog_open(env, &opts, &catalog, &err), &err, FRZ_E_IO,
                 "unable to open database file");
    fixture_remove(&f);
}

static void sqlite__uris_name_files(void **state)
{
    (void)state;
    assert_string_equal(catalog_sqlite_path("sqlite:///a/c.db"), "/a/c.db");
    assert_string_equal(catalog_sqlite_path("sqlite:////a/c.db"), "/a/c.db");
    assert_string_equal(catalog_sqlite_path("sqlite:a/c.db"), "a/c.db");
    assert_string_equal(catalog_sqlite_path("sqlite:/a/c.db"), "/a/c.db");
    assert_string_equal(catalog_sqlite_path("jdbc:sqlite:/a/c.db"), "/a/c.db");
    assert_null(catalog_sqlite_path("sqlite://host"));
    assert_null(catalog_sqlite_path("sqlite:///"));
    assert_null(catalog_sqlite_path("sqlite:"));
}

static void catalog__kinds_that_are_unknown_are_refused(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_catalog *catalog = NULL;
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    opts.uri = "rest:http://x";
    assert_fails(frz_catalog_open(env, &opts, &catalog, &err), &err, FRZ_E_ARGUMENT,
                 "unknown kind");
    opts.uri = NULL;
    assert_fails(frz_catalog_open(env, &opts, &catalog, &err), &err, FRZ_E_ARGUMENT, "uri");
}

static void memory__behaves_like_a_catalog(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    const frz_table_name first = {"a", "a", "z"};
    frz_catalog *catalog = open_named(env, "memory:", NULL);
    assert_ok(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err);
    assert_ok(catalog->ops->create(catalog->ctx, &first, "z0", &err), &err);
    assert_fails(catalog->ops->create(catalog->ctx, &wide, "m0", &err), &err, FRZ_E_EXISTS,
                 "exists already");
    assert_fails(catalog->ops->swap(catalog->ctx, &wide, "m9", "m1", &err), &err, FRZ_E_CONFLICT,
                 "another writer");
    assert_ok(catalog->ops->swap(catalog->ctx, &wide, "m0", "m1", &err), &err);
    assert_pointer(env, catalog, "m1");
    assert_tables(catalog, "a.z db.wide ");
    frz_catalog_close(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(sqlite__two_writers_from_one_base_and_exactly_one_wins),
        TEST_WITH_ENV(sqlite__a_new_file_has_the_jdbc_layout),
        TEST_WITH_ENV(sqlite__a_namespace_that_is_there_is_left_alone),
        TEST_WITH_ENV(sqlite__tables_are_listed_in_order_and_views_are_not),
        TEST_WITH_ENV(sqlite__schema_v0_is_read_and_written_as_it_is),
        TEST_WITH_ENV(sqlite__rows_are_keyed_by_the_catalog_name),
        TEST_WITH_ENV(sqlite__the_journal_mode_of_an_existing_file_is_kept),
        TEST_WITH_ENV(sqlite__a_lock_is_waited_for_and_then_reported),
        TEST_WITH_ENV(sqlite__a_file_that_is_no_database_is_named),
        TEST_WITH_ENV(sqlite__what_is_not_there_is_not_found),
        TEST_WITH_ENV(sqlite__a_folder_in_place_of_the_file_is_an_io_error),
        cmocka_unit_test(sqlite__uris_name_files),
        TEST_WITH_ENV(catalog__kinds_that_are_unknown_are_refused),
        TEST_WITH_ENV(memory__behaves_like_a_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
