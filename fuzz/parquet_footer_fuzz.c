/*
 * A whole Parquet file whose footer length is repaired so that mutations reach the parser. Input:
 * column data, footer, and as the last two bytes the length of the footer. Structs in lists are
 * passed over in both ways, by their looks and field by field, which must come out the same.
 */
#include "format/parquet/parquet_internal.h"
#include "fuzz_parquet.h"
#include "fuzz_storage.h"

#define MAX_INPUT (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pass over the structs of a list. */
static void compare_ways(parquet_thrift *t, size_t count, parquet_shapes *shapes)
{
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parquet_thrift fast = *t;
        parquet_shapes_skip(shapes, &fast);
        parquet_thrift_skip(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_STRUCT));
        if (fast.at != t->at || fast.rc != t->rc || fast.ended_early != t->ended_early) {
            __builtin_trap();
        }
    }
}

/* The lists of structs in a struct; groups of chunks are one struct further down. */
static void compare_lists(parquet_thrift *t, int depth)
{
    parquet_shapes shapes;
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.type != PARQUET_THRIFT_LIST || parquet_thrift_left(t) == 0 ||
            (*t->at & 0x0F) != PARQUET_THRIFT_STRUCT) {
            parquet_thrift_skip(t, &f);
            continue;
        }
        size_t count = parquet_thrift_list(t, &f, PARQUET_THRIFT_STRUCT, 1);
        if (depth == 0 && f.id == 4) {
            for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
                compare_lists(t, 1);
            }
        } else {
            parquet_shapes_init(&shapes);
            compare_ways(t, count, &shapes);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parquet_thrift t;
    frz_error err = {0};
    frz_data_file *file = NULL;
    if (size < 2 || size > MAX_INPUT) {
        return 0;
    }
    size_t body = size - 2;
    uint32_t footer = (uint32_t)data[body] | (uint32_t)data[body + 1] << 8;
    footer = (uint32_t)FRZ_MIN((size_t)footer, body);
    uint8_t *bytes = malloc(4 + body + 8);
    if (bytes == NULL) {
        return 0;
    }
    parquet_thrift_init(&t, data + body - footer, footer, 0, NULL);
    compare_lists(&t, 0);
    memcpy(bytes, "PAR1", 4);
    memcpy(bytes + 4, data, body);
    frz_store_le32(bytes + 4 + body, footer);
    memcpy(bytes + 8 + body, "PAR1", 4);
    fuzz_storage storage = {"file", bytes, 4 + body + 8};
    frz_env *env = fuzz_env(&storage);
    if (frz_data_file_open(env, "file", NULL, &file, &err) == FRZ_OK) {
        volatile uint64_t sum = fuzz_read_file(file);
        (void)sum;
    }
    frz_data_file_close(file);
    fuzz_env_free(env);
    free(bytes);
    return 0;
}
