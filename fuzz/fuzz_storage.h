/*
 * A storage for fuzz targets: one file whose bytes are the input, everything else is not there, and
 * what is written is thrown away.
 */
#ifndef FRZ_FUZZ_STORAGE_H
#define FRZ_FUZZ_STORAGE_H

#include <stdlib.h>

#include "base/base.h"

typedef struct fuzz_storage {
    const char *location; /* of the input */
    const uint8_t *data;
    size_t size;
} fuzz_storage;

static frz_code fuzz_open(void *ctx, const char *location, void **file, uint64_t *size,
                          frz_error *err)
{
    fuzz_storage *s = ctx;
    if (strcmp(location, s->location) != 0) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "there is no file %s", location);
    }
    *file = s;
    *size = s->size;
    return FRZ_OK;
}

static frz_code fuzz_create(void *ctx, const char *location, void **file, frz_error *err)
{
    (void)location;
    (void)err;
    *file = ctx;
    return FRZ_OK;
}

static frz_code fuzz_read_at(void *ctx, void *file, uint64_t offset, void *buf, size_t len,
                             frz_error *err)
{
    const fuzz_storage *s = file;
    (void)ctx;
    (void)err;
    assert(offset <= s->size && len <= s->size - offset);
    if (len > 0) {
        memcpy(buf, s->data + offset, len);
    }
    return FRZ_OK;
}

static frz_code fuzz_append(void *ctx, void *file, const void *buf, size_t len, frz_error *err)
{
    (void)ctx;
    (void)file;
    (void)buf;
    (void)len;
    (void)err;
    return FRZ_OK;
}

static frz_code fuzz_append_from(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                                 frz_error *err)
{
    (void)src;
    (void)offset;
    return fuzz_append(ctx, file, NULL, (size_t)len, err);
}

static frz_code fuzz_done(void *ctx, void *file, frz_error *err)
{
    (void)ctx;
    (void)file;
    (void)err;
    return FRZ_OK;
}

static frz_code fuzz_at(void *ctx, const char *location, frz_error *err)
{
    (void)ctx;
    (void)location;
    (void)err;
    return FRZ_OK;
}

static frz_code fuzz_stat(void *ctx, const char *location, uint64_t *size, frz_error *err)
{
    void *file;
    return fuzz_open(ctx, location, &file, size, err);
}

static frz_code fuzz_list(void *ctx, const char *location, frz_storage_visit visit, void *visit_ctx,
                          frz_error *err)
{
    (void)visit;
    (void)visit_ctx;
    return fuzz_at(ctx, location, err);
}

/* An environment over the storage and an allocator (NULL: the system's), which must outlive it. */
static inline frz_env *fuzz_env_over(fuzz_storage *s, const frz_allocator *allocator)
{
    const frz_storage functions = {.struct_size = sizeof functions,
                                   .open = fuzz_open,
                                   .create = fuzz_create,
                                   .read_at = fuzz_read_at,
                                   .append = fuzz_append,
                                   .append_from = fuzz_append_from,
                                   .sync = fuzz_done,
                                   .close = fuzz_done,
                                   .sync_dir = fuzz_at,
                                   .sync_all = fuzz_at,
                                   .stat = fuzz_stat,
                                   .remove = fuzz_at,
                                   .list = fuzz_list,
                                   .ctx = s};
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    opts.storage = &functions;
    opts.allocator = allocator;
    opts.log_spec = "none";
    if (frz_env_new(&opts, &env, NULL) != FRZ_OK) {
        abort();
    }
    return env;
}

static inline frz_env *fuzz_env(fuzz_storage *s)
{
    return fuzz_env_over(s, NULL);
}

/* Free it; every byte must have been given back. */
static inline void fuzz_env_free(frz_env *env)
{
    frz_env_counters counters;
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    if (counters.bytes_allocated != 0) {
        abort();
    }
}

#endif
