/*
 * Keys: two 64-bit multiplicative hashes side by side, and an open-addressing map from keys to
 * numbers. Validation remembers with it what it has checked, so that entries and files which many
 * snapshots share are looked at once.
 */
#include "maintain/maintain_internal.h"

#define KEY_PRIME_A UINT64_C(0x100000001b3)
#define KEY_PRIME_B UINT64_C(0x9e3779b97f4a7c15)
#define KEY_MAP_FIRST 64

struct frz_key_slot {
    frz_key key;
    size_t value;
    bool used;
};

void frz_key_bytes(frz_key *key, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++) {
        key->a = (key->a ^ p[i]) * KEY_PRIME_A;
        key->b = (key->b + p[i] + 1) * KEY_PRIME_B;
        key->b ^= key->b >> 29;
    }
}

void frz_key_i64(frz_key *key, int64_t value)
{
    frz_key_bytes(key, &value, sizeof value);
}

void frz_key_str(frz_key *key, frz_str s)
{
    frz_key_i64(key, (int64_t)s.len);
    frz_key_bytes(key, s.ptr, s.len);
}

frz_key frz_key_of(const char *kind)
{
    frz_key key = {UINT64_C(0xcbf29ce484222325), UINT64_C(0x2545f4914f6cdd1d)};
    frz_key_str(&key, frz_str_from(kind));
    return key;
}

void frz_key_map_init(frz_key_map *map, const frz_env *env)
{
    *map = (frz_key_map){.env = env};
}

void frz_key_map_reset(frz_key_map *map)
{
    frz_free(map->env, map->slots);
    map->slots = NULL;
    map->count = map->capacity = 0;
}

/* The slot of a key, or the empty one where it would go. */
static struct frz_key_slot *slot_of(struct frz_key_slot *slots, size_t capacity, frz_key key)
{
    size_t at = (size_t)(key.a ^ (key.b >> 32)) & (capacity - 1);
    while (slots[at].used && !frz_key_equal(slots[at].key, key)) {
        at = (at + 1) & (capacity - 1);
    }
    return &slots[at];
}

static frz_code key_map_grow(frz_key_map *map, frz_error *err)
{
    size_t capacity = map->capacity == 0 ? KEY_MAP_FIRST : map->capacity * 2;
    struct frz_key_slot *slots = frz_alloc_zero(map->env, capacity, sizeof *slots);
    if (slots == NULL) {
        return frz_fail_nomem(err, capacity * sizeof *slots);
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].used) {
            *slot_of(slots, capacity, map->slots[i].key) = map->slots[i];
        }
    }
    frz_free(map->env, map->slots);
    map->slots = slots;
    map->capacity = capacity;
    return FRZ_OK;
}

bool frz_key_map_get(const frz_key_map *map, frz_key key, size_t *value)
{
    if (map->capacity == 0) {
        return false;
    }
    const struct frz_key_slot *slot = slot_of(map->slots, map->capacity, key);
    if (slot->used && value != NULL) {
        *value = slot->value;
    }
    return slot->used;
}

frz_code frz_key_map_put(frz_key_map *map, frz_key key, size_t value, bool *added, frz_error *err)
{
    if ((map->count + 1) * 2 > map->capacity) {
        frz_code rc = key_map_grow(map, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    struct frz_key_slot *slot = slot_of(map->slots, map->capacity, key);
    if (added != NULL) {
        *added = !slot->used;
    }
    map->count += !slot->used;
    *slot = (struct frz_key_slot){.key = key, .value = value, .used = true};
    return FRZ_OK;
}
