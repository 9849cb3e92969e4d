/*
 * Mumbling bitmaps: a header, one descriptor byte per container of 256 positions (packed as
 * patched frames of reference), then the containers: sparse ones list their positions, dense ones
 * are 256 bits. spec: Mumbling bitmap, version 1
 */
#include "meta/meta_mumbling.h"

#define VERSION 1
#define HEADER_SIZE 6
#define MAX_CONTAINERS (FRZ_MUMBLING_MAX_POSITIONS / FRZ_MUMBLING_CONTAINER)
#define CONTAINER_WORDS (FRZ_MUMBLING_CONTAINER / 64)
#define CONTAINER_BYTES (FRZ_MUMBLING_CONTAINER / 8)
#define DENSE 0x20      /* descriptor of a dense container; its low five bits are ignored */
#define KIND_MASK 0xe0  /* the bits of a descriptor that tell the kind */
#define SPARSE_LIMIT 32 /* containers with fewer positions are sparse */
#define CHUNK 256       /* descriptors that are packed together */

/* ---- reading ---- */

static frz_code corrupt(const frz_cursor *c, frz_error *err, const char *rule)
{
    return frz_fail_at(err, FRZ_E_CORRUPT, c->at, "broken bitmap of positions: %s", rule);
}

/* Value i of an array of width bits each (0 to 8), packed from the most significant bit on. */
static unsigned unpack(const uint8_t *packed, size_t i, unsigned width)
{
    size_t bit = i * width;
    unsigned shift = (unsigned)(bit & 7), pair;
    if (width == 0) {
        return 0;
    }
    pair = (unsigned)packed[bit >> 3] << 8;
    pair |= shift + width > 8 ? packed[(bit >> 3) + 1] : 0;
    return pair >> (16 - shift - width) & ((1u << width) - 1);
}

static size_t packed_size(size_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

/* Put the high bits of some of a chunk's descriptors into their places. */
static frz_code patch(frz_cursor *c, unsigned *values, size_t count, unsigned low_width,
                      unsigned high_width, size_t exceptions, frz_error *err)
{
    const uint8_t *places = frz_cursor_take(c, exceptions);
    const uint8_t *high =
        places == NULL ? NULL : frz_cursor_take(c, packed_size(exceptions, high_width));
    if (high == NULL) {
        return corrupt(c, err, "the exceptions of descriptors are cut off");
    }
    for (size_t i = 0; i < exceptions; i++) {
        if (places[i] >= count || (i > 0 && places[i] <= places[i - 1])) {
            return corrupt(c, err, "places of exceptions do not ascend inside their chunk");
        }
        values[places[i]] |= unpack(high, i, high_width) << low_width;
    }
    return FRZ_OK;
}

static frz_code read_chunk(frz_cursor *c, uint8_t *out, size_t count, frz_error *err)
{
    unsigned values[CHUNK];
    const uint8_t *head = frz_cursor_take(c, 3);
    if (head == NULL) {
        return corrupt(c, err, "descriptors are cut off");
    }
    unsigned low_width = head[0] & 15, high_width = head[0] >> 4;
    if (low_width > 8 || low_width + high_width > 8) {
        return corrupt(c, err, "descriptors of more than 8 bits");
    }
    if (head[1] > count) {
        return corrupt(c, err, "more exceptions than descriptors");
    }
    const uint8_t *low = frz_cursor_take(c, packed_size(count, low_width));
    if (low == NULL) {
        return corrupt(c, err, "descriptors are cut off");
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = unpack(low, i, low_width);
    }
    frz_code rc = patch(c, values, count, low_width, high_width, head[1], err);
    for (size_t i = 0; rc == FRZ_OK && i < count; i++) {
        if (values[i] + head[2] > UINT8_MAX) {
            return corrupt(c, err, "a descriptor above 255");
        }
        out[i] = (uint8_t)(values[i] + head[2]);
    }
    return rc;
}

static frz_code read_descriptors(frz_cursor *c, uint8_t *out, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < count; i += CHUNK) {
        rc = read_chunk(c, out + i, FRZ_MIN(count - i, CHUNK), err);
    }
    return rc;
}

/* What the descriptors promise must be exactly what is left. Gives the containers up to the last
 * one that has bytes. */
static frz_code check_sizes(const frz_cursor *c, const uint8_t *descriptors, size_t count,
                            uint32_t *used, frz_error *err)
{
    size_t size = 0;
    *used = 0;
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i] >= 2 * DENSE) {
            return corrupt(c, err, "a container of a reserved kind");
        }
        size += descriptors[i] >= DENSE ? CONTAINER_BYTES : descriptors[i];
        *used = descriptors[i] > 0 ? (uint32_t)i + 1 : *used;
    }
    if (size != c->len - c->at) {
        return frz_fail_at(err, FRZ_E_CORRUPT, c->at,
                           "broken bitmap of positions: containers of %zu bytes, but %zu are left",
                           size, c->len - c->at);
    }
    return FRZ_OK;
}

static frz_code read_sparse(frz_cursor *c, size_t count, uint64_t *words, frz_error *err)
{
    const uint8_t *places = frz_cursor_take(c, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && places[i] <= places[i - 1]) {
            return corrupt(c, err, "positions of a container do not ascend");
        }
        words[places[i] >> 6] |= (uint64_t)1 << (places[i] & 63);
    }
    return FRZ_OK;
}

/* The order of bits in the bytes of a dense container is the opposite of ours. */
static uint64_t reverse_bits_of_bytes(uint64_t w)
{
    w = (w >> 4 & 0x0f0f0f0f0f0f0f0f) | (w & 0x0f0f0f0f0f0f0f0f) << 4;
    w = (w >> 2 & 0x3333333333333333) | (w & 0x3333333333333333) << 2;
    return (w >> 1 & 0x5555555555555555) | (w & 0x5555555555555555) << 1;
}

static void read_dense(frz_cursor *c, uint64_t *words)
{
    const uint8_t *bytes = frz_cursor_take(c, CONTAINER_BYTES);
    for (size_t i = 0; i < CONTAINER_WORDS; i++) {
        words[i] = reverse_bits_of_bytes(frz_load_le64(bytes + 8 * i));
    }
}

static uint32_t count_bits(const uint64_t *words, size_t count)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bits += (uint32_t)__builtin_popcountll(words[i]);
    }
    return bits;
}

static frz_code read_containers(frz_cursor *c, const uint8_t *descriptors, frz_mumbling *set,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint32_t promised = set->cardinality;
    for (uint32_t i = 0; rc == FRZ_OK && i < set->container_count; i++) {
        uint64_t *words = set->words + (size_t)i * CONTAINER_WORDS;
        if (descriptors[i] >= DENSE) {
            read_dense(c, words);
        } else {
            rc = read_sparse(c, descriptors[i], words, err);
        }
    }
    if (rc != FRZ_OK) {
        return rc;
    }
    uint32_t found = count_bits(set->words, (size_t)set->container_count * CONTAINER_WORDS);
    if (found != promised) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "broken bitmap of positions: cardinality %u, but %u positions are set",
                        promised, found);
    }
    return FRZ_OK;
}

/* Number of containers and, in the set, the cardinality. */
static frz_code read_header(frz_cursor *c, frz_mumbling *set, size_t *count, frz_error *err)
{
    const uint8_t *head = frz_cursor_take(c, HEADER_SIZE);
    if (head == NULL) {
        return corrupt(c, err, "shorter than its header");
    }
    if (head[0] != VERSION) {
        return frz_fail_at(err, FRZ_E_CORRUPT, 0,
                           "broken bitmap of positions: version %u, expected %d", head[0], VERSION);
    }
    set->cardinality = frz_load_le32(head) >> 8;
    *count = frz_load_le16(head + 4);
    if (set->cardinality > FRZ_MUMBLING_MAX_POSITIONS) {
        return corrupt(c, err, "cardinality above 2097152");
    }
    if (*count > MAX_CONTAINERS) {
        return corrupt(c, err, "more than 8192 containers");
    }
    return FRZ_OK;
}

/* Containers of dense ones without a bit stay; positions are what counts. */
static void drop_empty_end(frz_mumbling *set)
{
    while (set->container_count > 0 &&
           count_bits(set->words + (size_t)(set->container_count - 1) * CONTAINER_WORDS,
                      CONTAINER_WORDS) == 0) {
        set->container_count--;
    }
}

frz_code frz_mumbling_decode(frz_mumbling *set, frz_str bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t descriptors[MAX_CONTAINERS];
    frz_cursor c = {(const uint8_t *)bytes.ptr, bytes.len, 0};
    frz_mumbling made = {.env = set->env};
    size_t count = 0;
    FRZ_TRY(read_header(&c, &made, &count, err));
    FRZ_TRY(read_descriptors(&c, descriptors, count, err));
    FRZ_TRY(check_sizes(&c, descriptors, count, &made.container_count, err));
    if (made.container_count > 0) {
        made.words = frz_alloc_zero(set->env, made.container_count, CONTAINER_BYTES);
        if (made.words == NULL) {
            rc = frz_fail_nomem(err, (size_t)made.container_count * CONTAINER_BYTES);
            goto out;
        }
    }
    FRZ_TRY(read_containers(&c, descriptors, &made, err));
    drop_empty_end(&made);
    frz_mumbling_reset(set);
    *set = made;
    made.words = NULL;
out:
    frz_free(made.env, made.words);
    return rc;
}

/* ---- writing ---- */

/* Append values of width bits (1 to 8) each, from the most significant bit on, padded with zeros.
 */
static frz_code pack(frz_buf *out, const uint8_t *values, size_t count, unsigned width,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        bits = bits << width | (values[i] & ((1u << width) - 1));
        held += width;
        if (held >= 8) {
            held -= 8;
            FRZ_TRY(frz_buf_append_byte(out, (uint8_t)(bits >> held), err));
        }
    }
    if (held > 0) {
        FRZ_TRY(frz_buf_append_byte(out, (uint8_t)(bits << (8 - held)), err));
    }
out:
    return rc;
}

static unsigned bit_length(unsigned value)
{
    return value == 0 ? 0 : 32 - (unsigned)__builtin_clz(value);
}

/* How one chunk of descriptors is packed. */
typedef struct packing {
    uint8_t subtracted;
    uint8_t low[CHUNK];    /* value - subtracted, of which the low bits are packed */
    uint8_t places[CHUNK]; /* of the exceptions */
    uint8_t high[CHUNK];   /* high bits of the exceptions */
    size_t exceptions;
    unsigned low_width, high_width;
} packing;

/* The cheapest width of the low bits for values whose bit lengths are counted. */
static unsigned cheapest_width(const size_t lengths[9], unsigned longest)
{
    unsigned best = 0;
    size_t best_cost = SIZE_MAX;
    for (unsigned width = 0; width <= longest; width++) {
        size_t above = 0;
        for (unsigned w = width + 1; w <= longest; w++) {
            above += lengths[w];
        }
        size_t cost = 32 * width + above + packed_size(above, longest - width);
        if (cost < best_cost) {
            best_cost = cost;
            best = width;
        }
    }
    return best;
}

static void plan_chunk(const uint8_t *values, size_t count, packing *p)
{
    size_t lengths[9] = {0};
    unsigned longest = 0;
    *p = (packing){.subtracted = UINT8_MAX};
    for (size_t i = 0; i < count; i++) {
        p->subtracted = FRZ_MIN(p->subtracted, values[i]);
    }
    for (size_t i = 0; i < count; i++) {
        unsigned length = bit_length((unsigned)(values[i] - p->subtracted));
        lengths[length]++;
        longest = FRZ_MAX(longest, length);
    }
    p->low_width = cheapest_width(lengths, longest);
    p->subtracted = p->low_width == 8 ? 0 : p->subtracted; /* whole bytes are stored as they are */
    for (size_t i = 0; i < count; i++) {
        p->low[i] = (uint8_t)(values[i] - p->subtracted);
        if (bit_length(p->low[i]) > p->low_width) {
            p->places[p->exceptions] = (uint8_t)i;
            p->high[p->exceptions++] = (uint8_t)(p->low[i] >> p->low_width);
        }
    }
    p->high_width = p->exceptions == 0 ? 0 : longest - p->low_width;
}

static frz_code write_chunk(frz_buf *out, const uint8_t *values, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    packing p;
    plan_chunk(values, count, &p);
    const uint8_t head[] = {(uint8_t)(p.low_width | p.high_width << 4), (uint8_t)p.exceptions,
                            p.subtracted};
    FRZ_TRY(frz_buf_append(out, head, sizeof head, err));
    if (p.low_width > 0) {
        FRZ_TRY(pack(out, p.low, count, p.low_width, err));
    }
    FRZ_TRY(frz_buf_append(out, p.places, p.exceptions, err));
    FRZ_TRY(pack(out, p.high, p.exceptions, p.high_width, err));
out:
    return rc;
}

static frz_code write_container(frz_buf *out, const uint64_t *words, uint8_t descriptor,
                                frz_error *err)
{
    uint8_t bytes[CONTAINER_BYTES];
    size_t len = 0;
    for (size_t i = 0; i < CONTAINER_WORDS; i++) {
        if (descriptor == DENSE) {
            frz_store_le64(bytes + 8 * i, reverse_bits_of_bytes(words[i]));
            len += 8;
            continue;
        }
        for (uint64_t left = words[i]; left != 0; left &= left - 1) {
            bytes[len++] = (uint8_t)(64 * i + (size_t)__builtin_ctzll(left));
        }
    }
    return frz_buf_append(out, bytes, len, err);
}

frz_code frz_mumbling_encode(const frz_mumbling *set, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t descriptors[MAX_CONTAINERS];
    uint8_t header[HEADER_SIZE] = {VERSION};
    const uint64_t *words = set->words;
    size_t count = set->container_count;
    frz_store_le32(header, set->cardinality << 8 | VERSION);
    header[4] = (uint8_t)count;
    header[5] = (uint8_t)(count >> 8);
    FRZ_TRY(frz_buf_append(out, header, sizeof header, err));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = count_bits(words + i * CONTAINER_WORDS, CONTAINER_WORDS);
        descriptors[i] = (uint8_t)(bits < SPARSE_LIMIT ? bits : DENSE);
    }
    for (size_t i = 0; i < count; i += CHUNK) {
        FRZ_TRY(write_chunk(out, descriptors + i, FRZ_MIN(count - i, CHUNK), err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(write_container(out, words + i * CONTAINER_WORDS, descriptors[i], err));
    }
out:
    return rc;
}

/* ---- the set ---- */

void frz_mumbling_init(frz_mumbling *set, const frz_env *env)
{
    *set = (frz_mumbling){.env = env};
}

void frz_mumbling_reset(frz_mumbling *set)
{
    frz_free(set->env, set->words);
    *set = (frz_mumbling){.env = set->env};
}

static size_t word_count(const frz_mumbling *set)
{
    return (size_t)set->container_count * CONTAINER_WORDS;
}

int64_t frz_mumbling_next(const frz_mumbling *set, uint64_t from)
{
    if (from >= FRZ_MUMBLING_MAX_POSITIONS) {
        return -1;
    }
    uint64_t mask = UINT64_MAX << (from & 63);
    for (size_t i = (size_t)(from >> 6); i < word_count(set); i++, mask = UINT64_MAX) {
        if ((set->words[i] & mask) != 0) {
            return (int64_t)(64 * i) + __builtin_ctzll(set->words[i] & mask);
        }
    }
    return -1;
}

int64_t frz_mumbling_last(const frz_mumbling *set)
{
    for (size_t i = word_count(set); i-- > 0;) {
        if (set->words[i] != 0) {
            return (int64_t)(64 * i) + 63 - __builtin_clzll(set->words[i]);
        }
    }
    return -1;
}

bool frz_mumbling_is_subset(const frz_mumbling *part, const frz_mumbling *of)
{
    if (part->container_count > of->container_count) {
        return false; /* its last container has a position */
    }
    for (size_t i = 0; i < word_count(part); i++) {
        if ((part->words[i] & ~of->words[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool frz_mumbling_is_disjoint(const frz_mumbling *a, const frz_mumbling *b)
{
    size_t count = FRZ_MIN(word_count(a), word_count(b));
    for (size_t i = 0; i < count; i++) {
        if ((a->words[i] & b->words[i]) != 0) {
            return false;
        }
    }
    return true;
}

static frz_code grow(frz_mumbling *set, uint32_t container_count, frz_error *err)
{
    if (container_count <= set->container_count) {
        return FRZ_OK;
    }
    size_t old = word_count(set), size = (size_t)container_count * CONTAINER_BYTES;
    uint64_t *words = frz_realloc(set->env, set->words, size);
    if (words == NULL) {
        return frz_fail_nomem(err, size);
    }
    memset(words + old, 0, size - old * sizeof *words);
    set->words = words;
    set->container_count = container_count;
    return FRZ_OK;
}

frz_code frz_mumbling_add(frz_mumbling *set, uint64_t position, frz_error *err)
{
    if (position >= FRZ_MUMBLING_MAX_POSITIONS) {
        return frz_fail(err, FRZ_E_LIMIT,
                        "position %llu of a manifest: a bitmap of positions ends at %u",
                        (unsigned long long)position, FRZ_MUMBLING_MAX_POSITIONS - 1);
    }
    frz_code rc = grow(set, (uint32_t)(position / FRZ_MUMBLING_CONTAINER) + 1, err);
    if (rc == FRZ_OK && !frz_mumbling_has(set, position)) {
        set->words[position >> 6] |= (uint64_t)1 << (position & 63);
        set->cardinality++;
    }
    return rc;
}

frz_code frz_mumbling_add_all(frz_mumbling *set, const frz_mumbling *more, frz_error *err)
{
    frz_code rc = grow(set, more->container_count, err);
    for (size_t i = 0; rc == FRZ_OK && i < word_count(more); i++) {
        set->words[i] |= more->words[i];
    }
    if (rc == FRZ_OK) {
        set->cardinality = count_bits(set->words, word_count(set));
    }
    return rc;
}
