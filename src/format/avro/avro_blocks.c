/*
 * Blocks: finding them all once, and finding one by its row.
 *
 * Nothing in a file says where its blocks are: each header says how far it is to the next one. The
 * index has an entry for each run of blocks, not for each block, so that it stays small whatever
 * the blocks are like; from a run's start one walks.
 */
#include <inttypes.h>

#include "format/avro/avro_internal.h"

#define LONGEST_HEAD 20              /* two numbers */
#define RUN_BYTES ((size_t)64 << 10) /* a run is at least that long, but for the last one */

/* What is read at once where blocks are small, and where going from header to header is cheaper. */
#define SCAN_MANY ((size_t)256 << 10)
#define SCAN_ONE ((size_t)4 << 10)
#define LARGE_BLOCK ((size_t)32 << 10)

/* Parts of a file that column files and compaction take for row groups. */
#define GROUP_BYTES ((uint64_t)16 << 20)

static frz_code check_rows(const avro_file *file, const avro_block *block, frz_error *err)
{
    uint64_t least = file->layout->schemas.root->least;
    uint64_t most = AVRO_MAX_BLOCK;
    if (file->header.codec == FRZ_CODEC_NONE) {
        most = block->size;
    }
    most = least == 0 ? (uint64_t)AVRO_MAX_EMPTY : most / least;
    if (block->rows < 0 || (uint64_t)block->rows > most) {
        return frz_fail_at(err, FRZ_E_CORRUPT, block->start,
                           "block at byte %" PRIu64 ": %" PRId64
                           " rows in %zu bytes, which cannot hold more than %" PRIu64,
                           block->start, block->rows, block->size, most);
    }
    return FRZ_OK;
}

static frz_code check_sync(const avro_file *file, avro_window *w, const avro_block *block,
                           size_t ahead, frz_error *err)
{
    const uint8_t *sync;
    uint64_t at = block->offset + block->size;
    frz_code rc = avro_window_get(w, at, AVRO_SYNC, ahead, &sync, err);
    if (rc == FRZ_OK && memcmp(sync, file->header.sync, AVRO_SYNC) != 0) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, at,
                         "block at byte %" PRIu64
                         ": the file's sync marker is expected at byte %" PRIu64
                         ", found other bytes",
                         block->start, at);
    }
    return rc;
}

frz_code avro_block_at(const avro_file *file, avro_window *w, uint64_t offset, int64_t first_row,
                       size_t ahead, avro_block *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *head;
    uint64_t rows, size;
    uint64_t left = frz_file_size(w->file) - offset;
    if (left == 0) {
        return FRZ_END;
    }
    size_t len = (size_t)FRZ_MIN(left, (uint64_t)LONGEST_HEAD);
    FRZ_TRY(avro_window_get(w, offset, len, ahead, &head, err));
    const uint8_t *p = avro_varint(head, head + len, &rows);
    p = p == NULL ? NULL : avro_varint(p, head + len, &size);
    if (p == NULL) {
        return frz_fail_at(err, FRZ_E_CORRUPT, offset,
                           "block at byte %" PRIu64
                           ": its header is cut off or has a number of more than 10 bytes",
                           offset);
    }
    int64_t bytes = avro_unfold(size);
    *out = (avro_block){.start = offset,
                        .offset = offset + (uint64_t)(p - head),
                        .first_row = first_row,
                        .rows = avro_unfold(rows)};
    left -= (uint64_t)(p - head);
    if (bytes < 0 || left < AVRO_SYNC || (uint64_t)bytes > left - AVRO_SYNC) {
        return frz_fail_at(err, FRZ_E_CORRUPT, offset,
                           "block at byte %" PRIu64 ": %" PRId64
                           " bytes and a sync marker of %d, with %" PRIu64 " bytes left",
                           offset, bytes, AVRO_SYNC, left);
    }
    if ((uint64_t)bytes > AVRO_MAX_BLOCK) {
        return frz_fail_at(err, FRZ_E_LIMIT, offset,
                           "block at byte %" PRIu64 ": %" PRId64 " bytes, at most %zu are read",
                           offset, bytes, AVRO_MAX_BLOCK);
    }
    out->size = (size_t)bytes;
    FRZ_TRY(check_rows(file, out, err));
out:
    return rc;
}

static frz_code add_run(avro_file *file, uint64_t offset, int64_t first_row, frz_error *err)
{
    avro_index *index = &file->index;
    frz_code rc =
        FRZ_GROW(file->base.env, &index->runs, &index->run_capacity, index->run_count, err);
    if (rc == FRZ_OK) {
        index->runs[index->run_count++] = (avro_run){offset, first_row};
    }
    return rc;
}

static frz_code add_group(avro_file *file, size_t *capacity, int64_t end, frz_error *err)
{
    frz_code rc = FRZ_GROW(file->base.env, &file->group_ends, capacity, file->group_count, err);
    if (rc == FRZ_OK) {
        file->group_ends[file->group_count++] = end;
    }
    return rc;
}

/* A place between two blocks: does a run begin, does a group end? */
static frz_code note_place(avro_file *file, uint64_t at, uint64_t *group_start,
                           size_t *group_capacity, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const avro_index *index = &file->index;
    uint64_t run = index->run_count == 0 ? 0 : index->runs[index->run_count - 1].offset;
    if (index->run_count == 0 || at - run >= RUN_BYTES) {
        FRZ_TRY(add_run(file, at, index->row_count, err));
    }
    int64_t before = file->group_count == 0 ? 0 : file->group_ends[file->group_count - 1];
    bool last = at == frz_file_size(file->base.file);
    if (index->row_count > before && (last || at - *group_start >= GROUP_BYTES)) {
        FRZ_TRY(add_group(file, group_capacity, index->row_count, err));
        *group_start = at;
    }
out:
    return rc;
}

frz_code avro_index_build(avro_file *file, avro_window *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t at = file->header.size;
    uint64_t group_start = at;
    size_t capacity = 0;
    size_t ahead = SCAN_MANY;
    int64_t *rows = &file->index.row_count;
    for (;;) {
        avro_block block;
        FRZ_TRY(note_place(file, at, &group_start, &capacity, err));
        FRZ_TRY(avro_block_at(file, w, at, *rows, ahead, &block, err));
        ahead = block.size >= LARGE_BLOCK ? SCAN_ONE : SCAN_MANY;
        FRZ_TRY(check_sync(file, w, &block, ahead, err));
        if (!frz_add_i64(*rows, block.rows, rows)) {
            rc = frz_fail_at(err, FRZ_E_CORRUPT, at,
                             "block at byte %" PRIu64 ": more rows than 64 bits count", at);
            goto out;
        }
        at = avro_block_end(&block);
        file->index.block_count++;
    }
out:
    return rc == FRZ_END ? FRZ_OK : rc;
}

const avro_run *avro_index_find(const avro_index *index, int64_t row)
{
    size_t low = 0, high = index->run_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (index->runs[middle].first_row <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &index->runs[low];
}
