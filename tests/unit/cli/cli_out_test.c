/*
 * The file that -o names: new, refused, replaced, or not left behind.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "unit/test_support.h"

static int folder_make(void **state)
{
    static char folder[] = "/tmp/frazil-cli-XXXXXX";
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    *state = mkdtemp(folder);
    return *state == NULL ? -1 : chdir(folder);
}

/* Nothing but the named file may be left, which is removed too. */
static int folder_remove(void **state)
{
    unlink("answer");
    return chdir("/") != 0 || rmdir(*state) != 0 ? -1 : 0;
}

static void put(const char *text)
{
    FILE *file = fopen("answer", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *expected)
{
    char text[64] = "";
    FILE *file = fopen("answer", "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static void write_answer(bool force, bool finish)
{
    cli_target target;
    frz_error err = {0};
    assert_ok(cli_target_open(&target, "answer", force, &err), &err);
    cli_text_str(&target.out.text, "new");
    assert_ok(cli_out_flush(&target.out, &err), &err);
    if (finish) {
        assert_ok(cli_target_finish(&target, &err), &err);
    }
    cli_target_reset(&target);
}

static void out_target__a_new_file_is_written(void **state)
{
    (void)state;
    write_answer(false, true);
    assert_content("new");
}

static void out_target__an_unfinished_file_is_removed(void **state)
{
    (void)state;
    write_answer(false, false);
    assert_int_not_equal(access("answer", F_OK), 0);
}

static void out_target__an_existing_file_is_refused(void **state)
{
    cli_target target;
    frz_error err = {0};
    (void)state;
    put("old");
    assert_fails(cli_target_open(&target, "answer", false, &err), &err, FRZ_E_EXISTS,
                 "is there already");
    assert_string_equal(err.hint, "--force replaces it");
    cli_target_reset(&target);
    assert_content("old");
}

static void out_target__force_replaces_it_only_when_finished(void **state)
{
    (void)state;
    put("old");
    write_answer(true, false);
    assert_content("old");
    write_answer(true, true);
    assert_content("new");
}

static void out_target__force_without_a_file_is_fine(void **state)
{
    (void)state;
    write_answer(true, true);
    assert_content("new");
}

static void out_target__devices_are_written_to_as_they_are(void **state)
{
    cli_target target;
    frz_error err = {0};
    (void)state;
    assert_ok(cli_target_open(&target, "/dev/null", false, &err), &err);
    cli_text_str(&target.out.text, "gone");
    assert_ok(cli_target_finish(&target, &err), &err);
    cli_target_reset(&target);
    assert_ok(cli_target_open(&target, "/dev/full", false, &err), &err);
    cli_text_str(&target.out.text, "too much");
    assert_fails(cli_target_finish(&target, &err), &err, FRZ_E_IO, "cannot write to /dev/full");
    cli_target_reset(&target);
    assert_int_equal(access("/dev/full", F_OK), 0);
    assert_fails(cli_target_reserve(&target, "/dev/null", true, &err), &err, FRZ_E_ARGUMENT,
                 "not a plain file");
    cli_target_reset(&target);
}

static void out_target__folders_and_missing_folders(void **state)
{
    cli_target target;
    frz_error err = {0};
    (void)state;
    assert_fails(cli_target_open(&target, ".", true, &err), &err, FRZ_E_ARGUMENT, "is a folder");
    cli_target_reset(&target);
    assert_fails(cli_target_open(&target, "no/such", false, &err), &err, FRZ_E_NOT_FOUND,
                 "cannot create no/such");
    cli_target_reset(&target);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(out_target__a_new_file_is_written),
        IN_FOLDER(out_target__an_unfinished_file_is_removed),
        IN_FOLDER(out_target__an_existing_file_is_refused),
        IN_FOLDER(out_target__force_replaces_it_only_when_finished),
        IN_FOLDER(out_target__force_without_a_file_is_fine),
        IN_FOLDER(out_target__devices_are_written_to_as_they_are),
        IN_FOLDER(out_target__folders_and_missing_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
