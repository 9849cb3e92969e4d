/*
 * The plain loops, and the choice. They are written so that a compiler can vectorise those that
 * the baseline of the architecture suffices for.
 */
#include "format/parquet/parquet_kernels.h"
#include "arrow/arrow_array.h"

/* ---- numbers of a few bits ---- */

static void plain_unpack_u32(const uint8_t *in, unsigned width, size_t n, uint32_t *out)
{
    uint64_t mask = (UINT64_C(1) << width) - 1;
    uint64_t bit = 0;
    for (size_t i = 0; i < n; i++, bit += width) {
        out[i] = (uint32_t)(frz_load_le64(in + (bit >> 3)) >> (bit & 7) & mask);
    }
}

static void plain_unpack_u8(const uint8_t *in, unsigned width, size_t n, uint8_t *out)
{
    uint32_t mask = (1u << width) - 1;
    uint64_t bit = 0;
    for (size_t i = 0; i < n; i++, bit += width) {
        out[i] = (uint8_t)((uint32_t)frz_load_le16(in + (bit >> 3)) >> (bit & 7) & mask);
    }
}

static uint32_t plain_largest_u32(const uint32_t *values, size_t n)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = FRZ_MAX(largest, values[i]);
    }
    return largest;
}

static bool plain_is_ascii(const uint8_t *bytes, size_t len)
{
    uint64_t seen = 0;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        seen |= frz_load_le64(bytes + i);
    }
    for (; i < len; i++) {
        seen |= bytes[i];
    }
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

static bool plain_is_utf8(const uint8_t *bytes, size_t len)
{
    return frz_utf8_valid((frz_str){(const char *)bytes, len});
}

/* ---- room for nulls: from the last row down, so that nothing unmoved is overwritten ---- */

static void plain_spread_4(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                           int64_t first)
{
    for (size_t i = rows; i-- > 0;) {
        uint32_t bit = frz_bit_get(bits, first + (int64_t)i);
        dense -= bit;
        frz_store_le32(values + i * 4, frz_load_le32(values + dense * 4) & (0 - bit));
    }
}

static void plain_spread_8(uint8_t *values, size_t dense, size_t rows, const uint8_t *bits,
                           int64_t first)
{
    for (size_t i = rows; i-- > 0;) {
        uint64_t bit = frz_bit_get(bits, first + (int64_t)i);
        dense -= bit;
        frz_store_le64(values + i * 8, frz_load_le64(values + dense * 8) & (0 - bit));
    }
}

static void plain_spread_offsets(int32_t *offsets, size_t dense, size_t rows, const uint8_t *bits,
                                 int64_t first)
{
    for (size_t i = rows; i-- > 0;) {
        offsets[i + 1] = offsets[dense];
        dense -= frz_bit_get(bits, first + (int64_t)i);
    }
}

/* ---- levels ---- */

static uint8_t plain_largest_u8(const uint8_t *values, size_t n)
{
    uint8_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = FRZ_MAX(largest, values[i]);
    }
    return largest;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define TOP_BITS UINT64_C(0x8080808080808080)

/* One bit for each of eight bytes that is at least so much, least up to 128: with its top bit set a
 * byte stays above 127 after the subtraction, and no byte borrows from the next. */
static unsigned eight_at_least(uint64_t bytes, uint8_t least)
{
    uint64_t top = (((bytes | TOP_BITS) - least * EACH_BYTE) | bytes) & TOP_BITS;
    return (unsigned)((top >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

static void plain_at_least(const uint8_t *levels, size_t n, uint8_t least, uint64_t *out)
{
    for (size_t i = 0; i < n; i += 64, out++) {
        size_t take = FRZ_MIN(n - i, (size_t)64);
        uint64_t word = 0;
        size_t k = 0;
        for (; least <= 128 && k + 8 <= take; k += 8) {
            word |= (uint64_t)eight_at_least(frz_load_le64(levels + i + k), least) << k;
        }
        for (; k < take; k++) {
            word |= (uint64_t)(levels[i + k] >= least) << k;
        }
        *out = word;
    }
}

static size_t plain_ones(const uint64_t *words, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (size_t)__builtin_popcountll(words[i]);
    }
    return count;
}

/* The bits of a word where mask has ones, moved together. */
static uint64_t compact(uint64_t word, uint64_t mask)
{
    uint64_t out = 0;
    if (mask == UINT64_MAX) {
        return word;
    }
    for (unsigned k = 0; mask != 0; mask &= mask - 1, k++) {
        out |= (word >> __builtin_ctzll(mask) & 1) << k;
    }
    return out;
}

static size_t plain_append_bits(const uint64_t *words, const uint64_t *mask, size_t n,
                                uint8_t *bits, size_t at)
{
    size_t begin = at;
    for (size_t i = 0; i < n; i++) {
        uint64_t word = compact(words[i], mask[i]);
        uint8_t *p = bits + (at >> 3);
        unsigned shift = (unsigned)(at & 7);
        frz_store_le64(p, frz_load_le64(p) | word << shift);
        if (shift > 0) {
            p[8] = (uint8_t)(word >> (64 - shift));
        }
        at += (size_t)__builtin_popcountll(mask[i]);
    }
    return at - begin;
}

static void plain_offsets(const uint64_t *starts, const uint64_t *items, size_t n, int32_t count,
                          int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        for (uint64_t s = starts[i]; s != 0; s &= s - 1) {
            uint64_t before = (s & (0 - s)) - 1;
            *out++ = count + __builtin_popcountll(items[i] & before);
        }
        count += __builtin_popcountll(items[i]);
    }
}

static uint64_t plain_scatter(uint64_t word, uint64_t mask)
{
    uint64_t out = 0;
    if (mask == UINT64_MAX) {
        return word;
    }
    for (; mask != 0; mask &= mask - 1, word >>= 1) {
        out |= (word & 1) << __builtin_ctzll(mask);
    }
    return out;
}

const parquet_kernels parquet_kernels_plain = {
    .name = "plain",
    .unpack_u32 = plain_unpack_u32,
    .unpack_u8 = plain_unpack_u8,
    .largest_u32 = plain_largest_u32,
    .is_ascii = plain_is_ascii,
    .is_utf8 = plain_is_utf8,
    .spread_4 = plain_spread_4,
    .spread_8 = plain_spread_8,
    .spread_offsets = plain_spread_offsets,
    .largest_u8 = plain_largest_u8,
    .at_least = plain_at_least,
    .ones = plain_ones,
    .append_bits = plain_append_bits,
    .offsets = plain_offsets,
    .scatter = plain_scatter,
};

const parquet_kernels *parquet_kernels_of(const frz_env *env)
{
#if defined(__x86_64__)
    if ((env->cpu & FRZ_CPU_AVX2) != 0) {
        return &parquet_kernels_avx2;
    }
#endif
    (void)env;
    return &parquet_kernels_plain;
}

/* ---- for every processor ---- */

#define GATHER(width)                                                                              \
    for (size_t i = 0; i < n; i++) {                                                               \
        memcpy(out + i * (width), table + (size_t)indices[i] * (width), (width));                  \
    }

void parquet_gather(const uint8_t *table, size_t width, const uint32_t *indices, size_t n,
                    uint8_t *out)
{
    switch (width) { /* of which the compiler knows the move */
    case 4:
        GATHER(4)
        break;
    case 8:
        GATHER(8)
        break;
    case 16:
        GATHER(16)
        break;
    default:
        GATHER(width)
    }
}

void parquet_repeat(const uint8_t *value, size_t width, size_t n, uint8_t *out)
{
    size_t all = n * width;
    size_t done = FRZ_MIN(width, all);
    if (all == 0) {
        return;
    }
    memcpy(out, value, done);
    while (done < all) { /* copies what is there already */
        size_t take = FRZ_MIN(done, all - done);
        memcpy(out + done, out, take);
        done += take;
    }
}

size_t parquet_count_u8(const uint8_t *values, size_t n, uint8_t value)
{
    size_t count = 0;
    while (n > 0) {
        size_t take = FRZ_MIN(n, (size_t)255);
        uint8_t part = 0; /* bytes are counted in bytes, as far as these reach */
        for (size_t i = 0; i < take; i++) {
            part = (uint8_t)(part + (values[i] == value));
        }
        count += part;
        values += take;
        n -= take;
    }
    return count;
}
