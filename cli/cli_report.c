/*
 * Telling what a commit did.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

/* ---- commits ---- */

static void report_json(cli_text *text, const char *command, const char *table,
                        const frz_commit_report *report)
{
    cli_text_str(text, "{\"command\":");
    cli_text_json_string(text, command, strlen(command));
    cli_text_str(text, ",\"table\":");
    cli_text_json_string(text, table, strlen(table));
    cli_text_printf(text, ",\"snapshot_id\":%" PRId64 ",\"rows\":%" PRId64, report->snapshot_id,
                    report->rows);
    cli_text_printf(text, ",\"data_files\":%" PRId64 ",\"files_written\":%" PRId64,
                    report->data_files, report->files_written);
    cli_text_printf(text, ",\"data_bytes\":%" PRId64 ",\"metadata_bytes\":%" PRId64,
                    report->data_bytes, report->metadata_bytes);
    cli_text_printf(text, ",\"live_data_bytes\":%" PRId64 ",\"attempts\":%" PRId64,
                    report->live_data_bytes, report->attempts);
    if (strcmp(command, "merge") == 0) {
        cli_text_printf(text, ",\"rows_inserted\":%" PRId64 ",\"rows_deleted\":%" PRId64,
                        report->rows_inserted, report->rows_deleted);
    }
    if (report->source_rows > 0) {
        cli_text_printf(text, ",\"source_rows\":%" PRId64 ",\"source_unmatched\":%" PRId64,
                        report->source_rows, report->source_unmatched);
    }
    cli_text_str(text, "}\n");
}

static void report_line(cli_text *text, const char *name)
{
    cli_text_printf(text, "  %-15s ", name);
}

static void report_headline(cli_text *text, const char *command, const char *table,
                            const frz_commit_report *report)
{
    static const char *const words[][2] = {
        {"import", "imported"},    {"update", "updated"},       {"alter", "altered"},
        {"compact", "compacted"},  {"upgrade", "upgraded"},     {"delete", "deleted from"},
        {"append", "appended to"}, {"insert", "inserted into"}, {"merge", "merged into"},
    };
    const char *done = command;
    char rows[CLI_NUMBER_TEXT], files[CLI_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        done = strcmp(words[i][0], command) == 0 ? words[i][1] : done;
    }
    cli_text_printf(text, "%s %s", done, table);
    if (strcmp(command, "alter") != 0 && strcmp(command, "upgrade") != 0) {
        cli_grouped_text(report->rows, rows);
        cli_grouped_text(report->data_files, files);
        cli_text_printf(text, ": %s %s in %s data %s", rows, report->rows == 1 ? "row" : "rows",
                        files, report->data_files == 1 ? "file" : "files");
    }
    cli_text_char(text, '\n');
}

static void report_figures(cli_text *text, const frz_commit_report *report)
{
    char number[CLI_NUMBER_TEXT];
    cli_grouped_text(report->files_written, number);
    report_line(text, "files written");
    cli_text_printf(text, "%s\n", number);
    report_line(text, "data");
    cli_text_size(text, report->data_bytes);
    cli_text_char(text, '\n');
    report_line(text, "metadata");
    cli_text_size(text, report->metadata_bytes);
    cli_text_char(text, '\n');
    if (report->snapshot_id != 0) {
        report_line(text, "snapshot");
        cli_text_printf(text, "%" PRId64 "\n", report->snapshot_id);
    }
    if (report->attempts > 1) {
        report_line(text, "attempts");
        cli_text_printf(text, "%" PRId64 "\n", report->attempts);
    }
}

/* What a merge did with its rows. */
static void report_merge(cli_text *text, const frz_commit_report *report)
{
    char updated[CLI_NUMBER_TEXT], inserted[CLI_NUMBER_TEXT], deleted[CLI_NUMBER_TEXT];
    cli_grouped_text(report->rows - report->rows_inserted - report->rows_deleted, updated);
    cli_grouped_text(report->rows_inserted, inserted);
    cli_grouped_text(report->rows_deleted, deleted);
    report_line(text, "rows");
    cli_text_printf(text, "%s updated, %s inserted, %s deleted\n", updated, inserted, deleted);
}

/* Rows of a source that the table has no row for. */
static void report_source(cli_text *text, const frz_commit_report *report)
{
    char rows[CLI_NUMBER_TEXT], unmatched[CLI_NUMBER_TEXT];
    if (report->source_unmatched > 0) {
        cli_grouped_text(report->source_rows, rows);
        cli_grouped_text(report->source_unmatched, unmatched);
        report_line(text, "source");
        cli_text_printf(text, "%s of %s %s matched no row\n", unmatched, rows,
                        report->source_rows == 1 ? "row" : "rows");
    }
}

/* What nobody wrote is not measured, and says so. */
static void report_comparison(cli_text *text, const frz_commit_report *report)
{
    report_line(text, "copy-on-write");
    cli_text_str(text, "would write ");
    cli_text_size(text, report->live_data_bytes);
    cli_text_str(text, " of data (computed)\n");
}

static bool report_is_empty(const frz_commit_report *report)
{
    return report->snapshot_id == 0 && report->files_written == 0;
}

static const char *empty_reason(const char *command)
{
    if (strcmp(command, "update") == 0 || strcmp(command, "delete") == 0 ||
        strcmp(command, "merge") == 0) {
        return "no row matched";
    }
    return strcmp(command, "append") == 0 || strcmp(command, "insert") == 0 ? "no rows to append"
                                                                            : "nothing to do";
}

void cli_report_print(cli_context *context, const char *command, const char *table,
                      const frz_commit_report *report)
{
    cli_text *text = &context->out.text;
    bool update = strcmp(command, "update") == 0;
    context->committed = !report_is_empty(report);
    if (context->json) {
        report_json(text, command, table, report);
    } else if (context->quiet) {
        return;
    } else if (report_is_empty(report)) {
        cli_text_printf(text, "%s: %s, nothing was written\n", table, empty_reason(command));
    } else {
        report_headline(text, command, table, report);
        if (strcmp(command, "merge") == 0) {
            report_merge(text, report);
        }
        report_figures(text, report);
        if (update) {
            report_source(text, report);
        }
        if (update && report->live_data_bytes > 0) {
            report_comparison(text, report);
        }
    }
}

/* ---- the table that a statement names ---- */

/* Skip blanks and comments. */
static const char *skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, "--", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static bool skip_keyword(const char **at, const char *keyword)
{
    size_t len = strlen(keyword);
    const char *start = skip_blanks(*at);
    if (strncasecmp(start, keyword, len) != 0 || isalnum((unsigned char)start[len]) ||
        start[len] == '_') {
        return false;
    }
    *at = start + len;
    return true;
}

/* The end of a dotted name whose parts may be quoted. */
static const char *name_end(const char *at)
{
    while (*at != '\0' && strchr(" \t\r\n(;,", *at) == NULL) {
        if (*at == '"') {
            at += 1 + strcspn(at + 1, "\"");
        }
        at += *at != '\0';
    }
    return at;
}

void cli_statement_table(const char *statement, cli_text *out)
{
    const char *at = statement;
    if (skip_keyword(&at, "UPDATE") || (skip_keyword(&at, "ALTER") && skip_keyword(&at, "TABLE")) ||
        (skip_keyword(&at, "DELETE") && skip_keyword(&at, "FROM")) ||
        (skip_keyword(&at, "INSERT") && skip_keyword(&at, "INTO")) ||
        (skip_keyword(&at, "MERGE") && skip_keyword(&at, "INTO"))) {
        at = skip_blanks(at);
        cli_text_bytes(out, at, (size_t)(name_end(at) - at));
    }
}
