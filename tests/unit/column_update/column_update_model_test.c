/*
 * Column updates against a plain model: random statements on random tables, each followed by
 * comparing everything that can be read with the rows of the model. Other writers come first at
 * random moments. FRAZIL_LONG runs many more sequences than usual; FRAZIL_SEED=N only one.
 */
#include "unit/column_update/column_update_fixture.h"

#define STEPS 8

/* ---- steps ---- */

static void random_table(fixture *f)
{
    static const char *const metrics[] = {"truncate(16)", "full", "counts", "none", "truncate(1)"};
    char text[64];
    size_t ends[3];
    size_t files = (size_t)(1 + random_below(&f->random, 3));
    size_t count = 0;
    for (size_t i = 0; i < files; i++) {
        count += (size_t)(random_below(&f->random, 8) == 0 ? 0 : random_below(&f->random, 50));
        ends[i] = count;
    }
    make_rows(f, count);
    bool ids = random_below(&f->random, 2) == 0;
    snprintf(text, sizeof text, "import of %zu rows in %zu files, %s ids", count, files,
             ids ? "with" : "without");
    note(f, text);
    import_rows(f, ends, files, ids, metrics[random_below(&f->random, 5)]);
}

static void random_update(fixture *f, update *u)
{
    *u = (update){0};
    size_t wanted = (size_t)(1 + random_below(&f->random, 3));
    while (u->rule_count < wanted) {
        const model_rule *rule =
            &model_rules[random_below(&f->random, FRZ_ARRAY_COUNT(model_rules))];
        bool usable = rule->reads < (int)f->now.columns;
        for (size_t i = 0; i < u->rule_count; i++) {
            usable = usable && u->rules[i]->column != rule->column;
        }
        if (usable) {
            u->rules[u->rule_count++] = rule;
        }
    }
    if (random_below(&f->random, 3) != 0) {
        u->condition = random_condition(f, &u->number);
    }
    update_text(u);
}

static void step_update(fixture *f, frz_catalog *catalog)
{
    update u;
    random_update(f, &u);
    frz_commit_report report = run_sql(f, catalog, u.sql);
    follow_update(f, &u, &report);
}

/* ---- other statements ---- */

static void step_add_column(fixture *f, frz_catalog *catalog)
{
    char sql[128];
    size_t column = f->now.columns;
    if (column == COL_MOST) {
        step_update(f, catalog);
        return;
    }
    bool text = model_columns[column].kind == KIND_STRING;
    bool filled = random_below(&f->random, 2) == 0;
    model_value value = !filled ? model_null() : text ? model_text("new") : model_long(5);
    snprintf(sql, sizeof sql, "ALTER TABLE " NAME " ADD COLUMN %s %s%s", model_columns[column].name,
             text ? "string" : "bigint",
             !filled ? ""
             : text  ? " DEFAULT 'new'"
                     : " DEFAULT 5");
    run_sql(f, catalog, sql);
    for (size_t i = 0; i < f->now.count; i++) {
        f->now.rows[i].values[column] = value;
    }
    f->now.columns++;
}

static void step_compact(fixture *f, frz_catalog *catalog)
{
    frz_commit_report report = {0};
    note(f, "compact");
    assert_ok(frz_compact(catalog, NAME, &report, &f->err), &f->err);
    if (report.snapshot_id != 0) {
        f->sequence++;
        remember(f, report.snapshot_id);
    }
}

/* A value that cannot be computed fails the statement, and nothing changes or stays behind. */
static void step_failure(fixture *f)
{
    char sql[128];
    frz_sql_result result;
    if (f->now.count == 0) {
        return;
    }
    int64_t before = count_files(f, "");
    snprintf(sql, sizeof sql, "UPDATE " NAME " SET n = 3, d = 1 / (id - %lld)",
             (long long)random_below(&f->random, (int64_t)f->now.count));
    note(f, sql);
    frz_code rc = frz_sql_run(&f->outer, NULL, sql, &result, &f->err);
    assert_model(f, rc == FRZ_E_ARGUMENT, "%s: %s", frz_code_name(rc), f->err.message);
    assert_int_equal(count_files(f, ""), before);
}

static void rival_at_random(fixture *f)
{
    note(f, "and before it:");
    switch (random_below(&f->random, 8)) {
    case 0:
        step_add_column(f, f->inner);
        break;
    case 1:
        step_compact(f, f->inner);
        break;
    default:
        step_update(f, f->inner);
    }
}

/* An update that another writer overtakes: as if it had come second from the beginning. */
static void step_overtaken(fixture *f)
{
    update u;
    random_update(f, &u);
    f->rival = rival_at_random;
    frz_commit_report report = run_sql(f, &f->outer, u.sql);
    f->rival = NULL;
    follow_update(f, &u, &report);
}

static void run_sequence(void **state, uint64_t seed)
{
    fixture f;
    fixture_open(&f, state, seed);
    random_table(&f);
    check_table(&f, false);
    for (int step = 0; step < STEPS; step++) {
        int64_t dice = random_below(&f.random, 20);
        if (dice < 10) {
            step_update(&f, &f.outer);
        } else if (dice < 15) {
            step_overtaken(&f);
        } else if (dice < 17) {
            step_compact(&f, &f.outer);
        } else if (dice < 19) {
            step_add_column(&f, &f.outer);
        } else {
            step_failure(&f);
        }
        check_table(&f, step == STEPS - 1);
    }
    fixture_close(&f);
}

static void model__random_statements_agree_with_plain_rows(void **state)
{
    const char *one = getenv("FRAZIL_SEED");
    uint64_t first = one == NULL ? 1 : strtoull(one, NULL, 10);
    uint64_t count = one != NULL ? 1 : getenv("FRAZIL_LONG") != NULL ? 4000 : 160;
    for (uint64_t seed = first; seed < first + count; seed++) {
        run_sequence(state, seed);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(model__random_statements_agree_with_plain_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
