/*
 * A file's bytes in large pieces: a window that moves forward.
 */
#include "format/avro/avro_internal.h"

void avro_window_init(avro_window *w, const frz_env *env, const frz_file *file)
{
    *w = (avro_window){.env = env, .file = file};
}

void avro_window_reset(avro_window *w)
{
    frz_free(w->env, w->data);
    w->data = NULL;
    w->len = w->capacity = 0;
}

static frz_code need(avro_window *w, size_t size, frz_error *err)
{
    if (size <= w->capacity) {
        return FRZ_OK;
    }
    uint8_t *data = frz_realloc(w->env, w->data, size);
    if (data == NULL) {
        return frz_fail_nomem(err, size);
    }
    w->data = data;
    w->capacity = size;
    return FRZ_OK;
}

frz_code avro_window_get(avro_window *w, uint64_t offset, size_t len, size_t ahead,
                         const uint8_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t left = frz_file_size(w->file) - offset;
    size_t kept = 0;
    assert(len <= left);
    if (len == 0 && w->len == 0) { /* nothing asked for, and perhaps no memory yet to point into */
        *out = (const uint8_t *)"";
        return FRZ_OK;
    }
    if (w->len > 0 && offset >= w->offset && offset - w->offset <= w->len) {
        size_t skipped = (size_t)(offset - w->offset);
        kept = w->len - skipped;
        if (len <= kept) {
            *out = w->data + skipped;
            return FRZ_OK;
        }
        memmove(w->data, w->data + skipped, kept);
    }
    w->len = kept;
    w->offset = offset;
    size_t size = (size_t)FRZ_MIN(FRZ_MAX((uint64_t)len, (uint64_t)ahead), left);
    FRZ_TRY(need(w, size, err));
    FRZ_TRY(frz_file_read(w->file, offset + kept, w->data + kept, size - kept, err));
    w->len = size;
    *out = w->data;
out:
    return rc;
}
