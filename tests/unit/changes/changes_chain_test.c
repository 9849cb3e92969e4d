/*
 * Which snapshots a range of changes has, and sets of numbers that grow beyond what is gathered at
 * once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "changes/changes_internal.h"
#include "unit/test_alloc.h"
#include "unit/test_support.h"

/* ---- chains ---- */

#define SNAPSHOT(id, parent)                                                                       \
    "{'snapshot-id':" id ",'parent-snapshot-id':" parent ",'sequence-number':" id                  \
    ",'timestamp-ms':1,'manifest-list':'file:///t/l','summary':{'operation':'append'}}"

#define DOCUMENT(snapshots)                                                                        \
    "{'format-version':2,'table-uuid':'8cff5649-77f3-5294-9913-351d87f5b508',"                     \
    "'location':'file:///t','last-sequence-number':9,'last-updated-ms':1,'last-column-id':1,"      \
    "'current-schema-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':["                   \
    "{'id':1,'name':'id','required':true,'type':'long'}]}],"                                       \
    "'partition-specs':[{'spec-id':0,'fields':[]}],'default-spec-id':0,"                           \
    "'last-partition-id':999,'sort-orders':[{'order-id':0,'fields':[]}],"                          \
    "'default-sort-order-id':0,'current-snapshot-id':4,'snapshots':[" snapshots "]}"

/* 1 - 2 - 3 - 4 is the main line, 5 a branch off 2, and the parent of 7 has expired. */
static const char *const document =
    DOCUMENT(SNAPSHOT("1", "null") "," SNAPSHOT("2", "1") "," SNAPSHOT("3", "2") "," SNAPSHOT(
        "4", "3") "," SNAPSHOT("5", "2") "," SNAPSHOT("7", "6") "," SNAPSHOT("8", "7"));
static const char *const circle =
    DOCUMENT(SNAPSHOT("1", "null") "," SNAPSHOT("3", "4") "," SNAPSHOT("4", "3"));

static frz_table *table_of(const frz_env *env, const char *text)
{
    char json[4096];
    frz_error err = {0};
    frz_table *table = NULL;
    size_t len = strlen(text);
    assert_true(len < sizeof json);
    for (size_t i = 0; i < len; i++) {
        json[i] = text[i] == '\'' ? '"' : text[i];
    }
    assert_ok(frz_table_parse(env, "t", (frz_str){json, len}, NULL, &table, &err), &err);
    return table;
}

/* The ids of a chain as "2,3", or the code and a part of the message. */
static void check_chain(const frz_table *table, int64_t from, int64_t to, frz_code code,
                        const char *wanted)
{
    frz_error err = {0};
    frz_arena arena;
    change_chain chain;
    char text[64] = "";
    frz_changes_options opts = FRZ_CHANGES_OPTIONS_INIT;
    opts.from_snapshot_id = from;
    opts.to_snapshot_id = to;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = change_chain_of(table, &opts, &arena, &chain, &err);
    if (code != FRZ_OK) {
        assert_fails(rc, &err, code, wanted);
    } else {
        assert_ok(rc, &err);
        for (size_t i = 0; i < chain.count; i++) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld", i == 0 ? "" : ",",
                     (long long)chain.snapshots[i]->snapshot_id);
        }
        assert_string_equal(text, wanted);
    }
    frz_arena_reset(&arena);
}

static void chain__goes_along_parents_oldest_first(void **state)
{
    frz_table *table = table_of(*state, document);
    check_chain(table, 0, 0, FRZ_OK, "4");
    check_chain(table, 0, 1, FRZ_OK, "1");
    check_chain(table, 1, 0, FRZ_OK, "2,3,4");
    check_chain(table, 1, 5, FRZ_OK, "2,5");
    check_chain(table, 7, 8, FRZ_OK, "8");
    check_chain(table, 4, 4, FRZ_OK, "");
    frz_table_unref(table);
}

static void chain__of_snapshots_that_are_not_related_is_refused(void **state)
{
    frz_table *table = table_of(*state, document);
    check_chain(table, 5, 0, FRZ_E_ARGUMENT, "snapshot 5 is not an ancestor of snapshot 4");
    check_chain(table, 4, 3, FRZ_E_ARGUMENT, "snapshot 4 is not an ancestor of snapshot 3");
    check_chain(table, 9, 0, FRZ_E_NOT_FOUND, "no snapshot 9");
    check_chain(table, 1, 9, FRZ_E_NOT_FOUND, "no snapshot 9");
    check_chain(table, 1, 8, FRZ_E_NOT_FOUND, "snapshot 6, the parent of snapshot 7, has expired");
    frz_table_unref(table);
    table = table_of(*state, circle);
    check_chain(table, 1, 0, FRZ_E_CORRUPT, "is an ancestor of itself");
    check_chain(table, 3, 0, FRZ_OK, "4");
    frz_table_unref(table);
}

/* ---- sets in the making ---- */

#define NUMBERS 700000 /* more than are gathered at once, twice over */

/* Numbers in no order: each below NUMBERS once, times a stride. */
static frz_code gather_all(const frz_env *env, int64_t stride, frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_gatherer g = {.env = env};
    for (int64_t i = 0; i < NUMBERS; i++) {
        FRZ_TRY(change_gather(&g, i * 300007 % NUMBERS * stride, err));
    }
    rc = change_gather_finish(&g, out, err);
out:
    change_gatherer_reset(&g);
    return rc;
}

static void gather__numbers_in_any_order_become_one_set(void **state)
{
    for (int64_t stride = 1; stride <= 3; stride++) {
        frz_error err = {0};
        frz_positions *set = NULL;
        assert_ok(gather_all(*state, stride, &set, &err), &err);
        assert_int_equal(frz_positions_count(set), NUMBERS);
        assert_int_equal(frz_positions_last(set), (NUMBERS - 1) * stride);
        for (int64_t i = 0; i < NUMBERS * stride; i++) {
            assert_int_equal(frz_positions_has(set, i), i % stride == 0);
        }
        frz_positions_free(set);
    }
}

static void gather__nothing_is_no_set(void **state)
{
    frz_error err = {0};
    frz_positions *set = NULL;
    change_gatherer g = {.env = *state};
    assert_ok(change_gather_finish(&g, &set, &err), &err);
    assert_null(set);
    change_gatherer_reset(&g);
}

static frz_code scenario_gather(const frz_env *env, frz_error *err)
{
    frz_positions *set = NULL;
    frz_code rc = gather_all(env, 1, &set, err);
    frz_positions_free(set);
    return rc;
}

static void alloc__sets_in_the_making_give_back_what_they_took(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_gather) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(chain__goes_along_parents_oldest_first),
        TEST_WITH_ENV(chain__of_snapshots_that_are_not_related_is_refused),
        TEST_WITH_ENV(gather__numbers_in_any_order_become_one_set),
        TEST_WITH_ENV(gather__nothing_is_no_set),
        cmocka_unit_test(alloc__sets_in_the_making_give_back_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
