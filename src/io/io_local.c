/*
 * The local file system as a storage. Files are read by pread; data is never mapped, since mapped
 * pages count as memory and turn I/O errors into signals.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/io_file.h"

#define COPY_CHUNK (1u << 20)
#define REST_SECONDS 4

/* A file descriptor needs no memory of its own: the handle is the number, one up so that
 * descriptor 0 is not NULL. */
static void *handle_of(int fd)
{
    return (void *)((intptr_t)fd + 1);
}

static int fd_of(void *handle)
{
    return (int)((intptr_t)handle - 1);
}

static frz_code local_path(const char *location, char path[PATH_MAX], frz_error *err)
{
    frz_str view;
    if (!frz_location_local_path(frz_str_from(location), &view)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: no storage for location %s",
                        location);
    }
    if (view.len >= PATH_MAX) {
        return frz_fail(err, FRZ_E_ARGUMENT, "path of %zu bytes is too long", view.len);
    }
    memcpy(path, view.ptr, view.len);
    path[view.len] = '\0';
    return FRZ_OK;
}

static frz_code local_open(void *ctx, const char *location, void **file, uint64_t *size,
                           frz_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    int fd = -1;
    (void)ctx;
    frz_code rc = FRZ_OK;
    FRZ_TRY(local_path(location, path, err));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        rc = frz_fail_os(err, errno, "cannot open %s", path);
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        rc = frz_fail(err, FRZ_E_IO, "%s is not a regular file", path);
        goto out;
    }
    *size = (uint64_t)st.st_size;
    *file = handle_of(fd);
    fd = -1;
out:
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/*
 * Device, inode and times: a file that is replaced has another inode, one that is changed in place
 * another change time. But a time has a granularity, that of the clock tick or on some file systems
 * two seconds, so a file that was changed just now could be changed again without a sign of it:
 * only files that have rested for longer have an identity.
 */
static size_t local_identity(void *ctx, void *file, void *id, size_t capacity)
{
    struct stat st;
    struct timespec now;
    (void)ctx;
    if (fstat(fd_of(file), &st) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        st.st_ctim.tv_sec > now.tv_sec - REST_SECONDS) {
        return 0;
    }
    const uint64_t parts[] = {(uint64_t)st.st_dev,          (uint64_t)st.st_ino,
                              (uint64_t)st.st_size,         (uint64_t)st.st_mtim.tv_sec,
                              (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec,
                              (uint64_t)st.st_ctim.tv_nsec};
    if (capacity < sizeof parts) {
        return 0;
    }
    memcpy(id, parts, sizeof parts);
    return sizeof parts;
}

/* Make one folder and those above it. That their names are durable is the business of whoever
 * commits what lies in them (sync_dir). */
static int make_dirs(char *path)
{
    if (path[0] == '\0' || mkdir(path, 0777) == 0 || errno == EEXIST) {
        return 0;
    }
    char *slash = strrchr(path, '/');
    if (errno != ENOENT || slash == NULL || slash == path) {
        return errno;
    }
    *slash = '\0';
    int failed = make_dirs(path);
    *slash = '/';
    if (failed == 0 && mkdir(path, 0777) != 0 && errno != EEXIST) {
        failed = errno;
    }
    return failed;
}

static frz_code local_create(void *ctx, const char *location, void **file, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0666);
    char *slash = strrchr(path, '/');
    if (fd < 0 && errno == ENOENT && slash != NULL && slash != path) {
        *slash = '\0';
        int failed = make_dirs(path);
        if (failed != 0) {
            return frz_fail_os(err, failed, "cannot create folder %s", path);
        }
        *slash = '/';
        fd = open(path, flags, 0666);
    }
    if (fd < 0) {
        return frz_fail_os(err, errno, "cannot create %s", path);
    }
    *file = handle_of(fd);
    return FRZ_OK;
}

static frz_code local_read_at(void *ctx, void *file, uint64_t offset, void *buf, size_t len,
                              frz_error *err)
{
    uint8_t *p = buf;
    (void)ctx;
    while (len > 0) {
        ssize_t got = pread(fd_of(file), p, len, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return frz_fail_os(err, errno, "cannot read %zu bytes at offset %llu", len,
                               (unsigned long long)offset);
        }
        if (got == 0) {
            return frz_fail_at(err, FRZ_E_IO, offset, "file ends at offset %llu, %zu bytes early",
                               (unsigned long long)offset, len);
        }
        p += got;
        offset += (uint64_t)got;
        len -= (size_t)got;
    }
    return FRZ_OK;
}

static frz_code local_append(void *ctx, void *file, const void *buf, size_t len, frz_error *err)
{
    const uint8_t *p = buf;
    (void)ctx;
    while (len > 0) {
        ssize_t put = write(fd_of(file), p, len);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return frz_fail_os(err, errno, "cannot write %zu bytes", len);
        }
        p += put;
        len -= (size_t)put;
    }
    return FRZ_OK;
}

/* Not all file systems let the kernel copy; nothing was copied then. */
static bool cannot_copy(int os_error)
{
    return os_error == EXDEV || os_error == EINVAL || os_error == ENOSYS || os_error == EOPNOTSUPP;
}

static frz_code local_append_from(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                                  frz_error *err)
{
    int to = fd_of(file);
    int from = fd_of(src);
    bool copied = false;
    struct stat st;
    (void)ctx;
    /* a whole file into an empty one: share its blocks if the file system can */
    if (offset == 0 && fstat(from, &st) == 0 && (uint64_t)st.st_size == len &&
        lseek(to, 0, SEEK_CUR) == 0 && ioctl(to, FICLONE, from) == 0) {
        return lseek(to, 0, SEEK_END) < 0 ? frz_fail_os(err, errno, "cannot seek") : FRZ_OK;
    }
    while (len > 0) {
        off64_t at = (off64_t)offset;
        ssize_t put = copy_file_range(from, &at, to, NULL,
                                      (size_t)FRZ_MIN((uint64_t)COPY_CHUNK * 64, len), 0);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0 && !copied && cannot_copy(errno)) {
            return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: copying by the kernel");
        }
        if (put < 0) {
            return frz_fail_os(err, errno, "cannot copy %llu bytes", (unsigned long long)len);
        }
        if (put == 0) {
            return frz_fail_at(err, FRZ_E_IO, offset, "file ends at offset %llu, %llu bytes early",
                               (unsigned long long)offset, (unsigned long long)len);
        }
        copied = true;
        offset += (uint64_t)put;
        len -= (uint64_t)put;
    }
    return FRZ_OK;
}

static frz_code local_sync(void *ctx, void *file, frz_error *err)
{
    (void)ctx;
    return fsync(fd_of(file)) == 0 ? FRZ_OK : frz_fail_os(err, errno, "cannot sync");
}

/* The disk writes while the rest of the file is made. Failures show when the file is synced. */
static void local_sync_soon(void *ctx, void *file, uint64_t offset, uint64_t len)
{
    (void)ctx;
    (void)sync_file_range(fd_of(file), (off64_t)offset, (off64_t)len, SYNC_FILE_RANGE_WRITE);
}

static frz_code local_close(void *ctx, void *file, frz_error *err)
{
    (void)ctx;
    return close(fd_of(file)) == 0 ? FRZ_OK : frz_fail_os(err, errno, "cannot close");
}

static frz_code sync_folder(const char *folder, int (*sync)(int), frz_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return frz_fail_os(err, errno, "cannot open folder %s", folder);
    }
    frz_code rc = sync(fd) == 0 ? FRZ_OK : frz_fail_os(err, errno, "cannot sync folder %s", folder);
    close(fd);
    return rc;
}

/* Cut the last part of a path off; false at the top. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL || (slash == path && path[1] == '\0')) {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

static frz_code local_sync_dir(void *ctx, const char *location, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    return sync_folder(to_parent(path) ? path : ".", fsync, err);
}

static frz_code local_sync_all(void *ctx, const char *location, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    return sync_folder(to_parent(path) ? path : ".", syncfs, err);
}

static frz_code local_stat(void *ctx, const char *location, uint64_t *size, frz_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (stat(path, &st) != 0) {
        return frz_fail_os(err, errno, "cannot find %s", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return frz_fail(err, FRZ_E_IO, "%s is not a regular file", path);
    }
    *size = (uint64_t)st.st_size;
    return FRZ_OK;
}

static frz_code local_remove(void *ctx, const char *location, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    return unlink(path) == 0 ? FRZ_OK : frz_fail_os(err, errno, "cannot remove %s", path);
}

static frz_code list_folder(char path[PATH_MAX], frz_storage_visit visit, void *visit_ctx,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t len = strlen(path);
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return frz_fail_os(err, errno, "cannot open folder %s", path);
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        int n = snprintf(path + len, PATH_MAX - len, "/%s", entry->d_name);
        if (n < 0 || (size_t)n >= PATH_MAX - len) {
            rc = frz_fail(err, FRZ_E_IO, "path below %.*s is too long", (int)len, path);
            goto out;
        }
        if (lstat(path, &st) != 0) {
            continue; /* removed meanwhile */
        }
        if (S_ISDIR(st.st_mode)) {
            FRZ_TRY(list_folder(path, visit, visit_ctx, err));
        } else if (S_ISREG(st.st_mode)) {
            FRZ_TRY(visit(visit_ctx, path, (uint64_t)st.st_size,
                          (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000));
        }
    }
out:
    path[len] = '\0';
    closedir(dir);
    return rc;
}

static frz_code local_list(void *ctx, const char *location, frz_storage_visit visit,
                           void *visit_ctx, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    frz_code rc = local_path(location, path, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        path[--len] = '\0';
    }
    return list_folder(path, visit, visit_ctx, err);
}

const frz_storage frz_storage_local = {
    .struct_size = sizeof(frz_storage),
    .open = local_open,
    .create = local_create,
    .read_at = local_read_at,
    .append = local_append,
    .append_from = local_append_from,
    .sync = local_sync,
    .close = local_close,
    .sync_dir = local_sync_dir,
    .sync_all = local_sync_all,
    .stat = local_stat,
    .remove = local_remove,
    .list = local_list,
    .ctx = NULL,
    .identity = local_identity,
    .sync_soon = local_sync_soon,
};
