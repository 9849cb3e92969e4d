/*
 * --from: the files, or the table, that give a table its new values.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A file that is there, or the name of a table. */
static bool names_file(const char *from)
{
    return access(from, F_OK) == 0 || strchr(from, '/') != NULL;
}

frz_code cli_source_read(const cli_args *args, cli_source *out, frz_error *err)
{
    size_t count = cli_args_count(args, CLI_OPTION_FROM), at = 0;
    const char *first = cli_args_value(args, CLI_OPTION_FROM);
    out->rows = (frz_row_source)FRZ_ROW_SOURCE_INIT;
    if (count == 0) {
        return FRZ_OK;
    }
    if (count == 1 && !names_file(first)) {
        out->rows.table = first;
        return FRZ_OK;
    }
    out->files = calloc(count, sizeof *out->files);
    if (out->files == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu files", count);
    }
    for (size_t i = 0; i < args->given_count; i++) {
        if (args->given[i].id == CLI_OPTION_FROM) {
            out->files[at++] = args->given[i].value;
        }
    }
    out->rows.files = out->files;
    out->rows.file_count = count;
    return cli_check_files(out->files, count, err);
}

void cli_source_reset(cli_source *source)
{
    free(source->files);
}
