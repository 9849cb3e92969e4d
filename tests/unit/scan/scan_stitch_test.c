/*
 * The stitching reader on entries and files made by hand: which file provides what, how parts with
 * other row groups are combined, and what is refused.
 */
#include "frazil/column_update.h"
#include "frazil/scan.h"
#include "scan/scan_partition.h"
#include "scan/scan_plan.h"
#include "unit/maintain/maintain_table.h"
#include "unit/test_alloc.h"

#define LONG(id, name) test_field(id, name, false, FRZ_TYPE_LONG)
#define NEEDED(id, name) test_field(id, name, true, FRZ_TYPE_LONG)
#define FIELDS(...) (frz_field[]){__VA_ARGS__}, FRZ_ARRAY_COUNT(((frz_field[]){__VA_ARGS__}))
#define IDS(...) (const int32_t[]){__VA_ARGS__}, FRZ_ARRAY_COUNT(((const int32_t[]){__VA_ARGS__}))

/* A table of which only the place matters, and one entry in it. */
typedef struct fixture {
    test_table t;
    frz_table table;
    char base[80];
    frz_entry entry;
    frz_column_file files[4];
    frz_stitch_counts counts; /* of the last read */
} fixture;

static void fixture_open(fixture *f, void **state)
{
    memset(f, 0, sizeof *f);
    table_open(&f->t, state);
    snprintf(f->base, sizeof f->base, "file://%s", f->t.folder);
    f->table = (frz_table){
        .env = f->t.env, .base = f->base, .metadata.format_version = FRZ_FORMAT_VERSION};
}

static void fixture_close(fixture *f)
{
    table_close(&f->t);
}

static const char *path_of(fixture *f, const char *name)
{
    return frz_arena_printf(&f->t.arena, "%s/%s", f->t.folder, name);
}

static int64_t size_of(fixture *f, const char *name)
{
    uint64_t size = 0;
    return frz_file_stat(f->t.env, path_of(f, name), &size, NULL) == FRZ_OK ? (int64_t)size : 0;
}

/* The base file "base" of so many rows. */
static void set_base(fixture *f, int64_t rows, const test_column *columns, size_t count,
                     int64_t group_rows)
{
    put_file(&f->t, path_of(f, "base"), columns, count, group_rows, NULL);
    f->entry = (frz_entry){.status = FRZ_STATUS_EXISTING,
                           .sequence_number = 5,
                           .file_sequence_number = 1,
                           .first_row_id = 100,
                           .location = FRZ_STR("base"),
                           .file_format = FRZ_STR("parquet"),
                           .record_count = rows,
                           .file_size = size_of(f, "base"),
                           .column_files = f->files};
}

static void list_file(fixture *f, const char *name, const int32_t *ids, size_t id_count)
{
    int32_t *copy = frz_arena_array(&f->t.arena, id_count, sizeof *copy);
    memcpy(copy, ids, id_count * sizeof *copy);
    f->files[f->entry.column_file_count++] = (frz_column_file){.location = frz_str_from(name),
                                                               .field_ids = copy,
                                                               .field_id_count = id_count,
                                                               .file_format = FRZ_STR("parquet"),
                                                               .file_size = size_of(f, name)};
}

static void add_file(fixture *f, const char *name, const int32_t *ids, size_t id_count,
                     const test_column *columns, size_t count, int64_t group_rows)
{
    put_file(&f->t, path_of(f, name), columns, count, group_rows, NULL);
    list_file(f, name, ids, id_count);
}

/* "0 1 2 …", each times step. */
static const char *numbers(fixture *f, int64_t first, int64_t end, int64_t step)
{
    frz_buf text = FRZ_BUF_INIT(f->t.env, 1 << 20);
    for (int64_t i = first; i < end; i++) {
        assert_ok(frz_buf_printf(&text, &f->t.err, "%s%lld", i == first ? "" : " ",
                                 (long long)(i * step)),
                  &f->t.err);
    }
    const char *out = frz_arena_strdup(&f->t.arena, frz_buf_view(&text));
    frz_buf_reset(&text);
    return out;
}

/* ---- reading ---- */

static void append_row(frz_buf *out, const frz_type *type, const struct ArrowArray *batch,
                       int64_t row)
{
    for (size_t c = 0; c < type->field_count; c++) {
        assert_int_equal(frz_buf_append_str(out, c == 0 ? "" : ",", NULL), FRZ_OK);
        const frz_type *own = type->fields[c].type;
        const struct ArrowArray *array = batch->children[c];
        if (frz_is_null(array, row)) {
            assert_int_equal(frz_buf_append_str(out, "null", NULL), FRZ_OK);
        } else if (own->id == FRZ_TYPE_STRUCT) {
            struct ArrowArray inner = {.n_children = array->n_children,
                                       .children = array->children};
            assert_int_equal(frz_buf_append_str(out, "{", NULL), FRZ_OK);
            append_row(out, own, &inner, array->offset + row);
            assert_int_equal(frz_buf_append_str(out, "}", NULL), FRZ_OK);
        } else {
            frz_value value = frz_value_at(own, array, row);
            assert_int_equal(frz_value_print(&value, out, NULL), FRZ_OK);
        }
    }
}

static frz_code open_stitch(fixture *f, const frz_field *fields, size_t count,
                            const frz_row_range *ranges, size_t range_count, int64_t max_rows,
                            frz_stitch **out)
{
    const frz_type *type = NULL;
    assert_ok(frz_type_struct_of(&f->t.arena, fields, count, &type, &f->t.err), &f->t.err);
    frz_stitch_request request = {.projection = type,
                                  .ranges = range_count == 0 ? NULL : ranges,
                                  .range_count = range_count,
                                  .max_rows = max_rows};
    return frz_stitch_open(&f->table, &f->entry, &request, out, &f->t.err);
}

/* Rows as text, a blank between them, " | " between batches with the number of the first row
 * before each; a failure gives its code. */
static frz_code read_rows(fixture *f, const frz_field *fields, size_t count,
                          const frz_row_range *ranges, size_t range_count, int64_t max_rows,
                          bool batches, const char **text)
{
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = count};
    frz_buf out = FRZ_BUF_INIT(f->t.env, 1 << 22);
    frz_code rc = open_stitch(f, fields, count, ranges, range_count, max_rows, &stitch);
    while (rc == FRZ_OK) {
        rc = frz_stitch_next(stitch, &batch, &f->t.err);
        if (rc != FRZ_OK) {
            break;
        }
        assert_true(batch.array.length > 0);
        if (batches) {
            assert_int_equal(frz_buf_printf(&out, NULL, "%s%lld:", out.len == 0 ? "" : " | ",
                                            (long long)batch.first_row),
                             FRZ_OK);
        }
        for (int64_t i = 0; i < batch.array.length; i++) {
            assert_int_equal(frz_buf_append_str(&out, out.len == 0 ? "" : " ", NULL), FRZ_OK);
            append_row(&out, &type, &batch.array, i);
        }
        frz_array_release(&batch.array);
    }
    if (stitch != NULL) {
        frz_stitch_counts_get(stitch, &f->counts);
    }
    frz_stitch_close(stitch);
    *text = frz_arena_strdup(&f->t.arena, frz_buf_view(&out));
    frz_buf_reset(&out);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static void check_rows(fixture *f, const frz_field *fields, size_t count, const char *expected)
{
    const char *text = NULL;
    assert_ok(read_rows(f, fields, count, NULL, 0, 0, false, &text), &f->t.err);
    assert_string_equal(text, expected);
}

static void check_fails(fixture *f, const frz_field *fields, size_t count, frz_code code,
                        const char *phrase)
{
    const char *text = NULL;
    assert_fails(read_rows(f, fields, count, NULL, 0, 0, false, &text), &f->t.err, code, phrase);
}

/* ---- combining ---- */

static void three_parts(fixture *f, int64_t base_groups, int64_t first_groups,
                        int64_t second_groups)
{
    set_base(f, 20,
             COLUMNS({LONG(1, "id"), numbers(f, 0, 20, 1)}, {LONG(2, "a"), numbers(f, 0, 20, 0)}),
             base_groups);
    add_file(f, "one", IDS(2), COLUMNS({LONG(2, "a"), numbers(f, 0, 20, 10)}), first_groups);
    add_file(f, "two", IDS(3), COLUMNS({LONG(3, "b"), numbers(f, 0, 20, -1)}), second_groups);
}

static void stitch__parts_are_combined_by_position_whatever_their_row_groups(void **state)
{
    static const int64_t groups[][3] = {{0, 0, 0}, {7, 3, 5}, {1, 20, 6}, {20, 1, 1}, {4, 4, 2}};
    for (size_t g = 0; g < FRZ_ARRAY_COUNT(groups); g++) {
        for (int64_t max_rows = 0; max_rows < 9; max_rows += 4) {
            fixture f;
            const char *text = NULL;
            frz_row_range ranges[] = {{2, 9}, {9, 10}, {15, 20}};
            frz_buf expected = FRZ_BUF_INIT(*state, 4096);
            fixture_open(&f, state);
            three_parts(&f, groups[g][0], groups[g][1], groups[g][2]);
            for (int64_t i = 2; i < 20; i = i == 9 ? 15 : i + 1) {
                assert_ok(frz_buf_printf(&expected, &f.t.err, "%s%lld,%lld,%lld", i == 2 ? "" : " ",
                                         (long long)-i, (long long)i, (long long)(10 * i)),
                          &f.t.err);
            }
            assert_ok(read_rows(&f, FIELDS(LONG(3, "b"), LONG(1, "id"), LONG(2, "a")), ranges, 3,
                                max_rows, false, &text),
                      &f.t.err);
            assert_int_equal(strlen(text), expected.len);
            assert_memory_equal(text, expected.data, expected.len);
            frz_buf_reset(&expected);
            fixture_close(&f);
        }
    }
}

/* Row groups of the smaller part do not show. */
static void stitch__batches_end_where_the_largest_part_and_ranges_do(void **state)
{
    fixture f;
    const char *text = NULL;
    frz_row_range ranges[] = {{1, 6}, {8, 10}};
    fixture_open(&f, state);
    set_base(&f, 10, COLUMNS({LONG(1, "id"), numbers(&f, 0, 10, 1)}), 4);
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "a"), numbers(&f, 0, 10, 2)}), 3);
    assert_ok(read_rows(&f, FIELDS(LONG(1, "id"), LONG(2, "a")), ranges, 2, 0, true, &text),
              &f.t.err);
    assert_string_equal(text, "1: 1,2 2,4 3,6 | 4: 4,8 5,10 | 8: 8,16 9,18");
    assert_ok(read_rows(&f, FIELDS(test_field(9, "new", false, FRZ_TYPE_LONG)), ranges, 2, 2, true,
                        &text),
              &f.t.err);
    assert_string_equal(text, "1: null null | 3: null null | 5: null | 8: null null");
    fixture_close(&f);
}

/* First rows of batches, each preceded by a blank. */
static const char *batch_starts(fixture *f, int64_t max_rows, int64_t max_bytes)
{
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    const frz_type *type = NULL;
    frz_code rc = FRZ_OK;
    frz_buf out = FRZ_BUF_INIT(f->t.env, 4096);
    assert_ok(
        frz_type_struct_of(&f->t.arena, FIELDS(LONG(1, "id"), LONG(2, "a")), &type, &f->t.err),
        &f->t.err);
    frz_stitch_request request = {.projection = type, .max_rows = max_rows, .max_bytes = max_bytes};
    assert_ok(frz_stitch_open(&f->table, &f->entry, &request, &stitch, &f->t.err), &f->t.err);
    while ((rc = frz_stitch_next(stitch, &batch, &f->t.err)) == FRZ_OK) {
        assert_ok(frz_buf_printf(&out, NULL, " %lld", (long long)batch.first_row), &f->t.err);
        frz_array_release(&batch.array);
    }
    assert_int_equal(rc, FRZ_END);
    frz_stitch_close(stitch);
    const char *text = frz_arena_strdup(&f->t.arena, frz_buf_view(&out));
    frz_buf_reset(&out);
    return text;
}

/* What one part has read does not wait for another part, so few batches are cut. */
static void stitch__parts_with_other_row_groups_are_read_in_step(void **state)
{
    enum { ROWS = 24000 };
    fixture f;
    fixture_open(&f, state);
    set_base(&f, ROWS, COLUMNS({LONG(1, "id"), numbers(&f, 0, ROWS, 1)}), 12000);
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "a"), numbers(&f, 0, ROWS, 2)}), 8000);
    assert_string_equal(batch_starts(&f, 5000, 0), " 0 4000 8000 12000 16000 20000");
    fixture_close(&f);
}

static void stitch__all_parts_together_keep_to_the_bytes_of_a_batch(void **state)
{
    enum { ROWS = 24000 };
    fixture f;
    fixture_open(&f, state);
    set_base(&f, ROWS, COLUMNS({LONG(1, "id"), numbers(&f, 0, ROWS, 1)}), 0);
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "a"), numbers(&f, 0, ROWS, 2)}), 0);
    assert_string_equal(batch_starts(&f, 0, 160000), " 0 8000 16000");
    fixture_close(&f);
}

/* Narrow windows over a wide batch of the base file, which is the smaller one: each shows the same
 * memory. */
static void stitch__columns_are_taken_over_by_reference(void **state)
{
    enum { ROWS = 40000, WINDOW = 100 };
    fixture f;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    const void *buffer = NULL;
    int64_t windows = 0, shared = 0;
    frz_code rc;
    fixture_open(&f, state);
    set_base(&f, ROWS, COLUMNS({LONG(1, "id"), numbers(&f, 0, ROWS, 1)}), 0);
    add_file(
        &f, "one", IDS(2, 3),
        COLUMNS({LONG(2, "a"), numbers(&f, 0, ROWS, 2)}, {LONG(3, "b"), numbers(&f, 0, ROWS, 3)}),
        WINDOW);
    assert_ok(
        open_stitch(&f, FIELDS(LONG(1, "id"), LONG(2, "a"), LONG(3, "b")), NULL, 0, 0, &stitch),
        &f.t.err);
    while ((rc = frz_stitch_next(stitch, &batch, &f.t.err)) == FRZ_OK) {
        const struct ArrowArray *id = batch.array.children[0];
        assert_int_equal(frz_get_i64(id, 0), batch.first_row);
        assert_int_equal(frz_get_i64(batch.array.children[1], 0), 2 * batch.first_row);
        shared += buffer == id->buffers[1];
        buffer = id->buffers[1];
        windows++;
        frz_array_release(&batch.array);
    }
    assert_int_equal(rc, FRZ_END);
    assert_true(windows >= ROWS / WINDOW);
    assert_true(shared > windows * 9 / 10);
    frz_stitch_close(stitch);
    fixture_close(&f);
}

static void stitch__a_batch_outlives_the_reader(void **state)
{
    fixture f;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    fixture_open(&f, state);
    three_parts(&f, 0, 0, 0);
    assert_ok(open_stitch(&f, FIELDS(LONG(1, "id"), LONG(3, "b")), NULL, 0, 0, &stitch), &f.t.err);
    assert_ok(frz_stitch_next(stitch, &batch, &f.t.err), &f.t.err);
    frz_stitch_close(stitch);
    assert_int_equal(frz_get_i64(batch.array.children[0], 19), 19);
    assert_int_equal(frz_get_i64(batch.array.children[1], 19), -19);
    frz_array_release(&batch.array);
    fixture_close(&f);
}

/* ---- which files are opened ---- */

static void stitch__only_files_that_provide_something_are_opened(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "7 8"}, {LONG(2, "a"), "0 0"}), 0);
    add_file(&f, "one", IDS(2, FRZ_ID_LAST_UPDATED),
             COLUMNS({LONG(2, "a"), "1 2"}, {LONG(5, "left over"), "9 9"},
                     {frz_field_last_updated, "null 3"}),
             0);
    list_file(&f, "absent", IDS(3));
    check_rows(&f, FIELDS(LONG(2, "a")), "1 2");
    assert_int_equal(f.counts.base_files_opened, 0);
    assert_int_equal(f.counts.column_files_opened, 1);
    check_rows(&f, FIELDS(LONG(1, "id")), "7 8");
    assert_int_equal(f.counts.base_files_opened, 1);
    assert_int_equal(f.counts.column_files_opened, 0);
    check_rows(&f, FIELDS(frz_field_last_updated, LONG(2, "a")), "5,1 3,2");
    assert_int_equal(f.counts.base_files_opened, 0);
    assert_int_equal(f.counts.column_files_opened, 1);
    /* stored in a column file, but not listed: the base file does not have it */
    check_rows(&f, FIELDS(LONG(5, "left over")), "null null");
    assert_int_equal(f.counts.base_files_opened, 1);
    assert_int_equal(f.counts.column_files_opened, 0);
    check_fails(&f, FIELDS(LONG(3, "b")), FRZ_E_NOT_FOUND, "absent");
    fixture_close(&f);
}

static void stitch__no_columns_need_no_file(void **state)
{
    fixture f;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_code rc;
    int64_t rows = 0;
    fixture_open(&f, state);
    f.entry = (frz_entry){.location = FRZ_STR("absent"), .record_count = 150000};
    assert_ok(open_stitch(&f, NULL, 0, NULL, 0, 0, &stitch), &f.t.err);
    while ((rc = frz_stitch_next(stitch, &batch, &f.t.err)) == FRZ_OK) {
        assert_int_equal(batch.first_row, rows);
        rows += batch.array.length;
        frz_array_release(&batch.array);
    }
    assert_int_equal(rc, FRZ_END);
    assert_int_equal(rows, 150000);
    frz_stitch_close(stitch);
    fixture_close(&f);
}

static void stitch__files_without_rows_end_at_once(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 0, COLUMNS({LONG(1, "id"), ""}), 0);
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "a"), ""}), 0);
    check_rows(&f, FIELDS(LONG(1, "id"), LONG(2, "a"), frz_field_row_id, LONG(9, "new")), "");
    check_rows(&f, FIELDS(LONG(9, "new")), "");
    check_rows(&f, NULL, 0, "");
    fixture_close(&f);
}

static void stitch__row_groups_are_those_of_the_base_file_if_it_can_be(void **state)
{
    fixture f;
    frz_stitch *stitch = NULL;
    const int64_t *ends = NULL;
    size_t count = 0;
    fixture_open(&f, state);
    three_parts(&f, 8, 5, 0);
    assert_ok(open_stitch(&f, FIELDS(LONG(2, "a"), LONG(1, "id")), NULL, 0, 0, &stitch), &f.t.err);
    assert_ok(frz_stitch_group_ends(stitch, &ends, &count, &f.t.err), &f.t.err);
    assert_int_equal(count, 3);
    assert_int_equal(ends[0], 8);
    assert_int_equal(ends[2], 20);
    frz_stitch_close(stitch);
    assert_ok(open_stitch(&f, FIELDS(LONG(2, "a"), LONG(3, "b")), NULL, 0, 0, &stitch), &f.t.err);
    assert_ok(frz_stitch_group_ends(stitch, &ends, &count, &f.t.err), &f.t.err);
    assert_int_equal(count, 4);
    assert_int_equal(ends[0], 5);
    frz_stitch_close(stitch);
    assert_ok(open_stitch(&f, NULL, 0, NULL, 0, 0, &stitch), &f.t.err);
    assert_ok(frz_stitch_group_ends(stitch, &ends, &count, &f.t.err), &f.t.err);
    assert_int_equal(count, 3);
    frz_stitch_close(stitch);
    fixture_close(&f);
}

/* ---- what no file stores ---- */

static void stitch__absent_fields_have_their_default(void **state)
{
    fixture f;
    frz_value five = {.type = frz_type_primitive(FRZ_TYPE_LONG), .as.i64 = 5};
    frz_field optional = LONG(8, "o"), needed = NEEDED(9, "r");
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    optional.initial_default = needed.initial_default = &five;
    check_rows(&f, FIELDS(LONG(1, "id"), optional, needed), "1,5,5 2,5,5");
    needed.initial_default = NULL;
    check_fails(&f, FIELDS(needed), FRZ_E_CORRUPT,
                "required column \"r\" (field id 9) is not stored and has no default");
    frz_field unknown = {
        .id = 1, .name = FRZ_STR("u"), .type = frz_type_primitive(FRZ_TYPE_UNKNOWN)};
    check_rows(&f, FIELDS(unknown), "null null");
    assert_int_equal(f.counts.base_files_opened, 0);
    fixture_close(&f);
}

static void stitch__types_are_promoted(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({test_field(1, "id", true, FRZ_TYPE_INT), "1 2"}), 0);
    add_file(&f, "one", IDS(2), COLUMNS({test_field(2, "a", false, FRZ_TYPE_FLOAT), "0.5 null"}),
             0);
    check_rows(&f, FIELDS(LONG(1, "id"), test_field(2, "a", false, FRZ_TYPE_DOUBLE)),
               "1,0.5 2,null");
    check_fails(&f, FIELDS(LONG(2, "a")), FRZ_E_CORRUPT, "a");
    fixture_close(&f);
}

/* ---- lineage ---- */

static void stitch__nulls_of_lineage_columns_are_resolved(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 3, COLUMNS({LONG(1, "id"), "1 2 3"}), 0);
    check_rows(&f, FIELDS(frz_field_row_id, frz_field_last_updated), "100,5 101,5 102,5");
    fixture_close(&f);
    fixture_open(&f, state);
    set_base(&f, 3,
             COLUMNS({frz_field_row_id, "7 null 9"}, {LONG(1, "id"), "1 2 3"},
                     {frz_field_last_updated, "null 2 2"}),
             0);
    check_rows(&f, FIELDS(frz_field_row_id, frz_field_last_updated), "7,5 101,2 9,2");
    add_file(&f, "one", IDS(FRZ_ID_LAST_UPDATED), COLUMNS({frz_field_last_updated, "4 null null"}),
             0);
    check_rows(&f, FIELDS(frz_field_last_updated, frz_field_row_id), "4,7 5,101 5,9");
    f.entry.first_row_id = FRZ_NO_VALUE;
    check_rows(&f, FIELDS(frz_field_row_id), "7 null 9");
    f.entry.first_row_id = INT64_MAX - 2;
    check_fails(&f, FIELDS(frz_field_row_id), FRZ_E_CORRUPT, "leaves no ids for 3 rows");
    f.entry.first_row_id = INT64_MAX - 3;
    check_rows(&f, FIELDS(frz_field_row_id), "7 9223372036854775805 9");
    fixture_close(&f);
}

/* Rows whose stored number is null have the entry's number, which no bound covers. */
static void plan__bounds_of_lineage_columns_prune_only_without_nulls(void **state)
{
    fixture f;
    const frz_type *readable = NULL;
    const frz_expr *expr = NULL;
    frz_bound_expr *filter = NULL;
    frz_entry_filter *asked = NULL;
    frz_type type = {.id = FRZ_TYPE_STRUCT};
    frz_schema schema = {.type = &type};
    frz_metadata metadata = {.spec_count = 0};
    fixture_open(&f, state);
    frz_field_stats stats = FRZ_FIELD_STATS_UNKNOWN(FRZ_ID_LAST_UPDATED, frz_field_row_id.type);
    stats.has_lower = stats.has_upper = true;
    stats.lower = stats.upper = (frz_value){.type = frz_field_row_id.type, .as.i64 = 2};
    stats.value_count = 4;
    frz_entry entry = {.sequence_number = 5, .record_count = 4, .stats = &stats, .stats_count = 1};
    assert_ok(frz_readable_type(&f.t.arena, &schema, &readable, &f.t.err), &f.t.err);
    assert_ok(
        frz_expr_parse(&f.t.arena, FRZ_STR("_last_updated_sequence_number = 5"), &expr, &f.t.err),
        &f.t.err);
    assert_ok(frz_expr_bind_filter(f.t.env, expr, readable, &filter, &f.t.err), &f.t.err);
    assert_ok(frz_entry_filter_new(f.t.env, &metadata, &schema, filter, &asked, &f.t.err),
              &f.t.err);
    stats.null_value_count = 1;
    assert_true(frz_entry_filter_may_match(asked, &entry));
    stats.null_value_count = FRZ_STAT_UNKNOWN;
    assert_true(frz_entry_filter_may_match(asked, &entry));
    stats.null_value_count = 0;
    assert_false(frz_entry_filter_may_match(asked, &entry));
    frz_entry_filter_free(asked);
    frz_bound_expr_free(filter);
    fixture_close(&f);
}

/* ---- what is refused ---- */

static void stitch__row_counts_must_agree(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 3, COLUMNS({LONG(1, "id"), "1 2 3"}), 0);
    add_file(&f, "short", IDS(2), COLUMNS({LONG(2, "a"), "1 2"}), 0);
    add_file(&f, "long", IDS(3), COLUMNS({LONG(3, "b"), "1 2 3 4"}), 0);
    check_rows(&f, FIELDS(LONG(1, "id")), "1 2 3");
    check_fails(&f, FIELDS(LONG(1, "id"), LONG(2, "a")), FRZ_E_CORRUPT,
                "short: file has 2 rows, its manifest entry says 3");
    check_fails(&f, FIELDS(LONG(3, "b")), FRZ_E_CORRUPT, "long: file has 4 rows");
    f.entry.record_count = 4;
    check_fails(&f, FIELDS(LONG(1, "id")), FRZ_E_CORRUPT, "base: file has 3 rows");
    f.entry.file_size--;
    check_fails(&f, FIELDS(LONG(1, "id")), FRZ_E_CORRUPT, "bytes, its manifest entry says");
    /* sizes that writers of older versions record are not always right */
    f.entry.is_legacy = true;
    f.entry.record_count = 3;
    check_rows(&f, FIELDS(LONG(1, "id")), "1 2 3");
    fixture_close(&f);
}

static void stitch__a_listed_field_must_be_stored(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}, {LONG(2, "a"), "8 9"}), 0);
    add_file(&f, "one", IDS(2), COLUMNS({LONG(3, "a"), "1 2"}), 0);
    check_fails(&f, FIELDS(LONG(2, "a")), FRZ_E_CORRUPT,
                "one: column file lists field id 2 (\"a\") but does not store it");
    check_rows(&f, FIELDS(LONG(1, "id")), "1 2");
    fixture_close(&f);
}

static void stitch__a_required_field_must_not_be_null(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}, {NEEDED(2, "a"), "8 9"}), 0);
    check_rows(&f, FIELDS(NEEDED(2, "a")), "8 9");
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "a"), "1 null"}), 0);
    check_fails(&f, FIELDS(NEEDED(2, "a")), FRZ_E_CORRUPT,
                "required column \"a\" (field id 2) is null in row 1");
    check_rows(&f, FIELDS(LONG(2, "a")), "1 null");
    fixture_close(&f);
}

static frz_code leave_first_out(void *ctx, const frz_batch *batch, uint8_t *bits, frz_error *err)
{
    (void)ctx;
    (void)err;
    if (batch->first_row == 0) {
        frz_bit_clear(bits, 0);
    }
    return FRZ_OK;
}

/* The numbers of rows that are left are not those of rows that are deleted. */
static void stitch__a_required_field_must_not_be_null_where_rows_are_left_out(void **state)
{
    fixture f;
    fixture_open(&f, state);
    const frz_type *type = NULL;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_positions *deleted = NULL;
    const int64_t first = 0;
    const frz_thinning thinning = {.choose = leave_first_out};
    const frz_field fields[] = {NEEDED(2, "a")};
    set_base(&f, 3, COLUMNS({LONG(2, "a"), "1 null 3"}), 0);
    assert_ok(frz_positions_of(f.t.env, &first, 1, &deleted, &f.t.err), &f.t.err);
    assert_ok(frz_type_struct_of(&f.t.arena, fields, 1, &type, &f.t.err), &f.t.err);
    const frz_stitch_request request = {
        .projection = type, .with_deleted = true, .deleted = deleted, .thinning = &thinning};
    assert_ok(frz_stitch_open(&f.table, &f.entry, &request, &stitch, &f.t.err), &f.t.err);
    assert_true(frz_stitch_thins(stitch));
    assert_fails(frz_stitch_next(stitch, &batch, &f.t.err), &f.t.err, FRZ_E_CORRUPT,
                 "is null in row 0 or a later one");
    frz_stitch_close(stitch);
    frz_positions_free(deleted);
    fixture_close(&f);
}

static void stitch__deletion_vectors_are_not_ignored(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    f.entry.has_deletion_vector = true;
    check_fails(&f, FIELDS(LONG(1, "id")), FRZ_E_UNSUPPORTED,
                "unsupported: deletion vector of base");
    fixture_close(&f);
}

static void stitch__files_without_ids_need_a_mapping(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(FRZ_ID_NONE, "id"), "1 2"}, {LONG(FRZ_ID_NONE, "a"), "8 9"}), 0);
    check_fails(&f, FIELDS(LONG(1, "id")), FRZ_E_CORRUPT, "no name mapping gives them any");
    assert_non_null(strstr(f.t.err.hint, "schema.name-mapping.default"));
    assert_ok(frz_name_mapping_parse(&f.t.arena,
                                     FRZ_STR("[{\"field-id\": 1, \"names\": [\"id\"]}]"),
                                     &f.table.mapping, &f.t.err),
              &f.t.err);
    f.table.has_mapping = true;
    check_rows(&f, FIELDS(LONG(1, "id"), LONG(2, "a")), "1,null 2,null");
    /* the mapping is for base files only */
    add_file(&f, "one", IDS(2), COLUMNS({LONG(FRZ_ID_NONE, "id"), "1 2"}), 0);
    check_fails(&f, FIELDS(LONG(2, "a")), FRZ_E_CORRUPT, "one: columns have no field ids");
    fixture_close(&f);
}

/* ---- structs ---- */

/* Struct 2 "s" of x (3), y (4) and z (5), as far as a letter of each is in names. */
static frz_field struct_field(fixture *f, const char *names)
{
    frz_field fields[3];
    const frz_type *type = NULL;
    size_t n = 0;
    for (const char *p = names; *p != '\0'; p++) {
        fields[n++] = LONG(3 + (*p - 'x'), frz_arena_strdup(&f->t.arena, (frz_str){p, 1}));
    }
    assert_ok(frz_type_struct_of(&f->t.arena, fields, n, &type, &f->t.err), &f->t.err);
    return (frz_field){.id = 2, .name = FRZ_STR("s"), .type = type};
}

/* Two rows of a struct: its members are first, first + 1, …; the second row is null. */
static void put_field(fixture *f, const char *name, frz_field field, int64_t first)
{
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *writer = NULL;
    frz_builder *builder = NULL;
    struct ArrowArray batch;
    const frz_type *type = NULL;
    frz_error *err = &f->t.err;
    assert_ok(frz_type_struct_of(&f->t.arena, &field, 1, &type, err), err);
    assert_ok(frz_builder_new(f->t.env, type, &builder, err), err);
    frz_builder *s = frz_builder_child(builder, 0);
    for (size_t i = 0; i < field.type->field_count; i++) {
        assert_ok(frz_builder_i64(frz_builder_child(s, i), first + (int64_t)i, err), err);
    }
    assert_ok(frz_builder_end(s, err), err);
    assert_ok(frz_builder_end(builder, err), err);
    assert_ok(frz_builder_null(s, err), err);
    assert_ok(frz_builder_end(builder, err), err);
    assert_ok(frz_builder_finish(builder, &batch, err), err);
    frz_builder_free(builder);
    assert_ok(frz_parquet_writer_open(f->t.env, path_of(f, name), type, &options, &writer, err),
              err);
    assert_ok(frz_parquet_writer_write(writer, &batch, err), err);
    frz_array_release(&batch);
    assert_ok(frz_parquet_writer_finish(writer, false, NULL, NULL, err), err);
}

static void put_struct(fixture *f, const char *name, const char *names, int64_t first)
{
    put_field(f, name, struct_field(f, names), first);
}

static void struct_case(fixture *f, void **state, const char *base, const char *file,
                        const int32_t *ids, size_t id_count)
{
    fixture_open(f, state);
    set_base(f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    f->entry.location = FRZ_STR("base-struct");
    put_struct(f, "base-struct", base, 10);
    f->entry.file_size = size_of(f, "base-struct");
    put_struct(f, "one", file, 20);
    list_file(f, "one", ids, id_count);
}

static void struct__the_file_that_lists_it_provides_all_of_it(void **state)
{
    fixture f;
    struct_case(&f, state, "xy", "xy", IDS(2, 3, 4));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,21} null");
    check_rows(&f, FIELDS(struct_field(&f, "y")), "{21} null");
    assert_int_equal(f.counts.base_files_opened, 0);
    fixture_close(&f);
    /* the older rule: the struct alone is listed */
    struct_case(&f, state, "xy", "xy", IDS(2));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,21} null");
    assert_int_equal(f.counts.base_files_opened, 0);
    fixture_close(&f);
}

static void struct__a_listed_member_must_be_stored(void **state)
{
    fixture f;
    struct_case(&f, state, "xy", "x", IDS(2, 3, 4));
    check_fails(&f, FIELDS(struct_field(&f, "xy")), FRZ_E_CORRUPT,
                "one: column file lists field id 4 (\"y\") but does not store it");
    check_rows(&f, FIELDS(struct_field(&f, "x")), "{20} null");
    fixture_close(&f);
}

/* Each member from the file that lists it, null-ness from the file that lists the struct. */
static void struct__members_in_both_files_are_combined(void **state)
{
    fixture f;
    /* y is the base file's, whatever the column file has of it */
    struct_case(&f, state, "xy", "xy", IDS(2, 3));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,11} null");
    assert_int_equal(f.counts.base_files_opened, 1);
    check_rows(&f, FIELDS(struct_field(&f, "yx"), LONG(9, "other")), "{11,20},null null,null");
    check_rows(&f, FIELDS(struct_field(&f, "x")), "{20} null");
    assert_int_equal(f.counts.base_files_opened, 0);
    fixture_close(&f);
    /* the struct alone is listed, and its group lacks a member */
    struct_case(&f, state, "xy", "x", IDS(2));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,11} null");
    fixture_close(&f);
    /* a member in the column file, the struct in the base file */
    struct_case(&f, state, "xy", "x", IDS(3));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,11} null");
    check_rows(&f, FIELDS(struct_field(&f, "y")), "{11} null");
    assert_int_equal(f.counts.column_files_opened, 0);
    check_rows(&f, FIELDS(struct_field(&f, "x")), "{20} null");
    fixture_close(&f);
    /* members in two column files */
    struct_case(&f, state, "xy", "x", IDS(2, 3));
    put_struct(&f, "two", "y", 30);
    list_file(&f, "two", IDS(4));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{20,30} null");
    assert_int_equal(f.counts.base_files_opened, 0);
    check_rows(&f, FIELDS(struct_field(&f, "yz")), "{30,null} null");
    fixture_close(&f);
}

/* No file stores the struct: members that are listed do not make it. */
static void struct__that_nobody_stores_is_null(void **state)
{
    fixture f;
    static const frz_value empty = {.is_null = false};
    struct_case(&f, state, "xy", "xy", IDS(3));
    f.entry.location = FRZ_STR("base");
    f.entry.file_size = size_of(&f, "base");
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "null null");
    frz_field field = struct_field(&f, "xz");
    frz_value value = empty;
    value.type = field.type;
    field.initial_default = &value;
    check_rows(&f, FIELDS(field), "{null,null} {null,null}");
    fixture_close(&f);
}

/* A member added to the schema after all files were written. */
static void struct__a_member_that_no_file_has_is_null(void **state)
{
    fixture f;
    struct_case(&f, state, "xy", "xy", IDS(2, 3, 4));
    check_rows(&f, FIELDS(struct_field(&f, "xyz")), "{20,21,null} null");
    fixture_close(&f);
    struct_case(&f, state, "xy", "xy", IDS(2));
    check_rows(&f, FIELDS(struct_field(&f, "xyz")), "{20,21,null} null");
    fixture_close(&f);
    /* z is in the column file, too, but old */
    struct_case(&f, state, "xy", "xyz", IDS(2, 3, 4));
    check_rows(&f, FIELDS(struct_field(&f, "xyz")), "{20,21,null} null");
    fixture_close(&f);
    struct_case(&f, state, "xyz", "xy", IDS(2, 3, 4));
    check_rows(&f, FIELDS(struct_field(&f, "xyz")), "{20,21,12} null");
    fixture_close(&f);
}

/* A column file may hold nulls in deleted rows only, at any depth. */
static void struct__a_required_member_may_not_be_null(void **state)
{
    fixture f;
    struct_case(&f, state, "x", "xy", IDS(2, 3, 4));
    frz_field field = struct_field(&f, "xy");
    frz_field members[2] = {field.type->fields[0], field.type->fields[1]};
    frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = members, .field_count = 2};
    field.type = &type;
    members[1].required = true;
    check_rows(&f, FIELDS(field), "{20,21} null"); /* where the struct is null it is nothing */
    members[1].id = 5;
    check_fails(&f, FIELDS(field), FRZ_E_CORRUPT, "required column \"y\" (field id 5)");
    fixture_close(&f);
}

/* The struct has its id, its members have none: nulls in their place would be made up. */
static void struct__members_without_ids_need_a_mapping(void **state)
{
    fixture f;
    fixture_open(&f, state);
    frz_field field = struct_field(&f, "xy");
    frz_field members[2] = {field.type->fields[0], field.type->fields[1]};
    frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = members, .field_count = 2};
    frz_field wanted = field;
    field.type = &type;
    members[0].id = members[1].id = FRZ_ID_NONE;
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    f.entry.location = FRZ_STR("base-struct");
    put_field(&f, "base-struct", field, 10);
    f.entry.file_size = size_of(&f, "base-struct");
    check_fails(&f, FIELDS(wanted), FRZ_E_CORRUPT,
                "base-struct: members of \"s\" have no field ids and no name mapping");
    assert_non_null(strstr(f.t.err.hint, "schema.name-mapping.default"));
    assert_ok(frz_name_mapping_parse(&f.t.arena,
                                     FRZ_STR("[{\"field-id\": 2, \"names\": [], \"fields\": "
                                             "[{\"field-id\": 4, \"names\": [\"x\"]}]}]"),
                                     &f.table.mapping, &f.t.err),
              &f.t.err);
    f.table.has_mapping = true;
    check_rows(&f, FIELDS(wanted), "{null,10} null"); /* what is y now was x in this file */
    fixture_close(&f);
}

/* ---- values of partitions ---- */

/* Partition field 1000 of a transform over a source, and the value in the entry's tuple. */
static void set_partition(fixture *f, const char *transform, int32_t source_id, frz_value value)
{
    static frz_partition_spec spec;
    static frz_partition_field field;
    static frz_partition_value tuple;
    static int32_t source;
    source = source_id;
    field = (frz_partition_field){.field_id = 1000,
                                  .source_ids = &source,
                                  .source_count = 1,
                                  .transform = frz_transform_parse(frz_str_from(transform))};
    spec = (frz_partition_spec){.spec_id = 0, .fields = &field, .field_count = 1};
    tuple = (frz_partition_value){1000, value};
    f->table.metadata.specs = &spec;
    f->table.metadata.spec_count = 1;
    f->entry.spec_id = 0;
    f->entry.partition = &tuple;
    f->entry.partition_count = 1;
}

static frz_value whole(frz_type_id type, int32_t value)
{
    return (frz_value){.type = frz_type_primitive(type), .as.i32 = value};
}

static void partition__gives_identity_values_that_are_not_stored(void **state)
{
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    frz_value seven = {.type = frz_type_primitive(FRZ_TYPE_LONG), .as.i64 = 7};
    frz_field defaulted = LONG(2, "p");
    defaulted.initial_default = &seven;
    set_partition(&f, "identity", 2, whole(FRZ_TYPE_INT, 5));
    check_rows(&f, FIELDS(LONG(1, "id"), LONG(2, "p")), "1,5 2,5");
    check_rows(&f, FIELDS(NEEDED(2, "p")), "5 5");
    check_rows(&f, FIELDS(defaulted), "5 5");
    /* what is stored counts, whatever the tuple says */
    set_partition(&f, "identity", 1, whole(FRZ_TYPE_INT, 5));
    check_rows(&f, FIELDS(LONG(1, "id")), "1 2");
    /* a column file is more than the tuple */
    set_partition(&f, "identity", 2, whole(FRZ_TYPE_INT, 5));
    add_file(&f, "one", IDS(2), COLUMNS({LONG(2, "p"), "8 9"}), 0);
    check_rows(&f, FIELDS(LONG(2, "p")), "8 9");
    f.entry.column_file_count = 0;
    /* null is a value, too */
    frz_value null = whole(FRZ_TYPE_INT, 0);
    null.is_null = true;
    set_partition(&f, "identity", 2, null);
    check_rows(&f, FIELDS(defaulted), "null null");
    check_fails(&f, FIELDS(NEEDED(2, "p")), FRZ_E_CORRUPT, "is not stored and has no default");
    fixture_close(&f);
}

static void partition__gives_nothing_through_other_transforms(void **state)
{
    static const char *const transforms[] = {"void", "bucket[4]", "truncate[10]", "zorder"};
    fixture f;
    fixture_open(&f, state);
    set_base(&f, 2, COLUMNS({LONG(1, "id"), "1 2"}), 0);
    frz_value seven = {.type = frz_type_primitive(FRZ_TYPE_LONG), .as.i64 = 7};
    frz_field defaulted = LONG(2, "p");
    defaulted.initial_default = &seven;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(transforms); i++) {
        set_partition(&f, transforms[i], 2, whole(FRZ_TYPE_INT, 5));
        check_rows(&f, FIELDS(LONG(2, "p"), defaulted), "null,7 null,7");
    }
    /* a spec that the entry does not have */
    set_partition(&f, "identity", 2, whole(FRZ_TYPE_INT, 5));
    f.entry.spec_id = -1;
    check_rows(&f, FIELDS(defaulted), "7 7");
    set_partition(&f, "identity", 2, (frz_value){.type = frz_type_primitive(FRZ_TYPE_STRING)});
    check_fails(&f, FIELDS(LONG(2, "p")), FRZ_E_CORRUPT,
                "its partition value of type string cannot be read as long");
    fixture_close(&f);
}

/* The member of a struct is the source: the struct comes from the file, the member does not. */
static void partition__gives_members_of_structs(void **state)
{
    fixture f;
    struct_case(&f, state, "x", "y", IDS(9));
    set_partition(&f, "identity", 4, whole(FRZ_TYPE_INT, 5));
    check_rows(&f, FIELDS(struct_field(&f, "xy")), "{10,5} null");
    fixture_close(&f);
}

/* ---- through a scan ---- */

static void scan__its_report_counts_the_files(void **state)
{
    test_table t;
    const char *paths[2];
    const char *columns[] = {"a"};
    const frz_assignment set = {"a", "id * 2"};
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    frz_scan_report report;
    frz_table *table = NULL;
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    table_open(&t, state);
    paths[0] = source_file(&t, COLUMNS({LONG(1, "id"), "1 2"}, {LONG(2, "a"), "0 0"}), 0);
    paths[1] = source_file(&t, COLUMNS({LONG(1, "id"), "3 4"}, {LONG(2, "a"), "0 0"}), 0);
    import_files(&t, paths, 2);
    assert_ok(frz_update_columns(t.catalog, TEST_NAME, &set, 1, NULL, NULL, &t.err), &t.err);
    assert_ok(frz_catalog_load_table(t.catalog, TEST_NAME, &table, &t.err), &t.err);
    options.columns = columns;
    options.column_count = 1;
    options.where = "a > 4";
    assert_ok(frz_scan_open(table, &options, &scan, &t.err), &t.err);
    assert_ok(frz_scan_next(scan, &batch, &t.err), &t.err);
    assert_int_equal(batch.length, 2);
    frz_array_release(&batch);
    frz_scan_report_get(scan, &report);
    assert_int_equal(report.column_files_opened, 1);
    assert_int_equal(frz_scan_next(scan, &batch, &t.err), FRZ_END);
    frz_scan_report_get(scan, &report);
    assert_int_equal(report.files, 2);
    assert_int_equal(report.files_skipped, 1);
    assert_int_equal(report.base_files_opened, 0);
    assert_int_equal(report.column_files_opened, 1);
    assert_int_equal(report.rows_read, 2);
    assert_int_equal(report.rows_returned, 2);
    frz_scan_close(scan);
    frz_table_unref(table);
    table_close(&t);
}

/* ---- without memory ---- */

static fixture *prepared;

static frz_code read_with(const frz_env *env, frz_error *err)
{
    const frz_field fields[] = {LONG(1, "id"), LONG(2, "a"), LONG(9, "new"), frz_field_row_id};
    const frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 4};
    frz_table table = prepared->table;
    table.env = env;
    frz_stitch_request request = {.projection = &type};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_code rc = frz_stitch_open(&table, &prepared->entry, &request, &stitch, err);
    while (rc == FRZ_OK) {
        rc = frz_stitch_next(stitch, &batch, err);
        frz_array_release(&batch.array);
    }
    frz_stitch_close(stitch);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static void stitch__every_allocation_may_fail(void **state)
{
    fixture f;
    fixture_open(&f, state);
    three_parts(&f, 12, 9, 0);
    prepared = &f;
    assert_true(test_fail_every_allocation(read_with) > 30);
    fixture_close(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(stitch__parts_are_combined_by_position_whatever_their_row_groups),
        TEST_WITH_ENV(stitch__batches_end_where_the_largest_part_and_ranges_do),
        TEST_WITH_ENV(stitch__parts_with_other_row_groups_are_read_in_step),
        TEST_WITH_ENV(stitch__all_parts_together_keep_to_the_bytes_of_a_batch),
        TEST_WITH_ENV(stitch__columns_are_taken_over_by_reference),
        TEST_WITH_ENV(stitch__a_batch_outlives_the_reader),
        TEST_WITH_ENV(stitch__only_files_that_provide_something_are_opened),
        TEST_WITH_ENV(stitch__no_columns_need_no_file),
        TEST_WITH_ENV(stitch__files_without_rows_end_at_once),
        TEST_WITH_ENV(stitch__row_groups_are_those_of_the_base_file_if_it_can_be),
        TEST_WITH_ENV(stitch__absent_fields_have_their_default),
        TEST_WITH_ENV(stitch__types_are_promoted),
        TEST_WITH_ENV(stitch__nulls_of_lineage_columns_are_resolved),
        TEST_WITH_ENV(plan__bounds_of_lineage_columns_prune_only_without_nulls),
        TEST_WITH_ENV(stitch__row_counts_must_agree),
        TEST_WITH_ENV(stitch__a_listed_field_must_be_stored),
        TEST_WITH_ENV(stitch__a_required_field_must_not_be_null),
        TEST_WITH_ENV(stitch__a_required_field_must_not_be_null_where_rows_are_left_out),
        TEST_WITH_ENV(stitch__deletion_vectors_are_not_ignored),
        TEST_WITH_ENV(stitch__files_without_ids_need_a_mapping),
        TEST_WITH_ENV(struct__the_file_that_lists_it_provides_all_of_it),
        TEST_WITH_ENV(struct__a_listed_member_must_be_stored),
        TEST_WITH_ENV(struct__members_in_both_files_are_combined),
        TEST_WITH_ENV(struct__that_nobody_stores_is_null),
        TEST_WITH_ENV(struct__a_required_member_may_not_be_null),
        TEST_WITH_ENV(struct__a_member_that_no_file_has_is_null),
        TEST_WITH_ENV(struct__members_without_ids_need_a_mapping),
        TEST_WITH_ENV(partition__gives_identity_values_that_are_not_stored),
        TEST_WITH_ENV(partition__gives_nothing_through_other_transforms),
        TEST_WITH_ENV(partition__gives_members_of_structs),
        TEST_WITH_ENV(scan__its_report_counts_the_files),
        TEST_WITH_ENV(stitch__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
