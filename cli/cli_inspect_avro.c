/*
 * An Avro file for people and programs: its schema as a tree with field ids, blocks and codec, and
 * the metadata.
 */
#include <inttypes.h>
#include <string.h>

#include "cli_inspect.h"

#define NO_ID (-1)
#define FIELD_ID "PARQUET:field_id"

/* ---- field ids ---- */

static int32_t take_length(const char **at)
{
    int32_t length;
    memcpy(&length, *at, sizeof length);
    *at += sizeof length;
    return length;
}

/* The id in a field's metadata, which is a count and that many pairs of lengths and bytes. */
static int32_t field_id(const struct ArrowSchema *schema)
{
    const char *at = schema->metadata;
    int32_t count = at == NULL ? 0 : take_length(&at);
    for (int32_t i = 0; i < count; i++) {
        int32_t key_len = take_length(&at);
        const char *key = at;
        at += key_len;
        int32_t len = take_length(&at);
        if (key_len == (int32_t)strlen(FIELD_ID) && memcmp(key, FIELD_ID, (size_t)key_len) == 0) {
            int32_t id = 0;
            for (int32_t k = 0; k < len; k++) {
                id = id * 10 + (at[k] - '0');
            }
            return id;
        }
        at += len;
    }
    return NO_ID;
}

/* ---- text ---- */

static frz_code text_field(cli_table *table, const struct ArrowSchema *schema, size_t depth,
                           frz_error *err)
{
    cli_text *text = cli_table_cell(table);
    cli_text_fill(text, ' ', 2 * depth);
    cli_text_str(text, schema->name);
    cli_table_cell_end(table);
    inspect_arrow_type(cli_table_cell(table), schema);
    cli_table_cell_end(table);
    cli_table_put(table, (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "yes" : "");
    text = cli_table_cell(table);
    int32_t id = field_id(schema);
    if (id != NO_ID) {
        cli_text_printf(text, "%" PRId32, id);
    }
    cli_table_cell_end(table);
    frz_code rc = cli_table_row(table, err);
    for (int64_t i = 0; rc == FRZ_OK && i < schema->n_children; i++) {
        rc = text_field(table, schema->children[i], depth + 1, err);
    }
    return rc;
}

static frz_code text_schema(cli_out *out, const struct ArrowSchema *schema, frz_error *err)
{
    static const char *const titles[] = {"name", "type", "nullable", "field id"};
    static const bool right[] = {false, false, false, true};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nSchema\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 4, err));
    for (int64_t i = 0; i < schema->n_children; i++) {
        CLI_TRY(text_field(&table, schema->children[i], 0, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

static void key_of(const frz_avro_file *file, size_t i, frz_parquet_bytes *key,
                   frz_parquet_bytes *value)
{
    frz_avro_file_key(file, i, &key->data, &key->size, &value->data, &value->size);
}

static frz_code text_keys(cli_out *out, const frz_avro_file *file, size_t count, frz_error *err)
{
    static const char *const titles[] = {"key", "bytes", "value"};
    static const bool right[] = {false, true, false};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nMetadata\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 3, err));
    for (size_t i = 0; i < count; i++) {
        frz_parquet_bytes key, value;
        key_of(file, i, &key, &value);
        CLI_TRY(inspect_key_row(&table, key, value, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

static void put_count(cli_text *text, int64_t count, const char *one, const char *many)
{
    char digits[CLI_NUMBER_TEXT];
    cli_text_bytes(text, digits, cli_grouped_text(count, digits));
    cli_text_printf(text, " %s", count == 1 ? one : many);
}

static frz_code text_all(cli_out *out, const frz_avro_file *file, const struct ArrowSchema *schema,
                         const char *name, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text *text = &out->text;
    frz_avro_file_info info;
    frz_avro_file_info_get(file, &info);
    cli_text_printf(text, "file    %s\nsize    ", name);
    cli_text_size(text, info.file_size);
    cli_text_str(text, "\nheader  ");
    cli_text_size(text, info.header_size);
    cli_text_printf(text, "\nformat  Avro, codec %s\nrows    ", info.codec);
    put_count(text, info.rows, "row in ", "rows in ");
    put_count(text, info.blocks, "block\n", "blocks\n");
    CLI_TRY(text_schema(out, schema, err));
    CLI_TRY(text_keys(out, file, info.key_count, err));
out:
    return rc;
}

/* ---- JSON ---- */

static frz_code json_field(cli_out *out, const struct ArrowSchema *schema, int depth, bool first,
                           frz_error *err)
{
    cli_text *text = &out->text;
    cli_text type = {0};
    int32_t id = field_id(schema);
    inspect_arrow_type(&type, schema);
    cli_text_str(text, first ? "\n  {\"name\":" : ",\n  {\"name\":");
    cli_text_json_string(text, schema->name, strlen(schema->name));
    cli_text_printf(text, ",\"depth\":%d,\"type\":", depth);
    cli_text_json_string(text, type.data == NULL ? "" : type.data, type.len);
    cli_text_printf(text, ",\"nullable\":%s,\"field_id\":",
                    (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false");
    if (id == NO_ID) {
        cli_text_str(text, "null}");
    } else {
        cli_text_printf(text, "%" PRId32 "}", id);
    }
    text->failed = type.failed != FRZ_OK ? type.failed : text->failed;
    cli_text_reset(&type);
    frz_code rc = cli_out_row(out, err);
    for (int64_t i = 0; rc == FRZ_OK && i < schema->n_children; i++) {
        rc = json_field(out, schema->children[i], depth + 1, false, err);
    }
    return rc;
}

static frz_code json_all(cli_out *out, const frz_avro_file *file, const struct ArrowSchema *schema,
                         const char *name, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text *text = &out->text;
    frz_avro_file_info info;
    frz_avro_file_info_get(file, &info);
    cli_text_str(text, "{\n \"file\":");
    inspect_json_text(text, (frz_parquet_bytes){name, strlen(name)});
    cli_text_printf(text,
                    ",\n \"format\":\"Avro\",\n \"file_size\":%" PRId64
                    ",\n \"header_size\":%" PRId64 ",\n \"codec\":\"%s\",\n \"blocks\":%" PRId64
                    ",\n \"rows\":%" PRId64 ",\n \"key_value_metadata\":[",
                    info.file_size, info.header_size, info.codec, info.blocks, info.rows);
    for (size_t i = 0; i < info.key_count; i++) {
        frz_parquet_bytes key, value;
        key_of(file, i, &key, &value);
        CLI_TRY(inspect_json_key(out, key, value, i == 0, err));
    }
    cli_text_str(text, "],\n \"schema\":[");
    for (int64_t i = 0; i < schema->n_children; i++) {
        CLI_TRY(json_field(out, schema->children[i], 1, i == 0, err));
    }
    cli_text_str(text, "]\n}\n");
out:
    return rc;
}

frz_code inspect_avro(cli_context *context, const char *name, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_avro_file *file = NULL;
    struct ArrowSchema schema = {0};
    CLI_TRY(frz_avro_file_open(context->env, name, &file, err));
    CLI_TRY(frz_avro_file_schema(file, &schema, err));
    CLI_TRY(context->json ? json_all(&context->out, file, &schema, name, err)
                          : text_all(&context->out, file, &schema, name, err));
    CLI_TRY(cli_out_flush(&context->out, err));
out:
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    frz_avro_file_close(file);
    return rc;
}
