/*
 * A Parquet file for programs: one JSON object, written as it is read. docs/command-line.md
 * describes its members.
 */
#include <inttypes.h>
#include <string.h>

#include "cli_inspect.h"

/* ---- values ---- */

/* NULL and the empty string are null. */
static void json_name(cli_text *text, const char *name)
{
    if (name == NULL || *name == '\0') {
        cli_text_str(text, "null");
    } else {
        cli_text_json_string(text, name, strlen(name));
    }
}

static void json_count(cli_text *text, const char *key, int64_t count)
{
    if (count < 0) {
        cli_text_printf(text, ",\"%s\":null", key);
    } else {
        cli_text_printf(text, ",\"%s\":%" PRId64, key, count);
    }
}

static const char *json_bool(int value)
{
    return value ? "true" : "false";
}

static void json_path(cli_text *text, const frz_parquet_file *file, size_t column)
{
    cli_text path = {0};
    if (column == FRZ_PARQUET_NO_COLUMN) {
        cli_text_str(text, "null");
        return;
    }
    inspect_path(&path, file, column);
    inspect_json_text(text, (frz_parquet_bytes){path.data, path.len});
    text->failed = path.failed != FRZ_OK ? path.failed : text->failed;
    cli_text_reset(&path);
}

static void json_bound(cli_text *text, const frz_parquet_file *file, size_t column, const char *key,
                       const frz_parquet_bound *bound)
{
    static const char *const exact[] = {"null", "false", "true"};
    cli_text value = {0};
    cli_text_printf(text, ",\"%s\":", key);
    if (bound->value.data == NULL) {
        cli_text_str(text, "null");
        return;
    }
    inspect_bound(&value, file, column, bound->value);
    cli_text_str(text, "{\"text\":");
    inspect_json_text(text, (frz_parquet_bytes){value.data, value.len});
    cli_text_str(text, ",\"bytes\":\"");
    cli_text_hex(text, (const uint8_t *)bound->value.data, bound->value.size);
    cli_text_printf(text, "\",\"exact\":%s,\"deprecated\":%s,\"reliable\":%s}",
                    exact[bound->exact + 1], json_bool(bound->deprecated),
                    json_bool(bound->reliable));
    text->failed = value.failed != FRZ_OK ? value.failed : text->failed;
    cli_text_reset(&value);
}

static void json_place(cli_text *text, const char *key, int64_t offset, int64_t size)
{
    if (offset <= 0) {
        cli_text_printf(text, ",\"%s\":null", key);
        return;
    }
    cli_text_printf(text, ",\"%s\":{\"offset\":%" PRId64, key, offset);
    json_count(text, "size", size > 0 ? size : -1);
    cli_text_char(text, '}');
}

/* ---- parts of the file ---- */

static void json_head(cli_text *text, const frz_parquet_file_info *info, const char *name)
{
    cli_text_str(text, "{\n \"file\":");
    inspect_json_text(text, (frz_parquet_bytes){name, strlen(name)});
    cli_text_printf(text,
                    ",\n \"format\":\"Parquet\",\n \"file_size\":%" PRId64
                    ",\n \"footer_size\":%" PRId64 ",\n \"version\":%" PRId32 ",\n \"created_by\":",
                    info->file_size, info->footer_size, info->version);
    inspect_json_text(text, info->created_by);
    cli_text_printf(text, ",\n \"rows\":%" PRId64, info->rows);
}

frz_code inspect_json_key(cli_out *out, frz_parquet_bytes key, frz_parquet_bytes value, bool first,
                          frz_error *err)
{
    cli_text *text = &out->text;
    cli_text_str(text, first ? "\n  {\"key\":" : ",\n  {\"key\":");
    inspect_json_text(text, key);
    cli_text_str(text, ",\"value\":");
    inspect_json_text(text, value);
    cli_text_char(text, '}');
    return cli_out_row(out, err);
}

static frz_code json_keys(cli_out *out, const frz_parquet_file *file, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text *text = &out->text;
    cli_text_str(text, ",\n \"key_value_metadata\":[");
    for (size_t i = 0; i < count; i++) {
        frz_parquet_bytes key, value;
        frz_parquet_file_key(file, i, &key, &value);
        CLI_TRY(inspect_json_key(out, key, value, i == 0, err));
    }
    cli_text_char(text, ']');
out:
    return rc;
}

static void json_levels(cli_text *text, const frz_parquet_file *file, size_t column)
{
    frz_parquet_column_info info;
    if (column == FRZ_PARQUET_NO_COLUMN) {
        cli_text_str(text, ",\"max_definition_level\":null,\"max_repetition_level\":null}");
        return;
    }
    frz_parquet_column_info_get(file, column, &info);
    cli_text_printf(text, ",\"max_definition_level\":%d,\"max_repetition_level\":%d}",
                    info.max_definition_level, info.max_repetition_level);
}

static void json_node(cli_text *text, const frz_parquet_file *file,
                      const frz_parquet_node_info *node)
{
    cli_text_str(text, "{\"name\":");
    inspect_json_text(text, node->name);
    cli_text_str(text, ",\"path\":");
    json_path(text, file, node->column);
    cli_text_printf(text, ",\"depth\":%d,\"repetition\":\"%s\",\"physical_type\":", node->depth,
                    inspect_repetition(node->repetition));
    json_name(text, node->physical);
    json_count(text, "type_length", node->type_length > 0 ? node->type_length : -1);
    cli_text_str(text, ",\"logical_type\":");
    size_t len = strlen(node->logical);
    inspect_json_text(text, (frz_parquet_bytes){len > 0 ? node->logical : NULL, len});
    if (node->has_field_id) {
        cli_text_printf(text, ",\"field_id\":%" PRId32, node->field_id);
    } else {
        cli_text_str(text, ",\"field_id\":null");
    }
    json_levels(text, file, node->column);
}

static frz_code json_schema(cli_out *out, const frz_parquet_file *file, size_t count,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text_str(&out->text, ",\n \"schema\":[");
    for (size_t i = 1; i < count; i++) {
        frz_parquet_node_info node;
        frz_parquet_node_info_get(file, i, &node);
        cli_text_str(&out->text, i == 1 ? "\n  " : ",\n  ");
        json_node(&out->text, file, &node);
        CLI_TRY(cli_out_row(out, err));
    }
    cli_text_char(&out->text, ']');
out:
    return rc;
}

/* ---- chunks and pages ---- */

static void json_encodings(cli_text *text, uint32_t encodings)
{
    const char *between = "";
    cli_text_str(text, ",\"encodings\":[");
    for (int e = 0; e < 32; e++) {
        if ((encodings >> e & 1) != 0) {
            cli_text_str(text, between);
            json_name(text, frz_parquet_encoding_name(e));
            between = ",";
        }
    }
    cli_text_char(text, ']');
}

static void json_chunk(cli_text *text, const frz_parquet_file *file, size_t column,
                       const frz_parquet_chunk_info *chunk)
{
    cli_text_str(text, "{\"column\":");
    json_path(text, file, column);
    cli_text_str(text, ",\"codec\":");
    json_name(text, chunk->codec);
    json_encodings(text, chunk->encodings);
    json_count(text, "values", chunk->values);
    json_count(text, "nulls", chunk->nulls);
    json_count(text, "distinct", chunk->distinct);
    json_count(text, "nans", chunk->nans);
    json_count(text, "offset", chunk->offset);
    json_count(text, "dictionary_offset",
               chunk->dictionary_offset > 0 ? chunk->dictionary_offset : -1);
    json_count(text, "compressed_size", chunk->compressed_size);
    json_count(text, "uncompressed_size", chunk->uncompressed_size);
    json_count(text, "unencoded_size", chunk->unencoded_size);
    json_bound(text, file, column, "min", &chunk->min);
    json_bound(text, file, column, "max", &chunk->max);
    json_place(text, "column_index", chunk->column_index_offset, chunk->column_index_size);
    json_place(text, "offset_index", chunk->offset_index_offset, chunk->offset_index_size);
    json_place(text, "bloom_filter", chunk->bloom_filter_offset, chunk->bloom_filter_size);
    cli_text_str(text, ",\"file_path\":");
    inspect_json_text(text, chunk->file_path);
    cli_text_printf(text, ",\"encrypted\":%s", json_bool(chunk->encrypted));
}

typedef struct page_list {
    cli_out *out;
    const frz_parquet_file *file;
    size_t column;
    bool begun;
} page_list;

static frz_code json_page(void *ctx, const frz_parquet_page_info *page, frz_error *err)
{
    page_list *list = ctx;
    cli_text *text = &list->out->text;
    frz_code rc = inspect_go_on(err);
    if (rc != FRZ_OK) {
        return rc;
    }
    cli_text_str(text, list->begun ? ",\n    {\"type\":" : "\n    {\"type\":");
    list->begun = true;
    json_name(text, page->type);
    cli_text_str(text, ",\"encoding\":");
    json_name(text, page->encoding);
    json_count(text, "offset", page->offset);
    json_count(text, "header_size", page->header_size);
    json_count(text, "compressed_size", page->compressed_size);
    json_count(text, "uncompressed_size", page->uncompressed_size);
    json_count(text, "values", page->values);
    json_count(text, "first_row", page->first_row);
    json_count(text, "rows", page->rows);
    cli_text_printf(text, ",\"checksum\":%s", json_bool(page->has_checksum));
    json_count(text, "nulls", page->nulls);
    json_count(text, "nans", page->nans);
    json_bound(text, list->file, list->column, "min", &page->min);
    json_bound(text, list->file, list->column, "max", &page->max);
    cli_text_char(text, '}');
    return cli_out_row(list->out, err);
}

static frz_code json_pages(cli_out *out, const frz_parquet_file *file, size_t group, size_t column,
                           frz_error *err)
{
    page_list list = {.out = out, .file = file, .column = column};
    cli_text_str(&out->text, ",\"pages\":[");
    frz_code rc = frz_parquet_pages_visit(file, group, column, json_page, &list, err);
    cli_text_char(&out->text, ']');
    return rc;
}

/* ---- row groups ---- */

static void json_sorting(cli_text *text, const frz_parquet_file *file, size_t group, size_t count)
{
    cli_text_str(text, ",\"sorting\":[");
    for (size_t i = 0; i < count; i++) {
        frz_parquet_sorting sorting;
        frz_parquet_group_sorting(file, group, i, &sorting);
        cli_text_str(text, i == 0 ? "{\"column\":" : ",{\"column\":");
        json_path(text, file, sorting.column);
        cli_text_printf(text, ",\"descending\":%s,\"nulls_first\":%s}",
                        json_bool(sorting.descending), json_bool(sorting.nulls_first));
    }
    cli_text_char(text, ']');
}

static frz_code json_group(cli_out *out, const frz_parquet_file *file, size_t group, size_t columns,
                           bool pages, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_group_info info;
    frz_parquet_group_info_get(file, group, &info);
    cli_text_printf(&out->text, "{\"first_row\":%" PRId64 ",\"rows\":%" PRId64, info.first_row,
                    info.rows);
    json_count(&out->text, "uncompressed_size", info.uncompressed_size);
    json_sorting(&out->text, file, group, info.sorting_count);
    cli_text_str(&out->text, ",\"columns\":[");
    for (size_t c = 0; c < columns; c++) {
        frz_parquet_chunk_info chunk;
        CLI_TRY(inspect_go_on(err));
        CLI_TRY(frz_parquet_chunk_info_get(file, group, c, &chunk, err));
        cli_text_str(&out->text, c == 0 ? "\n   " : ",\n   ");
        json_chunk(&out->text, file, c, &chunk);
        if (pages) {
            CLI_TRY(json_pages(out, file, group, c, err));
        }
        cli_text_char(&out->text, '}');
        CLI_TRY(cli_out_row(out, err));
    }
    cli_text_str(&out->text, "]}");
out:
    return rc;
}

frz_code inspect_json(cli_out *out, const frz_parquet_file *file, const inspect_request *request,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file_info info;
    frz_parquet_file_info_get(file, &info);
    json_head(&out->text, &info, request->name);
    CLI_TRY(json_keys(out, file, info.key_count, err));
    CLI_TRY(json_schema(out, file, info.node_count, err));
    cli_text_str(&out->text, ",\n \"row_groups\":[");
    for (size_t g = 0; g < info.group_count; g++) {
        cli_text_str(&out->text, g == 0 ? "\n  " : ",\n  ");
        CLI_TRY(json_group(out, file, g, info.column_count, request->pages, err));
    }
    cli_text_str(&out->text, "]\n}\n");
    CLI_TRY(cli_out_flush(out, err));
out:
    return rc;
}
