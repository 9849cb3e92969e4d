/*
 * Arrays from levels and dense values. spec: Nested Encoding
 *
 * A level entry stands for a slot of a node if its definition level reaches the innermost list or
 * map around the node (slot_def), and if its repetition level does not continue a list inside the
 * node. The slot holds a value if the definition level reaches the node itself (def). All leaves of
 * a node must agree on the number of slots; which of them is asked does not matter.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"
#include "type/type_variant.h"

/* Level entries looked at at a time, and their bits. */
#define BLOCK 1024
#define WORDS (BLOCK / 64)

/* The levels of the rows being assembled. */
typedef struct entries {
    const parquet_kernels *kernels;
    const uint8_t *defs, *reps; /* reps NULL: all 0 */
    size_t count;
} entries;

static entries leaf_levels(const parquet_leaf *leaf, int64_t rows)
{
    return (entries){.kernels = parquet_kernels_of(leaf->sink.env),
                     .defs = leaf->out_defs.data,
                     .reps = leaf->column->max_rep > 0 ? leaf->out_reps.data : NULL,
                     .count = parquet_leaf_entries(leaf, rows)};
}

static frz_code disagree(const parquet_plan *plan, size_t found, size_t expected, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT,
                    "column \"%s\": the levels hold %zu values where its siblings hold %zu",
                    plan->node->path, found, expected);
}

static frz_code null_in_required(const parquet_plan *plan, const parquet_leaf *leaf,
                                 const entries *e, size_t at, frz_error *err)
{
    int64_t row = leaf->row - leaf->out_rows - 1;
    for (size_t i = 0; i <= at; i++) {
        row += e->reps == NULL || e->reps[i] == 0;
    }
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\", row %" PRId64 ": null in a required field",
                    plan->node->path, row);
}

/* ---- bits of entries ---- */

/* Of n entries from at on: which reach a definition level without continuing a list inside of a
 * repetition level. */
static void entry_bits(const entries *e, size_t at, size_t n, uint8_t def, uint8_t rep,
                       uint64_t *out)
{
    uint64_t inside[WORDS];
    e->kernels->at_least(e->defs + at, n, def, out);
    if (e->reps != NULL && rep < UINT8_MAX) {
        e->kernels->at_least(e->reps + at, n, (uint8_t)(rep + 1), inside);
        for (size_t i = 0; i < (n + 63) / 64; i++) {
            out[i] &= ~inside[i];
        }
    }
}

/* The first entry that has no value although the node around it has; SIZE_MAX: none. */
static size_t find_missing(const entries *e, size_t at, size_t n, uint8_t parent_def,
                           const uint64_t *slots, const uint64_t *valid)
{
    uint64_t parent[WORDS];
    e->kernels->at_least(e->defs + at, n, parent_def, parent);
    for (size_t i = 0; i < (n + 63) / 64; i++) {
        uint64_t missing = slots[i] & parent[i] & ~valid[i];
        if (missing != 0) {
            return at + i * 64 + (size_t)__builtin_ctzll(missing);
        }
    }
    return SIZE_MAX;
}

/* ---- validity ---- */

/*
 * One bit per slot of a node. *out stays NULL if every slot has a value. length: slots that the
 * parent has.
 */
static frz_code build_validity(const frz_env *env, const parquet_plan *plan,
                               const parquet_leaf *leaf, const entries *e, uint8_t parent_def,
                               size_t length, frz_buffer **out, int64_t *nulls, frz_error *err)
{
    const parquet_node *node = plan->node;
    size_t slots = 0;
    frz_buffer *bits;
    frz_code rc =
        frz_buffer_new(env, frz_bitmap_bytes((int64_t)length) + PARQUET_SLACK, &bits, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    memset(bits->data, 0, bits->size);
    size_t valid = 0;
    for (size_t at = 0; at < e->count && slots <= length; at += BLOCK) {
        size_t n = FRZ_MIN(e->count - at, (size_t)BLOCK);
        size_t words = (n + 63) / 64;
        uint64_t slot[WORDS], value[WORDS];
        entry_bits(e, at, n, node->slot_def, node->rep, slot);
        e->kernels->at_least(e->defs + at, n, node->def, value);
        if (slots + e->kernels->ones(slot, words) > length) {
            slots = length + 1;
            break;
        }
        if (plan->field->required) {
            size_t missing = find_missing(e, at, n, parent_def, slot, value);
            if (missing != SIZE_MAX) {
                rc = null_in_required(plan, leaf, e, missing, err);
                goto out;
            }
        }
        slots += e->kernels->append_bits(value, slot, words, bits->data, slots);
        for (size_t i = 0; i < words; i++) {
            value[i] &= slot[i];
        }
        valid += e->kernels->ones(value, words);
    }
    if (slots != length) {
        rc = disagree(plan, slots, length, err);
        goto out;
    }
    bits->size = frz_bitmap_bytes((int64_t)length);
    *nulls = (int64_t)(length - valid);
    if (valid < length) {
        *out = bits;
        bits = NULL;
    }
out:
    frz_buffer_unref(bits);
    return rc;
}

/* ---- primitives ---- */

static frz_code assemble_primitive(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                                   int64_t rows, size_t length, struct ArrowArray *out,
                                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_leaf *leaf = plan->leaf;
    entries e = leaf_levels(leaf, rows);
    frz_buffer *validity = NULL;
    int64_t nulls = 0;
    parquet_sink part = {.env = env};
    FRZ_TRY(build_validity(env, plan, leaf, &e, parent_def, length, &validity, &nulls, err));
    FRZ_TRY(parquet_sink_take(&leaf->sink, length - (size_t)nulls, &part, err));
    if (nulls > 0) {
        FRZ_TRY(parquet_sink_reserve(&part, (size_t)nulls, 0, err));
        parquet_sink_spread(&part, 0, length, validity->data, 0);
        part.validity = validity;
        validity = NULL;
    }
    FRZ_TRY(parquet_sink_finish(&part, out, err));
out:
    frz_buffer_unref(validity);
    parquet_sink_reset(&part);
    return rc;
}

/* ---- nested ---- */

static frz_code assemble_node(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                              int64_t rows, size_t length, struct ArrowArray *out, frz_error *err);

static frz_code assemble_children(const frz_env *env, const parquet_plan *plan, uint8_t def,
                                  int64_t rows, size_t length, struct ArrowArray **out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *children = frz_alloc_zero(env, plan->child_count, sizeof *children);
    if (children == NULL) {
        return frz_fail_nomem(err, plan->child_count * sizeof *children);
    }
    for (size_t i = 0; i < plan->child_count; i++) {
        FRZ_TRY(assemble_node(env, &plan->children[i], def, rows, length, &children[i], err));
    }
    *out = children;
    children = NULL;
out:
    for (size_t i = 0; children != NULL && i < plan->child_count; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(env, children);
    return rc;
}

static frz_code assemble_struct(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                                int64_t rows, size_t length, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *validity = NULL;
    struct ArrowArray *children = NULL;
    int64_t nulls = 0;
    /* what is required inside something optional is absent where that is, which needs no bits */
    if (plan->node->def > parent_def) {
        entries e = leaf_levels(plan->levels, rows);
        FRZ_TRY(build_validity(env, plan, plan->levels, &e, parent_def, length, &validity, &nulls,
                               err));
    }
    FRZ_TRY(assemble_children(env, plan, plan->node->def, rows, length, &children, err));
    frz_buffer *buffers[1] = {validity};
    validity = NULL;
    FRZ_TRY(frz_array_make(env, (int64_t)length, nulls, buffers, 1, children, plan->child_count,
                           out, err));
out:
    frz_free(env, children);
    frz_buffer_unref(validity);
    return rc;
}

/* True if an item stands before the first list of a block. */
static bool item_of_nothing(const uint64_t *starts, const uint64_t *items, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t before = starts[i] == 0 ? UINT64_MAX : (starts[i] & (0 - starts[i])) - 1;
        if ((items[i] & before) != 0 || starts[i] != 0) {
            return (items[i] & before) != 0;
        }
    }
    return false;
}

/* Offsets of the items of a list or map; *items receives how many there are. */
static frz_code build_offsets(const frz_env *env, const parquet_plan *plan, const entries *e,
                              size_t length, frz_buffer **out, size_t *items, frz_error *err)
{
    const parquet_node *node = plan->node;
    frz_buffer *buffer;
    size_t slots = 0;
    size_t count = 0;
    frz_code rc = frz_buffer_new(env, (length + 1) * sizeof(int32_t), &buffer, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int32_t *offsets = (int32_t *)(void *)buffer->data;
    for (size_t at = 0; at < e->count; at += BLOCK) {
        size_t n = FRZ_MIN(e->count - at, (size_t)BLOCK);
        size_t words = (n + 63) / 64;
        uint64_t start[WORDS], item[WORDS];
        entry_bits(e, at, n, node->slot_def, node->rep, start);
        entry_bits(e, at, n, node->item_def, node->item_rep, item);
        size_t begun = e->kernels->ones(start, words);
        if (begun > length - slots || (slots == 0 && item_of_nothing(start, item, words))) {
            slots = SIZE_MAX;
            break;
        }
        e->kernels->offsets(start, item, words, (int32_t)count, offsets + slots);
        slots += begun;
        count += e->kernels->ones(item, words);
    }
    if (slots != length) {
        frz_buffer_unref(buffer);
        return disagree(plan, slots, length, err);
    }
    offsets[length] = (int32_t)count;
    *out = buffer;
    *items = count;
    return FRZ_OK;
}

/* A map's items are structs of key and value. */
static frz_code wrap_entries(const frz_env *env, size_t items, struct ArrowArray *children,
                             size_t n, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *none = NULL;
    return frz_array_make(env, (int64_t)items, 0, &none, 1, children, n, out, err);
}

static frz_code assemble_list(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                              int64_t rows, size_t length, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray *children = NULL;
    struct ArrowArray content = {0};
    int64_t nulls = 0;
    size_t items = 0;
    entries e = leaf_levels(plan->levels, rows);
    if (plan->node->def > parent_def) {
        FRZ_TRY(build_validity(env, plan, plan->levels, &e, parent_def, length, &buffers[0], &nulls,
                               err));
    }
    FRZ_TRY(build_offsets(env, plan, &e, length, &buffers[1], &items, err));
    FRZ_TRY(assemble_children(env, plan, plan->node->item_def, rows, items, &children, err));
    if (plan->field->type->id == FRZ_TYPE_MAP) {
        FRZ_TRY(wrap_entries(env, items, children, plan->child_count, &content, err));
    } else {
        frz_array_move(&children[0], &content);
    }
    frz_buffer *moved[2] = {buffers[0], buffers[1]};
    buffers[0] = buffers[1] = NULL;
    FRZ_TRY(frz_array_make(env, (int64_t)length, nulls, moved, 2, &content, 1, out, err));
out:
    frz_free(env, children);
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

/* A field of which the file stores no column: null, or empty where it must be there. */
static frz_code assemble_unstored(const frz_env *env, const frz_field *field, int64_t length,
                                  struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = field->type;
    struct ArrowArray nulls = {0};
    FRZ_TRY(frz_array_nulls(env, type, length, &nulls, err));
    if (!field->required || !frz_type_is_nested(type)) {
        frz_array_move(&nulls, out);
        return FRZ_OK;
    }
    for (size_t i = 0; type->id == FRZ_TYPE_STRUCT && i < type->field_count; i++) {
        struct ArrowArray child = {0};
        FRZ_TRY(assemble_unstored(env, &type->fields[i], length, &child, err));
        frz_array_release(nulls.children[i]);
        frz_array_move(&child, nulls.children[i]);
    }
    FRZ_TRY(frz_array_with_validity(env, &nulls, NULL, out, err));
out:
    frz_array_release(&nulls);
    return rc;
}

/* The group as it is stored, and the variants in it. */
static frz_code assemble_variant(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                                 int64_t rows, size_t length, struct ArrowArray *out,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray stored = {0};
    FRZ_TRY(assemble_struct(env, plan, parent_def, rows, length, &stored, err));
    rc = frz_variant_unshred(env, plan->field->type, &stored, out, err);
    FRZ_TRY(frz_context(err, rc, "column \"%s\"", plan->node->path));
out:
    frz_array_release(&stored);
    return rc;
}

static frz_code assemble_node(const frz_env *env, const parquet_plan *plan, uint8_t parent_def,
                              int64_t rows, size_t length, struct ArrowArray *out, frz_error *err)
{
    const frz_type *type = plan->field->type;
    if (plan->node == NULL) {
        return frz_array_constant(env, type, plan->field->initial_default, (int64_t)length, out,
                                  err);
    }
    if (plan->leaf == NULL && plan->levels == NULL) {
        return assemble_unstored(env, plan->field, (int64_t)length, out, err);
    }
    switch (type->id) {
    case FRZ_TYPE_STRUCT:
        return plan->variant ? assemble_variant(env, plan, parent_def, rows, length, out, err)
                             : assemble_struct(env, plan, parent_def, rows, length, out, err);
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return assemble_list(env, plan, parent_def, rows, length, out, err);
    default:
        return assemble_primitive(env, plan, parent_def, rows, length, out, err);
    }
}

frz_code parquet_assemble(const frz_env *env, const parquet_plan *plan, int64_t rows,
                          struct ArrowArray *out, frz_error *err)
{
    return assemble_node(env, plan, 0, rows, (size_t)rows, out, err);
}
