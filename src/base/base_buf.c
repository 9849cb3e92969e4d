/*
 * Growable byte buffers with a ceiling.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

void frz_buf_init(frz_buf *buf, const frz_env *env, size_t max)
{
    *buf = (frz_buf)FRZ_BUF_INIT(env, max);
}

void frz_buf_reset(frz_buf *buf)
{
    if (buf->data != NULL) {
        frz_free(buf->env, buf->data);
    }
    buf->data = NULL;
    buf->len = 0;
    buf->capacity = 0;
}

void frz_buf_clear(frz_buf *buf)
{
    buf->len = 0;
}

frz_code frz_buf_reserve(frz_buf *buf, size_t more, frz_error *err)
{
    if (more <= buf->capacity - buf->len) {
        return FRZ_OK;
    }
    size_t wanted;
    if (!frz_add_size(buf->len, more, &wanted) || wanted > buf->max) {
        return frz_fail(err, FRZ_E_LIMIT, "a buffer of %zu bytes cannot take %zu more: at most %zu",
                        buf->len, more, buf->max);
    }
    /* many buffers stay small */
    size_t least = buf->capacity == 0 ? 64 : 256;
    size_t capacity = FRZ_MAX(buf->capacity + buf->capacity / 2, least);
    capacity = FRZ_MIN(FRZ_MAX(capacity, wanted), buf->max);
    uint8_t *data = frz_realloc(buf->env, buf->data, capacity);
    if (data == NULL) {
        return frz_fail_nomem(err, capacity);
    }
    buf->data = data;
    buf->capacity = capacity;
    return FRZ_OK;
}

frz_code frz_buf_append(frz_buf *buf, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = frz_buf_reserve(buf, len, err);
    if (rc == FRZ_OK && len > 0) {
        memcpy(buf->data + buf->len, bytes, len);
        buf->len += len;
    }
    return rc;
}

frz_code frz_buf_append_str(frz_buf *buf, const char *z, frz_error *err)
{
    return frz_buf_append(buf, z, strlen(z), err);
}

frz_code frz_buf_append_byte(frz_buf *buf, uint8_t byte, frz_error *err)
{
    return frz_buf_append(buf, &byte, 1, err);
}

frz_code frz_buf_printf(frz_buf *buf, frz_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    frz_code rc = len < 0 ? frz_fail(err, FRZ_E_INTERNAL, "text cannot be formatted")
                          : frz_buf_reserve(buf, (size_t)len + 1, err);
    if (rc == FRZ_OK) {
        vsnprintf((char *)buf->data + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    return rc;
}
