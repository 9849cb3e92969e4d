/*
 * Inner interfaces of the command frazil, a client of include/frazil only.
 *
 * Where to start reading: main.c is the way of one call; cli_commands.c is the table of commands;
 * cli_args.c reads the command line; cli_context.c opens what a command works on; cli_output.c
 * prints Arrow streams. Each command is one cmd_*.c.
 */
#ifndef FRZ_CLI_H
#define FRZ_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frazil/frazil.h"

/* As in the library: the failure's code goes to rc and control to the one exit label. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        rc = (call);                                                                               \
        if (rc != FRZ_OK) {                                                                        \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

/* What the shell sees. */
typedef enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_OTHER = 1,
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_NOT_FOUND = 3,
    CLI_EXIT_CONFLICT = 4,
    CLI_EXIT_CORRUPT = 5
} cli_exit;

/* ---- errors (cli_error.c) ---- */

frz_code cli_fail(frz_error *err, frz_code code, const char *fmt, ...) FRZ_PRINTF(3, 4);
/* A failed system call: "message: reason". */
frz_code cli_fail_os(frz_error *err, int os_error, const char *fmt, ...) FRZ_PRINTF(3, 4);
void cli_hint(frz_error *err, const char *fmt, ...) FRZ_PRINTF(2, 3);
cli_exit cli_exit_of(frz_code code);
/* "frazil: message" and the hint, on standard error. */
void cli_error_print(const frz_error *err);
/* The code that a stream's errno stands for. */
frz_code cli_code_of_errno(int os_error);
/* Of a NULL-ended list, the word most like this one, or NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *words);

/* ---- text (cli_text.c) ---- */

/* Growable text. A failure sticks: later calls do nothing and the caller asks once, at the end. */
typedef struct cli_text {
    char *data;
    size_t len, cap;
    frz_code failed; /* FRZ_OK, FRZ_E_NOMEM, or FRZ_E_UNSUPPORTED: bytes that are not UTF-8 */
} cli_text;

void cli_text_reset(cli_text *text);
/* Room for so many more bytes; false if there is no memory. */
bool cli_text_reserve(cli_text *text, size_t more);
void cli_text_bytes(cli_text *text, const void *bytes, size_t len);
void cli_text_str(cli_text *text, const char *str);
void cli_text_char(cli_text *text, char c);
void cli_text_fill(cli_text *text, char c, size_t count);
void cli_text_printf(cli_text *text, const char *fmt, ...) FRZ_PRINTF(2, 3);
void cli_text_hex(cli_text *text, const uint8_t *bytes, size_t len);
/* Bytes of the control character at s, among len, C1 ones as UTF-8 has them; 0: there is none. */
size_t cli_control_size(const char *s, size_t len);
/* What stands from start on and would break the line or steer the terminal is shown by its name. */
void cli_text_escape(cli_text *text, size_t start);
/* A JSON string with its quotes. Bytes that are not UTF-8 set failed. */
void cli_text_json_string(cli_text *text, const char *str, size_t len);
/* namespace.table as commands and statements take it: parts that are no plain names in quotes. */
void cli_text_table_name(cli_text *text, const char *namespace_name, const char *table_name);
/* Ends the text and returns it; NULL if it failed. The text keeps the memory. */
const char *cli_text_c(cli_text *text);

/* Length of the UTF-8 sequence at s (at most len bytes) and its code point; 0 if it is not one. */
size_t cli_utf8_decode(const char *s, size_t len, uint32_t *code_point);
/* Columns that text takes on a terminal. */
size_t cli_width(const char *s, size_t len);

/* ---- numbers and times (cli_number.c, cli_time.c) ---- */

#define CLI_NUMBER_TEXT 168

/* Shortest text that reads back as the same value, never looking like an integer: "1.0", "NaN",
 * "-Infinity". Each needs room for CLI_NUMBER_TEXT bytes and returns the length. */
size_t cli_double_text(double value, char *out);
size_t cli_float_text(float value, char *out);
size_t cli_int_text(int64_t value, char *out);
size_t cli_uint_text(uint64_t value, char *out);
/* From the bits of a number of 16 bits. */
size_t cli_half_text(uint16_t bits, char *out);
/* A decimal of up to 32 little-endian bytes with all digits of its scale (-76 to 76). */
size_t cli_decimal_text(const uint8_t *value, size_t width, int scale, char *out);
/* "1 490 112" */
size_t cli_grouped_text(int64_t value, char *out);
/* "1 490 112 bytes (1.5 MB)" */
void cli_text_size(cli_text *text, int64_t bytes);
/* A whole number of at least min, for the option named what. */
frz_code cli_parse_int64(const char *text, int64_t min, const char *what, int64_t *out,
                         frz_error *err);

/* Units of times, as powers of ten of a second. */
typedef enum cli_unit { CLI_SECOND = 0, CLI_MILLI = 3, CLI_MICRO = 6, CLI_NANO = 9 } cli_unit;

/* ISO 8601 in the proleptic Gregorian calendar; years beyond four digits carry a sign. */
void cli_text_date(cli_text *text, int64_t days);
void cli_text_time(cli_text *text, int64_t value, cli_unit unit);
void cli_text_timestamp(cli_text *text, int64_t value, cli_unit unit, bool zoned);
/* ISO 8601 durations: "PT-1.500000S", "P14M", "P1M2DT3.000000004S". */
void cli_text_duration(cli_text *text, int64_t value, cli_unit unit);
void cli_text_interval(cli_text *text, int64_t months, int64_t days, int64_t value, cli_unit unit);

/* ---- Arrow values (cli_type.c, cli_value.c) ---- */

typedef enum cli_kind {
    CLI_NULL,
    CLI_BOOL,
    CLI_INT,  /* width 1, 2, 4, 8 */
    CLI_UINT, /* the same */
    CLI_HALF,
    CLI_FLOAT,
    CLI_DOUBLE,
    CLI_STRING,
    CLI_LARGE_STRING,
    CLI_STRING_VIEW,
    CLI_BINARY,
    CLI_LARGE_BINARY,
    CLI_BINARY_VIEW,
    CLI_FIXED, /* width bytes */
    CLI_UUID,
    CLI_DECIMAL, /* width 4, 8, 16, 32 */
    CLI_DATE,    /* width 4: days; width 8: milliseconds */
    CLI_TIME,    /* width 4 or 8 */
    CLI_TIMESTAMP,
    CLI_DURATION,
    CLI_INTERVAL, /* width 4: months; 8: days and milliseconds; 16: months, days, nanoseconds */
    CLI_STRUCT,
    CLI_VARIANT, /* children[0]: the metadata, children[1]: the value, both binary */
    CLI_LIST,
    CLI_LARGE_LIST,
    CLI_LIST_VIEW,
    CLI_LARGE_LIST_VIEW,
    CLI_FIXED_LIST, /* width elements */
    CLI_MAP,
    CLI_UNION,     /* width 4: dense, with offsets; 0: sparse */
    CLI_RUNS,      /* run-end encoded: children[0]: where runs end, children[1]: the values */
    CLI_DICTIONARY /* children[0]: the indices, children[1]: the values */
} cli_kind;

/* An ArrowSchema, understood. Names are borrowed from it. */
typedef struct cli_type {
    cli_kind kind;
    const char *name;
    int64_t width;
    int scale; /* of a decimal */
    cli_unit unit;
    bool zoned;
    const char *codes; /* of a union: the children's type codes, with commas between */
    size_t child_count;
    struct cli_type *children;
} cli_type;

frz_code cli_type_init(cli_type *type, const struct ArrowSchema *schema, frz_error *err);
void cli_type_reset(cli_type *type);
bool cli_type_is_number(const cli_type *type);
/* The child of that name, or child_count. */
size_t cli_type_find(const cli_type *type, const char *name);

bool cli_value_is_null(const cli_type *type, const struct ArrowArray *array, int64_t i);
/* As JSON: nested values as objects and arrays, maps as arrays of {"key":…,"value":…}. */
void cli_value_json(cli_text *out, const cli_type *type, const struct ArrowArray *array, int64_t i);
/* As bare text: strings as they are, nested values as JSON, null as nothing. */
void cli_value_plain(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                     int64_t i);
/* First element and count of a list of any kind or a map; elements are rows of children[0]. */
void cli_value_range(const cli_type *type, const struct ArrowArray *array, int64_t i,
                     int64_t *first, int64_t *count);
/* An integer column's value widened; false if it is null or no integer. */
bool cli_value_int(const cli_type *type, const struct ArrowArray *array, int64_t i, int64_t *out);

/* ---- output (cli_out.c, cli_table.c, cli_output*.c) ---- */

/* Buffered bytes on their way to a descriptor. fd -1 keeps them, which is for tests. */
typedef struct cli_out {
    cli_text text;
    int fd;
    const char *name; /* for messages */
} cli_out;

frz_code cli_out_flush(cli_out *out, frz_error *err);
/* Bytes past the buffer, in order behind what is in it. */
frz_code cli_out_write(cli_out *out, const void *bytes, size_t len, frz_error *err);
/* Call after each row: flushes when enough has gathered, and reports failures of the text. */
frz_code cli_out_row(cli_out *out, frz_error *err);

/* A file being written for -o. It appears under its name when finished, or not at all. */
typedef struct cli_target {
    cli_out out;
    char *path; /* NULL: standard output */
    char *temp; /* where bytes go when an existing file is to be replaced; NULL: to path */
    bool made;  /* a file exists that must go if we fail */
} cli_target;

/* path NULL: standard output. An existing regular file is refused unless force. */
frz_code cli_target_open(cli_target *target, const char *path, bool force, frz_error *err);
/* The same for a file which someone else will create, at cli_target_location(). */
frz_code cli_target_reserve(cli_target *target, const char *path, bool force, frz_error *err);
const char *cli_target_location(const cli_target *target);
/* Flush, close, rename. */
frz_code cli_target_finish(cli_target *target, frz_error *err);
/* Free; a file that was not finished is removed. */
void cli_target_reset(cli_target *target);

typedef enum cli_format {
    CLI_FORMAT_TABLE,
    CLI_FORMAT_CSV,
    CLI_FORMAT_JSONL,
    CLI_FORMAT_JSON, /* one array, an element per line */
    CLI_FORMAT_PARQUET,
    CLI_FORMAT_ARROW /* IPC: a stream to standard output, a file to a file */
} cli_format;

/* What a writer of rows works with. */
typedef struct cli_rows {
    cli_out *out;
    const cli_type *type; /* a struct: the columns */
    int64_t count;        /* rows so far */
    void *state;          /* the format's own */
} cli_rows;

typedef struct cli_rows_format {
    frz_code (*begin)(cli_rows *rows, frz_error *err);
    frz_code (*row)(cli_rows *rows, const struct ArrowArray *batch, int64_t i, frz_error *err);
    frz_code (*end)(cli_rows *rows, frz_error *err);
    void (*reset)(cli_rows *rows); /* frees state; accepts what begin left behind */
} cli_rows_format;

/* An aligned table of text cells (cli_table.c). */
typedef struct cli_table {
    cli_out *out;
    const bool *right; /* which columns are aligned to the right */
    size_t columns;
    size_t column; /* of the cell at hand */
    size_t *widths;
    cli_text held; /* titles and cells of the rows that widths come from; then the cell at hand */
    size_t *ends;  /* of the held cells, row by row */
    size_t start;  /* of the cell at hand */
    size_t held_rows, row_cap;
    bool streaming; /* widths are settled */
} cli_table;

/* right is borrowed. */
frz_code cli_table_begin(cli_table *table, cli_out *out, const char *const *titles,
                         const bool *right, size_t columns, frz_error *err);
/* Append a cell's text to what this returns, then end the cell; put does it for text that is there.
 * The last cell of a row is followed by cli_table_row. */
cli_text *cli_table_cell(cli_table *table);
void cli_table_cell_end(cli_table *table);
void cli_table_put(cli_table *table, const char *cell);
frz_code cli_table_row(cli_table *table, frz_error *err);
/* Print what is held back still. */
frz_code cli_table_end(cli_table *table, frz_error *err);
void cli_table_reset(cli_table *table);

extern const cli_rows_format cli_rows_table, cli_rows_csv, cli_rows_jsonl, cli_rows_json;

frz_code cli_parse_format(const char *name, cli_format *out, frz_error *err);
/* Print every row of a stream, which stays the caller's. Nothing is written before the first
 * batch has been read, so an early failure leaves the output empty. */
frz_code cli_output_stream(cli_out *out, cli_format format, struct ArrowArrayStream *stream,
                           int64_t *rows, frz_error *err);
/* The same without the columns of a NULL-ended list. */
frz_code cli_output_columns(cli_out *out, cli_format format, struct ArrowArrayStream *stream,
                            const char *const *hidden, int64_t *rows, frz_error *err);
/* Functions over an Arrow stream with errors told in full. next: FRZ_END at the end. */
frz_code cli_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out,
                           frz_error *err);
frz_code cli_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, frz_error *err);
void cli_stream_release(struct ArrowArrayStream *stream);

/* ---- input (cli_input.c) ---- */

/* The bytes of a file, or with "-" of standard input, at most so many. */
frz_code cli_input_read(const char *file, const char *what, size_t max, cli_text *out,
                        frz_error *err);
/* Whether all of these can be read: a mistyped name must not leave an empty catalog behind. */
frz_code cli_check_files(const char *const *files, size_t count, frz_error *err);

/* ---- command line (cli_args.c, cli_names.c, cli_help.c) ---- */

typedef enum cli_option_id {
    CLI_OPTION_CATALOG,
    CLI_OPTION_WAREHOUSE,
    CLI_OPTION_CATALOG_NAME,
    CLI_OPTION_METADATA,
    CLI_OPTION_MAP_LOCATION,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    CLI_OPTION_VERSION,
    CLI_OPTION_HELP,
    CLI_OPTION_FORMAT,
    CLI_OPTION_OUTPUT,
    CLI_OPTION_FORCE,
    CLI_OPTION_COLUMNS,
    CLI_OPTION_WHERE,
    CLI_OPTION_SNAPSHOT,
    CLI_OPTION_AS_OF,
    CLI_OPTION_REF,
    CLI_OPTION_LIMIT,
    CLI_OPTION_WITH_LINEAGE,
    CLI_OPTION_PROPERTY,
    CLI_OPTION_REWRITE,
    CLI_OPTION_ROWS,
    CLI_OPTION_GROUPS,
    CLI_OPTION_PAGES,
    CLI_OPTION_REPORT,
    CLI_OPTION_TO,
    CLI_OPTION_FROM,
    CLI_OPTION_IGNORE_CASE,
    CLI_OPTION_TASKS,
    CLI_OPTION_ROW_GROUPS,
    CLI_OPTION_SPLIT_SIZE,
    CLI_OPTION_OPEN_COST,
    CLI_OPTION_BY,
    CLI_OPTION_OLDER_THAN,
    CLI_OPTION_RETAIN_LAST,
    CLI_OPTION_DRY_RUN,
    CLI_OPTION_COLUMNS_ONLY,
    CLI_OPTION_POLICY,
    CLI_OPTION_SET,
    CLI_OPTION_RESULTS,
    CLI_OPTION_SOURCE_NAME
} cli_option_id;

/* Lists of options end with a NULL name. */
typedef struct cli_option {
    cli_option_id id;
    char letter;       /* short form, or 0 */
    const char *name;  /* without the dashes */
    const char *value; /* what stands for the value in the help; NULL: a flag */
    const char *help;
} cli_option;

extern const cli_option cli_global_options[];

typedef struct cli_command cli_command;

typedef struct cli_given {
    cli_option_id id;
    const char *value; /* NULL for flags */
} cli_given;

/* A command line, read. Strings are borrowed from argv. */
typedef struct cli_args {
    const cli_command *command; /* NULL: none was named */
    cli_given *given;           /* in the order of the command line */
    size_t given_count;
    const char **words; /* what is neither option nor command */
    size_t word_count;
} cli_args;

typedef struct cli_context cli_context;

#define CLI_TAKES_TABLE 1 /* the first word is a table, which --metadata stands in for */
#define CLI_WRITES 2      /* --metadata, being read-only, is refused */

struct cli_command {
    const char *name;
    const char *usage;   /* what follows the name */
    const char *summary; /* one line */
    const char *text;    /* paragraphs below the usage */
    const char *example; /* commands with comments */
    const cli_option *options;
    int flags;
    size_t min_words, max_words;
    frz_code (*run)(cli_context *context, frz_error *err);
};

extern const cli_command cmd_import, cmd_append, cmd_update, cmd_sql, cmd_scan, cmd_cat,
    cmd_inspect, cmd_tables, cmd_describe, cmd_schema, cmd_snapshots, cmd_files, cmd_manifests,
    cmd_history, cmd_refs, cmd_properties, cmd_statistics, cmd_delete_files, cmd_partitions,
    cmd_entries, cmd_compact, cmd_expire, cmd_remove_orphans, cmd_register, cmd_upgrade,
    cmd_validate, cmd_changes, cmd_plan, cmd_run_task, cmd_update_plan, cmd_update_task,
    cmd_update_commit, cmd_help, cmd_version;

/* NULL-ended, in the order of the help. */
extern const cli_command *const cli_commands[];

const cli_command *cli_command_find(const char *name, frz_error *err);
frz_code cli_args_parse(int argc, char **argv, cli_args *out, frz_error *err);
void cli_args_reset(cli_args *args);
bool cli_args_has(const cli_args *args, cli_option_id id);
/* The value given last, or NULL. */
const char *cli_args_value(const cli_args *args, cli_option_id id);
size_t cli_args_count(const cli_args *args, cli_option_id id);
/* Cut "a=b"; the parts are new strings to be freed. */
frz_code cli_split_pair(const char *text, const char *option, char **key, char **value,
                        frz_error *err);

/* Names of columns, cut out of an option's value. */
typedef struct cli_names {
    char *block; /* the text that the names point into */
    const char **names;
    size_t count;
} cli_names;

frz_code cli_names_read(const char *text, cli_names *out, frz_error *err);
void cli_names_reset(cli_names *list);

/* What --from says, in the words of the library; neither files nor a table without it. */
typedef struct cli_source {
    const char **files;
    frz_row_source rows;
} cli_source;

frz_code cli_source_read(const cli_args *args, cli_source *out, frz_error *err);
void cli_source_reset(cli_source *source);

void cli_help_main(cli_text *text);
void cli_help_command(cli_text *text, const cli_command *command);

/* ---- one call (cli_context.c, cli_progress.c, cli_report.c, cli_answer.c) ---- */

struct cli_context {
    const cli_args *args;
    bool json, quiet;
    frz_env *env;
    frz_catalog *catalog;
    frz_table *table;
    char *made;           /* a folder made for a new catalog: goes again if nothing came into it */
    size_t made_from;     /* length of the first folder of that path that was not there */
    cli_out out;          /* standard output */
    cli_exit exit_status; /* when the command itself succeeds */
    bool committed;       /* what was asked for is done, whatever becomes of the report */
};

/* The table's name, first word of the command line. */
const char *cli_table_name(const cli_context *context);
/* Threads to work with, as frz_env_options has it: the option, the environment variable, all. */
frz_code cli_threads(const cli_context *context, int *out, frz_error *err);
/* Opens context->catalog; create makes folder and catalog where there is none. */
frz_code cli_open_catalog(cli_context *context, bool create, frz_error *err);
/* Opens context->table: from --metadata, or by name from the catalog. */
frz_code cli_open_table(cli_context *context, frz_error *err);
/* All that --map-location says; to be given back. */
frz_code cli_maps_read(const cli_context *context, frz_location_map **out, size_t *count,
                       frz_error *err);
void cli_maps_free(frz_location_map *maps, size_t count);
/* Only with --metadata: opens the table. */
frz_code cli_open_metadata(cli_context *context, frz_error *err);
/* Which snapshot: --snapshot, --as-of, --ref, at most one of them; 0 and NULL: none of them. */
typedef struct cli_snapshot {
    int64_t id;
    const char *as_of, *ref;
} cli_snapshot;

/* The three options, for a command's list of options. */
#define CLI_SNAPSHOT_OPTIONS                                                                       \
    {CLI_OPTION_SNAPSHOT, 0, "snapshot", "ID",                                                     \
     "the table as it was; frazil snapshots lists them"},                                          \
        {CLI_OPTION_AS_OF, 0, "as-of", "TIME", "the table as it was then: 2026-11-01T00:00:00Z"},  \
    {                                                                                              \
        CLI_OPTION_REF, 0, "ref", "NAME", "the table at a branch or tag"                           \
    }

frz_code cli_snapshot_read(const cli_args *args, cli_snapshot *out, frz_error *err);
void cli_context_reset(cli_context *context);
char *cli_absolute_path(const char *path, frz_error *err);

/* From now on Ctrl-C asks running work to stop; a second one ends the process. */
void cli_interrupt_install(void);
bool cli_interrupted(void);
int cli_progress_show(void *ctx, const char *what, uint64_t done, uint64_t total);
int cli_progress_hidden(void *ctx, const char *what, uint64_t done, uint64_t total);
void cli_progress_clear(void);

/* What reading rows came to, and what it left out. */
typedef struct cli_read_report {
    bool has_files; /* of a table: the next four */
    int64_t files, files_skipped;
    int64_t delete_files, rows_deleted;
    int64_t groups, groups_by_statistics, groups_by_dictionary, groups_by_bloom;
    int64_t pages_by_index;
    int64_t rows_skipped, rows_read, rows_returned;
} cli_read_report;

/* Tell it on standard error, as lines or with --json as one object (cli_read_report.c). */
frz_code cli_read_report_print(const cli_context *context, const cli_read_report *report,
                               frz_error *err);

frz_code cli_scan_report_print(const cli_context *context, const frz_scan *scan, frz_error *err);

/* Tell what a commit did, as lines or with --json as one object. */
void cli_report_print(cli_context *context, const char *command, const char *table,
                      const frz_commit_report *report);
/* What is removed, told as it goes and summed up behind it (cli_removal.c). */
typedef struct cli_removal {
    cli_context *context;
    const char *command;
    bool dry;
    int list; /* of the JSON object, the one that is open */
    int64_t in_list;
    frz_code failed; /* of writing */
    frz_error why;
} cli_removal;

void cli_removal_begin(cli_removal *removal, cli_context *context, const char *command);
void cli_removal_visit(void *ctx, frz_removed kind, const char *name, int64_t bytes);
frz_code cli_removal_end(cli_removal *removal, const frz_removal_report *report, frz_error *err);

/* The table that a statement changes, as it is written there; empty if that cannot be told. */
void cli_statement_table(const char *statement, cli_text *out);

/* How to answer with rows: --format, -o, --force, --json. Read before any work is done. */
typedef struct cli_answer {
    cli_format format;
    const char *path; /* NULL: standard output */
    bool force;
} cli_answer;

frz_code cli_answer_plan(const cli_context *context, cli_answer *out, frz_error *err);
frz_code cli_answer_rows(cli_context *context, const cli_answer *answer,
                         struct ArrowArrayStream *stream, frz_error *err);

#endif
