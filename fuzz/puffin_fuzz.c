/*
 * fuzz: a Puffin file. Every blob that its footer names is read, and as a deletion vector, too.
 */
#include "format/puffin/puffin.h"
#include "fuzz_storage.h"

#define LOCATION "file:///t/data/x.puffin"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_blob(const frz_env *env, const frz_puffin *puffin, size_t i)
{
    frz_error err = {0};
    frz_positions *set = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, 1 << 24);
    if (frz_puffin_read_blob(puffin, i, &bytes, &err) == FRZ_OK) {
        (void)frz_vector_decode(&bytes, &set, &err);
        frz_positions_free(set);
    }
    frz_buf_reset(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = LOCATION, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_puffin *puffin = NULL;
    frz_error err = {0};
    if (frz_puffin_open(env, LOCATION, &puffin, &err) == FRZ_OK) {
        for (size_t i = 0; i < frz_puffin_blob_count(puffin) && i < 100; i++) {
            read_blob(env, puffin, i);
        }
    }
    frz_puffin_close(puffin);
    fuzz_env_free(env);
    return 0;
}
