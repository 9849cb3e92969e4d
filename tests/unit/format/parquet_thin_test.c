/*
 * Batches that rows are left out of: they have the rows that are kept of a whole reading, whoever
 * chooses them, with any number of threads, in ranges, and where columns come short of a batch.
 * ThreadSanitizer watches.
 */
#include "unit/format/parquet_threads.h"

/* ---- which rows are kept ---- */

#define RULES 5
#define FIRST_RULE 3
#define FIRST_OF 4600 /* only they, with the rule before */
#define NONE_OF 3000  /* the first rows, with the last rule */

/* Rules by which rows are chosen, from a number that is anything. */
static bool keeps(int rule, int64_t row, uint64_t anything)
{
    switch (rule) {
    case 0:
        return anything % 100 != 0;
    case 1:
        return anything % 3 == 0;
    case 2:
        return true;
    case FIRST_RULE:
        return row < FIRST_OF;
    default:
        return row >= NONE_OF && anything % 2 == 0;
    }
}

typedef struct chooser {
    const frz_type *type; /* of the batches */
    int rule;
    size_t columns[2], count;
} chooser;

/* By the row's number and, if columns are looked at, their values. */
static uint64_t anything_of(const chooser *c, const struct ArrowArray *batch, int64_t first_row,
                            int64_t i)
{
    uint64_t seed = (uint64_t)(first_row + i);
    uint64_t hash = c->count == 0 ? next_random(&seed) : 0;
    for (size_t k = 0; k < c->count; k++) {
        const struct ArrowArray *column = batch->children[c->columns[k]];
        add_row(&hash, c->type->fields[c->columns[k]].type, column, i);
    }
    return hash >> 7;
}

static frz_code choose(void *ctx, const frz_batch *batch, uint8_t *bits, frz_error *err)
{
    const chooser *c = ctx;
    (void)err;
    for (int64_t i = 0; i < batch->array.length; i++) {
        uint64_t anything = anything_of(c, &batch->array, batch->first_row, i);
        frz_bit_put(bits, i, keeps(c->rule, batch->first_row + i, anything));
    }
    return FRZ_OK;
}

/* ---- what is read ---- */

#define MOST_ROWS 50000

typedef struct outcome {
    uint64_t hashes[MOST_ROWS]; /* of the rows */
    int64_t rows, left_out;
    frz_code rc;
} outcome;

typedef struct taking {
    outcome *out;
    const chooser *c;
    bool thin;        /* the reader leaves rows out */
    bool all;         /* rows are asked for */
    int64_t next_row; /* then */
} taking;

static void take_batch(void *ctx, const frz_data_reader *reader, const frz_batch *batch)
{
    taking *t = ctx;
    outcome *o = t->out;
    assert_true(frz_data_reader_thins(reader) == t->thin);
    assert_true(batch->first_row == t->next_row || !t->all);
    t->next_row = batch->first_row + batch->array.length + batch->left_out;
    for (int64_t i = 0; i < batch->array.length; i++) {
        uint64_t hash = 0;
        if (!t->thin && !keeps(t->c->rule, batch->first_row + i,
                               anything_of(t->c, &batch->array, batch->first_row, i))) {
            o->left_out++;
            continue;
        }
        add_row(&hash, t->c->type, &batch->array, i);
        assert_true(o->rows < MOST_ROWS);
        o->hashes[o->rows++] = hash;
    }
    o->left_out += batch->left_out;
}

typedef struct reading {
    frz_row_range ranges[3];
    size_t range_count; /* 0: all rows */
    int64_t max_rows, max_bytes;
} reading;

/* thin: let the reader leave rows out; else they are left out here. */
static void read_with(const frz_env *env, const made_file *f, chooser *c, const reading *r,
                      bool thin, outcome *out)
{
    frz_error err = {0};
    taking t = {.out = out, .c = c, .thin = thin, .all = r->range_count == 0};
    const frz_thinning thinning = {choose, c, c->columns, c->count};
    const frz_read_request request = {.projection = &f->type,
                                      .ranges = r->range_count == 0 ? NULL : r->ranges,
                                      .range_count = r->range_count,
                                      .max_rows = r->max_rows,
                                      .max_bytes = r->max_bytes,
                                      .thinning = thin ? &thinning : NULL};
    out->rows = out->left_out = 0;
    out->rc = read_batches(env, f->path, &request, take_batch, &t, &err);
}

static void assert_same(const outcome *a, const outcome *b)
{
    assert_int_equal(a->rc, FRZ_END);
    assert_int_equal(b->rc, FRZ_END);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->left_out, b->left_out);
    assert_memory_equal(a->hashes, b->hashes, (size_t)a->rows * sizeof *a->hashes);
}

static const reading readings[] = {
    {.max_rows = 0},
    {.max_rows = 777},
    {.max_bytes = 200000},
    {.ranges = {{10, 11}, {1500, 2800}, {2801, 5000}}, .range_count = 3, .max_rows = 500},
};

static const chooser choosers[] = {
    {.count = 0}, {.columns = {0}, .count = 1}, {.columns = {4, 2}, .count = 2}};

static void check_file(const made_file *f, outcome *whole, outcome *thinned)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(readings) * FRZ_ARRAY_COUNT(choosers) * 2; i++) {
        size_t which = i / FRZ_ARRAY_COUNT(readings) % FRZ_ARRAY_COUNT(choosers);
        const reading *r = &readings[i % FRZ_ARRAY_COUNT(readings)];
        chooser c = choosers[which];
        c.type = &f->type;
        c.rule = i < FRZ_ARRAY_COUNT(readings) * FRZ_ARRAY_COUNT(choosers)
                     ? FIRST_RULE
                     : (int)((i + which) % RULES);
        for (size_t w = 0; w < FRZ_ARRAY_COUNT(ways); w++) {
            size_t tasks = 0;
            frz_env *env = env_of(ways[w], NULL, &tasks);
            if (w == 0) {
                read_with(env, f, &c, r, false, whole);
            }
            read_with(env, f, &c, r, true, thinned);
            assert_same(whole, thinned);
            end_env(env);
        }
    }
}

/* ---- tests ---- */

/* Few columns, which are read by several cursors, and many. */
static void thin__batches_have_the_rows_that_are_kept(void **state)
{
    static const size_t column_counts[] = {6, 30};
    outcome *whole = malloc(2 * sizeof *whole);
    (void)state;
    assert_non_null(whole);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(column_counts); i++) {
        made_file f = {0};
        frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                          .codec = FRZ_PARQUET_ZSTD,
                                          .page_version = 1 + (int)i,
                                          .page_bytes = 20000,
                                          .group_rows = 2500};
        make_file(&f, column_counts[i], 6, 6000, &opts);
        check_file(&f, whole, whole + 1);
        remove_file(&f);
    }
    free(whole);
}

/* Lists become so long within a row group that their columns end before the batch does. */
static void make_growing_file(made_file *f, size_t columns, int64_t small, int64_t large)
{
    frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                      .codec = FRZ_PARQUET_ZSTD,
                                      .page_version = 1,
                                      .page_bytes = 20000,
                                      .group_rows = small + large};
    make_uneven_file(f, columns, 6, &f->long_lists, false, small, small + large, &opts);
}

static void thin__columns_may_come_short(void **state)
{
    outcome *whole = malloc(2 * sizeof *whole);
    made_file f = {0};
    (void)state;
    assert_non_null(whole);
    make_growing_file(&f, 8, 4500, 500);
    check_file(&f, whole, whole + 1);
    remove_file(&f);
    free(whole);
}

typedef struct thin_reading {
    const made_file *file;
    outcome out;
} thin_reading;

static frz_code read_thinned(void *ctx, const frz_env *env)
{
    thin_reading *t = ctx;
    chooser c = {.type = &t->file->type, .columns = {4}, .count = 1};
    const reading r = {.max_bytes = 200000};
    read_with(env, t->file, &c, &r, true, &t->out);
    return t->out.rc;
}

static void thin__every_failing_allocation_is_reported(void **state)
{
    made_file f = {0};
    thin_reading *t = malloc(sizeof *t);
    (void)state;
    assert_non_null(t);
    make_growing_file(&f, 6, 4500, 500);
    t->file = &f;
    fail_allocations(read_thinned, t, FRZ_END);
    remove_file(&f);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin__batches_have_the_rows_that_are_kept),
        cmocka_unit_test(thin__columns_may_come_short),
        cmocka_unit_test(thin__every_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
