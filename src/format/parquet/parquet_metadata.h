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
    PARQUET_BYTE_STREAM_SPLIT = 9,
    PARQUET_ALP = 10,
    PARQUET_ENCODING_COUNT /* of the numbers that are known */
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
    PARQUET_LOGICAL_GEOGRAPHY = 18,
    PARQUET_LOGICAL_FILE = 19
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
    int8_t version;          /* VARIANT; 0: not told */
    int8_t algorithm;        /* GEOGRAPHY: EdgeInterpolationAlgorithm + 1; 0: not told */
    frz_str crs;             /* GEOMETRY, GEOGRAPHY; empty: not told */
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

/* Elements of a list as they are encoded, without the list's header. */
typedef struct parquet_encoded_list {
    frz_str bytes;
    size_t count;
} parquet_encoded_list;

typedef struct parquet_size_statistics {
    bool has_unencoded_bytes;
    int64_t unencoded_bytes;                /* 1: of BYTE_ARRAY values, without their lengths */
    parquet_encoded_list repetition_levels; /* 2: i64; how often each level occurs */
    parquet_encoded_list definition_levels; /* 3: i64 */
} parquet_size_statistics;

/* In the set of a chunk's encodings: one that the format did not have when this was written. */
#define PARQUET_OTHER_ENCODING (UINT32_C(1) << 31)

/* A column chunk. Complete in itself: strings are views of the footer's bytes. */
typedef struct parquet_chunk {
    parquet_physical physical;           /* ColumnMetaData 1 */
    uint32_t encodings;                  /* 2: bit e stands for encoding e */
    int32_t codec;                       /* 4 */
    int64_t num_values;                  /* 5 */
    int64_t total_uncompressed_size;     /* 6 */
    int64_t total_compressed_size;       /* 7 */
    int64_t data_page_offset;            /* 9 */
    int64_t dictionary_page_offset;      /* 11; 0: none */
    parquet_statistics statistics;       /* 12 */
    parquet_encoded_list encoding_stats; /* 13 */
    bool has_encoding_stats;             /* 13 is there and names a data page */
    bool all_dictionary;                 /* 13: the dictionary encodes every data page */
    int64_t bloom_filter_offset;         /* 14; 0: none */
    int32_t bloom_filter_length;         /* 15; 0: not told */
    parquet_size_statistics sizes;       /* 16 */
    frz_str file_path;                   /* ColumnChunk 1; ptr NULL: this file */
    int64_t offset_index_offset;         /* ColumnChunk 4; 0: none */
    int32_t offset_index_length;         /* ColumnChunk 5 */
    int64_t column_index_offset;         /* ColumnChunk 6; 0: none */
    int32_t column_index_length;         /* ColumnChunk 7 */
    bool encrypted;                      /* ColumnChunk 8 or 9 present */
} parquet_chunk;

typedef struct parquet_sorting_column {
    int32_t column;               /* 1: leaf column */
    bool descending, nulls_first; /* 2, 3 */
} parquet_sorting_column;

typedef struct parquet_group {
    uint32_t *chunk_at; /* 1 columns: where each chunk begins in the footer's bytes */
    size_t chunk_count;
    int64_t total_byte_size;               /* 2 */
    int64_t num_rows;                      /* 3 */
    const parquet_sorting_column *sorting; /* 4 */
    size_t sorting_count;
    int64_t file_offset; /* 5; 0: none */
    int32_t ordinal;     /* 7; -1: none */
    int64_t first_row;   /* sum of the rows before; not in the file */
} parquet_group;

typedef struct parquet_key_value {
    frz_str key, value;
} parquet_key_value;

typedef struct parquet_metadata {
    frz_str bytes;             /* FileMetaData as it is in the file */
    uint64_t offset;           /* of the bytes in the file */
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
