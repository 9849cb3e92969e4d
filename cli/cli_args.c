/*
 * Reading the command line. Global options may stand anywhere; a command's own options stand after
 * it; "--" ends the options. Nothing is opened or looked up here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

const cli_option cli_global_options[] = {
    {CLI_OPTION_CATALOG, 0, "catalog", "URI",
     "the catalog: its name or uri, such as sqlite:///path/catalog.db"},
    {CLI_OPTION_WAREHOUSE, 0, "warehouse", "DIR", "the folder of new tables"},
    {CLI_OPTION_CATALOG_NAME, 0, "catalog-name", "NAME", "which catalog of a shared database"},
    {CLI_OPTION_METADATA, 0, "metadata", "PATH",
     "read one table from its metadata file or folder alone"},
    {CLI_OPTION_MAP_LOCATION, 0, "map-location", "FROM=TO",
     "where files recorded under FROM really are, for reading; repeatable"},
    {CLI_OPTION_THREADS, 0, "threads", "N", "work on so many processors; default: all there are"},
    {CLI_OPTION_JSON, 0, "json", NULL, "answer in JSON, for programs"},
    {CLI_OPTION_QUIET, 'q', "quiet", NULL, "no progress, no report of what was done"},
    {CLI_OPTION_HELP, 'h', "help", NULL, "this help"},
    {CLI_OPTION_VERSION, 0, "version", NULL, "the version"},
    {0, 0, NULL, NULL, NULL},
};

#define MAX_NAMES 64

/* The state of one reading. */
typedef struct args_reader {
    int argc, at;
    char **argv;
    cli_args *args;
} args_reader;

/* ---- options ---- */

static const cli_option *option_in(const cli_option *options, const char *name, size_t len)
{
    for (; options != NULL && options->name != NULL; options++) {
        bool by_name = strncmp(options->name, name, len) == 0 && options->name[len] == '\0';
        if (by_name || (len == 1 && options->letter == name[0])) {
            return options;
        }
    }
    return NULL;
}

static const cli_option *option_find(const cli_args *args, const char *name, size_t len)
{
    const cli_option *found = option_in(cli_global_options, name, len);
    if (found == NULL && args->command != NULL) {
        found = option_in(args->command->options, name, len);
    }
    return found;
}

static size_t names_add(const char **names, size_t count, const cli_option *options)
{
    for (; options != NULL && options->name != NULL && count + 1 < MAX_NAMES; options++) {
        names[count++] = options->name;
    }
    return count;
}

static void hint_help(frz_error *err, const cli_command *command)
{
    size_t len = strlen(err->hint);
    snprintf(err->hint + len, sizeof err->hint - len, "%sfrazil %s%s--help shows what there is",
             len > 0 ? "\n" : "", command == NULL ? "" : command->name, command == NULL ? "" : " ");
}

/* Options of other commands before the command are a common slip, worth a hint of their own. */
static frz_code fail_unknown_option(const cli_args *args, const char *arg, size_t len,
                                    frz_error *err)
{
    const char *names[MAX_NAMES] = {NULL};
    char word[64];
    const char *name = arg + (arg[1] == '-' ? 2 : 1);
    int whole = (int)(name - arg) + (int)len;
    cli_fail(err, FRZ_E_ARGUMENT, "unknown option %.*s", whole, arg);
    size_t count = names_add(names, 0, cli_global_options);
    if (args->command != NULL) {
        names_add(names, count, args->command->options);
    }
    for (size_t i = 0; args->command == NULL && cli_commands[i] != NULL; i++) {
        if (option_in(cli_commands[i]->options, name, len) != NULL) {
            cli_hint(err, "options of a command stand after it: frazil %s … %.*s",
                     cli_commands[i]->name, whole, arg);
            return FRZ_E_ARGUMENT;
        }
    }
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *near = cli_nearest(word, names);
    if (near != NULL) {
        cli_hint(err, "did you mean --%s?", near);
    }
    hint_help(err, args->command);
    return FRZ_E_ARGUMENT;
}

static frz_code option_value(args_reader *reader, const cli_option *option,
                             const char *inline_value, const char **out, frz_error *err)
{
    *out = inline_value;
    if (option->value == NULL && inline_value != NULL) {
        return cli_fail(err, FRZ_E_ARGUMENT, "option --%s takes no value, found \"%s\"",
                        option->name, inline_value);
    }
    if (option->value == NULL || inline_value != NULL) {
        return FRZ_OK;
    }
    if (reader->at + 1 >= reader->argc) {
        return cli_fail(err, FRZ_E_ARGUMENT, "option --%s: expected a value (%s), found nothing",
                        option->name, option->value);
    }
    *out = reader->argv[++reader->at];
    return FRZ_OK;
}

/* One argument that starts with a dash: "--name", "--name=value" or "-x". */
static frz_code read_option(args_reader *reader, frz_error *err)
{
    const char *arg = reader->argv[reader->at];
    const char *name = arg[1] == '-' ? arg + 2 : arg + 1;
    const char *equals = arg[1] == '-' ? strchr(name, '=') : NULL;
    size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = NULL;
    if ((arg[1] == '-') == (len > 1)) {
        option = option_find(reader->args, name, len);
    }
    if (option == NULL) {
        return fail_unknown_option(reader->args, arg, len, err);
    }
    cli_given *given = &reader->args->given[reader->args->given_count];
    given->id = option->id;
    frz_code rc =
        option_value(reader, option, equals != NULL ? equals + 1 : NULL, &given->value, err);
    reader->args->given_count += rc == FRZ_OK;
    return rc;
}

/* ---- words ---- */

const cli_command *cli_command_find(const char *name, frz_error *err)
{
    const char *names[MAX_NAMES] = {NULL};
    for (size_t i = 0; cli_commands[i] != NULL && i + 1 < MAX_NAMES; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
        names[i] = cli_commands[i]->name;
    }
    cli_fail(err, FRZ_E_ARGUMENT, "unknown command \"%s\"", name);
    const char *near = cli_nearest(name, names);
    if (near != NULL) {
        cli_hint(err, "did you mean %s?", near);
    }
    hint_help(err, NULL);
    return NULL;
}

static frz_code read_word(args_reader *reader, frz_error *err)
{
    const char *word = reader->argv[reader->at];
    if (reader->args->command == NULL) {
        reader->args->command = cli_command_find(word, err);
        return reader->args->command != NULL ? FRZ_OK : FRZ_E_ARGUMENT;
    }
    reader->args->words[reader->args->word_count++] = word;
    return FRZ_OK;
}

static frz_code read_all(args_reader *reader, frz_error *err)
{
    bool options_ended = false;
    for (reader->at = 1; reader->at < reader->argc; reader->at++) {
        const char *arg = reader->argv[reader->at];
        frz_code rc = FRZ_OK;
        if (!options_ended && strcmp(arg, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && arg[0] == '-' && arg[1] != '\0') {
            rc = read_option(reader, err);
        } else {
            rc = read_word(reader, err);
        }
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

/* ---- rules that the table of commands states ---- */

static frz_code check_metadata(const cli_args *args, frz_error *err)
{
    bool metadata = cli_args_has(args, CLI_OPTION_METADATA);
    if (metadata && (args->command->flags & CLI_WRITES) != 0) {
        return cli_fail(err, FRZ_E_ARGUMENT, "%s: a table opened with --metadata is read-only",
                        args->command->name);
    }
    if (metadata && cli_args_has(args, CLI_OPTION_CATALOG)) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--metadata and --catalog exclude each other");
    }
    if ((args->command->flags & CLI_WRITES) != 0 && cli_args_has(args, CLI_OPTION_MAP_LOCATION)) {
        return cli_fail(err, FRZ_E_ARGUMENT, "%s: with --map-location tables are read-only",
                        args->command->name);
    }
    return FRZ_OK;
}

static frz_code check_words(const cli_args *args, frz_error *err)
{
    const cli_command *command = args->command;
    bool named = (command->flags & CLI_TAKES_TABLE) != 0 && cli_args_has(args, CLI_OPTION_METADATA);
    size_t min = command->min_words - (named && command->min_words > 0);
    size_t max = command->max_words - (named && command->max_words > 0);
    if (args->word_count < min) {
        cli_fail(err, FRZ_E_ARGUMENT, "%s: an argument is missing", command->name);
    } else if (args->word_count > max) {
        cli_fail(err, FRZ_E_ARGUMENT, "%s: unexpected argument \"%s\"", command->name,
                 args->words[max]);
        if (named) {
            cli_hint(err, "the table is the one of --metadata; leave its name out");
            return FRZ_E_ARGUMENT;
        }
    } else {
        return FRZ_OK;
    }
    cli_hint(err, "usage: frazil %s %s", command->name, command->usage);
    return FRZ_E_ARGUMENT;
}

static frz_code check_args(const cli_args *args, frz_error *err)
{
    if (args->command == NULL || cli_args_has(args, CLI_OPTION_HELP) ||
        cli_args_has(args, CLI_OPTION_VERSION)) {
        return FRZ_OK;
    }
    frz_code rc = check_metadata(args, err);
    return rc == FRZ_OK ? check_words(args, err) : rc;
}

/* ---- the whole ---- */

frz_code cli_args_parse(int argc, char **argv, cli_args *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_args args = {0};
    args_reader reader = {.argc = argc, .argv = argv, .args = &args};
    args.given = calloc((size_t)argc + 1, sizeof *args.given);
    args.words = calloc((size_t)argc + 1, sizeof *args.words);
    if (args.given == NULL || args.words == NULL) {
        rc = cli_fail(err, FRZ_E_NOMEM, "out of memory for %d arguments", argc);
        goto out;
    }
    CLI_TRY(read_all(&reader, err));
    CLI_TRY(check_args(&args, err));
    *out = args;
    args = (cli_args){0};
out:
    cli_args_reset(&args);
    return rc;
}

void cli_args_reset(cli_args *args)
{
    free(args->given);
    free(args->words);
    *args = (cli_args){0};
}

bool cli_args_has(const cli_args *args, cli_option_id id)
{
    return cli_args_count(args, id) > 0;
}

const char *cli_args_value(const cli_args *args, cli_option_id id)
{
    const char *value = NULL;
    for (size_t i = 0; i < args->given_count; i++) {
        value = args->given[i].id == id ? args->given[i].value : value;
    }
    return value;
}

size_t cli_args_count(const cli_args *args, cli_option_id id)
{
    size_t count = 0;
    for (size_t i = 0; i < args->given_count; i++) {
        count += args->given[i].id == id;
    }
    return count;
}

frz_code cli_split_pair(const char *text, const char *option, char **key, char **value,
                        frz_error *err)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--%s: expected two parts joined by =, found \"%s\"",
                        option, text);
    }
    char *left = strndup(text, (size_t)(equals - text));
    char *right = strdup(equals + 1);
    if (left == NULL || right == NULL) {
        free(left);
        free(right);
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for --%s", option);
    }
    *key = left;
    *value = right;
    return FRZ_OK;
}
