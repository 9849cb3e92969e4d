/*
 * frazil append: rows of files are added to a table.
 */
#include "cli.h"

static frz_code append_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit_report report = {0};
    const char *const *files = context->args->words + 1;
    size_t file_count = context->args->word_count - 1;
    CLI_TRY(cli_check_files(files, file_count, err));
    CLI_TRY(cli_open_catalog(context, false, err));
    CLI_TRY(frz_append_files(context->catalog, cli_table_name(context), files, file_count, NULL,
                             &report, err));
    cli_report_print(context, "append", cli_table_name(context), &report);
out:
    return rc;
}

static const cli_option append_options[] = {
    {0, 0, NULL, NULL, NULL},
};

const cli_command cmd_append = {
    .name = "append",
    .usage = "TABLE FILE...",
    .summary = "add the rows of Parquet, Arrow or Avro files to a table",
    .text =
        "Columns are matched by name, in any order. Those that a file lacks get their default,\n"
        "else null; one that the table lacks is an error. Types are promoted (int to long, ...);\n"
        "INSERT INTO ... SELECT converts in other ways. All rows come in one commit.\n",
    .example = "  frazil append db.wide new.parquet\n"
               "  frazil append db.days 2024-02-*.parquet\n"
               "  frazil sql \"INSERT INTO db.wide SELECT * FROM 'new.arrow' WHERE id > 9\"\n",
    .options = append_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 2,
    .max_words = SIZE_MAX,
    .run = append_run,
};
