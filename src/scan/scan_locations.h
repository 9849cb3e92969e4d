/*
 * scan: the locations of the files of a plan, as digests: has this one been there before?
 */
#ifndef FRZ_SCAN_LOCATIONS_H
#define FRZ_SCAN_LOCATIONS_H

#include "meta/meta_table.h"

/* Two digests, so that two different locations are not taken for one. */
typedef struct frz_location_digest {
    uint64_t a, b; /* both 0: a free place */
} frz_location_digest;

/* Zero bytes and an environment are a valid empty set. */
typedef struct frz_locations {
    const frz_env *env;
    frz_location_digest *places; /* a power of two of them, at most half in use */
    size_t capacity, count;
} frz_locations;

/* Add a recorded location, as it is resolved. *added is false if it was there. */
frz_code frz_locations_add(frz_locations *locations, const frz_table *table, frz_str recorded,
                           bool *added, frz_error *err);
void frz_locations_reset(frz_locations *locations);

#endif
