/*
 * frazil expire: old snapshots and the files that only they need.
 */
#include "cli.h"

static const cli_option expire_options[] = {
    {CLI_OPTION_OLDER_THAN, 0, "older-than", "TIME",
     "snapshots from before: 7d, 12h, 2026-11-01T00:00:00Z"},
    {CLI_OPTION_RETAIN_LAST, 0, "retain-last", "N", "snapshots of each branch that stay"},
    {CLI_OPTION_DRY_RUN, 0, "dry-run", NULL, "only tell what would go"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code expire_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_removal removal;
    frz_removal_report report = {0};
    frz_expire_options options = FRZ_EXPIRE_OPTIONS_INIT;
    const char *retain = cli_args_value(context->args, CLI_OPTION_RETAIN_LAST);
    options.older_than = cli_args_value(context->args, CLI_OPTION_OLDER_THAN);
    if (retain != NULL) {
        CLI_TRY(cli_parse_int64(retain, 1, "retain-last", &options.retain_last, err));
    }
    CLI_TRY(cli_open_catalog(context, false, err));
    cli_removal_begin(&removal, context, "expire");
    options.dry_run = removal.dry;
    options.visit = cli_removal_visit;
    options.ctx = &removal;
    CLI_TRY(frz_expire(context->catalog, cli_table_name(context), &options, &report, err));
    CLI_TRY(cli_removal_end(&removal, &report, err));
out:
    return rc;
}

const cli_command cmd_expire = {
    .name = "expire",
    .usage = "TABLE [--older-than TIME] [--retain-last N] [--dry-run] [--json]",
    .summary = "remove old snapshots and the files that only they need",
    .text =
        "By Iceberg's rules: branches and tags keep what they say of themselves, the options\n"
        "stand in for the table's history.expire.* properties (5 days, 1 snapshot). The current\n"
        "snapshot always stays. Files go after the commit, and only if nothing reaches them.\n",
    .example = "  frazil expire db.wide --dry-run\n"
               "  frazil expire db.wide --older-than 7d --retain-last 5\n",
    .options = expire_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = expire_run,
};
