/*
 * BYTE_STREAM_SPLIT: byte k of every value lies in stream k, stream after stream. Joining the
 * streams is a transposition; with SSE2 sixteen values of 4 or 8 streams are joined by a tree of
 * interleavings. The plain loop handles other widths and the last values.
 */
#include "format/parquet/parquet_read.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static void join_plain(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                       uint8_t *out)
{
    for (size_t k = 0; k < width; k++) {
        const uint8_t *stream = bytes + k * count + first;
        for (size_t i = 0; i < n; i++) {
            out[i * width + k] = stream[i];
        }
    }
}

#ifdef __SSE2__

static size_t join_4(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i s[4];
        for (size_t k = 0; k < 4; k++) {
            s[k] = _mm_loadu_si128((const __m128i *)(bytes + k * count + first + i));
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

static size_t join_8(const uint8_t *bytes, size_t count, size_t first, size_t n, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i pairs[8]; /* streams 0-1, 2-3, 4-5, 6-7; values 0-7 then 8-15 */
        for (size_t k = 0; k < 4; k++) {
            const uint8_t *even = bytes + 2 * k * count + first + i;
            __m128i a = _mm_loadu_si128((const __m128i *)even);
            __m128i b = _mm_loadu_si128((const __m128i *)(even + count));
            pairs[k] = _mm_unpacklo_epi8(a, b);
            pairs[k + 4] = _mm_unpackhi_epi8(a, b);
        }
        __m128i *to = (__m128i *)(out + i * 8);
        for (size_t half = 0; half < 2; half++, to += 4) {
            const __m128i *p = pairs + half * 4;
            __m128i low0 = _mm_unpacklo_epi16(p[0], p[1]);
            __m128i low1 = _mm_unpackhi_epi16(p[0], p[1]);
            __m128i high0 = _mm_unpacklo_epi16(p[2], p[3]);
            __m128i high1 = _mm_unpackhi_epi16(p[2], p[3]);
            _mm_storeu_si128(to, _mm_unpacklo_epi32(low0, high0));
            _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(low0, high0));
            _mm_storeu_si128(to + 2, _mm_unpacklo_epi32(low1, high1));
            _mm_storeu_si128(to + 3, _mm_unpackhi_epi32(low1, high1));
        }
    }
    return i;
}

#endif

void parquet_split_read(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                        uint8_t *out)
{
    assert(first <= count && n <= count - first);
    size_t done = 0;
#ifdef __SSE2__
    if (width == 4) {
        done = join_4(bytes, count, first, n, out);
    } else if (width == 8) {
        done = join_8(bytes, count, first, n, out);
    }
#endif
    join_plain(bytes, count, width, first + done, n - done, out + done * width);
}
