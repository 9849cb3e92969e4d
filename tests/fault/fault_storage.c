/*
 * Local files with faults. What was created since the process began is remembered: how many bytes
 * were synced, and whether its name was.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault.h"
#include "io/io_file.h"

#define MOST_NAMES 4096

typedef struct known_name {
    char path[PATH_MAX];
    int is_folder;
    int name_synced;
    uint64_t size, synced;
} known_name;

static struct {
    fault_mode mode;
    int64_t step, count;
    known_name *names;
    size_t name_count;
} faults;

void fault_arm(fault_mode mode, int64_t step)
{
    free(faults.names);
    memset(&faults, 0, sizeof faults);
    faults.mode = mode;
    faults.step = step;
    faults.names = calloc(MOST_NAMES, sizeof *faults.names);
}

int64_t fault_next_step(int64_t step)
{
    return step < 12 || getenv("FRAZIL_LONG") != NULL ? step + 1 : step + 3;
}

int64_t fault_steps(void)
{
    return faults.count;
}

int fault_reached(void)
{
    return faults.mode != FAULT_NONE && faults.count >= faults.step;
}

int fault_step(int writes)
{
    faults.count++;
    if (faults.mode == FAULT_NONE || faults.count < faults.step) {
        return 0;
    }
    switch (faults.mode) {
    case FAULT_ERROR:
        return faults.count == faults.step;
    case FAULT_FULL:
        return writes;
    case FAULT_POWER:
        fault_storage_power_off();
        fault_vfs_power_off();
        _exit(FAULT_EXIT);
    case FAULT_KILL:
        _exit(FAULT_EXIT);
    default:
        return 0;
    }
}

/* ---- what is known of names ---- */

static void to_path(const char *location, char path[PATH_MAX])
{
    frz_str view = {0};
    if (!frz_location_local_path(frz_str_from(location), &view) || view.len >= PATH_MAX) {
        fprintf(stderr, "fault storage: odd location %s\n", location);
        exit(1);
    }
    memcpy(path, view.ptr, view.len);
    path[view.len] = '\0';
}

static known_name *known(const char *path)
{
    for (size_t i = 0; i < faults.name_count; i++) {
        if (strcmp(faults.names[i].path, path) == 0) {
            return &faults.names[i];
        }
    }
    return NULL;
}

static void remember(const char *path, int is_folder)
{
    if (faults.name_count == MOST_NAMES) {
        fprintf(stderr, "fault storage: too many files\n");
        exit(1);
    }
    known_name *name = &faults.names[faults.name_count++];
    memset(name, 0, sizeof *name);
    snprintf(name->path, sizeof name->path, "%s", path);
    name->is_folder = is_folder;
}

/* Folders that will come into being with a file. */
static void remember_folders(const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strrchr(folder, '/'); slash != NULL && slash != folder;
         slash = strrchr(folder, '/')) {
        *slash = '\0';
        if (stat(folder, &st) == 0) {
            break;
        }
        if (known(folder) == NULL) {
            remember(folder, 1);
        }
    }
}

static void remove_tree(const char *path)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) {
        fprintf(stderr, "fault storage: cannot remove %s\n", path);
    }
}

void fault_storage_power_off(void)
{
    for (size_t i = 0; i < faults.name_count; i++) {
        const known_name *name = &faults.names[i];
        if (!name->name_synced) {
            remove_tree(name->path);
        } else if (!name->is_folder && truncate(name->path, (off_t)name->synced) != 0 &&
                   errno != ENOENT) {
            fprintf(stderr, "fault storage: cannot truncate %s\n", name->path);
        }
    }
}

/* ---- the storage ---- */

/* A handle of the local storage and the name it was created under. */
typedef struct fault_file {
    void *inner;
    char path[PATH_MAX];
} fault_file;

#define LOCAL frz_storage_local

static frz_code injected(frz_error *err, const char *what)
{
    return frz_fail_os(err, faults.mode == FAULT_FULL ? ENOSPC : EIO, "injected fault: %s", what);
}

static frz_code wrap(void *inner, const char *path, void **file)
{
    fault_file *wrapped = calloc(1, sizeof *wrapped);
    wrapped->inner = inner;
    snprintf(wrapped->path, sizeof wrapped->path, "%s", path);
    *file = wrapped;
    return FRZ_OK;
}

static frz_code fault_open(void *ctx, const char *location, void **file, uint64_t *size,
                           frz_error *err)
{
    void *inner;
    if (fault_step(0)) {
        return injected(err, "open");
    }
    frz_code rc = LOCAL.open(ctx, location, &inner, size, err);
    return rc == FRZ_OK ? wrap(inner, "", file) : rc;
}

static frz_code fault_create(void *ctx, const char *location, void **file, frz_error *err)
{
    void *inner;
    char path[PATH_MAX];
    if (fault_step(1)) {
        return injected(err, "create");
    }
    to_path(location, path);
    remember_folders(path);
    frz_code rc = LOCAL.create(ctx, location, &inner, err);
    if (rc == FRZ_OK) {
        remember(path, 0);
        rc = wrap(inner, path, file);
    }
    return rc;
}

static frz_code fault_read_at(void *ctx, void *file, uint64_t offset, void *buf, size_t len,
                              frz_error *err)
{
    if (fault_step(0)) {
        return injected(err, "read");
    }
    return LOCAL.read_at(ctx, ((fault_file *)file)->inner, offset, buf, len, err);
}

static frz_code fault_append(void *ctx, void *file, const void *buf, size_t len, frz_error *err)
{
    fault_file *wrapped = file;
    known_name *name = known(wrapped->path);
    if (fault_step(1)) {
        /* half of it gets there, as on a full disk */
        (void)LOCAL.append(ctx, wrapped->inner, buf, len / 2, NULL);
        return injected(err, "append");
    }
    frz_code rc = LOCAL.append(ctx, wrapped->inner, buf, len, err);
    name->size += rc == FRZ_OK ? len : 0;
    return rc;
}

static frz_code fault_append_from(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                                  frz_error *err)
{
    fault_file *wrapped = file;
    known_name *name = known(wrapped->path);
    if (fault_step(1)) {
        return injected(err, "copy");
    }
    frz_code rc =
        LOCAL.append_from(ctx, wrapped->inner, ((fault_file *)src)->inner, offset, len, err);
    name->size += rc == FRZ_OK ? len : 0;
    return rc;
}

static frz_code fault_sync(void *ctx, void *file, frz_error *err)
{
    fault_file *wrapped = file;
    (void)ctx;
    if (fault_step(1)) {
        return injected(err, "sync");
    }
    known_name *name = known(wrapped->path);
    if (name != NULL) {
        name->synced = name->size;
    }
    return FRZ_OK;
}

static frz_code fault_close(void *ctx, void *file, frz_error *err)
{
    fault_file *wrapped = file;
    int fails = fault_step(1);
    frz_code rc = LOCAL.close(ctx, wrapped->inner, err);
    free(wrapped);
    return fails ? injected(err, "close") : rc;
}

/* Every name directly in a folder is durable. */
static void sync_names(const char *folder)
{
    size_t length = strlen(folder);
    for (size_t i = 0; i < faults.name_count; i++) {
        known_name *name = &faults.names[i];
        const char *slash = strrchr(name->path, '/');
        if (slash != NULL && (size_t)(slash - name->path) == length &&
            strncmp(name->path, folder, length) == 0) {
            name->name_synced = 1;
        }
    }
}

static frz_code fault_sync_dir(void *ctx, const char *location, frz_error *err)
{
    char path[PATH_MAX];
    (void)ctx;
    if (fault_step(1)) {
        return injected(err, "sync of a folder");
    }
    to_path(location, path);
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
        sync_names(path);
    }
    return FRZ_OK;
}

static frz_code fault_sync_all(void *ctx, const char *location, frz_error *err)
{
    (void)ctx;
    (void)location;
    if (fault_step(1)) {
        return injected(err, "sync of everything");
    }
    for (size_t i = 0; i < faults.name_count; i++) {
        faults.names[i].name_synced = 1;
        faults.names[i].synced = faults.names[i].size;
    }
    return FRZ_OK;
}

static frz_code fault_stat(void *ctx, const char *location, uint64_t *size, frz_error *err)
{
    return fault_step(0) ? injected(err, "stat") : LOCAL.stat(ctx, location, size, err);
}

/* Removal may be undone by power-off, which harms nobody: it is not modelled. */
static frz_code fault_remove(void *ctx, const char *location, frz_error *err)
{
    return fault_step(1) ? injected(err, "remove") : LOCAL.remove(ctx, location, err);
}

static frz_code fault_list(void *ctx, const char *location, frz_storage_visit visit,
                           void *visit_ctx, frz_error *err)
{
    return fault_step(0) ? injected(err, "list") : LOCAL.list(ctx, location, visit, visit_ctx, err);
}

/* Without an identity nothing is kept from one opening of a file to the next, so that the steps of
 * a scenario do not depend on the age of files. */
const frz_storage fault_storage = {
    .struct_size = sizeof(frz_storage),
    .open = fault_open,
    .create = fault_create,
    .read_at = fault_read_at,
    .append = fault_append,
    .append_from = fault_append_from,
    .sync = fault_sync,
    .close = fault_close,
    .sync_dir = fault_sync_dir,
    .sync_all = fault_sync_all,
    .stat = fault_stat,
    .remove = fault_remove,
    .list = fault_list,
};
