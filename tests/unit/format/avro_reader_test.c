/*
 * The Avro reader: types, nesting, projections by field id, evolution, rows found in blocks.
 */
#include "unit/format/avro_build.h"
#include "unit/test_alloc.h"

#define FIELD(id, name, type) "{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define RECORD(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define OPTIONAL(type) "[\"null\"," type "]"

/* A file of one block. data is given back. */
static char *one_block(const frz_env *env, const char *schema, int64_t rows, avro_bytes *data)
{
    avro_bytes file = avro_bytes_of(env);
    put_header(&file, schema, NULL);
    put_block(&file, rows, data);
    frz_buf_reset(&data->buf);
    return avro_write(&file);
}

/* What is read of one block, as a struct of fields or as it is. */
static void assert_reads(const frz_env *env, const char *schema, int64_t rows, avro_bytes *data,
                         const frz_field *fields, size_t count, const char *expected)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_type *type = NULL;
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    char *location = one_block(env, schema, rows, data);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (count > 0) {
        assert_ok(frz_type_struct_of(&arena, fields, count, &type, &err), &err);
    }
    assert_ok(avro_read(env, location, type, &out, &err), &err);
    assert_text(&out, expected);
    frz_arena_reset(&arena);
    frz_buf_reset(&out);
    avro_remove(location);
}

static void reader__primitives_are_read_as_they_are(void **state)
{
    avro_bytes d = avro_bytes_of(*state);
    static const float f = 1.5f;
    static const double g = -2.25;
    put_byte(&d, 1);
    put_long(&d, INT32_MIN);
    put_long(&d, INT64_MAX);
    put_raw(&d, &f, 4);
    put_raw(&d, &g, 8);
    put_text(&d, "\xC3\xBC");
    put_bytes(&d, "\x01\xFF", 2);
    put_raw(&d, "abc", 3);
    put_long(&d, 1);
    assert_reads(
        *state,
        RECORD(FIELD(1, "b", "\"boolean\"") "," FIELD(2, "i", "\"int\"") "," FIELD(3, "l", "\"long\"") "," FIELD(4, "f", "\"float\"") "," FIELD(
            5, "g",
            "\"double\"") "," FIELD(6, "s",
                                    "\"string\"") "," FIELD(7, "y",
                                                            "\"bytes\"") "," FIELD(8, "x",
                                                                                   "{\"type\":"
                                                                                   "\"fixed\","
                                                                                   "\"name\":"
                                                                                   "\"x3\","
                                                                                   "\"size\":"
                                                                                   "3}") "," FIELD(9,
                                                                                                   "e",
                                                                                                   "{\"type\":"
                                                                                                   "\"enum\","
                                                                                                   "\"name\":"
                                                                                                   "\"e2\","
                                                                                                   "\"symbols\""
                                                                                                   ":[\"A\","
                                                                                                   "\"B\"]}") "," FIELD(10,
                                                                                                                        "n",
                                                                                                                        "\"null\"")),
        1, &d, NULL, 0,
        "{true,-2147483648,9223372036854775807,1.5,-2.25,\xC3\xBC,01ff,616263,B,null}\n");
}

static void reader__unions_with_null_are_optional(void **state)
{
    avro_bytes d = avro_bytes_of(*state);
    put_long(&d, 0);
    put_long(&d, 1);
    put_long(&d, 1);
    put_long(&d, 7);
    put_long(&d, 0);
    put_text(&d, "x");
    assert_reads(
        *state,
        RECORD(FIELD(1, "a", OPTIONAL("\"long\"")) "," FIELD(2, "b", "[\"string\",\"null\"]")), 2,
        &d, NULL, 0, "{null,null}\n{7,x}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(reader__primitives_are_read_as_they_are),
        TEST_WITH_ENV(reader__unions_with_null_are_optional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
