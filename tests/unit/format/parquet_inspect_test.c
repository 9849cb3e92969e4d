/* What the public Parquet file tells about schema, row groups, chunks and pages. */
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "frazil/parquet.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

#define FIELDS                                                                                     \
    "{'id':1,'name':'b','required':true,'type':'boolean'},"                                        \
    "{'id':2,'name':'i','required':false,'type':'int'},"                                           \
    "{'id':3,'name':'f','required':false,'type':'float'},"                                         \
    "{'id':4,'name':'n','required':false,'type':'decimal(9, 2)'},"                                 \
    "{'id':5,'name':'w','required':false,'type':'decimal(38, 3)'},"                                \
    "{'id':6,'name':'d','required':false,'type':'date'},"                                          \
    "{'id':7,'name':'t','required':false,'type':'time'},"                                          \
    "{'id':8,'name':'z','required':false,'type':'timestamptz'},"                                   \
    "{'id':9,'name':'ns','required':false,'type':'timestamp_ns'},"                                 \
    "{'id':10,'name':'s','required':false,'type':'string'},"                                       \
    "{'id':11,'name':'u','required':false,'type':'uuid'},"                                         \
    "{'id':12,'name':'x','required':false,'type':'fixed[3]'},"                                     \
    "{'id':13,'name':'l','required':false,'type':{'type':'list','element-id':14,"                  \
    "'element-required':false,'element':'long'}}"

static const char *const groups[] = {
    "[{'b':false,'i':-5,'f':0.5,'n':'-1.25','w':'5.000','d':'1969-12-31','t':'00:00:00.000001',"
    "'z':'1970-01-01T00:00:00+00:00','ns':'1970-01-01T00:00:00.000000001','s':'abc',"
    "'u':'00112233-4455-6677-8899-aabbccddeeff','x':'0001ff','l':[1,null,3]},{'b':true,'i':7,"
    "'f':-2.5}]",
    "[{'b':true,'i':100,'f':1e10,'n':'99.99','w':'-12345678901234567890.125','d':'2026-11-01',"
    "'t':'23:59:59','z':'2026-11-01T12:00:00+00:00','ns':'2026-11-01T00:00:00','s':'b',"
    "'u':'ffffffff-4455-6677-8899-aabbccddeeff','x':'ffffff','l':[]},{'b':true}]"};

/* Least and greatest of both groups as text. */
static const char *const bounds[][2] = {
    {"false", "true"},
    {"-5", "100"},
    {"-2.5", "10000000000.0"},
    {"-1.25", "99.99"},
    {"-12345678901234567890.125", "5.000"},
    {"1969-12-31", "2026-11-01"},
    {"00:00:00.000001", "23:59:59.000000"},
    {"1970-01-01T00:00:00.000000+00:00", "2026-11-01T12:00:00.000000+00:00"},
    {"1970-01-01T00:00:00.000000001", "2026-11-01T00:00:00.000000000"},
    {"abc", "b"},
    {"00112233-4455-6677-8899-aabbccddeeff", "ffffffff-4455-6677-8899-aabbccddeeff"},
    {"0001ff", "ffffff"},
    {"1", "3"},
};

typedef struct place {
    char folder[64], path[96];
    frz_parquet_file *file;
} place;

static void place_init(place *p, const frz_env *env)
{
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *writer = NULL;
    frz_error err = {0};
    frz_arena arena;
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-inspect-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, FIELDS);
    assert_ok(frz_parquet_writer_open(env, p->path, type, &opts, &writer, &err), &err);
    for (size_t g = 0; g < FRZ_ARRAY_COUNT(groups); g++) {
        struct ArrowArray batch = rows_batch(env, type, groups[g]);
        assert_ok(frz_parquet_writer_write(writer, &batch, &err), &err);
        assert_ok(frz_parquet_writer_end_group(writer, &err), &err);
        frz_array_release(&batch);
    }
    assert_ok(frz_parquet_writer_finish(writer, false, &arena, NULL, &err), &err);
    frz_arena_reset(&arena);
    assert_ok(frz_parquet_file_open(env, p->path, &p->file, &err), &err);
}

static void place_remove(place *p)
{
    frz_parquet_file_close(p->file);
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

static void schema__nodes_are_those_of_the_file(void **state)
{
    static const struct {
        const char *name, *physical, *logical;
        size_t parent;
        int depth, id;
        frz_parquet_repetition repetition;
    } wanted[] = {
        {"b", "BOOLEAN", "", 0, 1, 1, FRZ_PARQUET_REQUIRED},
        {"i", "INT32", "", 0, 1, 2, FRZ_PARQUET_OPTIONAL},
        {"f", "FLOAT", "", 0, 1, 3, FRZ_PARQUET_OPTIONAL},
        {"n", "INT32", "DECIMAL(9,2)", 0, 1, 4, FRZ_PARQUET_OPTIONAL},
        {"w", "FIXED_LEN_BYTE_ARRAY", "DECIMAL(38,3)", 0, 1, 5, FRZ_PARQUET_OPTIONAL},
        {"d", "INT32", "DATE", 0, 1, 6, FRZ_PARQUET_OPTIONAL},
        {"t", "INT64", "TIME(MICROS)", 0, 1, 7, FRZ_PARQUET_OPTIONAL},
        {"z", "INT64", "TIMESTAMP(MICROS,UTC)", 0, 1, 8, FRZ_PARQUET_OPTIONAL},
        {"ns", "INT64", "TIMESTAMP(NANOS)", 0, 1, 9, FRZ_PARQUET_OPTIONAL},
        {"s", "BYTE_ARRAY", "STRING", 0, 1, 10, FRZ_PARQUET_OPTIONAL},
        {"u", "FIXED_LEN_BYTE_ARRAY", "UUID", 0, 1, 11, FRZ_PARQUET_OPTIONAL},
        {"x", "FIXED_LEN_BYTE_ARRAY", "", 0, 1, 12, FRZ_PARQUET_OPTIONAL},
        {"l", NULL, "LIST", 0, 1, 13, FRZ_PARQUET_OPTIONAL},
        {"list", NULL, "", 13, 2, 0, FRZ_PARQUET_REPEATED},
        {"element", "INT64", "", 14, 3, 14, FRZ_PARQUET_OPTIONAL},
    };
    frz_parquet_file_info info;
    frz_parquet_node_info node;
    place p;
    place_init(&p, *state);
    frz_parquet_file_info_get(p.file, &info);
    assert_int_equal(info.node_count, FRZ_ARRAY_COUNT(wanted) + 1);
    frz_parquet_node_info_get(p.file, 0, &node);
    assert_int_equal(node.depth, 0);
    assert_int_equal(node.child_count, 13);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wanted); i++) {
        frz_parquet_node_info_get(p.file, i + 1, &node);
        assert_int_equal(node.name.size, strlen(wanted[i].name));
        assert_memory_equal(node.name.data, wanted[i].name, node.name.size);
        assert_string_equal(node.physical == NULL ? "" : node.physical,
                            wanted[i].physical == NULL ? "" : wanted[i].physical);
        assert_string_equal(node.logical, wanted[i].logical);
        assert_int_equal(node.parent, wanted[i].parent);
        assert_int_equal(node.depth, wanted[i].depth);
        assert_int_equal(node.field_id, wanted[i].id);
        assert_int_equal(node.has_field_id, wanted[i].id != 0);
        assert_int_equal(node.repetition, wanted[i].repetition);
        assert_int_equal(node.column == FRZ_PARQUET_NO_COLUMN, wanted[i].physical == NULL);
    }
    place_remove(&p);
}

static void schema__paths_fit_any_buffer(void **state)
{
    char text[32];
    frz_parquet_column_info column;
    place p;
    place_init(&p, *state);
    frz_parquet_column_info_get(p.file, 12, &column);
    assert_int_equal(column.node, 15);
    assert_int_equal(column.max_definition_level, 3);
    assert_int_equal(column.max_repetition_level, 1);
    assert_int_equal(frz_parquet_column_path(p.file, 12, text, sizeof text), 14);
    assert_string_equal(text, "l.list.element");
    assert_int_equal(frz_parquet_column_path(p.file, 12, text, 15), 14);
    assert_string_equal(text, "l.list.element");
    assert_int_equal(frz_parquet_column_path(p.file, 12, text, 5), 14);
    assert_string_equal(text, "l.li");
    assert_int_equal(frz_parquet_column_path(p.file, 12, NULL, 0), 14);
    place_remove(&p);
}

static void check_bound(frz_parquet_file *file, size_t column, const frz_parquet_bound *bound,
                        const char *wanted)
{
    char text[64];
    assert_true(bound->reliable);
    assert_false(bound->deprecated);
    assert_int_equal(frz_parquet_bound_text(file, column, bound->value, text, sizeof text),
                     strlen(wanted));
    assert_string_equal(text, wanted);
}

static void summary__has_the_outermost_bounds_of_all_groups(void **state)
{
    frz_parquet_chunk_info sum;
    frz_error err = {0};
    place p;
    place_init(&p, *state);
    for (size_t c = 0; c < FRZ_ARRAY_COUNT(bounds); c++) {
        assert_ok(frz_parquet_column_summary_get(p.file, c, &sum, &err), &err);
        check_bound(p.file, c, &sum.min, bounds[c][0]);
        check_bound(p.file, c, &sum.max, bounds[c][1]);
        assert_string_equal(sum.codec, "ZSTD");
    }
    assert_ok(frz_parquet_column_summary_get(p.file, 1, &sum, &err), &err);
    assert_int_equal(sum.values, 4);
    assert_int_equal(sum.nulls, 1);
    place_remove(&p);
}

static void bound__bytes_of_no_value_are_shown_all_the_same(void **state)
{
    char text[32];
    place p;
    place_init(&p, *state);
    frz_parquet_bound_text(p.file, 1, (frz_parquet_bytes){"\x01\x02", 2}, text, sizeof text);
    assert_string_equal(text, "0x0102");
    frz_parquet_bound_text(p.file, 9, (frz_parquet_bytes){"\xff", 1}, text, sizeof text);
    assert_string_equal(text, "0xff");
    frz_parquet_bound_text(p.file, 9, (frz_parquet_bytes){"", 0}, text, sizeof text);
    assert_string_equal(text, "");
    place_remove(&p);
}

/* Columns of tests/data/parquet/foreign.parquet. */
static void bound__types_that_tables_lack(void **state)
{
    static const struct {
        size_t column;
        const char *min, *max;
    } wanted[] = {
        {0, "-3", "1"},
        {4, "0", "4294967295"},
        {5, "0", "18446744073709551615"},
        {6, "0.1", "0.1"},
        {7, "00:00:00.000000", "23:59:59.999000"},
        {8, "00:00:00.000000001", "23:59:59.999999999"},
        {9, "1969-12-31T23:59:59.999000", "2023-11-14T22:13:20.123000"},
        {10, "1970-01-01T00:00:00.000000+00:00", "2023-11-14T22:13:20.123000+00:00"},
        {11, "0.5", "100000000000000000000000000000000000000000000000000.0"},
    };
    frz_parquet_file *file = NULL;
    frz_parquet_chunk_info chunk;
    frz_error err = {0};
    char text[64];
    assert_ok(frz_parquet_file_open(*state, "tests/data/parquet/foreign.parquet", &file, &err),
              &err);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wanted); i++) {
        size_t c = wanted[i].column;
        assert_ok(frz_parquet_chunk_info_get(file, 0, c, &chunk, &err), &err);
        frz_parquet_bound_text(file, c, chunk.min.value, text, sizeof text);
        assert_string_equal(text, wanted[i].min);
        frz_parquet_bound_text(file, c, chunk.max.value, text, sizeof text);
        assert_string_equal(text, wanted[i].max);
    }
    frz_parquet_file_close(file);
}

static void chunk__tells_counts_and_places(void **state)
{
    frz_parquet_chunk_info chunk;
    frz_parquet_group_info group;
    frz_error err = {0};
    place p;
    place_init(&p, *state);
    frz_parquet_group_info_get(p.file, 1, &group);
    assert_int_equal(group.first_row, 2);
    assert_int_equal(group.rows, 2);
    assert_int_equal(group.sorting_count, 0);
    assert_ok(frz_parquet_chunk_info_get(p.file, 0, 12, &chunk, &err), &err);
    assert_int_equal(chunk.values, 4);
    assert_int_equal(chunk.nulls, 2);
    assert_int_equal(chunk.distinct, -1);
    assert_true(chunk.offset >= 4 && chunk.compressed_size > 0);
    assert_true(chunk.encodings != 0);
    assert_int_equal(chunk.encrypted, 0);
    assert_null(chunk.file_path.data);
    place_remove(&p);
}

typedef struct page_sum {
    int64_t values, bytes, rows, next_row;
    int stop_at; /* pages until failing; negative: never */
} page_sum;

static frz_code add_page(void *ctx, const frz_parquet_page_info *page, frz_error *err)
{
    page_sum *sum = ctx;
    if (sum->stop_at-- == 0) {
        return frz_fail(err, FRZ_E_CANCELLED, "enough");
    }
    sum->bytes += page->header_size + page->compressed_size;
    assert_int_equal(page->has_checksum, 1);
    if (strncmp(page->type, "DATA", 4) == 0) {
        sum->values += page->values;
        sum->next_row = page->first_row + page->rows;
    }
    return FRZ_OK;
}

static void pages__make_up_their_chunk(void **state)
{
    frz_error err = {0};
    place p;
    place_init(&p, *state);
    for (size_t g = 0; g < FRZ_ARRAY_COUNT(groups); g++) {
        for (size_t c = 0; c < FRZ_ARRAY_COUNT(bounds); c++) {
            frz_parquet_chunk_info chunk;
            page_sum sum = {.stop_at = -1};
            assert_ok(frz_parquet_chunk_info_get(p.file, g, c, &chunk, &err), &err);
            assert_ok(frz_parquet_pages_visit(p.file, g, c, add_page, &sum, &err), &err);
            assert_int_equal(sum.values, chunk.values);
            assert_int_equal(sum.bytes, chunk.compressed_size);
        }
    }
    place_remove(&p);
}

static void pages__a_visitor_can_stop(void **state)
{
    frz_error err = {0};
    page_sum sum = {.stop_at = 0};
    place p;
    place_init(&p, *state);
    assert_int_equal(frz_parquet_pages_visit(p.file, 0, 0, add_page, &sum, &err), FRZ_E_CANCELLED);
    assert_string_equal(err.message, "enough");
    assert_int_equal(err.frame_count, 0);
    place_remove(&p);
}

static void encodings__have_names(void **state)
{
    (void)state;
    assert_string_equal(frz_parquet_encoding_name(0), "PLAIN");
    assert_string_equal(frz_parquet_encoding_name(9), "BYTE_STREAM_SPLIT");
    assert_null(frz_parquet_encoding_name(1));
    assert_string_equal(frz_parquet_encoding_name(10), "ALP");
    assert_null(frz_parquet_encoding_name(11));
    assert_null(frz_parquet_encoding_name(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(schema__nodes_are_those_of_the_file),
        TEST_WITH_ENV(schema__paths_fit_any_buffer),
        TEST_WITH_ENV(summary__has_the_outermost_bounds_of_all_groups),
        TEST_WITH_ENV(bound__bytes_of_no_value_are_shown_all_the_same),
        TEST_WITH_ENV(bound__types_that_tables_lack),
        TEST_WITH_ENV(chunk__tells_counts_and_places),
        TEST_WITH_ENV(pages__make_up_their_chunk),
        TEST_WITH_ENV(pages__a_visitor_can_stop),
        cmocka_unit_test(encodings__have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
