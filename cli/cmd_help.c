/*
 * frazil help and frazil version.
 */
#include "cli.h"

static frz_code help_run(cli_context *context, frz_error *err)
{
    if (context->args->word_count == 0) {
        cli_help_main(&context->out.text);
        return FRZ_OK;
    }
    const cli_command *command = cli_command_find(context->args->words[0], err);
    if (command == NULL) {
        return err->code;
    }
    cli_help_command(&context->out.text, command);
    return FRZ_OK;
}

const cli_command cmd_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explain frazil or one command",
    .example = "  frazil help sql\n",
    .max_words = 1,
    .run = help_run,
};

static frz_code version_run(cli_context *context, frz_error *err)
{
    (void)err;
    cli_text_printf(&context->out.text,
                    context->json ? "{\"name\":\"frazil\",\"version\":\"%s\"}\n" : "frazil %s\n",
                    frz_version());
    return FRZ_OK;
}

const cli_command cmd_version = {
    .name = "version",
    .usage = "[--json]",
    .summary = "print the version",
    .run = version_run,
};
