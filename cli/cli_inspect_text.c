/*
 * A Parquet file for people: its size, its schema, a line for each column over all row groups, the
 * row groups, and on request each column chunk and page.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli_inspect.h"

#define BOUND_WIDTH 32 /* columns of the terminal for a minimum or maximum */
#define VALUE_WIDTH 72 /* for the value of a key */

/* ---- pieces ---- */

/* Keep so many columns of what was appended from start on. */
static void cut(cli_text *text, size_t start, size_t width)
{
    size_t at = start;
    size_t used = 0;
    if (text->failed != FRZ_OK || cli_width(text->data + start, text->len - start) <= width) {
        return;
    }
    while (at < text->len) {
        uint32_t code;
        size_t size = cli_utf8_decode(text->data + at, text->len - at, &code);
        size = size == 0 ? 1 : size;
        used += cli_width(text->data + at, size);
        if (used >= width) {
            break;
        }
        at += size;
    }
    text->len = at;
    cli_text_str(text, "…");
}

static void put_text(cli_text *text, frz_parquet_bytes bytes)
{
    if (inspect_is_utf8(bytes)) {
        cli_text_bytes(text, bytes.data, bytes.size);
    } else {
        cli_text_str(text, "0x");
        cli_text_hex(text, (const uint8_t *)bytes.data, bytes.size);
    }
}

static void put_grouped(cli_text *text, int64_t number)
{
    char digits[CLI_NUMBER_TEXT];
    cli_text_bytes(text, digits, cli_grouped_text(number, digits));
}

/* A count that may not be told. */
static void cell_count(cli_table *table, int64_t count)
{
    if (count < 0) {
        cli_table_put(table, "");
    } else {
        put_grouped(cli_table_cell(table), count);
        cli_table_cell_end(table);
    }
}

static void cell_ratio(cli_table *table, int64_t from, int64_t to)
{
    cli_text *text = cli_table_cell(table);
    if (from > 0 && to > 0) {
        cli_text_printf(text, "%.1f", (double)from / (double)to);
    }
    cli_table_cell_end(table);
}

/* Bounds that are not relied on stand in parentheses. */
static void cell_bound(cli_table *table, const frz_parquet_file *file, size_t column,
                       const frz_parquet_bound *bound)
{
    cli_text *text = cli_table_cell(table);
    if (bound->value.data != NULL) {
        cli_text_str(text, bound->reliable ? "" : "(");
        size_t start = text->len;
        inspect_bound(text, file, column, bound->value);
        cli_text_str(text, text->len == start ? "\"\"" : "");
        cut(text, start, BOUND_WIDTH);
        cli_text_str(text, bound->reliable ? "" : ")");
    }
    cli_table_cell_end(table);
}

static void cell_encodings(cli_table *table, uint32_t encodings)
{
    cli_text *text = cli_table_cell(table);
    const char *between = "";
    for (int e = 0; e < 31; e++) {
        const char *name = frz_parquet_encoding_name(e);
        if ((encodings >> e & 1) != 0) {
            cli_text_printf(text, "%s%s", between, name == NULL ? "?" : name);
            between = ", ";
        }
    }
    if ((encodings & FRZ_PARQUET_OTHER_ENCODING) != 0) {
        cli_text_printf(text, "%s?", between);
    }
    cli_table_cell_end(table);
}

static void cell_path(cli_table *table, const frz_parquet_file *file, size_t column)
{
    inspect_path(cli_table_cell(table), file, column);
    cli_table_cell_end(table);
}

/* ---- the file ---- */

static void put_count(cli_text *text, int64_t count, const char *one, const char *many)
{
    put_grouped(text, count);
    cli_text_printf(text, " %s", count == 1 ? one : many);
}

static void put_head(cli_text *text, const frz_parquet_file_info *info, const char *name)
{
    cli_text_printf(text, "file        %s\nsize        ", name);
    cli_text_size(text, info->file_size);
    cli_text_str(text, "\nfooter      ");
    cli_text_size(text, info->footer_size);
    cli_text_printf(text, "\nformat      Parquet, version %" PRId32, info->version);
    if (info->created_by.size > 0) {
        cli_text_str(text, "\nwritten by  ");
        size_t start = text->len;
        put_text(text, info->created_by);
        cli_text_escape(text, start);
    }
    cli_text_str(text, "\nrows        ");
    put_count(text, info->rows, "row in ", "rows in ");
    put_count(text, (int64_t)info->group_count, "row group", "row groups");
    cli_text_str(text, "\ncolumns     ");
    put_grouped(text, (int64_t)info->column_count);
    cli_text_char(text, '\n');
}

/* ---- the schema ---- */

static void put_type(cli_text *text, const frz_parquet_node_info *node)
{
    cli_text_str(text, node->physical == NULL ? "group" : node->physical);
    if (node->type_length > 0) {
        cli_text_printf(text, "(%" PRId32 ")", node->type_length);
    }
    cli_text_printf(text, "%s%s", node->logical[0] == '\0' ? "" : " ", node->logical);
}

static frz_code put_node(cli_table *table, const frz_parquet_node_info *node, frz_error *err)
{
    cli_text *text = cli_table_cell(table);
    cli_text_fill(text, ' ', 2 * (size_t)(node->depth - 1));
    put_text(text, node->name);
    cli_table_cell_end(table);
    put_type(cli_table_cell(table), node);
    cli_table_cell_end(table);
    cli_table_put(table, inspect_repetition(node->repetition));
    text = cli_table_cell(table);
    if (node->has_field_id) {
        cli_text_printf(text, "%" PRId32, node->field_id);
    }
    cli_table_cell_end(table);
    return cli_table_row(table, err);
}

static frz_code put_schema(cli_out *out, const frz_parquet_file *file,
                           const frz_parquet_file_info *info, frz_error *err)
{
    static const char *const titles[] = {"name", "type", "repetition", "field id"};
    static const bool right[] = {false, false, false, true};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nSchema\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 4, err));
    for (size_t i = 1; i < info->node_count; i++) {
        frz_parquet_node_info node;
        frz_parquet_node_info_get(file, i, &node);
        CLI_TRY(put_node(&table, &node, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

/* ---- columns and chunks ---- */

static const char *const chunk_titles[] = {"column", "codec", "encodings", "values",
                                           "nulls",  "size",  "ratio",     "min",
                                           "max",    "index", "bloom"};
static const bool chunk_right[] = {false, false, false, true,  true, true,
                                   true,  false, false, false, true};
#define CHUNK_TITLES (sizeof chunk_titles / sizeof *chunk_titles)

static frz_code put_chunk(cli_table *table, const frz_parquet_file *file, size_t column,
                          const frz_parquet_chunk_info *chunk, frz_error *err)
{
    cell_path(table, file, column);
    cli_table_put(table, chunk->codec == NULL ? "?" : chunk->codec);
    cell_encodings(table, chunk->encodings);
    cell_count(table, chunk->values);
    cell_count(table, chunk->nulls);
    cell_count(table, chunk->compressed_size);
    cell_ratio(table, chunk->uncompressed_size, chunk->compressed_size);
    cell_bound(table, file, column, &chunk->min);
    cell_bound(table, file, column, &chunk->max);
    cli_table_put(table, chunk->column_index_offset > 0   ? "yes"
                         : chunk->offset_index_offset > 0 ? "offsets"
                                                          : "");
    cell_count(table, chunk->bloom_filter_offset <= 0 ? -1
                      : chunk->bloom_filter_size > 0  ? chunk->bloom_filter_size
                                                      : 0);
    return cli_table_row(table, err);
}

/* What is counted while the columns are gone through. */
typedef struct totals {
    int64_t *group_sizes; /* compressed bytes of each row group */
    int64_t chunks, with_index, with_bloom, bytes;
} totals;

static frz_code count_column(const frz_parquet_file *file, const frz_parquet_file_info *info,
                             size_t column, totals *sums, frz_error *err)
{
    for (size_t g = 0; g < info->group_count; g++) {
        frz_parquet_chunk_info chunk;
        frz_code rc = frz_parquet_chunk_info_get(file, g, column, &chunk, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        int64_t size = chunk.compressed_size > 0 ? chunk.compressed_size : 0;
        sums->group_sizes[g] = (int64_t)((uint64_t)sums->group_sizes[g] + (uint64_t)size);
        sums->bytes = (int64_t)((uint64_t)sums->bytes + (uint64_t)size);
        sums->chunks++;
        sums->with_index += chunk.column_index_offset > 0;
        sums->with_bloom += chunk.bloom_filter_offset > 0;
    }
    return FRZ_OK;
}

static frz_code put_columns(cli_out *out, const frz_parquet_file *file,
                            const frz_parquet_file_info *info, totals *sums, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nColumns, over all row groups\n");
    CLI_TRY(cli_table_begin(&table, out, chunk_titles, chunk_right, CHUNK_TITLES, err));
    for (size_t c = 0; c < info->column_count; c++) {
        frz_parquet_chunk_info chunk;
        CLI_TRY(inspect_go_on(err));
        CLI_TRY(frz_parquet_column_summary_get(file, c, &chunk, err));
        CLI_TRY(count_column(file, info, c, sums, err));
        CLI_TRY(put_chunk(&table, file, c, &chunk, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

/* ---- row groups ---- */

static void put_sorting(cli_text *text, const frz_parquet_file *file, size_t group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        frz_parquet_sorting sorting;
        frz_parquet_group_sorting(file, group, i, &sorting);
        cli_text_str(text, i == 0 ? "" : ", ");
        if (sorting.column == FRZ_PARQUET_NO_COLUMN) {
            cli_text_char(text, '?');
        } else {
            inspect_path(text, file, sorting.column);
        }
        cli_text_str(text, sorting.descending ? " DESC" : "");
        cli_text_str(text, sorting.nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

static frz_code put_groups(cli_out *out, const frz_parquet_file *file,
                           const frz_parquet_file_info *info, const totals *sums, frz_error *err)
{
    static const char *const titles[] = {"group", "first row", "rows",
                                         "size",  "ratio",     "sorted by"};
    static const bool right[] = {true, true, true, true, true, false};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nRow groups\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 6, err));
    for (size_t g = 0; g < info->group_count; g++) {
        frz_parquet_group_info group;
        frz_parquet_group_info_get(file, g, &group);
        cell_count(&table, (int64_t)g);
        cell_count(&table, group.first_row);
        cell_count(&table, group.rows);
        cell_count(&table, sums->group_sizes[g]);
        cell_ratio(&table, group.uncompressed_size, sums->group_sizes[g]);
        put_sorting(cli_table_cell(&table), file, g, group.sorting_count);
        cli_table_cell_end(&table);
        CLI_TRY(cli_table_row(&table, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

static frz_code put_group_chunks(cli_out *out, const frz_parquet_file *file,
                                 const frz_parquet_file_info *info, size_t group, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_printf(&out->text, "\nRow group %zu\n", group);
    CLI_TRY(cli_table_begin(&table, out, chunk_titles, chunk_right, CHUNK_TITLES, err));
    for (size_t c = 0; c < info->column_count; c++) {
        frz_parquet_chunk_info chunk;
        CLI_TRY(inspect_go_on(err));
        CLI_TRY(frz_parquet_chunk_info_get(file, group, c, &chunk, err));
        CLI_TRY(put_chunk(&table, file, c, &chunk, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

/* ---- pages ---- */

typedef struct page_table {
    cli_table table;
    const frz_parquet_file *file;
    size_t column;
} page_table;

static frz_code put_page(void *ctx, const frz_parquet_page_info *page, frz_error *err)
{
    page_table *pages = ctx;
    cli_table *table = &pages->table;
    frz_code rc = inspect_go_on(err);
    if (rc != FRZ_OK) {
        return rc;
    }
    cli_table_put(table, page->type);
    cli_table_put(table, page->encoding == NULL ? "" : page->encoding);
    cell_count(table, page->offset);
    cell_count(table, page->compressed_size);
    cell_ratio(table, page->uncompressed_size, page->compressed_size);
    cell_count(table, page->values);
    cell_count(table, page->nulls);
    cell_count(table, page->first_row);
    cell_count(table, page->rows);
    cell_bound(table, pages->file, pages->column, &page->min);
    cell_bound(table, pages->file, pages->column, &page->max);
    cli_table_put(table, page->has_checksum ? "yes" : "");
    return cli_table_row(table, err);
}

static frz_code put_pages(cli_out *out, const frz_parquet_file *file, size_t group, size_t column,
                          frz_error *err)
{
    static const char *const titles[] = {"page",  "encoding", "offset", "size",
                                         "ratio", "values",   "nulls",  "first row",
                                         "rows",  "min",      "max",    "checksum"};
    static const bool right[] = {false, false, true, true,  true,  true,
                                 true,  true,  true, false, false, false};
    frz_code rc = FRZ_OK;
    page_table pages = {.file = file, .column = column};
    cli_text_printf(&out->text, "\nRow group %zu, pages of ", group);
    size_t start = out->text.len;
    inspect_path(&out->text, file, column);
    cli_text_escape(&out->text, start);
    cli_text_char(&out->text, '\n');
    CLI_TRY(cli_table_begin(&pages.table, out, titles, right, 12, err));
    CLI_TRY(frz_parquet_pages_visit(file, group, column, put_page, &pages, err));
    CLI_TRY(cli_table_end(&pages.table, err));
out:
    cli_table_reset(&pages.table);
    return rc;
}

/* ---- key-value metadata, totals ---- */

frz_code inspect_key_row(cli_table *table, frz_parquet_bytes key, frz_parquet_bytes value,
                         frz_error *err)
{
    put_text(cli_table_cell(table), key);
    cli_table_cell_end(table);
    cell_count(table, value.data == NULL ? -1 : (int64_t)value.size);
    cli_text *text = cli_table_cell(table);
    size_t start = text->len;
    put_text(text, value);
    cut(text, start, VALUE_WIDTH);
    cli_table_cell_end(table);
    return cli_table_row(table, err);
}

static frz_code put_keys(cli_out *out, const frz_parquet_file *file,
                         const frz_parquet_file_info *info, frz_error *err)
{
    static const char *const titles[] = {"key", "bytes", "value"};
    static const bool right[] = {false, true, false};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nKey-value metadata\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 3, err));
    for (size_t i = 0; i < info->key_count; i++) {
        frz_parquet_bytes key, value;
        frz_parquet_file_key(file, i, &key, &value);
        CLI_TRY(inspect_key_row(&table, key, value, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

static void put_totals(cli_text *text, const totals *sums)
{
    cli_text_str(text, "\n(");
    put_count(text, sums->chunks, "column chunk of ", "column chunks of ");
    cli_text_size(text, sums->bytes);
    cli_text_str(text, "; page index in ");
    put_grouped(text, sums->with_index);
    cli_text_str(text, ", bloom filter in ");
    put_grouped(text, sums->with_bloom);
    cli_text_str(text, ")\n");
}

static frz_code put_details(cli_out *out, const frz_parquet_file *file,
                            const frz_parquet_file_info *info, const inspect_request *request,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t g = 0; g < info->group_count; g++) {
        if (request->groups) {
            CLI_TRY(put_group_chunks(out, file, info, g, err));
        }
        for (size_t c = 0; request->pages && c < info->column_count; c++) {
            CLI_TRY(put_pages(out, file, g, c, err));
        }
    }
out:
    return rc;
}

frz_code inspect_text(cli_out *out, const frz_parquet_file *file, const inspect_request *request,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file_info info;
    totals sums = {0};
    frz_parquet_file_info_get(file, &info);
    sums.group_sizes = calloc(info.group_count + 1, sizeof *sums.group_sizes);
    if (sums.group_sizes == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu row groups", info.group_count);
    }
    put_head(&out->text, &info, request->name);
    CLI_TRY(put_schema(out, file, &info, err));
    CLI_TRY(put_columns(out, file, &info, &sums, err));
    CLI_TRY(put_groups(out, file, &info, &sums, err));
    CLI_TRY(put_details(out, file, &info, request, err));
    if (info.key_count > 0) {
        CLI_TRY(put_keys(out, file, &info, err));
    }
    put_totals(&out->text, &sums);
    CLI_TRY(cli_out_flush(out, err));
out:
    free(sums.group_sizes);
    return rc;
}
