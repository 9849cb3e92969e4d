/*
 * The bytes of a column chunk, read ahead in windows: of the chunk's own, or of bytes that are
 * shared with other columns. Large pages that are not compressed pass the window by.
 */
#include "format/parquet/parquet_read.h"

/* What is read ahead behind a page that was read to its place: this much, for a header. */
#define DIRECT_WINDOW ((size_t)4 << 10)

/* Bytes of the window from the current place on. */
static size_t in_window(const parquet_pages *p)
{
    uint64_t skip = p->at - p->window_start;
    return p->at < p->window_start || skip >= p->window_len ? 0 : p->window_len - (size_t)skip;
}

/* Take the bytes that are shared with other columns for the window. */
static frz_code use_run(parquet_pages *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str bytes;
    FRZ_TRY(parquet_run_bytes(p->run, &bytes, err));
    if (bytes.ptr != NULL) {
        frz_buf_reset(&p->own); /* a window's worth, which the run stands for */
        p->window = (const uint8_t *)bytes.ptr;
        p->window_len = bytes.len;
        p->window_start = parquet_run_start(p->run);
    }
out:
    return rc;
}

static frz_code read_window(parquet_pages *p, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    p->window_len = 0;
    parquet_scratch_take_window(p->scratch, &p->own);
    frz_buf_clear(&p->own);
    FRZ_TRY(frz_buf_reserve(&p->own, len, err));
    FRZ_TRY(frz_file_read(p->source->file->base.file, p->at, p->own.data, len, err));
    p->window = p->own.data;
    p->window_len = len;
    p->window_start = p->at;
out:
    return rc;
}

void parquet_pages_drop_window(parquet_pages *p)
{
    parquet_run_unref(p->run);
    p->run = NULL;
    p->window = NULL;
    p->window_len = 0;
}

void parquet_pages_rest(parquet_pages *p)
{
    if (p->at == p->end) {
        parquet_pages_drop_window(p);
        parquet_scratch_keep_window(p->scratch, &p->own);
    }
}

bool parquet_pages_piece(parquet_pages *p, parquet_piece *out)
{
    *out = (parquet_piece){p, p->at, p->end};
    return !p->locator.active && p->at < p->end && parquet_pages_left(p) <= p->source->window;
}

void parquet_pages_give(parquet_pages *p, parquet_run *run)
{
    parquet_pages_drop_window(p);
    p->run = run;
}

frz_code parquet_pages_peek(parquet_pages *p, size_t want, const uint8_t **bytes, size_t *len,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t left = parquet_pages_left(p);
    want = (size_t)FRZ_MIN(want, left);
    if (in_window(p) < want && p->run != NULL) {
        FRZ_TRY(use_run(p, err));
    }
    if (in_window(p) < want) {
        uint64_t ahead = p->read_end > p->at ? p->read_end - p->at : 0;
        ahead = FRZ_MIN(ahead, p->direct ? DIRECT_WINDOW : p->source->window);
        ahead = FRZ_MAX(ahead, want);
        FRZ_TRY(read_window(p, (size_t)FRZ_MIN(ahead, left), err));
    }
    *bytes = p->window + (p->at - p->window_start);
    *len = in_window(p);
out:
    return rc;
}

frz_code parquet_pages_take_into(parquet_pages *p, uint8_t *dst, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t have = FRZ_MIN(in_window(p), len);
    if (have > 0) {
        memcpy(dst, p->window + (p->at - p->window_start), have);
    }
    if (have < len) {
        rc = frz_file_read(p->source->file->base.file, p->at + have, dst + have, len - have, err);
    }
    p->at += len;
    return rc;
}

frz_code parquet_pages_take_view(parquet_pages *p, size_t len, const uint8_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *scratch = &p->scratch->bytes;
    p->direct = len > p->source->window;
    /* a window's worth is better read ahead than read alone */
    if (in_window(p) < len && len <= p->source->window) {
        size_t got;
        FRZ_TRY(parquet_pages_peek(p, len, out, &got, err));
    }
    if (in_window(p) >= len) {
        *out = p->window + (p->at - p->window_start);
        p->at += len;
        goto out;
    }
    frz_buf_clear(scratch);
    FRZ_TRY(frz_buf_reserve(scratch, len, err));
    FRZ_TRY(parquet_pages_take_into(p, scratch->data, len, err));
    *out = scratch->data;
out:
    return rc;
}
