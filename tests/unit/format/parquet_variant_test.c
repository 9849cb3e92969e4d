/*
 * Variants in Parquet files of others: plain and shredded ones, each beside its bytes as another
 * implementation put them together.
 */
#include <stdlib.h>

#include "format/format.h"
#include "type/type_variant.h"
#include "unit/test_alloc.h"

#define CASES 138

static const char *folder(char *path, size_t size)
{
    const char *corpora = getenv("FRAZIL_CORPORA");
    snprintf(path, size, "%s/parquet-testing/shredded_variant",
             corpora == NULL ? "../shared/corpora" : corpora);
    return path;
}

static void append(void *ctx, const char *text, size_t size)
{
    frz_error err;
    assert_ok(frz_buf_append(ctx, text, size, &err), &err);
}

/* The file's bytes: metadata, then the value. */
static bool expected_text(const char *path, frz_buf *out)
{
    static char bytes[100000];
    frz_error err = {0};
    frz_variant_names names;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_ok(frz_variant_names_read((frz_str){bytes, len}, &names, &err), &err);
    uint32_t end = 0;
    memcpy(&end, bytes + names.bytes - names.width, names.width);
    frz_str value = {bytes + names.bytes + end, len - names.bytes - end};
    assert_ok(frz_variant_print(&names, value, append, out, &err), &err);
    return true;
}

static frz_code open_reader(const frz_env *env, const char *path, frz_data_file **file,
                            frz_data_reader **reader, frz_error *err)
{
    static const frz_type variant = {.id = FRZ_TYPE_VARIANT};
    static const frz_field field = {.id = 2, .name = {"var", 3}, .type = &variant};
    static const frz_type row = {.id = FRZ_TYPE_STRUCT, .fields = &field, .field_count = 1};
    frz_read_request request = {.projection = &row};
    frz_code rc = frz_data_file_open(env, path, NULL, file, err);
    return rc == FRZ_OK ? frz_data_reader_open(*file, &request, reader, err) : rc;
}

/* All rows of the file; *rows receives how many were right. */
static frz_code check_file(const frz_env *env, const char *path, const char *stem, int64_t *rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    frz_buf wanted = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_buf found = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    *rows = 0;
    FRZ_TRY(open_reader(env, path, &file, &reader, err));
    FRZ_TRY(frz_data_reader_next(reader, &batch, err));
    const struct ArrowArray *column = batch.array.children[0];
    for (; *rows < column->length; ++*rows) {
        char name[700];
        frz_variant_names names;
        frz_buf_clear(&wanted);
        frz_buf_clear(&found);
        snprintf(name, sizeof name, "%s_row-%d.variant.bin", stem, (int)*rows);
        bool there = expected_text(name, &wanted);
        assert_int_equal(there, !frz_is_null(column, *rows));
        if (!there) {
            continue;
        }
        FRZ_TRY(frz_variant_names_read(frz_get_bytes(column->children[0], *rows), &names, err));
        FRZ_TRY(frz_variant_print(&names, frz_get_bytes(column->children[1], *rows), append, &found,
                                  err));
        if (!frz_str_equal(frz_buf_view(&found), frz_buf_view(&wanted))) {
            fail_msg("%s: expected %.*s, found %.*s", name, FRZ_STR_ARG(frz_buf_view(&wanted)),
                     FRZ_STR_ARG(frz_buf_view(&found)));
        }
    }
out:
    frz_array_release(&batch.array);
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    frz_buf_reset(&wanted);
    frz_buf_reset(&found);
    return rc;
}

/* Why a case cannot be read; NULL: it can. */
static const char *fault_of(int number)
{
    switch (number) {
    case 40:
    case 42:
        return "both value and typed_value are there";
    case 87:
    case 128:
        return "value is no object, and yet there are shredded fields";
    case 127:
        return "variant shredded as uint32";
    case 137:
        return "variant shredded as fixed[4]";
    default:
        return NULL;
    }
}

static void variant__shredded_ones_are_put_together(void **state)
{
    char root[512], path[640], stem[600];
    int seen = 0;
    int64_t rows = 0;
    for (int number = 1; number <= CASES; number++) {
        frz_error err = {0};
        snprintf(stem, sizeof stem, "%s/case-%03d", folder(root, sizeof root), number);
        snprintf(path, sizeof path, "%s.parquet", stem);
        FILE *file = fopen(path, "rb");
        if (file == NULL) {
            snprintf(stem, sizeof stem, "%s/case-%03d-INVALID", root, number);
            snprintf(path, sizeof path, "%s.parquet", stem);
            file = fopen(path, "rb");
        }
        if (file == NULL) {
            continue;
        }
        fclose(file);
        seen++;
        frz_code rc = check_file(*state, path, stem, &rows, &err);
        if (fault_of(number) != NULL) {
            assert_fails(rc, &err, rc, fault_of(number));
            assert_true(rc == FRZ_E_CORRUPT || rc == FRZ_E_UNSUPPORTED);
            assert_fails(rc, &err, rc, "column \"var\"");
        } else {
            assert_ok(rc, &err);
            assert_true(rows > 0);
        }
    }
    if (seen == 0) {
        print_message("no files at %s (set FRAZIL_CORPORA)\n", root);
        skip();
    }
    assert_int_equal(seen, CASES - 1);
}

/* ---- without memory ---- */

static frz_code read_case(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char root[512], path[600];
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    snprintf(path, sizeof path, "%s/case-126.parquet", folder(root, sizeof root));
    FRZ_TRY(open_reader(env, path, &file, &reader, err));
    FRZ_TRY(frz_data_reader_next(reader, &batch, err));
out:
    frz_array_release(&batch.array);
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    return rc;
}

static void variant__every_allocation_may_fail(void **state)
{
    char root[512], path[600];
    snprintf(path, sizeof path, "%s/case-126.parquet", folder(root, sizeof root));
    FILE *file = fopen(path, "rb");
    (void)state;
    if (file == NULL) {
        skip();
    }
    fclose(file);
    assert_true(test_fail_every_allocation(read_case) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(variant__shredded_ones_are_put_together),
        TEST_WITH_ENV(variant__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
