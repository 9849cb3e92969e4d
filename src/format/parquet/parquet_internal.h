/*
 * What the files of this folder share: the Thrift reader, the parsed footer, the tree of columns
 * that stands beside the Iceberg type tree, and the open file.
 */
#ifndef FRZ_PARQUET_INTERNAL_H
#define FRZ_PARQUET_INTERNAL_H

#include "format/format.h"
#include "format/parquet/parquet_metadata.h"

/* ---- Thrift compact protocol, reading (parquet_thrift.c) ---- */

typedef enum parquet_thrift_type {
    PARQUET_THRIFT_STOP = 0,
    PARQUET_THRIFT_TRUE = 1,
    PARQUET_THRIFT_FALSE = 2,
    PARQUET_THRIFT_BYTE = 3,
    PARQUET_THRIFT_I16 = 4,
    PARQUET_THRIFT_I32 = 5,
    PARQUET_THRIFT_I64 = 6,
    PARQUET_THRIFT_DOUBLE = 7,
    PARQUET_THRIFT_BINARY = 8,
    PARQUET_THRIFT_LIST = 9,
    PARQUET_THRIFT_SET = 10,
    PARQUET_THRIFT_MAP = 11,
    PARQUET_THRIFT_STRUCT = 12,
    PARQUET_THRIFT_UUID = 13
} parquet_thrift_type;

/* A cursor that stays failed once it fails: read a record straight through, look at rc once. Reads
 * from a failed cursor give zeros. */
typedef struct parquet_thrift {
    const uint8_t *start, *at, *end;
    uint64_t offset;  /* of start in the file, for messages */
    bool ended_early; /* the failure was that the bytes ran out */
    frz_code rc;
    frz_error *err;
} parquet_thrift;

/* The field at hand. Start every struct with a zeroed one. */
typedef struct parquet_thrift_field {
    int32_t id;
    parquet_thrift_type type;
} parquet_thrift_field;

void parquet_thrift_init(parquet_thrift *t, const uint8_t *bytes, size_t len, uint64_t offset,
                         frz_error *err);
static inline size_t parquet_thrift_left(const parquet_thrift *t)
{
    return (size_t)(t->end - t->at);
}
/* The next field's header; false at the end of the struct or after a failure. */
bool parquet_thrift_next(parquet_thrift *t, parquet_thrift_field *field);
/* The value of the field at hand; a field of another type is a failure. */
int64_t parquet_thrift_i64(parquet_thrift *t, const parquet_thrift_field *field);
int32_t parquet_thrift_i32(parquet_thrift *t, const parquet_thrift_field *field);
bool parquet_thrift_bool(parquet_thrift *t, const parquet_thrift_field *field);
/* A view into the bytes; ptr is never NULL on success. */
frz_str parquet_thrift_binary(parquet_thrift *t, const parquet_thrift_field *field);
/* The header of a list whose elements have this type and take at least least bytes each. */
size_t parquet_thrift_list(parquet_thrift *t, const parquet_thrift_field *field,
                           parquet_thrift_type element, size_t least);
/* A list's element: as a field of the element's type. */
#define PARQUET_THRIFT_ELEMENT(t) (&(const parquet_thrift_field){0, (t)})
/* The element of a list of PARQUET_THRIFT_TRUE: unlike a field, it takes a byte. */
bool parquet_thrift_bool_element(parquet_thrift *t);
/* A list of i64, passed over but kept as it is encoded. */
void parquet_thrift_counts(parquet_thrift *t, const parquet_thrift_field *field,
                           parquet_encoded_list *out);
/* False, and a failure, if the field is no struct. */
bool parquet_thrift_struct(parquet_thrift *t, const parquet_thrift_field *field);
void parquet_thrift_skip(parquet_thrift *t, const parquet_thrift_field *field);
frz_code parquet_thrift_fail(parquet_thrift *t, const char *fmt, ...) FRZ_PRINTF(2, 3);

/* ---- passing over column chunks (parquet_shape.c) ---- */

#define PARQUET_IMAGE_BYTES 512 /* longer chunks have no image */
#define PARQUET_IMAGE_VALUES 96
#define PARQUET_SHAPES 8

typedef enum parquet_image_kind {
    PARQUET_IMAGE_VARINTS, /* count numbers */
    PARQUET_IMAGE_BINARY   /* a length and as many bytes */
} parquet_image_kind;

/* A value whose length may differ from chunk to chunk. */
typedef struct parquet_image_value {
    uint16_t start, end; /* in the image */
    uint16_t count;
    uint8_t kind;
} parquet_image_value;

/* What a chunk looks like: bytes that must be equal where the mask has bits. */
typedef struct parquet_image {
    uint16_t len, value_count;
    uint16_t patience;     /* misses until it is made anew */
    uint32_t hits, misses; /* matches in one piece, and those with values of other lengths */
    uint8_t bytes[PARQUET_IMAGE_BYTES + 8];
    uint8_t mask[PARQUET_IMAGE_BYTES + 8];
    uint8_t value_of[PARQUET_IMAGE_BYTES]; /* of each byte: the value that it belongs to, or the
                                              next one */
    parquet_image_value values[PARQUET_IMAGE_VALUES];
} parquet_image;

/* The looks of the chunks that were passed. */
typedef struct parquet_shapes {
    uint8_t count, last, oldest;
    uint8_t followed_by[PARQUET_SHAPES]; /* which one came after it last */
    parquet_image images[PARQUET_SHAPES];
} parquet_shapes;

void parquet_shapes_init(parquet_shapes *shapes);
/* Pass over a struct as parquet_thrift_skip does, with the same outcome, but fast if it looks like
 * one that was passed before. */
void parquet_shapes_skip(parquet_shapes *shapes, parquet_thrift *t);

/* ---- the footer (parquet_footer.c) ---- */

#define PARQUET_TAIL_SIZE 8 /* footer length and magic */

/* Parse FileMetaData; strings are views of bytes. offset: where the bytes lie in the file. */
frz_code parquet_footer_parse(frz_arena *arena, frz_str bytes, uint64_t offset,
                              parquet_metadata *out, frz_error *err);

/* ---- columns (parquet_schema.c) ---- */

/*
 * A field of the file's schema. Groups that Parquet needs to spell a list or map are folded into
 * the node of the list or map. Where type is nested, children are parallel to type->fields; what
 * Iceberg cannot read, such as a variant, has children that only native reading sees.
 */
typedef struct parquet_node {
    const parquet_element *element; /* a list's or map's: the outer group */
    const frz_type *type;           /* as the file has it; UNKNOWN if it cannot be read */
    const char *path;               /* dotted, for messages */
    const char *unsupported;        /* why Iceberg cannot read the node; NULL: it can */
    frz_type_id kind;               /* of the children: STRUCT, LIST, MAP; UNKNOWN: a leaf column */
    bool required;
    uint8_t def;                   /* definition level from which on the node has a value */
    uint8_t rep;                   /* number of lists and maps around it */
    uint8_t slot_def;              /* item_def of the innermost list or map around it; 0: none */
    uint8_t item_def;              /* LIST, MAP: definition level from which on there is an item */
    uint8_t item_rep;              /* LIST, MAP: repetition level of a further item */
    size_t first_leaf, leaf_count; /* leaf columns below or at the node */
    struct parquet_node *children;
    size_t child_count;
} parquet_node;

/* A leaf column. */
typedef struct parquet_column {
    const parquet_element *element;
    const parquet_node *node;
    uint8_t max_def, max_rep;
} parquet_column;

/* Deepest schema that is read; definition levels then fit a byte. */
#define PARQUET_MAX_DEPTH 64

frz_code parquet_schema_build(frz_arena *arena, const parquet_metadata *metadata,
                              parquet_node *root, parquet_column **columns, size_t *count,
                              frz_error *err);
const char *parquet_physical_name(parquet_physical physical);
#define PARQUET_INT96_BYTES 12
#define PARQUET_INTERVAL_BYTES 12
/* Bytes of a value of this element, in memory and in bounds; 0 for BYTE_ARRAY. */
size_t parquet_element_width(const parquet_element *e);

/* ---- writers that are known for faults (parquet_writers.c) ---- */

/* Pages of version 2 have the number of rows in their headers, also in repeated columns. */
bool parquet_tells_page_rows(const parquet_metadata *m);
/* Offset indexes of repeated columns count rows, and pages begin with one. */
bool parquet_indexes_rows(const parquet_metadata *m);

/* ---- a footer and what follows from it (parquet_footer_load.c) ---- */

/* Immutable; open files of the same content share one. */
typedef struct parquet_footer {
    frz_cached cached;
    const frz_env *env;
    uint8_t *bytes;  /* FileMetaData */
    uint64_t start;  /* file offset of its first byte; column data lies before */
    frz_arena arena; /* everything below */
    parquet_metadata metadata;
    parquet_node root;
    parquet_column *columns;
    size_t column_count;
    int64_t *group_ends;
    int64_t *split_offsets;
} parquet_footer;

/* The footer of an open file, from the environment's cache if it is there. */
frz_code parquet_footer_get(const frz_env *env, const frz_file *file, parquet_footer **out,
                            frz_error *err);
void parquet_footer_unref(parquet_footer *footer); /* NULL is fine */

/* ---- native types (parquet_native.c) ---- */

/* Widest FIXED_LEN_BYTE_ARRAY decimal that is read as a number. */
#define PARQUET_MAX_DECIMAL_WIDTH 64

/* What a leaf column is in Arrow, as close to the file as Arrow allows; UNKNOWN too if it cannot be
 * read at all. The type has no fields and no strings. */
frz_type parquet_native_leaf(const parquet_element *e);

/* ---- the open file (parquet_file.c) ---- */

typedef struct parquet_file {
    frz_data_file base;
    parquet_footer *footer; /* owns what the following refer to */
    parquet_metadata metadata;
    uint64_t footer_start;
    parquet_node root; /* root.type is the schema with the file's own ids */
    parquet_column *columns;
    size_t column_count;
    int64_t *group_ends;
    int64_t *split_offsets;
} parquet_file;

/* The native type of a group, a STRUCT: ids are numbers of schema elements. */
frz_code parquet_native_group(const parquet_file *file, frz_arena *arena, const parquet_node *node,
                              const frz_type **out, frz_error *err);

/* ---- column chunks (parquet_chunk.c) ---- */

/* The chunk of a leaf column in a row group, parsed from the footer's bytes; what it says is not
 * checked. May be called from several threads at once. */
frz_code parquet_file_chunk(const parquet_file *file, size_t group, size_t leaf, parquet_chunk *out,
                            frz_error *err);
frz_code parquet_metadata_chunk(const parquet_metadata *m, size_t group, size_t leaf,
                                parquet_chunk *out, frz_error *err);
/* First byte of a chunk's pages: the dictionary page if there is one. */
int64_t parquet_chunk_start(const parquet_chunk *chunk);

/* The node of a top-level field of base.type by its id; NULL if there is none. */
const parquet_node *parquet_file_node(const parquet_file *file, int32_t field_id);

/* ---- reading (parquet_reader.c) ---- */

frz_code parquet_reader_open(const frz_data_file *file, const frz_type *file_type,
                             const frz_read_request *request, frz_data_reader **out,
                             frz_error *err);
frz_code parquet_reader_next(frz_data_reader *reader, frz_batch *out, frz_error *err);
void parquet_reader_close(frz_data_reader *reader);

#endif
