/*
 * The commit loop: lost races, answers of the catalog, what is removed and what is kept, and what
 * is durable when the pointer is swapped.
 */
#include <errno.h>
#include <time.h>

#include "frazil/column_update.h"
#include "frazil/sql.h"
#include "unit/maintain/maintain_table.h"

#define MOST_NOTES 512

/* A table of one data file of three rows, in a catalog whose answers are scripted, over a storage
 * that notes what was synced. */
typedef struct fixture {
    test_table t;
    frz_env *env;
    frz_catalog outer;
    frz_catalog_ops ops;
    int rivals;                   /* so many swaps come too late: another writer was first */
    const char *rival_properties; /* what the rival sets; NULL: a new value each time */
    int rivals_done;
    swap_answer answer;
    int64_t now;
    int64_t syncs, syncs_of_all;
    char dirs[MOST_NOTES][128]; /* locations that sync_dir was called with */
    size_t dir_count;
    const char *dir_fails; /* the location for which it fails */
    int dir_errno;
} fixture;

/* ---- catalog ---- */

static frz_code scripted_swap(void *ctx, const frz_table_name *name, const char *expected,
                              const char *location, frz_error *err)
{
    fixture *f = ctx;
    frz_catalog *inner = f->t.catalog;
    if (f->rivals > 0) {
        char sql[200];
        frz_sql_result result = {0};
        f->rivals--;
        snprintf(sql, sizeof sql,
                 "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES ('rival' = '%d'%s%s)",
                 ++f->rivals_done, f->rival_properties == NULL ? "" : ", ",
                 f->rival_properties == NULL ? "" : f->rival_properties);
        assert_ok(frz_sql_run(inner, NULL, sql, &result, &f->t.err), &f->t.err);
    }
    return test_swap(inner, f->answer, name, expected, location, err);
}

static frz_code scripted_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    fixture *f = ctx;
    return f->t.catalog->ops->get(f->t.catalog->ctx, name, location, err);
}

static frz_code scripted_create(void *ctx, const frz_table_name *name, const char *location,
                                frz_error *err)
{
    fixture *f = ctx;
    return f->answer == SWAP_FAILS
               ? frz_fail(err, FRZ_E_EXISTS, "another writer made the table")
               : f->t.catalog->ops->create(f->t.catalog->ctx, name, location, err);
}

/* ---- storage ---- */

static fixture *noting; /* the storage's functions forward the local storage's context */

static frz_code noted_sync(void *ctx, void *file, frz_error *err)
{
    (void)ctx;
    (void)file;
    (void)err;
    noting->syncs++;
    return FRZ_OK;
}

static frz_code noted_sync_dir(void *ctx, const char *location, frz_error *err)
{
    (void)ctx;
    if (noting->dir_fails != NULL && strcmp(location, noting->dir_fails) == 0) {
        return frz_fail_os(err, noting->dir_errno, "cannot open folder of %s", location);
    }
    assert_true(noting->dir_count < MOST_NOTES);
    snprintf(noting->dirs[noting->dir_count++], sizeof noting->dirs[0], "%s", location);
    return FRZ_OK;
}

static frz_code noted_sync_all(void *ctx, const char *location, frz_error *err)
{
    (void)ctx;
    (void)location;
    (void)err;
    noting->syncs_of_all++;
    return FRZ_OK;
}

static int64_t stopped_clock(void *ctx)
{
    return ((fixture *)ctx)->now;
}

static void forget_syncs(fixture *f)
{
    f->syncs = f->syncs_of_all = 0;
    f->dir_count = 0;
}

/* True if the names in the folder of a location below the test's folder were synced. */
static bool synced(const fixture *f, const char *format, ...) FRZ_PRINTF(2, 3);
static bool synced(const fixture *f, const char *format, ...)
{
    char rest[64], wanted[160];
    va_list args;
    va_start(args, format);
    vsnprintf(rest, sizeof rest, format, args);
    va_end(args);
    snprintf(wanted, sizeof wanted, "file://%s%s", f->t.folder, rest);
    for (size_t i = 0; i < f->dir_count; i++) {
        if (strcmp(f->dirs[i], wanted) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- fixture ---- */

static void fixture_open(fixture *f, const char *durability)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_storage storage = frz_storage_local;
    const char *path = NULL;
    memset(f, 0, sizeof *f);
    noting = f;
    storage.sync = noted_sync;
    storage.sync_dir = noted_sync_dir;
    storage.sync_all = noted_sync_all;
    options.storage = &storage;
    options.now_ms = stopped_clock;
    options.clock_ctx = f;
    f->now = 1000;
    assert_int_equal(frz_env_new(&options, &f->env, NULL), FRZ_OK);
    void *state = f->env;
    table_open(&f->t, &state);
    f->ops =
        (frz_catalog_ops){.get = scripted_get, .create = scripted_create, .swap = scripted_swap};
    f->outer = (frz_catalog){
        .env = f->env, .ops = &f->ops, .ctx = f, .warehouse = f->t.catalog->warehouse};
    path = source_file(&f->t, COLUMNS({test_field(1, "id", false, FRZ_TYPE_LONG), "1 2 3"}), 0);
    const frz_property properties[] = {{"write.durability", durability},
                                       {"commit.retry.min-wait-ms", "1"},
                                       {"commit.retry.max-wait-ms", "1"}};
    frz_import_options import = FRZ_IMPORT_OPTIONS_INIT;
    import.properties = properties;
    import.property_count = 3;
    assert_ok(frz_import(&f->outer, TEST_NAME, &path, 1, &import, NULL, &f->t.err), &f->t.err);
}

static void fixture_close(fixture *f)
{
    frz_env_counters counters;
    table_close(&f->t);
    frz_env_drop_cache(f->env);
    frz_env_counters_get(f->env, &counters);
    frz_env_free(f->env);
    assert_int_equal(counters.bytes_allocated, 0);
}

static void set_property(fixture *f, const char *pairs)
{
    char sql[200];
    frz_sql_result result = {0};
    snprintf(sql, sizeof sql, "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES (%s)", pairs);
    assert_ok(frz_sql_run(f->t.catalog, NULL, sql, &result, &f->t.err), &f->t.err);
}

static frz_table *load(fixture *f)
{
    frz_table *table = NULL;
    assert_ok(frz_catalog_load_table(f->t.catalog, TEST_NAME, &table, &f->t.err), &f->t.err);
    return table;
}

static int64_t file_count;

static int count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    file_count += flag == FTW_F;
    return 0;
}

static int64_t count_files(const fixture *f, const char *below)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->t.folder, below);
    file_count = 0;
    (void)nftw(path, count_one, 16, FTW_PHYS);
    return file_count;
}

/* ---- a builder ---- */

typedef struct commit_job {
    fixture *f;
    size_t files;   /* written by the first attempt */
    size_t used;    /* of them become part of the table */
    size_t late;    /* written by each later attempt, and not used */
    frz_code fails; /* what the builder answers after all that */
    bool nothing;
    char *locations[200];
    int64_t attempts;
    int64_t rival_seen; /* value of the rival's property in the last attempt */
} commit_job;

static void write_one(fixture *f, const frz_commit_attempt *attempt, bool each, char **location)
{
    frz_file_writer *writer = NULL;
    frz_error *err = &f->t.err;
    assert_ok(frz_commit_new_path(attempt, ".parquet", location, err), err);
    assert_ok(frz_file_create(f->env, *location, &writer, err), err);
    assert_ok(frz_file_append(writer, "bytes", 5, err), err);
    assert_ok(frz_file_finish(writer, each, err), err);
    assert_ok(frz_commit_track(attempt, *location, 5, true, err), err);
}

static void write_files(commit_job *job, const frz_commit_attempt *attempt)
{
    bool first = attempt->number == 1;
    size_t count = first ? job->files : job->late;
    bool each = frz_commit_sync_each(attempt, count);
    for (size_t i = 0; i < count; i++) {
        char *location = NULL;
        write_one(job->f, attempt, each, &location);
        if (first) {
            job->locations[i] = frz_arena_strdup(&job->f->t.arena, frz_str_from(location));
        }
        frz_free(job->f->env, location);
    }
}

static frz_code build_files(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    commit_job *job = ctx;
    job->attempts = attempt->number;
    FRZ_TRY(
        frz_metadata_property_i64(&attempt->table->metadata, "rival", 0, &job->rival_seen, err));
    write_files(job, attempt);
    for (size_t i = 0; i < job->used; i++) {
        frz_entry entry = frz_entry_added(attempt);
        entry.location = frz_table_relativize(attempt->table, frz_str_from(job->locations[i]));
        entry.record_count = 10;
        entry.file_size = 5;
        FRZ_TRY(frz_commit_plan_change(attempt, plan, NULL, &entry, err));
    }
    plan->operation = "append";
    plan->nothing = job->nothing;
    plan->rows = 10 * (int64_t)job->used;
    rc = job->fails == FRZ_OK ? FRZ_OK : frz_fail(err, job->fails, "the builder gives up");
out:
    return rc;
}

static frz_code run(commit_job *job, frz_commit_report *report)
{
    frz_error_reset(&job->f->t.err);
    return frz_commit_run(&job->f->outer, TEST_NAME, build_files, job, report, &job->f->t.err);
}

/* ---- lost races ---- */

static void commit__a_lost_race_is_tried_again_on_the_newest_version(void **state)
{
    fixture f;
    frz_commit_report report = {0};
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 3, .used = 2, .late = 1};
    f.rivals = 2;
    assert_ok(run(&job, &report), &f.t.err);
    assert_int_equal(job.attempts, 3);
    assert_int_equal(job.rival_seen, 2);
    assert_int_equal(report.attempts, 3);
    assert_int_equal(report.rows, 20);
    assert_int_equal(f.t.err.code, FRZ_OK);
    assert_string_equal(f.t.err.message, "");
    /* the imported file and the two that are used; what nobody uses is gone */
    assert_int_equal(count_files(&f, "db/t/data"), 1 + 2);
    /* import, two rivals, this commit: nothing of the attempts that lost */
    assert_int_equal(count_files(&f, "db/t/metadata"), 2 + 2 + 2);
    frz_table *table = load(&f);
    assert_int_equal(table->metadata.current_snapshot_id, report.snapshot_id);
    assert_int_equal(table->metadata.last_sequence_number, 2);
    frz_table_unref(table);
    fixture_close(&f);
}

static void commit__gives_up_after_the_last_retry(void **state)
{
    static const struct {
        const char *retries;
        int64_t attempts;
    } cases[] = {{"2", 3}, {"0", 1}, {"-5", 1}};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char pair[64];
        fixture f;
        fixture_open(&f, "none");
        snprintf(pair, sizeof pair, "'commit.retry.num-retries' = '%s'", cases[i].retries);
        set_property(&f, pair);
        int64_t metadata = count_files(&f, "db/t/metadata");
        commit_job job = {.f = &f, .files = 2, .used = 2};
        f.rivals = 100;
        assert_fails(run(&job, NULL), &f.t.err, FRZ_E_CONFLICT, "changed by another writer");
        assert_int_equal(job.attempts, cases[i].attempts);
        assert_int_equal(count_files(&f, "db/t/data"), 1);
        assert_int_equal(count_files(&f, "db/t/metadata"), metadata + cases[i].attempts);
        fixture_close(&f);
    }
}

static void commit__a_conflict_that_the_builder_sees_is_final(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 2, .fails = FRZ_E_CONFLICT};
    assert_fails(run(&job, NULL), &f.t.err, FRZ_E_CONFLICT, "the builder gives up");
    assert_int_equal(job.attempts, 1);
    assert_int_equal(count_files(&f, "db/t/data"), 1);
    fixture_close(&f);
}

static int64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void back_off__waits_double_up_to_the_most(void **state)
{
    static const struct {
        const char *least, *most;
        int64_t at_least;
    } cases[] = {
        {"20", "40", 10 + 20 + 20}, /* half of each wait is random */
        {"9223372036854775807", "2", 0},
        {"1", "9223372036854775807", 0},
        {"-7", "-9", 0},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char pairs[160];
        fixture f;
        fixture_open(&f, "none");
        snprintf(pairs, sizeof pairs,
                 "'commit.retry.min-wait-ms' = '%s', 'commit.retry.max-wait-ms' = '%s'",
                 cases[i].least, cases[i].most);
        set_property(&f, pairs);
        commit_job job = {.f = &f};
        f.rivals = 3;
        int64_t start = milliseconds();
        assert_ok(run(&job, NULL), &f.t.err);
        assert_int_equal(job.attempts, 4);
        assert_true(milliseconds() - start >= cases[i].at_least);
        fixture_close(&f);
    }
}

/* ---- answers of the catalog ---- */

static void commit__an_unknown_outcome_keeps_every_file(void **state)
{
    static const swap_answer answers[] = {SWAP_UNKNOWN_DONE, SWAP_UNKNOWN_NOT};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(answers); i++) {
        fixture f;
        fixture_open(&f, "none");
        frz_table *before = load(&f);
        commit_job job = {.f = &f, .files = 3, .used = 2};
        f.answer = answers[i];
        assert_fails(run(&job, NULL), &f.t.err, FRZ_E_COMMIT_UNKNOWN, "the connection was lost");
        assert_non_null(strstr(f.t.err.hint, "frazil snapshots " TEST_NAME));
        assert_int_equal(job.attempts, 1);
        assert_int_equal(count_files(&f, "db/t/data"), 1 + 3);
        assert_int_equal(count_files(&f, "db/t/metadata"), 2 + 2);
        frz_table *after = load(&f);
        assert_int_equal(after->metadata.current_snapshot_id !=
                             before->metadata.current_snapshot_id,
                         answers[i] == SWAP_UNKNOWN_DONE);
        frz_table_unref(after);
        frz_table_unref(before);
        fixture_close(&f);
    }
}

static void commit__a_failure_removes_all_that_was_written(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 3, .used = 2};
    f.answer = SWAP_FAILS;
    assert_fails(run(&job, NULL), &f.t.err, FRZ_E_IO, "the catalog is out of order");
    assert_int_equal(count_files(&f, "db/t/data"), 1);
    assert_int_equal(count_files(&f, "db/t/metadata"), 2);
    f.answer = SWAP_DONE;
    job.fails = FRZ_E_ARGUMENT;
    assert_fails(run(&job, NULL), &f.t.err, FRZ_E_ARGUMENT, "the builder gives up");
    assert_int_equal(count_files(&f, "db/t/data"), 1);
    assert_int_equal(count_files(&f, "db/t/metadata"), 2);
    job.fails = FRZ_OK;
    assert_ok(run(&job, NULL), &f.t.err);
    fixture_close(&f);
}

static void commit__a_plan_of_nothing_leaves_nothing(void **state)
{
    fixture f;
    static const frz_commit_report none;
    frz_commit_report report = {.rows = 7};
    (void)state;
    fixture_open(&f, "full");
    forget_syncs(&f);
    commit_job job = {.f = &f, .files = 3, .nothing = true};
    f.rivals = 1; /* there is no swap at which it could come */
    assert_ok(run(&job, &report), &f.t.err);
    assert_memory_equal(&report, &none, sizeof none);
    assert_int_equal(f.rivals, 1);
    assert_int_equal(f.dir_count, 0);
    assert_int_equal(count_files(&f, "db/t/data"), 1);
    assert_int_equal(count_files(&f, "db/t/metadata"), 2);
    fixture_close(&f);
}

static void create__a_table_that_came_into_being_meanwhile_is_left_alone(void **state)
{
    fixture f;
    frz_commit_report report;
    (void)state;
    fixture_open(&f, "none");
    const char *path =
        source_file(&f.t, COLUMNS({test_field(1, "id", false, FRZ_TYPE_LONG), "1 2 3"}), 0);
    assert_fails(frz_import(&f.outer, TEST_NAME, &path, 1, NULL, &report, &f.t.err), &f.t.err,
                 FRZ_E_EXISTS, "table db.t exists already");
    f.answer = SWAP_FAILS;
    assert_fails(frz_import(&f.outer, "db.u", &path, 1, NULL, &report, &f.t.err), &f.t.err,
                 FRZ_E_EXISTS, "another writer made the table");
    assert_int_equal(count_files(&f, "db/u"), 0);
    fixture_close(&f);
}

/* ---- what is durable ---- */

static void sync__each_file_or_all_at_once(void **state)
{
    static const struct {
        size_t files;
        int64_t syncs, of_all;
    } cases[] = {
        {3, 3 + 2, 0},
        {FRZ_SYNC_EACH_MAX, FRZ_SYNC_EACH_MAX + 2, 0},
        {FRZ_SYNC_EACH_MAX + 1, 2, 1}, /* root and metadata are synced in any case */
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        fixture f;
        fixture_open(&f, "full");
        forget_syncs(&f);
        commit_job job = {.f = &f, .files = cases[i].files, .used = cases[i].files};
        assert_ok(run(&job, NULL), &f.t.err);
        assert_int_equal(f.syncs, cases[i].syncs);
        assert_int_equal(f.syncs_of_all, cases[i].of_all);
        assert_int_equal(f.dir_count, 2); /* folders of data and metadata, known before */
        assert_int_equal(count_files(&f, "db/t/data"), 1 + cases[i].files);
        fixture_close(&f);
    }
}

static void sync__durability_none_syncs_nothing(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 70, .used = 70};
    assert_ok(run(&job, NULL), &f.t.err);
    assert_int_equal(f.syncs + f.syncs_of_all, 0);
    assert_int_equal(f.dir_count, 0);
    fixture_close(&f);
}

/* Files of an attempt that synced nothing are used by one that must. */
static void sync__files_of_an_earlier_attempt_are_made_durable(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 3, .used = 3};
    f.rivals = 1;
    f.rival_properties = "'write.durability' = 'full'";
    forget_syncs(&f);
    assert_ok(run(&job, NULL), &f.t.err);
    assert_int_equal(job.attempts, 2);
    assert_int_equal(f.syncs_of_all, 1);
    fixture_close(&f);
}

static void sync__names_of_new_folders_up_to_the_top(void **state)
{
    fixture f;
    (void)state;
    fixture_open(&f, "full");
    /* the table was new */
    assert_true(synced(&f, "/db/t/data"));
    assert_true(synced(&f, "/db/t"));
    assert_true(synced(&f, "/db"));
    assert_true(synced(&f, "%s", "")); /* the warehouse's own name */
    set_property(&f, "'write.data.path' = 'elsewhere/deep'");
    forget_syncs(&f);
    commit_job job = {.f = &f, .files = 2, .used = 2};
    assert_ok(run(&job, NULL), &f.t.err);
    assert_true(synced(&f, "/db/t/elsewhere/deep"));
    assert_true(synced(&f, "/db/t/elsewhere"));
    assert_true(synced(&f, "/db/t"));
    forget_syncs(&f);
    assert_ok(run(&job, NULL), &f.t.err);
    assert_int_equal(f.dir_count, 2); /* known by now */
    fixture_close(&f);
}

static void sync__a_failing_folder_fails_the_commit_unless_it_is_somebody_elses(void **state)
{
    static const struct {
        int error;
        bool fails;
    } cases[] = {{EIO, true}, {EACCES, false}, {EINVAL, false}};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        fixture f;
        char above[128];
        fixture_open(&f, "full");
        set_property(&f, "'write.data.path' = 'elsewhere'");
        snprintf(above, sizeof above, "file://%s/db", f.t.folder);
        f.dir_fails = above;
        f.dir_errno = cases[i].error;
        commit_job job = {.f = &f, .files = 2, .used = 2};
        frz_code rc = run(&job, NULL);
        if (cases[i].fails) {
            assert_fails(rc, &f.t.err, FRZ_E_IO, "cannot open folder");
            assert_int_equal(count_files(&f, "db/t/elsewhere"), 0);
        } else {
            assert_ok(rc, &f.t.err);
        }
        fixture_close(&f);
    }
}

/* ---- properties ---- */

static void properties__what_no_commit_could_get_past_is_refused(void **state)
{
    static const struct {
        const char *key, *value, *phrase;
    } cases[] = {
        {"write.durability", "maybe", "write.durability: expected full or none"},
        {"commit.retry.num-retries", "many", "commit.retry.num-retries: expected a whole number"},
        {"commit.retry.min-wait-ms", "", "commit.retry.min-wait-ms"},
        {"commit.retry.max-wait-ms", "1s", "commit.retry.max-wait-ms"},
        {"write.metadata.previous-versions-max", "x", "write.metadata.previous-versions-max"},
        {"write.metadata.path", "//", "write.metadata.path: expected a folder"},
        {"write.data.path", "", "write.data.path: expected a folder"},
    };
    fixture f;
    frz_sql_result result;
    (void)state;
    fixture_open(&f, "none");
    const char *path =
        source_file(&f.t, COLUMNS({test_field(1, "id", false, FRZ_TYPE_LONG), "1 2 3"}), 0);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "ALTER TABLE " TEST_NAME " SET TBLPROPERTIES ('%s' = '%s')",
                 cases[i].key, cases[i].value);
        assert_fails(frz_sql_run(f.t.catalog, NULL, sql, &result, &f.t.err), &f.t.err,
                     FRZ_E_ARGUMENT, cases[i].phrase);
        const frz_property property = {cases[i].key, cases[i].value};
        frz_import_options options = FRZ_IMPORT_OPTIONS_INIT;
        options.properties = &property;
        options.property_count = 1;
        assert_fails(frz_import(f.t.catalog, "db.u", &path, 1, &options, NULL, &f.t.err), &f.t.err,
                     FRZ_E_ARGUMENT, cases[i].phrase);
        assert_int_equal(count_files(&f, "db/u"), 0);
    }
    set_property(&f, "'note' = 'a commit still works'");
    fixture_close(&f);
}

/* ---- entries and numbers ---- */

static void entries__fields_follow_the_status(void **state)
{
    const frz_commit_attempt attempt = {.snapshot_id = 50, .sequence_number = 9};
    const frz_entry source = {.status = FRZ_STATUS_MODIFIED,
                              .snapshot_id = 10,
                              .modified_snapshot_id = 20,
                              .sequence_number = 5,
                              .file_sequence_number = 2,
                              .first_row_id = 150};
    const struct {
        frz_entry entry;
        frz_status status;
        int64_t snapshot, modified, sequence, file_sequence, first_row;
    } cases[] = {
        {frz_entry_row_delete(&source, &attempt), FRZ_STATUS_MODIFIED, 10, 50, 5, 2, 150},
        {frz_entry_column_update(&source, &attempt), FRZ_STATUS_MODIFIED, 10, 50, 9, 2, 150},
        {frz_entry_added(&attempt), FRZ_STATUS_ADDED, 50, FRZ_NO_VALUE, 9, 9, FRZ_NO_VALUE},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        const frz_entry *e = &cases[i].entry;
        assert_int_equal(e->status, cases[i].status);
        assert_int_equal(e->snapshot_id, cases[i].snapshot);
        assert_int_equal(e->modified_snapshot_id, cases[i].modified);
        assert_int_equal(e->sequence_number, cases[i].sequence);
        assert_int_equal(e->file_sequence_number, cases[i].file_sequence);
        assert_int_equal(e->first_row_id, cases[i].first_row);
    }
}

static void commit__new_files_get_row_ids_and_times_rise(void **state)
{
    fixture f;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    static const frz_stats_choice no_stats = {.all = false};
    frz_tree *tree = NULL;
    (void)state;
    fixture_open(&f, "none");
    commit_job job = {.f = &f, .files = 2, .used = 2};
    f.rivals = 1;
    assert_ok(run(&job, NULL), &f.t.err);
    frz_table *table = load(&f);
    assert_int_equal(table->metadata.next_row_id, 3 + 20);
    assert_ok(frz_table_snapshot(table, 0, &snapshot, &schema, &f.t.err), &f.t.err);
    assert_int_equal(snapshot->first_row_id, 3);
    assert_int_equal(snapshot->added_rows, 20);
    assert_int_equal(table->metadata.snapshots[0].timestamp_ms, 1000);
    assert_int_equal(snapshot->timestamp_ms, 1002); /* the clock stands; the rival came between */
    assert_ok(frz_tree_open(table, snapshot, schema, &no_stats, &tree, &f.t.err), &f.t.err);
    assert_int_equal(frz_tree_entry_count(tree), 3);
    assert_int_equal(frz_tree_entry(tree, 0)->status, FRZ_STATUS_EXISTING);
    assert_int_equal(frz_tree_entry(tree, 0)->first_row_id, 0);
    assert_int_equal(frz_tree_entry(tree, 0)->sequence_number, 1);
    assert_int_equal(frz_tree_entry(tree, 1)->status, FRZ_STATUS_ADDED);
    assert_int_equal(frz_tree_entry(tree, 1)->first_row_id, 3);
    assert_int_equal(frz_tree_entry(tree, 2)->first_row_id, 13);
    assert_int_equal(frz_tree_entry(tree, 2)->sequence_number, 2);
    frz_tree_free(tree);
    frz_table_unref(table);
    fixture_close(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit__a_lost_race_is_tried_again_on_the_newest_version),
        cmocka_unit_test(commit__gives_up_after_the_last_retry),
        cmocka_unit_test(commit__a_conflict_that_the_builder_sees_is_final),
        cmocka_unit_test(back_off__waits_double_up_to_the_most),
        cmocka_unit_test(commit__an_unknown_outcome_keeps_every_file),
        cmocka_unit_test(commit__a_failure_removes_all_that_was_written),
        cmocka_unit_test(commit__a_plan_of_nothing_leaves_nothing),
        cmocka_unit_test(create__a_table_that_came_into_being_meanwhile_is_left_alone),
        cmocka_unit_test(sync__each_file_or_all_at_once),
        cmocka_unit_test(sync__durability_none_syncs_nothing),
        cmocka_unit_test(sync__files_of_an_earlier_attempt_are_made_durable),
        cmocka_unit_test(sync__names_of_new_folders_up_to_the_top),
        cmocka_unit_test(sync__a_failing_folder_fails_the_commit_unless_it_is_somebody_elses),
        cmocka_unit_test(properties__what_no_commit_could_get_past_is_refused),
        cmocka_unit_test(entries__fields_follow_the_status),
        cmocka_unit_test(commit__new_files_get_row_ids_and_times_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
