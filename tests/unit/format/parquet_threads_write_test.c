/*
 * The same rows written with one thread, several, and tasks in reverse order: the same bytes, and
 * the same failure. ThreadSanitizer watches.
 */
#include "unit/format/parquet_threads.h"

/* ---- a file's bytes ---- */

static void read_bytes(const made_file *f, frz_buf *out)
{
    frz_error err = {0};
    frz_buf_clear(out);
    assert_ok(frz_file_read_all(out->env, f->path, 1u << 30, out, &err), &err);
    assert_int_equal(unlink(f->path), 0);
}

/* ---- tests ---- */

static const struct {
    size_t columns, kinds;
    int64_t rows, group_rows;
    frz_parquet_codec codec;
    int page_version, pieces;
    size_t page_bytes, group_bytes;
    bool long_lists;
} files[] = {
    {150, 6, 4000, 1700, FRZ_PARQUET_ZSTD, 1, 1, 0, 0, false},  /* all pages at a group's end */
    {60, 6, 9000, 0, FRZ_PARQUET_SNAPPY, 2, 3, 8000, 0, false}, /* most pages before it */
    {12, 3, 30000, 0, FRZ_PARQUET_UNCOMPRESSED, 1, 5, 0, 400000, false}, /* groups by bytes */
    {10, 6, 3000, 0, FRZ_PARQUET_GZIP, 2, 2, 50000, 0, true},
    {1, 1, 100000, 0, FRZ_PARQUET_ZSTD, 1, 1, 0, 0, false},
};

static frz_parquet_write_options options_of(size_t i)
{
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.codec = files[i].codec;
    opts.page_version = files[i].page_version;
    opts.page_bytes = files[i].page_bytes;
    opts.group_bytes = files[i].group_bytes;
    opts.group_rows = files[i].group_rows;
    return opts;
}

static void threads__do_not_change_bytes(void **state)
{
    frz_error err = {0};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(files); i++) {
        made_file f = {.long_lists = files[i].long_lists};
        frz_parquet_write_options opts = options_of(i);
        frz_buf expected = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf found = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        struct ArrowArray batch;
        size_t tasks = 0;
        made_begin(&f, files[i].columns, files[i].kinds);
        make_batch(&f, *state, files[i].rows, &batch);
        for (size_t w = 0; w < FRZ_ARRAY_COUNT(ways); w++) {
            frz_env *env = env_of(ways[w], NULL, &tasks);
            assert_ok(made_write(&f, env, &batch, files[i].pieces, &opts, &err), &err);
            read_bytes(&f, w == 0 ? &expected : &found);
            assert_true(w == 0 || (found.len == expected.len &&
                                   memcmp(found.data, expected.data, found.len) == 0));
            end_env(env);
        }
        assert_true(tasks > 0 || files[i].columns == 1);
        frz_array_release(&batch);
        frz_buf_reset(&expected);
        frz_buf_reset(&found);
        remove_file(&f);
    }
}

/* Values that a column's type does not allow, in two columns: the first of them is named. */
static void threads__do_not_change_failures_of_writing(void **state)
{
    made_file f = {0};
    frz_parquet_write_options opts = options_of(0);
    struct ArrowArray batch;
    char expected[1024] = "";
    made_begin(&f, 150, 2);
    make_batch(&f, *state, 4000, &batch);
    f.fields[31].required = f.fields[97].required = true; /* they have nulls */
    for (size_t w = 0; w < FRZ_ARRAY_COUNT(ways); w++) {
        size_t tasks = 0;
        char text[1024];
        frz_error err = {0};
        frz_env *env = env_of(ways[w], NULL, &tasks);
        assert_fails(made_write(&f, env, &batch, 1, &opts, &err), &err, FRZ_E_ARGUMENT, "c31");
        frz_error_format(&err, text, sizeof text);
        if (w == 0) {
            memcpy(expected, text, sizeof text);
        }
        assert_string_equal(text, expected);
        assert_int_equal(access(f.path, F_OK), -1);
        end_env(env);
    }
    frz_array_release(&batch);
    remove_file(&f);
}

typedef struct writing {
    const made_file *file;
    const struct ArrowArray *batch;
} writing;

/* A failure leaves no file. */
static frz_code write_whole(void *ctx, const frz_env *env)
{
    const writing *w = ctx;
    frz_error err = {0};
    const frz_parquet_write_options opts = options_of(0);
    frz_code rc = made_write(w->file, env, w->batch, 2, &opts, &err);
    assert_int_equal(access(w->file->path, F_OK), rc == FRZ_OK ? 0 : -1);
    unlink(w->file->path);
    return rc;
}

static void threads__every_failing_allocation_of_writing_is_reported(void **state)
{
    made_file f = {0};
    struct ArrowArray batch;
    made_begin(&f, 40, 6);
    make_batch(&f, *state, 3000, &batch);
    writing w = {&f, &batch};
    fail_allocations(write_whole, &w, FRZ_OK);
    frz_array_release(&batch);
    remove_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(threads__do_not_change_bytes),
        TEST_WITH_ENV(threads__do_not_change_failures_of_writing),
        TEST_WITH_ENV(threads__every_failing_allocation_of_writing_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
