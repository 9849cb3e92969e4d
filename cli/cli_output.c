/*
 * Printing an Arrow stream in one of the text formats.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct {
    const char *name;
    cli_format format;
} format_names[] = {
    {"table", CLI_FORMAT_TABLE}, {"csv", CLI_FORMAT_CSV},         {"jsonl", CLI_FORMAT_JSONL},
    {"json", CLI_FORMAT_JSON},   {"parquet", CLI_FORMAT_PARQUET}, {"arrow", CLI_FORMAT_ARROW},
};

frz_code cli_parse_format(const char *name, cli_format *out, frz_error *err)
{
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++) {
        if (strcmp(name, format_names[i].name) == 0) {
            *out = format_names[i].format;
            return FRZ_OK;
        }
    }
    return cli_fail(err, FRZ_E_ARGUMENT,
                    "--format: expected table, csv, jsonl, json, parquet or arrow, found \"%s\"",
                    name);
}

/* ---- streams ---- */

/* The library's streams tell a hint on a line of its own behind the message. */
static frz_code stream_fail(struct ArrowArrayStream *stream, int os_error, frz_error *err)
{
    static const char hint_line[] = "\nhint: ";
    const char *text = stream->get_last_error(stream);
    frz_code code = cli_code_of_errno(os_error);
    text = text == NULL ? frz_code_name(code) : text;
    const char *hint = strstr(text, hint_line);
    /* the reason is at the end: of a text that is too long, its beginning is left out */
    size_t len = hint != NULL ? (size_t)(hint - text) : strlen(text);
    size_t most = sizeof err->message - 1, left_out = len <= most ? 0 : len - (most - 3);
    cli_fail(err, code, "%s%.*s", left_out > 0 ? "..." : "", (int)(len - left_out),
             text + left_out);
    if (hint != NULL) {
        cli_hint(err, "%s", hint + strlen(hint_line));
    }
    return code;
}

frz_code cli_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out, frz_error *err)
{
    int failed = stream->get_schema(stream, out);
    return failed != 0 ? stream_fail(stream, failed, err) : FRZ_OK;
}

frz_code cli_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, frz_error *err)
{
    if (cli_interrupted()) {
        return cli_fail(err, FRZ_E_CANCELLED, "reading was cancelled");
    }
    int failed = stream->get_next(stream, out);
    if (failed != 0) {
        out->release = NULL;
        return stream_fail(stream, failed, err);
    }
    return out->release == NULL ? FRZ_END : FRZ_OK;
}

void cli_stream_release(struct ArrowArrayStream *stream)
{
    if (stream->release != NULL) {
        stream->release(stream);
    }
}

/* ---- rows ---- */

static const cli_rows_format *format_of(cli_format format)
{
    switch (format) {
    case CLI_FORMAT_CSV:
        return &cli_rows_csv;
    case CLI_FORMAT_JSONL:
        return &cli_rows_jsonl;
    case CLI_FORMAT_JSON:
        return &cli_rows_json;
    default:
        return &cli_rows_table;
    }
}

/* Which columns are printed: types and places of those that are not hidden. */
typedef struct column_choice {
    cli_type type; /* children are copies without owners */
    size_t *places;
    struct ArrowArray **arrays; /* of the batch at hand */
} column_choice;

static void choice_reset(column_choice *choice)
{
    free(choice->type.children);
    free(choice->places);
    free(choice->arrays);
    *choice = (column_choice){0};
}

static bool is_hidden(const char *name, const char *const *hidden)
{
    while (hidden != NULL && *hidden != NULL && strcmp(name, *hidden) != 0) {
        hidden++;
    }
    return hidden != NULL && *hidden != NULL;
}

static frz_code choice_make(const cli_type *all, const char *const *hidden, column_choice *out,
                            frz_error *err)
{
    size_t room = all->child_count + 1;
    out->type = *all;
    out->type.child_count = 0;
    out->type.children = calloc(room, sizeof *out->type.children);
    out->places = calloc(room, sizeof *out->places);
    out->arrays = calloc(room, sizeof *out->arrays);
    if (out->type.children == NULL || out->places == NULL || out->arrays == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", room - 1);
    }
    for (size_t c = 0; c < all->child_count; c++) {
        if (!is_hidden(all->children[c].name, hidden)) {
            out->places[out->type.child_count] = c;
            out->type.children[out->type.child_count++] = all->children[c];
        }
    }
    return FRZ_OK;
}

static frz_code write_batch(const cli_rows_format *format, cli_rows *rows,
                            const column_choice *choice, const struct ArrowArray *batch,
                            frz_error *err)
{
    struct ArrowArray chosen = *batch;
    chosen.children = choice->arrays;
    for (size_t c = 0; c < choice->type.child_count; c++) {
        choice->arrays[c] = batch->children[choice->places[c]];
    }
    for (int64_t i = 0; i < batch->length; i++) {
        frz_code rc = format->row(rows, &chosen, i, err);
        rows->count++;
        if (rc == FRZ_OK) {
            rc = cli_out_row(rows->out, err);
        }
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

static frz_code write_stream(const cli_rows_format *format, cli_rows *rows,
                             const column_choice *choice, struct ArrowArrayStream *stream,
                             frz_error *err)
{
    struct ArrowArray batch = {0};
    frz_code next = cli_stream_next(stream, &batch, err);
    frz_code rc = next < 0 ? next : format->begin(rows, err);
    while (rc == FRZ_OK && next == FRZ_OK) {
        rc = write_batch(format, rows, choice, &batch, err);
        batch.release(&batch);
        batch.release = NULL;
        if (rc == FRZ_OK) {
            next = cli_stream_next(stream, &batch, err);
            rc = next < 0 ? next : FRZ_OK;
        }
    }
    if (rc == FRZ_OK) {
        rc = format->end(rows, err);
    }
    if (batch.release != NULL) {
        batch.release(&batch);
    }
    return rc;
}

frz_code cli_output_columns(cli_out *out, cli_format format, struct ArrowArrayStream *stream,
                            const char *const *hidden, int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    cli_type type = {0};
    column_choice choice = {0};
    cli_rows writer = {.out = out, .type = &choice.type};
    CLI_TRY(cli_stream_schema(stream, &schema, err));
    CLI_TRY(cli_type_init(&type, &schema, err));
    if (type.kind != CLI_STRUCT) {
        rc = cli_fail(err, FRZ_E_INTERNAL, "expected rows of columns, found Arrow format %s",
                      schema.format);
        goto out;
    }
    CLI_TRY(choice_make(&type, hidden, &choice, err));
    CLI_TRY(write_stream(format_of(format), &writer, &choice, stream, err));
    CLI_TRY(cli_out_flush(out, err));
    if (rows != NULL) {
        *rows = writer.count;
    }
out:
    format_of(format)->reset(&writer);
    choice_reset(&choice);
    cli_type_reset(&type);
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return rc;
}

frz_code cli_output_stream(cli_out *out, cli_format format, struct ArrowArrayStream *stream,
                           int64_t *rows, frz_error *err)
{
    return cli_output_columns(out, format, stream, NULL, rows, err);
}
