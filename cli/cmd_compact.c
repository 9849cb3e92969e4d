/*
 * frazil compact: column files are folded into new data files, or joined.
 */
#include <inttypes.h>

#include "cli.h"

static const cli_option compact_options[] = {
    {CLI_OPTION_REWRITE, 0, "rewrite", NULL, "fold column files into new data files; the default"},
    {CLI_OPTION_COLUMNS_ONLY, 0, "columns", NULL, "make one column file of several"},
    {CLI_OPTION_POLICY, 0, "policy", NULL, "what the table's properties ask for, file by file"},
    {CLI_OPTION_DRY_RUN, 0, "dry-run", NULL, "only tell what would be read and written"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code read_mode(const cli_args *args, frz_compact_mode *mode, frz_error *err)
{
    bool rewrite = cli_args_has(args, CLI_OPTION_REWRITE);
    bool columns = cli_args_has(args, CLI_OPTION_COLUMNS_ONLY);
    bool policy = cli_args_has(args, CLI_OPTION_POLICY);
    if (rewrite + columns + policy > 1) {
        return cli_fail(err, FRZ_E_ARGUMENT,
                        "compact: only one of --rewrite, --columns and --policy can be done");
    }
    *mode = columns ? FRZ_COMPACT_COLUMNS : policy ? FRZ_COMPACT_POLICY : FRZ_COMPACT_REWRITE;
    return FRZ_OK;
}

/* What is written is known when it is written; what is read is the most that it can be. */
static void print_figures(cli_context *context, const frz_compact_figures *figures)
{
    cli_text *text = &context->out.text;
    if (context->json) {
        cli_text_str(text, "{\"command\":\"compact\",\"dry_run\":true,");
        cli_text_printf(text, "\"rewritten\":%" PRId64 ",\"joined\":%" PRId64, figures->rewritten,
                        figures->joined);
        cli_text_printf(text, ",\"combined\":%" PRId64, figures->combined);
        cli_text_printf(text, ",\"read_bytes\":%" PRId64 "}\n", figures->read_bytes);
        return;
    }
    if (context->quiet) {
        return;
    }
    cli_text_printf(text, "would compact %s\n", cli_table_name(context));
    cli_text_printf(text, "  %-17s %" PRId64 "\n", "data files", figures->rewritten);
    cli_text_printf(text, "  %-17s %" PRId64 "\n", "only columns of", figures->joined);
    cli_text_printf(text, "  %-17s %" PRId64 "\n", "small files", figures->combined);
    cli_text_printf(text, "  %-17s ", "reads");
    cli_text_size(text, figures->read_bytes);
    cli_text_printf(text, "\n  %-17s at most about as much\n", "writes");
}

static frz_code compact_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit_report report = {0};
    frz_compact_figures figures = {0};
    frz_compact_options options = FRZ_COMPACT_OPTIONS_INIT;
    options.dry_run = cli_args_has(context->args, CLI_OPTION_DRY_RUN);
    CLI_TRY(read_mode(context->args, &options.mode, err));
    CLI_TRY(cli_open_catalog(context, false, err));
    CLI_TRY(frz_compact_by(context->catalog, cli_table_name(context), &options, &report, &figures,
                           err));
    if (options.dry_run) {
        print_figures(context, &figures);
    } else {
        cli_report_print(context, "compact", cli_table_name(context), &report);
    }
out:
    return rc;
}

const cli_command cmd_compact = {
    .name = "compact",
    .usage = "TABLE [--rewrite | --columns | --policy] [--dry-run] [--json]",
    .summary = "fold column files back into data files",
    .text =
        "Each data file with column files is replaced by one that holds everything. Encoded\n"
        "columns that did not change are copied, not decoded. With --columns the data files stay,\n"
        "and of several column files one is made, which costs no more than these. Row ids and the\n"
        "sequence numbers of rows stay what they were, and earlier snapshots stay readable.\n",
    .example = "  frazil compact db.wide\n"
               "  frazil compact db.wide --columns\n"
               "  frazil compact db.wide --policy --dry-run\n",
    .options = compact_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = compact_run,
};
