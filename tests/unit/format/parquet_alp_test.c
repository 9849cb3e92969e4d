/*
 * ALP: the example of the specification, vectors of every size and width, exceptions, damage.
 */
#include "unit/test_support.h"

#include "unit/format/parquet_encode.h"

#define COUNT 3000

static uint64_t seed = 9;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 24 ^ seed << 20;
}

/* The integers of a vector and what stands beside them. */
typedef struct vector {
    unsigned exponent, factor;
    uint64_t integers[COUNT];
    size_t count;
    uint16_t positions[COUNT];
    uint64_t exceptions[COUNT];
    size_t exception_count;
} vector;

static void put_vector(page *p, const vector *v, size_t size)
{
    uint64_t deltas[COUNT];
    int64_t least = (int64_t)v->integers[0];
    uint64_t all = 0;
    const uint16_t exceptions = (uint16_t)v->exception_count;
    for (size_t i = 0; i < v->count; i++) {
        least = FRZ_MIN(least, (int64_t)v->integers[i]);
    }
    for (size_t i = 0; i < v->count; i++) {
        deltas[i] = v->integers[i] - (uint64_t)least;
        all |= deltas[i];
    }
    put_byte(p, v->exponent);
    put_byte(p, v->factor);
    put(p, &exceptions, 2);
    put(p, &least, size);
    put_byte(p, bits_of(all));
    put_bits(p, deltas, v->count, bits_of(all));
    put(p, v->positions, v->exception_count * 2);
    for (size_t i = 0; i < v->exception_count; i++) {
        put(p, &v->exceptions[i], size);
    }
}

static void put_header(page *p, unsigned log_size, size_t count)
{
    put(p, "\0\0", 2);
    put_byte(p, log_size);
    put_le32(p, (uint32_t)count);
}

static frz_code begin(frz_env *env, parquet_values *v, parquet_physical physical,
                      const uint8_t *bytes, size_t len, size_t most, frz_error *err)
{
    static const parquet_dictionary no_dictionary;
    const parquet_element e = {.physical = physical};
    *v = (parquet_values){.env = env};
    *err = (frz_error){0};
    return parquet_values_init(v, &e, PARQUET_ALP, bytes, len, &no_dictionary, most, err);
}

static void alp__example_of_the_specification(void **state)
{
    static const vector example = {.exponent = 4,
                                   .factor = 3,
                                   .integers = {15000, 15000, 25000, 3335},
                                   .count = 4,
                                   .positions = {1},
                                   .exceptions = {UINT64_C(0x7FF8000000000123)},
                                   .exception_count = 1};
    parquet_values v;
    page p;
    uint64_t out[4];
    double values[4];
    frz_error err = {0};
    page_init(&p);
    put_header(&p, 10, 4);
    put_le32(&p, 4);
    put_vector(&p, &example, 8);
    assert_int_equal(p.len, 7 + 4 + 31);
    assert_ok(begin(*state, &v, PARQUET_DOUBLE, p.bytes, p.len, 4, &err), &err);
    assert_ok(parquet_values_fixed(&v, 4, (uint8_t *)out, &err), &err);
    memcpy(values, out, sizeof values);
    assert_true(values[0] == 1500.0 && values[2] == 2500.0 && values[3] == 333.5);
    assert_true(out[1] == example.exceptions[0]);
    assert_fails(parquet_values_fixed(&v, 1, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                 "end too early");
    parquet_values_reset(&v);
    page_reset(&p);
}

/* What a vector stands for. */
static void expect(const vector *v, bool is_double, uint8_t *out)
{
    char text[32];
    snprintf(text, sizeof text, "1e-%u", v->exponent);
    const double part = strtod(text, NULL);
    const float float_part = strtof(text, NULL);
    snprintf(text, sizeof text, "1e%u", v->factor);
    const double power = strtod(text, NULL);
    const float float_power = strtof(text, NULL);
    for (size_t i = 0; i < v->count; i++) {
        double wide = (double)(int64_t)v->integers[i] * power;
        float narrow = (float)(int32_t)v->integers[i] * float_power;
        wide *= part;
        narrow *= float_part;
        memcpy(out + i * (is_double ? 8 : 4), is_double ? (void *)&wide : (void *)&narrow,
               is_double ? 8 : 4);
    }
    for (size_t i = 0; i < v->exception_count; i++) {
        memcpy(out + v->positions[i] * (is_double ? 8u : 4u), &v->exceptions[i], is_double ? 8 : 4);
    }
}

static void make_vector(vector *v, bool is_double, unsigned bits, size_t count)
{
    v->exponent = (unsigned)(next_random() % (is_double ? 19 : 11));
    v->factor = (unsigned)(next_random() % (v->exponent + 1));
    v->count = count;
    uint64_t base = next_random();
    base = is_double ? base : (uint64_t)(int64_t)(int32_t)base;
    for (size_t i = 0; i < count; i++) {
        uint64_t delta = bits == 0 ? 0 : next_random() >> (64 - bits);
        uint64_t sum = base + delta;
        v->integers[i] = is_double ? sum : (uint64_t)(int64_t)(int32_t)sum;
    }
    v->exception_count = next_random() % 4 == 0 ? next_random() % (count / 4 + 1) : 0;
    for (size_t i = 0; i < v->exception_count; i++) {
        v->positions[i] = (uint16_t)(next_random() % count);
        v->exceptions[i] = next_random();
    }
}

/* A page of vectors of one size; its values go to expected. */
static void make_page(page *p, bool is_double, unsigned bits, unsigned log_size, size_t count,
                      uint8_t *expected)
{
    static vector v;
    size_t size = (size_t)1 << log_size;
    size_t vectors = (count + size - 1) / size;
    put_header(p, log_size, count);
    size_t offsets = p->len;
    p->len += vectors * 4;
    for (size_t i = 0; i < vectors; i++) {
        uint32_t offset = (uint32_t)(p->len - offsets);
        memcpy(p->bytes + offsets + i * 4, &offset, 4);
        make_vector(&v, is_double, bits, FRZ_MIN(size, count - i * size));
        put_vector(p, &v, is_double ? 8 : 4);
        expect(&v, is_double, expected + i * size * (is_double ? 8 : 4));
    }
}

static void check_page(frz_env *env, bool is_double, unsigned bits, unsigned log_size, size_t count)
{
    static uint8_t expected[COUNT * 8], out[COUNT * 8];
    const parquet_physical physical = is_double ? PARQUET_DOUBLE : PARQUET_FLOAT;
    const size_t width = is_double ? 8 : 4;
    const unsigned cpu = env->cpu;
    page p;
    frz_error err = {0};
    page_init(&p);
    make_page(&p, is_double, bits, log_size, count, expected);
    uint8_t *bytes = page_exact(&p);
    for (int round = 0; round < 4; round++) {
        parquet_values v;
        env->cpu = round % 2 == 0 ? 0 : cpu;
        assert_ok(begin(env, &v, physical, bytes, p.len, count, &err), &err);
        for (size_t i = 0; i < count;) {
            size_t n = round < 2 ? count : next_random() % 400;
            n = FRZ_MIN(n, count - i);
            if (round >= 2 && next_random() % 3 == 0) {
                assert_ok(parquet_values_skip(&v, n, &err), &err);
            } else {
                assert_ok(parquet_values_fixed(&v, n, out, &err), &err);
                assert_memory_equal(out, expected + i * width, n * width);
            }
            i += n;
        }
        assert_fails(parquet_values_skip(&v, 1, &err), &err, FRZ_E_CORRUPT, "end too early");
        parquet_values_reset(&v);
    }
    env->cpu = cpu;
    free(bytes);
    page_reset(&p);
}

static void alp__vectors_of_every_width(void **state)
{
    for (unsigned bits = 0; bits <= 64; bits++) {
        check_page(*state, true, bits, 10, 1500);
        check_page(*state, false, FRZ_MIN(bits, 32u), 10, 1500);
    }
}

static void alp__vectors_of_every_size(void **state)
{
    for (unsigned log_size = 3; log_size <= 15; log_size++) {
        for (size_t count = 0; count <= COUNT; count += 1 + count / 2) {
            check_page(*state, true, 17, log_size, count);
            check_page(*state, false, 9, log_size, count);
        }
    }
}

static void alp__what_is_damaged_is_said(void **state)
{
    static uint8_t expected[COUNT * 8];
    static const struct {
        size_t at;
        uint8_t value;
        const char *phrase;
    } heads[] = {{0, 1, "ALP of mode 1"}, {1, 1, "with integers 1"}, {2, 2, "the header"},
                 {2, 16, "the header"},   {3, 1, "the header"}, /* more values than the page has */
                 {6, 0x80, "the header"}},
      vectors[] = {{7, 0xFF, "a vector"},                             /* its place */
                   {10, 0x7F, "a vector"},      {11, 19, "a vector"}, /* exponent */
                   {12, 19, "a vector"},                              /* factor */
                   {14, 0xFF, "a vector"},                            /* exceptions */
                   {11 + 4 + 8, 65, "a vector"}};                     /* width */
    parquet_values v;
    uint64_t out[10];
    page p;
    frz_error err = {0};
    page_init(&p);
    make_page(&p, true, 5, 4, 10, expected);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(heads); i++) {
        uint8_t old = p.bytes[heads[i].at];
        p.bytes[heads[i].at] = (uint8_t)(heads[i].at == 3 ? old + heads[i].value : heads[i].value);
        frz_code rc = begin(*state, &v, PARQUET_DOUBLE, p.bytes, p.len, 10, &err);
        assert_fails(rc, &err, i < 2 ? FRZ_E_UNSUPPORTED : FRZ_E_CORRUPT, heads[i].phrase);
        p.bytes[heads[i].at] = old;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(vectors); i++) {
        uint8_t old = p.bytes[vectors[i].at];
        p.bytes[vectors[i].at] = vectors[i].value;
        assert_ok(begin(*state, &v, PARQUET_DOUBLE, p.bytes, p.len, 10, &err), &err);
        assert_fails(parquet_values_fixed(&v, 10, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                     vectors[i].phrase);
        assert_fails(parquet_values_fixed(&v, 5, (uint8_t *)out, &err), &err, FRZ_E_CORRUPT,
                     vectors[i].phrase);
        parquet_values_reset(&v);
        p.bytes[vectors[i].at] = old;
    }
    for (size_t len = 1; len < p.len; len++) {
        page cut = {p.bytes, len};
        uint8_t *bytes = page_exact(&cut);
        frz_code rc = begin(*state, &v, PARQUET_DOUBLE, bytes, len, 10, &err);
        rc = rc == FRZ_OK ? parquet_values_fixed(&v, 10, (uint8_t *)out, &err) : rc;
        assert_int_equal(rc, FRZ_E_CORRUPT);
        parquet_values_reset(&v);
        free(bytes);
    }
    assert_fails(begin(*state, &v, PARQUET_INT64, p.bytes, p.len, 10, &err), &err,
                 FRZ_E_UNSUPPORTED, "encoding 10 of INT64");
    page_reset(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(alp__example_of_the_specification),
        TEST_WITH_ENV(alp__vectors_of_every_width),
        TEST_WITH_ENV(alp__vectors_of_every_size),
        TEST_WITH_ENV(alp__what_is_damaged_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
