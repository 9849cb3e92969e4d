/*
 * frazil cat: the rows of a file, without a table around it.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "cli.h"

static const cli_option cat_options[] = {
    {CLI_OPTION_COLUMNS, 0, "columns", "A,B.C,...",
     "these columns or parts of them, in this order"},
    {CLI_OPTION_ROWS, 0, "rows", "FROM:TO",
     "rows from FROM up to before TO, counted from 0; negative: from the end"},
    {CLI_OPTION_WHERE, 0, "where", "CONDITION", "only rows for which this is true"},
    {CLI_OPTION_IGNORE_CASE, 0, "ignore-case", NULL,
     "refuse a file in which names differ only in case"},
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json, parquet or arrow"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_REPORT, 0, "report", NULL,
     "tell on standard error what was skipped of a Parquet file"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

/* ---- --rows ---- */

/* Ends of a range as they were given: negative ones count from the end of the file. */
typedef struct row_span {
    int64_t from, to;
    bool open; /* to was left out: up to the end */
} row_span;

/* The number that starts at *at, if there is one. */
static bool take_number(const char **at, int64_t *out)
{
    char *end = NULL;
    if (**at != '-' && (**at < '0' || **at > '9')) {
        return false;
    }
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    *out = value;
    bool good = end != *at && errno == 0;
    *at = end;
    return good;
}

static frz_code row_span_read(const char *text, row_span *out, frz_error *err)
{
    row_span span = {.open = true};
    const char *at = text;
    bool good = *at == ':' || take_number(&at, &span.from);
    good = good && *at++ == ':';
    if (good && *at != '\0') {
        good = take_number(&at, &span.to) && *at == '\0';
        span.open = false;
    }
    if (good && !span.open && span.from > span.to && (span.from < 0) == (span.to < 0)) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--rows: %s ends before it begins", text);
    }
    if (!good) {
        cli_fail(err, FRZ_E_ARGUMENT, "--rows: expected FROM:TO, found \"%s\"", text);
        cli_hint(err, "100:200, :10 (the first ten), 100: (all from 100 on), -10: (the last ten)");
        return FRZ_E_ARGUMENT;
    }
    *out = span;
    return FRZ_OK;
}

static int64_t place_in(int64_t at, int64_t rows)
{
    int64_t from_start = at < 0 ? at + rows : at;
    return from_start < 0 ? 0 : from_start > rows ? rows : from_start;
}

static frz_parquet_row_range range_of(const row_span *span, int64_t rows)
{
    frz_parquet_row_range range = {place_in(span->from, rows),
                                   span->open ? rows : place_in(span->to, rows)};
    range.end = range.end < range.first ? range.first : range.end;
    return range;
}

/* ---- the command ---- */

/* What is asked for of a file. */
typedef struct cat_request {
    cli_names columns;
    row_span rows;
    const char *where;
} cat_request;

/* What answers it. */
typedef struct cat_source {
    struct ArrowArrayStream stream;
    const frz_parquet_reader *reader; /* of a Parquet file: lives in the stream */
} cat_source;

static frz_code request_read(const cli_args *args, cat_request *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *columns = cli_args_value(args, CLI_OPTION_COLUMNS);
    const char *rows = cli_args_value(args, CLI_OPTION_ROWS);
    if (columns != NULL) {
        CLI_TRY(cli_names_read(columns, &out->columns, err));
    }
    if (rows != NULL) {
        CLI_TRY(row_span_read(rows, &out->rows, err));
    }
    out->where = cli_args_value(args, CLI_OPTION_WHERE);
out:
    return rc;
}

static frz_code open_parquet(cli_context *context, const cat_request *request, cat_source *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    frz_parquet_file_info info;
    frz_parquet_read_options options = FRZ_PARQUET_READ_OPTIONS_INIT;
    CLI_TRY(frz_parquet_file_open(context->env, context->args->words[0], &file, err));
    frz_parquet_file_info_get(file, &info);
    frz_parquet_row_range range = range_of(&request->rows, info.rows);
    options.columns = request->columns.names;
    options.column_count = request->columns.count;
    options.where = request->where;
    options.ranges = &range;
    options.range_count = 1;
    CLI_TRY(frz_parquet_reader_open(file, &options, &reader, err));
    CLI_TRY(frz_parquet_reader_export(reader, &out->stream, err));
    out->reader = reader;
out:
    frz_parquet_file_close(file);
    return rc;
}

/* Rows from the end are only known once all have been counted. */
static frz_code count_rows(cli_context *context, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    *rows = 0;
    CLI_TRY(frz_ipc_open(context->env, context->args->words[0], &stream, err));
    for (;;) {
        CLI_TRY(cli_stream_next(&stream, &batch, err));
        *rows += batch.length;
        batch.release(&batch);
    }
out:
    cli_stream_release(&stream);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static frz_code open_arrow(cli_context *context, const cat_request *request,
                           struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    frz_stream_select_options options = FRZ_STREAM_SELECT_OPTIONS_INIT;
    int64_t rows = INT64_MAX;
    if (request->rows.from < 0 || request->rows.to < 0) {
        CLI_TRY(count_rows(context, &rows, err));
    }
    frz_parquet_row_range range = range_of(&request->rows, rows);
    options.columns = request->columns.names;
    options.column_count = request->columns.count;
    options.where = request->where;
    options.first_row = range.first;
    options.end_row = range.end;
    CLI_TRY(frz_ipc_open(context->env, context->args->words[0], &stream, err));
    rc = frz_stream_select(context->env, &stream, &options, out, err);
out:
    return rc;
}

static frz_code open_avro(cli_context *context, const cat_request *request,
                          struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_avro_file *file = NULL;
    frz_avro_file_info info;
    frz_avro_read_options options = FRZ_AVRO_READ_OPTIONS_INIT;
    struct ArrowArrayStream stream = {0};
    CLI_TRY(frz_avro_file_open(context->env, context->args->words[0], &file, err));
    frz_avro_file_info_get(file, &info);
    frz_parquet_row_range range = range_of(&request->rows, info.rows);
    options.first_row = range.first;
    options.end_row = range.end;
    if (request->where == NULL) { /* else the filter may need other columns */
        options.columns = request->columns.names;
        options.column_count = request->columns.count;
        rc = frz_avro_file_read(file, &options, out, err);
        goto out;
    }
    CLI_TRY(frz_avro_file_read(file, &options, &stream, err));
    frz_stream_select_options select = FRZ_STREAM_SELECT_OPTIONS_INIT;
    select.columns = request->columns.names;
    select.column_count = request->columns.count;
    select.where = request->where;
    rc = frz_stream_select(context->env, &stream, &select, out, err);
out:
    frz_avro_file_close(file);
    return rc;
}

static frz_code open_file(cli_context *context, const cat_request *request, cat_source *out,
                          frz_error *err)
{
    frz_file_format format;
    const char *file = context->args->words[0];
    frz_code rc = frz_file_format_get(context->env, file, &format, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    switch (format) {
    case FRZ_FILE_PARQUET:
        return open_parquet(context, request, out, err);
    case FRZ_FILE_ARROW:
    case FRZ_FILE_ARROW_STREAM:
        return open_arrow(context, request, &out->stream, err);
    case FRZ_FILE_AVRO:
        return open_avro(context, request, &out->stream, err);
    case FRZ_FILE_UNKNOWN:
        return cli_fail(err, FRZ_E_CORRUPT,
                        "%s is neither a Parquet nor an Arrow file, nor an Avro file", file);
    default:
        return cli_fail(err, FRZ_E_UNSUPPORTED, "unsupported: reading rows of format %s (%s)",
                        frz_file_format_name(format), file);
    }
}

/* ---- --ignore-case ---- */

/* Names of one struct, at any depth, must be different without their case. */
static frz_code check_names(const struct ArrowSchema *schema, frz_error *err)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        for (int64_t k = i + 1; k < schema->n_children; k++) {
            const char *a = schema->children[i]->name, *b = schema->children[k]->name;
            if (a != NULL && b != NULL && strcasecmp(a, b) == 0) {
                return cli_fail(err, FRZ_E_ARGUMENT,
                                "columns \"%s\" and \"%s\" are ambiguous if case is ignored", a, b);
            }
        }
        frz_code rc = check_names(schema->children[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

static frz_code check_case(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const cat_request all = {.rows = {.open = true}};
    cat_source source = {0};
    struct ArrowSchema schema = {0};
    CLI_TRY(open_file(context, &all, &source, err));
    CLI_TRY(cli_stream_schema(&source.stream, &schema, err));
    rc = check_names(&schema, err);
out:
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    cli_stream_release(&source.stream);
    return rc;
}

/* ---- rows ---- */

static frz_code print_report(const cli_context *context, const cat_source *source, frz_error *err)
{
    frz_parquet_read_report r;
    if (source->reader == NULL) {
        return FRZ_OK;
    }
    frz_parquet_reader_report_get(source->reader, &r);
    cli_read_report report = {
        .groups = r.groups,
        .groups_by_statistics = r.groups_by_statistics,
        .groups_by_dictionary = r.groups_by_dictionary,
        .groups_by_bloom = r.groups_by_bloom,
        .pages_by_index = r.pages_by_index,
        .rows_skipped = r.rows - r.rows_kept,
        .rows_read = r.rows_read,
        .rows_returned = r.rows_returned,
    };
    return cli_read_report_print(context, &report, err);
}

static frz_code cat_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cat_source source = {0};
    cat_request request = {.rows = {.open = true}};
    cli_answer answer;
    CLI_TRY(cli_answer_plan(context, &answer, err));
    CLI_TRY(request_read(context->args, &request, err));
    if (cli_args_has(context->args, CLI_OPTION_IGNORE_CASE)) {
        CLI_TRY(check_case(context, err));
    }
    CLI_TRY(open_file(context, &request, &source, err));
    CLI_TRY(cli_answer_rows(context, &answer, &source.stream, err));
    if (cli_args_has(context->args, CLI_OPTION_REPORT)) {
        CLI_TRY(print_report(context, &source, err));
    }
out:
    cli_stream_release(&source.stream);
    cli_names_reset(&request.columns);
    return rc;
}

const cli_command cmd_cat = {
    .name = "cat",
    .usage = "FILE [--columns A,B.C,...] [--rows FROM:TO] [--where CONDITION]\n"
             "                  [--ignore-case] [--report] [--format FORMAT] [-o FILE [--force]]",
    .summary = "print or convert the rows of a Parquet, Arrow or Avro file",
    .text =
        "No table is needed. Only the columns asked for are read; row groups and pages outside\n"
        "the rows asked for, or without a row that matches, are skipped. The name after -o\n"
        "decides the format where --format does not.\n",
    .example = "  frazil cat wide.parquet --rows :10\n"
               "  frazil cat wide.parquet --columns id,address.city --where \"id < 5\"\n"
               "  frazil cat wide.parquet --rows -100: --format csv\n"
               "  frazil cat wide.parquet --where \"score > 0.9\" -o best.parquet\n"
               "  frazil cat table.arrow --columns id --format jsonl\n",
    .options = cat_options,
    .min_words = 1,
    .max_words = 1,
    .run = cat_run,
};
