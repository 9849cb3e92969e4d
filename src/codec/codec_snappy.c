/*
 * Snappy, decompressed. A stream is the length of what comes out and then elements: a literal, or a
 * copy of earlier bytes. Most elements are shorter than 16 bytes, so that the fast loop copies 16
 * bytes for each, whatever its length, and has few branches that depend on the data; it stops where
 * that could reach behind the input or the output. The careful loop does the rest and says what is
 * wrong. Own code, since the library's copies through calls and takes twice the time.
 */
#include "codec/codec_internal.h"

#define WIDE 16
#define LONGEST 64       /* bytes of a copy, and of a literal whose length stands in its tag */
#define LITERAL_EXTRA 60 /* tags from here on have their length behind them */
#define HEAD 5           /* bytes of a tag and what belongs to it */

/* The fast loop runs while this much is left. */
#define IN_MARGIN (HEAD + LONGEST + WIDE)
#define OUT_MARGIN (LONGEST + WIDE)

typedef struct snappy {
    const uint8_t *in, *in_end;
    uint8_t *start, *out, *out_end;
} snappy;

static inline void copy_wide(uint8_t *to, const uint8_t *from)
{
    uint8_t bytes[WIDE];
    memcpy(bytes, from, WIDE);
    memcpy(to, bytes, WIDE);
}

static inline void copy_long(uint8_t *to, const uint8_t *from)
{
    for (size_t i = 0; i < LONGEST; i += WIDE) {
        copy_wide(to + i, from + i);
    }
}

/* A copy whose source is less than 16 bytes back repeats itself: each step doubles what there is to
 * copy from. */
static inline void copy_pattern(uint8_t *to, size_t offset, size_t len)
{
    const uint8_t *from = to - offset;
    uint8_t *end = to + len;
    for (; offset < WIDE && to < end; offset *= 2) {
        copy_wide(to, from);
        to += offset;
    }
    for (; to < end; to += WIDE, from += WIDE) {
        copy_wide(to, from);
    }
}

/*
 * Numbers that grow slowly have short copies from the number before. A wide load would have to wait
 * for the stores of that copy and of the literal behind it; loads within the copy need not. len is
 * 4 to 8 and not more than the offset.
 */
static inline void copy_short(uint8_t *to, const uint8_t *from, size_t len)
{
    uint64_t low = frz_load_le32(from);
    uint64_t high = frz_load_le32(from + len - 4);
    frz_store_le64(to, low | high << (8 * (len - 4)));
}

/* Length, offset and bytes behind the tag of a copy; p can be read for four bytes. */
static inline size_t copy_head(unsigned tag, const uint8_t *p, size_t *len, size_t *offset)
{
    static const uint32_t masks[4] = {0, 0xFF, 0xFFFF, 0xFFFFFFFF};
    static const uint8_t extra[4] = {0, 1, 2, 4};
    unsigned kind = tag & 3;
    bool near = kind == 1;
    *len = near ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
    *offset = (frz_load_le32(p) & masks[kind]) + (near ? (tag >> 5) << 8 : 0);
    return extra[kind];
}

/* False: an offset points before the output. */
static bool fast_loop(snappy *s)
{
    const uint8_t *in = s->in;
    uint8_t *out = s->out;
    bool ok = true;
    while (s->in_end - in >= IN_MARGIN && s->out_end - out >= OUT_MARGIN) {
        unsigned tag = *in;
        if ((tag & 3) == 0) {
            size_t len = (tag >> 2) + 1;
            if (len > LITERAL_EXTRA) {
                break;
            }
            copy_wide(out, in + 1);
            if (len > WIDE) {
                copy_long(out, in + 1);
            }
            in += 1 + len;
            out += len;
            continue;
        }
        size_t len, offset;
        size_t head = copy_head(tag, in + 1, &len, &offset);
        if (offset == 0 || offset > (size_t)(out - s->start)) {
            ok = false;
            break;
        }
        if (offset < WIDE) {
            if (len >= 4 && len <= 8 && len <= offset) {
                copy_short(out, out - offset, len);
            } else {
                copy_pattern(out, offset, len);
            }
        } else {
            copy_wide(out, out - offset);
            if (len > WIDE) {
                copy_long(out, out - offset);
            }
        }
        in += 1 + head;
        out += len;
    }
    s->in = in;
    s->out = out;
    return ok;
}

static bool careful_literal(snappy *s, unsigned tag)
{
    size_t len = (tag >> 2) + 1;
    if (len > LITERAL_EXTRA) {
        size_t bytes = len - LITERAL_EXTRA;
        if ((size_t)(s->in_end - s->in) < bytes) {
            return false;
        }
        len = 1;
        for (size_t i = 0; i < bytes; i++) {
            len += (size_t)s->in[i] << (8 * i);
        }
        s->in += bytes;
    }
    if (len > (size_t)(s->in_end - s->in) || len > (size_t)(s->out_end - s->out)) {
        return false;
    }
    memcpy(s->out, s->in, len);
    s->in += len;
    s->out += len;
    return true;
}

static bool careful_copy(snappy *s, unsigned tag)
{
    uint8_t bytes[4] = {0};
    size_t len, offset;
    memcpy(bytes, s->in, FRZ_MIN((size_t)(s->in_end - s->in), sizeof bytes));
    size_t head = copy_head(tag, bytes, &len, &offset);
    if (head > (size_t)(s->in_end - s->in) || offset == 0 || offset > (size_t)(s->out - s->start) ||
        len > (size_t)(s->out_end - s->out)) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        s->out[i] = s->out[(ptrdiff_t)i - (ptrdiff_t)offset];
    }
    s->in += head;
    s->out += len;
    return true;
}

/* The length that the stream begins with. */
static bool read_length(snappy *s, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 35 && s->in < s->in_end; shift += 7) {
        uint8_t byte = *s->in++;
        *out |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return *out <= UINT32_MAX;
        }
    }
    return false;
}

frz_code codec_snappy_decompress(const void *src, size_t src_len, void *dst, size_t dst_len,
                                 frz_error *err)
{
    snappy s = {.in = src,
                .in_end = (const uint8_t *)src + src_len,
                .start = dst,
                .out = dst,
                .out_end = (uint8_t *)dst + dst_len};
    uint64_t said;
    if (!read_length(&s, &said)) {
        return codec_bad_stream(FRZ_CODEC_SNAPPY, dst_len, err);
    }
    if (said != dst_len) {
        return codec_wrong_size(FRZ_CODEC_SNAPPY, (size_t)said, dst_len, err);
    }
    bool ok = true;
    while (ok && s.in < s.in_end) {
        ok = fast_loop(&s);
        if (ok && s.in < s.in_end) {
            unsigned tag = *s.in++;
            ok = (tag & 3) == 0 ? careful_literal(&s, tag) : careful_copy(&s, tag);
        }
    }
    return ok && s.out == s.out_end ? FRZ_OK : codec_bad_stream(FRZ_CODEC_SNAPPY, dst_len, err);
}
