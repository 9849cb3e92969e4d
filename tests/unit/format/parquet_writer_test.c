/* The writer as its callers see it: modes, bounds, failures, statistics and metrics. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"
#include "unit/format/parquet_rows.h"

typedef struct place {
    char folder[64], path[96];
} place;

static void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-writer-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
}

static void place_remove(place *p)
{
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

#define DOUBLE_FIELD "{'id':1,'name':'d','required':false,'type':'double'}"
#define STRING_FIELD "{'id':1,'name':'s','required':false,'type':'string'}"
#define BINARY_FIELD "{'id':1,'name':'b','required':false,'type':'binary'}"
#define LONG_FIELD "{'id':1,'name':'l','required':false,'type':'long'}"

/* Write one batch of rows; the file is opened and its metrics are those that were measured. */
static frz_data_file *write_rows(const frz_env *env, const place *p, frz_arena *arena,
                                 const char *fields, const char *rows,
                                 const frz_parquet_write_options *opts,
                                 frz_parquet_written *written)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_data_file *file;
    const frz_type *type = rows_type(arena, fields);
    struct ArrowArray batch = rows_batch(env, type, rows);
    unlink(p->path);
    assert_ok(frz_parquet_writer_open(env, p->path, type, opts, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, arena, written, &err), &err);
    frz_array_release(&batch);
    assert_ok(frz_data_file_open(env, p->path, NULL, &file, &err), &err);
    assert_int_equal(written->file_size, frz_data_file_size(file));
    assert_int_equal(written->row_count, frz_data_file_row_count(file));
    return file;
}

static parquet_chunk chunk_of(const frz_data_file *file, size_t column)
{
    frz_error err = {0};
    parquet_chunk chunk;
    assert_ok(parquet_file_chunk((const parquet_file *)file, 0, column, &chunk, &err), &err);
    return chunk;
}

static parquet_statistics statistics_of(const frz_data_file *file, size_t column)
{
    return chunk_of(file, column).statistics;
}

/* ---- statistics in the footer ---- */

static void check_string_bounds(const frz_env *env, const char *fields, const char *value,
                                const char *lower, const char *upper, int exact)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    char rows[1024];
    place_init(&p);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    snprintf(rows, sizeof rows, "[{'%s':'%s'}]", strstr(fields, "binary") != NULL ? "b" : "s",
             value);
    frz_data_file *file = write_rows(env, &p, &arena, fields, rows, NULL, &written);
    parquet_statistics s = statistics_of(file, 0);
    assert_true(frz_str_equal(s.min_value, frz_str_from(lower)));
    assert_int_equal(s.min_exact, exact);
    assert_true(frz_utf8_valid(s.max_value) || strstr(fields, "binary") != NULL);
    if (upper == NULL) {
        assert_null(s.max_value.ptr);
    } else {
        assert_true(frz_str_equal(s.max_value, frz_str_from(upper)));
        assert_int_equal(s.max_exact, exact);
    }
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

#define A60 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void statistics__long_strings_are_cut_between_characters(void **state)
{
    check_string_bounds(*state, STRING_FIELD, A60 "bbbb", A60 "bbbb", A60 "bbbb", 1);
    check_string_bounds(*state, STRING_FIELD, A60 "bbbbb", A60 "bbbb", A60 "bbbc", 0);
    /* the character at the cut is left out whole; z becomes { */
    check_string_bounds(*state, STRING_FIELD,
                        A60 "bz\xe2\x82\xac"
                            "b",
                        A60 "bz", A60 "b{", 0);
    /* the last character before the surrogates grows to the first one behind them */
    check_string_bounds(*state, STRING_FIELD,
                        A60 "b\xed\x9f\xbf"
                            "bb",
                        A60 "b\xed\x9f\xbf", A60 "b\xee\x80\x80", 0);
    /* the last character of all cannot grow: the one before it does */
    check_string_bounds(*state, STRING_FIELD,
                        A60 "\xf4\x8f\xbf\xbf"
                            "b",
                        A60 "\xf4\x8f\xbf\xbf",
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 0);
}

#define LAST4 "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf"

static void statistics__a_string_without_successor_has_no_upper_bound(void **state)
{
    check_string_bounds(*state, STRING_FIELD, LAST4 LAST4 LAST4 LAST4 "a", LAST4 LAST4 LAST4 LAST4,
                        NULL, 0);
}

static void statistics__long_binaries_are_cut_and_raised_by_bytes(void **state)
{
    char hex[2 * 70 + 1], lower[65], upper[65];
    for (size_t i = 0; i < 70; i++) {
        snprintf(hex + 2 * i, 3, "%s", i < 60 ? "61" : "ff");
    }
    memset(lower, 'a', 60);
    memset(lower + 60, 0xff, 4);
    lower[64] = '\0';
    memset(upper, 'a', 59);
    upper[59] = 'b';
    upper[60] = '\0';
    check_string_bounds(*state, BINARY_FIELD, hex, lower, upper, 0);
}

static double load_double(frz_str bytes)
{
    double d;
    assert_int_equal(bytes.len, 8);
    memcpy(&d, bytes.ptr, 8);
    return d;
}

static void statistics__zeros_are_the_outer_ones_and_nan_is_only_counted(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file *file =
        write_rows(*state, &p, &arena, DOUBLE_FIELD,
                   "[{'d':'NaN'},{'d':0.0},{'d':null},{'d':'NaN'}]", NULL, &written);
    parquet_statistics s = statistics_of(file, 0);
    assert_true(signbit(load_double(s.min_value)) && load_double(s.min_value) == 0);
    assert_true(!signbit(load_double(s.max_value)) && load_double(s.max_value) == 0);
    assert_true(s.has_nan_count && s.nan_count == 2);
    assert_true(s.has_null_count && s.null_count == 1);
    frz_data_file_close(file);

    const frz_field_stats *m = &written.stats[0];
    assert_int_equal(written.stats_count, 1);
    assert_true(m->has_lower && !signbit(m->lower.as.f64) && m->lower.as.f64 == 0);
    assert_int_equal(m->tight_bounds, 1);
    assert_int_equal(m->value_count, 4);
    assert_int_equal(m->null_value_count, 1);
    assert_int_equal(m->nan_value_count, 2);

    file = write_rows(*state, &p, &arena, DOUBLE_FIELD, "[{'d':'NaN'},{'d':null}]", NULL, &written);
    s = statistics_of(file, 0);
    assert_true(s.min_value.ptr == NULL && s.max_value.ptr == NULL && s.nan_count == 1);
    assert_false(written.stats[0].has_lower || written.stats[0].has_upper);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void statistics__none_where_none_are_wanted(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                            .codec = FRZ_PARQUET_ZSTD,
                                            .no_statistics = true};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file *file =
        write_rows(*state, &p, &arena, LONG_FIELD, "[{'l':1},{'l':2}]", &opts, &written);
    parquet_statistics s = statistics_of(file, 0);
    assert_true(s.min_value.ptr == NULL && !s.has_null_count);
    assert_null(((const parquet_file *)file)->metadata.column_orders);
    assert_int_equal(written.stats_count, 0);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

/* ---- metrics ---- */

#define EVERY_FIELDS                                                                               \
    "{'id':1,'name':'l','required':true,'type':'long'},"                                           \
    "{'id':2,'name':'s','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':3,'name':'x','required':true,'type':'string'},"                                         \
    "{'id':4,'name':'y','required':false,'type':'decimal(25,3)'}]}},"                              \
    "{'id':5,'name':'e','required':false,'type':{'type':'list','element-id':6,"                    \
    "'element-required':false,'element':'int'}},"                                                  \
    "{'id':7,'name':'b','required':false,'type':'boolean'},"                                       \
    "{'id':8,'name':'f','required':false,'type':'float'},"                                         \
    "{'id':9,'name':'t','required':false,'type':'timestamptz'},"                                   \
    "{'id':10,'name':'u','required':false,'type':'uuid'},"                                         \
    "{'id':11,'name':'n','required':false,'type':'decimal(5,1)'},"                                 \
    "{'id':12,'name':'none','required':false,'type':'date'}"
#define EVERY_ROWS                                                                                 \
    "[{'l':5,'s':{'x':'q','y':'-7.250'},'e':[1],'b':true,'f':1.5,"                                 \
    "'t':'2026-01-02T03:04:05+00:00','u':'f79c3e09-677c-4bbd-a479-3f349cb785e7','n':'-3.5'},"      \
    "{'l':-5,'s':null,'e':[],'b':true,'f':'NaN'},"                                                 \
    "{'l':0,'s':{'x':'abc','y':null},'f':-2.5,'n':'12.0'},"                                        \
    "{'l':7,'s':{'x':'zz','y':'123456789012345678901.5'}}]"

static void value_text(const frz_env *env, bool has, const frz_value *value, char *text,
                       size_t size)
{
    frz_buf buf = FRZ_BUF_INIT(env, 1 << 20);
    frz_error err = {0};
    snprintf(text, size, "-");
    if (has) {
        assert_ok(frz_value_print(value, &buf, &err), &err);
        snprintf(text, size, "%.*s", FRZ_STR_ARG(frz_buf_view(&buf)));
    }
    frz_buf_reset(&buf);
}

/* "id: lower … upper tight, values, nulls, nans" */
static void check_metrics(const frz_env *env, const frz_field_stats *stats, size_t count,
                          const char *const *wanted, size_t wanted_count)
{
    assert_int_equal(count, wanted_count);
    for (size_t i = 0; i < count; i++) {
        char lower[80], upper[80], line[300];
        value_text(env, stats[i].has_lower, &stats[i].lower, lower, sizeof lower);
        value_text(env, stats[i].has_upper, &stats[i].upper, upper, sizeof upper);
        snprintf(line, sizeof line, "%d: %s … %s tight %d, %lld %lld %lld", stats[i].field_id,
                 lower, upper, stats[i].tight_bounds, (long long)stats[i].value_count,
                 (long long)stats[i].null_value_count, (long long)stats[i].nan_value_count);
        assert_string_equal(line, wanted[i]);
    }
}

static const char *const every_metrics[] = {
    "1: -5 … 7 tight 1, 4 0 -1",
    "3: abc … zz tight 1, 4 1 -1",
    "4: -7.250 … 123456789012345678901.500 tight 1, 4 2 -1",
    "7: true … true tight 1, 4 2 -1",
    "8: -2.5 … 1.5 tight 1, 4 1 1",
    "9: 2026-01-02T03:04:05.000000+00:00 … 2026-01-02T03:04:05.000000+00:00 tight 1, 4 3 -1",
    ("10: f79c3e09-677c-4bbd-a479-3f349cb785e7 … f79c3e09-677c-4bbd-a479-3f349cb785e7 tight 1, "
     "4 3 -1"),
    "11: -3.5 … 12.0 tight 1, 4 2 -1",
    "12: - … - tight -1, 4 4 -1",
};

static void metrics__are_measured_while_writing(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                            .codec = FRZ_PARQUET_SNAPPY,
                                            .group_rows = 3};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file *file = write_rows(*state, &p, &arena, EVERY_FIELDS, EVERY_ROWS, &opts, &written);
    assert_int_equal(written.split_count, 2);
    check_metrics(*state, written.stats, written.stats_count, every_metrics,
                  FRZ_ARRAY_COUNT(every_metrics));
    assert_int_equal(written.stats[1].total_bytes, 6);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void metrics__footers_of_own_files_tell_the_same(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    frz_field_stats *stats;
    size_t count;
    frz_error err = {0};
    const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                            .codec = FRZ_PARQUET_ZSTD,
                                            .group_rows = 3};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file *file = write_rows(*state, &p, &arena, EVERY_FIELDS, EVERY_ROWS, &opts, &written);
    assert_ok(frz_parquet_metrics(file, frz_data_file_type(file), &arena, &stats, &count, &err),
              &err);
    check_metrics(*state, stats, count, every_metrics, FRZ_ARRAY_COUNT(every_metrics));
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void metrics__are_promoted_to_the_type_that_is_asked_for(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_written written;
    frz_field_stats *stats;
    size_t count;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file *file = write_rows(*state, &p, &arena,
                                     "{'id':1,'name':'a','required':false,'type':'int'},"
                                     "{'id':2,'name':'b','required':false,'type':'float'},"
                                     "{'id':3,'name':'c','required':false,'type':'int'}",
                                     "[{'a':-1,'b':0.5,'c':4},{'a':6}]", NULL, &written);
    const frz_type *wanted =
        rows_type(&arena, "{'id':2,'name':'b','required':false,'type':'double'},"
                          "{'id':9,'name':'z','required':false,'type':'double'},"
                          "{'id':1,'name':'a','required':false,'type':'long'},"
                          "{'id':3,'name':'c','required':false,'type':'string'}");
    assert_ok(frz_parquet_metrics(file, wanted, &arena, &stats, &count, &err), &err);
    const char *const lines[] = {"2: 0.5 … 0.5 tight 1, 2 1 0", "1: -1 … 6 tight 1, 2 0 -1",
                                 "3: - … - tight -1, 2 -1 -1"};
    check_metrics(*state, stats, count, lines, 3);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

/* ---- modes and failures ---- */

static void writer__an_aborted_file_is_gone(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_writer *w;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, LONG_FIELD);
    assert_ok(frz_parquet_writer_open(*state, p.path, type, NULL, &w, &err), &err);
    assert_int_equal(access(p.path, F_OK), 0);
    frz_parquet_writer_abort(w);
    assert_int_not_equal(access(p.path, F_OK), 0);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__a_file_that_is_there_is_kept(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_writer *w;
    frz_parquet_written written;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    frz_data_file_close(write_rows(*state, &p, &arena, LONG_FIELD, "[{'l':1}]", NULL, &written));
    const frz_type *type = rows_type(&arena, LONG_FIELD);
    assert_fails(frz_parquet_writer_open(*state, p.path, type, NULL, &w, &err), &err, FRZ_E_EXISTS,
                 "a.parquet");
    assert_int_equal(access(p.path, F_OK), 0);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__after_a_failure_nothing_can_be_finished(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_writer *w;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *required =
        rows_type(&arena, "{'id':1,'name':'l','required':true,'type':'long'}");
    struct ArrowArray batch =
        rows_batch(*state, rows_type(&arena, LONG_FIELD), "[{'l':1},{'l':null}]");
    assert_ok(frz_parquet_writer_open(*state, p.path, required, NULL, &w, &err), &err);
    assert_fails(frz_parquet_writer_write(w, &batch, &err), &err, FRZ_E_ARGUMENT,
                 "column \"l\" is required, but row 1 has no value");
    assert_int_equal(frz_parquet_writer_finish(w, false, NULL, NULL, NULL), FRZ_E_ARGUMENT);
    assert_int_not_equal(access(p.path, F_OK), 0);
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__a_decimal_of_too_many_digits_is_refused(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_writer *w;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *narrow =
        rows_type(&arena, "{'id':1,'name':'n','required':true,'type':'decimal(4,2)'}");
    const frz_type *wide =
        rows_type(&arena, "{'id':1,'name':'n','required':true,'type':'decimal(9,2)'}");
    struct ArrowArray batch = rows_batch(*state, wide, "[{'n':'99.99'},{'n':'100.00'}]");
    assert_ok(frz_parquet_writer_open(*state, p.path, narrow, NULL, &w, &err), &err);
    assert_fails(frz_parquet_writer_write(w, &batch, &err), &err, FRZ_E_ARGUMENT,
                 "column \"n\": value 100.00 does not fit decimal(4,2)");
    frz_parquet_writer_abort(w);
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__a_column_of_nulls_of_every_type(void **state)
{
    static const char *const types[] = {"boolean", "int",    "long",     "float",
                                        "double",  "string", "fixed[3]", "decimal(30,2)"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(types); i++) {
        for (int version = 1; version <= 2; version++) {
            place p;
            frz_arena arena;
            frz_parquet_written written;
            char fields[128];
            frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
            opts.page_version = version;
            place_init(&p);
            frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
            snprintf(fields, sizeof fields, "{'id':1,'name':'a','required':false,'type':'%s'}",
                     types[i]);
            frz_data_file *file =
                write_rows(*state, &p, &arena, fields, "[{},{},{}]", &opts, &written);
            assert_int_equal(written.stats[0].null_value_count, 3);
            assert_true(chunk_of(file, 0).total_compressed_size < 64);
            frz_data_file_close(file);
            frz_arena_reset(&arena);
            place_remove(&p);
        }
    }
}

static void writer__columns_must_have_the_rows_of_their_group(void **state)
{
    place p;
    frz_arena arena;
    frz_parquet_writer *w;
    frz_error err = {0};
    const char *fields = "{'id':1,'name':'a','required':false,'type':'long'},"
                         "{'id':2,'name':'b','required':false,'type':'long'}";
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, fields);
    struct ArrowArray batch = rows_batch(*state, type, "[{'a':1,'b':2},{'a':3,'b':4}]");
    for (int i = 0; i < 2; i++) {
        assert_ok(frz_parquet_writer_open(*state, p.path, type, NULL, &w, &err), &err);
        assert_ok(frz_parquet_writer_begin_group(w, i == 0 ? 3 : 1, &err), &err);
        frz_code rc = frz_parquet_writer_append_column(w, 0, batch.children[0], &err);
        rc = rc == FRZ_OK ? frz_parquet_writer_append_column(w, 1, batch.children[1], &err) : rc;
        assert_fails(rc, &err, FRZ_E_ARGUMENT,
                     i == 0 ? "column \"a\" got 2 rows, its row group has 3"
                            : "column \"a\" got 2 rows, its row group has 1");
        frz_parquet_writer_abort(w);
        frz_error_reset(&err);
    }
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__groups_end_by_rows_and_by_bytes(void **state)
{
    place p;
    frz_arena arena;
    frz_error err = {0};
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, "{'id':1,'name':'l','required':true,'type':'long'}");
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray column, batch;
    const int64_t rows = 100000;
    assert_ok(frz_buffer_new(*state, (size_t)rows * 8, &buffers[1], &err), &err);
    for (int64_t i = 0; i < rows; i++) {
        ((int64_t *)(void *)buffers[1]->data)[i] = (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u);
    }
    assert_ok(frz_array_make(*state, rows, 0, buffers, 2, NULL, 0, &column, &err), &err);
    assert_ok(frz_batch_make(*state, rows, &column, 1, &batch, &err), &err);
    static const struct {
        size_t bytes;
        int64_t group_rows;
        size_t groups;
    } cases[] = {{0, 0, 1}, {0, 30000, 4}, {200000, 0, 4}, {0, 100000, 1}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_parquet_writer *w;
        frz_parquet_written written;
        const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                                .group_bytes = cases[i].bytes,
                                                .group_rows = cases[i].group_rows,
                                                .no_dictionary = true};
        assert_ok(frz_parquet_writer_open(*state, p.path, type, &opts, &w, &err), &err);
        assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
        assert_ok(frz_parquet_writer_finish(w, false, &arena, &written, &err), &err);
        assert_int_equal(written.row_count, rows);
        assert_in_range(written.split_count, cases[i].groups, cases[i].groups + (i == 2 ? 1 : 0));
        assert_int_equal(written.split_offsets[0], 4);
        unlink(p.path);
    }
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void writer__memory_of_a_column_group_does_not_grow_with_its_rows(void **state)
{
    place p;
    frz_arena arena;
    frz_error err = {0};
    frz_env *env = *state;
    place_init(&p);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, "{'id':1,'name':'l','required':true,'type':'double'}");
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray column;
    const int64_t rows = 32768;
    assert_ok(frz_buffer_new(env, (size_t)rows * 8, &buffers[1], &err), &err);
    for (int64_t i = 0; i < rows; i++) {
        ((double *)(void *)buffers[1]->data)[i] = 1.0 / (double)(i + 1);
    }
    assert_ok(frz_array_make(env, rows, 0, buffers, 2, NULL, 0, &column, &err), &err);
    uint64_t peak[2];
    for (int i = 0; i < 2; i++) {
        frz_parquet_writer *w;
        frz_env_counters counters;
        int64_t times = i == 0 ? 4 : 40;
        assert_ok(frz_parquet_writer_open(env, p.path, type, NULL, &w, &err), &err);
        assert_ok(frz_parquet_writer_begin_group(w, rows * times, &err), &err);
        for (int64_t k = 0; k < times; k++) {
            assert_ok(frz_parquet_writer_append_column(w, 0, &column, &err), &err);
        }
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
        assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
        frz_env_counters_get(env, &counters);
        peak[i] = counters.bytes_peak;
        unlink(p.path);
    }
    /* all that grows is the index of its pages */
    const uint64_t pages = 36 * (uint64_t)rows * 8 / (256 << 10);
    assert_true(peak[1] <= peak[0] + 256 * pages + 4096);
    frz_array_release(&column);
    frz_arena_reset(&arena);
    place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(statistics__long_strings_are_cut_between_characters),
        TEST_WITH_ENV(statistics__a_string_without_successor_has_no_upper_bound),
        TEST_WITH_ENV(statistics__long_binaries_are_cut_and_raised_by_bytes),
        TEST_WITH_ENV(statistics__zeros_are_the_outer_ones_and_nan_is_only_counted),
        TEST_WITH_ENV(statistics__none_where_none_are_wanted),
        TEST_WITH_ENV(metrics__are_measured_while_writing),
        TEST_WITH_ENV(metrics__footers_of_own_files_tell_the_same),
        TEST_WITH_ENV(metrics__are_promoted_to_the_type_that_is_asked_for),
        TEST_WITH_ENV(writer__an_aborted_file_is_gone),
        TEST_WITH_ENV(writer__a_file_that_is_there_is_kept),
        TEST_WITH_ENV(writer__after_a_failure_nothing_can_be_finished),
        TEST_WITH_ENV(writer__a_decimal_of_too_many_digits_is_refused),
        TEST_WITH_ENV(writer__a_column_of_nulls_of_every_type),
        TEST_WITH_ENV(writer__columns_must_have_the_rows_of_their_group),
        TEST_WITH_ENV(writer__groups_end_by_rows_and_by_bytes),
        TEST_WITH_ENV(writer__memory_of_a_column_group_does_not_grow_with_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
