/*
 * frazil changes: what snapshots changed, by files or by rows.
 */
#include "cli.h"

static const cli_option changes_options[] = {
    {CLI_OPTION_FROM, 0, "from", "ID", "changes after this snapshot; frazil snapshots lists them"},
    {CLI_OPTION_TO, 0, "to", "ID", "the last snapshot; default: the current one"},
    {CLI_OPTION_ROWS, 0, "rows", NULL, "changed rows instead of changed files"},
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B,...",
     "these columns, in this order; \"quoted\" if need be"},
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json, parquet or arrow"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

/* Of files without --columns: which snapshot it was only matters if there are several. */
static const char *const file_columns[] = {"_commit_snapshot_id", "location", "kind"};

static frz_code read_options(const cli_args *args, cli_names *columns, frz_changes_options *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *names = cli_args_value(args, CLI_OPTION_COLUMNS);
    const char *from = cli_args_value(args, CLI_OPTION_FROM);
    const char *to = cli_args_value(args, CLI_OPTION_TO);
    if (names != NULL) {
        CLI_TRY(cli_names_read(names, columns, err));
        out->columns = columns->names;
        out->column_count = columns->count;
    } else if (!cli_args_has(args, CLI_OPTION_ROWS)) {
        size_t first = from != NULL ? 0 : 1;
        out->columns = file_columns + first;
        out->column_count = sizeof file_columns / sizeof *file_columns - first;
    }
    if (from != NULL) {
        CLI_TRY(cli_parse_int64(from, 1, "from", &out->from_snapshot_id, err));
    }
    if (to != NULL) {
        CLI_TRY(cli_parse_int64(to, 1, "to", &out->to_snapshot_id, err));
    }
out:
    return rc;
}

static frz_code changes_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_changes_options options = FRZ_CHANGES_OPTIONS_INIT;
    struct ArrowArrayStream stream = {0};
    cli_names columns = {0};
    cli_answer answer;
    CLI_TRY(cli_answer_plan(context, &answer, err));
    if (context->json && !cli_args_has(context->args, CLI_OPTION_FORMAT)) {
        answer.format = CLI_FORMAT_JSONL; /* a feed is read line by line */
    }
    CLI_TRY(read_options(context->args, &columns, &options, err));
    CLI_TRY(cli_open_table(context, err));
    CLI_TRY(cli_args_has(context->args, CLI_OPTION_ROWS)
                ? frz_changes_rows(context->table, &options, &stream, err)
                : frz_changes_files(context->table, &options, &stream, err));
    rc = cli_answer_rows(context, &answer, &stream, err);
out:
    cli_stream_release(&stream);
    cli_names_reset(&columns);
    return rc;
}

const cli_command cmd_changes = {
    .name = "changes",
    .usage = "TABLE [--from ID] [--to ID] [--rows] [--columns A,B,...]\n"
             "                      [--json] [--format FORMAT] [-o FILE [--force]]",
    .summary = "tell what a snapshot changed, by files or by rows",
    .text =
        "The current snapshot against its parent; with --from every snapshot after that one, each\n"
        "against its own parent. Files are added, removed, or have got other column files or\n"
        "deleted rows (dv). With --rows: rows that were inserted, deleted, and updated, before\n"
        "and after; of updates only the columns that changed, unless --columns names some. What\n"
        "only moved rows, such as a compaction, changes none. Rows that went with a parent that\n"
        "has expired cannot be told, which is said at once. With --json one object a line.\n",
    .example = "  frazil changes db.wide\n"
               "  frazil changes db.wide --rows\n"
               "  frazil changes db.wide --from 4358109269873137077 --rows --columns id,c_1\n"
               "  frazil changes --metadata /mnt/lake/t --map-location s3://lake/=/mnt/lake/\n",
    .options = changes_options,
    .flags = CLI_TAKES_TABLE,
    .min_words = 1,
    .max_words = 1,
    .run = changes_run,
};
