/*
 * The reader as layers above use it: projections by field id, promotion, defaults, ranges, name
 * mappings, errors. Files: tests/data/parquet.
 */
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

#include "format/parquet/parquet.h"

#define FLAT "tests/data/parquet/flat.parquet"
#define NESTED "tests/data/parquet/nested.parquet"
#define WITHOUT_IDS "tests/data/parquet/without_ids.parquet"

/* ---- rows as text: values apart by blanks, rows by line ends ---- */

static void print_value(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i);

static void print_items(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
    const struct ArrowArray *items = a->children[0];
    frz_buf_append_str(out, "[", NULL);
    for (int64_t k = offsets[0]; k < offsets[1]; k++) {
        frz_buf_append_str(out, k > offsets[0] ? " " : "", NULL);
        if (type->id == FRZ_TYPE_LIST) {
            print_value(out, type->fields[0].type, items, k);
            continue;
        }
        print_value(out, type->fields[0].type, items->children[0], items->offset + k);
        frz_buf_append_str(out, ":", NULL);
        print_value(out, type->fields[1].type, items->children[1], items->offset + k);
    }
    frz_buf_append_str(out, "]", NULL);
}

static void print_value(frz_buf *out, const frz_type *type, const struct ArrowArray *a, int64_t i)
{
    if (frz_is_null(a, i)) {
        frz_buf_append_str(out, "-", NULL);
    } else if (type->id == FRZ_TYPE_STRUCT) {
        frz_buf_append_str(out, "(", NULL);
        for (size_t f = 0; f < type->field_count; f++) {
            frz_buf_append_str(out, f > 0 ? " " : "", NULL);
            print_value(out, type->fields[f].type, a->children[f], a->offset + i);
        }
        frz_buf_append_str(out, ")", NULL);
    } else if (frz_type_is_nested(type)) {
        print_items(out, type, a, i);
    } else {
        frz_value value = frz_value_at(type, a, i);
        frz_value_print(&value, out, NULL);
    }
}

/* Rows "first: values"; a blank line between batches is not shown, but their order is checked. */
static frz_code read_all(const frz_data_file *file, const frz_read_request *request, frz_buf *out,
                         frz_error *err)
{
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_code rc = frz_data_reader_open(file, request, &reader, err);
    while (rc == FRZ_OK && (rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        for (int64_t i = 0; i < batch.array.length; i++) {
            frz_buf_printf(out, NULL, "%lld:", (long long)(batch.first_row + i));
            for (size_t f = 0; f < request->projection->field_count; f++) {
                frz_buf_append_str(out, " ", NULL);
                print_value(out, request->projection->fields[f].type, batch.array.children[f], i);
            }
            frz_buf_append_str(out, "\n", NULL);
        }
        frz_array_release(&batch.array);
    }
    frz_data_reader_close(reader);
    return rc == FRZ_END ? FRZ_OK : rc;
}

typedef struct reading {
    const char *path;
    const char *fields;  /* the projection */
    const char *mapping; /* NULL: none */
    frz_row_range ranges[4];
    size_t range_count; /* 0: all */
    int64_t max_rows;
} reading;

static frz_code read_text(const frz_env *env, const reading *r, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_data_file *file = NULL;
    frz_name_mapping mapping;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (r->mapping != NULL) {
        FRZ_TRY(frz_name_mapping_parse(&arena, frz_str_from(r->mapping), &mapping, err));
    }
    frz_read_request request = {.projection = rows_type(&arena, r->fields),
                                .ranges = r->range_count > 0 ? r->ranges : NULL,
                                .range_count = r->range_count,
                                .max_rows = r->max_rows};
    FRZ_TRY(frz_data_file_open(env, r->path, r->mapping == NULL ? NULL : &mapping, &file, err));
    FRZ_TRY(read_all(file, &request, out, err));
out:
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    return rc;
}

static void expect_rows(void **state, const reading *r, const char *expected)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_ok(read_text(*state, r, &out, &err), &err);
    frz_buf_append_byte(&out, 0, NULL);
    assert_string_equal((const char *)out.data, expected);
    frz_buf_reset(&out);
}

static void expect_failure(void **state, const reading *r, frz_code code, const char *phrase)
{
    frz_error err = {0};
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    assert_fails(read_text(*state, r, &out, &err), &err, code, phrase);
    frz_buf_reset(&out);
}

/* ---- fields ---- */

#define FIELD(id, name, required, type)                                                            \
    "{'id':" #id ",'name':'" name "','required':" required ",'type':'" type "'}"
#define NESTED_FIELD(id, name, type)                                                               \
    "{'id':" #id ",'name':'" name "','required':false,'type':" type "}"
#define STRUCT(fields) "{'type':'struct','fields':[" fields "]}"

static void reader__columns_by_id_in_the_order_asked_for(void **state)
{
    expect_rows(state,
                &(reading){.path = FLAT,
                           .fields = FIELD(5, "renamed", "false",
                                           "string") "," FIELD(1, "i", "true", "int")},
                "0: a 1\n1: - 2\n2:  3\n3: d\xC3\xA9 4\n4: eee 5\n");
}

static void reader__types_are_promoted(void **state)
{
    expect_rows(
        state,
        &(reading){.path = FLAT,
                   .fields = FIELD(1, "i", "true", "long") "," FIELD(
                       2, "f", "false", "double") "," FIELD(3, "d", "false", "decimal(20, 2)")},
        "0: 1 0.5 1.25\n1: 2 - -\n2: 3 1.5 -0.01\n3: 4 2.5 99.99\n4: 5 - 0.00\n");
    expect_rows(state,
                &(reading){.path = FLAT,
                           .fields = FIELD(4, "day", "false", "timestamp"),
                           .ranges = {{0, 3}},
                           .range_count = 1},
                "0: 1970-01-02T00:00:00.000000\n1: 1969-12-31T00:00:00.000000\n2: -\n");
}

static void reader__text_and_bytes_are_read_as_either(void **state)
{
    expect_rows(state,
                &(reading){.path = FLAT,
                           .fields = FIELD(5, "t", "false", "binary"),
                           .ranges = {{3, 5}},
                           .range_count = 1},
                "3: 64c3a9\n4: 656565\n");
    expect_failure(state, &(reading){.path = FLAT, .fields = FIELD(6, "b", "false", "string")},
                   FRZ_E_CORRUPT, "column \"b\", row group 0: row 0: a string is not valid UTF-8");
}

static void reader__types_that_do_not_fit_are_named(void **state)
{
    expect_failure(state, &(reading){.path = FLAT, .fields = FIELD(5, "t", "false", "int")},
                   FRZ_E_CORRUPT, "column \"t\" is string in the file and is to be read as int");
    expect_failure(state,
                   &(reading){.path = FLAT, .fields = FIELD(3, "d", "false", "decimal(4, 1)")},
                   FRZ_E_CORRUPT, "decimal(4");
    expect_failure(state, &(reading){.path = NESTED, .fields = FIELD(2, "l", "false", "int")},
                   FRZ_E_CORRUPT, "is to be read as int");
    expect_failure(state, &(reading){.path = FLAT, .fields = FIELD(9, "nine", "false", "int")},
                   FRZ_E_ARGUMENT, "no field \"nine\" (id 9)");
}

static void reader__a_null_in_a_required_field_names_its_row(void **state)
{
    expect_failure(state, &(reading){.path = FLAT, .fields = FIELD(2, "f", "true", "float")},
                   FRZ_E_CORRUPT, "column \"f\", row group 0: row 1: null in a required field");
    expect_failure(
        state,
        &(reading){.path = NESTED,
                   .fields = NESTED_FIELD(1, "s", STRUCT(FIELD(11, "x", "true", "int")))},
        FRZ_E_CORRUPT, "column \"s.x\", row 2: null in a required field");
}

/* ---- ranges and batches ---- */

static void reader__ranges_cross_row_groups(void **state)
{
    for (int64_t max_rows = 0; max_rows < 3; max_rows++) {
        expect_rows(
            state,
            &(reading){.path = FLAT,
                       .fields = FIELD(1, "i", "true", "int") "," FIELD(5, "t", "false", "string"),
                       .ranges = {{0, 0}, {1, 3}, {4, 4}, {4, 5}},
                       .range_count = 4,
                       .max_rows = max_rows},
            "1: 2 -\n2: 3 \n4: 5 eee\n");
    }
}

static void reader__no_columns_still_have_rows(void **state)
{
    expect_rows(state, &(reading){.path = FLAT, .fields = "", .ranges = {{1, 4}}, .range_count = 1},
                "1:\n2:\n3:\n");
}

static void reader__ranges_out_of_order_are_refused(void **state)
{
    expect_failure(state,
                   &(reading){.path = FLAT,
                              .fields = FIELD(1, "i", "true", "int"),
                              .ranges = {{2, 3}, {1, 2}},
                              .range_count = 2},
                   FRZ_E_ARGUMENT, "row range 1 to 2");
    expect_failure(state,
                   &(reading){.path = FLAT,
                              .fields = FIELD(1, "i", "true", "int"),
                              .ranges = {{2, 6}},
                              .range_count = 1},
                   FRZ_E_ARGUMENT, "behind the file's 5 rows");
}

/* ---- nested ---- */

#define NESTED_ALL                                                                                 \
    NESTED_FIELD(1, "s",                                                                           \
                 STRUCT(FIELD(11, "x", "false", "int") "," FIELD(12, "y", "false", "string")))     \
    "," NESTED_FIELD(                                                                              \
        2, "l",                                                                                    \
        "{'type':'list','element-id':21,'element-required':false,'element':" STRUCT(               \
            FIELD(41, "x", "false",                                                                \
                  "int")) "}") "," NESTED_FIELD(3, "m",                                            \
                                                "{'type':'map','key-id':31,'key':'string','value-" \
                                                "id':32,"                                          \
                                                "'value-required':false,'value':'long'}")

static const char nested_rows[] = "0: (1 a) [(1) - (-)] [k:1]\n"
                                  "1: - [] -\n"
                                  "2: (- -) - []\n"
                                  "3: (4 d) [(7)] [a:- b:2]\n";

static void reader__structs_lists_and_maps(void **state)
{
    for (int64_t max_rows = 0; max_rows < 4; max_rows++) {
        expect_rows(state, &(reading){.path = NESTED, .fields = NESTED_ALL, .max_rows = max_rows},
                    nested_rows);
    }
    expect_rows(
        state,
        &(reading){
            .path = NESTED, .fields = NESTED_ALL, .ranges = {{1, 2}, {3, 4}}, .range_count = 2},
        "1: - [] -\n3: (4 d) [(7)] [a:- b:2]\n");
}

static void reader__missing_nested_fields_take_their_default(void **state)
{
    expect_rows(
        state,
        &(reading){.path = NESTED,
                   .fields = NESTED_FIELD(
                       1, "s",
                       STRUCT("{'id':50,'name':'new','required':true,'type':'int',"
                              "'initial-default':7}," FIELD(51, "none", "false", "string")))},
        "0: (7 -)\n1: -\n2: (7 -)\n3: (7 -)\n");
    expect_rows(
        state,
        &(reading){.path = NESTED,
                   .fields = NESTED_FIELD(
                       2, "l",
                       "{'type':'list','element-id':21,'element-required':false,'element':" STRUCT(
                           FIELD(52, "none", "false", "long")) "}")},
        "0: [(-) - (-)]\n1: []\n2: -\n3: [(-)]\n");
    expect_failure(
        state,
        &(reading){.path = NESTED,
                   .fields = NESTED_FIELD(1, "s", STRUCT(FIELD(53, "x", "true", "int")))},
        FRZ_E_CORRUPT, "required and has no default");
}

/* Items are not fields that may have been added later: nulls in their place would be made up. */
static void reader__items_of_another_id_are_no_items(void **state)
{
    expect_failure(
        state,
        &(reading){.path = NESTED,
                   .fields = NESTED_FIELD(2, "l",
                                          "{'type':'list','element-id':29,'element-required':false,"
                                          "'element':" STRUCT(FIELD(41, "x", "false", "int")) "}")},
        FRZ_E_CORRUPT, "column \"l\": field \"element\" has id 21 in the file, expected 29");
    expect_failure(state,
                   &(reading){.path = NESTED,
                              .fields = NESTED_FIELD(3, "m",
                                                     "{'type':'map','key-id':31,'key':'string',"
                                                     "'value-id':39,'value-required':false,"
                                                     "'value':'long'}")},
                   FRZ_E_CORRUPT,
                   "column \"m\": field \"value\" has id 32 in the file, expected 39");
}

/* ---- name mapping ---- */

#define MAPPING                                                                                    \
    "[{\"field-id\":1,\"names\":[\"x\",\"i\"]},{\"field-id\":2,\"names\":[\"S\"],\"fields\":"      \
    "[{\"field-id\":3,\"names\":[\"Inner\"]}]}]"

static void mapping__gives_ids_to_a_file_without(void **state)
{
    expect_rows(state,
                &(reading){.path = WITHOUT_IDS,
                           .mapping = MAPPING,
                           .fields = FIELD(1, "i", "false", "long") "," NESTED_FIELD(
                               2, "s", STRUCT(FIELD(3, "inner", "false", "string")))},
                "0: 1 (a)\n1: 2 (b)\n");
    expect_failure(state, &(reading){.path = WITHOUT_IDS, .fields = FIELD(1, "i", "false", "long")},
                   FRZ_E_ARGUMENT, "no field \"i\"");
}

static void mapping__is_not_asked_where_the_file_has_ids(void **state)
{
    expect_failure(state,
                   &(reading){.path = FLAT,
                              .mapping = "[{\"field-id\":70,\"names\":[\"i\"]}]",
                              .fields = FIELD(70, "i", "true", "int")},
                   FRZ_E_ARGUMENT, "no field \"i\" (id 70)");
}

/* ---- the file ---- */

static void file__footer_facts(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    size_t count;
    frz_str value;
    assert_ok(frz_data_file_open(*state, FLAT, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_row_count(file), 5);
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    assert_int_equal(count, 3);
    assert_int_equal(ends[0], 2);
    assert_int_equal(ends[2], 5);
    const int64_t *splits = frz_parquet_split_offsets(file, &count);
    assert_int_equal(count, 3);
    assert_int_equal(splits[0], 4);
    assert_true(splits[1] > splits[0] && splits[2] > splits[1]);
    assert_true(frz_data_file_has_field(file, 6));
    assert_false(frz_data_file_has_field(file, 7));
    assert_false(frz_data_file_has_field(file, 0));
    assert_true(frz_parquet_field_bytes(file, 5) > 0);
    assert_int_equal(frz_parquet_field_bytes(file, 99), 0);
    assert_false(frz_data_file_metadata(file, "nothing", &value));
    frz_data_file_close(file);
}

static void file__formats_without_a_reader_are_named(void **state)
{
    const frz_format_model *model;
    frz_error err = {0};
    (void)state;
    assert_ok(frz_format_by_name(FRZ_STR("PARQUET"), &model, &err), &err);
    assert_ptr_equal(model, &frz_parquet_model);
    assert_fails(frz_format_by_name(FRZ_STR("orc"), &model, &err), &err, FRZ_E_UNSUPPORTED,
                 "no reader for format orc");
}

/* ---- memory ---- */

static frz_code scenario_read(const frz_env *env, frz_error *err)
{
    /* the projection is made by test code that cannot fail gracefully: in another environment */
    static const reading r = {.path = NESTED, .fields = NESTED_ALL};
    frz_code rc = FRZ_OK;
    frz_env *calm = NULL;
    frz_arena arena;
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    assert_int_equal(frz_env_new(NULL, &calm, NULL), FRZ_OK);
    frz_arena_init(&arena, calm, FRZ_ARENA_NO_LIMIT);
    frz_read_request request = {.projection = rows_type(&arena, r.fields), .max_rows = 2};
    FRZ_TRY(frz_data_file_open(env, r.path, NULL, &file, err));
    FRZ_TRY(frz_data_reader_open(file, &request, &reader, err));
    for (;;) {
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc == FRZ_END) {
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        frz_array_release(&batch.array);
    }
out:
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    frz_env_free(calm);
    return rc;
}

static void reader__every_failing_allocation_is_reported(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_read) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(reader__columns_by_id_in_the_order_asked_for),
        TEST_WITH_ENV(reader__types_are_promoted),
        TEST_WITH_ENV(reader__text_and_bytes_are_read_as_either),
        TEST_WITH_ENV(reader__types_that_do_not_fit_are_named),
        TEST_WITH_ENV(reader__a_null_in_a_required_field_names_its_row),
        TEST_WITH_ENV(reader__ranges_cross_row_groups),
        TEST_WITH_ENV(reader__no_columns_still_have_rows),
        TEST_WITH_ENV(reader__ranges_out_of_order_are_refused),
        TEST_WITH_ENV(reader__structs_lists_and_maps),
        TEST_WITH_ENV(reader__missing_nested_fields_take_their_default),
        TEST_WITH_ENV(reader__items_of_another_id_are_no_items),
        TEST_WITH_ENV(mapping__gives_ids_to_a_file_without),
        TEST_WITH_ENV(mapping__is_not_asked_where_the_file_has_ids),
        TEST_WITH_ENV(file__footer_facts),
        cmocka_unit_test(file__formats_without_a_reader_are_named),
        cmocka_unit_test(reader__every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
