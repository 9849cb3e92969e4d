/* Encoders against plain decoders that follow the format's description bit by bit. */
#include "format/parquet/parquet_write.h"
#include "unit/test_support.h"

typedef struct model {
    const uint8_t *p, *end;
} model;

static uint64_t model_varint(model *m)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(m->p < m->end);
        uint8_t byte = *m->p++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
}

static int64_t model_zigzag(model *m)
{
    uint64_t v = model_varint(m);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Bit i of a run of bits, least significant first. */
static uint64_t model_bits(const uint8_t *bytes, size_t first, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) {
        size_t bit = first + i;
        value |= (uint64_t)(bytes[bit / 8] >> (bit % 8) & 1) << i;
    }
    return value;
}

/* The hybrid, one number at a time; everything must be used up. */
static void check_hybrid(const frz_buf *encoded, const uint32_t *wanted, size_t count,
                         unsigned width)
{
    model m = {encoded->data, encoded->data + encoded->len};
    size_t n = 0;
    while (m.p < m.end) {
        uint64_t head = model_varint(&m);
        if ((head & 1) == 0) {
            uint32_t value = 0;
            for (unsigned b = 0; b < (width + 7) / 8; b++) {
                value |= (uint32_t)*m.p++ << (8 * b);
            }
            assert_true(head >> 1 > 0);
            for (uint64_t i = 0; i < head >> 1; i++) {
                assert_true(n < count);
                assert_int_equal(value, wanted[n++]);
            }
            continue;
        }
        size_t values = (size_t)(head >> 1) * 8;
        assert_true((size_t)(m.end - m.p) >= (size_t)(head >> 1) * width);
        for (size_t i = 0; i < values; i++) {
            uint64_t v = model_bits(m.p, i * width, width);
            if (n < count) {
                assert_int_equal(v, wanted[n++]);
            } else {
                assert_int_equal(v, 0);
                assert_true(m.p + (head >> 1) * width == m.end); /* only at the very end */
            }
        }
        m.p += (size_t)(head >> 1) * width;
    }
    assert_int_equal(n, count);
}

static uint64_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11;
}

/* Runs of random lengths, so that packed and repeated parts meet at every phase. */
static size_t random_runs(uint64_t *seed, uint32_t max, uint32_t *out, size_t most)
{
    size_t n = 0;
    while (n < most) {
        uint32_t value = (uint32_t)(random_next(seed) % ((uint64_t)max + 1));
        size_t run = random_next(seed) % 3 == 0 ? 1 + random_next(seed) % 40 : 1;
        for (size_t i = 0; i < run && n < most; i++) {
            out[n++] = value;
        }
    }
    return n;
}

static void hybrid__numbers_of_every_width_come_back(void **state)
{
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    uint32_t values[300];
    uint64_t seed = 1;
    for (unsigned width = 1; width <= 32; width++) {
        uint32_t max = width == 32 ? UINT32_MAX : (1u << width) - 1;
        assert_int_equal(parquet_encode_width(max), width);
        for (size_t count = 0; count < 300; count += 1 + count / 7) {
            random_runs(&seed, max, values, count);
            frz_buf_clear(&out);
            assert_ok(parquet_encode_indices(values, count, width, &out, &err), &err);
            check_hybrid(&out, values, count, width);
        }
    }
    frz_buf_reset(&out);
}

static void hybrid__levels_are_the_same_as_wide_numbers(void **state)
{
    frz_buf a = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_buf b = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    uint32_t wide[200];
    uint8_t levels[200];
    uint64_t seed = 7;
    random_runs(&seed, 5, wide, 200);
    for (size_t i = 0; i < 200; i++) {
        levels[i] = (uint8_t)wide[i];
    }
    assert_ok(parquet_encode_levels(levels, 200, 3, &a, &err), &err);
    assert_ok(parquet_encode_indices(wide, 200, 3, &b, &err), &err);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    frz_buf_reset(&a);
    frz_buf_reset(&b);
}

static void hybrid__a_run_takes_few_bytes(void **state)
{
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    static uint8_t levels[100000];
    assert_ok(parquet_encode_levels(levels, sizeof levels, 1, &out, &err), &err);
    assert_int_equal(out.len, 4);
    frz_buf_reset(&out);
}

static void bools__are_packed_least_significant_first(void **state)
{
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    const uint8_t values[10] = {1, 0, 0, 1, 1, 0, 0, 0, 0, 1};
    assert_ok(parquet_encode_bools(values, 10, &out, &err), &err);
    assert_int_equal(out.len, 2);
    assert_int_equal(out.data[0], 0x19);
    assert_int_equal(out.data[1], 0x02);
    frz_buf_reset(&out);
}

/* DELTA_BINARY_PACKED as its description has it: blocks of miniblocks, sums that wrap around. */
static void model_delta(model *m, int64_t *out, size_t count, size_t width)
{
    uint64_t block = model_varint(m);
    uint64_t minis = model_varint(m);
    assert_int_equal(model_varint(m), count);
    uint64_t last = (uint64_t)model_zigzag(m);
    assert_true(block % 128 == 0 && block / minis % 32 == 0);
    size_t n = 0;
    if (count > 0) {
        out[n++] = (int64_t)last;
    }
    while (n < count) {
        uint64_t least = (uint64_t)model_zigzag(m);
        const uint8_t *widths = m->p;
        m->p += minis;
        for (size_t k = 0; k < minis && n < count; k++) {
            for (size_t i = 0; i < block / minis && n < count; i++) {
                last += least + model_bits(m->p, i * widths[k], widths[k]);
                out[n++] = width == 4 ? (int32_t)last : (int64_t)last;
            }
            assert_true(widths[k] <= 8 * width);
            m->p += widths[k] * (block / minis) / 8;
            assert_true(m->p <= m->end);
        }
    }
}

static void check_delta(const frz_buf *encoded, const int64_t *wanted, size_t count, size_t width)
{
    static int64_t found[32768];
    model m = {encoded->data, encoded->data + encoded->len};
    model_delta(&m, found, count, width);
    assert_memory_equal(found, wanted, count * sizeof *found);
    assert_true(m.p == m.end);
}

static void delta_round_trip(const frz_env *env, const int64_t *values, size_t count, size_t width)
{
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    static uint8_t plain[8 * 1000];
    for (size_t i = 0; i < count; i++) {
        memcpy(plain + i * width, &values[i], width);
    }
    assert_ok(parquet_encode_delta(plain, count, width, &out, &err), &err);
    check_delta(&out, values, count, width);
    frz_buf_reset(&out);
}

static void delta__every_count_and_size_comes_back(void **state)
{
    static int64_t values[1000];
    uint64_t seed = 3;
    for (size_t count = 0; count < 1000; count += 1 + count / 9) {
        for (unsigned bits = 0; bits <= 63; bits += 7) {
            for (size_t i = 0; i < count; i++) {
                values[i] = (int64_t)(random_next(&seed) << 11 >> (63 - bits));
            }
            delta_round_trip(*state, values, count, 8);
            for (size_t i = 0; i < count; i++) {
                values[i] = (int32_t)values[i];
            }
            delta_round_trip(*state, values, count, 4);
        }
    }
}

static void delta__differences_that_wrap_around_come_back(void **state)
{
    const int64_t extremes[] = {INT64_MAX, INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, 1, INT64_MIN};
    delta_round_trip(*state, extremes, FRZ_ARRAY_COUNT(extremes), 8);
    const int64_t narrow[] = {INT32_MAX, INT32_MIN, INT32_MAX, 0, INT32_MIN, -1, 1, INT32_MIN};
    delta_round_trip(*state, narrow, FRZ_ARRAY_COUNT(narrow), 4);
}

static void delta__sequential_numbers_take_next_to_nothing(void **state)
{
    frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    static int64_t values[32768];
    for (int64_t i = 0; i < 32768; i++) {
        values[i] = 5000000000 + i;
    }
    assert_ok(parquet_encode_delta((const uint8_t *)values, 32768, 8, &out, &err), &err);
    assert_true(out.len < 1400);
    frz_buf_reset(&out);
}

static void split__bytes_of_a_place_lie_together(void **state)
{
    frz_error err = {0};
    uint64_t seed = 9;
    uint8_t values[8 * 37];
    for (size_t i = 0; i < sizeof values; i++) {
        values[i] = (uint8_t)random_next(&seed);
    }
    for (size_t width = 1; width <= 8; width++) {
        for (size_t count = 0; count <= 37; count++) {
            frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
            assert_ok(parquet_encode_split(values, count, width, &out, &err), &err);
            assert_int_equal(out.len, count * width);
            for (size_t i = 0; i < count; i++) {
                for (size_t b = 0; b < width; b++) {
                    assert_int_equal(out.data[b * count + i], values[i * width + b]);
                }
            }
            frz_buf_reset(&out);
        }
    }
}

/* ---- byte strings ---- */

typedef struct strings {
    frz_buf plain;
    frz_str views[400]; /* into plain, once all are there */
    size_t count;
} strings;

/* Values of any length that share what they begin with, in PLAIN form; width 0: with lengths. */
static void make_strings(strings *s, const frz_env *env, uint64_t *seed, size_t count, size_t width)
{
    size_t starts[400];
    frz_error err = {0};
    uint8_t value[64] = {0};
    frz_buf_init(&s->plain, env, FRZ_BUF_NO_LIMIT);
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t len = width != 0 ? width : random_next(seed) % 60;
        size_t keep = random_next(seed) % (len + 1);
        uint8_t head[4];
        for (size_t k = keep; k < len; k++) {
            value[k] = (uint8_t)(random_next(seed) % 3);
        }
        frz_store_le32(head, (uint32_t)len);
        assert_ok(frz_buf_append(&s->plain, head, width != 0 ? 0 : 4, &err), &err);
        starts[i] = s->plain.len;
        assert_ok(frz_buf_append(&s->plain, value, len, &err), &err);
        s->views[i].len = len;
    }
    for (size_t i = 0; i < count; i++) {
        s->views[i].ptr = (const char *)s->plain.data + starts[i];
    }
}

static void check_strings(const strings *s, size_t width, const frz_env *env, frz_buf *room)
{
    int64_t prefixes[400] = {0};
    int64_t lengths[400];
    uint8_t value[64];
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    for (int prefixed = width != 0 ? 1 : 0; prefixed < 2; prefixed++) {
        frz_buf_clear(&out);
        assert_ok(
            prefixed == 0
                ? parquet_encode_delta_length(s->plain.data, s->count, room, &out, &err)
                : parquet_encode_delta_bytes(s->plain.data, s->count, width, room, &out, &err),
            &err);
        model m = {out.data, out.data + out.len};
        if (prefixed == 1) {
            model_delta(&m, prefixes, s->count, 4);
        }
        model_delta(&m, lengths, s->count, 4);
        for (size_t i = 0; i < s->count; i++) {
            assert_int_equal(prefixes[i] + lengths[i], s->views[i].len);
            memcpy(value + prefixes[i], m.p, (size_t)lengths[i]);
            assert_memory_equal(value, s->views[i].ptr, s->views[i].len);
            m.p += lengths[i];
        }
        assert_true(m.p == m.end);
    }
    frz_buf_reset(&out);
}

static void strings__every_count_and_length_comes_back(void **state)
{
    static strings s;
    frz_buf room = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    uint64_t seed = 5;
    for (size_t count = 0; count < 400; count += 1 + count / 5) {
        for (size_t width = 0; width < 20; width += 1 + width / 2) {
            make_strings(&s, *state, &seed, count, width);
            check_strings(&s, width, *state, &room);
            frz_buf_reset(&s.plain);
        }
    }
    frz_buf_reset(&room);
}

/* ---- dictionary ---- */

static void dictionary__numbers_entries_in_order_of_appearance(void **state)
{
    frz_error err = {0};
    parquet_dictionary_out d;
    const int64_t values[] = {7, 9, 7, 7, -1, 9};
    uint32_t indices[6];
    bool fits;
    parquet_dictionary_out_init(&d, *state, 8);
    assert_ok(
        parquet_dictionary_out_add(&d, (const uint8_t *)values, 6, 6, 1000, indices, &fits, &err),
        &err);
    assert_true(fits);
    assert_int_equal(d.count, 3);
    const uint32_t wanted[] = {0, 1, 0, 0, 2, 1};
    assert_memory_equal(indices, wanted, sizeof wanted);
    const int64_t entries[] = {7, 9, -1};
    assert_memory_equal(d.values.data, entries, sizeof entries);
    parquet_dictionary_out_reset(&d);
}

static void dictionary__one_that_does_not_fit_keeps_what_it_had(void **state)
{
    frz_error err = {0};
    parquet_dictionary_out d;
    int32_t values[100];
    uint32_t indices[100];
    bool fits;
    for (int32_t i = 0; i < 100; i++) {
        values[i] = i;
    }
    parquet_dictionary_out_init(&d, *state, 4);
    assert_ok(
        parquet_dictionary_out_add(&d, (uint8_t *)values, 10, 100, 1000, indices, &fits, &err),
        &err);
    assert_true(fits);
    assert_ok(
        parquet_dictionary_out_add(&d, (uint8_t *)values, 100, 20, 1000, indices, &fits, &err),
        &err);
    assert_false(fits);
    assert_int_equal(d.count, 10);
    assert_int_equal(d.values.len, 40);
    parquet_dictionary_out_reset(&d);
}

static void dictionary__values_of_many_lengths_stay_apart(void **state)
{
    frz_error err = {0};
    parquet_dictionary_out d;
    frz_buf plain = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    static uint32_t indices[2000];
    bool fits;
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t length = i % 1000 % 40;
        char text[48];
        memset(text, 'a' + (int)(i % 1000 / 40), sizeof text);
        assert_ok(frz_buf_append(&plain, &length, 4, &err), &err);
        assert_ok(frz_buf_append(&plain, text, length, &err), &err);
    }
    parquet_dictionary_out_init(&d, *state, 0);
    assert_ok(parquet_dictionary_out_add(&d, plain.data, 2000, 2000, 1 << 20, indices, &fits, &err),
              &err);
    assert_true(fits);
    assert_int_equal(d.count, 1000 - 24); /* the empty one is the same for all letters */
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(indices[i], indices[i + 1000]);
    }
    parquet_dictionary_out_reset(&d);
    frz_buf_reset(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(hybrid__numbers_of_every_width_come_back),
        TEST_WITH_ENV(hybrid__levels_are_the_same_as_wide_numbers),
        TEST_WITH_ENV(hybrid__a_run_takes_few_bytes),
        TEST_WITH_ENV(bools__are_packed_least_significant_first),
        TEST_WITH_ENV(delta__every_count_and_size_comes_back),
        TEST_WITH_ENV(delta__differences_that_wrap_around_come_back),
        TEST_WITH_ENV(delta__sequential_numbers_take_next_to_nothing),
        TEST_WITH_ENV(split__bytes_of_a_place_lie_together),
        TEST_WITH_ENV(strings__every_count_and_length_comes_back),
        TEST_WITH_ENV(dictionary__numbers_entries_in_order_of_appearance),
        TEST_WITH_ENV(dictionary__one_that_does_not_fit_keeps_what_it_had),
        TEST_WITH_ENV(dictionary__values_of_many_lengths_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
