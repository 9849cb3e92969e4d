/*
 * frazil compact: column files are folded into new data files.
 */
#include "cli.h"

static frz_code compact_run(cli_context *context, frz_error *err)
{
    frz_commit_report report = {0};
    frz_code rc = cli_open_catalog(context, false, err);
    if (rc == FRZ_OK) {
        rc = frz_compact(context->catalog, cli_table_name(context), &report, err);
    }
    if (rc == FRZ_OK) {
        cli_report_print(context, "compact", cli_table_name(context), &report);
    }
    return rc;
}

const cli_command cmd_compact = {
    .name = "compact",
    .usage = "TABLE [--json]",
    .summary = "fold column files back into data files",
    .text =
        "Each data file with column files is replaced by one that holds everything. Encoded\n"
        "columns that did not change are copied, not decoded. Row ids and the sequence numbers\n"
        "of rows stay what they were, and earlier snapshots stay readable.\n",
    .example = "  frazil compact db.wide\n"
               "  frazil compact db.wide --json\n",
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = compact_run,
};
