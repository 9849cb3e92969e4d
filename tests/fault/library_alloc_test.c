/*
 * The n-th allocation of the whole process fails, those of the libraries underneath included: of
 * JSON, SQLite, the codecs and the C library. This program has its own malloc for that. The
 * operation may fail, but not crash, and the table is the old or the new one; reported success
 * means the new one with its whole history. The first ones are tried, then one of some; of fewer
 * with FRAZIL_LONG.
 */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/codec.h"
#include "fault/fault_scenario.h"
#include "meta/meta_table.h"
#include "unit/test_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
#elif defined(__has_feature)
#define OWN_MALLOC (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define OWN_MALLOC 1
#endif

#ifndef __GLIBC__
#undef OWN_MALLOC
#define OWN_MALLOC 0
#endif

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_NOT_REACHED = 2, EXIT_OTHER_CODE = 3 };

/* ---- the allocator of this process ---- */

static _Atomic long allocations, failing; /* failing 0: none */

#if OWN_MALLOC
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *ptr, size_t size);

/* Seen by the libraries, which the rest of this program is not. */
#define EXPORTED __attribute__((visibility("default")))

static bool fails(void)
{
    long at = failing;
    if (at == 0 || ++allocations != at) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

EXPORTED void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

EXPORTED void *realloc(void *ptr, size_t size)
{
    return fails() ? NULL : __libc_realloc(ptr, size);
}
#endif

/* ---- operations ---- */

static frz_code run_statement(frz_catalog *catalog, const char *sql, frz_error *err)
{
    frz_sql_result result;
    return frz_sql_run(catalog, NULL, sql, &result, err);
}

static frz_code run_add(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return run_statement(catalog, "ALTER TABLE db.t ADD COLUMN IF NOT EXISTS c double", err);
}

static frz_code run_drop(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return run_statement(catalog, "ALTER TABLE db.t DROP COLUMN IF EXISTS s", err);
}

/* What the table's document has. */
typedef struct table_shape {
    size_t members, snapshots, snapshot_log, metadata_log, schemas, properties;
} table_shape;

static table_shape shape_now; /* scenario_run takes no more than what it runs */

static frz_code read_shape(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    frz_table *table = NULL;
    (void)files;
    frz_code rc = frz_catalog_load_table(catalog, "db.t", &table, err);
    if (rc == FRZ_OK) {
        const json_t *json = table->metadata.json;
        shape_now = (table_shape){json_object_size(json),
                                  json_array_size(json_object_get(json, "snapshots")),
                                  json_array_size(json_object_get(json, "snapshot-log")),
                                  json_array_size(json_object_get(json, "metadata-log")),
                                  json_array_size(json_object_get(json, "schemas")),
                                  json_object_size(json_object_get(json, "properties"))};
    }
    frz_table_unref(table);
    return rc;
}

/* All zero if there is no table. */
static table_shape shape_of(const char *folder)
{
    frz_error err = {0};
    frz_env *env = scenario_env(0, NULL);
    shape_now = (table_shape){0};
    frz_code rc = scenario_run(read_shape, env, folder, &err);
    assert_true(rc == FRZ_OK || rc == FRZ_E_NOT_FOUND);
    frz_env_free(env);
    return shape_now;
}

/* ---- one failure ---- */

/* Does not return. */
static void run_child(const fault_scenario *scenario, const char *folder, long n)
{
    frz_error err = {0};
    frz_env *env = scenario_env(0, NULL);
    if (env == NULL) {
        _exit(EXIT_OTHER_CODE);
    }
    failing = n;
    frz_code rc = scenario_run(scenario->run, env, folder, &err);
    failing = 0;
    if (rc != FRZ_OK && rc != FRZ_E_NOMEM) {
        char text[1024];
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s, allocation %ld: %s: %s\n", scenario->name, n, frz_code_name(rc), text);
        _exit(EXIT_OTHER_CODE);
    }
    _exit(rc != FRZ_OK ? EXIT_FAILED : allocations < n ? EXIT_NOT_REACHED : EXIT_OK);
}

static int run_in_child(const fault_scenario *scenario, const char *folder, long n)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run_child(scenario, folder, n);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) {
        fail_msg("%s, allocation %ld: ended by signal %d", scenario->name, n, WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

/* Nothing of the table before is missing, and what the operation adds is there. */
static void check_shape(const fault_scenario *scenario, long n, const char *folder,
                        const table_shape *wanted)
{
    table_shape is = shape_of(folder);
    if (memcmp(&is, wanted, sizeof is) != 0) {
        fail_msg("%s, allocation %ld: %zu members, %zu snapshots, %zu in the log, %zu versions, "
                 "%zu schemas, %zu properties",
                 scenario->name, n, is.members, is.snapshots, is.snapshot_log, is.metadata_log,
                 is.schemas, is.properties);
    }
}

static long next_step(long n, long stride)
{
    return n < 40 ? n + 1 : getenv("FRAZIL_LONG") != NULL ? n + 7 : n + stride + n / 8;
}

/* Snapshots or files go, none come. */
static bool removes(const fault_scenario *scenario)
{
    return strcmp(scenario->name, "expire") == 0 || strcmp(scenario->name, "remove orphans") == 0;
}

static void try_all(const fault_scenario *scenario, long stride)
{
    char folder[SCENARIO_PATH];
    long failed = 0, passed = 0, other = 0, n = 1;
    assert_int_equal(scenario_reset(scenario, folder), 0);
    table_shape old = shape_of(folder);
    assert_int_equal(run_in_child(scenario, folder, LONG_MAX), EXIT_NOT_REACHED);
    table_shape new = shape_of(folder);
    bool alters = scenario->run == run_add || scenario->run == run_drop;
    if (removes(scenario)) {
        assert_true(new.snapshots <= old.snapshots);
    } else {
        assert_int_equal(new.snapshots, old.snapshots + !alters);
        assert_true(new.snapshot_log == new.snapshots &&new.members >= old.members);
    }
    for (bool done = false; !done; n = next_step(n, stride)) {
        int was_new = 0;
        assert_int_equal(scenario_reset(scenario, folder), 0);
        int status = run_in_child(scenario, folder, n);
        bool success = status == EXIT_OK || status == EXIT_NOT_REACHED;
        done = status == EXIT_NOT_REACHED;
        failed += status == EXIT_FAILED;
        other += status == EXIT_OTHER_CODE;
        passed += status == EXIT_OK;
        if (success) {
            check_shape(scenario, n, folder, &new);
        }
        if (scenario_check(scenario, folder, success, &was_new) != 0) {
            fail_msg("%s, allocation %ld: the table is broken", scenario->name, n);
        }
    }
    printf("%s: about %ld allocations; %ld runs out of memory, %ld with another error, %ld "
           "unharmed\n",
           scenario->name, n, failed, other, passed);
    assert_true(failed > 20);
}

static void library_alloc__those_of_libraries_count(void **state)
{
    (void)state;
    allocations = 0;
    failing = 1;
    json_t *json = json_object();
    failing = 0;
    assert_null(json);
    allocations = 0;
    failing = 1;
    void *of_sqlite = sqlite3_malloc(100);
    failing = 0;
    assert_null(of_sqlite);
    allocations = 0;
}

static void library_alloc__each_one_that_fails_harms_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < scenario_count; s++) {
        try_all(&scenarios[s], 37);
    }
}

static void library_alloc__each_one_that_fails_in_alter_harms_nothing(void **state)
{
    (void)state;
    fault_scenario alter = scenarios[2]; /* starts from an updated table */
    alter.name = "add column";
    alter.run = run_add;
    alter.after = alter.before;
    try_all(&alter, 37);
    alter.name = "drop column";
    alter.run = run_drop;
    try_all(&alter, 37);
}

/* ---- tasks ---- */

/* Does not return. A task that was written without one of its members would give other rows. */
static void run_tasks(const char *folder, double expected, long n)
{
    frz_error err = {0};
    double sum = 0;
    frz_env *env = scenario_env(0, NULL);
    failing = n;
    frz_code rc = scenario_task_sum(env, folder, &sum, &err);
    failing = 0;
    if (rc == FRZ_OK && sum != expected) {
        _exit(EXIT_OTHER_CODE);
    }
    _exit(rc == FRZ_OK ? allocations < n ? EXIT_NOT_REACHED : EXIT_OK : EXIT_FAILED);
}

static void library_alloc__tasks_have_all_of_their_members_or_fail(void **state)
{
    char folder[SCENARIO_PATH];
    double expected = 0;
    long failed = 0;
    frz_env *env = scenario_env(0, NULL);
    (void)state;
    assert_int_equal(scenario_reset(&scenarios[2], folder), 0);
    assert_int_equal(scenario_sum(env, folder, &expected, NULL), FRZ_OK);
    frz_env_free(env);
    bool done = false;
    for (long n = 1; !done; n = next_step(n, 7)) {
        int status = 0;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            run_tasks(folder, expected, n);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) == EXIT_OTHER_CODE) {
            fail_msg("tasks, allocation %ld: status %d", n, status);
        }
        done = WEXITSTATUS(status) == EXIT_NOT_REACHED;
        failed += WEXITSTATUS(status) == EXIT_FAILED;
    }
    assert_true(failed > 20);
}

/* ---- codecs ---- */

/* Does not return. */
static void run_codec(frz_codec_id id, long n)
{
    enum { SIZE = 100000 };
    static uint8_t plain[SIZE], back[SIZE];
    frz_error err = {0};
    frz_codec *codec = NULL;
    frz_env *env = scenario_env(0, NULL);
    frz_buf packed = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < SIZE; i++) {
        plain[i] = (uint8_t)(i * i >> 7);
    }
    failing = n;
    frz_code rc = frz_codec_new(env, id, 0, &codec, &err);
    rc = rc == FRZ_OK ? frz_codec_compress(codec, plain, SIZE, &packed, &err) : rc;
    rc = rc == FRZ_OK ? frz_codec_decompress(codec, packed.data, packed.len, back, SIZE, &err) : rc;
    failing = 0;
    if (rc == FRZ_OK && memcmp(plain, back, SIZE) != 0) {
        _exit(EXIT_OTHER_CODE);
    }
    _exit(rc == FRZ_E_NOMEM ? EXIT_FAILED
          : rc != FRZ_OK    ? EXIT_OTHER_CODE
          : allocations < n ? EXIT_NOT_REACHED
                            : EXIT_OK);
}

/* Let each allocation of a run fail, until one run gets through. */
static void each_is_reported(const char *name, void (*run)(frz_codec_id id, long n),
                             frz_codec_id id)
{
    bool done = false;
    for (long n = 1; !done; n++) {
        int status = 0;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            run(id, n);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        done = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_REACHED;
        if (!done && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_FAILED)) {
            fail_msg("%s, allocation %ld: status %d", name, n, status);
        }
    }
}

/* Snappy is left out: snappy_compress allocates by C++ means and ends the process without memory
 * (docs/internals/memory.md). */
static void library_alloc__each_one_that_fails_in_a_codec_is_reported(void **state)
{
    static const frz_codec_id ids[] = {FRZ_CODEC_GZIP,   FRZ_CODEC_ZSTD,  FRZ_CODEC_LZ4_RAW,
                                       FRZ_CODEC_BROTLI, FRZ_CODEC_BZIP2, FRZ_CODEC_XZ,
                                       FRZ_CODEC_DEFLATE};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ids); i++) {
        each_is_reported(frz_codec_name(ids[i]), run_codec, ids[i]);
    }
}

/* ---- Avro files, whose schema is JSON ---- */

/* Does not return. */
static void run_avro(frz_codec_id unused, long n)
{
    frz_error err = {0};
    frz_avro_file *file = NULL;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    frz_env *env = scenario_env(0, NULL);
    (void)unused;
    failing = n;
    frz_code rc = frz_avro_file_open(env, "tests/data/avro/nested.avro", &file, &err);
    rc = rc == FRZ_OK ? frz_avro_file_read(file, NULL, &stream, &err) : rc;
    if (rc == FRZ_OK && stream.get_next(&stream, &batch) != 0) {
        rc = strstr(stream.get_last_error(&stream), "out of memory") != NULL ? FRZ_E_NOMEM
                                                                             : FRZ_E_INTERNAL;
    }
    failing = 0;
    if (rc == FRZ_OK && (batch.release == NULL || batch.length != 7)) {
        _exit(EXIT_OTHER_CODE);
    }
    _exit(rc == FRZ_E_NOMEM ? EXIT_FAILED
          : rc != FRZ_OK    ? EXIT_OTHER_CODE
          : allocations < n ? EXIT_NOT_REACHED
                            : EXIT_OK);
}

static void library_alloc__each_one_that_fails_in_an_avro_file_is_reported(void **state)
{
    (void)state;
    each_is_reported("avro", run_avro, FRZ_CODEC_NONE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_alloc__those_of_libraries_count),
        cmocka_unit_test(library_alloc__each_one_that_fails_harms_nothing),
        cmocka_unit_test(library_alloc__each_one_that_fails_in_alter_harms_nothing),
        cmocka_unit_test(library_alloc__tasks_have_all_of_their_members_or_fail),
        cmocka_unit_test(library_alloc__each_one_that_fails_in_a_codec_is_reported),
        cmocka_unit_test(library_alloc__each_one_that_fails_in_an_avro_file_is_reported),
    };
    if (!OWN_MALLOC) {
        printf("skipped: the allocator of a sanitizer cannot be replaced\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, scenario_setup, scenario_teardown);
}
