/*
 * frazil plan: which files a scan would read, and what it would leave out; also as tasks.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static const cli_option plan_options[] = {
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B,...", "plan to read these columns"},
    {CLI_OPTION_WHERE, 0, "where", "CONDITION", "plan to read rows for which this is true"},
    {CLI_OPTION_IGNORE_CASE, 0, "ignore-case", NULL,
     "refuse names that are not unique if case is ignored"},
    CLI_SNAPSHOT_OPTIONS,
    {CLI_OPTION_WITH_LINEAGE, 0, "with-lineage", NULL,
     "with _row_id and _last_updated_sequence_number"},
    {CLI_OPTION_ROW_GROUPS, 0, "row-groups", NULL,
     "open the files, too, to tell which row groups are skipped"},
    {CLI_OPTION_SPLIT_SIZE, 0, "split-size", "BYTES",
     "size of a task; default: read.split.target-size"},
    {CLI_OPTION_OPEN_COST, 0, "open-file-cost", "BYTES",
     "least size of a file; default: read.split.open-file-cost"},
    {CLI_OPTION_TASKS, 0, "tasks", NULL, "one task per line, for frazil run-task"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code read_size(const cli_args *args, cli_option_id id, const char *name, int64_t *out,
                          frz_error *err)
{
    const char *text = cli_args_value(args, id);
    return text == NULL ? FRZ_OK : cli_parse_int64(text, 1, name, out, err);
}

static frz_code read_options(const cli_args *args, cli_names *columns, frz_plan_options *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *names = cli_args_value(args, CLI_OPTION_COLUMNS);
    cli_snapshot snapshot = {0};
    if (names != NULL) {
        CLI_TRY(cli_names_read(names, columns, err));
        out->columns = columns->names;
        out->column_count = columns->count;
    }
    CLI_TRY(cli_snapshot_read(args, &snapshot, err));
    CLI_TRY(read_size(args, CLI_OPTION_SPLIT_SIZE, "split-size", &out->target_bytes, err));
    CLI_TRY(read_size(args, CLI_OPTION_OPEN_COST, "open-file-cost", &out->open_file_bytes, err));
    out->snapshot_id = snapshot.id;
    out->as_of = snapshot.as_of;
    out->ref = snapshot.ref;
    out->where = cli_args_value(args, CLI_OPTION_WHERE);
    out->with_lineage = cli_args_has(args, CLI_OPTION_WITH_LINEAGE);
    out->ignore_case = cli_args_has(args, CLI_OPTION_IGNORE_CASE);
    out->row_groups = cli_args_has(args, CLI_OPTION_ROW_GROUPS);
out:
    return rc;
}

/* Called for each task, counted from 0. */
typedef frz_code (*task_visit)(void *ctx, const frz_task *task, int64_t number, frz_error *err);

static frz_code each_task(frz_plan *plan, task_visit visit, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task *task = NULL;
    for (int64_t number = 0; rc == FRZ_OK; number++) {
        rc = frz_plan_next(plan, &task, err);
        if (rc == FRZ_OK) {
            rc = visit(ctx, task, number, err);
            frz_task_unref(task);
        }
        if (rc == FRZ_OK && cli_interrupted()) {
            rc = cli_fail(err, FRZ_E_CANCELLED, "planning was cancelled");
        }
    }
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* ---- for people ---- */

static void put_number(cli_text *text, const char *before, int64_t value, const char *after)
{
    char number[CLI_NUMBER_TEXT];
    cli_grouped_text(value, number);
    cli_text_printf(text, "%s%s%s", before, number, after);
}

/* "all", or the rows or bytes of a part. */
static void put_part(cli_text *text, const frz_task_file *file)
{
    if (file->first_row < 0) {
        cli_text_printf(text, "groups in bytes %" PRId64 ":%" PRId64, file->first_byte,
                        file->end_byte);
    } else if (file->first_row == 0 && file->end_row == file->record_count) {
        put_number(text, "all ", file->record_count, "");
    } else {
        cli_text_printf(text, "%" PRId64 ":%" PRId64, file->first_row, file->end_row);
    }
}

static frz_code put_row(cli_table *table, const frz_task_file *file, int64_t number, frz_error *err)
{
    cli_text_printf(cli_table_cell(table), "%" PRId64, number);
    cli_table_cell_end(table);
    cli_table_put(table, file->location);
    cli_table_put(table, file->partition);
    put_part(cli_table_cell(table), file);
    cli_table_cell_end(table);
    put_number(cli_table_cell(table), "", file->size, "");
    cli_table_cell_end(table);
    put_number(cli_table_cell(table), "", file->delete_files, "");
    cli_table_cell_end(table);
    return cli_table_row(table, err);
}

static frz_code table_task(void *ctx, const frz_task *task, int64_t number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task_file file;
    for (size_t i = 0; i < frz_task_file_count(task); i++) {
        frz_task_file_get(task, i, &file);
        CLI_TRY(put_row(ctx, &file, number, err));
    }
out:
    return rc;
}

static void put_counted(cli_text *text, int64_t count, const char *one, const char *many)
{
    put_number(text, "", count, " ");
    cli_text_str(text, count == 1 ? one : many);
}

static void put_summary(cli_text *text, const frz_plan_report *r, bool row_groups)
{
    put_number(text, "manifests: ", r->manifests, "");
    put_number(text, ", skipped without live entries ", r->manifests_empty, "");
    put_number(text, ", by partition ", r->manifests_by_partition, "");
    put_number(text, ", by statistics ", r->manifests_by_statistics, "\n");
    put_number(text, "data files: ", r->files, "");
    put_number(text, ", skipped with their manifest ", r->files_in_manifests, "");
    put_number(text, ", by partition ", r->files_by_partition, "");
    put_number(text, ", by counts ", r->files_by_counts, "");
    put_number(text, ", by bounds ", r->files_by_bounds, "\n");
    if (row_groups) {
        put_number(text, "row groups: ", r->groups, "");
        put_number(text, ", skipped by statistics ", r->groups_by_statistics, "");
        put_number(text, ", by dictionaries ", r->groups_by_dictionary, "");
        put_number(text, ", by bloom filters ", r->groups_by_bloom, "");
        put_number(text, "; pages by the page index ", r->pages_by_index, "");
        put_number(text, "; rows ", r->rows_skipped, "\n");
    }
    cli_text_str(text, "to read: ");
    put_counted(text, r->files_planned, "data file, ", "data files, ");
    put_counted(text, r->delete_files, "delete file, ", "delete files, ");
    put_counted(text, r->rows_planned, "row, ", "rows, ");
    cli_text_size(text, r->bytes_planned);
    cli_text_str(text, " in ");
    put_counted(text, r->tasks, "task\n", "tasks\n");
}

static frz_code print_table(cli_context *context, frz_plan *plan, bool row_groups, frz_error *err)
{
    static const char *const titles[] = {"task", "file", "partition", "rows", "size", "deletes"};
    static const bool right[] = {true, false, false, true, true, true};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    frz_plan_report report;
    CLI_TRY(
        cli_table_begin(&table, &context->out, titles, right, sizeof right / sizeof *right, err));
    CLI_TRY(each_task(plan, table_task, &table, err));
    CLI_TRY(cli_table_end(&table, err));
    frz_plan_report_get(plan, &report);
    put_summary(&context->out.text, &report, row_groups);
out:
    cli_table_reset(&table);
    return rc;
}

/* ---- for programs ---- */

static void put_member(cli_text *text, const char *name, int64_t value)
{
    cli_text_printf(text, "%s\"%s\":%" PRId64, text->data[text->len - 1] == '{' ? "" : ",", name,
                    value);
}

static void put_string(cli_text *text, const char *name, const char *value)
{
    cli_text_printf(text, "\"%s\":", name);
    cli_text_json_string(text, value, strlen(value));
}

static void put_file(cli_text *text, const frz_task_file *file)
{
    cli_text_char(text, '{');
    put_string(text, "location", file->location);
    cli_text_char(text, ',');
    put_string(text, "partition", file->partition);
    if (file->first_row >= 0) {
        put_member(text, "first_row", file->first_row);
        put_member(text, "end_row", file->end_row);
    } else {
        put_member(text, "first_byte", file->first_byte);
        put_member(text, "end_byte", file->end_byte);
    }
    put_member(text, "size", file->size);
    put_member(text, "record_count", file->record_count);
    put_member(text, "column_files", file->column_files);
    put_member(text, "delete_files", file->delete_files);
    cli_text_char(text, '}');
}

static frz_code json_task(void *ctx, const frz_task *task, int64_t number, frz_error *err)
{
    cli_out *out = ctx;
    frz_task_file file;
    cli_text_str(&out->text, number == 0 ? "\n {\"files\":[" : ",\n {\"files\":[");
    for (size_t i = 0; i < frz_task_file_count(task); i++) {
        frz_task_file_get(task, i, &file);
        cli_text_str(&out->text, i == 0 ? "" : ",");
        put_file(&out->text, &file);
    }
    cli_text_str(&out->text, "]}");
    return cli_out_row(out, err);
}

static void put_report(cli_text *text, const frz_plan_report *r, bool row_groups)
{
    cli_text_char(text, '{');
    put_member(text, "manifests", r->manifests);
    put_member(text, "manifests_empty", r->manifests_empty);
    put_member(text, "manifests_by_partition", r->manifests_by_partition);
    put_member(text, "manifests_by_statistics", r->manifests_by_statistics);
    put_member(text, "files", r->files);
    put_member(text, "files_in_manifests", r->files_in_manifests);
    put_member(text, "files_by_partition", r->files_by_partition);
    put_member(text, "files_by_counts", r->files_by_counts);
    put_member(text, "files_by_bounds", r->files_by_bounds);
    put_member(text, "files_planned", r->files_planned);
    put_member(text, "rows_planned", r->rows_planned);
    put_member(text, "bytes_planned", r->bytes_planned);
    put_member(text, "delete_files", r->delete_files);
    put_member(text, "tasks", r->tasks);
    if (row_groups) {
        put_member(text, "groups", r->groups);
        put_member(text, "groups_by_statistics", r->groups_by_statistics);
        put_member(text, "groups_by_dictionary", r->groups_by_dictionary);
        put_member(text, "groups_by_bloom", r->groups_by_bloom);
        put_member(text, "pages_by_index", r->pages_by_index);
        put_member(text, "rows_skipped", r->rows_skipped);
    }
    cli_text_char(text, '}');
}

static frz_code print_json(cli_context *context, frz_plan *plan, bool row_groups, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text *text = &context->out.text;
    frz_plan_report report;
    frz_plan_report_get(plan, &report);
    cli_text_printf(text, "{\"snapshot_id\":%" PRId64 ",\"tasks\":[", report.snapshot_id);
    CLI_TRY(each_task(plan, json_task, &context->out, err));
    frz_plan_report_get(plan, &report);
    cli_text_str(text, "],\n \"report\":");
    put_report(text, &report, row_groups);
    cli_text_str(text, "}\n");
out:
    return rc;
}

/* ---- for frazil run-task ---- */

static frz_code write_bytes(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    cli_out *out = ctx;
    cli_text_bytes(&out->text, bytes, len);
    cli_text_char(&out->text, '\n');
    return cli_out_row(out, err);
}

static frz_code write_task(void *ctx, const frz_task *task, int64_t number, frz_error *err)
{
    (void)number;
    return frz_task_write(task, write_bytes, ctx, err);
}

/* ---- the command ---- */

static frz_code plan_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_plan_options options = FRZ_PLAN_OPTIONS_INIT;
    cli_names columns = {0};
    frz_plan *plan = NULL;
    CLI_TRY(read_options(context->args, &columns, &options, err));
    CLI_TRY(cli_open_table(context, err));
    CLI_TRY(frz_plan_open(context->table, &options, &plan, err));
    if (cli_args_has(context->args, CLI_OPTION_TASKS)) {
        rc = each_task(plan, write_task, &context->out, err);
    } else {
        rc =
            (context->json ? print_json : print_table)(context, plan, options.row_groups != 0, err);
    }
out:
    frz_plan_close(plan);
    cli_names_reset(&columns);
    return rc;
}

const cli_command cmd_plan = {
    .name = "plan",
    .usage = "TABLE [--columns A,B,...] [--where CONDITION] [--ignore-case]\n"
             "                   [--snapshot ID | --as-of TIME | --ref NAME] [--with-lineage]\n"
             "                   [--split-size BYTES] [--open-file-cost BYTES]\n"
             "                   [--row-groups] [--tasks | --json]",
    .summary = "show which files a scan would read, and what it skips and why",
    .text =
        "The data files, or parts of them, that a scan with these options would read, put into\n"
        "tasks of about one size: large files are split at row groups, small ones combined. Below\n"
        "it stands what each level left out. No data file is opened, except with --row-groups.\n"
        "--tasks prints the tasks themselves, one line of JSON each, which frazil run-task runs\n"
        "here or elsewhere; the rows of all of them are those of the scan.\n",
    .example = "  frazil plan db.wide --where \"id < 5\"\n"
               "  frazil plan db.wide --columns id,c_1 --row-groups --json\n"
               "  frazil plan db.wide --tasks | while read -r task; do\n"
               "      echo \"$task\" | frazil run-task - --format jsonl; done\n",
    .options = plan_options,
    .flags = CLI_TAKES_TABLE,
    .min_words = 1,
    .max_words = 1,
    .run = plan_run,
};
