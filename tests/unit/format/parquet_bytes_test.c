/*
 * BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY values in every encoding: as views, into a sink and in fixed
 * width, in pieces, with some skipped.
 */
#include "unit/test_support.h"

#include "unit/format/parquet_encode.h"

#define COUNT 2500
#define LONGEST 300

static uint32_t seed = 5;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Values and their bytes one after the other. */
typedef struct strings {
    char *bytes;
    frz_str values[COUNT];
} strings;

static void strings_reset(strings *s)
{
    free(s->bytes);
}

/* Mostly short, some long, some empty; many share their beginning with the one before. */
static void make_strings(strings *s, size_t fixed)
{
    s->bytes = malloc(COUNT * LONGEST);
    assert_non_null(s->bytes);
    char *to = s->bytes;
    for (size_t i = 0; i < COUNT; i++) {
        size_t len = fixed > 0 ? fixed : next_random() % (i % 10 == 0 ? LONGEST : 20);
        size_t same = i == 0 ? 0 : FRZ_MIN(len, s->values[i - 1].len) * (next_random() % 5) / 4;
        for (size_t k = 0; k < len; k++) {
            to[k] = (char)(k < same ? s->values[i - 1].ptr[k] : 'a' + (int)(next_random() % 26));
        }
        s->values[i] = (frz_str){to, len};
        to += len;
    }
}

static void put_plain(page *p, const frz_str *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_le32(p, (uint32_t)values[i].len);
        put(p, values[i].ptr, values[i].len);
    }
}

static void put_lengths(page *p, const frz_str *values)
{
    int64_t lengths[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        lengths[i] = (int64_t)values[i].len;
    }
    put_deltas(p, lengths, COUNT, 256, 8);
}

static void put_delta_length(page *p, const frz_str *values)
{
    put_lengths(p, values);
    for (size_t i = 0; i < COUNT; i++) {
        put(p, values[i].ptr, values[i].len);
    }
}

static void put_delta_strings(page *p, const frz_str *values)
{
    int64_t prefixes[COUNT] = {0};
    frz_str suffixes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t same = 0;
        while (i > 0 && same < FRZ_MIN(values[i].len, values[i - 1].len) &&
               values[i].ptr[same] == values[i - 1].ptr[same]) {
            same++;
        }
        prefixes[i] = (int64_t)same;
        suffixes[i] = (frz_str){values[i].ptr + same, values[i].len - same};
    }
    put_deltas(p, prefixes, COUNT, 128, 4);
    put_delta_length(p, suffixes);
}

/* ---- reading ---- */

typedef struct source {
    frz_env *env;
    parquet_element element;
    int32_t encoding;
    const uint8_t *bytes;
    size_t len;
    const parquet_dictionary *dictionary;
} source;

static void begin(const source *src, parquet_values *v)
{
    frz_error err = {0};
    *v = (parquet_values){.env = src->env};
    assert_ok(parquet_values_init(v, &src->element, src->encoding, src->bytes, src->len,
                                  src->dictionary, COUNT, &err),
              &err);
}

static void check_views(const source *src, const frz_str *expected)
{
    parquet_values v;
    frz_str views[PARQUET_BLOCK];
    frz_error err = {0};
    begin(src, &v);
    for (size_t i = 0; i < COUNT;) {
        size_t n = next_random() % PARQUET_BLOCK;
        n = FRZ_MIN(n, COUNT - i);
        if (next_random() % 3 == 0) {
            assert_ok(parquet_values_skip(&v, n, &err), &err);
        } else {
            assert_ok(parquet_values_views(&v, n, views, &err), &err);
            for (size_t k = 0; k < n; k++) {
                assert_true(frz_str_equal(views[k], expected[i + k]));
            }
        }
        i += n;
    }
    assert_fails(parquet_values_views(&v, 1, views, &err), &err, FRZ_E_CORRUPT, "");
    parquet_values_reset(&v);
}

static void check_sink(const source *src, const frz_str *expected)
{
    static const frz_type type = {.id = FRZ_TYPE_STRING};
    parquet_values v;
    parquet_sink sink;
    frz_error err = {0};
    begin(src, &v);
    parquet_sink_init(&sink, src->env, &type);
    for (size_t i = 0; i < COUNT;) {
        size_t n = next_random() % 1500;
        n = FRZ_MIN(n, COUNT - i);
        assert_ok(parquet_values_strings(&v, n, &sink, &err), &err);
        i += n;
        assert_int_equal(sink.count, i);
    }
    const int32_t *offsets = (const int32_t *)(const void *)sink.offsets->data;
    for (size_t i = 0; i < COUNT; i++) {
        frz_str value = {(const char *)sink.values->data + offsets[i],
                         (size_t)(offsets[i + 1] - offsets[i])};
        assert_true(frz_str_equal(value, expected[i]));
    }
    assert_fails(parquet_values_strings(&v, 1, &sink, &err), &err, FRZ_E_CORRUPT, "");
    parquet_sink_reset(&sink);
    parquet_values_reset(&v);
}

/* Of exactly its bytes, plain and with what the processor has. */
static void check_page(frz_env *env, int32_t encoding, const page *p,
                       const parquet_dictionary *dictionary, const frz_str *expected)
{
    uint8_t *bytes = page_exact(p);
    source src = {env, {.physical = PARQUET_BYTE_ARRAY}, encoding, bytes, p->len, dictionary};
    const unsigned cpu = env->cpu;
    for (int i = 0; i < 2; i++) {
        env->cpu = i == 0 ? 0 : cpu;
        check_views(&src, expected);
        check_sink(&src, expected);
    }
    free(bytes);
}

static const parquet_dictionary no_dictionary;

static void bytes__plain(void **state)
{
    strings s;
    page p;
    make_strings(&s, 0);
    page_init(&p);
    put_plain(&p, s.values, COUNT);
    check_page(*state, PARQUET_PLAIN, &p, &no_dictionary, s.values);
    page_reset(&p);
    strings_reset(&s);
}

static void bytes__delta_length(void **state)
{
    strings s;
    page p;
    make_strings(&s, 0);
    page_init(&p);
    put_delta_length(&p, s.values);
    check_page(*state, PARQUET_DELTA_LENGTH_BYTE_ARRAY, &p, &no_dictionary, s.values);
    page_reset(&p);
    strings_reset(&s);
}

static void bytes__delta_strings(void **state)
{
    strings s;
    page p;
    make_strings(&s, 0);
    page_init(&p);
    put_delta_strings(&p, s.values);
    check_page(*state, PARQUET_DELTA_BYTE_ARRAY, &p, &no_dictionary, s.values);
    page_reset(&p);
    strings_reset(&s);
}

/* Dictionaries of one entry up to more than 16 bits of index; runs of every length. */
static void bytes__dictionary(void **state)
{
    static const struct {
        uint32_t entries;
        unsigned width;
    } cases[] = {{1, 0}, {1, 1}, {2, 1}, {3, 2}, {100, 7}, {COUNT, 12}, {COUNT, 17}, {5, 32}};
    strings s;
    make_strings(&s, 0);
    for (size_t c = 0; c < FRZ_ARRAY_COUNT(cases); c++) {
        parquet_dictionary d = {
            .present = true, .count = cases[c].entries, .views = s.values, .longest = LONGEST};
        frz_str expected[COUNT];
        page p;
        page_init(&p);
        put_byte(&p, cases[c].width);
        for (size_t i = 0; i < COUNT;) {
            uint64_t index[40];
            size_t n = 8 * (1 + next_random() % 5);
            bool run = next_random() % 2 == 0 || n > COUNT - i; /* packed ones come by eights */
            n = run ? 1 + next_random() % 150 : n;
            n = FRZ_MIN(n, COUNT - i);
            for (size_t k = 0; k < FRZ_ARRAY_COUNT(index); k++) {
                index[k] = next_random() % cases[c].entries;
            }
            for (size_t k = 0; k < n; k++) {
                expected[i + k] = s.values[index[run ? 0 : k]];
            }
            if (run) {
                put_varint(&p, n << 1);
                put(&p, index, (cases[c].width + 7) / 8);
            } else {
                put_varint(&p, n / 8 << 1 | 1);
                put_bits(&p, index, n, cases[c].width);
            }
            i += n;
        }
        size_t whole = p.len;
        p.len = cases[c].width == 0 ? 1 : whole; /* without bits runs may be left out */
        check_page(*state, PARQUET_RLE_DICTIONARY, &p, &d, expected);
        page_reset(&p);
    }
    strings_reset(&s);
}

static void bytes__fixed_length_as_delta_strings(void **state)
{
    static const size_t widths[] = {1, 2, 5, 16, 40, 200};
    frz_env *env = *state;
    const unsigned cpu = env->cpu;
    for (size_t w = 0; w < FRZ_ARRAY_COUNT(widths); w++) {
        strings s;
        page p;
        frz_error err = {0};
        make_strings(&s, widths[w]);
        page_init(&p);
        put_delta_strings(&p, s.values);
        uint8_t *bytes = page_exact(&p);
        uint8_t *out = malloc(COUNT * widths[w]);
        source src = {env,
                      {.physical = PARQUET_FIXED_LEN_BYTE_ARRAY, .type_length = (int32_t)widths[w]},
                      PARQUET_DELTA_BYTE_ARRAY,
                      bytes,
                      p.len,
                      &no_dictionary};
        for (int i = 0; i < 2; i++) {
            parquet_values v;
            env->cpu = i == 0 ? 0 : cpu;
            begin(&src, &v);
            assert_ok(parquet_values_fixed(&v, 700, out, &err), &err);
            assert_ok(parquet_values_skip(&v, 300, &err), &err);
            assert_ok(parquet_values_fixed(&v, COUNT - 1000, out + 1000 * widths[w], &err), &err);
            assert_memory_equal(out, s.bytes, 700 * widths[w]);
            assert_memory_equal(out + 1000 * widths[w], s.bytes + 1000 * widths[w],
                                (COUNT - 1000) * widths[w]);
            parquet_values_reset(&v);
        }
        /* a value of another length is refused */
        src.element.type_length++;
        parquet_values v;
        begin(&src, &v);
        assert_fails(parquet_values_fixed(&v, 1, out, &err), &err, FRZ_E_CORRUPT, "in a column of");
        parquet_values_reset(&v);
        free(out);
        free(bytes);
        page_reset(&p);
        strings_reset(&s);
    }
}

/* The same bytes as decimals of any width, by the words and one by one. */
static void bytes__decimals_of_every_width(void **state)
{
    (void)state;
    for (size_t width = 1; width <= 20; width++) {
        enum { n = 50 };
        uint8_t in[n * 20 + PARQUET_SLACK];
        frz_i128 fast[n], slow[n];
        frz_str views[n];
        for (size_t i = 0; i < n * width; i++) {
            in[i] = (uint8_t)next_random();
        }
        for (size_t i = 0; i < n; i++) {
            bool negative = (in[i * width + (width > 16 ? width - 16 : 0)] & 0x80) != 0;
            for (size_t k = 0; width > 16 && k < width - 16; k++) {
                in[i * width + k] = negative ? 0xFF : 0;
            }
            views[i] = (frz_str){(const char *)in + i * width, width};
        }
        assert_int_equal(parquet_convert(PARQUET_FIXED_DECIMAL, width, in, n, (uint8_t *)fast), n);
        assert_int_equal(parquet_convert_views(PARQUET_BYTES_DECIMAL, views, n, (uint8_t *)slow),
                         n);
        assert_memory_equal(fast, slow, sizeof fast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(bytes__plain),
        TEST_WITH_ENV(bytes__delta_length),
        TEST_WITH_ENV(bytes__delta_strings),
        TEST_WITH_ENV(bytes__dictionary),
        TEST_WITH_ENV(bytes__fixed_length_as_delta_strings),
        TEST_WITH_ENV(bytes__decimals_of_every_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
