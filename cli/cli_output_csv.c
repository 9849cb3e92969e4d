/*
 * Rows as comma-separated values: quoting as in RFC 4180, a header line, lines ended by a line
 * feed. Null is nothing between the commas, the empty string is "".
 */
#include <string.h>

#include "cli.h"

static bool needs_quotes(const char *field, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (field[i] == ',' || field[i] == '"' || field[i] == '\n' || field[i] == '\r') {
            return true;
        }
    }
    /* Blanks at the ends are lost in many readers. */
    return len == 0 || field[0] == ' ' || field[len - 1] == ' ';
}

/* Put quotes around what stands in the text from start on, doubling those inside. */
static void quote_field(cli_text *text, size_t start)
{
    size_t len = text->len - start;
    size_t quotes = 0;
    for (size_t i = 0; i < len; i++) {
        quotes += text->data[start + i] == '"';
    }
    if (!cli_text_reserve(text, quotes + 2)) {
        return;
    }
    char *from = text->data + text->len;
    char *to = from + quotes + 2;
    text->len += quotes + 2;
    *--to = '"';
    while (from > text->data + start) {
        *--to = *--from;
        if (*from == '"') {
            *--to = '"';
        }
    }
    *--to = '"';
}

static void finish_field(cli_text *text, size_t start)
{
    if (text->failed == FRZ_OK && needs_quotes(text->data + start, text->len - start)) {
        quote_field(text, start);
    }
}

static frz_code csv_begin(cli_rows *rows, frz_error *err)
{
    cli_text *text = &rows->out->text;
    for (size_t c = 0; c < rows->type->child_count; c++) {
        if (c > 0) {
            cli_text_char(text, ',');
        }
        size_t start = text->len;
        cli_text_str(text, rows->type->children[c].name);
        cli_text_reserve(text, 1);
        finish_field(text, start);
    }
    cli_text_char(text, '\n');
    return cli_out_row(rows->out, err);
}

static frz_code csv_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    cli_text *text = &rows->out->text;
    (void)err;
    for (size_t c = 0; c < rows->type->child_count; c++) {
        const cli_type *type = &rows->type->children[c];
        if (c > 0) {
            cli_text_char(text, ',');
        }
        if (!cli_value_is_null(type, batch->children[c], batch->offset + i)) {
            size_t start = text->len;
            cli_value_plain(text, type, batch->children[c], batch->offset + i);
            cli_text_reserve(text, 1);
            finish_field(text, start);
        }
    }
    cli_text_char(text, '\n');
    return FRZ_OK;
}

static frz_code csv_end(cli_rows *rows, frz_error *err)
{
    (void)rows;
    (void)err;
    return FRZ_OK;
}

static void csv_reset(cli_rows *rows)
{
    (void)rows;
}

const cli_rows_format cli_rows_csv = {csv_begin, csv_row, csv_end, csv_reset};
