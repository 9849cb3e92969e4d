/*
 * The loops with AVX2, BMI2 and POPCNT. Ragged ends go to the plain loops.
 */
#include "format/parquet/parquet_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))
#define AVX2_INLINE                                                                                \
    static inline __attribute__((always_inline, target("avx2,bmi,bmi2,popcnt,lzcnt")))

static const parquet_kernels *const plain = &parquet_kernels_plain;

/* ---- numbers of a few bits ---- */

/*
 * Groups of eight values, which begin at byte boundaries. The four bytes that hold a value of up to
 * 25 bits are brought into its lane, shifted and masked. With a constant width all this is known
 * when compiling. lane 4 begins 4 * width bits behind lane 0, perhaps in the middle of a byte.
 */
#define HIGH_BYTE(w) (4 * (w) / 8)
#define BIT(w, lane) ((lane) < 4 ? (lane) * (w) : (lane) * (w)-8 * HIGH_BYTE(w))
#define BYTES(w, lane)                                                                             \
    (char)(BIT(w, lane) / 8), (char)(BIT(w, lane) / 8 + 1), (char)(BIT(w, lane) / 8 + 2),          \
        (char)(BIT(w, lane) / 8 + 3)
#define SHIFT(w, lane) (int)(BIT(w, lane) % 8)

AVX2_INLINE void unpack_groups(const uint8_t *in, const unsigned w, size_t groups, uint32_t *out)
{
    const __m256i places = _mm256_setr_epi8(BYTES(w, 0), BYTES(w, 1), BYTES(w, 2), BYTES(w, 3),
                                            BYTES(w, 4), BYTES(w, 5), BYTES(w, 6), BYTES(w, 7));
    const __m256i shifts = _mm256_setr_epi32(SHIFT(w, 0), SHIFT(w, 1), SHIFT(w, 2), SHIFT(w, 3),
                                             SHIFT(w, 4), SHIFT(w, 5), SHIFT(w, 6), SHIFT(w, 7));
    const __m256i mask = _mm256_set1_epi32((int)((1u << w) - 1));
    for (size_t g = 0; g < groups; g++, in += w, out += 8) {
        __m128i low = _mm_loadu_si128((const __m128i *)in);
        __m128i high = _mm_loadu_si128((const __m128i *)(in + HIGH_BYTE(w)));
        __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        v = _mm256_srlv_epi32(_mm256_shuffle_epi8(v, places), shifts);
        _mm256_storeu_si256((__m256i *)out, _mm256_and_si256(v, mask));
    }
}

#define UNPACK(w)                                                                                  \
    case w:                                                                                        \
        unpack_groups(in, w, groups, out);                                                         \
        break;

AVX2 static void avx2_unpack_u32(const uint8_t *in, unsigned width, size_t n, uint32_t *out)
{
    size_t groups = n / 8;
    switch (width) {
        UNPACK(1)
        UNPACK(2)
        UNPACK(3)
        UNPACK(4)
        UNPACK(5)
        UNPACK(6)
        UNPACK(7)
        UNPACK(8)
        UNPACK(9)
        UNPACK(10)
        UNPACK(11)
        UNPACK(12)
        UNPACK(13)
        UNPACK(14)
        UNPACK(15)
        UNPACK(16)
        UNPACK(17)
        UNPACK(18)
        UNPACK(19)
        UNPACK(20)
        UNPACK(21)
        UNPACK(22)
        UNPACK(23)
        UNPACK(24)
        UNPACK(25)
    default:
        groups = 0;
    }
    plain->unpack_u32(in + groups * width, width, n - groups * 8, out + groups * 8);
}

/* Eight values of up to eight bits are one word, whose parts are deposited in bytes. */
AVX2 static void avx2_unpack_u8(const uint8_t *in, unsigned width, size_t n, uint8_t *out)
{
    uint64_t places = (UINT64_C(0xFF) >> (8 - width)) * UINT64_C(0x0101010101010101);
    size_t groups = n / 8;
    for (size_t g = 0; g < groups; g++) {
        frz_store_le64(out + g * 8, _pdep_u64(frz_load_le64(in + g * width), places));
    }
    plain->unpack_u8(in + groups * width, width, n - groups * 8, out + groups * 8);
}

AVX2 static uint32_t avx2_largest_u32(const uint32_t *values, size_t n)
{
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        a = _mm256_max_epu32(a, _mm256_loadu_si256((const __m256i *)(values + i)));
        b = _mm256_max_epu32(b, _mm256_loadu_si256((const __m256i *)(values + i + 8)));
    }
    uint32_t lanes[8];
    _mm256_storeu_si256((__m256i *)lanes, _mm256_max_epu32(a, b));
    uint32_t some = plain->largest_u32(lanes, 8);
    uint32_t rest = plain->largest_u32(values + i, n - i);
    return FRZ_MAX(some, rest);
}

AVX2 static bool avx2_is_ascii(const uint8_t *bytes, size_t len)
{
    size_t i = 0;
    for (; i + 128 <= len; i += 128) {
        const __m256i *p = (const __m256i *)(bytes + i);
        __m256i a = _mm256_or_si256(_mm256_loadu_si256(p), _mm256_loadu_si256(p + 1));
        __m256i b = _mm256_or_si256(_mm256_loadu_si256(p + 2), _mm256_loadu_si256(p + 3));
        if (_mm256_movemask_epi8(_mm256_or_si256(a, b)) != 0) {
            return false;
        }
    }
    return plain->is_ascii(bytes + i, len - i);
}

/*
 * UTF-8, 32 bytes at a time. What is wrong with a byte shows, but for one case, in the byte before
 * it and its own upper half: three tables, of the upper and the lower half of the byte before and
 * of the upper half of the byte, name the mistakes that each half allows; a mistake that all three
 * allow is one. The case left is that two continuation bytes follow each other, which is right in
 * the third and fourth byte of a character and there a must.
 * (J. Keiser, D. Lemire: Validating UTF-8 In Less Than One Instruction Per Byte, 2021)
 */
enum {
    SHORT_OF = 1,       /* a lead without its continuation */
    STRAY = 2,          /* a continuation behind ASCII */
    LONG_3 = 4,         /* three bytes where two would do */
    ABOVE = 8,          /* beyond U+10FFFF by F4 */
    SURROGATE = 16,     /* U+D800 to U+DFFF */
    LONG_2 = 32,        /* two bytes where one would do */
    LONG_4_OR_FAR = 64, /* four bytes where three would do, or leads above F4 */
    CONTINUED = 128,    /* two continuations */
    ANY_LOW = SHORT_OF | STRAY | CONTINUED
};

AVX2_INLINE __m256i look_up(__m256i table, __m256i halves)
{
    return _mm256_shuffle_epi8(table, halves);
}

#define TABLE(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                      \
    _mm256_broadcastsi128_si256(_mm_setr_epi8(                                                     \
        (char)(a), (char)(b), (char)(c), (char)(d), (char)(e), (char)(f), (char)(g), (char)(h),    \
        (char)(i), (char)(j), (char)(k), (char)(l), (char)(m), (char)(n), (char)(o), (char)(p)))

/* Mistakes in a block that follows another. */
AVX2_INLINE __m256i utf8_mistakes(__m256i block, __m256i before)
{
    const __m256i lead_high =
        TABLE(STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, CONTINUED, CONTINUED,
              CONTINUED, CONTINUED, SHORT_OF | LONG_2, SHORT_OF, SHORT_OF | LONG_3 | SURROGATE,
              SHORT_OF | ABOVE | LONG_4_OR_FAR);
    const __m256i lead_low =
        TABLE(ANY_LOW | LONG_2 | LONG_3 | LONG_4_OR_FAR, ANY_LOW | LONG_2, ANY_LOW, ANY_LOW,
              ANY_LOW | ABOVE, ANY_LOW | ABOVE | LONG_4_OR_FAR, ANY_LOW | ABOVE | LONG_4_OR_FAR,
              ANY_LOW | ABOVE | LONG_4_OR_FAR, ANY_LOW | ABOVE | LONG_4_OR_FAR,
              ANY_LOW | ABOVE | LONG_4_OR_FAR, ANY_LOW | ABOVE | LONG_4_OR_FAR,
              ANY_LOW | ABOVE | LONG_4_OR_FAR, ANY_LOW | ABOVE | LONG_4_OR_FAR,
              ANY_LOW | ABOVE | LONG_4_OR_FAR | SURROGATE, ANY_LOW | ABOVE | LONG_4_OR_FAR,
              ANY_LOW | ABOVE | LONG_4_OR_FAR);
    const __m256i high = TABLE(
        SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF,
        STRAY | LONG_2 | CONTINUED | LONG_3 | LONG_4_OR_FAR,
        STRAY | LONG_2 | CONTINUED | LONG_3 | ABOVE, STRAY | LONG_2 | CONTINUED | SURROGATE | ABOVE,
        STRAY | LONG_2 | CONTINUED | SURROGATE | ABOVE, SHORT_OF, SHORT_OF, SHORT_OF, SHORT_OF);
    const __m256i half = _mm256_set1_epi8(0x0F);
    /* the bytes one, two and three places before each */
    __m256i between = _mm256_permute2x128_si256(before, block, 0x21);
    __m256i back_1 = _mm256_alignr_epi8(block, between, 15);
    __m256i back_2 = _mm256_alignr_epi8(block, between, 14);
    __m256i back_3 = _mm256_alignr_epi8(block, between, 13);
    __m256i all = look_up(lead_high, _mm256_and_si256(_mm256_srli_epi16(back_1, 4), half));
    all = _mm256_and_si256(all, look_up(lead_low, _mm256_and_si256(back_1, half)));
    all = _mm256_and_si256(all, look_up(high, _mm256_and_si256(_mm256_srli_epi16(block, 4), half)));
    /* top bits where a third or fourth byte stands */
    __m256i third = _mm256_subs_epu8(back_2, _mm256_set1_epi8((char)(0xE0 - 0x80)));
    __m256i fourth = _mm256_subs_epu8(back_3, _mm256_set1_epi8((char)(0xF0 - 0x80)));
    __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(all, must);
}

AVX2 static bool avx2_is_utf8(const uint8_t *bytes, size_t len)
{
    __m256i before = _mm256_setzero_si256();
    __m256i mistakes = before;
    size_t i = 0;
    for (; i + 32 <= len; i += 32) {
        __m256i block = _mm256_loadu_si256((const __m256i *)(bytes + i));
        mistakes = _mm256_or_si256(mistakes, utf8_mistakes(block, before));
        before = block;
    }
    uint8_t end[32] = {0}; /* ASCII behind the last character, which must be whole */
    memcpy(end, bytes + i, len - i);
    __m256i block = _mm256_loadu_si256((const __m256i *)end);
    mistakes = _mm256_or_si256(mistakes, utf8_mistakes(block, before));
    return _mm256_testz_si256(mistakes, mistakes) != 0;
}

/* ---- room for nulls ---- */

/* Eight bits from bit at on. */
AVX2_INLINE unsigned bits_8(const uint8_t *bits, int64_t at)
{
    return (unsigned)frz_load_le16(bits + (at >> 3)) >> (at & 7) & 0xFF;
}

/* Each byte of the word tells which of the values at hand comes to the lane; top bit: none does. */
AVX2_INLINE uint64_t lanes_of(uint64_t bytes)
{
    return _pdep_u64(UINT64_C(0x0706050403020100), bytes) | ~bytes;
}

AVX2 static void avx2_spread_4(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                               int64_t first)
{
    size_t i = rows;
    for (; i % 8 != 0; i--) {
        int64_t at = first + (int64_t)i - 1;
        uint32_t bit = bits[at >> 3] >> (at & 7) & 1;
        dense -= bit;
        frz_store_le32(values + (i - 1) * 4, frz_load_le32(values + dense * 4) & (0 - bit));
    }
    while (i > 0) {
        i -= 8;
        unsigned m = bits_8(bits, first + (int64_t)i);
        dense -= (size_t)_mm_popcnt_u32(m);
        uint64_t bytes = _pdep_u64(m, UINT64_C(0x0101010101010101)) * 0xFF;
        __m256i lanes = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)lanes_of(bytes)));
        __m256i v = _mm256_loadu_si256((const __m256i *)(values + dense * 4));
        v = _mm256_permutevar8x32_epi32(v, lanes);
        v = _mm256_andnot_si256(_mm256_srai_epi32(lanes, 31), v);
        _mm256_storeu_si256((__m256i *)(values + i * 4), v);
    }
}

/* For four bits of a bitmap: the halves of values at hand that come to each lane; -1: none does. */
static const int32_t lanes_of_four[16][8] = {
    {-1, -1, -1, -1, -1, -1, -1, -1}, {0, 1, -1, -1, -1, -1, -1, -1},
    {-1, -1, 0, 1, -1, -1, -1, -1},   {0, 1, 2, 3, -1, -1, -1, -1},
    {-1, -1, -1, -1, 0, 1, -1, -1},   {0, 1, -1, -1, 2, 3, -1, -1},
    {-1, -1, 0, 1, 2, 3, -1, -1},     {0, 1, 2, 3, 4, 5, -1, -1},
    {-1, -1, -1, -1, -1, -1, 0, 1},   {0, 1, -1, -1, -1, -1, 2, 3},
    {-1, -1, 0, 1, -1, -1, 2, 3},     {0, 1, 2, 3, -1, -1, 4, 5},
    {-1, -1, -1, -1, 0, 1, 2, 3},     {0, 1, -1, -1, 2, 3, 4, 5},
    {-1, -1, 0, 1, 2, 3, 4, 5},       {0, 1, 2, 3, 4, 5, 6, 7}};

AVX2 static void avx2_spread_8(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                               int64_t first)
{
    size_t i = rows;
    for (; i % 4 != 0; i--) {
        int64_t at = first + (int64_t)i - 1;
        uint64_t bit = bits[at >> 3] >> (at & 7) & 1;
        dense -= bit;
        frz_store_le64(values + (i - 1) * 8, frz_load_le64(values + dense * 8) & (0 - bit));
    }
    while (i > 0) {
        i -= 4;
        unsigned m = bits_8(bits, first + (int64_t)i) & 15;
        dense -= (size_t)_mm_popcnt_u32(m);
        __m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)lanes_of_four[m]);
        __m256i v = _mm256_loadu_si256((const __m256i *)(values + dense * 8));
        v = _mm256_permutevar8x32_epi32(v, lanes);
        v = _mm256_andnot_si256(_mm256_srai_epi32(lanes, 31), v);
        _mm256_storeu_si256((__m256i *)(values + i * 8), v);
    }
}

AVX2 static void avx2_spread_offsets(int32_t *offsets, size_t dense, size_t rows,
                                     const uint8_t *bits, int64_t first)
{
    size_t i = rows;
    for (; i % 8 != 0; i--) {
        int64_t at = first + (int64_t)i - 1;
        offsets[i] = offsets[dense];
        dense -= (size_t)(bits[at >> 3] >> (at & 7) & 1);
    }
    while (i > 0) {
        i -= 8;
        unsigned m = bits_8(bits, first + (int64_t)i);
        dense -= (size_t)_mm_popcnt_u32(m);
        /* how many of the group's values have begun, in every row; -1: none */
        uint64_t begun = _pdep_u64(m, UINT64_C(0x0101010101010101)) * UINT64_C(0x0101010101010101);
        __m128i counts = _mm_sub_epi8(_mm_cvtsi64_si128((long long)begun), _mm_set1_epi8(1));
        __m256i lanes = _mm256_cvtepi8_epi32(counts);
        __m256i before = _mm256_set1_epi32(offsets[dense]);
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + dense + 1));
        v = _mm256_permutevar8x32_epi32(v, lanes);
        v = _mm256_blendv_epi8(v, before, _mm256_srai_epi32(lanes, 31));
        _mm256_storeu_si256((__m256i *)(void *)(offsets + i + 1), v);
    }
}

/* ---- levels ---- */

AVX2 static uint8_t avx2_largest_u8(const uint8_t *values, size_t n)
{
    __m256i a = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a = _mm256_max_epu8(a, _mm256_loadu_si256((const __m256i *)(values + i)));
    }
    uint8_t lanes[32];
    _mm256_storeu_si256((__m256i *)lanes, a);
    uint8_t some = plain->largest_u8(lanes, 32);
    uint8_t rest = plain->largest_u8(values + i, n - i);
    return FRZ_MAX(some, rest);
}

AVX2 static void avx2_at_least(const uint8_t *levels, size_t n, uint8_t least, uint64_t *out)
{
    const __m256i wanted = _mm256_set1_epi8((char)least);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t word = 0;
        for (unsigned half = 0; half < 2; half++) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(levels + i + half * 32));
            __m256i ok = _mm256_cmpeq_epi8(_mm256_max_epu8(v, wanted), v);
            word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(ok) << (half * 32);
        }
        out[i / 64] = word;
    }
    plain->at_least(levels + i, n - i, least, out + i / 64);
}

AVX2 static size_t avx2_ones(const uint64_t *words, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (size_t)_mm_popcnt_u64(words[i]);
    }
    return count;
}

AVX2 static size_t avx2_append_bits(const uint64_t *words, const uint64_t *mask, size_t n,
                                    uint8_t *bits, size_t at)
{
    size_t begin = at;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = _pext_u64(words[i], mask[i]);
        uint8_t *p = bits + (at >> 3);
        unsigned shift = (unsigned)(at & 7);
        frz_store_le64(p, frz_load_le64(p) | word << shift);
        if (shift > 0) {
            p[8] = (uint8_t)(word >> (64 - shift));
        }
        at += (size_t)_mm_popcnt_u64(mask[i]);
    }
    return at - begin;
}

AVX2 static void avx2_offsets(const uint64_t *starts, const uint64_t *items, size_t n,
                              int32_t count, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        for (uint64_t s = starts[i]; s != 0; s = _blsr_u64(s)) {
            *out++ = count + (int32_t)_mm_popcnt_u64(items[i] & (_blsi_u64(s) - 1));
        }
        count += (int32_t)_mm_popcnt_u64(items[i]);
    }
}

AVX2 static uint64_t avx2_scatter(uint64_t word, uint64_t mask)
{
    return _pdep_u64(word, mask);
}

const parquet_kernels parquet_kernels_avx2 = {
    .name = "avx2",
    .unpack_u32 = avx2_unpack_u32,
    .unpack_u8 = avx2_unpack_u8,
    .largest_u32 = avx2_largest_u32,
    .is_ascii = avx2_is_ascii,
    .is_utf8 = avx2_is_utf8,
    .spread_4 = avx2_spread_4,
    .spread_8 = avx2_spread_8,
    .spread_offsets = avx2_spread_offsets,
    .largest_u8 = avx2_largest_u8,
    .at_least = avx2_at_least,
    .ones = avx2_ones,
    .append_bits = avx2_append_bits,
    .offsets = avx2_offsets,
    .scatter = avx2_scatter,
};

#endif
