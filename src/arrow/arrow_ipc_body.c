/*
 * Arrays as the nodes and buffers of a record batch. Of an array with an offset only its own rows
 * are put: bitmaps are realigned, offsets start at 0 again, and children are cut to what the rows
 * refer to. What need not change is referred to where it is.
 *
 * Rows are counted as the arrays' buffers count them: `at` already contains the array's offset.
 */
#include "arrow/arrow_ipc.h"

void ipc_body_init(ipc_body *body, const frz_env *env)
{
    *body = (ipc_body){.count = 0};
    frz_arena_init(&body->scratch, env, FRZ_ARENA_NO_LIMIT);
    frz_buf_init(&body->nodes, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&body->views, env, FRZ_BUF_NO_LIMIT);
}

void ipc_body_clear(ipc_body *body)
{
    frz_arena_reset(&body->scratch);
    frz_buf_clear(&body->nodes);
    frz_buf_clear(&body->views);
    body->count = 0;
}

void ipc_body_reset(ipc_body *body)
{
    if (body->scratch.env == NULL) {
        return;
    }
    ipc_body_clear(body);
    frz_buf_reset(&body->nodes);
    frz_buf_reset(&body->views);
    frz_free(body->scratch.env, body->parts);
    body->parts = NULL;
    body->capacity = 0;
}

static frz_code put_part(ipc_body *b, const void *bytes, size_t size, frz_error *err)
{
    frz_code rc = FRZ_GROW(b->scratch.env, &b->parts, &b->capacity, b->count, err);
    if (rc == FRZ_OK) {
        b->parts[b->count++] = (ipc_part){bytes, size};
    }
    return rc;
}

static frz_code put_node(ipc_body *b, int64_t length, int64_t nulls, frz_error *err)
{
    uint8_t node[16];
    frz_store_le64(node, (uint64_t)length);
    frz_store_le64(node + 8, (uint64_t)nulls);
    return frz_buf_append(&b->nodes, node, sizeof node, err);
}

/* Room for a rewritten buffer; a part of the body. */
static frz_code put_scratch(ipc_body *b, size_t count, size_t width, void *out, frz_error *err)
{
    void *bytes = frz_arena_array(&b->scratch, count, width);
    if (bytes == NULL) {
        return frz_fail_nomem(err, count);
    }
    memcpy(out, &bytes, sizeof bytes);
    return put_part(b, bytes, count * width, err);
}

static frz_code put_bits(ipc_body *b, const uint8_t *bits, int64_t at, int64_t length,
                         frz_error *err)
{
    uint8_t *copy;
    frz_code rc = put_scratch(b, frz_bitmap_bytes(length), 1, &copy, err);
    if (rc == FRZ_OK) {
        frz_bitmap_copy(bits, at, length, copy, 0);
    }
    return rc;
}

static frz_code put_values(ipc_body *b, const void *values, int64_t at, int64_t length,
                           size_t width, frz_error *err)
{
    if (length == 0 || width == 0) {
        return put_part(b, NULL, 0, err);
    }
    if (values == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "an array of %lld values has no buffer for them",
                        (long long)length);
    }
    return put_part(b, (const uint8_t *)values + (size_t)at * width, (size_t)length * width, err);
}

static bool is_valid(const uint8_t *bits, int64_t i)
{
    return bits == NULL || frz_bit_get(bits, i);
}

/* The node of an array, and its bitmap unless no row is null. */
static frz_code put_validity(ipc_body *b, const struct ArrowArray *a, int64_t at, int64_t length,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *bits = a->null_count == 0 ? NULL : a->buffers[0];
    int64_t nulls = bits == NULL ? 0 : length - frz_bitmap_count(bits, at, length);
    FRZ_TRY(put_node(b, length, nulls, err));
    FRZ_TRY(nulls == 0 ? put_part(b, NULL, 0, err) : put_bits(b, bits, at, length, err));
out:
    return rc;
}

static int64_t offset_at(const void *offsets, size_t width, int64_t i)
{
    return width == 4 ? ((const int32_t *)offsets)[i] : ((const int64_t *)offsets)[i];
}

static void offset_put(void *offsets, size_t width, int64_t i, int64_t value)
{
    if (width == 4) {
        ((int32_t *)offsets)[i] = (int32_t)value;
    } else {
        ((int64_t *)offsets)[i] = value;
    }
}

/* Offsets that start at 0; what they refer to is *first to *end. */
static frz_code put_offsets(ipc_body *b, const void *offsets, size_t width, int64_t at,
                            int64_t length, int64_t *first, int64_t *end, frz_error *err)
{
    static const int64_t none = 0;
    void *copy;
    *first = *end = 0;
    if (length == 0) {
        return put_part(b, &none, width, err);
    }
    *first = offset_at(offsets, width, at);
    *end = offset_at(offsets, width, at + length);
    if (*first < 0 || *end < *first) {
        return frz_fail(err, FRZ_E_ARGUMENT, "offsets of an array are not in order");
    }
    if (*first == 0) {
        return put_values(b, offsets, at, length + 1, width, err);
    }
    frz_code rc = put_scratch(b, (size_t)length + 1, width, &copy, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    for (int64_t i = 0; i <= length; i++) {
        offset_put(copy, width, i, offset_at(offsets, width, at + i) - *first);
    }
    return FRZ_OK;
}

/* ---- views ---- */

#define VIEW 16
#define INLINE_BYTES 12
#define VIEW_BUFFERS 2 /* before the data buffers; the last one holds their sizes */

typedef struct used_range {
    int64_t first, end; /* of a child or a data buffer, what the rows refer to; end 0: nothing */
    uint32_t number;    /* of a data buffer among those that are used */
} used_range;

typedef struct view {
    int32_t length, buffer, offset;
} view;

static view view_at(const uint8_t *views, int64_t i)
{
    const uint8_t *p = views + i * VIEW;
    return (view){(int32_t)frz_load_le32(p), (int32_t)frz_load_le32(p + 8),
                  (int32_t)frz_load_le32(p + 12)};
}

static frz_code find_used(const struct ArrowArray *a, int64_t at, int64_t length, int64_t count,
                          used_range *used, frz_error *err)
{
    const uint8_t *bits = a->null_count == 0 ? NULL : a->buffers[0];
    for (int64_t i = at; i < at + length; i++) {
        view v = view_at(a->buffers[1], i);
        if (!is_valid(bits, i) || v.length <= INLINE_BYTES) {
            continue;
        }
        if (v.buffer < 0 || v.buffer >= count || v.offset < 0) {
            return frz_fail(err, FRZ_E_ARGUMENT, "a view leads outside its %lld data buffers",
                            (long long)count);
        }
        used_range *u = &used[v.buffer];
        u->first = u->end == 0 ? v.offset : FRZ_MIN(u->first, v.offset);
        u->end = FRZ_MAX(u->end, (int64_t)v.offset + v.length);
    }
    return FRZ_OK;
}

/* Number the data buffers that are used; the others are left out, since empty ones confuse Polars.
 */
static uint64_t number_used(used_range *used, int64_t count)
{
    uint32_t number = 0;
    for (int64_t i = 0; i < count; i++) {
        used[i].number = number;
        number += used[i].end > 0;
    }
    return number;
}

/* Views of valid rows, moved by what is cut off before them; of null rows zeros. */
static void move_views(const struct ArrowArray *a, int64_t at, int64_t length,
                       const used_range *used, uint8_t *out)
{
    const uint8_t *bits = a->null_count == 0 ? NULL : a->buffers[0];
    const uint8_t *views = a->buffers[1];
    for (int64_t i = 0; i < length; i++) {
        if (!is_valid(bits, at + i)) {
            continue;
        }
        view v = view_at(views, at + i);
        memcpy(out + i * VIEW, views + (at + i) * VIEW, VIEW);
        if (v.length > INLINE_BYTES) {
            const used_range *u = &used[v.buffer];
            frz_store_le32(out + i * VIEW + 8, u->number);
            frz_store_le32(out + i * VIEW + 12, (uint32_t)(v.offset - u->first));
        }
    }
}

static frz_code put_views(ipc_body *b, const struct ArrowArray *a, int64_t at, int64_t length,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t count = a->n_buffers - VIEW_BUFFERS - 1;
    uint8_t *moved;
    used_range *used = frz_arena_array(&b->scratch, (size_t)count, sizeof *used);
    if (used == NULL) {
        return frz_fail_nomem(err, (size_t)count * sizeof *used);
    }
    uint8_t bytes[8];
    FRZ_TRY(find_used(a, at, length, count, used, err));
    frz_store_le64(bytes, number_used(used, count));
    FRZ_TRY(put_scratch(b, (size_t)length, VIEW, &moved, err));
    move_views(a, at, length, used, moved);
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *data = a->buffers[VIEW_BUFFERS + i];
        if (used[i].end > 0) {
            FRZ_TRY(put_values(b, data, used[i].first, used[i].end - used[i].first, 1, err));
        }
    }
    FRZ_TRY(frz_buf_append(&b->views, bytes, sizeof bytes, err));
out:
    return rc;
}

/* ---- what arrays look like ---- */

/* Of the buffers behind the first, those that are read here. */
static bool lacks_buffer(const ipc_type *type, const struct ArrowArray *a, int64_t length)
{
    size_t count =
        type->layout == IPC_BYTES || type->layout == IPC_FIXED ? 2 : ipc_type_buffers(type);
    bool empty = length == 0 || (type->layout == IPC_FIXED && type->width == 0);
    for (size_t i = ipc_type_has_validity(type) ? 1 : 0; i < count && !empty; i++) {
        if (a->buffers[i] == NULL) {
            return true;
        }
    }
    return false;
}

/* An array that does not look as its schema says. */
static frz_code check_shape(const ipc_field *field, const ipc_type *type,
                            const struct ArrowArray *a, int64_t first, int64_t length,
                            frz_error *err)
{
    size_t buffers = ipc_type_buffers(type);
    size_t children = type == &field->type ? field->child_count : 0;
    bool views = type->layout == IPC_VIEWS;
    if (first < 0 || first > a->length - length || a->n_children < 0 ||
        (size_t)a->n_children != children || a->n_buffers < 0 ||
        (views ? (size_t)a->n_buffers <= buffers : (size_t)a->n_buffers != buffers)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\": an array of %lld rows, %lld buffers, %lld children; "
                        "expected %lld rows, %zu buffers, %zu children",
                        FRZ_STR_ARG(field->name), (long long)a->length, (long long)a->n_buffers,
                        (long long)a->n_children, (long long)(first + length), buffers + views,
                        children);
    }
    if (lacks_buffer(type, a, length)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\": an array lacks one of its buffers",
                        FRZ_STR_ARG(field->name));
    }
    return FRZ_OK;
}

/* ---- nested ---- */

static frz_code put_array(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t first, int64_t length, frz_error *err);

static frz_code put_children(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                             int64_t at, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < field->child_count && rc == FRZ_OK; i++) {
        rc = put_array(b, &field->children[i], a->children[i], at, length, err);
    }
    return rc;
}

/* Lists that may lie anywhere in the child: the span of all of them is kept. */
static frz_code put_item_views(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                               int64_t at, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)field->type.width;
    const uint8_t *bits = a->null_count == 0 ? NULL : a->buffers[0];
    int64_t first = INT64_MAX;
    int64_t end = 0;
    void *offsets;
    void *sizes;
    for (int64_t i = at; i < at + length; i++) {
        int64_t size = offset_at(a->buffers[2], width, i);
        if (is_valid(bits, i) && size > 0) {
            int64_t start = offset_at(a->buffers[1], width, i);
            first = FRZ_MIN(first, start);
            end = FRZ_MAX(end, start + size);
        }
    }
    first = FRZ_MIN(first, end);
    FRZ_TRY(put_scratch(b, (size_t)length, width, &offsets, err));
    FRZ_TRY(put_scratch(b, (size_t)length, width, &sizes, err));
    for (int64_t i = 0; i < length; i++) {
        int64_t size = offset_at(a->buffers[2], width, at + i);
        if (is_valid(bits, at + i) && size > 0) {
            offset_put(offsets, width, i, offset_at(a->buffers[1], width, at + i) - first);
            offset_put(sizes, width, i, size);
        }
    }
    FRZ_TRY(put_array(b, &field->children[0], a->children[0], first, end - first, err));
out:
    return rc;
}

static frz_code check_ids(const ipc_field *field, const int8_t *ids, int64_t at, int64_t length,
                          frz_error *err)
{
    for (int64_t i = at; i < at + length; i++) {
        if (ids[i] < 0 || field->type.choice->child_of[ids[i]] < 0) {
            return frz_fail(err, FRZ_E_ARGUMENT, "a union has no child of type id %d", ids[i]);
        }
    }
    return FRZ_OK;
}

/* Each child is cut to the values that the rows refer to. */
static frz_code put_dense(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t at, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const ipc_union *u = field->type.choice;
    const int8_t *ids = a->buffers[0];
    const int32_t *offsets = a->buffers[1];
    used_range used[FRZ_ARRAY_COUNT(u->ids)] = {{0}};
    int32_t *moved;
    for (int64_t i = at; i < at + length; i++) {
        used_range *r = &used[u->child_of[ids[i]]];
        r->first = r->end == 0 ? offsets[i] : FRZ_MIN(r->first, offsets[i]);
        r->end = FRZ_MAX(r->end, (int64_t)offsets[i] + 1);
    }
    FRZ_TRY(put_scratch(b, (size_t)length, sizeof *moved, &moved, err));
    for (int64_t i = 0; i < length; i++) {
        moved[i] = (int32_t)(offsets[at + i] - used[u->child_of[ids[at + i]]].first);
    }
    for (size_t i = 0; i < field->child_count; i++) {
        FRZ_TRY(put_array(b, &field->children[i], a->children[i], used[i].first,
                          used[i].end - used[i].first, err));
    }
out:
    return rc;
}

static frz_code put_union(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t at, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(put_node(b, length, 0, err));
    FRZ_TRY(check_ids(field, a->buffers[0], at, length, err));
    FRZ_TRY(put_values(b, a->buffers[0], at, length, 1, err));
    rc = field->type.layout == IPC_DENSE ? put_dense(b, field, a, at, length, err)
                                         : put_children(b, field, a, at, length, err);
out:
    return rc;
}

static int64_t run_end_at(const struct ArrowArray *ends, size_t width, int64_t i)
{
    i += ends->offset;
    return width == 2 ? ((const int16_t *)ends->buffers[1])[i]
                      : offset_at(ends->buffers[1], width, i);
}

/* The first run that ends behind a row; as many as there are if none does. */
static int64_t find_run(const struct ArrowArray *ends, size_t width, int64_t row)
{
    int64_t low = 0;
    int64_t high = ends->length;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (run_end_at(ends, width, middle) > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The runs that rows `at` to at + length touch; their ends counted from `at`. */
static frz_code put_runs(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                         int64_t at, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const ipc_field *ends_field = &field->children[0];
    const struct ArrowArray *ends = a->children[0];
    size_t width = (size_t)ends_field->type.width;
    void *moved;
    FRZ_TRY(check_shape(ends_field, &ends_field->type, ends, 0, ends->length, err));
    int64_t first = find_run(ends, width, at);
    int64_t last = length > 0 ? find_run(ends, width, at + length - 1) : first;
    if (length > 0 && last == ends->length) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the runs of an array end before its %lld rows",
                        (long long)(at + length));
    }
    int64_t count = length > 0 ? last - first + 1 : 0;
    FRZ_TRY(put_node(b, length, 0, err));
    FRZ_TRY(put_node(b, count, 0, err));
    FRZ_TRY(put_part(b, NULL, 0, err));
    FRZ_TRY(put_scratch(b, (size_t)count, width, &moved, err));
    for (int64_t i = 0; i < count; i++) {
        int64_t end = FRZ_MIN(run_end_at(ends, width, first + i) - at, length);
        if (width == 2) {
            ((int16_t *)moved)[i] = (int16_t)end;
        } else {
            offset_put(moved, width, i, end);
        }
    }
    FRZ_TRY(put_array(b, &field->children[1], a->children[1], first, count, err));
out:
    return rc;
}

/* ---- all layouts ---- */

static frz_code put_bytes(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t at, int64_t length, frz_error *err)
{
    int64_t first;
    int64_t end;
    frz_code rc =
        put_offsets(b, a->buffers[1], (size_t)field->type.width, at, length, &first, &end, err);
    return rc == FRZ_OK ? put_values(b, a->buffers[2], first, end - first, 1, err) : rc;
}

static frz_code put_items(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t at, int64_t length, frz_error *err)
{
    int64_t first;
    int64_t end;
    frz_code rc =
        put_offsets(b, a->buffers[1], (size_t)field->type.width, at, length, &first, &end, err);
    return rc == FRZ_OK ? put_array(b, &field->children[0], a->children[0], first, end - first, err)
                        : rc;
}

/* What stands behind the validity. */
static frz_code put_layout(ipc_body *b, const ipc_field *field, const ipc_type *type,
                           const struct ArrowArray *a, int64_t at, int64_t length, frz_error *err)
{
    switch (type->layout) {
    case IPC_BITS:
        return put_bits(b, a->buffers[1], at, length, err);
    case IPC_FIXED:
        return put_values(b, a->buffers[1], at, length, (size_t)type->width, err);
    case IPC_BYTES:
        return put_bytes(b, field, a, at, length, err);
    case IPC_VIEWS:
        return put_views(b, a, at, length, err);
    case IPC_ITEMS:
        return put_items(b, field, a, at, length, err);
    case IPC_ITEM_VIEWS:
        return put_item_views(b, field, a, at, length, err);
    case IPC_FIXED_ITEMS:
        return put_array(b, &field->children[0], a->children[0], at * type->width,
                         length * type->width, err);
    case IPC_FIELDS:
        return put_children(b, field, a, at, length, err);
    default:
        return FRZ_OK;
    }
}

/* An array as one of a type: that of the field's values or of its indices. */
static frz_code put_typed(ipc_body *b, const ipc_field *field, const ipc_type *type,
                          const struct ArrowArray *a, int64_t first, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t at = a->offset + first;
    FRZ_TRY(check_shape(field, type, a, first, length, err));
    switch (type->layout) {
    case IPC_NULLS:
        return put_node(b, length, length, err);
    case IPC_SPARSE:
    case IPC_DENSE:
        return put_union(b, field, a, at, length, err);
    case IPC_RUNS:
        return put_runs(b, field, a, at, length, err);
    default:
        FRZ_TRY(put_validity(b, a, at, length, err));
        return put_layout(b, field, type, a, at, length, err);
    }
out:
    return rc;
}

static frz_code put_array(ipc_body *b, const ipc_field *field, const struct ArrowArray *a,
                          int64_t first, int64_t length, frz_error *err)
{
    return put_typed(b, field, field->encoded ? &field->index : &field->type, a, first, length,
                     err);
}

frz_code ipc_body_add_values(ipc_body *body, const ipc_field *field,
                             const struct ArrowArray *values, frz_error *err)
{
    return put_typed(body, field, &field->type, values, 0, values->length, err);
}

frz_code ipc_body_add_batch(ipc_body *body, const ipc_field *root, const struct ArrowArray *batch,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(check_shape(root, &root->type, batch, 0, batch->length, err));
    if (frz_null_count(batch) > 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a batch has rows that are null as a whole");
    }
    rc = put_children(body, root, batch, batch->offset, batch->length, err);
out:
    return rc;
}
