/*
 * frazil import: Parquet files become a table.
 */
#include <stdlib.h>

#include "cli.h"

static const cli_option import_options[] = {
    {CLI_OPTION_PROPERTY, 'p', "property", "KEY=VALUE", "set a table property; repeatable"},
    {CLI_OPTION_REWRITE, 0, "rewrite", NULL, "decode the files and write them afresh"},
    {0, 0, NULL, NULL, NULL},
};

static void properties_free(frz_property *properties, size_t count)
{
    for (size_t i = 0; properties != NULL && i < count; i++) {
        free((char *)properties[i].key);
        free((char *)properties[i].value);
    }
    free(properties);
}

static frz_code properties_read(const cli_args *args, frz_property **out, size_t *count,
                                frz_error *err)
{
    frz_property *properties =
        calloc(cli_args_count(args, CLI_OPTION_PROPERTY) + 1, sizeof *properties);
    size_t done = 0;
    frz_code rc =
        properties == NULL ? cli_fail(err, FRZ_E_NOMEM, "out of memory for --property") : FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < args->given_count; i++) {
        char *key = NULL;
        char *value = NULL;
        if (args->given[i].id != CLI_OPTION_PROPERTY) {
            continue;
        }
        rc = cli_split_pair(args->given[i].value, "property", &key, &value, err);
        if (rc == FRZ_OK) {
            properties[done++] = (frz_property){key, value};
        }
    }
    if (rc != FRZ_OK) {
        properties_free(properties, done);
        return rc;
    }
    *out = properties;
    *count = done;
    return FRZ_OK;
}

static frz_code import_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit_report report = {0};
    frz_import_options options = FRZ_IMPORT_OPTIONS_INIT;
    frz_property *properties = NULL;
    const char *const *files = context->args->words + 1;
    size_t file_count = context->args->word_count - 1;
    CLI_TRY(properties_read(context->args, &properties, &options.property_count, err));
    options.properties = properties;
    options.rewrite = cli_args_has(context->args, CLI_OPTION_REWRITE);
    CLI_TRY(cli_check_files(files, file_count, err));
    CLI_TRY(cli_open_catalog(context, true, err));
    CLI_TRY(frz_import(context->catalog, cli_table_name(context), files, file_count, &options,
                       &report, err));
    cli_report_print(context, "import", cli_table_name(context), &report);
out:
    properties_free(properties, options.property_count);
    return rc;
}

const cli_command cmd_import = {
    .name = "import",
    .usage = "TABLE FILE... [--property KEY=VALUE]... [--rewrite]",
    .summary = "make a table from Parquet files",
    .text = "The files are copied into the warehouse byte for byte; only their footers are read.\n"
            "Several files must hold the same columns and types. The first import makes the\n"
            "warehouse and its catalog. With --rewrite the files are decoded and written again,\n"
            "for files whose field ids cannot be used as they are.\n",
    .example = "  frazil import db.wide wide.parquet\n"
               "  frazil import db.days 2024-01-*.parquet --property write.durability=none\n"
               "  frazil import db.odd odd.parquet --rewrite\n"
               "  frazil --warehouse /data/lake import db.wide wide.parquet\n",
    .options = import_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 2,
    .max_words = SIZE_MAX,
    .run = import_run,
};
