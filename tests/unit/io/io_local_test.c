#include <ftw.h>
#include <unistd.h>

#include "io/io_file.h"
#include "unit/test_alloc.h"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static int folder_setup(void **state)
{
    memcpy(root, "/tmp/frazil-io-XXXXXX", 22);
    return mkdtemp(root) == NULL ? -1 : test_env_setup(state);
}

static int folder_teardown(void **state)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return test_env_teardown(state);
}

#define TEST_WITH_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

/* A location in the test's folder, in one of the forms; good until the next call but one. */
static const char *at(const char *scheme, const char *name)
{
    static char text[2][200];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s%s/%s", scheme, root, name);
    return text[turn];
}

static frz_code write_file(const frz_env *env, const char *location, const char *content,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_writer *writer = NULL;
    FRZ_TRY(frz_file_create(env, location, &writer, err));
    FRZ_TRY(frz_file_append(writer, content, strlen(content), err));
    rc = frz_file_finish(writer, true, err);
    writer = NULL;
out:
    frz_file_abort(writer);
    return rc;
}

static void assert_content(const frz_env *env, const char *location, const char *expected)
{
    frz_error err = {0};
    frz_buf bytes = FRZ_BUF_INIT(env, 10000);
    assert_ok(frz_file_read_all(env, location, 10000, &bytes, &err), &err);
    assert_true(frz_str_equal(frz_buf_view(&bytes), frz_str_from(expected)));
    frz_buf_reset(&bytes);
}

static void local__files_are_read_by_every_form_of_their_name(void **state)
{
    frz_error err = {0};
    uint64_t size = 0;
    frz_env_counters counters;
    assert_ok(write_file(*state, at("file://", "a/b c/x"), "hello", &err), &err);
    assert_content(*state, at("", "a/b c/x"), "hello");
    assert_content(*state, at("file:", "a/b c/x"), "hello");
    assert_ok(frz_file_stat(*state, at("", "a/b c/x"), &size, &err), &err);
    assert_int_equal(size, 5);
    assert_ok(frz_sync_dir(*state, at("", "a/b c/x"), &err), &err);
    assert_ok(frz_sync_all(*state, at("", "a/b c/x"), &err), &err);
    frz_env_counters_get(*state, &counters);
    assert_int_equal(counters.bytes_written, 5);
    assert_int_equal(counters.bytes_read, 10);
    assert_int_equal(counters.files_created, 1);
    assert_int_equal(counters.syncs, 3);
}

static void local__existing_files_are_not_overwritten(void **state)
{
    frz_error err = {0};
    assert_ok(write_file(*state, at("", "x"), "first", &err), &err);
    assert_fails(write_file(*state, at("", "x"), "second", &err), &err, FRZ_E_EXISTS, root);
    assert_content(*state, at("", "x"), "first");
}

static void local__missing_files_are_not_found(void **state)
{
    frz_error err = {0};
    frz_file *file = NULL;
    uint64_t size;
    assert_fails(frz_file_open(*state, at("", "no"), &file, &err), &err, FRZ_E_NOT_FOUND, "no");
    assert_fails(frz_file_stat(*state, at("", "no"), &size, &err), &err, FRZ_E_NOT_FOUND, "no");
    assert_fails(frz_file_remove(*state, at("", "no"), &err), &err, FRZ_E_NOT_FOUND, "no");
    assert_fails(frz_file_open(*state, root, &file, &err), &err, FRZ_E_IO, "not a regular file");
    assert_fails(frz_file_open(*state, "s3://b/k", &file, &err), &err, FRZ_E_UNSUPPORTED,
                 "unsupported: no storage for location s3://b/k");
    assert_null(file);
}

static void local__ranges_are_checked(void **state)
{
    frz_error err = {0};
    frz_file *file = NULL;
    char bytes[16];
    frz_buf whole = FRZ_BUF_INIT(*state, 100);
    assert_ok(write_file(*state, at("", "x"), "0123456789", &err), &err);
    assert_ok(frz_file_open(*state, at("", "x"), &file, &err), &err);
    assert_int_equal(frz_file_size(file), 10);
    assert_ok(frz_file_read(file, 7, bytes, 3, &err), &err);
    assert_memory_equal(bytes, "789", 3);
    assert_ok(frz_file_read(file, 10, bytes, 0, &err), &err);
    assert_fails(frz_file_read(file, 8, bytes, 3, &err), &err, FRZ_E_CORRUPT,
                 "3 bytes at offset 8 reach beyond the file's 10 bytes");
    assert_fails(frz_file_read(file, UINT64_MAX, bytes, 1, &err), &err, FRZ_E_CORRUPT, "beyond");
    assert_fails(frz_file_read_all(*state, at("", "x"), 9, &whole, &err), &err, FRZ_E_LIMIT,
                 "file has 10 bytes, at most 9");
    frz_file_close(file);
    frz_buf_reset(&whole);
}

static void local__append_from_takes_whole_files_and_ranges(void **state)
{
    frz_error err = {0};
    frz_file *src = NULL;
    frz_file_writer *writer = NULL;
    assert_ok(write_file(*state, at("", "src"), "0123456789", &err), &err);
    assert_ok(frz_file_open(*state, at("", "src"), &src, &err), &err);
    assert_ok(frz_file_create(*state, at("", "copy"), &writer, &err), &err);
    assert_ok(frz_file_append_from(writer, src, 0, 10, &err), &err);
    assert_ok(frz_file_append(writer, "-", 1, &err), &err);
    assert_ok(frz_file_append_from(writer, src, 3, 4, &err), &err);
    assert_ok(frz_file_append_from(writer, src, 0, 0, &err), &err);
    assert_int_equal(frz_file_writer_size(writer), 15);
    assert_fails(frz_file_append_from(writer, src, 3, 8, &err), &err, FRZ_E_CORRUPT, "beyond");
    assert_ok(frz_file_finish(writer, false, &err), &err);
    frz_file_close(src);
    assert_content(*state, at("", "copy"), "0123456789-3456");
}

/* Local files of a file system where the kernel cannot copy. */
static frz_code refuse_copy(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                            frz_error *err)
{
    (void)ctx, (void)file, (void)src, (void)offset, (void)len;
    return frz_fail(err, FRZ_E_UNSUPPORTED, "no");
}

static frz_env *env_that_cannot_copy(const frz_allocator *allocator)
{
    frz_storage storage = frz_storage_local;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    storage.append_from = refuse_copy;
    opts.storage = &storage;
    opts.allocator = allocator;
    assert_int_equal(frz_env_new(&opts, &env, NULL), FRZ_OK);
    return env;
}

static frz_code copy_range(const frz_env *env, const char *to, uint64_t offset, uint64_t len,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *src = NULL;
    frz_file_writer *writer = NULL, *finished = NULL;
    FRZ_TRY(frz_file_open(env, at("", "src"), &src, err));
    FRZ_TRY(frz_file_create(env, to, &writer, err));
    FRZ_TRY(frz_file_append_from(writer, src, offset, len, err));
    finished = writer;
    writer = NULL;
    rc = frz_file_finish(finished, false, err);
out:
    frz_file_abort(writer);
    frz_file_close(src);
    return rc;
}

/* More than is in memory at once. */
static void file__bytes_that_the_storage_cannot_copy_pass_through_memory(void **state)
{
    enum { SIZE = 300000 };
    frz_error err = {0};
    frz_env_counters counters;
    void *env = env_that_cannot_copy(NULL);
    frz_buf copy = FRZ_BUF_INIT(*state, SIZE);
    char *content = malloc(SIZE + 1);
    assert_non_null(content);
    for (int i = 0; i < SIZE; i++) {
        content[i] = (char)('a' + i * 7 % 26);
    }
    content[SIZE] = '\0';
    assert_ok(write_file(*state, at("", "src"), content, &err), &err);
    assert_ok(copy_range(env, at("", "copy"), 5, SIZE - 10, &err), &err);
    frz_env_counters_get(env, &counters);
    assert_int_equal(counters.bytes_written, SIZE - 10);
    assert_ok(frz_file_read_all(*state, at("", "copy"), SIZE, &copy, &err), &err);
    assert_int_equal(copy.len, SIZE - 10);
    assert_memory_equal(copy.data, content + 5, SIZE - 10);
    frz_buf_reset(&copy);
    free(content);
    assert_int_equal(test_env_teardown(&env), 0);
}

static void file__a_copy_through_memory_that_fails_leaves_nothing(void **state)
{
    frz_error err = {0};
    test_allocator allocator = {0};
    assert_ok(write_file(*state, at("", "src"), "0123456789", &err), &err);
    frz_allocator functions = {sizeof functions, failing_alloc, failing_realloc, failing_free,
                               &allocator};
    void *env = env_that_cannot_copy(&functions);
    frz_code rc = FRZ_E_NOMEM;
    int failed = 0;
    for (uint64_t n = 1; rc != FRZ_OK; n++) {
        allocator = (test_allocator){.fail_at = n};
        rc = copy_range(env, at("", "copy"), 0, 10, &err);
        assert_true(rc == FRZ_OK || rc == FRZ_E_NOMEM);
        failed += rc != FRZ_OK;
    }
    assert_true(failed > 2);
    assert_content(*state, at("", "copy"), "0123456789");
    assert_int_equal(test_env_teardown(&env), 0);
}

static void local__aborted_files_are_gone(void **state)
{
    frz_error err = {0};
    frz_file_writer *writer = NULL;
    uint64_t size;
    assert_ok(frz_file_create(*state, at("", "x"), &writer, &err), &err);
    assert_ok(frz_file_append(writer, "abc", 3, &err), &err);
    frz_file_abort(writer);
    frz_file_abort(NULL);
    frz_file_close(NULL);
    assert_fails(frz_file_stat(*state, at("", "x"), &size, &err), &err, FRZ_E_NOT_FOUND, "x");
}

typedef struct listing {
    int files;
    uint64_t bytes;
    int stop_at;
} listing;

static frz_code count_file(void *ctx, const char *location, uint64_t size, int64_t modified_ms)
{
    listing *l = ctx;
    assert_true(strncmp(location, root, strlen(root)) == 0);
    assert_true(modified_ms > INT64_C(1500000000000));
    l->files++;
    l->bytes += size;
    return l->files == l->stop_at ? FRZ_E_CANCELLED : FRZ_OK;
}

static void local__list_visits_files_of_all_folders(void **state)
{
    frz_error err = {0};
    listing all = {0};
    listing stopped = {.stop_at = 2};
    assert_ok(write_file(*state, at("", "a"), "1", &err), &err);
    assert_ok(write_file(*state, at("", "d/b"), "22", &err), &err);
    assert_ok(write_file(*state, at("", "d/e/c"), "333", &err), &err);
    assert_int_equal(symlink(root, at("", "d/loop")), 0);
    assert_ok(frz_storage_list(*state, at("file://", ""), count_file, &all, &err), &err);
    assert_int_equal(all.files, 3);
    assert_int_equal(all.bytes, 6);
    assert_int_equal(frz_storage_list(*state, root, count_file, &stopped, &err), FRZ_E_CANCELLED);
    assert_int_equal(stopped.files, 2);
    assert_fails(frz_storage_list(*state, at("", "no"), count_file, &all, &err), &err,
                 FRZ_E_NOT_FOUND, "cannot open folder");
    assert_ok(frz_file_remove(*state, at("", "a"), &err), &err);
    all = (listing){0};
    assert_ok(frz_storage_list(*state, root, count_file, &all, &err), &err);
    assert_int_equal(all.files, 2);
}

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, 1000);
    (void)unlink(at("", "f"));
    FRZ_TRY(write_file(env, at("", "f"), "content", err));
    FRZ_TRY(frz_file_open(env, at("", "f"), &file, err));
    FRZ_TRY(frz_file_read_all(env, at("", "f"), 100, &bytes, err));
out:
    frz_file_close(file);
    frz_buf_reset(&bytes);
    return rc;
}

static void local__no_failed_allocation_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 4);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_FOLDER(local__files_are_read_by_every_form_of_their_name),
        TEST_WITH_FOLDER(local__existing_files_are_not_overwritten),
        TEST_WITH_FOLDER(local__missing_files_are_not_found),
        TEST_WITH_FOLDER(local__ranges_are_checked),
        TEST_WITH_FOLDER(local__append_from_takes_whole_files_and_ranges),
        TEST_WITH_FOLDER(file__bytes_that_the_storage_cannot_copy_pass_through_memory),
        TEST_WITH_FOLDER(file__a_copy_through_memory_that_fails_leaves_nothing),
        TEST_WITH_FOLDER(local__aborted_files_are_gone),
        TEST_WITH_FOLDER(local__list_visits_files_of_all_folders),
        TEST_WITH_FOLDER(local__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
