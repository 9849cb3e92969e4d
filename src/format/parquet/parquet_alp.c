/*
 * ALP: floating-point numbers that are decimals of few digits, as integers. spec: AlpEncoding
 *
 * A page is a header, the places of its vectors, and the vectors of 2^log_size values each. A
 * vector has an exponent and a factor, the smallest integer, the differences to it in a few bits,
 * and the numbers that no integer stands for with their positions. It is decoded as a whole.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"

#define HEADER 7
#define OFFSET 4
#define LEAST_LOG_SIZE 3
#define MOST_LOG_SIZE 15
#define EXPONENTS 19 /* of DOUBLE */
#define FLOAT_EXPONENTS 11
#define POSITION 2
#define PIECE 256

/* Where the parts of a vector are. */
typedef struct alp_vector {
    unsigned exponent, factor;
    uint64_t least; /* of the integers, modulo 2^64 */
    unsigned width; /* bits of a difference */
    const uint8_t *packed, *positions, *exceptions;
    size_t exception_count;
} alp_vector;

static frz_code damaged(const parquet_values *v, const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "%s of ALP-encoded %s values is damaged", what,
                    parquet_physical_name(v->physical));
}

static size_t vector_size(const parquet_values *v)
{
    return (size_t)1 << v->alp.log_size;
}

static size_t vector_count(const parquet_values *v)
{
    return (v->alp.total + vector_size(v) - 1) >> v->alp.log_size;
}

/* Values of a vector; the last one may have fewer. */
static size_t values_of(const parquet_values *v, size_t vector)
{
    return FRZ_MIN(vector_size(v), v->alp.total - (vector << v->alp.log_size));
}

frz_code parquet_alp_init(parquet_values *v, uint64_t most, frz_error *err)
{
    size_t len = (size_t)(v->end - v->at);
    v->alp = (parquet_alp){.loaded = SIZE_MAX};
    if (len == 0) {
        return FRZ_OK; /* a page of nulls */
    }
    if (len < HEADER) {
        return damaged(v, "the header", err);
    }
    if (v->at[0] != 0 || v->at[1] != 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: ALP of mode %d with integers %d",
                        v->at[0], v->at[1]);
    }
    v->alp.log_size = v->at[2];
    v->alp.total = frz_load_le32(v->at + 3);
    if (v->alp.log_size < LEAST_LOG_SIZE || v->alp.log_size > MOST_LOG_SIZE ||
        v->alp.total > INT32_MAX || v->alp.total > most) {
        return damaged(v, "the header", err);
    }
    v->at += HEADER;
    return vector_count(v) <= (len - HEADER) / OFFSET ? FRZ_OK : damaged(v, "the header", err);
}

/* ---- vectors ---- */

static bool find_parts(const parquet_values *v, size_t vector, alp_vector *out)
{
    size_t all = (size_t)(v->end - v->at);
    size_t start = frz_load_le32(v->at + vector * OFFSET);
    size_t head = 4 + v->width + 1;
    if (start < vector_count(v) * OFFSET || start > all || all - start < head) {
        return false;
    }
    const uint8_t *p = v->at + start;
    size_t left = all - start - head;
    out->exponent = p[0];
    out->factor = p[1];
    out->exception_count = frz_load_le16(p + 2);
    out->least =
        v->width == 4 ? (uint64_t)(int64_t)(int32_t)frz_load_le32(p + 4) : frz_load_le64(p + 4);
    out->width = p[4 + v->width];
    if (out->exponent >= (v->width == 4 ? FLOAT_EXPONENTS : EXPONENTS) ||
        out->factor > out->exponent || out->width > 8 * v->width) {
        return false;
    }
    size_t packed = (values_of(v, vector) * out->width + 7) / 8;
    size_t exceptions = out->exception_count * (POSITION + v->width);
    if (packed > left || exceptions > left - packed) {
        return false;
    }
    out->packed = p + head;
    out->positions = out->packed + packed;
    out->exceptions = out->positions + out->exception_count * POSITION;
    return true;
}

/* Constants of the specification: two multiplications by these, in this order, are what makes a
 * number the same everywhere. */
static const double double_powers[EXPONENTS] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                                1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                                1e14, 1e15, 1e16, 1e17, 1e18};
static const double double_parts[EXPONENTS] = {1e0,   1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,
                                               1e-7,  1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13,
                                               1e-14, 1e-15, 1e-16, 1e-17, 1e-18};
static const float float_powers[FLOAT_EXPONENTS] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F,
                                                    1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
static const float float_parts[FLOAT_EXPONENTS] = {1e0F,  1e-1F, 1e-2F, 1e-3F, 1e-4F, 1e-5F,
                                                   1e-6F, 1e-7F, 1e-8F, 1e-9F, 1e-10F};

static void to_doubles(const alp_vector *a, const uint64_t *deltas, size_t n, uint8_t *out)
{
    const double power = double_powers[a->factor];
    const double part = double_parts[a->exponent];
    for (size_t i = 0; i < n; i++) {
        double value = (double)(int64_t)(a->least + deltas[i]) * power;
        value *= part;
        memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

static void to_floats(const alp_vector *a, const uint64_t *deltas, size_t n, uint8_t *out)
{
    const float power = float_powers[a->factor];
    const float part = float_parts[a->exponent];
    for (size_t i = 0; i < n; i++) {
        float value = (float)(int32_t)(uint32_t)(a->least + deltas[i]) * power;
        value *= part;
        memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

static bool put_exceptions(const parquet_values *v, const alp_vector *a, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < a->exception_count; i++) {
        size_t at = frz_load_le16(a->positions + i * POSITION);
        if (at >= n) {
            return false;
        }
        memcpy(out + at * v->width, a->exceptions + i * v->width, v->width);
    }
    return true;
}

static bool decode_vector(const parquet_values *v, size_t vector, uint8_t *out)
{
    alp_vector a;
    size_t n = values_of(v, vector);
    if (!find_parts(v, vector, &a)) {
        return false;
    }
    for (size_t i = 0; i < n; i += PIECE) {
        uint64_t deltas[PIECE];
        size_t take = FRZ_MIN(n - i, (size_t)PIECE);
        parquet_unpack_u64(v->kernels, a.packed + i / 8 * a.width, a.width, take, deltas);
        if (v->width == 4) {
            to_floats(&a, deltas, take, out + i * 4);
        } else {
            to_doubles(&a, deltas, take, out + i * 8);
        }
    }
    return put_exceptions(v, &a, n, out);
}

/* A vector of which only some values are wanted stays for the next call. */
static frz_code load_vector(parquet_values *v, size_t vector, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (v->alp.loaded != vector) {
        v->alp.loaded = SIZE_MAX;
        FRZ_TRY(parquet_values_grow(v->env, &v->joined, &v->joined_capacity,
                                    values_of(v, vector) * v->width, err));
        if (!decode_vector(v, vector, v->joined)) {
            return damaged(v, "a vector", err);
        }
        v->alp.loaded = vector;
    }
out:
    return rc;
}

frz_code parquet_alp_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (n > v->alp.total - v->position) {
        return parquet_values_end(v, err);
    }
    while (n > 0) {
        size_t vector = v->position >> v->alp.log_size;
        size_t begin = v->position - (vector << v->alp.log_size);
        size_t take = FRZ_MIN(n, values_of(v, vector) - begin);
        if (take == values_of(v, vector)) {
            if (!decode_vector(v, vector, out)) {
                return damaged(v, "a vector", err);
            }
        } else {
            FRZ_TRY(load_vector(v, vector, err));
            memcpy(out, v->joined + begin * v->width, take * v->width);
        }
        v->position += take;
        out += take * v->width;
        n -= take;
    }
out:
    return rc;
}

frz_code parquet_alp_skip(parquet_values *v, size_t n, frz_error *err)
{
    if (n > v->alp.total - v->position) {
        return parquet_values_end(v, err);
    }
    v->position += n;
    return FRZ_OK;
}
