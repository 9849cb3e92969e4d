/*
 * BYTE_STREAM_SPLIT: byte k of every value lies in stream k, stream after stream. Joining the
 * streams is a transposition; with SSE2 sixteen values of 2, 4, 8 or 16 streams are joined by a
 * tree of interleavings. The plain loop handles other widths and the last values.
 */
#include "format/parquet/parquet_read.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Values joined at a time, so that streams and values stay in the nearest cache. */
#define BLOCK 256

static void join_plain(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                       uint8_t *out)
{
    for (size_t done = 0; done < n; done += BLOCK, out += BLOCK * width) {
        size_t take = FRZ_MIN(n - done, (size_t)BLOCK);
        for (size_t k = 0; k < width; k++) {
            const uint8_t *stream = bytes + k * count + first + done;
            for (size_t i = 0; i < take; i++) {
                out[i * width + k] = stream[i];
            }
        }
    }
}

#ifdef __SSE2__

static __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static size_t join_2(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i a = load(bytes + first + i);
        __m128i b = load(bytes + count + first + i);
        __m128i *to = (__m128i *)(out + i * 2);
        _mm_storeu_si128(to, _mm_unpacklo_epi8(a, b));
        _mm_storeu_si128(to + 1, _mm_unpackhi_epi8(a, b));
    }
    return i;
}

static size_t join_4(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i s[4];
        for (size_t k = 0; k < 4; k++) {
            s[k] = load(bytes + k * count + first + i);
        }
        __m128i a0 = _mm_unpacklo_epi8(s[0], s[1]);
        __m128i a1 = _mm_unpackhi_epi8(s[0], s[1]);
        __m128i b0 = _mm_unpacklo_epi8(s[2], s[3]);
        __m128i b1 = _mm_unpackhi_epi8(s[2], s[3]);
        __m128i *to = (__m128i *)(out + i * 4);
        _mm_storeu_si128(to, _mm_unpacklo_epi16(a0, b0));
        _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(a0, b0));
        _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(a1, b1));
        _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(a1, b1));
    }
    return i;
}

/* Sixteen values of eight streams, two to each of out. */
static inline void join_eight(const uint8_t *bytes, size_t count, __m128i out[8])
{
    __m128i pairs[8]; /* streams 0-1, 2-3, 4-5, 6-7; values 0-7 then 8-15 */
    for (size_t k = 0; k < 4; k++) {
        __m128i a = load(bytes + 2 * k * count);
        __m128i b = load(bytes + (2 * k + 1) * count);
        pairs[k] = _mm_unpacklo_epi8(a, b);
        pairs[k + 4] = _mm_unpackhi_epi8(a, b);
    }
    for (size_t half = 0; half < 2; half++) {
        const __m128i *p = pairs + half * 4;
        __m128i low0 = _mm_unpacklo_epi16(p[0], p[1]);
        __m128i low1 = _mm_unpackhi_epi16(p[0], p[1]);
        __m128i high0 = _mm_unpacklo_epi16(p[2], p[3]);
        __m128i high1 = _mm_unpackhi_epi16(p[2], p[3]);
        out[half * 4] = _mm_unpacklo_epi32(low0, high0);
        out[half * 4 + 1] = _mm_unpackhi_epi32(low0, high0);
        out[half * 4 + 2] = _mm_unpacklo_epi32(low1, high1);
        out[half * 4 + 3] = _mm_unpackhi_epi32(low1, high1);
    }
}

static size_t join_8(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i values[8];
        join_eight(bytes + first + i, count, values);
        for (size_t k = 0; k < 8; k++) {
            _mm_storeu_si128((__m128i *)(out + i * 8) + k, values[k]);
        }
    }
    return i;
}

static size_t join_16(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i front[8], back[8];
        join_eight(bytes + first + i, count, front);
        join_eight(bytes + 8 * count + first + i, count, back);
        for (size_t k = 0; k < 8; k++) {
            __m128i *to = (__m128i *)(out + i * 16) + 2 * k;
            _mm_storeu_si128(to, _mm_unpacklo_epi64(front[k], back[k]));
            _mm_storeu_si128(to + 1, _mm_unpackhi_epi64(front[k], back[k]));
        }
    }
    return i;
}

static size_t join_wide(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                        uint8_t *out)
{
    switch (width) {
    case 2:
        return join_2(bytes, count, first, n, out);
    case 4:
        return join_4(bytes, count, first, n, out);
    case 8:
        return join_8(bytes, count, first, n, out);
    case 16:
        return join_16(bytes, count, first, n, out);
    default:
        return 0;
    }
}

#endif

void parquet_split_read(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                        uint8_t *out)
{
    assert(first <= count && n <= count - first);
    size_t done = 0;
#ifdef __SSE2__
    done = join_wide(bytes, count, width, first, n, out);
#endif
    join_plain(bytes, count, width, first + done, n - done, out + done * width);
}
