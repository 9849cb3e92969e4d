/*
 * What the files of this folder share: the writer's schema, the tree of fields beside the Iceberg
 * type tree, the open file and its blocks, and the program that decodes a projection.
 */
#ifndef FRZ_AVRO_INTERNAL_H
#define FRZ_AVRO_INTERNAL_H

#include "codec/codec.h"
#include "format/format.h"

/* Bounds on what a file may ask for; docs/formats/avro.md. */
#define AVRO_MAX_DEPTH 64                  /* of the schema; also what types allow */
#define AVRO_MAX_NODES ((size_t)1 << 18)   /* of the schema with names written out */
#define AVRO_MAX_HEADER ((size_t)64 << 20) /* a key or value of the file's metadata */
#define AVRO_MAX_BLOCK ((size_t)1 << 30)   /* of one block, packed or not */
#define AVRO_MAX_EMPTY ((int64_t)1 << 24)  /* rows or items of no bytes in one block */
#define AVRO_MAX_BATCH                                                                             \
    ((size_t)1 << 30) /* of what is decoded, about, before a row is too large                      \
                       */
#define AVRO_SYNC 16

/* ---- numbers (avro_varint.c) ---- */

/* A variable-length number of up to 64 bits, not yet unfolded to a signed one. NULL: it runs past
 * the end or is longer than 10 bytes. */
const uint8_t *avro_varint_long(const uint8_t *p, const uint8_t *end, uint64_t *out);
static inline const uint8_t *avro_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    if (p < end && *p < 0x80) {
        *out = *p;
        return p + 1;
    }
    return avro_varint_long(p, end, out);
}
static inline int64_t avro_unfold(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
}

/* ---- the writer's schema (avro_schema.c) ---- */

typedef enum avro_kind {
    AVRO_NULL,
    AVRO_BOOLEAN,
    AVRO_INT,
    AVRO_LONG,
    AVRO_FLOAT,
    AVRO_DOUBLE,
    AVRO_BYTES,
    AVRO_STRING,
    AVRO_FIXED,
    AVRO_ENUM,
    AVRO_ARRAY,
    AVRO_MAP,
    AVRO_UNION,
    AVRO_RECORD
} avro_kind;

/* Logical types where they fit what they stand on; others are passed over, as Avro wants it. */
typedef enum avro_logical {
    AVRO_LOGICAL_NONE,
    AVRO_LOGICAL_DECIMAL,
    AVRO_LOGICAL_UUID, /* on fixed and string */
    AVRO_LOGICAL_DATE,
    AVRO_LOGICAL_TIME_MILLIS,
    AVRO_LOGICAL_TIME_MICROS,
    AVRO_LOGICAL_TIMESTAMP_MILLIS, /* these three: also the local ones */
    AVRO_LOGICAL_TIMESTAMP_MICROS,
    AVRO_LOGICAL_TIMESTAMP_NANOS,
    AVRO_LOGICAL_DURATION,
    AVRO_LOGICAL_MAP /* an array of records of key and value */
} avro_logical;

typedef enum avro_utc { AVRO_UTC_UNKNOWN, AVRO_UTC_NO, AVRO_UTC_YES } avro_utc;

typedef struct avro_schema avro_schema;

/* A record's field, a union's branch, an array's item, a map's key and value. */
typedef struct avro_field {
    frz_str name; /* the original one, where Iceberg had to change it */
    int32_t id;   /* or FRZ_ID_NONE */
    const avro_schema *schema;
} avro_field;

/* A type. Names were resolved, so a type may be below itself. */
struct avro_schema {
    avro_kind kind;
    avro_logical logical;
    avro_utc utc;
    size_t number; /* of all types of the file */
    frz_str name;  /* RECORD, ENUM, FIXED: the full one */
    int32_t precision, scale;
    size_t size;            /* FIXED */
    uint64_t least;         /* bytes that a value takes at least */
    const frz_str *symbols; /* ENUM */
    size_t symbol_count;
    const avro_field *fields;
    size_t field_count;
    bool open; /* being parsed */
};

typedef struct avro_schemas {
    const avro_schema *root; /* of kind RECORD */
    size_t count;
    bool has_ids; /* some field has one */
} avro_schemas;

/* offset: where the text lies in the file. Strings are the arena's. */
frz_code avro_schema_parse(frz_arena *arena, frz_str text, uint64_t offset, avro_schemas *out,
                           frz_error *err);

/* What is inside of a union of null and one type, or of one type; another schema is itself, of 0
 * branches. */
const avro_schema *avro_schema_inside(const avro_schema *schema, uint8_t *branches,
                                      uint8_t *null_branch);

/* ---- fields as Iceberg sees them (avro_node.c) ---- */

/* A field of the file's schema, beside the frz_type tree: children are parallel to type->fields. */
typedef struct avro_node {
    const struct avro_node *parent; /* NULL: the file's rows */
    frz_str name;
    const avro_schema *schema;       /* of the value, inside of its union */
    const avro_schema *field_schema; /* with the union */
    const frz_type *type;            /* as the file has it; UNKNOWN if it cannot be read */
    const char *unsupported;         /* why it cannot; NULL: it can */
    uint8_t branches;                /* of the union around the value: 1 or 2; 0: there is none */
    uint8_t null_branch;             /* if there are 2: which of them is null */
    uint8_t pair_branches;           /* a map of an array: the same of its pairs */
    uint8_t pair_null_branch;
    struct avro_node *children;
    size_t child_count;
} avro_node;

/* Everything that follows from the text of a schema: immutable, and shared by files of the same
 * text, which the manifests of a table are. */
typedef struct avro_layout {
    frz_cached cached;
    const frz_env *env;
    frz_arena arena;
    frz_str text;
    avro_schemas schemas;
    avro_node root;
} avro_layout;

frz_code avro_layout_get(const frz_env *env, frz_str text, uint64_t offset, avro_layout **out,
                         frz_error *err);
void avro_layout_unref(avro_layout *layout); /* NULL is fine */
frz_code avro_node_build(frz_arena *arena, const avro_schemas *schemas, avro_node *root,
                         frz_error *err);
/* The dotted name of a node in a caller's array, cut if too long. Returns text. */
const char *avro_node_path(const avro_node *node, char *text, size_t size);

/* ---- reading the file's bytes in large pieces (avro_window.c) ---- */

typedef struct avro_window {
    const frz_env *env;
    const frz_file *file;
    uint8_t *data;
    size_t len, capacity;
    uint64_t offset; /* of data in the file */
} avro_window;

void avro_window_init(avro_window *w, const frz_env *env, const frz_file *file);
void avro_window_reset(avro_window *w);
/* len bytes of the file, which must be there; what is read is ahead bytes long or longer. The view
 * holds until the next call. */
frz_code avro_window_get(avro_window *w, uint64_t offset, size_t len, size_t ahead,
                         const uint8_t **out, frz_error *err);

/* ---- the header (avro_header.c) ---- */

typedef struct avro_pair {
    frz_str key, value;
    uint64_t offset; /* of the value in the file */
} avro_pair;

typedef struct avro_header {
    avro_pair *pairs;
    size_t pair_count;
    uint8_t sync[AVRO_SYNC];
    frz_codec_id codec;
    uint64_t size; /* the first block begins here */
} avro_header;

frz_code avro_header_read(frz_arena *arena, avro_window *w, avro_header *out, frz_error *err);
/* The pair of a key, the last one if there are several; NULL: there is none. */
const avro_pair *avro_header_find(const avro_header *header, frz_str key);

/* ---- blocks (avro_blocks.c) ---- */

typedef struct avro_block {
    uint64_t start, offset; /* of its header and of its data */
    size_t size;            /* of the data */
    int64_t first_row, rows;
} avro_block;

/* Where a run of blocks begins: one large block or many small ones. */
typedef struct avro_run {
    uint64_t offset;
    int64_t first_row;
} avro_run;

typedef struct avro_index {
    avro_run *runs;
    size_t run_count, run_capacity;
    int64_t row_count, block_count;
} avro_index;

typedef struct avro_file {
    frz_data_file base;
    frz_arena arena; /* the header */
    avro_header header;
    avro_layout *layout;
    avro_index index;
    int64_t *group_ends;
    size_t group_count;
} avro_file;

/* Look at the header and the end of every block of the file. */
frz_code avro_index_build(avro_file *file, avro_window *w, frz_error *err);
/* The block whose header is at an offset; FRZ_END at the end of the file. ahead: bytes to read if
 * the header was not. */
frz_code avro_block_at(const avro_file *file, avro_window *w, uint64_t offset, int64_t first_row,
                       size_t ahead, avro_block *out, frz_error *err);
/* The offset behind a block. */
static inline uint64_t avro_block_end(const avro_block *block)
{
    return block->offset + block->size + AVRO_SYNC;
}
/* The last run that begins at or before a row. */
const avro_run *avro_index_find(const avro_index *index, int64_t row);

/* ---- unpacking (avro_unpack.c) ---- */

/* The codec by its name in avro.codec; ptr NULL: none. */
frz_code avro_codec_of(frz_str name, frz_codec_id *out, frz_error *err);
const char *avro_codec_name(frz_codec_id id);
/* The data of a block. out is used if the block is packed; the view may also be packed itself. */
frz_code avro_unpack(frz_codec *codec, frz_codec_id id, frz_str packed, frz_buf *out, frz_str *data,
                     frz_error *err);

/* ---- columns being filled (avro_column.c) ---- */

typedef enum avro_shape {
    AVRO_SHAPE_NOTHING, /* values need no memory: UNKNOWN, STRUCT */
    AVRO_SHAPE_FIXED,   /* width bytes each; booleans, too, which become bits in the end */
    AVRO_SHAPE_BYTES,   /* offsets and bytes */
    AVRO_SHAPE_ITEMS    /* offsets; items are in other columns */
} avro_shape;

typedef struct avro_column {
    const frz_env *env;
    const frz_type *type;
    avro_shape shape;
    bool nullable; /* validity is kept */
    size_t width;  /* of values or offsets */
    size_t count, capacity;
    uint8_t *values;  /* of the buffer */
    uint8_t *valid;   /* a byte for each value */
    uint8_t *bytes;   /* of the buffer */
    size_t bytes_len; /* BYTES: bytes; ITEMS: items */
    size_t bytes_capacity;
    frz_buffer *value_buffer, *byte_buffer;
    size_t valid_capacity;
    size_t usual, usual_bytes; /* what the last array took */
} avro_column;

void avro_column_init(avro_column *c, const frz_env *env, const frz_type *type, bool nullable);
void avro_column_reset(avro_column *c);
/* Room for n more values. */
frz_code avro_column_reserve(avro_column *c, size_t n, frz_error *err);
frz_code avro_column_reserve_bytes(avro_column *c, size_t n, frz_error *err);
/* The values as buffers of an array (validity, then values); the column is empty then. Text that is
 * not UTF-8: *bad is the value's place. */
frz_code avro_column_finish(avro_column *c, frz_buffer *buffers[3], int64_t *nulls, size_t *bad,
                            frz_error *err);

/* ---- programs (avro_plan.c, avro_skip.c) ---- */

typedef enum avro_code {
    /* one value to a column */
    AVRO_GET_NULL,
    AVRO_GET_BOOLEAN,
    AVRO_GET_INT,
    AVRO_GET_LONG,
    AVRO_GET_INT_AS_LONG,
    AVRO_GET_DATE_AS_MICROS,
    AVRO_GET_DATE_AS_NANOS,
    AVRO_GET_TIME_MILLIS, /* to microseconds, as the next one */
    AVRO_GET_MILLIS,
    AVRO_GET_4,
    AVRO_GET_8,
    AVRO_GET_FLOAT_AS_DOUBLE,
    AVRO_GET_FIXED,
    AVRO_GET_BYTES,
    AVRO_GET_SYMBOL,
    AVRO_GET_DECIMAL,       /* of bytes */
    AVRO_GET_FIXED_DECIMAL, /* of a fixed */
    AVRO_GET_UUID_TEXT,
    AVRO_GET_DURATION,
    AVRO_GET_STRUCT, /* only if it has a column */
    AVRO_GET_ITEMS,
    /* no column */
    AVRO_SKIP_BYTES_OF, /* size bytes */
    AVRO_SKIP_VARINTS,  /* size numbers */
    AVRO_SKIP_STRING,
    AVRO_SKIP_ITEMS,
    AVRO_SKIP_UNION,
    AVRO_SKIP_RECORD
} avro_code;

typedef struct avro_op avro_op;
typedef struct avro_body avro_body;

/* Which entries of a map from int are of use. */
typedef struct avro_wanted {
    const int32_t *keys; /* ascending */
    size_t count;
    const avro_body *skip; /* passes over a value */
} avro_wanted;

/* Steps that are taken together, once or for each item. */
struct avro_body {
    avro_op *ops;
    size_t count, capacity;
    avro_column **columns; /* those that get one value each time, below structs too */
    size_t column_count, column_capacity;
    size_t width;   /* bytes that these values take, without those of variable length */
    uint64_t least; /* bytes of input at least */
    bool whole;     /* all steps are there */
};

struct avro_op {
    avro_code code;
    uint8_t branches, null_branch; /* as in avro_node */
    bool required;                 /* a null is a failure */
    size_t size;
    avro_column *column;
    const avro_schema *schema; /* SYMBOL */
    const avro_node *node;     /* for messages; NULL: skipped */
    const avro_body *body;     /* STRUCT, ITEMS, SKIP_…; UNION: as many as size */
    const avro_wanted *wanted; /* ITEMS of a map; NULL: all */
};

/* How a requested field comes about. */
typedef struct avro_part {
    const frz_field *field;
    const avro_node *node; /* NULL: the file does not have it */
    avro_column column;
    bool has_column, only_nulls;
    bool variant; /* the field is the record as it is stored, of which a variant is made */
    struct avro_part *children;
    size_t child_count;
} avro_part;

typedef struct avro_plan {
    const frz_env *env;
    frz_arena arena;
    const avro_layout *layout;
    frz_field rows;          /* the projection as a field */
    const int32_t *map_keys; /* as in the request */
    size_t map_key_count;
    avro_part root;
    avro_body body;            /* one row to the columns */
    avro_body **skips;         /* by number of schema, made when needed */
    const avro_body *skip_row; /* one row to nowhere */
} avro_plan;

/* file_type: layout's type, or the same tree with other ids. The request's lists must outlive the
 * plan. */
frz_code avro_plan_init(avro_plan *plan, const frz_env *env, const avro_layout *layout,
                        const frz_type *file_type, const frz_read_request *request, frz_error *err);
void avro_plan_reset(avro_plan *plan);
/* Append a step that passes over a value. */
frz_code avro_skip_add(avro_plan *plan, avro_body *body, const avro_schema *schema, frz_error *err);
frz_code avro_body_add(avro_plan *plan, avro_body *body, const avro_op *op, frz_error *err);
/* How a node is read as a type that is not nested; FRZ_E_CORRUPT: it cannot. (avro_convert.c) */
frz_code avro_convert_choose(const avro_node *node, const frz_type *to, avro_code *code,
                             frz_error *err);

/* ---- decoding (avro_decode.c) ---- */

typedef struct avro_decoder {
    const uint8_t *start, *at, *end; /* of a block's data */
    uint64_t block;                  /* offset of the block, or of the data if it is not packed */
    bool packed;
    size_t bytes; /* of variable length and of items that were decoded */
    unsigned depth;
    frz_code rc;
    frz_error *err;
} avro_decoder;

/* Decode up to n rows, fewer if d->bytes and the rows reach a bound; *done tells how many. */
frz_code avro_decode_rows(avro_decoder *d, const avro_body *body, size_t n, size_t most_bytes,
                          size_t *done, frz_error *err);
frz_code avro_skip_rows(avro_decoder *d, const avro_body *body, int64_t n, frz_error *err);

/* What was decoded as an array; the columns are empty then. (avro_assemble.c) */
frz_code avro_assemble(const frz_env *env, avro_part *part, int64_t length, struct ArrowArray *out,
                       frz_error *err);

/* ---- the reader (avro_reader.c) ---- */

frz_code avro_reader_open(const frz_data_file *file, const frz_type *file_type,
                          const frz_read_request *request, frz_data_reader **out, frz_error *err);
frz_code avro_reader_next(frz_data_reader *reader, frz_batch *out, frz_error *err);
void avro_reader_close(frz_data_reader *reader);

#endif
