/*
 * The distinct values of one column chunk: a hash table from values to entry numbers over the
 * dictionary page as it will be written. Values are compared by their bytes, so that -0.0 and 0.0
 * and NaN of different payloads stay apart.
 */
#include "format/parquet/parquet_write.h"

#define SLOTS_FIRST 64
/* A longer walk means that values were made to collide: then the column has no dictionary. */
#define PROBES_MAX 128

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

static inline uint64_t mix(uint64_t h)
{
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static inline uint64_t hash_bytes(const uint8_t *bytes, size_t len)
{
    uint64_t h = len;
    for (; len >= 8; len -= 8, bytes += 8) {
        h = mix(h ^ frz_load_le64(bytes));
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < len; i++) {
        rest |= (uint64_t)bytes[i] << (8 * i);
    }
    return mix(mix(h ^ rest));
}

/* Bytes of the value at p, its length included where it has one. */
static inline size_t value_size(size_t width, const uint8_t *p)
{
    return width != 0 ? width : 4 + (size_t)frz_load_le32(p);
}

static const uint8_t *entry_at(const parquet_dictionary_out *dictionary, size_t i)
{
    size_t start = dictionary->width != 0 ? i * dictionary->width : dictionary->starts[i];
    return dictionary->values.data + start;
}

static void insert_slot(parquet_dictionary_out *dictionary, size_t entry)
{
    const uint8_t *value = entry_at(dictionary, entry);
    size_t mask = dictionary->slot_count - 1;
    size_t slot = (size_t)hash_bytes(value, value_size(dictionary->width, value)) & mask;
    while (dictionary->slots[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    dictionary->slots[slot] = (uint32_t)entry + 1;
}

/* Keep the table at most half full. */
static frz_code make_room(parquet_dictionary_out *dictionary, frz_error *err)
{
    if (dictionary->count * 2 < dictionary->slot_count) {
        return FRZ_OK;
    }
    size_t wanted = dictionary->slot_count == 0 ? SLOTS_FIRST : dictionary->slot_count * 2;
    uint32_t *slots = frz_alloc_zero(dictionary->env, wanted, sizeof *slots);
    if (slots == NULL) {
        return frz_fail_nomem(err, wanted * sizeof *slots);
    }
    frz_free(dictionary->env, dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = wanted;
    for (size_t i = 0; i < dictionary->count; i++) {
        insert_slot(dictionary, i);
    }
    return FRZ_OK;
}

static inline bool same_bytes(const uint8_t *a, const uint8_t *b, size_t size)
{
    for (; size >= 8; size -= 8, a += 8, b += 8) {
        if (frz_load_le64(a) != frz_load_le64(b)) {
            return false;
        }
    }
    if (size >= 4) {
        if (frz_load_le32(a) != frz_load_le32(b)) {
            return false;
        }
        size -= 4;
        a += 4;
        b += 4;
    }
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/* The slot of a value, or of the hole where it would stand; false after too long a walk. */
static inline bool find_slot(const parquet_dictionary_out *dictionary, const uint8_t *value,
                             size_t size, size_t *out)
{
    size_t mask = dictionary->slot_count - 1;
    size_t slot = (size_t)hash_bytes(value, size) & mask;
    for (size_t probe = 0; probe < PROBES_MAX; probe++, slot = (slot + 1) & mask) {
        uint32_t entry = dictionary->slots[slot];
        if (entry == 0) {
            *out = slot;
            return true;
        }
        const uint8_t *known = entry_at(dictionary, entry - 1);
        if (value_size(dictionary->width, known) == size && same_bytes(known, value, size)) {
            *out = slot;
            return true;
        }
    }
    return false;
}

static frz_code add_entry(parquet_dictionary_out *dictionary, size_t slot, const uint8_t *value,
                          size_t size, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (dictionary->width == 0) {
        FRZ_TRY(FRZ_GROW(dictionary->env, &dictionary->starts, &dictionary->starts_capacity,
                         dictionary->count, err));
        dictionary->starts[dictionary->count] = (uint32_t)dictionary->values.len;
    }
    FRZ_TRY(frz_buf_append(&dictionary->values, value, size, err));
    dictionary->slots[slot] = (uint32_t)++dictionary->count;
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
    const uint8_t *p = values;
    *fits = true;
    for (size_t i = 0; i < count && *fits; i++) {
        size_t size = value_size(dictionary->width, p);
        size_t slot;
        FRZ_TRY(make_room(dictionary, err));
        *fits = find_slot(dictionary, p, size, &slot);
        if (*fits && dictionary->slots[slot] == 0) {
            *fits = dictionary->count - old_count < max_new &&
                    size <= max_bytes - dictionary->values.len;
            if (*fits) {
                FRZ_TRY(add_entry(dictionary, slot, p, size, err));
            }
        }
        if (*fits) {
            indices[i] = dictionary->slots[slot] - 1;
        }
        p += size;
    }
    if (!*fits) {
        dictionary->count = old_count;
        dictionary->values.len = old_bytes;
    }
out:
    return rc;
}
