/*
 * Arrays over shared buffers. The private data of an array is one allocation that holds the buffer
 * references and the pointer arrays that the C Data Interface wants.
 */
#include "arrow/arrow_array.h"

typedef struct array_owner {
    const frz_env *env;
    /* behind this struct in the same allocation */
    struct ArrowArray *children;
    struct ArrowArray **child_pointers;
    frz_buffer **buffers;
    const void **pointers;
    struct ArrowArray dictionary; /* released: none */
} array_owner;

static void own_release(struct ArrowArray *array)
{
    array_owner *owner = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        frz_array_release(array->children[i]);
    }
    frz_array_release(&owner->dictionary);
    for (int64_t i = 0; i < array->n_buffers; i++) {
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

/* An owner with room for so many buffers and children; NULL if there is no memory. */
static array_owner *owner_new(const frz_env *env, size_t n_buffers, size_t n_children)
{
    size_t children;
    size_t buffers;
    size_t bytes;
    if (!frz_mul_size(n_children, sizeof(struct ArrowArray) + sizeof(void *), &children) ||
        !frz_mul_size(n_buffers, 2 * sizeof(void *), &buffers) ||
        !frz_add_size(children, buffers, &bytes) ||
        !frz_add_size(bytes, sizeof(array_owner), &bytes)) {
        return NULL;
    }
    array_owner *owner = frz_alloc_zero(env, 1, bytes);
    if (owner != NULL) {
        owner->env = env;
        owner->children = (struct ArrowArray *)(owner + 1);
        owner->child_pointers = (struct ArrowArray **)(owner->children + n_children);
        owner->buffers = (frz_buffer **)(owner->child_pointers + n_children);
        owner->pointers = (const void **)(owner->buffers + n_buffers);
    }
    return owner;
}

frz_code frz_array_make(const frz_env *env, int64_t length, int64_t null_count,
                        frz_buffer *const *buffers, size_t n_buffers, struct ArrowArray *children,
                        size_t n_children, struct ArrowArray *out, frz_error *err)
{
    array_owner *owner = owner_new(env, n_buffers, n_children);
    if (owner == NULL) {
        for (size_t i = 0; i < n_buffers; i++) {
            frz_buffer_unref(buffers[i]);
        }
        for (size_t i = 0; i < n_children; i++) {
            frz_array_release(&children[i]);
        }
        return frz_fail_nomem(err, sizeof *owner);
    }
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

void frz_array_set_dictionary(struct ArrowArray *array, struct ArrowArray *dictionary)
{
    array_owner *owner = array->private_data;
    assert(frz_array_is_own(array) && array->dictionary == NULL);
    frz_array_move(dictionary, &owner->dictionary);
    array->dictionary = &owner->dictionary;
}

frz_code frz_batch_make(const frz_env *env, int64_t length, struct ArrowArray *columns,
                        size_t n_columns, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *none = NULL;
    return frz_array_make(env, length, 0, &none, 1, columns, n_columns, out, err);
}

frz_buffer *frz_array_take_buffer(struct ArrowArray *array, int64_t i)
{
    if (!frz_array_is_own(array)) {
        return NULL;
    }
    array_owner *owner = array->private_data;
    frz_buffer *buffer = owner->buffers[i];
    if (buffer == NULL || buffer->parent != NULL ||
        atomic_load_explicit(&buffer->refs, memory_order_acquire) != 1) {
        return NULL;
    }
    owner->buffers[i] = NULL;
    return buffer;
}

/* A second owner of everything behind src. */
static frz_code array_share(const frz_env *env, const struct ArrowArray *src,
                            struct ArrowArray *out, frz_error *err)
{
    assert(frz_array_is_own(src));
    const array_owner *from = src->private_data;
    frz_code rc = FRZ_OK;
    array_owner *owner = owner_new(env, (size_t)src->n_buffers, (size_t)src->n_children);
    if (owner == NULL) {
        return frz_fail_nomem(err, sizeof *owner);
    }
    struct ArrowArray made = *src;
    made.buffers = owner->pointers;
    made.children = src->n_children == 0 ? NULL : owner->child_pointers;
    made.dictionary = src->dictionary == NULL ? NULL : &owner->dictionary;
    made.private_data = owner;
    for (int64_t i = 0; i < src->n_buffers; i++) {
        owner->buffers[i] = frz_buffer_ref(from->buffers[i]);
        owner->pointers[i] = src->buffers[i];
    }
    for (int64_t i = 0; i < src->n_children; i++) {
        owner->child_pointers[i] = &owner->children[i];
    }
    for (int64_t i = 0; i < src->n_children; i++) {
        FRZ_TRY(array_share(env, src->children[i], &owner->children[i], err));
    }
    if (src->dictionary != NULL) {
        FRZ_TRY(array_share(env, src->dictionary, &owner->dictionary, err));
    }
    *out = made;
    made.release = NULL;
out:
    frz_array_release(&made);
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
