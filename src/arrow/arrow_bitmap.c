/*
 * Bitmaps: counting, copying between bit offsets, filling.
 */
#include "arrow/arrow_array.h"

int64_t frz_bitmap_count(const uint8_t *bits, int64_t first, int64_t length)
{
    int64_t count = 0;
    int64_t i = first;
    int64_t end = first + length;
    for (; i < end && (i & 7) != 0; i++) {
        count += frz_bit_get(bits, i);
    }
    for (; end - i >= 64; i += 64) {
        count += __builtin_popcountll(frz_load_le64(bits + (i >> 3)));
    }
    for (; i < end; i++) {
        count += frz_bit_get(bits, i);
    }
    return count;
}

void frz_bitmap_copy(const uint8_t *src, int64_t src_first, int64_t length, uint8_t *dst,
                     int64_t dst_first)
{
    int64_t i = 0;
    for (; i < length && ((dst_first + i) & 7) != 0; i++) {
        frz_bit_put(dst, dst_first + i, frz_bit_get(src, src_first + i));
    }
    if (((src_first + i) & 7) == 0) {
        int64_t bytes = (length - i) / 8;
        if (bytes > 0) {
            memcpy(dst + ((dst_first + i) >> 3), src + ((src_first + i) >> 3), (size_t)bytes);
        }
        i += bytes * 8;
    } else {
        unsigned shift = (unsigned)((src_first + i) & 7);
        for (; length - i >= 8; i += 8) {
            const uint8_t *from = src + ((src_first + i) >> 3);
            dst[(dst_first + i) >> 3] = (uint8_t)(from[0] >> shift | from[1] << (8 - shift));
        }
    }
    for (; i < length; i++) {
        frz_bit_put(dst, dst_first + i, frz_bit_get(src, src_first + i));
    }
}

void frz_bitmap_fill(uint8_t *bits, int64_t first, int64_t length, bool value)
{
    int64_t i = first;
    int64_t end = first + length;
    for (; i < end && (i & 7) != 0; i++) {
        frz_bit_put(bits, i, value);
    }
    int64_t bytes = (end - i) / 8;
    if (bytes > 0) {
        memset(bits + (i >> 3), value ? 0xFF : 0, (size_t)bytes);
        i += bytes * 8;
    }
    for (; i < end; i++) {
        frz_bit_put(bits, i, value);
    }
}
