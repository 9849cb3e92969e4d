/* The public reader of Parquet files: columns by name, ranges, filters, batches that know their
 * row. */
#include <unistd.h>

#include "format/parquet/parquet.h"
#include "frazil/parquet.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

/* Ids that repeat, which no reader by id could tell apart, and a name with a dot. */
#define FIELDS                                                                                     \
    "{'id':1,'name':'id','required':true,'type':'long'},"                                          \
    "{'id':2,'name':'a','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':3,'name':'b','required':false,'type':'string'},"                                        \
    "{'id':16,'name':'e','required':false,'type':'int'},"                                          \
    "{'id':4,'name':'c','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':5,'name':'d','required':false,'type':'int'}]}}]}},"                                     \
    "{'id':6,'name':'l','required':false,'type':{'type':'list','element-id':7,"                    \
    "'element-required':false,'element':{'type':'struct','fields':["                               \
    "{'id':8,'name':'x','required':false,'type':'int'},"                                           \
    "{'id':9,'name':'y','required':false,'type':'int'}]}}},"                                       \
    "{'id':10,'name':'m','required':false,'type':{'type':'map','key-id':11,'key':'string',"        \
    "'value-id':12,'value-required':false,'value':{'type':'struct','fields':["                     \
    "{'id':13,'name':'p','required':false,'type':'int'},"                                          \
    "{'id':14,'name':'q','required':false,'type':'int'}]}}},"                                      \
    "{'id':15,'name':'a.b','required':false,'type':'int'}"

#define GROUP_ROWS 10
#define GROUPS 3

typedef struct place {
    char folder[64], path[96];
} place;

static void write_group(frz_parquet_writer *writer, const frz_env *env, const frz_type *type,
                        int first)
{
    frz_error err = {0};
    char rows[4096] = "[";
    for (int i = first; i < first + GROUP_ROWS; i++) {
        size_t len = strlen(rows);
        snprintf(rows + len, sizeof rows - len,
                 "%s{'id':%d,'a':{'b':'b%d','c':{'d':%d}},'l':[{'x':%d,'y':-%d},null],"
                 "'m':[['k',{'p':%d,'q':7}]],'a.b':%d}",
                 i == first ? "" : ",", i, i, i * 2, i, i, i, i * 3);
    }
    strcat(rows, "]");
    struct ArrowArray batch = rows_batch(env, type, rows);
    assert_ok(frz_parquet_writer_write(writer, &batch, &err), &err);
    assert_ok(frz_parquet_writer_end_group(writer, &err), &err);
    frz_array_release(&batch);
}

static void place_init(place *p, const frz_env *env)
{
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    const char *keys[] = {"team"};
    const char *values[] = {"ice"};
    frz_parquet_writer *writer = NULL;
    frz_error err = {0};
    frz_arena arena;
    opts.keys = keys;
    opts.values = values;
    opts.key_count = 1;
    snprintf(p->folder, sizeof p->folder, "/tmp/parquet-api-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/a.parquet", p->folder);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, FIELDS);
    assert_ok(frz_parquet_writer_open(env, p->path, type, &opts, &writer, &err), &err);
    for (int g = 0; g < GROUPS; g++) {
        write_group(writer, env, type, g * GROUP_ROWS);
    }
    assert_ok(frz_parquet_writer_finish(writer, false, &arena, NULL, &err), &err);
    frz_arena_reset(&arena);
}

static void place_remove(place *p)
{
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
}

static frz_parquet_file *open_file(const frz_env *env, const char *path)
{
    frz_parquet_file *file = NULL;
    frz_error err = {0};
    assert_ok(frz_parquet_file_open(env, path, &file, &err), &err);
    return file;
}

/* "id:l a:+s(c:+s(d:i))" */
static void print_schema(const struct ArrowSchema *schema, char *text, size_t size)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];
        size_t len = strlen(text);
        snprintf(text + len, size - len, "%s%s:%s", i == 0 ? "" : " ", child->name, child->format);
        if (child->n_children > 0) {
            strncat(text, "(", size - strlen(text) - 1);
            print_schema(child, text, size);
            strncat(text, ")", size - strlen(text) - 1);
        }
    }
}

static void check_columns(frz_parquet_file *file, const char *const *names, size_t count,
                          const char *wanted)
{
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    char text[512] = "";
    opts.columns = names;
    opts.column_count = count;
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    assert_ok(frz_parquet_reader_schema(reader, &schema, &err), &err);
    print_schema(&schema, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_ok(frz_parquet_reader_next(reader, &batch, NULL, &err), &err);
    assert_int_equal(batch.length, GROUP_ROWS);
    assert_int_equal(batch.n_children, schema.n_children);
    frz_array_release(&batch);
    frz_schema_release(&schema);
    frz_parquet_reader_close(reader);
}

#define CHECK_COLUMNS(file, wanted, ...)                                                           \
    do {                                                                                           \
        const char *names_[] = {__VA_ARGS__};                                                      \
        check_columns((file), names_, FRZ_ARRAY_COUNT(names_), (wanted));                          \
    } while (0)

static void columns__are_named_by_dotted_paths(void **state)
{
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    CHECK_COLUMNS(file, "id:l", "id");
    CHECK_COLUMNS(file, "a:+s(c:+s(d:i)) id:l", "a.c.d", "id");
    CHECK_COLUMNS(file, "a:+s(c:+s(d:i) e:i)", "a.c", "a.e");
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void columns__parts_of_one_column_are_joined(void **state)
{
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    CHECK_COLUMNS(file, "l:+l(element:+s(y:i)) id:l", "l.element.y", "id", "l.list.element.y");
    CHECK_COLUMNS(file, "l:+l(element:+s(y:i x:i))", "l.element.y", "l.element.x");
    CHECK_COLUMNS(file, "l:+l(element:+s(x:i y:i))", "l.element.y", "l");
    CHECK_COLUMNS(file, "m:+m(entries:+s(key:u value:+s(q:i)))", "m.value.q");
    CHECK_COLUMNS(file, "m:+m(entries:+s(key:u value:+s(q:i)))", "m.key", "m.key_value.value.q");
    CHECK_COLUMNS(file, "m:+m(entries:+s(key:u value:+s(p:i q:i)))", "m.key");
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void columns__whole_names_come_first_and_case_last(void **state)
{
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    CHECK_COLUMNS(file, "a:+s(e:i)", "A.E");
    CHECK_COLUMNS(file, "a.b:i", "a.b"); /* the longest name comes before parts */
    frz_parquet_file_close(file);
    place_remove(&p);
}

static const frz_parquet_reader *fail_open(frz_parquet_file *file,
                                           const frz_parquet_read_options *opts, frz_code code,
                                           const char *phrase)
{
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    assert_fails(frz_parquet_reader_open(file, opts, &reader, &err), &err, code, phrase);
    return reader;
}

static void reader__says_what_makes_no_sense(void **state)
{
    static const char *const missing[] = {"id", "a.z"};
    static const frz_parquet_row_range behind[] = {{5, 31}};
    static const frz_parquet_row_range crossed[] = {{5, 8}, {7, 9}};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    opts.columns = missing;
    opts.column_count = 2;
    assert_null(fail_open(file, &opts, FRZ_E_NOT_FOUND, "no column \"a.z\""));
    opts.columns = NULL;
    opts.where = "id <";
    assert_null(fail_open(file, &opts, FRZ_E_ARGUMENT, "expected an expression"));
    opts.where = NULL;
    opts.ranges = behind;
    opts.range_count = 1;
    assert_null(fail_open(file, &opts, FRZ_E_ARGUMENT, "row range 5 to 31"));
    opts.ranges = crossed;
    opts.range_count = 2;
    assert_null(fail_open(file, &opts, FRZ_E_ARGUMENT, "row range 7 to 9"));
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void reader__batches_know_their_first_row(void **state)
{
    static const frz_parquet_row_range ranges[] = {{3, 5}, {8, 23}};
    static const struct {
        int64_t first, rows;
    } wanted[] = {{3, 2}, {8, 2}, {10, 4}, {14, 4}, {18, 2}, {20, 3}};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowArray batch;
    int64_t first;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    opts.ranges = ranges;
    opts.range_count = 2;
    opts.batch_rows = 4;
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    frz_parquet_file_close(file); /* the reader keeps it */
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wanted); i++) {
        assert_ok(frz_parquet_reader_next(reader, &batch, &first, &err), &err);
        assert_int_equal(first, wanted[i].first);
        assert_int_equal(batch.length, wanted[i].rows);
        assert_int_equal(frz_get_i64(batch.children[0], 0), first);
        frz_array_release(&batch);
    }
    assert_int_equal(frz_parquet_reader_next(reader, &batch, &first, &err), FRZ_END);
    frz_parquet_reader_close(reader);
    place_remove(&p);
}

static void reader__filters_by_columns_that_are_not_returned(void **state)
{
    static const char *const names[] = {"a.c.d"};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_parquet_read_report report;
    frz_error err = {0};
    struct ArrowArray batch;
    int64_t first;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    opts.columns = names;
    opts.column_count = 1;
    opts.where = "a.b IN ('b12', 'b14') AND \"a.b\" > 36";
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    assert_ok(frz_parquet_reader_next(reader, &batch, &first, &err), &err);
    assert_int_equal(batch.length, 1);
    assert_int_equal(batch.n_children, 1);
    assert_true(first <= 14);
    const struct ArrowArray *c = batch.children[0]->children[0];
    assert_int_equal(frz_get_i32(c->children[0], batch.children[0]->offset + c->offset), 28);
    frz_array_release(&batch);
    assert_int_equal(frz_parquet_reader_next(reader, &batch, &first, &err), FRZ_END);
    frz_parquet_reader_report_get(reader, &report);
    assert_int_equal(report.rows, GROUPS * GROUP_ROWS);
    assert_int_equal(report.rows_read, report.rows_kept);
    assert_int_equal(report.rows_returned, 1);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void reader__reports_what_it_skipped(void **state)
{
    static const frz_parquet_row_range ranges[] = {{5, 8}, {12, 30}};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_parquet_read_report report;
    frz_error err = {0};
    struct ArrowArray batch;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    opts.where = "id > 25 AND a.b IS NOT NULL";
    opts.ranges = ranges;
    opts.range_count = 2;
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    while (frz_parquet_reader_next(reader, &batch, NULL, &err) == FRZ_OK) {
        frz_array_release(&batch);
    }
    frz_parquet_reader_report_get(reader, &report);
    assert_int_equal(report.rows, 21);
    assert_int_equal(report.groups, GROUPS);
    assert_int_equal(report.groups_by_statistics, 2);
    assert_int_equal(report.rows_kept, GROUP_ROWS);
    assert_int_equal(report.rows_read, GROUP_ROWS);
    assert_int_equal(report.rows_returned, 4);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void reader__no_columns_are_rows_all_the_same(void **state)
{
    static const char *const names[] = {NULL};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowArray batch;
    int64_t rows = 0;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    opts.columns = names;
    opts.where = "id >= 25";
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    while (frz_parquet_reader_next(reader, &batch, NULL, &err) == FRZ_OK) {
        assert_int_equal(batch.n_children, 0);
        rows += batch.length;
        frz_array_release(&batch);
    }
    assert_int_equal(rows, 5);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void file__tells_about_itself(void **state)
{
    frz_parquet_file_info info;
    frz_parquet_bytes key, value;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    frz_parquet_file_info_get(file, &info);
    assert_int_equal(info.rows, GROUPS * GROUP_ROWS);
    assert_int_equal(info.group_count, GROUPS);
    assert_int_equal(info.column_count, 10);
    assert_int_equal(info.key_count, 1);
    assert_true(info.footer_size > 0 && info.footer_size < info.file_size);
    frz_parquet_file_key(file, 0, &key, &value);
    assert_memory_equal(key.data, "team", key.size);
    assert_memory_equal(value.data, "ice", value.size);
    frz_parquet_file_close(file);
    place_remove(&p);
}

static void file__tells_its_metadata_by_key(void **state)
{
    frz_error err = {0};
    frz_data_file *file = NULL;
    frz_str value;
    place p;
    place_init(&p, *state);
    assert_ok(frz_data_file_open(*state, p.path, NULL, &file, &err), &err);
    assert_true(frz_data_file_metadata(file, "team", &value));
    assert_true(frz_str_equal(value, FRZ_STR("ice")));
    assert_false(frz_data_file_metadata(file, "tea", &value));
    frz_data_file_close(file);
    place_remove(&p);
}

static void file__of_another_kind_is_refused(void **state)
{
    frz_parquet_file *file = NULL;
    frz_error err = {0};
    char path[] = "/tmp/parquet-api-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "id,name\n1,ice\n", 14), 14);
    close(fd);
    assert_fails(frz_parquet_file_open(*state, path, &file, &err), &err, FRZ_E_CORRUPT,
                 "no known file format");
    assert_null(file);
    unlink(path);
}

static void stream__ends_with_the_file(void **state)
{
    struct ArrowArrayStream stream;
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowArray batch;
    int64_t rows = 0;
    place p;
    place_init(&p, *state);
    frz_parquet_file *file = open_file(*state, p.path);
    assert_ok(frz_parquet_reader_open(file, NULL, &reader, &err), &err);
    assert_ok(frz_parquet_reader_export(reader, &stream, &err), &err);
    frz_parquet_file_close(file);
    for (;;) {
        assert_int_equal(stream.get_next(&stream, &batch), 0);
        if (batch.release == NULL) {
            break;
        }
        rows += batch.length;
        frz_array_release(&batch);
    }
    assert_int_equal(rows, GROUPS * GROUP_ROWS);
    stream.release(&stream);
    place_remove(&p);
}

/* ---- types that tables lack ---- */

static void check_int8(frz_parquet_file *file, int table_types, const char *format)
{
    static const char *const names[] = {"i8"};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    opts.table_types = table_types;
    opts.columns = names;
    opts.column_count = 1;
    opts.where = "i8 < 0";
    assert_ok(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    assert_ok(frz_parquet_reader_schema(reader, &schema, &err), &err);
    assert_string_equal(schema.children[0]->format, format);
    assert_ok(frz_parquet_reader_next(reader, &batch, NULL, &err), &err);
    assert_int_equal(batch.length, 1);
    const struct ArrowArray *x = batch.children[0];
    assert_int_equal(table_types ? frz_get_i32(x, 0) : ((const int8_t *)x->buffers[1])[x->offset],
                     -3);
    frz_array_release(&batch);
    frz_schema_release(&schema);
    frz_parquet_reader_close(reader);
}

static void reader__returns_the_types_of_the_file_or_of_tables(void **state)
{
    frz_parquet_file *file = open_file(*state, "tests/data/parquet/foreign.parquet");
    check_int8(file, 0, "c");
    check_int8(file, 1, "i");
    frz_parquet_file_close(file);
}

/* ---- memory that runs out ---- */

static const char *alloc_path;

static frz_code read_scenario(const frz_env *env, frz_error *err)
{
    static const char *const names[] = {"l.element.x", "m.value.p", "a"};
    frz_code rc = FRZ_OK;
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch;
    opts.columns = names;
    opts.column_count = 3;
    opts.where = "id > 20 OR a.b = 'b3'";
    FRZ_TRY(frz_parquet_file_open(env, alloc_path, &file, err));
    FRZ_TRY(frz_parquet_reader_open(file, &opts, &reader, err));
    FRZ_TRY(frz_parquet_reader_schema(reader, &schema, err));
    for (;;) {
        FRZ_TRY(frz_parquet_reader_next(reader, &batch, NULL, err));
        frz_array_release(&batch);
    }
out:
    frz_schema_release(&schema);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static void reader__every_failed_allocation_is_survived(void **state)
{
    place p;
    place_init(&p, *state);
    alloc_path = p.path;
    test_fail_every_allocation(read_scenario);
    place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(columns__are_named_by_dotted_paths),
        TEST_WITH_ENV(columns__parts_of_one_column_are_joined),
        TEST_WITH_ENV(columns__whole_names_come_first_and_case_last),
        TEST_WITH_ENV(reader__says_what_makes_no_sense),
        TEST_WITH_ENV(reader__batches_know_their_first_row),
        TEST_WITH_ENV(reader__filters_by_columns_that_are_not_returned),
        TEST_WITH_ENV(reader__reports_what_it_skipped),
        TEST_WITH_ENV(reader__no_columns_are_rows_all_the_same),
        TEST_WITH_ENV(file__tells_about_itself),
        TEST_WITH_ENV(file__tells_its_metadata_by_key),
        TEST_WITH_ENV(file__of_another_kind_is_refused),
        TEST_WITH_ENV(stream__ends_with_the_file),
        TEST_WITH_ENV(reader__returns_the_types_of_the_file_or_of_tables),
        TEST_WITH_ENV(reader__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
