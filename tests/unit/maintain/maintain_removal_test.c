/*
 * Files that go unless they stay: each once, however often and in whatever spelling they are named,
 * and whether what was said fits into memory or not.
 */
#include <sys/stat.h>

#include "maintain/maintain_removal.h"
#include "unit/maintain/maintain_table.h"
#include "unit/test_alloc.h"

#define FILES 300

typedef struct fixture {
    test_table t;
    frz_removal *removal;
    int visited;
} fixture;

static const char *path_of(fixture *f, int i)
{
    return frz_arena_printf(&f->t.arena, "%s/f%d", f->t.folder, i);
}

static void make_files(fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        frz_file_writer *writer = NULL;
        assert_ok(frz_file_create(f->t.env, path_of(f, i), &writer, &f->t.err), &f->t.err);
        assert_ok(frz_file_append(writer, "abc", 3, &f->t.err), &f->t.err);
        assert_ok(frz_file_finish(writer, false, &f->t.err), &f->t.err);
    }
}

static bool exists(fixture *f, int i)
{
    return access(path_of(f, i), F_OK) == 0;
}

static void fixture_open(fixture *f, void **state, size_t memory)
{
    *f = (fixture){.visited = 0};
    table_open(&f->t, state);
    assert_ok(frz_removal_new(f->t.env, memory, &f->removal, &f->t.err), &f->t.err);
}

static void fixture_close(fixture *f)
{
    frz_removal_free(f->removal);
    table_close(&f->t);
}

static void offer(fixture *f, const char *location)
{
    assert_ok(
        frz_removal_offer(f->removal, FRZ_REMOVED_DATA_FILE, frz_str_from(location), &f->t.err),
        &f->t.err);
}

static void keep(fixture *f, const char *location)
{
    assert_ok(frz_removal_keep(f->removal, frz_str_from(location), &f->t.err), &f->t.err);
}

static void visit(void *ctx, frz_removed kind, const char *name, int64_t bytes)
{
    fixture *f = ctx;
    f->visited++;
    assert_int_equal(kind, FRZ_REMOVED_DATA_FILE);
    assert_non_null(strstr(name, "/f"));
    assert_int_equal(bytes, 3);
}

static frz_removal_report do_it(fixture *f, bool dry)
{
    const frz_removal_run run = {.dry = dry, .what = "test", .visit = visit, .visit_ctx = f};
    frz_removal_report report = {0};
    assert_ok(frz_removal_do(f->removal, &run, &report, &f->t.err), &f->t.err);
    return report;
}

/* Every third file stays; all are named several times, in several orders. */
static void remove_some(void **state, size_t memory)
{
    fixture f;
    fixture_open(&f, state, memory);
    make_files(&f, FILES);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FILES; i++) {
            offer(&f, path_of(&f, i));
        }
        for (int i = 0; i < FILES; i += 3) {
            keep(&f, path_of(&f, i));
        }
    }
    frz_removal_report dry = do_it(&f, true);
    assert_int_equal(dry.count[FRZ_REMOVED_DATA_FILE], FILES * 2 / 3);
    for (int i = 0; i < FILES; i++) {
        assert_true(exists(&f, i));
    }
    frz_removal_report report = do_it(&f, false);
    assert_memory_equal(&report, &dry, sizeof dry);
    assert_int_equal(report.bytes, 3 * FILES * 2 / 3);
    assert_int_equal(f.visited, 2 * FILES * 2 / 3);
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(exists(&f, i), i % 3 == 0);
    }
    fixture_close(&f);
}

static void removal__in_memory(void **state)
{
    remove_some(state, FRZ_REMOVAL_MEMORY);
}

static void removal__through_a_scratch_file(void **state)
{
    static const size_t memories[] = {1, 100, 1000, 20000};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(memories); i++) {
        remove_some(state, memories[i]);
    }
}

static void removal__spellings_of_one_place(void **state)
{
    static const char *const spellings[] = {"%s/f0",    "file:%s/f0",   "file://%s/f0",
                                            "%s//./f0", "%s/sub/../f0", "%s-link/f0"};
    fixture f;
    for (size_t k = 0; k < FRZ_ARRAY_COUNT(spellings); k++) {
        for (size_t o = 0; o < FRZ_ARRAY_COUNT(spellings); o++) {
            fixture_open(&f, state, FRZ_REMOVAL_MEMORY);
            char link[128], sub[128], kept[256], offered[256];
            snprintf(link, sizeof link, "%s-link", f.t.folder);
            snprintf(sub, sizeof sub, "%s/sub", f.t.folder);
            assert_int_equal(symlink(f.t.folder, link), 0);
            assert_int_equal(mkdir(sub, 0777), 0);
            make_files(&f, 2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(kept, sizeof kept, spellings[k], f.t.folder);
            snprintf(offered, sizeof offered, spellings[o], f.t.folder);
#pragma GCC diagnostic pop
            keep(&f, kept);
            offer(&f, offered);
            offer(&f, path_of(&f, 1));
            frz_removal_report report = do_it(&f, false);
            assert_int_equal(report.count[FRZ_REMOVED_DATA_FILE], 1);
            assert_true(exists(&f, 0));
            assert_false(exists(&f, 1));
            assert_int_equal(unlink(link), 0);
            fixture_close(&f);
        }
    }
}

static void removal__what_is_gone_does_not_count(void **state)
{
    fixture f;
    fixture_open(&f, state, FRZ_REMOVAL_MEMORY);
    make_files(&f, 1);
    offer(&f, path_of(&f, 0));
    offer(&f, path_of(&f, 1));   /* was never there */
    offer(&f, "s3://bucket/f2"); /* no storage */
    frz_removal_report report = do_it(&f, false);
    assert_int_equal(report.count[FRZ_REMOVED_DATA_FILE], 1);
    assert_int_equal(report.failed, 1);
    fixture_close(&f);
}

static frz_code name_and_remove(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_removal *removal = NULL;
    frz_removal_report report = {0};
    const frz_removal_run run = {.dry = true, .what = "test"};
    FRZ_TRY(frz_removal_new(env, 64, &removal, err));
    for (int i = 0; i < 8; i++) {
        char location[32];
        snprintf(location, sizeof location, "/nowhere%d/f", i);
        FRZ_TRY(frz_removal_offer(removal, FRZ_REMOVED_ORPHAN, frz_str_from(location), err));
        FRZ_TRY(frz_removal_keep(removal, frz_str_from(location), err));
    }
    FRZ_TRY(frz_removal_do(removal, &run, &report, err));
out:
    frz_removal_free(removal);
    return rc;
}

static void removal__without_memory_nothing_leaks(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(name_and_remove) > 10);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(removal__in_memory),
        TEST_WITH_ENV(removal__through_a_scratch_file),
        TEST_WITH_ENV(removal__spellings_of_one_place),
        TEST_WITH_ENV(removal__what_is_gone_does_not_count),
        cmocka_unit_test(removal__without_memory_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
