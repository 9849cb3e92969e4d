/*
 * The inner loops of decoding, plain and with what this processor offers: nanoseconds per value,
 * the least of several runs over data that fits the second cache.
 * Usage: micro_decode [NAME]; with a name only what contains it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/parquet/parquet_read.h"

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
    const parquet_kernels *kernels;
    unsigned width;    /* of packed numbers */
    uint8_t *in, *out; /* room for VALUES of 16 bytes */
    uint8_t *text;     /* UTF-8, half of it ASCII */
    uint8_t *bits;     /* validity, half of it set */
    uint8_t *levels;   /* 0 to 3 */
    uint32_t *indices; /* below 1000 */
    int32_t *offsets;
    size_t dense; /* ones of bits */
    uint64_t words[VALUES / 64], more[VALUES / 64];
    uint8_t *packed;
    size_t packed_len;
    volatile uint64_t sink;
} data;

typedef void (*body)(data *d);

static void unpack_u32(data *d)
{
    d->kernels->unpack_u32(d->in, d->width, VALUES, (uint32_t *)(void *)d->out);
}

static void unpack_u8(data *d)
{
    d->kernels->unpack_u8(d->in, d->width, VALUES, d->out);
}

static void largest_u32(data *d)
{
    d->sink += d->kernels->largest_u32(d->indices, VALUES);
}

static void is_ascii(data *d)
{
    d->sink += d->kernels->is_ascii(d->levels, VALUES);
}

static void is_utf8(data *d)
{
    d->sink += d->kernels->is_utf8(d->text, VALUES);
}

static void gather_4(data *d)
{
    parquet_gather(d->in, 4, d->indices, VALUES, d->out);
}

static void gather_8(data *d)
{
    parquet_gather(d->in, 8, d->indices, VALUES, d->out);
}

static void spread_4(data *d)
{
    d->kernels->spread_4(d->out, d->dense, VALUES, d->bits, 0);
}

static void spread_8(data *d)
{
    d->kernels->spread_8(d->out, d->dense, VALUES, d->bits, 0);
}

static void spread_offsets(data *d)
{
    d->kernels->spread_offsets(d->offsets, d->dense, VALUES, d->bits, 0);
}

static void largest_u8(data *d)
{
    d->sink += d->kernels->largest_u8(d->levels, VALUES);
}

static void count_u8(data *d)
{
    d->sink += parquet_count_u8(d->levels, VALUES, 3);
}

static void at_least(data *d)
{
    d->kernels->at_least(d->levels, VALUES, 2, d->words);
}

static void append_bits(data *d)
{
    memset(d->out, 0, VALUES / 8 + PARQUET_SLACK);
    d->sink += d->kernels->append_bits(d->words, d->more, VALUES / 64, d->out, 0);
}

static void offsets(data *d)
{
    d->kernels->offsets(d->words, d->more, VALUES / 64, 0, d->offsets);
}

static void split(data *d)
{
    parquet_split_read(d->in, VALUES, d->width, 0, VALUES, d->out);
}

/* ---- whole decoders ---- */

static void bits_of_levels(data *d)
{
    parquet_hybrid h;
    parquet_hybrid_init(&h, d->kernels, d->packed, d->packed_len, 1);
    d->sink += parquet_hybrid_bits(&h, d->out, 0, VALUES);
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

static void report(data *d, const char *wanted, const char *name, body run)
{
    if (wanted != NULL && strstr(name, wanted) == NULL) {
        return;
    }
    d->kernels = &parquet_kernels_plain;
    double plain = measure(d, run);
    d->kernels = parquet_kernels_of(d->env);
    double best = measure(d, run);
    printf("%-24s %8.3f %8.3f %8.2f\n", name, plain, best, plain / best);
}

static void report_widths(data *d, const char *wanted)
{
    static const unsigned widths[] = {1, 2, 3, 4, 7, 8, 10, 12, 16, 20, 25, 30};
    char name[64];
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(widths); i++) {
        d->width = widths[i];
        snprintf(name, sizeof name, "unpack_u32, %u bits", d->width);
        report(d, wanted, name, unpack_u32);
        snprintf(name, sizeof name, "unpack_u8, %u bits", d->width);
        if (d->width <= 8) {
            report(d, wanted, name, unpack_u8);
        }
    }
    for (d->width = 2; d->width <= 16; d->width *= 2) {
        snprintf(name, sizeof name, "split, %u bytes", d->width);
        report(d, wanted, name, split);
    }
}

static void report_kernels(data *d, const char *wanted)
{
    static const struct {
        const char *name;
        body run;
    } all[] = {{"largest_u32", largest_u32}, {"gather_4", gather_4},
               {"gather_8", gather_8},       {"spread_4", spread_4},
               {"spread_8", spread_8},       {"spread_offsets", spread_offsets},
               {"is_ascii", is_ascii},       {"is_utf8", is_utf8},
               {"largest_u8", largest_u8},   {"count_u8", count_u8},
               {"at_least", at_least},       {"append_bits", append_bits},
               {"offsets", offsets},         {"bits_of_levels", bits_of_levels}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        report(d, wanted, all[i].name, all[i].run);
    }
}

/* A run of ones, then a group, of random bits, in turn. */
static void make_levels(data *d)
{
    size_t len = 0;
    for (size_t i = 0; i < VALUES; i += 24) {
        d->packed[len++] = 16 << 1;
        d->packed[len++] = 1;
        d->packed[len++] = 1 << 1 | 1;
        d->packed[len++] = (uint8_t)next_random();
    }
    d->packed_len = len;
}

static void fill(data *d)
{
    static const char *const words[] = {"snow ", "größer", "日本", "ice "};
    for (size_t i = 0; i < VALUES * 16; i++) {
        d->in[i] = (uint8_t)next_random();
    }
    for (size_t i = 0; i < VALUES; i++) {
        d->levels[i] = (uint8_t)(next_random() % 4);
        d->indices[i] = (uint32_t)(next_random() % 1000);
        d->offsets[i] = (int32_t)i;
        d->bits[i / 8] = d->in[i / 8];
    }
    for (size_t i = 0; i < VALUES / 64; i++) {
        d->words[i] = next_random() & next_random();
        d->more[i] = next_random() | d->words[i];
        d->dense += (size_t)__builtin_popcountll(frz_load_le64(d->bits + i * 8));
    }
    memset(d->text, 'a', VALUES);
    for (size_t at = 0; at + 8 < VALUES;) {
        const char *word = words[next_random() % FRZ_ARRAY_COUNT(words)];
        memcpy(d->text + at, word, strlen(word));
        at += strlen(word);
    }
    make_levels(d);
}

static void *room(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (memory == NULL) {
        fprintf(stderr, "micro_decode: no memory\n");
        exit(1);
    }
    memset(memory, 0, bytes);
    return memory;
}

int main(int argc, char **argv)
{
    static data d;
    const char *wanted = argc > 1 ? argv[1] : NULL;
    uint8_t **memory[] = {&d.in, &d.out, &d.packed, &d.text, &d.bits, &d.levels};
    frz_error err = {0};
    if (frz_env_new(NULL, &d.env, &err) != FRZ_OK) {
        fprintf(stderr, "micro_decode: %s\n", err.message);
        return 1;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(memory); i++) {
        *memory[i] = room(VALUES * 16);
    }
    d.indices = room(VALUES * sizeof *d.indices);
    d.offsets = room((VALUES + 1) * sizeof *d.offsets);
    fill(&d);
    printf("%-24s %8s %8s %8s\n", "ns per value", "plain", parquet_kernels_of(d.env)->name,
           "ratio");
    report_widths(&d, wanted);
    report_kernels(&d, wanted);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(memory); i++) {
        free(*memory[i]);
    }
    free(d.indices);
    free(d.offsets);
    frz_env_free(d.env);
    return 0;
}
