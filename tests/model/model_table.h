/*
 * A table and its model side by side: making tables, running statements on both, comparing
 * everything that can be read. The catalog lets another writer be first at a swap.
 */
#ifndef FRZ_TEST_MODEL_TABLE_H
#define FRZ_TEST_MODEL_TABLE_H

#include <ftw.h>
#include <unistd.h>

#include "catalog/catalog_store.h"
#include "format/parquet/parquet.h"
#include "meta/meta_manifest.h"
#include "model/model_rows.h"

#define NAME "db.t"
#define MOST_HISTORY 64

typedef struct fixture fixture;

struct fixture {
    frz_env *env;
    frz_error err;
    frz_arena arena;
    char folder[64];
    frz_catalog *inner; /* the catalog in memory; the rival's */
    frz_catalog outer;  /* the same one, but lets the rival go first at a swap */
    frz_catalog_ops ops;
    void (*rival)(fixture *f); /* runs once, just before the next swap */
    const char *rival_sql;
    uint64_t files_then; /* files created when the rival was done */
    model_random random;
    uint64_t seed;
    model now;
    model history[MOST_HISTORY];
    size_t history_count;
    int64_t sequence;
    int64_t next_id; /* that no row has had */
    int64_t wrong;   /* what the model counts too much, to see that this is found */
    frz_buf log;     /* statements so far */
};

#define assert_model(f, condition, ...)                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char what_[1024];                                                                      \
            snprintf(what_, sizeof what_, __VA_ARGS__);                                            \
            fail_msg("seed %llu: %s: %s\n%.*s", (unsigned long long)(f)->seed, #condition, what_,  \
                     (int)(f)->log.len, (const char *)(f)->log.data);                              \
        }                                                                                          \
    } while (0)

/* ---- a catalog in which another writer can be first ---- */

static inline frz_code rival_swap(void *ctx, const frz_table_name *name, const char *expected,
                                  const char *location, frz_error *err)
{
    fixture *f = ctx;
    if (f->rival != NULL) {
        frz_env_counters counters;
        void (*rival)(fixture *) = f->rival;
        f->rival = NULL;
        rival(f);
        frz_env_counters_get(f->env, &counters);
        f->files_then = counters.files_created;
    }
    return f->inner->ops->swap(f->inner->ctx, name, expected, location, err);
}

static inline frz_code rival_get(void *ctx, const frz_table_name *name, char **location,
                                 frz_error *err)
{
    fixture *f = ctx;
    return f->inner->ops->get(f->inner->ctx, name, location, err);
}

static inline frz_code rival_create(void *ctx, const frz_table_name *name, const char *location,
                                    frz_error *err)
{
    fixture *f = ctx;
    return f->inner->ops->create(f->inner->ctx, name, location, err);
}

/* ---- fixture ---- */

static inline void model_clear(model *m)
{
    free(m->rows);
    *m = (model){0};
}

static inline void model_clone(const model *from, model *to)
{
    *to = *from;
    to->rows = malloc((from->count + 1) * sizeof *to->rows);
    assert_non_null(to->rows);
    if (from->count > 0) {
        memcpy(to->rows, from->rows, from->count * sizeof *to->rows);
    }
}

static inline void fixture_open(fixture *f, void **state, uint64_t seed)
{
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    memset(f, 0, sizeof *f);
    f->env = *state;
    f->seed = seed;
    f->random.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    frz_arena_init(&f->arena, f->env, FRZ_ARENA_NO_LIMIT);
    frz_buf_init(&f->log, f->env, FRZ_BUF_NO_LIMIT);
    bool shm = access("/dev/shm", W_OK) == 0;
    snprintf(f->folder, sizeof f->folder, "%s/frazil-model-XXXXXX", shm ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->folder));
    options.uri = "memory:";
    options.warehouse = f->folder;
    assert_ok(frz_catalog_open(f->env, &options, &f->inner, &f->err), &f->err);
    f->ops = *f->inner->ops;
    f->ops.get = rival_get;
    f->ops.create = rival_create;
    f->ops.swap = rival_swap;
    f->outer =
        (frz_catalog){.env = f->env, .ops = &f->ops, .ctx = f, .warehouse = f->inner->warehouse};
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void fixture_close(fixture *f)
{
    for (size_t i = 0; i < f->history_count; i++) {
        model_clear(&f->history[i]);
    }
    model_clear(&f->now);
    frz_catalog_close(f->inner);
    frz_buf_reset(&f->log);
    frz_arena_reset(&f->arena);
    assert_int_equal(nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void note(fixture *f, const char *text)
{
    assert_ok(frz_buf_printf(&f->log, &f->err, "  %s\n", text), &f->err);
}

/* The model's state is a snapshot of the table. */
static inline void remember(fixture *f, int64_t snapshot_id)
{
    assert_true(f->history_count < MOST_HISTORY);
    f->now.snapshot_id = snapshot_id;
    model_clone(&f->now, &f->history[f->history_count++]);
}

/* The first snapshots are no more. */
static inline void forget(fixture *f, size_t count)
{
    for (size_t i = 0; i < f->history_count; i++) {
        if (i < count) {
            model_clear(&f->history[i]);
        } else {
            f->history[i - count] = f->history[i];
        }
    }
    f->history_count -= count;
}

/* A column that all rows have, until they are updated, with one value. */
static inline void model_add_column(model *m, const model_value *value)
{
    for (size_t i = 0; i < m->count; i++) {
        m->rows[i].values[m->columns] = *value;
    }
    m->added[m->columns++] = *value;
}

/* ---- making tables ---- */

static inline const frz_type *column_type(fixture *f, int column, int32_t id)
{
    frz_type *type = frz_arena_alloc(&f->arena, sizeof *type);
    frz_field *fields = frz_arena_array(&f->arena, 2, sizeof *fields);
    int32_t first = id == FRZ_ID_NONE ? id : id + 1, second = id == FRZ_ID_NONE ? id : id + 2;
    switch (model_columns[column].kind) {
    case KIND_UNKNOWN:
        return frz_type_primitive(f->now.typed ? FRZ_TYPE_LONG : FRZ_TYPE_UNKNOWN);
    case KIND_LONG:
        return frz_type_primitive(FRZ_TYPE_LONG);
    case KIND_DOUBLE:
        return frz_type_primitive(FRZ_TYPE_DOUBLE);
    case KIND_STRING:
        return frz_type_primitive(FRZ_TYPE_STRING);
    case KIND_BOOL:
        return frz_type_primitive(FRZ_TYPE_BOOLEAN);
    case KIND_DECIMAL:
        *type = (frz_type){.id = FRZ_TYPE_DECIMAL, .precision = 9, .scale = 2};
        return type;
    case KIND_STRUCT:
        fields[0] = (frz_field){
            .id = first, .name = FRZ_STR("x"), .type = frz_type_primitive(FRZ_TYPE_LONG)};
        fields[1] = (frz_field){
            .id = second, .name = FRZ_STR("y"), .type = frz_type_primitive(FRZ_TYPE_STRING)};
        *type = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 2};
        return type;
    case KIND_LIST:
        fields[0] = (frz_field){
            .id = first, .name = FRZ_STR("element"), .type = frz_type_primitive(FRZ_TYPE_LONG)};
        *type = (frz_type){.id = FRZ_TYPE_LIST, .fields = fields, .field_count = 1};
        return type;
    }
    return NULL;
}

/* Columns of rows to be written. */
typedef struct column_set {
    int columns[COL_MOST];
    size_t count;
} column_set;

static inline const frz_type *rows_type(fixture *f, const column_set *set, bool ids)
{
    const frz_type *type = NULL;
    frz_field fields[COL_MOST];
    for (size_t i = 0; i < set->count; i++) {
        int column = set->columns[i];
        int32_t id = ids ? 10 + 7 * column : FRZ_ID_NONE;
        fields[i] = (frz_field){.id = id,
                                .required = column == COL_ID,
                                .name = frz_str_from(model_name(&f->now, (size_t)column)),
                                .type = column_type(f, column, id)};
    }
    assert_ok(frz_type_struct_of(&f->arena, fields, set->count, &type, &f->err), &f->err);
    return type;
}

static inline void build_value(fixture *f, frz_builder *b, model_kind kind,
                               const model_value *value)
{
    frz_error *err = &f->err;
    if (value->null) {
        assert_ok(frz_builder_null(b, err), err);
        return;
    }
    switch (kind) {
    case KIND_UNKNOWN:
        break;
    case KIND_LONG:
        assert_ok(frz_builder_i64(b, value->i, err), err);
        break;
    case KIND_DOUBLE:
        assert_ok(frz_builder_f64(b, value->d, err), err);
        break;
    case KIND_STRING:
        assert_ok(frz_builder_bytes(b, frz_str_from(value->text), err), err);
        break;
    case KIND_BOOL:
        assert_ok(frz_builder_bool(b, value->i != 0, err), err);
        break;
    case KIND_DECIMAL: {
        frz_value unscaled = {.type = frz_builder_type(b), .as.i128 = value->i};
        assert_ok(frz_builder_value(b, &unscaled, err), err);
        break;
    }
    case KIND_STRUCT: {
        model_value x = {.null = value->x_null, .i = value->i};
        model_value y = *value;
        y.null = value->y_null;
        build_value(f, frz_builder_child(b, 0), KIND_LONG, &x);
        build_value(f, frz_builder_child(b, 1), KIND_STRING, &y);
        assert_ok(frz_builder_end(b, err), err);
        break;
    }
    case KIND_LIST:
        for (int64_t k = 0; k < value->i; k++) {
            model_value item = {.null = value->item_null[k], .i = value->items[k]};
            build_value(f, frz_builder_child(b, 0), KIND_LONG, &item);
        }
        assert_ok(frz_builder_end(b, err), err);
        break;
    }
}

static inline void build_rows(fixture *f, const frz_type *type, const column_set *set,
                              const model_row *rows, size_t count, struct ArrowArray *out)
{
    frz_builder *builder = NULL;
    assert_ok(frz_builder_new(f->env, type, &builder, &f->err), &f->err);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < set->count; k++) {
            int c = set->columns[k];
            build_value(f, frz_builder_child(builder, k), model_columns[c].kind,
                        &rows[i].values[c]);
        }
        assert_ok(frz_builder_end(builder, &f->err), &f->err);
    }
    assert_ok(frz_builder_finish(builder, out, &f->err), &f->err);
    frz_builder_free(builder);
}

/* Rows of the model as one Parquet file with row groups and pages of random sizes. */
static inline const char *write_file(fixture *f, const model_row *rows, size_t count, int number,
                                     bool ids)
{
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *writer = NULL;
    struct ArrowArray batch;
    column_set all = {.count = COL_FIRST_ADDED};
    for (int c = 0; c < COL_FIRST_ADDED; c++) {
        all.columns[c] = c;
    }
    const frz_type *type = rows_type(f, &all, ids);
    const char *path = frz_arena_printf(&f->arena, "%s/source-%d.parquet", f->folder, number);
    options.group_rows = 1 + random_below(&f->random, 30);
    options.page_rows = 1 + random_below(&f->random, 12);
    options.page_version = 1 + (int)random_below(&f->random, 2);
    assert_non_null(path);
    assert_ok(frz_parquet_writer_open(f->env, path, type, &options, &writer, &f->err), &f->err);
    build_rows(f, type, &all, rows, count, &batch);
    assert_ok(frz_parquet_writer_write(writer, &batch, &f->err), &f->err);
    frz_array_release(&batch);
    assert_ok(frz_parquet_writer_finish(writer, false, NULL, NULL, &f->err), &f->err);
    return path;
}

static inline void make_rows(fixture *f, size_t count)
{
    f->now = (model){.columns = COL_FIRST_ADDED, .count = count};
    for (size_t c = 0; c < COL_MOST; c++) {
        f->now.added[c] = model_null();
    }
    f->now.rows = calloc(count + 1, sizeof *f->now.rows);
    assert_non_null(f->now.rows);
    for (size_t i = 0; i < count; i++) {
        model_row *row = &f->now.rows[i];
        row->row_id = (int64_t)i;
        row->last_updated = 1;
        for (int c = 0; c < COL_FIRST_ADDED; c++) {
            row->values[c] = random_value(&f->random, c, (int64_t)i);
        }
    }
}

/* Import files that hold the model's rows one after the other. */
static inline void import_rows(fixture *f, const size_t *ends, size_t files, bool ids,
                               const char *metrics)
{
    const frz_property properties[] = {
        {"write.durability", "none"},
        {"commit.retry.min-wait-ms", "1"},
        {"commit.retry.max-wait-ms", "1"},
        {"write.parquet.page-row-limit", "5"},
        {"write.metadata.metrics.default", metrics},
    };
    frz_import_options options = FRZ_IMPORT_OPTIONS_INIT;
    frz_commit_report report;
    const char *paths[4];
    options.properties = properties;
    options.property_count = FRZ_ARRAY_COUNT(properties);
    for (size_t i = 0, start = 0; i < files; i++) {
        paths[i] = write_file(f, f->now.rows + start, ends[i] - start, (int)i, ids);
        start = ends[i];
    }
    assert_ok(frz_import(&f->outer, NAME, paths, files, &options, &report, &f->err), &f->err);
    f->sequence = 1;
    f->next_id = (int64_t)f->now.count;
    remember(f, report.snapshot_id);
}

/* ---- comparing ---- */

#define OUT_ROW_ID (-1)
#define OUT_UPDATED (-2)

/* Rows that must come out, each once and in any order. */
typedef struct expectation {
    const model *rows;
    int columns[COL_MOST + 3]; /* in the order of the output; COL_ID is among them */
    size_t column_count;
    const model_condition *condition; /* NULL: all rows */
    int64_t number;
    bool *seen; /* by row of the model */
} expectation;

static inline bool matches(const model_condition *condition, const model_row *row, int64_t number)
{
    return condition == NULL || condition->test(row, number) == 1;
}

static inline size_t model_find(const model *m, int64_t id)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->rows[middle].values[COL_ID].i < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < m->count && m->rows[low].values[COL_ID].i == id ? low : m->count;
}

static inline size_t place_of_id(const expectation *e)
{
    size_t place = 0;
    while (e->columns[place] != COL_ID) {
        place++;
    }
    return place;
}

static inline void compare_cell(fixture *f, int column, const model_row *expected,
                                const struct ArrowArray *array, int64_t i)
{
    model_kind kind = column < 0 ? KIND_LONG : model_columns[column].kind;
    model_value value = column == OUT_ROW_ID    ? model_long(expected->row_id)
                        : column == OUT_UPDATED ? model_long(expected->last_updated)
                                                : expected->values[column];
    model_value found = model_read(kind, array, i);
    assert_model(f, model_equal(kind, &value, &found),
                 "column %s of id %lld: expected %s%lld %g \"%s\", found %s%lld %g \"%s\"",
                 column < 0 ? "of lineage" : model_columns[column].name,
                 (long long)expected->values[COL_ID].i, value.null ? "null " : "",
                 (long long)value.i, value.d, value.text, found.null ? "null " : "",
                 (long long)found.i, found.d, found.text);
}

static inline void compare_batch(fixture *f, const struct ArrowArray *batch, expectation *e)
{
    const struct ArrowArray *ids = batch->children[place_of_id(e)];
    assert_int_equal(batch->n_children, e->column_count);
    for (int64_t i = 0; i < batch->length; i++) {
        int64_t id = frz_get_i64(ids, i);
        size_t at = model_find(e->rows, id);
        assert_model(f, at < e->rows->count && !e->seen[at], "unexpected row, id %lld",
                     (long long)id);
        const model_row *expected = &e->rows->rows[at];
        assert_model(f, matches(e->condition, expected, e->number), "id %lld does not match",
                     (long long)id);
        e->seen[at] = true;
        for (size_t c = 0; c < e->column_count; c++) {
            compare_cell(f, e->columns[c], expected, batch->children[c], i);
        }
    }
}

static inline void compare_scan(fixture *f, frz_scan *scan, expectation *e)
{
    frz_code rc;
    struct ArrowArray batch = {0};
    e->seen = calloc(e->rows->count + 1, sizeof *e->seen);
    assert_non_null(e->seen);
    while ((rc = frz_scan_next(scan, &batch, &f->err)) == FRZ_OK) {
        compare_batch(f, &batch, e);
        frz_array_release(&batch);
    }
    assert_model(f, rc == FRZ_END, "scan: %s", f->err.message);
    for (size_t i = 0; i < e->rows->count; i++) {
        assert_model(f, e->seen[i] || !matches(e->condition, &e->rows->rows[i], e->number),
                     "id %lld is missing", (long long)e->rows->rows[i].values[COL_ID].i);
    }
    free(e->seen);
}

/* Everything of a snapshot (0: the current version), with lineage. */
static inline void check_all(fixture *f, frz_table *table, const model *m, int64_t snapshot_id)
{
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    frz_scan *scan = NULL;
    expectation e = {.rows = m};
    for (size_t i = 0; i < m->columns; i++) {
        if (model_has(m, i)) {
            e.columns[e.column_count++] = (int)i;
        }
    }
    e.columns[e.column_count++] = OUT_ROW_ID;
    e.columns[e.column_count++] = OUT_UPDATED;
    options.with_lineage = 1;
    options.snapshot_id = snapshot_id;
    options.batch_rows = random_below(&f->random, 2) == 0 ? 0 : 1 + random_below(&f->random, 40);
    assert_ok(frz_scan_open(table, &options, &scan, &f->err), &f->err);
    compare_scan(f, scan, &e);
    frz_scan_close(scan);
}

/* Of columns that are there. The number: about what is compared with. */
static inline const model_condition *random_condition(fixture *f, int64_t *number)
{
    char text[128];
    const model_condition *condition;
    int64_t last = f->now.count == 0 ? 1 : f->now.rows[f->now.count - 1].values[COL_ID].i;
    *number = random_below(&f->random, last + 3);
    do {
        condition = &model_conditions[random_below(&f->random, FRZ_ARRAY_COUNT(model_conditions))];
    } while (!model_render(&f->now, condition->text, text, sizeof text));
    return condition;
}

static inline void condition_text(const model *m, const model_condition *condition, int64_t number,
                                  char *text, size_t size)
{
    char format[128];
    assert_true(model_render(m, condition->text, format, sizeof format));
    char *place = strstr(format, "%lld");
    char *rest = place == NULL ? NULL : place + 4;
    if (place != NULL) {
        *place = '\0';
    }
    snprintf(text, size, "%s", format);
    if (place != NULL) {
        size_t len = strlen(text);
        snprintf(text + len, size - len, "%lld%s", (long long)number, rest);
    }
}

/* Some columns in some order, the id behind them, and a filter. */
static inline void check_some(fixture *f, frz_table *table, const model *m)
{
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    frz_scan *scan = NULL;
    const char *names[5];
    char where[128];
    expectation e = {.rows = m};
    for (int64_t left = random_below(&f->random, 5); left > 0; left--) {
        int column = (int)random_below(&f->random, (int64_t)m->columns + 2) - 2;
        if (column < 0 || model_has(m, (size_t)column)) {
            e.columns[e.column_count++] = column;
        }
    }
    e.columns[e.column_count++] = COL_ID;
    for (size_t i = 0; i < e.column_count; i++) {
        names[i] = e.columns[i] == OUT_ROW_ID    ? "_row_id"
                   : e.columns[i] == OUT_UPDATED ? "_last_updated_sequence_number"
                                                 : model_name(m, (size_t)e.columns[i]);
    }
    options.columns = names;
    options.column_count = e.column_count;
    options.batch_rows = random_below(&f->random, 30);
    if (random_below(&f->random, 4) != 0) {
        e.condition = random_condition(f, &e.number);
        condition_text(m, e.condition, e.number, where, sizeof where);
        options.where = where;
    }
    assert_ok(frz_scan_open(table, &options, &scan, &f->err), &f->err);
    compare_scan(f, scan, &e);
    frz_scan_close(scan);
}

static inline void check_aggregates(fixture *f, const model *m)
{
    char where[128], list[128], sql[400];
    int64_t number, rows = 0, names = 0;
    frz_sql_result result = {0};
    struct ArrowArray batch = {0};
    if (!model_render(m, "count(*), count(s), sum(n), min(id), max(d)", list, sizeof list)) {
        return;
    }
    const model_condition *condition = random_condition(f, &number);
    model_value sum = model_null(), least = model_null(), most = model_null();
    for (size_t i = 0; i < m->count; i++) {
        const model_row *row = &m->rows[i];
        if (!matches(condition, row, number)) {
            continue;
        }
        rows++;
        names += !row->values[COL_S].null;
        if (!row->values[COL_N].null) {
            sum = model_long((sum.null ? 0 : sum.i) + row->values[COL_N].i);
        }
        least = least.null ? row->values[COL_ID] : least;
        if (!row->values[COL_D].null && (most.null || row->values[COL_D].d > most.d)) {
            most = row->values[COL_D];
        }
    }
    condition_text(m, condition, number, where, sizeof where);
    snprintf(sql, sizeof sql, "SELECT %s FROM " NAME " WHERE %s", list, where);
    assert_ok(frz_sql_run(&f->outer, NULL, sql, &result, &f->err), &f->err);
    assert_int_equal(result.rows.get_next(&result.rows, &batch), 0);
    assert_int_equal(batch.length, 1);
    const model_value expected[] = {model_long(rows), model_long(names), sum, least, most};
    for (int i = 0; i < 5; i++) {
        model_kind kind = i == 4 ? KIND_DOUBLE : KIND_LONG;
        model_value found = model_read(kind, batch.children[i], 0);
        assert_model(f, model_equal(kind, &expected[i], &found), "aggregate %d of %s", i, sql);
    }
    frz_array_release(&batch);
    result.rows.release(&result.rows);
}

static inline void fail_on_finding(void *ctx, const char *location, const char *text)
{
    fixture *f = ctx;
    assert_model(f, false, "finding in %s: %s", location, text);
}

static inline void check_table(fixture *f, bool whole_history)
{
    frz_table *table = NULL;
    int64_t findings = 0;
    assert_ok(frz_catalog_load_table(&f->outer, NAME, &table, &f->err), &f->err);
    assert_model(f, table->metadata.last_sequence_number == f->sequence,
                 "sequence number: expected %lld, found %lld", (long long)f->sequence,
                 (long long)table->metadata.last_sequence_number);
    check_all(f, table, &f->now, 0);
    check_some(f, table, &f->now);
    check_aggregates(f, &f->now);
    size_t first = whole_history ? 0 : (size_t)random_below(&f->random, (int64_t)f->history_count);
    size_t end = whole_history ? f->history_count : first + 1;
    for (size_t i = first; i < end; i++) {
        check_all(f, table, &f->history[i], f->history[i].snapshot_id);
    }
    if (whole_history || random_below(&f->random, 4) == 0) {
        assert_ok(frz_validate(table, fail_on_finding, f, &findings, &f->err), &f->err);
        assert_int_equal(findings, 0);
    }
    frz_table_unref(table);
}

/* ---- updates ---- */

typedef struct update {
    const model_rule *rules[3];
    size_t rule_count;
    const model_condition *condition;
    int64_t number;
    char sql[512];
} update;

static inline void update_text(const model *m, update *u)
{
    char text[128];
    size_t len = (size_t)snprintf(u->sql, sizeof u->sql, "UPDATE " NAME " SET ");
    for (size_t i = 0; i < u->rule_count; i++) {
        assert_true(model_render(m, u->rules[i]->text, text, sizeof text));
        len += (size_t)snprintf(u->sql + len, sizeof u->sql - len, "%s%s = %s", i == 0 ? "" : ", ",
                                model_name(m, (size_t)u->rules[i]->column), text);
    }
    if (u->condition != NULL) {
        condition_text(m, u->condition, u->number, text, sizeof text);
        snprintf(u->sql + len, sizeof u->sql - len, " WHERE %s", text);
    }
}

/* What the update does to the model; returns the rows that it changes. */
static inline int64_t model_update(model *m, const update *u, int64_t sequence)
{
    int64_t rows = 0;
    for (size_t i = 0; i < m->count; i++) {
        const model_row old = m->rows[i];
        if (!matches(u->condition, &old, u->number)) {
            continue;
        }
        for (size_t k = 0; k < u->rule_count; k++) {
            m->rows[i].values[u->rules[k]->column] = u->rules[k]->value(&old);
        }
        m->rows[i].last_updated = sequence;
        rows++;
    }
    return rows;
}

static inline frz_commit_report run_sql(fixture *f, frz_catalog *catalog, const char *sql)
{
    frz_sql_result result = {0};
    note(f, sql);
    frz_code rc = frz_sql_run(catalog, NULL, sql, &result, &f->err);
    assert_model(f, rc == FRZ_OK, "%s: %s", frz_code_name(rc), f->err.message);
    return result.report;
}

/* The statement was run: the model follows. */
static inline void follow_update(fixture *f, const update *u, const frz_commit_report *report)
{
    int64_t rows = model_update(&f->now, u, f->sequence + 1);
    assert_model(f, report->rows == rows, "expected %lld rows, found %lld", (long long)rows,
                 (long long)report->rows);
    assert_model(f, (rows > 0) == (report->snapshot_id != 0), "%lld rows, snapshot %lld",
                 (long long)rows, (long long)report->snapshot_id);
    if (rows > 0) {
        f->sequence++;
        remember(f, report->snapshot_id);
    }
}

/* nftw has no context. */
static int64_t files_below;

static inline int count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)path;
    (void)st;
    (void)ftw;
    files_below += flag == FTW_F;
    return 0;
}

static inline int64_t count_files(const fixture *f, const char *below)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, below);
    files_below = 0;
    assert_int_equal(nftw(path, count_one, 16, FTW_PHYS), 0);
    return files_below;
}

#endif
