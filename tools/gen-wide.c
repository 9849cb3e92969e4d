/*
 * gen-wide: a wide Parquet file for the demo, tests and benchmarks: id bigint from 0, and columns
 * c_1 … c_N of doubles, uniform in [0, 1). The same arguments give the same values, whatever the
 * size of the batches: each column has a generator of its own. Rows are made and written batch by
 * batch, so memory does not grow with the rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frazil/env.h"
#include "frazil/parquet_writer.h"

#define BATCH_ROWS 8192
#define COLUMNS_MAX 100000
#define NAME_SIZE 32

/* ---- random numbers: xoshiro256**, its state filled by splitmix64 ---- */

typedef struct random_state {
    uint64_t s[4];
} random_state;

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void random_seed(random_state *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        random->s[i] = splitmix64(&seed);
    }
}

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t random_next(random_state *random)
{
    uint64_t *s = random->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* 53 random bits as a double in [0, 1). */
static double random_double(random_state *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

/* ---- the table as an Arrow stream ---- */

typedef struct wide_table {
    int64_t rows;
    int64_t columns; /* the id not counted */
    int64_t next_row;
    random_state *random; /* one per column */
    const char *failure;
} wide_table;

static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] != NULL && schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static int schema_column(struct ArrowSchema *out, const char *format, int64_t number)
{
    char *name = malloc(NAME_SIZE);
    if (name == NULL) {
        return ENOMEM;
    }
    if (number == 0) {
        snprintf(name, NAME_SIZE, "id");
    } else {
        snprintf(name, NAME_SIZE, "c_%lld", (long long)number);
    }
    *out = (struct ArrowSchema){.format = format,
                                .name = name,
                                .flags = ARROW_FLAG_NULLABLE,
                                .release = schema_release,
                                .private_data = name};
    return 0;
}

static int wide_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const wide_table *wide = stream->private_data;
    struct ArrowSchema schema = {.format = "+s", .name = "", .release = schema_release};
    int rc = ENOMEM;

    schema.children = calloc((size_t)wide->columns + 1, sizeof *schema.children);
    if (schema.children == NULL) {
        return ENOMEM;
    }
    for (int64_t i = 0; i <= wide->columns; i++) {
        schema.children[i] = calloc(1, sizeof **schema.children);
        schema.n_children = i + 1;
        if (schema.children[i] == NULL ||
            schema_column(schema.children[i], i == 0 ? "l" : "g", i) != 0) {
            goto out;
        }
    }
    *out = schema;
    schema = (struct ArrowSchema){.release = NULL};
    rc = 0;
out:
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return rc;
}

static void column_release(struct ArrowArray *array)
{
    free(array->private_data); /* the values */
    free(array->buffers);
    array->release = NULL;
}

static int column_make(int64_t length, struct ArrowArray *out)
{
    void *values = aligned_alloc(64, BATCH_ROWS * 8);
    const void **buffers = malloc(2 * sizeof *buffers);
    if (values == NULL || buffers == NULL) {
        free(values);
        free(buffers);
        return ENOMEM;
    }
    buffers[0] = NULL;
    buffers[1] = values;
    *out = (struct ArrowArray){.length = length,
                               .n_buffers = 2,
                               .buffers = buffers,
                               .release = column_release,
                               .private_data = values};
    return 0;
}

static void batch_release(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] != NULL && array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
        free(array->children[i]);
    }
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

static void column_fill(wide_table *wide, int64_t number, int64_t length, void *values)
{
    int64_t *ids = values;
    double *numbers = values;
    for (int64_t row = 0; row < length; row++) {
        if (number == 0) {
            ids[row] = wide->next_row + row;
        } else {
            numbers[row] = random_double(&wide->random[number - 1]);
        }
    }
}

static int wide_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    wide_table *wide = stream->private_data;
    int64_t left = wide->rows - wide->next_row;
    int64_t length = left < BATCH_ROWS ? left : BATCH_ROWS;
    struct ArrowArray batch = {.length = length, .n_buffers = 1, .release = batch_release};
    int rc = ENOMEM;

    if (length == 0) {
        *out = (struct ArrowArray){.release = NULL};
        return 0;
    }
    wide->failure = "out of memory";
    batch.buffers = calloc(1, sizeof *batch.buffers);
    batch.children = calloc((size_t)wide->columns + 1, sizeof *batch.children);
    if (batch.buffers == NULL || batch.children == NULL) {
        goto out;
    }
    for (int64_t i = 0; i <= wide->columns; i++) {
        batch.children[i] = calloc(1, sizeof **batch.children);
        batch.n_children = i + 1;
        if (batch.children[i] == NULL || column_make(length, batch.children[i]) != 0) {
            goto out;
        }
        column_fill(wide, i, length, batch.children[i]->private_data);
    }
    wide->next_row += length;
    wide->failure = NULL;
    *out = batch;
    batch = (struct ArrowArray){.release = NULL};
    rc = 0;
out:
    if (batch.release != NULL) {
        batch.release(&batch);
    }
    return rc;
}

static const char *wide_failure(struct ArrowArrayStream *stream)
{
    const wide_table *wide = stream->private_data;
    return wide->failure;
}

static void wide_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL; /* the table is main's */
}

/* ---- the command ---- */

typedef struct arguments {
    int64_t rows, columns, seed;
    const char *out;
} arguments;

static int parse_number(const char *text, int64_t most, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0 || value > most) {
        return 0;
    }
    *out = value;
    return 1;
}

static int parse_arguments(int argc, char **argv, arguments *args)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        int ok = 0;
        if (strcmp(argv[i], "--rows") == 0) {
            ok = parse_number(argv[i + 1], INT64_MAX, &args->rows);
        } else if (strcmp(argv[i], "--columns") == 0) {
            ok = parse_number(argv[i + 1], COLUMNS_MAX, &args->columns);
        } else if (strcmp(argv[i], "--seed") == 0) {
            ok = parse_number(argv[i + 1], INT64_MAX, &args->seed);
        } else if (strcmp(argv[i], "--out") == 0) {
            args->out = argv[i + 1];
            ok = 1;
        }
        if (!ok) {
            return 0;
        }
    }
    return argc % 2 == 1 && args->out != NULL;
}

static frz_code write_table(wide_table *wide, const char *path, frz_error *err)
{
    frz_env *env = NULL;
    struct ArrowArrayStream stream = {.get_schema = wide_schema,
                                      .get_next = wide_next,
                                      .get_last_error = wide_failure,
                                      .release = wide_release,
                                      .private_data = wide};
    frz_code rc = frz_env_new(NULL, &env, err);
    if (rc == FRZ_OK) {
        rc = frz_parquet_write_stream(env, path, &stream, NULL, NULL, err);
    }
    frz_env_free(env);
    return rc;
}

int main(int argc, char **argv)
{
    arguments args = {.rows = 200000, .columns = 200, .seed = 42};
    wide_table wide = {0};
    frz_error err = {0};
    char text[1024];

    if (!parse_arguments(argc, argv, &args)) {
        fprintf(stderr, "usage: gen-wide [--rows 200000] [--columns 200] [--seed 42] --out FILE\n");
        return 2;
    }
    wide.rows = args.rows;
    wide.columns = args.columns;
    wide.random = calloc((size_t)args.columns + 1, sizeof *wide.random);
    if (wide.random == NULL) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    uint64_t seed = (uint64_t)args.seed;
    for (int64_t i = 0; i < args.columns; i++) {
        random_seed(&wide.random[i], splitmix64(&seed));
    }
    frz_code rc = write_table(&wide, args.out, &err);
    if (rc != FRZ_OK) {
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "gen-wide: %s\n", text);
    }
    free(wide.random);
    return rc == FRZ_OK ? 0 : 1;
}
