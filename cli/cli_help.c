/*
 * The help texts. They teach by example; what the tables of commands and options know is printed
 * from there.
 */
#include <string.h>

#include "cli.h"

#define OPTION_COLUMN 28

static const char main_intro[] =
    "frazil keeps Apache Iceberg tables and changes single columns of very wide ones: an update\n"
    "writes the new values of its columns and nothing else, whatever the width of the table.\n"
    "\n"
    "From a Parquet file to an updated column:\n"
    "\n"
    "  frazil import db.wide wide.parquet                  # a table; the file is kept as it is\n"
    "  frazil sql \"UPDATE db.wide SET c_1 = c_1 * 2\"       # writes one column\n"
    "  frazil sql \"SELECT id, c_1 FROM db.wide LIMIT 5\"    # reads it stitched in\n"
    "  frazil files db.wide                                # which column lives in which file\n"
    "  frazil compact db.wide                              # folds the columns back in\n"
    "\n"
    "Usage: frazil [OPTION]... COMMAND [ARGUMENT]...\n";

static const char main_ending[] =
    "\n"
    "Environment:\n"
    "  FRAZIL_CATALOG            used where --catalog is not given\n"
    "  FRAZIL_WAREHOUSE          used where --warehouse is not given\n"
    "  FRAZIL_THREADS            used where --threads is not given\n"
    "  FRZ_LOG                   log lines on standard error: info, or scan=debug,write=trace\n"
    "\n"
    "Without any of them tables are in ./warehouse, with the catalog ./warehouse/catalog.db; "
    "given\n"
    "only a warehouse, its catalog is catalog.db in it. import makes both, other commands do not.\n"
    "\n"
    "Exit codes:\n"
    "  0  done                     3  a table, column, snapshot or file does not exist\n"
    "  1  anything else            4  another writer won; trying again is safe\n"
    "  2  a bad command line,      5  corrupt bytes, or validate found something\n"
    "     expression or statement\n"
    "\n"
    "frazil COMMAND --help explains a command.\n";

static void help_options(cli_text *text, const char *title, const cli_option *options)
{
    if (options == NULL || options->name == NULL) {
        return;
    }
    cli_text_printf(text, "\n%s:\n", title);
    for (; options->name != NULL; options++) {
        size_t start = text->len;
        if (options->letter != 0) {
            cli_text_printf(text, "  -%c, --%s", options->letter, options->name);
        } else {
            cli_text_printf(text, "  --%s", options->name);
        }
        if (options->value != NULL) {
            cli_text_printf(text, " %s", options->value);
        }
        size_t used = text->len - start;
        cli_text_fill(text, ' ', used + 2 > OPTION_COLUMN ? 2 : OPTION_COLUMN - used);
        cli_text_printf(text, "%s\n", options->help);
    }
}

void cli_help_main(cli_text *text)
{
    cli_text_str(text, main_intro);
    cli_text_str(text, "\nCommands:\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        cli_text_printf(text, "  %-15s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    }
    help_options(text, "Options, before or after the command", cli_global_options);
    cli_text_str(text, main_ending);
}

void cli_help_command(cli_text *text, const cli_command *command)
{
    cli_text_printf(text, "frazil %s: %s\n", command->name, command->summary);
    cli_text_printf(text, "\nUsage: frazil %s%s%s\n", command->name,
                    command->usage[0] == '\0' ? "" : " ", command->usage);
    if (command->text != NULL) {
        cli_text_printf(text, "\n%s", command->text);
    }
    help_options(text, "Options", command->options);
    if (command->example != NULL) {
        cli_text_printf(text, "\nExamples:\n%s", command->example);
    }
    cli_text_str(text, "\nOptions of all commands: frazil --help\n");
}
