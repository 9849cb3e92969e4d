/*
 * meta: building the rows of a manifest that is written.
 */
#ifndef FRZ_META_MANIFEST_PUT_H
#define FRZ_META_MANIFEST_PUT_H

#include "format/parquet/parquet.h"
#include "meta/meta_internal.h"
#include "meta/meta_mumbling.h"
#include "meta/meta_tree.h"

typedef struct meta_row_writer {
    frz_builder *builder; /* of row.type */
    meta_manifest_row row;
    const meta_stats_shape *shapes; /* of content_stats */
    size_t shape_count;
    const frz_type *partition; /* STRUCT of all partition fields of the table; NULL: none */
    bool is_leaf;
    bool stats_always; /* content_stats is there in every row, though it may know nothing */
} meta_row_writer;

/* One row each. What its place in a manifest demands and is not there is FRZ_E_INTERNAL. */
frz_code meta_put_entry(const meta_row_writer *writer, const frz_entry *entry, frz_error *err);
/* scratch: for the bytes of bitmaps. */
frz_code meta_put_manifest(const meta_row_writer *writer, const frz_manifest_file *file,
                           frz_buf *scratch, frz_error *err);

/* ---- the file that they come into (meta_manifest_write.c) ---- */

/* A Parquet file with the keys of a manifest, encoded as suits so many rows. */
frz_code meta_manifest_open_writer(const frz_table *table, const frz_schema *schema,
                                   const frz_type *row_type, size_t row_count, const char *location,
                                   frz_parquet_writer **out, frz_error *err);
/* Bits of the metrics that are known and worth a column. */
unsigned meta_known_metrics(const frz_field_stats *s, const frz_type *type, bool required);
/* Name the struct of a shape after its field. name: scratch. */
frz_code meta_stats_shape_name(const frz_schema *schema, meta_stats_shape *shape, frz_buf *name,
                               frz_arena *arena, frz_error *err);

#endif
