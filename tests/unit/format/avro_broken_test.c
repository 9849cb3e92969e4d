/*
 * Bad Avro files: each is refused with what was expected, what was found and where.
 */
#include "unit/format/avro_build.h"

#define F(name, type) "{\"name\":\"" name "\",\"type\":" type "}"
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"

static void put_chars(avro_bytes *b, const char *text)
{
    put_raw(b, text, strlen(text));
}

/* Open and read all of some bytes, which must fail. */
static void assert_broken(const frz_env *env, avro_bytes *bytes, frz_code code, const char *phrase)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    char *location = avro_write(bytes);
    assert_fails(avro_read(env, location, NULL, &out, &err), &err, code, phrase);
    frz_buf_reset(&out);
    avro_remove(location);
}

/* ---- schemas ---- */

static void schema__mistakes_are_named(void **state)
{
    static const struct {
        const char *schema, *says;
        frz_code code;
    } cases[] = {
        {"{\"type\":\"record\"", "avro.schema (byte 17): line 1, column 17", FRZ_E_CORRUPT},
        {"\"int\"", "the values of the file are not records", FRZ_E_UNSUPPORTED},
        {"[\"null\",\"int\"]", "the values of the file are not records", FRZ_E_UNSUPPORTED},
        {"7", "a type is neither a name nor an object nor a list", FRZ_E_CORRUPT},
        {"{}", "there is no \"type\"", FRZ_E_CORRUPT},
        {"{\"type\":\"record\",\"fields\":[]}", "without a name", FRZ_E_CORRUPT},
        {"{\"type\":\"record\",\"name\":\"r\"}", "no list of fields", FRZ_E_CORRUPT},
        {RECORD("{\"type\":\"int\"}"), "a field of a record has no name", FRZ_E_CORRUPT},
        {RECORD("{\"name\":\"a\"}"), "field \"a\": there is no \"type\"", FRZ_E_CORRUPT},
        {RECORD(F("a", "\"strnig\"")), "field \"a\": there is no type \"strnig\"", FRZ_E_CORRUPT},
        {RECORD(F("a", "[]")), "a union of no types", FRZ_E_CORRUPT},
        {RECORD(F("a", "[\"null\",[\"int\"]]")), "a union directly inside", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"array\"}")), "no \"items\"", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"map\"}")), "no \"values\"", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"fixed\",\"name\":\"f\"}")), "no size", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}")),
         "\"size\" is not an integer from 0", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"enum\",\"name\":\"e\"}")), "no list of symbols", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[1]}")), "is not a string",
         FRZ_E_CORRUPT},
        {RECORD("{\"name\":\"a\",\"field-id\":\"1\",\"type\":\"int\"}"),
         "\"field-id\" is not an integer", FRZ_E_CORRUPT},
        {RECORD("{\"name\":\"a\",\"field-id\":-1,\"type\":\"int\"}"),
         "\"field-id\" is not an integer", FRZ_E_CORRUPT},
        {RECORD(F("a", "{\"type\":\"fixed\",\"name\":\"f\",\"size\":1}") "," F(
             "b", "{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}") "," F("c", "\"f\"")),
         "type \"f\" is defined more than once", FRZ_E_CORRUPT},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        avro_bytes b = avro_bytes_of(*state);
        put_header(&b, cases[i].schema, NULL);
        assert_broken(*state, &b, cases[i].code, cases[i].says);
    }
}

/* count times what is before, the middle, count times what is behind. */
static char *repeat(const char *before, const char *middle, const char *behind, size_t count)
{
    size_t first = strlen(before), last = strlen(behind), inside = strlen(middle);
    char *text = malloc((first + last) * count + inside + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * first, before, first);
        memcpy(text + count * first + inside + i * last, behind, last);
    }
    memcpy(text + count * first, middle, inside);
    text[(first + last) * count + inside] = '\0';
    return text;
}

static void schema__nesting_is_bounded(void **state)
{
    static const char open[] = "{\"type\":\"array\",\"items\":";
    static const size_t depths[] = {70, 500, 3000};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(depths); i++) {
        char *inner = repeat(open, "\"int\"", "}", depths[i]);
        char *schema = malloc(strlen(inner) + 100);
        assert_non_null(schema);
        sprintf(schema, RECORD(F("a", "%s")), inner);
        avro_bytes b = avro_bytes_of(*state);
        put_header(&b, schema, NULL);
        assert_broken(*state, &b, i == 2 ? FRZ_E_CORRUPT : FRZ_E_LIMIT, i == 2 ? "levels" : "deep");
        free(schema);
        free(inner);
    }
}

/* Names that each stand for two of the one before: a small text for a huge tree. */
static void schema__names_written_out_are_bounded(void **state)
{
    avro_bytes text = avro_bytes_of(*state);
    avro_bytes b = avro_bytes_of(*state);
    put_chars(&text, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[");
    for (int i = 0; i < 30; i++) {
        char below[16] = "int", field[300];
        if (i > 0) {
            snprintf(below, sizeof below, "t%d", i - 1);
        }
        int len = snprintf(field, sizeof field,
                           "%s{\"name\":\"f%d\",\"type\":{\"type\":\"record\",\"name\":\"t%d\","
                           "\"fields\":[{\"name\":\"a\",\"type\":\"%s\"},"
                           "{\"name\":\"b\",\"type\":\"%s\"}]}}",
                           i > 0 ? "," : "", i, i, below, below);
        put_raw(&text, field, (size_t)len);
    }
    put_raw(&text, "]}", 3);
    put_header(&b, (const char *)text.buf.data, NULL);
    frz_buf_reset(&text.buf);
    assert_broken(*state, &b, FRZ_E_LIMIT, "fields");
}

/* ---- the header ---- */

static void header__mistakes_are_named(void **state)
{
    avro_bytes b = avro_bytes_of(*state);
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 1000000);
    assert_broken(*state, &b, FRZ_E_CORRUPT,
                  "Avro header, byte 4: 1000000 pairs cannot be in the 0 bytes left");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 1);
    put_long(&b, 1000000);
    put_raw(&b, "avro", 4);
    assert_broken(*state, &b, FRZ_E_CORRUPT,
                  "Avro header, byte 5: a length of 1000000 with 4 bytes left");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 1);
    put_long(&b, -5);
    put_raw(&b, "avro", 4);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "byte 5: a length of -5");
    put_raw(&b, "Obj\x01", 4);
    put_raw(&b, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "byte 4: a number is cut off or longer than 10 bytes");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, -1);
    put_long(&b, 3);
    put_text(&b, "k");
    put_text(&b, "v");
    put_long(&b, 0);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "pairs are said to take 3 bytes, found 4");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, INT64_MIN);
    put_long(&b, 0);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "pairs cannot be in the 0 bytes left");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 0);
    put_raw(&b, avro_sync, 16);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "no avro.schema");
    put_raw(&b, "Obj\x01", 4);
    put_long(&b, 0);
    put_raw(&b, avro_sync, 10);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "byte 5: 16 bytes are expected, 10 are left");
}

/* ---- blocks ---- */

#define INT RECORD(F("a", "\"int\""))

static avro_bytes with_header(void **state, const char *schema)
{
    avro_bytes b = avro_bytes_of(*state);
    put_header(&b, schema, NULL);
    return b;
}

static void block__headers_are_checked(void **state)
{
    static const struct {
        int64_t rows, size;
        const char *says;
    } cases[] = {
        {-1, 1, "block at byte 101: -1 rows in 1 bytes"},
        {INT64_MAX, 1, "block at byte 101: 9223372036854775807 rows in 1 bytes, which cannot hold"},
        {2, 1, "2 rows in 1 bytes, which cannot hold more than 1"},
        {1, -1, "block at byte 101: -1 bytes and a sync marker"},
        {1, INT64_MAX, "block at byte 101: 9223372036854775807 bytes and a sync marker of 16"},
        {1, 2, "block at byte 101: 2 bytes and a sync marker of 16, with 17 bytes left"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        avro_bytes b = with_header(state, INT);
        put_long(&b, cases[i].rows);
        put_long(&b, cases[i].size);
        put_long(&b, 7);
        put_raw(&b, avro_sync, 16);
        assert_broken(*state, &b, FRZ_E_CORRUPT, cases[i].says);
    }
    avro_bytes b = with_header(state, INT);
    put_raw(&b, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "block at byte 101: its header is cut off or has");
    b = with_header(state, INT);
    put_long(&b, 1);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "block at byte 101: its header is cut off");
}

static void block__the_sync_marker_is_checked(void **state)
{
    avro_bytes b = with_header(state, INT);
    avro_bytes data = avro_bytes_of(*state);
    put_long(&data, 7);
    put_block(&b, 1, &data);
    put_block(&b, 1, &data);
    frz_buf_reset(&data.buf);
    b.buf.data[b.buf.len - 1] ^= 1;
    assert_broken(*state, &b, FRZ_E_CORRUPT,
                  "block at byte 120: the file's sync marker is expected at byte 123");
}

static void block__a_cut_tail_is_noticed(void **state)
{
    avro_bytes whole = with_header(state, INT);
    avro_bytes data = avro_bytes_of(*state);
    size_t header = whole.buf.len;
    put_long(&data, 1000);
    put_block(&whole, 1, &data);
    frz_buf_reset(&data.buf);
    for (size_t len = header + 1; len < whole.buf.len; len++) {
        avro_bytes b = avro_bytes_of(*state);
        put_raw(&b, whole.buf.data, len);
        assert_broken(*state, &b, FRZ_E_CORRUPT, "block at byte 101");
    }
    for (size_t len = 5; len < header; len++) {
        avro_bytes b = avro_bytes_of(*state);
        put_raw(&b, whole.buf.data, len);
        assert_broken(*state, &b, FRZ_E_CORRUPT, "Avro header, byte ");
    }
    frz_buf_reset(&whole.buf);
}

static void block__rows_that_take_nothing_are_bounded(void **state)
{
    avro_bytes b = with_header(state, RECORD(F("a", "\"null\"")));
    put_long(&b, INT64_C(1) << 40);
    put_long(&b, 0);
    put_raw(&b, avro_sync, 16);
    assert_broken(*state, &b, FRZ_E_CORRUPT, "1099511627776 rows in 0 bytes");
}

/* ---- values ---- */

static void value__mistakes_are_named(void **state)
{
    static const struct {
        const char *type, *bytes;
        size_t len;
        frz_code code;
        const char *says;
    } cases[] = {
        {"\"int\"", "\xFF\xFF\xFF\xFF\x7F", 5, FRZ_E_CORRUPT, "is not an integer of 32 bits"},
        {"\"long\"", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 10, FRZ_E_CORRUPT,
         "a number of more than 10 bytes"},
        {"\"long\"", "\xFF\xFF", 2, FRZ_E_CORRUPT, "ends inside of a number"},
        {"\"string\"",
         "\x0A"
         "abc",
         4, FRZ_E_CORRUPT, "a length of 5 with 3 bytes left"},
        {"\"string\"",
         "\x09"
         "abcde",
         6, FRZ_E_CORRUPT, "a length of -5 with"},
        {"\"string\"", "\x02\xFF", 2, FRZ_E_CORRUPT, "value 0 of a batch is not UTF-8"},
        {"\"boolean\"", "\x02", 1, FRZ_E_CORRUPT, "a boolean is 0 or 1, found 2"},
        {"\"double\"", "1234567", 7, FRZ_E_CORRUPT, "rows in 7 bytes"},
        {"[\"null\",\"int\"]", "\x04\x00", 2, FRZ_E_CORRUPT, "branch 2 of a union of 2 types"},
        {"[\"null\",\"int\"]", "\x01", 1, FRZ_E_CORRUPT, "branch -1 of a union of 2 types"},
        {"{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]}", "\x02", 1, FRZ_E_CORRUPT,
         "symbol 1 of an enum of 1"},
        {"{\"type\":\"array\",\"items\":\"int\"}", "\xC8\x01\x02\x02", 4, FRZ_E_CORRUPT,
         "100 items of at least 1 bytes cannot be in the 2 bytes left"},
        {"{\"type\":\"array\",\"items\":\"int\"}",
         "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00\x00", 12, FRZ_E_CORRUPT,
         "9223372036854775808 items"},
        {"{\"type\":\"array\",\"items\":\"null\"}", "\xFE\xFF\xFF\xFF\xFF\xFF\x01", 7,
         FRZ_E_CORRUPT, "items of at least 0 bytes"},
        {"{\"type\":\"array\",\"items\":\"int\"}", "\x01\x04\x02\x00", 4, FRZ_E_CORRUPT,
         "items are said to end 4 bytes from here, and end after 3"},
        {"{\"type\":\"array\",\"items\":\"int\"}", "\x01\x14\x02\x00", 4, FRZ_E_CORRUPT,
         "a length of 10 with 2 bytes left"},
        {"{\"type\":\"string\",\"logicalType\":\"uuid\"}",
         "\x06"
         "abc",
         4, FRZ_E_CORRUPT, "\"abc\" is not a UUID"},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":38,\"scale\":0}",
         "\x20\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 17, FRZ_E_CORRUPT,
         "more than 38 digits"},
        {"{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":38,\"scale\":0}", "\x00", 1,
         FRZ_E_CORRUPT, "a decimal of 0 bytes"},
        {"\"int\"", "\x02\x02", 2, FRZ_E_CORRUPT, "its 1 rows end 1 bytes before its data does"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char schema[300];
        avro_bytes data = avro_bytes_of(*state);
        snprintf(schema, sizeof schema, RECORD(F("a", "%s")), cases[i].type);
        avro_bytes b = with_header(state, schema);
        put_raw(&data, cases[i].bytes, cases[i].len);
        put_block(&b, 1, &data);
        frz_buf_reset(&data.buf);
        assert_broken(*state, &b, cases[i].code, cases[i].says);
    }
}

static void value__places_are_told(void **state)
{
    avro_bytes b = with_header(
        state,
        RECORD(F("s", "{\"type\":\"record\",\"name\":\"t\",\"fields\":["
                      "{\"name\":\"x\",\"type\":\"int\"},{\"name\":\"y\",\"type\":\"string\"}]}")));
    avro_bytes data = avro_bytes_of(*state);
    put_long(&data, 1);
    put_text(&data, "abc");
    put_long(&data, 1);
    put_long(&data, 99);
    put_raw(&data, "abc", 3);
    size_t at = b.buf.len + 2 + 6;
    put_block(&b, 2, &data);
    frz_buf_reset(&data.buf);
    char says[100];
    snprintf(says, sizeof says, "row 1: column \"s.y\": byte %zu: a length of 99 with 3 bytes left",
             at);
    assert_broken(*state, &b, FRZ_E_CORRUPT, says);
}

/* Columns that are not read are looked at as far as it takes to pass over them. */
static void value__mistakes_are_found_when_passing_over(void **state)
{
    static const struct {
        const char *type, *bytes;
        size_t len;
        const char *says;
    } cases[] = {
        {"\"string\"",
         "\x0A"
         "abc",
         4, "a length of 5 with"},
        {"[\"null\",\"double\"]", "\x02\x00", 2, "8 bytes are expected and 2 left"},
        {"[\"int\",\"string\"]", "\x06", 1, "branch 3 of a union of 2 types"},
        {"{\"type\":\"map\",\"values\":\"int\"}", "\xC8\x01", 2, "100 items of at least 2 bytes"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char schema[300];
        frz_error err = {0};
        frz_data_file *file = NULL;
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        avro_bytes data = avro_bytes_of(*state);
        snprintf(schema, sizeof schema, RECORD("{\"name\":\"a\",\"field-id\":1,\"type\":%s}"),
                 cases[i].type);
        avro_bytes b = with_header(state, schema);
        put_raw(&data, cases[i].bytes, cases[i].len);
        put_raw(&data, "\0", 1);
        put_block(&b, 1, &data);
        frz_buf_reset(&data.buf);
        put_raw(&data, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
        put_block(&b, 1, &data);
        frz_buf_reset(&data.buf);
        char *location = avro_write(&b);
        frz_code rc = frz_data_file_open(*state, location, NULL, &file, &err);
        if (rc == FRZ_OK) {
            static const frz_type none = {.id = FRZ_TYPE_STRUCT};
            frz_read_request request = {.projection = &none};
            rc = avro_rows(file, &request, &out, &err);
        }
        assert_fails(rc, &err, FRZ_E_CORRUPT, cases[i].says);
        frz_data_file_close(file);
        frz_buf_reset(&out);
        avro_remove(location);
    }
}

/* A record inside of itself, deeper than anything that was meant. */
static void value__nesting_of_passed_over_values_is_bounded(void **state)
{
    static const char schema[] = RECORD(
        "{\"name\":\"x\",\"field-id\":1,\"type\":\"int\"},{\"name\":\"l\",\"type\":{\"type\":"
        "\"record\",\"name\":\"n\",\"fields\":[{\"name\":\"next\",\"type\":[\"null\",\"n\"]}]}"
        "}");
    static const frz_field x = {.id = 1, .required = true, .name = {"x", 1}};
    frz_error err = {0};
    frz_arena arena;
    const frz_type *type;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    avro_bytes b = with_header(state, schema);
    avro_bytes data = avro_bytes_of(*state);
    put_long(&data, 5);
    for (int i = 0; i < 100000; i++) {
        put_long(&data, 1);
    }
    put_long(&data, 0);
    put_block(&b, 1, &data);
    frz_buf_reset(&data.buf);
    frz_field field = x;
    field.type = frz_type_primitive(FRZ_TYPE_INT);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_struct_of(&arena, &field, 1, &type, &err), &err);
    char *location = avro_write(&b);
    assert_fails(avro_read(*state, location, type, &out, &err), &err, FRZ_E_LIMIT,
                 "values nested more than 1000 deep");
    frz_buf_reset(&out);
    frz_arena_reset(&arena);
    avro_remove(location);
}

/* One byte in the file, thousands in memory: refused before it is too much. */
static void value__a_row_may_not_take_too_much_memory(void **state)
{
    avro_bytes text = avro_bytes_of(*state);
    put_chars(&text, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"l\",\"type\":"
                     "{\"type\":\"array\",\"items\":[\"null\",{\"type\":\"record\",\"name\":\"w\","
                     "\"fields\":[");
    for (int i = 0; i < 2000; i++) {
        char field[64];
        int len = snprintf(field, sizeof field, "%s{\"name\":\"f%d\",\"type\":\"double\"}",
                           i > 0 ? "," : "", i);
        put_raw(&text, field, (size_t)len);
    }
    put_raw(&text, "]}]}}]}", 8);
    avro_bytes b = with_header(state, (const char *)text.buf.data);
    frz_buf_reset(&text.buf);
    avro_bytes data = avro_bytes_of(*state);
    put_long(&data, 200000);
    for (int i = 0; i < 200001; i++) {
        put_byte(&data, 0);
    }
    put_block(&b, 1, &data);
    frz_buf_reset(&data.buf);
    assert_broken(*state, &b, FRZ_E_LIMIT, "a row takes more than 1073741824 bytes of memory");
}

static void reader__a_failure_lasts(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    avro_bytes b = with_header(state, INT);
    avro_bytes data = avro_bytes_of(*state);
    put_long(&data, 1);
    put_long(&data, INT64_MAX);
    put_block(&b, 2, &data);
    frz_buf_reset(&data.buf);
    char *location = avro_write(&b);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(avro_open_native(*state, location, &arena, &file, &err), &err);
    frz_read_request request = {.projection = frz_data_file_type(file)};
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    for (int i = 0; i < 2; i++) {
        err = (frz_error){0};
        assert_fails(frz_data_reader_next(reader, &batch, &err), &err, FRZ_E_CORRUPT,
                     "is not an integer of 32 bits");
    }
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    avro_remove(location);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(schema__mistakes_are_named),
        TEST_WITH_ENV(schema__nesting_is_bounded),
        TEST_WITH_ENV(schema__names_written_out_are_bounded),
        TEST_WITH_ENV(header__mistakes_are_named),
        TEST_WITH_ENV(block__headers_are_checked),
        TEST_WITH_ENV(block__the_sync_marker_is_checked),
        TEST_WITH_ENV(block__a_cut_tail_is_noticed),
        TEST_WITH_ENV(block__rows_that_take_nothing_are_bounded),
        TEST_WITH_ENV(value__mistakes_are_named),
        TEST_WITH_ENV(value__places_are_told),
        TEST_WITH_ENV(value__mistakes_are_found_when_passing_over),
        TEST_WITH_ENV(value__nesting_of_passed_over_values_is_bounded),
        TEST_WITH_ENV(value__a_row_may_not_take_too_much_memory),
        TEST_WITH_ENV(reader__a_failure_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
