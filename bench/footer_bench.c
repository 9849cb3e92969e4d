/*
 * Opens a Parquet file, reads one column of it and sums its numbers; then does the same again in
 * the same process. Usage: footer_bench FILE COLUMN. Prints rows, sum, and the milliseconds of
 * opening and reading, for the first time and for the second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frazil/frazil.h"

#define KEPT_BYTES ((size_t)512 << 20) /* more than the footers measured */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void check(frz_code rc, const frz_error *err)
{
    if (rc != FRZ_OK && rc != FRZ_END) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "footer_bench: %s\n", text);
        exit(1);
    }
}

static double sum_of(const char *format, const struct ArrowArray *a)
{
    double sum = 0;
    for (int64_t i = a->offset; i < a->offset + a->length; i++) {
        if (strcmp(format, "f") == 0) {
            sum += (double)((const float *)a->buffers[1])[i];
        } else if (strcmp(format, "l") == 0) {
            sum += (double)((const int64_t *)a->buffers[1])[i];
        } else {
            fprintf(stderr, "footer_bench: the column is neither float nor int64\n");
            exit(1);
        }
    }
    return sum;
}

typedef struct figures {
    int64_t rows;
    double sum, open_ms, read_ms;
} figures;

static figures read_once(const frz_env *env, const char *path, const char *column)
{
    figures result = {0};
    frz_error err = {0};
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    frz_code rc;
    double start = now_ms();
    check(frz_parquet_file_open(env, path, &file, &err), &err);
    double opened = now_ms();
    opts.columns = &column;
    opts.column_count = 1;
    check(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    check(frz_parquet_reader_schema(reader, &schema, &err), &err);
    while ((rc = frz_parquet_reader_next(reader, &batch, NULL, &err)) == FRZ_OK) {
        result.rows += batch.length;
        result.sum += sum_of(schema.children[0]->format, batch.children[0]);
        batch.release(&batch);
    }
    check(rc, &err);
    schema.release(&schema);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    result.open_ms = opened - start;
    result.read_ms = now_ms() - opened;
    return result;
}

int main(int argc, char **argv)
{
    frz_error err = {0};
    frz_env *env = NULL;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    opts.cache_bytes = KEPT_BYTES;
    if (argc != 3) {
        fprintf(stderr, "usage: footer_bench FILE COLUMN\n");
        return 2;
    }
    check(frz_env_new(&opts, &env, &err), &err);
    figures first = read_once(env, argv[1], argv[2]);
    figures second = read_once(env, argv[1], argv[2]);
    printf("%lld %.17g %.3f %.3f %.3f %.3f\n", (long long)first.rows, first.sum, first.open_ms,
           first.read_ms, second.open_ms, second.read_ms);
    frz_env_free(env);
    return first.sum == second.sum && first.rows == second.rows ? 0 : 1;
}
