/*
 * ipc_copy: read an Arrow IPC file or stream and write another.
 *
 *   ipc_copy [--file] [--compression lz4|zstd] [--cut ROWS] IN OUT
 *
 * --cut: batches are cut into slices of so many rows, whose arrays have offsets; every second slice
 * has its offset at the batch and not at the columns. OUT is a stream unless --file is given. Exit
 * status 0, or 1 with the error on standard error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arrow/arrow_array.h"
#include "frazil/ipc.h"

typedef struct options {
    frz_ipc_write_options write;
    int64_t cut;
    const char *in, *out;
} options;

/* ---- a stream of slices of another's batches ---- */

typedef struct cutter {
    const frz_env *env;
    struct ArrowArrayStream *stream;
    struct ArrowArray batch;
    int64_t rows, at, count;
} cutter;

static frz_code cut_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    cutter *c = ctx;
    int failed = c->stream->get_schema(c->stream, out);
    return failed == 0 ? FRZ_OK : frz_stream_fail(c->stream, failed, err);
}

static frz_code cut_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    cutter *c = ctx;
    if (c->batch.release == NULL || c->at >= c->batch.length) {
        frz_array_release(&c->batch);
        int failed = c->stream->get_next(c->stream, &c->batch);
        if (failed != 0) {
            c->batch.release = NULL;
            return frz_stream_fail(c->stream, failed, err);
        }
        if (c->batch.release == NULL) {
            return FRZ_END;
        }
        c->at = 0;
    }
    int64_t first = c->at;
    int64_t length = FRZ_MIN(c->rows, c->batch.length - first);
    c->at += c->rows;
    return c->count++ % 2 == 0 ? frz_batch_slice(c->env, &c->batch, first, length, out, err)
                               : frz_array_slice(c->env, &c->batch, first, length, out, err);
}

static void cut_release(void *ctx)
{
    cutter *c = ctx;
    frz_array_release(&c->batch);
}

static frz_code copy(const frz_env *env, const options *opts, frz_error *err)
{
    static const frz_stream_ops ops = {cut_schema, cut_next, cut_release};
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream in = {.release = NULL};
    struct ArrowArrayStream cut = {.release = NULL};
    cutter c = {.env = env, .stream = &in, .rows = opts->cut};
    FRZ_TRY(frz_ipc_open(env, opts->in, &in, err));
    if (opts->cut > 0) {
        FRZ_TRY(frz_stream_make(env, &ops, &c, &cut, err));
    }
    FRZ_TRY(
        frz_ipc_write_file(env, opts->out, opts->cut > 0 ? &cut : &in, &opts->write, NULL, err));
out:
    if (cut.release != NULL) {
        cut.release(&cut);
    }
    if (in.release != NULL) {
        in.release(&in);
    }
    return rc;
}

static bool parse_options(int argc, char **argv, options *opts)
{
    const frz_ipc_write_options none = FRZ_IPC_WRITE_OPTIONS_INIT;
    *opts = (options){.write = none};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--file") == 0) {
            opts->write.format = FRZ_IPC_FILE;
        } else if (strcmp(argv[i], "--compression") == 0 && i + 1 < argc) {
            i++;
            opts->write.compression =
                strcmp(argv[i], "zstd") == 0 ? FRZ_IPC_ZSTD : FRZ_IPC_LZ4_FRAME;
        } else if (strcmp(argv[i], "--cut") == 0 && i + 1 < argc) {
            opts->cut = strtoll(argv[++i], NULL, 10);
        } else if (opts->in == NULL) {
            opts->in = argv[i];
        } else {
            opts->out = argv[i];
        }
    }
    return opts->out != NULL;
}

int main(int argc, char **argv)
{
    options opts;
    frz_env *env = NULL;
    frz_error err = {0};
    frz_env_counters counters;
    if (!parse_options(argc, argv, &opts)) {
        fprintf(stderr, "usage: ipc_copy [--file] [--compression lz4|zstd] [--cut ROWS] IN OUT\n");
        return 2;
    }
    if (frz_env_new(NULL, &env, &err) != FRZ_OK) {
        return 1;
    }
    frz_code rc = copy(env, &opts, &err);
    if (rc != FRZ_OK) {
        char message[2048];
        frz_error_format(&err, message, sizeof message);
        fprintf(stderr, "%s: %s\n", frz_code_name(rc), message);
    }
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    if (counters.bytes_allocated != 0) {
        fprintf(stderr, "%llu bytes were not given back\n",
                (unsigned long long)counters.bytes_allocated);
        rc = FRZ_E_INTERNAL;
    }
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : 1;
}
