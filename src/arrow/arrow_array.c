/*
 * Arrays over shared buffers. The private data of an array is one allocation that holds the buffer
 * references and the pointer arrays that the C Data Interface wants.
 */
#include "arrow/arrow_array.h"

#define MAX_BUFFERS 3

typedef struct array_owner {
    const frz_env *env;
    frz_buffer *buffers[MAX_BUFFERS];
    const void *pointers[MAX_BUFFERS];
    struct ArrowArray **child_pointers;
    struct ArrowArray *children; /* behind this struct in the same allocation */
} array_owner;

static void own_release(struct ArrowArray *array)
{
    array_owner *owner = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        frz_array_release(array->children[i]);
    }
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        frz_buffer_unref(owner->buffers[i]);
    }
    frz_free(owner->env, owner);
    array->release = NULL;
}

void frz_array_release(struct ArrowArray *array)
{
    if (array != NULL && array->release != NULL) {
        array->release(array);
    }
}

void frz_schema_release(struct ArrowSchema *schema)
{
    if (schema != NULL && schema->release != NULL) {
        schema->release(schema);
    }
}

bool frz_array_is_own(const struct ArrowArray *array)
{
    return array->release == own_release;
}

frz_code frz_array_make(const frz_env *env, int64_t length, int64_t null_count,
                        frz_buffer *const *buffers, size_t n_buffers, struct ArrowArray *children,
                        size_t n_children, struct ArrowArray *out, frz_error *err)
{
    assert(n_buffers <= MAX_BUFFERS);
    array_owner *owner = NULL;
    size_t bytes;
    if (frz_mul_size(n_children, sizeof *children + sizeof(void *), &bytes) &&
        frz_add_size(bytes, sizeof *owner, &bytes)) {
        owner = frz_alloc_zero(env, 1, bytes);
    }
    if (owner == NULL) {
        for (size_t i = 0; i < n_buffers; i++) {
            frz_buffer_unref(buffers[i]);
        }
        for (size_t i = 0; i < n_children; i++) {
            frz_array_release(&children[i]);
        }
        return frz_fail_nomem(err, sizeof *owner);
    }
    owner->env = env;
    owner->children = (struct ArrowArray *)(owner + 1);
    owner->child_pointers = (struct ArrowArray **)(owner->children + n_children);
    for (size_t i = 0; i < n_buffers; i++) {
        owner->buffers[i] = buffers[i];
        owner->pointers[i] = buffers[i] == NULL ? NULL : buffers[i]->data;
    }
    for (size_t i = 0; i < n_children; i++) {
        frz_array_move(&children[i], &owner->children[i]);
        owner->child_pointers[i] = &owner->children[i];
    }
    *out = (struct ArrowArray){
        .length = length,
        .null_count = n_buffers == 0       ? length
                      : buffers[0] == NULL ? 0
                                           : null_count,
        .n_buffers = (int64_t)n_buffers,
        .n_children = (int64_t)n_children,
        .buffers = owner->pointers,
        .children = n_children == 0 ? NULL : owner->child_pointers,
        .release = own_release,
        .private_data = owner,
    };
    return FRZ_OK;
}

frz_code frz_batch_make(const frz_env *env, int64_t length, struct ArrowArray *columns,
                        size_t n_columns, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *none = NULL;
    return frz_array_make(env, length, 0, &none, 1, columns, n_columns, out, err);
}

/* A second owner of everything behind src. */
static frz_code array_share(const frz_env *env, const struct ArrowArray *src,
                            struct ArrowArray *out, frz_error *err)
{
    assert(frz_array_is_own(src));
    const array_owner *owner = src->private_data;
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[MAX_BUFFERS] = {NULL};
    size_t n_children = (size_t)src->n_children;
    size_t shared = 0;
    struct ArrowArray *children = NULL;
    if (n_children > 0) {
        children = frz_alloc_zero(env, n_children, sizeof *children);
        if (children == NULL) {
            return frz_fail_nomem(err, n_children * sizeof *children);
        }
        for (; shared < n_children; shared++) {
            FRZ_TRY(array_share(env, src->children[shared], &children[shared], err));
        }
    }
    for (int64_t i = 0; i < src->n_buffers; i++) {
        buffers[i] = frz_buffer_ref(owner->buffers[i]);
    }
    rc = frz_array_make(env, src->length, src->null_count, buffers, (size_t)src->n_buffers,
                        children, n_children, out, err);
    shared = 0; /* moved or released */
    if (rc == FRZ_OK) {
        out->offset = src->offset;
        out->null_count = src->null_count;
    }
out:
    for (size_t i = 0; i < shared; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(env, children);
    return rc;
}

frz_code frz_array_slice(const frz_env *env, const struct ArrowArray *src, int64_t first,
                         int64_t length, struct ArrowArray *out, frz_error *err)
{
    assert(first >= 0 && length >= 0 && first + length <= src->length);
    frz_code rc = array_share(env, src, out, err);
    if (rc == FRZ_OK) {
        out->offset += first;
        if (length != src->length && out->null_count != 0) {
            out->null_count = -1;
        }
        out->length = length;
    }
    return rc;
}

/* A bitmap whose bit at offset + i is bit i of another; the other is taken, also on failure. */
static frz_code shift_bits(const frz_env *env, frz_buffer *bits, int64_t offset, int64_t length,
                           frz_buffer **out, frz_error *err)
{
    if (bits == NULL || offset == 0) {
        *out = bits;
        return FRZ_OK;
    }
    frz_buffer *shifted = NULL;
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(offset + length), &shifted, err);
    if (rc == FRZ_OK) {
        memset(shifted->data, 0, shifted->size);
        frz_bitmap_copy(bits->data, 0, length, shifted->data, offset);
        *out = shifted;
    }
    frz_buffer_unref(bits);
    return rc;
}

frz_code frz_array_with_validity(const frz_env *env, const struct ArrowArray *src,
                                 frz_buffer *validity, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray made = {0};
    frz_buffer *shifted = NULL;
    assert(src->n_buffers > 0);
    FRZ_TRY(shift_bits(env, validity, src->offset, src->length, &shifted, err));
    FRZ_TRY(array_share(env, src, &made, err));
    array_owner *owner = made.private_data;
    frz_buffer_unref(owner->buffers[0]);
    owner->buffers[0] = shifted;
    owner->pointers[0] = shifted == NULL ? NULL : shifted->data;
    made.null_count = shifted == NULL ? 0 : -1;
    shifted = NULL;
    frz_array_move(&made, out);
out:
    frz_buffer_unref(shifted);
    return rc;
}

frz_code frz_batch_slice(const frz_env *env, const struct ArrowArray *src, int64_t first,
                         int64_t length, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = (size_t)src->n_children;
    size_t done = 0;
    assert(src->offset == 0);
    struct ArrowArray *columns = frz_alloc_zero(env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; done < n; done++) {
        FRZ_TRY(frz_array_slice(env, src->children[done], first, length, &columns[done], err));
    }
    done = 0;
    FRZ_TRY(frz_batch_make(env, length, columns, n, out, err));
out:
    for (size_t i = 0; i < done; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

int64_t frz_null_count(const struct ArrowArray *a)
{
    if (a->null_count >= 0) {
        return a->null_count;
    }
    if (a->n_buffers == 0) {
        return a->length;
    }
    if (a->buffers[0] == NULL) {
        return 0;
    }
    return a->length - frz_bitmap_count(a->buffers[0], a->offset, a->length);
}
