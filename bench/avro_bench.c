/*
 * Reads columns of an Avro file, several times. Usage: avro_bench FILE RUNS [COLUMN...]. Prints the
 * rows, a sum over all lengths and numbers that came out, and the least milliseconds of the
 * processor that a run took, of which those of opening.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cli/cli_memory.h"
#include "frazil/frazil.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void check(frz_code rc, const frz_error *err)
{
    if (rc != FRZ_OK) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "avro_bench: %s\n", text);
        exit(1);
    }
}

/* What is cheap to add up and tells one result from another: numbers, bytes, items. */
static int64_t sum_of(const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    int64_t sum = 0;
    const char *format = schema->format;
    if (strcmp(format, "l") == 0) {
        for (int64_t i = 0; i < a->length; i++) {
            sum += ((const int64_t *)a->buffers[1])[i];
        }
    } else if (strcmp(format, "i") == 0) {
        for (int64_t i = 0; i < a->length; i++) {
            sum += ((const int32_t *)a->buffers[1])[i];
        }
    } else if (a->n_buffers == 3 || strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0) {
        sum += ((const int32_t *)a->buffers[1])[a->length];
    }
    for (int64_t i = 0; i < a->n_children; i++) {
        sum += sum_of(schema->children[i], a->children[i]);
    }
    return sum;
}

typedef struct figures {
    int64_t rows, sum;
    double open_ms, all_ms;
} figures;

static figures read_once(const frz_env *env, const char *path, const char *const *columns,
                         size_t count)
{
    figures result = {0};
    frz_error err = {0};
    frz_avro_file *file = NULL;
    frz_avro_read_options opts = FRZ_AVRO_READ_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    double start = now_ms();
    check(frz_avro_file_open(env, path, &file, &err), &err);
    result.open_ms = now_ms() - start;
    opts.columns = count == 0 ? NULL : columns;
    opts.column_count = count;
    check(frz_avro_file_read(file, &opts, &stream, &err), &err);
    if (stream.get_schema(&stream, &schema) != 0) {
        exit(1);
    }
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0) {
            fprintf(stderr, "avro_bench: %s\n", stream.get_last_error(&stream));
            exit(1);
        }
        if (batch.release == NULL) {
            break;
        }
        result.rows += batch.length;
        result.sum += sum_of(&schema, &batch);
        batch.release(&batch);
    }
    schema.release(&schema);
    stream.release(&stream);
    frz_avro_file_close(file);
    result.all_ms = now_ms() - start;
    return result;
}

int main(int argc, char **argv)
{
    frz_env *env = NULL;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_error err = {0};
    figures best = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: avro_bench FILE RUNS [COLUMN...]\n");
        return 2;
    }
    cli_memory_keep();
    check(frz_env_new(&opts, &env, &err), &err);
    for (int run = 0; run < atoi(argv[2]); run++) {
        figures now = read_once(env, argv[1], (const char *const *)argv + 3, (size_t)argc - 3);
        if (run == 0 || now.all_ms < best.all_ms) {
            best = now;
        }
    }
    printf("%lld %lld %.3f %.3f\n", (long long)best.rows, (long long)best.sum, best.all_ms,
           best.open_ms);
    frz_env_free(env);
    return 0;
}
