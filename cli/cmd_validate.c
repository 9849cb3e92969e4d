/*
 * frazil validate: prove from the files that a table is sound.
 */
#include <string.h>

#include "cli.h"

typedef struct finding_printer {
    cli_text *text;
    bool json;
    size_t count;
} finding_printer;

static void print_finding(void *ctx, const char *location, const char *text)
{
    finding_printer *printer = ctx;
    if (printer->json) {
        cli_text_str(printer->text,
                     printer->count == 0 ? "[\n {\"location\":" : ",\n {\"location\":");
        cli_text_json_string(printer->text, location, strlen(location));
        cli_text_str(printer->text, ",\"text\":");
        cli_text_json_string(printer->text, text, strlen(text));
        cli_text_char(printer->text, '}');
    } else {
        cli_text_printf(printer->text, "%s: %s\n", location, text);
    }
    printer->count++;
}

static void print_end(cli_context *context, const finding_printer *printer)
{
    const char *name = cli_table_name(context);
    if (printer->json) {
        cli_text_str(printer->text, printer->count == 0 ? "[]\n" : "\n]\n");
    } else if (printer->count == 0 && !context->quiet) {
        cli_text_printf(printer->text, "%s is clean\n", name != NULL ? name : "the table");
    }
}

static frz_code validate_run(cli_context *context, frz_error *err)
{
    finding_printer printer = {.text = &context->out.text, .json = context->json};
    int64_t findings = 0;
    frz_code rc = cli_open_table(context, err);
    if (rc == FRZ_OK) {
        rc = frz_validate(context->table, print_finding, &printer, &findings, err);
    }
    if (rc == FRZ_OK) {
        print_end(context, &printer);
        context->exit_status = findings == 0 ? CLI_EXIT_OK : CLI_EXIT_CORRUPT;
    }
    return rc;
}

const cli_command cmd_validate = {
    .name = "validate",
    .usage = "TABLE [--json]",
    .summary = "prove that a table is sound",
    .text = "Reads every file of every retained snapshot: sizes, row counts of column files, one\n"
            "provider for each field, statistics that contain the values, row lineage, sequence\n"
            "numbers. One line for each finding; the exit code is 0 if there is none, else 5.\n",
    .example = "  frazil validate db.wide\n"
               "  frazil validate --metadata t/metadata/v3.metadata.json\n",
    .flags = CLI_TAKES_TABLE,
    .min_words = 1,
    .max_words = 1,
    .run = validate_run,
};
