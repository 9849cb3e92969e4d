/*
 * Rows of Arrow values as an aligned table.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

typedef struct table_state {
    cli_table table;
    const char **titles;
    bool *right;
} table_state;

static frz_code table_begin(cli_rows *rows, frz_error *err)
{
    size_t columns = rows->type->child_count;
    table_state *state = calloc(1, sizeof *state);
    rows->state = state;
    if (state != NULL) {
        state->titles = calloc(columns + 1, sizeof *state->titles);
        state->right = calloc(columns + 1, sizeof *state->right);
    }
    if (state == NULL || state->titles == NULL || state->right == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", columns);
    }
    for (size_t c = 0; c < columns; c++) {
        state->titles[c] = rows->type->children[c].name;
        state->right[c] = cli_type_is_number(&rows->type->children[c]);
    }
    return cli_table_begin(&state->table, rows->out, state->titles, state->right, columns, err);
}

static frz_code table_row(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err)
{
    cli_table *table = &((table_state *)rows->state)->table;
    for (size_t c = 0; c < rows->type->child_count; c++) {
        const cli_type *type = &rows->type->children[c];
        const struct ArrowArray *array = batch->children[c];
        if (cli_value_is_null(type, array, batch->offset + i)) {
            cli_table_put(table, "NULL");
        } else {
            cli_value_plain(cli_table_cell(table), type, array, batch->offset + i);
            cli_table_cell_end(table);
        }
    }
    return cli_table_row(table, err);
}

static frz_code table_end(cli_rows *rows, frz_error *err)
{
    frz_code rc = cli_table_end(&((table_state *)rows->state)->table, err);
    cli_text_printf(&rows->out->text, "(%" PRId64 " %s)\n", rows->count,
                    rows->count == 1 ? "row" : "rows");
    return rc;
}

static void table_reset(cli_rows *rows)
{
    table_state *state = rows->state;
    if (state != NULL) {
        cli_table_reset(&state->table);
        free(state->titles);
        free(state->right);
        free(state);
    }
    rows->state = NULL;
}

const cli_rows_format cli_rows_table = {table_begin, table_row, table_end, table_reset};
