/*
 * What the files of scan_key_set share among themselves.
 */
#ifndef FRZ_SCAN_KEY_INTERNAL_H
#define FRZ_SCAN_KEY_INTERNAL_H

#include "scan/scan_key_set.h"

#define KEY_PIECE 1024 /* rows that are hashed at a time */

/* ---- values and hashes of rows (scan_key_hash.c) ---- */

/* Keys of at most 64 bits are one word. */
bool key_is_word(frz_key_class class);
bool key_is_null(const frz_key_column *c, int64_t row);
/* A word for each row; of longer values a hash. Of null rows it is KEY_NULL_WORD. */
void key_words(const frz_key_column *c, int64_t from, int64_t n, uint64_t *words);
/* Hashes of at most KEY_PIECE rows: one to one for a single column of words, whose hash is
 * key_hash_word of it. */
void key_hash_rows(const frz_key_column *columns, size_t count, int64_t from, int64_t n,
                   uint64_t *hashes);
#define KEY_NULL_WORD 0x6a09e667f3bcc909u
#define KEY_SPREAD 0x9e3779b97f4a7c15u
static inline uint64_t key_hash_word(uint64_t word)
{
    uint64_t hash = word * KEY_SPREAD;
    return hash ^ hash >> 32;
}
/* Append the key of a row as bytes. */
frz_code key_put(frz_buf *out, const frz_key_column *columns, size_t count, int64_t row,
                 frz_error *err);
bool key_is_same(const uint8_t *key, const frz_key_column *columns, size_t count, int64_t row);

/* ---- the filter in front of a table (scan_key_filter.c) ---- */

/* Words, one chosen by the upper part of a hash, in which every key has three bits. */
typedef struct key_filter {
    uint64_t *words;
    unsigned shift; /* of a hash, to the word */
    bool avx2;
} key_filter;

void key_filter_add(const key_filter *filter, uint64_t hash);
/* Of up to 64 hashes those whose keys may be there: bit i stands for hash i. */
uint64_t key_filter_pass(const key_filter *filter, const uint64_t *hashes, int64_t n);

/* ---- whole numbers in their order (scan_key_parts.c) ---- */

#define KEY_MOST_PARTS 8 /* with more of them a table is quicker */

/* Numbers that were deleted with one sequence number. */
typedef struct key_part {
    frz_buf values; /* int64_t, ascending */
    int64_t sequence_number;
} key_part;

typedef struct key_parts {
    key_part parts[KEY_MOST_PARTS];
    size_t count;
    frz_buf fresh; /* int64_t in any order, of the next part */
    int64_t fresh_number;
} key_parts;

void key_parts_init(key_parts *p, const frz_env *env);
void key_parts_reset(key_parts *p);
size_t key_parts_bytes(const key_parts *p);
const int64_t *key_part_values(const frz_buf *values, size_t *count);
/* Add the rows that are not null. *full: there is no room for one more part, nothing was added. */
frz_code key_parts_add(key_parts *p, const frz_key_column *column, int64_t rows,
                       int64_t sequence_number, bool *full, frz_error *err);
/* Put what is fresh in its order; *full as above. */
frz_code key_parts_settle(key_parts *p, bool *full, frz_error *err);
/* After settling: clear the bits of rows deleted after a sequence number as long as values lie near
 * each other; returns how many rows were looked at. */
int64_t key_parts_clear(const key_parts *p, const frz_key_column *column, int64_t rows,
                        int64_t sequence_number, uint8_t *bits);

#endif
