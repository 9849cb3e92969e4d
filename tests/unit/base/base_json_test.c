/*
 * JSON: what the reader takes and refuses, the same values as the library's own reader, and that
 * memory that is short is reported, never a part of a document.
 */
#include "unit/test_support.h"

#include <dirent.h>
#include <locale.h>
#include <stdlib.h>

#include "base/base_json.h"

/* ---- texts ---- */

static void json__texts_are_read_as_the_library_reads_them(void **state)
{
    static const char *const texts[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        " 1 ",
        "[]",
        "{}",
        "\t[ 1 , -2,\r\n3 ]",
        "{ \"a\" : { \"b\" : [ ] } , \"\" : \"\" }",
        "9223372036854775807",
        "-9223372036854775808",
        "1.5",
        "-1.25e-3",
        "1E+2",
        "0e1",
        "-0.0",
        "123456789012345678901234567890.0",
        "1e-400",
        "2.2250738585072014e-308",
        "\"a\\u0041\\u00e9\\u20AC\\ud83d\\uDE00z\"",
        "\"\\uffff\\ufffe\\u0001\\u007f\\u0080\\u07ff\\u0800\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
        "{\"\\u0061\\n\": 1, \"a\": 2, \"\xc3\xa9\": 3}",
        "[[[[[[[[[[{\"a\":[{}]}]]]]]]]]]]",
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        frz_error err = {0};
        json_error_t fault;
        json_t *json = NULL;
        json_t *wanted = json_loads(texts[i], JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);
        assert_non_null(wanted);
        assert_ok(frz_json_parse(*state, frz_str_from(texts[i]), &json, &err), &err);
        if (!json_equal(json, wanted)) {
            fail_msg("another value: %s", texts[i]);
        }
        json_decref(json);
        json_decref(wanted);
    }
}

static void json__numbers_have_a_point_in_every_locale(void **state)
{
    frz_error err = {0};
    json_t *json = NULL;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        print_message("skipped: the locale de_DE.UTF-8 is not installed\n");
        skip();
    }
    frz_code rc = frz_json_parse(*state, FRZ_STR("[1.5]"), &json, &err);
    double number = json_real_value(json_array_get(json, 0));
    json_decref(json);
    setlocale(LC_ALL, "C");
    assert_ok(rc, &err);
    assert_true(number == 1.5);
}

typedef struct bad_text {
    const char *text, *phrase;
} bad_text;

static void json__texts_that_are_not_json_are_refused_at_their_place(void **state)
{
    static const bad_text texts[] = {
        {"", "line 1, column 1: expected a value, found the end of the text"},
        {" \n ", "line 2, column 2: expected a value, found the end of the text"},
        {"\xef\xbb\xbf{}", "expected a value, found byte 0xef"},
        {"nul", "column 4: expected null, found the end of the text"},
        {"nulls", "column 5: expected the end of the text, found 's'"},
        {"True", "expected a value, found 'T'"},
        {"NaN", "expected a value, found 'N'"},
        {"{} {}", "column 4: expected the end of the text, found '{'"},
        {"[1,]", "column 4: expected a value, found ']'"},
        {"[1 2]", "column 4: expected ',' or ']', found '2'"},
        {"[", "expected a value, found the end of the text"},
        {"[1", "expected ',' or ']', found the end of the text"},
        {"[1}", "expected ',' or ']', found '}'"},
        {"{", "expected a string, found the end of the text"},
        {"{a: 1}", "column 2: expected a string, found 'a'"},
        {"{\"a\" 1}", "expected ':', found '1'"},
        {"{\"a\":}", "expected a value, found '}'"},
        {"{\"a\":1,}", "expected a string, found '}'"},
        {"{\"a\":1 \"b\":2}", "expected ',' or '}', found '\"'"},
        {"{\"a\":1,\n \"\\u0061\":1}", "line 2, column 2: expected each key once"},
        {"{\"a\":[{\"b\":1,\"b\":1}]}", "expected each key once"},
        {"// a\n1", "expected a value, found '/'"},
        {"01", "column 2: expected the end of the text, found '1'"},
        {"+1", "expected a value, found '+'"},
        {"-", "expected a digit, found the end of the text"},
        {"-a", "expected a digit, found 'a'"},
        {".5", "expected a value, found '.'"},
        {"1.", "expected a digit after the point"},
        {"1.e1", "expected a digit after the point, found 'e'"},
        {"1e", "expected a digit of the exponent"},
        {"1e+", "expected a digit of the exponent"},
        {"0x10", "expected the end of the text, found 'x'"},
        {"[9223372036854775808]", "column 2: expected an integer of 64 bits, found 9223372036854"},
        {"-9223372036854775809", "expected an integer of 64 bits"},
        {"1e400", "expected a number that a double can hold, found 1e400"},
        {"-1e400", "expected a number that a double can hold"},
        {"'a'", "expected a value, found '''"},
        {"\"", "expected a '\"' that ends the string, found the end of the text"},
        {"\"abc\\", "expected a '\"' that ends the string"},
        {"\"abc\\\"", "expected a '\"' that ends the string"},
        {"\"a\nb\"", "expected a string without control characters, found byte 0x0a"},
        {"\"\\x41\"", "expected one of \\\""},
        {"\"\\\n\"", "expected one of \\\""},
        {"\"\\u12\"", "expected four hexadecimal digits"},
        {"\"\\u12g4\"", "expected four hexadecimal digits"},
        {"\"\\u\"", "expected four hexadecimal digits"},
        {"\"a\\u0000\"", "column 3: expected a string without NUL"},
        {"{\"\\u0000\":1}", "expected a string without NUL"},
        {"\"\\ud800\"", "expected a pair of surrogates"},
        {"\"\\ud800x\"", "expected a pair of surrogates"},
        {"\"\\ud800\\n\"", "expected a pair of surrogates"},
        {"\"\\ud800\\ud800\"", "expected a pair of surrogates"},
        {"\"\\ud800\\u0041\"", "expected a pair of surrogates"},
        {"\"\\ud800\\u\"", "expected a pair of surrogates"},
        {"\"\\udc00\"", "expected a pair of surrogates"},
        {"\"\xff\"", "expected a string in UTF-8"},
        {"\"\xc0\x80\"", "expected a string in UTF-8"},
        {"\"\xed\xa0\x80\"", "expected a string in UTF-8"},
        {"\"\xc3\"", "expected a string in UTF-8"},
        {"{\"\xc3\":1}", "expected a string in UTF-8"},
        {"[\"\xc3\xa9\", x]", "column 7: expected a value, found 'x'"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        frz_error err = {0};
        json_error_t fault;
        json_t *json = NULL;
        json_t *theirs =
            json_loads(texts[i].text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &fault);
        assert_null(theirs);
        assert_fails(frz_json_parse(*state, frz_str_from(texts[i].text), &json, &err), &err,
                     FRZ_E_CORRUPT, texts[i].phrase);
        assert_null(json);
    }
}

static void json__a_nul_byte_is_refused_anywhere(void **state)
{
    static const frz_str texts[] = {
        {"\0", 1}, {"{}\0", 3}, {"\"a\0b\"", 5}, {"\"\\\0\"", 4}, {"{\"a\0\":1}", 8}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(texts); i++) {
        frz_error err = {0};
        json_t *json = NULL;
        assert_fails(frz_json_parse(*state, texts[i], &json, &err), &err, FRZ_E_CORRUPT,
                     "expected");
    }
}

static void json__every_prefix_of_a_document_is_refused(void **state)
{
    static const char text[] = "{\"a\": [1, -2.5e3, \"\\u00e9\\ud83d\\ude00\", true], \"b\": null}";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        frz_error err = {0};
        json_t *json = NULL;
        char *part = malloc(len); /* of exactly this size: no byte behind may be read */
        memcpy(part, text, len);
        assert_fails(frz_json_parse(*state, (frz_str){part, len}, &json, &err), &err, FRZ_E_CORRUPT,
                     "found");
        free(part);
    }
}

/* ---- limits ---- */

static frz_code parse_nested(const frz_env *env, size_t depth, const char *open, frz_error *err)
{
    size_t step = strlen(open);
    char *text = malloc(depth * (step + 1));
    json_t *json = NULL;
    for (size_t i = 0; i < depth; i++) {
        memcpy(text + i * step, open, step);
    }
    memset(text + depth * step, ']', depth);
    frz_code rc = frz_json_parse(env, (frz_str){text, depth * (step + 1)}, &json, err);
    json_decref(json);
    free(text);
    return rc;
}

static void json__nesting_has_a_limit(void **state)
{
    frz_error err = {0};
    assert_ok(parse_nested(*state, FRZ_JSON_MAX_DEPTH, "[", &err), &err);
    assert_fails(parse_nested(*state, FRZ_JSON_MAX_DEPTH + 1, "[", &err), &err, FRZ_E_CORRUPT,
                 "column 2049: expected at most 2048 levels of nesting, found more");
    assert_fails(parse_nested(*state, 1000000, "[", &err), &err, FRZ_E_CORRUPT, "levels");
    assert_fails(parse_nested(*state, 100000, "{\"a\":", &err), &err, FRZ_E_CORRUPT, "levels");
}

static void json__long_strings_and_numbers_need_no_more_than_their_size(void **state)
{
    enum { LONG = 1 << 20 };
    frz_error err = {0};
    json_t *json = NULL;
    frz_env_counters counters;
    char *text = malloc(LONG);
    memset(text, 'x', LONG);
    memcpy(text, "\"\\n", 3);
    text[LONG - 1] = '"';
    assert_ok(frz_json_parse(*state, (frz_str){text, LONG}, &json, &err), &err);
    assert_int_equal(json_string_length(json), LONG - 3);
    json_decref(json);
    frz_env_counters_get(*state, &counters);
    assert_true(counters.bytes_peak <= LONG + 64);
    memset(text, '7', LONG);
    assert_fails(
        frz_json_parse(*state, (frz_str){text, LONG}, &json, &err), &err, FRZ_E_CORRUPT,
        "expected an integer of 64 bits, found 7777777777777777777777777777777777777777...");
    text[1] = '.';
    assert_fails(frz_json_parse(*state, (frz_str){text, LONG}, &json, &err), &err, FRZ_E_CORRUPT,
                 "expected a number that a double can hold");
    free(text);
}

/* ---- documents of tables ---- */

static frz_str read_seed(const char *name, char **place)
{
    char path[512];
    snprintf(path, sizeof path, "fuzz/corpus/metadata_json/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *place = malloc(1 << 20);
    size_t len = fread(*place, 1, 1 << 20, file);
    fclose(file);
    return (frz_str){*place, len};
}

static void json__documents_of_tables_are_read_as_the_library_reads_them(void **state)
{
    DIR *folder = opendir("fuzz/corpus/metadata_json");
    size_t compared = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (entry->d_name[0] == '.' || dot == NULL || strcmp(dot, ".json") != 0) {
            continue;
        }
        frz_error err = {0};
        json_error_t fault;
        json_t *json = NULL;
        char *place;
        frz_str text = read_seed(entry->d_name, &place);
        json_t *wanted = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &fault);
        assert_non_null(wanted);
        assert_ok(frz_json_parse(*state, text, &json, &err), &err);
        char *ours = json_dumps(json, JSON_COMPACT), *theirs = json_dumps(wanted, JSON_COMPACT);
        assert_string_equal(ours, theirs); /* the order of keys, too */
        free(ours);
        free(theirs);
        json_decref(json);
        json_decref(wanted);
        free(place);
        compared++;
    }
    closedir(folder);
    assert_true(compared >= 3);
}

/* ---- memory ---- */

static long allocations, failing; /* the library's functions have no context */

static void *failing_malloc(size_t size)
{
    return ++allocations == failing ? NULL : malloc(size);
}

static void json__a_failing_allocation_is_reported(void **state)
{
    frz_error err = {0};
    char *place;
    frz_str text = read_seed("update-some-rows.json", &place);
    json_t *whole = NULL;
    assert_ok(frz_json_parse(*state, text, &whole, &err), &err);
    json_set_alloc_funcs(failing_malloc, free);
    bool done = false;
    for (long n = 1; !done; n++) {
        json_t *json = NULL;
        allocations = 0;
        failing = n;
        frz_code rc = frz_json_parse(*state, text, &json, &err);
        done = allocations < n;
        assert_int_equal(rc, done ? FRZ_OK : FRZ_E_NOMEM);
        assert_true(done ? json_equal(json, whole) : json == NULL);
        json_decref(json);
    }
    json_set_alloc_funcs(malloc, free);
    json_decref(whole);
    free(place);
}

static void check_copies(const json_t *value)
{
    bool done = false;
    for (long n = 1; !done; n++) {
        frz_error err = {0};
        json_t *copy = NULL;
        allocations = 0;
        failing = n;
        frz_code rc = frz_json_copy(value, &copy, &err);
        done = allocations < n;
        assert_int_equal(rc, done ? FRZ_OK : FRZ_E_NOMEM);
        assert_true(done ? json_equal(copy, value) : copy == NULL);
        json_decref(copy);
    }
}

static void json__a_copy_is_whole_or_reported(void **state)
{
    frz_error err = {0};
    json_t *object = NULL, *list = json_array();
    char *place;
    frz_str text = read_seed("update-some-rows.json", &place);
    assert_ok(frz_json_parse(*state, text, &object, &err), &err);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(json_array_append(list, object), 0);
    }
    json_set_alloc_funcs(failing_malloc, free);
    check_copies(object);
    check_copies(list);
    json_set_alloc_funcs(malloc, free);
    json_decref(list);
    json_decref(object);
    free(place);
}

static void json__a_copy_shares_its_members_only(void **state)
{
    frz_error err = {0};
    json_t *json = NULL, *copy = NULL;
    assert_ok(frz_json_parse(*state, FRZ_STR("{\"a\":[1],\"b\":2}"), &json, &err), &err);
    assert_ok(frz_json_copy(json, &copy, &err), &err);
    assert_ptr_equal(json_object_get(json, "a"), json_object_get(copy, "a"));
    assert_int_equal(json_object_del(copy, "b"), 0);
    assert_int_equal(json_object_size(json), 2);
    json_decref(copy);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(json__texts_are_read_as_the_library_reads_them),
        TEST_WITH_ENV(json__numbers_have_a_point_in_every_locale),
        TEST_WITH_ENV(json__texts_that_are_not_json_are_refused_at_their_place),
        TEST_WITH_ENV(json__a_nul_byte_is_refused_anywhere),
        TEST_WITH_ENV(json__every_prefix_of_a_document_is_refused),
        TEST_WITH_ENV(json__nesting_has_a_limit),
        TEST_WITH_ENV(json__long_strings_and_numbers_need_no_more_than_their_size),
        TEST_WITH_ENV(json__documents_of_tables_are_read_as_the_library_reads_them),
        TEST_WITH_ENV(json__a_failing_allocation_is_reported),
        TEST_WITH_ENV(json__a_copy_is_whole_or_reported),
        TEST_WITH_ENV(json__a_copy_shares_its_members_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
