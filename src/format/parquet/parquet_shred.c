/*
 * Nested arrays as values and levels of leaves. The walk goes from a top-level field down; at each
 * node it holds the slots that the levels of the leaves below count: one per value, null or empty
 * list so far. A slot knows its levels and the row of the node's array that it stands for, or that
 * it ended above. Lists turn one slot into many.
 *
 *  1. As long as nothing was null and no list was met, slots are a range of rows and take no
 *     memory (dense).
 *  2. The definition level of a slot that ended is final; that of others is raised node by node.
 */
#include "format/parquet/parquet_write.h"

#define ROWS_AT_ONCE 4096
#define ENDED (-1)

typedef struct slots {
    size_t count;
    uint8_t level;        /* definition level of all if def is NULL */
    const uint8_t *def;   /* NULL: dense */
    const uint8_t *rep;   /* NULL: all 0 */
    const int64_t *index; /* NULL: dense; else row in the node's array or ENDED */
    int64_t first;        /* dense: row of the first slot */
} slots;

/* The memory of slots that are not dense. */
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

static frz_code memory_reserve(slot_memory *m, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t bytes;
    if (!frz_mul_size(count, sizeof(int64_t), &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu nested values at once", count);
    }
    FRZ_TRY(frz_buf_reserve(&m->def, count, err));
    FRZ_TRY(frz_buf_reserve(&m->rep, count, err));
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

static inline int64_t slot_row(const slots *in, size_t i)
{
    return in->index != NULL ? in->index[i] : in->first + (int64_t)i;
}

static inline uint8_t slot_def(const slots *in, size_t i)
{
    return in->def != NULL ? in->def[i] : in->level;
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

/* ---- leaves ---- */

/* Levels and places of slots that are rows one after the other; returns how many have values. */
static size_t dense_levels(const struct ArrowArray *array, int64_t first, size_t count,
                           uint8_t absent, uint8_t present, uint8_t *def, int64_t *places)
{
    const uint8_t *bits = array->buffers[0];
    const int64_t shift = array->offset;
    size_t values = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t row = first + (int64_t)i;
        bool there = frz_bit_get(bits, shift + row);
        def[i] = there ? present : absent;
        places[values] = row;
        values += there;
    }
    return values;
}

/* Levels and places of slots [from, from + count) of a leaf that may have nulls. */
static frz_code leaf_levels(const shredder *s, const parquet_write_node *node,
                            const struct ArrowArray *array, const slots *in, size_t from,
                            size_t count, slot_memory *m, size_t *present, frz_error *err)
{
    frz_code rc = memory_reserve(m, count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    const bool nulls = has_nulls(array);
    uint8_t *def = m->def.data;
    int64_t *places = memory_index(m);
    size_t values = 0;
    const bool has_bits = nulls && array->n_buffers > 0; /* one of type unknown has none */
    if (in->index == NULL && in->def == NULL && has_bits && !node->required) {
        *present = dense_levels(array, in->first + (int64_t)from, count, in->level, node->def, def,
                                places);
        return FRZ_OK;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t row = slot_row(in, from + i);
        bool there = row != ENDED && !(nulls && frz_is_null(array, row));
        if (row != ENDED && !there && node->required) {
            return fail_null(s, node, in, from + i, err);
        }
        def[i] = there ? node->def : slot_def(in, from + i);
        places[values] = row;
        values += there;
    }
    *present = values;
    return FRZ_OK;
}

/* Say at which row the first value is that the file has no form for. */
static frz_code name_row(const shredder *s, const parquet_write_leaf *leaf,
                         const struct ArrowArray *array, const slots *in, frz_code rc,
                         frz_error *err)
{
    for (size_t i = 0; rc == FRZ_E_ARGUMENT && i < in->count; i++) {
        int64_t row = slot_row(in, i);
        if (row != ENDED && !frz_is_null(array, row) && !parquet_plain_fits(leaf, array, row)) {
            return frz_context(err, rc, "row %lld", (long long)row_of_slot(s, in, i));
        }
    }
    return rc;
}

static frz_code shred_leaf(shredder *s, const parquet_write_node *node,
                           const struct ArrowArray *array, const slots *in, frz_error *err)
{
    parquet_column_writer *column = &s->columns[node->first_leaf];
    frz_code rc = FRZ_OK;
    slot_memory m;
    memory_init(&m, s->env);
    if (in->index == NULL && !has_nulls(array)) {
        parquet_write_run run = {.count = in->count, .rep = in->rep, .first = in->first};
        rc = parquet_column_writer_append(column, array, &run, err);
        return name_row(s, column->leaf, array, in, rc, err);
    }
    /* rows of lists are not cut; rows without lists are taken in pieces that stay in cache */
    size_t piece = in->rep == NULL ? ROWS_AT_ONCE : in->count;
    for (size_t from = 0; from < in->count; from += piece) {
        parquet_write_run run = {.count = FRZ_MIN(piece, in->count - from)};
        size_t present;
        FRZ_TRY(leaf_levels(s, node, array, in, from, run.count, &m, &present, err));
        run.def = m.def.data;
        run.rep = in->rep;
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
    if (in->index == NULL && !nulls) {
        *out = *in;
        out->level = node->def;
        out->first += shift;
        return FRZ_OK;
    }
    frz_code rc = memory_reserve(m, in->count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *def = m->def.data;
    int64_t *index = memory_index(m);
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = slot_row(in, i);
        bool there = row != ENDED && !(nulls && frz_is_null(array, row));
        if (row != ENDED && !there && node->required) {
            return fail_null(s, node, in, i, err);
        }
        def[i] = there ? node->def : slot_def(in, i);
        index[i] = there ? row + shift : ENDED;
    }
    *out = (slots){.count = in->count, .def = def, .rep = in->rep, .index = index};
    return FRZ_OK;
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

static size_t count_entries(const slots *in, const int32_t *offsets)
{
    size_t total = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = slot_row(in, i);
        int64_t length = row == ENDED ? 0 : (int64_t)offsets[row + 1] - offsets[row];
        total += length > 0 ? (size_t)length : 1;
    }
    return total;
}

/* If the entries of the lists lie one after the other and no list is empty: only where rows begin
 * is new. *done is false, and nothing was made, if that is not so. */
static frz_code expand_dense(const parquet_write_node *node, const int32_t *offsets,
                             const slots *in, int64_t shift, slot_memory *m, slots *out, bool *done,
                             frz_error *err)
{
    *done = false;
    if (in->index != NULL || in->count == 0) {
        return FRZ_OK;
    }
    const int32_t *first = offsets + in->first;
    for (size_t i = 0; i < in->count; i++) {
        if (first[i + 1] <= first[i]) {
            return FRZ_OK;
        }
    }
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
    *done = true;
    return FRZ_OK;
}

/* One slot per entry; a null or empty list keeps one that ends here. shift is that of the array
 * that holds the entries. */
static frz_code expand_list(const parquet_write_node *node, const struct ArrowArray *array,
                            const slots *in, int64_t shift, slot_memory *m, slots *out,
                            frz_error *err)
{
    /* an array without rows may come without offsets; then no slot has a row */
    const int32_t *offsets = array->buffers[1];
    offsets = offsets == NULL ? NULL : offsets + array->offset;
    bool done;
    frz_code rc = expand_dense(node, offsets, in, shift, m, out, &done, err);
    if (rc != FRZ_OK || done) {
        return rc;
    }
    size_t total = count_entries(in, offsets);
    rc = memory_reserve(m, total, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *def = m->def.data;
    uint8_t *rep = m->rep.data;
    int64_t *index = memory_index(m);
    size_t n = 0;
    for (size_t i = 0; i < in->count; i++) {
        int64_t row = slot_row(in, i);
        uint8_t outer = in->rep != NULL ? in->rep[i] : 0;
        int64_t start = row == ENDED ? 0 : offsets[row];
        int64_t length = row == ENDED ? 0 : offsets[row + 1] - start;
        if (length <= 0) {
            def[n] = slot_def(in, i);
            rep[n] = outer;
            index[n++] = ENDED;
            continue;
        }
        memset(def + n, node->def + 1, (size_t)length);
        memset(rep + n, node->rep, (size_t)length);
        rep[n] = outer;
        for (int64_t k = 0; k < length; k++) {
            index[n++] = start + k + shift;
        }
    }
    *out = (slots){.count = n, .def = def, .rep = rep, .index = index};
    return FRZ_OK;
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
    for (int64_t done = 0; done < count; done += step) {
        slots rows = {.count = (size_t)FRZ_MIN(step, count - done), .first = first + done};
        s.first_row = first_row + done;
        frz_code rc = shred_node(&s, node, array, &rows, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}
