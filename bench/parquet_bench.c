/*
 * Reads and writes Parquet files through the public API. Usage: parquet_bench THREADS, and on
 * standard input a line for each cell, WHAT SECONDS FILE OUT CODEC between tabs; the answer is a
 * line of JSON with the least seconds. WHAT: all, one (column c1), write (the file's rows, read
 * before, to OUT). A cell is repeated for so many seconds. Rows are held until the end, as a whole
 * table would be; those to write until another file is named.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frazil/frazil.h"

#define LEAST_RUNS 2 /* the first one finds what other programs left in the caches */
#define MOST_RUNS 20
#define WORDS 5
#define LINE_MAX_BYTES 8192
#define HOLD_MEMORY (1 << 30) /* freed memory is kept, as the other libraries' allocators do */

typedef struct batch_list {
    struct ArrowArray *batches;
    size_t count, capacity;
} batch_list;

static frz_env *env;

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
        fprintf(stderr, "parquet_bench: %s\n", text);
        exit(1);
    }
}

static void list_push(batch_list *list, struct ArrowArray *batch)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 64;
        list->batches = realloc(list->batches, list->capacity * sizeof *list->batches);
        if (list->batches == NULL) {
            exit(1);
        }
    }
    list->batches[list->count++] = *batch;
}

static void list_clear(batch_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        list->batches[i].release(&list->batches[i]);
    }
    free(list->batches);
    *list = (batch_list){0};
}

static void read_file(const char *path, const char *column, struct ArrowSchema *schema,
                      batch_list *out)
{
    frz_error err = {0};
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    struct ArrowArray batch;
    frz_code rc;
    opts.columns = column == NULL ? NULL : &column;
    opts.column_count = column == NULL ? 0 : 1;
    check(frz_parquet_file_open(env, path, &file, &err), &err);
    check(frz_parquet_reader_open(file, &opts, &reader, &err), &err);
    if (schema != NULL) {
        check(frz_parquet_reader_schema(reader, schema, &err), &err);
    }
    while ((rc = frz_parquet_reader_next(reader, &batch, NULL, &err)) == FRZ_OK) {
        list_push(out, &batch);
    }
    check(rc == FRZ_END ? FRZ_OK : rc, &err);
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
}

static double time_read(const char *path, const char *column)
{
    batch_list list = {0};
    frz_env_drop_cache(env); /* footers: nobody else keeps them */
    double begin = now();
    read_file(path, column, NULL, &list);
    double took = now() - begin;
    list_clear(&list);
    return took;
}

static frz_parquet_codec codec_of(const char *name)
{
    return strcmp(name, "zstd") == 0     ? FRZ_PARQUET_ZSTD
           : strcmp(name, "snappy") == 0 ? FRZ_PARQUET_SNAPPY
                                         : FRZ_PARQUET_UNCOMPRESSED;
}

static double time_write(const struct ArrowSchema *schema, const batch_list *rows, const char *out,
                         const char *codec)
{
    frz_error err = {0};
    frz_parquet_writer *writer = NULL;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.codec = codec_of(codec);
    opts.level = opts.codec == FRZ_PARQUET_ZSTD ? 1 : 0;
    remove(out);
    double begin = now();
    check(frz_parquet_writer_create(env, out, schema, &opts, &writer, &err), &err);
    for (size_t i = 0; i < rows->count; i++) {
        check(frz_parquet_writer_write(writer, &rows->batches[i], &err), &err);
    }
    check(frz_parquet_writer_close(writer, NULL, &err), &err);
    return now() - begin;
}

static long size_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    if (file != NULL) {
        fclose(file);
    }
    return size;
}

/* The rows of the file that was written last. */
typedef struct held_rows {
    char path[LINE_MAX_BYTES];
    struct ArrowSchema schema;
    batch_list rows;
} held_rows;

static void held_clear(held_rows *held)
{
    if (held->schema.release != NULL) {
        held->schema.release(&held->schema);
    }
    list_clear(&held->rows);
    held->path[0] = 0;
}

static void held_load(held_rows *held, const char *path)
{
    if (strcmp(held->path, path) != 0) {
        held_clear(held);
        read_file(path, NULL, &held->schema, &held->rows);
        snprintf(held->path, sizeof held->path, "%s", path);
    }
}

static void run_cell(char *const words[WORDS], held_rows *held)
{
    const char *what = words[0];
    const char *file = words[2];
    bool write = strcmp(what, "write") == 0;
    double best = 1e9;
    if (write) {
        held_load(held, file);
    } else {
        held_clear(held);
    }
    double end = now() + strtod(words[1], NULL);
    for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || now() < end); i++) {
        double took = write ? time_write(&held->schema, &held->rows, words[3], words[4])
                            : time_read(file, strcmp(what, "one") == 0 ? "c1" : NULL);
        best = took < best ? took : best;
    }
    printf("{\"seconds\": %.9f", best);
    if (write) {
        printf(", \"bytes\": %ld", size_of(words[3]));
    }
    printf("}\n");
    fflush(stdout);
}

static bool split(char *line, char *words[WORDS])
{
    size_t count = 0;
    for (char *word = strtok(line, "\t\n"); word != NULL && count < WORDS;
         word = strtok(NULL, "\t\n")) {
        words[count++] = word;
    }
    return count == WORDS;
}

int main(int argc, char **argv)
{
    static held_rows held;
    static char line[LINE_MAX_BYTES];
    frz_error err = {0};
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    char *words[WORDS];
    if (argc != 2) {
        fprintf(stderr, "usage: parquet_bench THREADS <cells\n");
        return 2;
    }
    mallopt(M_MMAP_THRESHOLD, HOLD_MEMORY);
    mallopt(M_TRIM_THRESHOLD, HOLD_MEMORY);
    mallopt(M_TOP_PAD, 64 << 20);
    opts.threads = (int)strtol(argv[1], NULL, 10);
    check(frz_env_new(&opts, &env, &err), &err);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (!split(line, words)) {
            fprintf(stderr, "parquet_bench: a line of less than %d words\n", WORDS);
            return 2;
        }
        run_cell(words, &held);
    }
    held_clear(&held);
    frz_env_free(env);
    return 0;
}
