/*
 * Scratch memory of a reader's tasks: codecs and buffers that only one task uses at a time. There
 * are as many as tasks ran at once, not as many as columns.
 */
#include "format/parquet/parquet_read.h"

static void scratch_free(parquet_scratch *scratch)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(scratch->codecs); i++) {
        frz_codec_free(scratch->codecs[i]);
    }
    frz_buf_reset(&scratch->bytes);
    frz_free(scratch->env, scratch);
}

/* Scratches are only ever added, so the list can grow without a lock. */
static frz_code scratch_add(parquet_scratches *all, bool taken, parquet_scratch **out,
                            frz_error *err)
{
    parquet_scratch *scratch = frz_alloc_zero(all->env, 1, sizeof *scratch);
    if (scratch == NULL) {
        return frz_fail_nomem(err, sizeof *scratch);
    }
    scratch->env = all->env;
    scratch->file = all->file;
    scratch->window = all->window;
    atomic_init(&scratch->taken, taken);
    frz_buf_init(&scratch->bytes, all->env, FRZ_BUF_NO_LIMIT);
    scratch->next = atomic_load(&all->first);
    while (!atomic_compare_exchange_weak(&all->first, &scratch->next, scratch)) {
    }
    *out = scratch;
    return FRZ_OK;
}

frz_code parquet_scratches_init(parquet_scratches *all, const frz_env *env,
                                const parquet_file *file, frz_error *err)
{
    parquet_scratch *first;
    *all = (parquet_scratches){.env = env, .file = file};
    return scratch_add(all, false, &first, err);
}

void parquet_scratches_reset(parquet_scratches *all)
{
    parquet_scratch *scratch = atomic_load(&all->first);
    while (scratch != NULL) {
        parquet_scratch *next = scratch->next;
        scratch_free(scratch);
        scratch = next;
    }
    atomic_store(&all->first, NULL);
}

void parquet_scratches_set_window(parquet_scratches *all, size_t window)
{
    all->window = window;
    for (parquet_scratch *s = atomic_load(&all->first); s != NULL; s = s->next) {
        s->window = window;
    }
}

frz_code parquet_scratch_take(parquet_scratches *all, parquet_scratch **out, frz_error *err)
{
    for (parquet_scratch *s = atomic_load(&all->first); s != NULL; s = s->next) {
        if (!atomic_exchange(&s->taken, true)) {
            *out = s;
            return FRZ_OK;
        }
    }
    return scratch_add(all, true, out, err);
}

void parquet_scratch_give(parquet_scratch *scratch)
{
    atomic_store(&scratch->taken, false);
}
