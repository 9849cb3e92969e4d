/*
 * frazil describe, schema, snapshots, files and the like: what the library lists about a table, for
 * people as text, for programs as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_option snapshot_options[] = {
    CLI_SNAPSHOT_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

/* Prints the rows of one view for people. */
typedef frz_code (*view_printer)(cli_out *out, struct ArrowArrayStream *stream, frz_error *err);

static frz_code open_view(cli_context *context, frz_table_view view,
                          struct ArrowArrayStream *stream, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_snapshot snapshot = {0};
    CLI_TRY(cli_snapshot_read(context->args, &snapshot, err));
    CLI_TRY(cli_open_table(context, err));
    if (snapshot.as_of != NULL || snapshot.ref != NULL) {
        CLI_TRY(frz_table_find_snapshot(context->table, snapshot.as_of, snapshot.ref, &snapshot.id,
                                        err));
    }
    CLI_TRY(frz_table_list(context->table, view, snapshot.id, stream, err));
out:
    return rc;
}

static frz_code print_view(cli_context *context, frz_table_view view, view_printer for_people,
                           view_printer for_programs, frz_error *err)
{
    struct ArrowArrayStream stream = {0};
    frz_code rc = open_view(context, view, &stream, err);
    if (rc == FRZ_OK) {
        rc = (context->json ? for_programs : for_people)(&context->out, &stream, err);
    }
    cli_stream_release(&stream);
    return rc;
}

static frz_code print_table(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    return cli_output_stream(out, CLI_FORMAT_TABLE, stream, NULL, err);
}

/* What makes lines too long to read is left to --json. */
static frz_code print_readable(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    static const char *const long_ones[] = {"root_manifest", "manifest_list",   "summary",
                                            "manifest",      "deletion_vector", NULL};
    return cli_output_columns(out, CLI_FORMAT_TABLE, stream, long_ones, NULL, err);
}

static frz_code print_json(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    return cli_output_stream(out, CLI_FORMAT_JSON, stream, NULL, err);
}

/* ---- walking rows ---- */

/* Called for each row. */
typedef void (*row_visit)(void *ctx, const cli_type *type, const struct ArrowArray *batch,
                          int64_t i);

/* Visit all rows of a stream whose columns are known; type is valid inside the visits only. */
static frz_code each_row(struct ArrowArrayStream *stream, row_visit visit, void *ctx,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    cli_type type = {0};
    CLI_TRY(cli_stream_schema(stream, &schema, err));
    CLI_TRY(cli_type_init(&type, &schema, err));
    for (rc = cli_stream_next(stream, &batch, err); rc == FRZ_OK;
         rc = cli_stream_next(stream, &batch, err)) {
        for (int64_t i = 0; i < batch.length; i++) {
            visit(ctx, &type, &batch, i);
        }
        batch.release(&batch);
        batch.release = NULL;
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    cli_type_reset(&type);
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return rc;
}

/* ---- describe: pairs of key and value ---- */

#define PAIR_MAX_KEY 40 /* longer keys, such as properties', push their value aside */

/* Keys and values one after the other, each ended by a NUL, and the widest key. */
typedef struct pair_list {
    cli_text text;
    size_t width;
} pair_list;

static void collect_pair(void *ctx, const cli_type *type, const struct ArrowArray *batch, int64_t i)
{
    pair_list *pairs = ctx;
    size_t start = pairs->text.len;
    cli_value_plain(&pairs->text, &type->children[0], batch->children[0], batch->offset + i);
    size_t width = pairs->text.len - start;
    cli_text_char(&pairs->text, '\0');
    cli_value_plain(&pairs->text, &type->children[1], batch->children[1], batch->offset + i);
    cli_text_char(&pairs->text, '\0');
    if (width <= PAIR_MAX_KEY && width > pairs->width) {
        pairs->width = width;
    }
}

static frz_code print_pairs(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    pair_list pairs = {0};
    frz_code rc = each_row(stream, collect_pair, &pairs, err);
    const char *at = pairs.text.data;
    const char *end = at + pairs.text.len;
    while (rc == FRZ_OK && pairs.text.failed == FRZ_OK && at < end) {
        const char *value = at + strlen(at) + 1;
        cli_text_printf(&out->text, "%-*s  %s\n", (int)pairs.width, at, value);
        at = value + strlen(value) + 1;
    }
    out->text.failed = pairs.text.failed != FRZ_OK ? pairs.text.failed : out->text.failed;
    cli_text_reset(&pairs.text);
    return rc;
}

/* Keys become members. */
static void json_pair(void *ctx, const cli_type *type, const struct ArrowArray *batch, int64_t i)
{
    cli_text *text = ctx;
    cli_text_str(text, text->len == 0 ? "{\n " : ",\n ");
    cli_value_json(text, &type->children[0], batch->children[0], batch->offset + i);
    cli_text_str(text, ": ");
    cli_value_json(text, &type->children[1], batch->children[1], batch->offset + i);
}

static frz_code print_pairs_json(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    frz_code rc = each_row(stream, json_pair, &out->text, err);
    cli_text_str(&out->text, out->text.len == 0 ? "{}\n" : "\n}\n");
    return rc;
}

/* ---- files: a tree ---- */

typedef struct file_tree {
    cli_text *text;
    int64_t data_files, column_files;
} file_tree;

static void put_size(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                     int64_t i)
{
    size_t c = cli_type_find(type, "file_size_in_bytes");
    int64_t bytes;
    if (c < type->child_count &&
        cli_value_int(&type->children[c], array->children[c], array->offset + i, &bytes)) {
        cli_text_str(text, "  ");
        cli_text_size(text, bytes);
    }
}

static void put_location(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                         int64_t i)
{
    size_t c = cli_type_find(type, "location");
    if (c < type->child_count) {
        cli_value_plain(text, &type->children[c], array->children[c], array->offset + i);
    }
}

/* A field without a name is one that was dropped since. */
static void put_field_name(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                           int64_t i)
{
    cli_text_str(text, " (");
    if (cli_value_is_null(type, array, i)) {
        cli_text_str(text, "dropped");
    } else {
        cli_value_plain(text, type, array, i);
    }
    cli_text_char(text, ')');
}

/* "fields 2 (c_1), 203 (c_201)" */
static void put_fields(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                       int64_t i)
{
    size_t ids = cli_type_find(type, "field_ids");
    size_t names = cli_type_find(type, "field_names");
    int64_t first, count, first_name = 0, name_count = 0;
    if (ids == type->child_count) {
        return;
    }
    cli_value_range(&type->children[ids], array->children[ids], array->offset + i, &first, &count);
    if (names < type->child_count) {
        cli_value_range(&type->children[names], array->children[names], array->offset + i,
                        &first_name, &name_count);
    }
    cli_text_str(text, count == 1 ? "  field" : "  fields");
    for (int64_t k = 0; k < count; k++) {
        cli_text_str(text, k == 0 ? " " : ", ");
        cli_value_plain(text, &type->children[ids].children[0], array->children[ids]->children[0],
                        first + k);
        if (k < name_count) {
            put_field_name(text, &type->children[names].children[0],
                           array->children[names]->children[0], first_name + k);
        }
    }
}

static void put_column_file(cli_text *text, const cli_type *type, const struct ArrowArray *array,
                            int64_t i)
{
    cli_text_str(text, "  ");
    put_location(text, type, array, i);
    put_size(text, type, array, i);
    put_fields(text, type, array, i);
    cli_text_char(text, '\n');
}

/* The smallest field id of a column file, as the ids of one are in ascending order. */
static int64_t first_field(const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    size_t ids = cli_type_find(type, "field_ids");
    int64_t first, count;
    int64_t id = INT64_MAX;
    if (ids < type->child_count) {
        cli_value_range(&type->children[ids], array->children[ids], array->offset + i, &first,
                        &count);
        if (count > 0) {
            cli_value_int(&type->children[ids].children[0], array->children[ids]->children[0],
                          first, &id);
        }
    }
    return id;
}

/* In the order of their fields: each pass prints those with the next higher first field. */
static void put_column_files(file_tree *tree, const cli_type *type, const struct ArrowArray *array,
                             int64_t i)
{
    const cli_type *file = &type->children[0];
    const struct ArrowArray *files = array->children[0];
    int64_t first, count;
    int64_t done = 0;
    int64_t last = INT64_MIN;
    if (cli_value_is_null(type, array, i)) {
        return;
    }
    cli_value_range(type, array, i, &first, &count);
    while (done < count) {
        int64_t next = INT64_MAX;
        for (int64_t k = first; k < first + count; k++) {
            int64_t id = first_field(file, files, k);
            next = id > last && id < next ? id : next;
        }
        for (int64_t k = first; k < first + count; k++) {
            if (first_field(file, files, k) == next) {
                put_column_file(tree->text, file, files, k);
                done++;
            }
        }
        last = next;
    }
    tree->column_files += count;
}

static void put_file(void *ctx, const cli_type *type, const struct ArrowArray *batch, int64_t i)
{
    file_tree *tree = ctx;
    char number[CLI_NUMBER_TEXT];
    size_t rows = cli_type_find(type, "record_count");
    size_t column_files = cli_type_find(type, "column_files");
    int64_t row_count;
    put_location(tree->text, type, batch, i);
    put_size(tree->text, type, batch, i);
    if (rows < type->child_count && cli_value_int(&type->children[rows], batch->children[rows],
                                                  batch->offset + i, &row_count)) {
        cli_grouped_text(row_count, number);
        cli_text_printf(tree->text, "  %s %s", number, row_count == 1 ? "row" : "rows");
    }
    cli_text_char(tree->text, '\n');
    if (column_files < type->child_count) {
        put_column_files(tree, &type->children[column_files], batch->children[column_files],
                         batch->offset + i);
    }
    tree->data_files++;
}

static frz_code print_files(cli_out *out, struct ArrowArrayStream *stream, frz_error *err)
{
    file_tree tree = {.text = &out->text};
    char data[CLI_NUMBER_TEXT], columns[CLI_NUMBER_TEXT];
    frz_code rc = each_row(stream, put_file, &tree, err);
    cli_grouped_text(tree.data_files, data);
    cli_grouped_text(tree.column_files, columns);
    cli_text_printf(&out->text, "(%s data %s, %s column %s)\n", data,
                    tree.data_files == 1 ? "file" : "files", columns,
                    tree.column_files == 1 ? "file" : "files");
    return rc;
}

/* ---- the commands ---- */

static const struct {
    const cli_command *command;
    frz_table_view view;
    view_printer for_people, for_programs;
} views[] = {
    {&cmd_describe, FRZ_TABLE_VIEW_DESCRIBE, print_pairs, print_pairs_json},
    {&cmd_schema, FRZ_TABLE_VIEW_SCHEMA, print_table, print_json},
    {&cmd_snapshots, FRZ_TABLE_VIEW_SNAPSHOTS, print_readable, print_json},
    {&cmd_files, FRZ_TABLE_VIEW_FILES, print_files, print_json},
    {&cmd_manifests, FRZ_TABLE_VIEW_MANIFESTS, print_readable, print_json},
    {&cmd_properties, FRZ_TABLE_VIEW_PROPERTIES, print_pairs, print_pairs_json},
    {&cmd_history, FRZ_TABLE_VIEW_HISTORY, print_table, print_json},
    {&cmd_refs, FRZ_TABLE_VIEW_REFS, print_table, print_json},
    {&cmd_statistics, FRZ_TABLE_VIEW_STATISTICS, print_table, print_json},
    {&cmd_delete_files, FRZ_TABLE_VIEW_DELETE_FILES, print_table, print_json},
    {&cmd_entries, FRZ_TABLE_VIEW_ENTRIES, print_readable, print_json},
    {&cmd_partitions, FRZ_TABLE_VIEW_PARTITIONS, print_table, print_json},
};

static frz_code view_run(cli_context *context, frz_error *err)
{
    size_t i = 0;
    while (views[i].command != context->args->command) {
        i++; /* every command that runs this is in the table */
    }
    return print_view(context, views[i].view, views[i].for_people, views[i].for_programs, err);
}

#define OF_TABLE                                                                                   \
    .usage = "TABLE [--json]", .flags = CLI_TAKES_TABLE, .min_words = 1, .max_words = 1,           \
    .run = view_run
#define OF_SNAPSHOT                                                                                \
    .usage = "TABLE [--snapshot ID | --as-of TIME | --ref NAME] [--json]",                         \
    .options = snapshot_options, .flags = CLI_TAKES_TABLE, .min_words = 1, .max_words = 1,         \
    .run = view_run

const cli_command cmd_describe = {
    OF_TABLE,
    .name = "describe",
    .summary = "tell where a table is, its versions, sizes and properties",
    .example = "  frazil describe db.wide\n"
               "  frazil describe --metadata t/metadata/v3.metadata.json --json\n",
};

const cli_command cmd_schema = {
    OF_TABLE,
    .name = "schema",
    .summary = "list the columns of a table with their field ids and types",
    .example = "  frazil schema db.wide\n",
};

const cli_command cmd_snapshots = {
    OF_TABLE,
    .name = "snapshots",
    .summary = "list the versions of a table that can still be read",
    .text = "Their ids are what --snapshot of scan, files and manifests takes.\n",
    .example = "  frazil snapshots db.wide\n",
};

const cli_command cmd_files = {
    OF_SNAPSHOT,
    .name = "files",
    .summary = "show which columns live in which files",
    .text = "Each data file with its size and rows, and below it its column files with the field\n"
            "ids and names that are read from them instead of from the data file.\n",
    .example = "  frazil files db.wide\n"
               "  frazil files db.wide --json\n",
};

const cli_command cmd_manifests = {
    OF_SNAPSHOT,
    .name = "manifests",
    .summary = "list the manifests of a snapshot with what is counted in them",
    .example = "  frazil manifests db.wide\n",
};

const cli_command cmd_properties = {
    OF_TABLE,
    .name = "properties",
    .summary = "list the properties of a table",
    .example = "  frazil properties db.wide\n",
};

const cli_command cmd_history = {
    OF_TABLE,
    .name = "history",
    .summary = "tell when which snapshot became the current one",
    .example = "  frazil history db.wide\n",
};

const cli_command cmd_refs = {
    OF_TABLE,
    .name = "refs",
    .summary = "list branches and tags",
    .example = "  frazil refs db.wide\n",
};

const cli_command cmd_statistics = {
    OF_TABLE,
    .name = "statistics",
    .summary = "list the statistics files beside the manifests",
    .example = "  frazil statistics db.wide\n",
};

const cli_command cmd_delete_files = {
    OF_SNAPSHOT,
    .name = "delete-files",
    .summary = "list the delete files and deletion vectors of a snapshot",
    .example = "  frazil delete-files db.wide\n",
};

const cli_command cmd_entries = {
    OF_SNAPSHOT,
    .name = "entries",
    .summary = "list every entry of every manifest, live or not",
    .example = "  frazil entries db.wide\n",
};

const cli_command cmd_partitions = {
    OF_SNAPSHOT,
    .name = "partitions",
    .summary = "sum up files and rows of each partition",
    .example = "  frazil partitions db.wide\n",
};
