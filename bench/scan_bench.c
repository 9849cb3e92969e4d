/*
 * Reads columns of a table, or of a Parquet file apart from tables, through the public API and sums
 * all doubles in them.
 * Usage: scan_bench [--threads N] [--against|--beside OTHER] RUNS METADATA|FILE.parquet
 * [COLUMN...]; no columns: all. One thread if nothing else is said. Opening the table or file is
 * not counted.
 *
 * Prints the least seconds of one read, rows, sum, and the least seconds that processors worked on
 * one. With --against both are read in turn, each being first every other time, and a line is
 * printed for each pair of reads: seconds and seconds of work of the one, then of the other. The
 * first pair, in which memory is taken and footers are parsed, is left out. So it is with --beside,
 * but the two need not have the same rows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli/cli_memory.h"
#include "frazil/frazil.h"

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
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

/* What is read: a table or a file. */
typedef struct source {
    frz_table *table;
    frz_parquet_file *file;
    const char *const *columns; /* NULL: all */
    size_t column_count;
} source;

static void open_source(const frz_env *env, const char *location, source *out)
{
    frz_error err = {0};
    size_t len = strlen(location);
    if (len > 8 && strcmp(location + len - 8, ".parquet") == 0) {
        check(frz_parquet_file_open(env, location, &out->file, &err), &err);
    } else {
        check(frz_table_open(env, location, NULL, &out->table, &err), &err);
    }
}

static void close_source(source *from)
{
    frz_table_unref(from->table);
    frz_parquet_file_close(from->file);
}

static void open_stream(const source *from, struct ArrowArrayStream *out)
{
    frz_error err = {0};
    if (from->table != NULL) {
        frz_scan_options opts = FRZ_SCAN_OPTIONS_INIT;
        frz_scan *scan = NULL;
        opts.columns = from->columns;
        opts.column_count = from->column_count;
        check(frz_scan_open(from->table, &opts, &scan, &err), &err);
        check(frz_scan_export(scan, out, &err), &err);
    } else {
        frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
        frz_parquet_reader *reader = NULL;
        opts.columns = from->columns;
        opts.column_count = from->column_count;
        check(frz_parquet_reader_open(from->file, &opts, &reader, &err), &err);
        check(frz_parquet_reader_export(reader, out, &err), &err);
    }
}

static void check_stream(struct ArrowArrayStream *stream, int code)
{
    if (code != 0) {
        fprintf(stderr, "scan_bench: %s\n", stream->get_last_error(stream));
        exit(1);
    }
}

static double read_once(const source *from, int64_t *rows)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch;
    struct ArrowSchema schema;
    double sum = 0;
    *rows = 0;
    open_stream(from, &stream);
    check_stream(&stream, stream.get_schema(&stream, &schema));
    for (;;) {
        check_stream(&stream, stream.get_next(&stream, &batch));
        if (batch.release == NULL) {
            break;
        }
        for (int64_t c = 0; c < batch.n_children; c++) {
            if (strcmp(schema.children[c]->format, "g") == 0) {
                sum += sum_of(batch.children[c]);
            }
        }
        *rows += batch.length;
        batch.release(&batch);
    }
    schema.release(&schema);
    stream.release(&stream);
    return sum;
}

/* What one read took, and what came out. */
typedef struct reading {
    double seconds, work, sum;
    int64_t rows;
} reading;

static reading measure(const source *from)
{
    reading r = {0};
    double start = now(CLOCK_MONOTONIC), work = now(CLOCK_PROCESS_CPUTIME_ID);
    r.sum = read_once(from, &r.rows);
    r.work = now(CLOCK_PROCESS_CPUTIME_ID) - work;
    r.seconds = now(CLOCK_MONOTONIC) - start;
    return r;
}

/* A process of real-time priority lets others have a twentieth of each second: between reads, and
 * not in one of them, which then would be slower than the other of its pair. */
static reading measure_rested(const source *from)
{
    reading r = measure(from);
    struct timespec rest = {.tv_nsec = (long)(r.seconds / 8 * 1e9) % 1000000000L};
    nanosleep(&rest, NULL);
    return r;
}

static void read_alone(const source *from, long runs)
{
    reading best = {.seconds = 1e9, .work = 1e9};
    for (; runs > 0; runs--) {
        reading r = measure(from);
        r.seconds = r.seconds < best.seconds ? r.seconds : best.seconds;
        r.work = r.work < best.work ? r.work : best.work;
        best = r;
    }
    printf("%.6f %lld %.17g %.6f\n", best.seconds, (long long)best.rows, best.sum, best.work);
}

/* Sums may be added up in another order. */
static void check_same(const reading *a, const reading *b)
{
    if (a->rows != b->rows || fabs(a->sum - b->sum) > 1e-9 * fabs(a->sum + b->sum)) {
        fprintf(stderr, "scan_bench: %lld rows of sum %.17g against %lld of %.17g\n",
                (long long)a->rows, a->sum, (long long)b->rows, b->sum);
        exit(1);
    }
}

static void read_pairs(const source *one, const source *other, bool same, long runs)
{
    for (long i = 0; i <= runs; i++) {
        reading a, b;
        if (i % 2 == 0) {
            a = measure_rested(one);
            b = measure_rested(other);
        } else {
            b = measure_rested(other);
            a = measure_rested(one);
        }
        if (same) {
            check_same(&a, &b);
        }
        if (i > 0) {
            printf("%.6f %.6f %.6f %.6f\n", a.seconds, a.work, b.seconds, b.work);
        }
    }
}

/* The value of an option, if it comes next: taken off the arguments; else NULL. */
static const char *take_option(const char *name, int *argc, char ***argv)
{
    if (*argc <= 2 || strcmp((*argv)[1], name) != 0) {
        return NULL;
    }
    const char *value = (*argv)[2];
    *argc -= 2;
    *argv += 2;
    return value;
}

int main(int argc, char **argv)
{
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_error err = {0};
    frz_env *env = NULL;
    source from = {0};
    const char *threads = take_option("--threads", &argc, &argv);
    const char *against = take_option("--against", &argc, &argv);
    const char *beside = take_option("--beside", &argc, &argv);
    opts.threads = threads == NULL ? 1 : (int)strtol(threads, NULL, 10);
    if (argc < 3) {
        fprintf(stderr, "usage: scan_bench [--threads N] [--against|--beside OTHER] RUNS "
                        "METADATA|FILE.parquet [COLUMN...]\n");
        return 2;
    }
    from.columns = argc > 3 ? (const char *const *)argv + 3 : NULL;
    from.column_count = (size_t)argc - 3;
    cli_memory_keep();
    check(frz_env_new(&opts, &env, &err), &err);
    source other = from;
    open_source(env, argv[2], &from);
    if (against == NULL && beside == NULL) {
        read_alone(&from, strtol(argv[1], NULL, 10));
    } else {
        open_source(env, against != NULL ? against : beside, &other);
        read_pairs(&from, &other, against != NULL, strtol(argv[1], NULL, 10));
    }
    close_source(&other);
    close_source(&from);
    frz_env_free(env);
    return 0;
}
