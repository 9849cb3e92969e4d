/*
 * Mumbling bitmaps: the vectors of the specification and of another writer, broken ones, and sets
 * of every shape there and back.
 */
#include <stdlib.h>

#include "meta/meta_mumbling.h"
#include "unit/test_alloc.h"
#include "unit/test_support.h"

#define MAX_BYTES 65536
#define MAX_LINE 65536

typedef struct bytes_of_text {
    uint8_t bytes[MAX_BYTES];
    size_t len;
} bytes_of_text;

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

/* Blanks between bytes are ignored. */
static void read_hex(const char *hex, size_t len, bytes_of_text *out)
{
    out->len = 0;
    for (size_t i = 0; i < len; i++) {
        if (hex[i] != ' ') {
            assert_true(out->len < MAX_BYTES);
            out->bytes[out->len++] = (uint8_t)(digit(hex[i]) << 4 | digit(hex[i + 1]));
            i++;
        }
    }
}

static frz_str view(const bytes_of_text *b)
{
    return (frz_str){(const char *)b->bytes, b->len};
}

/* A set as "0-31,256": every position and no other is in it. */
static void check_positions(const frz_mumbling *set, const char *ranges)
{
    int64_t at = frz_mumbling_next(set, 0);
    uint32_t count = 0;
    for (const char *p = ranges; *p != '\0';) {
        char *end;
        int64_t first = strtoll(p, &end, 10), last = first;
        if (*end == '-') {
            last = strtoll(end + 1, &end, 10);
        }
        for (int64_t i = first; i <= last; i++, count++) {
            assert_int_equal(at, i);
            assert_true(frz_mumbling_has(set, (uint64_t)i));
            at = frz_mumbling_next(set, (uint64_t)i + 1);
        }
        p = *end == ',' ? end + 1 : end;
    }
    assert_int_equal(at, -1);
    assert_int_equal(set->cardinality, count);
}

static void check_same(const frz_mumbling *a, const frz_mumbling *b)
{
    assert_int_equal(a->cardinality, b->cardinality);
    assert_int_equal(a->container_count, b->container_count);
    assert_true(frz_mumbling_is_subset(a, b) && frz_mumbling_is_subset(b, a));
}

/* The set encoded and decoded is the same; returns the bytes in out. */
static void there_and_back(const frz_mumbling *set, frz_buf *out)
{
    frz_error err = {0};
    frz_mumbling back;
    frz_mumbling_init(&back, set->env);
    frz_buf_clear(out);
    assert_ok(frz_mumbling_encode(set, out, &err), &err);
    assert_ok(frz_mumbling_decode(&back, frz_buf_view(out), &err), &err);
    check_same(set, &back);
    frz_mumbling_reset(&back);
}

static void decode_and_check(const frz_env *env, frz_str bytes, const char *positions,
                             frz_buf *encoded)
{
    frz_error err = {0};
    frz_mumbling set;
    frz_mumbling_init(&set, env);
    assert_ok(frz_mumbling_decode(&set, bytes, &err), &err);
    check_positions(&set, positions);
    there_and_back(&set, encoded);
    frz_mumbling_reset(&set);
}

static void mumbling__vectors_of_the_specification_are_read_and_written(void **state)
{
    static const char *const vectors[][2] = {
        {"01 000000 0000", ""},
        {"01 020000 0100 00 00 02 02 11", "2,17"},
        {"01 030000 0100 00 00 03 00 22 FF", "0,34,255"},
        {"01 010000 0200 10 01 00 01 80 2C", "300"},
        {"01 200000 0100 00 00 20 FF FF FF FF 00000000000000000000000000000000000000000000000000"
         "000000",
         "0-31"},
        {"01 080000 0500 20 04 00 00 01 02 04 DD 00 01 02 00 BC BD BE 00",
         "0,1,2,256,700,701,702,1024"},
    };
    frz_buf encoded = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(vectors); i++) {
        bytes_of_text bytes;
        read_hex(vectors[i][0], strlen(vectors[i][0]), &bytes);
        decode_and_check(*state, view(&bytes), vectors[i][1], &encoded);
        assert_int_equal(encoded.len, bytes.len);
        assert_memory_equal(encoded.data, bytes.bytes, bytes.len);
    }
    frz_buf_reset(&encoded);
}

/* A bitmap whose descriptors, as packed, say how many bits each container has: bits 0, 1, 2 … */
static void check_descriptors(frz_env *env, const char *packed, const uint8_t *counts, size_t n)
{
    frz_error err = {0};
    frz_mumbling set, made;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    bytes_of_text pfor;
    uint32_t total = 0;
    uint8_t header[6] = {1};
    frz_mumbling_init(&set, env);
    frz_mumbling_init(&made, env);
    for (size_t k = 0; k < n; k++) {
        total += counts[k];
        for (uint64_t i = 0; i < counts[k]; i++) {
            assert_ok(frz_mumbling_add(&made, 256 * k + i, &err), &err);
        }
    }
    frz_store_le32(header, total << 8 | 1);
    header[4] = (uint8_t)n;
    header[5] = (uint8_t)(n >> 8);
    read_hex(packed, strlen(packed), &pfor);
    assert_ok(frz_buf_append(&bytes, header, sizeof header, &err), &err);
    assert_ok(frz_buf_append(&bytes, pfor.bytes, pfor.len, &err), &err);
    for (size_t k = 0; k < n; k++) {
        for (uint8_t i = 0; i < counts[k]; i++) {
            assert_ok(frz_buf_append_byte(&bytes, i, &err), &err);
        }
    }
    assert_ok(frz_mumbling_decode(&set, frz_buf_view(&bytes), &err), &err);
    check_same(&set, &made);
    frz_buf_reset(&bytes);
    frz_mumbling_reset(&made);
    frz_mumbling_reset(&set);
}

static void mumbling__packed_descriptors_of_the_specification_are_read(void **state)
{
    static const uint8_t zeros[256], three[] = {6, 7, 8}, two_bits[] = {3, 2, 1, 2, 3};
    uint8_t fives[51];
    memset(fives, 5, sizeof fives);
    check_descriptors(*state, "00 00 05", fives, sizeof fives);
    check_descriptors(*state, "00 00 00", zeros, sizeof zeros);
    check_descriptors(*state, "02 00 06 18", three, sizeof three);
    check_descriptors(*state, "20 02 06 01 02 60", three, sizeof three);
    check_descriptors(*state, "02 00 00 E6 C0", two_bits, sizeof two_bits);
    check_descriptors(*state, "08 00 00 06 07 08", three, sizeof three);
}

/* Lines of a file of the corpus: hex, tab, the rest. False if it is not here. */
typedef void (*line_visit)(const frz_env *env, const bytes_of_text *bytes, const char *rest);
static size_t visit_corpus(const frz_env *env, const char *name, line_visit visit)
{
    static char line[MAX_LINE];
    static bytes_of_text bytes;
    const char *root = getenv("FRAZIL_CORPORA");
    char path[512];
    size_t lines = 0;
    snprintf(path, sizeof path, "%s/iceberg-v4/bitmaps/%s",
             root == NULL ? "../shared/corpora" : root, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        print_message("skipped: %s is not here (set FRAZIL_CORPORA)\n", path);
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "hex\t", 4) != 0) {
            read_hex(line, (size_t)(tab - line), &bytes);
            visit(env, &bytes, tab + 1);
            lines++;
        }
    }
    fclose(file);
    return lines;
}

/* The first encoding of a set is the one of the rule, which is ours; others follow. */
static void check_valid(const frz_env *env, const bytes_of_text *bytes, const char *positions)
{
    static char previous[MAX_LINE] = "none yet";
    frz_buf encoded = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    decode_and_check(env, view(bytes), positions, &encoded);
    if (strcmp(positions, previous) != 0) {
        assert_int_equal(encoded.len, bytes->len);
        assert_memory_equal(encoded.data, bytes->bytes, bytes->len);
        memcpy(previous, positions, strlen(positions) + 1);
    }
    frz_buf_reset(&encoded);
}

static void check_refused(const frz_env *env, frz_str bytes, const char *rule)
{
    frz_error err = {0};
    frz_mumbling set;
    frz_mumbling_init(&set, env);
    assert_ok(frz_mumbling_add(&set, 7, &err), &err);
    if (frz_mumbling_decode(&set, bytes, &err) != FRZ_E_CORRUPT) {
        fail_msg("accepted although: %s", rule);
    }
    check_positions(&set, "7"); /* as it was */
    frz_mumbling_reset(&set);
}

static void check_invalid(const frz_env *env, const bytes_of_text *bytes, const char *rule)
{
    check_refused(env, view(bytes), rule);
}

static void mumbling__bitmaps_of_another_writer_are_read(void **state)
{
    assert_true(visit_corpus(*state, "mumbling.tsv", check_valid) >= 36);
}

static void mumbling__broken_bitmaps_of_another_writer_are_refused(void **state)
{
    assert_true(visit_corpus(*state, "mumbling-invalid.tsv", check_invalid) >= 24);
}

static void mumbling__broken_bitmaps_name_the_rule(void **state)
{
    static const char *const vectors[][2] = {
        {"", "shorter than its header"},
        {"01 0100 00", "shorter than its header"},
        {"02 000000 0000", "version 2, expected 1"},
        {"01 010020 0100 00 00 01 05", "cardinality above 2097152"},
        {"01 000000 0120", "more than 8192 containers"},
        {"01 000000 0000 00", "containers of 0 bytes, but 1 are left"},
        {"01 010000 0000", "cardinality 1, but 0 positions are set"},
        {"01 010000 0100", "descriptors are cut off"},
        {"01 010000 0200 01 00 00", "descriptors are cut off"},
        {"01 010000 0100 09 00 00 01 05", "descriptors of more than 8 bits"},
        {"01 010000 0100 45 00 00 08 05", "descriptors of more than 8 bits"},
        {"01 010000 0100 10 02 00 00 00 C0 05", "more exceptions than descriptors"},
        {"01 010000 0100 10 01 00 01 80 05", "places of exceptions do not ascend"},
        {"01 020000 0200 10 02 00 01 01 C0 05 05", "places of exceptions do not ascend"},
        {"01 010000 0100 10 01 00 00", "the exceptions of descriptors are cut off"},
        {"01 010000 0100 01 00 FF 80 05", "a descriptor above 255"},
        {"01 010000 0100 00 00 40 05", "a container of a reserved kind"},
        {"01 020000 0100 00 00 02 05", "containers of 2 bytes, but 1 are left"},
        {"01 020000 0100 00 00 02 05 05", "positions of a container do not ascend"},
        {"01 030000 0100 00 00 02 05 06", "cardinality 3, but 2 positions are set"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(vectors); i++) {
        frz_error err = {0};
        frz_mumbling set;
        bytes_of_text bytes;
        frz_mumbling_init(&set, *state);
        read_hex(vectors[i][0], strlen(vectors[i][0]), &bytes);
        assert_fails(frz_mumbling_decode(&set, view(&bytes), &err), &err, FRZ_E_CORRUPT,
                     vectors[i][1]);
        assert_null(set.words);
    }
}

static uint64_t random_below(uint64_t *seed, uint64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % limit;
}

/* Containers of many kinds: empty, few, about 32, full, all but few. */
static void fill_container(frz_mumbling *set, uint64_t container, uint64_t *seed)
{
    static const unsigned chances[] = {0, 0, 2, 10, 31, 32, 33, 128, 250, 256};
    frz_error err = {0};
    unsigned chance = chances[random_below(seed, FRZ_ARRAY_COUNT(chances))];
    for (uint64_t i = 0; i < 256; i++) {
        if (random_below(seed, 256) < chance) {
            assert_ok(frz_mumbling_add(set, 256 * container + i, &err), &err);
        }
    }
}

static void mumbling__random_sets_come_back(void **state)
{
    uint64_t seed = 20261129;
    frz_buf encoded = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    for (unsigned run = 0; run < 300; run++) {
        frz_mumbling set;
        frz_error err = {0};
        frz_mumbling_init(&set, *state);
        uint64_t containers = random_below(&seed, run % 10 == 0 ? 600 : 8);
        for (uint64_t k = 0; k < containers; k++) {
            fill_container(&set, k, &seed);
        }
        there_and_back(&set, &encoded);
        for (size_t cut = encoded.len > 40 ? encoded.len - 40 : 0; cut < encoded.len; cut++) {
            check_refused(*state, (frz_str){(const char *)encoded.data, cut}, "it is cut off");
        }
        assert_ok(frz_buf_append_byte(&encoded, 0, &err), &err);
        check_refused(*state, frz_buf_view(&encoded), "a byte follows");
        frz_mumbling_reset(&set);
    }
    frz_buf_reset(&encoded);
}

static void mumbling__greatest_position_is_held_and_no_greater_one(void **state)
{
    frz_error err = {0};
    frz_mumbling set;
    frz_buf encoded = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_mumbling_init(&set, *state);
    assert_int_equal(frz_mumbling_last(&set), -1);
    assert_ok(frz_mumbling_add(&set, 2097151, &err), &err);
    assert_int_equal(frz_mumbling_last(&set), 2097151);
    assert_int_equal(frz_mumbling_next(&set, 0), 2097151);
    assert_int_equal(frz_mumbling_next(&set, 2097152), -1);
    assert_int_equal(frz_mumbling_next(&set, UINT64_MAX), -1);
    assert_false(frz_mumbling_has(&set, 2097152));
    assert_false(frz_mumbling_has(&set, UINT64_MAX));
    there_and_back(&set, &encoded);
    assert_fails(frz_mumbling_add(&set, 2097152, &err), &err, FRZ_E_LIMIT, "position 2097152");
    assert_int_equal(set.cardinality, 1);
    frz_buf_reset(&encoded);
    frz_mumbling_reset(&set);
}

static frz_mumbling set_of(frz_env *env, const uint64_t *positions, size_t count)
{
    frz_error err = {0};
    frz_mumbling set;
    frz_mumbling_init(&set, env);
    for (size_t i = 0; i < count; i++) {
        assert_ok(frz_mumbling_add(&set, positions[i], &err), &err);
    }
    return set;
}

static void mumbling__sets_are_compared_and_joined(void **state)
{
    static const uint64_t small[] = {3, 300}, large[] = {3, 4, 300, 70000}, other[] = {5, 301};
    frz_error err = {0};
    frz_mumbling a = set_of(*state, small, 2), b = set_of(*state, large, 4);
    frz_mumbling c = set_of(*state, other, 2), none = set_of(*state, NULL, 0);
    assert_true(frz_mumbling_is_subset(&a, &b));
    assert_false(frz_mumbling_is_subset(&b, &a));
    assert_true(frz_mumbling_is_subset(&none, &a) && frz_mumbling_is_disjoint(&none, &none));
    assert_false(frz_mumbling_is_disjoint(&a, &b));
    assert_true(frz_mumbling_is_disjoint(&a, &c));
    assert_ok(frz_mumbling_add_all(&a, &c, &err), &err);
    check_positions(&a, "3,5,300-301");
    assert_ok(frz_mumbling_add_all(&a, &b, &err), &err);
    check_positions(&a, "3-5,300-301,70000");
    assert_ok(frz_mumbling_add_all(&a, &none, &err), &err);
    assert_int_equal(a.cardinality, 6);
    frz_mumbling_reset(&a);
    frz_mumbling_reset(&b);
    frz_mumbling_reset(&c);
}

static frz_code scenario_sets(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_mumbling set, back;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_mumbling_init(&set, env);
    frz_mumbling_init(&back, env);
    for (uint64_t i = 0; i < 100; i++) {
        FRZ_TRY(frz_mumbling_add(&set, i * i, err));
    }
    FRZ_TRY(frz_mumbling_encode(&set, &bytes, err));
    FRZ_TRY(frz_mumbling_decode(&back, frz_buf_view(&bytes), err));
    FRZ_TRY(frz_mumbling_add(&set, 99999, err));
    FRZ_TRY(frz_mumbling_add_all(&back, &set, err));
out:
    frz_mumbling_reset(&set);
    frz_mumbling_reset(&back);
    frz_buf_reset(&bytes);
    return rc;
}

static void alloc__sets_give_back_what_they_took(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_sets) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(mumbling__vectors_of_the_specification_are_read_and_written),
        TEST_WITH_ENV(mumbling__packed_descriptors_of_the_specification_are_read),
        TEST_WITH_ENV(mumbling__bitmaps_of_another_writer_are_read),
        TEST_WITH_ENV(mumbling__broken_bitmaps_of_another_writer_are_refused),
        TEST_WITH_ENV(mumbling__broken_bitmaps_name_the_rule),
        TEST_WITH_ENV(mumbling__random_sets_come_back),
        TEST_WITH_ENV(mumbling__greatest_position_is_held_and_no_greater_one),
        TEST_WITH_ENV(mumbling__sets_are_compared_and_joined),
        cmocka_unit_test(alloc__sets_give_back_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
