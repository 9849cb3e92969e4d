/*
 * The loops of encoding with AVX2. Ragged ends go to the plain loops.
 */
#include "format/parquet/parquet_kernels_write.h"
#include "format/parquet/parquet_pack.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define AVX2_INLINE                                                                                \
    static inline __attribute__((always_inline, target("avx2,bmi,bmi2,popcnt,lzcnt")))

static const parquet_write_kernels *const plain = &parquet_write_kernels_plain;

AVX2_INLINE __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

AVX2_INLINE void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

AVX2_INLINE __m256i min_epi64(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

AVX2_INLINE __m256i max_epi64(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
}

/* ---- packing ---- */

AVX2 static void avx2_pack_u8(const uint8_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_8(values, groups, width, out);
}

AVX2 static void avx2_pack_u32(const uint32_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_32(values, groups, width, out);
}

AVX2 static void avx2_pack_u64(const uint64_t *values, size_t groups, unsigned width, uint8_t *out)
{
    parquet_pack_64(values, groups, width, out);
}

/* ---- picking: eight lanes, or four of two, are moved to where they belong ---- */

/* Numbers of the set bits, a byte each. */
AVX2_INLINE uint64_t places_of(uint64_t bits)
{
    uint64_t bytes = _pdep_u64(bits, UINT64_C(0x0101010101010101)) * 0xFF;
    return _pext_u64(UINT64_C(0x0706050403020100), bytes);
}

AVX2_INLINE __m256i move_lanes(const uint8_t *values, uint64_t places)
{
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)places));
    return _mm256_permutevar8x32_epi32(load(values), lanes);
}

/* Values of a last word that is not full may not be there: it is done one by one. */
AVX2_INLINE size_t last_word(size_t words, const uint64_t *mask)
{
    return words > 0 && mask[words - 1] != UINT64_MAX ? words - 1 : words;
}

AVX2 static size_t avx2_pick_4(const uint8_t *values, const uint64_t *mask, size_t words,
                               uint8_t *out)
{
    const size_t whole = last_word(words, mask);
    uint8_t *to = out;
    for (size_t i = 0; i < whole; i++) {
        for (unsigned shift = 0; shift < 64; shift += 8) {
            uint64_t bits = mask[i] >> shift & 0xFF;
            store(to, move_lanes(values + (64 * i + shift) * 4, places_of(bits)));
            to += 4 * _mm_popcnt_u64(bits);
        }
    }
    to += 4 * plain->pick_4(values + whole * 256, mask + whole, words - whole, to);
    return (size_t)(to - out) / 4;
}

AVX2 static size_t avx2_pick_8(const uint8_t *values, const uint64_t *mask, size_t words,
                               uint8_t *out)
{
    const size_t whole = last_word(words, mask);
    uint8_t *to = out;
    for (size_t i = 0; i < whole; i++) {
        for (unsigned shift = 0; shift < 64; shift += 4) {
            uint64_t bits = mask[i] >> shift & 0xF;
            uint64_t pairs = _pdep_u64(bits, 0x55) * 3;
            store(to, move_lanes(values + (64 * i + shift) * 8, places_of(pairs)));
            to += 8 * _mm_popcnt_u64(bits);
        }
    }
    to += 8 * plain->pick_8(values + whole * 512, mask + whole, words - whole, to);
    return (size_t)(to - out) / 8;
}

/* ---- byte streams: 32 values at a time, a vector of each stream ---- */

AVX2 static void avx2_split_4(const uint8_t *values, size_t n, uint8_t *out)
{
    /* four values of a lane to four bytes of each stream */
    const __m256i bytes = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0,
                                           4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    /* both lanes to eight bytes of each */
    const __m256i lanes = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i v[4];
        for (size_t k = 0; k < 4; k++) {
            v[k] = _mm256_shuffle_epi8(load(values + 4 * i + 32 * k), bytes);
            v[k] = _mm256_permutevar8x32_epi32(v[k], lanes);
        }
        __m256i even_a = _mm256_unpacklo_epi64(v[0], v[1]); /* streams 0 and 2 of 16 values */
        __m256i even_b = _mm256_unpacklo_epi64(v[2], v[3]);
        __m256i odd_a = _mm256_unpackhi_epi64(v[0], v[1]);
        __m256i odd_b = _mm256_unpackhi_epi64(v[2], v[3]);
        store(out + i, _mm256_permute2x128_si256(even_a, even_b, 0x20));
        store(out + n + i, _mm256_permute2x128_si256(odd_a, odd_b, 0x20));
        store(out + 2 * n + i, _mm256_permute2x128_si256(even_a, even_b, 0x31));
        store(out + 3 * n + i, _mm256_permute2x128_si256(odd_a, odd_b, 0x31));
    }
    parquet_split_from(values, i, n, 4, out);
}

/* Two values from either half of the 32, two bytes of each stream in a lane. */
AVX2_INLINE __m256i pairs_of_8(const uint8_t *values, size_t k)
{
    const __m256i bytes = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0,
                                           8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    __m128i low = _mm_loadu_si128((const __m128i *)(values + 16 * k));
    __m128i high = _mm_loadu_si128((const __m128i *)(values + 128 + 16 * k));
    __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    return _mm256_shuffle_epi8(v, bytes);
}

AVX2 static void avx2_split_8(const uint8_t *values, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i a[8], b[8];
        for (size_t k = 0; k < 8; k++) {
            a[k] = pairs_of_8(values + 8 * i, k);
        }
        /* pairs of two vectors side by side, then of four, then of eight */
        for (size_t k = 0; k < 4; k++) {
            b[k] = _mm256_unpacklo_epi16(a[2 * k], a[2 * k + 1]); /* streams 0 to 3 */
            b[k + 4] = _mm256_unpackhi_epi16(a[2 * k], a[2 * k + 1]);
        }
        for (size_t k = 0; k < 8; k += 4) {
            a[k] = _mm256_unpacklo_epi32(b[k], b[k + 1]); /* two streams of the first half */
            a[k + 1] = _mm256_unpackhi_epi32(b[k], b[k + 1]);
            a[k + 2] = _mm256_unpacklo_epi32(b[k + 2], b[k + 3]);
            a[k + 3] = _mm256_unpackhi_epi32(b[k + 2], b[k + 3]);
        }
        for (size_t k = 0; k < 8; k += 4) {
            store(out + k * n + i, _mm256_unpacklo_epi64(a[k], a[k + 2]));
            store(out + (k + 1) * n + i, _mm256_unpackhi_epi64(a[k], a[k + 2]));
            store(out + (k + 2) * n + i, _mm256_unpacklo_epi64(a[k + 1], a[k + 3]));
            store(out + (k + 3) * n + i, _mm256_unpackhi_epi64(a[k + 1], a[k + 3]));
        }
    }
    parquet_split_from(values, i, n, 8, out);
}

/* ---- bounds: lanes first, then the lanes and the rest as the plain loops do ---- */

AVX2_INLINE void join_32(__m256i lower, __m256i upper, int32_t *out_lower, int32_t *out_upper)
{
    int32_t lanes[16];
    store(lanes, lower);
    store(lanes + 8, upper);
    for (size_t i = 0; i < 8; i++) {
        *out_lower = FRZ_MIN(*out_lower, lanes[i]);
        *out_upper = FRZ_MAX(*out_upper, lanes[i + 8]);
    }
}

AVX2_INLINE void join_64(__m256i lower, __m256i upper, int64_t *out_lower, int64_t *out_upper)
{
    int64_t lanes[8];
    store(lanes, lower);
    store(lanes + 4, upper);
    for (size_t i = 0; i < 4; i++) {
        *out_lower = FRZ_MIN(*out_lower, lanes[i]);
        *out_upper = FRZ_MAX(*out_upper, lanes[i + 4]);
    }
}

AVX2 static void avx2_bounds_int32(const uint8_t *values, size_t n, int32_t *lower, int32_t *upper)
{
    __m256i least[2] = {_mm256_set1_epi32(INT32_MAX), _mm256_set1_epi32(INT32_MAX)};
    __m256i most[2] = {_mm256_set1_epi32(INT32_MIN), _mm256_set1_epi32(INT32_MIN)};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (size_t k = 0; k < 2; k++) {
            __m256i v = load(values + 4 * i + 32 * k);
            least[k] = _mm256_min_epi32(least[k], v);
            most[k] = _mm256_max_epi32(most[k], v);
        }
    }
    plain->bounds_int32(values + 4 * i, n - i, lower, upper);
    join_32(_mm256_min_epi32(least[0], least[1]), _mm256_max_epi32(most[0], most[1]), lower, upper);
}

AVX2 static void avx2_bounds_int64(const uint8_t *values, size_t n, int64_t *lower, int64_t *upper)
{
    __m256i least[2] = {_mm256_set1_epi64x(INT64_MAX), _mm256_set1_epi64x(INT64_MAX)};
    __m256i most[2] = {_mm256_set1_epi64x(INT64_MIN), _mm256_set1_epi64x(INT64_MIN)};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 2; k++) {
            __m256i v = load(values + 8 * i + 32 * k);
            least[k] = min_epi64(least[k], v);
            most[k] = max_epi64(most[k], v);
        }
    }
    plain->bounds_int64(values + 8 * i, n - i, lower, upper);
    join_64(min_epi64(least[0], least[1]), max_epi64(most[0], most[1]), lower, upper);
}

AVX2 static size_t avx2_bounds_float(const uint8_t *values, size_t n, int32_t *lower,
                                     int32_t *upper)
{
    const __m256i magnitude = _mm256_set1_epi32(INT32_MAX);
    const __m256i inf = _mm256_set1_epi32(PARQUET_FLOAT_INF);
    const __m256i lowest = _mm256_set1_epi32(INT32_MIN);
    __m256i least = magnitude;
    __m256i most = lowest;
    size_t nans = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i v = load(values + 4 * i);
        __m256i nan = _mm256_cmpgt_epi32(_mm256_and_si256(v, magnitude), inf);
        __m256i key = _mm256_xor_si256(v, _mm256_and_si256(_mm256_srai_epi32(v, 31), magnitude));
        least = _mm256_min_epi32(least, _mm256_blendv_epi8(key, magnitude, nan));
        most = _mm256_max_epi32(most, _mm256_blendv_epi8(key, lowest, nan));
        nans += (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(nan)));
    }
    nans += plain->bounds_float(values + 4 * i, n - i, lower, upper);
    join_32(least, most, lower, upper);
    return nans;
}

AVX2 static size_t avx2_bounds_double(const uint8_t *values, size_t n, int64_t *lower,
                                      int64_t *upper)
{
    const __m256i magnitude = _mm256_set1_epi64x(INT64_MAX);
    const __m256i inf = _mm256_set1_epi64x(PARQUET_DOUBLE_INF);
    const __m256i lowest = _mm256_set1_epi64x(INT64_MIN);
    __m256i least = magnitude;
    __m256i most = lowest;
    size_t nans = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i v = load(values + 8 * i);
        __m256i nan = _mm256_cmpgt_epi64(_mm256_and_si256(v, magnitude), inf);
        __m256i negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), v);
        __m256i key = _mm256_xor_si256(v, _mm256_and_si256(negative, magnitude));
        least = min_epi64(least, _mm256_blendv_epi8(key, magnitude, nan));
        most = max_epi64(most, _mm256_blendv_epi8(key, lowest, nan));
        nans += (size_t)__builtin_popcount((unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(nan)));
    }
    nans += plain->bounds_double(values + 8 * i, n - i, lower, upper);
    join_64(least, most, lower, upper);
    return nans;
}

/* ---- deltas of whole blocks ---- */

AVX2_INLINE uint64_t join_bits(__m256i v)
{
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return (uint64_t)_mm_cvtsi128_si64(half) | (uint64_t)_mm_extract_epi64(half, 1);
}

AVX2 static void avx2_deltas_4(const uint8_t *values, size_t n, parquet_deltas *out)
{
    enum { LANES = 8, VECTORS = PARQUET_DELTA_BLOCK / LANES };
    uint32_t *deltas = out->as.narrow;
    __m256i low = _mm256_set1_epi32(INT32_MAX);
    int32_t least = INT32_MAX;
    int32_t unused = INT32_MIN;
    if (n < PARQUET_DELTA_BLOCK) {
        plain->deltas_4(values, n, out);
        return;
    }
    for (size_t i = 0; i < VECTORS; i++) {
        const uint8_t *p = values + 4 * LANES * i;
        __m256i d = _mm256_sub_epi32(load(p + 4), load(p));
        low = _mm256_min_epi32(low, d);
        store(deltas + LANES * i, d);
    }
    join_32(low, low, &least, &unused);
    low = _mm256_set1_epi32(least);
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        __m256i all = _mm256_setzero_si256();
        for (size_t i = 0; i < PARQUET_DELTA_MINI; i += LANES) {
            uint32_t *p = deltas + m * PARQUET_DELTA_MINI + i;
            __m256i d = _mm256_sub_epi32(load(p), low);
            all = _mm256_or_si256(all, d);
            store(p, d);
        }
        uint64_t bits = join_bits(all);
        out->widths[m] = (uint8_t)(32 - _lzcnt_u32((uint32_t)(bits | bits >> 32)));
    }
    out->least = least;
}

AVX2 static void avx2_deltas_8(const uint8_t *values, size_t n, parquet_deltas *out)
{
    enum { LANES = 4, VECTORS = PARQUET_DELTA_BLOCK / LANES };
    uint64_t *deltas = out->as.wide;
    __m256i low = _mm256_set1_epi64x(INT64_MAX);
    int64_t least = INT64_MAX;
    int64_t unused = INT64_MIN;
    if (n < PARQUET_DELTA_BLOCK) {
        plain->deltas_8(values, n, out);
        return;
    }
    for (size_t i = 0; i < VECTORS; i++) {
        const uint8_t *p = values + 8 * LANES * i;
        __m256i d = _mm256_sub_epi64(load(p + 8), load(p));
        low = min_epi64(low, d);
        store(deltas + LANES * i, d);
    }
    join_64(low, low, &least, &unused);
    low = _mm256_set1_epi64x(least);
    for (size_t m = 0; m < PARQUET_DELTA_MINIBLOCKS; m++) {
        __m256i all = _mm256_setzero_si256();
        for (size_t i = 0; i < PARQUET_DELTA_MINI; i += LANES) {
            uint64_t *p = deltas + m * PARQUET_DELTA_MINI + i;
            __m256i d = _mm256_sub_epi64(load(p), low);
            all = _mm256_or_si256(all, d);
            store(p, d);
        }
        out->widths[m] = (uint8_t)(64 - _lzcnt_u64(join_bits(all)));
    }
    out->least = least;
}

const parquet_write_kernels parquet_write_kernels_avx2 = {
    .name = "avx2",
    .pack_u8 = avx2_pack_u8,
    .pack_u32 = avx2_pack_u32,
    .pack_u64 = avx2_pack_u64,
    .pick_4 = avx2_pick_4,
    .pick_8 = avx2_pick_8,
    .split_4 = avx2_split_4,
    .split_8 = avx2_split_8,
    .bounds_int32 = avx2_bounds_int32,
    .bounds_int64 = avx2_bounds_int64,
    .bounds_float = avx2_bounds_float,
    .bounds_double = avx2_bounds_double,
    .deltas_4 = avx2_deltas_4,
    .deltas_8 = avx2_deltas_8,
};

#endif
