/*
 * Each way in which an update goes on after another writer was first: column files kept, only the
 * lineage written again, or computed again.
 */
#include "model/model_table.h"
#include "unit/test_alloc.h"
#include "unit/test_roots.h"

static void rival_by_text(fixture *f)
{
    frz_sql_result result = {0};
    assert_ok(frz_sql_run(f->inner, NULL, f->rival_sql, &result, &f->err), &f->err);
    f->sequence += result.report.snapshot_id != 0;
}

static void rival_compacts(fixture *f)
{
    frz_commit_report report = {0};
    assert_ok(frz_compact(f->inner, NAME, &report, &f->err), &f->err);
    f->sequence += report.snapshot_id != 0;
}

/* Two files of ten rows, ids 0 to 9 and 10 to 19. */
static void two_files(fixture *f, void **state)
{
    static const size_t ends[] = {10, 20};
    fixture_open(f, state, 7);
    make_rows(f, 20);
    import_rows(f, ends, 2, true, "full");
}

static const model_rule *rule_of(const char *column, const char *text)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(model_rules); i++) {
        if (strcmp(model_columns[model_rules[i].column].name, column) == 0 &&
            strcmp(model_rules[i].text, text) == 0) {
            return &model_rules[i];
        }
    }
    fail_msg("no rule %s = %s", column, text);
    return NULL;
}

static const model_condition *condition_of(const char *text)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(model_conditions); i++) {
        if (strcmp(model_conditions[i].text, text) == 0) {
            return &model_conditions[i];
        }
    }
    fail_msg("no condition %s", text);
    return NULL;
}

static update one_update(const fixture *f, const char *column, const char *text,
                         const char *condition, int64_t number)
{
    update u = {.rules = {rule_of(column, text)}, .rule_count = 1, .number = number};
    u.condition = condition == NULL ? NULL : condition_of(condition);
    update_text(&f->now, &u);
    return u;
}

/* Run mine, overtaken by theirs (NULL: the rival that is set); both end up in the model. Returns
 * the number of files that were created after the race was lost, root and metadata included. */
static uint64_t race(fixture *f, const update *mine, const update *theirs)
{
    frz_env_counters counters;
    if (theirs != NULL) {
        f->rival = rival_by_text;
        f->rival_sql = theirs->sql;
        assert_true(model_update(&f->now, theirs, f->sequence + 1) > 0);
    }
    frz_commit_report report = run_sql(f, &f->outer, mine->sql);
    frz_env_counters_get(f->env, &counters);
    assert_int_equal(report.attempts, 2);
    assert_null(f->rival);
    follow_update(f, mine, &report);
    uint64_t created = counters.files_created - f->files_then;
    check_table(f, false);
    return created;
}

static void set_mode(fixture *f, const char *statement, const char *mode)
{
    char sql[128];
    snprintf(sql, sizeof sql, "ALTER TABLE " NAME " SET TBLPROPERTIES ('write.%s.mode' = '%s')",
             statement, mode);
    run_sql(f, f->inner, sql);
}

/* The column u, of which no file stores anything. */
static void add_unknown(fixture *f)
{
    const model_value null = model_null();
    run_sql(f, f->inner, "ALTER TABLE " NAME " ADD COLUMN u unknown");
    model_add_column(&f->now, &null);
}

/* An update: SET column = text WHERE condition, which has a number in it. */
typedef struct race_update {
    const char *column, *text, *condition;
    int64_t number;
} race_update;

/* Mine is overtaken by theirs. Files that I create then, root and metadata among them, and files of
 * data that there are in the end, if it matters. */
static void race_of(void **state, const char *mode, race_update mine, race_update theirs,
                    uint64_t created, int64_t files)
{
    fixture f;
    two_files(&f, state);
    if (mode != NULL) {
        set_mode(&f, "update", mode);
    }
    update m = one_update(&f, mine.column, mine.text, mine.condition, mine.number);
    update t = one_update(&f, theirs.column, theirs.text, theirs.condition, theirs.number);
    assert_int_equal(race(&f, &m, &t), created);
    if (files > 0) {
        assert_int_equal(count_files(&f, "db/t/data"), files);
    }
    fixture_close(&f);
}

#define UPDATE(...) ((race_update){__VA_ARGS__})
#define UPDATE_ALL(column, text) ((race_update){column, text, NULL, 0})

static void race__all_rows_updated_keeps_the_column_files(void **state)
{
    race_of(state, NULL, UPDATE_ALL("n", "n + 1"), UPDATE("d", "id / 4", "id < %lld", 15), 2,
            2 + 2 + 2);
}

/* A result that is kept must not lean on the version of the table that its attempt had loaded: a
 * decimal's bounds have a type of that version's schema. */
static void race__kept_statistics_own_their_types(void **state)
{
    race_of(state, NULL, UPDATE_ALL("m", "m + 0.25"), UPDATE("d", "id / 4", "id < %lld", 15), 2, 0);
}

static void race__other_columns_changed_renews_only_the_lineage(void **state)
{
    /* base files, theirs, mine and its lineage */
    race_of(state, NULL, UPDATE("n", "n + 1", "id % 3 = %lld % 3", 1),
            UPDATE("d", "id / 4", "id < %lld", 15), 2 + 2, 2 + 2 + 2 + 2);
}

static void race__another_data_file_changed_keeps_everything(void **state)
{
    race_of(state, NULL, UPDATE("n", "n + 1", "id < %lld", 4), UPDATE("n", "7", "id >= %lld", 12),
            2, 0);
}

/* Only the first data file is computed again, and the column file of the lost attempt is gone. */
static void race__a_value_read_has_changed_computes_again(void **state)
{
    race_of(state, NULL, UPDATE_ALL("d", "n"), UPDATE("n", "id * 3", "id < %lld", 4), 1 + 2,
            2 + 1 + 2);
}

static void race__a_column_of_the_condition_has_changed_computes_again(void **state)
{
    race_of(state, NULL, UPDATE("s", "'x'", "n > %lld", 3), UPDATE_ALL("n", "id * 3"), 2 + 2,
            2 + 2 + 2);
}

/* Rows that are not updated keep the value that the other writer gave them. */
static void race__the_assigned_column_has_changed_computes_again(void **state)
{
    race_of(state, NULL, UPDATE("n", "7", "id < %lld", 4), UPDATE_ALL("n", "id * 3"), 1 + 2, 0);
}

/* Nothing of the old value is needed: the later writer wins without computing. */
static void race__overwriting_all_rows_needs_nothing_of_the_other(void **state)
{
    race_of(state, NULL, UPDATE_ALL("n", "7"), UPDATE("n", "id * 3", "id < %lld", 4), 2, 0);
}

static void race__lineage_that_is_read_computes_again(void **state)
{
    race_of(state, NULL, UPDATE_ALL("n", "_last_updated_sequence_number"),
            UPDATE("d", "id / 4", "id < %lld", 4), 1 + 2, 0);
}

/* The old files and the new ones; no column file is left. */
static void race__a_rewritten_file_is_kept_if_another_changed(void **state)
{
    race_of(state, "copy-on-write", UPDATE("n", "n + 1", "id < %lld", 4),
            UPDATE("n", "7", "id >= %lld", 12), 2, 2 + 2);
}

/* A column file on the way, and the new file. */
static void race__a_rewritten_file_is_made_again_of_a_changed_one(void **state)
{
    race_of(state, "copy-on-write", UPDATE("n", "n + 1", "id < %lld", 4),
            UPDATE("d", "id / 4", "id < %lld", 4), 2 + 2, 2 + 1 + 1);
}

/* The vectors are written again. */
static void race__rows_that_moved_are_kept_if_others_changed(void **state)
{
    race_of(state, "merge-on-read", UPDATE("n", "n + 1", "id < %lld", 4),
            UPDATE("n", "7", "id >= %lld", 12), 1 + 2, 2 + 2 + 2);
}

static void race__rows_that_moved_are_moved_again_if_some_changed(void **state)
{
    race_of(state, "merge-on-read", UPDATE("n", "n + 1", "id < %lld", 4),
            UPDATE("d", "id / 4", "id < %lld", 15), 2 + 2, 2 + 2 + 2);
}

/* Rows that were deleted meanwhile are neither updated nor counted. */
static void race__rows_that_were_deleted_compute_again(void **state)
{
    fixture f;
    two_files(&f, state);
    update mine = one_update(&f, "n", "n + 1", NULL, 0);
    f.rival = rival_by_text;
    f.rival_sql = "DELETE FROM " NAME " WHERE id >= 15";
    f.now.count = 15;
    assert_int_equal(race(&f, &mine, NULL), 1 + 2);
    fixture_close(&f);
}

static void race__a_new_schema_computes_again(void **state)
{
    fixture f;
    two_files(&f, state);
    add_unknown(&f);
    update mine = one_update(&f, "n", "n + 1", NULL, 0);
    f.rival = rival_by_text;
    f.rival_sql = "ALTER TABLE " NAME " ADD COLUMN a0 bigint DEFAULT 5";
    const model_value five = model_long(5);
    model_add_column(&f.now, &five);
    assert_int_equal(race(&f, &mine, NULL), 2 + 2);
    fixture_close(&f);
}

/* The lineage is all that there is of mine, and it is old. */
static void race__a_column_that_is_not_stored_computes_again(void **state)
{
    fixture f;
    two_files(&f, state);
    set_mode(&f, "update", "column-file");
    add_unknown(&f);
    update mine = one_update(&f, "u", "NULL", "id < %lld", 5);
    update theirs = one_update(&f, "n", "n + 1", "id < %lld", 8);
    assert_int_equal(race(&f, &mine, &theirs), 2 + 1);
    assert_int_equal(count_files(&f, "db/t/data"), 2 + 1 + 1);
    fixture_close(&f);
}

/* Bounds that were computed have the old type. */
static void race__a_type_that_grew_computes_again(void **state)
{
    fixture f;
    two_files(&f, state);
    update mine = one_update(&f, "m", "m + 0.25", "id < %lld", 4);
    f.rival = rival_by_text;
    f.rival_sql = "ALTER TABLE " NAME " ALTER COLUMN m TYPE decimal(12, 2)";
    assert_int_equal(race(&f, &mine, NULL), 1 + 2);
    fixture_close(&f);
}

/* ---- MERGE ---- */

static void put_row(fixture *f, int64_t id, int64_t n, int64_t row_id, int64_t sequence)
{
    model *m = &f->now;
    m->rows = realloc(m->rows, (m->count + 1) * sizeof *m->rows);
    assert_non_null(m->rows);
    model_row *row = &m->rows[m->count++];
    *row = (model_row){.row_id = row_id, .last_updated = sequence};
    for (int c = 0; c < COL_MOST; c++) {
        row->values[c] = model_null();
    }
    row->values[COL_ID] = model_long(id);
    row->values[COL_N] = model_long(n);
}

/* Merge rows 5, 6, 30 and 31, n of which is 50 and so on, overtaken by another statement. Returns
 * as race() does; the model does not follow. */
static uint64_t race_merge(fixture *f, const char *mode, const char *theirs,
                           frz_commit_report *report)
{
    static const int64_t ids[] = {5, 6, 30, 31};
    model_row rows[4] = {{.row_id = 0}};
    char sql[400];
    frz_env_counters counters;
    for (size_t i = 0; i < 4; i++) {
        for (int c = 0; c < COL_MOST; c++) {
            rows[i].values[c] = model_null();
        }
        rows[i].values[COL_ID] = model_long(ids[i]);
        rows[i].values[COL_N] = model_long(50 + (int64_t)i);
    }
    set_mode(f, "merge", mode);
    snprintf(sql, sizeof sql,
             "MERGE INTO " NAME " USING '%s' src ON t.id = src.id WHEN MATCHED THEN UPDATE SET n = "
             "src.n WHEN NOT MATCHED THEN INSERT (id, n) VALUES (src.id, src.n)",
             write_file(f, rows, 4, 3, true));
    f->rival = rival_by_text;
    f->rival_sql = theirs;
    *report = run_sql(f, &f->outer, sql);
    frz_env_counters_get(f->env, &counters);
    assert_int_equal(report->attempts, 2);
    assert_null(f->rival);
    return counters.files_created - f->files_then;
}

/* The model's rows after it, if new ones are inserted. */
static void follow_merge(fixture *f, const frz_commit_report *report, int64_t first_row_id)
{
    f->sequence++;
    for (int64_t i = 0; i < 2; i++) {
        f->now.rows[5 + i].values[COL_N] = model_long(50 + i);
        f->now.rows[5 + i].last_updated = f->sequence;
        put_row(f, 30 + i, 52 + i, first_row_id + i, f->sequence);
    }
    assert_int_equal(report->rows, 4);
    assert_int_equal(report->rows_inserted, 2);
    assert_int_equal(report->source_unmatched, 2);
    remember(f, report->snapshot_id);
    check_table(f, true);
}

/* Mine is in one data file, theirs in the other. */
static void race__a_merge_keeps_what_it_made_of_other_files(void **state)
{
    static const struct {
        const char *mode;
        uint64_t again; /* files besides root and metadata */
        int64_t first_row_id;
    } modes[] = {{"column-file", 0, 20}, {"copy-on-write", 0, 30}, {"merge-on-read", 1, 20}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(modes); i++) {
        fixture f;
        frz_commit_report report;
        two_files(&f, state);
        update theirs = one_update(&f, "d", "id / 4", "id >= %lld", 15);
        uint64_t created = race_merge(&f, modes[i].mode, theirs.sql, &report);
        assert_int_equal(created, 2 + modes[i].again);
        assert_int_equal(model_update(&f.now, &theirs, f.sequence), 5);
        follow_merge(&f, &report, modes[i].first_row_id);
        fixture_close(&f);
    }
}

/* They have changed what it assigns: it is computed again, but what it inserts stays. */
static void race__a_merge_keeps_rows_that_it_inserts(void **state)
{
    fixture f;
    frz_commit_report report;
    two_files(&f, state);
    update theirs = one_update(&f, "n", "7", "id < %lld", 15);
    assert_int_equal(race_merge(&f, "column-file", theirs.sql, &report), 2 + 1);
    assert_int_equal(model_update(&f.now, &theirs, f.sequence), 15);
    follow_merge(&f, &report, 20);
    fixture_close(&f);
}

/* They have inserted a row that it would have: it is updated. */
static void race__a_merge_inserts_no_row_twice(void **state)
{
    fixture f;
    frz_commit_report report;
    two_files(&f, state);
    assert_int_equal(
        race_merge(&f, "column-file", "INSERT INTO " NAME " (id, n) VALUES (30, 1)", &report),
        2 + 2);
    f.sequence++;
    put_row(&f, 30, 52, 20, f.sequence);
    put_row(&f, 31, 53, 21, f.sequence);
    for (int64_t i = 0; i < 2; i++) {
        f.now.rows[5 + i].values[COL_N] = model_long(50 + i);
        f.now.rows[5 + i].last_updated = f.sequence;
    }
    assert_int_equal(report.rows, 4);
    assert_int_equal(report.rows_inserted, 1);
    assert_int_equal(report.source_unmatched, 1);
    remember(&f, report.snapshot_id);
    check_table(&f, true);
    fixture_close(&f);
}

/* They have deleted a row that it has updated: it is inserted. */
static void race__a_merge_inserts_what_has_gone(void **state)
{
    fixture f;
    frz_commit_report report;
    two_files(&f, state);
    race_merge(&f, "column-file", "DELETE FROM " NAME " WHERE id = 6", &report);
    f.sequence++;
    f.now.rows[5].values[COL_N] = model_long(50);
    f.now.rows[5].last_updated = f.sequence;
    put_row(&f, 6, 51, 20, f.sequence);
    f.now.rows[6] = f.now.rows[--f.now.count]; /* in the place of the one that has gone */
    put_row(&f, 30, 52, 21, f.sequence);
    put_row(&f, 31, 53, 22, f.sequence);
    assert_int_equal(report.rows, 4);
    assert_int_equal(report.rows_inserted, 3);
    assert_int_equal(report.source_unmatched, 3);
    remember(&f, report.snapshot_id);
    check_table(&f, true);
    fixture_close(&f);
}

static void race__a_name_that_is_gone_is_an_error(void **state)
{
    fixture f;
    two_files(&f, state);
    frz_sql_result result = {0};
    f.rival = rival_by_text;
    f.rival_sql = "ALTER TABLE " NAME " RENAME COLUMN n TO m2";
    assert_fails(frz_sql_run(&f.outer, NULL, "UPDATE " NAME " SET n = n + 1", &result, &f.err),
                 &f.err, FRZ_E_NOT_FOUND, "there is no column \"n\"");
    assert_null(f.rival);
    assert_int_equal(count_files(&f, "db/t/data"), 2);
    assert_ok(
        frz_sql_run(f.inner, NULL, "ALTER TABLE " NAME " RENAME COLUMN m2 TO n", &result, &f.err),
        &f.err);
    check_table(&f, false);
    fixture_close(&f);
}

/* The other way round: the change of the schema is planned again for what the update left. */
static void race__a_column_is_renamed_after_an_update(void **state)
{
    fixture f;
    two_files(&f, state);
    frz_sql_result result = {0};
    update theirs = one_update(&f, "n", "7", "id >= %lld", 12);
    f.rival = rival_by_text;
    f.rival_sql = theirs.sql;
    assert_true(model_update(&f.now, &theirs, f.sequence + 1) > 0);
    assert_ok(
        frz_sql_run(&f.outer, NULL, "ALTER TABLE " NAME " RENAME COLUMN n TO n2", &result, &f.err),
        &f.err);
    assert_int_equal(result.report.attempts, 2);
    assert_int_equal(result.report.snapshot_id, 0);
    assert_ok(
        frz_sql_run(f.inner, NULL, "ALTER TABLE " NAME " RENAME COLUMN n2 TO n", &result, &f.err),
        &f.err);
    check_table(&f, false);
    fixture_close(&f);
}

/* What compaction wrote under an older schema is kept: it has the field ids, and the bounds of its
 * columns grow with their types. */
static void race__compaction_goes_on_after_a_type_grew(void **state)
{
    fixture f;
    two_files(&f, state);
    update before = one_update(&f, "m", "m + 0.25", NULL, 0);
    frz_commit_report report = run_sql(&f, &f.outer, before.sql);
    follow_update(&f, &before, &report);
    f.rival = rival_by_text;
    f.rival_sql = "ALTER TABLE " NAME " ALTER COLUMN m TYPE decimal(12, 2)";
    assert_ok(frz_compact(&f.outer, NAME, &report, &f.err), &f.err);
    assert_int_equal(report.attempts, 2);
    f.sequence++;
    remember(&f, report.snapshot_id);
    check_table(&f, true);
    fixture_close(&f);
}

static void race__compacted_data_files_are_computed_anew(void **state)
{
    fixture f;
    two_files(&f, state);
    update before = one_update(&f, "d", "id / 4", "id < %lld", 4);
    frz_commit_report report = run_sql(&f, &f.outer, before.sql);
    follow_update(&f, &before, &report);
    update mine = one_update(&f, "n", "n + 1", NULL, 0);
    f.rival = rival_compacts;
    assert_int_equal(race(&f, &mine, NULL), 1 + 2);
    fixture_close(&f);
}

/* The same for compaction: what it wrote for the data file that did not change is kept. */
static void race__compaction_keeps_what_it_wrote_for_other_files(void **state)
{
    fixture f;
    frz_env_counters counters;
    two_files(&f, state);
    update before = one_update(&f, "m", "m + 0.25", NULL, 0);
    frz_commit_report report = run_sql(&f, &f.outer, before.sql);
    follow_update(&f, &before, &report);
    update theirs = one_update(&f, "n", "7", "id >= %lld", 12);
    f.rival = rival_by_text;
    f.rival_sql = theirs.sql;
    assert_true(model_update(&f.now, &theirs, f.sequence + 1) > 0);
    assert_ok(frz_compact(&f.outer, NAME, &report, &f.err), &f.err);
    frz_env_counters_get(f.env, &counters);
    assert_int_equal(report.attempts, 2);
    assert_int_equal(counters.files_created - f.files_then, 1 + 2);
    f.sequence++;
    remember(&f, report.snapshot_id);
    check_table(&f, true);
    fixture_close(&f);
}

/* The other writer left no row to update: then nothing is committed, and nothing stays behind. */
static void race__no_row_is_left_to_update(void **state)
{
    fixture f;
    two_files(&f, state);
    update mine = one_update(&f, "d", "id / 4", "n > %lld", 3);
    update theirs = one_update(&f, "n", "NULL", NULL, 0);
    assert_true(model_update(&f.now, &theirs, 2) > 0);
    f.rival = rival_by_text;
    f.rival_sql = theirs.sql;
    frz_commit_report report = run_sql(&f, &f.outer, mine.sql);
    assert_int_equal(report.snapshot_id, 0);
    assert_int_equal(report.attempts, 0);
    check_table(&f, false);
    assert_int_equal(count_files(&f, "db/t/data"), 2 + 2);
    fixture_close(&f);
}

/* ---- rows of a source ---- */

/* n becomes 7 in the rows whose id is in a file, which has those of all rows. */
static update update_from_file(fixture *f)
{
    update u = one_update(f, "n", "7", NULL, 0);
    const char *path = write_file(f, f->now.rows, f->now.count, 9, false);
    snprintf(u.sql, sizeof u.sql, "UPDATE " NAME " SET n = 7 FROM '%s' s WHERE " NAME ".id = s.id",
             path);
    return u;
}

static const char *const race_modes[] = {"column-file", "copy-on-write", "merge-on-read"};

/* Rows of the source that only the lost attempt has used are unmatched; those of results that are
 * kept are not. */
static void race__rows_of_the_source_are_counted_by_the_last_attempt(void **state)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(race_modes); i++) {
        fixture f;
        frz_commit_report report = {0};
        two_files(&f, state);
        set_mode(&f, "update", race_modes[i]);
        update mine = update_from_file(&f);
        f.rival = rival_by_text;
        f.rival_sql = "DELETE FROM " NAME " WHERE id >= 15";
        f.now.count = 15;
        report = run_sql(&f, &f.outer, mine.sql);
        assert_int_equal(report.attempts, 2);
        follow_update(&f, &mine, &report);
        assert_int_equal(report.source_rows, 20);
        assert_int_equal(report.source_unmatched, 5);
        check_table(&f, false);
        fixture_close(&f);
    }
}

static void race__rows_of_the_source_in_kept_results_are_matched(void **state)
{
    fixture f;
    two_files(&f, state);
    update mine = update_from_file(&f);
    update theirs = one_update(&f, "d", "id / 4", "id < %lld", 15);
    f.rival = rival_by_text;
    f.rival_sql = theirs.sql;
    assert_true(model_update(&f.now, &theirs, 2) > 0);
    frz_commit_report report = run_sql(&f, &f.outer, mine.sql);
    assert_int_equal(report.attempts, 2);
    follow_update(&f, &mine, &report);
    assert_int_equal(report.source_rows, 20);
    assert_int_equal(report.source_unmatched, 0);
    check_table(&f, false);
    fixture_close(&f);
}

/* ---- the table as its own source ---- */

/* The table is its own source, whose columns another writer gives another type. */
static void race__a_self_join_goes_on_after_a_type_grew(void **state)
{
    static const char *const rivals[] = {
        "ALTER TABLE " NAME " ALTER COLUMN m TYPE decimal(12, 2)",
        "ALTER TABLE " NAME " ADD COLUMN a0 bigint DEFAULT 5",
        "UPDATE " NAME " SET n = n",
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(rivals); i++) {
        fixture f;
        frz_sql_result result = {0};
        two_files(&f, state);
        f.rival = rival_by_text;
        f.rival_sql = rivals[i];
        assert_ok(frz_sql_run(&f.outer, NULL,
                              "UPDATE " NAME " SET m = s.m FROM " NAME " s WHERE " NAME
                              ".id = s.id",
                              &result, &f.err),
                  &f.err);
        assert_int_equal(result.report.attempts, 2);
        assert_int_equal(result.report.rows, 20);
        assert_int_equal(result.report.source_unmatched, 0);
        fixture_close(&f);
    }
}

/* What the statement reads is gone: it cannot be run again. */
static void race__a_self_join_without_its_column_is_a_conflict(void **state)
{
    static const char *const statements[] = {
        "UPDATE " NAME " SET d = s.n FROM " NAME " s WHERE " NAME ".id = s.id",
        "MERGE INTO " NAME " t USING " NAME
        " s ON t.id = s.id WHEN MATCHED THEN UPDATE SET d = s.n",
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(statements); i++) {
        fixture f;
        frz_sql_result result = {0};
        two_files(&f, state);
        f.rival = rival_by_text;
        f.rival_sql = "ALTER TABLE " NAME " RENAME COLUMN n TO m2";
        assert_fails(frz_sql_run(&f.outer, NULL, statements[i], &result, &f.err), &f.err,
                     FRZ_E_CONFLICT, "\"s\" has no column \"n\" any more");
        assert_null(f.rival);
        assert_int_equal(count_files(&f, "db/t/data"), 2);
        fixture_close(&f);
    }
}

/* ---- values that only the partition tuple has ---- */

static int64_t count_rows(fixture *f, const char *condition)
{
    char sql[128];
    frz_sql_result result = {0};
    struct ArrowArray batch = {0};
    snprintf(sql, sizeof sql, "SELECT count(*) FROM " NAME " WHERE %s", condition);
    assert_ok(frz_sql_run(f->inner, NULL, sql, &result, &f->err), &f->err);
    assert_int_equal(result.rows.get_next(&result.rows, &batch), 0);
    int64_t count = frz_get_i64(batch.children[0], 0);
    frz_array_release(&batch);
    result.rows.release(&result.rows);
    return count;
}

/* The new values are kept, and what goes with the tuple is stored again for the newest entry. */
static void race__values_of_a_tuple_that_goes_are_stored_again(void **state)
{
    fixture f;
    int64_t findings = 0;
    frz_table *table = NULL;
    two_files(&f, state);
    assert_ok(test_leave_tuples(f.inner, NAME, &f.err), &f.err);
    f.rival = rival_by_text;
    f.rival_sql = "UPDATE " NAME " SET d = 1.5 WHERE id < 4";
    frz_commit_report report =
        run_sql(&f, &f.outer, "UPDATE " NAME " SET p = 'z' WHERE id % 2 = 0");
    assert_int_equal(report.attempts, 2);
    assert_int_equal(report.rows, 10);
    assert_int_equal(count_rows(&f, "p = 'z'"), 10);
    assert_int_equal(count_rows(&f, "p = 'x'"), 10);
    assert_int_equal(count_rows(&f, "q = 'y'"), 20);
    assert_int_equal(count_rows(&f, "d = 1.5"), 4);
    /* data files; theirs; mine, the lineage of the file that they changed, and q of both */
    assert_int_equal(count_files(&f, "db/t/data"), 2 + 1 + 2 + 1 + 2);
    assert_ok(frz_catalog_load_table(f.inner, NAME, &table, &f.err), &f.err);
    assert_ok(frz_validate(table, fail_on_finding, &f, &findings, &f.err), &f.err);
    assert_int_equal(findings, 0);
    frz_table_unref(table);
    fixture_close(&f);
}

/* ---- without memory ---- */

static test_allocator scarce;

/* Has all the memory it wants. */
static void rival_with_memory(fixture *f)
{
    test_allocator before = scarce;
    scarce.fail_at = 0;
    rival_by_text(f);
    scarce = before;
}

/* The n-th allocation fails; returns whether there were as many. */
static bool race_with_failure(uint64_t n)
{
    fixture f;
    frz_sql_result result = {0};
    frz_env_counters counters;
    scarce = (test_allocator){0};
    void *env = test_env_over(&scarce);
    two_files(&f, &env);
    update mine = one_update(&f, "n", "n + 1", "id % 3 = %lld % 3", 1);
    update theirs = one_update(&f, "d", "id / 4", "id < %lld", 15);
    f.rival = rival_with_memory;
    f.rival_sql = theirs.sql;
    scarce = (test_allocator){.fail_at = n};
    frz_code rc = frz_sql_run(&f.outer, NULL, mine.sql, &result, &f.err);
    bool reached = scarce.calls >= n;
    scarce = (test_allocator){0};
    if (f.rival == NULL) {
        model_update(&f.now, &theirs, 2);
    }
    if (rc == FRZ_OK) {
        follow_update(&f, &mine, &result.report);
    } else {
        assert_int_equal(rc, FRZ_E_NOMEM);
    }
    check_table(&f, false);
    fixture_close(&f);
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    assert_int_equal(counters.bytes_allocated, 0);
    return reached;
}

/* Memory that is missing at any point leaves the table as it was, and none of it is lost. */
static void race__every_allocation_may_fail(void **state)
{
    uint64_t step = getenv("FRAZIL_LONG") != NULL ? 1 : 9;
    uint64_t n = 1;
    (void)state;
    while (race_with_failure(n)) {
        n += step;
    }
    assert_true(n > 500);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(race__all_rows_updated_keeps_the_column_files),
        TEST_WITH_ENV(race__kept_statistics_own_their_types),
        TEST_WITH_ENV(race__other_columns_changed_renews_only_the_lineage),
        TEST_WITH_ENV(race__another_data_file_changed_keeps_everything),
        TEST_WITH_ENV(race__a_value_read_has_changed_computes_again),
        TEST_WITH_ENV(race__a_column_of_the_condition_has_changed_computes_again),
        TEST_WITH_ENV(race__rows_that_were_deleted_compute_again),
        TEST_WITH_ENV(race__the_assigned_column_has_changed_computes_again),
        TEST_WITH_ENV(race__overwriting_all_rows_needs_nothing_of_the_other),
        TEST_WITH_ENV(race__lineage_that_is_read_computes_again),
        TEST_WITH_ENV(race__a_new_schema_computes_again),
        TEST_WITH_ENV(race__a_column_that_is_not_stored_computes_again),
        TEST_WITH_ENV(race__a_type_that_grew_computes_again),
        TEST_WITH_ENV(race__a_rewritten_file_is_kept_if_another_changed),
        TEST_WITH_ENV(race__a_rewritten_file_is_made_again_of_a_changed_one),
        TEST_WITH_ENV(race__rows_that_moved_are_kept_if_others_changed),
        TEST_WITH_ENV(race__rows_that_moved_are_moved_again_if_some_changed),
        TEST_WITH_ENV(race__a_merge_keeps_what_it_made_of_other_files),
        TEST_WITH_ENV(race__a_merge_keeps_rows_that_it_inserts),
        TEST_WITH_ENV(race__a_merge_inserts_no_row_twice),
        TEST_WITH_ENV(race__a_merge_inserts_what_has_gone),
        TEST_WITH_ENV(race__a_name_that_is_gone_is_an_error),
        TEST_WITH_ENV(race__a_column_is_renamed_after_an_update),
        TEST_WITH_ENV(race__compaction_goes_on_after_a_type_grew),
        TEST_WITH_ENV(race__compacted_data_files_are_computed_anew),
        TEST_WITH_ENV(race__compaction_keeps_what_it_wrote_for_other_files),
        TEST_WITH_ENV(race__no_row_is_left_to_update),
        TEST_WITH_ENV(race__rows_of_the_source_are_counted_by_the_last_attempt),
        TEST_WITH_ENV(race__rows_of_the_source_in_kept_results_are_matched),
        TEST_WITH_ENV(race__a_self_join_goes_on_after_a_type_grew),
        TEST_WITH_ENV(race__a_self_join_without_its_column_is_a_conflict),
        TEST_WITH_ENV(race__values_of_a_tuple_that_goes_are_stored_again),
        cmocka_unit_test(race__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
