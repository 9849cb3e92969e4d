#include <math.h>

#include "type/type_schema.h"
#include "type/type_value.h"
#include "unit/test_alloc.h"

static json_t *loaded(const char *text)
{
    json_error_t fault;
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &fault);
    if (json == NULL) {
        fail_msg("%s: %s", fault.text, text);
    }
    return json;
}

static const char whole_schema[] =
    "{\"type\":\"struct\",\"schema-id\":3,\"identifier-field-ids\":[1],\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\",\"doc\":\"the key\"},"
    "{\"id\":2,\"name\":\"price\",\"required\":false,\"type\":\"decimal(9, 2)\","
    "\"initial-default\":\"14.20\",\"write-default\":\"0.00\"},"
    "{\"id\":3,\"name\":\"tags\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":4,"
    "\"element\":\"string\",\"element-required\":true}},"
    "{\"id\":5,\"name\":\"attrs\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":6,"
    "\"key\":\"string\",\"value-id\":7,\"value\":{\"type\":\"struct\",\"fields\":["
    "{\"id\":8,\"name\":\"x\",\"required\":false,\"type\":\"fixed[4]\"},"
    "{\"id\":9,\"name\":\"y\",\"required\":false,\"type\":\"timestamptz_ns\"}]},"
    "\"value-required\":false}},"
    "{\"id\":10,\"name\":\"g\",\"required\":false,\"type\":\"geography(OGC:CRS84, karney)\"},"
    "{\"id\":11,\"name\":\"s\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[]},"
    "\"initial-default\":{}}"
    "]}";

static void schema_json__there_and_back(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_schema *schema = NULL;
    json_t *json = loaded(whole_schema);
    json_t *back = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_schema_from_json(&arena, json, "schemas[0]", &schema, &err), &err);
    assert_int_equal(schema->schema_id, 3);
    assert_int_equal(schema->identifier_ids[0], 1);
    assert_int_equal(schema->type->field_count, 6);
    assert_true(frz_str_equal(schema->type->fields[0].doc, FRZ_STR("the key")));
    assert_int_equal(schema->type->fields[1].initial_default->as.i128, 1420);
    assert_true(schema->type->fields[2].type->fields[0].required);
    assert_true(schema->type->fields[3].type->fields[0].required);
    assert_false(schema->type->fields[5].initial_default->is_null);
    assert_ok(frz_schema_to_json(schema, &back, &err), &err);
    char *text = json_dumps(back, JSON_COMPACT);
    assert_string_equal(text, whole_schema);
    free(text);
    json_decref(back);
    json_decref(json);
    frz_arena_reset(&arena);
}

#define FIELD(more) "{\"type\":\"struct\",\"fields\":[{" more "}]}"
#define TYPED(type) FIELD("\"id\":1,\"name\":\"a\",\"required\":false,\"type\":" type)

static void schema_json__rejections_name_the_place(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"[]", "schemas[0]: expected a schema, found a list"},
        {"{}", "schemas[0].type: expected \"struct\", found nothing"},
        {"{\"type\":\"struct\"}", "schemas[0].fields: expected a list of fields, found nothing"},
        {"{\"type\":\"struct\",\"fields\":7}",
         "schemas[0].fields: expected a list of fields, found a whole number"},
        {"{\"type\":\"struct\",\"fields\":[],\"schema-id\":\"1\"}",
         "schemas[0].schema-id: expected a whole number, found a string"},
        {"{\"type\":\"struct\",\"fields\":[],\"identifier-field-ids\":[4]}",
         "schemas[0].identifier-field-ids[0]: the schema has no field id 4"},
        {"{\"type\":\"struct\",\"fields\":[],\"identifier-field-ids\":4}",
         "schemas[0].identifier-field-ids: expected a list of field ids, found a whole number"},
        {"{\"type\":\"struct\",\"fields\":[null]}",
         "schemas[0].fields[0]: expected a field, found null"},
        {FIELD("\"name\":\"a\""),
         "schemas[0].fields[0].id: expected a whole number, found nothing"},
        {FIELD("\"id\":-1"), "fields[0].id: expected a number between 0 and 2147483647, found -1"},
        {FIELD("\"id\":2147483648"), "found 2147483648"},
        {FIELD("\"id\":1.0"), "fields[0].id: expected a whole number, found a fraction"},
        {FIELD("\"id\":1,\"name\":null"), "fields[0].name: expected a string, found null"},
        {FIELD("\"id\":1,\"name\":\"a\\u0000b\""), "fields[0].name: the text has a NUL character"},
        {FIELD("\"id\":1,\"name\":\"a\",\"required\":1"),
         "fields[0].required: expected true or false, found a whole number"},
        {FIELD("\"id\":1,\"name\":\"a\",\"required\":true"),
         "fields[0].type: expected a type, found nothing"},
        {TYPED("\"complex\""), "fields[0].type: expected a type, found \"complex\""},
        {TYPED("\"decimal(40, 2)\""), "precision of a decimal is between 1 and 38, found 40"},
        {TYPED("{}"), "fields[0].type.type: expected struct, list or map, found nothing"},
        {TYPED("{\"type\":\"set\"}"),
         "fields[0].type: expected struct, list or map, found \"set\""},
        {TYPED("{\"type\":\"list\"}"), "fields[0].type.element-id: expected a whole number"},
        {TYPED("{\"type\":\"map\",\"key-id\":2,\"key\":\"int\",\"value-id\":3,\"value\":\"what\","
               "\"value-required\":true}"),
         "fields[0].type.value: expected a type, found \"what\""},
        {TYPED("\"int\",\"doc\":7"), "fields[0].doc: expected a string, found a whole number"},
        {TYPED("\"int\",\"initial-default\":\"x\""),
         "schemas[0].fields[0].initial-default: expected a whole number"},
        {TYPED("\"date\",\"write-default\":\"x\""),
         "schemas[0].fields[0].write-default: expected a date like 2026-11-01, found \"x\""},
        {"{\"type\":\"struct\",\"fields\":["
         "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"int\"},"
         "{\"id\":1,\"name\":\"b\",\"required\":false,\"type\":\"int\"}]}",
         "schemas[0]: field id 1 is there more than once"},
        {"{\"type\":\"struct\",\"fields\":["
         "{\"id\":1,\"name\":\"a\",\"required\":false,\"type\":\"int\"},"
         "{\"id\":2,\"name\":\"a\",\"required\":false,\"type\":\"int\"}]}",
         "schemas[0].fields: name \"a\" is there more than once"},
    };
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        const frz_schema *schema = NULL;
        json_t *json = loaded(cases[i].json);
        assert_fails(frz_schema_from_json(&arena, json, "schemas[0]", &schema, &err), &err,
                     FRZ_E_CORRUPT, cases[i].message);
        assert_null(schema);
        json_decref(json);
    }
    frz_arena_reset(&arena);
}

static void schema_json__nesting_is_limited(void **state)
{
    frz_arena arena;
    frz_buf text = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (int depth = 64; depth <= 65; depth++) {
        frz_error err = {0};
        const frz_schema *schema = NULL;
        frz_buf_clear(&text);
        frz_buf_append_str(&text,
                           "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\","
                           "\"required\":false,\"type\":",
                           NULL);
        for (int i = 0; i < depth; i++) {
            frz_buf_printf(&text, NULL,
                           "{\"type\":\"list\",\"element-id\":%d,\"element-required\":false,"
                           "\"element\":",
                           i + 2);
        }
        frz_buf_append_str(&text, "\"int\"", NULL);
        for (int i = 0; i < depth; i++) {
            frz_buf_append_byte(&text, '}', NULL);
        }
        frz_buf_append_str(&text, "}]}", NULL);
        frz_buf_append_byte(&text, 0, NULL);
        json_t *json = loaded((const char *)text.data);
        frz_code rc = frz_schema_from_json(&arena, json, "s", &schema, &err);
        assert_int_equal(rc, depth == 64 ? FRZ_OK : FRZ_E_LIMIT);
        json_decref(json);
    }
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
}

static void schema_json__unknown_members_are_ignored(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_schema *schema = NULL;
    json_t *json = loaded("{\"type\":\"struct\",\"new\":{},\"fields\":[{\"id\":1,\"name\":\"\","
                          "\"required\":false,\"type\":\"int\",\"doc\":null,"
                          "\"initial-default\":null,\"later\":[1]}]}");
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_schema_from_json(&arena, json, "schema", &schema, &err), &err);
    assert_int_equal(schema->schema_id, 0);
    assert_null(schema->type->fields[0].initial_default);
    assert_null(schema->type->fields[0].doc.ptr);
    json_decref(json);
    frz_arena_reset(&arena);
}

/* ---- values ---- */

static void value_json__there_and_back(void **state)
{
    static const struct {
        const char *type, *json, *back; /* NULL: the same; "": rejected */
    } cases[] = {
        {"boolean", "true", NULL},
        {"int", "-5", NULL},
        {"int", "2147483648", ""},
        {"int", "1.0", ""},
        {"long", "9223372036854775807", NULL},
        {"float", "0.5", NULL},
        {"float", "9.9900000000000002", NULL},
        {"float", "1e39", ""},
        {"double", "\"NaN\"", NULL},
        {"double", "\"-Infinity\"", NULL},
        {"double", "3", "3.0"},
        {"double", "true", ""},
        {"decimal(9,2)", "\"14.20\"", NULL},
        {"decimal(9,2)", "14.2", ""},
        {"date", "\"2017-11-16\"", NULL},
        {"time", "\"22:31:08.123456\"", NULL},
        {"timestamp", "\"2017-11-16T22:31:08.123456\"", NULL},
        {"timestamptz", "\"2017-11-16T22:31:08.123456+00:00\"", NULL},
        {"timestamptz_ns", "\"2017-11-16T22:31:08.123456789+00:00\"", NULL},
        {"string", "\"\\u0000 x\"", NULL},
        {"uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"", NULL},
        {"fixed[4]", "\"000102ff\"", NULL},
        {"fixed[4]", "\"000102\"", ""},
        {"binary", "\"000102FF\"", "\"000102ff\""},
        {"binary", "\"\"", NULL},
        {"geometry", "\"00\"", ""},
        {"unknown", "1", ""},
        {"unknown", "null", NULL},
        {"string", "null", NULL},
    };
    frz_error err = {0};
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const frz_type *type = NULL;
        frz_value value = {0};
        json_t *back = NULL;
        json_t *json = loaded(cases[i].json);
        const char *wanted = cases[i].back == NULL ? cases[i].json : cases[i].back;
        assert_ok(frz_type_parse(&arena, frz_str_from(cases[i].type), &type, &err), &err);
        if (wanted[0] == '\0') {
            assert_fails(frz_value_from_json(&arena, type, json, "x.y", &value, &err), &err,
                         FRZ_E_CORRUPT, "x.y: expected ");
            json_decref(json);
            err = (frz_error){0};
            continue;
        }
        assert_ok(frz_value_from_json(&arena, type, json, "x.y", &value, &err), &err);
        assert_ok(frz_value_to_json(&value, &back, &err), &err);
        char *text = json_dumps(back, JSON_ENCODE_ANY);
        assert_string_equal(text, wanted);
        free(text);
        json_decref(back);
        json_decref(json);
    }
    frz_arena_reset(&arena);
}

/* ---- name mapping ---- */

static frz_field plain(const char *name, const frz_type *type)
{
    return (frz_field){.id = FRZ_ID_NONE, .name = frz_str_from(name), .type = type};
}

static void mapping__fills_in_ids_by_name(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_name_mapping mapping = {0};
    const frz_type *mapped = NULL;
    char text[300];
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    frz_field inner[] = {plain("lat", number), plain("height", number)};
    frz_type point = {.id = FRZ_TYPE_STRUCT, .fields = inner, .field_count = 2};
    frz_field element = plain("element", &point);
    frz_type list = {.id = FRZ_TYPE_LIST, .fields = &element, .field_count = 1};
    frz_field pair[] = {plain("key", number), plain("value", number)};
    frz_type map = {.id = FRZ_TYPE_MAP, .fields = pair, .field_count = 2};
    frz_field top[] = {plain("old", number), plain("nobody", &point), plain("ps", &list),
                       plain("m", &map), plain("a", number)};
    frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = top, .field_count = 5};
    top[4].id = 77; /* has an id: the mapping is not asked */
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(
        frz_name_mapping_parse(
            &arena,
            FRZ_STR("[{\"field-id\":1,\"names\":[\"a\",\"old\"]},"
                    "{\"field-id\":2,\"names\":[\"ps\"],\"fields\":[{\"field-id\":3,\"names\":"
                    "[\"element\"],\"fields\":[{\"field-id\":4,\"names\":[\"lat\"]}]}]},"
                    "{\"field-id\":5,\"names\":[\"m\"],\"fields\":[{\"field-id\":6,\"names\":["
                    "\"key\"]},{\"names\":[\"value\"]}]}]"),
            &mapping, &err),
        &err);
    assert_ok(frz_name_mapping_apply(&arena, &mapping, &root, &mapped, &err), &err);
    assert_string_equal(frz_type_text(mapped, text, sizeof text),
                        "struct<1: old: long, nobody: struct<lat: long, height: long>, "
                        "2: ps: list<struct<4: lat: long, height: long>>, 5: m: map<long, long>, "
                        "77: a: long>");
    assert_int_equal(mapped->fields[2].type->fields[0].id, 3);
    assert_int_equal(mapped->fields[3].type->fields[0].id, 6);
    assert_int_equal(mapped->fields[3].type->fields[1].id, FRZ_ID_NONE);
    top[4].id = FRZ_ID_NONE; /* now both of its names are there */
    assert_fails(frz_name_mapping_apply(&arena, &mapping, &root, &mapped, &err), &err,
                 FRZ_E_CORRUPT, "field id 1 is there more than once");
    frz_arena_reset(&arena);
}

/* Ids on the outside and none inside, and the other way round: each part without ids gets its own.
 */
static void mapping__fills_in_parts_without_ids(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_name_mapping mapping = {0};
    const frz_type *mapped = NULL;
    char text[300];
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    frz_field inner[] = {plain("x", number), plain("y", number)};
    frz_type point = {.id = FRZ_TYPE_STRUCT, .fields = inner, .field_count = 2};
    frz_field element = plain("element", &point);
    frz_type list = {.id = FRZ_TYPE_LIST, .fields = &element, .field_count = 1};
    frz_field known[] = {plain("x", number)};
    known[0].id = 9;
    frz_type half = {.id = FRZ_TYPE_STRUCT, .fields = known, .field_count = 1};
    frz_field top[] = {plain("renamed", &point), plain("l", &list), plain("h", &half),
                       plain("twin", number)};
    frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = top, .field_count = 4};
    top[0].id = 1; /* by its id, whatever its name */
    top[1].id = 4;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(
        frz_name_mapping_parse(
            &arena,
            FRZ_STR("[{\"field-id\":1,\"names\":[\"p\"],\"fields\":[{\"field-id\":2,\"names\":["
                    "\"x\"]},{\"field-id\":3,\"names\":[\"y\"]}]},"
                    "{\"field-id\":4,\"names\":[\"l\"],\"fields\":[{\"field-id\":5,\"names\":["
                    "\"element\"],\"fields\":[{\"field-id\":6,\"names\":[\"y\"]}]}]},"
                    "{\"field-id\":8,\"names\":[\"h\"],\"fields\":[{\"field-id\":10,\"names\":["
                    "\"x\"]}]},{\"field-id\":9,\"names\":[\"twin\"]}]"),
            &mapping, &err),
        &err);
    assert_ok(frz_name_mapping_apply(&arena, &mapping, &root, &mapped, &err), &err);
    assert_string_equal(frz_type_text(mapped, text, sizeof text),
                        "struct<1: renamed: struct<2: x: long, 3: y: long>, "
                        "4: l: list<struct<x: long, 6: y: long>>, "
                        "8: h: struct<9: x: long>, twin: long>");
    assert_int_equal(mapped->fields[1].type->fields[0].id, 5);
    frz_arena_reset(&arena);
}

static void mapping__of_a_schema_applies_to_its_names(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_schema *schema = NULL;
    const frz_type *mapped = NULL;
    frz_name_mapping mapping = {0};
    frz_buf text = FRZ_BUF_INIT(*state, 10000);
    json_t *json = loaded(whole_schema);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_schema_from_json(&arena, json, "s", &schema, &err), &err);
    assert_ok(frz_name_mapping_of(*state, schema->type, &text, &err), &err);
    assert_true(
        frz_str_starts_with(frz_buf_view(&text), FRZ_STR("[{\"field-id\":1,\"names\":[\"id\"]},")));
    assert_ok(frz_name_mapping_parse(&arena, frz_buf_view(&text), &mapping, &err), &err);
    assert_int_equal(mapping.field_count, 6);
    frz_field fields[6];
    memcpy(fields, schema->type->fields, sizeof fields);
    fields[0].id = FRZ_ID_NONE;
    frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 6};
    assert_ok(frz_name_mapping_apply(&arena, &mapping, &root, &mapped, &err), &err);
    assert_true(frz_type_equal(mapped, schema->type));
    json_decref(json);
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
}

static void mapping__names_are_escaped(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_name_mapping mapping = {0};
    frz_buf text = FRZ_BUF_INIT(*state, 10000);
    frz_field field = {
        .id = 1, .name = FRZ_STR("a\"\\\n\x01 \xC3\xA9"), .type = frz_type_primitive(FRZ_TYPE_INT)};
    frz_type root = {.id = FRZ_TYPE_STRUCT, .fields = &field, .field_count = 1};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_name_mapping_of(*state, &root, &text, &err), &err);
    assert_ok(frz_name_mapping_parse(&arena, frz_buf_view(&text), &mapping, &err), &err);
    assert_true(frz_str_equal(mapping.fields[0].names[0], field.name));
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
}

static void mapping__bad_json_is_corrupt(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"", "name mapping: "},
        {"{}", "expected a list of fields"},
        {"[1]", "expected an object"},
        {"[{\"field-id\":1}]", "expected a list of names"},
        {"[{\"field-id\":-1,\"names\":[]}]", "field-id is not a 32-bit number from 0 on"},
        {"[{\"field-id\":\"1\",\"names\":[]}]", "field-id is not a 32-bit number from 0 on"},
        {"[{\"names\":[1]}]", "a name is not a string"},
        {"[{\"names\":[\"a\"],\"fields\":{}}]", "expected a list of fields"},
        {"[{\"field-id\":1,\"names\":[\"a\"]},{\"field-id\":2,\"names\":[\"b\",\"a\"]}]",
         "name \"a\" is there more than once"},
    };
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_name_mapping mapping = {0};
        assert_fails(frz_name_mapping_parse(&arena, frz_str_from(cases[i].json), &mapping, &err),
                     &err, FRZ_E_CORRUPT, cases[i].message);
    }
    frz_arena_reset(&arena);
}

static frz_code scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_schema *schema;
    const frz_type *mapped;
    frz_name_mapping mapping;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    json_t *json = loaded(whole_schema);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_schema_from_json(&arena, json, "s", &schema, err));
    FRZ_TRY(frz_schema_copy(&arena, schema, &schema, err));
    FRZ_TRY(frz_name_mapping_of(env, schema->type, &text, err));
    FRZ_TRY(frz_name_mapping_parse(&arena, frz_buf_view(&text), &mapping, err));
    FRZ_TRY(frz_name_mapping_apply(&arena, &mapping, schema->type, &mapped, err));
    FRZ_TRY(frz_type_print(mapped, &text, err));
out:
    json_decref(json);
    frz_buf_reset(&text);
    frz_arena_reset(&arena);
    return rc;
}

static void json__no_failed_allocation_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario) > 5);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(schema_json__there_and_back),
        TEST_WITH_ENV(schema_json__rejections_name_the_place),
        TEST_WITH_ENV(schema_json__nesting_is_limited),
        TEST_WITH_ENV(schema_json__unknown_members_are_ignored),
        TEST_WITH_ENV(value_json__there_and_back),
        TEST_WITH_ENV(mapping__fills_in_ids_by_name),
        TEST_WITH_ENV(mapping__fills_in_parts_without_ids),
        TEST_WITH_ENV(mapping__of_a_schema_applies_to_its_names),
        TEST_WITH_ENV(mapping__names_are_escaped),
        TEST_WITH_ENV(mapping__bad_json_is_corrupt),
        cmocka_unit_test(json__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
