/* The public writer: options by column name, arrays that contradict themselves, unfinished files.
 */
#include <stdlib.h>
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"
#include "frazil/parquet.h"
#include "unit/format/parquet_rows.h"

#define FIELDS                                                                                     \
    "{'id':1,'name':'a','required':false,'type':'long'},"                                          \
    "{'id':2,'name':'b','required':false,'type':{'type':'list','element-id':3,"                    \
    "'element-required':false,'element':{'type':'struct','fields':["                               \
    "{'id':6,'name':'X','required':false,'type':'string'},"                                        \
    "{'id':7,'name':'x','required':false,'type':'string'}]}}},"                                    \
    "{'id':4,'name':'c','required':false,'type':'double'},"                                        \
    "{'id':5,'name':'f','required':false,'type':'boolean'}"
#define ROWS                                                                                       \
    "[{'a':1,'b':[{'X':'p','x':'q'},null],'c':0.5,'f':true},{'c':2.5,'f':false},"                  \
    "{'a':3,'b':[],'c':-1.0},{'a':2,'b':[{'X':'pq'}]}]"

typedef struct fixture {
    const frz_env *env;
    char folder[64], path[96];
    frz_arena arena;
    const frz_type *type;
    struct ArrowSchema schema;
    frz_error err;
} fixture;

static void fixture_init(fixture *f, void **state)
{
    *f = (fixture){.env = *state};
    snprintf(f->folder, sizeof f->folder, "/tmp/parquet-writer-api-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/a.parquet", f->folder);
    frz_arena_init(&f->arena, f->env, FRZ_ARENA_NO_LIMIT);
    f->type = rows_type(&f->arena, FIELDS);
    assert_ok(frz_type_to_arrow(f->env, f->type, &f->schema, &f->err), &f->err);
}

static void fixture_reset(fixture *f)
{
    f->schema.release(&f->schema);
    frz_arena_reset(&f->arena);
    unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0);
}

static frz_data_file *write_file(fixture *f, const frz_parquet_write_options *opts)
{
    frz_parquet_writer *w;
    frz_parquet_writer_info info;
    frz_data_file *file;
    struct ArrowArray batch = rows_batch(f->env, f->type, ROWS);
    assert_ok(frz_parquet_writer_create(f->env, f->path, &f->schema, opts, &w, &f->err), &f->err);
    assert_ok(frz_parquet_writer_write(w, &batch, &f->err), &f->err);
    assert_ok(frz_parquet_writer_end_group(w, &f->err), &f->err);
    assert_ok(frz_parquet_writer_write(w, &batch, &f->err), &f->err);
    assert_ok(frz_parquet_writer_close(w, &info, &f->err), &f->err);
    batch.release(&batch);
    assert_ok(frz_data_file_open(f->env, f->path, NULL, &file, &f->err), &f->err);
    assert_int_equal(info.rows, 8);
    assert_int_equal(info.groups, 2);
    assert_int_equal(info.file_size, frz_data_file_size(file));
    return file;
}

static parquet_chunk chunk_of(const frz_data_file *file, size_t column)
{
    parquet_chunk chunk;
    frz_error err = {0};
    assert_ok(parquet_file_chunk((const parquet_file *)file, 1, column, &chunk, &err), &err);
    return chunk;
}

/* What a test owns is not released by others. */
static void lent_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void lent_array(struct ArrowArray *array)
{
    (void)array;
}

/* ---- columns by name ---- */

static void columns__are_found_by_every_spelling_of_their_name(void **state)
{
    static const frz_parquet_column_encoding encodings[] = {
        {"A", FRZ_PARQUET_PLAIN},
        {"b.element.X", FRZ_PARQUET_DELTA_LENGTH_BYTE_ARRAY},
        {"b.list.element.x", FRZ_PARQUET_DELTA_BYTE_ARRAY},
        {"f", FRZ_PARQUET_RLE},
        {"c", FRZ_PARQUET_RLE_DICTIONARY}};
    static const parquet_encoding wanted[] = {PARQUET_PLAIN, PARQUET_DELTA_LENGTH_BYTE_ARRAY,
                                              PARQUET_DELTA_BYTE_ARRAY, PARQUET_RLE_DICTIONARY,
                                              PARQUET_RLE};
    fixture f;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    fixture_init(&f, state);
    opts.encodings = encodings;
    opts.encoding_count = FRZ_ARRAY_COUNT(encodings);
    frz_data_file *file = write_file(&f, &opts);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wanted); i++) {
        assert_true((chunk_of(file, i).encodings >> wanted[i] & 1) != 0);
    }
    frz_data_file_close(file);
    fixture_reset(&f);
}

static void check_refused(void **state, const char *column, frz_parquet_encoding encoding,
                          const char *phrase)
{
    fixture f;
    const frz_parquet_column_encoding wanted = {column, encoding};
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *w;
    fixture_init(&f, state);
    opts.encodings = &wanted;
    opts.encoding_count = 1;
    assert_fails(frz_parquet_writer_create(f.env, f.path, &f.schema, &opts, &w, &f.err), &f.err,
                 FRZ_E_ARGUMENT, phrase);
    assert_int_not_equal(access(f.path, F_OK), 0);
    fixture_reset(&f);
}

static void encodings__one_that_a_type_cannot_have_is_refused(void **state)
{
    check_refused(state, "c", FRZ_PARQUET_DELTA_BINARY_PACKED,
                  "column \"c\" of type double (DOUBLE) cannot have encoding DELTA_BINARY_PACKED");
    check_refused(state, "f", FRZ_PARQUET_RLE_DICTIONARY, "cannot have encoding RLE_DICTIONARY");
    check_refused(state, "a", FRZ_PARQUET_RLE, "cannot have encoding RLE (3)");
    check_refused(state, "a", (frz_parquet_encoding)14, "cannot have encoding unknown (14)");
    check_refused(state, "b.element.x", FRZ_PARQUET_BYTE_STREAM_SPLIT,
                  "column \"b.element.x\" of type string (BYTE_ARRAY)");
}

static void columns__that_are_not_there_are_refused(void **state)
{
    check_refused(state, "nothing", FRZ_PARQUET_PLAIN, "is named \"nothing\"");
    check_refused(state, "b", FRZ_PARQUET_PLAIN, "is named \"b\"");
    check_refused(state, "b.list.element", FRZ_PARQUET_PLAIN, "is named");
    check_refused(state, "B.element.x", FRZ_PARQUET_PLAIN, "is named"); /* which of two? */
    check_refused(state, "", FRZ_PARQUET_PLAIN, "is named");
}

static void sorting__is_told_of_every_group(void **state)
{
    static const frz_parquet_sorted_column sorted[] = {{"c", true, false},
                                                       {"b.element.X", false, true}};
    fixture f;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    fixture_init(&f, state);
    opts.sorted = sorted;
    opts.sorted_count = 2;
    frz_data_file *file = write_file(&f, &opts);
    const parquet_metadata *m = &((const parquet_file *)file)->metadata;
    for (size_t g = 0; g < 2; g++) {
        const parquet_sorting_column *s = m->groups[g].sorting;
        assert_int_equal(m->groups[g].sorting_count, 2);
        assert_true(s[0].column == 3 && s[0].descending && !s[0].nulls_first);
        assert_true(s[1].column == 1 && !s[1].descending && s[1].nulls_first);
    }
    frz_data_file_close(file);
    fixture_reset(&f);
}

/* ---- bloom filters ---- */

static void check_bloom_refused(void **state, frz_parquet_bloom_column wanted, const char *phrase)
{
    fixture f;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *w;
    fixture_init(&f, state);
    opts.blooms = &wanted;
    opts.bloom_count = 1;
    assert_fails(frz_parquet_writer_create(f.env, f.path, &f.schema, &opts, &w, &f.err), &f.err,
                 FRZ_E_ARGUMENT, phrase);
    fixture_reset(&f);
}

static void blooms__without_sense_are_refused(void **state)
{
    check_bloom_refused(state, (frz_parquet_bloom_column){"f", 0, 0},
                        "\"f\" of type boolean cannot have a bloom filter");
    check_bloom_refused(state, (frz_parquet_bloom_column){"a", 1, 0}, "1 is not a share below 1");
    check_bloom_refused(state, (frz_parquet_bloom_column){"a", __builtin_nan(""), 0},
                        "is not a share below 1");
    check_bloom_refused(state, (frz_parquet_bloom_column){"a", 0, -1}, "-1 distinct values");
    check_bloom_refused(state, (frz_parquet_bloom_column){"z", 0, 0}, "is named \"z\"");
}

/* A batch of one long column. */
static struct ArrowArray long_batch(fixture *f, int64_t rows, int64_t distinct)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray column, batch;
    assert_ok(frz_buffer_new(f->env, (size_t)rows * 8, &buffers[1], &f->err), &f->err);
    for (int64_t i = 0; i < rows; i++) {
        ((int64_t *)(void *)buffers[1]->data)[i] =
            (int64_t)((uint64_t)(i % distinct) * 0x9e3779b97f4a7c15u);
    }
    assert_ok(frz_array_make(f->env, rows, 0, buffers, 2, NULL, 0, &column, &f->err), &f->err);
    assert_ok(frz_batch_make(f->env, rows, &column, 1, &batch, &f->err), &f->err);
    return batch;
}

/* The size of a filter follows from the distinct values, whether their hashes were kept or not. */
static void blooms__are_as_large_as_the_distinct_values_need(void **state)
{
    static const struct {
        int64_t rows, distinct;
        int32_t least, most;
    } cases[] = {{1000, 1, 0, 100},
                 {1000, 1000, 1024, 2100},
                 {400000, 1000, 1024, 2100},
                 {350000, 350000, 262144, 524400}};
    fixture f;
    fixture_init(&f, state);
    const frz_parquet_bloom_column wanted = {"l", 0.01, 0};
    const frz_parquet_column_encoding plain = {"l", FRZ_PARQUET_PLAIN};
    const frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                            .blooms = &wanted,
                                            .bloom_count = 1,
                                            .encodings = &plain,
                                            .encoding_count = 1};
    const frz_type *type = rows_type(&f.arena, "{'id':1,'name':'l','required':true,'type':'long'}");
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_parquet_writer *w;
        frz_data_file *file;
        parquet_chunk chunk;
        struct ArrowArray batch = long_batch(&f, cases[i].rows, cases[i].distinct);
        unlink(f.path);
        assert_ok(frz_parquet_writer_open(f.env, f.path, type, &opts, &w, &f.err), &f.err);
        assert_ok(frz_parquet_writer_write(w, &batch, &f.err), &f.err);
        assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &f.err), &f.err);
        batch.release(&batch);
        assert_ok(frz_data_file_open(f.env, f.path, NULL, &file, &f.err), &f.err);
        assert_ok(parquet_file_chunk((const parquet_file *)file, 0, 0, &chunk, &f.err), &f.err);
        assert_in_range(chunk.bloom_filter_length, cases[i].least, cases[i].most);
        frz_data_file_close(file);
    }
    fixture_reset(&f);
}

/* ---- dictionaries ---- */

/* What a wanted dictionary began with a page that was too large for it is not there for the next
 * row group. */
static void dictionaries__too_small_for_the_first_page_are_forgotten(void **state)
{
    static const frz_parquet_column_encoding wanted = {"l", FRZ_PARQUET_RLE_DICTIONARY};
    const int64_t rows = 200000;
    fixture f;
    frz_parquet_writer *w;
    frz_parquet_file *file;
    frz_parquet_reader *reader;
    struct ArrowArray got;
    frz_code rc;
    fixture_init(&f, state);
    const frz_parquet_write_options opts = {.struct_size = sizeof opts,
                                            .page_bytes = (size_t)4 << 20,
                                            .group_rows = rows,
                                            .encodings = &wanted,
                                            .encoding_count = 1};
    const frz_type *type = rows_type(&f.arena, "{'id':1,'name':'l','required':true,'type':'long'}");
    struct ArrowArray batch = long_batch(&f, rows, rows);
    assert_ok(frz_parquet_writer_open(f.env, f.path, type, &opts, &w, &f.err), &f.err);
    assert_ok(frz_parquet_writer_write(w, &batch, &f.err), &f.err);
    assert_ok(frz_parquet_writer_write(w, &batch, &f.err), &f.err);
    assert_ok(frz_parquet_writer_finish(w, false, NULL, NULL, &f.err), &f.err);
    assert_ok(frz_parquet_file_open(f.env, f.path, &file, &f.err), &f.err);
    assert_ok(frz_parquet_reader_open(file, NULL, &reader, &f.err), &f.err);
    const int64_t *values = batch.children[0]->buffers[1];
    int64_t row = 0;
    while ((rc = frz_parquet_reader_next(reader, &got, NULL, &f.err)) == FRZ_OK) {
        for (int64_t i = 0; i < got.length; i++, row++) {
            assert_int_equal(frz_get_i64(got.children[0], i), values[row % rows]);
        }
        got.release(&got);
    }
    assert_int_equal(rc, FRZ_END);
    assert_int_equal(row, 2 * rows);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    batch.release(&batch);
    fixture_reset(&f);
}

/* ---- nulls ---- */

/* An array of type null has no buffers, not even a list of them. */
static void nulls__of_no_type_are_written(void **state)
{
    fixture f;
    frz_parquet_writer *w;
    frz_parquet_writer_info info;
    struct ArrowSchema column = {.format = "n", .name = "n", .flags = ARROW_FLAG_NULLABLE};
    struct ArrowSchema *columns[1] = {&column};
    struct ArrowSchema schema = {.format = "+s", .name = "", .n_children = 1, .children = columns};
    const void *none[1] = {NULL};
    struct ArrowArray values = {.length = 5, .null_count = 5};
    struct ArrowArray *arrays[1] = {&values};
    struct ArrowArray batch = {
        .length = 5, .n_buffers = 1, .n_children = 1, .buffers = none, .children = arrays};
    column.release = schema.release = lent_schema;
    values.release = batch.release = lent_array;
    fixture_init(&f, state);
    assert_ok(frz_parquet_writer_create(f.env, f.path, &schema, NULL, &w, &f.err), &f.err);
    assert_ok(frz_parquet_writer_write(w, &batch, &f.err), &f.err);
    assert_ok(frz_parquet_writer_close(w, &info, &f.err), &f.err);
    assert_int_equal(info.rows, 5);
    fixture_reset(&f);
}

/* ---- options ---- */

static void options__members_that_a_caller_does_not_know_are_defaults(void **state)
{
    fixture f;
    frz_parquet_write_options opts;
    memset(&opts, 0xee, sizeof opts);
    opts.struct_size = offsetof(frz_parquet_write_options, level);
    opts.codec = FRZ_PARQUET_SNAPPY;
    fixture_init(&f, state);
    frz_data_file *file = write_file(&f, &opts);
    assert_int_equal(chunk_of(file, 0).codec, FRZ_PARQUET_SNAPPY);
    frz_data_file_close(file);
    fixture_reset(&f);
}

static void options__without_sense_are_refused(void **state)
{
    const size_t size = sizeof(frz_parquet_write_options);
    const struct {
        frz_parquet_write_options opts;
        frz_code code;
        const char *phrase;
    } cases[] = {
        {{.struct_size = size, .page_version = 3}, FRZ_E_ARGUMENT, "page version 3"},
        {{.struct_size = size, .group_rows = -1}, FRZ_E_ARGUMENT, "-1 rows"},
        {{.struct_size = size, .page_bytes = (size_t)INT32_MAX + 1},
         FRZ_E_ARGUMENT,
         "2147483648 bytes"},
        {{.struct_size = size, .codec = FRZ_PARQUET_ZSTD, .level = 23}, FRZ_E_ARGUMENT, "level 23"},
        {{.struct_size = size, .codec = FRZ_PARQUET_GZIP, .level = 13}, FRZ_E_ARGUMENT, "level 13"},
        {{.struct_size = size, .codec = (frz_parquet_codec)3}, FRZ_E_UNSUPPORTED, "codec 3"},
    };
    fixture f;
    frz_parquet_writer *w;
    fixture_init(&f, state);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        assert_fails(
            frz_parquet_writer_create(f.env, f.path, &f.schema, &cases[i].opts, &w, &f.err), &f.err,
            cases[i].code, cases[i].phrase);
    }
    fixture_reset(&f);
}

/* ---- arrays of callers ---- */

/* Writing fails with the reason; what was changed of the batch is put back by the caller. */
static void check_batch(fixture *f, const struct ArrowArray *batch, const char *phrase)
{
    frz_parquet_writer *w;
    assert_ok(frz_parquet_writer_create(f->env, f->path, &f->schema, NULL, &w, &f->err), &f->err);
    assert_fails(frz_parquet_writer_write(w, batch, &f->err), &f->err, FRZ_E_ARGUMENT, phrase);
    assert_fails(frz_parquet_writer_close(w, NULL, &f->err), &f->err, FRZ_E_ARGUMENT, "failed");
    assert_int_not_equal(access(f->path, F_OK), 0);
}

#define CHECK_CHANGED(array, member, value, phrase)                                                \
    do {                                                                                           \
        int64_t old_ = (array)->member;                                                            \
        (array)->member = (value);                                                                 \
        check_batch(&f, &batch, phrase);                                                           \
        (array)->member = old_;                                                                    \
    } while (0)

static void arrays__that_contradict_themselves_are_refused(void **state)
{
    fixture f;
    fixture_init(&f, state);
    struct ArrowArray batch = rows_batch(f.env, f.type, ROWS);
    struct ArrowArray *a = batch.children[0];
    struct ArrowArray *list = batch.children[1];
    struct ArrowArray *item = list->children[0];
    struct ArrowArray *text = item->children[0];
    CHECK_CHANGED(&batch, n_children, 3, "3 columns, the file has 4");
    CHECK_CHANGED(&batch, length, 5, "column \"a\" has 4 rows, expected 5");
    CHECK_CHANGED(&batch, length, -1, "impossible length");
    CHECK_CHANGED(a, length, -4, "impossible length or offset");
    CHECK_CHANGED(a, offset, INT64_MAX, "impossible length or offset");
    CHECK_CHANGED(a, null_count, 5, "impossible null count");
    CHECK_CHANGED(a, n_buffers, 3, "3 buffers, its type has 2");
    CHECK_CHANGED(a, n_buffers, 1, "1 buffers, its type has 2");
    CHECK_CHANGED(list, n_children, 0, "0 children, its type has 1");
    CHECK_CHANGED(item, n_children, 1, "column \"b.element\" has 1 children, its type has 2");
    CHECK_CHANGED(item, length, 2, "\"b.element\" has 2 rows, expected 3");
    CHECK_CHANGED(text, length, 2, "\"b.element.X\" has 2 rows, expected 3");
    int32_t *offsets = (int32_t *)(uintptr_t)list->buffers[1];
    offsets[1] = -1;
    check_batch(&f, &batch, "column \"b\" has offsets that go back");
    offsets[1] = 2;
    const void *values = a->buffers[1];
    a->buffers[1] = NULL;
    check_batch(&f, &batch, "column \"a\" lacks a buffer");
    a->buffers[1] = values;
    values = text->buffers[2];
    text->buffers[2] = NULL;
    check_batch(&f, &batch, "column \"b.element.X\" lacks a buffer");
    text->buffers[2] = values;
    batch.release(&batch);
    fixture_reset(&f);
}

typedef struct row_case {
    int64_t offset, length, null_count;
    const char *phrase; /* NULL: written */
} row_case;

static void check_rows(fixture *f, struct ArrowArray *batch, const row_case *c)
{
    frz_parquet_writer *w;
    frz_parquet_writer_info info;
    batch->offset = c->offset;
    batch->length = c->length;
    batch->null_count = c->null_count;
    if (c->phrase != NULL) {
        check_batch(f, batch, c->phrase);
        return;
    }
    assert_ok(frz_parquet_writer_create(f->env, f->path, &f->schema, NULL, &w, &f->err), &f->err);
    assert_ok(frz_parquet_writer_write(w, batch, &f->err), &f->err);
    assert_ok(frz_parquet_writer_close(w, &info, &f->err), &f->err);
    assert_int_equal(info.rows, c->length);
    assert_int_equal(unlink(f->path), 0);
}

/* Row 2 of 4 is null; a slice may be without it. */
static void check_null_row(fixture *f, struct ArrowArray *batch)
{
    static const row_case cases[] = {
        {0, 4, 1, "row 2 of a batch is null as a whole"},
        {0, 4, -1, "row 2 of a batch is null as a whole"},
        {1, 3, -1, "row 1 of a batch is null as a whole"},
        {0, 2, -1, NULL},
        {3, 1, -1, NULL},
        {0, 4, 0, NULL}, /* what says that it has no nulls is believed, as in columns */
    };
    static const row_case no_validity[] = {{0, 4, 1, "1 null rows, but no validity"},
                                           {0, 4, -1, NULL}};
    static const uint8_t valid[] = {0xFB};
    const void *none = batch->buffers[0];
    batch->buffers[0] = valid;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        check_rows(f, batch, &cases[i]);
    }
    batch->buffers[0] = none;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(no_validity); i++) {
        check_rows(f, batch, &no_validity[i]);
    }
}

static void arrays__with_rows_that_are_null_as_a_whole_are_refused(void **state)
{
    fixture f;
    fixture_init(&f, state);
    struct ArrowArray batch = rows_batch(f.env, f.type, ROWS);
    check_null_row(&f, &batch);
    const char *format = f.schema.children[0]->format;
    f.schema.children[0]->format = "tss:"; /* seconds, which are brought into another form first */
    check_null_row(&f, &batch);
    f.schema.children[0]->format = format;
    batch.release(&batch);
    fixture_reset(&f);
}

/* ---- unfinished files ---- */

static void files__that_are_not_finished_are_no_parquet_files(void **state)
{
    fixture f;
    frz_parquet_writer *w;
    frz_data_file *file;
    fixture_init(&f, state);
    struct ArrowArray batch = rows_batch(f.env, f.type, ROWS);
    const frz_parquet_write_options opts = {.struct_size = sizeof opts, .group_rows = 1};
    assert_ok(frz_parquet_writer_create(f.env, f.path, &f.schema, &opts, &w, &f.err), &f.err);
    for (int i = 0; i < 2000; i++) { /* enough for groups to reach the file */
        assert_ok(frz_parquet_writer_write(w, &batch, &f.err), &f.err);
        if (i % 500 == 0) {
            assert_fails(frz_data_file_open(f.env, f.path, NULL, &file, &f.err), &f.err,
                         FRZ_E_CORRUPT, "a.parquet");
        }
    }
    frz_parquet_writer_abort(w);
    assert_int_not_equal(access(f.path, F_OK), 0);
    batch.release(&batch);
    fixture_reset(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(columns__are_found_by_every_spelling_of_their_name),
        TEST_WITH_ENV(encodings__one_that_a_type_cannot_have_is_refused),
        TEST_WITH_ENV(columns__that_are_not_there_are_refused),
        TEST_WITH_ENV(sorting__is_told_of_every_group),
        TEST_WITH_ENV(blooms__without_sense_are_refused),
        TEST_WITH_ENV(blooms__are_as_large_as_the_distinct_values_need),
        TEST_WITH_ENV(nulls__of_no_type_are_written),
        TEST_WITH_ENV(dictionaries__too_small_for_the_first_page_are_forgotten),
        TEST_WITH_ENV(options__members_that_a_caller_does_not_know_are_defaults),
        TEST_WITH_ENV(options__without_sense_are_refused),
        TEST_WITH_ENV(arrays__that_contradict_themselves_are_refused),
        TEST_WITH_ENV(arrays__with_rows_that_are_null_as_a_whole_are_refused),
        TEST_WITH_ENV(files__that_are_not_finished_are_no_parquet_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
