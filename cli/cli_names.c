/*
 * The list of names that --columns takes: commas between, blanks around a name do not count, double
 * quotes around what has either in it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void cli_names_reset(cli_names *list)
{
    free(list->block);
    free(list->names);
    *list = (cli_names){0};
}

/* Copy one name to *to; returns where it ended. Inside double quotes "" is a quote. */
static const char *copy_name(const char *at, char **to)
{
    bool quoted = false;
    at += strspn(at, " ");
    char *start = *to;
    char *keep = start; /* end of what blanks at the end must not take away */
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (*at == '"' && quoted && at[1] == '"') {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
            continue;
        }
        *(*to)++ = *at;
        keep = *at != ' ' || quoted ? *to : keep;
    }
    *to = keep;
    *(*to)++ = '\0';
    return at;
}

frz_code cli_names_read(const char *text, cli_names *out, frz_error *err)
{
    size_t len = strlen(text);
    cli_names list = {.block = malloc(2 * len + 2), .names = calloc(len + 2, sizeof *list.names)};
    char *to = list.block;
    if (list.block == NULL || list.names == NULL) {
        cli_names_reset(&list);
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for --columns");
    }
    for (const char *at = text;; at++) {
        list.names[list.count] = to;
        at = copy_name(at, &to);
        if (*list.names[list.count++] == '\0') {
            cli_names_reset(&list);
            return cli_fail(err, FRZ_E_ARGUMENT,
                            "--columns: expected names with commas between, found \"%s\"", text);
        }
        if (*at == '\0') {
            break;
        }
    }
    *out = list;
    return FRZ_OK;
}
