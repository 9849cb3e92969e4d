/*
 * Arrow streams as text. Arrays are put together by hand over static buffers, so that the printed
 * text is all that is under test.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "unit/test_support.h"

/* ---- arrays over static memory ---- */

static void schema_keep(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void array_keep(struct ArrowArray *array)
{
    array->release = NULL;
}

/* A stream of given batches; private_data is one of these. */
typedef struct given_stream {
    struct ArrowSchema *schema;
    struct ArrowArray **batches; /* NULL-ended */
    int fail_at_end;             /* errno to end with */
} given_stream;

static int given_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    *out = *((given_stream *)stream->private_data)->schema;
    out->release = schema_keep;
    return 0;
}

static int given_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    given_stream *given = stream->private_data;
    *out = (struct ArrowArray){0};
    if (*given->batches == NULL) {
        return given->fail_at_end;
    }
    *out = **given->batches++;
    out->release = array_keep;
    return 0;
}

static const char *given_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "reading data.parquet: the page is torn";
}

/* Print to memory and compare. */
static void assert_prints(cli_format format, struct ArrowSchema *schema,
                          struct ArrowArray **batches, const char *expected)
{
    given_stream given = {schema, batches, 0};
    struct ArrowArrayStream stream = {given_schema, given_next, given_error, NULL, &given};
    cli_out out = {.fd = -1, .name = "memory"};
    frz_error err = {0};
    assert_ok(cli_output_stream(&out, format, &stream, NULL, &err), &err);
    assert_string_equal(cli_text_c(&out.text), expected);
    cli_text_reset(&out.text);
}

#define COLUMN_SCHEMA(fmt, title)                                                                  \
    {                                                                                              \
        .format = (fmt), .name = (title), .flags = ARROW_FLAG_NULLABLE                             \
    }
#define COUNT(list) ((int64_t)(sizeof(list) / sizeof *(list)))
#define ROWS_SCHEMA(kids)                                                                          \
    {                                                                                              \
        .format = "+s", .name = "", .n_children = COUNT(kids), .children = (kids)                  \
    }
#define ROWS(kids, rows)                                                                           \
    {                                                                                              \
        .length = (rows), .n_buffers = 1, .buffers = no_validity, .n_children = COUNT(kids),       \
        .children = (kids)                                                                         \
    }

static const void *no_validity[1] = {NULL};

/* id 0..3, name with everything that is awkward in CSV, score with a null */
static const int64_t ids[] = {0, 1, 2, 9007199254740993};
static const int32_t name_ends[] = {0, 5, 5, 10, 20};
static const char names[] = "a,\"b\"  x\ny\xE6\xB0\xB4\xE6\xB0\xB4\xC3\xA9z.";
static const double scores[] = {0.5, -0.0, 0, 1e22};
static const uint8_t third_is_null[] = {0xB};

static struct ArrowSchema id_schema = COLUMN_SCHEMA("l", "id");
static struct ArrowSchema name_schema = COLUMN_SCHEMA("u", "na\"me");
static struct ArrowSchema score_schema = COLUMN_SCHEMA("g", "score");
static struct ArrowSchema *mixed_children[] = {&id_schema, &name_schema, &score_schema};
static struct ArrowSchema mixed_schema = ROWS_SCHEMA(mixed_children);

static const void *id_buffers[] = {NULL, ids};
static const void *name_buffers[] = {NULL, name_ends, names};
static const void *score_buffers[] = {third_is_null, scores};
static struct ArrowArray id_array = {.length = 4, .n_buffers = 2, .buffers = id_buffers};
static struct ArrowArray name_array = {.length = 4, .n_buffers = 3, .buffers = name_buffers};
static struct ArrowArray score_array = {
    .length = 4, .null_count = 1, .n_buffers = 2, .buffers = score_buffers};
static struct ArrowArray *mixed_arrays[] = {&id_array, &name_array, &score_array};
static struct ArrowArray mixed = ROWS(mixed_arrays, 4);

static void output_csv__quotes_what_needs_it_and_tells_null_from_empty(void **state)
{
    struct ArrowArray *batches[] = {&mixed, NULL};
    (void)state;
    assert_prints(CLI_FORMAT_CSV, &mixed_schema, batches,
                  "id,\"na\"\"me\",score\n"
                  "0,\"a,\"\"b\"\"\",0.5\n"
                  "1,\"\",-0.0\n"
                  "2,\"  x\ny\",\n"
                  "9007199254740993,\xE6\xB0\xB4\xE6\xB0\xB4\xC3\xA9z.,1e+22\n");
}

static void output_jsonl__one_object_per_line(void **state)
{
    struct ArrowArray *batches[] = {&mixed, NULL};
    (void)state;
    assert_prints(CLI_FORMAT_JSONL, &mixed_schema, batches,
                  "{\"id\":0,\"na\\\"me\":\"a,\\\"b\\\"\",\"score\":0.5}\n"
                  "{\"id\":1,\"na\\\"me\":\"\",\"score\":-0.0}\n"
                  "{\"id\":2,\"na\\\"me\":\"  x\\ny\",\"score\":null}\n"
                  "{\"id\":9007199254740993,\"na\\\"me\":\"\xE6\xB0\xB4\xE6\xB0\xB4\xC3\xA9z.\","
                  "\"score\":1e+22}\n");
}

static void output_json__an_array_with_a_line_per_element(void **state)
{
    struct ArrowArray one = mixed;
    struct ArrowArray *batches[] = {&one, &one, NULL};
    struct ArrowArray *none[] = {NULL};
    (void)state;
    one.length = 1;
    assert_prints(CLI_FORMAT_JSON, &mixed_schema, batches,
                  "[\n {\"id\":0,\"na\\\"me\":\"a,\\\"b\\\"\",\"score\":0.5},\n"
                  " {\"id\":0,\"na\\\"me\":\"a,\\\"b\\\"\",\"score\":0.5}\n]\n");
    assert_prints(CLI_FORMAT_JSON, &mixed_schema, none, "[]\n");
}

static void output_table__aligned_by_width_not_bytes(void **state)
{
    struct ArrowArray *batches[] = {&mixed, NULL};
    struct ArrowArray *none[] = {NULL};
    (void)state;
    assert_prints(CLI_FORMAT_TABLE, &mixed_schema, batches,
                  "               id | na\"me   | score\n"
                  "------------------+---------+-------\n"
                  "                0 | a,\"b\"   |   0.5\n"
                  "                1 |         |  -0.0\n"
                  "                2 |   x\\ny  |  NULL\n"
                  " 9007199254740993 | \xE6\xB0\xB4\xE6\xB0\xB4\xC3\xA9z. | 1e+22\n"
                  "(4 rows)\n");
    assert_prints(CLI_FORMAT_TABLE, &mixed_schema, none,
                  " id | na\"me | score\n----+-------+-------\n(0 rows)\n");
}

static void output_table__titles_do_not_steer_the_terminal(void **state)
{
    struct ArrowSchema odd = COLUMN_SCHEMA("l", "a\nb\x1b[31m\xC2\x9B"
                                                "c\xC2\xA0");
    struct ArrowSchema *columns[] = {&odd};
    struct ArrowSchema schema = ROWS_SCHEMA(columns);
    struct ArrowArray *none[] = {NULL};
    (void)state;
    assert_prints(CLI_FORMAT_TABLE, &schema, none,
                  " a\\nb\\x1b[31m\\x9bc\xC2\xA0\n--------------------\n(0 rows)\n");
}

static void output_table__streams_after_the_sample(void **state)
{
    struct ArrowSchema *columns[] = {&id_schema};
    struct ArrowSchema schema = ROWS_SCHEMA(columns);
    struct ArrowArray *children[] = {&id_array};
    struct ArrowArray narrow = ROWS(children, 2);
    struct ArrowArray wide = ROWS(children, 4);
    struct ArrowArray *batches[502];
    cli_text expected = {0};
    (void)state;
    cli_text_str(&expected, " id\n----\n");
    for (size_t i = 0; i < 500; i++) {
        batches[i] = &narrow;
        cli_text_str(&expected, "  0\n  1\n");
    }
    batches[500] = &wide;
    batches[501] = NULL;
    cli_text_str(&expected, "  0\n  1\n  2\n 9007199254740993\n(1004 rows)\n");
    assert_prints(CLI_FORMAT_TABLE, &schema, batches, cli_text_c(&expected));
    cli_text_reset(&expected);
}

/* ---- every kind of value ---- */

/* Print one column as JSON values with commas between. */
static void assert_values(struct ArrowSchema *schema, struct ArrowArray *array,
                          const char *expected)
{
    cli_type type = {0};
    cli_text text = {0};
    frz_error err = {0};
    assert_ok(cli_type_init(&type, schema, &err), &err);
    for (int64_t i = 0; i < array->length; i++) {
        cli_text_str(&text, i == 0 ? "" : ",");
        cli_value_json(&text, &type, array, i);
    }
    assert_string_equal(cli_text_c(&text), expected);
    cli_text_reset(&text);
    cli_type_reset(&type);
}

/* The same for fixed-width values without nulls, also as a slice from the second row on. */
static void assert_fixed(const char *format, const void *values, int64_t count,
                         const char *expected)
{
    struct ArrowSchema schema = COLUMN_SCHEMA(format, "x");
    const void *buffers[] = {NULL, values};
    struct ArrowArray array = {.length = count, .n_buffers = 2, .buffers = buffers};
    assert_values(&schema, &array, expected);
    const char *comma = strchr(expected, ',');
    if (comma != NULL && count > 1) {
        array.offset = 1;
        array.length--;
        assert_values(&schema, &array, comma + 1);
    }
}

static void output_value__integers_are_exact(void **state)
{
    static const int8_t i8[] = {-128, 127};
    static const int16_t i16[] = {-32768, 32767};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const uint8_t u8[] = {0, 255};
    static const uint16_t u16[] = {0, 65535};
    static const uint32_t u32[] = {0, UINT32_MAX};
    static const uint64_t u64[] = {0, UINT64_MAX};
    static const uint8_t bits[] = {0x5};
    (void)state;
    assert_fixed("c", i8, 2, "-128,127");
    assert_fixed("s", i16, 2, "-32768,32767");
    assert_fixed("i", i32, 2, "-2147483648,2147483647");
    assert_fixed("l", i64, 2, "-9223372036854775808,9223372036854775807");
    assert_fixed("C", u8, 2, "0,255");
    assert_fixed("S", u16, 2, "0,65535");
    assert_fixed("I", u32, 2, "0,4294967295");
    assert_fixed("L", u64, 2, "0,18446744073709551615");
    assert_fixed("b", bits, 3, "true,false,true");
}

static void output_value__reals_are_shortest_and_never_integers(void **state)
{
    static const float f[] = {0.1f, 16777216.0f, -0.875f, FLT_MAX, 1e-45f};
    static const double d[] = {0.1, 1.0 / 3, 1e15, 123456789012345680.0, -0.0, 5e-324, DBL_MAX};
    double odd[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    assert_fixed("f", f, 5, "0.1,16777216.0,-0.875,3.4028235e+38,1e-45");
    assert_fixed("g", d, 7,
                 "0.1,0.3333333333333333,1e+15,1.2345678901234568e+17,-0.0,"
                 "5e-324,1.7976931348623157e+308");
    assert_fixed("g", odd, 3, "\"NaN\",\"Infinity\",\"-Infinity\"");
}

static void output_value__any_double_survives_the_round_trip(void **state)
{
    uint64_t bits = 88172645463325252u;
    char text[CLI_NUMBER_TEXT];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        double value;
        bits ^= bits << 13; /* xorshift */
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isnan(value) && !isinf(value)) {
            cli_double_text(value, text);
            assert_true(strtod(text, NULL) == value);
            cli_double_text(ldexp((double)(bits >> 11), -53), text);
            assert_true(strtod(text, NULL) == ldexp((double)(bits >> 11), -53));
        }
    }
}

/* The plain way: more digits until the value comes back. */
static void search_digits(double value, char *out)
{
    int digits = 15;
    do {
        snprintf(out, 512, "%.*g", digits++, value);
    } while (strtod(out, NULL) != value);
}

static void output_value__everyday_doubles_as_if_searched(void **state)
{
    char text[CLI_NUMBER_TEXT];
    char expected[512];
    (void)state;
    for (int power = -5; power < 16; power++) {
        double value = pow(10, power);
        for (int i = 0; i < 400; i++) {
            value = i < 100   ? nextafter(value, 0)
                    : i < 300 ? nextafter(value, DBL_MAX)
                              : value * 1.0123456789;
            if (value != floor(value)) {
                search_digits(-value, expected);
                cli_double_text(-value, text);
                assert_string_equal(text, expected);
            }
        }
    }
}

static void output_value__decimals_keep_all_digits(void **state)
{
    static const int64_t words[] = {-233, -1, 5, 0, -99999, -1, 0, 0}; /* low, high */
    static const int64_t largest[] = {(int64_t)0x098a223fffffffff, 0x4b3b4ca85a86c47a};
    (void)state;
    assert_fixed("d:9,2", words, 4, "\"-2.33\",\"0.05\",\"-999.99\",\"0.00\"");
    assert_fixed("d:9,0,128", words, 4, "\"-233\",\"5\",\"-99999\",\"0\"");
    assert_fixed("d:38,38", largest, 1, "\"0.99999999999999999999999999999999999999\"");
}

static void output_value__times_as_iso(void **state)
{
    static const int32_t days[] = {0, -1, -719162, 2932896, 2932897, -719528, -719529, 11016};
    static const int64_t day_ms[] = {0, -1, 86400000};
    static const int64_t micros[] = {0, 86399999998, -1};
    static const int64_t stamps[] = {-1, 1700000000123457, 0};
    static const int64_t nanos[] = {1, -1};
    static const int32_t seconds[] = {3661};
    (void)state;
    assert_fixed("tdD", days, 8,
                 "\"1970-01-01\",\"1969-12-31\",\"0001-01-01\",\"9999-12-31\",\"+10000-01-01\","
                 "\"0000-01-01\",\"-0001-12-31\",\"2000-02-29\"");
    assert_fixed("tdm", day_ms, 3, "\"1970-01-01\",\"1969-12-31\",\"1970-01-02\"");
    assert_fixed("ttu", micros, 3, "\"00:00:00.000000\",\"23:59:59.999998\",\"-00:00:00.000001\"");
    assert_fixed("tts", seconds, 1, "\"01:01:01.000000\"");
    assert_fixed("tsu:", stamps, 3,
                 "\"1969-12-31T23:59:59.999999\",\"2023-11-14T22:13:20.123457\","
                 "\"1970-01-01T00:00:00.000000\"");
    assert_fixed("tsu:UTC", stamps + 1, 1, "\"2023-11-14T22:13:20.123457+00:00\"");
    assert_fixed("tsn:", nanos, 2,
                 "\"1970-01-01T00:00:00.000000001\",\"1969-12-31T23:59:59.999999999\"");
}

static void output_value__bytes_in_hex_and_uuids_canonical(void **state)
{
    static const char metadata[] = "\1\0\0\0\x14\0\0\0ARROW:extension:name\x0a\0\0\0arrow.uuid";
    static const uint8_t bytes[32] = {0x01, 0xff, 0x00, 0x80, 0x10, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    static const int64_t ends[] = {0, 0, 4};
    struct ArrowSchema uuid = COLUMN_SCHEMA("w:16", "u");
    struct ArrowSchema binary = COLUMN_SCHEMA("Z", "b");
    const void *uuid_buffers[] = {NULL, bytes};
    const void *binary_buffers[] = {NULL, ends, bytes};
    struct ArrowArray uuids = {.length = 1, .n_buffers = 2, .buffers = uuid_buffers};
    struct ArrowArray binaries = {.length = 2, .n_buffers = 3, .buffers = binary_buffers};
    (void)state;
    assert_fixed("w:4", bytes, 2, "\"01ff0080\",\"10808080\"");
    assert_values(&binary, &binaries, "\"\",\"01ff0080\"");
    uuid.metadata = metadata;
    assert_values(&uuid, &uuids, "\"01ff0080-1080-8080-8080-808080808080\"");
}

static void output_value__nested_with_offsets_at_every_level(void **state)
{
    /* a list<struct<p: int, q: utf8>>; each level is shifted by one slot of rubbish */
    static const int32_t p[] = {-9, -9, 10, 11, 12};
    static const int32_t q_ends[] = {0, 1, 2, 3, 4, 5};
    static const uint8_t q_valid[] = {0x17}; /* slot 3 is null */
    static const uint8_t s_valid[] = {0xFF};
    static const int32_t list_ends[] = {-1, 0, 2, 2, 3};
    static const uint8_t list_valid[] = {0xF};
    const void *p_buffers[] = {NULL, p};
    const void *q_buffers[] = {q_valid, q_ends, "..abc"};
    const void *s_buffers[] = {s_valid};
    const void *list_buffers[] = {list_valid, list_ends};
    struct ArrowSchema p_schema = COLUMN_SCHEMA("i", "p");
    struct ArrowSchema q_schema = COLUMN_SCHEMA("u", "q");
    struct ArrowSchema *fields[] = {&p_schema, &q_schema};
    struct ArrowSchema item = {.format = "+s", .name = "item", .n_children = 2, .children = fields};
    struct ArrowSchema *items[] = {&item};
    struct ArrowSchema list = {.format = "+l", .name = "l", .n_children = 1, .children = items};
    struct ArrowArray p_array = {.length = 4, .offset = 1, .n_buffers = 2, .buffers = p_buffers};
    struct ArrowArray q_array = {
        .length = 4, .null_count = 1, .offset = 1, .n_buffers = 3, .buffers = q_buffers};
    struct ArrowArray *parts[] = {&p_array, &q_array};
    struct ArrowArray s_array = {.length = 3,
                                 .offset = 1,
                                 .null_count = -1,
                                 .n_buffers = 1,
                                 .buffers = s_buffers,
                                 .n_children = 2,
                                 .children = parts};
    struct ArrowArray *elements[] = {&s_array};
    struct ArrowArray array = {.length = 3,
                               .offset = 1,
                               .null_count = -1,
                               .n_buffers = 2,
                               .buffers = list_buffers,
                               .n_children = 1,
                               .children = elements};
    (void)state;
    assert_values(&list, &array,
                  "[{\"p\":10,\"q\":\"a\"},{\"p\":11,\"q\":null}],[],[{\"p\":12,\"q\":\"c\"}]");
}

static void output_value__maps_and_fixed_lists(void **state)
{
    static const int32_t numbers[] = {1, 2, 3, 4};
    static const int32_t ends[] = {0, 1, 2};
    const void *number_buffers[] = {NULL, numbers};
    const void *map_buffers[] = {NULL, ends};
    struct ArrowSchema a = COLUMN_SCHEMA("i", "keys");
    struct ArrowSchema b = COLUMN_SCHEMA("i", "vals");
    struct ArrowSchema *pair[] = {&a, &b};
    struct ArrowSchema entry = {
        .format = "+s", .name = "entries", .n_children = 2, .children = pair};
    struct ArrowSchema *entries[] = {&entry};
    struct ArrowSchema map = {.format = "+m", .name = "m", .n_children = 1, .children = entries};
    struct ArrowSchema *element[] = {&a};
    struct ArrowSchema fixed = {
        .format = "+w:2", .name = "f", .n_children = 1, .children = element};
    struct ArrowArray array = {.length = 4, .n_buffers = 2, .buffers = number_buffers};
    struct ArrowArray *both[] = {&array, &array};
    struct ArrowArray entry_array = {
        .length = 4, .n_buffers = 1, .buffers = no_validity, .n_children = 2, .children = both};
    struct ArrowArray *entry_list[] = {&entry_array};
    struct ArrowArray map_array = {.length = 2,
                                   .n_buffers = 2,
                                   .buffers = map_buffers,
                                   .n_children = 1,
                                   .children = entry_list};
    struct ArrowArray *element_list[] = {&array};
    struct ArrowArray fixed_array = {.length = 1,
                                     .offset = 1,
                                     .n_buffers = 1,
                                     .buffers = no_validity,
                                     .n_children = 1,
                                     .children = element_list};
    (void)state;
    assert_values(&map, &map_array, "[{\"key\":1,\"value\":1}],[{\"key\":2,\"value\":2}]");
    assert_values(&fixed, &fixed_array, "[3,4]");
}

static void output_value__dictionaries_and_nulls(void **state)
{
    static const int8_t indices[] = {1, 0, 1};
    static const int32_t ends[] = {0, 1, 3};
    const void *index_buffers[] = {NULL, indices};
    const void *value_buffers[] = {NULL, ends, "xyz"};
    struct ArrowSchema values = COLUMN_SCHEMA("u", "");
    struct ArrowSchema dictionary = COLUMN_SCHEMA("c", "d");
    struct ArrowSchema nothing = COLUMN_SCHEMA("n", "n");
    struct ArrowArray value_array = {.length = 2, .n_buffers = 3, .buffers = value_buffers};
    struct ArrowArray array = {
        .length = 3, .n_buffers = 2, .buffers = index_buffers, .dictionary = &value_array};
    struct ArrowArray nulls = {.length = 2, .null_count = 2};
    (void)state;
    dictionary.dictionary = &values;
    assert_values(&dictionary, &array, "\"yz\",\"x\",\"yz\"");
    assert_values(&nothing, &nulls, "null,null");
}

/* ---- failures ---- */

static void output_value__halves_are_shortest(void **state)
{
    static const uint16_t halves[] = {0x0000, 0x8000, 0x3C00, 0x2E66, 0x7BFF, 0x0001,
                                      0x3555, 0x7C00, 0xFC00, 0x7E01, 0x0400, 0xC248};
    (void)state;
    assert_fixed(
        "e", halves, 12,
        "0.0,-0.0,1.0,0.1,65504.0,6e-08,0.3333,\"Infinity\",\"-Infinity\",\"NaN\",6.104e-05,"
        "-3.14");
}

static void output_value__decimals_of_every_width(void **state)
{
    static const int32_t narrow[] = {-5, 12345};
    static const int64_t wide[] = {-1, 123456789012345678};
    static const int64_t widest[] = {-1, -1, -1, -1, 0, 0, 0, INT64_MIN, 7, 0, 0, 0};
    (void)state;
    assert_fixed("d:9,2,32", narrow, 2, "\"-0.05\",\"123.45\"");
    assert_fixed("d:18,3,64", wide, 2, "\"-0.001\",\"123456789012345.678\"");
    assert_fixed("d:76,0,256", widest, 3,
                 "\"-1\",\"-578960446186580977117854925043439539266349923328202820197287920039565"
                 "64819968\",\"7\"");
    assert_fixed("d:76,76,256", widest, 1,
                 "\"-0.000000000000000000000000000000000000000000000000000000000000000000000000000"
                 "1\"");
    assert_fixed("d:9,-3,32", narrow, 2, "\"-5000\",\"12345000\"");
}

static void output_value__durations_and_intervals(void **state)
{
    static const int64_t lengths[] = {0, -1500, INT64_MIN};
    static const int32_t months[] = {14, -1};
    static const int32_t days[] = {2, -1500, 0, 0};
    static const int32_t all[] = {1, -2, -1, -1, 0, 0, 0, 0}; /* nanoseconds in two words */
    (void)state;
    assert_fixed("tDs", lengths, 2, "\"PT0.000000S\",\"PT-1500.000000S\"");
    assert_fixed("tDm", lengths, 2, "\"PT0.000000S\",\"PT-1.500000S\"");
    assert_fixed("tDn", lengths, 3,
                 "\"PT0.000000000S\",\"PT-0.000001500S\",\"PT-9223372036.854775808S\"");
    assert_fixed("tiM", months, 2, "\"P14M\",\"P-1M\"");
    assert_fixed("tiD", days, 2, "\"P0M2DT-1.500000S\",\"P0M0DT0.000000S\"");
    assert_fixed("tin", all, 2, "\"P1M-2DT-0.000000001S\",\"P0M0DT0.000000000S\"");
}

static void output_value__views(void **state)
{
    static const char elsewhere[] = "....longer than twelve";
    struct {
        int32_t len;
        char text[12];
    } views[] = {{2, "ab"}, {0, ""}, {18, ""}};
    static const int32_t where[] = {0, 4};
    static const int64_t sizes[] = {sizeof elsewhere};
    static const uint8_t second_is_null[] = {0x5};
    const void *buffers[] = {second_is_null, views, elsewhere, sizes};
    struct ArrowSchema text = COLUMN_SCHEMA("vu", "t");
    struct ArrowSchema bytes = COLUMN_SCHEMA("vz", "b");
    struct ArrowArray array = {.length = 3, .null_count = 1, .n_buffers = 4, .buffers = buffers};
    (void)state;
    memcpy(views[2].text, "long", 4);
    memcpy(views[2].text + 4, where, sizeof where);
    assert_values(&text, &array, "\"ab\",null,\"longer than twelve\"");
    assert_values(&bytes, &array, "\"6162\",null,\"6c6f6e676572207468616e207477656c7665\"");
}

static void output_value__list_views(void **state)
{
    static const int16_t items[] = {1, 2, 3, 4};
    static const int32_t offsets[] = {2, 0, 3};
    static const int32_t counts[] = {2, 3, 0};
    static const int64_t large_offsets[] = {2, 0, 3};
    static const int64_t large_counts[] = {2, 3, 0};
    const void *item_buffers[] = {NULL, items};
    const void *buffers[] = {NULL, offsets, counts};
    const void *large_buffers[] = {NULL, large_offsets, large_counts};
    struct ArrowArray item = {.length = 4, .n_buffers = 2, .buffers = item_buffers};
    struct ArrowArray *children[] = {&item};
    struct ArrowSchema item_schema = COLUMN_SCHEMA("s", "item");
    struct ArrowSchema *child_schemas[] = {&item_schema};
    struct ArrowSchema schema = {
        .format = "+vl", .name = "v", .n_children = 1, .children = child_schemas};
    struct ArrowArray array = {
        .length = 3, .n_buffers = 3, .buffers = buffers, .n_children = 1, .children = children};
    (void)state;
    assert_values(&schema, &array, "[3,4],[1,2,3],[]");
    schema.format = "+vL";
    array.buffers = large_buffers;
    assert_values(&schema, &array, "[3,4],[1,2,3],[]");
}

static void output_value__unions(void **state)
{
    static const int8_t codes[] = {5, 0, 5, 0};
    static const int32_t offsets[] = {0, 0, 1, 1};
    static const int64_t numbers[] = {10, 11, 12, 13};
    static const uint8_t bits[] = {0x1};
    static const uint8_t first_is_valid[] = {0x1};
    const void *number_buffers[] = {NULL, numbers};
    const void *bit_buffers[] = {first_is_valid, bits};
    const void *dense_buffers[] = {codes, offsets};
    struct ArrowArray number = {.length = 4, .n_buffers = 2, .buffers = number_buffers};
    struct ArrowArray bit = {.length = 4, .null_count = 3, .n_buffers = 2, .buffers = bit_buffers};
    struct ArrowArray *children[] = {&number, &bit};
    struct ArrowSchema number_schema = COLUMN_SCHEMA("l", "n");
    struct ArrowSchema bit_schema = COLUMN_SCHEMA("b", "b");
    struct ArrowSchema *child_schemas[] = {&number_schema, &bit_schema};
    struct ArrowSchema schema = {
        .format = "+ud:0,5", .name = "u", .n_children = 2, .children = child_schemas};
    struct ArrowArray array = {.length = 4,
                               .n_buffers = 2,
                               .buffers = dense_buffers,
                               .n_children = 2,
                               .children = children};
    (void)state;
    assert_values(&schema, &array, "true,10,null,11");
    schema.format = "+us:0,5";
    array.n_buffers = 1;
    assert_values(&schema, &array, "true,11,null,13");
}

static void output_value__runs(void **state)
{
    static const int16_t ends[] = {2, 3, 6};
    static const int32_t values[] = {7, 8, 9};
    static const uint8_t second_is_null[] = {0x5};
    const void *end_buffers[] = {NULL, ends};
    const void *value_buffers[] = {second_is_null, values};
    struct ArrowArray end = {.length = 3, .n_buffers = 2, .buffers = end_buffers};
    struct ArrowArray value = {
        .length = 3, .null_count = 1, .n_buffers = 2, .buffers = value_buffers};
    struct ArrowArray *children[] = {&end, &value};
    struct ArrowSchema end_schema = COLUMN_SCHEMA("s", "run_ends");
    struct ArrowSchema value_schema = COLUMN_SCHEMA("i", "values");
    struct ArrowSchema *child_schemas[] = {&end_schema, &value_schema};
    struct ArrowSchema schema = {
        .format = "+r", .name = "r", .n_children = 2, .children = child_schemas};
    struct ArrowArray array = {.length = 5, .offset = 1, .n_children = 2, .children = children};
    (void)state;
    assert_values(&schema, &array, "7,null,9,9,9");
}

static void output_type__unknown_formats_are_named(void **state)
{
    static const char *const formats[] = {"x",     "+x", "d:9", "d:9,2,48", "+l",
                                          "+ud:0", "ts", "w:",  "tsx:"};
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct ArrowSchema schema = COLUMN_SCHEMA(formats[i], "odd");
        cli_type type = {0};
        frz_error err = {0};
        assert_fails(cli_type_init(&type, &schema, &err), &err, FRZ_E_UNSUPPORTED, formats[i]);
        cli_type_reset(&type);
    }
}

static void output_jsonl__bytes_that_are_no_text_are_an_error(void **state)
{
    static const int32_t ends[] = {0, 2};
    const void *buffers[] = {NULL, ends, "\xC3("};
    struct ArrowArray bad = {.length = 1, .n_buffers = 3, .buffers = buffers};
    struct ArrowSchema text_schema = COLUMN_SCHEMA("u", "t");
    struct ArrowSchema *columns[] = {&text_schema};
    struct ArrowSchema schema = ROWS_SCHEMA(columns);
    struct ArrowArray *children[] = {&bad};
    struct ArrowArray rows = ROWS(children, 1);
    struct ArrowArray *batches[] = {&rows, NULL};
    given_stream given = {&schema, batches, 0};
    struct ArrowArrayStream stream = {given_schema, given_next, given_error, NULL, &given};
    cli_out out = {.fd = -1, .name = "memory"};
    frz_error err = {0};
    (void)state;
    assert_fails(cli_output_stream(&out, CLI_FORMAT_JSONL, &stream, NULL, &err), &err,
                 FRZ_E_UNSUPPORTED, "not UTF-8");
    cli_text_reset(&out.text);
}

static void output_stream__an_early_failure_prints_nothing(void **state)
{
    struct ArrowArray *batches[] = {NULL};
    given_stream given = {&mixed_schema, batches, EIO};
    struct ArrowArrayStream stream = {given_schema, given_next, given_error, NULL, &given};
    cli_out out = {.fd = -1, .name = "memory"};
    frz_error err = {0};
    (void)state;
    assert_fails(cli_output_stream(&out, CLI_FORMAT_CSV, &stream, NULL, &err), &err, FRZ_E_IO,
                 "the page is torn");
    assert_int_equal(out.text.len, 0);
    cli_text_reset(&out.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_csv__quotes_what_needs_it_and_tells_null_from_empty),
        cmocka_unit_test(output_jsonl__one_object_per_line),
        cmocka_unit_test(output_json__an_array_with_a_line_per_element),
        cmocka_unit_test(output_table__aligned_by_width_not_bytes),
        cmocka_unit_test(output_table__titles_do_not_steer_the_terminal),
        cmocka_unit_test(output_table__streams_after_the_sample),
        cmocka_unit_test(output_value__integers_are_exact),
        cmocka_unit_test(output_value__reals_are_shortest_and_never_integers),
        cmocka_unit_test(output_value__any_double_survives_the_round_trip),
        cmocka_unit_test(output_value__everyday_doubles_as_if_searched),
        cmocka_unit_test(output_value__decimals_keep_all_digits),
        cmocka_unit_test(output_value__times_as_iso),
        cmocka_unit_test(output_value__bytes_in_hex_and_uuids_canonical),
        cmocka_unit_test(output_value__nested_with_offsets_at_every_level),
        cmocka_unit_test(output_value__maps_and_fixed_lists),
        cmocka_unit_test(output_value__dictionaries_and_nulls),
        cmocka_unit_test(output_value__halves_are_shortest),
        cmocka_unit_test(output_value__decimals_of_every_width),
        cmocka_unit_test(output_value__durations_and_intervals),
        cmocka_unit_test(output_value__views),
        cmocka_unit_test(output_value__list_views),
        cmocka_unit_test(output_value__unions),
        cmocka_unit_test(output_value__runs),
        cmocka_unit_test(output_type__unknown_formats_are_named),
        cmocka_unit_test(output_jsonl__bytes_that_are_no_text_are_an_error),
        cmocka_unit_test(output_stream__an_early_failure_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
