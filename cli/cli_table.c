/*
 * Rows of text cells as an aligned table. The first rows are held back until the widths of the
 * columns are known; later rows are printed as they come, wider values pushing the rest of their
 * line.
 */
#include <stdlib.h>

#include "cli.h"

#define HELD_ROWS 1001 /* the titles are the first */
#define SAMPLE_BYTES ((size_t)8 << 20)

static void put_padded(cli_table *table, size_t column, const char *cell, size_t len)
{
    cli_text *text = &table->out->text;
    size_t width = cli_width(cell, len);
    size_t pad = table->widths[column] > width ? table->widths[column] - width : 0;
    bool right = table->right[column];
    bool last = column + 1 == table->columns;
    cli_text_str(text, column == 0 ? " " : " | ");
    cli_text_fill(text, ' ', right ? pad : 0);
    cli_text_bytes(text, cell, len);
    cli_text_fill(text, ' ', right || last ? 0 : pad);
}

static void put_rule(cli_table *table)
{
    cli_text *text = &table->out->text;
    for (size_t c = 0; c < table->columns; c++) {
        cli_text_str(text, c == 0 ? "" : "+");
        cli_text_fill(text, '-', table->widths[c] + 2);
    }
    cli_text_char(text, '\n');
}

/* The sample is over: the titles and the held rows go out. */
static frz_code release_held(cli_table *table, frz_error *err)
{
    const size_t *end = table->ends;
    size_t from = 0;
    for (size_t r = 0; r < table->held_rows; r++) {
        for (size_t c = 0; c < table->columns; c++, end++) {
            put_padded(table, c, table->held.data + from, *end - from);
            from = *end;
        }
        cli_text_char(&table->out->text, '\n');
        if (r == 0) {
            put_rule(table);
        }
        frz_code rc = cli_out_row(table->out, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    free(table->ends);
    table->ends = NULL;
    table->streaming = true;
    table->held.len = 0;
    return FRZ_OK;
}

/* Room for the ends of one more row of cells. */
static bool reserve_row(cli_table *table)
{
    if (table->streaming || table->held_rows < table->row_cap) {
        return true;
    }
    size_t cap = table->row_cap == 0 ? 16 : table->row_cap * 2;
    size_t *ends = realloc(table->ends, (cap * table->columns + 1) * sizeof *ends);
    if (ends == NULL) {
        return false;
    }
    table->ends = ends;
    table->row_cap = cap;
    return true;
}

frz_code cli_table_begin(cli_table *table, cli_out *out, const char *const *titles,
                         const bool *right, size_t columns, frz_error *err)
{
    *table = (cli_table){.out = out, .right = right, .columns = columns};
    table->widths = calloc(columns + 1, sizeof *table->widths);
    if (table->widths == NULL || !reserve_row(table)) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", columns);
    }
    cli_text_reserve(&table->held, 1);
    for (size_t c = 0; c < columns; c++) {
        cli_table_put(table, titles[c]);
    }
    return cli_table_row(table, err);
}

cli_text *cli_table_cell(cli_table *table)
{
    if (table->streaming) {
        table->held.len = 0;
    }
    table->start = table->held.len;
    return &table->held;
}

void cli_table_cell_end(cli_table *table)
{
    cli_text_escape(&table->held, table->start);
    if (table->held.failed == FRZ_OK) {
        const char *cell = table->held.data + table->start;
        size_t len = table->held.len - table->start;
        size_t width = table->streaming ? 0 : cli_width(cell, len);
        size_t *wide = &table->widths[table->column];
        *wide = width > *wide ? width : *wide;
        if (table->streaming) {
            put_padded(table, table->column, cell, len);
        } else {
            table->ends[table->held_rows * table->columns + table->column] = table->held.len;
        }
    }
    table->column++;
}

void cli_table_put(cli_table *table, const char *cell)
{
    cli_text_str(cli_table_cell(table), cell);
    cli_table_cell_end(table);
}

frz_code cli_table_row(cli_table *table, frz_error *err)
{
    table->column = 0;
    if (table->held.failed != FRZ_OK) {
        table->out->text.failed = table->held.failed;
    } else if (table->streaming) {
        cli_text_char(&table->out->text, '\n');
    } else if (++table->held_rows == HELD_ROWS || table->held.len > SAMPLE_BYTES) {
        return release_held(table, err);
    } else if (!reserve_row(table)) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", table->columns);
    }
    return cli_out_row(table->out, err);
}

frz_code cli_table_end(cli_table *table, frz_error *err)
{
    return table->streaming ? FRZ_OK : release_held(table, err);
}

void cli_table_reset(cli_table *table)
{
    free(table->widths);
    free(table->ends);
    cli_text_reset(&table->held);
    *table = (cli_table){0};
}
