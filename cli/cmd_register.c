/*
 * frazil register: a table that exists already becomes known to a catalog.
 */
#include <string.h>

#include "cli.h"

static frz_code register_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *name = cli_table_name(context);
    const char *metadata = context->args->words[1];
    CLI_TRY(cli_open_catalog(context, true, err));
    CLI_TRY(frz_catalog_register(context->catalog, name, metadata, err));
    context->committed = true;
    if (context->json) {
        cli_text *text = &context->out.text;
        cli_text_printf(text, "{\"command\":\"register\",\"table\":");
        cli_text_json_string(text, name, strlen(name));
        cli_text_printf(text, "}\n");
    } else if (!context->quiet) {
        cli_text_printf(&context->out.text, "%s: registered\n", name);
    }
out:
    return rc;
}

const cli_command cmd_register = {
    .name = "register",
    .usage = "TABLE METADATA [--json]",
    .summary = "make a table of files known to the catalog",
    .text =
        "METADATA is a metadata file, or a table's folder, of which the newest metadata file is\n"
        "taken. Nothing is copied or written but the catalog's entry; from then on the table\n"
        "changes through the catalog only. Locations are used as the metadata records them.\n",
    .example = "  frazil register db.t /data/t/metadata/00003-ab.metadata.json\n",
    .flags = CLI_TAKES_TABLE | CLI_WRITES,
    .min_words = 2,
    .max_words = 2,
    .run = register_run,
};
