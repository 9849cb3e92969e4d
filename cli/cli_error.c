/*
 * Errors of the command: filled in like the library's, printed on standard error, turned into exit
 * codes.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static void error_fill(frz_error *err, frz_code code, const char *fmt, va_list args)
{
    frz_error_reset(err);
    err->code = code;
    vsnprintf(err->message, sizeof err->message, fmt, args);
}

frz_code cli_fail(frz_error *err, frz_code code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_fill(err, code, fmt, args);
    va_end(args);
    return code;
}

frz_code cli_fail_os(frz_error *err, int os_error, const char *fmt, ...)
{
    frz_code code = cli_code_of_errno(os_error);
    va_list args;
    va_start(args, fmt);
    error_fill(err, code, fmt, args);
    va_end(args);
    size_t len = strlen(err->message);
    snprintf(err->message + len, sizeof err->message - len, ": %s", strerror(os_error));
    err->os_error = os_error;
    return code;
}

void cli_hint(frz_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, args);
    va_end(args);
}

frz_code cli_code_of_errno(int os_error)
{
    switch (os_error) {
    case EINVAL:
        return FRZ_E_ARGUMENT;
    case ENOMEM:
        return FRZ_E_NOMEM;
    case EOVERFLOW:
        return FRZ_E_LIMIT;
    case ENOENT:
    case ENOTDIR:
        return FRZ_E_NOT_FOUND;
    case EEXIST:
        return FRZ_E_EXISTS;
    case ENOTSUP:
        return FRZ_E_UNSUPPORTED;
    case EACCES:
        return FRZ_E_AUTH;
    case EAGAIN:
        return FRZ_E_CONFLICT;
    case ECANCELED:
        return FRZ_E_CANCELLED;
    case EBADMSG:
        return FRZ_E_CORRUPT;
    default:
        return FRZ_E_IO;
    }
}

cli_exit cli_exit_of(frz_code code)
{
    switch (code) {
    case FRZ_OK:
    case FRZ_END:
        return CLI_EXIT_OK;
    case FRZ_E_ARGUMENT:
        return CLI_EXIT_USAGE;
    case FRZ_E_NOT_FOUND:
        return CLI_EXIT_NOT_FOUND;
    case FRZ_E_CONFLICT:
        return CLI_EXIT_CONFLICT;
    case FRZ_E_CORRUPT:
        return CLI_EXIT_CORRUPT;
    default:
        return CLI_EXIT_OTHER;
    }
}

/* A terminal is not steered, whatever a name in the text contains; ends of lines stay if wanted. */
static void blank_controls(char *text, bool keep_lines)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        size_t size = text[i] == '\n' && keep_lines ? 0 : cli_control_size(text + i, len - i);
        memset(text + i, ' ', size);
        i += size > 1 ? size - 1 : 0;
    }
}

/* Lines after the first are indented as far as the first one's text, so carets stay in place. */
static void hint_print(const frz_error *err)
{
    char text[sizeof err->hint];
    const char *hint = text;
    const char *lead = "hint: ";
    memcpy(text, err->hint, sizeof text);
    blank_controls(text, true);
    while (*hint != '\0') {
        int len = (int)strcspn(hint, "\n");
        fprintf(stderr, "%s%.*s\n", lead, len, hint);
        hint += len;
        hint += *hint == '\n';
        lead = "      ";
    }
}

void cli_error_print(const frz_error *err)
{
    char line[2560];
    cli_progress_clear();
    if (frz_error_format(err, line, sizeof line) == 0) {
        snprintf(line, sizeof line, "%s", frz_code_name(err->code));
    }
    blank_controls(line, false);
    fprintf(stderr, "frazil: %s\n", line);
    hint_print(err);
}

#define NEAREST_MAX_WORD 32

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Changes (insert, delete, replace, swap of neighbours) that turn a into b. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NEAREST_MAX_WORD + 1]; /* the row being filled and the two before it */
    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < now[j]) {
                now[j] = before[j - 2] + 1;
            }
        }
    }
    return rows[a_len % 3][b_len];
}

const char *cli_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t len = strlen(word);
    size_t best_distance = len / 3 + 2; /* farther is no likeness any more */
    if (len > NEAREST_MAX_WORD) {
        return NULL;
    }
    for (; *words != NULL; words++) {
        size_t other_len = strlen(*words);
        if (other_len > NEAREST_MAX_WORD) {
            continue;
        }
        bool prefix = len >= 2 && strncmp(word, *words, len) == 0;
        size_t distance = prefix ? 1 : edit_distance(word, len, *words, other_len);
        if (distance < best_distance && distance < len) {
            best = *words;
            best_distance = distance;
        }
    }
    return best;
}
