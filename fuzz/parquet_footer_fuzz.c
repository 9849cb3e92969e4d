/*
 * A whole Parquet file whose footer length is repaired so that mutations reach the parser. Input:
 * column data, footer, and as the last two bytes the length of the footer.
 */
#include "fuzz_parquet.h"
#include "fuzz_storage.h"

#define MAX_INPUT (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
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
