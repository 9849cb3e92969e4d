/*
 * Reading a whole input: standard input, or a file; and whether files can be read at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define PIECE ((size_t)64 * 1024)

/* Waiting apart from reading, because Ctrl-C ends the one and not the other. */
static frz_code wait_for_input(int fd, const char *what, frz_error *err)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    while (poll(&input, 1, -1) < 0 && errno == EINTR) {
        if (cli_interrupted()) {
            return cli_fail(err, FRZ_E_CANCELLED, "reading %s was cancelled", what);
        }
    }
    return FRZ_OK;
}

static frz_code read_all(int fd, const char *name, const char *what, size_t max, cli_text *out,
                         frz_error *err)
{
    for (;;) {
        frz_code rc = wait_for_input(fd, what, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (!cli_text_reserve(out, PIECE)) {
            return cli_fail(err, FRZ_E_NOMEM, "out of memory for %s", what);
        }
        ssize_t n = read(fd, out->data + out->len, PIECE);
        if (n == 0) {
            return FRZ_OK;
        }
        if (n < 0 && errno != EINTR) {
            return cli_fail_os(err, errno, "cannot read %s from %s", what, name);
        }
        out->len += n > 0 ? (size_t)n : 0;
        if (out->len > max) {
            return cli_fail(err, FRZ_E_LIMIT, "%s is longer than %zu bytes", what, max);
        }
    }
}

frz_code cli_input_read(const char *file, const char *what, size_t max, cli_text *out,
                        frz_error *err)
{
    if (strcmp(file, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", what, max, out, err);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return cli_fail_os(err, errno, "cannot open %s", file);
    }
    frz_code rc = read_all(fd, file, what, max, out, err);
    close(fd);
    return rc;
}

frz_code cli_check_files(const char *const *files, size_t count, frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *file = strncmp(files[i], "file://", 7) == 0 ? files[i] + 7 : files[i];
        if (access(file, R_OK) != 0) {
            return cli_fail_os(err, errno, "cannot read %s", files[i]);
        }
    }
    return FRZ_OK;
}
