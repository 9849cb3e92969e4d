/*
 * Pruning: random filters over random files never lose a row; what is skipped is not read; files
 * that lie about their bounds, or whose indexes are damaged, are read right.
 */
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_index.h"
#include "unit/expr/expr_model.h"
#include "unit/format/parquet_chunk_edit.h"
#include "unit/format/parquet_prune_check.h"
#include "unit/format/parquet_rows.h"

typedef struct place {
    char folder[64], path[96];
} place;

static void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-prune-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
}

static void place_remove(place *p)
{
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

/* ---- random filters ---- */

#define FILES 40
#define FILTERS 120

/* Batches of few kinds of values each, so that pages and groups differ. */
static void write_model(const frz_env *env, model_random *r, model_batch *batch, const char *path)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.page_version = 1 + model_below(r, 2);
    opts.page_rows = model_below(r, 2) == 0 ? 0 : 1 + model_below(r, 8);
    opts.no_dictionary = model_below(r, 2) == 0;
    opts.no_page_index = model_below(r, 4) == 0;
    opts.no_statistics = model_below(r, 10) == 0;
    assert_ok(frz_parquet_writer_open(env, path, batch->type, &opts, &w, &err), &err);
    int groups = 1 + model_below(r, 8);
    for (int g = 0; g < groups; g++) {
        int batches = 1 + model_below(r, 4);
        for (int i = 0; i < batches; i++) {
            model_fill(batch, r, 1 + model_below(r, 24));
            assert_ok(frz_parquet_writer_write(w, &batch->array, &err), &err);
        }
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
    }
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
}

static void put_literal(model_random *r, frz_buf *sql, const frz_type *type)
{
    frz_error err;
    frz_value value = model_value(r, type);
    value.is_null = false;
    assert_ok(expr_print_literal(&value, sql, &err), &err);
}

/* Column and constants, which prune more often than random expressions do. */
static void write_atom(model_random *r, frz_buf *sql, const frz_type *type)
{
    static const char *const operators[] = {" = ", " = ", " <> ", " < ", " >= "};
    const frz_field *field = &type->fields[model_below(r, (int)type->field_count)];
    int form = model_below(r, 8);
    frz_buf_printf(sql, NULL, "%s%.*s", form == 7 ? "NOT " : "", FRZ_STR_ARG(field->name));
    if (form <= 1) {
        frz_buf_append_str(sql, form == 0 ? " IN (" : " BETWEEN ", NULL);
        put_literal(r, sql, field->type);
        frz_buf_append_str(sql, form == 0 ? ", " : " AND ", NULL);
        put_literal(r, sql, field->type);
        frz_buf_append_str(sql, form == 0 ? ")" : "", NULL);
    } else {
        frz_buf_append_str(sql, operators[model_below(r, (int)FRZ_ARRAY_COUNT(operators))], NULL);
        put_literal(r, sql, field->type);
    }
}

static void write_filter(model_random *r, frz_buf *sql, const frz_type *type)
{
    int form = model_below(r, 4);
    if (form == 0) {
        model_write(&(model_writer){r, sql}, WRITE_BOOLEAN, 1 + model_below(r, 3));
        return;
    }
    write_atom(r, sql, type);
    for (; form > 1; form--) {
        frz_buf_append_str(sql, model_below(r, 3) == 0 ? " OR " : " AND ", NULL);
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
    model_random random = {UINT64_C(0x5EEDED)};
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
    print_message(
        "%d filters, %d pruned; groups by statistics %lld, by dictionary %lld, pages %lld\n",
        tally.conditions, tally.pruned, (long long)tally.total.groups_by_statistics,
        (long long)tally.total.groups_by_dictionary, (long long)tally.total.pages_by_index);
    assert_true(tally.pruned > tally.conditions / 10);
    assert_true(tally.total.pages_by_index > 0);
    assert_true(tally.total.groups_by_dictionary > 0);
}

/* ---- what is read ---- */

#define BIG_ROWS 200000
#define GROUP_ROWS 50000
#define PAGE_ROWS 500

#define BIG_FIELDS                                                                                 \
    "{'id':1,'name':'id','required':true,'type':'long'},"                                          \
    "{'id':2,'name':'s','required':false,'type':'string'},"                                        \
    "{'id':3,'name':'l','required':false,'type':{'type':'list','element-id':4,"                    \
    "'element':'long','element-required':false}}"

/* Ascending, and yet not small when encoded. */
static int64_t key_of(int64_t i)
{
    return (i << 32) + (int64_t)((uint64_t)i * 0x9E3779B97F4A7C15u >> 32);
}

/* Row i: its key, text of i (null every 7th), a list of up to 3 keys from i on (null every 11th).
 */
static struct ArrowArray big_batch(const frz_env *env, const frz_type *type, int64_t first,
                                   int64_t count)
{
    frz_error err;
    frz_builder *b;
    struct ArrowArray out;
    assert_ok(frz_builder_new(env, type, &b, &err), &err);
    for (int64_t i = first; i < first + count; i++) {
        char text[32];
        frz_builder *list = frz_builder_child(b, 2);
        snprintf(text, sizeof text, "%llx", (unsigned long long)i * 0x9E3779B97F4A7C15u);
        assert_ok(frz_builder_i64(frz_builder_child(b, 0), key_of(i), &err), &err);
        assert_ok(i % 7 == 0 ? frz_builder_null(frz_builder_child(b, 1), &err)
                             : frz_builder_bytes(frz_builder_child(b, 1), frz_str_from(text), &err),
                  &err);
        for (int64_t k = 0; i % 11 != 0 && k < i % 4; k++) {
            assert_ok(frz_builder_i64(frz_builder_child(list, 0), key_of(i + k), &err), &err);
        }
        assert_ok(i % 11 == 0 ? frz_builder_null(list, &err) : frz_builder_end(list, &err), &err);
        assert_ok(frz_builder_end(b, &err), &err);
    }
    assert_ok(frz_builder_finish(b, &out, &err), &err);
    frz_builder_free(b);
    return out;
}

static bool same_value(const frz_type *type, const struct ArrowArray *a, int64_t i,
                       const struct ArrowArray *b, int64_t k)
{
    if (frz_is_null(a, i) || frz_is_null(b, k)) {
        return frz_is_null(a, i) == frz_is_null(b, k);
    }
    if (type->id != FRZ_TYPE_LIST) {
        frz_value x = frz_value_at(type, a, i);
        frz_value y = frz_value_at(type, b, k);
        return frz_value_compare(&x, &y, true) == 0;
    }
    const int32_t *at_a = (const int32_t *)a->buffers[1] + a->offset + i;
    const int32_t *at_b = (const int32_t *)b->buffers[1] + b->offset + k;
    bool same = at_a[1] - at_a[0] == at_b[1] - at_b[0];
    for (int32_t n = 0; same && n < at_a[1] - at_a[0]; n++) {
        same = same_value(type->fields[0].type, a->children[0], at_a[0] + n, b->children[0],
                          at_b[0] + n);
    }
    return same;
}

typedef struct big_file {
    place p;
    frz_env *env;
    frz_arena arena;
    const frz_type *type;
    frz_data_file *file;
} big_file;

static void big_open(big_file *f, frz_env *env, int page_version)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.codec = FRZ_PARQUET_UNCOMPRESSED;
    opts.no_dictionary = opts.no_delta = true;
    opts.page_version = page_version;
    opts.page_rows = PAGE_ROWS;
    f->env = env;
    place_init(&f->p);
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    f->type = rows_type(&f->arena, BIG_FIELDS);
    assert_ok(frz_parquet_writer_open(env, f->p.path, f->type, &opts, &w, &err), &err);
    for (int64_t i = 0; i < BIG_ROWS; i += GROUP_ROWS) {
        struct ArrowArray batch = big_batch(env, f->type, i, GROUP_ROWS);
        assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
        frz_array_release(&batch);
    }
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    assert_ok(frz_data_file_open(env, f->p.path, NULL, &f->file, &err), &err);
}

static void big_close(big_file *f)
{
    frz_data_file_close(f->file);
    frz_arena_reset(&f->arena);
    place_remove(&f->p);
}

static uint64_t bytes_read(const frz_env *env)
{
    frz_env_counters counters;
    frz_env_counters_get(env, &counters);
    return counters.bytes_read;
}

/* Read and compare with what was written. Returns the bytes that were read for it. */
static uint64_t big_read(big_file *f, const frz_row_range *ranges, size_t count)
{
    frz_error err = {0};
    frz_data_reader *reader;
    frz_batch batch;
    uint64_t before = bytes_read(f->env);
    int64_t rows = 0;
    frz_code rc;
    frz_read_request request = {.projection = f->type, .ranges = ranges, .range_count = count};
    assert_ok(frz_data_reader_open(f->file, &request, &reader, &err), &err);
    while ((rc = frz_data_reader_next(reader, &batch, &err)) == FRZ_OK) {
        struct ArrowArray want = big_batch(f->env, f->type, batch.first_row, batch.array.length);
        for (size_t c = 0; c < f->type->field_count; c++) {
            for (int64_t i = 0; i < batch.array.length; i++) {
                if (!same_value(f->type->fields[c].type, batch.array.children[c], i,
                                want.children[c], i)) {
                    fail_msg("row %lld differs", (long long)(batch.first_row + i));
                }
            }
        }
        rows += batch.array.length;
        frz_array_release(&want);
        frz_array_release(&batch.array);
    }
    assert_int_equal(rc, FRZ_END);
    frz_data_reader_close(reader);
    for (size_t i = 0; i < count; i++) {
        rows -= ranges[i].end - ranges[i].start;
    }
    assert_int_equal(rows, 0);
    return bytes_read(f->env) - before;
}

/* Bytes of the pages that hold a wanted row, and of the offset indexes that tell which. */
static uint64_t bytes_needed(big_file *f, const frz_row_range *ranges, size_t count)
{
    frz_error err = {0};
    uint64_t bytes = 0;
    const parquet_file *file = (const parquet_file *)f->file;
    for (size_t g = 0; g < file->metadata.group_count; g++) {
        for (size_t column = 0; column < file->column_count; column++) {
            parquet_chunk chunk;
            parquet_kept_index *kept;
            int64_t first = file->metadata.groups[g].first_row;
            bool any = false;
            assert_ok(parquet_file_chunk(file, g, column, &chunk, &err), &err);
            assert_ok(parquet_offset_index_get(file, &chunk, column, g, &kept, &err), &err);
            assert_non_null(kept);
            parquet_offset_index index = kept->offsets;
            for (size_t page = 0; page < index.count; page++) {
                bool wanted = false;
                for (size_t i = 0; i < count; i++) {
                    wanted =
                        wanted || (ranges[i].start < first + parquet_page_end_row(&index, page) &&
                                   ranges[i].end > first + index.pages[page].first_row);
                }
                bytes += wanted ? index.pages[page].size : 0;
                any = any || wanted;
            }
            bytes += any ? (uint64_t)chunk.offset_index_length : 0;
            parquet_kept_index_unref(kept);
        }
    }
    return bytes;
}

static void check_bytes(big_file *f, const frz_row_range *ranges, size_t count)
{
    uint64_t needed = bytes_needed(f, ranges, count);
    frz_env_drop_cache(f->env);
    uint64_t read = big_read(f, ranges, count);
    if (read != needed) {
        fail_msg("%llu bytes were read, %llu are needed", (unsigned long long)read,
                 (unsigned long long)needed);
    }
}

static void locate__only_pages_with_wanted_rows_are_read(void **state)
{
    static const frz_row_range one[] = {{123456, 123457}};
    static const frz_row_range gaps[] = {{0, 1},         {499, 501},     {700, 701},
                                         {30000, 31000}, {49999, 50001}, {150000, 150001}};
    static const frz_row_range first[] = {{0, PAGE_ROWS}};
    static const frz_row_range last[] = {{BIG_ROWS - 1, BIG_ROWS}};
    static const frz_row_range same_page[] = {{1000, 1010}, {1020, 1030}, {1490, 1500}};
    for (int version = 1; version <= 2; version++) {
        big_file f;
        big_open(&f, *state, version);
        check_bytes(&f, one, 1);
        check_bytes(&f, gaps, FRZ_ARRAY_COUNT(gaps));
        check_bytes(&f, first, 1);
        check_bytes(&f, last, 1);
        check_bytes(&f, same_page, FRZ_ARRAY_COUNT(same_page));
        big_close(&f);
    }
}

static void locate__random_ranges_hold_their_rows(void **state)
{
    model_random r = {UINT64_C(77)};
    big_file f;
    big_open(&f, *state, 1);
    for (int round = 0; round < 60; round++) {
        frz_row_range ranges[20];
        size_t count = 1 + (size_t)model_below(&r, 20);
        int64_t at = model_below(&r, 3) == 0 ? 0 : model_below(&r, BIG_ROWS / 2);
        size_t n = 0;
        for (size_t i = 0; i < count && at < BIG_ROWS; i++) {
            int64_t rows = 1 + model_below(&r, model_below(&r, 4) == 0 ? 3000 : 50);
            ranges[n++] = (frz_row_range){at, FRZ_MIN(at + rows, BIG_ROWS)};
            at += rows + model_below(&r, model_below(&r, 2) == 0 ? 20000 : 400);
        }
        (void)big_read(&f, ranges, n);
    }
    big_close(&f);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(prune__random_filters_lose_no_row),
        TEST_WITH_ENV(locate__only_pages_with_wanted_rows_are_read),
        TEST_WITH_ENV(locate__random_ranges_hold_their_rows),
        TEST_WITH_ENV(prune__a_point_in_a_sorted_file_reads_one_percent),
        TEST_WITH_ENV(prune__only_provided_fields_prove_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
