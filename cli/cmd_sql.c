/*
 * frazil sql: one statement.
 */
#include <string.h>

#include "cli.h"

#define STATEMENT_MAX ((size_t)16 << 20)

static const cli_option sql_options[] = {
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "table, csv, jsonl, json, parquet or arrow"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "write rows there, to a new file"},
    {CLI_OPTION_FORCE, 0, "force", NULL, "replace the file of -o if it is there"},
    {0, 0, NULL, NULL, NULL},
};

static frz_code statement_of(const cli_context *context, cli_text *held, const char **out,
                             frz_error *err)
{
    const char *word = context->args->words[0];
    if (strcmp(word, "-") == 0) {
        frz_code rc = cli_input_read(word, "the statement", STATEMENT_MAX, held, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        word = cli_text_c(held);
        if (word == NULL) {
            return cli_fail(err, FRZ_E_NOMEM, "out of memory for the statement");
        }
        if (strlen(word) != held->len) {
            return cli_fail(err, FRZ_E_ARGUMENT, "the statement holds a NUL byte");
        }
    }
    *out = word;
    return FRZ_OK;
}

static void print_commit(cli_context *context, const char *statement, const frz_sql_result *result)
{
    cli_text name = {0};
    cli_statement_table(statement, &name);
    const char *table = cli_text_c(&name);
    const char *command = result->kind == FRZ_SQL_UPDATE   ? "update"
                          : result->kind == FRZ_SQL_DELETE ? "delete"
                          : result->kind == FRZ_SQL_INSERT ? "insert"
                          : result->kind == FRZ_SQL_MERGE  ? "merge"
                                                           : "alter";
    cli_report_print(context, command, table == NULL ? "" : table, &result->report);
    cli_text_reset(&name);
}

static frz_code sql_run(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cli_text held = {0};
    const char *statement = NULL;
    cli_answer answer;
    frz_sql_result result = {0};
    CLI_TRY(cli_answer_plan(context, &answer, err));
    CLI_TRY(statement_of(context, &held, &statement, err));
    if (cli_args_has(context->args, CLI_OPTION_METADATA)) {
        CLI_TRY(cli_open_metadata(context, err));
    } else {
        CLI_TRY(cli_open_catalog(context, false, err));
    }
    CLI_TRY(frz_sql_run(context->catalog, context->table, statement, &result, err));
    if (result.kind == FRZ_SQL_ROWS) {
        rc = cli_answer_rows(context, &answer, &result.rows, err);
        cli_stream_release(&result.rows);
    } else {
        print_commit(context, statement, &result);
    }
out:
    cli_text_reset(&held);
    return rc;
}

const cli_command cmd_sql = {
    .name = "sql",
    .usage = "STATEMENT [--format FORMAT] [-o FILE [--force]]",
    .summary = "run one SQL statement: SELECT, EXPLAIN, UPDATE, MERGE, DELETE, INSERT or ALTER",
    .text = "Statements:\n"
            "  SELECT * | EXPRESSION, ... FROM table | 'file' [WHERE CONDITION] [LIMIT N]\n"
            "  EXPLAIN SELECT ... | UPDATE ... | MERGE ... | DELETE ...\n"
            "  UPDATE table SET column = EXPRESSION, ... [FROM 'file' | table] [WHERE CONDITION]\n"
            "  MERGE INTO table USING 'file' | table ON CONDITION\n"
            "      WHEN [NOT] MATCHED [BY SOURCE] [AND CONDITION] THEN UPDATE ... | DELETE | "
            "INSERT ...\n"
            "  DELETE FROM table [WHERE CONDITION]\n"
            "  INSERT INTO table [(column, ...)] SELECT ... | VALUES (EXPRESSION, ...), ...\n"
            "  ALTER TABLE table ADD COLUMN column TYPE\n"
            "  ALTER TABLE table RENAME COLUMN column TO name\n"
            "  ALTER TABLE table DROP COLUMN [IF EXISTS] column\n"
            "  ALTER TABLE table ALTER COLUMN column TYPE type\n"
            "  ALTER TABLE table ALTER COLUMN column DROP NOT NULL\n"
            "  ALTER TABLE table SET TBLPROPERTIES ('key' = 'value', ...)\n"
            "  ALTER TABLE table UNSET TBLPROPERTIES [IF EXISTS] ('key', ...)\n"
            "\n"
            "A statement of - is read from standard input. Rows are printed as a table, other\n"
            "formats by --format; after a change comes a report of what was written. With\n"
            "--metadata every table name means that table, which can only be read.\n",
    .example = "  frazil sql \"UPDATE db.wide SET c_1 = c_1 + 1\"\n"
               "  frazil sql \"UPDATE db.wide SET c_2 = 0.0, c_3 = abs(c_3) WHERE id % 10 = 0\"\n"
               "  frazil sql \"UPDATE db.wide SET c_1 = s.x FROM 'new.parquet' s\n"
               "              WHERE db.wide.id = s.id\"\n"
               "  frazil sql \"ALTER TABLE db.wide ADD COLUMN score double\"\n"
               "  frazil sql \"SELECT id, c_1 FROM db.wide WHERE id < 5\"\n"
               "  frazil sql \"SELECT count(*), avg(c_1) FROM db.wide\" --format csv\n"
               "  frazil sql \"SELECT * FROM db.wide\" --format parquet -o all.parquet\n"
               "  frazil sql - < update.sql\n",
    .options = sql_options,
    .min_words = 1,
    .max_words = 1,
    .run = sql_run,
};
