/*
 * Damaged Parquet files: flips bytes and cuts tails of good ones and reads every column of what
 * comes out; the first time each file is read as it is. Usage: parquet_broken SEED TIMES FILE...
 *
 * Each damaged file must end in rows or in an error, in SECONDS at most and with no more memory
 * than ALLOWED and ALLOWED_PER_BYTE of the file's bytes; anything else ends the program.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../../fuzz/fuzz_storage.h"
#include "frazil/frazil.h"

#define SECONDS 5
#define ALLOWED ((size_t)640 << 20)
#define ALLOWED_PER_BYTE 64
#define FOOTER_SHARE 3 /* one damage in so many lies in the last bytes */
#define FOOTER_BYTES 4096

typedef struct damage {
    const char *path;
    uint64_t seed;
    const char *what;
    size_t at;
} damage;

static damage current;

static void late(int number)
{
    static const char text[] = "parquet_broken: too slow\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    abort();
}

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static frz_code swallow(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    uint64_t *sum = ctx;
    (void)err;
    for (size_t i = 0; i < len; i++) {
        *sum += ((const uint8_t *)bytes)[i];
    }
    return FRZ_OK;
}

/* All rows of some columns, every byte of them looked at. */
static frz_code read_columns(frz_env *env, frz_parquet_file *file, const char *const *columns,
                             size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_reader *reader = NULL;
    frz_parquet_reader *moved;
    struct ArrowArrayStream stream = {0};
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    uint64_t sum = 0;
    opts.columns = columns;
    opts.column_count = count;
    FRZ_TRY(frz_parquet_reader_open(file, &opts, &reader, err));
    moved = reader;
    reader = NULL;
    FRZ_TRY(frz_parquet_reader_export(moved, &stream, err));
    FRZ_TRY(frz_ipc_write(env, swallow, &sum, &stream, NULL, NULL, err));
out:
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    frz_parquet_reader_close(reader);
    return rc;
}

/* Everything at once; if that fails each column alone, so that one does not hide the others. */
static bool read_all(frz_env *env)
{
    frz_error err = {0};
    frz_parquet_file *file = NULL;
    struct ArrowSchema schema = {0};
    bool good = false;
    if (frz_parquet_file_open(env, "file", &file, &err) != FRZ_OK) {
        goto out;
    }
    good = read_columns(env, file, NULL, 0, &err) == FRZ_OK;
    if (good || frz_parquet_file_schema(file, &schema, &err) != FRZ_OK) {
        goto out;
    }
    for (int64_t i = 0; i < schema.n_children; i++) {
        (void)read_columns(env, file, (const char *const *)&schema.children[i]->name, 1, &err);
    }
out:
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    frz_parquet_file_close(file);
    return good;
}

static bool try_bytes(const uint8_t *bytes, size_t size)
{
    fuzz_storage storage = {"file", bytes, size};
    frz_env *env = fuzz_env(&storage);
    frz_env_counters counters;
    alarm(SECONDS);
    bool good = read_all(env);
    alarm(0);
    frz_env_counters_get(env, &counters);
    if (counters.bytes_peak > ALLOWED + ALLOWED_PER_BYTE * size) {
        fprintf(stderr, "%s (seed %llu, %s at %zu): %llu bytes of memory for a file of %zu\n",
                current.path, (unsigned long long)current.seed, current.what, current.at,
                (unsigned long long)counters.bytes_peak, size);
        exit(1);
    }
    fuzz_env_free(env);
    return good;
}

/* Flip bits of one byte, or cut the tail. Most of a file is data, most of what matters footer. */
static size_t do_damage(uint8_t *bytes, size_t size, uint64_t *state)
{
    size_t tail = FRZ_MIN(size, (size_t)FOOTER_BYTES);
    bool footer = next_random(state) % FOOTER_SHARE == 0;
    size_t at = footer ? size - 1 - (size_t)(next_random(state) % tail)
                       : (size_t)(next_random(state) % size);
    current.at = at;
    if (next_random(state) % 8 == 0) {
        current.what = "cut";
        return at;
    }
    current.what = "flip";
    bytes[at] ^= (uint8_t)(1 + next_random(state) % 255);
    return size;
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        end = ftell(file);
    }
    if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)end + 1);
        if (bytes != NULL && fread(bytes, 1, (size_t)end, file) != (size_t)end) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    *size = (size_t)end;
    return bytes;
}

static void try_file(const char *path, uint64_t seed, unsigned long times)
{
    size_t size;
    unsigned long good = 0;
    uint8_t *bytes = load(path, &size);
    if (bytes == NULL) {
        fprintf(stderr, "parquet_broken: cannot read %s\n", path);
        exit(1);
    }
    for (unsigned long i = 0; i < times && size > 0; i++) {
        uint8_t *copy = malloc(size);
        uint64_t state = seed + i;
        if (copy == NULL) {
            exit(1);
        }
        memcpy(copy, bytes, size);
        current = (damage){.path = path, .seed = seed + i, .what = "as it is"};
        size_t left = i == 0 ? size : do_damage(copy, size, &state);
        /* of exactly this size, so that a sanitizer sees one byte too many */
        uint8_t *cut = malloc(left > 0 ? left : 1);
        if (cut == NULL) {
            exit(1);
        }
        memcpy(cut, copy, left);
        free(copy);
        good += try_bytes(cut, left);
        free(cut);
    }
    printf("%s: %lu times, read to the end %lu times\n", path, times, good);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: parquet_broken SEED TIMES FILE...\n");
        return 2;
    }
    signal(SIGALRM, late);
    for (int i = 3; i < argc; i++) {
        try_file(argv[i], strtoull(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
    }
    return 0;
}
