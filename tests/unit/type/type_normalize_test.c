/*
 * Arrays of other layouts in the library's form, and arrays that contradict themselves.
 */
#include "unit/test_support.h"

#include "arrow/arrow_array.h"
#include "type/type_normalize.h"

/* A schema of one column "x", and of one child below it if there is a format for it. */
static struct ArrowSchema schema_of(const frz_env *env, const char *format, const char *child)
{
    struct ArrowSchema schema;
    frz_error err = {0};
    frz_schema_spec root = {.format = FRZ_STR("+s"), .n_children = 1};
    frz_schema_spec column = {.format = frz_str_from(format),
                              .name = FRZ_STR("x"),
                              .flags = ARROW_FLAG_NULLABLE,
                              .n_children = child != NULL};
    frz_schema_spec below = {
        .format = frz_str_from(child), .name = FRZ_STR("item"), .flags = ARROW_FLAG_NULLABLE};
    assert_ok(frz_schema_make(env, &root, &schema, &err), &err);
    assert_ok(frz_schema_make(env, &column, schema.children[0], &err), &err);
    if (child != NULL) {
        assert_ok(frz_schema_make(env, &below, schema.children[0]->children[0], &err), &err);
    }
    return schema;
}

static void keep_all(struct ArrowArray *array)
{
    array->release = NULL;
}

#define ARRAY(length_, ...)                                                                        \
    {                                                                                              \
        .length = (length_), .null_count = -1, .release = keep_all, __VA_ARGS__                    \
    }

typedef struct fixture {
    frz_arena arena;
    struct ArrowSchema schema;
    const frz_type *type;
    frz_normalizer *normalizer;
    struct ArrowArray *column;
    struct ArrowArray batch;
    struct ArrowArray out;
} fixture;

static void fixture_open(fixture *f, const frz_env *env, struct ArrowSchema schema,
                         struct ArrowArray *column)
{
    frz_error err = {0};
    *f = (fixture){.schema = schema, .column = column};
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_from_arrow_native(&f->arena, &f->schema, &f->type, &err), &err);
    assert_ok(frz_normalizer_new(env, &f->schema, f->type, &f->normalizer, &err), &err);
    f->batch = (struct ArrowArray)ARRAY(column->length, .n_buffers = 1, .n_children = 1,
                                        .children = &f->column);
}

static frz_code normalize(fixture *f, int64_t first, int64_t count, frz_error *err)
{
    static const void *none[1];
    f->batch.buffers = none;
    return frz_normalizer_batch(f->normalizer, &f->batch, first, count, &f->out, err);
}

static void fixture_close(fixture *f)
{
    frz_normalizer_free(f->normalizer);
    frz_schema_release(&f->schema);
    frz_arena_reset(&f->arena);
}

static void assert_text(const struct ArrowArray *array, int64_t i, const char *expected)
{
    frz_str text = frz_get_bytes(array, i);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
}

/* ---- layouts ---- */

static void normalize__large_text_has_offsets_of_32_bits(void **state)
{
    static const int64_t offsets[] = {5, 6, 6, 9};
    static const uint8_t valid[] = {0x5};
    const void *buffers[] = {valid, offsets, "-----abbb"};
    struct ArrowArray column = ARRAY(3, .n_buffers = 3, .buffers = buffers);
    frz_error err = {0};
    fixture f;
    fixture_open(&f, *state, schema_of(*state, "U", NULL), &column);
    assert_true(frz_normalizer_is_needed(f.normalizer));
    assert_int_equal(f.type->fields[0].type->id, FRZ_TYPE_STRING);
    assert_ok(normalize(&f, 0, 3, &err), &err);
    assert_text(f.out.children[0], 0, "a");
    assert_true(frz_is_null(f.out.children[0], 1));
    assert_text(f.out.children[0], 2, "bbb");
    assert_ok(normalize(&f, 2, 1, &err), &err); /* some of the rows */
    assert_int_equal(f.out.children[0]->length, 1);
    assert_text(f.out.children[0], 0, "bbb");
    fixture_close(&f);
}

static void normalize__views_become_text(void **state)
{
    static const char data[] = "a text of more than twelve bytes";
    static const int64_t sizes[] = {sizeof data - 1};
    uint8_t views[32] = {3, 0, 0, 0, 'a', 'b', 'c'};
    const void *buffers[] = {NULL, views, data, sizes};
    struct ArrowArray column = ARRAY(2, .n_buffers = 4, .buffers = buffers);
    frz_error err = {0};
    fixture f;
    frz_store_le32(views + 16, 20);
    frz_store_le32(views + 16 + 12, 2);
    fixture_open(&f, *state, schema_of(*state, "vu", NULL), &column);
    assert_ok(normalize(&f, 0, 2, &err), &err);
    assert_text(f.out.children[0], 0, "abc");
    assert_text(f.out.children[0], 1, "text of more than tw");
    frz_store_le32(views + 16 + 12, 13);
    assert_fails(normalize(&f, 0, 2, &err), &err, FRZ_E_ARGUMENT, "leads out of its buffers");
    fixture_close(&f);
}

static void normalize__lists_of_fixed_size_are_lists(void **state)
{
    static const int32_t values[] = {9, 9, 1, 2, 3, 4};
    const void *buffers[] = {NULL, values};
    const void *no_nulls[] = {NULL};
    struct ArrowArray items = ARRAY(6, .n_buffers = 2, .buffers = buffers);
    struct ArrowArray *children[] = {&items};
    struct ArrowArray column = ARRAY(2, .offset = 1, .n_buffers = 1, .buffers = no_nulls,
                                     .n_children = 1, .children = children);
    frz_error err = {0};
    fixture f;
    fixture_open(&f, *state, schema_of(*state, "+w:2", "i"), &column);
    assert_ok(normalize(&f, 0, 2, &err), &err);
    const struct ArrowArray *list = f.out.children[0];
    assert_int_equal(((const int32_t *)list->buffers[1])[2], 4);
    assert_int_equal(frz_get_i32(list->children[0], 0), 1);
    assert_int_equal(frz_get_i32(list->children[0], 3), 4);
    fixture_close(&f);
}

static void normalize__dictionaries_are_their_values(void **state)
{
    static const int64_t offsets[] = {0, 2, 3};
    static const uint8_t valid[] = {0xB};
    static int8_t indices[] = {1, 0, 77, 1};
    const void *texts[] = {NULL, offsets, "xyz"};
    const void *buffers[] = {valid, indices};
    struct ArrowArray values = ARRAY(2, .n_buffers = 3, .buffers = texts);
    struct ArrowArray column = ARRAY(4, .n_buffers = 2, .buffers = buffers, .dictionary = &values);
    struct ArrowSchema schema;
    frz_error err = {0};
    fixture f;
    frz_schema_spec root = {.format = FRZ_STR("+s"), .n_children = 1};
    frz_schema_spec index = {.format = FRZ_STR("c"),
                             .name = FRZ_STR("x"),
                             .flags = ARROW_FLAG_NULLABLE,
                             .has_dictionary = true};
    frz_schema_spec text = {.format = FRZ_STR("U"), .name = FRZ_STR("")};
    assert_ok(frz_schema_make(*state, &root, &schema, &err), &err);
    assert_ok(frz_schema_make(*state, &index, schema.children[0], &err), &err);
    assert_ok(frz_schema_make(*state, &text, schema.children[0]->dictionary, &err), &err);
    fixture_open(&f, *state, schema, &column);
    assert_ok(normalize(&f, 0, 4, &err), &err);
    assert_text(f.out.children[0], 0, "z");
    assert_text(f.out.children[0], 1, "xy");
    assert_true(frz_is_null(f.out.children[0], 2)); /* whatever its index is */
    assert_text(f.out.children[0], 3, "z");
    indices[0] = 2;
    assert_fails(normalize(&f, 0, 4, &err), &err, FRZ_E_ARGUMENT, "outside of its dictionary");
    fixture_close(&f);
}

/* ---- values ---- */

typedef struct value_case {
    const char *format;
    const void *values;
    frz_type_id id;
    const void *expected;
    size_t width;
} value_case;

static void normalize__values_take_the_form_of_their_type(void **state)
{
    static const int32_t dec32[] = {-5};
    static const int64_t dec64[] = {1};
    static const uint64_t dec256[] = {7, 0, 0, 0};
    static const int64_t date[] = {-86400000};
    static const int32_t time[] = {61};
    static const int64_t stamp[] = {-2};
    static const int32_t months[] = {14};
    static const int32_t day_time[] = {3, 250};
    static const __int128 wide[] = {-5, 1, 7};
    static const int32_t day[] = {-1};
    static const int32_t time_ms[] = {61000};
    static const int64_t stamp_ms[] = {-2000};
    static const int64_t interval_months[] = {14, 0};
    static const int32_t interval_days[] = {0, 3, 250000000, 0};
    static const value_case cases[] = {
        {"d:9,2,32", dec32, FRZ_TYPE_DECIMAL, &wide[0], 16},
        {"d:18,2,64", dec64, FRZ_TYPE_DECIMAL, &wide[1], 16},
        {"d:38,2,256", dec256, FRZ_TYPE_DECIMAL, &wide[2], 16},
        {"tdm", date, FRZ_TYPE_DATE, day, 4},
        {"tts", time, FRZ_TYPE_FOREIGN, time_ms, 4},
        {"tss:", stamp, FRZ_TYPE_FOREIGN, stamp_ms, 8},
        {"tiM", months, FRZ_TYPE_FOREIGN, interval_months, 16},
        {"tiD", day_time, FRZ_TYPE_FOREIGN, interval_days, 16},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const void *buffers[] = {NULL, cases[i].values};
        struct ArrowArray column = ARRAY(1, .n_buffers = 2, .buffers = buffers);
        frz_error err = {0};
        fixture f;
        fixture_open(&f, *state, schema_of(*state, cases[i].format, NULL), &column);
        assert_int_equal(f.type->fields[0].type->id, cases[i].id);
        assert_ok(normalize(&f, 0, 1, &err), &err);
        assert_memory_equal(f.out.children[0]->buffers[1], cases[i].expected, cases[i].width);
        fixture_close(&f);
    }
}

static void normalize__values_that_do_not_fit_are_named(void **state)
{
    static const int64_t half_days[] = {0, 43200000};
    static const uint64_t wide[] = {0, 0, 1, 0};
    static const int64_t far[] = {INT64_MAX / 2};
    static const struct {
        const char *format;
        const void *values;
        int64_t rows;
        const char *message;
    } cases[] = {
        {"tdm", half_days, 2, "column \"x\": row 1: a value does not fit date"},
        {"d:38,2,256", wide, 1, "row 0: a value does not fit decimal(38, 2)"},
        {"tss:UTC", far, 1, "row 0: a value does not fit timestamptz_ms"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const void *buffers[] = {NULL, cases[i].values};
        struct ArrowArray column = ARRAY(cases[i].rows, .n_buffers = 2, .buffers = buffers);
        frz_error err = {0};
        fixture f;
        fixture_open(&f, *state, schema_of(*state, cases[i].format, NULL), &column);
        assert_fails(normalize(&f, 0, cases[i].rows, &err), &err, FRZ_E_ARGUMENT, cases[i].message);
        fixture_close(&f);
    }
}

/* ---- arrays that cannot be ---- */

static void normalize__arrays_that_contradict_themselves_fail(void **state)
{
    static const int64_t back[] = {0, 4, 2};
    static const int64_t far[] = {0, 0, (int64_t)INT32_MAX + 1};
    const void *buffers[] = {NULL, back, "abcd"};
    struct ArrowArray column = ARRAY(2, .n_buffers = 3, .buffers = buffers);
    frz_error err = {0};
    fixture f;
    fixture_open(&f, *state, schema_of(*state, "Z", NULL), &column);
    assert_fails(normalize(&f, 0, 2, &err), &err, FRZ_E_ARGUMENT, "offsets that go back");
    buffers[1] = far;
    assert_fails(normalize(&f, 0, 2, &err), &err, FRZ_E_LIMIT, "at once");
    assert_ok(normalize(&f, 0, 1, &err), &err); /* fewer rows fit */
    column.n_buffers = 2;
    assert_fails(normalize(&f, 0, 2, &err), &err, FRZ_E_ARGUMENT, "number of buffers");
    column.n_buffers = 3;
    column.length = 1;
    assert_fails(normalize(&f, 0, 2, &err), &err, FRZ_E_ARGUMENT, "has 1 rows, expected 2");
    fixture_close(&f);
}

static void normalize__what_has_the_form_is_shown_where_it_lies(void **state)
{
    static const int32_t values[] = {1, 2, 3};
    const void *buffers[] = {NULL, values};
    struct ArrowArray column = ARRAY(3, .n_buffers = 2, .buffers = buffers);
    frz_error err = {0};
    fixture f;
    fixture_open(&f, *state, schema_of(*state, "i", NULL), &column);
    assert_false(frz_normalizer_is_needed(f.normalizer));
    assert_ok(normalize(&f, 1, 2, &err), &err);
    assert_ptr_equal(f.out.children[0]->buffers[1], values);
    assert_int_equal(frz_get_i32(f.out.children[0], 0), 2);
    fixture_close(&f);
}

/* ---- types ---- */

static void from_arrow_native__tables_still_refuse_what_they_lack(void **state)
{
    static const char *const formats[] = {"c",   "L",    "e",   "U",         "vu",
                                          "tdm", "tss:", "tin", "d:50,2,256"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(formats); i++) {
        frz_arena arena;
        const frz_type *type;
        frz_error err = {0};
        struct ArrowSchema schema = schema_of(*state, formats[i], NULL);
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        assert_fails(frz_type_from_arrow(&arena, &schema, &type, &err), &err, FRZ_E_UNSUPPORTED,
                     "column \"x\"");
        assert_ok(frz_type_from_arrow_native(&arena, &schema, &type, &err), &err);
        frz_schema_release(&schema);
        frz_arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(normalize__large_text_has_offsets_of_32_bits),
        TEST_WITH_ENV(normalize__views_become_text),
        TEST_WITH_ENV(normalize__lists_of_fixed_size_are_lists),
        TEST_WITH_ENV(normalize__dictionaries_are_their_values),
        TEST_WITH_ENV(normalize__values_take_the_form_of_their_type),
        TEST_WITH_ENV(normalize__values_that_do_not_fit_are_named),
        TEST_WITH_ENV(normalize__arrays_that_contradict_themselves_fail),
        TEST_WITH_ENV(normalize__what_has_the_form_is_shown_where_it_lies),
        TEST_WITH_ENV(from_arrow_native__tables_still_refuse_what_they_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
