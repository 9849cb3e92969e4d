/*
 * What tests of threads share: environments with one thread, several, and tasks in reverse order;
 * and files with columns of many kinds, filled at random.
 */
#ifndef FRZ_TEST_PARQUET_THREADS_H
#define FRZ_TEST_PARQUET_THREADS_H

#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "type/type_value.h"
#include "unit/test_alloc.h"

/* ---- environments ---- */

/* An executor that runs the last task first. */
static inline void run_backwards(void *ctx, size_t count, void (*task)(void *arg, size_t index),
                                 void *arg)
{
    *(size_t *)ctx += count;
    for (size_t i = count; i-- > 0;) {
        task(arg, i);
    }
}

#define BACKWARDS 0

static const int ways[] = {1, 2, 8, BACKWARDS};

/* tasks: counts those of the executor that runs backwards. */
static inline frz_env *env_of(int way, test_allocator *allocator, size_t *tasks)
{
    frz_allocator functions = {sizeof functions, failing_alloc, failing_realloc, failing_free,
                               allocator};
    frz_executor executor = {sizeof executor, 4, run_backwards, tasks};
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    options.allocator = allocator == NULL ? NULL : &functions;
    options.executor = way == BACKWARDS ? &executor : NULL;
    options.threads = way;
    assert_int_equal(frz_env_new(&options, &env, NULL), FRZ_OK);
    env->least_shared = 1;
    return env;
}

static inline void end_env(frz_env *env)
{
    frz_env_counters counters;
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    assert_int_equal(counters.bytes_allocated, 0);
}

/* Fail allocations one after the other, with several threads: each time the task says so, and
 * nothing leaks. done: what it returns when all goes well. */
static inline void fail_allocations(frz_code (*task)(void *ctx, const frz_env *env), void *ctx,
                                    frz_code done)
{
    for (uint64_t n = 1;; n += 1 + n / 30) {
        test_allocator allocator = {0};
        frz_env *env = env_of(3, &allocator, NULL);
        allocator.calls = 0;
        allocator.fail_at = n;
        frz_code rc = task(ctx, env);
        end_env(env);
        if (allocator.calls < n) {
            assert_int_equal(rc, done);
            break;
        }
        assert_int_equal(rc, FRZ_E_NOMEM);
    }
}

/* ---- files ---- */

static const frz_type t_long = {.id = FRZ_TYPE_LONG};
static const frz_type t_double = {.id = FRZ_TYPE_DOUBLE};
static const frz_type t_string = {.id = FRZ_TYPE_STRING};
static const frz_type t_boolean = {.id = FRZ_TYPE_BOOLEAN};
static const frz_field f_item[] = {{.id = 1000, .name = {"element", 7}, .type = &t_string}};
static const frz_type t_list = {.id = FRZ_TYPE_LIST, .fields = f_item, .field_count = 1};
static const frz_field f_pair[] = {{.id = 1001, .name = {"x", 1}, .type = &t_long},
                                   {.id = 1002, .name = {"y", 1}, .type = &t_string}};
static const frz_type t_struct = {.id = FRZ_TYPE_STRUCT, .fields = f_pair, .field_count = 2};
static const frz_type *const kinds[] = {&t_long,    &t_double, &t_string,
                                        &t_boolean, &t_list,   &t_struct};

#define MOST_COLUMNS 200

typedef struct made_file {
    char folder[64], path[96];
    frz_field fields[MOST_COLUMNS];
    char names[MOST_COLUMNS][8];
    frz_type type;
    uint64_t seed;
    bool long_lists, long_texts;
} made_file;

static inline uint64_t next_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline void append_value(made_file *f, frz_builder *b, const frz_type *type, bool nullable)
{
    uint64_t r = next_random(&f->seed);
    char text[4096];
    frz_code rc = FRZ_OK;
    if (nullable && r % 11 == 0) {
        rc = frz_builder_null(b, NULL);
    } else if (type->id == FRZ_TYPE_LONG) {
        rc = frz_builder_i64(b, (int64_t)(r >> 20), NULL);
    } else if (type->id == FRZ_TYPE_DOUBLE) {
        rc = frz_builder_f64(b, (double)(r >> 11) / 1e6, NULL);
    } else if (type->id == FRZ_TYPE_BOOLEAN) {
        rc = frz_builder_bool(b, r >> 63, NULL);
    } else if (type->id == FRZ_TYPE_STRING) {
        int len = snprintf(text, sizeof text, "%.*s%*d", (int)(r % 30),
                           "thirty letters, more or less, here", f->long_texts ? 3000 : 0,
                           (int)(r >> 32 & 0xFF));
        rc = frz_builder_bytes(b, (frz_str){text, (size_t)len}, NULL);
    } else {
        size_t items = f->long_lists ? 50 : r >> 40 & 3;
        size_t count = type->id == FRZ_TYPE_LIST ? items : type->field_count;
        for (size_t i = 0; i < count; i++) {
            size_t child = type->id == FRZ_TYPE_LIST ? 0 : i;
            append_value(f, frz_builder_child(b, child), type->fields[child].type, true);
        }
        rc = frz_builder_end(b, NULL);
    }
    assert_int_equal(rc, FRZ_OK);
}

static inline void make_batch(made_file *f, const frz_env *env, int64_t rows,
                              struct ArrowArray *out)
{
    frz_error err = {0};
    frz_builder *b = NULL;
    assert_ok(frz_builder_new(env, &f->type, &b, &err), &err);
    for (int64_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < f->type.field_count; c++) {
            const frz_field *field = &f->fields[c];
            append_value(f, frz_builder_child(b, c), field->type, !field->required);
        }
        assert_ok(frz_builder_end(b, &err), &err);
    }
    assert_ok(frz_builder_finish(b, out, &err), &err);
    frz_builder_free(b);
}

/* kind_count kinds of columns in turn, every third one required; an empty folder for files. */
static inline void made_begin(made_file *f, size_t columns, size_t kind_count)
{
    snprintf(f->folder, sizeof f->folder, "/tmp/frazil_threads_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/f.parquet", f->folder);
    for (size_t i = 0; i < columns; i++) {
        int len = snprintf(f->names[i], sizeof f->names[i], "c%zu", i);
        f->fields[i] = (frz_field){.id = (int32_t)i + 1,
                                   .name = {f->names[i], (size_t)len},
                                   .required = i % 3 == 0,
                                   .type = kinds[i % kind_count]};
    }
    f->type = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = f->fields, .field_count = columns};
    f->seed = columns;
}

/* Write the batch to the file's path in some pieces. */
static inline frz_code made_write(const made_file *f, const frz_env *env,
                                  const struct ArrowArray *batch, int pieces,
                                  const frz_parquet_write_options *opts, frz_error *err)
{
    frz_parquet_writer *writer = NULL;
    struct ArrowArray piece = {0};
    frz_code rc = frz_parquet_writer_open(env, f->path, &f->type, opts, &writer, err);
    for (int i = 0; rc == FRZ_OK && i < pieces; i++) {
        int64_t first = batch->length * i / pieces;
        int64_t end = batch->length * (i + 1) / pieces;
        rc = frz_batch_slice(env, batch, first, end - first, &piece, err);
        if (rc == FRZ_OK) {
            rc = frz_parquet_writer_write(writer, &piece, err);
        }
        frz_array_release(&piece);
    }
    if (rc != FRZ_OK) {
        frz_parquet_writer_abort(writer);
        return rc;
    }
    return frz_parquet_writer_finish(writer, false, NULL, NULL, err);
}

static inline void make_file(made_file *f, size_t columns, size_t kind_count, int64_t rows,
                             const frz_parquet_write_options *opts)
{
    frz_error err = {0};
    struct ArrowArray batch;
    frz_env *env = env_of(1, NULL, NULL);
    made_begin(f, columns, kind_count);
    make_batch(f, env, rows, &batch);
    assert_ok(made_write(f, env, &batch, 1, opts, &err), &err);
    frz_array_release(&batch);
    end_env(env);
}

/* Values of one part of the rows are long: f->long_lists or f->long_texts, which is given, holds
 * there. Batches are chosen by the row groups in which they begin, so that columns of others come
 * short of them. */
static inline void make_uneven_file(made_file *f, size_t columns, size_t kind_count, bool *is_long,
                                    bool long_first, int64_t first_rows, int64_t rows,
                                    const frz_parquet_write_options *opts)
{
    frz_error err = {0};
    struct ArrowArray parts[2], batch;
    frz_env *env = env_of(1, NULL, NULL);
    made_begin(f, columns, kind_count);
    for (int i = 0; i < 2; i++) {
        *is_long = long_first == (i == 0);
        make_batch(f, env, i == 0 ? first_rows : rows - first_rows, &parts[i]);
    }
    assert_ok(frz_array_concat(env, &f->type, parts, 2, &batch, &err), &err);
    assert_ok(made_write(f, env, &batch, 1, opts, &err), &err);
    frz_array_release(&batch);
    frz_array_release(&parts[0]);
    frz_array_release(&parts[1]);
    end_env(env);
}

static inline void remove_file(made_file *f)
{
    unlink(f->path);
    rmdir(f->folder);
}

/* ---- what was read ---- */

/* Give each batch of a file to take. FRZ_END, or what failed. */
static inline frz_code
read_batches(const frz_env *env, const char *path, const frz_read_request *request,
             void (*take)(void *ctx, const frz_data_reader *reader, const frz_batch *batch),
             void *ctx, frz_error *err)
{
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_code rc = frz_data_file_open(env, path, NULL, &file, err);
    if (rc == FRZ_OK) {
        rc = frz_data_reader_open(file, request, &reader, err);
    }
    while (rc == FRZ_OK) {
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc == FRZ_OK) {
            take(ctx, reader, &batch);
            frz_array_release(&batch.array);
        }
    }
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    return rc;
}

/* FNV-1a over values, not over memory, so that offsets and padding do not count. */
static inline void add_bytes(uint64_t *hash, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++) {
        *hash = (*hash ^ p[i]) * UINT64_C(1099511628211);
    }
}

static inline void add_row(uint64_t *hash, const frz_type *type, const struct ArrowArray *a,
                           int64_t i)
{
    bool null = frz_is_null(a, i);
    add_bytes(hash, &null, sizeof null);
    if (null) {
        return;
    }
    if (type->id == FRZ_TYPE_STRUCT) {
        for (size_t f = 0; f < type->field_count; f++) {
            add_row(hash, type->fields[f].type, a->children[f], a->offset + i);
        }
    } else if (type->id == FRZ_TYPE_LIST) {
        const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
        int32_t count = offsets[1] - offsets[0];
        add_bytes(hash, &count, sizeof count);
        for (int64_t k = offsets[0]; k < offsets[1]; k++) {
            add_row(hash, type->fields[0].type, a->children[0], k);
        }
    } else {
        frz_value v = frz_value_at(type, a, i);
        size_t width = type->id == FRZ_TYPE_BOOLEAN ? sizeof v.as.boolean : sizeof v.as.i64;
        bool text = type->id == FRZ_TYPE_STRING;
        add_bytes(hash, text ? (const void *)v.as.bytes.ptr : &v.as, text ? v.as.bytes.len : width);
        add_bytes(hash, &v.as.bytes.len, text ? sizeof v.as.bytes.len : 0);
    }
}

#endif
