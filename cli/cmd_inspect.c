/*
 * frazil inspect: what a file is made of.
 */
#include "cli_inspect.h"

static const cli_option inspect_options[] = {
    {CLI_OPTION_GROUPS, 0, "groups", NULL, "each column chunk of each row group"},
    {CLI_OPTION_PAGES, 0, "pages", NULL, "the pages of each column chunk; reads their headers"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code inspect_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file *file = NULL;
    inspect_request request = {.name = context->args->words[0],
                               .groups = cli_args_has(context->args, CLI_OPTION_GROUPS),
                               .pages = cli_args_has(context->args, CLI_OPTION_PAGES)};
    CLI_TRY(frz_parquet_file_open(context->env, request.name, &file, err));
    if (context->json) {
        CLI_TRY(inspect_json(&context->out, file, &request, err));
    } else {
        CLI_TRY(inspect_text(&context->out, file, &request, err));
    }
out:
    frz_parquet_file_close(file);
    return rc;
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .usage = "FILE [--groups] [--pages] [--json]",
    .summary = "show what a Parquet file is made of",
    .text = "The schema, and for each column over all row groups its codec, encodings, size and\n"
            "bounds; the row groups and the key-value metadata. Sizes are in bytes, ratio is how\n"
            "many times larger the data is without compression, index tells whether there is a\n"
            "page index, bloom the bytes of bloom filters (0: not told). Bounds in parentheses\n"
            "are not relied on. --json has all of it, uncut and for each column chunk.\n",
    .example = "  frazil inspect wide.parquet\n"
               "  frazil inspect wide.parquet --groups\n"
               "  frazil inspect wide.parquet --json --pages\n",
    .options = inspect_options,
    .min_words = 1,
    .max_words = 1,
    .run = inspect_run,
};
