/*
 * Telling what expiry and the removal of orphans take away.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

#define CLI_NO_LIST (-1)

/* The lists of the JSON object, in the order in which things are told. */
static const char *const list_names[] = {"snapshots", "references", "files"};

static int list_of(frz_removed kind)
{
    return kind == FRZ_REMOVED_SNAPSHOT ? 0 : kind == FRZ_REMOVED_REFERENCE ? 1 : 2;
}

/* Nothing is said before there is something to say: what fails early leaves no answer. */
static void open_object(cli_removal *removal)
{
    cli_text *text = &removal->context->out.text;
    const char *table = cli_table_name(removal->context);
    cli_text_printf(text, "{\"command\":\"%s\",\"table\":", removal->command);
    cli_text_json_string(text, table, strlen(table));
    cli_text_printf(text, ",\"dry_run\":%s", removal->dry ? "true" : "false");
}

static void open_list(cli_removal *removal, int list)
{
    cli_text *text = &removal->context->out.text;
    if (removal->list == CLI_NO_LIST) {
        open_object(removal);
    }
    while (removal->list < list) {
        cli_text_printf(text, "%s,\"%s\":[", removal->list == CLI_NO_LIST ? "" : "]",
                        list_names[removal->list + 1]);
        removal->list++;
        removal->in_list = 0;
    }
}

void cli_removal_begin(cli_removal *removal, cli_context *context, const char *command)
{
    *removal = (cli_removal){.context = context,
                             .command = command,
                             .dry = cli_args_has(context->args, CLI_OPTION_DRY_RUN),
                             .list = CLI_NO_LIST};
}

static void tell_json(cli_removal *removal, frz_removed kind, const char *name, int64_t bytes)
{
    cli_text *text = &removal->context->out.text;
    open_list(removal, list_of(kind));
    cli_text_str(text, removal->in_list++ > 0 ? ",\n " : "\n ");
    if (kind == FRZ_REMOVED_SNAPSHOT) {
        cli_text_str(text, name);
    } else if (kind == FRZ_REMOVED_REFERENCE) {
        cli_text_json_string(text, name, strlen(name));
    } else {
        cli_text_printf(text, "{\"kind\":\"%s\",\"location\":", frz_removed_name(kind));
        cli_text_json_string(text, name, strlen(name));
        cli_text_printf(text, ",\"bytes\":%" PRId64 "}", bytes);
    }
}

void cli_removal_visit(void *ctx, frz_removed kind, const char *name, int64_t bytes)
{
    cli_removal *removal = ctx;
    cli_context *context = removal->context;
    if (context->json) {
        tell_json(removal, kind, name, bytes);
    } else if (removal->dry) {
        size_t start;
        cli_text_printf(&context->out.text, "%-16s ", frz_removed_name(kind));
        start = context->out.text.len;
        cli_text_str(&context->out.text, name);
        cli_text_escape(&context->out.text, start);
        cli_text_char(&context->out.text, '\n');
    }
    if (removal->failed == FRZ_OK) {
        removal->failed = cli_out_row(&context->out, &removal->why);
    }
}

static void sum_json(cli_removal *removal, const frz_removal_report *report)
{
    cli_text *text = &removal->context->out.text;
    open_list(removal, 2);
    cli_text_printf(text,
                    "],\"bytes\":%" PRId64 ",\"failed\":%" PRId64 ",\"unreadable\":%" PRId64 "}\n",
                    report->bytes, report->failed, report->unreadable);
}

static void count_line(cli_text *text, const char *name, int64_t count)
{
    char number[CLI_NUMBER_TEXT];
    cli_grouped_text(count, number);
    cli_text_printf(text, "  %-17s %s\n", name, number);
}

static void sum_text(cli_removal *removal, const frz_removal_report *report, int64_t things)
{
    cli_text *text = &removal->context->out.text;
    const char *table = cli_table_name(removal->context);
    if (things == 0 && report->failed == 0) {
        cli_text_printf(text, "%s: nothing to remove\n", table);
        return;
    }
    cli_text_printf(text, "%s %s\n", removal->dry ? "would remove from" : "removed from", table);
    for (int kind = 0; kind < FRZ_REMOVED_KINDS; kind++) {
        if (report->count[kind] > 0) {
            count_line(text, frz_removed_name((frz_removed)kind), report->count[kind]);
        }
    }
    cli_text_printf(text, "  %-17s ", "bytes");
    cli_text_size(text, report->bytes);
    cli_text_char(text, '\n');
    if (report->failed > 0) {
        count_line(text, "not removable", report->failed);
    }
    if (report->unreadable > 0) {
        count_line(text, "unreadable", report->unreadable);
    }
}

frz_code cli_removal_end(cli_removal *removal, const frz_removal_report *report, frz_error *err)
{
    cli_context *context = removal->context;
    int64_t things = 0;
    for (int kind = 0; kind < FRZ_REMOVED_KINDS; kind++) {
        things += report->count[kind];
    }
    context->committed = !removal->dry && things > 0;
    context->exit_status = report->failed > 0 ? CLI_EXIT_OTHER : CLI_EXIT_OK;
    if (context->json) {
        sum_json(removal, report);
    } else if (!context->quiet) {
        sum_text(removal, report, things);
    }
    if (removal->failed != FRZ_OK && err != NULL) {
        *err = removal->why;
    }
    return removal->failed;
}
