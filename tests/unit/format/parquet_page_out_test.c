/*
 * Pages of byte streams are compressed in the smaller of two ways, which is found out as the data
 * goes. The values come back in any case.
 */
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "frazil/parquet.h"
#include "unit/format/parquet_rows.h"

#define ROWS ((size_t)32768) /* of a page */

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 11;
}

/* Pages of any numbers, and of a hundred numbers in turn. */
static double *make_pages(const char *pages)
{
    double *values = malloc(strlen(pages) * ROWS * sizeof *values);
    double hundred[100];
    assert_non_null(values);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(hundred); i++) {
        hundred[i] = (double)next_random() / (double)((uint64_t)1 << 53);
    }
    for (size_t i = 0; i < strlen(pages) * ROWS; i++) {
        values[i] = pages[i / ROWS] == 'r' ? (double)next_random() / (double)((uint64_t)1 << 53)
                                           : hundred[i % FRZ_ARRAY_COUNT(hundred)];
    }
    return values;
}

static int64_t write_pages(const frz_env *env, const char *path, const double *values, size_t rows)
{
    frz_error err = {0};
    frz_arena arena;
    frz_parquet_writer *w;
    frz_parquet_written written;
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray column;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.codec = FRZ_PARQUET_ZSTD;
    opts.no_dictionary = true;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, "{'id':1,'name':'d','required':true,'type':'double'}");
    assert_ok(frz_buffer_new(env, rows * 8, &buffers[1], &err), &err);
    memcpy(buffers[1]->data, values, rows * 8);
    assert_ok(frz_array_make(env, (int64_t)rows, 0, buffers, 2, NULL, 0, &column, &err), &err);
    unlink(path);
    assert_ok(frz_parquet_writer_open(env, path, type, &opts, &w, &err), &err);
    assert_ok(frz_parquet_writer_begin_group(w, (int64_t)rows, &err), &err);
    assert_ok(frz_parquet_writer_append_column(w, 0, &column, &err), &err);
    assert_ok(frz_parquet_writer_end_group(w, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, &arena, &written, &err), &err);
    frz_array_release(&column);
    frz_arena_reset(&arena);
    return written.file_size;
}

static void check_values(const frz_env *env, const char *path, const double *values, size_t rows)
{
    frz_error err = {0};
    frz_parquet_file *file;
    frz_parquet_reader *reader;
    struct ArrowArray batch;
    frz_code rc;
    size_t done = 0;
    assert_ok(frz_parquet_file_open(env, path, &file, &err), &err);
    assert_ok(frz_parquet_reader_open(file, NULL, &reader, &err), &err);
    while ((rc = frz_parquet_reader_next(reader, &batch, NULL, &err)) == FRZ_OK) {
        const struct ArrowArray *d = batch.children[0];
        assert_true((size_t)batch.length <= rows - done);
        assert_memory_equal((const double *)d->buffers[1] + d->offset, values + done,
                            (size_t)batch.length * 8);
        done += (size_t)batch.length;
        batch.release(&batch);
    }
    assert_int_equal(rc, FRZ_END);
    assert_int_equal(done, rows);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
}

/* Bytes that the pages take in a file. */
static int64_t size_of(const frz_env *env, const char *pages)
{
    char folder[] = "/tmp/parquet-page-out-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.parquet", folder);
    size_t rows = strlen(pages) * ROWS;
    double *values = make_pages(pages);
    int64_t size = write_pages(env, path, values, rows);
    check_values(env, path, values, rows);
    free(values);
    unlink(path);
    rmdir(folder);
    return size;
}

/* A page of any numbers takes 218 to 228 thousand bytes, one of a hundred a few. */

static void byte_streams__of_any_numbers_are_coded_by_themselves(void **state)
{
    assert_in_range(size_of(*state, "rrrr"), 4 * 216000, 4 * 225000);
}

static void byte_streams__that_repeat_themselves_are_not(void **state)
{
    assert_in_range(size_of(*state, "hhhh"), 1000, 4 * 8000);
}

/* At most one page is in the way of before. */
static void byte_streams__that_change_are_tried_again(void **state)
{
    int64_t any = size_of(*state, "rr") / 2;
    int64_t hundred = size_of(*state, "hh") / 2;
    assert_in_range(size_of(*state, "rrhhhhhhhhhh"), 2 * any, 3 * any + 20 * hundred);
    assert_in_range(size_of(*state, "rrrrhhhhhhhh"), 4 * any, 4 * any + 20 * hundred);
    assert_in_range(size_of(*state, "hhrrrrrrrrrr"), 10 * any, 10 * any + any / 16 + 3 * hundred);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(byte_streams__of_any_numbers_are_coded_by_themselves),
        TEST_WITH_ENV(byte_streams__that_repeat_themselves_are_not),
        TEST_WITH_ENV(byte_streams__that_change_are_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
