/*
 * Table properties that say how files are written.
 */
#include "format/parquet/parquet.h"
#include "unit/test_support.h"
#include "write/write_commit.h"

static frz_metadata with(const frz_property_kv *properties, size_t count)
{
    return (frz_metadata){.properties = properties, .property_count = count};
}

#define WITH(...)                                                                                  \
    with((frz_property_kv[]){__VA_ARGS__}, FRZ_ARRAY_COUNT(((frz_property_kv[]){__VA_ARGS__})))
#define KV(key, value)                                                                             \
    {                                                                                              \
        FRZ_STR(key), FRZ_STR(value)                                                               \
    }

static void durability__is_full_unless_none_is_asked_for(void **state)
{
    frz_error err = {0};
    bool durable = false;
    (void)state;
    frz_metadata none = with(NULL, 0);
    assert_ok(frz_write_durable(&none, &durable, &err), &err);
    assert_true(durable);
    frz_metadata scratch = WITH(KV("write.durability", "none"));
    assert_ok(frz_write_durable(&scratch, &durable, &err), &err);
    assert_false(durable);
    frz_metadata odd = WITH(KV("write.durability", "maybe"));
    assert_fails(frz_write_durable(&odd, &durable, &err), &err, FRZ_E_ARGUMENT,
                 "write.durability: expected full or none, found \"maybe\"");
}

static void options__defaults_are_the_writers(void **state)
{
    frz_error err = {0};
    frz_parquet_write_options options;
    (void)state;
    frz_metadata none = with(NULL, 0);
    assert_ok(frz_write_parquet_options(&none, &options, &err), &err);
    assert_int_equal(options.codec, FRZ_PARQUET_ZSTD);
    assert_int_equal(options.level, 1);
    assert_int_equal(options.page_version, 1);
    assert_int_equal(options.page_bytes, 0);
    assert_int_equal(options.group_bytes, 0);
}

static void options__follow_the_properties(void **state)
{
    frz_error err = {0};
    frz_parquet_write_options options;
    (void)state;
    frz_metadata all = WITH(
        KV("write.parquet.compression-codec", "GZIP"), KV("write.parquet.compression-level", "9"),
        KV("write.parquet.page-size-bytes", "65536"), KV("write.parquet.page-row-limit", "20000"),
        KV("write.parquet.row-group-size-bytes", "134217728"),
        KV("write.parquet.page-version", "v2"));
    assert_ok(frz_write_parquet_options(&all, &options, &err), &err);
    assert_int_equal(options.codec, FRZ_PARQUET_GZIP);
    assert_int_equal(options.level, 9);
    assert_int_equal(options.page_bytes, 65536);
    assert_int_equal(options.page_rows, 20000);
    assert_int_equal(options.group_bytes, 134217728);
    assert_int_equal(options.page_version, 2);
    /* a level beside a codec without levels means nothing */
    frz_metadata snappy = WITH(KV("write.parquet.compression-codec", "snappy"),
                               KV("write.parquet.compression-level", "9"));
    assert_ok(frz_write_parquet_options(&snappy, &options, &err), &err);
    assert_int_equal(options.codec, FRZ_PARQUET_SNAPPY);
}

static void options__refuse_what_makes_no_sense(void **state)
{
    static const struct {
        frz_property_kv property;
        frz_code code;
        const char *phrase;
    } cases[] = {
        {KV("write.parquet.compression-codec", "lzo"), FRZ_E_UNSUPPORTED, "\"lzo\""},
        {KV("write.parquet.compression-level", "99"), FRZ_E_ARGUMENT, "from 1 to 22, found 99"},
        {KV("write.parquet.page-size-bytes", "10"), FRZ_E_ARGUMENT, "page-size-bytes"},
        {KV("write.parquet.row-group-size-bytes", "many"), FRZ_E_ARGUMENT, "row-group-size-bytes"},
        {KV("write.parquet.page-version", "v3"), FRZ_E_ARGUMENT, "expected v1 or v2"},
    };
    (void)state;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_parquet_write_options options;
        frz_metadata metadata = with(&cases[i].property, 1);
        assert_fails(frz_write_parquet_options(&metadata, &options, &err), &err, cases[i].code,
                     cases[i].phrase);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durability__is_full_unless_none_is_asked_for),
        cmocka_unit_test(options__defaults_are_the_writers),
        cmocka_unit_test(options__follow_the_properties),
        cmocka_unit_test(options__refuse_what_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
