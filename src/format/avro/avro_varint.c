/*
 * Numbers of variable length: 7 bits in each byte, the lowest first, the highest bit set in all but
 * the last.
 */
#include "format/avro/avro_internal.h"

/* Byte for byte. */
static const uint8_t *read_bytes(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1) {
            return NULL;
        }
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = value;
            return p;
        }
    }
    return NULL;
}

/* Up to eight bytes at once, since how many they are is not known before: groups of 7 bits are
 * pushed together in pairs, the pairs in pairs, and these. */
const uint8_t *avro_varint_long(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    if (end - p < 8) {
        return read_bytes(p, end, out);
    }
    uint64_t word = frz_load_le64(p);
    uint64_t ends = ~word & UINT64_C(0x8080808080808080);
    if (ends == 0) {
        return read_bytes(p, end, out);
    }
    word &= ends ^ (ends - 1);
    word &= UINT64_C(0x7F7F7F7F7F7F7F7F);
    word = (word & UINT64_C(0x7F007F007F007F00)) >> 1 | (word & UINT64_C(0x007F007F007F007F));
    word = (word & UINT64_C(0x3FFF00003FFF0000)) >> 2 | (word & UINT64_C(0x00003FFF00003FFF));
    *out = (word & UINT64_C(0x0FFFFFFF00000000)) >> 4 | (word & UINT64_C(0x000000000FFFFFFF));
    return p + (__builtin_ctzll(ends) >> 3) + 1;
}
