/*
 * Sets of keys: a hash table over records, and in front of it a filter that fits a cache
 * (scan_key_filter.c). It tells nearly all rows apart that are not in the set. Rows are hashed
 * column by column.
 *
 * A key of one column of at most 64 bits is its hash: the function is one to one, so that such keys
 * are kept nowhere else. Other keys are kept as bytes and compared.
 *
 * Whole numbers are kept in their order (scan_key_parts.c). The table of them is made when rows
 * come that cannot be looked up there.
 */
#include "scan/scan_key_set.h"

#include <pthread.h>

#include "scan/scan_key_internal.h"

#define LEAST_SLOTS 64
#define FILTER_PER_SLOT 4     /* bits; there are two slots and more for each key */
#define CANDIDATES 256        /* rows that are looked up in the table at a time */
#define UNIT sizeof(uint64_t) /* records begin at multiples */
#define CLEAR_PIECES 16       /* at most */
#define ROW_BYTES 16          /* looking up a row is about as much work as decoding so many */

/* Of one key; behind it, unless the set is exact, lie the key's bytes. */
typedef struct key_record {
    uint64_t hash;
    int64_t sequence_number;
} key_record;

/* Most hashes that meet in a slot are told apart here, without a look at the record. */
typedef struct key_slot {
    uint32_t unit; /* of the records, where its own begins, + 1; 0: the slot is empty */
    uint32_t tag;  /* the upper half of the hash */
} key_slot;

struct frz_key_set {
    const frz_env *env;
    size_t column_count;
    bool exact;                   /* a key is its hash; null is apart */
    int64_t null_sequence_number; /* of an exact set; -1: null is not in it */
    bool in_parts, in_table;      /* where all keys are, but null; one of them at least is true */
    key_parts parts;
    frz_buf records;
    size_t count;     /* of them */
    void *slot_block; /* memory of the slots */
    key_slot *slots;  /* a power of two of them */
    size_t slot_count;
    key_filter filter;
    pthread_mutex_t lock; /* over getting ready for rows */
};

frz_code frz_key_set_new(const frz_env *env, const frz_type *const *types, size_t count,
                         frz_key_set **out, frz_error *err)
{
    frz_key_set *set = frz_alloc_zero(env, 1, sizeof *set);
    if (set == NULL) {
        return frz_fail_nomem(err, sizeof *set);
    }
    set->env = env;
    set->column_count = count;
    set->exact = count == 1 && key_is_word(frz_key_class_of(types[0]));
    set->null_sequence_number = -1;
    set->filter.avx2 = (env->cpu & FRZ_CPU_AVX2) != 0;
    set->in_parts = count == 1 && frz_key_class_of(types[0]) == FRZ_KEY_INTEGER;
    set->in_table = !set->in_parts;
    key_parts_init(&set->parts, env);
    frz_buf_init(&set->records, env, FRZ_BUF_NO_LIMIT);
    pthread_mutex_init(&set->lock, NULL);
    *out = set;
    return FRZ_OK;
}

void frz_key_set_free(frz_key_set *set)
{
    if (set != NULL) {
        key_parts_reset(&set->parts);
        frz_buf_reset(&set->records);
        frz_free(set->env, set->slot_block);
        frz_free(set->env, set->filter.words);
        pthread_mutex_destroy(&set->lock);
        frz_free(set->env, set);
    }
}

bool frz_key_set_is_empty(const frz_key_set *set)
{
    return set->count == 0 && set->null_sequence_number < 0 && set->parts.count == 0 &&
           set->parts.fresh.len == 0;
}

size_t frz_key_set_bytes(const frz_key_set *set)
{
    return sizeof *set + key_parts_bytes(&set->parts) + set->records.capacity +
           set->slot_count * sizeof *set->slots + set->slot_count * FILTER_PER_SLOT / 8;
}

size_t frz_key_set_bytes_of(int64_t rows, size_t column_count)
{
    /* records and slots may be half empty; texts are taken for 24 bytes */
    return (size_t)rows * (2 * sizeof(key_record) + 4 * (sizeof(key_slot) + 1) +
                           (column_count == 1 ? sizeof(int64_t) : 8 + 24 * column_count));
}

/* ---- the table ---- */

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static size_t first_slot(const frz_key_set *set, uint64_t hash)
{
    return (size_t)hash & (set->slot_count - 1);
}

static key_record *record_of(const frz_key_set *set, key_slot slot)
{
    return (key_record *)(void *)(set->records.data + (slot.unit - 1) * UNIT);
}

/* The slot of a key, or the empty one where it would be put. */
static key_slot *find_slot(const frz_key_set *set, uint64_t hash, const frz_key_column *columns,
                           int64_t row)
{
    size_t i = first_slot(set, hash);
    for (; set->slots[i].unit != 0; i = (i + 1) & (set->slot_count - 1)) {
        const key_record *record = record_of(set, set->slots[i]);
        if (set->slots[i].tag == tag_of(hash) && record->hash == hash &&
            (set->exact ||
             key_is_same((const uint8_t *)(record + 1), columns, set->column_count, row))) {
            break;
        }
    }
    return &set->slots[i];
}

/* Have all records in the new slots: those of the old ones, whose order is as good as any. */
static void refill(frz_key_set *set, const key_slot *old, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (old[k].unit == 0) {
            continue;
        }
        uint64_t hash = record_of(set, old[k])->hash;
        size_t i = first_slot(set, hash);
        while (set->slots[i].unit != 0) {
            i = (i + 1) & (set->slot_count - 1);
        }
        set->slots[i] = old[k];
        key_filter_add(&set->filter, hash);
    }
    if (set->null_sequence_number >= 0) {
        key_filter_add(&set->filter, key_hash_word(KEY_NULL_WORD));
    }
}

/* Have at most every second slot in use with so many keys more. */
static frz_code make_room(frz_key_set *set, size_t more, frz_error *err)
{
    size_t slot_count = FRZ_MAX(set->slot_count, (size_t)LEAST_SLOTS);
    while (slot_count < 2 * (set->count + more)) {
        slot_count *= 2;
    }
    if (slot_count == set->slot_count) {
        return FRZ_OK;
    }
    void *block = NULL, *old_block = set->slot_block;
    const key_slot *old = set->slots;
    size_t old_count = set->slot_count;
    key_slot *slots = frz_alloc_table(set->env, slot_count, sizeof *slots, &block);
    uint64_t *filter = frz_alloc_zero(set->env, slot_count / 8, FILTER_PER_SLOT);
    if (slots == NULL || filter == NULL) {
        frz_free(set->env, block);
        frz_free(set->env, filter);
        return frz_fail_nomem(err, slot_count * sizeof *slots);
    }
    frz_free(set->env, set->filter.words);
    set->slot_block = block;
    set->slots = slots;
    set->slot_count = slot_count;
    set->filter.words = filter;
    set->filter.shift = 64 - (unsigned)__builtin_ctzll(slot_count / 8 * FILTER_PER_SLOT / UNIT);
    refill(set, old, old_count);
    frz_free(set->env, old_block);
    return FRZ_OK;
}

/* Append the record of a key. */
static frz_code put_record(frz_key_set *set, const frz_key_column *columns, int64_t row,
                           key_record record, key_slot *slot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t start = set->records.len;
    if (start / UNIT >= UINT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "a set of keys holds at most %llu bytes",
                        (unsigned long long)UINT32_MAX * UNIT);
    }
    FRZ_TRY(frz_buf_append(&set->records, &record, sizeof record, err));
    if (!set->exact) {
        FRZ_TRY(key_put(&set->records, columns, set->column_count, row, err));
        while (set->records.len % UNIT != 0) {
            FRZ_TRY(frz_buf_append_byte(&set->records, 0, err));
        }
    }
    *slot = (key_slot){(uint32_t)(start / UNIT) + 1, tag_of(record.hash)};
    set->count++;
    key_filter_add(&set->filter, record.hash);
out:
    if (rc != FRZ_OK) {
        set->records.len = start;
    }
    return rc;
}

/* There is room for it. */
static frz_code add_key(frz_key_set *set, const frz_key_column *columns, int64_t row,
                        key_record record, frz_error *err)
{
    key_slot *slot = find_slot(set, record.hash, columns, row);
    if (slot->unit == 0) {
        return put_record(set, columns, row, record, slot, err);
    }
    key_record *known = record_of(set, *slot);
    known->sequence_number = FRZ_MAX(known->sequence_number, record.sequence_number);
    return FRZ_OK;
}

/* Always inlined: a function that does nothing but this has no effect that a compiler knows of, and
 * calls of it would go. */
static inline __attribute__((always_inline)) void fetch_slots(const frz_key_set *set,
                                                              const uint64_t *hashes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&set->slots[first_slot(set, hashes[i])]);
    }
}

static frz_code add_to_table(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                             int64_t sequence_number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t hashes[KEY_PIECE];
    for (int64_t from = 0; from < rows; from += KEY_PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)KEY_PIECE);
        FRZ_TRY(make_room(set, (size_t)n, err));
        key_hash_rows(columns, set->column_count, from, n, hashes);
        fetch_slots(set, hashes, (size_t)n);
        for (int64_t i = 0; i < n; i++) {
            const key_record record = {hashes[i], sequence_number};
            if (set->exact && key_is_null(&columns[0], from + i)) {
                key_filter_add(&set->filter, hashes[i]);
            } else {
                FRZ_TRY(add_key(set, columns, from + i, record, err));
            }
        }
    }
out:
    return rc;
}

/* ---- from parts to the table ---- */

static frz_code add_values(frz_key_set *set, const frz_buf *values, int64_t sequence_number,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count;
    const int64_t *v = key_part_values(values, &count);
    FRZ_TRY(make_room(set, count, err));
    for (size_t i = 0; i < count; i++) {
        const key_record record = {key_hash_word((uint64_t)v[i]), sequence_number};
        FRZ_TRY(add_key(set, NULL, 0, record, err));
    }
out:
    return rc;
}

static frz_code need_table(frz_key_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const key_parts *p = &set->parts;
    if (set->in_table) {
        return FRZ_OK;
    }
    FRZ_TRY(make_room(set, 1, err));
    for (size_t i = 0; i < p->count; i++) {
        FRZ_TRY(add_values(set, &p->parts[i].values, p->parts[i].sequence_number, err));
    }
    FRZ_TRY(add_values(set, &p->fresh, p->fresh_number, err));
    if (set->null_sequence_number >= 0) {
        key_filter_add(&set->filter, key_hash_word(KEY_NULL_WORD));
    }
    set->in_table = true;
out:
    return rc;
}

static frz_code leave_parts(frz_key_set *set, frz_error *err)
{
    frz_code rc = need_table(set, err);
    if (rc == FRZ_OK) {
        key_parts_reset(&set->parts);
        set->in_parts = false;
    }
    return rc;
}

/* ---- adding ---- */

static bool has_null(const frz_key_column *columns, size_t count, int64_t row)
{
    bool null = false;
    for (size_t k = 0; k < count && !null; k++) {
        null = key_is_null(&columns[k], row);
    }
    return null;
}

static void note_nulls(frz_key_set *set, const frz_key_column *column, int64_t rows,
                       int64_t sequence_number)
{
    bool null = false;
    for (int64_t i = 0; i < rows && !null; i++) {
        null = key_is_null(column, i);
    }
    if (null) {
        set->null_sequence_number = FRZ_MAX(set->null_sequence_number, sequence_number);
    }
}

frz_code frz_key_set_add(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                         int64_t sequence_number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool full = false;
    if (set->exact) {
        note_nulls(set, &columns[0], rows, sequence_number);
    }
    if (set->in_parts) {
        FRZ_TRY(key_parts_add(&set->parts, &columns[0], rows, sequence_number, &full, err));
    }
    if (full) {
        FRZ_TRY(leave_parts(set, err));
    }
    if (set->in_table) {
        FRZ_TRY(add_to_table(set, columns, rows, sequence_number, err));
    }
out:
    return rc;
}

/* ---- looking up ---- */

/* Rows that the filter let through. */
typedef struct candidates {
    int64_t rows[CANDIDATES + 64];
    uint64_t hashes[CANDIDATES + 64];
    size_t count;
} candidates;

/* Add those of up to 64 rows that may be in the set. */
static void add_candidates(const frz_key_set *set, const uint64_t *hashes, int64_t from, int64_t n,
                           candidates *c)
{
    uint64_t found = key_filter_pass(&set->filter, hashes, n);
    for (; found != 0; found &= found - 1) {
        int64_t i = __builtin_ctzll(found);
        c->rows[c->count] = from + i;
        c->hashes[c->count++] = hashes[i];
    }
}

/* The table is larger than what a cache keeps between batches: wait for all lines at once, first of
 * the slots, then of the records that these lead to. */
static inline __attribute__((always_inline)) void fetch_records(const frz_key_set *set,
                                                                const candidates *c)
{
    fetch_slots(set, c->hashes, c->count);
    for (size_t i = 0; i < c->count; i++) {
        key_slot slot = set->slots[first_slot(set, c->hashes[i])];
        if (slot.unit != 0 && slot.tag == tag_of(c->hashes[i])) {
            __builtin_prefetch(record_of(set, slot));
            __builtin_prefetch((const uint8_t *)record_of(set, slot) + 32);
        }
    }
}

/* What is done with a row that may be in the set: its record, NULL if it is not there. */
typedef struct lookup {
    void (*found)(const struct lookup *l, int64_t row, const key_record *record);
    const frz_key_set *set;
    const frz_key_column *columns;
    int64_t sequence_number;
    uint8_t *bits;
    int64_t *numbers;
} lookup;

static void look_up(const lookup *l, candidates *c)
{
    fetch_records(l->set, c);
    for (size_t i = 0; i < c->count; i++) {
        const key_slot *slot = find_slot(l->set, c->hashes[i], l->columns, c->rows[i]);
        l->found(l, c->rows[i], slot->unit == 0 ? NULL : record_of(l->set, *slot));
    }
    c->count = 0;
}

static void look_up_rows(const lookup *l, int64_t first, int64_t rows)
{
    uint64_t hashes[KEY_PIECE];
    candidates c;
    c.count = 0;
    for (int64_t from = first; from < rows; from += KEY_PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)KEY_PIECE);
        key_hash_rows(l->columns, l->set->column_count, from, n, hashes);
        for (int64_t i = 0; i < n; i += 64) {
            add_candidates(l->set, hashes + i, from + i, FRZ_MIN(n - i, (int64_t)64), &c);
            if (c.count >= CANDIDATES) {
                look_up(l, &c);
            }
        }
    }
    look_up(l, &c);
}

static void clear_deleted(const lookup *l, int64_t row, const key_record *record)
{
    int64_t deleted = record == NULL ? -1 : record->sequence_number;
    if (l->set->exact && key_is_null(&l->columns[0], row)) {
        deleted = l->set->null_sequence_number;
    }
    if (deleted > l->sequence_number) {
        frz_bit_clear(l->bits, row);
    }
}

/* Rows of a batch, looked at in pieces by all threads. */
typedef struct clearing {
    lookup l;
    int64_t rows, step;         /* of a piece: a multiple of 8, so that no byte of bits is shared */
    int64_t done[CLEAR_PIECES]; /* rows of a piece that were looked up */
} clearing;

static int64_t piece_rows(const clearing *c, size_t piece)
{
    return FRZ_MIN(c->rows - (int64_t)piece * c->step, c->step);
}

static frz_code clear_by_parts(void *ctx, size_t piece, frz_error *err)
{
    (void)err;
    clearing *c = ctx;
    frz_key_column column = c->l.columns[0];
    column.first += (int64_t)piece * c->step;
    c->done[piece] =
        key_parts_clear(&c->l.set->parts, &column, piece_rows(c, piece), c->l.sequence_number,
                        c->l.bits + (int64_t)piece * c->step / 8);
    return FRZ_OK;
}

static frz_code clear_by_table(void *ctx, size_t piece, frz_error *err)
{
    (void)err;
    clearing *c = ctx;
    int64_t first = (int64_t)piece * c->step;
    look_up_rows(&c->l, first + c->done[piece], first + piece_rows(c, piece));
    return FRZ_OK;
}

/* Have all keys where rows are looked up; table: in the table, whatever else. Several threads may
 * come to that at once: the first makes it, the others wait, and it waits for none. */
static frz_code get_ready(frz_key_set *set, bool table, bool *empty, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool full = false;
    pthread_mutex_lock(&set->lock);
    *empty = frz_key_set_is_empty(set);
    if (set->in_parts) {
        FRZ_TRY(key_parts_settle(&set->parts, &full, err));
        FRZ_TRY(full ? leave_parts(set, err) : FRZ_OK);
    }
    if (table || !set->in_parts) {
        FRZ_TRY(need_table(set, err));
    }
out:
    pthread_mutex_unlock(&set->lock);
    return rc;
}

frz_code frz_key_set_clear(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                           int64_t sequence_number, uint8_t *bits, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t done = 0;
    bool empty = false;
    clearing c = {.l = {.found = clear_deleted,
                        .set = set,
                        .columns = columns,
                        .sequence_number = sequence_number,
                        .bits = bits},
                  .rows = rows,
                  .step = FRZ_MAX(rows, 1)};
    FRZ_TRY(get_ready(set, false, &empty, err));
    if (empty) {
        return FRZ_OK;
    }
    if (frz_is_shared(set->env, (double)rows * ROW_BYTES)) {
        c.step = (rows / CLEAR_PIECES + KEY_PIECE) / KEY_PIECE * KEY_PIECE;
    }
    size_t pieces = (size_t)((rows + c.step - 1) / c.step);
    if (set->in_parts) {
        FRZ_TRY(frz_parallel(set->env, pieces, clear_by_parts, &c, err));
    }
    for (size_t i = 0; i < pieces; i++) {
        done += c.done[i];
    }
    if (done < rows) {
        FRZ_TRY(get_ready(set, true, &empty, err));
        FRZ_TRY(frz_parallel(set->env, pieces, clear_by_table, &c, err));
    }
out:
    return rc;
}

/* ---- numbered keys ---- */

frz_code frz_key_set_number(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                            int64_t first, int64_t *twice, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t hashes[KEY_PIECE];
    *twice = -1;
    set->in_parts = false;
    set->in_table = true;
    for (int64_t from = 0; from < rows; from += KEY_PIECE) {
        int64_t n = FRZ_MIN(rows - from, (int64_t)KEY_PIECE);
        FRZ_TRY(make_room(set, (size_t)n, err));
        key_hash_rows(columns, set->column_count, from, n, hashes);
        fetch_slots(set, hashes, (size_t)n);
        for (int64_t i = from; i < from + n; i++) {
            if (has_null(columns, set->column_count, i)) {
                continue;
            }
            uint64_t hash = hashes[i - from];
            key_slot *slot = find_slot(set, hash, columns, i);
            if (slot->unit == 0) {
                FRZ_TRY(put_record(set, columns, i, (key_record){hash, first + i}, slot, err));
            } else {
                record_of(set, *slot)->sequence_number = FRZ_KEY_TWICE;
                *twice = *twice < 0 ? i : *twice;
            }
        }
    }
out:
    return rc;
}

static void take_number(const lookup *l, int64_t row, const key_record *record)
{
    if (record != NULL && !has_null(l->columns, l->set->column_count, row)) {
        l->numbers[row] = record->sequence_number;
    }
}

void frz_key_set_find(const frz_key_set *set, const frz_key_column *columns, int64_t rows,
                      int64_t *numbers)
{
    const lookup l = {.found = take_number, .set = set, .columns = columns, .numbers = numbers};
    for (int64_t i = 0; i < rows; i++) {
        numbers[i] = FRZ_KEY_ABSENT;
    }
    if (set->count > 0) {
        look_up_rows(&l, 0, rows);
    }
}
