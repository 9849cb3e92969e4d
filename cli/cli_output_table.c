/*
 * Rows as an aligned table. The first rows are held back until the widths of the columns are
 * known; later rows are printed as they come, wider values pushing the rest of their line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define SAMPLE_ROWS 1000
#define SAMPLE_BYTES ((size_t)8 << 20)

typedef struct table_state {
    size_t *widths;
    size_t *cells; /* ends of the held cells in held, row by row */
    size_t row_cap;
    int64_t held_rows;
    cli_text held;
    bool streaming;
} table_state;

/* Characters that would break the line or steer the terminal are shown by their names. */
static void escape_controls(cli_text *text, size_t start)
{
    size_t at = start;
    while (at < text->len && (uint8_t)text->data[at] >= ' ' && text->data[at] != '\x7f') {
        at++;
    }
    if (text->failed != FRZ_OK || at == text->len) {
        return;
    }
    cli_text clean = {0};
    for (size_t i = start; i < text->len; i++) {
        uint8_t c = (uint8_t)text->data[i];
        if (c == '\n' || c == '\t' || c == '\r') {
            cli_text_str(&clean, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        } else if (c < ' ' || c == 0x7F) {
            cli_text_printf(&clean, "\\x%02x", c);
        } else {
            cli_text_char(&clean, (char)c);
        }
    }
    text->len = start;
    cli_text_bytes(text, clean.data, clean.len);
    text->failed = clean.failed != FRZ_OK ? clean.failed : text->failed;
    cli_text_reset(&clean);
}

static void put_cell(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                     int64_t i)
{
    size_t start = text->len;
    if (cli_value_is_null(type, array, i)) {
        cli_text_str(text, "NULL");
    } else {
        cli_value_plain(text, type, array, i);
        escape_controls(text, start);
    }
}

static void put_padded(cli_rows *rows, size_t column, const char *cell, size_t len)
{
    const table_state *state = rows->state;
    cli_text *text = &rows->out->text;
    size_t width = cli_width(cell, len);
    size_t pad = state->widths[column] > width ? state->widths[column] - width : 0;
    bool right = cli_type_is_number(&rows->type->children[column]);
    bool last = column + 1 == rows->type->child_count;
    cli_text_str(text, column == 0 ? " " : " | ");
    cli_text_fill(text, ' ', right ? pad : 0);
    cli_text_bytes(text, cell, len);
    cli_text_fill(text, ' ', right || last ? 0 : pad);
}

static void put_header(cli_rows *rows)
{
    const table_state *state = rows->state;
    cli_text *text = &rows->out->text;
    for (size_t c = 0; c < rows->type->child_count; c++) {
        const char *name = rows->type->children[c].name;
        put_padded(rows, c, name, strlen(name));
    }
    cli_text_char(text, '\n');
    for (size_t c = 0; c < rows->type->child_count; c++) {
        cli_text_str(text, c == 0 ? "" : "+");
        cli_text_fill(text, '-', state->widths[c] + 2);
    }
    cli_text_char(text, '\n');
}

/* The sample is over: header and held rows go out. */
static frz_code release_held(cli_rows *rows, frz_error *err)
{
    table_state *state = rows->state;
    const size_t *end = state->cells;
    size_t from = 0;
    put_header(rows);
    for (int64_t r = 0; r < state->held_rows; r++) {
        for (size_t c = 0; c < rows->type->child_count; c++, end++) {
            put_padded(rows, c, state->held.data + from, *end - from);
            from = *end;
        }
        cli_text_char(&rows->out->text, '\n');
        frz_code rc = cli_out_row(rows->out, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    free(state->cells);
    state->cells = NULL;
    state->streaming = true;
    state->held.len = 0;
    return FRZ_OK;
}

/* Room for the ends of one more row of cells. */
static bool reserve_row(table_state *state, size_t columns)
{
    if ((size_t)state->held_rows < state->row_cap) {
        return true;
    }
    size_t cap = state->row_cap == 0 ? 16 : state->row_cap * 2;
    size_t *cells = realloc(state->cells, (cap * columns + 1) * sizeof *cells);
    if (cells == NULL) {
        return false;
    }
    state->cells = cells;
    state->row_cap = cap;
    return true;
}

static frz_code hold_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    table_state *state = rows->state;
    size_t columns = rows->type->child_count;
    if (!reserve_row(state, columns)) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", columns);
    }
    size_t *ends = state->cells + (size_t)state->held_rows * columns;
    for (size_t c = 0; c < columns; c++) {
        size_t start = state->held.len;
        put_cell(&state->held, &rows->type->children[c], batch->children[c], batch->offset + i);
        if (state->held.failed != FRZ_OK) {
            rows->out->text.failed = state->held.failed;
            return cli_out_flush(rows->out, err);
        }
        ends[c] = state->held.len;
        size_t width = cli_width(state->held.data + start, state->held.len - start);
        state->widths[c] = width > state->widths[c] ? width : state->widths[c];
    }
    state->held_rows++;
    bool full = state->held_rows == SAMPLE_ROWS || state->held.len > SAMPLE_BYTES;
    return full ? release_held(rows, err) : FRZ_OK;
}

static frz_code table_begin(cli_rows *rows, frz_error *err)
{
    size_t columns = rows->type->child_count;
    table_state *state = calloc(1, sizeof *state);
    rows->state = state;
    if (state != NULL) {
        state->widths = calloc(columns + 1, sizeof *state->widths);
    }
    if (state == NULL || state->widths == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", columns);
    }
    for (size_t c = 0; c < columns; c++) {
        const char *name = rows->type->children[c].name;
        state->widths[c] = cli_width(name, strlen(name));
    }
    cli_text_reserve(&state->held, 1);
    return FRZ_OK;
}

static frz_code table_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    table_state *state = rows->state;
    if (!state->streaming) {
        return hold_row(rows, batch, i, err);
    }
    for (size_t c = 0; c < rows->type->child_count; c++) {
        state->held.len = 0;
        put_cell(&state->held, &rows->type->children[c], batch->children[c], batch->offset + i);
        put_padded(rows, c, state->held.data, state->held.len);
    }
    if (state->held.failed != FRZ_OK) {
        rows->out->text.failed = state->held.failed;
    }
    cli_text_char(&rows->out->text, '\n');
    return FRZ_OK;
}

static frz_code table_end(cli_rows *rows, frz_error *err)
{
    const table_state *state = rows->state;
    frz_code rc = state->streaming ? FRZ_OK : release_held(rows, err);
    cli_text_printf(&rows->out->text, "(%" PRId64 " %s)\n", rows->count,
                    rows->count == 1 ? "row" : "rows");
    return rc;
}

static void table_reset(cli_rows *rows)
{
    table_state *state = rows->state;
    if (state != NULL) {
        free(state->widths);
        free(state->cells);
        cli_text_reset(&state->held);
        free(state);
    }
    rows->state = NULL;
}

const cli_rows_format cli_rows_table = {table_begin, table_row, table_end, table_reset};
