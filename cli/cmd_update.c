/*
 * frazil update: new values for some columns from files or another table.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define ROW_ID "_row_id"

/* What is asked for, in the words of the library. */
typedef struct update_request {
    cli_names columns, keys;
    cli_source source;
    bool by_position;
    cli_text *texts; /* of the assignments */
    frz_assignment *assignments;
    cli_text where;
} update_request;

static void request_reset(update_request *request)
{
    for (size_t i = 0; request->texts != NULL && i < request->columns.count; i++) {
        cli_text_reset(&request->texts[i]);
    }
    free(request->texts);
    free(request->assignments);
    cli_source_reset(&request->source);
    cli_text_reset(&request->where);
    cli_names_reset(&request->columns);
    cli_names_reset(&request->keys);
}

static void append_name(cli_text *text, const char *name)
{
    cli_text_char(text, '"');
    for (; *name != '\0'; name++) {
        cli_text_char(text, *name);
        if (*name == '"') {
            cli_text_char(text, '"');
        }
    }
    cli_text_char(text, '"');
}

static void append_column(cli_text *text, const char *table, const char *column)
{
    append_name(text, table);
    cli_text_char(text, '.');
    append_name(text, column);
}

/* ---- where the values come from ---- */

/* They are called by what --from says. */
static frz_code read_source(const cli_args *args, update_request *request, frz_error *err)
{
    frz_code rc = cli_source_read(args, &request->source, err);
    request->source.rows.name = cli_args_value(args, CLI_OPTION_FROM);
    return rc == FRZ_OK && request->source.rows.name == NULL
               ? cli_fail(err, FRZ_E_ARGUMENT,
                          "--from is missing: a file or a table with the values")
               : rc;
}

/* ---- which row gets which ---- */

static frz_code read_keys(const cli_args *args, const char *table, update_request *request,
                          frz_error *err)
{
    const char *by = cli_args_value(args, CLI_OPTION_BY);
    const char *source = request->source.rows.name;
    if (by == NULL) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--by is missing: position, row-id or key columns");
    }
    request->by_position = strcmp(by, "position") == 0;
    if (request->by_position) {
        return FRZ_OK;
    }
    frz_code rc = cli_names_read(strcmp(by, "row-id") == 0 ? ROW_ID : by, &request->keys, err);
    for (size_t i = 0; rc == FRZ_OK && i < request->keys.count; i++) {
        cli_text_str(&request->where, i == 0 ? "" : " AND ");
        append_column(&request->where, table, request->keys.names[i]);
        cli_text_str(&request->where, " = ");
        append_column(&request->where, source, request->keys.names[i]);
    }
    return rc;
}

static frz_code read_columns(const cli_args *args, update_request *request, frz_error *err)
{
    const char *names = cli_args_value(args, CLI_OPTION_COLUMNS);
    if (names == NULL) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--columns is missing: which columns get values");
    }
    frz_code rc = cli_names_read(names, &request->columns, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    request->texts = calloc(request->columns.count, sizeof *request->texts);
    request->assignments = calloc(request->columns.count, sizeof *request->assignments);
    if (request->texts == NULL || request->assignments == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", request->columns.count);
    }
    for (size_t i = 0; i < request->columns.count; i++) {
        const char *column = request->columns.names[i];
        append_column(&request->texts[i], request->source.rows.name, column);
        request->assignments[i] = (frz_assignment){column, cli_text_c(&request->texts[i])};
        if (request->assignments[i].expression == NULL) {
            return cli_fail(err, FRZ_E_NOMEM, "out of memory for column %s", column);
        }
    }
    return FRZ_OK;
}

static frz_code request_read(const cli_args *args, const char *table, update_request *request,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    CLI_TRY(read_source(args, request, err));
    CLI_TRY(read_columns(args, request, err));
    CLI_TRY(read_keys(args, table, request, err));
out:
    return rc;
}

/* ---- the command ---- */

static frz_code update_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *table = cli_table_name(context);
    update_request request = {0};
    frz_commit_report report = {0};
    CLI_TRY(request_read(context->args, table, &request, err));
    CLI_TRY(cli_open_catalog(context, false, err));
    if (request.by_position) {
        CLI_TRY(frz_update_columns_by_position(context->catalog, table, request.assignments,
                                               request.columns.count, &request.source.rows, &report,
                                               err));
    } else {
        const char *where = cli_text_c(&request.where);
        CLI_TRY(where == NULL ? cli_fail(err, FRZ_E_NOMEM, "out of memory for the keys")
                              : frz_update_columns_from(context->catalog, table, table,
                                                        request.assignments, request.columns.count,
                                                        &request.source.rows, where, &report, err));
    }
    cli_report_print(context, "update", table, &report);
out:
    request_reset(&request);
    return rc;
}

static const cli_option update_options[] = {
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B,...", "the columns that get new values"},
    {CLI_OPTION_FROM, 0, "from", "FILE|TABLE",
     "Parquet or Arrow file with columns of these names, or another table; files may be several"},
    {CLI_OPTION_BY, 0, "by", "WAY",
     "position, row-id, or the names of key columns: which row gets which values"},
    {0, 0, NULL, NULL, NULL},
};

const cli_command cmd_update = {
    .name = "update",
    .usage = "TABLE --columns A,B,... --from FILE|TABLE --by position|row-id|KEY,...",
    .summary = "give columns new values from a file or another table",
    .text =
        "By position: the rows of the file are in the order of a scan of the table, one for each\n"
        "of its rows; nothing has to be looked up. By row-id: the file has a column _row_id. By\n"
        "key: the values of these columns say which row is meant; each key comes once in the\n"
        "file. Rows that the file lacks keep their values; rows that the table lacks are\n"
        "counted in the report. UPDATE ... FROM does the same with expressions and conditions.\n",
    .example = "  frazil update db.wide --columns c_7,c_9 --from values.arrow --by position\n"
               "  frazil update db.wide --columns score --from scores.parquet --by id\n"
               "  frazil update db.wide --columns score --from db.scores --by day,id --json\n",
    .options = update_options,
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 1,
    .max_words = 1,
    .run = update_run,
};
