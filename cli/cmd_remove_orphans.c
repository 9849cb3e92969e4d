/*
 * frazil remove-orphans: files in a table's folder that nothing refers to.
 */
#include "cli.h"

static const cli_option orphan_options[] = {
    {CLI_OPTION_OLDER_THAN, 0, "older-than", "TIME",
     "files last changed before: 3d, 36h, 2026-11-01T00:00:00Z; default 3d"},
    {CLI_OPTION_DRY_RUN, 0, "dry-run", NULL, "only tell what would go"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "also what is younger than a day: nobody is writing"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code orphans_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_removal removal;
    frz_removal_report report = {0};
    frz_orphan_options options = FRZ_ORPHAN_OPTIONS_INIT;
    options.older_than = cli_args_value(context->args, CLI_OPTION_OLDER_THAN);
    options.force = cli_args_has(context->args, CLI_OPTION_FORCE);
    CLI_TRY(cli_open_catalog(context, false, err));
    cli_removal_begin(&removal, context, "remove-orphans");
    options.dry_run = removal.dry;
    options.visit = cli_removal_visit;
    options.ctx = &removal;
    CLI_TRY(frz_remove_orphans(context->catalog, cli_table_name(context), &options, &report, err));
    CLI_TRY(cli_removal_end(&removal, &report, err));
out:
    return rc;
}

const cli_command cmd_remove_orphans = {
    .name = "remove-orphans",
    .usage = "TABLE [--older-than TIME] [--dry-run] [--force] [--json]",
    .summary = "remove files of a table's folder that nothing refers to",
    .text =
        "What failed commits left, results of tasks that nobody committed, metadata files of\n"
        "forgotten versions. Files of running writers look alike: a limit below a day must be\n"
        "forced. Files of other tables in folders below stay, so do hidden ones (.x, _x) and all\n"
        "that no table is made of.\n",
    .example = "  frazil remove-orphans db.wide --dry-run\n"
               "  frazil remove-orphans db.wide --older-than 7d\n",
    .options = orphan_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = orphans_run,
};
