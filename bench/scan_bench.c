/*
 * Reads columns of a table through the public API and sums all doubles in them.
 * Usage: scan_bench [--threads N] RUNS METADATA [COLUMN...]; no columns: all. One thread if nothing
 * else is said. Prints the least seconds of one read, rows and sum.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frazil/frazil.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(frz_code rc, const frz_error *err)
{
    if (rc != FRZ_OK) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "scan_bench: %s\n", text);
        exit(1);
    }
}

/* Several sums at once, so that reading and not adding is measured. */
static double sum_of(const struct ArrowArray *column)
{
    const double *v = (const double *)column->buffers[1] + column->offset;
    double sums[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= column->length; i += 8) {
        for (int k = 0; k < 8; k++) {
            sums[k] += v[i + k];
        }
    }
    for (; i < column->length; i++) {
        sums[0] += v[i];
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

static double read_once(frz_table *table, const frz_scan_options *opts, int64_t *rows)
{
    frz_error err = {0};
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    struct ArrowSchema schema;
    double sum = 0;
    frz_code rc;
    *rows = 0;
    check(frz_scan_open(table, opts, &scan, &err), &err);
    check(frz_scan_schema(scan, &schema, &err), &err);
    while ((rc = frz_scan_next(scan, &batch, &err)) == FRZ_OK) {
        for (int64_t c = 0; c < batch.n_children; c++) {
            if (strcmp(schema.children[c]->format, "g") == 0) {
                sum += sum_of(batch.children[c]);
            }
        }
        *rows += batch.length;
        batch.release(&batch);
    }
    check(rc == FRZ_END ? FRZ_OK : rc, &err);
    schema.release(&schema);
    frz_scan_close(scan);
    return sum;
}

/* The option, if it is there: taken off the arguments. */
static int take_threads(int *argc, char ***argv)
{
    int threads = 1;
    if (*argc > 2 && strcmp((*argv)[1], "--threads") == 0) {
        threads = (int)strtol((*argv)[2], NULL, 10);
        *argc -= 2;
        *argv += 2;
    }
    return threads;
}

int main(int argc, char **argv)
{
    frz_env_options env_opts = FRZ_ENV_OPTIONS_INIT;
    frz_error err = {0};
    frz_env *env = NULL;
    frz_table *table = NULL;
    frz_scan_options opts = FRZ_SCAN_OPTIONS_INIT;
    double best = 1e9, sum = 0;
    int64_t rows = 0;
    env_opts.threads = take_threads(&argc, &argv);
    if (argc < 3) {
        fprintf(stderr, "usage: scan_bench [--threads N] RUNS METADATA [COLUMN...]\n");
        return 2;
    }
    opts.columns = argc > 3 ? (const char *const *)argv + 3 : NULL;
    opts.column_count = (size_t)argc - 3;
    mallopt(M_MMAP_THRESHOLD, 64 << 20); /* as the command does */
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    check(frz_env_new(&env_opts, &env, &err), &err);
    check(frz_table_open(env, argv[2], NULL, &table, &err), &err);
    for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
        double start = now();
        sum = read_once(table, &opts, &rows);
        double took = now() - start;
        best = took < best ? took : best;
    }
    printf("%.6f %lld %.17g\n", best, (long long)rows, sum);
    frz_table_unref(table);
    frz_env_free(env);
    return 0;
}
