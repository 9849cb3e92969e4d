/*
 * The inner loops of encoding, plain and with what this processor offers: nanoseconds per value,
 * the least of several runs over data that fits the second cache.
 * Usage: micro_encode [NAME]; with a name only what contains it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/parquet/parquet_write.h"

#define VALUES 65536
#define ROUNDS 9
#define REPEAT 20

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 24 ^ seed << 20;
}

/* What the loops work on. */
typedef struct data {
    frz_env *env;
    const parquet_write_kernels *kernels;
    frz_buf out;
    uint8_t numbers[VALUES * 8]; /* below a million, of 8 bytes; as 4 bytes every other one is 0 */
    uint8_t levels[VALUES];      /* mostly 1 */
    uint32_t indices[VALUES];    /* below 1000 */
    uint64_t mask[VALUES / 64];  /* nine in ten bits are set */
    uint8_t picked[VALUES * 8 + PARQUET_PICK_SLACK];
    volatile uint64_t sink;
} data;

typedef void (*body)(data *d);

/* ---- the table ---- */

static void bounds_int32(data *d)
{
    int32_t bounds[2];
    d->kernels->bounds_int32(d->numbers, VALUES, &bounds[0], &bounds[1]);
    d->sink += (uint32_t)bounds[0] + (uint32_t)bounds[1];
}

static void bounds_int64(data *d)
{
    int64_t bounds[2];
    d->kernels->bounds_int64(d->numbers, VALUES, &bounds[0], &bounds[1]);
    d->sink += (uint64_t)bounds[0] + (uint64_t)bounds[1];
}

static void bounds_float(data *d)
{
    int32_t bounds[2];
    d->sink += d->kernels->bounds_float(d->numbers, VALUES, &bounds[0], &bounds[1]);
    d->sink += (uint32_t)bounds[0] + (uint32_t)bounds[1];
}

static void bounds_double(data *d)
{
    int64_t bounds[2];
    d->sink += d->kernels->bounds_double(d->numbers, VALUES, &bounds[0], &bounds[1]);
    d->sink += (uint64_t)bounds[0] + (uint64_t)bounds[1];
}

static void deltas_4(data *d)
{
    parquet_deltas deltas;
    for (size_t i = 0; i + PARQUET_DELTA_BLOCK < VALUES; i += PARQUET_DELTA_BLOCK) {
        d->kernels->deltas_4(d->numbers + 4 * i, PARQUET_DELTA_BLOCK, &deltas);
        d->sink += deltas.widths[0];
    }
}

static void deltas_8(data *d)
{
    parquet_deltas deltas;
    for (size_t i = 0; i + PARQUET_DELTA_BLOCK < VALUES; i += PARQUET_DELTA_BLOCK) {
        d->kernels->deltas_8(d->numbers + 8 * i, PARQUET_DELTA_BLOCK, &deltas);
        d->sink += deltas.widths[0];
    }
}

static void pick_4(data *d)
{
    d->sink += d->kernels->pick_4(d->numbers, d->mask, VALUES / 64, d->picked);
}

static void pick_8(data *d)
{
    d->sink += d->kernels->pick_8(d->numbers, d->mask, VALUES / 64, d->picked);
}

static void split_4(data *d)
{
    d->kernels->split_4(d->numbers, VALUES, d->picked);
}

static void split_8(data *d)
{
    d->kernels->split_8(d->numbers, VALUES, d->picked);
}

/* ---- whole encoders ---- */

static void check(frz_code rc)
{
    if (rc != FRZ_OK) {
        fprintf(stderr, "micro_encode: failed with %d\n", (int)rc);
        exit(1);
    }
}

static void encode_delta_4(data *d)
{
    frz_buf_clear(&d->out);
    check(parquet_encode_delta(d->numbers, VALUES, 4, &d->out, NULL));
}

static void encode_delta_8(data *d)
{
    frz_buf_clear(&d->out);
    check(parquet_encode_delta(d->numbers, VALUES, 8, &d->out, NULL));
}

static void encode_levels(data *d)
{
    frz_buf_clear(&d->out);
    check(parquet_encode_levels(d->levels, VALUES, 1, &d->out, NULL));
}

static void encode_indices(data *d)
{
    frz_buf_clear(&d->out);
    check(parquet_encode_indices(d->indices, VALUES, 10, &d->out, NULL));
}

/* ---- measuring ---- */

static double measure(data *d, body run)
{
    double best = 1e18;
    run(d);
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now();
        for (int i = 0; i < REPEAT; i++) {
            run(d);
        }
        double took = now() - begin;
        best = took < best ? took : best;
    }
    return best / REPEAT / VALUES;
}

static void report(data *d, const char *name, body run)
{
    unsigned cpu = d->env->cpu;
    d->env->cpu = 0;
    d->kernels = &parquet_write_kernels_plain;
    double plain = measure(d, run);
    d->env->cpu = cpu;
    d->kernels = parquet_write_kernels_of(d->env);
    double best = measure(d, run);
    printf("%-24s %8.3f %8.3f %8.2f\n", name, plain, best, plain / best);
}

static void fill(data *d)
{
    for (size_t i = 0; i < VALUES; i++) {
        frz_store_le64(d->numbers + 8 * i, next_random() % 1000000);
        d->levels[i] = next_random() % 20 != 0;
        d->indices[i] = (uint32_t)(next_random() % 1000);
        d->mask[i / 64] |= (uint64_t)(next_random() % 10 != 0) << i % 64;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        body run;
    } all[] = {{"bounds_int32", bounds_int32},
               {"bounds_int64", bounds_int64},
               {"bounds_float", bounds_float},
               {"bounds_double", bounds_double},
               {"deltas_4", deltas_4},
               {"deltas_8", deltas_8},
               {"encode_delta_4", encode_delta_4},
               {"encode_delta_8", encode_delta_8},
               {"encode_levels", encode_levels},
               {"encode_indices", encode_indices},
               {"pick_4", pick_4},
               {"pick_8", pick_8},
               {"split_4", split_4},
               {"split_8", split_8}};
    static data d;
    const char *wanted = argc > 1 ? argv[1] : "";
    frz_error err = {0};
    if (frz_env_new(NULL, &d.env, &err) != FRZ_OK) {
        fprintf(stderr, "micro_encode: %s\n", err.message);
        return 1;
    }
    frz_buf_init(&d.out, d.env, FRZ_BUF_NO_LIMIT);
    fill(&d);
    printf("%-24s %8s %8s %8s\n", "ns per value", "plain", parquet_write_kernels_of(d.env)->name,
           "ratio");
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        if (strstr(all[i].name, wanted) != NULL) {
            report(&d, all[i].name, all[i].run);
        }
    }
    frz_buf_reset(&d.out);
    frz_env_free(d.env);
    return 0;
}
