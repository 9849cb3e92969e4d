/*
 * Pruning: random filters over random files never lose a row; what is skipped is not read; bounds
 * that cannot be relied on are not.
 */
#include "unit/expr/expr_model.h"
#include "unit/format/parquet_big_file.h"
#include "unit/format/parquet_chunk_edit.h"
#include "unit/format/parquet_prune_check.h"
#include "unit/test_alloc.h"

/* ColumnOrder in the footer */
enum { NO_ORDER = 0, TYPE_ORDER = 1, OTHER_ORDER = 7 };

/* ---- random filters ---- */

#define FILES 40
#define FILTERS 120

/* Batches of few kinds of values each, so that pages and groups differ. */
static void write_model(const frz_env *env, test_random *r, model_batch *batch, const char *path)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.page_version = 1 + random_int(r, 2);
    opts.page_rows = random_int(r, 2) == 0 ? 0 : 1 + random_int(r, 8);
    opts.no_dictionary = random_int(r, 2) == 0;
    opts.no_page_index = random_int(r, 4) == 0;
    opts.no_statistics = random_int(r, 10) == 0;
    frz_parquet_bloom_column blooms[MODEL_COLUMNS];
    opts.blooms = blooms;
    for (int i = 0; i < MODEL_COLUMNS; i++) {
        if (i != MODEL_B && random_int(r, 2) == 0) {
            blooms[opts.bloom_count++] =
                (frz_parquet_bloom_column){.column = model_columns[i].name};
        }
    }
    assert_ok(frz_parquet_writer_open(env, path, batch->type, &opts, &w, &err), &err);
    int groups = 1 + random_int(r, 8);
    for (int g = 0; g < groups; g++) {
        int batches = 1 + random_int(r, 4);
        for (int i = 0; i < batches; i++) {
            model_fill(batch, r, 1 + random_int(r, 24));
            assert_ok(frz_parquet_writer_write(w, &batch->array, &err), &err);
        }
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
    }
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
}

static void put_literal(test_random *r, frz_buf *sql, const frz_type *type)
{
    frz_error err;
    frz_value value = model_value(r, type);
    value.is_null = false;
    assert_ok(expr_print_literal(&value, sql, &err), &err);
}

/* Column and constants, which prune more often than random expressions do. */
static void write_atom(test_random *r, frz_buf *sql, const frz_type *type)
{
    static const char *const operators[] = {" = ", " = ", " <> ", " < ", " >= "};
    const frz_field *field = &type->fields[random_int(r, (int)type->field_count)];
    int form = random_int(r, 8);
    frz_buf_printf(sql, NULL, "%s%.*s", form == 7 ? "NOT " : "", FRZ_STR_ARG(field->name));
    if (form <= 1) {
        frz_buf_append_str(sql, form == 0 ? " IN (" : " BETWEEN ", NULL);
        put_literal(r, sql, field->type);
        frz_buf_append_str(sql, form == 0 ? ", " : " AND ", NULL);
        put_literal(r, sql, field->type);
        frz_buf_append_str(sql, form == 0 ? ")" : "", NULL);
    } else {
        frz_buf_append_str(sql, operators[random_int(r, (int)FRZ_ARRAY_COUNT(operators))], NULL);
        put_literal(r, sql, field->type);
    }
}

static void write_filter(test_random *r, frz_buf *sql, const frz_type *type)
{
    int form = random_int(r, 4);
    if (form == 0) {
        model_write(&(model_writer){r, sql}, WRITE_BOOLEAN, 1 + random_int(r, 3));
        return;
    }
    write_atom(r, sql, type);
    for (; form > 1; form--) {
        frz_buf_append_str(sql, random_int(r, 3) == 0 ? " OR " : " AND ", NULL);
        write_atom(r, sql, type);
    }
}

typedef struct prune_tally {
    int conditions, pruned;
    frz_prune_report total;
} prune_tally;

static void check_filter(prune_checker *c, frz_str sql, prune_tally *tally)
{
    frz_error err = {0};
    const frz_expr *expr;
    frz_bound_expr *filter = NULL;
    prune_rows all = {0};
    prune_rows left = {0};
    frz_prune_report report = {0};
    bool scanned = false;
    assert_ok(frz_expr_parse(&c->arena, sql, &expr, &err), &err);
    if (frz_expr_bind_filter(c->env, expr, c->type, &filter, &err) == FRZ_OK) {
        c->filter = filter;
        frz_code rc = prune_both(c, &all, &left, &report, &scanned, &err);
        if (scanned) {
            assert_ok(rc, &err);
            if (prune_difference(&all, &left) >= 0) {
                fail_msg("row %lld is lost: %.*s", (long long)prune_difference(&all, &left),
                         FRZ_STR_ARG(sql));
            }
            assert_true(report.rows_left >= (int64_t)all.count);
            tally->conditions++;
            tally->pruned += report.rows_left < report.rows;
            tally->total.groups_by_statistics += report.groups_by_statistics;
            tally->total.groups_by_dictionary += report.groups_by_dictionary;
            tally->total.groups_by_bloom += report.groups_by_bloom;
            tally->total.pages_by_index += report.pages_by_index;
        }
    }
    frz_bound_expr_free(filter);
    frz_free(c->env, all.items);
    frz_free(c->env, left.items);
    frz_arena_reset(&c->arena);
}

static void prune__random_filters_lose_no_row(void **state)
{
    const char *rounds = getenv("PRUNE_MODEL_FILES");
    int files = rounds == NULL ? FILES : atoi(rounds);
    test_random random = {UINT64_C(0x5EEDED)};
    model_batch batch;
    place p;
    prune_tally tally = {0};
    frz_error err = {0};
    place_init(&p);
    model_batch_init(&batch, *state);
    for (int i = 0; i < files; i++) {
        frz_data_file *file;
        unlink(p.path);
        write_model(*state, &random, &batch, p.path);
        assert_ok(frz_data_file_open(*state, p.path, NULL, &file, &err), &err);
        prune_checker c = {.env = *state, .file = file, .type = batch.type};
        frz_arena_init(&c.arena, *state, FRZ_ARENA_NO_LIMIT);
        for (int k = 0; k < FILTERS; k++) {
            frz_buf sql = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
            write_filter(&random, &sql, batch.type);
            check_filter(&c, frz_buf_view(&sql), &tally);
            frz_buf_reset(&sql);
        }
        frz_data_file_close(file);
    }
    model_batch_reset(&batch);
    place_remove(&p);
    print_message("%d filters, %d pruned; groups by statistics %lld, by dictionary %lld, by bloom "
                  "filter %lld; pages %lld\n",
                  tally.conditions, tally.pruned, (long long)tally.total.groups_by_statistics,
                  (long long)tally.total.groups_by_dictionary,
                  (long long)tally.total.groups_by_bloom, (long long)tally.total.pages_by_index);
    assert_true(tally.pruned > tally.conditions / 10);
    assert_true(tally.total.pages_by_index > 0);
    assert_true(tally.total.groups_by_dictionary > 0);
    assert_true(tally.total.groups_by_bloom > 0);
}

/* ---- what is read ---- */

/* Prune a filter over the file; ranges live in the file's arena. */
static void big_prune(big_file *f, const char *sql, frz_row_range **ranges, size_t *count,
                      frz_prune_report *report)
{
    frz_error err = {0};
    const frz_expr *expr;
    frz_bound_expr *filter;
    assert_ok(frz_expr_parse(&f->arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(f->env, expr, f->type, &filter, &err), &err);
    frz_prune_request request = {.filter = filter, .provided = f->type};
    *report = (frz_prune_report){0};
    assert_ok(frz_data_file_prune(f->file, &request, &f->arena, ranges, count, report, &err), &err);
    frz_bound_expr_free(filter);
}

static void prune__a_point_in_a_sorted_file_reads_one_percent(void **state)
{
    big_file f;
    frz_row_range *ranges;
    size_t count;
    frz_prune_report report;
    char sql[64];
    big_open(&f, *state, 1);
    uint64_t before = bytes_read(f.env);
    snprintf(sql, sizeof sql, "id = %lld", (long long)key_of(123456));
    big_prune(&f, sql, &ranges, &count, &report);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].start, 123000);
    assert_int_equal(ranges[0].end, 123500);
    (void)big_read(&f, ranges, count);
    uint64_t read = bytes_read(f.env) - before;
    assert_true(read * 100 < frz_data_file_size(f.file));
    assert_int_equal(report.groups, 4);
    assert_int_equal(report.groups_by_statistics, 3);
    assert_int_equal(report.pages_by_index, GROUP_ROWS / PAGE_ROWS - 1);
    assert_int_equal(report.rows, BIG_ROWS);
    assert_int_equal(report.rows_left, PAGE_ROWS);
    big_close(&f);
}

static void prune__only_provided_fields_prove_something(void **state)
{
    static const frz_row_range asked[] = {{10, 20}, {123456, 123457}, {199999, 200000}};
    frz_error err = {0};
    big_file f;
    frz_row_range *ranges;
    size_t count;
    const frz_expr *expr;
    frz_bound_expr *filter;
    const frz_type *provided;
    char sql[64];
    big_open(&f, *state, 1);
    snprintf(sql, sizeof sql, "id = %lld", (long long)key_of(123456));
    assert_ok(frz_expr_parse(&f.arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(f.env, expr, f.type, &filter, &err), &err);
    assert_ok(frz_type_struct_of(&f.arena, f.type->fields + 1, 2, &provided, &err), &err);
    frz_prune_request request = {
        .filter = filter, .provided = provided, .ranges = asked, .range_count = 3};
    frz_prune_report report = {0};
    assert_ok(frz_data_file_prune(f.file, &request, &f.arena, &ranges, &count, &report, &err),
              &err);
    assert_int_equal(count, 3);
    assert_memory_equal(ranges, asked, sizeof asked);
    request.provided = f.type;
    report = (frz_prune_report){0};
    assert_ok(frz_data_file_prune(f.file, &request, &f.arena, &ranges, &count, &report, &err),
              &err);
    assert_int_equal(count, 1);
    assert_memory_equal(ranges, asked + 1, sizeof *asked);
    assert_int_equal(report.rows, 12);
    assert_int_equal(report.rows_left, 1);
    frz_bound_expr_free(filter);
    big_close(&f);
}

/* A file of some pages with a filter of more than a hundred kilobytes. */
static void write_bloom_file(big_file *f, frz_env *env, bool no_page_index)
{
    static const frz_parquet_bloom_column bloom = {.column = "id", .fpp = 0.00001};
    const frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                            .page_rows = 1000,
                                            .blooms = &bloom,
                                            .bloom_count = 1,
                                            .no_page_index = no_page_index};
    frz_error err = {0};
    frz_parquet_writer *w;
    *f = (big_file){.env = env};
    place_init(&f->p);
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    f->type = rows_type(&f->arena, BIG_FIELDS);
    struct ArrowArray batch = big_batch(env, f->type, 0, 20000);
    assert_ok(frz_parquet_writer_open(env, f->p.path, f->type, &opts, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    frz_array_release(&batch);
}

/* A question costs the filter's header and a block of 32 bytes. */
static void prune__large_bloom_filters_are_not_read_whole(void **state)
{
    frz_error err = {0};
    frz_row_range *ranges;
    size_t count;
    frz_prune_report report;
    big_file f;
    write_bloom_file(&f, *state, true);
    assert_ok(frz_data_file_open(f.env, f.p.path, NULL, &f.file, &err), &err);
    parquet_chunk chunk;
    assert_ok(parquet_file_chunk((const parquet_file *)f.file, 0, 0, &chunk, &err), &err);
    assert_true(chunk.bloom_filter_length > 100000);
    uint64_t before = bytes_read(f.env);
    big_prune(&f, "id = 4294967297", &ranges, &count, &report);
    assert_int_equal(count, 0);
    assert_int_equal(report.groups_by_bloom, 1);
    assert_true(bytes_read(f.env) - before < 1000);
    char sql[64];
    snprintf(sql, sizeof sql, "id IN (4294967297, %lld)", (long long)key_of(19999));
    big_prune(&f, sql, &ranges, &count, &report);
    assert_int_equal(count, 1);
    big_close(&f);
}

/* ---- without memory ---- */

static big_file *prepared;
static const char *prepared_sql;

/* Prune and read what is left, by the page index and the offset index. */
static frz_code prune_with(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    frz_bound_expr *filter = NULL;
    const frz_expr *expr;
    prune_rows left = {0};
    frz_row_range *ranges;
    size_t count;
    frz_prune_report report = {0};
    prune_checker c = {.env = env, .type = prepared->type};
    frz_prune_request request = {.provided = prepared->type};
    frz_arena_init(&c.arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_expr_parse(&c.arena, frz_str_from(prepared_sql), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(env, expr, prepared->type, &filter, err));
    FRZ_TRY(frz_data_file_open(env, prepared->p.path, NULL, &file, err));
    c.file = file;
    c.filter = request.filter = filter;
    FRZ_TRY(frz_data_file_prune(file, &request, &c.arena, &ranges, &count, &report, err));
    FRZ_TRY(prune_read(&c, prepared->type, ranges, count, &left, err));
out:
    frz_free(env, left.items);
    frz_data_file_close(file);
    frz_bound_expr_free(filter);
    frz_arena_reset(&c.arena);
    frz_env_drop_cache((frz_env *)(uintptr_t)env);
    return rc;
}

static void prune__every_allocation_may_fail(void **state)
{
    big_file f;
    char sql[64];
    write_bloom_file(&f, *state, false);
    snprintf(sql, sizeof sql, "id = %lld AND s <> 'x'", (long long)key_of(1501));
    prepared = &f;
    prepared_sql = sql;
    uint64_t calls = test_fail_every_allocation(prune_with);
    print_message("%llu allocations\n", (unsigned long long)calls);
    big_close(&f);
}

/* ---- files that lie ---- */

/* A column chunk gets other statistics: are the rows that match still found? */
static bool finds_rows(const frz_env *env, const char *fields, const char *rows, const char *sql,
                       const parquet_statistics *statistics, int8_t order, const char *created_by)
{
    place p;
    frz_arena arena;
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_data_file *file;
    prune_rows all = {0};
    prune_rows left = {0};
    frz_prune_report report = {0};
    const frz_expr *expr;
    frz_bound_expr *filter;
    parquet_chunk chunk;
    bool scanned;
    place_init(&p);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, fields);
    struct ArrowArray batch = rows_batch(env, type, rows);
    assert_ok(frz_parquet_writer_open(env, p.path, type, NULL, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    frz_array_release(&batch);
    assert_ok(frz_data_file_open(env, p.path, NULL, &file, &err), &err);
    parquet_file *inner = (parquet_file *)file;
    assert_ok(parquet_file_chunk(inner, 0, 0, &chunk, &err), &err);
    chunk.statistics = *statistics;
    edit_chunk(inner, 0, 0, &chunk);
    inner->metadata.column_orders = &order;
    inner->metadata.column_order_count = order == NO_ORDER ? 0 : 1;
    if (created_by != NULL) {
        inner->metadata.created_by = frz_str_from(created_by);
    }
    prune_checker c = {.env = env, .file = file, .type = type};
    frz_arena_init(&c.arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_expr_parse(&arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(env, expr, type, &filter, &err), &err);
    c.filter = filter;
    assert_ok(prune_both(&c, &all, &left, &report, &scanned, &err), &err);
    bool found = left.count == all.count;
    assert_true(all.count > 0);
    frz_bound_expr_free(filter);
    frz_free(env, all.items);
    frz_free(env, left.items);
    frz_arena_reset(&c.arena);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
    return found;
}

#define C(type) "{'id':1,'name':'c','required':false,'type':'" type "'}"

static frz_str bytes_of(const void *bytes, size_t len)
{
    return (frz_str){bytes, len};
}

static void prune__bounds_that_lie_lose_no_row(void **state)
{
    static const int64_t five = 5, nine = 9;
    static const double zero = 0.0, minus_zero = -0.0, one = 1.0;
    double nan = (double)NAN;
    frz_str low = bytes_of(&five, 8), high = bytes_of(&nine, 8);
    frz_str float_nan = bytes_of(&nan, 8), float_minus = bytes_of(&minus_zero, 8);
    frz_str float_low = bytes_of(&zero, 8), float_high = bytes_of(&one, 8);
    const struct {
        const char *fields, *rows, *sql;
        parquet_statistics statistics;
        int8_t order;
        bool found;
    } cases[] = {
        /* signed order of bytes: 0x80 counts as less than 0x01 */
        {C("binary"),
         "[{'c':'80'},{'c':'01'}]",
         "c = X'80'",
         {.min = FRZ_STR("\x80"), .max = FRZ_STR("\x01")},
         TYPE_ORDER,
         true},
        {C("binary"),
         "[{'c':'80'},{'c':'01'}]",
         "c = X'80'",
         {.min = FRZ_STR("\x01"), .max = FRZ_STR("\x01")},
         TYPE_ORDER,
         true},
        /* no order, an order that is not known, bounds that cannot be */
        {C("string"),
         "[{'c':'m'}]",
         "c = 'm'",
         {.min_value = FRZ_STR("a"), .max_value = FRZ_STR("b")},
         NO_ORDER,
         true},
        {C("string"),
         "[{'c':'m'}]",
         "c = 'm'",
         {.min_value = FRZ_STR("a"), .max_value = FRZ_STR("b")},
         OTHER_ORDER,
         true},
        {C("string"),
         "[{'c':'m'}]",
         "c = 'm'",
         {.min_value = FRZ_STR("z"), .max_value = FRZ_STR("b")},
         TYPE_ORDER,
         true},
        {C("string"),
         "[{'c':'m'}]",
         "c = 'm'",
         {.min_value = FRZ_STR("\xff"), .max_value = FRZ_STR("z")},
         TYPE_ORDER,
         true},
        {C("long"), "[{'c':4}]", "c = 4", {.min_value = low, .max_value = high}, OTHER_ORDER, true},
        {C("long"),
         "[{'c':4}]",
         "c = 4",
         {.min_value = {low.ptr, 7}, .max_value = {high.ptr, 7}},
         TYPE_ORDER,
         true},
        {C("long"),
         "[{'c':4},{}]",
         "c IS NULL",
         {.has_null_count = true, .null_count = -1},
         TYPE_ORDER,
         true},
        {C("long"),
         "[{'c':4},{}]",
         "c = 4",
         {.has_null_count = true, .null_count = 3},
         TYPE_ORDER,
         true},
        /* what is certain is believed, even where it is wrong */
        {C("string"),
         "[{'c':'m'}]",
         "c = 'm'",
         {.min_value = FRZ_STR("a"), .max_value = FRZ_STR("b")},
         TYPE_ORDER,
         false},
        {C("long"), "[{'c':4}]", "c = 4", {.min = low, .max = high}, NO_ORDER, false},
        {C("long"), "[{'c':7}]", "c = 7", {.min = low, .max = high}, NO_ORDER, true},
        /* NaN is no bound, and may be anywhere unless it was counted */
        {C("double"),
         "[{'c':5}]",
         "c = 5",
         {.min_value = float_nan, .max_value = float_nan},
         TYPE_ORDER,
         true},
        {C("double"),
         "[{'c':5}]",
         "c = 5",
         {.min_value = float_low, .max_value = float_nan},
         TYPE_ORDER,
         true},
        {C("double"),
         "[{'c':'NaN'}]",
         "c > 2e0",
         {.min_value = float_low, .max_value = float_high},
         TYPE_ORDER,
         true},
        {C("double"),
         "[{'c':'NaN'}]",
         "c > 2e0",
         {.min_value = float_low, .max_value = float_high, .has_nan_count = true},
         TYPE_ORDER,
         false},
        /* either zero is both */
        {C("double"),
         "[{'c':0.0}]",
         "c = 0e0",
         {.min_value = float_minus, .max_value = float_minus},
         TYPE_ORDER,
         true},
        {C("double"),
         "[{'c':0.0}]",
         "c >= 0e0",
         {.min_value = float_minus, .max_value = float_minus},
         TYPE_ORDER,
         true},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        if (finds_rows(*state, cases[i].fields, cases[i].rows, cases[i].sql, &cases[i].statistics,
                       cases[i].order, NULL) != cases[i].found) {
            fail_msg("case %zu: %s", i, cases[i].sql);
        }
    }
}

/* 128 and 300 as the bounds of 1, 128 and 300: bytes were compared as signed numbers. */
static void prune__misordered_decimals_are_known_by_their_writer(void **state)
{
    static const parquet_statistics statistics = {.min_value = FRZ_STR("\0\0\0\0\0\0\0\0\x80"),
                                                  .max_value = FRZ_STR("\0\0\0\0\0\0\0\x01\x2c")};
    static const struct {
        const char *writer;
        bool found;
    } cases[] = {
        {"parquet-cpp version 1.5.1-SNAPSHOT", true},
        {"parquet-cpp-arrow version 3.0.0", true},
        {"parquet-cpp-arrow version 4.0.0", false},
        {"parquet-cpp-arrow version 30.0.0", false},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_int_equal(finds_rows(*state, C("decimal(20,0)"),
                                    "[{'c':'1'},{'c':'128'},{'c':'300'}]", "c = 1", &statistics,
                                    TYPE_ORDER, cases[i].writer),
                         cases[i].found);
    }
}

/* The bytes of a page with a dictionary of booleans, one bit each, all false. */
static void put_boolean_dictionary(frz_buf *out, int32_t count)
{
    frz_error err = {0};
    parquet_thrift_out t;
    parquet_put_begin(&t, out, &err);
    parquet_put_i32(&t, 1, PARQUET_DICTIONARY_PAGE);
    parquet_put_i32(&t, 2, count / 8);
    parquet_put_i32(&t, 3, count / 8);
    parquet_put_struct(&t, 7);
    parquet_put_i32(&t, 1, count);
    parquet_put_i32(&t, 2, PARQUET_PLAIN);
    parquet_put_end(&t);
    parquet_put_end(&t);
    assert_ok(frz_buf_reserve(out, (size_t)count / 8, &err), &err);
    memset(out->data + out->len, 0, (size_t)count / 8);
    out->len += (size_t)count / 8;
}

/* Where bytes stand in a file. */
static int64_t find_in_file(const char *path, frz_str bytes)
{
    static char all[1 << 16];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t len = fread(all, 1, sizeof all, f);
    fclose(f);
    for (size_t i = 0; i + bytes.len <= len; i++) {
        if (memcmp(all + i, bytes.ptr, bytes.len) == 0) {
            return (int64_t)i;
        }
    }
    fail_msg("the bytes are not in the file");
    return -1;
}

/* The chunk of booleans is said to lie inside a value of another column, where there is a page. */
static void prune__dictionaries_of_booleans_prove_nothing(void **state)
{
    static const frz_parquet_write_options opts = {
        .struct_size = sizeof opts, .codec = FRZ_PARQUET_UNCOMPRESSED, .no_dictionary = true};
    frz_error err = {0};
    big_file f = {.env = *state};
    frz_parquet_writer *w;
    parquet_chunk chunk;
    frz_row_range *ranges;
    frz_prune_report report;
    size_t count;
    frz_buf page;
    char rows[4096] = "[{'c':true,'b':'";
    place_init(&f.p);
    frz_arena_init(&f.arena, f.env, FRZ_ARENA_NO_LIMIT);
    frz_buf_init(&page, f.env, FRZ_BUF_NO_LIMIT);
    put_boolean_dictionary(&page, 8192);
    for (size_t i = 0; i < page.len; i++) {
        snprintf(rows + strlen(rows), 3, "%02x", page.data[i]);
    }
    strcat(rows, "'}]");
    f.type =
        rows_type(&f.arena, C("boolean") ",{'id':2,'name':'b','required':false,'type':'binary'}");
    struct ArrowArray batch = rows_batch(f.env, f.type, rows);
    assert_ok(frz_parquet_writer_open(f.env, f.p.path, f.type, &opts, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    frz_array_release(&batch);
    assert_ok(frz_data_file_open(f.env, f.p.path, NULL, &f.file, &err), &err);
    assert_ok(parquet_file_chunk((parquet_file *)f.file, 0, 0, &chunk, &err), &err);
    chunk.statistics = (parquet_statistics){.min_exact = -1, .max_exact = -1};
    chunk.encodings = 1u << PARQUET_PLAIN_DICTIONARY;
    chunk.dictionary_page_offset = find_in_file(f.p.path, frz_buf_view(&page));
    chunk.data_page_offset = chunk.dictionary_page_offset + (int64_t)page.len;
    chunk.total_compressed_size = (int64_t)page.len;
    edit_chunk((parquet_file *)f.file, 0, 0, &chunk);
    big_prune(&f, "c = true", &ranges, &count, &report);
    assert_int_equal(report.groups_by_dictionary, 0);
    assert_int_equal(report.rows_left, 1);
    frz_buf_reset(&page);
    big_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(prune__random_filters_lose_no_row),
        TEST_WITH_ENV(prune__a_point_in_a_sorted_file_reads_one_percent),
        TEST_WITH_ENV(prune__only_provided_fields_prove_something),
        TEST_WITH_ENV(prune__large_bloom_filters_are_not_read_whole),
        TEST_WITH_ENV(prune__every_allocation_may_fail),
        TEST_WITH_ENV(prune__bounds_that_lie_lose_no_row),
        TEST_WITH_ENV(prune__misordered_decimals_are_known_by_their_writer),
        TEST_WITH_ENV(prune__dictionaries_of_booleans_prove_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
