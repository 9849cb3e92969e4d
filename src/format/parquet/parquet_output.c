/*
 * Where the bytes of a Parquet file go. Pages are collected so that small ones do not cost a call
 * each, and ranges copied from another file wait for the next one: chunks that lie side by side
 * there are copied in one piece.
 */
#include "format/parquet/parquet_write.h"

#define OUTPUT_COLLECT ((size_t)128 << 10)
#define OUTPUT_SYNC ((uint64_t)8 << 20) /* bytes after which the storage may begin to sync */

/* What the disk writes early need not be waited for at the end. */
static void sync_soon(parquet_output *output)
{
    uint64_t size = frz_file_writer_size(output->file);
    if (output->durable && size - output->announced >= OUTPUT_SYNC) {
        frz_file_sync_soon(output->file);
        output->announced = size;
    }
}

/* In pieces, so that the disk has something to do meanwhile. */
static frz_code copy_range(parquet_output *output, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (output->src_len > 0) {
        uint64_t len = output->durable ? FRZ_MIN(output->src_len, OUTPUT_SYNC) : output->src_len;
        FRZ_TRY(frz_file_append_from(output->file, output->src, output->src_offset, len, err));
        output->src_offset += len;
        output->src_len -= len;
        sync_soon(output);
    }
    output->src = NULL;
out:
    return rc;
}

frz_code parquet_output_flush(parquet_output *output, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (output->buffer.len > 0) {
        FRZ_TRY(frz_file_append(output->file, output->buffer.data, output->buffer.len, err));
        frz_buf_clear(&output->buffer);
    }
    FRZ_TRY(copy_range(output, err));
    sync_soon(output);
out:
    return rc;
}

frz_code parquet_output_write(parquet_output *output, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (output->src_len > 0 || output->buffer.len + len > OUTPUT_COLLECT) {
        FRZ_TRY(parquet_output_flush(output, err));
    }
    if (len > OUTPUT_COLLECT) {
        FRZ_TRY(frz_file_append(output->file, bytes, len, err));
    } else {
        FRZ_TRY(frz_buf_append(&output->buffer, bytes, len, err));
    }
    output->position += len;
out:
    return rc;
}

frz_code parquet_output_copy(parquet_output *output, const frz_file *src, uint64_t offset,
                             uint64_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool joins =
        output->src_len > 0 && output->src == src && output->src_offset + output->src_len == offset;
    if (!joins) {
        FRZ_TRY(parquet_output_flush(output, err));
        output->src = src;
        output->src_offset = offset;
    }
    output->src_len += len;
    output->position += len;
out:
    return rc;
}
