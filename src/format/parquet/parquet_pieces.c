/*
 * Reading small pieces of a file that lie near each other together: a row group of a wide table has
 * thousands of chunks of a few KiB one after the other, and a manifest hundreds.
 *
 * A run is read by the first column that wants something of it, so that its bytes are decoded while
 * they are in the processor's cache, and given back when the last of its columns is through.
 * Several threads may want it at once: one reads, the others do not wait but read their own piece.
 */
#include <stdlib.h>

#include "format/parquet/parquet_read.h"

/* Bytes that nobody asked for are read if that saves a read. */
#define MOST_GAP (16u << 10)
#define MOST_RUN (1u << 20)

struct parquet_run {
    const parquet_file *file;
    uint64_t start, end;
    atomic_int refs;
    atomic_bool claimed;       /* somebody reads, or has read */
    frz_buffer *_Atomic bytes; /* NULL: not read, or could not be */
};

/* ---- runs ---- */

void parquet_run_unref(parquet_run *run)
{
    if (run != NULL && atomic_fetch_sub(&run->refs, 1) == 1) {
        frz_buffer_unref(atomic_load(&run->bytes));
        frz_free(run->file->base.env, run);
    }
}

frz_code parquet_run_bytes(parquet_run *run, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t size = (size_t)(run->end - run->start);
    frz_buffer *bytes = NULL;
    if (!atomic_exchange(&run->claimed, true)) {
        FRZ_TRY(frz_buffer_new(run->file->base.env, size, &bytes, err));
        rc = frz_file_read(run->file->base.file, run->start, bytes->data, size, NULL);
        if (rc == FRZ_OK) {
            atomic_store(&run->bytes, bytes);
            bytes = NULL;
        }
        rc = FRZ_OK; /* whose piece cannot be read will find out */
    }
    const frz_buffer *found = atomic_load(&run->bytes);
    *out = found == NULL ? (frz_str){NULL, 0} : (frz_str){(const char *)found->data, size};
out:
    frz_buffer_unref(bytes);
    return rc;
}

uint64_t parquet_run_start(const parquet_run *run)
{
    return run->start;
}

/* ---- pieces to runs ---- */

static int compare_pieces(const void *a, const void *b)
{
    uint64_t x = ((const parquet_piece *)a)->start;
    uint64_t y = ((const parquet_piece *)b)->start;
    return (x > y) - (x < y);
}

/* Columns mostly are asked for in the order in which they are stored. */
static void sort_pieces(parquet_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (pieces[i].start < pieces[i - 1].start) {
            qsort(pieces, count, sizeof *pieces, compare_pieces);
            return;
        }
    }
}

/* How many of the sorted pieces are read with the first one, and up to where. */
static size_t pieces_together(const parquet_piece *pieces, size_t count, uint64_t *end)
{
    size_t n = 1;
    *end = pieces[0].end;
    while (n < count) {
        uint64_t further = FRZ_MAX(*end, pieces[n].end);
        if (pieces[n].start > *end + MOST_GAP || further - pieces[0].start > MOST_RUN) {
            break;
        }
        *end = further;
        n++;
    }
    return n;
}

static frz_code give_run(const parquet_file *file, const parquet_piece *pieces, size_t count,
                         uint64_t end, frz_error *err)
{
    parquet_run *run = frz_alloc_zero(file->base.env, 1, sizeof *run);
    if (run == NULL) {
        return frz_fail_nomem(err, sizeof *run);
    }
    run->file = file;
    run->start = pieces[0].start;
    run->end = end;
    atomic_init(&run->refs, (int)count);
    for (size_t i = 0; i < count; i++) {
        parquet_pages_give(pieces[i].pages, run);
    }
    return FRZ_OK;
}

frz_code parquet_pieces_join(const parquet_file *file, parquet_piece *pieces, size_t count,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    sort_pieces(pieces, count);
    for (size_t i = 0; i < count;) {
        uint64_t end;
        size_t n = pieces_together(pieces + i, count - i, &end);
        if (n > 1) { /* one alone is its column's business */
            FRZ_TRY(give_run(file, pieces + i, n, end, err));
        }
        i += n;
    }
out:
    return rc;
}
