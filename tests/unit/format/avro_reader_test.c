/*
 * The Avro reader: types, nesting, projections by field id, evolution.
 */
#include "unit/format/avro_build.h"
#include "unit/test_alloc.h"

/* A field of a record: id, name, type. */
#define F(id, name, type) "{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define OPTIONAL(type) "[\"null\"," type "]"
#define LOGICAL(type, name) "{\"type\":" type ",\"logicalType\":\"" name "\"}"
#define FIXED(name, size) "{\"type\":\"fixed\",\"name\":\"" name "\",\"size\":" #size "}"
/* A field of the request. */
#define WANT(id, name, required, type)                                                             \
    "{\"id\":" #id ",\"name\":\"" name "\",\"required\":" #required ",\"type\":" type "}"

typedef struct fixture {
    const frz_env *env;
    avro_bytes data; /* of the one block */
} fixture;

static fixture start(void **state)
{
    fixture f = {*state, avro_bytes_of(*state)};
    return f;
}

static char *one_block(fixture *f, const char *schema, int64_t rows)
{
    avro_bytes file = avro_bytes_of(f->env);
    put_header(&file, schema, NULL);
    put_block(&file, rows, &f->data);
    frz_buf_reset(&f->data.buf);
    return avro_write(&file);
}

/* What is read of one block as these fields, or as it is (NULL). */
static void assert_reads(fixture *f, const char *schema, int64_t rows, const char *wanted,
                         const char *expected)
{
    frz_error err = {0};
    frz_arena arena;
    frz_buf out = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    char *location = one_block(f, schema, rows);
    frz_arena_init(&arena, f->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(avro_read(f->env, location, avro_type(&arena, wanted), &out, &err), &err);
    assert_text(&out, expected);
    frz_arena_reset(&arena);
    frz_buf_reset(&out);
    avro_remove(location);
}

static void assert_refuses(fixture *f, const char *schema, int64_t rows, const char *wanted,
                           frz_code code, const char *phrase)
{
    frz_error err = {0};
    frz_arena arena;
    frz_buf out = FRZ_BUF_INIT(f->env, FRZ_BUF_NO_LIMIT);
    char *location = one_block(f, schema, rows);
    frz_arena_init(&arena, f->env, FRZ_ARENA_NO_LIMIT);
    assert_fails(avro_read(f->env, location, avro_type(&arena, wanted), &out, &err), &err, code,
                 phrase);
    frz_arena_reset(&arena);
    frz_buf_reset(&out);
    avro_remove(location);
}

/* ---- types ---- */

static void types__primitives_are_read_as_they_are(void **state)
{
    fixture f = start(state);
    static const float single = 1.5f;
    static const double wide = -2.25;
    put_byte(&f.data, 1);
    put_long(&f.data, INT32_MIN);
    put_long(&f.data, INT64_MAX);
    put_raw(&f.data, &single, 4);
    put_raw(&f.data, &wide, 8);
    put_text(&f.data, "\xC3\xBC");
    put_bytes(&f.data, "\x01\xFF", 2);
    put_raw(&f.data, "abc", 3);
    put_long(&f.data, 1);
    assert_reads(
        &f,
        RECORD(F(1, "b", "\"boolean\"") "," F(2, "i", "\"int\"") "," F(3, "l", "\"long\"") "," F(4, "f", "\"float\"") "," F(
            5, "g",
            "\"double\"") "," F(6, "s",
                                "\"string\"") "," F(7, "y",
                                                    "\"bytes\"") "," F(8, "x",
                                                                       FIXED(
                                                                           "x3",
                                                                           3)) "," F(9, "e",
                                                                                     "{\"type\":"
                                                                                     "\"enum\","
                                                                                     "\"name\":"
                                                                                     "\"e2\","
                                                                                     "\"symbols\":"
                                                                                     "[\"A\",\"B\"]"
                                                                                     "}") "," F(10,
                                                                                                "n",
                                                                                                "\""
                                                                                                "nu"
                                                                                                "ll"
                                                                                                "\"")),
        1, NULL, "{true,-2147483648,9223372036854775807,1.5,-2.25,\xC3\xBC,01ff,616263,B,null}\n");
}

static void types__logical_types(void **state)
{
    fixture f = start(state);
    put_long(&f.data, -1);
    put_long(&f.data, 3600000000);
    put_long(&f.data, -1);
    put_long(&f.data, 1);
    put_long(&f.data, 1000000001);
    put_bytes(&f.data, "\xFF\x38", 2); /* -200 */
    put_raw(&f.data, "\x00\x00\x03\xE8", 4);
    put_raw(&f.data, "0123456789abcdef", 16);
    put_text(&f.data, "30313233-3435-3637-3839-616263646566");
    assert_reads(
        &f,
        RECORD(F(1, "d", LOGICAL("\"int\"", "date")) "," F(2, "t", LOGICAL("\"long\"", "time-micros")) "," F(3, "u", "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\",\"adjust-to-utc\":true}") "," F(
            4, "v",
            LOGICAL(
                "\"long\"",
                "local-timestamp-micros")) "," F(5, "w",
                                                 LOGICAL(
                                                     "\"long\"",
                                                     "timestamp-nanos")) "," F(6, "x",
                                                                               "{\"type\":"
                                                                               "\"bytes\","
                                                                               "\"logicalTy"
                                                                               "pe\":"
                                                                               "\"decimal\""
                                                                               ",\"precisio"
                                                                               "n\":9,"
                                                                               "\"scale\":"
                                                                               "2}") "," F(7, "y",
                                                                                           "{\""
                                                                                           "typ"
                                                                                           "e\""
                                                                                           ":\""
                                                                                           "fix"
                                                                                           "ed"
                                                                                           "\","
                                                                                           "\"n"
                                                                                           "ame"
                                                                                           "\":"
                                                                                           "\"d"
                                                                                           "4\""
                                                                                           ",\""
                                                                                           "siz"
                                                                                           "e\""
                                                                                           ":4,"
                                                                                           "\"l"
                                                                                           "ogi"
                                                                                           "cal"
                                                                                           "Typ"
                                                                                           "e\""
                                                                                           ":\""
                                                                                           "dec"
                                                                                           "ima"
                                                                                           "l\""
                                                                                           ",\""
                                                                                           "pre"
                                                                                           "cis"
                                                                                           "ion"
                                                                                           "\":"
                                                                                           "9,"
                                                                                           "\"s"
                                                                                           "cal"
                                                                                           "e\""
                                                                                           ":1"
                                                                                           "}") "," F(8,
                                                                                                      "z",
                                                                                                      "{\"type\":\"fixed\",\"name\":\"u16\",\"size\":16,"
                                                                                                      "\"logicalType\":\"uuid\"}") "," F(9,
                                                                                                                                         "q",
                                                                                                                                         LOGICAL(
                                                                                                                                             "\"string\"",
                                                                                                                                             "uuid"))),
        1, NULL,
        "{1969-12-31,01:00:00.000000,1969-12-31T23:59:59.999999+00:00,1970-01-01T00:00:00.000001,"
        "1970-01-01T00:00:01.000000001,-2.00,100.0,30313233-3435-3637-3839-616263646566,"
        "30313233-3435-3637-3839-616263646566}\n");
}

static void types__logical_types_that_do_not_fit_are_passed_over(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 5);
    put_bytes(&f.data, "\x01", 1);
    put_raw(&f.data, "ab", 2);
    put_text(&f.data, "x");
    assert_reads(
        &f,
        RECORD(F(1, "d", LOGICAL("\"long\"", "date")) "," F(
            2, "e",
            "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":2,"
            "\"scale\":3}") "," F(3, "u",
                                  "{\"type\":\"fixed\",\"name\":\"u2\",\"size\":2,"
                                  "\"logicalType\":"
                                  "\"uuid\"}") "," F(4, "z", LOGICAL("\"string\"", "never-heard"))),
        1, NULL, "{5,01,6162,x}\n");
}

/* Iceberg: no zone without the property. Avro: in UTC. A file that does not say is read as either.
 */
static void types__timestamps_without_the_property_are_read_as_either(void **state)
{
    static const char *const types[] = {"\"timestamp\"", "\"timestamptz\""};
    static const char *const texts[] = {"{1970-01-01T00:00:00.000001}\n",
                                        "{1970-01-01T00:00:00.000001+00:00}\n"};
    for (size_t i = 0; i < 2; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted, "{\"id\":1,\"name\":\"t\",\"required\":false,\"type\":%s}",
                 types[i]);
        fixture f = start(state);
        put_long(&f.data, 1);
        assert_reads(&f, RECORD(F(1, "t", LOGICAL("\"long\"", "timestamp-micros"))), 1, wanted,
                     texts[i]);
    }
    fixture f = start(state);
    put_long(&f.data, 1);
    assert_reads(&f, RECORD(F(1, "t", LOGICAL("\"long\"", "timestamp-micros"))), 1, NULL, texts[0]);
    frz_error err = {0};
    frz_data_file *file = NULL;
    f = start(state);
    put_long(&f.data, 1);
    char *location = one_block(
        &f, RECORD("{\"name\":\"t\",\"type\":" LOGICAL("\"long\"", "timestamp-micros") "}"), 1);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_type(file)->fields[0].type->id, FRZ_TYPE_TIMESTAMPTZ);
    frz_data_file_close(file);
    avro_remove(location);
    f = start(state);
    put_long(&f.data, 1);
    assert_refuses(&f, RECORD(F(1, "t", LOGICAL("\"long\"", "local-timestamp-micros"))), 1,
                   WANT(1, "t", false, "\"timestamptz\""), FRZ_E_CORRUPT,
                   "column \"t\" is timestamp in the file and is to be read as timestamptz");
}

static void types__unions_with_null_are_optional(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 0);
    put_long(&f.data, 1);
    put_long(&f.data, 0);
    put_long(&f.data, 1);
    put_long(&f.data, 7);
    put_long(&f.data, 0);
    put_text(&f.data, "x");
    put_long(&f.data, 0);
    assert_reads(&f,
                 RECORD(F(1, "a", OPTIONAL("\"long\"")) "," F(
                     2, "b", "[\"string\",\"null\"]") "," F(3, "c", "[\"null\"]")),
                 2, NULL, "{null,null,null}\n{7,x,null}\n");
    f = start(state);
    put_long(&f.data, 0);
    put_long(&f.data, 7);
    assert_reads(&f, RECORD(F(1, "a", "[\"int\"]")), 1, NULL, "{7}\n");
}

#define MANY "[\"int\",\"string\"]"
#define SELF                                                                                       \
    "{\"type\":\"record\",\"name\":\"node\",\"fields\":[" F(8, "v", "\"int\"") "," F(              \
        9, "next", "[\"null\",\"node\"]") "]}"

static void types__what_iceberg_lacks_is_passed_over_or_named(void **state)
{
    static const char schema[] =
        RECORD(F(1, "u", MANY) "," F(2, "n", SELF) "," F(3, "x", "\"int\""));
    for (int i = 0; i < 3; i++) {
        fixture f = start(state);
        put_long(&f.data, 1);
        put_text(&f.data, "text");
        put_long(&f.data, 4);
        put_long(&f.data, 1); /* next */
        put_long(&f.data, 5);
        put_long(&f.data, 0);
        put_long(&f.data, 42);
        if (i == 0) {
            assert_reads(&f, schema, 1, WANT(3, "x", true, "\"int\""), "{42}\n");
        } else if (i == 1) {
            assert_refuses(&f, schema, 1, WANT(1, "u", false, "\"int\""), FRZ_E_UNSUPPORTED,
                           "column \"u\" is a union of several types");
        } else {
            assert_refuses(&f, schema, 1,
                           WANT(2, "n", true,
                                "{\"type\":\"struct\",\"fields\":[" WANT(
                                    9, "next", false, "{\"type\":\"struct\",\"fields\":[]}") "]}"),
                           FRZ_E_UNSUPPORTED, "column \"n.next\" is a record inside of itself");
        }
    }
}

/* ---- nesting ---- */

#define POINT(name, a, b)                                                                          \
    "{\"type\":\"record\",\"name\":\"" name                                                        \
    "\",\"fields\":[" F(a, "x", "\"int\"") "," F(b, "y", OPTIONAL("\"string\"")) "]}"

static void nesting__structs_that_are_null_have_null_fields(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 0);
    put_long(&f.data, 1);
    put_long(&f.data, 5);
    put_long(&f.data, 1);
    put_text(&f.data, "five");
    assert_reads(&f, RECORD(F(1, "p", OPTIONAL(POINT("p", 2, 3)))), 2, NULL,
                 "{null}\n{{5,five}}\n");
}

static void put_list(avro_bytes *b, const int64_t *values, int64_t count)
{
    if (count > 0) {
        put_long(b, count);
        for (int64_t i = 0; i < count; i++) {
            put_long(b, values[i]);
        }
    }
    put_long(b, 0);
}

static void nesting__lists_are_blocks_of_items(void **state)
{
    static const int64_t values[] = {1, 2, 3};
    fixture f = start(state);
    put_list(&f.data, values, 3);
    put_list(&f.data, values, 0);
    put_long(&f.data, -2); /* with its size */
    put_long(&f.data, 2);
    put_long(&f.data, 7);
    put_long(&f.data, 8);
    put_long(&f.data, 1);
    put_long(&f.data, 9);
    put_long(&f.data, 0);
    assert_reads(&f, RECORD(F(1, "l", "{\"type\":\"array\",\"items\":\"long\",\"element-id\":2}")),
                 3, NULL, "{[1,2,3]}\n{[]}\n{[7,8,9]}\n");
}

#define PAIR_MAP(name, item_open, item_close, key, value)                                          \
    "{\"type\":\"array\",\"logicalType\":\"map\",\"items\":" item_open                             \
    "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" key "," value "]}" item_close "}"

static void nesting__maps_of_both_forms(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 2);
    put_text(&f.data, "a");
    put_long(&f.data, 1);
    put_long(&f.data, 5);
    put_text(&f.data, "b");
    put_long(&f.data, 0);
    put_long(&f.data, 0);
    put_long(&f.data, 1);
    put_long(&f.data, 7);
    put_text(&f.data, "seven");
    put_long(&f.data, 0);
    assert_reads(&f,
                 RECORD(F(1, "m",
                          "{\"type\":\"map\",\"values\":[\"null\",\"int\"],\"key-id\":2,\"value-"
                          "id\":3}") "," F(4, "n",
                                           PAIR_MAP("k", "", "", F(5, "key", "\"int\""),
                                                    F(6, "value", "\"string\"")))),
                 1, NULL, "{[a:5,b:null],[7:seven]}\n");
}

/* key 1, 4, 9 and so on; values of one letter */
static void put_pairs(avro_bytes *b, int count, bool with_size)
{
    avro_bytes pairs = {FRZ_BUF_INIT(b->buf.env, FRZ_BUF_NO_LIMIT)};
    for (int i = 1; i <= count; i++) {
        char letter = (char)('a' + i);
        put_long(&pairs, i * i);
        put_long(&pairs, i % 3 == 0 ? 0 : 1); /* null or there */
        if (i % 3 != 0) {
            put_bytes(&pairs, &letter, 1);
        }
    }
    put_long(b, with_size ? -count : count);
    if (with_size) {
        put_long(b, (int64_t)pairs.buf.len);
    }
    put_raw(b, pairs.buf.data, pairs.buf.len);
    put_long(b, 0);
    frz_buf_reset(&pairs.buf);
}

static void nesting__entries_of_maps_are_chosen_by_key(void **state)
{
    static const int32_t keys[] = {-1, 4, 9, 25, 100};
    static const char *const expected[] = {"{1,[],2}\n{3,[4:c,9:null,25:f],4}\n",
                                           "{1,[],2}\n{3,[],4}\n"};
    fixture f = start(state);
    frz_error err = {0};
    frz_data_file *file = NULL;
    put_long(&f.data, 1);
    put_pairs(&f.data, 1, false);
    put_long(&f.data, 2);
    put_long(&f.data, 3);
    put_pairs(&f.data, 5, true);
    put_long(&f.data, 4);
    char *location =
        one_block(&f,
                  RECORD(F(1, "a", "\"long\"") "," F(
                      2, "m",
                      PAIR_MAP("k", "", "", F(3, "key", "\"int\""),
                               F(4, "value", "[\"null\",\"string\"]"))) "," F(5, "z", "\"long\"")),
                  2);
    assert_ok(frz_data_file_open(f.env, location, NULL, &file, &err), &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(expected); i++) {
        frz_buf out = FRZ_BUF_INIT(f.env, FRZ_BUF_NO_LIMIT);
        const frz_read_request request = {.projection = frz_data_file_type(file),
                                          .map_keys = keys,
                                          .map_key_count = i == 0 ? FRZ_ARRAY_COUNT(keys) : 0};
        assert_ok(avro_rows(file, &request, &out, &err), &err);
        assert_text(&out, expected[i]);
        frz_buf_reset(&out);
    }
    frz_data_file_close(file);
    avro_remove(location);
}

/* known writer: everything is optional, pairs too, and the ids of keys and values are left out */
static void nesting__maps_of_optional_pairs_without_ids(void **state)
{
    static const char schema[] =
        RECORD(F(1, "m",
                 PAIR_MAP("k", "[\"null\",", "]", "{\"name\":\"key\",\"type\":[\"null\",\"int\"]}",
                          "{\"name\":\"value\",\"type\":[\"null\",\"long\"]}")));
    static const char wanted[] =
        WANT(1, "m", false,
             "{\"type\":\"map\",\"key-id\":2,\"key\":\"int\",\"value-id\":3,\"value\":\"long\","
             "\"value-required\":true}");
    fixture f = start(state);
    put_long(&f.data, 2);
    for (int i = 1; i <= 2; i++) {
        put_long(&f.data, 1);
        put_long(&f.data, 1);
        put_long(&f.data, i);
        put_long(&f.data, 1);
        put_long(&f.data, 10 * i);
    }
    put_long(&f.data, 0);
    assert_reads(&f, schema, 1, wanted, "{[1:10,2:20]}\n");
    f = start(state);
    put_long(&f.data, 1);
    put_long(&f.data, 0); /* no pair */
    put_long(&f.data, 0);
    assert_refuses(&f, schema, 1, wanted, FRZ_E_CORRUPT, "column \"m\": byte");
}

static void nesting__lists_of_pairs_are_read_as_maps_by_their_ids(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 1);
    put_long(&f.data, 7);
    put_long(&f.data, 70);
    put_long(&f.data, 0);
    assert_reads(
        &f,
        RECORD(F(1, "m",
                 "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"k\",\"fields\":[" F(
                     2, "key", "\"int\"") "," F(3, "value", "\"long\"") "]}}")),
        1,
        WANT(1, "m", false,
             "{\"type\":\"map\",\"key-id\":2,\"key\":\"int\",\"value-id\":3,\"value\":\"long\","
             "\"value-required\":true}"),
        "{[7:70]}\n");
}

static void nesting__lists_of_structs_of_lists(void **state)
{
    static const int64_t values[] = {1, 2};
    fixture f = start(state);
    for (int row = 0; row < 2; row++) {
        put_long(&f.data, 2);
        put_long(&f.data, 1);
        put_list(&f.data, values, row + 1);
        put_long(&f.data, 0);
        put_long(&f.data, 0);
    }
    assert_reads(
        &f,
        RECORD(F(1, "l",
                 "{\"type\":\"array\",\"element-id\":2,\"items\":[\"null\",{\"type\":"
                 "\"record\",\"name\":\"s\",\"fields\":[" F(
                     3, "k", "{\"type\":\"array\",\"items\":\"int\",\"element-id\":4}") "]}"
                                                                                        "]}")),
        2, NULL, "{[{[1]},null]}\n{[{[1,2]},null]}\n");
}

/* ---- evolution ---- */

static void evolution__fields_are_found_by_id(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 1);
    put_text(&f.data, "dropped");
    put_long(&f.data, 3);
    put_text(&f.data, "kept");
    assert_reads(&f,
                 RECORD(F(1, "a", "\"int\"") "," F(2, "b", "\"string\"") "," F(
                     3, "c", "\"int\"") "," F(4, "d", "\"string\"")),
                 1, WANT(4, "a", true, "\"string\"") "," WANT(1, "d", true, "\"int\""),
                 "{kept,1}\n");
}

static void evolution__types_are_promoted(void **state)
{
    static const float single = 0.5f;
    fixture f = start(state);
    put_long(&f.data, -5);
    put_raw(&f.data, &single, 4);
    put_bytes(&f.data, "\x80", 1);
    put_long(&f.data, -1);
    put_long(&f.data, 1);
    put_long(&f.data, 1500);
    put_long(&f.data, -1);
    assert_reads(
        &f,
        RECORD(F(1, "i", "\"int\"") "," F(2, "f", "\"float\"") "," F(
            3, "d",
            "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,"
            "\"scale\":2}") "," F(4, "e",
                                  LOGICAL(
                                      "\"int\"",
                                      "date")) "," F(5, "g",
                                                     LOGICAL(
                                                         "\"int\"",
                                                         "date")) "," F(6, "t",
                                                                        LOGICAL(
                                                                            "\"i"
                                                                            "nt"
                                                                            "\"",
                                                                            "tim"
                                                                            "e-"
                                                                            "mil"
                                                                            "li"
                                                                            "s")) "," F(7, "u",
                                                                                        LOGICAL(
                                                                                            "\"long"
                                                                                            "\"",
                                                                                            "timest"
                                                                                            "amp-"
                                                                                            "milli"
                                                                                            "s"))),
        1,
        WANT(1, "i", true, "\"long\"") "," WANT(2, "f", true, "\"double\"") "," WANT(3, "d", true, "\"decimal(38,2)\"") "," WANT(
            4, "e", true,
            "\"timestamp\"") "," WANT(5, "g", true,
                                      "\"timestamp_ns\"") "," WANT(6, "t", true,
                                                                   "\"time\"") "," WANT(7, "u",
                                                                                        true,
                                                                                        "\"timestam"
                                                                                        "ptz\""),
        "{-5,0.5,-1.28,1969-12-31T00:00:00.000000,1970-01-02T00:00:00.000000000,00:00:01.500000,"
        "1969-12-31T23:59:59.999000+00:00}\n");
}

static void evolution__other_conversions_are_refused(void **state)
{
    static const struct {
        const char *schema, *wanted, *says;
    } cases[] = {
        {RECORD(F(1, "a", "\"long\"")), WANT(1, "a", true, "\"int\""), "long in the file"},
        {RECORD(F(1, "a", "\"double\"")), WANT(1, "a", true, "\"float\""), "double in the file"},
        {RECORD(F(1, "a", "\"int\"")), WANT(1, "a", true, "\"date\""), "read as date"},
        {RECORD(F(1, "a", "\"int\"")), WANT(1, "a", true, "\"string\""), "read as string"},
        {RECORD(F(1, "a", FIXED("f", 3))), WANT(1, "a", true, "\"fixed[4]\""), "fixed[4]"},
        {RECORD(F(1, "a",
                  "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":4,\"scale\":2}")),
         WANT(1, "a", true, "\"decimal(9,3)\""), "decimal(9, 3)"},
        {RECORD(F(1, "a", POINT("p", 2, 3))), WANT(1, "a", true, "\"int\""), "read as int"},
        {RECORD(F(1, "a", "\"int\"")),
         WANT(1, "a", true,
              "{\"type\":\"struct\",\"fields\":[" WANT(2, "x", false, "\"int\"") "]}"),
         "int in the file"},
        {RECORD(F(1, "a", "\"null\"")), WANT(1, "a", true, "\"int\""), "only nulls"},
        {RECORD(F(1, "a", "{\"type\":\"array\",\"items\":\"int\",\"element-id\":2}")),
         WANT(1, "a", true,
              "{\"type\":\"list\",\"element-id\":3,\"element\":\"int\",\"element-required\":true}"),
         "field id 2 in the file, expected 3"},
        {RECORD(F(1, "a", "\"int\"") "," F(1, "b", "\"int\"")), WANT(1, "a", true, "\"int\""),
         "field id 1 more than once"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        fixture f = start(state);
        put_raw(&f.data, "\0\0\0\0\0\0\0\0", 8);
        assert_refuses(&f, cases[i].schema, 1, cases[i].wanted, FRZ_E_CORRUPT, cases[i].says);
    }
}

/* known faults: a field added in the middle of a struct, and its default, at every depth */
static void evolution__added_nested_fields_have_their_default(void **state)
{
    static const char point[] = "{\"type\":\"struct\",\"fields\":[" WANT(
        2, "x", true,
        "\"int\"") ","
                   "{\"id\":9,\"name\":\"z\",\"required\":true,\"type\":\"int\",\"initial-"
                   "default\":7},"
                   "{\"id\":10,\"name\":\"n\",\"required\":false,\"type\":\"string\"}," WANT(
                       3, "y", false, "\"string\"") "]}";
    char wanted[1000];
    snprintf(wanted, sizeof wanted,
             "{\"id\":1,\"name\":\"p\",\"required\":false,\"type\":%s},"
             "{\"id\":20,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\","
             "\"element-id\":21,\"element-required\":false,\"element\":{\"type\":\"struct\","
             "\"fields\":[{\"id\":23,\"name\":\"w\",\"required\":true,\"type\":\"long\","
             "\"initial-default\":-1}]}}}",
             point);
    fixture f = start(state);
    put_long(&f.data, 1);
    put_long(&f.data, 5);
    put_long(&f.data, 0);
    put_long(&f.data, 2); /* the list */
    put_long(&f.data, 1);
    put_long(&f.data, 3);
    put_long(&f.data, 0);
    put_long(&f.data, 0);
    put_long(&f.data, 0);
    put_long(&f.data, 0);
    assert_reads(
        &f,
        RECORD(F(1, "p", OPTIONAL(POINT("p", 2, 3))) "," F(
            20, "l",
            "{\"type\":\"array\",\"element-id\":21,\"items\":[\"null\",{\"type\":\"record\","
            "\"name\":\"s\",\"fields\":[" F(22, "v", "\"int\"") "]}]}")),
        2, wanted, "{{5,7,null,null},[{-1},null]}\n{null,[]}\n");
    f = start(state);
    put_long(&f.data, 5);
    put_long(&f.data, 0);
    assert_refuses(
        &f, RECORD(F(1, "p", POINT("p", 2, 3))), 1,
        WANT(1, "p", true, "{\"type\":\"struct\",\"fields\":[" WANT(9, "z", true, "\"int\"") "]}"),
        FRZ_E_CORRUPT, "column \"p\" has no field \"z\" (id 9), which is required");
}

static void evolution__null_in_a_required_field_is_refused(void **state)
{
    fixture f = start(state);
    put_long(&f.data, 1);
    put_long(&f.data, 4);
    put_long(&f.data, 0);
    assert_refuses(&f, RECORD(F(1, "a", OPTIONAL("\"int\""))), 2, WANT(1, "a", true, "\"int\""),
                   FRZ_E_CORRUPT, "row 1: column \"a\": byte 127: null in a required field");
}

/* ---- names ---- */

static void names__references_follow_namespaces(void **state)
{
    fixture f = start(state);
    put_raw(&f.data, "abcdefgh", 8);
    put_long(&f.data, 1);
    put_long(&f.data, 0);
    assert_reads(
        &f,
        "{\"type\":\"record\",\"name\":\"r\",\"namespace\":\"a.b\",\"fields\":["
        "{\"name\":\"x\",\"field-id\":1,\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}},"
        "{\"name\":\"y\",\"field-id\":2,\"type\":\"f\"},"
        "{\"name\":\"z\",\"field-id\":3,\"type\":\"a.b.f\"},"
        "{\"name\":\"w\",\"field-id\":4,\"type\":{\"type\":\"record\",\"name\":\"c.s\",\"fields\":["
        "{\"name\":\"v\",\"field-id\":5,\"type\":\"a.b.f\"},"
        "{\"name\":\"e\",\"field-id\":6,\"type\":{\"type\":\"enum\",\"name\":\"e\",\"symbols\":"
        "[\"P\",\"Q\"],\"default\":\"\\u0000\"}}]}},"
        "{\"name\":\"q\",\"field-id\":7,\"type\":\"c.e\"}]}",
        1, NULL, "{6162,6364,6566,{6768,Q},P}\n");
}

static void names__iceberg_names_come_first(void **state)
{
    fixture f = start(state);
    frz_error err = {0};
    frz_data_file *file = NULL;
    put_long(&f.data, 1);
    char *location = one_block(&f,
                               RECORD("{\"name\":\"a_x2Eb\",\"iceberg-field-name\":\"a.b\",\"field-"
                                      "id\":1,\"type\":\"int\"}"),
                               1);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_true(frz_str_equal(frz_data_file_type(file)->fields[0].name, FRZ_STR("a.b")));
    frz_data_file_close(file);
    avro_remove(location);
}

/* known fault: files without ids come back as nulls */
static void names__files_without_ids_are_read_by_name_mapping(void **state)
{
    fixture f = start(state);
    frz_error err = {0};
    frz_arena arena;
    frz_name_mapping mapping;
    frz_data_file *file = NULL;
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    put_long(&f.data, 3);
    put_long(&f.data, 1);
    put_text(&f.data, "k");
    put_long(&f.data, 4);
    put_long(&f.data, 0);
    char *location = one_block(
        &f,
        RECORD(
            "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"m\",\"type\":{\"type\":\"map\","
            "\"values\":{\"type\":\"record\",\"name\":\"s\",\"fields\":[{\"name\":\"x\",\"type\":"
            "\"int\"}]}}}"),
        1);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(
        frz_name_mapping_parse(
            &arena,
            FRZ_STR("[{\"field-id\":1,\"names\":[\"a\"]},{\"field-id\":2,\"names\":[\"m\"],"
                    "\"fields\":[{\"field-id\":3,\"names\":[\"key\"]},{\"field-id\":4,"
                    "\"names\":[\"value\"],\"fields\":[{\"field-id\":5,\"names\":[\"x\"]}]}]}]"),
            &mapping, &err),
        &err);
    assert_ok(frz_data_file_open(*state, location, &mapping, &file, &err), &err);
    const frz_type *type = avro_type(
        &arena,
        WANT(2, "m", false,
             "{\"type\":\"map\",\"key-id\":3,\"key\":\"string\",\"value-id\":4,\"value-required\":"
             "false,\"value\":{\"type\":\"struct\",\"fields\":[" WANT(
                 5, "y", false, "\"long\"") "]}"
                                            "}") "," WANT(1, "b", false, "\"int\""));
    frz_read_request request = {.projection = type};
    assert_ok(avro_rows(file, &request, &out, &err), &err);
    assert_text(&out, "{[k:{4}],3}\n");
    frz_buf_reset(&out);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    avro_remove(location);
}

static void names__a_field_that_the_file_lacks_is_the_callers_business(void **state)
{
    fixture f = start(state);
    frz_error err = {0};
    frz_data_file *file = NULL;
    put_long(&f.data, 1);
    char *location = one_block(&f, RECORD(F(0, "a", "\"int\"")), 1);
    assert_ok(frz_data_file_open(*state, location, NULL, &file, &err), &err);
    assert_true(frz_data_file_has_field(file, 0));
    assert_false(frz_data_file_has_field(file, 2));
    frz_data_file_close(file);
    avro_remove(location);
    f = start(state);
    put_long(&f.data, 1);
    assert_refuses(&f, RECORD(F(1, "a", "\"int\"")), 1, WANT(2, "b", false, "\"int\""),
                   FRZ_E_ARGUMENT, "no field \"b\" (id 2)");
}

/* ---- memory ---- */

static char *memory_location;

static frz_code read_everything(const frz_env *env, frz_error *err)
{
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_code rc = frz_buf_reserve(&out, 4096, err);
    if (rc == FRZ_OK) {
        rc = avro_read(env, memory_location, NULL, &out, err);
    }
    frz_buf_reset(&out);
    return rc;
}

static void memory__every_failing_allocation_is_reported(void **state)
{
    fixture f = start(state);
    for (int row = 0; row < 3; row++) {
        put_long(&f.data, 1);
        put_long(&f.data, 5);
        put_long(&f.data, 1);
        put_text(&f.data, "five");
        put_long(&f.data, 1);
        put_text(&f.data, "k");
        put_byte(&f.data, 1);
        put_long(&f.data, 0);
        put_long(&f.data, 1);
        put_text(&f.data, "text");
    }
    memory_location = one_block(&f,
                                RECORD(F(1, "p", OPTIONAL(POINT("p", 2, 3))) "," F(
                                    4, "m",
                                    "{\"type\":\"map\",\"values\":\"boolean\",\"key-id\":5,\"value-"
                                    "id\":6}") "," F(7, "s", OPTIONAL("\"string\""))),
                                3);
    assert_true(test_fail_every_allocation(read_everything) > 20);
    avro_remove(memory_location);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(types__primitives_are_read_as_they_are),
        TEST_WITH_ENV(types__logical_types),
        TEST_WITH_ENV(types__logical_types_that_do_not_fit_are_passed_over),
        TEST_WITH_ENV(types__timestamps_without_the_property_are_read_as_either),
        TEST_WITH_ENV(types__unions_with_null_are_optional),
        TEST_WITH_ENV(types__what_iceberg_lacks_is_passed_over_or_named),
        TEST_WITH_ENV(nesting__structs_that_are_null_have_null_fields),
        TEST_WITH_ENV(nesting__lists_are_blocks_of_items),
        TEST_WITH_ENV(nesting__maps_of_both_forms),
        TEST_WITH_ENV(nesting__entries_of_maps_are_chosen_by_key),
        TEST_WITH_ENV(nesting__maps_of_optional_pairs_without_ids),
        TEST_WITH_ENV(nesting__lists_of_pairs_are_read_as_maps_by_their_ids),
        TEST_WITH_ENV(nesting__lists_of_structs_of_lists),
        TEST_WITH_ENV(evolution__fields_are_found_by_id),
        TEST_WITH_ENV(evolution__types_are_promoted),
        TEST_WITH_ENV(evolution__other_conversions_are_refused),
        TEST_WITH_ENV(evolution__added_nested_fields_have_their_default),
        TEST_WITH_ENV(evolution__null_in_a_required_field_is_refused),
        TEST_WITH_ENV(names__references_follow_namespaces),
        TEST_WITH_ENV(names__iceberg_names_come_first),
        TEST_WITH_ENV(names__files_without_ids_are_read_by_name_mapping),
        TEST_WITH_ENV(names__a_field_that_the_file_lacks_is_the_callers_business),
        TEST_WITH_ENV(memory__every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
