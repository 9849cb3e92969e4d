/*
 * The nodes and buffers of a record batch as arrays. Nodes and buffers are taken in the order of
 * the schema's fields, depth first; arrays refer to the body where they can.
 *
 *  - Buffers lie inside the body and together are no longer than it, so no byte is taken twice.
 *  - A compressed buffer says its size. That is believed up to what its codec can make of its
 * bytes, and all buffers of a message together up to LARGE_BODY or LARGE_RATIO times the body.
 *  - Every buffer is compared with its node's length before it is read.
 */
#include "arrow/arrow_ipc.h"

#define BUFFER 16
#define NODE 16
#define VIEW 16
#define PREFIX 8 /* the size before a compressed buffer; -1: it is not compressed */
#define MAX_ROWS ((int64_t)1 << 48)
#define LARGE_BODY ((uint64_t)1 << 30)
#define LARGE_RATIO 64
#define RATIO_SLACK (64u << 10)

typedef struct decoder {
    ipc_reading *reading;
    const frz_env *env;
    const ipc_message *message; /* NULL: every array is empty */
    flat_vector nodes, buffers, views;
    size_t node, buffer, view; /* taken so far */
    uint64_t body_left;        /* bytes that buffers have not taken */
    uint64_t most;             /* bytes that may be decompressed */
    uint64_t *held;            /* of a dictionary: counts those bytes; else NULL */
    frz_codec *codec;          /* NULL: plain buffers */
    uint64_t ratio;
} decoder;

/* ---- the message ---- */

/* BodyCompression: codec, method. */
static frz_code open_codec(decoder *d, const flat_table *compression, frz_error *err)
{
    static const frz_codec_id ids[] = {FRZ_CODEC_LZ4_FRAME, FRZ_CODEC_ZSTD};
    static const uint64_t ratios[] = {255, 128 << 10};
    int64_t codec = flat_i8(compression, 0, 0);
    int64_t method = flat_i8(compression, 1, 0);
    if (codec < 0 || codec > 1 || method != 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: body compression %d, method %d",
                        (int)codec, (int)method);
    }
    frz_code rc = FRZ_OK;
    if (d->reading->codecs[codec] == NULL) {
        rc = frz_codec_new(d->env, ids[codec], 0, &d->reading->codecs[codec], err);
    }
    d->codec = d->reading->codecs[codec];
    d->ratio = ratios[codec];
    return rc;
}

static uint64_t most_of(const ipc_message *message)
{
    return FRZ_MAX(LARGE_BODY, message->body->size * LARGE_RATIO);
}

/* RecordBatch: length, nodes, buffers, compression, variadicBufferCounts. */
static frz_code decoder_open(decoder *d, ipc_reading *reading, const ipc_message *message,
                             const flat_table *batch, uint64_t *held, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_table compression = flat_get_table(batch, 3);
    *d = (decoder){.reading = reading,
                   .env = reading->env,
                   .message = message,
                   .nodes = flat_get_vector(batch, 1, NODE),
                   .buffers = flat_get_vector(batch, 2, BUFFER),
                   .views = flat_get_vector(batch, 4, 8),
                   .body_left = message->body->size,
                   .most = most_of(message),
                   .held = held};
    if (compression.at != 0) {
        FRZ_TRY(open_codec(d, &compression, err));
    }
    FRZ_TRY(flat_check(&message->in, err));
out:
    return rc;
}

/* All nodes and buffers belong to some field. */
static frz_code decoder_end(const decoder *d, frz_error *err)
{
    if (d->node != d->nodes.count || d->buffer != d->buffers.count) {
        return frz_fail(err, FRZ_E_CORRUPT, "%zu nodes and %zu buffers, the schema has %zu and %zu",
                        d->nodes.count, d->buffers.count, d->node, d->buffer);
    }
    return FRZ_OK;
}

/* ---- nodes and buffers ---- */

static frz_code take_node(decoder *d, int64_t *length, int64_t *nulls, frz_error *err)
{
    *length = *nulls = 0;
    if (d->message == NULL) {
        return FRZ_OK;
    }
    if (d->node == d->nodes.count) {
        return frz_fail(err, FRZ_E_CORRUPT, "%zu nodes are too few for the schema", d->node);
    }
    const uint8_t *node = flat_item(&d->nodes, d->node++);
    *length = (int64_t)frz_load_le64(node);
    *nulls = (int64_t)frz_load_le64(node + 8);
    if (*length < 0 || *nulls < 0 || *nulls > *length) {
        return frz_fail(err, FRZ_E_CORRUPT, "an array of %lld rows, %lld of them null",
                        (long long)*length, (long long)*nulls);
    }
    if (*length > MAX_ROWS) {
        return frz_fail(err, FRZ_E_LIMIT, "an array of %lld rows, at most %lld are read",
                        (long long)*length, (long long)MAX_ROWS);
    }
    return FRZ_OK;
}

/* Bytes of the body as a buffer of their own, copied if they are not aligned. */
static frz_code share_body(decoder *d, uint64_t offset, uint64_t size, size_t align,
                           frz_buffer **out, frz_error *err)
{
    if (offset % align == 0) {
        return frz_buffer_slice(d->message->body, (size_t)offset, (size_t)size, out, err);
    }
    frz_code rc = frz_buffer_new(d->env, (size_t)size, out, err);
    if (rc == FRZ_OK && size > 0) {
        memcpy((*out)->data, d->message->body->data + offset, (size_t)size);
    }
    return rc;
}

static frz_code check_unpacked(const decoder *d, uint64_t packed, uint64_t size, frz_error *err)
{
    if (size / d->ratio > packed + RATIO_SLACK / d->ratio) {
        return frz_fail(err, FRZ_E_CORRUPT, "a buffer claims %llu bytes, compressed it has %llu",
                        (unsigned long long)size, (unsigned long long)packed);
    }
    uint64_t most = d->most;
    if (d->held != NULL) {
        most = FRZ_MIN(most, d->reading->dictionary_most - d->reading->dictionary_bytes);
    }
    if (size > most) {
        return frz_fail(err, FRZ_E_LIMIT,
                        "a buffer claims %llu bytes, %llu more are decompressed at most",
                        (unsigned long long)size, (unsigned long long)most);
    }
    return FRZ_OK;
}

static void count_unpacked(decoder *d, uint64_t size)
{
    d->most -= size;
    if (d->held != NULL) {
        *d->held += size;
        d->reading->dictionary_bytes += size;
    }
}

static frz_code unpack(decoder *d, uint64_t offset, uint64_t size, size_t align, frz_buffer **out,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *made = NULL;
    if (size < PREFIX) {
        return frz_fail(err, FRZ_E_CORRUPT, "a compressed buffer of %llu bytes",
                        (unsigned long long)size);
    }
    const uint8_t *packed = d->message->body->data + offset;
    uint64_t claimed = frz_load_le64(packed);
    if (claimed == UINT64_MAX) {
        return share_body(d, offset + PREFIX, size - PREFIX, align, out, err);
    }
    FRZ_TRY(check_unpacked(d, size - PREFIX, claimed, err));
    FRZ_TRY(frz_buffer_new(d->env, (size_t)claimed, &made, err));
    FRZ_TRY(frz_codec_decompress(d->codec, packed + PREFIX, (size_t)(size - PREFIX), made->data,
                                 made->size, err));
    count_unpacked(d, claimed);
    *out = made;
    made = NULL;
out:
    frz_buffer_unref(made);
    return rc;
}

/* align: 8 or 16 */
static frz_code take_buffer(decoder *d, size_t align, frz_buffer **out, frz_error *err)
{
    if (d->message == NULL) {
        return frz_buffer_new(d->env, 0, out, err);
    }
    if (d->buffer == d->buffers.count) {
        return frz_fail(err, FRZ_E_CORRUPT, "%zu buffers are too few for the schema", d->buffer);
    }
    const uint8_t *item = flat_item(&d->buffers, d->buffer++);
    uint64_t offset = frz_load_le64(item);
    uint64_t size = frz_load_le64(item + 8);
    uint64_t body = d->message->body->size;
    if (offset > body || size > body - offset) {
        return frz_fail(
            err, FRZ_E_CORRUPT, "a buffer of %llu bytes at %llu is outside the body of %llu bytes",
            (unsigned long long)size, (unsigned long long)offset, (unsigned long long)body);
    }
    if (size > d->body_left) {
        return frz_fail(err, FRZ_E_CORRUPT, "the buffers of a body overlap");
    }
    d->body_left -= size;
    return d->codec == NULL || size == 0 ? share_body(d, offset, size, align, out, err)
                                         : unpack(d, offset, size, align, out, err);
}

/* A buffer of at least count items. */
static frz_code take_items(decoder *d, int64_t count, size_t width, frz_buffer **out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *taken = NULL;
    size_t bytes;
    FRZ_TRY(take_buffer(d, width >= 16 ? 16 : 8, &taken, err));
    if (!frz_mul_size((size_t)count, width, &bytes) || taken->size < bytes) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "a buffer of %zu bytes for %lld items of %zu bytes",
                      taken->size, (long long)count, width);
        goto out;
    }
    *out = taken;
    taken = NULL;
out:
    frz_buffer_unref(taken);
    return rc;
}

/* A bitmap: NULL if no row is null. */
static frz_code take_validity(decoder *d, int64_t length, int64_t nulls, frz_buffer **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    if (nulls == 0) {
        rc = take_buffer(d, 8, &bits, err); /* whatever it is, it need not be looked at */
        goto out;
    }
    FRZ_TRY(take_items(d, (int64_t)frz_bitmap_bytes(length), 1, &bits, err));
    int64_t found = length - frz_bitmap_count(bits->data, 0, length);
    if (found != nulls) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%lld of %lld rows are null, the node says %lld",
                      (long long)found, (long long)length, (long long)nulls);
        goto out;
    }
    *out = bits;
    bits = NULL;
out:
    frz_buffer_unref(bits);
    return rc;
}

/* Offsets of length + 1 items; an array without rows may lack the one. */
static frz_code take_offsets(decoder *d, int64_t length, size_t width, frz_buffer **out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *taken = NULL;
    FRZ_TRY(take_items(d, length == 0 ? 0 : length + 1, width, &taken, err));
    if (taken->size < width) {
        frz_buffer_unref(taken);
        taken = NULL;
        FRZ_TRY(frz_buffer_new(d->env, width, &taken, err));
        memset(taken->data, 0, width);
    }
    *out = taken;
    taken = NULL;
out:
    frz_buffer_unref(taken);
    return rc;
}

/* ---- arrays under construction ---- */

typedef struct parts {
    int64_t length, nulls;
    frz_buffer **buffers;
    struct ArrowArray *children;
    size_t buffer_count, child_count;
    size_t views; /* data buffers */
} parts;

static frz_code parts_init(decoder *d, parts *p, size_t buffers, size_t children, frz_error *err)
{
    size_t bytes;
    size_t more;
    if (!frz_mul_size(buffers, sizeof *p->buffers, &bytes) ||
        !frz_mul_size(children, sizeof *p->children, &more) || !frz_add_size(bytes, more, &bytes)) {
        return frz_fail_nomem(err, SIZE_MAX);
    }
    p->children = frz_alloc_zero(d->env, 1, bytes);
    if (p->children == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    p->buffers = (frz_buffer **)(p->children + children);
    p->buffer_count = buffers;
    p->child_count = children;
    return FRZ_OK;
}

static void parts_reset(decoder *d, parts *p)
{
    for (size_t i = 0; i < p->buffer_count; i++) {
        frz_buffer_unref(p->buffers[i]);
    }
    for (size_t i = 0; i < p->child_count; i++) {
        frz_array_release(&p->children[i]);
    }
    frz_free(d->env, p->children);
    *p = (parts){0};
}

/* The array; the parts are moved into it, also on failure, but can still be looked at. */
static frz_code parts_finish(decoder *d, parts *p, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = frz_array_make(d->env, p->length, p->nulls, p->buffers, p->buffer_count,
                                 p->children, p->child_count, out, err);
    p->buffer_count = p->child_count = 0;
    if (rc == FRZ_OK) {
        out->null_count = p->nulls;
    }
    return rc;
}

/* ---- layouts: the buffers behind validity, before the children are there ---- */

static frz_code take_bytes(decoder *d, const ipc_type *type, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)type->width;
    FRZ_TRY(take_offsets(d, p->length, width, &p->buffers[1], err));
    FRZ_TRY(take_buffer(d, 8, &p->buffers[2], err));
    FRZ_TRY(ipc_check_offsets(p->buffers[1]->data, width, p->length, p->buffers[2]->size, err));
out:
    return rc;
}

/* The number of data buffers, of which each has an entry of its own. */
static frz_code take_view_count(decoder *d, size_t *out, frz_error *err)
{
    *out = 0;
    if (d->message == NULL) {
        return FRZ_OK;
    }
    if (d->view == d->views.count) {
        return frz_fail(err, FRZ_E_CORRUPT, "the number of a view's data buffers is missing");
    }
    uint64_t count = frz_load_le64(flat_item(&d->views, d->view++));
    if (count > d->buffers.count) {
        return frz_fail(err, FRZ_E_CORRUPT, "a view with %llu data buffers, the batch has %zu",
                        (unsigned long long)count, d->buffers.count);
    }
    *out = (size_t)count;
    return FRZ_OK;
}

/* Views, the data buffers, and behind them their sizes, as the C data interface wants. */
static frz_code take_views(decoder *d, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = p->views;
    FRZ_TRY(take_items(d, p->length, VIEW, &p->buffers[1], err));
    FRZ_TRY(frz_buffer_new(d->env, count * sizeof(int64_t), &p->buffers[2 + count], err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(take_buffer(d, 8, &p->buffers[2 + i], err));
        frz_store_le64(p->buffers[2 + count]->data + i * sizeof(int64_t),
                       (uint64_t)p->buffers[2 + i]->size);
    }
out:
    return rc;
}

/* Before V5 unions had validity, and so have runs there. */
static frz_code take_old_validity(decoder *d, const parts *p, frz_error *err)
{
    frz_buffer *bits = NULL;
    if (d->message == NULL || d->message->version != IPC_V4) {
        return FRZ_OK;
    }
    if (p->nulls != 0) {
        return frz_fail(
            err, FRZ_E_UNSUPPORTED,
            "unsupported: a union or runs with nulls of their own (metadata version V4)");
    }
    frz_code rc = take_buffer(d, 8, &bits, err);
    frz_buffer_unref(bits);
    return rc;
}

static frz_code take_layout(decoder *d, const ipc_type *type, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)type->width;
    if (ipc_type_has_validity(type)) {
        FRZ_TRY(take_validity(d, p->length, p->nulls, &p->buffers[0], err));
    }
    switch (type->layout) {
    case IPC_BITS:
        return take_items(d, (int64_t)frz_bitmap_bytes(p->length), 1, &p->buffers[1], err);
    case IPC_FIXED:
        return take_items(d, p->length, width, &p->buffers[1], err);
    case IPC_BYTES:
        return take_bytes(d, type, p, err);
    case IPC_VIEWS:
        return take_views(d, p, err);
    case IPC_ITEMS:
        return take_offsets(d, p->length, width, &p->buffers[1], err);
    case IPC_ITEM_VIEWS:
        FRZ_TRY(take_items(d, p->length, width, &p->buffers[1], err));
        return take_items(d, p->length, width, &p->buffers[2], err);
    case IPC_SPARSE:
        FRZ_TRY(take_old_validity(d, p, err));
        return take_items(d, p->length, 1, &p->buffers[0], err);
    case IPC_DENSE:
        FRZ_TRY(take_old_validity(d, p, err));
        FRZ_TRY(take_items(d, p->length, 1, &p->buffers[0], err));
        return take_items(d, p->length, sizeof(int32_t), &p->buffers[1], err);
    case IPC_RUNS:
        return take_old_validity(d, p, err);
    default:
        break;
    }
out:
    return rc;
}

/* ---- layouts: checks with the children there ---- */

static frz_code check_lengths(const struct ArrowArray *a, int64_t wanted, frz_error *err)
{
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->length < wanted) {
            return frz_fail(err, FRZ_E_CORRUPT, "child %lld has %lld rows, expected %lld",
                            (long long)i, (long long)a->children[i]->length, (long long)wanted);
        }
    }
    return FRZ_OK;
}

static frz_code check_fixed_items(const ipc_type *type, const struct ArrowArray *a, frz_error *err)
{
    int64_t items;
    if (!frz_mul_i64(a->length, type->width, &items)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%lld lists of %d items", (long long)a->length,
                        (int)type->width);
    }
    return check_lengths(a, items, err);
}

/* Keys and entries of a map are never null. */
static frz_code check_map(const struct ArrowArray *a, frz_error *err)
{
    const struct ArrowArray *entries = a->children[0];
    if (entries->null_count != 0 || entries->children[0]->null_count != 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "a map has entries or keys that are null");
    }
    return FRZ_OK;
}

static frz_code check_values(const ipc_field *field, const ipc_type *type,
                             const struct ArrowArray *a, const parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = (size_t)type->width;
    switch (type->layout) {
    case IPC_BYTES:
        return type->tag == IPC_UTF8 || type->tag == IPC_LARGE_UTF8 ? ipc_check_utf8(a, width, err)
                                                                    : FRZ_OK;
    case IPC_VIEWS:
        return ipc_check_views(a, (const frz_buffer *const *)p->buffers + 2, p->views,
                               type->tag == IPC_UTF8_VIEW, err);
    case IPC_ITEMS:
        FRZ_TRY(ipc_check_offsets(a->buffers[1], width, a->length, (uint64_t)a->children[0]->length,
                                  err));
        return type->tag == IPC_MAP ? check_map(a, err) : FRZ_OK;
    case IPC_ITEM_VIEWS:
        return ipc_check_item_views(a, width, a->children[0]->length, err);
    case IPC_FIXED_ITEMS:
        return check_fixed_items(type, a, err);
    case IPC_FIELDS:
        return check_lengths(a, a->length, err);
    case IPC_SPARSE:
        FRZ_TRY(check_lengths(a, a->length, err));
        return ipc_check_union(type, a, err);
    case IPC_DENSE:
        return ipc_check_union(type, a, err);
    case IPC_RUNS:
        return ipc_check_runs(a, (size_t)field->children[0].type.width, err);
    default:
        break;
    }
out:
    return rc;
}

/* ---- fields ---- */

static frz_code take_field(decoder *d, const ipc_field *field, struct ArrowArray *out,
                           frz_error *err);

static size_t count_buffers(const ipc_type *type, size_t views)
{
    return ipc_type_buffers(type) + (type->layout == IPC_VIEWS ? views + 1 : 0);
}

/* An array of the field's values or of its indices, which have no children. */
static frz_code take_array(decoder *d, const ipc_field *field, const ipc_type *type,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parts p = {0};
    struct ArrowArray made = {.release = NULL};
    FRZ_TRY(take_node(d, &p.length, &p.nulls, err));
    if (type->layout == IPC_VIEWS) {
        FRZ_TRY(take_view_count(d, &p.views, err));
    }
    FRZ_TRY(parts_init(d, &p, count_buffers(type, p.views),
                       type == &field->type ? field->child_count : 0, err));
    FRZ_TRY(take_layout(d, type, &p, err));
    for (size_t i = 0; i < p.child_count; i++) {
        FRZ_TRY(take_field(d, &field->children[i], &p.children[i], err));
    }
    if (!ipc_type_has_validity(type)) {
        p.nulls = type->layout == IPC_NULLS ? p.length : 0;
    }
    FRZ_TRY(parts_finish(d, &p, &made, err));
    FRZ_TRY(check_values(field, type, &made, &p, err));
    frz_array_move(&made, out);
out:
    frz_array_release(&made);
    parts_reset(d, &p);
    return rc;
}

/* The dictionary, which may be missing where no row needs it. */
static frz_code take_dictionary(decoder *d, const ipc_field *field, struct ArrowArray *indices,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray values = {.release = NULL};
    rc = d->message == NULL ? FRZ_END
                            : ipc_dictionary_get(d->reading, field->dictionary_id, &values, err);
    if (rc == FRZ_END) {
        if (indices->null_count < indices->length) {
            return frz_fail(err, FRZ_E_CORRUPT, "dictionary %lld is missing",
                            (long long)field->dictionary_id);
        }
        rc = ipc_array_empty(d->reading, field, &values, err);
    }
    FRZ_TRY(rc);
    FRZ_TRY(ipc_check_indices(&field->index, indices, values.length, err));
    frz_array_set_dictionary(indices, &values);
out:
    frz_array_release(&values);
    return rc;
}

static frz_code take_field(decoder *d, const ipc_field *field, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!field->encoded) {
        FRZ_TRY(take_array(d, field, &field->type, out, err));
    } else {
        FRZ_TRY(take_array(d, field, &field->index, out, err));
        FRZ_TRY(take_dictionary(d, field, out, err));
    }
out:
    return frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(field->name));
}

/* ---- whole messages ---- */

static frz_code take_columns(decoder *d, const ipc_field *root, int64_t length, parts *p,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < root->child_count; i++) {
        FRZ_TRY(take_field(d, &root->children[i], &p->children[i], err));
        if (p->children[i].length != length) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "column \"%.*s\" has %lld rows in a batch of %lld rows",
                            FRZ_STR_ARG(root->children[i].name), (long long)p->children[i].length,
                            (long long)length);
        }
    }
    FRZ_TRY(decoder_end(d, err));
out:
    return rc;
}

frz_code ipc_array_batch(ipc_reading *reading, const ipc_field *root, const ipc_message *message,
                         struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    decoder d;
    parts p = {0};
    int64_t length = flat_i64(&message->header, 0, 0);
    FRZ_TRY(decoder_open(&d, reading, message, &message->header, NULL, err));
    if (length < 0 || length > MAX_ROWS) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "a batch of %lld rows", (long long)length);
        goto out;
    }
    FRZ_TRY(parts_init(&d, &p, 1, root->child_count, err));
    p.length = length;
    FRZ_TRY(take_columns(&d, root, length, &p, err));
    FRZ_TRY(parts_finish(&d, &p, out, err));
out:
    parts_reset(&d, &p);
    return rc;
}

frz_code ipc_array_values(ipc_reading *reading, const ipc_field *field, const ipc_message *message,
                          uint64_t *held, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    decoder d;
    struct ArrowArray made = {.release = NULL};
    flat_table data = flat_get_table(&message->header, 1);
    int64_t length = flat_i64(&data, 0, 0);
    FRZ_TRY(decoder_open(&d, reading, message, &data, held, err));
    FRZ_TRY(take_array(&d, field, &field->type, &made, err));
    FRZ_TRY(decoder_end(&d, err));
    if (made.length != length) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "a dictionary batch of %lld rows has %lld values",
                      (long long)length, (long long)made.length);
        goto out;
    }
    frz_array_move(&made, out);
out:
    frz_array_release(&made);
    return rc;
}

frz_code ipc_array_empty(ipc_reading *reading, const ipc_field *field, struct ArrowArray *out,
                         frz_error *err)
{
    decoder d = {.reading = reading, .env = reading->env};
    return take_array(&d, field, &field->type, out, err);
}
