/*
 * Which fields have statistics, and how much of them.
 */
#include "unit/meta/meta_fixture.h"

/* The modes of the fields of the current schema as text: "1:truncate(16) 2:none". */
static void modes_text(const frz_table *table, char *text, size_t size)
{
    static const char *const names[] = {"none", "counts", "truncate", "full"};
    frz_error err = {0};
    frz_arena arena;
    frz_metrics_config config;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_metrics_config_of(&table->metadata, frz_metadata_current_schema(&table->metadata),
                                    &arena, &config, &err),
              &err);
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < config.field_count; i++) {
        len += (size_t)snprintf(text + len, size - len, "%s%d:%s", i == 0 ? "" : " ",
                                (int)config.fields[i].field_id, names[config.fields[i].mode]);
        if (config.fields[i].mode == FRZ_METRICS_TRUNCATE) {
            len += (size_t)snprintf(text + len, size - len, "(%zu)", config.fields[i].length);
        }
    }
    frz_arena_reset(&arena);
}

static void assert_modes(const frz_env *env, const char *properties, const char *expected)
{
    char text[256];
    frz_table *table = fixture_table(env, "properties", properties);
    modes_text(table, text, sizeof text);
    assert_string_equal(text, expected);
    frz_table_unref(table);
}

static void metrics__properties_choose_fields_and_modes(void **state)
{
    const frz_env *env = *state;
    assert_modes(env, "{}", "1:truncate(16) 2:truncate(16) 3:truncate(16)");
    assert_modes(env, "{'write.metadata.metrics.max-inferred-column-defaults': '2'}",
                 "1:truncate(16) 2:truncate(16) 3:none");
    assert_modes(env, "{'write.metadata.metrics.default': 'none'}", "1:none 2:none 3:none");
    assert_modes(env,
                 "{'write.metadata.metrics.default': 'COUNTS',"
                 "'write.metadata.metrics.max-inferred-column-defaults': '1',"
                 "'write.metadata.metrics.column.x': 'full',"
                 "'write.metadata.metrics.column.gone': 'full',"
                 "'write.metadata.metrics.column.name': 'truncate(3)'}",
                 "1:counts 2:truncate(3) 3:full");
}

static void metrics__other_modes_are_refused(void **state)
{
    const frz_env *env = *state;
    static const char *const bad[] = {"''", "'all'", "'truncate(0)'", "'truncate(x)'",
                                      "'truncate'"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bad); i++) {
        frz_error err = {0};
        frz_arena arena;
        frz_metrics_config config;
        frz_table *table = fixture_table(env, "properties/write.metadata.metrics.column.x", bad[i]);
        frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
        assert_fails(frz_metrics_config_of(&table->metadata,
                                           frz_metadata_current_schema(&table->metadata), &arena,
                                           &config, &err),
                     &err, FRZ_E_ARGUMENT,
                     "property write.metadata.metrics.column.x: expected none, counts");
        frz_arena_reset(&arena);
        frz_table_unref(table);
    }
}

static void metrics__modes_are_applied(void **state)
{
    const frz_env *env = *state;
    frz_error err = {0};
    frz_arena arena;
    frz_metrics_config config;
    frz_field_stats *kept = NULL;
    size_t count = 0;
    const frz_type *text = frz_type_primitive(FRZ_TYPE_STRING);
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    frz_field_stats stats[] = {
        {.field_id = 3, .type = number, .value_count = 1},
        {.field_id = 2,
         .type = text,
         .has_lower = true,
         .lower = {.type = text, .as.bytes = FRZ_STR("abcdef")},
         .tight_bounds = 1,
         .value_count = 9},
        {.field_id = 1,
         .type = number,
         .has_lower = true,
         .has_upper = true,
         .lower = {.type = number, .as.i64 = 1},
         .upper = {.type = number, .as.i64 = 5},
         .tight_bounds = 1,
         .value_count = 9},
    };
    frz_table *table = fixture_table(env, "properties",
                                     "{'write.metadata.metrics.column.id': 'counts',"
                                     "'write.metadata.metrics.column.name': 'truncate(3)',"
                                     "'write.metadata.metrics.column.x': 'none'}");
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_metrics_config_of(&table->metadata, frz_metadata_current_schema(&table->metadata),
                                    &arena, &config, &err),
              &err);
    assert_ok(
        frz_metrics_apply(&config, stats, FRZ_ARRAY_COUNT(stats), &arena, &kept, &count, &err),
        &err);
    assert_int_equal(count, 2);
    assert_int_equal(kept[0].field_id, 1);
    assert_false(kept[0].has_lower || kept[0].has_upper);
    assert_int_equal(kept[0].value_count, 9);
    assert_int_equal(kept[1].field_id, 2);
    assert_true(frz_str_equal(kept[1].lower.as.bytes, FRZ_STR("abc")));
    assert_int_equal(kept[1].tight_bounds, 0);
    frz_arena_reset(&arena);
    frz_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(metrics__properties_choose_fields_and_modes),
        TEST_WITH_ENV(metrics__other_modes_are_refused),
        TEST_WITH_ENV(metrics__modes_are_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
