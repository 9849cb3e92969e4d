/*
 * Sets of positions and deletion vectors: vectors of the specification and of other writers, broken
 * ones, and random sets against a plain list of them.
 */
#include <stdlib.h>

#include "codec/codec.h"
#include "format/puffin/puffin.h"
#include "unit/test_alloc.h"
#include "unit/test_support.h"

#define MAX_BYTES (1 << 20)
#define MAX_LINE (1 << 16)

static const char *corpora(void)
{
    const char *root = getenv("FRAZIL_CORPORA");
    return root == NULL ? "../shared/corpora" : root;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

static void put_hex(frz_buf *out, const char *hex)
{
    frz_error err = {0};
    for (; *hex != '\0' && *hex != '\t'; hex++) {
        if (*hex != ' ') {
            assert_ok(frz_buf_append_byte(out, (uint8_t)(digit(hex[0]) << 4 | digit(hex[1])), &err),
                      &err);
            hex++;
        }
    }
}

/* ---- positions as "0-31,256" ---- */

static void check_positions(const frz_positions *set, const char *ranges)
{
    int64_t at = 0;
    uint64_t count = 0;
    frz_row_range run = {0, 0};
    for (const char *p = ranges; *p != '\0';) {
        char *end;
        int64_t first = strtoll(p, &end, 10), last = first;
        if (*end == '-') {
            last = strtoll(end + 1, &end, 10);
        }
        for (int64_t i = first; i <= last; i++, count++) {
            if (i >= run.end) {
                assert_true(frz_positions_next_run(set, at, &run));
                assert_int_equal(run.start, i);
                at = run.end;
            }
            assert_true(frz_positions_has(set, i));
        }
        p = *end == ',' ? end + 1 : end;
    }
    assert_false(frz_positions_next_run(set, at, &run));
    assert_int_equal(frz_positions_count(set), count);
    assert_int_equal(frz_positions_last(set), at - 1);
}

/* What a set encodes to decodes to the same again. */
static void there_and_back(const frz_env *env, const frz_positions *set)
{
    frz_error err = {0};
    frz_positions *back = NULL;
    frz_row_range a, b;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    assert_ok(frz_vector_encode(set, &bytes, &err), &err);
    assert_ok(frz_vector_decode(&bytes, &back, &err), &err);
    assert_int_equal(frz_positions_count(set), frz_positions_count(back));
    for (int64_t at = 0; frz_positions_next_run(set, at, &a); at = a.end) {
        assert_true(frz_positions_next_run(back, at, &b));
        assert_int_equal(a.start, b.start);
        assert_int_equal(a.end, b.end);
    }
    frz_positions_free(back);
}

static void decode_and_check(const frz_env *env, const char *hex, const char *positions)
{
    frz_error err = {0};
    frz_positions *set = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    put_hex(&bytes, hex);
    assert_ok(frz_vector_decode(&bytes, &set, &err), &err);
    check_positions(set, positions);
    there_and_back(env, set);
    frz_positions_free(set);
}

static void vector__of_the_specification_is_read_and_written(void **state)
{
    static const char hex[] = "00000024 D1D33964 0100000000000000 00000000 3A300000 01000000 0000 "
                              "0100 10000000 0C00 9001 B735A63B";
    static const int64_t positions[] = {12, 400};
    frz_error err = {0};
    frz_positions *set = NULL;
    frz_buf written = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_buf expected = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    decode_and_check(*state, hex, "12,400");
    put_hex(&expected, hex);
    assert_ok(frz_positions_of(*state, positions, 2, &set, &err), &err);
    assert_ok(frz_vector_encode(set, &written, &err), &err);
    assert_int_equal(written.len, expected.len);
    assert_memory_equal(written.data, expected.data, expected.len);
    frz_positions_free(set);
    frz_buf_reset(&written);
    frz_buf_reset(&expected);
}

static void vector__of_another_writer_are_read(void **state)
{
    static char line[MAX_LINE];
    char path[512];
    size_t lines = 0;
    snprintf(path, sizeof path, "%s/iceberg-v4/bitmaps/deletion-vectors.tsv", corpora());
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        print_message("skipped: %s is not here (set FRAZIL_CORPORA)\n", path);
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "hex", 3) != 0) {
            decode_and_check(*state, line, strchr(line, '\t') + 1);
            lines++;
        }
    }
    fclose(file);
    assert_true(lines >= 16);
}

/* ---- bare roaring bitmaps put into a vector ---- */

/* The vector whose one bitmap, or whose 64-bit bitmap, is these bytes. */
static void wrap(frz_buf *out, frz_str bitmap, bool whole)
{
    frz_error err = {0};
    uint8_t number[8] = {0};
    static const uint8_t magic[] = {0xd1, 0xd3, 0x39, 0x64};
    size_t len = sizeof magic + (whole ? 0 : 12) + bitmap.len;
    frz_buf_clear(out);
    frz_store_le32(number, __builtin_bswap32((uint32_t)len));
    assert_ok(frz_buf_append(out, number, 4, &err), &err);
    assert_ok(frz_buf_append(out, magic, sizeof magic, &err), &err);
    if (!whole) {
        frz_store_le64(number, 1);
        assert_ok(frz_buf_append(out, number, 8, &err), &err);
        frz_store_le32(number, 0);
        assert_ok(frz_buf_append(out, number, 4, &err), &err);
    }
    assert_ok(frz_buf_append(out, bitmap.ptr, bitmap.len, &err), &err);
    frz_store_le32(number, __builtin_bswap32(frz_crc32(0, out->data + 4, len)));
    assert_ok(frz_buf_append(out, number, 4, &err), &err);
}

/* Bytes of a file of the corpora; skips the test if it is not here. */
static frz_buf corpus_file(const frz_env *env, const char *name)
{
    frz_error err = {0};
    char path[512];
    frz_buf bytes = FRZ_BUF_INIT(env, MAX_BYTES);
    snprintf(path, sizeof path, "%s/%s", corpora(), name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        print_message("skipped: %s is not here (set FRAZIL_CORPORA)\n", path);
        skip();
    }
    assert_ok(frz_buf_reserve(&bytes, MAX_BYTES, &err), &err);
    bytes.len = fread(bytes.data, 1, MAX_BYTES, file);
    fclose(file);
    return bytes;
}

static frz_code decode_file(const frz_env *env, const char *name, bool whole, frz_positions **out,
                            frz_error *err)
{
    frz_buf bytes = corpus_file(env, name);
    frz_buf vector = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    wrap(&vector, frz_buf_view(&bytes), whole);
    frz_buf_reset(&bytes);
    return frz_vector_decode(&vector, out, err);
}

static void roaring__bitmaps_of_other_libraries_are_read(void **state)
{
    static const char *const names[] = {"roaring/testdata/bitmapwithoutruns.bin",
                                        "roaring/testdata/bitmapwithruns.bin"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        frz_error err = {0};
        frz_positions *set = NULL;
        frz_row_range run;
        assert_ok(decode_file(*state, names[i], false, &set, &err), &err);
        assert_int_equal(frz_positions_count(set), 100 + 100000 + 100000);
        for (int64_t k = 0; k < 100; k++) {
            assert_true(frz_positions_has(set, 1000 * k) && !frz_positions_has(set, 1000 * k + 1));
        }
        for (int64_t k = 100000; k < 200000; k++) {
            assert_true(frz_positions_has(set, 3 * k) && !frz_positions_has(set, 3 * k + 1));
        }
        assert_true(frz_positions_next_run(set, 599998, &run));
        assert_int_equal(run.start, 700000);
        assert_int_equal(run.end, 800000);
        assert_int_equal(frz_positions_last(set), 799999);
        there_and_back(*state, set);
        frz_positions_free(set);
    }
}

static void roaring__64_bit_bitmaps_of_other_libraries_are_read(void **state)
{
    frz_error err = {0};
    frz_positions *set = NULL;
    assert_ok(decode_file(*state, "roaring/testdata64/portable_bitmap64.bin", true, &set, &err),
              &err);
    for (int64_t high = 0; high < 2; high++) {
        int64_t base = high << 32;
        assert_true(frz_positions_has(set, base) && frz_positions_has(set, base + 0x9000));
        assert_false(frz_positions_has(set, base + 0x9001));
        assert_true(frz_positions_has(set, base + 0xA000) &&
                    frz_positions_has(set, base + 0x10000));
        assert_false(frz_positions_has(set, base + 0x10001));
        assert_true(frz_positions_has(set, base + 0x20000) &&
                    frz_positions_has(set, base + 0x20005));
        for (int64_t j = 0; j < 0x10000; j++) {
            assert_int_equal(frz_positions_has(set, base + 0x80000 + j), j % 2 == 0);
        }
    }
    frz_positions_free(set);
}

static void vector__of_the_java_library_are_read(void **state)
{
    static const struct {
        const char *name;
        uint64_t count;
        int64_t last;
    } vectors[] = {
        {"empty", 0, -1},
        {"small-alternating-values", 5, 9},
        {"small-and-large-values", 4, 2147483748},
        {"all-container-types", 132561, 4295163902},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(vectors); i++) {
        frz_error err = {0};
        frz_positions *set = NULL;
        char name[128];
        snprintf(name, sizeof name, "iceberg-java/deletes/%s-position-index.bin", vectors[i].name);
        frz_buf bytes = corpus_file(*state, name);
        assert_ok(frz_vector_decode(&bytes, &set, &err), &err);
        there_and_back(*state, set);
        assert_int_equal(frz_positions_count(set), vectors[i].count);
        assert_int_equal(frz_positions_last(set), vectors[i].last);
        frz_positions_free(set);
    }
}

static void roaring__broken_bitmaps_of_other_libraries_are_refused(void **state)
{
    static const char *const bitmaps[] = {
        "roaring/croaring/crashproneinput1.bin", "roaring/croaring/crashproneinput2.bin",
        "roaring/croaring/crashproneinput3.bin", "roaring/croaring/crashproneinput4.bin",
        "roaring/croaring/crashproneinput5.bin", "roaring/croaring/crashproneinput6.bin",
        "roaring/croaring/crashproneinput7.bin"};
    static const char *const whole[] = {
        "roaring/croaring/64mapemptyinput.bin", "roaring/croaring/64mapinvalidsize.bin",
        "roaring/croaring/64mapkeytoosmall.bin", "roaring/croaring/64mapsizetoosmall.bin"};
    frz_error err = {0};
    frz_positions *set = NULL;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bitmaps); i++) {
        assert_int_equal(decode_file(*state, bitmaps[i], false, &set, &err), FRZ_E_CORRUPT);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(whole); i++) {
        assert_int_equal(decode_file(*state, whole[i], true, &set, &err), FRZ_E_CORRUPT);
    }
    assert_null(set);
    assert_ok(decode_file(*state, "roaring/croaring/64mapempty.bin", true, &set, &err), &err);
    check_positions(set, "");
    frz_positions_free(set);
}

static void roaring__broken_rules_are_named(void **state)
{
    static const char *const bitmaps[][2] = {
        {"39300000 00000000", "cookie 12345, expected 12346 or 12347"},
        {"3A300000 01000100", "more than 65536 containers"},
        {"3B30FF00 00000000", "its flags of runs are cut off"},
        {"3A300000 01000000 0000", "its keys are cut off"},
        {"3A300000 01000000 0000 0000", "its offsets are cut off"},
        {"3A300000 01000000 0000 0000 10000000", "a list of positions is cut off"},
        {"3A300000 01000000 0000 0000 11000000 0500", "a container is not at its offset"},
        {"3A300000 01000000 0000 0100 10000000 0500 0500", "a list of positions does not ascend"},
        {"3A300000 01000000 0000 0100 10000000 0600 0500", "a list of positions does not ascend"},
        {"3A300000 02000000 0100 0000 0100 0000 18000000 1A000000 0500 0500",
         "keys of containers do not ascend"},
        {"3A300000 01000000 0000 FFFF 10000000 00", "a container of bits is cut off"},
        {"3B300000 01 0000 0000", "a list of runs is cut off"},
        {"3B300000 01 0000 0000 0100 0500", "a list of runs is cut off"},
        {"3B300000 01 0000 0100 0200 0500 0100 0600 0000", "runs overlap or do not ascend"},
        {"3B300000 01 0000 0200 0100 FEFF 0200", "a run ends behind its container"},
        {"3B300000 01 0000 0200 0100 0500 0100", "runs hold another number of positions"},
        {"3A300000 00000000 00", "1 bytes follow the last bitmap"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(bitmaps); i++) {
        frz_error err = {0};
        frz_positions *set = NULL;
        frz_buf bitmap = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf vector = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        put_hex(&bitmap, bitmaps[i][0]);
        wrap(&vector, frz_buf_view(&bitmap), false);
        assert_fails(frz_vector_decode(&vector, &set, &err), &err, FRZ_E_CORRUPT, bitmaps[i][1]);
        frz_buf_reset(&bitmap);
    }
}

static void vector__broken_rules_are_named(void **state)
{
    static const char *const vectors[][2] = {
        {"", "a deletion vector of 0 bytes"},
        {"00000024 D1D33964", "a deletion vector of 8 bytes"},
        {"00000025 D1D33964 0100000000000000 00000000 3A300000 01000000 0000 0100 10000000 0C00 "
         "9001 "
         "B735A63B",
         "says that it has 37 bytes, but is 36 bytes long"},
        {"00000024 D1D33965 0100000000000000 00000000 3A300000 01000000 0000 0100 10000000 0C00 "
         "9001 "
         "B735A63B",
         "magic number d1d33965"},
        {"00000024 D1D33964 0100000000000000 00000000 3A300000 01000000 0000 0100 10000000 0C00 "
         "9101 "
         "B735A63B",
         "checksum of the deletion vector is b735a63b"},
    };
    static const char *const maps[][2] = {
        {"01000000", "the deletion vector is cut off"},
        {"0200000000000000 00000000 3A300000 00000000",
         "2 bitmaps of a deletion vector cannot fit"},
        {"FFFFFFFFFFFFFFFF 00000000 3A300000 00000000", "bitmaps of a deletion vector cannot fit"},
        {"0100000000000000 00000080 3A300000 00000000", "do not ascend below 2^31"},
        {"0200000000000000 01000000 3A300000 00000000 01000000 3A300000 00000000",
         "do not ascend below 2^31"},
        {"0200000000000000 00000000 3A300000 01000000 0000 0000 10000000 0500 01000000 3A30",
         "its cookie is cut off"},
        {"0200000000000000 00000000 3A300000 01000000 0000 0000 10000000 0500 01000000 3A300000 01",
         "its number of containers is cut off"},
        {"0200000000000000 00000000 3A300000 01000000 0000 0000 10000000 0500 0000",
         "a key of the deletion vector is cut off"},
    };
    frz_error err = {0};
    frz_positions *set = NULL;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(vectors); i++) {
        frz_buf vector = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        put_hex(&vector, vectors[i][0]);
        assert_fails(frz_vector_decode(&vector, &set, &err), &err, FRZ_E_CORRUPT, vectors[i][1]);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(maps); i++) {
        frz_buf map = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        frz_buf vector = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        put_hex(&map, maps[i][0]);
        wrap(&vector, frz_buf_view(&map), true);
        assert_fails(frz_vector_decode(&vector, &set, &err), &err, FRZ_E_CORRUPT, maps[i][1]);
        frz_buf_reset(&map);
    }
}

/* ---- random sets ---- */

static uint64_t random_below(uint64_t *seed, uint64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % limit;
}

#define ROWS 300000

/* Stretches of every density. */
static size_t random_positions(uint64_t *seed, uint8_t *deleted, int64_t *list)
{
    static const unsigned chances[] = {0, 0, 1, 3, 40, 500, 999, 1000};
    size_t count = 0;
    memset(deleted, 0, ROWS);
    for (int64_t i = 0; i < ROWS;) {
        unsigned chance = chances[random_below(seed, FRZ_ARRAY_COUNT(chances))];
        int64_t end = i + 1 + (int64_t)random_below(seed, 90000);
        for (; i < FRZ_MIN(end, (int64_t)ROWS); i++) {
            deleted[i] = random_below(seed, 1000) < chance;
        }
    }
    for (int64_t i = 0; i < ROWS; i++) {
        for (unsigned k = 0; deleted[i] && k <= random_below(seed, 20) / 19; k++) {
            list[count++] = i; /* some twice */
        }
    }
    return count;
}

static void check_clear(const frz_positions *set, const uint8_t *deleted, int64_t first,
                        int64_t count)
{
    static uint8_t bits[ROWS / 8 + 16];
    memset(bits, 0xff, sizeof bits);
    frz_positions_clear(set, first, count, bits);
    for (int64_t i = 0; i < count; i++) {
        if (frz_bit_get(bits, i) == (deleted[first + i] != 0)) {
            fail_msg("window %lld, row %lld", (long long)first, (long long)i);
        }
    }
    for (int64_t i = count; i < count + 64; i++) {
        assert_true(frz_bit_get(bits, i));
    }
}

static void check_ranges(const frz_env *env, const frz_positions *set, const uint8_t *deleted,
                         int64_t least_gap)
{
    frz_error err = {0};
    frz_arena arena;
    frz_row_range *ranges = NULL;
    size_t count = 0;
    int64_t at = 0;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_positions_ranges(set, ROWS, least_gap, &arena, &ranges, &count, &err), &err);
    for (size_t i = 0; i <= count; i++) {
        int64_t start = i < count ? ranges[i].start : ROWS;
        assert_true(start == at || start - at >= least_gap);
        assert_true(i == 0 || i == count || start > at);
        for (; at < start; at++) {
            assert_true(deleted[at]);
        }
        if (i < count) {
            assert_true(!deleted[ranges[i].start] || ranges[i].start == 0 || least_gap > 1);
            int64_t gap = 0;
            for (; at < ranges[i].end; at++) {
                gap = deleted[at] ? gap + 1 : 0;
                assert_true(gap < least_gap);
            }
        }
    }
    frz_arena_reset(&arena);
}

static void positions__random_sets_do_what_a_list_does(void **state)
{
    static uint8_t deleted[ROWS];
    uint64_t seed = 7;
    int64_t *list = malloc(2 * ROWS * sizeof *list);
    for (unsigned run = 0; run < 40; run++) {
        frz_error err = {0};
        frz_positions *set = NULL;
        size_t count = random_positions(&seed, deleted, list);
        assert_ok(frz_positions_of(*state, list, count, &set, &err), &err);
        check_clear(set, deleted, 0, ROWS);
        for (unsigned i = 0; i < 60; i++) {
            int64_t first = (int64_t)random_below(&seed, ROWS - 1);
            check_clear(
                set, deleted, first,
                1 + (int64_t)random_below(&seed, (uint64_t)FRZ_MIN(ROWS - first, (int64_t)70000)));
            int64_t row = (int64_t)random_below(&seed, ROWS);
            assert_int_equal(frz_positions_has(set, row), deleted[row]);
        }
        check_ranges(*state, set, deleted, 1);
        check_ranges(*state, set, deleted, 1000);
        there_and_back(*state, set);
        frz_positions_free(set);
    }
    free(list);
}

/* Three sets, of which the last also has blocks far behind the others. */
static void positions__a_union_has_what_any_has(void **state)
{
    static uint8_t any[ROWS], deleted[ROWS];
    static const int64_t far = (int64_t)1 << 40;
    uint64_t seed = 11;
    int64_t *list = malloc((2 * ROWS + 1) * sizeof *list);
    for (unsigned run = 0; run < 20; run++) {
        frz_error err = {0};
        frz_positions *sets[3] = {NULL}, *all = NULL;
        uint64_t wanted = 1;
        memset(any, 0, sizeof any);
        for (size_t k = 0; k < 3; k++) {
            size_t count = random_positions(&seed, deleted, list);
            if (k == 2) {
                list[count++] = far;
            }
            assert_ok(frz_positions_of(*state, list, count, &sets[k], &err), &err);
            for (int64_t i = 0; i < ROWS; i++) {
                any[i] = any[i] || deleted[i];
            }
        }
        assert_ok(frz_positions_union(*state, (const frz_positions *const *)sets, 3, &all, &err),
                  &err);
        for (int64_t i = 0; i < ROWS; i++) {
            wanted += any[i];
            assert_int_equal(frz_positions_has(all, i), any[i]);
        }
        assert_int_equal(frz_positions_count(all), wanted);
        assert_int_equal(frz_positions_last(all), far);
        assert_true(frz_positions_has(all, far) && !frz_positions_has(all, far - 1));
        check_clear(all, any, 0, ROWS);
        there_and_back(*state, all);
        for (size_t k = 0; k < 3; k++) {
            frz_positions_free(sets[k]);
        }
        frz_positions_free(all);
    }
    free(list);
}

static void positions__all_rows_of_a_file_leave_no_range(void **state)
{
    frz_error err = {0};
    frz_positions *set = NULL;
    frz_arena arena;
    frz_row_range *ranges = NULL;
    size_t count = 9;
    int64_t *list = malloc(200000 * sizeof *list);
    for (int64_t i = 0; i < 200000; i++) {
        list[i] = i;
    }
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_positions_of(*state, list, 200000, &set, &err), &err);
    assert_ok(frz_positions_ranges(set, 200000, 4096, &arena, &ranges, &count, &err), &err);
    assert_int_equal(count, 0);
    assert_ok(frz_positions_ranges(set, 200001, 4096, &arena, &ranges, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_equal(ranges[0].start, 200000);
    assert_true(frz_positions_bytes(set) < 1000); /* four runs */
    frz_positions_free(set);
    frz_arena_reset(&arena);
    free(list);
}

/* ---- in a file ---- */

static void vector__is_read_from_its_place_in_a_file(void **state)
{
    static const char hex[] = "50464131 00000024 D1D33964 0100000000000000 00000000 3A300000 "
                              "01000000 0000 0100 10000000 0C00 9001 B735A63B 5046";
    char path[] = "/tmp/frazil-vector-XXXXXX";
    frz_error err = {0};
    frz_file *file = NULL;
    frz_positions *set = NULL;
    frz_buf bytes = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    put_hex(&bytes, hex);
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "wb");
    assert_int_equal(fwrite(bytes.data, 1, bytes.len, out), bytes.len);
    fclose(out);
    frz_buf_reset(&bytes);
    assert_ok(frz_file_open(*state, path, &file, &err), &err);
    assert_ok(frz_vector_read(*state, file, 4, 44, 2, &set, &err), &err);
    check_positions(set, "12,400");
    frz_positions_free(set);
    assert_fails(frz_vector_read(*state, file, 4, 44, 3, &set, &err), &err, FRZ_E_CORRUPT,
                 "has 2 positions, its manifest entry says 3");
    assert_fails(frz_vector_read(*state, file, 5, 44, 2, &set, &err), &err, FRZ_E_CORRUPT, path);
    static const int64_t places[][2] = {{4, 47},  {51, 44}, {4, INT64_MAX},
                                        {-1, 44}, {4, -1},  {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(places); i++) {
        assert_fails(frz_vector_read(*state, file, places[i][0], places[i][1], 2, &set, &err), &err,
                     FRZ_E_CORRUPT, "cannot lie in a file of 50");
    }
    frz_file_close(file);
    remove(path);
}

static frz_code scenario_vector(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t list[300];
    frz_positions *set = NULL, *back = NULL, *all = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    for (int64_t i = 0; i < 300; i++) {
        list[i] = i * i * i * i;
    }
    FRZ_TRY(frz_positions_of(env, list, 300, &set, err));
    FRZ_TRY(frz_vector_encode(set, &bytes, err));
    FRZ_TRY(frz_vector_decode(&bytes, &back, err));
    const frz_positions *both[] = {set, back};
    FRZ_TRY(frz_positions_union(env, both, 2, &all, err));
out:
    frz_positions_free(all);
    frz_positions_free(set);
    frz_positions_free(back);
    frz_buf_reset(&bytes);
    return rc;
}

static void alloc__vectors_give_back_what_they_took(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_vector) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(vector__of_the_specification_is_read_and_written),
        TEST_WITH_ENV(vector__of_another_writer_are_read),
        TEST_WITH_ENV(vector__of_the_java_library_are_read),
        TEST_WITH_ENV(roaring__bitmaps_of_other_libraries_are_read),
        TEST_WITH_ENV(roaring__64_bit_bitmaps_of_other_libraries_are_read),
        TEST_WITH_ENV(roaring__broken_bitmaps_of_other_libraries_are_refused),
        TEST_WITH_ENV(roaring__broken_rules_are_named),
        TEST_WITH_ENV(vector__broken_rules_are_named),
        TEST_WITH_ENV(positions__random_sets_do_what_a_list_does),
        TEST_WITH_ENV(positions__a_union_has_what_any_has),
        TEST_WITH_ENV(positions__all_rows_of_a_file_leave_no_range),
        TEST_WITH_ENV(vector__is_read_from_its_place_in_a_file),
        cmocka_unit_test(alloc__vectors_give_back_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
