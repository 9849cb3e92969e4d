/*
 * frazil upgrade: a table becomes one of a newer format version.
 */
#include "cli.h"

static const cli_option upgrade_options[] = {
    {CLI_OPTION_TO, 0, "to", "VERSION", "2, 3 or 4"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code upgrade_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit_report report = {0};
    const char *text = cli_args_value(context->args, CLI_OPTION_TO);
    int64_t version = 0;
    if (text == NULL) {
        cli_fail(err, FRZ_E_ARGUMENT, "upgrade: --to is missing");
        cli_hint(err, "usage: frazil upgrade %s", cmd_upgrade.usage);
        return FRZ_E_ARGUMENT;
    }
    CLI_TRY(cli_parse_int64(text, 1, "to", &version, err));
    if (version > INT32_MAX) {
        version = INT32_MAX;
    }
    CLI_TRY(cli_open_catalog(context, false, err));
    CLI_TRY(frz_upgrade(context->catalog, cli_table_name(context), (int)version, &report, err));
    cli_report_print(context, "upgrade", cli_table_name(context), &report);
out:
    return rc;
}

const cli_command cmd_upgrade = {
    .name = "upgrade",
    .usage = "TABLE --to VERSION [--json]",
    .summary = "make a table one of a newer format version",
    .text =
        "Only a metadata file is written: data, deletes and manifests stay as they are, and old\n"
        "snapshots stay readable. Programs that do not know the version cannot read the table\n"
        "any more, and there is no way back.\n",
    .example = "  frazil upgrade db.t --to 4\n",
    .options = upgrade_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = upgrade_run,
};
