/*
 * What the files of scan share among themselves.
 */
#ifndef FRZ_SCAN_INTERNAL_H
#define FRZ_SCAN_INTERNAL_H

#include "expr/expr.h"
#include "frazil/scan.h"
#include "scan/scan_plan.h"
#include "scan/scan_stitch.h"

/* ---- the stitching reader, taken apart ---- */

/* A file that provides columns, and the batch that it stands in. */
typedef struct stitch_part {
    frz_data_file *file;
    frz_data_reader *reader;
    const frz_column_file *column_file; /* NULL: the base file */
    const frz_type *projection;
    frz_batch batch;
    int64_t used; /* rows of the batch handed out */
} stitch_part;

/* Where an output column comes from. */
typedef struct stitch_column {
    size_t part;  /* STITCH_CONSTANT: no file */
    size_t index; /* in the part's projection */
} stitch_column;

#define STITCH_CONSTANT SIZE_MAX

struct frz_stitch {
    const frz_env *env;
    const frz_table *table;
    const frz_entry *entry;
    frz_arena arena;
    const frz_type *projection;
    frz_row_range *ranges;
    size_t range_count;
    size_t range; /* for constants only: the range that is read */
    int64_t next_row;
    int64_t rows_left; /* of all ranges */
    int64_t max_rows, max_bytes;
    stitch_part *parts;
    size_t part_count;
    stitch_column *columns;
    frz_stitch_counts counts;
};

static inline frz_str stitch_location(const frz_stitch *stitch)
{
    return stitch->entry->location;
}

static inline bool stitch_is_lineage(int32_t id)
{
    return id == FRZ_ID_ROW_ID || id == FRZ_ID_LAST_UPDATED;
}

/* ---- who provides a field (scan_stitch_provider.c) ---- */

/* The part for a provider, opened on first use; NULL: the base file. */
frz_code stitch_part_for(frz_stitch *stitch, const frz_column_file *provider, size_t *index,
                         frz_error *err);
/* Where output column i comes from. */
frz_code stitch_choose_column(frz_stitch *stitch, size_t i, frz_error *err);

#endif
