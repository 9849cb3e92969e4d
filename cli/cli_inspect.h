/*
 * What the files behind frazil inspect share: texts of the library that may be of any length, and
 * the two ways of showing a file.
 */
#ifndef FRZ_CLI_INSPECT_H
#define FRZ_CLI_INSPECT_H

#include "cli.h"

/* What of a file is shown. */
typedef struct inspect_request {
    const char *name; /* as it was given */
    bool groups;      /* each chunk of each row group */
    bool pages;       /* and its pages */
} inspect_request;

frz_code inspect_text(cli_out *out, const frz_parquet_file *file, const inspect_request *request,
                      frz_error *err);
/* Everything but the pages, which are asked for. */
frz_code inspect_json(cli_out *out, const frz_parquet_file *file, const inspect_request *request,
                      frz_error *err);

/* An Arrow file or stream. */
frz_code inspect_arrow(cli_context *context, const char *name, const char *format, frz_error *err);

/* An Avro file. */
frz_code inspect_avro(cli_context *context, const char *name, frz_error *err);

/* A type of Arrow in words. */
void inspect_arrow_type(cli_text *text, const struct ArrowSchema *schema);
/* A row of a table of keys and values: key, bytes, value. */
frz_code inspect_key_row(cli_table *table, frz_parquet_bytes key, frz_parquet_bytes value,
                         frz_error *err);
/* A member of a JSON list of keys and values. */
frz_code inspect_json_key(cli_out *out, frz_parquet_bytes key, frz_parquet_bytes value, bool first,
                          frz_error *err);

/* FRZ_E_CANCELLED once an interrupt has come. */
frz_code inspect_go_on(frz_error *err);
/* A JSON string; what is not UTF-8 becomes {"hex":"…"}, and nothing null. */
void inspect_json_text(cli_text *text, frz_parquet_bytes bytes);
/* "a.list.element" */
void inspect_path(cli_text *text, const frz_parquet_file *file, size_t column);
void inspect_bound(cli_text *text, const frz_parquet_file *file, size_t column,
                   frz_parquet_bytes value);
const char *inspect_repetition(frz_parquet_repetition repetition);
bool inspect_is_utf8(frz_parquet_bytes bytes);

#endif
