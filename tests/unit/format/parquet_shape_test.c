/*
 * Passing over chunks by their looks against the generic walk as the model: the same end and the
 * same failures on chunks that are alike, nearly alike, and damaged.
 */
#include <stdlib.h>

#include "format/parquet/parquet_internal.h"
#include "unit/test_support.h"

typedef struct source {
    uint64_t seed;
    uint8_t bytes[1u << 17];
    size_t len;
} source;

static uint64_t next_random(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *seed, uint64_t n)
{
    return next_random(seed) % n;
}

static void put(source *s, uint8_t byte)
{
    assert_true(s->len < sizeof s->bytes);
    s->bytes[s->len++] = byte;
}

static void put_varint(source *s, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        put(s, (uint8_t)(value | 0x80));
    }
    put(s, (uint8_t)value);
}

/* Numbers of mostly one length, as in footers. */
static uint64_t some_number(source *s)
{
    static const unsigned bits[] = {14, 14, 14, 14, 20, 7, 35, 64};
    unsigned n = bits[below(&s->seed, FRZ_ARRAY_COUNT(bits))];
    return next_random(&s->seed) >> (64 - n);
}

static void put_struct(source *s, uint64_t *form, int depth);

/* form decides the shape and is the same for chunks that are alike; s decides the values. */
static void put_value(source *s, uint64_t *form, parquet_thrift_type type, bool in_list, int depth)
{
    size_t count;
    parquet_thrift_type element;
    switch (type) {
    case PARQUET_THRIFT_TRUE:
    case PARQUET_THRIFT_FALSE:
        if (in_list) {
            put(s, (uint8_t)below(&s->seed, 3));
        }
        break;
    case PARQUET_THRIFT_BYTE:
        put(s, (uint8_t)next_random(&s->seed));
        break;
    case PARQUET_THRIFT_I16:
    case PARQUET_THRIFT_I32:
    case PARQUET_THRIFT_I64:
        put_varint(s, some_number(s));
        break;
    case PARQUET_THRIFT_DOUBLE:
    case PARQUET_THRIFT_UUID:
        for (size_t i = 0; i < (type == PARQUET_THRIFT_UUID ? 16 : 8); i++) {
            put(s, (uint8_t)next_random(&s->seed));
        }
        break;
    case PARQUET_THRIFT_BINARY:
        count = below(&s->seed, 40) == 0  ? below(&s->seed, 300)
                : below(&s->seed, 4) == 0 ? below(&s->seed, 20)
                                          : 4;
        put_varint(s, count);
        for (size_t i = 0; i < count; i++) {
            put(s, (uint8_t)next_random(&s->seed));
        }
        break;
    case PARQUET_THRIFT_LIST:
    case PARQUET_THRIFT_SET:
        count = below(form, 20) == 0 ? 15 + below(form, 10) : below(form, 4);
        element = (parquet_thrift_type)(1 + below(form, PARQUET_THRIFT_UUID));
        put(s, (uint8_t)(FRZ_MIN(count, (size_t)15) << 4 | (size_t)element));
        if (count >= 15) {
            put_varint(s, count);
        }
        for (size_t i = 0; i < count; i++) {
            put_value(s, form, element, true, depth + 1);
        }
        break;
    case PARQUET_THRIFT_MAP:
        put(s, 1);
        put(s, PARQUET_THRIFT_BYTE << 4 | PARQUET_THRIFT_I32);
        put(s, 7);
        put_varint(s, some_number(s));
        break;
    default:
        put_struct(s, form, depth + 1);
    }
}

static void put_struct(source *s, uint64_t *form, int depth)
{
    size_t fields = depth > 3 ? 0 : below(form, depth == 0 ? 12 : 5);
    for (size_t i = 0; i < fields; i++) {
        static const parquet_thrift_type usual[] = {PARQUET_THRIFT_I64, PARQUET_THRIFT_I32,
                                                    PARQUET_THRIFT_BINARY, PARQUET_THRIFT_STRUCT,
                                                    PARQUET_THRIFT_LIST};
        parquet_thrift_type type = below(form, 3) != 0 ? usual[below(form, FRZ_ARRAY_COUNT(usual))]
                                                       : (parquet_thrift_type)(1 + below(form, 13));
        if (type == PARQUET_THRIFT_MAP && below(form, 8) != 0) {
            type = PARQUET_THRIFT_I64;
        }
        if (below(form, 10) == 0) { /* the field's number in full */
            put(s, (uint8_t)type);
            put_varint(s, below(form, 2000));
        } else {
            put(s, (uint8_t)((1 + below(form, 3)) << 4 | type));
        }
        put_value(s, form, type, false, depth);
    }
    put(s, 0);
}

/* Walk over chunks both ways; how many came out. The bytes are copied so that a sanitizer sees
 * where they end. */
static size_t check_same(const uint8_t *from, size_t len)
{
    uint8_t *bytes = malloc(len + 1);
    assert_non_null(bytes);
    memmove(bytes + 1, from, len);
    const uint8_t *first = bytes + 1;
    parquet_shapes shapes;
    parquet_thrift fast;
    parquet_thrift model;
    frz_error fast_err = {0};
    frz_error model_err = {0};
    size_t chunks = 0;
    parquet_shapes_init(&shapes);
    parquet_thrift_init(&fast, first, len, 0, &fast_err);
    parquet_thrift_init(&model, first, len, 0, &model_err);
    do {
        parquet_shapes_skip(&shapes, &fast);
        parquet_thrift_skip(&model, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_STRUCT));
        assert_ptr_equal(fast.at, model.at);
        assert_int_equal(fast.rc, model.rc);
        assert_int_equal(fast.ended_early, model.ended_early);
        chunks++;
    } while (model.rc == FRZ_OK && parquet_thrift_left(&model) > 0);
    assert_string_equal(fast_err.message, model_err.message);
    free(bytes);
    return chunks;
}

/* Chunks of some forms in turn, or in any order. */
static void make_chunks(source *s, uint64_t seed, size_t forms, size_t count)
{
    s->seed = seed;
    s->len = 0;
    bool in_turn = below(&s->seed, 2) == 0;
    for (size_t i = 0; i < count && s->len < sizeof s->bytes / 2; i++) {
        uint64_t form = seed * 1000 + (in_turn ? i % forms : below(&s->seed, forms));
        put_struct(s, &form, 0);
    }
}

static void shape__chunks_that_are_alike(void **state)
{
    source *s = test_malloc(sizeof *s);
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        make_chunks(s, seed, 1 + seed % 12, 60);
        check_same(s->bytes, s->len);
    }
    test_free(s);
}

static void shape__damaged_and_cut_chunks(void **state)
{
    source *s = test_malloc(sizeof *s);
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        make_chunks(s, seed, 1 + seed % 3, 30);
        for (int i = 0; i < 8; i++) {
            size_t at = below(&s->seed, s->len);
            uint8_t before = s->bytes[at];
            s->bytes[at] =
                (uint8_t)(i % 2 == 0 ? next_random(&s->seed) : before ^ 1u << below(&s->seed, 8));
            check_same(s->bytes, s->len);
            check_same(s->bytes, at);
            s->bytes[at] = before;
        }
    }
    test_free(s);
}

/* A chunk as writers make them, around values that a test chooses. */
static void put_usual(source *s, uint64_t size, uint64_t offset, size_t bound)
{
    static const uint8_t head[] = {0x26, 0x00, 0x1C, 0x15, 0x08, 0x19, 0x25, 0x00,
                                   0x06, 0x19, 0x18, 0x02, 'c',  '1',  0x15, 0x0C};
    for (size_t i = 0; i < sizeof head; i++) {
        put(s, head[i]);
    }
    put(s, 0x16);
    put_varint(s, size);
    put(s, 0x16);
    put_varint(s, size / 2);
    put(s, 0x26);
    put_varint(s, offset);
    put(s, 0x3C);
    put(s, 0x58);
    put_varint(s, bound);
    for (size_t i = 0; i < bound; i++) {
        put(s, 0xFF);
    }
    put(s, 0x11);
    put(s, 0);
    put(s, 0);
    put(s, 0);
}

static void shape__lengths_of_values_change(void **state)
{
    source *s = test_malloc(sizeof *s);
    (void)state;
    s->seed = 1;
    s->len = 0;
    size_t count = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        for (size_t k = 0; k < 12; k++, count++) {
            put_usual(s, next_random(&s->seed) >> (63 - bits), UINT64_C(1) << bits,
                      k < 10 ? k : k * 30);
        }
    }
    assert_int_equal(check_same(s->bytes, s->len), count);
    test_free(s);
}

/* A number of ten bytes is a number, one of eleven is none; neither is passed over in one piece. */
static void shape__numbers_that_are_too_long(void **state)
{
    (void)state;
    source *s = test_malloc(sizeof *s);
    for (size_t longest = 9; longest <= 12; longest++) {
        s->len = 0;
        for (size_t i = 0; i < 6; i++) {
            put(s, 0x16);
            for (size_t k = 1; k < (i < 3 ? i + 1 : longest); k++) {
                put(s, 0x80);
            }
            put(s, 1);
            put(s, 0);
        }
        assert_int_equal(check_same(s->bytes, s->len), longest <= 10 ? 6 : 4);
    }
    test_free(s);
}

/* More bytes or values than an image holds. */
static void shape__chunks_without_an_image(void **state)
{
    (void)state;
    source *s = test_malloc(sizeof *s);
    for (size_t fields = 90; fields <= 700; fields += 61) {
        s->len = 0;
        for (size_t i = 0; i < 5; i++) {
            for (size_t k = 0; k < fields; k++) {
                put(s, 0x16);
                put(s, (uint8_t)k & 0x7F);
            }
            put(s, 0);
        }
        assert_int_equal(check_same(s->bytes, s->len), 5);
    }
    test_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape__chunks_that_are_alike),
        cmocka_unit_test(shape__damaged_and_cut_chunks),
        cmocka_unit_test(shape__lengths_of_values_change),
        cmocka_unit_test(shape__numbers_that_are_too_long),
        cmocka_unit_test(shape__chunks_without_an_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
