/*
 * Values in binary form, as bounds of old manifests hold them.
 */
#include "type/type_value.h"
#include "unit/test_support.h"

static frz_str unhex(frz_arena *arena, const char *hex)
{
    size_t len = strlen(hex) / 2;
    char *bytes = frz_arena_alloc(arena, len + 1);
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    return (frz_str){bytes, len};
}

static void value_binary__as_printed(void **state)
{
    static const struct {
        const char *type, *hex, *printed; /* NULL: no such value */
    } cases[] = {
        {"boolean", "00", "false"},
        {"boolean", "01", "true"},
        {"boolean", "0100", NULL},
        {"int", "d2ffffff", "-46"},
        {"int", "d2ffffffffffffff", NULL},
        {"int", "", NULL},
        {"long", "d2ffffffffffffff", "-46"},
        {"long", "d2ffffff", "-46"}, /* written when it was an int */
        {"long", "d2ffff", NULL},
        {"date", "f9ffffff", "1969-12-25"},
        {"time", "ff5fd71d14000000", "23:59:59.999999"},
        {"timestamp", "ffffffffffffffff", "1969-12-31T23:59:59.999999"},
        {"timestamp", "ffffffff", "1969-12-31T00:00:00.000000"}, /* written when it was a date */
        {"timestamp", "ffffff7f", NULL},                         /* a day out of range */
        {"timestamptz", "ffffffff", NULL},
        {"timestamp_ns", "0100000000000000", "1970-01-01T00:00:00.000000001"},
        {"float", "0000803f", "1.0"},
        {"double", "000000000000f03f", "1.0"},
        {"double", "0000803f", "1.0"}, /* written when it was a float */
        {"double", "000000000000f03f00", NULL},
        {"decimal(9,2)", "0596", "14.30"},
        {"decimal(9,2)", "ff", "-0.01"},
        {"decimal(9,2)", "", NULL},
        {"decimal(38,0)", "4b3b4ca85a86c47a098a223fffffffff",
         "99999999999999999999999999999999999999"},
        {"decimal(38,0)", "ffb4c4b357a5793b85f675ddc000000001",
         "-99999999999999999999999999999999999999"}, /* longer than it must be */
        {"decimal(38,0)", "014b3b4ca85a86c47a098a223fffffffff", NULL},
        {"string", "e4b896e7958c", "世界"},
        {"string", "", ""},
        {"uuid", "f79c3e09677c4bbda4793f349cb785e7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
        {"uuid", "f79c3e09", NULL},
        {"fixed[3]", "010203", "010203"},
        {"fixed[3]", "0102", NULL},
        {"binary", "00ff", "00ff"},
        {"unknown", "", NULL},
    };
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const frz_type *type = NULL;
        frz_value value;
        frz_error err = {0};
        frz_buf text = FRZ_BUF_INIT(*state, 4096);
        assert_ok(frz_type_parse(&arena, frz_str_from(cases[i].type), &type, &err), &err);
        bool read = frz_value_from_binary(type, unhex(&arena, cases[i].hex), &value);
        if (read != (cases[i].printed != NULL)) {
            fail_msg("%s from %s", cases[i].type, cases[i].hex);
        }
        if (read) {
            assert_ok(frz_value_print(&value, &text, &err), &err);
            assert_ok(frz_buf_append_byte(&text, 0, &err), &err);
            assert_string_equal((const char *)text.data, cases[i].printed);
        }
        frz_buf_reset(&text);
    }
    frz_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(value_binary__as_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
