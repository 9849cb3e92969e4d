/*
 * fuzz: a Mumbling bitmap. What decodes is encoded and decoded again to the same set.
 */
#include <stdlib.h>

#include "meta/meta_mumbling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void there_and_back(const frz_mumbling *set)
{
    frz_mumbling back;
    frz_buf bytes = FRZ_BUF_INIT(set->env, FRZ_BUF_NO_LIMIT);
    frz_mumbling_init(&back, set->env);
    check(frz_mumbling_encode(set, &bytes, NULL) == FRZ_OK);
    check(frz_mumbling_decode(&back, frz_buf_view(&bytes), NULL) == FRZ_OK);
    check(frz_mumbling_is_subset(set, &back) && frz_mumbling_is_subset(&back, set));
    frz_mumbling_reset(&back);
    frz_buf_reset(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    frz_env *env = NULL;
    frz_mumbling set;
    uint32_t count = 0;
    check(frz_env_new(NULL, &env, NULL) == FRZ_OK);
    frz_mumbling_init(&set, env);
    if (frz_mumbling_decode(&set, (frz_str){(const char *)data, size}, NULL) == FRZ_OK) {
        for (int64_t p = frz_mumbling_next(&set, 0); p >= 0;
             p = frz_mumbling_next(&set, (uint64_t)p + 1)) {
            check(frz_mumbling_has(&set, (uint64_t)p) && p <= frz_mumbling_last(&set));
            count++;
        }
        check(count == set.cardinality);
        there_and_back(&set);
    }
    frz_mumbling_reset(&set);
    frz_env_free(env);
    return 0;
}
