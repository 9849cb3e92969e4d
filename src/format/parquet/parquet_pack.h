/*
 * Numbers of a few bits one behind the other, the least significant bit first: the code of the
 * loops that parquet_kernels_write.h names, which is compiled for each kind of processor. A group
 * of eight numbers takes whole bytes, so groups do not depend on each other.
 */
#ifndef FRZ_PARQUET_PACK_H
#define FRZ_PARQUET_PACK_H

#include "base/base.h"

#define PARQUET_PACK_INLINE static inline __attribute__((always_inline))

/* Eight of up to 16 bits. The second half begins behind the first or in the middle of its last
 * byte; eight bytes from the start of either are written. */
PARQUET_PACK_INLINE void parquet_pack_eight_16(const uint64_t v[8], unsigned width, uint8_t *out)
{
    uint64_t low = v[0] | v[1] << width | (v[2] | v[3] << width) << 2 * width;
    uint64_t high = v[4] | v[5] << width | (v[6] | v[7] << width) << 2 * width;
    if (width % 2 != 0) {
        high = high << 4 | low >> (4 * width - 4);
    }
    frz_store_le64(out, low);
    frz_store_le64(out + width / 2, high);
}

/* Eight of 17 to 31 bits, the same with halves of two words. */
PARQUET_PACK_INLINE void parquet_pack_eight_31(const uint64_t v[8], unsigned width, uint8_t *out)
{
    uint64_t low = v[0] | v[1] << width;
    uint64_t low_end = v[2] | v[3] << width;
    uint64_t high = v[4] | v[5] << width;
    uint64_t high_end = v[6] | v[7] << width;
    low |= low_end << 2 * width;
    low_end >>= 64 - 2 * width;
    high |= high_end << 2 * width;
    high_end >>= 64 - 2 * width;
    if (width % 2 != 0) {
        high_end = high_end << 4 | high >> 60;
        high = high << 4 | low_end >> (4 * width - 68);
    }
    frz_store_le64(out, low);
    frz_store_le64(out + 8, low_end);
    frz_store_le64(out + width / 2, high);
    frz_store_le64(out + width / 2 + 8, high_end);
}

/* Eight of 32 bits and more. */
PARQUET_PACK_INLINE void parquet_pack_eight_64(const uint64_t v[8], unsigned width, uint8_t *out)
{
    uint64_t bits = 0;
    unsigned used = 0; /* below 8 */
    for (size_t i = 0; i < 8; i++) {
        unsigned total = used + width;
        frz_store_le64(out, bits | v[i] << used);
        if (total < 64) {
            bits = (bits | v[i] << used) >> (total & ~7u);
            out += total >> 3;
            used = total & 7;
        } else {
            /* at most seven bits of the value are left over; the next store writes them */
            out += 8;
            used = total - 64;
            bits = used == 0 ? 0 : v[i] >> (width - used);
        }
    }
    frz_store_le64(out, bits);
}

PARQUET_PACK_INLINE void parquet_pack_8(const uint8_t *values, size_t groups, unsigned width,
                                        uint8_t *out)
{
    for (size_t g = 0; width == 1 && g < groups; g++) {
        /* the lowest bits of eight bytes, gathered by a multiplication */
        uint64_t bytes = frz_load_le64(values + 8 * g);
        out[g] = (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
    }
    for (size_t g = 0; width > 1 && g < groups; g++) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8; i++) {
            word |= (uint64_t)values[8 * g + i] << i * width;
        }
        frz_store_le64(out + g * width, word);
    }
}

PARQUET_PACK_INLINE void parquet_pack_eight(const uint64_t v[8], unsigned width, uint8_t *out)
{
    if (width <= 16) {
        parquet_pack_eight_16(v, width, out);
    } else if (width < 32) {
        parquet_pack_eight_31(v, width, out);
    } else {
        parquet_pack_eight_64(v, width, out);
    }
}

PARQUET_PACK_INLINE void parquet_pack_32(const uint32_t *values, size_t groups, unsigned width,
                                         uint8_t *out)
{
    for (size_t g = 0; g < groups; g++, values += 8, out += width) {
        const uint64_t v[8] = {values[0], values[1], values[2], values[3],
                               values[4], values[5], values[6], values[7]};
        parquet_pack_eight(v, width, out);
    }
}

PARQUET_PACK_INLINE void parquet_pack_64(const uint64_t *values, size_t groups, unsigned width,
                                         uint8_t *out)
{
    for (size_t g = 0; g < groups; g++) {
        parquet_pack_eight(values + 8 * g, width, out + g * width);
    }
}

#endif
