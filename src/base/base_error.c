/*
 * Filling in and printing the error object. Nothing here allocates, so that running out of memory
 * can be reported.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

void frz_error_reset(frz_error *err)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
    }
}

static frz_code fail_va(frz_error *err, frz_code code, const char *fmt, va_list args)
{
    if (err != NULL) {
        frz_error_reset(err);
        err->code = code;
        vsnprintf(err->message, sizeof err->message, fmt, args);
    }
    return code;
}

frz_code frz_fail(frz_error *err, frz_code code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_va(err, code, fmt, args);
    va_end(args);
    return code;
}

frz_code frz_fail_at(frz_error *err, frz_code code, uint64_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fail_va(err, code, fmt, args);
    va_end(args);
    if (err != NULL) {
        err->offset = (int64_t)offset;
        err->has_offset = 1;
    }
    return code;
}

static frz_code code_of_errno(int os_error)
{
    switch (os_error) {
    case ENOENT:
    case ENOTDIR:
        return FRZ_E_NOT_FOUND;
    case EEXIST:
        return FRZ_E_EXISTS;
    case ENOMEM:
        return FRZ_E_NOMEM;
    default:
        return FRZ_E_IO;
    }
}

frz_code frz_fail_os(frz_error *err, int os_error, const char *fmt, ...)
{
    frz_code code = code_of_errno(os_error);
    va_list args;
    va_start(args, fmt);
    fail_va(err, code, fmt, args);
    va_end(args);
    if (err != NULL) {
        size_t len = strlen(err->message);
        const char *text = strerrordesc_np(os_error); /* static text, safe in threads */
        snprintf(err->message + len, sizeof err->message - len, ": %s",
                 text == NULL ? "unknown system error" : text);
        err->os_error = os_error;
    }
    return code;
}

frz_code frz_fail_nomem(frz_error *err, size_t size)
{
    return frz_fail(err, FRZ_E_NOMEM, "out of memory for %zu bytes", size);
}

frz_code frz_context(frz_error *err, frz_code code, const char *fmt, ...)
{
    if (err == NULL || code == FRZ_OK || code == FRZ_END || err->frame_count == FRZ_ERROR_FRAMES) {
        return code;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->frames[err->frame_count], sizeof err->frames[0], fmt, args);
    va_end(args);
    err->frame_count++;
    return code;
}

void frz_hint(frz_error *err, const char *fmt, ...)
{
    if (err == NULL) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, args);
    va_end(args);
}

size_t frz_error_format(const frz_error *err, char *buf, size_t size)
{
    size_t len = 0;
    if (size > 0) {
        buf[0] = '\0';
    }
    if (err == NULL) {
        return 0;
    }
    for (unsigned i = err->frame_count; i-- > 0;) {
        int n = snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0,
                         "%s: ", err->frames[i]);
        len += n < 0 ? 0 : (size_t)n;
    }
    int n =
        snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0, "%s", err->message);
    return len + (n < 0 ? 0 : (size_t)n);
}

const char *frz_code_name(frz_code code)
{
    switch (code) {
    case FRZ_OK:
        return "ok";
    case FRZ_END:
        return "end";
    case FRZ_E_ARGUMENT:
        return "argument";
    case FRZ_E_NOMEM:
        return "out of memory";
    case FRZ_E_LIMIT:
        return "limit";
    case FRZ_E_IO:
        return "io";
    case FRZ_E_NOT_FOUND:
        return "not found";
    case FRZ_E_EXISTS:
        return "exists";
    case FRZ_E_CORRUPT:
        return "corrupt";
    case FRZ_E_UNSUPPORTED:
        return "unsupported";
    case FRZ_E_AUTH:
        return "access denied";
    case FRZ_E_CONFLICT:
        return "conflict";
    case FRZ_E_COMMIT_UNKNOWN:
        return "commit unknown";
    case FRZ_E_CANCELLED:
        return "cancelled";
    case FRZ_E_INTERNAL:
        return "internal";
    }
    return "unknown";
}

int frz_code_errno(frz_code code)
{
    switch (code) {
    case FRZ_OK:
    case FRZ_END:
        return 0;
    case FRZ_E_ARGUMENT:
        return EINVAL;
    case FRZ_E_NOMEM:
        return ENOMEM;
    case FRZ_E_LIMIT:
        return EOVERFLOW;
    case FRZ_E_NOT_FOUND:
        return ENOENT;
    case FRZ_E_EXISTS:
        return EEXIST;
    case FRZ_E_UNSUPPORTED:
        return ENOTSUP;
    case FRZ_E_AUTH:
        return EACCES;
    case FRZ_E_CONFLICT:
        return EAGAIN;
    case FRZ_E_CORRUPT:
        return EBADMSG;
    case FRZ_E_CANCELLED:
        return ECANCELED;
    default:
        return EIO;
    }
}
