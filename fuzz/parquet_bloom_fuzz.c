/*
 * The bloom filter of a column chunk. Input: physical type of the column (1 byte), then the file
 * whose bytes from 4 on are the filter; the end is where the footer would be.
 */
#include "format/parquet/parquet_bloom.h"
#include "fuzz_storage.h"

#define HEAD 1
#define MAX_INPUT (1u << 18)
#define AT 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values of several types against the filter. */
static void ask(const parquet_file *file, const parquet_bloom *bloom)
{
    static const frz_value values[] = {
        {.as.i64 = 0}, {.as.i64 = -1}, {.as.i64 = 1000}, {.as.i64 = INT64_MIN}};
    const parquet_column *column = &file->columns[0];
    frz_error err = {0};
    bool may;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(values); i++) {
        frz_value value = values[i];
        parquet_origin origin;
        value.type = column->node->type;
        if (value.type->id == FRZ_TYPE_BINARY) {
            value.as.bytes = (frz_str){"abcdefgh", i * 2};
        }
        if (parquet_origin_of(column, &value, &origin)) {
            for (size_t k = 0; k < origin.count; k++) {
                if (parquet_bloom_check(file, bloom, origin.plain[k], &may, &err) != FRZ_OK) {
                    __builtin_trap(); /* the place of every block was checked */
                }
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        parquet_physical physical;
        frz_type_id type;
    } columns[] = {{PARQUET_INT32, FRZ_TYPE_INT},      {PARQUET_INT64, FRZ_TYPE_LONG},
                   {PARQUET_FLOAT, FRZ_TYPE_FLOAT},    {PARQUET_DOUBLE, FRZ_TYPE_DOUBLE},
                   {PARQUET_INT32, FRZ_TYPE_LONG},     {PARQUET_BYTE_ARRAY, FRZ_TYPE_BINARY},
                   {PARQUET_BOOLEAN, FRZ_TYPE_BOOLEAN}};
    frz_error err = {0};
    frz_arena arena;
    parquet_bloom bloom;
    bool present = false;
    if (size < HEAD + AT || size > MAX_INPUT) {
        return 0;
    }
    fuzz_storage storage = {"/f", data + HEAD, size - HEAD};
    size_t i = data[0] % FRZ_ARRAY_COUNT(columns);
    parquet_element element = {.physical = columns[i].physical, .converted = -1};
    parquet_node node = {
        .element = &element, .type = frz_type_primitive(columns[i].type), .path = "c"};
    parquet_column column = {.element = &element, .node = &node};
    frz_env *env = fuzz_env(&storage);
    parquet_file file = {.base = {.env = env}, .columns = &column, .column_count = 1};
    file.footer_start = size - HEAD;
    parquet_chunk chunk = {.bloom_filter_offset = AT};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (frz_file_open(env, "/f", &file.base.file, &err) != FRZ_OK) {
        __builtin_trap();
    }
    if (parquet_bloom_load(&file, &chunk, 0, 0, &arena, &bloom, &present, &err) != FRZ_OK) {
        __builtin_trap(); /* damage is no failure */
    }
    if (present) {
        ask(&file, &bloom);
    }
    frz_file_close(file.base.file);
    frz_arena_reset(&arena);
    fuzz_env_free(env);
    return 0;
}
