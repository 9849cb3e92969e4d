/*
 * Nested arrays as values and levels of leaves. The walk goes from a top-level field down; at each
 * node it holds the slots that the levels of the leaves below count: one per value, null or empty
 * list so far. A slot goes on as long as it stands for a row of the node's array; where a null or
 * an empty list was met it has ended. Lists turn one slot into many.
 *
 *  1. The definition level of a slot that ended is final and below that of those that go on, which
 *     is raised node by node. As long as no slot ended there is no level of each.
 *  2. Slots stand for rows in their order. Mostly these are known without an index: a row for each
 *     slot, ended or not, below structs; a row for each slot that goes on below lists whose entries
 *     follow each other in the array.
 */
#include "format/parquet/parquet_kernels.h"
#include "format/parquet/parquet_write.h"

#define ROWS_AT_ONCE 4096
#define ENDED (-1)
#define LEVELS_SLACK 8 /* short lists are written by so many entries */

typedef enum slot_rows {
    ROW_BY_SLOT,  /* first and on */
    ROW_BY_ENTRY, /* the same, but slots that ended have none */
    ROW_BY_INDEX
} slot_rows;

typedef struct slots {
    size_t count;
    uint8_t level;      /* of those that go on */
    const uint8_t *def; /* NULL: all go on */
    const uint8_t *rep; /* NULL: all 0 */
    slot_rows rows;
    int64_t first;
    const int64_t *index; /* row in the node's array or ENDED */
} slots;

/* Memory of slots. */
typedef struct slot_memory {
    frz_buf def, rep, index;
} slot_memory;

typedef struct shredder {
    const frz_env *env;
    parquet_column_writer *columns;
    int64_t first_row; /* of the rows at hand, in the file */
} shredder;

static frz_code shred_node(shredder *s, const parquet_write_node *node,
                           const struct ArrowArray *array, const slots *in, frz_error *err);

static void memory_init(slot_memory *m, const frz_env *env)
{
    frz_buf_init(&m->def, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&m->rep, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&m->index, env, FRZ_BUF_NO_LIMIT);
}

static void memory_reset(slot_memory *m)
{
    frz_buf_reset(&m->def);
    frz_buf_reset(&m->rep);
    frz_buf_reset(&m->index);
}

static frz_code levels_reserve(slot_memory *m, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_reserve(&m->def, count + LEVELS_SLACK, err));
    FRZ_TRY(frz_buf_reserve(&m->rep, count + LEVELS_SLACK, err));
out:
    return rc;
}

static frz_code memory_reserve(slot_memory *m, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t bytes;
    if (!frz_mul_size(count, sizeof(int64_t), &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu nested values at once", count);
    }
    FRZ_TRY(levels_reserve(m, count, err));
    FRZ_TRY(frz_buf_reserve(&m->index, bytes, err));
out:
    return rc;
}

static int64_t *memory_index(slot_memory *m)
{
    return (int64_t *)(void *)m->index.data; /* blocks are aligned to 16 bytes */
}

static bool has_nulls(const struct ArrowArray *array)
{
    /* an array without buffers is one of type unknown */
    return array->n_buffers == 0 || (array->buffers[0] != NULL && array->null_count != 0);
}

static inline bool goes_on(const slots *in, size_t i)
{
    return in->def == NULL || in->def[i] == in->level;
}

static inline uint8_t slot_def(const slots *in, size_t i)
{
    return in->def != NULL ? in->def[i] : in->level;
}

/* The row of slot i; entries: how many before it go on, and after it. */
static inline int64_t next_row(const slots *in, size_t i, int64_t *entries)
{
    if (in->rows == ROW_BY_INDEX) {
        return in->index[i];
    }
    if (!goes_on(in, i)) {
        return ENDED;
    }
    int64_t at = in->rows == ROW_BY_ENTRY ? (*entries)++ : (int64_t)i;
    return in->first + at;
}

/* The file's row that holds slot i. */
static int64_t row_of_slot(const shredder *s, const slots *in, size_t i)
{
    if (in->rep == NULL) {
        return s->first_row + (int64_t)i;
    }
    int64_t row = -1;
    for (size_t k = 0; k <= i; k++) {
        row += in->rep[k] == 0;
    }
    return s->first_row + row;
}

static frz_code fail_null(const shredder *s, const parquet_write_node *node, const slots *in,
                          size_t i, frz_error *err)
{
    return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" is required, but row %lld has no value",
                    FRZ_STR_ARG(node->dotted), (long long)row_of_slot(s, in, i));
}

/* ---- levels of a node ---- */

/* A required node's slots must have values. */
static frz_code check_present(const shredder *s, const parquet_write_node *node,
                              const struct ArrowArray *array, const slots *in, frz_error *err)
{
    int64_t entries = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        if (row != ENDED && frz_is_null(array, row)) {
            return fail_null(s, node, in, i, err);
        }
    }
    return FRZ_OK;
}

/* Levels of slots [from, from + count) after the node's own validity, where a bit of it belongs to
 * each slot or there are no nulls. In m, unless they are as before. */
static frz_code raise_levels(const parquet_write_node *node, const struct ArrowArray *array,
                             const slots *in, size_t from, size_t count, slot_memory *m,
                             const uint8_t **out, frz_error *err)
{
    const bool nulls = has_nulls(array);
    const uint8_t by = (uint8_t)(node->def - in->level);
    if (by == 0 && in->def != NULL) {
        *out = in->def + from;
        return FRZ_OK;
    }
    frz_code rc = levels_reserve(m, count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *def = m->def.data;
    if (in->def != NULL) {
        memcpy(def, in->def + from, count);
    } else {
        memset(def, in->level, count);
    }
    if (nulls) {
        parquet_levels_raise_valid(def, count, in->level, by, array->buffers[0],
                                   array->offset + in->first + (int64_t)from);
    } else {
        parquet_levels_raise(def, count, in->level, by);
    }
    *out = def;
    return FRZ_OK;
}

/* Bits of the node's validity belong to slots, or there are none to look at. */
static bool is_raised(const struct ArrowArray *array, const slots *in)
{
    bool nulls = has_nulls(array);
    bool known = in->rows == ROW_BY_SLOT && array->n_buffers > 0; /* one of type unknown has none */
    return !nulls ? in->rows != ROW_BY_INDEX : known;
}

/* The same slot by slot, and the row of each. */
static size_t walk_levels(const parquet_write_node *node, const struct ArrowArray *array,
                          const slots *in, int64_t shift, bool all, uint8_t *def, int64_t *index)
{
    const bool nulls = has_nulls(array);
    int64_t entries = 0;
    size_t n = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        bool there = row != ENDED && !(nulls && frz_is_null(array, row));
        def[i] = there ? node->def : slot_def(in, i);
        index[n] = there ? row + shift : ENDED;
        n += all || there;
    }
    return n;
}

/* ---- leaves ---- */

/* Say at which row the first value is that the file has no form for. */
static frz_code name_row(const shredder *s, const parquet_write_leaf *leaf,
                         const struct ArrowArray *array, const slots *in, frz_code rc,
                         frz_error *err)
{
    int64_t entries = 0;
    for (size_t i = 0; rc == FRZ_E_ARGUMENT && i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        if (row != ENDED && !frz_is_null(array, row) && !parquet_plain_fits(leaf, array, row)) {
            return frz_context(err, rc, "row %lld", (long long)row_of_slot(s, in, i));
        }
    }
    return rc;
}

/* Slots whose rows follow from their levels. */
static frz_code shred_raised(const parquet_write_node *node, parquet_column_writer *column,
                             const struct ArrowArray *array, const slots *in, slot_memory *m,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const bool by_slot = in->rows == ROW_BY_SLOT;
    /* rows of lists are not cut; rows without lists are taken in pieces that stay in cache */
    size_t piece = in->rep == NULL && by_slot ? ROWS_AT_ONCE : in->count;
    for (size_t from = 0; from < in->count; from += piece) {
        parquet_write_run run = {
            .count = FRZ_MIN(piece, in->count - from),
            .rep = in->rep,
            .first = in->first + (int64_t)from,
            .by_slot = by_slot,
        };
        FRZ_TRY(raise_levels(node, array, in, from, run.count, m, &run.def, err));
        FRZ_TRY(parquet_column_writer_append(column, array, &run, err));
    }
out:
    return rc;
}

static frz_code shred_leaf(shredder *s, const parquet_write_node *node,
                           const struct ArrowArray *array, const slots *in, frz_error *err)
{
    parquet_column_writer *column = &s->columns[node->first_leaf];
    frz_code rc = FRZ_OK;
    parquet_write_run run = {.count = in->count, .rep = in->rep, .first = in->first};
    slot_memory m;
    memory_init(&m, s->env);
    if (node->required && has_nulls(array)) {
        FRZ_TRY(check_present(s, node, array, in, err));
    }
    if (in->def == NULL && in->rows != ROW_BY_INDEX && !has_nulls(array)) {
        FRZ_TRY(parquet_column_writer_append(column, array, &run, err));
    } else if (is_raised(array, in)) {
        FRZ_TRY(shred_raised(node, column, array, in, &m, err));
    } else {
        FRZ_TRY(memory_reserve(&m, in->count, err));
        walk_levels(node, array, in, 0, false, m.def.data, memory_index(&m));
        run.def = m.def.data;
        run.places = memory_index(&m);
        FRZ_TRY(parquet_column_writer_append(column, array, &run, err));
    }
out:
    memory_reset(&m);
    return name_row(s, column->leaf, array, in, rc, err);
}

/* ---- validity of structs, lists and maps ---- */

/* Slots after the node's own validity. shift is added to the rows of slots that go on. */
static frz_code pass_node(const shredder *s, const parquet_write_node *node,
                          const struct ArrowArray *array, const slots *in, int64_t shift,
                          slot_memory *m, slots *out, frz_error *err)
{
    const bool nulls = has_nulls(array);
    frz_code rc = FRZ_OK;
    slots passed = *in;
    passed.level = node->def;
    passed.first += shift;
    if (node->required && nulls) {
        FRZ_TRY(check_present(s, node, array, in, err));
    }
    if (is_raised(array, in)) {
        if (in->def != NULL || nulls) {
            FRZ_TRY(raise_levels(node, array, in, 0, in->count, m, &passed.def, err));
        }
    } else {
        FRZ_TRY(memory_reserve(m, in->count, err));
        walk_levels(node, array, in, shift, true, m->def.data, memory_index(m));
        passed.rows = ROW_BY_INDEX;
        passed.def = m->def.data;
        passed.index = memory_index(m);
    }
    *out = passed;
out:
    return rc;
}

static frz_code shred_struct(shredder *s, const parquet_write_node *node,
                             const struct ArrowArray *array, const slots *in, frz_error *err)
{
    frz_code rc = FRZ_OK;
    slot_memory m;
    slots inner;
    memory_init(&m, s->env);
    FRZ_TRY(pass_node(s, node, array, in, array->offset, &m, &inner, err));
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(shred_node(s, &node->children[i], array->children[i], &inner, err));
    }
out:
    memory_reset(&m);
    return rc;
}

/* ---- lists and maps ---- */

/* If no slot has ended, no list is empty, and the entries lie one after the other: only where rows
 * begin is new. */
static bool is_dense(const slots *in, const int32_t *offsets)
{
    if (in->def != NULL || in->rows == ROW_BY_INDEX || in->count == 0) {
        return false;
    }
    const int32_t *first = offsets + in->first;
    for (size_t i = 0; i < in->count; i++) {
        if (first[i + 1] <= first[i]) {
            return false;
        }
    }
    return true;
}

static frz_code expand_dense(const parquet_write_node *node, const int32_t *offsets,
                             const slots *in, int64_t shift, slot_memory *m, slots *out,
                             frz_error *err)
{
    const int32_t *first = offsets + in->first;
    size_t total = (size_t)(first[in->count] - first[0]);
    frz_code rc = frz_buf_reserve(&m->rep, total, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    memset(m->rep.data, node->rep, total);
    for (size_t i = 0; i < in->count; i++) {
        m->rep.data[first[i] - first[0]] = in->rep != NULL ? in->rep[i] : 0;
    }
    *out = (slots){.count = total,
                   .level = (uint8_t)(node->def + 1),
                   .rep = m->rep.data,
                   .first = first[0] + shift};
    return FRZ_OK;
}

/* What lists turn into. */
typedef struct expansion {
    size_t count;  /* slots */
    int64_t first; /* entry */
    bool joined;   /* entries follow each other */
} expansion;

static expansion measure_lists(const slots *in, const int32_t *offsets)
{
    expansion e = {.joined = true};
    int64_t entries = 0;
    int64_t end = ENDED;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        int64_t length = row == ENDED ? 0 : (int64_t)offsets[row + 1] - offsets[row];
        e.count += length > 0 ? (size_t)length : 1;
        if (length > 0) {
            e.first = end == ENDED ? offsets[row] : e.first;
            e.joined = e.joined && (end == ENDED || end == offsets[row]);
            end = offsets[row + 1];
        }
    }
    return e;
}

/* Few bytes by one store; LEVELS_SLACK bytes behind the first are written. */
static inline void fill_levels(uint8_t *levels, uint8_t value, size_t count)
{
    if (count > LEVELS_SLACK) {
        memset(levels, value, count);
    } else {
        frz_store_le64(levels, value * UINT64_C(0x0101010101010101));
    }
}

/* One slot per entry; a null or empty list keeps one that ends here. */
static void expand_levels(const parquet_write_node *node, const int32_t *offsets, const slots *in,
                          uint8_t *def, uint8_t *rep)
{
    int64_t entries = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        int64_t length = row == ENDED ? 0 : (int64_t)offsets[row + 1] - offsets[row];
        size_t count = length > 0 ? (size_t)length : 1;
        fill_levels(def, length > 0 ? (uint8_t)(node->def + 1) : slot_def(in, i), count);
        fill_levels(rep, node->rep, count);
        rep[0] = in->rep != NULL ? in->rep[i] : 0;
        def += count;
        rep += count;
    }
}

static void expand_index(const int32_t *offsets, const slots *in, int64_t shift, int64_t *index)
{
    int64_t entries = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = next_row(in, i, &entries);
        int64_t start = row == ENDED ? 0 : offsets[row];
        int64_t length = row == ENDED ? 0 : offsets[row + 1] - start;
        if (length <= 0) {
            *index++ = ENDED;
        }
        for (int64_t k = 0; k < length; k++) {
            *index++ = start + k + shift;
        }
    }
}

/* shift is that of the array that holds the entries. */
static frz_code expand_list(const parquet_write_node *node, const struct ArrowArray *array,
                            const slots *in, int64_t shift, slot_memory *m, slots *out,
                            frz_error *err)
{
    /* an array without rows may come without offsets; then no slot has a row */
    const int32_t *offsets = array->buffers[1];
    frz_code rc = FRZ_OK;
    offsets = offsets == NULL ? NULL : offsets + array->offset;
    if (is_dense(in, offsets)) {
        return expand_dense(node, offsets, in, shift, m, out, err);
    }
    const expansion e = measure_lists(in, offsets);
    FRZ_TRY(levels_reserve(m, e.count, err));
    expand_levels(node, offsets, in, m->def.data, m->rep.data);
    slots entries = {
        .count = e.count,
        .level = (uint8_t)(node->def + 1),
        .def = m->def.data,
        .rep = m->rep.data,
        .rows = ROW_BY_ENTRY,
        .first = e.first + shift,
    };
    if (!e.joined) {
        FRZ_TRY(memory_reserve(m, e.count, err));
        expand_index(offsets, in, shift, memory_index(m));
        entries.rows = ROW_BY_INDEX;
        entries.index = memory_index(m);
    }
    *out = entries;
out:
    return rc;
}

static frz_code shred_list(shredder *s, const parquet_write_node *node,
                           const struct ArrowArray *array, const slots *in, frz_error *err)
{
    frz_code rc = FRZ_OK;
    slot_memory own, below;
    slots lists, entries;
    memory_init(&own, s->env);
    memory_init(&below, s->env);
    const bool map = node->kind == PARQUET_NODE_MAP;
    const struct ArrowArray *child = array->children[0];
    FRZ_TRY(pass_node(s, node, array, in, 0, &own, &lists, err));
    FRZ_TRY(expand_list(node, array, &lists, map ? child->offset : 0, &below, &entries, err));
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(shred_node(s, &node->children[i], map ? child->children[i] : child, &entries, err));
    }
out:
    memory_reset(&own);
    memory_reset(&below);
    return rc;
}

static frz_code shred_node(shredder *s, const parquet_write_node *node,
                           const struct ArrowArray *array, const slots *in, frz_error *err)
{
    if (!node->stored) {
        return FRZ_OK;
    }
    switch (node->kind) {
    case PARQUET_NODE_STRUCT:
        return shred_struct(s, node, array, in, err);
    case PARQUET_NODE_LIST:
    case PARQUET_NODE_MAP:
        return shred_list(s, node, array, in, err);
    default:
        return shred_leaf(s, node, array, in, err);
    }
}

frz_code parquet_shred(const frz_env *env, const parquet_write_node *node,
                       parquet_column_writer *columns, const struct ArrowArray *array,
                       int64_t first, int64_t count, int64_t first_row, frz_error *err)
{
    shredder s = {.env = env, .columns = columns, .first_row = first_row};
    /* nested slots take memory: not too many rows at once */
    int64_t step = node->kind == PARQUET_NODE_LEAF ? count : ROWS_AT_ONCE;
    const uint8_t level = (uint8_t)(node->def - !node->required); /* of what is around it */
    for (int64_t done = 0; done < count; done += step) {
        slots rows = {
            .count = (size_t)FRZ_MIN(step, count - done), .level = level, .first = first + done};
        s.first_row = first_row + done;
        frz_code rc = shred_node(&s, node, array, &rows, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}
