/*
 * The distinct values of one column chunk: a hash table from values to entry numbers over the
 * dictionary page as it will be written. Values are compared by their bytes, so that -0.0 and 0.0
 * and NaN of different payloads stay apart.
 *
 * A slot has the hash beside the entry's number: nearly every value is told from the others by it,
 * and the table grows without a look at them.
 */
#include "format/parquet/parquet_write.h"

#define SLOTS_FIRST 64
#define SLOTS_SMALL 16384
/* A longer walk means that values were made to collide: then the column has no dictionary. */
#define PROBES_MAX 128

struct parquet_dictionary_slot {
    uint32_t hash;
    uint32_t entry; /* its number + 1; 0: none */
};

void parquet_dictionary_out_init(parquet_dictionary_out *dictionary, const frz_env *env,
                                 size_t width)
{
    *dictionary = (parquet_dictionary_out){.env = env, .width = width};
    frz_buf_init(&dictionary->values, env, INT32_MAX);
}

void parquet_dictionary_out_reset(parquet_dictionary_out *dictionary)
{
    frz_buf_reset(&dictionary->values);
    frz_free(dictionary->env, dictionary->starts);
    frz_free(dictionary->env, dictionary->slots);
    dictionary->starts = NULL;
    dictionary->slots = NULL;
    dictionary->starts_capacity = 0;
    dictionary->slot_count = 0;
    dictionary->count = 0;
}

/* ---- hashes: of the bytes in the file's form, a length included where there is one ---- */

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define ODD_1 UINT64_C(0x9e3779b97f4a7c15)
#define ODD_2 UINT64_C(0xd6e8feb86659fd93)
#define ODD_3 UINT64_C(0xa0761d6478bd642f)

/* Loads that overlap take the place of a look at every byte: 8 to 24 bytes are three words. */
static inline uint64_t hash_bytes(const uint8_t *p, size_t size)
{
    uint64_t h = size * ODD_3;
    for (; size > 24; size -= 16, p += 16) {
        h = fold(h ^ frz_load_le64(p) ^ ODD_1, frz_load_le64(p + 8) ^ ODD_2);
    }
    if (size < 4) { /* of a short type of fixed length */
        uint64_t bytes = 0;
        memcpy(&bytes, p, size);
        return fold(h ^ bytes, ODD_1);
    }
    if (size < 8) {
        return fold(h ^ frz_load_le32(p) ^ (uint64_t)frz_load_le32(p + size - 4) << 32, ODD_1);
    }
    uint64_t middle = frz_load_le64(p + FRZ_MIN(size - 8, (size_t)8));
    return fold(frz_load_le64(p) ^ ODD_1, frz_load_le64(p + size - 8) ^ ODD_2) ^
           fold(middle ^ h, ODD_3);
}

static inline uint32_t hash_value(size_t width, const uint8_t *p, size_t size)
{
    uint64_t h = width == 4   ? frz_load_le32(p) * ODD_1
                 : width == 8 ? fold(frz_load_le64(p) ^ ODD_2, ODD_1)
                              : hash_bytes(p, size);
    return (uint32_t)(h ^ h >> 32);
}

/* ---- values ---- */

/* Bytes of the value at p, its length included where it has one. */
static inline size_t value_size(size_t width, const uint8_t *p)
{
    return width != 0 ? width : 4 + (size_t)frz_load_le32(p);
}

static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    for (; size > 24; size -= 8, a += 8, b += 8) {
        if (frz_load_le64(a) != frz_load_le64(b)) {
            return false;
        }
    }
    if (size < 8) {
        size_t i = 0;
        while (i < size && a[i] == b[i]) {
            i++;
        }
        return i == size;
    }
    size_t middle = FRZ_MIN(size - 8, (size_t)8);
    return ((frz_load_le64(a) ^ frz_load_le64(b)) |
            (frz_load_le64(a + middle) ^ frz_load_le64(b + middle)) |
            (frz_load_le64(a + size - 8) ^ frz_load_le64(b + size - 8))) == 0;
}

static inline bool is_entry(const parquet_dictionary_out *dictionary, size_t width, uint32_t entry,
                            const uint8_t *value, size_t size)
{
    const uint8_t *values = dictionary->values.data;
    if (width == 4) {
        return frz_load_le32(values + (size_t)entry * 4) == frz_load_le32(value);
    }
    if (width == 8) {
        return frz_load_le64(values + (size_t)entry * 8) == frz_load_le64(value);
    }
    const uint8_t *known = values + (width != 0 ? entry * width : dictionary->starts[entry]);
    return value_size(width, known) == size && same_bytes(known, value, size);
}

/* ---- the table ---- */

/* After one more entry at most half full, and a quarter as long as the table is small: then most
 * values are found where they are looked for first. */
static bool has_room(const parquet_dictionary_out *dictionary)
{
    size_t share = dictionary->slot_count <= SLOTS_SMALL ? 4 : 2;
    return dictionary->count * share < dictionary->slot_count;
}

static frz_code make_room(parquet_dictionary_out *dictionary, frz_error *err)
{
    if (has_room(dictionary)) {
        return FRZ_OK;
    }
    size_t wanted = dictionary->slot_count == 0 ? SLOTS_FIRST : dictionary->slot_count * 2;
    parquet_dictionary_slot *slots = frz_alloc_zero(dictionary->env, wanted, sizeof *slots);
    if (slots == NULL) {
        return frz_fail_nomem(err, wanted * sizeof *slots);
    }
    for (size_t i = 0; i < dictionary->slot_count; i++) {
        parquet_dictionary_slot old = dictionary->slots[i];
        size_t at = old.hash & (wanted - 1);
        while (old.entry != 0 && slots[at].entry != 0) {
            at = (at + 1) & (wanted - 1);
        }
        if (old.entry != 0) {
            slots[at] = old;
        }
    }
    frz_free(dictionary->env, dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = wanted;
    return FRZ_OK;
}

static frz_code add_entry(parquet_dictionary_out *dictionary, parquet_dictionary_slot *slot,
                          uint32_t hash, const uint8_t *value, size_t size, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (dictionary->width == 0) {
        FRZ_TRY(FRZ_GROW(dictionary->env, &dictionary->starts, &dictionary->starts_capacity,
                         dictionary->count, err));
        dictionary->starts[dictionary->count] = (uint32_t)dictionary->values.len;
    }
    FRZ_TRY(frz_buf_append(&dictionary->values, value, size, err));
    *slot = (parquet_dictionary_slot){hash, (uint32_t)++dictionary->count};
out:
    return rc;
}

/* The slot of a value, or of the hole where it would stand; NULL after too long a walk. */
static inline parquet_dictionary_slot *find_slot(const parquet_dictionary_out *dictionary,
                                                 size_t width, uint32_t hash, const uint8_t *value,
                                                 size_t size)
{
    size_t mask = dictionary->slot_count - 1;
    for (size_t probe = 0; probe < PROBES_MAX; probe++) {
        parquet_dictionary_slot *slot = &dictionary->slots[(hash + probe) & mask];
        if (slot->entry == 0 ||
            (slot->hash == hash && is_entry(dictionary, width, slot->entry - 1, value, size))) {
            return slot;
        }
    }
    return NULL;
}

/* What a new value may take. */
typedef struct room {
    size_t count, bytes; /* of the dictionary, at most */
} room;

static inline frz_code add_all(parquet_dictionary_out *dictionary, size_t width,
                               const uint8_t *values, size_t count, room most, uint32_t *indices,
                               bool *fits, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *p = values;
    for (size_t i = 0; i < count; i++) {
        size_t size = value_size(width, p);
        uint32_t hash = hash_value(width, p, size);
        parquet_dictionary_slot *slot = find_slot(dictionary, width, hash, p, size);
        if (slot == NULL) {
            *fits = false;
            break;
        }
        indices[i] = slot->entry - 1;
        if (slot->entry == 0) {
            if (dictionary->count >= most.count || size > most.bytes - dictionary->values.len) {
                *fits = false;
                break;
            }
            indices[i] = (uint32_t)dictionary->count;
            FRZ_TRY(add_entry(dictionary, slot, hash, p, size, err));
            FRZ_TRY(make_room(dictionary, err));
        }
        p += size;
    }
out:
    return rc;
}

frz_code parquet_dictionary_out_add(parquet_dictionary_out *dictionary, const uint8_t *values,
                                    size_t count, size_t max_new, size_t max_bytes,
                                    uint32_t *indices, bool *fits, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t old_count = dictionary->count;
    size_t old_bytes = dictionary->values.len;
    const room most = {old_count + max_new, max_bytes};
    *fits = true;
    FRZ_TRY(make_room(dictionary, err));
    switch (dictionary->width) { /* of which the compiler knows the loads */
    case 0:
        FRZ_TRY(add_all(dictionary, 0, values, count, most, indices, fits, err));
        break;
    case 4:
        FRZ_TRY(add_all(dictionary, 4, values, count, most, indices, fits, err));
        break;
    case 8:
        FRZ_TRY(add_all(dictionary, 8, values, count, most, indices, fits, err));
        break;
    default:
        FRZ_TRY(add_all(dictionary, dictionary->width, values, count, most, indices, fits, err));
    }
    if (!*fits) {
        dictionary->count = old_count;
        dictionary->values.len = old_bytes;
    }
out:
    return rc;
}

frz_str parquet_dictionary_out_entry(const parquet_dictionary_out *dictionary, size_t i)
{
    const size_t width = dictionary->width;
    const char *values = (const char *)dictionary->values.data;
    if (width != 0) {
        return (frz_str){values + i * width, width};
    }
    const char *start = values + dictionary->starts[i];
    return (frz_str){start + 4, frz_load_le32(start)};
}
