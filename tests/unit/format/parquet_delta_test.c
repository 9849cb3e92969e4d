/*
 * DELTA_BINARY_PACKED: blocks of every shape, numbers of every width, what may be left out and what
 * may not; with the plain loops and with those for this processor.
 */
#include "unit/test_support.h"

#include "unit/format/parquet_encode.h"

#define COUNT 1500

static uint64_t seed = 3;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 24 ^ seed << 20;
}

/* Numbers whose differences take up to some bits, now and then fewer. */
static void make_values(int64_t *values, unsigned bits)
{
    uint64_t last = next_random();
    for (size_t i = 0; i < COUNT; i++) {
        unsigned few = i / 200 % 3 == 0 ? bits / 2 : bits;
        uint64_t mask = few == 0 ? 0 : UINT64_MAX >> (64 - few);
        last += next_random() & mask;
        values[i] = (int64_t)last;
    }
}

/* Read in pieces and compare; pieces of every size come, also across blocks. */
static void check_read(const parquet_kernels *k, const uint8_t *bytes, size_t len,
                       const int64_t *values, size_t count)
{
    parquet_delta d;
    uint64_t *out = malloc(COUNT * sizeof *out);
    assert_true(parquet_delta_init(&d, k, bytes, len, count));
    assert_ptr_equal(parquet_delta_end(&d), bytes + len);
    for (size_t i = 0; i < count;) {
        size_t n = (size_t)(next_random() % 100);
        n = FRZ_MIN(n, count - i);
        assert_int_equal(parquet_delta_read(&d, out, n), n);
        assert_memory_equal(out, values + i, n * sizeof *out);
        i += n;
        assert_ptr_equal(parquet_delta_end(&d), bytes + len);
    }
    assert_int_equal(parquet_delta_read(&d, out, 5), 0);
    free(out);
}

static void check_both(frz_env *env, const page *p, const int64_t *values, size_t count)
{
    uint8_t *bytes = page_exact(p);
    check_read(&parquet_kernels_plain, bytes, p->len, values, count);
    check_read(parquet_kernels_of(env), bytes, p->len, values, count);
    free(bytes);
}

static void delta__numbers_of_every_width(void **state)
{
    int64_t values[COUNT];
    for (unsigned bits = 0; bits <= 64; bits++) {
        page p;
        page_init(&p);
        make_values(values, bits);
        put_deltas(&p, values, COUNT, 128, 4);
        check_both(*state, &p, values, COUNT);
        page_reset(&p);
    }
}

static void delta__blocks_of_every_shape(void **state)
{
    static const size_t shapes[][2] = {{128, 1},   {128, 2},    {128, 4},    {128, 16}, {256, 4},
                                       {256, 32},  {1024, 128}, {1024, 2},   {8, 1},    {40, 5},
                                       {4096, 64}, {4096, 512}, {65536, 256}};
    int64_t values[COUNT];
    make_values(values, 13);
    for (size_t s = 0; s < FRZ_ARRAY_COUNT(shapes); s++) {
        for (size_t count = 0; count <= COUNT; count += 1 + count / 3) {
            page p;
            page_init(&p);
            put_deltas(&p, values, count, shapes[s][0], shapes[s][1]);
            check_both(*state, &p, values, count);
            page_reset(&p);
        }
    }
}

static void delta__sums_wrap_around(void **state)
{
    int64_t values[100];
    page p;
    page_init(&p);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(values); i++) {
        values[i] = i % 2 == 0 ? INT64_MIN : INT64_MAX;
    }
    put_deltas(&p, values, FRZ_ARRAY_COUNT(values), 128, 4);
    check_both(*state, &p, values, FRZ_ARRAY_COUNT(values));
    page_reset(&p);
}

static void delta__the_last_miniblock_may_end_with_its_values(void **state)
{
    int64_t values[COUNT];
    page p;
    page_init(&p);
    make_values(values, 20); /* 10 bits each at first */
    put_deltas(&p, values, 40, 128, 4);
    /* 39 deltas: 32 in the first miniblock, 7 in the second */
    size_t whole = p.len;
    parquet_delta d;
    uint64_t out[64];
    size_t shortest = whole;
    for (size_t len = whole; len > 0; len--) {
        page cut = {p.bytes, len};
        uint8_t *bytes = page_exact(&cut);
        bool ok = parquet_delta_init(&d, parquet_kernels_of(*state), bytes, len, 40) &&
                  parquet_delta_read(&d, out, 40) == 40;
        if (ok) {
            assert_memory_equal(out, values, 40 * sizeof *out);
            shortest = len;
            assert_true(parquet_delta_init(&d, parquet_kernels_of(*state), bytes, len, 40));
            assert_ptr_equal(parquet_delta_end(&d), bytes + len);
        } else if (parquet_delta_init(&d, parquet_kernels_of(*state), bytes, len, 40)) {
            assert_null(parquet_delta_end(&d));
        }
        free(bytes);
    }
    /* 25 of 32 values are padding, which may be left out */
    assert_true(whole - shortest >= 25 * 9 / 8 && whole - shortest <= 25 * 10 / 8 + 1);
    page_reset(&p);
}

static void delta__more_values_than_the_page_has_are_damage(void **state)
{
    int64_t values[COUNT];
    parquet_delta d;
    page p;
    page_init(&p);
    make_values(values, 5);
    put_deltas(&p, values, 100, 128, 4);
    assert_true(parquet_delta_init(&d, parquet_kernels_of(*state), p.bytes, p.len, 100));
    assert_false(parquet_delta_init(&d, parquet_kernels_of(*state), p.bytes, p.len, 99));
    page_reset(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(delta__numbers_of_every_width),
        TEST_WITH_ENV(delta__blocks_of_every_shape),
        TEST_WITH_ENV(delta__sums_wrap_around),
        TEST_WITH_ENV(delta__the_last_miniblock_may_end_with_its_values),
        TEST_WITH_ENV(delta__more_values_than_the_page_has_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
