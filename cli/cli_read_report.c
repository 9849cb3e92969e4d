/*
 * Telling, on standard error and beside the rows, what was read for them and what was skipped.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

static void put_number(cli_text *text, int64_t value)
{
    char number[CLI_NUMBER_TEXT];
    cli_grouped_text(value, number);
    cli_text_str(text, number);
}

static void put_part(cli_text *text, const char *before, int64_t value, const char *after)
{
    cli_text_str(text, before);
    put_number(text, value);
    cli_text_str(text, after);
}

static void report_lines(cli_text *text, const cli_read_report *r)
{
    if (r->has_files) {
        put_part(text, "data files: ", r->files, "");
        put_part(text, ", skipped by statistics ", r->files_skipped, "\n");
    }
    put_part(text, "row groups: ", r->groups, "");
    put_part(text, ", skipped by statistics ", r->groups_by_statistics, "");
    put_part(text, ", by dictionaries ", r->groups_by_dictionary, "");
    put_part(text, ", by bloom filters ", r->groups_by_bloom, "\n");
    put_part(text, "pages skipped by the page index: ", r->pages_by_index, "\n");
    if (r->has_files) {
        put_part(text, "delete files read: ", r->delete_files, "\n");
    }
    put_part(text, "rows: skipped ", r->rows_skipped, "");
    put_part(text, ", read ", r->rows_read, "");
    if (r->has_files) {
        put_part(text, ", deleted ", r->rows_deleted, "");
    }
    put_part(text, ", returned ", r->rows_returned, "\n");
}

static void report_object(cli_text *text, const cli_read_report *r)
{
    cli_text_str(text, "{");
    if (r->has_files) {
        cli_text_printf(text, "\"files\":%" PRId64 ",\"files_skipped\":%" PRId64 ",", r->files,
                        r->files_skipped);
    }
    cli_text_printf(text, "\"groups\":%" PRId64 ",\"groups_by_statistics\":%" PRId64, r->groups,
                    r->groups_by_statistics);
    cli_text_printf(text, ",\"groups_by_dictionary\":%" PRId64 ",\"groups_by_bloom\":%" PRId64,
                    r->groups_by_dictionary, r->groups_by_bloom);
    cli_text_printf(text, ",\"pages_by_index\":%" PRId64 ",\"rows_skipped\":%" PRId64,
                    r->pages_by_index, r->rows_skipped);
    cli_text_printf(text, ",\"rows_read\":%" PRId64 ",\"rows_returned\":%" PRId64, r->rows_read,
                    r->rows_returned);
    if (r->has_files) {
        cli_text_printf(text, ",\"delete_files\":%" PRId64 ",\"rows_deleted\":%" PRId64,
                        r->delete_files, r->rows_deleted);
    }
    cli_text_str(text, "}\n");
}

frz_code cli_read_report_print(const cli_context *context, const cli_read_report *report,
                               frz_error *err)
{
    cli_text text = {0};
    if (context->json) {
        report_object(&text, report);
    } else {
        report_lines(&text, report);
    }
    const char *whole = cli_text_c(&text);
    if (whole != NULL) {
        fputs(whole, stderr);
    }
    cli_text_reset(&text);
    return whole != NULL ? FRZ_OK : cli_fail(err, FRZ_E_NOMEM, "out of memory for the report");
}

frz_code cli_scan_report_print(const cli_context *context, const frz_scan *scan, frz_error *err)
{
    frz_scan_report r;
    frz_scan_report_get(scan, &r);
    cli_read_report report = {
        .has_files = true,
        .files = r.files,
        .files_skipped = r.files_skipped,
        .groups = r.groups,
        .groups_by_statistics = r.groups_by_statistics,
        .groups_by_dictionary = r.groups_by_dictionary,
        .groups_by_bloom = r.groups_by_bloom,
        .pages_by_index = r.pages_by_index,
        .delete_files = r.delete_files,
        .rows_deleted = r.rows_deleted,
        .rows_skipped = r.rows_skipped,
        .rows_read = r.rows_read,
        .rows_returned = r.rows_returned,
    };
    return cli_read_report_print(context, &report, err);
}
