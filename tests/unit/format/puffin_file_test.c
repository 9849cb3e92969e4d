/*
 * Puffin files: footers, plain and packed, blobs, files of other writers, and broken ones.
 */
#include <lz4frame.h>
#include <stdlib.h>
#include <zstd.h>

#include "format/puffin/puffin.h"
#include "unit/test_alloc.h"
#include "unit/test_support.h"

static char path[64];

static int make_path(void **state)
{
    strcpy(path, "/tmp/frazil-puffin-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0) {
        return -1;
    }
    fclose(fdopen(fd, "wb"));
    return test_env_setup(state);
}

static int remove_path(void **state)
{
    remove(path);
    return test_env_teardown(state);
}

/* The parts of a file; lengths 0: strlen. */
typedef struct puffin_parts {
    const char *head, *blobs, *payload_magic, *payload;
    size_t blobs_size, payload_size;
    uint32_t said, flags; /* said 0: the payload's size */
    const char *magic;
} puffin_parts;

static const puffin_parts whole = {
    .head = "PFA1", .blobs = "abcdef", .payload_magic = "PFA1", .magic = "PFA1"};

static void write_parts(puffin_parts p)
{
    uint8_t number[4];
    FILE *file = fopen(path, "wb");
    p.blobs_size = p.blobs_size == 0 ? strlen(p.blobs) : p.blobs_size;
    p.payload_size = p.payload_size == 0 ? strlen(p.payload) : p.payload_size;
    fwrite(p.head, 1, strlen(p.head), file);
    fwrite(p.blobs, 1, p.blobs_size, file);
    fwrite(p.payload_magic, 1, strlen(p.payload_magic), file);
    fwrite(p.payload, 1, p.payload_size, file);
    frz_store_le32(number, p.said == 0 ? (uint32_t)p.payload_size : p.said);
    fwrite(number, 1, 4, file);
    frz_store_le32(number, p.flags);
    fwrite(number, 1, 4, file);
    fwrite(p.magic, 1, strlen(p.magic), file);
    fclose(file);
}

static frz_code open_parts(const frz_env *env, puffin_parts p, frz_puffin **out, frz_error *err)
{
    write_parts(p);
    return frz_puffin_open(env, path, out, err);
}

static const char footer[] =
    "{\"blobs\":[{\"type\":\"x\",\"fields\":[1,2147483645],\"snapshot-id\":7,\"sequence-number\":-"
    "1,"
    "\"offset\":4,\"length\":6,\"properties\":{\"a\":\"b\",\"c\":\"\"}},"
    "{\"type\":\"y\",\"fields\":[],\"snapshot-id\":-1,\"sequence-number\":9,"
    "\"offset\":7,\"length\":0,\"compression-codec\":null,\"other\":1}],"
    "\"properties\":{\"created-by\":\"someone\"}}";

static void check_whole(const frz_puffin *puffin)
{
    frz_error err = {0};
    size_t count = 0;
    frz_buf bytes = FRZ_BUF_INIT(NULL, 16);
    assert_int_equal(frz_puffin_blob_count(puffin), 2);
    const frz_puffin_blob *blob = frz_puffin_blob_at(puffin, 0);
    assert_true(frz_str_equal(blob->type, FRZ_STR("x")));
    assert_int_equal(blob->field_count, 2);
    assert_int_equal(blob->fields[1], 2147483645);
    assert_int_equal(blob->snapshot_id, 7);
    assert_int_equal(blob->sequence_number, -1);
    assert_null(blob->codec.ptr);
    assert_int_equal(blob->property_count, 2);
    assert_true(frz_str_equal(blob->properties[0].value, FRZ_STR("b")));
    assert_int_equal(frz_puffin_blob_at(puffin, 1)->property_count, 0);
    assert_true(frz_str_equal(frz_puffin_properties(puffin, &count)[0].key, FRZ_STR("created-by")));
    assert_int_equal(count, 1);
    assert_ok(frz_puffin_read_blob(puffin, 1, &bytes, &err), &err);
    assert_int_equal(bytes.len, 0);
}

static void puffin__blobs_and_properties_are_told(void **state)
{
    frz_error err = {0};
    frz_puffin *puffin = NULL;
    puffin_parts p = whole;
    frz_buf bytes = FRZ_BUF_INIT(*state, 16);
    p.payload = footer;
    assert_ok(open_parts(*state, p, &puffin, &err), &err);
    check_whole(puffin);
    assert_ok(frz_puffin_read_blob(puffin, 0, &bytes, &err), &err);
    assert_true(frz_str_equal(frz_buf_view(&bytes), FRZ_STR("abcdef")));
    frz_buf_reset(&bytes);
    frz_puffin_close(puffin);
}

/* One LZ4 frame that says its size. */
static size_t pack_lz4(const char *text, char *out, size_t size)
{
    LZ4F_preferences_t preferences = {.frameInfo = {.contentSize = strlen(text)}};
    size_t len = LZ4F_compressFrame(out, size, text, strlen(text), &preferences);
    assert_false(LZ4F_isError(len));
    return len;
}

static void puffin__a_packed_footer_is_unpacked(void **state)
{
    static char packed[4096];
    frz_error err = {0};
    frz_puffin *puffin = NULL;
    puffin_parts p = whole;
    p.payload = packed;
    p.payload_size = pack_lz4(footer, packed, sizeof packed);
    p.flags = 1;
    assert_ok(open_parts(*state, p, &puffin, &err), &err);
    check_whole(puffin);
    frz_puffin_close(puffin);

    packed[6] = (char)(packed[6] + 1); /* another size than it has */
    assert_fails(open_parts(*state, p, &puffin, &err), &err, FRZ_E_CORRUPT, "lz4_frame data");
    packed[6 + 5] = 1; /* a size of a terabyte */
    assert_fails(open_parts(*state, p, &puffin, &err), &err, FRZ_E_CORRUPT, "lz4_frame data");
}

static void check_packed_blob(const frz_env *env, const char *codec, const char *packed,
                              size_t size, const char *text)
{
    frz_error err = {0};
    char json[256];
    frz_puffin *puffin = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, 4096);
    puffin_parts p = whole;
    snprintf(json, sizeof json,
             "{\"blobs\":[{\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,"
             "\"offset\":4,\"length\":%zu,\"compression-codec\":\"%s\"}]}",
             size, codec);
    p.blobs = packed;
    p.blobs_size = size;
    p.payload = json;
    assert_ok(open_parts(env, p, &puffin, &err), &err);
    assert_ok(frz_puffin_read_blob(puffin, 0, &bytes, &err), &err);
    assert_true(frz_str_equal(frz_buf_view(&bytes), frz_str_from(text)));
    frz_puffin_close(puffin);
    frz_buf_reset(&bytes);
}

static void puffin__packed_blobs_are_unpacked(void **state)
{
    char packed[4096], text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    check_packed_blob(*state, "lz4", packed, pack_lz4(text, packed, sizeof packed), text);
    check_packed_blob(*state, "zstd", packed,
                      ZSTD_compress(packed, sizeof packed, text, strlen(text), 1), text);
}

static void puffin__broken_files_are_refused(void **state)
{
    static const struct {
        puffin_parts parts;
        const char *phrase;
    } broken[] = {
        {{"PFA0", "abc", "PFA1", "{\"blobs\":[]}", 0, 0, 0, 0, "PFA1"}, "not at byte 0"},
        {{"PFA1", "abc", "PFA2", "{\"blobs\":[]}", 0, 0, 0, 0, "PFA1"}, "not at byte 7"},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[]}", 0, 0, 0, 0, "PFA2"}, "not at byte 31"},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[]}", 0, 0, 16, 0, "PFA1"}, "a footer of 16 bytes"},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[]}", 0, 0, 0xffffffff, 0, "PFA1"},
         "a footer of 4294967295 bytes"},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[]}", 0, 0, 11, 0, "PFA1"}, "not at byte 8"},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[]", 0, 0, 0, 0, "PFA1"}, "reading the footer of"},
        {{"PFA1", "abc", "PFA1", "[]", 0, 0, 0, 0, "PFA1"}, "a list \"blobs\""},
        {{"PFA1", "abc", "PFA1", "{\"blobs\":[3]}", 0, 0, 0, 0, "PFA1"}, "blobs[0].type"},
        {{"PFA1", "", "", "{}", 0, 0, 0, 0, ""}, "cannot have"},
    };
    frz_error err = {0};
    frz_puffin *puffin = NULL;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(broken); i++) {
        assert_fails(open_parts(*state, broken[i].parts, &puffin, &err), &err, FRZ_E_CORRUPT,
                     broken[i].phrase);
        assert_fails(frz_puffin_open(*state, path, &puffin, &err), &err, FRZ_E_CORRUPT, path);
    }
    puffin_parts flags = whole;
    flags.payload = "{\"blobs\":[]}";
    flags.flags = 2;
    assert_fails(open_parts(*state, flags, &puffin, &err), &err, FRZ_E_UNSUPPORTED,
                 "unknown flags 00000002");
}

#define BLOB(members) "{\"blobs\":[{" members "}]}"
#define PLACED                                                                                     \
    "\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,\"offset\":4,"           \
    "\"length\":6"

static void puffin__broken_footers_name_the_member(void **state)
{
    static const char *const broken[][2] = {
        {BLOB("\"type\":\"x\""), "blobs[0].fields"},
        {BLOB("\"type\":\"x\",\"fields\":[1.5]"), "blobs[0].fields"},
        {BLOB("\"type\":\"x\",\"fields\":[2147483648]"), "blobs[0].fields"},
        {BLOB("\"type\":\"x\",\"fields\":[]"), "blobs[0].snapshot-id"},
        {BLOB("\"type\":\"x\",\"fields\":[],\"snapshot-id\":1"), "blobs[0].sequence-number"},
        {BLOB("\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,\"offset\":-4"),
         "blobs[0].offset: expected an integer of 0 or more"},
        {BLOB("\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,\"offset\":3,"
              "\"length\":1"),
         "blobs[0]: 1 bytes at byte 3"},
        {BLOB("\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,\"offset\":4,"
              "\"length\":7"),
         "and the footer at byte 10"},
        {BLOB("\"type\":\"x\",\"fields\":[],\"snapshot-id\":1,\"sequence-number\":1,"
              "\"offset\":9223372036854775807,\"length\":9223372036854775807"),
         "and the footer at byte 10"},
        {BLOB(PLACED ",\"compression-codec\":5"), "blobs[0].compression-codec"},
        {BLOB(PLACED ",\"properties\":5"), "properties: expected an object"},
        {BLOB(PLACED ",\"properties\":{\"k\":5}"), "property \"k\": expected a string"},
    };
    frz_error err = {0};
    frz_puffin *puffin = NULL;
    frz_buf bytes = FRZ_BUF_INIT(*state, 16);
    puffin_parts p = whole;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(broken); i++) {
        p.payload = broken[i][0];
        assert_fails(open_parts(*state, p, &puffin, &err), &err, FRZ_E_CORRUPT, broken[i][1]);
    }
    p.payload = BLOB(PLACED ",\"compression-codec\":\"brotli\"");
    assert_ok(open_parts(*state, p, &puffin, &err), &err);
    assert_fails(frz_puffin_read_blob(puffin, 0, &bytes, &err), &err, FRZ_E_UNSUPPORTED,
                 "codec \"brotli\"");
    frz_puffin_close(puffin);
}

/* Every deletion vector of a file agrees with what the footer says of it. */
static size_t check_vectors(const frz_env *env, const char *location)
{
    frz_error err = {0};
    frz_puffin *puffin = NULL;
    frz_file *file = NULL;
    assert_ok(frz_puffin_open(env, location, &puffin, &err), &err);
    assert_ok(frz_file_open(env, location, &file, &err), &err);
    for (size_t i = 0; i < frz_puffin_blob_count(puffin); i++) {
        const frz_puffin_blob *blob = frz_puffin_blob_at(puffin, i);
        frz_positions *set = NULL;
        int64_t cardinality = -1;
        assert_true(frz_str_equal(blob->type, FRZ_STR("deletion-vector-v1")));
        for (size_t k = 0; k < blob->property_count; k++) {
            if (frz_str_equal(blob->properties[k].key, FRZ_STR("cardinality"))) {
                assert_true(frz_str_to_i64(blob->properties[k].value, &cardinality));
            }
        }
        assert_ok(frz_vector_read(env, file, (int64_t)blob->offset, (int64_t)blob->length,
                                  cardinality, &set, &err),
                  &err);
        frz_positions_free(set);
    }
    size_t count = frz_puffin_blob_count(puffin);
    frz_file_close(file);
    frz_puffin_close(puffin);
    return count;
}

static void puffin__files_of_other_writers_are_read(void **state)
{
    static const struct {
        const char *name;
        size_t blobs;
    } files[] = {
        {"iceberg-v4/shared_puffin/data/dv-005.puffin", 3},
        {"iceberg-go/table/dv/deletes/multi-blob-dv.puffin", 2},
        {"impala-iceberg/iceberg_v3/iceberg_v3_deletion_vectors/data/"
         "00000-9-08e88179-85b6-4635-8b34-94b49abc87d9-00001-deletes.puffin",
         2},
    };
    const char *root = getenv("FRAZIL_CORPORA");
    char location[512];
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(files); i++) {
        snprintf(location, sizeof location, "%s/%s", root == NULL ? "../shared/corpora" : root,
                 files[i].name);
        FILE *probe = fopen(location, "rb");
        if (probe == NULL) {
            print_message("skipped: %s is not here (set FRAZIL_CORPORA)\n", location);
            skip();
        }
        fclose(probe);
        assert_int_equal(check_vectors(*state, location), files[i].blobs);
    }
}

static frz_code scenario_open(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_puffin *puffin = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, 4096);
    FRZ_TRY(frz_puffin_open(env, path, &puffin, err));
    FRZ_TRY(frz_puffin_read_blob(puffin, 0, &bytes, err));
out:
    frz_puffin_close(puffin);
    frz_buf_reset(&bytes);
    return rc;
}

static void alloc__puffin_files_give_back_what_they_took(void **state)
{
    puffin_parts p = whole;
    (void)state;
    p.payload = footer;
    write_parts(p);
    assert_true(test_fail_every_allocation(scenario_open) > 5);
}

#define TEST_WITH_PATH(f) cmocka_unit_test_setup_teardown(f, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_PATH(puffin__blobs_and_properties_are_told),
        TEST_WITH_PATH(puffin__a_packed_footer_is_unpacked),
        TEST_WITH_PATH(puffin__packed_blobs_are_unpacked),
        TEST_WITH_PATH(puffin__broken_files_are_refused),
        TEST_WITH_PATH(puffin__broken_footers_name_the_member),
        TEST_WITH_ENV(puffin__files_of_other_writers_are_read),
        TEST_WITH_PATH(alloc__puffin_files_give_back_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
