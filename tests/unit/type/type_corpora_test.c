/*
 * Schemas that other engines wrote: each is read, written, and means the same when read again.
 */
#include <ftw.h>
#include <stdlib.h>

#include "type/type_schema.h"
#include "type/type_value.h"
#include "unit/test_support.h"

/* nftw has no context. */
static const frz_env *env_of_walk;
static int schemas_seen, schemas_refused;

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void assert_same_value(const frz_value *a, const frz_value *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL) {
        assert_true(!a->is_null && !b->is_null && frz_type_equal(a->type, b->type));
        assert_int_equal(frz_value_compare(a, b, true), 0);
    }
}

static void assert_same_fields(const frz_type *a, const frz_type *b)
{
    for (size_t i = 0; i < a->field_count; i++) {
        assert_true(frz_str_equal(a->fields[i].doc, b->fields[i].doc));
        assert_same_value(a->fields[i].initial_default, b->fields[i].initial_default);
        assert_same_value(a->fields[i].write_default, b->fields[i].write_default);
        assert_same_fields(a->fields[i].type, b->fields[i].type);
    }
}

/* Members at the top and field by field; types and defaults may be spelled in another way. */
static void assert_same_members(const char *file, json_t *written, json_t *original)
{
    size_t count = json_array_size(json_object_get(original, "fields"));
    assert_int_equal(json_array_size(json_object_get(written, "fields")), count);
    for (size_t i = 0; i < count; i++) {
        json_t *a = json_array_get(json_object_get(written, "fields"), i);
        json_t *b = json_array_get(json_object_get(original, "fields"), i);
        if (json_object_size(a) != json_object_size(b) ||
            !json_equal(json_object_get(a, "name"), json_object_get(b, "name")) ||
            !json_equal(json_object_get(a, "id"), json_object_get(b, "id")) ||
            !json_equal(json_object_get(a, "required"), json_object_get(b, "required"))) {
            fail_msg("%s: field %zu differs", file, i);
        }
    }
    assert_true(json_equal(json_object_get(written, "identifier-field-ids"),
                           json_object_get(original, "identifier-field-ids")) ||
                json_array_size(json_object_get(original, "identifier-field-ids")) == 0);
}

static void check_schema(const char *file, json_t *json)
{
    frz_error err = {0};
    frz_arena arena;
    const frz_schema *schema = NULL;
    const frz_schema *again = NULL;
    json_t *back = NULL;
    frz_arena_init(&arena, env_of_walk, FRZ_ARENA_NO_LIMIT);
    schemas_seen++;
    frz_code rc = frz_schema_from_json(&arena, json, file, &schema, &err);
    if (rc == FRZ_E_UNSUPPORTED) {
        schemas_refused++;
    } else {
        assert_ok(rc, &err);
        assert_ok(frz_schema_to_json(schema, &back, &err), &err);
        assert_same_members(file, back, json);
        assert_ok(frz_schema_from_json(&arena, back, file, &again, &err), &err);
        assert_true(frz_type_equal(schema->type, again->type));
        assert_same_fields(schema->type, again->type);
        json_decref(back);
    }
    frz_arena_reset(&arena);
}

static int check_file(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    json_error_t fault;
    size_t i;
    json_t *schema;
    (void)st;
    (void)where;
    if (kind != FTW_F || !ends_with(path, ".metadata.json")) {
        return 0;
    }
    json_t *table = json_load_file(path, 0, &fault);
    json_array_foreach(json_object_get(table, "schemas"), i, schema)
    {
        check_schema(path, schema);
    }
    json_decref(table);
    return 0;
}

static void schema_json__of_other_engines_keeps_its_meaning(void **state)
{
    static const char *const folders[] = {"iceberg-v4",   "iceberg-java",    "iceberg-go",
                                          "iceberg-rust", "iceberg-engines", "duckdb-iceberg"};
    const char *corpora = getenv("FRAZIL_CORPORA");
    char folder[1000];
    env_of_walk = *state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(folders); i++) {
        snprintf(folder, sizeof folder, "%s/%s", corpora == NULL ? "../shared/corpora" : corpora,
                 folders[i]);
        nftw(folder, check_file, 16, FTW_PHYS);
    }
    if (schemas_seen == 0) {
        print_message("no corpora at %s (set FRAZIL_CORPORA)\n", folder);
        skip();
    }
    print_message("%d schemas, %d refused\n", schemas_seen, schemas_refused);
    assert_true(schemas_refused * 50 < schemas_seen);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(schema_json__of_other_engines_keeps_its_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
