/*
 * Plans: which files of a snapshot come out, in which order, whatever the number of threads.
 */
#include "unit/meta/meta_fixture.h"
#include "unit/test_alloc.h"

#include "scan/scan_locations.h"
#include "scan/scan_plan.h"

static frz_env *env_with_threads(int threads)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    options.threads = threads;
    assert_int_equal(frz_env_new(&options, &env, NULL), FRZ_OK);
    return env;
}

static void free_env(frz_env *env)
{
    void *state = env;
    assert_int_equal(test_env_teardown(&state), 0);
}

/* ---- plans as text ---- */

static frz_code print_report(const frz_file_plan_report *r, frz_buf *out, frz_error *err)
{
    return frz_buf_printf(
        out, err,
        "%lld manifests, %lld skipped (%lld empty, %lld by partition, %lld by statistics); "
        "%lld files, %lld skipped (%lld by partition, %lld by statistics)",
        (long long)r->manifests, (long long)r->manifests_skipped, (long long)r->manifests_empty,
        (long long)r->manifests_by_partition, (long long)r->manifests_by_statistics,
        (long long)r->files, (long long)r->files_skipped, (long long)r->files_by_partition,
        (long long)r->files_by_statistics);
}

/* Every task's location, row id and rows, then the counts. */
static frz_code plan_text(const frz_table *table, const char *where, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &table->metadata;
    frz_file_plan_options options = {.snapshot = frz_metadata_current_snapshot(m),
                                     .schema = frz_metadata_current_schema(m),
                                     .reasons = true};
    frz_file_plan *plan = NULL;
    frz_bound_expr *filter = NULL;
    frz_file_plan_report report;
    frz_planned_file task;
    frz_arena arena;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (where != NULL) {
        const frz_expr *expr = NULL;
        FRZ_TRY(frz_expr_parse(&arena, frz_str_from(where), &expr, err));
        FRZ_TRY(frz_expr_bind_filter(table->env, expr, options.schema->type, &filter, err));
        options.filter = filter;
    }
    FRZ_TRY(frz_file_plan_open(table, &options, &plan, err));
    while ((rc = frz_file_plan_next(plan, &task, err)) == FRZ_OK) {
        FRZ_TRY(frz_buf_printf(out, err, "%.*s %lld %lld\n", FRZ_STR_ARG(task.entry->location),
                               (long long)task.entry->first_row_id,
                               (long long)task.entry->record_count));
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    frz_file_plan_report_get(plan, &report);
    FRZ_TRY(print_report(&report, out, err));
out:
    frz_file_plan_close(plan);
    frz_bound_expr_free(filter);
    frz_arena_reset(&arena);
    return rc;
}

static void check_same_text(const frz_env *one, const frz_env *many, const char *root,
                            const fixture_corpus_table *entry, const char *where)
{
    const frz_env *envs[] = {one, many};
    frz_buf texts[2] = {FRZ_BUF_INIT(one, FRZ_BUF_NO_LIMIT), FRZ_BUF_INIT(many, FRZ_BUF_NO_LIMIT)};
    frz_code codes[2];
    for (size_t i = 0; i < 2; i++) {
        frz_table *table = NULL;
        frz_error err = {0};
        assert_ok(fixture_corpus_open(envs[i], root, entry, &table, &err), &err);
        codes[i] = plan_text(table, where, &texts[i], &err);
        assert_ok(frz_buf_printf(&texts[i], &err, "%s", err.message), &err);
        frz_table_unref(table);
    }
    assert_int_equal(codes[0], codes[1]);
    if (!frz_str_equal(frz_buf_view(&texts[0]), frz_buf_view(&texts[1]))) {
        fail_msg("%s: %.*s\nis not\n%.*s", entry->dir, FRZ_STR_ARG(frz_buf_view(&texts[0])),
                 FRZ_STR_ARG(frz_buf_view(&texts[1])));
    }
    frz_buf_reset(&texts[0]);
    frz_buf_reset(&texts[1]);
}

static bool has_plan(const fixture_corpus_table *entry)
{
    return entry->must_fail[0] == '\0' && strncmp(entry->dir, "upgraded", 8) != 0 &&
           strcmp(entry->dir, "no_snapshot") != 0;
}

static void plan__does_not_depend_on_threads(void **state)
{
    char root[256], path[512];
    fixture_corpus_table entry;
    (void)state;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        return;
    }
    frz_env *one = env_with_threads(1), *many = env_with_threads(4);
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, &entry)) {
        if (has_plan(&entry)) {
            check_same_text(one, many, root, &entry, NULL);
        }
    }
    fclose(list);
    free_env(one);
    free_env(many);
}

static void find_table(const char *root, const char *dir, fixture_corpus_table *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, out) && strcmp(out->dir, dir) != 0) {
    }
    fclose(list);
    assert_string_equal(out->dir, dir);
}

static void check_plan(const frz_env *env, const char *dir, const char *where, const char *expected)
{
    char root[256];
    fixture_corpus_table entry = {.dir = ""};
    frz_error err = {0};
    frz_table *table = NULL;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        return;
    }
    find_table(root, dir, &entry);
    assert_ok(fixture_corpus_open(env, root, &entry, &table, &err), &err);
    assert_ok(plan_text(table, where, &text, &err), &err);
    assert_ok(frz_buf_append_byte(&text, 0, &err), &err);
    assert_string_equal((const char *)text.data, expected);
    frz_buf_reset(&text);
    frz_table_unref(table);
}

static void plan__entries_and_manifests_are_skipped_by_statistics(void **state)
{
    /* the root's own first, then what is left of the leaf; ids are 1 to 34 */
    check_plan(*state, "worked_examples", NULL,
               "data/f-001.parquet 0 10\n"
               "data/f-002.parquet 10 5\n"
               "data/f-009.parquet 26 3\n"
               "data/f-015.parquet 29 2\n"
               "data/f-004.parquet 19 7\n"
               "1 manifests, 0 skipped (0 empty, 0 by partition, 0 by statistics); "
               "5 files, 0 skipped (0 by partition, 0 by statistics)");
    check_plan(*state, "worked_examples", "id > 1000",
               "1 manifests, 0 skipped (0 empty, 0 by partition, 0 by statistics); "
               "5 files, 5 skipped (0 by partition, 5 by statistics)");
    /* nothing of the leaf is left, so it is not opened */
    check_plan(*state, "leaf_fully_masked", NULL,
               "data/f-002.parquet 3 3\n"
               "data/f-003.parquet 6 3\n"
               "1 manifests, 1 skipped (1 empty, 0 by partition, 0 by statistics); "
               "2 files, 0 skipped (0 by partition, 0 by statistics)");
}

static void plan__partitions_of_several_specs_are_reasons(void **state)
{
    check_plan(*state, "partition_union", "cat = 'no'",
               "data/f-004.parquet 6 1\n" /* of another spec */
               "data/f-005.parquet 7 3\n" /* not partitioned */
               "2 manifests, 0 skipped (0 empty, 0 by partition, 0 by statistics); "
               "6 files, 4 skipped (4 by partition, 0 by statistics)");
    check_plan(*state, "partition_union", "id = 6 or d >= DATE '2023-01-01' and id < 6",
               "data/f-001.parquet 0 3\n"
               "data/f-008.parquet 12 3\n"
               "data/f-002.parquet 3 3\n"
               "data/f-005.parquet 7 3\n"
               "2 manifests, 0 skipped (0 empty, 0 by partition, 0 by statistics); "
               "6 files, 2 skipped (1 by partition, 1 by statistics)");
}

/* ---- without memory ---- */

static const char *alloc_dir; /* of the table that a scenario plans */

static frz_code scenario_plan(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char root[256];
    fixture_corpus_table entry = {.dir = ""};
    frz_table *table = NULL;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    assert_non_null(fixture_corpus("iceberg-v4", root, sizeof root));
    find_table(root, alloc_dir, &entry);
    FRZ_TRY(fixture_corpus_open(env, root, &entry, &table, err));
    FRZ_TRY(plan_text(table, "id >= 1 and id < 8", &text, err));
out:
    frz_buf_reset(&text);
    frz_table_unref(table);
    return rc;
}

static void plan__every_allocation_may_fail(void **state)
{
    static const char *const dirs[] = {"partition_union", "upgraded_append"};
    char root[256];
    (void)state;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        return;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(dirs); i++) {
        alloc_dir = dirs[i];
        assert_true(test_fail_every_allocation(scenario_plan) > 100);
    }
}

/* ---- locations ---- */

static void locations__are_compared_as_resolved(void **state)
{
    frz_table *table = fixture_table(*state, NULL, NULL);
    frz_locations set = {.env = *state};
    frz_error err = {0};
    bool added = false;
    char name[64];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3000; i++) {
            snprintf(name, sizeof name, "%s%d",
                     (i + round) % 2 == 0 ? "data/" : "file:///w/db/wide/data/", i);
            assert_ok(frz_locations_add(&set, table, frz_str_from(name), &added, &err), &err);
            assert_int_equal(added, round == 0);
        }
    }
    assert_ok(frz_locations_add(&set, table, FRZ_STR("/data/1"), &added, &err), &err);
    assert_true(added);
    assert_int_equal(set.count, 3001);
    frz_locations_reset(&set);
    frz_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan__does_not_depend_on_threads),
        TEST_WITH_ENV(plan__entries_and_manifests_are_skipped_by_statistics),
        TEST_WITH_ENV(plan__partitions_of_several_specs_are_reasons),
        cmocka_unit_test(plan__every_allocation_may_fail),
        TEST_WITH_ENV(locations__are_compared_as_resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
