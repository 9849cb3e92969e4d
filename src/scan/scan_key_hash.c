/*
 * Keys of rows as words, hashes and bytes, column by column.
 */
#include "codec/codec.h"
#include "scan/scan_key_internal.h"

#define SHORT_BYTES 32 /* are hashed here */
#define NAN_BITS 0x7ff8000000000000u

bool key_is_word(frz_key_class class)
{
    return class == FRZ_KEY_NULL || class == FRZ_KEY_BOOL || class == FRZ_KEY_INTEGER ||
           class == FRZ_KEY_FLOAT;
}

/* ---- values of a row ---- */

bool key_is_null(const frz_key_column *c, int64_t row)
{
    return c->class == FRZ_KEY_NULL ||
           (c->validity != NULL && !frz_bit_get(c->validity, c->validity_first + row));
}

static const uint8_t *value_of(const frz_key_column *c, int64_t row)
{
    size_t width = frz_type_width(c->type);
    return (const uint8_t *)c->array->buffers[1] + (size_t)(c->first + row) * width;
}

static frz_str bytes_of(const frz_key_column *c, int64_t row)
{
    if (c->class == FRZ_KEY_FIXED || c->class == FRZ_KEY_DECIMAL) {
        return (frz_str){(const char *)value_of(c, row), frz_type_width(c->type)};
    }
    const int32_t *offsets = (const int32_t *)c->array->buffers[1] + c->first + row;
    return (frz_str){(const char *)c->array->buffers[2] + offsets[0],
                     (size_t)(offsets[1] - offsets[0])};
}

static uint64_t float_word(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? NAN_BITS : bits;
}

/* ---- hashing, column by column ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ KEY_SPREAD) * (b ^ KEY_NULL_WORD);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Loads may overlap; nothing behind the bytes is read. */
static inline uint64_t hash_bytes(const uint8_t *p, size_t n)
{
    if (n > SHORT_BYTES) {
        return frz_xxh64(p, n);
    }
    if (n >= 16) {
        uint64_t front = mix(frz_load_le64(p), frz_load_le64(p + 8));
        return mix(frz_load_le64(p + n - 16) ^ front, frz_load_le64(p + n - 8) ^ n);
    }
    if (n >= 8) {
        return mix(frz_load_le64(p), frz_load_le64(p + n - 8) ^ n);
    }
    if (n >= 4) {
        return mix(frz_load_le32(p), frz_load_le32(p + n - 4) ^ (uint64_t)n << 32);
    }
    return n == 0 ? 0 : mix(p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16, n);
}

static void bytes_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    const int32_t *offsets = (const int32_t *)c->array->buffers[1] + c->first + from;
    const uint8_t *bytes = c->array->buffers[2];
    for (int64_t i = 0; i < n; i++) {
        words[i] = hash_bytes(bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
    }
}

static void integer_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (frz_type_width(c->type) == sizeof(int32_t)) {
        const int32_t *values = (const int32_t *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = (uint64_t)(int64_t)values[i];
        }
    } else {
        memcpy(words, (const int64_t *)c->array->buffers[1] + c->first + from,
               (size_t)n * sizeof *words);
    }
}

static void float_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (c->type->id == FRZ_TYPE_FLOAT) {
        const float *values = (const float *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = float_word((double)values[i]);
        }
    } else {
        const double *values = (const double *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = float_word(values[i]);
        }
    }
}

/* A word for each row; of longer values a hash. */
void key_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (c->class == FRZ_KEY_INTEGER) {
        integer_words(c, from, n, words);
    } else if (c->class == FRZ_KEY_FLOAT) {
        float_words(c, from, n, words);
    } else if (c->class == FRZ_KEY_BOOL) {
        for (int64_t i = 0; i < n; i++) {
            words[i] = frz_bit_get(c->array->buffers[1], c->first + from + i);
        }
    } else if (c->class == FRZ_KEY_NULL) {
        for (int64_t i = 0; i < n; i++) {
            words[i] = KEY_NULL_WORD;
        }
        return;
    } else if (c->class == FRZ_KEY_BYTES) {
        bytes_words(c, from, n, words);
    } else {
        for (int64_t i = 0; i < n; i++) {
            words[i] = hash_bytes(value_of(c, from + i), frz_type_width(c->type));
        }
    }
    for (int64_t i = 0; c->validity != NULL && i < n; i++) {
        words[i] = key_is_null(c, from + i) ? KEY_NULL_WORD : words[i];
    }
}

/* One to one for a single column of words. */
void key_hash_rows(const frz_key_column *columns, size_t count, int64_t from, int64_t n,
                   uint64_t *hashes)
{
    uint64_t words[KEY_PIECE];
    key_words(&columns[0], from, n, hashes);
    for (size_t k = 1; k < count; k++) {
        key_words(&columns[k], from, n, words);
        for (int64_t i = 0; i < n; i++) {
            uint64_t before = hashes[i] * KEY_SPREAD;
            hashes[i] = (before << 23 | before >> 41) ^ words[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        hashes[i] = key_hash_word(hashes[i]);
    }
}

/* ---- keys as bytes: for each column 0 (null) or 1, then its word, or its length and bytes ---- */

frz_code key_put(frz_buf *out, const frz_key_column *columns, size_t count, int64_t row,
                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t k = 0; k < count; k++) {
        const frz_key_column *c = &columns[k];
        uint64_t word;
        bool null = key_is_null(c, row);
        FRZ_TRY(frz_buf_append_byte(out, !null, err));
        if (null) {
            continue;
        }
        if (key_is_word(c->class)) {
            key_words(c, row, 1, &word);
            FRZ_TRY(frz_buf_append(out, &word, sizeof word, err));
        } else {
            frz_str bytes = bytes_of(c, row);
            word = bytes.len;
            FRZ_TRY(frz_buf_append(out, &word, sizeof word, err));
            FRZ_TRY(frz_buf_append(out, bytes.ptr, bytes.len, err));
        }
    }
out:
    return rc;
}

bool key_is_same(const uint8_t *key, const frz_key_column *columns, size_t count, int64_t row)
{
    for (size_t k = 0; k < count; k++) {
        const frz_key_column *c = &columns[k];
        uint64_t word;
        bool null = key_is_null(c, row);
        if (*key++ == null) {
            return false;
        }
        if (null) {
            continue;
        }
        uint64_t kept = frz_load_le64(key);
        key += sizeof kept;
        if (key_is_word(c->class)) {
            key_words(c, row, 1, &word);
            if (kept != word) {
                return false;
            }
            continue;
        }
        frz_str bytes = bytes_of(c, row);
        if (bytes.len != kept || (kept > 0 && memcmp(key, bytes.ptr, kept) != 0)) {
            return false;
        }
        key += kept;
    }
    return true;
}

void frz_key_hashes(const frz_key_column *columns, size_t count, int64_t rows, uint64_t *hashes)
{
    for (int64_t from = 0; from < rows; from += KEY_PIECE) {
        key_hash_rows(columns, count, from, FRZ_MIN(rows - from, (int64_t)KEY_PIECE),
                      hashes + from);
    }
}
