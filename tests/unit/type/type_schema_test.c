#include "type/type_schema.h"
#include "type/type_value.h"
#include "unit/test_support.h"

static const frz_type *parsed(frz_arena *arena, const char *text)
{
    frz_error err = {0};
    const frz_type *type = NULL;
    assert_ok(frz_type_parse(arena, frz_str_from(text), &type, &err), &err);
    return type;
}

static frz_field field_of(int32_t id, const char *name, const frz_type *type)
{
    return (frz_field){.id = id, .name = frz_str_from(name), .type = type};
}

/* 1 a long, 2 s struct<4 x int, 5 list<6 struct<7 y string>>>, 3 m map<8 string, 9 double> */
static const frz_type *nested(frz_arena *arena)
{
    frz_error err = {0};
    const frz_type *inner;
    const frz_type *s;
    const frz_type *root;
    frz_type *list = frz_arena_alloc(arena, sizeof *list);
    frz_type *map = frz_arena_alloc(arena, sizeof *map);
    frz_field *element = frz_arena_array(arena, 1, sizeof *element);
    frz_field *pair = frz_arena_array(arena, 2, sizeof *pair);
    frz_field y = field_of(7, "y", frz_type_primitive(FRZ_TYPE_STRING));
    assert_ok(frz_type_struct_of(arena, &y, 1, &inner, &err), &err);
    *element = field_of(6, "element", inner);
    *list = (frz_type){.id = FRZ_TYPE_LIST, .fields = element, .field_count = 1};
    frz_field parts[] = {field_of(4, "x", frz_type_primitive(FRZ_TYPE_INT)),
                         field_of(5, "l", list)};
    assert_ok(frz_type_struct_of(arena, parts, 2, &s, &err), &err);
    pair[0] = field_of(8, "key", frz_type_primitive(FRZ_TYPE_STRING));
    pair[0].required = true;
    pair[1] = field_of(9, "value", frz_type_primitive(FRZ_TYPE_DOUBLE));
    *map = (frz_type){.id = FRZ_TYPE_MAP, .fields = pair, .field_count = 2};
    frz_field top[] = {field_of(1, "a", frz_type_primitive(FRZ_TYPE_LONG)), field_of(2, "s", s),
                       field_of(3, "m", map)};
    top[0].required = true;
    assert_ok(frz_type_struct_of(arena, top, 3, &root, &err), &err);
    return root;
}

static void type_text__parse_and_print(void **state)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"boolean", "boolean"},
        {" Integer ", "int"},
        {"bigint", "long"},
        {"REAL", "float"},
        {"decimal(9,2)", "decimal(9, 2)"},
        {"numeric( 38 , 38 )", "decimal(38, 38)"},
        {"decimal(5)", "decimal(5, 0)"},
        {"timestamp with time zone", "timestamptz"},
        {"timestamptz_ns", "timestamptz_ns"},
        {"varchar(20)", "string"},
        {"fixed[16]", "fixed[16]"},
        {"fixed(3)", "fixed[3]"},
        {"blob", "binary"},
        {"unknown", "unknown"},
        {"geometry", "geometry"},
        {"geometry(srid:4326)", "geometry(srid:4326)"},
        {"geography(OGC:CRS84, karney)", "geography(OGC:CRS84, karney)"},
    };
    frz_error err = {0};
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char text[64];
        const frz_type *type = parsed(&arena, cases[i].text);
        assert_string_equal(frz_type_text(type, text, sizeof text), cases[i].printed);
        assert_true(frz_type_same_shape(type, parsed(&arena, text)));
    }
    static const char *const bad[] = {"",          "nonsense",     "decimal",  "decimal(39,0)",
                                      "fixed",     "decimal(0,0)", "fixed[0]", "decimal(5,-1)",
                                      "decimal(x", "fixed[16)",    "string[",  "decimal(1,2,3)"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bad); i++) {
        const frz_type *type = NULL;
        assert_fails(frz_type_parse(&arena, frz_str_from(bad[i]), &type, &err), &err,
                     FRZ_E_ARGUMENT, "");
        assert_null(type);
    }
    frz_arena_reset(&arena);
}

static void type_text__is_cut_to_its_array(void **state)
{
    char text[200];
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = nested(&arena);
    const char *whole = "struct<1: a: required long, 2: s: struct<4: x: int, 5: l: "
                        "list<struct<7: y: string>>>, 3: m: map<string, double>>";
    assert_string_equal(frz_type_text(type, text, sizeof text), whole);
    for (size_t size = 5; size <= strlen(whole); size++) {
        frz_type_text(type, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_string_equal(text + size - 4, "...");
    }
    frz_arena_reset(&arena);
}

static void type_lookup__by_id_and_name(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_buf name = FRZ_BUF_INIT(*state, 1000);
    const frz_field *field = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = nested(&arena);
    assert_int_equal(frz_type_max_id(type), 9);
    assert_null(frz_type_field_by_id(type, 4));
    assert_int_equal(frz_type_find_id(type, 7)->type->id, FRZ_TYPE_STRING);
    assert_null(frz_type_find_id(type, 10));
    assert_int_equal(frz_type_index_of_id(type, 3), 2);
    assert_int_equal(frz_type_index_of_id(type, 9), -1);
    assert_ok(frz_type_dotted_name(type, 7, &name, &err), &err);
    assert_true(frz_str_equal(frz_buf_view(&name), FRZ_STR("s.l.element.y")));
    frz_buf_clear(&name);
    assert_ok(frz_type_dotted_name(type, 99, &name, &err), &err);
    assert_int_equal(name.len, 0);
    assert_ok(frz_type_resolve_name(type, FRZ_STR("M"), &field, &err), &err);
    assert_int_equal(field->id, 3);
    assert_fails(frz_type_resolve_name(type, FRZ_STR("zz"), &field, &err), &err, FRZ_E_NOT_FOUND,
                 "no column \"zz\"");
    assert_string_equal(err.hint, "columns are: a, s, m");
    frz_buf_reset(&name);
    frz_arena_reset(&arena);
}

static void type_lookup__case_must_be_unique(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_type *type;
    const frz_field *field = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_field fields[] = {field_of(1, "ab", frz_type_primitive(FRZ_TYPE_INT)),
                          field_of(2, "AB", frz_type_primitive(FRZ_TYPE_INT))};
    assert_ok(frz_type_struct_of(&arena, fields, 2, &type, &err), &err);
    assert_ok(frz_type_resolve_name(type, FRZ_STR("AB"), &field, &err), &err);
    assert_int_equal(field->id, 2);
    assert_fails(frz_type_resolve_name(type, FRZ_STR("Ab"), &field, &err), &err, FRZ_E_ARGUMENT,
                 "ambiguous");
    frz_arena_reset(&arena);
}

typedef struct seen {
    int32_t ids[16];
    bool repeated[16];
    size_t count;
} seen;

static frz_code collect(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    seen *s = ctx;
    (void)err;
    s->ids[s->count] = field->id;
    s->repeated[s->count++] = in_repeated;
    return FRZ_OK;
}

static void type_visit__parents_first(void **state)
{
    static const int32_t ids[] = {1, 2, 4, 5, 6, 7, 3, 8, 9};
    static const bool repeated[] = {0, 0, 0, 0, 1, 1, 0, 1, 1};
    frz_error err = {0};
    frz_arena arena;
    seen s = {.count = 0};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_visit(nested(&arena), collect, &s, &err), &err);
    assert_int_equal(s.count, 9);
    assert_memory_equal(s.ids, ids, sizeof ids);
    assert_memory_equal(s.repeated, repeated, sizeof repeated);
    frz_arena_reset(&arena);
}

static void type_copy__outlives_its_source(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    frz_arena other;
    const frz_schema *copy = NULL;
    const frz_type *again;
    static const int32_t identifiers[] = {1};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&other, *state, FRZ_ARENA_NO_LIMIT);
    frz_value fallback = {.type = frz_type_primitive(FRZ_TYPE_STRING),
                          .as.bytes = {frz_arena_strdup(&other, FRZ_STR("hello")), 5}};
    frz_field fields[] = {field_of(1, "a", frz_type_primitive(FRZ_TYPE_LONG)),
                          field_of(2, "b", frz_type_primitive(FRZ_TYPE_STRING)),
                          field_of(3, "n", nested(&other)),
                          field_of(4, "d", parsed(&other, "decimal(9,2)"))};
    fields[1].initial_default = &fallback;
    fields[0].doc = FRZ_STR("the key");
    assert_ok(frz_type_struct_of(&other, fields, 4, &again, &err), &err);
    frz_schema schema = {7, again, identifiers, 1};
    assert_ok(frz_schema_copy(&arena, &schema, &copy, &err), &err);
    assert_true(frz_type_equal(copy->type, again));
    frz_arena_reset(&other);
    assert_int_equal(copy->schema_id, 7);
    assert_int_equal(copy->identifier_ids[0], 1);
    assert_true(frz_str_equal(copy->type->fields[0].doc, FRZ_STR("the key")));
    assert_null(copy->type->fields[1].doc.ptr);
    assert_true(frz_str_equal(copy->type->fields[1].initial_default->as.bytes, FRZ_STR("hello")));
    assert_int_equal(copy->type->fields[3].type->precision, 9);
    frz_arena_reset(&arena);
}

static void type_assign_ids__siblings_before_children(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_type *type = NULL;
    int32_t last = 0;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_assign_ids(&arena, nested(&arena), 10, &type, &last, &err), &err);
    assert_int_equal(last, 18);
    char text[200];
    assert_string_equal(frz_type_text(type, text, sizeof text),
                        "struct<10: a: required long, 11: s: struct<13: x: int, 14: l: "
                        "list<struct<16: y: string>>>, 12: m: map<string, double>>");
    assert_int_equal(type->fields[1].type->fields[1].type->fields[0].id, 15);
    assert_int_equal(type->fields[2].type->fields[0].id, 17);
    assert_fails(
        frz_type_assign_ids(&arena, nested(&arena), FRZ_ID_USER_MAX - 3, &type, &last, &err), &err,
        FRZ_E_LIMIT, "field ids end at");
    frz_arena_reset(&arena);
}

static void type_promotes__only_along_the_rules(void **state)
{
    static const struct {
        const char *from, *to;
        bool ok;
    } cases[] = {
        {"int", "long", true},
        {"long", "int", false},
        {"float", "double", true},
        {"double", "float", false},
        {"int", "double", false},
        {"decimal(9,2)", "decimal(12,2)", true},
        {"decimal(9,2)", "decimal(9,2)", true},
        {"decimal(9,2)", "decimal(12,3)", false},
        {"decimal(9,2)", "decimal(8,2)", false},
        {"date", "timestamp", true},
        {"date", "timestamp_ns", true},
        {"date", "timestamptz", false},
        {"timestamp", "timestamp_ns", false},
        {"unknown", "string", true},
        {"string", "binary", false},
        {"fixed[3]", "fixed[3]", true},
        {"fixed[3]", "fixed[4]", false},
    };
    frz_arena arena;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_int_equal(
            frz_type_promotes(parsed(&arena, cases[i].from), parsed(&arena, cases[i].to)),
            cases[i].ok);
    }
    frz_arena_reset(&arena);
}

static void type_equal__ids_and_requiredness_matter_shape_not(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    int32_t last;
    const frz_type *other = NULL;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = nested(&arena);
    assert_ok(frz_type_assign_ids(&arena, type, 100, &other, &last, &err), &err);
    assert_false(frz_type_equal(type, other));
    assert_true(frz_type_same_shape(type, other));
    assert_true(frz_type_equal(type, nested(&arena)));
    assert_false(frz_type_same_shape(type, type->fields[1].type));
    frz_arena_reset(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(type_text__parse_and_print),
        TEST_WITH_ENV(type_text__is_cut_to_its_array),
        TEST_WITH_ENV(type_lookup__by_id_and_name),
        TEST_WITH_ENV(type_lookup__case_must_be_unique),
        TEST_WITH_ENV(type_visit__parents_first),
        TEST_WITH_ENV(type_copy__outlives_its_source),
        TEST_WITH_ENV(type_assign_ids__siblings_before_children),
        TEST_WITH_ENV(type_promotes__only_along_the_rules),
        TEST_WITH_ENV(type_equal__ids_and_requiredness_matter_shape_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
