/*
 * Reading by the offset index: only what is needed is read, and a damaged index gives no wrong
 * rows.
 */
#include "format/parquet/parquet_index.h"
#include "unit/expr/expr_model.h"
#include "unit/format/parquet_big_file.h"

/* Bytes of the pages that hold a wanted row, and of the offset indexes that tell which. */
static uint64_t bytes_needed(big_file *f, const frz_row_range *ranges, size_t count)
{
    frz_error err = {0};
    uint64_t bytes = 0;
    const parquet_file *file = (const parquet_file *)f->file;
    for (size_t g = 0; g < file->metadata.group_count; g++) {
        for (size_t column = 0; column < file->column_count; column++) {
            parquet_chunk chunk;
            parquet_kept_index *kept;
            int64_t first = file->metadata.groups[g].first_row;
            bool any = false;
            assert_ok(parquet_file_chunk(file, g, column, &chunk, &err), &err);
            assert_ok(parquet_offset_index_get(file, &chunk, column, g, &kept, &err), &err);
            assert_non_null(kept);
            parquet_offset_index index = kept->offsets;
            for (size_t page = 0; page < index.count; page++) {
                bool wanted = false;
                for (size_t i = 0; i < count; i++) {
                    wanted =
                        wanted || (ranges[i].start < first + parquet_page_end_row(&index, page) &&
                                   ranges[i].end > first + index.pages[page].first_row);
                }
                bytes += wanted ? index.pages[page].size : 0;
                any = any || wanted;
            }
            bytes += any ? (uint64_t)chunk.offset_index_length : 0;
            parquet_kept_index_unref(kept);
        }
    }
    return bytes;
}

static void check_bytes(big_file *f, const frz_row_range *ranges, size_t count)
{
    uint64_t needed = bytes_needed(f, ranges, count);
    frz_env_drop_cache(f->env);
    uint64_t read = big_read(f, ranges, count);
    if (read != needed) {
        fail_msg("%llu bytes were read, %llu are needed", (unsigned long long)read,
                 (unsigned long long)needed);
    }
}

static void locate__only_pages_with_wanted_rows_are_read(void **state)
{
    static const frz_row_range one[] = {{123456, 123457}};
    static const frz_row_range gaps[] = {{0, 1},         {499, 501},      {700, 701},
                                         {2200, 2201},   {4100, 4101},    {30000, 31000},
                                         {49999, 50001}, {150000, 150001}};
    static const frz_row_range first[] = {{0, PAGE_ROWS}};
    static const frz_row_range last[] = {{BIG_ROWS - 1, BIG_ROWS}};
    static const frz_row_range same_page[] = {{1000, 1010}, {1020, 1030}, {1490, 1500}};
    for (int version = 1; version <= 2; version++) {
        big_file f;
        big_open(&f, *state, version);
        check_bytes(&f, one, 1);
        check_bytes(&f, gaps, FRZ_ARRAY_COUNT(gaps));
        check_bytes(&f, first, 1);
        check_bytes(&f, last, 1);
        check_bytes(&f, same_page, FRZ_ARRAY_COUNT(same_page));
        big_close(&f);
    }
}

/* Of the file's three columns one is a list. */
static void locate__lists_are_not_found_by_indexes_in_doubt(void **state)
{
    static const struct {
        const char *writer;
        bool doubt;
    } tries[] = {{"parquet-rs version 41.0.0", false}, {"parquet-mr version 1.13.1", false},
                 {"parquet-rs version 40.0.0", true},  {"parquet-rs version", false},
                 {"parquet-rs version x", true},       {"parquet-go version 18.0.0", true},
                 {"ClickHouse v25.3.1.1", true},       {"hyparquet", true}};
    static const frz_row_range one[] = {{123456, 123457}};
    big_file f;
    big_open(&f, *state, 1);
    uint64_t needed = bytes_needed(&f, one, 1);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        ((parquet_file *)f.file)->metadata.created_by = frz_str_from(tries[i].writer);
        frz_env_drop_cache(f.env);
        uint64_t read = big_read(&f, one, 1);
        if (tries[i].doubt ? read < 4 * needed : read != needed) {
            fail_msg("%s: %llu bytes were read, %llu are needed", tries[i].writer,
                     (unsigned long long)read, (unsigned long long)needed);
        }
    }
    big_close(&f);
}

static void locate__random_ranges_hold_their_rows(void **state)
{
    test_random r = {UINT64_C(77)};
    big_file f;
    big_open(&f, *state, 1);
    for (int round = 0; round < 60; round++) {
        frz_row_range ranges[20];
        size_t count = 1 + (size_t)random_int(&r, 20);
        int64_t at = random_int(&r, 3) == 0 ? 0 : random_int(&r, BIG_ROWS / 2);
        size_t n = 0;
        for (size_t i = 0; i < count && at < BIG_ROWS; i++) {
            int64_t rows = 1 + random_int(&r, random_int(&r, 4) == 0 ? 3000 : 50);
            ranges[n++] = (frz_row_range){at, FRZ_MIN(at + rows, BIG_ROWS)};
            at += rows + random_int(&r, random_int(&r, 2) == 0 ? 20000 : 400);
        }
        (void)big_read(&f, ranges, n);
    }
    big_close(&f);
}

/* ---- indexes that are damaged ---- */

/* What a log line says, kept for the test. */
typedef struct log_lines {
    int warnings;
    char last[512];
} log_lines;

static void take_line(void *ctx, const char *component, frz_log_level level, const char *line)
{
    log_lines *lines = ctx;
    if (level == FRZ_LOG_WARN && strcmp(component, "parquet") == 0) {
        lines->warnings++;
        snprintf(lines->last, sizeof lines->last, "%s", line);
    }
}

/* An environment that logs there and keeps no indexes. */
static frz_env *logging_env(log_lines *lines)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    frz_error err = {0};
    options.log = take_line;
    options.log_ctx = lines;
    options.log_spec = "parquet=warn";
    options.cache_bytes = 1;
    assert_ok(frz_env_new(&options, &env, &err), &err);
    return env;
}

static void flip(const char *path, int64_t at, uint8_t mask)
{
    uint8_t byte;
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fread(&byte, 1, 1, f), 1);
    byte ^= mask;
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* A bit of each byte of the offset indexes: rows come out right, or the file is called corrupt. */
static void locate__a_damaged_index_gives_no_wrong_rows(void **state)
{
    static const frz_row_range ranges[] = {{3000, 3010}, {9990, 10510}};
    log_lines lines = {0};
    frz_env *env = logging_env(&lines);
    big_file f;
    int ignored = 0;
    int refused = 0;
    (void)state;
    big_write(&f, env, 1, 11000);
    for (size_t column = 0; column < 3; column++) {
        frz_error err = {0};
        parquet_chunk chunk;
        assert_ok(frz_data_file_open(env, f.p.path, NULL, &f.file, &err), &err);
        assert_ok(parquet_file_chunk((const parquet_file *)f.file, 0, column, &chunk, &err), &err);
        frz_data_file_close(f.file);
        for (int32_t i = 0; i < chunk.offset_index_length; i++) {
            int64_t rows;
            int before = lines.warnings;
            int64_t at = chunk.offset_index_offset + i;
            uint8_t mask = (uint8_t)(1u << (i * 5 + (int32_t)column) % 8);
            flip(f.p.path, at, mask);
            assert_ok(frz_data_file_open(env, f.p.path, NULL, &f.file, &err), &err);
            frz_code rc = big_compare(&f, ranges, 2, &rows, &err);
            assert_true(rc == FRZ_E_CORRUPT || (rc == FRZ_OK && rows == 530));
            refused += rc != FRZ_OK;
            ignored += lines.warnings > before;
            frz_data_file_close(f.file);
            flip(f.p.path, at, mask);
        }
    }
    print_message("%d indexes were ignored, %d refused\n", ignored, refused);
    assert_true(ignored > 0 && refused > 0);
    assert_non_null(strstr(lines.last, "the offset index is not used"));
    f.file = NULL;
    big_close(&f);
    frz_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(locate__only_pages_with_wanted_rows_are_read),
        TEST_WITH_ENV(locate__lists_are_not_found_by_indexes_in_doubt),
        TEST_WITH_ENV(locate__random_ranges_hold_their_rows),
        cmocka_unit_test(locate__a_damaged_index_gives_no_wrong_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
