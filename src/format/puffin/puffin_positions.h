/*
 * puffin: a set of row positions of one data file, as deletion vectors and position deletes give
 * it. Immutable; may be read by several threads.
 */
#ifndef FRZ_PUFFIN_POSITIONS_H
#define FRZ_PUFFIN_POSITIONS_H

#include "format/format.h"

typedef struct frz_positions frz_positions;

/* Positions in ascending order, each once or several times, none negative. */
frz_code frz_positions_of(const frz_env *env, const int64_t *ascending, size_t count,
                          frz_positions **out, frz_error *err);
/* Positions in any order, none negative; they are sorted. */
frz_code frz_positions_sort(const frz_env *env, int64_t *positions, size_t count,
                            frz_positions **out, frz_error *err);
/* All positions of several sets. */
frz_code frz_positions_union(const frz_env *env, const frz_positions *const *sets, size_t count,
                             frz_positions **out, frz_error *err);
void frz_positions_free(frz_positions *set); /* NULL is fine */

uint64_t frz_positions_count(const frz_positions *set);
/* The greatest one, or -1. */
int64_t frz_positions_last(const frz_positions *set);
/* About, in memory. */
size_t frz_positions_bytes(const frz_positions *set);
bool frz_positions_has(const frz_positions *set, int64_t position);
/* The first run of positions that follow each other, at or after from: [start, end). False if there
 * is none. */
bool frz_positions_next_run(const frz_positions *set, int64_t from, frz_row_range *out);
/* Clear the bits of positions: bit i stands for position first + i. The bits may be touched up to
 * seven bytes behind the last one, without being changed there. */
void frz_positions_clear(const frz_positions *set, int64_t first, int64_t count, uint8_t *bits);
/* The rows of a file that are left if runs of at least least_gap positions are cut out of it. */
frz_code frz_positions_ranges(const frz_positions *set, int64_t row_count, int64_t least_gap,
                              frz_arena *arena, frz_row_range **out, size_t *count, frz_error *err);

#endif
