/*
 * meta: Mumbling bitmaps, version 1: sets of positions of manifest entries as they stand inline in
 * a root manifest (manifest deletion vectors and the positions of one snapshot's changes).
 */
#ifndef FRZ_META_MUMBLING_H
#define FRZ_META_MUMBLING_H

#include "base/base.h"

#define FRZ_MUMBLING_CONTAINER 256            /* positions of a container */
#define FRZ_MUMBLING_MAX_POSITIONS (1u << 21) /* all positions are below */

/* A set of positions. Zero bytes and an environment are a valid empty one. It takes a bit for each
 * position up to the last one set, in containers of 256. */
typedef struct frz_mumbling {
    const frz_env *env;
    uint64_t *words;          /* position p: bit p & 63 of word p >> 6 */
    uint32_t container_count; /* up to the last one with a position */
    uint32_t cardinality;
} frz_mumbling;

void frz_mumbling_init(frz_mumbling *set, const frz_env *env);
void frz_mumbling_reset(frz_mumbling *set); /* frees; can be used again */

/* Replace the set by the one that the bytes encode; it is untouched on failure. Bytes that break a
 * rule of the encoding are FRZ_E_CORRUPT, naming the rule and the byte. */
frz_code frz_mumbling_decode(frz_mumbling *set, frz_str bytes, frz_error *err);
/* Append the set as bytes. */
frz_code frz_mumbling_encode(const frz_mumbling *set, frz_buf *out, frz_error *err);

static inline bool frz_mumbling_has(const frz_mumbling *set, uint64_t position)
{
    return position / FRZ_MUMBLING_CONTAINER < set->container_count &&
           (set->words[position >> 6] >> (position & 63) & 1) != 0;
}
/* The first position at or after from, or -1. */
int64_t frz_mumbling_next(const frz_mumbling *set, uint64_t from);
/* The greatest position, or -1. */
int64_t frz_mumbling_last(const frz_mumbling *set);
bool frz_mumbling_is_subset(const frz_mumbling *part, const frz_mumbling *of);
bool frz_mumbling_is_disjoint(const frz_mumbling *a, const frz_mumbling *b);

/* FRZ_E_LIMIT if the position cannot be held. */
frz_code frz_mumbling_add(frz_mumbling *set, uint64_t position, frz_error *err);
frz_code frz_mumbling_add_all(frz_mumbling *set, const frz_mumbling *more, frz_error *err);

#endif
