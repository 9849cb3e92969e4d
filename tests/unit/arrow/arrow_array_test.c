#include "arrow/arrow_array.h"
#include "unit/test_alloc.h"

/* 0, 1, 2 … with a null at every third row. */
static frz_code make_numbers(const frz_env *env, int64_t length, struct ArrowArray *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[2] = {NULL};
    FRZ_TRY(frz_buffer_new(env, frz_bitmap_bytes(length), &buffers[0], err));
    FRZ_TRY(frz_buffer_new(env, (size_t)length * sizeof(int64_t), &buffers[1], err));
    for (int64_t i = 0; i < length; i++) {
        frz_bit_put(buffers[0]->data, i, i % 3 != 2);
        ((int64_t *)buffers[1]->data)[i] = i;
    }
    rc = frz_array_make(env, length, length / 3, buffers, 2, NULL, 0, out, err);
    buffers[0] = buffers[1] = NULL;
out:
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

static frz_code make_batch(const frz_env *env, int64_t length, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray columns[2] = {{0}};
    FRZ_TRY(make_numbers(env, length, &columns[0], err));
    FRZ_TRY(make_numbers(env, length, &columns[1], err));
    FRZ_TRY(frz_batch_make(env, length, columns, 2, out, err));
out:
    frz_array_release(&columns[0]);
    frz_array_release(&columns[1]);
    return rc;
}

static void buffer__is_aligned_and_keeps_its_bytes(void **state)
{
    frz_error err = {0};
    frz_buffer *buffer = NULL;
    assert_ok(frz_buffer_new(*state, 100, &buffer, &err), &err);
    memset(buffer->data, 0x5A, 100);
    for (size_t size = 100; size < 100000; size = size * 2 + 1) {
        assert_ok(frz_buffer_resize(&buffer, size, &err), &err);
        assert_int_equal((uintptr_t)buffer->data % 64, 0);
        assert_true(buffer->size == size && buffer->capacity >= size + FRZ_BUFFER_SLACK);
        assert_int_equal(buffer->data[99], 0x5A);
    }
    frz_buffer *second = frz_buffer_ref(buffer);
    frz_buffer_unref(buffer);
    assert_int_equal(second->data[0], 0x5A);
    frz_buffer_unref(second);
    frz_buffer_unref(NULL);
    assert_fails(frz_buffer_new(*state, SIZE_MAX - 10, &buffer, &err), &err, FRZ_E_LIMIT,
                 "too large");
}

static void slice__of_a_slice_outlives_both(void **state)
{
    frz_error err = {0};
    struct ArrowArray whole = {0};
    struct ArrowArray part = {0};
    struct ArrowArray piece = {0};
    assert_ok(make_numbers(*state, 100, &whole, &err), &err);
    assert_ok(frz_array_slice(*state, &whole, 10, 50, &part, &err), &err);
    assert_ok(frz_array_slice(*state, &part, 7, 20, &piece, &err), &err);
    frz_array_release(&whole);
    frz_array_release(&part);
    assert_int_equal(piece.length, 20);
    assert_int_equal(piece.offset, 17);
    int64_t nulls = 0;
    for (int64_t i = 0; i < 20; i++) {
        assert_int_equal(frz_get_i64(&piece, i), 17 + i);
        assert_int_equal(frz_is_null(&piece, i), (17 + i) % 3 == 2);
        nulls += frz_is_null(&piece, i);
    }
    assert_int_equal(frz_null_count(&piece), nulls);
    frz_array_release(&piece);
    frz_array_release(&piece);
}

static void slice__whole_and_empty(void **state)
{
    frz_error err = {0};
    struct ArrowArray whole = {0};
    struct ArrowArray all = {0};
    struct ArrowArray none = {0};
    assert_ok(make_numbers(*state, 30, &whole, &err), &err);
    assert_ok(frz_array_slice(*state, &whole, 0, 30, &all, &err), &err);
    assert_int_equal(all.null_count, 10);
    assert_ok(frz_array_slice(*state, &whole, 30, 0, &none, &err), &err);
    assert_int_equal(frz_null_count(&none), 0);
    frz_array_release(&all);
    frz_array_release(&none);
    frz_array_release(&whole);
}

static void batch_slice__columns_take_the_offset(void **state)
{
    frz_error err = {0};
    struct ArrowArray batch = {0};
    struct ArrowArray part = {0};
    assert_ok(make_batch(*state, 40, &batch, &err), &err);
    assert_ok(frz_batch_slice(*state, &batch, 5, 10, &part, &err), &err);
    frz_array_release(&batch);
    assert_int_equal(part.offset, 0);
    assert_int_equal(part.length, 10);
    assert_int_equal(part.children[1]->offset, 5);
    assert_int_equal(frz_get_i64(part.children[1], 9), 14);
    assert_true(frz_array_is_own(&part) && frz_array_is_own(part.children[0]));
    frz_array_release(&part);
}

/* Arrow's null type has no buffers. */
static void array__without_buffers_is_all_null(void **state)
{
    frz_error err = {0};
    struct ArrowArray a = {0};
    struct ArrowArray part = {0};
    assert_ok(frz_array_make(*state, 9, 0, NULL, 0, NULL, 0, &a, &err), &err);
    assert_ok(frz_array_slice(*state, &a, 2, 4, &part, &err), &err);
    assert_int_equal(a.null_count, 9);
    assert_int_equal(frz_null_count(&part), 4);
    assert_true(frz_is_null(&part, 0));
    frz_array_release(&part);
    frz_array_release(&a);
}

/* ---- schemas ---- */

/* Two pairs: k is "v\0w", other is empty. */
static const char metadata[] = "\2\0\0\0\1\0\0\0k\3\0\0\0v\0w\5\0\0\0other\0\0\0\0";

static frz_code make_schema(const frz_env *env, struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema root = {0};
    frz_schema_spec spec = {.format = FRZ_STR("+s"), .n_children = 2};
    frz_schema_spec leaf = {.format = FRZ_STR("l"),
                            .name = FRZ_STR("number"),
                            .metadata = {metadata, sizeof metadata - 1},
                            .flags = ARROW_FLAG_NULLABLE};
    frz_schema_spec coded = {.format = FRZ_STR("i"), .has_dictionary = true};
    frz_schema_spec words = {.format = FRZ_STR("u")};
    FRZ_TRY(frz_schema_make(env, &spec, &root, err));
    FRZ_TRY(frz_schema_make(env, &leaf, root.children[0], err));
    FRZ_TRY(frz_schema_make(env, &coded, root.children[1], err));
    FRZ_TRY(frz_schema_make(env, &words, root.children[1]->dictionary, err));
    *out = root;
    root.release = NULL;
out:
    frz_schema_release(&root);
    return rc;
}

static void schema_copy__metadata_and_dictionaries(void **state)
{
    frz_error err = {0};
    struct ArrowSchema schema = {0};
    struct ArrowSchema copy = {0};
    frz_str value;
    size_t size;
    assert_ok(make_schema(*state, &schema, &err), &err);
    assert_ok(frz_arrow_schema_copy(*state, &schema, &copy, &err), &err);
    frz_schema_release(&schema);
    assert_string_equal(copy.children[0]->name, "number");
    assert_int_equal(copy.children[0]->flags, ARROW_FLAG_NULLABLE);
    assert_string_equal(copy.children[1]->dictionary->format, "u");
    assert_null(copy.metadata);
    assert_ok(frz_schema_metadata(copy.children[0], FRZ_STR("k"), &value, &size, &err), &err);
    assert_int_equal(size, sizeof metadata - 1);
    assert_int_equal(value.len, 3);
    assert_memory_equal(value.ptr, "v\0w", 3);
    assert_ok(frz_schema_metadata(copy.children[0], FRZ_STR("none"), &value, &size, &err), &err);
    assert_null(value.ptr);
    frz_schema_release(&copy);
}

static void schema_metadata__negative_length_is_corrupt(void **state)
{
    frz_error err = {0};
    frz_str value;
    size_t size;
    struct ArrowSchema schema = {
        .format = "l", .name = "x", .metadata = "\1\0\0\0\xFF\xFF\xFF\xFF"};
    (void)state;
    assert_fails(frz_schema_metadata(&schema, FRZ_STR("k"), &value, &size, &err), &err,
                 FRZ_E_CORRUPT, "metadata of column \"x\": entry 0 has an impossible length");
}

/* ---- streams ---- */

static frz_code make_stream(const frz_env *env, struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    struct ArrowArray batches[2] = {{0}};
    FRZ_TRY(make_schema(env, &schema, err));
    FRZ_TRY(make_batch(env, 5, &batches[0], err));
    FRZ_TRY(make_batch(env, 6, &batches[1], err));
    FRZ_TRY(frz_stream_of_batches(env, &schema, batches, 2, out, err));
out:
    frz_schema_release(&schema);
    frz_array_release(&batches[0]);
    frz_array_release(&batches[1]);
    return rc;
}

static void stream__gives_its_schema_as_often_as_asked(void **state)
{
    frz_error err = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    assert_ok(make_stream(*state, &stream, &err), &err);
    for (int i = 0; i < 3; i++) {
        struct ArrowSchema schema = {0};
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        assert_int_equal(schema.n_children, 2);
        schema.release(&schema);
    }
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 5);
    frz_array_release(&batch);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 6);
    frz_array_release(&batch);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        assert_null(batch.release);
    }
    assert_null(stream.get_last_error(&stream));
    stream.release(&stream);
    assert_null(stream.release);
}

static void stream__what_was_not_taken_is_released(void **state)
{
    frz_error err = {0};
    struct ArrowArrayStream stream = {0};
    assert_ok(make_stream(*state, &stream, &err), &err);
    stream.release(&stream);
}

static frz_code failing_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    (void)ctx;
    (void)out;
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: this");
}

static frz_code failing_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    int *calls = ctx;
    (void)out;
    if (++*calls > 1) {
        return FRZ_END;
    }
    return frz_context(err, frz_fail(err, FRZ_E_IO, "it broke"), "reading x");
}

static void failing_release(void *ctx)
{
    *(int *)ctx = -1;
}

static void stream__failures_have_errno_and_text(void **state)
{
    static const frz_stream_ops ops = {failing_schema, failing_next, failing_release};
    frz_error err = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};
    int calls = 0;
    assert_ok(frz_stream_make(*state, &ops, &calls, &stream, &err), &err);
    assert_int_equal(stream.get_next(&stream, &batch), frz_code_errno(FRZ_E_IO));
    assert_string_equal(stream.get_last_error(&stream), "reading x: it broke");
    assert_null(batch.release);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_null(stream.get_last_error(&stream));
    assert_int_equal(stream.get_schema(&stream, &schema), frz_code_errno(FRZ_E_UNSUPPORTED));
    assert_string_equal(stream.get_last_error(&stream), "unsupported: this");
    stream.release(&stream);
    assert_int_equal(calls, -1);
}

static frz_code hinting_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    (void)ctx;
    (void)out;
    frz_fail(err, FRZ_E_NOT_FOUND, "it is gone");
    frz_hint(err, "look\n   ^ there");
    return frz_context(err, FRZ_E_NOT_FOUND, "reading x");
}

static void stream__hints_follow_the_message(void **state)
{
    static const frz_stream_ops ops = {failing_schema, hinting_next, failing_release};
    frz_error err = {0}, told = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    int calls = 0;
    assert_ok(frz_stream_make(*state, &ops, &calls, &stream, &err), &err);
    int failed = stream.get_next(&stream, &batch);
    assert_string_equal(stream.get_last_error(&stream),
                        "reading x: it is gone\nhint: look\n   ^ there");
    assert_int_equal(frz_stream_fail(&stream, failed, &told), FRZ_E_NOT_FOUND);
    assert_string_equal(told.message, "reading x: it is gone");
    assert_string_equal(told.hint, "look\n   ^ there");
    stream.release(&stream);
}

/* ---- memory ---- */

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    struct ArrowArray part = {0};
    struct ArrowSchema schema = {0};
    struct ArrowSchema copy = {0};
    FRZ_TRY(make_batch(env, 40, &batch, err));
    FRZ_TRY(frz_batch_slice(env, &batch, 3, 20, &part, err));
    frz_array_release(&batch);
    FRZ_TRY(frz_array_slice(env, &part, 2, 10, &batch, err));
    FRZ_TRY(make_schema(env, &schema, err));
    FRZ_TRY(frz_arrow_schema_copy(env, &schema, &copy, err));
    FRZ_TRY(make_stream(env, &stream, err));
out:
    frz_array_release(&batch);
    frz_array_release(&part);
    frz_schema_release(&schema);
    frz_schema_release(&copy);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return rc;
}

static void arrow__no_failed_allocation_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 20);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(buffer__is_aligned_and_keeps_its_bytes),
        TEST_WITH_ENV(slice__of_a_slice_outlives_both),
        TEST_WITH_ENV(slice__whole_and_empty),
        TEST_WITH_ENV(batch_slice__columns_take_the_offset),
        TEST_WITH_ENV(array__without_buffers_is_all_null),
        TEST_WITH_ENV(schema_copy__metadata_and_dictionaries),
        TEST_WITH_ENV(schema_metadata__negative_length_is_corrupt),
        TEST_WITH_ENV(stream__gives_its_schema_as_often_as_asked),
        TEST_WITH_ENV(stream__what_was_not_taken_is_released),
        TEST_WITH_ENV(stream__failures_have_errno_and_text),
        TEST_WITH_ENV(stream__hints_follow_the_message),
        cmocka_unit_test(arrow__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
