/*
 * The command frazil: the way of one call through it. A command reports failure as the library
 * does; only this file prints errors and chooses the exit code.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "cli_memory.h"

static frz_code open_environment(cli_context *context, frz_error *err)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    bool show = !context->quiet && isatty(STDERR_FILENO);
    options.progress = show ? cli_progress_show : cli_progress_hidden;
    frz_code rc = cli_threads(context, &options.threads, err);
    return rc == FRZ_OK ? frz_env_new(&options, &context->env, err) : rc;
}

static frz_code run_command(cli_context *context, frz_error *err)
{
    const cli_command *command = context->args->command;
    if (cli_args_has(context->args, CLI_OPTION_VERSION)) {
        command = &cmd_version;
    } else if (command != NULL && cli_args_has(context->args, CLI_OPTION_HELP)) {
        cli_help_command(&context->out.text, command);
        return FRZ_OK;
    } else if (command == NULL) {
        cli_help_main(&context->out.text);
        return FRZ_OK;
    }
    cli_interrupt_install();
    frz_code rc = open_environment(context, err);
    return rc == FRZ_OK ? command->run(context, err) : rc;
}

/* Nothing was asked for: the help on standard error, and a failure for scripts. */
static bool is_bare(const cli_args *args)
{
    return args->command == NULL && !cli_args_has(args, CLI_OPTION_HELP) &&
           !cli_args_has(args, CLI_OPTION_VERSION);
}

/* The change is committed: who repeats the command because its report was lost would make it
 * twice, so that is told but is no failure. */
static cli_exit print_report(cli_context *context)
{
    frz_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    if (cli_out_flush(&context->out, &err) != FRZ_OK) {
        snprintf(err.hint, sizeof err.hint,
                 "the change is committed; only its report could not be written");
        cli_error_print(&err);
    }
    cli_context_reset(context);
    return CLI_EXIT_OK;
}

static cli_exit run(const cli_args *args)
{
    frz_error err = {0};
    cli_context context = {
        .args = args,
        .json = cli_args_has(args, CLI_OPTION_JSON),
        .quiet = cli_args_has(args, CLI_OPTION_QUIET),
        .out = {.fd = STDOUT_FILENO, .name = "standard output"},
        .exit_status = CLI_EXIT_OK,
    };
    if (is_bare(args)) {
        context.out.fd = STDERR_FILENO;
        context.exit_status = CLI_EXIT_USAGE;
    }
    frz_code rc = run_command(&context, &err);
    cli_progress_clear();
    if (rc == FRZ_OK && context.committed) {
        return print_report(&context);
    }
    if (rc == FRZ_OK) {
        rc = cli_out_flush(&context.out, &err);
    }
    bool opened = cli_args_has(args, CLI_OPTION_METADATA) && context.table != NULL;
    bool no_file = rc == FRZ_E_NOT_FOUND && err.os_error != 0;
    if (no_file && err.hint[0] == '\0' && opened) {
        snprintf(err.hint, sizeof err.hint,
                 "if the table's files were moved, --map-location FROM=TO says where they are");
    }
    if (rc != FRZ_OK && err.os_error != EPIPE) { /* who stopped reading knows why */
        cli_error_print(&err);
    }
    cli_context_reset(&context);
    return rc == FRZ_OK ? context.exit_status : cli_exit_of(rc);
}

/*
 * A caller may have closed the standard descriptors. A table's file must not get such a number, or
 * an answer would be written into it; what stands there instead refuses to be used.
 */
static void keep_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

int main(int argc, char **argv)
{
    keep_descriptors();
    cli_memory_keep();
    frz_error err = {0};
    cli_args args = {0};
    frz_code rc = cli_args_parse(argc, argv, &args, &err);
    if (rc != FRZ_OK) {
        cli_error_print(&err);
        return (int)cli_exit_of(rc);
    }
    cli_exit status = run(&args);
    cli_args_reset(&args);
    return (int)status;
}
