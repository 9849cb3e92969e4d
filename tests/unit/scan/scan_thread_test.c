/*
 * One table, several threads: each scans it with its own scan, references are taken and dropped at
 * the same time; alone and with a pool of threads. ThreadSanitizer watches.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "frazil/frazil.h"
#include "type/type_value.h"
#include "unit/test_threads.h"

#define ROWS 20000
#define THREADS 4
#define ROUNDS 3

static void make_batch(const frz_env *env, const frz_type *type, struct ArrowArray *out)
{
    frz_error err = {0};
    frz_builder *builder = NULL;
    assert_ok(frz_builder_new(env, type, &builder, &err), &err);
    for (int64_t i = 0; i < ROWS; i++) {
        assert_ok(frz_builder_i64(frz_builder_child(builder, 0), i, &err), &err);
        assert_ok(frz_builder_f64(frz_builder_child(builder, 1), 0.5, &err), &err);
        assert_ok(frz_builder_end(builder, &err), &err);
    }
    assert_ok(frz_builder_finish(builder, out, &err), &err);
    frz_builder_free(builder);
}

/* id from 0, a 0.5, in one Parquet file. */
static void write_file(const frz_env *env, const char *path)
{
    const frz_field fields[] = {
        {.id = 1, .name = FRZ_STR("id"), .type = frz_type_primitive(FRZ_TYPE_LONG)},
        {.id = 2, .name = FRZ_STR("a"), .type = frz_type_primitive(FRZ_TYPE_DOUBLE)},
    };
    const frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 2};
    frz_error err = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    struct ArrowArrayStream stream = {0};

    make_batch(env, &type, &batch);
    assert_ok(frz_type_to_arrow(env, &type, &schema, &err), &err);
    assert_ok(frz_stream_of_batches(env, &schema, &batch, 1, &stream, &err), &err);
    assert_ok(frz_parquet_write_stream(env, path, &stream, NULL, NULL, &err), &err);
    stream.release(&stream);
}

/* A table in which a is 2 * id, from a column file. */
static frz_table *make_table(const frz_env *env, const char *folder)
{
    char path[128], uri[128], warehouse[128];
    const char *files[] = {path};
    const frz_assignment set = {"a", "id * 2"};
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    frz_catalog *catalog = NULL;
    frz_table *table = NULL;
    frz_error err = {0};

    snprintf(path, sizeof path, "%s/t.parquet", folder);
    snprintf(warehouse, sizeof warehouse, "%s/warehouse", folder);
    snprintf(uri, sizeof uri, "sqlite://%s/warehouse/catalog.db", folder);
    opts.uri = uri;
    opts.warehouse = warehouse;
    write_file(env, path);
    assert_ok(frz_catalog_open(env, &opts, &catalog, &err), &err);
    assert_ok(frz_import(catalog, "db.t", files, 1, NULL, NULL, &err), &err);
    assert_ok(frz_update_columns(catalog, "db.t", &set, 1, NULL, NULL, &err), &err);
    assert_ok(frz_catalog_load_table(catalog, "db.t", &table, &err), &err);
    frz_catalog_close(catalog);
    return table;
}

/* What one thread finds; checked by the main thread, since assertions belong there. */
typedef struct finding {
    pthread_t thread;
    frz_table *table;
    frz_code code;
    double sum;
    int64_t rows;
} finding;

static frz_code scan_once(finding *found)
{
    const char *columns[] = {"a"};
    frz_scan_options opts = FRZ_SCAN_OPTIONS_INIT;
    frz_scan *scan = NULL;
    opts.columns = columns;
    opts.column_count = 1;
    opts.where = "id % 2 = 0";
    frz_code rc = frz_scan_open(found->table, &opts, &scan, NULL);
    while (rc == FRZ_OK) {
        struct ArrowArray batch = {0};
        rc = frz_scan_next(scan, &batch, NULL);
        for (int64_t i = 0; rc == FRZ_OK && i < batch.length; i++) {
            found->sum += frz_get_f64(batch.children[0], i);
            found->rows++;
        }
        frz_array_release(&batch);
    }
    frz_scan_close(scan);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static void *scan_thread(void *ctx)
{
    finding *found = ctx;
    for (int round = 0; round < ROUNDS && found->code == FRZ_OK; round++) {
        frz_table *own = frz_table_ref(found->table);
        found->code = scan_once(found);
        frz_table_unref(own);
    }
    return NULL;
}

static void scan_from_threads(const frz_env *env)
{
    char folder[] = "/tmp/frazil-scan-XXXXXX";
    char command[64];
    finding found[THREADS] = {0};

    assert_non_null(mkdtemp(folder));
    frz_table *table = make_table(env, folder);
    for (int i = 0; i < THREADS; i++) {
        found[i].table = table;
        assert_int_equal(pthread_create(&found[i].thread, NULL, scan_thread, &found[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(found[i].thread, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        /* over even ids, 2 * id */
        double sum = (double)ROUNDS * 2.0 * (ROWS / 2) * (ROWS / 2 - 1);
        assert_int_equal(found[i].code, FRZ_OK);
        assert_int_equal(found[i].rows, ROUNDS * ROWS / 2);
        assert_true(found[i].sum >= sum && found[i].sum <= sum);
    }
    frz_table_unref(table);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void scan__several_threads_read_one_table(void **state)
{
    scan_from_threads(*state);
}

/* Each scan reads the base file and the column file at once, on threads that all scans share. */
static void scan__several_threads_share_a_pool(void **state)
{
    scan_from_threads(*state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(scan__several_threads_read_one_table),
        cmocka_unit_test_setup_teardown(scan__several_threads_share_a_pool, test_threads_setup,
                                        test_env_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
