/*
 * frazil inspect: what a file is made of.
 */
#include "cli_inspect.h"

static const cli_option inspect_options[] = {
    {CLI_OPTION_GROUPS, 0, "groups", NULL, "each column chunk of each row group"},
    {CLI_OPTION_PAGES, 0, "pages", NULL, "the pages of each column chunk; reads their headers"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code inspect_parquet(cli_context *context, const char *name, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file *file = NULL;
    inspect_request request = {.name = name,
                               .groups = cli_args_has(context->args, CLI_OPTION_GROUPS),
                               .pages = cli_args_has(context->args, CLI_OPTION_PAGES)};
    CLI_TRY(frz_parquet_file_open(context->env, name, &file, err));
    CLI_TRY(context->json ? inspect_json(&context->out, file, &request, err)
                          : inspect_text(&context->out, file, &request, err));
out:
    frz_parquet_file_close(file);
    return rc;
}

static frz_code inspect_run(cli_context *context, frz_error *err)
{
    const char *name = context->args->words[0];
    frz_file_format format;
    frz_code rc = frz_file_format_get(context->env, name, &format, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    switch (format) {
    case FRZ_FILE_PARQUET:
        return inspect_parquet(context, name, err);
    case FRZ_FILE_ARROW:
    case FRZ_FILE_ARROW_STREAM:
        return inspect_arrow(context, name, frz_file_format_name(format), err);
    case FRZ_FILE_AVRO:
        return inspect_avro(context, name, err);
    case FRZ_FILE_UNKNOWN:
        return cli_fail(err, FRZ_E_CORRUPT,
                        "%s is neither a Parquet nor an Arrow file, nor an Avro file", name);
    default:
        return cli_fail(err, FRZ_E_UNSUPPORTED, "unsupported: inspecting format %s (%s)",
                        frz_file_format_name(format), name);
    }
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .usage = "FILE [--groups] [--pages] [--json]",
    .summary = "show what a Parquet, Arrow or Avro file is made of",
    .text =
        "The schema, and for each column over all row groups its codec, encodings, size and\n"
        "bounds; the row groups and the key-value metadata. Sizes are in bytes, ratio is how\n"
        "many times larger the data is without compression, index tells whether there is a\n"
        "page index, bloom the bytes of bloom filters (0: not told). Bounds in parentheses\n"
        "are not relied on. --json has all of it, uncut and for each column chunk.\n"
        "Of an Arrow file: the schema and the rows of its batches. Of an Avro file: the schema\n"
        "with field ids, blocks and codec, and the metadata.\n",
    .example = "  frazil inspect wide.parquet\n"
               "  frazil inspect wide.parquet --groups\n"
               "  frazil inspect wide.parquet --json --pages\n",
    .options = inspect_options,
    .min_words = 1,
    .max_words = 1,
    .run = inspect_run,
};
