/*
 * Scratch files: what does not fit into memory for the length of one call. They have no name, so
 * that nothing is left behind however the process ends, and lie on the local disk, wherever the
 * environment's storage keeps the tables.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/io_file.h"

struct frz_scratch {
    const frz_env *env;
    int fd;
    uint64_t size;
};

/* A file with a name for a moment, where the file system makes none without. */
static int open_named(const char *folder)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/frazil-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        (void)unlink(path);
    }
    return fd;
}

frz_code frz_scratch_open(const frz_env *env, frz_scratch **out, frz_error *err)
{
    const char *folder = frz_variable(env, "TMPDIR");
    folder = folder == NULL || folder[0] == '\0' ? "/tmp" : folder;
    frz_scratch *scratch = frz_alloc_zero(env, 1, sizeof *scratch);
    if (scratch == NULL) {
        return frz_fail_nomem(err, sizeof *scratch);
    }
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    fd = fd >= 0 ? fd : open_named(folder);
    if (fd < 0) {
        frz_free(env, scratch);
        return frz_fail_os(err, errno, "cannot make a scratch file in %s", folder);
    }
    *scratch = (frz_scratch){.env = env, .fd = fd};
    *out = scratch;
    return FRZ_OK;
}

void frz_scratch_close(frz_scratch *scratch)
{
    if (scratch != NULL) {
        close(scratch->fd);
        frz_free(scratch->env, scratch);
    }
}

uint64_t frz_scratch_size(const frz_scratch *scratch)
{
    return scratch->size;
}

frz_code frz_scratch_append(frz_scratch *scratch, const void *bytes, size_t len, frz_error *err)
{
    const uint8_t *p = bytes;
    while (len > 0) {
        ssize_t put = pwrite(scratch->fd, p, len, (off_t)scratch->size);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return frz_fail_os(err, errno, "cannot write %zu bytes to a scratch file", len);
        }
        p += put;
        scratch->size += (uint64_t)put;
        len -= (size_t)put;
    }
    return FRZ_OK;
}

frz_code frz_scratch_read(const frz_scratch *scratch, uint64_t offset, void *buf, size_t len,
                          frz_error *err)
{
    uint8_t *p = buf;
    assert(offset <= scratch->size && len <= scratch->size - offset);
    while (len > 0) {
        ssize_t got = pread(scratch->fd, p, len, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return frz_fail_os(err, got < 0 ? errno : EIO,
                               "cannot read %zu bytes of a scratch file", len);
        }
        p += got;
        offset += (uint64_t)got;
        len -= (size_t)got;
    }
    return FRZ_OK;
}
