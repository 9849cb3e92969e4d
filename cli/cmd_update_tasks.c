/*
 * frazil update-plan, update-task, update-commit: a column update in three steps, for schedulers.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define TASK_MAX ((size_t)256 << 20)
#define RESULTS_MAX ((size_t)4 << 30)

static frz_code write_line(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    cli_out *out = ctx;
    cli_text_bytes(&out->text, bytes, len);
    cli_text_char(&out->text, '\n');
    return cli_out_row(out, err);
}

/* The lines of a file behind those of others. */
static frz_code add_results(const char *file, cli_text *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text text = {0};
    CLI_TRY(cli_input_read(file, "the results", RESULTS_MAX, &text, err));
    cli_text_bytes(out, text.data, text.len);
    cli_text_char(out, '\n');
    rc = out->failed != FRZ_OK ? cli_fail(err, out->failed, "out of memory for the results")
                               : FRZ_OK;
out:
    cli_text_reset(&text);
    return rc;
}

/* ---- planning ---- */

/* What --set says, each part in memory of its own. */
typedef struct assignments {
    frz_assignment *list;
    size_t count;
} assignments;

static void assignments_reset(assignments *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free((char *)(uintptr_t)all->list[i].column);
        free((char *)(uintptr_t)all->list[i].expression);
    }
    free(all->list);
}

static frz_code assignments_read(const cli_args *args, assignments *out, frz_error *err)
{
    out->list = calloc(cli_args_count(args, CLI_OPTION_SET) + 1, sizeof *out->list);
    if (out->list == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for --set");
    }
    for (size_t i = 0; i < args->given_count; i++) {
        char *column = NULL, *expression = NULL;
        if (args->given[i].id != CLI_OPTION_SET) {
            continue;
        }
        frz_code rc = cli_split_pair(args->given[i].value, "set", &column, &expression, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        out->list[out->count++] = (frz_assignment){column, expression};
    }
    return out->count > 0 ? FRZ_OK : cli_fail(err, FRZ_E_ARGUMENT, "expected --set at least once");
}

static frz_code read_source(const cli_args *args, cli_source *source, frz_update_plan_options *out,
                            frz_error *err)
{
    const char *name = cli_args_value(args, CLI_OPTION_SOURCE_NAME);
    frz_code rc = cli_source_read(args, source, err);
    source->rows.name = name;
    out->source = cli_args_count(args, CLI_OPTION_FROM) > 0 ? &source->rows : NULL;
    return rc == FRZ_OK && name != NULL && out->source == NULL
               ? cli_fail(err, FRZ_E_ARGUMENT, "--source-name is of use only with --from")
               : rc;
}

static frz_code read_options(const cli_args *args, cli_text *results, frz_update_plan_options *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *size = cli_args_value(args, CLI_OPTION_SPLIT_SIZE);
    const char *cost = cli_args_value(args, CLI_OPTION_OPEN_COST);
    if (size != NULL) {
        CLI_TRY(cli_parse_int64(size, 1, "split-size", &out->target_bytes, err));
    }
    if (cost != NULL) {
        CLI_TRY(cli_parse_int64(cost, 1, "open-file-cost", &out->open_file_bytes, err));
    }
    for (size_t i = 0; i < args->given_count; i++) {
        if (args->given[i].id == CLI_OPTION_RESULTS) {
            CLI_TRY(add_results(args->given[i].value, results, err));
        }
    }
    out->results = results->data;
    out->results_len = results->len;
out:
    return rc;
}

static frz_code print_tasks(cli_context *context, frz_update_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK) {
        rc = frz_update_plan_next(plan, write_line, &context->out, err);
        if (rc == FRZ_OK && cli_interrupted()) {
            rc = cli_fail(err, FRZ_E_CANCELLED, "planning was cancelled");
        }
    }
    return rc == FRZ_END ? FRZ_OK : rc;
}

static frz_code update_plan_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_update_plan_options options = FRZ_UPDATE_PLAN_OPTIONS_INIT;
    frz_update_plan *plan = NULL;
    assignments set = {0};
    cli_source source = {0};
    cli_text results = {0};
    CLI_TRY(assignments_read(context->args, &set, err));
    CLI_TRY(read_source(context->args, &source, &options, err));
    CLI_TRY(read_options(context->args, &results, &options, err));
    CLI_TRY(cli_open_table(context, err));
    CLI_TRY(frz_update_plan_open(context->table, set.list, set.count,
                                 cli_args_value(context->args, CLI_OPTION_WHERE), &options, &plan,
                                 err));
    rc = print_tasks(context, plan, err);
out:
    frz_update_plan_close(plan);
    assignments_reset(&set);
    cli_source_reset(&source);
    cli_text_reset(&results);
    return rc;
}

static const cli_option update_plan_options[] = {
    {CLI_OPTION_SET, 0, "set", "COLUMN=EXPRESSION", "what to update; once for each column"},
    {CLI_OPTION_FROM, 0, "from", "FILE",
     "Parquet, Arrow or Avro file that values come from; files may be several"},
    {CLI_OPTION_SOURCE_NAME, 0, "source-name", "NAME",
     "what expressions call the rows of --from; default: source"},
    {CLI_OPTION_WHERE, 0, "where", "CONDITION",
     "update rows for which this is true; with --from, also which row of it belongs to a row"},
    {CLI_OPTION_RESULTS, 0, "results", "FILE",
     "leave out what these results have done; may be given several times"},
    {CLI_OPTION_SPLIT_SIZE, 0, "split-size", "BYTES",
     "size of a task; default: read.split.target-size"},
    {CLI_OPTION_OPEN_COST, 0, "open-file-cost", "BYTES",
     "least size of a file; default: read.split.open-file-cost"},
    {0, 0, NULL, NULL, NULL},
};

const cli_command cmd_update_plan = {
    .name = "update-plan",
    .usage = "TABLE --set COLUMN=EXPRESSION... [--where CONDITION]\n"
             "                          [--from FILE... [--source-name NAME]]\n"
             "                          [--results FILE]... [--split-size BYTES]\n"
             "                          [--open-file-cost BYTES]",
    .summary = "cut a column update into tasks for any scheduler",
    .text = "Prints tasks, one line of JSON each. frazil update-task runs one, anywhere where the\n"
            "table's files can be reached, and prints its result; frazil update-commit takes the\n"
            "results of all of them. When others changed the table meanwhile, so that the commit\n"
            "conflicts, a plan with --results has tasks for the data files concerned only.\n"
            "With --from it is UPDATE ... FROM: each task reads these files, which have to be\n"
            "where they are when it runs.\n",
    .example =
        "  frazil update-plan db.wide --set \"c_1=c_1 + 1\" --where \"id % 10 = 0\" > tasks\n"
        "  xargs -d '\\n' -n 1 -P 8 sh -c 'echo \"$0\" | frazil update-task' \\\n"
        "      < tasks > results\n"
        "  frazil update-commit db.wide results\n"
        "  frazil update-plan db.wide --set \"score=s.score\" --from scores.parquet \\\n"
        "      --source-name s --where \"wide.id = s.id\" > tasks\n",
    .options = update_plan_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = update_plan_run,
};

/* ---- running a task ---- */

static const cli_option no_options[] = {
    {0, 0, NULL, NULL, NULL},
};

static frz_code update_task_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text text = {0};
    const char *file = context->args->word_count > 0 ? context->args->words[0] : "-";
    CLI_TRY(cli_input_read(file, "the task", TASK_MAX, &text, err));
    CLI_TRY(frz_update_task_run(context->env, text.data, text.len, write_line, &context->out, err));
out:
    cli_text_reset(&text);
    return rc;
}

const cli_command cmd_update_task = {
    .name = "update-task",
    .usage = "[FILE | -]",
    .summary = "run a task that frazil update-plan made",
    .text = "A task is one line of what frazil update-plan prints; without FILE, or with -, it is\n"
            "read from standard input. The column files are written where the table's other data\n"
            "files are, but are no part of the table before their result is committed: the result\n"
            "is printed as one line of JSON. No catalog is needed.\n",
    .example = "  frazil update-plan db.wide --set \"c_1=c_1 + 1\" | split -l 1 - task.\n"
               "  frazil update-task task.aa > result.aa\n",
    .options = no_options,
    .min_words = 0,
    .max_words = 1,
    .run = update_task_run,
};

/* ---- committing results ---- */

static frz_code update_commit_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text results = {0};
    frz_commit_report report = {0};
    for (size_t i = 1; i < context->args->word_count; i++) {
        CLI_TRY(add_results(context->args->words[i], &results, err));
    }
    CLI_TRY(cli_open_catalog(context, false, err));
    CLI_TRY(frz_update_commit(context->catalog, cli_table_name(context), results.data, results.len,
                              &report, err));
    cli_report_print(context, "update", cli_table_name(context), &report);
out:
    cli_text_reset(&results);
    return rc;
}

const cli_command cmd_update_commit = {
    .name = "update-commit",
    .usage = "TABLE FILE...",
    .summary = "commit the results of the tasks of a column update",
    .text = "Files hold lines that frazil update-task printed, in any order; - is standard input.\n"
            "All become part of the table in one commit, or none. Exit status 4: others changed\n"
            "what tasks read, or added rows; plan again with --results, run the tasks that are\n"
            "printed and commit all results, old and new. Results that are never committed leave\n"
            "files behind that nothing refers to.\n",
    .example = "  frazil update-commit db.wide results\n"
               "  cat result.* | frazil update-commit db.wide -\n",
    .options = no_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 2,
    .max_words = SIZE_MAX,
    .run = update_commit_run,
};
