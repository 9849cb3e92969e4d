/*
 * Operations on arrays of a known type: of nulls, of one value, some of the rows, one after the
 * other. Sources may have offsets at every level; results have none.
 */
#include "type/type_internal.h"

/* A view of a child's rows as its parent sees them; owns nothing. */
static struct ArrowArray view_of(const struct ArrowArray *array, int64_t first, int64_t length)
{
    struct ArrowArray view = *array;
    view.offset += first;
    view.length = length;
    view.null_count = length == array->length ? array->null_count : -1;
    view.release = NULL;
    return view;
}

static frz_type entries_type(const frz_type *map)
{
    return (frz_type){.id = FRZ_TYPE_STRUCT, .fields = map->fields, .field_count = 2};
}

static frz_code new_zeroed(const frz_env *env, size_t size, frz_buffer **out, frz_error *err)
{
    frz_code rc = frz_buffer_new(env, size, out, err);
    if (rc == FRZ_OK) {
        memset((*out)->data, 0, size);
    }
    return rc;
}

static frz_code new_sized(const frz_env *env, int64_t count, size_t width, frz_buffer **out,
                          frz_error *err)
{
    size_t size;
    if (!frz_mul_size((size_t)count, width, &size)) {
        return frz_fail(err, FRZ_E_LIMIT, "an array of %lld values of %zu bytes is too large",
                        (long long)count, width);
    }
    return frz_buffer_new(env, size, out, err);
}

static frz_code new_children(const frz_env *env, size_t count, struct ArrowArray **out,
                             frz_error *err)
{
    *out = frz_alloc_zero(env, count, sizeof **out);
    return *out == NULL ? frz_fail_nomem(err, count * sizeof **out) : FRZ_OK;
}

static void release_all(struct ArrowArray *arrays, size_t count)
{
    for (size_t i = 0; arrays != NULL && i < count; i++) {
        frz_array_release(&arrays[i]);
    }
}

static frz_code too_large(frz_error *err)
{
    return frz_fail(err, FRZ_E_LIMIT, "one array holds at most %d bytes or elements", INT32_MAX);
}

/* How the values of a type lie in memory. */
typedef enum layout {
    LAYOUT_NONE,   /* no buffers */
    LAYOUT_BITS,   /* validity, bits */
    LAYOUT_FIXED,  /* validity, values */
    LAYOUT_BYTES,  /* validity, offsets, bytes */
    LAYOUT_STRUCT, /* validity, children */
    LAYOUT_LIST    /* validity, offsets, one child */
} layout;

static layout layout_of(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_UNKNOWN:
        return LAYOUT_NONE;
    case FRZ_TYPE_BOOLEAN:
        return LAYOUT_BITS;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return LAYOUT_BYTES;
    case FRZ_TYPE_STRUCT:
        return LAYOUT_STRUCT;
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return LAYOUT_LIST;
    default:
        return LAYOUT_FIXED;
    }
}

static size_t layout_buffers(layout l)
{
    static const size_t counts[] = {0, 2, 2, 3, 1, 2};
    return counts[l];
}

/* What an array is made of while it is being made. */
typedef struct parts {
    frz_buffer *buffers[3];
    int64_t null_count;
    struct ArrowArray *children;
    size_t n_children;
} parts;

static void parts_release(const frz_env *env, parts *p)
{
    for (size_t i = 0; i < 3; i++) {
        frz_buffer_unref(p->buffers[i]);
    }
    release_all(p->children, p->n_children);
    frz_free(env, p->children);
    *p = (parts){0};
}

/* Hand the parts to an array if all went well, else release them. */
static frz_code parts_finish(const frz_env *env, const frz_type *type, int64_t length, parts *p,
                             frz_code rc, struct ArrowArray *out, frz_error *err)
{
    if (rc == FRZ_OK && p->null_count == 0 && p->buffers[0] != NULL) {
        frz_buffer_unref(p->buffers[0]);
        p->buffers[0] = NULL;
    }
    if (rc == FRZ_OK) {
        frz_buffer *buffers[] = {p->buffers[0], p->buffers[1], p->buffers[2]};
        memset(p->buffers, 0, sizeof p->buffers);
        rc = frz_array_make(env, length, p->null_count, buffers, layout_buffers(layout_of(type)),
                            p->children, p->n_children, out, err);
        p->n_children = 0;
    }
    parts_release(env, p);
    return rc;
}

static frz_code parts_children(const frz_env *env, size_t count, parts *p, frz_error *err)
{
    if (count == 0) {
        return FRZ_OK;
    }
    frz_code rc = new_children(env, count, &p->children, err);
    p->n_children = rc == FRZ_OK ? count : 0;
    return rc;
}

/* ---- nulls ---- */

static frz_code null_children(const frz_env *env, const frz_type *type, int64_t length, parts *p,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parts_children(env, type->field_count, p, err));
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(frz_array_nulls(env, type->fields[i].type, length, &p->children[i], err));
    }
out:
    return rc;
}

static frz_code null_list(const frz_env *env, const frz_type *type, int64_t length, parts *p,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(new_zeroed(env, ((size_t)length + 1) * sizeof(int32_t), &p->buffers[1], err));
    FRZ_TRY(parts_children(env, 1, p, err));
    if (type->id == FRZ_TYPE_MAP) {
        frz_type entries = entries_type(type);
        FRZ_TRY(frz_array_nulls(env, &entries, 0, &p->children[0], err));
    } else {
        FRZ_TRY(frz_array_nulls(env, type->fields[0].type, 0, &p->children[0], err));
    }
out:
    return rc;
}

static frz_code null_fixed(const frz_env *env, size_t width, int64_t length, parts *p,
                           frz_error *err)
{
    frz_code rc = new_sized(env, length, width, &p->buffers[1], err);
    if (rc == FRZ_OK) {
        memset(p->buffers[1]->data, 0, p->buffers[1]->size);
    }
    return rc;
}

frz_code frz_array_nulls(const frz_env *env, const frz_type *type, int64_t length,
                         struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parts p = {.null_count = length};
    type = frz_type_storage(type);
    layout l = layout_of(type);
    if (l != LAYOUT_NONE) {
        FRZ_TRY(new_zeroed(env, frz_bitmap_bytes(length), &p.buffers[0], err));
    }
    if (l == LAYOUT_BITS) {
        FRZ_TRY(new_zeroed(env, frz_bitmap_bytes(length), &p.buffers[1], err));
    } else if (l == LAYOUT_FIXED) {
        FRZ_TRY(null_fixed(env, frz_type_width(type), length, &p, err));
    } else if (l == LAYOUT_BYTES) {
        FRZ_TRY(new_zeroed(env, ((size_t)length + 1) * sizeof(int32_t), &p.buffers[1], err));
        FRZ_TRY(new_zeroed(env, 0, &p.buffers[2], err));
    } else if (l == LAYOUT_STRUCT) {
        FRZ_TRY(null_children(env, type, length, &p, err));
    } else if (l == LAYOUT_LIST) {
        FRZ_TRY(null_list(env, type, length, &p, err));
    }
out:
    return parts_finish(env, type, length, &p, rc, out, err);
}

/* ---- one value ---- */

static void repeat(uint8_t *dst, const void *value, size_t width, size_t count)
{
    if (count == 0 || width == 0) {
        return;
    }
    memcpy(dst, value, width);
    size_t done = width;
    for (size_t total = width * count; done < total;) {
        size_t more = FRZ_MIN(done, total - done);
        memcpy(dst + done, dst, more);
        done += more;
    }
}

static frz_code constant_bytes(const frz_env *env, frz_str bytes, int64_t length, parts *p,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t total;
    if (!frz_mul_size(bytes.len, (size_t)length, &total) || total > INT32_MAX) {
        return too_large(err);
    }
    FRZ_TRY(new_sized(env, length + 1, sizeof(int32_t), &p->buffers[1], err));
    FRZ_TRY(frz_buffer_new(env, total, &p->buffers[2], err));
    for (int64_t i = 0; i <= length; i++) {
        ((int32_t *)p->buffers[1]->data)[i] = (int32_t)((size_t)i * bytes.len);
    }
    repeat(p->buffers[2]->data, bytes.ptr, bytes.len, (size_t)length);
out:
    return rc;
}

static frz_code constant_fixed(const frz_env *env, const frz_type *type, const frz_value *value,
                               int64_t length, parts *p, frz_error *err)
{
    size_t width = frz_type_width(type);
    const void *bytes = &value->as;
    if (type->id == FRZ_TYPE_UUID || type->id == FRZ_TYPE_FIXED) {
        assert(value->as.bytes.len == width);
        bytes = value->as.bytes.ptr;
    }
    frz_code rc = new_sized(env, length, width, &p->buffers[1], err);
    if (rc == FRZ_OK) {
        repeat(p->buffers[1]->data, bytes, width, (size_t)length);
    }
    return rc;
}

/* A struct whose fields have their own defaults. */
static frz_code constant_struct(const frz_env *env, const frz_type *type, int64_t length, parts *p,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parts_children(env, type->field_count, p, err));
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(frz_array_constant(env, type->fields[i].type, type->fields[i].initial_default,
                                   length, &p->children[i], err));
    }
out:
    return rc;
}

frz_code frz_array_constant(const frz_env *env, const frz_type *type, const frz_value *value,
                            int64_t length, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parts p = {.null_count = 0};
    frz_value promoted;
    type = frz_type_storage(type);
    layout l = layout_of(type);
    if (value == NULL || value->is_null || l == LAYOUT_NONE) {
        return frz_array_nulls(env, type, length, out, err);
    }
    FRZ_TRY(frz_value_promote(value, type, &promoted, err));
    if (l == LAYOUT_BITS) {
        FRZ_TRY(new_zeroed(env, frz_bitmap_bytes(length), &p.buffers[1], err));
        frz_bitmap_fill(p.buffers[1]->data, 0, length, promoted.as.boolean);
    } else if (l == LAYOUT_FIXED) {
        FRZ_TRY(constant_fixed(env, type, &promoted, length, &p, err));
    } else if (l == LAYOUT_BYTES) {
        FRZ_TRY(constant_bytes(env, promoted.as.bytes, length, &p, err));
    } else if (l == LAYOUT_STRUCT) {
        FRZ_TRY(constant_struct(env, type, length, &p, err));
    } else {
        FRZ_TRY(null_list(env, type, length, &p, err)); /* only empty lists are values */
    }
out:
    return parts_finish(env, type, length, &p, rc, out, err);
}

/* ---- some of the rows ---- */

/* Buffers that are there already are the source's own, to be filled again. */
static frz_code need_buffer(const frz_env *env, int64_t count, size_t width, frz_buffer **buffer,
                            frz_error *err)
{
    if (*buffer == NULL) {
        return new_sized(env, count, width, buffer, err);
    }
    (*buffer)->size = (size_t)count * width;
    return FRZ_OK;
}

static frz_code filter_fixed(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                             const frz_selection *s, parts *p, frz_error *err)
{
    size_t width = frz_type_width(type);
    const uint8_t *from = (const uint8_t *)src->buffers[1] + (size_t)src->offset * width;
    frz_code rc = need_buffer(env, s->selected, width, &p->buffers[1], err);
    if (rc == FRZ_OK) {
        type_gather_fixed(s, from, width, p->buffers[1]->data);
    }
    return rc;
}

static const int32_t *offsets_of(const struct ArrowArray *array)
{
    return (const int32_t *)array->buffers[1] + array->offset;
}

/* New offsets start at 0. A part of what one array held always fits. */
static frz_code filter_offsets(const frz_env *env, const struct ArrowArray *src,
                               const frz_selection *s, parts *p, frz_error *err)
{
    frz_code rc = need_buffer(env, s->selected + 1, sizeof(int32_t), &p->buffers[1], err);
    if (rc == FRZ_OK) {
        type_gather_offsets(s, offsets_of(src), (int32_t *)p->buffers[1]->data);
    }
    return rc;
}

/* The bytes first: the offsets that lead to them may be written over. */
static frz_code filter_bytes(const frz_env *env, const struct ArrowArray *src,
                             const frz_selection *s, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t total = type_selected_items(s, offsets_of(src));
    FRZ_TRY(need_buffer(env, total, 1, &p->buffers[2], err));
    type_gather_bytes(s, offsets_of(src), src->buffers[2], p->buffers[2]->data, total);
    FRZ_TRY(filter_offsets(env, src, s, p, err));
out:
    return rc;
}

static frz_code filter_into(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                            const frz_selection *s, parts *p, struct ArrowArray *out,
                            frz_error *err);

static frz_code filter_struct(const frz_env *env, const frz_type *type,
                              const struct ArrowArray *src, const frz_selection *s, parts *p,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parts_children(env, type->field_count, p, err));
    for (size_t i = 0; i < type->field_count; i++) {
        struct ArrowArray view = view_of(src->children[i], src->offset, src->length);
        parts below = {.null_count = 0};
        FRZ_TRY(filter_into(env, frz_type_storage(type->fields[i].type), &view, s, &below,
                            &p->children[i], err));
    }
out:
    return rc;
}

/* The selection of lists becomes one of their elements. */
static frz_code filter_list(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                            const frz_selection *s, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type entries = entries_type(type);
    const frz_type *below = type->id == FRZ_TYPE_MAP ? &entries : type->fields[0].type;
    int64_t first = src->length == 0 ? 0 : offsets_of(src)[0];
    int64_t count = src->length == 0 ? 0 : offsets_of(src)[src->length] - first;
    frz_buffer *elements = NULL;
    FRZ_TRY(filter_offsets(env, src, s, p, err));
    FRZ_TRY(new_zeroed(env, frz_bitmap_bytes(count), &elements, err));
    type_select_elements(s, offsets_of(src), elements->data);
    FRZ_TRY(parts_children(env, 1, p, err));
    struct ArrowArray view = view_of(src->children[0], first, count);
    FRZ_TRY(frz_array_filter(env, below, &view, elements->data,
                             type_selected_items(s, offsets_of(src)), &p->children[0], err));
out:
    frz_buffer_unref(elements);
    return rc;
}

static frz_code filter_validity(const frz_env *env, const struct ArrowArray *src,
                                const frz_selection *s, parts *p, frz_error *err)
{
    if (src->buffers[0] == NULL || frz_null_count(src) == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(s->selected), &p->buffers[0], err);
    if (rc == FRZ_OK) {
        type_gather_bits(s, src->buffers[0], src->offset, p->buffers[0]->data);
        p->null_count = s->selected - frz_bitmap_count(p->buffers[0]->data, 0, s->selected);
    }
    return rc;
}

/* p: with buffers to be used again; it is used up. */
static frz_code filter_into(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                            const frz_selection *s, parts *p, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    layout l = layout_of(type);
    if (l == LAYOUT_NONE) {
        return frz_array_nulls(env, type, s->selected, out, err);
    }
    FRZ_TRY(filter_validity(env, src, s, p, err));
    if (l == LAYOUT_BITS) {
        FRZ_TRY(frz_buffer_new(env, frz_bitmap_bytes(s->selected), &p->buffers[1], err));
        type_gather_bits(s, src->buffers[1], src->offset, p->buffers[1]->data);
    } else if (l == LAYOUT_FIXED) {
        FRZ_TRY(filter_fixed(env, type, src, s, p, err));
    } else if (l == LAYOUT_BYTES) {
        FRZ_TRY(filter_bytes(env, src, s, p, err));
    } else if (l == LAYOUT_STRUCT) {
        FRZ_TRY(filter_struct(env, type, src, s, p, err));
    } else {
        FRZ_TRY(filter_list(env, type, src, s, p, err));
    }
out:
    return parts_finish(env, type, s->selected, p, rc, out, err);
}

frz_code frz_array_filter(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                          const uint8_t *selection, int64_t selected, struct ArrowArray *out,
                          frz_error *err)
{
    parts p = {.null_count = 0};
    frz_selection s = type_selection_of(selection, src->length, selected);
    assert(frz_bitmap_count(selection, 0, src->length) == selected);
    return filter_into(env, frz_type_storage(type), src, &s, &p, out, err);
}

/* If few rows go, values only move down a little; if many go, they would hold too much memory. */
frz_code frz_array_filter_move(const frz_env *env, const frz_type *type, struct ArrowArray *src,
                               const frz_selection *selection, struct ArrowArray *out,
                               frz_error *err)
{
    parts p = {.null_count = 0};
    assert(selection->length == src->length);
    type = frz_type_storage(type);
    layout l = layout_of(type);
    if (selection->selected > src->length / 2 && (l == LAYOUT_FIXED || l == LAYOUT_BYTES)) {
        p.buffers[1] = frz_array_take_buffer(src, 1);
        p.buffers[2] = l == LAYOUT_BYTES ? frz_array_take_buffer(src, 2) : NULL;
    }
    frz_code rc = filter_into(env, type, src, selection, &p, out, err);
    frz_array_release(src);
    return rc;
}

/* ---- one array after the other ---- */

typedef struct sources {
    const struct ArrowArray *arrays;
    size_t count;
    int64_t length; /* of all together */
} sources;

static frz_code concat_validity(const frz_env *env, const sources *src, parts *p, frz_error *err)
{
    int64_t done = 0;
    for (size_t i = 0; i < src->count; i++) {
        p->null_count += frz_null_count(&src->arrays[i]);
    }
    if (p->null_count == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(src->length), &p->buffers[0], err);
    for (size_t i = 0; i < src->count && rc == FRZ_OK; i++) {
        const struct ArrowArray *a = &src->arrays[i];
        if (a->buffers[0] == NULL) {
            frz_bitmap_fill(p->buffers[0]->data, done, a->length, true);
        } else {
            frz_bitmap_copy(a->buffers[0], a->offset, a->length, p->buffers[0]->data, done);
        }
        done += a->length;
    }
    return rc;
}

static frz_code concat_bits(const frz_env *env, const sources *src, parts *p, frz_error *err)
{
    int64_t done = 0;
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(src->length), &p->buffers[1], err);
    for (size_t i = 0; i < src->count && rc == FRZ_OK; i++) {
        const struct ArrowArray *a = &src->arrays[i];
        frz_bitmap_copy(a->buffers[1], a->offset, a->length, p->buffers[1]->data, done);
        done += a->length;
    }
    return rc;
}

static frz_code concat_fixed(const frz_env *env, size_t width, const sources *src, parts *p,
                             frz_error *err)
{
    frz_code rc = new_sized(env, src->length, width, &p->buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    uint8_t *to = p->buffers[1]->data;
    for (size_t i = 0; i < src->count; i++) {
        const struct ArrowArray *a = &src->arrays[i];
        size_t bytes = (size_t)a->length * width;
        if (bytes > 0) {
            memcpy(to, (const uint8_t *)a->buffers[1] + (size_t)a->offset * width, bytes);
        }
        to += bytes;
    }
    return FRZ_OK;
}

/* Offsets of all parts, from 0 on; first elements and counts of a part are range_of it. */
static void range_of(const struct ArrowArray *a, int64_t *first, int64_t *count)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset;
    *first = a->length == 0 ? 0 : offsets[0];
    *count = a->length == 0 ? 0 : offsets[a->length] - *first;
}

static frz_code concat_offsets(const frz_env *env, const sources *src, parts *p, int64_t *total,
                               frz_error *err)
{
    int64_t end = 0;
    frz_code rc = new_sized(env, src->length + 1, sizeof(int32_t), &p->buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int32_t *to = (int32_t *)p->buffers[1]->data;
    *to++ = 0;
    for (size_t i = 0; i < src->count; i++) {
        const struct ArrowArray *a = &src->arrays[i];
        const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset;
        int64_t first;
        int64_t count;
        range_of(a, &first, &count);
        if (end + count > INT32_MAX) {
            return too_large(err);
        }
        for (int64_t row = 1; row <= a->length; row++) {
            *to++ = (int32_t)(end + offsets[row] - first);
        }
        end += count;
    }
    *total = end;
    return FRZ_OK;
}

static frz_code concat_bytes(const frz_env *env, const sources *src, parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t total;
    FRZ_TRY(concat_offsets(env, src, p, &total, err));
    FRZ_TRY(frz_buffer_new(env, (size_t)total, &p->buffers[2], err));
    uint8_t *to = p->buffers[2]->data;
    for (size_t i = 0; i < src->count; i++) {
        int64_t first;
        int64_t count;
        range_of(&src->arrays[i], &first, &count);
        if (count > 0) {
            memcpy(to, (const uint8_t *)src->arrays[i].buffers[2] + first, (size_t)count);
            to += count;
        }
    }
out:
    return rc;
}

static frz_code concat_struct(const frz_env *env, const frz_type *type, const sources *src,
                              parts *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *views = NULL;
    FRZ_TRY(parts_children(env, type->field_count, p, err));
    FRZ_TRY(new_children(env, src->count, &views, err));
    for (size_t i = 0; i < type->field_count; i++) {
        for (size_t k = 0; k < src->count; k++) {
            const struct ArrowArray *a = &src->arrays[k];
            views[k] = view_of(a->children[i], a->offset, a->length);
        }
        FRZ_TRY(
            frz_array_concat(env, type->fields[i].type, views, src->count, &p->children[i], err));
    }
out:
    frz_free(env, views);
    return rc;
}

static frz_code concat_list(const frz_env *env, const frz_type *type, const sources *src, parts *p,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type entries = entries_type(type);
    const frz_type *below = type->id == FRZ_TYPE_MAP ? &entries : type->fields[0].type;
    struct ArrowArray *views = NULL;
    int64_t total;
    FRZ_TRY(concat_offsets(env, src, p, &total, err));
    FRZ_TRY(parts_children(env, 1, p, err));
    FRZ_TRY(new_children(env, src->count, &views, err));
    for (size_t k = 0; k < src->count; k++) {
        int64_t first;
        int64_t count;
        range_of(&src->arrays[k], &first, &count);
        views[k] = view_of(src->arrays[k].children[0], first, count);
    }
    FRZ_TRY(frz_array_concat(env, below, views, src->count, &p->children[0], err));
out:
    frz_free(env, views);
    return rc;
}

frz_code frz_array_concat(const frz_env *env, const frz_type *type, const struct ArrowArray *parts_,
                          size_t n_parts, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parts p = {.null_count = 0};
    sources src = {parts_, n_parts, 0};
    type = frz_type_storage(type);
    layout l = layout_of(type);
    for (size_t i = 0; i < n_parts; i++) {
        if (!frz_add_i64(src.length, parts_[i].length, &src.length)) {
            return too_large(err);
        }
    }
    if (l == LAYOUT_NONE) {
        return frz_array_nulls(env, type, src.length, out, err);
    }
    FRZ_TRY(concat_validity(env, &src, &p, err));
    if (l == LAYOUT_BITS) {
        FRZ_TRY(concat_bits(env, &src, &p, err));
    } else if (l == LAYOUT_FIXED) {
        FRZ_TRY(concat_fixed(env, frz_type_width(type), &src, &p, err));
    } else if (l == LAYOUT_BYTES) {
        FRZ_TRY(concat_bytes(env, &src, &p, err));
    } else if (l == LAYOUT_STRUCT) {
        FRZ_TRY(concat_struct(env, type, &src, &p, err));
    } else {
        FRZ_TRY(concat_list(env, type, &src, &p, err));
    }
out:
    return parts_finish(env, type, src.length, &p, rc, out, err);
}
