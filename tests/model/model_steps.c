/*
 * Every step is done to the table through the public functions and to the model row by row. One
 * that another writer overtakes ends as if it had come second from the beginning.
 */
#include "model/model_steps.h"

#define MOST_COLUMNS_SET 3
#define MOST_INSERTED 20

/* ---- after a commit ---- */

void model_follow(fixture *f, const frz_commit_report *report, int64_t rows)
{
    assert_model(f, report->rows == rows, "expected %lld rows, found %lld", (long long)rows,
                 (long long)report->rows);
    assert_model(f, (rows > 0) == (report->snapshot_id != 0), "%lld rows, snapshot %lld",
                 (long long)rows, (long long)report->snapshot_id);
    if (rows > 0) {
        f->sequence++;
        remember(f, report->snapshot_id);
    }
}

/* ---- updates ---- */

static bool is_usable(const fixture *f, const update *u, const model_rule *rule)
{
    char text[128];
    for (size_t i = 0; i < u->rule_count; i++) {
        if (u->rules[i]->column == rule->column) {
            return false;
        }
    }
    return model_has(&f->now, (size_t)rule->column) &&
           model_render(&f->now, rule->text, text, sizeof text);
}

/* False: too little is left of the table. */
static bool random_update(fixture *f, update *u)
{
    *u = (update){0};
    size_t wanted = (size_t)(1 + random_below(&f->random, MOST_COLUMNS_SET));
    for (int tries = 0; u->rule_count < wanted && tries < 100; tries++) {
        const model_rule *rule =
            &model_rules[random_below(&f->random, FRZ_ARRAY_COUNT(model_rules))];
        if (is_usable(f, u, rule)) {
            u->rules[u->rule_count++] = rule;
        }
    }
    if (random_below(&f->random, 3) != 0) {
        u->condition = random_condition(f, &u->number);
    }
    update_text(&f->now, u);
    return u->rule_count > 0;
}

static void step_update(fixture *f, frz_catalog *catalog)
{
    update u;
    if (random_update(f, &u)) {
        frz_commit_report report = run_sql(f, catalog, u.sql);
        follow_update(f, &u, &report);
    }
}

/* A value that cannot be computed fails the statement, and nothing changes or stays behind. */
static void step_failure(fixture *f, frz_catalog *catalog)
{
    char list[64], sql[160];
    frz_sql_result result;
    if (f->now.count == 0 || !model_render(&f->now, "n = 3, d = 1 / (id - ", list, sizeof list)) {
        return;
    }
    const model_row *row = &f->now.rows[random_below(&f->random, (int64_t)f->now.count)];
    int64_t before = count_files(f, "");
    snprintf(sql, sizeof sql, "UPDATE " NAME " SET %s%lld)", list,
             (long long)row->values[COL_ID].i);
    note(f, sql);
    frz_code rc = frz_sql_run(catalog, NULL, sql, &result, &f->err);
    assert_model(f, rc == FRZ_E_ARGUMENT, "%s: %s", frz_code_name(rc), f->err.message);
    assert_int_equal(count_files(f, ""), before);
}

/* ---- rows ---- */

/* The model without the rows that match; how many those are. */
static int64_t model_delete(model *m, const model_condition *condition, int64_t number)
{
    size_t kept = 0, count = m->count;
    for (size_t i = 0; i < count; i++) {
        if (!matches(condition, &m->rows[i], number)) {
            m->rows[kept++] = m->rows[i];
        }
    }
    m->count = kept;
    return (int64_t)(count - kept);
}

static void step_delete(fixture *f, frz_catalog *catalog)
{
    char sql[256] = "DELETE FROM " NAME;
    int64_t number = 0;
    const model_condition *condition = NULL;
    if (random_below(&f->random, 20) != 0) {
        size_t len = strlen(sql);
        condition = random_condition(f, &number);
        len += (size_t)snprintf(sql + len, sizeof sql - len, " WHERE ");
        condition_text(&f->now, condition, number, sql + len, sizeof sql - len);
    }
    frz_commit_report report = run_sql(f, catalog, sql);
    model_follow(f, &report, model_delete(&f->now, condition, number) + f->wrong);
}

static frz_code batch_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const model_batch *b = ctx;
    return frz_type_to_arrow(b->f->env, b->type, out, err);
}

static frz_code batch_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    model_batch *b = ctx;
    (void)err;
    if (b->array.release == NULL) {
        return FRZ_END;
    }
    frz_array_move(&b->array, out);
    return FRZ_OK;
}

static void batch_release(void *ctx)
{
    model_batch *b = ctx;
    frz_array_release(&b->array);
}

void model_stream(model_batch *batch, struct ArrowArrayStream *out)
{
    static const frz_stream_ops ops = {batch_schema, batch_next, batch_release};
    fixture *f = batch->f;
    assert_ok(frz_stream_make(f->env, &ops, batch, out, &f->err), &f->err);
}

void model_fill_in(const model *m, const column_set *set, model_row *row)
{
    bool given[COL_MOST] = {false};
    for (size_t k = 0; k < set->count; k++) {
        given[set->columns[k]] = true;
    }
    for (size_t c = 0; c < COL_MOST; c++) {
        if (!given[c]) {
            row->values[c] = m->added[c];
        }
    }
}

void model_put(model *m, const model_row *rows, size_t count)
{
    size_t at = m->count;
    while (at > 0 && count > 0 && m->rows[at - 1].values[COL_ID].i > rows[0].values[COL_ID].i) {
        at--;
    }
    m->rows = realloc(m->rows, (m->count + count + 1) * sizeof *m->rows);
    assert_non_null(m->rows);
    memmove(m->rows + at + count, m->rows + at, (m->count - at) * sizeof *m->rows);
    memcpy(m->rows + at, rows, count * sizeof *rows);
    m->count += count;
}

/* Rows that were just appended have the last row ids that were given. */
static void model_append(fixture *f, const column_set *set, model_row *rows, size_t count)
{
    frz_table *table = NULL;
    assert_ok(frz_catalog_load_table(&f->outer, NAME, &table, &f->err), &f->err);
    for (size_t i = 0; i < count; i++) {
        rows[i].row_id = table->metadata.next_row_id - (int64_t)(count - i);
        rows[i].last_updated = f->sequence + 1;
        model_fill_in(&f->now, set, &rows[i]);
    }
    frz_table_unref(table);
    model_put(&f->now, rows, count);
}

/* The id and most of the others. */
static column_set random_columns(fixture *f)
{
    column_set set = {.count = 0};
    for (size_t c = 0; c < f->now.columns; c++) {
        bool stored = c != COL_U || f->now.typed; /* appends cannot name others */
        if (stored && model_has(&f->now, c) && (c == COL_ID || random_below(&f->random, 6) != 0)) {
            set.columns[set.count++] = (int)c;
        }
    }
    return set;
}

static void make_batch(fixture *f, const column_set *set, model_row *rows, size_t count,
                       model_batch *out)
{
    *out = (model_batch){.f = f, .type = rows_type(f, set, false)};
    for (size_t i = 0; i < count; i++) {
        rows[i] = (model_row){.row_id = 0};
        for (size_t k = 0; k < set->count; k++) {
            int column = set->columns[k];
            rows[i].values[column] = random_value(&f->random, column, f->next_id);
        }
        f->next_id++;
    }
    build_rows(f, out->type, set, rows, count, &out->array);
}

static void step_insert(fixture *f, frz_catalog *catalog)
{
    char text[96];
    model_row rows[MOST_INSERTED];
    model_batch batch;
    frz_commit_report report = {0};
    struct ArrowArrayStream stream = {0};
    column_set set = random_columns(f);
    size_t count = (size_t)random_below(&f->random, MOST_INSERTED);
    snprintf(text, sizeof text, "append %zu rows of %zu columns, ids from %lld", count, set.count,
             (long long)f->next_id);
    note(f, text);
    make_batch(f, &set, rows, count, &batch);
    model_stream(&batch, &stream);
    frz_code rc = frz_append_stream(catalog, NAME, &stream, NULL, &report, &f->err);
    stream.release(&stream);
    assert_model(f, rc == FRZ_OK, "append: %s", f->err.message);
    model_append(f, &set, rows, count);
    model_follow(f, &report, (int64_t)count);
}

/* ---- columns ---- */

static void step_add_column(fixture *f, frz_catalog *catalog)
{
    char sql[128];
    size_t column = f->now.columns;
    if (column == COL_MOST) {
        return;
    }
    model_kind kind = model_columns[column].kind;
    bool text = kind == KIND_STRING, unknown = kind == KIND_UNKNOWN;
    bool filled = !unknown && random_below(&f->random, 2) == 0;
    model_value value = !filled ? model_null() : text ? model_text("new") : model_long(5);
    snprintf(sql, sizeof sql, "ALTER TABLE " NAME " ADD COLUMN %s %s%s", model_columns[column].name,
             unknown ? "unknown"
             : text  ? "string"
                     : "bigint",
             !filled ? ""
             : text  ? " DEFAULT 'new'"
                     : " DEFAULT 5");
    run_sql(f, catalog, sql);
    model_add_column(&f->now, &value);
}

/* One that is there, other than the id; COL_ID: there is none. */
static size_t random_column(fixture *f)
{
    size_t column = COL_ID;
    for (int tries = 0; tries < 100 && column == COL_ID; tries++) {
        size_t c = 1 + (size_t)random_below(&f->random, (int64_t)f->now.columns - 1);
        column = model_has(&f->now, c) ? c : COL_ID;
    }
    return column;
}

static void step_rename(fixture *f, frz_catalog *catalog)
{
    char sql[128], name[MODEL_NAME];
    size_t column = random_column(f);
    if (column != COL_ID) {
        snprintf(name, sizeof name, "r%d_%d", (int)(column % 100),
                 (int)random_below(&f->random, 1000));
        snprintf(sql, sizeof sql, "ALTER TABLE " NAME " RENAME COLUMN %s TO %s",
                 model_name(&f->now, column), name);
        if (strcmp(name, model_name(&f->now, column)) != 0) {
            run_sql(f, catalog, sql);
            memcpy(f->now.names[column], name, sizeof name);
        }
    }
}

static void step_drop(fixture *f, frz_catalog *catalog)
{
    char sql[128];
    size_t column = random_column(f);
    if (column != COL_ID) {
        snprintf(sql, sizeof sql, "ALTER TABLE " NAME " DROP COLUMN %s",
                 model_name(&f->now, column));
        run_sql(f, catalog, sql);
        f->now.gone[column] = true;
    }
}

static void step_retype(fixture *f, frz_catalog *catalog)
{
    char sql[128];
    if (model_has(&f->now, COL_U) && !f->now.typed) {
        snprintf(sql, sizeof sql, "ALTER TABLE " NAME " ALTER COLUMN %s TYPE bigint",
                 model_name(&f->now, COL_U));
        run_sql(f, catalog, sql);
        f->now.typed = true;
    }
}

/* ---- what changes no row ---- */

static void step_compact(fixture *f, frz_catalog *catalog)
{
    static const char *const names[] = {"compact", "compact --columns", "compact --policy"};
    frz_commit_report report = {0};
    frz_compact_options options = FRZ_COMPACT_OPTIONS_INIT;
    options.mode = (frz_compact_mode)random_below(&f->random, FRZ_ARRAY_COUNT(names));
    note(f, names[options.mode]);
    frz_code rc = frz_compact_by(catalog, NAME, &options, &report, NULL, &f->err);
    assert_model(f, rc == FRZ_OK, "compact: %s", f->err.message);
    if (report.snapshot_id != 0) {
        f->sequence++;
        remember(f, report.snapshot_id);
    }
}

/* The last snapshots stay. */
static void step_expire(fixture *f, frz_catalog *catalog)
{
    char text[64];
    frz_expire_options options = FRZ_EXPIRE_OPTIONS_INIT;
    frz_removal_report report = {0};
    options.older_than = "2099-01-01";
    options.retain_last = 1 + random_below(&f->random, 3);
    snprintf(text, sizeof text, "expire --older-than 2099-01-01 --retain-last %d",
             (int)options.retain_last);
    note(f, text);
    frz_code rc = frz_expire(catalog, NAME, &options, &report, &f->err);
    assert_model(f, rc == FRZ_OK, "expire: %s", f->err.message);
    size_t gone = f->history_count - FRZ_MIN(f->history_count, (size_t)options.retain_last);
    assert_model(f,
                 report.count[FRZ_REMOVED_SNAPSHOT] == (int64_t)gone && report.failed == 0 &&
                     report.unreadable == 0,
                 "%lld snapshots are gone, expected %zu",
                 (long long)report.count[FRZ_REMOVED_SNAPSHOT], gone);
    forget(f, gone);
}

/* Nothing that was done before left a file behind. */
static void step_orphans(fixture *f, frz_catalog *catalog)
{
    frz_orphan_options options = FRZ_ORPHAN_OPTIONS_INIT;
    frz_removal_report report = {0};
    options.older_than = "2099-01-01";
    options.force = 1;
    note(f, "remove-orphans --older-than 2099-01-01 --force");
    frz_code rc = frz_remove_orphans(catalog, NAME, &options, &report, &f->err);
    assert_model(f, rc == FRZ_OK, "remove-orphans: %s", f->err.message);
    assert_model(f, report.count[FRZ_REMOVED_ORPHAN] == 0, "%lld orphans",
                 (long long)report.count[FRZ_REMOVED_ORPHAN]);
}

static void step_property(fixture *f, frz_catalog *catalog)
{
    static const char *const properties[] = {
        "'write.update.mode' = 'column-file'",
        "'write.update.mode' = 'copy-on-write'",
        "'write.update.mode' = 'merge-on-read'",
        "'write.update.mode' = 'auto'",
        "'write.merge.mode' = 'column-file'",
        "'write.merge.mode' = 'copy-on-write'",
        "'write.merge.mode' = 'merge-on-read'",
        "'write.merge.mode' = 'auto'",
        "'write.auto.reads-per-write' = '0'",
        "'write.auto.reads-per-write' = '100000'",
        "'write.delete.mode' = 'copy-on-write'",
        "'write.delete.mode' = 'merge-on-read'",
        "'write.root-manifest.max-entries' = '0'",
        "'write.root-manifest.max-entries' = '2'",
        "'write.root-manifest.max-entries' = '512'",
        "'write.parquet.page-row-limit' = '3'",
        "'write.parquet.page-row-limit' = '1000'",
        "'write.target-file-size-bytes' = '2000'",
        "'write.column-file.max-per-file' = '1'",
        "'write.column-file.max-ratio' = '10'",
        "'write.compact.min-small-files' = '2'",
        "'write.compact.small-file-ratio' = '0'",
        "'write.parquet.compression-codec' = 'uncompressed'",
        "'write.parquet.compression-codec' = 'zstd'",
    };
    char sql[160];
    snprintf(sql, sizeof sql, "ALTER TABLE " NAME " SET TBLPROPERTIES (%s)",
             properties[random_below(&f->random, FRZ_ARRAY_COUNT(properties))]);
    run_sql(f, catalog, sql);
}

/* ---- other writers ---- */

static void rival_at_random(fixture *f)
{
    static void (*const steps[])(fixture *, frz_catalog *) = {
        step_update,  step_update,     step_update, step_delete,       step_insert,
        step_compact, step_add_column, step_expire, model_update_from, model_merge,
    };
    note(f, "and before it:");
    steps[random_below(&f->random, FRZ_ARRAY_COUNT(steps))](f, f->inner);
}

/* The model is asked only when the rival is through. */
static void step_overtaken(fixture *f, frz_catalog *catalog)
{
    static void (*const steps[])(fixture *, frz_catalog *) = {
        step_update,  step_update, step_delete,       step_insert,
        step_compact, step_expire, model_update_from, model_merge,
    };
    f->rival = rival_at_random;
    steps[random_below(&f->random, FRZ_ARRAY_COUNT(steps))](f, catalog);
    f->rival = NULL;
}

/* ---- beginnings ---- */

void model_begin(fixture *f)
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
    if (random_below(&f->random, 3) == 0) {
        step_add_column(f, &f->outer);
    }
}

/* ---- one of them ---- */

typedef struct step_kind {
    void (*run)(fixture *f, frz_catalog *catalog);
    int weight;
} step_kind;

void model_step(fixture *f)
{
    static const step_kind kinds[] = {
        {step_update, 8},   {step_overtaken, 6},  {step_delete, 3},       {step_insert, 3},
        {step_compact, 2},  {step_add_column, 1}, {step_rename, 1},       {step_drop, 1},
        {step_expire, 1},   {step_orphans, 1},    {model_update_from, 3}, {model_merge, 4},
        {step_property, 3}, {step_failure, 1},    {step_retype, 2},
    };
    int64_t all = 0;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        all += kinds[i].weight;
    }
    int64_t dice = random_below(&f->random, all);
    size_t i = 0;
    while (dice >= kinds[i].weight) {
        dice -= kinds[i++].weight;
    }
    kinds[i].run(f, &f->outer);
}
