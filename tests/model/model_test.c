/*
 * Tables against plain models of their rows: random sequences of everything that changes a table,
 * each step followed by comparing what can be read. The sequences run in processes of their own.
 * If one fails, steps are taken out of it as long as it still fails, and the few that are left are
 * shown.
 *
 *   model_test                  a few hundred sequences; with FRAZIL_LONG ten thousand
 *   model_test run FIRST COUNT  sequences by number
 *   model_test steps N 3,7,9    these steps of sequence N; "model_test wrong N 3,7,9" with a model
 *                               that is wrong about deletes
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "model/model_changes.h"
#include "model/model_steps.h"

#define STEPS 12
#define SEQUENCES 200
#define SEQUENCES_LONG 10000
#define PATH_SIZE 64
#define MOST_SECONDS 120 /* of some steps */

extern char **environ;

/* ---- a sequence ---- */

typedef struct steps {
    size_t items[STEPS];
    size_t count;
} steps;

/* What this process is to run. */
static struct {
    uint64_t first, count;
    const char *at; /* file in which the number of the sequence stands; NULL: none */
    steps chosen;
    bool wrong;
} job;

static uint64_t stir(uint64_t seed, uint64_t step)
{
    uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + step * UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 31;
    return x == 0 ? 1 : x;
}

static void check_step(fixture *f, bool whole_history)
{
    frz_table *table = NULL;
    check_table(f, whole_history);
    assert_ok(frz_catalog_load_table(&f->outer, NAME, &table, &f->err), &f->err);
    model_check_changes(f, table);
    frz_table_unref(table);
}

/* Each step has random numbers of its own, so that it is the same without those before it. */
static void run_steps(void **state, uint64_t seed, const steps *chosen)
{
    fixture f;
    fixture_open(&f, state, seed);
    f.wrong = job.wrong;
    model_begin(&f);
    check_step(&f, false);
    for (size_t i = 0; i < chosen->count; i++) {
        f.random.state = stir(seed, chosen->items[i] + 1);
        model_step(&f);
        check_step(&f, i + 1 == chosen->count);
    }
    fixture_close(&f);
}

static void write_number(const char *path, uint64_t number)
{
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file != NULL) {
        fprintf(file, "%llu\n", (unsigned long long)number);
        fclose(file);
    }
}

static void model__tables_are_what_their_models_are(void **state)
{
    for (uint64_t seed = job.first; seed < job.first + job.count; seed++) {
        write_number(job.at, seed);
        run_steps(state, seed, &job.chosen);
    }
}

static int run_job(void)
{
    static const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(model__tables_are_what_their_models_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ---- processes ---- */

/* Run this program with these arguments; its status, 0 for success. quiet: what it says is lost. */
static int spawn(char *const arguments[], bool quiet)
{
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (quiet) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    int failed = posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        fprintf(stderr, "model_test: %s\n", strerror(failed));
        exit(1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static bool steps_fail(uint64_t seed, const steps *chosen, bool wrong, bool quiet)
{
    char number[32], list[STEPS * 4] = "-";
    size_t len = 0;
    char *arguments[] = {"model_test", wrong ? "wrong" : "steps", number, list, NULL};
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    for (size_t i = 0; i < chosen->count; i++) {
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%zu", i == 0 ? "" : ",",
                                chosen->items[i]);
    }
    return spawn(arguments, quiet) != 0;
}

/* ---- fewer steps ---- */

static steps all_steps(void)
{
    steps all = {.count = STEPS};
    for (size_t i = 0; i < STEPS; i++) {
        all.items[i] = i;
    }
    return all;
}

static steps without(const steps *from, size_t first, size_t count)
{
    steps rest = {.count = 0};
    for (size_t i = 0; i < from->count; i++) {
        if (i < first || i >= first + count) {
            rest.items[rest.count++] = from->items[i];
        }
    }
    return rest;
}

/* Take out pieces, ever smaller ones, as long as the rest fails. */
static steps shrink(uint64_t seed, steps failing, bool wrong)
{
    for (size_t piece = (failing.count + 1) / 2; piece > 0; piece /= 2) {
        for (size_t first = 0; first < failing.count;) {
            steps rest = without(&failing, first, piece);
            if (steps_fail(seed, &rest, wrong, true)) {
                failing = rest;
            } else {
                first += piece;
            }
        }
    }
    return failing;
}

/* A model that is wrong about deletes is found out, with nothing but a delete. */
static bool shrinking_works(void)
{
    const steps all = all_steps();
    for (uint64_t seed = 1; seed < 20; seed++) {
        if (steps_fail(seed, &all, true, true)) {
            steps few = shrink(seed, all, true);
            return few.count == 1 && !steps_fail(seed, &few, false, true);
        }
    }
    return false;
}

/* ---- many sequences ---- */

static uint64_t read_number(const char *path)
{
    unsigned long long number = 0;
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%llu", &number) != 1) {
            number = 0;
        }
        fclose(file);
    }
    return number;
}

static int drive(uint64_t first, uint64_t count)
{
    char at[PATH_SIZE] = "/tmp/frazil-model-XXXXXX", begin[32], number[32];
    char *arguments[] = {"model_test", "run", begin, number, at, NULL};
    int file = mkstemp(at);
    if (file < 0 || !shrinking_works()) {
        fprintf(stderr, "model_test: %s\n", file < 0 ? at : "a wrong model is not found out");
        return 1;
    }
    close(file);
    snprintf(begin, sizeof begin, "%llu", (unsigned long long)first);
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    bool failed = spawn(arguments, true) != 0;
    if (failed) {
        uint64_t seed = read_number(at);
        steps few = shrink(seed, all_steps(), false);
        if (!steps_fail(seed, &few, false, false)) {
            fprintf(stderr, "model_test: sequence %llu fails only behind others\n",
                    (unsigned long long)seed);
        }
    } else {
        printf("%llu sequences of %d steps\n", (unsigned long long)count, STEPS);
    }
    unlink(at);
    return failed;
}

static steps parse_steps(const char *list)
{
    steps chosen = {.count = 0};
    char *end;
    while (*list >= '0' && *list <= '9' && chosen.count < STEPS) {
        chosen.items[chosen.count++] = strtoul(list, &end, 10);
        list = *end == ',' ? end + 1 : end;
    }
    return chosen;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    job.first = number;
    job.count = 1;
    job.chosen = all_steps();
    job.wrong = strcmp(how, "wrong") == 0;
    if (argc == 5 && strcmp(how, "run") == 0) {
        job.count = strtoull(argv[3], NULL, 10);
        job.at = argv[4];
        return run_job();
    }
    if (argc == 4 && strcmp(how, "run") == 0) {
        return drive(number, strtoull(argv[3], NULL, 10));
    }
    if (argc == 4 && (job.wrong || strcmp(how, "steps") == 0)) {
        alarm(MOST_SECONDS);
        job.chosen = parse_steps(argv[3]);
        return run_job();
    }
    return drive(1, getenv("FRAZIL_LONG") != NULL ? SEQUENCES_LONG : SEQUENCES);
}
