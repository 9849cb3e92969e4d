/*
 * frazil tables: what the catalog holds.
 */
#include <string.h>

#include "cli.h"

typedef struct table_lister {
    cli_text *text;
    bool json;
    size_t count;
} table_lister;

static int list_table(void *ctx, const char *namespace_name, const char *table_name)
{
    table_lister *lister = ctx;
    if (lister->json) {
        cli_text_str(lister->text,
                     lister->count == 0 ? "[\n {\"namespace\":" : ",\n {\"namespace\":");
        cli_text_json_string(lister->text, namespace_name, strlen(namespace_name));
        cli_text_str(lister->text, ",\"name\":");
        cli_text_json_string(lister->text, table_name, strlen(table_name));
        cli_text_char(lister->text, '}');
    } else {
        cli_text_table_name(lister->text, namespace_name, table_name);
        cli_text_char(lister->text, '\n');
    }
    lister->count++;
    return 0;
}

static frz_code tables_run(cli_context *context, frz_error *err)
{
    table_lister lister = {.text = &context->out.text, .json = context->json};
    frz_code rc = cli_open_catalog(context, false, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    rc = frz_catalog_list_tables(context->catalog, list_table, &lister, err);
    if (rc == FRZ_OK && context->json) {
        cli_text_str(lister.text, lister.count == 0 ? "[]\n" : "\n]\n");
    }
    return rc;
}

const cli_command cmd_tables = {
    .name = "tables",
    .usage = "[--json]",
    .summary = "list the tables of the catalog",
    .text = "One name per line, as commands take it; with --json an array of objects with "
            "namespace and name.\n",
    .example = "  frazil tables\n"
               "  frazil --catalog sqlite:///data/lake/catalog.db tables --json\n",
    .run = tables_run,
};
