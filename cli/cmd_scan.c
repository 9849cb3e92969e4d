/*
 * frazil scan: rows of a table without SQL around them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_option scan_options[] = {
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B,...",
     "these columns, in this order; \"quoted\" if need be"},
    {CLI_OPTION_WHERE, 0, "where", "CONDITION", "only rows for which this is true"},
    {CLI_OPTION_LIMIT, 0, "limit", "N", "stop after so many rows"},
    {CLI_OPTION_SNAPSHOT, 0, "snapshot", "ID", "the table as it was; frazil snapshots lists them"},
    {CLI_OPTION_WITH_LINEAGE, 0, "with-lineage", NULL,
     "add _row_id and _last_updated_sequence_number"},
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json or parquet"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

/* ---- --columns ---- */

/* Names cut out of the option's value: one block of text and pointers into it. */
typedef struct name_list {
    char *block;
    const char **names;
    size_t count;
} name_list;

static void name_list_reset(name_list *list)
{
    free(list->block);
    free(list->names);
    *list = (name_list){0};
}

/* Copy one name to *to; returns where it ended. Inside double quotes "" is a quote. */
static const char *copy_name(const char *at, char **to)
{
    bool quoted = false;
    at += strspn(at, " ");
    char *start = *to;
    char *keep = start; /* end of what blanks at the end must not take away */
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (*at == '"' && quoted && at[1] == '"') {
            at++;
        } else if (*at == '"') {
            quoted = !quoted;
            continue;
        }
        *(*to)++ = *at;
        keep = *at != ' ' || quoted ? *to : keep;
    }
    *to = keep;
    *(*to)++ = '\0';
    return at;
}

static frz_code name_list_read(const char *text, name_list *out, frz_error *err)
{
    size_t len = strlen(text);
    name_list list = {.block = malloc(2 * len + 2), .names = calloc(len + 2, sizeof *list.names)};
    char *to = list.block;
    if (list.block == NULL || list.names == NULL) {
        name_list_reset(&list);
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for --columns");
    }
    for (const char *at = text;; at++) {
        list.names[list.count] = to;
        at = copy_name(at, &to);
        if (*list.names[list.count++] == '\0') {
            name_list_reset(&list);
            return cli_fail(err, FRZ_E_ARGUMENT,
                            "--columns: expected names with commas between, found \"%s\"", text);
        }
        if (*at == '\0') {
            break;
        }
    }
    *out = list;
    return FRZ_OK;
}

/* ---- the command ---- */

static frz_code read_options(const cli_args *args, name_list *columns, frz_scan_options *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *names = cli_args_value(args, CLI_OPTION_COLUMNS);
    const char *limit = cli_args_value(args, CLI_OPTION_LIMIT);
    const char *snapshot = cli_args_value(args, CLI_OPTION_SNAPSHOT);
    if (names != NULL) {
        CLI_TRY(name_list_read(names, columns, err));
        out->columns = columns->names;
        out->column_count = columns->count;
    }
    if (limit != NULL) {
        CLI_TRY(cli_parse_int64(limit, 0, "limit", &out->limit, err));
    }
    if (snapshot != NULL) {
        CLI_TRY(cli_parse_int64(snapshot, 1, "snapshot", &out->snapshot_id, err));
    }
    out->where = cli_args_value(args, CLI_OPTION_WHERE);
    out->with_lineage = cli_args_has(args, CLI_OPTION_WITH_LINEAGE);
out:
    return rc;
}

static frz_code scan_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    struct ArrowArrayStream stream = {0};
    name_list columns = {0};
    frz_scan *scan = NULL;
    cli_answer answer;
    CLI_TRY(cli_answer_plan(context, &answer, err));
    CLI_TRY(read_options(context->args, &columns, &options, err));
    CLI_TRY(cli_open_table(context, err));
    CLI_TRY(frz_scan_open(context->table, &options, &scan, err));
    CLI_TRY(frz_scan_export(scan, &stream, err));
    CLI_TRY(cli_answer_rows(context, &answer, &stream, err));
out:
    cli_stream_release(&stream);
    name_list_reset(&columns);
    return rc;
}

const cli_command cmd_scan = {
    .name = "scan",
    .usage = "TABLE [--columns A,B,...] [--where CONDITION] [--limit N] [--snapshot ID]\n"
             "                   [--with-lineage] [--format FORMAT] [-o FILE [--force]]",
    .summary = "print or export rows of a table",
    .text =
        "Column files are stitched in and deleted rows are left out. Only the columns asked for\n"
        "are read, and files that cannot hold a matching row are skipped. With --metadata FILE\n"
        "the table is read from that metadata file and TABLE is left out.\n",
    .example = "  frazil scan db.wide --limit 10\n"
               "  frazil scan db.wide --columns id,c_1 --where \"id < 5\"\n"
               "  frazil scan db.wide --columns id,c_1 --format csv -o c_1.csv\n"
               "  frazil scan db.wide --snapshot 4358109269873137077 --format jsonl\n"
               "  frazil scan --metadata t/metadata/v3.metadata.json --map-location "
               "s3://lake/=/mnt/lake/\n",
    .options = scan_options,
    .flags = CLI_TAKES_TABLE,
    .min_words = 1,
    .max_words = 1,
    .run = scan_run,
};
