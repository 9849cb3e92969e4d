/*
 * Page indexes: what is taken from their bytes, and everything that makes them count as absent.
 */
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

typedef struct location {
    int64_t offset;
    int32_t size;
    int64_t first_row;
} location;

typedef struct fixture {
    frz_arena arena;
    frz_buf bytes;
    frz_error err;
} fixture;

static int setup(void **state)
{
    frz_env *env = NULL;
    if (frz_env_new(NULL, &env, NULL) != FRZ_OK) {
        return -1;
    }
    fixture *f = frz_alloc_zero(env, 1, sizeof *f);
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    frz_buf_init(&f->bytes, env, FRZ_BUF_NO_LIMIT);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    frz_env *env = (frz_env *)(uintptr_t)f->arena.env;
    frz_arena_reset(&f->arena);
    frz_buf_reset(&f->bytes);
    frz_free(env, f);
    void *rest = env;
    return test_env_teardown(&rest);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- offset index ---- */

static void put_locations(fixture *f, const location *pages, size_t n)
{
    parquet_thrift_out t;
    frz_buf_clear(&f->bytes);
    parquet_put_begin(&t, &f->bytes, &f->err);
    parquet_put_list(&t, 1, PARQUET_THRIFT_STRUCT, n);
    for (size_t i = 0; i < n; i++) {
        parquet_put_item_struct(&t);
        parquet_put_i64(&t, 1, pages[i].offset);
        parquet_put_i32(&t, 2, pages[i].size);
        parquet_put_i64(&t, 3, pages[i].first_row);
        parquet_put_end(&t);
    }
    parquet_put_list(&t, 2, PARQUET_THRIFT_I64, 1); /* sizes of values, which are not needed */
    parquet_put_item_i64(&t, 7);
    parquet_put_end(&t);
    assert_ok(t.rc, &f->err);
}

/* Pages between bytes 100 and 200 that hold 30 rows. */
static frz_code parse_locations(fixture *f, const location *pages, size_t n,
                                parquet_offset_index *out)
{
    put_locations(f, pages, n);
    return parquet_offset_index_parse(&f->arena, frz_buf_view(&f->bytes), 500, 100, 200, 30, out,
                                      &f->err);
}

static void offset_index__finds_the_page_of_a_row(void **state)
{
    static const location pages[] = {{100, 20, 0}, {120, 20, 7}, {150, 50, 29}};
    static const size_t expected[] = {0, 0, 1, 1, 2};
    static const int64_t rows[] = {0, 6, 7, 28, 29};
    parquet_offset_index index;
    fixture *f = *state;
    assert_ok(parse_locations(f, pages, 3, &index), &f->err);
    assert_int_equal(index.count, 3);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(rows); i++) {
        assert_int_equal(parquet_offset_index_page(&index, rows[i]), expected[i]);
    }
    assert_int_equal(parquet_page_end_row(&index, 0), 7);
    assert_int_equal(parquet_page_end_row(&index, 2), 30);
}

static void offset_index__pages_that_cannot_be_are_refused(void **state)
{
    static const struct {
        location pages[2];
        const char *phrase;
    } cases[] = {
        {{{99, 20, 0}, {120, 20, 7}}, "page 0 has 20 bytes at byte 99"},
        {{{100, 20, 0}, {119, 20, 7}}, "expected inside bytes 120 to 200"},
        {{{100, 20, 0}, {190, 11, 7}}, "page 1 has 11 bytes"},
        {{{100, 20, 0}, {INT64_MAX, 20, 7}}, "expected inside"},
        {{{-1, 20, 0}, {120, 20, 7}}, "at byte -1"},
        {{{100, 0, 0}, {120, 20, 7}}, "a page of 0 bytes"},
        {{{100, -5, 0}, {120, 20, 7}}, "a page of -5 bytes"},
        {{{100, 20, 1}, {120, 20, 7}}, "page 0 begins at row 1"},
        {{{100, 20, 0}, {120, 20, 0}}, "page 1 begins at row 0"},
        {{{100, 20, 0}, {120, 20, -4}}, "page 1 begins at row -4"},
        {{{100, 20, 0}, {120, 20, 30}}, "the last of which begins at row 30 of 30"},
    };
    parquet_offset_index index;
    fixture *f = *state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_fails(parse_locations(f, cases[i].pages, 2, &index), &f->err, FRZ_E_CORRUPT,
                     cases[i].phrase);
    }
}

static void offset_index__no_pages_hold_no_rows(void **state)
{
    fixture *f = *state;
    parquet_offset_index index;
    put_locations(f, NULL, 0);
    frz_str bytes = frz_buf_view(&f->bytes);
    assert_fails(parquet_offset_index_parse(&f->arena, bytes, 0, 4, 4, 1, &index, &f->err), &f->err,
                 FRZ_E_CORRUPT, "0 pages");
}

static void offset_index__cut_bytes_are_refused(void **state)
{
    static const location pages[] = {{100, 20, 0}, {120, 20, 7}};
    fixture *f = *state;
    parquet_offset_index index;
    put_locations(f, pages, 2);
    for (size_t len = 0; len < f->bytes.len; len++) {
        frz_str cut = {(const char *)f->bytes.data, len};
        assert_int_equal(
            parquet_offset_index_parse(&f->arena, cut, 0, 100, 200, 30, &index, &f->err),
            FRZ_E_CORRUPT);
    }
}

/* ---- column index ---- */

typedef struct column_lists {
    size_t null_pages, mins, maxs;
    size_t null_counts, nan_counts; /* SIZE_MAX: absent */
} column_lists;

static void put_bounds(parquet_thrift_out *t, int16_t id, size_t n, const char *const *values)
{
    parquet_put_list(t, id, PARQUET_THRIFT_BINARY, n);
    for (size_t i = 0; i < n; i++) {
        parquet_put_item_binary(t, frz_str_from(values[i]));
    }
}

static void put_counts(parquet_thrift_out *t, int16_t id, size_t n)
{
    if (n != SIZE_MAX) {
        parquet_put_list(t, id, PARQUET_THRIFT_I64, n);
        for (size_t i = 0; i < n; i++) {
            parquet_put_item_i64(t, (int64_t)i * 3);
        }
    }
}

static void put_column_index(fixture *f, const column_lists *lists)
{
    static const char *const mins[] = {"a", "", "c", "d"};
    static const char *const maxs[] = {"b", "", "x", "y"};
    parquet_thrift_out t;
    frz_buf_clear(&f->bytes);
    parquet_put_begin(&t, &f->bytes, &f->err);
    parquet_put_list(&t, 1, PARQUET_THRIFT_TRUE, lists->null_pages);
    for (size_t i = 0; i < lists->null_pages; i++) {
        parquet_put_item_bool(&t, i == 1);
    }
    put_bounds(&t, 2, lists->mins, mins);
    put_bounds(&t, 3, lists->maxs, maxs);
    parquet_put_i32(&t, 4, 0);
    put_counts(&t, 5, lists->null_counts);
    put_counts(&t, 8, lists->nan_counts);
    parquet_put_end(&t);
    assert_ok(t.rc, &f->err);
}

static frz_code parse_column(fixture *f, const column_lists *lists, parquet_column_index *out)
{
    put_column_index(f, lists);
    return parquet_column_index_parse(&f->arena, frz_buf_view(&f->bytes), 0, 3, out, &f->err);
}

static void column_index__bounds_and_counts_by_page(void **state)
{
    fixture *f = *state;
    parquet_column_index index;
    assert_ok(parse_column(f, &(column_lists){3, 3, 3, 3, SIZE_MAX}, &index), &f->err);
    assert_int_equal(index.count, 3);
    assert_int_equal(index.null_page[0], 0);
    assert_int_equal(index.null_page[1], 1);
    assert_true(frz_str_equal(index.mins[2], FRZ_STR("c")));
    assert_true(frz_str_equal(index.maxs[2], FRZ_STR("x")));
    assert_int_equal(index.null_counts[2], 6);
    assert_null(index.nan_counts);
}

static void column_index__lists_of_another_length_are_refused(void **state)
{
    static const struct {
        column_lists lists;
        const char *phrase;
    } cases[] = {
        {{2, 3, 3, 3, SIZE_MAX}, "2 null pages for 3 pages"},
        {{3, 4, 3, 3, SIZE_MAX}, "4 minima for 3 pages"},
        {{3, 3, 0, 3, SIZE_MAX}, "0 maxima for 3 pages"},
        {{3, 3, 3, 2, SIZE_MAX}, "2 null counts for 3 pages"},
        {{3, 3, 3, SIZE_MAX, 4}, "4 NaN counts for 3 pages"},
    };
    fixture *f = *state;
    parquet_column_index index;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_fails(parse_column(f, &cases[i].lists, &index), &f->err, FRZ_E_CORRUPT,
                     cases[i].phrase);
    }
}

static void column_index__booleans_of_either_type_and_no_others(void **state)
{
    /* one page; the list's type is 1 or 2, its element 1 (true), 2 or 0 (false) */
    uint8_t bytes[] = {0x19, 0x11, 0x01, 0x19, 0x18, 0x00, 0x19, 0x18, 0x00, 0x00};
    static const struct {
        uint8_t type, element;
        int result; /* -1: refused */
    } cases[] = {{0x11, 1, 1}, {0x12, 1, 1},  {0x11, 2, 0},
                 {0x12, 0, 0}, {0x11, 3, -1}, {0x13, 1, -1}};
    fixture *f = *state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        parquet_column_index index;
        bytes[1] = cases[i].type;
        bytes[2] = cases[i].element;
        frz_code rc = parquet_column_index_parse(
            &f->arena, (frz_str){(const char *)bytes, sizeof bytes}, 0, 1, &index, &f->err);
        assert_int_equal(rc, cases[i].result < 0 ? FRZ_E_CORRUPT : FRZ_OK);
        if (rc == FRZ_OK) {
            assert_int_equal(index.null_page[0], cases[i].result);
        }
    }
}

static void column_index__cut_bytes_are_refused(void **state)
{
    fixture *f = *state;
    parquet_column_index index;
    put_column_index(f, &(column_lists){3, 3, 3, 3, 3});
    for (size_t len = 0; len < f->bytes.len; len++) {
        frz_str cut = {(const char *)f->bytes.data, len};
        assert_int_equal(parquet_column_index_parse(&f->arena, cut, 0, 3, &index, &f->err),
                         FRZ_E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(offset_index__finds_the_page_of_a_row),
        TEST(offset_index__pages_that_cannot_be_are_refused),
        TEST(offset_index__no_pages_hold_no_rows),
        TEST(offset_index__cut_bytes_are_refused),
        TEST(column_index__bounds_and_counts_by_page),
        TEST(column_index__lists_of_another_length_are_refused),
        TEST(column_index__booleans_of_either_type_and_no_others),
        TEST(column_index__cut_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
