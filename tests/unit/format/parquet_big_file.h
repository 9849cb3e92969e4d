/*
 * A file of many pages, and its rows by their numbers, for tests of what is read of it.
 */
#ifndef FRZ_TEST_PARQUET_BIG_FILE_H
#define FRZ_TEST_PARQUET_BIG_FILE_H

#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "unit/format/parquet_rows.h"

typedef struct place {
    char folder[64], path[96];
} place;

static inline void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-prune-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
}

static inline void place_remove(place *p)
{
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

#define BIG_ROWS 200000
#define GROUP_ROWS 50000
#define PAGE_ROWS 500

#define BIG_FIELDS                                                                                 \
    "{'id':1,'name':'id','required':true,'type':'long'},"                                          \
    "{'id':2,'name':'s','required':false,'type':'string'},"                                        \
    "{'id':3,'name':'l','required':false,'type':{'type':'list','element-id':4,"                    \
    "'element':'long','element-required':false}}"

/* Ascending, and yet not small when encoded. */
static inline int64_t key_of(int64_t i)
{
    return (i << 32) + (int64_t)((uint64_t)i * 0x9E3779B97F4A7C15u >> 32);
}

/* Row i: its key, text of i (null every 7th), a list of up to 3 keys from i on (null every 11th).
 */
static inline struct ArrowArray big_batch(const frz_env *env, const frz_type *type, int64_t first,
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

static inline bool same_value(const frz_type *type, const struct ArrowArray *a, int64_t i,
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

/* rows: at most BIG_ROWS. */
static inline void big_write(big_file *f, frz_env *env, int page_version, int64_t rows)
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
    for (int64_t i = 0; i < rows; i += GROUP_ROWS) {
        struct ArrowArray batch = big_batch(env, f->type, i, FRZ_MIN(rows - i, GROUP_ROWS));
        assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
        frz_array_release(&batch);
    }
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
}

static inline void big_open(big_file *f, frz_env *env, int page_version)
{
    frz_error err = {0};
    big_write(f, env, page_version, BIG_ROWS);
    assert_ok(frz_data_file_open(env, f->p.path, NULL, &f->file, &err), &err);
}

static inline void big_close(big_file *f)
{
    frz_data_file_close(f->file);
    frz_arena_reset(&f->arena);
    place_remove(&f->p);
}

static inline uint64_t bytes_read(const frz_env *env)
{
    frz_env_counters counters;
    frz_env_counters_get(env, &counters);
    return counters.bytes_read;
}

/* Read and compare with what was written; *rows receives how many there were. */
static inline frz_code big_compare(big_file *f, const frz_row_range *ranges, size_t count,
                                   int64_t *rows, frz_error *err)
{
    frz_data_reader *reader;
    frz_batch batch;
    frz_read_request request = {.projection = f->type, .ranges = ranges, .range_count = count};
    frz_code rc = frz_data_reader_open(f->file, &request, &reader, err);
    *rows = 0;
    assert_int_equal(rc, FRZ_OK);
    while ((rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        struct ArrowArray want = big_batch(f->env, f->type, batch.first_row, batch.array.length);
        for (size_t c = 0; c < f->type->field_count; c++) {
            for (int64_t i = 0; i < batch.array.length; i++) {
                if (!same_value(f->type->fields[c].type, batch.array.children[c], i,
                                want.children[c], i)) {
                    fail_msg("row %lld differs", (long long)(batch.first_row + i));
                }
            }
        }
        *rows += batch.array.length;
        frz_array_release(&want);
        frz_array_release(&batch.array);
    }
    frz_data_reader_close(reader);
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* All rows of the ranges are there and right. Returns the bytes that were read for it. */
static inline uint64_t big_read(big_file *f, const frz_row_range *ranges, size_t count)
{
    frz_error err = {0};
    uint64_t before = bytes_read(f->env);
    int64_t rows;
    assert_ok(big_compare(f, ranges, count, &rows, &err), &err);
    for (size_t i = 0; i < count; i++) {
        rows -= ranges[i].end - ranges[i].start;
    }
    assert_int_equal(rows, 0);
    return bytes_read(f->env) - before;
}

#endif
