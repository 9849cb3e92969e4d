#include "type/type_schema.h"
#include "type/type_value.h"
#include "unit/test_alloc.h"

/* Arrays are compared as text: rows in braces and brackets, null as a dot. */
static void put_row(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i);

static void put_range(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
    frz_type entries = {.id = FRZ_TYPE_STRUCT, .fields = type->fields, .field_count = 2};
    const frz_type *below = type->id == FRZ_TYPE_MAP ? &entries : type->fields[0].type;
    frz_buf_append_byte(out, '[', NULL);
    for (int32_t k = offsets[0]; k < offsets[1]; k++) {
        frz_buf_append_str(out, k == offsets[0] ? "" : " ", NULL);
        put_row(out, below, a->children[0], k);
    }
    frz_buf_append_byte(out, ']', NULL);
}

static void put_row(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i)
{
    if (frz_is_null(a, i)) {
        frz_buf_append_byte(out, '.', NULL);
    } else if (type->id == FRZ_TYPE_STRUCT) {
        frz_buf_append_byte(out, '{', NULL);
        for (size_t k = 0; k < type->field_count; k++) {
            frz_buf_append_str(out, k == 0 ? "" : " ", NULL);
            put_row(out, type->fields[k].type, a->children[k], a->offset + i);
        }
        frz_buf_append_byte(out, '}', NULL);
    } else if (frz_type_is_nested(type)) {
        put_range(out, type, a, i);
    } else if (type->id == FRZ_TYPE_STRING) {
        frz_str s = frz_get_bytes(a, i);
        frz_buf_append(out, s.ptr, s.len, NULL);
    } else if (type->id == FRZ_TYPE_BOOLEAN) {
        frz_buf_append_byte(out, frz_get_bool(a, i) ? 't' : 'f', NULL);
    } else if (type->id == FRZ_TYPE_LONG) {
        frz_buf_printf(out, NULL, "%lld", (long long)frz_get_i64(a, i));
    } else if (type->id == FRZ_TYPE_INT) {
        frz_buf_printf(out, NULL, "%d", frz_get_i32(a, i));
    } else {
        frz_value v = frz_value_at(type, a, i);
        frz_buf_printf(out, NULL, "%lld", (long long)v.as.i128);
    }
}

static void assert_rows(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                        const char *expected)
{
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    for (int64_t i = 0; i < a->length; i++) {
        frz_buf_append_str(&text, i == 0 ? "" : " ", NULL);
        put_row(&text, type, a, i);
    }
    frz_buf_append_byte(&text, 0, NULL);
    assert_string_equal((const char *)text.data, expected);
    frz_buf_reset(&text);
}

/* ---- building ---- */

static const frz_type decimal_type = {.id = FRZ_TYPE_DECIMAL, .precision = 20, .scale = 2};

/* struct<b boolean, i int, l long, s string, d decimal(20,2), xs list<string>,
 *        m map<string, struct<v long>>, u unknown> */
typedef struct wide_types {
    frz_field element, v, pair[2], top[8];
    frz_type list, value, map, root;
} wide_types;

static const frz_type *wide_type(wide_types *w)
{
    const frz_type *string = frz_type_primitive(FRZ_TYPE_STRING);
    w->element = (frz_field){.id = 9, .name = FRZ_STR("element"), .type = string};
    w->list = (frz_type){.id = FRZ_TYPE_LIST, .fields = &w->element, .field_count = 1};
    w->v = (frz_field){.id = 12, .name = FRZ_STR("v"), .type = frz_type_primitive(FRZ_TYPE_LONG)};
    w->value = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = &w->v, .field_count = 1};
    w->pair[0] = (frz_field){.id = 10, .name = FRZ_STR("key"), .type = string, .required = true};
    w->pair[1] = (frz_field){.id = 11, .name = FRZ_STR("value"), .type = &w->value};
    w->map = (frz_type){.id = FRZ_TYPE_MAP, .fields = w->pair, .field_count = 2};
    const frz_type *types[] = {frz_type_primitive(FRZ_TYPE_BOOLEAN),
                               frz_type_primitive(FRZ_TYPE_INT),
                               frz_type_primitive(FRZ_TYPE_LONG),
                               string,
                               &decimal_type,
                               &w->list,
                               &w->map,
                               frz_type_primitive(FRZ_TYPE_UNKNOWN)};
    static const char *const names[] = {"b", "i", "l", "s", "d", "xs", "m", "u"};
    for (int32_t i = 0; i < 8; i++) {
        w->top[i] = (frz_field){.id = i + 1, .name = frz_str_from(names[i]), .type = types[i]};
    }
    w->root = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = w->top, .field_count = 8};
    return &w->root;
}

static frz_code add_nested(frz_builder *b, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *xs = frz_builder_child(b, 5);
    frz_builder *m = frz_builder_child(b, 6);
    frz_builder *value = frz_builder_child(m, 1);
    for (int64_t k = 0; k < row % 3; k++) {
        FRZ_TRY(
            frz_builder_bytes(frz_builder_child(xs, 0), k == 0 ? FRZ_STR("") : FRZ_STR("yy"), err));
    }
    FRZ_TRY(frz_builder_end(xs, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(m, 0), FRZ_STR("k"), err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(value, 0), row * 10, err));
    FRZ_TRY(frz_builder_end(value, err));
    if (row % 2 == 0) {
        FRZ_TRY(frz_builder_bytes(frz_builder_child(m, 0), FRZ_STR("n"), err));
        FRZ_TRY(frz_builder_null(value, err));
    }
    FRZ_TRY(frz_builder_end(m, err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, 7), err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

/* Row n; rows 3 and 7 of ten are null as a whole. */
static frz_code add_row(frz_builder *b, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_value d = {.type = &decimal_type, .as.i128 = -row};
    if (row % 10 == 3 || row % 10 == 7) {
        return frz_builder_null(b, err);
    }
    FRZ_TRY(frz_builder_bool(frz_builder_child(b, 0), row % 2 == 1, err));
    FRZ_TRY(frz_builder_i32(frz_builder_child(b, 1), (int32_t)row, err));
    if (row % 4 == 1) {
        FRZ_TRY(frz_builder_null(frz_builder_child(b, 2), err));
    } else {
        FRZ_TRY(frz_builder_i64(frz_builder_child(b, 2), row << 33, err));
    }
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, 3), (frz_str){"abcdef", (size_t)row % 7}, err));
    FRZ_TRY(frz_builder_value(frz_builder_child(b, 4), &d, err));
    FRZ_TRY(add_nested(b, row, err));
out:
    return rc;
}

static frz_code build_rows(const frz_env *env, const frz_type *type, int64_t first, int64_t count,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = NULL;
    FRZ_TRY(frz_builder_new(env, type, &b, err));
    for (int64_t i = first; i < first + count; i++) {
        FRZ_TRY(add_row(b, i, err));
    }
    FRZ_TRY(frz_builder_finish(b, out, err));
out:
    frz_builder_free(b);
    return rc;
}

static void builder__rows_of_every_layout(void **state)
{
    frz_error err = {0};
    wide_types w;
    struct ArrowArray a = {0};
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 4, &a, &err), &err);
    assert_rows(*state, type, &a,
                "{f 0 0  0 [] [{k {0}} {n .}] .} {t 1 . a -1 [] [{k {10}}] .} "
                "{f 2 17179869184 ab -2 [ yy] [{k {20}} {n .}] .} .");
    assert_int_equal(a.null_count, 1);
    assert_int_equal(a.children[7]->null_count, 4);
    assert_int_equal(a.children[7]->n_buffers, 0);
    assert_null(a.children[6]->children[0]->buffers[0]);
    frz_array_release(&a);
}

static void builder__can_be_used_again_and_without_rows(void **state)
{
    frz_error err = {0};
    wide_types w;
    frz_builder *b = NULL;
    const frz_type *type = wide_type(&w);
    assert_ok(frz_builder_new(*state, type, &b, &err), &err);
    for (int64_t round = 0; round < 3; round++) {
        struct ArrowArray a = {0};
        for (int64_t i = 0; i < round * 100; i++) {
            assert_ok(add_row(b, i, &err), &err);
        }
        assert_int_equal(frz_builder_length(b), round * 100);
        assert_ok(frz_builder_finish(b, &a, &err), &err);
        assert_int_equal(a.length, round * 100);
        assert_int_equal(a.children[5]->length, round * 100);
        assert_int_equal(((const int32_t *)a.children[3]->buffers[1])[0], 0);
        assert_non_null(a.children[3]->buffers[2]);
        frz_array_release(&a);
    }
    frz_builder_free(b);
}

static void builder__fixed_length_is_checked(void **state)
{
    frz_error err = {0};
    frz_builder *b = NULL;
    assert_ok(frz_builder_new(*state, frz_type_primitive(FRZ_TYPE_UUID), &b, &err), &err);
    assert_fails(frz_builder_bytes(b, FRZ_STR("short"), &err), &err, FRZ_E_ARGUMENT,
                 "expected 16 bytes, found 5");
    frz_builder_free(b);
}

/* ---- arrays: each operation against rows picked one by one ---- */

static char *rows_text(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                       const uint8_t *selection)
{
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    const char *between = "";
    for (int64_t i = 0; i < a->length; i++) {
        if (selection == NULL || frz_bit_get(selection, i)) {
            frz_buf_append_str(&text, between, NULL);
            put_row(&text, type, a, i);
            between = " ";
        }
    }
    frz_buf_append_byte(&text, 0, NULL);
    return (char *)text.data;
}

/* The same of each column in memory that nobody else has, of which it takes the second half. */
static void check_filter_move(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                              const uint8_t *selection)
{
    frz_error err = {0};
    frz_selection s;
    int64_t selected = frz_bitmap_count(selection, 0, a->length);
    assert_ok(frz_selection_init(&s, env, selection, a->length, selected, &err), &err);
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_type *child = type->fields[i].type;
        struct ArrowArray cut = {0}, twice = {0}, own = {0}, out = {0};
        assert_ok(frz_array_slice(env, a->children[i], a->offset, a->length, &cut, &err), &err);
        const struct ArrowArray parts[] = {cut, cut};
        assert_ok(frz_array_concat(env, child, parts, 2, &twice, &err), &err);
        assert_ok(frz_array_slice(env, &twice, a->length, a->length, &own, &err), &err);
        frz_array_release(&twice);
        char *expected = rows_text(env, child, &cut, selection);
        assert_ok(frz_array_filter_move(env, child, &own, &s, &out, &err), &err);
        assert_null(own.release);
        assert_rows(env, child, &out, expected);
        frz_free(env, expected);
        frz_array_release(&cut);
        frz_array_release(&out);
    }
    frz_selection_reset(&s, env);
}

/* selection: with zeros behind the array's rows. */
static void check_filter(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                         const uint8_t *selection)
{
    frz_error err = {0};
    struct ArrowArray out = {0};
    int64_t selected = frz_bitmap_count(selection, 0, a->length);
    assert_ok(frz_array_filter(env, type, a, selection, selected, &out, &err), &err);
    assert_int_equal(out.length, selected);
    assert_int_equal(out.offset, 0);
    char *expected = rows_text(env, type, a, selection);
    assert_rows(env, type, &out, expected);
    frz_free(env, expected);
    frz_array_release(&out);
    check_filter_move(env, type, a, selection);
}

static void filter__keeps_the_selected_rows(void **state)
{
    static const struct {
        int64_t first, length, every;
    } cases[] = {{0, 300, 1},  {0, 300, 2}, {5, 190, 3},   {13, 64, 1},
                 {1, 129, 64}, {9, 0, 1},   {7, 100, 1000}};
    frz_error err = {0};
    wide_types w;
    struct ArrowArray whole = {0};
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 300, &whole, &err), &err);
    for (size_t c = 0; c < FRZ_ARRAY_COUNT(cases); c++) {
        struct ArrowArray a = {0};
        uint8_t selection[40] = {0};
        assert_ok(frz_array_slice(*state, &whole, cases[c].first, cases[c].length, &a, &err), &err);
        for (int64_t i = cases[c].every / 2; i < cases[c].length; i += cases[c].every) {
            frz_bit_set(selection, i);
        }
        check_filter(*state, type, &a, selection);
        frz_array_release(&a);
    }
    frz_array_release(&whole);
}

static int64_t random_below(uint64_t *seed, int64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*seed >> 33) % (uint64_t)limit);
}

/* Runs are copied as a whole if they are long on average, else rows one by one. */
static void filter__runs_of_any_length(void **state)
{
    static const int64_t lengths[] = {1, 2, 7, 9, 30, 100, 400};
    frz_error err = {0};
    wide_types w;
    uint64_t seed = 7;
    struct ArrowArray whole = {0};
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 700, &whole, &err), &err);
    for (size_t c = 0; c < 10 * FRZ_ARRAY_COUNT(lengths); c++) {
        struct ArrowArray a = {0};
        uint8_t selection[96] = {0};
        int64_t most = lengths[c % FRZ_ARRAY_COUNT(lengths)];
        int64_t first = random_below(&seed, 70), length = 500 + random_below(&seed, 130);
        assert_ok(frz_array_slice(*state, &whole, first, length, &a, &err), &err);
        for (int64_t at = random_below(&seed, 3); at < length;) {
            int64_t run = FRZ_MIN(1 + random_below(&seed, most), length - at);
            frz_bitmap_fill(selection, at, run, true);
            at += run + 1 + random_below(&seed, 1 + most / 4);
        }
        check_filter(*state, type, &a, selection);
        frz_array_release(&a);
    }
    frz_array_release(&whole);
}

/* Rows of the source are the same afterwards if somebody else has them. */
static void filter__shared_memory_is_not_written_to(void **state)
{
    static const uint8_t selection[] = {0xfe, 0xff, 0xff};
    frz_error err = {0};
    wide_types w;
    struct ArrowArray whole = {0}, moved = {0}, out = {0};
    frz_selection s;
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 24, &whole, &err), &err);
    assert_ok(frz_selection_init(&s, *state, selection, 24, 23, &err), &err);
    char *before = rows_text(*state, type, &whole, NULL);
    for (int64_t i = 0; i < whole.n_children; i++) {
        assert_ok(frz_array_slice(*state, whole.children[i], 0, 24, &moved, &err), &err);
        assert_ok(frz_array_filter_move(*state, w.top[i].type, &moved, &s, &out, &err), &err);
        frz_array_release(&out);
    }
    frz_selection_reset(&s, *state);
    assert_rows(*state, type, &whole, before);
    frz_free(*state, before);
    frz_array_release(&whole);
}

static void filter__no_validity_when_the_nulls_are_gone(void **state)
{
    frz_error err = {0};
    wide_types w;
    struct ArrowArray a = {0};
    struct ArrowArray out = {0};
    const uint8_t selection[] = {0x07}; /* not row 3, the null one */
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 4, &a, &err), &err);
    assert_ok(frz_array_filter(*state, type, &a, selection, 3, &out, &err), &err);
    assert_null(out.buffers[0]);
    assert_int_equal(out.null_count, 0);
    frz_array_release(&a);
    frz_array_release(&out);
}

static void concat__parts_with_offsets(void **state)
{
    frz_error err = {0};
    wide_types w;
    struct ArrowArray whole = {0};
    struct ArrowArray parts[4] = {{0}};
    struct ArrowArray out = {0};
    static const int64_t cuts[] = {0, 1, 67, 67, 200};
    const frz_type *type = wide_type(&w);
    assert_ok(build_rows(*state, type, 0, 200, &whole, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        assert_ok(frz_array_slice(*state, &whole, cuts[i], cuts[i + 1] - cuts[i], &parts[i], &err),
                  &err);
    }
    assert_ok(frz_array_concat(*state, type, parts, 4, &out, &err), &err);
    char *expected = rows_text(*state, type, &whole, NULL);
    assert_rows(*state, type, &out, expected);
    assert_int_equal(out.null_count, whole.null_count);
    frz_free(*state, expected);
    frz_array_release(&out);
    assert_ok(frz_array_concat(*state, type, parts, 0, &out, &err), &err);
    assert_int_equal(out.length, 0);
    assert_int_equal(out.n_children, 8);
    frz_array_release(&out);
    for (size_t i = 0; i < 4; i++) {
        frz_array_release(&parts[i]);
    }
    frz_array_release(&whole);
}

static void concat__too_many_bytes_is_a_limit(void **state)
{
    frz_error err = {0};
    struct ArrowArray part = {0};
    struct ArrowArray out = {0};
    const frz_type *type = frz_type_primitive(FRZ_TYPE_STRING);
    frz_value value = {.type = type, .as.bytes = FRZ_STR("0123456789")};
    assert_ok(frz_array_constant(*state, type, &value, 1, &part, &err), &err);
    int32_t offsets[] = {0, INT32_MAX};
    const void *buffers[] = {NULL, offsets, part.buffers[2]};
    struct ArrowArray huge = {.length = 1, .n_buffers = 3, .buffers = buffers};
    struct ArrowArray parts[] = {huge, part};
    assert_fails(frz_array_concat(*state, type, parts, 2, &out, &err), &err, FRZ_E_LIMIT,
                 "at most 2147483647");
    assert_fails(frz_array_constant(*state, type, &value, 300000000, &out, &err), &err, FRZ_E_LIMIT,
                 "at most 2147483647");
    frz_array_release(&part);
}

static void nulls__of_every_layout(void **state)
{
    frz_error err = {0};
    wide_types w;
    struct ArrowArray a = {0};
    const frz_type *type = wide_type(&w);
    assert_ok(frz_array_nulls(*state, type, 3, &a, &err), &err);
    assert_rows(*state, type, &a, ". . .");
    assert_int_equal(a.null_count, 3);
    for (int64_t i = 0; i < 8; i++) {
        assert_rows(*state, w.top[i].type, a.children[i], ". . .");
        assert_int_equal(frz_null_count(a.children[i]), 3);
    }
    frz_array_release(&a);
    assert_ok(frz_array_nulls(*state, type, 0, &a, &err), &err);
    assert_null(a.buffers[0]);
    frz_array_release(&a);
}

static void constant__repeats_a_value(void **state)
{
    frz_error err = {0};
    struct ArrowArray a = {0};
    const frz_type *string = frz_type_primitive(FRZ_TYPE_STRING);
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    const frz_type *truth = frz_type_primitive(FRZ_TYPE_BOOLEAN);
    frz_value text = {.type = string, .as.bytes = FRZ_STR("ab")};
    frz_value small = {.type = frz_type_primitive(FRZ_TYPE_INT), .as.i32 = -7};
    frz_value yes = {.type = truth, .as.boolean = true};
    frz_value d = {.type = &decimal_type, .as.i128 = -5};
    assert_ok(frz_array_constant(*state, string, &text, 3, &a, &err), &err);
    assert_rows(*state, string, &a, "ab ab ab");
    frz_array_release(&a);
    assert_ok(frz_array_constant(*state, number, &small, 3, &a, &err), &err); /* promoted */
    assert_rows(*state, number, &a, "-7 -7 -7");
    frz_array_release(&a);
    assert_ok(frz_array_constant(*state, truth, &yes, 9, &a, &err), &err);
    assert_rows(*state, truth, &a, "t t t t t t t t t");
    frz_array_release(&a);
    assert_ok(frz_array_constant(*state, &decimal_type, &d, 2, &a, &err), &err);
    assert_rows(*state, &decimal_type, &a, "-5 -5");
    frz_array_release(&a);
    assert_ok(frz_array_constant(*state, string, NULL, 2, &a, &err), &err);
    assert_rows(*state, string, &a, ". .");
    frz_array_release(&a);
    assert_fails(frz_array_constant(*state, string, &small, 2, &a, &err), &err, FRZ_E_ARGUMENT,
                 "type int cannot be read as string");
}

static void constant__struct_takes_its_fields_defaults(void **state)
{
    frz_error err = {0};
    wide_types w;
    struct ArrowArray a = {0};
    const frz_type *type = wide_type(&w);
    frz_value seven = {.type = frz_type_primitive(FRZ_TYPE_INT), .as.i32 = 7};
    frz_value filled = {.type = type};
    w.top[1].initial_default = &seven;
    assert_ok(frz_array_constant(*state, type, &filled, 2, &a, &err), &err);
    assert_rows(*state, type, &a, "{. 7 . . . . . .} {. 7 . . . . . .}");
    frz_array_release(&a);
}

/* ---- Arrow schemas ---- */

static void arrow_schema__there_and_back(void **state)
{
    frz_error err = {0};
    wide_types w;
    frz_arena arena;
    struct ArrowSchema schema = {0};
    struct ArrowSchema copy = {0};
    const frz_type *back = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = wide_type(&w);
    assert_ok(frz_type_to_arrow(*state, type, &schema, &err), &err);
    assert_ok(frz_arrow_schema_copy(*state, &schema, &copy, &err), &err);
    frz_schema_release(&schema);
    assert_string_equal(copy.format, "+s");
    assert_string_equal(copy.children[4]->format, "d:20,2");
    assert_string_equal(copy.children[6]->children[0]->name, "entries");
    assert_int_equal(copy.children[6]->children[0]->children[0]->flags, 0);
    assert_int_equal(copy.children[0]->flags, ARROW_FLAG_NULLABLE);
    assert_ok(frz_type_from_arrow(&arena, &copy, &back, &err), &err);
    assert_true(frz_type_equal(type, back));
    frz_schema_release(&copy);
    frz_arena_reset(&arena);
}

static void arrow_schema__every_primitive(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (int id = FRZ_TYPE_UNKNOWN; id < FRZ_TYPE_VARIANT; id++) {
        frz_type fixed = {.id = FRZ_TYPE_FIXED, .length = 16};
        frz_field field = {.id = id + 1, .name = FRZ_STR("x"), .required = id % 2 == 0};
        frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = &field, .field_count = 1};
        struct ArrowSchema schema = {0};
        const frz_type *back = NULL;
        field.type = id == FRZ_TYPE_DECIMAL ? &decimal_type
                     : id == FRZ_TYPE_FIXED ? &fixed
                                            : frz_type_primitive((frz_type_id)id);
        assert_ok(frz_type_to_arrow(*state, &root, &schema, &err), &err);
        assert_ok(frz_type_from_arrow(&arena, &schema, &back, &err), &err);
        assert_true(frz_type_equal(&root, back));
        frz_schema_release(&schema);
    }
    frz_arena_reset(&arena);
}

static void arrow_schema__unsupported_names_the_column(void **state)
{
    static const char *const formats[] = {"U", "tss:", "tdm", "d:5,-1", "d:39,0", "d:5,2,256",
                                          "c", "vu",   "e",   "w:0",    "+ud:0"};
    frz_error err = {0};
    frz_arena arena;
    const frz_type *type = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(formats); i++) {
        struct ArrowSchema column = {.format = formats[i], .name = "score"};
        struct ArrowSchema *children[] = {&column};
        struct ArrowSchema root = {.format = "+s", .n_children = 1, .children = children};
        assert_fails(frz_type_from_arrow(&arena, &root, &type, &err), &err, FRZ_E_UNSUPPORTED,
                     "in column \"score\"");
    }
    struct ArrowSchema zoned = {.format = "tsu:Europe/Berlin", .name = "t"};
    struct ArrowSchema *children[] = {&zoned};
    struct ArrowSchema root = {.format = "+s", .n_children = 1, .children = children};
    assert_ok(frz_type_from_arrow(&arena, &root, &type, &err), &err);
    assert_int_equal(type->fields[0].type->id, FRZ_TYPE_TIMESTAMPTZ);
    frz_arena_reset(&arena);
}

/* ---- memory ---- */

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    wide_types w;
    frz_arena arena;
    struct ArrowArray a = {0}, filtered = {0}, both = {0}, nulls = {0}, constant = {0}, cut = {0};
    struct ArrowArray moved = {0};
    frz_selection runs = {0};
    struct ArrowSchema schema = {0}, copy = {0};
    const frz_type *back;
    const frz_type *type = wide_type(&w);
    frz_value filled = {.type = type};
    uint8_t selection[20];
    memset(selection, 0x55, sizeof selection);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(build_rows(env, type, 0, 160, &a, err));
    FRZ_TRY(frz_array_filter(env, type, &a, selection, 80, &filtered, err));
    struct ArrowArray parts[] = {a, filtered};
    FRZ_TRY(frz_array_concat(env, type, parts, 2, &both, err));
    FRZ_TRY(frz_array_nulls(env, type, 5, &nulls, err));
    FRZ_TRY(frz_array_constant(env, type, &filled, 5, &constant, err));
    FRZ_TRY(frz_array_slice(env, &a, 3, 50, &cut, err));
    memset(selection, 0xfe, sizeof selection);
    FRZ_TRY(frz_selection_init(&runs, env, selection, 80, 70, err));
    FRZ_TRY(frz_array_filter_move(env, type, &filtered, &runs, &moved, err));
    FRZ_TRY(frz_type_to_arrow(env, type, &schema, err));
    FRZ_TRY(frz_arrow_schema_copy(env, &schema, &copy, err));
    FRZ_TRY(frz_type_from_arrow(&arena, &copy, &back, err));
    FRZ_TRY(frz_type_copy(&arena, back, &back, err));
out:
    frz_array_release(&a);
    frz_array_release(&filtered);
    frz_array_release(&moved);
    frz_selection_reset(&runs, env);
    frz_array_release(&both);
    frz_array_release(&nulls);
    frz_array_release(&constant);
    frz_array_release(&cut);
    frz_schema_release(&schema);
    frz_schema_release(&copy);
    frz_arena_reset(&arena);
    return rc;
}

static void arrays__no_failed_allocation_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 100);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(builder__rows_of_every_layout),
        TEST_WITH_ENV(builder__can_be_used_again_and_without_rows),
        TEST_WITH_ENV(builder__fixed_length_is_checked),
        TEST_WITH_ENV(filter__keeps_the_selected_rows),
        TEST_WITH_ENV(filter__runs_of_any_length),
        TEST_WITH_ENV(filter__shared_memory_is_not_written_to),
        TEST_WITH_ENV(filter__no_validity_when_the_nulls_are_gone),
        TEST_WITH_ENV(concat__parts_with_offsets),
        TEST_WITH_ENV(concat__too_many_bytes_is_a_limit),
        TEST_WITH_ENV(nulls__of_every_layout),
        TEST_WITH_ENV(constant__repeats_a_value),
        TEST_WITH_ENV(constant__struct_takes_its_fields_defaults),
        TEST_WITH_ENV(arrow_schema__there_and_back),
        TEST_WITH_ENV(arrow_schema__every_primitive),
        TEST_WITH_ENV(arrow_schema__unsupported_names_the_column),
        cmocka_unit_test(arrays__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
