/*
 * Scratch memory of a writer's tasks: a codec and the buffers that a page is encoded in. There are
 * as many as tasks ran at once, not as many as columns.
 */
#include "format/parquet/parquet_write.h"

#define SCRATCH_BUFFERS 6

static void scratch_buffers(parquet_write_scratch *s, frz_buf *out[SCRATCH_BUFFERS])
{
    frz_buf *const all[SCRATCH_BUFFERS] = {&s->head,  &s->body,  &s->packed,
                                           &s->trial, &s->other, &s->indices};
    memcpy(out, all, sizeof all);
}

static void scratch_free(parquet_write_scratch *scratch)
{
    frz_buf *buffers[SCRATCH_BUFFERS];
    scratch_buffers(scratch, buffers);
    for (size_t i = 0; i < SCRATCH_BUFFERS; i++) {
        frz_buf_reset(buffers[i]);
    }
    frz_codec_free(scratch->codec);
    frz_free(scratch->env, scratch);
}

static frz_code scratch_new(const parquet_write_shared *shared, parquet_write_scratch **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *buffers[SCRATCH_BUFFERS];
    parquet_write_scratch *scratch = frz_alloc_zero(shared->env, 1, sizeof *scratch);
    if (scratch == NULL) {
        return frz_fail_nomem(err, sizeof *scratch);
    }
    scratch->env = shared->env;
    scratch_buffers(scratch, buffers);
    for (size_t i = 0; i < SCRATCH_BUFFERS; i++) {
        frz_buf_init(buffers[i], shared->env, FRZ_BUF_NO_LIMIT);
    }
    if (shared->codec != FRZ_CODEC_NONE) {
        FRZ_TRY(
            frz_codec_new(shared->env, shared->codec, shared->opts.level, &scratch->codec, err));
    }
    *out = scratch;
    scratch = NULL;
out:
    if (scratch != NULL) {
        scratch_free(scratch);
    }
    return rc;
}

frz_code parquet_write_scratch_take(parquet_write_shared *shared, parquet_write_scratch **out,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_slot *slot = frz_slots_take(&shared->scratches);
    if (slot != NULL) {
        *out = (parquet_write_scratch *)slot;
        return FRZ_OK;
    }
    FRZ_TRY(scratch_new(shared, out, err));
    frz_slots_add(&shared->scratches, &(*out)->slot);
out:
    return rc;
}

void parquet_write_scratch_give(parquet_write_scratch *scratch)
{
    frz_slot_give(&scratch->slot);
}

void parquet_write_scratches_free(parquet_write_shared *shared)
{
    for (frz_slot *s = frz_slots_remove(&shared->scratches); s != NULL;
         s = frz_slots_remove(&shared->scratches)) {
        scratch_free((parquet_write_scratch *)s);
    }
}
