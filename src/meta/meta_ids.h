/*
 * Field ids of the v4 manifest structures. The draft still moves, so all of them stand here and
 * nowhere else. spec: tracked_file, tracking, manifest_info, column_file, deletion_vector,
 * content_stats
 */
#ifndef FRZ_META_IDS_H
#define FRZ_META_IDS_H

enum {
    /* tracked_file */
    FRZ_ID_TRACKING = 147,
    FRZ_ID_CONTENT_TYPE = 134,
    FRZ_ID_LOCATION = 100,
    FRZ_ID_FILE_FORMAT = 101,
    FRZ_ID_RECORD_COUNT = 103,
    FRZ_ID_FILE_SIZE = 104,
    FRZ_ID_SPEC_ID = 141,
    FRZ_ID_PARTITION = 102,
    FRZ_ID_SORT_ORDER_ID = 140,
    FRZ_ID_CONTENT_STATS = 146,
    FRZ_ID_DELETION_VECTOR = 148,
    FRZ_ID_MANIFEST_INFO = 150,
    FRZ_ID_KEY_METADATA = 131,
    FRZ_ID_SPLIT_OFFSETS = 132,
    FRZ_ID_SPLIT_OFFSETS_ELEMENT = 133,
    FRZ_ID_COLUMN_FILES = 158,
    FRZ_ID_COLUMN_FILES_ELEMENT = 159,

    /* tracking */
    FRZ_ID_STATUS = 0,
    FRZ_ID_SNAPSHOT_ID = 1,
    FRZ_ID_SEQUENCE_NUMBER = 3,
    FRZ_ID_FILE_SEQUENCE_NUMBER = 4,
    FRZ_ID_MODIFIED_SNAPSHOT_ID = 5,
    FRZ_ID_DELETED_POSITIONS = 6,
    FRZ_ID_REPLACED_POSITIONS = 7,
    FRZ_ID_SNAPSHOT_TIMESTAMP = 8, /* read if present, not written: not merged */
    FRZ_ID_FIRST_ROW_ID = 142,

    /* manifest_info */
    FRZ_ID_ADDED_FILES_COUNT = 504,
    FRZ_ID_EXISTING_FILES_COUNT = 505,
    FRZ_ID_DELETED_FILES_COUNT = 506,
    FRZ_ID_REPLACED_FILES_COUNT = 523,
    FRZ_ID_MODIFIED_FILES_COUNT = 525,
    FRZ_ID_ADDED_ROWS_COUNT = 512,
    FRZ_ID_EXISTING_ROWS_COUNT = 513,
    FRZ_ID_DELETED_ROWS_COUNT = 514,
    FRZ_ID_REPLACED_ROWS_COUNT = 524,
    FRZ_ID_MODIFIED_ROWS_COUNT = 526,
    FRZ_ID_MIN_SEQUENCE_NUMBER = 516,
    FRZ_ID_MDV = 522,
    FRZ_ID_MANIFEST_FORMAT_VERSION = 521,

    /* column_file */
    FRZ_ID_CF_LOCATION = 160,
    FRZ_ID_CF_FIELD_IDS = 161,
    FRZ_ID_CF_FIELD_IDS_ELEMENT = 162,
    FRZ_ID_CF_FILE_FORMAT = 163,
    FRZ_ID_CF_FILE_SIZE = 164,
    FRZ_ID_CF_KEY_METADATA = 165,

    /* deletion_vector */
    FRZ_ID_DV_LOCATION = 155,
    FRZ_ID_DV_OFFSET = 144,
    FRZ_ID_DV_SIZE = 145,
    FRZ_ID_DV_CARDINALITY = 156,
    FRZ_ID_DV_KEY_METADATA = 149,

    /* content_stats: field f has base 10000 + 200 f, metric k has base + k */
    FRZ_STATS_BASE = 10000,
    FRZ_STATS_STEP = 200,
    FRZ_STATS_BASE_LAST_UPDATED = 9000,
    FRZ_STATS_BASE_ROW_ID = 9200,
    FRZ_STATS_MAX_FIELD_ID = 999949,
    FRZ_STATS_LOWER_BOUND = 1,
    FRZ_STATS_UPPER_BOUND = 2,
    FRZ_STATS_TIGHT_BOUNDS = 3,
    FRZ_STATS_VALUE_COUNT = 4,
    FRZ_STATS_NULL_VALUE_COUNT = 5,
    FRZ_STATS_NAN_VALUE_COUNT = 6,
    FRZ_STATS_TOTAL_BYTES = 7
};

/* Versions 1 to 3. Ids that data_file and tracked_file share stand above. spec: manifest_entry,
 * data_file, manifest_file, field_summary */
enum {
    /* manifest_entry */
    FRZ_ID_DATA_FILE = 2,

    /* data_file; of each map the key is the next id of the specification's table, then the value */
    FRZ_ID_COLUMN_SIZES = 108,
    FRZ_ID_VALUE_COUNTS = 109,
    FRZ_ID_NULL_VALUE_COUNTS = 110,
    FRZ_ID_NAN_VALUE_COUNTS = 137,
    FRZ_ID_LOWER_BOUNDS = 125,
    FRZ_ID_UPPER_BOUNDS = 128,
    FRZ_ID_EQUALITY_IDS = 135,
    FRZ_ID_EQUALITY_IDS_ELEMENT = 136,
    FRZ_ID_REFERENCED_DATA_FILE = 143,
    FRZ_ID_CONTENT_OFFSET = 144,
    FRZ_ID_CONTENT_SIZE = 145,

    /* manifest_file; counts and sequence numbers as in manifest_info */
    FRZ_ID_MANIFEST_PATH = 500,
    FRZ_ID_MANIFEST_LENGTH = 501,
    FRZ_ID_MANIFEST_SPEC_ID = 502,
    FRZ_ID_ADDED_SNAPSHOT_ID = 503,
    FRZ_ID_PARTITIONS = 507,
    FRZ_ID_PARTITIONS_ELEMENT = 508,
    FRZ_ID_MANIFEST_SEQUENCE_NUMBER = 515,
    FRZ_ID_MANIFEST_CONTENT = 517,
    FRZ_ID_MANIFEST_FIRST_ROW_ID = 520,

    /* field_summary */
    FRZ_ID_CONTAINS_NULL = 509,
    FRZ_ID_CONTAINS_NAN = 518,
    FRZ_ID_SUMMARY_LOWER_BOUND = 510,
    FRZ_ID_SUMMARY_UPPER_BOUND = 511
};

#endif
