/*
 * Arrow IPC: what reading and writing share.
 *
 * Between an ArrowSchema and the messages' Field tables stands a tree of ipc_field, made from
 * either. It knows of each field the layout of its buffers, so that arrays are written and read by
 * layout, not by type.
 */
#ifndef FRZ_ARROW_IPC_H
#define FRZ_ARROW_IPC_H

#include "arrow/arrow_array.h"
#include "arrow/arrow_flatbuffer.h"
#include "codec/codec.h"
#include "frazil/ipc.h"
#include "io/io_file.h"

#define IPC_CONTINUATION 0xFFFFFFFFu /* before the length of each message since Arrow 0.15 */
#define IPC_MAGIC "ARROW1"
#define IPC_MAGIC_SIZE 6
#define IPC_ALIGNMENT 64 /* of the buffers in what we write */
#define IPC_MAX_DEPTH 64 /* of nested types */

/* MetadataVersion */
#define IPC_V4 3
#define IPC_V5 4

typedef enum ipc_header { /* MessageHeader */
                          IPC_HEADER_SCHEMA = 1,
                          IPC_HEADER_DICTIONARY = 2,
                          IPC_HEADER_BATCH = 3
} ipc_header;

/* ---- types (arrow_ipc_type.c) ---- */

/* The union Type of Schema.fbs. */
typedef enum ipc_tag {
    IPC_NULL = 1,
    IPC_INT,
    IPC_FLOAT,
    IPC_BINARY,
    IPC_UTF8,
    IPC_BOOL,
    IPC_DECIMAL,
    IPC_DATE,
    IPC_TIME,
    IPC_TIMESTAMP,
    IPC_INTERVAL,
    IPC_LIST,
    IPC_STRUCT,
    IPC_UNION,
    IPC_FIXED_BINARY,
    IPC_FIXED_LIST,
    IPC_MAP,
    IPC_DURATION,
    IPC_LARGE_BINARY,
    IPC_LARGE_UTF8,
    IPC_LARGE_LIST,
    IPC_RUN_END,
    IPC_BINARY_VIEW,
    IPC_UTF8_VIEW,
    IPC_LIST_VIEW,
    IPC_LARGE_LIST_VIEW
} ipc_tag;

typedef enum ipc_layout {
    IPC_NULLS,       /* no buffers */
    IPC_BITS,        /* validity, bits */
    IPC_FIXED,       /* validity, values of `width` bytes */
    IPC_BYTES,       /* validity, offsets of `width` bytes, bytes */
    IPC_VIEWS,       /* validity, views of 16 bytes, any number of data buffers */
    IPC_ITEMS,       /* validity, offsets of `width` bytes; one child */
    IPC_ITEM_VIEWS,  /* validity, offsets, sizes of `width` bytes; one child */
    IPC_FIXED_ITEMS, /* validity; one child with `width` items for each row */
    IPC_FIELDS,      /* validity; children as long as the parent */
    IPC_SPARSE,      /* type ids; children as long as the parent */
    IPC_DENSE,       /* type ids, offsets of 4 bytes; children */
    IPC_RUNS         /* no buffers; children run ends and values */
} ipc_layout;

typedef struct ipc_union {
    size_t count;
    uint8_t ids[128];      /* the type id of each child */
    int16_t child_of[128]; /* by type id; -1: none */
} ipc_union;

typedef struct ipc_type {
    ipc_tag tag;
    ipc_layout layout;
    int32_t width;
    /* INT: bits, signed. FLOAT: precision. DECIMAL: precision, scale, bits. DATE, TIMESTAMP,
     * INTERVAL, DURATION: unit. TIME: unit, bits. UNION: 1 if dense. MAP: keys are sorted. */
    int32_t a, b, c;
    frz_str zone;            /* TIMESTAMP; ptr NULL: none */
    const ipc_union *choice; /* UNION */
} ipc_type;

/* From a format string of the C data interface; what is kept is in the arena or in the string. */
frz_code ipc_type_from_format(frz_arena *arena, frz_str format, ipc_type *out, frz_error *err);
/* The format string, in the arena. */
frz_code ipc_type_format(frz_arena *arena, const ipc_type *type, frz_str *out, frz_error *err);
/* The table of the type's tag. */
frz_code ipc_type_put(frz_buf *buf, size_t ref, const ipc_type *type, frz_error *err);
/* From the table of a tag; children: how many the field has. */
frz_code ipc_type_get(frz_arena *arena, const flat_table *table, int64_t tag, size_t children,
                      ipc_type *out, frz_error *err);
/* How many children fields of a type have; SIZE_MAX: any number. */
size_t ipc_type_children(const ipc_type *type);
/* Buffers of an array of the type in the C data interface, data buffers of views not counted. */
size_t ipc_type_buffers(const ipc_type *type);
static inline bool ipc_type_has_validity(const ipc_type *type)
{
    return type->layout >= IPC_BITS && type->layout <= IPC_FIELDS;
}

/* ---- fields (arrow_ipc_schema.c) ---- */

typedef struct ipc_field {
    frz_str name;
    bool nullable;
    frz_str metadata; /* as in the C data interface; empty: none */
    ipc_type type;    /* of the values */
    size_t child_count;
    struct ipc_field *children;
    /* dictionary-encoded: the children are those of the values */
    bool encoded, ordered;
    ipc_type index;
    int64_t dictionary_id;
} ipc_field;

/* The schema of a stream: a field of type struct. Texts are views into the schema; dictionaries are
 * numbered from 0. */
frz_code ipc_field_from_schema(frz_arena *arena, const struct ArrowSchema *schema, ipc_field *out,
                               frz_error *err);
frz_code ipc_field_to_schema(const frz_env *env, const ipc_field *field, struct ArrowSchema *out,
                             frz_error *err);
/* The table Schema. */
frz_code ipc_schema_put(frz_buf *buf, size_t ref, const ipc_field *root, frz_error *err);
/* From the table Schema; texts are copied to the arena. */
frz_code ipc_schema_get(frz_arena *arena, const flat_table *table, ipc_field *out, frz_error *err);

/* ---- arrays to buffers (arrow_ipc_body.c) ---- */

typedef struct ipc_part {
    const void *bytes;
    size_t size;
} ipc_part;

/* The nodes and buffers of one record batch: views of the arrays, or rewritten in scratch. */
typedef struct ipc_body {
    frz_arena scratch;
    frz_buf nodes; /* int64 length and null count each */
    frz_buf views; /* int64 number of data buffers of each field with views */
    ipc_part *parts;
    size_t count, capacity;
} ipc_body;

void ipc_body_init(ipc_body *body, const frz_env *env);
void ipc_body_clear(ipc_body *body); /* for the next batch */
void ipc_body_reset(ipc_body *body); /* frees */
/* The columns of a batch. */
frz_code ipc_body_add_batch(ipc_body *body, const ipc_field *root, const struct ArrowArray *batch,
                            frz_error *err);
/* The values of a dictionary. */
frz_code ipc_body_add_values(ipc_body *body, const ipc_field *field,
                             const struct ArrowArray *values, frz_error *err);

/* ---- scratch files, written batch by batch (arrow_ipc_write.c) and read again ---- */

typedef struct ipc_sink ipc_sink;

/* Append a stream, not compressed, to a scratch file, which outlives the sink. */
frz_code ipc_sink_open(const frz_env *env, frz_scratch *scratch, const struct ArrowSchema *schema,
                       ipc_sink **out, frz_error *err);
frz_code ipc_sink_write(ipc_sink *sink, const struct ArrowArray *batch, frz_error *err);
/* Frees in any case. */
frz_code ipc_sink_finish(ipc_sink *sink, frz_error *err);
void ipc_sink_abort(ipc_sink *sink); /* NULL is fine */
/* The stream in bytes [from, to) of a scratch file (arrow_ipc_read.c). */
frz_code ipc_scratch_open(const frz_env *env, const frz_scratch *scratch, uint64_t from,
                          uint64_t to, struct ArrowArrayStream *out, frz_error *err);

/* ---- messages of a file (arrow_ipc_message.c) ---- */

/* A message as read; the tables are views of its metadata. */
typedef struct ipc_message {
    frz_buffer *metadata, *body; /* body NULL: none */
    flat_bytes in;
    flat_table header;
    int64_t kind; /* ipc_header, or one that is not known */
    int64_t version;
    uint64_t at, size; /* in the file, all of it */
} ipc_message;

void ipc_message_reset(ipc_message *message);
/* The message at a place, before `end`. FRZ_END at the mark of the end and at `end` itself. The
 * message is the caller's to reset, and its place in memory must not change. */
frz_code ipc_message_read(const frz_env *env, const frz_file *file, uint64_t at, uint64_t end,
                          ipc_message *out, frz_error *err);

/* ---- buffers to arrays (arrow_ipc_array.c) ---- */

/* Dictionaries by id: values that are there, and messages that were not looked at yet. */
typedef struct ipc_dictionary {
    int64_t id;
    const ipc_field *field;   /* one of those that use it */
    struct ArrowArray values; /* released: none */
    ipc_message **pending;    /* the first replaces, or extends values if those are there */
    size_t pending_count, pending_capacity;
    uint64_t bytes; /* decompressed for the values */
} ipc_dictionary;

typedef struct ipc_reading {
    const frz_env *env;
    frz_codec *codecs[2]; /* by CompressionType; made when first needed */
    ipc_dictionary *dictionaries;
    size_t dictionary_count;
    uint64_t dictionary_bytes, dictionary_most; /* decompressed, held for all of them */
} ipc_reading;

/* The columns of a batch, or the values of a dictionary, all checked. */
frz_code ipc_array_batch(ipc_reading *reading, const ipc_field *root, const ipc_message *message,
                         struct ArrowArray *out, frz_error *err);
/* What is decompressed is added to held and to the bytes of all dictionaries, also on failure. */
frz_code ipc_array_values(ipc_reading *reading, const ipc_field *field, const ipc_message *message,
                          uint64_t *held, struct ArrowArray *out, frz_error *err);
/* No rows of the field's values. */
frz_code ipc_array_empty(ipc_reading *reading, const ipc_field *field, struct ArrowArray *out,
                         frz_error *err);
/* Arrays of the field's values behind each other (arrow_ipc_concat.c); they stay the caller's.
 * most: bytes that may be allocated; what was is taken off. */
frz_code ipc_array_concat(const frz_env *env, const ipc_field *field,
                          const struct ArrowArray *parts, size_t count, uint64_t *most,
                          struct ArrowArray *out, frz_error *err);

/* ---- dictionaries of a file (arrow_ipc_dictionary.c) ---- */

/* The dictionaries that a schema's fields use. */
frz_code ipc_dictionaries_init(ipc_reading *reading, frz_arena *arena, const ipc_field *root,
                               frz_error *err);
void ipc_dictionaries_reset(ipc_reading *reading);
/* A dictionary message; taken, also on failure. once: it may not be replaced. */
frz_code ipc_dictionary_add(ipc_reading *reading, ipc_message *message, bool once, frz_error *err);
/* A new owner of the values; FRZ_END if there are none. */
frz_code ipc_dictionary_get(ipc_reading *reading, int64_t id, struct ArrowArray *out,
                            frz_error *err);

/* ---- checks of what buffers hold (arrow_ipc_check.c) ---- */

frz_code ipc_check_offsets(const void *offsets, size_t width, int64_t length, uint64_t limit,
                           frz_error *err);
/* Text of rows that are not null. */
frz_code ipc_check_utf8(const struct ArrowArray *array, size_t width, frz_error *err);
frz_code ipc_check_views(const struct ArrowArray *array, const frz_buffer *const *data,
                         size_t count, bool utf8, frz_error *err);
frz_code ipc_check_item_views(const struct ArrowArray *array, size_t width, int64_t limit,
                              frz_error *err);
frz_code ipc_check_union(const ipc_type *type, const struct ArrowArray *array, frz_error *err);
frz_code ipc_check_runs(const struct ArrowArray *array, size_t width, frz_error *err);
/* Indices of rows that are not null, against the dictionary's length. */
frz_code ipc_check_indices(const ipc_type *type, const struct ArrowArray *array, int64_t limit,
                           frz_error *err);

#endif
