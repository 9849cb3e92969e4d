/*
 * Copying some rows of an array, by the layout of its type: the buffers of the rows that are
 * wanted, and of nested types the rows of the children that these hold.
 */
#include "arrow/arrow_take.h"

#define VIEW 16
#define VIEW_INLINE 12

typedef struct taking {
    const frz_env *env;
    const frz_take_part *part;
    const struct ArrowArray *src;
    const int64_t *rows;
    int64_t count;
    int64_t nulls;
    frz_buffer *buffers[4]; /* views: validity, views, bytes, sizes */
    size_t buffer_count;
    struct ArrowArray *children;
    size_t child_count;
} taking;

static int64_t load(const void *items, size_t width, int64_t i)
{
    switch (width) {
    case 2:
        return ((const int16_t *)items)[i];
    case 4:
        return ((const int32_t *)items)[i];
    default:
        return ((const int64_t *)items)[i];
    }
}

static void store(void *items, size_t width, int64_t i, int64_t value)
{
    switch (width) {
    case 2:
        ((int16_t *)items)[i] = (int16_t)value;
        break;
    case 4:
        ((int32_t *)items)[i] = (int32_t)value;
        break;
    default:
        ((int64_t *)items)[i] = value;
        break;
    }
}

/* The place in the source's buffers of wanted row i. */
static int64_t slot_of(const taking *t, int64_t i)
{
    return t->src->offset + t->rows[i];
}

static bool is_null(const taking *t, int64_t i)
{
    return ipc_type_has_validity(&t->part->field->type) && t->src->buffers[0] != NULL &&
           !frz_bit_get(t->src->buffers[0], slot_of(t, i));
}

static frz_code new_items(const taking *t, int64_t count, size_t width, frz_buffer **out,
                          frz_error *err)
{
    size_t bytes;
    if (!frz_mul_size((size_t)count, width, &bytes)) {
        return frz_fail(err, FRZ_E_LIMIT, "%lld items of %zu bytes", (long long)count, width);
    }
    return frz_buffer_new(t->env, bytes, out, err);
}

/* ---- buffers of a row's own ---- */

static frz_code take_bits(const taking *t, size_t buffer, frz_buffer **out, frz_error *err)
{
    frz_code rc = frz_buffer_new(t->env, frz_bitmap_bytes(t->count), out, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    memset((*out)->data, 0, (*out)->size);
    for (int64_t i = 0; i < t->count; i++) {
        if (frz_bit_get(t->src->buffers[buffer], slot_of(t, i))) {
            frz_bit_set((*out)->data, i);
        }
    }
    return FRZ_OK;
}

static frz_code take_validity(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!ipc_type_has_validity(&t->part->field->type) || t->src->buffers[0] == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(take_bits(t, 0, &t->buffers[0], err));
    t->nulls = t->count - frz_bitmap_count(t->buffers[0]->data, 0, t->count);
    if (t->nulls == 0) {
        frz_buffer_unref(t->buffers[0]);
        t->buffers[0] = NULL;
    }
out:
    return rc;
}

static frz_code take_values(taking *t, size_t buffer, size_t width, frz_error *err)
{
    frz_buffer **out = &t->buffers[buffer];
    frz_code rc = new_items(t, t->count, width, out, err);
    const uint8_t *from = t->src->buffers[buffer];
    for (int64_t i = 0; i < t->count && rc == FRZ_OK && width > 0; i++) {
        memcpy((*out)->data + (size_t)i * width, from + (size_t)slot_of(t, i) * width, width);
    }
    return rc;
}

static frz_code take_bytes(taking *t, size_t width, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t total = 0;
    FRZ_TRY(new_items(t, t->count + 1, width, &t->buffers[1], err));
    for (int64_t i = 0; i < t->count; i++) {
        int64_t slot = slot_of(t, i);
        store(t->buffers[1]->data, width, i, total);
        total += is_null(t, i) ? 0
                               : load(t->src->buffers[1], width, slot + 1) -
                                     load(t->src->buffers[1], width, slot);
    }
    if (width == sizeof(int32_t) && total > INT32_MAX) {
        rc = frz_fail(err, FRZ_E_LIMIT, "a batch holds more than 2 GiB of text");
        goto out;
    }
    store(t->buffers[1]->data, width, t->count, total);
    FRZ_TRY(frz_buffer_new(t->env, (size_t)total, &t->buffers[2], err));
    for (int64_t i = 0; i < t->count; i++) {
        int64_t from = load(t->buffers[1]->data, width, i);
        int64_t bytes = load(t->buffers[1]->data, width, i + 1) - from;
        if (bytes > 0) {
            int64_t start = load(t->src->buffers[1], width, slot_of(t, i));
            memcpy(t->buffers[2]->data + from, (const uint8_t *)t->src->buffers[2] + start,
                   (size_t)bytes);
        }
    }
out:
    return rc;
}

/* Long values come to lie in one buffer. */
static frz_code take_long_views(taking *t, int64_t total, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t at = 0;
    if (total > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "a batch holds more than 2 GiB of text");
    }
    FRZ_TRY(frz_buffer_new(t->env, (size_t)total, &t->buffers[2], err));
    for (int64_t i = 0; i < t->count; i++) {
        uint8_t *view = t->buffers[1]->data + i * VIEW;
        uint32_t len = frz_load_le32(view);
        if (len <= VIEW_INLINE) {
            continue;
        }
        const uint8_t *from = t->src->buffers[2 + frz_load_le32(view + 8)];
        memcpy(t->buffers[2]->data + at, from + frz_load_le32(view + 12), len);
        frz_store_le32(view + 8, 0);
        frz_store_le32(view + 12, (uint32_t)at);
        at += len;
    }
out:
    return rc;
}

static frz_code take_views(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t total = 0;
    FRZ_TRY(take_values(t, 1, VIEW, err));
    for (int64_t i = 0; i < t->count; i++) {
        uint8_t *view = t->buffers[1]->data + i * VIEW;
        if (is_null(t, i)) {
            memset(view, 0, VIEW); /* what is under a null may point anywhere */
        }
        uint32_t len = frz_load_le32(view);
        total += len > VIEW_INLINE ? (int64_t)len : 0;
    }
    size_t sizes = total > 0 ? 3 : 2;
    if (total > 0) {
        FRZ_TRY(take_long_views(t, total, err));
    }
    FRZ_TRY(new_items(t, total > 0, sizeof total, &t->buffers[sizes], err));
    if (total > 0) {
        store(t->buffers[sizes]->data, sizeof total, 0, total);
    }
    t->buffer_count = sizes + 1;
out:
    return rc;
}

/* ---- rows of children ---- */

/* A child's part, or all of it. */
static frz_take_part part_of(const frz_take_part *part, size_t i)
{
    if (part->whole) {
        return (frz_take_part){.field = &part->field->children[i], .whole = true};
    }
    return part->children[i];
}

static size_t place_of(const frz_take_part *part, size_t i)
{
    return part->whole ? i : part->places[i];
}

static frz_code take_child(taking *t, size_t i, const int64_t *rows, int64_t count, frz_error *err)
{
    frz_take_part part = part_of(t->part, i);
    return frz_array_take(t->env, &part, t->src->children[place_of(t->part, i)], rows, count,
                          &t->children[i], err);
}

/* First item and number of items of wanted row i. */
static void items_of(const taking *t, int64_t i, int64_t *first, int64_t *count)
{
    const ipc_type *type = &t->part->field->type;
    size_t width = (size_t)type->width;
    int64_t slot = slot_of(t, i);
    if (type->layout == IPC_FIXED_ITEMS) {
        *first = slot * type->width;
        *count = type->width;
        return;
    }
    *first = *count = 0;
    if (is_null(t, i)) {
        return;
    }
    *first = load(t->src->buffers[1], width, slot);
    *count = type->layout == IPC_ITEM_VIEWS ? load(t->src->buffers[2], width, slot)
                                            : load(t->src->buffers[1], width, slot + 1) - *first;
}

/* Offsets into the items that are taken, and sizes for views. */
static frz_code take_item_offsets(taking *t, int64_t total, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const ipc_type *type = &t->part->field->type;
    size_t width = (size_t)type->width;
    bool views = type->layout == IPC_ITEM_VIEWS;
    int64_t at = 0;
    if (type->layout == IPC_FIXED_ITEMS) {
        return FRZ_OK;
    }
    if (width == 4 && total > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "a batch holds more than 2^31 items of lists");
    }
    FRZ_TRY(new_items(t, t->count + !views, width, &t->buffers[1], err));
    if (views) {
        FRZ_TRY(new_items(t, t->count, width, &t->buffers[2], err));
    }
    for (int64_t i = 0; i < t->count; i++) {
        int64_t first, count;
        items_of(t, i, &first, &count);
        store(t->buffers[1]->data, width, i, at);
        if (views) {
            store(t->buffers[2]->data, width, i, count);
        }
        at += count;
    }
    if (!views) {
        store(t->buffers[1]->data, width, t->count, at);
    }
out:
    return rc;
}

static frz_code take_items(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t *items = NULL;
    int64_t total = 0;
    int64_t at = 0;
    int64_t first, count;
    for (int64_t i = 0; i < t->count; i++) {
        items_of(t, i, &first, &count);
        if (!frz_add_i64(total, count, &total)) {
            return frz_fail(err, FRZ_E_LIMIT, "the lists of a batch hold more than 2^63 items");
        }
    }
    FRZ_TRY(take_item_offsets(t, total, err));
    items = frz_alloc_zero(t->env, (size_t)total, sizeof *items);
    if (items == NULL) {
        rc = frz_fail_nomem(err, (size_t)total * sizeof *items);
        goto out;
    }
    for (int64_t i = 0; i < t->count; i++) {
        items_of(t, i, &first, &count);
        for (int64_t k = 0; k < count; k++) {
            items[at++] = first + k;
        }
    }
    FRZ_TRY(take_child(t, 0, items, total, err));
out:
    frz_free(t->env, items);
    return rc;
}

/* Children as long as the parent: structs and sparse unions. */
static frz_code take_fields(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t *slots = frz_alloc_zero(t->env, (size_t)t->count, sizeof *slots);
    if (slots == NULL) {
        return frz_fail_nomem(err, (size_t)t->count * sizeof *slots);
    }
    for (int64_t i = 0; i < t->count; i++) {
        slots[i] = slot_of(t, i);
    }
    for (size_t c = 0; c < t->child_count; c++) {
        FRZ_TRY(take_child(t, c, slots, t->count, err));
    }
out:
    frz_free(t->env, slots);
    return rc;
}

static frz_code take_dense(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const ipc_union *choice = t->part->field->type.choice;
    int64_t *rows = frz_alloc_zero(t->env, (size_t)t->count, sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(err, (size_t)t->count * sizeof *rows);
    }
    FRZ_TRY(take_values(t, 0, 1, err));
    FRZ_TRY(new_items(t, t->count, sizeof(int32_t), &t->buffers[1], err));
    memset(t->buffers[1]->data, 0, t->buffers[1]->size);
    for (size_t c = 0; c < t->child_count; c++) {
        int64_t count = 0;
        for (int64_t i = 0; i < t->count; i++) {
            if (t->buffers[0]->data[i] == choice->ids[c]) {
                store(t->buffers[1]->data, sizeof(int32_t), i, count);
                rows[count++] = load(t->src->buffers[1], sizeof(int32_t), slot_of(t, i));
            }
        }
        FRZ_TRY(take_child(t, c, rows, count, err));
    }
out:
    frz_free(t->env, rows);
    return rc;
}

/* ---- runs ---- */

/* The run that a logical place lies in: the first that ends behind it. */
static int64_t run_of(const struct ArrowArray *ends, size_t width, int64_t place)
{
    int64_t low = 0;
    int64_t high = ends->length - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (load(ends->buffers[1], width, ends->offset + middle) > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Rows of one run that follow each other stay one. */
static frz_code take_runs(taking *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)t->part->field->children[0].type.width;
    frz_buffer *ends[2] = {NULL, NULL};
    int64_t runs = 0;
    if (t->count > INT64_MAX >> (64 - 8 * width)) {
        return frz_fail(err, FRZ_E_LIMIT, "runs of %lld rows, their ends have %d bits",
                        (long long)t->count, (int)(8 * width));
    }
    int64_t *from = frz_alloc_zero(t->env, (size_t)t->count, sizeof *from);
    if (from == NULL) {
        return frz_fail_nomem(err, (size_t)t->count * sizeof *from);
    }
    FRZ_TRY(new_items(t, t->count, width, &ends[1], err));
    for (int64_t i = 0; i < t->count; i++) {
        int64_t run = run_of(t->src->children[0], width, slot_of(t, i));
        if (runs == 0 || from[runs - 1] != run) {
            from[runs++] = run;
        }
        store(ends[1]->data, width, runs - 1, i + 1);
    }
    rc = frz_array_make(t->env, runs, 0, ends, 2, NULL, 0, &t->children[0], err);
    ends[1] = NULL; /* moved, also on failure */
    FRZ_TRY(rc);
    FRZ_TRY(take_child(t, 1, from, runs, err));
out:
    frz_buffer_unref(ends[1]);
    frz_free(t->env, from);
    return rc;
}

/* ---- any layout ---- */

static frz_code take_layout(taking *t, frz_error *err)
{
    size_t width = (size_t)t->part->field->type.width;
    switch (t->part->field->type.layout) {
    case IPC_BITS:
        return take_bits(t, 1, &t->buffers[1], err);
    case IPC_FIXED:
        return take_values(t, 1, width, err);
    case IPC_BYTES:
        return take_bytes(t, width, err);
    case IPC_VIEWS:
        return take_views(t, err);
    case IPC_ITEMS:
    case IPC_ITEM_VIEWS:
    case IPC_FIXED_ITEMS:
        return take_items(t, err);
    case IPC_FIELDS:
        return take_fields(t, err);
    case IPC_SPARSE: {
        frz_code rc = take_values(t, 0, 1, err);
        return rc == FRZ_OK ? take_fields(t, err) : rc;
    }
    case IPC_DENSE:
        return take_dense(t, err);
    case IPC_RUNS:
        return take_runs(t, err);
    case IPC_NULLS:
    default:
        t->nulls = t->count;
        return FRZ_OK;
    }
}

static frz_code take_plain(const frz_env *env, const frz_take_part *part,
                           const struct ArrowArray *src, const int64_t *rows, int64_t count,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    taking t = {.env = env, .part = part, .src = src, .rows = rows, .count = count};
    t.buffer_count = ipc_type_buffers(&part->field->type);
    t.child_count = part->whole ? part->field->child_count : part->child_count;
    t.children = frz_alloc_zero(env, t.child_count, sizeof *t.children);
    if (t.children == NULL) {
        return frz_fail_nomem(err, t.child_count * sizeof *t.children);
    }
    FRZ_TRY(take_validity(&t, err));
    FRZ_TRY(take_layout(&t, err));
    size_t buffers = t.buffer_count;
    size_t children = t.child_count;
    t.buffer_count = t.child_count = 0; /* moved, also on failure */
    FRZ_TRY(
        frz_array_make(env, count, t.nulls, t.buffers, buffers, t.children, children, out, err));
    out->null_count = t.nulls; /* runs have no buffers, but values */
out:
    for (size_t i = 0; t.buffer_count > 0 && i < FRZ_ARRAY_COUNT(t.buffers); i++) {
        frz_buffer_unref(t.buffers[i]);
    }
    for (size_t i = 0; i < t.child_count; i++) {
        frz_array_release(&t.children[i]);
    }
    frz_free(env, t.children);
    return rc;
}

/* A dictionary stays whole, as its indices do not change. */
static frz_code keep_dictionary(const frz_env *env, const frz_take_part *values,
                                const struct ArrowArray *src, struct ArrowArray *out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (frz_array_is_own(src)) {
        return frz_array_slice(env, src, 0, src->length, out, err);
    }
    int64_t *rows = frz_alloc_zero(env, (size_t)src->length, sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(err, (size_t)src->length * sizeof *rows);
    }
    for (int64_t i = 0; i < src->length; i++) {
        rows[i] = i;
    }
    rc = take_plain(env, values, src, rows, src->length, out, err);
    frz_free(env, rows);
    return rc;
}

static frz_code take_encoded(const frz_env *env, const frz_take_part *part,
                             const struct ArrowArray *src, const int64_t *rows, int64_t count,
                             struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray made = {0};
    struct ArrowArray dictionary = {0};
    ipc_field field = *part->field;
    field.encoded = false;
    frz_take_part values = {.field = &field, .whole = true};
    ipc_field index_field = {.type = part->field->index};
    frz_take_part indices = {.field = &index_field, .whole = true};
    FRZ_TRY(take_plain(env, &indices, src, rows, count, &made, err));
    FRZ_TRY(keep_dictionary(env, &values, src->dictionary, &dictionary, err));
    frz_array_set_dictionary(&made, &dictionary);
    frz_array_move(&made, out);
out:
    frz_array_release(&dictionary);
    frz_array_release(&made);
    return rc;
}

frz_code frz_array_take(const frz_env *env, const frz_take_part *part, const struct ArrowArray *src,
                        const int64_t *rows, int64_t count, struct ArrowArray *out, frz_error *err)
{
    return part->field->encoded ? take_encoded(env, part, src, rows, count, out, err)
                                : take_plain(env, part, src, rows, count, out, err);
}
