/*
 * Answering with rows: to standard output or a file, in the format asked for.
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* What the end of a file's name says. */
static const struct {
    const char *ending;
    cli_format format;
} endings[] = {
    {".parquet", CLI_FORMAT_PARQUET}, {".csv", CLI_FORMAT_CSV},       {".jsonl", CLI_FORMAT_JSONL},
    {".ndjson", CLI_FORMAT_JSONL},    {".json", CLI_FORMAT_JSON},     {".arrow", CLI_FORMAT_ARROW},
    {".arrows", CLI_FORMAT_ARROW},    {".feather", CLI_FORMAT_ARROW},
};

static bool ends_with(const char *path, const char *ending)
{
    size_t len = strlen(path);
    size_t tail = strlen(ending);
    return len > tail && strcmp(path + len - tail, ending) == 0;
}

static void format_of_path(const char *path, cli_format *format)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ends_with(path, endings[i].ending)) {
            *format = endings[i].format;
        }
    }
}

frz_code cli_answer_plan(const cli_context *context, cli_answer *out, frz_error *err)
{
    const char *name = cli_args_value(context->args, CLI_OPTION_FORMAT);
    cli_answer answer = {
        .format = context->json ? CLI_FORMAT_JSON : CLI_FORMAT_TABLE,
        .path = cli_args_value(context->args, CLI_OPTION_OUTPUT),
        .force = cli_args_has(context->args, CLI_OPTION_FORCE),
    };
    frz_code rc = name == NULL ? FRZ_OK : cli_parse_format(name, &answer.format, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (answer.path != NULL && strcmp(answer.path, "-") == 0) {
        answer.path = NULL;
    }
    if (name == NULL && !context->json && answer.path != NULL) {
        format_of_path(answer.path, &answer.format);
    }
    if (answer.format == CLI_FORMAT_PARQUET && answer.path == NULL) {
        cli_fail(err, FRZ_E_ARGUMENT, "--format parquet needs a file to write to");
        cli_hint(err, "add -o answer.parquet");
        return FRZ_E_ARGUMENT;
    }
    if (answer.format == CLI_FORMAT_ARROW && answer.path == NULL && isatty(STDOUT_FILENO)) {
        cli_fail(err, FRZ_E_ARGUMENT, "--format arrow writes bytes that are not for a terminal");
        cli_hint(err, "add -o answer.arrow, or send them to another program");
        return FRZ_E_ARGUMENT;
    }
    *out = answer;
    return FRZ_OK;
}

static frz_code answer_parquet(cli_context *context, const cli_answer *answer,
                               struct ArrowArrayStream *stream, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_target target = {.out = {.fd = -1}};
    CLI_TRY(cli_target_reserve(&target, answer->path, answer->force, err));
    CLI_TRY(frz_parquet_write_stream(context->env, cli_target_location(&target), stream, NULL, NULL,
                                     err));
    target.made = true;
    CLI_TRY(cli_target_finish(&target, err));
out:
    cli_target_reset(&target);
    return rc;
}

static frz_code write_piece(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    if (cli_interrupted()) {
        return cli_fail(err, FRZ_E_CANCELLED, "writing was cancelled");
    }
    return cli_out_write(ctx, bytes, len, err);
}

/* To a file that can be sought in later the file format, else the stream. */
static frz_code answer_arrow(cli_context *context, const cli_answer *answer,
                             struct ArrowArrayStream *stream, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_ipc_write_options options = FRZ_IPC_WRITE_OPTIONS_INIT;
    cli_target target = {.out = {.fd = -1}};
    if (answer->path != NULL && !ends_with(answer->path, ".arrows")) {
        options.format = FRZ_IPC_FILE;
    }
    CLI_TRY(cli_target_open(&target, answer->path, answer->force, err));
    CLI_TRY(frz_ipc_write(context->env, write_piece, &target.out, stream, &options, NULL, err));
    CLI_TRY(cli_target_finish(&target, err));
out:
    cli_target_reset(&target);
    return rc;
}

static frz_code answer_text(const cli_answer *answer, struct ArrowArrayStream *stream,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_target target = {.out = {.fd = -1}};
    CLI_TRY(cli_target_open(&target, answer->path, answer->force, err));
    CLI_TRY(cli_output_stream(&target.out, answer->format, stream, NULL, err));
    CLI_TRY(cli_target_finish(&target, err));
out:
    cli_target_reset(&target);
    return rc;
}

frz_code cli_answer_rows(cli_context *context, const cli_answer *answer,
                         struct ArrowArrayStream *stream, frz_error *err)
{
    switch (answer->format) {
    case CLI_FORMAT_PARQUET:
        return answer_parquet(context, answer, stream, err);
    case CLI_FORMAT_ARROW:
        return answer_arrow(context, answer, stream, err);
    default:
        return answer_text(answer, stream, err);
    }
}
