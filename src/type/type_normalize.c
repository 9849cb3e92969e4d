/*
 * Walks the schema as Arrow IPC sees it, by layouts, beside the type that is wanted. What has the
 * right form already is shown where it lies; new buffers live in an arena until the next batch.
 */
#include "type/type_normalize.h"

#include "arrow/arrow_take.h"
#include "type/type_convert.h"

#define VIEW_BYTES 16
#define VIEW_INLINE 12
#define DECIMAL_DIGITS 38

struct frz_normalizer {
    const frz_env *env;
    struct ArrowSchema schema; /* texts of the fields */
    frz_arena fields;
    ipc_field root;
    const frz_type *type;
    struct ArrowSchema own_schema; /* of the type */
    ipc_field own;
    bool needed;
    frz_arena memory;         /* of the last batch */
    struct ArrowArray *taken; /* arrays that were copied for it */
    size_t taken_count, taken_capacity;
};

/* What an array is to become. */
typedef struct target {
    const frz_type *type;
    const ipc_field *field; /* of the same layout */
} target;

/* Rows of an array of somebody else. */
typedef struct rows {
    const struct ArrowArray *array;
    int64_t first, count; /* from the array's own first row on */
} rows;

/* ---- which fields need nothing ---- */

static bool fixed_is_own(const ipc_type *t)
{
    switch (t->tag) {
    case IPC_DECIMAL:
        return t->c == (t->a > DECIMAL_DIGITS ? 256 : 128);
    case IPC_DATE:
        return t->a == 0;
    case IPC_TIME:
    case IPC_TIMESTAMP:
        return t->a != 0;
    case IPC_INTERVAL:
        return t->a == 2;
    default:
        return true;
    }
}

static bool is_own(const ipc_field *f)
{
    bool own = !f->encoded;
    switch (f->type.layout) {
    case IPC_NULLS:
    case IPC_BITS:
    case IPC_FIELDS:
        break;
    case IPC_FIXED:
        own = own && fixed_is_own(&f->type);
        break;
    case IPC_BYTES:
    case IPC_ITEMS:
        own = own && f->type.width == sizeof(int32_t);
        break;
    default:
        own = false;
    }
    for (size_t i = 0; i < f->child_count && own; i++) {
        own = is_own(&f->children[i]);
    }
    return own;
}

/* ---- memory ---- */

static void no_release(struct ArrowArray *array)
{
    array->release = NULL;
}

static frz_code new_bytes(frz_normalizer *n, int64_t count, size_t width, void **out,
                          frz_error *err)
{
    *out = frz_arena_array(&n->memory, (size_t)count, width);
    return *out == NULL ? frz_fail_nomem(err, (size_t)count * width) : FRZ_OK;
}

static frz_code new_array(frz_normalizer *n, int64_t length, size_t buffers, size_t children,
                          struct ArrowArray *out, frz_error *err)
{
    const void **slots = frz_arena_array(&n->memory, FRZ_MAX(buffers, (size_t)1), sizeof *slots);
    struct ArrowArray *items = frz_arena_array(&n->memory, children, sizeof *items);
    struct ArrowArray **places = frz_arena_array(&n->memory, children, sizeof *places);
    if (slots == NULL || items == NULL || places == NULL) {
        return frz_fail_nomem(err, children * sizeof *items);
    }
    for (size_t i = 0; i < children; i++) {
        places[i] = &items[i];
    }
    *out = (struct ArrowArray){.length = length,
                               .n_buffers = (int64_t)buffers,
                               .n_children = (int64_t)children,
                               .buffers = slots,
                               .children = children == 0 ? NULL : places,
                               .release = no_release};
    return FRZ_OK;
}

/* The rows where they lie. */
static void show(rows r, struct ArrowArray *out)
{
    bool all = r.first == 0 && r.count == r.array->length;
    *out = *r.array;
    out->offset += r.first;
    out->length = r.count;
    out->null_count = all ? r.array->null_count : -1;
    out->release = no_release;
    out->private_data = NULL;
}

/* ---- reading what others made ---- */

static frz_code impossible(const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_ARGUMENT, "an array %s", what);
}

static frz_code too_much(frz_error *err)
{
    return frz_fail(err, FRZ_E_LIMIT, "more than %d bytes of text, or items, at once", INT32_MAX);
}

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

static frz_code check_frame(const ipc_field *f, rows r, frz_error *err)
{
    const struct ArrowArray *a = r.array;
    if (a == NULL || a->release == NULL) {
        return impossible("is missing or released", err);
    }
    if (a->length < 0 || a->offset < 0 || a->length > INT64_MAX - a->offset || a->null_count < -1 ||
        a->null_count > a->length) {
        return impossible("has an impossible length, offset or null count", err);
    }
    if (r.first < 0 || r.count < 0 || r.first > a->length || r.count > a->length - r.first) {
        return frz_fail(err, FRZ_E_ARGUMENT, "an array has %lld rows, expected %lld",
                        (long long)a->length, (long long)(r.first + r.count));
    }
    size_t buffers = f->encoded ? 2 : ipc_type_buffers(&f->type);
    size_t children = f->encoded ? 0 : f->child_count;
    bool views = !f->encoded && f->type.layout == IPC_VIEWS;
    if ((size_t)a->n_buffers < buffers || (!views && (size_t)a->n_buffers != buffers) ||
        (buffers > 0 && a->buffers == NULL)) {
        return impossible("has another number of buffers than its type", err);
    }
    if (a->n_children != (int64_t)children || (children > 0 && a->children == NULL) ||
        (f->encoded && a->dictionary == NULL)) {
        return impossible("has other children than its type", err);
    }
    return FRZ_OK;
}

/* Buffer 1, which may be missing only where no row has a value. */
static frz_code values_of(rows r, const void **out, frz_error *err)
{
    *out = r.array->buffers[1];
    return *out == NULL && frz_null_count(r.array) < r.array->length
               ? impossible("lacks a buffer", err)
               : FRZ_OK;
}

static bool is_null(rows r, int64_t i)
{
    return frz_is_null(r.array, r.first + i);
}

/* Validity of the rows from bit 0 on. */
static frz_code copy_validity(frz_normalizer *n, rows r, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    void *bits = NULL;
    if (r.array->buffers[0] == NULL || r.array->null_count == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(new_bytes(n, (int64_t)frz_bitmap_bytes(r.count) + 8, 1, &bits, err));
    frz_bitmap_copy(r.array->buffers[0], r.array->offset + r.first, r.count, bits, 0);
    out->null_count = r.count - frz_bitmap_count(bits, 0, r.count);
    out->buffers[0] = out->null_count > 0 ? bits : NULL;
out:
    return rc;
}

/* ---- values of other widths and units ---- */

static frz_code convert_fixed(frz_normalizer *n, const ipc_field *f, const frz_type *type, rows r,
                              struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const size_t from = (size_t)f->type.width;
    const size_t to = frz_type_width(type);
    const void *values;
    void *made;
    FRZ_TRY(new_array(n, r.count, 2, 0, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(new_bytes(n, r.count, to, &made, err));
    FRZ_TRY(values_of(r, &values, err));
    for (int64_t i = 0; i < r.count; i++) {
        size_t at = (size_t)(r.array->offset + r.first + i) * from;
        if (!is_null(r, i) && !type_convert_value(&f->type, (const uint8_t *)values + at,
                                                  (uint8_t *)made + (size_t)i * to)) {
            char text[64];
            rc = frz_fail(err, FRZ_E_ARGUMENT, "row %lld: a value does not fit %s",
                          (long long)(r.first + i), frz_type_text(type, text, sizeof text));
            goto out;
        }
    }
    out->buffers[1] = made;
out:
    return rc;
}

/* ---- offsets ---- */

/* Offsets of 4 or 8 bytes to such of 4 that begin at 0; *begin receives where they began. */
static frz_code cut_offsets(frz_normalizer *n, size_t width, rows r, struct ArrowArray *out,
                            int64_t *begin, int64_t *total, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const void *offsets;
    void *made;
    *begin = *total = 0;
    FRZ_TRY(new_bytes(n, r.count + 1, sizeof(int32_t), &made, err));
    FRZ_TRY(values_of(r, &offsets, err));
    out->buffers[1] = made;
    if (offsets == NULL) {
        return FRZ_OK;
    }
    const int64_t at = r.array->offset + r.first;
    int64_t before = load(offsets, width, at);
    *begin = before;
    for (int64_t i = 0; i <= r.count; i++) {
        int64_t next = load(offsets, width, at + i);
        if (next < before || next < 0) {
            return impossible("has offsets that go back", err);
        }
        if (next - *begin > INT32_MAX) {
            return too_much(err);
        }
        ((int32_t *)made)[i] = (int32_t)(next - *begin);
        before = next;
    }
    *total = before - *begin;
out:
    return rc;
}

static frz_code cut_bytes(frz_normalizer *n, const ipc_field *f, rows r, struct ArrowArray *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t begin, total;
    FRZ_TRY(new_array(n, r.count, 3, 0, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(cut_offsets(n, (size_t)f->type.width, r, out, &begin, &total, err));
    const char *bytes = r.array->buffers[2];
    if (bytes == NULL && total > 0) {
        return impossible("lacks a buffer", err);
    }
    out->buffers[2] = bytes == NULL ? (const void *)"" : bytes + begin;
out:
    return rc;
}

/* ---- views of strings ---- */

/* The bytes of a view; false if it leads out of its buffer. */
static bool view_bytes(const struct ArrowArray *a, const uint8_t *view, frz_str *out)
{
    const size_t data = (size_t)a->n_buffers - 3; /* between views and sizes */
    const int64_t *sizes = a->buffers[a->n_buffers - 1];
    int64_t len = (int32_t)frz_load_le32(view);
    if (len < 0) {
        return false;
    }
    if (len <= VIEW_INLINE) {
        *out = (frz_str){(const char *)view + 4, (size_t)len};
        return true;
    }
    size_t buffer = frz_load_le32(view + 8);
    int64_t at = (int32_t)frz_load_le32(view + 12);
    if (buffer >= data || at < 0 || sizes == NULL || a->buffers[2 + buffer] == NULL ||
        at > sizes[buffer] || len > sizes[buffer] - at) {
        return false;
    }
    *out = (frz_str){(const char *)a->buffers[2 + buffer] + at, (size_t)len};
    return true;
}

static frz_code copy_views(frz_normalizer *n, rows r, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const void *views;
    void *made, *bytes;
    int64_t total = 0;
    frz_str value;
    FRZ_TRY(new_array(n, r.count, 3, 0, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(new_bytes(n, r.count + 1, sizeof(int32_t), &made, err));
    FRZ_TRY(values_of(r, &views, err));
    int32_t *offsets = made;
    const uint8_t *from =
        views == NULL ? NULL
                      : (const uint8_t *)views + (size_t)(r.array->offset + r.first) * VIEW_BYTES;
    for (int64_t i = 0; i < r.count; i++) {
        if (!is_null(r, i)) {
            if (!view_bytes(r.array, from + i * VIEW_BYTES, &value)) {
                return impossible("has a view that leads out of its buffers", err);
            }
            total += (int64_t)value.len;
        }
        if (total > INT32_MAX) {
            return too_much(err);
        }
        offsets[i + 1] = (int32_t)total;
    }
    FRZ_TRY(new_bytes(n, total + 1, 1, &bytes, err));
    for (int64_t i = 0; i < r.count; i++) {
        if (offsets[i + 1] > offsets[i] && view_bytes(r.array, from + i * VIEW_BYTES, &value)) {
            memcpy((char *)bytes + offsets[i], value.ptr, value.len);
        }
    }
    out->buffers[1] = made;
    out->buffers[2] = bytes;
out:
    return rc;
}

/* ---- nested ---- */

static frz_code normalize(frz_normalizer *n, const ipc_field *f, target to, rows r,
                          struct ArrowArray *out, frz_error *err);

/* What the items of a list or map are to become. */
static target item_target(target list, frz_type *entries)
{
    if (list.type->id != FRZ_TYPE_MAP) {
        return (target){list.type->fields[0].type, &list.field->children[0]};
    }
    *entries = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = list.type->fields, .field_count = 2};
    return (target){entries, &list.field->children[0]};
}

static frz_code cut_items(frz_normalizer *n, const ipc_field *f, target to, rows r,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type entries;
    int64_t begin, total;
    FRZ_TRY(new_array(n, r.count, 2, 1, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(cut_offsets(n, (size_t)f->type.width, r, out, &begin, &total, err));
    rows items = {r.array->children[0], begin, total};
    FRZ_TRY(normalize(n, &f->children[0], item_target(to, &entries), items, out->children[0], err));
out:
    return rc;
}

static frz_code cut_fixed_items(frz_normalizer *n, const ipc_field *f, target to, rows r,
                                struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const int64_t width = f->type.width;
    int64_t begin, total;
    void *made;
    frz_type entries;
    if (!frz_mul_i64(r.count, width, &total) || total > INT32_MAX) {
        return too_much(err);
    }
    if (!frz_mul_i64(r.array->offset + r.first, width, &begin)) {
        return impossible("has an impossible length, offset or null count", err);
    }
    FRZ_TRY(new_array(n, r.count, 2, 1, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(new_bytes(n, r.count + 1, sizeof(int32_t), &made, err));
    for (int64_t i = 0; i <= r.count; i++) {
        ((int32_t *)made)[i] = (int32_t)(i * width);
    }
    out->buffers[1] = made;
    rows items = {r.array->children[0], begin, total};
    FRZ_TRY(normalize(n, &f->children[0], item_target(to, &entries), items, out->children[0], err));
out:
    return rc;
}

static frz_code cut_fields(frz_normalizer *n, const ipc_field *f, target to, rows r,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(new_array(n, r.count, 1, f->child_count, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    for (size_t i = 0; i < f->child_count; i++) {
        rows child = {r.array->children[i], r.array->offset + r.first, r.count};
        target below = {to.type->fields[i].type, &to.field->children[i]};
        FRZ_TRY(normalize(n, &f->children[i], below, child, out->children[i], err));
    }
out:
    return rc;
}

/* ---- values in another order ---- */

/* What was only shown so far is looked at before rows are taken from it. */
static frz_code check_own(const ipc_field *f, const struct ArrowArray *a, int64_t count,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    rows r = {a, 0, count};
    int64_t below = a->offset + count;
    FRZ_TRY(check_frame(f, r, err));
    if (f->type.layout == IPC_BYTES || f->type.layout == IPC_ITEMS) {
        const void *offsets;
        FRZ_TRY(values_of(r, &offsets, err));
        if (offsets != NULL) {
            FRZ_TRY(ipc_check_offsets((const int32_t *)offsets + a->offset, sizeof(int32_t), count,
                                      INT32_MAX, err));
        }
        below = offsets == NULL ? 0 : load(offsets, sizeof(int32_t), a->offset + count);
    }
    for (size_t i = 0; i < f->child_count; i++) {
        FRZ_TRY(check_own(&f->children[i], a->children[i], below, err));
    }
out:
    return rc;
}

/* Copy rows of an array that has the form of its target; the copy is kept for the batch. */
static frz_code take(frz_normalizer *n, target to, const struct ArrowArray *src,
                     const int64_t *places, int64_t count, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_take_part part = {.field = to.field, .whole = true};
    struct ArrowArray taken;
    FRZ_TRY(check_own(to.field, src, src->length, err));
    FRZ_TRY(FRZ_GROW(n->env, &n->taken, &n->taken_capacity, n->taken_count, err));
    FRZ_TRY(frz_array_take(n->env, &part, src, places, count, &taken, err));
    n->taken[n->taken_count++] = taken;
    show((rows){&taken, 0, count}, out);
out:
    return rc;
}

/* The whole of an array, in the form of its target. */
static frz_code normalize_all(frz_normalizer *n, const ipc_field *f, target to,
                              const struct ArrowArray *array, struct ArrowArray *out,
                              frz_error *err)
{
    rows all = {array, 0, array == NULL ? 0 : array->length};
    return normalize(n, f, to, all, out, err);
}

static frz_code take_item_views(frz_normalizer *n, const ipc_field *f, target to, rows r,
                                struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const size_t width = (size_t)f->type.width;
    const int64_t at = r.array->offset + r.first;
    const void *offsets;
    const void *sizes = r.array->buffers[2];
    struct ArrowArray items;
    frz_type entries;
    target below = item_target(to, &entries);
    void *made, *places;
    int64_t total = 0;
    FRZ_TRY(normalize_all(n, &f->children[0], below, r.array->children[0], &items, err));
    FRZ_TRY(new_array(n, r.count, 2, 1, out, err));
    FRZ_TRY(copy_validity(n, r, out, err));
    FRZ_TRY(new_bytes(n, r.count + 1, sizeof(int32_t), &made, err));
    FRZ_TRY(values_of(r, &offsets, err));
    for (int64_t i = 0; i < r.count; i++) {
        int64_t from = is_null(r, i) ? 0 : load(offsets, width, at + i);
        int64_t size = is_null(r, i) ? 0 : sizes == NULL ? -1 : load(sizes, width, at + i);
        if (from < 0 || size < 0 || from > items.length || size > items.length - from) {
            return impossible("has a list that leads out of its items", err);
        }
        total += size;
        if (total > INT32_MAX) {
            return too_much(err);
        }
        ((int32_t *)made)[i + 1] = (int32_t)total;
    }
    FRZ_TRY(new_bytes(n, total, sizeof(int64_t), &places, err));
    for (int64_t i = 0, at_item = 0; i < r.count; i++) {
        int64_t from = is_null(r, i) ? 0 : load(offsets, width, at + i);
        for (; at_item < ((int32_t *)made)[i + 1]; at_item++) {
            ((int64_t *)places)[at_item] = from++;
        }
    }
    out->buffers[1] = made;
    FRZ_TRY(take(n, below, &items, places, total, out->children[0], err));
out:
    return rc;
}

/* Runs: which value each row has. */
static frz_code take_runs(frz_normalizer *n, const ipc_field *f, target to, rows r,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowArray *ends = r.array->children[0];
    const size_t width = (size_t)f->children[0].type.width;
    const int64_t at = r.array->offset + r.first;
    struct ArrowArray values;
    void *places;
    int64_t run = 0;
    FRZ_TRY(check_frame(&f->children[0], (rows){ends, 0, 0}, err));
    FRZ_TRY(normalize_all(n, &f->children[1], to, r.array->children[1], &values, err));
    FRZ_TRY(new_bytes(n, r.count, sizeof(int64_t), &places, err));
    const void *items = ends->buffers[1];
    for (int64_t i = 0; i < r.count; i++) {
        while (items != NULL && run < ends->length &&
               load(items, width, ends->offset + run) <= at + i) {
            run++;
        }
        if (run >= ends->length || run >= values.length) {
            return impossible("has runs that end before its rows", err);
        }
        ((int64_t *)places)[i] = run;
    }
    FRZ_TRY(take(n, to, &values, places, r.count, out, err));
out:
    return rc;
}

static int64_t load_index(const ipc_type *t, const void *items, int64_t i)
{
    switch (t->width) {
    case 1:
        return t->b != 0 ? ((const int8_t *)items)[i] : ((const uint8_t *)items)[i];
    case 2:
        return t->b != 0 ? ((const int16_t *)items)[i] : ((const uint16_t *)items)[i];
    case 4:
        return t->b != 0 ? (int64_t)((const int32_t *)items)[i]
                         : (int64_t)((const uint32_t *)items)[i];
    default: /* what does not fit is negative, and refused like that */
        return ((const int64_t *)items)[i];
    }
}

/* Rows whose index is null are null, whatever value was taken for them. */
static frz_code add_nulls(frz_normalizer *n, rows r, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray made;
    void *bits;
    if (out->n_buffers == 0 || r.array->buffers[0] == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(new_array(n, out->length, (size_t)out->n_buffers, 0, &made, err));
    FRZ_TRY(new_bytes(n, (int64_t)frz_bitmap_bytes(out->offset + r.count) + 8, 1, &bits, err));
    for (int64_t i = 0; i < r.count; i++) {
        frz_bit_put(bits, out->offset + i, !is_null(r, i) && !frz_is_null(out, i));
    }
    memcpy(made.buffers, out->buffers, (size_t)out->n_buffers * sizeof *made.buffers);
    out->buffers = made.buffers;
    out->buffers[0] = bits;
    out->null_count = -1;
out:
    return rc;
}

/* All rows are null: their dictionary has no values. */
static frz_code make_nulls(frz_normalizer *n, const frz_type *type, int64_t count,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray nulls;
    FRZ_TRY(FRZ_GROW(n->env, &n->taken, &n->taken_capacity, n->taken_count, err));
    FRZ_TRY(frz_array_nulls(n->env, type, count, &nulls, err));
    n->taken[n->taken_count++] = nulls;
    show((rows){&nulls, 0, count}, out);
out:
    return rc;
}

static frz_code take_encoded(frz_normalizer *n, const ipc_field *f, target to, rows r,
                             struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray values;
    const void *indices;
    void *places;
    ipc_field plain = *f;
    plain.encoded = false;
    FRZ_TRY(normalize_all(n, &plain, to, r.array->dictionary, &values, err));
    FRZ_TRY(new_bytes(n, r.count, sizeof(int64_t), &places, err));
    FRZ_TRY(values_of(r, &indices, err));
    for (int64_t i = 0; i < r.count; i++) {
        if (is_null(r, i)) {
            continue;
        }
        int64_t at = load_index(&f->index, indices, r.array->offset + r.first + i);
        if (at < 0 || at >= values.length) {
            return impossible("has an index outside of its dictionary", err);
        }
        ((int64_t *)places)[i] = at;
    }
    if (values.length == 0) {
        return make_nulls(n, to.type, r.count, out, err);
    }
    FRZ_TRY(take(n, to, &values, places, r.count, out, err));
    FRZ_TRY(add_nulls(n, r, out, err));
out:
    return rc;
}

/* ---- any field ---- */

static frz_code normalize(frz_normalizer *n, const ipc_field *f, target to, rows r,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = check_frame(f, r, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (is_own(f)) {
        show(r, out);
        return FRZ_OK;
    }
    if (f->encoded) {
        return take_encoded(n, f, to, r, out, err);
    }
    switch (f->type.layout) {
    case IPC_FIXED:
        return convert_fixed(n, f, to.type, r, out, err);
    case IPC_BYTES:
        return cut_bytes(n, f, r, out, err);
    case IPC_VIEWS:
        return copy_views(n, r, out, err);
    case IPC_ITEMS:
        return cut_items(n, f, to, r, out, err);
    case IPC_FIXED_ITEMS:
        return cut_fixed_items(n, f, to, r, out, err);
    case IPC_ITEM_VIEWS:
        return take_item_views(n, f, to, r, out, err);
    case IPC_FIELDS:
        return cut_fields(n, f, to, r, out, err);
    case IPC_RUNS:
        return take_runs(n, f, to, r, out, err);
    default:
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: unions");
    }
}

/* ---- batches ---- */

static void forget_batch(frz_normalizer *n)
{
    for (size_t i = 0; i < n->taken_count; i++) {
        frz_array_release(&n->taken[i]);
    }
    n->taken_count = 0;
    frz_arena_reset(&n->memory);
}

frz_code frz_normalizer_batch(frz_normalizer *n, const struct ArrowArray *batch, int64_t first,
                              int64_t count, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    rows r = {batch, first, count};
    forget_batch(n);
    FRZ_TRY(check_frame(&n->root, r, err));
    FRZ_TRY(new_array(n, count, 1, n->root.child_count, out, err));
    for (size_t i = 0; i < n->root.child_count; i++) {
        const ipc_field *f = &n->root.children[i];
        rows column = {batch->children[i], batch->offset + first, count};
        target to = {n->type->fields[i].type, &n->own.children[i]};
        rc = normalize(n, f, to, column, out->children[i], err);
        FRZ_TRY(frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(f->name)));
    }
out:
    return rc;
}

bool frz_normalizer_is_needed(const frz_normalizer *n)
{
    return n->needed;
}

void frz_normalizer_free(frz_normalizer *n)
{
    if (n == NULL) {
        return;
    }
    const frz_env *env = n->env;
    forget_batch(n);
    frz_free(env, n->taken);
    frz_arena_reset(&n->fields);
    frz_schema_release(&n->schema);
    frz_schema_release(&n->own_schema);
    frz_free(env, n);
}

frz_code frz_normalizer_new(const frz_env *env, const struct ArrowSchema *schema,
                            const frz_type *type, frz_normalizer **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_normalizer *n = frz_alloc_zero(env, 1, sizeof *n);
    if (n == NULL) {
        return frz_fail_nomem(err, sizeof *n);
    }
    n->env = env;
    n->type = type;
    frz_arena_init(&n->fields, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&n->memory, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_arrow_schema_copy(env, schema, &n->schema, err));
    FRZ_TRY(ipc_field_from_schema(&n->fields, &n->schema, &n->root, err));
    FRZ_TRY(frz_type_to_arrow(env, type, &n->own_schema, err));
    FRZ_TRY(ipc_field_from_schema(&n->fields, &n->own_schema, &n->own, err));
    n->needed = !is_own(&n->root);
    *out = n;
    n = NULL;
out:
    frz_normalizer_free(n);
    return rc;
}
