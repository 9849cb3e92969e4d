/*
 * meta: manifests and manifest lists of versions 1 to 3: their row types and their statistics.
 */
#ifndef FRZ_META_LEGACY_H
#define FRZ_META_LEGACY_H

#include "meta/meta_cell.h"
#include "meta/meta_internal.h"
#include "meta/meta_tree.h"

/* ---- row types (meta_legacy_type.c) ---- */

enum { /* manifest_entry */
       META_LEGACY_STATUS,
       META_LEGACY_SNAPSHOT_ID,
       META_LEGACY_SEQUENCE_NUMBER,
       META_LEGACY_FILE_SEQUENCE_NUMBER,
       META_LEGACY_DATA_FILE,
       META_LEGACY_COUNT
};

enum { /* data_file */
       META_DF_CONTENT,
       META_DF_FILE_PATH,
       META_DF_FILE_FORMAT,
       META_DF_PARTITION,
       META_DF_RECORD_COUNT,
       META_DF_FILE_SIZE,
       META_DF_COLUMN_SIZES, /* the maps stand together */
       META_DF_VALUE_COUNTS,
       META_DF_NULL_VALUE_COUNTS,
       META_DF_NAN_VALUE_COUNTS,
       META_DF_LOWER_BOUNDS,
       META_DF_UPPER_BOUNDS,
       META_DF_KEY_METADATA,
       META_DF_SPLIT_OFFSETS,
       META_DF_EQUALITY_IDS,
       META_DF_SORT_ORDER_ID,
       META_DF_FIRST_ROW_ID,
       META_DF_REFERENCED_DATA_FILE,
       META_DF_CONTENT_OFFSET,
       META_DF_CONTENT_SIZE,
       META_DF_COUNT
};

typedef struct meta_legacy_row {
    const frz_type *type;      /* STRUCT */
    int at[META_LEGACY_COUNT]; /* place of each column in it, or -1 */
    int member[META_DF_COUNT]; /* place of each member in data_file, or -1 */
    const frz_type *partition; /* NULL: none */
} meta_legacy_row;

/* manifest_entry as asked of a file: only columns that it has, everything optional. stats: with the
 * maps of statistics; sizes: with column_sizes, too. */
frz_code meta_legacy_row_to_read(frz_arena *arena, const frz_type *file_type, bool stats,
                                 bool sizes, meta_legacy_row *out, frz_error *err);

enum { /* manifest_file: the counts stand in the order of frz_status */
       META_LIST_PATH,
       META_LIST_LENGTH,
       META_LIST_SPEC_ID,
       META_LIST_CONTENT,
       META_LIST_SEQUENCE_NUMBER,
       META_LIST_MIN_SEQUENCE_NUMBER,
       META_LIST_SNAPSHOT_ID,
       META_LIST_FILES,
       META_LIST_ROWS = META_LIST_FILES + 3,
       META_LIST_PARTITIONS = META_LIST_ROWS + 3,
       META_LIST_FIRST_ROW_ID,
       META_LIST_COUNT
};

enum { /* field_summary */
       META_SUMMARY_CONTAINS_NULL,
       META_SUMMARY_CONTAINS_NAN,
       META_SUMMARY_LOWER_BOUND,
       META_SUMMARY_UPPER_BOUND,
       META_SUMMARY_COUNT
};

typedef struct meta_list_row {
    const frz_type *type;
    int at[META_LIST_COUNT];
} meta_list_row;

frz_code meta_list_row_to_read(frz_arena *arena, const frz_type *file_type, meta_list_row *out,
                               frz_error *err);

/* ---- statistics of data_file (meta_legacy_stats.c) ---- */

/* A field whose statistics are wanted. */
typedef struct meta_legacy_field {
    int32_t field_id;
    const frz_type *type;
} meta_legacy_field;

typedef struct meta_legacy_stats {
    meta_legacy_field *fields; /* ascending by id */
    int32_t *field_ids;        /* the same */
    size_t count;
} meta_legacy_stats;

/* Room for the statistics of one entry. Bounds of 16 bytes may need bytes of their own. */
typedef struct meta_legacy_room {
    frz_field_stats *stats; /* one for each wanted field */
    uint8_t (*bytes)[2][16];
} meta_legacy_room;

frz_code meta_legacy_stats_of(const meta_entry_rules *rules, const frz_schema *schema,
                              const frz_stats_choice *choice, frz_arena *arena,
                              meta_legacy_stats *out, frz_error *err);
frz_code meta_legacy_room_of(const meta_legacy_stats *wanted, frz_arena *arena,
                             meta_legacy_room *out, frz_error *err);
/* Fill the room from the maps of a data_file (by META_DF_…). Bounds are lent by the batch and the
 * room. Returns how many fields have any statistics. */
size_t meta_legacy_stats_read(const meta_legacy_stats *wanted, const meta_legacy_row *row,
                              meta_cell data_file, meta_legacy_room *room);

#endif
