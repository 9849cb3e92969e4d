#include "unit/test_support.h"

static void arena__pieces_are_zero_and_aligned(void **state)
{
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t size = 0; size < 9000; size += 37) {
        uint8_t *piece = frz_arena_alloc(&arena, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(piece[i], 0);
            piece[i] = 0xFF;
        }
    }
    frz_arena_reset(&arena);
}

static void arena__limit_is_kept(void **state)
{
    frz_arena arena;
    frz_arena_init(&arena, *state, 100);
    assert_non_null(frz_arena_alloc(&arena, 60));
    assert_null(frz_arena_alloc(&arena, 41));
    assert_non_null(frz_arena_alloc(&arena, 40));
    frz_arena_reset(&arena);
}

/* Small and large ones, and no size that overflows. */
static void table__is_zero_and_lies_in_its_block(void **state)
{
    static const size_t counts[] = {0, 1, 1000, 131071, 131072, 300000};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(counts); i++) {
        void *block = NULL;
        uint64_t *table = frz_alloc_table(*state, counts[i], sizeof *table, &block);
        assert_non_null(table);
        assert_true((uint8_t *)block <= (uint8_t *)table);
        for (size_t k = 0; k < counts[i]; k++) {
            assert_true(table[k] == 0);
            table[k] = UINT64_MAX; /* the sanitizer tells whether it is the block's */
        }
        frz_free(*state, block);
    }
    void *block = NULL;
    assert_null(frz_alloc_table(*state, SIZE_MAX / 8, 8, &block));
    assert_null(frz_alloc_table(*state, SIZE_MAX, 8, &block));
    assert_null(block);
}

static void buf__growth_stops_at_the_ceiling(void **state)
{
    frz_error err = {0};
    frz_buf buf = FRZ_BUF_INIT(*state, 1000);
    for (int i = 0; i < 10; i++) {
        assert_ok(frz_buf_printf(&buf, &err, "%099d", i), &err);
    }
    assert_int_equal(buf.len, 990);
    assert_fails(frz_buf_append(&buf, "12345678901", 11, &err), &err, FRZ_E_LIMIT, "at most 1000");
    frz_buf_reset(&buf);
}

static void str__whole_numbers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"+17", true, 17},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"1x", false, 0},
        {" 1", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        int64_t value = 0;
        assert_int_equal(frz_str_to_i64(frz_str_from(cases[i].text), &value), cases[i].ok);
        assert_int_equal(value, cases[i].value);
    }
}

static void str__utf8(void **state)
{
    static const char *const bad[] = {
        "\x80", "\xC0\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "abcdefgh\xFF", "\xE2\x82"};
    (void)state;
    assert_true(frz_utf8_valid(FRZ_STR("plain text, longer than eight bytes")));
    assert_true(frz_utf8_valid(FRZ_STR("\xC3\xBC \xE4\xB8\x96 \xF0\x9F\x98\x80")));
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bad); i++) {
        assert_false(frz_utf8_valid(frz_str_from(bad[i])));
    }
}

static void error__text_has_the_outermost_frame_first(void **state)
{
    char text[256];
    frz_error err = {0};
    (void)state;
    frz_code rc = frz_fail(&err, FRZ_E_CORRUPT, "found %d", 3);
    rc = frz_context(&err, rc, "page %d", 7);
    rc = frz_context(&err, rc, "file x");
    assert_int_equal(rc, FRZ_E_CORRUPT);
    frz_error_format(&err, text, sizeof text);
    assert_string_equal(text, "file x: page 7: found 3");
    assert_int_equal(frz_error_format(&err, text, 8), 23);
    assert_string_equal(text, "file x:");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(arena__pieces_are_zero_and_aligned),
        TEST_WITH_ENV(arena__limit_is_kept),
        TEST_WITH_ENV(table__is_zero_and_lies_in_its_block),
        TEST_WITH_ENV(buf__growth_stops_at_the_ceiling),
        cmocka_unit_test(str__whole_numbers),
        cmocka_unit_test(str__utf8),
        cmocka_unit_test(error__text_has_the_outermost_frame_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
