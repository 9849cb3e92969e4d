/*
 * Reference-counted, 64-byte aligned buffers. The struct and its bytes are one allocation, but for
 * slices, which keep the buffer alive whose bytes they show.
 */
#include "arrow/arrow_array.h"

#define ALIGNMENT 64

frz_code frz_buffer_new(const frz_env *env, size_t size, frz_buffer **out, frz_error *err)
{
    size_t total;
    if (!frz_add_size(size, sizeof(frz_buffer) + ALIGNMENT + FRZ_BUFFER_SLACK, &total)) {
        return frz_fail(err, FRZ_E_LIMIT, "a buffer of %zu bytes is too large", size);
    }
    frz_buffer *buffer = frz_alloc(env, total);
    if (buffer == NULL) {
        return frz_fail_nomem(err, total);
    }
    uintptr_t first = (uintptr_t)(buffer + 1);
    uintptr_t aligned = (first + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    atomic_init(&buffer->refs, 1);
    buffer->env = env;
    buffer->parent = NULL;
    buffer->size = size;
    buffer->capacity = total - sizeof *buffer - (size_t)(aligned - first);
    buffer->data = (uint8_t *)aligned;
    *out = buffer;
    return FRZ_OK;
}

frz_code frz_buffer_slice(frz_buffer *parent, size_t offset, size_t size, frz_buffer **out,
                          frz_error *err)
{
    assert(offset <= parent->size && size <= parent->size - offset);
    frz_buffer *slice = frz_alloc(parent->env, sizeof *slice);
    if (slice == NULL) {
        return frz_fail_nomem(err, sizeof *slice);
    }
    atomic_init(&slice->refs, 1);
    slice->env = parent->env;
    slice->parent = frz_buffer_ref(parent);
    slice->size = size;
    slice->capacity = size + FRZ_BUFFER_SLACK;
    slice->data = parent->data + offset;
    *out = slice;
    return FRZ_OK;
}

frz_buffer *frz_buffer_ref(frz_buffer *buffer)
{
    if (buffer != NULL) {
        atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    }
    return buffer;
}

void frz_buffer_unref(frz_buffer *buffer)
{
    if (buffer != NULL && atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) == 1) {
        frz_buffer_unref(buffer->parent);
        frz_free(buffer->env, buffer);
    }
}

frz_code frz_buffer_resize(frz_buffer **buffer, size_t size, frz_error *err)
{
    frz_buffer *old = *buffer;
    frz_buffer *grown;
    assert(atomic_load(&old->refs) == 1 && old->parent == NULL);
    if (size <= old->capacity - FRZ_BUFFER_SLACK) {
        old->size = size;
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(old->env, size, &grown, err);
    if (rc == FRZ_OK) {
        memcpy(grown->data, old->data, old->size);
        frz_buffer_unref(old);
        *buffer = grown;
    }
    return rc;
}
