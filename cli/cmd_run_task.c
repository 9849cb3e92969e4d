/*
 * frazil run-task: the rows of one task of a plan.
 */
#include <string.h>

#include "cli.h"

#define TASK_MAX ((size_t)256 << 20)

static const cli_option run_task_options[] = {
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json, parquet or arrow"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_REPORT, 0, "report", NULL, "tell on standard error what was read and skipped"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code open_task(cli_context *context, frz_task **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table_open_options options = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_location_map *maps = NULL;
    cli_text text = {0};
    const char *file = context->args->word_count > 0 ? context->args->words[0] : "-";
    CLI_TRY(cli_maps_read(context, &maps, &options.map_count, err));
    options.maps = maps;
    CLI_TRY(cli_input_read(file, "the task", TASK_MAX, &text, err));
    CLI_TRY(frz_task_parse(context->env, text.data, text.len, &options, out, err));
out:
    cli_maps_free(maps, options.map_count);
    cli_text_reset(&text);
    return rc;
}

static frz_code run_task_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    frz_task *task = NULL;
    frz_scan *scan = NULL;
    cli_answer answer;
    CLI_TRY(cli_answer_plan(context, &answer, err));
    CLI_TRY(open_task(context, &task, err));
    CLI_TRY(frz_task_scan(task, &scan, err));
    CLI_TRY(frz_scan_export(scan, &stream, err));
    CLI_TRY(cli_answer_rows(context, &answer, &stream, err));
    if (cli_args_has(context->args, CLI_OPTION_REPORT)) {
        CLI_TRY(cli_scan_report_print(context, scan, err));
    }
out:
    cli_stream_release(&stream);
    frz_task_unref(task);
    return rc;
}

const cli_command cmd_run_task = {
    .name = "run-task",
    .usage = "[FILE | -] [--report] [--format FORMAT] [-o FILE [--force]]",
    .summary = "print or export the rows of a task that frazil plan made",
    .text =
        "A task is one line of what frazil plan --tasks prints; without FILE, or with -, it is\n"
        "read from standard input. It names the table's metadata file and its data files, which\n"
        "must be reachable from here: --map-location says where they really are. No catalog is\n"
        "needed and no manifest is read.\n",
    .example = "  frazil plan db.wide --tasks | split -l 1 - task.\n"
               "  frazil run-task task.aa --format parquet -o part-0.parquet\n",
    .options = run_task_options,
    .min_words = 0,
    .max_words = 1,
    .run = run_task_run,
};
