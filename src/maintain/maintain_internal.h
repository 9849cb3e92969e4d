/*
 * What the files of maintain share among themselves.
 */
#ifndef FRZ_MAINTAIN_INTERNAL_H
#define FRZ_MAINTAIN_INTERNAL_H

#include "format/parquet/parquet.h"
#include "frazil/maintain.h"
#include "write/write_commit.h"

/* ---- compaction of one data file (maintain_compact_file.c) --------------------------------------
 */

/* A finished compacted file. All memory is in the arena it was made with. */
typedef struct frz_compacted {
    const char *location; /* absolute */
    int64_t file_size;
    const int64_t *split_offsets;
    size_t split_count;
    frz_field_stats *stats; /* of every field known; the metrics configuration is not applied */
    size_t stats_count;
} frz_compacted;

/* Fold the column files of a live entry into a new data file and track it. */
frz_code frz_compact_file(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const frz_parquet_write_options *options, bool durable, frz_arena *arena,
                          frz_compacted *out, frz_error *err);

#endif
