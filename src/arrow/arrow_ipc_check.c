/*
 * Checks of what the buffers of an array say, so that whoever reads the array need not: offsets in
 * order and inside, text in UTF-8, indices inside their dictionary. Sizes of buffers were compared
 * with the array's length before.
 */
#include "arrow/arrow_ipc.h"

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

frz_code ipc_check_offsets(const void *offsets, size_t width, int64_t length, uint64_t limit,
                           frz_error *err)
{
    int64_t last = load(offsets, width, 0);
    bool ordered = last >= 0;
    for (int64_t i = 1; i <= length && ordered; i++) {
        int64_t next = load(offsets, width, i);
        ordered = next >= last;
        last = next;
    }
    if (!ordered || (uint64_t)last > limit) {
        return frz_fail(err, FRZ_E_CORRUPT, "offsets are not in order from 0 to %llu",
                        (unsigned long long)limit);
    }
    return FRZ_OK;
}

static frz_code bad_text(int64_t row, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT, "text of row %lld is not UTF-8", (long long)row);
}

/* Row by row: what null rows refer to may be anything. */
static frz_code check_each_text(const struct ArrowArray *a, size_t width, frz_error *err)
{
    const char *bytes = a->buffers[2];
    for (int64_t i = 0; i < a->length; i++) {
        int64_t start = load(a->buffers[1], width, i);
        int64_t end = load(a->buffers[1], width, i + 1);
        if (!frz_is_null(a, i) &&
            !frz_utf8_valid((frz_str){bytes + start, (size_t)(end - start)})) {
            return bad_text(i, err);
        }
    }
    return FRZ_OK;
}

/* No text starts inside a character. */
static bool starts_are_whole(const struct ArrowArray *a, size_t width, int64_t end)
{
    const uint8_t *bytes = a->buffers[2];
    for (int64_t i = 0; i < a->length; i++) {
        int64_t start = load(a->buffers[1], width, i);
        if (start < end && (bytes[start] & 0xC0) == 0x80) {
            return false;
        }
    }
    return true;
}

frz_code ipc_check_utf8(const struct ArrowArray *array, size_t width, frz_error *err)
{
    const char *bytes = array->buffers[2];
    int64_t start = load(array->buffers[1], width, 0);
    int64_t end = load(array->buffers[1], width, array->length);
    if (frz_utf8_valid((frz_str){bytes + start, (size_t)(end - start)}) &&
        starts_are_whole(array, width, end)) {
        return FRZ_OK;
    }
    return check_each_text(array, width, err);
}

/* ---- views ---- */

#define VIEW 16
#define INLINE_BYTES 12
#define PREFIX_BYTES 4

/* The bytes of a view: behind its length, or in a data buffer that starts with the same prefix. */
static bool view_bytes(const uint8_t *view, const frz_buffer *const *data, size_t count,
                       frz_str *out)
{
    uint32_t length = frz_load_le32(view);
    *out = (frz_str){(const char *)view + 4, length};
    if (length <= INLINE_BYTES) {
        return true;
    }
    uint32_t buffer = frz_load_le32(view + 8);
    uint32_t offset = frz_load_le32(view + 12);
    if (length > INT32_MAX || buffer >= count || offset > data[buffer]->size ||
        length > data[buffer]->size - offset) {
        return false;
    }
    out->ptr = (const char *)data[buffer]->data + offset;
    return memcmp(out->ptr, view + 4, PREFIX_BYTES) == 0;
}

frz_code ipc_check_views(const struct ArrowArray *array, const frz_buffer *const *data,
                         size_t count, bool utf8, frz_error *err)
{
    const uint8_t *views = array->buffers[1];
    for (int64_t i = 0; i < array->length; i++) {
        frz_str bytes;
        if (frz_is_null(array, i)) {
            continue;
        }
        if (!view_bytes(views + i * VIEW, data, count, &bytes)) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "the view of row %lld leads outside its %zu data buffers", (long long)i,
                            count);
        }
        if (utf8 && !frz_utf8_valid(bytes)) {
            return bad_text(i, err);
        }
    }
    return FRZ_OK;
}

/* ---- nested ---- */

frz_code ipc_check_item_views(const struct ArrowArray *array, size_t width, int64_t limit,
                              frz_error *err)
{
    for (int64_t i = 0; i < array->length; i++) {
        int64_t start = load(array->buffers[1], width, i);
        int64_t size = load(array->buffers[2], width, i);
        if (start < 0 || size < 0 || start > limit || size > limit - start) {
            return frz_fail(err, FRZ_E_CORRUPT, "the list of row %lld leads outside its %lld items",
                            (long long)i, (long long)limit);
        }
    }
    return FRZ_OK;
}

frz_code ipc_check_union(const ipc_type *type, const struct ArrowArray *array, frz_error *err)
{
    const int8_t *ids = array->buffers[0];
    const int32_t *offsets = type->layout == IPC_DENSE ? array->buffers[1] : NULL;
    for (int64_t i = 0; i < array->length; i++) {
        int child = ids[i] < 0 ? -1 : type->choice->child_of[ids[i]];
        if (child < 0) {
            return frz_fail(err, FRZ_E_CORRUPT, "row %lld is of type id %d, which the union lacks",
                            (long long)i, ids[i]);
        }
        int64_t at = offsets == NULL ? i : offsets[i];
        if (at < 0 || at >= array->children[child]->length) {
            return frz_fail(err, FRZ_E_CORRUPT, "row %lld leads outside the union's child %d",
                            (long long)i, child);
        }
    }
    return FRZ_OK;
}

frz_code ipc_check_runs(const struct ArrowArray *array, size_t width, frz_error *err)
{
    const struct ArrowArray *ends = array->children[0];
    int64_t last = 0;
    for (int64_t i = 0; i < ends->length; i++) {
        int64_t end = load(ends->buffers[1], width, i);
        if (end <= last) {
            return frz_fail(err, FRZ_E_CORRUPT, "run %lld ends at %lld, the one before at %lld",
                            (long long)i, (long long)end, (long long)last);
        }
        last = end;
    }
    if (ends->null_count != 0 || last < array->length ||
        array->children[1]->length < ends->length) {
        return frz_fail(err, FRZ_E_CORRUPT, "%lld runs with %lld values end at %lld of %lld rows",
                        (long long)ends->length, (long long)array->children[1]->length,
                        (long long)last, (long long)array->length);
    }
    return FRZ_OK;
}

/* ---- indices ---- */

static uint64_t load_index(const void *items, const ipc_type *type, int64_t i)
{
    bool is_signed = type->b != 0;
    switch (type->width) {
    case 1:
        return is_signed ? (uint64_t)((const int8_t *)items)[i] : ((const uint8_t *)items)[i];
    case 2:
        return is_signed ? (uint64_t)((const int16_t *)items)[i] : ((const uint16_t *)items)[i];
    case 4:
        return is_signed ? (uint64_t)((const int32_t *)items)[i] : ((const uint32_t *)items)[i];
    default:
        return ((const uint64_t *)items)[i];
    }
}

frz_code ipc_check_indices(const ipc_type *type, const struct ArrowArray *array, int64_t limit,
                           frz_error *err)
{
    for (int64_t i = 0; i < array->length; i++) {
        /* negative ones are large as unsigned ones */
        if (!frz_is_null(array, i) && load_index(array->buffers[1], type, i) >= (uint64_t)limit) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "the index of row %lld is outside a dictionary of "
                            "%lld values",
                            (long long)i, (long long)limit);
        }
    }
    return FRZ_OK;
}
