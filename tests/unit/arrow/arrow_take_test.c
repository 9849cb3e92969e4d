/*
 * Rows of arrays, where it matters how many they are. That each type's rows come out as they are is
 * shown by interop/cat_test.py.
 */
#include "arrow/arrow_take.h"
#include "unit/test_support.h"

#define MANY 40000

/* Two longs. */
static struct ArrowArray longs_of(const frz_env *env)
{
    frz_buffer *buffers[2] = {NULL};
    struct ArrowArray out;
    frz_error err = {0};
    assert_ok(frz_buffer_new(env, 2 * sizeof(int64_t), &buffers[1], &err), &err);
    ((int64_t *)(void *)buffers[1]->data)[0] = 7;
    ((int64_t *)(void *)buffers[1]->data)[1] = 8;
    assert_ok(frz_array_make(env, 2, 0, buffers, 2, NULL, 0, &out, &err), &err);
    return out;
}

/* Two runs of two rows, their ends of 16 bits. */
static struct ArrowArray runs_of(const frz_env *env)
{
    frz_buffer *buffers[2] = {NULL};
    struct ArrowArray children[2] = {{.release = NULL}, longs_of(env)};
    struct ArrowArray out;
    frz_error err = {0};
    assert_ok(frz_buffer_new(env, 2 * sizeof(int16_t), &buffers[1], &err), &err);
    ((int16_t *)(void *)buffers[1]->data)[0] = 2;
    ((int16_t *)(void *)buffers[1]->data)[1] = 4;
    assert_ok(frz_array_make(env, 2, 0, buffers, 2, NULL, 0, &children[0], &err), &err);
    assert_ok(frz_array_make(env, 4, 0, NULL, 0, children, 2, &out, &err), &err);
    return out;
}

/* Lists that share items can ask for a row more than once. */
static void take__runs_end_where_their_numbers_do(void **state)
{
    static int64_t rows[MANY];
    frz_arena arena;
    frz_error err = {0};
    ipc_field children[2] = {{.nullable = false}};
    ipc_field field = {.children = children, .child_count = 2};
    const frz_take_part part = {.field = &field, .whole = true};
    struct ArrowArray runs = runs_of(*state);
    struct ArrowArray out = {.release = NULL};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(ipc_type_from_format(&arena, FRZ_STR("+r"), &field.type, &err), &err);
    assert_ok(ipc_type_from_format(&arena, FRZ_STR("s"), &children[0].type, &err), &err);
    assert_ok(ipc_type_from_format(&arena, FRZ_STR("l"), &children[1].type, &err), &err);
    for (int64_t i = 0; i < MANY; i++) {
        rows[i] = i % 4;
    }
    assert_ok(frz_array_take(*state, &part, &runs, rows, INT16_MAX, &out, &err), &err);
    const int16_t *ends = out.children[0]->buffers[1];
    assert_int_equal(out.length, INT16_MAX);
    assert_int_equal(ends[out.children[0]->length - 1], INT16_MAX);
    frz_array_release(&out);
    assert_fails(frz_array_take(*state, &part, &runs, rows, MANY, &out, &err), &err, FRZ_E_LIMIT,
                 "runs of 40000 rows, their ends have 16 bits");
    frz_array_release(&runs);
    frz_arena_reset(&arena);
}

/* One text for many rows of a join: its copies are more bytes than offsets of 32 bits can tell. */
static void take__text_of_more_than_2_gib_is_refused(void **state)
{
    static const int64_t rows[MANY]; /* the first one each time */
    const int32_t length = 1 << 16;
    frz_arena arena;
    frz_error err = {0};
    ipc_field field = {.nullable = false};
    const frz_take_part part = {.field = &field, .whole = true};
    frz_buffer *buffers[3] = {NULL};
    struct ArrowArray text, out = {.release = NULL};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(ipc_type_from_format(&arena, FRZ_STR("u"), &field.type, &err), &err);
    assert_ok(frz_buffer_new(*state, 2 * sizeof(int32_t), &buffers[1], &err), &err);
    assert_ok(frz_buffer_new(*state, (size_t)length, &buffers[2], &err), &err);
    ((int32_t *)(void *)buffers[1]->data)[0] = 0;
    ((int32_t *)(void *)buffers[1]->data)[1] = length;
    memset(buffers[2]->data, 'x', (size_t)length);
    assert_ok(frz_array_make(*state, 1, 0, buffers, 3, NULL, 0, &text, &err), &err);
    assert_ok(frz_array_take(*state, &part, &text, rows, 10, &out, &err), &err);
    frz_array_release(&out);
    assert_fails(frz_array_take(*state, &part, &text, rows, MANY, &out, &err), &err, FRZ_E_LIMIT,
                 "more than 2 GiB of text");
    frz_array_release(&text);
    frz_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(take__runs_end_where_their_numbers_do),
        TEST_WITH_ENV(take__text_of_more_than_2_gib_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
