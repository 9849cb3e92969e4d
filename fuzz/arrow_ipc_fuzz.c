/*
 * An Arrow IPC file or stream. What can be read is written again in both formats, from slices so
 * that arrays have offsets, which looks at every byte that the rows refer to; and what was written
 * must read back with as many rows.
 */
#include "arrow/arrow_array.h"
#include "frazil/ipc.h"
#include "fuzz_storage.h"

#define MAX_INPUT (1u << 18)
#define BATCHES 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Batches of another stream, of which only the rows behind `first` are given. */
typedef struct behind {
    const frz_env *env;
    struct ArrowArrayStream *stream;
    int64_t first, rows;
    int batches;
} behind;

static frz_code behind_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    behind *b = ctx;
    int failed = b->stream->get_schema(b->stream, out);
    return failed == 0 ? FRZ_OK : frz_stream_fail(b->stream, failed, err);
}

static frz_code behind_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    behind *b = ctx;
    struct ArrowArray batch = {.release = NULL};
    int failed = b->stream->get_next(b->stream, &batch);
    if (failed != 0) {
        return frz_stream_fail(b->stream, failed, err);
    }
    if (batch.release == NULL || b->batches++ == BATCHES) {
        frz_array_release(&batch);
        return FRZ_END;
    }
    int64_t first = FRZ_MIN(b->first, batch.length);
    b->rows += batch.length - first;
    frz_code rc = frz_array_slice(b->env, &batch, first, batch.length - first, out, err);
    frz_array_release(&batch);
    return rc;
}

static void behind_release(void *ctx)
{
    (void)ctx;
}

static frz_code to_buf(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_buf_append(ctx, bytes, len, err);
}

static frz_code write_behind(const frz_env *env, const char *location, behind *b,
                             const frz_ipc_write_options *opts, frz_buf *out, frz_error *err)
{
    static const frz_stream_ops ops = {behind_schema, behind_next, behind_release};
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream in = {.release = NULL};
    struct ArrowArrayStream slices = {.release = NULL};
    FRZ_TRY(frz_ipc_open(env, location, &in, err));
    b->stream = &in;
    FRZ_TRY(frz_stream_make(env, &ops, b, &slices, err));
    FRZ_TRY(frz_ipc_write(env, to_buf, out, &slices, opts, NULL, err));
out:
    if (slices.release != NULL) {
        slices.release(&slices);
    }
    if (in.release != NULL) {
        in.release(&in);
    }
    return rc;
}

/* Count the rows of what was written. */
static frz_code count_rows(const frz_env *env, const char *location, int64_t *rows, frz_error *err)
{
    struct ArrowArrayStream in = {.release = NULL};
    frz_code rc = frz_ipc_open(env, location, &in, err);
    *rows = 0;
    while (rc == FRZ_OK) {
        struct ArrowArray batch = {.release = NULL};
        int failed = in.get_next(&in, &batch);
        if (failed != 0) {
            rc = frz_stream_fail(&in, failed, err);
        } else if (batch.release == NULL) {
            break;
        } else {
            *rows += batch.length;
            batch.release(&batch);
        }
    }
    if (in.release != NULL) {
        in.release(&in);
    }
    return rc;
}

static void round_trip(const frz_env *env, fuzz_storage *storage, const frz_ipc_write_options *opts,
                       int64_t first)
{
    frz_error err = {0};
    behind b = {.env = env, .first = first};
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    if (write_behind(env, storage->location, &b, opts, &out, &err) == FRZ_OK) {
        const fuzz_storage input = *storage;
        int64_t rows;
        storage->data = out.data;
        storage->size = out.len;
        if (count_rows(env, storage->location, &rows, &err) != FRZ_OK || rows != b.rows) {
            abort();
        }
        *storage = input;
    }
    frz_buf_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MAX_INPUT) {
        return 0;
    }
    fuzz_storage storage = {.location = "/input", .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_ipc_write_options opts = FRZ_IPC_WRITE_OPTIONS_INIT;
    round_trip(env, &storage, &opts, 0);
    opts.format = FRZ_IPC_FILE;
    round_trip(env, &storage, &opts, 1);
    fuzz_env_free(env);
    return 0;
}
