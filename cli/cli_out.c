/*
 * Bytes on their way out: a buffer in front of a descriptor, and the file that -o names. A file
 * that is to be replaced keeps its content until the new one is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define OUT_FLUSH_BYTES (64 * 1024)

static frz_code out_check(const cli_out *out, frz_error *err)
{
    if (out->text.failed == FRZ_E_NOMEM) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for the output");
    }
    if (out->text.failed == FRZ_E_CORRUPT) {
        return cli_fail(err, FRZ_E_CORRUPT, "the bytes of a variant are damaged");
    }
    if (out->text.failed != FRZ_OK) {
        frz_code rc = cli_fail(err, FRZ_E_UNSUPPORTED,
                               "a string holds bytes that are not UTF-8, which JSON cannot carry");
        cli_hint(err, "--format csv writes the bytes as they are");
        return rc;
    }
    return FRZ_OK;
}

static frz_code write_all(const cli_out *out, const char *bytes, size_t len, frz_error *err)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(out->fd, bytes + done, len - done);
        if (n < 0 && errno != EINTR) {
            return cli_fail_os(err, errno, "cannot write to %s", out->name);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return FRZ_OK;
}

frz_code cli_out_flush(cli_out *out, frz_error *err)
{
    frz_code rc = out_check(out, err);
    if (rc != FRZ_OK || out->fd < 0) {
        return rc;
    }
    rc = write_all(out, out->text.data, out->text.len, err);
    out->text.len = 0;
    return rc;
}

frz_code cli_out_write(cli_out *out, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = cli_out_flush(out, err);
    if (rc != FRZ_OK || out->fd >= 0) {
        return rc == FRZ_OK ? write_all(out, bytes, len, err) : rc;
    }
    cli_text_bytes(&out->text, bytes, len);
    return out_check(out, err);
}

frz_code cli_out_row(cli_out *out, frz_error *err)
{
    if (out->text.failed == FRZ_OK && out->text.len < OUT_FLUSH_BYTES) {
        return FRZ_OK;
    }
    return cli_out_flush(out, err);
}

/* ---- files ---- */

static frz_code target_temp(cli_target *target, frz_error *err)
{
    size_t size = strlen(target->path) + 32;
    target->temp = malloc(size);
    if (target->temp == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu bytes", size);
    }
    snprintf(target->temp, size, "%s.frazil-%ld", target->path, (long)getpid());
    return FRZ_OK;
}

/* Decide where bytes go first. *plain: the path is no device, pipe or the like. */
static frz_code target_plan(cli_target *target, const char *path, bool force, bool *plain,
                            frz_error *err)
{
    struct stat found;
    *plain = true;
    target->path = strdup(path);
    target->out.name = target->path;
    if (target->path == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for a file name");
    }
    if (stat(path, &found) != 0) {
        return FRZ_OK;
    }
    if (S_ISDIR(found.st_mode)) {
        return cli_fail(err, FRZ_E_ARGUMENT, "%s is a folder, not a file to write to", path);
    }
    if (!S_ISREG(found.st_mode)) {
        *plain = false;
        return FRZ_OK;
    }
    if (!force) {
        cli_fail(err, FRZ_E_EXISTS, "%s is there already", path);
        cli_hint(err, "--force replaces it");
        return FRZ_E_EXISTS;
    }
    return target_temp(target, err);
}

frz_code cli_target_open(cli_target *target, const char *path, bool force, frz_error *err)
{
    bool plain;
    *target = (cli_target){.out = {.fd = STDOUT_FILENO, .name = "standard output"}};
    if (path == NULL) {
        return FRZ_OK;
    }
    target->out.fd = -1;
    frz_code rc = target_plan(target, path, force, &plain, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int flags = O_WRONLY | O_CLOEXEC | (plain ? O_CREAT | O_EXCL : 0);
    target->out.fd = open(cli_target_location(target), flags, 0666);
    if (target->out.fd < 0) {
        return cli_fail_os(err, errno, "cannot create %s", cli_target_location(target));
    }
    target->made = plain;
    return FRZ_OK;
}

/* The folder that a new file is to be in must be there: it is not made for a mistyped name. */
static frz_code check_folder(const char *path, frz_error *err)
{
    struct stat found;
    char *folder = strdup(path);
    if (folder == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for a file name");
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
    frz_code rc = FRZ_OK;
    if (slash != NULL && stat(folder, &found) != 0) {
        rc = cli_fail_os(err, errno, "cannot create %s", path);
    }
    free(folder);
    return rc;
}

frz_code cli_target_reserve(cli_target *target, const char *path, bool force, frz_error *err)
{
    bool plain;
    *target = (cli_target){.out = {.fd = -1, .name = ""}};
    frz_code rc = target_plan(target, path, force, &plain, err);
    if (rc == FRZ_OK && !plain) {
        rc = cli_fail(err, FRZ_E_ARGUMENT, "%s is not a plain file", path);
    }
    return rc == FRZ_OK ? check_folder(path, err) : rc;
}

const char *cli_target_location(const cli_target *target)
{
    return target->temp != NULL ? target->temp : target->path;
}

frz_code cli_target_finish(cli_target *target, frz_error *err)
{
    frz_code rc = cli_out_flush(&target->out, err);
    if (rc != FRZ_OK || target->path == NULL) {
        return rc;
    }
    if (target->out.fd >= 0) {
        int failed = close(target->out.fd);
        target->out.fd = -1;
        if (failed != 0) {
            return cli_fail_os(err, errno, "cannot write to %s", target->path);
        }
    }
    if (target->temp != NULL && rename(target->temp, target->path) != 0) {
        return cli_fail_os(err, errno, "cannot replace %s", target->path);
    }
    target->made = false;
    return FRZ_OK;
}

void cli_target_reset(cli_target *target)
{
    if (target->path != NULL && target->out.fd >= 0) {
        close(target->out.fd);
    }
    if (target->made) {
        unlink(cli_target_location(target));
    }
    free(target->path);
    free(target->temp);
    cli_text_reset(&target->out.text);
    *target = (cli_target){.out = {.fd = -1}};
}
