/*
 * The Parquet footer in memory, as parquet.thrift lays it down; shared by the reader and the
 * writer. Field numbers of the Thrift structs stand beside the members.
 */
#ifndef FRZ_PARQUET_METADATA_H
#define FRZ_PARQUET_METADATA_H

#include "base/base.h"

typedef enum parquet_physical {
    PARQUET_BOOLEAN = 0,
    PARQUET_INT32 = 1,
    PARQUET_INT64 = 2,
    PARQUET_INT96 = 3,
    PARQUET_FLOAT = 4,
    PARQUET_DOUBLE = 5,
    PARQUET_BYTE_ARRAY = 6,
    PARQUET_FIXED_LEN_BYTE_ARRAY = 7,
    PARQUET_NO_PHYSICAL = -1 /* a group */
} parquet_physical;

typedef enum parquet_repetition {
    PARQUET_REQUIRED = 0,
    PARQUET_OPTIONAL = 1,
    PARQUET_REPEATED = 2
} parquet_repetition;

typedef enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2,
    PARQUET_RLE = 3,
    PARQUET_BIT_PACKED = 4,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6,
    PARQUET_DELTA_BYTE_ARRAY = 7,
    PARQUET_RLE_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT = 9
} parquet_encoding;

typedef enum parquet_page_type {
    PARQUET_DATA_PAGE = 0,
    PARQUET_INDEX_PAGE = 1,
    PARQUET_DICTIONARY_PAGE = 2,
    PARQUET_DATA_PAGE_V2 = 3
} parquet_page_type;

/* LogicalType union, field numbers of the union */
typedef enum parquet_logical {
    PARQUET_LOGICAL_NONE = 0,
    PARQUET_LOGICAL_STRING = 1,
    PARQUET_LOGICAL_MAP = 2,
    PARQUET_LOGICAL_LIST = 3,
    PARQUET_LOGICAL_ENUM = 4,
    PARQUET_LOGICAL_DECIMAL = 5,
    PARQUET_LOGICAL_DATE = 6,
    PARQUET_LOGICAL_TIME = 7,
    PARQUET_LOGICAL_TIMESTAMP = 8,
    PARQUET_LOGICAL_INTEGER = 10,
    PARQUET_LOGICAL_UNKNOWN = 11,
    PARQUET_LOGICAL_JSON = 12,
    PARQUET_LOGICAL_BSON = 13,
    PARQUET_LOGICAL_UUID = 14,
    PARQUET_LOGICAL_FLOAT16 = 15,
    PARQUET_LOGICAL_VARIANT = 16,
    PARQUET_LOGICAL_GEOMETRY = 17,
    PARQUET_LOGICAL_GEOGRAPHY = 18
} parquet_logical;

typedef enum parquet_time_unit {
    PARQUET_MILLIS = 1,
    PARQUET_MICROS = 2,
    PARQUET_NANOS = 3
} parquet_time_unit;

/* SchemaElement; the tree is flattened in depth-first order as in the file */
typedef struct parquet_element {
    parquet_physical physical;     /* 1 type */
    int32_t type_length;           /* 2 */
    parquet_repetition repetition; /* 3 */
    frz_str name;                  /* 4 */
    int32_t num_children;          /* 5 */
    int32_t converted;             /* 6 converted_type; -1: none */
    int32_t scale, precision;      /* 7, 8; or of the logical type */
    int32_t field_id;              /* 9 */
    bool has_field_id;
    parquet_logical logical; /* 10 logicalType; else what converted_type means */
    bool from_converted;     /* logical comes from converted_type alone */
    parquet_time_unit unit;  /* TIME, TIMESTAMP */
    bool utc;                /* TIME, TIMESTAMP: isAdjustedToUTC */
    int8_t bit_width;        /* INTEGER */
    bool is_signed;          /* INTEGER */
} parquet_element;

typedef struct parquet_statistics {
    bool has_null_count, has_distinct_count;
    int64_t null_count;           /* 3 */
    int64_t distinct_count;       /* 4 */
    frz_str max, min;             /* 1, 2: the old pair; ptr NULL: absent */
    frz_str max_value, min_value; /* 5, 6 */
    int8_t max_exact, min_exact;  /* 7, 8; -1: absent */
    bool has_nan_count;
    int64_t nan_count; /* 9, newer revisions */
} parquet_statistics;

typedef struct parquet_chunk {
    parquet_physical physical; /* ColumnMetaData 1 */
    const int32_t *encodings;  /* 2 */
    size_t encoding_count;
    const frz_str *path; /* 3 path_in_schema */
    size_t path_count;
    int32_t codec;                   /* 4 */
    int64_t num_values;              /* 5 */
    int64_t total_uncompressed_size; /* 6 */
    int64_t total_compressed_size;   /* 7 */
    int64_t data_page_offset;        /* 9 */
    int64_t dictionary_page_offset;  /* 11; 0: none */
    parquet_statistics statistics;   /* 12 */
    bool encrypted;                  /* ColumnChunk 8 or 9 present */
    frz_str file_path;               /* ColumnChunk 1; ptr NULL: this file */
} parquet_chunk;

typedef struct parquet_group {
    parquet_chunk *chunks; /* 1 columns */
    size_t chunk_count;
    int64_t total_byte_size; /* 2 */
    int64_t num_rows;        /* 3 */
    int64_t file_offset;     /* 5; 0: none */
    int64_t first_row;       /* sum of the rows before; not in the file */
} parquet_group;

typedef struct parquet_key_value {
    frz_str key, value;
} parquet_key_value;

typedef struct parquet_metadata {
    int32_t version;           /* 1 */
    parquet_element *elements; /* 2 schema */
    size_t element_count;
    int64_t num_rows;      /* 3 */
    parquet_group *groups; /* 4 */
    size_t group_count;
    parquet_key_value *keys; /* 5 */
    size_t key_count;
    frz_str created_by;          /* 6 */
    const int8_t *column_orders; /* 7, one per leaf: 1 TYPE_ORDER, 2 IEEE754; NULL: absent */
    size_t column_order_count;
} parquet_metadata;

#endif
