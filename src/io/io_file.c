/*
 * Files over the environment's storage: bounds checks, counters and error context live here, so
 * that storages stay small.
 */
#include <string.h>

#include "io/io_file.h"

/* A file up to this size is read at once when it is opened: a manifest of a wide table is hundreds
 * of small chunks. */
#define SMALL_FILE ((size_t)256 << 10)
#define MAX_IDENTITY 128
#define COPY_BYTES (1u << 16) /* at once, where they pass through memory */

struct frz_file {
    const frz_env *env;
    void *handle;
    uint64_t size;
    char *location;
    uint8_t *bytes;             /* of a small file; else NULL */
    const frz_scratch *scratch; /* borrowed: it holds the bytes, and there is no handle */
    uint64_t from;              /* where in it */
};

struct frz_file_writer {
    const frz_env *env;
    void *handle;
    uint64_t size;
    uint64_t announced; /* bytes of which the storage knows that they will be synced */
    char *location;
};

static void count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static frz_code read_small(frz_file *file, frz_error *err)
{
    const frz_env *env = file->env;
    if (file->size == 0 || file->size > SMALL_FILE) {
        return FRZ_OK;
    }
    file->bytes = frz_alloc(env, (size_t)file->size);
    if (file->bytes == NULL) {
        return frz_fail_nomem(err, (size_t)file->size);
    }
    count(&env->counters->bytes_read, file->size);
    frz_code rc = env->storage.read_at(env->storage.ctx, file->handle, 0, file->bytes,
                                       (size_t)file->size, err);
    return frz_context(err, rc, "reading %s", file->location);
}

frz_code frz_file_open(const frz_env *env, const char *location, frz_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = frz_alloc_zero(env, 1, sizeof *file);
    char *name = frz_strdup(env, frz_str_from(location));
    if (file == NULL || name == NULL) {
        rc = frz_fail_nomem(err, sizeof *file);
        goto out;
    }
    *file = (frz_file){.env = env, .location = name};
    FRZ_TRY(env->storage.open(env->storage.ctx, location, &file->handle, &file->size, err));
    count(&env->counters->files_opened, 1);
    rc = read_small(file, err);
    if (rc != FRZ_OK) {
        frz_file_close(file);
    } else {
        *out = file;
    }
    file = NULL;
    name = NULL;
out:
    frz_free(env, name);
    frz_free(env, file);
    return rc;
}

frz_code frz_scratch_file(const frz_env *env, const frz_scratch *scratch, uint64_t from,
                          uint64_t to, frz_file **out, frz_error *err)
{
    assert(from <= to && to <= frz_scratch_size(scratch));
    frz_file *file = frz_alloc_zero(env, 1, sizeof *file);
    char *name = frz_strdup(env, FRZ_STR("a scratch file"));
    if (file == NULL || name == NULL) {
        frz_free(env, name);
        frz_free(env, file);
        return frz_fail_nomem(err, sizeof *file);
    }
    *file = (frz_file){
        .env = env, .size = to - from, .location = name, .scratch = scratch, .from = from};
    *out = file;
    return FRZ_OK;
}

void frz_file_close(frz_file *file)
{
    if (file == NULL) {
        return;
    }
    const frz_env *env = file->env;
    if (file->scratch == NULL) { /* nothing was written, so a failing close loses nothing */
        (void)env->storage.close(env->storage.ctx, file->handle, NULL);
    }
    frz_free(env, file->bytes);
    frz_free(env, file->location);
    frz_free(env, file);
}

uint64_t frz_file_size(const frz_file *file)
{
    return file->size;
}

const char *frz_file_location(const frz_file *file)
{
    return file->location;
}

frz_code frz_file_cache_key(const frz_file *file, const char *kind, frz_str *out, frz_error *err)
{
    const frz_env *env = file->env;
    uint8_t id[MAX_IDENTITY];
    size_t id_len = 0;
    size_t kind_len = strlen(kind) + 1;
    size_t location_len = strlen(file->location) + 1;
    *out = (frz_str){NULL, 0};
    if (file->scratch == NULL && env->storage.identity != NULL) {
        id_len = env->storage.identity(env->storage.ctx, file->handle, id, sizeof id);
    }
    assert(id_len <= sizeof id);
    if (id_len == 0) {
        return FRZ_OK;
    }
    size_t len = kind_len + location_len + sizeof(uint64_t) + id_len;
    char *key = frz_alloc(env, len);
    if (key == NULL) {
        return frz_fail_nomem(err, len);
    }
    memcpy(key, kind, kind_len);
    memcpy(key + kind_len, file->location, location_len);
    frz_store_le64(key + kind_len + location_len, file->size);
    memcpy(key + len - id_len, id, id_len);
    *out = (frz_str){key, len};
    return FRZ_OK;
}

frz_code frz_file_read(const frz_file *file, uint64_t offset, void *buf, size_t len, frz_error *err)
{
    const frz_env *env = file->env;
    if (offset > file->size || len > file->size - offset) {
        frz_code rc = frz_fail_at(err, FRZ_E_CORRUPT, offset,
                                  "%zu bytes at offset %llu reach beyond the file's %llu bytes",
                                  len, (unsigned long long)offset, (unsigned long long)file->size);
        return frz_context(err, rc, "reading %s", file->location);
    }
    if (file->bytes != NULL) {
        memcpy(buf, file->bytes + offset, len);
        return FRZ_OK;
    }
    if (file->scratch != NULL) {
        return frz_scratch_read(file->scratch, file->from + offset, buf, len, err);
    }
    count(&env->counters->bytes_read, len);
    frz_code rc = env->storage.read_at(env->storage.ctx, file->handle, offset, buf, len, err);
    return frz_context(err, rc, "reading %s", file->location);
}

frz_code frz_file_read_all(const frz_env *env, const char *location, size_t max, frz_buf *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = NULL;
    FRZ_TRY(frz_file_open(env, location, &file, err));
    if (file->size > max) {
        rc = frz_fail(err, FRZ_E_LIMIT, "file has %llu bytes, at most %zu are read",
                      (unsigned long long)file->size, max);
        rc = frz_context(err, rc, "reading %s", location);
        goto out;
    }
    if (file->size > 0) {
        FRZ_TRY(frz_buf_reserve(out, (size_t)file->size, err));
        FRZ_TRY(frz_file_read(file, 0, out->data + out->len, (size_t)file->size, err));
        out->len += (size_t)file->size;
    }
out:
    frz_file_close(file);
    return rc;
}

frz_code frz_file_stat(const frz_env *env, const char *location, uint64_t *size, frz_error *err)
{
    return env->storage.stat(env->storage.ctx, location, size, err);
}

frz_code frz_file_create(const frz_env *env, const char *location, frz_file_writer **out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_writer *writer = frz_alloc_zero(env, 1, sizeof *writer);
    char *name = frz_strdup(env, frz_str_from(location));
    if (writer == NULL || name == NULL) {
        rc = frz_fail_nomem(err, sizeof *writer);
        goto out;
    }
    *writer = (frz_file_writer){.env = env, .location = name};
    FRZ_TRY(env->storage.create(env->storage.ctx, location, &writer->handle, err));
    count(&env->counters->files_created, 1);
    *out = writer;
    writer = NULL;
    name = NULL;
out:
    frz_free(env, name);
    frz_free(env, writer);
    return rc;
}

frz_code frz_file_append(frz_file_writer *writer, const void *bytes, size_t len, frz_error *err)
{
    const frz_env *env = writer->env;
    frz_code rc = env->storage.append(env->storage.ctx, writer->handle, bytes, len, err);
    if (rc == FRZ_OK) {
        writer->size += len;
        count(&env->counters->bytes_written, len);
    }
    return frz_context(err, rc, "writing %s", writer->location);
}

/* The slow way, where the storage knows no other. */
static frz_code copy_through_memory(frz_file_writer *writer, const frz_file *src, uint64_t offset,
                                    uint64_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = writer->env;
    const frz_storage *storage = &env->storage;
    size_t size = (size_t)FRZ_MIN(len, (uint64_t)COPY_BYTES);
    uint8_t *bytes = frz_alloc(env, size);
    if (bytes == NULL) {
        return frz_fail_nomem(err, size);
    }
    while (len > 0) {
        size_t want = (size_t)FRZ_MIN(len, (uint64_t)size);
        FRZ_TRY(storage->read_at(storage->ctx, src->handle, offset, bytes, want, err));
        FRZ_TRY(storage->append(storage->ctx, writer->handle, bytes, want, err));
        offset += want;
        len -= want;
    }
out:
    frz_free(env, bytes);
    return rc;
}

frz_code frz_file_append_from(frz_file_writer *writer, const frz_file *src, uint64_t offset,
                              uint64_t len, frz_error *err)
{
    const frz_env *env = writer->env;
    if (offset > src->size || len > src->size - offset) {
        frz_code rc = frz_fail_at(err, FRZ_E_CORRUPT, offset,
                                  "%llu bytes at offset %llu reach beyond the file's %llu bytes",
                                  (unsigned long long)len, (unsigned long long)offset,
                                  (unsigned long long)src->size);
        return frz_context(err, rc, "copying from %s", src->location);
    }
    frz_code rc =
        env->storage.append_from(env->storage.ctx, writer->handle, src->handle, offset, len, err);
    if (rc == FRZ_E_UNSUPPORTED) {
        frz_error_reset(err);
        rc = copy_through_memory(writer, src, offset, len, err);
    }
    if (rc == FRZ_OK) {
        writer->size += len;
        count(&env->counters->bytes_read, len);
        count(&env->counters->bytes_written, len);
    }
    return frz_context(err, rc, "copying from %s to %s", src->location, writer->location);
}

void frz_file_sync_soon(frz_file_writer *writer)
{
    const frz_storage *storage = &writer->env->storage;
    if (storage->sync_soon != NULL && writer->size > writer->announced) {
        storage->sync_soon(storage->ctx, writer->handle, writer->announced,
                           writer->size - writer->announced);
    }
    writer->announced = writer->size;
}

uint64_t frz_file_writer_size(const frz_file_writer *writer)
{
    return writer->size;
}

static void writer_free(frz_file_writer *writer)
{
    const frz_env *env = writer->env;
    frz_free(env, writer->location);
    frz_free(env, writer);
}

frz_code frz_file_finish(frz_file_writer *writer, bool durable, frz_error *err)
{
    const frz_env *env = writer->env;
    frz_code rc = FRZ_OK;
    if (durable) {
        count(&env->counters->syncs, 1);
        rc = env->storage.sync(env->storage.ctx, writer->handle, err);
    }
    frz_code closed =
        env->storage.close(env->storage.ctx, writer->handle, rc == FRZ_OK ? err : NULL);
    rc = rc == FRZ_OK ? closed : rc;
    rc = frz_context(err, rc, "writing %s", writer->location);
    writer_free(writer);
    return rc;
}

void frz_file_abort(frz_file_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    const frz_env *env = writer->env;
    /* best effort: what stays behind is referenced by nothing */
    (void)env->storage.close(env->storage.ctx, writer->handle, NULL);
    (void)env->storage.remove(env->storage.ctx, writer->location, NULL);
    writer_free(writer);
}

frz_code frz_file_remove(const frz_env *env, const char *location, frz_error *err)
{
    return env->storage.remove(env->storage.ctx, location, err);
}

frz_code frz_sync_dir(const frz_env *env, const char *location, frz_error *err)
{
    count(&env->counters->syncs, 1);
    return env->storage.sync_dir(env->storage.ctx, location, err);
}

frz_code frz_sync_all(const frz_env *env, const char *location, frz_error *err)
{
    count(&env->counters->syncs, 1);
    return env->storage.sync_all(env->storage.ctx, location, err);
}

frz_code frz_storage_list(const frz_env *env, const char *location, frz_storage_visit visit,
                          void *ctx, frz_error *err)
{
    return env->storage.list(env->storage.ctx, location, visit, ctx, err);
}
