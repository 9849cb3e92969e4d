/* Splicing: bytes that are copied, chunks that cannot be, values that come out. */
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_internal.h"
#include "unit/format/parquet_chunk_edit.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

typedef struct splice_test {
    frz_env *env;
    frz_arena arena;
    char folder[64], src[96], dst[96];
    frz_data_file *file;
    parquet_chunk chunk; /* the file's first, as a test changes it */
} splice_test;

static void splice_open(splice_test *t, frz_env *env)
{
    *t = (splice_test){.env = env};
    snprintf(t->folder, sizeof t->folder, "/tmp/parquet-splice-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    snprintf(t->src, sizeof t->src, "%s/src.parquet", t->folder);
    snprintf(t->dst, sizeof t->dst, "%s/dst.parquet", t->folder);
    frz_arena_init(&t->arena, env, FRZ_ARENA_NO_LIMIT);
}

static void splice_close(splice_test *t)
{
    frz_data_file_close(t->file);
    unlink(t->src);
    unlink(t->dst);
    assert_int_equal(rmdir(t->folder), 0);
    frz_arena_reset(&t->arena);
}

static void write_source(splice_test *t, const char *fields, const char *rows,
                         const frz_parquet_write_options *opts)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    const frz_type *type = rows_type(&t->arena, fields);
    struct ArrowArray batch = rows_batch(t->env, type, rows);
    assert_ok(frz_parquet_writer_open(t->env, t->src, type, opts, &w, &err), &err);
    assert_ok(frz_parquet_writer_write(w, &batch, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    frz_array_release(&batch);
    assert_ok(frz_data_file_open(t->env, t->src, NULL, &t->file, &err), &err);
}

#define FIELDS                                                                                     \
    "{'id':1,'name':'a','required':true,'type':'long'},"                                           \
    "{'id':2,'name':'b','required':false,'type':'string'},"                                        \
    "{'id':3,'name':'c','required':false,'type':'double'},"                                        \
    "{'id':4,'name':'d','required':false,'type':{'type':'list','element-id':5,"                    \
    "'element-required':false,'element':{'type':'struct','fields':["                               \
    "{'id':6,'name':'x','required':false,'type':'int'},"                                           \
    "{'id':7,'name':'y','required':true,'type':'string'}]}}},"                                     \
    "{'id':8,'name':'e','required':false,'type':'date'}"
#define ROWS                                                                                       \
    "[{'a':1,'b':'one','c':1.5,'d':[{'x':1,'y':'p'},null],'e':'2026-01-01'},"                      \
    "{'a':2,'b':'one','c':null,'d':[]},"                                                           \
    "{'a':3,'b':'one','c':'NaN','d':null,'e':'2026-02-01'},"                                       \
    "{'a':4,'b':'one','c':-0.5,'d':[{'y':'q'}]},"                                                  \
    "{'a':5,'b':'two','c':2.5,'d':[{'x':2,'y':'r'},{'x':3,'y':'s'}]}]"

static void check_same_rows(const frz_env *env, const frz_data_file *a, const frz_data_file *b,
                            const frz_type *projection)
{
    frz_error err = {0};
    const frz_data_file *files[2] = {a, b};
    struct ArrowArray arrays[2];
    for (int i = 0; i < 2; i++) {
        frz_data_reader *reader;
        frz_batch batch;
        const frz_read_request request = {.projection = projection};
        struct ArrowArray parts[8];
        size_t n = 0;
        assert_ok(frz_data_reader_open(files[i], &request, &reader, &err), &err);
        frz_code rc;
        for (; (rc = frz_data_reader_next(reader, &batch, &err)) == FRZ_OK; n++) {
            assert_true(n < 8);
            parts[n] = batch.array;
        }
        assert_int_equal(rc, FRZ_END);
        frz_data_reader_close(reader);
        assert_ok(frz_array_concat(env, projection, parts, n, &arrays[i], &err), &err);
        for (size_t k = 0; k < n; k++) {
            frz_array_release(&parts[k]);
        }
    }
    assert_int_equal(arrays[0].length, arrays[1].length);
    for (size_t f = 0; f < projection->field_count; f++) {
        const frz_type *type = projection->fields[f].type;
        const struct ArrowArray *x = arrays[0].children[f];
        const struct ArrowArray *y = arrays[1].children[f];
        for (int64_t i = 0; i < x->length; i++) {
            assert_int_equal(frz_is_null(x, i), frz_is_null(y, i));
            if (!frz_type_is_nested(type) && !frz_is_null(x, i)) {
                frz_value v = frz_value_at(type, x, i);
                frz_value u = frz_value_at(type, y, i);
                assert_int_equal(frz_value_compare(&v, &u, true), 0);
            }
        }
    }
    frz_array_release(&arrays[0]);
    frz_array_release(&arrays[1]);
}

/* Splice every field of every group in the order of type, and open the result. */
static frz_data_file *splice_all(splice_test *t, const frz_type *type, frz_parquet_written *written)
{
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_data_file *out;
    const parquet_file *src = (const parquet_file *)t->file;
    assert_ok(frz_parquet_writer_open(t->env, t->dst, type, NULL, &w, &err), &err);
    for (size_t g = 0; g < src->metadata.group_count; g++) {
        assert_ok(frz_parquet_writer_begin_group(w, src->metadata.groups[g].num_rows, &err), &err);
        for (size_t i = 0; i < type->field_count; i++) {
            bool done;
            assert_ok(frz_parquet_writer_splice(w, i, t->file, g, type->fields[i].id, &done, &err),
                      &err);
            assert_true(done);
        }
        assert_ok(frz_parquet_writer_end_group(w, &err), &err);
    }
    assert_ok(frz_parquet_writer_finish(w, false, &t->arena, written, &err), &err);
    assert_ok(frz_data_file_open(t->env, t->dst, NULL, &out, &err), &err);
    return out;
}

static void check_same_bytes(const splice_test *t, const frz_data_file *a, size_t ca,
                             const frz_data_file *b, size_t cb, size_t group)
{
    frz_error err = {0};
    parquet_chunk x;
    parquet_chunk y;
    assert_ok(parquet_file_chunk((const parquet_file *)a, group, ca, &x, &err), &err);
    assert_ok(parquet_file_chunk((const parquet_file *)b, group, cb, &y, &err), &err);
    size_t size = (size_t)x.total_compressed_size;
    assert_int_equal(size, y.total_compressed_size);
    assert_int_equal(x.num_values, y.num_values);
    assert_int_equal(x.encodings, y.encodings);
    assert_int_equal(x.data_page_offset - parquet_chunk_start(&x),
                     y.data_page_offset - parquet_chunk_start(&y));
    uint8_t *bytes = frz_alloc(t->env, 2 * size);
    assert_ok(frz_file_read(a->file, (uint64_t)parquet_chunk_start(&x), bytes, size, &err), &err);
    assert_ok(frz_file_read(b->file, (uint64_t)parquet_chunk_start(&y), bytes + size, size, &err),
              &err);
    assert_memory_equal(bytes, bytes + size, size);
    frz_free(t->env, bytes);
}

static void splice__copies_bytes_and_values_in_any_order(void **state)
{
    static const char *const orders[] = {
        FIELDS, "{'id':8,'name':'renamed','required':false,'type':'date'},"
                "{'id':4,'name':'d','required':false,'type':{'type':'list','element-id':5,"
                "'element-required':false,'element':{'type':'struct','fields':["
                "{'id':6,'name':'x2','required':false,'type':'int'},"
                "{'id':7,'name':'y','required':true,'type':'string'}]}}},"
                "{'id':1,'name':'a','required':true,'type':'long'}"};
    static const size_t columns[2][6] = {{0, 1, 2, 3, 4, 5}, {5, 3, 4, 0}};
    for (size_t i = 0; i < 2; i++) {
        splice_test t;
        frz_parquet_written written;
        const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                                .codec = FRZ_PARQUET_ZSTD,
                                                .group_rows = 3};
        splice_open(&t, *state);
        write_source(&t, FIELDS, ROWS, &opts);
        const frz_type *type = rows_type(&t.arena, orders[i]);
        frz_data_file *out = splice_all(&t, type, &written);
        assert_int_equal(written.row_count, 5);
        size_t leaves = ((const parquet_file *)out)->column_count;
        for (size_t g = 0; g < 2; g++) {
            for (size_t c = 0; c < leaves; c++) {
                check_same_bytes(&t, t.file, columns[i][c], out, c, g);
            }
        }
        check_same_rows(t.env, t.file, out, type);
        frz_data_file_close(out);
        splice_close(&t);
    }
}

/* Local files, with copies counted. */
static int copies;

static frz_code count_copy(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                           frz_error *err)
{
    copies++;
    return frz_storage_local.append_from(ctx, file, src, offset, len, err);
}

static void splice__neighbours_are_copied_in_one_piece(void **state)
{
    splice_test t;
    frz_parquet_written written;
    frz_storage storage = frz_storage_local;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    void *counted = NULL;
    (void)state;
    storage.append_from = count_copy;
    opts.storage = &storage;
    assert_int_equal(frz_env_new(&opts, &env, NULL), FRZ_OK);
    splice_open(&t, env);
    write_source(&t, FIELDS, ROWS, NULL);
    copies = 0;
    frz_data_file *out = splice_all(&t, rows_type(&t.arena, FIELDS), &written);
    assert_int_equal(copies, 1);
    frz_data_file_close(out);
    splice_close(&t);
    counted = env;
    assert_int_equal(test_env_teardown(&counted), 0);
}

static void splice__metrics_and_statistics_are_carried_over(void **state)
{
    splice_test t;
    frz_parquet_written written;
    frz_field_stats *stats;
    size_t count;
    frz_error err = {0};
    const frz_parquet_write_options opts = {.struct_size = sizeof(frz_parquet_write_options),
                                            .codec = FRZ_PARQUET_SNAPPY,
                                            .group_rows = 2};
    splice_open(&t, *state);
    write_source(&t, FIELDS, ROWS, &opts);
    const frz_type *type = rows_type(&t.arena, FIELDS);
    frz_data_file *out = splice_all(&t, type, &written);
    assert_ok(frz_parquet_metrics(out, type, &t.arena, &stats, &count, &err), &err);
    assert_int_equal(count, 4);
    assert_int_equal(written.stats_count, 4);
    for (size_t i = 0; i < count; i++) {
        const frz_field_stats *a = &stats[i];
        const frz_field_stats *b = &written.stats[i];
        assert_int_equal(a->field_id, b->field_id);
        assert_int_equal(a->null_value_count, b->null_value_count);
        assert_int_equal(a->nan_value_count, b->nan_value_count);
        assert_int_equal(a->tight_bounds, 1);
        assert_int_equal(b->tight_bounds, 1);
        assert_int_equal(frz_value_compare(&a->lower, &b->lower, true), 0);
        assert_int_equal(frz_value_compare(&a->upper, &b->upper, true), 0);
    }
    assert_int_equal(written.stats[0].lower.as.i64, 1);
    assert_int_equal(written.stats[0].upper.as.i64, 5);
    assert_int_equal(written.stats[2].nan_value_count, 1);
    frz_data_file_close(out);
    splice_close(&t);
}

static void splice__mixes_with_encoded_columns(void **state)
{
    splice_test t;
    frz_error err = {0};
    frz_parquet_writer *w;
    frz_data_file *out;
    bool done;
    splice_open(&t, *state);
    write_source(&t, FIELDS, ROWS, NULL);
    const frz_type *type = rows_type(&t.arena, FIELDS);
    struct ArrowArray batch = rows_batch(t.env, type, ROWS);
    assert_ok(frz_parquet_writer_open(t.env, t.dst, type, NULL, &w, &err), &err);
    assert_ok(frz_parquet_writer_begin_group(w, 5, &err), &err);
    for (size_t i = 0; i < type->field_count; i++) {
        if (i % 2 == 0) {
            assert_ok(frz_parquet_writer_append_column(w, i, batch.children[i], &err), &err);
        } else {
            assert_ok(frz_parquet_writer_splice(w, i, t.file, 0, type->fields[i].id, &done, &err),
                      &err);
            assert_true(done);
        }
    }
    assert_ok(frz_parquet_writer_end_group(w, &err), &err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &err), &err);
    assert_ok(frz_data_file_open(t.env, t.dst, NULL, &out, &err), &err);
    check_same_rows(t.env, t.file, out, type);
    frz_data_file_close(out);
    frz_array_release(&batch);
    splice_close(&t);
}

static void splice__what_does_not_fit_is_left_to_the_caller(void **state)
{
    static const struct {
        const char *why, *src, *dst, *rows;
        int64_t group_rows;
    } cases[] = {
        {"source required, target optional", "{'id':1,'name':'a','required':true,'type':'long'}",
         "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':2}]", 2},
        {"source optional, target required", "{'id':1,'name':'a','required':false,'type':'long'}",
         "{'id':1,'name':'a','required':true,'type':'long'}", "[{'a':1},{'a':2}]", 2},
        {"other physical type", "{'id':1,'name':'a','required':false,'type':'int'}",
         "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':2}]", 2},
        {"other annotation", "{'id':1,'name':'a','required':false,'type':'long'}",
         "{'id':1,'name':'a','required':false,'type':'timestamp'}", "[{'a':1},{'a':2}]", 2},
        {"other zone", "{'id':1,'name':'a','required':false,'type':'timestamptz'}",
         "{'id':1,'name':'a','required':false,'type':'timestamp'}",
         "[{'a':'2026-01-01T00:00:00+00:00'},{'a':null}]", 2},
        {"other scale", "{'id':1,'name':'a','required':false,'type':'decimal(9,2)'}",
         "{'id':1,'name':'a','required':false,'type':'decimal(9,3)'}", "[{'a':'1.00'},{'a':null}]",
         2},
        {"text and binary", "{'id':1,'name':'a','required':false,'type':'string'}",
         "{'id':1,'name':'a','required':false,'type':'binary'}", "[{'a':'x'},{'a':null}]", 2},
        {"row count", "{'id':1,'name':'a','required':false,'type':'long'}",
         "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':2}]", 3},
        {"missing field", "{'id':7,'name':'a','required':false,'type':'long'}",
         "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':2}]", 2},
        {"other child ids",
         "{'id':1,'name':'a','required':false,'type':{'type':'struct','fields':["
         "{'id':2,'name':'x','required':false,'type':'int'},"
         "{'id':3,'name':'y','required':false,'type':'int'}]}}",
         "{'id':1,'name':'a','required':false,'type':{'type':'struct','fields':["
         "{'id':3,'name':'y','required':false,'type':'int'},"
         "{'id':2,'name':'x','required':false,'type':'int'}]}}",
         "[{'a':{'x':1,'y':2}},{'a':null}]", 2},
        {"a child more",
         "{'id':1,'name':'a','required':false,'type':{'type':'struct','fields':["
         "{'id':2,'name':'x','required':false,'type':'int'}]}}",
         "{'id':1,'name':'a','required':false,'type':{'type':'struct','fields':["
         "{'id':2,'name':'x','required':false,'type':'int'},"
         "{'id':3,'name':'y','required':false,'type':'int'}]}}",
         "[{'a':{'x':1}},{'a':null}]", 2},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        splice_test t;
        frz_error err = {0};
        frz_parquet_writer *w;
        bool done = true;
        splice_open(&t, *state);
        write_source(&t, cases[i].src, cases[i].rows, NULL);
        const frz_type *type = rows_type(&t.arena, cases[i].dst);
        assert_ok(frz_parquet_writer_open(t.env, t.dst, type, NULL, &w, &err), &err);
        assert_ok(frz_parquet_writer_begin_group(w, cases[i].group_rows, &err), &err);
        assert_ok(frz_parquet_writer_splice(w, 0, t.file, 0, 1, &done, &err), &err);
        if (done) {
            fail_msg("%s: copied", cases[i].why);
        }
        frz_parquet_writer_abort(w);
        splice_close(&t);
    }
}

static parquet_chunk *first_chunk(splice_test *t)
{
    frz_error err = {0};
    assert_ok(parquet_file_chunk((const parquet_file *)t->file, 0, 0, &t->chunk, &err), &err);
    return &t->chunk;
}

static void splice__damaged_places_of_chunks_are_not_copied(void **state)
{
    for (int damage = 0; damage < 7; damage++) {
        splice_test t;
        frz_error err = {0};
        frz_parquet_writer *w;
        bool done = true;
        splice_open(&t, *state);
        write_source(&t, "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':2}]",
                     NULL);
        parquet_chunk *chunk = first_chunk(&t);
        switch (damage) {
        case 0:
            chunk->total_compressed_size = (int64_t)1 << 40;
            break;
        case 1:
            chunk->data_page_offset = -8;
            break;
        case 2:
            chunk->encrypted = true;
            break;
        case 3:
            chunk->file_path = FRZ_STR("other.parquet");
            break;
        case 4:
            chunk->codec = 3;
            break;
        case 5:
            chunk->encodings |= PARQUET_OTHER_ENCODING;
            break;
        default:
            chunk->num_values = 1;
        }
        edit_chunk((parquet_file *)t.file, 0, 0, chunk);
        const frz_type *type = frz_data_file_type(t.file);
        assert_ok(frz_parquet_writer_open(t.env, t.dst, type, NULL, &w, &err), &err);
        assert_ok(frz_parquet_writer_begin_group(w, 2, &err), &err);
        assert_ok(frz_parquet_writer_splice(w, 0, t.file, 0, 1, &done, &err), &err);
        assert_false(done);
        frz_parquet_writer_abort(w);
        splice_close(&t);
    }
}

/* ---- what lies outside of the chunks ---- */

typedef struct outside {
    parquet_chunk chunk;
    bool has_offsets, has_bounds, has_bloom;
    parquet_kept_index *kept_offsets, *kept_bounds;
    parquet_offset_index offsets;
    parquet_column_index bounds;
    parquet_bloom bloom;
} outside;

static outside outside_of(splice_test *t, const frz_data_file *base, size_t group, size_t column)
{
    const parquet_file *file = (const parquet_file *)base;
    outside o = {.has_offsets = false};
    frz_error err = {0};
    assert_ok(parquet_file_chunk(file, group, column, &o.chunk, &err), &err);
    assert_ok(parquet_offset_index_get(file, &o.chunk, column, group, &o.kept_offsets, &err), &err);
    o.has_offsets = o.kept_offsets != NULL;
    if (o.has_offsets) {
        o.offsets = o.kept_offsets->offsets;
        assert_ok(parquet_column_index_get(file, &o.chunk, column, group, o.offsets.count,
                                           &o.kept_bounds, &err),
                  &err);
    }
    o.has_bounds = o.kept_bounds != NULL;
    if (o.has_bounds) {
        o.bounds = o.kept_bounds->bounds;
    }
    assert_ok(
        parquet_bloom_load(file, &o.chunk, column, group, &t->arena, &o.bloom, &o.has_bloom, &err),
        &err);
    return o;
}

static void outside_reset(outside *o)
{
    parquet_kept_index_unref(o->kept_offsets);
    parquet_kept_index_unref(o->kept_bounds);
}

static void check_same_counts(const parquet_chunk *x, const parquet_chunk *y)
{
    assert_true(frz_str_equal(x->encoding_stats.bytes, y->encoding_stats.bytes));
    assert_int_equal(x->sizes.has_unencoded_bytes, y->sizes.has_unencoded_bytes);
    assert_int_equal(x->sizes.unencoded_bytes, y->sizes.unencoded_bytes);
    assert_true(frz_str_equal(x->sizes.repetition_levels.bytes, y->sizes.repetition_levels.bytes));
    assert_true(frz_str_equal(x->sizes.definition_levels.bytes, y->sizes.definition_levels.bytes));
}

static void check_same_outside(const outside *x, const outside *y)
{
    assert_true(x->has_offsets && y->has_offsets);
    assert_int_equal(x->offsets.count, y->offsets.count);
    for (size_t i = 0; i < x->offsets.count; i++) {
        const parquet_page_location *a = &x->offsets.pages[i];
        const parquet_page_location *b = &y->offsets.pages[i];
        assert_int_equal(a->offset - (uint64_t)x->chunk.data_page_offset,
                         b->offset - (uint64_t)y->chunk.data_page_offset);
        assert_int_equal(a->size, b->size);
        assert_int_equal(a->first_row, b->first_row);
        assert_int_equal(x->offsets.byte_sizes != NULL, y->offsets.byte_sizes != NULL);
        if (x->offsets.byte_sizes != NULL) {
            assert_int_equal(x->offsets.byte_sizes[i], y->offsets.byte_sizes[i]);
        }
    }
    assert_int_equal(x->has_bounds, y->has_bounds);
    if (x->has_bounds) {
        assert_true(frz_str_equal(x->bounds.bytes, y->bounds.bytes));
    }
    assert_int_equal(x->has_bloom, y->has_bloom);
    if (x->has_bloom) {
        assert_int_equal(x->bloom.bits_size, y->bloom.bits_size);
        assert_memory_equal(x->bloom.bits, y->bloom.bits, x->bloom.bits_size);
        assert_int_equal(x->chunk.bloom_filter_length, y->chunk.bloom_filter_length);
    }
    check_same_counts(&x->chunk, &y->chunk);
}

static void splice__indexes_counts_and_filters_come_along(void **state)
{
    static const size_t columns[4] = {5, 3, 4, 0}; /* e, d.x, d.y, a */
    static const frz_parquet_bloom_column blooms[] = {{"a", 0, 0}, {"d.element.y", 0.1, 0}};
    const frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                            .page_rows = 2,
                                            .group_rows = 4,
                                            .blooms = blooms,
                                            .bloom_count = 2};
    splice_test t;
    frz_parquet_written written;
    splice_open(&t, *state);
    write_source(&t, FIELDS, ROWS, &opts);
    const frz_type *type =
        rows_type(&t.arena, "{'id':8,'name':'e','required':false,'type':'date'},"
                            "{'id':4,'name':'d','required':false,'type':{'type':'list',"
                            "'element-id':5,'element-required':false,'element':{'type':'struct',"
                            "'fields':[{'id':6,'name':'x','required':false,'type':'int'},"
                            "{'id':7,'name':'y','required':true,'type':'string'}]}}},"
                            "{'id':1,'name':'a','required':true,'type':'long'}");
    frz_data_file *out = splice_all(&t, type, &written);
    for (size_t g = 0; g < 2; g++) {
        for (size_t c = 0; c < 4; c++) {
            outside x = outside_of(&t, t.file, g, columns[c]);
            outside y = outside_of(&t, out, g, c);
            assert_int_equal(x.offsets.count, g == 0 ? 2 : 1);
            assert_int_equal(x.has_bloom, c >= 2);
            check_same_outside(&x, &y);
            outside_reset(&x);
            outside_reset(&y);
        }
    }
    frz_data_file_close(out);
    splice_close(&t);
}

static void splice__page_bounds_without_an_order_stay_behind(void **state)
{
    splice_test t;
    frz_parquet_written written;
    splice_open(&t, *state);
    write_source(&t, "{'id':1,'name':'a','required':false,'type':'string'}",
                 "[{'a':'x'},{'a':'y'}]", NULL);
    ((parquet_file *)t.file)->metadata.column_orders = NULL;
    frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
    outside x = outside_of(&t, t.file, 0, 0);
    outside y = outside_of(&t, out, 0, 0);
    assert_true(x.has_bounds && y.has_offsets);
    assert_false(y.has_bounds);
    outside_reset(&x);
    outside_reset(&y);
    frz_data_file_close(out);
    splice_close(&t);
}

/* Writers may leave null structs out of the nulls of what is in them. */
static void splice__page_null_counts_in_doubt_stay_behind(void **state)
{
    splice_test t;
    frz_parquet_written written;
    splice_open(&t, *state);
    write_source(&t,
                 "{'id':1,'name':'s','required':false,'type':{'type':'struct','fields':["
                 "{'id':2,'name':'a','required':false,'type':'long'}]}}",
                 "[{'s':{'a':1}},{},{'s':{'a':null}}]", NULL);
    ((parquet_file *)t.file)->metadata.created_by = FRZ_STR("another");
    frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
    outside x = outside_of(&t, t.file, 0, 0);
    outside y = outside_of(&t, out, 0, 0);
    assert_true(x.has_bounds && y.has_offsets);
    assert_false(y.has_bounds);
    outside_reset(&x);
    outside_reset(&y);
    frz_data_file_close(out);
    splice_close(&t);
}

/* Rows of lists that a writer is known to count wrongly would be believed under our name. */
static void splice__rows_of_pages_in_doubt_stay_behind(void **state)
{
    splice_test t;
    frz_parquet_written written;
    splice_open(&t, *state);
    write_source(&t, FIELDS, ROWS, NULL);
    ((parquet_file *)t.file)->metadata.created_by = FRZ_STR("ClickHouse v25.3.1.1");
    frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
    for (size_t column = 0; column < 6; column++) {
        outside x = outside_of(&t, t.file, 0, column);
        outside y = outside_of(&t, out, 0, column);
        bool is_list = column == 3 || column == 4;
        assert_true(x.has_offsets && x.has_bounds);
        assert_int_equal(y.has_offsets, !is_list);
        assert_true(is_list ? !y.has_bounds : true);
        outside_reset(&x);
        outside_reset(&y);
    }
    check_same_rows(t.env, t.file, out, frz_data_file_type(t.file));
    frz_data_file_close(out);
    splice_close(&t);
}

/* Arrow before version 12 wrote the number of values where pages of version 2 tell rows. */
static void splice__pages_of_lists_that_tell_no_rows_are_not_copied(void **state)
{
    static const struct {
        const char *created_by;
        int page_version;
        bool copied;
    } cases[] = {{"parquet-cpp-arrow version 11.0.0", 2, false},
                 {"parquet-cpp version 1.5.1", 2, false},
                 {"parquet-cpp-arrow version 11.0.0", 1, true},
                 {"parquet-cpp-arrow version 12.0.0", 2, true}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        splice_test t;
        frz_error err = {0};
        frz_parquet_writer *w;
        const frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                                .page_version = cases[i].page_version};
        splice_open(&t, *state);
        write_source(&t, FIELDS, ROWS, &opts);
        ((parquet_file *)t.file)->metadata.created_by = frz_str_from(cases[i].created_by);
        const frz_type *type = frz_data_file_type(t.file);
        assert_ok(frz_parquet_writer_open(t.env, t.dst, type, NULL, &w, &err), &err);
        assert_ok(frz_parquet_writer_begin_group(w, 5, &err), &err);
        for (size_t field = 0; field < 4; field++) { /* the last is the list */
            bool done = false;
            assert_ok(
                frz_parquet_writer_splice(w, field, t.file, 0, type->fields[field].id, &done, &err),
                &err);
            assert_int_equal(done, field < 3 || cases[i].copied);
        }
        frz_parquet_writer_abort(w);
        splice_close(&t);
    }
}

/* Overwrite bytes of the source file and open it again. */
static void damage_source(splice_test *t, int64_t offset, const void *bytes, size_t len)
{
    frz_error err = {0};
    FILE *f = fopen(t->src, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    frz_data_file_close(t->file);
    t->file = NULL;
    assert_ok(frz_data_file_open(t->env, t->src, NULL, &t->file, &err), &err);
}

static void splice__damaged_indexes_and_filters_stay_behind(void **state)
{
    static const frz_parquet_bloom_column bloom = {"a", 0, 0};
    static const uint8_t junk[4] = {0xff, 0xff, 0xff, 0xff};
    const frz_parquet_write_options opts = {
        .struct_size = sizeof opts, .blooms = &bloom, .bloom_count = 1};
    for (int i = 0; i < 3; i++) {
        splice_test t;
        frz_parquet_written written;
        splice_open(&t, *state);
        write_source(&t, "{'id':1,'name':'a','required':false,'type':'string'}",
                     "[{'a':'x'},{'a':'y'}]", &opts);
        const parquet_chunk *chunk = first_chunk(&t);
        const int64_t places[3] = {chunk->offset_index_offset, chunk->column_index_offset,
                                   chunk->bloom_filter_offset};
        damage_source(&t, places[i], junk, sizeof junk);
        frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
        outside y = outside_of(&t, out, 0, 0);
        assert_int_equal(y.has_offsets, i != 0);
        assert_int_equal(y.has_bounds, i == 2);
        assert_int_equal(y.has_bloom, i != 2);
        outside_reset(&y);
        check_same_rows(t.env, t.file, out, frz_data_file_type(t.file));
        frz_data_file_close(out);
        splice_close(&t);
    }
}

/* Counts of levels as bytes: each is below 64 and takes one, twice the number. */
static void splice__counts_of_levels_that_cannot_be_right_stay_behind(void **state)
{
    /* d.x: [1 -] [] - [-] [2 3] has 7 levels, 5 of them begin rows */
    static const struct {
        const char *reps, *defs;
        bool good;
    } tries[] = {{"\12\4", "\2\2\2\2\6", true},
                 {"\12\4", "", true},
                 {"", "\2\2\2\2\6", true},
                 {"\14\2", "\2\2\2\2\6", false},
                 {"\12\6", "\2\2\2\2\10", false},
                 {"\12\4", "\2\2\2\2\10", false},
                 {"\12\4", "\2\2\2\1\12", false},
                 {"\12\4\2", "", false},
                 {"", "\16", false}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        splice_test t;
        frz_parquet_written written;
        splice_open(&t, *state);
        write_source(&t, FIELDS, ROWS, NULL);
        outside x = outside_of(&t, t.file, 0, 3);
        if (i == 0) {
            assert_true(frz_str_equal(x.chunk.sizes.repetition_levels.bytes, FRZ_STR("\12\4")));
            assert_int_equal(x.bounds.rep_levels.count, 2);
        }
        frz_str reps = frz_str_from(tries[i].reps);
        frz_str defs = frz_str_from(tries[i].defs);
        x.chunk.sizes.repetition_levels = (parquet_encoded_list){reps, reps.len};
        x.chunk.sizes.definition_levels = (parquet_encoded_list){defs, defs.len};
        edit_chunk((parquet_file *)t.file, 0, 3, &x.chunk);
        outside_reset(&x);
        frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
        parquet_chunk chunk;
        frz_error err = {0};
        assert_ok(parquet_file_chunk((parquet_file *)out, 0, 3, &chunk, &err), &err);
        assert_int_equal(chunk.sizes.repetition_levels.count, tries[i].good ? reps.len : 0);
        assert_int_equal(chunk.sizes.definition_levels.count, tries[i].good ? defs.len : 0);
        frz_data_file_close(out);
        splice_close(&t);
    }
}

/* The same of pages, which lie in the column index. */
static void splice__counts_of_levels_in_pages_are_looked_at(void **state)
{
    const frz_parquet_write_options opts = {.struct_size = sizeof opts, .page_rows = 2};
    for (int i = 0; i < 5; i++) {
        splice_test t;
        frz_parquet_written written;
        splice_open(&t, *state);
        write_source(&t, FIELDS, ROWS, &opts);
        outside x = outside_of(&t, t.file, 0, 3);
        const parquet_column_index *index = &x.bounds;
        assert_int_equal(index->count, 3);
        frz_str counts = i < 3 ? index->rep_levels.bytes : index->def_levels.bytes;
        assert_int_equal(counts.len, i < 3 ? 6 : 15);
        int64_t place =
            x.chunk.column_index_offset + (counts.ptr - index->bytes.ptr) + (i < 3 ? 2 * i : 3 * i);
        uint8_t more = (uint8_t)(counts.ptr[i < 3 ? 2 * i : 3 * i] + 2);
        outside_reset(&x);
        damage_source(&t, place, &more, 1);
        frz_data_file *out = splice_all(&t, frz_data_file_type(t.file), &written);
        outside y = outside_of(&t, out, 0, 3);
        assert_true(y.has_offsets);
        assert_false(y.has_bounds);
        outside_reset(&y);
        frz_data_file_close(out);
        splice_close(&t);
    }
}

/* ---- members of a struct ---- */

#define MEMBER_X "{'id':3,'name':'x','required':false,'type':'int'}"
#define MEMBER_Y "{'id':4,'name':'y','required':false,'type':'string'}"
#define MEMBER_Z                                                                                   \
    "{'id':5,'name':'z','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':6,'name':'u','required':false,'type':'double'}]}}"
#define MEMBER_N "{'id':7,'name':'n','required':false,'type':'long'}"
#define FIELD_A "{'id':1,'name':'a','required':true,'type':'long'}"
#define STRUCT_OF(members)                                                                         \
    "{'id':2,'name':'s','required':true,'type':{'type':'struct','fields':[" members "]}}"

#define SOURCE_TYPE FIELD_A "," STRUCT_OF(MEMBER_X "," MEMBER_Y "," MEMBER_Z)
#define SOURCE_ROWS                                                                                \
    "[{'a':1,'s':{'x':1,'y':'p','z':{'u':0.5}}},{'a':2,'s':{'x':null,'y':'q','z':null}},"          \
    "{'a':3,'s':{'x':3,'z':{'u':null}}}]"
/* z as in the source; x has other values, n is new, y is left out */
#define TARGET_TYPE FIELD_A "," STRUCT_OF(MEMBER_Z "," MEMBER_X "," MEMBER_N)
#define TARGET_ROWS                                                                                \
    "[{'a':1,'s':{'z':{'u':0.5},'x':10,'n':7}},{'a':2,'s':{'z':null,'x':20,'n':null}},"            \
    "{'a':3,'s':{'z':{'u':null},'x':null,'n':9}}]"

static bool same_values(const frz_type *type, const struct ArrowArray *x,
                        const struct ArrowArray *y, int64_t i)
{
    bool same = frz_is_null(x, i) == frz_is_null(y, i);
    if (!same || frz_is_null(x, i)) {
        return same;
    }
    if (type->id != FRZ_TYPE_STRUCT) {
        frz_value v = frz_value_at(type, x, i), u = frz_value_at(type, y, i);
        return frz_value_compare(&v, &u, true) == 0;
    }
    for (size_t k = 0; same && k < type->field_count; k++) { /* made and read without an offset */
        same = same_values(type->fields[k].type, x->children[k], y->children[k], i);
    }
    return same;
}

static void check_holds(const frz_data_file *file, const struct ArrowArray *rows)
{
    frz_error err = {0};
    frz_data_reader *reader;
    frz_batch batch;
    const frz_type *type = frz_data_file_type(file);
    const frz_read_request request = {.projection = type};
    assert_ok(frz_data_reader_open(file, &request, &reader, &err), &err);
    assert_ok(frz_data_reader_next(reader, &batch, &err), &err);
    assert_int_equal(batch.array.length, rows->length);
    for (int64_t i = 0; i < rows->length; i++) {
        assert_true(same_values(type, &batch.array, rows, i));
    }
    frz_array_release(&batch.array);
    assert_int_equal(frz_data_reader_next(reader, &batch, &err), FRZ_END);
    frz_data_reader_close(reader);
}

/* A file of rows whose second field is put together: bit k: member k is encoded, else copied. If
 * that cannot be done (*done), the rest of the file is written in the usual way. */
static frz_code write_members(const frz_env *env, const splice_test *t, const frz_data_file *src,
                              const frz_type *type, const struct ArrowArray *rows, unsigned encoded,
                              bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_writer *w = NULL, *finished = NULL;
    const struct ArrowArray *members[4] = {NULL};
    for (size_t k = 0; k < 4; k++) {
        members[k] = encoded >> k & 1 ? rows->children[1]->children[k] : NULL;
    }
    FRZ_TRY(frz_parquet_writer_open(env, t->dst, type, NULL, &w, err));
    FRZ_TRY(frz_parquet_writer_begin_group(w, rows->length, err));
    FRZ_TRY(frz_parquet_writer_append_column(w, 0, rows->children[0], err));
    FRZ_TRY(frz_parquet_writer_splice_members(w, 1, src, 0, 2, members, done, err));
    if (!*done) {
        FRZ_TRY(frz_parquet_writer_append_column(w, 1, rows->children[1], err));
    }
    FRZ_TRY(frz_parquet_writer_end_group(w, err));
    finished = w;
    w = NULL;
    rc = frz_parquet_writer_finish(finished, false, NULL, NULL, err);
out:
    frz_parquet_writer_abort(w);
    return rc;
}

static void members__some_are_copied_and_others_encoded(void **state)
{
    splice_test t;
    frz_error err = {0};
    frz_data_file *out = NULL;
    bool done = false;
    splice_open(&t, *state);
    write_source(&t, SOURCE_TYPE, SOURCE_ROWS, NULL);
    const frz_type *type = rows_type(&t.arena, TARGET_TYPE);
    struct ArrowArray rows = rows_batch(t.env, type, TARGET_ROWS);
    assert_ok(write_members(t.env, &t, t.file, type, &rows, 6, &done, &err), &err);
    assert_true(done);
    assert_ok(frz_data_file_open(t.env, t.dst, NULL, &out, &err), &err);
    check_same_bytes(&t, t.file, 3, out, 1, 0); /* z.u */
    check_holds(out, &rows);
    frz_data_file_close(out);
    frz_array_release(&rows);
    splice_close(&t);
}

/* A member that cannot be copied: nothing is written, and the caller encodes all of them. */
static void members__what_does_not_fit_is_left_to_the_caller(void **state)
{
    static const struct {
        const char *why, *type, *rows;
        unsigned encoded;
    } cases[] = {
        {"not in the source", TARGET_TYPE, TARGET_ROWS, 2},
        {"another type",
         FIELD_A "," STRUCT_OF("{'id':3,'name':'x','required':false,'type':'long'}"),
         "[{'a':1,'s':{'x':1}},{'a':2,'s':{'x':2}},{'a':3,'s':{'x':3}}]", 0},
        {"another count of rows", FIELD_A "," STRUCT_OF(MEMBER_X), "[{'a':1,'s':{'x':1}}]", 0},
        {"a struct that may be null",
         FIELD_A ",{'id':2,'name':'s','required':false,'type':{'type':'struct','fields':[" MEMBER_X
                 "]}}",
         "[{'a':1,'s':{'x':1}},{'a':2,'s':null},{'a':3,'s':{'x':3}}]", 0},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        splice_test t;
        frz_error err = {0};
        frz_data_file *out = NULL;
        bool done = false;
        splice_open(&t, *state);
        write_source(&t, SOURCE_TYPE, SOURCE_ROWS, NULL);
        const frz_type *type = rows_type(&t.arena, cases[i].type);
        struct ArrowArray rows = rows_batch(t.env, type, cases[i].rows);
        assert_ok(write_members(t.env, &t, t.file, type, &rows, cases[i].encoded, &done, &err),
                  &err);
        if (done) {
            fail_msg("%s: copied", cases[i].why);
        }
        assert_ok(frz_data_file_open(t.env, t.dst, NULL, &out, &err), &err);
        check_holds(out, &rows);
        frz_data_file_close(out);
        frz_array_release(&rows);
        splice_close(&t);
    }
}

static void members__encoded_ones_have_all_rows_of_the_group(void **state)
{
    splice_test t;
    frz_error err = {0};
    bool done = false;
    splice_open(&t, *state);
    write_source(&t, SOURCE_TYPE, SOURCE_ROWS, NULL);
    const frz_type *type = rows_type(&t.arena, FIELD_A "," STRUCT_OF(MEMBER_X));
    struct ArrowArray rows =
        rows_batch(t.env, type, "[{'a':1,'s':{'x':1}},{'a':2,'s':{'x':2}},{'a':3,'s':{'x':3}}]");
    rows.children[1]->children[0]->length = 2;
    assert_fails(write_members(t.env, &t, t.file, type, &rows, 1, &done, &err), &err,
                 FRZ_E_ARGUMENT, "column \"s.x\" got 2 rows, its row group has 3");
    rows.children[1]->children[0]->length = 3;
    frz_array_release(&rows);
    splice_close(&t);
}

/* For a scenario without a context. */
static splice_test *members_test;
static struct ArrowArray *members_rows;

static frz_code scenario_members(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *src = NULL;
    bool done = false;
    unlink(members_test->dst);
    FRZ_TRY(frz_data_file_open(env, members_test->src, NULL, &src, err));
    FRZ_TRY(write_members(env, members_test, src, rows_type(&members_test->arena, TARGET_TYPE),
                          members_rows, 6, &done, err));
    assert_true(done);
out:
    frz_data_file_close(src);
    return rc;
}

static void alloc__members_give_back_what_they_took(void **state)
{
    splice_test t;
    splice_open(&t, *state);
    write_source(&t, SOURCE_TYPE, SOURCE_ROWS, NULL);
    struct ArrowArray rows = rows_batch(t.env, rows_type(&t.arena, TARGET_TYPE), TARGET_ROWS);
    members_test = &t;
    members_rows = &rows;
    assert_true(test_fail_every_allocation(scenario_members) > 20);
    frz_array_release(&rows);
    splice_close(&t);
}

/* ---- statistics of others ---- */

static void check_bounds(splice_test *t, bool lower, bool upper, int tight)
{
    frz_error err = {0};
    frz_field_stats *stats;
    size_t count;
    edit_chunk((parquet_file *)t->file, 0, 0, &t->chunk);
    assert_ok(
        frz_parquet_metrics(t->file, frz_data_file_type(t->file), &t->arena, &stats, &count, &err),
        &err);
    assert_int_equal(count, 1);
    assert_int_equal(stats[0].has_lower, lower);
    assert_int_equal(stats[0].has_upper, upper);
    assert_int_equal(stats[0].tight_bounds, tight);
}

static void metrics__doubtful_statistics_are_unknown(void **state)
{
    splice_test t;
    splice_open(&t, *state);
    write_source(&t, "{'id':1,'name':'a','required':false,'type':'string'}",
                 "[{'a':'x'},{'a':'y'}]", NULL);
    parquet_statistics *s = &first_chunk(&t)->statistics;
    parquet_metadata *m = &((parquet_file *)t.file)->metadata;
    const parquet_statistics good = *s;
    check_bounds(&t, true, true, 1);
    s->min_exact = s->max_exact = -1;
    check_bounds(&t, true, true, -1);
    s->max_exact = 0;
    check_bounds(&t, true, true, 0);
    *s = good;
    s->min_value = FRZ_STR("z"); /* above the upper bound */
    check_bounds(&t, false, false, -1);
    *s = good;
    s->max_value = FRZ_STR("\xff");
    check_bounds(&t, true, false, -1);
    *s = good;
    s->max_value = (frz_str){NULL, 0};
    check_bounds(&t, true, false, -1);
    *s = good;
    const int8_t *orders = m->column_orders;
    m->column_orders =
        NULL; /* without an order bounds mean nothing, the old pair of texts never did */
    s->min = FRZ_STR("x");
    s->max = FRZ_STR("y");
    check_bounds(&t, false, false, -1);
    m->column_orders = orders;
    *s = good;
    splice_close(&t);
}

static void metrics__old_bounds_of_signed_numbers_count(void **state)
{
    splice_test t;
    splice_open(&t, *state);
    write_source(&t, "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':-1},{'a':2}]",
                 NULL);
    parquet_statistics *s = &first_chunk(&t)->statistics;
    parquet_metadata *m = &((parquet_file *)t.file)->metadata;
    m->column_orders = NULL;
    s->min_exact = s->max_exact = -1;
    check_bounds(&t, false, false, -1);
    s->min = s->min_value;
    s->max = s->max_value;
    check_bounds(&t, true, true, 1);
    s->max.len = 4; /* of another width */
    check_bounds(&t, true, false, -1);
    splice_close(&t);
}

static void metrics__a_nan_is_never_a_bound_and_its_count_may_be_unknown(void **state)
{
    static const double nan_value = __builtin_nan("");
    splice_test t;
    splice_open(&t, *state);
    write_source(&t, "{'id':1,'name':'a','required':false,'type':'double'}", "[{'a':-1},{'a':2}]",
                 NULL);
    parquet_statistics *s = &first_chunk(&t)->statistics;
    check_bounds(&t, true, true, 1);
    s->has_nan_count = false;
    check_bounds(&t, true, true, -1);
    s->max_value = (frz_str){(const char *)&nan_value, 8};
    check_bounds(&t, true, false, -1);
    splice_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(splice__copies_bytes_and_values_in_any_order),
        TEST_WITH_ENV(splice__neighbours_are_copied_in_one_piece),
        TEST_WITH_ENV(splice__metrics_and_statistics_are_carried_over),
        TEST_WITH_ENV(splice__mixes_with_encoded_columns),
        TEST_WITH_ENV(splice__what_does_not_fit_is_left_to_the_caller),
        TEST_WITH_ENV(splice__pages_of_lists_that_tell_no_rows_are_not_copied),
        TEST_WITH_ENV(members__some_are_copied_and_others_encoded),
        TEST_WITH_ENV(members__what_does_not_fit_is_left_to_the_caller),
        TEST_WITH_ENV(members__encoded_ones_have_all_rows_of_the_group),
        TEST_WITH_ENV(alloc__members_give_back_what_they_took),
        TEST_WITH_ENV(splice__damaged_places_of_chunks_are_not_copied),
        TEST_WITH_ENV(splice__indexes_counts_and_filters_come_along),
        TEST_WITH_ENV(splice__page_bounds_without_an_order_stay_behind),
        TEST_WITH_ENV(splice__page_null_counts_in_doubt_stay_behind),
        TEST_WITH_ENV(splice__rows_of_pages_in_doubt_stay_behind),
        TEST_WITH_ENV(splice__damaged_indexes_and_filters_stay_behind),
        TEST_WITH_ENV(splice__counts_of_levels_that_cannot_be_right_stay_behind),
        TEST_WITH_ENV(splice__counts_of_levels_in_pages_are_looked_at),
        TEST_WITH_ENV(metrics__doubtful_statistics_are_unknown),
        TEST_WITH_ENV(metrics__old_bounds_of_signed_numbers_count),
        TEST_WITH_ENV(metrics__a_nan_is_never_a_bound_and_its_count_may_be_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
