/*
 * Sets of keys: a hash table over entries, and in front of it a filter that fits a cache: words,
 * chosen by the upper part of the hash, in which every key has three bits. It tells nearly all rows
 * apart that are not in the set. Rows are hashed column by column.
 *
 * A key of one column of at most 64 bits is its hash: the function is one to one, so that such keys
 * are kept nowhere else. Other keys are kept as bytes and compared.
 */
#include "scan/scan_key_set.h"

#include "codec/codec.h"

#define PIECE 1024 /* rows that are hashed at a time */
#define LEAST_SLOTS 64
#define FILTER_PER_SLOT 8 /* bits; there are two slots and more for each entry */
#define SHORT_BYTES 32    /* are hashed here */
#define SPREAD 0x9e3779b97f4a7c15u
#define NULL_WORD 0x6a09e667f3bcc909u
#define NAN_BITS 0x7ff8000000000000u

typedef struct key_entry {
    uint64_t hash;
    int64_t sequence_number;
} key_entry;

/* Most hashes that meet in a slot are told apart here, without a look at the entry. */
typedef struct key_slot {
    uint32_t entry; /* its number + 1; 0: the slot is empty */
    uint32_t tag;   /* the upper half of the hash */
} key_slot;

struct frz_key_set {
    const frz_env *env;
    size_t column_count;
    bool exact;                   /* a key is its hash; null is apart */
    int64_t null_sequence_number; /* of an exact set; -1: null is not in it */
    key_entry *entries;
    size_t count, capacity;
    key_slot *slots; /* a power of two of them */
    size_t slot_count;
    uint64_t *filter;
    unsigned filter_shift; /* of a hash, to the word */
    uint64_t *places;      /* of entries in keys, unless exact */
    size_t place_capacity;
    frz_buf keys;
};

/* Keys of at most 64 bits are one word. */
static bool is_word(frz_key_class class)
{
    return class == FRZ_KEY_NULL || class == FRZ_KEY_BOOL || class == FRZ_KEY_INTEGER ||
           class == FRZ_KEY_FLOAT;
}

frz_code frz_key_set_new(const frz_env *env, const frz_type *const *types, size_t count,
                         frz_key_set **out, frz_error *err)
{
    frz_key_set *set = frz_alloc_zero(env, 1, sizeof *set);
    if (set == NULL) {
        return frz_fail_nomem(err, sizeof *set);
    }
    set->env = env;
    set->column_count = count;
    set->exact = count == 1 && is_word(frz_key_class_of(types[0]));
    set->null_sequence_number = -1;
    frz_buf_init(&set->keys, env, FRZ_BUF_NO_LIMIT);
    *out = set;
    return FRZ_OK;
}

void frz_key_set_free(frz_key_set *set)
{
    if (set != NULL) {
        frz_free(set->env, set->entries);
        frz_free(set->env, set->slots);
        frz_free(set->env, set->filter);
        frz_free(set->env, set->places);
        frz_buf_reset(&set->keys);
        frz_free(set->env, set);
    }
}

size_t frz_key_set_count(const frz_key_set *set)
{
    return set->count + (set->null_sequence_number >= 0);
}

size_t frz_key_set_bytes(const frz_key_set *set)
{
    return sizeof *set + set->capacity * sizeof *set->entries +
           set->slot_count * (sizeof *set->slots + FILTER_PER_SLOT / 8) +
           set->place_capacity * sizeof *set->places + set->keys.capacity;
}

size_t frz_key_set_bytes_of(int64_t rows, size_t column_count)
{
    /* entries and slots may be half empty; texts are taken for 24 bytes */
    return (size_t)rows * (2 * sizeof(key_entry) + 4 * (sizeof(key_slot) + 1) +
                           (column_count == 1 ? 0 : 8 + 24 * column_count));
}

/* ---- values of a row ---- */

static bool is_null(const frz_key_column *c, int64_t row)
{
    return c->class == FRZ_KEY_NULL ||
           (c->validity != NULL && !frz_bit_get(c->validity, c->validity_first + row));
}

static const uint8_t *value_of(const frz_key_column *c, int64_t row)
{
    size_t width = frz_type_width(c->type);
    return (const uint8_t *)c->array->buffers[1] + (size_t)(c->first + row) * width;
}

static frz_str bytes_of(const frz_key_column *c, int64_t row)
{
    if (c->class == FRZ_KEY_FIXED || c->class == FRZ_KEY_DECIMAL) {
        return (frz_str){(const char *)value_of(c, row), frz_type_width(c->type)};
    }
    const int32_t *offsets = (const int32_t *)c->array->buffers[1] + c->first + row;
    return (frz_str){(const char *)c->array->buffers[2] + offsets[0],
                     (size_t)(offsets[1] - offsets[0])};
}

static uint64_t float_word(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? NAN_BITS : bits;
}

/* ---- hashing, column by column ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ SPREAD) * (b ^ NULL_WORD);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Loads may overlap; nothing behind the bytes is read. */
static inline uint64_t hash_bytes(const uint8_t *p, size_t n)
{
    if (n > SHORT_BYTES) {
        return frz_xxh64(p, n);
    }
    if (n >= 16) {
        uint64_t front = mix(frz_load_le64(p), frz_load_le64(p + 8));
        return mix(frz_load_le64(p + n - 16) ^ front, frz_load_le64(p + n - 8) ^ n);
    }
    if (n >= 8) {
        return mix(frz_load_le64(p), frz_load_le64(p + n - 8) ^ n);
    }
    if (n >= 4) {
        return mix(frz_load_le32(p), frz_load_le32(p + n - 4) ^ (uint64_t)n << 32);
    }
    return n == 0 ? 0 : mix(p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16, n);
}

static void bytes_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    const int32_t *offsets = (const int32_t *)c->array->buffers[1] + c->first + from;
    const uint8_t *bytes = c->array->buffers[2];
    for (int64_t i = 0; i < n; i++) {
        words[i] = hash_bytes(bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i]));
    }
}

static void integer_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (frz_type_width(c->type) == sizeof(int32_t)) {
        const int32_t *values = (const int32_t *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = (uint64_t)(int64_t)values[i];
        }
    } else {
        memcpy(words, (const int64_t *)c->array->buffers[1] + c->first + from,
               (size_t)n * sizeof *words);
    }
}

static void float_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (c->type->id == FRZ_TYPE_FLOAT) {
        const float *values = (const float *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = float_word((double)values[i]);
        }
    } else {
        const double *values = (const double *)c->array->buffers[1] + c->first + from;
        for (int64_t i = 0; i < n; i++) {
            words[i] = float_word(values[i]);
        }
    }
}

/* A word for each row; of longer values a hash. */
static void words_of(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words)
{
    if (c->class == FRZ_KEY_INTEGER) {
        integer_words(c, from, n, words);
    } else if (c->class == FRZ_KEY_FLOAT) {
        float_words(c, from, n, words);
    } else if (c->class == FRZ_KEY_BOOL) {
        for (int64_t i = 0; i < n; i++) {
            words[i] = frz_bit_get(c->array->buffers[1], c->first + from + i);
        }
    } else if (c->class == FRZ_KEY_NULL) {
        for (int64_t i = 0; i < n; i++) {
            words[i] = NULL_WORD;
        }
        return;
    } else if (c->class == FRZ_KEY_BYTES) {
        bytes_words(c, from, n, words);
    } else {
        for (int64_t i = 0; i < n; i++) {
            words[i] = hash_bytes(value_of(c, from + i), frz_type_width(c->type));
        }
    }
    for (int64_t i = 0; c->validity != NULL && i < n; i++) {
        words[i] = is_null(c, from + i) ? NULL_WORD : words[i];
    }
}

/* One to one for a single column of words. */
static void hash_rows(const frz_key_column *columns, size_t count, int64_t from, int64_t n,
                      uint64_t *hashes)
{
    uint64_t words[PIECE];
    words_of(&columns[0], from, n, hashes);
    for (size_t k = 1; k < count; k++) {
        words_of(&columns[k], from, n, words);
        for (int64_t i = 0; i < n; i++) {
            uint64_t before = hashes[i] * SPREAD;
            hashes[i] = (before << 23 | before >> 41) ^ words[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        uint64_t hash = hashes[i] * SPREAD;
        hashes[i] = hash ^ hash >> 32;
    }
}

/* ---- keys as bytes: for each column 0 (null) or 1, then its word, or its length and bytes ---- */

static frz_code put_key(frz_buf *out, const frz_key_column *columns, size_t count, int64_t row,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t k = 0; k < count; k++) {
        const frz_key_column *c = &columns[k];
        uint64_t word;
        bool null = is_null(c, row);
        FRZ_TRY(frz_buf_append_byte(out, !null, err));
        if (null) {
            continue;
        }
        if (is_word(c->class)) {
            words_of(c, row, 1, &word);
            FRZ_TRY(frz_buf_append(out, &word, sizeof word, err));
        } else {
            frz_str bytes = bytes_of(c, row);
            word = bytes.len;
            FRZ_TRY(frz_buf_append(out, &word, sizeof word, err));
            FRZ_TRY(frz_buf_append(out, bytes.ptr, bytes.len, err));
        }
    }
out:
    return rc;
}

static bool same_key(const uint8_t *key, const frz_key_column *columns, size_t count, int64_t row)
{
    for (size_t k = 0; k < count; k++) {
        const frz_key_column *c = &columns[k];
        uint64_t word;
        bool null = is_null(c, row);
        if (*key++ == null) {
            return false;
        }
        if (null) {
            continue;
        }
        uint64_t kept = frz_load_le64(key);
        key += sizeof kept;
        if (is_word(c->class)) {
            words_of(c, row, 1, &word);
            if (kept != word) {
                return false;
            }
            continue;
        }
        frz_str bytes = bytes_of(c, row);
        if (bytes.len != kept || (kept > 0 && memcmp(key, bytes.ptr, kept) != 0)) {
            return false;
        }
        key += kept;
    }
    return true;
}

/* ---- the table ---- */

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* The slot of a key, or the empty one where it would be put. */
static size_t find_slot(const frz_key_set *set, uint64_t hash, const frz_key_column *columns,
                        int64_t row)
{
    size_t mask = set->slot_count - 1;
    size_t slot = (size_t)hash & mask;
    for (; set->slots[slot].entry != 0; slot = (slot + 1) & mask) {
        size_t i = set->slots[slot].entry - 1;
        if (set->slots[slot].tag == tag_of(hash) && set->entries[i].hash == hash &&
            (set->exact ||
             same_key(set->keys.data + set->places[i], columns, set->column_count, row))) {
            break;
        }
    }
    return slot;
}

/* The bits of a hash in the filter's word that its upper part chooses. */
static inline uint64_t filter_bits(uint64_t hash)
{
    const uint64_t one = 1;
    return one << (hash & 63) | one << (hash >> 6 & 63) | one << (hash >> 12 & 63);
}

static void mark(frz_key_set *set, uint64_t hash)
{
    set->filter[hash >> set->filter_shift] |= filter_bits(hash);
}

static void refill(frz_key_set *set)
{
    size_t mask = set->slot_count - 1;
    for (size_t i = 0; i < set->count; i++) {
        size_t slot = (size_t)set->entries[i].hash & mask;
        while (set->slots[slot].entry != 0) {
            slot = (slot + 1) & mask;
        }
        set->slots[slot] = (key_slot){(uint32_t)i + 1, tag_of(set->entries[i].hash)};
        mark(set, set->entries[i].hash);
    }
    if (set->null_sequence_number >= 0) {
        mark(set, (NULL_WORD * SPREAD) ^ (NULL_WORD * SPREAD) >> 32);
    }
}

/* Have at most every second slot in use with one entry more. */
static frz_code make_room(frz_key_set *set, frz_error *err)
{
    if (2 * (set->count + 1) <= set->slot_count) {
        return FRZ_OK;
    }
    size_t slot_count = FRZ_MAX(2 * set->slot_count, (size_t)LEAST_SLOTS);
    if (set->count >= UINT32_MAX - 1) {
        return frz_fail(err, FRZ_E_LIMIT, "a set of keys holds at most %u keys", UINT32_MAX - 1);
    }
    key_slot *slots = frz_alloc_zero(set->env, slot_count, sizeof *slots);
    uint64_t *filter = frz_alloc_zero(set->env, slot_count, FILTER_PER_SLOT / 8);
    if (slots == NULL || filter == NULL) {
        frz_free(set->env, slots);
        frz_free(set->env, filter);
        return frz_fail_nomem(err, slot_count * (sizeof *slots + FILTER_PER_SLOT / 8));
    }
    frz_free(set->env, set->slots);
    frz_free(set->env, set->filter);
    set->slots = slots;
    set->slot_count = slot_count;
    set->filter = filter;
    set->filter_shift = 64 - (unsigned)__builtin_ctzll(slot_count * FILTER_PER_SLOT / 64);
    refill(set);
    return FRZ_OK;
}

static frz_code add_row(frz_key_set *set, const frz_key_column *columns, int64_t row, uint64_t hash,
                        int64_t sequence_number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(make_room(set, err));
    if (set->exact && is_null(&columns[0], row)) {
        set->null_sequence_number = FRZ_MAX(set->null_sequence_number, sequence_number);
        mark(set, hash);
        return FRZ_OK;
    }
    size_t slot = find_slot(set, hash, columns, row);
    if (set->slots[slot].entry != 0) {
        key_entry *entry = &set->entries[set->slots[slot].entry - 1];
        entry->sequence_number = FRZ_MAX(entry->sequence_number, sequence_number);
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(set->env, &set->entries, &set->capacity, set->count, err));
    if (!set->exact) {
        FRZ_TRY(FRZ_GROW(set->env, &set->places, &set->place_capacity, set->count, err));
        set->places[set->count] = set->keys.len;
        FRZ_TRY(put_key(&set->keys, columns, set->column_count, row, err));
    }
    set->entries[set->count] = (key_entry){hash, sequence_number};
    set->slots[slot] = (key_slot){(uint32_t)++set->count, tag_of(hash)};
    mark(set, hash);
out:
    return rc;
}

static void fetch_slots(const frz_key_set *set, const uint64_t *hashes, int64_t n)
{
    for (int64_t i = 0; i < n && set->slot_count > 0; i++) {
        __builtin_prefetch(&set->slots[(size_t)hashes[i] & (set->slot_count - 1)]);
    }
}

frz_code frz_key_set_add(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                         int64_t sequence_number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t hashes[PIECE];
    for (int64_t from = 0; from < rows; from += PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)PIECE);
        hash_rows(columns, set->column_count, from, n, hashes);
        fetch_slots(set, hashes, n);
        for (int64_t i = 0; i < n; i++) {
            FRZ_TRY(add_row(set, columns, from + i, hashes[i], sequence_number, err));
        }
    }
out:
    return rc;
}

/* ---- looking up ---- */

static bool was_deleted(const frz_key_set *set, const frz_key_column *columns, int64_t row,
                        uint64_t hash, int64_t sequence_number)
{
    if (set->exact && is_null(&columns[0], row)) {
        return set->null_sequence_number > sequence_number;
    }
    size_t slot = find_slot(set, hash, columns, row);
    return set->slots[slot].entry != 0 &&
           set->entries[set->slots[slot].entry - 1].sequence_number > sequence_number;
}

static bool has_bits(const frz_key_set *set, uint64_t hash)
{
    uint64_t bits = filter_bits(hash);
    return (set->filter[hash >> set->filter_shift] & bits) == bits;
}

/* Of up to 64 hashes those whose first bit is in the filter. */
static uint64_t may_hold(const frz_key_set *set, const uint64_t *hashes, int64_t n)
{
    uint64_t found = 0;
    unsigned shift = set->filter_shift;
    const uint64_t *filter = set->filter;
    for (int64_t i = 0; i < n; i++) {
        found |= (filter[hashes[i] >> shift] >> (hashes[i] & 63) & 1) << i;
    }
    return found;
}

/* The rows of a piece that may be in the set. */
static size_t find_candidates(const frz_key_set *set, const uint64_t *hashes, int64_t n,
                              uint16_t *rows)
{
    size_t count = 0;
    for (int64_t i = 0; i < n; i += 64) {
        uint64_t found = may_hold(set, hashes + i, FRZ_MIN(n - i, (int64_t)64));
        for (; found != 0; found &= found - 1) {
            int64_t row = i + __builtin_ctzll(found);
            rows[count] = (uint16_t)row;
            count += has_bits(set, hashes[row]);
        }
    }
    return count;
}

/* The entry that the first slot of a hash likely has; SIZE_MAX: none. */
static inline size_t likely_entry(const frz_key_set *set, uint64_t hash)
{
    key_slot slot = set->slots[(size_t)hash & (set->slot_count - 1)];
    return slot.entry != 0 && slot.tag == tag_of(hash) ? slot.entry - 1 : SIZE_MAX;
}

/* The table is larger than what a cache keeps between batches: wait for all lines at once, first of
 * the slots, then of what these lead to. */
static void fetch_entries(const frz_key_set *set, const uint64_t *hashes, const uint16_t *rows,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&set->slots[(size_t)hashes[rows[i]] & (set->slot_count - 1)]);
    }
    for (size_t i = 0; i < count; i++) {
        size_t entry = likely_entry(set, hashes[rows[i]]);
        if (entry != SIZE_MAX) {
            __builtin_prefetch(&set->entries[entry]);
            __builtin_prefetch(set->exact ? &set->entries[entry] : (void *)&set->places[entry]);
        }
    }
    for (size_t i = 0; !set->exact && i < count; i++) {
        size_t entry = likely_entry(set, hashes[rows[i]]);
        if (entry != SIZE_MAX) {
            __builtin_prefetch(set->keys.data + set->places[entry]);
        }
    }
}

void frz_key_set_clear(const frz_key_set *set, const frz_key_column *columns, int64_t rows,
                       int64_t sequence_number, uint8_t *bits)
{
    uint64_t hashes[PIECE];
    uint16_t candidates[PIECE];
    if (frz_key_set_count(set) == 0) {
        return;
    }
    for (int64_t from = 0; from < rows; from += PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)PIECE);
        hash_rows(columns, set->column_count, from, n, hashes);
        size_t count = find_candidates(set, hashes, n, candidates);
        fetch_entries(set, hashes, candidates, count);
        for (size_t i = 0; i < count; i++) {
            int64_t row = from + candidates[i];
            if (frz_bit_get(bits, row) &&
                was_deleted(set, columns, row, hashes[row - from], sequence_number)) {
                frz_bit_clear(bits, row);
            }
        }
    }
}

/* ---- numbered keys ---- */

static bool has_null(const frz_key_set *set, const frz_key_column *columns, int64_t row)
{
    bool null = false;
    for (size_t k = 0; k < set->column_count && !null; k++) {
        null = is_null(&columns[k], row);
    }
    return null;
}

frz_code frz_key_set_number(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                            int64_t first, int64_t *twice, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t hashes[PIECE];
    *twice = -1;
    for (int64_t from = 0; from < rows; from += PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)PIECE);
        hash_rows(columns, set->column_count, from, n, hashes);
        fetch_slots(set, hashes, n);
        for (int64_t i = from; i < from + n; i++) {
            size_t before = set->count;
            if (has_null(set, columns, i)) {
                continue;
            }
            FRZ_TRY(add_row(set, columns, i, hashes[i - from], first + i, err));
            if (set->count == before) {
                size_t slot = find_slot(set, hashes[i - from], columns, i);
                set->entries[set->slots[slot].entry - 1].sequence_number = FRZ_KEY_TWICE;
                *twice = *twice < 0 ? i : *twice;
            }
        }
    }
out:
    return rc;
}

void frz_key_set_find(const frz_key_set *set, const frz_key_column *columns, int64_t rows,
                      int64_t *numbers)
{
    uint64_t hashes[PIECE];
    uint16_t candidates[PIECE];
    for (int64_t i = 0; i < rows; i++) {
        numbers[i] = FRZ_KEY_ABSENT;
    }
    for (int64_t from = 0; from < rows && set->count > 0; from += PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)PIECE);
        hash_rows(columns, set->column_count, from, n, hashes);
        size_t count = find_candidates(set, hashes, n, candidates);
        fetch_entries(set, hashes, candidates, count);
        for (size_t i = 0; i < count; i++) {
            int64_t row = from + candidates[i];
            size_t slot = find_slot(set, hashes[row - from], columns, row);
            if (set->slots[slot].entry != 0 && !has_null(set, columns, row)) {
                numbers[row] = set->entries[set->slots[slot].entry - 1].sequence_number;
            }
        }
    }
}

void frz_key_hashes(const frz_key_column *columns, size_t count, int64_t rows, uint64_t *hashes)
{
    for (int64_t from = 0; from < rows; from += PIECE) {
        hash_rows(columns, count, from, FRZ_MIN(rows - from, (int64_t)PIECE), hashes + from);
    }
}
