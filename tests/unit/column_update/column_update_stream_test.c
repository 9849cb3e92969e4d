/*
 * Values from a C Arrow stream that another producer made: of several batches, some of them empty
 * or slices, one that ends early, and ones that fail.
 */
#include <errno.h>

#include "frazil/merge.h"
#include "model/model_table.h"

#define ROWS 20
#define BATCHES_MOST 5

/* ---- a producer ---- */

typedef struct producer {
    fixture *f;
    const frz_type *type; /* id, v */
    struct ArrowArray batches[BATCHES_MOST];
    size_t count, next;
    size_t fails_at; /* instead of this batch; count: never */
    int error;       /* of errno */
    bool schema_fails, is_silent;
    bool ended; /* it was asked behind its last batch */
} producer;

static int producer_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *p = stream->private_data;
    return p->schema_fails                                                    ? p->error
           : frz_type_to_arrow(p->f->env, p->type, out, &p->f->err) == FRZ_OK ? 0
                                                                              : ENOMEM;
}

static int producer_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    *out = (struct ArrowArray){0};
    if (p->next == p->fails_at) {
        return p->error;
    }
    if (p->next == p->count) {
        p->ended = true;
        return 0;
    }
    frz_array_move(&p->batches[p->next++], out);
    return 0;
}

static const char *producer_error(struct ArrowArrayStream *stream)
{
    const producer *p = stream->private_data;
    return p->is_silent ? NULL : "the tap is closed";
}

static void producer_release(struct ArrowArrayStream *stream)
{
    producer *p = stream->private_data;
    for (size_t i = 0; i < p->count; i++) {
        frz_array_release(&p->batches[i]);
    }
    stream->release = NULL;
}

static void producer_init(producer *p, fixture *f, struct ArrowArrayStream *stream)
{
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    const frz_field fields[] = {{.id = FRZ_ID_NONE, .name = FRZ_STR("id"), .type = number},
                                {.id = FRZ_ID_NONE, .name = FRZ_STR("v"), .type = number}};
    *p = (producer){.f = f, .fails_at = SIZE_MAX};
    assert_ok(frz_type_struct_of(&f->arena, fields, 2, &p->type, &f->err), &f->err);
    *stream = (struct ArrowArrayStream){.get_schema = producer_schema,
                                        .get_next = producer_next,
                                        .get_last_error = producer_error,
                                        .release = producer_release,
                                        .private_data = p};
}

/* A batch of ids [first, end) with v = 100 + id. skip: rows before them that are sliced away. */
static void add_batch(producer *p, int64_t first, int64_t end, int64_t skip)
{
    fixture *f = p->f;
    frz_builder *b = NULL;
    struct ArrowArray whole;
    assert_true(p->count < BATCHES_MOST);
    assert_ok(frz_builder_new(f->env, p->type, &b, &f->err), &f->err);
    for (int64_t id = first - skip; id < end; id++) {
        assert_ok(frz_builder_i64(frz_builder_child(b, 0), id, &f->err), &f->err);
        assert_ok(frz_builder_i64(frz_builder_child(b, 1), 100 + id, &f->err), &f->err);
        assert_ok(frz_builder_end(b, &f->err), &f->err);
    }
    assert_ok(frz_builder_finish(b, &whole, &f->err), &f->err);
    frz_builder_free(b);
    assert_ok(frz_batch_slice(f->env, &whole, skip, end - first, &p->batches[p->count++], &f->err),
              &f->err);
    frz_array_release(&whole);
}

/* ---- a table ---- */

/* Two files of ten rows, ids 0 to 9 and 10 to 19. */
static void begin(fixture *f, void **state, producer *p, struct ArrowArrayStream *stream)
{
    static const size_t ends[] = {10, ROWS};
    fixture_open(f, state, 11);
    make_rows(f, ROWS);
    import_rows(f, ends, 2, true, "full");
    producer_init(p, f, stream);
}

static void end(fixture *f, struct ArrowArrayStream *stream)
{
    stream->release(stream);
    fixture_close(f);
}

typedef enum statement { BY_KEY, BY_POSITION, MERGE } statement;

/* n of rows of the stream's ids becomes v; MERGE: others are inserted. */
static frz_code run(fixture *f, statement kind, struct ArrowArrayStream *stream, size_t memory,
                    frz_commit_report *report)
{
    static const frz_assignment set = {"n", "s.v"};
    static const frz_assignment insert[] = {{"id", "s.id"}, {"n", "s.v"}};
    static const frz_merge_clause clauses[] = {
        {FRZ_MERGE_MATCHED, FRZ_MERGE_UPDATE, NULL, &set, 1},
        {FRZ_MERGE_NOT_MATCHED, FRZ_MERGE_INSERT, NULL, insert, 2}};
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    source.stream = stream;
    source.memory_bytes = memory;
    *report = (frz_commit_report){0};
    return kind == BY_KEY ? frz_update_columns_from(&f->outer, NAME, NULL, &set, 1, &source,
                                                    "t.id = s.id", report, &f->err)
           : kind == BY_POSITION
               ? frz_update_columns_by_position(&f->outer, NAME, &set, 1, &source, report, &f->err)
               : frz_merge(&f->outer, NAME, NULL, &source, "t.id = s.id", clauses, 2, report,
                           &f->err);
}

/* The model's rows from first to end have the stream's values. */
static void follow(fixture *f, const frz_commit_report *report, size_t first, size_t end)
{
    f->sequence++;
    for (size_t i = first; i < end; i++) {
        f->now.rows[i].values[COL_N] = model_long(100 + (int64_t)i);
        f->now.rows[i].last_updated = f->sequence;
    }
    remember(f, report->snapshot_id);
    check_table(f, true);
}

/* The statement fails so, and neither changes anything nor leaves anything behind. */
static void assert_refused(fixture *f, statement kind, struct ArrowArrayStream *stream,
                           size_t memory, frz_code code, const char *phrase)
{
    frz_commit_report report;
    int64_t files = count_files(f, "");
    assert_fails(run(f, kind, stream, memory, &report), &f->err, code, phrase);
    assert_int_equal(report.snapshot_id, 0);
    assert_int_equal(count_files(f, ""), files);
    assert_non_null(stream->release); /* it stays the caller's */
    check_table(f, true);
}

/* ---- rows ---- */

static void stream__gives_values_by_key(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    for (size_t memory = 0; memory < 2; memory++) { /* 1: all rows go to disk */
        begin(&f, state, &p, &stream);
        add_batch(&p, 15, 18, 0);
        add_batch(&p, 0, 0, 0);
        add_batch(&p, 8, 15, 3);
        add_batch(&p, 30, 32, 1);
        assert_ok(run(&f, BY_KEY, &stream, memory, &report), &f.err);
        assert_int_equal(report.rows, 10);
        assert_int_equal(report.source_rows, 12);
        assert_int_equal(report.source_unmatched, 2);
        assert_true(p.ended);
        assert_non_null(stream.release);
        follow(&f, &report, 8, 18);
        end(&f, &stream);
    }
}

static void stream__gives_values_by_position(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    begin(&f, state, &p, &stream);
    add_batch(&p, 0, 3, 0);
    add_batch(&p, 3, 3, 0);
    add_batch(&p, 3, 16, 2);
    add_batch(&p, 16, ROWS, 1);
    assert_ok(run(&f, BY_POSITION, &stream, 0, &report), &f.err);
    assert_int_equal(report.rows, ROWS);
    assert_int_equal(report.source_rows, ROWS);
    assert_true(p.ended);
    follow(&f, &report, 0, ROWS);
    end(&f, &stream);
}

static void stream__without_rows_changes_nothing(void **state)
{
    static const statement kinds[] = {BY_KEY, MERGE};
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        begin(&f, state, &p, &stream);
        assert_ok(run(&f, kinds[i], &stream, 0, &report), &f.err);
        assert_int_equal(report.snapshot_id, 0);
        assert_int_equal(report.source_rows, 0);
        check_table(&f, true);
        end(&f, &stream);
    }
}

static void stream__is_merged(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    begin(&f, state, &p, &stream);
    add_batch(&p, 12, 19, 4);
    add_batch(&p, 19, 23, 0);
    assert_ok(run(&f, MERGE, &stream, 0, &report), &f.err);
    assert_int_equal(report.rows, 8 + 3);
    assert_int_equal(report.rows_inserted, 3);
    for (int64_t i = ROWS; i < ROWS + 3; i++) {
        model_row *rows = realloc(f.now.rows, (f.now.count + 1) * sizeof *rows);
        assert_non_null(rows);
        f.now.rows = rows;
        rows[f.now.count] = (model_row){.row_id = i, .last_updated = f.sequence + 1};
        for (int c = 0; c < COL_MOST; c++) {
            rows[f.now.count].values[c] = model_null();
        }
        rows[f.now.count].values[COL_ID] = model_long(i);
        rows[f.now.count++].values[COL_N] = model_long(100 + i);
    }
    follow(&f, &report, 12, ROWS);
    end(&f, &stream);
}

/* ---- too few, too many ---- */

static void stream__that_ends_early_is_refused_by_position(void **state)
{
    static const char text[] = "as many rows as the table: expected 20, found ";
    static const int64_t ends[] = {0, 7, 10, 19, 21, 30};
    char phrase[80];
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ends); i++) {
        begin(&f, state, &p, &stream);
        add_batch(&p, 0, FRZ_MIN(ends[i], (int64_t)5), 0);
        add_batch(&p, 5, FRZ_MAX(ends[i], (int64_t)5), 0);
        snprintf(phrase, sizeof phrase, "%s%lld", text, (long long)ends[i]);
        assert_refused(&f, BY_POSITION, &stream, 0, FRZ_E_ARGUMENT, phrase);
        end(&f, &stream);
    }
}

/* ---- streams that fail ---- */

static void stream__that_fails_fails_the_statement(void **state)
{
    static const statement kinds[] = {BY_KEY, BY_KEY, BY_POSITION, MERGE, MERGE};
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        for (size_t at = 0; at <= 2; at++) {
            begin(&f, state, &p, &stream);
            add_batch(&p, 0, 12, 0);
            add_batch(&p, 12, 20, 0);
            p.fails_at = at; /* behind the last, too */
            p.error = EIO;
            assert_refused(&f, kinds[i], &stream, i % 2, FRZ_E_IO, "the tap is closed");
            assert_false(p.ended);
            end(&f, &stream);
        }
    }
}

static void stream__that_fails_without_a_word(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    begin(&f, state, &p, &stream);
    add_batch(&p, 0, 12, 0);
    p.fails_at = 1;
    p.error = ENOMEM;
    p.is_silent = true;
    assert_refused(&f, BY_KEY, &stream, 0, FRZ_E_NOMEM, "");
    end(&f, &stream);
}

static void stream__without_a_schema_is_refused(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    begin(&f, state, &p, &stream);
    p.schema_fails = true;
    p.error = EIO;
    assert_refused(&f, MERGE, &stream, 0, FRZ_E_IO, "the tap is closed");
    assert_int_equal(p.next, 0);
    end(&f, &stream);
}

static void stream__whose_batch_lacks_a_column_is_refused(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    struct ArrowArray *columns;
    begin(&f, state, &p, &stream);
    add_batch(&p, 0, 4, 0);
    columns = frz_alloc_zero(f.env, 1, sizeof *columns);
    assert_non_null(columns);
    frz_array_move(p.batches[0].children[0], columns);
    frz_array_release(&p.batches[0]);
    assert_ok(frz_batch_make(f.env, 4, columns, 1, &p.batches[0], &f.err), &f.err);
    frz_free(f.env, columns);
    assert_refused(&f, BY_KEY, &stream, 0, FRZ_E_ARGUMENT, "a batch of 1 columns in a stream of 2");
    end(&f, &stream);
}

/* ---- another writer was first ---- */

static void rival_runs(fixture *f)
{
    frz_sql_result result = {0};
    assert_ok(frz_sql_run(f->inner, NULL, f->rival_sql, &result, &f->err), &f->err);
    f->sequence += result.report.snapshot_id != 0;
}

static void stream__is_kept_when_only_rows_changed(void **state)
{
    static const statement kinds[] = {BY_KEY, MERGE};
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        begin(&f, state, &p, &stream);
        add_batch(&p, 4, 9, 0);
        f.rival = rival_runs;
        f.rival_sql = "DELETE FROM " NAME " WHERE id >= 15";
        assert_ok(run(&f, kinds[i], &stream, 0, &report), &f.err);
        assert_int_equal(report.attempts, 2);
        assert_int_equal(report.rows, 5);
        f.now.count = 15;
        follow(&f, &report, 4, 9);
        end(&f, &stream);
    }
}

static void stream__cannot_be_read_again_for_other_columns(void **state)
{
    fixture f;
    producer p;
    struct ArrowArrayStream stream;
    frz_commit_report report;
    begin(&f, state, &p, &stream);
    add_batch(&p, 4, 9, 0);
    f.rival = rival_runs;
    f.rival_sql = "ALTER TABLE " NAME " ADD COLUMN more bigint";
    assert_fails(run(&f, BY_KEY, &stream, 0, &report), &f.err, FRZ_E_CONFLICT,
                 "a stream cannot be read again");
    assert_null(f.rival);
    end(&f, &stream);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(stream__gives_values_by_key),
        TEST_WITH_ENV(stream__gives_values_by_position),
        TEST_WITH_ENV(stream__without_rows_changes_nothing),
        TEST_WITH_ENV(stream__is_merged),
        TEST_WITH_ENV(stream__that_ends_early_is_refused_by_position),
        TEST_WITH_ENV(stream__that_fails_fails_the_statement),
        TEST_WITH_ENV(stream__that_fails_without_a_word),
        TEST_WITH_ENV(stream__without_a_schema_is_refused),
        TEST_WITH_ENV(stream__whose_batch_lacks_a_column_is_refused),
        TEST_WITH_ENV(stream__is_kept_when_only_rows_changed),
        TEST_WITH_ENV(stream__cannot_be_read_again_for_other_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
