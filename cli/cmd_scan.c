/*
 * frazil scan: rows of a table without SQL around them.
 */
#include "cli.h"

static const cli_option scan_options[] = {
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B,...",
     "these columns, in this order; \"quoted\" if need be"},
    {CLI_OPTION_WHERE, 0, "where", "CONDITION", "only rows for which this is true"},
    {CLI_OPTION_IGNORE_CASE, 0, "ignore-case", NULL,
     "refuse names that are not unique if case is ignored"},
    {CLI_OPTION_LIMIT, 0, "limit", "N", "stop after so many rows"},
    CLI_SNAPSHOT_OPTIONS,
    {CLI_OPTION_WITH_LINEAGE, 0, "with-lineage", NULL,
     "add _row_id and _last_updated_sequence_number"},
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json, parquet or arrow"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_REPORT, 0, "report", NULL, "tell on standard error what was read and skipped"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code read_options(const cli_args *args, cli_names *columns, frz_scan_options *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *names = cli_args_value(args, CLI_OPTION_COLUMNS);
    const char *limit = cli_args_value(args, CLI_OPTION_LIMIT);
    cli_snapshot snapshot = {0};
    if (names != NULL) {
        CLI_TRY(cli_names_read(names, columns, err));
        out->columns = columns->names;
        out->column_count = columns->count;
    }
    if (limit != NULL) {
        CLI_TRY(cli_parse_int64(limit, 0, "limit", &out->limit, err));
    }
    CLI_TRY(cli_snapshot_read(args, &snapshot, err));
    out->snapshot_id = snapshot.id;
    out->as_of = snapshot.as_of;
    out->ref = snapshot.ref;
    out->where = cli_args_value(args, CLI_OPTION_WHERE);
    out->ignore_case = cli_args_has(args, CLI_OPTION_IGNORE_CASE);
    out->with_lineage = cli_args_has(args, CLI_OPTION_WITH_LINEAGE);
out:
    return rc;
}

static frz_code scan_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    struct ArrowArrayStream stream = {0};
    cli_names columns = {0};
    frz_scan *scan = NULL;
    cli_answer answer;
    CLI_TRY(cli_answer_plan(context, &answer, err));
    CLI_TRY(read_options(context->args, &columns, &options, err));
    CLI_TRY(cli_open_table(context, err));
    CLI_TRY(frz_scan_open(context->table, &options, &scan, err));
    CLI_TRY(frz_scan_export(scan, &stream, err));
    CLI_TRY(cli_answer_rows(context, &answer, &stream, err));
    if (cli_args_has(context->args, CLI_OPTION_REPORT)) {
        CLI_TRY(cli_scan_report_print(context, scan, err));
    }
out:
    cli_stream_release(&stream);
    cli_names_reset(&columns);
    return rc;
}

const cli_command cmd_scan = {
    .name = "scan",
    .usage = "TABLE [--columns A,B,...] [--where CONDITION] [--ignore-case] [--limit N]\n"
             "                   [--snapshot ID | --as-of TIME | --ref NAME]\n"
             "                   [--with-lineage] [--report] [--format FORMAT] [-o FILE [--force]]",
    .summary = "print or export rows of a table",
    .text =
        "Column files are stitched in and deleted rows are left out. Only the columns asked for\n"
        "are read; files, and row groups and pages in them, that cannot hold a matching row are\n"
        "skipped. With --metadata the table is read from a metadata file, or from the newest one "
        "of\n"
        "a table's folder, and TABLE is left out.\n",
    .example = "  frazil scan db.wide --limit 10\n"
               "  frazil scan db.wide --columns id,c_1 --where \"id < 5\"\n"
               "  frazil scan db.wide --columns id,c_1 --format csv -o c_1.csv\n"
               "  frazil scan db.wide --snapshot 4358109269873137077 --format jsonl\n"
               "  frazil scan db.wide --as-of 2026-11-01T00:00:00Z\n"
               "  frazil scan --metadata /mnt/lake/t --map-location s3://lake/=/mnt/lake/\n",
    .options = scan_options,
    .flags = CLI_TAKES_TABLE,
    .min_words = 1,
    .max_words = 1,
    .run = scan_run,
};
