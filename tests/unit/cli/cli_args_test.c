/*
 * The command line, read against a small table of commands of the test's own.
 */
#include <string.h>

#include "cli.h"
#include "unit/test_support.h"

static const cli_option look_options[] = {
    {CLI_OPTION_FORMAT, 0, "format", "FORMAT", "how"},
    {CLI_OPTION_OUTPUT, 'o', "output", "FILE", "where"},
    {CLI_OPTION_REWRITE, 0, "rewrite", NULL, "a flag"},
    {0, 0, NULL, NULL, NULL},
};

static const cli_command look = {.name = "look",
                                 .usage = "TABLE [WORD]",
                                 .summary = "look at a table",
                                 .options = look_options,
                                 .flags = CLI_TAKES_TABLE,
                                 .min_words = 1,
                                 .max_words = 2};
static const cli_command change = {.name = "change",
                                   .usage = "TABLE",
                                   .summary = "change a table",
                                   .flags = CLI_TAKES_TABLE | CLI_WRITES,
                                   .min_words = 1,
                                   .max_words = 1};

const cli_command *const cli_commands[] = {&look, &change, NULL};

/* Read words with blanks between; the text must outlive args. */
static frz_code parse(char *line, cli_args *args, frz_error *err)
{
    char *argv[16] = {"frazil"};
    int argc = 1;
    for (char *word = strtok(line, " "); word != NULL && argc < 15; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    frz_error_reset(err);
    return cli_args_parse(argc, argv, args, err);
}

static void assert_refused(const char *line, const char *message, const char *hint)
{
    char copy[256];
    cli_args args = {0};
    frz_error err = {0};
    snprintf(copy, sizeof copy, "%s", line);
    assert_fails(parse(copy, &args, &err), &err, FRZ_E_ARGUMENT, message);
    if (strstr(err.hint, hint) == NULL) {
        fail_msg("\"%s\": expected a hint with \"%s\", found \"%s\"", line, hint, err.hint);
    }
}

static void args__global_options_before_and_after_the_command(void **state)
{
    char line[] = "--json look --catalog=sqlite:///a=b db.t --format csv -o out --warehouse w";
    cli_args args = {0};
    frz_error err = {0};
    (void)state;
    assert_ok(parse(line, &args, &err), &err);
    assert_ptr_equal(args.command, &look);
    assert_int_equal(args.word_count, 1);
    assert_string_equal(args.words[0], "db.t");
    assert_true(cli_args_has(&args, CLI_OPTION_JSON));
    assert_false(cli_args_has(&args, CLI_OPTION_QUIET));
    assert_string_equal(cli_args_value(&args, CLI_OPTION_CATALOG), "sqlite:///a=b");
    assert_string_equal(cli_args_value(&args, CLI_OPTION_FORMAT), "csv");
    assert_string_equal(cli_args_value(&args, CLI_OPTION_OUTPUT), "out");
    assert_string_equal(cli_args_value(&args, CLI_OPTION_WAREHOUSE), "w");
    assert_null(cli_args_value(&args, CLI_OPTION_METADATA));
    cli_args_reset(&args);
}

static void args__the_last_value_counts_and_repeats_are_kept(void **state)
{
    char line[] = "look db.t --format csv --format jsonl";
    cli_args args = {0};
    frz_error err = {0};
    (void)state;
    assert_ok(parse(line, &args, &err), &err);
    assert_string_equal(cli_args_value(&args, CLI_OPTION_FORMAT), "jsonl");
    assert_int_equal(cli_args_count(&args, CLI_OPTION_FORMAT), 2);
    cli_args_reset(&args);
}

static void args__two_dashes_end_the_options(void **state)
{
    char line[] = "look --format -- -- --json -";
    cli_args args = {0};
    frz_error err = {0};
    (void)state;
    assert_ok(parse(line, &args, &err), &err);
    assert_string_equal(cli_args_value(&args, CLI_OPTION_FORMAT), "--");
    assert_int_equal(args.word_count, 2);
    assert_string_equal(args.words[0], "--json");
    assert_string_equal(args.words[1], "-");
    cli_args_reset(&args);
}

static void args__metadata_stands_for_the_table(void **state)
{
    char line[] = "look --metadata v1.json";
    cli_args args = {0};
    frz_error err = {0};
    (void)state;
    assert_ok(parse(line, &args, &err), &err);
    assert_int_equal(args.word_count, 0);
    cli_args_reset(&args);
    assert_refused("change --metadata v1.json db.t", "read-only", "");
    assert_refused("look --metadata v1.json --catalog c", "exclude", "");
    assert_refused("change db.t --map-location a=b", "read-only", "");
}

static void args__help_needs_nothing_else(void **state)
{
    char line[] = "look --help";
    cli_args args = {0};
    frz_error err = {0};
    (void)state;
    assert_ok(parse(line, &args, &err), &err);
    cli_args_reset(&args);
}

static void args__mistakes_are_named_and_neighbours_suggested(void **state)
{
    (void)state;
    assert_refused("lok db.t", "unknown command \"lok\"", "did you mean look?");
    assert_refused("look db.t --fromat csv", "unknown option --fromat", "did you mean --format?");
    assert_refused("look db.t --out x", "unknown option --out", "did you mean --output?");
    assert_refused("look db.t --xyzzy", "unknown option --xyzzy", "frazil look --help");
    assert_refused("look db.t --f csv", "unknown option --f", "");
    assert_refused("look db.t -j", "unknown option -j", "");
    assert_refused("look db.t -json", "unknown option", "did you mean --json?");
    assert_refused("--format csv look db.t", "unknown option --format",
                   "stand after it: frazil look");
    assert_refused("look db.t --format", "option --format: expected a value", "");
    assert_refused("look db.t --json=yes", "takes no value, found \"yes\"", "");
    assert_refused("look", "an argument is missing", "usage: frazil look TABLE");
    assert_refused("look a b c", "unexpected argument \"c\"", "usage: frazil look TABLE");
}

static void args__statements_tell_their_table(void **state)
{
    static const char *const cases[][2] = {
        {"UPDATE db.wide SET c_1 = 1", "db.wide"},
        {"  update\n\"d b\".\"t;\"\"\" set x = 1", "\"d b\".\"t;\"\"\""},
        {"/* a */ ALTER -- b\n TABLE db.t ADD COLUMN c int", "db.t"},
        {"UPDATES db.t", ""},
        {"SELECT 1", ""},
        {"UPDATE", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_text text = {0};
        cli_statement_table(cases[i][0], &text);
        assert_string_equal(cli_text_c(&text), cases[i][1]);
        cli_text_reset(&text);
    }
}

static void args__numbers_are_checked(void **state)
{
    static const char *const bad[] = {"",   "x", "1x", " 1", "+1", "-1", "9223372036854775808",
                                      "1.0"};
    frz_error err = {0};
    int64_t value = 7;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(cli_parse_int64(bad[i], 0, "limit", &value, &err), &err, FRZ_E_ARGUMENT,
                     "--limit: expected a whole number of at least 0");
    }
    assert_int_equal(value, 7);
    assert_ok(cli_parse_int64("9223372036854775807", 0, "limit", &value, &err), &err);
    assert_true(value == INT64_MAX);
}

static void args__sizes_for_people(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},
        {1, "1 byte"},
        {999, "999 bytes"},
        {1000, "1 000 bytes (1.0 kB)"},
        {1490112, "1 490 112 bytes (1.5 MB)"},
        {999960, "999 960 bytes (1.0 MB)"},
        {301230112000, "301 230 112 000 bytes (301.2 GB)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_text text = {0};
        cli_text_size(&text, cases[i].bytes);
        assert_string_equal(cli_text_c(&text), cases[i].text);
        cli_text_reset(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(args__global_options_before_and_after_the_command),
        cmocka_unit_test(args__the_last_value_counts_and_repeats_are_kept),
        cmocka_unit_test(args__two_dashes_end_the_options),
        cmocka_unit_test(args__metadata_stands_for_the_table),
        cmocka_unit_test(args__help_needs_nothing_else),
        cmocka_unit_test(args__mistakes_are_named_and_neighbours_suggested),
        cmocka_unit_test(args__statements_tell_their_table),
        cmocka_unit_test(args__numbers_are_checked),
        cmocka_unit_test(args__sizes_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
