/*
 * Merging two arrays row by row: the rows of a selection from one, the others from the other.
 */
#include "type/type_schema.h"

/* Validity of the merged rows; NULL if neither side has nulls. */
static frz_code merge_validity(const frz_env *env, const struct ArrowArray *chosen,
                               const struct ArrowArray *others, const uint8_t *selection,
                               frz_buffer **out, frz_error *err)
{
    int64_t rows = chosen->length;
    if (frz_null_count(chosen) == 0 && frz_null_count(others) == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(rows), out, err);
    for (int64_t i = 0; rc == FRZ_OK && i < rows; i++) {
        const struct ArrowArray *side = frz_bit_get(selection, i) ? chosen : others;
        frz_bit_put((*out)->data, i, !frz_is_null(side, i));
    }
    return rc;
}

/* Branch-free for the widths that matter: a selected row is rarely predictable. */
#define MERGE_VALUES(kind)                                                                         \
    do {                                                                                           \
        const kind *from[2] = {(const kind *)others->buffers[1] + others->offset,                  \
                               (const kind *)chosen->buffers[1] + chosen->offset};                 \
        kind *to = (kind *)(void *)values->data;                                                   \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            to[i] = from[frz_bit_get(selection, i)][i];                                            \
        }                                                                                          \
    } while (0)

static void merge_fixed(size_t width, const struct ArrowArray *chosen,
                        const struct ArrowArray *others, const uint8_t *selection,
                        frz_buffer *values)
{
    int64_t rows = chosen->length;
    if (width == 8) {
        MERGE_VALUES(int64_t);
        return;
    }
    if (width == 4) {
        MERGE_VALUES(int32_t);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const struct ArrowArray *side = frz_bit_get(selection, i) ? chosen : others;
        memcpy(values->data + (size_t)i * width,
               (const uint8_t *)side->buffers[1] + (size_t)(side->offset + i) * width, width);
    }
}

static frz_code merge_primitive(const frz_env *env, const frz_type *type,
                                const struct ArrowArray *chosen, const struct ArrowArray *others,
                                const uint8_t *selection, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = frz_type_width(type);
    frz_buffer *buffers[2] = {NULL, NULL};
    size_t bytes = width == 0 ? frz_bitmap_bytes(chosen->length) : (size_t)chosen->length * width;
    FRZ_TRY(merge_validity(env, chosen, others, selection, &buffers[0], err));
    FRZ_TRY(frz_buffer_new(env, bytes, &buffers[1], err));
    if (width != 0) {
        merge_fixed(width, chosen, others, selection, buffers[1]);
    } else {
        for (int64_t i = 0; i < chosen->length; i++) {
            const struct ArrowArray *side = frz_bit_get(selection, i) ? chosen : others;
            frz_bit_put(buffers[1]->data, i, frz_get_bool(side, i));
        }
    }
    rc = frz_array_make(env, chosen->length, -1, buffers, 2, NULL, 0, out, err);
    buffers[0] = buffers[1] = NULL; /* moved, also on failure */
out:
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

/* Anything else: runs of rows from either side, one after the other. */
static frz_code merge_runs(const frz_env *env, const frz_type *type,
                           const struct ArrowArray *chosen, const struct ArrowArray *others,
                           const uint8_t *selection, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *runs = NULL;
    size_t count = 0, capacity = 0;
    for (int64_t i = 0, end; i < chosen->length; i = end) {
        bool side = frz_bit_get(selection, i);
        for (end = i + 1; end < chosen->length && frz_bit_get(selection, end) == side; end++) {
        }
        FRZ_TRY(FRZ_GROW(env, &runs, &capacity, count, err));
        FRZ_TRY(frz_array_slice(env, side ? chosen : others, i, end - i, &runs[count], err));
        count++;
    }
    FRZ_TRY(frz_array_concat(env, type, runs, count, out, err));
out:
    for (size_t i = 0; i < count; i++) {
        frz_array_release(&runs[i]);
    }
    frz_free(env, runs);
    return rc;
}

frz_code frz_array_merge(const frz_env *env, const frz_type *type, const struct ArrowArray *chosen,
                         const struct ArrowArray *others, const uint8_t *selection,
                         struct ArrowArray *out, frz_error *err)
{
    assert(chosen->length == others->length);
    type = frz_type_storage(type);
    if (type->id == FRZ_TYPE_BOOLEAN || frz_type_width(type) > 0) {
        return merge_primitive(env, type, chosen, others, selection, out, err);
    }
    return merge_runs(env, type, chosen, others, selection, out, err);
}
