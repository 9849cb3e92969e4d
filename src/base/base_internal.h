/*
 * What the files of base share among themselves.
 */
#ifndef FRZ_BASE_INTERNAL_H
#define FRZ_BASE_INTERNAL_H

#include "base/base.h"

frz_code frz_log_configure(frz_env *env, const char *spec, frz_error *err);
void frz_log_stderr(void *ctx, const char *component, frz_log_level level, const char *line);

int64_t frz_clock_system(void *ctx);
frz_code frz_random_system(void *ctx, void *buf, size_t len);

#endif
