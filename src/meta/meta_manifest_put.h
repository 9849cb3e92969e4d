/*
 * meta: building the rows of a manifest that is written.
 */
#ifndef FRZ_META_MANIFEST_PUT_H
#define FRZ_META_MANIFEST_PUT_H

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
} meta_row_writer;

/* One row each. What its place in a manifest demands and is not there is FRZ_E_INTERNAL. */
frz_code meta_put_entry(const meta_row_writer *writer, const frz_entry *entry, frz_error *err);
/* scratch: for the bytes of bitmaps. */
frz_code meta_put_manifest(const meta_row_writer *writer, const frz_manifest_file *file,
                           frz_buf *scratch, frz_error *err);

#endif
