/*
 * meta: rows of v4 manifests (tracked_file), root and leaf. A file is opened and its columns are
 * chosen once; each row then becomes an entry piece by piece, so that readers who turn most rows
 * down after their statistics do not pay for the rest.
 */
#ifndef FRZ_META_TRACKED_H
#define FRZ_META_TRACKED_H

#include "format/format.h"
#include "meta/meta_cell.h"
#include "meta/meta_internal.h"
#include "meta/meta_tree.h"

/* What rows inherit where they say nothing. */
typedef struct meta_parent {
    bool is_root; /* from the snapshot; else from a root's entry */
    int64_t snapshot_id;
    int64_t sequence_number;
    int64_t next_row_id; /* of a leaf, counts on; FRZ_NO_VALUE: no row ids here */
} meta_parent;

/* An open manifest file. Members above the arena are set by the caller. */
typedef struct meta_tracked {
    const frz_table *table;
    const frz_schema *schema; /* types of statistics */
    const meta_entry_rules *rules;
    frz_arena arena; /* types, shapes */
    frz_data_file *file;
    meta_stats_shape *shapes;
    size_t shape_count;
    const frz_type *partition; /* STRUCT of the fields that the file has; NULL: none */
    meta_manifest_row full;    /* all columns */
    meta_manifest_row brief;   /* those that a decision about a row takes */
} meta_tracked;

/* location: where to open it. On failure close all the same. */
frz_code meta_tracked_open(meta_tracked *tracked, const char *location,
                           const frz_stats_choice *stats, frz_error *err);
void meta_tracked_close(meta_tracked *tracked);

/* A row of a batch that was read as one of the two projections. */
typedef struct meta_tracked_row {
    const meta_tracked *tracked;
    const meta_manifest_row *shape;
    const struct ArrowArray *batch;
    int64_t row;
} meta_tracked_row;

/* Tracking, content, record count and spec, with everything inherited but the row id. */
frz_code meta_tracked_head(const meta_tracked_row *row, const meta_parent *parent, frz_entry *entry,
                           frz_error *err);
/* The types of tracked->partition's fields, as copies that the arena holds. */
frz_code meta_tracked_partition_types(const meta_tracked *tracked, frz_arena *arena,
                                      const frz_type ***out, frz_error *err);
/* The tuple, as far as the entry's spec tells. room: as many values as tracked->partition has
 * fields; types: of these fields, NULL: the file's own; arena NULL: values are lent by the batch.
 */
frz_code meta_tracked_partition(const meta_tracked_row *row, const frz_type *const *types,
                                frz_partition_value *room, frz_arena *arena, frz_entry *entry,
                                frz_error *err);
/* Statistics. room: tracked->shape_count; arena NULL: bounds are lent by the batch. */
frz_code meta_tracked_stats(const meta_tracked_row *row, frz_field_stats *room, frz_arena *arena,
                            const frz_field_stats **out, size_t *count, frz_error *err);
/* Location, format and size. */
frz_code meta_tracked_file(const meta_tracked_row *row, frz_arena *arena, frz_entry *entry,
                           frz_error *err);
/* What else a data file has: sort order, splits, deletion vector, column files. */
frz_code meta_tracked_data(const meta_tracked_row *row, frz_arena *arena, frz_entry *entry,
                           frz_error *err);

/* A manifest and its bitmaps as bytes, lent by the batch; ptr NULL: none. */
typedef struct meta_tracked_manifest {
    frz_manifest_file file;
    frz_str dv, deleted_positions, replaced_positions;
} meta_tracked_manifest;

/* What a root says of a manifest; the entry is read so far. */
frz_code meta_tracked_manifest_of(const meta_tracked_row *row, const frz_entry *entry,
                                  meta_tracked_manifest *out, frz_error *err);

#endif
