/*
 * Import: schemas of several files become one, or are refused saying why.
 */
#include "unit/test_support.h"
#include "write/write_internal.h"

typedef struct fixture {
    frz_arena arena;
    frz_import_schema schema;
    frz_error err;
} fixture;

static void fixture_init(fixture *f, void **state)
{
    memset(f, 0, sizeof *f);
    frz_arena_init(&f->arena, *state, FRZ_ARENA_NO_LIMIT);
    f->schema.arena = &f->arena;
}

static frz_field field_of(int32_t id, const char *name, bool required, const frz_type *type)
{
    return (frz_field){.id = id, .required = required, .name = frz_str_from(name), .type = type};
}

static frz_field optional(int32_t id, const char *name, frz_type_id type)
{
    return field_of(id, name, false, frz_type_primitive(type));
}

static frz_field required(int32_t id, const char *name, frz_type_id type)
{
    return field_of(id, name, true, frz_type_primitive(type));
}

static const frz_type *nested(fixture *f, frz_type_id id, const frz_field *fields, size_t count)
{
    frz_type *type = frz_arena_alloc(&f->arena, sizeof *type);
    frz_field *copy = frz_arena_array(&f->arena, count, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = fields[i];
    }
    *type = (frz_type){.id = id, .fields = copy, .field_count = count};
    return type;
}

#define STRUCT(f, ...)                                                                             \
    nested((f), FRZ_TYPE_STRUCT, (frz_field[]){__VA_ARGS__},                                       \
           FRZ_ARRAY_COUNT(((frz_field[]){__VA_ARGS__})))
#define LIST(f, element) nested((f), FRZ_TYPE_LIST, (frz_field[]){element}, 1)

static const char *text_of(fixture *f, const frz_type *type)
{
    char *text = frz_arena_alloc(&f->arena, 400);
    return frz_type_text(type, text, 400);
}

/* ---- what one file must fulfil ---- */

static void check__ids_everywhere_or_nowhere(void **state)
{
    fixture f;
    bool has_ids;
    fixture_init(&f, state);
    const frz_type *with =
        STRUCT(&f, required(7, "a", FRZ_TYPE_INT), optional(3, "b", FRZ_TYPE_LONG));
    assert_ok(frz_import_check(*state, "x", with, false, &has_ids, &f.err), &f.err);
    assert_true(has_ids);
    const frz_type *without = STRUCT(&f, required(FRZ_ID_NONE, "a", FRZ_TYPE_INT));
    assert_ok(frz_import_check(*state, "x", without, false, &has_ids, &f.err), &f.err);
    assert_false(has_ids);
    const frz_type *outer_only = STRUCT(
        &f, field_of(1, "l", false, LIST(&f, optional(FRZ_ID_NONE, "element", FRZ_TYPE_INT))));
    assert_fails(frz_import_check(*state, "x", outer_only, false, &has_ids, &f.err), &f.err,
                 FRZ_E_ARGUMENT,
                 "file x: column \"l\" has field id 1, but column \"element\" has none");
    assert_non_null(strstr(f.err.hint, "--rewrite"));
    assert_ok(frz_import_check(*state, "x", outer_only, true, &has_ids, &f.err), &f.err);
    frz_arena_reset(&f.arena);
}

static void check__ids_that_a_table_cannot_have(void **state)
{
    static const struct {
        int32_t a, b;
        const char *phrase;
    } cases[] = {
        {1, 1, "columns \"a\" and \"b\" both have field id 1"},
        {0, 1, "column \"a\" has field id 0, which is not positive"},
        {-4, 1, "column \"a\" has field id -4, which is not positive"},
        {1, FRZ_ID_USER_MAX + 1, "column \"b\" has field id 2147483448, which is reserved"},
        {FRZ_ID_ROW_ID, 1, "column \"a\" has field id 2147483540, which is reserved"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        fixture f;
        bool has_ids;
        fixture_init(&f, state);
        const frz_type *type = STRUCT(&f, optional(cases[i].a, "a", FRZ_TYPE_INT),
                                      optional(cases[i].b, "b", FRZ_TYPE_INT));
        assert_fails(frz_import_check(*state, "x", type, false, &has_ids, &f.err), &f.err,
                     FRZ_E_ARGUMENT, cases[i].phrase);
        assert_non_null(strstr(f.err.hint, "--rewrite"));
        frz_arena_reset(&f.arena);
    }
}

static void check__names_that_cannot_be_told_apart(void **state)
{
    fixture f;
    bool has_ids;
    fixture_init(&f, state);
    const frz_type *twice = STRUCT(&f, field_of(FRZ_ID_NONE, "s", false,
                                                STRUCT(&f, optional(FRZ_ID_NONE, "x", FRZ_TYPE_INT),
                                                       optional(FRZ_ID_NONE, "y", FRZ_TYPE_INT),
                                                       optional(FRZ_ID_NONE, "x", FRZ_TYPE_LONG))));
    assert_fails(frz_import_check(*state, "x", twice, true, &has_ids, &f.err), &f.err,
                 FRZ_E_ARGUMENT, "column \"s.x\" is there twice");
    const frz_type *lineage = STRUCT(&f, optional(FRZ_ID_NONE, "_row_id", FRZ_TYPE_LONG));
    assert_fails(frz_import_check(*state, "x", lineage, false, &has_ids, &f.err), &f.err,
                 FRZ_E_ARGUMENT, "column name \"_row_id\" is reserved for row lineage");
    const frz_type *none = nested(&f, FRZ_TYPE_STRUCT, NULL, 0);
    assert_fails(frz_import_check(*state, "x", none, false, &has_ids, &f.err), &f.err,
                 FRZ_E_ARGUMENT, "file x has no columns");
    frz_arena_reset(&f.arena);
}

static void strip__leaves_lineage_and_ids_out(void **state)
{
    fixture f;
    const frz_type *out;
    fixture_init(&f, state);
    const frz_type *type =
        STRUCT(&f, optional(5, "a", FRZ_TYPE_INT), frz_field_row_id, frz_field_last_updated,
               field_of(6, "l", true, LIST(&f, required(7, "element", FRZ_TYPE_INT))));
    assert_ok(frz_import_strip(&f.arena, type, &out, &f.err), &f.err);
    assert_int_equal(out->field_count, 2);
    assert_int_equal(frz_type_max_id(out), 0);
    assert_true(out->fields[1].type->fields[0].required);
    frz_arena_reset(&f.arena);
}

/* ---- several files ---- */

static void fit__any_order_and_optional_if_optional_in_one(void **state)
{
    fixture f;
    fixture_init(&f, state);
    assert_ok(frz_import_fit(&f.schema, "x",
                             STRUCT(&f, required(FRZ_ID_NONE, "a", FRZ_TYPE_INT),
                                    required(FRZ_ID_NONE, "b", FRZ_TYPE_STRING)),
                             &f.err),
              &f.err);
    assert_ok(frz_import_fit(&f.schema, "y",
                             STRUCT(&f, required(FRZ_ID_NONE, "b", FRZ_TYPE_STRING),
                                    optional(FRZ_ID_NONE, "a", FRZ_TYPE_INT)),
                             &f.err),
              &f.err);
    assert_int_equal(f.schema.type->field_count, 2);
    assert_true(frz_str_equal(f.schema.type->fields[0].name, FRZ_STR("a")));
    assert_false(f.schema.type->fields[0].required);
    assert_true(f.schema.type->fields[1].required);
    assert_null(f.schema.ids_path);
    frz_arena_reset(&f.arena);
}

static void fit__ids_come_from_whichever_file_has_them(void **state)
{
    fixture f;
    fixture_init(&f, state);
    const frz_type *plain = STRUCT(&f, optional(FRZ_ID_NONE, "a", FRZ_TYPE_INT),
                                   field_of(FRZ_ID_NONE, "s", false,
                                            STRUCT(&f, optional(FRZ_ID_NONE, "x", FRZ_TYPE_INT),
                                                   optional(FRZ_ID_NONE, "y", FRZ_TYPE_DATE))));
    const frz_type *with_ids = STRUCT(
        &f,
        field_of(9, "s", false,
                 STRUCT(&f, optional(4, "y", FRZ_TYPE_DATE), optional(5, "x", FRZ_TYPE_INT))),
        optional(2, "a", FRZ_TYPE_INT));
    assert_ok(frz_import_fit(&f.schema, "x", plain, &f.err), &f.err);
    assert_ok(frz_import_fit(&f.schema, "y", with_ids, &f.err), &f.err);
    assert_string_equal(text_of(&f, f.schema.type),
                        "struct<2: a: int, 9: s: struct<5: x: int, 4: y: date>>");
    assert_string_equal(f.schema.ids_path, "y");
    /* and a third file without ids changes nothing */
    const frz_type *before = f.schema.type;
    assert_ok(frz_import_fit(&f.schema, "z", plain, &f.err), &f.err);
    assert_ptr_equal(f.schema.type, before);
    frz_arena_reset(&f.arena);
}

static void fit__refusals_name_file_column_and_both_types(void **state)
{
    fixture f;
    fixture_init(&f, state);
    const frz_type *decimal_a = &(frz_type){.id = FRZ_TYPE_DECIMAL, .precision = 9, .scale = 2};
    const frz_type *decimal_b = &(frz_type){.id = FRZ_TYPE_DECIMAL, .precision = 10, .scale = 2};
    assert_ok(frz_import_fit(
                  &f.schema, "x",
                  STRUCT(&f, optional(1, "a", FRZ_TYPE_INT),
                         field_of(2, "s", false, STRUCT(&f, field_of(3, "d", false, decimal_a)))),
                  &f.err),
              &f.err);
    assert_fails(frz_import_fit(&f.schema, "y",
                                STRUCT(&f, optional(1, "a", FRZ_TYPE_INT),
                                       field_of(2, "s", false,
                                                STRUCT(&f, field_of(3, "d", false, decimal_b)))),
                                &f.err),
                 &f.err, FRZ_E_ARGUMENT,
                 "file y, column \"s.d\": expected decimal(9, 2) as in x, found decimal(10, 2)");
    assert_fails(
        frz_import_fit(&f.schema, "y",
                       STRUCT(&f, optional(1, "a", FRZ_TYPE_INT), optional(2, "s", FRZ_TYPE_INT)),
                       &f.err),
        &f.err, FRZ_E_ARGUMENT, "file y, column \"s\": expected struct<");
    assert_fails(frz_import_fit(&f.schema, "y", STRUCT(&f, optional(1, "a", FRZ_TYPE_INT)), &f.err),
                 &f.err, FRZ_E_ARGUMENT, "file y has no column \"s\", which is struct<");
    assert_fails(
        frz_import_fit(
            &f.schema, "y",
            STRUCT(&f, optional(1, "a", FRZ_TYPE_INT), optional(8, "more", FRZ_TYPE_LONG),
                   field_of(2, "s", false, STRUCT(&f, field_of(3, "d", false, decimal_a)))),
            &f.err),
        &f.err, FRZ_E_ARGUMENT, "file x has no column \"more\", which is long in file y");
    assert_fails(frz_import_fit(&f.schema, "y",
                                STRUCT(&f, optional(4, "a", FRZ_TYPE_INT),
                                       field_of(2, "s", false,
                                                STRUCT(&f, field_of(3, "d", false, decimal_a)))),
                                &f.err),
                 &f.err, FRZ_E_ARGUMENT,
                 "file y, column \"a\": expected field id 1 as in x, found 4");
    frz_arena_reset(&f.arena);
}

static void number__gives_a_file_the_ids_of_the_table(void **state)
{
    fixture f;
    const frz_type *out;
    fixture_init(&f, state);
    const frz_type *table =
        STRUCT(&f, optional(1, "a", FRZ_TYPE_INT),
               field_of(2, "l", false, LIST(&f, optional(3, "element", FRZ_TYPE_INT))));
    const frz_type *file =
        STRUCT(&f, field_of(1, "l", true, LIST(&f, required(1, "element", FRZ_TYPE_INT))),
               required(1, "a", FRZ_TYPE_INT));
    assert_ok(frz_import_number(&f.arena, file, table, &out, &f.err), &f.err);
    assert_string_equal(text_of(&f, out), "struct<2: l: required list<int>, 1: a: required int>");
    assert_int_equal(out->fields[0].type->fields[0].id, 3);
    assert_true(out->fields[0].type->fields[0].required);
    frz_arena_reset(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(check__ids_everywhere_or_nowhere),
        TEST_WITH_ENV(check__ids_that_a_table_cannot_have),
        TEST_WITH_ENV(check__names_that_cannot_be_told_apart),
        TEST_WITH_ENV(strip__leaves_lineage_and_ids_out),
        TEST_WITH_ENV(fit__any_order_and_optional_if_optional_in_one),
        TEST_WITH_ENV(fit__ids_come_from_whichever_file_has_them),
        TEST_WITH_ENV(fit__refusals_name_file_column_and_both_types),
        TEST_WITH_ENV(number__gives_a_file_the_ids_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
