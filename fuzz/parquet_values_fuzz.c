/*
 * The values of one page, or levels: decoded at once, in pieces, with parts skipped, as views and
 * into a sink, by the plain loops and by those for this processor. All must agree.
 *
 * Input: encoding (from LEVELS on: a run of numbers), physical type, length of fixed values or bits
 * of numbers, number of values (2 bytes), length of a piece, entries and bytes of the dictionary;
 * then the dictionary and the page.
 */
#include <stdlib.h>

#include "arrow/arrow_array.h"
#include "format/parquet/parquet_read.h"

#define HEAD 8
#define LEVELS 16
#define MOST_VALUES 3000
#define MAX_INPUT 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok) {
        __builtin_trap();
    }
}

/* Bytes of exactly their size and the slack that decoders may look at; free. */
static uint8_t *with_slack(const uint8_t *bytes, size_t len)
{
    uint8_t *copy = malloc(len + PARQUET_SLACK);
    check(copy != NULL);
    memset(copy + len, 0x5A, PARQUET_SLACK);
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    return copy;
}

typedef struct page {
    parquet_element element;
    int32_t encoding;
    const uint8_t *bytes;
    size_t len;
    size_t values, piece;
    const parquet_dictionary *dictionary;
} page;

/* ---- one way to read a page ---- */

typedef enum way { AT_ONCE, IN_PIECES, EVERY_SECOND_PIECE, AS_VIEWS } way;

/* What came out, and how it ended. */
typedef struct result {
    frz_code rc;
    frz_buf bytes;
} result;

static void append(frz_buf *out, const void *bytes, size_t len)
{
    check(frz_buf_append(out, bytes, len, NULL) == FRZ_OK);
}

static void append_string(frz_buf *out, frz_str s)
{
    uint32_t len = (uint32_t)s.len;
    append(out, &len, sizeof len);
    append(out, s.ptr, s.len);
}

static frz_code read_strings(parquet_values *v, size_t n, frz_buf *out)
{
    parquet_sink sink;
    static const frz_type type = {.id = FRZ_TYPE_BINARY};
    parquet_sink_init(&sink, v->env, &type);
    frz_code rc = parquet_values_strings(v, n, &sink, NULL);
    const int32_t *offsets = rc != FRZ_OK ? NULL : (const int32_t *)(void *)sink.offsets->data;
    for (size_t i = 0; rc == FRZ_OK && i < n; i++) {
        append_string(out, (frz_str){(const char *)sink.values->data + offsets[i],
                                     (size_t)(offsets[i + 1] - offsets[i])});
    }
    parquet_sink_reset(&sink);
    return rc;
}

static frz_code read_views(parquet_values *v, size_t n, frz_buf *out)
{
    frz_str views[PARQUET_BLOCK];
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK && n > 0) {
        size_t take = FRZ_MIN(n, (size_t)PARQUET_BLOCK);
        rc = parquet_values_views(v, take, views, NULL);
        for (size_t i = 0; rc == FRZ_OK && i < take; i++) {
            append_string(out, views[i]);
        }
        n -= take;
    }
    return rc;
}

static frz_code read_bits(parquet_values *v, size_t n, frz_buf *out)
{
    uint8_t *bits = malloc(frz_bitmap_bytes((int64_t)n) + 8);
    check(bits != NULL);
    frz_code rc = parquet_values_bits(v, n, bits, 0, NULL);
    for (size_t i = 0; rc == FRZ_OK && i < n; i++) {
        uint8_t bit = frz_bit_get(bits, (int64_t)i);
        append(out, &bit, 1);
    }
    free(bits);
    return rc;
}

static frz_code read_fixed(parquet_values *v, size_t n, frz_buf *out)
{
    uint8_t *values = malloc(n * v->width + 1); /* of exactly its size */
    check(values != NULL);
    frz_code rc = parquet_values_fixed(v, n, values, NULL);
    if (rc == FRZ_OK) {
        append(out, values, n * v->width);
    }
    free(values);
    return rc;
}

static frz_code read_some(parquet_values *v, size_t n, way how, frz_buf *out)
{
    if (v->physical == PARQUET_BOOLEAN) {
        return read_bits(v, n, out);
    }
    if (v->width > 0) {
        return read_fixed(v, n, out);
    }
    return how == AS_VIEWS ? read_views(v, n, out) : read_strings(v, n, out);
}

static result read_page(const frz_env *env, const page *p, way how)
{
    result r = {.bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT)};
    parquet_values v = {.env = env};
    size_t piece = how == AT_ONCE ? FRZ_MAX(p->values, (size_t)1) : p->piece;
    r.rc = parquet_values_init(&v, &p->element, p->encoding, p->bytes, p->len, p->dictionary,
                               p->values, NULL);
    bool skip = false;
    for (size_t done = 0; r.rc == FRZ_OK && done < p->values; done += piece) {
        size_t n = FRZ_MIN(piece, p->values - done);
        r.rc = skip ? parquet_values_skip(&v, n, NULL) : read_some(&v, n, how, &r.bytes);
        skip = how == EVERY_SECOND_PIECE && !skip;
    }
    parquet_values_reset(&v);
    return r;
}

/* ---- comparing ---- */

static void check_same(const result *a, const result *b)
{
    check(a->rc == b->rc && a->bytes.len == b->bytes.len &&
          (a->bytes.len == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.len) == 0));
}

/* Bytes of a value in a result. */
static size_t value_size(const page *p, const uint8_t *at)
{
    size_t width = parquet_element_width(&p->element);
    return width > 0 ? width : 4 + (size_t)frz_load_le32(at);
}

/* A result of every second piece is what the whole has there. */
static void check_skipped(const page *p, const result *whole, const result *some)
{
    size_t at = 0;
    size_t have = 0;
    check(some->rc == FRZ_OK);
    for (size_t i = 0; i < p->values; i++) {
        size_t len = value_size(p, whole->bytes.data + at);
        if (i / p->piece % 2 == 0) {
            check(have + len <= some->bytes.len &&
                  memcmp(whole->bytes.data + at, some->bytes.data + have, len) == 0);
            have += len;
        }
        at += len;
    }
    check(have == some->bytes.len);
}

static void check_page(const frz_env *plain, const frz_env *best, const page *p)
{
    result whole = read_page(plain, p, AT_ONCE);
    for (way how = AT_ONCE; how <= AS_VIEWS; how++) {
        result a = read_page(plain, p, how);
        result b = read_page(best, p, how);
        check_same(&a, &b);
        if (whole.rc == FRZ_OK && how == EVERY_SECOND_PIECE) {
            check_skipped(p, &whole, &a);
        } else if (whole.rc == FRZ_OK) {
            check_same(&whole, &a);
        } else {
            check(how == EVERY_SECOND_PIECE || a.rc != FRZ_OK);
        }
        frz_buf_reset(&a.bytes);
        frz_buf_reset(&b.bytes);
    }
    frz_buf_reset(&whole.bytes);
}

/* ---- numbers of a few bits ---- */

static size_t read_numbers(const parquet_kernels *k, const uint8_t *bytes, size_t len,
                           unsigned width, size_t n, size_t piece, uint32_t *out)
{
    parquet_hybrid h;
    size_t done = 0;
    size_t got = 1;
    parquet_hybrid_init(&h, k, bytes, len, width);
    while (done < n && got > 0) {
        got = parquet_hybrid_u32(&h, out + done, FRZ_MIN(piece, n - done));
        done += got;
    }
    return done;
}

static void check_small_numbers(const parquet_kernels *k, const uint8_t *bytes, size_t len,
                                unsigned width, const uint32_t *numbers, size_t n)
{
    parquet_hybrid h;
    uint8_t *out = malloc(n + 16);
    check(out != NULL);
    parquet_hybrid_init(&h, k, bytes, len, width);
    check(parquet_hybrid_u8(&h, out, n) == n);
    for (size_t i = 0; i < n; i++) {
        check(out[i] == numbers[i]);
    }
    for (int64_t first = 0; width == 1 && first < 10; first += 3) {
        parquet_hybrid_init(&h, k, bytes, len, width);
        check(parquet_hybrid_bits(&h, out, first, n) == n);
        for (size_t i = 0; i < n; i++) {
            check(frz_bit_get(out, first + (int64_t)i) == (numbers[i] != 0));
        }
    }
    free(out);
}

static void check_numbers(const frz_env *best, const uint8_t *bytes, size_t len, unsigned width,
                          size_t n, size_t piece)
{
    uint32_t *a = malloc((n + 1) * sizeof *a);
    uint32_t *b = malloc((n + 1) * sizeof *b);
    check(a != NULL && b != NULL);
    size_t have = read_numbers(&parquet_kernels_plain, bytes, len, width, n, n + 1, a);
    const parquet_kernels *kernels[2] = {&parquet_kernels_plain, parquet_kernels_of(best)};
    for (size_t k = 0; k < 2; k++) {
        check(read_numbers(kernels[k], bytes, len, width, n, piece, b) == have);
        check(memcmp(a, b, have * sizeof *a) == 0);
        if (width <= 8) {
            check_small_numbers(kernels[k], bytes, len, width, a, have);
        }
    }
    parquet_hybrid h;
    parquet_hybrid_init(&h, kernels[0], bytes, len, width);
    check(parquet_hybrid_skip(&h, n) == have);
    free(a);
    free(b);
}

/* ---- input ---- */

/* A dictionary as a page of its own would make it; false: its bytes are too few. */
static bool make_dictionary(const frz_env *env, const page *p, uint8_t *bytes, size_t len,
                            parquet_dictionary *d, frz_buffer *buffer)
{
    size_t width = parquet_element_width(&p->element);
    parquet_values v = {.env = env};
    *buffer = (frz_buffer){.data = bytes, .size = len};
    d->bytes = buffer;
    d->present = true;
    if (width > 0) {
        return d->count <= len / width;
    }
    d->views = calloc(d->count + 1, sizeof *d->views);
    check(d->views != NULL);
    return parquet_values_init(&v, &p->element, PARQUET_PLAIN, bytes, len, d, d->count, NULL) ==
               FRZ_OK &&
           parquet_values_views(&v, d->count, d->views, NULL) == FRZ_OK;
}

static void run(const frz_env *plain, const frz_env *best, const uint8_t *head, const uint8_t *body,
                size_t len)
{
    size_t values = (size_t)(head[3] | head[4] << 8) % MOST_VALUES;
    size_t piece = 1 + (size_t)head[5] * 3;
    size_t dictionary_len = head[0] >= LEVELS ? 0 : FRZ_MIN((size_t)head[7], len);
    uint8_t *dictionary_bytes = with_slack(body, dictionary_len);
    uint8_t *bytes = with_slack(body + dictionary_len, len - dictionary_len);
    len -= dictionary_len;
    if (head[0] >= LEVELS) {
        check_numbers(best, bytes, len, head[2] % 33, values, piece);
    } else {
        parquet_dictionary dictionary = {.count = head[6]};
        frz_buffer buffer;
        page p = {.element = {.physical = (parquet_physical)(head[1] % 8),
                              .type_length = 1 + head[2] % 40,
                              .converted = -1},
                  .encoding = head[0],
                  .bytes = bytes,
                  .len = len,
                  .values = values,
                  .piece = piece,
                  .dictionary = &dictionary};
        if (make_dictionary(plain, &p, dictionary_bytes, dictionary_len, &dictionary, &buffer)) {
            check_page(plain, best, &p);
        }
        free(dictionary.views);
    }
    free(dictionary_bytes);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *plain = NULL;
    frz_env *best = NULL;
    if (size < HEAD || size > MAX_INPUT) {
        return 0;
    }
    check(frz_env_new(NULL, &plain, NULL) == FRZ_OK && frz_env_new(NULL, &best, NULL) == FRZ_OK);
    plain->cpu = 0;
    run(plain, best, data, data + HEAD, size - HEAD);
    frz_env_free(plain);
    frz_env_free(best);
    return 0;
}
