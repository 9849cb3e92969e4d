/*
 * Rows as JSON: one object per line (jsonl), or one array with an element per line (json).
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The keys with their quotes and colons, written once: {"id": and ,"c_1": and so on. */
typedef struct json_keys {
    cli_text text;
    size_t *ends;
} json_keys;

static frz_code json_begin(cli_rows *rows, frz_error *err)
{
    size_t count = rows->type->child_count;
    json_keys *keys = calloc(1, sizeof *keys);
    rows->state = keys;
    if (keys != NULL) {
        keys->ends = calloc(count + 1, sizeof *keys->ends);
    }
    if (keys == NULL || keys->ends == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", count);
    }
    for (size_t c = 0; c < count; c++) {
        const char *name = rows->type->children[c].name;
        cli_text_char(&keys->text, c == 0 ? '{' : ',');
        cli_text_json_string(&keys->text, name, strlen(name));
        cli_text_char(&keys->text, ':');
        keys->ends[c] = keys->text.len;
    }
    rows->out->text.failed = keys->text.failed;
    return cli_out_row(rows->out, err);
}

static void json_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i)
{
    const json_keys *keys = rows->state;
    cli_text *text = &rows->out->text;
    size_t from = 0;
    for (size_t c = 0; c < rows->type->child_count; c++) {
        cli_text_bytes(text, keys->text.data + from, keys->ends[c] - from);
        from = keys->ends[c];
        cli_value_json(text, &rows->type->children[c], batch->children[c], batch->offset + i);
    }
    cli_text_str(text, rows->type->child_count == 0 ? "{}" : "}");
}

static void json_reset(cli_rows *rows)
{
    json_keys *keys = rows->state;
    if (keys != NULL) {
        cli_text_reset(&keys->text);
        free(keys->ends);
        free(keys);
    }
    rows->state = NULL;
}

/* ---- one object per line ---- */

static frz_code jsonl_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    (void)err;
    json_row(rows, batch, i);
    cli_text_char(&rows->out->text, '\n');
    return FRZ_OK;
}

static frz_code jsonl_end(cli_rows *rows, frz_error *err)
{
    (void)rows;
    (void)err;
    return FRZ_OK;
}

const cli_rows_format cli_rows_jsonl = {json_begin, jsonl_row, jsonl_end, json_reset};

/* ---- an array ---- */

static frz_code array_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    (void)err;
    cli_text_str(&rows->out->text, rows->count == 0 ? "[\n " : ",\n ");
    json_row(rows, batch, i);
    return FRZ_OK;
}

static frz_code array_end(cli_rows *rows, frz_error *err)
{
    (void)err;
    cli_text_str(&rows->out->text, rows->count == 0 ? "[]\n" : "\n]\n");
    return FRZ_OK;
}

const cli_rows_format cli_rows_json = {json_begin, array_row, array_end, json_reset};
