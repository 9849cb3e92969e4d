/*
 * Scratch memory of readers' tasks: codecs and buffers that only one task uses at a time. There are
 * as many as tasks ran at once, not as many as columns or files that are read together.
 */
#include "format/parquet/parquet_read.h"

#define MOST_KEPT ((size_t)2 << 20) /* bytes of a page or window */

static frz_code scratch_add(parquet_scratches *all, parquet_scratch **out, frz_error *err)
{
    parquet_scratch *scratch = frz_alloc_zero(all->env, 1, sizeof *scratch);
    if (scratch == NULL) {
        return frz_fail_nomem(err, sizeof *scratch);
    }
    scratch->env = all->env;
    frz_buf_init(&scratch->bytes, all->env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&scratch->window, all->env, FRZ_BUF_NO_LIMIT);
    frz_slots_add(&all->slots, &scratch->slot);
    *out = scratch;
    return FRZ_OK;
}

void parquet_scratches_reset(parquet_scratches *all)
{
    for (frz_slot *s = frz_slots_remove(&all->slots); s != NULL;
         s = frz_slots_remove(&all->slots)) {
        parquet_scratch *scratch = (parquet_scratch *)s;
        for (size_t i = 0; i < FRZ_ARRAY_COUNT(scratch->codecs); i++) {
            frz_codec_free(scratch->codecs[i]);
        }
        frz_buf_reset(&scratch->bytes);
        frz_buf_reset(&scratch->window);
        frz_buffer_unref(scratch->page);
        frz_free(scratch->env, scratch);
    }
}

frz_code parquet_scratch_take(parquet_scratches *all, parquet_scratch **out, frz_error *err)
{
    frz_slot *slot = frz_slots_take(&all->slots);
    if (slot == NULL) {
        return scratch_add(all, out, err);
    }
    *out = (parquet_scratch *)slot;
    return FRZ_OK;
}

void parquet_scratch_give(parquet_scratch *scratch)
{
    frz_slot_give(&scratch->slot);
}

/* ---- memory of columns ---- */

void parquet_scratch_keep_page(parquet_scratch *scratch, frz_buffer **page)
{
    frz_buffer *rest = *page;
    size_t kept = scratch->page == NULL ? 0 : scratch->page->capacity;
    if (rest != NULL && atomic_load_explicit(&rest->refs, memory_order_acquire) == 1 &&
        rest->capacity > kept && rest->capacity <= MOST_KEPT) {
        rest = scratch->page;
        scratch->page = *page;
    }
    frz_buffer_unref(rest);
    *page = NULL;
}

void parquet_scratch_take_page(parquet_scratch *scratch, size_t size, frz_buffer **page)
{
    const frz_buffer *kept = scratch->page;
    size_t capacity = kept == NULL ? 0 : kept->capacity - FRZ_BUFFER_SLACK;
    if (*page == NULL && size <= capacity && size >= capacity / 2) {
        *page = scratch->page;
        scratch->page = NULL;
    }
}

static void swap_windows(frz_buf *a, frz_buf *b)
{
    frz_buf window = *a;
    *a = *b;
    *b = window;
}

void parquet_scratch_keep_window(parquet_scratch *scratch, frz_buf *window)
{
    if (window->capacity > scratch->window.capacity && window->capacity <= MOST_KEPT) {
        swap_windows(&scratch->window, window);
    }
    frz_buf_reset(window);
}

void parquet_scratch_take_window(parquet_scratch *scratch, frz_buf *window)
{
    if (window->data == NULL) {
        swap_windows(&scratch->window, window);
    }
}
