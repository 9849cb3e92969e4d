/*
 * An environment whose tasks are shared by three threads, however little there is to do.
 */
#ifndef FRZ_TEST_THREADS_H
#define FRZ_TEST_THREADS_H

#include "unit/test_support.h"

static inline int test_threads_setup(void **state)
{
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    opts.threads = 3;
    frz_code rc = frz_env_new(&opts, &env, NULL);
    *state = env;
    if (rc == FRZ_OK) {
        env->least_shared = 1;
    }
    return rc == FRZ_OK ? 0 : -1;
}

#endif
