/*
 * Batches and the ends of row groups: where a reader may go over them, batches end where they were
 * asked to, and have the rows of one that does not, with any number of threads, in ranges, and
 * where columns come short of a batch. Rows of a page behind a batch are decoded with it, if the
 * next one wants them. ThreadSanitizer watches.
 */
#include "unit/format/parquet_threads.h"

#define ROWS 6000
#define GROUP_ROWS 700
#define TEXT 2 /* the first column of texts, if there are so many */

/* ---- what is read ---- */

typedef struct outcome {
    uint64_t hashes[ROWS]; /* of the rows */
    int64_t rows, batches;
    int64_t ends[ROWS]; /* of the batches */
    int64_t most_bytes; /* of the texts of a batch */
    const frz_type *type;
    frz_code rc;
} outcome;

typedef struct reading {
    frz_row_range ranges[3];
    size_t range_count; /* 0: all rows */
    int64_t max_rows, max_bytes;
} reading;

static void take_batch(void *ctx, const frz_data_reader *reader, const frz_batch *batch)
{
    outcome *o = ctx;
    const frz_type *type = o->type;
    (void)reader;
    for (int64_t i = 0; i < batch->array.length; i++) {
        uint64_t hash = (uint64_t)(batch->first_row + i);
        add_row(&hash, type, &batch->array, i);
        assert_true(o->rows < ROWS);
        o->hashes[o->rows++] = hash;
    }
    if (type->field_count > TEXT) {
        const struct ArrowArray *text = batch->array.children[TEXT];
        const int32_t *offsets = (const int32_t *)text->buffers[1] + text->offset;
        o->most_bytes = FRZ_MAX(o->most_bytes, (int64_t)offsets[text->length] - offsets[0]);
    }
    o->ends[o->batches++] = batch->first_row + batch->array.length;
}

static void read_with(const frz_env *env, const made_file *f, const reading *r, bool over_groups,
                      outcome *out)
{
    frz_error err = {0};
    const frz_read_request request = {.projection = &f->type,
                                      .ranges = r->range_count == 0 ? NULL : r->ranges,
                                      .range_count = r->range_count,
                                      .max_rows = r->max_rows,
                                      .max_bytes = r->max_bytes,
                                      .no_ahead = true,
                                      .over_groups = over_groups};
    out->type = &f->type;
    out->rows = out->batches = out->most_bytes = 0;
    out->rc = read_batches(env, f->path, &request, take_batch, out, &err);
}

static void assert_same_rows(const outcome *a, const outcome *b)
{
    assert_int_equal(a->rc, FRZ_END);
    assert_int_equal(b->rc, FRZ_END);
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->hashes, b->hashes, (size_t)a->rows * sizeof *a->hashes);
}

/* Batches end at ranges and after the rows that were asked for, and nowhere else. */
static void assert_ends(const outcome *o, const reading *r)
{
    const frz_row_range all = {0, ROWS};
    const frz_row_range *ranges = r->range_count == 0 ? &all : r->ranges;
    int64_t n = 0;
    for (size_t i = 0; i < FRZ_MAX(r->range_count, (size_t)1); i++) {
        for (int64_t row = ranges[i].start; row < ranges[i].end; n++) {
            row = r->max_rows == 0 ? ranges[i].end : FRZ_MIN(row + r->max_rows, ranges[i].end);
            assert_true(n < o->batches);
            assert_int_equal(o->ends[n], row);
        }
    }
    assert_int_equal(n, o->batches);
}

static const reading readings[] = {
    {.max_rows = 0},
    {.max_rows = 1000},
    {.max_rows = 300},
    {.ranges = {{10, 11}, {690, 2800}, {2800, 5600}}, .range_count = 3, .max_rows = 800},
    {.max_bytes = 200000},
};
#define BY_BYTES 4

/* flat: all columns are such that batches can go over groups; none comes short. */
static void check_file(const made_file *f, bool flat, bool comes_short)
{
    outcome *outcomes = malloc(2 * sizeof *outcomes);
    assert_non_null(outcomes);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(readings); i++) {
        for (size_t w = 0; w < FRZ_ARRAY_COUNT(ways); w++) {
            size_t tasks = 0;
            frz_env *env = env_of(ways[w], NULL, &tasks);
            if (w == 0) {
                read_with(env, f, &readings[i], false, &outcomes[0]);
            }
            read_with(env, f, &readings[i], true, &outcomes[1]);
            assert_same_rows(&outcomes[0], &outcomes[1]);
            if (flat && !comes_short && i != BY_BYTES) {
                assert_ends(&outcomes[1], &readings[i]);
            }
            assert_true(i != BY_BYTES || outcomes[1].most_bytes < 3 * readings[i].max_bytes);
            if (!comes_short) {
                assert_true(outcomes[1].batches <= outcomes[0].batches - flat);
            }
            end_env(env);
        }
    }
    free(outcomes);
}

/* ---- over the ends of row groups ---- */

static frz_parquet_write_options options(int page_version, int64_t group_rows)
{
    return (frz_parquet_write_options){.struct_size = sizeof(frz_parquet_write_options),
                                       .codec = FRZ_PARQUET_ZSTD,
                                       .page_version = page_version,
                                       .page_bytes = 2000,
                                       .group_rows = group_rows};
}

/* Numbers, text and booleans, with nulls and without; nested columns end where their group does. */
static void groups__batches_go_over_their_ends(void **state)
{
    static const size_t column_counts[] = {1, 4, 30};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(column_counts); i++) {
        made_file f = {0};
        frz_parquet_write_options opts = options(1 + (int)i % 2, GROUP_ROWS);
        make_file(&f, column_counts[i], 4, ROWS, &opts);
        check_file(&f, true, false);
        remove_file(&f);
    }
}

static void groups__nested_columns_end_batches(void **state)
{
    made_file f = {0};
    frz_parquet_write_options opts = options(1, GROUP_ROWS);
    (void)state;
    make_file(&f, 6, 6, ROWS, &opts);
    check_file(&f, false, false);
    remove_file(&f);
}

/* Texts are long in the first rows and short behind, or the other way round. */
static void make_texts(made_file *f, int64_t group_rows, bool long_first, int64_t first_rows)
{
    frz_parquet_write_options opts = options(1, group_rows);
    make_uneven_file(f, 4, 4, &f->long_texts, long_first, first_rows, ROWS, &opts);
}

static void groups__columns_may_come_short(void **state)
{
    static const struct {
        int64_t group_rows, first_rows;
        bool long_first;
    } files[] = {{GROUP_ROWS, GROUP_ROWS, true},
                 {GROUP_ROWS, GROUP_ROWS + 500, false},
                 {GROUP_ROWS, 3 * GROUP_ROWS - 1, true},
                 {20, 1000, true},
                 {20, 5010, false}};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(files); i++) {
        made_file f = {0};
        make_texts(&f, files[i].group_rows, files[i].long_first, files[i].first_rows);
        check_file(&f, true, true);
        remove_file(&f);
    }
}

typedef struct group_reading {
    const made_file *file;
    outcome out;
} group_reading;

static frz_code read_over_groups(void *ctx, const frz_env *env)
{
    group_reading *g = ctx;
    const reading r = {.max_bytes = 200000};
    read_with(env, g->file, &r, true, &g->out);
    return g->out.rc;
}

static void groups__every_failing_allocation_is_reported(void **state)
{
    made_file f = {0};
    group_reading *g = malloc(sizeof *g);
    (void)state;
    assert_non_null(g);
    make_texts(&f, 20, true, 200);
    g->file = &f;
    fail_allocations(read_over_groups, g, FRZ_END);
    remove_file(&f);
    free(g);
}

/* ---- the rest of a page ---- */

/* Whether the first two batches show the same memory of a column. */
static bool share_memory(const made_file *f, size_t column, const frz_row_range *range,
                         int64_t max_rows)
{
    frz_error err = {0};
    frz_env *env = env_of(1, NULL, NULL);
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batches[2];
    const frz_read_request request = {
        .projection = &f->type, .ranges = range, .range_count = 1, .max_rows = max_rows};
    assert_ok(frz_data_file_open(env, f->path, NULL, &file, &err), &err);
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    for (int i = 0; i < 2; i++) {
        assert_ok(frz_data_reader_next(reader, &batches[i], &err), &err);
    }
    bool same = batches[0].array.children[column]->buffers[1] ==
                batches[1].array.children[column]->buffers[1];
    frz_array_release(&batches[0].array);
    frz_array_release(&batches[1].array);
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    end_env(env);
    return same;
}

/* Numbers of one page each: what a second batch has of them was decoded with the first. */
static void groups__pages_of_two_batches_are_decoded_once(void **state)
{
    static const frz_row_range all = {0, 200}, most = {0, 199}, two_groups = {100, 400};
    made_file f = {0};
    frz_parquet_write_options opts = options(1, 200);
    (void)state;
    opts.page_bytes = 20000;
    make_file(&f, 2, 2, 400, &opts);
    assert_true(share_memory(&f, 1, &all, 100));
    assert_true(share_memory(&f, 1, &all, 150));
    assert_false(share_memory(&f, 1, &all, 90));       /* there are three */
    assert_false(share_memory(&f, 1, &most, 100));     /* the last row is not wanted */
    assert_false(share_memory(&f, 1, &two_groups, 0)); /* one of each group */
    remove_file(&f);
}

static void groups__small_pages_are_decoded_as_they_are_wanted(void **state)
{
    static const frz_row_range all = {0, 400};
    made_file f = {0};
    frz_parquet_write_options opts = options(1, 400);
    (void)state;
    opts.page_bytes = 800;
    make_file(&f, 2, 2, 400, &opts);
    assert_false(share_memory(&f, 1, &all, 250));
    remove_file(&f);
}

/* ---- memory ---- */

/* Columns work in each other's memory: a batch that shows a small page does not keep that of long
 * texts. */
static void groups__shared_pages_keep_no_more_than_they_hold(void **state)
{
    enum { PLAIN = 9, SMALL_ROWS = 300 };
    frz_error err = {0};
    made_file f = {.long_texts = true};
    frz_parquet_write_options opts = options(1, 0);
    frz_env *env = env_of(1, NULL, NULL);
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    struct ArrowArray column;
    frz_env_counters counters;
    (void)state;
    opts.page_bytes = 1 << 20;
    opts.no_byte_stream_split = true;
    opts.no_dictionary = true;
    make_file(&f, 12, 4, SMALL_ROWS, &opts);
    const frz_read_request request = {.projection = &f.type, .no_ahead = true, .over_groups = true};
    assert_ok(frz_data_file_open(env, f.path, NULL, &file, &err), &err);
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    assert_ok(frz_data_reader_next(reader, &batch, &err), &err);
    assert_int_equal(batch.array.length, SMALL_ROWS);
    frz_array_move(batch.array.children[PLAIN], &column);
    frz_array_release(&batch.array);
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    assert_true(counters.bytes_allocated < SMALL_ROWS * 8 * 4);
    frz_array_release(&column);
    remove_file(&f);
    end_env(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__batches_go_over_their_ends),
        cmocka_unit_test(groups__nested_columns_end_batches),
        cmocka_unit_test(groups__columns_may_come_short),
        cmocka_unit_test(groups__every_failing_allocation_is_reported),
        cmocka_unit_test(groups__pages_of_two_batches_are_decoded_once),
        cmocka_unit_test(groups__small_pages_are_decoded_as_they_are_wanted),
        cmocka_unit_test(groups__shared_pages_keep_no_more_than_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
