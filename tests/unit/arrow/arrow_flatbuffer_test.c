/*
 * FlatBuffers: what is written reads back, what is impossible is refused.
 */
#include "unit/test_support.h"

#include "arrow/arrow_flatbuffer.h"

/* A table of a byte, a long, a string and a vector of two tables with an int each. */
static frz_code write_sample(frz_buf *buf, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t at;
    flat_field fields[] = {FLAT_VALUE(1, 1), {0}, FLAT_VALUE(8, -5), FLAT_REF, FLAT_REF};
    FRZ_TRY(flat_start(buf, err));
    FRZ_TRY(flat_put_table(buf, 0, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(flat_put_string(buf, fields[3].at, FRZ_STR("text"), err));
    FRZ_TRY(flat_put_vector(buf, fields[4].at, 2, 4, &at, err));
    for (size_t i = 0; i < 2; i++) {
        flat_field item[] = {FLAT_VALUE(4, 10 + (int64_t)i)};
        FRZ_TRY(flat_put_table(buf, at + 4 * i, item, 1, err));
    }
out:
    return rc;
}

static void flatbuffer__reads_back(void **state)
{
    frz_error err = {0};
    frz_buf buf = FRZ_BUF_INIT(*state, FLAT_MAX);
    assert_ok(write_sample(&buf, &err), &err);
    flat_bytes in = {.data = buf.data, .size = buf.len};
    flat_table root = flat_root(&in);
    assert_true(flat_bool(&root, 0));
    assert_int_equal(flat_i32(&root, 1, 7), 7);
    assert_int_equal(flat_i64(&root, 2, 0), -5);
    frz_str text = flat_get_string(&root, 3);
    assert_true(frz_str_equal(text, FRZ_STR("text")) && text.ptr[4] == '\0');
    flat_vector items = flat_get_vector(&root, 4, 4);
    assert_int_equal(items.count, 2);
    flat_table item = flat_item_table(&items, 1);
    assert_int_equal(flat_i32(&item, 0, 0), 11);
    assert_int_equal(flat_i16(&root, 9, 3), 3); /* beyond the vtable */
    assert_ok(flat_check(&in, &err), &err);
    frz_buf_reset(&buf);
}

static void flatbuffer__long_numbers_are_aligned(void **state)
{
    frz_error err = {0};
    frz_buf buf = FRZ_BUF_INIT(*state, FLAT_MAX);
    for (size_t before = 0; before < 9; before++) {
        size_t at;
        flat_field fields[] = {FLAT_VALUE(1, 1), FLAT_VALUE(8, 2), FLAT_REF, FLAT_REF};
        frz_buf_clear(&buf);
        assert_ok(flat_start(&buf, &err), &err);
        assert_ok(flat_put_table(&buf, 0, fields, FRZ_ARRAY_COUNT(fields), &err), &err);
        assert_ok(flat_put_string(&buf, fields[2].at, (frz_str){"12345678", before}, &err), &err);
        assert_ok(flat_put_vector(&buf, fields[3].at, 3, 16, &at, &err), &err);
        assert_int_equal(fields[1].at % 8, 0);
        assert_int_equal(at % 8, 0);
    }
    frz_buf_reset(&buf);
}

/* Reads everything of the sample, whatever it is. */
static frz_code read_sample(const uint8_t *bytes, size_t size, frz_error *err)
{
    flat_bytes in = {.data = bytes, .size = size};
    flat_table root = flat_root(&in);
    int64_t sum = flat_i8(&root, 0, 0) + flat_i64(&root, 2, 0);
    frz_str text = flat_get_string(&root, 3);
    for (size_t i = 0; i < text.len; i++) {
        sum += text.ptr[i];
    }
    flat_vector items = flat_get_vector(&root, 4, 4);
    for (size_t i = 0; i < items.count; i++) {
        flat_table item = flat_item_table(&items, i);
        sum += flat_i32(&item, 0, 0);
    }
    (void)sum;
    return flat_check(&in, err);
}

static void flatbuffer__no_byte_leads_outside(void **state)
{
    frz_error err = {0};
    frz_buf buf = FRZ_BUF_INIT(*state, FLAT_MAX);
    assert_ok(write_sample(&buf, &err), &err);
    for (size_t i = 0; i < buf.len; i++) {
        for (unsigned value = 0; value < 256; value += 5) {
            uint8_t *copy = frz_alloc(*state, buf.len);
            memcpy(copy, buf.data, buf.len);
            copy[i] = (uint8_t)value;
            frz_code rc = read_sample(copy, buf.len, NULL);
            assert_true(rc == FRZ_OK || rc == FRZ_E_CORRUPT);
            frz_free(*state, copy);
        }
        uint8_t *cut = frz_alloc(*state, i);
        memcpy(cut, buf.data, i);
        assert_int_equal(read_sample(cut, i, NULL), FRZ_E_CORRUPT);
        frz_free(*state, cut);
    }
    frz_buf_reset(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(flatbuffer__reads_back),
        TEST_WITH_ENV(flatbuffer__long_numbers_are_aligned),
        TEST_WITH_ENV(flatbuffer__no_byte_leads_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
