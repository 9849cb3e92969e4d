/*
 * A hash table of digests, open addressing.
 */
#include "scan/scan_locations.h"
#include "codec/codec.h"

#define FIRST_CAPACITY 256

static uint64_t fnv(frz_str text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (uint8_t)text.ptr[i]) * 1099511628211u;
    }
    return hash;
}

/* Locations below the table's compare in relative form, which is the shorter one. */
static frz_location_digest digest_of(const frz_table *table, frz_str recorded)
{
    frz_str text = frz_table_relativize(table, recorded);
    frz_location_digest digest = {frz_xxh64(text.ptr, text.len), fnv(text)};
    digest.b |= digest.a == 0; /* never the free place */
    return digest;
}

static bool is_free(const frz_location_digest *place)
{
    return place->a == 0 && place->b == 0;
}

/* The place that holds the digest or where it belongs. */
static frz_location_digest *find(frz_location_digest *places, size_t capacity,
                                 const frz_location_digest *digest)
{
    size_t at = (size_t)digest->a & (capacity - 1);
    while (!is_free(&places[at]) && (places[at].a != digest->a || places[at].b != digest->b)) {
        at = (at + 1) & (capacity - 1);
    }
    return &places[at];
}

static frz_code grow(frz_locations *l, frz_error *err)
{
    size_t capacity = l->capacity == 0 ? FIRST_CAPACITY : l->capacity * 2;
    frz_location_digest *places = frz_alloc_zero(l->env, capacity, sizeof *places);
    if (places == NULL) {
        return frz_fail_nomem(err, capacity * sizeof *places);
    }
    for (size_t i = 0; i < l->capacity; i++) {
        if (!is_free(&l->places[i])) {
            *find(places, capacity, &l->places[i]) = l->places[i];
        }
    }
    frz_free(l->env, l->places);
    l->places = places;
    l->capacity = capacity;
    return FRZ_OK;
}

frz_code frz_locations_add(frz_locations *locations, const frz_table *table, frz_str recorded,
                           bool *added, frz_error *err)
{
    if (locations->count >= locations->capacity / 2) {
        frz_code rc = grow(locations, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    frz_location_digest digest = digest_of(table, recorded);
    frz_location_digest *place = find(locations->places, locations->capacity, &digest);
    *added = is_free(place);
    *place = digest;
    locations->count += *added;
    return FRZ_OK;
}

void frz_locations_reset(frz_locations *locations)
{
    frz_free(locations->env, locations->places);
    locations->places = NULL;
    locations->capacity = locations->count = 0;
}
