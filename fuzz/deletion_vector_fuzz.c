/*
 * fuzz: a deletion vector. Its length and checksum are put right first, so that what is behind them
 * is reached. What decodes is looked through, encoded and decoded again to the same positions.
 */
#include "codec/codec.h"
#include "format/puffin/puffin.h"
#include "fuzz_storage.h"

#define FRAME 12 /* length, magic number, checksum */
#define WINDOW 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void put_right(uint8_t *bytes, size_t size)
{
    frz_store_le32(bytes, __builtin_bswap32((uint32_t)size - 8));
    memcpy(bytes + 4, "\xd1\xd3\x39\x64", 4);
    frz_store_le32(bytes + size - 4, __builtin_bswap32(frz_crc32(0, bytes + 4, size - 8)));
}

/* Runs cover the cardinality, and clearing bits agrees with them. */
static void look_through(const frz_positions *set, uint8_t *bits)
{
    frz_row_range run = {0, 0};
    uint64_t count = 0;
    int64_t cleared = 0;
    for (int64_t at = 0; frz_positions_next_run(set, at, &run); at = run.end) {
        check(run.start >= at && run.end > run.start && frz_positions_has(set, run.start));
        count += (uint64_t)(run.end - run.start);
        cleared += FRZ_MAX(FRZ_MIN(run.end, (int64_t)WINDOW) - run.start, (int64_t)0);
    }
    check(count == frz_positions_count(set) && run.end - 1 == frz_positions_last(set));
    memset(bits, 0xff, WINDOW / 8 + 8);
    frz_positions_clear(set, 0, WINDOW, bits);
    check(frz_bitmap_count(bits, 0, WINDOW) == WINDOW - cleared);
    check(frz_load_le64(bits + WINDOW / 8) == UINT64_MAX);
}

static void there_and_back(const frz_env *env, const frz_positions *set)
{
    frz_positions *back = NULL;
    frz_row_range a, b;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    check(frz_vector_encode(set, &bytes, NULL) == FRZ_OK);
    check(frz_vector_decode(&bytes, &back, NULL) == FRZ_OK);
    for (int64_t at = 0; frz_positions_next_run(set, at, &a); at = a.end) {
        check(frz_positions_next_run(back, at, &b) && a.start == b.start && a.end == b.end);
    }
    check(frz_positions_count(set) == frz_positions_count(back));
    frz_positions_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bits[WINDOW / 8 + 16];
    fuzz_storage storage = {.location = ""};
    frz_env *env = fuzz_env(&storage);
    frz_positions *set = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    check(frz_buf_append(&bytes, data, size, NULL) == FRZ_OK);
    if (size >= FRAME) {
        put_right(bytes.data, size);
    }
    if (frz_vector_decode(&bytes, &set, NULL) == FRZ_OK) {
        look_through(set, bits);
        there_and_back(env, set);
    }
    frz_positions_free(set);
    fuzz_env_free(env);
    return 0;
}
