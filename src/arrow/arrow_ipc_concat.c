/*
 * Arrays of one type behind each other, for dictionaries that come in several messages. The arrays
 * were checked when they were read. Of each only what its rows refer to is taken, since offsets
 * that follow each other leave no room for anything between: so children are cut, and have offsets.
 */
#include "arrow/arrow_ipc.h"

#define VIEW 16
#define INLINE_BYTES 12

typedef struct joining {
    const frz_env *env;
    const ipc_field *field;
    const struct ArrowArray *parts;
    size_t count;
    uint64_t *most; /* bytes that may still be allocated */
    int64_t length, nulls;
    frz_buffer **buffers;
    size_t buffer_count;
} joining;

/* What the rows of a part refer to of its bytes or items. */
typedef struct span {
    int64_t first, end;
} span;

static int64_t load(const void *items, size_t width, int64_t i)
{
    return width == 4 ? ((const int32_t *)items)[i] : ((const int64_t *)items)[i];
}

static void store(void *items, size_t width, int64_t i, int64_t value)
{
    if (width == 4) {
        ((int32_t *)items)[i] = (int32_t)value;
    } else {
        ((int64_t *)items)[i] = value;
    }
}

static frz_code new_items(const joining *j, int64_t count, size_t width, frz_buffer **out,
                          frz_error *err)
{
    size_t bytes;
    if (!frz_mul_size((size_t)count, width, &bytes) || bytes > *j->most) {
        return frz_fail(err, FRZ_E_LIMIT, "%lld items of %zu bytes, at most %llu more are joined",
                        (long long)count, width, (unsigned long long)*j->most);
    }
    *j->most -= bytes;
    return frz_buffer_new(j->env, bytes, out, err);
}

/* A bitmap of all parts; where a part has none, the bits are 1. */
static frz_code join_bits(const joining *j, size_t buffer, frz_buffer **out, frz_error *err)
{
    frz_code rc = new_items(j, (int64_t)frz_bitmap_bytes(j->length), 1, out, err);
    int64_t at = 0;
    if (rc != FRZ_OK) {
        return rc;
    }
    memset((*out)->data, 0, (*out)->size);
    for (size_t i = 0; i < j->count; i++) {
        const struct ArrowArray *part = &j->parts[i];
        if (part->buffers[buffer] == NULL) {
            frz_bitmap_fill((*out)->data, at, part->length, true);
        } else {
            frz_bitmap_copy(part->buffers[buffer], part->offset, part->length, (*out)->data, at);
        }
        at += part->length;
    }
    return FRZ_OK;
}

static frz_code join_values(const joining *j, size_t width, frz_buffer **out, frz_error *err)
{
    frz_code rc = new_items(j, j->length, width, out, err);
    size_t at = 0;
    for (size_t i = 0; i < j->count && rc == FRZ_OK; i++) {
        const struct ArrowArray *part = &j->parts[i];
        size_t bytes = (size_t)part->length * width;
        if (bytes > 0) {
            const uint8_t *from = part->buffers[1];
            memcpy((*out)->data + at, from + (size_t)part->offset * width, bytes);
        }
        at += bytes;
    }
    return rc;
}

static void find_spans(const joining *j, span *spans)
{
    size_t width = (size_t)j->field->type.width;
    for (size_t i = 0; i < j->count; i++) {
        const struct ArrowArray *part = &j->parts[i];
        spans[i].first = load(part->buffers[1], width, part->offset);
        spans[i].end = load(part->buffers[1], width, part->offset + part->length);
    }
}

/* Offsets into the spans behind each other. */
static frz_code join_offsets(const joining *j, const span *spans, frz_error *err)
{
    size_t width = (size_t)j->field->type.width;
    int64_t limit = width == 4 ? INT32_MAX : INT64_MAX;
    int64_t base = 0;
    int64_t row = 0;
    frz_code rc = new_items(j, j->length + 1, width, &j->buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *to = j->buffers[1]->data;
    for (size_t i = 0; i < j->count; i++) {
        const struct ArrowArray *part = &j->parts[i];
        int64_t size = spans[i].end - spans[i].first;
        if (size > limit - base) {
            return frz_fail(err, FRZ_E_LIMIT,
                            "a dictionary in several messages outgrows its offsets");
        }
        for (int64_t k = part->offset; k < part->offset + part->length; k++) {
            store(to, width, row++, load(part->buffers[1], width, k) - spans[i].first + base);
        }
        base += size;
    }
    store(to, width, row, base);
    return FRZ_OK;
}

static frz_code join_bytes(const joining *j, const span *spans, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(join_offsets(j, spans, err));
    int64_t total = load(j->buffers[1]->data, (size_t)j->field->type.width, j->length);
    FRZ_TRY(new_items(j, total, 1, &j->buffers[2], err));
    uint8_t *to = j->buffers[2]->data;
    for (size_t i = 0; i < j->count; i++) {
        size_t size = (size_t)(spans[i].end - spans[i].first);
        if (size > 0) {
            memcpy(to, (const uint8_t *)j->parts[i].buffers[2] + spans[i].first, size);
        }
        to += size;
    }
out:
    return rc;
}

/* ---- views: data buffers are copied, their numbers move ---- */

static int64_t view_buffers(const struct ArrowArray *a)
{
    return a->n_buffers - 3;
}

static frz_code join_views(const joining *j, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t data = 0;
    frz_buffer *sizes;
    FRZ_TRY(join_values(j, VIEW, &j->buffers[1], err));
    FRZ_TRY(new_items(j, (int64_t)j->buffer_count - 3, sizeof(int64_t),
                      &j->buffers[j->buffer_count - 1], err));
    sizes = j->buffers[j->buffer_count - 1];
    uint8_t *view = j->buffers[1]->data;
    for (size_t i = 0; i < j->count; i++) {
        const struct ArrowArray *part = &j->parts[i];
        for (int64_t k = 0; k < part->length; k++, view += VIEW) {
            if (!frz_is_null(part, k) && frz_load_le32(view) > INLINE_BYTES) {
                frz_store_le32(view + 8, frz_load_le32(view + 8) + (uint32_t)data);
            }
        }
        for (int64_t k = 0; k < view_buffers(part); k++, data++) {
            int64_t size = load(part->buffers[part->n_buffers - 1], 8, k);
            store(sizes->data, 8, (int64_t)data, size);
            FRZ_TRY(new_items(j, size, 1, &j->buffers[2 + data], err));
            memcpy(j->buffers[2 + data]->data, part->buffers[2 + k], (size_t)size);
        }
    }
out:
    return rc;
}

static frz_code join_item_views(const joining *j, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)j->field->type.width;
    int64_t base = 0;
    int64_t row = 0;
    FRZ_TRY(new_items(j, j->length, width, &j->buffers[1], err));
    FRZ_TRY(new_items(j, j->length, width, &j->buffers[2], err));
    for (size_t i = 0; i < j->count; i++) {
        const struct ArrowArray *part = &j->parts[i];
        if (width == 4 && part->children[0]->length > INT32_MAX - base) {
            return frz_fail(err, FRZ_E_LIMIT,
                            "a dictionary in several messages outgrows its offsets");
        }
        for (int64_t k = part->offset; k < part->offset + part->length; k++, row++) {
            store(j->buffers[1]->data, width, row, load(part->buffers[1], width, k) + base);
            store(j->buffers[2]->data, width, row, load(part->buffers[2], width, k));
        }
        base += part->children[0]->length;
    }
out:
    return rc;
}

/* ---- nested ---- */

static frz_code join_buffers(const joining *j, span *spans, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const ipc_type *type = &j->field->type;
    if (j->nulls > 0 && ipc_type_has_validity(type)) {
        FRZ_TRY(join_bits(j, 0, &j->buffers[0], err));
    }
    switch (type->layout) {
    case IPC_BITS:
        return join_bits(j, 1, &j->buffers[1], err);
    case IPC_FIXED:
        return join_values(j, (size_t)type->width, &j->buffers[1], err);
    case IPC_BYTES:
        find_spans(j, spans);
        return join_bytes(j, spans, err);
    case IPC_VIEWS:
        return join_views(j, err);
    case IPC_ITEMS:
        find_spans(j, spans);
        return join_offsets(j, spans, err);
    case IPC_ITEM_VIEWS:
        return join_item_views(j, err);
    case IPC_NULLS:
    case IPC_FIXED_ITEMS:
    case IPC_FIELDS:
        return FRZ_OK;
    default:
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: a dictionary of unions or runs that grows by a delta");
    }
out:
    return rc;
}

/* The rows of a child that belong to a part. */
static span child_rows(const ipc_type *type, const struct ArrowArray *part, size_t c,
                       const span *items)
{
    switch (type->layout) {
    case IPC_FIELDS:
        return (span){part->offset, part->offset + part->length};
    case IPC_FIXED_ITEMS:
        return (span){part->offset * type->width, (part->offset + part->length) * type->width};
    case IPC_ITEMS:
        return *items;
    default:
        return (span){0, part->children[c]->length};
    }
}

/* Child number c of all parts behind each other. */
static frz_code join_child(const joining *j, size_t c, const span *spans, struct ArrowArray *room,
                           struct ArrowArray *out, frz_error *err)
{
    if (j->field->children[c].encoded) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: a dictionary that grows by a delta and holds another one");
    }
    for (size_t i = 0; i < j->count; i++) {
        room[i] = *j->parts[i].children[c];
        span rows = child_rows(&j->field->type, &j->parts[i], c, &spans[i]);
        if (rows.end - rows.first < room[i].length) {
            room[i].offset += rows.first;
            room[i].length = rows.end - rows.first;
            room[i].null_count = room[i].null_count == 0 ? 0 : -1;
        }
    }
    return ipc_array_concat(j->env, &j->field->children[c], room, j->count, j->most, out, err);
}

static frz_code joining_init(joining *j, frz_error *err)
{
    for (size_t i = 0; i < j->count; i++) {
        if (!frz_add_i64(j->length, j->parts[i].length, &j->length)) {
            return frz_fail(err, FRZ_E_LIMIT, "a dictionary of more than 2^63 values");
        }
        j->nulls += frz_null_count(&j->parts[i]);
        if (j->field->type.layout == IPC_VIEWS) {
            j->buffer_count += (size_t)view_buffers(&j->parts[i]);
        }
    }
    return FRZ_OK;
}

frz_code ipc_array_concat(const frz_env *env, const ipc_field *field,
                          const struct ArrowArray *parts, size_t count, uint64_t *most,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    joining j = {.env = env, .field = field, .parts = parts, .count = count, .most = most};
    const ipc_type *type = &field->type;
    size_t child_count = field->child_count;
    struct ArrowArray *children = frz_alloc_zero(env, child_count, sizeof *children);
    span *spans = frz_alloc_zero(env, count, sizeof *spans);
    struct ArrowArray *room = frz_alloc_zero(env, count, sizeof *room);
    j.buffer_count = ipc_type_buffers(type) + (type->layout == IPC_VIEWS ? 1 : 0);
    rc = joining_init(&j, err);
    j.buffers = frz_alloc_zero(env, j.buffer_count, sizeof *j.buffers);
    if (rc == FRZ_OK && (children == NULL || spans == NULL || room == NULL || j.buffers == NULL)) {
        rc = frz_fail_nomem(err, count * sizeof *spans);
    }
    FRZ_TRY(rc);
    FRZ_TRY(join_buffers(&j, spans, err));
    for (size_t c = 0; c < child_count; c++) {
        FRZ_TRY(join_child(&j, c, spans, room, &children[c], err));
    }
    rc = frz_array_make(env, j.length, j.nulls, j.buffers, j.buffer_count, children, child_count,
                        out, err);
    j.buffer_count = child_count = 0; /* moved */
out:
    for (size_t i = 0; j.buffers != NULL && i < j.buffer_count; i++) {
        frz_buffer_unref(j.buffers[i]);
    }
    for (size_t i = 0; children != NULL && i < child_count; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(env, j.buffers);
    frz_free(env, room);
    frz_free(env, spans);
    frz_free(env, children);
    return rc;
}
