/*
 * Random numbers from a fixed seed (xorshift), which must not be 0.
 */
#ifndef FRZ_TEST_RANDOM_H
#define FRZ_TEST_RANDOM_H

#include <stdint.h>

typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t random_next(test_random *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * UINT64_C(2685821657736338717);
}

static inline int64_t random_below(test_random *r, int64_t end)
{
    return (int64_t)((random_next(r) >> 20) % (uint64_t)end);
}

/* The same for small ends. */
static inline int random_int(test_random *r, int end)
{
    return (int)random_below(r, end);
}

#endif
