/*
 * scan: columns that tell about a row and are in no file: _file, _pos, _deleted, _spec_id and
 * _partition. spec: Reserved Field IDs
 */
#ifndef FRZ_SCAN_ROW_COLUMNS_H
#define FRZ_SCAN_ROW_COLUMNS_H

#include "meta/meta_manifest.h"

/* True for the ids of these columns. */
static inline bool frz_is_row_column(int32_t field_id)
{
    return field_id >= FRZ_ID_ROW_PARTITION && field_id <= FRZ_ID_ROW_FILE;
}

/* The fields of a type and behind them these columns; with by_name without those whose names are
 * taken. _partition is a struct of the partition fields of all specs, by field id; unknown if there
 * are none. */
frz_code frz_row_columns_add(frz_arena *arena, const frz_metadata *metadata, const frz_type *base,
                             bool by_name, const frz_type **out, frz_error *err);

/* Rows of a data file. */
typedef struct frz_row_window {
    const frz_table *table;
    const frz_entry *entry;
    int64_t first_row, rows;
    const uint8_t *live; /* bit i is 0 if row first_row + i is deleted; NULL: none is */
} frz_row_window;

/* One of these columns, of the field's type. */
frz_code frz_row_column_make(const frz_row_window *window, const frz_field *field,
                             struct ArrowArray *out, frz_error *err);

#endif
