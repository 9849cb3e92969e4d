/* Streams of batches as files of their own; the writer without memory. */
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

typedef struct place {
    char folder[64], path[96], second[96];
} place;

static void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-stream-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
    snprintf(p->second, sizeof p->second, "%s/b.parquet", p->folder);
}

static void place_remove(place *p)
{
    unlink(p->path);
    unlink(p->second);
    assert_int_equal(rmdir(p->folder), 0);
}

/* ---- field ids ---- */

static frz_field *field_of(const frz_type *type, const size_t *way, size_t depth)
{
    frz_field *field = NULL;
    for (size_t i = 0; i < depth; i++) {
        /* types of tests lie in an arena and may be changed */
        field = (frz_field *)(uintptr_t)&type->fields[way[i]];
        type = field->type;
    }
    return field;
}

#define FIELDS                                                                                     \
    "{'id':1,'name':'a','required':false,'type':'long'},"                                          \
    "{'id':2,'name':'b','required':false,'type':{'type':'list','element-id':3,"                    \
    "'element-required':false,'element':'string'}},"                                               \
    "{'id':4,'name':'c','required':true,'type':'double'}"

static void check_ids(const frz_env *env, const int32_t given[4], const int32_t wanted[4])
{
    static const struct {
        size_t way[2], depth;
    } places[4] = {{{0}, 1}, {{1}, 1}, {{1, 0}, 2}, {{2}, 1}};
    place p;
    frz_arena arena;
    frz_error err = {0};
    struct ArrowSchema schema;
    struct ArrowArrayStream stream;
    frz_data_file *file;
    int64_t rows = 0;
    place_init(&p);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, FIELDS);
    struct ArrowArray batches[2] = {
        rows_batch(env, type, "[{'a':1,'b':['x',null],'c':0.5},{'c':2.5}]"),
        rows_batch(env, type, "[{'a':3,'b':[],'c':-1.0}]")};
    for (size_t i = 0; i < 4; i++) {
        field_of(type, places[i].way, places[i].depth)->id = given[i];
    }
    assert_ok(frz_type_to_arrow(env, type, &schema, &err), &err);
    assert_ok(frz_stream_of_batches(env, &schema, batches, 2, &stream, &err), &err);
    assert_ok(frz_parquet_write_stream(env, p.path, &stream, NULL, &rows, &err), &err);
    stream.release(&stream);
    assert_int_equal(rows, 3);
    assert_ok(frz_data_file_open(env, p.path, NULL, &file, &err), &err);
    assert_int_equal(frz_data_file_row_count(file), 3);
    for (size_t i = 0; i < 4; i++) {
        const frz_field *field = field_of(frz_data_file_type(file), places[i].way, places[i].depth);
        assert_int_equal(field->id, wanted[i]);
    }
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    place_remove(&p);
}

static void stream__field_ids_are_kept_or_given(void **state)
{
    enum { NONE = FRZ_ID_NONE };
    check_ids(*state, (int32_t[]){7, 0, 9, 2}, (int32_t[]){7, 0, 9, 2});
    check_ids(*state, (int32_t[]){7, 5, 9, 2}, (int32_t[]){7, 5, 9, 2});
    /* none: by level, as a table gives them */
    check_ids(*state, (int32_t[]){NONE, NONE, NONE, NONE}, (int32_t[]){1, 2, 4, 3});
    /* some are missing: those behind the largest */
    check_ids(*state, (int32_t[]){7, NONE, 9, NONE}, (int32_t[]){7, 10, 9, 11});
    /* the same column twice: anew */
    check_ids(*state, (int32_t[]){7, 5, 6, 7}, (int32_t[]){1, 2, 4, 3});
}

/* ---- failures ---- */

static frz_code broken_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const frz_field field = {
        .id = 1, .name = FRZ_STR("a"), .type = frz_type_primitive(FRZ_TYPE_INT)};
    const frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = &field, .field_count = 1};
    return frz_type_to_arrow(ctx, &type, out, err);
}

static frz_code broken_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    (void)ctx;
    (void)out;
    return frz_fail(err, FRZ_E_CORRUPT, "page 7 is torn");
}

static void broken_release(void *ctx)
{
    (void)ctx;
}

static void stream__a_failing_stream_leaves_no_file_and_its_own_reason(void **state)
{
    static const frz_stream_ops ops = {broken_schema, broken_next, broken_release};
    place p;
    frz_error err = {0};
    struct ArrowArrayStream stream;
    place_init(&p);
    assert_ok(frz_stream_make(*state, &ops, *state, &stream, &err), &err);
    assert_fails(frz_parquet_write_stream(*state, p.path, &stream, NULL, NULL, &err), &err,
                 FRZ_E_CORRUPT, "page 7 is torn");
    stream.release(&stream);
    assert_int_not_equal(access(p.path, F_OK), 0);
    place_remove(&p);
}

static const frz_type *alloc_type;
static const struct ArrowArray *alloc_batch;
static const place *alloc_place;

#define ALLOC_FIELDS                                                                               \
    "{'id':1,'name':'a','required':false,'type':'string'},"                                        \
    "{'id':2,'name':'b','required':false,'type':'double'},"                                        \
    "{'id':3,'name':'c','required':false,'type':{'type':'map','key-id':4,'key':'int',"             \
    "'value-id':5,'value-required':false,'value':'decimal(25,2)'}}"
#define ALLOC_ROWS                                                                                 \
    "[{'a':'x','b':1.0,'c':[[1,'2.50'],[2,null]]},{'a':'x','b':2.0,'c':[]},{'a':null},"            \
    "{'a':'y','b':0.0,'c':[[1,'1.00']]}]"

static frz_code write_scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_parquet_writer *w = NULL;
    frz_parquet_written written;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    unlink(alloc_place->path);
    FRZ_TRY(frz_parquet_writer_open(env, alloc_place->path, alloc_type, NULL, &w, err));
    FRZ_TRY(frz_parquet_writer_write(w, alloc_batch, err));
    frz_parquet_writer *last = w;
    w = NULL;
    FRZ_TRY(frz_parquet_writer_finish(last, false, &arena, &written, err));
out:
    frz_parquet_writer_abort(w);
    frz_arena_reset(&arena);
    assert_int_equal(access(alloc_place->path, F_OK) == 0, rc == FRZ_OK);
    return rc;
}

static frz_code splice_scenario(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_parquet_writer *w = NULL;
    frz_data_file *src = NULL;
    frz_parquet_written written;
    bool done;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    unlink(alloc_place->second);
    FRZ_TRY(frz_data_file_open(env, alloc_place->path, NULL, &src, err));
    FRZ_TRY(frz_parquet_writer_open(env, alloc_place->second, alloc_type, NULL, &w, err));
    FRZ_TRY(frz_parquet_writer_begin_group(w, alloc_batch->length, err));
    FRZ_TRY(frz_parquet_writer_splice(w, 0, src, 0, 1, &done, err));
    FRZ_TRY(frz_parquet_writer_append_column(w, 1, alloc_batch->children[1], err));
    FRZ_TRY(frz_parquet_writer_splice(w, 2, src, 0, 3, &done, err));
    FRZ_TRY(frz_parquet_writer_end_group(w, err));
    frz_parquet_writer *last = w;
    w = NULL;
    FRZ_TRY(frz_parquet_writer_finish(last, false, &arena, &written, err));
    FRZ_TRY(
        frz_parquet_metrics(src, alloc_type, &arena, &written.stats, &written.stats_count, err));
out:
    frz_parquet_writer_abort(w);
    frz_data_file_close(src);
    frz_arena_reset(&arena);
    return rc;
}

static void writer__every_failed_allocation_is_survived(void **state)
{
    place p;
    frz_arena arena;
    place_init(&p);
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    alloc_type = rows_type(&arena, ALLOC_FIELDS);
    struct ArrowArray batch = rows_batch(*state, alloc_type, ALLOC_ROWS);
    alloc_batch = &batch;
    alloc_place = &p;
    test_fail_every_allocation(write_scenario);
    test_fail_every_allocation(splice_scenario);
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(stream__field_ids_are_kept_or_given),
        TEST_WITH_ENV(stream__a_failing_stream_leaves_no_file_and_its_own_reason),
        TEST_WITH_ENV(writer__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
