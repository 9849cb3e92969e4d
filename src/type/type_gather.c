/*
 * Values of selected rows, one after the other. Where rows follow each other, as when few of them
 * are left out, runs are copied as a whole; else row by row, since finding the ends of runs costs
 * more than it saves.
 */
#include "type/type_internal.h"

#define LONG_RUN 8 /* rows, on average, from which on runs are copied */

/* ---- words of a selection ---- */

/* 64 bits of the selection from row i, a multiple of 64, on; none from its end on. */
static inline uint64_t word_at(const type_selection *s, int64_t i)
{
    uint64_t word = 0;
    if (s->length - i >= 64) {
        return frz_load_le64(s->bits + i / 8);
    }
    if (i >= s->length) {
        return 0;
    }
    memcpy(&word, s->bits + i / 8, frz_bitmap_bytes(s->length - i));
    return word & ((UINT64_C(1) << (s->length - i)) - 1);
}

static int64_t count_runs(const type_selection *s)
{
    int64_t runs = 0;
    uint64_t before = 0; /* the last bit of the word before */
    for (int64_t i = 0; i < s->length; i += 64) {
        uint64_t word = word_at(s, i);
        runs += __builtin_popcountll(word & ~(word << 1 | before));
        before = word >> 63;
    }
    return runs;
}

type_selection type_selection_of(const uint8_t *bits, int64_t length, int64_t selected)
{
    type_selection s = {.bits = bits, .length = length, .selected = selected};
    /* there are at most as many runs as gaps and one more */
    s.in_runs = length - selected < selected / LONG_RUN || count_runs(&s) <= selected / LONG_RUN;
    return s;
}

/* ---- walking ---- */

/* Walks over the selected rows, or over runs of them. */
typedef struct walk {
    const type_selection *selection;
    int64_t at; /* row of the word's first bit */
    uint64_t word;
} walk;

static walk walk_of(const type_selection *s)
{
    return (walk){s, 0, word_at(s, 0)};
}

/* Go on to a word that has something; false: there is none. */
static inline bool find_word(walk *w)
{
    while (w->word == 0) {
        w->at += 64;
        if (w->at >= w->selection->length) {
            return false;
        }
        w->word = word_at(w->selection, w->at);
    }
    return true;
}

static inline bool next_row(walk *w, int64_t *row)
{
    if (!find_word(w)) {
        return false;
    }
    *row = w->at + __builtin_ctzll(w->word);
    w->word &= w->word - 1;
    return true;
}

static inline bool next_run(walk *w, int64_t *start, int64_t *end)
{
    if (!find_word(w)) {
        return false;
    }
    *start = w->at + __builtin_ctzll(w->word);
    uint64_t filled = w->word | (w->word - 1); /* below the run, too: a clear bit ends it */
    while (filled == UINT64_MAX) {
        w->at += 64;
        filled = word_at(w->selection, w->at);
    }
    *end = w->at + __builtin_ctzll(~filled);
    w->word = filled & (filled + 1);
    return true;
}

/* ---- bits ---- */

void type_gather_bits(const type_selection *s, const uint8_t *src, int64_t first, uint8_t *dst)
{
    int64_t n = 0, row, end;
    walk w = walk_of(s);
    if (s->in_runs) {
        for (; next_run(&w, &row, &end); n += end - row) {
            frz_bitmap_copy(src, first + row, end - row, dst, n);
        }
        return;
    }
    for (; next_row(&w, &row); n++) {
        frz_bit_put(dst, n, frz_bit_get(src, first + row));
    }
}

/* ---- values of one width ---- */

static void gather_runs(const type_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
{
    int64_t start, end;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        size_t size = (size_t)(end - start) * width;
        memmove(dst, src + (size_t)start * width, size);
        dst += size;
    }
}

static void gather_4(const type_selection *s, const uint8_t *src, uint8_t *dst)
{
    const uint32_t *from = (const uint32_t *)(const void *)src;
    uint32_t *to = (uint32_t *)(void *)dst;
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        *to++ = from[row];
    }
}

static void gather_8(const type_selection *s, const uint8_t *src, uint8_t *dst)
{
    const uint64_t *from = (const uint64_t *)(const void *)src;
    uint64_t *to = (uint64_t *)(void *)dst;
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        *to++ = from[row];
    }
}

static void gather_any(const type_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
{
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        memmove(dst, src + (size_t)row * width, width);
        dst += width;
    }
}

void type_gather_fixed(const type_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
{
    if (s->in_runs) {
        gather_runs(s, src, width, dst);
    } else if (width == 4) {
        gather_4(s, src, dst);
    } else if (width == 8) {
        gather_8(s, src, dst);
    } else {
        gather_any(s, src, width, dst);
    }
}

/* ---- offsets, and what lies between them ---- */

int64_t type_selected_items(const type_selection *s, const int32_t *offsets)
{
    int64_t start, end, total = 0;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        total += offsets[end] - offsets[start];
    }
    return total;
}

/* What is behind a run is read before it can be written over. */
void type_gather_offsets(const type_selection *s, const int32_t *src, int32_t *dst)
{
    int64_t row, last;
    int32_t end = 0;
    walk w = walk_of(s);
    if (s->in_runs) {
        while (next_run(&w, &row, &last)) {
            int32_t shift = end - src[row]; /* both are offsets into one array */
            end = src[last] + shift;
            for (; row < last; row++) {
                *dst++ = src[row] + shift;
            }
        }
    } else {
        while (next_row(&w, &row)) {
            int32_t size = src[row + 1] - src[row];
            *dst++ = end;
            end += size;
        }
    }
    *dst = end;
}

void type_gather_bytes(const type_selection *s, const int32_t *offsets, const uint8_t *src,
                       uint8_t *dst)
{
    int64_t start, end;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        size_t size = (size_t)(offsets[end] - offsets[start]);
        if (size > 0) {
            memmove(dst, src + offsets[start], size);
            dst += size;
        }
    }
}

void type_select_elements(const type_selection *s, const int32_t *offsets, uint8_t *bits)
{
    int64_t start, end;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        frz_bitmap_fill(bits, offsets[start] - offsets[0], offsets[end] - offsets[start], true);
    }
}
