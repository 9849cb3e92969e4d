/*
 * The native reading of a file's schema: which Arrow type each column becomes, by which shapes
 * lists and maps are known, and what is said of it all to Arrow.
 */
#include "unit/test_support.h"

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"

#define REQ PARQUET_REQUIRED
#define OPT PARQUET_OPTIONAL
#define REP PARQUET_REPEATED

/* One line of a schema: name and what there is beside the defaults. */
#define E(name_, repetition_, ...)                                                                 \
    {                                                                                              \
        .name = {name_, sizeof name_ - 1}, .repetition = repetition_, __VA_ARGS__                  \
    }
#define GROUP(name_, repetition_, children_, ...)                                                  \
    E(name_, repetition_, .physical = PARQUET_NO_PHYSICAL, .num_children = children_, __VA_ARGS__)
#define ROOT(children_) GROUP("root", REQ, children_)
#define LEAF(name_, physical_, ...) E(name_, OPT, .physical = PARQUET_##physical_, __VA_ARGS__)
#define LOGICAL(logical_) .logical = PARQUET_LOGICAL_##logical_

typedef struct native_file {
    parquet_file file;
    frz_arena arena;
    const frz_type *type;
} native_file;

static void native_open(native_file *f, const frz_env *env, parquet_element *elements, size_t count)
{
    frz_error err = {0};
    memset(f, 0, sizeof *f);
    f->file.base.env = env;
    f->file.base.model = &frz_parquet_model;
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    f->file.metadata = (parquet_metadata){.elements = elements, .element_count = count};
    assert_ok(parquet_schema_build(&f->arena, &f->file.metadata, &f->file.root, &f->file.columns,
                                   &f->file.column_count, &err),
              &err);
    assert_ok(frz_parquet_native_type(&f->file.base, &f->arena, &f->type, &err), &err);
}

static void native_close(native_file *f)
{
    frz_arena_reset(&f->arena);
}

/* Types without ids, names as the file has them, "!" for required, annotations in brackets. */
static void print_fields(frz_buf *out, const frz_type *type)
{
    char text[64];
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        frz_buf_printf(out, NULL, "%s%.*s%s", i > 0 ? ", " : "", FRZ_STR_ARG(field->name),
                       field->required ? "! " : " ");
        if (frz_type_is_nested(field->type)) {
            static const char *const names[] = {"struct<", "list<", "map<"};
            frz_buf_append_str(out, names[field->type->id - FRZ_TYPE_STRUCT], NULL);
            print_fields(out, field->type);
            frz_buf_append_str(out, ">", NULL);
        } else {
            frz_buf_append_str(out, frz_type_text(field->type, text, sizeof text), NULL);
        }
        if (field->annotation.len > 0) {
            frz_buf_printf(out, NULL, " [%.*s]", FRZ_STR_ARG(field->annotation));
        }
    }
}

static void check_elements(const frz_env *env, parquet_element *elements, size_t count,
                           const char *expected)
{
    native_file f;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    native_open(&f, env, elements, count);
    print_fields(&text, f.type);
    frz_buf_append(&text, "", 1, NULL);
    assert_string_equal((const char *)text.data, expected);
    frz_buf_reset(&text);
    native_close(&f);
}

#define CHECK(elements, expected)                                                                  \
    check_elements(*state, elements, FRZ_ARRAY_COUNT(elements), expected)

/* ---- leaf columns ---- */

static void native__integers_keep_width_and_sign(void **state)
{
    parquet_element e[] = {
        ROOT(9),
        LEAF("i8", INT32, LOGICAL(INTEGER), .bit_width = 8, .is_signed = true),
        LEAF("i16", INT32, LOGICAL(INTEGER), .bit_width = 16, .is_signed = true),
        LEAF("i32", INT32, LOGICAL(INTEGER), .bit_width = 32, .is_signed = true),
        LEAF("i64", INT64, LOGICAL(INTEGER), .bit_width = 64, .is_signed = true),
        LEAF("u8", INT32, LOGICAL(INTEGER), .bit_width = 8),
        LEAF("u16", INT32, LOGICAL(INTEGER), .bit_width = 16),
        LEAF("u32", INT32, LOGICAL(INTEGER), .bit_width = 32),
        LEAF("u64", INT64, LOGICAL(INTEGER), .bit_width = 64),
        LEAF("odd", INT64, LOGICAL(INTEGER), .bit_width = 8),
    };
    CHECK(e, "i8 int8, i16 int16, i32 int, i64 long, u8 uint8, u16 uint16, u32 uint32, u64 uint64, "
             "odd long");
}

static void native__times_keep_their_unit(void **state)
{
    parquet_element e[] = {
        ROOT(9),
        LEAF("tm", INT32, LOGICAL(TIME), .unit = PARQUET_MILLIS),
        LEAF("tu", INT64, LOGICAL(TIME), .unit = PARQUET_MICROS),
        LEAF("tn", INT64, LOGICAL(TIME), .unit = PARQUET_NANOS),
        LEAF("sm", INT64, LOGICAL(TIMESTAMP), .unit = PARQUET_MILLIS),
        LEAF("smz", INT64, LOGICAL(TIMESTAMP), .unit = PARQUET_MILLIS, .utc = true),
        LEAF("su", INT64, LOGICAL(TIMESTAMP), .unit = PARQUET_MICROS),
        LEAF("snz", INT64, LOGICAL(TIMESTAMP), .unit = PARQUET_NANOS, .utc = true),
        LEAF("new_unit", INT64, LOGICAL(TIMESTAMP)),
        LEAF("old", INT96),
    };
    CHECK(e, "tm time_ms, tu time, tn time_ns, sm timestamp_ms, smz timestamptz_ms, su timestamp, "
             "snz timestamptz_ns, new_unit long, old timestamp");
}

static void native__decimals_and_fixed(void **state)
{
    parquet_element e[] = {
        ROOT(10),
        LEAF("d", INT32, LOGICAL(DECIMAL), .precision = 9, .scale = 2),
        LEAF("wide", FIXED_LEN_BYTE_ARRAY, .type_length = 20, LOGICAL(DECIMAL), .precision = 45,
             .scale = 3),
        LEAF("wider", BYTE_ARRAY, LOGICAL(DECIMAL), .precision = 90, .scale = 3),
        LEAF("wrong", INT64, LOGICAL(DECIMAL), .precision = 4, .scale = 5),
        LEAF("float", FLOAT, LOGICAL(DECIMAL), .precision = 4, .scale = 2),
        LEAF("half", FIXED_LEN_BYTE_ARRAY, .type_length = 2, LOGICAL(FLOAT16)),
        LEAF("uuid", FIXED_LEN_BYTE_ARRAY, .type_length = 16, LOGICAL(UUID)),
        LEAF("fixed", FIXED_LEN_BYTE_ARRAY, .type_length = 12),
        LEAF("interval", FIXED_LEN_BYTE_ARRAY, .type_length = 12, .converted = 21),
        LEAF("null", INT32, LOGICAL(UNKNOWN)),
    };
    CHECK(e, "d decimal(9, 2), wide decimal(45, 3), wider binary [DECIMAL(90,3)], "
             "wrong long [DECIMAL(4,5)], float float, half float16, uuid uuid, fixed fixed[12], "
             "interval interval, null unknown");
}

static void native__annotations_of_text_and_bytes(void **state)
{
    parquet_element e[] = {
        ROOT(8),
        LEAF("s", BYTE_ARRAY, LOGICAL(STRING)),
        LEAF("j", BYTE_ARRAY, LOGICAL(JSON)),
        LEAF("e", BYTE_ARRAY, LOGICAL(ENUM)),
        LEAF("b", BYTE_ARRAY, LOGICAL(BSON)),
        LEAF("g", BYTE_ARRAY, LOGICAL(GEOMETRY)),
        LEAF("gc", BYTE_ARRAY, LOGICAL(GEOMETRY), .crs = {"EPSG:5070", 9}),
        LEAF("gg", BYTE_ARRAY, LOGICAL(GEOGRAPHY), .crs = {"a,b", 3}),
        LEAF("ga", BYTE_ARRAY, LOGICAL(GEOGRAPHY), .algorithm = 5),
    };
    CHECK(e, "s string, j string [JSON], e string [ENUM], b binary [BSON], g binary [GEOMETRY], "
             "gc binary [GEOMETRY(EPSG:5070)], gg binary [GEOGRAPHY(a,b,SPHERICAL)], "
             "ga binary [GEOGRAPHY(,KARNEY)]");
}

/* ---- groups ---- */

static void native__variants_and_files_are_their_storage(void **state)
{
    parquet_element e[] = {
        ROOT(2),
        GROUP("v", OPT, 3, LOGICAL(VARIANT), .version = 1),
        E("metadata", REQ, .physical = PARQUET_BYTE_ARRAY),
        LEAF("value", BYTE_ARRAY),
        LEAF("typed_value", INT32, LOGICAL(INTEGER), .bit_width = 8, .is_signed = true),
        GROUP("f", OPT, 1, LOGICAL(FILE)),
        LEAF("uri", BYTE_ARRAY, LOGICAL(STRING)),
    };
    CHECK(e, "v struct<metadata! binary, value binary, typed_value int8> [VARIANT(1)], "
             "f struct<uri string> [FILE]");
}

/* The examples of the format's rules for older lists. */
static void native__lists_in_all_shapes(void **state)
{
    parquet_element e[] = {
        ROOT(8),
        GROUP("three", OPT, 1, LOGICAL(LIST)),
        GROUP("list", REP, 1),
        LEAF("item", INT32),
        GROUP("rule1", OPT, 1, LOGICAL(LIST)),
        E("element", REP, .physical = PARQUET_INT32),
        GROUP("rule2", OPT, 1, LOGICAL(LIST)),
        GROUP("element", REP, 2),
        LEAF("str", BYTE_ARRAY),
        LEAF("num", INT32),
        GROUP("rule3", OPT, 1, LOGICAL(LIST)),
        GROUP("array", REP, 1, LOGICAL(LIST)),
        E("array", REP, .physical = PARQUET_INT32),
        GROUP("rule4", OPT, 1, LOGICAL(LIST)),
        GROUP("array", REP, 1),
        LEAF("str", BYTE_ARRAY),
        GROUP("tuples", OPT, 1, LOGICAL(LIST)),
        GROUP("tuples_tuple", REP, 1),
        LEAF("str", BYTE_ARRAY),
        GROUP("rule5", REQ, 1, LOGICAL(LIST)),
        GROUP("bag", REP, 1),
        E("array_element", REQ, .physical = PARQUET_INT32),
        GROUP("no_list", OPT, 2, LOGICAL(LIST)),
        LEAF("a", INT32),
        LEAF("b", INT32),
    };
    CHECK(e, "three list<item int>, rule1 list<element! int>, "
             "rule2 list<element! struct<str binary, num int>>, "
             "rule3 list<array! list<array! int>>, rule4 list<array! struct<str binary>>, "
             "tuples list<tuples_tuple! struct<str binary>>, rule5! list<array_element! int>, "
             "no_list struct<a int, b int>");
}

static void native__repeated_fields_outside_of_lists(void **state)
{
    parquet_element e[] = {
        ROOT(2),
        E("num", REP, .physical = PARQUET_INT32),
        GROUP("tuple", REP, 2),
        LEAF("x", INT32),
        E("ys", REP, .physical = PARQUET_BYTE_ARRAY, LOGICAL(JSON)),
    };
    CHECK(e, "num! list<num! int>, tuple! list<tuple! struct<x int, ys! list<ys! string [JSON]>>>");
}

static void native__maps_in_all_shapes(void **state)
{
    parquet_element e[] = {
        ROOT(4),
        GROUP("m", OPT, 1, LOGICAL(MAP)),
        GROUP("map", REP, 2, LOGICAL(MAP)), /* MAP_KEY_VALUE inside of MAP says nothing */
        LEAF("k", BYTE_ARRAY),
        LEAF("v", INT32),
        GROUP("set", OPT, 1, LOGICAL(MAP)),
        GROUP("key_value", REP, 1),
        E("key", REQ, .physical = PARQUET_INT32),
        GROUP("no_map", OPT, 1, LOGICAL(MAP)),
        GROUP("key_value", REP, 3),
        LEAF("a", INT32),
        LEAF("b", INT32),
        LEAF("c", INT32),
        GROUP("nothing", OPT, 0),
    };
    CHECK(e, "m map<k! binary, v int>, set list<key! int>, "
             "no_map struct<key_value! list<key_value! struct<a int, b int, c int>>>, "
             "nothing struct<>");
}

/* ---- ids ---- */

static frz_code see_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    const frz_type *type = ctx;
    (void)in_repeated;
    (void)err;
    assert_true(field->id > 0);
    assert_ptr_equal(frz_type_find_id(type, field->id), field); /* no other has it */
    return FRZ_OK;
}

static frz_str metadata_of(const struct ArrowSchema *schema, const char *key)
{
    frz_str value;
    size_t size;
    frz_error err = {0};
    assert_ok(frz_schema_metadata(schema, frz_str_from(key), &value, &size, &err), &err);
    return value;
}

static void assert_metadata(const struct ArrowSchema *schema, const char *key, const char *expected)
{
    frz_str value = metadata_of(schema, key);
    if (expected == NULL) {
        assert_null(value.ptr);
        return;
    }
    assert_non_null(value.ptr);
    assert_int_equal(value.len, strlen(expected));
    assert_memory_equal(value.ptr, expected, value.len);
}

static void native__ids_are_unique_and_arrow_shows_those_of_the_file(void **state)
{
    parquet_element e[] = {
        ROOT(3),
        LEAF("a", INT32, .has_field_id = true, .field_id = 0),
        E("r", REP, .physical = PARQUET_INT32, .has_field_id = true, .field_id = 7),
        GROUP("l", OPT, 1, LOGICAL(LIST), .has_field_id = true, .field_id = 7),
        GROUP("list", REP, 1),
        LEAF("element", INT32, .has_field_id = true, .field_id = 9),
    };
    native_file f;
    struct ArrowSchema schema;
    frz_error err = {0};
    native_open(&f, *state, e, FRZ_ARRAY_COUNT(e));
    assert_ok(frz_type_visit(f.type, see_id, (void *)(uintptr_t)f.type, &err), &err);
    assert_ok(frz_parquet_native_to_arrow(*state, &f.file.base, f.type, &schema, &err), &err);
    assert_metadata(schema.children[0], "PARQUET:field_id", "0");
    assert_metadata(schema.children[1], "PARQUET:field_id", "7");
    assert_metadata(schema.children[1]->children[0], "PARQUET:field_id", NULL);
    assert_metadata(schema.children[2], "PARQUET:field_id", "7");
    assert_metadata(schema.children[2]->children[0], "PARQUET:field_id", "9");
    frz_schema_release(&schema);
    native_close(&f);
}

static void native__arrow_names_what_the_types_do_not_tell(void **state)
{
    static const char crs[] = "{\"type\":\"GeographicCRS\"}";
    parquet_key_value keys[] = {{FRZ_STR("my_crs"), {crs, sizeof crs - 1}}};
    parquet_element e[] = {
        ROOT(6),
        LEAF("j", BYTE_ARRAY, LOGICAL(JSON)),
        LEAF("e", BYTE_ARRAY, LOGICAL(ENUM)),
        LEAF("g", BYTE_ARRAY, LOGICAL(GEOMETRY)),
        LEAF("s", BYTE_ARRAY, LOGICAL(GEOMETRY), .crs = {"srid:5070", 9}),
        LEAF("p", BYTE_ARRAY, LOGICAL(GEOGRAPHY), .crs = {"projjson:my_crs", 15}),
        GROUP("v", REQ, 1, LOGICAL(VARIANT), .version = 1),
        E("metadata", REQ, .physical = PARQUET_BYTE_ARRAY),
    };
    native_file f;
    struct ArrowSchema schema;
    frz_error err = {0};
    native_open(&f, *state, e, FRZ_ARRAY_COUNT(e));
    f.file.metadata.keys = keys;
    f.file.metadata.key_count = 1;
    assert_ok(frz_parquet_native_type(&f.file.base, &f.arena, &f.type, &err), &err);
    assert_ok(frz_parquet_native_to_arrow(*state, &f.file.base, f.type, &schema, &err), &err);
    assert_metadata(schema.children[0], "ARROW:extension:name", "arrow.json");
    assert_metadata(schema.children[1], "ARROW:extension:name", NULL);
    assert_metadata(schema.children[1], "PARQUET:logical_type", "ENUM");
    assert_metadata(schema.children[2], "ARROW:extension:name", "geoarrow.wkb");
    assert_metadata(schema.children[2], "ARROW:extension:metadata",
                    "{\"crs\":\"OGC:CRS84\",\"crs_type\":\"authority_code\"}");
    assert_metadata(schema.children[3], "ARROW:extension:metadata",
                    "{\"crs\":\"5070\",\"crs_type\":\"srid\"}");
    assert_metadata(schema.children[4], "ARROW:extension:metadata",
                    "{\"crs\":{\"type\":\"GeographicCRS\"},\"crs_type\":\"projjson\","
                    "\"edges\":\"spherical\"}");
    assert_metadata(schema.children[5], "ARROW:extension:name", "arrow.parquet.variant");
    assert_metadata(schema.children[5], "PARQUET:logical_type", "VARIANT(1)");
    frz_schema_release(&schema);
    native_close(&f);
}

static void native__filters_have_the_types_of_iceberg(void **state)
{
    parquet_element e[] = {
        ROOT(4),
        LEAF("u8", INT32, LOGICAL(INTEGER), .bit_width = 8),
        LEAF("tn", INT64, LOGICAL(TIME), .unit = PARQUET_NANOS),
        GROUP("v", OPT, 1, LOGICAL(VARIANT)),
        LEAF("metadata", BYTE_ARRAY),
        LEAF("half", FIXED_LEN_BYTE_ARRAY, .type_length = 2, LOGICAL(FLOAT16)),
    };
    native_file f;
    const frz_type *filter;
    frz_error err = {0};
    char text[200];
    native_open(&f, *state, e, FRZ_ARRAY_COUNT(e));
    assert_ok(frz_parquet_filter_type(&f.file.base, &f.arena, &filter, &err), &err);
    assert_string_equal(frz_type_text(filter, text, sizeof text),
                        "struct<1: u8: int, 2: tn: time_ns, 3: v: struct<4: metadata: binary>, "
                        "5: half: float>");
    native_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(native__integers_keep_width_and_sign),
        TEST_WITH_ENV(native__times_keep_their_unit),
        TEST_WITH_ENV(native__decimals_and_fixed),
        TEST_WITH_ENV(native__annotations_of_text_and_bytes),
        TEST_WITH_ENV(native__variants_and_files_are_their_storage),
        TEST_WITH_ENV(native__lists_in_all_shapes),
        TEST_WITH_ENV(native__repeated_fields_outside_of_lists),
        TEST_WITH_ENV(native__maps_in_all_shapes),
        TEST_WITH_ENV(native__ids_are_unique_and_arrow_shows_those_of_the_file),
        TEST_WITH_ENV(native__arrow_names_what_the_types_do_not_tell),
        TEST_WITH_ENV(native__filters_have_the_types_of_iceberg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
