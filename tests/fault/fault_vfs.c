/*
 * A SQLite VFS over the default one that takes part in the counting of steps and forgets, when
 * power is lost, what was not synced. For each file it keeps the content of the last sync; a file
 * whose deletion was not synced comes back with it.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/fault.h"

#define MOST_FILES 16
#define PATH_BYTES 1024

typedef struct durable_file {
    char path[PATH_BYTES];
    int exists; /* durably */
    char *content;
    size_t size;
} durable_file;

typedef struct fault_vfs_file {
    sqlite3_file base;
    durable_file *durable; /* NULL: a temporary file without a name */
    sqlite3_file *inner;   /* behind this struct */
} fault_vfs_file;

static durable_file files[MOST_FILES];
static size_t file_count;
static sqlite3_vfs *inner_vfs;

/* ---- durable content ---- */

static void read_content(durable_file *file)
{
    FILE *f = fopen(file->path, "rb");
    free(file->content);
    file->content = NULL;
    file->size = 0;
    file->exists = f != NULL;
    if (f != NULL) {
        fseek(f, 0, SEEK_END);
        file->size = (size_t)ftell(f);
        rewind(f);
        file->content = malloc(file->size + 1);
        file->size = fread(file->content, 1, file->size, f);
        fclose(f);
    }
}

static durable_file *durable_of(const char *path)
{
    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(files[i].path, path) == 0) {
            return &files[i];
        }
    }
    if (file_count == MOST_FILES) {
        fprintf(stderr, "fault vfs: too many files\n");
        exit(1);
    }
    durable_file *file = &files[file_count++];
    snprintf(file->path, sizeof file->path, "%s", path);
    read_content(file); /* what was there before the process is durable */
    return file;
}

void fault_vfs_power_off(void)
{
    for (size_t i = 0; i < file_count; i++) {
        const durable_file *file = &files[i];
        unlink(file->path);
        if (file->exists) {
            FILE *f = fopen(file->path, "wb");
            if (f == NULL) {
                continue; /* its folder is gone, too */
            }
            if (fwrite(file->content, 1, file->size, f) != file->size) {
                fprintf(stderr, "fault vfs: cannot restore %s\n", file->path);
            }
            fclose(f);
        }
    }
}

/* ---- files ---- */

static sqlite3_file *inner_of(sqlite3_file *file)
{
    return ((fault_vfs_file *)file)->inner;
}

static int file_close(sqlite3_file *file)
{
    return inner_of(file)->pMethods->xClose(inner_of(file));
}

static int file_read(sqlite3_file *file, void *buf, int amount, sqlite3_int64 offset)
{
    return inner_of(file)->pMethods->xRead(inner_of(file), buf, amount, offset);
}

static int file_write(sqlite3_file *file, const void *buf, int amount, sqlite3_int64 offset)
{
    if (fault_step(1)) {
        return SQLITE_IOERR_WRITE;
    }
    return inner_of(file)->pMethods->xWrite(inner_of(file), buf, amount, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    if (fault_step(1)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    return inner_of(file)->pMethods->xTruncate(inner_of(file), size);
}

/* SQLite syncs a new file's folder with its first sync, so the name is durable from then on. */
static int file_sync(sqlite3_file *file, int flags)
{
    fault_vfs_file *wrapped = (fault_vfs_file *)file;
    (void)flags;
    if (fault_step(1)) {
        return SQLITE_IOERR_FSYNC;
    }
    if (wrapped->durable != NULL) {
        read_content(wrapped->durable);
    }
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return inner_of(file)->pMethods->xFileSize(inner_of(file), size);
}

static int file_lock(sqlite3_file *file, int level)
{
    return inner_of(file)->pMethods->xLock(inner_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return inner_of(file)->pMethods->xUnlock(inner_of(file), level);
}

static int file_check_lock(sqlite3_file *file, int *out)
{
    return inner_of(file)->pMethods->xCheckReservedLock(inner_of(file), out);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return inner_of(file)->pMethods->xFileControl(inner_of(file), op, arg);
}

static int file_sector_size(sqlite3_file *file)
{
    (void)file;
    return 512;
}

static int file_characteristics(sqlite3_file *file)
{
    (void)file;
    return 0; /* promise nothing */
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    fault_vfs_file *wrapped = (fault_vfs_file *)file;
    (void)vfs;
    memset(wrapped, 0, sizeof *wrapped);
    wrapped->inner = (sqlite3_file *)(wrapped + 1);
    if (fault_step((flags & SQLITE_OPEN_CREATE) != 0)) {
        return SQLITE_CANTOPEN;
    }
    if (name != NULL) {
        wrapped->durable = durable_of(name);
    }
    int rc = inner_vfs->xOpen(inner_vfs, name, wrapped->inner, flags, out_flags);
    wrapped->base.pMethods = wrapped->inner->pMethods == NULL ? NULL : &file_methods;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    if (fault_step(1)) {
        return SQLITE_IOERR_DELETE;
    }
    durable_file *file = durable_of(name);
    int rc = inner_vfs->xDelete(inner_vfs, name, 0);
    if (rc == SQLITE_OK && sync_folder) {
        file->exists = 0;
    }
    return rc;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    return inner_vfs->xAccess(inner_vfs, name, flags, out);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    return inner_vfs->xFullPathname(inner_vfs, name, size, out);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    return inner_vfs->xRandomness(inner_vfs, size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return inner_vfs->xSleep(inner_vfs, microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    return inner_vfs->xCurrentTime(inner_vfs, out);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    return inner_vfs->xGetLastError(inner_vfs, size, out);
}

void fault_vfs_register(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 1,
        .zName = FAULT_VFS,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    if (inner_vfs != NULL) {
        return;
    }
    inner_vfs = sqlite3_vfs_find(NULL);
    vfs.szOsFile = (int)sizeof(fault_vfs_file) + inner_vfs->szOsFile;
    vfs.mxPathname = inner_vfs->mxPathname;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) {
        fprintf(stderr, "fault vfs: cannot be registered\n");
        exit(1);
    }
}
