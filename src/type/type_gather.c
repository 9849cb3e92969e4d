/*
 * Values of selected rows, one after the other. Where rows follow each other, as when few of them
 * are left out, runs are copied as a whole; else row by row, since finding the ends of runs costs
 * more than it saves.
 */
#include "type/type_internal.h"

#define OFFSETS 8  /* moved at a time */
#define LONG_RUN 8 /* rows, on average, from which on runs are copied */

/* ---- words of a selection ---- */

/* 64 bits of the selection from row i, a multiple of 64, on; none from its end on. */
static inline uint64_t word_at(const frz_selection *s, int64_t i)
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

static int64_t count_runs(const frz_selection *s)
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

frz_selection type_selection_of(const uint8_t *bits, int64_t length, int64_t selected)
{
    frz_selection s = {.bits = bits, .length = length, .selected = selected};
    /* there are at most as many runs as gaps and one more */
    s.in_runs = length - selected < selected / LONG_RUN || count_runs(&s) <= selected / LONG_RUN;
    return s;
}

/* ---- walking ---- */

/* Walks over the selected rows, or over runs of them. */
typedef struct walk {
    const frz_selection *selection;
    size_t run; /* the next one of those that are known */
    int64_t at; /* row of the word's first bit */
    uint64_t word;
} walk;

static walk walk_of(const frz_selection *s)
{
    return (walk){.selection = s, .word = word_at(s, 0)};
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

static inline bool find_run(walk *w, int64_t *start, int64_t *end)
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

static inline bool next_run(walk *w, int64_t *start, int64_t *end)
{
    const frz_selection *s = w->selection;
    if (s->runs == NULL) {
        return find_run(w, start, end);
    }
    if (w->run == s->run_count) {
        return false;
    }
    *start = s->runs[w->run].start;
    *end = s->runs[w->run++].end;
    return true;
}

frz_code frz_selection_init(frz_selection *s, const frz_env *env, const uint8_t *bits,
                            int64_t length, int64_t selected, frz_error *err)
{
    *s = type_selection_of(bits, length, selected);
    assert(frz_bitmap_count(bits, 0, length) == selected);
    if (!s->in_runs) {
        return FRZ_OK;
    }
    size_t count = (size_t)count_runs(s), n = 0;
    s->runs = frz_alloc_zero(env, count + 1, sizeof *s->runs);
    if (s->runs == NULL) {
        return frz_fail_nomem(err, count * sizeof *s->runs);
    }
    for (walk w = walk_of(s); find_run(&w, &s->runs[n].start, &s->runs[n].end);) {
        n++;
    }
    s->run_count = n;
    return FRZ_OK;
}

void frz_selection_reset(frz_selection *s, const frz_env *env)
{
    frz_free(env, s->runs);
    *s = (frz_selection){0};
}

/* ---- bits ---- */

/* Up to 64 bits from one on; those behind the last are anything. */
static inline uint64_t bits_at(const uint8_t *bits, int64_t at, int64_t end)
{
    const uint8_t *from = bits + at / 8;
    unsigned shift = (unsigned)(at % 8);
    size_t left = frz_bitmap_bytes(end) - (size_t)(at / 8);
    uint64_t word = 0;
    if (left < sizeof word) {
        memcpy(&word, from, left);
        return word >> shift;
    }
    word = frz_load_le64(from) >> shift;
    return shift > 0 && left > sizeof word ? word | (uint64_t)from[8] << (64 - shift) : word;
}

/* Bits one behind the other. */
typedef struct bit_writer {
    uint8_t *to;
    uint64_t word; /* not written yet */
    unsigned used; /* bits of it, less than 64 */
} bit_writer;

/* The lowest bits of a word, 1 to 64. */
static inline void put_bits(bit_writer *w, uint64_t bits, unsigned count)
{
    bits &= UINT64_MAX >> (64 - count);
    w->word |= bits << w->used;
    w->used += count;
    if (w->used >= 64) {
        memcpy(w->to, &w->word, sizeof w->word);
        w->to += sizeof w->word;
        w->used -= 64;
        w->word = w->used == 0 ? 0 : bits >> (count - w->used);
    }
}

void type_gather_bits(const frz_selection *s, const uint8_t *src, int64_t first, uint8_t *dst)
{
    bit_writer w = {.to = dst};
    for (int64_t i = 0; i < s->length; i += 64) {
        uint64_t selected = word_at(s, i);
        uint64_t bits = selected == 0 ? 0 : bits_at(src, first + i, first + s->length);
        for (unsigned at = 0; selected != 0;) {
            unsigned skip = (unsigned)__builtin_ctzll(selected);
            selected >>= skip;
            unsigned run = ~selected == 0 ? 64 : (unsigned)__builtin_ctzll(~selected);
            at += skip;
            put_bits(&w, bits >> at, run);
            at += run;
            selected = run == 64 ? 0 : selected >> run;
        }
    }
    memcpy(w.to, &w.word, frz_bitmap_bytes(w.used));
}

/* ---- values of one width ---- */

/* Bytes on their way from one place to another, run after run. What is behind a run may be written
 * over where it will be written again, which saves looking at its length. */
typedef struct moving {
    const uint8_t *from_end; /* of what may be read */
    uint8_t *to, *to_end;    /* of what may be written */
} moving;

#define PIECE 32

/* A run of what is moved down by less than a piece has the next one right behind it. */
static inline void move_run(moving *m, const uint8_t *from, size_t size)
{
    uintptr_t shift = (uintptr_t)from - (uintptr_t)m->to;
    if (shift >= PIECE && (size_t)(m->from_end - from) >= size + PIECE &&
        (size_t)(m->to_end - m->to) >= size + PIECE) {
        for (size_t i = 0; i < size; i += PIECE) {
            uint8_t piece[PIECE]; /* they may overlap */
            memcpy(piece, from + i, PIECE);
            memcpy(m->to + i, piece, PIECE);
        }
    } else {
        memmove(m->to, from, size);
    }
    m->to += size;
}

static void gather_runs(const frz_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
{
    int64_t start, end;
    moving m = {src + (size_t)s->length * width, dst, dst + (size_t)s->selected * width};
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        move_run(&m, src + (size_t)start * width, (size_t)(end - start) * width);
    }
}

static void gather_4(const frz_selection *s, const uint8_t *src, uint8_t *dst)
{
    const uint32_t *from = (const uint32_t *)(const void *)src;
    uint32_t *to = (uint32_t *)(void *)dst;
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        *to++ = from[row];
    }
}

static void gather_8(const frz_selection *s, const uint8_t *src, uint8_t *dst)
{
    const uint64_t *from = (const uint64_t *)(const void *)src;
    uint64_t *to = (uint64_t *)(void *)dst;
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        *to++ = from[row];
    }
}

static void gather_any(const frz_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
{
    int64_t row;
    for (walk w = walk_of(s); next_row(&w, &row);) {
        memmove(dst, src + (size_t)row * width, width);
        dst += width;
    }
}

void type_gather_fixed(const frz_selection *s, const uint8_t *src, size_t width, uint8_t *dst)
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

int64_t type_selected_items(const frz_selection *s, const int32_t *offsets)
{
    int64_t start, end, total = 0;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        total += offsets[end] - offsets[start];
    }
    return total;
}

/* Returns the place behind the last one. Pieces are read before they are written over. */
static inline int32_t *move_offsets(int32_t *dst, const int32_t *src, size_t n, int32_t shift)
{
    size_t i = 0;
    for (; i + OFFSETS <= n; i += OFFSETS) {
        int32_t piece[OFFSETS];
        memcpy(piece, src + i, sizeof piece);
        for (size_t k = 0; k < OFFSETS; k++) {
            piece[k] += shift;
        }
        memcpy(dst + i, piece, sizeof piece);
    }
    for (; i < n; i++) {
        dst[i] = src[i] + shift;
    }
    return dst + n;
}

/* What is behind a run is read before it can be written over. */
void type_gather_offsets(const frz_selection *s, const int32_t *src, int32_t *dst)
{
    int64_t row, last;
    int32_t end = 0;
    walk w = walk_of(s);
    if (s->in_runs) {
        while (next_run(&w, &row, &last)) {
            int32_t shift = end - src[row]; /* both are offsets into one array */
            end = src[last] + shift;
            dst = move_offsets(dst, src + row, (size_t)(last - row), shift);
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

void type_gather_bytes(const frz_selection *s, const int32_t *offsets, const uint8_t *src,
                       uint8_t *dst, int64_t total)
{
    int64_t start, end;
    moving m = {src == NULL ? NULL : src + offsets[s->length], dst, dst + total};
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        size_t size = (size_t)(offsets[end] - offsets[start]);
        if (size > 0) {
            move_run(&m, src + offsets[start], size);
        }
    }
}

void type_select_elements(const frz_selection *s, const int32_t *offsets, uint8_t *bits)
{
    int64_t start, end;
    for (walk w = walk_of(s); next_run(&w, &start, &end);) {
        frz_bitmap_fill(bits, offsets[start] - offsets[0], offsets[end] - offsets[start], true);
    }
}
