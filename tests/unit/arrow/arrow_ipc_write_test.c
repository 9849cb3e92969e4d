/*
 * Writing Arrow IPC: the frame of both formats, what is refused, allocations that fail. That others
 * read the messages is shown by interop/ipc_test.py.
 */
#include <unistd.h>

#include "arrow/arrow_array.h"
#include "frazil/ipc.h"
#include "io/io_file.h"
#include "unit/test_alloc.h"

static frz_code add_leaf(const frz_env *env, const char *format, const char *name,
                         struct ArrowSchema *out, frz_error *err)
{
    const frz_schema_spec spec = {
        .format = frz_str_from(format), .name = frz_str_from(name), .flags = ARROW_FLAG_NULLABLE};
    return frz_schema_make(env, &spec, out, err);
}

/* A struct of one column. */
static frz_code make_schema(const frz_env *env, const char *top, const char *format,
                            struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema made = {.release = NULL};
    const frz_schema_spec spec = {.format = frz_str_from(top), .n_children = 1};
    FRZ_TRY(frz_schema_make(env, &spec, &made, err));
    FRZ_TRY(add_leaf(env, format, "n", made.children[0], err));
    *out = made;
    made.release = NULL;
out:
    frz_schema_release(&made);
    return rc;
}

/* Three longs, the second of them null. */
static frz_code make_batch(const frz_env *env, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[2] = {NULL};
    struct ArrowArray column = {.release = NULL};
    FRZ_TRY(frz_buffer_new(env, 1, &buffers[0], err));
    FRZ_TRY(frz_buffer_new(env, 3 * sizeof(int64_t), &buffers[1], err));
    buffers[0]->data[0] = 5;
    for (int64_t i = 0; i < 3; i++) {
        ((int64_t *)(void *)buffers[1]->data)[i] = i;
    }
    rc = frz_array_make(env, 3, 1, buffers, 2, NULL, 0, &column, err);
    buffers[0] = buffers[1] = NULL;
    FRZ_TRY(rc);
    FRZ_TRY(frz_batch_make(env, 3, &column, 1, out, err));
out:
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

static frz_code make_stream(const frz_env *env, const char *top, const char *format,
                            struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch = {.release = NULL};
    FRZ_TRY(make_schema(env, top, format, &schema, err));
    FRZ_TRY(make_batch(env, &batch, err));
    rc = frz_stream_of_batches(env, &schema, &batch, 1, out, err);
    schema.release = NULL;
    batch.release = NULL;
out:
    frz_schema_release(&schema);
    frz_array_release(&batch);
    return rc;
}

static frz_code to_buf(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_buf_append(ctx, bytes, len, err);
}

static frz_code write_sample(const frz_env *env, const char *top, const char *format,
                             const frz_ipc_write_options *opts, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {.release = NULL};
    FRZ_TRY(make_stream(env, top, format, &stream, err));
    FRZ_TRY(frz_ipc_write(env, to_buf, out, &stream, opts, NULL, err));
out:
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return rc;
}

static void write__a_stream_starts_with_a_message_and_ends_with_its_mark(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_ok(write_sample(*state, "+s", "l", NULL, &out, &err), &err);
    assert_int_equal(frz_load_le32(out.data), 0xFFFFFFFF);
    assert_int_equal(frz_load_le64(out.data + out.len - 8), 0xFFFFFFFF);
    assert_int_equal(out.len % 8, 0);
    frz_buf_reset(&out);
}

static void write__a_file_has_its_magic_at_both_ends(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_ipc_write_options opts = FRZ_IPC_WRITE_OPTIONS_INIT;
    opts.format = FRZ_IPC_FILE;
    assert_ok(write_sample(*state, "+s", "l", &opts, &out, &err), &err);
    assert_memory_equal(out.data, "ARROW1\0\0", 8);
    assert_memory_equal(out.data + out.len - 6, "ARROW1", 6);
    assert_true(frz_load_le32(out.data + out.len - 10) < out.len);
    frz_buf_reset(&out);
}

static void write__refuses_what_breaks_the_interface(void **state)
{
    static const struct {
        const char *top, *format, *phrase;
    } cases[] = {
        {"+s", "?", "\"n\": \"?\" is not the format"},
        {"+s", "", "is not the format"},
        {"+s", "tsx:", "is not the format"},
        {"+s", "d:10", "is not the format"},
        {"+s", "d:10,2,7", "is not the format"},
        {"+s", "+us:1,1", "is not the format"},
        {"+s", "+us:1,", "is not the format"},
        {"+s", "+l", "0 children, expected 1"},
        {"+s", "u", "2 buffers"},
        {"+s", "n", "expected 3 rows, 0 buffers"},
        {"+l", "l", "not \"+s\""},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        assert_fails(write_sample(*state, cases[i].top, cases[i].format, NULL, &out, &err), &err,
                     FRZ_E_ARGUMENT, cases[i].phrase);
        frz_buf_reset(&out);
    }
}

/* Three rows in runs whose ends have so many buffers. */
static frz_code make_runs(const frz_env *env, size_t buffers, struct ArrowArrayStream *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_schema_spec spec = {.format = FRZ_STR("+r"), .n_children = 2};
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray columns = {.release = NULL};
    struct ArrowArray batch = {.release = NULL};
    struct ArrowArray runs[2] = {{.release = NULL}, {.release = NULL}};
    frz_buffer *parts[2] = {NULL};
    FRZ_TRY(make_schema(env, "+s", "l", &schema, err));
    frz_schema_release(schema.children[0]);
    FRZ_TRY(frz_schema_make(env, &spec, schema.children[0], err));
    FRZ_TRY(add_leaf(env, "i", "run_ends", schema.children[0]->children[0], err));
    FRZ_TRY(add_leaf(env, "l", "values", schema.children[0]->children[1], err));
    FRZ_TRY(frz_buffer_new(env, sizeof(int32_t), &parts[1], err));
    *(int32_t *)(void *)parts[1]->data = 3;
    FRZ_TRY(frz_array_make(env, 1, 0, buffers == 2 ? parts : parts + 1, buffers, NULL, 0, &runs[0],
                           err));
    FRZ_TRY(make_batch(env, &columns, err));
    frz_array_move(columns.children[0], &runs[1]);
    FRZ_TRY(frz_array_make(env, 3, 0, NULL, 0, runs, 2, &batch, err));
    columns.children[0]->release = NULL;
    frz_array_move(&batch, columns.children[0]);
    rc = frz_stream_of_batches(env, &schema, &columns, 1, out, err);
out:
    return rc;
}

static void write__run_ends_are_looked_at_like_other_arrays(void **state)
{
    for (size_t buffers = 1; buffers <= 2; buffers++) {
        struct ArrowArrayStream stream = {.release = NULL};
        frz_error err = {0};
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        assert_ok(make_runs(*state, buffers, &stream, &err), &err);
        frz_code rc = frz_ipc_write(*state, to_buf, &out, &stream, NULL, NULL, &err);
        if (buffers == 2) {
            assert_ok(rc, &err);
        } else {
            assert_fails(rc, &err, FRZ_E_ARGUMENT,
                         "column \"run_ends\": an array of 1 rows, 1 buff");
        }
        stream.release(&stream);
        frz_buf_reset(&out);
    }
}

static void write__passes_on_what_the_function_fails_with(void **state)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, 100);
    assert_fails(write_sample(*state, "+s", "l", NULL, &out, &err), &err, FRZ_E_LIMIT, "at most");
    frz_buf_reset(&out);
}

static frz_code lost_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    (void)ctx;
    (void)out;
    return frz_fail(err, FRZ_E_IO, "the schema is lost");
}

static frz_code own_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    return make_schema(*(const frz_env **)ctx, "+s", "l", out, err);
}

static frz_code lost_rows(void *ctx, struct ArrowArray *out, frz_error *err)
{
    (void)ctx;
    (void)out;
    return frz_fail(err, FRZ_E_CORRUPT, "reading a.parquet: the rows are lost");
}

static void keep_context(void *ctx)
{
    (void)ctx;
}

static void write__failures_of_the_stream_are_not_told_as_its_own(void **state)
{
    static const frz_stream_ops ops[] = {{lost_schema, lost_rows, keep_context},
                                         {own_schema, lost_rows, keep_context}};
    static const char *const wanted[] = {"the schema is lost",
                                         "reading a.parquet: the rows are lost"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ops); i++) {
        struct ArrowArrayStream stream;
        char text[2048];
        frz_error err = {0};
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        assert_ok(frz_stream_make(*state, &ops[i], state, &stream, &err), &err);
        assert_int_not_equal(frz_ipc_write(*state, to_buf, &out, &stream, NULL, NULL, &err),
                             FRZ_OK);
        frz_error_format(&err, text, sizeof text);
        assert_string_equal(text, wanted[i]);
        stream.release(&stream);
        frz_buf_reset(&out);
    }
}

/* As where a full disk is told of at the end. */
static frz_code failing_close(void *ctx, void *file, frz_error *err)
{
    frz_code rc = frz_storage_local.close(ctx, file, err);
    return rc != FRZ_OK ? rc : frz_fail(err, FRZ_E_IO, "no room is left");
}

static void write__a_file_that_cannot_be_closed_is_removed(void **state)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_storage storage = frz_storage_local;
    frz_env *env;
    char folder[] = "/tmp/arrow-ipc-write-XXXXXX";
    char path[64];
    frz_error err = {0};
    struct ArrowArrayStream stream;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.arrow", folder);
    storage.close = failing_close;
    options.storage = &storage;
    assert_ok(frz_env_new(&options, &env, &err), &err);
    assert_ok(make_stream(env, "+s", "l", &stream, &err), &err);
    assert_fails(frz_ipc_write_file(env, path, &stream, NULL, NULL, &err), &err, FRZ_E_IO,
                 "no room is left");
    stream.release(&stream);
    frz_env_free(env);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(rmdir(folder), 0);
}

static frz_code write_both(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_ipc_write_options opts = FRZ_IPC_WRITE_OPTIONS_INIT;
    opts.format = FRZ_IPC_FILE;
    opts.compression = FRZ_IPC_ZSTD;
    FRZ_TRY(write_sample(env, "+s", "l", &opts, &out, err));
out:
    frz_buf_reset(&out);
    return rc;
}

static void write__every_allocation_may_fail(void **state)
{
    (void)state;
    test_fail_every_allocation(write_both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(write__a_stream_starts_with_a_message_and_ends_with_its_mark),
        TEST_WITH_ENV(write__a_file_has_its_magic_at_both_ends),
        TEST_WITH_ENV(write__refuses_what_breaks_the_interface),
        TEST_WITH_ENV(write__run_ends_are_looked_at_like_other_arrays),
        TEST_WITH_ENV(write__passes_on_what_the_function_fails_with),
        TEST_WITH_ENV(write__failures_of_the_stream_are_not_told_as_its_own),
        cmocka_unit_test(write__a_file_that_cannot_be_closed_is_removed),
        cmocka_unit_test(write__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
