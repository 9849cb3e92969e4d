/*
 * The filter in front of a table of keys. A lookup reads one word of it.
 */
#include "scan/scan_key_internal.h"

static inline uint64_t bits_of(uint64_t hash)
{
    const uint64_t one = 1;
    return one << (hash & 63) | one << (hash >> 6 & 63) | one << (hash >> 12 & 63);
}

void key_filter_add(const key_filter *filter, uint64_t hash)
{
    filter->words[hash >> filter->shift] |= bits_of(hash);
}

static bool passes(const key_filter *filter, uint64_t hash)
{
    uint64_t bits = bits_of(hash);
    return (filter->words[hash >> filter->shift] & bits) == bits;
}

/* The first bit turns most down, without a branch; few are left for the others. */
static uint64_t plain_pass(const key_filter *filter, const uint64_t *hashes, int64_t from,
                           int64_t n)
{
    uint64_t first = 0, all = 0;
    const uint64_t *words = filter->words;
    for (int64_t i = from; i < n; i++) {
        first |= (words[hashes[i] >> filter->shift] >> (hashes[i] & 63) & 1) << i;
    }
    for (; first != 0; first &= first - 1) {
        int i = __builtin_ctzll(first);
        all |= (uint64_t)passes(filter, hashes[i]) << i;
    }
    return all;
}

#if defined(__x86_64__)

#include <immintrin.h>

/* Four hashes at a time, with all their bits. */
__attribute__((target("avx2"))) static uint64_t avx2_pass(const key_filter *filter,
                                                          const uint64_t *hashes, int64_t n)
{
    const __m256i one = _mm256_set1_epi64x(1), low = _mm256_set1_epi64x(63);
    const __m128i shift = _mm_cvtsi32_si128((int)filter->shift);
    uint64_t found = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i h = _mm256_loadu_si256((const __m256i *)(const void *)(hashes + i));
        __m256i word = _mm256_i64gather_epi64((const long long *)(const void *)filter->words,
                                              _mm256_srl_epi64(h, shift), 8);
        __m256i a = _mm256_sllv_epi64(one, _mm256_and_si256(h, low));
        __m256i b = _mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srli_epi64(h, 6), low));
        __m256i c = _mm256_sllv_epi64(one, _mm256_and_si256(_mm256_srli_epi64(h, 12), low));
        __m256i bits = _mm256_or_si256(a, _mm256_or_si256(b, c));
        __m256i same = _mm256_cmpeq_epi64(_mm256_and_si256(word, bits), bits);
        found |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same)) << i;
    }
    return i < n ? found | plain_pass(filter, hashes, i, n) : found;
}

#else

static uint64_t avx2_pass(const key_filter *filter, const uint64_t *hashes, int64_t n)
{
    return plain_pass(filter, hashes, 0, n);
}

#endif

uint64_t key_filter_pass(const key_filter *filter, const uint64_t *hashes, int64_t n)
{
    return filter->avx2 ? avx2_pass(filter, hashes, n) : plain_pass(filter, hashes, 0, n);
}
