/*
 * Opening a table from its folder, and from packed metadata files.
 */
#include "unit/meta/meta_fixture.h"

#include <sys/stat.h>

#include "codec/codec.h"

/* A table's folder in the making. */
static char folder[64];

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/metadata/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    fclose(out);
}

/* Metadata that knows its name: last-updated-ms is the number. */
static void put_metadata(const char *name, int number)
{
    char value[16];
    json_t *document = fixture_json(fixture_document);
    snprintf(value, sizeof value, "%d", number);
    fixture_set(document, "last-updated-ms", value);
    fixture_set(document, "location", NULL);
    char *text = json_dumps(document, JSON_COMPACT);
    put(name, text);
    free(text);
    json_decref(document);
}

static int make_folder(void **state)
{
    char path[96];
    strcpy(folder, "/tmp/frazil-open-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/metadata", folder);
    return mkdir(path, 0777) == 0 ? test_env_setup(state) : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? test_env_teardown(state) : -1;
}

#define TEST_IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static void assert_opens(const frz_env *env, const char *location, int number, const char *name)
{
    frz_error err = {0};
    frz_table *table = NULL;
    char expected[256];
    assert_ok(frz_table_open(env, location, NULL, &table, &err), &err);
    assert_int_equal(table->metadata.last_updated_ms, number);
    snprintf(expected, sizeof expected, "file://%s/metadata/%s", folder, name);
    assert_string_equal(table->metadata_location, expected);
    snprintf(expected, sizeof expected, "file://%s", folder);
    assert_string_equal(table->base, expected);
    frz_table_unref(table);
}

static void assert_opens_not(const frz_env *env, frz_code code, const char *phrase)
{
    frz_error err = {0};
    frz_table *table = NULL;
    assert_fails(frz_table_open(env, folder, NULL, &table, &err), &err, code, phrase);
    assert_null(table);
}

static void folder__the_highest_number_is_the_newest(void **state)
{
    put_metadata("00009-b.metadata.json", 9);
    put_metadata("00010-a.gz.metadata.json", 10); /* plain all the same: the bytes count */
    put_metadata("00002-c.metadata.json", 2);
    put("snap-1.avro", "not looked at");
    assert_opens(*state, folder, 10, "00010-a.gz.metadata.json");
    put_metadata("100000-c.metadata.json", 11);
    assert_opens(*state, folder, 11, "100000-c.metadata.json");
}

static void folder__is_named_in_many_ways(void **state)
{
    char path[128];
    static const char *const forms[] = {"%s/",       "%s//",        "file:%s",
                                        "file://%s", "%s/metadata", "%s/metadata/"};
    put_metadata("v1.metadata.json", 1);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(forms); i++) {
        frz_error err = {0};
        frz_table *table = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, forms[i], folder);
#pragma GCC diagnostic pop
        assert_ok(frz_table_open(*state, path, NULL, &table, &err), &err);
        assert_int_equal(table->metadata.last_updated_ms, 1);
        frz_table_unref(table);
    }
}

static void folder__the_hint_counts_and_may_lag_behind(void **state)
{
    put_metadata("v2.metadata.json", 2);
    put_metadata("v3.gz.metadata.json", 3);
    put_metadata("v4.metadata.json.gz", 4);
    put_metadata("v6.metadata.json", 6); /* of a version that was never finished */
    put("version-hint.text", "2\n");
    assert_opens(*state, folder, 4, "v4.metadata.json.gz");
    put("version-hint.text", "6");
    assert_opens(*state, folder, 6, "v6.metadata.json");
    put("version-hint.text", " \n");
    assert_opens(*state, folder, 6, "v6.metadata.json");
}

static void folder__the_hint_may_be_a_name(void **state)
{
    put_metadata("00003-x-y.metadata.json", 3);
    put_metadata("00004-z.metadata.json", 4);
    put("version-hint.text", "00003-x-y");
    assert_opens(*state, folder, 3, "00003-x-y.metadata.json");
    put("version-hint.text", "00003-x-y.metadata.json");
    assert_opens(*state, folder, 3, "00003-x-y.metadata.json");
    put("version-hint.text", "3");
    assert_opens(*state, folder, 3, "00003-x-y.metadata.json");
}

static void folder__a_hint_at_nothing_is_an_error(void **state)
{
    put_metadata("v2.metadata.json", 2);
    put("version-hint.text", "7");
    assert_opens_not(*state, FRZ_E_NOT_FOUND, "version-hint.text says \"7\", but there is no");
    put("version-hint.text", "../../secret");
    assert_opens_not(*state, FRZ_E_NOT_FOUND, "says \"../../secret\"");
}

static void folder__what_cannot_be_told_is_an_error_with_names(void **state)
{
    put_metadata("00003-a.metadata.json", 3);
    put_metadata("00003-b.metadata.json", 3);
    assert_opens_not(*state, FRZ_E_ARGUMENT, "which metadata file is the newest, 00003-");
    put_metadata("00004-c.metadata.json", 4);
    assert_opens(*state, folder, 4, "00004-c.metadata.json");
    put_metadata("v7.metadata.json", 7); /* another way of counting */
    assert_opens_not(*state, FRZ_E_ARGUMENT, "v7.metadata.json");
}

static void folder__a_name_without_number_is_enough_if_it_is_the_only_one(void **state)
{
    put_metadata("table.metadata.json", 5);
    assert_opens(*state, folder, 5, "table.metadata.json");
    put_metadata("other.metadata.json", 6);
    assert_opens_not(*state, FRZ_E_ARGUMENT, "other.metadata.json");
    put_metadata("00001-a.metadata.json", 1);
    assert_opens(*state, folder, 1, "00001-a.metadata.json");
}

static void folder__without_metadata_is_no_table(void **state)
{
    frz_error err = {0};
    frz_table *table = NULL;
    put("data.parquet", "PAR1");
    assert_opens_not(*state, FRZ_E_NOT_FOUND, "there is no table at file:///tmp/frazil-open-");
    assert_fails(frz_table_open(*state, "/nowhere/t", NULL, &table, &err), &err, FRZ_E_NOT_FOUND,
                 "there is no table at file:///nowhere/t");
}

static void folder__metadata_of_a_table_below_is_not_taken(void **state)
{
    char path[128];
    put_metadata("v1.metadata.json", 1);
    snprintf(path, sizeof path, "%s/metadata/old", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    put_metadata("old/v9.metadata.json", 9);
    assert_opens(*state, folder, 1, "v1.metadata.json");
}

static void folder__is_found_where_a_map_says(void **state)
{
    frz_error err = {0};
    frz_table *table = NULL;
    const frz_location_map map = {"s3a://lake/db", folder};
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    opts.maps = &map;
    opts.map_count = 1;
    put_metadata("v1.metadata.json", 1);
    put("version-hint.text", "1");
    assert_ok(frz_table_open(*state, "s3://lake/db", &opts, &table, &err), &err);
    assert_string_equal(table->metadata_location, "s3://lake/db/metadata/v1.metadata.json");
    assert_string_equal(table->base, "s3://lake/db");
    frz_table_unref(table);
}

static void file__may_have_any_name(void **state)
{
    char path[128];
    put_metadata("current", 8);
    snprintf(path, sizeof path, "%s/metadata/current", folder);
    assert_opens(*state, path, 8, "current");
}

/* ---- packed files ---- */

/* The document in parts of its own, one after the other. */
static void put_packed(const frz_env *env, frz_codec_id id, size_t parts, size_t cut)
{
    frz_error err = {0};
    frz_codec *codec = NULL;
    char path[256];
    frz_buf packed = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    json_t *document = fixture_json(fixture_document);
    char *text = json_dumps(document, JSON_COMPACT);
    size_t len = strlen(text), done = 0;
    assert_ok(frz_codec_new(env, id, 0, &codec, &err), &err);
    for (size_t i = 1; i <= parts; i++) {
        size_t end = len * i / parts;
        assert_ok(frz_codec_compress(codec, text + done, end - done, &packed, &err), &err);
        done = end;
    }
    snprintf(path, sizeof path, "%s/metadata/v1.metadata.json", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(packed.data, 1, packed.len - cut, out), packed.len - cut);
    fclose(out);
    free(text);
    json_decref(document);
    frz_codec_free(codec);
    frz_buf_reset(&packed);
}

static void packed__files_are_told_by_their_bytes(void **state)
{
    static const frz_codec_id codecs[] = {FRZ_CODEC_GZIP, FRZ_CODEC_ZSTD};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        for (size_t parts = 1; parts <= 3; parts += 2) {
            frz_error err = {0};
            frz_table *table = NULL;
            put_packed(*state, codecs[i], parts, 0);
            assert_ok(frz_table_open(*state, folder, NULL, &table, &err), &err);
            assert_int_equal(table->metadata.snapshot_count, 2);
            frz_table_unref(table);
        }
    }
}

static void packed__files_that_are_damaged_are_corrupt(void **state)
{
    put_packed(*state, FRZ_CODEC_GZIP, 1, 1);
    assert_opens_not(*state, FRZ_E_CORRUPT, "metadata/v1.metadata.json: gzip data");
    put_packed(*state, FRZ_CODEC_ZSTD, 1, 1);
    assert_opens_not(*state, FRZ_E_CORRUPT, "metadata/v1.metadata.json: zstd data");
    put("v1.metadata.json", "\x1F\x8B");
    assert_opens_not(*state, FRZ_E_CORRUPT, "gzip data of 2 bytes");
    put("v1.metadata.json", "\x1F");
    assert_opens_not(*state, FRZ_E_CORRUPT, "not JSON");
}

static void packed__files_of_others_are_read(void **state)
{
    char root[256], path[512];
    frz_error err = {0};
    frz_table *table = NULL;
    if (fixture_corpus("", root, sizeof root) == NULL) {
        skip();
    }
    snprintf(path, sizeof path, "%s/iceberg-go/table/TableMetadataV2Valid.zstd.metadata.json",
             root);
    assert_ok(frz_table_open(*state, path, NULL, &table, &err), &err);
    assert_int_equal(table->metadata.format_version, 2);
    frz_table_unref(table);
}

/* ---- tables of others ---- */

static void assert_folders_open(const frz_env *env, const char *root)
{
    char path[1024], line[2048];
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    for (int count = 0; fgets(line, sizeof line, list) != NULL; count++) {
        frz_error err = {0};
        frz_table *table = NULL;
        char *rest = line;
        const char *dir = strsep(&rest, "\t");
        const char *file = strsep(&rest, "\t");
        if (count == 0 || strncmp(dir, "invalid/", 8) == 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", root, dir);
        assert_ok(frz_table_open(env, path, NULL, &table, &err), &err);
        assert_string_equal(strrchr(table->metadata_location, '/') + 1, file);
        frz_table_unref(table);
    }
    fclose(list);
}

static void corpus__folders_of_others_tell_their_newest_file(void **state)
{
    static const char *const names[] = {"", "iceberg-v4", "iceberg-engines"};
    char root[256];
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (fixture_corpus(names[i], root, sizeof root) == NULL) {
            skip();
        }
        assert_folders_open(*state, root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(folder__the_highest_number_is_the_newest),
        TEST_IN_FOLDER(folder__is_named_in_many_ways),
        TEST_IN_FOLDER(folder__the_hint_counts_and_may_lag_behind),
        TEST_IN_FOLDER(folder__the_hint_may_be_a_name),
        TEST_IN_FOLDER(folder__a_hint_at_nothing_is_an_error),
        TEST_IN_FOLDER(folder__what_cannot_be_told_is_an_error_with_names),
        TEST_IN_FOLDER(folder__a_name_without_number_is_enough_if_it_is_the_only_one),
        TEST_IN_FOLDER(folder__without_metadata_is_no_table),
        TEST_IN_FOLDER(folder__metadata_of_a_table_below_is_not_taken),
        TEST_IN_FOLDER(folder__is_found_where_a_map_says),
        TEST_IN_FOLDER(file__may_have_any_name),
        TEST_IN_FOLDER(packed__files_are_told_by_their_bytes),
        TEST_IN_FOLDER(packed__files_that_are_damaged_are_corrupt),
        TEST_WITH_ENV(packed__files_of_others_are_read),
        TEST_WITH_ENV(corpus__folders_of_others_tell_their_newest_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
