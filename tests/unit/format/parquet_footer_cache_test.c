/* Footers and indexes of files that are opened again: when they are shared, and when they must not
 * be. */
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_internal.h"
#include "io/io_file.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

/* Local files whose identity is what the test says. */
typedef struct cache_test {
    frz_env *env;
    frz_arena arena;
    uint64_t identity; /* 0: none */
    char path[64];
} cache_test;

static size_t told_identity(void *ctx, void *file, void *id, size_t capacity)
{
    const cache_test *t = ctx;
    (void)file;
    assert_true(capacity >= sizeof t->identity);
    memcpy(id, &t->identity, sizeof t->identity);
    return t->identity == 0 ? 0 : sizeof t->identity;
}

static void open_test(cache_test *t)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_storage storage = frz_storage_local;
    frz_error err = {0};
    *t = (cache_test){.identity = 1};
    storage.ctx = t;
    storage.identity = told_identity;
    options.storage = &storage;
    assert_ok(frz_env_new(&options, &t->env, &err), &err);
    frz_arena_init(&t->arena, t->env, FRZ_ARENA_NO_LIMIT);
    snprintf(t->path, sizeof t->path, "/tmp/parquet-footer-XXXXXX");
    close(mkstemp(t->path));
}

static void close_test(cache_test *t)
{
    frz_env_counters counters;
    unlink(t->path);
    frz_arena_reset(&t->arena);
    frz_env_drop_cache(t->env);
    frz_env_counters_get(t->env, &counters);
    assert_int_equal(counters.bytes_allocated, 0);
    frz_env_free(t->env);
}

static void write_rows(cache_test *t, const char *name, const char *rows)
{
    char fields[128];
    frz_error err = {0};
    frz_parquet_writer *w;
    snprintf(fields, sizeof fields, "{'id':1,'name':'%s','required':false,'type':'long'}", name);
    const frz_type *type = rows_type(&t->arena, fields);
    struct ArrowArray batch = rows_batch(t->env, type, rows);
    unlink(t->path);
    assert_ok(frz_parquet_writer_open(t->env, t->path, type, NULL, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    frz_array_release(&batch);
}

static frz_data_file *open_file(const cache_test *t)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    assert_ok(frz_data_file_open(t->env, t->path, NULL, &file, &err), &err);
    return file;
}

static const parquet_footer *footer_of(const frz_data_file *file)
{
    return ((const parquet_file *)file)->footer;
}

static bool has_name(const frz_data_file *file, const char *name)
{
    return frz_str_equal(frz_data_file_type(file)->fields[0].name, frz_str_from(name));
}

static void footer_cache__the_same_content_shares_a_footer(void **state)
{
    (void)state;
    cache_test t;
    open_test(&t);
    write_rows(&t, "a", "[{'a':1}]");
    frz_data_file *first = open_file(&t);
    frz_data_file *second = open_file(&t);
    assert_ptr_equal(footer_of(first), footer_of(second));
    frz_data_file_close(first);
    frz_env_drop_cache(t.env);
    assert_true(has_name(second, "a"));
    assert_int_equal(frz_data_file_row_count(second), 1);
    frz_data_file *third = open_file(&t);
    assert_ptr_not_equal(footer_of(second), footer_of(third));
    frz_data_file_close(second);
    frz_data_file_close(third);
    close_test(&t);
}

static void footer_cache__replaced_files_are_read_anew(void **state)
{
    (void)state;
    cache_test t;
    open_test(&t);
    write_rows(&t, "a", "[{'a':1}]");
    frz_data_file *before = open_file(&t);
    write_rows(&t, "b", "[{'b':1}]");
    t.identity++;
    frz_data_file *after = open_file(&t);
    assert_int_equal(frz_data_file_size(before), frz_data_file_size(after));
    assert_true(has_name(before, "a") && has_name(after, "b"));
    frz_data_file_close(after);
    /* of another size, though the identity were the same */
    write_rows(&t, "c", "[{'c':1},{'c':2},{'c':3000}]");
    after = open_file(&t);
    assert_true(has_name(after, "c"));
    frz_data_file_close(after);
    frz_data_file_close(before);
    close_test(&t);
}

static void footer_cache__without_an_identity_nothing_is_kept(void **state)
{
    (void)state;
    cache_test t;
    open_test(&t);
    t.identity = 0;
    write_rows(&t, "a", "[{'a':1}]");
    frz_data_file *first = open_file(&t);
    frz_data_file *second = open_file(&t);
    assert_ptr_not_equal(footer_of(first), footer_of(second));
    frz_data_file_close(first);
    frz_data_file_close(second);
    close_test(&t);
}

static void footer_cache__damaged_footers_are_not_kept(void **state)
{
    (void)state;
    cache_test t;
    frz_error err = {0};
    frz_data_file *file = NULL;
    open_test(&t);
    write_rows(&t, "a", "[{'a':1}]");
    FILE *out = fopen(t.path, "r+");
    assert_non_null(out);
    fseek(out, -20, SEEK_END);
    for (int i = 0; i < 8; i++) {
        fputc(0xFF, out);
    }
    fclose(out);
    for (int i = 0; i < 2; i++) {
        assert_fails(frz_data_file_open(t.env, t.path, NULL, &file, &err), &err, FRZ_E_CORRUPT,
                     "thrift");
    }
    close_test(&t);
}

/* A file that was written just now could be changed again without a sign; one that has rested could
 * not. */
static void footer_cache__local_files_have_an_identity_once_they_rest(void **state)
{
    (void)state;
    cache_test t;
    frz_error err = {0};
    frz_file *file;
    frz_str key;
    frz_env *env;
    open_test(&t);
    assert_ok(frz_env_new(NULL, &env, &err), &err);
    write_rows(&t, "a", "[{'a':1}]");
    assert_ok(frz_file_open(env, t.path, &file, &err), &err);
    assert_ok(frz_file_cache_key(file, "kind", &key, &err), &err);
    assert_null(key.ptr);
    frz_file_close(file);
    assert_ok(frz_file_open(env, "/bin/sh", &file, &err), &err);
    frz_str other;
    assert_ok(frz_file_cache_key(file, "kind", &key, &err), &err);
    assert_ok(frz_file_cache_key(file, "other kind", &other, &err), &err);
    assert_non_null(key.ptr);
    assert_false(frz_str_equal(key, other));
    frz_free(env, (void *)(uintptr_t)key.ptr);
    frz_free(env, (void *)(uintptr_t)other.ptr);
    frz_file_close(file);
    frz_env_free(env);
    close_test(&t);
}

/* ---- indexes ---- */

#define PADDING 200 /* of a key-value pair, by which sizes of files are made equal */

/* Ten rows in pages of so many, the file as long as wanted; 0: any. */
static size_t write_pages(cache_test *t, int64_t page_rows, size_t wanted)
{
    static const char *const key = "padding";
    char text[10 * PADDING];
    const char *value = text;
    size_t padding = PADDING;
    for (;;) {
        frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
        frz_error err = {0};
        frz_parquet_writer *w;
        frz_arena arena;
        frz_parquet_written written;
        memset(text, 'x', padding);
        text[padding] = '\0';
        opts.page_rows = page_rows;
        opts.keys = &key;
        opts.values = &value;
        opts.key_count = 1;
        const frz_type *type =
            rows_type(&t->arena, "{'id':1,'name':'a','required':true,'type':'long'}");
        struct ArrowArray batch =
            rows_batch(t->env, type,
                       "[{'a':1},{'a':2},{'a':3},{'a':4},{'a':5},{'a':6},{'a':7},{'a':8},{'a':9},"
                       "{'a':10}]");
        unlink(t->path);
        frz_arena_init(&arena, t->env, FRZ_ARENA_NO_LIMIT);
        assert_ok(frz_parquet_writer_open(t->env, t->path, type, &opts, &w, &err), &err);
        assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
        assert_ok(frz_parquet_writer_finish(w, false, &arena, &written, &err), &err);
        frz_array_release(&batch);
        frz_arena_reset(&arena);
        size_t size = (size_t)written.file_size;
        if (wanted == 0 || size == wanted) {
            return size;
        }
        padding = padding + wanted - size;
        assert_true(padding > 127 && padding < sizeof text); /* its length takes two bytes */
    }
}

/* Both indexes of the only chunk have so many pages; gives a reference to the offset index. */
static parquet_kept_index *check_indexes(const frz_data_file *file, size_t pages)
{
    const parquet_file *inner = (const parquet_file *)file;
    frz_error err = {0};
    parquet_chunk chunk;
    parquet_kept_index *offsets;
    parquet_kept_index *bounds;
    assert_ok(parquet_file_chunk(inner, 0, 0, &chunk, &err), &err);
    assert_ok(parquet_offset_index_get(inner, &chunk, 0, 0, &offsets, &err), &err);
    assert_non_null(offsets);
    assert_int_equal(offsets->offsets.count, pages);
    assert_ok(parquet_column_index_get(inner, &chunk, 0, 0, pages, &bounds, &err), &err);
    assert_non_null(bounds);
    assert_int_equal(bounds->bounds.count, pages);
    parquet_kept_index_unref(bounds);
    return offsets;
}

/* A file is changed in its place while it is open: what is read with its old footer is kept under
 * the identity of its new content. */
static void index_cache__what_does_not_fit_the_footer_is_read_anew(void **state)
{
    static const struct {
        int64_t before, after; /* rows of a page */
    } cases[] = {{3, 2}, {2, 3}, {10, 1}, {1, 10}};
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        cache_test t;
        open_test(&t);
        size_t size = write_pages(&t, FRZ_MIN(cases[i].before, cases[i].after), 0);
        write_pages(&t, cases[i].before, size);
        frz_data_file *before = open_file(&t);
        t.identity = 2;
        parquet_kept_index_unref(check_indexes(before, (size_t)(9 / cases[i].before + 1)));
        frz_data_file_close(before);
        write_pages(&t, cases[i].after, size);
        frz_data_file *after = open_file(&t);
        size_t pages = (size_t)(9 / cases[i].after + 1);
        parquet_kept_index *first = check_indexes(after, pages);
        parquet_kept_index *second = check_indexes(after, pages);
        assert_ptr_equal(first, second); /* and took the place of the other */
        parquet_kept_index_unref(first);
        parquet_kept_index_unref(second);
        frz_data_file_close(after);
        close_test(&t);
    }
}

/* ---- memory ---- */

static cache_test shared_test;

static frz_code open_twice(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *first = NULL;
    frz_data_file *second = NULL;
    FRZ_TRY(frz_data_file_open(env, shared_test.path, NULL, &first, err));
    FRZ_TRY(frz_data_file_open(env, shared_test.path, NULL, &second, err));
    assert_ptr_equal(footer_of(first), footer_of(second));
out:
    frz_data_file_close(first);
    frz_data_file_close(second);
    return rc;
}

static void footer_cache__no_failed_allocation_leaks(void **state)
{
    (void)state;
    open_test(&shared_test);
    write_rows(&shared_test, "a", "[{'a':1}]");
    for (uint64_t n = 1;; n++) {
        test_allocator allocator = {0};
        frz_allocator functions = {sizeof functions, failing_alloc, failing_realloc, failing_free,
                                   &allocator};
        frz_storage storage = frz_storage_local;
        frz_env_options options = FRZ_ENV_OPTIONS_INIT;
        frz_env_counters counters;
        frz_error err = {0};
        frz_env *env = NULL;
        storage.ctx = &shared_test;
        storage.identity = told_identity;
        options.allocator = &functions;
        options.storage = &storage;
        assert_ok(frz_env_new(&options, &env, &err), &err);
        allocator.calls = 0;
        allocator.fail_at = n;
        frz_code rc = open_twice(env, &err);
        frz_env_drop_cache(env);
        frz_env_counters_get(env, &counters);
        assert_int_equal(counters.bytes_allocated, 0);
        frz_env_free(env);
        if (allocator.calls < n) {
            assert_ok(rc, &err);
            break;
        }
        assert_int_equal(rc, FRZ_E_NOMEM);
    }
    close_test(&shared_test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(footer_cache__the_same_content_shares_a_footer),
        cmocka_unit_test(footer_cache__replaced_files_are_read_anew),
        cmocka_unit_test(footer_cache__without_an_identity_nothing_is_kept),
        cmocka_unit_test(footer_cache__damaged_footers_are_not_kept),
        cmocka_unit_test(footer_cache__local_files_have_an_identity_once_they_rest),
        cmocka_unit_test(index_cache__what_does_not_fit_the_footer_is_read_anew),
        cmocka_unit_test(footer_cache__no_failed_allocation_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
