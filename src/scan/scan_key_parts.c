/*
 * Whole numbers as keys: parts of them in their order, one for what was deleted together. Where
 * rows are in that order, too, as those of ids often are, the few keys in between are looked for
 * among the rows. Else rows of which the least and the greatest value lie near each other are
 * looked up in a bitmap of what the parts have in between.
 */
#include <stdlib.h>

#include "scan/scan_key_internal.h"

#define MOST_SPAN 32768 /* bits of a bitmap */
#define FEW 16          /* one key in so many rows, or less, is looked for among them */

/* ---- lifetime ---- */

void key_parts_init(key_parts *p, const frz_env *env)
{
    *p = (key_parts){.count = 0};
    frz_buf_init(&p->fresh, env, FRZ_BUF_NO_LIMIT);
}

void key_parts_reset(key_parts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        frz_buf_reset(&p->parts[i].values);
    }
    frz_buf_reset(&p->fresh);
    p->count = 0;
}

size_t key_parts_bytes(const key_parts *p)
{
    size_t bytes = p->fresh.capacity;
    for (size_t i = 0; i < p->count; i++) {
        bytes += p->parts[i].values.capacity;
    }
    return bytes;
}

const int64_t *key_part_values(const frz_buf *values, size_t *count)
{
    *count = values->len / sizeof(int64_t);
    return (const int64_t *)(const void *)values->data;
}

/* ---- making parts ---- */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool ascends(const int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (values[i - 1] > values[i]) {
            return false;
        }
    }
    return true;
}

/* The last part, if values of this sequence number that begin with first can go behind its own. */
static key_part *part_to_go_on(key_parts *p, int64_t sequence_number, int64_t first)
{
    key_part *last = p->count == 0 ? NULL : &p->parts[p->count - 1];
    size_t count;
    return last != NULL && last->sequence_number == sequence_number &&
                   key_part_values(&last->values, &count)[count - 1] <= first
               ? last
               : NULL;
}

frz_code key_parts_settle(key_parts *p, bool *full, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = p->fresh.len / sizeof(int64_t);
    int64_t *values = (int64_t *)(void *)p->fresh.data;
    *full = false;
    if (count == 0) {
        return FRZ_OK;
    }
    if (!ascends(values, count)) {
        qsort(values, count, sizeof *values, by_value);
    }
    key_part *part = part_to_go_on(p, p->fresh_number, values[0]);
    if (part != NULL) {
        FRZ_TRY(frz_buf_append(&part->values, values, p->fresh.len, err));
        frz_buf_clear(&p->fresh);
    } else if (p->count == KEY_MOST_PARTS) {
        *full = true;
    } else {
        const frz_env *env = p->fresh.env;
        p->parts[p->count++] = (key_part){p->fresh, p->fresh_number};
        frz_buf_init(&p->fresh, env, FRZ_BUF_NO_LIMIT);
    }
out:
    return rc;
}

frz_code key_parts_add(key_parts *p, const frz_key_column *column, int64_t rows,
                       int64_t sequence_number, bool *full, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t words[KEY_PIECE];
    *full = false;
    if (p->fresh_number != sequence_number) {
        FRZ_TRY(key_parts_settle(p, full, err));
        if (*full) {
            return FRZ_OK;
        }
        p->fresh_number = sequence_number;
    }
    FRZ_TRY(frz_buf_reserve(&p->fresh, (size_t)rows * sizeof *words, err));
    for (int64_t from = 0; from < rows; from += KEY_PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)KEY_PIECE);
        key_words(column, from, n, words);
        for (int64_t i = 0; i < n; i++) {
            if (!key_is_null(column, from + i)) {
                FRZ_TRY(frz_buf_append(&p->fresh, &words[i], sizeof words[i], err));
            }
        }
    }
out:
    return rc;
}

/* ---- looking up ---- */

typedef struct key_range {
    int64_t least, greatest;
} key_range;

/* Of n values, at least one. Two at a time do not wait for each other. */
static key_range range_of(const uint64_t *words, int64_t n)
{
    int64_t first = (int64_t)words[0];
    key_range a = {first, first}, b = a;
    for (int64_t i = n % 2; i < n; i += 2) {
        int64_t x = (int64_t)words[i], y = (int64_t)words[i + 1];
        a.least = FRZ_MIN(a.least, x);
        a.greatest = FRZ_MAX(a.greatest, x);
        b.least = FRZ_MIN(b.least, y);
        b.greatest = FRZ_MAX(b.greatest, y);
    }
    return (key_range){FRZ_MIN(a.least, b.least), FRZ_MAX(a.greatest, b.greatest)};
}

static size_t first_not_below(const int64_t *values, size_t count, int64_t least)
{
    size_t first = 0;
    while (count > 0) {
        size_t half = count / 2;
        bool below = values[first + half] < least;
        first = below ? first + half + 1 : first;
        count = below ? count - half - 1 : half;
    }
    return first;
}

/* The keys of a part in a range. */
static const int64_t *keys_between(const key_part *part, key_range range, size_t *count)
{
    const int64_t *values = key_part_values(&part->values, count);
    size_t first = first_not_below(values, *count, range.least);
    size_t left = *count - first;
    *count = range.greatest == INT64_MAX
                 ? left
                 : first_not_below(values + first, left, range.greatest + 1);
    return values + first;
}

/* ---- rows in their order ---- */

/* The first of the words from at on that is not below: near, mostly. */
static size_t next_not_below(const int64_t *words, size_t at, size_t n, int64_t least)
{
    size_t step = 1;
    while (at + step < n && words[at + step] < least) {
        at += step;
        step *= 2;
    }
    return at + first_not_below(words + at, FRZ_MIN(step + 1, n - at), least);
}

/* Clear the bits of rows that have one of the keys. */
static void clear_found(const int64_t *keys, size_t count, const int64_t *words, size_t n,
                        uint8_t *bits)
{
    size_t at = 0;
    for (size_t i = 0; i < count && at < n; i++) {
        at = next_not_below(words, at, n, keys[i]);
        for (; at < n && words[at] == keys[i]; at++) {
            frz_bit_clear(bits, (int64_t)at);
        }
    }
}

/* False if there are too many keys between the rows. */
static bool clear_among(const key_parts *p, const int64_t *words, size_t n, int64_t sequence_number,
                        uint8_t *bits)
{
    size_t counts[KEY_MOST_PARTS] = {0}, all = 0;
    const int64_t *keys[KEY_MOST_PARTS];
    const key_range range = {words[0], words[n - 1]};
    for (size_t k = 0; k < p->count; k++) {
        if (p->parts[k].sequence_number > sequence_number) {
            keys[k] = keys_between(&p->parts[k], range, &counts[k]);
            all += counts[k];
        }
    }
    if (all > n / FEW) {
        return false;
    }
    for (size_t k = 0; k < p->count; k++) {
        if (counts[k] > 0) {
            clear_found(keys[k], counts[k], words, n, bits);
        }
    }
    return true;
}

/* ---- rows near each other ---- */

/* Set the bits of the keys in a range, counted from its start; false: there are none. */
static bool map_range(const key_parts *p, key_range range, int64_t sequence_number, uint64_t *map)
{
    bool any = false;
    for (size_t k = 0; k < p->count; k++) {
        size_t count;
        if (p->parts[k].sequence_number <= sequence_number) {
            continue;
        }
        const int64_t *keys = keys_between(&p->parts[k], range, &count);
        for (size_t i = 0; i < count; i++) {
            uint64_t bit = (uint64_t)keys[i] - (uint64_t)range.least;
            map[bit / 64] |= UINT64_C(1) << bit % 64;
            any = true;
        }
    }
    return any;
}

/* Clear the bits of up to 64 rows whose values are in the map. */
static void clear_mapped(const uint64_t *map, const uint64_t *words, int64_t least, int64_t n,
                         uint8_t *bits)
{
    uint64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bit = words[i] - (uint64_t)least;
        found |= (map[bit / 64] >> bit % 64 & 1) << i;
    }
    for (; found != 0; found &= found - 1) {
        frz_bit_clear(bits, __builtin_ctzll(found));
    }
}

/* False if they are not near each other. */
static bool clear_near(const key_parts *p, const uint64_t *words, int64_t n,
                       int64_t sequence_number, uint8_t *bits)
{
    uint64_t map[MOST_SPAN / 64];
    key_range range = range_of(words, n);
    uint64_t span = (uint64_t)range.greatest - (uint64_t)range.least;
    if (span >= MOST_SPAN) {
        return false;
    }
    memset(map, 0, (size_t)(span / 64 + 1) * sizeof *map);
    if (map_range(p, range, sequence_number, map)) {
        for (int64_t i = 0; i < n; i += 64) {
            clear_mapped(map, words + i, range.least, FRZ_MIN(n - i, (int64_t)64), bits + i / 8);
        }
    }
    return true;
}

int64_t key_parts_clear(const key_parts *p, const frz_key_column *column, int64_t rows,
                        int64_t sequence_number, uint8_t *bits)
{
    uint64_t words[KEY_PIECE];
    int64_t from = 0;
    if (column->class != FRZ_KEY_INTEGER || column->validity != NULL) {
        return 0;
    }
    for (int64_t n; from < rows; from += n) {
        n = FRZ_MIN(rows - from, (int64_t)KEY_PIECE);
        key_words(column, from, n, words);
        const int64_t *values = (const int64_t *)(const void *)words;
        bool done = ascends(values, (size_t)n) &&
                    clear_among(p, values, (size_t)n, sequence_number, bits + from / 8);
        if (!done && !clear_near(p, words, n, sequence_number, bits + from / 8)) {
            break;
        }
    }
    return from;
}
