/*
 * What unit tests share: cmocka's includes in their order, an environment per test that must have
 * given back all memory, and a check that prints an error's text.
 */
#ifndef FRZ_TEST_SUPPORT_H
#define FRZ_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/base.h"

/* Setup and teardown of tests that use an environment: *state is the frz_env. */
static inline int test_env_setup(void **state)
{
    frz_env *env = NULL;
    if (frz_env_new(NULL, &env, NULL) != FRZ_OK) {
        return -1;
    }
    *state = env;
    return 0;
}

static inline int test_env_teardown(void **state)
{
    frz_env_counters counters;
    frz_env *env = *state;
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    if (counters.bytes_allocated != 0) {
        fprintf(stderr, "%llu bytes were not given back\n",
                (unsigned long long)counters.bytes_allocated);
        return -1;
    }
    return 0;
}

#define TEST_WITH_ENV(f) cmocka_unit_test_setup_teardown(f, test_env_setup, test_env_teardown)

/* The call succeeds; if not, say why. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        frz_code code_ = (call);                                                                   \
        if (code_ != FRZ_OK) {                                                                     \
            char text_[2048];                                                                      \
            frz_error_format((err), text_, sizeof text_);                                          \
            fail_msg("%s: %s (%s)", #call, text_, frz_code_name(code_));                           \
        }                                                                                          \
    } while (0)

/* The call fails with this code and its whole text contains a phrase. */
#define assert_fails(call, err, wanted, phrase)                                                    \
    do {                                                                                           \
        frz_code code_ = (call);                                                                   \
        char text_[2048];                                                                          \
        frz_error_format((err), text_, sizeof text_);                                              \
        if (code_ != (wanted) || strstr(text_, (phrase)) == NULL) {                                \
            fail_msg("%s: expected %s with \"%s\", got %s: %s", #call, frz_code_name(wanted),      \
                     (phrase), frz_code_name(code_), text_);                                       \
        }                                                                                          \
    } while (0)

#endif
