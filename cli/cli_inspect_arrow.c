/*
 * An Arrow file or stream for people and programs: its schema as a tree and the rows of its
 * batches.
 */
#include <inttypes.h>
#include <string.h>

#include "cli_inspect.h"

/* ---- names of types ---- */

static const char *const names[][2] = {
    {"n", "null"},
    {"b", "bool"},
    {"c", "int8"},
    {"C", "uint8"},
    {"s", "int16"},
    {"S", "uint16"},
    {"i", "int32"},
    {"I", "uint32"},
    {"l", "int64"},
    {"L", "uint64"},
    {"e", "float16"},
    {"f", "float32"},
    {"g", "float64"},
    {"z", "binary"},
    {"Z", "large_binary"},
    {"vz", "binary_view"},
    {"u", "utf8"},
    {"U", "large_utf8"},
    {"vu", "utf8_view"},
    {"tdD", "date32"},
    {"tdm", "date64"},
    {"tts", "time32(s)"},
    {"ttm", "time32(ms)"},
    {"ttu", "time64(us)"},
    {"ttn", "time64(ns)"},
    {"tDs", "duration(s)"},
    {"tDm", "duration(ms)"},
    {"tDu", "duration(us)"},
    {"tDn", "duration(ns)"},
    {"tiM", "interval(months)"},
    {"tiD", "interval(days, ms)"},
    {"tin", "interval(months, days, ns)"},
    {"+s", "struct"},
    {"+l", "list"},
    {"+L", "large_list"},
    {"+vl", "list_view"},
    {"+vL", "large_list_view"},
    {"+m", "map"},
    {"+r", "run_end_encoded"},
};

/* Formats with parameters: what stands before these, and the name in front of them. */
static const char *const prefixes[][2] = {
    {"w:", "fixed_size_binary"}, {"d:", "decimal"},        {"+w:", "fixed_size_list"},
    {"+ud:", "dense_union"},     {"+us:", "sparse_union"},
};

static void put_timestamp(cli_text *text, const char *format)
{
    const char *unit = format[2] == 's'   ? "s"
                       : format[2] == 'm' ? "ms"
                       : format[2] == 'u' ? "us"
                                          : "ns";
    const char *zone = strchr(format, ':');
    cli_text_printf(text, "timestamp(%s", unit);
    if (zone != NULL && zone[1] != '\0') {
        cli_text_printf(text, ", %s", zone + 1);
    }
    cli_text_char(text, ')');
}

static void put_format(cli_text *text, const char *format)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(format, names[i][0]) == 0) {
            cli_text_str(text, names[i][1]);
            return;
        }
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i][0]);
        if (strncmp(format, prefixes[i][0], len) == 0) {
            cli_text_printf(text, "%s(%s)", prefixes[i][1], format + len);
            return;
        }
    }
    if (strncmp(format, "ts", 2) == 0) {
        put_timestamp(text, format);
        return;
    }
    cli_text_str(text, format);
}

void inspect_arrow_type(cli_text *text, const struct ArrowSchema *schema)
{
    if (schema->dictionary == NULL) {
        put_format(text, schema->format);
        return;
    }
    cli_text_str(text, "dictionary(");
    put_format(text, schema->format);
    cli_text_str(text, ", ");
    inspect_arrow_type(text, schema->dictionary);
    cli_text_char(text, ')');
}

static const char *name_of(const struct ArrowSchema *schema)
{
    return schema->name == NULL ? "" : schema->name;
}

/* Children of the values where there is a dictionary. */
static const struct ArrowSchema *parent_of(const struct ArrowSchema *schema)
{
    return schema->dictionary != NULL ? schema->dictionary : schema;
}

/* ---- text ---- */

static frz_code text_field(cli_table *table, const struct ArrowSchema *schema, size_t depth,
                           frz_error *err)
{
    cli_text *text = cli_table_cell(table);
    cli_text_fill(text, ' ', 2 * depth);
    cli_text_str(text, name_of(schema));
    cli_table_cell_end(table);
    inspect_arrow_type(cli_table_cell(table), schema);
    cli_table_cell_end(table);
    cli_table_put(table, (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "yes" : "");
    frz_code rc = cli_table_row(table, err);
    const struct ArrowSchema *parent = parent_of(schema);
    for (int64_t i = 0; rc == FRZ_OK && i < parent->n_children; i++) {
        rc = text_field(table, parent->children[i], depth + 1, err);
    }
    return rc;
}

static frz_code text_schema(cli_out *out, const struct ArrowSchema *schema, frz_error *err)
{
    static const char *const titles[] = {"name", "type", "nullable"};
    static const bool right[] = {false, false, false};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    cli_text_str(&out->text, "\nSchema\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 3, err));
    for (int64_t i = 0; i < schema->n_children; i++) {
        CLI_TRY(text_field(&table, schema->children[i], 0, err));
    }
    CLI_TRY(cli_table_end(&table, err));
out:
    cli_table_reset(&table);
    return rc;
}

static void put_cell_count(cli_table *table, int64_t count)
{
    char digits[CLI_NUMBER_TEXT];
    cli_grouped_text(count, digits);
    cli_table_put(table, digits);
}

static frz_code text_batches(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    static const char *const titles[] = {"batch", "first row", "rows"};
    static const bool right[] = {true, true, true};
    frz_code rc = FRZ_OK;
    cli_table table = {0};
    struct ArrowArray batch = {0};
    int64_t rows = 0;
    int64_t count = 0;
    cli_text_str(&out->text, "\nBatches\n");
    CLI_TRY(cli_table_begin(&table, out, titles, right, 3, err));
    for (rc = cli_stream_next(stream, &batch, err); rc == FRZ_OK;
         rc = cli_stream_next(stream, &batch, err)) {
        int64_t length = batch.length;
        batch.release(&batch);
        put_cell_count(&table, count++);
        put_cell_count(&table, rows);
        put_cell_count(&table, length);
        rows += length;
        CLI_TRY(cli_table_row(&table, err));
    }
    CLI_TRY(rc == FRZ_END ? cli_table_end(&table, err) : rc);
    cli_text_printf(&out->text, "\n(%" PRId64 " %s, %" PRId64 " %s)\n", rows,
                    rows == 1 ? "row" : "rows", count, count == 1 ? "batch" : "batches");
out:
    cli_table_reset(&table);
    return rc;
}

static frz_code text_all(cli_out *out, struct ArrowArrayStream *stream,
                         const struct ArrowSchema *schema, const char *name, const char *format,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text_printf(&out->text, "file    %s\nformat  %s\n", name, format);
    CLI_TRY(text_schema(out, schema, err));
    CLI_TRY(text_batches(out, stream, err));
out:
    return rc;
}

/* ---- JSON ---- */

static frz_code json_field(cli_out *out, const struct ArrowSchema *schema, int depth, bool first,
                           frz_error *err)
{
    cli_text *text = &out->text;
    cli_text type = {0};
    inspect_arrow_type(&type, schema);
    cli_text_str(text, first ? "\n  {\"name\":" : ",\n  {\"name\":");
    cli_text_json_string(text, name_of(schema), strlen(name_of(schema)));
    cli_text_printf(text, ",\"depth\":%d,\"type\":", depth);
    cli_text_json_string(text, type.data == NULL ? "" : type.data, type.len);
    cli_text_printf(text, ",\"nullable\":%s}",
                    (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false");
    text->failed = type.failed != FRZ_OK ? type.failed : text->failed;
    cli_text_reset(&type);
    frz_code rc = cli_out_row(out, err);
    const struct ArrowSchema *parent = parent_of(schema);
    for (int64_t i = 0; rc == FRZ_OK && i < parent->n_children; i++) {
        rc = json_field(out, parent->children[i], depth + 1, false, err);
    }
    return rc;
}

static frz_code json_batches(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray batch = {0};
    int64_t rows = 0;
    const char *between = "";
    cli_text_str(&out->text, ",\n \"batches\":[");
    for (rc = cli_stream_next(stream, &batch, err); rc == FRZ_OK;
         rc = cli_stream_next(stream, &batch, err)) {
        int64_t length = batch.length;
        batch.release(&batch);
        cli_text_printf(&out->text, "%s\n  {\"first_row\":%" PRId64 ",\"rows\":%" PRId64 "}",
                        between, rows, length);
        between = ",";
        rows += length;
        CLI_TRY(cli_out_row(out, err));
    }
    CLI_TRY(rc == FRZ_END ? FRZ_OK : rc);
    cli_text_printf(&out->text, "],\n \"rows\":%" PRId64 "\n}\n", rows);
out:
    return rc;
}

static frz_code json_all(cli_out *out, struct ArrowArrayStream *stream,
                         const struct ArrowSchema *schema, const char *name, const char *format,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text_str(&out->text, "{\n \"file\":");
    inspect_json_text(&out->text, (frz_parquet_bytes){name, strlen(name)});
    cli_text_str(&out->text, ",\n \"format\":");
    cli_text_json_string(&out->text, format, strlen(format));
    cli_text_str(&out->text, ",\n \"schema\":[");
    for (int64_t i = 0; i < schema->n_children; i++) {
        CLI_TRY(json_field(out, schema->children[i], 1, i == 0, err));
    }
    cli_text_char(&out->text, ']');
    CLI_TRY(json_batches(out, stream, err));
out:
    return rc;
}

frz_code inspect_arrow(cli_context *context, const char *name, const char *format, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema schema = {0};
    CLI_TRY(frz_ipc_open(context->env, name, &stream, err));
    CLI_TRY(cli_stream_schema(&stream, &schema, err));
    CLI_TRY(context->json ? json_all(&context->out, &stream, &schema, name, format, err)
                          : text_all(&context->out, &stream, &schema, name, format, err));
    CLI_TRY(cli_out_flush(&context->out, err));
out:
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    cli_stream_release(&stream);
    return rc;
}
