/*
 * Deletes of every kind in one table, tests/data/deletes: within the limits of memory, beyond them,
 * and with every allocation failing.
 */
#include "scan/scan_deletes.h"
#include "scan/scan_plan.h"
#include "scan/scan_stitch.h"
#include "unit/test_alloc.h"

#define TABLE "tests/data/deletes/metadata/table.metadata.json"
#define ROWS 500
#define FIRST_END 200
#define SECOND_END 400

/* Rows that are left, each as often as it was found. */
typedef struct found_rows {
    int times[ROWS];
    int64_t delete_files;
} found_rows;

/* What tests/data/deletes/make.py has deleted. */
static bool is_left(int64_t id)
{
    bool by_position = id < FIRST_END    ? id % 7 == 0 || id % 11 == 0
                       : id < SECOND_END ? (id - FIRST_END) % 7 == 3
                                         : (id - SECOND_END) % 13 == 0;
    bool by_key = id % 17 == 0 || id % 50 == 10 || (id < SECOND_END && id % 20 == 3);
    return !by_position && !by_key;
}

/* ---- reading ---- */

typedef struct reader {
    const frz_env *env;
    frz_arena arena;
    frz_table *table;
    frz_file_plan *plan;
    frz_delete_index *index;
    const frz_type *projection;
    found_rows *found;
} reader;

static frz_code take_batch(reader *r, const frz_file_deletes *deletes, const frz_type *type,
                           const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = batch->array.length;
    uint8_t *bits = frz_alloc(r->env, frz_bitmap_bytes(rows) + 8);
    if (bits == NULL) {
        return frz_fail_nomem(err, frz_bitmap_bytes(rows));
    }
    memset(bits, 0xff, frz_bitmap_bytes(rows));
    if (deletes != NULL) {
        FRZ_TRY(frz_file_deletes_clear(deletes, type, batch, bits, err));
    }
    for (int64_t i = 0; i < rows; i++) {
        int64_t id = frz_get_i64(batch->array.children[0], i);
        assert_true(id >= 0 && id < ROWS);
        r->found->times[id] += frz_bit_get(bits, i);
    }
out:
    frz_free(r->env, bits);
    return rc;
}

static frz_code read_file(reader *r, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *deletes = NULL;
    frz_stitch *stitch = NULL;
    frz_batch batch;
    frz_stitch_request request = {.projection = r->projection, .with_deleted = true};
    FRZ_TRY(frz_file_deletes_find(r->index, r->table, entry, &deletes, err));
    if (deletes != NULL) {
        request.deleted = frz_file_deletes_positions(deletes);
        FRZ_TRY(frz_file_deletes_read_type(deletes, r->projection, &r->arena, &request.projection,
                                           err));
    }
    FRZ_TRY(frz_stitch_open(r->table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        rc = take_batch(r, deletes, request.projection, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_stitch_close(stitch);
    frz_file_deletes_free(deletes);
    return rc;
}

static frz_code open_table(reader *r, size_t position_bytes, size_t key_bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const int32_t ids[] = {1};
    static const frz_location_map map = {"file:///deletes/", "tests/data/deletes/"};
    frz_table_open_options options = FRZ_TABLE_OPEN_OPTIONS_INIT;
    const int32_t *keys = NULL;
    size_t count = 0;
    options.maps = &map;
    options.map_count = 1;
    FRZ_TRY(frz_table_open(r->env, TABLE, &options, &r->table, err));
    const frz_metadata *m = &r->table->metadata;
    const frz_file_plan_options plan = {.snapshot = frz_metadata_current_snapshot(m),
                                        .schema = frz_metadata_current_schema(m)};
    const frz_delete_options deletes = {
        .schema = plan.schema, .position_bytes = position_bytes, .key_bytes = key_bytes};
    FRZ_TRY(frz_project_ids(&r->arena, plan.schema->type, ids, 1, &r->projection, err));
    FRZ_TRY(frz_file_plan_open(r->table, &plan, &r->plan, err));
    FRZ_TRY(frz_delete_index_open(r->table, frz_file_plan_tree(r->plan), &deletes, &r->index, err));
    FRZ_TRY(frz_delete_index_keys(r->index, &r->arena, &keys, &count, err));
    assert_int_equal(count, 4);
    rc = frz_file_plan_add_stats(r->plan, keys, count, err);
out:
    return rc;
}

static frz_code find_rows(const frz_env *env, size_t position_bytes, size_t key_bytes,
                          found_rows *found, frz_error *err)
{
    frz_code rc = FRZ_OK;
    reader r = {.env = env, .found = found};
    frz_planned_file task;
    memset(found, 0, sizeof *found);
    frz_arena_init(&r.arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(open_table(&r, position_bytes, key_bytes, err));
    while ((rc = frz_file_plan_next(r.plan, &task, err)) == FRZ_OK) {
        FRZ_TRY(read_file(&r, task.entry, err));
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    found->delete_files = frz_delete_index_files(r.index);
out:
    frz_delete_index_free(r.index);
    frz_file_plan_close(r.plan);
    frz_arena_reset(&r.arena);
    frz_table_unref(r.table);
    return rc;
}

static void check_rows(const found_rows *found)
{
    for (int64_t id = 0; id < ROWS; id++) {
        if (found->times[id] != is_left(id)) {
            fail_msg("row %lld: found %d times, expected %d", (long long)id, found->times[id],
                     is_left(id));
        }
    }
}

/* Delete files that were read. */
static int64_t check_limits(void **state, size_t position_bytes, size_t key_bytes)
{
    static found_rows found;
    frz_error err = {0};
    assert_ok(find_rows(*state, position_bytes, key_bytes, &found, &err), &err);
    check_rows(&found);
    return found.delete_files;
}

/* ---- tests ---- */

static void deletes__of_every_kind_take_their_rows(void **state)
{
    /* each file once: two of positions, a vector, four of keys */
    assert_int_equal(check_limits(state, 0, 0), 7);
}

static void positions__that_were_dropped_are_read_again(void **state)
{
    assert_int_equal(check_limits(state, 1, 0), 8); /* the file that is for two data files */
}

static void portions__keys_beyond_the_limit_delete_the_same_rows(void **state)
{
    int64_t least = check_limits(state, 0, 0), most = 0;
    for (size_t limit = 1; limit < (size_t)1 << 20; limit = limit * 3 + 1) {
        int64_t files = check_limits(state, 0, limit);
        assert_true(files >= least);
        most = FRZ_MAX(most, files);
    }
    /* three files of keys are read for each of three data files, the oldest one for two */
    assert_int_equal(most, 3 + 3 * 3 + 2);
}

static void portions__with_dropped_positions(void **state)
{
    assert_int_equal(check_limits(state, 1, 1), 4 + 3 * 3 + 2);
}

static frz_code scenario_within(const frz_env *env, frz_error *err)
{
    static found_rows found;
    return find_rows(env, 0, 0, &found, err);
}

static frz_code scenario_portions(const frz_env *env, frz_error *err)
{
    static found_rows found;
    return find_rows(env, 1, 1, &found, err);
}

static void alloc__every_allocation_of_the_index_may_fail(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_within) > 100);
    assert_true(test_fail_every_allocation(scenario_portions) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(deletes__of_every_kind_take_their_rows),
        TEST_WITH_ENV(positions__that_were_dropped_are_read_again),
        TEST_WITH_ENV(portions__keys_beyond_the_limit_delete_the_same_rows),
        TEST_WITH_ENV(portions__with_dropped_positions),
        cmocka_unit_test(alloc__every_allocation_of_the_index_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
