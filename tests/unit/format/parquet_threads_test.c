/*
 * The same file read with one thread, several, and tasks in reverse order: the same batches with
 * the same boundaries, and the same failure behind them. ThreadSanitizer watches.
 */
#include "unit/format/parquet_threads.h"

/* ---- what a reading comes to ---- */

typedef struct seen_batch {
    int64_t first_row, length;
    uint64_t hash;
} seen_batch;

#define MOST_BATCHES 4096

typedef struct outcome {
    seen_batch batches[MOST_BATCHES];
    size_t count;
    int64_t rows;
    const frz_type *type;
    frz_code rc; /* FRZ_END, or a failure */
    char text[1024];
} outcome;

static void take_batch(void *ctx, const frz_data_reader *reader, const frz_batch *batch)
{
    outcome *o = ctx;
    (void)reader;
    seen_batch seen = {batch->first_row, batch->array.length, 0};
    for (int64_t i = 0; i < seen.length; i++) {
        add_row(&seen.hash, o->type, &batch->array, i);
    }
    if (o->count < MOST_BATCHES) {
        o->batches[o->count++] = seen;
    }
    o->rows += seen.length;
}

/* Which columns, and how; the file's schema is the one it was written with. */
typedef struct reading {
    size_t first, count; /* columns */
    frz_row_range ranges[4];
    size_t range_count; /* 0: all rows */
    int64_t max_rows, max_bytes;
} reading;

static void read_with(const frz_env *env, const char *path, const frz_type *type, const reading *r,
                      outcome *out)
{
    frz_error err = {0};
    frz_type projection = *type;
    projection.fields = type->fields + r->first;
    projection.field_count = r->count;
    frz_read_request request = {.projection = &projection,
                                .ranges = r->range_count == 0 ? NULL : r->ranges,
                                .range_count = r->range_count,
                                .max_rows = r->max_rows,
                                .max_bytes = r->max_bytes};
    *out = (outcome){.type = &projection};
    out->rc = read_batches(env, path, &request, take_batch, out, &err);
    out->type = NULL; /* it does not outlive the reading */
    if (out->rc != FRZ_END) {
        frz_error_format(&err, out->text, sizeof out->text);
    }
}

static void assert_same(const outcome *a, const outcome *b, int way)
{
    if (a->rc != b->rc || strcmp(a->text, b->text) != 0) {
        fail_msg("way %d: expected %s %s, got %s %s", way, frz_code_name(a->rc), a->text,
                 frz_code_name(b->rc), b->text);
    }
    if (a->count != b->count ||
        memcmp(a->batches, b->batches, a->count * sizeof *a->batches) != 0) {
        fail_msg("way %d: %zu batches and %zu differ", way, a->count, b->count);
    }
}

/* Every way gives what one thread gives; *out receives that. Returns the tasks that an executor
 * got.
 */
static size_t read_every_way(const char *path, const frz_type *type, const reading *r, outcome *out)
{
    size_t tasks = 0;
    outcome *other = malloc(sizeof *other);
    assert_non_null(other);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ways); i++) {
        frz_env *env = env_of(ways[i], NULL, &tasks);
        read_with(env, path, type, r, i == 0 ? out : other);
        assert_same(out, i == 0 ? out : other, ways[i]);
        end_env(env);
    }
    free(other);
    return tasks;
}

/* ---- tests ---- */

static const struct {
    size_t columns, kinds;
    int64_t rows, group_rows;
    frz_parquet_codec codec;
    int page_version;
    bool split, long_lists;
} files[] = {
    {150, 6, 4000, 1700, FRZ_PARQUET_ZSTD, 1, true, false},          /* many small chunks */
    {60, 2, 12000, 0, FRZ_PARQUET_UNCOMPRESSED, 2, false, false},    /* pages shown as they are */
    {6, 6, 40000, 2500, FRZ_PARQUET_SNAPPY, 2, true, false},         /* few columns, many groups */
    {1, 1, 300000, 20000, FRZ_PARQUET_UNCOMPRESSED, 1, true, false}, /* one column */
    {10, 6, 4500, 1500, FRZ_PARQUET_ZSTD, 1, true, true},            /* one outweighs the others */
};

static const reading readings[] = {
    {.first = 0, .count = SIZE_MAX},
    {.first = 0, .count = 1},
    {.first = 1, .count = 3},
    {.first = 3, .count = 2, .max_rows = 777},
    {.first = 0, .count = SIZE_MAX, .max_bytes = 300000},
    {.first = 0,
     .count = SIZE_MAX,
     .ranges = {{10, 11}, {1500, 2800}, {2800, 2801}, {3500, 4000}},
     .range_count = 4},
    {.first = 2, .count = 4, .ranges = {{0, 0}, {100, 3900}}, .range_count = 2, .max_rows = 500},
};

static void threads__do_not_change_batches(void **state)
{
    outcome *o = malloc(sizeof *o);
    (void)state;
    assert_non_null(o);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(files); i++) {
        made_file f = {.long_lists = files[i].long_lists};
        frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                          .codec = files[i].codec,
                                          .page_version = files[i].page_version,
                                          .no_byte_stream_split = !files[i].split,
                                          .page_bytes = 20000,
                                          .group_rows = files[i].group_rows};
        make_file(&f, files[i].columns, files[i].kinds, files[i].rows, &opts);
        size_t tasks = 0;
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(readings); k++) {
            reading r = readings[k];
            r.first = FRZ_MIN(r.first, files[i].columns - 1);
            r.count = FRZ_MIN(r.count, files[i].columns - r.first);
            tasks += read_every_way(f.path, &f.type, &r, o);
            assert_int_equal(o->rc, FRZ_END);
            assert_true(r.range_count > 0 || o->rows == files[i].rows);
            assert_true(o->count < MOST_BATCHES);
        }
        assert_true(tasks > 0);
        remove_file(&f);
    }
    free(o);
}

/* Damage single bytes of the pages, all columns read. */
static void check_damaged(made_file *f, const reading *r, int flips, outcome *o)
{
    FILE *file = fopen(f->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    uint64_t size = (uint64_t)ftell(file);
    for (int i = 0; i < flips; i++) {
        long place = (long)(4 + next_random(&f->seed) % (size / 10 * 8));
        assert_int_equal(fseek(file, place, SEEK_SET), 0);
        int byte = fgetc(file) ^ (1 << i % 8);
        assert_int_equal(fseek(file, place, SEEK_SET), 0);
        assert_int_equal(fputc(byte, file), byte);
    }
    assert_int_equal(fclose(file), 0);
    read_every_way(f->path, &f->type, r, o);
}

static void threads__do_not_change_failures(void **state)
{
    outcome *o = malloc(sizeof *o);
    int failures = 0;
    (void)state;
    assert_non_null(o);
    for (size_t i = 0; i < 24; i++) {
        made_file f = {0};
        size_t columns = i % 2 == 0 ? 40 : 2;
        frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                          .codec = i % 3 == 0 ? FRZ_PARQUET_ZSTD
                                                              : FRZ_PARQUET_UNCOMPRESSED,
                                          .page_version = 1 + (int)i % 2,
                                          .page_bytes = 8000,
                                          .group_rows = i % 2 == 0 ? 3000 : 1200};
        make_file(&f, columns, i % 2 == 0 ? 6 : 2, i % 2 == 0 ? 4000 : 80000, &opts);
        f.seed = i;
        reading r = {.count = columns};
        check_damaged(&f, &r, 1 + (int)i % 4, o);
        failures += o->rc != FRZ_END;
        remove_file(&f);
    }
    assert_true(failures > 12);
    free(o);
}

typedef struct whole_reading {
    const made_file *file;
    outcome out;
} whole_reading;

static frz_code read_whole(void *ctx, const frz_env *env)
{
    whole_reading *w = ctx;
    const reading r = {.count = w->file->type.field_count};
    read_with(env, w->file->path, &w->file->type, &r, &w->out);
    return w->out.rc;
}

static void threads__every_failing_allocation_is_reported(void **state)
{
    static const size_t column_counts[] = {40, 2};
    whole_reading *w = malloc(sizeof *w);
    (void)state;
    assert_non_null(w);
    for (size_t k = 0; k < FRZ_ARRAY_COUNT(column_counts); k++) {
        made_file f = {0};
        frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                          .codec = FRZ_PARQUET_ZSTD,
                                          .page_version = 1,
                                          .page_bytes = 50000,
                                          .group_rows = k == 0 ? 2000 : 40000};
        make_file(&f, column_counts[k], 6, k == 0 ? 3000 : 100000, &opts);
        w->file = &f;
        fail_allocations(read_whole, w, FRZ_END);
        remove_file(&f);
    }
    free(w);
}

/* A reader that is closed early has read ahead. */
static void threads__a_reader_may_be_closed_early(void **state)
{
    made_file f = {0};
    frz_error err = {0};
    frz_parquet_write_options opts = {.page_version = 1, .group_rows = 20000};
    (void)state;
    make_file(&f, 2, 2, 200000, &opts);
    for (int batches = 0; batches < 4; batches++) {
        frz_env *env = env_of(4, NULL, NULL);
        frz_data_file *file = NULL;
        frz_data_reader *reader = NULL;
        frz_batch batch;
        frz_read_request request = {.projection = &f.type, .max_rows = 1000};
        assert_ok(frz_data_file_open(env, f.path, NULL, &file, &err), &err);
        assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
        for (int i = 0; i < batches; i++) {
            assert_ok(frz_data_reader_next(reader, &batch, &err), &err);
            assert_int_equal(batch.first_row, i * 1000);
            frz_array_release(&batch.array);
        }
        frz_data_reader_close(reader);
        frz_data_file_close(file);
        end_env(env);
    }
    remove_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads__do_not_change_batches),
        cmocka_unit_test(threads__do_not_change_failures),
        cmocka_unit_test(threads__every_failing_allocation_is_reported),
        cmocka_unit_test(threads__a_reader_may_be_closed_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
