/*
 * The reader of an Avro file: row ranges to batches.
 *
 * A batch is made of rows of one range, and of as many blocks as it takes. Rows that are not wanted
 * are passed over: whole blocks by their header, the first rows of a block one by one.
 */
#include <inttypes.h>

#include "format/avro/avro_internal.h"

#define DEFAULT_ROWS 65536
#define DEFAULT_BYTES ((size_t)16 << 20)
#define MOST_ROWS (1 << 30)
#define READ_AHEAD ((size_t)1 << 20)

typedef struct avro_reader {
    frz_data_reader base;
    const avro_file *file;
    const frz_row_range *ranges;
    size_t range_count, range;
    int64_t row; /* next one of the range */
    int64_t max_rows;
    size_t max_bytes;
    avro_plan plan;
    avro_window window;
    frz_codec *codec;
    frz_buf unpacked;
    /* the block at hand */
    avro_block block;
    bool in_block;
    int64_t block_row; /* next one, of the file */
    avro_decoder decoder;
    frz_code failed; /* it stays so: rows are missing from the columns */
    frz_error failure;
} avro_reader;

/* ---- blocks ---- */

/* Go to the header of the block that holds a row. */
static frz_code find_block(avro_reader *r, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const avro_run *run = avro_index_find(&r->file->index, row);
    uint64_t offset = run->offset;
    int64_t first = run->first_row;
    if (r->block.offset > 0 && r->block.first_row >= first && r->block.first_row <= row) {
        offset = r->block.start; /* further on than the run's start */
        first = r->block.first_row;
    }
    r->in_block = false;
    for (;;) {
        FRZ_TRY(avro_block_at(r->file, &r->window, offset, first, READ_AHEAD, &r->block, err));
        if (row < first + r->block.rows) {
            break;
        }
        offset = avro_block_end(&r->block);
        first += r->block.rows;
    }
out:
    return rc == FRZ_END
               ? frz_fail(err, FRZ_E_CORRUPT, "the file has fewer rows than when it was opened")
               : rc;
}

static frz_code load_block(avro_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *bytes;
    frz_str data;
    const avro_block *b = &r->block;
    FRZ_TRY(avro_window_get(&r->window, b->offset, b->size, READ_AHEAD, &bytes, err));
    frz_codec_id codec = r->file->header.codec;
    rc = avro_unpack(r->codec, codec, (frz_str){(const char *)bytes, b->size}, &r->unpacked, &data,
                     err);
    if (rc != FRZ_OK) {
        frz_context(err, rc, "block at byte %" PRIu64, b->start);
        goto out;
    }
    const uint8_t *start = (const uint8_t *)data.ptr;
    static const uint8_t nothing[1] = {0};
    start = start == NULL ? nothing : start;
    r->decoder = (avro_decoder){.start = start,
                                .at = start,
                                .end = start + data.len,
                                .block = codec == FRZ_CODEC_NONE ? b->offset : b->start,
                                .packed = codec != FRZ_CODEC_NONE};
    r->block_row = b->first_row;
    r->in_block = true;
out:
    return rc;
}

/* The end of a block's rows is the end of its data. */
static frz_code check_end(const avro_reader *r, frz_error *err)
{
    const avro_decoder *d = &r->decoder;
    return d->at == d->end ? FRZ_OK
                           : frz_fail_at(err, FRZ_E_CORRUPT, r->block.start,
                                         "block at byte %" PRIu64 ": its %" PRId64
                                         " rows end %zu bytes before its data does",
                                         r->block.start, r->block.rows, (size_t)(d->end - d->at));
}

static frz_code next_block(avro_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(check_end(r, err));
    FRZ_TRY(find_block(r, r->block_row, err));
    FRZ_TRY(load_block(r, err));
out:
    return rc;
}

/* Stand before a row. */
static frz_code seek(avro_reader *r, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool here = r->in_block && row >= r->block_row && row < r->block.first_row + r->block.rows;
    if (!here) {
        FRZ_TRY(find_block(r, row, err));
        FRZ_TRY(load_block(r, err));
    }
    FRZ_TRY(avro_skip_rows(&r->decoder, r->plan.skip_row, row - r->block_row, err));
    r->block_row = row;
out:
    return rc;
}

/* ---- batches ---- */

/* Rows of one range to the columns; *count receives how many. */
static frz_code fill(avro_reader *r, int64_t most, int64_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t bytes = 0;
    *count = 0;
    FRZ_TRY(seek(r, r->row, err));
    while (*count < most && (*count == 0 || bytes < r->max_bytes)) {
        int64_t block_end = r->block.first_row + r->block.rows;
        if (r->block_row == block_end) {
            FRZ_TRY(next_block(r, err));
            continue;
        }
        size_t done;
        r->decoder.bytes = bytes;
        rc = avro_decode_rows(&r->decoder, &r->plan.body,
                              (size_t)FRZ_MIN(most - *count, block_end - r->block_row),
                              r->max_bytes, &done, err);
        r->block_row += (int64_t)done;
        *count += (int64_t)done;
        bytes = r->decoder.bytes;
        if (rc != FRZ_OK) {
            frz_context(err, rc, "row %" PRId64, r->block_row);
            goto out;
        }
    }
    if (r->block_row == r->block.first_row + r->block.rows) {
        FRZ_TRY(check_end(r, err));
    }
out:
    return rc;
}

static frz_code read_batch(avro_reader *r, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t count;
    int64_t most = FRZ_MIN(r->ranges[r->range].end - r->row, r->max_rows);
    FRZ_TRY(fill(r, most, &count, err));
    FRZ_TRY(avro_assemble(r->base.file->env, &r->plan.root, count, &out->array, err));
    out->first_row = r->row;
    r->row += count;
out:
    return rc;
}

frz_code avro_reader_next(frz_data_reader *base, frz_batch *out, frz_error *err)
{
    avro_reader *r = (avro_reader *)base;
    frz_code rc = r->failed;
    while (rc == FRZ_OK && r->range < r->range_count) {
        r->row = FRZ_MAX(r->row, r->ranges[r->range].start);
        if (r->row < r->ranges[r->range].end) {
            rc = read_batch(r, out, &r->failure);
            if (rc == FRZ_OK) {
                return FRZ_OK;
            }
            frz_context(&r->failure, rc, "reading %s", frz_data_file_location(base->file));
            r->failed = rc;
        } else {
            r->range++;
        }
    }
    if (rc != FRZ_OK && err != NULL) {
        *err = r->failure;
    }
    return rc == FRZ_OK ? FRZ_END : rc;
}

/* ---- opening ---- */

void avro_reader_close(frz_data_reader *base)
{
    avro_reader *r = (avro_reader *)base;
    if (r != NULL) {
        const frz_env *env = r->base.file->env;
        avro_plan_reset(&r->plan);
        avro_window_reset(&r->window);
        frz_codec_free(r->codec);
        frz_buf_reset(&r->unpacked);
        frz_free(env, r);
    }
}

frz_code avro_reader_open(const frz_data_file *file, const frz_type *file_type,
                          const frz_read_request *request, frz_data_reader **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = file->env;
    avro_reader *r = frz_alloc_zero(env, 1, sizeof *r);
    if (r == NULL) {
        return frz_fail_nomem(err, sizeof *r);
    }
    r->base = (frz_data_reader){.model = file->model, .file = file};
    r->file = (const avro_file *)file;
    r->max_rows = request->max_rows > 0 ? FRZ_MIN(request->max_rows, MOST_ROWS) : DEFAULT_ROWS;
    r->max_bytes = request->max_bytes > 0
                       ? (size_t)FRZ_MIN(request->max_bytes, (int64_t)AVRO_MAX_BATCH)
                       : DEFAULT_BYTES;
    avro_window_init(&r->window, env, file->file);
    frz_buf_init(&r->unpacked, env, AVRO_MAX_BLOCK);
    FRZ_TRY(avro_plan_init(&r->plan, env, r->file->layout, file_type, request, err));
    FRZ_TRY(frz_row_ranges_copy(file, request, &r->plan.arena, &r->ranges, &r->range_count, err));
    FRZ_TRY(frz_codec_new(env, r->file->header.codec, 0, &r->codec, err));
    *out = &r->base;
    r = NULL;
out:
    if (r != NULL) {
        avro_reader_close(&r->base);
    }
    return frz_context(err, rc, "reading %s", frz_data_file_location(file));
}
